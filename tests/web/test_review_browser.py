"""Adjudication and the pages around it in a real Chromium: by keyboard alone, without script, on a telephone, in the
dark; axe finds nothing, and the browser has nothing to complain of under the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from sqlalchemy import select

from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import EventRow
from needed import needs_module
from ponds import pond
from sites import Site, live_site, project_number

_numbers = count(1)


@dataclass(frozen=True)
class Live:
    """A running server."""

    site: Site
    address: str


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    settings = ServerSettings(folder=tmp_path_factory.mktemp("data"))
    store = open_folder(settings)
    with live_site(settings, store) as address:
        yield Live(Site(settings, store), address)
    store.close()


def contested(site: Site) -> tuple[str, dict[str, int]]:
    """A new project in which two people do not agree on three documents; eve adjudicates, oda owns it."""
    slug = f"pond{next(_numbers)}"
    pairs = pond(site, slug, wanted=2)
    for name, grades in (("ann", (3, 0, 0, 1)), ("bob", (0, 0, 2, 2))):
        site.member(name, slug, "assessor")
        program = site.program(name)
        program.post(f"/api/v1/projects/{slug}/topics/{pairs['topic']}/leases", json={"count": 20})
        said = [
            {
                "pair": pairs[f"d{n}"],
                "kind": "grade",
                "grade": grade,
                "key": f"{slug} {n}",
                "note": f"<b>{name}</b> {n}",
            }
            for n, grade in enumerate(grades, start=1)
        ]
        assert program.post(f"/api/v1/projects/{slug}/judgements", json=said).json()["refused"] == []
    site.member("eve", slug, "adjudicator")
    site.member("oda", slug, "owner")
    return slug, pairs


class Walker:
    """Somebody who has signed in, in a browser; whatever the browser complains of is kept."""

    def __init__(self, browser: Any, live: Live, name: str, *, width: int = 1280, scheme: str = "light", **more: Any):
        self.live = live
        size = {"width": width, "height": 800}
        self.context = browser.new_context(viewport=size, color_scheme=scheme, **more)
        word = live.site.visitor(name).cookies["session"]
        self.context.add_cookies([{"name": "session", "value": word, "url": live.address}])
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def go(self, path: str) -> None:
        self.page.goto(self.live.address + path)

    def shows(self, document: str) -> None:
        self.page.locator(f'article[aria-label="Document {document}"]').wait_for()

    def check(self) -> None:
        """axe finds nothing, nothing sticks out, the browser is content."""
        wide = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], self.page.url
        axe = needs_module("axe_playwright_python.sync_playwright")
        found = axe.Axe().run(self.page)
        assert found.violations_count == 0, f"{self.page.url}: {found.generate_report()}"
        assert self.complaints == []


def verdicts(site: Site, slug: str) -> dict[str, Any]:
    program = site.program("eve")
    left = program.get(f"/api/v1/projects/{slug}/adjudications").json()["contested"]
    return {each["document"]: each for each in left}


def test_adjudication_by_keyboard(browser: Any, live: Live) -> None:
    slug, pairs = contested(live.site)
    eve = Walker(browser, live, "eve")
    eve.go(f"/p/{slug}/adjudicate/{pairs['d1']}")
    eve.shows("d1")
    eve.page.keyboard.press("n")
    eve.page.keyboard.type("about ducks 3")  # a digit in a note grades nothing
    eve.page.keyboard.press("Enter")
    eve.page.keyboard.press("2")
    eve.shows("d3")
    assert set(verdicts(live.site, slug)) == {"d3", "d4"}
    eve.page.keyboard.press("u")
    eve.shows("d1")
    assert set(verdicts(live.site, slug)) == {"d1", "d3", "d4"}
    eve.page.keyboard.press("3")
    eve.shows("d3")
    eve.page.keyboard.press("x")
    eve.page.keyboard.press("3")  # language, no grade
    eve.shows("d4")
    eve.page.keyboard.press("0")
    eve.page.get_by_text("Nothing is to be decided now.").wait_for()
    program = live.site.program("eve")
    told = [
        program.get(f"/api/v1/projects/{slug}/adjudications/{pairs[d]}").json()["verdict"] for d in ("d1", "d3", "d4")
    ]
    assert [(each["grade"], each["reason"]) for each in told] == [(3, None), (None, "language"), (0, None)]
    assert eve.complaints == []


def test_adjudication_without_script(browser: Any, live: Live) -> None:
    slug, _ = contested(live.site)
    eve = Walker(browser, live, "eve", java_script_enabled=False)
    eve.go(f"/p/{slug}/adjudicate")
    eve.page.get_by_role("link", name="Begin").click()
    eve.shows("d1")
    eve.page.get_by_role("button", name="2 relevant").click()
    eve.shows("d3")
    eve.page.get_by_role("button", name="undo your last verdict").click()
    eve.shows("d1")


# What is shown when the second document of a page was judged.
LAST = {"judge/1": "#document >> text=Nothing is left to judge", "adjudicate/{d1}": 'article[aria-label="Document d4"]'}


@pytest.mark.parametrize("path", LAST)
def test_why_there_is_no_grade_is_chosen_by_the_same_keys(browser: Any, live: Live, path: str) -> None:
    """x opens, x and Escape close, a digit that stands for nothing grades nothing, and grades are keys again after."""
    from playwright.sync_api import expect

    slug, pairs = contested(live.site)
    name = "ann" if path.startswith("judge") else "eve"
    who = Walker(browser, live, name)
    who.go(f"/p/{slug}/{path.format(**pairs)}")
    first, second = ("d5", "d6") if name == "ann" else ("d1", "d3")
    who.shows(first)
    fold, press = who.page.locator("#cannot"), who.page.keyboard.press
    for close in ("x", "Escape"):
        press("x")
        expect(fold).to_have_attribute("open", "")
        expect(who.page.locator("#status")).to_have_text("Choose why: by its digit, or by arrows and Enter.")
        press("9")
        press(close)
        expect(fold).not_to_have_attribute("open", "")
        who.shows(first)
    press("2")
    who.shows(second)
    press("x")
    press("ArrowDown")
    press("ArrowDown")
    press("Enter")
    who.page.locator(LAST[path]).wait_for()
    with live.site.store.reading() as connection:
        said = select(EventRow.grade, EventRow.reason).where(EventRow.user_id == live.site.person(name).id)
        of_project = said.where(EventRow.project_id == project_number(live.site.store, slug)).order_by(EventRow.id)
        assert [tuple(row) for row in connection.execute(of_project)][-2:] == [(2, None), (None, "language")]
    assert who.complaints == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_pages_are_for_everybody(browser: Any, live: Live, width: int, scheme: str) -> None:
    slug, pairs = contested(live.site)
    oda, ann = (Walker(browser, live, name, width=width, scheme=scheme) for name in ("oda", "ann"))
    for path in (f"adjudicate/{pairs['d1']}", "adjudicate", "agreement?systems=1", "releases/new?policy=highest"):
        oda.go(f"/p/{slug}/{path}")
        oda.check()
    oda.page.get_by_role("button", name="Release by highest").click()
    oda.page.get_by_role("heading", name="Version 1").wait_for()
    oda.check()
    ann.go(f"/p/{slug}/mine")
    ann.check()
    ann.page.get_by_role("link", name="1", exact=True).click()
    ann.page.get_by_role("button", name="Grade d1 2, relevant").click()
    ann.page.get_by_text("2 relevant").wait_for()
    ann.check()


def test_judging_goes_by_the_same_keys(browser: Any, live: Live) -> None:
    slug = f"pond{next(_numbers)}"
    pond(live.site, slug)
    live.site.member("ann", slug, "assessor")
    ann = Walker(browser, live, "ann")
    ann.go(f"/p/{slug}/judge/1")
    ann.shows("d1")
    whole = ann.page.locator("#document .whole")
    assert not whole.is_visible()
    ann.page.keyboard.press("Space")
    whole.wait_for(state="visible")
    ann.page.keyboard.press("1")
    ann.shows("d2")
    ann.page.keyboard.press("u")
    ann.shows("d1")
    ann.page.keyboard.press("l")
    ann.shows("d2")
    ann.page.keyboard.press("?")
    ann.page.get_by_text("marks on and off").wait_for()
    assert ann.complaints == []
