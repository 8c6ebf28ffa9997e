"""The pages of accounts, members and people in a real Chromium, from a real server: a person walks through them, axe
finds nothing, nothing is wider than a telephone, and the browser has nothing to complain of under the policy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cranfield.web.serving import open_folder, setup_link
from cranfield.web.settings import ServerSettings
from needed import needs_module
from sites import Site, link_of, live_site

PASSWORD = "a duck on a pond"
SHOTS: Path | None = None  # a folder, to look at the pages


@dataclass(frozen=True)
class Live:
    """A running server, and the link that makes its first account."""

    site: Site
    address: str
    setup: str


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    settings = ServerSettings(folder=tmp_path_factory.mktemp("data"))
    store = open_folder(settings)
    link = setup_link(store, settings)
    assert link is not None
    site = Site(settings, store)
    with live_site(settings, store) as address:
        yield Live(site, address, link_of(link))
    store.close()


class Walker:
    """A person in a browser; whatever the browser complains of is kept."""

    def __init__(self, browser: Any, live: Live, width: int, scheme: str, *, script: bool = True) -> None:
        self.live, self.name = live, f"{width}-{scheme}"
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme, java_script_enabled=script
        )
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.shots = 0

    def go(self, path: str) -> None:
        self.page.goto(self.live.address + path)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def fill(self, **fields: str) -> None:
        for name, text in fields.items():
            self.page.locator(f"input[name={name}]").fill(text)

    def check(self) -> None:
        """axe finds nothing, nothing sticks out, the browser is content."""
        self.shots += 1
        if SHOTS is not None:
            self.page.screenshot(path=SHOTS / f"{self.name}-{self.shots}.png", full_page=True)
        wide = self.page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert wide[0] <= wide[1], self.page.url
        heads = self.page.locator("thead th").evaluate_all("cells => cells.map(cell => cell.offsetHeight)")
        assert max(heads, default=0) < 80, "a word of a table is broken into letters"
        axe = needs_module("axe_playwright_python.sync_playwright")
        found = axe.Axe().run(self.page)
        assert found.violations_count == 0, f"{self.page.url}: {found.generate_report()}"
        assert self.complaints == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (360, "dark")])
def test_a_person_walks_through(browser: Any, live: Live, width: int, scheme: str) -> None:
    site, who = live.site, f"olga {width} {scheme}"
    slug = f"ducks-{width}-{scheme}"
    site.project(slug, title=f"Ducks & <geese> {width} {scheme}")
    walker = Walker(browser, live, width, scheme)
    page = walker.page
    admin = first_or_known(walker)
    site.member(admin, slug, "owner")
    walker.go(f"/p/{slug}/members")
    walker.press("Make a link")
    link = page.get_by_role("textbox", name="Link").input_value()
    walker.check()
    page.context.clear_cookies()
    page.goto(link)
    walker.check()
    walker.fill(name=who, password=PASSWORD)
    walker.press("Go on")
    page.get_by_role("link", name=f"Ducks & <geese> {width} {scheme}").wait_for()
    walker.check()
    walker.go("/account")
    walker.fill(old=PASSWORD, new=PASSWORD + "s")
    walker.press("Change the password")
    walker.fill(name="a script")
    walker.press("Make a token")
    assert page.get_by_role("textbox", name="Token").input_value().startswith("cran_")
    walker.check()
    walker.press("Sign out")
    walker.check()
    walker.fill(name=admin, password=PASSWORD)
    walker.press("Sign in")
    walker.go("/people")
    walker.press(f"Link for a new password of {who}")
    walker.check()
    walker.press(f"Disable {who}")
    walker.check()
    assert page.get_by_role("status").inner_text() == f"{who} cannot sign in any more; all that they judged stays."
    walker.go(f"/p/{slug}/members")
    walker.press(f"Remove {who}")
    assert "was removed; their judgements stay." in page.get_by_role("status").inner_text()
    walker.check()
    walker.context.close()


def first_or_known(walker: Walker) -> str:
    """Somebody who is admin and has signed in: the first account is made by the link of the server."""
    walker.go(walker.live.setup)
    if walker.page.get_by_role("heading", name="Set up this server").count():
        walker.check()
        walker.fill(name="root", password=PASSWORD)
        walker.press("Go on")
    else:
        walker.complaints.clear()  # a browser tells of the 404
        walker.go("/login")
        walker.fill(name="root", password=PASSWORD)
        walker.press("Sign in")
    walker.page.get_by_role("heading", name="Projects").wait_for()
    return "root"
