"""What the rooms of user studies found, as text that can be pasted, as CSV, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan
from typing import TYPE_CHECKING

from cranfield.errors import percent, plural, share
from cranfield.render.document import Block, titled, written
from cranfield.render.grid import DELIMITERS, Cell, Field, Grid, number, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.studies.answers import Answers
    from cranfield.studies.assignments import StudyPlan
    from cranfield.studies.scales import Scale
    from cranfield.studies.scoring import StudyScores
    from cranfield.studies.study_comparison import StudyComparison
    from cranfield.studies.study_correlation import StudyCorrelation

MOST_SHEETS = 10  # answer sheets that Python shows
FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")


def _render(
    result: object,
    format: str,
    schema: str,
    header: Sequence[str],
    rows: Callable[[], list[Sequence[Field]]],
    blocks: Callable[[], list[Block]],
) -> str:
    """In a format, ending in a newline; CSV and TSV have the rows alone, a number that does not exist is empty."""
    if format == "json":
        return as_json(schema, result)
    if format in DELIMITERS:
        return separated(header, [[_known(value) for value in row] for row in rows()], DELIMITERS[format])
    return written(blocks(), format)


def _known(value: Field) -> Field:
    return None if isinstance(value, float) and isnan(value) else value


HOW = {
    "mixed": "a mixed-effects model",
    "paired": "paired t tests on the means of participants",
    "welch": "Welch's t tests, as every participant gave a single score",
}


def _equation(p: float) -> str:
    return f"p < {_p(p)[1:]}" if _p(p).startswith("<") else f"p = {_p(p)}"


def _p(value: float) -> str:
    return "–" if isnan(value) else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def scale_line(scale: Scale) -> str:
    """A scale in a few words."""
    return f"{scale.name}, from {scale.bottom:g} to {scale.top:g}, {scale.better} is better"


def render_answers(answers: Answers, format: str) -> str:
    """The first sheets with their scores, and how many there are."""
    topics = answers.topics
    header = ["participant", "system", *(["topic"] if topics else []), answers.scale.name]
    rows = []
    for sheet, score in enumerate(answers.scores[:MOST_SHEETS].tolist()):
        who = [answers.participants[sheet], answers.systems[sheet], *([topics[sheet]] if topics else [])]
        rows.append([*who, number(score, ".2f")])
    more = len(answers.scores) - len(rows)
    notes = [f"… and {plural(more, 'more sheet')}"] if more else []
    return written(titled(scale_line(answers.scale), Grid(header, rows, labels=len(header) - 1), notes), format)


def render_scores(scores: StudyScores, format: str, *, per_participant: bool = False) -> str:
    """Scores by system, or with `per_participant` those of each participant too (in CSV and TSV alone)."""
    items = len(scores.scale.items) > 1

    def blocks() -> list[Block]:
        header = [
            "system",
            "participants",
            "sheets",
            "mean",
            "sd",
            "low",
            "high",
            "median",
            *(["alpha"] if items else []),
        ]
        rows = []
        for score in scores.systems:
            numbers = (score.mean, score.sd, score.low, score.high, score.median, *([score.alpha] if items else []))
            rows.append(
                [score.system, f"{score.participants:,}", f"{score.sheets:,}", *(number(x, ".2f") for x in numbers)]
            )
        notes = [f"low and high: {percent(scores.level)} interval of the mean over participants (t)"]
        if items:
            within = ", within systems," if len(scores.systems) > 1 else ""
            notes.append(f"alpha: Cronbach's; of all sheets{within} it is {number(scores.alpha, '.2f')}")
        if any(score.sheets > score.participants for score in scores.systems):
            notes.append("who answered several times about a system counts once, with the mean")
        shown = titled(scale_line(scores.scale), Grid(header, rows), notes)
        if per_participant:
            own = [
                [each.participant, each.system, f"{each.sheets:,}", number(each.mean, ".2f")]
                for each in scores.participants
            ]
            shown += titled("By participant", Grid(["participant", "system", "sheets", "mean"], own, labels=2))
        return shown

    if per_participant:
        header = ["participant", "system", "sheets", "mean"]
        return _render(scores, format, "cranfield.study-score/1", header, lambda: list(scores.participants), blocks)
    header = ["system", "participants", "sheets", "mean", "sd", "low", "high", "median", "alpha"]
    return _render(scores, format, "cranfield.study-score/1", header, lambda: list(scores.systems), blocks)


PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


def render_study_plan(plan: StudyPlan, format: str) -> str:
    """Who does what, and how even it is; CSV and TSV have a line a topic, or without topics a line a turn."""

    def rows() -> list[Sequence[Field]]:
        lines: list[Sequence[Field]] = []
        done = 0
        for turn in plan.assignments:
            done = 0 if turn.place == 1 else done
            for topic in turn.topics or ("",):
                done += 1
                lines.append([turn.participant, done, turn.place, turn.system, *([topic] if plan.topics else [])])
        return lines

    def blocks() -> list[Block]:
        turns: dict[str, list[str]] = {}
        for turn in plan.assignments:
            shown = f"{turn.system}: {' '.join(turn.topics)}" if turn.topics else turn.system
            turns.setdefault(turn.participant, []).append(shown)
        most = max(map(len, turns.values()))
        places = [PLACES[place] if place < len(PLACES) else f"{place + 1}th" for place in range(most)]
        topics = f", {plural(len(plan.topics), 'topic')}" if plan.topics else ""
        title = (
            f"{plural(plan.participants, 'participant')}, {plural(len(plan.systems), 'system')}{topics}: "
            f"design {plan.design}, seed {plan.seed}"
        )
        grid = Grid(["participant", *places], [[who, *of] for who, of in turns.items()], labels=most + 1)
        times = [[of.what, f"{of.least:,}", f"{of.most:,}", "yes" if of.even else "no"] for of in plan.balances]
        balance = titled("Balance", Grid(["how often", "least", "most", "even"], times))
        return [*titled(title, grid), *balance, *_findable_blocks(plan)]

    header = ["participant", "order", "place", "system", *(["topic"] if plan.topics else [])]
    return _render(plan, format, "cranfield.study-plan/1", header, rows, blocks)


def _findable_blocks(plan: StudyPlan) -> list[Block]:
    """How large a difference the plan could find, and what that takes for granted."""
    from cranfield.studies.assignments import ALPHA, POWER

    if not plan.findable:
        return []
    rows = []
    for of in plan.findable:
        difference = [] if plan.sd is None else ["" if of.difference is None else number(of.difference, ".2f")]
        rows.append([of.over, f"{of.number:,}", number(of.effect, ".2f"), *difference])
    header = ["over", "number", "effect", *([] if plan.sd is None else ["difference"])]
    paired = plan.findable[0].paired
    pairs = len(plan.systems) * (len(plan.systems) - 1) // 2
    level = f"{ALPHA:g}" if pairs == 1 else f"{ALPHA:g} / {pairs} pairs"
    spread = "differences between two systems" if paired else "scores, as each system has participants of its own"
    notes = [
        f"effect: the least true difference that {'a paired' if paired else 'a'} t test at {level} finds with a chance "
        f"of {share(POWER)}; in standard deviations, over participants, of {spread}"
    ]
    if plan.sd is None:
        notes.append(
            "with the standard deviation that you expect (--sd, sd= in Python) it is told in points of the scale"
        )
    else:
        notes.append(f"difference: the same in points of the scale, if the standard deviation is {plan.sd:g}")
    if any(of.over == "topics" for of in plan.findable):
        notes.append(
            "topics: the same by a paired t test over topics, which counts as far as systems suit some topics more "
            "than others; study compare takes both for drawn by chance, and may need a larger difference than either"
        )
    if any(isnan(of.effect) for of in plan.findable):
        notes.append("–: for so few, at so small a level, it cannot be computed")
    return titled("What it could find", Grid(header, rows), notes)


def render_comparison(comparison: StudyComparison, format: str) -> str:
    """Means, pairs and variances; CSV and TSV have the pairs."""

    def rows() -> list[Sequence[Field]]:
        return [[*pair[:9], pair.better or "", *pair[10:13]] for pair in comparison.pairs]

    header = [
        *("first", "second", "participants", "difference", "low", "high", "df", "p", "corrected", "better"),
        *("wilcoxon", "wilcoxon_corrected", "detectable"),
    ]
    return _render(
        comparison, format, "cranfield.study-compare/1", header, rows, lambda: _comparison_blocks(comparison, format)
    )


def _comparison_blocks(comparison: StudyComparison, format: str) -> list[Block]:
    means = [[mean.system, number(mean.mean, ".2f"), number(mean.error, ".2f")] for mean in comparison.means]
    topics = f" on {plural(comparison.topics, 'topic')}" if comparison.topics else ""
    sheets = f"{plural(comparison.sheets, 'score')} of {plural(comparison.participants, 'participant')}{topics}"
    blocks = titled(f"{scale_line(comparison.scale)}: {sheets}", Grid(["system", "mean", "error"], means))
    pairs: list[list[str | Cell]] = []
    for pair in comparison.pairs:
        numbers = (pair.difference, pair.low, pair.high)
        pairs.append(
            [
                f"{pair.first} - {pair.second}",
                *(number(value, "+.2f") for value in numbers),
                number(pair.freedom, ".1f"),
                _p(pair.p),
                Cell(_p(pair.corrected), bold=pair.better is not None),
                _p(pair.wilcoxon_corrected),
            ]
        )
    notes = [*_comparison_notes(comparison, format), *_detectable(comparison), *_verdicts(comparison)]
    header = ["pair", "difference", "low", "high", "df", "p", "corrected", "wilcoxon"]
    blocks += titled("Differences", Grid(header, pairs), notes)
    if comparison.variances:
        total = sum(comparison.variances.values())
        parts = [
            [name, number(value, ".4f"), share(value / total) if total else "–"]
            for name, value in comparison.variances.items()
        ]
        blocks += titled("What scores vary by, beside the system", Grid(["", "variance", "share"], parts))
    return blocks


def _detectable(comparison: StudyComparison) -> list[str]:
    """How small a difference such a study could find."""
    known = sorted(pair.detectable for pair in comparison.pairs if not isnan(pair.detectable))
    if not known:
        return []
    differences = f"{known[0]:.2f}" if len(known) == 1 else f"{known[0]:.2f} to {known[-1]:.2f}, by pair,"
    largest = comparison.scale.top - comparison.scale.bottom
    if known[0] > largest:
        differences += f"{'' if differences.endswith(',') else ','} more than the scale has ({largest:g}),"
    corrected = " after correction" if len(comparison.pairs) > 1 else ""
    chance = f"with a chance of {share(comparison.power)}, a smaller one less often"
    return [f"a true difference of {differences} would be found{corrected} {chance}"]


def _comparison_notes(comparison: StudyComparison, format: str) -> list[str]:
    """What the columns are, and the tests of all systems at once."""
    mark = "a star is" if format == "table" else "bold is"
    given = ", which takes the topics as given" if 0 < comparison.topics < comparison.sheets else ""
    own = given.replace("takes", "take") if comparison.method == "paired" else ""
    notes = [
        f"p: by {HOW[comparison.method]}{own}; corrected ({comparison.correction}) for "
        f"{plural(len(comparison.pairs), 'pair')}, {mark} below {comparison.alpha:g}",
        f"low and high: {percent(comparison.level)} interval, which goes with the corrected p; wilcoxon: corrected p "
        f"of Wilcoxon's test on the means of participants{given}",
    ]
    f = comparison.overall
    if f is not None and not isnan(f.p):
        notes.append(
            f"all systems the same: F({f.freedom:g}, {number(f.residual_freedom, '.1f')}) = {number(f.f, '.2f')}, "
            f"{_equation(f.p)}"
        )
    ranks = comparison.friedman
    if ranks is not None and not isnan(ranks.p):
        notes.append(
            f"Friedman's test on the means of {plural(ranks.participants, 'participant')}{given}: chi-square "
            f"{ranks.chi_square:.2f}, {_equation(ranks.p)}"
        )
    return notes


def _verdicts(comparison: StudyComparison) -> list[str]:
    """What was found, in words."""
    found = [
        f"{pair.better} is better than {pair.second if pair.better == pair.first else pair.first}"
        for pair in comparison.pairs
        if pair.better is not None
    ]
    for pair in comparison.pairs:
        if pair.undecided is not None:
            ranked = "" if isnan(pair.wilcoxon_corrected) else f" (Wilcoxon's is {_p(pair.wilcoxon_corrected)})"
            found.append(f"{pair.first} and {pair.second}: undecided, there is no p{ranked}, as {pair.undecided}")
    if found:
        return found
    return ["no pair differs by more than chance would have it: that is no proof that they are the same"]


def render_correlation(correlation: StudyCorrelation, format: str, *, points: bool = False) -> str:
    """Coefficients, or with `points` what they are of too (in CSV and TSV alone)."""
    if points and format in DELIMITERS:
        header = ["system", "topic", "sheets", correlation.scale.name, *correlation.measures]
        lines: list[list[Field]] = [
            [point.system, point.topic, point.participants, point.score, *point.measures]
            for point in correlation.points
        ]
        return separated(header, lines, DELIMITERS[format])

    def rows() -> list[Sequence[Field]]:
        return [[*row[:5], *row.estimate[:3]] for row in correlation.rows]

    def blocks() -> list[Block]:
        lines = [
            [*row[:3], f"{row.pairs:,}", f"{row.topics:,}", *(number(x, ".3f") for x in row.estimate[:3])]
            for row in correlation.rows
        ]
        header = ["measure", "coefficient", "over", "pairs", "topics", "value", "low", "high"]
        on_topics = f" on {plural(len(correlation.topics), 'topic')}" if correlation.topics else ""
        title = f"{scale_line(correlation.scale)}: {plural(len(correlation.systems), 'system')}{on_topics}"
        notes = [
            f"low and high: middle 95% of {correlation.resamples:,} times the topics drawn anew; within topics: the "
            "mean of each topic taken off"
            if correlation.topics
            else "over systems: the mean of participants against the mean of the measure, a point a system",
            "1 is agreement: the better a system by the measure, the better for participants",
        ]
        shown = titled(title, Grid(header, lines, labels=3), notes)
        if points:
            own = [
                [
                    point.system,
                    point.topic,
                    f"{point.participants:,}",
                    number(point.score, ".2f"),
                    *map(number, point.measures),
                ]
                for point in correlation.points
            ]
            head = ["system", "topic", "sheets", correlation.scale.name, *correlation.measures]
            shown += titled("By system and topic" if correlation.topics else "By system", Grid(head, own, labels=2))
        return shown

    header = ["measure", "coefficient", "over", "pairs", "topics", "value", "low", "high"]
    return _render(correlation, format, "cranfield.study-correlate/1", header, rows, blocks)
