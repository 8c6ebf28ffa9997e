"""Simulated users leave logs: the same tables as live ones, and the plan of the experiment beside them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cranfield.errors import UsageError, either
from cranfield.formats.output import save, so_far, whole_file
from cranfield.judged import Mask
from cranfield.libraries import library
from cranfield.online.log_folders import log_folder
from cranfield.online.trial import Guardrail, Trial
from cranfield.online.trial_ledger import LEDGER
from cranfield.online.users.arrivals import DAY
from cranfield.online.users.simulating import SearchedBlock, UserSimulation
from cranfield.statistics.significance import Integers

WRITTEN = ("parquet", "jsonl")
PLAN = "experiment.toml"
SIMULATED = "users simulated over"  # in the first line of every plan that is written here, or of SAID
SAID = "simulation.txt"  # where there is no plan
MARGIN = 20.0  # milliseconds that answers may take longer
SECONDARY = ("satisfied", "rr_first", "abandonment")


class SimulatedLog(NamedTuple):
    """What was written: rows of each file, and the plan, which interleaving has not; and what was there before and is
    not any more."""

    files: dict[str, int]
    plan: str | None
    notes: tuple[str, ...] = ()


def write_simulated(
    simulation: UserSimulation, folder: str, *, to: str = "parquet", step: Callable[[], None] = lambda: None
) -> SimulatedLog:
    """Writes impressions and events, of an A/B test also assignments and `experiment.toml`, into a folder; `step` is
    called after each block of users.

    An earlier simulation that is there is written over, and its ledger is removed: looks at another log are none at
    this one. A log or a plan that no simulation wrote is left alone, and refused.

    >>> import tempfile
    >>> from cranfield import read_qrels, read_run
    >>> from cranfield.online.users import JudgedRankings, Population
    >>> runs = [read_run("examples/bm25.run"), read_run("examples/dense.run")]
    >>> rankings = JudgedRankings.of(read_qrels("examples/qrels.txt"), runs, ["bm25", "dense"], depth=10)
    >>> log = write_simulated(UserSimulation(rankings, population=Population(users=50)), tempfile.mkdtemp())
    >>> list(log.files.values())
    [291, 356, 50]
    """
    if to not in WRITTEN:
        raise UsageError(f"a log is written to {either(WRITTEN)}, not '{to}'")
    library("pyarrow", "writing logs")
    notes = _cleared(folder)
    tables = ("impressions", "events", *(["assignments"] if simulation.design == "ab" else []))
    counts = dict.fromkeys(tables, 0)
    with ExitStack() as open_files:
        places = open_files.enter_context(log_folder(folder, [f"{table}.{to}" for table in tables]))
        writers = {table: _Writer(open_files, place, to) for table, place in places.items()}
        for block in simulation.blocks():
            for table, made in _Tables(simulation, block).all().items():
                writers[table].add(made)
                counts[table] += made.num_rows
            step()
    files = {places[table]: counts[table] for table in tables}
    if simulation.design != "ab":  # no arms, so that no plan of these could be analysed
        save(os.path.join(folder, SAID), [f"{_heading(simulation)}\n"])
        return SimulatedLog(files, None, notes)
    plan = os.path.join(folder, PLAN)
    save(plan, [plan_text(simulated_trial(simulation), _heading(simulation))])
    return SimulatedLog(files, plan, notes)


def _cleared(folder: str) -> tuple[str, ...]:
    """Removes an earlier simulation with its ledger from a folder, and says so; what no simulation wrote is refused."""
    tables = [f"{table}.{form}" for table in ("impressions", "events", "assignments") for form in WRITTEN]
    there = [path for path in (os.path.join(folder, name) for name in (PLAN, *tables)) if os.path.lexists(path)]
    if not there:
        return ()
    said = [path for path in (os.path.join(folder, name) for name in (PLAN, SAID)) if os.path.isfile(path)]
    if not any(SIMULATED in so_far(path).partition("\n")[0] for path in said):
        raise UsageError(f"{there[0]} is there already, and no simulation wrote it; name another folder with -o")
    ledger = os.path.join(folder, f"{PLAN}{LEDGER}")
    looked = os.path.lexists(ledger)
    for path in {*there, *said, *([ledger] if looked else [])}:
        os.remove(path)
    return ("an earlier simulation was there and is written over" + (", and its ledger is removed" if looked else ""),)


class _Writer:
    """A file of a table that is written a part at a time."""

    def __init__(self, open_files: ExitStack, path: str, to: str) -> None:
        self.open_files = open_files
        self.temporary = open_files.enter_context(whole_file(path))
        self.lines = None
        if to == "jsonl":
            self.lines = open_files.enter_context(Path(self.temporary).open("x", encoding="utf-8"))  # noqa: SIM115 - it is in one
        self.parquet: Any = None

    def add(self, table: Any) -> None:
        from pyarrow import parquet

        if self.lines is not None:
            self.lines.writelines(json.dumps(_plain(row), ensure_ascii=False) + "\n" for row in table.to_pylist())
            return
        if self.parquet is None:
            # Without Arrow's own schema, so that texts that are numbered here are texts for every reader.
            opened = parquet.ParquetWriter(self.temporary, table.schema, compression="zstd", store_schema=False)
            self.parquet = self.open_files.enter_context(opened)
        self.parquet.write_table(table)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}


class _Tables:
    """The tables of a block of users, as Arrow."""

    def __init__(self, simulation: UserSimulation, block: SearchedBlock) -> None:
        self.simulation, self.block = simulation, block
        self.start = round(simulation.population.start.timestamp() * 1_000_000)
        queries = block.queries
        columns = (queries.user.tolist(), queries.session.tolist(), queries.number.tolist())
        self.users = [f"u{user}" for user in columns[0]]
        self.sessions = [f"u{user}-s{session}" for user, session, _ in zip(*columns, strict=True)]
        self.ids = [f"u{user}-s{session}-q{number}" for user, session, number in zip(*columns, strict=True)]

    def all(self) -> dict[str, Any]:
        found = {"impressions": self.impressions(), "events": self.events()}
        return found if self.simulation.design != "ab" else {**found, "assignments": self.assignments()}

    def impressions(self) -> Any:
        import pyarrow as pa

        block, rankings = self.block, self.simulation.rankings
        lists = self.simulation.arrays()
        docs = lists.docs[block.shown]
        columns: dict[str, Any] = {
            "query_id": self.ids,
            "ts": self.times(block.asked),
            "user_id": self.users,
            "session_id": self.sessions,
            "query_text": _named(block.queries.topic, [one.query for one in rankings.asked]),
            "docs": _lists(docs, docs >= 0, self.documents),
            "n_results": (docs >= 0).sum(axis=1),
            "latency_ms": block.latency,
            "is_bot": block.queries.bot,
        }
        if self.simulation.design == "ab":
            differ = np.array([len(set(one.rankings)) > 1 for one in rankings.asked])
            columns["variant"] = _named(block.arm, rankings.names)
            columns["trigger"] = differ[block.queries.topic]
        else:
            columns |= self.interleaved(docs)
        return pa.table(columns)

    def interleaved(self, docs: Integers) -> dict[str, Any]:
        """What interleaving needs besides: teams, chances, rankings, and how lists were made."""
        import pyarrow as pa

        from cranfield.version import __version__

        shown, book = self.block.shown, self.simulation.pages.book
        numbers, back = np.unique(shown, return_inverse=True)
        lists = [book.lists[number] for number in numbers.tolist()]
        repeated = pa.array(back.astype(np.int64))
        teams = pa.array([list(one.teams) for one in lists], pa.list_(pa.int64()))
        chances = pa.array([[float(chance) for chance in one.chances] for one in lists], pa.list_(pa.float64()))
        topics = [[list(ranking) for ranking in one.rankings] for one in self.simulation.rankings.asked]
        rankings = pa.array(topics, pa.list_(pa.list_(pa.string())))
        policy = {
            "method": self.simulation.method,
            "seed": self.simulation.population.seed,
            "rankers": list(self.simulation.rankings.names),
            "version": __version__,
        }
        return {
            "teams": teams.take(repeated),
            "propensity": chances.take(repeated),
            "rankings": rankings.take(pa.array(self.block.queries.topic)),
            "policy": pa.array([policy]).take(pa.array(np.zeros(len(shown), dtype=np.int64))),
        }

    def events(self) -> Any:
        import pyarrow as pa

        block = self.block
        page, rank = np.nonzero(block.browsed.clicked)
        docs = self.simulation.arrays().docs[block.shown[page], rank]
        ids = pa.array(self.ids).take(pa.array(page))
        return pa.table(
            {
                "query_id": ids,
                "ts": self.times(block.asked[page] + block.browsed.at[page, rank]),
                "action": _named(np.zeros(len(page), dtype=np.int64), ["click"]),
                "doc_id": _named(docs, self.documents),
                "rank": rank + 1,
                "dwell_s": block.browsed.dwell[page, rank].round(2),
            }
        )

    def assignments(self) -> Any:
        """When each user was assigned: with the first query."""
        import pyarrow as pa

        _, first = np.unique(self.block.queries.user, return_index=True)
        return pa.table(
            {
                "unit_id": [self.users[row] for row in first.tolist()],
                "variant": _named(self.block.arm[first], self.simulation.rankings.names),
                "ts_first": self.times(self.block.asked[first]),
            }
        )

    @property
    def documents(self) -> tuple[str, ...]:
        return self.simulation.pages.book.documents

    def times(self, seconds: Any) -> Any:
        import pyarrow as pa

        return pa.array(self.start + (seconds * 1_000_000).astype(np.int64), pa.timestamp("us", tz="UTC"))


def _named(places: Integers, names: Any) -> Any:
    """Texts of their numbers; each is held once."""
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), pa.array(list(names), pa.string()))


def _lists(places: Integers, known: Mask, names: Any) -> Any:
    """Lists of texts, a row each, of which as many are there as are known."""
    import pyarrow as pa

    offsets = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), _named(places[known], names))


def simulated_trial(simulation: UserSimulation) -> Trial:
    """The plan of a simulated experiment: click-through rate first, and answers must not take longer."""
    population = simulation.population
    names = " and ".join(simulation.rankings.names)
    return Trial(
        name=f"simulated: {names}",
        arms=simulation.arms,
        primary="ctr",
        secondary=SECONDARY,
        guardrails=(Guardrail("latency", MARGIN),),
        maximum=max(population.users, 2),
        salt=simulation.salt,
        start=population.start.astimezone(UTC),
        end=(population.start + timedelta(seconds=population.days * DAY)).astimezone(UTC),
    )


def plan_text(trial: Trial, heading: str) -> str:
    """A trial as `experiment.toml`, as far as simulated ones go."""
    lines = [f"# {heading}", f"name = {_quoted(trial.name)}", f"primary = {_quoted(trial.primary)}"]
    lines.append(f"secondary = [{', '.join(map(_quoted, trial.secondary))}]")
    lines += [f"maximum = {trial.maximum}", f"salt = {_quoted(trial.salt)}"]
    lines += [f"{key} = {value.isoformat()}" for key, value in _period(trial)]
    lines += ["", "[arms]", *(f"{_quoted(arm)} = {weight:g}" for arm, weight in trial.arms.items())]
    lines += ["", "[guardrails]", *(f"{rail.metric} = {rail.margin:g}" for rail in trial.guardrails)]
    return "\n".join(lines) + "\n"


def _period(trial: Trial) -> Iterator[tuple[str, datetime]]:
    for key, value in (("start", trial.start), ("end", trial.end)):
        if value is not None:
            yield key, value


def _quoted(text: str) -> str:
    """A basic string of TOML, whatever the text has."""
    return json.dumps(text).replace("\x7f", "\\u007f")


def _heading(simulation: UserSimulation) -> str:
    population, model = simulation.population, simulation.model
    how = simulation.method if simulation.design == "interleaving" else "an A/B test"
    who = f"{population.users} {model.behaviour} {SIMULATED} {population.days} days"
    return f"{who}, seed {population.seed}: {how}"
