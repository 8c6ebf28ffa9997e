"""What is shown to whoever judges a pool: the questions, and the titles and texts of its documents, whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cranfield.errors import plural, some
from cranfield.evaluation.findings import Finding
from cranfield.quotation.text_sources import DocumentText, GivenTextSource, text_source
from cranfield.search.collection_search import Watch, unwatched
from cranfield.texts.collection import check_positions


@dataclass(frozen=True, kw_only=True)
class Sheets:
    """Questions by topic, as (field, text), what is searched for in each, documents by id, and what is missing."""

    questions: Mapping[str, tuple[tuple[str, str], ...]]
    queries: Mapping[str, str]
    documents: Mapping[str, DocumentText]
    findings: tuple[Finding, ...]

    @property
    def texts(self) -> dict[str, str]:
        """Title and text of each document as one."""
        return {id: f"{document.title}\n{document.text}" for id, document in self.documents.items()}


def read_sheets(source: GivenTextSource, pool: Mapping[str, Sequence[str]], watch: Watch | None = None) -> Sheets:
    """Reads the texts of a pool, and of a large collection no others.

    >>> sheets = read_sheets("examples/pond.toml", {"1": ["d01", "nowhere"]})
    >>> sheets.queries["1"], sheets.documents["d01"].title, [str(finding) for finding in sheets.findings]
    ('can ducks swim well', 'Ducks on the water', ['pond: no text of 1 document of the pool: nowhere'])
    """
    opened = text_source(source).opened()
    topics = opened.read_topics()
    if topics is not None:
        check_positions(topics, list(pool), "the pool has", "Give --ids position.")
    rows = {} if topics is None else dict(topics.rows())
    queries = {} if topics is None else dict(zip(topics.ids, topics.queries(), strict=True))
    wanted = {document for documents in pool.values() for document in documents}
    documents: dict[str, DocumentText] = {}
    with (watch or unwatched)("texts", len(wanted)) as counter:
        for document in opened.read_documents():
            if document.id in wanted and document.id not in documents:
                documents[document.id] = document
                counter.step()
                if len(documents) == len(wanted):
                    break
    findings = []
    for noun, missing in (
        ("topic", [topic for topic in pool if not any(map(str.strip, rows.get(topic, {}).values()))]),
        ("document", sorted(wanted - documents.keys())),
    ):
        if missing:
            message = f"no text of {plural(len(missing), noun)} of the pool: {some(missing)}"
            findings.append(Finding(f"{noun}s-without-text", opened.name, message))
    return Sheets(
        questions={
            topic: tuple((name, text.strip()) for name, text in rows.get(topic, {}).items() if text.strip())
            for topic in pool
        },
        queries={topic: queries.get(topic, "") for topic in pool},
        documents=documents,
        findings=tuple(findings),
    )
