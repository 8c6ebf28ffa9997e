"""`cal`: what holds for every pooling method, what it does with texts that are missing, how much sooner it finds."""

from __future__ import annotations

from random import Random

import pytest

from commands import command_line
from cranfield import DataError, UsageError
from cranfield.evaluation.experiment import Experiment
from cranfield.pooling import make_pool, simulate
from cranfield.pooling.candidates import pooled_runs
from cranfield.pooling.judging import JudgingSession, replayed
from cranfield.pooling.learned import PoolTexts, pool_texts
from cranfield.pooling.making import Known
from cranfield.pooling.simulation import TARGETS, TIMES
from cranfield.pooling.strategy import Strategy, find_method
from cranfield.texts import read_collection
from places import EXAMPLES
from worded import worded

Rankings = dict[str, dict[str, dict[str, float]]]
TEXTS, RELEVANT = worded(2)
QRELS = {topic: {document: int(document in RELEVANT) for document in TEXTS} for topic in ("q1", "q2")}


def texts_of(documents: dict[str, str], topics: dict[str, str]) -> PoolTexts:
    return pool_texts(read_collection(documents=documents, topics=topics, name="made"))


READ = texts_of(TEXTS, {"q1": "asked", "q2": "own3q"})


def cal(notation: str = "cal", texts: PoolTexts = READ) -> Strategy:
    return find_method(notation).reading(texts)


def rankings(seed: int = 0) -> Rankings:
    """Runs that have 40 documents a topic, somewhat better than by chance."""
    random = Random(f"cal {seed}")
    found: Rankings = {}
    for name in "abc":
        found[name] = {}
        for topic in QRELS:
            scores = {document: random.random() + 0.15 * (document in RELEVANT) for document in TEXTS}
            found[name][topic] = dict(sorted(scores.items(), key=lambda item: -item[1])[:40])
    return found


RUNS = rankings()
POOLED = pooled_runs(RUNS)


def order(method: Strategy, topic: str = "q1", budget: int | None = None, seed: int = 0) -> list[str]:
    candidates = method.candidates(POOLED, topic)
    at_work = method.started(candidates, candidates.generator(seed))
    names = candidates.documents
    return [names[number] for number in replayed(at_work, lambda number: names[number] in RELEVANT, budget)]


@pytest.mark.parametrize("notation", ["cal", "cal(whole=1)", "cal(first=3)", "cal(first=2, whole=1)"])
def test_it_asks_for_every_candidate_once_and_keeps_its_budget(notation: str) -> None:
    whole = order(cal(notation))
    pool = {document for run in RUNS.values() for document in run["q1"]}
    assert sorted(whole) == sorted(TEXTS if "whole" in notation else pool)
    for budget in (1, 2, 7, len(whole), len(whole) + 5):
        assert order(cal(notation), budget=budget) == whole[:budget]


def test_it_finds_sooner_than_methods_that_do_not_read() -> None:
    """Recall of what the runs have; a run is barely better than chance, the texts tell."""
    simulation = simulate(Experiment(QRELS, RUNS), [cal(), "depth", "rrf", "move-to-front", "maxmean"], [15, 30])
    others = [simulation.of(method, 30).relevant for method in simulation.methods if method != "cal"]
    assert simulation.of("cal", 30).relevant >= 1.2 * max(others)
    assert simulation.beyond_runs == ()


def test_first_are_documents_of_every_run_in_random_order() -> None:
    top = {document for run in RUNS.values() for document in list(run["q1"])[:3]}
    first = [order(cal("cal(first=3)"), budget=len(top), seed=seed) for seed in (0, 1)]
    assert set(first[0]) == set(first[1]) == top
    assert first[0] != first[1]


def test_names_do_not_matter_and_topics_do_not_leak() -> None:
    new = {document: f"x{number}" for number, document in enumerate(reversed(TEXTS))}
    renamed = pooled_runs(
        {name: {"q1": {new[d]: score for d, score in run["q1"].items()}} for name, run in RUNS.items()}
    )
    method = cal(texts=texts_of({new[d]: text for d, text in TEXTS.items()}, {"q1": "asked"}))
    candidates = method.candidates(renamed, "q1")
    names = candidates.documents
    old = {other: document for document, other in new.items()}
    at_work = method.started(candidates, candidates.generator(0))
    asked = [old[names[i]] for i in replayed(at_work, lambda i: old[names[i]] in RELEVANT)]
    assert asked == order(cal())


def test_what_is_known_teaches_before_it_is_asked_for() -> None:
    """Judgements of documents that cal would not have asked for count, too: the next are like those relevant."""
    relevant = [document for document in POOLED.of("q1").documents if document in RELEVANT][:4]
    session = JudgingSession(POOLED, cal(texts=texts_of(TEXTS, {"q1": "", "q2": "x"})))
    assert session.next("q1") == POOLED.of("q1").documents[0]  # nothing is known: the first of the first run
    assert session.take({"q1": dict.fromkeys(relevant, 2)}) == 4
    ahead = session.ahead("q1", 5)
    assert set(ahead).isdisjoint(relevant)
    assert sum(document in RELEVANT for document in ahead) >= 4
    assert session.next("q1") == ahead[0]
    assert session.grades == {"q1": dict.fromkeys(relevant, 2.0)}


def test_a_session_asks_and_learns() -> None:
    session = JudgingSession(RUNS, cal("cal(whole=1)"), budget=40)
    while (document := session.next("q1")) is not None:
        session.judged("q1", document, float(document in RELEVANT))
    grades = session.grades["q1"]
    assert len(grades) == 40
    assert sum(grades.values()) >= 17


def test_without_runs_any_document_of_the_collection() -> None:
    pool = make_pool([], cal(), known=Known(None, 3))
    assert list(pool.documents) == ["q1", "q2"]
    candidates = cal("cal(whole=1)").candidates(POOLED, "q1")
    at_work = cal().started(candidates, candidates.generator(0))
    first = [candidates.documents[i] for i in replayed(at_work, lambda _: False, 3)]
    assert pool.documents["q1"] == tuple(sorted(first))
    later = make_pool([], cal(), known=Known({"q1": {pool.documents["q1"][0]: 1}}, 3))
    assert pool.documents["q1"][0] not in later.documents["q1"]
    with pytest.raises(UsageError, match="without runs there is no depth nor plan"):
        make_pool([], cal(), known=Known(None, 3), depth=5)
    with pytest.raises(DataError, match="judges no topic that is asked: 9, where the collection has q1, q2"):
        make_pool([], cal(), known=Known({"9": {"d0001": 1}}, 3))


def test_it_needs_texts() -> None:
    message = r"cal reads the documents: it needs a collection \(--collection FOLDER\)"
    with pytest.raises(UsageError, match=message):
        make_pool(RUNS, "cal", known=Known(None, 1))
    with pytest.raises(UsageError, match=message):
        simulate(Experiment(QRELS, RUNS), ["cal"])
    with pytest.raises(UsageError, match=message):
        JudgingSession(RUNS, "cal").next("q1")
    assert "cal" not in simulate(Experiment(QRELS, RUNS), budgets=[3]).methods


def test_documents_and_questions_that_the_collection_lacks_are_told() -> None:
    half = {document: text for document, text in TEXTS.items() if document < "d0100"}
    method = cal(texts=texts_of(half, {"q1": "asked", "q3": "x"}))
    pool = make_pool(RUNS, method, known=Known(None, 200))
    lacking = [document for document in POOLED.of("q1").documents if document not in half]
    codes = {warning.code: str(warning) for warning in pool.warnings}
    assert "has no question for 1 topic, learned from judgements alone: q2" in codes["no-question"]
    assert "of the runs, which come last: d0101" in codes["no-text"]
    candidates = method.candidates(POOLED, "q1")
    at_work = method.started(candidates, candidates.generator(0))
    asked = [candidates.documents[i] for i in replayed(at_work, lambda _: False)]
    assert asked[-len(lacking) :] == [document for document in asked if document not in half]
    assert sorted(asked) == sorted(candidates.documents)
    widened = cal("cal(whole=1)", method.texts or READ).candidates(POOLED, "q1")
    assert set(widened.documents) == set(half) | set(lacking)
    retrieved = [[widened.documents[i] for i in ranked] for ranked in widened.lists]
    assert retrieved == [[POOLED.of("q1").documents[i] for i in ranked] for ranked in POOLED.of("q1").lists]
    assert [finding.code for finding in READ.findings(POOLED)] == []


def test_a_collection_of_something_else_is_refused() -> None:
    with pytest.raises(DataError, match="has no topic that a run has: 7, where the runs have q1, q2"):
        make_pool(RUNS, cal(texts=texts_of(TEXTS, {"7": "asked"})), known=Known(None, 1))
    with pytest.raises(DataError, match="has no document that a run has: z1, where the runs have d0"):
        make_pool(RUNS, cal(texts=texts_of({"z1": "ducks"}, {"q1": "asked"})), known=Known(None, 1))


def test_costs_are_those_of_the_replay() -> None:
    simulation = simulate(Experiment(QRELS, RUNS), [cal("cal(whole=1)"), "depth"], [150])
    assert simulation.beyond_runs == ("cal(whole=1)",)
    for effort, method in zip(simulation.efforts, (cal("cal(whole=1)"), find_method("depth")), strict=True):
        needed, recall = [], []
        for topic in QRELS:
            hits = [document in RELEVANT for document in order(method, topic, 150)]
            found = [sum(hits[:step]) for step in range(len(hits) + 1)]
            reach = [next((i for i, n in enumerate(found) if n >= target * 20 - 1e-9), None) for target in TARGETS]
            needed.append(reach)
            recall.append([found[min(times * 20, len(hits))] / 20 for times in TIMES])
        for place, of_topics in enumerate(zip(*needed, strict=True)):
            known = sorted(count for count in of_topics if count is not None)
            assert effort.reached[place] == len(known)
            assert effort.needed[place] == (known[0] if known else None)  # the lower median of two
        assert effort.recall == pytest.approx([sum(of) / 2 for of in zip(*recall, strict=True)])


def test_the_command_tells_who_goes_beyond_the_runs() -> None:
    runs = [EXAMPLES / name for name in ("pond-bm25.run", "pond-titles.run")]
    asked = list(
        map(str, ("pool", "--simulate", EXAMPLES / "pond.qrels", *runs, "--collection", EXAMPLES / "pond.toml"))
    )
    alone = command_line(*asked, "--method", "cal", "--budget", "3")
    assert "any document of the collection" not in alone.stdout
    both = command_line(*asked, "--method", "cal(whole=1)", "--method", "depth", "--budget", "3")
    assert (
        "cal(whole=1) asks for any document of the collection, the other methods for those of the runs" in both.stdout
    )
    every = command_line(*asked, "--budget", "3")
    assert every.stdout.splitlines()[-3].startswith("cal ")
    assert "hedge" in every.stdout
