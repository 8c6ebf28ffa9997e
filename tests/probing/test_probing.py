"""A running engine, probed over HTTP on loopback: what is sent, what comes back, and what is said of it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import cranfield
from commands import command_line, commands
from cranfield.efficiency import read_metadata
from cranfield.errors import DataError, UsageError
from cranfield.probing import ENGINES, Expectations, Limits, Probed, Target, probe, read_headers, read_items
from cranfield.probing import client as clients
from cranfield.probing.addresses import VARIABLE, Address, masked
from cranfield.probing.answers import FAULTS, Answer, AnswerError, AnswerForm
from cranfield.probing.asking import _Record
from cranfield.probing.client import TRIED_AGAIN, Reply
from cranfield.probing.engines import Endpoint
from cranfield.probing.paths import JsonPath, steps
from cranfield.probing.templates import filled, read_template, without_secrets
from cranfield.search import Asking, Timing
from cranfield.texts import read_topics
from engine_server import HUGE, REPEATED, SLOW, PondServer, ranked, started
from places import EXAMPLES, ROOT

TOPICS = EXAMPLES / "pond-topics.tsv"
QUICK = Limits(rate=2000, retries=0)
ONCE = Asking(timing=Timing(warm_up=0, repeats=1))
TWICE = Asking(timing=Timing(warm_up=0, repeats=2))
DUCKS = {"1": "can ducks swim well"}


@pytest.fixture
def server() -> Iterator[PondServer]:
    """An engine that nobody else asks."""
    server = started()
    yield server
    server.shutdown()
    server.server_close()


def target(server: PondServer, fault: str = "", **more: Any) -> Target:
    return Target(url=f"{server.url}/pond{f'-{fault}' if fault else ''}", **more)


def asked(server: PondServer, fault: str = "", topics: Any = TOPICS, **more: Any) -> Probed:
    return probe(target(server, fault), topics, **{"asking": ONCE, "limits": QUICK, **more})


def refusal(server: PondServer, fault: str, **more: Any) -> str:
    with pytest.raises(DataError) as caught:
        asked(server, fault, DUCKS, **more)
    return str(caught.value).splitlines()[0]


# ---- engines ----


@pytest.mark.parametrize(
    ("path", "more"),
    [
        ("pond", {}),
        ("pond", {"engine": "opensearch"}),
        ("pond/_search", {}),
        ("solr/pond", {"engine": "solr"}),
        ("solr/pond/select", {"engine": "solr"}),
        ("find?q={query}&n={depth}", {"engine": "json", "ids": "hits[*].id", "scores": "hits[*].score"}),
    ],
)
def test_every_engine_makes_the_run_of_its_index(path: str, more: dict[str, Any], server: PondServer) -> None:
    topics = read_topics(str(TOPICS))
    probed = probe(Target(url=f"{server.url}/{path}", **more), topics, asking=replace(ONCE, depth=3), limits=QUICK)
    wanted = {id: ranked(query, 3) for id, query in zip(topics.ids, topics.queries(), strict=True)}
    assert {topic: dict(probed.run.of(topic)) for topic in probed.run.topics} == {
        topic: dict(rows) for topic, rows in wanted.items()
    }
    assert probed.sound
    assert probed.warnings == ()
    assert probed.run.name == more.get("engine", "elasticsearch")


def test_fields_and_queries_are_those_asked_for(server: PondServer) -> None:
    topics = {"1": {"title": "ducks", "description": "frogs"}}
    for engine, path in (("elasticsearch", "pond"), ("solr", "solr/pond")):
        title = Target(url=f"{server.url}/{path}", engine=engine, fields=("title",))
        probed = probe(title, topics, asking=replace(ONCE, query=("title", "description")), limits=QUICK)
        assert probed.run.of("1") == dict(ranked("ducks frogs", 1000, ("title",)))
    assert json.loads(server.seen[0].body)["query"]["multi_match"] == {"query": "ducks frogs", "fields": ["title"]}
    assert "defType=edismax&qf=title" in server.seen[-2].path
    assert server.seen[-2].method == "GET"


def test_the_version_is_what_the_engine_tells(server: PondServer) -> None:
    for engine, path, version in (("elasticsearch", "pond", "pond 8.1.0"), ("solr", "solr/pond", "9.7.0")):
        probed = probe(Target(url=f"{server.url}/{path}", engine=engine), DUCKS, asking=ONCE, limits=QUICK)
        assert _retrieval(probed)["version"] == version
        assert probed.counts.requests == 1  # the question for it is not counted
    other = Target(url=f"{server.url}/find?q={{query}}", engine="json", ids="hits[*].id")
    assert "version" not in _retrieval(probe(other, DUCKS, asking=ONCE, limits=QUICK))


def _retrieval(probed: Probed) -> dict[str, Any]:
    metadata: Any = probed.metadata
    (retrieval,) = metadata["method"]["retrieval"]
    assert isinstance(retrieval, dict)
    return retrieval


HOSTILE = 'a "duck", \\ {depth} }} {{ & # ? é \n <b>'


def test_a_query_breaks_nothing(server: PondServer, tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text('{"q": {query}, "n": {depth}, "note": "as {query} of {depth}", "same": "{depth}"}')
    posted = Target(url=f"{server.url}/find", engine="json", ids="hits[*].id", body=str(body))
    got = Target(url=f"{server.url}/find?q={{query}}&n={{depth}}", engine="json", ids="hits[*].id")
    for engine in (posted, got, target(server), Target(url=f"{server.url}/solr/pond", engine="solr")):
        probe(engine, {"1": HOSTILE}, asking=replace(ONCE, depth=7), limits=QUICK)
    sent = json.loads(server.seen[0].body)
    assert sent == {"q": HOSTILE, "n": 7, "note": f"as {HOSTILE} of 7", "same": 7}
    from urllib.parse import parse_qs, urlsplit

    assert parse_qs(urlsplit(server.seen[1].path).query) == {"q": [HOSTILE], "n": ["7"]}
    assert json.loads(server.seen[2].body)["query"]["multi_match"]["query"] == HOSTILE
    assert parse_qs(urlsplit(server.seen[4].path).query)["q"] == [HOSTILE]


def test_a_body_of_ones_own_takes_the_place_of_the_engine_s(server: PondServer, tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text(
        '{"query": {"multi_match": {"query": {query}, "fields": ["title"]}}, "size": {depth}, "api_key": "x"}'
    )
    probed = probe(target(server, body=str(body)), DUCKS, asking=ONCE, limits=QUICK)
    assert probed.run.of("1") == dict(ranked(DUCKS["1"], 1000, ("title",)))
    assert _retrieval(probed)["body"]["api_key"] == "***"
    assert json.loads(server.seen[0].body)["api_key"] == "x"


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({"url": "localhost:9200/pond"}, "'localhost:9200/pond' is no address of an engine"),
        ({"url": "ftp://localhost/pond"}, "is no address of an engine: give one as http://localhost:9200/index"),
        ({"url": "file:///etc/passwd"}, "is no address of an engine"),
        ({"url": "http:///pond"}, "is no address of an engine"),
        ({"url": "http://ada:la/ce@localhost/pond"}, r"'http://\*\*\*@localhost/pond' is no address"),
        ({"url": "http://localhost:99999/pond"}, "is no address of an engine"),
        ({"url": "http://a..b/pond"}, "has no name of a host: its parts are of 1 to 63 letters each"),
        ({"url": f"http://{'a' * 70}/pond"}, "has no name of a host"),
        ({"url": "http://localhost/a pond"}, "has a blank in it: write %20"),
        ({"engine": "elastic"}, "no engine 'elastic'; there are elasticsearch, solr, json; did you mean elasticsearch"),
        (
            {"url": "http://h/?q={query}"},
            r"elasticsearch takes no \{query\} in its address: that is for the engine json",
        ),
        ({"engine": "json", "ids": "a[*]"}, r"nothing says where the query goes: put \{query\} into the address"),
        (
            {"engine": "json", "url": "http://h/?q={query}"},
            "nothing says where an answer has its documents: give --ids",
        ),
        (
            {"engine": "json", "url": "http://h/?q={query}", "ids": "a[*]", "fields": ("title",)},
            "fields count for nothing where you say what is sent",
        ),
        ({"ids": "hits.hits._id"}, r"'hits.hits._id' says not where the documents are: put one \[\*\] there"),
        ({"ids": "a[*].b[*]"}, r"put one \[\*\] there"),
        ({"ids": "a b[*]"}, r"'a b\[\*\]' is no path in JSON"),
        ({"scores": "a..b[*]"}, "is no path in JSON"),
        (
            {"engine": "solr", "url": "http://h/solr/p?q=1"},
            "the address has a parameter q, which is for the probe to set",
        ),
        ({"engine": "solr", "body": "b.json"}, "solr is asked by its address, not by a body: --engine json --ids"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_sent(made: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Target(**{"url": "http://h/pond", **made})


def test_a_template_without_a_query_is_refused(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text('{"size": {depth}}')
    with pytest.raises(DataError, match=r"body.json: has no \{query\} in it"):
        read_template(str(body))
    body.write_text('{"q": {query}')
    with pytest.raises(DataError, match="not JSON"):
        read_template(str(body))
    assert filled(["{query}", 3, None, {"{query}": "{depth}"}], "x", 2) == ["x", 3, None, {"{query}": 2}]


def test_paths_lead_where_they_say() -> None:
    document: Any = {"a": {"b.c": [[["x", 1], ["y", 2]]]}}
    assert JsonPath.parse('a["b.c"][0][*][0]').values(document) == ["x", "y"]
    assert JsonPath.parse("$.a[*]").to_list == ("a",)
    assert JsonPath.parse("[*]").values([1, 2]) == [1, 2]
    assert steps("") == ()


# ---- answers that are wrong ----

FOUND = dict(ranked(DUCKS["1"], 1000))


@pytest.mark.parametrize(
    ("fault", "code", "told"),
    [
        (
            "duplicates",
            "duplicates",
            "a document stands twice in the answer to 1 topic (1); it counts where it stands first",
        ),
        ("ascending", "not-descending", "scores do not descend in the answer to 1 topic (1): the run ranks by score"),
        ("unstable", "unstable", "another ranking when asked again, for 1 topic (1); the first one counts"),
    ],
)
def test_faults_of_answers_are_told_and_what_counts_is_said(
    fault: str, code: str, told: str, server: PondServer
) -> None:
    probed = asked(server, fault, DUCKS, asking=TWICE)
    (warning,) = probed.warnings
    assert (warning.code, warning.doubtful, probed.sound) == (code, True, False)
    assert warning.message.startswith(told)
    assert probed.counts.to_dict()[code] == ["1"]
    sign = -1 if fault == "ascending" else 1
    assert probed.run.of("1") == {id: sign * score for id, score in FOUND.items()}


@pytest.mark.parametrize(
    ("path", "engine"), [("pond-shards", "opensearch"), ("pond-time", "elasticsearch"), ("solr/pond-most", "solr")]
)
def test_an_engine_that_has_not_searched_everything_is_told(path: str, engine: str, server: PondServer) -> None:
    probed = probe(Target(url=f"{server.url}/{path}", engine=engine), DUCKS, asking=ONCE, limits=QUICK)
    (warning,) = probed.warnings
    assert str(warning) == f"{engine}: the engine says that it has not searched everything for 1 topic (1)"
    assert not probed.sound


def test_more_than_asked_for_is_cut(server: PondServer) -> None:
    probed = asked(server, "many", DUCKS, asking=replace(ONCE, depth=2))
    assert [warning.code for warning in probed.warnings] == ["too-many"]
    assert list(probed.run.of("1")) == list(FOUND)[:2]


def test_without_repeats_nothing_is_said_of_stability(server: PondServer) -> None:
    assert asked(server, "unstable", DUCKS).sound


def test_the_engine_s_order_counts_without_scores(server: PondServer) -> None:
    probed = probe(target(server, "ascending", scores="none"), DUCKS, asking=ONCE, limits=QUICK)
    assert list(probed.run.of("1")) == list(FOUND)
    assert probed.sound
    assert _retrieval(probed)["scores"] == "from ranks"


def test_nothing_found_is_told_and_nothing_at_all_is_an_error(server: PondServer) -> None:
    probed = asked(server, topics=DUCKS | {"2": "zzz"})
    assert [str(warning) for warning in probed.warnings] == ["elasticsearch: nothing was found for 2"]
    assert (probed.counts.empty, probed.run.topics, probed.sound) == (("2",), ["1"], True)
    assert "no document was found for any topic" in refusal(server, "nothing")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("broken", "the answer is not JSON: it begins '{\"hits\": '"),
        ("empty", "the answer is not JSON: it is empty"),
        ("page", "the answer is not JSON: it begins '<html>hello</html>'"),
        ("shape", "the answer has nothing at hits.hits[*]._id: there is no hits in it, which has other"),
        ("null", "the score of document 1 is null, not a finite number"),
        ("text", 'the score of document 1 is "'),
        ("nan", "the score of document 1 is NaN, not a finite number"),
        ("nobody", "the id of document 1 is null, not a text or a whole number"),
        ("surrogate", 'the id of document 1 is "d01\\\\ud800", which no file can hold'),
        ("wrong", 'the engine answers 400 Bad Request: {"error": {"reason": "no such field"}}'),
        ("closed", "the engine closed the connection without an answer"),
        ("cut", "the engine closed the connection before the end of its answer"),
        ("down", "the engine answers 503 Service Unavailable"),
        ("late", "the engine answers 503 Service Unavailable"),
        ("other", "the engine answers 303 and sends us to"),
        ("away", "the engine answers 307 and sends us to http://***@127.0.0.2:9/pond/_search?token=***, which is not"),
        ("file", "the engine answers 307 and sends us to file:///etc/passwd, which is not followed"),
        ("accent", 'the engine answers 404 Not Found: {"error": "no such index"}'),
        ("bracket", "the engine answers 307 and sends us to http://[::1, which is not followed"),
        ("never", "the engine answers 503 Service Unavailable"),
        ("chunk", "a chunk of the answer has no size that can be read"),
        ("tall", "the head of the answer, or of a chunk in it, is too long"),
        ("round", "the engine sends from one address to the next, more than 5 times"),
    ],
)
def test_what_cannot_be_read_names_topic_and_reason(fault: str, told: str, server: PondServer) -> None:
    assert refusal(server, fault).startswith(f"topic 1: {told}".replace("\\\\", "\\"))


def test_numbers_are_ids_too(server: PondServer) -> None:
    assert list(asked(server, "numbers", DUCKS).run.of("1")) == [str(n) for n in range(len(FOUND))]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b'{"a": 3}', "the answer has nothing at a[*].id: at a is no list"),
        (b'{"a": [{"id": "x"}, {}]}', "in entry 2 of a there is no id in it, which is empty"),
        (b'{"a": [{"id": true, "s": 1}]}', "the id of document 1 is true"),
        (b'{"a": [{"id": "", "s": 1}]}', 'the id of document 1 is ""'),
        (b'{"a": [{"id": "x", "s": true}]}', "the score of document 1 is true"),
        (b'{"a": [{"id": "x", "s": 1e999}]}', "the score of document 1 is Infinity"),
        (b"[" * 100000, "the answer is not JSON"),
        (b"\xff", "the answer is not JSON"),
    ],
)
def test_shapes_of_answers(body: bytes, told: str) -> None:
    form = AnswerForm(JsonPath.parse("a[*].id"), JsonPath.parse("a[*].s"))
    with pytest.raises(AnswerError) as caught:
        form.read(body, 10)
    assert told in str(caught.value)


def test_scores_must_be_as_many_as_documents() -> None:
    form = AnswerForm(JsonPath.parse("ids[*]"), JsonPath.parse("scores[*]"))
    with pytest.raises(AnswerError, match=r"2 documents at ids\[\*\], but 1 scores at scores\[\*\]"):
        form.read(b'{"ids": ["a", "b"], "scores": [1]}', 10)


# ---- trying again ----


def test_a_busy_engine_is_given_the_time_it_asks_for(server: PondServer) -> None:
    probed = asked(server, "busy", DUCKS, limits=Limits(rate=2000, retries=1))
    first, second = [seen.moment for seen in server.seen if "_search" in seen.path]
    assert second - first >= 0.9  # Retry-After: 1
    assert probed.counts.tried_again == {"the engine answers 429 Too Many Requests": 1}
    (note,) = probed.warnings
    assert not note.doubtful
    assert note.message == "1 request sent once more: the engine answers 429 Too Many Requests (1 time)"
    assert probed.efficiency.latencies["1"] < 0.9  # waiting is no part of it


def test_pauses_grow_and_retries_end(server: PondServer, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(clients.Client, "_sleep", lambda self, seconds: slept.append(seconds))
    told = refusal(server, "closed", limits=Limits(rate=1e9, retries=8))
    assert told == "topic 1: the engine closed the connection without an answer, tried 9 times"
    assert [pause for pause in slept if pause >= 0.5] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert len(server.seen) == 9


def test_an_engine_that_asks_for_an_hour_is_not_waited_for(server: PondServer) -> None:
    told = refusal(server, "late", limits=Limits(rate=2000, retries=3))
    assert "the engine asks to wait 3,600 s, and 120 s is the longest that is waited" in told
    assert len(server.seen) == 1


@pytest.mark.parametrize("fault", ["wrong", "broken", "refused", "away"])
def test_what_will_not_pass_is_not_tried_again(fault: str, server: PondServer) -> None:
    refusal(server, fault, limits=Limits(rate=2000, retries=3))
    assert len(server.seen) == 1


def test_nobody_there_is_told() -> None:
    with pytest.raises(DataError, match=r"topic 1: nobody listens at 127\.0\.0\.1:9, tried 2 times"):
        probe("http://127.0.0.1:9/pond", DUCKS, asking=ONCE, limits=Limits(rate=2000, retries=1))


def test_connections_stay_open_and_one_that_was_closed_meanwhile_is_no_failure(server: PondServer) -> None:
    asked(server)
    assert len({seen.connection for seen in server.seen}) == 1
    server.seen.clear()
    probed = asked(server, "idle")
    assert len({seen.connection for seen in server.seen}) > 5
    assert probed.sound
    assert probed.counts.tried_again == {}


def test_a_redirect_on_the_same_host_is_followed(server: PondServer) -> None:
    assert asked(server, "moved", DUCKS).run.of("1") == FOUND
    assert [seen.method for seen in server.seen[:2]] == ["POST", "POST"]
    assert server.seen[0].body == server.seen[1].body


# ---- limits ----


def test_an_answer_that_takes_too_long_is_given_up(server: PondServer) -> None:
    quick = Limits(rate=2000, retries=0, timeout=SLOW / 3)
    assert refusal(server, "slow", limits=quick) == "topic 1: no answer within 0.1 s"
    assert refusal(server, "drip", limits=quick) == "topic 1: no answer within 0.1 s"


@pytest.mark.parametrize("fault", ["dripped-head", "lines", "continue", "digits"])
def test_the_time_for_an_answer_is_that_for_all_of_it(fault: str, server: PondServer) -> None:
    """What comes now and then, and would without end, is given up: in the head as in a body."""
    assert refusal(server, fault, limits=Limits(rate=2000, retries=0, timeout=0.2)) == "topic 1: no answer within 0.2 s"


@pytest.mark.parametrize("fault", ["huge", "endless"])
def test_an_answer_that_is_too_large_is_given_up(fault: str, server: PondServer) -> None:
    told = refusal(server, fault, limits=Limits(rate=2000, retries=0, most_bytes=HUGE // 2))
    assert told == f"topic 1: the answer is larger than {HUGE // 2:,} bytes: ask for less with --depth"


def test_requests_keep_to_the_rate(server: PondServer) -> None:
    asked(server, limits=Limits(rate=20))
    moments = [seen.moment for seen in server.seen if "_search" in seen.path]
    assert moments[-1] - moments[0] >= 5 / 20 - 0.03


@pytest.mark.parametrize("fault", ["moved", "drops"])
def test_redirects_and_dropped_connections_are_requests_too(fault: str, server: PondServer) -> None:
    probed = asked(server, fault, {"1": "ducks", "2": "frogs"}, limits=Limits(rate=20))
    moments = [seen.moment for seen in server.seen if "_search" in seen.path]
    assert probed.counts.requests == len(moments) == (4 if fault == "moved" else 3)
    assert moments[-1] - moments[0] >= (len(moments) - 1) / 20 - 0.03
    assert probed.sound


def test_waiting_for_a_turn_is_no_part_of_a_latency(server: PondServer) -> None:
    assert asked(server, "moved", DUCKS, limits=Limits(rate=2)).efficiency.latencies["1"] < 0.5


def test_as_many_at_once_as_asked_for(server: PondServer) -> None:
    one = asked(server, "slow", limits=QUICK)
    assert server.most_at_once == 1
    three = asked(server, "slow", limits=Limits(rate=2000, parallel=3))
    assert server.most_at_once == 3
    assert {topic: three.run.of(topic) for topic in three.run.topics} == {t: one.run.of(t) for t in one.run.topics}
    assert list(three.efficiency.latencies) == list(one.efficiency.latencies)
    assert min(one.efficiency.latencies.values()) >= SLOW * 0.9
    assert (three.efficiency.queries_per_second or 0) > 1.5 * (one.efficiency.queries_per_second or 0)


def test_several_at_once_end_at_the_first_failure(server: PondServer) -> None:
    with pytest.raises(DataError, match="topic 1: the engine answers 400"):
        asked(server, "partial", limits=Limits(rate=2000, parallel=3))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0},
        {"rate": float("inf")},
        {"rate": 1e-300},
        {"timeout": 0},
        {"timeout": 1e300},
        {"parallel": 0},
        {"retries": -1},
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="must be"):
        Limits(**wrong)  # type: ignore[arg-type]


# ---- secrets ----

SECRETS = ("lace", "YWRhOmxhY2U=", "s3cr3t", "hush-hush")


def test_credentials_are_sent_and_nowhere_shown(server: PondServer, tmp_path: Path) -> None:
    url = f"http://ada:lace@{server.address}/pond?api_key=s3cr3t"
    run = tmp_path / "a.run"
    done = command_line("probe", url, "--topics", TOPICS, "--rate", "2000", "-o", run, "-f", "json")
    assert done.exit == 0, done.stderr
    assert server.seen[0].headers["Authorization"] == "Basic YWRhOmxhY2U="
    assert "api_key=s3cr3t" in server.seen[0].path
    files = "".join(path.read_text() for path in tmp_path.iterdir())
    for secret in SECRETS:
        assert secret not in done.stdout + done.stderr + files
    assert f"http://***@{server.address}/pond?api_key=***" in files


def test_headers_come_from_a_file_or_the_environment(
    server: PondServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = tmp_path / "headers"
    headers.write_text("Authorization: ApiKey hush-hush\n\nX-Tenant: pond\n")
    line = ["probe", f"{server.url}/pond-refused", "--topics", str(TOPICS), "--rate", "2000"]
    done = command_line(*line, "--header-file", headers)
    assert (server.seen[-1].headers["Authorization"], server.seen[-1].headers["X-Tenant"]) == (
        "ApiKey hush-hush",
        "pond",
    )
    monkeypatch.setenv(VARIABLE, "Bearer hush-hush")
    again = command_line(*line)
    assert server.seen[-1].headers["Authorization"] == "Bearer hush-hush"
    for outcome in (done, again):
        assert outcome.exit == 3
        assert 'the engine answers 401 Unauthorized: {"error": "*** may not do this"}' in outcome.stderr
        assert (
            f"Give credentials by --header-file FILE (headers= in Python) or in the variable {VARIABLE}."
            in outcome.stderr
        )
        assert "hush-hush" not in outcome.stderr
    command_line(*line, "--header-file", headers)  # a file goes before the environment
    assert server.seen[-1].headers["Authorization"] == "ApiKey hush-hush"


def test_nothing_shows_a_secret(server: PondServer) -> None:
    engine = Target(url=f"http://ada:lace@{server.address}/pond", headers={"X-Key": "hush-hush"})
    assert repr(engine) == f"<Target http://***@{server.address}/pond, elasticsearch>"
    assert "lace" not in repr(Address.of(engine.url))
    assert masked("http://h/?keyword=a&author=b&access_token=c") == "http://h/?keyword=a&author=b&access_token=***"


SIGN = "zq7xk"  # in all that must not be seen
BASIC = ("ada:zq7xk-of-ada", "zq7xk-of-ada")


def _ways(folder: Path, server: PondServer, fault: str) -> dict[str, list[str]]:
    """Command lines that send secrets, by all the ways there are."""
    headers, body = folder / "headers", folder / "body.json"
    headers.write_text(
        f"\ufeffAuthorization: Bearer {SIGN}TOKEN\nCookie: id={SIGN}cookie; other=1\nX-Key: {SIGN} key\n", "utf-8"
    )
    body.write_text(
        f'{{"q": {{query}}, "n": {{depth}}, "auth": {{"basic": "{SIGN}basic"}}, "token": ["{SIGN}é\\\\token"], '
        f'"password": 12345678, "of": [{{"user_pwd": "{SIGN}/+pwd"}}]}}',
        "utf-8",
    )
    page, paths = f"find-{fault}" if fault else "find", ["--engine", "json", "--ids", "hits[*].id"]
    paths += ["--scores", "hits[*].score"]
    names = "".join(f"&{name}={SIGN}{name}%2B%2Fx" for name in ("api_key", "pwd", "sig", "pass", "jwt", "s%69g"))
    got = f"{page}?q={{query}}{names}"
    return {
        "header": [f"{server.url}/{page}?q={{query}}", *paths, "--header-file", str(headers)],
        "address": [f"http://ada:{SIGN}-of-ada@{server.address}/{got}", *paths],
        "token": [f"http://{SIGN}user@{server.address}/{got}", *paths],
        "body": [f"{server.url}/{page}", *paths, "--body", str(body)],
    }


@pytest.mark.parametrize("fault", ["", *REPEATED])
@pytest.mark.parametrize("way", ["header", "address", "token", "body"])
def test_no_secret_comes_back(way: str, fault: str, server: PondServer, tmp_path: Path) -> None:
    """By whatever way it was sent, and wherever an engine repeats it, whole or cut, as it was or encoded."""
    from base64 import b64encode

    (tmp_path / "given").mkdir()
    (tmp_path / "made").mkdir()
    line = _ways(tmp_path / "given", server, fault)[way]
    common = ["--topics", str(TOPICS), "--rate", "5000", "--retries", "1", "--repeats", "1", "--allow-failures"]
    run = tmp_path / "made" / "a.run"
    done = command_line("probe", *line, *common, "-o", run, "-f", "json")
    assert (done.exit, done.stderr.count("no answer to")) == (0, bool(fault)), done.stderr
    sent = "".join(f"{seen.path}{seen.headers}{seen.body}" for seen in server.seen)
    assert SIGN in sent or "emd3c" in sent
    refused = command_line("probe", *line, *common[:-1], "-o", run)
    assert refused.exit == (3 if fault else 0)
    files = "".join(path.read_text() for path in (tmp_path / "made").iterdir())
    shown = (done.stdout + done.stderr + refused.stdout + refused.stderr + files).lower()
    assert "***" in shown or way == "header"
    secrets = [SIGN, "12345678", *(b64encode(text.encode()).decode().rstrip("=") for text in BASIC)]
    for secret in secrets:
        assert secret.lower() not in shown


def test_no_secret_is_in_the_version(server: PondServer) -> None:
    headers = {"Authorization": f"Bearer {SIGN}", "X-Repeat": "1"}
    probed = probe(target(server, headers=headers), DUCKS, asking=ONCE, limits=QUICK)
    assert _retrieval(probed)["version"].startswith("pond / / ***")
    assert SIGN not in str(probed.metadata)


@pytest.mark.parametrize("name", ["passage", "design", "sigma", "signal", "keyword", "author", "insight", "passive"])
def test_names_that_are_no_secrets_are_shown(name: str) -> None:
    assert masked(f"http://h/?{name}=abcd") == f"http://h/?{name}=abcd"
    assert without_secrets({name: "abcd"}) == {name: "abcd"}


def test_a_body_that_is_no_json_is_told_without_its_secrets(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text(f'{{"q": {{query}}, "token": "{SIGN}",}}')
    with pytest.raises(DataError, match=r"body.json:1: not JSON") as caught:
        read_template(str(body))
    assert SIGN not in str(caught.value)


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"Authorization": "x"}, "the headers and the address both have credentials: give one of them"),
        ({"X-A": "x\r\nX-B: y"}, "the header X-A cannot be sent: its name and value must be plain ASCII text"),
        ({"X A": "x"}, "the header X A cannot be sent"),
        ({"Host": "x"}, "the header Host is not for you to set: leave it out"),
    ],
)
def test_headers_that_cannot_be_sent_are_refused(headers: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        probe(Target(url="http://ada:lace@127.0.0.1:9/pond", headers=headers), DUCKS)


@pytest.mark.parametrize(
    ("text", "told"), [("hush-hush\n", "line 1 is no header"), ("X-A: b\nx-a: c\n", "line 2 gives x-a a second time")]
)
def test_a_file_of_headers_that_is_wrong_is_told_without_its_text(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "headers"
    path.write_text(text)
    with pytest.raises(DataError, match=told) as caught:
        read_headers(str(path))
    assert "hush-hush" not in str(caught.value)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate with")
def test_certificates_are_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(
        [*made.split(), "-keyout", "key.pem", "-out", "cert.pem"], cwd=tmp_path, check=True, capture_output=True
    )
    safe = PondServer()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    safe.socket = context.wrap_socket(safe.socket, server_side=True)
    threading.Thread(target=safe.serve_forever, daemon=True).start()
    url = f"https://{safe.address}/pond"
    with pytest.raises(DataError, match=r"topic 1: no safe connection to 127\.0\.0\.1: self-signed certificate"):
        probe(url, DUCKS, asking=ONCE, limits=QUICK)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    assert probe(url, DUCKS, asking=ONCE, limits=QUICK).run.of("1") == FOUND
    safe.shutdown()
    safe.server_close()


# ---- failures, and what is written ----


def test_nothing_is_written_where_a_topic_has_no_answer(server: PondServer, tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    line = ["probe", f"{server.url}/pond-partial", "--topics", str(TOPICS), "--rate", "2000", "-o", str(run)]
    done = command_line(*line)
    assert (done.exit, done.stdout, list(tmp_path.iterdir())) == (3, "", [])
    assert "--allow-failures" in done.stderr
    allowed = command_line(*line, "--allow-failures")
    assert allowed.exit == 0
    assert (
        "warning: elasticsearch: no answer to 2 topics, which the run is without: 1, 2; topic 1: the engine"
        in allowed.stderr
    )
    metadata = read_metadata(run)
    assert metadata
    assert list(metadata["answers"]["failed"]) == ["1", "2"]
    assert metadata["answers"]["answered"] == 4
    assert cranfield.read_run(run).topics == ["3", "4", "5", "6"]
    assert command_line(*line, "--allow-failures", "--strict").exit == 1


def test_where_no_topic_is_answered_there_is_no_run(server: PondServer) -> None:
    with pytest.raises(DataError, match="no topic was answered; topic 1: the engine answers 400"):
        asked(server, "wrong", allow_failures=True)


def test_a_topic_that_fails_late_leaves_nothing_behind(server: PondServer) -> None:
    asking = Asking(timing=Timing(warm_up=6, repeats=3))
    probed = asked(server, "fails", asking=asking, allow_failures=True)
    assert set(probed.counts.failed) == {"1", "2"}
    assert probed.counts.faults["duplicates"] == ("3", "4", "5", "6")
    assert probed.efficiency.warm_up == 6  # all that were asked
    assert list(probed.efficiency.latencies) == ["3", "4", "5", "6"]
    record = _Record()
    for start in (0.0, 10.0):
        record.rounds.append({})
        for place, topic in enumerate("ab"):
            record.take(topic, Answer(("d1",), (1.0,)), Reply(b"", start + place, start + place + 1))
    assert record.efficiency(0, 2).pass_seconds == 2.0
    record.fail("b", AnswerError("late"))
    assert record.efficiency(0, 2).queries_per_second == 1.0


def test_what_was_measured_is_read_by_the_others(server: PondServer, tmp_path: Path) -> None:
    run = tmp_path / "slow.run"
    probed = asked(server, "slow", DUCKS | {"2": "frogs"}, asking=TWICE)
    probed.write(str(run), command=["cranfield", "probe", "http://ada:lace@localhost/"])
    costs = cranfield.efficiency.costs_of([run], "p95")
    assert 1000 * SLOW * 0.9 < costs["slow"] < 1000 * SLOW * 10
    metadata = read_metadata(run)
    assert metadata
    latency = metadata["resources"]["searching"]["latency ms"]
    assert list(latency) == ["mean", "p50", "p90", "p95", "p99", "max"]
    assert metadata["resources"]["searching"]["repeats"] == 2
    assert list(metadata["latency ms by topic"]) == ["1", "2"]
    assert metadata["implementation"]["executable"]["cmd"][2] == "http://***@localhost/"
    assert "platform" not in metadata  # this machine is not the engine's
    assert "peak memory bytes" not in metadata["resources"]
    table = cranfield.Experiment({"1": {"d01": 1}}, str(run)).evaluate("AP", figures=["p95", "throughput"])
    assert table.figures["p95"][0] == pytest.approx(latency["p95"])


def test_strict_asks_for_sound_answers(server: PondServer, tmp_path: Path) -> None:
    line = ["--topics", str(TOPICS), "--rate", "2000", "-o", str(tmp_path / "a.run")]
    for fault, code in (("", 0), ("duplicates", 1), ("unstable", 1)):
        place = f"{server.url}/pond{f'-{fault}' if fault else ''}"
        assert command_line("probe", place, *line).exit == 0
        assert command_line("probe", place, *line, "--strict").exit == code


def test_warming_up_and_repeats_are_what_they_say(server: PondServer) -> None:
    probed = asked(server, asking=Asking(timing=Timing(warm_up=2, repeats=3)))
    assert probed.counts.requests == 2 + 3 * 6
    assert (probed.efficiency.warm_up, probed.efficiency.repeats) == (2, 3)
    with pytest.raises(UsageError, match="cannot be tracked from here"):
        asked(server, asking=Asking(timing=Timing(track=True)))
    with pytest.raises(UsageError, match="repeats must be 1 or more"):
        asked(server, asking=Asking(timing=Timing(repeats=0)))


# ---- known items ----


def test_visibility_is_what_evaluate_says_of_known_items(server: PondServer) -> None:
    items = read_items(str(EXAMPLES / "pond-items.txt"))
    for within in (1, 3, 10):
        probed = asked(server, expected=Expectations(items=[*items, ("5", "d12"), ("6", "d08")], within=within))
        seen = probed.visibility
        assert seen is not None
        qrels = {topic: {document: 1} for topic, document in [*items, ("5", "d12"), ("6", "d08")]}
        means = cranfield.evaluate(qrels, probed.run, [f"RR@{within}", f"Success@{within}"]).means[0]
        assert [seen.reciprocal_rank, seen.success] == pytest.approx(means.tolist())
        assert seen.share == pytest.approx(seen.success)


def test_of_several_known_items_the_best_counts_as_evaluate_has_it(server: PondServer, tmp_path: Path) -> None:
    qrels = EXAMPLES / "pond.qrels"
    line = ["probe", f"{server.url}/pond", "--topics", str(TOPICS), "--rate", "2000", "-o", str(tmp_path / "a.run")]
    for within in (1, 2, 5):
        done = command_line(*line, "--expect", str(qrels), "--within", str(within), "-f", "json")
        seen = json.loads(done.stdout)["visibility"]
        means = cranfield.evaluate(qrels, tmp_path / "a.run", [f"RR@{within}", f"Success@{within}"]).means[0]
        assert [seen["reciprocal rank"], seen["success"]] == pytest.approx(means.tolist())
        shown = [item["rank"] for item in seen["items"] if item["rank"] is not None and item["rank"] <= within]
        assert seen["share"] == pytest.approx(len(shown) / len(seen["items"]))
        table = command_line(*line, "--expect", str(qrels), "--within", str(within)).stdout
        assert f"RR@{within}, mean over topics" in table
        assert f"{means[0]:.4f}" in table
        topics = {item["topic"] for item in seen["items"]}
        assert f" {round(means[1] * len(topics))} of {len(topics)}, " in table
        assert "topics with any of theirs there" in table


def test_the_engine_of_the_examples_answers_as_elasticsearch_does(tmp_path: Path) -> None:
    """It stands in where there is none, and ranks as `cranfield search` does."""
    command = [sys.executable, str(EXAMPLES / "engine.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as engine:
        try:
            assert engine.stdout is not None
            url = engine.stdout.readline().strip()
            assert re.fullmatch(r"http://localhost:[0-9]+/pond", url)
            line = ["--topics", str(TOPICS), "--rate", "2000", "-o", str(tmp_path / "a.run"), "--strict"]
            done = command_line("probe", url, *line, "--expect", str(EXAMPLES / "pond-items.txt"), "--within", "3")
            assert (done.exit, done.stderr) == (0, "")
            body = tmp_path / "body.json"
            body.write_text('{"query": {"match": {"title": {query}}}}')
            refused = command_line("probe", url, *line[:-1], "--body", str(body))
            assert (refused.exit, "400" in refused.stderr) == (3, True)
        finally:
            engine.terminate()
    assert command_line("search", str(EXAMPLES / "pond.toml"), "-o", str(tmp_path / "b.run")).exit == 0
    runs = [cranfield.read_run(tmp_path / name).to_dict() for name in ("a.run", "b.run")]
    probed, searched = ({topic: list(of) for topic, of in run.items()} for run in runs)
    assert probed == searched


def test_names_of_topics_are_not_where_documents_stand(server: PondServer) -> None:
    for ids in ("given", "position", "number"):
        done = command_line("probe", f"{server.url}/pond", "--topics", str(TOPICS), "--ids", ids)
        assert (done.exit, done.stdout) == (2, "")
        assert f"what topics are called is --topic-ids {ids}" in done.stderr
    assert server.seen == []


def test_what_is_not_visible_is_named(server: PondServer, tmp_path: Path) -> None:
    items = tmp_path / "items.txt"
    items.write_text("1 d01\n4 d12\n5 zzz\n")
    line = ["probe", f"{server.url}/pond", "--topics", str(TOPICS), "--rate", "2000", "-o", str(tmp_path / "a.run")]
    done = command_line(*line, "--expect", items, "--within", "3")
    assert done.exit == 1
    assert [line.split(maxsplit=2) for line in done.stdout.splitlines()[:4]] == [
        ["topic", "document", "rank"],
        ["1", "d01", "1"],
        ["4", "d12", "9, not in the first 3"],
        ["5", "zzz", "not found"],
    ]
    assert "1 of 3, 33%" in done.stdout
    items.write_text("1 d01\n")
    assert command_line(*line, "--expect", items).exit == 0


def test_expectations_that_make_no_sense_are_refused(server: PondServer, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="documents are expected for topics that are not asked: 9"):
        asked(server, expected=Expectations(items=[("9", "d1")]))
    with pytest.raises(UsageError, match="of 5 documents a topic, none can be seen to be within 10"):
        asked(server, expected=Expectations(items=[("1", "d1")]), asking=replace(ONCE, depth=5))
    with pytest.raises(UsageError, match="within must be 1 or more"):
        Expectations(items=[("1", "d1")], within=0)
    with pytest.raises(UsageError, match="no document is expected"):
        Expectations(items=[])
    assert server.seen == []
    path = tmp_path / "items.txt"
    path.write_text("1 d01\n2 d02 d03\n")
    with pytest.raises(DataError, match=r"items.txt:2: 3 fields where a topic and a document are expected"):
        read_items(str(path))


def test_items_may_have_a_mark_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "items.txt"
    path.write_text("\ufeff# ours\n1 d01\n\n#more\n# theirs\n2 d02\n", "utf-8")
    assert read_items(str(path)) == [("1", "d01"), ("2", "d02")]
    path.write_text("# three fields\n1 0 d01 L1\n1 0 d02 L0\n", "utf-8")
    assert read_items(str(path)) == [("1", "d01")]


def test_labels_are_refused_with_what_helps(tmp_path: Path) -> None:
    path = tmp_path / "l.qrels"
    path.write_text("1 0 d01 A\n1 0 d02 C\n")
    done = command_line("probe", "http://localhost/pond", "--topics", TOPICS, "--expect", path)
    assert done.exit == 3
    assert "those from L0 to L99 are taken here. Make numbers of others first, with cranfield convert" in done.stderr
    assert command_line("convert", path, "-o", tmp_path / "n.qrels", "--labels", "A=1,C=0").exit == 0
    assert read_items(str(tmp_path / "n.qrels")) == [("1", "d01")]


def test_a_body_may_have_a_mark(tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text('\ufeff{"q": {query}}', "utf-8")
    assert read_template(str(body)) == {"q": "{query}"}


@pytest.mark.parametrize(("fault", "id"), [("blank", '"d01 x"'), ("newline", '"d01\\nx"')])
def test_an_id_that_the_run_cannot_hold_is_refused_when_it_comes(
    fault: str, id: str, server: PondServer, tmp_path: Path
) -> None:
    line = ["probe", f"{server.url}/pond-{fault}", "--topics", str(TOPICS), "--rate", "2000", "-o"]
    done = command_line(*line, tmp_path / "a.run")
    assert (done.exit, len(server.seen), list(tmp_path.iterdir())) == (3, 1, [])
    assert f"topic 1: the id of document 1 is {id}, which cannot be written as trec" in done.stderr
    assert "-o RUN.jsonl" in done.stderr
    assert command_line(*line, tmp_path / "a.jsonl").exit == 0
    assert cranfield.read_run(tmp_path / "a.jsonl").of("1")[json.loads(id)]


def test_a_topic_that_the_run_cannot_hold_is_refused_before_anything_is_sent(server: PondServer) -> None:
    with pytest.raises(DataError, match="the id of topic 'a b' cannot be written as trec"):
        asked(server, topics={"a b": "ducks"}, place="a.run")
    assert server.seen == []


def test_parameters_of_an_address_are_kept_and_those_for_fields_too() -> None:
    call = ENGINES["solr"].function(Endpoint("/solr/a", "fl=key"), "x", 2)
    assert call.path == "/solr/a/select?fl=key&q=x&rows=2&wt=json"
    assert ENGINES["elasticsearch"].function(Endpoint("/a", "routing=b"), "x", 2).path == "/a/_search?routing=b"


# ---- the page ----


def test_commands_on_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them, against the engine of the tests; files that the page shows are those that they read."""
    page = (ROOT / "docs" / "probe.md").read_text()
    for path in EXAMPLES.glob("pond*"):
        shutil.copy(path, tmp_path)
    for name, text in re.findall(r"`([\w.-]+)`:\n\n```(?:json|text)\n(.*?)```", page, re.DOTALL):
        (tmp_path / name).write_text(text)
    monkeypatch.setenv(VARIABLE, "ApiKey abc")
    sessions = re.findall(r"```console\n(.*?)```", page, re.DOTALL)
    steps = [step.partition("\n") for text in sessions for step in re.split(r"(?m)^\$ ", text.replace("\\\n", " "))[1:]]
    probes = [(line, shown) for line, _, shown in steps if line.startswith("cranfield")]
    assert len(probes) >= 8
    for line, shown in probes:
        words = shlex.split(line)[1:]
        quick = ["--rate", "5000"] if words[0] == "probe" else []
        done = command_line(*words, *quick, folder=tmp_path)
        assert done.exit == 0, (line, done.stderr)
        assert shown in done.stdout


def test_the_page_names_every_option_and_fault() -> None:
    page = (ROOT / "docs" / "probe.md").read_text()
    for option in commands()["probe"].params:
        longest = max(option.opts, key=len)
        if longest.startswith("--") and longest not in (
            "--quiet",
            "--output",
            "--output-format",
            "--format",
            "--columns",
        ):
            assert f"`{longest}" in page or f" {longest} " in page, longest
    for code in FAULTS:
        assert f"`{code}`" in page
    for status in TRIED_AGAIN:
        assert str(status) in page


# ---- an engine of others ----


@pytest.fixture
def groonga(tmp_path: Path) -> Iterator[str]:
    """Groonga, of Debian's package groonga-bin, with the pond in it."""
    program = shutil.which("groonga")
    if program is None:
        pytest.skip("no groonga here: apt-get install groonga-bin")
    documents = [json.loads(line) for line in (EXAMPLES / "pond-documents.jsonl").read_text().splitlines()]
    rows = json.dumps([{"_key": document["id"], "text": document["text"]} for document in documents])
    lines = [
        "table_create Pond TABLE_HASH_KEY ShortText",
        "column_create Pond text COLUMN_SCALAR Text",
        "table_create Terms TABLE_PAT_KEY ShortText --default_tokenizer TokenBigram --normalizer NormalizerAuto",
        "column_create Terms pond_text COLUMN_INDEX|WITH_POSITION Pond text",
        f"load --table Pond\n{rows}",
    ]
    base = tmp_path / "pond.db"
    subprocess.run([program, "-n", base], input="\n".join(lines).encode(), check=True, capture_output=True)
    import socket
    import time

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [program, "-s", "--protocol", "http", "--bind-address", "127.0.0.1", "--port", str(port), str(base)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        for _ in range(200):
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def test_groonga_is_probed_as_any_engine_that_answers_in_json(groonga: str) -> None:
    """A real engine of others, which closes the connection after each answer."""
    place = "d/select.json?table=Pond&match_columns=text&output_columns=_key,_score&sort_keys=-_score&command_version=3"
    engine = Target(
        url=f"{groonga}/{place}&query={{query}}&limit={{depth}}",
        engine="json",
        ids="body.records[*][0]",
        scores="body.records[*][1]",
    )
    probed = probe(engine, {"1": "ducks", "2": "frogs OR fish"}, asking=TWICE, limits=QUICK)
    assert probed.sound
    documents = [json.loads(line) for line in (EXAMPLES / "pond-documents.jsonl").read_text().splitlines()]
    for topic, words in (("1", ["ducks"]), ("2", ["frogs", "fish"])):
        having = {d["id"] for d in documents if any(word in d["text"].lower() for word in words)}
        assert set(probed.run.of(topic)) == having
