"""What tests let other processes do. It loads nothing else: a process that is started anew must load all of it."""

from __future__ import annotations

import hashlib
import pickle
import sys

from cranfield import Policy, Qrels, Run, evaluate, read_qrels, read_run
from cranfield.judged import Judged


def scores(qrels: Qrels, run: Run, ties: str) -> bytes:
    """A few measures of a run, to the bit."""
    return evaluate(qrels, run, ["AP", "nDCG@10", "RR", "Bpref"], policy=Policy(ties=ties)).scores.tobytes()


def scored(qrels: Qrels, run: Run, judged: list[Judged]) -> tuple[bytes, bytes, bool, Run]:
    """What came of tables that have travelled, and one of them to be sent back."""
    one, other = judged
    return scores(qrels, run, "docid"), scores(qrels, run, "file"), one.pool is other.pool, run


def digests(qrels: str, run: str) -> list[str]:
    """Of the pickles of two files."""
    return [hashlib.sha256(pickle.dumps(table, 5)).hexdigest() for table in (read_qrels(qrels), read_run(run))]


if __name__ == "__main__":
    print(*digests(*sys.argv[1:]))
