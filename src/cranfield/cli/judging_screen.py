"""What whoever judges in a terminal sees. Text of others is made harmless before anything else is done with it."""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from cranfield.errors import plural
from cranfield.judging.events import REASONS
from cranfield.judging.scale import OWN_KEYS
from cranfield.render.escaping import visible, visible_lines
from cranfield.render.terminal import coloured, terminal

if TYPE_CHECKING:
    from cranfield.judging.sheets import Sheets
    from cranfield.judging.showing import Paragraph, ShownDocument
    from cranfield.judging.sitting import Sitting

WIDEST = 100  # characters of a line that can be read with ease
LEAST_ROOM = 5  # lines of a document, however small the terminal is


class Screen:
    """The pair to judge as text: the question, the best part of the document or all of it, and the keys."""

    def __init__(self, sitting: Sitting, sheets: Sheets) -> None:
        self.sitting, self.sheets = sitting, sheets
        self._seen: tuple[str, str, list[ShownDocument]] = ("", "", [])  # a long document is looked at once
        self.marks, self.page = True, 0
        self.message = ""

    def show(self) -> None:
        """Draws it: on a terminal instead of what was there."""
        from cranfield.cli.streams import clear_screen, show_text

        clear_screen()
        show_text(self.text() if terminal().width is not None else f"\n{self.text()}")
        self.message = ""

    def text(self) -> str:
        """All of it, ending in a newline."""
        head, foot = [*self._head(), ""], ["", *self._foot()]
        body = list(self._body())
        room = self._room(len(head) + len(foot))
        if room is not None and len(body) > room:
            pages = -(-len(body) // (room - 1))
            self.page %= pages
            first = self.page * (room - 1)
            more = f"— page {self.page + 1} of {pages}: space turns it —"
            body = [*body[first : first + room - 1], coloured(more, "quiet")]
        else:
            self.page = 0
        return "\n".join([*head, *body, *foot]) + "\n"

    def turn(self) -> None:
        """From the best part to the whole document, then page by page, then back."""
        if self.sitting.view == "passage":
            self.sitting.view, self.page = "whole", 0
            return
        self.page += 1
        self.text()  # comes to the first page again behind the last one
        if self.page == 0:
            self.sitting.view = "passage"

    def help(self) -> str:
        """What every key does."""
        grades = [f"  {grade.key}  {visible(grade.label)}" for grade in self.sitting.scale.grades]
        own = [f"  {'space' if key == ' ' else key}  {does}" for key, does in OWN_KEYS.items()]
        return "\n".join(["Keys:", *grades, *own])

    def _head(self) -> Iterator[str]:
        assert self.sitting.pair is not None
        topic, document = self.sitting.pair
        here, everywhere = self.sitting.progress(topic), self.sitting.progress()
        judged = f"{here.done} of {here.all} judged; {everywhere.done} of {everywhere.all} in all"
        yield coloured(f"Topic {visible(topic)}: {judged}", "quiet")
        fields = self.sheets.questions.get(topic) or (("title", "(no text of this topic)"),)
        for number, (name, text) in enumerate(fields):
            shown = text if number == 0 else f"{name}: {text}"
            lines = list(_wrapped([(" ".join(visible_lines(shown).split()), False)], self._width()))
            yield from (coloured(line, "strong") if number == 0 else line for line in lines)
        yield ""
        yield coloured(f"Document {visible(document)}", "quiet")

    def _body(self) -> Iterator[str]:
        assert self.sitting.pair is not None
        topic, id = self.sitting.pair
        if id not in self.sheets.documents:
            yield "(no text of this document)"
            return
        parts = self._parts(topic, id)
        if parts[0].title:
            yield from self._lines(parts[0].title)
            yield ""
        if self.sitting.view == "passage" and parts[0].best is not None:
            best = parts[0].paragraphs[parts[0].best]  # read in one go: its own lines are for the whole document
            paragraphs = [tuple(stretch._replace(text=stretch.text.replace("\n", " ")) for stretch in best)]
        else:
            paragraphs = [paragraph for part in parts for paragraph in part.paragraphs]
        if not paragraphs:
            yield parts[0].note
        for number, paragraph in enumerate(paragraphs):
            if number:
                yield ""
            yield from self._lines(paragraph)

    def _parts(self, topic: str, id: str) -> list[ShownDocument]:
        """The document as the pages of the server show it: its first part, and where all is to be seen the others."""
        from cranfield.judging.showing import shown
        from cranfield.texts.document_store import StoredDocument

        if self._seen[:2] != (topic, id):
            self._seen = (topic, id, [])
        known = self._seen[2]
        text, query = self.sheets.documents[id], self.sheets.queries.get(topic, "")
        while not known or (self.sitting.view == "whole" and len(known) < known[0].parts):
            known.append(shown(StoredDocument(id, text.title, text.text), query, part=len(known) + 1))
        return known

    def _foot(self) -> Iterator[str]:
        if self.message:
            yield from self.message.splitlines()
        if self.sitting.note:
            yield f"Note: {visible(self.sitting.note)}"
        grades = "  ".join(f"{grade.key} {visible(grade.label)}" for grade in self.sitting.scale.grades)
        yield coloured(grades, "strong")
        turn = "whole document" if self.sitting.view == "passage" else "on"
        yield coloured(f"space {turn}  x can't tell  l later  u undo  n note  h marks  ? help  q leave", "quiet")

    def _lines(self, paragraph: Paragraph) -> Iterator[str]:
        """A paragraph line by line, wrapped, with words of the question marked."""
        line: list[tuple[str, bool]] = []
        for stretch in paragraph:
            first, *others = stretch.text.replace("\t", "    ").split("\n")
            line.append((visible(first), bool(stretch.mark) and self.marks))
            for text in others:
                yield from _wrapped(line, self._width())
                line = [(visible(text), bool(stretch.mark) and self.marks)]
        yield from _wrapped(line, self._width())

    def _width(self) -> int:
        return min(terminal().width or WIDEST, WIDEST)

    def _room(self, taken: int) -> int | None:
        """Lines that a terminal has for the document; None where there is no terminal."""
        if terminal().width is None:
            return None
        try:
            lines = os.get_terminal_size(sys.stdout.fileno()).lines
        except (OSError, ValueError):
            lines = 24
        return max((lines or 24) - taken - 1, LEAST_ROOM)


def reasons() -> str:
    """The reasons why something can't be told, each with its key.

    >>> reasons()
    "Can't tell: 1 question unclear  2 document unreadable  3 language  4 other"
    """
    return "Can't tell: " + "  ".join(f"{number} {reason}" for number, reason in enumerate(REASONS, start=1))


def summary(sitting: Sitting) -> str:
    """What there is when somebody leaves."""
    done = sitting.progress()
    left = done.all - done.done
    told = f"{done.graded} of {plural(done.all, 'document')} judged"
    return f"{told}, {done.cannot} can't be told, {left} left: {visible(sitting.log.path)}\n"


def _wrapped(stretches: Sequence[tuple[str, bool]], width: int) -> Iterator[str]:
    """Lines no wider than a terminal, broken at blanks where there are any; marked stretches in colour."""
    line, used = "", 0
    for text, is_marked in stretches:
        for word in _words(text, width):
            size = _size(word)
            if used + size > width and used:
                yield line.rstrip(" ")
                line, used = "", 0
                word = word.lstrip(" ")
                size = _size(word)
            line += coloured(word, "doubtful") if is_marked else word
            used += size
    if line or not stretches:
        yield line


def _words(text: str, width: int) -> Iterator[str]:
    """Words with the blanks before them, none wider than a line."""
    start = 0
    for place in range(1, len(text) + 1):
        if place == len(text) or (text[place] == " " and text[place - 1] != " "):
            word = text[start:place]
            start = place
            while _size(word) > width:
                part = max(1, width // 2)
                yield word[:part]
                word = word[part:]
            yield word


def _size(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
