"""Files as people name them: relative to their folder, pipes that no worker sees, folders as Spark writes them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import cranfield
from commands import command_line
from cranfield import DataError, UsageError, spark
from places import EXAMPLES
from spark_cluster import Cluster, pieces_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = ("qrels.txt", "bm25.run", "dense.run")
LINES = [f"{topic} Q0 d{number} {number} {9.5 - number} tag\n" for topic in range(1, 6) for number in range(1, 9)]
QRELS = {str(topic): {"d1": 1, "d2": 0} for topic in range(1, 6)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in FILES:
        shutil.copy(EXAMPLES / name, tmp_path / name)
    (tmp_path / "bad.run").write_text((EXAMPLES / "bm25.run").read_text() + "6 Q0 d3\n")
    (tmp_path / "bad.jsonl").write_text('{"topic": "1", "score": 1}\n')
    return tmp_path


def test_paths_from_the_folder_of_who_calls(session: SparkSession, cluster: Cluster, folder: Path) -> None:
    """Workers run in folders of their own; everything that is told has the names as they were typed."""
    lines = (
        [*FILES, "-m", "AP", "-f", "json"],
        [*FILES, "./bm25.run"],
        ["qrels.txt", "bad.run", "bm25.run"],
        ["qrels.txt", "bad.jsonl"],
        ["qrels.txt", "bm25.rum", "none.run"],
        ["qrels.txt", "qrels.txt"],
    )
    for line in lines:
        expected = command_line("evaluate", *line, folder=folder)
        assert str(folder) not in expected.stdout + expected.stderr
        for size in (400, 1 << 20):
            with pieces_of(session, size):
                found = command_line("evaluate", *line, "--engine", cluster.master, folder=folder)
            assert found == expected


def test_a_file_that_no_worker_sees(session: SparkSession, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """/proc/self/cwd is the folder of whoever asks: here the file is there, and with the workers it is not."""
    monkeypatch.chdir(folder)
    for size in (400, 1 << 20):
        with pieces_of(session, size), pytest.raises(DataError) as told:
            spark.evaluate("qrels.txt", "/proc/self/cwd/bm25.run", "AP")
        assert str(told.value) == (
            "/proc/self/cwd/bm25.run: a worker cannot read it: No such file or directory\n"
            "    Workers read files themselves: it must be at that place on all of them."
        )


def test_pipes_are_refused(session: SparkSession, cluster: Cluster, folder: Path) -> None:
    os.mkfifo(folder / "pipe.run")
    said = "cranfield: a cluster reads files that every worker sees, not {}: name a file\n"
    for name in ("pipe.run", "-", "/dev/null", "/dev/stdin", "/dev/fd/0"):
        done = command_line("evaluate", "qrels.txt", name, "--engine", cluster.master, folder=folder)
        assert (done.exit, done.stderr) == (2, said.format(name))
    with pytest.raises(UsageError, match=r"not .*pipe.run: name a file"):
        spark.evaluate(QRELS, {"a": folder / "pipe.run"}, "AP")


def written(folder: Path, names: list[str]) -> Path:
    folder.mkdir()
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("".join(LINES[number * 8 : (number + 1) * 8]))
    return folder


def refusal(run: Path) -> str:
    with pytest.raises(DataError) as told:
        spark.evaluate(QRELS, run, "AP")
    return str(told.value)


def test_folders_that_are_not_read_as_they_are(session: SparkSession, tmp_path: Path) -> None:
    assert session
    parts = written(tmp_path / "parts", ["part-0.csv", "part-1.csv"])
    not_plain = "part-0.csv: is not plain TREC text, as a run must be that is a folder"
    assert not_plain in refusal(parts)
    assert "--format trec (Reading(format='trec') in Python) reads them" in refusal(parts)
    found = spark.evaluate(QRELS, parts, "AP", reading=cranfield.Reading(format="trec"))
    assert found.count() == len(QRELS)

    header = written(tmp_path / "header", ["part-0.csv", "part-1.csv"])
    (header / "part-0.csv").write_text("topic,document,score\n1,d1,2.5\n")
    assert refusal(header).endswith("\n    Read it with Spark, and give the frame.")
    packed = written(tmp_path / "packed", ["part-0", "part-1"])
    (packed / "part-0").write_bytes(b"\x1f\x8b" + bytes(20))
    assert refusal(packed).endswith("\n    Unpack it, or read it with Spark and give the frame.")

    partitioned = written(tmp_path / "partitioned", ["part-0", "run=a/part-0"])
    assert refusal(partitioned).splitlines() == [
        f"{partitioned}: has a folder in it, run=a: the files of a run lie side by side",
        "    partitionBy of Spark writes such folders: read them with Spark, and give the frame.",
    ]


def test_empty_files_of_a_folder_are_told(session: SparkSession, cluster: Cluster, tmp_path: Path) -> None:
    """A task that failed leaves such; what Spark writes to say that it is done is none."""
    note = "run: {} left out: part-1{} (a task that failed leaves such)"
    for others, said in ((["part-1"], ("1 empty file", "")), (["part-1", "part-2"], ("2 empty files", ", part-2"))):
        shutil.rmtree(tmp_path / "run", ignore_errors=True)
        folder = written(tmp_path / "run", ["part-0"])
        (tmp_path / "q.txt").write_text("".join(f"{topic} 0 d1 1\n" for topic in QRELS))
        for name in ("_SUCCESS", ".part-0.crc", *others):
            (folder / name).touch()
        for size in (40, 1 << 20):  # in pieces, and whole
            with pieces_of(session, size):
                warnings = cranfield.Results.from_frame(spark.evaluate(QRELS, folder, "AP")).warnings
                done = command_line("evaluate", tmp_path / "q.txt", folder, "--engine", cluster.master)
            assert [str(found) for found in warnings if found.code == "empty-files"] == [note.format(*said)]
            assert note.format(*said) in done.stderr
