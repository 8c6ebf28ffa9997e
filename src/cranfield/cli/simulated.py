"""Options of commands that simulate users, and the runs these are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.formats.reading import Reading
    from cranfield.online.users import JudgedRankings, Population, UserModel

Command = TypeVar("Command", bound=Callable[..., Any])
BEHAVIOURS = ("navigational", "informational", "perfect", "almost-random", "random")
ACTIVITIES = ("geometric", "zipf")

_BEHAVING = (
    click.option(
        "--behaviour",
        type=click.Choice(BEHAVIOURS),
        default=BEHAVIOURS[0],
        show_default=True,
        help="What they click, by relevance, and whether they stop then: docs/online-users.md has the tables.",
    ),
    click.option(
        "--rel",
        type=float,
        help="Grades from here on are relevant, others not. [default: all grades, where there are several above 0]",
    ),
    click.option("--depth", type=click.IntRange(1), default=10, show_default=True, help="Documents shown, at most."),
    click.option("--patience", type=click.IntRange(1), help="They stop after so many documents without a click."),
    click.option("--satisfied", type=click.IntRange(1), help="They stop after so many relevant documents."),
    click.option(
        "--taste",
        type=click.FloatRange(0),
        default=0.5,
        show_default=True,
        help="How much users differ in clicking at all: standard deviation of the logit.",
    ),
    click.option(
        "--leaning",
        type=click.FloatRange(0),
        default=0.0,
        show_default=True,
        help="How much users differ in what they think of a document: standard deviation of the logit.",
    ),
)
_COMING = (
    click.option("--users", type=click.IntRange(1), default=1000, show_default=True, help="How many come."),
    click.option("--days", type=click.IntRange(1, 1000), default=14, show_default=True, help="Within so many days."),
    click.option(
        "--activity",
        type=click.Choice(ACTIVITIES),
        default=ACTIVITIES[0],
        show_default=True,
        help="geometric: users come about equally often; zipf: few come often, most once.",
    ),
    click.option(
        "--sessions", type=click.FloatRange(1), default=3.0, show_default=True, help="Sessions of a user, on average."
    ),
    click.option(
        "--queries", type=click.FloatRange(1), default=1.5, show_default=True, help="Queries of a session, on average."
    ),
    click.option(
        "--popularity",
        type=click.FloatRange(0),
        default=0.0,
        show_default=True,
        help="The r-th topic is asked with a chance of 1 / r^POPULARITY.",
    ),
    click.option(
        "--bots",
        type=click.FloatRange(0, 1, max_open=True),
        default=0.0,
        show_default=True,
        help="Share of users that are machines, marked as such.",
    ),
)
SEED = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same users."
)


class Users(NamedTuple):
    """Who is simulated: how they search, and, where that is asked, who comes how often."""

    model: UserModel
    population: Population | None
    seed: int


def users(*, coming: bool) -> Callable[[Command], Command]:
    """Options about users, given to the command as `users`; `coming` says whether they come on days, in sessions."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def called(*arguments: Any, **given: Any) -> Any:
            from cranfield.online.users import Population, UserModel

            names = ("behaviour", "rel", "depth", "patience", "satisfied", "taste", "leaning")
            own = {name: given.pop(name) for name in names}
            model = UserModel(satisfied_after=own.pop("satisfied"), **own)
            seed = given.pop("seed")
            population = None
            if coming:
                named = ("users", "days", "activity", "sessions", "queries", "popularity", "bots")
                population = Population(**{name: given.pop(name) for name in named}, seed=seed)
            return command(*arguments, users=Users(model, population, seed), **given)

        made: Any = called
        for option in reversed((*(_COMING if coming else ()), *_BEHAVING, SEED)):
            made = option(made)
        return made  # type: ignore[no-any-return]

    return decorate


def judged_rankings(qrels: str, runs: Sequence[str], model: UserModel, reading: Reading) -> JudgedRankings:
    """What the runs show, for the topics that are judged."""
    from cranfield.formats import distinct_names, read_qrels, read_run, stem
    from cranfield.online.users import JudgedRankings

    if len(runs) < 2:
        raise UsageError("give two runs or more: what users do is compared")
    names = distinct_names([(stem(run), run) for run in runs])
    judged = read_qrels(qrels, reading=reading)
    tables = [read_run(run, reading=reading) for run in runs]
    return JudgedRankings.of(judged, tables, names, depth=model.depth, rel=model.rel)
