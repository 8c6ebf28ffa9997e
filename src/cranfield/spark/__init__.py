"""The same evaluation on a cluster of Spark: Arrow batches in, the same core, scores out.

from cranfield import spark
frame = spark.evaluate("qrels.txt", {"bm25": "bm25.run", "dense": session.read.parquet("dense")}, ["nDCG@10", "AP"])
"""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.spark.evaluating import evaluate as evaluate
    from cranfield.spark.evaluating import evaluate_on as evaluate_on

PUBLIC = {"evaluating": "evaluate evaluate_on"}
__getattr__, __dir__ = exported(__name__, PUBLIC)
