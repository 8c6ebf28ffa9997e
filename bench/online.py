"""How long the aggregation of a large log takes, and how much memory: 30 million events and queries by default.

`python bench/online.py FOLDER` makes the log in the folder if it is not there (seeded, Parquet), then reduces it in
processes of their own and prints seconds, CPU seconds and the most memory of each. Nothing else should run beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

SETS = {
    "ctr and two more ratios": ("ctr", ("satisfied", "abandonment")),
    "with sums of values (duplicates dropped)": ("ctr", ("value_per_unit", "clicks_per_query")),
    "with sessions": ("ctr", ("queries_per_session", "sessions_per_unit")),
    "with first ranks and reformulation": ("ctr", ("rr_first", "reformulation")),
}


def make(folder: str, millions: int, seed: int) -> None:
    """Two fifths are queries, the rest events; 20 queries and events a user; ids of queries are numbers."""
    import duckdb

    os.makedirs(folder, exist_ok=True)
    queries, users = millions * 400_000, millions * 50_000
    week = 14 * 86_400
    connection = duckdb.connect(config={"memory_limit": "3GB", "preserve_insertion_order": False})
    connection.execute(
        f"""COPY (SELECT i AS query_id, 'u' || u AS user_id, 's' || u || '-' || (hash(i, {seed}) % 3) AS session_id,
        to_timestamp(1793577600 + (hash(i * 3, {seed}) % {week})) AS ts, 'q' || (hash(i * 5) % 50000) AS query_text,
        CASE WHEN hash(u * 11, {seed}) % 2 = 0 THEN 'A' ELSE 'B' END AS variant,
        (hash(i * 13) % 20)::INT AS n_results, (hash(i * 17) % 500)::DOUBLE AS latency_ms
        FROM (SELECT i, (hash(i * 7, {seed}) % {users})::BIGINT AS u FROM range({queries}) t(i)))
        TO '{folder}/impressions.parquet' (COMPRESSION zstd)"""
    )
    connection.execute(
        f"""COPY (SELECT (hash(i * 5, {seed}) % {queries})::BIGINT AS query_id,
        to_timestamp(1793577600 + (hash(i * 3) % {week})) AS ts,
        CASE WHEN hash(i * 19) % 10 < 9 THEN 'click' ELSE 'purchase' END AS action,
        'd' || (hash(i * 23) % 100000) AS doc_id, (1 + hash(i * 29) % 10)::INT AS rank,
        (hash(i * 31) % 120)::DOUBLE AS dwell_s, (hash(i * 37) % 50)::DOUBLE AS value
        FROM range({millions * 600_000}) t(i)) TO '{folder}/events.parquet' (COMPRESSION zstd)"""
    )


def measure(folder: str, which: str, parts: list[str]) -> dict[str, float]:
    """Reduces the log once, in this process."""
    from cranfield.online import Trial, aggregate, read_logs

    primary, secondary = SETS[which]
    start = time.perf_counter()
    found = aggregate(read_logs(folder), Trial("bench", {"A": 1, "B": 1}, primary, secondary=secondary), parts=parts)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": used.ru_utime + used.ru_stime,
        "gigabytes": used.ru_maxrss / 1e6,
        "units": found.units,
    }


def main() -> None:
    """Makes the log, and measures each set of metrics in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--millions", type=int, default=30, help="rows of both tables")
    parser.add_argument("--seed", type=int, default=16)
    parser.add_argument("--only", choices=SETS)
    parser.add_argument("--parts", default="", help="day, exposure: with commas between")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    parts = [part for part in given.parts.split(",") if part]
    if given.here:
        print(json.dumps(measure(given.folder, given.only, parts)))
        return
    if not os.path.exists(os.path.join(given.folder, "events.parquet")):
        make(given.folder, given.millions, given.seed)
    for which in [given.only] if given.only else SETS:
        command = [sys.executable, __file__, given.folder, "--only", which, "--parts", given.parts, "--here"]
        done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"{which:<42} {done['seconds']:6.1f} s  {done['cpu']:6.1f} s CPU  {done['gigabytes']:5.2f} GB  "
            f"{done['units']:,.0f} units",
            flush=True,
        )


if __name__ == "__main__":
    main()
