"""How fast a system answers, and on what machine: `measure_system`."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import metadata
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from cranfield.errors import UsageError
from cranfield.libraries import library
from cranfield.texts.texts import Topics
from cranfield.version import __version__

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

Query = TypeVar("Query")
Answer = TypeVar("Answer")
PERCENTILES = (50, 90, 95, 99)
LIBRARIES = ("numpy", "scipy", "scikit-learn", "bm25s", "PyStemmer")  # what a search of ours runs on


@dataclass(frozen=True)
class Indexing:
    """What it took to build an index, and how large it is: on disk if it was saved, otherwise what would be saved."""

    documents: int
    seconds: float | None  # None if it was read from a file
    index_bytes: int
    saved: bool = False

    def to_dict(self) -> dict[str, Json]:
        """The documented form."""
        return {
            "documents": self.documents,
            "seconds": self.seconds,
            "documents per second": self.documents / self.seconds if self.seconds else None,
            "index bytes": self.index_bytes,
            "index is": "on disk" if self.saved else "in memory",
        }


@dataclass(frozen=True)
class Efficiency:
    """How fast a system answered, one query after the other.

    `latencies` are seconds by topic, each the median over `repeats`, after `warm_up` queries that do not count.
    `pass_seconds` is what answering all queries once took, the median again. `peak_memory` is the most memory that the
    process has held since it began, in bytes; `tracked` is what tirex-tracker saw, energy among it, if it was asked.
    """

    latencies: Mapping[str, float]
    pass_seconds: float
    warm_up: int
    repeats: int
    peak_memory: int | None = None
    indexing: Indexing | None = None
    machine: Mapping[str, Json] = field(default_factory=dict)
    tracked: Mapping[str, Json] = field(default_factory=dict)

    @property
    def queries_per_second(self) -> float | None:
        """Throughput of one query after the other."""
        return len(self.latencies) / self.pass_seconds if self.pass_seconds else None

    def percentile(self, percent: float) -> float:
        """The least latency, in seconds, that this share of the queries does not exceed.

        >>> Efficiency({"1": 0.1, "2": 0.3, "3": 0.2}, 0.6, 0, 1).percentile(50)
        0.2
        """
        return float(np.percentile(list(self.latencies.values()), percent, method="inverted_cdf"))

    def to_dict(self) -> dict[str, Any]:
        """The documented form, as it stands in a run's metadata."""
        milliseconds = {f"p{percent}": 1000 * self.percentile(percent) for percent in PERCENTILES}
        seconds = list(self.latencies.values())
        searching = {
            "queries": len(seconds),
            "warm-up queries": self.warm_up,
            "repeats": self.repeats,
            "queries per second": self.queries_per_second,
            "latency ms": {"mean": 1000 * float(np.mean(seconds)), **milliseconds, "max": 1000 * max(seconds)},
        }
        parts = {
            "indexing": self.indexing.to_dict() if self.indexing else None,
            "searching": searching,
            "peak memory bytes": self.peak_memory,
            "tracked": dict(self.tracked),
        }
        return {name: part for name, part in parts.items() if part}

    def __str__(self) -> str:
        latency = self.to_dict()["searching"]["latency ms"]
        shown = ", ".join(f"{name} {value:.3g}" for name, value in latency.items())
        rate = self.queries_per_second
        queries = "1 query" if len(self.latencies) == 1 else f"{len(self.latencies):,} queries"
        return f"{queries}, {rate or float('inf'):,.0f} a second; latency in ms: {shown}"


def measure_system(
    system: Callable[[str], Answer],
    topics: Topics | Mapping[str, str] | Iterable[str],
    *,
    warm_up: int = 10,
    repeats: int = 3,
    track: bool = False,
    indexing: Indexing | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Efficiency:
    """Times a system, anything that takes a query's text, on every topic, one after the other.

    `topics` are Topics, {topic: query}, or queries. The first `warm_up` queries are asked once before, untimed; then
    all are asked `repeats` times, in rounds. `track` adds what tirex-tracker sees meanwhile (the `resources` extra),
    `indexing` what building the index took, as you measured it.

    >>> ticks = iter(range(100))
    >>> efficiency = measure_system(str.split, {"1": "ducks", "2": "geese"}, repeats=2, clock=lambda: next(ticks))
    >>> dict(efficiency.latencies)
    {'1': 1.0, '2': 1.0}
    """
    efficiency = timed_answers(system, queries_of(topics), warm_up=warm_up, repeats=repeats, track=track, clock=clock)[
        1
    ]
    return replace(efficiency, indexing=indexing)


def timed_answers(
    system: Callable[[Query], Answer],
    queries: Mapping[str, Query],
    *,
    warm_up: int = 10,
    repeats: int = 3,
    track: bool = False,
    clock: Callable[[], float] = time.perf_counter,
    step: Callable[[], None] = lambda: None,
) -> tuple[dict[str, Answer], Efficiency]:
    """The answer to each query, and how fast they came; `step` is called after each.

    >>> answers, efficiency = timed_answers(str.split, {"1": "ducks swim"})
    >>> answers, efficiency.repeats
    ({'1': ['ducks', 'swim']}, 3)
    """
    if repeats < 1 or warm_up < 0:
        raise UsageError(f"repeats must be 1 or more and warm_up 0 or more, not {repeats} and {warm_up}")
    if not queries:
        raise UsageError("there is no query to time")
    for query in list(queries.values())[:warm_up]:
        system(query)
    answers: dict[str, Answer] = {}
    seconds = np.empty((repeats, len(queries)))
    passes = np.empty(repeats)
    with tracking(track) as tracked:
        for repeat in range(repeats):
            for place, (topic, query) in enumerate(queries.items()):
                start = clock()
                answers[topic] = system(query)
                seconds[repeat, place] = clock() - start
                _check_whole(answers[topic])
                step()
            passes[repeat] = seconds[repeat].sum()
    latencies = dict(zip(queries, np.median(seconds, axis=0).tolist(), strict=True))
    warmed = min(warm_up, len(queries))
    peak, used = peak_memory(), machine()
    return answers, Efficiency(latencies, float(np.median(passes)), warmed, repeats, peak, None, used, tracked)


def _check_whole(answer: Answer) -> None:
    """That the system has searched when it answers: timing a generator or a coroutine would time nothing."""
    if isinstance(answer, Iterator | Awaitable):
        raise UsageError(
            f"the system answers with a {type(answer).__name__}, before it has searched: let it give the whole answer"
        )


def queries_of(topics: Topics | Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """Queries by topic; queries that have no topic are numbered from 1.

    >>> queries_of(["ducks", "geese"])
    {'1': 'ducks', '2': 'geese'}
    """
    if isinstance(topics, Topics):
        return dict(zip(topics.ids, topics.queries(), strict=True))
    if isinstance(topics, Mapping):
        return dict(topics)
    if isinstance(topics, str):
        raise UsageError(
            f"'{topics}' is one text, not queries: give a list, or cranfield.texts.read_topics('{topics}')"
        )
    return {str(number): query for number, query in enumerate(topics, start=1)}


def peak_memory() -> int | None:
    """The most memory this process has held since it began, in bytes; None where the system does not tell.

    >>> peak_memory() is None or peak_memory() > 1_000_000
    True
    """
    for line in _lines("/proc/self/status"):  # of this program alone; getrusage counts what it was started from too
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def machine() -> dict[str, Any]:
    """Hardware, operating system and software, as the platform part of ir_metadata has them.

    >>> list(machine())
    ['hardware', 'operating system', 'software']
    """
    models = (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name"))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    cpu = {
        "model": next(models, "") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "number of cores": os.cpu_count(),
        "cores this process may use": cores,
    }
    installed = {name: _version(name) for name in LIBRARIES}
    libraries = [f"{name}=={version}" for name, version in installed.items() if version]
    return {
        "hardware": {"cpu": cpu, **_memory()},
        "operating system": {"kernel": f"{platform.system()} {platform.release()}", "distribution": _distribution()},
        "software": {
            "python": platform.python_version(),
            "libraries": {"python": libraries},
            "retrieval toolkit": [f"cranfield=={__version__}"],
        },
    }


@contextmanager
def tracking(wanted: bool) -> Iterator[dict[str, Json]]:
    """Lets tirex-tracker watch a block, if wanted, and gives what it saw: CPU, memory, GPU and energy.

    >>> with tracking(False) as seen:
    ...     pass
    >>> seen
    {}
    """
    seen: dict[str, Json] = {}
    if not wanted:
        yield seen
        return
    library("tirex_tracker", "tracking resources")
    import tirex_tracker

    measures = [
        measure
        for measure in tirex_tracker.Measure
        if any(word in measure.name for word in ("ELAPSED", "_USED_", "_ENERGY_"))
    ]
    with tirex_tracker.tracking(measures=measures) as results:
        yield seen
    for measure, entry in results.items():
        value = _tracked_value(entry.value)
        if value is not None:
            seen[tirex_tracker.Measure(measure).name.replace("_", " ").lower()] = value


def _tracked_value(value: str | bytes) -> Json:
    """A number, or the least, mean and greatest of a series; None for what the machine does not tell."""
    import json

    decoded: Json = json.loads(value)
    if isinstance(decoded, dict):
        return {name: number for name, number in decoded.items() if name != "timeseries"}
    return decoded


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _memory() -> dict[str, str]:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return {}
    return {"ram": f"{total / 1e9:.0f} GB"}


def _distribution() -> str:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", platform.platform())
    except OSError:
        return platform.platform()


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
