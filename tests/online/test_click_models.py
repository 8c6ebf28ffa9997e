"""Click models: chances by hand and by enumeration, steps that never fall, parameters found again, any threads."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from cranfield import _core
from cranfield.errors import UsageError
from cranfield.online.clicks.click_models import (
    CLICK_MODELS,
    Behaviour,
    ClickTraining,
    Convergence,
    Prior,
    arrays,
    find_click_model,
)
from cranfield.online.clicks.fit_measures import FittedPages, fit_quality
from cranfield.online.clicks.impressions import ClickLog, Impression, click_log

Floats = NDArray[np.float64]
ATTRACTION, SATISFACTION = np.array([0.5, 0.4, 0.3]), np.array([0.6, 0.5, 0.4])
NO_PRIOR = Prior(0, 0)


def one_page(clicks: str = "") -> ClickLog:
    return click_log([Impression("q", ["a", "b", "c"], list(clicks), "u")])


def chain(satisfaction: Floats, onward: float = 1.0, *, by_rank: bool = False) -> Behaviour:
    return Behaviour(ATTRACTION, satisfaction, np.ones(3), Convergence(), onward, by_rank)


def simulated(pages: int, seed: int, onward: float = 0.85) -> tuple[ClickLog, Floats, Floats]:
    """Pages of users who behave as DBN says, and the attraction and satisfaction of each pair."""
    rng = np.random.default_rng(seed)
    attraction, satisfaction = rng.uniform(0.2, 0.8, (3, 6)), rng.uniform(0.2, 0.9, (3, 6))
    rows = []
    for number in range(pages):
        query, order, clicks = int(rng.integers(3)), rng.permutation(6), []
        for document in order.tolist():
            if rng.random() < attraction[query, document]:
                clicks.append(str(document))
                if rng.random() < satisfaction[query, document]:
                    break
            if rng.random() > onward:
                break
        rows.append(Impression(str(query), list(map(str, order.tolist())), clicks, f"u{number // 4}"))
    log = click_log(rows)
    places = [(int(log.queries[q]), int(d)) for q, d in zip(log.query_of_pair, log.documents, strict=True)]
    one, other = (np.array([table[place] for place in places]) for table in (attraction, satisfaction))
    return log, one, other


def random_log(seed: int, pages: int = 40) -> ClickLog:
    """Pages of any length, clicked at random, some documents twice on a page."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(pages):
        documents = [f"d{d}" for d in rng.integers(5, size=int(rng.integers(1, 6)))]
        clicks = [document for document in documents if rng.random() < 0.4]
        rows.append(Impression(f"q{rng.integers(3)}", documents, clicks, f"u{number % 7}"))
    return click_log(rows)


# -- the reference values of the literature --


def test_position_based_model_by_hand() -> None:
    user = Behaviour(ATTRACTION, np.zeros(3), np.ones(3), Convergence(), examination=np.array([1, 0.6, 0.4]))
    for chances in user.chances(one_page("a")):
        assert chances == pytest.approx([0.5, 0.24, 0.12], abs=1e-12)


def test_cascade_by_hand() -> None:
    conditional, alone = chain(np.ones(3)).chances(one_page())
    assert alone == pytest.approx([0.5, 0.2, 0.09], abs=1e-12)
    assert np.prod(1 - conditional) == pytest.approx(0.21, abs=1e-12)
    assert chain(np.ones(3)).chances(one_page("a"))[0] == pytest.approx([0.5, 0, 0])


def test_dynamic_bayesian_network_by_hand() -> None:
    user = chain(SATISFACTION, 0.9)
    assert user.chances(one_page())[1] == pytest.approx([0.5, 0.252, 0.13608], abs=1e-12)
    assert user.chances(one_page("a"))[0][1] == pytest.approx(0.144, abs=1e-12)
    conditional = user.chances(one_page())[0]
    assert conditional[1] == pytest.approx(0.36, abs=1e-12)
    assert conditional[2] / 0.3 == pytest.approx(0.759375, abs=1e-12)


def test_dependent_clicks_by_hand() -> None:
    user = chain(1 - np.array([0.7, 0.6, 0.5]), by_rank=True)
    assert user.chances(one_page())[1] == pytest.approx([0.5, 0.34, 0.2142], abs=1e-12)


@pytest.mark.parametrize(("gamma", "total", "reciprocal"), [(0.9, 0.480432, 0.381144), (1.0, 0.5072, 0.3924)])
def test_satisfied_users_of_the_network(gamma: float, total: float, reciprocal: float) -> None:
    """The chance to be satisfied at rank r, and the mean reciprocal of that rank: what ERR is a form of."""
    at_rank = chain(SATISFACTION, gamma).chances(one_page())[1] * SATISFACTION
    assert at_rank.sum() == pytest.approx(total, abs=1e-12)
    assert (at_rank / [1, 2, 3]).sum() == pytest.approx(reciprocal, abs=1e-12)


def test_err_of_the_reference() -> None:
    import cranfield

    qrels, run = {"q": {"a": 3, "b": 2, "c": 0}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    results = cranfield.evaluate(qrels, run, "ERR(max_grade=3)@3")
    assert results.scores[0, 0, 0] == pytest.approx(0.8984375, abs=1e-9)


def test_perplexity_and_log_likelihood_by_hand() -> None:
    chances = np.array([0.5, 0.2, 0.1] * 2)
    quality = fit_quality(FittedPages(np.array([0, 3, 6]), np.array([1, 0, 0, 0, 1, 0], dtype=bool), chances, chances))
    assert quality.conditional == pytest.approx([2.0, 2.5, 1.1111111111], abs=1e-9)
    assert quality.mean_conditional == pytest.approx(1.8703703704, abs=1e-9)
    assert quality.log_likelihood == pytest.approx((np.log([0.5, 0.8, 0.9, 0.5, 0.2, 0.9]).sum()) / 2, abs=1e-12)
    assert quality.log_likelihood == pytest.approx(-1.7147984, abs=1e-7)


# -- where others go wrong --


def test_a_short_page_is_no_perfect_rank() -> None:
    """Pages of one and of two results: rank 2 is measured on the page that has one, and there is no rank 3."""
    chances, clicked = np.array([0.5, 0.5, 0.2]), np.array([True, True, False])
    quality = fit_quality(FittedPages(np.array([0, 1, 3]), clicked, chances, chances))
    assert quality.pages_at.tolist() == [2, 1]
    assert quality.conditional == pytest.approx([2.0, 1.25])
    assert quality.mean_conditional == pytest.approx(1.625)


def test_log_likelihood_is_a_sum_over_ranks() -> None:
    chances = np.full(10, 0.5)
    quality = fit_quality(FittedPages(np.array([0, 10]), np.zeros(10, dtype=bool), chances, chances))
    assert quality.log_likelihood == pytest.approx(10 * np.log(0.5))


def test_every_page_of_a_session_has_its_own_clicks() -> None:
    """Whoever goes back to an earlier page and clicks there has clicked there."""
    pages = [Impression("q", ["a", "b"], ["b"], "u", "s"), Impression("r", ["c"], [], "u", "s")]
    log = click_log([*pages, Impression("q", ["a"], ["a"], "u", "s")])
    assert log.pages == 3
    assert log.clicked.tolist() == [False, True, True, False]


def test_a_page_without_a_chance_is_counted() -> None:
    quality = fit_quality(
        FittedPages(np.array([0, 2, 3]), np.array([True, True, True]), np.array([0.5, 0.0, 0.5]), np.full(3, 0.5))
    )
    assert quality.impossible == 1
    assert quality.log_likelihood == -np.inf
    assert quality.possible == pytest.approx(np.log(0.5))


# -- against enumeration of everything that a user may have done --


def paths(log: ClickLog, page: int, user: Behaviour) -> dict[str, float]:
    """Sums over every course of a page that gives its clicks: of its chance, and of that times what happened."""
    first, last = int(log.offsets[page]), int(log.offsets[page + 1])
    pairs, clicked, size = log.pair[first:last], log.clicked[first:last], last - first
    sums: dict[str, float] = {"chance": 0.0}
    for stop, satisfied in product(range(1, size + 1), (False, True)):  # examined ranks 1 … stop
        chance, told = 1.0, dict[str, float]()
        for rank in range(stop):
            pair, final = int(pairs[rank]), rank == stop - 1
            attraction = user.attraction[pair]
            satisfying = user.satisfaction[rank if user.by_rank else pair]
            told[f"examined {pair}"] = told.get(f"examined {pair}", 0) + 1
            if clicked[rank]:
                chance *= attraction * (satisfying if final and satisfied else 1 - satisfying)
                key = f"satisfied {rank if user.by_rank else pair}"
                told[key] = told.get(key, 0) + (final and satisfied)
            else:
                chance *= (1 - attraction) * (not (final and satisfied))
            if not (final and satisfied) and rank < size - 1:
                chance *= 1 - user.onward if final else user.onward
                told["choices"] = told.get("choices", 0) + 1
                told["onward"] = told.get("onward", 0) + (not final)
        if clicked[stop:].any():
            continue
        sums["chance"] += chance
        for name, value in told.items():
            sums[name] = sums.get(name, 0.0) + chance * value
    return sums


@pytest.mark.parametrize("by_rank", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_counts_are_those_of_enumeration(seed: int, by_rank: bool) -> None:
    log, rng = random_log(seed), np.random.default_rng(seed)
    size = log.ranks if by_rank else len(log.documents)
    user = Behaviour(
        rng.uniform(0.1, 0.9, len(log.documents)), rng.uniform(0.1, 0.9, size), np.ones(1), Convergence(), 0.7, by_rank
    )
    weight = rng.integers(0, 3, log.pages).astype(np.float64)
    examined, satisfied, onward, choices, likelihood = _core.chain_counts(
        *arrays(log, weight), user.attraction, user.satisfaction, by_rank, user.onward, 2
    )
    expected: dict[str, float] = {}
    logs = 0.0
    for page in range(log.pages):
        sums = paths(log, page, user)
        logs += weight[page] * np.log(sums["chance"])
        for name, value in sums.items():
            expected[name] = expected.get(name, 0.0) + weight[page] * value / sums["chance"]
    assert likelihood == pytest.approx(logs, abs=1e-9)
    assert onward == pytest.approx(expected.get("onward", 0.0), abs=1e-9)
    assert choices == pytest.approx(expected["choices"], abs=1e-9)
    assert examined == pytest.approx([expected.get(f"examined {pair}", 0) for pair in range(len(examined))], abs=1e-9)
    assert satisfied == pytest.approx([expected.get(f"satisfied {n}", 0) for n in range(size)], abs=1e-9)


def test_chances_given_above_multiply_to_the_likelihood() -> None:
    log, rng = random_log(9), np.random.default_rng(9)
    user = Behaviour(
        rng.uniform(0.1, 0.9, len(log.documents)),
        rng.uniform(0.1, 0.9, len(log.documents)),
        np.ones(1),
        Convergence(),
        0.8,
    )
    given_above, _ = user.chances(log)
    told = np.where(log.clicked, np.log(given_above), np.log1p(-given_above)).sum()
    weight = np.ones(log.pages)
    assert told == pytest.approx(
        _core.chain_counts(*arrays(log, weight), user.attraction, user.satisfaction, False, 0.8, 1)[4], abs=1e-9
    )


# -- fits --


@pytest.mark.parametrize("name", ["PBM", "DCM", "DBN", "DBN(gamma=0.8)"])
@pytest.mark.parametrize("prior", [NO_PRIOR, Prior(1, 1), Prior(0.5, 3)])
def test_the_objective_never_falls(name: str, prior: Prior) -> None:
    for seed in range(3):
        log = random_log(seed)
        fitted = find_click_model(name).function(ClickTraining(log, np.ones(log.pages), prior, tolerance=1e-10))
        rises = np.diff(fitted.convergence.objective)
        assert len(rises) > 1
        assert (rises >= -1e-9 * np.abs(fitted.convergence.objective[-1])).all()
        assert fitted.convergence.converged


@pytest.mark.parametrize("name", ["PBM", "DBN"])
def test_nothing_near_is_likelier(name: str) -> None:
    """Where the steps end, no parameter moved by a little raises the objective: the top of some hill."""
    log, prior = random_log(5, pages=120), Prior(1, 1)
    weight = np.ones(log.pages)
    fitted = find_click_model(name).function(ClickTraining(log, weight, prior, tolerance=1e-13, most=20000))

    def objective(user: Behaviour) -> float:
        given_above, _ = user.chances(log)
        told = np.where(log.clicked, np.log(given_above), np.log1p(-given_above)).sum() + prior.log_density(
            user.attraction
        )
        if user.examination is not None:
            return float(told) + prior.log_density(user.examination[1:])
        return float(told) + prior.log_density(user.satisfaction) + prior.log_density(np.array([user.onward]))

    top = objective(fitted)
    assert top == pytest.approx(fitted.convergence.objective[-1], abs=1e-8)
    for step in (-1e-4, 1e-4):
        for place in range(len(log.documents)):
            moved = fitted.attraction.copy()
            moved[place] += step
            assert objective(fitted._replace(attraction=moved)) < top + 1e-7
        if fitted.examination is None:
            assert objective(fitted._replace(onward=fitted.onward + step)) < top + 1e-7
        else:
            moved = fitted.examination.copy()
            moved[1] += step
            assert objective(fitted._replace(examination=moved)) < top + 1e-7


def test_parameters_are_found_again() -> None:
    log, attraction, satisfaction = simulated(30_000, seed=11)
    fitted = find_click_model("DBN").function(ClickTraining(log, np.ones(log.pages)))
    assert fitted.onward == pytest.approx(0.85, abs=0.015)
    assert np.abs(fitted.attraction - attraction).max() < 0.05
    assert np.abs(fitted.satisfaction - satisfaction).max() < 0.09


def test_positions_are_found_again() -> None:
    rng = np.random.default_rng(7)
    examination, attraction = np.array([1, 0.7, 0.5, 0.35]), rng.uniform(0.2, 0.8, 4)
    rows = []
    for number in range(30_000):
        order = rng.permutation(4)
        hit = rng.random(4) < examination * attraction[order]
        rows.append(Impression("q", list(map(str, order)), [str(d) for d in order[hit]], f"u{number}"))
    log = click_log(rows)
    fitted = find_click_model("PBM").function(ClickTraining(log, np.ones(log.pages)))
    assert fitted.examination == pytest.approx(examination, abs=0.03)
    assert fitted.attraction == pytest.approx(attraction[[int(d) for d in log.documents]], abs=0.03)


@pytest.mark.parametrize("model", CLICK_MODELS.all(), ids=str)
def test_threads_change_nothing(model: object) -> None:
    log, _, _ = simulated(3000, seed=3)
    many = click_log(
        Impression(f"{name}{part}", ["a", "b", "c"], ["b"] if part % 3 else ["a", "c"], "u")
        for name in log.queries
        for part in range(9000)
    )
    for each in (log, many):
        fits = [
            find_click_model(str(model)).function(ClickTraining(each, np.ones(each.pages), most=5, threads=threads))
            for threads in (1, 2, 5)
        ]
        for other in fits[1:]:
            assert np.array_equal(fits[0].attraction, other.attraction)
            assert np.array_equal(fits[0].satisfaction, other.satisfaction)
            assert fits[0].convergence == other.convergence


def test_simplified_network_counts_to_the_last_click() -> None:
    pages = [Impression("q", ["a", "b", "c"], ["a", "b"], "u1"), Impression("q", ["a", "b", "c"], [], "u2")]
    fitted = find_click_model("SDBN").function(ClickTraining(click_log(pages), np.ones(2), NO_PRIOR))
    assert fitted.attraction.tolist() == [0.5, 0.5, 0.0]
    assert fitted.satisfaction.tolist() == [0.0, 1.0, 0.5]  # nobody clicked c: nothing is known
    assert fitted.examined.tolist() == [2.0, 2.0, 1.0]


def test_the_closed_form_is_the_likeliest_if_last_clicks_satisfy() -> None:
    """Its own assumption: the likelihood of clicks where whoever clicked was satisfied by the last click."""
    from scipy.optimize import minimize

    log = random_log(2, pages=60)
    fitted = find_click_model("SDBN").function(ClickTraining(log, np.ones(log.pages), Prior(0.5, 0.5)))
    page = np.repeat(np.arange(log.pages), np.diff(log.offsets))
    last = log.last_click[page]
    seen = (last < 0) | (log.rank <= last)
    satisfied = log.clicked & (log.rank == last)

    def loss(x: Floats) -> float:
        attraction, satisfaction = 1 / (1 + np.exp(-x.reshape(2, -1)))
        told = np.where(log.clicked, np.log(attraction[log.pair]), np.log1p(-attraction[log.pair]))[seen].sum()
        of_click = np.where(satisfied, np.log(satisfaction[log.pair]), np.log1p(-satisfaction[log.pair]))
        told += of_click[log.clicked].sum()
        return -float(told) - sum(Prior(0.5, 0.5).log_density(x) for x in (attraction, satisfaction))

    found = minimize(loss, np.zeros(2 * len(log.documents)), method="BFGS", options={"gtol": 1e-6})
    best = 1 / (1 + np.exp(-found.x.reshape(2, -1)))
    assert fitted.attraction == pytest.approx(best[0], abs=1e-4)
    assert fitted.satisfaction == pytest.approx(best[1], abs=1e-4)


def test_the_closed_form_is_not_the_likeliest_under_gamma_1() -> None:
    """Users of that model may reach the end of the page unsatisfied, which the closed form leaves out."""
    log = random_log(1, pages=200)
    training = ClickTraining(log, np.ones(log.pages), NO_PRIOR, tolerance=1e-12, most=20000)

    def likelihood(name: str) -> float:
        user = find_click_model(name).function(training)
        return float(
            _core.chain_counts(*arrays(log, training.weight), user.attraction, user.satisfaction, False, 1.0, 1)[4]
        )

    assert likelihood("DBN(gamma=1)") > likelihood("SDBN") + 0.1


def test_cascade_counts_to_the_first_click() -> None:
    pages = [Impression("q", ["a", "b", "c"], ["b", "c"], "u1"), Impression("q", ["a", "b", "c"], [], "u2")]
    fitted = find_click_model("cascade").function(ClickTraining(click_log(pages), np.ones(2), NO_PRIOR))
    assert fitted.attraction.tolist() == [0.0, 0.5, 0.0]
    assert fitted.examined.tolist() == [2.0, 2.0, 1.0]


def test_a_weight_counts_as_so_many_pages() -> None:
    page, other = Impression("q", ["a", "b"], ["b"], "u1"), Impression("q", ["b", "a"], ["a"], "u2")
    for model in CLICK_MODELS.all():
        twice = model.function(ClickTraining(click_log([page, page, other]), np.ones(3)))
        weighed = model.function(ClickTraining(click_log([page, other]), np.array([2.0, 1.0])))
        # tolerance is a page's: both see three pages
        assert twice.attraction == pytest.approx(weighed.attraction, abs=1e-9), model.name


def test_steps_that_do_not_suffice_are_told() -> None:
    log = random_log(0)
    fitted = find_click_model("DBN").function(ClickTraining(log, np.ones(log.pages), most=2))
    assert not fitted.convergence.converged
    assert fitted.convergence.steps == 2


@pytest.mark.parametrize("model", CLICK_MODELS.all(), ids=str)
@pytest.mark.parametrize("clicks", [[], ["a", "b"]], ids=["none", "all"])
@pytest.mark.parametrize("prior", [NO_PRIOR, Prior(1, 1)], ids=["without", "with"])
def test_nothing_and_everything_clicked(model: object, clicks: list[str], prior: Prior) -> None:
    log = click_log([Impression("q", ["a", "b"], clicks, f"u{number}") for number in range(3)])
    fitted = find_click_model(str(model)).function(ClickTraining(log, np.ones(3), prior))
    for values in (fitted.attraction, fitted.satisfaction):
        assert np.isfinite(values).all()
        assert ((values >= 0) & (values <= 1)).all()
    assert fitted.convergence.converged


def test_what_the_core_is_given_is_looked_at() -> None:
    log = one_page()
    offsets, pair, clicked, weight, query_pages, query_pairs = arrays(log, np.ones(1))
    one = np.full(3, 0.5)

    def counted(offsets: object, pair: object, query_pairs: object) -> None:
        _core.position_counts(offsets, pair, clicked, weight, query_pages, query_pairs, one, one, 1)  # type: ignore[arg-type]

    counted(offsets, pair, query_pairs)
    for wrong in ((offsets + 1, pair, query_pairs), (offsets, pair + 1, query_pairs), (offsets, pair - 1, query_pairs)):
        with pytest.raises((UsageError, ValueError, RuntimeError)):
            counted(*wrong)
    with pytest.raises((UsageError, ValueError)):
        counted(offsets, pair, np.array([0, 9]))
    with pytest.raises(UsageError, match="a weight from 0"):
        arrays(log, np.array([-1.0]))


def test_a_model_that_there_is_not() -> None:
    with pytest.raises(UsageError, match="did you mean DBN"):
        find_click_model("DBNN")
    with pytest.raises(UsageError, match="gamma must be None or a number above 0, up to 1"):
        find_click_model("DBN(gamma=2)")
