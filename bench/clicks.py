"""Times click models in one process: `python bench/clicks.py [PAGES]`

Pages of ten results, clicked by users who behave as DBN says. Beside our core stands the same expectation and
maximisation in plain NumPy, a page a row; both take the same steps, and what they end with is compared.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

from cranfield.online.clicks.click_models import ClickTraining, Prior, find_click_model
from cranfield.online.clicks.impressions import ClickLog

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Marks = NDArray[np.bool_]
RANKS, DOCUMENTS, PAGES_OF_QUERY, STEPS = 10, 20, 200, 20


def simulated(pages: int) -> tuple[Integers, Marks]:
    """pair[page, rank] and clicked[page, rank], pages of a query together."""
    rng = np.random.default_rng(1)
    queries = max(pages // PAGES_OF_QUERY, 1)
    query = np.sort(rng.integers(queries, size=pages))
    shown = np.argsort(rng.random((pages, DOCUMENTS)) + np.arange(DOCUMENTS) / 10, axis=1)[:, :RANKS]
    pair = query[:, None] * DOCUMENTS + shown
    attraction, satisfaction = rng.beta(1, 4, queries * DOCUMENTS), rng.beta(2, 2, queries * DOCUMENTS)
    examined, clicked = np.ones(pages, dtype=bool), np.zeros((pages, RANKS), dtype=bool)
    for rank in range(RANKS):
        clicked[:, rank] = examined & (rng.random(pages) < attraction[pair[:, rank]])
        satisfied = clicked[:, rank] & (rng.random(pages) < satisfaction[pair[:, rank]])
        examined &= ~satisfied & (rng.random(pages) < 0.9)
    return pair, clicked


def as_log(pair: Integers, clicked: Marks) -> ClickLog:
    pages, queries = len(pair), int(pair.max()) // DOCUMENTS + 1
    of_query = np.bincount(pair[:, 0] // DOCUMENTS, minlength=queries)
    return ClickLog(
        source="bench",
        queries=("",) * queries,
        documents=("",) * (queries * DOCUMENTS),
        offsets=np.arange(0, pages * RANKS + 1, RANKS),
        pair=pair.ravel(),
        clicked=clicked.ravel(),
        query_pages=np.concatenate([[0], np.cumsum(of_query)]),
        query_pairs=np.arange(0, queries * DOCUMENTS + 1, DOCUMENTS),
        unit=np.arange(pages),
        units="page",
    )


def numpy_pbm(pair: Integers, clicked: Marks, steps: int) -> Floats:
    pairs, pages = int(pair.max()) // DOCUMENTS * DOCUMENTS + DOCUMENTS, len(pair)
    clicks = np.bincount(pair[clicked], minlength=pairs)
    attraction = (clicks + 1) / (np.bincount(pair.ravel(), minlength=pairs) + 2)
    examination = np.linspace(1.0, 0.5, RANKS)
    for _ in range(steps):
        attracted = attraction[pair]
        seen = np.where(clicked, 1.0, examination * (1 - attracted) / (1 - examination * attracted))
        attraction = (clicks + 1) / (np.bincount(pair.ravel(), seen.ravel(), pairs) + 2)
        examination = (seen.sum(axis=0) + 1) / (pages + 2)
        examination[0] = 1.0
    return np.asarray(attraction)


def numpy_dbn(pair: Integers, clicked: Marks, steps: int, start: tuple[Floats, Floats, float]) -> Floats:
    pairs, pages = len(start[0]), len(pair)
    attraction, satisfaction, onward = start
    clicks = np.bincount(pair[clicked], minlength=pairs)
    last = np.where(clicked.any(axis=1), RANKS - 1 - np.argmax(clicked[:, ::-1], axis=1), -1)
    ranks = np.arange(RANKS)
    for _ in range(steps):
        attracted = attraction[pair]
        quiet = np.ones((pages, RANKS + 1))
        for rank in range(RANKS - 1, -1, -1):
            below = 1.0 if rank == RANKS - 1 else 1 - onward + onward * quiet[:, rank + 1]
            quiet[:, rank] = (1 - attracted[:, rank]) * below
        seen = (ranks <= last[:, None]).astype(np.float64)
        reached = np.where(last < 0, 1.0, 0.0)
        satisfied = np.zeros(pages)
        has, row = last >= 0, np.arange(pages)
        at = np.where(has, last, 0)
        satisfying = satisfaction[pair[row, at]]
        ends = at == RANKS - 1
        going = np.where(ends, 0.0, onward * quiet[row, at + 1])
        leaving = np.where(ends, 1.0, 1 - onward)
        both = satisfying + (1 - satisfying) * (leaving + going)
        satisfied[has] = (satisfying / both)[has]
        choices = float((last[has]).sum()) + float(((1 - satisfying) * (leaving + going) / both)[has & ~ends].sum())
        went = float((last[has]).sum())
        after = np.where(has, (1 - satisfying) * going / both, reached)
        went += float(after[has & ~ends].sum())
        for rank in range(RANKS):
            here = rank > last
            first = rank == last + 1
            reached = np.where(first, after, reached)
            seen[:, rank] = np.where(here, reached, seen[:, rank])
            if rank < RANKS - 1:
                choices += float(reached[here].sum())
                below = 1 - onward + onward * quiet[:, rank + 1]
                reached = np.where(here, reached * onward * quiet[:, rank + 1] / below, reached)
                went += float(reached[here].sum())
        attraction = (clicks + 1) / (np.bincount(pair.ravel(), seen.ravel(), pairs) + 2)
        of_pair = np.bincount(pair[row, at][has], satisfied[has], pairs)
        satisfaction = (of_pair + 1) / (clicks + 2)
        onward = (went + 1) / (choices + 2)
    return np.asarray(attraction)


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    pair, clicked = simulated(pages)
    log = as_log(pair, clicked)
    training = ClickTraining(log, np.ones(pages), Prior(1, 1), tolerance=-np.inf, most=STEPS)
    print(f"{pages:,} pages of {RANKS} results, {len(log.queries):,} queries, {int(clicked.sum()):,} clicks")
    simple = find_click_model("SDBN").function(training)
    for name in ("PBM", "DBN"):
        began = time.perf_counter()
        ours = find_click_model(name).function(training)
        own = time.perf_counter() - began
        began = time.perf_counter()
        if name == "PBM":
            plain = numpy_pbm(pair, clicked, STEPS)
        else:
            plain = numpy_dbn(pair, clicked, STEPS, (simple.attraction, simple.satisfaction, 0.9))
        other = time.perf_counter() - began
        apart = float(np.abs(ours.attraction - plain).max())
        rate = pages * (STEPS + 1) / own
        print(
            f"{name}: {own:.2f} s ({rate:,.0f} pages a second and step), NumPy {other:.2f} s, "
            f"{other / STEPS / (own / (STEPS + 1)):.1f}x; attraction apart by {apart:.1e}"
        )
    began = time.perf_counter()
    fitted = find_click_model("DBN").function(ClickTraining(log, np.ones(pages)))
    print(f"DBN until it rises no more: {fitted.convergence.steps} steps, {time.perf_counter() - began:.2f} s")


if __name__ == "__main__":
    main()
