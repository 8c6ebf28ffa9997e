"""Options that several commands share, and what commands do with them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cranfield.efficiency.resources import FIGURES
from cranfield.errors import UsageError
from cranfield.formats import touched
from cranfield.formats.format import FORMATS, readable
from cranfield.formats.kinds import KINDS
from cranfield.formats.layout import ROLES
from cranfield.formats.output import check_place
from cranfield.formats.reading import Reading
from cranfield.notation import spelt
from cranfield.policy import EMPTY_TOPICS, GRADES, JUDGES, TIES, TOPICS, Policy
from cranfield.records import NamedTuple
from cranfield.registry import E, Entry, Function, Registry

if TYPE_CHECKING:
    from cranfield._core import Progress
    from cranfield.evaluation.experiment import Experiment
    from cranfield.evaluation.findings import Finding
    from cranfield.texts.facts import CollectionFacts

Command = TypeVar("Command", bound=Callable[..., Any])

if TYPE_CHECKING:
    _Choice = click.Choice[str]
else:  # before click 8.2 it takes no type
    _Choice = click.Choice


class NameOf(_Choice):
    """One of the names that are shown, or one that a plug-in adds to their registry. Names are known when asked for."""

    def __init__(self, registry: Registry[E], names: Callable[[], Sequence[str]]) -> None:
        self.registry, self.names, self.case_sensitive = registry, names, True

    @property
    def choices(self) -> Sequence[str]:  # type: ignore[override]  # click has them from the beginning
        return self.names()

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        name, names = str(value), self.choices
        if name not in names and self.registry.look_up(name) is None:
            near = self.registry.suggestion(name, names)
            self.fail(f"{name!r} is not one of {', '.join(map(repr, names))}{near or '.'}", parameter, context)
        return name


JUDGEMENTS = NameOf(KINDS, lambda: ["plain", *KINDS])


def measures(*default: str) -> Callable[[Command], Command]:
    """Any number of measures; those that are taken if none is given."""
    return click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        help="A measure, such as nDCG@10 or trec_eval's ndcg_cut_10, or several with commas between; may be repeated. "
        f"[default: {', '.join(default)}]",
    )


def parameter_lines(entry: Entry[Function]) -> list[str]:
    """What may be given to something in brackets, as lists show it: a line each."""
    return [
        f"    {spelt(name)}: {parameter.help} ({parameter.accepts})"
        + (f" [default: {entry.defaults[name]}]" if name in entry.defaults else "")
        for name, parameter in entry.parameters.items()
    ]


def with_commas(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """Names that may be repeated, or stand with commas between them outside brackets."""
    return tuple(name.strip() for names in given for name in re.split(r",(?![^()]*\))", names))


def _named_columns(context: click.Context, _: click.Parameter, given: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """What columns are called, by what they are."""
    named: dict[str, tuple[str, ...]] = {}
    for text in given:
        role, equals, name = text.partition("=")
        if not (equals and role and name):
            raise UsageError(f"--columns says what a column is called, as document=mydoc, not '{text}'")
        named[role] = (*named.get(role, ()), name)
    return named


columns: Callable[[Command], Command] = click.option(
    "--columns",
    multiple=True,
    metavar="WHAT=NAME",
    callback=_named_columns,
    help="Name of a column in the inputs, where it is not recognised, such as document=mydoc; WHAT is "
    f"{', '.join(ROLES[:-1])} or {ROLES[-1]}; may be repeated.",
)


def _labels(context: click.Context, _: click.Parameter, given: str | None) -> dict[str, float]:
    from cranfield.formats.labels import read_labels

    return {} if given is None else read_labels(given)


labels: Callable[[Command], Command] = click.option(
    "--labels",
    metavar="LABEL=GRADE,…",
    callback=_labels,
    help="Which number each grade is, where the judgements have words or letters for grades, as S=3,A=2,B=1,C=0; or a "
    ".toml file with a line for each. L0, L1, … need none.",
)
collection: Callable[[Command], Command] = click.option(
    "--collection",
    metavar="FILE",
    help="The collection's file, or the folder of its collection.toml: it says what grades are called, which numbers "
    "their labels are, and where topics are from.",
)
_TEXTS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--collection",
        metavar="FOLDER",
        help="Show what was asked and found, from the collection: a folder (BEIR, SMART, or with a collection.toml), a "
        "TOML file that names the parts, or an id of ir_datasets (irds:…).",
    ),
    click.option(
        "--questions", metavar="FILE", help="The texts of the topics, instead of those of --collection, or without one."
    ),
    click.option(
        "--documents",
        multiple=True,
        metavar="FILE",
        help="The texts of the documents, a file or a folder, likewise; may be repeated.",
    ),
)
input_format: Callable[[Command], Command] = click.option(
    "--format",
    "input_format",
    type=NameOf(FORMATS, lambda: [format.name for format in readable()]),
    help="Format of the inputs, where their content does not tell.",
)
figures: Callable[[Command], Command] = click.option(
    "--figure",
    "figures",
    type=click.Choice(list(FIGURES)),
    multiple=True,
    help="A figure of efficiency from the metadata of the runs, as a column of its own; may be repeated.",
)
TOPIC_IDS = ("given", "position", "number")
topic_ids: Callable[[Command], Command] = click.option(
    "--ids",
    type=click.Choice(TOPIC_IDS),
    default="given",
    show_default=True,
    help="What topics are called: as they are given; by position, as the judgements of some old collections have it; "
    "or by number, without leading zeros.",
)
judgements: Callable[[Command], Command] = click.option(
    "--judgements",
    type=JUDGEMENTS,
    default="plain",
    show_default=True,
    help="Kind of judgements in QRELS.",
)
correction: Callable[[Command], Command] = click.option(
    "--correction",
    metavar="NAME",
    default="holm",
    show_default=True,
    help="How p-values are corrected for the number of comparisons: all pairs on all measures and collections are one "
    "family. `cranfield compare --correction list` explains them all.",
)
log_format: Callable[[Command], Command] = click.option(
    "--from",
    "log_format",
    metavar="FORMAT",
    help="LOG files are a log of others in this format: ubi, trec-session or yandex, as `online import` has them.",
)
alpha: Callable[[Command], Command] = click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Chance of a false alarm that is accepted.",
)


if TYPE_CHECKING:
    _Text = click.ParamType[str]
else:  # before click 8.3 it takes no type
    _Text = click.ParamType


class OutputFile(_Text):
    """The name of a file to write: a place that cannot be written, or a file that is read too, is refused at once.

    `folder` says that it may also be a folder; `kept`, that a file which is there already is read, not written.
    """

    name = "file"

    def __init__(self, *, folder: bool = False, kept: bool = False) -> None:
        self.folder, self.kept = folder, kept

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        place = str(value)
        if self.kept and os.path.exists(place):
            return place
        purpose = "the output" if parameter is None else parameter.opts[-1]
        if self.folder:
            touched.will_write(place, purpose)
        else:
            check_place(place, purpose)
        return place


def output_format(formats: Sequence[str]) -> Callable[[Command], Command]:
    """How to print, the first format by default."""
    return click.option(
        "-f", "--output-format", type=click.Choice(formats), default=formats[0], show_default=True, help="How to print."
    )


class TopicsThatCount(_Choice):
    """Which topics count. Elsewhere a file of topics stands behind such a name: who gives one is told where it goes."""

    def convert(self, value: Any, parameter: click.Parameter | None, context: click.Context | None) -> str:
        takes_texts = context is not None and any(option.name == "questions" for option in context.command.params)
        if takes_texts and str(value) not in TOPICS and os.path.exists(str(value)):
            raise UsageError(f"--topics says which topics count; their texts, as {value}, are given with --questions")
        return str(super().convert(value, parameter, context))


# Every decision that changes a number, under the name of the policy's field.
_POLICY: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--ties",
        type=click.Choice(TIES),
        default="docid",
        show_default=True,
        help="Order of documents with equal scores: by id descending, as in trec_eval; as in the file; better grades "
        "first or last; or the mean over all orders.",
    ),
    click.option(
        "--topics",
        type=TopicsThatCount(TOPICS),
        default="qrels",
        show_default=True,
        help="Topics that count: all judged ones (a missing answer scores 0), those every run answers, or each run's "
        "own.",
    ),
    click.option(
        "--empty-topics",
        type=click.Choice(EMPTY_TOPICS),
        default="zero",
        show_default=True,
        help="Topics without a relevant document: count them, mostly with a score of 0, or leave them out.",
    ),
    click.option("--depth", type=click.IntRange(1), help="Cut every ranking here."),
    click.option("--judged-only", is_flag=True, help="Take unjudged documents out of the rankings (condensed lists)."),
    click.option(
        "--grades",
        type=click.Choice(GRADES),
        default="grades",
        show_default=True,
        help="What grades are: grades, or probabilities from 0 to 1 that a document is relevant, which make scores "
        "expected values.",
    ),
)


# It names a file, which is read where all is known of how to read.
_TOPIC_SET = click.option(
    "--topic-set",
    metavar="FILE[:PART]",
    help="Evaluate on these topics alone: a list with one id a line, judgements or topics that have them, or a part of "
    "what `cranfield split` wrote, as splits.json:test or, of several folds, splits.json:fold1.test.",
)


# What judgements say besides a grade, and what is known besides judgements.
_JUDGEMENTS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--judgements",
        type=JUDGEMENTS,
        help="Kind of judgements in QRELS; by default the one that a measure needs, or plain ones.",
    ),
    click.option(
        "--judges",
        type=click.Choice(JUDGES),
        default="grade",
        show_default=True,
        help="How several judges become one (--judgements judges): the mean of their grades; the mean of the scores "
        "under each judge; the same, weighted by agreement; or the grade that more than half reach.",
    ),
    click.option(
        "--known",
        metavar="FILE",
        help="For coverage and novelty: the documents that the user knew before, as a file of judgements, or as lines "
        "of a topic and a document.",
    ),
    click.option(
        "--lengths",
        metavar="FILE",
        help="For TBG and U: the length of every document retrieved, as lines of document and length, or JSON.",
    ),
)


DECISIONS = ("ties", "topics", "empty_topics", "depth", "judged_only", "grades", "judges")  # of them, those of a policy
_THREADS = click.option(
    "--threads",
    type=click.IntRange(1),
    help="Number of threads; as many as cores by default. Results do not depend on it.",
)


class Inputs(NamedTuple):
    """What a command was told of its inputs: how to read them, what is beside them, and every decision on them."""

    policy: Policy
    reading: Reading
    known: str | None
    lengths: str | None

    def experiment(
        self,
        qrels: str,
        runs: Sequence[str],
        *,
        digest: bool = False,
        progress: Progress | None = None,
        rows: bool = False,
    ) -> Experiment:
        """Judgements and runs under these; `rows` says that all rows of the runs will be needed."""
        from cranfield.evaluation.experiment import Experiment

        reading = self.read(digest=digest, progress=progress)
        return Experiment(qrels, list(runs), self.policy, reading, self.known, self.lengths, rows=rows)

    def read(self, *, digest: bool = False, progress: Progress | None = None) -> Reading:
        """How to read, with digests of the files if they are wanted."""
        wanted = self.reading.digest or ("xxh3_128" if digest else None)
        return replace(self.reading, digest=wanted, progress=progress)


def inputs(command: Command) -> Command:
    """Every option about judgements and runs, given to the command as `inputs`."""

    @wraps(command)
    def called(*arguments: Any, **given: Any) -> Any:
        policy = Policy(**{name: given.pop(name) for name in DECISIONS})
        told = Inputs(policy, _taken_reading(given, kind=True), given.pop("known"), given.pop("lengths"))
        topic_set = given.pop("topic_set")
        if topic_set is not None:
            from cranfield.planning.topic_sets import read_topic_set

            told = told._replace(policy=replace(policy, topic_set=read_topic_set(topic_set, told.reading)))
        return command(*arguments, inputs=told, **given)

    parts = (*_POLICY, _TOPIC_SET, *_JUDGEMENTS, input_format, columns, labels, _THREADS)
    return _with(parts, called)  # type: ignore[return-value]


def texts(command: Command) -> Command:
    """Where the texts of topics and documents are, given to the command as `texts`; None where nothing is said.

    A collection that says which numbers the labels of grades are says so for reading judgements too.
    """

    @wraps(command)
    def called(*arguments: Any, **given: Any) -> Any:
        collection, questions = given.pop("collection"), given.pop("questions")
        documents, ids = given.pop("documents"), given.pop("ids")
        if collection is None and questions is None and not documents:
            if ids != "given":
                raise UsageError("--ids is of the texts of topics: give --collection or --questions")
            return command(*arguments, texts=None, **given)
        from cranfield.quotation.text_sources import TextSource

        source = TextSource(collection=collection, topics=questions, documents=documents, ids=ids)
        if "labels" in given:
            given["labels"] = given["labels"] or source.listed.labels
        return command(*arguments, texts=source, **given)

    return _with((*_TEXTS, topic_ids), called)  # type: ignore[return-value]


def decisions(*wanted: str) -> Callable[[Command], Command]:
    """Some of the decisions that change a number, given to the command as `policy`; the others are as by default."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(*arguments: Any, **given: Any) -> Any:
            return command(*arguments, policy=Policy(**{name: given.pop(name) for name in wanted}), **given)

        known = dict(zip(DECISIONS, _POLICY, strict=False))
        return _with([known[name] for name in wanted], called)  # type: ignore[return-value]

    return decorate


def reading(*without: str, kind: bool = False) -> Callable[[Command], Command]:
    """How inputs are read, given to the command as `reading`; with `kind` its --judgements is part of that."""
    chosen = {"format": input_format, "columns": columns, "labels": labels, "threads": _THREADS}

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(*arguments: Any, **given: Any) -> Any:
            return command(*arguments, reading=_taken_reading(given, kind=kind), **given)

        return _with([option for name, option in chosen.items() if name not in without], called)  # type: ignore[return-value]

    return decorate


def gathered(name: str, made_by: Callable[..., object]) -> Callable[[Command], Command]:
    """Some options of a command in one record, given to it under a name: those that what makes the record takes."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(*arguments: Any, **given: Any) -> Any:
            record = made_by(**{option: given.pop(option) for option in signature(made_by).parameters})
            return command(*arguments, **{name: record}, **given)

        return called  # type: ignore[return-value]

    return decorate


def answers(command: Command) -> Command:
    """A table of answers and the scale that they are to, given to the command as `answers`."""

    @wraps(command)
    def called(*arguments: Any, answers: str, **given: Any) -> Any:
        from cranfield.studies.answers import read_answers
        from cranfield.studies.scales import SCALES, Scale, changed, find_scale, read_scales

        name, file = given.pop("scale"), given.pop("scales")
        own = {option: given.pop(option) for option in ("items", "reversed", "missing")}
        low, high = given.pop("range") or (None, None)
        better = "less" if given.pop("less_is_better") else None
        others = read_scales(file) if file is not None else {}
        if own["items"] and name not in (*SCALES, *others):
            others[name] = Scale(name=name, items=own["items"])
        scale = changed(find_scale(name, others), low=low, high=high, better=better, **own)
        columns = {role: _one_name(role, names) for role, names in given.pop("columns").items()}
        return command(*arguments, answers=read_answers(answers, scale, columns=columns), **given)

    return _with((click.argument("answers"), *_SCALE), called)  # type: ignore[return-value]


def _one_name(role: str, names: tuple[str, ...]) -> str:
    """The name of a column of answers, of which there is one."""
    first, *others = dict.fromkeys(names)
    if others:
        raise UsageError(f"--columns names {role} twice: {', '.join(names)}; a table of answers has one")
    return first


def _listed(context: click.Context, parameter: click.Parameter, given: str | None) -> tuple[str, ...] | None:
    """Names with commas between."""
    return None if given is None else tuple(name.strip() for name in given.split(",") if name.strip())


def _range(context: click.Context, parameter: click.Parameter, given: str | None) -> tuple[float, float] | None:
    from cranfield.numerals import decimal

    if given is None:
        return None
    low, high = (decimal(text) for text in (*given.partition(":")[::2],))
    if low is None or high is None:
        raise UsageError(f"--range is the lowest and the highest answer, as 1:7, not '{given}'")
    return low, high


_SCALE: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--scale",
        required=True,
        metavar="NAME",
        help="What was asked: sus, tlx, tlx-weighted, satisfaction, one of --scales, or a name for --items.",
    ),
    click.option("--scales", metavar="FILE", help="Scales of your own, as TOML: docs/studies.md."),
    click.option("--items", metavar="NAMES", callback=_listed, help="Columns of the items, with commas between."),
    click.option("--range", metavar="LOW:HIGH", callback=_range, help="The lowest and the highest answer, as 1:7."),
    click.option("--reversed", metavar="NAMES", callback=_listed, help="Items that are turned round."),
    click.option("--less-is-better", is_flag=True, help="A low score is a good one."),
    click.option(
        "--missing",
        type=click.Choice(("leave-out", "mean")),
        help="A sheet that lacks an answer has no score, or the mean of the others if these are at least half. "
        "[default: leave-out]",
    ),
    click.option(
        "--columns",
        multiple=True,
        metavar="WHAT=NAME",
        callback=_named_columns,
        help="Name of a column in ANSWERS, where it is not recognised, such as participant=who; WHAT is participant, "
        "system, topic, item or answer; may be repeated.",
    ),
)


READING = ("input_format", "columns", "labels", "threads")


def _taken_reading(given: dict[str, Any], *, kind: bool) -> Reading:
    return Reading(
        format=given.pop("input_format", None),
        columns=given.pop("columns", {}),
        labels=given.pop("labels", {}),
        judgements=given.pop("judgements") if kind else None,
        threads=given.pop("threads", None),
    )


def resampled_topics(command: Command) -> Command:
    """How intervals over topics are drawn, given to the command as `resamples` and `seed`."""
    drawn = (
        click.option(
            "--resamples",
            type=click.IntRange(100),
            default=1000,
            show_default=True,
            help="Resamples of the topics for intervals.",
        ),
        click.option(
            "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same intervals."
        ),
    )
    return _with(drawn, command)


def fields(text: str | None) -> tuple[str, ...]:
    """The fields of FIELD[+FIELD].

    >>> fields("title+description"), fields(None)
    (('title', 'description'), ())
    """
    return tuple(field.strip() for field in text.split("+")) if text else ()


def _with(chosen: Sequence[Callable[[Any], Any]], command: Command) -> Command:
    for option in reversed(chosen):
        command = option(command)
    return command


def bytes_of(context: click.Context, parameter: click.Parameter, given: str) -> int:
    """A size, as 500K or 5M.

    >>> bytes_of(None, None, "1.5M"), bytes_of(None, None, "200")  # type: ignore[arg-type]
    (1500000, 200)
    """
    from cranfield.numerals import decimal

    unit = {"K": 1000, "M": 1_000_000, "G": 1_000_000_000}.get(given[-1:].upper(), 1)
    number = decimal(given[:-1] if unit > 1 else given)
    if number is None or not 0 <= number * unit <= 1e12:
        raise UsageError(f"{parameter.opts[0]} is a number of bytes, as 5M or 500K, not '{given}'")
    return round(number * unit)


def collection_facts(collection: str | None, reading: Reading) -> tuple[CollectionFacts, Reading]:
    """What --collection says, and how to read with the numbers that it has for labels, unless others were given."""
    from cranfield.evaluation.findings import Finding
    from cranfield.texts.collection import listed_parts
    from cranfield.texts.facts import NO_FACTS

    if collection is None:
        return NO_FACTS, reading
    parts = listed_parts(collection)
    if not parts.facts and not parts.labels:
        nothing = "has neither [grades] nor [labels] nor topic_source: nothing of it is shown"
        warn([Finding("no-facts", collection, nothing, doubtful=False)])
    return parts.facts, replace(reading, labels=reading.labels or parts.labels)


def show(text: str, warnings: Iterable[Finding] = ()) -> None:
    """Prints a result, then on standard error what is odd about it: who reads that has seen what it is about."""
    from cranfield.cli.streams import show_text

    try:
        show_text(text)
    finally:  # even if whoever reads the result has seen enough of it
        warn(warnings)


def warn(warnings: Iterable[Finding]) -> None:
    """Says on standard error what is odd."""
    from cranfield.cli.streams import tell
    from cranfield.evaluation.findings import gathered

    for warning in gathered(warnings):
        tell("warning" if warning.doubtful else "note", str(warning))
