"""The gallery: every example runs, prints what its page shows, and draws the lecture's figures with their numbers.

`make record ONLY=tests/plot/test_gallery.py` executes the notebook again, and stores it and the pictures of the page.
"""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from commands import of_a_process
from places import EXAMPLES, ROOT

EXAMPLES, PAGE = EXAMPLES, ROOT / "docs" / "gallery.md"
SCRIPTS = sorted(set(EXAMPLES.glob("*.py")) - {EXAMPLES / "engine.py"})  # which serves until it is stopped
NOTEBOOK = EXAMPLES / "tour.ipynb"
DRAWING = [script for script in SCRIPTS if script.name.startswith(("lecture", "pictures"))]


def run(script: Path, *arguments: object) -> str:
    """A script in a process of its own, as a reader would start it: one registers a measure."""
    words = [sys.executable, script.name, *map(str, arguments)]
    # What is printed must not depend on the machine's encoding.
    environment = os.environ | {"PYTHONUTF8": "1", "PYTHONWARNINGS": "error", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=script.parent, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_script_runs_and_prints_what_the_page_shows(script: Path, tmp_path: Path) -> None:
    printed = run(script, tmp_path)
    page = PAGE.read_text(encoding="utf-8")
    (shown,) = re.findall(rf"```console\n\$ python examples/{script.name}\n(.*?)```", page, re.DOTALL)
    assert shown.strip()
    for part in shown.split("…\n"):
        assert part.strip("\n") in printed, part
    assert str(tmp_path) not in printed
    for picture in re.findall(r"\S+\.svg", printed):
        assert (tmp_path / picture.strip(",")).read_text(encoding="utf-8").startswith("<svg")


def test_scripts_are_short_and_say_what_they_show() -> None:
    for script in SCRIPTS:
        text = script.read_text(encoding="utf-8")
        assert text.startswith('"""'), script.name
        lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        assert 5 <= len(lines) <= 40, f"{script.name}: {len(lines)}"


@cache
def names_of(stem: str, folder: Path) -> dict[str, Any]:
    """The names a script ends with."""
    before = sys.argv
    sys.argv = [stem, str(folder)]
    try:
        return runpy.run_path(str(EXAMPLES / f"{stem}.py"))
    finally:
        sys.argv = before


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pictures")


def heights(curve: list[tuple[float, float]], decimals: int, *, percent: bool = False) -> list[float]:
    return [round(y * (100 if percent else 1), decimals) for _, y in curve]


def test_the_example_query_has_the_lecture_s_points_and_interpolated_curve(pictures: Path) -> None:
    found = names_of("lecture_precision_recall", pictures)
    points, levels = found["points"], found["levels"]
    assert [(round(x, 3), round(y, 3)) for x, y in points["ten relevant"]] == [
        (0.1, 1.0),
        (0.2, 0.667),
        (0.3, 0.5),
        (0.4, 0.4),
        (0.5, 0.333),
    ]
    assert [x for x, _ in levels["three relevant"]] == [level / 10 for level in range(11)]
    assert heights(levels["three relevant"], 1, percent=True) == [33.3] * 4 + [25] * 3 + [20] * 4


def test_average_curves_have_the_lecture_s_precision_at_every_level(pictures: Path) -> None:
    found = names_of("lecture_average_curves", pictures)
    by_query, average = found["by_query"], found["average"]
    assert heights(by_query.of("A", "q1"), 1, percent=True) == [33.3] * 4 + [25] * 3 + [20] * 4
    assert heights(by_query.of("A", "q2"), 9, percent=True) == [50, 50, 50, 40, 30, 30, 30, 20, 20, 20, 10]
    expected = [41.667, 41.667, 41.667, 36.667, 27.5, 27.5, 27.5, 20, 20, 20, 15]
    assert heights(average.of("A"), 3, percent=True) == expected


def test_the_precision_histogram_has_the_lecture_s_r_precision(pictures: Path) -> None:
    found = names_of("lecture_precision_histogram", pictures)
    results = found["results"]
    assert results.topics == tuple(str(query) for query in range(1, 11))
    assert results.of("Rprec", "A")[:2].tolist() == pytest.approx([2 / 5, 1 / 3])
    by_hand = []
    for relevant, *systems in found["queries"].values():
        a, b = (sum(rank <= relevant for rank in ranks) / relevant for ranks in systems)
        by_hand.append(a - b)
    assert found["difference"].tolist() == pytest.approx(by_hand)


def test_gain_curves_have_the_lecture_s_vectors(pictures: Path) -> None:
    made = names_of("lecture_gain_curves", pictures)["made"]
    assert heights(made["CG"], 9) == [0.5, 0.5, 2, 2, 2, 3.5, 3.5, 4, 4, 5, 5, 5, 5, 5, 8]
    assert heights(made["ideal CG"], 9) == [3, 5.5, 7.5, 8.5, 9.5, 10.5, 11, 11.5, 12, *[12.5] * 6]
    ncg = [0.167, 0.091, 0.267, 0.235, 0.211, 0.333, 0.318, 0.348, 0.333, 0.4, 0.4, 0.4, 0.4, 0.4, 0.64]
    assert heights(made["CG, ratio of means"], 3) == ncg
    # Half the sum of the two queries' vectors, which the lecture gives one by one.
    first = [1, 1, 1.631, 1.631, 1.631, 2.791, 2.791, 2.791, 2.791, 3.394, 3.394, 3.394, 3.394, 3.394, 4.161]
    second = [0, 0, *[1.262] * 5, *[1.595] * 7, 2.363]
    dcg = [(one + other) / 2 for one, other in zip(first, second, strict=True)]
    assert [y for _, y in made["DCG(base=2)"]] == pytest.approx(dcg, abs=1e-3)
    ndcg = [0.167, 0.091, 0.214, 0.199, 0.188, 0.251, 0.245, 0.26, 0.256, 0.286, 0.286, 0.286, 0.286, 0.286, 0.374]
    assert heights(made["DCG(base=2), ratio of means"], 3) == ndcg
    assert made["CG, mean of ratios"][14][1] == pytest.approx((10 / 19 + 6 / 6) / 2)
    idcg = (11.834 + 5.631) / 2
    assert made["ideal DCG(base=2)"][14][1] == pytest.approx(idcg, abs=1e-3)


def test_discounts_keep_what_the_lecture_plots(pictures: Path) -> None:
    curves = names_of("lecture_discounts", pictures)["curves"]
    assert heights(curves["DCG"][:3], 0, percent=True) == [100, 63, 50]
    assert heights(curves["RR"][:4], 2) == [1, 0.5, 0.33, 0.25]
    assert heights(curves["DCG(base=10)"][:10], 9) == [1] * 10


def words_in(picture: str) -> set[str]:
    """What is written in a picture, apart from the numbers of its axes."""
    return {text for text in re.findall(r"<text[^>]*>([^<]+)<", picture) if re.search(r"[^\W\d]", text)}


def test_the_page_shows_pictures_as_they_are_drawn(pictures: Path) -> None:
    for script in DRAWING:
        names_of(script.stem, pictures)
    linked = re.findall(r"\]\((pictures/\S+\.svg)\)", PAGE.read_text(encoding="utf-8"))
    assert linked
    for link in linked:
        stored = (PAGE.parent / link).read_text(encoding="utf-8")
        fresh = (pictures / Path(link).name).read_text(encoding="utf-8")
        assert words_in(stored) == words_in(fresh), link
    stored_names = {path.name for path in (PAGE.parent / "pictures").glob("*.svg")}
    assert stored_names == {Path(link).name for link in linked}


def executed(notebook: Any) -> Any:
    """The notebook, run from its first cell to its last in its own folder."""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # of the tools that run notebooks, not ours
        from jupyter_client.manager import AsyncKernelManager
        from nbclient import NotebookClient

        # Sockets that are files, in a folder of their own: no port is opened.
        kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
        resources = {"metadata": {"path": str(EXAMPLES)}}
        return NotebookClient(notebook, km=kernel, timeout=120, resources=resources).execute()


def read_notebook(path: Path = NOTEBOOK) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def shown_by(cell: Any) -> list[dict[str, Any]]:
    """What a cell shows; of a picture, the words in it."""
    found: list[dict[str, Any]] = []
    for output in cell.get("outputs", []):
        data = dict(output.get("data", {"text/plain": output.get("text", "")}))
        if "image/svg+xml" in data:
            data = {"image/svg+xml": words_in("".join(data["image/svg+xml"]))}
        found.append(data)
    return found


def test_the_notebook_shows_what_it_gives(tmp_path: Path) -> None:
    # In a process of its own: what runs notebooks leaves sockets open, which other tests would be blamed for.
    out = tmp_path / "executed.ipynb"
    subprocess.run([sys.executable, __file__, str(out)], check=True, capture_output=True, text=True, env=of_a_process())
    stored, fresh = read_notebook(), read_notebook(out)
    kinds: set[str] = set()
    for before, after in zip(stored.cells, fresh.cells, strict=True):
        assert shown_by(before) == shown_by(after), before.source
        kinds |= {kind for data in shown_by(before) for kind in data}
    assert {"text/html", "image/svg+xml", "text/plain"} <= kinds


def test_the_notebook_is_small_and_names_no_machine() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 100_000
    assert str(ROOT) not in text
    assert not re.search(r"/home/|/tmp/|/root/|https?://(?!www\.w3\.org)", text)
    assert set(read_notebook().metadata) == {"kernelspec", "language_info"}


def store_notebook(path: Path = NOTEBOOK) -> None:
    """Executes the notebook anew."""
    import nbformat

    notebook = executed(read_notebook())
    notebook.metadata.language_info = {"name": "python"}
    for cell in notebook.cells:
        cell.metadata = {}
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def store() -> None:
    """Executes the notebook and draws the pictures of the page anew."""
    store_notebook()
    folder = PAGE.parent / "pictures"
    folder.mkdir(exist_ok=True)
    for script in DRAWING:
        run(script, folder)


if __name__ == "__main__":
    store() if len(sys.argv) == 1 else store_notebook(Path(sys.argv[1]))
