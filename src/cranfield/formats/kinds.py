"""Judgements that say more than a grade for each document.

Each kind is a module of this package with a function `read(source, name, columns) -> Qrels`, which puts what else is
known of each document into a column of the judgements, under the name of the kind.
To add a kind, write its module and name it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import Any

from cranfield.errors import UsageError
from cranfield.formats.reading import Reading
from cranfield.formats.sources import open_source
from cranfield.tables import Qrels

KINDS: Mapping[str, str] = {
    "subtopics": "a grade for each subtopic of a topic, as in TREC's diversity qrels",
    "judges": "the grades of several judges",
    "sampled": "a sample of the pool, with the stratum of each document or its chance to be judged",
    "preferences": "which of two documents is the better one, pair by pair or in trec_eval's prefs format",
}


def read_kind(source: Any, name: str | None, reading: Reading) -> Qrels:
    """Judgements of one of these kinds; their format is found from the content."""
    kind = reading.judgements or "plain"
    if kind not in KINDS:
        raise UsageError(f"unknown kind of judgements '{kind}'; there are plain, {', '.join(KINDS)}")
    qrels: Qrels = import_module(f"cranfield.formats.{kind}").read(source, name, reading.told)
    if reading.digest is None or qrels.origin.path in (None, "-"):
        return qrels
    digested = open_source(qrels.origin.path, reading.digest).digest()
    return replace(qrels, origin=qrels.origin._replace(digest=digested))
