"""What every format of documents and topics needs: what it is, what it reads and what it could not write."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from cranfield.errors import DataError, shorten, some
from cranfield.formats.format import BYTE_ORDER_MARK
from cranfield.formats.sources import Buffer
from cranfield.registry import Entry, Registry
from cranfield.texts.texts import Documents, Topics

if TYPE_CHECKING:
    from cranfield.formats.given import Given

Kind = Literal["documents", "topics"]
Texts = Documents | Topics
GivenTexts: TypeAlias = "Given | Texts"  # what texts may be given as
SHOWN = 3  # ids, of those that lose something
Place = tuple[str, int | None]  # a file, and the line in it where that is known


class Note(NamedTuple):
    """Something odd about a source, and how many there are of it.

    >>> Note("unclosed-doc", 2, "document", "without </DOC>").told()
    '2 documents without </DOC>'
    """

    code: str
    times: int
    noun: str
    remark: str

    def told(self) -> str:
        """A sentence."""
        return f"{self.times:,} {self.noun}{'' if self.times == 1 else 's'} {self.remark}"


class Found(NamedTuple):
    """What a reader found: ids, a column of texts for each field, the place where each id stands, and notes."""

    ids: list[str]
    fields: dict[str, list[str]]
    place: Callable[[int], Place]
    notes: list[Note]


class Losses:
    """What a format cannot hold, counted as it is written, with a few ids to look at."""

    def __init__(self) -> None:
        self._times: Counter[str] = Counter()
        self._ids: dict[str, list[str]] = {}

    def add(self, loss: str, id: str) -> None:
        """Something of one document, topic or row is lost."""
        self._times[loss] += 1
        if self._times[loss] <= SHOWN:
            self._ids.setdefault(loss, []).append(id)

    def told(self) -> list[str]:
        """A sentence for each kind of loss."""
        more = {loss: f" and {times - SHOWN:,} more" if times > SHOWN else "" for loss, times in self._times.items()}
        return [f"{loss} ({self._times[loss]:,}: {some(ids)}{more[loss]})" for loss, ids in self._ids.items()]


class Piece(NamedTuple):
    """A stretch of a text: one record, or what stands around records and is no part of them, as a header."""

    start: int
    end: int
    is_record: bool = True


class Records(NamedTuple):
    """How the records of a text are told apart: `cut` tells how much of it is whole records, `pieces` where each is."""

    cut: Callable[[str], int] | None = None
    pieces: Callable[[str], list[Piece]] | None = None


NOT_APART = Records()
Reads = Callable[[str, str, Kind], Found]
Writes = Callable[[Texts, Losses], Iterator[str]]
KINDS: tuple[Kind, ...] = ("documents", "topics")


class TextFormat(Entry[Reads]):
    """A file format: its name, the suffixes and the first characters that give it away, its reader and its writer.

    Formats are tried on the first characters in the order of `tried`. `cut` tells how much of a text is whole records,
    so that a file can be read block by block; `pieces` tells where every record stands, in the order in which they are
    read, so that some of them can be taken over as they are.
    """

    write: Writes
    recognise: Callable[[str, Kind], bool]
    suffixes: tuple[str, ...] = ()
    tried: int = 0
    cut: Callable[[str], int] | None = None
    pieces: Callable[[str], list[Piece]] | None = None

    @property
    def read(self) -> Reads:
        """Finds what is in a text, called by a name, that is of a kind."""
        return self.function


class ByTurn(Registry[TextFormat]):
    """Formats in the order in which they are tried."""

    def ordered(self) -> tuple[TextFormat, ...]:
        return tuple(sorted(super().ordered(), key=lambda entry: entry.tried))


FORMATS: Mapping[Kind, Registry[TextFormat]] = {
    kind: ByTurn(
        f"format of {kind}",
        group=f"cranfield.{kind}",
        package="cranfield.texts",
        decorator="text_format",
        unknown="unknown {noun} '{name}'; known: {names}, parquet",
    )
    for kind in KINDS
}


def text_format(
    name: str,
    read: Reads,
    write: Writes,
    *,
    of: tuple[Kind, ...] = KINDS,
    recognise: Callable[[str, Kind], bool] = lambda head, kind: False,
    suffixes: tuple[str, ...] = (),
    tried: int = 0,
    records: Records = NOT_APART,
) -> TextFormat:
    """Registers a reader and a writer of documents, topics or both as a format."""
    format = TextFormat(
        name=name,
        function=read,
        write=write,
        recognise=recognise,
        suffixes=suffixes,
        tried=tried,
        cut=records.cut,
        pieces=records.pieces,
    )
    for kind in of:
        FORMATS[kind].add(format)
    return format


def refuse_packed(data: Buffer, source: str) -> None:
    """It is an error if a file is packed in a way that cannot be read."""
    if data[:2] == b"\x1f\x9d":
        raise DataError("is compressed by compress (.Z)", source=source, remedy="Unpack it first: gzip -d does.")
    if data[257:262] == b"ustar":
        raise DataError("is a tar archive", source=source, remedy="Unpack it first: tar -xf does.")


def decoded(data: Buffer, source: str) -> tuple[str, list[Note]]:
    """Bytes as text: UTF-8, or Latin-1 with a note, which is what old collections are in.

    >>> text, (note,) = decoded("café".encode("latin-1"), "ap890101")
    >>> text, note.told()
    ('café', '1 file not in UTF-8, read as Latin-1: ap890101, line 1')
    """
    refuse_packed(data, source)
    notes: list[Note] = []
    start = len(BYTE_ORDER_MARK) if data[:3] == BYTE_ORDER_MARK else 0
    with memoryview(data) as view:
        try:
            text = str(view[start:], "utf-8")
        except UnicodeDecodeError as error:
            text = str(view[start:], "latin-1")
            line = line_number(text, error.start)
            notes.append(Note("latin-1", 1, "file", f"not in UTF-8, read as Latin-1: {source}, line {line:,}"))
    text = with_line_feeds(text)
    at = text.find("\0")
    if at >= 0:
        raise DataError(
            f"NUL byte at offset {start + at:,}",
            source=source,
            line=line_number(text, at),
            text=line_at(text, at),
            remedy="This is not text, or it is damaged; tr -d '\\000' takes such bytes out.",
        )
    return text, notes


def with_line_feeds(text: str) -> str:
    """A text whose lines end in carriage returns alone, as old ones do, with line feeds instead.

    >>> with_line_feeds("1 ducks\\r2 geese\\r"), with_line_feeds("1 ducks\\r\\n")
    ('1 ducks\\n2 geese\\n', '1 ducks\\r\\n')
    """
    return text.replace("\r", "\n") if "\r" in text and "\n" not in text else text


def line_at(text: str, at: int) -> str:
    """The line of a text in which a place stands."""
    end = text.find("\n", at)
    return text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else None]


def line_number(text: str, at: int) -> int:
    """The number of that line, from 1."""
    return text.count("\n", 0, at) + 1


def line_numbers(text: str, places: Iterable[int]) -> list[int]:
    """The numbers of the lines in which places stand that are in order."""
    starts = [0, *places]
    steps = (text.count("\n", before, at) for before, at in pairwise(starts))
    return list(accumulate(steps, initial=1))[1:]


def fault_at(text: str, at: int, message: str, source: str, remedy: str | None = None) -> DataError:
    """An error about a place in a text."""
    return DataError(message, source=source, line=line_number(text, at), text=line_at(text, at), remedy=remedy)


def columns_of(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Rows of fields as columns; an empty text where a row lacks a field; fields that are empty everywhere left out.

    >>> columns_of([{"title": "a", "date": ""}, {"text": "b"}])
    {'title': ['a', ''], 'text': ['', 'b']}
    """
    names = dict.fromkeys(name for row in rows for name, text in row.items() if text)
    return {name: [row.get(name, "") for row in rows] for name in names}


def joined(parts: Iterable[Found]) -> Found:
    """Several readings as one, in their order; what is odd is counted over all of them, and told as of the first."""
    parts = list(parts)
    names = dict.fromkeys(name for part in parts for name in part.fields)
    ids = [id for part in parts for id in part.ids]
    fields = {
        name: [text for part in parts for text in part.fields.get(name) or [""] * len(part.ids)] for name in names
    }
    ends = list(accumulate(len(part.ids) for part in parts))

    def place(number: int) -> Place:
        part = bisect_right(ends, number)
        return parts[part].place(number - (ends[part - 1] if part else 0))

    return Found(ids, fields, place, merged([note for part in parts for note in part.notes]))


def merged(notes: Iterable[Note]) -> list[Note]:
    """Notes of several readings as of one: counted over all of them, and told as of the first."""
    total: dict[str, Note] = {}
    for note in notes:
        before = total.get(note.code)
        total[note.code] = before._replace(times=before.times + note.times) if before and before.times else note
    return list(total.values())


BYTES_AS_LATIN_1 = re.compile("[\x80-\xff]")


def id_bytes(id: str) -> str:
    """An id read as Latin-1, as runs and judgements have it: ids are bytes, whatever the text around them is in."""
    return id.encode("latin-1").decode("utf-8", "surrogateescape") if BYTES_AS_LATIN_1.search(id) else id


def no_duplicates(texts: Found, noun: str) -> None:
    """It is an error if an id comes twice."""
    if len(set(texts.ids)) == len(texts.ids):
        return
    first: dict[str, int] = {}
    for number, id in enumerate(texts.ids):
        other = first.setdefault(id, number)
        if other != number:
            raise second_time(id, noun, texts.place(number), texts.place(other))


def second_time(id: str, noun: str, here: Place, before: Place) -> DataError:
    """An error about an id that comes twice."""
    where = [f"on line {before[1]:,}"] if before[1] else []
    where += [f"of {before[0]}"] if before[0] != here[0] else []
    return DataError(
        f"{noun} '{shorten(id, 60)}' comes a second time",
        source=here[0],
        line=here[1],
        remedy=" ".join(["First", *where]) + ". Each id may stand once: decide which is right."
        if where
        else "Each id may stand once: decide which is right.",
    )


def not_in_text(id: str) -> bool:
    """Whether an id has bytes that are not UTF-8: a file with them would be read as Latin-1."""
    return not id.isascii() and any("\ud800" <= character <= "\udfff" for character in id)


def after_last_line(text: str) -> int:
    """Where the last line that is whole ends."""
    return text.rfind("\n") + 1


def line_pieces(text: str) -> list[Piece]:
    """The lines that are not blank, with their ends.

    >>> line_pieces("1 ducks\\n\\n2 geese\\n")
    [Piece(start=0, end=8, is_record=True), Piece(start=9, end=17, is_record=True)]
    """
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    return [
        Piece(start, min(start + len(line) + 1, len(text)))
        for start, line in zip(starts, lines, strict=False)
        if line.strip(" \r")
    ]
