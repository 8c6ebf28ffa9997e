"""LaTeX tables in a paper of two columns: they compile as they are, and nothing sticks out of its column."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from commands import command_line
from cranfield.render.grid import Cell, Grid, as_latex
from places import EXAMPLES

LATEX = shutil.which("pdflatex")
needs_latex = pytest.mark.skipif(LATEX is None, reason="there is no pdflatex (Debian: texlive-latex-recommended)")

PAPER = r"""\documentclass[10pt,twocolumn]{article}
\usepackage[letterpaper,textwidth=506pt,textheight=650pt]{geometry}
\setlength{\columnsep}{24pt}
\usepackage{booktabs}
\usepackage{graphicx}
\begin{document}
Words.
%s
\end{document}
"""


def complaints(table: str, folder: Path) -> list[str]:
    """What LaTeX says of a paper with this table: errors, and whatever is too wide."""
    paper = folder / "paper.tex"
    paper.write_text(PAPER % table, encoding="utf-8")
    said = subprocess.run(
        [LATEX or "pdflatex", "-interaction=nonstopmode", "-halt-on-error", paper.name],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    told = re.findall(r"^! .*|^Overfull .*|^LaTeX Warning: .*", said.stdout, flags=re.MULTILINE)
    return told if said.returncode == 0 else ["it does not compile", *told]


@needs_latex
@pytest.mark.parametrize(
    "words",
    [
        "compare {qrels} {runs} -f latex",
        "compare {qrels} {runs} -f latex -m AP -m nDCG@10 -m P@5 -m R@100 -m RR",
        "compare {qrels} {runs} -f latex --show AP,difference,interval,d_z,W/T/L,p,detectable -m AP",
        "compare {qrels} {runs} -f latex --show difference,interval -m AP --baseline bm25",
        "compare {qrels} {runs} -f latex --risk 1 --baseline bm25",
        "evaluate {qrels} {runs} -f latex",
        "evaluate {qrels} {runs} -f latex -q -m AP -m nDCG@10",
        "evaluate {qrels} {runs} -f latex -m P@1..15",
    ],
)
def test_a_table_compiles_into_a_paper_of_two_columns(words: str, tmp_path: Path) -> None:
    files = {"qrels": EXAMPLES / "qrels.txt", "runs": f"{EXAMPLES / 'bm25.run'} {EXAMPLES / 'dense.run'}"}
    table = command_line(*words.format(**files).split()).stdout
    assert "\\caption{" in table
    assert complaints(table, tmp_path) == []


@needs_latex
def test_a_paper_complains_of_what_is_too_wide(tmp_path: Path) -> None:
    """The test above can fail."""
    wide = "\\begin{tabular}{l}" + "x" * 200 + "\\end{tabular}"
    assert any("Overfull" in line for line in complaints(wide, tmp_path))


@needs_latex
@pytest.mark.parametrize("columns", range(1, 30, 4))
def test_a_table_of_any_width_fits(columns: int, tmp_path: Path) -> None:
    header = ["system", *(f"nDCG@{number}" for number in range(columns))]
    row: list[str | Cell] = ["a-system_of & its%own", *[Cell("-0.1234", best=True, above="abc")] * columns]
    assert complaints(as_latex(Grid(header, [row] * 3, caption="Minus −1, ∞ ± 5% → a_b.")), tmp_path) == []


def test_a_minus_is_a_minus_and_a_hyphen_is_none() -> None:
    row: list[str | Cell] = ["a-b", Cell("-0.5000", above="*"), "[-∞, -0.1]", "1e-05", "2024-01-02"]
    assert "a-b & $-$0.5000$^{\\mathrm{*}}$ & [$-$$\\infty$, $-$0.1] & 1e$-$05 & 2024-01-02 \\\\" in as_latex(
        Grid(["run", "d", "interval", "p", "day"], [row])
    )


def test_pairs_are_in_a_paper_only_when_they_are_asked_for() -> None:
    words = [
        "compare",
        str(EXAMPLES / "qrels.txt"),
        str(EXAMPLES / "bm25.run"),
        str(EXAMPLES / "dense.run"),
        "-m",
        "AP",
    ]
    tables = command_line(*words, "-f", "latex").stdout
    assert tables.count("\\begin{tabular}") == 1
    assert "unjudged" not in re.sub("^%.*", "", tables, flags=re.MULTILINE)
    asked = command_line(*words, "-f", "latex", "--show", "difference").stdout
    assert asked.count("\\begin{tabular}") == asked.count("\\begin{tabular}{lr}") == 1
