"""Tables of attributes: what is known of each topic, or of each run."""

from __future__ import annotations

from cranfield.errors import DataError
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.headed import headed_table
from cranfield.formats.sources import open_source


def read_attributes(source: str, of: str = "topic", remedy: str = "") -> dict[str, dict[str, str]]:
    """Attributes of topics, or of something else: CSV or TSV with a header; its first column (or the one called topic)
    is the id. `remedy` says what is expected, where that is more than a header line and a line for each.
    """
    opened = open_source(source)
    names, _, rows = headed_table(decode(bytes(opened.data).removeprefix(BYTE_ORDER_MARK)), opened.label)
    if not rows or len(names) < 2:
        raise DataError(
            f"is not a table of {of} attributes",
            source=opened.label,
            remedy=remedy or f"Expected a header line such as {of},type,length and a line for each {of}.",
        )
    key = next((name for name in names if name.lower() in ("topic", "query", "qid", "query_id")), names[0])
    table: dict[str, dict[str, str]] = {}
    for number, line, fields in rows:
        topic = fields.pop(key)
        if topic in table:
            raise DataError(f"{of} '{topic}' is there twice", source=opened.label, line=number, text=line)
        table[topic] = {name: value.strip() for name, value in fields.items()}
    return table
