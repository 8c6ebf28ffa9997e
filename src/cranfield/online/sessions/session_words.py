"""Words of comparisons of topics made words of sessions or users, which take their place here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cranfield.evaluation.findings import Finding
from cranfield.render.document import Block, Bullet, Paragraph, Title
from cranfield.render.grid import Grid


class UnitWords:
    """`session` or `user` in place of `topic`; what has such a name, as a system, keeps it.

    >>> words = UnitWords("user", ["topic-model"])
    >>> words.said("topic-model is best on topics of each system's own: 3 topics")
    "topic-model is best on users of each system's own: 3 users"
    """

    def __init__(self, unit: str, names: Iterable[str]) -> None:
        self.unit = unit
        kept = sorted((name for name in names if "topic" in name.lower()), key=len, reverse=True)
        parts = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in kept]
        self._pattern = re.compile("|".join([*parts, r"(?P<word>\b[Tt]opic(?=s?\b))"]))

    def said(self, text: str) -> str:
        """A sentence in these words."""
        return self._pattern.sub(self._word, text)

    def _word(self, found: re.Match[str]) -> str:
        word = found["word"]
        return found[0] if word is None else self.unit.capitalize() if word[0] == "T" else self.unit

    def told(self, blocks: Sequence[Block]) -> list[Block]:
        """Blocks in these words: sentences, titles, and what stands above the columns of tables and below them."""
        return [self._block(block) for block in blocks]

    def _block(self, block: Block) -> Block:
        if isinstance(block, Grid):
            return block._replace(header=list(map(self.said, block.header)), caption=self.said(block.caption))
        if isinstance(block, Title | Paragraph | Bullet):
            return block._replace(text=self.said(block.text))
        return block

    def findings(self, found: Iterable[Finding], of_logs: Sequence[Finding]) -> tuple[Finding, ...]:
        """Findings in these words, but for those of the logs, which are about topics indeed."""
        return tuple(each if each in of_logs else self._finding(each) for each in found)

    def _finding(self, found: Finding) -> Finding:
        source = f"{self.unit}s" if found.source == "topics" else found.source  # which may be a file
        return found._replace(source=source, message=self.said(found.message))
