"""How measures of gains explain themselves: cumulated gains with their ideals, cascades, and user models by weights."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cranfield.judged import Floats, Integers, Judged
from cranfield.measures.explained import (
    KEPT_IN_FRONT,
    Trace,
    Working,
    averaged,
    bracketed,
    nothing_below,
    number,
    quotient,
    summed,
)

Gain = str | Mapping[float, float]
UNDISCOUNTED = float("inf")
SMALLEST_CHANCE = 0.0005


def cumulated(
    trace: Trace,
    *,
    gain: Gain,
    base: float | None = UNDISCOUNTED,
    ideal: str | None = None,
    cutoff: int | None = None,
) -> Working:
    """CG and DCG; with an `ideal` over that of the ideal ranking, whose gains stand beside those of the ranking."""
    from cranfield.measures.gain import discount, gains

    own = trace.spread(gains(trace.judged.grade, gain)) * trace.within(cutoff)
    discounts = discount(trace.rank, base)
    terms = own / discounts
    name = "CG" if base == UNDISCOUNTED else "DCG"
    columns = {"gain": own}
    columns |= {} if base == UNDISCOUNTED else {"discount": discounts}
    columns |= {name: np.cumsum(terms)}
    counts = terms != 0
    texts = _over_discounts(own[counts], trace.rank[counts], base)
    if ideal is None:
        whole = averaged(trace, terms, 1, counts=counts, texts=texts)
        return Working(counts, whole.steps, terms, columns)
    best = _ideal(trace.judged, gain, cutoff, ideal)
    ideal_terms = best / discount(np.arange(1, len(best) + 1), base)
    below = float(ideal_terms.sum())
    written = _over_discounts(best[best != 0], 1 + np.flatnonzero(best), base)
    steps = [f"{name} / ideal {name}", f"{bracketed(summed(texts))} / {bracketed(summed(written))}"]
    steps += [quotient(number(float(terms.sum())), below)]
    columns |= {"ideal gain": _down_to(best, trace.length), f"ideal {name}": _down_to(ideal_terms, trace.length, True)}
    contribution = terms / below if below else 0.0 * terms
    return Working(counts, tuple(steps), contribution, columns, nothing_below(below))


def ideal(trace: Trace, *, gain: Gain, base: float | None = UNDISCOUNTED, cutoff: int | None = None) -> Working:
    """What the best ranking has: the judgements alone decide, and what was retrieved contributes nothing."""
    from cranfield.measures.gain import discount, gains

    best = _ideal(trace.judged, gain, cutoff)
    terms = best / discount(np.arange(1, len(best) + 1), base)
    written = _over_discounts(best[best != 0], 1 + np.flatnonzero(best), base)
    columns = {"ideal gain": _down_to(best, trace.length), "ideal total": _down_to(terms, trace.length, True)}
    return Working(trace.spread(gains(trace.judged.grade, gain)) != 0, (summed(written),), columns=columns)


def area(trace: Trace, *, gain: Gain, base: float | None = UNDISCOUNTED, cutoff: int) -> Working:
    """The mean of NCG or nDCG over the ranks down to the cutoff: a document counts at its rank and at all below."""
    from cranfield.measures.gain import discount, gains

    own = trace.spread(gains(trace.judged.grade, gain)) * trace.within(cutoff)
    terms = own / discount(trace.rank, base)
    ideal_so_far = _down_to(_ideal(trace.judged, gain, cutoff) / _ideal_discounts(trace, cutoff, base), cutoff, True)
    inverse = np.divide(1.0, ideal_so_far, out=np.zeros(cutoff), where=ideal_so_far > 0)
    below = np.cumsum(inverse[::-1])[::-1]  # for each rank, the sum from there down to the cutoff
    values = _down_to(terms, cutoff, True) * inverse
    contribution = np.zeros(trace.length)
    shown = min(trace.length, cutoff)
    contribution[:shown] = terms[:shown] * below[:shown] / cutoff
    curve = np.full(trace.length, np.nan)
    curve[:shown] = values[:shown]
    steps = quotient(summed([number(value) for value in values]), cutoff), quotient(number(float(values.sum())), cutoff)
    columns = {"gain": own, "NCG" if base == UNDISCOUNTED else "nDCG": curve}
    return Working(terms != 0, steps, contribution, columns)


def _ideal(judged: Judged, gain: Gain, cutoff: int | None, ideal: str = "judged") -> Floats:
    """The gains of the ideal ranking down to the cutoff."""
    from cranfield.measures.gain import ideal_gains, retrieved_gains

    return (ideal_gains(judged.pool, gain) if ideal == "judged" else retrieved_gains(judged, gain))[:cutoff]


def _ideal_discounts(trace: Trace, cutoff: int, base: float | None) -> Floats:
    from cranfield.measures.gain import discount

    return discount(np.arange(1, min(cutoff, len(trace.judged.pool.grades)) + 1), base)


def _down_to(x: Floats, length: int, running: bool = False) -> Floats:
    """An array by rank, filled up with zeros or cut to a length; with `running` its sums from the top."""
    filled = np.zeros(length)
    filled[: len(x)] = x[:length]
    return np.cumsum(filled) if running else filled


def _over_discounts(own: Floats, rank: Integers, base: float | None) -> list[str]:
    """Each gain over its discount, as on a board: 3/log2 4."""
    if base is None:
        return [f"{number(g)}/log2 {i + 1}" for g, i in zip(own, rank, strict=True)]
    return [number(g) if i <= base else f"{number(g)}/log{number(base)} {i}" for g, i in zip(own, rank, strict=True)]


def rank_biased(trace: Trace, *, p: float, rel: float, cutoff: int | None = None) -> Working:
    return _rank_biased(trace, trace.relevant(rel, cutoff).astype(np.float64), p)


def graded_rank_biased(trace: Trace, *, p: float, max_grade: float | None = None, cutoff: int | None = None) -> Working:
    highest = trace.judged.pool.max_grade if max_grade is None else max_grade
    worth = trace.spread(np.clip(trace.judged.grade, 0.0, highest) / max(1.0, highest)) * trace.within(cutoff)
    return _rank_biased(trace, worth, p)


def _rank_biased(trace: Trace, worth: Floats, p: float) -> Working:
    seen = np.power(p, trace.rank - 1.0)
    counts = worth != 0
    terms = [
        ("" if g == 1 else f"{number(g)}·") + f"{number(p)}^{i - 1}"
        for g, i in zip(worth[counts], trace.rank[counts], strict=True)
    ]
    contribution = worth * (1 - p) * seen
    steps = f"{number(1 - p)} · ({summed(terms)})", f"{number(1 - p)} · {number(float((worth * seen).sum()))}"
    return Working(counts, steps, contribution, {"gain": worth, "seen with chance": seen})


def rank_biased_residual(trace: Trace, *, p: float, cutoff: int | None = None) -> Working:
    """What is judged takes from the whole: 1 less what RBP would be if all of it were relevant."""
    judged = ~np.isnan(trace.grade) & trace.within(cutoff)
    most = _rank_biased(trace, judged.astype(np.float64), p)
    return Working(judged, tuple(f"1 − {step}" for step in most.steps), columns=most.columns)


def cascade(trace: Trace, *, max_grade: float | None = None, cutoff: int | None = None) -> Working:
    """ERR: the chance to be satisfied at a rank, if no document above did."""
    highest = trace.judged.pool.max_grade if max_grade is None else max_grade
    grade = np.clip(trace.judged.grade, 0.0, highest)
    satisfied = trace.spread(np.exp2(grade - highest) - np.exp2(-highest)) * trace.within(cutoff)
    reached = np.concatenate(([1.0], np.cumprod(1 - satisfied)[:-1])) if trace.length else satisfied
    counts = satisfied != 0
    texts = [
        f"1/{i} · {number(r)}" + (f" · {number(above)}" if above != 1 else "")
        for i, r, above in zip(trace.rank[counts], satisfied[counts], reached[counts], strict=True)
    ]
    columns = {"satisfies": satisfied, "reached": reached}
    return averaged(trace, satisfied * reached / trace.rank, 1, counts=counts, texts=texts, columns=columns)


def by_attention(trace: Trace, seen: Floats, gain: Floats, *, of: str) -> Working:
    """A C/W/L model: `seen` is the chance V(i) that a rank is seen, down to the cutoff, and `gain` what is there.

    >>> from cranfield.judged import relstring
    >>> by_attention(Trace(relstring("10"), 0.5), np.array([1.0, 0.5]), np.array([1.0, 0.0]), of="EU").steps
    ('Σ V g / Σ V', '1·1 / (1 + 0.5)', '1 / 1.5')
    """
    depth = float(seen.sum())
    own, chance = _down_to(gain, trace.length), _down_to(seen, trace.length)
    counts = (own * chance) != 0
    columns = {"gain": own, "V, seen": chance, "W = V/ΣV": chance / depth}
    read = _attention(seen)
    gaining = (gain * seen) != 0
    gained = summed([f"{number(v)}·{number(g)}" for v, g in zip(seen[gaining], gain[gaining], strict=True)])
    total = float((seen * gain).sum())
    if of == "EU":
        steps = "Σ V g / Σ V", f"{bracketed(gained)} / {bracketed(read)}", f"{number(total)} / {number(depth)}"
        return Working(counts, steps, own * chance / depth, columns)
    if of == "ETU":
        return Working(counts, ("Σ V g", gained), own * chance, columns)
    if of in ("ED", "ETC"):
        return Working(counts, ("Σ V", read), columns=columns)
    if of == "EC":
        return Working(counts, ("Σ V / Σ V",), columns=columns, because="every document costs 1")
    step = f"{number(trace.value + total / depth)} − {number(total / depth)}"
    return Working(counts, (step,), columns=columns, because="EU if all that is unjudged had the highest gain, less EU")


def _attention(seen: Floats) -> str:
    """The sum of chances, without those that are too small to be written."""
    large = [number(v) for v in seen[seen >= SMALLEST_CHANCE]]
    if len(large) == np.count_nonzero(seen):
        return summed(large)
    return summed([*large[:KEPT_IN_FRONT], "…"])


def average_gain(trace: Trace, gain: Floats, everything: float, *, of: str) -> Working:
    """AP_CWL: precision of gains, averaged over all the gain there is."""
    own = _down_to(gain, trace.length)
    so_far = np.cumsum(own)
    counts = own != 0
    columns = {"gain": own, "gain so far": so_far}
    if of == "EU":
        texts = [
            (f"{number(g)} · " if g != 1 else "") + f"{number(total)}/{i}"
            for g, total, i in zip(own[counts], so_far[counts], trace.rank[counts], strict=True)
        ]
        return averaged(trace, own * so_far / trace.rank, everything, counts=counts, texts=texts, columns=columns)
    if of in ("ED", "ETC") and counts.any():
        texts = [f"{number(g)}/{i}" for g, i in zip(own[counts], trace.rank[counts], strict=True)]
        return Working(counts, (f"{number(everything)} / ({summed(texts)})",), columns=columns)
    return Working(counts, columns=columns)
