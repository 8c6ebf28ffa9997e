"""`split` and `read_splits`: topics to tune on and topics to test on, kept in a file so that nobody mixes them up."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from cranfield.errors import DataError, UsageError, some
from cranfield.evaluation.experiment import Experiment
from cranfield.evaluation.findings import Finding
from cranfield.formats.output import save_all
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import open_source
from cranfield.statistics.splitting import Split, hold_out, k_folds, shared_topics
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from cranfield.formats.given import File, Given, Json

SCHEMA = "cranfield.splits/1"
Setting = TypeVar("Setting", int, str)
Ids: TypeAlias = "list[str] | tuple[str, ...]"
_PART = re.compile(r"(fold[0-9]+\.)?(train|test)\.(txt|qrels|topics)")  # how files of a part begin
MOST_LISTED = 10_000_000  # topics in all parts of all splits, which are held in memory and written out


@dataclass(frozen=True)
class Splits:
    """Splits of topics and how they were made; `stratified` names the measure of difficulty, if any."""

    folds: tuple[Split, ...]
    seed: int | None = None
    repeats: int = 1
    stratified: str | None = None

    def to_dict(self) -> dict[str, Json]:
        """The documented JSON form."""
        made = {"schema": SCHEMA, **asdict(self)}
        folds = [{"train": list(fold.train), "test": list(fold.test)} for fold in self.folds]
        return {key: made[key] for key in ("schema", "seed", "repeats", "stratified")} | {"folds": folds}

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """The topics of each part under its name: train and test, or of several folds fold1.train, fold1.test, …

        >>> read_splits({"folds": [{"train": ["1"], "test": ["2", "3"]}]}).parts
        {'train': ('1',), 'test': ('2', '3')}
        """
        if len(self.folds) == 1:
            return self.folds[0]._asdict()
        return {
            f"fold{number}.{part}": topics
            for number, fold in enumerate(self.folds, start=1)
            for part, topics in fold._asdict().items()
        }

    def to_json(self) -> str:
        """The documented JSON form as text."""
        import json

        return json.dumps(self.to_dict(), indent=1) + "\n"

    def write(self, where: str | os.PathLike[str], beside: Mapping[str, bytes] | None = None) -> list[Path]:
        """Writes a JSON file if the name ends in .json; otherwise a folder with that file (splits.json) and a list of
        topics, a line each, for each part: train.txt and test.txt, or of several folds fold1.train.txt and so on. What
        is to stand `beside` them in the folder, {name: content}, is written too. Gives the files written.
        """
        path = Path(where)
        if path.suffix == ".json":
            if beside:
                raise UsageError(
                    f"{path}: what parts have is written into a folder: name one that does not end in .json"
                )
            files: dict[Path, str | bytes] = {path: self.to_json()}
        else:
            files = {path / "splits.json": self.to_json()}
            for part, topics in self.parts.items():
                files[path / f"{part}.txt"] = "".join(f"{topic}\n" for topic in topics)
            files |= {path / name: content for name, content in (beside or {}).items()}
            stale = sorted(file.name for file in path.glob("*") if _PART.match(file.name) and file not in files)
            if stale:
                raise DataError(
                    f"has files of other splits: {some(stale)}",
                    source=str(path),
                    remedy="Remove them or name another folder.",
                )
        save_all({str(file): content for file, content in files.items()})
        return list(files)


def split(
    topics: Given | Ids,
    *,
    folds: int | None = None,
    test_share: float | None = None,
    seed: int = 0,
    repeats: int = 1,
    difficulty: Mapping[str, float] | None = None,
    stratified: str | None = None,
    reading: Reading = DEFAULT,
) -> Splits:
    """Splits topics into folds, or into two parts with `test_share` of the topics in the second.

    `topics` is a list of ids, or judgements as `read_qrels` takes them. `difficulty` is a score for each topic, such as
    the mean AP of some runs: every part then gets topics of every difficulty; `stratified` says what it is. The same
    seed and the same topics give the same splits, on every machine.

    >>> split(["1", "2", "3", "4"], folds=2, seed=1).folds[0]
    Split(train=('1', '3'), test=('2', '4'))
    """
    if (folds is None) == (test_share is None):
        raise UsageError("give a number of folds or a share of topics for testing, one of the two")
    ids = _topic_ids(topics, reading)
    listed = len(ids) * (folds or 1) * repeats
    if listed > MOST_LISTED:
        raise UsageError(
            f"{repeats:,} repeats would list topics {listed:,} times, more than {MOST_LISTED:,}: ask for fewer"
        )
    if folds is not None:
        made = k_folds(ids, folds, seed=seed, repeats=repeats, difficulty=difficulty)
    else:
        assert test_share is not None
        made = hold_out(ids, test_share, seed=seed, repeats=repeats, difficulty=difficulty)
    return Splits(made, seed, repeats, stratified if difficulty is None or stratified else "difficulty")


def stratified_split(
    experiment: Experiment,
    measure: str,
    *,
    folds: int | None = None,
    test_share: float | None = None,
    seed: int = 0,
    repeats: int = 1,
) -> tuple[Splits, tuple[Finding, ...]]:
    """Splits of the topics on which runs are scored: every part gets hard and easy ones. And what is odd about them.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d3": 1}, "q4": {"d4": 1}}
    >>> run = {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}, "q3": {"d9": 1.0}, "q4": {"d9": 1.0}}
    >>> stratified_split(Experiment(qrels, run), "AP", folds=2)[0].folds[0]
    Split(train=('q1', 'q4'), test=('q2', 'q3'))
    """
    difficulty, warnings = difficulty_of(experiment, measure)
    splits = split(
        list(difficulty),
        folds=folds,
        test_share=test_share,
        seed=seed,
        repeats=repeats,
        difficulty=difficulty,
        stratified=measure,
    )
    return splits, warnings


def difficulty_of(experiment: Experiment, measure: str) -> tuple[dict[str, float], tuple[Finding, ...]]:
    """How well runs do on each topic: the mean of their scores, and what is odd about them.

    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> difficulty_of(Experiment(qrels, {"q1": {"d1": 1.0}, "q2": {"d9": 2.0, "d2": 1.0}}), "RR")
    ({'q1': 1.0, 'q2': 0.5}, ())
    """
    results = experiment.evaluate(measure)
    return dict(zip(results.topics, results.scores[:, 0].mean(axis=0).tolist(), strict=True)), results.warnings


def read_splits(source: File | Mapping[str, Json], topics: Iterable[str] | None = None) -> Splits:
    """Reads splits from a JSON file, an open one, or the dict itself, and checks them.

    A topic that is both in train and in test, or twice in one of them, is an error, and so is one that is not among
    `topics`, if they are given.

    >>> read_splits({"seed": 1, "folds": [{"train": ["1", "2"], "test": ["3"]}]}).folds
    (Split(train=('1', '2'), test=('3',)),)
    >>> read_splits({"folds": [{"train": ["1", "2"], "test": ["2"]}]})
    Traceback (most recent call last):
    cranfield.errors.DataError: the splits: fold 1: these topics are both in train and in test: 2
        A system tuned on a topic cannot be tested on it. Make the splits anew, as with `cranfield split`.
    """
    label, document = ("the splits", source) if isinstance(source, Mapping) else _read_json(source)
    listed = document.get("folds") if isinstance(document, Mapping) else None
    if not isinstance(document, Mapping) or not isinstance(listed, list) or not listed:
        remedy = 'Expected {"seed": 1, "folds": [{"train": ["1", …], "test": ["2", …]}, …]}.'
        raise DataError("has no list of folds", source=label, remedy=remedy)
    known = None if topics is None else set(topics)
    folds = tuple(_checked_fold(fold, f"fold {number}", label, known) for number, fold in enumerate(listed, start=1))
    seed, repeats = _setting(document, "seed", int, label), _setting(document, "repeats", int, label)
    return Splits(folds, seed, repeats or 1, _setting(document, "stratified", str, label))


def _setting(document: Mapping[str, Json], name: str, kind: type[Setting], label: str) -> Setting | None:
    """How splits were made, where the file says so."""
    value = document.get(name)
    if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
        raise DataError(f"'{name}' must be {'text' if kind is str else 'a whole number'}, not {value!r}", source=label)
    return value


def _checked_fold(fold: Json, name: str, label: str, known: set[str] | None) -> Split:
    parts = {}
    for part in Split._fields:
        ids = fold.get(part) if isinstance(fold, Mapping) else None
        if not isinstance(ids, list) or not ids or not all(isinstance(topic, str) for topic in ids):
            remedy = 'Topic ids are text: "1", not 1.' if isinstance(ids, list) and ids else None
            raise DataError(f"{name}: '{part}' must be a list of topic ids, and not empty", source=label, remedy=remedy)
        twice = [topic for topic in dict.fromkeys(ids) if ids.count(topic) > 1] if len(set(ids)) < len(ids) else []
        if twice:
            raise DataError(f"{name}: these topics are twice in '{part}': {some(twice)}", source=label)
        unknown = [topic for topic in ids if known is not None and topic not in known]
        if unknown:
            raise DataError(
                f"{name}: '{part}' has topics that are not in the judgements: {some(unknown)}",
                source=label,
                remedy="Are these the splits of this collection? Topic ids must be the same text: 0001 is not 1.",
            )
        parts[part] = tuple(ids)
    split = Split(**parts)
    shared = shared_topics(split.train, split.test)
    if shared:
        raise DataError(
            f"{name}: these topics are both in train and in test: {some(shared, 20)}",
            source=label,
            remedy="A system tuned on a topic cannot be tested on it. Make the splits anew, as with `cranfield split`.",
        )
    return split


def _read_json(source: File) -> tuple[str, Json]:
    from cranfield.formats.format import decode
    from cranfield.formats.json_text import parse

    opened = open_source(source)
    return opened.label, parse(decode(bytes(opened.data)), opened.label, None)


def _is_list(topics: Given | Ids) -> TypeIs[Ids]:
    return isinstance(topics, list | tuple) and all(isinstance(topic, str) for topic in topics)


def _topic_ids(topics: Given | Ids, reading: Reading) -> tuple[str, ...]:
    if _is_list(topics):
        return tuple(topics)
    from cranfield.formats import read_qrels

    return tuple((topics if isinstance(topics, Qrels) else read_qrels(topics, reading=reading)).topics)
