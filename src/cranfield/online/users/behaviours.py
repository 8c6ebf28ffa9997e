"""What simulated users click, and when a click ends their search: tables by how relevant a document is.

They are those with which interleaving is usually simulated. A user stops only after a click: some programs let users
stop after documents that they passed over as well, which gives other logs for the same table. Patience does that here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, either
from cranfield.statistics.significance import Floats


class ClickTable(NamedTuple):
    """The chance of a click on a document that is looked at, and of stopping after the click, by its grade.

    Grades are steps from not relevant at all to the highest; a collection with other steps lies between them.

    >>> BEHAVIOURS["informational"].binary.click
    (0.4, 0.9)
    """

    click: tuple[float, ...]
    stop: tuple[float, ...]

    def clicks(self, relevance: Floats) -> Floats:
        """The chance of a click by relevance, from 0 to 1."""
        return np.interp(relevance, np.linspace(0, 1, len(self.click)), self.click)

    def stops(self, relevance: Floats) -> Floats:
        """The chance of stopping after a click by relevance, from 0 to 1."""
        return np.interp(relevance, np.linspace(0, 1, len(self.stop)), self.stop)


class ClickBehaviour(NamedTuple):
    """A kind of user: what it says of them, the table of relevant or not, and that of five grades."""

    says: str
    binary: ClickTable
    graded: ClickTable


BEHAVIOURS: Mapping[str, ClickBehaviour] = {
    "perfect": ClickBehaviour(
        "click what is relevant, nothing else, and read on",
        ClickTable((0.0, 1.0), (0.0, 0.0)),
        ClickTable((0.0, 0.2, 0.4, 0.8, 1.0), (0.0,) * 5),
    ),
    "navigational": ClickBehaviour(
        "want one document, and stop when they have it",
        ClickTable((0.05, 0.95), (0.2, 0.9)),
        ClickTable((0.05, 0.3, 0.5, 0.7, 0.95), (0.2, 0.3, 0.5, 0.7, 0.9)),
    ),
    "informational": ClickBehaviour(
        "want several documents, and click much that is not relevant",
        ClickTable((0.4, 0.9), (0.1, 0.5)),
        ClickTable((0.4, 0.6, 0.7, 0.8, 0.9), (0.1, 0.2, 0.3, 0.4, 0.5)),
    ),
    "almost-random": ClickBehaviour(
        "hardly tell what is relevant",
        ClickTable((0.4, 0.6), (0.5, 0.5)),
        ClickTable((0.4, 0.45, 0.5, 0.55, 0.6), (0.5,) * 5),
    ),
    "random": ClickBehaviour(
        "click whatever it is",
        ClickTable((0.5, 0.5), (0.0, 0.0)),
        ClickTable((0.5,) * 5, (0.0,) * 5),
    ),
}


def find_behaviour(name: str) -> ClickBehaviour:
    """The behaviour of a name.

    >>> find_behaviour("perfect").says
    'click what is relevant, nothing else, and read on'
    """
    if name not in BEHAVIOURS:
        raise UsageError(f"there are no users called '{name}'; there are {either(BEHAVIOURS)} ones")
    return BEHAVIOURS[name]
