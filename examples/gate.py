"""Gating a release: may the candidate replace the baseline? A yes or no for continuous integration."""

from pathlib import Path

import cranfield
from cranfield import Rule, Thresholds

HERE = Path(__file__).parent
qrels, bm25, dense = HERE / "qrels.txt", HERE / "bm25.run", HERE / "dense.run"

# What must not happen, by measure: fall by more than a tolerance, fall significantly, or be below a minimum; and topics
# that must not fall, whatever the mean does. On the command line the same is a small TOML file.
thresholds = Thresholds(
    {"nDCG@10": Rule(tolerance=0.01, minimum=0.45), "AP": Rule(tolerance=0.02)},
    topics={"4": 0.15},
)

for name, baseline, candidate in (("dense for bm25", bm25, dense), ("bm25 for dense", dense, bm25)):
    verdict = cranfield.gate(qrels, baseline, candidate, thresholds)
    print(f"{name}: {'yes' if verdict.passed else 'no'}")
    for check in verdict.checks:
        print(f"  {'pass' if check.passed else 'FAIL'}  {check.what}: {check.detail}")

# In a pipeline: `cranfield gate qrels.txt bm25.run dense.run --tolerance 0.01` ends with exit code 0 or 1.
