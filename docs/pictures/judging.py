"""Makes docs/pictures/judging.png: a document before an assessor in `cranfield serve demo`. `make picture` runs it.

It needs what the tests of the server need: the extra `web`, Playwright, and Debian's chromium.
"""

import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

WIDE, HIGH = 1180, 700
LONG = 300  # characters of a paragraph that is worth a picture


def main() -> None:
    """Starts the server, and looks at it as somebody would who has just read the link that it prints."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = [sys.executable, "-m", "cranfield", "serve", "demo", "--port", str(port)]
        server = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            printed = (re.search(r"http://\S+/invite/\S+", line) for line in server.stdout or ())
            link = next(found[0] for found in printed if found)
            program = shutil.which("chromium") or shutil.which("google-chrome")
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            page = browser.new_page(viewport={"width": WIDE, "height": HIGH}, color_scheme="light")
            judge(page, link)
            page.screenshot(path=Path(__file__).with_suffix(".png"))
            browser.close()
        finally:
            server.terminate()
            server.wait()


def judge(page: Any, link: str) -> None:
    """Makes the first account and judges in a topic, until a document comes that has some text to read."""
    page.goto(link)
    page.get_by_label("Name").fill("ada")
    page.get_by_label("Password").fill("what a machine types")
    page.get_by_role("button", name="Go on").click()
    page.goto(f"{link.partition('/invite/')[0]}/p/demo/judge")
    page.get_by_role("link", name="8", exact=True).click()
    card = page.locator("article.card")
    for place, key in enumerate("2031" * 5):
        if place > 2 and len(card.locator(".best").inner_text()) > LONG:
            break
        before = card.get_attribute("aria-label")
        page.keyboard.press(key)
        page.locator(f'article.card:not([aria-label="{before}"])').wait_for()
    page.wait_for_load_state("networkidle")


if __name__ == "__main__":
    main()
