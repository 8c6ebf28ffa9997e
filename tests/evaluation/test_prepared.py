"""Judgements that serve many evaluations: what is known of them is kept, is theirs alone, and goes with them."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import cranfield
from cranfield.judged import pool
from cranfield.measures import P, nDCG
from cranfield.policy import Policy

QRELS = {"1": {"a": 2, "b": 1, "c": 0}, "2": {"a": 1, "d": 3}}
RUNS = ({"1": {"b": 3.0, "a": 2.0}, "2": {"d": 1.0}}, {"1": {"c": 3.0, "x": 2.0}, "2": {"a": 2.0, "d": 1.0}})
MEASURES = [nDCG @ 2, nDCG(gain="exp"), P @ 1]


def test_the_same_judgements_give_what_fresh_ones_do() -> None:
    kept = cranfield.read_qrels(QRELS)
    for run in (*RUNS, *RUNS):
        assert cranfield.evaluate(kept, run, MEASURES).mean() == cranfield.evaluate(QRELS, run, MEASURES).mean()


def test_a_policy_leaves_nothing_behind() -> None:
    kept = cranfield.read_qrels(QRELS)
    for policy in (Policy(depth=1), Policy(judged_only=True), Policy(ties="expected"), Policy()):
        told = cranfield.evaluate(kept, RUNS[1], MEASURES, policy=policy).mean()
        assert told == cranfield.evaluate(QRELS, RUNS[1], MEASURES, policy=policy).mean()


def test_what_is_known_belongs_to_one_pool() -> None:
    one = pool(cranfield.read_qrels(QRELS))
    one.once("key", lambda: one.grades)
    other = replace(one, max_grade=9.0)
    assert other.once("key", lambda: other.grades * 2).tolist() == (one.grades * 2).tolist()


def test_it_goes_with_the_judgements() -> None:
    kept = cranfield.read_qrels(QRELS)
    known = weakref.ref(pool(kept))
    assert known() is pool(kept)
    del kept
    gc.collect()
    assert known() is None
