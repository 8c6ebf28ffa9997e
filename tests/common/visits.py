"""A page that a browser has opened, with everything that went wrong in it and everything it asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Visit:
    """Opens a page; `wrong` has what the console says, `asked` every address that was asked for."""

    def __init__(self, browser: Any, file: Path, address: str = "", **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | context)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri() + address)

    def rows(self, selector: str) -> list[list[str]]:
        """The text of a table's body."""
        script = "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))"
        found: list[list[str]] = self.page.locator(selector).evaluate(script)
        return found


def drawn(page: Any) -> None:
    """Waits until every picture of a report is drawn for what is chosen."""
    page.wait_for_selector("html[data-drawn=all]", state="attached")


def address(page: Any) -> str:
    """Where the page is now; `page.url` tells it only once the browser has sent word."""
    return str(page.evaluate("location.href"))
