"""How measures of binary relevance explain themselves: shares, averages of precision, and single ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from cranfield.judged import Floats, Judged, Mask
from cranfield.measures.explained import Trace, Working, averaged, bracketed, number, quotient, share, summed


def precision(trace: Trace, *, rel: float, cutoff: int) -> Working:
    return share(trace, trace.relevant(rel, cutoff), cutoff)


def recall(trace: Trace, *, rel: float, cutoff: int | None = None) -> Working:
    return share(trace, trace.relevant(rel, cutoff), trace.n_relevant(rel))


def found(trace: Trace, *, rel: float, cutoff: int | None = None) -> Working:
    return share(trace, trace.relevant(rel, cutoff), 1)


def r_precision(trace: Trace, *, rel: float) -> Working:
    relevant = trace.n_relevant(rel)
    return share(trace, trace.relevant(rel, relevant), relevant)


def relative_precision(trace: Trace, *, rel: float, cutoff: int | None = None) -> Working:
    depth = trace.length if cutoff is None else cutoff
    return share(trace, trace.relevant(rel, depth), min(depth, trace.n_relevant(rel)))


def set_precision(trace: Trace, *, rel: float) -> Working:
    return share(trace, trace.relevant(rel), trace.length)


def f_measure(trace: Trace, *, rel: float, beta: float, cutoff: int | None = None) -> Working:
    """(1 + b²) P R / (b² P + R): no sum, so that documents have a worth and no contribution."""
    counts, depth = trace.relevant(rel, cutoff), trace.length if cutoff is None else cutoff
    n, relevant, weight = int(counts.sum()), trace.n_relevant(rel), beta * beta
    if not n:
        return Working(counts, because="P = R = 0")
    p, r = n / depth, n / relevant
    times = "" if weight == 1 else f"{number(weight)} · "
    steps = (
        f"{number(1 + weight)} · {n}/{depth} · {n}/{relevant} / ({times}{n}/{depth} + {n}/{relevant})",
        f"{number((1 + weight) * p * r)} / {number(weight * p + r)}",
    )
    return Working(counts, steps, because=f"P = {n}/{depth} = {number(p)}, R = {n}/{relevant} = {number(r)}")


def e_measure(trace: Trace, *, rel: float, b: float, cutoff: int) -> Working:
    f = f_measure(trace, rel=rel, beta=b, cutoff=cutoff)
    return Working(f.counts, tuple(f"1 − {step}" for step in f.steps), because=f.because)


def success(trace: Trace, *, rel: float, cutoff: int) -> Working:
    counts = trace.relevant(rel, cutoff)
    first = _first(counts)
    return Working(first, (), first.astype(np.float64), because=f"r_{cutoff} = {counts.sum()}")


def average_precision(trace: Trace, *, rel: float, over: str = "all", cutoff: int | None = None) -> Working:
    counts = trace.relevant(rel, cutoff)
    so_far = np.cumsum(counts)
    texts = [f"{n}/{i}" for n, i in zip(so_far[counts], trace.rank[counts], strict=True)]
    below = trace.n_relevant(rel) if over == "all" else int(counts.sum())
    return averaged(trace, counts * so_far / trace.rank, below, counts=counts, texts=texts)


def log_odds(trace: Trace, *, rel: float) -> Working:
    """Yaap: ln((1 + S) / (1 + R - S))."""
    of_ap = average_precision(trace, rel=rel)
    relevant = trace.n_relevant(rel)
    total = number(float(np.sum(of_ap.counts * np.cumsum(of_ap.counts) / trace.rank)))
    because = f"S = {of_ap.steps[0].removesuffix(f' / {relevant}')} = {total}"
    return Working(of_ap.counts, (f"ln((1 + {total}) / (1 + {relevant} − {total}))",), because=because)


def reciprocal(trace: Trace, *, rel: float, cutoff: int | None = None) -> Working:
    return _at_one_rank(trace, _first(trace.relevant(rel, cutoff)))


def last_precision(trace: Trace, *, rel: float, cutoff: int | None = None) -> Working:
    counts = trace.relevant(rel, cutoff)
    return _at_one_rank(trace, counts & (np.cumsum(counts) == counts.sum()), int(counts.sum()))


def _first(counts: Mask) -> Mask:
    first: Mask = counts & (np.cumsum(counts) == 1)
    return first


def _at_one_rank(trace: Trace, at: Mask, above: float = 1) -> Working:
    """Something divided by the rank at which one document stands."""
    if not at.any():
        return Working(at, (), np.zeros(len(at)), because="no relevant document is found")
    return Working(at, (f"{number(above)} / {trace.rank[at][0]}",), at * above / trace.rank)


# How many relevant documents a user expects in each topic, by what is said of it and the least relevant grade.
Expecting = Callable[[Judged, int | str | None, float], Floats]


def share_of_expected(
    trace: Trace, expecting: Expecting, *, expected: int | str | None, rel: float, cutoff: int | None
) -> Working:
    """RelativeRecall."""
    return share(trace, trace.relevant(rel, cutoff), float(expecting(trace.judged, expected, rel)[0]))


def effort(trace: Trace, expecting: Expecting, *, expected: int | str | None, over: str, rel: float) -> Working:
    """RecallEffort: the number expected over the rank where the last of them is found, or the number retrieved."""
    counts, wanted = trace.relevant(rel), float(expecting(trace.judged, expected, rel)[0])
    if over == "retrieved":
        return Working(counts, (quotient(number(wanted), trace.length),))
    last = counts & (np.cumsum(counts) == wanted)
    if not last.any():
        return Working(
            counts, because=f"{counts.sum()} of {number(wanted)} relevant documents that were expected are found"
        )
    return Working(counts & (np.cumsum(counts) <= wanted), (f"{number(wanted)} / {trace.rank[last][0]}",))


def bpref(trace: Trace, *, rel: float) -> Working:
    counts, relevant = trace.relevant(rel), trace.n_relevant(rel)
    bad = ~np.isnan(trace.grade) & ~counts
    above = np.cumsum(bad)
    most = min(int(trace.judged.n_nonrelevant(rel)[0]), relevant)
    capped = np.minimum(above, relevant)
    terms = counts * (1 - (capped / most if most else 0.0 * capped))
    texts = [f"(1 − {n}/{most})" if most else "1" for n in capped[counts]]
    shown = {"non-relevant above": np.where(counts, above, np.nan)}
    return averaged(trace, terms, relevant, counts=counts, texts=texts, columns=shown)


def accuracy(trace: Trace, *, rel: float, cutoff: int | None = None) -> Working:
    counts = trace.relevant(rel, cutoff)
    n = int(counts.sum())
    others = int(trace.within(cutoff).sum()) - n
    above = counts * (trace.rank - np.cumsum(counts))
    columns = {"non-relevant above": np.where(counts, above, np.nan)}
    if not n:
        return Working(counts, columns=columns, because="no relevant document is retrieved")
    if not others:
        return Working(counts, columns=columns, because="every document retrieved is relevant")
    wrong = f"{bracketed(summed([str(x) for x in above[counts]]))} / ({n} · {others})"
    return Working(counts, (f"1 − {wrong}",), columns=columns)


def search(
    trace: Trace, parts: Callable[..., Sequence[Floats]], *, wanted: int, counting: str, unfound: float, rel: float
) -> Working:
    """ESL: j + i s / (r + 1), from j, i, s, r and whether the search ends well; the documents wanted too, or not."""
    j, i, s, r, ends_well = (number(part[0]) for part in parts(trace.judged, wanted, rel))
    counts = trace.relevant(rel)
    if ends_well == "0":
        return Working(counts, because=f"the list does not have {wanted} relevant documents")
    relevant_read = f" + {wanted}" if counting == "all" else ""
    return Working(counts & (np.cumsum(counts) <= wanted), (f"{j} + {i} · {s} / ({r} + 1){relevant_read}",))


def weighted(trace: Trace, counts: Mask, below: float, *, weight: str, cutoff: int | None) -> Working:
    """The weights of the documents that count, all the same or from k at rank 1 down to 1, over a sum of such."""
    depth = trace.length if cutoff is None else cutoff
    own = trace.within(cutoff) if weight == "equal" else np.maximum(depth + 1.0 - trace.rank, 0.0)
    return averaged(trace, counts * own, below)
