"""What every format needs: the request it serves, and what it gives back."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from cranfield.errors import shorten
from cranfield.formats.labels import NO_LABELS, Labels
from cranfield.formats.sources import Buffer, Flow
from cranfield.records import NamedTuple
from cranfield.registry import Entry, Registry

if TYPE_CHECKING:
    from cranfield._core import Progress, Table
    from cranfield.tables import Qrels, Run
    from cranfield.travel import Luggage

Kind = Literal["score", "grade"]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
EXPECTED = (
    "a path, an open file, a dict of dicts, a data frame, a tuple (topics, documents, values) of arrays, "
    "or an iterable of records"
)
RANKS_NOTE = ("scores-from-ranks", "the run has ranks and no scores: documents are ordered by rank")


class Judging(NamedTuple):
    """Says that a run is read only to be judged, now and against these: its rows need not be kept."""

    qrels: Table
    ties: str


class Request(NamedTuple):
    """What is wanted of a reader: scores (a run) or grades (judgements), and by what means."""

    kind: Kind
    threads: int
    progress: Progress
    columns: Mapping[str, tuple[str, ...]]
    judging: Judging | None
    labels: Labels = NO_LABELS  # the numbers of grades that are words

    @property
    def noun(self) -> str:
        return "run" if self.kind == "score" else "qrels"

    @property
    def judged_against(self) -> tuple[Table | None, bool]:
        """As the core takes it: the judgements, and whether ties stand as in the input."""
        return (None, False) if self.judging is None else (self.judging.qrels, self.judging.ties == "file")


class Parsed(NamedTuple):
    """A table as read, and what should be said about it: pairs of a code and a sentence."""

    table: Table
    notes: tuple[tuple[str, str], ...] = ()
    tag: str = ""
    luggage: Luggage | None = None  # of a table that was given away as a frame, and has come back unchanged


def tagged(parsed: Parsed, tags: Sequence[object]) -> Parsed:
    """A run as read with its tag, the last of those given, as trec_eval has it; more than one is told."""
    known = [str(tag) for tag in tags if tag is not None]
    notes = several_tags_note() if len(set(known)) > 1 else ()
    notes = tuple(note for note in notes if note not in parsed.notes)
    return parsed._replace(notes=parsed.notes + notes, tag=known[-1] if known else "")


def several_tags_note() -> tuple[tuple[str, str], ...]:
    """Said where lines of a run disagree about its tag."""
    return (("several-tags", "more than one run tag: have several runs been joined into one file?"),)


Reads = Callable[[Buffer, str, Request], Parsed]
Flows = Callable[[Flow, Request], "Parsed | None"]
Rows: TypeAlias = "Run | Qrels"
NOTHING = re.compile(r"(?!)")


class Writer(NamedTuple):
    """How a format is written: the suffixes that call for it, what no id may contain, and what it has no place for.

    `has_comments` says that readers take a line that starts with # for a comment, `drops_mark` that they drop a byte
    order mark before the first line, `levels` that a grade is one of the whole numbers from 0 to 99.
    """

    write: Callable[[Rows, str], Iterable[str | bytes]]
    suffixes: tuple[str, ...] = ()
    unfit: re.Pattern[str] = NOTHING
    has_tag: bool = True
    has_scores: bool = True
    has_comments: bool = False
    drops_mark: bool = False
    levels: bool = False


class Format(Entry[Reads]):
    """A file format of runs and judgements: its reader, the suffixes and the first bytes that give it away, its writer.

    Formats are tried on the first bytes in the order of `tried`; one without is read only where it is named. `flow`
    judges a run while it is unpacked, or gives nothing where it must be read whole. One that is `only`
    of scores may be named where the judgements beside the runs are in another, one only of grades where the runs are.
    """

    suffixes: tuple[str, ...] = ()
    recognise: Callable[[bytes, Request], bool]
    tried: int | None = None
    only: Kind | None = None
    writer: Writer | None = None
    flow: Flows | None = None

    def serves(self, kind: Kind) -> bool:
        """Whether it is a format of what is wanted."""
        return self.only in (None, kind)

    @property
    def read(self) -> Reads:
        """Makes a table of bytes, called by a name, as it is requested."""
        return self.function


FORMATS: Registry[Format] = Registry(
    "format",
    group="cranfield.formats",
    package="cranfield.formats",
    decorator="table_format",
    order=("trec_text", "delimited", "json_lines", "json_text", "parquet", "ntcir"),
)


def table_format(
    name: str,
    read: Reads,
    *,
    suffixes: tuple[str, ...] = (),
    recognise: Callable[[bytes, Request], bool] = lambda head, request: False,
    tried: int | None = None,
    only: Kind | None = None,
    writer: Writer | None = None,
    flow: Flows | None = None,
) -> Format:
    """Registers a reader of runs and judgements as a format, with its writer."""
    format = Format(
        name=name,
        function=read,
        suffixes=suffixes,
        recognise=recognise,
        tried=tried,
        only=only,
        writer=writer,
        flow=flow,
    )
    FORMATS.add(format)
    return format


def readable() -> tuple[Format, ...]:
    """The formats of files, in the order in which they are tried on the first bytes; the last is for all others.

    >>> readable()[0].name, readable()[-1].name
    ('parquet', 'trec')
    """
    deque(FORMATS.loaded(), maxlen=0)
    return _in_order(tuple(FORMATS.registered()))


@cache
def _in_order(registered: tuple[Format, ...]) -> tuple[Format, ...]:
    """Of these formats; found once for all the files that are read, of which there may be thousands."""
    formats = [format for format in FORMATS.ordered() if format in registered and format.tried is not None]
    return tuple(sorted(formats, key=_place))


def _place(format: Format) -> int:
    return format.tried or 0


def decode(raw: bytes) -> str:
    """Ids are bytes of any encoding: those that are not UTF-8 survive the way to str and back."""
    return raw.decode("utf-8", "surrogateescape")


def is_comment(line: bytes, *, fits: bool, delimiter: bytes = b" ") -> bool:
    """Whether a line of text is a comment: the rule of core/text.cpp, for the readers that need not be fast.

    A lone # in front makes it one, whatever follows; anything else that starts with # is one where it has not the
    fields of a row.

    >>> is_comment(b"# graded 0 3", fits=True), is_comment(b"#2 0 d1 3", fits=True), is_comment(b"#mine", fits=False)
    (True, False, True)
    """
    words = line.lstrip(b" \t")
    return words[:1] == b"#" and (not fits or words[1:2] in (b"", b" ", b"\t", delimiter))


def rows_of_text(
    data: bytes, fits: Callable[[bytes], bool], notes: list[tuple[str, str]], delimiter: bytes = b" "
) -> list[tuple[int, bytes]]:
    """The lines that are neither blank nor comments, numbered from 1; a note says how many were comments.

    >>> notes: list[tuple[str, str]] = []
    >>> rows_of_text(b"# mine\\n\\nq1 0 d1 1\\n", lambda line: len(line.split()) == 4, notes), len(notes)
    ([(3, b'q1 0 d1 1')], 1)
    """
    lines = [(i, line) for i, line in enumerate(data.removeprefix(BYTE_ORDER_MARK).splitlines(), 1) if line.strip()]
    rows = [(i, line) for i, line in lines if not is_comment(line, fits=fits(line), delimiter=delimiter)]
    notes += comments_note(len(lines) - len(rows))
    return rows


def comments_note(count: int) -> tuple[tuple[str, str], ...]:
    """Said where lines were taken for comments."""
    return (("comments", f"{count:,} lines starting with # were taken for comments"),) if count else ()


def is_number(text: str) -> bool:
    """Whether a text is a number as Python reads it.

    >>> is_number("1e3"), is_number("high")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def collapsed_note(table: Table) -> tuple[tuple[str, str], ...]:
    """Said where lines that repeat another were left out."""
    count = table.collapsed_count
    return repeated_note(count, *(table.repeated or ("", ""))) if count else ()


def repeated_note(count: int, topic: str, document: str) -> tuple[tuple[str, str], ...]:
    """Said of lines that repeat another, of which one is of this document, where that is known.

    >>> repeated_note(2, "q1", "d7")[0][1]
    "2 lines repeat another with the same value, such as that of document 'd7' of topic 'q1'; each counts once"
    """
    lines = "line repeats" if count == 1 else "lines repeat"
    which = "that of" if count == 1 else "such as that of"
    named = f", {which} document '{shorten(document, 60)}' of topic '{shorten(topic, 60)}'" if document else ""
    return (("duplicates-collapsed", f"{count:,} {lines} another with the same value{named}; each counts once"),)
