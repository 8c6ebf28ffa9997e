"""Files around pools: the pool itself, the strata of a sampled one, plans, and which run is whose."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cranfield.errors import DataError, UsageError, plural, shorten, some
from cranfield.formats import read_qrels, suffix_of
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.headed import headed_table
from cranfield.formats.output import save
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import Source, nothing_in_it, open_source
from cranfield.numerals import whole
from cranfield.pooling.candidates import Share
from cranfield.pooling.making import DocumentPool, Sampled

if TYPE_CHECKING:
    from cranfield.formats.given import File, Given

NOT_YET, NOT_DRAWN = -1, -2  # grades in a file of strata: to be judged; not to be judged
DELIMITERS = {".csv": ",", ".tsv": "\t"}
OfRun = TypeVar("OfRun")


def pool_text(pool: DocumentPool, delimiter: str | None = None) -> str:
    """A line a document: topic, 0 and document, as in TREC's qrels without the grade; or a table with a header.

    >>> from cranfield.pooling.making import make_pool
    >>> print(pool_text(make_pool({"a": {"q1": {"d2": 2.0, "d1": 1.0}}})), end="")
    q1 0 d1
    q1 0 d2
    """
    pairs = [(topic, document) for topic, documents in pool.documents.items() for document in documents]
    if delimiter is None:
        return "".join(f"{one_word(topic)} 0 {one_word(document)}\n" for topic, document in pairs)
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerows([("topic", "document"), *pairs])
    return out.getvalue()


def write_pool(pool: DocumentPool, place: str) -> str | None:
    """Writes a pool, as a table where the name says so; of a sample also the strata, beside it. Where these went."""
    strata = None
    if pool.sample is not None:
        strata = strata_beside(place)
        save(strata, [sample_text(pool)])
    save(place, [pool_text(pool, DELIMITERS.get(suffix_of(place)))])
    return strata


def strata_beside(place: str) -> str:
    """Where the strata of a sampled pool go; a pool that is not written has no such place."""
    if place == "-":
        raise UsageError("a sample is of no use without its strata: -o FILE writes the pool, and FILE.strata beside it")
    return f"{place}.strata"


def sample_text(pool: DocumentPool) -> str:
    """All documents of a sampled pool: topic, 0, document, stratum, and -1 for those to be judged, -2 for the others.

    >>> from cranfield.pooling.making import make_pool
    >>> from cranfield.pooling.strata import parse_strata
    >>> runs = {"a": {"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}}}
    >>> print(sample_text(make_pool(runs, "stratified", strata=parse_strata("1:1,3:50%"))), end="")
    q1 0 d1 1 -1
    q1 0 d2 2 -2
    q1 0 d3 2 -1
    """
    if pool.sample is None:
        raise UsageError(f"{pool.method} draws no sample: it has no strata to write")
    no_blanks = "Strata are text, where an id ends at a blank: write ids without blanks in the runs."
    return "".join(
        f"{one_word(topic, no_blanks)} 0 {one_word(document, no_blanks)} {of.stratum} "
        f"{NOT_YET if of.drawn else NOT_DRAWN}\n"
        for topic, documents in pool.sample.items()
        for document, of in documents.items()
    )


def one_word(identity: str, remedy: str = "Write the pool as a table, with a name in .tsv or .csv.") -> str:
    """An id as a column of text, which ends at a blank; one that has a blank in it is an error."""
    if identity.encode("utf-8", "surrogateescape").split() != [identity.encode("utf-8", "surrogateescape")]:
        raise DataError(f"'{shorten(identity)}' has a blank in it", remedy=remedy)
    return identity


def filled(strata: File, qrels: Given, reading: Reading = DEFAULT) -> str:
    """A file of strata with the grades of those drawn: judgements of the kind "sampled", for statAP and xinfAP.

    >>> print(filled(io.StringIO("q1 0 d1 1 -1\\nq1 0 d2 2 -1\\nq1 0 d3 2 -2\\n"), {"q1": {"d1": 2, "d2": 0}}), end="")
    q1 0 d1 1 2
    q1 0 d2 2 0
    q1 0 d3 2 -1
    """
    opened = open_source(strata)
    grades = read_qrels(qrels, reading=reading).to_dict()
    lines, missing = [], []
    for row in _strata_rows(opened):
        grade = grades.get(row.topic, {}).get(row.document, -1.0) if row.drawn else -1.0
        if row.drawn and grade < 0:
            missing.append(f"{row.topic} {row.document}")
        if not grade.is_integer():
            raise row.fault(f"judgements of a sample have whole grades, not {grade:g}")
        lines.append(f"{row.topic} {row.zero} {row.document} {row.stratum} {max(grade, -1):g}\n")
    if missing:
        raise DataError(
            f"{plural(len(missing), 'document')} drawn but not judged: {some(missing)}",
            source=opened.label,
            remedy="Without them the chances would be wrong. Judge them, or draw anew.",
        )
    return "".join(lines)


class _StrataRow(NamedTuple):
    """A line of a file of strata."""

    topic: str
    zero: str
    document: str
    stratum: str
    drawn: bool
    fault: Callable[[str], DataError]


def _strata_rows(opened: Source) -> list[_StrataRow]:
    rows = []
    for number, line in enumerate(bytes(opened.data).removeprefix(BYTE_ORDER_MARK).splitlines(), start=1):
        fields = [decode(field) for field in line.split()]
        fault = partial(DataError, source=opened.label, line=number, text=decode(line))
        if len(fields) != 5 or fields[4] not in (str(NOT_YET), str(NOT_DRAWN)):
            raise fault(f"expected topic, 0, document, stratum, and {NOT_YET} or {NOT_DRAWN}")
        topic, zero, document, stratum, state = fields
        rows.append(_StrataRow(topic, zero, document, stratum, state == str(NOT_YET), fault))
    if not rows:
        raise nothing_in_it(opened.label)
    return rows


def read_strata(source: File) -> dict[str, dict[str, Sampled]]:
    """The sample in a file of strata, as `DocumentPool.sample` has it; chances are the share of a stratum drawn.

    >>> read_strata(io.StringIO("q1 0 d1 1 -1\\nq1 0 d2 2 -1\\nq1 0 d3 2 -2\\n"))["q1"]["d2"]
    Sampled(stratum=2, drawn=True, chance=0.5)
    """
    rows = _strata_rows(open_source(source))
    sizes = Counter((row.topic, row.stratum) for row in rows)
    drawn = Counter((row.topic, row.stratum) for row in rows if row.drawn)
    sample: dict[str, dict[str, Sampled]] = {}
    for row in rows:
        stratum = whole(row.stratum)
        if stratum is None or row.document in sample.get(row.topic, {}):
            raise row.fault("a document stands once in a file of strata, and a stratum is a whole number")
        of_stratum = row.topic, row.stratum
        share = drawn[of_stratum] / sizes[of_stratum]
        sample.setdefault(row.topic, {})[row.document] = Sampled(stratum, row.drawn, share)
    return sample


def read_pool(source: File) -> dict[str, tuple[str, ...]]:
    """The documents to judge in a file that `write_pool` wrote, topic by topic as they stand there.

    Judgements, whose last column is a grade, are no pool.

    >>> read_pool(io.StringIO("q1 0 d1\\nq1 0 d2\\nq2 0 d1\\n"))
    {'q1': ('d1', 'd2'), 'q2': ('d1',)}
    >>> read_pool(io.StringIO("topic,document\\nq1,the first\\n"))
    {'q1': ('the first',)}
    """
    opened = open_source(source)
    content = bytes(opened.data).removeprefix(BYTE_ORDER_MARK)
    first = decode(content.split(b"\n", 1)[0]).lower()
    is_table = "topic" in first and "document" in first and any(mark in first for mark in DELIMITERS.values())
    pool: dict[str, dict[str, None]] = {}
    for number, line, topic, document in _pool_rows(content, opened.label, is_table):
        if document in pool.setdefault(topic, {}):
            raise DataError(
                f"document '{shorten(document)}' is there twice", source=opened.label, line=number, text=line
            )
        pool[topic][document] = None
    if not pool:
        raise nothing_in_it(opened.label)
    return {topic: tuple(documents) for topic, documents in pool.items()}


def _pool_rows(content: bytes, label: str, is_table: bool) -> Iterator[tuple[int, str, str, str]]:
    if is_table:
        for number, line, fields in headed_table(decode(content), label).rows:
            row = {name.lower(): value for name, value in fields.items()}
            if not row["topic"] or not row["document"]:
                raise DataError("a line has a topic and a document", source=label, line=number, text=line)
            yield number, line, row["topic"], row["document"]
        return
    for number, raw in enumerate(content.splitlines(), start=1):
        parts, line = [decode(field) for field in raw.split()], decode(raw)
        if not parts:
            continue
        if len(parts) != 3:
            remedy = "A pool has topic, 0 and document on each line, as cranfield pool writes it."
            if len(parts) == 4:
                remedy += " With a grade behind them these are judgements."
            raise DataError(
                f"{plural(len(parts), 'field')} where a pool has 3", source=label, line=number, text=line, remedy=remedy
            )
        yield number, line, parts[0], parts[2]


def read_plan(source: File) -> dict[str, Share]:
    """How far and when each run counts: CSV or TSV with a header, columns run, depth and perhaps priority.

    >>> read_plan(io.StringIO("run,depth,priority\\na,100,1\\nb,50,2\\n"))
    {'a': Share(depth=100, priority=1), 'b': Share(depth=50, priority=2)}
    """
    shares: dict[str, Share] = {}
    for place, row in _table(source, ("run", "depth")):
        values = [row["depth"], row.get("priority") or "1"]
        if not all(value.isascii() and value.isdigit() and int(value) > 0 for value in values):
            message = f"depth {shorten(values[0])!r} and priority {shorten(values[1])!r} must be whole numbers from 1"
            raise DataError(message, source=place)
        _add(shares, row["run"], Share(*map(int, values)), place)
    return shares


def read_groups(source: File) -> dict[str, str]:
    """Whose run each is: CSV or TSV with a header, columns run and group.

    >>> read_groups(io.StringIO("run,group\\na1,acme\\na2,acme\\nb,both\\n"))
    {'a1': 'acme', 'a2': 'acme', 'b': 'both'}
    """
    groups: dict[str, str] = {}
    for place, row in _table(source, ("run", "group")):
        if not row["group"]:
            raise DataError(f"run '{row['run']}' has no group", source=place)
        _add(groups, row["run"], row["group"], place)
    return groups


def _add(values: dict[str, OfRun], run: str, value: OfRun, place: str) -> None:
    if run in values:
        raise DataError(f"run '{run}' is there twice", source=place)
    values[run] = value


def _table(source: File, columns: tuple[str, ...]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """The rows of a table with where they stand, for messages."""
    opened = open_source(source)
    names, header, rows = headed_table(decode(bytes(opened.data).removeprefix(BYTE_ORDER_MARK)), opened.label)
    missing = [column for column in columns if column not in map(str.lower, names)]
    if missing:
        remedy = f"Expected CSV or TSV with a header line, {', '.join(columns)}, and a line for each run."
        raise DataError(f"no column {' nor '.join(missing)}", source=opened.label, line=1, text=header, remedy=remedy)
    for number, _, fields in rows:
        yield f"{opened.label}:{number}", {name.lower(): value.strip() for name, value in fields.items()}
