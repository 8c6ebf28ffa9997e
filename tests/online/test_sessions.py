"""Sessions: measures by hand, by other formulas and at their edges; systems compared; gain by and by."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from itertools import permutations
from math import log, log2

import numpy as np
import pytest

from cranfield.comparison.question import Question
from cranfield.errors import DataError, UsageError
from cranfield.evaluation.findings import Finding
from cranfield.online.sessions import (
    Sessions,
    UserSession,
    all_session_measures,
    compare_sessions,
    gain_curve,
    parse_session_measure,
    read_sessions,
    score_sessions,
)
from cranfield.online.sessions.session_measures import score_session
from cranfield.online.sessions.session_tables import render_sessions
from cranfield.online.sessions.session_words import UnitWords
from cranfield.render.document import Title
from cranfield.render.grid import Grid
from cranfield.statistics.independent import welch
from cranfield.statistics.significance import Sampling


def session(
    *gains: Sequence[float],
    documents: Sequence[Sequence[str]] | None = None,
    pool: Sequence[float] | None = None,
    name: str = "s",
    system: str = "a",
    user: str | None = None,
) -> UserSession:
    names = iter(range(10_000))
    shown = documents or [[f"d{next(names)}" for _ in page] for page in gains]
    pages = tuple(tuple(map(float, page)) for page in gains)
    known = sorted((gain for page in pages for gain in page if gain), reverse=True) if pool is None else pool
    return UserSession(
        name, system, user, tuple(map(tuple, shown)), pages, tuple(map(float, known)), len(gains), 0, (), None
    )


def score(measure: str, of: UserSession) -> float:
    return score_session(parse_session_measure(measure), of)


EXAMPLE = session((3, 0, 2), (0, 3, 1))


def test_the_three_conventions_by_hand() -> None:
    assert score("sDCG_Jarvelin", EXAMPLE) == pytest.approx(6.682479343, abs=1e-9)
    assert score("sDCG_jig", EXAMPLE) == pytest.approx(5.031607486, abs=1e-9)
    kanoulas = 7 + 3 / log2(4) + (7 / log2(3) + 1 / log2(4)) / (log(5) / log(4))
    assert score("sDCG_Kanoulas", EXAMPLE) == pytest.approx(kanoulas, abs=1e-12)
    assert kanoulas == pytest.approx(12.734858, abs=1e-5)


def test_session_rbp_by_hand() -> None:
    pages = session((1, 0, 1), (0, 1, 1))
    assert score("sRBP(p=0.8, balance=0.8)", pages) == pytest.approx(0.375217778, abs=1e-9)
    assert score("sRBP(p=0.8, balance=1)", pages) == pytest.approx(0.328, abs=1e-9)


def test_session_rbp_is_rbp_of_the_first_page() -> None:
    import cranfield

    rbp = cranfield.evaluate({"q": {"a": 1, "c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, "RBP(p=0.7)")
    assert score("sRBP(p=0.7, balance=1)", session((1, 0, 1), (1, 1))) == pytest.approx(rbp.scores[0, 0, 0])


def test_weights_of_session_rbp_are_one() -> None:
    endless = session(*[[1] * 60 for _ in range(60)])
    assert score("sRBP(p=0.6, balance=0.5)", endless) == pytest.approx(1, abs=1e-6)


def test_time_biased_gain_of_the_reference() -> None:
    import cranfield

    results = cranfield.evaluate(
        {"q": {"a": 1, "b": 0, "c": 1}},
        {"q": {"a": 3.0, "b": 2.0, "c": 1.0}},
        "TBG",
        lengths={"a": 500, "b": 500, "c": 500},
    )
    assert results.scores[0, 0, 0] == pytest.approx(0.947358678, abs=1e-9)


def test_documents_shown_again() -> None:
    again = session((2, 1), (2,), documents=[["a", "b"], ["a"]], pool=[2, 1])
    once = session((2, 1), (0,), documents=[["a", "b"], ["a"]], pool=[2, 1])
    for name in ("sDCG_Jarvelin", "sDCG_jig", "sDCG_Kanoulas", "sRBP"):
        assert score(f"{name}(repeats='once')", again) == score(f"{name}(repeats='again')", once), name
        assert score(f"{name}(repeats='again')", again) > score(f"{name}(repeats='once')", again), name
    assert score("sDCG_Jarvelin", again) > score("sDCG_Jarvelin", once)
    assert score("sDCG_Kanoulas", again) == score("sDCG_Kanoulas", once)


@pytest.mark.parametrize("name", ["Jarvelin", "jig", "Kanoulas"])
def test_the_ideal_is_the_best_of_all_orders(name: str) -> None:
    grades = (3, 2, 1, 1, 0)
    best = max(
        score(f"sDCG_{name}(repeats='once')", session(order[:3], order[3:], pool=grades[:4]))
        for order in permutations(grades)
    )
    for order in ((0, 1, 2, 3, 1), (3, 2, 1, 1, 0)):
        shown = session(order[:3], order[3:], pool=grades[:4])
        value = score(f"sDCG_{name}(repeats='once')", shown)
        assert score(f"nsDCG_{name}", shown) == pytest.approx(value / best)
        assert 0 < score(f"nsDCG_{name}", shown) <= 1


def test_the_ideal_by_pages_is_a_sorted_list() -> None:
    shown = session((0, 1, 2), (3,), pool=[3, 2, 1])
    sorted_list = session((3, 2, 1), (0,), pool=[3, 2, 1])
    wanted = score("sDCG_jig", shown) / score("sDCG_jig", sorted_list)
    assert score("nsDCG_jig(ideal='pages')", shown) == pytest.approx(wanted)
    assert score("nsDCG_jig(ideal='pages')", shown) != pytest.approx(score("nsDCG_jig", shown))


def test_nothing_relevant_and_nothing_shown() -> None:
    for empty in (session((0, 0)), session(()), session((), (), pool=[3])):
        for measure in all_session_measures():
            if measure.name.startswith(("s", "n", "Gain")):
                assert score_session(measure, empty) == 0


LOG = """\
{"query_id": "1", "session_id": "s1", "user_id": "u1", "topic": "7", "query_text": "cats", "docs": ["a","b"], "ts": 100}
{"query_id": "2", "session_id": "s1", "user_id": "u1", "topic": "7", "query_text": "cats", "docs": ["c"], "ts": 130}
{"query_id": "3", "session_id": "s1", "user_id": "u1", "topic": "7", "query_text": "kittens", "docs": ["d"], "ts": 170}
{"query_id": "1", "action": "click", "doc_id": "b", "ts": 110, "dwell_s": 15}
{"query_id": "3", "action": "click", "doc_id": "d", "ts": 175, "dwell_s": 20}
{"query_id": "3", "action": "click", "doc_id": "d", "ts": 180}
"""
QRELS = {"7": {"a": 0, "b": 2, "d": 1, "x": 3, "y": -1}}


def test_effort_is_counted() -> None:
    (read,) = read_sessions(io.StringIO(LOG), qrels=QRELS).sessions
    assert read.gains == ((0.0, 2.0), (0.0,), (1.0,))
    assert read.pool == (3.0, 2.0, 1.0)
    effort = {
        name: score(name, read) for name in ("Queries", "Pages", "Clicks", "DocumentsRead", "Seconds", "GainRead")
    }
    assert effort == {"Queries": 2, "Pages": 3, "Clicks": 3, "DocumentsRead": 2, "Seconds": 95, "GainRead": 3}
    assert all(parse_session_measure(name).better == "neither" for name in list(effort)[:5])


def test_pages_go_by_time() -> None:
    late, early = LOG.splitlines()[2], LOG.splitlines()[0]
    (read,) = read_sessions(io.StringIO(f"{late}\n{early}"), qrels=QRELS).sessions
    assert read.documents == (("a", "b"), ("d",))


def test_what_is_odd_is_told() -> None:
    lines = [
        '{"session_id": "s1", "query_text": "7", "docs": ["a"], "clicks": ["z"]}',
        '{"session_id": "s2", "query_text": "8", "docs": []}',
        '{"query_text": "7", "docs": ["a"]}',
    ]
    sessions = read_sessions(io.StringIO("\n".join(lines)), qrels=QRELS)
    told = {warning.code: warning.message for warning in sessions.warnings}
    assert told == {
        "unjudged-topics": "nothing is judged for 8: what is shown there gains nothing",
        "not-shown": "1 click on documents not shown on the page: z",
        "empty-sessions": "1 session that showed no document",
        "no-times": "2 of 2 pages without a time: their sessions last an unknown time",
        "no-session": "1 page without a session, left out",
    }
    results = score_sessions(sessions, ["Seconds", "Pages"])
    assert np.isnan(results.scores[0, 0]).all()
    assert "Seconds is not known for 2 of 2 scores" in [warning.message for warning in results.warnings]


def test_logs_that_cannot_be_scored() -> None:
    with pytest.raises(DataError, match="names no sessions"):
        read_sessions(io.StringIO('{"query_text": "7", "docs": ["a"]}'), qrels=QRELS)
    with pytest.raises(DataError, match="no page is about a topic that is judged, but about cats"):
        read_sessions(io.StringIO('{"session_id": "s", "query_text": "cats", "docs": ["a"]}'), qrels=QRELS)
    (one,) = read_sessions(io.StringIO(LOG), qrels=QRELS).sessions
    for wrong in ("sDCG", "sDCG_Jarvelin(b=1)", "sRBP(p=1)", "nsDCG_jig(ideal='worst')", "sDCG_jig(repeats='never')"):
        with pytest.raises(UsageError):
            score(wrong, one)
    sessions = Sessions((one,), "log")
    with pytest.raises(UsageError, match="sessions are scored by auto, session or user"):
        score_sessions(sessions, by="query")
    with pytest.raises(UsageError, match="no measure given"):
        score_sessions(sessions, [])
    with pytest.raises(UsageError, match="needs two systems"):
        compare_sessions(score_sessions(sessions, "Pages"))
    with pytest.raises(UsageError, match="does not name the users"):
        score_sessions(Sessions((session((1,)),), "log"), by="user")


def drawn(shared: bool, users: int = 12, seed: int = 0) -> Sessions:
    rng = np.random.default_rng(seed)
    made = []
    for number in range(users):
        for part in range(2):
            for place, system in enumerate(("old", "new")):
                if shared or number % 2 == place:
                    gains = rng.integers(0, 2 + place, 4).tolist()
                    made.append(
                        session(gains, name=f"s{number}-{part}", system=system, user=f"u{number}", pool=[3] * 4)
                    )
    return Sessions(tuple(made), "log")


def test_shared_sessions_are_compared_one_by_one() -> None:
    sessions = drawn(shared=True)
    results = score_sessions(sessions, "sDCG_jig")
    assert len(results.topics) == 24
    comparison = compare_sessions(results)
    pair = next(comparison.rows())
    assert (pair.system, pair.other) == ("old", "new")
    assert pair.difference == pytest.approx(np.mean(results.scores[0, 0] - results.scores[1, 0]))
    assert pair.decided_by != "welch"


def test_sessions_of_their_own_are_compared_by_user() -> None:
    sessions = drawn(shared=False)
    results = score_sessions(sessions, "sDCG_jig")
    assert results.topics == tuple(f"u{number}" for number in range(12))
    own = [score("sDCG_jig", each) for each in sessions.sessions if each.user == "u0"]
    assert results.scores[0, 0, 0] == pytest.approx(np.mean(own))
    assert np.isnan(results.scores[1, 0, 0])
    pair = next(compare_sessions(results).rows())
    assert pair.decided_by == "welch"
    expected = welch(results.scores[:, 0], np.array([[0, 1]]), Sampling()).p[0]
    assert pair.p["welch"] == pytest.approx(expected)
    by_session = score_sessions(sessions, "sDCG_jig", by="session")
    assert len(by_session.topics) == 24
    assert "sessions-of-users" in {warning.code for warning in by_session.warnings}
    assert "sessions-of-users" not in {warning.code for warning in results.warnings}
    named = compare_sessions(by_session, Question(tests=["mann-whitney"], baseline="old"))
    assert next(named.rows()).decided_by == "mann-whitney"


def test_a_measure_that_is_not_known_is_not_compared() -> None:
    comparison = compare_sessions(score_sessions(drawn(shared=True), ["sDCG_jig", "Seconds"]))
    assert [str(panel.measure) for panel in comparison.panels] == ["sDCG_jig"]
    assert "Seconds not compared: not known for two sessions of every system" in [
        w.message for w in comparison.warnings
    ]
    with pytest.raises(UsageError, match="Seconds: not known"):
        compare_sessions(score_sessions(drawn(shared=True), "Seconds"))


def test_some_sessions_shared_and_some_not() -> None:
    sessions = drawn(shared=True)
    with pytest.raises(UsageError, match="share some sessions and not others"):
        compare_sessions(score_sessions(Sessions(sessions.sessions[1:], "log"), "sDCG_jig", by="session"))


def test_gain_grows_with_what_is_read() -> None:
    sessions = read_sessions(io.StringIO(LOG), qrels=QRELS)
    curve = gain_curve(sessions, "seconds", points=19)
    assert [point.at for point in curve.points][::6] == pytest.approx([5, 35, 65, 95])
    assert [point.gain for point in curve.points] == [0] + [2] * 13 + [3] * 5
    pages = gain_curve(sessions, "pages")
    assert [(point.at, point.gain) for point in pages.points] == [(1, 2), (2, 2), (3, 3)]
    assert all(np.isnan(point.low) for point in pages.points)


def test_intervals_of_gain_are_those_of_t() -> None:
    from scipy import stats

    sessions = Sessions(tuple(session((gain,), (1,), name=f"s{gain}") for gain in range(5)), "log")
    point = gain_curve(sessions, "pages").points[0]
    low, high = stats.t.interval(0.95, 4, loc=2, scale=stats.sem([0, 1, 2, 3, 4]))
    assert (point.gain, point.low, point.high) == pytest.approx((2, low, high))


def test_a_session_that_has_ended_keeps_its_gain_and_repeats_gain_nothing() -> None:
    short = session((2,), name="short")
    long = session((1,), (1,), (0,), documents=[["a"], ["a"], ["b"]], name="long")
    assert [point.gain for point in gain_curve(Sessions((short, long), "log")).points] == [1.5, 1.5, 1.5]


def test_curves_that_cannot_be() -> None:
    sessions = Sessions((session((1,)),), "log")
    with pytest.raises(UsageError, match="over pages or seconds"):
        gain_curve(sessions, "queries")
    with pytest.raises(UsageError, match="no session has times"):
        gain_curve(sessions, "seconds")
    with pytest.raises(UsageError, match="1 point or more"):
        gain_curve(sessions, points=0)


def test_forms_hold_the_same_numbers() -> None:
    sessions = drawn(shared=True)
    results = score_sessions(sessions, ["sDCG_jig", "Pages"])
    comparison, curve = compare_sessions(results), gain_curve(sessions)
    document = json.loads(render_sessions(results, "session", "json", comparison, curve))
    assert document["systems"][0]["mean"] == results.mean()["old"]
    assert document["systems"][1]["sessions"]["s0-0"] == results.per_topic()["new"]["s0-0"]
    assert document["pairs"][0]["adjusted_p"] == next(comparison.rows()).adjusted_p
    assert document["curve"]["points"][0]["gain"] == curve.points[0].gain
    rows = list(csv.DictReader(io.StringIO(render_sessions(results, "session", "csv"))))
    assert len(rows) == 2 * 24 * 2
    assert float(rows[0]["score"]) == results.scores[0, 0, 0]
    points = list(csv.DictReader(io.StringIO(render_sessions(results, "session", "csv", None, curve))))
    assert [float(row["gain"]) for row in points] == [point.gain for point in curve.points]
    text = render_sessions(results, "session", "table", comparison, curve)
    assert "24 sessions" in text
    assert "topic" not in text.split("Gain over pages")[0]
    assert "Gain over pages" in text


def test_comparisons_speak_of_users_and_leave_names_alone() -> None:
    words = UnitWords("user", ["topics", "topic_model"])
    grid = Grid(["system", "topics won"], [["topic a", "1"]], caption="Of 2 topic")
    (title, told) = words.told([Title("Topic by topic, topic_model"), grid])
    assert title == Title("User by user, topic_model")
    assert isinstance(told, Grid)
    # a system that is called topics keeps its name, and so does every such word: better too few than a name that is not
    assert (list(told.header), told.caption) == (["system", "topics won"], "Of 2 user")
    assert told.rows == grid.rows
    of_logs = Finding("unjudged-topics", "topics.jsonl", "no topic")
    other = Finding("few", "topics", "2 topic are few")
    found = words.findings([of_logs, other, other._replace(source="topics.csv")], [of_logs])
    assert found == (of_logs, Finding("few", "users", "2 user are few"), Finding("few", "topics.csv", "2 user are few"))
