"""What is odd about the inputs, found while they are joined: the warnings of `evaluate`, the report of `check`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from cranfield import _core
from cranfield.errors import DataError, UsageError, plural, share, some
from cranfield.judged import Floats, Judged, Pool, relstring
from cranfield.policy import Policy, TopicSet
from cranfield.records import NamedTuple
from cranfield.render.escaping import visible
from cranfield.tables import Qrels, Run

if TYPE_CHECKING:
    from cranfield.measures.registry import Measure
    from cranfield.texts.facts import CollectionFacts

# Notes of readers that say what was done, not that anything is wrong.
EXPECTED_NOTES = ("comments", "padding", "scores-from-ranks", "partial-topics")
LOOKED_AT = 100  # topics without an answer, to see how such are scored
DEPTHS = (1, 5, 10, 20, 50, 100, 1000)
DENSE = 10  # judgements a topic from which unjudged documents are a hole rather than the rule
FEW_RELEVANT = 2  # a topic: with no more known, the first one found is all there is to see
MOSTLY_RELEVANT = 0.8  # of what is judged: then those that are not relevant were hardly written down
# Topics: fewer than the first are too few; the second are usual, the third better; the last for sparse judgements.
FEW_TOPICS, USUAL_TOPICS, GOOD_TOPICS, SPARSE_TOPICS = 25, 50, 200, 1000
MOST_GRADES = 20  # different ones that judgements have; more are rather scores
FEW_SCORES = range(-2, 11)  # what scores are that are rather grades


# What a sentence says of how much of an input it is about may differ where the same is to be said of several.
_EXTENT = {
    "ties": r" in [0-9,]+ topics?(?=[:,])",
    "unjudged": r"(?<=by depth): [0-9.]+% at [0-9]+(, [0-9.]+% at [0-9]+)*",
}
_TELLING = r"[0-9.]+% at 10\b"
# What is said of many inputs, each with figures of its own, and what a sentence names that stands in one of them alone.
_NOTHING = r"(?!)"
_NAMED = {
    "missing-topics": r": .*$",
    "extra-topics": r": .*$",
    "short-lists": r": .*$",
    "duplicates-collapsed": r", (such as )?that of document .*(?=; each)",
    "rank-disagreement": _NOTHING,
    "short-of-cutoff": _NOTHING,
    "comments": _NOTHING,
    "padding": _NOTHING,
    "sampled-ties": _NOTHING,
    "sampled-relevance": _NOTHING,
    "ties": _NOTHING,
}
_FIGURE = re.compile(r"(?<![\w@.])[0-9][0-9,]*(?:\.[0-9]+)?(?:e-?[0-9]+)?(?!\w)")


TYPED = "typed"  # the format of judgements that somebody typed: if nothing is relevant, that is meant
Shape = Literal["sparse", "shallow", "dense", "relevant only"]


class Finding(NamedTuple):
    """One oddity: a stable code, which input it is about, a sentence, and whether it makes a number doubtful."""

    code: str
    source: str
    message: str
    doubtful: bool = True

    def __str__(self) -> str:
        return visible(f"{self.source}: {self.message}")


def in_doubt(findings: Sequence[Finding]) -> str:
    """How many findings there are and how many of them put a number in doubt, in a sentence.

    >>> doubt, note = Finding("ties", "a", "look"), Finding("tags", "a", "two tags", doubtful=False)
    >>> print(*map(in_doubt, ([], [doubt], [note], [doubt, doubt], [doubt, note])), sep="\\n")
    Nothing odd was found.
    1 finding, which puts a number in doubt.
    1 finding, which puts no number in doubt.
    2 findings, all of which put a number in doubt.
    2 findings, 1 of which puts a number in doubt; the others are good to know.
    """
    if not findings:
        return "Nothing odd was found."
    doubtful, count = sum(finding.doubtful for finding in findings), len(findings)
    said = plural(count, "finding")
    if count == 1 or not doubtful:
        which = "which puts" if count == 1 else "none of which puts"
        return f"{said}, {which} {'no' if count == 1 and not doubtful else 'a'} number in doubt."
    if doubtful == count:
        return f"{said}, all of which put a number in doubt."
    put = "puts" if doubtful == 1 else "put"
    return f"{said}, {doubtful} of which {put} a number in doubt; the others are good to know."


def gathered(findings: Iterable[Finding], most: int | None = 5) -> list[Finding]:
    """The findings to be shown: what is to be said of several inputs is said once, where it is first said, with the
    names of so many of them at most, and the most telling figure of each; of None with all names and all figures. Of
    more inputs than that, whose figures differ otherwise, it is said once with the least and the largest.

    >>> ties = [Finding("ties", run, "ties in 5 topics: look") for run in ("a", "b")]
    >>> print(*gathered([*ties, Finding("tags", "b", "two tags")]), sep="\\n")
    a (in 5 topics), b (in 5 topics): ties: look
    b: two tags
    """
    sentences = {finding: _without_extent(finding) for finding in findings}
    if most is not None:
        sentences |= _with_ranges(sentences, most)
    alike: dict[tuple[str, str, bool], list[Finding]] = {}
    for finding, sentence in sentences.items():
        alike.setdefault((finding.code, sentence, finding.doubtful), []).append(finding)
    shown = []
    for (code, sentence, doubtful), group in alike.items():
        extents = [_extent(of, whole=most is None) for of in group]
        sources = [f"{of.source}{extent}" for of, extent in zip(group, extents, strict=True)]
        told = ", ".join(sources) if most is None else some(sources, most)
        shown.append(group[0] if len(group) == 1 else Finding(code, told, sentence, doubtful))
    return shown


def _with_ranges(sentences: Mapping[Finding, str], most: int) -> dict[Finding, str]:
    """One sentence for findings whose own differ in figures alone, where these are of more than `most` inputs."""
    kinds: dict[tuple[str, str, bool], dict[Finding, str]] = {}
    for finding, sentence in sentences.items():
        kind = (finding.code, _without_figures(finding.code, sentence), finding.doubtful)
        kinds.setdefault(kind, {})[finding] = sentence
    merged: dict[Finding, str] = {}
    for (code, _, _), group in kinds.items():
        if len(group) > most and len({*group.values()}) > 1:
            merged |= dict.fromkeys(group, _ranged([_without_names(code, sentence) for sentence in group.values()]))
    return merged


def _without_names(code: str, sentence: str) -> str:
    return re.sub(_NAMED[code], "", sentence, flags=re.DOTALL)


def _without_figures(code: str, sentence: str) -> str:
    """A sentence as it is whatever its figures, in singular and plural; itself where its code does not say so."""
    if code not in _NAMED:
        return sentence
    return re.sub(r"(?<=[a-z])s\b", "", _FIGURE.sub("0", _without_names(code, sentence)))


def _ranged(sentences: Sequence[str]) -> str:
    """Sentences that differ in figures as one, with the least and the largest of each.

    >>> _ranged(["in 1 row of 10", "in 2,355 rows of 10", "in 7 rows of 10"])
    'in 1 to 2,355 rows of 10'
    """
    columns = [
        sorted(column, key=lambda figure: float(figure.replace(",", "")))
        for column in zip(*map(_FIGURE.findall, sentences), strict=True)
    ]
    ranges = (column[0] if column[0] == column[-1] else f"{column[0]} to {column[-1]}" for column in columns)
    return _FIGURE.sub(lambda _: next(ranges), max(sentences, key=len))  # the longest is in the plural


def _extent(finding: Finding, *, whole: bool) -> str:
    """How much of an input a sentence is about, in brackets: all that it says, or the figure that tells most."""
    found = re.search(_EXTENT[finding.code], finding.message) if finding.code in _EXTENT else None
    if found is None:
        return ""
    telling = None if whole else re.search(_TELLING, found[0])
    return f" ({(telling or found)[0].strip(': ')})"


def _without_extent(finding: Finding) -> str:
    """The sentence without how much of an input it is about."""
    return re.sub(_EXTENT[finding.code], "", finding.message) if finding.code in _EXTENT else finding.message


def shape_of(pool: Pool) -> Shape:
    """Where documents are judged not relevant as well: dense, or shallow if half of the topics have fewer than 10
    judgements. Where hardly any is: sparse if, besides, half of the topics have no more than 2 relevant documents, and
    relevant only otherwise.

    >>> from cranfield.judged import relstring
    >>> [shape_of(relstring(ranking).pool) for ranking in ("1/1", "10/1", "1110000000", "1111")]
    ['sparse', 'shallow', 'dense', 'relevant only']
    """
    judged, relevant = pool.total(pool.grades >= 0), pool.total(pool.grades > 0)
    few = bool(np.median(judged) < DENSE)
    if relevant.sum() <= MOSTLY_RELEVANT * judged.sum():
        return "shallow" if few else "dense"
    return "sparse" if few and np.median(relevant) <= FEW_RELEVANT else "relevant only"


def sparse_remark(pool: Pool) -> str | None:
    """What to add of judgements that are sparse, where there are no thousands of topics."""
    if len(pool.topics) >= SPARSE_TOPICS or shape_of(pool) != "sparse":
        return None
    relevant = float(np.mean(pool.total(pool.grades > 0)))
    known = f"{relevant:.3g} relevant {'document' if relevant == 1 else 'documents'} known a topic"
    return f"judgements are sparse ({known}), for which thousands of topics are needed"


def of_qrels(qrels: Qrels, pool: Pool, policy: Policy | None = None, measures: Sequence[Measure] = ()) -> list[Finding]:
    """What is odd about judgements on their own; an error if no number could be right."""
    policy = policy or Policy()
    negative, fractional = _core.odd_grades(pool.grades)
    if negative == len(pool.grades):
        raise DataError(
            "nobody has judged it yet: every grade is negative, which says in the pool and not judged",
            source=qrels.origin.path or qrels.name,
            remedy="Give each document a grade. What `cranfield pool` wrote as strata of a sample takes those of its "
            "pool by `cranfield pool --fill QRELS --strata FILE`.",
        )
    if not pool.has_relevant.any() and qrels.origin.format != TYPED:
        raise nothing_relevant(qrels.origin.path or qrels.name)
    findings = [Finding(code, qrels.name, message, doubtful=False) for code, message in qrels.origin.notes]
    if "subtopics" in qrels.columns and all(len(names) == 1 for names in qrels.groups.values()):
        message = "no topic has more than one subtopic: are these plain judgements, whose second column says nothing?"
        findings.append(Finding("one-subtopic", qrels.name, message))
    empty = [pool.topics[t] for t in np.flatnonzero(~pool.has_relevant)]
    if empty:
        counted = policy.empty_topics == "zero"
        done = _score_of_finding_nothing(measures) if counted else "left out"
        message = f"{plural(len(empty), 'topic')} without a relevant document, {done}: {some(empty)}"
        findings.append(Finding("no-relevant", qrels.name, message, doubtful=counted))
    if fractional and policy.grades == "grades" and policy.judges in ("grade", "majority"):
        message = f"{plural(fractional, 'grade')} with a fraction, kept as given; binary measures count grade >= rel"
        findings.append(Finding("fractional-grades", qrels.name, message))
    if negative:
        message = f"{plural(negative, 'negative grade')}: in the pool but unjudged"
        findings.append(Finding("negative-grades", qrels.name, message, doubtful=False))
    return findings


def nothing_relevant(source: str) -> DataError:
    """The error for judgements under which every system would have the same score."""
    return DataError(
        "nothing is relevant: no grade is above 0",
        source=source,
        remedy="Every measure would be 0. Is this the right file, and is its last column the grade?",
    )


def of_facts(facts: CollectionFacts, pool: Pool, name: str) -> list[Finding]:
    """Grades of judgements that a collection's file does not explain, where it explains others."""
    known = np.array(list(facts.grades))
    unknown = np.setdiff1d(pool.grades, known) if facts.grades else known
    if not len(unknown):
        return []
    told = some([f"{grade:g}" for grade in unknown.tolist()])
    message = f"{plural(len(unknown), 'grade')} of the judgements without a label in the collection's file: {told}"
    return [Finding("unlabelled-grades", name, message, doubtful=False)]


def _score_of_finding_nothing(measures: Sequence[Measure]) -> str:
    """How topics without a relevant document are scored, in words: losses, counts and utilities do not give 0."""
    if not measures:
        return "scored 0 by most measures"
    lists = relstring("0-0", "-", "0/0", "/0")
    scoring = [measure for measure in measures if measure.sign] or measures  # `compare` counts documents beside them
    plain = [measure for measure in scoring if measure.definition.needs is None]
    if any(np.any(measure.per_topic(lists) != 0) for measure in plain):
        return "scored as lists are that find nothing"
    return "scored 0 for every run"


def score_of_nothing(unanswered: Judged, measures: Sequence[Measure]) -> str:
    """How topics without an answer are scored, in words: some measures give something to who retrieves nothing."""
    if not measures:
        return "scored 0 by most measures"
    plain = [measure for measure in measures if measure.definition.needs is None]  # others may not have it yet
    if any(np.any(measure.per_topic(unanswered) != 0) for measure in plain):
        return "scored as an empty list"
    return "scored 0"


def of_run(run: Run, judged: Judged, policy: Policy | None = None, measures: Sequence[Measure] = ()) -> list[Finding]:
    """What is odd about a run as seen, whole, through the judgements; an error if they have no topic in common.

    Where the measures are known, nothing is said of what none of them sees.
    """
    policy = policy or Policy()
    if not judged.answered.any():
        raise no_common_topic(run, judged.topics, policy.topic_set)
    wanted = judged.pool.has_relevant if policy.empty_topics == "drop" else True
    unanswered = np.flatnonzero(~judged.answered & wanted)
    known = set(judged.topics)
    extra = [topic for topic in run.topics if topic not in known]
    counts = JoinCounts(
        missing=[judged.topics[t] for t in unanswered],
        missing_count=len(unanswered),
        missing_score=score_of_nothing(judged.select(unanswered[:LOOKED_AT]), measures) if len(unanswered) else "",
        extra=extra,
        extra_count=len(extra),
        judged=len(judged.rank),
        longest=int(judged.retrieved.max()),
        tied_topics=tied_topic_count(judged, policy, measures),
    )
    of_rows = [*_looks_swapped(run, judged, policy), *_harmless_ties(run, judged, policy, measures)]
    return of_counts(run, counts, policy, measures, of_rows)


class JoinCounts(NamedTuple):
    """What is to be known of a run beside judgements, to say what is odd of it: topics without an answer and how they
    are scored, topics that nobody judged (the first of each, and how many), documents that are judged, the length of
    the longest list, and the topics in which the order of ties decides."""

    missing: Sequence[str]
    missing_count: int
    missing_score: str
    extra: Sequence[str]
    extra_count: int
    judged: int
    longest: int
    tied_topics: int


def of_counts(
    run: Run, counts: JoinCounts, policy: Policy, measures: Sequence[Measure], of_rows: Sequence[Finding] = ()
) -> list[Finding]:
    """What is odd about a run, wherever it was joined with judgements; `of_rows` is what its rows alone tell."""
    findings = _of_notes(run)
    if counts.missing_count:
        done = {"qrels": counts.missing_score, "common": "left out for every run", "run": "left out"}[policy.topics]
        topics = plural(counts.missing_count, "judged topic")
        message = f"no answer to {topics}, {done}: {some(counts.missing, count=counts.missing_count)}"
        findings.append(Finding("missing-topics", run.name, message))
    if counts.extra_count and not policy.topic_set:  # a set leaves others out
        named = some(counts.extra, count=counts.extra_count)
        message = f"{plural(counts.extra_count, 'topic')} without judgements, left out: {named}"
        findings.append(Finding("extra-topics", run.name, message, doubtful=False))
    findings += nothing_judged(run, counts.judged)
    findings += of_ranks(run)
    findings += of_rows
    findings += _ties(run, counts.tied_topics, policy, measures)
    findings += _beyond_the_lists(run, counts.longest, measures)
    return findings


def of_run_alone(run: Run) -> list[Finding]:
    """What is odd about a run where there are no judgements yet.

    >>> from cranfield.formats import read_run
    >>> print(*of_run_alone(read_run({"q1": {"d1": 2.0, "d2": 2.0}}, name="bm25")))
    bm25: 2 documents tied in score: a convention orders them
    """
    tied = int(run.table.tied().sum())
    message = f"{plural(tied, 'document')} tied in score: a convention orders them"
    ties = [Finding("ties", run.name, message, doubtful=False)] if tied else []
    return [*_of_notes(run), *of_ranks(run), *ties]


def _of_notes(run: Run) -> list[Finding]:
    return [Finding(code, run.name, message, doubtful=code not in EXPECTED_NOTES) for code, message in run.origin.notes]


def of_ranks(run: Run) -> list[Finding]:
    """Says so where the ranks that a run has are not those of its scores."""
    disagree = int(run.table.rank_disagreements().sum())
    if not disagree:
        return []
    message = f"the rank column contradicts the scores in {plural(disagree, 'row')}; the scores decide"
    return [Finding("rank-disagreement", run.name, message)]


def of_runs(
    names: Sequence[str], paths: Sequence[str | None], findings: Sequence[Sequence[Finding]]
) -> Iterator[Finding]:
    """The findings of each run under the name that tells it from the others; and which files are given twice."""
    first: dict[tuple[int, int], str] = {}
    for name, path, of_one in zip(names, paths, findings, strict=True):
        yield from (finding._replace(source=name) for finding in of_one)
        if path is not None and path != "-" and os.path.exists(path):
            there = os.stat(path)
            same = first.setdefault((there.st_dev, there.st_ino), name)
            if same != name:
                yield Finding("same-file", name, f"the same file as {same}: is another one meant?")


def has_many_grades(pool: Pool, policy: Policy) -> bool:
    """Whether judgements have as many values as scores have: then the rows of runs are looked at too."""
    if policy.grades == "probabilities":
        return False
    some_grades = pool.once("some grades", lambda: np.array([*{*pool.grades[:1000].tolist()}]))
    return len(some_grades) > MOST_GRADES


def _looks_swapped(run: Run, judged: Judged, policy: Policy) -> list[Finding]:
    """Says so where judgements have as many values as scores have, and the run as few as grades have."""
    if not has_many_grades(judged.pool, policy):
        return []
    try:
        scores = sorted(set(run.table.values().tolist()))
    except UsageError:  # its rows are on a cluster
        return []
    if len(scores) > 6 or not all(score in FEW_SCORES for score in scores):
        return []
    listed = ", ".join(f"{score:g}" for score in scores)
    message = (
        f"its only scores are {listed}, while judgements have more than {MOST_GRADES} different grades, such as "
        f"{judged.pool.grades[:1000].max():g}: are the two arguments swapped?"
    )
    return [Finding("swapped", run.name, message)]


def tied_topic_count(judged: Judged, policy: Policy, measures: Sequence[Measure]) -> int:
    """In how many topics documents of different grades change places with the order of ties, and measures see it."""
    if policy.ties == "expected" or not np.any(judged.tie_size > 1):  # it counts every order
        return 0
    from cranfield.measures.order_minded import minds_ties

    if policy.ties in ("best", "worst"):
        return _tied_topics(judged, policy, measures) if _without_extremes(policy, measures) else 0
    # A depth keeps some of the tied documents: their order is then something to every measure.
    minding = [measure for measure in measures if policy.depth is not None or minds_ties(measure)]
    return _tied_topics(judged, policy, minding) if minding or not measures else 0


def _without_extremes(policy: Policy, measures: Sequence[Measure]) -> list[str]:
    """The measures that better grades first or last give neither the highest nor the lowest score."""
    from cranfield.measures.order_minded import has_extremes

    scoring = [measure for measure in measures if measure.sign]  # of others no value is the best or the worst
    return [str(measure) for measure in scoring if not has_extremes(measure, policy.depth)]


def _ties(run: Run, topics: int, policy: Policy, measures: Sequence[Measure]) -> list[Finding]:
    """Ties in some topics whose order is a convention, and counts."""
    if not topics:
        return []
    if policy.ties in ("best", "worst"):
        message = (
            f"better grades {'first' if policy.ties == 'best' else 'last'} give "
            f"{some(_without_extremes(policy, measures))} the score of a possible "
            "order of ties, which need not be the highest or the lowest of all orders"
        )
    else:
        message = (
            f"documents of different grades have equal scores in {plural(topics, 'topic')}, and a convention decides "
            "which comes first: --ties expected (Policy(ties='expected') in Python) takes the mean over all orders"
        )
    return [Finding("ties", run.name, message)]


def _harmless_ties(run: Run, judged: Judged, policy: Policy, measures: Sequence[Measure]) -> list[Finding]:
    """Ties whose order is nothing to any measure, told where nobody said which measures there are."""
    decided = measures or policy.ties in ("best", "worst", "expected") or not np.any(judged.tie_size > 1)
    if decided or tied_topic_count(judged, policy, measures):
        return []
    number, tied = int(run.table.tied().sum()), int(np.count_nonzero(judged.tie_size > 1))
    message = f"{plural(number, 'document')} tied in score, {tied:,} of them judged; none with one of another grade"
    return [Finding("ties", run.name, message, doubtful=False)]


def _tied_topics(judged: Judged, policy: Policy, measures: Sequence[Measure]) -> int:
    """The number of topics where tied documents are of different grades, as far down as measures look.

    Who was not judged counts as not relevant, unless such documents are taken out.
    """
    first = judged.group_starts
    top, size = judged.tie_first[first], judged.tie_size[first]
    grade = np.maximum(judged.grade, 0)
    highest, lowest = np.maximum.reduceat(grade, first), np.minimum.reduceat(grade, first)
    unjudged = np.diff(np.append(first, len(grade))) < size
    depth = policy.depth
    if policy.judged_only:  # they still decide who stands above the depth
        unjudged &= False if depth is None else (top <= depth) & (top + size - 1 > depth)
    matters = highest > np.where(unjudged, 0, lowest)
    # A list that is whole has the same documents in every order, whoever looks at all of them.
    cutoffs = [measure.parameters.get("cutoff") if depth is None else measure.reach for measure in measures]
    known = [cutoff for cutoff in cutoffs if cutoff is not None]
    if cutoffs and len(known) == len(cutoffs) and not policy.judged_only:
        matters &= top <= max(known)
    if depth is not None:
        matters &= top <= depth
    return int(np.count_nonzero(np.bincount(judged.topic[first][matters])))


def _beyond_the_lists(run: Run, longest: int, measures: Sequence[Measure]) -> list[Finding]:
    """Measures that look further down than any list of a run goes."""
    deeper = [str(measure) for measure in measures if (measure.parameters.get("cutoff") or 0) > longest]
    if not deeper:
        return []
    message = f"no list is longer than {longest:,}: {some(deeper)} can see no further"
    return [Finding("short-of-cutoff", run.name, message, doubtful=False)]


def no_common_topic(
    run: Run,
    judged: Sequence[str],
    topic_set: TopicSet | None = None,
    counts: tuple[int | None, int | None] = (None, None),
) -> DataError:
    """What to say of a run that answers none of the judged topics: 0.0 would read as a bad system.

    `counts` are those of the run's topics and of the judged ones, where only the first are known.
    """
    others, have = ("the judgements", "have") if topic_set is None else (topic_set.name, "has")
    own, theirs = (some(topics, 3, count) for topics, count in zip((run.topics, list(judged)), counts, strict=True))
    return DataError(
        f"no topic in common with {others}: the run has {own}, {others} {have} {theirs}",
        source=run.origin.path or run.name,
        remedy="Is this the right pair of files? Topic ids must be the same text: 0001 is not 1.",
    )


def nothing_judged(run: Run, judged: int) -> list[Finding]:
    """Says so if no document of a run is judged."""
    if judged:
        return []
    message = "not one retrieved document is judged: are document ids written the same way in both files?"
    return [Finding("nothing-judged", run.name, message)]


def of_sampling(run: Run, measures: Sequence[Measure], errors: Floats, policy: Policy) -> list[Finding]:
    """Which scores are means over random orders of ties or draws of relevance, and how far they may be off."""
    orders, worlds = policy.ties == "expected", policy.grades == "probabilities"
    over = "draws of relevance and order" if orders and worlds else "draws of relevance" if worlds else "orders of ties"
    findings = []
    for measure, error in zip(measures, errors.tolist(), strict=True):
        if error:
            message = f"{measure} is a mean over {policy.samples} random {over}: standard error {error:.1g}"
            code = "sampled-relevance" if worlds else "sampled-ties"
            findings.append(Finding(code, run.name, message, doubtful=False))
    return findings


def of_coverage(run: Run, judged: Judged) -> list[Finding]:
    """How far down the run is judged, and where its lists are short: for `check`."""
    findings = []
    shares = []
    for depth in DEPTHS:
        seen = int(np.minimum(judged.retrieved, depth).sum())
        if seen and depth <= judged.retrieved.max():
            judged_here = int(np.count_nonzero((judged.rank <= depth) & (judged.grade >= 0)))
            shares.append((depth, 1 - judged_here / seen))
    if shares:
        message = "unjudged documents by depth: " + ", ".join(f"{share:.1%} at {depth}" for depth, share in shares)
        many = any(share > 0.2 for depth, share in shares if depth <= 10)
        reason, holes = _reason_of_holes(judged.pool)
        findings.append(Finding("unjudged", run.name, f"{message}. {reason}" if many else message, many and holes))
    longest = int(judged.retrieved.max())
    short = [judged.topics[t] for t in np.flatnonzero((judged.retrieved > 0) & (judged.retrieved < longest))]
    if short:
        message = f"{plural(len(short), 'list')} shorter than the longest ({longest:,}): {some(short)}"
        findings.append(Finding("short-lists", run.name, message, doubtful=False))
    return findings


def _reason_of_holes(pool: Pool) -> tuple[str, bool]:
    """Why many documents of a run are unjudged, and whether these are holes. Where those that are not relevant were
    hardly written down, it is the rule; a pool that has them and is shallow has the more holes.
    """
    judged = int(np.count_nonzero(pool.grades >= 0))
    number, irrelevant = judged / len(pool.topics), int(np.count_nonzero(pool.grades == 0)) / judged
    counted = f"With {number:.3g} judgement{'' if number == 1 else 's'} a topic"
    if shape_of(pool) == "shallow":
        told = f"{counted}, {share(irrelevant)} of them not relevant, the pool is shallow"
        return f"{told}: they are holes in it, and count as not relevant", True
    if number >= DENSE:
        return f"{counted} they are holes in the pool, and count as not relevant", True
    return f"{counted}, {share(irrelevant)} of them not relevant, that is to be expected", False


def unknown_figures(name: str, figures: Sequence[str]) -> Finding:
    """Figures of efficiency that were asked for and are not in a run's metadata."""
    return Finding("unknown-figures", name, f"no {', '.join(figures)} in its metadata", doubtful=False)


def searched_bounds(measures: Iterable[Measure], name: str) -> list[Finding]:
    """Measures whose bounds are not proven to be the widest."""
    findings = []
    for measure in measures:
        if measure.searches_bounds:
            widest = "the widest that a search found; in long lists wider ones may be possible"
            findings.append(Finding("searched-bounds", name, f"bounds of {measure} are {widest}", doubtful=False))
    return findings


def unreachable_grade(measures: Iterable[Measure], pool: Pool, name: str) -> list[Finding]:
    """Measures whose `rel` is above every grade: their zeros say nothing about a system."""
    findings = []
    for measure in measures:
        rel = measure.parameters.get("rel")
        if rel is not None and rel > pool.max_grade > 0:  # where nothing is relevant at all, that is said already
            message = f"{measure}: no judgement has grade {rel:g} or above (the highest is {pool.max_grade:g})"
            findings.append(Finding("unreachable-grade", name, message))
    return findings
