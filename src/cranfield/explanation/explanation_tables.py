"""An explanation as text: the ranking with what each document adds, then the formula as on a board."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from cranfield.errors import plural, some
from cranfield.explanation.explanation_json import to_document
from cranfield.explanation.explanation_picture import drawn
from cranfield.render.document import Block, Bullet, Code, Paragraph, Quotation, Title, html_block, written
from cranfield.render.escaping import Markup
from cranfield.render.grid import Cell, Grid, html_table

if TYPE_CHECKING:
    from cranfield.explanation.explanation import Account, Explanation, Placed, SideBySide
    from cranfield.quotation.quoting import Quotations

NOTHING = "–"
GAP = "⋮"


def render(explanation: Explanation, format: str) -> str:
    """An explanation in a format, ending in a newline.

    >>> from cranfield.explanation.accounts import explain
    >>> from cranfield import Experiment
    >>> experiment = Experiment({"1": {"d1": 1}}, {"1": {"d2": 2.0, "d1": 1.0}})
    >>> print(render(explain(experiment, "1", "RR"), "table"), end="")
    RR of run on topic 1: 0.5000
    1 / (rank of the first relevant document)
    <BLANKLINE>
    rank  document  grade  counts       P       R  contribution   total  if relevant
    1     d2            –          0.0000  0.0000                0.0000       1.0000
    2     d1            1       ✓  0.5000  1.0000        0.5000  0.5000
    <BLANKLINE>
    RR = 1 / 2
       = 0.5000
    <BLANKLINE>
    2 documents are retrieved, all of the relevant ones (1) among them.
    1 document retrieved is not judged. The last column has the score if that document alone were relevant (grade 1).
    Whatever unjudged documents retrieved may be, RR is between 0.5000 and 1.0000.
    """
    return FORMATS[format](explanation)


def account_grid(account: Account) -> Grid:
    """The ranking, a row for each document shown; in bold those that count."""
    supposed = any(line.if_relevant is not None for line in account.lines)
    header = ["rank", "document", "grade", "counts", "P", "R", *account.columns]
    header += ["contribution", "total"] if account.adds_up else ["worth"]
    header += ["if relevant"] if supposed else []
    width = len(str(account.lines[-1].rank)) if account.lines else 1
    rows: list[list[str | Cell]] = []
    # Gains are mostly whole numbers: a column of them is written without decimals.
    columns = zip(*(line.values for line in account.lines), strict=True)
    whole = [all((value or 0.0).is_integer() for value in column) for column in columns]
    above = 0
    for line in account.lines:
        if line.rank > above + 1:
            gap: list[str | Cell] = [GAP, *[""] * (len(header) - 1)]
            rows.append(gap)
        above = line.rank
        row: list[str | Cell] = [str(line.rank).rjust(width), Cell(line.document, bold=line.counts), _grade(line.grade)]
        row += ["✓" if line.counts else "", f"{line.precision:.4f}", _decimal(line.recall)]
        row += [_number(value, as_whole) for value, as_whole in zip(line.values, whole, strict=True)]
        added = [_decimal(line.contribution or None, ""), _decimal(line.total)]
        row += added if account.adds_up else [_signed(line.worth)]
        rows.append(row + ([_decimal(line.if_relevant, "")] if supposed else []))
    return Grid(header, rows, labels=2)


def levels_grid(account: Account) -> Grid:
    """The recall levels over which the score is a mean, and the precision at each."""
    return Grid(["recall", "precision"], [[f"{level:g}", _decimal(value)] for level, value in account.levels])


def board(account: Account) -> str:
    """The formula with the numbers put in, a step a line."""
    name, *parts = account.parts
    indent = " " * len(name)
    lines = [f"{indent if i else name} = {part}" for i, part in enumerate(parts)]
    return "\n".join(lines) + (f", {account.because}" if account.because else "")


def sentences(account: Account) -> list[str]:
    """What the ranking does not show: what is missing, what stands below, and what is not judged."""
    retrieved = f"{plural(account.retrieved, 'document')} {_are(account.retrieved)} retrieved"
    if not account.relevant:
        retrieved += "; none is judged relevant."
    elif account.found < account.relevant:
        retrieved += f", {account.found} of the {plural(account.relevant, 'relevant one')}."
    else:
        retrieved += f", all of the relevant ones ({account.relevant}) among them."
    lines = [*(f"{note[0].upper()}{note[1:]}." for note in account.notes if account.bounds), retrieved]
    if account.missed:
        from cranfield.explanation.explanation import SHOWN_MISSED

        missed = some([f"{missing.document} (grade {missing.grade:g})" for missing in account.missed], SHOWN_MISSED)
        lines.append(f"Relevant and not retrieved: {missed}.")
    lines += _below(account)
    if not account.adds_up:
        lines.append(
            "This score is not a sum over documents. What a document is worth is the score less what it would be if it "
            "were not relevant."
        )
    return lines + _unjudged(account)


def _below(account: Account) -> list[str]:
    below = account.below
    if not below.counting:
        return []
    adds = "" if below.contribution is None else f", together adding {below.contribution:.4f}"
    return [f"Not shown: {plural(below.ranks, 'document')}, of which {below.counting} {_counts(below.counting)}{adds}."]


def _unjudged(account: Account) -> list[str]:
    if not account.unjudged:
        return ["Every document retrieved is judged."] if account.retrieved else []
    sentence = f"{plural(account.unjudged, 'document')} retrieved {_are(account.unjudged)} not judged."
    if any(line.if_relevant is not None for line in account.lines):
        sentence += (
            f" The last column has the score if that document alone were relevant (grade {account.supposed_grade:g})."
        )
    if account.bounds is None:
        return [sentence, *(f"{note[0].upper()}{note[1:]}." for note in account.notes)]
    return [sentence, _bounds(account, *account.bounds)]


def _bounds(account: Account, low: float, high: float) -> str:
    """Bounds as far as they hold: those that are searched for may miss, and the table itself may show it."""
    between = f"{low:.4f}" if low == high else f"between {low:.4f} and {high:.4f}"
    outside = account.outside_bounds
    if outside:
        beyond = f"{outside[0]:.4f}" if len(outside) == 1 else f"{min(outside):.4f} to {max(outside):.4f}"
        return f"Bounds that were searched for, {between}, do not hold: the last column has {beyond} outside of them."
    if account.measure.traits.bounds is None:
        supposition = "With the unjudged documents retrieved taken as relevant from the top or from the bottom"
        return f"{supposition}, {account.measure.on_topic} is {between}."
    # The bounds suppose grades of all judgements, the last column that of this topic.
    higher = account.highest_grade > account.supposed_grade
    may_be = f", up to grade {account.highest_grade:g}" if higher else ""
    return f"Whatever unjudged documents retrieved may be{may_be}, {account.measure.on_topic} is {between}."


def pair_grid(pair: SideBySide) -> Grid:
    """Documents of two runs side by side, with what each adds to both scores."""
    adds_up = any(placed.contribution is not None or placed.other_contribution is not None for placed in pair.documents)
    header = ["document", "grade", f"rank in {pair.run}", f"in {pair.other}", "change"]
    header += [f"adds in {pair.run}", f"in {pair.other}", "difference"] if adds_up else []
    rows: list[list[str | Cell]] = []
    for placed in pair.documents:
        move = placed.move
        row: list[str | Cell] = [move.document, _grade(move.grade), _rank(move.rank), _rank(move.other_rank)]
        row.append(change(placed))
        if adds_up:
            mine, others = placed.contribution or 0.0, placed.other_contribution or 0.0
            row += [_decimal(mine or None, ""), _decimal(others or None, ""), _signed(mine - others or None)]
        rows.append(row)
    return Grid(header, rows)


def change(placed: Placed) -> str:
    """What became of a document on the way from the other run to this one.

    >>> from cranfield.comparison.diagnosis import Move
    >>> from cranfield.explanation.explanation import Placed
    >>> [change(Placed(Move("1", "d1", 1.0, rank, 5), None, None)) for rank in (2, None)]
    ['↑ 3', 'left']
    """
    move = placed.move
    if move.rank is None or move.other_rank is None:
        return move.change
    if move.rank == move.other_rank:
        return "="
    return f"{'↑' if move.change == 'up' else '↓'} {abs(move.rank - move.other_rank)}"


def _title(account: Account, topic: str) -> str:
    return f"{account.measure.on_topic} of {account.run} on topic {topic}: {account.parts[-1]}"


def _pair_title(pair: SideBySide) -> str:
    scores = f"{pair.value:.4f} − {pair.other_value:.4f} = {pair.difference:+z.4f}"
    return f"{pair.measure.on_topic}: {pair.run} − {pair.other} = {scores}"


def _pair_note(pair: SideBySide) -> str:
    return f"Changes are those on the way from {pair.other} to {pair.run}."


def question_blocks(topic: str, quotations: Quotations) -> list[Block]:
    """What was asked: the short question as a title, and every other field in full."""
    fields = list(quotations.questions.get(topic, ()))
    if not fields:
        return [Title(f"Topic {topic}", level=2), Paragraph(quotations.no_question)]
    titles = [(name, text) for name, text in fields if name == "title"] or fields[:1]
    others = [Paragraph(f"{name.capitalize()}: {_line(text)}") for name, text in fields if (name, text) not in titles]
    return [Title(f"Topic {topic}: {_line(titles[0][1])}", level=2), *others]


def document_blocks(explanation: Explanation, quotations: Quotations) -> list[Block]:
    """What each document says that is shown, with its grade."""
    blocks: list[Block] = [Title("Documents", level=2)]
    retrieved = {line.document for account in explanation.accounts for line in account.lines}
    for document, grade in explanation.documents.items():
        judged = "not judged" if grade is None else f"grade {grade:g}"
        kind = judged if document in retrieved else f"{judged}, not retrieved"
        name = f"{document} ({kind}) {quotations.title(document)}".rstrip()
        there = document in quotations.documents
        passage = quotations.passage(explanation.topic, document) if there else [(f"not in {quotations.name}", False)]
        blocks.append(Quotation(name, passage))
    return blocks


def _line(text: str) -> str:
    return " ".join(text.split())


def _blocks(explanation: Explanation) -> Iterator[Block]:
    quotations = explanation.quotations
    if quotations is not None:
        yield from question_blocks(explanation.topic, quotations)
    for account in explanation.accounts:
        yield Title(_title(account, explanation.topic), level=2)
        yield Paragraph(account.formula, quiet=True)
        yield account_grid(account)
        if account.levels:
            yield levels_grid(account)
        yield Code(board(account), language="text")
        yield from map(Bullet, sentences(account))
    for pair in explanation.pairs:
        yield Title(_pair_title(pair), level=2)
        yield Paragraph(_pair_note(pair), quiet=True)
        yield pair_grid(pair)
    if quotations is not None:
        yield from document_blocks(explanation, quotations)


STYLE = """<style>
.cranfield-explain { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; --hit: #0072b2; --rule: #8884; }
@media (prefers-color-scheme: dark) { .cranfield-explain { --hit: #56b4e9; } }
.cranfield-explain .scroll { overflow-x: auto; }
.cranfield-explain table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.93em; }
.cranfield-explain th, .cranfield-explain td { padding: 0.15em 0.55em; border-bottom: 1px solid var(--rule); }
.cranfield-explain thead th { text-align: right; font-weight: 600; white-space: nowrap; }
.cranfield-explain thead th:nth-child(-n+2), .cranfield-explain tbody th { text-align: left; }
.cranfield-explain tbody th { font-weight: normal; }
.cranfield-explain tbody th strong { color: var(--hit); }
.cranfield-explain .board { margin: 1em 0; padding: 0.7em 1em; border-left: 3px solid var(--hit);
  font-family: ui-monospace, monospace; }
.cranfield-explain .board div { padding-left: calc(var(--name) + 3ch); text-indent: -2ch; }
.cranfield-explain .board div:first-child { text-indent: calc(-3ch - var(--name)); }
.cranfield-explain .formula { opacity: 0.75; font-style: italic; margin-top: -0.6em; }
.cranfield-explain mark { background: none; color: inherit; font-weight: 600; text-decoration: underline; }
.cranfield-explain svg { max-width: 100%; height: auto; }
.cranfield-explain svg text { fill: currentColor; font-size: 13px; }
</style>
"""


def _html_board(account: Account) -> Markup:
    """Steps that hang under their equals signs, however narrow the page is."""
    lines = (re.sub(r"(log[\d.]*) ", "\\1\N{NO-BREAK SPACE}", line.strip()) for line in board(account).split("\n"))
    steps = [Markup.element("div", line) for line in lines]
    return Markup.element("div", *steps, class_="board", style=f"--name: {len(account.parts[0])}ch")


def _no_title(document: str) -> str:
    return ""


def _html(explanation: Explanation) -> str:
    quotations = explanation.quotations
    parts: list[Markup] = [Markup.fixed(STYLE)]
    if quotations is not None:
        parts += map(html_block, question_blocks(explanation.topic, quotations))
    for account in explanation.accounts:
        parts += [
            Markup.element("h3", _title(account, explanation.topic)),
            Markup.element("p", account.formula, class_="formula"),
            Markup.element("div", html_table(account_grid(account)), class_="scroll"),
            *([html_table(levels_grid(account))] if account.levels else []),
            _html_board(account),
            Markup.element("p", " ".join(sentences(account))),
        ]
    for pair in explanation.pairs:
        lines, other_lines = (account.lines for account in explanation.accounts if account.measure == pair.measure)
        parts += [
            Markup.element("h3", _pair_title(pair)),
            drawn(pair, lines, other_lines, _no_title if quotations is None else quotations.title),
            Markup.element("p", _pair_note(pair)),
            Markup.element("div", html_table(pair_grid(pair)), class_="scroll"),
        ]
    if quotations is not None:
        parts += map(html_block, document_blocks(explanation, quotations))
    line = Markup.fixed("\n")
    return str(Markup.of(Markup.element("section", line.join(parts), class_="cranfield-explain"), line))


def _json(explanation: Explanation) -> str:
    import json

    return json.dumps(to_document(explanation), allow_nan=False, indent=1) + "\n"


def _grade(grade: float | None) -> str:
    return NOTHING if grade is None else f"{grade:g}"


def _rank(rank: int | None) -> str:
    return NOTHING if rank is None else str(rank)


def _decimal(value: float | None, nothing: str = NOTHING) -> str:
    return nothing if value is None else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+z.4f}"


def _number(value: float | None, as_whole: bool) -> str:
    return "" if value is None else f"{value:.0f}" if as_whole else f"{value:.4f}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _counts(number: int) -> str:
    return "counts" if number == 1 else "count"


FORMATS: Mapping[str, Callable[[Explanation], str]] = {
    "table": lambda explanation: written(_blocks(explanation), "table"),
    "json": _json,
    "markdown": lambda explanation: written(_blocks(explanation), "markdown"),
    "html": _html,
}
