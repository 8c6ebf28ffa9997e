"""Latency, throughput, machine and metadata: measured with a clock of our own, never with a real one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cranfield
from commands import command_line
from cranfield import DataError, UsageError
from cranfield.comparison.question import Details
from cranfield.efficiency import Efficiency, costs_of, measure_system, read_metadata
from cranfield.efficiency.metadata import figures_of, header, metadata_path, run_metadata, write_metadata
from cranfield.efficiency.resources import FIGURES
from cranfield.efficiency.timing import Indexing, machine, peak_memory, queries_of, timed_answers, tracking
from cranfield.evaluation.experiment import Experiment
from cranfield.render.json_form import Json
from cranfield.texts.texts import Topics
from places import EXAMPLES


class FakeSystem:
    """A system for which answering takes as long as we say, by a clock that only it moves."""

    def __init__(self, delays: dict[str, list[float]]) -> None:
        self.delays = {query: iter(each) for query, each in delays.items()}
        self.now = 0.0
        self.asked: list[str] = []

    def __call__(self, query: str) -> str:
        self.asked.append(query)
        self.now += next(self.delays[query])
        return query.upper()

    def clock(self) -> float:
        return self.now


def measured(delays: dict[str, list[float]], **settings: Any) -> tuple[Efficiency, FakeSystem]:
    system = FakeSystem(delays)
    topics = {f"t-{query}": query for query in delays}
    return measure_system(system, topics, clock=system.clock, **settings), system


def test_latency_of_a_query_is_its_median_over_repeats() -> None:
    found, system = measured({"a": [1.0, 9.0, 2.0], "b": [5.0, 4.0, 3.0]}, warm_up=0, repeats=3)
    assert found.latencies == {"t-a": 2.0, "t-b": 4.0}
    assert found.pass_seconds == 6.0  # rounds took 6, 13 and 5
    assert found.queries_per_second == pytest.approx(2 / 6)
    assert system.asked == ["a", "b"] * 3


def test_warming_up_is_not_timed() -> None:
    found, system = measured({"a": [100.0, 1.0], "b": [200.0, 2.0], "c": [3.0]}, warm_up=2, repeats=1)
    assert found.latencies == {"t-a": 1.0, "t-b": 2.0, "t-c": 3.0}
    assert found.warm_up == 2
    assert system.asked == ["a", "b", "a", "b", "c"]
    assert measured({"a": [1.0, 1.0]}, warm_up=50, repeats=1)[0].warm_up == 1


def test_percentiles_are_latencies_that_so_many_queries_do_not_exceed() -> None:
    found, _ = measured({f"q{i}": [float(i)] for i in range(1, 201)}, warm_up=0, repeats=1)
    latency = found.to_dict()["searching"]["latency ms"]
    percentiles = {"p50": 100_000.0, "p90": 180_000.0, "p95": 190_000.0, "p99": 198_000.0}
    assert latency == {"mean": 100_500.0, **percentiles, "max": 200_000.0}
    one_slow = replace(found, latencies={"1": 0.001, "2": 0.001, "3": 0.010}).to_dict()["searching"]["latency ms"]
    assert (one_slow["mean"], one_slow["p50"]) == (pytest.approx(4.0), pytest.approx(1.0))
    one, _ = measured({"a": [0.25]}, warm_up=0, repeats=1)
    assert {one.percentile(percent) for percent in (1, 50, 99, 100)} == {0.25}
    assert str(one).startswith("1 query, 4 a second; latency in ms: mean 250")


def test_answers_come_with_their_times() -> None:
    steps: list[None] = []
    answers, found = timed_answers(str.upper, {"1": "a", "2": "b"}, repeats=2, step=lambda: steps.append(None))
    assert answers == {"1": "A", "2": "B"}
    assert len(steps) == 4
    assert found.repeats == 2


def test_topics_in_every_form() -> None:
    assert queries_of(Topics(("7",), {"title": ["ducks"]})) == {"7": "ducks"}
    assert queries_of({"7": "ducks"}) == {"7": "ducks"}
    assert queries_of(["ducks"]) == {"1": "ducks"}


def test_wrong_settings_are_errors() -> None:
    for wrong in ({"repeats": 0}, {"warm_up": -1}):
        with pytest.raises(UsageError, match="repeats must be 1 or more"):
            measure_system(str.split, ["ducks"], **wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no query"):
        measure_system(str.split, [])
    with pytest.raises(UsageError, match=r"read_topics\('topics.tsv'\)"):
        measure_system(str.split, "topics.tsv")
    with pytest.raises(UsageError, match="a generator, before it has searched"):
        measure_system(lambda query: (word for word in query.split()), ["ducks"])


def test_what_the_index_took_is_told_by_its_maker() -> None:
    found = measure_system(str.split, ["ducks"], indexing=Indexing(3, 1.5, 900, saved=True))
    assert found.to_dict()["indexing"]["documents per second"] == 2.0


def test_a_clock_that_stands_still_divides_nothing_by_zero() -> None:
    found = measure_system(str.split, ["ducks"], clock=lambda: 0.0)
    assert found.queries_per_second is None
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert Indexing(3, 0.0, 9).to_dict()["documents per second"] is None


def test_machine_says_what_it_is() -> None:
    found = machine()
    assert found["hardware"]["cpu"]["number of cores"] >= 1
    assert found["hardware"]["cpu"]["model"]
    assert found["operating system"]["distribution"]
    assert found["software"]["python"] == ".".join(map(str, sys.version_info[:3]))
    assert any(name.startswith("numpy==") for name in found["software"]["libraries"]["python"])
    assert found["software"]["retrieval toolkit"] == [f"cranfield=={cranfield.__version__}"]
    json.dumps(found, allow_nan=False)
    before = peak_memory()
    assert before is None or before > 1e6


def test_tracking_takes_what_tirex_tracker_sees(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in of the same shape: the library itself is an extra."""
    from contextlib import contextmanager
    from enum import IntEnum

    measures = IntEnum("measures", ["OS_NAME", "CPU_ENERGY_SYSTEM_JOULES", "RAM_USED_PROCESS_KB", "GPU_USED_SYSTEM_MB"])
    results: dict[Any, Any] = {}
    wanted: list[str] = []

    @contextmanager
    def watch(measures: Any) -> Iterator[dict[Any, Any]]:
        wanted.extend(measure.name for measure in measures)
        yield results
        series = b'{"max": 30, "min": 10, "avg": 20, "timeseries": {"values": [10, 30]}}'
        for measure, value in zip(measures, (b"12.5", series, b"null"), strict=True):
            results[int(measure)] = SimpleNamespace(value=value)

    monkeypatch.setitem(sys.modules, "tirex_tracker", SimpleNamespace(Measure=measures, tracking=watch))
    with tracking(True) as seen:
        assert seen == {}
    assert seen == {"cpu energy system joules": 12.5, "ram used process kb": {"max": 30, "min": 10, "avg": 20}}
    assert "OS_NAME" not in wanted
    found = measure_system(str.split, ["ducks"], track=True)
    assert found.to_dict()["tracked"]["cpu energy system joules"] == 12.5


def test_tracking_without_the_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tirex_tracker", None)
    with pytest.raises(UsageError, match=r"pip install 'cranfield\[resources\]'"):
        measure_system(str.split, ["ducks"], track=True)


# Metadata


ODD: dict[str, Json] = {
    "tag": "a",
    "words": ["- dash", "#hash", "colon: here", "true", "1 2 3 4 5 6", "", "Ünï", 'quote " and \\', "two\nlines"],
    "row": "Q0 1 2.5 tag",
    "numbers": [1, 2.5, None, True, -3e-9],
    "nested": {"list of maps": [{"x": 1, "y": [1, 2]}, {"x": 2}], "empty": {}, "none": []},
    "latency ms": {"p50": 0.1, "p90": 5e-05, "big": 1e22},
    "no": {"1": 1, "2 3: x": 2, "a b": "1 2 3 4"},
}


def test_header_is_yaml_and_comes_back_as_it_was(tmp_path: Path) -> None:
    text = header(ODD)
    assert text.isascii() or "Ü" in text
    assert all(line.startswith("# ") for line in text.splitlines())
    run = tmp_path / "a.run"
    run.write_text(text + "1 Q0 d1 1 2.5 a\n")
    assert read_metadata(run) == ODD


def test_no_comment_is_taken_for_a_row(tmp_path: Path) -> None:
    """A comment of six words, with numbers where a row has rank and score, would be a row of a topic named #."""
    run = tmp_path / "a.run"
    lists = [f"{a} {b} {c} {d} {e} {f}" for a, b, c, d, e, f in [("1",) * 6, ("x", "1", "2", "y", "z", "w")]]
    told: dict[str, Json] = {
        "a": lists,
        "b": "x 1 2.5 tag more",
        "c d": "1 2 3 4",
        "e": {"f g h": "1 2 3", "1 2 3 4": "x"},
    }
    run.write_text(header(told) + "1 Q0 d1 1 2.5 a\n")
    assert cranfield.read_run(run).to_dict() == {"1": {"d1": 2.5}}
    assert read_metadata(run) == told


def test_metadata_beside_the_run_come_first(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text(header({"tag": "in the run"}) + "1 Q0 d1 1 2.5 a\n")
    assert read_metadata(run) == {"tag": "in the run"}
    assert write_metadata(run, {"tag": "beside"}) == metadata_path(run)
    assert read_metadata(run) == {"tag": "beside"}


def test_broken_metadata_are_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "a.run"
    for text, message in (
        ("# ir_metadata.start\n# tag: 1\n1 Q0 d1 1 2.5 a\n", "do not end"),
        ("# ir_metadata.start\n# tag: [1\n# ir_metadata.end\n", "not YAML"),
        ("# ir_metadata.start\n# - 1\n# ir_metadata.end\n", "not a mapping"),
    ):
        run.write_text(text)
        with pytest.raises(DataError, match=message):
            read_metadata(run)
    run.write_text("# just a comment\n1 Q0 d1 1 2.5 a\n")
    assert read_metadata(run) is None
    metadata_path(run).write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        read_metadata(run)
    metadata_path(run).unlink()
    run.write_text(header({"tag": "a"}))
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r"pip install 'cranfield\[search\]'"):
        read_metadata(run)


def test_costs_are_those_of_the_metadata(tmp_path: Path) -> None:
    paths = []
    for folder, seconds in (("x", 0.002), ("y", 0.004)):
        efficiency = Efficiency({"1": seconds}, seconds, 0, 1, 50, Indexing(10, 3.0, 700))
        path = tmp_path / folder / "a.run"
        path.parent.mkdir()
        path.write_text("1 Q0 d1 1 2.5 a\n")
        write_metadata(path, run_metadata("a", efficiency))
        paths.append(path)
    assert list(costs_of(paths).values()) == [2.0, 4.0]
    assert list(costs_of(paths)) == list(cranfield.evaluate({"1": {"d1": 1}}, paths, "AP").runs)
    latencies = dict.fromkeys(("latency", "p50", "p90", "p95", "p99"), 2.0)
    wanted = {**latencies, "indexing": 3.0, "index": 700.0, "memory": 50.0}
    costs = [name for name, figure in FIGURES.items() if figure.is_cost]
    assert {cost: costs_of(paths[:1], cost)["a"] for cost in costs} == wanted
    assert figures_of(paths[:1]) == {name: (value,) for name, value in (wanted | {"throughput": 500.0}).items()}
    with pytest.raises(UsageError, match="no cost 'throughput'"):
        costs_of(paths, "throughput")
    with pytest.raises(UsageError, match="no cost 'price'; there are latency"):
        costs_of(paths, "price")
    metadata_path(paths[0]).unlink()
    assert figures_of([*paths, None, "-"], ["p50"]) == {"p50": (None, 4.0, None, None)}
    with pytest.raises(DataError, match="no latency is known of") as refused:
        costs_of(paths)
    assert "give a table of run and cost" in str(refused.value)


def test_search_records_what_the_picture_of_costs_needs(tmp_path: Path) -> None:
    runs = []
    for model in ("bm25", "vsm", "random"):
        runs.append(tmp_path / f"{model}.run")
        assert command_line("search", EXAMPLES / "pond.toml", "--model", model, "-o", runs[-1], "--header").exit == 0
    told = read_metadata(runs[0])
    assert told is not None
    assert told["method"]["retrieval"][0]["k1"] == 1.2
    assert told["implementation"]["executable"]["cmd"][:2] == ["cranfield", "search"]
    assert told["resources"]["indexing"]["documents"] == 12
    assert set(told["latency ms by topic"]) == {"1", "2", "3", "4", "5", "6"}
    metadata_path(runs[0]).unlink()  # the header has the rest
    again = read_metadata(runs[0])
    assert again is not None
    assert again == {name: part for name, part in told.items() if name != "latency ms by topic"}
    picture = tmp_path / "p.json"
    done = command_line("plot", "pareto", EXAMPLES / "pond.qrels", *runs, "-o", picture, "--cost", "p90")
    assert done.exit == 0, done.stderr
    drawn = picture.read_text()
    assert FIGURES["p90"].title in drawn
    assert all(json.dumps(cost) in drawn for cost in costs_of(runs, "p90").values())


QRELS = {"1": {"d1": 1}, "2": {"d1": 1}}
FIGURE_OPTIONS = ("--figure", "p99", "--figure", "throughput", "--figure", "index")


@pytest.fixture
def costed(tmp_path: Path) -> list[Path]:
    """Two runs with metadata, a fast good one and a slow poor one, and one without."""
    runs = []
    for name, seconds, document in (("fast", 0.002, "d1"), ("slow", 0.004, "d2"), ("bare", None, "d1")):
        path = tmp_path / f"{name}.run"
        path.write_text("".join(f"{topic} Q0 {document} 1 2.5 {name}\n" for topic in QRELS))
        if seconds is not None:
            indexing = Indexing(10, 3.0, 1_234_567)
            write_metadata(path, run_metadata(name, Efficiency({"1": seconds}, seconds, 0, 1, None, indexing)))
        runs.append(path)
    (tmp_path / "qrels.txt").write_text("1 0 d1 1\n2 0 d1 1\n")
    return runs


def test_figures_stand_beside_measures(costed: list[Path]) -> None:
    qrels = costed[0].with_name("qrels.txt")
    done = command_line("evaluate", qrels, *costed, "-m", "RR", *FIGURE_OPTIONS)
    assert done.stdout.splitlines() == [
        "run       RR  p99 ms  throughput /s  index MB",
        "fast  1.0000   2.000            500     1.235",
        "slow  0.0000   4.000            250     1.235",
        "bare  1.0000       –              –         –",
    ]
    assert "bare: no p99, throughput, index in its metadata" in done.stderr
    with_topics = command_line("evaluate", qrels, costed[0], "-m", "RR", "-q", *FIGURE_OPTIONS)
    assert [line.split() for line in with_topics.stdout.splitlines()[1:]] == [
        ["fast", "1", "1.0000"],
        ["fast", "2", "1.0000"],
        ["fast", "all", "1.0000", "2.000", "500", "1.235"],
    ]
    table = command_line("evaluate", qrels, *costed, "-m", "RR", "-f", "csv", *FIGURE_OPTIONS)
    assert table.stdout.splitlines() == [
        "run,RR,p99 ms,throughput /s,index bytes",
        "fast,1.0,2.0,500.0,1234567.0",
        "slow,0.0,4.0,250.0,1234567.0",
        "bare,1.0,,,",
    ]
    wanted = {"p99": 4.0, "throughput": 250.0, "index": 1234567.0}
    document = json.loads(command_line("evaluate", qrels, *costed, "-m", "RR", "-f", "json", *FIGURE_OPTIONS).stdout)
    assert [run["figures"] for run in document["runs"]][1:] == [wanted, dict.fromkeys(wanted)]
    lines = command_line("evaluate", qrels, *costed, "-m", "RR", "-f", "jsonl", *FIGURE_OPTIONS).stdout.splitlines()
    assert json.loads(lines[1])["figures"] == wanted
    by_topic = command_line("evaluate", qrels, costed[0], "-m", "RR", "-q", "-f", "csv", "--figure", "p99").stdout
    assert by_topic.splitlines() == ["run,topic,RR,p99 ms", "fast,1,1.0,", "fast,2,1.0,", "fast,all,1.0,2.0"]
    trec = command_line("evaluate", qrels, *costed, "-m", "RR", "-f", "trec", "--figure", "p99").stdout
    assert [line.split() for line in trec.splitlines() if line.startswith("p99")] == [
        ["p99", "all", "2.0000"],
        ["p99", "all", "4.0000"],
        ["p99", "all", "–"],
    ]


def test_figures_of_compared_systems(costed: list[Path], tmp_path: Path) -> None:
    qrels = costed[0].with_name("qrels.txt")
    done = command_line("compare", qrels, *costed, "-m", "RR", *FIGURE_OPTIONS)
    _, _, header, _, second, *_ = done.stdout.splitlines()
    assert header.split() == [
        "system",
        "RR",
        "unjudged",
        "p99",
        "ms",
        "throughput",
        "/s",
        "index",
        "MB",
    ]
    assert second.split()[2:] == ["0.0000", "100.0%", "4.000", "250", "1.235"]
    rows = command_line("compare", qrels, *costed[:2], "-m", "RR", "-f", "csv", "--figure", "p99").stdout.splitlines()
    assert rows[0].endswith(",p99 ms,other p99 ms")
    assert rows[1].endswith(",2.0,4.0")
    found = cranfield.compare(
        Experiment(qrels, {"seeds": costed[:2], "partly": costed[1:]}), "RR", details=Details(figures=["p99", "index"])
    )
    assert [(each.collection, each.figure, each.values) for each in found.figures] == [
        ("", "p99", (3.0, None)),
        ("", "index", (1234567.0, None)),
    ]
    assert found.to_dict()["figures"][0] == {
        "collection": "", "figure": "p99", "systems": {"seeds": 3.0, "partly": None}
    }  # fmt: skip
    for runs in (costed, costed[:1]):
        report = tmp_path / "report.md"
        assert command_line("report", qrels, *runs, "-m", "RR", "--figure", "p99", "-o", report).exit == 0
        assert "| p99 ms |" in report.read_text()


def test_figures_draw_the_picture_of_costs(costed: list[Path]) -> None:
    found = Experiment(QRELS, costed[:2]).evaluate("RR", figures=["throughput", "p99"])
    drawn = found.plot.pareto().to_dict()["layer"][0]
    assert drawn["encoding"]["x"]["title"] == FIGURES["p99"].title
    with pytest.raises(UsageError, match="no cost is known of bare"):
        Experiment(QRELS, costed).evaluate("RR", figures="p99").plot.pareto()


def test_figures_that_cannot_be_shown_are_refused(costed: list[Path]) -> None:
    qrels = costed[0].with_name("qrels.txt")
    with pytest.raises(UsageError, match="no figure 'price'; there are latency"):
        Experiment(QRELS, costed[0]).evaluate("RR", figures="price")
    for arguments, exit, message in (
        (("--figure", "price"), 2, "'price' is not one of 'latency'"),
        (("--figure", "memory"), 3, "no memory is known of fast"),
    ):
        done = command_line("evaluate", qrels, costed[0], *arguments)
        assert (done.exit, done.stdout) == (exit, "")
        assert message in done.stderr
    assert cranfield.evaluate(QRELS, {"a": QRELS}, "RR").figures == {}


def test_metadata_are_no_surprise(tmp_path: Path) -> None:
    run, row = tmp_path / "a.run", "1 Q0 d1 1 2.5 a\n"

    def notes(text: str) -> list[str]:
        run.write_text(text)
        return [warning.message for warning in cranfield.evaluate({"1": {"d1": 1}}, run, "RR").warnings]

    assert notes(header({"tag": "a"}) + row) == []
    assert notes("# mine\n" + header({"tag": "a"}) + row) == ["1 lines starting with # were taken for comments"]
    assert notes("# ir_metadata.start\n# tag: a\n" + row) == ["2 lines starting with # were taken for comments"]
