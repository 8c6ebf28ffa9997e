"""How simulated users search, and how many of them come how often."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from typing import Literal, NamedTuple, TypeAlias, get_args

from cranfield.errors import UsageError, either
from cranfield.online.users.behaviours import ClickTable, find_behaviour

Activity: TypeAlias = Literal["geometric", "zipf"]
START = datetime(2026, 11, 2, tzinfo=UTC)  # a Monday


class ActionCosts(NamedTuple):
    """Seconds that actions take: to type a query, to read a snippet, and to read a document.

    Reading times are spread around their medians, that of a relevant document and that of one that is not, as a
    log-normal distribution with this spread; between the two lie documents of middle grades.
    """

    query: float = 8.0
    snippet: float = 4.4
    irrelevant: float = 12.0
    relevant: float = 60.0
    spread: float = 0.5


USUAL_COSTS = ActionCosts()


@dataclass(frozen=True)
class UserModel:
    """How users search. They look at snippets from the top, click by their behaviour's table, and stop after a click by
    chance; at `depth` documents; with `patience`, after so many in a row that they did not click; with
    `satisfied_after`, after so many relevant documents.

    Grades from `rel` on are relevant, others are not; without it, the table of five grades is taken where judgements
    have more than one. `taste` is the standard deviation between users of how readily they click, `leaning` that of
    what one user thinks of one document, both added to the logit of each click: a user stays the same. With both at 0
    users click exactly by the table.

    >>> UserModel("perfect").table(top=1).click
    (0.0, 1.0)
    """

    behaviour: str = "navigational"
    rel: float | None = None
    depth: int = 10
    patience: int | None = None
    satisfied_after: int | None = None
    taste: float = 0.5
    leaning: float = 0.0
    costs: ActionCosts = USUAL_COSTS

    def __post_init__(self) -> None:
        find_behaviour(self.behaviour)
        for name, count in (("depth", self.depth), ("patience", self.patience), ("satisfied", self.satisfied_after)):
            if count is not None and count < 1:
                raise UsageError(f"{name} is a number of documents from 1, not {count}")
        for name, number in (("taste", self.taste), ("leaning", self.leaning), *self.costs._asdict().items()):
            if not isfinite(number) or number < 0:
                raise UsageError(f"{name} is a number from 0, not {number:g}")
        if min(self.costs.irrelevant, self.costs.relevant) <= 0:
            raise UsageError("a document that is read takes some time: the costs of reading are above 0")

    def table(self, top: float) -> ClickTable:
        """The table by which they click, of judgements whose highest grade is `top`."""
        found = find_behaviour(self.behaviour)
        return found.binary if self.rel is not None or top <= 1 else found.graded


@dataclass(frozen=True)
class Population:
    """Who comes: so many users within so many days, each at least once.

    A user has `sessions` on average, each of `queries` on average, both from 1; with the activity `geometric` most
    users are alike, with `zipf` a few come again and again. What they ask is one of the topics, the r-th with a chance
    of 1 / r^popularity: with 0 all alike. `bots` is the share of users that are machines, marked as such, who ask much
    and click at random.
    """

    users: int = 1000
    days: int = 14
    activity: Activity = "geometric"
    sessions: float = 3.0
    queries: float = 1.5
    popularity: float = 0.0
    bots: float = 0.0
    seed: int = 0
    start: datetime = START

    def __post_init__(self) -> None:
        if self.activity not in get_args(Activity):
            raise UsageError(f"activity is {either(get_args(Activity))}, not '{self.activity}'")
        if self.users < 1 or self.days < 1:
            raise UsageError(f"users and days are numbers from 1, not {self.users} and {self.days}")
        for name, number in (("sessions", self.sessions), ("queries", self.queries)):
            if not isfinite(number) or not 1 <= number <= self.most_sessions:
                raise UsageError(f"{name} is a mean from 1 to {self.most_sessions}, not {number:g}")
        if not 0 <= self.bots < 1:
            raise UsageError(f"bots is a share from 0, below 1, not {self.bots:g}")
        if not isfinite(self.popularity) or self.popularity < 0:
            raise UsageError(f"popularity is a number from 0, not {self.popularity:g}")

    @property
    def most_sessions(self) -> int:
        """The most sessions that a user has: ten a day."""
        return 10 * self.days
