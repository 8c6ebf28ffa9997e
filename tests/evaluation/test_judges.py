"""Several judges: compared with an evaluation for each judge, with trec_eval's average, and with statsmodels' kappa."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from commands import command_line
from cranfield import Policy, UsageError, evaluate, read_qrels
from cranfield.evaluation.opinions import agreement, majority, of_judges, quadratic_kappa
from cranfield.formats.reading import Reading
from generate import Judgements, Rankings, all_variants

VARIANTS = list(all_variants())
HIGHEST = 3
Opinions = dict[str, dict[str, dict[str, float]]]


def drawn(seed: int = 1) -> tuple[Opinions, Rankings]:
    """Three judges who agree more or less; one leaves out a topic, all leave out documents; one never gives a 3."""
    random = Random(seed)
    opinions: Opinions = {}
    run: Rankings = {}
    for topic in map(str, range(1, 6)):
        opinions[topic] = {}
        for document in (f"d{i}" for i in range(14)):
            true = random.choice((0, 0, 1, 2, HIGHEST))
            said = {"ann": true, "bob": min(true, 2), "cat": random.choice((0, 1, HIGHEST))}
            if topic == "4":
                del said["cat"]
            opinions[topic][document] = {
                judge: float(grade) for judge, grade in said.items() if random.random() < 0.8
            } or {"ann": float(true)}
        found = random.sample(range(20), 12)
        run[topic] = {f"d{i}": -float(place) for place, i in enumerate(found)}
    del run["5"]
    return opinions, run


OPINIONS, RUN = drawn()
JUDGES = ("ann", "bob", "cat")


def of_judge(judge: str) -> Judgements:
    """One judge's judgements, and a topic that keeps the highest grade the same for all of them."""
    own: Judgements = {"top": {"z": HIGHEST}}
    for topic, documents in OPINIONS.items():
        own[topic] = {document: said[judge] for document, said in documents.items() if judge in said}
    return {topic: grades for topic, grades in own.items() if grades}


def alone(judge: str, policy: Policy) -> dict[str, list[float]]:
    results = evaluate(of_judge(judge), RUN, VARIANTS, policy=policy)
    return {topic: results.scores[0, :, t].tolist() for t, topic in enumerate(results.topics)}


@pytest.mark.parametrize(
    "policy", [Policy(), Policy(judged_only=True, depth=8, ties="best")], ids=["plain", "condensed"]
)
def test_the_mean_is_that_of_an_evaluation_for_each_judge(policy: Policy) -> None:
    asked = Policy(**vars(policy) | {"judges": "mean"})
    results = evaluate(OPINIONS, RUN, VARIANTS, policy=asked, reading=Reading(judgements="judges"))
    each = [alone(judge, policy) for judge in JUDGES]
    for t, topic in enumerate(results.topics):
        expected = np.mean([scores[topic] for scores in each if topic in scores], axis=0)
        assert results.scores[0, :, t].tolist() == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-12), topic
    assert "4" not in each[2]  # a judge who left a topic out does not count in it


def written(tmp_path: Path) -> tuple[Path, Path]:
    lines = [f"{t} {j} {d} {g:g}\n" for t, ds in OPINIONS.items() for d, said in ds.items() for j, g in said.items()]
    rows = [f"{t} Q0 {d} 0 {s} tag\n" for t, ds in RUN.items() for d, s in ds.items()]
    qrels, run = tmp_path / "judges.qrels", tmp_path / "a.run"
    qrels.write_text("".join(lines))
    run.write_text("".join(rows))
    return qrels, run


def test_the_mean_is_that_of_trec_eval(tmp_path: Path) -> None:
    qrels, run = written(tmp_path)
    names = {"map_avgjg": "AP", "P_avgjg_5": "P@5", "Rprec_mult_avgjg_0.40": "RprecMult@0.4"}
    asked = ("-m", "map_avgjg", "-m", "P_avgjg.5", "-m", "Rprec_mult_avgjg.0.40")
    printed = command_line("trec_eval", "-q", "-c", "-R", "qrels_jg", *asked, qrels, run)
    rows = [line.split() for line in printed.stdout.splitlines()]
    found = evaluate(
        qrels, run, list(names.values()), policy=Policy(judges="mean"), reading=Reading(judgements="judges")
    )
    per_topic, means = found.per_topic()["a"], found.mean()["a"]
    assert len(rows) == 18
    for name, topic, value in rows:
        ours = (means if topic == "all" else per_topic[topic])[names[name]]
        assert ours == pytest.approx(float(value), abs=5.0001e-5), (name, topic)


def test_the_default_is_one_evaluation_under_the_mean_grades() -> None:
    grades = {t: {d: float(np.mean(list(said.values()))) for d, said in ds.items()} for t, ds in OPINIONS.items()}
    one = evaluate(OPINIONS, RUN, VARIANTS, reading=Reading(judgements="judges"))
    assert one.scores.tolist() == evaluate(grades, RUN, VARIANTS).scores.tolist()


def test_the_majority_is_one_evaluation_under_grades_that_more_than_half_reach() -> None:
    grades: Judgements = {"top": {"z": HIGHEST}}
    for topic, documents in OPINIONS.items():
        grades[topic] = {}
        for document, said in documents.items():
            reached = [g for g in said.values() if sum(other >= g for other in said.values()) * 2 > len(said)]
            grades[topic][document] = max(reached)
    expected = evaluate(grades, RUN, VARIANTS)
    opinions = OPINIONS | {"top": {"z": {"ann": float(HIGHEST)}}}
    found = evaluate(opinions, RUN, VARIANTS, policy=Policy(judges="majority"), reading=Reading(judgements="judges"))
    assert found.topics == expected.topics
    assert found.scores.tolist() == expected.scores.tolist()


def test_half_is_not_a_majority_and_a_negative_grade_is_no_judgement() -> None:
    nan = np.nan
    given = [[1.0, 1, 2, -1, nan], [0, 1, 1, 2, nan], [nan, 0, 0, nan, -1]]
    assert majority(np.array(given)).tolist()[:4] == [0.0, 1.0, 1.0, 2.0]
    assert np.isnan(majority(np.array(given))[4])


def test_topics_where_the_majority_finds_nothing_are_told() -> None:
    qrels = {"q1": {"d1": {"a": 1, "b": 0}}, "q2": {"d1": {"a": 1}}}
    results = evaluate(
        qrels, {"q1": {"d1": 1.0}}, "AP", policy=Policy(judges="majority"), reading=Reading(judgements="judges")
    )
    assert [w.message for w in results.warnings if w.code == "no-relevant"] == [
        "1 topic without a relevant document, scored 0 for every run: q1"
    ]


def test_kappa_is_that_of_statsmodels() -> None:
    from statsmodels.stats.inter_rater import cohens_kappa

    rng = np.random.default_rng(5)
    for _ in range(20):
        x = rng.integers(0, 4, 30)
        y = np.where(rng.random(30) < 0.6, x, rng.integers(0, 4, 30))
        table = np.zeros((4, 4))
        np.add.at(table, (x, y), 1)
        expected = cohens_kappa(table, wt="quadratic", return_results=False)
        assert quadratic_kappa(x.astype(float), y.astype(float)) == pytest.approx(expected, rel=1e-12)


def test_agreement_is_the_mean_kappa_with_the_others() -> None:
    rng = np.random.default_rng(6)
    grades = rng.integers(0, 3, (3, 40)).astype(float)
    grades[1] = np.where(rng.random(40) < 0.7, grades[0], grades[1])
    grades[2, :10] = np.nan
    k01, k02, k12 = (
        max(0, quadratic_kappa(*(grades[j][~np.isnan(grades[2])] if 2 in pair else grades[j] for j in pair)))
        for pair in ((0, 1), (0, 2), (1, 2))
    )
    expected = [(40 * k01 + 30 * k02) / 70, (40 * k01 + 30 * k12) / 70, (k02 + k12) / 2]
    assert agreement(grades).tolist() == pytest.approx(expected)


def test_agreement_that_cannot_be_told_is_that_of_the_others() -> None:
    nan = np.nan
    apart = np.array([[1.0, 0, 1, 0, nan, nan], [1, 0, 0, 0, nan, nan], [nan, nan, nan, nan, 1, 0]])
    first, second, third = agreement(apart)
    assert first == second == third > 0
    assert agreement(np.array([[1.0, 1], [1, 1]])).tolist() == [1, 1]  # always the same grade: chance agrees as well


def test_a_judge_who_contradicts_the_others_has_no_weight() -> None:
    qrels: Opinions = {
        "q1": {f"d{i}": {"ann": i % 2, "bob": i % 2, "cat": 1 - i % 2} for i in range(8)},
        "q2": {"d1": {"cat": 1.0}},
    }
    run = {"q1": {f"d{i}": -float(i) for i in range(8)}, "q2": {"d0": 2.0, "d1": 1.0}}
    trusted = {"q1": {f"d{i}": i % 2 for i in range(8)}}
    results = evaluate(
        qrels, run, ["AP", "P@3"], policy=Policy(judges="agreement"), reading=Reading(judgements="judges")
    )
    assert results.scores[0, :, 0].tolist() == evaluate(trusted, run, ["AP", "P@3"]).scores[0, :, 0].tolist()
    assert results.scores[0, 0, 1] == 0.5  # nobody with a weight judged the second topic: all count alike
    (told,) = (w for w in results.warnings if w.code == "judge-weights")
    assert told.message.startswith(
        "judges are weighted by their agreement with the others: ann 0.500, bob 0.500, cat 0.000"
    )


def test_agreement_weights_the_scores_of_judges() -> None:
    qrels = read_qrels(OPINIONS, reading=Reading(judgements="judges"))
    trust = agreement(qrels.columns["judges"].T)
    assert trust[0] > trust[2]
    results = evaluate(qrels, RUN, VARIANTS, policy=Policy(judges="agreement"))
    each = [alone(judge, Policy()) for judge in JUDGES]
    for t, topic in enumerate(results.topics):
        there = [j for j, scores in enumerate(each) if topic in scores]
        expected = np.average([each[j][topic] for j in there], axis=0, weights=[trust[j] for j in there])
        assert results.scores[0, :, t].tolist() == pytest.approx(expected.tolist(), rel=1e-12, abs=1e-12), topic


def test_how_far_judges_are_apart_is_told() -> None:
    results = evaluate(OPINIONS, RUN, "AP", policy=Policy(judges="mean"), reading=Reading(judgements="judges"))
    means = [evaluate(of_judge(judge), RUN, "AP") for judge in JUDGES]
    own = [m.scores[0, 0, [t for t, topic in enumerate(m.topics) if topic != "top"]].mean() for m in means]
    (told,) = (w.message for w in results.warnings if w.code == "judges")
    assert told == (
        f"AP under one judge alone is between {min(own):.4f} and {max(own):.4f}, "
        f"standard deviation {np.std(own, ddof=1):.4f} over 3 judges"
    )


def test_judges_go_with_bounds_ties_and_probabilities() -> None:
    bounded = evaluate(
        OPINIONS, RUN, ["AP", "nDCG"], policy=Policy(judges="mean"), bounds=True, reading=Reading(judgements="judges")
    )
    assert bounded.lower is not None
    assert bounded.upper is not None
    assert np.all(bounded.lower <= bounded.scores + 1e-12)
    assert np.all(bounded.scores <= bounded.upper + 1e-12)
    tied = {topic: {d: round(s / 4) for d, s in scores.items()} for topic, scores in RUN.items()}
    results = evaluate(
        OPINIONS, tied, "P@5", policy=Policy(judges="mean", ties="expected"), reading=Reading(judgements="judges")
    )
    each = [evaluate(of_judge(j), tied, "P@5", policy=Policy(ties="expected")).per_topic()["run"] for j in JUDGES]
    expected = np.mean([scores["1"]["P@5"] for scores in each])
    assert results.per_topic()["run"]["1"]["P@5"] == pytest.approx(expected, rel=1e-12)
    chances = {"q": {"a": {"x": 0.5, "y": 0.25}, "b": {"x": 0.25}}}
    found = evaluate(
        chances,
        {"q": {"a": 2, "b": 1}},
        "RR",
        policy=Policy(judges="mean", grades="probabilities"),
        reading=Reading(judgements="judges"),
    )
    assert found.scores[0, 0, 0] == pytest.approx((0.5 + 0.5 * 0.25 / 2 + 0.25) / 2, rel=1e-12)


def test_judgements_of_each_judge_can_be_put_together() -> None:
    together = of_judges({judge: of_judge(judge) for judge in JUDGES})
    results = evaluate(together, RUN, "AP", policy=Policy(judges="mean"))
    expected = evaluate(
        OPINIONS, RUN, "AP", policy=Policy(judges="mean"), reading=Reading(judgements="judges")
    ).per_topic()["run"]
    assert {t: v for t, v in results.per_topic()["run"].items() if t != "top"} == expected


def test_a_choice_of_judges_needs_judges() -> None:
    with pytest.raises(UsageError, match="judges=mean needs the grades of each judge"):
        evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "AP", policy=Policy(judges="mean"))
    with pytest.raises(UsageError, match="judges must be one of"):
        Policy(judges="all")
    with pytest.raises(UsageError, match="ratio of means"):
        evaluate(OPINIONS, RUN, "AP(agg='ratio')", policy=Policy(judges="mean"), reading=Reading(judgements="judges"))


def test_the_command_line_takes_judges(tmp_path: Path) -> None:
    qrels, run = written(tmp_path)
    done = command_line("evaluate", qrels, run, "--judgements", "judges", "--judges", "mean", "-m", "AP", "-f", "csv")
    expected = evaluate(OPINIONS, RUN, "AP", policy=Policy(judges="mean"), reading=Reading(judgements="judges")).mean()[
        "run"
    ]["AP"]
    assert float(done.stdout.splitlines()[1].split(",")[1]) == pytest.approx(expected, rel=1e-12)
    assert "note: a: AP under one judge alone" in done.stderr
    assert command_line("evaluate", qrels, run, "--judges", "mean", "-m", "AP").exit == 3  # not told that it has judges
