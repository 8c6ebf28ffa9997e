"""What every format needs: the request it serves, what it gives back, and the core's faults put into words."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from cranfield.errors import ArgumentError, DataError, DuplicateError, shorten
from cranfield.formats.labels import NO_LABELS, Labels, is_label
from cranfield.formats.labels import missing as missing_labels
from cranfield.formats.sources import Buffer, Flow
from cranfield.records import NamedTuple
from cranfield.registry import Entry, Registry

if TYPE_CHECKING:
    from cranfield._core import CoreError, Progress, Table
    from cranfield.tables import Qrels, Run
    from cranfield.travel import Luggage

Kind = Literal["score", "grade"]
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
EXPECTED = (
    "a path, an open file, a dict of dicts, a data frame, a tuple (topics, documents, values) of arrays, "
    "or an iterable of records"
)
CAST = "Cast the column to floats first."
_ARROW_TYPE = r"has Arrow type '([^']*)'"
_CASTABLE = "holds (text|decimals|categories); a score or grade is"
# Of types that Arrow's C data interface writes so; whole numbers are told only where they stand for categories.
_ARROW_WORDS = (
    *((code, "text") for code in ("u", "U", "vu")),
    *((code, "bytes") for code in ("z", "Z", "vz", "w:")),
    *((code, "lists") for code in ("+l", "+L", "+vl", "+vL", "+w")),
    *((code, "floats") for code in "efg"),
    *((code, "categories") for code in "cCsSiIlL"),
    ("d:", "decimals"),
    ("td", "dates"),
    ("ts", "times with a date"),
    ("tt", "times of day"),
    ("tD", "durations"),
    ("ti", "durations"),
    ("+s", "structs"),
    ("+m", "maps"),
    ("b", "booleans"),
    ("n", "nothing but missing values"),
)
IN_GROUPS = (
    "\n    If there are several subtopics or several judges to a topic, say so: --judgements subtopics or judges "
    "(judgements=… in Python)."
)
# What a file is, is told where it is read; whether another was given in its place, only whoever gave it can say.
NOT_A_RUN = "This looks like judgements, where a run is expected: is it in the right place?"
NOT_JUDGEMENTS = (
    "This looks like a run, where judgements are expected: are the two arguments swapped, or is a run given as both?"
)
IDS = (
    "A row without an id is to be left out; where pandas has made floats of whole numbers because one is missing, they "
    "become whole numbers again by .astype('Int64')."
)
NO_VALUE = "A row without a value is to be left out: .dropna() in pandas, .drop_nulls() in polars."
SEVERAL_RUNS = "Its tags say that there are several runs in it: give each of them by itself."
QUOTED = "It is in quotes, and so it is text: write the number without them."
_HEADER = (
    "write a line above that names the columns, topic, document and score, with tabs or commas between all columns."
)
NAN = "Not a number cannot be ranked: find out why the system wrote it, or leave the {} out."
RANKS_NOTE = ("scores-from-ranks", "the run has ranks and no scores: documents are ordered by rank")
UNJUDGED = (
    "This looks like a pool that nobody has judged yet, as `cranfield pool` writes it: judge it, with {}, 0 for what "
    "is not relevant and 1 or more for what is, and it is judgements."
)


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


def text_error(
    error: CoreError, source: str, request: Request, layout: str, labels: Sequence[str] = (), *, first: bool = False
) -> DataError:
    """A fault the core found in a text, as an error a person can act on; `labels` are the words among its grades,
    `first` says that no row stands above its line.
    """
    code, fault = error.args
    text, shown = decode(fault["text"]), shorten(decode(fault["field"]), 60)
    kind = request.kind
    remedy: str | None = None
    option: str | None = None
    first = first or fault["line"] == 1
    if code in ("few-fields", "many-fields"):
        message = f"{shown} field{'s' if shown != '1' else ''} where {layout} needs {_needs(layout, request)}"
        remedy = _json(text, layout, first=first) or _wrong_fields(text, request, layout, fault["line"], first=first)
    elif code == "not-a-number":
        message = f"{kind} '{shown}' is not a number"
        remedy = _json(text, layout, first=first) or _not_a_number(shown, fault["line"], kind)
        if labels:
            remedy, option = missing_labels(labels, request.labels)
    elif code == "nan":
        message = f"{kind} is '{shown}'"
        remedy = NAN.format("line")
    elif code == "overflow":
        message = f"{kind} '{shown}' is too large for a double"
    elif code == "infinite":
        message = f"{kind} '{shown}' is infinite"
    elif code == "rank":
        message = f"rank '{shown}' is not a whole number"
        remedy, option = _fractional_rank(request, layout)
    elif code == "empty-id":
        message = "empty topic or document id"
    elif code == "quote":
        message = "a quoted field does not end where it should"
        remedy = 'Inside quotes, write " as ""; a field may not run over the end of the line.'
    elif code == "long-line":
        message = "a line of more than 4 GB"
    elif code == "mark":
        message = "a byte order mark in front of a topic"
        remedy = "Files that begin with one were joined here: take the marks out, as by sed 's/^\\xef\\xbb\\xbf//'."
    elif code == "nul":
        message = f"NUL byte at offset {fault['offset']:,}"
        remedy = "This is not text, or it is UTF-16: convert it with iconv -f UTF-16 -t UTF-8."
    else:
        assert code == "duplicate", code
        other = fault["other_line"]
        message = f"document '{shown}' is given a second {kind} for the same topic"
        remedy = (
            f"Line {other} has another: {shorten(decode(fault['other_text']))}\n    "
            "Each document may appear once for each topic: decide which line is right."
        )
        if layout == "trec" and text.split()[5:6] != decode(fault["other_text"]).split()[5:6] and kind == "score":
            remedy += f"\n    {SEVERAL_RUNS}"
        if kind == "grade" and _may_be_in_groups(text, decode(fault["other_text"]), layout):
            remedy += IN_GROUPS
    kind_of_error = DuplicateError if code == "duplicate" else DataError
    return kind_of_error(message, source=source, line=fault["line"], text=text, remedy=remedy, option=option)


def no_number(value: object, kind: str) -> str:
    """What to do about a value in the place of a score or grade that is no number.

    >>> no_number(None, "score")
    'A document without a score is to be left out.'
    """
    if value is None:
        return f"A document without a {kind} is to be left out."
    if isinstance(value, str):
        return (QUOTED if is_number(value) else misspelt_number(value)) or f"A {kind} is a number, without quotes."
    return f"A {kind} is a number."


def _fractional_rank(request: Request, layout: str) -> tuple[str, str | None]:
    """What to do about a rank with a fraction, which is rather a score: in Python, and on the command line."""
    if layout == "trec":
        return (
            "Are the columns in the order topic, Q0, document, rank, score, tag? An id may not contain a blank.",
            None,
        )
    if layout == "msmarco":
        return f"If it is a score, this is not MS MARCO's form: {_HEADER}", None
    import shlex

    (name, *_) = request.columns.get("rank", ("rank",))
    said = "A rank is a whole number; if this is the score, say so: "
    return f"{said}reading=Reading(columns={{'score': {name!r}}}).", f"{said}--columns {shlex.quote(f'score={name}')}."


def _may_be_in_groups(line: str, other: str, layout: str) -> bool:
    """Whether two lines of judgements may differ because each is of another group: the second column of TREC text."""
    return layout != "ntcir" and (layout != "trec" or line.split()[1:2] != other.split()[1:2])


def _needs(layout: str, request: Request) -> str:
    if layout == "ntcir":
        return "3 (topic, document, grade), or 4 (topic, grade, document, 0 or 1)"
    if layout == "msmarco":
        return "3 (topic, document, rank)"
    if layout != "trec":
        return "as many as its header"
    if request.kind == "score":
        return "6 (topic, Q0, document, rank, score, tag)"
    return "4 (topic, iteration, document, grade)"


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


def _json(text: str, layout: str, *, first: bool) -> str | None:
    """What to do about JSON that nothing has recognised."""
    if not first or layout != "trec" or not text.lstrip().startswith(("{", "[")):
        return None
    return (
        "This looks like JSON, of which an object a line is read (jsonl), or one object of topics (json): "
        "jq -c '.[]' makes lines of a list."
    )


def _wrong_fields(text: str, request: Request, layout: str, line: int, *, first: bool) -> str | None:
    fields = text.split()
    if layout == "msmarco":
        return "Every line must have a topic, a document and its rank; an id may not contain a blank."
    if layout == "ntcir":
        return "Every line must have as many fields as the first one; an id may not contain a blank."
    if layout != "trec":
        return "Every line must have the header's columns; a delimiter inside a field calls for quotes (CSV)."
    if text.count(",") >= 2 and len(fields) < 3:
        return "This looks like CSV: it needs a header line that names its columns, such as topic,document,score."
    if request.kind == "score":
        if text.startswith("<SYSDESC>"):
            return "This is the description that runs of NTCIR start with: take the line off, as with sed 1d."
        if first and len(fields) == 4 and is_number(fields[3]):
            return NOT_A_RUN
        if first and len(fields) == 3 and is_number(fields[2]) and fields[1].upper() != "Q0":
            # Read as a rank, a score would turn the ranking upside down.
            ranked = "A run of topic, document and rank, as MS MARCO has it, is read with the format msmarco."
            return f"{ranked if float(fields[2]).is_integer() else ''}\n    If the third is a score, {_HEADER}".strip()
        cut = "If the last line was cut short, the file is incomplete: write it again."
        if first:
            unlike = "This does not look like a run: its lines have topic, Q0, document, rank, score and tag."
            return f"{unlike}\n    {cut}" if fields[1:2] == ["Q0"] else unlike
        return cut
    if len(fields) >= 6 and is_number(fields[3]) and is_number(fields[4]):
        return NOT_JUDGEMENTS
    if len(fields) == 3 and fields[1] != "0" and len(fields[2]) == 1 and is_label(fields[2]):
        return (
            "This looks like NTCIR's form, topic, document and a letter for the grade: --format ntcir, and --labels "
            "with the number of each letter, as --labels S=3,A=2,B=1,C=0 (format= and labels= of a reading)."
        )
    if len(fields) == 3 and fields[1] == "0":
        either = ""
        if is_number(fields[2]):
            either = " If its last column is a grade, the second, the iteration, is missing."
        elif line > 1:  # other lines may have been whole
            either = " If the last line was cut short, the file is incomplete."
        return UNJUDGED.format("a grade at the end of each line") + either
    if len(fields) == 3 and is_number(fields[2]):
        return "The second column, the iteration, is missing: write topic 0 document grade, or add a header line."
    if len(fields) == 5 and is_number(fields[4]):
        return (
            "An id may not contain a blank; five columns may be a sample of the pool (--judgements sampled) or "
            "preferences (--judgements preferences)."
        )
    return "An id may not contain a blank; if the last line was cut short, the file is incomplete."


def _not_a_number(shown: str, line: int, kind: str) -> str:
    if line == 1 and not misspelt_number(shown):
        return "If this is a header line, name the columns as cranfield knows them (topic, document, score or grade)."
    return misspelt_number(shown) or (
        f"A {kind} is a plain number such as {'12.5' if kind == 'score' else '1'}: mend the line, or leave it out. "
        "An id with a blank in it shifts the columns."
    )


def misspelt_number(text: str) -> str | None:
    """How to write a number that is not written as numbers are read here; nothing where it is none.

    >>> misspelt_number("1,5"), misspelt_number("zzz")
    ('Write the decimal point as a point: 1.5.', None)
    """
    pointed = text.replace(",", ".")
    if pointed != text and is_number(pointed):
        return f"Write the decimal point as a point: {pointed}."
    if is_number(text):
        return "Digits 0 to 9 only, without separators: write it as a plain decimal number."
    return None


def row_error(
    error: CoreError, source: str, request: Request, tags: Sequence[object] = ()
) -> DataError | ArgumentError:
    """A fault the core found in a frame, a dict or an array; `tags` are those of the rows that were read."""
    code, fault = error.args
    kind = request.kind
    if code == "frame":
        message = re.sub(_ARROW_TYPE, lambda found: f"holds {arrow_words(found[1])}", fault["message"])
        more = [IDS] if "ids are" in message else [CAST] if re.search(_CASTABLE, message) else []
        return ArgumentError(f"{source}: {message}", *more)
    if code == "duplicate":
        return DataError(
            f"topic '{shorten(fault['topic'])}' has document '{shorten(fault['doc'])}' twice, with the {kind}s "
            f"{_in_full(fault['first'])} and {_in_full(fault['second'])}",
            source=source,
            remedy="Each document may appear once for each topic."
            + (IN_GROUPS if kind == "grade" else "")
            + (f"\n    {SEVERAL_RUNS}" if len({str(tag) for tag in tags if tag is not None}) > 1 else ""),
        )
    entry = decode(fault["field"])
    in_table = f"row {fault['row']} (counting from 0), column '{fault['column']}'"
    where = entry if fault["column"] == "dict" else in_table
    remedy, option = row_remedy(code, request)
    return DataError(f"{where}: {row_problem(code, kind, entry)}", source=source, remedy=remedy, option=option)


def row_remedy(code: str, request: Request) -> tuple[str | None, str | None]:
    """What to do about a value of a row: in Python, and on the command line where that differs."""
    if code == "rank":
        return _fractional_rank(request, "rows")
    return {"null": NO_VALUE, "nan": NAN.format("row")}.get(code), None


def _in_full(number: float) -> str:
    """A number with all its digits: two that differ look different.

    >>> _in_full(6428001.0), _in_full(0.5)
    ('6428001', '0.5')
    """
    return repr(number).removesuffix(".0")


def arrow_words(code: str) -> str:
    """What a column of a frame holds whose type Arrow has this code for.

    >>> [arrow_words(code) for code in ("u", "d:9,3", "+l", "tsu:UTC", "tdD", "c", "w:4")]
    ['text', 'decimals', 'lists', 'times with a date', 'dates', 'categories', 'bytes']
    """
    return next((words for prefix, words in _ARROW_WORDS if code.startswith(prefix)), f"what Arrow calls '{code}'")


def row_problem(code: str, kind: str, entry: str) -> str:
    """What is wrong with a value of a row, in words.

    >>> row_problem("nan", "score", "")
    'score is NaN'
    """
    return {
        "null": "missing value",
        "nan": f"{kind} is NaN",
        "infinite": f"{kind} is infinite",
        "overflow": "a number too large for a double",
        "half-character": "an id with half a character (a lone surrogate)",
        "empty-id": "empty id",
        "rank": f"rank {entry} is not a whole number",
    }[code]


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
