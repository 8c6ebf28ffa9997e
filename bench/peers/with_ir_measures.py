"""The script a user of ir_measures writes: `python with_ir_measures.py QRELS RUN`"""

import json
import sys

import ir_measures
from ir_measures import AP, RR, P, R, nDCG

qrels = ir_measures.read_trec_qrels(sys.argv[1])  # type: ignore[no-untyped-call]
run = ir_measures.read_trec_run(sys.argv[2])  # type: ignore[no-untyped-call]
means = ir_measures.calc_aggregate([AP, nDCG @ 10, RR, P @ 10, R @ 1000], qrels, run)
print(json.dumps({"means": {str(measure): value for measure, value in means.items()}}))
