"""The script a user of pytrec_eval writes: `python with_pytrec_eval.py QRELS RUN`"""

import json
import sys

import pytrec_eval

MEASURES = {"AP": "map", "nDCG@10": "ndcg_cut_10", "RR": "recip_rank", "P@10": "P_10", "R@1000": "recall_1000"}

with open(sys.argv[1]) as file:
    qrels = pytrec_eval.parse_qrel(file)
with open(sys.argv[2]) as file:
    run = pytrec_eval.parse_run(file)
evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000"})
topics = evaluator.evaluate(run)
# Topics that the run lacks count as 0: there are none in this data, but a careful user divides by the judged ones.
means = {name: sum(topic[trec] for topic in topics.values()) / len(qrels) for name, trec in MEASURES.items()}
print(json.dumps({"means": means}))
