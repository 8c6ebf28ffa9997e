"""Figures of efficiency: what the metadata of a run can say of what its system took."""

from __future__ import annotations

from collections.abc import Iterable

from cranfield.errors import UsageError
from cranfield.records import NamedTuple


class Figure(NamedTuple):
    """A figure of efficiency: what it is, its unit, where it stands under `resources`, and whether less is better."""

    label: str
    unit: str
    place: tuple[str, ...]
    is_cost: bool = True

    @property
    def title(self) -> str:
        """What an axis says."""
        return f"{self.label}, {self.unit}"


FIGURES = {
    "latency": Figure("mean latency", "ms", ("searching", "latency ms", "mean")),
    "p50": Figure("median latency", "ms", ("searching", "latency ms", "p50")),
    "p90": Figure("latency of the 90th percentile", "ms", ("searching", "latency ms", "p90")),
    "p95": Figure("latency of the 95th percentile", "ms", ("searching", "latency ms", "p95")),
    "p99": Figure("latency of the 99th percentile", "ms", ("searching", "latency ms", "p99")),
    "throughput": Figure("queries a second", "/s", ("searching", "queries per second"), is_cost=False),
    "indexing": Figure("indexing time", "s", ("indexing", "seconds")),
    "index": Figure("index size", "bytes", ("indexing", "index bytes")),
    "memory": Figure("peak memory", "bytes", ("peak memory bytes",)),
}


def check_figures(names: str | Iterable[str]) -> tuple[str, ...]:
    """The names of figures, each once; one that does not exist is an error.

    >>> check_figures(["p99", "index", "p99"])
    ('p99', 'index')
    """
    wanted = tuple(dict.fromkeys([names] if isinstance(names, str) else names))
    unknown = [name for name in wanted if name not in FIGURES]
    if unknown:
        raise UsageError(f"no figure '{unknown[0]}'; there are {', '.join(FIGURES)}")
    return wanted
