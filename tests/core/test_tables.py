"""Tables travel: pickled to other processes, as Arrow to other libraries, and back, the same to the bit or refused."""

from __future__ import annotations

import codecs
import gc
import io
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elsewhere
from cranfield import DataError, Policy, Qrels, Run, UsageError, evaluate, read_qrels, read_run
from cranfield._core import Table, table_of_wire
from cranfield.formats.format import Judging
from cranfield.formats.reading import Reading
from cranfield.judged import Judged, judge
from elsewhere import scores
from places import EXAMPLES

MUTATIONS = int(os.environ.get("CRANFIELD_FUZZ") or 300)


def ids(table: Table) -> list[tuple[str, list[str]]]:
    topics = table.topics()
    return [(topic, table.documents(topic.encode("utf-8", "surrogateescape"))) for topic in topics]


def assert_same(
    one: Run | Qrels, other: Run | Qrels, *, also: tuple[str, ...] = ("collapsed", "ranks", "origin")
) -> None:
    """That nothing of a table can be told from another; `also` what some libraries lose."""
    assert type(one) is type(other)
    assert ids(one.table) == ids(other.table)
    assert one.table.values().tobytes() == other.table.values().tobytes()
    assert one.table.tied().tolist() == other.table.tied().tolist()
    assert one.table.fingerprint() == other.table.fingerprint()  # ties as in the input are part of it
    if "collapsed" in also:
        assert one.table.collapsed().tolist() == other.table.collapsed().tolist()
        assert one.table.collapsed_count == other.table.collapsed_count
    if "ranks" in also:
        assert one.table.rank_disagreements().tolist() == other.table.rank_disagreements().tolist()
    if "origin" in also:
        assert one.origin == other.origin
    if isinstance(one, Qrels) and isinstance(other, Qrels):
        assert one.groups == other.groups
        assert list(one.columns) == list(other.columns)
        for name, column in one.columns.items():
            assert column.dtype == other.columns[name].dtype
            for mine, others in zip(column, other.columns[name], strict=True):
                assert np.array_equal(mine, others, equal_nan=column.dtype.kind == "f")


def by_pickle(protocol: int) -> Callable[[Any], Any]:
    return lambda value: pickle.loads(pickle.dumps(value, protocol))


def out_of_band(value: Any) -> Any:
    buffers: list[pickle.PickleBuffer] = []
    told = pickle.dumps(value, 5, buffer_callback=buffers.append)
    return pickle.loads(told, buffers=[bytes(buffer) for buffer in buffers])


def by_arrow(value: Run | Qrels) -> Run | Qrels:
    return read_run(value.to_arrow()) if isinstance(value, Run) else read_qrels(value.to_arrow())


WAYS = {f"pickle {protocol}": by_pickle(protocol) for protocol in range(2, 6)}
WAYS |= {"out of band": out_of_band, "Arrow": by_arrow}

an_id = st.binary(min_size=1, max_size=20).filter(
    lambda raw: not set(raw) & set(b" \t\r\n\0") and not raw.startswith((b"#", codecs.BOM_UTF8))
)
a_score = st.sampled_from([b"0", b"-0.0", b"1.5", b"2", b"0.1", b"-7e-3", b"1e300", b"5e-324", b"inf", b"-inf"])


@st.composite
def run_text(draw: st.DrawFn) -> bytes:
    """Lines of a few topics in any order, with ties, ranks that disagree, and some lines twice."""
    pairs = draw(st.lists(st.tuples(st.sampled_from(draw(st.lists(an_id, min_size=1, max_size=4))), an_id), min_size=1))
    lines = [
        b"%b Q0 %b %d %b a-tag\n" % (topic, document, draw(st.integers(1, 9)), draw(a_score))
        for topic, document in dict.fromkeys(pairs)
    ]
    # Some ids would make a file that seems compressed, or UTF-16, if they stood first.
    return b"first Q0 line 1 1 a-tag\n" + b"".join(
        draw(st.permutations(lines + draw(st.lists(st.sampled_from(lines), max_size=3))))
    )


@settings(deadline=None, max_examples=60)
@given(run_text())
def test_a_run_arrives_as_it_left(text: bytes) -> None:
    run = read_run(io.BytesIO(text), name="a name")
    qrels = read_qrels(
        {topic: {document: i % 3 for i, document in enumerate(found)} for topic, found in ids(run.table)}
    )
    for way in WAYS.values():
        arrived = way(run)
        assert_same(run, arrived)
        for ties in ("docid", "file"):
            one, other = (judge(table, qrels, Policy(ties=ties)) for table in (run, arrived))
            for name in ("rank", "row", "grade", "tie_first", "tie_size", "retrieved", "offsets"):
                assert getattr(one, name).tobytes() == getattr(other, name).tobytes()
        assert_same(arrived, way(arrived))


SUBTOPICS = "1 1 a 1\n1 2 a 2\n1 1 b 0\n2 7 c 1\n2 8 d 1\n"
KINDS = {
    "plain": "1 0 a 1\n1 0 b 1\n2 0 a 0\n1 0 a 1\n10 0 é 2.5\n",
    "subtopics": SUBTOPICS,
    "judges": SUBTOPICS,
    "preferences": "1 1 1 a 2\n1 1 1 b 1\n1 1 1 c 1\n2 1 1 d 1\n2 1 1 e 3\n",
    "sampled": "1 a 1 0 0.5\n1 b 0 0 1\n2 c 1 1 0.25\n2 d -1 1 0.25\n",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_judgements_of_every_kind_arrive_as_they_left(kind: str, way: str, tmp_path: Path) -> None:
    path = tmp_path / "some.qrels"
    path.write_text(KINDS[kind])
    qrels = read_qrels(path, reading=Reading(judgements=kind, digest="sha256"))
    assert bool(qrels.columns) == (kind != "plain")
    assert_same(qrels, WAYS[way](qrels))


def test_columns_stay_with_their_documents_in_another_order() -> None:
    qrels = read_qrels(io.StringIO(SUBTOPICS), reading=Reading(judgements="subtopics"))
    table = qrels.to_arrow()
    mixed = table.take([2, 1, 3, 0])
    arrived = read_qrels(mixed)
    assert_same(qrels, arrived)
    with pytest.raises(DataError, match="a stream can be read only once"):
        read_qrels(pa.RecordBatchReader.from_stream(table))


def score_lines(seed: int, topics: int = 40, depth: int = 150) -> list[str]:
    """A run with ties in no order, lines that repeat and ranks that disagree."""
    random = Random(seed)
    lines = [
        f"{topic} Q0 d{document} {random.randrange(depth)} {random.randrange(30) / 4} t\n"
        for topic in range(topics)
        for document in random.sample(range(1000), depth)
    ]
    random.shuffle(lines)
    return lines + lines[:7]


def grade_lines(topics: int = 40) -> list[str]:
    random = Random(5)
    return [f"{t} 0 d{d} {random.randrange(4)}\n" for t in range(topics) for d in random.sample(range(1000), 200)]


def mixed_run(seed: int, topics: int = 40, depth: int = 150) -> Run:
    return read_run(io.StringIO("".join(score_lines(seed, topics, depth))), name=f"run{seed}")


def mixed_qrels(topics: int = 40) -> Qrels:
    return read_qrels(io.StringIO("".join(grade_lines(topics))))


def test_another_process_gives_the_same_scores_and_sends_the_run_back() -> None:
    run, qrels = mixed_run(1), mixed_qrels()
    assert run.table.collapsed_count == 7
    assert run.table.rank_disagreements().any()
    first = judge(run, qrels)
    judged = [first, judge(mixed_run(2), qrels, pooled=first.pool)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        by_id, by_file, shared, back = pool.apply(elsewhere.scored, (qrels, run, judged))
    assert (by_id, by_file, shared) == (scores(qrels, run, "docid"), scores(qrels, run, "file"), True)
    assert by_id != by_file
    assert_same(run, back)


def test_what_is_judged_arrives_as_it_left_with_its_pool_once() -> None:
    qrels = read_qrels(io.StringIO(SUBTOPICS), reading=Reading(judgements="subtopics"))
    runs = [read_run({"1": {"a": 2.0, "x": 2.0, "b": 1.0}, "3": {"a": 1.0}}), read_run({"2": {"d": 1.0}})]
    first = judge(runs[0], qrels, Policy(ties="expected"))
    judged = [first, judge(runs[1], qrels, pooled=first.pool)]
    first.n_relevant(1)  # what was computed meanwhile stays here
    assert first.topic.tolist() == [0, 0]
    for way in (by_pickle(5), by_pickle(2), out_of_band):
        arrived = way(judged)
        assert arrived[0].pool is arrived[1].pool
        assert arrived[0].pool._cache == {}
        assert "topic" not in vars(arrived[0])
        for one, other in zip(judged, arrived, strict=True):
            assert (one.topics, one.expected, one.pool.max_grade) == (
                other.topics,
                other.expected,
                other.pool.max_grade,
            )
            assert one.pool.columns["subtopics"].tobytes() == other.pool.columns["subtopics"].tobytes()
            for name in ("offsets", "rank", "row", "grade", "tie_first", "tie_size", "retrieved", "answered"):
                assert getattr(one, name).tobytes() == getattr(other, name).tobytes()


def test_tables_that_are_one_stay_one() -> None:
    run = read_run({"q": {"d": 1.0}})
    one, other = by_pickle(5)([run, run.renamed("another")])
    assert one.table is other.table
    assert (one.name, other.name) == ("run", "another")


def test_a_pickle_is_the_same_in_every_process(tmp_path: Path) -> None:
    files = [str(tmp_path / "some.qrels"), str(tmp_path / "some.run")]
    for path, lines in zip(files, (grade_lines(), score_lines(3)), strict=True):
        Path(path).write_text("".join(lines))
    for seed in ("1", "2"):
        environment = os.environ | {"CRANFIELD_HASH_SEED": seed, "CRANFIELD_THREADS": seed, "PYTHONHASHSEED": seed}
        command = [sys.executable, elsewhere.__file__, *files]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stdout.split() == elsewhere.digests(*files)


def test_out_of_band_the_ids_stay_where_they_arrive() -> None:
    run = mixed_run(4)
    buffers: list[pickle.PickleBuffer] = []
    told = pickle.dumps(run, 5, buffer_callback=buffers.append)
    assert len(told) < 1000
    memory = [bytearray(buffer) for buffer in buffers]
    arrived = pickle.loads(told, buffers=memory)
    assert_same(run, arrived)
    held = [i for i, part in enumerate(memory) if not resizable(part)]
    assert [bytes(memory[i][:1]) for i in held] == [b"d"]  # the ids of documents, and nothing else
    del arrived
    gc.collect()
    assert all(map(resizable, memory))


def resizable(memory: bytearray) -> bool:
    try:
        memory.append(0)
    except BufferError:
        return False
    memory.pop()
    return True


# Other libraries


FRAMES: dict[str, Callable[[Run], Any]] = {
    "pyarrow": lambda run: pa.table(run),
    "batches": lambda run: pa.RecordBatchReader.from_stream(run),
    "polars": lambda run: pl.DataFrame(run),
    "pandas": lambda run: run.to_arrow().to_pandas(),
    "duckdb": lambda run: _from_duckdb(run.to_arrow()),
}


def _from_duckdb(rows: Any) -> Any:
    relation: Any = duckdb.sql("select * from rows")
    return relation.to_arrow_table()


@pytest.mark.parametrize("library", FRAMES)
def test_libraries_take_a_run_and_give_it_back(library: str) -> None:
    run, qrels = mixed_run(6), mixed_qrels()
    arrived = read_run(FRAMES[library](run))
    keeps = library in ("pyarrow", "batches")
    assert_same(run, arrived, also=("collapsed", "ranks", "origin") if keeps else ())
    assert arrived.name == (run.name if keeps else "run")
    for ties in ("docid", "file"):
        assert scores(qrels, arrived, ties) == scores(qrels, run, ties)


def test_rows_stand_best_first_and_tied_ones_as_in_the_input() -> None:
    run = read_run(io.StringIO("2 Q0 a 1 1 t\n2 Q0 c 2 1 t\n10 Q0 b 1 3 t\n2 Q0 b 3 1 t\n2 Q0 x 4 9 t\n"))
    table = run.to_arrow()
    assert table.column_names == ["topic", "document", "score"]
    assert [pa.types.is_large_string(kind) for kind in table.schema.types] == [True, True, False]
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    assert rows == [("2", "x", 9.0), ("2", "a", 1.0), ("2", "c", 1.0), ("2", "b", 1.0), ("10", "b", 3.0)]


@pytest.mark.parametrize(
    "id",
    [
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xe2\x82",
        b"\xf4\x90\x80\x80",
        b"a\x80",
        b"\xe0\x9f\xbf",
        b"\xf0\x8f\xbf\xbf",
    ],
)
def test_ids_that_are_not_text_travel_as_bytes(id: bytes) -> None:
    run = read_run(io.BytesIO(b"q Q0 %b 1 1 t\nq Q0 b 2 0 t\n" % id))
    table = run.to_arrow()
    assert [str(kind) for kind in table.schema.types] == ["large_string", "large_binary", "double"]
    assert table.column("document").to_pylist() == [id, b"b"]
    assert_same(run, read_run(table))


@given(
    st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n\0"), min_size=1).filter(
        lambda text: text[0] != "#"
    )
)
def test_ids_that_are_text_travel_as_text(id: str) -> None:
    table = read_run({"q": {id: 1.0}}).to_arrow()
    assert table.column("document").type == pa.large_string()
    table.validate(full=True)
    assert table.column("document").to_pylist() == [id]


def test_a_stream_outlives_the_run_and_columns_their_batch() -> None:
    run = mixed_run(7)
    expected = run.table.values().tolist()
    stream = pa.RecordBatchReader.from_stream(run)
    del run
    gc.collect()
    batch = stream.read_next_batch()
    column = batch.column("score")
    del batch, stream
    gc.collect()
    assert sorted(column.to_pylist()) == sorted(expected)


def test_streams_that_nobody_reads_are_let_go() -> None:
    run = mixed_run(8)
    table = run.table
    references = sys.getrefcount(table)
    capsule = run.__arrow_c_stream__()
    assert sys.getrefcount(table) == references + 1
    del capsule
    assert sys.getrefcount(table) == references


def test_large_tables_come_in_batches_of_whole_topics() -> None:
    topics = np.repeat([str(number) for number in range(7)], 50_000)
    run = read_run((topics, np.tile(np.arange(50_000), 7), np.tile(np.arange(50_000.0), 7)))
    batches = list(pa.RecordBatchReader.from_stream(run))
    assert len(batches) == 2
    assert sum(len(batch) for batch in batches) == len(run)
    assert_same(run, read_run(pa.Table.from_batches(batches)))


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.slice(1),
        lambda table: table.set_column(2, "score", pa.array([float(i) for i in range(len(table))])),
        lambda table: table.set_column(1, "document", pa.array([f"x{i}" for i in range(len(table))])),
        lambda table: table.replace_schema_metadata({**table.schema.metadata, b"cranfield": b"{}"}),
        lambda table: table.replace_schema_metadata(
            {b"cranfield": table.schema.metadata[b"cranfield"].replace(b'"form": 1', b'"form": 2')}
        ),
    ],
)
def test_rows_that_were_changed_are_not_said_to_come_from_the_file(change: Callable[[Any], Any]) -> None:
    run = read_run(EXAMPLES / "bm25.run", reading=Reading(digest="sha256"))
    table = run.to_arrow()
    assert read_run(table).origin == run.origin
    arrived = read_run(change(table))
    assert (arrived.name, arrived.origin.path, arrived.origin.digest) == ("run", None, None)
    assert read_run(table, name="mine").origin == run.origin._replace(name="mine")


def test_a_file_is_called_by_its_own_name_whoever_wrote_it(tmp_path: Path) -> None:
    run = mixed_run(9)
    pq.write_table(run.to_arrow(), tmp_path / "stored.parquet")
    arrived = read_run(tmp_path / "stored.parquet")
    assert_same(run, arrived, also=())
    assert (arrived.name, arrived.origin.notes, arrived.table.collapsed_count) == ("stored", (), 0)


def test_damaged_metadata_is_believed_or_passed_over() -> None:
    random = Random(1)
    run = mixed_run(10, topics=3, depth=5)
    table = run.to_arrow()
    said = json.loads(table.schema.metadata[b"cranfield"])
    wrong: list[Any] = [
        None,
        -1,
        2**40,
        "x",
        [],
        [[0]],
        [[-1, 1]],
        [[99, 1]],
        [[0, -1]],
        [[0, 2**40]],
        {"a": 1},
        [["a", "b"]],
    ]
    texts = [json.dumps({**said, name: value}).encode() for name in said for value in wrong]
    whole = json.dumps(said).encode()
    for _ in range(MUTATIONS):
        at = random.randrange(len(whole))
        texts.append(whole[:at] + bytes([random.randrange(256)]) + whole[at + random.randrange(3) :])
    for text in texts:
        arrived = read_run(table.replace_schema_metadata({b"cranfield": text}))
        assert_same(run, arrived, also=())
        assert isinstance(arrived.name, str)


def test_a_run_is_not_taken_for_judgements_though_both_have_rows() -> None:
    run, qrels = mixed_run(11, 2, 3), mixed_qrels(2)
    with pytest.raises(UsageError, match="not Run"):
        read_qrels(run)
    with pytest.raises(UsageError, match="not Qrels"):
        read_run(qrels)
    with pytest.raises(UsageError, match="not Run"):
        evaluate(run, run, "AP")


# What is refused


def test_a_run_that_was_only_judged_does_not_travel(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    path.write_text("".join(f"{topic} Q0 d 1 1 t\n" for topic in range(5)))
    qrels = read_qrels({"1": {"d": 1}})
    run = read_run(path, judging=Judging(qrels.table, "docid"))
    for refused in (pickle.dumps, pa.table, Run.to_arrow):
        with pytest.raises(UsageError, match="its rows are gone; read it without judging= to have them"):
            refused(run)
    judged = by_pickle(5)(judge(run, qrels))  # this does
    assert judged.rank.tolist() == [1]


@pytest.mark.parametrize("made", ["run", "table", "judged", "pool"])
def test_pickles_of_another_form_are_refused_in_words(made: str) -> None:
    run, qrels = mixed_run(12, 2, 3), mixed_qrels(2)
    judged = judge(run, qrels)
    value: Any = {"run": run, "table": run.table, "judged": judged, "pool": judged.pool}[made]
    rebuild, state = value.__reduce_ex__(5)[:2]
    place = state.index(1)
    with pytest.raises(DataError) as refused:
        rebuild(*state[:place], 2, *state[place + 1 :])
    assert str(refused.value) == (
        "this was pickled by another version of cranfield, in the form 2, and this version reads the form 1: pickle it "
        "again, with the version that is to read it"
    )


def wire_of(table: Table) -> dict[str, Any]:
    reduced: Any = table.__reduce_ex__(5)
    form, arrays = reduced[1]
    return {"form": form, **arrays}


@pytest.mark.parametrize(
    ("name", "values", "told"),
    [
        ("counts", [2], "what is said of topics differs in length"),
        ("counts", [1, 1], "topics have not as many rows as there are"),
        ("counts", [0, 3], "topics have not as many rows as there are"),
        ("counts", [-1, 4], "topics have not as many rows as there are"),
        ("counts", [2**62, 2**62], "topics have not as many rows as there are"),
        ("topic_lengths", [1, 2], "the lengths of topic ids are wrong"),
        ("topic_lengths", [0, 2], "the lengths of topic ids are wrong"),
        ("id_lengths", [1, 1], "there are not as many documents as values"),
        ("id_lengths", [1, 1, 9], "the lengths of document ids are wrong"),
        ("id_lengths", [2**32 - 1, 2**32 - 1, 2], "the lengths of document ids are wrong"),
        ("values", [1.0, np.nan, 1.0], "a value is no number"),
        ("ids", list(b"aab"), "a document stands there twice"),
        ("topics", list(b"xx"), "a topic stands there twice"),
        ("rank_disagreements", [3, 0], "more ranks disagree than there are rows"),
    ],
)
def test_what_is_no_table_is_refused_in_words(name: str, values: list[Any], told: str) -> None:
    wire = wire_of(read_run({"p": {"a": 2.0, "b": 2.0}, "q": {"c": 1.0}}).table)
    for same in (2.0, 1.0):  # repeated with one value or with another
        wire["values"] = np.array([2.0, same, 1.0])
        with pytest.raises(DataError, match=f"^this is no table as it was pickled: {told}$"):
            table_of_wire(**wire | {name: np.array(values, dtype=wire[name].dtype)}, threads=1)


def test_grades_that_are_infinite_are_refused() -> None:
    wire = wire_of(read_qrels({"p": {"a": 2.0}}).table)
    with pytest.raises(DataError, match="a value is no number"):
        table_of_wire(**wire | {"values": np.array([np.inf])}, threads=1)


def damaged(array: Any, random: Random) -> Any:
    """An array with something else in it, or of another length."""
    changed = array.copy()
    choice = random.randrange(4)
    if choice == 0 and len(changed):
        changed = np.delete(changed, random.randrange(len(changed)))
    elif choice == 1:
        changed = np.append(changed, changed[:1])
    elif len(changed):
        raw = bytearray(changed.tobytes())
        raw[random.randrange(len(raw))] = random.choice([0, 1, 127, 128, 255])
        changed = np.frombuffer(bytes(raw), dtype=array.dtype)
    return changed


def test_damaged_tables_are_refused_or_are_tables() -> None:
    random = Random(2)
    wire = wire_of(mixed_run(13, topics=4, depth=6).table)
    arrays = [name for name, value in wire.items() if isinstance(value, np.ndarray)]
    refused = 0
    for _ in range(3 * MUTATIONS):
        wrong = dict(wire)
        for name in random.choices(arrays, k=random.choice([1, 1, 2])):
            wrong[name] = damaged(wrong[name], random)
        try:
            table = table_of_wire(**wrong, threads=random.choice([1, 2]))
        except DataError:
            refused += 1
            continue
        run = Run(table, read_run({"q": {"d": 1.0}}).origin)
        assert len(run) == sum(len(found) for found in run.to_dict().values())
        assert_same(run, by_arrow(run))
        assert_same(run, by_pickle(5)(run))
    assert refused > MUTATIONS


def test_damaged_judgements_and_hits_are_refused_or_can_be_scored() -> None:
    random = Random(3)
    qrels = read_qrels(io.StringIO(SUBTOPICS), reading=Reading(judgements="subtopics"))
    judged = judge(read_run({"1": {"a": 2.0, "x": 2.0, "b": 1.0}, "2": {"c": 1.0, "d": 1.0}}), qrels)
    refused = 0
    for _ in range(MUTATIONS):
        value: Any = random.choice([judged, judged.pool, qrels])
        rebuild, (kind, form, state) = value.__reduce_ex__(5)[:2]
        names = [name for name, field in state.items() if isinstance(field, np.ndarray)]
        if names and random.random() < 0.8:
            name = random.choice(names)
            state = state | {name: damaged(state[name], random)}
        else:
            state = state | {random.choice(list(state)): random.choice([None, 3, "x", (), {"known": np.ones(1)}])}
        try:
            made = rebuild(kind, form, state)
        except DataError:
            refused += 1
            continue
        if isinstance(made, Judged):
            for measure in ("total", "running", "product_above", "best_from_here"):
                getattr(made, measure)(made.grade)
            assert len(made.n_relevant(1)) == len(made.topics)
    assert refused > MUTATIONS / 3


@pytest.mark.parametrize("wrong", ["int", "tables", "fields"])
def test_what_does_not_travel_is_refused_in_words(wrong: str) -> None:
    reduced: Any = read_run({"q": {"d": 1.0}}).__reduce_ex__(5)
    rebuild, (kind, form, state) = reduced[:2]
    given: tuple[Any, ...] = {
        "int": (int, form, {}),
        "tables": (Qrels, form, state),
        "fields": (kind, form, {**state, "more": 1}),
    }[wrong]
    with pytest.raises(DataError, match=r"nothing that travels|this is no (Run|Qrels) as it was pickled"):
        rebuild(*given)
