"""What an earlier evaluation printed as JSON, to tell what changed since: the public half and the private half."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cranfield.errors import DataError, UsageError, plural, some
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
    try:
        if not isinstance(document, Mapping) or document["schema"] != SCHEMA:
            raise ValueError(name)
        written = cast("dict[str, Any]", document)
        measures, runs, made_under = written["measures"], written["runs"], dict(written["policy"])
        means = {str(run["name"]): run["mean"] for run in runs}
        known = EarlierResults(
            name=name,
            means={run: float(of_run[str(measure)]) for run, of_run in means.items() if str(measure) in measures},
            topics=_topics(written),
            judgements=written["inputs"][0]["digest"],
            files=_files(written["inputs"][-len(runs) :]),
        )
        there = some([str(other) for other in measures])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise DataError("is not the JSON of an evaluation", source=name, remedy=HOW) from None
    if not known.means:
        raise UsageError(f"{name}: no scores by {measure} in it, but by {there}: two measures are not compared")
    _check_policy(made_under, policy, name)
    return known


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
    """Topics may be others; every other decision that changes a number is to be the same."""
    defaults = Policy().to_dict()
    now = {setting: value for setting, value in policy.to_dict().items() if setting != "topic_set"}
    other = [
        f"{setting} is {value} now and was {written.get(setting, defaults[setting])}"
        for setting, value in now.items()
        if written.get(setting, defaults[setting]) != value
    ]
    if other:
        raise UsageError(f"{name}: made under another policy: {'; '.join(other)}")


def _topics(written: Mapping[str, Any]) -> frozenset[str] | None:
    """The topics that means are over, where the JSON tells."""
    by_topic = [run["topics"] for run in written["runs"] if "topics" in run]
    if by_topic:
        return frozenset(topic for topics in by_topic for topic in topics)
    topic_set = written["policy"].get("topic_set")
    return None if topic_set is None else frozenset(topic_set["topics"])


def _files(inputs: list[Mapping[str, Any]]) -> dict[str, str | None]:
    """Digests of runs by name, but for names that several files have."""
    times = Counter(str(run["name"]) for run in inputs)
    return {str(run["name"]): run["digest"] for run in inputs if times[str(run["name"])] == 1}


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
