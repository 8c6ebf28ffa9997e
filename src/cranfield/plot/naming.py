"""Which systems a picture names: these are coloured, each in a colour of its own; all others are grey.

The names stand in the chart's parameter `named`, and the chart itself finds a system's colour by its place there:
whoever shows the chart may name others. So every row about a system has its name in the field `system`.

A few systems have their colours by the order in which they were given, whatever is measured; of many, those that are
named have them by their parts: the best, the baseline, those asked for. The page of a report does the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from cranfield.errors import UsageError, some
from cranfield.plot.style import COLOURS, GREY, INK

if TYPE_CHECKING:
    import altair as alt

MOST_NAMED = len(COLOURS)
MOST_TOLD = 20  # names in a sentence
NAMED, OTHERS = "datum.hue >= 0", "datum.hue < 0"  # filters of rows, once they are `hued`


def named_systems(
    gains: Mapping[str, float], *, baseline: Sequence[str] = (), highlight: Sequence[str] = ()
) -> tuple[str, ...]:
    """The systems to name, of all with their gains: every one of a few; of many the best, the baseline and those asked
    for. Where some are asked for, few are not named for being few.

    >>> gains = {f"run {i}": float(i) for i in range(9)}
    >>> named_systems(gains), named_systems(gains, baseline=["run 2"], highlight=["run 5"])
    (('run 8',), ('run 8', 'run 2', 'run 5'))
    >>> named_systems({"a": 1.0, "b": 2.0}), named_systems({"a": 1.0, "b": 2.0}, highlight=["a"])
    (('a', 'b'), ('a',))
    """
    wanted = [*baseline, *highlight]
    unknown = [name for name in wanted if name not in gains]
    if unknown:
        raise UsageError(f"no {some(unknown)} in this picture to be named; there are {some(list(gains), MOST_TOLD)}")
    if len(gains) <= MOST_NAMED:
        return tuple(dict.fromkeys(wanted)) if highlight else tuple(gains)
    best = max(gains, key=lambda name: gains[name])
    chosen = tuple(dict.fromkeys([best, *wanted]))
    if len(chosen) > MOST_NAMED:
        raise UsageError(
            f"{len(chosen)} systems would be coloured, the best and the baseline among them, and {MOST_NAMED} colours "
            f"can be told apart: highlight fewer"
        )
    return chosen


def hued(chart: alt.Chart) -> alt.Chart:
    """The chart with the number of its colour in each row as `hue`: the place of the row's system in `named`, or -1 if
    it is not named. Rows about no system, such as ideals, have the colour of ink.
    """
    place = f"min(indexof(named, datum.system), {MOST_NAMED})"
    return chart.transform_calculate(hue=f"isValid(datum.system) ? {place} : {MOST_NAMED}")


def hue() -> alt.Color:
    """The colour of a row that is `hued`: grey if its system is not named, ink beyond the eighth that is."""
    import altair as alt

    places = [*range(-1, MOST_NAMED + 1)]
    return alt.Color("hue:O", scale=alt.Scale(domain=places, range=[GREY, *COLOURS, INK]), legend=None)


def in_colour(named: Sequence[str], count: int) -> str:
    """What a caption says of colours where every system has its name beside it, and some have a colour.

    >>> in_colour(["a"], 60), in_colour(["a", "b"], 2)
    (' In colour: a.', '')
    """
    return f" In colour: {', '.join(named)}." if len(named) < count else ""


def of_grey(named: Sequence[str], count: int, noun: str = "systems") -> str:
    """What a caption says of systems that are not named.

    >>> of_grey(["a"], 60), of_grey(["a", "b"], 2)
    (' Of 60 systems those not named are grey.', '')
    """
    return f" Of {count} {noun} those not named are grey." if len(named) < count else ""
