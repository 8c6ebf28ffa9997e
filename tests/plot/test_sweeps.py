"""Parameter sweeps: from runs with metadata, from a table, and from what `search --grid` prints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cranfield
from commands import command_line
from cranfield import DataError, UsageError
from cranfield.efficiency import write_metadata
from cranfield.evaluation.experiment import Experiment
from cranfield.plot.style import COLOURS, caption_of
from cranfield.plot.subject import Subject, find_picture
from cranfield.plot.sweeps import combinations
from cranfield.plot.swept import read_swept
from noisy import QRELS, RUNS, system, write
from places import EXAMPLES
from scene import written

GRID: dict[str, Any] = {
    f"{k1} {b}": {"k1": k1, "b": b, "variant": "lucene"} for b in (0.25, 0.75) for k1 in (0.5, 1.0, 2.0)
}
SWEEP = {name: system(0.3 * own["k1"] + own["b"], 7) for name, own in GRID.items()}


def chart(parameters: Any = GRID, runs: Any = SWEEP, **chosen: Any) -> Any:
    subject = Subject(experiment=Experiment(QRELS, runs), measures=("AP",), parameters=parameters, **chosen)
    return find_picture("sweep").draw(subject)


def points_of(made: Any) -> list[tuple[str, float, float]]:
    specification = made.to_dict()
    data = specification["layer"][0].get("data") or specification["data"]
    return [(row["label"], row["x"], row["y"]) for row in data["values"]]


def test_a_sweep_has_the_means_at_their_values_and_a_line_for_each_other_value() -> None:
    made = chart()
    means = cranfield.evaluate(QRELS, SWEEP, "AP")["AP"]
    expected = [(f"b = {own['b']}", own["k1"], means[name]) for name, own in GRID.items()]
    assert points_of(made) == expected
    layers = made.to_dict()["layer"]
    (ring,) = (layer for layer in layers if layer["mark"].get("filled") is False)
    (best,) = ring["data"]["values"]
    top = max(means, key=lambda run: means[run])
    assert (best["run"], best["y"]) == (top, means[top])
    caption = caption_of(made)
    assert "AP by k1, mean over 40 topics, of 6 combinations of parameters, a line for each value of b." in caption
    assert f"The ring is the best of them, {means[top]:.4f} at k1 = {best['x']:g}, {best['label']}: it was" in caption
    assert "chosen on the topics drawn here" in caption


def test_any_parameter_that_is_a_number_can_be_drawn_along() -> None:
    assert {label for label, _, _ in points_of(chart(along="b"))} == {"k1 = 0.5", "k1 = 1", "k1 = 2"}
    for wrong in ("variant", "delta"):
        with pytest.raises(UsageError, match=f"no parameter '{wrong}' that varies and is a number; there are k1, b"):
            chart(along=wrong)


def test_a_parameter_that_follows_another_makes_no_lines() -> None:
    weights: dict[str, Any] = {
        f"{w}": {"method": "weighted-sum", "weights 1": w, "weights 2": round(1 - w, 2)} for w in (0.2, 0.5, 0.9)
    }
    along, others, made = combinations(weights, dict.fromkeys(weights, 0.5))
    assert (along, others, [one.value for one in made]) == ("weights 1", [], [0.2, 0.5, 0.9])


def test_combinations_that_are_level_are_counted() -> None:
    runs = dict.fromkeys(("a", "b", "c"), RUNS["good"])
    made = chart({name: {"k": float(i)} for i, name in enumerate(runs)}, runs)
    assert "at k = 0 (the first of 3 that are level)" in caption_of(made)
    assert "level" not in caption_of(chart())


def test_losses_have_their_best_where_they_are_lowest() -> None:
    subject = Subject(experiment=Experiment(QRELS, SWEEP), measures=("E@10",), parameters=GRID)
    means = cranfield.evaluate(QRELS, SWEEP, "E@10")["E@10"]
    assert f"{min(means.values()):.4f} at" in caption_of(find_picture("sweep").draw(subject))


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        ({"poor": {"k": 1.0}, "fair": {"k": 2.0}}, "no parameters are known of good"),
        ({name: {"k": 1.0} for name in RUNS}, "a parameter that is a number: of these no parameter differs"),
        ({name: {"stemmer": name} for name in RUNS}, "a parameter that is a number: these differ in stemmer"),
        ({"poor": {"k": 1.0}, "fair": {"k": 2.0}, "good": {"k": 2.0}}, "fair and good have the same parameters"),
        ({"poor": {"k": 1.0}, "fair": {"k": 2.0}, "good": {}}, "k of good is not known as a number"),
    ],
)
def test_what_is_no_sweep_is_refused(parameters: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        chart(parameters, RUNS)


def test_of_many_lines_that_of_the_best_is_coloured() -> None:
    runs = {f"{k} {b}": RUNS["good" if (k, b) == (1, 7) else "fair"] for k in (1, 2) for b in range(12)}
    made = chart({name: dict(zip("kb", map(float, name.split()), strict=True)) for name in runs}, runs, along="k")
    named = next(param["value"] for param in made.to_dict()["params"] if param["name"] == "named")
    assert named == ["b = 7"]
    assert len(named) < len(COLOURS) < 12
    assert "Of 12 lines those not named are grey." in caption_of(made)


@pytest.fixture
def files(tmp_path: Path) -> list[str | Path]:
    given: list[str | Path] = [write(tmp_path / "qrels.txt", QRELS)]
    for name, run in RUNS.items():
        given.append(write(tmp_path / f"{name}.run", run))
    return given


def test_parameters_come_from_metadata(files: list[str | Path], tmp_path: Path) -> None:
    for i, name in enumerate(RUNS):
        step: dict[str, Any] = {"name": name, "method": "cranfield bm25", "k1": 0.5 + i, "b": 0.4}
        write_metadata(tmp_path / f"{name}.run", {"method": {"retrieval": [step]}})
    out = tmp_path / "sweep.json"
    done = command_line("plot", "sweep", *files, "-o", out)
    assert done.exit == 0, done.stderr
    means = cranfield.evaluate(QRELS, RUNS, "AP")["AP"]
    specification = json.loads(out.read_text())
    rows = (specification["layer"][0].get("data") or specification["data"])["values"]
    assert {row["run"]: (row["x"], row["y"]) for row in rows} == {
        name: (0.5 + i, means[name]) for i, name in enumerate(RUNS)
    }
    results = cranfield.evaluate(files[0], list(files[1:]), "AP")
    assert points_of(results.plot.sweep()) == [("AP", row["x"], row["y"]) for row in rows]
    steps: list[Any] = [{"name": "fold 1", "k1": 1.0}, {"name": "fold 2", "k1": 2.0}]
    write_metadata(tmp_path / "good.run", {"method": {"retrieval": steps}})
    with pytest.raises(DataError, match="good was answered with 2 sets of parameters, one a fold"):
        cranfield.evaluate(files[0], list(files[1:]), "AP").plot.sweep()
    write_metadata(tmp_path / "good.run", {"method": {"fusion": [{"name": "rrf", "k": 30, "depth": 1000}]}})
    done = command_line("plot", "sweep", *files, "-o", out)
    assert "k1 of good is not known as a number" in done.stderr
    (tmp_path / "good.run.metadata.json").unlink()
    done = command_line("plot", "sweep", *files, "-o", out)
    assert (done.exit, "no parameters are known of good" in done.stderr) == (3, True)


def test_parameters_come_from_a_table(files: list[str | Path], tmp_path: Path) -> None:
    table, out = tmp_path / "swept.csv", tmp_path / "sweep.json"
    table.write_text("run,k1,stemmer\npoor,0.5,none\nfair,1,none\ngood,1,english\n")
    done = command_line("plot", "sweep", *files, "-o", out, "--swept", table)
    assert done.exit == 0, done.stderr
    specification = json.loads(out.read_text())
    rows = (specification["layer"][0].get("data") or specification["data"])["values"]
    assert [(row["run"], row["label"], row["x"]) for row in rows] == [
        ("good", "stemmer = english", 1.0),
        ("poor", "stemmer = none", 0.5),
        ("fair", "stemmer = none", 1.0),
    ]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `search --grid` prints."""
    folder = tmp_path_factory.mktemp("sweep")
    grids = ("--grid", "k1=0.2:1.8:0.4", "--grid", "b=0.2,0.8")
    done = command_line("search", EXAMPLES / "pond.toml", *grids, "-f", "json", "-o", folder / "tuned.run")
    assert done.exit == 0, done.stderr
    path = folder / "sweep.json"
    path.write_text(done.stdout)
    return path


def test_a_sweep_of_search_is_drawn_as_it_was_printed(swept: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = command_line("plot", "sweep", "--swept", swept, "-o", out)
    assert done.exit == 0, done.stderr
    tuning = json.loads(swept.read_text())["tuning"]
    expected = {
        (f"b = {point['parameters']['b']:g}", point["parameters"]["k1"]): sum(point["scores"]) / len(point["scores"])
        for point in tuning["points"]
    }
    specification = json.loads(out.read_text())
    rows = (specification["layer"][0].get("data") or specification["data"])["values"]
    assert {(row["label"], row["x"]): row["y"] for row in rows} == pytest.approx(expected)
    assert len(rows) == 10
    assert specification["layer"][0]["encoding"]["y"]["title"] == "AP"


@pytest.mark.parametrize("theme", ["screen", "paper"])
def test_values_of_a_parameter_are_written_under_the_axis(theme: str) -> None:
    """At least three, also where long names beside the lines leave a narrow plot."""
    runs = {f"{base} {noise}": system(1 - noise / 20, noise) for base in ("a", "b") for noise in range(0, 16, 2)}
    settings: Any = {name: {"base": f"a name of sixteen {name[0]}", "noise": int(name[2:])} for name in runs}
    chart = find_picture("sweep").draw(
        Subject(experiment=Experiment(QRELS, runs), measures=("AP",), parameters=settings, theme=theme)
    )
    labels = [text for text in written(chart, "axis-label") if text.isdigit()]
    assert labels == ([str(noise) for noise in range(0, 16, 2)] if theme == "screen" else ["0", "4", "8", "12"])


def test_values_under_the_axis_are_written_with_all_their_digits() -> None:
    runs = {str(b): system(b, 7) for b in (0.25, 0.5, 0.75)}
    settings: Any = {name: {"b": float(name)} for name in runs}
    made = chart(settings, runs, theme="paper")
    assert set(runs) <= set(written(made, "axis-label"))


def test_what_a_sweep_cannot_be_made_of_is_said(swept: Path, files: list[str | Path], tmp_path: Path) -> None:
    out, other, broken = tmp_path / "out.svg", tmp_path / "other.json", tmp_path / "broken.json"
    other.write_text('{"schema": "cranfield.results/1"}')
    broken.write_text('{"schema": "cranfield.search/1", "tuning": {"measure": "AP", "topics": ["1"], "points": [{}]}}')
    run = tmp_path / "printed.json"
    run.write_text("1 Q0 d01 1 2.37 bm25-tuned\n")
    cases: tuple[tuple[tuple[str | Path, ...], str], ...] = (
        (("--swept", run), "printed.json: is not a table of run attributes"),
        (("--swept", run), "a header line such as run,k1,b and a line for each run. Is it a run file? Without -o"),
        ((*files, "--swept", swept), "has every combination evaluated: leave out"),
        (("--swept", swept, "-m", "RR"), "is a sweep of AP: RR is not known of it"),
        (("--swept", other), "is not what `cranfield search --grid … -f json` prints"),
        (("--swept", broken), "does not have the points of a sweep"),
        (("--swept", tmp_path / "none.csv"), "none.csv"),
        ((), "what is to be drawn?"),
        (("--swept", swept, "--depth", "3"), "--depth is about judgements and runs"),
        (("--swept", swept, "--along", "mu"), "no parameter 'mu' that varies and is a number; there are k1, b"),
    )
    for arguments, message in cases:
        done = command_line("plot", "sweep", *arguments, "-o", out)
        assert done.exit in (2, 3), arguments
        assert message in done.stderr, arguments
    done = command_line("plot", "heatmap", "--swept", swept, "-o", out)
    assert (done.exit, "heatmap has no use for --swept: sweep takes it" in done.stderr) == (2, True)
    assert command_line("plot", "sweep", "--swept", swept, "-m", "AP", "-o", out).exit == 0
    assert read_swept(str(swept)).results is not None
