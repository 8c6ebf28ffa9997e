"""Which documents a project asks for at first, by its method; nothing here knows the database.

Pools and samples are all there is to ask. Of a method that learns it is the first batch: `web/queue`
goes on from there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from cranfield.errors import DataError, plural, some
from cranfield.pooling.candidates import Pooled, pooled_runs
from cranfield.pooling.judging import JudgingSession
from cranfield.pooling.making import Sampled, make_pool
from cranfield.tables import Qrels, Run
from cranfield.texts.document_store import DocumentStore
from cranfield.web.projects.options import CAL, ProjectOptions
from cranfield.web.projects.pairs import generator

CAL_DEPTH = 10  # of the pool that active learning begins with
ALL = 1 << 40
Finding = tuple[str, str]  # a code and a sentence
Documents = Mapping[str, Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Materials:
    """What a choice is made from: runs, the topics that have a text, the documents, and what was judged before."""

    runs: Sequence[Run]
    topics: Collection[str]
    store: DocumentStore
    known: Qrels | None = None
    rel: float = 1


@dataclass(frozen=True, kw_only=True)
class ChosenDocuments:
    """The documents of each topic that are asked for, those to be judged first first; of a sample, how all documents
    of the strata were drawn; and what is to be said of it."""

    documents: Documents
    calibration: Documents
    sample: Mapping[str, Mapping[str, Sampled]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def chosen_documents(given: Materials, options: ProjectOptions) -> ChosenDocuments:
    """The documents to ask for. Those that the collection lacks, and topics without a text, are left out and told."""
    if not given.runs and not options.learns:
        raise DataError(f"{options.method} chooses from runs, and there is none: upload runs, or take the method {CAL}")
    proposed, sample, findings = _proposed(given, options)
    answered = sorted({topic for run in given.runs for topic in run.topics})
    findings += list(_topics_told(given, answered))
    missing: dict[str, None] = {}
    documents: dict[str, Sequence[str]] = {}
    for topic in given.topics:
        wanted = proposed.get(topic, ())
        lacking = set(given.store.missing(wanted)) | {document for document in wanted if not is_text(document)}
        missing |= dict.fromkeys(document for document in wanted if document in lacking)
        there = [document for document in wanted if document not in lacking]
        documents[topic] = there[: options.batch] if options.adaptive else there
    if missing:
        count = plural(len(missing), "document")
        findings.append(
            ("missing-documents", f"{count} of the runs left out, which the collection lacks: {some([*missing])}")
        )
    calibration = {topic: _calibration(topic, documents[topic], given, options) for topic in given.topics}
    if options.budget is not None:
        documents = {topic: _within(options.budget, documents[topic], calibration[topic]) for topic in given.topics}
    return ChosenDocuments(documents=documents, calibration=calibration, sample=sample, findings=tuple(findings))


_Proposed = tuple[Documents, Mapping[str, Mapping[str, Sampled]], list[Finding]]


def _proposed(given: Materials, options: ProjectOptions) -> _Proposed:
    """What the method would ask for, whether or not it can be shown."""
    if not given.runs:
        return {}, {}, []
    if options.kind == "sample":
        pool = make_pool(list(given.runs), options.method, strata=options.parsed_strata, seed=options.seed)
        return pool.documents, pool.sample or {}, [(finding.code, str(finding)) for finding in pool.warnings]
    session = judging_session(given.runs, options, given.rel)
    if given.known is not None:
        session.take(given.known)
    # Of a method that learns some more than the first batch, as some may be missing.
    count = 20 * (options.batch or 1) if options.adaptive else ALL
    topics = [topic for topic in session.pooled.topics if topic in given.topics]
    findings = [(finding.code, str(finding)) for finding in session.pooled.findings()]
    return {topic: session.ahead(topic, count) for topic in topics}, {}, findings


def judging_session(runs: Sequence[Run], options: ProjectOptions, rel: float = 1) -> JudgingSession:
    """The method of a project at work on its runs; active learning begins with the top of all runs, fused."""
    if options.learns:
        pooled: Pooled = pooled_runs(list(runs), CAL_DEPTH)
        return JudgingSession(pooled, "rrf", budget=options.budget, rel=rel, seed=options.seed)
    plan = options.parsed_plan
    pooled = pooled_runs(list(runs), None if plan is not None else options.depth, plan)
    return JudgingSession(pooled, options.method, budget=options.budget, rel=rel, seed=options.seed)


def _topics_told(given: Materials, answered: Sequence[str]) -> Iterator[Finding]:
    """Topics that only the runs have, and topics that no run answers."""
    asked = set(given.topics)
    textless = [topic for topic in answered if topic not in asked]
    if answered and len(textless) == len(answered):
        raise DataError(
            f"no run answers a topic of the collection: the runs have {some(answered, 3)}, the collection has "
            f"{some(list(given.topics), 3)}",
            remedy="Topic ids must be the same text: 0001 is not 1.",
        )
    if textless:
        yield (
            "missing-topics",
            f"{plural(len(textless), 'topic')} of the runs left out, without a text: {some(textless)}",
        )
    unanswered = [topic for topic in given.topics if topic not in set(answered)]
    if answered and unanswered:
        yield "unanswered-topics", f"{plural(len(unanswered), 'topic')} that no run answers: {some(unanswered)}"


def _within(budget: int, documents: Sequence[str], calibration: Sequence[str]) -> list[str]:
    """As many of the documents as a budget has room for: those judged at the start count for it."""
    others = [document for document in documents if document not in set(calibration)]
    return others[: budget - len(calibration)]


def _calibration(topic: str, documents: Sequence[str], given: Materials, options: ProjectOptions) -> list[str]:
    """The documents at the start of a topic: of those judged before, relevant and other ones in turn, as far as there
    are some; otherwise of those to be judged, by lot."""
    if not options.calibration:
        return []
    rng = generator(options.seed, topic, -1 % 2**31)
    grades = given.known.of(topic) if given.known is not None and topic in given.known.topics else {}
    known = [document for document in sorted(grades) if is_text(document) and document in given.store]
    kinds = [
        [document for document in known if (grades[document] >= given.rel) is relevant] for relevant in (True, False)
    ]
    drawn = [[kind[place] for place in rng.permutation(len(kind)).tolist()] for kind in kinds]
    turns = [document for pair in zip(*drawn, strict=False) for document in pair]
    chosen = (turns + [document for kind in drawn for document in kind[len(turns) // 2 :]])[: options.calibration]
    left = [document for document in documents if document not in set(chosen)]
    more = rng.permutation(len(left)).tolist()[: options.calibration - len(chosen)]
    return (chosen + [left[place] for place in more])[: options.budget]


def is_text(identity: str) -> bool:
    """Whether a database can have an id: it takes no half characters and no NUL.

    >>> is_text("d1"), is_text("d\\udce9"), is_text("d\\0")
    (True, False, False)
    """
    try:
        identity.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in identity
