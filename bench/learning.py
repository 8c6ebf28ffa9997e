"""How many judgements until 80% and 95% of the relevant documents are found, by cal and its rivals: Markdown.

    python bench/learning.py [--asreview PYTHON] [--data FOLDER] [--every N] [--seed TEXT]

PYTHON is that of an environment which has asreview (it is large, and apart for that reason). On the classic collection,
and on one made with many relevant documents, every method judges the same documents with the same labels, topic by
topic. Methods that look at runs judge what these have, and so does cal there; the second table is the whole collection,
which only readers can take. The bar: at each recall, the upper end of the 95% interval of the paired difference between
cal and the best of the others is at most 5% of what that one needs.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path

import numpy as np
from scipy.stats import t

from cranfield.formats import read_qrels
from cranfield.pooling.candidates import Candidates, Pooled, pooled_runs
from cranfield.pooling.judging import replayed
from cranfield.pooling.learned import pool_texts
from cranfield.pooling.strategy import Strategy, find_method
from cranfield.search import retrieve
from cranfield.texts import read_collection
from cranfield.texts.collection import Collection

TARGETS = (0.8, 0.95)
OF_RUNS = ("depth", "rrf", "move-to-front", "maxmean", "maxmean(rate=0)", "thompson", "hedge")
BAR = 0.05
Efforts = list[list[int]]  # of each topic, for each target


@dataclass(frozen=True, kw_only=True)
class Task:
    """A collection, the runs pooled, and what is relevant."""

    name: str
    collection: Collection
    pooled: Pooled
    relevant: Mapping[str, frozenset[str]]
    topics: Sequence[str]


def classic(folder: Path, every: int) -> Task:
    """The classic collection, with the runs that come with it, 100 deep."""
    collection = read_collection(
        documents=str(folder / "cran.all.1400.gz"), topics=str(folder / "cran.qry"), ids="position", name="classic"
    )
    grades = read_qrels(str(folder / "cranfield.qrels")).to_dict()
    relevant = {topic: frozenset(d for d, grade in of.items() if grade >= 1) for topic, of in grades.items()}
    pooled = pooled_runs(sorted(map(str, (folder / "runs").glob("*.gz"))), 100)
    return task("classic", collection, pooled, relevant, every)


def made(every: int, seed: str = "learning", documents: int = 2000, topics: int = 24) -> Task:
    """Documents of a Zipfian stock of words. A topic has three sides with words of their own, which its relevant
    documents (100 to 250) have many of and others few; the question names words of two sides.
    """
    draw = random.Random(seed)
    stock = [f"{first}{second}{number}q" for first in "bdfgk" for second in "aeiou" for number in range(200)]
    draw.shuffle(stock)
    weights = [1 / (rank + 10) for rank in range(len(stock))]
    ids = [f"d{number:05}" for number in range(documents)]
    texts = {id: draw.choices(stock, weights, k=draw.randint(40, 140)) for id in ids}
    questions, relevant = {}, {}
    for number in range(1, topics + 1):
        sides = [draw.sample(stock[50:2500], 14) for _ in range(3)]
        members = draw.sample(ids, draw.randint(100, 250))
        for id in members:
            texts[id] += draw.choices(draw.choice(sides), k=draw.randint(3, 12))
        for id in draw.sample(ids, documents // 2):
            texts[id] += draw.choices(draw.choice(sides), k=draw.randint(0, 2))
        questions[str(number)] = " ".join(draw.sample(sides[0], 2) + draw.sample(sides[1], 2))
        relevant[str(number)] = frozenset(members)
    collection = read_collection(
        documents={id: " ".join(words) for id, words in texts.items()}, topics=questions, name="made"
    )
    assert collection.documents is not None
    assert collection.topics is not None
    systems: tuple[tuple[str, dict[str, float]], ...] = (
        ("bm25", {}),
        ("bm25", {"b": 0.0}),
        ("bm25", {"k1": 0.3}),
        ("vsm", {}),
    )
    runs = {}
    for place, (model, parameters) in enumerate(systems):
        found = retrieve(collection.documents, collection.topics, model, parameters=parameters, depth=800)
        runs[f"{place} {model}"] = found.run.to_dict()
    return task("made", collection, pooled_runs(runs, 800), relevant, every)


def task(name: str, collection: Collection, pooled: Pooled, relevant: Mapping[str, frozenset[str]], every: int) -> Task:
    """The topics of which some relevant document was retrieved; every so many-th of them."""
    topics = [topic for topic in pooled.topics if relevant.get(topic, frozenset()) & set(pooled.of(topic).documents)]
    return Task(name=name, collection=collection, pooled=pooled, relevant=relevant, topics=topics[::every])


def needed(hits: Sequence[bool], total: int) -> list[int]:
    found = np.cumsum(hits)
    return [int(np.searchsorted(found, ceil(round(target * total, 9)))) + 1 for target in TARGETS]


def efforts(task: Task, method: Strategy, seed: int = 0) -> Efforts:
    """What a method needs, topic by topic."""
    answers = []
    for topic in task.topics:
        candidates = method.candidates(task.pooled, topic)
        relevant = task.relevant[topic]
        labels = [document in relevant for document in candidates.documents]
        wanted, hits = ceil(round(max(TARGETS) * sum(labels), 9)), []
        for number in replayed(method.started(candidates, candidates.generator(seed)), labels.__getitem__):
            hits.append(labels[number])
            if sum(hits) == wanted:
                break
        answers.append(needed(hits, sum(labels)))
    return answers


def with_asreview(task: Task, python: str, documents: Callable[[str], Candidates]) -> Efforts:
    """What ASReview's simulation needs on the same documents, the question given to it as a relevant record."""
    assert task.collection.documents is not None
    assert task.collection.topics is not None
    row = {id: number for number, id in enumerate(task.collection.documents.ids)}
    question = dict(zip(task.collection.topics.ids, task.collection.topics.queries(), strict=True))
    asked = []
    for topic in task.topics:
        names = documents(topic).documents
        relevant = [place for place, name in enumerate(names) if name in task.relevant[topic]]
        asked.append({"question": question[topic], "rows": [row[name] for name in names], "relevant": relevant})
    given = {"texts": task.collection.documents.text(), "topics": asked, "targets": TARGETS}
    script = Path(__file__).parent / "peers" / "with_asreview.py"
    done = subprocess.run([python, str(script)], input=json.dumps(given), capture_output=True, text=True, check=True)
    answers: Efforts = json.loads(done.stdout)
    return answers


def compared(title: str, by_method: Mapping[str, Efforts]) -> str:
    """A row a method, and what the first of them needs more or less than the best of the others."""
    own, *_ = by_method
    values = {name: np.array(of, dtype=float) for name, of in by_method.items()}
    lines = [f"**{title}**", "", "| method | to 80% | to 95% |", "|---|--:|--:|"]
    lines += [f"| {name} | {of[:, 0].mean():.1f} | {of[:, 1].mean():.1f} |" for name, of in values.items()]
    lines.append("")
    for place, target in enumerate(TARGETS):
        best = min((name for name in values if name != own), key=lambda name: values[name][:, place].mean())
        difference = values[own][:, place] - values[best][:, place]
        half = t.ppf(0.975, len(difference) - 1) * difference.std(ddof=1) / sqrt(len(difference))
        low, mean, high = ((difference.mean() + part) / values[best][:, place].mean() for part in (-half, 0.0, half))
        met = "met" if high <= BAR else "not met"
        lines.append(
            f"- {target:.0%}: {mean:+.1%} [{low:+.1%}, {high:+.1%}] against {best}, the best of the others; "
            f"bar ≤ {BAR:+.0%}: {met}"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asreview", metavar="PYTHON")
    parser.add_argument("--data", default=str(Path(__file__).parents[2] / "shared" / "data" / "cranfield"))
    parser.add_argument("--every", type=int, default=1, help="only every so many-th topic")
    parser.add_argument("--seed", default="learning", help="of the collection that is made")
    parser.add_argument("--only", choices=["classic", "made"])
    given = parser.parse_args()
    for name in ("classic", "made"):
        if given.only in (None, name):
            task = made(given.every, given.seed) if name == "made" else classic(Path(given.data), given.every)
            assert task.collection.documents is not None
            texts = pool_texts(task.collection)
            cal, whole = find_method("cal").reading(texts), find_method("cal(whole=1)").reading(texts)
            about = f"{name}: {len(task.collection.documents):,} documents, {len(task.topics)} topics"
            of_runs = {"cal": efforts(task, cal)} | {other: efforts(task, find_method(other)) for other in OF_RUNS}
            of_all = {"cal(whole=1)": efforts(task, whole)}
            if given.asreview:
                of_runs["ASReview"] = with_asreview(task, given.asreview, task.pooled.of)
                everything = {topic: whole.candidates(task.pooled, topic) for topic in task.topics}
                of_all["ASReview"] = with_asreview(task, given.asreview, everything.__getitem__)
            print(compared(f"{about}, documents of the runs", of_runs))
            if given.asreview:
                print(compared(f"{about}, whole collection", of_all), flush=True)


if __name__ == "__main__":
    main()
