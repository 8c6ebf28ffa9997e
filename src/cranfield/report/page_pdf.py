"""The page printed by Chromium, which lays out pages as its style sheet says; there is nothing else to install."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from cranfield.errors import DataError, UsageError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
PATIENCE = 120  # seconds


def find_browser() -> str | None:
    """The path of a browser that prints pages to PDF, or None."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def printed(page: bytes) -> bytes:
    """A page as PDF."""
    browser = find_browser()
    if browser is None:
        raise UsageError(
            "a PDF is printed by Chromium or Chrome, and none was found: install it (on Debian: apt install chromium), "
            "or write report.html and print it from a browser"
        )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "report.html"), Path(folder, "report.pdf")
        source.write_bytes(page)
        # The page is our own and may load nothing: a sandbox, which root may not have, would guard against nothing.
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        command += ["--no-pdf-header-footer", f"--print-to-pdf={target}", source.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DataError(f"could not print the page: {error}", source=browser) from None
        if not target.is_file():
            complaint = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise DataError(f"could not print the page: {complaint}", source=browser)
        return target.read_bytes()
