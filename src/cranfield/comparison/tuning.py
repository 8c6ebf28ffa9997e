"""Topics that systems were tuned on prove nothing when they are tested on: what a user says of them, and what the
metadata of runs say (`search --parameters`, `fuse --parameters`, `fuse --same-topics`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cranfield.comparison.comparison import Comparison, Panel
from cranfield.comparison.panels import Evaluated
from cranfield.efficiency.metadata import metadata_path, read_metadata
from cranfield.errors import DataError, plural, some
from cranfield.evaluation.findings import Finding
from cranfield.planning.tuned import TunedOn, judgements_digest, tuned_on_test


def of_tuning(
    evaluated: Mapping[str, Evaluated], made: Comparison, said: Sequence[str] | TunedOn = ()
) -> list[Finding]:
    """Every warning of topics compared that were tuned on; `said` is what the user said was tuned on."""
    warnings: list[Finding] = []
    for name, of_collection in evaluated.items():
        collection = _TestTopics(of_collection, [panel for panel in made.panels if panel.collection == name])
        if isinstance(said, TunedOn):
            warnings += collection.of_record("topics", said.to_dict())
        elif shared := collection.among(said):
            warnings.append(tuned_on_test("topics", shared))
        warnings += collection.of_runs()
    return warnings


class _TestTopics:
    """The topics that runs are compared on, with the judgements of these."""

    def __init__(self, evaluated: Evaluated, panels: Sequence[Panel]) -> None:
        self.results, self.judgements = evaluated.results, evaluated.judgements
        self.topics = list(dict.fromkeys(topic for panel in panels for topic in panel.topics))
        self._digest: str | None = None

    def among(self, tuned: Sequence[str]) -> list[str]:
        known = set(tuned)
        return [topic for topic in self.topics if topic in known]

    @property
    def digest(self) -> str:
        """That of the judgements, computed only where it is asked for; empty where they are not known."""
        if self._digest is None:
            self._digest = "" if self.judgements is None else judgements_digest(self.judgements.qrels)
        return self._digest

    def of_runs(self) -> Iterator[Finding]:
        """What the metadata beside runs say."""
        inputs = [source for source in self.results.inputs if source.role == "run"]
        for name, source in zip(self.results.runs, inputs, strict=False):  # results made of scores have no inputs
            if source.path in (None, "-") or not os.path.isfile(metadata_path(str(source.path))):
                continue
            try:
                tuning = (read_metadata(str(source.path)) or {}).get("tuning")
            except DataError as error:
                message = f"what it was tuned on is not known: {error.message} ({error.source})"
                yield Finding("unreadable-metadata", name, message, doubtful=False)
                continue
            if isinstance(tuning, dict):
                yield from self.of_record(name, tuning)

    def of_record(self, source: str, tuning: Mapping[str, Any]) -> Iterator[Finding]:
        """What is known of a tuning, from metadata or a file of parameters.

        Of folds, topics that were tested and trained on in the same one. Otherwise topics tuned on, if a search has
        seen that the queries are the same, or else if the judgements are: other collections have other topics under
        these ids.
        """
        tuned = self.among(_texts(tuning.get("topics")))
        if "folds" in tuning:
            shared = self.among([topic for fold in _folds(tuning["folds"]) for topic in fold])
        elif "also searched" in tuning:
            shared = self.among(_texts(tuning["also searched"]))
        elif tuned and tuning.get("judgements", self.digest) == self.digest:
            shared = tuned
        elif tuned:
            on = tuning.get("collection") or "a collection"
            message = (
                f"{plural(len(tuned), 'topic')} of {on} with other judgements were tuned on under ids that are tested "
                f"on: {some(tuned)}. If they are the same topics, test on others"
            )
            yield Finding("tuned-on-same-ids", source, message, doubtful=False)
            return
        else:
            return
        if shared:
            yield tuned_on_test(source, shared)


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _folds(value: object) -> Iterator[list[str]]:
    """The topics of each fold that are both trained and tested on."""
    for fold in value if isinstance(value, list) else []:
        if isinstance(fold, dict):
            trained = set(_texts(fold.get("train")))
            yield [topic for topic in _texts(fold.get("test")) if topic in trained]
