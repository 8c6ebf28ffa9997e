"""Judgements made of opinions: one grade a pair, how it came about, and which pairs have none."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from cranfield.description.description import Description, describe
from cranfield.errors import CranfieldError, DataError, UsageError, either, plural, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.formats.grouped import in_order
from cranfield.judging.events import Event
from cranfield.judging.scale import Scale
from cranfield.judging.state import Opinion, Pair, State, standing
from cranfield.pooling.analysis import PoolAnalysis, analyse
from cranfield.pooling.files import filled, one_word, sample_text
from cranfield.pooling.making import DocumentPool, Sampled
from cranfield.texts.writing import write_qrels
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.formats.given import GivenRuns
    from cranfield.render.json_form import Json

ReleasePolicy: TypeAlias = Literal["majority", "highest", "lowest", "median", "adjudicated only"]
Method: TypeAlias = Literal["adjudicated", "alone", "agreed", "majority", "highest", "lowest", "median"]
Why: TypeAlias = Literal["not judged", "can't tell", "opinions differ", "adjudicated without a grade"]
POLICIES: Final[tuple[ReleasePolicy, ...]] = get_args(ReleasePolicy)
WHYS: Final[tuple[Why, ...]] = get_args(Why)
SCHEMA = "cranfield.release/1"
_NO_BLANKS = "Judgements with chances are text, where an id ends at a blank."


class Undecided(NamedTuple):
    """A pair without a grade, and why."""

    topic: str
    document: str
    why: Why


class DecidedGrade(NamedTuple):
    """The grade of a pair, how it came about, and who gave which grade."""

    grade: int
    method: Method
    opinions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleasedJudgements:
    """Judgements as they are released: `decisions` by topic and document, and the pairs that are `undecided`.

    `content` is the file, `digest` what it is known by, `provenance` how it came about.
    """

    scale: Scale
    policy: ReleasePolicy
    decisions: Mapping[Pair, DecidedGrade]
    undecided: tuple[Undecided, ...]
    sample: Mapping[str, Mapping[str, Sampled]] | None = None
    events: tuple[Event, ...] = ()
    format: str = "trec"
    chances: Mapping[Pair, float] = field(default_factory=dict)

    @cached_property
    def grades(self) -> dict[str, dict[str, int]]:
        """{topic: {document: grade}}, as every function takes judgements."""
        grades: dict[str, dict[str, int]] = {}
        for (topic, document), decision in self.decisions.items():
            grades.setdefault(topic, {})[document] = decision.grade
        return grades

    @cached_property
    def content(self) -> bytes:
        """The file, in the format of the release; of a sample all documents with strata, for statAP and xinfAP."""
        return self.written(self.format)

    def written(self, format: str) -> bytes:
        """The judgements in a format of `cranfield convert`; those of a sample only as text.

        >>> from cranfield.judging.state import State
        >>> empty = released(State(), Scale.usual(), "majority")
        >>> empty.written("trec")
        Traceback (most recent call last):
        cranfield.errors.DataError: nothing is judged yet: there is nothing to release
        """
        if not self.decisions:
            raise DataError("nothing is judged yet: there is nothing to release")
        if self.sample is not None:
            if format != "trec":
                raise UsageError(f"the judgements of a sample are text with strata (trec), not {format}")
            pool = DocumentPool("sample", {}, (), self.sample)
            grades = {
                topic: {document: max(grade, 0) for document, grade in documents.items()}
                for topic, documents in self.grades.items()
            }
            return filled(io.StringIO(sample_text(pool)), grades).encode("utf-8", "surrogateescape")
        file = io.BytesIO()
        write_qrels(self.grades, file, format=format)
        return file.getvalue()

    @cached_property
    def prels(self) -> bytes:
        """The judgements with the chance of each: topic, document, grade, algorithm (1: by lot, 0: for sure), chance.

        >>> from cranfield.judging.state import State
        >>> released(State(), Scale.usual()).prels
        Traceback (most recent call last):
        cranfield.errors.DataError: no document was drawn by lot: there are no chances to write
        """
        if not self.chances:
            raise DataError("no document was drawn by lot: there are no chances to write")
        missing = [f"{topic} {document}" for topic, document, _ in self.undecided if (topic, document) in self.chances]
        if missing:
            raise DataError(
                f"{plural(len(missing), 'document')} drawn but without a grade: {some(missing)}",
                remedy="Without them the chances would be wrong. Judge or adjudicate them first.",
            )
        lines = []
        for (topic, document), decision in self.decisions.items():
            word = f"{one_word(topic, _NO_BLANKS)} {one_word(document, _NO_BLANKS)} {max(decision.grade, 0)}"
            chance = self.chances.get((topic, document))
            lines.append(f"{word} 0 1.0\n" if chance is None else f"{word} 1 {float(chance)!r}\n")
        return "".join(lines).encode("utf-8", "surrogateescape")

    @cached_property
    def digest(self) -> str:
        """What the file is known by: SHA-256 of `content`."""
        return f"sha256:{sha256(self.content).hexdigest()}"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What whoever uses the judgements should know."""
        return tuple(_findings(self))

    @property
    def provenance(self) -> dict[str, Json]:
        """How the judgements came about, as JSON: policy, scale, assessors by pseudonym, and every pair."""
        grades = [decision.grade for decision in self.decisions.values()]
        methods = Counter(decision.method for decision in self.decisions.values())
        stand = standing(self.events)
        times = [event.at for event in self.events]
        return {
            "schema": SCHEMA,
            "version": __version__,
            "digest": self.digest,
            "format": self.format,
            "policy": self.policy,
            "scale": self.scale.to_json(),
            "judgements": len(self.decisions),
            "topics": len(self.grades),
            "grades": {str(value): grades.count(value) for value in self.scale.values},
            "relevant": sum(map(self.scale.relevant, grades)),
            "methods": dict(sorted(methods.items())),
            "assessors": _assessors(self),
            "events": len(self.events),
            "first": min(times, default=None),
            "last": max(times, default=None),
            "scale_versions": sorted({event.scale for event in stand}),
            "guideline_versions": sorted({event.guideline for event in stand}),
            "origins": sorted({event.origin for event in stand}),
            "sampled": self.sample is not None or bool(self.chances),
            "undecided": [pair._asdict() for pair in self.undecided],
            "pairs": [_pair(pair, decision, self) for pair, decision in self.decisions.items()],
            "findings": [str(finding) for finding in self.findings],
        }


def released(
    state: State,
    scale: Scale,
    policy: ReleasePolicy = "majority",
    *,
    pool: Mapping[str, Collection[str]] | None = None,
    sample: Mapping[str, Mapping[str, Sampled]] | None = None,
    events: Iterable[Event] = (),
    format: str = "trec",
    chances: Mapping[Pair, float] | None = None,
) -> ReleasedJudgements:
    """Judgements made of a state: adjudicated pairs first, then those on which all agree, then by the policy.

    majority: what more than half of those say who graded it; highest, lowest: of their grades; median: the middle one,
    of an even number the lower of both; adjudicated only: where opinions differ, somebody must decide first. "Can't
    tell" and "later" give no grade, and blind repeats do not count. `pool` has all documents that were to be judged, so
    that those that were not are named; `sample` their strata, where the pool was drawn; `chances` those of the pairs
    that were drawn by lot, where the rest of the strata is not known; `events` what the provenance tells of times and
    versions; `format` is that of the file, one of `cranfield convert`.

    >>> from cranfield.judging.events import Event, moment
    >>> from cranfield.judging.state import state_of
    >>> said = {"topic": "q1", "at": moment(0), "kind": "grade"}
    >>> events = [
    ...     Event(document="d1", assessor="ann", grade=2, key="1", **said),
    ...     Event(document="d1", assessor="bob", grade=2, key="1", **said),
    ...     Event(document="d2", assessor="bob", grade=0, key="2", **said),
    ... ]
    >>> release = released(state_of(events), Scale.usual(), pool={"q1": ["d1", "d2", "d3"]})
    >>> print(release.content.decode(), end="")
    q1 0 d1 2
    q1 0 d2 0
    >>> release.undecided
    (Undecided(topic='q1', document='d3', why='not judged'),)
    """
    if policy not in POLICIES:
        raise UsageError(f"a policy is {either(POLICIES)}, not {policy!r}")
    by_pair: dict[Pair, list[Opinion]] = {}
    for (topic, document, _, repeat), opinion in state.opinions.items():
        if not repeat:
            by_pair.setdefault((topic, document), []).append(opinion)
    wanted = {(topic, document) for topic, documents in (pool or {}).items() for document in documents}
    wanted |= {(topic, document) for topic, of in (sample or {}).items() for document in of if of[document].drawn}
    decisions, undecided = dict[Pair, DecidedGrade](), list[Undecided]()
    for pair in _sorted(wanted | by_pair.keys() | state.verdicts.keys()):
        decided = _decided(state.verdicts.get(pair), by_pair.get(pair, []), scale, policy)
        if isinstance(decided, DecidedGrade):
            decisions[pair] = decided
        else:
            undecided.append(Undecided(*pair, decided))
    return ReleasedJudgements(
        scale=scale,
        policy=policy,
        decisions=decisions,
        undecided=tuple(undecided),
        sample=sample,
        events=tuple(events),
        format=format,
        chances=chances or {},
    )


def _decided(
    verdict: Opinion | None, opinions: Sequence[Opinion], scale: Scale, policy: ReleasePolicy
) -> DecidedGrade | Why:
    graded = sorted((opinion.assessor, opinion.grade) for opinion in opinions if opinion.grade is not None)
    said = tuple(graded)
    for _, grade in (*graded, *([(verdict.assessor, verdict.grade)] if verdict and verdict.grade is not None else [])):
        scale.of_value(grade)  # or it is none
    if verdict is not None:
        return (
            "adjudicated without a grade" if verdict.grade is None else DecidedGrade(verdict.grade, "adjudicated", said)
        )
    grades = sorted(grade for _, grade in graded)
    if not grades:
        return "can't tell" if opinions else "not judged"
    if len(set(grades)) == 1:
        return DecidedGrade(grades[0], "alone" if len(grades) == 1 else "agreed", said)
    if policy == "adjudicated only":
        return "opinions differ"
    chosen = _BY_POLICY[policy](grades)
    return "opinions differ" if chosen is None else DecidedGrade(chosen, policy, said)


def _majority(grades: Sequence[int]) -> int | None:
    grade, times = Counter(grades).most_common(1)[0]
    return grade if 2 * times > len(grades) else None


# The grade of opinions that differ, in rising order; None where the policy has none.
_BY_POLICY: Final[Mapping[str, Callable[[Sequence[int]], int | None]]] = {
    "majority": _majority,
    "highest": lambda grades: grades[-1],
    "lowest": lambda grades: grades[0],
    "median": lambda grades: grades[(len(grades) - 1) // 2],
}


def _sorted(pairs: Collection[Pair]) -> list[Pair]:
    by_topic: dict[str, list[str]] = {}
    for topic, document in pairs:
        by_topic.setdefault(topic, []).append(document)
    return [(topic, document) for topic in in_order(by_topic) for document in in_order(by_topic[topic])]


def _findings(release: ReleasedJudgements) -> Iterator[Finding]:
    for why in WHYS:
        pairs = [f"{topic} {document}" for topic, document, of in release.undecided if of == why]
        if pairs:
            yield Finding(
                "undecided", "judgements", f"without a grade, {why}: {plural(len(pairs), 'pair')}: {some(pairs)}"
            )
    below = Counter(decision.grade for decision in release.decisions.values() if decision.grade < 0)
    for grade, count in sorted(below.items()):
        called = f"{plural(count, 'document')} graded {grade}, {release.scale.of_value(grade).label}"
        if release.sample is None:
            yield Finding("negative-grades", "judgements", f"{called}: measures count them as unjudged", doubtful=False)
        else:
            message = f"{called}: written as 0, since below 0 a sample has what was not drawn"
            yield Finding("negative-grades", "judgements", message)
    if release.chances:
        drawn = plural(sum(pair in release.chances for pair in release.decisions), "document")
        message = f"{drawn} drawn by lot: measures that take judgements for complete come out wrong, statAP does not"
        yield Finding("sampled", "judgements", message)
    if release.scale.threshold > 1:
        low = release.scale.threshold
        message = f"relevant is grade {low} and above: say so to measures, as AP(rel={low})"
        yield Finding("threshold", "judgements", message, doubtful=False)


def _assessors(release: ReleasedJudgements) -> list[Json]:
    """Who, by pseudonym: how many grades that were counted, and how many pairs adjudicated."""
    grades = Counter(who for decision in release.decisions.values() for who, _ in decision.opinions)
    verdicts = Counter(event.assessor for event in standing(release.events) if event.kind == "adjudicate")
    names = sorted({*grades, *verdicts})
    return [{"assessor": name, "grades": grades[name], "adjudications": verdicts[name]} for name in names]


def _pair(pair: Pair, decision: DecidedGrade, release: ReleasedJudgements) -> dict[str, Json]:
    topic, document = pair
    told: dict[str, Json] = {
        "topic": topic,
        "document": document,
        "grade": decision.grade,
        "method": decision.method,
        "opinions": [{"assessor": who, "grade": grade} for who, grade in decision.opinions],
    }
    if pair in release.chances:
        return told | {"inclusion": release.chances[pair]}
    drawn = (release.sample or {}).get(topic, {}).get(document)
    return told if drawn is None else told | {"stratum": drawn.stratum, "inclusion": drawn.chance}


class Support(NamedTuple):
    """What judgements can be used for: `description` of them, and where there are runs what becomes of systems that
    were not pooled; None where that can't be told, which `findings` say.
    """

    description: Description
    analysis: PoolAnalysis | None
    findings: tuple[Finding, ...]


def support(
    release: ReleasedJudgements,
    runs: GivenRuns | None = None,
    measure: str | None = None,
    *,
    depth: int | None = None,
) -> Support:
    """What the judgements can support, before they are released: as `describe` has it, and leaving out each run.
    `depth` is how far runs were pooled, where that is known.

    >>> from cranfield.judging.events import Event, moment
    >>> from cranfield.judging.state import state_of
    >>> event = Event(topic="q", document="d", assessor="a", at=moment(0), kind="grade", grade=1, key="1")
    >>> support(released(state_of([event]), Scale.usual())).description.judgements.judged
    1
    """
    release.content  # noqa: B018 - what can't be written can't be used
    low = release.scale.threshold
    description = describe(release.grades, () if runs is None else runs)
    if runs is None:
        return Support(description, None, release.findings)
    try:
        experiment = Experiment(release.grades, runs)
        named = measure or ("AP" if low == 1 else f"AP(rel={low})")
        analysis = analyse(experiment, measure=named, rel=low, depth=depth)
    except CranfieldError as error:
        message = f"what leaving out a run would change can't be told: {error}"
        return Support(description, None, (*release.findings, Finding("no-analysis", "judgements", message)))
    return Support(description, analysis, release.findings)
