"""What audits and preferences found, as text that can be pasted, as CSV, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from cranfield.errors import percent, plural
from cranfield.render.document import Block, Bullet, Paragraph, titled, written
from cranfield.render.grid import DELIMITERS, Cell, Field, Grid, separated
from cranfield.render.json_form import as_json

if TYPE_CHECKING:
    from cranfield.online.interleaving.auditing import Audit, AuditPart, Criterion
    from cranfield.online.interleaving.preferring import Tally, UserPreferences

FORMATS = ("table", "json", "csv", "tsv", "markdown", "latex", "html")


def render_audits(audits: Sequence[Audit], format: str) -> str:
    """One audit or several, each with its table and its counterexamples; CSV has a line for each criterion and kind."""
    if format == "json":
        return as_json("cranfield.interleaving-audit/1", {"audits": [_audit_json(audit) for audit in audits]})
    if format in DELIMITERS:
        header = ["method", "criterion", "rankings", "cases", "failed", "unclear", "counterexample"]
        rows: list[Sequence[Field]] = [
            [audit.method, criterion.name, part.kind, part.cases, part.failed, part.unclear, _example(part)]
            for audit in audits
            for criterion in audit.criteria
            for part in criterion.parts
        ]
        return separated(header, rows, DELIMITERS[format])
    return written([block for audit in audits for block in _audit_blocks(audit)], format)


def _example(part: AuditPart) -> str:
    return part.counterexample.told() if part.counterexample else ""


def _part_json(part: AuditPart) -> dict[str, object]:
    return part._asdict() | {"counterexample": _example(part) or None}


def _audit_json(audit: Audit) -> dict[str, object]:
    criteria = [
        {
            "name": criterion.name,
            "says": criterion.says,
            "holds": criterion.holds,
            "parts": [_part_json(part) for part in criterion.parts],
        }
        for criterion in audit.criteria
    ]
    return audit._asdict() | {"criteria": criteria}


def _audit_blocks(audit: Audit) -> list[Block]:
    kinds = [part.kind for part in audit.criteria[0].parts]
    grid = Grid(
        ["criterion", *kinds],
        [[criterion.name, *(_found(part, audit.exact) for part in criterion.parts)] for criterion in audit.criteria],
    )
    how = "every outcome gone through" if audit.exact else "watched, not proven"
    notes = [f"{criterion.name}: {criterion.says}. {_told(criterion, audit.exact)}" for criterion in audit.criteria]
    return titled(f"{audit.method}: {how}", grid, [*notes, *(f"{note[0].upper()}{note[1:]}." for note in audit.notes)])


def _found(part: AuditPart, exact: bool) -> str:
    if part.failed:
        return f"fails {part.failed} of {part.cases}"
    return (
        f"unclear in {part.unclear} of {part.cases}"
        if part.unclear
        else f"{'holds' if exact else 'nothing seen'} in {part.cases}"
    )


def _told(criterion: Criterion, exact: bool) -> str:
    if criterion.counterexample is None and criterion.holds:
        return "It holds in every case." if exact else "Nothing that was seen speaks against it."
    if criterion.counterexample is None:
        return "Too little was seen to tell."
    return f"It fails: {criterion.counterexample.told()}."


def render_preferences(found: UserPreferences, format: str) -> str:
    """The verdict first, then the tables; CSV and TSV have a line for each pair."""
    if format == "json":
        return as_json("cranfield.preferences/1", found, verdict=found.verdict)
    if format in DELIMITERS:
        from cranfield.online.interleaving.preferring import Tally

        rows: list[Sequence[Field]] = [[_known(value) for value in pair] for pair in found.pairs]
        return separated(Tally._fields, rows, DELIMITERS[format])
    return written(_preference_blocks(found), format)


def _known(value: Field) -> Field:
    return None if isinstance(value, float) and isnan(value) else value


def _preference_blocks(found: UserPreferences) -> list[Block]:
    counted = (
        f"{plural(found.impressions, 'impression')}, {found.clicked:,} with clicks that count, of "
        f"{plural(found.users, 'user')}; method {found.method}"
    )
    blocks: list[Block] = [Paragraph(found.verdict), Paragraph(counted)]
    if found.pairs:
        blocks += titled("Preference by user", _pairs(found), _pair_notes(found))
        blocks += titled("Impressions and users", _counts(found))
    if found.order:
        rows = [[one.ranker, str(one.place), f"{one.best} to {one.worst}", f"{one.ahead:g}"] for one in found.order]
        note = "place: by the number of others that a ranker is ahead of; interval: 95 % of users drawn anew"
        blocks += titled("Order", Grid(["ranker", "place", "interval", "ahead of"], rows), [note])
    if found.shares:
        rows = [[f"{one.rank}", *(f"{count:,}" for count in one.counts), _p(one.p)] for one in found.shares]
        blocks += titled("Teams by rank", Grid(["rank", *found.rankers, "p"], rows))
    return [*blocks, *(Bullet(f"{warning[0].upper()}{warning[1:]}.") for warning in found.warnings)]


def _pairs(found: UserPreferences) -> Grid:
    more = len(found.pairs) > 1
    header = ["pair", "Delta", "low", "high", "p", *(["p (Holm)"] if more else []), "sign test", "decision"]
    return Grid(header, [_pair_row(found, pair, more) for pair in found.pairs])


def _pair_row(found: UserPreferences, pair: Tally, more: bool) -> list[str | Cell]:
    winner = pair.winner(found.alpha)
    delta = Cell(_signed(pair.delta), bold=winner is not None)
    cells: list[str | Cell] = [
        f"{pair.first} – {pair.second}",
        delta,
        _signed(pair.low),
        _signed(pair.high),
        _p(pair.p),
    ]
    return [*cells, *([_p(pair.adjusted)] if more else []), _p(pair.sign_p), winner or "cannot tell"]


def _signed(value: float) -> str:
    return "–" if isnan(value) else f"{value:+.4f}"


def _p(value: float) -> str:
    return "–" if isnan(value) else "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _pair_notes(found: UserPreferences) -> list[str]:
    holm = ", corrected as the decision is" if len(found.pairs) > 1 else ""
    notes = [
        "Delta: (wins + ties / 2) / impressions with clicks - 1/2, above 0 where the first of the pair is preferred",
        f"low and high: {percent(found.alpha)} interval{holm}; p: t test; both clustered by user",
        "sign test: of users who prefer one to the other",
    ]
    if any(pair.by_sign for pair in found.pairs):
        notes.append("Where users do not differ at all there is no interval, and the sign test decides")
    boot = "; ".join(f"{_signed(pair.boot_low)} to {_signed(pair.boot_high)}" for pair in found.pairs[:3])
    return [*notes, f"with users drawn anew, Delta is {boot}" + ("; …" if len(found.pairs) > 3 else "")]


def _counts(found: UserPreferences) -> Grid:
    header = ["pair", "wins", "losses", "ties", "users for first", "for second", "for neither"]
    rows = [[f"{pair.first} – {pair.second}", *(f"{count:,}" for count in pair[2:8])] for pair in found.pairs]
    return Grid(header, rows)
