"""Lists for many queries and users: rankings of runs or of JSON lines in, what to show and to log out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from cranfield.errors import DataError, UsageError, plural
from cranfield.online.interleaving.method import Interleaved, Interleaver, drawing
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.render.json_form import Json
    from cranfield.tables import Run


class RankedQuery(NamedTuple):
    """A query of a user, and what every ranker answers; no user where lists are made for nobody in particular."""

    query: str
    user: str | None
    rankings: tuple[tuple[str, ...], ...]


class Serving(NamedTuple):
    """How lists are made. `rankers` are their names; those without names are A, B, …"""

    method: Interleaver
    length: int = 10
    seed: int = 0
    rankers: tuple[str, ...] = ()

    def shown(self, asked: RankedQuery) -> Interleaved:
        """The list for a query of a user: always the same one, whatever was served before."""
        chance = Random(json.dumps([self.seed, asked.query, asked.user]))
        known = self.method.check_rankings(asked.rankings, self.length)
        return self.method.made().interleave(known, min(self.length, sum(map(len, known))), drawing(chance))

    def logged(self, asked: RankedQuery) -> dict[str, Json]:
        """What to show, with all that must be logged, as an impression."""
        shown = self.shown(asked)
        names = self.rankers or tuple(ranker_names(len(asked.rankings)))
        policy: dict[str, Json] = {
            "method": str(self.method),
            "seed": self.seed,
            "rankers": list(names),
            "version": __version__,
        }
        made: dict[str, Json] = {
            "query_id": asked.query if asked.user is None else f"{asked.query}/{asked.user}",
            "user_id": asked.user,
            "query": asked.query,
            "docs": list(shown.docs),
            "teams": list(shown.teams),
            "propensity": [round(float(chance), 12) for chance in shown.chances],
            "rankings": [list(ranking) for ranking in shown.rankings],
            "policy": policy | ({} if shown.leader is None else {"leader": shown.leader}),
        }
        return made | ({"notes": list(shown.notes)} if shown.notes else {})


def ranker_names(count: int) -> list[str]:
    """What rankers without names are called.

    >>> ranker_names(3), ranker_names(28)[-2:]
    (['A', 'B', 'C'], ['ranker 27', 'ranker 28'])
    """
    return [chr(ord("A") + i) if i < 26 else f"ranker {i + 1}" for i in range(count)]


def asked_of_runs(runs: Sequence[Run], users: Sequence[str] = (), depth: int = 10) -> Iterator[RankedQuery]:
    """Every topic of the runs, for every user; a run that lacks a topic has an empty ranking for it.

    >>> from cranfield import read_run
    >>> runs = [read_run({"q": {"a": 2.0, "b": 1.0}}), read_run({"q": {"b": 1.0}})]
    >>> list(asked_of_runs(runs, ["u1"]))
    [RankedQuery(query='q', user='u1', rankings=(('a', 'b'), ('b',)))]
    """
    topics = list(dict.fromkeys(topic for run in runs for topic in run.topics))
    known = [set(run.topics) for run in runs]
    for topic in topics:
        name = topic.encode("utf-8", "surrogateescape")
        found = [
            run.table.documents(name)[:depth] if topic in has else () for run, has in zip(runs, known, strict=True)
        ]
        rankings = tuple(map(tuple, found))
        for user in users or (None,):
            yield RankedQuery(topic, user, rankings)


def asked_of_lines(lines: Iterable[str], source: str) -> Iterator[RankedQuery]:
    """JSON lines with query_id, rankings and perhaps user_id.

    >>> list(asked_of_lines(['{"query_id": "q", "rankings": [["a"], ["b"]]}'], "asked.jsonl"))
    [RankedQuery(query='q', user=None, rankings=(('a',), ('b',)))]
    """
    from cranfield.formats.json_text import json_objects

    for number, text, entry in json_objects(lines, source):
        query, user, rankings = entry.get("query_id"), entry.get("user_id"), entry.get("rankings")
        fault = None
        if not isinstance(query, str) or not (user is None or isinstance(user, str)):
            fault = "query_id, and user_id if there is one, must be text"
        elif not isinstance(rankings, list) or not all(isinstance(ranking, list) for ranking in rankings):
            fault = "rankings must be a list of lists of documents"
        elif not all(isinstance(doc, str) for ranking in rankings for doc in ranking):
            fault = "documents must be text"
        if fault is not None:
            remedy = 'A line is like {"query_id": "q1", "user_id": "u1", "rankings": [["d1", "d2"], ["d2", "d3"]]}.'
            raise DataError(fault, source=source, line=number, text=text, remedy=remedy)
        yield RankedQuery(str(query), user, tuple(map(tuple, rankings)))  # type: ignore[arg-type]


def served_lines(serving: Serving, asked: Iterable[RankedQuery], source: str | None = None) -> Iterator[str]:
    """An impression a line, as JSON; an error tells which query it is of."""
    for number, one in enumerate(asked, start=1):
        try:
            made = serving.logged(one)
        except UsageError as error:
            where = f"query {one.query!r}" if source is None else f"{source}, query {number}"
            raise UsageError(f"{where}: {error}") from None
        yield json.dumps(made, ensure_ascii=False) + "\n"


def checked_names(names: Sequence[str], count: int) -> tuple[str, ...]:
    """Names for so many rankers, no two the same.

    >>> checked_names(["old", "new"], 2)
    ('old', 'new')
    """
    if len(names) != count:
        raise UsageError(f"{plural(len(names), 'name')} for {plural(count, 'ranker')}")
    if len(set(names)) < len(names):
        raise UsageError(f"two rankers have the same name: {', '.join(names)}")
    return tuple(names)
