"""Scores that were computed elsewhere, in the long form of a frame, made into results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import ArgumentError, DataError, UsageError, plural, some
from cranfield.evaluation.experiment import Experiment, Input, Judgements, input_of
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.opinions import opinions, shown_pool
from cranfield.formats import read_qrels
from cranfield.judged import Floats, Integers
from cranfield.libraries import library
from cranfield.measures import Measure, parse_measure
from cranfield.policy import Policy
from cranfield.records import NamedTuple
from cranfield.tables import describe_type

if TYPE_CHECKING:
    import pyarrow

_ATTACHED = "_cranfield_facts"  # a frame that is made of another, by a filter or a file, has not got it
COLUMNS = ("run", "topic", "measure", "score")
SOURCE = "the frame of scores"
SAME = 1e-9  # scores that differ by no more were computed from the same
_LOG = "what was odd of its runs is not in it: spark.evaluate has written that to the log cranfield.spark"
LOGGED = Finding("logged", SOURCE, _LOG, doubtful=False)


class FrameFacts(NamedTuple):
    """What the rows of a frame of scores do not say: the order of runs and measures, and what was odd of the inputs."""

    runs: tuple[str, ...] = ()
    measures: tuple[Measure, ...] = ()
    warnings: tuple[Finding, ...] = ()

    def attach(self, frame: object) -> None:
        """Leaves them with a frame of Spark, for whoever makes results of it."""
        setattr(frame, _ATTACHED, self)

    @classmethod
    def of(cls, frame: object) -> FrameFacts:
        """Those of a frame; of one of Spark that has none, where warnings are."""
        facts = getattr(frame, _ATTACHED, None)
        if isinstance(facts, FrameFacts):
            return facts
        return cls(warnings=(LOGGED,)) if hasattr(frame, "toArrow") else cls()


class Cube:
    """scores[run, measure, topic] of a frame, with the names of all three in order.

    Rows of a frame have no order: runs stand as `names` has them and measures as `measures` do, by name where nobody
    says; topics by number where all are numbers.

    >>> import pyarrow as pa
    >>> rows = {"run": ["b", "a"], "topic": ["1", "1"], "measure": ["AP", "AP"], "score": [0.5, 0.25]}
    >>> cube = Cube(pa.table(rows), every_topic=True)
    >>> cube.runs, cube.scores.tolist()
    (('a', 'b'), [[[0.25]], [[0.5]]])
    """

    def __init__(
        self, frame: Any, names: Sequence[str] = (), measures: Sequence[Measure] = (), *, every_topic: bool
    ) -> None:
        table = _table(frame)
        orders = {"run": list(names), "measure": [str(measure) for measure in measures], "topic": []}
        runs, scored, topics = (_numbered(table, name, order) for name, order in orders.items())
        self.runs, self.topics = runs[0], topics[0]
        self.measures: tuple[Measure, ...] = tuple(map(parse_measure, scored[0]))
        self.scores: Floats = np.full((len(runs[0]), len(scored[0]), len(topics[0])), np.nan)
        places = runs[1], scored[1], topics[1]
        times = np.zeros(self.scores.shape, dtype=np.int64)
        np.add.at(times, places, 1)
        self._refuse(times > 1, "has two scores")
        values = table.column("score").to_numpy(zero_copy_only=False).astype(np.float64)
        self.scores[places] = values
        holes = (times == 0) if every_topic else (times == 0) & (times > 0).any(axis=1, keepdims=True)
        self._refuse(holes | ((times == 1) & np.isnan(self.scores)), "has no score")

    def _refuse(self, wrong: np.ndarray[Any, np.dtype[np.bool_]], what: str) -> None:
        if wrong.any():
            run, measure, topic = np.argwhere(wrong)[0].tolist()
            which = f"run '{self.runs[run]}' {what} by {self.measures[measure]} on topic '{self.topics[topic]}'"
            raise DataError(which, source=SOURCE, remedy="There must be one for each run, measure and topic.")


def _table(frame: Any) -> pyarrow.Table:
    """The four columns of a frame, as Arrow has them: Spark's is fetched from its cluster."""
    library("pyarrow", "Results.from_frame")
    import pyarrow as pa

    if hasattr(frame, "toArrow"):
        frame = frame.toArrow()
    if not hasattr(frame, "__arrow_c_stream__"):
        raise ArgumentError(f"{SOURCE}: expected a data frame, not {describe_type(frame)}")
    table = pa.table(frame)
    missing = [name for name in COLUMNS if name not in table.column_names]
    if missing:
        raise DataError(
            f"no column {some(missing)} among {some([repr(name) for name in table.column_names], 12)}",
            source=SOURCE,
            remedy="It has the columns run, topic, measure and score, as cranfield.spark.evaluate makes them.",
        )
    if not table.num_rows:
        raise DataError("has no rows", source=SOURCE)
    return table


def _numbered(table: pyarrow.Table, name: str, names: Sequence[str]) -> tuple[tuple[str, ...], Integers]:
    """The different names in a column, in order, and for each row the number of its own; the order may be given."""
    import pyarrow as pa

    column = table.column(name).cast(pa.string()).combine_chunks()
    if column.null_count:
        raise DataError(f"a row has no {name}", source=SOURCE)
    encoded = column.dictionary_encode()
    found = encoded.dictionary.to_pylist()
    ordered = read_qrels({topic: {"-": 1} for topic in found}).topics if name == "topic" else sorted(found)
    if names and sorted(names) != ordered:
        which = "names are those of the runs" if name == "run" else "measures are those"
        raise UsageError(f"{which} in the frame, each once, in any order: {some(ordered, 20)}")
    ordered = list(names) or ordered
    place = {one: number for number, one in enumerate(ordered)}
    number_of = np.array([place[one] for one in found], dtype=np.int64)
    return tuple(ordered), number_of[encoded.indices.to_numpy(zero_copy_only=False)]


def check_topics(cube: Cube, judgements: Judgements, policy: Policy) -> None:
    """Refuses judgements that are others than those of the scores: each has topics that the other lacks."""
    qrels, pool = judgements.qrels, judgements.pool
    scored, judged = set(cube.topics), set(pool.topics)
    unjudged = [topic for topic in cube.topics if topic not in judged]
    if unjudged:
        raise DataError(
            f"has scores on {plural(len(unjudged), 'topic')} that {qrels.name} does not judge: {some(unjudged)}",
            source=SOURCE,
            remedy="Give the judgements that it was made with.",
        )
    if policy.topics != "qrels":
        return
    counted = shown_pool(qrels, pool, policy, opinions(qrels, pool, policy, judgements.whole)).has_relevant
    unscored = [
        topic
        for topic, counts in zip(pool.topics, counted.tolist(), strict=True)
        if topic not in scored and (counts or policy.empty_topics != "drop")
    ]
    if unscored:
        raise DataError(
            f"has no score on {plural(len(unscored), 'topic')} that {qrels.name} judges: {some(unscored)}",
            source=SOURCE,
            remedy="Give the judgements and the policy that it was made with: Policy(topic_set=…) where those of some "
            "topics count.",
        )


def check_runs(cube: Cube, experiment: Experiment) -> None:
    """Refuses runs that are others than those of the scores: on one measure that needs grades alone they are evaluated
    again."""
    if experiment.names != cube.runs:
        raise UsageError(
            f"{SOURCE} has the runs {some(cube.runs, 20)}, and those given are {some(experiment.names, 20)}: "
            f"give them under the same names in the same order, as runs={{{cube.runs[0]!r}: …}}"
        )
    m = next((m for m, measure in enumerate(cube.measures) if not measure.definition.needs), None)
    if m is None:
        return
    again = experiment.evaluate(cube.measures[m])
    place = {topic: number for number, topic in enumerate(again.topics)}
    scores = np.full((len(cube.runs), len(cube.topics)), np.nan)
    for t, topic in enumerate(cube.topics):
        if topic in place:
            scores[:, t] = again.scores[:, 0, place[topic]]
    differ = np.argwhere(~np.isclose(cube.scores[:, m], scores, rtol=0, atol=SAME, equal_nan=True)).tolist()
    if differ:
        r, t = differ[0]
        source = experiment.tables()[r].origin
        raise DataError(
            f"is not what the scores of {cube.runs[r]} are of: on topic '{cube.topics[t]}' its {cube.measures[m]} is "
            f"{scores[r, t]:.6g}, and {cube.scores[r, m, t]:.6g} in {SOURCE}",
            source=source.path or source.name,
            remedy="Give the runs, the judgements and the policy that it was made with.",
        )


def inputs_of(experiment: Experiment, cube: Cube, *, judged: bool, given: bool) -> tuple[Input, ...]:
    """What results of a frame were made from: judgements and runs if they were given, otherwise each run's scores."""
    if given:
        of_runs = [input_of(run) for run in experiment.tables()]
    else:
        of_runs = [Input(run, None, None, 0, len(cube.topics), format="scores") for run in cube.runs]
    unknown = Input("qrels", None, None, 0, 0, role="judgements")
    return (*(experiment.beside(experiment.judgements()) if judged else [unknown]), *of_runs)
