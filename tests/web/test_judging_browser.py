"""The judging page in a real Chromium, from a real server: by keys alone, offline and back, without script, on a phone,
and with documents that would do harm. Whatever the browser complains of fails the test."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from cranfield.judging.events import REASONS
from cranfield.texts.document_store import StoredDocument
from cranfield.web.accounts.sessions import begin_session
from cranfield.web.judging.rebuilding import differences
from cranfield.web.judging.topic_addresses import in_address
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.tables import (
    EventRow,
    GuidelineRow,
    OpinionRow,
    PairRow,
    ProjectRow,
    SessionRow,
    TopicRow,
    UserRow,
)
from needed import needs_module
from ponds import pond
from sites import Site, live_site, pseudonym_of

SHOTS: Path | None = None  # a folder, to look at the pages
HOSTILE = "<img src=x onerror=alert(1)>"


@dataclass
class Live:
    """A running server, and ponds to judge in, each for one test."""

    site: Site
    address: str
    ponds: int = 0

    def pond(self, **options: Any) -> tuple[str, dict[str, int]]:
        self.ponds += 1
        slug = f"ducks{self.ponds}"
        return slug, pond(self.site, slug, **options)

    def events(self, slug: str) -> list[Any]:
        asked = select(EventRow, PairRow.document, UserRow.name.label("person")).join(PairRow).join(UserRow)
        with self.site.store.reading() as connection:
            number = connection.execute(select(ProjectRow.id).where(ProjectRow.slug == slug)).scalar_one()
            assert differences(connection, number) == []
            return list(connection.execute(asked.where(EventRow.project_id == number).order_by(EventRow.id)))


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    settings = ServerSettings(folder=tmp_path_factory.mktemp("data"))
    store = open_folder(settings)
    with live_site(settings, store) as address:
        yield Live(Site(settings, store), address)
    store.close()


class Assessor:
    """Somebody in a browser of their own, signed in."""

    def __init__(self, browser: Any, live: Live, slug: str, topic: int, name: str = "ann", **context: Any) -> None:
        self.live, self.slug = live, slug
        with live.site.store.reading() as connection:
            called = connection.execute(select(TopicRow.name).where(TopicRow.id == topic)).scalar_one()
        self.base = f"{live.address}/p/{slug}/judge/{in_address(called)}"
        live.site.member(name, slug, "assessor")
        self.name = name
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | context)
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.complaints: list[str] = []
        self.dialogs: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.sign_in()

    def sign_in(self) -> None:
        account = self.live.site.person(self.name)
        with self.live.site.store.writing() as connection:
            word = begin_session(connection, self.live.site.store.clock(), account.id, "a browser")
        self.context.add_cookies([{"name": "session", "value": word, "url": self.live.address}])

    def sits(self) -> Assessor:
        self.page.goto(self.base)
        return self

    def keys(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def sees(self, document: str) -> None:
        from playwright.sync_api import expect

        expect(self.page.locator(f'article[aria-label="Document {document}"]')).to_be_visible()

    def reads(self, selector: str, text: str | re.Pattern[str]) -> None:
        from playwright.sync_api import expect

        expect(self.page.locator(selector)).to_contain_text(text)

    def hidden(self, selector: str) -> None:
        from playwright.sync_api import expect

        expect(self.page.locator(selector)).to_be_hidden()

    def document(self) -> str:
        label = self.page.locator("article.card").get_attribute("aria-label")
        return str(label).removeprefix("Document ")

    def shot(self, name: str) -> None:
        if SHOTS is not None:
            self.page.screenshot(path=SHOTS / f"{name}.png")

    def done(self, *, but: str = "") -> None:
        """Ends; the browser had nothing to complain of, but for requests that were made to fail."""
        self.context.close()
        assert [text for text in self.complaints if not (but and re.search(but, text))] == []


Sits = Callable[..., Assessor]
FAILED = "Failed to load resource"


@pytest.fixture
def sits(browser: Any, live: Live) -> Sits:
    def make(slug: str, pairs: dict[str, int], name: str = "ann", **context: Any) -> Assessor:
        return Assessor(browser, live, slug, pairs["topic"], name, **context).sits()

    return make


def test_two_assessors_at_once_by_keys_never_get_the_same_place(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann, bob = sits(slug, pairs), sits(slug, pairs, "bob")
    while any(who.page.locator("article.card").count() for who in (ann, bob)):
        for who in (ann, bob):
            if who.page.locator("article.card").count():
                before = who.document()
                who.keys("2")
                who.page.locator(f'#document:not(:has(article[aria-label="Document {before}"]))').wait_for()
                who.page.locator('#document:not(:has-text("on its way"))').wait_for()
    ann.reads("#document", "Nothing is left to judge in this topic for now.")
    said = live.events(slug)
    assert sorted(row.document for row in said) == ["d1", "d2", "d3", "d4", "d5", "d6"]
    assert {row.person for row in said} == {"ann", "bob"}
    for who in (ann, bob):
        who.done()


def test_undo_of_a_grade_of_later_of_cannot_and_of_one_further_back(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    ann.keys("3")
    ann.sees("d2")
    ann.reads("#status", "highly relevant. Next document.")
    assert ann.page.evaluate("document.activeElement.id") == "document"
    ann.keys("u")
    ann.sees("d1")
    ann.reads("#status", "Undone: highly relevant.")
    ann.reads("#progress", "You judged 0, 0 of them relevant; 6 are left.")
    ann.keys("l")
    ann.sees("d2")
    ann.keys("u")
    ann.sees("d1")
    ann.keys("x", "ArrowDown", "Enter")
    ann.sees("d2")
    ann.keys("u")
    ann.sees("d1")
    ann.keys("0", "1", "2")
    ann.sees("d4")
    ann.keys("U")
    ann.reads("#last", "undo d1: not relevant")
    ann.shot("last-ones")
    ann.keys("ArrowDown", "ArrowDown", "Enter")
    ann.sees("d1")
    ann.keys("3")
    ann.sees("d4")
    ann.reads("#progress", "You judged 3, 3 of them relevant; 3 are left.")
    # After a reload too, where the page has to ask for the document.
    ann.page.reload()
    ann.keys("u")
    ann.sees("d1")
    ann.reads("#progress", "You judged 2, 2 of them relevant; 4 are left.")
    kinds = " ".join(row.kind for row in live.events(slug))
    assert kinds == "grade undo later undo cannot undo grade grade grade undo grade undo"
    ann.done()


def test_digits_choose_a_reason_and_one_that_stands_for_none_grades_nothing(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    ann.keys("x", "0", "9")  # 0 is a grade elsewhere
    ann.sees("d1")
    ann.keys("2")
    ann.sees("d2")
    ann.reads("#progress", "You judged 1")
    assert [(row.kind, row.grade, row.reason) for row in live.events(slug)] == [("cannot", None, REASONS[1])]


def test_later_comes_last_and_notes_views_and_reasons_are_stored(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    ann.keys("l")
    ann.sees("d2")
    ann.keys("n")
    ann.page.keyboard.type(f"u0 {HOSTILE}")
    ann.keys("Enter", " ")
    ann.reads("#status", "Whole document.")
    ann.page.locator(".whole").wait_for(state="visible")
    ann.keys("1")
    ann.sees("d3")
    ann.keys("x", "End", "ArrowUp", "Enter")
    for document in ("d4", "d5", "d6"):
        ann.sees(document)
        ann.keys("0")
    ann.sees("d1")
    ann.keys("0")
    ann.reads("#document", "Nothing is left")
    ann.reads("#progress", "You judged 6, 1 of them relevant.")
    rows = {(row.document, row.kind): row for row in live.events(slug)}
    assert (rows["d2", "grade"].note, rows["d2", "grade"].view) == (f"u0 {HOSTILE}", "whole")
    assert rows["d3", "cannot"].reason == "other"
    assert rows["d4", "grade"].view == "passage"
    assert rows["d4", "grade"].note == ""
    ann.done()


def test_offline_and_back_loses_nothing_and_doubles_nothing(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    ann.context.set_offline(True)
    ann.keys("1", "2")
    ann.reads("#unsent", "2 unsent: the server does not answer. They are kept in this tab and sent again.")
    ann.reads("#document", "The next document is on its way")
    ann.shot("offline")
    ann.keys("u")  # works offline too
    ann.sees("d2")
    ann.keys("3")
    ann.reads("#unsent", "4 unsent")
    assert live.events(slug) == []
    # Leaving is asked about; the tab keeps what is unsent through a reload without a network.
    asked: list[str] = []

    def dismissed(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    ann.page.once("dialog", dismissed)
    ann.page.close(run_before_unload=True)
    ann.page.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    ann.page.on("dialog", lambda dialog: dialog.accept())
    with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
        ann.page.reload()
    ann.context.set_offline(False)
    ann.sits()
    ann.sees("d3")
    ann.reads("#progress", "You judged 2, 2 of them relevant; 4 are left.")
    ann.hidden("#unsent")
    said = [(row.document, row.kind, row.grade) for row in live.events(slug)]
    assert said == [("d1", "grade", 1), ("d2", "grade", 2), ("d2", "undo", None), ("d2", "grade", 3)]
    ann.done(but=f"{FAILED}|ERR_INTERNET")


@pytest.mark.parametrize("status", [500, 503])
def test_a_server_that_fails_gets_the_judgement_when_it_is_well(live: Live, sits: Sits, status: int) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.page.route("**/judgements", lambda route: route.fulfill(status=status, body="{}"))
    ann.sits()  # a page that was open already may send its next request past a route that is new
    ann.sees("d1")
    ann.keys("2")
    ann.reads("#unsent", f'1 unsent: the server says "{status}".')
    ann.sees("d2")
    ann.page.unroute("**/judgements")
    ann.hidden("#unsent")
    ann.reads("#status", "Everything is sent.")
    assert [(row.document, row.grade) for row in live.events(slug)] == [("d1", 2)]
    ann.done(but=FAILED)


def test_a_session_that_ended_leads_to_the_login_and_nothing_is_lost(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    with live.site.store.writing() as connection:
        connection.execute(update(SessionRow).values(until=0))
    ann.keys("2")
    ann.page.wait_for_url("**/login?next=*")
    assert live.events(slug) == []
    # Somebody else at the same machine does not send it for their own.
    live.site.member("eve", slug, "assessor")
    ann.name = "eve"
    ann.sign_in()
    ann.sits()
    ann.page.locator("article.card").wait_for()
    ann.page.wait_for_load_state("networkidle")
    assert live.events(slug) == []
    ann.name = "ann"
    ann.sign_in()
    ann.sits()
    ann.reads("#progress", "You judged 1, 1 of them relevant")
    assert [(row.person, row.document) for row in live.events(slug)] == [("ann", "d1")]
    ann.done(but=FAILED)


def test_what_is_refused_is_told(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    live.site.visitor("ann").post(f"{ann.base.removeprefix(live.address)}/leave")
    ann.keys("2")
    ann.reads("#refused", "Not stored: document 'd1' was not given to you to judge")
    assert live.events(slug) == []
    ann.done()


def test_idle_time_counts_as_away(live: Live, browser: Any) -> None:
    slug, pairs = live.pond()
    ann = Assessor(browser, live, slug, pairs["topic"])
    ann.page.clock.install(time=0)
    ann.sits()
    ann.sees("d1")
    ann.keys("h")
    ann.page.clock.run_for(100_000)
    ann.keys("1")
    ann.sees("d2")
    ann.page.wait_for_load_state("networkidle")
    (row,) = live.events(slug)
    assert 29_000 <= row.active_ms <= 40_000, row.active_ms
    assert 60_000 <= row.away_ms <= 80_000, row.away_ms
    ann.done()


def test_a_break_is_suggested_after_fifty_minutes(live: Live, browser: Any) -> None:
    slug, pairs = live.pond()
    ann = Assessor(browser, live, slug, pairs["topic"])
    ann.page.clock.install(time=0)
    ann.sits()
    ann.sees("d1")
    ann.hidden("#rest")
    for _ in range(104):
        ann.keys("h")
        ann.page.clock.fast_forward(29_000)
    ann.reads("#rest", re.compile("You have been judging for 5[0-9] minutes in this sitting: a short break helps."))
    ann.page.clock.run_for(6 * 60_000)
    ann.hidden("#rest")
    ann.done()


def test_guidelines_marks_words_and_help(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    with live.site.store.writing() as connection:
        number = connection.execute(select(ProjectRow.id).where(ProjectRow.slug == slug)).scalar_one()
        text = f"Only *ducks*. {HOSTILE} [x](javascript:alert(1))"
        connection.execute(insert(GuidelineRow).values(project_id=number, version=3, text=text, at=0))
    ann = sits(slug, pairs)
    ann.page.get_by_text("Guidelines, version 3").click()
    ann.reads("#guidelines em", "ducks")
    ann.reads("#guidelines", HOSTILE)
    ann.shot("guidelines")
    ann.page.locator("mark").first.wait_for()
    ann.page.locator("#document").focus()
    ann.keys("h")
    ann.reads("#status", "Marks off.")
    assert "unmarked" in str(ann.page.locator("body").get_attribute("class"))
    ann.keys("?")
    ann.reads("#keys", "marks on and off")
    ann.keys("Escape")
    ann.page.get_by_text("Words to mark").click()
    ann.page.locator("input[name=terms]").fill("div*")
    ann.keys("Enter")
    ann.reads("mark.scan:visible", "dive")
    ann.done()


def test_without_script_forms_do_it_all(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs, java_script_enabled=False)

    def press(name: str) -> None:
        ann.page.get_by_role("button", name=name).first.click()

    ann.sees("d1")
    ann.page.get_by_role("link", name="whole document").click()
    ann.page.locator(".whole").wait_for(state="visible")
    press("highly relevant")
    ann.sees("d2")
    ann.page.locator("#cannot summary").click()
    press("language")
    ann.sees("d3")
    press("later")
    ann.sees("d4")
    press("undo")
    ann.page.locator("#last summary").click()
    ann.page.get_by_role("button", name="undo d1: highly relevant").click()
    ann.page.locator("#note summary").click()
    ann.page.locator("input[name=note]").fill("seen")
    press("not relevant")
    for _ in range(6):
        if ann.page.locator("article.card").count():
            press("not relevant")
    ann.reads("#document", "Nothing is left to judge in this topic for now.")
    rows = live.events(slug)
    assert [(row.document, row.kind, row.view) for row in rows[:3]] == [
        ("d1", "grade", "whole"),
        ("d2", "cannot", "passage"),
        ("d3", "later", "passage"),
    ]
    assert [row.kind for row in rows[3:5]] == ["undo", "undo"]
    assert rows[5].note == "seen"
    with live.site.store.reading() as connection:
        own = [pair for document, pair in pairs.items() if document != "topic"]
        mine = select(OpinionRow.pair_id).where(OpinionRow.pair_id.in_(own))
        assert len(connection.execute(mine).all()) == 6
    ann.done()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (360, 740), (740, 360)])
def test_every_card_is_accessible_and_inert(live: Live, sits: Sits, width: int, height: int, scheme: str) -> None:
    axe = needs_module("axe_playwright_python.sync_playwright")
    slug, pairs = live.pond()
    ann = sits(slug, pairs, viewport={"width": width, "height": height}, color_scheme=scheme)
    for place, document in enumerate(("d1", "d2", "d3", "d4", "d5", "d6")):
        ann.sees(document)
        if place == 1:
            ann.keys("x")
        if document == "d6":
            ann.page.get_by_text("As a page").click()
            frame = ann.page.frame_locator("iframe")
            frame.locator("b").wait_for()
        found = axe.Axe().run(ann.page)
        assert found.violations_count == 0, f"{document}: {found.generate_report()}"
        assert ann.page.evaluate("document.documentElement.scrollWidth") <= width
        ann.shot(f"{width}-{scheme}-{document}")
        # The end of the text is above the form, or beside it.
        ann.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        covered = ann.page.evaluate(
            """() => {
                const text = document.querySelector(".tools").getBoundingClientRect();
                const form = document.querySelector("#judge").getBoundingClientRect();
                return text.bottom > form.top && text.right > form.left;
            }"""
        )
        assert not covered, document
        ann.page.locator("#document").focus()
        ann.keys("0")
    ann.reads("#document", "Nothing is left")
    assert axe.Axe().run(ann.page).violations_count == 0
    ann.done(but="Failed to execute 'postMessage'")  # axe's, to the frame of a document, which is of no origin


def test_right_to_left(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    for document in ("d1", "d2", "d3"):
        ann.sees(document)
        ann.keys("0")
    ann.sees("d4")
    assert ann.page.locator(".best").evaluate("part => getComputedStyle(part).direction") == "rtl"
    ann.done()


def test_nearly_the_same_is_told_and_the_difference_marked(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    with live.site.store.writing() as connection:
        both = [pairs["d1"], pairs["d2"]]
        connection.execute(update(PairRow).where(PairRow.id.in_(both)).values(near=7))
    ann = sits(slug, pairs)
    ann.hidden(".near")
    ann.keys("1")
    ann.sees("d2")
    ann.reads(".near:visible", "This is nearly the same as the document before.")
    marked = ann.page.locator(".whole mark.differs").all_text_contents()
    assert "white" in marked
    assert "swim" not in [text.lower() for text in marked]
    ann.keys("1")
    ann.sees("d3")
    ann.hidden(".near")
    ann.done()


def test_parts_of_a_long_document_come_into_the_card(live: Live, sits: Sits) -> None:
    long = StoredDocument("long", "Long", "\n\n".join(f"Paragraph {n} of ducks {HOSTILE}" for n in range(4500)))
    slug, pairs = live.pond(documents=[long, StoredDocument("d2", "", "short")])
    ann = sits(slug, pairs)
    ann.sees("long")
    ann.page.get_by_role("link", name="3", exact=True).click()
    ann.page.locator('section[data-part="3"]').wait_for()
    ann.page.get_by_role("link", name="2", exact=True).click()
    ann.reads('section[data-part="2"] .notice', "here is part 2 of 3")
    assert ann.page.locator(".whole section").evaluate_all("parts => parts.map(part => part.dataset.part)") == [
        "2",
        "3",
    ]
    ann.hidden(".parts")
    ann.page.locator("#document").focus()
    ann.keys("1")
    ann.sees("d2")
    ann.reads("#progress", "You judged 1")
    assert [row.view for row in live.events(slug)] == ["whole"]
    ann.done()


def test_the_next_document_is_on_its_way(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond(method="cal")
    ann = sits(slug, pairs)
    with live.site.store.writing() as connection:
        rest = [number for name, number in pairs.items() if name not in ("topic", "d1", "d2")]
        connection.execute(update(PairRow).where(PairRow.id.in_(rest)).values(wanted=0))
    ann.sees("d1")
    ann.keys("1", "1")
    ann.reads("#document", "The next document is on its way …")
    ann.shot("waiting")
    with live.site.store.writing() as connection:
        connection.execute(update(PairRow).where(PairRow.id == pairs["d3"]).values(wanted=1))
    ann.sees("d3")
    ann.done()


def test_a_double_click_grades_one_document(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    ann.page.get_by_role("button", name="highly relevant").dblclick()
    ann.sees("d2")
    ann.reads("#progress", "You judged 1, 1 of them relevant")
    ann.page.get_by_role("button", name="not relevant", exact=False).first.click(delay=50)
    ann.sees("d3")
    ann.reads("#progress", "You judged 2, 1 of them relevant")
    assert [(row.document, row.grade) for row in live.events(slug)] == [("d1", 3), ("d2", 0)]
    ann.done()


def test_without_script_a_form_sent_twice_is_one_judgement(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs, java_script_enabled=False)
    ann.page.get_by_role("button", name="highly relevant").click()
    ann.sees("d2")
    ann.page.go_back()  # whatever the browser shows, nothing is judged twice and nothing is refused
    ann.page.get_by_role("button", name="highly relevant").click()
    ann.hidden("#refused")
    grades = [(row.document, row.grade) for row in live.events(slug)]
    assert grades in ([("d1", 3)], [("d1", 3), ("d2", 3)])
    ann.done()


def test_back_into_a_topic_that_was_left(live: Live, sits: Sits) -> None:
    """The documents were given back: the page has new ones, and what is judged is stored."""
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    ann.keys("q")
    ann.page.wait_for_url(f"**/p/{slug}/judge")
    ann.page.go_back()
    ann.page.locator("article.card").wait_for()
    before = ann.document()
    ann.keys("2")
    ann.reads("#progress", "You judged 1, 1 of them relevant")
    ann.hidden("#refused")
    assert [(row.document, row.grade) for row in live.events(slug)] == [(before, 2)]
    ann.done()


def test_somebody_who_was_removed_is_told(live: Live, sits: Sits) -> None:
    """The judgement waits in the tab. If they come back, it is told that the document went to others meanwhile."""
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.sees("d1")
    live.site.member("owner", slug, "owner")
    name = pseudonym_of(live.site.store, slug, "ann")
    assert live.site.visitor("owner").post(f"/p/{slug}/members/{name}/remove").status_code == 200
    ann.keys("2")
    ann.reads("#unsent", '1 unsent: the server says "there is nothing here, or nothing that you may see".')
    live.site.member("ann", slug, "assessor")
    ann.hidden("#unsent")
    ann.reads("#refused", "Not stored: document 'd1' was not given to you to judge")
    assert live.events(slug) == []
    ann.done(but=FAILED)


def test_a_server_that_is_started_anew_goes_on(browser: Any, tmp_path: Path) -> None:
    """Meanwhile the page goes on too; what was said comes when the server is there, once."""
    settings = ServerSettings(folder=tmp_path)
    store = open_folder(settings)
    with live_site(settings, store) as address:
        live = Live(Site(settings, store), address)
        slug, pairs = live.pond()
        ann = Assessor(browser, live, slug, pairs["topic"]).sits()
        ann.sees("d1")
    ann.keys("2")
    ann.reads("#unsent", "1 unsent: the server does not answer. It is kept in this tab and sent again.")
    ann.sees("d2")
    with live_site(settings, store, int(address.rpartition(":")[2])):
        ann.hidden("#unsent")
        ann.keys("1")
        ann.sees("d3")
        ann.reads("#progress", "You judged 2, 2 of them relevant")
        assert [(row.document, row.grade) for row in live.events(slug)] == [("d1", 2), ("d2", 1)]
        ann.done(but=f"{FAILED}|net::ERR")
    store.close()


def test_a_phone_shows_the_document(live: Live, sits: Sits) -> None:
    """The question takes a line there, and opens on demand."""
    slug, pairs = live.pond()
    ann = sits(slug, pairs, viewport={"width": 360, "height": 640})
    ann.sees("d1")
    assert bottom(ann, ".best") < ann.page.locator("#judge").bounding_box()["y"]
    ann.reads("#question summary", "swimming ducks")
    ann.hidden("#question p")
    ann.page.locator("#question summary").click()
    ann.reads("#question p", "Do ducks <b>swim</b> & dive?")
    ann.done()


def test_the_list_of_keys_is_seen_whole(live: Live, sits: Sits) -> None:
    slug, pairs = live.pond()
    ann = sits(slug, pairs)
    ann.keys("?")
    assert bottom(ann, "#keys dl") < ann.page.locator("#judge").bounding_box()["y"]
    ann.keys("Escape")
    ann.hidden("#keys dl")
    ann.keys("2")
    ann.sees("d2")
    ann.done()


def bottom(who: Assessor, selector: str) -> float:
    box = who.page.locator(selector).bounding_box()
    return float(box["y"] + box["height"])


TRICK = "\u202egpj.exe\u2066\x1b[2J<b>"


def test_names_turn_nothing_and_hide_nothing(live: Live, sits: Sits) -> None:
    """Overrides and control characters in titles, texts, ids, questions, notes, guidelines: drawn, not done."""
    documents = [StoredDocument(f"d{TRICK}", TRICK, f"{TRICK}\n\nducks {TRICK}"), StoredDocument("d2", "", TRICK)]
    slug, pairs = live.pond(documents=documents)
    name = TRICK.replace("\x1b", "")
    with live.site.store.writing() as connection:
        own = update(TopicRow).where(TopicRow.id == pairs["topic"])
        fields = [["title", f"ducks {TRICK}"], ["description", TRICK]]
        connection.execute(own.values(fields=fields, name=name))
        number = connection.execute(select(ProjectRow.id).where(ProjectRow.slug == slug)).scalar_one()
        told = {"project_id": number, "version": 1, "text": TRICK, "at": 0}
        connection.execute(insert(GuidelineRow).values(**told))
    topic = in_address(name)
    ann = sits(slug, pairs)
    ann.keys("n")
    ann.page.keyboard.insert_text(TRICK.replace("\x1b", ""))
    ann.keys("Enter", "2")
    ann.sees("d2")
    addresses = ("judge", f"judge/{topic}", f"judge/{topic}/advice", f"mine/{topic}", "mine")
    for address in (*addresses, "", "agreement", "adjudicate", "releases/new"):
        live.site.member("ann", slug, "owner")
        answer = live.site.visitor("ann").get(f"/p/{slug}/{address}".rstrip("/"))
        assert answer.status_code == 200, address
        text = answer.text
        shown = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", shown), address
        assert "gpj.exe\u2066[2J<b>" not in text, address
    ann.page.goto(f"{live.address}/p/{slug}/mine/{topic}")
    order = (
        ann.page.locator("tbody tr")
        .first.locator("td")
        .evaluate_all("cells => cells.map(cell => cell.getBoundingClientRect().left)")
    )
    assert order == sorted(order)
    assert not ann.dialogs
    ann.done()
