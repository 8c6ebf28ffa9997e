"""Coverage and novelty: what the user knew before, from a second judgement file."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import cranfield
from cranfield import DataError, Policy, UsageError, evaluate, measures
from cranfield.cli import cli
from cranfield.explanation.accounts import explain
from generate import Collection, collections, ranking
from places import EXAMPLES

COLLECTIONS = collections(2)
NAMES = ["Coverage", "Novelty", "Coverage@5", "Novelty@5", "Coverage(rel=2)@10", "Novelty(rel=2)@10"]


def known_documents(made: Collection) -> dict[str, set[str]]:
    """Every third judged document, and as many that nobody judged."""
    return {topic: {*sorted(grades)[::3], "unjudged 1", "unjudged 2"} for topic, grades in made.qrels.items()}


def reference(name: str, ranked: list[str], grades: dict[str, float], known: set[str], rel: float) -> float:
    """The formulas of the textbooks, as sets."""
    relevant = {document for document, grade in grades.items() if grade >= rel}
    answer = set(ranked)
    top, bottom = {
        "Coverage": (relevant & answer & known, relevant & known),
        "Novelty": ((relevant & answer) - known, relevant & answer),
    }[name]
    return len(top) / len(bottom) if bottom else 0.0


@pytest.mark.parametrize("made", COLLECTIONS, ids=str)
def test_agree_with_the_sets_of_the_textbooks(made: Collection) -> None:
    known = known_documents(made)
    as_judgements = {topic: dict.fromkeys(documents, 1) for topic, documents in known.items()}
    scores = evaluate(made.qrels, made.run, NAMES, known=as_judgements).per_topic()["run"]
    for topic, values in scores.items():
        for name, value in values.items():
            measure = cranfield.measures.parse_measure(name)
            ranked = ranking(made.run.get(topic, {}))[: measure.parameters["cutoff"]]
            expected = reference(
                measure.definition.name, ranked, made.qrels[topic], known[topic], measure.parameters["rel"]
            )
            assert value == pytest.approx(expected, abs=1e-12), (topic, name)


def test_the_lecture_in_figures() -> None:
    """Ten relevant documents, of which the user knows four; the answer has three of those and two new ones."""
    qrels = {"1": dict.fromkeys("abcdefghij", 1)}
    known = {"1": dict.fromkeys("abcd", 1)}
    run = {"1": {document: -float(i) for i, document in enumerate("axbyecfz")}}
    found = evaluate(qrels, run, ["Coverage", "Novelty", "Coverage@3", "Novelty@5"], known=known).mean()["run"]
    assert found == pytest.approx({"Coverage": 3 / 4, "Novelty": 2 / 5, "Coverage@3": 2 / 4, "Novelty@5": 1 / 3})
    # What is known and found, and what is new and found, are all that is relevant and found.
    assert found["Coverage"] * 4 / 5 == pytest.approx(1 - found["Novelty"])


def test_nothing_known_and_nothing_found_score_nought() -> None:
    qrels = {"1": {"a": 1, "b": 0}, "2": {"a": 1}}
    run = {"1": {"a": 1.0, "b": 0.5}, "2": {"z": 1.0}}
    results = evaluate(qrels, run, ["Coverage", "Novelty"], known={"1": {"b": 1}})
    assert results.of("Coverage").tolist() == [0, 0], "no relevant document was known"
    assert results.of("Novelty").tolist() == [1, 0], "nothing relevant is found for the second topic"


def test_a_grade_of_nought_says_that_a_document_was_not_known() -> None:
    qrels, run = {"1": {"a": 1, "b": 1}}, {"1": {"a": 1.0}}
    assert evaluate(qrels, run, "Novelty", known={"1": {"a": 0, "b": 1}}).mean() == {"run": {"Novelty": 1.0}}


BY_KNOWN = ["RelativeRecall(expected='known')", "RelativeRecall(expected='known')@2", "RecallEffort(expected='known')"]
BY_KNOWN += ["RecallEffort(expected='known', over='retrieved')"]


@pytest.mark.parametrize("known", ["ad", "adu", "w", "uvw", "z", "adw", "cuv"])
@pytest.mark.parametrize("name", ["Coverage", "Novelty", "Coverage@2", "Novelty@2", "Coverage@4", *BY_KNOWN])
def test_bounds_are_the_extremes_of_everything_possible(name: str, known: str) -> None:
    """Each unjudged document might be relevant or not; which of them were known is known."""
    ranked = "aubvcw"  # u, v, w are not judged
    grades, before = {"a": 1, "b": 1, "c": 0, "d": 1, "e": 1}, dict.fromkeys(known, 1)
    run = {"1": {document: -float(i) for i, document in enumerate(ranked)}}
    results = evaluate({"1": grades}, run, name, known={"1": before}, bounds=True)
    values = []
    for guess in product((None, 0, 1), repeat=3):
        more = {d: g for d, g in zip("uvw", guess, strict=True) if g is not None}
        values.append(evaluate({"1": {**grades, **more}}, run, name, known={"1": before}).scores[0, 0, 0])
    assert results.lower is not None
    assert results.upper is not None
    assert results.lower[0, 0, 0] == pytest.approx(min(values))
    assert results.upper[0, 0, 0] == pytest.approx(max(values))
    account = explain(cranfield.Experiment({"1": grades}, run, known={"1": before}), "1", name).accounts[0]
    assert account.bounds == pytest.approx((min(values), max(values)))


def test_what_was_not_known_cannot_become_known() -> None:
    """The first query of the lecture notes: its bounds of coverage are its value."""
    found = ["d123", "d84", "d56", "d6", "d8", "d9", "d511", "d129", "d187", "d25", "d38", "d48", "d250", "d113", "d3"]
    relevant = ["d3", "d5", "d9", "d25", "d39", "d44", "d56", "d71", "d89", "d123"]
    known = dict.fromkeys(["d123", "d56", "d44", "d999"], 1)
    results = evaluate(
        {"q1": dict.fromkeys(relevant, 1)}, {"q1": found}, ["Coverage", "Novelty"], known={"q1": known}, bounds=True
    )
    assert results.lower is not None
    assert results.upper is not None
    assert results.lower[0, :, 0].tolist() == pytest.approx([2 / 3, 3 / 5])
    assert results.upper[0, :, 0].tolist() == pytest.approx([2 / 3, 13 / 15])


def test_explain_shows_the_working_where_the_user_expects_what_was_known() -> None:
    experiment = cranfield.Experiment(
        {"1": dict.fromkeys("abc", 1)}, {"1": ["a", "x", "b", "y"]}, known={"1": dict.fromkeys("acy", 1)}
    )
    account = explain(experiment, "1", "RelativeRecall(expected='known')").accounts[0]
    assert account.text == "RelativeRecall(expected='known') = 2 / 2 = 1.0000"
    assert account.notes == ()
    supposed = {line.document: line.if_relevant for line in account.lines}
    assert supposed == {"a": None, "x": 3 / 2, "b": None}, "what was not known is one more that is found"
    coverage = explain(experiment, "1", "Coverage", shown=4).accounts[0]
    assert [line.if_relevant for line in coverage.lines] == [None, 1 / 2, None, 2 / 3], "y was known"


def test_ties_are_averaged_over_all_orders() -> None:
    qrels, known = {"1": {"a": 1, "b": 1, "c": 0}}, {"1": {"a": 1}}
    tied = {"1": dict.fromkeys("abcd", 1.0)}
    policy = Policy(ties="expected", samples=2000)
    found = evaluate(qrels, tied, ["Coverage@1", "Novelty@1"], known=known, policy=policy).mean()["run"]
    assert found["Coverage@1"] == 0.25
    assert found["Novelty@1"] == pytest.approx(0.25, abs=0.05)


def test_the_mean_over_topics_or_over_documents() -> None:
    """Half of two and all of six known documents: the ratio of means counts documents."""
    names = [f"d{i}" for i in range(8)]
    qrels = {"1": dict.fromkeys(names[:2], 1), "2": dict.fromkeys(names[2:], 1)}
    run = {"1": {"d0": 1.0}, "2": dict.fromkeys(names[2:], 1.0)}
    found = evaluate(qrels, run, ["Coverage", "Coverage(agg='ratio')"], known=qrels).mean()["run"]
    assert found == {"Coverage": 0.75, "Coverage(agg='ratio')": 7 / 8}


@pytest.mark.parametrize("rel", [1, 2])
@pytest.mark.parametrize("cutoff", [None, 1, 3, 5, 50])
def test_the_ratio_of_means_of_coverage_counts_documents(rel: int, cutoff: int | None) -> None:
    """What is relevant, known and found, of all that is relevant and known, over all topics together."""
    measure = (
        measures.Coverage(agg="ratio", rel=rel) if cutoff is None else measures.Coverage(agg="ratio", rel=rel) @ cutoff
    )
    for made in COLLECTIONS:
        known = known_documents(made)
        found = wanted = 0
        for topic, grades in made.qrels.items():
            relevant = {document for document, grade in grades.items() if grade >= rel} & known[topic]
            found += len(relevant & set(ranking(made.run.get(topic, {}))[:cutoff]))
            wanted += len(relevant)
        as_judgements = {topic: dict.fromkeys(documents, 1) for topic, documents in known.items()}
        mean = evaluate(made.qrels, made.run, measure, known=as_judgements).means[0, 0]
        assert mean == pytest.approx(found / wanted if wanted else 0.0, abs=1e-12), made


def test_what_the_user_knew_may_be_what_the_user_expects() -> None:
    """Relative recall and recall effort as lectures write them: |R ∩ A| / |R ∩ K| and |R ∩ K| / |A|."""
    qrels = {"1": dict.fromkeys("abcdef", 1), "2": dict.fromkeys("ab", 1), "3": {"a": 1}}
    known = {"1": {"a": 1, "b": 1, "z": 1}, "2": {"a": 1, "b": 0}}
    run = {"1": dict(zip("axbyc", (5.0, 4.0, 3.0, 2.0, 1.0), strict=True)), "2": {"x": 2.0, "b": 1.0}, "3": {"a": 1.0}}
    names = ["RelativeRecall(expected='known')", "RecallEffort(expected='known', over='retrieved')"]
    names += ["RecallEffort(expected='known')"]
    results = evaluate(qrels, run, names, known=known)
    assert results.of(names[0]).tolist() == [3 / 2, 1 / 1, 0], "nothing was known of the third"
    assert results.of(names[1]).tolist() == [2 / 5, 1 / 2, 0]
    assert results.of(names[2]).tolist() == [2 / 3, 1 / 2, 0]
    with pytest.raises(UsageError, match="expected='known' needs the documents the user knew before"):
        evaluate(qrels, run, names)


def test_without_known_documents_the_error_says_how_to_give_them() -> None:
    with pytest.raises(UsageError, match=r"Coverage needs the documents the user knew before.*--known FILE"):
        evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, "Coverage")
    with pytest.raises(UsageError, match="Novelty needs"):
        measures.Novelty.per_topic(cranfield.judged.relstring("1"))


def test_the_command_reads_a_second_judgement_file(tmp_path: Path) -> None:
    examples = EXAMPLES
    known = tmp_path / "known.qrels"
    qrels = cranfield.read_qrels(examples / "qrels.txt")
    picked = [(topic, document) for topic in qrels.topics for document in list(qrels.of(topic))[::2]]
    known.write_text("".join(f"{topic} 0 {document} 1\n" for topic, document in picked))
    runs = sorted(examples.glob("*.run"))[:2]
    asked = ["-m", "Coverage@10", "-m", "Novelty@10", "-f", "csv", "--known", str(known)]
    called = CliRunner().invoke(cli, ["evaluate", str(examples / "qrels.txt"), *map(str, runs), *asked])
    assert called.exit_code == 0, called.output
    rows = [line.split(",") for line in called.stdout.splitlines()]
    assert rows[0] == ["run", "Coverage@10", "Novelty@10"]
    again = evaluate(examples / "qrels.txt", list(runs), ["Coverage@10", "Novelty@10"], known=known)
    assert np.array([row[1:] for row in rows[1:]], dtype=float) == pytest.approx(again.means)
    assert np.all((again.means > 0) & (again.means < 1))


def test_the_tag_of_a_run_is_its_own_beside_known_documents(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("1 Q0 a 1 1 first\n")
    (tmp_path / "b.run").write_text("1 Q0 b 1 1 second\n")
    results = evaluate({"1": {"a": 1}}, [tmp_path / "a.run", tmp_path / "b.run"], "Novelty", known={"1": {"b": 1}})
    from cranfield.evaluation.result_tables import render

    tags = [line.split()[-1] for line in render(results, "trec").splitlines() if line.startswith("runid")]
    assert tags == ["first", "second"]


def test_known_documents_may_stand_as_topic_and_document(tmp_path: Path) -> None:
    qrels, run = {"1": {"a": 1, "b": 1}, "2": {"c": 1}}, {"1": {"a": 1.0}, "2": {"c": 1.0}}
    path = tmp_path / "known.txt"
    for text in (
        "1 a\n1 b\n\n2 c\n",
        "1\ta\r\n1\tb\r\n2\tc\r\n",
        "# mine\n1 a\n1 b\n2 c\n",
        "1 0 a 1\n1 0 b 1\n2 0 c 1\n",
    ):
        path.write_text(text, newline="")
        results = evaluate(qrels, run, "Coverage", known=path)
        assert results.of("Coverage").tolist() == [0.5, 1.0]
        assert [source.path for source in results.inputs if source.role == "known"] == [str(path)]
    path.write_text("1 a\n1 0 b 1\n")
    with pytest.raises(DataError) as refused:
        evaluate(qrels, run, "Coverage", known=path)
    assert str(refused.value).splitlines() == [
        f"{path}:2: 4 fields where a topic and a document are expected",
        "    2 | 1 0 b 1",
        "    The first line has two; judgements have four: topic, 0, document and grade.",
    ]
