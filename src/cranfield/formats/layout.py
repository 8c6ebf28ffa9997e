"""Which column of a CSV, TSV, Parquet file or data frame is which: by its name.

Names are compared without regard to case; where several fit, the first of the list is taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from cranfield.errors import DataError, shorten, some
from cranfield.formats.format import Kind, Request, is_number
from cranfield.records import NamedTuple

if TYPE_CHECKING:
    from cranfield._core import Table

ACCEPTED: Mapping[str, tuple[str, ...]] = {
    "topic": ("topic", "topic_id", "query_id", "query-id", "queryid", "qid", "q_id"),
    "document": (
        "document", "document_id", "docno", "doc_id", "docid", "doc",
        "corpus-id", "corpus_id", "pid", "passage_id", "did",
    ),
    "score": ("score", "sim", "similarity"),
    "grade": ("grade", "relevance", "rel", "label", "judgement", "judgment", "score"),
    "rank": ("rank",),
    "tag": ("tag", "run_id", "runid", "run", "system"),
}  # fmt: skip
OURS = ("subtopics", "judges", "sampled", "preferences")  # the kinds of judgements that are built in
ROLES = (*ACCEPTED, "subtopic", "judge")  # the last two are those of some kinds of judgements
ColumnNames: TypeAlias = Mapping[str, tuple[str, ...]]  # what columns are called, by what they are
NOTHING: ColumnNames = {}


class Columns(NamedTuple):
    """Column numbers. A run with ranks and no scores has `value` point at the rank, and `kind` say so."""

    topic: int
    document: int
    value: int
    rank: int
    tag: int
    kind: str

    def missing(self) -> list[str]:
        """What has no column, of what every input needs."""
        needed = {"topic": self.topic, "document": self.document, self.kind: self.value}
        return [role for role, place in needed.items() if place < 0]


def find_columns(names: Sequence[str], kind: Kind, aliases: ColumnNames) -> Columns:
    """The columns, by their names; -1 for those that are not there.

    >>> find_columns(["query-id", "corpus-id", "score"], "grade", {})
    Columns(topic=0, document=1, value=2, rank=-1, tag=-1, kind='grade')
    """
    known = [name.strip().lower() for name in names]

    def find(role: str) -> int:
        accepted = [name.strip().lower() for name in aliases[role]] if role in aliases else ACCEPTED[role]
        return next((known.index(name) for name in accepted if name in known), -1)

    value = find(kind)
    rank, tag = (find("rank"), find("tag")) if kind == "score" else (-1, -1)
    if value < 0 and rank >= 0:
        return Columns(find("topic"), find("document"), rank, -1, tag, "rank")
    if rank == value and "rank" not in aliases:  # it was said that what is called rank is the score
        rank = -1
    return Columns(find("topic"), find("document"), value, rank, tag, kind)


def is_header(names: Sequence[str], kind: Kind, aliases: ColumnNames) -> bool:
    """Whether names are those of columns: all that are needed, or all but one, and no number among them.

    >>> is_header(["qid", "mydoc", "score"], "score", {}), is_header(["qid", "0", "doc", "1"], "grade", {})
    (True, False)
    """
    missing = find_columns(names, kind, aliases).missing()
    return not missing or (len(missing) == 1 and not any(map(is_number, names)))


def require_columns(names: Sequence[str], kind: Kind, aliases: ColumnNames, source: str) -> Columns:
    """As find_columns, but an error that says which is missing, and what it may be called."""
    columns = find_columns(names, kind, aliases)
    missing = columns.missing()
    if kind not in aliases:
        _check_kind(names, kind, columns, source)
    if missing == ["grade"] and len(names) == 2:
        from cranfield.formats.refusals import UNJUDGED

        remedy = UNJUDGED.format("a column grade")
        raise DataError("topics and documents, but no grades", source=source, remedy=remedy)
    if missing:
        raise no_column({role: ACCEPTED[role] for role in missing}, names, columns[:5], aliases, source)
    known = [name.strip().lower() for name in names]
    places = [place for place in (columns.topic, columns.document, columns.value, columns.rank) if place >= 0]
    twice = next((place for place in places if places.count(place) > 1), None)
    if twice is not None:
        message = f"the column {shorten(names[twice], 60)!r} is asked to be two things at once"
        raise DataError(message, source=source, remedy="Name another column for one of them.")
    for place in (columns.topic, columns.document, columns.value, columns.rank, columns.tag):
        if place >= 0 and known.count(known[place]) > 1:
            raise DataError(
                f"more than one column is called '{known[place]}'",
                source=source,
                remedy="Which one is meant? Rename the other.",
            )
    return columns


def _check_kind(names: Sequence[str], kind: Kind, columns: Columns, source: str) -> None:
    """An error where the columns are those of a run and judgements are wanted, or the other way round.

    Scores and grades may both be called score: a rank or a tag beside it says that it is a run.
    """
    known = [name.strip().lower() for name in names]

    def of(*roles: str) -> list[str]:
        return [name for name, low in zip(names, known, strict=True) if any(low in ACCEPTED[role] for role in roles)]

    if kind == "score":
        grades = [name for name in of("grade") if name not in of("score")]
        if columns.missing() == ["score"] and grades:
            raise _other_kind(f"no column for the score, but one for the grade, {grades[0]!r}", kind, grades[0], source)
        return
    scores = of("score")
    if (columns.value < 0 or names[columns.value] in scores) and (of("rank") or (scores and of("tag"))):
        of_a_run = [repr(name) for name in of("score", "rank", "tag")]
        name = scores[0] if scores else of("rank")[0]
        raise _other_kind(f"no column for the grade, but those of a run, {some(of_a_run)}", kind, name, source)


def check_grades(table: Table, name: str, request: Request, source: str) -> None:
    """An error where what was read as grades stands in a column whose name says scores, and has fractions as they have.

    BEIR has grades in a column score; who has grades with a fraction there says that they are grades.
    """
    if request.kind != "grade" or "grade" in request.columns or name.strip().lower() not in ACCEPTED["score"]:
        return
    values = table.values()
    fractions = values[values % 1 != 0]
    if len(fractions) and 2 * len(fractions) >= len(values):
        message = f"the column {shorten(name, 60)!r} has scores, not grades: {fractions[0]:g}"
        raise _other_kind(message, request.kind, name, source)


def _other_kind(message: str, kind: Kind, name: str, source: str) -> DataError:
    """The error for a run in the place of judgements, or the other way round, and how to say that it is none."""
    import shlex

    from cranfield.formats.refusals import NOT_A_RUN, NOT_JUDGEMENTS

    looks = NOT_A_RUN if kind == "score" else NOT_JUDGEMENTS
    said = f"\n    If {shorten(name, 60)!r} is the {kind} all the same, say so: "
    columns = {kind: shorten(name, 100)}
    return DataError(
        message,
        source=source,
        remedy=f"{looks}{said}reading=Reading(columns={columns}).",
        option=f"{looks}{said}--columns {shlex.quote(f'{kind}={columns[kind]}')}.",
    )


def no_column(
    missing: Mapping[str, Sequence[str]], names: Sequence[str], used: Sequence[int], aliases: ColumnNames, source: str
) -> DataError:
    """The error for columns that are missing, with their known names; for one, the likeliest of those not `used`."""
    import shlex

    if len(names) == 1 and ";" in names[0]:
        remedy = "Write it with commas between columns, or with tabs (.tsv)."
        return DataError("the header has no comma, but semicolons", source=source, text=names[0], line=1, remedy=remedy)
    if not aliases and any(is_number(name) for name in names):
        message = f"the first line names no columns, but has values: {some([repr(name) for name in names], 12)}"
        return DataError(
            message, source=source, remedy="Write a line above it with their names, as topic,document,score."
        )
    free = [name for place, name in enumerate(names) if place not in used]
    likely = {role: _likeliest(free, known) if len(missing) == 1 else "NAME" for role, known in missing.items()}
    sought = [f"{role} (not {' nor '.join(map(repr, aliases[role]))})" if role in aliases else role for role in missing]
    *others, last = sought
    which = f"columns for {', '.join(others)} and {last}" if others else f"column for the {last}"
    unsaid = {role: ", ".join(known) for role, known in missing.items() if role not in aliases}
    known = "".join(f"\n    Names known for the {role}: {listed}." for role, listed in unsaid.items())
    typed = " ".join(f"--columns {shlex.quote(f'{role}={name}')}" for role, name in likely.items())
    again = "; where files differ, --columns is given once for each name" if len(unsaid) < len(missing) else ""
    ask = "Say which is which" if others else "Say which it is"
    return DataError(
        f"no {which} among {some([repr(name) for name in names], 12)}",
        source=source,
        remedy=f"{ask} when it is read, as reading=Reading(columns={likely}).{known}",
        option=f"{ask}: {typed}{again}.{known}",
    )


def _likeliest(names: Sequence[str], known: Sequence[str]) -> str:
    """The name that is most like those that a column may have."""
    from difflib import SequenceMatcher

    def likeness(name: str) -> float:
        return max(SequenceMatcher(None, name.lower(), other).ratio() for other in known)

    return shorten(max(names, key=likeness, default="NAME"), 100)
