"""The page in a browser: a person picks, sorts, points and opens, nothing goes wrong, and nothing leaves the machine.

It needs Debian's chromium (or Chrome) and Playwright, which drives it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cranfield import evaluate
from cranfield.evaluation.experiment import Experiment
from cranfield.report.contents import Report, gather
from cranfield.report.page import explained_topics as explained
from cranfield.report.page_pdf import BROWSERS, printed
from cranfield.report.report_files import write
from cranfield.report.report_tables import standings_grid
from needed import needs
from noisy import QRELS, RUNS, system
from once import made_once
from visits import Visit, address, drawn

MEASURES = ["nDCG@10", "AP", "P@10"]
RUNS_HERE = {**RUNS, "a<b>&c with a name that no telephone is wide enough for": system(1.2, 4)}


# How far the texts of a picture stand out of it to the right.
CUT_OFF = """svg => Math.max(...[...svg.querySelectorAll("text")].map(
    text => text.getBoundingClientRect().right - svg.getBoundingClientRect().right))"""


@pytest.fixture(scope="module")
def report() -> Report:
    return gather(Experiment(QRELS, RUNS_HERE), MEASURES, command="cranfield report …")


@pytest.fixture(scope="module")
def file(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(folder: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(explained, "MOST_EXPLAINED", 2 * len(QRELS))  # they take their time
            write(report, str(folder / "report.html"))

    return made_once(tmp_path_factory, "report-page", make) / "report.html"


@pytest.fixture
def visit(browser: Any, file: Path) -> Iterator[Visit]:
    made = Visit(browser, file)
    yield made
    assert made.wrong == []
    assert made.asked == [file.as_uri()]
    made.context.close()


def shown_topics(visit: Visit) -> list[str]:
    return [row[0] for row in visit.rows("table.topics")]


def test_picking_a_measure_changes_tables_and_charts(visit: Visit, report: Report) -> None:
    page, results = visit.page, evaluate(QRELS, RUNS_HERE, MEASURES)
    for m, measure in enumerate(report.results.measures):
        page.get_by_label("Measure", exact=True).select_option(label=str(measure))
        assert page.locator(".of-measure:visible").count() == 1
        table = page.locator("table.standings:visible")
        assert table.locator("caption").text_content() == f"Systems by {measure}"
        expected = [cell.text for cell in standings_grid(report, measure).cells()[0]]
        assert table.locator("tbody tr").first.locator("th").text_content() == expected[1]
        assert str(measure) in (page.locator('figure[data-chart="forest"] h3').text_content() or "")
        order = [report.systems.index(standing.system) for standing in report.standings(measure)]
        for row in visit.rows("table.topics"):
            t = results.topics.index(row[0])
            assert row[2:] == [f"{results.scores[s, m, t]:.4f}" for s in order]
            a, b = order[:2]
            assert row[1] == f"{results.scores[a, m, t] - results.scores[b, m, t]:+z.4f}"


def test_tables_sort_by_mouse_and_keyboard(visit: Visit) -> None:
    page = visit.page
    table = "table.standings:visible"
    head = page.locator(f"{table} thead th", has_text="system")
    head.get_by_role("button").click()
    names = [row[1] for row in visit.rows(table)]
    assert names == sorted(names)
    assert head.get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Enter")
    assert [row[1] for row in visit.rows(table)] == names[::-1]
    assert head.get_attribute("aria-sort") == "descending"
    page.locator("table.topics thead").get_by_role("button", name="good", exact=True).click()
    column = [th.strip(" ▲▼↕") for th in page.locator("table.topics thead th").all_text_contents()].index("good")
    scores = [float(row[column]) for row in visit.rows("table.topics")]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == len(QRELS)


def test_topics_are_found_and_opened(visit: Visit) -> None:
    page = visit.page
    page.get_by_label("Find topic").fill("17")
    assert shown_topics(visit) == ["17"]
    page.get_by_role("button", name="17", exact=True).focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    assert dialog.is_visible()
    results = evaluate(QRELS, RUNS_HERE, MEASURES)
    t = results.topics.index("17")
    for row in visit.rows("dialog div[aria-label=Scores] table"):
        assert row[1:] == [f"{score:.4f}" for score in results.scores[results.runs.index(row[0]), :, t]]
    best = sorted(RUNS_HERE["good"]["17"].items(), key=lambda item: -item[1])[:10]
    side = dialog.locator("section.side", has=page.get_by_role("heading", name=": good"))
    assert side.locator(".id").all_text_contents() == [d for d, _ in best]
    assert side.locator(".chip").all_text_contents() == [f"grade {QRELS['17'][d]}" for d, _ in best]
    assert dialog.get_by_text("How nDCG@10 arises").is_visible()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    page.wait_for_function("!location.href.includes('topic=')")  # the dialog tells a moment later that it is closed
    assert "find=17" in address(page)


def test_a_topic_has_an_address(browser: Any, file: Path) -> None:
    visit = Visit(browser, file, "#topic=5")
    title = visit.page.locator("#topic-title")
    assert title.evaluate("title => title.firstChild.textContent") == "Topic 5"
    visit.page.get_by_role("button", name="Next").click()
    assert title.evaluate("title => title.firstChild.textContent") == "Topic 6"
    assert address(visit.page).endswith("#topic=6")
    visit.page.go_back()
    assert title.evaluate("title => title.firstChild.textContent") == "Topic 5"
    assert visit.wrong == []
    visit.context.close()


def test_pointing_at_charts_tells_numbers(visit: Visit, report: Report) -> None:
    page = visit.page
    drawn(page)
    tip = page.locator("#tip")
    best = report.standings(report.results.measures[0])[0].system
    for name, mark, told in (
        ("histogram", ".mark-rect path", "difference: +"),
        ("forest", ".mark-symbol.role-mark path", f"− {best}"),
        ("p-values", ".mark-rect path", "adjusted p: "),
    ):
        first = page.locator(f'figure[data-chart="{name}"] {mark}').first
        first.scroll_into_view_if_needed()
        first.hover(force=True)
        assert told in tip.inner_text()


def test_numbers_are_rounded_as_the_library_rounds_them(visit: Visit) -> None:
    chance = np.random.default_rng(3)
    values = [*chance.random(3000).tolist(), *(k / 32 for k in range(-64, 65)), 1 / 3, 0.00005, 0.99995, 1e-9, 12.03125]
    values += np.nextafter([1 / 32, 3 / 32], 1).tolist()
    assert visit.page.evaluate(f"{json.dumps(values)}.map(fixed)") == [f"{value:.4f}" for value in values]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_its_screen(browser: Any, file: Path, width: int, scheme: str) -> None:
    visit = Visit(browser, file, viewport={"width": width, "height": 800}, color_scheme=scheme)
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    visit.page.locator("#choose-compare").select_option(str(len(RUNS)))  # the one with the long name
    drawn(visit.page)
    for chart in visit.page.locator("figure .drawing svg").all():
        most = chart.evaluate(CUT_OFF)
        assert most <= 1, chart.get_attribute("aria-label")
        assert chart.evaluate("svg => svg.getBoundingClientRect().width - svg.parentNode.clientWidth") <= 1
    visit.page.locator("table.topics tbody button").first.click()
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    dark = visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 28)"
    assert dark == (scheme == "dark")
    assert visit.wrong == []
    visit.context.close()


def test_the_page_can_be_read_without_its_script(browser: Any, file: Path) -> None:
    visit = Visit(browser, file, java_script_enabled=False)
    page = visit.page
    assert page.locator("figure svg[role=img]:visible").count() == 8
    assert page.locator("table.standings:visible").count() == len(MEASURES)
    assert page.locator("table.topics tbody tr").count() == len(QRELS)
    assert page.locator("#controls:visible, dialog:visible, #tip:visible, .downloads:visible").count() == 0
    assert page.locator("figure figcaption p").all_text_contents().count("") == 0
    visit.context.close()


def test_a_report_prints(file: Path) -> None:
    needs(*BROWSERS, package="chromium")
    made = printed(file.read_bytes())
    assert made.startswith(b"%PDF")
    assert made.count(b"/Type /Page") > 3
