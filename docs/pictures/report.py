"""Makes docs/pictures/report.png: the report of `cranfield demo` with a topic open. `make picture` runs it.

It needs what the tests of the report need: Playwright, and Debian's chromium.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDE, HIGH = 1180, 760


def main() -> None:
    """Runs the demo, opens its report as a reader would, and keeps what is seen."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        subprocess.run(
            [sys.executable, "-m", "cranfield", "demo", "-o", f"{folder}/demo"], check=True, stdout=subprocess.DEVNULL
        )
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDE, "height": HIGH}, color_scheme="light")
        page.goto(f"file://{folder}/demo/report.html#topic=8")
        page.wait_for_selector("dialog[open]")
        page.screenshot(path=Path(__file__).with_suffix(".png"))
        browser.close()


if __name__ == "__main__":
    main()
