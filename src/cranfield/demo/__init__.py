"""A test collection that is there on every machine: docstrings, questions that programmers ask, and judgements."""

from __future__ import annotations

from cranfield.demo.building import SYSTEMS, Demo, DemoSystem, build_demo
from cranfield.demo.documents import standard_library
from cranfield.demo.embedded import demo_collection, judged_again

__all__ = ["SYSTEMS", "Demo", "DemoSystem", "build_demo", "demo_collection", "judged_again", "standard_library"]
