"""Comparisons of systems: the numbers, who is aligned with whom, and what a reader is warned of."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from commands import command_line
from cranfield import Policy, UsageError, evaluate
from cranfield.comparison.comparison import Comparison
from cranfield.comparison.comparison_tables import FORMATS, legend, render
from cranfield.comparison.question import Details
from cranfield.comparison.systems import compare, compare_collections
from cranfield.errors import DataError
from cranfield.evaluation.experiment import Experiment
from cranfield.formats.reading import Reading
from cranfield.planning.splits import split
from cranfield.statistics.seeds import compare_seeds
from cranfield.statistics.splitting import corrected_resampled_t
from noisy import QRELS, RUNS, TOPICS, system, write
from places import EXAMPLES


def compared(runs: Any = RUNS, measures: Any = "nDCG@10", **question: Any) -> Comparison:
    of_inputs = {name: question.pop(name) for name in ("policy", "reading") if name in question}
    details = Details(**{name: question.pop(name) for name in [*question] if name in Details.__dataclass_fields__})
    return compare(Experiment(QRELS, runs, **of_inputs), measures, details=details, **question)


def codes(comparison: Comparison) -> set[str]:
    return {warning.code for warning in comparison.warnings}


def test_the_numbers_are_those_of_the_tests_themselves() -> None:
    found = compared()
    scores = evaluate(QRELS, RUNS, "nDCG@10").scores[:, 0]
    for pair in found.rows():
        a, b = (scores[list(RUNS).index(name)] for name in (pair.system, pair.other))
        expected = stats.ttest_rel(a, b)
        interval = expected.confidence_interval(0.95)
        assert pair.p["t"] == pytest.approx(expected.pvalue, rel=1e-9)
        assert (pair.low, pair.high) == pytest.approx((interval.low, interval.high), abs=1e-12)
        assert pair.difference == pytest.approx(a.mean() - b.mean(), abs=1e-12)
        assert pair.d_z == pytest.approx((a - b).mean() / (a - b).std(ddof=1))
        assert (pair.wins, pair.ties, pair.losses) == ((a > b).sum(), (a == b).sum(), (a < b).sum())
        assert abs(pair.p["randomisation"] - pair.p["t"]) < 0.02


def test_the_legend_counts_systems_and_topics() -> None:
    assert legend(compared()).startswith("3 systems on 40 topics. ")
    halves = {"old": TOPICS[:15], "new": TOPICS[15:]}
    parts = {
        name: Experiment(
            {topic: QRELS[topic] for topic in topics},
            {run: {topic: rankings[topic] for topic in topics} for run, rankings in RUNS.items()},
        )
        for name, topics in halves.items()
    }
    assert legend(compare_collections(parts, "AP")).startswith("3 systems on 15 topics of old, 25 topics of new. ")
    own = {name: {topic: RUNS["fair"][topic] for topic in topics} for name, topics in halves.items()}
    alone = compared(own, "AP", tests=["welch"], policy=Policy(topics="run"))
    assert legend(alone).startswith("2 systems, each on topics of its own. ")


def test_p_values_of_all_pairs_and_measures_are_one_family() -> None:
    found = compared(measures=["nDCG@10", "AP"])
    p = np.array([pair.p["t"] for pair in found.rows()])
    order = np.argsort(p)
    holm = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)).clip(max=1)
    adjusted = np.array([pair.adjusted_p for pair in found.rows()])
    assert found.comparisons == 6
    np.testing.assert_allclose(adjusted[order], holm)


def test_simultaneous_intervals_are_wider() -> None:
    for pair in compared().rows():
        assert pair.together_low < pair.low < pair.high < pair.together_high


def test_a_baseline_is_compared_with_every_other_system() -> None:
    found = compared(baseline="fair")
    assert [(pair.system, pair.other) for pair in found.rows()] == [("poor", "fair"), ("good", "fair")]
    with pytest.raises(UsageError, match="no run 'best' to be the baseline; there are poor, fair, good"):
        compared(baseline="best")


def test_letters_name_the_systems_that_are_beaten() -> None:
    found = compared()
    (panel,) = found.panels
    assert panel.best == 2
    assert found.beaten_by(panel, 2) == [0, 1]
    assert found.beaten_by(panel, 0) == []
    assert found.letter(27) == "b2"
    assert [row[2].above for row in found.grid().cells()][2] == "ab"


def test_topics_are_aligned_by_their_ids() -> None:
    backwards = {topic: RUNS["fair"][topic] for topic in reversed(TOPICS)}
    one, other = compared(), compared({**RUNS, "fair": backwards})
    assert [pair.adjusted_p for pair in one.rows()] == [pair.adjusted_p for pair in other.rows()]


def test_a_missing_topic_counts_as_zero_and_is_named() -> None:
    found = compared({**RUNS, "good": system(1.0, 3, TOPICS[1:])})
    assert "missing-topics" in codes(found)
    assert len(found.panels[0].topics) == 40
    own = compared({**RUNS, "good": system(1.0, 3, TOPICS[1:])}, policy=Policy(topics="run"))
    assert len(own.panels[0].topics) == 39


def test_family_tests_bring_their_own_correction() -> None:
    alone, twice = compared(tests=["tukey"]), compared(tests=["tukey"], measures=["nDCG@10", "AP"])
    assert np.array_equal(alone.panels[0].adjusted, alone.panels[0].p["tukey"])
    np.testing.assert_allclose(twice.panels[0].adjusted, np.minimum(1, 2 * twice.panels[0].p["tukey"]))
    with pytest.raises(UsageError, match="tukey corrects for all pairs itself"):
        compared(tests=["tukey"], correction="none")


def test_tests_for_different_topics_are_refused_on_shared_ones() -> None:
    with pytest.raises(UsageError, match="topic"):
        compared(tests=["welch"])
    halves = {"a": system(0.4, 1, TOPICS[:20]), "b": system(1.0, 2, TOPICS[20:])}
    found = compared(halves, tests=["welch"], policy=Policy(topics="run"))
    scores = evaluate(QRELS, halves, "nDCG@10", policy=Policy(topics="run")).scores[:, 0]
    expected = stats.ttest_ind(scores[0, :20], scores[1, 20:], equal_var=False)
    assert next(found.rows()).p["welch"] == pytest.approx(expected.pvalue)
    np.testing.assert_allclose(found.panels[0].means, [scores[0, :20].mean(), scores[1, 20:].mean()])
    assert "nan" not in render(found, "table")
    few = {"a": system(0.4, 1, TOPICS[:5]), "b": system(1.0, 2, TOPICS[5:9])}
    first = {topic: QRELS[topic] for topic in TOPICS[:9]}
    assert np.isnan(
        compare(Experiment(first, few, policy=Policy(topics="run")), "AP", tests=["welch"]).panels[0].effects.d_z[0]
    )
    for more in ({"margin": 0.1}, {"risk": 1.0, "baseline": "a"}, {"splits": split(TOPICS, folds=2)}):
        with pytest.raises(UsageError, match="answer the same topics"):
            compared(halves, tests=["welch"], policy=Policy(topics="run"), **more)
    with pytest.raises(UsageError, match="tests of one kind"):
        compared(halves, tests=["welch", "t"], policy=Policy(topics="run"))


def test_equivalence_is_asked_for_with_a_margin() -> None:
    twins = {"a": system(0.4, 5), "b": system(0.4, 6)}
    (pair,) = compared(twins, margin=0.5).rows()
    assert pair.equivalence_p is not None
    assert pair.equivalence_p < 0.001
    assert "not-equal" in codes(compared(twins))
    assert "not-equal" not in codes(compared(twins, margin=0.5))


def test_several_seeds_of_a_system_are_one_system() -> None:
    seeds = {"fair": [system(0.4, seed) for seed in range(5)], "good": [system(1.0, seed) for seed in range(10, 14)]}
    found = compared(seeds)
    assert found.systems == ("fair", "good")
    (panel,) = found.panels
    assert panel.spreads is not None
    assert [spread.seeds for spread in panel.spreads] == [5, 4]
    assert found.tests[0].name == "seeds"
    assert "±" in render(found, "table")
    (pair,) = found.rows()
    (plain,) = compared({name: runs[0] for name, runs in seeds.items()}).rows()
    assert pair.high - pair.low < plain.high - plain.low  # means over seeds vary less over topics
    assert "one-seed" in codes(compared({**seeds, "good": seeds["good"][0]}))
    assert "one-seed" in codes(compared({name: runs[:1] for name, runs in seeds.items()}))
    assert "one-seed" not in codes(compared())
    with pytest.raises(UsageError, match="name no other"):
        compared(seeds, tests=["wilcoxon"])
    with pytest.raises(UsageError, match="no run of none"):
        compared({**seeds, "none": []})


def test_splits_show_every_fold() -> None:
    splits = split(TOPICS, folds=4, seed=3)
    found = compared(splits=splits)
    (panel,) = found.panels
    assert panel.folds is not None
    for k, (i, j) in enumerate(found.pairs.tolist()):
        differences = panel.folds[k].differences
        assert np.mean(differences) == pytest.approx(panel.effects.mean[k])
        first = [panel.topics.index(topic) for topic in splits.folds[0].test]
        assert differences[0] == pytest.approx(float((panel.scores[i] - panel.scores[j])[first].mean()))
    assert "fold 4" in render(found, "markdown")
    assert "foreign-splits" not in codes(found)
    few = TOPICS[:20]
    fewer = compare(Experiment({topic: QRELS[topic] for topic in few}, RUNS), "AP", details=Details(splits=splits))
    out = [topic for fold in splits.folds for topic in fold.test if topic not in few]
    told = [(warning.source, warning.message) for warning in fewer.warnings if warning.code == "foreign-splits"]
    ((source, message),) = told
    assert source == "splits"
    assert message.startswith("20 topics not among those compared, left out of the folds: ")
    assert set(message.partition(": ")[2].partition(" and ")[0].split(", ")) <= set(out)
    more = compared(splits=split(TOPICS[:-1], folds=4, seed=3))
    assert [(w.source, w.message) for w in more.warnings if w.code == "foreign-splits"] == [
        ("splits", f"1 topic compared and in no fold: {TOPICS[-1]}")
    ]
    folds = fewer.panels[0].folds
    assert folds is not None
    tested = [sum(topic in few for topic in fold.test) for fold in splits.folds]
    assert folds[0].test == corrected_resampled_t(
        folds[0].differences, float(20 - np.mean(tested)), float(np.mean(tested))
    )
    with pytest.raises(DataError, match="no topic to test on"):
        compared(splits=split(["x1", "x2"], folds=2))


def test_splits_belong_to_one_collection() -> None:
    two = {name: Experiment(QRELS, RUNS) for name in ("x", "y")}
    with pytest.raises(UsageError, match="splits belong to one collection"):
        compare_collections(two, "AP", details=Details(splits=split(TOPICS, folds=4)))


def test_one_split_is_tested_on_the_topics_held_out() -> None:
    splits = split(TOPICS, test_share=0.25, seed=1)
    found = compared(splits=splits)
    panel, (held,) = found.panels[0], splits.folds
    places = [panel.topics.index(topic) for topic in held.test]
    expected = stats.ttest_rel(panel.scores[0, places], panel.scores[1, places])
    assert panel.folds is not None
    assert panel.folds[0].test.p == pytest.approx(expected.pvalue)
    assert panel.folds[0].test.high == pytest.approx(expected.confidence_interval(0.95).high)
    assert "p (t on the test topics)" in render(found, "table")


def test_topics_that_were_tuned_on_are_named() -> None:
    found = compared(tuned_on=["7", "900"])
    (warning,) = [warning for warning in found.warnings if warning.code == "tuned-on-test"]
    assert "1 of the topics tested on were tuned on: 7" in warning.message
    assert "tuned-on-test" not in codes(compared(tuned_on=["900"]))


def test_several_collections_are_one_family_with_a_macro_summary() -> None:
    small = {topic: QRELS[topic] for topic in TOPICS[:10]}
    found = compare_collections(
        {"large": Experiment(QRELS, RUNS), "small": Experiment(small, RUNS)}, "AP", baseline="poor"
    )
    assert found.comparisons == 4
    (macro,) = found.macro
    means = [compare(Experiment(qrels, RUNS), "AP").panels[0].means for qrels in (QRELS, small)]
    np.testing.assert_allclose(macro.means, np.mean(means, axis=0))
    assert (macro.low < macro.difference).all()
    assert macro.adjusted[1] < 0.05
    turned = compare_collections(
        {"large": Experiment(QRELS, RUNS), "small": Experiment(small, dict(reversed(RUNS.items())))}, "AP"
    )
    np.testing.assert_allclose(turned.macro[0].means, macro.means)
    with pytest.raises(UsageError, match="runs of the same systems"):
        compare_collections(
            {"large": Experiment(QRELS, RUNS), "small": Experiment(small, {"poor": RUNS["poor"]})}, "AP"
        )


def test_seeds_count_in_equivalence_and_in_the_macro_summary() -> None:
    one = {"fair": [system(0.4, 1), system(0.6, 2)], "good": [system(0.9, 3), system(1.2, 4)]}
    found = compare_collections(
        {"a": Experiment(QRELS, one), "b": Experiment(QRELS, one)}, "AP", details=Details(margin=0.2)
    )
    first, _ = found.panels
    scores = evaluate(QRELS, {f"{k}{i}": r for k, runs in one.items() for i, r in enumerate(runs)}, "AP").scores[:, 0]
    tested = compare_seeds(scores[:2], scores[2:])
    t = (0.2 - abs(tested.difference)) / tested.error
    assert first.equivalence is not None
    assert first.equivalence[0] == pytest.approx(stats.t.sf(t, tested.freedom))
    width = 2 * stats.t.isf(0.025, 2 * tested.freedom) * tested.error / np.sqrt(2)
    assert (found.macro[0].high - found.macro[0].low)[0] == pytest.approx(width)


def test_a_constant_difference_is_decided_by_randomisation_in_the_macro_summary() -> None:
    """Ten topics in all, on each the same: of 2^10 ways to set the signs two add up to as much."""
    qrels = {topic: {"d1": 1} for topic in "12345"}
    first, second = ({topic: {"d1": rank, "d2": 2} for topic in qrels} for rank in (3, 1))
    runs = {"a": first, "b": second}
    (macro,) = compare_collections({"x": Experiment(qrels, runs), "y": Experiment(qrels, runs)}, "RR").macro
    assert (macro.decided.p[0], macro.decided.by) == (2.0**-9, ("randomisation",))
    assert (macro.low[0], macro.high[0]) == (0.5, 0.5)


def test_many_systems_beaten_are_counted_and_equal_bests_are_all_marked() -> None:
    weak = {f"weak{number}": system(0.0, number) for number in range(27)}
    found = compared({"good": system(3.0, 100), "twin": system(3.0, 100), **weak})
    rows = [line.split() for line in render(found, "table").splitlines() if re.match(r"(good|twin) +→", line)]
    assert [row[1] for row in rows[:2]] == [rows[0][1]] * 2
    assert re.fullmatch(r"→0\.\d{4}27", rows[0][1])
    assert rows[0][2:4] == ["of", "28"]


def test_an_interval_says_how_sure_it_is() -> None:
    assert "99.9% interval" in render(compared(alpha=0.001), "table")


def test_risk_is_against_the_baseline() -> None:
    found = compared(baseline="fair", risk=1.0)
    risk = found.panels[0].risk
    assert risk is not None
    assert risk.urisk[1] == 0
    assert risk.urisk[0] < risk.urisk[2]
    assert "GeoRisk" in render(found, "table")
    with pytest.raises(UsageError, match="baseline"):
        compared(risk=1.0)


def test_what_a_reader_is_warned_of() -> None:
    assert "many-comparisons" in codes(compared())
    assert "identical" in codes(compared({"a": RUNS["fair"], "b": RUNS["fair"], "c": RUNS["good"]}))
    assert "other-null" in codes(compared(tests=["wilcoxon"]))
    assert "other-null" not in codes(compared())
    unjudged = {topic: {f"x{n}": 9.0 - n for n in range(8)} | ranking for topic, ranking in RUNS["good"].items()}
    assert "uneven-judging" in codes(compared({**RUNS, "good": unjudged}))


def test_a_significant_but_small_effect_is_pointed_out() -> None:
    many = [str(number) for number in range(4000)]
    qrels = {topic: {"d1": 1} for topic in many}
    chance = random.Random(1)
    ranks = {topic: chance.randrange(2, 12) for topic in many}

    def at(rank: int) -> dict[str, float]:
        return {f"d{number}" if number > 1 else "x": -number for number in range(1, 13)} | {"d1": -rank + 0.5}

    a = {topic: at(rank) for topic, rank in ranks.items()}
    b = {topic: at(rank - 1 if chance.random() < 0.03 else rank) for topic, rank in ranks.items()}
    found = compare(Experiment(qrels, {"a": a, "b": b}), "RR")
    assert next(found.rows()).significant
    assert "small-effect" in codes(found)


def test_too_few_resamples_are_pointed_out() -> None:
    from cranfield.statistics.significance import Sampling

    found = compared(measures=["nDCG@10", "AP"], tests=["bootstrap"], sampling=Sampling(resamples=199))
    assert {"few-resamples", "sampled-p"} <= codes(found)
    assert "few-resamples" not in codes(compared(tests=["bootstrap"], sampling=Sampling(resamples=9999)))


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"tests": ["ttest"]}, "unknown test 'ttest'; there are"),
        ({"tests": []}, "no test given"),
        ({"correction": "tukey"}, "unknown correction 'tukey'"),
        ({"alpha": 1.5}, "alpha must be between 0 and 1, not 1.5"),
        ({"margin": -1}, "margin must be above 0"),
        ({"measures": "GMAP"}, "means over topics are compared; take AP instead"),
        ({"runs": {"one": RUNS["fair"]}}, "needs two systems or more"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(question: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compared(**question)


def test_the_same_seed_gives_the_same_numbers_on_any_number_of_threads() -> None:
    from cranfield.statistics.significance import Sampling

    texts = {
        render(
            compared(
                tests=["randomisation", "bootstrap"],
                sampling=Sampling(7, 999, threads),
                reading=Reading(threads=threads),
            ),
            "json",
        )
        for threads in (1, 2, 5)
    }
    assert len(texts) == 1


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_has_every_comparison(format: str) -> None:
    found = compared(measures=["nDCG@10", "AP"], splits=split(TOPICS, folds=2), margin=0.05)
    columns = (
        ["nDCG@10", "AP", "difference", "fold 1"] if format == "latex" else []
    )  # a paper has pairs if it asks for them
    text = render(found, format, columns=columns)
    assert text.endswith("\n")
    if format == "json":
        document = json.loads(text)
        assert document["schema"] == "cranfield.compare/1"
        assert [pair["difference"] for pair in document["pairs"]] == [pair.difference for pair in found.rows()]
        assert document["tests"][0]["null"]
        return
    if format in ("csv", "tsv"):
        rows = list(csv.DictReader(io.StringIO(text), delimiter="," if format == "csv" else "\t"))
        assert [float(row["adjusted_p"]) for row in rows] == [pair.adjusted_p for pair in found.rows()]
        return
    for pair in found.rows():
        assert f"{pair.difference:+.4f}" in text.replace("$-$", "-")
        assert f"{pair.mean:.4f}" in text
    best, star = {
        "table": ("→{}", "{}*"),
        "markdown": ("**{}**", r"{}<sup>\*</sup>"),
        "latex": (r"\textbf{{{}}}", r"{}$^{{\mathrm{{*}}}}$"),
        "html": ("<strong>{}</strong>", "{}<sup>*</sup>"),
    }[format]
    for panel in found.panels:
        means = panel.means.tolist()
        assert [best.format(f"{mean:.4f}") in text for mean in means] == [mean == max(means) for mean in means]
    strict = compared(measures=["nDCG@10", "AP"], alpha=1e-15)
    for comparison, significant in ((found, True), (strict, False)):
        shown = render(comparison, format, columns=columns[:3]).replace("$-$", "-")
        for pair in comparison.rows():
            assert (star.format(f"{pair.difference:+.4f}") in shown) == pair.significant == significant
    verdict = "good has the highest nDCG@10, "
    assert text.lstrip("%<p>- ").startswith(verdict)
    assert ("→ stands before the best" in text) == (format == "table")
    assert ("The best mean of a column is bold." in text) == (format != "table")


def test_a_comparison_shows_itself_in_notebooks() -> None:
    found = compared()
    assert "<table>" in found._repr_html_()
    assert "poor − fair" in str(found)
    assert repr(found).startswith("<Comparison: 3 systems, 1 panel>")
    assert found.panel("nDCG@10").best == 2
    with pytest.raises(UsageError, match="AP was not compared"):
        found.panel("AP")


def test_intervals_may_hold_for_all_comparisons_together() -> None:
    found = compared()
    pair = next(found.rows())
    assert f"[{pair.low:+.4f}, {pair.high:+.4f}]" in render(found, "table")
    together = render(found, "table", simultaneous=True)
    assert f"[{pair.together_low:+.4f}, {pair.together_high:+.4f}]" in together
    assert render(found, "csv") == render(found, "csv", simultaneous=True)


def test_a_ledger_counts_what_was_asked_before(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    runs = [write(tmp_path / f"{name}.run", run) for name, run in RUNS.items()]
    ledger = tmp_path / "ledger.jsonl"
    first = command_line("compare", qrels, *runs, "-m", "AP", "--ledger", ledger)
    assert first.exit == 0, first.stderr
    assert "ledger" not in first.stderr
    second = command_line("compare", qrels, *runs, "-m", "RR", "--ledger", ledger)
    assert "3 comparisons were made on these judgements before, in 1 session" in second.stderr
    other = write(tmp_path / "other.txt", {topic: QRELS[topic] for topic in TOPICS[:30]})
    assert "ledger" not in command_line("compare", other, *runs, "--ledger", ledger).stderr
    assert len(ledger.read_text().splitlines()) == 3
    ledger.write_text(ledger.read_text().rstrip("\n"))  # as some editors leave it
    command_line("compare", qrels, *runs, "--ledger", ledger)
    assert len(ledger.read_text().splitlines()) == 4
    for damaged in (b"nonsense\n", b"\xff\n", b"[]\n", b'{"schema": "cranfield.ledger/1"}\n'):
        ledger.write_bytes(damaged)
        wrong = command_line("compare", qrels, *runs, "--ledger", ledger)
        assert wrong.exit == 3
        assert "ledger.jsonl:1: is not an entry of a ledger" in wrong.stderr
    assert "cannot be written: it is a folder" in command_line("compare", qrels, *runs, "--ledger", tmp_path).stderr


def test_the_command_compares_files(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    runs = [write(tmp_path / f"{name}.run", run) for name, run in RUNS.items()]
    plain = command_line("compare", qrels, *runs, "-m", "nDCG@10", "-f", "json", "--baseline", runs[0])
    assert plain.exit == 0, plain.stderr
    assert [pair["other"] for pair in json.loads(plain.stdout)["pairs"]] == ["poor", "poor"]

    for seed in range(3):
        write(tmp_path / f"dense-{seed}.run", system(0.8, seed))
    seeded = command_line("compare", qrels, runs[0], "--seeds", str(tmp_path / "dense-*.run"), "-f", "json")
    assert json.loads(seeded.stdout)["systems"] == ["poor", "dense"]
    assert "one run alone of poor" in seeded.stderr

    listed = tmp_path / "collections.toml"
    listed.write_text(
        "[web]\nqrels = 'qrels.txt'\n[web.runs]\na = 'poor.run'\nb = 'good.run'\n"
        "[news]\nqrels = 'qrels.txt'\n[news.runs]\na = 'fair.run'\nb = ['dense-0.run', 'dense-1.run']\n"
    )
    several = command_line("compare", "--collections", str(listed), "-m", "AP")
    assert "All collections, each counting the same" in several.stdout, several.stderr

    tuned = tmp_path / "tuned.txt"
    tuned.write_text("3\n4\n")
    assert (
        "2 of the topics tested on were tuned on: 3, 4"
        in command_line("compare", qrels, *runs, "--tuned-on", str(tuned)).stderr
    )


def test_runs_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    folders = [tmp_path / name for name in ("poor", "good")]
    for folder in folders:
        folder.mkdir()
    poor, good = (write(folder / "s.run", RUNS[folder.name]) for folder in folders)
    for seed in range(2):
        write(tmp_path / f"dense-{seed}.run", system(0.8, seed))
    found = json.loads(command_line("compare", qrels, poor, good, "--baseline", good, "-f", "json").stdout)
    assert found["baseline"] == good
    pattern = str(tmp_path / "dense-*.run")
    seeded = json.loads(command_line("compare", qrels, poor, good, "--seeds", pattern, "-f", "json").stdout)
    assert seeded["systems"] == [poor, good, "dense"]
    again = command_line("compare", qrels, "--seeds", pattern, "--seeds", str(tmp_path / "poor" / ".." / "dense-?.run"))
    assert again.exit == 2
    assert "is a second system called dense" in again.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no collection in it"),
        ("[a]\nqrels = 'q'\n[a.runs]\nx = 3\n", "[a] must have qrels = 'file'"),
        ("[a]\nqrels = 'q'\n[a.runs]\nx = ['y', 3]\n", "[a] must have qrels = 'file'"),
        ("[a]\nqrels = 'q'\nrun = 'z'\n[a.runs]\nx = 'y'\n", "and nothing else"),
    ],
)
def test_a_wrong_list_of_collections_is_explained(tmp_path: Path, text: str, message: str) -> None:
    listed = tmp_path / "collections.toml"
    listed.write_text(text)
    result = command_line("compare", "--collections", listed)
    assert result.exit == 2
    assert message in result.stderr


def test_an_empty_list_of_tuned_topics_is_refused(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    runs = [write(tmp_path / f"{name}.run", run) for name, run in RUNS.items()]
    tuned = tmp_path / "tuned.txt"
    tuned.write_bytes(b"")
    assert "no topic in it" in command_line("compare", qrels, *runs, "--tuned-on", tuned).stderr
    tuned.write_bytes(b"\xef\xbb\xbf1\r\n2\r\n")
    assert (
        "2 of the topics tested on were tuned on: 1, 2"
        in command_line("compare", qrels, *runs, "--tuned-on", tuned).stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--collections", "c.toml", "--seeds", "x*"], "--collections or --seeds, not both"),
        ([], "what is to be compared?"),
        (["qrels.txt", "--seeds", "nothing-*.run"], "no file matches --seeds 'nothing-*.run'"),
        (["--collections", "nothing.toml"], "nothing.toml: no such file"),
        (["qrels.txt", "a.run", "--collections", "c.toml"], "not both"),
    ],
)
def test_wrong_arguments_are_explained(arguments: list[str], message: str) -> None:
    result = command_line("compare", *arguments)
    assert result.exit in (2, 3)
    assert message in result.stderr


def test_tests_may_be_named_with_commas() -> None:
    files = [EXAMPLES / name for name in ("qrels.txt", "bm25.run", "dense.run")]
    listed = command_line("compare", *files, "-m", "AP", "--test", "t, wilcoxon,bootstrap")
    apart = command_line("compare", *files, "-m", "AP", "--test", "t", "--test", "wilcoxon", "--test", "bootstrap")
    assert listed.exit == 0
    assert listed.stdout == apart.stdout
    assert "unknown test ''" in command_line("compare", *files, "--test", "t,").stderr
    assert command_line("compare", "--test", "t,list").stdout == command_line("compare", "--test", "list").stdout
