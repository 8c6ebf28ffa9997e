"""Comparisons as text that can be pasted, one function a format."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from math import isnan
from string import ascii_lowercase
from typing import TYPE_CHECKING

from cranfield.comparison.chosen_columns import UNCORRECTED, Part, for_paper, only
from cranfield.efficiency import efficiency_columns
from cranfield.errors import UsageError, percent, plural, share, some
from cranfield.render.document import Block, Bullet, Paragraph, Title, written
from cranfield.render.grid import BEST, WRITERS, Cell, Grid, separated

if TYPE_CHECKING:
    from cranfield.comparison.comparison import Comparison, Pair, Panel
    from cranfield.statistics.effects import Effects
    from cranfield.statistics.significance import SignificanceTest


def render(comparison: Comparison, format: str, *, simultaneous: bool = False, columns: Sequence[str] = ()) -> str:
    """A comparison in a format, ending in a newline; tables may show intervals that hold for all pairs together.

    Tables show the `columns` that are named and those alone, or everything; in LaTeX, which is for papers, means.
    """
    if format in EXACT:
        if columns:
            raise UsageError(f"{format} has every column: choose some for {', '.join(WRITERS)}")
        return EXACT[format](comparison)
    if simultaneous:
        comparison = replace(comparison, panels=tuple(map(_together, comparison.panels)), simultaneous=True)
    return written(blocks(comparison, format, columns), format)


def blocks(comparison: Comparison, format: str, columns: Sequence[str] = ()) -> list[Block]:
    """The outcome in a sentence a measure, then the tables; in LaTeX what stands outside of them is a comment."""
    from cranfield.comparison.standing import verdict

    tables = parts(comparison)
    if columns:
        tables = only(tables, columns)
    elif format == "latex":
        tables = for_paper(tables)
    headers = {header for part in tables for header in part.grid.header}
    first, *others = tables
    reading = [legend(comparison, plain=format == "table"), column_legend(comparison, headers)]
    first = first._replace(grid=captioned(comparison, first.grid), below=(*first.below, *filter(None, reading)))
    told: list[Block] = [Bullet(verdict(comparison, panel)) for panel in comparison.panels]
    for part in (first, *others):
        told += [*([Title(part.title)] if part.title else []), part.grid, *map(Paragraph, part.below)]
    return told


def _together(panel: Panel) -> Panel:
    return replace(panel, effects=panel.effects._replace(low=panel.together.low, high=panel.together.high))


def parts(comparison: Comparison) -> list[Part]:
    """Every table that a person reads: the systems, then for each measure the pairs, folds and the macro summary."""
    tables = [Part("", systems_grid(comparison), paper=len(comparison.panels))]
    tables += [Part(panel.heading, pairs_grid(comparison, panel), paper=0) for panel in comparison.panels]
    tables += [
        Part(f"{panel.heading}, fold by fold", folds_grid(comparison, panel))
        for panel in comparison.panels
        if panel.folds
    ]
    tables += [
        Part(f"{panel.heading}, risk", risk_grid(comparison, panel)) for panel in comparison.panels if panel.risk
    ]
    if comparison.macro:
        tables.append(
            Part("All collections, each counting the same", macro_grid(comparison), (_macro_legend(comparison),))
        )
    return tables


def systems_grid(comparison: Comparison) -> Grid:
    """Means, the best marked, with letters for the systems that each one beats."""
    shares = {_share_label(panel): panel.unjudged for panel in comparison.panels if panel.unjudged is not None}
    letters = has_letters(comparison)
    header = [*([""] if letters else []), "system", *(panel.heading for panel in comparison.panels), *shares]
    header += [_on(efficiency_columns.header(column.figure), column.collection) for column in comparison.figures]
    rows: list[list[str | Cell]] = []
    for number in comparison.listed:
        means = [_mean_cell(comparison, panel, number) for panel in comparison.panels]
        unjudged = [_shown_share(float(unjudged[number])) for unjudged in shares.values()]
        figures = [efficiency_columns.shown(column.figure, column.values[number]) for column in comparison.figures]
        letter = [comparison.letter(number)] if letters else []
        rows.append([*letter, comparison.systems[number], *means, *unjudged, *figures])
    return Grid(header, rows, labels=1 + letters)


def pairs_grid(comparison: Comparison, panel: Panel) -> Grid:
    """Each pair of systems on one measure, with a star what is significant after correction."""
    effects = panel.effects
    tests = [_of_test(comparison, test) for test in comparison.tests]
    header = ["pair", "difference", interval_header(comparison), "d_z", "W/T/L", *tests]
    mixed = len(set(panel.decided.by)) > 1 or panel.decided.by[0] not in panel.p
    header += [*(["decided by"] if mixed else []), "adjusted p", "detectable"]
    header += [_uncorrected(comparison, "p equivalent")] if panel.equivalence is not None else []
    rows: list[list[str | Cell]] = []
    for k, (i, j) in enumerate(comparison.pairs.tolist()):
        difference = Cell(f"{effects.mean[k]:+z.4f}", above=_star(float(panel.adjusted[k]), comparison))
        row: list[str | Cell] = [f"{comparison.systems[i]} − {comparison.systems[j]}", difference]
        row += _on_topics(effects, k, decided=panel.measure.sign != 0)
        row += [shown_p(float(panel.p[str(test)][k])) for test in comparison.tests]
        row += [panel.decided.by[k]] if mixed else []
        row += [shown_p(float(panel.adjusted[k])), _shown(effects.detectable[k], ".4f")]
        rows.append(row + ([shown_p(float(panel.equivalence[k]))] if panel.equivalence is not None else []))
    return Grid(header, rows, caption=_pairs_caption(comparison, panel))


def _star(adjusted_p: float, comparison: Comparison) -> str:
    return "*" if adjusted_p < comparison.alpha else ""


def interval_header(comparison: Comparison) -> str:
    """How sure an interval is, and whether it is so with all others together or by itself."""
    if comparison.holds_together and comparison.comparisons > 1:
        return f"{percent(comparison.alpha)} simultaneous interval"
    return f"{percent(comparison.level)} interval"


def interval(low: float, high: float) -> str:
    """An interval as people read it; one without ends says so, and where no topic differs there is none.

    >>> interval(-0.25, 0.5), interval(float("-inf"), float("inf")), interval(0.0, 0.0)
    ('[-0.2500, +0.5000]', '[-∞, +∞]', '–')
    """
    return "–" if isnan(low) or low == high == 0 else f"[{low:+z.4f}, {high:+z.4f}]".replace("inf", "∞")


def _uncorrected(comparison: Comparison, header: str) -> str:
    """The head of p-values that nothing corrects, where there is more than one."""
    return f"{header}{UNCORRECTED}" if comparison.comparisons > 1 else header


def _of_test(comparison: Comparison, test: SignificanceTest) -> str:
    """The head of a test's own p-values, beside which stand the adjusted ones; some tests correct them themselves."""
    return f"p ({test})" if test.kind == "family" else _uncorrected(comparison, f"p ({test})")


def _on_topics(effects: Effects, pair: int, *, decided: bool) -> list[str | Cell]:
    """Interval, d_z and topics won, tied and lost; systems that answer different topics have the first alone.

    Where no value of a measure is better than another (not `decided`), nothing is won. Tests that are not about the
    mean have no interval of it.
    """
    ends = interval(float(effects.low[pair]), float(effects.high[pair]))
    if isnan(effects.d_z[pair]):
        return [ends, "–", "–"]
    counts = f"{effects.wins[pair]}/{effects.ties[pair]}/{effects.losses[pair]}" if decided else "–"
    spread = f"{effects.d_z[pair]:+z.2f}".replace("inf", "∞")
    return [ends, spread, counts]


def _shown_share(part: float) -> str:
    return "–" if isnan(part) else share(part, 1)


def _shown(value: float, form: str) -> str:
    return "–" if isnan(value) else format(value, form).replace("inf", "∞")


def folds_grid(comparison: Comparison, panel: Panel) -> Grid:
    """Each pair's difference on every fold, and the corrected resampled t test over them; one p by itself each."""
    assert panel.folds is not None
    count = len(panel.folds[0].differences)
    tested = _uncorrected(comparison, "p (t over folds)" if count > 1 else "p (t on the test topics)")
    header = ["pair", *(f"fold {number}" for number in range(1, count + 1)), "mean", tested]
    rows = []
    for (i, j), folds in zip(comparison.pairs.tolist(), panel.folds, strict=True):
        differences = [f"{difference:+z.4f}" for difference in folds.differences]
        pair = f"{comparison.systems[i]} − {comparison.systems[j]}"
        rows.append([pair, *differences, f"{folds.test.difference:+z.4f}", shown_p(folds.test.p)])
    return Grid(header, rows)


def risk_grid(comparison: Comparison, panel: Panel) -> Grid:
    """What each system risks against the baseline."""
    risk = panel.risk
    assert risk is not None
    rows = [
        [
            system,
            f"{risk.urisk[i]:+z.4f}",
            *_of_risk(float(risk.trisk[i]), float(risk.p[i])),
            _shown(float(risk.georisk[i]), ".4f"),
        ]
        for i, system in enumerate(comparison.systems)
    ]
    return Grid(["system", "URisk", "TRisk", _uncorrected(comparison, "p"), "GeoRisk"], rows)


def _of_risk(t: float, p: float) -> tuple[str, str]:
    return ("–", "–") if isnan(t) else (f"{t:+z.4f}", shown_p(p))


def macro_grid(comparison: Comparison) -> Grid:
    """Each pair over all collections, each of which counts the same."""
    level = comparison.macro[0].level
    header = ["measure", "pair", "means", "difference", f"{percent(level)} interval", "p", "adjusted p"]
    rows: list[list[str | Cell]] = []
    for macro in comparison.macro:
        for k, (i, j) in enumerate(comparison.pairs.tolist()):
            means = f"{macro.means[i]:.4f} {macro.means[j]:.4f}"
            ends = interval(float(macro.low[k]), float(macro.high[k]))
            pair = f"{comparison.systems[i]} − {comparison.systems[j]}"
            difference = Cell(f"{macro.difference[k]:+z.4f}", above=_star(float(macro.adjusted[k]), comparison))
            p = [shown_p(float(macro.decided.p[k])), shown_p(float(macro.adjusted[k]))]
            rows.append([macro.measure.label, pair, means, difference, ends, *p])
    return Grid(header, rows, labels=2)


def captioned(comparison: Comparison, grid: Grid) -> Grid:
    """A table of systems with what a reader of a paper must know of the means in it."""
    measures = [panel.heading for panel in comparison.panels if panel.heading in grid.header]
    if not measures:  # a table of something else
        return grid
    words = [
        f"{some(measures, len(measures))} of {_compared(comparison)}",
        "The best mean of a column is bold.",
        f"{marks_legend(comparison)} ({_in_short(comparison)}).",
        *_only_baseline(comparison),
    ]
    return grid._replace(caption=" ".join(words))


def _pairs_caption(comparison: Comparison, panel: Panel) -> str:
    """What a reader of a paper must know of the differences."""
    compared = _compared(comparison)
    return f"Differences in {panel.heading}: {compared} * marks those that are significant ({_in_short(comparison)})."


def _in_short(comparison: Comparison) -> str:
    """Which tests decided, with which correction, at which level."""
    tests = " or ".join(test.named for test in comparison.deciding)
    return f"{tests}; {corrected(comparison)}; adjusted p below {comparison.alpha:g}"


def legend(comparison: Comparison, *, plain: bool = False, stars: bool = True) -> str:
    """How to read the tables: what marks and letters mean, which test decided, what intervals hold for.

    In `plain` text nothing is bold; without `stars` there is no table of pairs to be explained.
    """
    significant = f"(adjusted p below {comparison.alpha:g})"
    starred = f", and * after a difference says that it is significant {significant}." if stars else f" {significant}."
    words = [
        _compared(comparison),
        f"{BEST} stands before the best mean of a column." if plain else "The best mean of a column is bold.",
        f"{marks_legend(comparison)}{starred}",
        *_only_baseline(comparison),
        f"Decided by {comparison.rule}; {corrected(comparison)}.",
        *(f"Null hypothesis of {test.named}: {test.null}." for test in comparison.deciding),
        _intervals(comparison),
    ]
    if any(isnan(p) for panel in comparison.panels for of_test in panel.p.values() for p in of_test.tolist()):
        words.append("A p of – is undefined.")
    if any(panel.spreads for panel in comparison.panels):
        words.append(
            "± is the standard deviation of a system's runs; d_z and W/T/L are of the mean over its runs on each topic "
            "and leave out how far runs differ."
        )
    return " ".join(words)


def star_legend(comparison: Comparison) -> str:
    """What a star in a table of pairs means."""
    return f"* after a difference says that it is significant (adjusted p below {comparison.alpha:g})."


def _compared(comparison: Comparison) -> str:
    """How many systems, on how many topics."""
    systems, topic_set = plural(len(comparison.systems), "system"), comparison.policy.topic_set
    among = "" if topic_set is None else f" of {topic_set.name}"
    if any(panel.own_topics for panel in comparison.panels):
        return f"{systems}, each on topics{among} of its own."
    counts = {panel.collection: len(panel.topics) for panel in comparison.panels}
    topics = [plural(count, "topic") + f" of {name}" * (len(counts) > 1) for name, count in counts.items()]
    return f"{systems} on {', '.join(topics)}{among}."


def _only_baseline(comparison: Comparison) -> list[str]:
    """Said where systems are not compared with each other: a letter that is missing then says nothing."""
    if comparison.baseline is None:
        return []
    letter = comparison.letter(comparison.systems.index(comparison.baseline))
    called = f"{comparison.baseline} ({letter})" if has_letters(comparison) else comparison.baseline
    return [f"Only pairs with the baseline, {called}, were compared."]


def corrected(comparison: Comparison) -> str:
    """What p-values are corrected for, in words."""
    count, test = plural(comparison.comparisons, "comparison"), comparison.tests[0]
    if comparison.comparisons == 1:
        return "one comparison, with nothing to correct for"
    if test.kind == "family":
        panels = len(comparison.panels)
        times = f" of a measure, and Bonferroni for the {panels}" if panels > 1 else ""
        return f"corrected by the test itself for all pairs{times}: {count}"
    if comparison.correction.name == "none":
        return f"not corrected for {count}"
    return f"{comparison.correction.title} correction for {count}"


def _intervals(comparison: Comparison) -> str:
    """What intervals hold for, in words."""
    if all(isnan(low) for panel in comparison.panels for low in panel.effects.low.tolist()):
        if comparison.tests[0].half_width is not None:  # and the scores of no system vary
            return "No interval is computed where scores do not vary."
        named = comparison.tests[0].named
        return f"{named[0].upper()}{named[1:]} has no interval of the mean difference."
    if comparison.comparisons == 1:
        return f"The interval leaves out 0 exactly where that p is below {comparison.alpha:g}."
    all_of_them = f"Intervals hold for all {comparison.comparisons:,} comparisons together"
    strict = f"leaves out 0 exactly where adjusted p is below {comparison.alpha:g}"
    if comparison.simultaneous and comparison.tests[0].kind != "family":
        return f"{all_of_them} (Bonferroni), whatever the correction of p."
    if comparison.holds_together:
        return f"{all_of_them}; one {strict}."
    return (
        f"Each interval holds for its own comparison, and is a {percent(comparison.level)} one so that it {strict}; "
        "`compare --simultaneous` (`panel.together` in Python) has intervals that hold for all comparisons together."
    )


def column_legend(comparison: Comparison, headers: Collection[str] | None = None) -> str:
    """What is in the columns whose names do not say it: of those that have these `headers`, or of all."""
    told = {
        "unjudged": "share of the documents that nobody judged, of the first k for measures @k, else of all shown",
        "d_z": "mean difference in standard deviations of the differences",
        "W/T/L": "topics that the first system of a pair won, tied and lost",
        "detectable": "the smallest true difference that so many topics would show with a chance of "
        f"{share(comparison.power)}",
    }
    if comparison.margin is not None:
        told["p equivalent"] = f"small where the systems are equal up to {comparison.margin:g}"
    if all(panel.unjudged is None for panel in comparison.panels):
        del told["unjudged"]
    kept = [name for name in told if headers is None or any(header.startswith(name) for header in headers)]
    return "; ".join(f"{name}: {told[name]}" for name in kept) + "." * bool(kept)


def _macro_legend(comparison: Comparison) -> str:
    """How the summary over collections was decided."""
    ways = {name for macro in comparison.macro for name in macro.decided.by}
    count = sum(len(macro.difference) for macro in comparison.macro)
    tested = {
        "t": "t of the mean of the collections' differences, with Satterthwaite's degrees of freedom",
        "randomisation": "randomisation of all topics, each weighed by its collection",
    }
    how = " or, where few topics change, ".join(tested[name] for name in ("t", "randomisation") if name in ways)
    many = f"{comparison.correction.title} correction for the {plural(count, 'comparison')} of this table"
    return f"p is by {how}; adjusted p: {many if count > 1 else 'one comparison, with nothing to correct for'}."


def shown_p(p: float) -> str:
    """A p-value as people read it.

    >>> shown_p(0.03217), shown_p(0.0000002), shown_p(1.0), shown_p(float("nan"))
    ('0.0322', '<0.0001', '1.0000', '–')
    """
    if isnan(p):
        return "–"
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def _mean_cell(comparison: Comparison, panel: Panel, system: int) -> Cell:
    spread = panel.spreads[system] if panel.spreads else None
    text = f"{panel.means[system]:.4f}" + (f" ± {spread.sd:.4f}" if spread and spread.seeds > 1 else "")
    beaten = comparison.beaten_by(panel, system)
    return Cell(text, best=system in panel.leaders, above=beaten_letters(comparison, beaten))


def beaten_letters(comparison: Comparison, beaten: Sequence[int]) -> str:
    """A letter for each system that is beaten; how many they are in all rows alike, where there are more systems than
    letters.
    """
    if has_letters(comparison):
        return "".join(map(comparison.letter, beaten))
    others = len(comparison.systems) - 1
    return "all" if len(beaten) == others else f"{len(beaten)} of {others}"


def has_letters(comparison: Comparison) -> bool:
    """Whether each system has a letter of its own."""
    return len(comparison.systems) <= len(ascii_lowercase)


def marks_legend(comparison: Comparison) -> str:
    """What stands after a mean: of systems that have letters, or of more.

    It is about what the mean is significantly better than; what that takes is said after it.
    """
    if has_letters(comparison):
        return "Letters after a mean name the systems that it is significantly better than"
    return "After a mean stands how many of the other systems it is significantly better than"


def _share_label(panel: Panel) -> str:
    cutoff = panel.measure.parameters.get("cutoff")
    return _on("unjudged" if cutoff is None else f"unjudged@{cutoff}", panel.collection)


def _on(label: str, collection: str) -> str:
    return f"{label} on {collection}" if collection else label


def _separated(comparison: Comparison, delimiter: str) -> str:
    """A row a comparison, in full precision, with the efficiency of both systems."""
    rows = [_flat(pair) | _figures(comparison, pair) for pair in comparison.rows()]
    return separated(list(rows[0]), [list(row.values()) for row in rows], delimiter)


def _flat(pair: Pair) -> dict[str, str | float | None]:
    columns: dict[str, str | float | None] = {}
    for name, value in vars(pair).items():
        columns |= {f"p_{test}": p for test, p in pair.p.items()} if name == "p" else {name: value}
    return columns


def _figures(comparison: Comparison, pair: Pair) -> dict[str, str | float | None]:
    columns: dict[str, str | float | None] = {}
    for column in comparison.figures:
        if column.collection == pair.collection:
            values = dict(zip(comparison.systems, column.values, strict=True))
            label = efficiency_columns.exact_header(column.figure)
            columns |= {label: values[pair.system], f"other {label}": values[pair.other]}
    return columns


def _json(comparison: Comparison) -> str:
    import json

    from cranfield.comparison.comparison_json import to_document

    return json.dumps(to_document(comparison), allow_nan=False, indent=1) + "\n"


# For machines, with every number in full.
EXACT: Mapping[str, Callable[[Comparison], str]] = {
    "json": _json,
    "csv": lambda comparison: _separated(comparison, ","),
    "tsv": lambda comparison: _separated(comparison, "\t"),
}
FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")
