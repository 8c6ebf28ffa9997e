"""How long a million impressions of simulated users take, without and with their log on disk.

`python bench/online_users.py` simulates users of the examples' runs in both designs and prints seconds of each.
"""

from __future__ import annotations

import argparse
import tempfile
import time

from cranfield import read_qrels, read_run
from cranfield.online.users import JudgedRankings, Population, UserModel, UserSimulation, write_simulated
from cranfield.online.users.simulating import Design


def main() -> None:
    """Simulates, and prints what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=222_000, help="4.5 impressions each, about")
    users = parser.parse_args().users
    names = ("bm25", "dense")
    runs = [read_run(f"examples/{name}.run") for name in names]
    rankings = JudgedRankings.of(read_qrels("examples/qrels.txt"), runs, names, depth=10)
    print("| design | method | impressions | simulated, s | with the log, s |\n|---|---|---|---|---|")
    designs: tuple[tuple[Design, str], ...] = (("ab", ""), ("interleaving", "team-draft"), ("interleaving", "balanced"))
    for design, method in designs:
        took = []
        for written in (False, True):
            simulation = UserSimulation(
                rankings,
                UserModel(),
                Population(users=users),
                design,
                method or "team-draft",
            )
            start = time.perf_counter()
            if written:
                with tempfile.TemporaryDirectory() as folder:
                    write_simulated(simulation, folder)
            else:
                count = sum(len(block.shown) for block in simulation.blocks())
            took.append(time.perf_counter() - start)
        print(f"| {design} | {method or '–'} | {count:,} | {took[0]:.1f} | {took[1]:.1f} |")


if __name__ == "__main__":
    main()
