"""What a metric of one's own counts, in words: `queries`, `count(click)`, `sum(value, purchase)`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from cranfield.errors import UsageError, shorten

if TYPE_CHECKING:
    from narwhals import Expr

    from cranfield.online.metrics import QueryFacts

Kind = Literal["queries", "units", "sessions", "column", "count", "any", "sum"]
_WORD = r"[^\W\d][\w.-]*"
_CALL = re.compile(rf"(count|any|sum)\(\s*({_WORD})\s*(?:,\s*({_WORD})\s*)?\)")
FORMS = "queries, units, sessions, a column of the impressions, count(ACTION), any(ACTION) or sum(COLUMN, ACTION)"


class Term(NamedTuple):
    """A numerator or a denominator, as it is written in a trial."""

    kind: Kind
    name: str = ""
    action: str | None = None

    @classmethod
    def parse(cls, text: str, where: str) -> Term:
        """What a text means; `where` says which text it is, should it mean nothing.

        >>> Term.parse("sum(value, purchase)", "numerator")
        Term(kind='sum', name='value', action='purchase')
        >>> Term.parse("count(click, purchase)", "numerator")
        Traceback (most recent call last):
        cranfield.errors.UsageError: numerator: count(click, purchase): count has one action
        """
        plain = text.strip()
        if plain in ("queries", "units", "sessions"):
            return cls(cast("Kind", plain))
        call = _CALL.fullmatch(plain)
        if call is None:
            if re.fullmatch(_WORD, plain):
                return cls("column", plain)
            raise UsageError(f"{where}: '{shorten(text)}' is none of {FORMS}")
        kind, name, action = call.groups()
        if kind == "sum":
            return cls("sum", name, action)
        if action is not None:
            raise UsageError(f"{where}: {plain}: {kind} has one action")
        return cls(cast("Kind", kind), "", name)

    def expression(self, facts: QueryFacts) -> Expr:
        """The same over the facts of a query."""
        if self.kind == "queries":
            return facts.one
        if self.kind == "sessions":
            return facts.session
        if self.kind == "count":
            return facts.count(self.action or "")
        if self.kind == "any":
            return facts.any(self.action or "")
        if self.kind == "sum":
            return facts.total(self.name, self.action)
        return facts.column(self.name)
