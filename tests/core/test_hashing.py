"""Hashes of ids have keys of their own in every process: strangers can't make ids collide, and nobody sees the keys."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

SEEDS = ["0", "another seed", None]


def said(code: str, seed: str | None, *arguments: str, cwd: Path | None = None) -> bytes:
    """What a program prints in a process whose hashes have this seed; None: one that nobody knows."""
    environment = {name: value for name, value in os.environ.items() if name != "CRANFIELD_HASH_SEED"}
    environment |= {"PYTHONHASHSEED": "0"} | ({} if seed is None else {"CRANFIELD_HASH_SEED": seed})
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, cwd=cwd, capture_output=True, check=True).stdout


EVERYTHING = """
import json, sys
from pathlib import Path

from click.testing import CliRunner

import cranfield
from cranfield.cli import cli
from cranfield.formats.format import Judging

def command(*words):
    done = CliRunner().invoke(cli, list(words))
    print(words[0], done.exit_code, done.stdout, done.stderr, done.exception)

runs = ["one.run", "other.run"]
measures = [part for name in ("AP", "nDCG@10", "RR", "Bpref") for part in ("-m", name)]
command("evaluate", "judged.qrels", *runs, "-q", "-f", "json", "--digest", "sha256", *measures)
command("evaluate", "judged.qrels", "one.run", "--ties", "file", "-q", *measures)
command("trec_eval", "-q", "judged.qrels", "one.run")
command("compare", "judged.qrels", *runs, "-f", "json")
command("check", "judged.qrels", *runs)
for method in ("rrf", "combsum", "condorcet"):
    command("fuse", *runs, "--method", method, "-o", f"{method}.run")
    print(Path(f"{method}.run").read_text())
command("pool", *runs, "-o", "pool.txt", "--depth", "7")
print(Path("pool.txt").read_text())
command("convert", "one.run", "-o", "one.jsonl")
print(Path("one.jsonl").read_text())
for name in sorted(Path().glob("wrong*")):
    command("evaluate", "judged.qrels", str(name))
for wrong in json.loads(Path("duplicates.json").read_text()):
    try:
        cranfield.read_run([dict(zip(("topic", "document", "score"), row)) for row in wrong])
    except cranfield.DataError as error:
        print(error)
qrels = cranfield.read_qrels("judged.qrels")
print(cranfield.read_run("one.run", judging=Judging(qrels.table, "docid")).topics, qrels.to_dict())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Runs with ties and lines that repeat, judgements, and runs with several documents that are given twice."""
    random = Random(3)
    documents = [f"d{number}" for number in range(300)] + ["é" * number for number in range(1, 40)]
    topics = [*map(str, range(1, 9)), "a-topic", "another-topic-with-a-long-name"]
    for name in ("one", "other"):
        lines = [
            f"{topic} Q0 {document} 1 {random.randrange(40) / 4} {name}\n"
            for topic in topics
            for document in random.sample(documents, 120)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines + random.sample(lines, 5)))
        wrong = [line.replace(f" {name}\n", "5 changed\n") for line in random.sample(lines, 6)]
        random.shuffle(lines)
        (tmp_path / f"wrong-{name}.run").write_text("".join([*lines, *wrong]))
    judged = [f"{topic} 0 {document} {random.randrange(3)}\n" for topic in topics for document in documents[::3]]
    (tmp_path / "judged.qrels").write_text("".join(judged))
    rows = [[topic, document, random.random()] for topic in topics for document in documents[:20]]
    twice = [rows + [[*row[:2], 7.0] for row in random.sample(rows, 5)] for _ in range(3)]
    (tmp_path / "duplicates.json").write_text(json.dumps(twice))
    return tmp_path


def test_nothing_that_is_said_or_written_depends_on_the_seed(folder: Path) -> None:
    first, *others = (said(EVERYTHING, seed, cwd=folder) for seed in SEEDS)
    assert b"given a second score" in first
    assert b"repeat another with the same value" in first
    assert b"twice, with the scores" in first
    assert first.count(b"fuse 0") == 3
    for other in others:
        assert other == first


HASHES = """
import json, sys
from cranfield._core import hash_of
print(json.dumps([hash_of(id.encode()) for id in json.load(open(sys.argv[1]))]))
"""


def test_ids_that_collide_under_one_seed_do_not_under_another(tmp_path: Path) -> None:
    """Short, long, and of eight bytes: each kind is hashed in a way of its own."""
    ids = [form.format(number) for form in ("{:x}", "{:08x}", "document-{:x}-of-many") for number in range(40_000)]
    (tmp_path / "ids.json").write_text(json.dumps(ids))
    hashes = {seed: json.loads(said(HASHES, seed, str(tmp_path / "ids.json"))) for seed in ("1", "2", None)}
    assert hashes["1"] == json.loads(said(HASHES, "1", str(tmp_path / "ids.json")))
    assert hashes["1"] != hashes["2"] != hashes[None] != hashes["1"]
    places = 1024
    chosen = [number for number, hash in enumerate(hashes["1"]) if hash % places == 0]
    assert len(chosen) > 90  # all in one place of a table of that size
    for seed in ("2", None):
        taken = {hashes[seed][number] % places for number in chosen}
        assert len(taken) > 0.8 * len(chosen)
        assert len({hash % 2**16 for hash in hashes[seed]}) > 0.8 * 2**16  # of all ids, hardly a place stays empty
