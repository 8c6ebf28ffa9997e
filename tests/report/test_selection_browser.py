"""What a reader chooses, in a browser: it drives every part of the page, stands in the address, works by keyboard."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from cranfield.comparison.comparison import Comparison
from cranfield.comparison.question import Question
from cranfield.comparison.standing import standings, verdict
from cranfield.evaluation.experiment import Experiment
from cranfield.measures import Measure
from cranfield.report.contents import Report, gather
from cranfield.report.figures import figures
from cranfield.report.page import explained_topics as explained
from cranfield.report.page import render
from cranfield.report.report_tables import standings_grid
from needed import needs_module
from noisy import QRELS, RUNS, system
from once import made_once
from visits import Visit, address, drawn

MEASURES = ["nDCG@10", "AP", "E@10"]
FIVE = {**RUNS, "constructor": system(0.7, 9), "a,b & =c": system(1.2, 4)}
PICTURES = 8


@pytest.fixture(scope="module")
def report() -> Report:
    return gather(Experiment(QRELS, FIVE), MEASURES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explained, "MOST_EXPLAINED", len(QRELS))
        yield tmp_path_factory.mktemp("selection")


@pytest.fixture(scope="module")
def file(report: Report, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def make(shared: Path) -> None:
        (shared / "report.html").write_text(render(report), encoding="utf-8")

    return made_once(tmp_path_factory, "selection-page", make) / "report.html"


@pytest.fixture
def visit(browser: Any, file: Path) -> Iterator[Visit]:
    made = Visit(browser, file)
    yield made
    assert made.wrong == []
    assert [address for address in made.asked if not address.startswith("blob:")] == [file.as_uri()]
    made.context.close()


def pick(page: Any, *wanted: str) -> None:
    page.locator("details.picker summary").click()
    for name in FIVE:
        page.get_by_role("checkbox", name=name, exact=True).set_checked(name in wanted)
    page.keyboard.press("Escape")


def seen(page: Any) -> str:
    """Everything that is read in the three sections, pictures too; choosers list all systems, and are left out."""
    script = """() => ["result", "pictures", "topics"].map((id) => {
      const copy = document.getElementById(id).cloneNode(true);
      for (const part of copy.querySelectorAll("[hidden], select, .stale")) part.remove();
      const labels = [...copy.querySelectorAll("*")].map((part) => part.getAttribute("aria-label") ?? "");
      return labels.join("\\n") + copy.textContent;
    }).join("\\n")"""
    return str(page.evaluate(script))


def test_systems_that_are_not_shown_are_nowhere(visit: Visit) -> None:
    page = visit.page
    drawn(page)
    assert all(name in seen(page) for name in FIVE)
    for two in (("good", "fair"), ("poor", "constructor")):
        pick(page, *two)
        for measure in MEASURES:
            page.get_by_label("Measure", exact=True).select_option(label=measure)
            drawn(page)
            text = seen(page)
            assert page.locator("figure .drawing svg").count() == PICTURES
            assert all(name in text for name in two)
            for other in set(FIVE) - set(two):
                assert not re.search(rf"(?<![\w]){re.escape(other)}(?![\w])", text), (other, measure)
    told = page.locator("#told").text_content()
    assert told == (
        "2 of 5 systems are shown. Corrections and tiers are those of all 5. Letters name systems that are shown, and "
        "bold is the best of all, shown or not."
    )
    for caption in page.locator("figcaption p").all_text_contents():
        assert caption.endswith(" Shown here: 2 of 5 systems.")
    choose_all = page.get_by_role("button", name="All", exact=True)
    page.locator("details.picker summary").click()
    choose_all.click()
    assert "Shown here" not in "".join(page.locator("figcaption p").all_text_contents())


def test_where_all_are_shown_nothing_is_said_of_it(visit: Visit) -> None:
    assert visit.page.locator("#told:visible").count() == 0
    pick(visit.page, *FIVE)
    assert visit.page.locator("#told:visible").count() == 0
    assert "#" not in address(visit.page)


def test_none_and_one_alone(visit: Visit) -> None:
    page = visit.page
    page.locator("details.picker summary").click()
    page.get_by_role("button", name="None", exact=True).click()
    drawn(page)
    assert page.locator(".verdict:visible").all_text_contents() == ["No system is shown."]
    assert page.locator("figure .drawing svg").count() == 0
    page.get_by_role("checkbox", name="fair", exact=True).check()
    drawn(page)
    assert page.locator(".verdict:visible").text_content().startswith("fair reaches 0.")
    assert page.locator('figure[data-chart="forest"] .drawing').text_content() == (
        "This picture needs 2 systems, and 1 is shown."
    )
    page.get_by_role("button", name="Best 5").click()
    drawn(page)
    assert page.locator("figure .drawing svg").count() == PICTURES


def expected_rows(report: Report, measure: Measure, baseline: str) -> list[list[str]]:
    """The table of systems as Python makes it with that baseline, on the p-values of all pairs."""
    assert report.comparison is not None
    seen_from = replace(report, comparison=replace(report.comparison, baseline=baseline))
    return [[cell.text for cell in row] for row in standings_grid(seen_from, measure).cells()]


def test_every_baseline_is_what_python_says_of_it(visit: Visit, report: Report) -> None:
    page = visit.page
    assert report.comparison is not None
    for baseline in FIVE:
        page.get_by_label("Baseline", exact=True).select_option(label=baseline)
        for measure in report.results.measures:
            page.get_by_label("Measure", exact=True).select_option(label=str(measure))
            panel = report.comparison.panel(measure)
            said = verdict(replace(report.comparison, baseline=baseline), panel)
            assert page.locator(".verdict:visible").text_content() == said
            script = """table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => {
                const copy = cell.cloneNode(true);
                copy.querySelector("sup")?.remove();
                return copy.textContent.trim();
            }))"""
            rows = page.locator("table.standings:visible").evaluate(script)
            assert rows == expected_rows(report, measure, baseline)
            head = page.locator("table.standings:visible thead th").nth(4).text_content()
            assert head == f"− {baseline}"
            pairs = page.locator(".of-measure:not([hidden]) table.pairs tbody tr:not([hidden]) th").all_text_contents()
            assert len(pairs) == len(FIVE) - 1
            assert all(baseline in pair.split(" − ") for pair in pairs)
        assert f"above or below {baseline};" in page.locator("#read-against").text_content()
    drawn(page)
    title = page.locator('figure[data-chart="forest"] h3').text_content()
    assert title == f"Differences from {baseline} by {MEASURES[-1]}"
    labels = page.locator('figure[data-chart="forest"] .role-axis-label text').all_text_contents()
    labels = [label.removeprefix("\u2060") for label in labels]  # before names that every object of Vega's has
    assert {label for label in labels if label in FIVE} == {name for name in FIVE if name != baseline}


def test_what_is_said_of_some_is_what_python_says_of_all_when_they_are_all(visit: Visit, report: Report) -> None:
    """The sentence that the script makes of some systems is the library's: of all it is the same, word for word."""
    assert report.comparison is not None
    for m, measure in enumerate(report.results.measures):
        panel = report.comparison.panel(measure)
        order = [s.system for s in standings(report.comparison, panel, 0)]
        numbers = json.dumps([report.systems.index(name) for name in order])
        assert visit.page.evaluate(f"outcome(data.measures[{m}], {numbers})") == report.verdict(measure)


def test_a_link_shows_the_same_and_back_goes_back(browser: Any, file: Path, visit: Visit) -> None:
    page = visit.page
    page.get_by_label("Measure", exact=True).select_option(label="AP")
    pick(page, "good", "fair", "a,b & =c")
    page.get_by_label("Baseline", exact=True).select_option(label="fair")
    page.get_by_label("Compare", exact=True).select_option(label="a,b & =c")
    page.get_by_label("Order", exact=True).select_option(label="by difference")
    drawn(page)
    other = Visit(browser, file, address(page)[address(page).index("#") :])
    drawn(other.page)
    assert seen(other.page) == seen(page)
    assert other.page.locator("#choose-measure").input_value() == "1"
    assert other.wrong == []
    other.context.close()
    texts = {address(page): seen(page)}
    for gone in ("order=", "pair=", "baseline="):
        page.go_back()
        assert gone not in address(page)
    drawn(page)
    assert seen(page) not in texts.values()
    for _ in range(3):
        page.go_forward()
    drawn(page)
    assert seen(page) == texts[address(page)]


@pytest.mark.parametrize("order", ["topic", "-topic", "difference", "-unjudged", "system:good", "-system:a,b & =c"])
def test_every_order_that_there_is_can_be_asked_for(browser: Any, file: Path, order: str) -> None:
    visit = Visit(browser, file, f"#order={quote(order)}")
    assert not visit.page.locator("#told").is_visible()
    assert visit.wrong == []
    visit.context.close()


def test_what_is_copied_of_standings_has_a_blank_between_a_mean_and_the_systems_beaten(visit: Visit) -> None:
    """As the page comes, and as the script writes it."""
    means = visit.page.locator("table.standings:visible tbody tr:first-child td:has(sup)").all_text_contents()
    assert [bool(re.fullmatch(r"\d\.\d{4} [a-e]+", text)) for text in means] == [True]
    source = visit.page.evaluate("document.querySelector('table.measures sup').previousSibling.textContent")
    assert source == " "


def test_names_that_are_not_there_are_told(browser: Any, file: Path) -> None:
    address = "#measure=nothing&systems=good,gone,fair&baseline=%E0%A4&topic=9999&order=foo"
    visit = Visit(browser, file, address)
    told = visit.page.locator("#told").text_content()
    for name in ("measure “nothing”", "system “gone”", "system “%E0%A4”", "topic “9999”", "order “foo”"):
        assert name in told
    assert "2 of 5 systems are shown" in told
    assert visit.page.locator("table.standings:visible tbody th").all_text_contents() == ["good", "fair"]
    assert not visit.page.get_by_role("dialog").is_visible()
    assert visit.wrong == []
    visit.context.close()


def test_links_within_the_page_keep_what_is_chosen(visit: Visit) -> None:
    page = visit.page
    pick(page, "good", "fair")
    before = address(page)
    page.get_by_role("link", name="Topics").click()
    assert address(page) == before
    assert page.evaluate("document.activeElement.id") == "topics"
    assert 0 <= page.locator("#topics").bounding_box()["y"] < 400


def test_a_given_baseline_is_the_only_one(browser: Any, folder: Path) -> None:
    target = folder / "baseline.html"
    target.write_text(render(gather(Experiment(QRELS, RUNS), "AP", Question(baseline="fair"))), encoding="utf-8")
    visit = Visit(browser, target, "#systems=good")
    drawn(visit.page)
    assert visit.page.get_by_label("Baseline", exact=True).count() == 0
    assert visit.page.locator("table.standings tbody th").all_text_contents() == ["good", "fair"]
    assert "Of the 2 that are shown, good has the highest AP" in visit.page.locator(".verdict").text_content()
    visit.page.locator("details.picker summary").click()
    assert visit.page.get_by_role("checkbox", name="fair").is_disabled()
    assert visit.wrong == []
    visit.context.close()


def test_escape_closes_the_picker(visit: Visit) -> None:
    page = visit.page
    page.locator("details.picker summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("details.picker[open]").count() == 1
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert page.locator("details.picker[open]").count() == 0
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_marks_are_walked_through_by_keys_and_told(visit: Visit) -> None:
    page = visit.page
    drawn(page)
    page.locator('figure[data-chart="heatmap"] .drawing').focus()
    told = []
    for key in ("ArrowRight", "ArrowRight", "End", "ArrowLeft", "Home"):
        page.keyboard.press(key)
        told.append(page.locator("#tip").inner_text())
    assert all(re.fullmatch(r"system: .*\ntopic: .*\nscore: \d\.\d{4}", text) for text in told)
    assert told[0] == told[4] != told[1]
    assert page.locator("#tip").get_attribute("role") == "status"
    assert page.locator(".ring").count() == 1
    topic = re.search("topic: (.*)", told[4])
    assert topic is not None
    page.keyboard.press("Enter")
    assert page.locator("#topic-title").text_content().startswith(f"Topic {topic[1]}")
    page.keyboard.press("Escape")
    page.locator('figure[data-chart="forest"] .drawing').focus()
    assert page.locator("#tip:visible, .ring").count() == 0


def test_every_figure_has_a_table_an_svg_and_a_csv(visit: Visit, report: Report) -> None:
    page = visit.page
    pick(page, "good", "fair", "a,b & =c")
    drawn(page)
    for figure in page.locator("figure").all():
        name = figure.get_attribute("data-chart")
        button = figure.get_by_role("button", name="Table")
        button.click()
        assert button.get_attribute("aria-expanded") == "true"
        assert figure.locator(".rows tbody tr").count() > 1, name
        # Chromium lets a page begin ten downloads in a row.
        for form in ("SVG", "CSV") if name == "forest" else ("CSV",):
            with page.expect_download() as download:
                figure.get_by_role("button", name=form).click()
            text = Path(download.value.path()).read_text(encoding="utf-8")
            of = {"forest": "-a_b_c", "histogram": "-a_b_c-good"}.get(str(name), "")
            assert download.value.suggested_filename == f"{name}-nDCG@10{of}.{form.lower()}"
            if form == "SVG":
                assert text.startswith("<svg")
                continue
            header, *rows = csv.reader(io.StringIO(text))
            assert header == figure.locator(".rows thead th").all_text_contents()
            assert len(rows) == figure.locator(".rows tbody tr").count()
            if name == "histogram":
                assert header == ["topic", "a,b & =c − good"]
            if name == "p-values":
                assert header == ["system", "other", "adjusted p"]
                assert len({frozenset(row[:2]) for row in rows}) == len(rows) == 3
                told = figure.locator(".rows tbody tr td:last-child").all_text_contents()
                assert "0.0000" not in told
                assert ["<0.0001" if float(row[2]) < 0.0001 else f"{float(row[2]):.4f}" for row in rows] == told
            if name == "forest":
                best = report.systems.index("a,b & =c")
                pairs = {pair.system: pair for pair in standings(_compared(report), _compared(report).panels[0], best)}
                for row in rows:
                    system_name = row[header.index("pair")].split(" − ")[0]
                    assert float(row[header.index("difference")]) == pairs[system_name].difference


def test_where_nothing_is_shown_nothing_is_explained(visit: Visit) -> None:
    page = visit.page
    page.locator("details.picker summary").click()
    page.get_by_role("button", name="None", exact=True).click()
    assert page.locator("figure:visible").count() == 0
    assert page.locator("#pictures").inner_text().split("\n")[-1] == "No system is shown."
    page.get_by_role("button", name="All", exact=True).click()
    assert page.locator("figure:visible").count() == PICTURES
    assert not page.locator("#no-pictures").is_visible()


def test_pictures_that_do_not_follow_the_measure_say_so(visit: Visit) -> None:
    page = visit.page
    same = " The same for every measure chosen."
    told = {
        str(figure.get_attribute("data-chart")): figure.locator("figcaption p").inner_text().endswith(same.strip())
        for figure in page.locator("figure").all()
    }
    assert {name for name, is_told in told.items() if is_told} == {"interpolated", "cutoff"}


def test_a_baseline_chosen_here_says_what_p_is_adjusted_for(visit: Visit, report: Report) -> None:
    page = visit.page
    assert not page.locator("#told").is_visible()
    page.get_by_label("Baseline", exact=True).select_option(label="fair")
    told = page.locator("#told").inner_text()
    assert told.startswith(f"With fair as the baseline p is still adjusted for all {_compared(report).comparisons} com")


def test_captions_of_one_measure_count_its_own_comparisons(report: Report) -> None:
    compared = _compared(report)
    assert compared.rule.endswith("(here in 3 of 30 comparisons)")
    rules = [replace(compared, panels=(panel,)).rule for panel in compared.panels]
    assert rules[0].endswith("(here in no comparison by nDCG@10)")
    assert rules[2].endswith("(here in 3 of 10 comparisons by E@10)")
    alone = replace(compared, panels=compared.panels[2:])
    for name in ("forest", "p-values"):
        (figure,) = (figure for figure in figures(report, measure=alone.panels[0].measure) if figure.name == name)
        assert alone.rule in figure.caption


def test_a_find_without_a_hit_says_so(visit: Visit) -> None:
    page = visit.page
    page.get_by_label("Find topic").fill("nowhere")
    assert page.locator("table.topics tbody").inner_text() == "No topic has “nowhere” in its id."
    assert "choose a topic" not in page.locator("table.topics caption").inner_text()


def test_systems_compared_stand_first_among_the_topics(visit: Visit) -> None:
    page = visit.page
    page.get_by_label("Compare", exact=True).select_option(label="poor")
    page.get_by_label("with", exact=True).select_option(label="constructor")
    heads = [text.strip(" ↕▲▼") for text in page.locator("table.topics thead th").all_inner_texts()]
    assert heads[1:4] == ["poor − constructor", "poor", "constructor"]
    assert sorted(heads[2:]) == sorted(FIVE)


def test_prose_uses_the_width_and_tables_keep_their_headings(visit: Visit) -> None:
    page = visit.page
    assert page.locator(".prose").bounding_box()["width"] > 1100
    assert page.locator(".prose").evaluate("part => getComputedStyle(part).columnCount") == "2"
    page.emulate_media(media="print")
    kept = page.locator(".box:has(.measures), .box:has(.standings)")
    assert set(kept.evaluate_all("all => all.map(box => getComputedStyle(box).breakInside)")) == {"avoid"}
    assert page.locator(".box:has(.topics)").evaluate("box => getComputedStyle(box).breakInside") == "auto"


def test_keys_are_told_by_a_key(visit: Visit) -> None:
    page = visit.page
    page.locator("body").press("?")
    assert "closes what is open" in page.locator("#keys").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#keys").is_visible()
    page.get_by_label("Find topic").press("?")
    assert not page.locator("#keys").is_visible()
    page.get_by_role("button", name="Keys").click()
    assert page.locator("#keys").is_visible()


def _compared(report: Report) -> Comparison:
    assert report.comparison is not None
    return report.comparison


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing(browser: Any, file: Path, width: int, scheme: str) -> None:
    axe = needs_module("axe_playwright_python.sync_playwright")
    visit = Visit(browser, file, viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = visit.page
    drawn(page)
    page.locator("details.picker summary").click()
    page.locator("figure").first.get_by_role("button", name="Table").click()
    page.locator("details:has(table.pairs) summary").first.click()
    assert _wrong(axe, page) == []
    page.evaluate("choose({ topic: 3 })")
    assert _wrong(axe, page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    visit.context.close()


def _wrong(axe: Any, page: Any) -> list[str]:
    found = axe.Axe().run(page).response["violations"]
    return [f"{rule['id']}: {node['html'][:120]} {node['failureSummary']}" for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print_has_every_measure_and_nothing_to_click(browser: Any, file: Path, report: Report, scheme: str) -> None:
    visit = Visit(browser, file, "#systems=good,fair", color_scheme=scheme)
    drawn(visit.page)
    visit.page.emulate_media(media="print", color_scheme=scheme)
    assert visit.page.locator(".verdict:visible").count() == len(MEASURES)
    assert visit.page.locator("#controls:visible, nav:visible, .downloads:visible, .tools:visible").count() == 0
    text = visit.page.locator("body").inner_text()
    assert not re.search(r"\b(choose|click|press|open(ing)?)\b", text, re.IGNORECASE)
    assert "2 of 5 systems are shown" in text
    assert "Every pair, with the p of every test" not in text  # it is closed
    visit.context.close()
