"""The script a user of ranx writes: `python with_ranx.py QRELS RUN`

ranx compiles its functions when they are first called, for many seconds, and keeps the result on disk: run it once
before timing it.
"""

import json
import sys

from ranx import Qrels, Run, evaluate

MEASURES = {"AP": "map", "nDCG@10": "ndcg@10", "RR": "mrr", "P@10": "precision@10", "R@1000": "recall@1000"}

qrels = Qrels.from_file(sys.argv[1], kind="trec")
run = Run.from_file(sys.argv[2], kind="trec")
scores = evaluate(qrels, run, list(MEASURES.values()))
print(json.dumps({"means": {name: float(scores[ranx]) for name, ranx in MEASURES.items()}}))
