"""`quote`: questions, titles, passages and whole texts of the documents that a result shows, and of no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from cranfield.errors import plural, some
from cranfield.evaluation.findings import Finding
from cranfield.quotation.passages import CUT, Vocabulary, marked, passage
from cranfield.quotation.text_sources import DocumentText, GivenTextSource, OpenTexts, TextSource, text_source
from cranfield.search.collection_search import Watch, unwatched
from cranfield.texts.collection import other_ids, uses_positions
from cranfield.texts.texts import Topics

LONGEST_TITLE = 200  # characters
IN_TABLES = 60  # characters of a question or a title in a table
ALWAYS_SHORT = 20_000  # characters of a text that is not too long for any room that holds it
NEARLY_ALL = 0.9  # of some ids, from which on they are taken for those of something else


class Quoted(NamedTuple):
    """What is shown of a document: its title, and for each topic that shows it the passage, and the words to mark.

    `length` is that of the whole text, in characters.
    """

    title: str | None
    length: int
    passages: Mapping[str, str]
    forms: Mapping[str, frozenset[str]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Quotations:
    """Texts of a result: `questions` by topic as (field, text), `documents` and `whole` texts by id, what is odd.

    `whole` has the texts that there was room for; `unasked` says why no question is shown, though there are topics.
    `source` is where all of it is from, with `reads_documents` where documents were looked for in it.
    """

    name: str
    questions: Mapping[str, tuple[tuple[str, str], ...]]
    documents: Mapping[str, Quoted]
    whole: Mapping[str, str]
    findings: tuple[Finding, ...] = ()
    unasked: str | None = None
    source: TextSource = field(default_factory=TextSource)
    reads_documents: bool = False

    @property
    def no_question(self) -> str:
        """What stands in the place of a question that is not there."""
        if self.unasked is not None:
            return f"What was asked is not shown: {self.unasked}."
        return f"What was asked is not in {self.name}."

    def question(self, topic: str) -> str:
        """The question in short: its title, or its first field that says something; nothing where it is missing."""
        fields = self.questions.get(topic, ())
        titles = [text for name, text in fields if name == "title"]
        return _line(next(iter((*titles, *(text for _, text in fields))), ""))

    def title(self, document: str) -> str:
        """The title of a document; nothing where it has none."""
        quoted = self.documents.get(document)
        return (quoted and quoted.title) or ""

    def short_question(self, topic: str) -> str:
        """The question as a table has room for it; – where there is none."""
        return _short(self.question(topic))

    def short_title(self, document: str) -> str:
        """The title as a table has room for it, or the beginning of a passage; – where there is neither."""
        quoted = self.documents.get(document)
        return _short("" if quoted is None else quoted.title or next(iter(quoted.passages.values()), ""))

    def passage(self, topic: str, document: str) -> Sequence[tuple[str, bool]]:
        """The passage of a document that fits a topic best, with the words of the question marked."""
        quoted = self.documents.get(document)
        if quoted is None:
            return []
        return marked(quoted.passages.get(topic, ""), quoted.forms.get(topic, frozenset()))

    def words(self, topic: str, documents: Collection[str]) -> list[str]:
        """The words, in lower case, that stand for words of the question in these documents."""
        quoted = (self.documents[document].forms.get(topic, ()) for document in documents if document in self.documents)
        return sorted({form for forms in quoted for form in forms})


def quote(
    source: GivenTextSource,
    shown: Mapping[str, Sequence[str]],
    *,
    judged: Sequence[str] | None = None,
    room: int = 0,
    watch: Watch | None = None,
) -> Quotations:
    """Reads the texts that a result shows: of each topic the question, and of its documents title and passage.

    `shown` has for each topic the ids of its documents, the most important first. Whole texts are kept as far as `room`
    goes, in characters: the first document of every topic, then the second ones, and so on. `judged` are the topics of
    the judgements, where there are more than those shown: if they are positions of topics and not their ids, no
    question is shown, for an id that is the same by chance is that of another topic.

    >>> ducks = quote("examples/pond.toml", {"1": ["d01", "d12"]})
    >>> ducks.question("1"), ducks.title("d12"), ducks.words("1", ["d01"])
    ('can ducks swim well', 'Why feathers stay dry', ['ducks', 'swim'])
    """
    given = text_source(source)
    opened = given.opened()
    topics, vocabulary = opened.read_topics(), Vocabulary()
    unasked = _positions(topics, list(shown) if judged is None else judged)
    told = _about_topics(opened, topics, list(shown), unasked)
    asked_ids = frozenset(() if topics is None else topics.ids)
    topics = topics if unasked is None else None
    questions = _questions(topics, shown)
    asked = dict(zip(topics.ids, topics.queries(), strict=True)) if topics is not None else {}
    terms = {topic: vocabulary.terms(asked.get(topic, "")) for topic in shown}
    showing, order = _where(shown)
    shelf = _Shelf(room)
    quoted: dict[str, Quoted] = {}
    empty: list[str] = []
    read = Counter[bool]()  # whether their ids are those of topics
    with (watch or unwatched)("texts", len(showing)) as counter:
        for found in opened.read_documents() if showing else ():
            read[found.id in shown] += 1
            if found.id in showing and found.id not in quoted:
                quoted[found.id] = _quoted(found, {topic: terms[topic] for topic in showing[found.id]}, vocabulary)
                shelf.put(found, order[found.id])
                if not (found.title.strip() or found.text.strip()):
                    empty.append(found.id)
                counter.step()
                if len(quoted) == len(showing):
                    break
    missing = [document for document in showing if document not in quoted]
    told += _about_swapping(opened, missing, len(showing), asked_ids, read)
    told += _about_documents(opened, missing, empty, len(showing))
    told += _about_words(vocabulary, opened.name, bool(showing))
    return Quotations(
        name=opened.name,
        questions=questions,
        documents=quoted,
        whole=shelf.texts(),
        findings=tuple(told),
        unasked=unasked,
        source=given,
        reads_documents=bool(showing),
    )


_Order: TypeAlias = "tuple[int, int]"  # of a document: its place among those of a topic, and the number of the topic


def _where(shown: Mapping[str, Sequence[str]]) -> tuple[dict[str, list[str]], dict[str, _Order]]:
    """For each document the topics that show it, and how important it is."""
    showing: dict[str, list[str]] = {}
    order: dict[str, _Order] = {}
    for number, (topic, documents) in enumerate(shown.items()):
        for place, document in enumerate(documents):
            showing.setdefault(document, []).append(topic)
            order[document] = min(order.get(document, (place, number)), (place, number))
    return showing, order


@dataclass(eq=False)
class _Shelf:
    """Whole texts in order of importance, as many as there is room for; in whatever order they come, the same ones.

    A text that is very long is not among them, or it alone would push out all others.
    """

    room: int
    _taken: int = 0
    _heap: list[tuple[_Order, str, str]] = field(default_factory=list)
    _full: _Order | None = None  # the most important text that there was no room for: none behind it is taken

    def put(self, document: DocumentText, order: _Order) -> None:
        """Takes a text, and gives up those that there is no room for any more."""
        size, place = len(document.text), (-order[0], -order[1])
        if not document.text.strip() or size > min(self.room, max(self.room // 10, ALWAYS_SHORT)):
            return
        if self._full is not None and place < self._full:
            return
        heappush(self._heap, (place, document.id, document.text))
        self._taken += size
        while self._taken > self.room:
            self._full, _, text = heappop(self._heap)
            self._taken -= len(text)

    def texts(self) -> dict[str, str]:
        """Those that are left, the most important first."""
        return {id: text for _, id, text in sorted(self._heap, reverse=True)}


def _quoted(document: DocumentText, terms: Mapping[str, frozenset[str]], vocabulary: Vocabulary) -> Quoted:
    title, text = _line(document.title), _line(document.text)
    text = _without_title(text, title)
    of_title, of_text = vocabulary.words(title), vocabulary.words(text)
    passages, forms = {}, {}
    for topic, wanted in terms.items():
        hits = [word for word in of_text if word.term in wanted]
        passages[topic] = passage(text, hits)
        forms[topic] = frozenset(word.form for word in (*hits, *of_title) if word.term in wanted)
    title = title if len(title) <= LONGEST_TITLE else title[: LONGEST_TITLE - 1] + CUT
    return Quoted(title or None, len(document.text.strip()), passages, forms)


def _without_title(text: str, title: str) -> str:
    """A text whose first words are its title, without them: they stand above it.

    >>> _without_title("On ducks. They swim.", "on ducks"), _without_title("On ducks", "On ducks")
    ('They swim.', 'On ducks')
    """
    bare = title.rstrip(" .")
    rest = text[len(bare) :].lstrip(" .:–-") if bare and text[: len(bare)].casefold() == bare.casefold() else ""
    begins_a_word = text[len(bare) : len(bare) + 1].isalnum()
    return text if begins_a_word or not rest else rest


def _short(text: str) -> str:
    return (text if len(text) <= IN_TABLES else text[: IN_TABLES - 1] + CUT) or "–"


def _line(text: str) -> str:
    return " ".join(text.split())


def _questions(topics: Topics | None, shown: Collection[str]) -> dict[str, tuple[tuple[str, str], ...]]:
    if topics is None:
        return {}
    rows = ((topic, fields) for topic, fields in topics.rows() if topic in shown)
    told = {
        topic: tuple((name, text.strip()) for name, text in fields.items() if text.strip()) for topic, fields in rows
    }
    return {topic: fields for topic, fields in told.items() if fields}


def _positions(topics: Topics | None, judged: Sequence[str]) -> str | None:
    """What to say if the judgements have positions of topics in the place of ids."""
    if topics is None or not uses_positions(topics, judged):
        return None
    return other_ids(topics, judged)


def _about_topics(opened: OpenTexts, topics: Topics | None, shown: Sequence[str], unasked: str | None) -> list[Finding]:
    if topics is None:
        return [Finding("no-questions", opened.name, "has no topics: what was asked is not shown", doubtful=False)]
    if unasked is not None:
        return [Finding("topic-ids", opened.name, f"what was asked is not shown: {unasked}")]
    known = set(topics.ids)
    missing = [topic for topic in shown if topic not in known]
    if not missing:
        return []
    told = f"no text of {_part(missing, len(shown), 'topic')}: {some(missing)}"
    trap = other_ids(topics, shown) if len(shown) > 1 else None  # a single one may stand for anything
    if trap or len(missing) == len(shown):
        told += f"; {trap or f'there are {some(topics.ids, 3)}'}"
    return [Finding("topics-without-text", opened.name, told, doubtful=False)]


def _about_swapping(
    opened: OpenTexts, missing: Sequence[str], shown: int, asked: frozenset[str], read: Mapping[bool, int]
) -> list[Finding]:
    """Whether questions and documents look as if each were given in the place of the other: most documents shown have
    no text, and they are among the questions; or what was read as documents has the ids of topics.
    """
    if not missing or not opened.documents or len(missing) < shown / 2:
        return []
    found = sum(document in asked for document in missing)
    if found >= NEARLY_ALL * len(missing):
        are = "is" if found == 1 else "are"
        why = f"of {plural(shown, 'document')} shown, {found:,} {are} among the questions and not among the documents"
    elif read[True] >= NEARLY_ALL * (read[True] + read[False]) and len(missing) >= NEARLY_ALL * shown:
        why = f"what was read as documents has ids of topics, and no text of {_part(missing, shown, 'document')} shown"
    else:
        return []
    told = (
        f"questions and documents look swapped: {why}; give each in the place of the other (--questions, --documents)"
    )
    return [Finding("texts-swapped", opened.name, told)]


def _about_documents(opened: OpenTexts, missing: Sequence[str], empty: Sequence[str], shown: int) -> list[Finding]:
    if not shown:
        return []
    if not opened.documents:
        return [Finding("no-documents", opened.name, "has no documents: what was found is not shown", doubtful=False)]
    findings = []
    if missing:
        count = f"no text of {_part(missing, shown, 'document')} shown: {some(missing)}"
        findings.append(Finding("documents-without-text", opened.name, count, doubtful=False))
    if empty:
        count = f"without a word are {_part(empty, shown, 'document')} shown: {some(empty)}"
        findings.append(Finding("empty-texts", opened.name, count, doubtful=False))
    return findings


def _about_words(vocabulary: Vocabulary, name: str, any_shown: bool) -> list[Finding]:
    if vocabulary.stems or not any_shown:
        return []
    message = (
        "words of the questions are marked only where they are written alike; for other forms of them: "
        "pip install 'cranfield[search]'"
    )
    return [Finding("no-stemmer", name, message, doubtful=False)]


def _part(names: Sequence[str], all: int, noun: str) -> str:
    """
    >>> _part(["a"], 3, "topic"), _part(["a"], 1, "topic")
    ('1 of 3 topics', 'the only topic')
    """
    return f"the only {noun}" if all == 1 else f"{len(names):,} of {plural(all, noun)}"
