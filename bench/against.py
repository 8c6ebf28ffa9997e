"""Times this commit beside an earlier one, by turns, and prints Markdown: `make bench-against BASE=main~5`

Both are installed into environments of their own, so that whole commands can be timed as a user would run them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from run import BENCH, DATA, MEASURES
from timing import Command, as_time, medians, take_turns

ROOT = BENCH.parent
ENOUGH = 1.1  # times as long is still the same, on a machine that does other things as well


def install(revision: str, place: Path) -> Path:
    """A commit installed into an environment of its own; the folder of its programs."""
    commit = subprocess.run(
        ["git", "rev-parse", f"{revision}^{{commit}}"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.strip()
    programs, source = place / commit / "venv" / "bin", place / commit / "source"
    if not (place / commit / "installed").exists():
        source.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(source)], input=archive, check=True)
        subprocess.run([sys.executable, "-m", "venv", str(programs.parent)], check=True)
        subprocess.run([str(programs / "pip"), "install", "--quiet", f"{source}[frames]"], check=True)
        (place / commit / "installed").touch()
    return programs


def workloads() -> dict[str, tuple[list[str], int]]:
    """What is timed: the words after `cranfield`, and how often."""
    measures = [part for name in MEASURES for part in ("-m", name)]

    def evaluated(shape: str) -> list[str]:
        return ["evaluate", str(DATA / shape / "qrels"), str(DATA / shape / "001.run"), *measures]

    ten = [str(path) for path in sorted((DATA / "many").glob("*.run"))[:10]]
    return {
        "start-up, `--help`": (["--help"], 25),
        "54 × 1,000, `evaluate`": (evaluated("small"), 25),
        "250 × 1,000, `evaluate`": (evaluated("deep"), 15),
        "6,980 × 1,000, `evaluate`": (evaluated("marco"), 15),
        "6,980 × 1,000, `trec_eval`": (["trec_eval", *evaluated("marco")[1:3]], 9),
        "10 runs of 50 × 1,000, `compare`": (["compare", str(DATA / "many" / "qrels"), *ten], 9),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("base", help="the earlier commit")
    parser.add_argument("--commit", default="HEAD", help="the later one")
    options = parser.parse_args()
    subprocess.run([sys.executable, str(BENCH / "make_data.py"), "small", "deep", "marco", "many"], check=True)
    before, after = (install(revision, ROOT / "build" / "against") for revision in (options.base, options.commit))
    print(f"| workload | {options.base} | {options.commit} | ratio | within 10 % |\n|---|--:|--:|--:|---|")
    for name, (words, repetitions) in workloads().items():

        def command(programs: Path, words: list[str] = words) -> Command:
            return [str(programs / "cranfield"), *words]

        later, earlier = medians(*take_turns(command(after), command(before), repetitions))
        met = "yes" if later <= ENOUGH * earlier else "no"
        print(f"| {name} | {as_time(earlier)} | {as_time(later)} | {later / earlier:.2f} | {met} |", flush=True)


if __name__ == "__main__":
    main()
