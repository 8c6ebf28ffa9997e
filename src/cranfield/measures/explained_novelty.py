"""How measures of novelty explain themselves: what each document gains that those above it have not."""

from __future__ import annotations

from cranfield.measures.arithmetic import ratio
from cranfield.measures.diversified import (
    Discount,
    ideal_gain,
    novelty,
    perfect_gain,
    relevant_subtopics,
    subtopic_count,
)
from cranfield.measures.explained import Trace, Working, averaged, number


def of_perfect(trace: Trace, discount: Discount, *, alpha: float, rel: float, norm: str, cutoff: int) -> Working:
    """alpha-DCG and ERR-IA: without a norm the first is divided by nothing, the second by M / alpha."""
    below = float(perfect_gain(trace.judged.pool, rel, alpha, discount, cutoff)[0])
    if norm == "none":
        of_err = float(ratio(subtopic_count(trace.judged.pool, rel), alpha)[0])
        below = 1.0 if discount.name == "logarithmic" else of_err
    return novel(trace, rel, alpha, discount, cutoff, below)


def of_ideal(trace: Trace, discount: Discount, *, alpha: float, rel: float, ideal: str, cutoff: int | None) -> Working:
    below = float(ideal_gain(trace.judged.pool, rel, alpha, discount, cutoff, ideal)[0])
    return novel(trace, rel, alpha, discount, cutoff, below)


def novel(trace: Trace, rel: float, alpha: float, discount: Discount, cutoff: int | None, below: float) -> Working:
    """What each document gains that those above have not."""
    judged = trace.judged
    gain = novelty(relevant_subtopics(judged.pool, rel)[judged.row], judged.offsets, alpha)
    own, weight = trace.spread(gain) * trace.within(cutoff), discount.at(trace.rank)
    texts = [f"{number(g)}·{number(w)}" for g, w in zip(own[own != 0], weight[own != 0], strict=True)]
    return averaged(trace, own * weight, below, texts=texts, columns={"new gain": own, "weight": weight})
