"""`describe`: what a collection holds, which measures and cutoffs its judgements support, and what to beware of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cranfield.description.advice import Advice, advise
from cranfield.description.summaries import Cutoff, JudgementSummary, TextSummary, of_cutoffs, of_judgements, of_texts
from cranfield.errors import UsageError, plural, some
from cranfield.evaluation import findings
from cranfield.evaluation.findings import Finding
from cranfield.formats import read_qrels, read_run
from cranfield.formats.datasets import is_dataset
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.runs import named_runs
from cranfield.judged import Judged, Pool, judge, pool
from cranfield.tables import Qrels
from cranfield.texts import Ids, read_documents, read_topics
from cranfield.texts.collection import PARTS, TOML, Collection, other_ids, read_collection
from cranfield.texts.content import Content
from cranfield.texts.peeking import peek
from cranfield.texts.texts import Documents, Topics

if TYPE_CHECKING:
    from cranfield.formats.given import Given, GivenRuns
    from cranfield.texts.collection import GivenCollection
    from cranfield.texts.forms import GivenTexts

MOSTLY_JUDGED = 0.95
GivenSource: TypeAlias = "GivenCollection | GivenTexts | Given"


@dataclass(frozen=True, repr=False, kw_only=True)
class Description:
    """What `describe` found; None where a collection lacks the part, or does not say where its topics are from.

    >>> print(describe({"q1": {"d1": 1}}))  # doctest: +ELLIPSIS
    qrels
    <BLANKLINE>
    1 judgement of 1 topic: sparse, 100.0% relevant
    ...
    """

    name: str
    documents: TextSummary | None
    topics: TextSummary | None
    judgements: JudgementSummary | None
    cutoffs: tuple[Cutoff, ...]
    advice: tuple[Advice, ...]
    findings: tuple[Finding, ...]
    topic_source: str | None = None

    def __str__(self) -> str:
        from cranfield.description.description_tables import render

        return render(self, "table")

    def __repr__(self) -> str:
        return str(self)


def describe(
    source: GivenSource,
    runs: GivenRuns = (),
    *,
    kind: Content | None = None,
    reading: Reading = DEFAULT,
    run_reading: Reading = DEFAULT,
    ids: Ids = "given",
) -> Description:
    """What a collection, or judgements alone, hold and support; with runs also how far down these are judged.

    `source` is whatever `read_collection` takes, or judgements, topics or documents on their own; `kind` says which
    where content and name do not. `reading` says how a file is read, `run_reading` how the runs are.

    >>> described = describe({"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}})
    >>> described.judgements.shape, described.judgements.relevant_per_topic.mean
    ('sparse', 1.0)
    >>> [advice.measure for advice in described.advice if advice.fits]
    ['RR@10', 'Success@10', 'nDCG@10', 'R@100']
    """
    collection = as_collection(source, kind=kind, reading=reading, ids=ids)
    warnings = [Finding(code, collection.name, note, doubtful=code == "topic-ids") for code, note in collection.notes]
    for part in (collection.documents, collection.topics):
        if part is not None:
            warnings += [Finding(code, part.name, note, doubtful=False) for code, note in part.notes]
    summary: JudgementSummary | None = None
    cutoffs: tuple[Cutoff, ...] = ()
    if collection.qrels is not None:
        pooled = pool(collection.qrels)
        warnings += findings.of_qrels(collection.qrels, pooled)
        warnings += findings.of_facts(collection.facts, pooled, collection.name)
        summary = of_judgements(pooled, collection.facts.grades)
        cutoffs = of_cutoffs(pooled, _judged_runs(runs, run_reading, collection.qrels, pooled, warnings))
        warnings += _of_topics(collection, collection.qrels, pooled) + _of_documents(collection, collection.qrels)
        warnings += _of_depth(cutoffs, summary, collection.name)
    elif not (isinstance(runs, tuple) and not runs):
        raise UsageError("runs are seen through judgements, and there are none here")
    return Description(
        name=collection.name,
        documents=None if collection.documents is None else of_texts(collection.documents),
        topics=None if collection.topics is None else of_texts(collection.topics),
        judgements=summary,
        cutoffs=cutoffs,
        advice=() if summary is None else advise(summary, cutoffs),
        findings=tuple(warnings),
        topic_source=collection.facts.topic_source,
    )


def as_collection(
    source: GivenSource,
    *,
    kind: Content | None = None,
    reading: Reading = DEFAULT,
    ids: Ids = "given",
) -> Collection:
    """A collection of one part or more: from a folder, a file of any kind, or from memory.

    >>> as_collection({"q1": {"d1": 1}})
    <Collection 'qrels': 0 documents, 0 topics, 1 judgement>
    """
    judgements, format = reading.judgements or "plain", reading.format
    if isinstance(source, Collection) or (isinstance(source, str | os.PathLike) and _is_whole(source, kind)):
        if format is not None or judgements != "plain":
            raise UsageError(
                "a format or a kind of judgements is that of a file; those of a folder say it by themselves"
            )
        if reading.labels:
            raise UsageError(f"--labels (a reading's labels) are for a file; a collection has them in {TOML}: [labels]")
        return read_collection(source, ids=ids, only=PARTS if kind is None else (kind,))
    label = source
    if kind is None and isinstance(source, str | os.PathLike):
        source, kind = peek(source)
        if kind is None and judgements == "plain":
            raise UsageError(f"{label}: qrels, topics or documents? Say so with --kind (kind= in Python)")
    if kind == "documents" or isinstance(source, Documents):
        documents = read_documents(source, reading=Reading(format=format))
        return Collection(documents.name, documents)
    if kind == "topics" or isinstance(source, Topics):
        topics = read_topics(source, reading=Reading(format=format), ids=ids)
        return Collection(topics.name, None, topics)
    if kind == "run":
        raise UsageError(f"{label} is a run: name judgements or a collection first, then runs")
    reading = replace(reading, format="tsv") if format == "beir" else reading
    qrels = read_qrels(source, reading=reading)
    return Collection(qrels.name, qrels=qrels)


def _is_whole(path: str | os.PathLike[str], kind: Content | None) -> bool:
    """Whether it has several parts: a dataset, a file that lists them, or a folder, unless this is of texts alone."""
    is_folder = os.path.isdir(path)
    return is_dataset(path) or os.fspath(path).endswith(".toml") or (is_folder and kind in (None, "qrels"))


def _judged_runs(
    runs: GivenRuns, reading: Reading, qrels: Qrels, pooled: Pool, warnings: list[Finding]
) -> list[Judged]:
    """The runs as judged; what is odd about them is added to what was found."""
    if isinstance(runs, tuple) and not runs:
        return []
    all_judged = []
    for name, source in named_runs(runs):
        run = read_run(source, name=name, reading=reading)
        judged = judge(run, qrels, pooled=pooled)
        warnings += findings.of_run(run, judged) + findings.of_coverage(run, judged)
        all_judged.append(judged)
    return all_judged


def _of_topics(collection: Collection, qrels: Qrels, pooled: Pool) -> list[Finding]:
    """Whether there are enough topics, and the same ones on both sides."""
    warnings = []
    count, sparse = len(qrels.topics), findings.sparse_remark(pooled)
    few, usual = findings.FEW_TOPICS, findings.USUAL_TOPICS
    remarks = [] if sparse is None else [sparse]
    if count < few:
        counted = f"{plural(count, 'topic')}: with fewer than {few}, chance orders systems as much as merit does"
        remarks = [counted, *remarks]
    elif count < usual:
        counted = f"{count} topics, where {usual} are usual and {findings.GOOD_TOPICS} better"
        remarks = [f"{counted}: only large differences will show", *remarks]
    elif remarks:
        remarks = [f"{count} topics are few: {sparse}"]
    if remarks:
        warnings.append(Finding("few-topics", collection.name, "; ".join(remarks), doubtful=count < few))
    if collection.topics is None or other_ids(collection.topics, qrels.topics) is not None:
        return warnings
    known, judged = set(collection.topics.ids), set(qrels.topics)
    unjudged = [id for id in collection.topics.ids if id not in judged]
    unknown = [id for id in qrels.topics if id not in known]
    return [
        *warnings,
        *_about(unjudged, "unjudged-topics", "topic", "without judgements", collection.name, doubtful=False),
        *_about(unknown, "unknown-topics", "judged topic", "not among the topics", collection.name),
    ]


def _of_documents(collection: Collection, qrels: Qrels) -> list[Finding]:
    """Judged documents that the collection lacks."""
    if collection.documents is None:
        return []
    there = set(collection.documents.ids)
    judged = [(id, grade) for documents in qrels.to_dict().values() for id, grade in documents.items()]
    relevant = list(dict.fromkeys(id for id, grade in judged if grade > 0 and id not in there))
    others = list(dict.fromkeys(id for id, _ in judged if id not in there and id not in set(relevant)))
    lacking = "not among the documents: no system can find what is not there"
    return [
        *_about(relevant, "absent-relevant", "relevant document", lacking, collection.name),
        *_about(others, "absent-judged", "judged document", "not among the documents", collection.name, doubtful=False),
    ]


def _about(ids: Sequence[str], code: str, noun: str, fault: str, name: str, *, doubtful: bool = True) -> list[Finding]:
    return [Finding(code, name, f"{plural(len(ids), noun)} {fault}: {some(ids)}", doubtful)] if ids else []


def _of_depth(cutoffs: Sequence[Cutoff], judgements: JudgementSummary, name: str) -> list[Finding]:
    """How far down the runs are judged, where judgements mean to be complete."""
    shares = [(depth.cutoff, depth.judged) for depth in cutoffs if depth.judged is not None]
    if not shares or judgements.shape not in ("dense", "shallow"):
        return []
    deep = [cutoff for cutoff, share in shares if share >= MOSTLY_JUDGED]
    if deep:
        message = f"{MOSTLY_JUDGED:.0%} of what the runs retrieve is judged down to rank {max(deep)}, not below"
    else:
        message = f"less than {MOSTLY_JUDGED:.0%} of what the runs retrieve is judged, even at rank 1"
    return [Finding("judged-depth", name, message, doubtful=not deep or max(deep) < 10)]
