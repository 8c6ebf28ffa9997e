"""A test that cannot be run is skipped with the remedy; where everything is to be tested it fails."""

from __future__ import annotations

import sys

import pytest

from needed import needs, needs_module
from places import ROOT

FAILED, SKIPPED = pytest.fail.Exception, pytest.skip.Exception


@pytest.mark.parametrize(("ci", "outcome"), [("1", FAILED), ("0", SKIPPED), (None, SKIPPED)])
def test_what_is_missing_is_told(ci: str | None, outcome: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CRANFIELD_CI", raising=False)
    if ci is not None:
        monkeypatch.setenv("CRANFIELD_CI", ci)
    with pytest.raises(outcome, match=r"^there is no no-such-browser here: apt-get install chromium$"):
        needs("no-such-browser", "nor-this-one", package="chromium")
    with pytest.raises(outcome, match=r"^no_such_module is not installed: pip install \.\[test\]$"):
        needs_module("no_such_module.inside")


def test_what_is_there_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRANFIELD_CI", "1")
    assert needs("no-such-shell", "sh", package="dash").endswith("/sh")
    assert needs_module("sys") is sys


def test_a_change_is_checked_with_everything() -> None:
    assert "export WERROR=ON CRANFIELD_CI=1" in (ROOT / ".ci" / "run").read_text()
