"""Topics side by side: thousands of them have no room of their own, and neighbours are drawn as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cranfield.errors import plural
from cranfield.judged import Floats

MOST = 400  # columns of a picture


class TopicColumn(NamedTuple):
    """One topic, or several that stand next to each other: what it is called, and their numbers."""

    label: str
    topics: list[int]


def columns(names: Sequence[str], order: Sequence[int], most: int = MOST) -> list[TopicColumn]:
    """Topics in an order, each a column of its own if there are no more than `most`, otherwise several to a column.

    >>> columns(["a", "b", "c"], [2, 0, 1])
    [TopicColumn(label='c', topics=[2]), TopicColumn(label='a', topics=[0]), TopicColumn(label='b', topics=[1])]
    >>> [column.label for column in columns(["a", "b", "c", "d", "e"], range(5), most=3)]
    ['a … b', 'c … d', 'e']
    """
    size = group_size(len(order), most)
    groups = [list(order[start : start + size]) for start in range(0, len(order), size)]
    return [
        TopicColumn(names[group[0]] if len(group) == 1 else f"{names[group[0]]} … {names[group[-1]]}", group)
        for group in groups
    ]


def means(scores: Floats, made: Sequence[TopicColumn]) -> Floats:
    """scores[…, topic] as the mean of each column's topics, NaN where none of them counts.

    >>> means(np.array([[1.0, 2.0, np.nan]]), [TopicColumn("", [0, 1]), TopicColumn("", [2])])
    array([[1.5, nan]])
    """
    starts = np.cumsum([0, *(len(column.topics) for column in made[:-1])])
    ordered = scores[..., [topic for column in made for topic in column.topics]]
    counted = ~np.isnan(ordered)
    sums = np.add.reduceat(np.where(counted, ordered, 0.0), starts, axis=-1)
    counts = np.add.reduceat(counted, starts, axis=-1, dtype=np.int64)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def group_size(count: int, most: int = MOST) -> int:
    """How many topics a column holds; the last may have fewer.

    >>> group_size(400), group_size(401)
    (1, 2)
    """
    return max(1, -(-count // most))


def axis_title(count: int, size: int, order: str, mark: str) -> str | list[str]:
    """What stands under the columns where there is no room for the names of topics."""
    title = plural(count, "topic") + order
    return title if size == 1 else [title, f"each {mark} is the mean of {size} neighbours"]
