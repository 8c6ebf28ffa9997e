"""Latency, throughput, machine and metadata: measured with a clock of our own, never with a real one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from test_cases import cranfield as command

import cranfield
from cranfield import DataError, Efficiency, UsageError, costs_of, measure_system, read_metadata
from cranfield.efficiency import Indexing, machine, peak_memory, queries_of, timed_answers, tracking
from cranfield.metadata import FIGURES, figures_of, header, metadata_path, run_metadata, write_metadata
from cranfield.texts.base import Topics

EXAMPLES = Path(__file__).parents[1] / "examples"


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
    assert latency == {"mean": 100_500.0, "p50": 100_000.0, "p90": 180_000.0, "p99": 198_000.0, "max": 200_000.0}
    one, _ = measured({"a": [0.25]}, warm_up=0, repeats=1)
    assert {one.percentile(percent) for percent in (1, 50, 99, 100)} == {0.25}
    assert str(one).startswith("1 queries, 4 a second; latency in ms: mean 250")


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


def test_a_clock_that_stands_still_divides_nothing_by_zero() -> None:
    found = measure_system(str.split, ["ducks"], clock=lambda: 0.0)
    assert found.queries_per_second is None
    assert json.dumps(found.to_dict(), allow_nan=False)
    assert Indexing(3, 0.0, 9).to_dict()["documents per second"] is None


def test_machine_says_what_it_is() -> None:
    found = machine()
    assert found["hardware"]["cpu"]["number of cores"] >= 1
    assert found["hardware"]["cpu"]["model"]
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


ODD = {
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
    told = {"a": lists, "b": "x 1 2.5 tag more", "c d": "1 2 3 4", "e": {"f g h": "1 2 3", "1 2 3 4": "x"}}
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
    with pytest.raises(DataError, match="is not JSON"):
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
    wanted = {"latency": 2.0, "p50": 2.0, "p90": 2.0, "p99": 2.0, "indexing": 3.0, "index": 700.0, "memory": 50.0}
    costs = [name for name, figure in FIGURES.items() if figure.is_cost]
    assert {cost: costs_of(paths[:1], cost)["a"] for cost in costs} == wanted
    assert figures_of(paths[:1]) == {"a": wanted | {"throughput": 500.0}}
    with pytest.raises(UsageError, match="no cost 'throughput'"):
        costs_of(paths, "throughput")
    with pytest.raises(UsageError, match="no cost 'price'; there are latency"):
        costs_of(paths, "price")
    metadata_path(paths[0]).unlink()
    assert set(next(iter(figures_of(paths).values())).values()) == {None}
    with pytest.raises(DataError, match="no cost is known of"):
        costs_of(paths)


def test_search_records_what_the_picture_of_costs_needs(tmp_path: Path) -> None:
    runs = []
    for model in ("bm25", "vsm", "random"):
        runs.append(tmp_path / f"{model}.run")
        assert command("search", EXAMPLES / "pond.toml", "--model", model, "-o", runs[-1]).exit == 0
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
    done = command("plot", "pareto", EXAMPLES / "pond.qrels", *runs, "-o", picture, "--cost", "p90")
    assert done.exit == 0, done.stderr
    drawn = picture.read_text()
    assert FIGURES["p90"].label in drawn
    assert all(json.dumps(cost) in drawn for cost in costs_of(runs, "p90").values())
