"""How measures explain themselves: one topic's ranking written out, and the formula with the numbers put in.

A measure names a function here, or one of its own, as `explain=` of its decorator. It takes a `Trace` and the measure's
own parameters and gives a `Working`: what to write beside each rank, and the steps from the formula to the value. Where
the value is a sum over documents it gives what each contributes, and these add up to the value. This module has what
all share; `explained_ranked` has the measures of binary relevance, `explained_gains` those of gains, discounts and
user models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from cranfield.judged import Floats, Integers, Judged, Mask
from cranfield.records import NamedTuple

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LONGEST_SUM = 8  # terms that a sum is written with; longer ones are shortened in the middle
KEPT_IN_FRONT, KEPT_AT_END = 5, 2


def _no_function(judged: Judged) -> Floats:
    return np.zeros(len(judged.topics))


class Trace(NamedTuple):
    """One topic's ranking as a measure sees it, with its value and its function. Arrays have an entry for each rank."""

    judged: Judged
    value: float
    function: Callable[..., Floats] = _no_function

    @property
    def length(self) -> int:
        return int(self.judged.retrieved[0])

    @property
    def rank(self) -> Integers:
        return np.arange(1, self.length + 1)

    @property
    def grade(self) -> Floats:
        """NaN where nobody judged; a negative grade is no judgement."""
        return np.where(self.spread(self.judged.grade >= 0) > 0, self.spread(self.judged.grade), np.nan)

    def spread(self, x: ArrayLike) -> Floats:
        """What each hit has, at its rank; 0 at the others.

        >>> from cranfield.judged import relstring
        >>> Trace(relstring("1-2"), 0.5).spread([7.0, 8.0])
        array([7., 0., 8.])
        """
        out = np.zeros(self.length)
        out[self.judged.rank - 1] = x
        return out

    def within(self, cutoff: float | None) -> Mask:
        """Which ranks stand at the cutoff or above."""
        return np.ones(self.length, dtype=bool) if cutoff is None else self.rank <= cutoff

    def relevant(self, rel: float, cutoff: float | None = None) -> Mask:
        """Which ranks hold a relevant document."""
        mask: Mask = (self.spread(self.judged.hits(rel)) > 0) & self.within(cutoff)
        return mask

    def n_relevant(self, rel: float) -> int:
        return int(self.judged.n_relevant(rel)[0])


class Working(NamedTuple):
    """How a value arises. Arrays have an entry for each rank; in `columns` NaN is written as nothing.

    `steps` are the formula with the numbers put in, each step equal to the next and the last to the value; `because`
    is said after it where that needs words. `contribution` adds up to the value; it is None for a value that is no
    sum over documents. `levels` are recall levels over which it is a mean, each with its precision.
    """

    counts: Mask
    steps: tuple[str, ...] = ()
    contribution: Floats | None = None
    columns: Mapping[str, Floats] = MappingProxyType({})
    because: str = ""
    levels: tuple[tuple[float, float], ...] = ()


def number(x: float) -> str:
    """A number as one writes it on a board: whole ones as they are, others with four decimals at most.

    >>> [number(x) for x in (3.0, 0.5, 2 / 3, -1.25, 0.00001234)]
    ['3', '0.5', '0.6667', '−1.25', '1.23e-05']
    """
    if float(x).is_integer() and abs(x) < 1e12:
        text = f"{x:.0f}"
    else:
        text = f"{x:.4f}".rstrip("0") if 0.001 <= abs(x) < 1e12 else f"{x:.3g}"
        text = text.removesuffix(".")
    return text.replace("-", "−", 1) if text.startswith("-") else text


def summed(terms: Sequence[str]) -> str:
    """A sum in words, shortened in the middle if it is long.

    >>> summed(["1/1", "2/3"]), summed([str(i) for i in range(1, 20)])
    ('1/1 + 2/3', '1 + 2 + 3 + 4 + 5 + … + 18 + 19')
    """
    if len(terms) > LONGEST_SUM:
        terms = [*terms[:KEPT_IN_FRONT], "…", *terms[-KEPT_AT_END:]]
    return " + ".join(terms) or "0"


def bracketed(text: str) -> str:
    """In brackets if it is more than one thing.

    >>> bracketed("1/1 + 2/3"), bracketed("2/3")
    ('(1/1 + 2/3)', '2/3')
    """
    return f"({text})" if " " in text else text


def bracketed_sign(x: float) -> str:
    """A number that can stand after a plus.

    >>> bracketed_sign(2), bracketed_sign(-1)
    ('2', '(−1)')
    """
    return f"({number(x)})" if x < 0 else number(x)


def quotient(above: str, below: float) -> str:
    """
    >>> quotient("1/1 + 2/3", 4)
    '(1/1 + 2/3) / 4'
    """
    return f"{bracketed(above)} / {number(below)}"


def nothing_below(below: float) -> str:
    """What is said where a denominator is 0."""
    return "" if below else "where nothing is to be divided by, the value is 0"


def averaged(
    trace: Trace,
    terms: Floats,
    below: float,
    *,
    counts: Mask | None = None,
    texts: Sequence[str] | None = None,
    columns: Mapping[str, Floats] | None = None,
) -> Working:
    """A sum of terms over documents, divided by something; `texts` are the terms of the documents that count.

    >>> from cranfield.judged import relstring
    >>> averaged(Trace(relstring("101"), 0.5), np.array([1.0, 0.0, 0.5]), 3).steps
    ('(1 + 0.5) / 3', '1.5 / 3')
    """
    counted = terms != 0 if counts is None else counts
    written = [number(x) for x in terms[counted]] if texts is None else list(texts)
    total = number(float(np.sum(terms)))
    if below == 1:
        steps = [summed(written)] if len(written) != 1 or texts is not None else []
    else:
        steps = [quotient(summed(written), below)]
        steps += [quotient(total, below)] if written and written != [total] else []
    contribution = terms / below if below else np.zeros(len(terms))
    return Working(counted, tuple(steps), contribution, columns or {}, nothing_below(below))


def share(trace: Trace, counts: Mask, below: float) -> Working:
    """The number of documents that count, divided by something.

    >>> from cranfield.judged import relstring
    >>> share(Trace(relstring("101"), 0.5), np.array([True, False, True]), 4).steps
    ('2 / 4',)
    """
    steps = (quotient(number(float(counts.sum())), below),) if below != 1 else ()
    contribution = counts / below if below else np.zeros(len(counts))
    return Working(counts, steps, contribution, because=nothing_below(below))
