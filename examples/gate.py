"""Gating a release: may the candidate replace the baseline? Pass, fail or cannot tell, for continuous integration."""

from pathlib import Path

import cranfield
from cranfield.comparison import Rule, Thresholds

HERE = Path(__file__).parent
qrels, bm25, dense = HERE / "qrels.txt", HERE / "bm25.run", HERE / "dense.run"

# What must not happen, by measure: get worse by more than a tolerance, get worse significantly, or be below a minimum;
# and topics that must not get worse, whatever the mean does. On the command line the same is a small TOML file.
thresholds = Thresholds(
    {"nDCG@10": Rule(tolerance=0.01, minimum=0.45), "AP": Rule(tolerance=0.02)},
    topics={"4": 0.15},
)

for name, baseline, candidate in (("dense for bm25", bm25, dense), ("bm25 for dense", dense, bm25)):
    verdict = cranfield.gate(cranfield.Experiment(qrels, [baseline, candidate]), thresholds)
    print(f"{name}: {verdict.answer}")
    for check in verdict.checks:
        print(f"  {check.answer}  {check.what}: {check.detail}")

# In a pipeline: `cranfield gate qrels.txt bm25.run dense.run --tolerance 0.01` ends with exit code 0, 1, or 4 if there
# are too few topics to tell.
