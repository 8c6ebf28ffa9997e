"""Logs to click models to judgements: what is read, how well it fits, how sure it is, and what evaluate makes of it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import cranfield
from cranfield.errors import DataError, UsageError
from cranfield.judged import Floats
from cranfield.online.clicks import (
    ClickFit,
    Fitting,
    Impression,
    Prior,
    click_log,
    evaluate_drawn,
    fit_clicks,
    judge_clicks,
    read_clicks,
)
from cranfield.online.clicks.click_judgements import DrawnScores
from cranfield.online.clicks.click_tables import details_text, render_fit
from cranfield.online.clicks.fitting import held_out_pages
from cranfield.online.page_views import read_page_views
from cranfield.policy import Policy


def lines(*entries: dict[str, object]) -> io.StringIO:
    return io.StringIO("\n".join(map(json.dumps, entries)))


def page(query: str = "cats", docs: tuple[str, ...] = ("a", "b"), **more: object) -> dict[str, object]:
    return {"query_text": query, "docs": list(docs), **more}


def users(count: int, seed: int = 0, spread: float = 0.0) -> list[Impression]:
    """Users with five pages each; `spread` is how much they differ in how often they click."""
    rng = np.random.default_rng(seed)
    pages = []
    for user in range(count):
        taste = rng.normal(0, spread)
        for _ in range(5):
            chance = 1 / (1 + np.exp(-(taste + np.array([0.5, -0.5]))))
            clicks = [name for name, hit in zip("ab", rng.random(2) < chance, strict=True) if hit]
            pages.append(Impression("q", ["a", "b"], clicks, f"u{user}"))
    return pages


# -- reading --


def test_clicks_with_pages_and_as_events_are_the_same() -> None:
    inline = read_clicks(lines(page(clicks=["b"], user_id="u"), page(user_id="v")))
    events = read_clicks(
        lines({"query_id": "1", "action": "click", "doc_id": "b"}, {"query_id": "1", "action": "hover", "doc_id": "a"}),
        lines(page(query_id="1", user_id="u"), page(query_id=2, user_id="v")),
    )
    by_rank = read_clicks(lines(page(query_id="1"), page(), {"query_id": "1", "action": "click", "rank": 2}))
    assert inline.clicked.tolist() == events.clicked.tolist() == by_rank.clicked.tolist() == [False, True, False, False]
    assert (inline.units, by_rank.units) == ("user", "page")


def test_what_is_odd_is_counted_and_named() -> None:
    log = read_clicks(
        lines(
            page(query_id="1", clicks=["x"], session_id="s"),
            page(query_id="1", session_id="s"),
            page(docs=(), session_id="s"),
            page(docs=("a", "a"), clicks=["a"], session_id="s"),
            {"query_id": "9", "action": "click", "doc_id": "a"},
            {"query_id": "1", "action": "click", "rank": 3},
        )
    )
    told = {warning.code: warning.message for warning in log.warnings}
    assert told == {
        "impressions-again": "1 impression with a query_id that was there before, left out: 1",
        "clicks-without-page": "1 click on pages that are not in the log, not counted: 9",
        "empty-pages": "1 page without documents, left out: cats",
        "not-shown": "2 clicks on documents not shown on the page, not counted: x (cats), rank 3 (cats)",
        "shown-twice": "1 page of 2 with a document twice, where a click counts for the higher place: cats",
    }
    assert log.clicked.tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"query_text": "a"}, "neither an impression"),
        ({"docs": ["a"]}, "an impression without a query"),
        ({"query_text": "a", "docs": "b"}, "docs must be a list of ids"),
        ({"query_text": "a", "docs": [1.5]}, "docs must be a list of ids"),
        ({"query_text": "a", "docs": ["b"], "clicks": 1}, "clicks must be a list"),
        ({"query_text": "a", "docs": ["b"], "clicks": [True]}, "True is no id"),
        ({"query_text": "a", "docs": ["b"], "clicks": [{}]}, "a click without doc_id"),
        ({"query_text": "a", "docs": ["b"], "ts": "noon"}, "ts must be a number of seconds or an ISO 8601 time"),
        ({"query_text": "a", "docs": ["b"], "user_id": [1]}, "user_id must be text"),
    ],
)
def test_bad_lines_are_named(entry: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message) as told:
        read_page_views(lines(page(), entry))
    assert told.value.line == 2


def test_a_click_needs_a_document_or_a_rank() -> None:
    with pytest.raises(DataError, match="doc_id, or the rank"):
        read_page_views(lines(page(query_id="1"), {"query_id": "1", "action": "click", "rank": 0}))
    with pytest.raises(DataError, match="has no impressions"):
        read_page_views(lines({"query_id": "1", "action": "click", "rank": 1}))
    with pytest.raises(DataError, match="no page with documents"):
        read_clicks(lines(page(docs=())))


def test_times_are_seconds_or_iso() -> None:
    views = read_page_views(lines(page(ts=5), page(ts="1970-01-01T00:00:05"), page(ts="1970-01-01T01:00:05+01:00")))
    assert [view.time for view in views.views] == [5.0, 5.0, 5.0]


def test_pages_of_a_topic_go_together() -> None:
    log = read_clicks(lines(page("cats", topic="7"), page("a cat", topic="7"), page("dogs", topic="8")))
    assert log.queries == ("7", "8")


# -- fits --


def test_held_out_are_whole_users() -> None:
    log = click_log(users(20))
    tested = held_out_pages(log, Fitting(held_out=0.25, seed=3))
    assert tested.sum() == 25
    assert not set(log.unit[tested]) & set(log.unit[~tested])
    assert (held_out_pages(log, Fitting(held_out=0.25, seed=4)) != tested).any()
    assert (held_out_pages(log, Fitting(held_out=0.25, seed=3)) == tested).all()


def test_quality_is_that_of_other_users() -> None:
    """By hand: the closed form of the cascade fitted to the users kept, on the pages of those held out."""
    log = click_log([Impression("q", ["a"], ["a"] if n % 3 else [], f"u{n}") for n in range(20)])
    how = Fitting(prior=Prior(0, 0), held_out=0.3, resamples=0)
    fit = fit_clicks(log, "CM", how)
    tested = held_out_pages(log, how)
    chance = log.clicked[~tested].mean()
    told = np.where(log.clicked[tested], np.log(chance), np.log(1 - chance)).mean()
    assert fit.quality.log_likelihood == pytest.approx(told, abs=1e-12)
    assert fit.behaviour.attraction[0] == pytest.approx(log.clicked.mean())
    assert fit.is_held_out
    assert fit.quality.pages == int(tested.sum())


def test_standard_errors_know_of_users() -> None:
    """Where users differ, pages of one are alike: resamples of users spread wider than counts say."""
    errors = {}
    for spread in (0.0, 2.5):
        log = click_log(users(150, spread=spread))
        counted = fit_clicks(log, "CM", Fitting(resamples=0)).error[0]
        resampled = fit_clicks(log, "CM", Fitting(resamples=200)).error[0]
        errors[spread] = resampled / counted
    assert errors[0.0] < 1.25
    assert errors[2.5] > 1.5


def test_errors_of_counts_are_those_of_beta() -> None:
    log = click_log([Impression("q", ["a"], ["a"] if n < 3 else [], f"u{n}") for n in range(10)])
    fit = fit_clicks(log, "CM", Fitting(resamples=0))
    # the posterior under Beta(2, 2) is Beta(5, 9)
    assert fit.error[0] == pytest.approx(np.sqrt(5 * 9 / (14**2 * 15)), abs=1e-12)


def test_intervals_cover_what_is_true() -> None:
    rng, covered = np.random.default_rng(5), 0
    for seed in range(60):
        truth = rng.uniform(0.1, 0.9)
        pages = [Impression("q", ["a"], ["a"] if rng.random() < truth else [], f"u{n}") for n in range(60)]
        fit = fit_clicks(click_log(pages), "CM", Fitting(resamples=30, seed=seed))
        (row,) = judge_clicks(fit).rows()
        covered += row.low <= truth <= row.high
    assert covered >= 52  # of 60; 57 expected


def test_doubts_are_told() -> None:
    one = fit_clicks(click_log([Impression("q", ["a", "b"], ["a", "b"], "u")]), "CM")
    codes = {warning.code for warning in one.warnings}
    assert {"not-held-out", "impossible-pages", "few-users"} <= codes
    assert not one.is_held_out
    assert one.quality.log_likelihood == -np.inf
    silent = fit_clicks(click_log([Impression("q", ["a"], [], f"u{n}") for n in range(40)]), "DBN")
    assert [warning.code for warning in silent.warnings] == ["no-clicks"]
    stopped = fit_clicks(click_log(users(40)), "DBN", Fitting(most=1, resamples=0))
    assert "not-converged" in {warning.code for warning in stopped.warnings}


@pytest.mark.parametrize(
    "wrong", [Fitting(prior=Prior(-1, 1)), Fitting(held_out=1.0), Fitting(resamples=1), Fitting(prior=Prior(np.nan, 1))]
)
def test_fits_that_cannot_be(wrong: Fitting) -> None:
    with pytest.raises(UsageError):
        fit_clicks(click_log(users(3)), "CM", wrong)


# -- judgements --


def fitted() -> ClickFit:
    return fit_clicks(click_log(users(60)), "SDBN", Fitting(resamples=20))


def test_relevance_is_attraction_times_satisfaction() -> None:
    fit = fitted()
    assert fit.relevance == pytest.approx(fit.behaviour.attraction * fit.behaviour.satisfaction)
    pbm = fit_clicks(fit.log, "PBM", Fitting(resamples=0))
    assert np.array_equal(pbm.relevance, pbm.behaviour.attraction)


def test_grades_begin_at_their_thresholds() -> None:
    fit = fitted()
    exact = tuple(sorted(fit.relevance.tolist()))
    assert sorted(judge_clicks(fit, grades=exact).qrels().of("q").values()) == [1.0, 2.0]
    assert set(judge_clicks(fit, grades=[1.0]).qrels().of("q").values()) == {0.0}
    for wrong in ([0.5, 0.2], [0.5, 0.5], [-0.1], [1.5]):
        with pytest.raises(UsageError, match="grades begin at rising numbers"):
            judge_clicks(fit, grades=wrong)


def test_queries_are_called_as_topics_are() -> None:
    judged = judge_clicks(fitted(), topics={"q": "301"})
    assert list(judged.qrels().to_dict()) == ["301"]
    with pytest.raises(DataError, match="no document of a query that is asked for"):
        judge_clicks(fitted(), topics={"other": "301"})


def test_seldom_examined_documents_are_left_unjudged() -> None:
    pages = [*users(60), Impression("q", ["rare"], [], "u1")]
    fit = fit_clicks(click_log(pages), "SDBN", Fitting(resamples=0))
    assert set(judge_clicks(fit).qrels().of("q")) == {"a", "b", "rare"}
    assert set(judge_clicks(fit, least_examined=2).qrels().of("q")) == {"a", "b"}
    below = Impression("q", ["a", "never"], ["a"], "u1")  # below the last click: nobody is taken to have looked
    hardly = judge_clicks(fit_clicks(click_log([*pages, below]), "SDBN", Fitting(resamples=0)))
    assert "never" not in hardly.qrels().of("q")
    assert [str(w) for w in hardly.warnings] == [
        "pages: 1 document of 4 examined less than 1 times, as far as can be told: left unjudged"
    ]
    assert judge_clicks(fit).warnings == ()
    rare = next(row for row in judge_clicks(fit).rows() if row.document == "rare")
    assert rare.high - rare.low > 0.4


def test_draws_have_the_mean_and_the_error() -> None:
    judged = judge_clicks(fitted())
    rng = np.random.default_rng(0)
    drawn = np.array([[judged.draw(rng).of("q")[name] for name in "ab"] for _ in range(3000)])
    places = [judged.fit.log.documents.index(name) for name in "ab"]
    assert drawn.mean(axis=0) == pytest.approx(judged.fit.relevance[places], abs=0.005)
    assert drawn.std(axis=0) == pytest.approx(judged.fit.error[places], rel=0.06)


def test_what_is_uncertain_is_uncertain_in_scores() -> None:
    runs = {"one": {"q": {"a": 2.0, "b": 1.0}}, "other": {"q": {"b": 2.0, "a": 1.0}}}
    few = evaluate_drawn(
        judge_clicks(fit_clicks(click_log(users(4)), "CM", Fitting(resamples=20))), runs, "nDCG@10", draws=100
    )
    many = evaluate_drawn(
        judge_clicks(fit_clicks(click_log(users(400)), "CM", Fitting(resamples=20))), runs, "nDCG@10", draws=100
    )
    assert ((few.high - few.low) > 2 * (many.high - many.low)).all()
    assert many.ahead[0, 0, 1] == 1.0 > few.ahead[0, 0, 1] > 0.5
    assert many.ahead[0, 0, 1] + many.ahead[0, 1, 0] == 1.0
    with pytest.raises(UsageError, match="two draws"):
        evaluate_drawn(judge_clicks(fitted()), runs, "AP", draws=1)


def cascade_pages(relevance: Floats, users: int, seed: int) -> list[Impression]:
    """Users of the cascade model: each sees every query once, in an order drawn anew."""
    rng = np.random.default_rng(seed)
    pages = []
    for user in range(users):
        for query, chances in enumerate(relevance):
            order = rng.permutation(len(chances))
            clicked = [f"d{doc}" for doc in order if rng.random() < chances[doc]][:1]
            pages.append(Impression(f"q{query}", [f"d{doc}" for doc in order], clicked, f"u{user}"))
    return pages


@pytest.fixture(scope="module")
def drawn_of_logs() -> list[DrawnScores]:
    """The same run under grades from 40 logs of other users, few of them: noise is cut into grades."""
    rng = np.random.default_rng(5)
    relevance = rng.choice([0.1, 0.3, 0.7], size=(40, 6), p=[0.5, 0.3, 0.2])
    run = {
        f"q{q}": {f"d{d}": float(chances[d] + rng.normal(0, 0.3)) for d in range(6)}
        for q, chances in enumerate(relevance)
    }
    found = []
    for seed in range(40):
        fit = fit_clicks(click_log(cascade_pages(relevance, 12, seed)), "CM", Fitting(resamples=20, held_out=0))
        graded = judge_clicks(fit, grades=[0.2, 0.5])
        found.append(evaluate_drawn(graded, {"r": run}, "nDCG@5", draws=40, seed=seed))
    return found


def test_intervals_hold_what_as_many_clicks_score_on_average(drawn_of_logs: list[DrawnScores]) -> None:
    average = np.mean([drawn.judged[0, 0] for drawn in drawn_of_logs])
    spread = np.std([drawn.judged[0, 0] for drawn in drawn_of_logs], ddof=1)
    covered = np.mean([drawn.low[0, 0] <= average <= drawn.high[0, 0] for drawn in drawn_of_logs])
    assert covered >= 0.9
    assert np.mean([drawn.error[0, 0] for drawn in drawn_of_logs]) == pytest.approx(spread, rel=0.3)
    for drawn in drawn_of_logs:
        assert drawn.low[0, 0] <= drawn.judged[0, 0] <= drawn.high[0, 0] <= 1


def test_where_draws_lie_is_no_such_interval_and_told(drawn_of_logs: list[DrawnScores]) -> None:
    """Draws have the noise of judgements twice: most of their intervals leave out the score itself."""
    ends = [np.quantile(drawn.scores[:, 0, 0], [0.025, 0.975]) for drawn in drawn_of_logs]
    outside = [not low <= drawn.judged[0, 0] <= high for drawn, (low, high) in zip(drawn_of_logs, ends, strict=True)]
    assert np.mean(outside) > 0.5
    drawn = drawn_of_logs[0]
    assert drawn.shift[0, 0] == pytest.approx(drawn.scores.mean() - drawn.judged[0, 0])
    assert drawn.shift[0, 0] < -0.01
    told = " ".join(str(drawn).split())
    assert "95 % interval of what it scores on average with as many clicks of other users, by the spread of 40" in told
    assert f"draws, which have it twice, are off by {drawn.shift[0, 0]:+z.4f} (r)" in told


def test_evaluate_takes_the_judgements() -> None:
    judged = judge_clicks(fitted())
    chances = judged.qrels().of("q")
    results = cranfield.evaluate(judged.qrels(), {"q": {"a": 1.0}}, "P@1", policy=Policy(grades="probabilities"))
    assert results.scores[0, 0, 0] == pytest.approx(chances["a"])


def test_details_have_every_judgement() -> None:
    judged = judge_clicks(fitted(), grades=[0.2])
    rows = list(csv.DictReader(io.StringIO(details_text(judged, ","))))
    assert [row["document"] for row in rows] == ["a", "b"]
    for row in rows:
        assert float(row["low"]) <= float(row["relevance"]) <= float(row["high"])
        assert float(row["relevance"]) == pytest.approx(float(row["attraction"]) * float(row["satisfaction"]))
        assert float(row["grade"]) == (float(row["relevance"]) >= 0.2)
        assert int(row["shown"]) == 300
    pbm = judge_clicks(fit_clicks(judged.fit.log, "PBM", Fitting(resamples=0)))
    assert next(csv.DictReader(io.StringIO(details_text(pbm, ","))))["satisfaction"] == ""


# -- what is told --


def test_what_is_printed_is_what_was_found() -> None:
    fit = fitted()
    text = str(fit)
    assert f"{fit.quality.log_likelihood:.4f}, on 60 pages of users held out" in text
    assert "SDBN, simplified dynamic Bayesian network: 300 pages of 60 users, closed form" in text
    assert "prior of 1 times yes and 1 times no" in text
    assert "the pages fitted" in str(fit_clicks(fit.log, "SDBN", Fitting(held_out=0, resamples=0)))
    dbn = fit_clicks(fit.log, "DBN", Fitting(resamples=10))
    assert f"(gamma): {dbn.behaviour.onward:.4f}, standard error {dbn.shared_error[0]:.4f}" in str(dbn)
    assert "standard error" not in str(fit_clicks(fit.log, "DBN(gamma=0.5)", Fitting(resamples=10)))
    assert "not converged" in str(fit_clicks(fit.log, "DBN", Fitting(most=1, resamples=0)))


def test_forms_hold_the_same_numbers(tmp_path: Path) -> None:
    fit = fit_clicks(click_log(users(60)), "PBM", Fitting(resamples=10))
    document = json.loads(render_fit(fit, "json"))
    assert document["fit"]["conditional_perplexity"] == fit.quality.conditional.tolist()
    assert document["examination"] == fit.shared.tolist()
    assert (document["users"], document["queries"], document["converged"]) == (60, 1, True)
    rows = list(csv.DictReader(io.StringIO(render_fit(fit, "csv"))))
    assert [float(row["examination"]) for row in rows] == fit.shared.tolist()
    assert [int(row["pages"]) for row in rows] == fit.quality.pages_at.tolist()
