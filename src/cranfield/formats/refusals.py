"""What the core finds wrong with an input, as an error that a person can act on: what, where, the text, what to do.

It is loaded where something is wrong: most commands never do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from cranfield.errors import ArgumentError, DataError, DuplicateError, shorten
from cranfield.formats.format import Request, decode, is_number
from cranfield.formats.labels import is_label
from cranfield.formats.labels import missing as missing_labels

if TYPE_CHECKING:
    from cranfield._core import CoreError

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
UNJUDGED = (
    "This looks like a pool that nobody has judged yet, as `cranfield pool` writes it: judge it, with {}, 0 for what "
    "is not relevant and 1 or more for what is, and it is judgements."
)


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
