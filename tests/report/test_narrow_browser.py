"""Pages on telephones and on paper: what is drawn narrower stays legible, and what would be cut off is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cranfield.evaluation.experiment import Experiment
from cranfield.report.contents import gather
from cranfield.report.page import explained_topics as explained
from cranfield.report.page import render
from noisy import QRELS, TOPICS, system
from once import made_once
from visits import Visit, drawn

TWELVE = {f"system-{number:02}": system(0.5 + 0.05 * number, number) for number in range(12)}
PHONE = {"width": 390, "height": 800}

# By how many pixels texts lie on each other, at most, but for names that stand aslant.
TOUCHING = """svg => {
    const boxes = [...svg.querySelectorAll("text")]
        .filter(text => text.textContent && text.checkVisibility({ checkOpacity: true }))
        .filter(text => !/rotate\\(-?40\\)/.test(text.getAttribute("transform")))
        .map(text => text.getBoundingClientRect());
    const shared = (a, b) => Math.min(Math.min(a.right, b.right) - Math.max(a.left, b.left),
        Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
    return Math.max(...boxes.flatMap((a, i) => boxes.slice(i + 1).map(b => shared(a, b))));
}"""
HEIGHTS = """svg => {
    const texts = [...svg.querySelectorAll("text")].filter(text => text.textContent);
    const shrunk = svg.getBoundingClientRect().width / svg.width.baseVal.value;
    return Math.min(...texts.map(text => parseFloat(text.getAttribute("font-size")))) * shrunk;
}"""
# How far the first bar beside mean ranks stands to the right of the grid of their plot.
BESIDE = """svg => {
    const right = (selector) => [...svg.querySelectorAll(selector)].map(mark => mark.getBoundingClientRect().right);
    return Math.min(...right(".mark-line path")) - Math.max(...right(".role-axis-grid line"));
}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(explained, "MOST_EXPLAINED", 0)
            report = gather(Experiment({topic: QRELS[topic] for topic in TOPICS[:20]}, TWELVE), ["nDCG@10"])
            (folder / "report.html").write_text(render(report), encoding="utf-8")

    return made_once(tmp_path_factory, "narrow-page", make) / "report.html"


@pytest.fixture(scope="module")
def phone(browser: Any, file: Path) -> Iterator[Visit]:
    visit = Visit(browser, file, viewport=PHONE)
    drawn(visit.page)
    yield visit
    assert visit.wrong == []
    visit.context.close()


@pytest.mark.parametrize("kind", ["critical-difference", "p-values", "stability", "heatmap", "histogram", "forest"])
def test_on_a_telephone_no_text_lies_on_another_nor_is_too_small(phone: Visit, kind: str) -> None:
    svg = phone.page.locator(f'figure[data-chart="{kind}"] .drawing svg')
    assert svg.evaluate(TOUCHING) < 2  # boxes are higher than letters
    assert svg.evaluate(HEIGHTS) >= 8


def test_bars_of_systems_that_cannot_be_told_apart_stand_beside_their_plot_however_wide(phone: Visit) -> None:
    for width in (390, 1280):
        phone.page.set_viewport_size({"width": width, "height": 800})
        svg = phone.page.locator('figure[data-chart="critical-difference"] .drawing svg')
        for _ in range(100):  # the page draws anew a moment after it was resized
            drawn(phone.page)
            svg.scroll_into_view_if_needed()
            if 2 < svg.evaluate(BESIDE) < 20:
                break
            phone.page.wait_for_timeout(100)
        assert 2 < svg.evaluate(BESIDE) < 20
    phone.page.set_viewport_size(PHONE)
    drawn(phone.page)


def test_numbers_in_cells_give_way_to_shades_where_there_is_no_room(browser: Any, file: Path) -> None:
    for width in (390, 1280):
        visit = Visit(browser, file, viewport={"width": width, "height": 800})
        drawn(visit.page)
        for kind in ("stability", "p-values"):
            texts = visit.page.locator(f'figure[data-chart="{kind}"] .mark-text.role-mark text').all_text_contents()
            assert len(texts) == 0 if width == 390 else len(texts) >= len(TWELVE)
        visit.context.close()


@pytest.mark.parametrize("scripted", [True, False], ids=["with the script", "without it"])
def test_paper_has_the_columns_that_fit_and_says_so(browser: Any, file: Path, scripted: bool) -> None:
    visit = Visit(browser, file, viewport={"width": 690, "height": 900}, java_script_enabled=scripted)
    page = visit.page
    told = page.get_by_text("On paper there are the first columns, as many as fit")
    assert not told.is_visible()
    page.emulate_media(media="print")
    assert told.is_visible()
    assert page.locator("table.topics thead th:visible").count() == 8
    assert page.locator("table.topics").evaluate("table => table.getBoundingClientRect().right") <= 690
    page.emulate_media(media="screen")
    assert page.locator("table.topics thead th:visible").count() == len(TWELVE) + 1 + scripted
    visit.context.close()


def test_where_all_columns_fit_on_paper_nothing_is_said_of_it(browser: Any, file: Path) -> None:
    visit = Visit(browser, file, f"#systems={','.join([*TWELVE][:3])}")
    visit.page.emulate_media(media="print")
    assert visit.page.locator("table.topics thead th:visible").count() == 5
    assert not visit.page.get_by_text("On paper there are").is_visible()
    visit.context.close()


def test_a_table_as_long_as_a_page_is_broken_on_paper(browser: Any, file: Path) -> None:
    """Kept whole, each would leave the page before it empty."""
    visit = Visit(browser, file)
    page = visit.page
    page.emulate_media(media="print")
    styles = "part => getComputedStyle(part).breakInside"
    parts = [page.locator(".of-measure").first, page.locator(".of-measure .box").first]
    assert [part.evaluate(styles) for part in parts] == ["avoid", "avoid"]
    many = "body => { while (body.rows.length < 30) body.append(body.rows[0].cloneNode(true)); }"
    page.locator("table.standings tbody").first.evaluate(many)
    assert [part.evaluate(styles) for part in parts] == ["auto", "auto"]
    visit.context.close()
