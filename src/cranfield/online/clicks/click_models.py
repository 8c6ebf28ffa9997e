"""What a click model is, and those there are: how users go down a page, and when they click.

To add a model, write a function of the log and decorate it with `@click_model`; it fits itself and gives `Behaviour`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cranfield._core import chain_chances
from cranfield.errors import UsageError
from cranfield.judged import Floats, Integers, Mask
from cranfield.online.clicks.impressions import ClickLog, check_same_length
from cranfield.registry import Entry, Parameter, Registry, described
from cranfield.tables import thread_count


class Prior(NamedTuple):
    """What every parameter is taken to have been seen doing before the log: so many times yes, so many times no.

    A parameter is then the mode of its posterior under a Beta(1 + yes, 1 + no) prior. With 0 and 0 it is what makes the
    log likeliest, and one half where the log says nothing.

    >>> Prior(1, 1).estimate(np.array([3.0, 0.0]), np.array([4.0, 0.0]))
    array([0.66666667, 0.5       ])
    """

    yes: float = 1.0
    no: float = 1.0

    def check(self) -> None:
        """That both are numbers from 0."""
        if not all(np.isfinite(count) and count >= 0 for count in self):
            raise UsageError(f"a prior is two numbers from 0, not {self.yes:g} and {self.no:g}")

    def estimate(self, yes: Floats, all: Floats) -> Floats:
        """The likeliest chances where something happened so many times of all times that it could."""
        times = all + self.yes + self.no
        chances = np.divide(yes + self.yes, times, out=np.full(np.shape(times), 0.5), where=times > 0)
        # Sums of shares may exceed the count that they are shares of by a last bit.
        return np.asarray(np.minimum(chances, 1.0))

    def log_density(self, chances: Floats) -> float:
        """The logarithm of the prior at these chances, without its constant."""
        total = 0.0
        with np.errstate(divide="ignore"):
            if self.yes:
                total += self.yes * float(np.log(chances).sum())
            if self.no:
                total += self.no * float(np.log1p(-chances).sum())
        return total


class Convergence(NamedTuple):
    """How a fit ended: the objective (log-likelihood plus logarithm of the prior) after each step, and whether it had
    stopped rising. A closed form takes no steps.
    """

    objective: tuple[float, ...] = ()
    converged: bool = True

    @property
    def steps(self) -> int:
        """How many steps it took."""
        return max(len(self.objective) - 1, 0)


class Behaviour(NamedTuple):
    """The parameters of a model: what attracts on a page, and how users go down it.

    `attraction` of each pair is the chance of a click where it is examined. With `examination`, each rank is examined
    with a chance of its own. Without, users start at the top; after a click they are satisfied, and leave, with the
    chance `satisfaction` (of each pair, or of each rank with `by_rank`); otherwise they go on with the chance `onward`.
    `examined` is how often each pair was, as far as can be told.
    """

    attraction: Floats
    satisfaction: Floats
    examined: Floats
    convergence: Convergence
    onward: float = 1.0
    by_rank: bool = False
    examination: Floats | None = None

    def chances(self, log: ClickLog, threads: int | None = None) -> tuple[Floats, Floats]:
        """For each slot the chance of a click given the clicks above it on its page, and given nothing.

        >>> from cranfield.online.clicks.impressions import Impression, click_log
        >>> log = click_log([Impression("q", ["a", "b"], ["a"])])
        >>> user = Behaviour(np.array([0.5, 0.4]), np.array([0.6, 0.5]), np.ones(2), Convergence(), onward=0.9)
        >>> [chances.round(3).tolist() for chances in user.chances(log)]
        [[0.5, 0.144], [0.5, 0.252]]
        """
        if self.examination is not None:
            alone = self.examination[log.rank] * self.attraction[log.pair]
            return alone, alone
        return chain_chances(
            *arrays(log, np.ones(log.pages)),
            self.attraction,
            self.satisfaction,
            self.by_rank,
            self.onward,
            thread_count(threads),
        )


def arrays(log: ClickLog, weight: Floats) -> tuple[Integers, Integers, Mask, Floats, Integers, Integers]:
    """A log as the core takes it."""
    check_same_length(log, weight)
    return log.offsets, log.pair, log.clicked, weight, log.query_pages, log.query_pairs


class ClickTraining(NamedTuple):
    """What a model is fitted to and how: each page counts as often as its weight says.

    Steps end when the objective rises by less than `tolerance` a page, or after `most` of them. `start` is where to
    begin, if a fit like it is there already.
    """

    log: ClickLog
    weight: Floats
    prior: Prior = Prior()
    tolerance: float = 1e-8
    most: int = 2000
    threads: int | None = None
    start: Behaviour | None = None


class ClickModel(Entry[Callable[..., Behaviour]]):
    """A model under its name, with the values of its parameters.

    >>> str(find_click_model("DBN(gamma=1)")), find_click_model("dbn").title
    ('DBN(gamma=1)', 'dynamic Bayesian network')
    """

    title: str
    satisfies: bool = False  # whether it knows of each document how far it satisfies
    several: bool = True  # whether it has a chance for pages with several clicks

    @property
    def says(self) -> str:
        """How users behave by it: the first paragraph of the docstring."""
        return " ".join(self.help.split("\n\n")[0].split())

    def relevance(self, behaviour: Behaviour) -> Floats:
        """What each pair is worth: its attraction, times its satisfaction where the model knows that."""
        if not self.satisfies:
            return behaviour.attraction
        return behaviour.attraction * behaviour.satisfaction


CLICK_MODELS: Registry[ClickModel] = Registry(
    "click model",
    group="cranfield.click_models",
    package="cranfield.online.clicks",
    decorator="click_model",
    order=("positions", "chains"),
)


def click_model(
    *, title: str, satisfies: bool = False, several: bool = True, aliases: tuple[str, ...] = (), **own: Parameter
) -> Callable[[Callable[..., Behaviour]], Callable[..., Behaviour]]:
    """Registers a model under the name of its function."""

    def register(function: Callable[..., Behaviour]) -> Callable[..., Behaviour]:
        parameters = described(function, "click_model", own)
        name = function.__name__
        CLICK_MODELS.add(
            ClickModel(
                name=name,
                function=function,
                aliases=(name.lower(), *aliases),
                parameters=parameters,
                title=title,
                satisfies=satisfies,
                several=several,
            )
        )
        return function

    return register


def find_click_model(model: str | ClickModel) -> ClickModel:
    """A model by its name, with its parameters: DBN, DBN(gamma=0.9).

    >>> find_click_model("SDBN").satisfies
    True
    """
    return model if isinstance(model, ClickModel) else CLICK_MODELS.find(model)
