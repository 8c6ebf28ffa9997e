"""Ties and unjudged documents: how far could a score be from the one that is printed?"""

from pathlib import Path

import cranfield

HERE = Path(__file__).parent

# Documents of equal score stand in some order, and a tool has to choose one. Here nobody told them apart at all:
qrels = {"1": {"a": 1, "b": 0, "c": 0, "d": 0}}
tied = {"1": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}}
for ties in ("docid", "best", "worst", "expected"):
    results = cranfield.evaluate(qrels, tied, "RR", policy=cranfield.Policy(ties=ties))
    print(f"RR with ties {ties + ':':<9} {results.scores.item():.4f}")

# "expected" is the mean over all orders of the tied documents: (1 + 1/2 + 1/3 + 1/4) / 4.

# Documents that nobody judged count as not relevant. If all of them were relevant, or none, scores would lie here:
results = cranfield.evaluate(
    HERE / "qrels.txt", [HERE / "bm25.run", HERE / "dense.run"], ["nDCG@10", "Judged@10"], bounds=True
)
print()
for run, bounds in results.bounds().items():
    low, high = bounds["nDCG@10"]
    means = results.mean()[run]
    print(f"{run:<6} nDCG@10 {means['nDCG@10']:.4f}, between {low:.4f} and {high:.4f}; {means['Judged@10']:.0%} judged")

# Where the bounds of two systems overlap, judging more documents could turn the result around.
(_, bm25_high), (dense_low, _) = (results.bounds()[run]["nDCG@10"] for run in ("bm25", "dense"))
print("the order is safe" if bm25_high < dense_low else "more judgements could turn the order around")

# The other remedy: leave unjudged documents out of the rankings (condensed lists), for every measure alike.
condensed = cranfield.evaluate(
    HERE / "qrels.txt", [HERE / "bm25.run", HERE / "dense.run"], "nDCG@10", policy=cranfield.Policy(judged_only=True)
)
print(f"\nunjudged documents left out:\n{condensed}")
