"""What captions say of a picture is what is drawn in it."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

import pytest

from cranfield.evaluation.experiment import Experiment
from cranfield.plot.saving import drawn
from cranfield.plot.style import Chart, caption_of, find_theme
from cranfield.plot.subject import Picture, Subject, all_pictures, find_picture
from noisy import QRELS, RUNS, system
from scene import marks, written

MANY = {f"s{number:02}": system(0.05 * number, number) for number in range(20)}


@cache
def drawing(kind: str, count: int) -> Chart:
    runs = RUNS if count == len(RUNS) else dict([*MANY.items()][-count:])
    picture = find_picture(kind)
    return picture.draw(Subject(experiment=Experiment(QRELS, runs), measures=picture.measures))


def lines_of(chart: Chart) -> list[dict[str, Any]]:
    return [mark for mark in marks(chart, "line") if mark.get("strokeDash")]


@pytest.mark.parametrize("kind", ["gain", "effort", "rbp", "normalised-gain"])
def test_a_line_that_is_called_dashed_has_dashes(kind: str) -> None:
    chart = drawing(kind, 3)
    assert "dashed" in caption_of(chart).lower()
    assert "dotted" not in caption_of(chart).lower()
    dashes = [line["strokeDash"] for line in lines_of(chart)]
    assert dashes
    assert all(dash >= 2 * 2 and dash > gap for dash, gap in dashes)  # twice as long as the line is wide


@pytest.mark.parametrize("count", [3, 6, 20])
def test_a_shaded_area_is_explained_where_there_is_one(count: int) -> None:
    chart = drawing("rbp", count)
    assert ("Shaded: what lies between the two." in caption_of(chart)) == bool(marks(chart, "area")) == (count != 6)


def test_where_every_system_is_named_none_is_called_unnamed() -> None:
    told = caption_of(drawing("critical-difference", 20))
    assert "not named" not in told
    assert told.endswith("In colour: s18.")
    assert "In colour" not in caption_of(drawing("critical-difference", 3))
    assert "those not named are grey" in caption_of(drawing("interpolated", 20))


@pytest.mark.parametrize("theme", ["screen", "paper"])
def test_the_name_of_a_point_is_held_off_it_whatever_letters_it_is_drawn_in(theme: str) -> None:
    names = ["bm25", "bm25-long", "a much longer name", "dense"]
    runs = dict(zip(names, MANY.values(), strict=False))
    costs = dict(zip(names, (1.0, 1.2, 9.0, 10.0), strict=True))
    subject = Subject(experiment=Experiment(QRELS, runs), measures=("AP",), costs=costs, theme=theme)
    chart = find_picture("pareto").draw(subject)
    points = dict(zip(names, sorted(mark["x"] for mark in marks(chart, "symbol")), strict=True))
    for text in marks(chart, "text"):
        x = points[text["text"]]
        end = {"left": text["x"] > x, "right": text["x"] < x, "center": True}
        assert end[text.get("align", "left")], text["text"]


LONG = {f"a system with a long name, number {number}": run for number, run in enumerate(MANY.values())}
ON_PAPER = [picture for picture in all_pictures() if picture.name not in ("histogram", "scatter", "sweep", "pareto")]


def on_paper(kind: str, count: int) -> Chart:
    picture = find_picture(kind)
    topics = ("3",) if kind in ("precision-recall", "ranks") else ()
    experiment = Experiment(QRELS, dict([*LONG.items()][:count]))
    return picture.draw(Subject(experiment=experiment, measures=picture.measures, topics=topics, theme="paper"))


@pytest.mark.parametrize("picture", ON_PAPER, ids=lambda picture: picture.name)
def test_files_for_a_paper_are_as_wide_as_its_column_or_its_page(picture: Picture) -> None:
    """Beside each other, or made to fit the column, they have letters of one size."""
    look = find_theme("paper")
    for count in (5, 20):
        (width,) = struct.unpack(">I", drawn(on_paper(picture.name, count), "png")[16:20])
        points = width * 72 / look.ppi
        assert points == pytest.approx(look.column, abs=0.5) or points == pytest.approx(look.page, abs=0.5)


@pytest.mark.parametrize("kind", ["heatmap", "stability"])
def test_legends_of_shades_take_no_width_of_a_column(kind: str) -> None:
    look = find_theme("paper")
    runs = dict([*MANY.items()][:8])
    chart = find_picture(kind).draw(Subject(experiment=Experiment(QRELS, runs), measures=("AP",), theme="paper"))
    assert chart.to_dict()["width"] > 0.8 * (look.column or 0)


def test_shares_are_rounded_each_by_itself_and_the_caption_says_so() -> None:
    """What a paper quotes of a cell is the rounded share, whatever the others of its row are."""
    sentence = "Each percentage is rounded by itself: a row may add up to 99 or 101, say."
    runs = dict([*MANY.items()][:5])
    chart = find_picture("stability").draw(Subject(experiment=Experiment(QRELS, runs), measures=("AP",)))
    rows = chart.to_dict()["data"]["values"]
    inner = [row for row in rows if 0.01 <= row["share"] <= 0.99]
    assert len(inner) > 5
    assert [row["shown"] for row in inner] == [f"{row['share'] * 100:.0f} %" for row in inner]
    assert caption_of(chart).endswith(sentence)
    assert sentence not in caption_of(drawing("stability", 20))  # no number is written there


@pytest.mark.parametrize(("count", "has_shares"), [(5, True), (20, False)])
def test_shares_are_written_on_paper_where_there_is_room(count: int, has_shares: bool) -> None:
    runs = dict([*MANY.items()][:count])
    chart = find_picture("stability").draw(Subject(experiment=Experiment(QRELS, runs), measures=("AP",), theme="paper"))
    assert any(text.endswith(" %") for text in written(chart)) == has_shares


def test_what_is_told_beside_lines_leaves_room_for_them_on_paper() -> None:
    experiment = Experiment(QRELS, RUNS)
    screen, paper = (
        find_picture("normalised-gain").draw(Subject(experiment=experiment, measures=("DCG",), theme=theme))
        for theme in ("screen", "paper")
    )
    areas = [text for text in written(screen) if text.endswith(")")]
    assert len(areas) == len(RUNS)
    assert sorted(written(paper)) == sorted(RUNS)
    assert all(area in caption_of(paper) for area in areas)
    look = find_theme("paper")
    assert paper.to_dict()["width"] > 0.6 * (look.column or 0)
    title = find_picture("effort").draw(Subject(experiment=Experiment(QRELS, LONG), measures=("R",), theme="paper"))
    spec = title.to_dict()
    lines = next(layer["encoding"]["x"]["title"] for layer in spec["layer"] if "x" in layer["encoding"])
    assert " ".join(lines) == "documents gone through for each topic"
    assert max(map(len, lines)) * look.font * 0.5 <= spec["width"]  # it is no wider than what it stands under


@pytest.mark.parametrize("picture", all_pictures(), ids=lambda picture: picture.name)
def test_titles_begin_as_sentences_do(picture: Picture) -> None:
    two = picture.name in ("histogram", "scatter")
    runs = {"good": RUNS["good"], "fair": RUNS["fair"]} if two else RUNS
    subject = Subject(
        experiment=Experiment(QRELS, runs),
        measures=picture.measures,
        topics=("3",) if picture.name in ("precision-recall", "ranks") else (),
        costs={name: float(place) for place, name in enumerate(runs)},
        parameters={name: {"k1": place} for place, name in enumerate(runs)},
    )
    for title in written(picture.draw(subject), "title-text"):
        first = title.removeprefix("['")[:1]  # of several lines
        assert first in ("", "n") or first.isupper() or title in runs, title  # nDCG is called so
