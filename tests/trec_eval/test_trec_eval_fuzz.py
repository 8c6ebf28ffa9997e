"""`cranfield trec_eval` against a slow reading of trec_eval (reference_trec_eval.py) on generated files, by characters.

CRANFIELD_FUZZ sets how many calls are tried; seeds are fixed, so every run tries the same ones.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from commands import command_line
from reference_trec_eval import (
    Call,
    Line,
    Measure,
    Qrels,
    Run,
    averaged_over_groups,
    evaluate,
    measures,
    of_preferences,
)

CALLS = int(os.environ.get("CRANFIELD_FUZZ") or 90)
# Documents and scores of few kinds make ties and exact halves; two scores are one in single precision.
DOCUMENTS = [f"d{i}" for i in range(12)] + ["D1", "é", "d1a"]
SCORES = (0.0, 1.0, 1.0, 2.5, -3.0, 16777216.0, 16777217.0, 0.1, 0.10000000001)
GRADES = ((0, 1), (0, 0, 1, 2, 3), (-1, 0, 1), (-2, -1, 0, 2, 12), (1, 4), (0,), (-1,))


def collection(random: Random) -> tuple[Qrels, Run]:
    names = random.sample(["1", "2", "10", "9", "q", "Q1", "ä", "303"], random.randint(1, 5))
    usual = random.choice(GRADES[:5])
    qrels: Qrels = {}
    run: Run = {}
    for name in names:
        judged = random.sample(DOCUMENTS, random.randint(1, 9))
        grades = usual if random.random() < 0.8 else random.choice(GRADES)
        qrels[name] = {document: random.choice(grades) for document in judged}
        shown = random.sample(DOCUMENTS, random.randint(1, len(DOCUMENTS)))
        run[name] = {document: random.choice(SCORES) for document in shown}
    for name in [*names]:
        if len(run) > 1 and random.random() < 0.15:
            del run[name]
    if random.random() < 0.3:
        run["unasked"] = {"d1": 1.0}
    return qrels, run


def call(random: Random, wanted: list[Measure], version: str, topics: list[str]) -> Call:
    def maybe(chance: float) -> bool:
        return random.random() < chance

    per_topic = maybe(0.8)
    reference = None
    if maybe(0.2):
        known = [(topic, name) for topic in topics for one in wanted for name in one.names if maybe(0.7)]
        reference = {key: (random.choice((0.0, 0.25, 1.0)), random.choice((0.0, 0.5, 3.0))) for key in known}
    return Call(
        version,
        per_topic,
        summary=maybe(0.8),
        complete=maybe(0.6),
        level=random.choice((1, 1, 1, 2, 3, 0)),
        depth=random.choice((None, None, 1, 4, 100)),
        judged_only=maybe(0.25),
        documents=random.choice((0, 100)),
        zscores=reference,
    )


def requested(random: Random, version: str) -> list[Measure]:
    if random.random() < 0.4:
        return measures(version)
    ranks = sorted(random.sample(range(1, 20), random.randint(1, 4)))
    recalls = sorted(random.sample([0.0, 0.15, 0.25, 0.35, 0.5, 0.7, 0.9, 1.0, 1.5], 3))
    points = random.sample([0.0, 0.2, 0.25, 0.5, 0.75, 1.0], 3)
    gains = random.choice(({1: 3.0}, {1: 3.0, 2: 9.0, 0: -1.0}, {-1: 1.0}, {2: 0.0, -2: 2.0}))
    weights = [float(random.choice((2, -1, 0, 0.5))) for _ in range(4)]
    x, p = random.choice((0.5, 2.0, 1.0)), random.choice((0.5, 0.95, 0.9))
    return measures(
        version, ranks=ranks, recalls=recalls, points=points, worth=weights, gains=gains, x=x, p=p,
        length=random.choice((0, 3, 20)),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(CALLS))
def test_every_character_is_that_of_the_reference(seed: int, tmp_path: Path) -> None:
    random = Random(f"trec_eval {seed}")
    version = random.choice(("9.0", "10.0"))
    qrels, run = collection(random)
    wanted = requested(random, version)
    options = call(random, wanted, version, list(qrels))
    paths = [tmp_path / name for name in ("qrels", "run", "z")]
    judgements = [f"{topic} 0 {document} {grade}\n" for topic, of in qrels.items() for document, grade in of.items()]
    rows = [f"{topic} Q0 {document} 0 {score!r} tag\n" for topic, of in run.items() for document, score in of.items()]
    random.shuffle(judgements)
    random.shuffle(rows)
    paths[0].write_text("".join(judgements))
    paths[1].write_text("".join(rows))
    reference = options.zscores
    if reference is not None:
        paths[2].write_text("".join(f"{t} {n} {m!r} {d!r}\n" for (t, n), (m, d) in reference.items()) or "x x 0 0\n")
    asked = [part for one in wanted for part in ("-m", one.asked)]
    z = [] if reference is None else ["-Z", str(paths[2])]
    done = command_line("trec_eval", *options.arguments(), *z, *asked, paths[0], paths[1])
    expected, code = evaluate(options, wanted, qrels, run, "tag")
    assert done.stdout == expected
    assert done.exit == code


def grouped(random: Random, run: Run, format: str) -> list[Line]:
    """Judgements of some groups; those of one group do not contradict each other."""
    lines: list[Line] = []
    for topic in [*run, "none"][: random.randint(1, 5)]:
        for group in random.sample(["ann", "bob", "é"], random.randint(1, 3)):
            levels = random.choice(((0, 1), (0, 0, 0, 1, 2), (0,), (1, 2), (-1, 0, 2)))
            level = {d: random.choice(levels) for d in random.sample(DOCUMENTS, random.randint(1, 8))}
            subgroups = {"0": list(level)}
            if format == "prefs" and random.random() < 0.5:
                subgroups = {s: random.sample(list(level), random.randint(1, len(level))) for s in ("0", "s")}
            lines += [(topic, group, s, d, float(level[d])) for s, documents in subgroups.items() for d in documents]
    return lines


@pytest.mark.parametrize("seed", range(CALLS // 3))
@pytest.mark.parametrize("format", ["qrels_jg", "qrels_prefs", "prefs"])
def test_so_it_is_with_several_assessors_and_preferences(seed: int, format: str, tmp_path: Path) -> None:
    random = Random(f"{format} {seed}")
    _, run = collection(random)
    lines = grouped(random, run, format)
    options = replace(call(random, [], random.choice(("9.0", "10.0")), []), zscores=None)
    random.shuffle(lines)
    written = [f"{t} {g} {s + ' ' if format == 'prefs' else ''}{d} {level}\n" for t, g, s, d, level in lines]
    rows = [f"{topic} Q0 {document} 0 {score!r} tag\n" for topic, of in run.items() for document, score in of.items()]
    (tmp_path / "lines").write_text("".join(written))
    (tmp_path / "run").write_text("".join(rows))
    name = "qrels_jg" if format == "qrels_jg" else "all_prefs"
    done = command_line(
        "trec_eval", *options.arguments(), "-R", format, "-m", name, tmp_path / "lines", tmp_path / "run"
    )
    reference = averaged_over_groups if format == "qrels_jg" else of_preferences
    assert (done.stdout, done.exit) == reference(options, lines, run, "tag")
