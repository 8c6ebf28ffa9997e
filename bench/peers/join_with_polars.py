"""Reads a run and joins it with judgements, in Polars: `python join_with_polars.py QRELS RUN`"""

import sys

import polars

qrels, run = sys.argv[1:]
judged = polars.scan_csv(
    qrels, separator=" ", has_header=False, new_columns=["topic", "i", "document", "grade"], infer_schema=False
)
text = {"topic": polars.String, "document": polars.String}
read = {
    "csv": lambda: polars.scan_csv(run, schema_overrides=text),
    "jsonl": lambda: polars.scan_ndjson(run),
    "parquet": lambda: polars.scan_parquet(run),
}[run.rsplit(".", 1)[-1]]()
joined = read.join(judged, on=["topic", "document"])
print(joined.select(polars.len(), polars.col("score").sum(), polars.col("grade").cast(polars.Int64).sum()).collect())
