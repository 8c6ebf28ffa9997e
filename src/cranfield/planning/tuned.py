"""Parameters tuned on one collection, kept in a TOML file for others: what they are, and what they were tuned on.

`cranfield search` and `cranfield fuse` write such a file with --save-best and take it with --parameters; `compare
--tuned-on` reads in it which topics prove nothing. docs/search.md has its form.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias

from cranfield.errors import DataError, UsageError, some
from cranfield.evaluation.findings import Finding
from cranfield.formats.output import save
from cranfield.formats.reading import DEFAULT, Reading
from cranfield.formats.sources import open_source, parsed_toml
from cranfield.notation import Value, spelt
from cranfield.numerals import decimal
from cranfield.planning.topic_sets import read_topic_set
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from cranfield.render.json_form import Json

Tuner: TypeAlias = Literal["search", "fuse"]
# What a command's file may say before its parameters, as options of that command; the first says what is tuned.
SETTINGS: Mapping[Tuner, tuple[str, ...]] = {
    "search": ("model", "stemmer", "stop-words", "fields", "query"),
    "fuse": ("method", "norm"),
}
GROUNDS = ("measure", "score", "collection", "judgements", "runs", "topics", "digests")


@dataclass(frozen=True, kw_only=True)
class TunedOn:
    """What parameters were tuned on: topics with their queries (empty where nobody knows them), the digest of their
    `judgements` and the `digests` of each topic's, the collection's name, the measure and what it was there, and of a
    fusion the runs.
    """

    topics: Mapping[str, str]
    measure: str = ""
    score: float | None = None
    collection: str = ""
    judgements: str = ""
    runs: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Json]:
        """As a run's metadata have it, without the queries and without what is not known."""
        known: dict[str, Json] = {name: getattr(self, name) for name in GROUNDS if name not in ("topics", "digests")}
        kept = {name: value for name, value in known.items() if value not in ("", None, ())}
        digests: dict[str, Json] = {"digests": dict(self.digests)} if self.digests else {}
        return {**kept, "topics": list(self.topics), **digests}

    def asked_again(self, queries: Mapping[str, str], judgements: Qrels | None) -> list[str]:
        """Those of some topics, given with their queries, that were tuned on. Another collection may use the same ids
        for other topics, and other ids for the same: the query tells, or that the judgements of an id are the same.
        Where neither is known, the id does.

        >>> tuned = TunedOn(topics={"1": "Ducks", "2": "geese"})
        >>> tuned.asked_again({"1": "ducks ", "2": "lift of wings", "q7": "Geese"}, None)
        ['1', 'q7']
        """
        same = not self.judgements and not self.digests and not any(self.topics.values())
        same = same or (judgements is not None and self.judgements == judgements_digest(judgements))
        digests = topic_digests(judgements) if judgements is not None and self.digests else {}
        known = {_plain(query) for query in self.topics.values() if query.strip()}
        return [
            topic
            for topic, query in queries.items()
            if _plain(query) in known
            or (topic in self.topics and same)
            or (topic in digests and digests[topic] == self.digests.get(topic))
        ]


@dataclass(frozen=True, kw_only=True)
class TunedParameters:
    """Parameters, and the settings that they were tuned with, under the names of the command's options.

    `tuned` is None where a file that someone wrote does not say what they were tuned on.

    >>> print(TunedParameters(settings={"model": "lm"}, parameters={"mu": 500.0}).to_toml(), end="")
    # Parameters for `cranfield search --parameters`.
    model = "lm"
    <BLANKLINE>
    [parameters]
    mu = 500.0
    """

    settings: Mapping[str, str]
    parameters: Mapping[str, Value]
    tuned: TunedOn | None = None
    command: Tuner = "search"
    source: str = "the parameters"
    lines: Sequence[str] = field(default=(), repr=False, compare=False)  # of the file, to show one that is wrong

    def to_toml(self) -> str:
        """As text of a TOML file."""
        lines = [f"# Parameters for `cranfield {self.command} --parameters`."]
        lines += [f"{name} = {_toml(value)}" for name, value in self.settings.items()]
        lines += ["", "[parameters]"]
        lines += [f"{spelt(name)} = {_toml(value)}" for name, value in self.parameters.items()]
        if self.tuned is not None:
            known, queries = self.tuned.to_dict(), self.tuned.topics
            known.pop("digests", None)
            if any(queries.values()):
                del known["topics"]
            lines += ["", "[tuned]", *(f"{name} = {_toml(value)}" for name, value in known.items())]
            if any(queries.values()):
                lines += ["", "[tuned.topics]"]
                lines += [f"{_toml(topic)} = {_toml(query)}" for topic, query in queries.items()]
            if self.tuned.digests:
                lines += ["", "[tuned.digests]"]
                lines += [f"{_toml(topic)} = {_toml(digest)}" for topic, digest in self.tuned.digests.items()]
        return "\n".join(lines) + "\n"

    def write(self, place: str | os.PathLike[str]) -> None:
        """Writes the file."""
        unwritable = [topic for topic in (self.tuned.topics if self.tuned else ()) if not _is_text(topic)]
        if unwritable:
            raise DataError(
                f"cannot hold topic ids that are not UTF-8: {some(unwritable)}",
                source=os.fspath(place),
                remedy="Convert topics and judgements to UTF-8 first.",
            )
        save(place, [self.to_toml()])

    @property
    def texts(self) -> dict[str, str]:
        """The parameters as they would stand on a command line."""
        return {spelt(name): _shown(value) for name, value in self.parameters.items()}

    @contextmanager
    def told(self, name: str) -> Iterator[None]:
        """What is wrong with an entry as an error of the file, with the line."""
        try:
            yield
        except UsageError as error:
            remedy = "Mend that line, or let --save-best write the file anew."
            raise _refusal(str(error), remedy, name, self.source, self.lines) from None

    def beside(self, line: Mapping[str, str]) -> dict[str, str]:
        """Settings and parameters as texts by their options, with those that stand on the command line (`line`).

        What says one thing here and another there is an error: nobody could tell which of the two made the run.

        >>> saved = TunedParameters(settings={"model": "lm"}, parameters={"mu": 500.0}, source="p.toml")
        >>> saved.beside({"mu": "500", "stemmer": "none"})
        {'model': 'lm', 'mu': '500.0', 'stemmer': 'none'}
        >>> saved.beside({"mu": "10"})
        Traceback (most recent call last):
        cranfield.errors.UsageError: --mu 10 contradicts p.toml, which has mu = 500.0: leave one of the two out
        """
        said = {**self.settings, **self.texts}
        for name, text in line.items():
            if name in said and not _same(text, said[name]):
                by_name = self.command == "search" or name in self.settings
                option = f"--{name.replace('_', '-')} {text}" if by_name else f"-p {name}={text}"
                problem = f"{option} contradicts {self.source}, which has {name} = {said[name]}"
                raise UsageError(f"{problem}: leave one of the two out")
        return said | {name: text for name, text in line.items() if name not in said}

    def to_dict(self) -> dict[str, Json]:
        """As a run's metadata have it: the file, and what its parameters were tuned on."""
        return {"file": self.source, **(self.tuned.to_dict() if self.tuned else {})}


def read_parameters(path: str | os.PathLike[str], command: Tuner) -> TunedParameters:
    """What `--save-best` of a command wrote, or somebody by hand; what is wrong with it is told with its line.

    >>> saved = read_parameters("examples/weights.toml", "fuse")
    >>> saved.settings, saved.parameters, saved.tuned.runs
    ({'method': 'weighted-sum', 'norm': 'min-max'}, {'weights': [0.3, 0.7]}, ('bm25', 'dense'))
    """
    source = os.fspath(path)
    return _File(source).parameters(command)


def read_tuned_on(path: str, reading: Reading = DEFAULT) -> tuple[str, ...] | TunedOn:
    """What systems were tuned on: what a file of --save-best says, or else the topics of a set; of splits in one fold
    it is the part to train on.
    """
    if not path.endswith(".toml"):
        return tuple(read_topic_set(path, reading, part="train").topics)
    file = _File(path)
    tuned = file.parameters("fuse" if SETTINGS["fuse"][0] in file.document else "search").tuned
    if tuned is None:
        file.refuse("does not say what was tuned on", 'Add [tuned] with topics = ["…", "…"], or name judgements.')
    return tuned


def best_label(trained_on_all: bool) -> str:
    """What a table calls the parameters that --save-best keeps: splits may leave topics out of the training.

    >>> best_label(True), best_label(False)
    ('best on all, saved', 'best on training topics, saved')
    """
    return f"best on {'all' if trained_on_all else 'training topics'}, saved"


def judgements_digest(qrels: Qrels) -> str:
    """What tells judgements from others, in whatever format and order they are written.

    >>> from cranfield.formats import read_qrels
    >>> once, again = read_qrels({"1": {"a": 1, "b": 0}}), read_qrels({"1": {"b": 0, "a": 1}})
    >>> judgements_digest(once) == judgements_digest(again), judgements_digest(once)[:12]
    (True, 'blake2b:5b78')
    """
    digest = hashlib.blake2b(digest_size=16)
    for topic, documents in sorted(qrels.to_dict().items()):
        for document, grade in sorted(documents.items()):
            digest.update(f"{topic}\t{document}\t{float(grade)!r}\n".encode("utf-8", "surrogateescape"))
    return f"blake2b:{digest.hexdigest()}"


def topic_digests(qrels: Qrels) -> dict[str, str]:
    """What tells the judgements of each topic from others, whatever other topics are judged beside it.

    >>> from cranfield.formats import read_qrels
    >>> topic_digests(read_qrels({"1": {"a": 1, "b": 0}, "2": {"a": 1}}))
    {'1': '6a45ac67bd7dcb88', '2': '9c6796b4a0ec7a9d'}
    """
    digests = {}
    for topic, documents in qrels.to_dict().items():
        digest = hashlib.blake2b(digest_size=8)
        for document, grade in sorted(documents.items()):
            digest.update(f"{document}\t{float(grade)!r}\n".encode("utf-8", "surrogateescape"))
        digests[topic] = digest.hexdigest()
    return digests


def tuned_on_test(source: str, topics: Sequence[str]) -> Finding:
    """What to say where systems are tested on topics that they were tuned on."""
    message = f"{len(topics)} of the topics tested on were tuned on: {some(topics)}. Test on others: `cranfield split`"
    return Finding("tuned-on-test", source, message)


class _File:
    """A file of parameters on its way to a record: the text, to name the lines of what is wrong in it."""

    def __init__(self, source: str) -> None:
        self.source = source
        data = bytes(open_source(source).data)
        self.lines = data.decode("utf-8", "replace").splitlines()
        try:
            self.document = parsed_toml(data, source)
        except DataError as error:
            raise error.with_more(["Let --save-best write it anew, or mend that line."]) from None

    def parameters(self, command: Tuner) -> TunedParameters:
        known = (*SETTINGS[command], "parameters", "tuned")
        subject, other = known[0], next(name for name in SETTINGS if name != command)
        if subject not in self.document and SETTINGS[other][0] in self.document:
            remedy = f"Write one with `cranfield {command} --save-best`."
            self.refuse(f"is for `cranfield {other}`", remedy, SETTINGS[other][0])
        if subject not in self.document:
            remedy = f'Begin it with {subject} = "…", or let `cranfield {command} --save-best` write it.'
            self.refuse(f"has no {subject}, which files of parameters have", remedy)
        self._only(self.document, known)
        settings = {name: self._text(self.document, name) for name in SETTINGS[command] if name in self.document}
        values = self._table(self.document, "parameters")
        for name, value in values.items():
            if not _is_value(value):
                self.refuse(f"{name} is not a value that a parameter can have", "Give a number or a text.", name)
        tuned = self._tuned(self._table(self.document, "tuned")) if "tuned" in self.document else None
        return TunedParameters(
            settings=settings,
            parameters=values,
            tuned=tuned,
            command=command,
            source=self.source,
            lines=self.lines,
        )

    def _tuned(self, table: Mapping[str, Any]) -> TunedOn:
        self._only(table, GROUNDS)
        topics = table.get("topics")
        if isinstance(topics, list) and topics and all(isinstance(topic, str) for topic in topics):
            queries = dict.fromkeys(topics, "")
        elif isinstance(topics, dict) and topics and all(isinstance(query, str) for query in topics.values()):
            queries = topics
        else:
            remedy = 'Write topics = ["1", "2"] under [tuned], or a table [tuned.topics] with "1" = "its query".'
            self.refuse("[tuned] has no topics that were tuned on", remedy, "topics" if topics is not None else "tuned")
        score, runs, digests = table.get("score"), table.get("runs", []), self._table(table, "digests")
        if not all(isinstance(digest, str) for digest in digests.values()):
            remedy = "Leave [tuned.digests] out, or let --save-best write it."
            self.refuse("digests must be texts", remedy, "tuned.digests")
        if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
            self.refuse(f"score must be a number, not {score!r}", "Mend it, or leave it out.", "score")
        if not isinstance(runs, list) or not all(isinstance(run, str) for run in runs):
            self.refuse("runs must be a list of names", 'Write runs = ["a", "b"], or leave it out.', "runs")
        texts = {name: self._text(table, name) for name in ("measure", "collection", "judgements") if name in table}
        return TunedOn(topics=queries, score=score, runs=tuple(map(str, runs)), digests=digests, **texts)

    def _only(self, table: Mapping[str, Json], known: Sequence[str]) -> None:
        unknown = [name for name in table if name not in known]
        if unknown:
            self.refuse(f"unknown entry {some(unknown)}", f"Known: {', '.join(known)}.", unknown[0])

    def _text(self, table: Mapping[str, Json], name: str) -> str:
        value = table[name]
        if not isinstance(value, str):
            self.refuse(f"{name} must be text, not {value!r}", f'Write {name} = "…".', name)
        return value

    def _table(self, table: Mapping[str, Any], name: str) -> dict[str, Any]:
        value = table.get(name, {})
        if not isinstance(value, dict):
            self.refuse(f"{name} must be a table", f"Write [{name}] on a line, and below it a line for each.", name)
        return value

    def refuse(self, problem: str, remedy: str, name: str = "") -> NoReturn:
        raise _refusal(problem, remedy, name, self.source, self.lines)


def _refusal(problem: str, remedy: str, name: str, source: str, lines: Sequence[str]) -> DataError:
    """An error at the line that has a name before its equals sign, or between brackets."""
    entry = re.compile(rf"""\s*(?:\[\s*)?["']?{re.escape(name)}["']?\s*[]=.]""")
    line = next((number for number, text in enumerate(lines, start=1) if name and entry.match(text)), None)
    text = None if line is None else lines[line - 1]
    return DataError(problem, source=source, line=line, text=text, remedy=remedy)


def _is_value(value: Json) -> bool:
    if isinstance(value, list):
        return all(_is_value(entry) for entry in value)
    return isinstance(value, str | int | float | bool)


def _is_text(text: str) -> bool:
    """Whether it has no bytes that were not UTF-8 where it was read."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _plain(query: str) -> str:
    return " ".join(query.split()).casefold()


def _shown(value: Value) -> str:
    """A value as it stands on a command line."""
    if isinstance(value, list | tuple):
        return ",".join(map(_shown, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _same(text: str, other: str) -> bool:
    """Whether two texts stand for the same: numbers may be written in several ways."""
    parts, others = text.split(","), other.split(",")
    return len(parts) == len(others) and all(
        one.strip() == two or (decimal(one) is not None and decimal(one) == decimal(two))
        for one, two in zip(parts, others, strict=True)
    )


def _toml(value: Json | Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{"".join(_escaped(str(value)))}"' if isinstance(value, str) else repr(value)


def _escaped(text: str) -> Iterator[str]:
    for letter in text:
        if letter in '"\\':
            yield f"\\{letter}"
        elif letter < " " or letter == "\x7f":
            yield f"\\u{ord(letter):04x}"
        else:
            yield letter if _is_text(letter) else "�"
