"""Engines: what is sent to one, and where its answer has documents and scores. To add one, decorate a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode

from cranfield.errors import UsageError
from cranfield.registry import Entry, Registry

if TYPE_CHECKING:
    from cranfield.render.json_form import Json


class Call(NamedTuple):
    """What is sent: a path with its parameters, and a body, which is posted as JSON."""

    path: str
    body: Json = None


class Endpoint(NamedTuple):
    """Where an engine is asked: the path and the parameters of its address, and the fields that are searched."""

    path: str
    query: str = ""
    fields: Sequence[str] = ()

    def ending(self, *ends: str) -> str:
        """The path, with the first of these ends unless it has one of them.

        >>> Endpoint("/pond").ending("_search"), Endpoint("/solr/pond/query").ending("select", "query")
        ('/pond/_search', '/solr/pond/query')
        """
        path = self.path.rstrip("/")
        return path if path.rpartition("/")[2] in ends else f"{path}/{ends[0]}"

    def with_parameters(self, path: str, parameters: Mapping[str, str] | None = None) -> str:
        """A path with the parameters of the address, and after them others.

        >>> Endpoint("/", "routing=a").with_parameters("/pond", {"rows": "3"})
        '/pond?routing=a&rows=3'
        """
        more = urlencode({name: _readable(value) for name, value in (parameters or {}).items()})
        query = "&".join(filter(None, (self.query, more)))
        return f"{path}?{query}" if query else path


class Engine(Entry[Callable[[Endpoint, str, int], Call]]):
    """A kind of engine: the function makes a call of a place, a query and a depth.

    `ids` and `scores` are paths in its answer, `partial` those to what is set where it has not searched everything.
    `version` is where it tells its version: a path of the address, and the paths there that are put together.
    A body of one's own takes the place of the engine's, if it has one.
    """

    ids: str | None = None
    scores: str | None = None
    version: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    takes_fields: bool = True
    takes_body: bool = True


ENGINES: Registry[Engine] = Registry(
    "engine",
    group="cranfield.engines",
    package="cranfield.probing",
    decorator="engine",
    unknown="no {noun} '{name}'; there are {names}",
)


def engine(
    *,
    ids: str | None = None,
    scores: str | None = None,
    version: tuple[str, ...] = (),
    partial: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    takes_fields: bool = True,
    takes_body: bool = True,
) -> Callable[[Callable[[Endpoint, str, int], Call]], Callable[[Endpoint, str, int], Call]]:
    """Registers a function as an engine under its own name.

    >>> callable(engine(ids="hits[*].id"))
    True
    """

    def register(function: Callable[[Endpoint, str, int], Call]) -> Callable[[Endpoint, str, int], Call]:
        ENGINES.add(
            Engine(
                name=function.__name__,
                function=function,
                aliases=aliases,
                ids=ids,
                scores=scores,
                version=version,
                partial=partial,
                takes_fields=takes_fields,
                takes_body=takes_body,
            )
        )
        return function

    return register


def engine_names() -> list[str]:
    """Everything that engines are called.

    >>> engine_names()
    ['elasticsearch', 'opensearch', 'solr', 'json']
    """
    return [name for entry in ENGINES.values() for name in entry.names]


@engine(
    ids="hits.hits[*]._id",
    scores="hits.hits[*]._score",
    version=("/", "version.distribution", "version.number"),
    partial=("timed_out", "_shards.failed"),
    aliases=("opensearch",),
)
def elasticsearch(place: Endpoint, query: str, depth: int) -> Call:
    """Elasticsearch and OpenSearch: a multi_match over the fields named, or over those the index searches by default.

    >>> call = elasticsearch(Endpoint("/pond", fields=("title^2", "text")), "ducks", 10)
    >>> call.path, call.body["query"]
    ('/pond/_search', {'multi_match': {'query': 'ducks', 'fields': ['title^2', 'text']}})
    """
    match: dict[str, Json] = {"query": query}
    if place.fields:
        match["fields"] = list(place.fields)
    body: dict[str, Json] = {"query": {"multi_match": match}, "size": depth, "_source": False}
    return Call(place.with_parameters(place.ending("_search")), body)


@engine(
    ids="response.docs[*].id",
    scores="response.docs[*].score",
    version=("/solr/admin/info/system?wt=json", "lucene.solr-spec-version"),
    partial=("responseHeader.partialResults",),
    takes_body=False,
)
def solr(place: Endpoint, query: str, depth: int) -> Call:
    """Solr: the query as it is, by the parser of the handler; where fields are named, edismax over them.

    >>> solr(Endpoint("/solr/pond"), "ducks", 10).path
    '/solr/pond/select?q=ducks&rows=10&wt=json&fl=id%2Cscore'
    """
    given = {name for name, _ in parse_qsl(place.query, keep_blank_values=True)}
    ours = {"q": query, "rows": str(depth), "wt": "json"}
    twice = sorted(given & ours.keys())
    if twice:
        raise UsageError(f"the address has a parameter {twice[0]}, which is for the probe to set: leave it out")
    if "fl" not in given:
        ours["fl"] = "id,score"
    if place.fields:
        ours |= {"defType": "edismax", "qf": " ".join(place.fields)}
    return Call(place.with_parameters(place.ending("select", "query"), ours))


@engine(takes_fields=False)
def json(place: Endpoint, query: str, depth: int) -> Call:
    """Any engine that answers in JSON: {query} and {depth} stand in the address, or in a body.

    >>> json(Endpoint("/find", "q={query}&n={depth}"), "ducks & geese", 10).path
    '/find?q=ducks%20%26%20geese&n=10'
    """
    from cranfield.probing.templates import filled_address

    return Call(filled_address(place.with_parameters(place.path), query, depth))


def _readable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
