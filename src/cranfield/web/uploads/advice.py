"""What to do about a file that a project does not take: advice that can be followed where files are sent.

The readers advise whoever calls them, in Python or at the prompt: name the column, say which kind of judgements it is.
Whoever sends a file can say neither. They can change the file, or send another, and that is what they are told.
"""

from __future__ import annotations

import re

from cranfield.errors import CranfieldError, DataError
from cranfield.formats.refusals import IN_GROUPS, NOT_A_RUN, NOT_JUDGEMENTS

# Lines that only help who reads the file themselves, and what is told in their place. Others of the kind are left out.
INSTEAD: tuple[tuple[str, str], ...] = (
    (re.escape(NOT_JUDGEMENTS), "This looks like a run, and judgements are expected here: send it as a run."),
    (re.escape(NOT_A_RUN), "This looks like judgements, and a run is expected here: send it as judgements."),
    (re.escape(IN_GROUPS.strip()), "A project takes one grade of each document for a topic."),
    (r"This looks like NTCIR.*", "This looks like NTCIR's form: write lines of topic, 0, document and a number."),
    (r"An id may not contain a blank; five.*", "An id may not contain a blank, and a line has four columns."),
    (r"(Grades are labels here: .*?\.) Say which.*", r"\1 Write a number for each."),
    (r"If .* all the same, say so: .*", "If it is right all the same, rename that column in the file."),
    (
        r"Say which(?: it)? is.* --columns .*",
        "Name the columns in the file as below, or send it where it belongs.",
    ),
    (r"Say which with format= \(--from\): (.*?)(?:, parquet)?\.", r"Send it in one of these formats: \1."),
)
_FOR_CALLERS = re.compile(r"(?<!\S)--[a-z]|\bReading\(|\w=… in Python")


def advice_for_uploads(error: CranfieldError) -> str:
    """The text of an error, with advice for whoever sends the file.

    >>> print(advice_for_uploads(DataError("3 fields", source="a.qrels", line=1, remedy=NOT_JUDGEMENTS)))
    a.qrels:1: 3 fields
        This looks like a run, and judgements are expected here: send it as a run.
    """
    first, *more = (error.at_prompt if isinstance(error, DataError) else str(error)).split("\n    ")
    shown = (line for line in map(_instead, more) if not _FOR_CALLERS.search(line) or _is_quoted(line))
    return "\n    ".join([first, *shown])


def _instead(line: str) -> str:
    for pattern, words in INSTEAD:
        if re.fullmatch(pattern, line):
            return re.sub(pattern, words, line)
    return line


def _is_quoted(line: str) -> bool:
    """Whether a line is one of the file: what it says is no advice."""
    return re.match(r"\d+ \| ", line) is not None
