"""Reads one run in every form it may come in, whole commands by turns, and prints Markdown: `python bench/formats.py`

`--rows 700000` takes fewer rows than the 6,980,000 of the shape `marco`. All forms must give the same numbers. The data
is written into bench/data/formats-ROWS once; the programs gzip and zstd make the packed forms, and are timed as well.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from timing import TOLERANCE, Command, Measured, as_memory, as_time, run

BENCH = Path(__file__).parent
DATA = BENCH / "data"
MEASURES = ("AP", "nDCG@10", "RR", "P@10", "R@1000")
PARTS = 24  # members of gzip, frames of zstd


def lines_of(source: Path, rows: int) -> list[bytes]:
    with source.open("rb") as file:
        return [line for _, line in zip(range(rows), file, strict=False)]


def bgzf(text: bytes) -> Iterator[bytes]:
    """Blocks as bgzip writes them."""
    for at in range(0, len(text) + 1, 65_280):
        part = text[at : at + 65_280]
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)
        data = packer.compress(part) + packer.flush()
        head = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x00\xff\x06\x00BC\x02\x00" + struct.pack("<H", len(data) + 25)
        yield head + data + struct.pack("<II", zlib.crc32(part), len(part))


def packed_by(program: list[str], text: bytes, parts: int = 1) -> bytes:
    size = len(text) // parts + 1
    return b"".join(
        subprocess.run(program, input=text[at : at + size], check=True, capture_output=True).stdout
        for at in range(0, len(text), size)
    )


def as_json_lines(rows: list[list[str]]) -> bytes:
    keys = ("topic", "Q0", "document", "rank", "score", "tag")
    kinds: tuple[Callable[[str], object], ...] = (str, str, str, int, float, str)
    return "".join(
        json.dumps({key: kind(field) for key, kind, field in zip(keys, kinds, row, strict=True) if key != "Q0"}) + "\n"
        for row in rows
    ).encode()


def as_csv(rows: list[list[str]], quote: str) -> bytes:
    lines = (
        f"{quote}{row[0]}{quote},{quote}{row[2]}{quote},{row[3]},{row[4]},{quote}{row[5]}{quote}\n" for row in rows
    )
    return ("topic,document,rank,score,tag\n" + "".join(lines)).encode()


def as_parquet(rows: list[list[str]], path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    topics, _, documents, ranks, scores, tags = zip(*rows, strict=True)
    columns = {
        "topic": topics,
        "document": documents,
        "rank": list(map(int, ranks)),
        "score": list(map(float, scores)),
        "tag": tags,
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), path)


def write(folder: Path, rows: int) -> None:
    """Every form of the first rows of a run, moved into place when all are there."""
    shape = "marco" if rows > 1_000_000 else "rows-1e6"
    subprocess.run([sys.executable, str(BENCH / "make_data.py"), shape], check=True)
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    lines = lines_of(DATA / shape / "001.run", rows)
    topics = {line.split(b" ", 1)[0] for line in lines}
    judged = (DATA / shape / "qrels").read_bytes().splitlines(keepends=True)
    (unfinished / "qrels").write_bytes(b"".join(line for line in judged if line.split(b" ", 1)[0] in topics))
    text = b"".join(lines)
    made: dict[str, Callable[[], bytes]] = {
        "plain.run": lambda: text,
        "crlf.run": lambda: text.replace(b"\n", b"\r\n"),
        "one.run.gz": lambda: packed_by(["gzip", "-c"], text),
        "members.run.gz": lambda: packed_by(["gzip", "-c"], text, PARTS),
        "bgzf.run.gz": lambda: b"".join(bgzf(text)),
        "one.run.zst": lambda: packed_by(["zstd", "-c"], text),
        "frames.run.zst": lambda: packed_by(["zstd", "-c"], text, PARTS),
        "shuffled.run": lambda: b"".join(random.Random(1).sample(lines, len(lines))),
    }
    for name, make in made.items():
        (unfinished / name).write_bytes(make())
    split = [line.decode().split() for line in lines]
    (unfinished / "lines.jsonl").write_bytes(as_json_lines(split))
    (unfinished / "lines.jsonl.gz").write_bytes(gzip.compress((unfinished / "lines.jsonl").read_bytes(), 6))
    (unfinished / "plain.csv").write_bytes(as_csv(split, ""))
    (unfinished / "quoted.csv").write_bytes(as_csv(split, '"'))
    as_parquet(split, unfinished / "columns.parquet")
    unfinished.rename(folder)


class Contender(NamedTuple):
    """A form of the run, read by a command."""

    what: str
    command: Command


def unpacking(program: str, path: Path) -> Command:
    """What unpacks a file and throws the text away."""
    return ["sh", "-c", f'exec {program} "$1" > /dev/null', "sh", str(path)]


def contenders(folder: Path) -> list[Contender]:
    program = str(Path(sys.executable).parent / "cranfield")
    measures = [part for name in MEASURES for part in ("-m", name)]

    def evaluated(what: str, file: str) -> Contender:
        command = [program, "evaluate", str(folder / "qrels"), str(folder / file), *measures, "-f", "json"]
        return Contender(what, command)

    def peer(library: str, what: str, file: str) -> Contender:
        script = str(BENCH / "peers" / f"join_with_{library}.py")
        return Contender(what, [sys.executable, script, str(folder / "qrels"), str(folder / file)])

    return [
        evaluated("plain TREC text", "plain.run"),
        evaluated("CR LF", "crlf.run"),
        evaluated("shuffled", "shuffled.run"),
        evaluated("gzip", "one.run.gz"),
        evaluated(f"gzip, {PARTS} members", "members.run.gz"),
        evaluated("gzip, BGZF", "bgzf.run.gz"),
        Contender("`gzip -dc` alone", unpacking("gzip -dc", folder / "one.run.gz")),
        evaluated("zstd", "one.run.zst"),
        evaluated(f"zstd, {PARTS} frames", "frames.run.zst"),
        Contender("`zstd -dc` alone", unpacking("zstd -qdc", folder / "one.run.zst")),
        evaluated("Parquet", "columns.parquet"),
        evaluated("JSON lines", "lines.jsonl"),
        evaluated("JSON lines, gzip", "lines.jsonl.gz"),
        evaluated("CSV", "plain.csv"),
        evaluated("CSV, quoted", "quoted.csv"),
        peer("duckdb", "DuckDB, TREC text: read and join", "plain.run"),
        peer("duckdb", "DuckDB, CSV", "plain.csv"),
        peer("duckdb", "DuckDB, JSON lines", "lines.jsonl"),
        peer("duckdb", "DuckDB, Parquet", "columns.parquet"),
        peer("polars", "Polars, CSV", "plain.csv"),
        peer("polars", "Polars, JSON lines", "lines.jsonl"),
        peer("polars", "Polars, Parquet", "columns.parquet"),
    ]


def check(measured: dict[str, list[Measured]]) -> None:
    """Ends everything where the forms do not give the same numbers."""
    means = {what: times[0].means for what, times in measured.items() if times[0].means}
    first = next(iter(means.values()))
    for what, others in means.items():
        if first.keys() != others.keys() or any(abs(first[name] - others[name]) > TOLERANCE for name in first):
            sys.exit(f"{what}: other numbers, {others}, than {first}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=int, default=6_980_000)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write the data and measure nothing")
    options = parser.parse_args()
    folder = DATA / f"formats-{options.rows}"
    if options.write:
        write(folder, options.rows)
        return
    if not folder.exists():  # in a process of its own: the memory of this one counts towards that of those it starts
        subprocess.run([sys.executable, __file__, "--write", "--rows", str(options.rows)], check=True)
    measured: dict[str, list[Measured]] = {}
    for _ in range(options.repetitions):
        for contender in contenders(folder):
            measured.setdefault(contender.what, []).append(run(contender.command))
    check(measured)
    plain, *_ = measured.values()
    base = [median(one.time for one in plain), median(one.cpu for one in plain)]
    heads = (f"{options.rows:,} rows", "time", "CPU", "peak memory", "time, of plain", "CPU, of plain")
    print(f"| {' | '.join(heads)} |\n|---|--:|--:|--:|--:|--:|")
    for what, times in measured.items():
        time, cpu = median(one.time for one in times), median(one.cpu for one in times)
        memory = median(one.memory for one in times)
        cells = (as_time(time), as_time(cpu), as_memory(memory), f"{time / base[0]:.2f}", f"{cpu / base[1]:.2f}")
        print(f"| {what} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
