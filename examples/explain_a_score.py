"""Explaining a score: where does 0.9255 come from? Rank by rank, as one would on the board."""

from pathlib import Path

from cranfield import Experiment, explain

HERE = Path(__file__).parent
qrels, bm25, dense = HERE / "qrels.txt", HERE / "bm25.run", HERE / "dense.run"

# One topic of one run: every rank, what it adds, and the formula with the numbers put in.
found = explain(Experiment(qrels, dense), "4", "nDCG@5")
print(found)

# The same as data, for a table of your own. In a notebook `found` shows itself as HTML.
(account,) = found.accounts
best = max(account.lines, key=lambda line: line.contribution or 0.0)
print(f"\nmost comes from {best.document} at rank {best.rank}: {best.contribution:.4f} of {account.value:.4f}")
