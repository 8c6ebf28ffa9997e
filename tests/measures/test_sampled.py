"""Estimates from a sample: the formulas once more, slowly; where all is judged; whether their means are right.

The figures of NIST's sample_eval.pl and of statAP_MQ_eval were computed with the lines of those programs.
"""

from __future__ import annotations

import io
import math
from collections import namedtuple
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest

from commands import command_line
from cranfield import DataError, Policy, UsageError, evaluate, read_qrels, read_run
from cranfield.errors import DuplicateError
from cranfield.formats.reading import Reading
from cranfield.judged import Judged, judge
from cranfield.measures import parse_measure
from cranfield.measures.sampled import _estimated_relevant

EPSILON = 0.00001


class Document(NamedTuple):
    """Of the pool: what was found of it, -1 if it was not drawn; chances are those of the strata unless given."""

    grade: int
    stratum: str
    chance: float


class Sampled(NamedTuple):
    """A topic: its pool, and documents in rank order."""

    pool: dict[str, Document]
    ranking: list[str]


def sampled(seed: int) -> dict[str, Sampled]:
    random = Random(f"sampled {seed}")
    topics = {}
    for topic in "123":
        names = [f"d{i}" for i in range(30)]
        pool = {d: (random.choice((-1, -1, 0, 0, 1, 2, 3)), random.choice(("1", "2", "x"))) for d in names[:22]}
        drawn = {s: [grade >= 0 for grade, of in pool.values() if of == s] for s in "12x"}
        shares = {s: sum(of) / max(len(of), 1) for s, of in drawn.items()}
        ranking = random.sample(names, random.randint(1, 30))
        topics[topic] = Sampled({d: Document(g, s, shares[s]) for d, (g, s) in pool.items()}, ranking)
    return topics


def judged_by_strata(topics: dict[str, Sampled]) -> Judged:
    lines = [f"{t} 0 {d} {of.stratum} {of.grade}\n" for t, (pool, _) in topics.items() for d, of in pool.items()]
    return judge(run_of(topics), read_qrels(io.StringIO("".join(lines)), reading=Reading(judgements="sampled")))


def run_of(topics: dict[str, Sampled]) -> Any:
    return read_run({t: {d: -float(i) for i, d in enumerate(ranking)} for t, (_, ranking) in topics.items()})


def estimated_relevant(topic: Sampled, rel: int) -> float:
    return sum(1 / of.chance for of in topic.pool.values() if of.grade >= rel)


def statAP(topic: Sampled, rel: int, cutoff: int | None) -> float:
    total = 0.0
    for rank, document in enumerate(topic.ranking[:cutoff], start=1):
        of = topic.pool.get(document)
        if of is not None and of.grade >= rel:
            above = [topic.pool[d] for d in topic.ranking[: rank - 1] if d in topic.pool]
            precision = (1 + sum(1 / other.chance for other in above if other.grade >= rel)) / rank
            total += precision / of.chance
    return total / estimated_relevant(topic, rel) if estimated_relevant(topic, rel) else 0.0


def xinfAP(topic: Sampled, rel: int, cutoff: int | None, smoothing: int) -> float:
    """As the paper has it: the chance that a relevant document is of a stratum, and the mean precision at such."""
    strata = {of.stratum for of in topic.pool.values()}
    value = 0.0
    for stratum in strata:
        inside = [of for of in topic.pool.values() if of.stratum == stratum]
        relevant = sum(of.grade >= rel for of in inside)
        if relevant:
            share = relevant * len(inside) / sum(of.grade >= 0 for of in inside) / estimated_relevant(topic, rel)
            ranks = [
                rank
                for rank, document in enumerate(topic.ranking[:cutoff], start=1)
                if document in topic.pool
                and topic.pool[document].stratum == stratum
                and topic.pool[document].grade >= rel
            ]
            value += share * sum(precision_at(topic, rank, rel, strata, smoothing) for rank in ranks) / relevant
    return value


def precision_at(topic: Sampled, rank: int, rel: int, strata: set[str], smoothing: int) -> float:
    above = [topic.pool[d] for d in topic.ranking[: rank - 1] if d in topic.pool]
    if not above:
        return 1 / rank
    inferred = 0.0
    for stratum in strata:
        inside = [of for of in above if of.stratum == stratum]
        found = (sum(of.grade >= rel for of in inside) + EPSILON) / (
            sum(of.grade >= 0 for of in inside) + smoothing * EPSILON
        )
        inferred += len(inside) / len(above) * found
    return 1 / rank + (rank - 1) / rank * (len(above) / (rank - 1)) * inferred


def infNDCG(topic: Sampled, cutoff: int | None) -> float:
    found = 0.0
    shown = [(rank, d) for rank, d in enumerate(topic.ranking[:cutoff], start=1) if d in topic.pool]
    for stratum in {of.stratum for of in topic.pool.values()}:
        inside = [(rank, topic.pool[d].grade) for rank, d in shown if topic.pool[d].stratum == stratum]
        drawn = [(rank, grade) for rank, grade in inside if grade >= 0]
        if drawn:
            found += len(inside) / len(drawn) * sum(grade / math.log2(rank + 1) for rank, grade in drawn)
    ideal: list[int] = []
    for grade in (3, 2, 1):
        number = sum(1 / of.chance for of in topic.pool.values() if of.grade == grade)
        ideal += [grade] * int(round(number, 9) + 0.5)
    best = sum(grade / math.log2(rank + 1) for rank, grade in enumerate(ideal[:cutoff], start=1))
    return found / best if best else 0.0


@pytest.mark.parametrize("cutoff", [None, 1, 10])
def test_agree_with_the_slow_formulas(cutoff: int | None) -> None:
    at = "" if cutoff is None else f"@{cutoff}"
    for seed in range(40):
        topics = sampled(seed)
        judged = judged_by_strata(topics)
        expected = {
            f"statAP{at}": [statAP(topic, 1, cutoff) for topic in topics.values()],
            f"statAP(rel=2){at}": [statAP(topic, 2, cutoff) for topic in topics.values()],
            f"xinfAP{at}": [xinfAP(topic, 1, cutoff, 3) for topic in topics.values()],
            f"xinfAP(rel=2){at}": [xinfAP(topic, 2, cutoff, 3) for topic in topics.values()],
            f"xinfAP(smoothing='infAP'){at}": [xinfAP(topic, 1, cutoff, 2) for topic in topics.values()],
            f"infNDCG{at}": [infNDCG(topic, cutoff) for topic in topics.values()],
        }
        for name, values in expected.items():
            assert parse_measure(name).per_topic(judged).tolist() == pytest.approx(values, rel=1e-12), (seed, name)


STRATA = {
    "1": "d00:1:1 d01:1:1 d02:1:0 d03:1:0 d04:2:-1 d05:2:0 d06:2:-1 d07:2:2 d08:2:-1 d09:3:-1 d10:3:-1 d11:3:1 "
    "d12:3:-1 d13:3:-1",
    "2": "d00:1:1 d01:1:2 d02:1:2 d03:1:2 d04:2:2 d05:2:2 d06:2:2 d07:2:2 d08:2:1 d09:3:-1 d10:3:-1 d11:3:-1 "
    "d12:3:0 d13:3:1",
}
CHANCES = {
    "1": "d00:1:1:1.0 d01:1:1:1.0 d02:0:2:1.0 d03:0:1:1.0 d05:0:1:0.5 d07:2:0:0.5 d11:1:1:0.25",
    "2": "d00:1:1:1.0 d01:2:1:1.0 d02:2:1:1.0 d03:2:1:1.0 d04:2:2:0.5 d05:2:1:0.5 d06:2:2:0.5 d07:2:1:0.5 "
    "d08:1:1:0.5 d12:0:2:0.25 d13:1:1:0.25",
}
RANKINGS = {
    "1": "d00 d06 d10 d01 d04 d07 x1 d13 x2 d12 d11 d09",
    "2": "d12 d02 d01 d09 x1 x2 d04 d10 d07 d11 d06 d08",
}


def text_of(judgements: dict[str, str], iteration: str) -> str:
    return "".join(
        f"{topic}{iteration} {' '.join(of.split(':'))}\n" for topic, row in judgements.items() for of in row.split()
    )


def run_text() -> str:
    return "".join(
        f"{topic} Q0 {document} {rank} {-rank} x\n"
        for topic, row in RANKINGS.items()
        for rank, document in enumerate(row.split(), start=1)
    )


@pytest.mark.parametrize(
    ("measure", "text", "expected"),
    [
        ("xinfAP@1000", text_of(STRATA, " 0"), [0.685800191517, 0.260367699963]),  # sample_eval.pl's infAP
        ("infNDCG@1000", text_of(STRATA, " 0"), [0.743522738718, 0.499237197784]),
        ("statAP", text_of(CHANCES, ""), [0.493506493506, 0.262265512266]),  # statAP_MQ_eval's AP
    ],
)
def test_known_figures_of_the_programs_of_trec(measure: str, text: str, expected: list[float]) -> None:
    judged = judge(
        read_run(io.StringIO(run_text())), read_qrels(io.StringIO(text), reading=Reading(judgements="sampled"))
    )
    assert parse_measure(measure).per_topic(judged).tolist() == pytest.approx(expected, abs=1e-12)


def test_where_all_of_the_pool_is_judged_they_are_the_plain_measures() -> None:
    for seed in range(20):
        full = {
            topic: of._replace(pool={d: Document(max(x.grade, 0), x.stratum, 1.0) for d, x in of.pool.items()})
            for topic, of in sampled(seed).items()
        }
        judged = judged_by_strata(full)
        for estimate, plain, tolerance in [
            ("statAP", "AP", 1e-12),
            ("statAP(rel=2)@5", "AP(rel=2)@5", 1e-12),
            ("xinfAP", "AP", 100 * EPSILON),
            ("infNDCG", "nDCG", 1e-12),
            ("infNDCG@5", "nDCG@5", 1e-12),
            ("infNDCG(gain='exp')", "nDCG(gain='exp')", 1e-12),
            ("infNDCG(gain={1: 3, 2: 9})@5", "nDCG(gain={1: 3, 2: 9})@5", 1e-12),
        ]:
            values = [parse_measure(name).per_topic(judged).tolist() for name in (estimate, plain)]
            assert values[0] == pytest.approx(values[1], abs=tolerance), (seed, estimate)


def test_with_one_stratum_xinfap_is_infap() -> None:
    for seed in range(20):
        one = {
            topic: of._replace(pool={d: x._replace(stratum="1") for d, x in of.pool.items()})
            for topic, of in sampled(seed).items()
        }
        judged = judged_by_strata(one)
        for rel in (1, 2):
            ours = parse_measure(f"xinfAP(rel={rel}, smoothing='infAP')").per_topic(judged).tolist()
            assert ours == pytest.approx(parse_measure(f"infAP(rel={rel})").per_topic(judged).tolist(), rel=1e-12)


def test_the_mean_over_samples_is_the_value_of_the_whole_pool() -> None:
    """A pool with strata that differ in relevance, drawn from at different rates: each sample is a topic of its own."""
    rng = np.random.default_rng(1)
    samples, sizes, numbers = 300, np.array([20, 40, 60]), np.array([20, 20, 15])
    stratum = np.repeat([0, 1, 2], sizes)
    relevant = rng.random(len(stratum)) < np.repeat([0.6, 0.3, 0.1], sizes)
    grade = relevant * rng.integers(1, 4, len(stratum))
    names = [f"d{i}" for i in range(len(stratum))]
    order = np.argsort(0.3 * stratum - rng.random(len(stratum)))[:90]
    ranking = {names[document]: -float(rank) for rank, document in enumerate(order)}
    whole = evaluate({"1": dict(zip(names, grade.tolist(), strict=True))}, {"1": ranking}, ["AP", "nDCG"])
    average_precision, ndcg = whole.scores[0, :, 0].tolist()

    place = np.argsort(stratum + rng.random((samples, len(stratum))), axis=1)  # each stratum in a random order
    drawn = np.zeros(place.shape, dtype=bool)
    first = np.cumsum(sizes) - sizes
    for start, number in zip(first, numbers, strict=True):
        np.put_along_axis(drawn, place[:, start : start + number], True, axis=1)
    grades = np.where(drawn, grade, -1)
    lines = [
        f"{topic} 0 {name} {of} {found}\n"
        for topic, row in enumerate(grades.tolist())
        for name, of, found in zip(names, stratum.tolist(), row, strict=True)
    ]
    run = read_run({str(topic): ranking for topic in range(samples)})
    judged = judge(run, read_qrels(io.StringIO("".join(lines)), reading=Reading(judgements="sampled")))

    def off(name: str, truth: float, of: Judged = judged) -> float:
        """How many standard errors the mean is off."""
        values = parse_measure(name).per_topic(of)
        return float(abs(values.mean() - truth) / (values.std(ddof=1) / math.sqrt(samples)))

    assert off("xinfAP", average_precision) < 3
    assert off("statAP", average_precision) < 3
    assert off("infNDCG", ndcg) < 3
    assert off("infAP", average_precision) > 20  # one rate for all strata is wrong: the test can fail

    # Drawn independently of each other, what statAP divides and what it divides by are unbiased each.
    chance = (numbers / sizes)[stratum]
    lots = rng.random((samples, len(stratum))) < chance
    chances = {
        str(topic): {names[i]: (int(grade[i]), float(chance[i])) for i in np.flatnonzero(row)}
        for topic, row in enumerate(lots)
    }
    judged = judge(run, read_qrels(chances, reading=Reading(judgements="sampled")))
    number = _estimated_relevant(judged, 1)
    total = parse_measure("statAP").per_topic(judged) * number
    for values, truth in ((number, relevant.sum()), (total, average_precision * relevant.sum())):
        assert abs(values.mean() - truth) < 3 * values.std(ddof=1) / math.sqrt(samples)


def columns_of(source: Any) -> tuple[dict[str, dict[str, float]], dict[str, list[float]]]:
    qrels = read_qrels(
        io.StringIO(source) if isinstance(source, str) else source, reading=Reading(judgements="sampled")
    )
    return qrels.to_dict(), {name: column.tolist() for name, column in qrels.columns.items()}


def test_chances_come_from_strata_or_stand_in_the_file() -> None:
    assert columns_of("1 0 a x 2\n1 0 b y -1\n\n1 0 c y 0\n2 0 a y -1\n") == (
        {"1": {"a": 2, "c": 0, "b": -1}, "2": {"a": -1}},
        {"sampled": [1, 0.5, 0.5, 0], "stratum": [0, 1, 1, 0]},
    )
    # NA and -999 were not judged; algorithms 0 and 2 chose a document for sure
    assert columns_of("1 a 1 1 0.5\n1 b 0 1 NA\n1 c 2 2 0.1\n1 d -999 1 0.4\n1 e 0 0 0\n") == (
        {"1": {"c": 2, "a": 1, "e": 0}},
        {"sampled": [1, 0.5, 1]},
    )


def test_judgements_in_memory() -> None:
    expected = {"1": {"a": 1, "b": 0}}, {"sampled": [0.5, 1]}
    assert columns_of({"1": {"a": (1, 0.5), "b": (0, 1)}}) == expected
    prel = namedtuple("prel", "query_id doc_id relevance method iprob")
    assert columns_of([prel("1", "a", 1, 1, 0.5), prel("1", "b", 0, 0, 0.2), prel("1", "c", 0, 1, "NA")]) == expected
    strata = [{"topic": 1, "document": d, "grade": g, "stratum": 7} for d, g in (("a", 1), ("b", -1))]
    assert columns_of(strata) == ({"1": {"a": 1, "b": -1}}, {"sampled": [0.5, 0.5], "stratum": [0, 0]})


def test_what_is_left_out_or_doubtful_is_told() -> None:
    text = "# of 2009\n1 a 1 1 0.5\n1 a 1 1 0.5\n1 b 0 1 NA\n2 a 1 0 1.0\n"
    notes = dict(read_qrels(io.StringIO(text), reading=Reading(judgements="sampled")).origin.notes)
    assert notes.keys() == {"comments", "duplicates-collapsed", "not-judged", "no-lots"}
    assert "2; statAP_MQ_eval leaves them out" in notes["no-lots"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("1 0 a 1\n", 1, "4 fields where judgements of a sample need 5"),
        ("1 0 a 1 1\n1 0 b 1 one\n", 1, "algorithm"),  # the last column is not of grades, so it has chances
        ("1 a 1 1 0.5\n1 b 1 1 1.5\n", 2, "a chance of 1.5"),
        ("1 a 1 1 0.5\n1 b 1 1 0\n", 2, "a chance of 0 "),
        ("1 a yes 1 0.5\n", 1, "grade 'yes' is not a number"),
        ("1 a 1 1 nan\n", 1, "chance 'nan' is not a number"),
        ("1 a 1 1 0_5\n", 1, "chance '0_5' is not a number"),
        ("1 a 1 1 1\n1 b 0 1 1\n", 1, "iteration 'a' where every line must have the same"),
        ("1 0 a 1 1\n\n1 0 b 1 1e999\n", 1, "algorithm '1'|grade 'a'"),
        ("1 a 1e999 1 0.5\n", 1, "grade '1e999' is not a number"),
        ("1 7 1 1 1\n1 8 0 1 1\n", 2, "iteration '8' where every line must have the same"),
    ],
)
def test_a_line_that_cannot_be_right_is_named(text: str, line: int, message: str) -> None:
    with pytest.raises(DataError, match=message) as error:
        columns_of(text)
    assert error.value.line == line


@pytest.mark.parametrize("text", ["1 0 a 1 1\n1 0 a 2 1\n", "1 0 a 1 1\n1 0 a 1 0\n", "1 a 1 1 0.5\n1 a 1 1 0.25\n"])
def test_a_document_has_one_judgement(text: str) -> None:
    with pytest.raises(DuplicateError, match="second time") as error:
        columns_of(text)
    assert error.value.line == 2


@pytest.mark.parametrize(
    "source",
    ["", "1 a 1 1 NA\n", "1 0 a 1\x00 1\n", {"1": {"a": (1, 2)}}, {"1": {"a": ("x", 0.5)}}, {"1": {None: (1, 1)}}],
)
def test_judgements_that_cannot_be_right(source: Any) -> None:
    with pytest.raises(DataError):
        columns_of(source)


@pytest.mark.parametrize("source", [3, [1], b"1 0 a 1 1", {"1": {"a": 1}}, {"1": [("a", 1)]}])
def test_objects_that_are_not_judgements(source: Any) -> None:
    with pytest.raises(TypeError):
        columns_of(source)


@pytest.mark.parametrize(
    "records",
    [
        [{"topic": "1", "document": "a", "grade": 1}],
        [
            {"topic": "1", "document": "a", "grade": 1, "stratum": 1},
            {"topic": "1", "document": "b", "grade": 1, "iprob": 1},
        ],
    ],
)
def test_records_say_how_a_document_was_drawn(records: Any) -> None:
    with pytest.raises(DataError, match="stratum"):
        columns_of(records)


def test_what_a_measure_needs_is_said() -> None:
    run = {"1": {"a": 1.0}}
    with pytest.raises(UsageError, match="statAP needs judgements of a sample"):
        evaluate({"1": {"a": 1}}, run, "statAP", reading=Reading(judgements="plain"))
    with pytest.raises(UsageError, match="need the strata"):
        evaluate({"1": {"a": (1, 0.5)}}, run, "xinfAP")
    with pytest.raises(UsageError, match="has no bounds"):
        evaluate({"1": {"a": (1, 0.5)}}, run, "statAP", bounds=True)


def test_judgements_are_called_as_their_file(tmp_path: Path) -> None:
    file = tmp_path / "pooled.strata"
    file.write_text(text_of(STRATA, " 0"))
    assert read_qrels(file, reading=Reading(judgements="sampled")).name == "pooled"
    assert read_qrels({"1": {"a": (1, 0.5)}}, reading=Reading(judgements="sampled")).name == "qrels"


def test_ties_are_drawn() -> None:
    qrels = {"1": {"a": (1, 0.5), "b": (0, 1.0)}}
    tied = evaluate(qrels, {"1": {"a": 1.0, "b": 1.0}}, "statAP", policy=Policy(ties="expected", samples=2000))
    assert tied.scores[0, 0, 0] == pytest.approx(0.75, abs=0.03)


def test_the_command_line_reads_what_a_measure_needs(tmp_path: Path) -> None:
    strata, run = tmp_path / "strata.txt", tmp_path / "a.run"
    strata.write_text(text_of(STRATA, " 0"))
    run.write_text(run_text())
    words = ["evaluate", str(strata), str(run), "-f", "csv"]
    done = command_line(*words, "-m", "xinfAP", "-m", "infNDCG", "-m", "AP")
    assert [round(float(value), 4) for value in done.stdout.splitlines()[1].split(",")[1:3]] == [0.4731, 0.6214]
    plain = command_line(*words, "-m", "AP")
    assert plain.exit == 3
    assert "5 fields where trec needs 4" in plain.stderr
    assert "--judgements sampled" in plain.stderr
