"""`describe`: counts by hand, the measures that fit, and every warning where it is due and only there."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest

from commands import Outcome, command_line
from cranfield import DataError, UsageError, describe
from cranfield.description.summaries import spread
from cranfield.formats.reading import Reading
from cranfield.measures import parse_measure
from cranfield.texts.collection import read_collection
from cranfield.texts.texts import Documents, Topics
from places import COLLECTION, EXAMPLES

# Sixty topics each: one relevant document; many judged in three grades; only relevant ones listed; two judged.
SPARSE = {f"q{i}": {f"d{i}": 1} for i in range(60)}
DENSE = {f"q{i}": {f"d{j}": max(0, j - 14 + i % 3) for j in range(18)} for i in range(60)}
SHALLOW = {f"q{i}": {f"d{i}": i % 5 // 3, f"e{i}": 0} for i in range(60)}
LISTED = {f"q{i}": {f"d{j}": 1 for j in range(8)} for i in range(60)}


def codes(found: Any, doubtful: bool | None = None) -> list[str]:
    return [finding.code for finding in found.findings if doubtful is None or finding.doubtful == doubtful]


def fitting(found: Any) -> list[str]:
    return [advice.measure for advice in found.advice if advice.fits]


def test_counts_are_those_made_by_hand() -> None:
    found = describe(DENSE)
    judged = found.judgements
    assert judged is not None
    relevant = [sum(grade > 0 for grade in documents.values()) for documents in DENSE.values()]
    assert (judged.topics, judged.judged, judged.relevant) == (60, 60 * 18, sum(relevant))
    expected = (min(relevant), statistics.median(relevant), statistics.mean(relevant), max(relevant))
    assert tuple(judged.relevant_per_topic) == pytest.approx(expected)
    for grade in judged.grades:
        counts = [sum(value == grade.grade for value in documents.values()) for documents in DENSE.values()]
        assert (grade.judgements, grade.topics) == (sum(counts), sum(count > 0 for count in counts))
        assert grade.per_topic.mean == pytest.approx(statistics.mean(counts))
    assert [grade.grade for grade in judged.grades] == [5, 4, 3, 2, 1, 0]
    for cutoff in found.cutoffs:
        perfect = [min(count, cutoff.cutoff) / cutoff.cutoff for count in relevant]
        assert cutoff.perfect == pytest.approx(statistics.mean(perfect))
        assert cutoff.topics == sum(count >= cutoff.cutoff for count in relevant)
        assert cutoff.judged is None


def test_a_perfect_run_scores_what_is_promised() -> None:
    from cranfield import evaluate

    found = describe(DENSE)
    scores = evaluate(DENSE, DENSE, [f"P@{cutoff.cutoff}" for cutoff in found.cutoffs]).scores.mean(axis=2)[0]
    assert [cutoff.perfect for cutoff in found.cutoffs] == pytest.approx(scores.tolist())


def test_shapes_and_the_measures_that_fit() -> None:
    shapes = {"sparse": SPARSE, "dense": DENSE, "relevant only": LISTED, "shallow": SHALLOW}
    for shape, qrels in shapes.items():
        found = describe(qrels)
        assert found.judgements is not None
        assert found.judgements.shape == shape
    assert fitting(describe(SPARSE)) == ["RR@10", "Success@10", "nDCG@10", "R@100"]
    assert fitting(describe(DENSE)) == ["RR@10", "Success@10", "AP", "Rprec", "nDCG@10", "ERR@20", "R@100", "Bpref"]
    assert fitting(describe(LISTED)) == ["RR@10", "Success@10", "P@10", "AP", "Rprec", "nDCG@10", "R@100"]


def test_reasons_follow_from_what_is_judged() -> None:
    """A shallow pool has many documents that are judged not relevant, and what looks past it is told."""
    why = {advice.measure: (advice.fits, advice.why) for advice in describe(SHALLOW).advice}
    assert why["Bpref"] == (True, "80% of what is judged is not relevant, and what is unjudged does not count")
    for measure in ("RR", "Success", "P", "nDCG"):
        told = f"2 documents a topic are judged (median), and every other counts as not relevant: rather {measure}@2"
        assert why[f"{measure}@10"] == (False, told)
    for measure in ("AP", "Rprec"):
        told = "2 documents a topic are judged (median): relevant ones among the others are not known"
        assert why[measure] == (False, told)
    assert why["ERR@20"] == (False, "the grades are binary, and it is made for grades")
    graded = {
        topic: {document: 2 * grade + (topic == "q3") for document, grade in of.items()}
        for topic, of in SHALLOW.items()
    }
    assert "rather ERR@2" in {advice.measure: advice.why for advice in describe(graded).advice}["ERR@20"]
    for qrels in (SPARSE, LISTED):
        (bpref,) = [advice for advice in describe(qrels).advice if advice.measure == "Bpref"]
        assert bpref[1:] == (False, "hardly any document is judged not relevant")


def test_one_relevant_document_has_no_use_for_grades() -> None:
    """With one relevant document nDCG is the same whatever its grade, and not a reason to take it."""
    graded = {f"q{i}": {f"d{i}": 1 + i % 4} for i in range(60)}
    why = {advice.measure: (advice.fits, advice.why) for advice in describe(graded).advice}
    told = "1 relevant document known a topic: with one it tells where that stands, as RR does, whatever its grade"
    assert why["nDCG@10"] == (True, told)
    assert why["ERR@20"] == (True, "4 grades of relevance")


def test_a_shallower_pool_is_not_doubted_less() -> None:
    """The same run through ever fewer of the same judgements."""
    run = {topic: {f"d{j}": 20.0 - j for j in range(18)} for topic in DENSE}
    for depth in (12, 9, 5, 2):
        qrels = {
            topic: {d: int(i % 2 == 0) for i, d in enumerate(list(of)[18 - depth :])} for topic, of in DENSE.items()
        }
        assert {"unjudged", "judged-depth"} <= set(codes(describe(qrels, {"a": run}), doubtful=True)), depth


def test_grades_that_are_numbers_are_not_listed() -> None:
    found = describe({f"q{i}": {f"d{j}": j / 30 for j in range(30)} for i in range(3)})
    assert found.judgements is not None
    assert (found.judgements.grades, found.judgements.levels) == ((), 29)
    assert "fractional-grades" in codes(found)


def test_advice_is_about_measures_that_exist() -> None:
    for advice in describe(SPARSE).advice:
        assert str(parse_measure(advice.measure)) == advice.measure


def test_binary_grades_are_named() -> None:
    why = {advice.measure: advice.why for advice in describe(LISTED).advice}
    assert why["nDCG@10"].startswith("the grades are binary")
    assert why["AP"].startswith("if every relevant document was looked for")


def test_a_collection_in_order_gives_no_warning() -> None:
    found = describe(
        read_collection(
            documents=Documents(tuple(f"d{i}" for i in range(18)), {"text": ["a b"] * 18}),
            topics=Topics(tuple(DENSE), {"title": ["a"] * 60}),
            qrels=DENSE,
        )
    )
    assert found.findings == ()
    assert found.documents is not None
    assert found.documents.words == {"text": spread([2] * 18)}


def test_warnings_about_parts_that_do_not_fit_together() -> None:
    found = describe(
        read_collection(
            documents={"d1": "a", "d2": ""},
            topics={"q1": "a", "q2": "b", "q9": "c"},
            qrels={"q1": {"d1": 1, "gone": 2, "lost": 0}, "q2": {"d2": 1, "lost": 0}, "q3": {"d1": 0}},
        )
    )
    assert codes(found, doubtful=True) == ["no-relevant", "few-topics", "unknown-topics", "absent-relevant"]
    assert codes(found, doubtful=False) == ["empty-documents", "unjudged-topics", "absent-judged"]
    told = {finding.code: finding.message for finding in found.findings}
    assert told["unknown-topics"] == "1 judged topic not among the topics: q3"
    assert told["unjudged-topics"] == "1 topic without judgements: q9"
    assert told["absent-relevant"].startswith("1 relevant document not among the documents: ")
    assert told["absent-relevant"].endswith(": gone")
    assert told["absent-judged"].endswith(": lost")


def test_few_topics_are_doubtful_and_somewhat_few_are_noted() -> None:
    for count, doubtful in ((24, [True]), (25, [False]), (49, [False]), (50, [])):
        found = describe(dict(list(DENSE.items())[:count]))
        assert [finding.doubtful for finding in found.findings if finding.code == "few-topics"] == doubtful


def test_topics_called_by_position_are_warned_about_once() -> None:
    found = describe(read_collection(topics={"007": "a", "009": "b"}, qrels={"1": {"d": 1}, "2": {"d": 1}}))
    assert codes(found, doubtful=True) == ["topic-ids", "few-topics"]


def test_with_runs_the_judged_depth_is_told() -> None:
    complete = {topic: {f"d{j}": 20.0 - j for j in range(18)} for topic in DENSE}
    holes = {topic: {**{f"u{j}": 30.0 - j for j in range(9)}, "d1": 1.0} for topic in DENSE}
    found = describe(DENSE, {"complete": complete})
    assert [cutoff.judged for cutoff in found.cutoffs] == [1, 1, 1, None, None, None, None]
    told = {finding.code: finding for finding in found.findings}
    assert told["judged-depth"].message == "95% of what the runs retrieve is judged down to rank 10, not below"
    assert not told["judged-depth"].doubtful
    found = describe(DENSE, {"complete": complete, "holes": holes})
    assert found.cutoffs[2].judged == pytest.approx((1 + 0.1) / 2)
    assert "judged-depth" in codes(found, doubtful=True)
    assert "judged-depth" not in codes(describe(SPARSE, {"a": {"q1": {"d1": 1.0}}}))


def test_topics_or_documents_alone(tmp_path: Path) -> None:
    found = describe(Topics(("1", "2"), {"title": ["ducks swim", ""]}))
    assert found.topics is not None
    assert (found.topics.count, found.topics.empty, found.judgements) == (2, 1, None)
    with pytest.raises(UsageError, match="runs are seen through judgements"):
        describe(Documents(("1",), {"text": ["a"]}), {"a": {"q": {"d": 1.0}}})
    path = tmp_path / "some.jsonl"
    path.write_text('{"_id": "1", "text": "ducks"}')
    with pytest.raises(UsageError, match="qrels, topics or documents"):
        describe(path)
    assert describe(path, kind="topics").topics is not None
    path.write_text("q1 Q0 d1 1 2.0 x\n")
    with pytest.raises(UsageError, match="is a run"):
        describe(path)


def test_runs_in_a_format_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("q1\td1\t1\nq1\td9\t2\n")
    found = describe(SPARSE, [tmp_path / "a.tsv"], run_reading=Reading(format="msmarco"))
    assert "unjudged" in " ".join(str(finding) for finding in found.findings)
    with pytest.raises(DataError, match="is read with the format msmarco"):
        describe(SPARSE, [tmp_path / "a.tsv"])


def test_documents_of_a_folder(tmp_path: Path) -> None:
    for id in "12":
        (tmp_path / id).write_text(f"<DOC><DOCNO>{id}</DOCNO><TEXT>two words</TEXT></DOC>")
    with pytest.raises(DataError, match=r'several files may be the documents: 1, 2\n.*a folder "documents"'):
        describe(tmp_path)
    found = describe(tmp_path, kind="documents")
    assert found.documents is not None
    assert (found.documents.count, found.documents.words["text"].mean) == (2, 2)
    with pytest.raises(UsageError, match="those of a folder say it by themselves"):
        describe(tmp_path, reading=Reading(format="trec"))


def test_a_part_of_a_collection() -> None:
    whole = read_collection(documents={"d1": "They swim."}, topics={"1": "ducks"}, qrels={"1": {"d1": 1}})
    assert describe(whole).documents is not None
    part = describe(whole, kind="qrels")
    assert (part.documents, part.topics, part.judgements is None) == (None, None, False)


def test_judgements_in_groups(tmp_path: Path) -> None:
    (tmp_path / "x.qrels").write_text("q1 1 d1 1\nq1 2 d1 0\nq1 1 d2 0\n")
    with pytest.raises(DataError, match="--judgements subtopics"):
        describe(tmp_path / "x.qrels")
    judged = describe(tmp_path / "x.qrels", reading=Reading(judgements="subtopics")).judgements
    assert judged is not None
    assert (judged.judged, judged.relevant) == (2, 1)


def described(*arguments: str) -> Outcome:
    return command_line("describe", *arguments, folder=EXAMPLES)


def test_the_command() -> None:
    text = described("qrels.txt", "bm25.run").stdout
    assert text.startswith("qrels\n\n147 judgements of 6 topics: dense, 26.5% relevant\n")
    assert "grade 3           7       4      0     1.5   1.2     2\n" in text
    assert "P@10        yes   a perfect run scores 0.65; 24.5 documents a topic are judged (median)\n" in text
    assert "doubtful: qrels: 6 topics: with fewer than 25" in text
    markdown = described("qrels.txt", "-f", "markdown").stdout
    assert "| grade 3 | 7 | 4 | 0 | 1.5 | 1.2 | 2 |\n" in markdown
    document = json.loads(described("qrels.txt", "-f", "json").stdout)
    assert document["schema"] == "cranfield.description/1"
    assert document["judgements"]["grades"][0] == {
        "grade": 3,
        "judgements": 7,
        "topics": 4,
        "per_topic": {"least": 0, "median": 1.5, "mean": pytest.approx(7 / 6), "most": 2},
        "label": None,
    }
    assert document["cutoffs"][2]["perfect"] == pytest.approx(0.65)
    done = described("bm25.run")
    assert (done.exit, done.stdout) == (2, "")


@pytest.mark.skipif(not COLLECTION.is_dir(), reason="the data folder with the Cranfield collection is not here")
def test_the_cranfield_collection() -> None:
    found = describe(COLLECTION, ids="position")
    assert found.judgements is not None
    assert (found.judgements.judged, found.judgements.relevant) == (1837, 1612)
    assert found.judgements.shape == "relevant only"
    assert codes(found, doubtful=True) == []
    assert "topic-ids" in codes(describe(COLLECTION), doubtful=True)
