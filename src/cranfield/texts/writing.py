"""Writes runs, judgements, topics and documents: as a whole or not at all, and never with something silently lost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cranfield.errors import DataError, UsageError, shorten
from cranfield.formats import read_qrels, read_run, suffix_of, touched
from cranfield.formats.format import FORMATS as TABLE_FORMATS
from cranfield.formats.format import Format, Writer, is_comment
from cranfield.formats.labels import LEVELS
from cranfield.formats.output import Where, save
from cranfield.formats.writers import by_suffix, writable
from cranfield.tables import Qrels, Run
from cranfield.texts import PARQUET, format_named, read_documents, read_topics
from cranfield.texts.collection import TOML, Collection, read_collection
from cranfield.texts.facts import as_toml
from cranfield.texts.forms import FORMATS, Kind, Losses, TextFormat, Texts, not_in_text
from cranfield.texts.tabular import parquet_bytes

if TYPE_CHECKING:
    from cranfield.formats.given import Given
    from cranfield.texts.collection import GivenCollection
    from cranfield.texts.forms import GivenTexts


def write_run(
    run: Given, where: Where, *, format: str | None = None, tag: str | None = None, lossy: bool = False
) -> tuple[str, ...]:
    """Writes a run to a file; `format` or the suffix says how, and .gz, .bz2, .xz or .zst compress.

    Ranks are those that count, scores are written so that reading gives the same numbers. What the format cannot hold
    is an error, unless `lossy` allows it; what was lost, in sentences, is what this returns. '-' is standard output.

    >>> write_run({"q1": {"d1": 0.5, "d2": 2}}, "-", format="trec", tag="demo")
    q1 Q0 d2 1 2 demo
    q1 Q0 d1 2 0.5 demo
    ()
    """
    table = read_run(run)
    chosen, writer = _table_format(format, where, "run")
    losses, notes = Losses(), []
    if tag is None:
        tag = table.origin.tag or "_".join(table.name.split())
    if not writer.has_scores and not _scores_are_ranks(table):
        for topic in table.topics:
            losses.add("scores are dropped, their order is kept", topic)
    if not writer.has_tag and table.origin.tag:
        notes.append(f"the tag '{shorten(tag, 60)}' is not written: {chosen.name} has no place for it")
    if writer.has_tag and writer.unfit.search(tag):
        losses.add("blanks in the tag become _", tag)
        tag = "_".join(tag.split()) or "run"
    return _write_table(table, chosen.name, writer, where, tag, losses, lossy) + tuple(notes)


def write_qrels(qrels: Given, where: Where, *, format: str | None = None, lossy: bool = False) -> tuple[str, ...]:
    """Writes judgements to a file, as `write_run` does.

    >>> write_qrels({"q1": {"d1": 1, "d2": 0}}, "-", format="csv")
    topic,document,grade
    q1,d1,1
    q1,d2,0
    ()
    """
    table = read_qrels(qrels)
    losses = Losses()
    for column in table.columns:
        for topic in table.topics:
            losses.add(f"what is known besides the grade is dropped: {column}", topic)
    chosen, writer = _table_format(format, where, "qrels")
    if writer.levels:
        _check_levels(table, chosen.name)
    return _write_table(table, chosen.name, writer, where, "", losses, lossy)


def write_documents(
    documents: GivenTexts, where: Where, *, format: str | None = None, lossy: bool = False
) -> tuple[str, ...]:
    """Writes documents to a file, as `write_run` does.

    >>> write_documents({"d1": {"title": "Ducks", "text": "They swim."}}, "-", format="smart")
    .I d1
    .T
    Ducks
    .W
    They swim.
    ()
    """
    return _write_texts(read_documents(documents), "documents", where, format, lossy)


def write_topics(
    topics: GivenTexts, where: Where, *, format: str | None = None, lossy: bool = False
) -> tuple[str, ...]:
    """Writes topics to a file, as `write_run` does.

    >>> write_topics({"7": "ducks"}, "-", format="csv")
    id,title
    7,ducks
    ()
    """
    return _write_texts(read_topics(topics), "topics", where, format, lossy)


def write_collection(
    collection: GivenCollection, folder: str | os.PathLike[str], *, lossy: bool = False
) -> tuple[str, ...]:
    """Writes a collection as a folder in the form of BEIR: corpus.jsonl, queries.jsonl and qrels/test.tsv.

    What its file says of grades and topics is kept in a collection.toml beside them.

    >>> import tempfile
    >>> ducks = read_collection(documents={"d1": "They swim."}, topics={"1": "ducks"}, name="ducks")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_collection(ducks, folder), read_collection(folder, name="ducks")
    ((), <Collection 'ducks': 1 document, 1 topic, 0 judgements>)
    """
    whole: Collection = read_collection(collection)
    root = Path(folder)
    if "\0" in str(root):
        raise DataError("cannot be written: a name has no NUL in it", source=shorten(str(root)))
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv", *([TOML] if whole.facts else [])):
        touched.writes(str(root / name))
    lost: tuple[str, ...] = ()
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=root.parent, prefix=f".{root.name}.") as temporary:
            part = Path(temporary)
            (part / "qrels").mkdir()
            if whole.documents is not None:
                lost += write_documents(whole.documents, part / "corpus.jsonl", format="beir", lossy=lossy)
            if whole.topics is not None:
                lost += write_topics(whole.topics, part / "queries.jsonl", format="beir", lossy=lossy)
            if whole.qrels is not None:
                lost += write_qrels(whole.qrels, part / "qrels" / "test.tsv", format="beir", lossy=lossy)
            if whole.facts:
                save(part / TOML, [_list_of(whole)])
            for path in [path for path in part.rglob("*") if path.is_file()]:
                place = root / path.relative_to(part)
                place.parent.mkdir(parents=True, exist_ok=True)
                os.replace(path, place)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", source=str(folder)) from None
    return lost


def _list_of(collection: Collection) -> str:
    """The collection's file for a folder in BEIR's form: where the parts are, and what is known of them."""
    places = {"documents": "corpus.jsonl", "topics": "queries.jsonl", "qrels": "qrels/test.tsv"}
    there = [part for part in places if getattr(collection, part) is not None]
    return "".join(f'{part} = "{places[part]}"\n' for part in there) + as_toml(collection.facts) + "\n"


def _scores_are_ranks(run: Run) -> bool:
    """Whether a run's scores say no more than its order: a run that was read from ranks has them negated."""
    import numpy as np

    counts = run.table.counts()
    rank = np.arange(1, len(run) + 1) - np.repeat(np.cumsum(counts) - counts, counts)
    return bool(np.array_equal(run.table.values(), -rank))


def _write_table(
    table: Run | Qrels, format: str, writer: Writer, where: Where, tag: str, losses: Losses, lossy: bool
) -> tuple[str, ...]:
    unfit = _unfit_id(table, writer)
    if unfit is not None:
        raise DataError(
            f"the id {shorten(repr(unfit), 80)} cannot be written as {format}",
            source=table.name,
            remedy="Ids are never changed. jsonl and json hold any id; csv and tsv hold blanks.",
        )
    lost = _allowed(losses, format, table.name, lossy)
    save(where, writer.write(table, tag))
    return lost


def _check_levels(qrels: Qrels, format: str) -> None:
    """An error where a grade is none of the levels that a format has: no other would do in its place."""
    for topic, documents in qrels.to_dict().items():
        for document, grade in documents.items():
            if f"L{grade:g}" not in LEVELS:
                where = f"topic '{shorten(topic)}', document '{shorten(document)}'"
                raise DataError(
                    f"{where}: the grade {grade:g} is no level of {format}",
                    source=qrels.name,
                    remedy="Its grades are whole numbers from 0 to 99. jsonl and trec hold any grade.",
                )


def _unfit_id(table: Run | Qrels, writer: Writer) -> str | None:
    """The first id that a format cannot hold."""
    if table.topics[0].startswith("\ufeff") and writer.drops_mark:
        return table.topics[0]
    for topic, documents in table.to_dict().items():
        # Readers would take its lines for comments.
        if writer.has_comments and is_comment(topic.encode("utf-8", "surrogateescape"), fits=True):
            return topic
        if writer.unfit.search("".join((topic, *documents))):
            return next(id for id in (topic, *documents) if writer.unfit.search(id))
    return None


def _write_texts(texts: Texts, kind: Kind, where: Where, format: str | None, lossy: bool) -> tuple[str, ...]:
    losses = Losses()
    chunks: Iterable[str | bytes]
    if format == PARQUET or (format is None and suffix_of(_name_of(where)) == ".parquet"):
        name, chunks = PARQUET, [parquet_bytes(texts, losses)]
    else:
        chosen = format_named(format, kind) if format else _text_format(where, kind)
        name, chunks = chosen.name, chosen.write(texts, losses)
        unfit = next((id for id in texts.ids if not_in_text(id)), None)
        if unfit is not None:
            raise DataError(f"the id {unfit!r} is not UTF-8", source=texts.name, remedy="Rename it first.")

    def allowed() -> Iterator[str | bytes]:
        yield from chunks
        _allowed(losses, name, texts.name, lossy)

    save(where, allowed() if _is_new_file(where) else list(allowed()))
    return tuple(losses.told())


def _is_new_file(where: Where) -> bool:
    """Whether what is written is thrown away if something goes wrong on the way."""
    path = os.fspath(where) if isinstance(where, str | os.PathLike) else "-"
    return path != "-" and (os.path.isfile(path) or not os.path.exists(path))


def _allowed(losses: Losses, format: str, name: str, lossy: bool) -> tuple[str, ...]:
    sentences = losses.told()
    if sentences and not lossy:
        raise DataError(
            f"{format} cannot hold all of it; nothing was written: {'; '.join(sentences)}",
            source=name,
            remedy="Choose another format (jsonl holds everything), or allow it with convert --lossy (lossy=True).",
        )
    return tuple(sentences)


def _table_format(name: str | None, where: Where, kind: str) -> tuple[Format, Writer]:
    """The format of that name, or the one that the suffix of the file calls for, and its writer."""
    if name is None:
        by_suffix(suffix_of(_name_of(where)))  # it may be that of a plug-in
    formats = [format for format in writable() if kind != "run" or format.serves("score")]
    suffixes = {format.name: format.writer.suffixes for format in formats if format.writer}
    chosen = TABLE_FORMATS.look_up(name or _called_for(where, kind, suffixes))
    if chosen is None or chosen.writer is None:
        near = TABLE_FORMATS.suggestion(str(name), suffixes)
        raise UsageError(f"unknown format to write {kind} in '{name}'; known: {', '.join(suffixes)}{near}")
    if kind == "run" and not chosen.serves("score"):
        raise UsageError(f"{chosen.name} is a format of judgements: a run is written in another, as trec")
    return chosen, chosen.writer


def _called_for(where: Where, kind: str, formats: Mapping[str, tuple[str, ...]]) -> str:
    path = _name_of(where)
    beir = {"corpus.jsonl": "beir", "queries.jsonl": "beir"}.get(os.path.basename(path).removesuffix(".gz"))
    for format, suffixes in formats.items():
        if format == beir or (beir is None and suffix_of(path) in suffixes):
            return format
    known = ", ".join(dict.fromkeys([*formats, PARQUET]))
    raise UsageError(
        f"'{shorten(path, 60)}' does not say in which format to write {kind}; "
        f"name one with --to (format= in Python): {known}"
    )


def _text_format(where: Where, kind: Kind) -> TextFormat:
    """The format of texts that the suffix of the file calls for."""
    return FORMATS[kind][_called_for(where, kind, {format.name: format.suffixes for format in FORMATS[kind].values()})]


def _name_of(where: Where) -> str:
    return os.fspath(where) if isinstance(where, str | os.PathLike) else str(getattr(where, "name", "open file"))
