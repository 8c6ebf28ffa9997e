"""LaTeX tables in a paper of two columns: they compile as they are, and nothing sticks out of its column."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from commands import command_line
from cranfield import compare
from cranfield.comparison.comparison_tables import captioned, legend, systems_grid
from cranfield.evaluation.experiment import Experiment
from cranfield.render.grid import Cell, Grid, as_latex
from cranfield.report import page_tex
from cranfield.report.contents import gather
from noisy import QRELS, RUNS, system, write
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


def complaints(table: str, folder: Path, around: str = PAPER) -> list[str]:
    """What LaTeX says of a paper with this table: errors, and whatever is too wide."""
    paper = folder / "paper.tex"
    paper.write_text(around % table, encoding="utf-8")
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


def test_who_asks_for_p_gets_the_adjusted_one_and_reads_which_is_which(tmp_path: Path) -> None:
    runs = [write(tmp_path / f"{name}.run", run) for name, run in RUNS.items()]
    words = ["compare", write(tmp_path / "q.txt", QRELS), *runs, "-m", "AP", "-f", "latex", "--show", "difference,p"]
    head = next(line for line in command_line(*words).stdout.splitlines() if line.startswith("pair &"))
    assert head == "pair & difference & p (t), uncorrected & p (randomisation), uncorrected & adjusted p \\\\"
    alone = command_line(*words[:-1], "p (t)").stdout
    assert "pair & p (t), uncorrected \\\\" in alone
    itself = command_line(*words[:-1], "p", "--test", "tukey").stdout  # which corrects its own
    assert "p (tukey) & adjusted p \\\\" in itself


def test_a_single_comparison_has_nothing_to_correct(tmp_path: Path) -> None:
    runs = [write(tmp_path / f"{name}.run", RUNS[name]) for name in ("good", "poor")]
    words = ["compare", write(tmp_path / "q.txt", QRELS), *runs, "-m", "AP", "-f", "latex", "--show", "p"]
    assert "pair & p (t) & p (randomisation) & adjusted p \\\\" in command_line(*words).stdout


@needs_latex
def test_more_systems_than_letters_have_counts_and_the_caption_says_so(tmp_path: Path) -> None:
    runs = {f"system {number}": system(0.03 * number, number) for number in range(30)}
    grid = captioned(compared := compare(Experiment(QRELS, runs), ["AP"]), systems_grid(compared))
    assert grid.header[0] == "system"  # no letters that nothing refers to
    assert "After a mean stands how many of the other systems it is significantly better than" in grid.caption
    assert "Letters" not in grid.caption + legend(compared)
    marks = {cell.above for row in grid.cells() for cell in row if cell.above}
    assert marks
    assert all(re.fullmatch(r"\d+ of 29|all", mark) for mark in marks)
    table = as_latex(grid)
    assert "~of~29" in table
    assert complaints(table, tmp_path) == []


ARTICLE = PAPER.replace("\\usepackage[letterpaper,textwidth=506pt,textheight=650pt]{geometry}\n", "").replace(
    "\\setlength{\\columnsep}{24pt}\n", ""
)


@needs_latex
def test_the_tables_of_a_report_fit_any_paper_and_their_captions_say_no_more_than_is_there(tmp_path: Path) -> None:
    runs = {f"a system with a name number {number}": system(0.1 * number, number) for number in range(8)}
    report = gather(Experiment(QRELS, runs), ["nDCG@10", "AP", "RR", "P@10", "R@100"], command="cranfield report …")
    made = page_tex.files(report, "r")
    for name, content in made.items():
        (tmp_path / name).write_bytes(content)
    text = made["r.tex"].decode()
    first = text[text.index("\\caption") : text.index("\\label{tab:systems}")]
    assert "*" not in first
    assert "unjudged" not in text[: text.index("\\label{tab:standings-1}")].replace(first, "")
    assert len(first) < 450
    assert [line for line in complaints(text, tmp_path, ARTICLE) if "Overfull" in line or "!" in line] == []
