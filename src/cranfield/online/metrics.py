"""Metrics of search in use: each a numerator and a denominator, summed over the queries of a unit.

To add one, decorate a function. It is given `QueryFacts`, from which it takes what it needs of queries and of what
users did after them, as expressions of Narwhals: what no metric asks for is not computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from cranfield.errors import DataError, UsageError, either
from cranfield.registry import Entry, Parameter, Registry, described, is_number, number

if TYPE_CHECKING:
    from narwhals import Expr

Better: TypeAlias = Literal["more", "less", "neither"]
Per: TypeAlias = Literal["query", "unit", "session", "click"]
How: TypeAlias = Literal["sum", "any", "least", "greatest"]


class RatioOfSums(NamedTuple):
    """Two expressions over queries, to be summed over those of a unit; the metric is the ratio of the sums.

    `censored` marks queries of which only a bound is known, such as those after which nobody clicked in time. Where
    `per_unit`, the denominator is the unit itself: every unit counts once, one without queries too. With a `quantile`
    the metric is that quantile of the numerator over all queries that have one, which the denominator marks.
    """

    numerator: Expr
    denominator: Expr
    censored: Expr | None = None
    per_unit: bool = False
    quantile: float | None = None


class EventFact(NamedTuple):
    """What is kept of the events of a query: a value of some of them, and how several become one."""

    name: str
    action: str | None
    value: str  # a column of the events, or "" for 1
    how: How
    least: tuple[str, float] | None = None  # only events whose column has at least so much
    place: Literal["first", "last"] | None = None  # only the first or the last of them, by time


@dataclass
class QueryFacts:
    """What is known of each query: columns of the impressions, and what happened after it.

    What is asked for is written down in `events` and `wants`, so that nothing else is computed.
    """

    impressions: frozenset[str]
    event_columns: frozenset[str]
    asked_by: str = ""
    events: dict[str, EventFact] = field(default_factory=dict)
    wants: set[str] = field(default_factory=set)

    @cached_property
    def one(self) -> Expr:
        """1 for every query."""
        import narwhals as nw

        return nw.lit(1.0)

    def column(self, name: str) -> Expr:
        """A column of the impressions."""
        import narwhals as nw

        self._check(name, self.impressions, "impressions")
        self.wants.add(name)
        return nw.col(name)

    @property
    def results(self) -> Expr:
        """How many results were shown: `n_results`, or the length of `docs` where there is no such column."""
        import narwhals as nw

        if "n_results" in self.impressions or "docs" not in self.impressions:
            return self.column("n_results")
        self.wants.add("docs")
        return nw.col("docs").list.len()

    @property
    def session(self) -> Expr:
        """The share that a query has in its session: the queries of a session add up to 1."""
        import narwhals as nw

        self._check("session_id", self.impressions, "impressions")
        self.wants.update(("session_id", "@session"))
        return nw.col("@session")

    @property
    def gap(self) -> Expr:
        """Seconds until the next query of the same unit; null where there is none."""
        import narwhals as nw

        self.wants.add("@gap")
        return nw.col("@gap")

    def reformulated(self, within: float) -> Expr:
        """Whether the same unit sent another query soon after; one with the same text does not count, if it is known.

        The same text again is a reload, a further page or a way back.
        """
        import narwhals as nw

        soon = (self.gap <= within).fill_null(False)
        if "query_text" not in self.impressions:
            return soon
        self.wants.update(("query_text", "@other"))
        return soon & nw.col("@other")

    def count(self, action: str = "click", at_least: tuple[str, float] | None = None) -> Expr:
        """How many events of this action a query has; only those with `at_least` so much in a column of theirs."""
        return self._event(action, "", "sum", at_least, None, 0.0)

    def any(self, action: str = "click", at_least: tuple[str, float] | None = None) -> Expr:
        """Whether a query has an event of this action."""
        return self._event(action, "", "any", at_least, None, 0.0) > 0

    def total(self, column: str, action: str | None = None) -> Expr:
        """The sum of a column of the events of this action, or of all; 0 where there is none."""
        return self._event(action, column, "sum", None, None, 0.0)

    def rank(self, place: Literal["first", "last"]) -> Expr:
        """The rank of the first or last click by time; null where there is none."""
        return self._event("click", "rank", "least", None, place, None)

    def best_rank(self) -> Expr:
        """The least rank that was clicked; null where there is none."""
        return self._event("click", "rank", "least", None, None, None)

    def seconds_to(self, action: str = "click", at_least: tuple[str, float] | None = None) -> Expr:
        """Seconds from a query to the first such event; null where there is none."""
        return self._event(action, "@after", "least", at_least, None, None)

    def _event(
        self,
        action: str | None,
        value: str,
        how: How,
        least: tuple[str, float] | None,
        place: Literal["first", "last"] | None,
        nothing: float | None,
    ) -> Expr:
        import narwhals as nw

        for name in (value, least[0] if least else "", "ts" if place or value == "@after" else ""):
            if name and name != "@after":
                self._check(name, self.event_columns, "events")
        name = "@" + "|".join(map(str, (action, value, how, least, place)))
        self.events[name] = EventFact(name, action, value, how, least, place)
        return nw.col(name) if nothing is None else nw.col(name).fill_null(nothing)

    def _check(self, name: str, known: Iterable[str], table: str) -> None:
        if name not in known:
            have = ", ".join(sorted(known)) or "none"
            raise DataError(
                f"{self.asked_by or 'a metric'} needs the column {name} of the {table}, which they have not",
                remedy=f"The {table} have: {have}.",
            )


MetricFunction: TypeAlias = Callable[..., RatioOfSums]


class Metric(Entry[MetricFunction]):
    """A metric: the function makes a `RatioOfSums` of `QueryFacts`.

    `better` says which way is good: more, less, or neither where it can mean either. `per` is what the denominator
    counts. `is_quantile` says that the function gives a quantile, which no parts add up to.
    """

    better: Better
    per: Per = "query"
    is_quantile: bool = False

    def ratio(self, facts: QueryFacts) -> RatioOfSums:
        """Numerator and denominator, as expressions; what they need is written down in the facts."""
        facts.asked_by = f"the metric {self}"
        return self.function(facts)


METRICS: Registry[Metric] = Registry(
    "metric",
    group="cranfield.metrics",
    package="cranfield.online",
    decorator="metric",
    unknown="unknown {noun} '{name}'; there are {names}, and those that the trial defines under [metrics]",
)

DWELL = number("seconds on a document from which a click counts as satisfied", 0, 86_400)
WITHIN = number("seconds within which the next query counts", 0, 86_400)
LIMIT = number("seconds after which waiting counts no longer: a later click, or none, counts as this", 0, 86_400)
SHARE = Parameter(
    "the share of queries that are at or below the value",
    "a number between 0 and 1",
    lambda value: is_number(value) and 0 < value < 1,
)
ACTION = Parameter("the action of the events that count", "a text", lambda value: isinstance(value, str))
SHARED = {"dwell": DWELL, "within": WITHIN, "limit": LIMIT, "action": ACTION, "q": SHARE}


def metric(
    *,
    better: Better,
    per: Per = "query",
    is_quantile: bool = False,
    aliases: tuple[str, ...] = (),
    **parameters: Parameter,
) -> Callable[[MetricFunction], MetricFunction]:
    """Registers a function as a metric under its own name.

    >>> callable(metric(better="more"))
    True
    """
    if better not in ("more", "less", "neither"):
        raise UsageError(f"better is {either(('more', 'less', 'neither'))}, not '{better}'")

    def register(function: MetricFunction) -> MetricFunction:
        METRICS.add(
            Metric(
                name=function.__name__,
                function=function,
                aliases=aliases,
                parameters=described(function, "metric", parameters, SHARED),
                better=better,
                per=per,
                is_quantile=is_quantile,
            )
        )
        return function

    return register


def all_metrics() -> tuple[Metric, ...]:
    """Every metric there is, plug-ins last.

    >>> [metric.name for metric in all_metrics()][:3]
    ['ctr', 'clicks_at_1', 'clicks_per_query']
    """
    return METRICS.all()


def defined_metric(name: str, numerator: str, denominator: str = "queries", better: Better = "more") -> Metric:
    """A metric of one's own, of words rather than code: what is counted, and over what.

    Both are `queries`, `units`, `sessions`, a column of the impressions, `count(ACTION)`, `any(ACTION)` or
    `sum(COLUMN of the events, ACTION)`, where the action may be left out of `sum`. Of the denominator `units` every
    unit counts once.

    >>> carts = defined_metric("carts", "count(cart)", "units")
    >>> carts.better, carts.per
    ('more', 'unit')
    """
    from cranfield.online.terms import Term

    above, below = (
        Term.parse(numerator, f"metric {name}: numerator"),
        Term.parse(denominator, f"metric {name}: denominator"),
    )
    if above.kind == "units":
        raise UsageError(f"metric {name}: units can be the denominator alone")

    def function(facts: QueryFacts) -> RatioOfSums:
        """Defined in the trial."""
        per_unit = below.kind == "units"
        return RatioOfSums(
            above.expression(facts), facts.one if per_unit else below.expression(facts), per_unit=per_unit
        )

    per: dict[str, Per] = {"units": "unit", "sessions": "session"}
    made: Any = function
    return Metric(name=name, function=made, better=better, per=per.get(below.kind, "query"))
