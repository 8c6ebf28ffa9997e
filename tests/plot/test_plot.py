"""Pictures: every kind draws, shows the library's numbers, and can be saved in every form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from math import log2, log10
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cranfield
from commands import command_line
from cranfield import UsageError
from cranfield.evaluation.experiment import Experiment
from cranfield.plot.curves import discounts, gains, normalised_gains
from cranfield.plot.labels import LETTER, Frame, near_points
from cranfield.plot.matrices import rank_shares
from cranfield.plot.saving import WRITERS, drawn
from cranfield.plot.style import BAD, COLOURS, GOOD, GREY, NEUTRAL, caption_of, find_theme
from cranfield.plot.subject import Picture, Subject, all_pictures, find_picture
from noisy import QRELS, RUNS, system, write
from scene import marks, written
from svg_texts import read_drawing

TWO = ("histogram", "scatter")
ONE_TOPIC = ("precision-recall", "ranks")
PARAMETERS = {"poor": {"k1": 0.5, "b": 0.9}, "fair": {"k1": 1.0, "b": 0.4}, "good": {"k1": 1.5, "b": 0.2}}


def subject(picture: Picture, **chosen: Any) -> Subject:
    runs = {name: RUNS[name] for name in ("good", "fair")} if picture.name in TWO else RUNS
    topics = ("3",) if picture.name in ONE_TOPIC else ()
    costs = {"poor": 3.0, "fair": 2.0, "good": 30.0}
    given: dict[str, Any] = {"costs": costs, "parameters": PARAMETERS, **chosen}
    return Subject(experiment=Experiment(QRELS, runs), measures=picture.measures, topics=topics, **given)


@pytest.mark.parametrize("picture", all_pictures(), ids=lambda picture: picture.name)
def test_every_picture_draws_on_screen_and_on_paper(picture: Picture) -> None:
    for theme in ("screen", "paper"):
        text = drawn(picture.draw(subject(picture, theme=theme)), "svg").decode()
        assert text.startswith("<svg")
        assert "NaN" not in text.replace("NaN,", "")
    assert picture.shows.endswith((".", "?"))


@pytest.mark.parametrize("form", WRITERS)
def test_a_picture_can_be_saved_in_every_form(form: str) -> None:
    content = drawn(find_picture("interpolated").draw(subject(find_picture("interpolated"))), form)
    start = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!DOCTYPE html>", "json": b"{"}[form]
    assert content.lstrip().startswith(start)
    if form == "html":
        assert b"https://cdn" not in content


@pytest.mark.parametrize("sort", [True, False])
def test_a_histogram_shows_the_differences_of_the_library(sort: bool) -> None:
    picture = find_picture("histogram")
    chart = picture.draw(subject(picture, sort=sort))
    results = cranfield.evaluate(QRELS, RUNS, "Rprec")
    expected = (results.of("Rprec", "good") - results.of("Rprec", "fair")).tolist()
    expected = sorted(expected, reverse=True) if sort else expected
    height_of = {float(label["text"].replace("−", "-")): label["y"] for label in marks(chart, "text", "axis-label")}
    pixels = (height_of[min(height_of)] - height_of[max(height_of)]) / (max(height_of) - min(height_of))
    bars = sorted(marks(chart, "rect"), key=lambda bar: float(bar["x"]))
    lengths = [bar["height"] if bar["y"] < height_of[0.0] - 1e-6 else -bar["height"] for bar in bars]
    assert [length / pixels for length in lengths] == pytest.approx(expected)


def test_a_forest_shows_the_intervals_of_the_comparison() -> None:
    specification = find_picture("forest").draw(subject(find_picture("forest"))).to_dict()
    rows = next(layer["data"]["values"] for layer in specification["layer"] if "pair" in str(layer["data"]))
    pairs = list(cranfield.compare(Experiment(QRELS, RUNS), "nDCG@10").rows())
    assert {row["pair"]: (row["low"], row["high"]) for row in rows} == {
        f"{pair.system} − {pair.other}": (pair.low, pair.high) for pair in pairs
    }
    by_gain = sorted(pairs, key=lambda pair: -pair.difference)
    names = written(find_picture("forest").draw(subject(find_picture("forest"))), "axis-label")
    assert [name for name in names if "−" in name[1:]] == [f"{pair.system} − {pair.other}" for pair in by_gain]
    alike = {"good": RUNS["good"], "fair": RUNS["fair"], "again": RUNS["good"]}
    chart = find_picture("forest").draw(Subject(experiment=Experiment(QRELS, alike), measures=("AP",))).to_dict()
    rows = next(layer["data"]["values"] for layer in chart["layer"] if "pair" in str(layer["data"]))
    assert {row["pair"]: row["verdict"] for row in rows} == {
        "good − fair": "significantly better",
        "good − again": "not significant",
        "fair − again": "significantly worse",
    }
    colours = {json.dumps(layer["encoding"].get("color", {}).get("scale")) for layer in chart["layer"]} - {"null"}
    (scale,) = map(json.loads, colours)
    assert scale["domain"] == ["significantly better", "significantly worse", "not significant"]
    assert scale["range"] == [GOOD, BAD, NEUTRAL]
    two = Subject(experiment=Experiment(QRELS, {"good": RUNS["good"], "again": RUNS["good"]}), measures=("AP",))
    assert written(find_picture("forest").draw(two), "legend-label") == ["not significant"]  # nothing else is there


def test_long_names_of_pairs_leave_a_forest_its_width_on_paper() -> None:
    """As wide as the page where names would take most of a column; dots are narrower than intervals."""
    look = find_theme("paper")
    for name, widest, room in (("", look.column, 0.5), (" with a name that is long", look.page, 0.3)):
        runs = {f"{run}{name}": of for run, of in RUNS.items()}
        made = find_picture("forest").draw(Subject(experiment=Experiment(QRELS, runs), measures=("AP",), theme="paper"))
        width = made.to_dict()["width"]
        assert room * (widest or 0) <= width <= (widest or 0)
        (width_of_file,) = re.findall(r'<svg [^>]*?width="(\d+)"', drawn(made, "svg").decode())
        assert int(width_of_file) == widest
        intervals, dots = (marks(made, kind) for kind in ("rule", "symbol"))
        assert len(dots) == 3
        middle = sorted(abs(rule["x2"] - rule["x"]) for rule in intervals if rule.get("x2") is not None)[1]
        assert dots[0]["size"] ** 0.5 <= middle / 2


def test_rows_of_pictures_are_in_the_order_in_which_they_stand() -> None:
    """So that who goes from mark to mark by keys goes from top to bottom, and from left to right."""
    rows = find_picture("forest").draw(subject(find_picture("forest"))).to_dict()["layer"][0]["data"]["values"]
    assert [row["gain"] for row in rows] == sorted((row["gain"] for row in rows), reverse=True)
    cells = find_picture("p-values").draw(subject(find_picture("p-values"))).to_dict()["data"]["values"]
    order = ["good", "fair", "poor"]
    assert [(cell["system"], cell["other"]) for cell in cells] == [(a, b) for a in order for b in order if a != b]


def test_scales_of_scores_by_rank_have_three_ticks_where_there_is_room() -> None:
    runs = {f"s{number}": system(0.1 * number, number) for number in range(8)}
    for theme in ("screen", "paper"):
        chart = find_picture("ranks").draw(Subject(experiment=Experiment(QRELS, runs), topics=("3",), theme=theme))
        drawing = read_drawing(drawn(chart, "svg").decode())
        labels = [text for text in drawing.texts if re.fullmatch(r"−?\d+(\.\d+)?", text.text)]
        beside = [text for text in labels if text.bottom < max(label.bottom for label in labels) - 5]
        assert len(beside) >= 3 * len(runs), theme


def test_a_forest_of_many_pairs_shows_those_with_the_best_system() -> None:
    runs = {f"system {number}": system(0.1 * number, number) for number in range(11)}
    picture = find_picture("forest")
    chart = picture.draw(Subject(experiment=Experiment(QRELS, runs), measures=picture.measures)).to_dict()
    rows = next(layer["data"]["values"] for layer in chart["layer"] if "pair" in str(layer["data"]))
    means = cranfield.evaluate(QRELS, runs, "nDCG@10").mean()
    best = max(means, key=lambda run: means[run]["nDCG@10"])
    assert len(rows) == 10
    assert all(row["pair"].endswith(f"− {best}") for row in rows)
    assert chart["title"] == "nDCG@10, against the best (55 pairs compared)"
    drawn_chart = picture.draw(Subject(experiment=Experiment(QRELS, runs), measures=picture.measures))
    assert {name for name in written(drawn_chart, "axis-label") if "system" in name} == set(runs) - {best}
    assert [name for name in written(drawn_chart, "axis-title") if name] == [f"difference from {best}, 99.72% interval"]
    family = {
        frozenset((pair.system, pair.other)): pair.adjusted_p
        for pair in cranfield.compare(Experiment(QRELS, runs), "nDCG@10").rows()
    }
    assert all(row["adjusted_p"] == family[frozenset((row["system"], row["other"]))] for row in rows)


def test_a_forest_has_a_panel_a_measure() -> None:
    picture = find_picture("forest")
    chart = picture.draw(Subject(experiment=Experiment(QRELS, RUNS), measures=("nDCG@10", "AP"))).to_dict()
    assert [panel["title"] for panel in chart["vconcat"]] == ["nDCG@10", "AP"]
    for panel in chart["vconcat"]:
        rows = next(layer["data"]["values"] for layer in panel["layer"] if "pair" in str(layer["data"]))
        assert {row["measure"] for row in rows} == {panel["title"]}
        assert len(rows) == 3


def test_an_ideal_that_runs_share_is_drawn_and_named_once() -> None:
    chart = find_picture("gain").draw(subject(find_picture("gain"), depth=5))
    rows = chart.to_dict()["data"]["values"]
    assert [row["x"] for row in rows if row["label"] == "ideal"] == [1, 2, 3, 4, 5]
    assert sorted(written(chart)) == sorted([*RUNS, "ideal"])


def test_names_near_points_cover_neither_points_nor_each_other() -> None:
    frame, look = Frame((0.0, 1.0), (0.0, 1.0), 560.0, 340.0), find_theme("screen")
    named = [(f"system {i}", 0.3 + 0.02 * i, 0.5 + 0.15 * (i % 3)) for i in range(20)]
    placed = near_points(named, [], frame, look)
    height = look.font * 1.1 - 1e-9
    boxes = []
    for name in placed:
        end, middle = frame.pixels(name.text_x, name.text_y)
        width = len(name.label) * look.font * LETTER
        left = end - {"left": 0.0, "center": width / 2, "right": width}[name.align]
        boxes.append((left, middle - height / 2, left + width, middle + height / 2))
    for i, a in enumerate(boxes):
        assert a[0] >= 0
        assert a[3] <= frame.height
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in boxes[i + 1 :])
        for _, x, y in named:
            across, down = frame.pixels(x, y)
            assert not (a[0] < across < a[2] and a[1] < down < a[3])


def test_a_scatter_names_the_topics_that_differ_most() -> None:
    chart = find_picture("scatter").draw(subject(find_picture("scatter"))).to_dict()
    names = next(layer["data"]["values"] for layer in chart["layer"] if layer["mark"]["type"] == "text")
    results = cranfield.evaluate(QRELS, RUNS, "nDCG@10")
    difference = results.of("nDCG@10", "good") - results.of("nDCG@10", "fair")
    most = sorted(zip(difference.tolist(), results.topics, strict=True))
    assert {topic for d, topic in most[-4:] if d > 0} <= {row["label"] for row in names}
    assert {topic for d, topic in most[:4] if d < 0} <= {row["label"] for row in names}


def test_gain_curves_take_parameters() -> None:
    collected = Experiment({"1": {"a": 1, "b": 3}}, {"run": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}})
    found = gains(collected, "DCG(base=2)", depth=3)
    assert found.of("run") == [(1, 1), (2, 1), (3, pytest.approx(1 + 3 / log2(3)))]
    assert found.of("run", series="ideal")[1] == (2, 4)
    ratio = normalised_gains(collected, "DCG(base=2)", depth=3)
    assert ratio.y == "nDCG(base=2), mean of ratios"
    assert ratio.of("run")[1][1] == pytest.approx(1 / 4)
    for kind in ("ERR", "DCG@5"):
        with pytest.raises(UsageError, match="a gain curve is one of CG, DCG"):
            gains(collected, kind)


@pytest.mark.parametrize("kind", ["interpolated", "cutoff", "gain", "rbp"])
def test_of_many_runs_the_best_the_baseline_and_those_to_highlight_are_named(kind: str) -> None:
    runs = {f"run {number}": system(0.05 * number, number) for number in range(20)}
    picture = find_picture(kind)
    many = Subject(experiment=Experiment(QRELS, runs), measures=picture.measures, depth=10)
    chosen = replace(many, baseline="run 2", highlight=("run 7",))
    (best,) = set(written(picture.draw(many))) - {"ideal"}
    assert set(written(picture.draw(chosen))) - {"ideal"} == {best, "run 2", "run 7"}
    strokes = {line["stroke"] for line in marks(picture.draw(chosen), "line") if line.get("opacity", 1)}
    assert strokes >= {GREY, *COLOURS[:3]}
    assert not strokes & set(COLOURS[3:])
    assert "Of 20 systems those not named are grey." in caption_of(picture.draw(many))


def test_a_run_to_highlight_that_is_not_there_is_refused(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    runs = [write(tmp_path / f"{name}.run", run) for name, run in RUNS.items()]
    line: tuple[str | Path, ...] = ("plot", "cutoff", qrels, *runs, "-o", tmp_path / "p.json")
    done = command_line(*line, "--highlight", "fair", "--highlight", "good")
    assert (done.exit, json.loads((tmp_path / "p.json").read_text())["params"][0]["value"]) == (0, ["fair", "good"])
    done = command_line(*line, "--highlight", "best")
    assert done.exit == 2
    assert "no best in this picture to be named; there are poor, fair, good" in done.stderr


def test_names_that_differ_in_their_ends_alone_are_not_cut() -> None:
    ends = ("one", "another")
    runs = {f"{'a very long name indeed, ' * 4}{end}": RUNS[name] for end, name in zip(ends, RUNS, strict=False)}
    for kind in ("heatmap", "p-values", "stability", "forest", "histogram"):
        picture = find_picture(kind)
        text = drawn(
            picture.draw(Subject(experiment=Experiment(QRELS, runs), measures=picture.measures)), "svg"
        ).decode()
        shown = re.sub(r'aria-label="[^"]*"', "", text)
        assert all(re.search(rf">[^<]*{end}\b[^<]*<", shown) for end in ends), kind
        assert "…" not in shown, kind


def test_systems_that_tie_share_their_ranks() -> None:
    scores = np.array([[0.5, 0.7, 0.9], [0.5, 0.7, 0.9], [0.1, 0.2, 0.3]])
    assert rank_shares(scores).tolist() == [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    one_topic = {"3": QRELS["3"]}
    with pytest.raises(UsageError, match="from 2 that all runs have a score on or more, not 1"):
        find_picture("stability").draw(Subject(experiment=Experiment(one_topic, RUNS), measures=("AP",)))


def test_where_nothing_differs_pictures_say_so() -> None:
    same = dict.fromkeys(("a", "b", "c"), RUNS["good"])
    chart = find_picture("agreement").draw(Subject(experiment=Experiment(QRELS, same), measures=("AP", "RR")))
    assert {row["shown"] for row in chart.to_dict()["data"]["values"]} == {"–"}
    assert b"NaN" not in drawn(chart, "json")
    two = dict.fromkeys(("a", "b"), RUNS["good"])
    histogram = find_picture("histogram").draw(Subject(experiment=Experiment(QRELS, two), measures=("AP",)))
    assert written(histogram) == ["no difference on any topic"]


def test_of_many_runs_by_cost_the_front_is_named() -> None:
    runs = {f"run {i}": RUNS[("good", "fair", "poor")[i % 3]] for i in range(21)}
    costs = {name: float(i) for i, name in enumerate(runs)}
    chart = (
        find_picture("pareto")
        .draw(Subject(experiment=Experiment(QRELS, runs), measures=("AP",), costs=costs))
        .to_dict()
    )
    *_, names = chart["layer"]
    assert {row["label"] for row in names["data"]["values"]} == {"run 0"}
    assert chart["title"] == "21 runs; those on the front are named"


def test_results_draw_themselves() -> None:
    results = cranfield.evaluate(QRELS, RUNS, ["AP", "nDCG@10"])
    for name in ("heatmap", "forest", "stability", "p_values", "critical_difference", "agreement"):
        assert getattr(results.plot, name)().to_dict()["$schema"]
    two = cranfield.evaluate(QRELS, {name: RUNS[name] for name in ("good", "fair")}, "AP")
    with pytest.raises(UsageError, match="scatter shows one measure, not 2"):
        two.plot.scatter(measures=["AP", "RR"])
    assert written(two.plot.histogram(), "legend-label") == ["good is better", "fair is better"]
    assert results.plot.interpolated().to_dict()["$schema"]
    with pytest.raises(AttributeError, match="unknown kind of picture 'pie'"):
        _ = results.plot.pie
    with pytest.raises(UsageError, match="two runs, not 3"):
        results.plot.histogram()


def test_results_of_files_draw_curves_as_well(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    runs = [write(tmp_path / f"{name}.run", run) for name, run in RUNS.items()]
    chart = cranfield.evaluate(qrels, runs, "nDCG@10").plot.cutoff(depth=5).to_dict()
    assert {row["label"] for row in chart["data"]["values"]} == set(RUNS)
    for kind in ("gain", "normalised_gain", "rbp"):  # whatever was evaluated
        assert getattr(cranfield.evaluate(qrels, runs, "nDCG@10").plot, kind)(depth=5).to_dict()["$schema"]


def test_the_command_draws_files(tmp_path: Path) -> None:
    qrels = write(tmp_path / "qrels.txt", QRELS)
    runs = [write(tmp_path / f"{name}.run", run) for name, run in RUNS.items()]
    out = tmp_path / "curves.svg"
    done = command_line("plot", "cutoff", qrels, *runs, "-o", out, "-m", "P", "--down-to", "10")
    assert done.exit == 0, done.stderr
    assert "good" in out.read_text()
    costs = tmp_path / "costs.csv"
    costs.write_text("run,latency\npoor,1\nfair,2\ngood,3\n")
    done = command_line("plot", "pareto", qrels, *runs, "-o", tmp_path / "p.json", "--costs", costs)
    assert json.loads((tmp_path / "p.json").read_text())["layer"][0]["encoding"]["x"]["title"] == "latency"
    costs.write_text("run,latency\npoor,nan\nfair,2\ngood,3\n")
    done = command_line("plot", "pareto", qrels, *runs, "-o", tmp_path / "p.json", "--costs", costs)
    assert (done.exit, "'nan' of poor is not a number that can be drawn" in done.stderr) == (3, True)
    costs.write_text("run,latency\n\n")
    done = command_line("plot", "pareto", qrels, *runs, "-o", tmp_path / "p.json", "--costs", costs)
    assert (done.exit, "costs.csv: is not a table of run attributes" in done.stderr) == (3, True)
    costs.write_text("run,latency\npoor,fast\n")
    cases: tuple[tuple[tuple[str | Path, ...], str], ...] = (
        (("pie", qrels, *runs, "-o", out), "unknown kind of picture 'pie'"),
        (("cutoff", qrels, *runs), "where to?"),
        (("cutoff", qrels, *runs, "-o", tmp_path / "x.gif"), "a picture can be svg, png, pdf, html, json, not 'gif'"),
        (("histogram", qrels, *runs, "-o", out), "two runs, not 3"),
        (("ranks", qrels, *runs, "-o", out), "one topic: name it"),
        (("heatmap", qrels, *runs, "-o", out, "-m", "AP", "-m", "RR"), "heatmap shows one measure, not 2: AP, RR"),
        (("interpolated", qrels, *runs, "-o", out, "-m", "AP"), "interpolated shows no measure that could be chosen"),
        (("rbp", qrels, *runs, "-o", out, "--topic", "3"), "rbp is over all topics and cannot show 3 alone"),
        (("rbp", qrels, *runs, "-o", out, "-m", "AP"), "of RBP at every cutoff, such as RBP(p=0.95), not of AP"),
        (("cutoff", "no.qrels", *runs, "-o", "-"), "name a file such as picture.svg"),
        (("pareto", qrels, *runs, "-o", out), "no latency is known of"),
        (("pareto", qrels, *runs, "-o", out, "--costs", costs), "column 'latency'"),
        (("cutoff", qrels, *runs, "-o", tmp_path / "no" / "x.svg"), "cannot be written"),
    )
    for arguments, message in cases:
        done = command_line("plot", *arguments)
        assert done.exit in (2, 3), arguments
        assert message in done.stderr


def test_discounts_are_those_of_the_measures() -> None:
    made = discounts(["CG", "DCG", "DCG(base=2)", "DCG(base=10)", "RR", "RBP(p=0.5)", "P@2", "SetP"], depth=12)
    by_hand: dict[str, Callable[[int], float]] = {
        "CG": lambda rank: 1,
        "DCG": lambda rank: 1 / log2(rank + 1),
        "DCG(base=2)": lambda rank: 1 / max(1, log2(rank)),
        "DCG(base=10)": lambda rank: 1 / max(1, log10(rank)),
        "RR": lambda rank: 1 / rank,
        "RBP(p=0.5)": lambda rank: 0.5 ** (rank - 1),
        "P@2": lambda rank: float(rank <= 2),
        "SetP": lambda rank: 1,  # however long a list is, all are drawn of the same length
    }
    assert {point.run for point in made.points} == set(by_hand)
    for name, worth in by_hand.items():
        assert [x for x, _ in made.of(name)] == list(range(1, 13))
        assert [y for _, y in made.of(name)] == pytest.approx([worth(rank) for rank in range(1, 13)])


def test_a_picture_of_measures_alone_needs_no_runs(tmp_path: Path) -> None:
    out = tmp_path / "discounts.json"
    assert command_line("plot", "discounts", "-o", out).exit == 0
    chart = json.loads(out.read_text())
    rows = chart["data"]["values"]
    assert {row["label"] for row in rows} == {"CG", "DCG", "DCG(base=2)", "DCG(base=10)", "RR"}
    assert max(row["x"] for row in rows) == 20
    for wrong in ("ESL", "E@5", "IdealDCG", "AP(rel=2)"):
        with pytest.raises(UsageError, match=f"^{re.escape(wrong)} has no discount to draw"):
            discounts([wrong])
    assert len(discounts(["RR"], depth=2000).points) == 500


def test_points_at_a_recall_level_are_seen_within_their_squares() -> None:
    chart = find_picture("precision-recall").draw(subject(find_picture("precision-recall"))).to_dict()
    marks = [layer["mark"] for layer in chart["layer"] if layer["mark"]["type"] == "point"]
    assert [mark.get("shape", "circle") for mark in marks] == ["square", "circle"], "what is drawn last is on top"
    assert marks[1]["filled"]
    assert marks[1]["size"] < marks[0]["size"] / 2


def test_what_a_discount_holds_for_is_said_where_documents_raise_each_other(tmp_path: Path) -> None:
    def title(*measures: str) -> str:
        out = tmp_path / "discounts.json"
        assert command_line("plot", "discounts", *(f"-m{measure}" for measure in measures), "-o", out).exit == 0
        return str(json.loads(out.read_text()).get("title", ""))

    assert "AP: where no other document is relevant" in title("AP", "DCG")
    assert "relevant" not in title("DCG", "nDCG", "RR", "RBP")
    assert "relevant" not in title()


@pytest.mark.parametrize("picture", all_pictures(), ids=lambda picture: picture.name)
def test_a_picture_is_changed_by_what_it_says_it_uses_and_by_nothing_else(picture: Picture) -> None:
    plain, named = subject(picture), {"discounts": "DCG", "pooling": "depth"}
    others = {
        "depth": replace(plain, depth=3),
        "highlight": replace(plain, highlight=(named.get(picture.name, "fair"),)),
        "sort": replace(plain, sort=False),
        "costs": replace(plain, costs={"poor": 9.0, "fair": 8.0, "good": 1.0}),
        "parameters": replace(plain, parameters={name: {"k1": len(name) + i} for i, name in enumerate(RUNS)}),
        "along": replace(plain, along="b"),
    }
    usual = picture.draw(plain).to_dict()
    changing = {use for use, other in others.items() if picture.draw(other).to_dict() != usual}
    few = replace(plain, highlight=others["highlight"].highlight)  # of few runs the baseline is named where not all are
    if picture.draw(few).to_dict() != picture.draw(replace(few, baseline="good")).to_dict():
        changing.add("baseline")
    assert changing == set(picture.uses)


def test_the_list_of_pictures_says_which_options_each_takes() -> None:
    listed = command_line("plot", "list").stdout
    assert re.search(
        r"^gain .*\n +-m \[default: DCG\], --topic, --baseline, --down-to, --highlight\n", listed, flags=re.MULTILINE
    )
    assert re.search(
        r"^pareto .*\n +-m \[default: nDCG@10\], --costs or --cost, --highlight\n", listed, flags=re.MULTILINE
    )
    assert re.search(r"^histogram .*\n +-m \[default: Rprec\], --no-sort\n", listed, flags=re.MULTILINE)
    assert not re.search(r" $", listed, flags=re.MULTILINE)
