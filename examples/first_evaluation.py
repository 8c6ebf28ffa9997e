"""A first evaluation: two systems, judgements, a table, and what to look at before believing it."""

from pathlib import Path

import cranfield
from cranfield.measures import AP, P, nDCG

HERE = Path(__file__).parent

# Judgements say which documents are relevant to which topic, and how much. A run is what a system returned. Both may be
# files, as here, or dicts, data frames and arrays.
qrels = HERE / "qrels.txt"
runs = [HERE / "bm25.run", HERE / "dense.run"]

# Measures are names, or objects with parameters: precision of the first five, counting grades from 2 as relevant.
results = cranfield.evaluate(qrels, runs, ["nDCG@10", AP, P(rel=2) @ 5])
print(results)

# The numbers behind the means: one score for each run, measure and topic.
print("\nnDCG@10 of dense, topic by topic:")
for topic, score in zip(results.topics, results.of(nDCG @ 10, "dense"), strict=True):
    print(f"  {topic}  {score:.4f}")

# Every decision that changes a number is written into the result.
print(f"\nties: {results.policy.ties}; topics: {results.policy.topics}")

# What may put a number in doubt is said, not hidden.
for warning in results.warnings:
    print(f"note: {warning.message}")
