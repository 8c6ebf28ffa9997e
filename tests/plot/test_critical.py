"""The critical-difference diagram where some of its systems are not shown: nothing of theirs is left behind."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
import vl_convert

from cranfield.comparison.standing import level_groups, mean_ranks
from cranfield.evaluation.experiment import Experiment
from cranfield.plot.critical import FIRST_BAR
from cranfield.plot.style import INK, Chart, find_theme
from cranfield.plot.subject import Subject, find_picture
from noisy import QRELS, system
from scene import marks, written
from svg_texts import Drawing, read_drawing

RUNS = {f"s{number:02}": system(0.2 * number, number) for number in range(10)}
MANY = {f"s{number:02}": system(0.1 * number, number) for number in range(20)}
ROW = find_theme("screen").font + 6


def only(part: Any, shown: Sequence[str]) -> Any:
    """A specification as the page fills it: with the rows of some systems."""
    if isinstance(part, dict):
        return {name: only(item, shown) for name, item in part.items()}
    if not isinstance(part, list):
        return part
    return [only(item, shown) for item in part if not isinstance(item, dict) or item.get("system", shown[0]) in shown]


def diagram(runs: dict[str, Any], theme: str = "screen") -> Chart:
    subject = Subject(experiment=Experiment(QRELS, runs), measures=("AP",), theme=theme)
    return find_picture("critical-difference").draw(subject)


def drawing(*shown: str, runs: dict[str, Any] = RUNS) -> Drawing:
    spec = diagram(runs).to_dict(validate=False)
    return read_drawing(vl_convert.vegalite_to_svg(only(spec, shown or list(runs))))


def names(of: Drawing) -> dict[str, float]:
    """Each name, with how far down it stands."""
    return {text.text.split()[0]: text.top for text in of.texts if text.text[0] == "s" and text.text[1:3].isdigit()}


def test_all_systems_are_named_in_rows_below_the_bars() -> None:
    assert names(drawing()).keys() == RUNS.keys()


def test_of_some_systems_nothing_is_left_blank() -> None:
    whole, far, near = drawing(), drawing("s09", "s00"), drawing("s09", "s08", "s00")
    assert names(far).keys() == {"s09", "s00"}
    assert far.height < whole.height - 3 * ROW
    assert near.height == far.height + ROW + 7  # a row of names, and a bar between two that are level
    axis = min(text.top for text in far.texts if text.text in ("2", "9"))
    assert FIRST_BAR < names(far)["s09"] - axis < FIRST_BAR + 2 * ROW


@pytest.mark.parametrize("theme", ["screen", "paper"])
def test_each_of_many_systems_has_a_row_with_its_rank_and_the_axis_goes_where_they_are(theme: str) -> None:
    chart = diagram(MANY, theme)
    labels = {mark["text"]: mark["y"] for mark in marks(chart, "text", "axis-label")}
    dots = [mark for mark in marks(chart, "symbol") if mark["fill"] != INK]
    assert MANY.keys() <= labels.keys()
    assert len(dots) == len(MANY)
    assert len({mark["y"] for mark in dots}) == len(MANY)
    across = [mark["x"] for mark in dots]
    width = find_theme(theme).width_beside(60)
    assert max(across) - min(across) > 0.5 * width  # and not a part of the ranks from 1 to 20


def test_bars_join_the_rows_of_groups_and_stand_apart() -> None:
    comparison = Subject(experiment=Experiment(QRELS, MANY), measures=("AP",)).comparison
    panel = comparison.panels[0]
    order = sorted(range(len(MANY)), key=lambda i: float(mean_ranks(panel)[i]))
    groups = sorted(len(members) for members in level_groups(comparison, panel, order) if len(members) > 1)
    members: dict[float, list[float]] = {}
    chart = diagram(MANY)
    for mark in marks(chart, "symbol"):
        if mark["fill"] == INK:
            members.setdefault(mark["x"], []).append(mark["y"])
    assert sum(map(len, members.values())) == sum(groups)
    lanes = sorted(members)
    assert all(right - left > 6 for left, right in pairwise(lanes))
    for rows in members.values():  # no system is in two bars of one lane
        assert len(set(rows)) == len(rows)


def test_rows_of_systems_that_are_not_shown_leave_nothing_behind() -> None:
    some = [f"s{number:02}" for number in range(8)]
    whole, part = drawing(runs=MANY), drawing(*some, runs=MANY)
    assert names(part).keys() == set(some)
    assert part.height < whole.height - 10 * ROW


def test_long_names_on_paper_have_rows_of_their_own() -> None:
    runs = {f"a system with quite a long name, {number}": run for number, run in enumerate(RUNS.values())}
    assert not any("long" in text for text in written(diagram(runs, "paper")))  # they are labels of an axis
    assert any("long" in text for text in written(diagram(runs)))
