"""`results.plot.histogram(…)`: pictures as methods, which give Altair charts that show in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cranfield.errors import UsageError
from cranfield.evaluation.results import Results
from cranfield.plot.style import altair
from cranfield.plot.subject import Picture, Subject, all_pictures, find_picture
from cranfield.render.escaping import drawable


@dataclass(frozen=True, eq=False)
class Plots:
    """Every kind of picture as a method: names with a dash are written with an underscore.

    A picture takes `measures` (by default the first that was evaluated), `topics`, `theme`, `baseline`, `depth`, `sort`
    and `costs`, as far as it needs them. `dir(results.plot)` has the kinds there are, `help(results.plot.forest)` says
    what one shows. Curves need all rows of the runs: where these were not kept, files are read again, if they are still
    the same.

    >>> import cranfield
    >>> qrels = {"1": {"d1": 1}, "2": {"d1": 1}}
    >>> results = cranfield.evaluate(qrels, {"a": {"1": {"d1": 1.0}}, "b": {"2": {"d1": 1.0}}}, "AP")
    >>> type(results.plot.histogram()).__name__
    'LayerChart'
    >>> "forest" in dir(results.plot)
    True
    """

    results: Results

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            picture = find_picture(name.replace("_", "-"))
        except UsageError as error:
            raise AttributeError(str(error)) from None

        def draw(**chosen: Any) -> Any:
            return self._drawn(picture, **chosen)

        draw.__name__, draw.__doc__ = name, picture.shows
        return draw

    def __dir__(self) -> list[str]:
        return [picture.name.replace("-", "_") for picture in all_pictures()]

    def _drawn(self, picture: Picture, **chosen: Any) -> Any:
        own = tuple(str(measure) for measure in self.results.measures)
        measures, topics = _names(chosen.pop("measures", ())), _names(chosen.pop("topics", ()))
        picture.check_asked(measures, topics)
        default = picture.measures if picture.of_its_own or set(picture.measures) <= set(own) else own[:1]
        chart = picture.draw(
            Subject(
                experiment=self.results.experiment,
                measures=measures or default,
                topics=topics,
                evaluated=self.results,
                **chosen,
            )
        )
        given = chart.to_dict()
        shown = drawable(given)
        return chart if shown == given else altair().Chart.from_dict(shown)


def _names(given: Any) -> tuple[str, ...]:
    """One measure or topic, or several of them, as text."""
    return (given,) if isinstance(given, str) else tuple(str(one) for one in given or ())
