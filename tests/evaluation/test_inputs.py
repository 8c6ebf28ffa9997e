"""Every kind of input gives the same table: files in all formats, frames of four libraries, dicts, arrays, records."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import sys
import threading
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cranfield
from cranfield._core import CoreError, TextLayout, read_arrow
from cranfield.errors import ArgumentError, DataError, DuplicateError
from cranfield.formats.given import Given
from cranfield.formats.reading import Reading

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Ids short and long (string views keep 12 bytes inline), not ASCII, numeric, and a tie.
RUN = {
    "q1": {"d2": 9.5, "a-document-id-longer-than-twelve-bytes": 8.25, "dé": 8.25, "d1": -3.0},
    "q10": {"d1": 2.0, "0001": 1.5, "1": 1.0},
}
QRELS = {"q1": {"d2": 1.0, "dé": 2.0, "d9": 0.0}, "q10": {"1": 1.0, "0001": 0.0}}


def columns(table: dict[str, dict[str, float]], names: tuple[str, str, str]) -> dict[str, list[Any]]:
    rows = [(topic, doc, value) for topic, docs in table.items() for doc, value in docs.items()]
    return {name: [row[i] for row in rows] for i, name in enumerate(names)}


RUN_COLUMNS = columns(RUN, ("qid", "docno", "score"))
QRELS_COLUMNS = columns(QRELS, ("query_id", "doc_id", "relevance"))


def trec_run() -> bytes:
    lines = [
        f"{topic} Q0 {doc} {rank} {score} tag\n"
        for topic, docs in RUN.items()
        for rank, (doc, score) in enumerate(docs.items(), start=1)
    ]
    return "".join(lines).encode()


def delimited(table: dict[str, list[Any]], delimiter: str) -> bytes:
    lines = [delimiter.join(table), *(delimiter.join(map(str, row)) for row in zip(*table.values(), strict=True))]
    return ("\n".join(lines) + "\n").encode()


def json_lines(table: dict[str, list[Any]]) -> bytes:
    rows = zip(*table.values(), strict=True)
    return "".join(json.dumps(dict(zip(table, row, strict=True))) + "\n" for row in rows).encode()


def parquet(table: dict[str, list[Any]]) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table(table), out)
    return out.getvalue()


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "trec": ("a.run", trec_run),
    "csv": ("a.csv", lambda: delimited(RUN_COLUMNS, ",")),
    "tsv": ("a.tsv", lambda: delimited(RUN_COLUMNS, "\t")),
    "jsonl": ("a.jsonl", lambda: json_lines(RUN_COLUMNS)),
    "json": ("a.json", lambda: json.dumps(RUN).encode()),
    "parquet": ("a.parquet", lambda: parquet(RUN_COLUMNS)),
}


@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize("how", ["named", "nameless", "said"])
def test_file_formats_are_recognised_by_content_name_or_word(tmp_path: Path, format: str, how: str) -> None:
    name, content = FILES[format]
    path = tmp_path / (name if how == "named" else "a")
    path.write_bytes(content())
    run = cranfield.read_run(path, reading=Reading(format=format if how == "said" else None))
    assert run.to_dict() == cranfield.read_run(RUN).to_dict()
    assert run.name == "a"


COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstd.compress,
}


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("format", FILES)
def test_every_format_compressed_in_every_way_and_in_several_pieces(tmp_path: Path, format: str, suffix: str) -> None:
    name, content = FILES[format]
    data = content()
    path = tmp_path / f"{name}.{suffix}"
    path.write_bytes(COMPRESS[suffix](data[:50]) + COMPRESS[suffix](data[50:]))
    run = cranfield.read_run(path)
    assert run.to_dict() == cranfield.read_run(RUN).to_dict()
    assert run.name == "a"


FRAMES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda table: pd.DataFrame(table).astype({next(iter(table)): object, list(table)[1]: object}),
    "pandas categories": lambda table: pd.DataFrame(table).astype({next(iter(table)): "category"}),
    "pandas index": lambda table: pd.DataFrame(table, index=range(100, 100 + len(next(iter(table.values()))))),
    "polars": pl.DataFrame,
    "polars lazy-like chunks": lambda table: pl.concat(
        [pl.DataFrame(table)[:3], pl.DataFrame(table)[3:]], rechunk=False
    ),
    "polars sliced": lambda table: pl.concat([pl.DataFrame(table)[:2], pl.DataFrame(table)])[2:],
    "pyarrow": pa.table,
    "pyarrow large": lambda table: pa.table(table).cast(
        pa.schema([(name, pa.float64() if i == 2 else pa.large_string()) for i, name in enumerate(table)])
    ),
    "pyarrow views": lambda table: pa.table(table).cast(
        pa.schema([(name, pa.float64() if i == 2 else pa.string_view()) for i, name in enumerate(table)])
    ),
    "pyarrow dictionary": lambda table: pa.table(
        {k: pa.array(v).dictionary_encode() if k != list(table)[2] else v for k, v in table.items()}
    ),
    "pyarrow sliced": lambda table: pa.concat_tables([pa.table(table), pa.table(table)]).slice(
        0, len(next(iter(table.values())))
    ),
    "duckdb": lambda table: duckdb.from_arrow(pa.table(table)),
}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_every_library(library: str) -> None:
    assert cranfield.read_run(FRAMES[library](RUN_COLUMNS)).to_dict() == cranfield.read_run(RUN).to_dict()
    assert cranfield.read_qrels(FRAMES[library](QRELS_COLUMNS)).to_dict() == cranfield.read_qrels(QRELS).to_dict()


def test_pandas_without_pyarrow_falls_back_to_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(self: Any, requested: Any = None) -> Any:
        raise ImportError("no pyarrow")

    monkeypatch.setattr(pd.DataFrame, "__arrow_c_stream__", missing)
    assert cranfield.read_run(pd.DataFrame(RUN_COLUMNS)).to_dict() == cranfield.read_run(RUN).to_dict()


def test_string_columns_are_not_copied() -> None:
    """The table must keep the frame's memory alive after the frame is gone."""
    frame = pl.DataFrame(
        {"qid": ["q"] * 1000, "docno": [f"document-number-{i:06d}" for i in range(1000)], "score": range(1000)}
    )
    run = cranfield.read_run(frame)
    del frame
    junk = [bytes(100_000) for _ in range(50)]
    assert next(iter(run.of("q"))) == "document-number-000999"
    del junk


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_integer_ids_and_scores_of_every_width(dtype: str) -> None:
    frame = pa.table(
        {
            "topic": pa.array([1, 1, 2], dtype),
            "document": pa.array([7, 8, 7], dtype),
            "score": pa.array([3, 4, 5], dtype),
        }
    )
    assert cranfield.read_run(frame).to_dict() == {"1": {"8": 4.0, "7": 3.0}, "2": {"7": 5.0}}


def test_arrays_as_dense_retrievers_give_them() -> None:
    topics = ["q1", "q2"]
    ids = np.array([[11, 12, 13], [21, 22, -1]])
    scores = np.array([[0.9, 0.8, 0.7], [0.5, 0.4, -np.inf]], dtype=np.float32)
    run = cranfield.read_run((topics, ids, scores))
    assert list(run.of("q1")) == ["11", "12", "13"]
    assert list(run.of("q2")) == ["21", "22"]
    assert any(code == "padding" for code, _ in run.origin.notes)
    strings = cranfield.read_run((np.array(topics), ids.astype(str)[:, :2], scores[:, :2]))
    assert list(strings.of("q2")) == ["21", "22"]
    as_bytes = cranfield.read_run((np.array([1, 2]), ids.astype("S")[:, :2], scores[:, :2]))
    assert list(as_bytes.of("2")) == ["21", "22"]
    flat = cranfield.read_run((["q1", "q1", "q2"], np.array([1, 2, 3]), np.array([0.1, 0.2, 0.3])))
    assert flat.to_dict() == {"q1": {"2": 0.2, "1": 0.1}, "q2": {"3": 0.3}}


@pytest.mark.parametrize("shapes", [((2,), (2, 3), (2, 2)), ((3,), (2, 3), (2, 3)), ((2, 1), (2, 3), (2, 3))])
def test_arrays_that_do_not_fit_are_refused(shapes: tuple[tuple[int, ...], ...]) -> None:
    topics, documents, scores = (np.ones(shape) for shape in shapes)
    with pytest.raises(DataError, match=r"shape|topics"):
        cranfield.read_run((topics, documents, scores))


def test_records_of_other_libraries() -> None:
    ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])
    rows = [ScoredDoc(topic, doc, score) for topic, docs in RUN.items() for doc, score in docs.items()]
    assert cranfield.read_run(rows).to_dict() == cranfield.read_run(RUN).to_dict()
    assert cranfield.read_run(iter(rows)).to_dict() == cranfield.read_run(RUN).to_dict()
    assert cranfield.evaluate(QRELS, rows, "AP").runs == ("run",)


def test_mappings_that_are_not_dicts() -> None:
    frozen = MappingProxyType({topic: MappingProxyType(docs) for topic, docs in RUN.items()})
    assert cranfield.read_run(frozen).to_dict() == cranfield.read_run(RUN).to_dict()


def test_msmarco_runs_have_ranks_for_scores(tmp_path: Path) -> None:
    path = tmp_path / "run.tsv"
    path.write_text("1\tp2\t2\n1\tp1\t1\n1\tp3\t3\n")
    run = cranfield.read_run(path, reading=Reading(format="msmarco"))
    assert list(run.of("1")) == ["p1", "p2", "p3"]
    with pytest.raises(DataError, match="msmarco"):
        cranfield.read_run(path)
    headed = tmp_path / "headed.tsv"
    headed.write_text("qid\tpid\trank\n1\tp2\t2\n1\tp1\t1\n")
    assert list(cranfield.read_run(headed).of("1")) == ["p1", "p2"]


def test_msmarco_is_a_layout_of_runs_beside_judgements_of_any_format(tmp_path: Path) -> None:
    beir, trec, run = tmp_path / "beir.tsv", tmp_path / "qrels", tmp_path / "run"
    beir.write_text("query-id\tcorpus-id\tscore\n1\tp2\t1\n")
    trec.write_text("1 0 p2 1\n")
    run.write_text("1\tp1\t1\n1\tp2\t2\n")
    for qrels in (beir, trec):
        assert cranfield.evaluate(qrels, run, "RR", reading=Reading(format="msmarco")).mean() == {"run": {"RR": 0.5}}


NUMBER, LEFT_OUT = "A score is a number, without quotes.", "A document without a score is to be left out."


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"a": 1.0, "b": "x"}, f"topic '2', document 'b': scores must be numbers, not str\n    {NUMBER}"),
        ({"a": 1.0, "b": None}, f"topic '2', document 'b': scores must be numbers, not NoneType\n    {LEFT_OUT}"),
        (
            ["a"],
            "topic '1' has dict where others have a list of documents\n"
            "    All topics of a run are {document: score}, or all are [document, …], best first.",
        ),
    ],
)
def test_an_entry_of_a_wrong_type_is_named(entry: Any, told: str, tmp_path: Path) -> None:
    given = {"1": {"a": 2.0}, "2": entry}
    with pytest.raises(TypeError) as found:
        cranfield.read_run(given)
    assert str(found.value) == f"the run: {told}"
    path = tmp_path / "run.json"
    path.write_text(json.dumps(given))
    with pytest.raises(DataError) as refused:
        cranfield.read_run(path)
    assert str(refused.value) == f"{path}: {told}"


RANKED = {"q1": ["d2", "d10", "d1"], "q2": ["d1"]}


def test_a_run_may_be_ranked_lists(tmp_path: Path) -> None:
    run = cranfield.read_run(RANKED)
    assert run.to_dict() == {"q1": {"d2": 3.0, "d10": 2.0, "d1": 1.0}, "q2": {"d1": 1.0}}
    assert cranfield.read_run({7: [3, 12]}).to_dict() == {"7": {"3": 2.0, "12": 1.0}}
    path = tmp_path / "run.json"
    path.write_text(json.dumps(RANKED))
    assert cranfield.read_run(path).to_dict() == run.to_dict()


@pytest.mark.parametrize("indent", [None, 1])
def test_ranked_lists_in_a_file_are_known_by_their_content(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "run"
    for given in (RANKED, {"q1": [f"d{i}" for i in range(20_000)]}):
        path.write_text(json.dumps(given, indent=indent))
        assert cranfield.read_run(path).to_dict() == cranfield.read_run(given).to_dict()


def test_a_record_whose_first_field_is_a_list_is_a_line_of_records(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text('{"terms": ["a"], "query_id": "1", "doc_id": "d1", "score": 2.0}\n')
    assert cranfield.read_run(path).to_dict() == {"1": {"d1": 2.0}}


def test_ranked_lists_are_taken_wherever_a_run_is() -> None:
    qrels = {"q1": {"d1": 1, "d2": 1}, "q2": {"d1": 1}}
    assert cranfield.evaluate(qrels, RANKED, "AP").mean() == {"run": {"AP": pytest.approx((5 / 6 + 1) / 2)}}
    two = {"a": RANKED, "b": {"q1": ["d1"], "q2": ["d9", "d1"]}}
    assert cranfield.evaluate(qrels, two, "RR").mean() == {"a": {"RR": 1.0}, "b": {"RR": 0.75}}
    assert list(cranfield.evaluate(qrels, [*two.values()], "RR").mean()) == ["run1", "run2"]
    assert cranfield.correlate(RANKED, {"q1": ["d1", "d10", "d2"]}, "kendall").of("q1")["kendall"] == -1.0
    assert cranfield.fuse([RANKED, {"q1": ["d2"]}]).of("q1").keys() == {"d1", "d2", "d10"}
    assert cranfield.compare(cranfield.Experiment(qrels, two), "RR").systems == ("a", "b")
    assert repr(cranfield.Experiment(qrels, RANKED)) == "<Experiment: dict, 1 run: dict>"


@pytest.mark.parametrize(
    ("run", "error", "told"),
    [
        (
            {"q1": ["d1", "d2", "d1"]},
            DuplicateError,
            "the run: topic 'q1': document 'd1' stands at ranks 1 and 3\n"
            "    A ranking has a document once: leave out all but the first.",
        ),
        (
            {"q1": [1, "1"]},
            DuplicateError,
            "the run: topic 'q1': document '1' stands at ranks 1 and 2\n"
            "    A ranking has a document once: leave out all but the first.",
        ),
        (
            {"q1": ["d1"], "q2": {"d1": 1.0}},
            ArgumentError,
            "the run: topic 'q2' has dict where others have a list of documents\n"
            "    All topics of a run are {document: score}, or all are [document, …], best first.",
        ),
        (
            {"q1": ["d1", ("d2", 0.5)]},
            ArgumentError,
            "the run: topic 'q1', rank 2: document ids must be str or int, not tuple: ('d2', 0.5)\n"
            "    A ranked list is [document, …], best first; documents with scores are {document: score}.",
        ),
        (
            {"q1": ["d1", True]},
            ArgumentError,
            "the run: topic 'q1', rank 2: document ids must be str or int, not bool: True\n"
            "    A ranked list is [document, …], best first; documents with scores are {document: score}.",
        ),
        (
            {"dense": [{"q1": ["d1"]}, {"q1": ["d2"]}]},
            ArgumentError,
            "expected {topic: {document: score}}, {topic: [document, …]} or {name: run}, but a value is a list of runs",
        ),
    ],
)
def test_what_is_no_ranked_list_is_told(run: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error) as found:
        cranfield.evaluate({"q1": {"d1": 1}}, run, "AP")
    assert str(found.value) == told


def test_lists_of_files_are_those_of_a_system_under_several_seeds(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 1.0 a\n")
    runs = {"dense": [str(path), str(path)]}
    with pytest.raises(ArgumentError, match="a list of runs"):
        cranfield.evaluate({"q1": {"d1": 1}}, runs, "AP")
    assert repr(cranfield.Experiment({"q1": {"d1": 1}}, runs)) == "<Experiment: dict, 1 run: dense>"


def test_judgements_are_no_ranked_lists() -> None:
    with pytest.raises(TypeError, match="a topic's value is list"):
        cranfield.read_qrels({"q1": ["d1"]})


def test_two_columns_of_one_name_are_refused_by_file(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("qid,docid,QID,score\n1,a,2,1.0\n")
    with pytest.raises(DataError) as refused:
        cranfield.read_run(path)
    assert str(refused.value).startswith(f"{path}: more than one column is called 'qid'")


def test_msmarco_and_beir_qrels(tmp_path: Path) -> None:
    msmarco, beir = tmp_path / "qrels.dev.tsv", tmp_path / "test.tsv"
    msmarco.write_text("300674\t0\t7067032\t1\n")
    beir.write_text("query-id\tcorpus-id\tscore\nPLAIN-2\tMED-2427\t2\n")
    assert cranfield.read_qrels(msmarco).to_dict() == {"300674": {"7067032": 1.0}}
    assert cranfield.read_qrels(beir).to_dict() == {"PLAIN-2": {"MED-2427": 2.0}}


def test_columns_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("needle,hay,how much\nq1,d1,0.5\n")
    with pytest.raises(DataError, match=r"no columns for topic, document and score among 'needle', 'hay', 'how much'"):
        cranfield.read_run(path)
    run = cranfield.read_run(path, reading=Reading(columns={"topic": "needle", "document": "hay", "score": "how much"}))
    assert run.to_dict() == {"q1": {"d1": 0.5}}


def test_quoted_csv(tmp_path: Path) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text('"topic","document","score"\n"q 1","a, ""b""",1.5\nq2,plain,"2.5"\n')
    assert cranfield.read_run(path).to_dict() == {"q 1": {'a, "b"': 1.5}, "q2": {"plain": 2.5}}


def test_pipes_and_open_files(tmp_path: Path) -> None:
    wanted = cranfield.read_run(RUN).to_dict()
    assert cranfield.read_run(io.BytesIO(trec_run())).to_dict() == wanted
    assert cranfield.read_run(io.StringIO(trec_run().decode())).to_dict() == wanted
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(gzip.compress(trec_run())))
    writer.start()
    assert cranfield.read_run(fifo).to_dict() == wanted
    writer.join()


def test_ids_that_are_not_utf8_survive(tmp_path: Path) -> None:
    path = tmp_path / "latin1.run"
    path.write_bytes("q1 Q0 caf\xe9 1 1.0 t\n".encode("latin-1"))
    run = cranfield.read_run(path)
    (doc,) = run.of("q1")
    assert os.fsencode(doc) == b"caf\xe9"
    assert cranfield.evaluate({"q1": {doc: 1}}, run, "AP").mean() == {"latin1": {"AP": 1.0}}


def test_a_run_outlives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_bytes(trec_run())
    run = cranfield.read_run(path)
    path.write_bytes(b"x" * 10)
    assert run.to_dict() == cranfield.read_run(RUN).to_dict()


def test_several_runs_in_every_form(tmp_path: Path) -> None:
    paths = [tmp_path / "x" / "a.run", tmp_path / "y" / "a.run"]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes(trec_run())
    runs: list[Given] = [*paths, RUN, pl.DataFrame(RUN_COLUMNS)]
    results = cranfield.evaluate(QRELS, runs, "AP")
    assert results.runs == (str(paths[0]), str(paths[1]), "run3", "run4")
    assert len(set(results.means.ravel().tolist())) == 1
    named: dict[str, Given] = {"one": RUN, "two": paths[0]}
    assert cranfield.evaluate(QRELS, named, "AP").runs == ("one", "two")
    assert cranfield.evaluate(QRELS, [RUN], "AP").runs == ("run",)


@pytest.mark.parametrize("source", [None, 3, 2.5, b"bytes", object()], ids=lambda source: type(source).__name__)
def test_other_types_are_refused_by_name(source: Any) -> None:
    with pytest.raises(TypeError, match=r"expected a path, an open file, a dict of dicts, a data frame"):
        cranfield.read_run(source)


def test_the_tag_of_a_run_is_read_in_every_format_that_has_one(tmp_path: Path) -> None:
    for format in ("trec", "csv", "tsv", "jsonl", "parquet"):
        cranfield.write_run({"q1": {"d1": 2.0, "d2": 1.0}}, tmp_path / "run", format=format, tag="bm25")
        assert cranfield.read_run(tmp_path / "run").origin.tag == "bm25", format


def test_of_several_tags_the_last_counts_and_a_note_is_made() -> None:
    rows = [
        '{"topic": "q", "document": "a", "score": 2, "run_id": "one"}',
        '{"topic": "q", "document": "b", "score": 1}',
    ]
    both = "\n".join((*rows, '{"topic": "q", "document": "c", "score": 0, "run_id": 2}'))
    read = cranfield.read_run(io.StringIO(both))
    assert (read.origin.tag, "several-tags" in dict(read.origin.notes)) == ("2", True)
    read = cranfield.read_run(io.StringIO("\n".join(rows)))
    assert (read.origin.tag, "several-tags" in dict(read.origin.notes)) == ("one", False)


@pytest.mark.parametrize("tags", [("a", "b", ""), ("a", "", ""), ("", "", "b"), ("a", "a", "a"), ("", "", "")])
def test_several_tags_are_told_alike_in_every_format(tags: tuple[str, ...], tmp_path: Path) -> None:
    """An empty tag is one, and none where all are empty."""
    told = []
    for name in ("run.csv", "run.jsonl"):
        rows = [{"topic": "q", "document": f"d{i}", "score": 9 - i, "tag": tag} for i, tag in enumerate(tags)]
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        text = "\n".join(lines if name.endswith("csv") else map(json.dumps, rows))
        (tmp_path / name).write_text(text + "\n")
        origin = cranfield.read_run(tmp_path / name).origin
        told.append((origin.tag, "several-tags" in dict(origin.notes)))
    assert told[0] == told[1] == (tags[-1], len(set(tags)) > 1)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"topic": -1}, {"document": -1}, {"value": 6}, {"rank": 6}, {"rank": -2}, {"tag": -2}),
        *({"max_fields": -1}, {"header_lines": -1}, {"delimiter": "\n"}, {"delimiter": "\0"}, {"kind": "gain"}),
    ],
    ids=str,
)
def test_a_layout_names_only_fields_that_every_line_has(wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = dict(topic=0, document=2, value=4, rank=3, tag=9, min_fields=6, kind="score")  # noqa: C408
    TextLayout(**right)
    with pytest.raises(ValueError, match=r"layout|kind is score, grade or rank"):
        TextLayout(**right | wrong)


@pytest.mark.parametrize("columns", [[0, 1, 3, -1], [-1, 1, 2, -1], [0, 1, 2, 3]], ids=str)
def test_columns_that_a_frame_lacks_are_refused(columns: list[int]) -> None:
    stream = pa.table(RUN_COLUMNS).__arrow_c_stream__()
    with pytest.raises(CoreError, match="lacks a column"):
        read_arrow(stream, columns, "score", None, False, 1)
