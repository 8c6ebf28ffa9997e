"""What a sweep is made of: the parameters of runs from their metadata or a table, or what `search --grid` printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

import numpy as np

from cranfield.efficiency.metadata import read_metadata
from cranfield.errors import CranfieldError, DataError, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.results import Results
from cranfield.formats.attributes import read_attributes
from cranfield.formats.format import decode
from cranfield.formats.json_text import parse
from cranfield.formats.sources import open_source
from cranfield.measures import parse_measure
from cranfield.notation import Value
from cranfield.numerals import decimal
from cranfield.plot.subject import Parameters
from cranfield.policy import Policy
from cranfield.search.search_tables import SCHEMA, tuning_dict
from cranfield.search.tuning import Tuned

STEPS = ("retrieval", "fusion")  # of a method in metadata: what has parameters
NO_SETTINGS = ("name", "learnt from")
WRITTEN_BY = "cranfield search COLLECTION --grid k1=0.6:1.8:0.2 -f json -o tuned.run > sweep.json"
EXPECTED = (
    "Expected the JSON of a sweep, or a table with a header line such as run,k1,b and a line for each run. Is it a run "
    f"file? Without -o a search prints its run in the place of the JSON: {WRITTEN_BY}"
)
REMEDY = "Give a table of them with --swept (parameters= in Python): the run first, then a column for each parameter."


class Swept(NamedTuple):
    """Parameters of runs; and, where every combination was evaluated already, what came of it."""

    parameters: Parameters
    results: Results | None = None


def run_parameters(results: Results) -> dict[str, dict[str, Value]]:
    """The parameters of each run that is a file, from its metadata.

    Whoever was tuned in folds has several values of a parameter, and no place in a picture of one.
    """
    found: dict[str, dict[str, Value]] = {}
    unknown: list[str] = []
    runs = [source for source in results.inputs if source.role == "run"]
    for run, source in zip(results.runs, runs, strict=True):
        own = None if source.path is None else _of_metadata(read_metadata(source.path) or {}, run)
        if own is None:
            unknown.append(run)
        else:
            found[run] = own
    if unknown:
        raise DataError(f"no parameters are known of {some(unknown)}: there are none in the metadata", remedy=REMEDY)
    return found


def _of_metadata(metadata: Mapping[str, Any], run: str) -> dict[str, Value] | None:
    method = metadata.get("method")
    steps = [step for name in STEPS for step in (method.get(name) or []) if isinstance(method, dict)] if method else []
    if not steps or not all(isinstance(step, dict) for step in steps):
        return None
    if len(steps) > 1:
        raise DataError(
            f"{run} was answered with {len(steps)} sets of parameters, one a fold: it has no one value to be drawn at",
            remedy="Leave it out, or draw the sweep itself: `cranfield search … --grid … -f json` and --swept.",
        )
    kind = {"method": steps[0]["name"]} if "method" not in steps[0] and "name" in steps[0] else {}
    own: dict[str, Value] = {**kind, **{name: value for name, value in steps[0].items() if name not in NO_SETTINGS}}
    return _flat(own)


def _flat(parameters: Mapping[str, Value]) -> dict[str, Value]:
    """Lists as a parameter for each of their values.

    >>> _flat({"k": 60, "weights": [0.3, 0.7]})
    {'k': 60, 'weights 1': 0.3, 'weights 2': 0.7}
    """
    flat: dict[str, Value] = {}
    for name, value in parameters.items():
        if isinstance(value, list | tuple):
            flat |= {f"{name} {number}": part for number, part in enumerate(value, start=1)}
        else:
            flat[name] = value
    return flat


def read_swept(path: str) -> Swept:
    """A table with a header, the run first, then its parameters; or the JSON that `search --grid … -f json` printed."""
    data = bytes(open_source(path).data)
    if data.lstrip()[:1] == b"{":
        return _of_document(parse(decode(data), path, None), path)
    table = read_attributes(path, of="run", remedy=EXPECTED)
    values = {run: {name: _value(text) for name, text in own.items() if text} for run, own in table.items()}
    return Swept(values)


def _value(text: str) -> Value:
    number = decimal(text)
    return text if number is None else number


def swept(tuned: Tuned) -> Swept:
    """A sweep as `cranfield.search.tune` gives it, for `cranfield.plot`: every combination as a run.

    >>> from cranfield.planning.splits import split
    >>> from cranfield.search import build_index, tune
    >>> from cranfield.search.tuning import Tuning
    >>> from cranfield.texts.texts import Documents
    >>> index = build_index(Documents(("d1", "d2"), {"text": ["ducks swim", "geese fly, ducks swim and swim"]}))
    >>> tuned = tune(index, "bm25", {"1": "swim", "2": "ducks swim"}, {"1": {"d1": 1}, "2": {"d1": 1}},
    ...              split(["1", "2"], folds=2), Tuning(grid={"b": (0.0, 1.0)}, measure="RR"))
    >>> swept(tuned).parameters
    {'b=0': {'b': 0.0}, 'b=1': {'b': 1.0}}
    """
    return _of_document({"schema": SCHEMA, "tuning": tuning_dict(tuned)}, "the sweep")


def _of_document(document: Any, source: str) -> Swept:
    """Every combination of a sweep as a run on every topic."""
    tuning = document.get("tuning") if isinstance(document, dict) and document.get("schema") == SCHEMA else None
    if not isinstance(tuning, dict):
        _refuse("is not what `cranfield search --grid … -f json` prints: it has no tuning", source)
    try:
        measure = parse_measure(tuning["measure"])
        topics, points = [str(topic) for topic in tuning["topics"]], tuning["points"]
        parameters = {_name(point["parameters"]): _flat(point["parameters"]) for point in points}
        scores = np.array([point["scores"] for point in points], dtype=np.float64).reshape(len(points), 1, len(topics))
    except (KeyError, TypeError, ValueError, CranfieldError) as error:
        _refuse(f"does not have the points of a sweep: {error}", source)
    results = Results(
        runs=tuple(parameters),
        measures=(measure,),
        topics=tuple(topics),
        scores=scores,
        policy=Policy(),
        inputs=(),
        warnings=(),
        experiment=Experiment({}),
    )
    return Swept(parameters, results)


def _name(parameters: Mapping[str, Value]) -> str:
    return ", ".join(
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}" for name, value in parameters.items()
    )


def _refuse(problem: str, source: str) -> NoReturn:
    raise DataError(problem, source=source, remedy=f"Write it again: {WRITTEN_BY}")
