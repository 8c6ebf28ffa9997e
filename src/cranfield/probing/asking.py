"""`probe`: topics sent to a running engine, a run made of its answers, and what they took."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from cranfield.efficiency.metadata import run_metadata, with_command, write_described
from cranfield.efficiency.timing import Efficiency
from cranfield.errors import DataError, UsageError, plural, shorten, some
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.formats import read_run
from cranfield.probing.addresses import Address, Secrets, credentials, header_secrets, masked
from cranfield.probing.answers import ANY_ID, FAULTS, Answer, AnswerError, AnswerForm
from cranfield.probing.client import Client, Limits, Reply
from cranfield.probing.engines import ENGINES, Call, Endpoint, Engine
from cranfield.probing.expectations import Expectations, Visibility
from cranfield.probing.paths import JsonPath, steps, value_at
from cranfield.probing.templates import body_secrets, filled, read_template, without_secrets
from cranfield.render.json_form import Json
from cranfield.search.collection_search import Asking, Watch, unwatched
from cranfield.tables import Run
from cranfield.texts import read_topics

if TYPE_CHECKING:
    from cranfield.texts.forms import GivenTexts

RANKS = "none"  # instead of a path to scores: the engine's order counts


@dataclass(frozen=True, kw_only=True, repr=False)
class Target:
    """An engine: its address and kind, the fields it shall search, and what is sent besides.

    `body` is a file with a body to post, in which {query} and {depth} stand; `ids` and `scores` are paths in the
    answer, `scores="none"` lets the engine's order count; `headers` are sent, and shown nowhere.

    >>> Target(url="http://ada:lace@localhost:9200/pond", headers={"X-Key": "secret"})
    <Target http://***@localhost:9200/pond, elasticsearch>
    """

    url: str
    engine: str = "elasticsearch"
    fields: Sequence[str] = ()
    body: str | None = None
    ids: str | None = None
    scores: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Target {masked(self.url)}, {self.engine}>"

    def __post_init__(self) -> None:
        kind, marked = self.kind, "{query}" in self.url
        if self.fields and (self.body is not None or not kind.takes_fields):
            raise UsageError("fields count for nothing where you say what is sent: name them there")
        if kind.name == "json" and not marked and self.body is None:
            raise UsageError("nothing says where the query goes: put {query} into the address, or give a --body")
        if kind.name != "json" and marked:
            raise UsageError(f"{self.engine} takes no {{query}} in its address: that is for the engine json")
        if self.body is not None and not kind.takes_body:
            remedy = f"--engine json --ids '{kind.ids}' with the whole address posts one"
            raise UsageError(f"{self.engine} is asked by its address, not by a body: {remedy}")
        self.call("", 1)  # refuses what cannot be sent
        _ = self.form

    @cached_property
    def kind(self) -> Engine:
        return ENGINES.find(self.engine)

    @cached_property
    def address(self) -> Address:
        return Address.of(self.url)

    @cached_property
    def form(self) -> AnswerForm:
        """Where answers have documents and scores."""
        ids = self.ids or self.kind.ids
        if ids is None:
            raise UsageError("nothing says where an answer has its documents: give --ids, as 'results[*].id'")
        scores = self.scores or self.kind.scores
        return AnswerForm(
            JsonPath.parse(ids),
            None if scores in (None, RANKS) else JsonPath.parse(str(scores)),
            tuple(map(steps, self.kind.partial)),
        )

    @cached_property
    def template(self) -> Json:
        return None if self.body is None else read_template(self.body)

    def client(self, limits: Limits) -> Client:
        """What asks it, and knows what lets one in: of the address, of the body, and of the headers that are sent."""
        sent = credentials(self.address, self.headers)
        secrets = Secrets([*self.address.secrets(), *body_secrets(self.template), *header_secrets(sent)])
        return Client(self.address, sent, limits, secrets)

    def call(self, query: str, depth: int) -> Call:
        """What is sent for a query."""
        place = Endpoint(self.address.path, self.address.query, tuple(self.fields))
        call = self.kind.function(place, query, depth)
        return call if self.template is None else call._replace(body=filled(self.template, query, depth))


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What came of the requests: topics by what is wrong with their answers, why some failed or were sent once more."""

    topics: int
    empty: tuple[str, ...]
    failed: Mapping[str, str]
    faults: Mapping[str, tuple[str, ...]]
    requests: int
    tried_again: Mapping[str, int]

    def to_dict(self) -> dict[str, Json]:
        """The documented form, as it stands beside a run."""
        return {
            "topics": self.topics,
            "answered": self.topics - len(self.failed),
            "empty": list(self.empty),
            "failed": dict(self.failed),
            **{code: list(topics) for code, topics in self.faults.items()},
            "requests": self.requests,
            "tried again": dict(self.tried_again),
        }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Probed(PrintedInNotebooks):
    """A run that an engine made, how fast, what is wrong with its answers, and where expected documents stand."""

    run: Run
    efficiency: Efficiency
    counts: Counts
    metadata: Mapping[str, Json]
    visibility: Visibility | None = None
    warnings: tuple[Finding, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether every topic was answered, and nothing is wrong with any answer."""
        return not self.counts.failed and not any(self.counts.faults.values())

    def write(self, place: str, *, command: Iterable[str] = ()) -> None:
        """Writes the run, and beside it all that is known of it, with the command that made it, its secrets masked."""
        arguments = [masked(word) if "://" in word else word for word in command]
        latencies = {topic: 1000 * seconds for topic, seconds in self.efficiency.latencies.items()}
        more: dict[str, Json] = {"answers": self.counts.to_dict(), "latency ms by topic": latencies}
        write_described(self.run, place, with_command(self.metadata, arguments), more=more)

    def _rendered(self, format: str) -> str:
        from cranfield.probing.probe_tables import render

        return render(self, format)

    def _headline(self) -> str:
        return f"<Probed: {self.run!r}>"


def probe(
    target: Target | str,
    topics: GivenTexts,
    *,
    asking: Asking | None = None,
    limits: Limits | None = None,
    expected: Expectations | None = None,
    allow_failures: bool = False,
    place: str | None = None,
    watch: Watch = unwatched,
) -> Probed:
    """Sends topics to a running engine, and makes a run of its answers; an address alone is one of Elasticsearch.

    `asking` says what is asked and how often, `limits` how hard, `expected` which documents must be found. A topic that
    has no answer after all retries is an error, unless failures are allowed; so is an id that `place` cannot hold.

    >>> import http.server, threading
    >>> class Pond(http.server.BaseHTTPRequestHandler):
    ...     def do_GET(self):
    ...         body = b'{"found": [{"id": "d1", "score": 2.5}, {"id": "d2", "score": 1.0}]}'
    ...         self.send_response(200)
    ...         self.send_header("Content-Length", str(len(body)))
    ...         self.end_headers()
    ...         self.wfile.write(body)
    ...     def log_message(self, *words): pass
    >>> server = http.server.HTTPServer(("127.0.0.1", 0), Pond)
    >>> threading.Thread(target=server.serve_forever, daemon=True).start()
    >>> url = f"http://127.0.0.1:{server.server_port}/find?q={{query}}&n={{depth}}"
    >>> pond = Target(url=url, engine="json", ids="found[*].id", scores="found[*].score")
    >>> probed = probe(pond, {"1": "ducks", "2": "geese"}, limits=Limits(rate=1000))
    >>> probed.run.of("2"), probed.counts.requests, probed.sound
    ({'d1': 2.5, 'd2': 1.0}, 8, True)
    >>> server.shutdown(); server.server_close()
    """
    target = Target(url=target) if isinstance(target, str) else target
    asking, limits = asking or Asking(), limits or Limits()
    if asking.timing.track:
        raise UsageError("an engine is not in this process: what it uses cannot be tracked from here")
    asked = read_topics(topics)
    queries = dict(zip(asked.ids, asked.queries(*asking.query), strict=True))
    if expected is not None:
        expected.check(queries, asking.depth)
    form = _fit_for(place, target.form, queries, asked.name)
    calls = {topic: target.call(query, asking.depth) for topic, query in queries.items()}
    with target.client(limits) as client:
        record = _asked(client, form, calls, asking, _Way(limits.parallel, allow_failures, watch))
        counts = _counted(record, calls, client)
        version = _version(client, target.kind)
    rows = {topic: dict(zip(*answer[:2], strict=True)) for topic, answer in record.answers.items() if answer.ids}
    if not rows:
        raise DataError("no document was found for any topic", source=masked(target.url), remedy=_NOTHING)
    efficiency = record.efficiency(min(asking.timing.warm_up, len(calls)), asking.timing.repeats)
    return Probed(
        run=read_run(rows, name=asking.tag or target.engine),
        efficiency=efficiency,
        counts=counts,
        metadata=_metadata(target, asking, limits, efficiency, version, asked.name),
        visibility=None if expected is None else expected.seen_in(record.rankings),
        warnings=tuple(_warnings(counts, asking.tag or target.engine)),
    )


_NOTHING = "Is this the index of these topics, and does it search the fields that hold the text?"


def _fit_for(place: str | None, form: AnswerForm, topics: Iterable[str], source: str) -> AnswerForm:
    """Where answers have documents, whose ids must be such as the file holds; those of topics are looked at now."""
    from cranfield.formats.writers import format_of, writable

    if place is None:
        return form
    name = format_of(place)
    unfit = next(format.writer.unfit for format in writable() if format.name == name and format.writer)
    for topic in topics:
        if unfit.search(topic):
            raise DataError(f"the id of topic {topic!r} cannot be written as {name}", source=source, remedy=ANY_ID)
    return form._replace(format=name, unfit=unfit)


class _Way(NamedTuple):
    """How requests are made."""

    parallel: int
    allow_failures: bool
    watch: Watch


def _counted(record: _Record, topics: Iterable[str], client: Client) -> Counts:
    """What came of the requests so far; that for the version comes after them, and is none of them."""
    asked = list(topics)
    return Counts(
        topics=len(asked),
        empty=tuple(topic for topic, answer in record.answers.items() if not answer.ids),
        failed=record.failed,
        faults={code: tuple(topic for topic in asked if topic in record.faults[code]) for code in FAULTS},
        requests=client.requests,
        tried_again=dict(client.tried_again),
    )


class _Outcome(NamedTuple):
    """What came of asking a topic."""

    topic: str
    came: tuple[Answer, Reply] | AnswerError


@dataclass(kw_only=True)
class _Record:
    """What is known of the answers so far."""

    answers: dict[str, Answer] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    faults: dict[str, set[str]] = field(default_factory=lambda: {code: set() for code in FAULTS})
    seconds: dict[str, list[float]] = field(default_factory=dict)
    rounds: list[dict[str, tuple[float, float]]] = field(default_factory=list)  # when a topic's request was under way

    def take(self, topic: str, answer: Answer, reply: Reply) -> None:
        first = self.answers.setdefault(topic, answer)
        self.seconds.setdefault(topic, []).append(reply.end - reply.start)
        self.rounds[-1][topic] = (reply.start, reply.end)
        codes = (*answer.faults, "unstable") if answer.ids != first.ids else answer.faults
        for code in codes:
            self.faults[code].add(topic)

    def fail(self, topic: str, error: AnswerError) -> None:
        self.failed[topic] = error.message
        self.answers.pop(topic, None)
        self.seconds.pop(topic, None)
        for spans in self.rounds:
            spans.pop(topic, None)
        for topics in self.faults.values():
            topics.discard(topic)

    @property
    def rankings(self) -> dict[str, Sequence[str]]:
        return {topic: answer.ids for topic, answer in self.answers.items()}

    def efficiency(self, warm_up: int, repeats: int) -> Efficiency:
        from statistics import median

        latencies = {topic: median(seconds) for topic, seconds in self.seconds.items()}
        return Efficiency(latencies, median(busy(spans.values()) for spans in self.rounds), warm_up, repeats)


def _asked(client: Client, form: AnswerForm, calls: Mapping[str, Call], asking: Asking, way: _Way) -> _Record:
    """All topics asked in rounds, after some that do not count."""
    record, timing = _Record(), asking.timing
    if timing.repeats < 1 or timing.warm_up < 0:
        raise UsageError(f"repeats must be 1 or more and warm_up 0 or more, not {timing.repeats} and {timing.warm_up}")
    before = list(calls)[: timing.warm_up]

    def outcome(topic: str) -> _Outcome:
        try:
            reply = client.ask(calls[topic])
            return _Outcome(topic, (form.read(reply.body, asking.depth), reply))
        except AnswerError as error:
            failure = AnswerError(client.secrets.hidden(error.message), remedy=error.remedy)
            if not way.allow_failures:
                raise _told(topic, failure) from None
            return _Outcome(topic, failure)

    total = len(before) + timing.repeats * len(calls)
    with way.watch("asking", total) as counter, _mapping(way.parallel, client.stop) as each:
        for topic, came in each(outcome, before):
            if isinstance(came, AnswerError):
                record.fail(topic, came)
            counter.step()
        for _ in range(timing.repeats):
            record.rounds.append({})
            for topic, came in each(outcome, [topic for topic in calls if topic not in record.failed]):
                if isinstance(came, AnswerError):
                    record.fail(topic, came)
                else:
                    record.take(topic, *came)
                counter.step()
    if len(record.failed) == len(calls):
        topic, reason = next(iter(record.failed.items()))
        raise DataError(f"no topic was answered; topic {topic}: {reason}")
    return record


def _told(topic: str, error: AnswerError) -> AnswerError:
    remedy = "Nothing is written. --allow-failures (allow_failures=True) makes a run of the other topics."
    return AnswerError(f"topic {topic}: {error.message}", remedy="\n    ".join(filter(None, (error.remedy, remedy))))


@contextmanager
def _mapping(
    parallel: int, stop: Callable[[], None]
) -> Iterator[Callable[[Callable[[str], _Outcome], Iterable[str]], Iterable[_Outcome]]]:
    """What calls a function for each topic: one after the other, or several at once; outcomes come in their order."""
    if parallel == 1:
        yield map
        return
    executor = ThreadPoolExecutor(parallel)
    try:
        yield executor.map
    except BaseException:
        stop()
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


def busy(spans: Iterable[tuple[float, float]]) -> float:
    """For how long at least one request was under way: waiting for the next turn does not count.

    >>> busy([(0.0, 2.0), (1.0, 3.0), (5.0, 6.0)])
    4.0
    """
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def _version(client: Client, kind: Engine) -> str | None:
    """What the engine says it is; one that does not tell is probed all the same."""
    if not kind.version:
        return None
    import json

    where, *paths = kind.version
    words = []
    try:
        document = json.loads(client.ask(Call(where), retries=0).body)
    except (AnswerError, ValueError, RecursionError):
        return None
    for path in paths:
        try:
            words.append(value_at(document, steps(path)))
        except LookupError:
            continue
    return shorten(client.secrets.hidden(" ".join(word for word in words if isinstance(word, str))), 200) or None


def _metadata(
    target: Target, asking: Asking, limits: Limits, efficiency: Efficiency, version: str | None, topics: str
) -> dict[str, Json]:
    """What was done, as ir_metadata has it."""
    form = target.form
    retrieval: dict[str, Json] = {
        "name": target.engine,
        "method": f"{target.engine} over HTTP",
        "version": version,
        "address": masked(target.url),
        "fields": "+".join(target.fields) or None,
        "body": without_secrets(target.template),
        "ids": form.ids.text,
        "scores": "from ranks" if form.scores is None else form.scores.text,
    }
    method: dict[str, Json] = {
        "automatic": True,
        "score ties": "document id descending as bytes",
        "query": {
            "fields": "+".join(asking.query) or "title, or description where there is none",
            "depth": asking.depth,
        },
        "retrieval": [{name: value for name, value in retrieval.items() if value is not None}],
        "requests": {
            "most per second": limits.rate,
            "at once": limits.parallel,
            "timeout s": limits.timeout,
            "retries": limits.retries,
        },
    }
    data: dict[str, Json] = {"test collection": {"name": masked(target.url), "topics": topics}}
    return run_metadata(asking.tag or target.engine, efficiency, method=method, data=data)


def _warnings(counts: Counts, tag: str) -> Iterator[Finding]:
    if counts.failed:
        topic, reason = next(iter(counts.failed.items()))
        message = (
            f"no answer to {plural(len(counts.failed), 'topic')}, which the run is without: {some([*counts.failed])}"
        )
        yield Finding("failed", tag, f"{message}; topic {topic}: {reason}")
    if counts.empty:
        yield Finding("nothing-found", tag, f"nothing was found for {some(counts.empty)}")
    for code, topics in counts.faults.items():
        if topics:
            named = f"{plural(len(topics), 'topic')} ({some(topics)})"
            yield Finding(code, tag, FAULTS[code].format(topics=named))
    if counts.tried_again:
        why = "; ".join(f"{reason} ({plural(times, 'time')})" for reason, times in counts.tried_again.items())
        number = plural(sum(counts.tried_again.values()), "request")
        yield Finding("tried-again", tag, f"{number} sent once more: {why}", doubtful=False)
