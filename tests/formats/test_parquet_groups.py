"""Parquet that is judged while it is read, one row group after another: the numbers, notes and errors of the whole."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import cranfield
from cranfield import DataError, Policy
from cranfield.formats import parquet
from cranfield.formats.reading import Reading

MEASURES = ["AP", "nDCG@5", "RR", "P@3", "R@10"]
QRELS = {str(topic): {str(d): (d * topic) % 3 for d in range(1, 30, 2)} for topic in range(1, 13)}


def rows(seed: int, *, scattered: bool = False) -> list[tuple[str, str, int, float]]:
    """Topics of one to 40 documents, some of them tied, some repeated, and one topic that nobody judged."""
    rng = random.Random(seed)
    made = []
    for topic in [*map(str, range(1, 13)), "99"]:
        documents = rng.sample(range(1, 60), rng.choice([1, 5, 40]))
        of_topic = [(topic, str(d), rank, float(rng.randint(1, 20))) for rank, d in enumerate(documents, 1)]
        made += of_topic + of_topic[:1] * (topic == "7")
    if scattered:
        rng.shuffle(made)
    return made


def written(path: Path, made: list[tuple[str, str, int, float]], *, ids: Any = None, **more: Any) -> str:
    kind = ids or pyarrow.string()
    topics, documents, ranks, scores = (list(column) for column in zip(*made, strict=True))
    as_ids = (lambda values: [int(value) for value in values]) if pyarrow.types.is_integer(kind) else list
    columns = {
        "score": scores,
        "document": pyarrow.array(as_ids(documents), kind),
        "rank": ranks,
        "topic": pyarrow.array(as_ids(topics), kind),
        "tag": ["mine"] * len(made),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns | more), path, row_group_size=17)
    return str(path)


def as_text(path: Path, made: list[tuple[str, str, int, float]]) -> str:
    path.write_text("".join(f"{topic} Q0 {d} {rank} {score} mine\n" for topic, d, rank, score in made))
    return str(path)


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches and shares so small that there are many; and nothing reads a whole file."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("all of it was read at once")

    monkeypatch.setattr(parquet, "BATCH", 5)
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", 40)
    monkeypatch.setattr(parquet, "_columns_of", refuse)


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize("ids", [pyarrow.string(), pyarrow.large_string(), pyarrow.int64(), pyarrow.int16()])
@pytest.mark.parametrize("ties", ["docid", "file", "expected"])
def test_row_groups_are_judged_as_the_whole_is(
    tmp_path: Path, threads: int, scattered: bool, ids: Any, ties: Any
) -> None:
    for seed in range(4):
        made = rows(seed, scattered=scattered)
        text = as_text(tmp_path / "a.run", made)
        file = written(tmp_path / "a.parquet", made, ids=ids)
        reading, policy = Reading(threads=threads), Policy(ties=ties)
        known = cranfield.evaluate(QRELS, text, MEASURES, policy=policy)
        found = cranfield.evaluate(QRELS, file, MEASURES, policy=policy, reading=reading)
        np.testing.assert_array_equal(found.scores, known.scores)
        assert found.topics == known.topics
        assert [str(warning) for warning in found.warnings] == [str(warning) for warning in known.warnings]
        assert found.inputs[-1].tag == "mine"
        assert (found.inputs[-1].rows, found.inputs[-1].topics) == (known.inputs[-1].rows, known.inputs[-1].topics)


@pytest.mark.usefixtures("in_parts")
def test_several_tags_are_told_wherever_they_stand(tmp_path: Path) -> None:
    made = rows(1)
    tags = ["mine"] * (len(made) - 1) + ["yours"]
    results = cranfield.evaluate(QRELS, written(tmp_path / "a.parquet", made, tag=tags), MEASURES)
    assert results.inputs[-1].tag == "yours"
    assert "several-tags" in [warning.code for warning in results.warnings]


@pytest.mark.usefixtures("in_parts")
def test_ranks_without_scores_are_judged_too(tmp_path: Path) -> None:
    made = rows(2)
    topics, documents, ranks, _ = (list(column) for column in zip(*made, strict=True))
    table = pyarrow.table({"topic": topics, "document": documents, "rank": ranks})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=17)
    known = cranfield.evaluate(QRELS, {t: [r[1] for r in made if r[0] == t] for t, *_ in made if t != "7"}, MEASURES)
    found = cranfield.evaluate(QRELS, str(tmp_path / "a.parquet"), MEASURES)
    others = [t for t, topic in enumerate(known.topics) if topic != "7"]
    np.testing.assert_array_equal(found.scores[:, :, others], known.scores[:, :, others])


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({"score": None}, r"row 60 \(counting from 0\), column 'score': missing value"),
    "not a number": ({"score": float("nan")}, "row 60 .*'score'"),
    "no id": ({"document": ""}, "row 60 .*'document'"),
    "no rank": ({"rank": 1.5}, "row 60 .*'rank'"),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_as_of_the_whole_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, threads: int
) -> None:
    monkeypatch.setattr(parquet, "BATCH", 5)
    changes, message = FAULTS[fault]
    made = rows(3)
    columns: dict[str, list[Any]] = {
        name: [row[i] for row in made] for i, name in enumerate(("topic", "document", "rank", "score"))
    }
    for name, value in changes.items():
        columns[name][60] = value
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", row_group_size=17)
    with pytest.raises(DataError, match=message) as whole:
        cranfield.read_run(tmp_path / "a.parquet")
    with pytest.raises(DataError) as judged:
        cranfield.evaluate(QRELS, tmp_path / "a.parquet", MEASURES, reading=Reading(threads=threads))
    assert str(judged.value) == str(whole.value)


@pytest.mark.parametrize("scattered", [False, True])
def test_a_document_twice_with_other_scores_is_told_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scattered: bool
) -> None:
    monkeypatch.setattr(parquet, "BATCH", 5)
    monkeypatch.setattr(parquet, "ROWS_AT_ONCE", 40)
    made = [("1", str(d), d, float(50 - d)) for d in range(1, 40)] + [("1", "3", 40, 0.5)]
    made += [("2", "d", 1, 1.0), ("1", "x", 41, 0.1)] if scattered else []
    with pytest.raises(DataError, match=r"topic '1' has document '3' twice, with the scores 47 and 0\.5"):
        cranfield.evaluate(QRELS, written(tmp_path / "a.parquet", made), MEASURES)


def test_a_damaged_row_group_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    written(path, rows(5))
    content = bytearray(path.read_bytes())
    second = pyarrow.parquet.ParquetFile(path).metadata.row_group(1).column(1)
    begin = second.dictionary_page_offset or second.data_page_offset
    content[begin : begin + 40] = b"\xff" * 40
    path.write_bytes(content)
    with pytest.raises(DataError, match="damaged Parquet file"):
        cranfield.evaluate(QRELS, path, MEASURES)


def test_progress_counts_the_bytes_of_the_file(tmp_path: Path) -> None:
    from cranfield._core import Progress

    progress = Progress()
    file = written(tmp_path / "a.parquet", rows(6))
    cranfield.evaluate(QRELS, file, MEASURES, reading=Reading(progress=progress))
    assert 0 < progress.done == progress.total == Path(file).stat().st_size


TWO_TOPICS = [(topic, f"D{i}", i + 1, 20.0 - i) for topic in ("1", "4") for i in range(20)]
THREE_OF_EACH = {topic: {f"D{i}": 1 for i in (1, 12, 15)} for topic in ("1", "4")}


def two_topics(path: Path, **how: Any) -> Path:
    columns: dict[str, Any] = {"topic": [], "document": [], "rank": [], "score": []}
    for row in TWO_TOPICS:
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    columns |= how.pop("more", {})
    pyarrow.parquet.write_table(pyarrow.table(columns), path, row_group_size=10, **{"compression": "none"} | how)
    return path


# A flipped bit may end the process: it is flipped in another one. Whatever pyarrow refuses must be refused.
FLIPPED = """
import random, sys
import pyarrow.parquet
import cranfield
qrels, path = {qrels!r}, sys.argv[1]
whole = open(path, "rb").read()
rng = random.Random(17)
wrong = 0
for _ in range(300):
    damaged = bytearray(whole)
    damaged[rng.randrange(4, len(whole) - 8)] ^= 1 << rng.randrange(8)
    open(path, "wb").write(damaged)
    try:
        cranfield.evaluate(qrels, path, "AP")
    except cranfield.CranfieldError:
        continue
    try:
        pyarrow.parquet.ParquetFile(path).read(columns=["topic", "document", "score"])
    except Exception as error:
        wrong += 1
        print("accepted, although", error)
print("wrong:", wrong)
"""


@pytest.mark.parametrize("packed", ["none", "snappy"])
def test_a_flipped_bit_is_refused_where_pyarrow_refuses_it(packed: str, tmp_path: Path) -> None:
    """It is neither a crash nor a number from what is left; of those that pyarrow takes nobody can know."""
    path = two_topics(tmp_path / "run.parquet", compression=packed, store_schema=False)
    script = FLIPPED.format(qrels=THREE_OF_EACH)
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "wrong: 0\n"), done.stdout + done.stderr[-2000:]


def test_checksums_of_pages_are_looked_at(tmp_path: Path) -> None:
    path = two_topics(tmp_path / "run.parquet", use_dictionary=False, write_page_checksum=True)
    expected = cranfield.evaluate(THREE_OF_EACH, path, "RR").mean()["run"]["RR"]
    assert expected == 0.5
    data = bytearray(path.read_bytes())
    data[data.index(struct.pack("<d", 8.0)) + 6] ^= 0x60
    path.write_bytes(data)
    for read in (lambda: cranfield.evaluate(THREE_OF_EACH, path, "RR"), lambda: cranfield.read_run(path)):
        with pytest.raises(DataError, match=r"damaged Parquet file .*CRC checksum"):
            read()


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_topics_in_any_encoding_are_read(encoding: str, tmp_path: Path) -> None:
    path = two_topics(tmp_path / "run.parquet", use_dictionary=False, column_encoding={"topic": encoding})
    assert cranfield.evaluate(THREE_OF_EACH, path, "RR").mean()["run"]["RR"] == 0.5
    assert len(cranfield.read_run(path)) == 40


def test_rows_that_are_not_there_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A footer that promises more rows than there are, whoever reads the file."""
    path = two_topics(tmp_path / "run.parquet")
    read = pyarrow.parquet.ParquetFile.read
    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "read", lambda *given, **more: read(*given, **more).slice(10))
    monkeypatch.setattr(pyarrow.parquet.ParquetFile, "iter_batches", lambda *given, **more: iter(()))
    for use in (lambda: cranfield.evaluate(THREE_OF_EACH, path, "RR"), lambda: cranfield.read_run(path)):
        with pytest.raises(DataError, match=r"damaged Parquet file .30 rows where it should have 40"):
            use()


def test_a_name_of_a_column_that_is_no_text_is_told(tmp_path: Path) -> None:
    path = two_topics(tmp_path / "run.parquet", store_schema=False, more={"notizé": [1] * 40})
    path.write_bytes(path.read_bytes().replace("notizé".encode(), b"notiz\xe9!"))
    with pytest.raises(DataError, match="damaged Parquet file"):
        cranfield.evaluate(THREE_OF_EACH, path, "RR")


def footers(path: Path, old: bytes, new: bytes) -> Iterator[pyarrow.parquet.FileMetaData]:
    """The file with some bytes changed wherever they stand in its footer, one place after another."""
    whole = path.read_bytes()
    begin = len(whole) - 8 - struct.unpack("<I", whole[-8:-4])[0]
    while (begin := whole.find(old, begin + 1)) >= 0:
        path.write_bytes(whole[:begin] + new + whole[begin + len(old) :])
        yield pyarrow.parquet.read_metadata(path)


def test_row_groups_of_other_sizes_than_the_file_says_are_refused(tmp_path: Path) -> None:
    """One bit of a footer, which has no checksum: a group of 17 rows has one row."""
    made = [(str(1 + i // 20), str(i % 20), i % 20 + 1, 100.0 - i) for i in range(60)]
    path = Path(written(tmp_path / "a.parquet", made))
    refused = 0
    for footer in footers(path, b"\x16\x22", b"\x16\x02"):  # a long number in Thrift's compact form
        if sum(footer.row_group(group).num_rows for group in range(footer.num_row_groups)) < 60:
            for use in (lambda: cranfield.evaluate(QRELS, str(path), MEASURES), lambda: cranfield.read_run(path)):
                with pytest.raises(DataError, match="44 rows where it should have 60"):
                    use()
            refused += 1
    assert refused == 3


def test_columns_that_are_of_two_types_at_once_are_refused(tmp_path: Path) -> None:
    """Doubles that a footer calls floats in one of two places would be other scores."""
    path = two_topics(tmp_path / "run.parquet", store_schema=False)
    refused = 0
    for footer in footers(path, b"\x15\x0a", b"\x15\x08"):
        columns = range(footer.num_columns)
        if "FLOAT" in [footer.schema.column(place).physical_type for place in columns]:
            for use in (lambda: cranfield.evaluate(THREE_OF_EACH, path, "RR"), lambda: cranfield.read_run(path)):
                with pytest.raises(DataError, match="a column is FLOAT and DOUBLE at once"):
                    use()
            refused += 1
    assert refused == 1


@pytest.mark.parametrize(
    ("tags", "told"),
    [
        (pyarrow.array([2**30] * 40, pyarrow.int32()).cast(pyarrow.date32()), str(2**30)),
        (pyarrow.array([2**62] * 40, pyarrow.duration("s")), str(2**62)),
        (pyarrow.array([2**62] * 40, pyarrow.timestamp("us")), str(2**62)),
        (pyarrow.array([1] * 40, pyarrow.timestamp("us", "Nowhere/Bad")), "1"),
    ],
    ids=["date", "duration", "timestamp", "zone"],
)
def test_tags_for_which_python_has_no_value_are_numbers(tags: Any, told: str, tmp_path: Path) -> None:
    path = two_topics(tmp_path / "run.parquet", more={"tag": tags})
    assert cranfield.evaluate(THREE_OF_EACH, path, "RR").mean()["run"]["RR"] == 0.5
    assert cranfield.read_run(path).origin.tag == told


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_tags_may_be_any_bytes(use_dictionary: bool, tmp_path: Path) -> None:
    path = two_topics(tmp_path / "run.parquet", more={"tag": ["notizé"] * 40}, use_dictionary=use_dictionary)
    path.write_bytes(path.read_bytes().replace("notizé".encode(), b"notiz\xe9!"))
    assert cranfield.evaluate(THREE_OF_EACH, path, "RR").mean()["run"]["RR"] == 0.5
    assert cranfield.read_run(path).origin.tag == "notiz\udce9!"
