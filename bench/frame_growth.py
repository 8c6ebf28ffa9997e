"""How much memory a run takes besides the frame that it is in: `python bench/frame_growth.py string|…|polars|pandas`

200,000 rows with ids of 500 bytes. Prints JSON: bytes of text, and by how much the peak of the process grows when the
frame is evaluated, and when it is read and its run is kept.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

import pyarrow as pa

import cranfield

ROWS, LENGTH = 200_000, 500


def made(layout: str) -> Any:
    ids = pa.array([f"{row:0{LENGTH}}" for row in range(ROWS)], pa.large_string())
    columns = {
        "topic": [f"q{row // 1000}" for row in range(ROWS)],
        "document": ids.cast(getattr(pa, layout)()) if hasattr(pa, layout) else ids,
        "score": [float(-(row % 1000)) for row in range(ROWS)],
    }
    if layout == "polars":
        import polars

        return polars.from_arrow(pa.table(columns))
    if layout == "pandas":
        import pandas

        return pa.table(columns).to_pandas(types_mapper=pandas.ArrowDtype)
    return pa.table(columns)


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main(layout: str) -> None:
    frame = made(layout)
    qrels = cranfield.read_qrels({f"q{topic}": {f"{topic * 1000:0{LENGTH}}": 1} for topic in range(ROWS // 1000)})
    cranfield.evaluate(qrels, frame[:1000], "AP")  # loads all that is needed
    before = peak()
    score = cranfield.evaluate(qrels, frame, "AP").mean()["run"]["AP"]
    judged = peak()
    run = cranfield.read_run(frame)
    assert (score, len(run)) == (1.0, ROWS)
    print(json.dumps({"judged": judged - before, "kept": peak() - before, "text": ROWS * LENGTH}))


if __name__ == "__main__":
    main(sys.argv[1])
