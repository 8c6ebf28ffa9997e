"""Pooling methods: what each must choose by its definition, budgets, lots and their chances, files."""

from __future__ import annotations

import gzip
import io
from itertools import pairwise
from math import log
from pathlib import Path
from random import Random
from statistics import mean

import numpy as np
import pytest
from numpy.typing import NDArray

from commands import command_line
from cranfield import DataError, UsageError, evaluate, read_qrels
from cranfield.formats.reading import Reading
from cranfield.pooling.candidates import Candidates, Share, pooled_runs
from cranfield.pooling.files import filled, pool_text, read_groups, read_plan, sample_text
from cranfield.pooling.judging import JudgingSession, replayed
from cranfield.pooling.making import Known, make_pool
from cranfield.pooling.strata import Stratum, parse_strata, stratified
from cranfield.pooling.strategy import Strategy, all_methods, find_method
from places import EXAMPLES

Rankings = dict[str, dict[str, dict[str, float]]]
Judgements = dict[str, dict[str, float]]


def collection(
    seed: int, *, runs: int = 5, topics: int = 3, documents: int = 40, deep: int = 15
) -> tuple[Rankings, Judgements]:
    """Runs of different quality and length, no two scores of a list equal, and judgements of all documents."""
    random = Random(f"pooling {seed}")
    names = [f"d{number}" for number in random.sample(range(1000), documents)]
    qrels = {f"q{t}": {name: float(random.random() < 0.25) for name in names} for t in range(topics)}
    found: Rankings = {}
    for r in range(runs):
        quality = random.random() * 2
        found[f"run{r}"] = {}
        for topic, grades in qrels.items():
            scores = {name: quality * grade + random.gauss(0, 1) for name, grade in grades.items()}
            best = sorted(scores, key=lambda name: -scores[name])[: random.randint(deep // 2, deep)]
            found[f"run{r}"][topic] = {name: scores[name] for name in best}
    return found, qrels


def lists_of(runs: Rankings, topic: str, depth: int = 100) -> list[list[str]]:
    return [sorted(run.get(topic, {}), key=lambda d: -run[topic][d])[:depth] for run in runs.values()]


def by_turns(lists: list[list[str]]) -> list[str]:
    """Every list's first, then every list's second, each document once."""
    found: dict[str, None] = {}
    for rank in range(max(map(len, lists))):
        for documents in lists:
            if rank < len(documents):
                found.setdefault(documents[rank])
    return list(found)


def chosen(method: str | Strategy, candidates: Candidates, relevant: set[str], budget: int | None = None) -> list[str]:
    names = candidates.documents
    at_work = find_method(method).started(candidates, candidates.generator(0))
    return [names[i] for i in replayed(at_work, lambda i: names[i] in relevant, budget)]


def relevant_of(qrels: Judgements, topic: str) -> set[str]:
    return {document for document, grade in qrels[topic].items() if grade >= 1}


@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_numbered_by_turns(seed: int) -> None:
    runs, _ = collection(seed)
    for depth in (1, 3, 100):
        for candidates in pooled_runs(runs, depth):
            lists = lists_of(runs, candidates.topic, depth)
            assert list(candidates.documents) == by_turns(lists)
            assert set(candidates.documents) == {document for of_run in lists for document in of_run}
            for of_run, ranks in zip(lists, candidates.rank, strict=True):
                for i, document in enumerate(candidates.documents):
                    assert ranks[i] == (of_run.index(document) + 1 if document in of_run else np.inf)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("method", "weight"),
    [
        ("rrf", lambda r: 1 / (60 + r)),
        ("rrf(k=5)", lambda r: 1 / (5 + r)),
        ("rbp(p=0.5)", lambda r: 0.5 * 0.5 ** (r - 1)),
    ],
)
def test_orders_by_summed_weight(seed: int, method: str, weight: object) -> None:
    assert callable(weight)
    runs, _ = collection(seed)
    for candidates in pooled_runs(runs):
        lists = lists_of(runs, candidates.topic)
        turn = {document: i for i, document in enumerate(by_turns(lists))}
        sums = {d: sorted(weight(of_run.index(d) + 1) for of_run in lists if d in of_run) for d in turn}
        expected = sorted(turn, key=lambda d: (-round(sum(sums[d]), 12), turn[d]))
        assert chosen(method, candidates, set()) == expected


def test_plan_goes_by_priority_then_equally_far() -> None:
    runs, _ = collection(1)
    plan = {"run0": Share(4, 1), "run1": Share(2, 1), "run2": Share(5, 2), "run3": Share(1, 3), "run4": Share(3, 2)}
    for candidates in pooled_runs(runs, plan=plan):
        lists = lists_of(runs, candidates.topic)
        turn = {document: i for i, document in enumerate(candidates.documents)}
        keys: dict[str, tuple[float, float]] = {}
        for documents, share in zip(lists, plan.values(), strict=True):
            for rank, document in enumerate(documents[: share.depth], start=1):
                keys[document] = min(keys.get(document, (9, 9)), (share.priority, rank / share.depth))
        expected = sorted(keys, key=lambda d: (keys[d][0], round(keys[d][1], 12), turn[d]))
        assert chosen("plan", candidates, set()) == expected
        assert set(expected) == set(candidates.documents)


def unjudged(lists: list[list[str]], judged: list[str]) -> list[list[str]]:
    return [[document for document in of_run if document not in judged] for of_run in lists]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rate", [0, 0.5, 1])
def test_maxmean_takes_the_next_of_a_best_run(seed: int, rate: float) -> None:
    runs, qrels = collection(seed)
    for candidates in pooled_runs(runs):
        lists, relevant = lists_of(runs, candidates.topic), relevant_of(qrels, candidates.topic)
        order = chosen(f"maxmean(rate={rate}, shared=1)", candidates, relevant)
        nothing = ((0.0, 0.0),) * len(lists)
        account = nothing
        for step, document in enumerate(order):
            assert document in {of_run for _, of_run in best_runs(account, unjudged(lists, order[:step]))}
            having = [r for r, of_run in enumerate(lists) if document in of_run]
            account = rewarded(account, having, document in relevant, rate)
        # Which run gave a document is not told: every account that fits so far is kept.
        order = chosen(f"maxmean(rate={rate})", candidates, relevant)
        accounts = {nothing}
        for step, document in enumerate(order):
            accounts = {
                rewarded(account, [r], document in relevant, rate)
                for account in accounts
                for r, first in best_runs(account, unjudged(lists, order[:step]))
                if first == document
            }
            assert accounts, f"no run was to give {document} at step {step}"


Account = tuple[tuple[float, float], ...]  # of each run the relevant documents and all those judged


def best_runs(account: Account, left: list[list[str]]) -> list[tuple[int, str]]:
    """The runs of largest mean among those with documents left, each with the first of them."""
    means = [(1 + hits) / (2 + seen) if of_run else -1.0 for (hits, seen), of_run in zip(account, left, strict=True)]
    return [(r, of_run[0]) for r, of_run in enumerate(left) if means[r] >= max(means) - 1e-12]


def rewarded(account: Account, runs: list[int], relevant: bool, rate: float) -> Account:
    return tuple(
        (rate * hits + relevant, rate * seen + 1) if r in runs else (hits, seen)
        for r, (hits, seen) in enumerate(account)
    )


Queue = tuple[tuple[int, int], ...]  # of each run the documents passed, and the ranks since its last relevant one
Asked = tuple[Queue, int, str]  # with the run that gives a document


def asked_for(queues: set[tuple[Queue, int | None]], lists: list[list[str]], known: dict[str, bool]) -> set[Asked]:
    """Every document that may be asked for next, with the run that gives it: lots are not told, so all are followed."""
    found: set[Asked] = set()
    seen: set[tuple[Queue, int | None]] = set()
    waiting = list(queues)
    while waiting:
        state = waiting.pop()
        queue, front = state
        left = [r for r, (passed, _) in enumerate(queue) if passed < len(lists[r])]
        if state in seen or not left:
            continue
        seen.add(state)
        nearest = min(queue[r][1] for r in left)
        for r in [front] if front in left else [r for r in left if queue[r][1] == nearest]:
            assert r is not None
            document = lists[r][queue[r][0]]
            if document in known:
                waiting.append(past(queue, r, known[document]))
            else:
                found.add((queue, r, document))
    return found


def past(queue: Queue, run: int, relevant: bool) -> tuple[Queue, int | None]:
    passed, since = queue[run]
    moved = (passed + 1, 0 if relevant else since + 1)
    return (*queue[:run], moved, *queue[run + 1 :]), run if relevant else None


@pytest.mark.parametrize("seed", range(4))
def test_move_to_front_goes_where_the_last_relevant_document_is_nearest(seed: int) -> None:
    runs, qrels = collection(seed, runs=4)
    for candidates in pooled_runs(runs):
        lists, relevant = lists_of(runs, candidates.topic), relevant_of(qrels, candidates.topic)
        queues: set[tuple[Queue, int | None]] = {(((0, 0),) * len(lists), None)}
        known: dict[str, bool] = {}
        for document in chosen("move-to-front", candidates, relevant):
            possible = asked_for(queues, lists, known)
            known[document] = document in relevant
            queues = {past(queue, r, known[document]) for queue, r, asked in possible if asked == document}
            assert queues, f"no run was to give {document} after {len(known) - 1} judgements"


def test_move_to_front_by_hand() -> None:
    """A relevant document brings a run back to the front; one that another run had judged counts where it is passed."""
    runs = {
        "a": {"q": {"n1": 5.0, "n2": 4.0, "r1": 3.0, "n3": 2.0, "n4": 1.0}},
        "b": {"q": {"m1": 5.0, "m2": 4.0, "m3": 3.0, "m4": 2.0, "r1": 1.0}},
    }
    candidates = pooled_runs(runs).of("q")
    names = candidates.documents
    for seed in range(20):
        method = find_method("move-to-front").started(candidates, candidates.generator(seed))
        order = [names[i] for i in replayed(method, lambda i: names[i] == "r1")]
        assert {order[0], order[1]} == {"n1", "m1"}
        assert {order[2], order[3]} == {"n2", "m2"}
        # At two ranks each without a relevant one, by lot; once a has r1 it goes on, then has lost one rank only.
        after = order[order.index("r1") :]
        assert after == ["r1", "n3", "n4", *sorted({"m3", "m4"} - set(order[: order.index("r1")]))]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("beta", [0.1, 0.8])
def test_hedge_takes_the_largest_weighted_sum(seed: int, beta: float) -> None:
    runs, qrels = collection(seed)
    for candidates in pooled_runs(runs):
        lists, relevant = lists_of(runs, candidates.topic), relevant_of(qrels, candidates.topic)
        size = len(candidates.documents)
        # Where a run lacks a document, it may stand at any rank below the run's list.
        missing = [mean(log(size / rank) for rank in range(len(of_run) + 1, size + 1)) for of_run in lists]
        worth = {
            d: [
                log(size / (of_run.index(d) + 1)) if d in of_run else else_worth
                for of_run, else_worth in zip(lists, missing, strict=True)
            ]
            for d in candidates.documents
        }
        losses = [0.0] * len(lists)
        order = chosen(f"hedge(beta={beta})", candidates, relevant)
        for step, document in enumerate(order):
            weights = [beta**loss for loss in losses]
            total = sum(weights)
            sums = {
                d: sum(w * x for w, x in zip(weights, of, strict=True)) / total
                for d, of in worth.items()
                if d not in order[:step]
            }
            assert sums[document] >= max(sums.values()) - 1e-9
            sign = -0.5 if document in relevant else 0.5
            losses = [loss + sign * x for loss, x in zip(losses, worth[document], strict=True)]


def test_thompson_chooses_a_run_as_often_as_it_should() -> None:
    """After four judgements of one run and one of another, each run as often as its draw is the larger one."""
    runs = {"a": {"q": {f"a{i}": -float(i) for i in range(9)}}, "b": {"q": {f"b{i}": -float(i) for i in range(9)}}}
    candidates = pooled_runs(runs).of("q")
    number = {document: i for i, document in enumerate(candidates.documents)}
    first = 0
    for seed in range(1500):
        method = find_method("thompson(shared=1)").started(candidates, candidates.generator(seed))
        for document, relevant in (("a0", True), ("a1", True), ("a2", False), ("a3", True), ("b0", False)):
            method.judged(number[document], relevant)
        first += method.next() == number["a4"]
    rng = np.random.default_rng(1)
    expected = float(np.mean(rng.beta(4, 2, 400_000) > rng.beta(1, 2, 400_000)))
    assert abs(first / 1500 - expected) < 4 * np.sqrt(expected * (1 - expected) / 1500)


REPLAYED = [str(method) for method in all_methods("order", "adaptive") if not method.reads] + [
    "maxmean(rate=0)",
    "maxmean(shared=1)",
    "thompson(rate=0.5)",
]


@pytest.mark.parametrize("method", REPLAYED)
def test_every_method_keeps_its_budget_and_judges_nothing_twice(method: str) -> None:
    runs, qrels = collection(7)
    for candidates in pooled_runs(runs):
        relevant, size = relevant_of(qrels, candidates.topic), len(candidates.documents)
        whole = chosen(method, candidates, relevant)
        assert sorted(whole) == sorted(candidates.documents)
        for budget in (1, 2, 7, size - 1, size, size + 5):
            assert chosen(method, candidates, relevant, budget) == whole[:budget]


@pytest.mark.parametrize("method", REPLAYED)
def test_names_do_not_matter(method: str) -> None:
    """Other names for documents and runs give the same pools under those names."""
    runs, qrels = collection(8)
    names = sorted({d for run in runs.values() for of in run.values() for d in of})
    new = dict(zip(names, Random(1).sample([f"x{i}" for i in range(len(names))], len(names)), strict=True))
    renamed = {
        f"other{i}": {t: {new[d]: s for d, s in of.items()} for t, of in run.items()}
        for i, run in enumerate(runs.values())
    }
    for one, other in zip(pooled_runs(runs), pooled_runs(renamed), strict=True):
        relevant = relevant_of(qrels, one.topic)
        expected = [new[d] for d in chosen(method, one, relevant)]
        assert chosen(method, other, {new[d] for d in relevant if d in new}) == expected


@pytest.mark.parametrize("method", REPLAYED)
def test_topics_do_not_leak_and_seeds_decide(method: str) -> None:
    runs, qrels = collection(9)
    alone = {name: {"q1": run["q1"]} for name, run in runs.items()}
    relevant = relevant_of(qrels, "q1")
    assert chosen(method, pooled_runs(runs).of("q1"), relevant) == chosen(method, pooled_runs(alone).of("q1"), relevant)


def test_every_topic_has_lots_of_its_own() -> None:
    """Topics with the same lists, and nothing relevant, are not all judged in the same order."""
    runs = {name: {f"q{t}": {f"{name}{i}": -float(i) for i in range(9)} for t in range(9)} for name in "abcd"}
    for method in ("move-to-front", "maxmean", "thompson"):
        orders = {tuple(chosen(method, candidates, set())) for candidates in pooled_runs(runs)}
        assert len(orders) > 5


def test_the_order_of_runs_changes_ties_only() -> None:
    runs, _ = collection(10)
    backwards = dict(reversed(runs.items()))
    for depth in (1, 4, 15):
        assert make_pool(runs, depth=depth).documents == make_pool(backwards, depth=depth).documents
    for one, other in zip(pooled_runs(runs), pooled_runs(backwards), strict=True):
        scores = {d: np.sort(1 / (60 + one.rank[:, i])).sum() for i, d in enumerate(one.documents)}
        for order in (chosen("rrf", one, set()), chosen("rrf", other, set())):
            assert all(scores[above] >= scores[below] for above, below in pairwise(order))


def test_pool_is_in_the_order_of_ids_whatever_the_ranks() -> None:
    runs, _ = collection(11)
    made = make_pool(runs, "rrf", budget=9)
    for documents in made.documents.values():
        assert list(documents) == sorted(documents)
        assert len(documents) == 9
    numbers = make_pool({"a": {"9": {"10": 3.0, "9": 2.0}, "10": {"3": 1.0}}})
    assert pool_text(numbers) == "9 0 9\n9 0 10\n10 0 3\n"
    assert pool_text(numbers, "\t").splitlines()[:2] == ["topic\tdocument", "9\t9"]


def test_runs_that_lack_topics_are_named() -> None:
    made = make_pool({"a": {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}, "b": {"q1": {"d3": 1.0}}})
    assert made.documents == {"q1": ("d1", "d3"), "q2": ("d2",)}
    (finding,) = made.warnings
    assert finding.source == "b"
    assert "q2" in finding.message


STRATA = (Stratum(3, 1.0), Stratum(8, 0.5), Stratum(15, 0.2))


def test_chances_are_how_often_documents_are_drawn() -> None:
    runs, qrels = collection(12, documents=80, deep=15)
    candidates = pooled_runs(runs, 15).of("q0")
    relevant = np.array([qrels["q0"][d] for d in candidates.documents])
    draws = [stratified(candidates, candidates.generator(seed), strata=STRATA) for seed in range(2000)]
    first = draws[0]
    for depth, below, number in ((0, 3, 1), (3, 8, 2), (8, 15, 3)):
        inside = (candidates.best_rank > depth) & (candidates.best_rank <= below)
        assert (first.stratum[inside] == number).all()
    drawn = np.array([draw.drawn for draw in draws])
    assert all((draw.chance == first.chance).all() for draw in draws)
    off = np.abs(drawn.mean(axis=0) - first.chance)
    assert (off <= 5 * np.sqrt(first.chance * (1 - first.chance) / len(draws))).all()
    assert np.ptp(drawn.sum(axis=1)) == 0, "the size of the sample is not left to chance"
    estimates = drawn @ (relevant / first.chance)
    assert abs(estimates.mean() - relevant.sum()) < 5 * estimates.std() / np.sqrt(len(draws))


def test_every_stratum_with_documents_is_sampled() -> None:
    candidates = pooled_runs({"a": {"q": {f"d{i}": -float(i) for i in range(30)}}}).of("q")
    for share, expected in ((0.001, 1), (0.1, 3), (0.11, 4), (1.0, 30)):
        assert stratified(candidates, candidates.generator(0), strata=[Stratum(30, share)]).drawn.sum() == expected


def test_a_sample_can_be_read_back_with_its_chances(tmp_path: Path) -> None:
    runs, qrels = collection(13)
    made = make_pool(runs, "stratified", strata=STRATA)
    assert made.sample is not None
    text = filled(io.StringIO(sample_text(made)), {t: {d: qrels[t][d] for d in of} for t, of in made.documents.items()})
    (tmp_path / "sampled").write_text(text)
    judgements = read_qrels(tmp_path / "sampled", reading=Reading(judgements="sampled"))
    rows = iter(judgements.columns["sampled"].tolist())
    for topic, grades in judgements.to_dict().items():
        assert {d for d, grade in grades.items() if grade >= 0} == set(made.documents[topic])
        for document in grades:
            assert next(rows) == pytest.approx(made.sample[topic][document].chance)


def test_estimates_from_samples_are_those_of_the_whole_pool(tmp_path: Path) -> None:
    """With all drawn, statAP and xinfAP are AP. With some drawn, the estimated sums of precision, of which they are the
    ratio to the estimated number of relevant documents, are right on the average over draws.
    """
    runs, qrels = collection(17, topics=8, documents=200, deep=60)
    full = {t: {d: qrels[t][d] for d in of} for t, of in make_pool(runs, depth=60).documents.items()}
    truth = evaluate(full, runs, "AP")

    def estimated(strata: str, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        made = make_pool(runs, "stratified", strata=parse_strata(strata), seed=seed)
        (tmp_path / "sampled").write_text(filled(io.StringIO(sample_text(made)), full))
        found = evaluate(tmp_path / "sampled", runs, ["statAP", "xinfAP"], reading=Reading(judgements="sampled"))
        assert found.topics == truth.topics
        assert made.sample is not None
        relevant = [sum(full[t][d] / of.chance for d, of in made.sample[t].items() if of.drawn) for t in truth.topics]
        return found.scores, np.array(relevant)

    scores, relevant = estimated("60:1", 0)
    assert np.abs(scores.mean(axis=-1) - truth.means).max() < 2e-5
    precision = (truth.scores * relevant).sum(axis=-1)
    drawn = [estimated("5:1,20:60%,60:40%", seed) for seed in range(40)]
    sums = np.array([(scores * relevant).sum(axis=-1) for scores, relevant in drawn])
    assert (np.abs(sums.mean(axis=0) - precision) < 4 * sums.std(axis=0) / np.sqrt(len(sums)) + 0.01 * precision).all()


def test_a_drawn_document_without_a_grade_is_an_error() -> None:
    with pytest.raises(DataError, match="1 document drawn but not judged: q1 d2"):
        filled(io.StringIO("q1 0 d1 1 -1\nq1 0 d2 1 -1\n"), {"q1": {"d1": 1}})
    with pytest.raises(DataError, match=":2: expected topic"):
        filled(io.StringIO("q1 0 d1 1 -1\nq1 0 d2 1 0\n"), {"q1": {"d1": 1}})
    with pytest.raises(DataError, match=r"have whole grades, not 0\.5"):
        filled(io.StringIO("q1 0 d1 1 -1\n"), {"q1": {"d1": 0.5}})
    with pytest.raises(DataError, match="is empty"):
        filled(io.StringIO(""), {"q1": {"d1": 1}})


def test_strata_from_elsewhere_are_read() -> None:
    """With a byte order mark, other ends of lines, and ids in which only ASCII's blanks end a word."""
    text = "\ufeffq1 0 a\u00a0b 1 -1\r\nq1 0 c\u2028d 1 -2\r\n".encode()
    assert filled(io.BytesIO(text), {"q1": {"a\u00a0b": 2}}) == "q1 0 a\u00a0b 1 2\nq1 0 c\u2028d 1 -1\n"


def test_judging_asks_until_it_is_told() -> None:
    runs, qrels = collection(14)
    for method in REPLAYED:
        session = JudgingSession(runs, method, budget=6)
        for topic in session.pooled.topics:
            order = chosen(method, session.pooled.of(topic), relevant_of(qrels, topic), 6)
            for document in order:
                assert session.next(topic) == session.next(topic) == document
                with pytest.raises(UsageError, match="was asked for"):
                    session.judged(topic, "another", 1)
                session.judged(topic, document, qrels[topic][document])
            assert session.next(topic) is None
            assert list(session.grades[topic]) == order
    with pytest.raises(UsageError, match="no run answers topic 'q9'"):
        session.next("q9")


def test_a_session_goes_on_from_what_is_judged() -> None:
    """Batch by batch, with one document a batch, is the same as one by one."""
    runs, qrels = collection(15)
    for method in ("move-to-front", "hedge", "maxmean", "thompson"):
        judged: Judgements = {topic: {} for topic in qrels}
        for _ in range(5):
            known = Known({t: of for t, of in judged.items() if of} or None, 1)
            for topic, documents in make_pool(runs, method, known=known).documents.items():
                judged[topic] |= {d: qrels[topic][d] for d in documents}
        for candidates in pooled_runs(runs):
            expected = chosen(method, candidates, relevant_of(qrels, candidates.topic), 5)
            assert list(judged[candidates.topic]) == expected


@pytest.mark.parametrize("method", ["move-to-front", "hedge", "maxmean", "thompson"])
def test_no_batch_asks_for_what_is_judged(method: str) -> None:
    """What was asked for supposing that nothing was relevant may lie off the way; it answers when it comes up."""
    runs, qrels = collection(18, documents=80, deep=40)
    judged: Judgements = {topic: {} for topic in qrels}
    for _ in range(4):
        known = Known({t: of for t, of in judged.items() if of} or None, 7)
        for topic, documents in make_pool(runs, method, budget=25, known=known).documents.items():
            assert not judged[topic].keys() & set(documents)
            judged[topic] |= {d: qrels[topic][d] for d in documents}
    assert {len(of) for of in judged.values()} == {25}
    session = JudgingSession(runs, method)
    assert session.take(judged) == 75
    assert session.grades.keys() == judged.keys()
    for topic in qrels:
        way = chosen(method, session.pooled.of(topic), relevant_of(qrels, topic))
        assert session.next(topic) == next(document for document in way if document not in judged[topic])


def test_judgements_of_other_documents_are_doubted() -> None:
    runs = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}}
    for method in ("depth", "maxmean"):
        for qrels, doubted in (({"q1": {"d1": 1}}, []), ({"q1": {"D1": 1}}, ["nothing-known"])):
            made = make_pool(runs, method, known=Known(qrels, 1))
            assert [finding.code for finding in made.warnings] == doubted


def test_looking_ahead_changes_nothing() -> None:
    runs, _ = collection(16)
    for method in REPLAYED:
        session = JudgingSession(runs, method, budget=8)
        ahead = session.ahead("q1", 5)
        assert ahead == session.ahead("q1", 5) == chosen(method, session.pooled.of("q1"), set(), 5)
        assert len(set(ahead)) == 5
        assert session.next("q1") == ahead[0]
        assert len(session.ahead("q1", 50)) == 8


def test_what_is_relevant_decides_where_to_go_on() -> None:
    """With rel=2 a document of grade 1 makes move-to-front leave its run."""
    runs = {"a": {"q": {"a1": 3.0, "a2": 2.0}}, "b": {"q": {"b1": 3.0, "b2": 2.0}}}
    for rel, same in ((1, True), (2, False)):
        (first,) = make_pool(runs, "move-to-front", known=Known(None, 1)).documents["q"]
        (second,) = make_pool(runs, "move-to-front", known=Known({"q": {first: 1}}, 1, rel)).documents["q"]
        assert (first[0] == second[0]) == same


def test_ids_with_blanks_need_a_table() -> None:
    made = make_pool({"a": {"q1": {"my document": 1.0}}})
    with pytest.raises(DataError, match=r"(?s)'my document' has a blank in it.*as a table"):
        pool_text(made)
    with pytest.raises(DataError, match=r"(?s)'my document' has a blank in it.*Strata are text"):
        sample_text(make_pool({"a": {"q1": {"my document": 1.0}}}, "stratified"))
    assert pool_text(make_pool({"a": {"q1": {"my\u00a0document": 1.0}}})) == "q1 0 my\u00a0document\n"
    assert pool_text(made, ",") == "topic,document\nq1,my document\n"


def test_what_is_judged_already_is_left_out() -> None:
    runs = {"a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}}
    known = Known({"q1": {"d1": 1, "d2": -1}}, 0)
    assert make_pool(runs, known=known).documents == {"q1": ("d2", "d3")}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "depht"}, "unknown pooling method 'depht'; there are depth"),
        ({"method": "rrf(k=-1)"}, "rrf: k must be a number from 0"),
        ({"method": "rrf(10)"}, "is not a pooling method"),
        ({"method": "rrf(q=1)"}, "no parameter 'q'"),
        ({"method": "maxmean"}, "learns from each judgement"),
        ({"method": "plan"}, "needs a plan"),
        ({"depth": 0}, "depth must be a whole number from 1"),
        ({"budget": 0}, "whole one from 1"),
        ({"depth": 5, "plan": {"a": Share(3)}}, "exclude each other"),
        ({"strata": STRATA}, "strata are for stratified"),
        ({"method": "stratified", "budget": 5}, "the strata of stratified say"),
        ({"method": "stratified", "strata": (Stratum(5, 1.0), Stratum(5, 0.5))}, "go deeper"),
    ],
)
def test_wrong_requests_are_answered(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(").replace(")", r"\)")):
        make_pool({"a": {"q1": {"d1": 1.0}}}, **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "10", "10:0", "10:2", "10:.", "10:1,5:1", "a:1", "10:1%%"])
def test_strata_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"stratum"):
        parse_strata(text)


def test_plans_and_groups_name_what_is_wrong() -> None:
    assert read_plan(io.StringIO("run\tdepth\na\t5\n")) == {"a": Share(5, 1)}
    for text, message in (
        ("run,deep\na,5\n", "(?s)no column depth.*1 . run,deep.*header line, run, depth"),
        ("run,depth\na,0\n", "must be whole numbers from 1"),
        ("run,depth\na,5\na,6\n", "'a' is there twice"),
        ("run,depth\na,5,6\n", ":2: 3 fields where the header has 2"),
        ("", "no column"),
    ):
        with pytest.raises(DataError, match=message):
            read_plan(io.StringIO(text))
    with pytest.raises(DataError, match="has no group"):
        read_groups(io.StringIO("run,group\na,\n"))
    runs = {"a": {"q1": {"d1": 1.0}}}
    with pytest.raises(DataError, match="no depth for 1 run: a"):
        make_pool(runs, "plan", plan={})
    with pytest.raises(DataError, match="a depth for 1 run that is not there: b"):
        make_pool(runs, "plan", plan={"a": Share(1), "b": Share(1)})


def command(*arguments: str, fails: bool = False) -> str:
    done = command_line("pool", *arguments, folder=EXAMPLES)
    assert (done.exit != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout


def test_command_makes_pools(tmp_path: Path) -> None:
    runs = [str(EXAMPLES / f"{name}.run") for name in ("bm25", "dense")]
    expected = make_pool(runs, depth=3)
    assert command(*runs, "--depth", "3") == pool_text(expected)
    output = tmp_path / "pool.tsv"
    assert str(len(expected)) in command(*runs, "--depth", "3", "-o", str(output))
    assert output.read_text() == pool_text(expected, "\t")
    command(*runs, "--depth", "3", "-o", str(tmp_path / "pool.CSV.gz"))
    with gzip.open(tmp_path / "pool.CSV.gz", "rt") as file:
        assert file.read() == pool_text(expected, ",")
    assert command(*runs, "--depth", "3", "-o", "-") == pool_text(expected)
    (tmp_path / "plan.csv").write_text("run,depth,priority\nbm25,2,1\ndense,4,2\n")
    plan = {"bm25": Share(2, 1), "dense": Share(4, 2)}
    made = command(*runs, "--plan", str(tmp_path / "plan.csv"), "--budget", "3")
    assert made == pool_text(make_pool(runs, "plan", plan=plan, budget=3))


def test_command_makes_samples_that_evaluate_reads(tmp_path: Path) -> None:
    output = str(tmp_path / "pool.txt")
    command("bm25.run", "dense.run", "--method", "stratified", "--strata", "2:1,20:50%", "-o", output)
    to_judge = [line.split() for line in Path(output).read_text().splitlines()]
    grades = tmp_path / "grades"
    grades.write_text(
        "".join(f"{topic} 0 {document} {len(document) % 2}\n" for topic, _, document in to_judge) + "1 0 x 1\n"
    )
    text = command("--fill", str(grades), "--strata", f"{output}.strata")
    (tmp_path / "sampled").write_text(text)
    judgements = read_qrels(tmp_path / "sampled", reading=Reading(judgements="sampled"))
    assert 0 < judgements.columns["sampled"].min() < judgements.columns["sampled"].max() == 1
    for where in ([], ["-o", "-"]):
        assert "of no use without its strata" in command("bm25.run", "--method", "stratified", *where, fails=True)


def test_command_refuses_what_does_not_belong_together() -> None:
    assert "exclude each other" in command("bm25.run", "--analyse", "qrels.txt", "--simulate", "qrels.txt", fails=True)
    assert "--groups is not for a pool" in command("bm25.run", "--groups", "g.csv", fails=True)
    assert "several --budget" in command("bm25.run", "--budget", "1", "--budget", "2", fails=True)
    assert "are for methods that learn" in command("bm25.run", "--batch", "2", fails=True)
    assert "no run given" in command(fails=True)
