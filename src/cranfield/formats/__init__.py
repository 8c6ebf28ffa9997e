"""From files, frames, dicts and arrays to tables. One module a format; `read_run` and `read_qrels` choose."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, cast

from cranfield.errors import ArgumentError, DataError, UsageError
from cranfield.formats.datasets import is_dataset, name_of, records
from cranfield.formats.format import (
    BYTE_ORDER_MARK,
    EXPECTED,
    FORMATS,
    Format,
    Judging,
    Kind,
    Parsed,
    Request,
    readable,
)
from cranfield.formats.given import ON_SPARK, is_file, is_frame, is_of_spark, is_open, to_be_collected
from cranfield.formats.kinds import read_kind
from cranfield.formats.labels import NO_LABELS
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import Buffer, no_rows, nothing_in_it, open_flow, open_source, read_toml
from cranfield.render.escaping import visible
from cranfield.tables import Origin, Qrels, Run, describe_type, thread_count
from cranfield.travel import columns_of

if TYPE_CHECKING:
    from cranfield.formats.given import Arrays, Given, Path, Readable, Records


def read_run(
    source: Given, *, name: str | None = None, reading: Reading = DEFAULT, judging: Judging | None = None
) -> Run:
    """Reads what a system retrieved, from a file or from memory.

    Files are TREC text, CSV or TSV with a header, JSON lines, JSON or Parquet, plain or compressed with gzip,
    bzip2, xz or zstd; `reading` says which, and what columns are called, where the content does not. In memory:
    {topic: {document: score}}, {topic: [document, …]} with the best first, any data frame, (topics, ids, scores)
    arrays, or records such as ir_measures' ScoredDoc. "irds:ID" takes the scored documents of ir_datasets, where that
    is installed. `judging` is for runs that are judged at once and then let go: their rows are not kept.

    >>> import io
    >>> read_run(io.StringIO("q1 Q0 d1 1 9.5 demo\\nq1 Q0 d2 2 8.5 demo\\n"), name="demo")
    <Run 'demo': 2 rows, 1 topic>
    >>> read_run({"q1": ["d7", "d2"]}).to_dict()
    {'q1': {'d7': 2.0, 'd2': 1.0}}
    """
    if isinstance(source, Run):
        return source if name is None else source.renamed(name)
    if is_dataset(source):
        name, source, reading = name or name_of(source), records(source, "scoreddocs"), _of_records(reading)
    origin, parsed = _read(source, "score", name, reading, judging)
    return Run(parsed.table, origin)


def read_qrels(source: Given, *, name: str | None = None, reading: Reading = DEFAULT) -> Qrels:
    """Reads relevance judgements: everything `read_run` takes, with grades instead of scores, and "irds:ID".

    `reading.judgements` is for judgements that say more than a grade: see `cranfield.formats.kinds`.

    >>> read_qrels({"q1": {"d1": 1, "d2": 0}})
    <Qrels 'qrels': 2 rows, 1 topic>
    """
    if isinstance(source, Qrels):
        return source if name is None else source.renamed(name)
    if is_dataset(source):
        name, source, reading = name or name_of(source), records(source, "qrels"), _of_records(reading)
    _refuse_collection(source)
    if reading.judgements not in (None, "plain"):
        return read_kind(source, name, reading)
    origin, parsed = _read(source, "grade", name, reading, None)
    luggage = parsed.luggage
    if luggage is None:
        return Qrels(parsed.table, origin)
    further = columns_of(source, luggage.columns, parsed.table) if luggage.columns else {}
    return Qrels(parsed.table, origin, further, luggage.groups)


def _refuse_collection(source: Given) -> None:
    """Says so where a collection's file stands in place of judgements, and which judgements it names."""
    if (
        not isinstance(source, str | os.PathLike)
        or not os.fspath(source).endswith(".toml")
        or not os.path.isfile(source)
    ):
        return
    path = os.fspath(source)
    try:
        listed = read_toml(path)
    except DataError:  # something else of that name
        return
    named = listed.get("qrels")
    remedy = "It names none: give the file of judgements itself."
    if isinstance(named, str):
        judgements = named if is_dataset(named) else os.path.join(os.path.dirname(path), named)
        table = f", with the numbers of its grades: --labels {path}" if "labels" in listed else ""
        remedy = f"Its judgements are {judgements}: name that in its place{table}."
    raise DataError("is a collection's file, where judgements are needed", source=path, remedy=remedy)


def _of_records(reading: Reading) -> Reading:
    """Records of ir_datasets have neither format nor columns of their own."""
    return Reading(judgements=reading.judgements, labels=reading.labels, threads=reading.threads)


def _read(
    source: Given, kind: Kind, name: str | None, reading: Reading, judging: Judging | None
) -> tuple[Origin, Parsed]:
    request = request_for(kind, reading, judging)
    path = digested = None
    form = "memory"
    flowed = _flowed(source, reading, request) if is_file(source) and judging is not None else None
    if flowed is not None:
        path = label = os.fsdecode(cast("Path", source))
        parsed, form, digested = flowed
    elif is_file(source):
        opened = open_source(source, reading.digest, threads=request.threads)
        path, label = opened.path, opened.label
        if opened.data[:4] in (b"", BYTE_ORDER_MARK):
            raise nothing_in_it(label, once=path == "-" or is_open(source))
        format = chosen_format(reading.format, opened.data, label, request)
        parsed, form = _parsed(format, opened.data, label, request, reading), format.name
        digested = opened.digest()
    else:
        label = name or f"the {request.noun}"
        parsed = _read_memory(source, label, request)
    if parsed.table.row_count == 0:
        raise no_rows(label, None if form == "parquet" else path)
    if parsed.luggage is not None:
        known = parsed.luggage.origin
        return known._replace(name=name or known.name), parsed
    default = request.noun if path is None else stem(label)
    origin = Origin(name=name or default, path=path, digest=digested, tag=parsed.tag, notes=parsed.notes, format=form)
    return origin, parsed


def _parsed(format: Format, data: Buffer, label: str, request: Request, reading: Reading) -> Parsed:
    """What a format reads; where it was named for judgements and runs alike and is only that of the others, says so."""
    try:
        return format.read(data, label, request)
    except DataError as fault:
        alone = chosen_format(None, data, label, request) if reading.format is not None else format
        if alone is not format and _is_read(alone, data, label, request):
            raise _other_format(fault, reading.format or "", alone.name) from None
        raise


def _is_read(format: Format, data: Buffer, label: str, request: Request) -> bool:
    """Whether a format reads this."""
    try:
        format.read(data, label, request)
    except (DataError, ArgumentError):
        return False
    return True


def _other_format(fault: DataError, named: str, read: str) -> DataError:
    """The error for a file of another format than the one that was named for all."""
    why = f"holds for judgements and runs alike, and this is {read}: without it, each is recognised by its content."
    return type(fault)(
        fault.message,
        source=fault.source,
        line=fault.line,
        text=fault.text,
        remedy=f"reading=Reading(format={named!r}) {why}",
        option=f"--format {named} {why}",
    )


def _flowed(source: Path | Readable, reading: Reading, request: Request) -> tuple[Parsed, str, str | None] | None:
    """A compressed run judged while it is unpacked, its format and its digest; nothing where it must be read whole."""
    flow = open_flow(source, reading.digest, request.threads)
    if flow is None or flow.head[:4] in (b"", BYTE_ORDER_MARK):
        return None
    format = chosen_format(reading.format, flow.head, flow.label, request)
    try:
        parsed = format.flow(flow, request) if format.flow is not None else None
    except DataError:  # it is told where the whole is read
        parsed = None
    return None if parsed is None else (parsed, format.name, flow.digest())


def request_for(kind: Kind, reading: Reading, judging: Judging | None = None) -> Request:
    """What is wanted of a reader."""
    progress = reading.progress
    if progress is None:
        from cranfield._core import Progress

        progress = Progress()
    threads = thread_count(reading.threads)
    return Request(
        kind=kind,
        threads=threads,
        progress=progress,
        columns=reading.told,
        judging=judging,
        labels=reading.numbers if kind == "grade" else NO_LABELS,
    )


def chosen_format(name: str | None, data: Buffer, label: str, request: Request) -> Format:
    """The format of that name, or the one that the content, the suffix of the label, or nothing else tells."""
    if name is not None:
        chosen = FORMATS.look_up(name)
        if chosen is None:
            known = [format.name for format in readable()]
            raise UsageError(f"unknown format '{name}'; known: {', '.join(known)}{FORMATS.suggestion(name, known)}")
        if chosen.serves(request.kind):
            return chosen
    head = bytes(data[:HEAD])
    if not LINE_END.search(head):  # at least the first line
        end = LINE_END.search(data, HEAD)
        head = bytes(data[: end.start() if end else None])
    head = head.removeprefix(BYTE_ORDER_MARK)
    formats, suffix = readable(), suffix_of(label)
    recognised = (format for format in formats if format.serves(request.kind) and format.recognise(head, request))
    by_suffix = (format for format in formats if suffix in format.suffixes)
    return next(recognised, None) or next(by_suffix, None) or FORMATS["trec"]


def _read_memory(source: Given, label: str, request: Request) -> Parsed:
    from cranfield.formats import frames, memory

    if isinstance(source, Mapping):
        return memory.read_mapping(source, label, request)
    if is_frame(source) and not isinstance(source, Run | Qrels):  # one for the other is a mistake
        remedy = SERIES if hasattr(source, "to_frame") else ON_SPARK if is_of_spark(source) else None
        if remedy is not None:
            raise ArgumentError(f"{label}: expected {EXPECTED}, not {describe_type(source)}", remedy)
        return frames.noted(frames.read_frame(source, label, request))
    if isinstance(source, tuple) and len(source) == 3 and not hasattr(source[0], "_fields"):
        return memory.read_arrays(cast("Arrays", source), label, request)
    if isinstance(source, Iterable) and not isinstance(source, bytes | bytearray | memoryview):
        return memory.read_records(cast("Records", source), label, request)
    raise ArgumentError(f"{label}: expected {EXPECTED}, not {describe_type(source)}", *to_be_collected(source))


SERIES = (
    "Give the frame with the columns topic, document and score; .reset_index() makes columns of an index in pandas."
)
HEAD = 1 << 16  # bytes by which a format is told
LINE_END = re.compile(rb"[\r\n]")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def without_compression(path: str) -> str:
    """A file's name as it is called unpacked.

    >>> without_compression("runs/a.run.gz")
    'runs/a.run'
    """
    base, suffix = os.path.splitext(path)
    return base if suffix.lower() in COMPRESSED else path


def stem(path: str) -> str:
    """A file's name without folders, compression and one suffix, as it is shown; its path says how it is written.

    >>> stem("runs/bm25.k1=0.9.run.gz"), stem("a\\nb.run")
    ('bm25.k1=0.9', 'a\\\\nb')
    """
    return visible(os.path.splitext(os.path.basename(without_compression(path)))[0] or path)


def distinct_names(named: list[tuple[str, str | None]]) -> list[str]:
    """Names that tell runs apart: files of one name get their folders, anything else a number.

    >>> distinct_names([("bm25", "a/bm25.run"), ("bm25", "b/bm25.run"), ("x", None)])
    ['a/bm25.run', 'b/bm25.run', 'x']
    """
    names = [name for name, _ in named]
    unique = (
        [name if names.count(name) == 1 else visible(path or name) for name, path in named]
        if len(set(names)) < len(names)
        else names
    )
    seen: dict[str, int] = {}
    out = []
    for name in unique:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return out


def suffix_of(path: str) -> str:
    """What a file's name ends in, in lower case, apart from compression.

    >>> suffix_of("runs/BM25.JSONL.gz")
    '.jsonl'
    """
    return os.path.splitext(without_compression(path))[1].lower()
