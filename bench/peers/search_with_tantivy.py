"""tantivy: reads JSON lines, indexes, answers and writes a run: `python search_with_tantivy.py FOLDER RUN DEPTH`

Its analysis is its own: `en_stem` has Snowball's English stemmer and leaves no stop words out.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import tantivy


def main(folder: str, run: str, depth: int) -> None:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name="en_stem", index_option="freq")
    with tempfile.TemporaryDirectory() as place:
        index = tantivy.Index(builder.build(), path=place)
        writer = index.writer(heap_size=256_000_000, num_threads=os.cpu_count() or 1)
        with (Path(folder) / "corpus.jsonl").open() as file:
            for line in file:
                row = json.loads(line)
                writer.add_document(tantivy.Document(id=row["_id"], text=row["text"]))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        searcher = index.searcher()
        with (Path(folder) / "queries.jsonl").open() as file, open(run, "w") as out:
            for line in file:
                row = json.loads(line)
                query = index.parse_query(row["text"], ["text"])
                hits = searcher.search(query, limit=depth).hits
                for rank, (score, address) in enumerate(hits, start=1):
                    out.write(f"{row['_id']} Q0 {searcher.doc(address)['id'][0]} {rank} {score:.9g} tantivy\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
