"""The effect after stopping: as often too large as too small, intervals that hold, and agreement with the limits."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cranfield.errors import UsageError
from cranfield.statistics.after_stopping import after_stopping, repeated_interval
from cranfield.statistics.group_sequential import SequentialDesign
from simulate import band

BOUNDARY = SequentialDesign("lan-demets-pocock").boundary([0.2, 0.5, 1.0])
ONE_SIDED = SequentialDesign("obrien-fleming", alpha=0.025, sides=1).boundary([0.5, 1.0])


@pytest.mark.parametrize("drift", [0.0, 1.5, 3.0, -2.0])
def test_estimates_and_intervals_hold_by_simulation(drift: float) -> None:
    random, sets = np.random.default_rng(21), 150
    times = BOUNDARY.information
    z = (random.standard_normal((sets, 3)) * np.sqrt(np.diff(times, prepend=0))).cumsum(axis=1) / np.sqrt(times)
    z += drift * np.sqrt(times)
    crossed = np.abs(z) >= BOUNDARY.upper
    looks = np.where(crossed.any(axis=1), crossed.argmax(axis=1), 2)
    above, held, rejected = 0, 0, 0
    for path, look in zip(z, looks.tolist(), strict=True):
        error = 1 / sqrt(times[look])  # so that the true effect is the drift
        found = after_stopping(BOUNDARY, look, path[look] * error, error)
        above += found.estimate > drift
        held += found.low <= drift <= found.high
        rejected += found.p < 0.05
        assert (found.p < 0.05) == (abs(path[look]) >= BOUNDARY.upper[look])
        assert (found.low > 0 or found.high < 0) == (found.p < 0.05)
    assert above / sets == pytest.approx(0.5, abs=band(0.5, sets))
    assert held / sets == pytest.approx(0.95, abs=band(0.05, sets))
    if drift == 0:
        assert rejected / sets == pytest.approx(0.05, abs=band(0.05, sets))


def test_the_plain_estimate_is_too_large() -> None:
    """What is corrected: of experiments that stopped early the plain mean is off, the corrected one less so."""
    random, sets = np.random.default_rng(3), 150
    times = BOUNDARY.information
    z = (random.standard_normal((sets, 3)) * np.sqrt(np.diff(times, prepend=0))).cumsum(axis=1) / np.sqrt(times)
    z += 2.0 * np.sqrt(times)
    crossed = np.abs(z) >= BOUNDARY.upper
    looks = np.where(crossed.any(axis=1), crossed.argmax(axis=1), 2)
    found = [
        after_stopping(BOUNDARY, look, path[look] / sqrt(times[look]), 1 / sqrt(times[look]))
        for path, look in zip(z, looks.tolist(), strict=True)
    ]
    plain, corrected = (np.array([getattr(one, name) for one in found]) for name in ("plain", "estimate"))
    assert np.mean(plain) > 2.2
    assert np.mean(plain > 2.0) > 0.53
    assert abs(np.mean(corrected) - 2.0) < np.mean(plain) - 2.0


def test_a_stop_at_the_first_look_is_plain() -> None:
    found = after_stopping(BOUNDARY, 0, 0.5, 0.1)
    half = stats.norm.isf(0.025) * 0.1
    assert (found.estimate, found.low, found.high) == pytest.approx((0.5, 0.5 - half, 0.5 + half), abs=1e-9)
    assert found.p == pytest.approx(2 * stats.norm.sf(5), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.floats(0.05, 6), st.integers(1, 2))
def test_gains_and_losses_mirror(z: float, look: int) -> None:
    if look == 1 and not BOUNDARY.crossed(1, z):
        z += float(BOUNDARY.upper[1])
    gain, loss = (after_stopping(BOUNDARY, look, sign * z * 0.2, 0.2) for sign in (1, -1))
    assert (loss.estimate, loss.low, loss.high) == pytest.approx((-gain.estimate, -gain.high, -gain.low), abs=1e-7)
    assert loss.p == pytest.approx(gain.p, abs=1e-9)


def test_a_larger_z_is_a_larger_effect_and_an_earlier_stop_is_stronger() -> None:
    estimates = [after_stopping(BOUNDARY, 2, z, 1.0).estimate for z in (-3, -1, 0, 1, 2, 3, 6)]
    assert (np.diff(estimates) > 0).all()
    limits = [after_stopping(BOUNDARY, look, float(BOUNDARY.upper[look]), 1.0).p for look in range(3)]
    assert limits == pytest.approx(BOUNDARY.spent.tolist(), abs=1e-8)


def test_one_sided_designs_have_one_sided_answers() -> None:
    found = after_stopping(ONE_SIDED, 1, float(ONE_SIDED.upper[1]) * 0.1, 0.1)
    assert found.p == pytest.approx(0.025, abs=1e-8)
    assert found.low == pytest.approx(0, abs=1e-7)
    assert found.high == inf
    assert after_stopping(ONE_SIDED, 1, -0.5, 0.1).p > 0.99


def test_repeated_intervals_hold_at_all_looks_together() -> None:
    random, sets, drift = np.random.default_rng(2), 20_000, 1.2
    times = BOUNDARY.information
    z = (random.standard_normal((sets, 3)) * np.sqrt(np.diff(times, prepend=0))).cumsum(axis=1) / np.sqrt(times)
    effects = z / np.sqrt(times) + drift
    held = np.ones(sets, dtype=bool)
    for look in range(3):
        half = (repeated_interval(BOUNDARY, look, 0.0, 1 / sqrt(times[look]))).high
        held &= np.abs(effects[:, look] - drift) <= half
    assert held.mean() == pytest.approx(0.95, abs=band(0.05, sets))
    assert repeated_interval(ONE_SIDED, 0, 0.3, 0.1).high == inf


def test_an_experiment_that_goes_on_has_not_stopped() -> None:
    with pytest.raises(UsageError, match=r"z = 1 has not crossed its limit 2\.438 at look 1, and looks follow"):
        after_stopping(BOUNDARY, 0, 0.1, 0.1)
    with pytest.raises(UsageError, match="none of the number 3"):
        after_stopping(BOUNDARY, 3, 0.1, 0.1)
    with pytest.raises(UsageError, match="none of the number -1"):
        repeated_interval(BOUNDARY, -1, 0.1, 0.1)
    for error in (0.0, float("nan")):
        with pytest.raises(UsageError, match="standard error must be above 0"):
            after_stopping(BOUNDARY, 2, 0.1, error)
    with pytest.raises(UsageError, match="confidence must be between 0 and 1"):
        after_stopping(BOUNDARY, 2, 0.1, 0.1, confidence=95)
