"""The texts that a page carries: of what it shows, and no more than the budget allows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cranfield.errors import plural
from cranfield.quotation.quoting import ALWAYS_SHORT, Quotations, quote
from cranfield.quotation.text_sources import GivenTextSource, text_source
from cranfield.render.escaping import script_data, utf8, visible, visible_lines
from cranfield.render.json_form import Json
from cranfield.report.contents import Report, doubtful_first
from cranfield.report.report_tables import listed_topics
from cranfield.search.collection_search import Watch, unwatched

BUDGET = 5_000_000  # bytes of a page
NOTHING_CARRIED = "Texts are left out: their budget is 0."


class CarriedDocument(NamedTuple):
    """What is carried of a document for a topic."""

    title: str | None
    snippet: str


class CarriedTexts(NamedTuple):
    """Texts as the page has them, safe to be shown: by topic as it is listed, `whole` by document.

    `texts[t]` has the documents of topic t by id; `missing` are those that the collection lacks, `unknown` the topics,
    by number; `left_out` says what there was no room for, and `no_question` why there is none.
    """

    questions: list[list[tuple[str, str]] | None]
    texts: list[dict[str, CarriedDocument]]
    whole: dict[str, str]
    words: list[list[str]]
    left_out: str | None
    missing: frozenset[str]
    unknown: frozenset[int]
    name: str
    no_question: str


def with_texts(
    report: Report, collection: GivenTextSource, *, budget: int = BUDGET, watch: Watch = unwatched
) -> Report:
    """The same report with the questions of its topics, and the texts of the documents that it lists.

    A page carries no more than `budget` bytes of them; with 0 no document is looked for, and only the titles of
    questions are shown. What the collection lacks is among the findings.

    >>> from cranfield import Experiment
    >>> from cranfield.report.contents import gather
    >>> experiment = Experiment("examples/pond.qrels", {"a": {"1": {"d01": 1.0, "d12": 0.5}}})
    >>> report = with_texts(gather(experiment, "RR"), "examples/pond.toml")
    >>> report.texts.questions[0], report.texts.texts[0]["d12"].title
    ([('title', 'can ducks swim well')], 'Why feathers stay dry')
    """
    shown = listed_documents(report) if budget else {topic: [] for topic in listed_documents(report)}
    quotations = quote(collection, shown, judged=report.experiment.judgements().whole.topics, room=budget, watch=watch)
    return replace(
        report,
        quotations=quotations,
        texts=carried_texts(quotations, shown, budget),
        findings=doubtful_first([*report.findings, *quotations.findings]),
        facts=report.facts or text_source(collection).listed.facts,
    )


def listed_documents(report: Report) -> dict[str, list[str]]:
    """For each topic that is listed the documents that are, those first that stand first in any ranking."""
    documents = {}
    for topic in listed_topics(report):
        ranks: dict[int, int] = {}
        for places in report.rankings.places:
            for rank, place in enumerate(places[topic]):
                ranks[place] = min(rank, ranks.get(place, rank))
        ids = report.rankings.documents[topic]
        documents[report.results.topics[topic]] = [
            ids[place] for place in sorted(ranks, key=lambda at: (ranks[at], at))
        ]
    return documents


def carried_texts(quotations: Quotations, shown: Mapping[str, Sequence[str]], budget: int = BUDGET) -> CarriedTexts:
    """Questions first, then titles and passages of the first documents of all topics, then whole texts in that order.

    `shown` has for each topic its documents, the first ones first.

    >>> from cranfield.quotation import quote
    >>> shown = {"1": ["d01"], "2": ["d02"]}
    >>> pond = quote("examples/pond.toml", shown, room=600)
    >>> carried_texts(pond, shown, 600).left_out
    'Left out, to keep texts within 600 bytes: whole texts of 1 of 2 documents.'
    """
    room = _Room(budget)
    questions = [_question(quotations, topic, room) for topic in shown]
    texts, words = _documents(quotations, shown, room)
    seen = {document for of_topic in texts for document in of_topic}
    whole: dict[str, str] = {}
    for document, text in quotations.whole.items():
        told = _lines(text)
        if document in seen and room.takes({utf8(visible(document)): told}):
            whole[document] = told
    asked = sum(topic in quotations.questions for topic in shown)
    listed = sum(document in quotations.documents for documents in shown.values() for document in documents)
    written = sum(quoted.length > 0 for quoted in quotations.documents.values())
    parts = (
        ("questions of", asked - sum(fields is not None for fields in questions), asked, "topic"),
        ("titles and passages of", listed - sum(map(len, texts)), listed, "listed document"),
        ("whole texts of", written - len(whole), written, "document"),
    )
    lost = [f"{what} {count:,} of {plural(all, noun)}" for what, count, all, noun in parts if count]
    left_out = f"Left out, to keep texts within {size(budget)}: {', '.join(lost)}." if lost else None
    left_out = left_out if budget else NOTHING_CARRIED
    return CarriedTexts(
        questions=questions,
        texts=texts,
        whole=whole,
        words=[sorted(forms) for forms in words],
        left_out=left_out,
        missing=frozenset(d for documents in shown.values() for d in documents if d not in quotations.documents),
        unknown=frozenset(number for number, topic in enumerate(shown) if topic not in quotations.questions),
        name=utf8(visible(quotations.name)),
        no_question=utf8(visible(quotations.no_question)),
    )


def _question(quotations: Quotations, topic: str, room: _Room) -> list[tuple[str, str]] | None:
    fields = [(utf8(visible(name)), _lines(text)) for name, text in quotations.questions.get(topic, ())]
    return fields if fields and room.takes(fields) else None


def _documents(
    quotations: Quotations, shown: Mapping[str, Sequence[str]], room: _Room
) -> tuple[list[dict[str, CarriedDocument]], list[set[str]]]:
    """For each topic titles and passages by document, and the words to mark in them."""
    topics = list(shown)
    texts: list[dict[str, CarriedDocument]] = [{} for _ in topics]
    words: list[set[str]] = [set() for _ in topics]
    for number, document in _by_place(shown):
        quoted = quotations.documents.get(document)
        if quoted is None:
            continue
        title = None if quoted.title is None else utf8(visible(quoted.title))
        entry = CarriedDocument(title, utf8(visible(quoted.passages[topics[number]])))
        forms = {utf8(visible(form)) for form in quoted.forms[topics[number]]} - words[number]
        if room.takes([entry._asdict(), *forms]):
            texts[number][document] = entry
            words[number] |= forms
    return texts, words


def _by_place(shown: Mapping[str, Sequence[str]]) -> Iterable[tuple[int, str]]:
    """Number of topic and document: the first of all topics, then the second ones."""
    lists = list(shown.values())
    for place in range(max(map(len, lists), default=0)):
        yield from ((number, documents[place]) for number, documents in enumerate(lists) if place < len(documents))


def _lines(text: str) -> str:
    return utf8(visible_lines(text.replace("\r\n", "\n").replace("\r", "\n")))


class _Room:
    """Bytes that are left. Once something did not fit nothing else does: what comes later is less important."""

    def __init__(self, size: int) -> None:
        self.left, self.longest = size, max(size // 10, ALWAYS_SHORT)

    def takes(self, data: Json) -> bool:
        """Whether there is room for this, which is then taken; what is very long would leave none for others."""
        size = len(str(script_data(data))) + 1  # a comma between it and the next
        if size > self.longest:
            return False
        self.left = self.left - size if size <= self.left else 0
        return self.left > 0


def size(count: int) -> str:
    """A number of bytes as people say it.

    >>> size(5_000_000), size(1500), size(200)
    ('5 MB', '1.5 KB', '200 bytes')
    """
    for unit, name in ((1_000_000, "MB"), (1000, "KB")):
        if count >= unit:
            return f"{count / unit:g} {name}"
    return plural(count, "byte")
