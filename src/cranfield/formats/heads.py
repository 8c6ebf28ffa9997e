"""Metadata in comments at the head of a run, between two marks."""

from __future__ import annotations

from cranfield.formats.sources import Buffer

START, END = "# ir_metadata.start", "# ir_metadata.end"


def metadata_lines(data: Buffer) -> list[str]:
    """The comments from the mark where metadata start to the one where they end, or to the last comment at the head.

    >>> metadata_lines(b"# mine\\n# ir_metadata.start\\n# tag: a\\n# ir_metadata.end\\n1 Q0 d1 1 2.5 a\\n")
    ['# ir_metadata.start', '# tag: a', '# ir_metadata.end']
    """
    lines: list[str] = []
    start = 0
    while bytes(data[start : start + 1]) == b"#" and END not in lines[-1:]:
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        line = bytes(data[start:end]).decode("utf-8", "replace").rstrip("\r")
        if lines or line == START:
            lines.append(line)
        start = end + 1
    return lines
