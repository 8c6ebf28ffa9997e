"""`make_pool`: runs in, the documents to judge out, in an order that tells nothing of ranks and systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cranfield.errors import DataError, UsageError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import Printed
from cranfield.formats import read_qrels
from cranfield.formats.grouped import in_order
from cranfield.pooling.candidates import Plan, Pooled, pooled_runs
from cranfield.pooling.judging import JudgingSession, check_planned, checked_budget
from cranfield.pooling.strata import STRATA, Sample, Stratum, checked, stratified
from cranfield.pooling.strategy import Strategy, find_method
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.formats.given import Given, GivenRuns

Chosen = dict[str, tuple[str, ...]]


class Sampled(NamedTuple):
    """A document of a sampled pool: its stratum, whether it was drawn, and the chance it had."""

    stratum: int
    drawn: bool
    chance: float


@dataclass(frozen=True, eq=False, repr=False)
class DocumentPool(Printed):
    """The documents to judge, topic by topic, in the order of their ids.

    Of a stratified sample, `sample` has all documents of the strata, {topic: {document: Sampled}}; only those drawn
    are among the documents to judge.

    >>> pool = make_pool({"a": {"q1": {"d2": 2.0, "d1": 1.0}}}, depth=1)
    >>> pool, pool.documents
    (<DocumentPool depth: 1 document, 1 topic>, {'q1': ('d2',)})
    """

    method: str
    documents: Mapping[str, tuple[str, ...]]
    warnings: tuple[Finding, ...] = ()
    sample: Mapping[str, Mapping[str, Sampled]] | None = None

    def __len__(self) -> int:
        return sum(map(len, self.documents.values()))

    def _rendered(self, format: str) -> str:
        return f"<DocumentPool {self.method}: {plural(len(self), 'document')}, {plural(len(self.documents), 'topic')}>"


class Known(NamedTuple):
    """Judgements that exist already, how many more documents a topic to ask for, and the grade that is relevant."""

    qrels: Given | None
    batch: int
    rel: float = 1


def make_pool(
    runs: GivenRuns,
    method: str | Strategy = "depth",
    *,
    depth: int | None = None,
    plan: Plan | None = None,
    budget: int | None = None,
    strata: Sequence[Stratum] | None = None,
    known: Known | None = None,
    seed: int = 0,
) -> DocumentPool:
    """The documents to judge: of each topic that a run answers, those that a method chooses.

    `depth` is how far every run counts (100 by default), `plan` how far and when each does; `budget` is the most
    documents a topic. A method that learns needs `known`: judgements so far and how many to ask for next. For a
    method that does not, what is known is left out. `strata` are for stratified sampling. A method that reads is given
    its texts (`find_method("cal").reading(pool_texts(collection))`); it needs no runs, and then asks for any document
    of the collection, for each of its topics.

    >>> runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d2": 2.0, "d3": 1.0}}}
    >>> make_pool(runs, "rrf", budget=2).documents
    {'q1': ('d1', 'd2')}
    """
    chosen_by, budget = find_method(method), checked_budget(budget)
    if chosen_by.kind == "sample":
        if budget is not None or known is not None or depth is not None or plan is not None:
            raise UsageError(f"the strata of {chosen_by.name} say how deep and how many: no depth, plan, budget, known")
        wanted = checked(strata or STRATA)
        pooled = pooled_runs(runs, wanted[-1].depth)
        return _sampled(pooled, wanted, seed)
    if strata is not None:
        raise UsageError(f"strata are for stratified sampling, not for {chosen_by.name}")
    check_planned(chosen_by, plan)
    chosen_by.check_texts()
    pooled = _pooled(runs, chosen_by, depth, plan)
    judged = read_qrels(known.qrels) if known is not None and known.qrels is not None else None
    if judged is not None and set(judged.topics).isdisjoint(pooled.topics):
        raise DataError(
            f"judges no topic that {'a run has' if pooled.runs else 'is asked'}: {some(judged.topics, 3)}, where "
            f"{'the runs have' if pooled.runs else 'the collection has'} {some(pooled.topics, 3)}",
            source=judged.origin.path or judged.name,
            remedy="Topic ids must be the same text: 0001 is not 1.",
        )
    warnings = pooled.findings() + ([] if chosen_by.texts is None else chosen_by.texts.findings(pooled))
    if chosen_by.kind == "adaptive":
        if known is None:
            raise UsageError(
                f"{chosen_by.name} learns from each judgement: give those made so far (none at first), and how many "
                "to ask for next"
            )
        session = JudgingSession(pooled, chosen_by, budget=budget, rel=known.rel, seed=seed)
        answered = session.take(judged) if judged is not None else 0
        documents = {topic: in_order(session.ahead(topic, known.batch)) for topic in pooled.topics}
    else:
        documents, answered = _in_order(pooled, chosen_by, budget, judged)
    if judged is not None and not answered:
        message = "not one of these judgements is of a document that the pool would ask for: are ids the same text?"
        warnings.append(Finding("nothing-known", judged.name, message))
    return DocumentPool(str(chosen_by), documents, tuple(warnings))


def _pooled(runs: GivenRuns, method: Strategy, depth: int | None, plan: Plan | None) -> Pooled:
    """The runs as they are pooled; for a method that reads there need not be any."""
    if method.texts is None or not isinstance(runs, Sequence) or isinstance(runs, str) or len(runs):
        return pooled_runs(runs, depth, plan)
    if depth is not None or plan is not None:
        raise UsageError("without runs there is no depth nor plan: any document of the collection may be asked for")
    return method.texts.pooled()


def _in_order(pooled: Pooled, method: Strategy, budget: int | None, known: Qrels | None) -> tuple[Chosen, int]:
    """The documents that are not judged yet, and how many are."""
    grades = {} if known is None else known.to_dict()
    chosen: Chosen = {}
    answered = 0
    for candidates in pooled:
        order = method.function(candidates, **method.settings)[:budget]
        judged = grades.get(candidates.topic, {})
        documents = [candidates.documents[i] for i in order.tolist()]
        chosen[candidates.topic] = in_order(document for document in documents if judged.get(document, -1) < 0)
        answered += len(documents) - len(chosen[candidates.topic])
    return chosen, answered


def _sampled(pooled: Pooled, strata: Sequence[Stratum], seed: int) -> DocumentPool:
    documents: Chosen = {}
    sample: dict[str, dict[str, Sampled]] = {}
    for candidates in pooled:
        draw: Sample = stratified(candidates, candidates.generator(seed), strata=strata)
        rows = zip(draw.stratum.tolist(), draw.drawn.tolist(), draw.chance.tolist(), strict=True)
        of_document = {document: Sampled(*row) for document, row in zip(candidates.documents, rows, strict=True)}
        sample[candidates.topic] = {document: of_document[document] for document in in_order(of_document)}
        documents[candidates.topic] = in_order(candidates.documents[i] for i in np.flatnonzero(draw.drawn).tolist())
    written = ", ".join(f"{stratum.depth}:{stratum.share:g}" for stratum in strata)
    return DocumentPool(f"stratified({written})", documents, tuple(pooled.findings()), sample)
