"""What an earlier evaluation printed as JSON, to tell what changed since: the public half and the private half."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from cranfield.errors import DataError, UsageError, plural, shorten, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.result_json import SCHEMA
from cranfield.evaluation.results import Results
from cranfield.measures import Measure
from cranfield.policy import Policy

if TYPE_CHECKING:
    from cranfield.formats.given import File, Json

HOW = "Make it by `cranfield evaluate … -f json`, with the same measure and the same options."


@dataclass(frozen=True, kw_only=True)
class EarlierResults:
    """Means of runs by one measure. `topics` are those they are over, None where that is not told; `judgements` is the
    digest of these, `files` those of the runs.
    """

    name: str
    means: Mapping[str, float]
    topics: frozenset[str] | None
    judgements: str | None
    files: Mapping[str, str | None]


def read_earlier(source: File | Mapping[str, Json], measure: Measure, policy: Policy) -> EarlierResults:
    """Reads what `cranfield evaluate -f json` printed; another measure or another policy is an error.

    >>> import cranfield
    >>> results = cranfield.evaluate({"q1": {"d1": 1}}, {"a": {"q1": {"d1": 1.0}}}, "RR")
    >>> earlier = read_earlier(results.to_dict(), results.measures[0], Policy())
    >>> earlier.means, sorted(earlier.topics)
    ({'a': 1.0}, ['q1'])
    >>> read_earlier(results.to_dict(), results.measures[0], Policy(depth=10))
    Traceback (most recent call last):
    cranfield.errors.UsageError: the earlier results: made under another policy: depth is 10 now and was None
    """
    name, document = ("the earlier results", source) if isinstance(source, Mapping) else _read_json(source)
    if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
        raise DataError("is not the JSON of an evaluation", source=name, remedy=HOW)
    earlier = _Document(name)
    measures = [str(other) for other in earlier.listed(document, "measures", str)]
    runs = earlier.listed(document, "runs", Mapping)
    if not measures or not runs:
        raise DataError("has no runs" if measures else "has no measures", source=name, remedy=HOW)
    if str(measure) not in measures:
        raise UsageError(
            f"{name}: no scores by {measure} in it, but by {some(measures)}: two measures are not compared"
        )
    made_under = earlier.mapping(document, "policy")
    inputs = earlier.listed(document, "inputs", Mapping)
    if len(inputs) < len(runs) + 1:
        raise earlier.damaged("'inputs'", "the judgements and a file for each run", inputs)
    known = EarlierResults(
        name=name,
        means=_means(earlier, runs, str(measure)),
        topics=_topics(earlier, runs, made_under),
        judgements=earlier.text(inputs[0], "digest"),
        files=_files(earlier, inputs[-len(runs) :]),
    )
    _check_policy(made_under, policy, name)
    return known


class _Document(NamedTuple):
    """The JSON of an evaluation: what is in it is what it should be, or the error says what is not."""

    name: str

    def damaged(self, what: str, expected: str, value: object) -> DataError:
        shown = shorten(repr(value), 60)
        return DataError(
            f"is not the JSON of an evaluation: {what} must be {expected}, not {shown}", source=self.name, remedy=HOW
        )

    def listed(self, of: Mapping[str, Any], key: str, kind: type) -> list[Any]:
        """A list of values of one kind."""
        values = of.get(key)
        if not isinstance(values, list) or not all(isinstance(value, kind) for value in values):
            raise self.damaged(f"'{key}'", f"a list of {'texts' if kind is str else 'objects'}", values)
        return values

    def mapping(self, of: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = of.get(key)
        if not isinstance(value, Mapping):
            raise self.damaged(f"'{key}'", "an object", value)
        return value

    def text(self, of: Mapping[str, Any], key: str) -> str | None:
        """A text, or null."""
        value = of.get(key)
        if value is not None and not isinstance(value, str):
            raise self.damaged(f"'{key}'", "text or null", value)
        return value


def _means(earlier: _Document, runs: list[Mapping[str, Any]], measure: str) -> dict[str, float]:
    """The mean of each run, all of which have names of their own."""
    means: dict[str, float] = {}
    for run in runs:
        name = run.get("name")
        if not isinstance(name, str):
            raise earlier.damaged("the name of a run", "text", name)
        if name in means:
            raise DataError(f"has two runs of the name {shorten(name)}", source=earlier.name, remedy=HOW)
        mean = earlier.mapping(run, "mean").get(measure)
        if isinstance(mean, bool) or not isinstance(mean, int | float) or not isfinite(mean):
            raise earlier.damaged(f"the mean of {shorten(name)} by {measure}", "a number", mean)
        means[name] = float(mean)
    return means


def changes(known: EarlierResults, results: Results) -> Iterator[Finding]:
    """What a reader must know before believing the changes; an error if no run was scored before."""
    shared = [run for run in results.runs if run in known.means]
    if not shared:
        raise DataError(
            f"none of these runs is in it: it has {some(list(known.means), 3)}, and now there are "
            f"{some(results.runs, 3)}",
            source=known.name,
            remedy="Runs are known by their names: those of their files.",
        )
    gone = [run for run in known.means if run not in results.runs]
    if gone:
        message = f"{plural(len(gone), 'run')} of it not here now, but counted in the ranks before: {some(gone)}"
        yield Finding("runs-gone", known.name, message)
    new = [run for run in results.runs if run not in known.means]
    if new:
        yield Finding("runs-new", known.name, f"{plural(len(new), 'run')} not in it, so without a change: {some(new)}")
    of_runs = results.inputs[-len(results.runs) :]
    digests = {run: source.digest for run, source in zip(results.runs, of_runs, strict=True)}
    other = [run for run in shared if _differ(known.files.get(run), digests.get(run))]
    if other:
        message = f"{plural(len(other), 'run')} from another file than before: {some(other)}"
        yield Finding("other-runs", known.name, message, doubtful=False)
    yield from _topics_in_both(known, results)


def _topics_in_both(known: EarlierResults, results: Results) -> Iterator[Finding]:
    """Topics that were scored before: what they add to a change is not new."""
    topics = known.topics
    if topics is None and not _differ(known.judgements, results.inputs[0].digest, unknown=True):
        topics = frozenset(results.topics)  # those of all judgements
    if topics is None:
        message = "does not say which topics it is over, so that topics in both cannot be told: make it with -q"
        yield Finding("unknown-topics", known.name, message)
        return
    both = [topic for topic in results.topics if topic in topics]
    if both:
        which = "these topics are" if len(both) > 1 else "this topic is"
        message = f"{which} in both, {len(both):,} of {len(results.topics):,} here: {some(both)}"
        yield Finding("topics-in-both", known.name, message)


def _check_policy(written: Mapping[str, Any], policy: Policy, name: str) -> None:
    """Topics may be others; every other decision that changes a number is to be the same.

    How random numbers are drawn changes none where none are.
    """
    now = policy.to_dict()
    before = Policy().to_dict() | dict(written)
    drawn = now["ties"] == "expected" or now["grades"] == "probabilities"
    ignored = {"topic_set", *(() if drawn else ("samples", "seed"))}
    other = [
        f"{setting} is {value} now and was {before[setting]}"
        for setting, value in now.items()
        if setting not in ignored and (before[setting] != value or type(before[setting]) is not type(value))
    ]
    if other:
        raise UsageError(f"{name}: made under another policy: {'; '.join(other)}")


def _topics(earlier: _Document, runs: list[Mapping[str, Any]], made_under: Mapping[str, Any]) -> frozenset[str] | None:
    """The topics that means are over, where the JSON tells."""
    by_topic = [earlier.mapping(run, "topics") for run in runs if "topics" in run]
    if by_topic:
        return frozenset(topic for topics in by_topic for topic in topics)
    if made_under.get("topic_set") is None:
        return None
    return frozenset(earlier.listed(earlier.mapping(made_under, "topic_set"), "topics", str))


def _files(earlier: _Document, inputs: list[Mapping[str, Any]]) -> dict[str, str | None]:
    """Digests of runs by name, but for names that several files have."""
    times = Counter(str(run.get("name")) for run in inputs)
    digests = {str(run.get("name")): earlier.text(run, "digest") for run in inputs}
    return {name: digest for name, digest in digests.items() if times[name] == 1}


def _differ(before: str | None, now: str | None, *, unknown: bool = False) -> bool:
    """Whether digests of one algorithm differ; `unknown` is what to say where there is none, or another algorithm."""
    if before is None or now is None or before.partition(":")[0] != now.partition(":")[0]:
        return unknown
    return before != now


def _read_json(source: File) -> tuple[str, Json]:
    from cranfield.formats.format import decode
    from cranfield.formats.json_text import parse
    from cranfield.formats.sources import open_source

    opened = open_source(source)
    return opened.label, parse(decode(bytes(opened.data)), opened.label, None)
