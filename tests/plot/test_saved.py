"""What pictures are as files: their resolution, their captions, and pages that make no code of text."""

from __future__ import annotations

import re
import struct
from typing import Any

import numpy as np
import pytest

from cranfield.evaluation.experiment import Experiment
from cranfield.plot.saving import drawn
from cranfield.plot.style import caption_of
from cranfield.plot.subject import Subject, find_picture
from noisy import QRELS, RUNS
from scene import marks

MANY = 7000


def subject(theme: str = "screen") -> Subject:
    return Subject(experiment=Experiment(QRELS, RUNS), measures=("AP",), theme=theme)


@pytest.mark.parametrize(("theme", "ppi"), [("paper", 300), ("screen", 180)])
def test_a_png_has_the_resolution_of_its_theme(theme: str, ppi: int) -> None:
    chart = find_picture("heatmap").draw(subject(theme))
    content = drawn(chart, "png")
    place = content.index(b"pHYs") + 4
    across, down, unit = struct.unpack(">IIB", content[place : place + 9])
    assert (round(across * 0.0254), round(down * 0.0254), unit) == (ppi, ppi, 1)
    (width,) = struct.unpack(">I", content[16:20])
    svg = re.search(r'width="([\d.]+)"', drawn(chart, "svg").decode())
    assert svg is not None
    assert width == pytest.approx(float(svg[1]) * ppi / 72, abs=2)


def test_a_page_has_its_caption_and_makes_no_code_of_text() -> None:
    chart = find_picture("heatmap").draw(subject())
    page = drawn(chart, "html").decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert "unsafe-eval" not in policy[1]
    assert "ast: true" in page
    assert f"<figcaption>{caption_of(chart)}</figcaption>" in page


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("histogram", "Each bar is the mean of 18 neighbouring topics."),
        ("heatmap", "a column the mean of 18 neighbouring topics, hardest first"),
        ("scatter", "Topics are counted in 40 by 40 squares."),
    ],
)
def test_of_thousands_of_topics_neighbours_are_drawn_as_one_and_that_is_said(kind: str, told: str) -> None:
    chance = np.random.default_rng(14)
    qrels = {str(topic): {"d0": 1.0, "d1": 1.0, "d2": 0.0} for topic in range(MANY)}
    runs = {
        name: {
            topic: dict(zip(documents, chance.random(3).tolist(), strict=True)) for topic, documents in qrels.items()
        }
        for name in ("a", "b")
    }
    chart = find_picture(kind).draw(Subject(experiment=Experiment(qrels, runs), measures=("AP",)))
    assert told in caption_of(chart)
    shapes = marks(chart, "rect") + marks(chart, "symbol")
    assert 0 < len(shapes) <= 2 * 400


# Of each text how far it stands out of its picture, and of every two in one line how far one is on the other.
OUTSIDE = """() => {
    const edge = document.querySelector("svg").getBoundingClientRect();
    const texts = [...document.querySelectorAll("text")].filter(text => text.textContent);
    return Math.max(...texts.map(text => text.getBoundingClientRect()).map(
        box => Math.max(edge.left - box.left, box.right - edge.right)));
}"""
ON_EACH_OTHER = """() => {
    const boxes = [...document.querySelectorAll(".role-legend-label text")].map(text => text.getBoundingClientRect());
    boxes.sort((a, b) => a.left - b.left);
    return Math.max(...boxes.slice(1).map((box, i) => boxes[i].right - box.left));
}"""


@pytest.mark.parametrize("kind", ["forest", "interpolated", "critical-difference", "histogram"])
def test_in_a_wider_font_than_the_one_measured_no_name_is_cut_off_nor_on_another(browser: Any, kind: str) -> None:
    names = ["a system with mmmmm long and wwwwwide words", "another of the same mmmmm", "a third one"]
    runs = dict(zip(names, RUNS.values(), strict=True))
    if kind == "histogram":
        runs.pop("a third one")
    picture = find_picture(kind)
    shown = Subject(experiment=Experiment(QRELS, runs), measures=picture.measures)
    svg = drawn(picture.draw(shown), "svg").decode()
    page = browser.new_page()
    page.set_content(re.sub('font-family="[^"]*"', 'font-family="DejaVu Sans, Verdana"', svg))
    assert page.evaluate(OUTSIDE) <= 1
    if "role-legend-label" in svg:
        assert page.evaluate(ON_EACH_OTHER) < -10  # the sign of the next entry stands between them
    page.close()
