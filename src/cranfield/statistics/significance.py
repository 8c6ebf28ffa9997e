"""What a test of significance is: scores of systems on the same topics in, a p-value for each pair of systems out.

To add a test, write a function and decorate it with `@significance_test`: the command line, the help and the
simulations that hold for every test read the registry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.registry import Entry, Parameter, Registry, described

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Kind = Literal["paired", "family", "independent"]


@dataclass(frozen=True)
class Sampling:
    """How tests that draw random numbers draw them; the same seed gives the same p-values on any number of threads."""

    seed: int = 0
    resamples: int = 100_000
    threads: int | None = None


class Outcome(NamedTuple):
    """What a test found, an entry a pair: its statistic, the two-sided p-value, and how sure that p-value is.

    p is NaN where the test has no answer: it is undefined there, not 1. `error` is the standard error of p where orders
    were drawn at random, 0 where p is exact. `notes` are sentences about the data that a reader of the p-value must
    know, such as how many differences are tied.
    """

    statistic: Floats
    p: Floats
    error: Floats
    notes: tuple[str, ...] = ()


class TestsPairs(Protocol):
    """Tests the pairs (i, j) of systems, rows of `pairs`, on scores[system, topic]; what is tested is i minus j."""

    def __call__(self, scores: Floats, pairs: Integers, sampling: Sampling) -> Outcome: ...


HalfWidth: TypeAlias = "Callable[[Floats, Integers, float, Sampling], Floats]"  # of scores, pairs, level, sampling
Side: TypeAlias = "Callable[[Floats, Outcome], float]"  # of the scores of two systems and what came of the test


class SignificanceTest(Entry[TestsPairs]):
    """A test with its null hypothesis in words.

    `kind` says what the test may be used for: "paired" tests take systems scored on the same topics, one pair at a
    time; "family" tests take them all together, and their p-values are already corrected for all pairs; "independent"
    tests are for scores on different topics and are refused for shared ones. `about_mean` says whether its null
    hypothesis is about the mean difference, `fragile` that it takes the mean of a few differences for normal.
    `half_width` gives half the width of its intervals of the mean difference, where it has symmetric ones. `side` is
    above zero where a pair's first system is ahead by the test's own account; half its p is one-sided then.
    """

    title: str
    null: str
    kind: Kind = "paired"
    about_mean: bool = True
    fragile: bool = False
    half_width: HalfWidth | None = None
    side: Side | None = None

    @property
    def named(self) -> str:
        """The test in a sentence.

        >>> find_test("t").named, find_test("tukey").named
        ('the paired t test', "Tukey's HSD")
        """
        return self.title if "'s " in self.title else f"the {self.title}"


TESTS: Registry[SignificanceTest] = Registry(
    "test",
    group="cranfield.tests",
    package="cranfield.statistics",
    decorator="significance_test",
    order=("paired", "randomised", "families", "independent"),
)


def significance_test(
    name: str,
    *,
    title: str,
    null: str,
    kind: Kind = "paired",
    about_mean: bool = True,
    fragile: bool = False,
    half_width: HalfWidth | None = None,
    side: Side | None = None,
    **parameters: Parameter,
) -> Callable[[TestsPairs], TestsPairs]:
    """Registers a function as a test of significance; its other keywords are its parameters."""

    def register(function: TestsPairs) -> TestsPairs:
        entry = SignificanceTest(
            name=name,
            title=title,
            null=null,
            kind=kind,
            about_mean=about_mean,
            fragile=fragile,
            half_width=half_width,
            side=side,
            function=function,
            parameters=described(function, "significance_test", parameters),
        )
        TESTS.add(entry)
        return function

    return register


def all_tests() -> tuple[SignificanceTest, ...]:
    """Every registered test, in the order of the help, whichever module was loaded first."""
    return TESTS.all()


def find_test(name: str) -> SignificanceTest:
    """The test of a name."""
    return TESTS.find(name)


def all_pairs(systems: int) -> Integers:
    """Every pair of systems, each once.

    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return np.stack(np.triu_indices(systems, 1), axis=1).astype(np.int64)


def against(baseline: int, systems: int) -> Integers:
    """Every other system against one.

    >>> against(1, 3).tolist()
    [[0, 1], [2, 1]]
    """
    others = [system for system in range(systems) if system != baseline]
    return np.array([(other, baseline) for other in others], dtype=np.int64).reshape(-1, 2)


def differences(scores: Floats, pairs: Integers) -> Floats:
    """For each pair its difference on each topic."""
    return scores[pairs[:, 0]] - scores[pairs[:, 1]]
