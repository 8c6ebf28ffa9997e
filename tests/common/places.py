"""Where things are: the project, its examples, and real collections, which stand beside the project or nowhere."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DATA = ROOT.parent / "shared" / "data"
COLLECTION = DATA / "cranfield"
