"""The pages on clicks and sessions: what they show in Python is so, and they name what there is."""

from __future__ import annotations

import doctest
import re

import pytest

from cranfield.online.clicks.click_models import CLICK_MODELS
from cranfield.online.page_views import FIELDS
from cranfield.online.sessions import all_session_measures
from places import ROOT


@pytest.mark.parametrize("page", ["clicks", "sessions"])
def test_python_on_the_pages_runs(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (session,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.DOTALL)
    parsed = doctest.DocTestParser().get_doctest(session, {}, page, f"docs/{page}.md", 0)
    assert parsed.examples
    assert doctest.DocTestRunner().run(parsed).failed == 0


def test_the_pages_name_every_model_field_and_measure() -> None:
    clicks, sessions = ((ROOT / "docs" / f"{page}.md").read_text() for page in ("clicks", "sessions"))
    for model in CLICK_MODELS.all():
        assert f"`{model.name}`" in clicks
    for role, names in FIELDS.items():
        told = clicks + sessions
        assert all(f"`{name}`" in told for name in names), role
    for measure in all_session_measures():
        assert f"`{measure.name}" in sessions, measure.name
