"""Reads a run and joins it with judgements, in DuckDB: `python join_with_duckdb.py QRELS RUN`"""

import sys

import duckdb

qrels, run = sys.argv[1:]


def with_blanks(path: str, columns: dict[str, str]) -> str:
    types = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
    return f"read_csv('{path}', delim = ' ', header = false, columns = {{{types}}})"


ids = {"topic": "VARCHAR", "second": "VARCHAR", "document": "VARCHAR"}
sources = {
    "run": with_blanks(run, ids | {"rank": "INTEGER", "score": "DOUBLE", "tag": "VARCHAR"}),
    "csv": f"read_csv('{run}', all_varchar = true)",
    "jsonl": f"read_json('{run}', format = 'newline_delimited')",
    "parquet": f"read_parquet('{run}')",
}
judged = with_blanks(qrels, ids | {"grade": "INTEGER"})
print(
    duckdb.execute(
        f"""SELECT count(*), sum(CAST(r.score AS DOUBLE)), sum(q.grade) FROM {sources[run.rsplit(".", 1)[-1]]} r
        JOIN {judged} q ON CAST(r.topic AS VARCHAR) = q.topic AND CAST(r.document AS VARCHAR) = q.document"""
    ).fetchall()
)
