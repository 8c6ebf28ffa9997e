"""`build_demo`: the collection on disk, five systems on it, and the report on how they do."""

from __future__ import annotations

import os
import platform
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from cranfield.comparison.question import Details, Question
from cranfield.demo.embedded import NAME, demo_collection, judged_again, shipped_note
from cranfield.efficiency.metadata import write_metadata
from cranfield.errors import DataError, UsageError
from cranfield.evaluation.experiment import Experiment
from cranfield.formats.output import save, so_far
from cranfield.formats.reading import Reading
from cranfield.notation import Value
from cranfield.report.contents import Report, gather
from cranfield.report.report_files import write
from cranfield.search import Index, Timing, build_index, retrieve
from cranfield.search.tokens import library
from cranfield.texts.collection import TOML, Collection
from cranfield.texts.writing import write_documents, write_qrels, write_run, write_topics

MEASURES = ("nDCG@10", "AP", "RR", "P@10", "R@100")
FIGURES = ("p50",)
DEPTH = 100
PARTS = {"documents": "documents.jsonl", "topics": "topics.txt", "qrels": "qrels.txt"}
AGAIN = "judged-again.txt"
NOTE = "README.md"
REPORT = "report.html"


@dataclass(frozen=True)
class DemoSystem:
    """A way to search: a model, its parameters, the fields of a topic that make the query, those that are searched."""

    name: str
    says: str
    model: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    query: tuple[str, ...] = ("title",)
    fields: tuple[str, ...] = ("title", "text")


SYSTEMS = (
    DemoSystem("names", "BM25 that sees only names and signatures", "bm25", fields=("title",)),
    DemoSystem("vsm", "the vector space model, lnc.ltc", "vsm"),
    DemoSystem("bm25", "BM25", "bm25"),
    DemoSystem("lm", "the language model with Dirichlet smoothing", "lm", {"mu": 100.0}),
    DemoSystem("bm25-long", "BM25, asked the whole question", "bm25", query=("title", "description")),
)


class Demo(NamedTuple):
    """What was made, and where it is."""

    folder: Path
    collection: Collection
    runs: tuple[Path, ...]
    report: Report
    page: Path


def build_demo(folder: str | os.PathLike[str], *, say: Callable[[str], None] = lambda text: None) -> Demo:
    """Writes the collection to a folder, searches it with every system, and writes the report on them.

    `say` is told what has been done. A folder that holds something else is left alone.
    """
    with timed(say) as done:
        for module in ("bm25s", "Stemmer", "sklearn.feature_extraction.text"):  # or nothing is begun
            library(module)
        done("libraries loaded")
    root = own_folder(Path(folder))
    with timed(say) as done:
        collection = demo_collection()
        assert collection.documents is not None
        done(f"{len(collection.documents):,} docstrings of Python {platform.python_version()}")
    _write_collection(collection, root)
    for _, note in collection.notes:
        say(note)
    runs = tuple(searched(collection, root / "runs", SYSTEMS, say))
    with timed(say) as done:
        report = gather(
            Experiment(str(root / PARTS["qrels"]), [str(path) for path in runs], reading=Reading(digest="xxh3_128")),
            MEASURES,
            Question(details=Details(figures=FIGURES)),
            title="Five ways to find a docstring",
            command=shlex.join(["cranfield", "demo", "-o", str(folder)]),
            collection=collection,
        )
        (page,) = write(report, str(root / REPORT))
        done("evaluated, compared, reported")
    return Demo(root, collection, runs, report, Path(page))


def own_folder(root: Path, name: str = NAME) -> Path:
    """Makes the folder, or takes it if it is empty or that of an older demo of this name."""
    try:
        earlier = (root / TOML).is_file() and f'name = "{name}"' in so_far(str(root / TOML))
        if root.exists() and not root.is_dir():
            raise UsageError(f"{root} is a file, not a folder; name another with -o")
        if root.exists() and not earlier and any(root.iterdir()):
            raise UsageError(f"{root} holds something else already; name another folder with -o")
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"cannot be made: {error.strerror}", source=str(root)) from None
    return root


def _write_collection(collection: Collection, root: Path) -> None:
    """Writes what says whose folder it is first: should the demo be interrupted, the next one may take it."""
    lines = [f'name = "{NAME}"', *(f'{part} = "{name}"' for part, name in PARTS.items())]
    save(root / TOML, ["\n".join(lines) + "\n"])
    (root / "runs").mkdir(exist_ok=True)
    save(root / NOTE, [shipped_note()])
    assert collection.documents is not None
    assert collection.topics is not None
    assert collection.qrels is not None
    write_documents(collection.documents, root / PARTS["documents"])
    write_topics(collection.topics, root / PARTS["topics"], format="trec")
    write_qrels(collection.qrels, root / PARTS["qrels"], format="trec")
    write_qrels(judged_again(), root / AGAIN, format="trec")


def searched(
    collection: Collection, folder: Path, systems: Sequence[DemoSystem], say: Callable[[str], None]
) -> Iterator[Path]:
    """The runs of systems, one after the other; those that search the same fields share an index."""
    assert collection.documents is not None
    assert collection.topics is not None
    indexes: dict[tuple[str, ...], Index] = {}
    for system in systems:
        with timed(say) as done:
            if system.fields not in indexes:
                indexes[system.fields] = build_index(collection.documents, fields=system.fields)
            retrieved = retrieve(
                indexes[system.fields],
                collection.topics,
                system.model,
                parameters=system.parameters,
                query=system.query,
                depth=DEPTH,
                tag=system.name,
                timing=Timing(warm_up=5, repeats=1),
            )
            path = folder / f"{system.name}.run"
            write_run(retrieved.run, path, format="trec")
            write_metadata(path, retrieved.metadata)
            done(f"{system.name}: {system.says}")
        yield path


@contextmanager
def timed(say: Callable[[str], None]) -> Iterator[Callable[[str], None]]:
    """Tells what was done with the seconds that it took."""
    start = time.perf_counter()
    yield lambda text: say(f"{time.perf_counter() - start:5.1f} s  {text}")
