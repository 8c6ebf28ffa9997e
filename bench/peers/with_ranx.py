"""The script a user of ranx writes: `python with_ranx.py QRELS RUN WARM_QRELS WARM_RUN`

ranx compiles its functions when they are first called, for many seconds. It is first called on small files here, and
the time it reports is that of reading and evaluating the real ones.
"""

import json
import sys
import time

from ranx import Qrels, Run, evaluate

MEASURES = {"AP": "map", "nDCG@10": "ndcg@10", "RR": "mrr", "P@10": "precision@10", "R@1000": "recall@1000"}


def means(qrels_path: str, run_path: str) -> dict[str, float]:
    qrels = Qrels.from_file(qrels_path, kind="trec")
    run = Run.from_file(run_path, kind="trec")
    scores = evaluate(qrels, run, list(MEASURES.values()))
    return {name: float(scores[ranx]) for name, ranx in MEASURES.items()}


means(sys.argv[3], sys.argv[4])
start = time.perf_counter()
result = means(sys.argv[1], sys.argv[2])
print(json.dumps({"means": result, "seconds": time.perf_counter() - start}))
