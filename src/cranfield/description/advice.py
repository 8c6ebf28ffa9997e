"""Which measures the judgements of a collection support, and why: one function a measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cranfield.description.summaries import Cutoff, JudgementSummary

ENOUGH = 0.5  # of 1: what a perfect run should reach for a measure to tell runs apart
IF_COMPLETE = "if every relevant document was looked for: hardly any is judged not relevant"


class Advice(NamedTuple):
    """Whether the judgements support a measure, and why."""

    measure: str
    fits: bool
    why: str


class Known(NamedTuple):
    """What advice rests on."""

    judgements: JudgementSummary
    cutoffs: Sequence[Cutoff]

    @property
    def sparse(self) -> bool:
        return self.judgements.shape == "sparse"

    @property
    def relevant(self) -> str:
        mean = self.judgements.relevant_per_topic.mean
        return f"{mean:.3g} relevant {'document' if mean == 1 else 'documents'} known a topic"

    def perfect(self, cutoff: int) -> float:
        """What a perfect run scores in P at a cutoff."""
        return next(each.perfect for each in self.cutoffs if each.cutoff == cutoff)


def reciprocal_rank(known: Known) -> Advice:
    why = f"{known.relevant}: it asks where the first one stands"
    return Advice("RR@10", True, why)


def success(known: Known) -> Advice:
    return Advice("Success@10", True, "it asks whether any relevant document is found")


def precision(known: Known) -> Advice:
    perfect = known.perfect(10)
    why = f"a perfect run scores {perfect:.2f}; " + (known.relevant if perfect < ENOUGH else _completeness(known))
    return Advice("P@10", perfect >= ENOUGH and not known.sparse, why)


def average_precision(known: Known) -> Advice:
    if known.sparse:
        return Advice("AP", False, f"{known.relevant}: with one it is RR, and others were hardly looked for")
    return Advice("AP", True, _completeness(known))


def r_precision(known: Known) -> Advice:
    if known.sparse:
        return Advice("Rprec", False, f"{known.relevant}: with one it is P@1")
    return Advice("Rprec", True, _completeness(known))


def gain(known: Known) -> Advice:
    levels = known.judgements.levels
    binary = "the grades are binary: it tells where relevant documents stand, not how relevant they are"
    return Advice("nDCG@10", True, f"{levels} grades of relevance" if levels > 1 else binary)


def expected_reciprocal_rank(known: Known) -> Advice:
    levels = known.judgements.levels
    binary = "the grades are binary, and it is made for grades"
    return Advice("ERR@20", levels > 1, f"{levels} grades of relevance" if levels > 1 else binary)


def recall(known: Known) -> Advice:
    return Advice("R@100", True, "how much of what is known a first stage finds")


def binary_preference(known: Known) -> Advice:
    dense = known.judgements.shape == "dense"
    why = "documents are judged not relevant as well" if dense else "hardly any document is judged not relevant"
    return Advice("Bpref", dense, why)


def _completeness(known: Known) -> str:
    if known.judgements.shape == "dense":
        return f"{known.judgements.judged_per_topic.median:g} documents a topic are judged"
    return IF_COMPLETE


RULES: tuple[Callable[[Known], Advice], ...] = (
    reciprocal_rank,
    success,
    precision,
    average_precision,
    r_precision,
    gain,
    expected_reciprocal_rank,
    recall,
    binary_preference,
)


def advise(judgements: JudgementSummary, cutoffs: Sequence[Cutoff]) -> tuple[Advice, ...]:
    """What judgements support, measure by measure."""
    known = Known(judgements, cutoffs)
    return tuple(rule(known) for rule in RULES)
