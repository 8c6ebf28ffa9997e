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


class Grounds(NamedTuple):
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
        return next(known.perfect for known in self.cutoffs if known.cutoff == cutoff)


def reciprocal_rank(grounds: Grounds) -> Advice:
    why = f"{grounds.relevant}: it asks where the first one stands"
    return Advice("RR@10", True, why)


def success(grounds: Grounds) -> Advice:
    return Advice("Success@10", True, "it asks whether any relevant document is found")


def precision(grounds: Grounds) -> Advice:
    perfect = grounds.perfect(10)
    why = f"a perfect run scores {perfect:.2f}; " + (grounds.relevant if perfect < ENOUGH else _completeness(grounds))
    return Advice("P@10", perfect >= ENOUGH and not grounds.sparse, why)


def average_precision(grounds: Grounds) -> Advice:
    if grounds.sparse:
        return Advice("AP", False, f"{grounds.relevant}: with one it is RR, and others were hardly looked for")
    return Advice("AP", True, _completeness(grounds))


def r_precision(grounds: Grounds) -> Advice:
    if grounds.sparse:
        return Advice("Rprec", False, f"{grounds.relevant}: with one it is P@1")
    return Advice("Rprec", True, _completeness(grounds))


def gain(grounds: Grounds) -> Advice:
    levels = grounds.judgements.levels
    binary = "the grades are binary: it tells where relevant documents stand, not how relevant they are"
    return Advice("nDCG@10", True, f"{levels} grades of relevance" if levels > 1 else binary)


def expected_reciprocal_rank(grounds: Grounds) -> Advice:
    levels = grounds.judgements.levels
    binary = "the grades are binary, and it is made for grades"
    return Advice("ERR@20", levels > 1, f"{levels} grades of relevance" if levels > 1 else binary)


def recall(grounds: Grounds) -> Advice:
    return Advice("R@100", True, "how much of what is known a first stage finds")


def binary_preference(grounds: Grounds) -> Advice:
    dense = grounds.judgements.shape == "dense"
    why = "documents are judged not relevant as well" if dense else "hardly any document is judged not relevant"
    return Advice("Bpref", dense, why)


def _completeness(grounds: Grounds) -> str:
    if grounds.judgements.shape == "dense":
        return f"{grounds.judgements.judged_per_topic.median:g} documents a topic are judged"
    return IF_COMPLETE


RULES: tuple[Callable[[Grounds], Advice], ...] = (
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
    grounds = Grounds(judgements, cutoffs)
    return tuple(rule(grounds) for rule in RULES)
