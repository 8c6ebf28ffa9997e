"""The marks of pictures, in a browser: keys go through them as they are drawn, a topic is opened from its mark, and a
system has one colour whatever is chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cranfield
from cranfield.evaluation.experiment import Experiment
from cranfield.plot.style import COLOURS, GREY
from cranfield.report.contents import gather
from cranfield.report.page import explained_topics as explained
from cranfield.report.page import render
from noisy import QRELS, RUNS, system
from once import made_once
from visits import Visit, address, drawn

MEASURES = ["nDCG@10", "AP", "RR"]
FOUR = {**RUNS, "near": system(0.95, 8)}
TWELVE = {**FOUR, **{f"one of many {number}": system(0.05 * number, 20 + number) for number in range(8)}}
LINES = ("interpolated", "cutoff")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(shared: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(explained, "MOST_EXPLAINED", 0)
            for name, runs in (("four", FOUR), ("twelve", TWELVE)):
                page = render(gather(Experiment(QRELS, runs), MEASURES))
                (shared / f"{name}.html").write_text(page, encoding="utf-8")

    return made_once(tmp_path_factory, "marks-page", make)


@pytest.fixture
def visit(browser: Any, folder: Path) -> Iterator[Visit]:
    made = Visit(browser, folder / "four.html")
    drawn(made.page)
    yield made
    assert made.wrong == []
    made.context.close()


def told_by_keys(page: Any, figure: str, keys: list[str]) -> list[str]:
    """What each key in turn tells of a picture's marks."""
    page.locator(f'figure[data-chart="{figure}"] .drawing').focus()
    told = []
    for key in keys:
        page.keyboard.press(key)
        told.append(page.locator("#tip").inner_text())
    return told


def by_difference() -> list[str]:
    """The topics as the bars of the two best stand, from left to right."""
    results = cranfield.evaluate(QRELS, FOUR, "nDCG@10")
    first, second = sorted(results.runs, key=lambda run: -results.of("nDCG@10", run).mean())[:2]
    apart = results.of("nDCG@10", first) - results.of("nDCG@10", second)
    places = sorted(range(len(apart)), key=lambda place: (-apart[place], place))
    return [f"topic: {results.topics[p]}\ndifference: {apart[p]:+z.4f}".replace("-", "−") for p in places]


def test_keys_go_from_bar_to_bar_as_they_stand_and_open_the_topic(visit: Visit) -> None:
    page, expected = visit.page, by_difference()
    told = told_by_keys(page, "histogram", ["ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home", "ArrowRight"])
    assert told == [expected[place] for place in (0, 1, -1, -2, 0, 1)]
    page.keyboard.press("Enter")
    topic = expected[1].split("\n")[0].removeprefix("topic: ")
    assert page.locator("#topic-title").text_content().startswith(f"Topic {topic} ")
    assert address(page).endswith(f"#topic={topic}")


@pytest.mark.parametrize("key", ["Home", "End"])
def test_the_ring_is_on_the_bar(visit: Visit, key: str) -> None:
    page = visit.page
    told_by_keys(page, "histogram", [key])
    ring = page.locator(".ring").bounding_box()
    bars = page.locator('figure[data-chart="histogram"] .mark-rect path').evaluate_all(
        "bars => bars.map(bar => bar.getBoundingClientRect()).map(({x, y, width, height}) => ({x, y, width, height}))"
    )
    bar = sorted(bars, key=lambda box: box["x"])[0 if key == "Home" else -1]
    for side, length in (("x", "width"), ("y", "height")):
        assert ring[side] + ring[length] / 2 == pytest.approx(bar[side] + bar[length] / 2, abs=0.5)
    assert bar["height"] > 20  # else the ends of a bar would do for its middle


def test_a_click_on_a_bar_opens_the_topic(visit: Visit) -> None:
    page = visit.page
    last = by_difference()[-1].split("\n")[0].removeprefix("topic: ")
    bars = page.locator('figure[data-chart="histogram"] .mark-rect path')
    bars.nth(bars.count() - 1).click()
    assert page.locator("#topic-title").text_content().startswith(f"Topic {last} ")


@pytest.mark.parametrize("figure", ["forest", "p-values", "stability", "heatmap"])
def test_keys_go_through_rows_from_top_to_bottom(visit: Visit, figure: str) -> None:
    page = visit.page
    places = []
    keys = ["ArrowRight"] * 12
    page.locator(f'figure[data-chart="{figure}"] .drawing').focus()
    for key in keys:
        page.keyboard.press(key)
        box = page.locator(".ring").bounding_box()
        places.append((round(box["y"]), round(box["x"])))
    if figure == "forest":
        assert [y for y, _ in places] == sorted(y for y, _ in places)
    else:
        assert places == sorted(places)
    assert len(set(places)) > 2


def colours(page: Any) -> dict[str, dict[str, str]]:
    """Of both pictures of curves: the colour of the line of each system that has one."""
    drawn(page)
    script = """figure => Object.fromEntries([...figure.querySelectorAll(".mark-line path")]
        .map(line => [line.__data__?.items?.[0] ?? line.__data__, line.getAttribute("stroke")])
        .map(([item, stroke]) => [item.datum.system, stroke]))"""
    found = {name: page.locator(f'figure[data-chart="{name}"]').evaluate(script) for name in LINES}
    return {name: {run: c for run, c in of.items() if c.lower() != GREY} for name, of in found.items()}


def test_a_system_keeps_its_colour_whatever_is_chosen(visit: Visit) -> None:
    page, expected = visit.page, dict(zip(FOUR, COLOURS, strict=False))
    swatches = """() => Object.fromEntries([...document.querySelectorAll("details.picker label")]
        .map(label => [label.textContent, label.querySelector("path").style.stroke]))"""
    before = page.evaluate(swatches)
    for measure in MEASURES:
        page.get_by_label("Measure", exact=True).select_option(label=measure)
        assert colours(page) == dict.fromkeys(LINES, expected)
    page.get_by_label("Baseline", exact=True).select_option(label="fair")
    assert colours(page) == dict.fromkeys(LINES, expected)
    assert page.evaluate(swatches) == before
    without_poor = {run: expected[run] for run in ("fair", "good", "near")}
    page.locator("details.picker summary").click()
    page.get_by_role("checkbox", name="poor", exact=True).uncheck()
    assert colours(page) == dict.fromkeys(LINES, without_poor)


def test_bars_by_topic_have_the_colours_of_their_systems(visit: Visit) -> None:
    page = visit.page
    bars = page.locator('figure[data-chart="histogram"] .mark-rect path')
    found = bars.evaluate_all("bars => [bars[0], bars[bars.length - 1]].map(bar => bar.getAttribute('fill'))")
    names = list(FOUR)
    assert found == [COLOURS[names.index("good")], COLOURS[names.index("near")]]
    legend = page.locator('figure[data-chart="histogram"] .role-legend text').all_text_contents()
    assert legend == ["good is better", "near is better"]


def test_of_many_systems_colours_follow_their_parts_and_captions_say_so(browser: Any, folder: Path) -> None:
    visit = Visit(browser, folder / "twelve.html")
    page, of_two = visit.page, {"good": COLOURS[0], "near": COLOURS[1]}
    assert colours(page) == dict.fromkeys(LINES, of_two)
    page.get_by_label("Compare", exact=True).select_option(label="poor")
    page.get_by_label("Baseline", exact=True).select_option(label="fair")
    by_part = dict(zip(("good", "fair", "poor", "near"), COLOURS, strict=False))
    assert colours(page) == dict.fromkeys(LINES, by_part)
    for name in LINES:
        caption = page.locator(f'figure[data-chart="{name}"] figcaption p').text_content()
        assert "Of 12 systems those not named are grey." in caption
        assert "The same for every measure chosen, but for which systems are named." in caption
    ranks = page.locator('figure[data-chart="critical-difference"] figcaption p').text_content()
    assert re.findall("In colour: .*", ranks) == ["In colour: good, fair, poor, near."]
    page.locator("details.picker summary").click()
    page.get_by_role("button", name="Best 5", exact=True).click()
    assert all(len(of) == 5 for of in colours(page).values())
    assert "In colour" not in page.locator('figure[data-chart="critical-difference"] figcaption p').text_content()
    assert visit.wrong == []
    visit.context.close()
