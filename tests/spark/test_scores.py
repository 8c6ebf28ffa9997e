"""Scores of a cluster are those of one machine, bit by bit: every measure, policy and way to give runs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import cranfield
from cranfield import Policy, spark
from cranfield.spark import running
from cranfield.spark.file_tasks import file_lines
from generate import SHAPES, Judgements, Rankings, all_variants
from spark_cluster import pieces_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from cranfield.spark.jobs import Work
    from cranfield.spark.piece_texts import FilePiece

QRELS = "topic string, document string, grade double"
ROWS = "run string, topic string, document string, score double"
MEASURES = ("nDCG@10", "AP", "RR", "P@5", "Judged@10", "NumRet", "nDCG(gain='exp')", "RBP(p=0.8)")


def every_shape() -> tuple[Judgements, dict[str, Rankings]]:
    """Collections of every awkward shape as one, and three runs over it, two of which lack topics of the third."""
    qrels: Judgements = {}
    runs: dict[str, Rankings] = {"a": {}, "b": {}, "c": {}}
    for number, shape in enumerate(SHAPES):
        for seed, whole in enumerate(runs):
            made = shape(seed)
            qrels |= {f"{number}{topic}{seed}": grades for topic, grades in made.qrels.items()}
            for start, (name, ranking) in enumerate(runs.items()):
                kept = made.run if name == whole else dict(list(made.run.items())[start::2])
                ranking |= {f"{number}{topic}{seed}": found for topic, found in kept.items()}
    return qrels, runs


COLLECTION, RUNS = every_shape()


def frame_of(session: SparkSession, runs: dict[str, Rankings], *, partitions: int = 5, seed: int = 0) -> DataFrame:
    rows = [
        (run, topic, document, score)
        for run, ranking in runs.items()
        for topic, found in ranking.items()
        for document, score in found.items()
    ]
    random.Random(seed).shuffle(rows)
    return session.createDataFrame(rows, ROWS).repartition(partitions)


def lines_of(ranking: Rankings, seed: int | None = None) -> list[str]:
    lines = [
        f"{topic} Q0 {document} {rank} {score!r} tag"
        for topic, found in ranking.items()
        for rank, (document, score) in enumerate(found.items(), start=1)
    ]
    if seed is not None:
        random.Random(seed).shuffle(lines)
    return lines


def collected(frame: DataFrame) -> dict[tuple[str, str, str], float]:
    rows = [tuple(row) for row in frame.collect()]
    scores = {row[:3]: row[3] for row in rows}
    assert len(scores) == len(rows)
    return scores


def here(results: cranfield.Results) -> dict[tuple[str, str, str], float]:
    return {(run, topic, measure): score for run, topic, measure, score in results.rows()}


def assert_same_bits(found: dict[tuple[str, str, str], float], expected: dict[tuple[str, str, str], float]) -> None:
    assert found.keys() == expected.keys()
    keys = sorted(expected)
    values = [np.array([scores[key] for key in keys]).view(np.int64) for scores in (found, expected)]
    wrong = [key for key, one, other in zip(keys, *values, strict=True) if one != other]
    assert not wrong


def test_every_measure_of_a_frame(session: SparkSession) -> None:
    measures = list(dict.fromkeys(all_variants()))
    frame = frame_of(session, RUNS)
    expected = here(cranfield.evaluate(COLLECTION, RUNS, measures))
    assert_same_bits(collected(spark.evaluate(COLLECTION, frame, measures)), expected)


@pytest.mark.parametrize(
    "policy",
    [
        Policy(ties="best", depth=7),
        Policy(ties="worst", judged_only=True, empty_topics="drop"),
        Policy(topics="run"),
        Policy(topics="common", empty_topics="drop"),
        Policy(ties="expected", samples=20),
        Policy(topic_set=cranfield.policy.TopicSet(sorted(COLLECTION)[::3], "a third")),
    ],
    ids=lambda policy: f"{policy.ties}-{policy.topics}-{policy.topic_set}",
)
def test_every_policy(session: SparkSession, policy: Policy) -> None:
    expected = here(cranfield.evaluate(COLLECTION, RUNS, MEASURES, policy=policy))
    assert_same_bits(collected(spark.evaluate(COLLECTION, frame_of(session, RUNS), MEASURES, policy=policy)), expected)


def test_judgements_joined_by_topic(session: SparkSession) -> None:
    rows = [(topic, document, float(grade)) for topic, of in COLLECTION.items() for document, grade in of.items()]
    judged = session.createDataFrame(rows, QRELS).repartition(4)
    expected = here(cranfield.evaluate(COLLECTION, RUNS, MEASURES))
    frame = frame_of(session, RUNS)
    for broadcast in (0, len(rows)):
        assert_same_bits(collected(spark.evaluate(judged, frame, MEASURES, broadcast=broadcast)), expected)


@pytest.mark.parametrize("ties", ["docid", "file"])
def test_files_in_pieces(session: SparkSession, tmp_path: Path, ties: str) -> None:
    """Topics in one place and scattered line by line, over pieces of a few lines; a folder of files that cut topics;
    comments, blank lines, every end of line, a byte order mark and no end of the last line."""
    grouped, scattered = lines_of(RUNS["a"]), lines_of(RUNS["b"], seed=1)
    odd = ["# a comment", "", *grouped[:40], "  ", "#another", *grouped[40:]]
    (tmp_path / "a.run").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(odd).encode())
    (tmp_path / "b.run").write_text("\n".join(scattered))
    (tmp_path / "c").mkdir()
    parts = lines_of(RUNS["c"])
    for number, first in enumerate(range(0, len(parts), 700)):
        (tmp_path / "c" / f"part-{number:05}").write_text("\r".join(parts[first : first + 700]) + "\r")
    (tmp_path / "c" / "_SUCCESS").write_text("")
    (tmp_path / "c.run").write_text("\n".join(parts))
    qrels = tmp_path / "qrels.txt"
    cranfield.write_qrels(cranfield.read_qrels(COLLECTION), qrels)
    policy = Policy(ties=ties)
    one = {name: tmp_path / f"{name}.run" for name in "abc"}
    expected = here(cranfield.evaluate(qrels, one, MEASURES, policy=policy))
    with pieces_of(session, 20_000):
        found = spark.evaluate(qrels, {**one, "c": tmp_path / "c"}, MEASURES, policy=policy)
        assert_same_bits(collected(found), expected)


def test_files_whole_beside_frames(session: SparkSession, tmp_path: Path) -> None:
    cranfield.write_run(cranfield.read_run(RUNS["a"]), tmp_path / "a.run.gz")
    cranfield.write_run(cranfield.read_run(RUNS["b"]), tmp_path / "b.jsonl")
    frame = frame_of(session, {"c": RUNS["c"]}).withColumnRenamed("topic", "mine")
    reading = cranfield.Reading(columns={"topic": ["topic", "mine"]})
    given: list[DataFrame | Path] = [tmp_path / "a.run.gz", tmp_path / "b.jsonl", frame]
    found = spark.evaluate(COLLECTION, given, MEASURES, reading=reading)
    assert_same_bits(collected(found), here(cranfield.evaluate(COLLECTION, RUNS, MEASURES)))


def test_ranks_and_numbers_as_ids(session: SparkSession) -> None:
    rows = [(1, 7, 2), (1, 8, 1), (2, 7, 1)]
    frame = session.createDataFrame(rows, "qid int, docno long, rank int")
    qrels = {"1": {"7": 1, "8": 2}, "2": {"9": 1}}
    expected = here(cranfield.evaluate(qrels, {"1": ["8", "7"], "2": ["7"]}, MEASURES))
    assert_same_bits(collected(spark.evaluate(qrels, frame, MEASURES)), expected)


def test_lines_travel_only_where_a_topic_is_scattered(
    session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Topics in one place are judged where they are read. One that stands in two, though nobody judged it, is noticed:
    that run is done again, the others are not."""
    travelled: list[set[str]] = []

    def watched(pieces: tuple[FilePiece, ...]) -> Work:
        travelled.append({piece.run for piece in pieces})
        return file_lines(pieces)

    monkeypatch.setattr(running, "file_lines", watched)
    whole, cut, unjudged = lines_of(RUNS["a"]), lines_of(RUNS["a"]), lines_of(RUNS["a"])
    (tmp_path / "whole.run").write_text("\n".join(whole))
    (tmp_path / "cut.run").write_text("\n".join([*cut[1:], cut[0]]))
    (tmp_path / "unjudged.run").write_text("\n".join(["x Q0 d1 1 1 tag", *unjudged, "x Q0 d2 2 0.5 tag"]))
    runs = {name: tmp_path / f"{name}.run" for name in ("whole", "cut", "unjudged")}
    expected = here(cranfield.evaluate(COLLECTION, runs, MEASURES))
    with pieces_of(session, 20_000):
        assert_same_bits(collected(spark.evaluate(COLLECTION, runs, MEASURES)), expected)
        assert travelled == [{"cut", "unjudged"}]
        spark.evaluate(COLLECTION, {"whole": runs["whole"]}, MEASURES)
        assert travelled == [{"cut", "unjudged"}]
