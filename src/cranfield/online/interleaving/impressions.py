"""Logged impressions with their clicks, as far as interleaving needs them. Whatever is odd is counted and named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cranfield.errors import DataError, plural, shorten
from cranfield.online.interleaving.method import NOBODY, Interleaved, Interleaver, find_interleaver


class Impression(NamedTuple):
    """A list that was shown to a user, and the places that were clicked."""

    query: str
    user: str
    shown: Interleaved
    slots: tuple[int, ...]


class InterleavingLog(NamedTuple):
    """All impressions of one method, what the rankers are called, and what was odd."""

    method: Interleaver
    rankers: tuple[str, ...]
    impressions: tuple[Impression, ...]
    problems: tuple[str, ...]


def read_interleaving(
    impressions: str, events: str, *, action: str = "click", method: str | None = None
) -> InterleavingLog:
    """Reads impressions and events from JSON lines or Parquet.

    Impressions have query_id, user_id, docs, policy with the method, and what the method needs: teams or rankings.
    Events have query_id, action and doc_id. `method` is for logs that do not say.

    >>> log = read_interleaving("examples/shown.jsonl", "examples/clicked.jsonl")
    >>> len(log.impressions), log.rankers, str(log.method)
    (81, ('bm25', 'dense'), 'team-draft')
    """
    clicks = _clicks(rows_of(events), events, action)
    return interleaving_log(rows_of(impressions), clicks, impressions, method=method)


def interleaving_log(
    rows: Iterable[tuple[int, Mapping[str, Any]]],
    clicks: Clicks,
    source: str,
    *,
    method: str | None = None,
) -> InterleavingLog:
    """Impressions joined with clicks."""
    found: list[Impression] = []
    known: set[str] = set()
    entry: Interleaver | None = find_interleaver(method) if method is not None else None
    odd: Counter[str] = Counter()
    names: tuple[str, ...] = ()
    for line, row in rows:
        query, user = _text(row, "query_id", source, line), _text(row, "user_id", source, line)
        if query in known:
            raise DataError(f"two impressions are '{shorten(query)}'", source=source, line=line)
        known.add(query)
        own, called = _policy(row, source, line)
        if own is not None and entry is not None and str(own) != str(entry):
            remedy = "Analyse the impressions of each method apart." if method is None else "Leave --method out."
            raise DataError(f"made by {own}, others by {entry}", source=source, line=line, remedy=remedy)
        entry = entry or own
        if entry is None:
            raise DataError("nothing says which method made it", source=source, line=line, remedy="Give --method.")
        shown = _shown(row, entry, source, line)
        names = names or called
        slots = {doc: slot for slot, doc in enumerate(shown.docs)}
        clicked = clicks.of.get(query, {})
        strange = sum(doc not in slots for doc in clicked)
        odd["on documents that were not shown"] += strange
        odd["again on a document clicked before, counted once"] += sum(clicked.values()) - len(clicked)
        found.append(Impression(query, user, shown, tuple(sorted(slots[doc] for doc in clicked if doc in slots))))
    if not found or entry is None:
        raise DataError("has no impressions", source=source)
    odd["of queries that were not logged as impressions"] = sum(
        sum(of.values()) for query, of in clicks.of.items() if query not in known
    )
    problems = [f"{plural(count, 'click')} {what}" for what, count in odd.items() if count]
    problems += [f"{plural(count, 'event')} {what}" for what, count in clicks.odd.items() if count]
    named = _named(names, found, source)
    bare = ((),) * len(named)  # of logs of teams alone
    whole = [one if one.shown.rankings else one._replace(shown=one.shown._replace(rankings=bare)) for one in found]
    return InterleavingLog(entry, named, tuple(whole), tuple(problems))


class Clicks(NamedTuple):
    """How often each document of each query was clicked, and what was odd about events."""

    of: dict[str, dict[str, int]]
    odd: dict[str, int]


def _clicks(rows: Iterable[tuple[int, Mapping[str, Any]]], source: str, action: str) -> Clicks:
    of: dict[str, dict[str, int]] = {}
    odd: Counter[str] = Counter()
    actions: Counter[str] = Counter()
    for line, row in rows:
        name = _text(row, "action", source, line)
        actions[name] += 1
        if name != action:
            continue
        query, doc = row.get("query_id"), row.get("doc_id")
        if not isinstance(query, str) or not isinstance(doc, str):
            odd[f"called {action} without a query or a document, left out"] += 1
            continue
        docs = of.setdefault(query, {})
        docs[doc] = docs.get(doc, 0) + 1
    if actions and action not in actions:
        named = ", ".join(shorten(name, 40) for name, _ in actions.most_common(5))
        remedy = f"There are {named}: choose with --action."
        raise DataError(f"has no event called '{shorten(action)}'", source=source, remedy=remedy)
    return Clicks(of, odd)


def rows_of(path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a table, each with the number of its line: JSON lines, or Parquet by its first bytes."""
    from cranfield.formats.json_text import json_objects
    from cranfield.formats.sources import as_file, open_source, utf8_text

    opened = open_source(path)
    if bytes(opened.data[:4]) == b"PAR1":
        from cranfield.libraries import library

        table = library("pyarrow.parquet", "to read Parquet").read_table(as_file(opened))
        yield from enumerate(table.to_pylist(), start=1)
        return
    lines = utf8_text(opened).replace("\r\n", "\n").split("\n")  # ids may have what else ends a line
    yield from ((number, entry) for number, _, entry in json_objects(lines, path))


def _text(row: Mapping[str, Any], name: str, source: str, line: int) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value:
        said = "is missing" if value is None or value == "" else f"must be text, not {shorten(repr(value))}"
        raise DataError(f"{name} {said}", source=source, line=line)
    return value


def _policy(row: Mapping[str, Any], source: str, line: int) -> tuple[Interleaver | None, tuple[str, ...]]:
    """The method that a row says it was made by, and what the rankers are called."""
    policy = row.get("policy")
    if policy is None:
        return None, ()
    text = policy.get("method") if isinstance(policy, Mapping) else policy
    names = policy.get("rankers") if isinstance(policy, Mapping) else None
    if not isinstance(text, str):
        raise DataError(f"policy must name a method, not {shorten(repr(policy))}", source=source, line=line)
    named = tuple(names) if isinstance(names, list) and all(isinstance(name, str) for name in names) else ()
    return find_interleaver(text), named


def _shown(row: Mapping[str, Any], method: Interleaver, source: str, line: int) -> Interleaved:
    docs = _texts(row.get("docs"), "docs", source, line)
    if len(set(docs)) < len(docs):
        raise DataError("docs has a document twice", source=source, line=line)
    given = row.get("rankings") or ()
    rankings = tuple(_texts(ranking, "rankings", source, line) for ranking in given)
    teams = tuple(row.get("teams") or ())
    if "team" in method.logged:
        if len(teams) != len(docs) or not all(isinstance(team, int) and team >= NOBODY for team in teams):
            raise DataError(
                f"{method.name} needs a team for every document, a number from 0 or -1", source=source, line=line
            )
    elif len(rankings) < 2:
        raise DataError(f"{method.name} needs the rankings that the list was made of", source=source, line=line)
    if rankings and not set(docs) <= set().union(*rankings):
        raise DataError("a document was shown that no ranking has", source=source, line=line)
    count = len(rankings) or method.rankers or 0
    if teams and count and max(teams) >= count:
        raise DataError(f"team {max(teams)} of {count} rankers, which are 0 to {count - 1}", source=source, line=line)
    return Interleaved(rankings, docs, teams)


def _texts(value: object, name: str, source: str, line: int) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise DataError(f"{name} must be lists of documents, each a text", source=source, line=line)
    return tuple(value)


def _named(names: tuple[str, ...], found: list[Impression], source: str) -> tuple[str, ...]:
    """What the rankers are called; how many there are is the same for all impressions."""
    from cranfield.online.interleaving.serving import ranker_names

    counts = {len(one.shown.rankings) for one in found if one.shown.rankings}
    if len(counts) > 1:
        raise DataError(f"impressions of {' and '.join(map(str, sorted(counts)))} rankers", source=source)
    teams = max((max(one.shown.teams, default=-1) for one in found), default=-1) + 1
    count = counts.pop() if counts else max(2, teams, len(names))
    return names if len(names) == count else tuple(ranker_names(count))
