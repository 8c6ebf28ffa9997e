"""Reads one run in every form it may come in, whole commands by turns, and prints Markdown: `python bench/formats.py`

`--rows 70000000` takes another number of rows than the 6,980,000 of the shape `marco`, `--forms 'gzip|Parquet'` some
forms beside plain text, `--keep` writes the section of bench/results.md. All forms must give the same numbers. Data is
written into bench/data/formats-ROWS once; gzip and zstd make the packed forms, and are timed as well. trec_eval is
timed where it is on the path or named by TREC_EVAL; it prints text, which is not compared. Bars are for millions of
rows.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

from timing import TOLERANCE, Command, Measured, Report, as_memory, as_time, keep_results, run

BENCH = Path(__file__).parent
DATA = BENCH / "data"
MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")
TREC_NAMES = ("map", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000")
SIZES = {"rows-1e6": 1_000_000, "marco": 6_980_000, "rows-7e7": 70_000_000}
PARTS = 24  # members of gzip, frames of zstd


def bgzf(text: bytes) -> Iterator[bytes]:
    """Blocks as bgzip writes them."""
    for at in range(0, len(text) + 1, 65_280):
        part = text[at : at + 65_280]
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        data = packer.compress(part) + packer.flush()
        head = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x00\xff\x06\x00BC\x02\x00" + struct.pack("<H", len(data) + 25)
        yield head + data + struct.pack("<II", zlib.crc32(part), len(part))


def packed_by(program: list[str], text: bytes) -> Iterator[bytes]:
    """Parts that were packed one by one and stand one after another."""
    size = len(text) // PARTS + 1
    for at in range(0, len(text), size):
        yield subprocess.run(program, input=text[at : at + size], check=True, capture_output=True).stdout


def shell(command: str) -> Callable[[Path, Path], None]:
    """Makes a file of another by a command of the shell, which knows them as $1 and $2."""

    def make(source: Path, target: Path) -> None:
        subprocess.run(["sh", "-c", command, "sh", str(source), str(target)], check=True)

    return make


def parts(pack: Callable[[bytes], Iterator[bytes]]) -> Callable[[Path, Path], None]:
    def make(source: Path, target: Path) -> None:
        with target.open("wb") as file:
            file.writelines(pack(source.read_bytes()))

    return make


def line_by_line(head: str, line: str) -> Callable[[Path, Path], None]:
    """Other lines of the fields of TREC text, which are numbered from 0."""

    def make(source: Path, target: Path) -> None:
        with source.open() as rows, target.open("w") as file:
            file.write(head)
            file.writelines(line.format(*row.split()) for row in rows)

    return make


def as_parquet(source: Path, target: Path) -> None:
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    names = ["topic", "Q0", "document", "rank", "score", "tag"]
    kinds = {"topic": pyarrow.string(), "document": pyarrow.string()}
    wanted = [name for name in names if name != "Q0"]
    rows = pyarrow.csv.open_csv(
        source,
        read_options=pyarrow.csv.ReadOptions(column_names=names, block_size=1 << 26),
        parse_options=pyarrow.csv.ParseOptions(delimiter=" "),
        convert_options=pyarrow.csv.ConvertOptions(column_types=kinds, include_columns=wanted),
    )
    with pyarrow.parquet.ParquetWriter(target, rows.schema) as file:
        for batch in rows:
            file.write_batch(batch)


JSON_LINE = '{{"topic": "{0}", "document": "{2}", "rank": {3}, "score": {4}, "tag": "{5}"}}\n'
CSV_HEAD = "topic,document,rank,score,tag\n"
FORMS: dict[str, Callable[[Path, Path], None]] = {
    "crlf.run": shell('sed \'s/$/\\r/\' "$1" > "$2"'),
    "shuffled.run": shell('shuf --random-source="$1" "$1" > "$2"'),
    "one.run.gz": shell('gzip -c "$1" > "$2"'),
    "members.run.gz": parts(lambda text: packed_by(["gzip", "-c"], text)),
    "bgzf.run.gz": parts(bgzf),
    "one.run.zst": shell('zstd -qc "$1" > "$2"'),
    "frames.run.zst": parts(lambda text: packed_by(["zstd", "-c"], text)),
    "lines.jsonl": line_by_line("", JSON_LINE),
    "plain.csv": line_by_line(CSV_HEAD, "{0},{2},{3},{4},{5}\n"),
    "quoted.csv": line_by_line(CSV_HEAD, '"{0}","{2}",{3},{4},"{5}"\n'),
    "columns.parquet": as_parquet,
}
MADE_OF = {"lines.jsonl.gz": "lines.jsonl", "shuffled.parquet": "shuffled.run"}  # forms of forms


def write(folder: Path, rows: int, names: list[str]) -> None:
    """The first rows of a run, their judgements, and the forms named; what is there is left alone."""
    shape = next(shape for shape, size in SIZES.items() if rows <= size)
    subprocess.run([sys.executable, str(BENCH / "make_data.py"), shape], check=True)
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, Callable[[Path], None]] = {
        "plain.run": lambda target: shell(f'head -n {rows} "$1" > "$2"')(DATA / shape / "001.run", target),
        "qrels": lambda target: shell(f'head -n {rows // 1000} "$1" > "$2"')(DATA / shape / "qrels", target),
    }
    made |= {name: partial(make, folder / "plain.run") for name, make in FORMS.items()}
    made["lines.jsonl.gz"] = partial(shell('gzip -c "$1" > "$2"'), folder / MADE_OF["lines.jsonl.gz"])
    made["shuffled.parquet"] = partial(as_parquet, folder / MADE_OF["shuffled.parquet"])
    for name in dict.fromkeys(["plain.run", "qrels", *(MADE_OF[name] for name in names if name in MADE_OF), *names]):
        if not (folder / name).exists():
            unfinished = folder / f"{name}.unfinished"
            made[name](unfinished)
            unfinished.rename(folder / name)


class Contender(NamedTuple):
    """A form of the run, read by a command."""

    what: str
    file: str
    command: Command


def contenders(folder: Path) -> list[Contender]:
    program = str(Path(sys.executable).parent / "cranfield")
    measures = [part for name in MEASURES for part in ("-m", name)]

    def evaluated(what: str, file: str) -> Contender:
        command = [program, "evaluate", str(folder / "qrels"), str(folder / file), *measures, "-f", "json"]
        return Contender(what, file, command)

    def alone(program: str, file: str) -> Contender:
        """What unpacks a file and throws the text away."""
        command = ["sh", "-c", f'exec {program} "$1" > /dev/null', "sh", str(folder / file)]
        return Contender(f"`{program}` alone", file, command)

    def peer(script: str, what: str, file: str) -> Contender:
        names = str(BENCH / "peers" / f"{script}.py"), str(folder / "qrels"), str(folder / file)
        return Contender(what, file, [sys.executable, *names])

    trec_eval = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
    wanted = [part for name in TREC_NAMES for part in ("-m", name)]
    files = [str(folder / "qrels"), str(folder / "plain.run")]

    return [
        evaluated("plain TREC text", "plain.run"),
        evaluated("CR LF", "crlf.run"),
        evaluated("shuffled", "shuffled.run"),
        evaluated("gzip", "one.run.gz"),
        evaluated(f"gzip, {PARTS} members", "members.run.gz"),
        evaluated("gzip, BGZF", "bgzf.run.gz"),
        alone("gzip -dc", "one.run.gz"),
        evaluated("zstd", "one.run.zst"),
        evaluated(f"zstd, {PARTS} frames", "frames.run.zst"),
        alone("zstd -qdc", "one.run.zst"),
        evaluated("Parquet", "columns.parquet"),
        evaluated("Parquet, shuffled", "shuffled.parquet"),
        evaluated("JSON lines", "lines.jsonl"),
        evaluated("JSON lines, gzip", "lines.jsonl.gz"),
        evaluated("CSV", "plain.csv"),
        evaluated("CSV, quoted", "quoted.csv"),
        *([Contender("trec_eval", "plain.run", [trec_eval, *wanted, *files])] if trec_eval else []),
        peer("with_pytrec_eval", "pytrec_eval", "plain.run"),
        peer("join_with_duckdb", "DuckDB, TREC text: read and join", "plain.run"),
        peer("join_with_duckdb", "DuckDB, CSV", "plain.csv"),
        peer("join_with_duckdb", "DuckDB, JSON lines", "lines.jsonl"),
        peer("join_with_duckdb", "DuckDB, Parquet", "columns.parquet"),
        peer("join_with_polars", "Polars, CSV", "plain.csv"),
        peer("join_with_polars", "Polars, JSON lines", "lines.jsonl"),
        peer("join_with_polars", "Polars, Parquet", "columns.parquet"),
    ]


def check(measured: dict[str, list[Measured]]) -> None:
    """Ends everything where the forms do not give the same numbers."""
    means = {what: times[0].means for what, times in measured.items() if times[0].means}
    first = next(iter(means.values()))
    for what, others in means.items():
        if first.keys() != others.keys() or any(abs(first[name] - others[name]) > TOLERANCE for name in first):
            sys.exit(f"{what}: other numbers, {others}, than {first}")


def bars(measured: dict[str, list[Measured]]) -> Iterator[str]:
    """What the forms must reach beside each other, of those that were measured."""
    for one, other, bar in (("CR LF", "plain TREC text", 1.1), ("gzip", "`gzip -dc` alone", 0.65)):
        if one in measured and other in measured:
            ratio = median(m.time for m in measured[one]) / median(m.time for m in measured[other])
            yield f"{one}: {ratio:.2f} of {other} (bar: {bar}, {'met' if ratio <= bar else '**not met**'})."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=6_980_000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument(
        "--forms", metavar="PATTERN", default="", help="only those whose text matches, beside plain text"
    )
    parser.add_argument("--keep", action="store_true", help="write the section of this size in bench/results.md")
    parser.add_argument("--write", action="store_true", help="write the data and measure nothing")
    options = parser.parse_args()
    folder = DATA / f"formats-{options.rows}"
    first, *others = contenders(folder)
    chosen = [first, *(one for one in others if re.search(options.forms, one.what, re.IGNORECASE))]
    if options.write:
        write(folder, options.rows, [one.file for one in chosen])
        return
    # in a process of its own: the memory of this one counts towards that of those it starts
    subprocess.run([sys.executable, __file__, *sys.argv[1:], "--write"], check=True)
    load = os.getloadavg()[0]
    measured: dict[str, list[Measured]] = {}
    for _ in range(options.repetitions):
        for contender in chosen:
            measured.setdefault(contender.what, []).append(run(contender.command))
    check(measured)
    plain = measured[first.what]
    base = [median(one.time for one in plain), median(one.cpu for one in plain)]
    report = Report()
    given = "".join(f" {shlex.quote(word)}" for word in sys.argv[1:])
    report.say(f"## One run of {options.rows:,} rows in every form", "")
    report.say(f"`python bench/formats.py{given}`: whole commands, medians of {options.repetitions} turns;")
    report.say(
        f"{len(os.sched_getaffinity(0))} cores, whose load before it was {load:.1f}.",
        "DuckDB and Polars only read and join.",
        "",
    )
    report.say("| form | time | CPU | peak memory | time, of plain | CPU, of plain |", "|---|--:|--:|--:|--:|--:|")
    for what, times in measured.items():
        time, cpu = median(one.time for one in times), median(one.cpu for one in times)
        memory = median(one.memory for one in times)
        cells = (as_time(time), as_time(cpu), as_memory(memory), f"{time / base[0]:.2f}", f"{cpu / base[1]:.2f}")
        report.say(f"| {what} | {' | '.join(cells)} |")
    report.say("", *bars(measured))
    if options.keep:
        keep_results(BENCH / "results.md", report.lines)


if __name__ == "__main__":
    main()
