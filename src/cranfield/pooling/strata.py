"""Stratified sampling: the top of the pool whole, and lots drawn below, with the chance of each document kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers, Mask
from cranfield.pooling.candidates import Candidates
from cranfield.pooling.strategy import pooling_method

_STRATUM = re.compile(r"\s*([0-9]+)\s*[:=]\s*([0-9]*\.?[0-9]+)\s*(%?)\s*")


class Stratum(NamedTuple):
    """Documents whose best rank is at most `depth` and below the stratum before, and the share of them to judge."""

    depth: int
    share: float


STRATA = (Stratum(10, 1.0), Stratum(100, 0.1))


class Sample(NamedTuple):
    """For each candidate its stratum from 1, whether it was drawn, and the chance it had."""

    stratum: Integers
    drawn: Mask
    chance: Floats


@pooling_method("stratified", title="stratified sampling", kind="sample")
def stratified(candidates: Candidates, rng: np.random.Generator, strata: Sequence[Stratum] = STRATA) -> Sample:
    """Documents are put into strata by their best rank in any run, and of each stratum a share is drawn without
    replacement (as in the TREC tracks that are evaluated with statAP and xinfAP). At least one is drawn of each, and
    the chance is the share that really was.

    >>> from cranfield.pooling.candidates import pooled_runs
    >>> found = pooled_runs({"a": {"q": {f"d{i}": -i for i in range(9)}}}).of("q")
    >>> sample = stratified(found, found.generator(0), strata=[Stratum(1, 1.0), Stratum(9, 0.25)])
    >>> sample.stratum.tolist(), sample.drawn.sum(), sample.chance[:2].tolist()
    ([1, 2, 2, 2, 2, 2, 2, 2, 2], np.int64(3), [1.0, 0.25])
    """
    depths = np.array([stratum.depth for stratum in strata])
    stratum = np.searchsorted(depths, candidates.best_rank) + 1
    drawn = np.zeros(len(stratum), dtype=bool)
    chance = np.zeros(len(stratum))
    for number, (_, share) in enumerate(strata, start=1):
        members = np.flatnonzero(stratum == number)
        count = ceil(round(share * len(members), 9))  # 0.1 × 30 is a little more than 3
        drawn[rng.permutation(members)[:count]] = True
        chance[members] = count / max(len(members), 1)
    return Sample(stratum, drawn, chance)


def parse_strata(text: str) -> tuple[Stratum, ...]:
    """Strata as they are written: the depth of each, and its share as a number or in percent.

    >>> parse_strata("10:1, 100:10%")
    (Stratum(depth=10, share=1.0), Stratum(depth=100, share=0.1))
    """
    strata = []
    for part in text.split(","):
        match = _STRATUM.fullmatch(part)
        share = float(match[2]) / (100 if match[3] else 1) if match else 0.0
        if match is None or not 0 < share <= 1:
            raise UsageError(f"'{part}' is not a stratum: write depth:share, as in 10:1,100:10%, shares up to 1")
        strata.append(Stratum(int(match[1]), share))
    return checked(strata)


def checked(strata: Sequence[Stratum]) -> tuple[Stratum, ...]:
    """The strata, if each is deeper than the one before."""
    depths = [0, *(stratum.depth for stratum in strata)]
    if len(depths) < 2 or any(below <= above for above, below in pairwise(depths)):
        raise UsageError("every stratum must go deeper than the one before, as in 10:1,100:10%")
    return tuple(strata)
