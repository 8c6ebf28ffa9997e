"""Which column, key or field is which: by its name, without regard to case. What nobody knows keeps its own name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cranfield.errors import DataError, shorten, some
from cranfield.formats.layout import ACCEPTED as OF_RUNS
from cranfield.texts.forms import Kind, Losses, Texts
from cranfield.texts.texts import Topics

_UNFIT = re.compile(r"^\s|\s$|[\t\r\n]|^$")

# Where several fit, the first is taken; the others are fields of their own.
ACCEPTED: Mapping[Kind, Mapping[str, tuple[str, ...]]] = {
    "documents": {
        "id": ("_id", "id", *OF_RUNS["document"]),
        "title": ("title", "headline"),
        "text": ("text", "contents", "content", "body", "passage", "abstract", "default_text"),
    },
    "topics": {
        "id": ("_id", "id", *OF_RUNS["topic"], "num", "number"),
        "title": ("title", "text", "query", "question", "query_text"),
        "description": ("description", "desc"),
        "narrative": ("narrative", "narr"),
    },
}


def find_roles(names: Sequence[str], kind: Kind) -> dict[str, str] | None:
    """For each name what it is; None if there is no id, or nothing to read.

    >>> find_roles(["_id", "title", "text", "url"], "documents")
    {'_id': 'id', 'title': 'title', 'text': 'text', 'url': 'url'}
    >>> find_roles(["qid", "query"], "topics")
    {'qid': 'id', 'query': 'title'}
    """
    known = {name.strip().lower(): name for name in reversed(names)}
    chosen = {
        known[next(name for name in accepted if name in known)]: role
        for role, accepted in ACCEPTED[kind].items()
        if any(name in known for name in accepted)
    }
    if "id" not in chosen.values() or len(chosen) < 2:
        return None
    return {name: chosen.get(name, _own(name, kind)) for name in names}


def _own(name: str, kind: Kind) -> str:
    """A name that is not taken for anything, told apart from what it is not."""
    return f"other_{name}" if name == "id" or name in ACCEPTED[kind] else name


def require_roles(names: Sequence[str], kind: Kind, source: str, line: int | None = None) -> dict[str, str]:
    """As find_roles, but an error that says what is accepted."""
    roles = find_roles(names, kind)
    if roles is None:
        accepted = "\n    ".join(f"{role}: {', '.join(names)}" for role, names in ACCEPTED[kind].items())
        needed = "an id and a title or text" if kind == "documents" else "an id and a title or description"
        raise DataError(
            f"no columns for {needed} among {some([repr(name) for name in names], 12)}",
            source=source,
            line=line,
            remedy=f"Accepted names:\n    {accepted}",
        )
    twice = sorted({name for name in roles.values() if list(roles.values()).count(name) > 1})
    if twice or len(set(names)) < len(names):
        repeated = some(twice or sorted({name for name in names if list(names).count(name) > 1}))
        raise DataError(f"more than one column is {repeated}", source=source, line=line, remedy="Rename one of them.")
    return roles


def held_names(texts: Texts, losses: Losses, written: Mapping[str, str] | None = None) -> list[str]:
    """The fields that can be written under their own names; a name that would be read as something else is a loss.

    `written` are names that are written besides, and what they are: {"id": "id"} unless said otherwise.
    """
    kind: Kind = "topics" if isinstance(texts, Topics) else "documents"
    written = written or {"id": "id"}
    rest = [name for name, column in texts.fields.items() if name not in written.values() and any(column)]
    wrong = [name for name in rest if _UNFIT.search(name) or name in written] or _misread(rest, kind, written)
    while wrong:
        for name in wrong:
            rest.remove(name)
            for id, fields in texts.rows():
                if fields[name]:
                    losses.add(f"a field '{shorten(name, 40)}' would be read as something else", id)
        wrong = _misread(rest, kind, written)
    if not {*rest, *written.values()} & set(texts.main):
        rest.append(texts.main[-1])  # empty, but a reader wants something to read
    return rest


def _misread(names: Sequence[str], kind: Kind, written: Mapping[str, str]) -> list[str]:
    roles = find_roles([*written, *names], kind) or {}
    return [name for name in names if roles.get(name, name) != name]
