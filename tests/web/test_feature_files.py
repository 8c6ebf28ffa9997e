"""What a learner knows of a collection: built once, and anew where it was kept by an earlier version."""

from __future__ import annotations

import json
from pathlib import Path

from cranfield.quotation.storing import build_store
from cranfield.web.feature_files import FeatureFiles
from places import ROOT


def test_built_once_and_anew_for_another_version(tmp_path: Path) -> None:
    documents = build_store(str(ROOT / "examples" / "pond.toml"), tmp_path / "documents")
    files = FeatureFiles(tmp_path)
    features = files.of("pond", documents)
    assert features.ids == tuple(document.id for document in documents.documents())
    assert files.of("pond", documents) is features
    settings = tmp_path / "collections" / "pond" / "features" / "features.json"
    written = settings.stat().st_mtime_ns
    assert FeatureFiles(tmp_path).of("pond", documents).ids == features.ids
    assert settings.stat().st_mtime_ns == written
    kept = json.loads(settings.read_text())
    settings.write_text(json.dumps({**kept, "version": 1}))
    (settings.parent / "near.npy").unlink()
    again = FeatureFiles(tmp_path).of("pond", documents)
    assert again.neighbours.numbers.tolist() == features.neighbours.numbers.tolist()
    assert json.loads(settings.read_text()) == kept
