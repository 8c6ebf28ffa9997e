"""Which test decides? One rule, here alone, for every p-value that is compared with a level.

Unless a test is asked for, the paired t test decides, but the exact randomisation test does for a pair of systems that
differ on fewer than `FEW_CHANGED` topics: there the mean of the differences is far from normal, and t intervals cover
too little (0.52, 0.79 and 0.86 instead of 0.95 on 10, 25 and 50 topics of which 8 % change). What the rule looks at is
the size of differences and not their sign, so that under the null hypothesis of the randomisation test looking does no
harm. A test that is asked for decides. Wherever the deciding test is undefined, as t is for differences that do not
vary, the randomisation test decides in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from cranfield.statistics.differences import win_tie_loss
from cranfield.statistics.independent import exchanged
from cranfield.statistics.randomised import randomisation
from cranfield.statistics.significance import Floats, Integers, Kind, Outcome, Sampling

FEW_CHANGED = 25  # topics on which two systems must differ for t to decide
T, RANDOMISATION = "t", "randomisation"
BY_RULE = (T, RANDOMISATION)  # the tests made where none is asked for


class Decision(NamedTuple):
    """For each pair the p-value that decides, its standard error where it was drawn, and the test it is of."""

    p: Floats
    error: Floats
    by: tuple[str, ...]

    def of(self, kept: Integers) -> Decision:
        """The decisions of some of the pairs."""
        return Decision(self.p[kept], self.error[kept], tuple(self.by[k] for k in kept.tolist()))

    @property
    def by_randomisation(self) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        """Where the randomisation test decides."""
        return np.array([name == RANDOMISATION for name in self.by], dtype=bool)


def decide(
    scores: Floats,
    pairs: Integers,
    outcomes: Mapping[str, Outcome],
    sampling: Sampling,
    *,
    by_rule: bool = True,
    kind: Kind = "paired",
) -> Decision:
    """The deciding p-value of each pair, from the outcomes of tests by name, the first of which is the one asked for.

    `by_rule` where none was asked for: the outcomes are then those of t and randomisation. `kind` is that of the first.

    >>> scores = np.array([[0.4, 0.5, 0.3, 0.6], [0.3, 0.3, 0.3, 0.2], [0.2, 0.2, 0.2, 0.1]])
    >>> pairs = np.array([[0, 1], [1, 2]])
    >>> from cranfield.statistics.paired import t
    >>> outcomes = {"t": t(scores, pairs, Sampling()), "randomisation": randomisation(scores, pairs, Sampling())}
    >>> decide(scores, pairs, outcomes, Sampling())[::2]
    (array([0.25 , 0.125]), ('randomisation', 'randomisation'))
    >>> decide(scores, pairs, outcomes, Sampling(), by_rule=False).by
    ('t', 'randomisation')
    """
    first_test = next(iter(outcomes))
    p, error = (column.copy() for column in outcomes[first_test][1:3])
    instead = np.isnan(p)
    if by_rule:
        instead |= changed(scores, pairs) < FEW_CHANGED
    if instead.any():
        p[instead], error[instead] = _randomised(scores, pairs[instead], sampling, kind)
        if kind == "family":  # which corrects for all pairs itself
            p = np.where(instead, np.minimum(p * len(pairs), 1.0), p)
    return Decision(p, error, tuple(RANDOMISATION if replaced else first_test for replaced in instead.tolist()))


def changed(scores: Floats, pairs: Integers) -> Integers:
    """For each pair on how many topics its systems differ.

    >>> changed(np.array([[0.3, 0.2, 0.1], [0.2, 0.2, 0.3]]), np.array([[0, 1]]))
    array([2])
    """
    counts = win_tie_loss(scores, pairs)
    return np.asarray(counts.wins + counts.losses)


def _randomised(scores: Floats, pairs: Integers, sampling: Sampling, kind: Kind) -> tuple[Floats, Floats]:
    if kind == "independent":
        return exchanged(scores, pairs), np.zeros(len(pairs))
    return randomisation(scores, pairs, sampling)[1:3]
