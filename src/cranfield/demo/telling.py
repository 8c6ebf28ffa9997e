"""What `cranfield demo` says at the end: who is best and how surely, where everything is, what to try next."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence

from cranfield.comparison.comparison_tables import interval_header, legend, pairs_grid, systems_grid
from cranfield.demo.building import AGAIN, NOTE, PARTS, Demo
from cranfield.render.grid import Grid, as_text

WIDTH = 80  # of a terminal: the tables have the columns that fit into it


def told(demo: Demo) -> str:
    """Tables, files and next steps, as text for a terminal."""
    comparison = demo.report.comparison
    assert comparison is not None
    first = comparison.panels[0]
    return "\n".join(
        [
            as_text(_columns(systems_grid(comparison), ["", "system", *(panel.label for panel in comparison.panels)])),
            wrapped(legend(comparison, plain=True)),
            f"{first.label}, pair by pair; W/T/L: topics won, tied and lost",
            as_text(
                _columns(
                    pairs_grid(comparison, first),
                    ["pair", "difference", interval_header(comparison), "W/T/L", "adjusted p"],
                )
            ),
            wrapped(demo.report.verdict(first.measure)),
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
        demo.page.name: "to be opened in a browser: open a topic to see its question, and what was found",
        NOTE: "how it was made and judged, and what it is not good for",
        PARTS["documents"]: f"{len(collection.documents):,} docstrings",
        PARTS["topics"]: f"{len(collection.topics):,} topics",
        PARTS["qrels"]: f"{len(collection.qrels):,} judgements from 0 to 3",
        AGAIN: "some of the documents judged a second time",
        "runs/": f"{len(demo.runs)} runs, and what each took",
    }
    lines = [f"  {name:16} {content}" for name, content in contents.items()]
    return f"The report is {demo.page.resolve()}\nIn {demo.folder}:\n" + "\n".join(lines) + "\n"


def _next(demo: Demo) -> str:
    def place(name: str) -> str:
        return shlex.quote(str(demo.folder / name))

    qrels, best, other = place(PARTS["qrels"]), place("runs/bm25-long.run"), place("runs/bm25.run")
    folder = shlex.quote(str(demo.folder))
    commands = (
        f"explain {qrels} {best} -m nDCG@10 --topic 8 --collection {folder}",
        f"diagnose {qrels} {best} {other} --collection {folder}",
        f"agreement {qrels} {place(AGAIN)}",
        f"search {folder} --model bm25 --k1 0.9 -o {place('runs/mine.run')}",
    )
    return "Try next:\n" + "".join(f"  {program()} {command}\n" for command in commands)


def program() -> str:
    """How to call cranfield from here: in an environment that is not active, the name alone is not found."""
    return "cranfield" if shutil.which("cranfield") else f"{shlex.quote(sys.executable)} -m cranfield"


def _columns(grid: Grid, names: Sequence[str]) -> Grid:
    """Some columns of a grid; the report has them all."""
    chosen = [grid.header.index(name) for name in names]
    return grid._replace(header=names, rows=[[row[at] for at in chosen] for row in grid.rows])


def wrapped(text: str) -> str:
    return textwrap.fill(text, WIDTH) + "\n"
