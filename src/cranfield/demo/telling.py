"""What `cranfield demo` says at the end: who is best and how surely, where everything is, what to try next."""

from __future__ import annotations

import shlex
import textwrap

from cranfield.demo.building import AGAIN, PARTS, Demo
from cranfield.report.comparison_tables import legend, pairs_grid, systems_grid
from cranfield.report.grid import as_text

WIDTH = 100


def told(demo: Demo) -> str:
    """Tables, files and next steps, as text for a terminal."""
    comparison = demo.report.comparison
    assert comparison is not None
    first = comparison.panels[0]
    return "\n".join(
        [
            as_text(systems_grid(comparison)),
            _wrapped(legend(comparison)),
            f"{first.label}, pair by pair\n{as_text(pairs_grid(comparison, first))}",
            _wrapped(demo.report.verdict(first.measure)),
            _where(demo),
            _next(demo),
        ]
    )


def _where(demo: Demo) -> str:
    collection = demo.collection
    assert collection.documents is not None
    assert collection.topics is not None
    assert collection.qrels is not None
    contents = {
        demo.page.name: "to be opened in a browser",
        PARTS["documents"]: f"{len(collection.documents):,} docstrings",
        PARTS["topics"]: f"{len(collection.topics):,} topics",
        PARTS["qrels"]: f"{len(collection.qrels):,} judgements from 0 to 3",
        AGAIN: "some of the documents judged a second time",
        "runs/": f"{len(demo.runs)} runs, and what each took",
    }
    lines = [f"  {name:16} {what}" for name, what in contents.items()]
    return f"The report is {demo.page.resolve()}\nIn {demo.folder}:\n" + "\n".join(lines) + "\n"


def _next(demo: Demo) -> str:
    def place(name: str) -> str:
        return shlex.quote(str(demo.folder / name))

    qrels, best, other = place(PARTS["qrels"]), place("runs/bm25-long.run"), place("runs/bm25.run")
    commands = (
        f"cranfield explain {qrels} {best} -m nDCG@10 --topic 8",
        f"cranfield diagnose {qrels} {best} {other}",
        f"cranfield agreement {qrels} {place(AGAIN)}",
        f"cranfield search {shlex.quote(str(demo.folder))} --model bm25 --k1 0.9 -o {place('runs/mine.run')}",
    )
    return "Try next:\n" + "".join(f"  {command}\n" for command in commands)


def _wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH) + "\n"
