"""`results.plot.histogram(…)`: pictures as methods, which give Altair charts that show in notebooks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypedDict, Unpack, get_args

from cranfield.errors import UsageError
from cranfield.evaluation.results import Results
from cranfield.measures import Measure
from cranfield.plot.style import Chart
from cranfield.plot.subject import Parameters, Picture, Subject, Use, all_pictures, find_picture
from cranfield.render.escaping import drawable

Names: TypeAlias = str | Iterable[str | Measure] | None  # of measures or topics


class RunFacts(TypedDict, total=False):
    """What is known of runs besides their rankings."""

    costs: Mapping[str, float] | None
    cost_label: str
    parameters: Parameters | None
    along: str | None


class Look(RunFacts, total=False):
    """What may be chosen of a picture, besides what it is of."""

    theme: str
    baseline: str | None
    depth: int | None
    sort: bool
    highlight: tuple[str, ...]


class Choices(Look, total=False):
    """What may be chosen of a picture, with what it is of."""

    measures: Names
    topics: Names


@dataclass(frozen=True, eq=False)
class Plots:
    """Every kind of picture as a method: names with a dash are written with an underscore.

    A picture takes `measures` (by default the first that was evaluated), `topics`, `theme`, `baseline`, `depth`,
    `sort`, `costs`, `parameters` of the runs with the one to draw `along`, and `highlight` (runs to be named among
    many), as far as it uses them; what it has no use for is refused. `dir(results.plot)` has the kinds there are,
    `help(results.plot.forest)` says what one shows. Curves need all rows of the runs: where these were not kept, files
    are read again, if they are still the same.

    >>> import cranfield
    >>> qrels = {"1": {"d1": 1}, "2": {"d1": 1}}
    >>> results = cranfield.evaluate(qrels, {"a": {"1": {"d1": 1.0}}, "b": {"2": {"d1": 1.0}}}, "AP")
    >>> type(results.plot.histogram()).__name__
    'LayerChart'
    >>> "forest" in dir(results.plot)
    True
    """

    results: Results

    def __getattr__(self, name: str) -> Callable[..., Chart]:
        try:
            picture = find_picture(name.replace("_", "-"))
        except UsageError as error:
            raise AttributeError(str(error)) from None

        def draw(**chosen: Unpack[Choices]) -> Chart:
            return self._drawn(picture, **chosen)

        draw.__name__, draw.__doc__ = name, picture.shows
        return draw

    def __dir__(self) -> list[str]:
        return [picture.name.replace("-", "_") for picture in all_pictures()]

    def _drawn(self, picture: Picture, *, measures: Names = (), topics: Names = (), **chosen: Unpack[Look]) -> Chart:
        own = tuple(str(measure) for measure in self.results.measures)
        wanted, shown_topics = _names(measures), _names(topics)
        others = {name: name for name in chosen if name in get_args(Use)}
        picture.check_asked(wanted, shown_topics, others)
        default = picture.measures if picture.of_its_own or set(picture.measures) <= set(own) else own[:1]
        chart = picture.draw(
            Subject(
                experiment=self.results.experiment,
                measures=wanted or default,
                topics=shown_topics,
                evaluated=self.results,
                **chosen,
            )
        )
        specification = chart.to_dict(validate=False)  # tests see to it that charts are as they must be
        shown = drawable(specification)
        if shown == specification:
            return chart
        import altair as alt

        return alt.Chart.from_dict(shown)


def _names(names: Names) -> tuple[str, ...]:
    """One measure or topic, or several of them, as text."""
    return (names,) if isinstance(names, str) else tuple(str(name) for name in names or ())
