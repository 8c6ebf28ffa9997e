"""Which measures the judgements of a collection support, and why: one function a measure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cranfield.description.summaries import Cutoff, JudgementSummary
from cranfield.errors import share

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

    @property
    def judged(self) -> str:
        """How many documents are judged, where they are so few that measures look past them."""
        median = self.judgements.judged_per_topic.median
        return f"{median:g} {'document a topic is' if median == 1 else 'documents a topic are'} judged (median)"

    def perfect(self, cutoff: int) -> float:
        """What a perfect run scores in P at a cutoff."""
        return next(known.perfect for known in self.cutoffs if known.cutoff == cutoff)

    def too_deep(self, measure: str) -> Advice | None:
        """What to say of a measure that looks past what is judged of a shallow pool, and how far down it may look."""
        if self.judgements.shape != "shallow":
            return None
        depth = max(1, int(self.judgements.judged_per_topic.median))
        instead = f"{measure.partition('@')[0]}@{depth}"
        return Advice(measure, False, f"{self.judged}, and every other counts as not relevant: rather {instead}")


def reciprocal_rank(grounds: Grounds) -> Advice:
    why = f"{grounds.relevant}: it asks where the first one stands"
    return grounds.too_deep("RR@10") or Advice("RR@10", True, why)


def success(grounds: Grounds) -> Advice:
    why = "it asks whether any relevant document is found"
    return grounds.too_deep("Success@10") or Advice("Success@10", True, why)


def precision(grounds: Grounds) -> Advice:
    perfect = grounds.perfect(10)
    why = f"a perfect run scores {perfect:.2f}; " + (grounds.relevant if perfect < ENOUGH else _completeness(grounds))
    return grounds.too_deep("P@10") or Advice("P@10", perfect >= ENOUGH and not grounds.sparse, why)


def average_precision(grounds: Grounds) -> Advice:
    if grounds.sparse:
        return Advice("AP", False, f"{grounds.relevant}: with one it is RR, and others were hardly looked for")
    return _of_all_relevant("AP", grounds)


def r_precision(grounds: Grounds) -> Advice:
    if grounds.sparse:
        return Advice("Rprec", False, f"{grounds.relevant}: with one it is P@1")
    return _of_all_relevant("Rprec", grounds)


def gain(grounds: Grounds) -> Advice:
    levels = grounds.judgements.levels
    why = "the grades are binary: it tells where relevant documents stand, not how relevant they are"
    if grounds.sparse:
        why = f"{grounds.relevant}: with one it tells where that stands, as RR does, whatever its grade"
    elif levels > 1:
        why = f"{levels} grades of relevance"
    return grounds.too_deep("nDCG@10") or Advice("nDCG@10", True, why)


def expected_reciprocal_rank(grounds: Grounds) -> Advice:
    levels = grounds.judgements.levels
    if levels < 2:
        return Advice("ERR@20", False, "the grades are binary, and it is made for grades")
    return grounds.too_deep("ERR@20") or Advice("ERR@20", True, f"{levels} grades of relevance")


def recall(grounds: Grounds) -> Advice:
    return Advice("R@100", True, "how much of what is known a first stage finds")


def binary_preference(grounds: Grounds) -> Advice:
    judgements = grounds.judgements
    if judgements.shape in ("sparse", "relevant only"):
        return Advice("Bpref", False, "hardly any document is judged not relevant")
    others = share(1 - judgements.relevant / judgements.judged)
    return Advice("Bpref", True, f"{others} of what is judged is not relevant, and what is unjudged does not count")


def _of_all_relevant(measure: str, grounds: Grounds) -> Advice:
    """A measure that hangs on knowing all relevant documents."""
    if grounds.judgements.shape == "shallow":
        return Advice(measure, False, f"{grounds.judged}: relevant ones among the others are not known")
    return Advice(measure, True, _completeness(grounds))


def _completeness(grounds: Grounds) -> str:
    return grounds.judged if grounds.judgements.shape == "dense" else IF_COMPLETE


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
