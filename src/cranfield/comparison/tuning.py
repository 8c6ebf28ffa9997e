"""Topics that systems were tuned on prove nothing when they are tested on: what a user says of them, and what the
metadata of runs say (`search --parameters`, `fuse --parameters`, `fuse --same-topics`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from cranfield.comparison.comparison import Comparison
from cranfield.comparison.panels import Evaluated
from cranfield.efficiency.metadata import tuning_of
from cranfield.errors import DataError, plural, some
from cranfield.evaluation.experiment import Judgements
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.results import Results
from cranfield.planning.tuned import TunedOn, judgements_digest, topic_digests, tuned_on_test
from cranfield.tables import Qrels

SAME_TUNING = ("topics", "judgements")  # what two records of one tuning have in common, wherever the file lies


def of_tuning(
    evaluated: Mapping[str, Evaluated], made: Comparison, said: Sequence[str] | TunedOn = ()
) -> list[Finding]:
    """Every warning of topics compared that were tuned on; `said` is what the user said was tuned on."""
    warnings: list[Finding] = []
    for name, (results, _, judgements) in evaluated.items():
        panels = [panel for panel in made.panels if panel.collection == name]
        topics = dict.fromkeys(topic for panel in panels for topic in panel.topics)
        collection = _TestTopics(results, list(topics), judgements)
        if isinstance(said, TunedOn):
            warnings += collection.of_record("topics", collection.searched_with(said))
        elif shared := collection.among(said):
            warnings.append(tuned_on_test("topics", shared))
        warnings += collection.of_runs()
    return warnings


def of_tuned_runs(results: Results) -> list[Finding]:
    """Every warning of runs that were tuned on topics that they are evaluated on, where they are not compared."""
    return list(_TestTopics(results, list(results.topics)).of_runs())


class _TestTopics:
    """The topics that runs are tested on, with the judgements of these."""

    def __init__(self, results: Results, topics: Sequence[str], judgements: Judgements | None = None) -> None:
        self.results, self.topics, self._judgements = results, topics, judgements

    def among(self, tuned: Sequence[str]) -> list[str]:
        known = set(tuned)
        return [topic for topic in self.topics if topic in known]

    @cached_property
    def qrels(self) -> Qrels | None:
        """The judgements; None where results were made of scores."""
        if self._judgements is None and self.results.inputs:
            return self.results.experiment.judgements(self.results.measures).qrels
        return None if self._judgements is None else self._judgements.qrels

    @cached_property
    def digest(self) -> str:
        return "" if self.qrels is None else judgements_digest(self.qrels)

    @cached_property
    def digests(self) -> Mapping[str, str]:
        return {} if self.qrels is None else topic_digests(self.qrels)

    @cached_property
    def records(self) -> dict[str, dict[str, Any] | DataError]:
        """What the metadata beside each run say of tuning, or that they cannot be read."""
        inputs = [source for source in self.results.inputs if source.role == "run"]
        records: dict[str, dict[str, Any] | DataError] = {}
        for name, source in zip(self.results.runs, inputs, strict=False):  # results made of scores have no inputs
            try:
                tuning = tuning_of(source.path)
            except DataError as error:
                records[name] = error
            else:
                records |= {} if tuning is None else {name: tuning}
        return records

    def searched_with(self, said: TunedOn) -> dict[str, Any]:
        """What is said of a tuning; with what a search that used it has seen of the queries, if a run tells."""
        record: dict[str, Any] = dict(said.to_dict())
        for tuning in self.records.values():
            same = isinstance(tuning, dict) and all(tuning.get(name) == record.get(name) for name in SAME_TUNING)
            if isinstance(tuning, dict) and same and "also searched" in tuning:
                return record | {"also searched": tuning["also searched"]}
        return record

    def of_runs(self) -> Iterator[Finding]:
        """What the metadata beside runs say."""
        for name, tuning in self.records.items():
            if isinstance(tuning, DataError):
                message = f"what it was tuned on is not known: {tuning.message} ({tuning.source})"
                yield Finding("unreadable-metadata", name, message, doubtful=False)
            else:
                yield from self.of_record(name, tuning)

    def of_record(self, source: str, tuning: Mapping[str, Any]) -> Iterator[Finding]:
        """What is known of a tuning, from metadata or a file of parameters; of a fusion that of its runs too.

        Of folds, topics that were tested and trained on in the same one. Otherwise topics tuned on, if a search has
        seen that the queries are the same, or else if the judgements are: other collections have other topics under
        these ids.
        """
        for part in _records(tuning.get("of runs")):
            yield from self.of_record(f"{source} (fused from {part.get('run')})", part)
        tuned = self.among(_texts(tuning.get("topics")))
        if "folds" in tuning:
            shared = self.among([topic for fold in _folds(tuning["folds"]) for topic in fold])
        elif "also searched" in tuning:
            shared = self.among(_texts(tuning["also searched"]))
        else:
            shared = self._judged_alike(tuned, tuning)
        if shared:
            yield tuned_on_test(source, shared)
        open_ids = [] if {"folds", "also searched"} & tuning.keys() else [t for t in tuned if t not in set(shared)]
        if open_ids:
            on = tuning.get("collection") or "a collection"
            message = (
                f"{plural(len(open_ids), 'topic')} of {on} with other judgements were tuned on under ids that are "
                f"tested on: {some(open_ids)}. If they are the same topics, test on others"
            )
            yield Finding("tuned-on-same-ids", source, message, doubtful=False)

    def _judged_alike(self, tuned: Sequence[str], tuning: Mapping[str, Any]) -> list[str]:
        """Those of some topics whose judgements are what was tuned on, as far as the record has digests."""
        if not tuned or tuning.get("judgements", self.digest) == self.digest:
            return list(tuned)
        digests = tuning.get("digests")
        known = digests if isinstance(digests, dict) else {}
        return [topic for topic in tuned if topic in known and known[topic] == self.digests.get(topic)]


def _records(value: object) -> list[dict[str, Any]]:
    return [record for record in value if isinstance(record, dict)] if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _folds(value: object) -> Iterator[list[str]]:
    """The topics of each fold that are both trained and tested on."""
    for fold in value if isinstance(value, list) else []:
        if isinstance(fold, dict):
            trained = set(_texts(fold.get("train")))
            yield [topic for topic in _texts(fold.get("test")) if topic in trained]
