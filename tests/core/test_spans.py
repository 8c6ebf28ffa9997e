"""Lines of one topic are found together, whatever ends them, and nothing of a text is lost."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from cranfield._core import spans_of

TEXTS = st.lists(st.sampled_from([b"q1", b"q2", b"#", b" ", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"d7 1"])).map(
    b"".join
)


def slow_spans(text: bytes, most: int) -> list[tuple[bytes, bytes]]:
    """(topic, lines), line by line."""
    spans: list[tuple[bytes, bytes]] = []
    for line in text.splitlines(keepends=True):
        topic = re.split(rb"[ \t\r\n]", line.lstrip(b" \t"))[0]
        if spans and spans[-1][0] == topic and len(spans[-1][1]) < most:
            spans[-1] = topic, spans[-1][1] + line
        else:
            spans.append((topic, line))
    return spans


@given(TEXTS, st.integers(1, 30))
def test_spans_are_those_found_slowly(text: bytes, most: int) -> None:
    begins, topics, ends = spans_of(text, most)
    cuts = list(zip(begins[:-1], begins[1:], ends[:-1], ends[1:], strict=True))
    assert [(topics[c:d], text[a:b]) for a, b, c, d in cuts] == slow_spans(text, most)
