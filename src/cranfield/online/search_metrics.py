"""The metrics of search: what users click, how soon, how satisfied, how often they come back and what it is worth."""

from __future__ import annotations

from cranfield.online.metrics import QueryFacts, RatioOfSums, metric


@metric(better="more")
def ctr(facts: QueryFacts) -> RatioOfSums:
    """Share of queries with a click.

    Formula: queries with a click / queries

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("ctr", shown(clicked(2)), shown())
    0.5
    """
    return RatioOfSums(facts.any(), facts.one)


@metric(better="more")
def clicks_at_1(facts: QueryFacts) -> RatioOfSums:
    """Share of queries whose first result was clicked.

    Formula: queries with a click at rank 1 / queries

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("clicks_at_1", shown(clicked(1)), shown(clicked(2)))
    0.5
    """
    return RatioOfSums((facts.best_rank() == 1).fill_null(False), facts.one)


@metric(better="neither")
def clicks_per_query(facts: QueryFacts) -> RatioOfSums:
    """Clicks a query. More may mean that more was useful, or that nothing was.

    Formula: clicks / queries

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("clicks_per_query", shown(clicked(1), clicked(3)), shown())
    1.0
    """
    return RatioOfSums(facts.count(), facts.one)


@metric(better="more")
def satisfied(facts: QueryFacts, *, dwell: float = 30) -> RatioOfSums:
    """Share of queries with a click after which the user stayed on the document.

    A click whose time on the document is not known does not count.

    Formula: queries with a click of dwell_s ≥ dwell / queries

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("satisfied", shown(clicked(dwell_s=40.0)), shown(clicked(dwell_s=5.0)))
    0.5
    """
    return RatioOfSums(facts.any("click", ("dwell_s", dwell)), facts.one)


@metric(better="less")
def abandonment(facts: QueryFacts) -> RatioOfSums:
    """Share of queries with results of which none was clicked.

    A user who read the answer on the page of results abandons too: see good_abandonment.

    Formula: queries with results and no click / queries with results

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("abandonment", shown(n_results=9), shown(clicked(), n_results=9), shown(n_results=0))
    0.5
    """
    shown = facts.results > 0
    return RatioOfSums(shown & ~facts.any(), shown)


@metric(better="more")
def good_abandonment(facts: QueryFacts, *, within: float = 120) -> RatioOfSums:
    """Share of queries with results answered on the page: an answer shown, no click, no other query soon after.

    It needs the signal, a column `answer` of the impressions: that nobody clicked is no sign of success.

    Formula: queries with answer, no click, no other query within the time / queries with results
    Reference: Khabsa et al., "Learning to account for good abandonment in search success metrics", CIKM 2016.

    >>> from cranfield.online.hand_logs import metric_by_hand, shown
    >>> metric_by_hand("good_abandonment", shown(n_results=9, answer=True), shown(at=600, n_results=9, answer=False))
    0.5
    """
    shown = facts.results > 0
    answered = facts.column("answer").fill_null(False)
    return RatioOfSums(shown & answered & ~facts.any() & ~facts.reformulated(within), shown)


@metric(better="more")
def rr_first(facts: QueryFacts) -> RatioOfSums:
    """Mean reciprocal rank of the first click, by time; 0 without one.

    Formula: Σ 1 / rank of the first click / queries

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("rr_first", shown(clicked(4, after=3), clicked(1, after=9)), shown())
    0.125
    """
    return RatioOfSums((1.0 / facts.rank("first")).fill_null(0.0), facts.one)


@metric(better="more")
def rr_last(facts: QueryFacts) -> RatioOfSums:
    """Mean reciprocal rank of the last click, by time, where users often end; 0 without one.

    Formula: Σ 1 / rank of the last click / queries

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("rr_last", shown(clicked(4, after=3), clicked(1, after=9)), shown())
    0.5
    """
    return RatioOfSums((1.0 / facts.rank("last")).fill_null(0.0), facts.one)


@metric(better="less", per="click")
def rank_first(facts: QueryFacts) -> RatioOfSums:
    """Mean rank of the first click, over queries that have one: selected by the outcome, so look at ctr beside it.

    Formula: Σ rank of the first click / queries with a click

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("rank_first", shown(clicked(4)), shown(clicked(2)), shown())
    3.0
    """
    rank = facts.rank("first")
    return RatioOfSums(rank.fill_null(0), ~rank.is_null())


@metric(better="less")
def time_to_click(facts: QueryFacts, *, limit: float = 300) -> RatioOfSums:
    """Mean seconds to the first click, none counted beyond a limit; a query without a click counts as the limit.

    Such queries are censored: their share is told beside the mean. A mean over clicked queries alone would fall when
    only easy queries still get clicks.

    Formula: Σ min(seconds to the first click, limit) / queries

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("time_to_click", shown(clicked(after=20)), shown())
    160.0
    """
    return _restricted(facts, None, limit)


@metric(better="less")
def time_to_success(facts: QueryFacts, *, dwell: float = 30, limit: float = 300) -> RatioOfSums:
    """Mean seconds to the first satisfied click, none counted beyond a limit; a query without one counts as the limit.

    Formula: Σ min(seconds to the first click of dwell_s ≥ dwell, limit) / queries

    >>> from cranfield.online.hand_logs import clicked, metric_by_hand, shown
    >>> metric_by_hand("time_to_success", shown(clicked(after=20, dwell_s=5.0), clicked(after=50, dwell_s=90.0)))
    50.0
    """
    return _restricted(facts, dwell, limit)


def _restricted(facts: QueryFacts, dwell: float | None, limit: float) -> RatioOfSums:
    seconds = facts.seconds_to("click", None if dwell is None else ("dwell_s", dwell))
    known = seconds.fill_null(limit).clip(0.0, limit)
    return RatioOfSums(known, facts.one, censored=(seconds.is_null()) | (seconds > limit))


@metric(better="less")
def zero_results(facts: QueryFacts) -> RatioOfSums:
    """Share of queries that found nothing.

    Formula: queries without results / queries

    >>> from cranfield.online.hand_logs import metric_by_hand, shown
    >>> metric_by_hand("zero_results", shown(n_results=0), shown(n_results=9))
    0.5
    """
    return RatioOfSums(facts.results == 0, facts.one)


@metric(better="less")
def reformulation(facts: QueryFacts, *, within: float = 120) -> RatioOfSums:
    """Share of queries after which the same unit soon sent another, with another text where texts are known.

    How alike the two are is not looked at.

    Formula: queries followed by another within the time / queries

    >>> from cranfield.online.hand_logs import metric_by_hand, shown
    >>> lists = shown(query_text="pond"), shown(query_text="lake", at=30), shown(query_text="fish", at=900)
    >>> metric_by_hand("reformulation", *lists)
    0.3333333333333333
    """
    return RatioOfSums(facts.reformulated(within), facts.one)


@metric(better="neither", per="session")
def queries_per_session(facts: QueryFacts) -> RatioOfSums:
    """Queries a session. It rises when users find more to ask, and when they do not find what they asked for.

    Formula: queries / sessions

    >>> from cranfield.online.hand_logs import metric_by_hand, shown
    >>> metric_by_hand("queries_per_session", shown(session_id="s1"), shown(session_id="s1"), shown(session_id="s2"))
    1.5
    """
    return RatioOfSums(facts.one, facts.session)


@metric(better="more", per="unit")
def sessions_per_unit(facts: QueryFacts) -> RatioOfSums:
    """Sessions a unit: users who are content come back. It moves slowly, and needs many users.

    Formula: sessions / units, those without a query included if there is a table of assignments

    >>> from cranfield.online.hand_logs import metric_by_hand, shown
    >>> metric_by_hand("sessions_per_unit", shown(session_id="s1"), shown(session_id="s1"), shown(session_id="s2"))
    2.0
    """
    return RatioOfSums(facts.session, facts.one, per_unit=True)


@metric(better="neither", per="unit")
def queries_per_unit(facts: QueryFacts) -> RatioOfSums:
    """Queries a unit, which may rise for good reasons and bad ones.

    Formula: queries / units

    >>> from cranfield.online.hand_logs import metric_by_hand, shown
    >>> metric_by_hand("queries_per_unit", shown(), shown(), shown())
    3.0
    """
    return RatioOfSums(facts.one, facts.one, per_unit=True)


@metric(better="more", per="unit")
def value_per_unit(facts: QueryFacts) -> RatioOfSums:
    """Value a unit, as revenue: the sum of the events' column `value`.

    Formula: Σ value / units

    >>> from cranfield.online.hand_logs import did, metric_by_hand, shown
    >>> metric_by_hand("value_per_unit", shown(did("purchase", value=20.0)), shown(did("purchase", value=5.0)))
    25.0
    """
    return RatioOfSums(facts.total("value"), facts.one, per_unit=True)


@metric(better="more")
def value_per_query(facts: QueryFacts) -> RatioOfSums:
    """Value a query, as revenue: the sum of the events' column `value`.

    Formula: Σ value / queries

    >>> from cranfield.online.hand_logs import did, metric_by_hand, shown
    >>> metric_by_hand("value_per_query", shown(did("purchase", value=20.0)), shown())
    10.0
    """
    return RatioOfSums(facts.total("value"), facts.one)


@metric(better="more")
def action_per_query(facts: QueryFacts, *, action: str = "purchase") -> RatioOfSums:
    """Share of queries after which there is an event of an action, such as a purchase.

    Formula: queries with such an event / queries

    >>> from cranfield.online.hand_logs import did, metric_by_hand, shown
    >>> metric_by_hand("action_per_query", shown(did("purchase")), shown(), shown(did("cart")), shown())
    0.25
    """
    return RatioOfSums(facts.any(action), facts.one)


@metric(better="less")
def latency(facts: QueryFacts) -> RatioOfSums:
    """Mean time in milliseconds that a query took, over queries of which it is known.

    Formula: Σ latency_ms / queries with latency_ms

    >>> from cranfield.online.hand_logs import metric_by_hand, shown
    >>> metric_by_hand("latency", shown(latency_ms=120.0), shown(latency_ms=80.0), shown())
    100.0
    """
    taken = facts.column("latency_ms")
    return RatioOfSums(taken.fill_null(0), ~taken.is_null())


@metric(better="less", is_quantile=True)
def latency_quantile(facts: QueryFacts, *, q: float = 0.95) -> RatioOfSums:
    """Milliseconds within which this share of queries was answered, over queries of which it is known: the slow ones
    that a mean hides. Its interval is by unit, as all are. It can be a guardrail or secondary.

    Formula: the quantile q of latency_ms, between neighbours by straight line
    Reference: Deng, Knoblich and Lu, "Applying the delta method in metric analytics", 2018.

    >>> from cranfield.online.hand_logs import metric_by_hand, shown
    >>> lists = shown(latency_ms=80.0), shown(latency_ms=90.0), shown(latency_ms=400.0)
    >>> metric_by_hand("latency_quantile(q=0.5)", *lists)
    90.0
    """
    taken = facts.column("latency_ms")
    return RatioOfSums(taken, ~taken.is_null(), quantile=q)
