"""Results as Python shows them: their tables, and below them what puts their numbers in doubt."""

from __future__ import annotations

from collections.abc import Iterable

from cranfield.errors import plural
from cranfield.evaluation.findings import Finding, gathered
from cranfield.render.escaping import Markup

MOST = 5  # warnings that are shown; the others are counted


class Printed:
    """A result that prints as its tables, with its doubtful warnings; notes, which doubt nothing, are not shown.

    What a command prints has warnings apart, on standard error: its tables come from the room's own `render`.

    >>> import cranfield
    >>> print(cranfield.evaluate({"q1": {"d1": 1}, "q2": {"d2": 1}}, {"q1": {"d1": 1.0}}, "AP"))
    run      AP
    run  0.5000
    <BLANKLINE>
    1 warning (.warnings):
      run: no answer to 1 judged topic, scored 0: q2
    """

    warnings: tuple[Finding, ...]

    def _rendered(self, format: str) -> str:
        """The result in a format: "table" or "html"."""
        raise NotImplementedError

    def _headline(self) -> str:
        """What an interactive session shows above the tables, where these do not say what they are of."""
        return ""

    def __str__(self) -> str:
        return "\n".join([self._rendered("table").rstrip("\n"), *_told(self.warnings)])

    def __repr__(self) -> str:
        return "\n".join(filter(None, (self._headline(), str(self))))


class PrintedInNotebooks(Printed):
    """The same, which a notebook shows as HTML."""

    def _repr_html_(self) -> str:
        _, *lines = _told(self.warnings) or [""]
        doubts = (Markup.element("p", line.strip()) for line in lines)
        return self._rendered("html") + "".join(f"{doubt}\n" for doubt in doubts)


def _told(warnings: Iterable[Finding]) -> list[str]:
    """What to say below a table, in lines, the first one empty; nothing where nothing is doubtful."""
    doubts = [str(warning) for warning in gathered(warnings) if warning.doubtful]
    if not doubts:
        return []
    more = [f"  … and {len(doubts) - MOST:,} more"] if len(doubts) > MOST else []
    title = f"{plural(len(doubts), 'warning')} (.warnings):"
    return ["", title, *(f"  {doubt}" for doubt in doubts[:MOST]), *more]
