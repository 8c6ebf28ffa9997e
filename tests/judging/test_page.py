"""What docs/judging.md says is so."""

from __future__ import annotations

import doctest
import re
import tomllib
from dataclasses import fields

from cranfield.judging.events import Event
from cranfield.judging.releasing import POLICIES
from cranfield.judging.scale import OWN_KEYS, Scale
from places import ROOT

PAGE = ROOT / "docs" / "judging.md"


def test_its_session_runs() -> None:
    assert doctest.testfile(str(PAGE), module_relative=False) == (0, 8)


def test_it_has_all_keys_fields_and_policies() -> None:
    text = PAGE.read_text()
    for name in [field.name for field in fields(Event)]:
        assert f"`{name}`" in text, name
    for key in OWN_KEYS:
        assert f"| `{'space' if key == ' ' else key}`" in text, key
    for policy in POLICIES:
        assert f"`{policy.replace(' ', '-')}`" in text, policy


def test_its_scale_is_one() -> None:
    lines = re.findall(r"(?m)^    (threshold = 2|\[\[grades\]\]|\w+ = .*)$", PAGE.read_text())
    assert Scale.from_json(tomllib.loads("\n".join(lines))).values == (0, 2)
