"""Pictures of five, twenty and sixty systems: bounded, with names that lie neither on each other nor on points."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import pytest

from cranfield.evaluation.experiment import Experiment
from cranfield.plot.saving import drawn
from cranfield.plot.style import caption_of, find_theme
from cranfield.plot.subject import Picture, Subject, all_pictures
from noisy import QRELS, system
from svg_texts import Drawing, read_drawing

TWO, ONE_TOPIC = ("histogram", "scatter"), ("precision-recall", "ranks")
HANGING = 14  # pixels that a last label may hang over the column of a paper
BEYOND = 200  # pixels that titles, legends and axes may take beside the plot


@cache
def systems(count: int) -> Experiment:
    return Experiment(QRELS, {f"system {number}": system(0.02 * number, number) for number in range(count)})


def subject(picture: Picture, count: int, theme: str) -> Subject:
    experiment = systems(2 if picture.name in TWO else count)
    return Subject(
        experiment=experiment,
        measures=picture.measures,
        topics=("3",) if picture.name in ONE_TOPIC else (),
        costs={name: float((place * 37) % 101) for place, name in enumerate(experiment.names)},
        parameters={name: {"k1": place // 10, "b": place % 10} for place, name in enumerate(experiment.names)},
        theme=theme,
    )


def touching(drawing: Drawing) -> list[tuple[str, str]]:
    upright = [text for text in drawing.texts if not text.slanted]
    return [(a.text, b.text) for a, b in combinations(upright, 2) if a.covers(b)]


@pytest.mark.parametrize("count", [5, 20, 60])
@pytest.mark.parametrize("picture", all_pictures(), ids=lambda picture: picture.name)
def test_names_lie_neither_on_each_other_nor_on_points(picture: Picture, count: int) -> None:
    for theme in ("screen", "paper"):
        chart = picture.draw(subject(picture, count, theme))
        drawing, look = read_drawing(drawn(chart, "svg").decode()), find_theme(theme)
        assert drawing.height <= look.most + BEYOND
        # A name a column and a row: sixty of them take both columns of a page, as a paper has room for.
        room = look.page if (picture.name, count) == ("p-values", 60) else look.column
        assert room is None or drawing.width <= room + HANGING
        assert touching(drawing) == []
        hidden = {text.text for text in drawing.texts for x, y in drawing.points if text.hides(x, y)}
        assert hidden == set()
        assert caption_of(chart).endswith(".")
