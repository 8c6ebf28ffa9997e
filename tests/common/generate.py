"""Seeded collections of every awkward shape, and the parameterisations under which every measure is tested.

Both are derived: a newly registered measure is covered by all property tests as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from cranfield import Measure
from cranfield.measures import all_measures
from cranfield.measures.definition import EVERYWHERE

Judgements = dict[str, dict[str, float]]
Rankings = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Collection:
    """Judgements and one run over them, as a user would hold them in memory."""

    name: str
    qrels: Judgements
    run: Rankings

    def __repr__(self) -> str:
        return self.name


def collection(
    name: str,
    seed: int,
    *,
    grades: tuple[float, ...] = (0, 0, 1, 2, 3),
    topics: int = 6,
    documents: int = 40,
    judged: int = 15,
    retrieved: tuple[int, int] = (5, 30),
    score_levels: int | None = None,
) -> Collection:
    """Random judgements and a random run.

    Scores are multiples of 1/64 below 2^17, exact in single precision, as older tools store them. `score_levels`
    makes documents share that many scores; without it no two scores of a topic are equal.
    """
    random = Random(f"{name} {seed}")
    names = [f"d{number}" for number in random.sample(range(1, 10 * documents), documents)]
    qrels: Judgements = {}
    run: Rankings = {}
    for topic in map(str, random.sample(range(1, 200), topics)):
        qrels[topic] = {document: random.choice(grades) for document in random.sample(names, judged)}
        found = random.sample(names, random.randint(*retrieved))
        levels = range(-1000, 1000) if score_levels is None else random.choices(range(-1000, 1000), k=score_levels)
        scores = random.sample(levels, len(found)) if score_levels is None else random.choices(levels, k=len(found))
        run[topic] = {document: score / 64 for document, score in zip(found, scores, strict=True)}
    qrels[next(iter(qrels))]["d0"] = max(grades)  # something is relevant in every collection
    return Collection(f"{name}-{seed}", qrels, run)


def graded(seed: int) -> Collection:
    return collection("graded", seed)


def binary(seed: int) -> Collection:
    return collection("binary", seed, grades=(0, 1))


def tied(seed: int) -> Collection:
    return collection("tied", seed, score_levels=4)


def one_score(seed: int) -> Collection:
    return collection("one_score", seed, score_levels=1)


def mostly_unjudged(seed: int) -> Collection:
    return collection("mostly_unjudged", seed, documents=300, judged=12, retrieved=(50, 120))


def short_lists(seed: int) -> Collection:
    return collection("short_lists", seed, retrieved=(1, 3))


def negative_grades(seed: int) -> Collection:
    return collection("negative_grades", seed, grades=(-2, -1, 0, 1, 2))


def fractional_grades(seed: int) -> Collection:
    return collection("fractional_grades", seed, grades=(0, 0.25, 0.5, 1, 1.75))


def missing_topics(seed: int) -> Collection:
    """Some topics have judgements alone, one an answer alone."""
    made = collection("missing_topics", seed)
    left_out = list(made.run)[1::2]
    run = {topic: ranking for topic, ranking in made.run.items() if topic not in left_out}
    return Collection(made.name, made.qrels, run | {"1000": {"d1": 1.0}})


def nothing_relevant(seed: int) -> Collection:
    """Topics for which no document is relevant, beside others."""
    made = collection("nothing_relevant", seed)
    qrels = {
        topic: {document: min(grade, 0) if number % 2 else grade for document, grade in judgements.items()}
        for number, (topic, judgements) in enumerate(made.qrels.items())
    }
    return Collection(made.name, qrels, made.run)


def all_relevant(seed: int) -> Collection:
    """No judged document is not relevant: where a formula divides by their number."""
    return collection("all_relevant", seed, grades=(1, 2))


SHAPES: tuple[Callable[[int], Collection], ...] = (
    graded,
    binary,
    tied,
    one_score,
    mostly_unjudged,
    short_lists,
    negative_grades,
    fractional_grades,
    missing_topics,
    nothing_relevant,
    all_relevant,
)
WHOLE_GRADES = tuple(shape for shape in SHAPES if shape is not fractional_grades)
UNTIED = tuple(shape for shape in WHOLE_GRADES if shape not in (tied, one_score))


def collections(seeds: int = 2, shapes: tuple[Callable[[int], Collection], ...] = SHAPES) -> list[Collection]:
    """Several collections of every shape."""
    return [shape(seed) for shape in shapes for seed in range(seeds)]


def ranking(scores: dict[str, float]) -> list[str]:
    """The documents of one topic in the order of the default policy: score, then id as bytes, both descending."""
    return sorted(scores, key=lambda document: (scores[document], document.encode()), reverse=True)


# What is written after @, by the name of the parameter that it sets.
AT: dict[str, Any] = {"cutoff": 10, "recall": 0.3, "multiple": 0.5}
# Values to vary parameters with: of each type the first that the parameter's own check accepts, and every word.
VALUES: tuple[Any, ...] = (
    *(2, 10, 0.5, 1.5, 0.25, -2, -0.25, {1: 3, 2: 9}),
    *(False, True, "exp", "linear", "retrieved", "ETU", "ED", "residual", "infAP", "exact", "none", "preferred"),
    *("seen", "all", "returned"),
)


def other_values(measure: Measure, name: str) -> list[Any]:
    """Legal values of a parameter besides its default."""
    definition = measure.definition
    legal = [
        value for value in VALUES if definition.parameters[name].check(value) and value != definition.defaults.get(name)
    ]
    assert legal, f"no value for {definition.name}({name}=…): add one to VALUES in tests/common/generate.py"
    return list({value if isinstance(value, str) else type(value): value for value in reversed(legal)}.values())


def variants(measure: Measure) -> list[Measure]:
    """A measure with its defaults, with a cutoff, and with each parameter at other values, cut or not."""
    definition = measure.definition
    varied = [measure]
    for name in definition.parameters:
        if name not in (definition.at, *EVERYWHERE):
            varied += [measure(**{name: value}) for value in other_values(measure, name)]
    whole = [] if definition.required else varied
    return whole + ([one @ AT[definition.at] for one in varied] if definition.at else [])


def all_variants() -> Iterator[Measure]:
    """Every registered measure that needs grades alone, in every parameterisation."""
    for measure in all_measures():
        if measure.definition.needs is None:
            yield from variants(measure)


def cut_inside(forms: Iterable[Measure]) -> Iterator[Measure]:
    """Measures, and where they have a cutoff also with some that lie inside the shortest of lists."""
    for form in forms:
        yield form
        if form.parameters.get("cutoff") == AT["cutoff"]:
            yield form @ 3
            if len(form.given) == 1:
                yield from (form @ 1, form @ 2)
