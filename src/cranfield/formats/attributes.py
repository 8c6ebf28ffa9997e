"""Tables of attributes: what is known of each topic, or of each run."""

from __future__ import annotations

from cranfield.errors import DataError
from cranfield.formats.sources import open_source, table_rows


def read_attributes(source: str) -> dict[str, dict[str, str]]:
    """A table of topic attributes: CSV or TSV with a header, whose first column (or the one called topic) is the id."""
    opened = open_source(source)
    rows, delimiter = table_rows(opened)
    if len(rows) < 2 or len(rows[0]) < 2:
        raise DataError(
            "is not a table of topic attributes",
            source=opened.label,
            remedy="Expected a header line such as topic,type,length and a line for each topic.",
        )
    header = [name.strip() for name in rows[0]]
    twice = [name for name in dict.fromkeys(header) if header.count(name) > 1]
    if twice:
        text = delimiter.join(rows[0])
        raise DataError(f"two columns are called '{twice[0]}'", source=opened.label, line=1, text=text)
    key = next((i for i, name in enumerate(header) if name.lower() in ("topic", "query", "qid", "query_id")), 0)
    table: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        if len(row) != len(header):
            problem = f"{len(row)} fields where the header has {len(header)}"
            raise DataError(problem, source=opened.label, line=number, text=delimiter.join(row))
        if row[key] in table:
            raise DataError(f"topic '{row[key]}' is there twice", source=opened.label, line=number, text=row[key])
        table[row[key]] = {
            name: value.strip() for i, (name, value) in enumerate(zip(header, row, strict=True)) if i != key
        }
    return table
