"""How much memory a run takes besides the frame that it is in: `python bench/frame_growth.py string|…|polars|pandas`

200,000 rows with ids of 500 bytes. Prints JSON: bytes of text, and by how much the peak of the process grows when the
frame is evaluated, and when it is read and its run is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import cranfield

ROWS, LENGTH = 200_000, 500


def made(layout: str) -> Any:
    # Without texts of Python's own, whose memory, free again, would hide what is taken later.
    ids = pc.utf8_lpad(pa.array(range(ROWS)).cast(pa.large_string()), LENGTH, "0")
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


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def peak() -> int:
    """Bytes at most since it was forgotten."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def main(layout: str) -> None:
    frame = made(layout)
    qrels = cranfield.read_qrels({f"q{topic}": {f"{topic * 1000:0{LENGTH}}": 1} for topic in range(ROWS // 1000)})
    cranfield.evaluate(qrels, frame[:1000], "AP")  # loads all that is needed
    forget_peak()
    before = peak()
    score = cranfield.evaluate(qrels, frame, "AP").mean()["run"]["AP"]
    judged = peak()
    run = cranfield.read_run(frame)
    assert (score, len(run)) == (1.0, ROWS)
    print(json.dumps({"judged": judged - before, "kept": peak() - before, "text": ROWS * LENGTH}))


if __name__ == "__main__":
    main(sys.argv[1])
