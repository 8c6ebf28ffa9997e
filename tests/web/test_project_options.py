"""Options of projects: every wrong one is refused by its name, and JSON says all of them both ways."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from cranfield.errors import DataError
from cranfield.pooling.candidates import Share
from cranfield.pooling.strategy import all_methods
from cranfield.web.projects.options import WORDS, ProjectOptions, method_choices, options_of_form

SAID = [
    {},
    {"method": "rrf(k=10)", "budget": 50, "wanted": 2, "overlap": 0.25, "owned": True, "repeats": 0},
    {"method": "cal", "sample": 0.2, "batch": 5, "lease_minutes": 2.5, "seed": 9, "calibration": 3},
    {"method": "stratified", "strata": "10:1,50:20%"},
    {"method": "plan", "plan": {"a run": [10, 1], "b": [5, 2]}},
]


@pytest.mark.parametrize("said", SAID)
def test_json_both_ways(said: dict[str, Any]) -> None:
    options = ProjectOptions.from_json(said)
    written = options.to_json()
    assert ProjectOptions.from_json(written) == options
    assert {name: written[name] for name in said} == said
    assert set(written) == {option.name for option in fields(ProjectOptions)}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([], "options are an object"),
        ({"dept": 1}, "a project has no option dept"),
        ({"method": "os.system"}, "there is no pooling method 'os.system'"),
        ({"method": "rrf(k=x)"}, "rrf"),
        ({"method": 1}, "method is the name of a pooling method, not 1"),
        ({"depth": 0}, "depth is a whole number from 1 to 10,000, not 0"),
        ({"depth": True}, "depth is a whole number from 1 to 10,000, not True"),
        ({"depth": None}, "depth is a whole number"),
        ({"depth": 1.5}, "depth is a whole number"),
        ({"budget": 0}, "budget is a whole number from 1"),
        ({"wanted": 0}, "wanted is a whole number from 1 to 20"),
        ({"overlap": 1.01}, "overlap is a share from 0 to 1"),
        ({"overlap": float("nan")}, "overlap is a share from 0 to 1"),
        ({"repeats": -0.1}, "repeats is a share from 0 to 1"),
        ({"sample": 0.5}, "a probability sample beside what is asked is for methods that learn, not depth"),
        ({"calibration": -1}, "calibration is a whole number from 0"),
        ({"batch": 0}, "batch is a whole number from 1"),
        ({"seed": -1}, "seed is a whole number from 0"),
        ({"owned": "yes"}, "owned is true or false, not 'yes'"),
        ({"lease_minutes": 0}, "lease_minutes is a number of minutes up to 1440, not 0"),
        ({"lease_minutes": float("inf")}, "lease_minutes is a number of minutes"),
        ({"strata": "10:1"}, "strata are for stratified sampling, not for depth"),
        ({"method": "stratified", "strata": "10"}, "'10' is not a stratum"),
        ({"method": "stratified", "budget": 5}, "the strata of stratified say how deep and how many"),
        ({"method": "plan"}, "the method plan and a plan"),
        ({"plan": {"a": [1, 1]}}, "the method plan and a plan"),
        ({"method": "plan", "plan": {"a": [1]}}, "the plan of run 'a' is a depth and a priority"),
        ({"method": "plan", "plan": {"a": [0, 1]}}, "the depth of run 'a' is a whole number from 1"),
        ({"method": "plan", "plan": {"a": 1}}, "the plan of a run is its depth and its priority, not 1"),
        ({"method": "plan", "plan": {}}, "a plan has the depth and the priority of each run"),
    ],
)
def test_what_is_wrong_is_named(said: Any, words: str) -> None:
    with pytest.raises(DataError) as refusal:
        ProjectOptions.from_json(said)
    assert words in str(refusal.value)


def test_every_option_has_words_and_every_method_can_be_chosen() -> None:
    assert list(WORDS) == [option.name for option in fields(ProjectOptions)]
    assert all(words.label and words.help.endswith(".") for words in WORDS.values())
    assert [name for name, _ in method_choices()] == [method.name for method in all_methods()]
    for name, _ in method_choices():
        plan = {"a": [10, 1]} if name == "plan" else None
        options = ProjectOptions.from_json({"method": name, "plan": plan})
        assert options.adaptive == (options.batch == 10) == (options.sample == 0.1)


def test_the_method_decides_what_is_not_said() -> None:
    pool = ProjectOptions()
    assert (pool.sample, pool.batch) == (0.0, None)
    learning = pool.changed({"method": "move-to-front"}, prepared=False)
    assert (learning.sample, learning.batch) == (0.1, 10)
    assert learning.changed({"method": "depth"}, prepared=False) == pool
    assert learning.changed({"method": "cal", "sample": 0.3}, prepared=False).sample == 0.3
    assert ProjectOptions(method="cal").learns
    assert not learning.learns


def test_what_may_change_when_documents_are_chosen() -> None:
    pool, learning = ProjectOptions(), ProjectOptions(method="cal")
    assert pool.changed({"lease_minutes": 1, "repeats": 0, "owned": True, "depth": 100}, prepared=True).owned
    assert learning.changed({"budget": 5, "batch": 2, "sample": 0}, prepared=True).budget == 5
    for options, said in ((pool, {"budget": 5}), (learning, {"seed": 5}), (pool, {"wanted": 2})):
        with pytest.raises(DataError, match="the documents are chosen already"):
            options.changed(said, prepared=True)


def test_plans_and_strata_are_what_pools_take() -> None:
    assert ProjectOptions.from_json(SAID[4]).parsed_plan == {"a run": Share(10, 1), "b": Share(5, 2)}
    strata = ProjectOptions.from_json(SAID[3]).parsed_strata
    assert strata is not None
    assert [(stratum.depth, stratum.share) for stratum in strata] == [(10, 1.0), (50, 0.2)]
    assert options_of_form({"plan": "a run 10 1\n\nb 5 2\n"}) == {"plan": {"a run": [10, 1], "b": [5, 2]}}
    with pytest.raises(DataError, match="line 2 of the plan is not a run, its depth and its priority: b five 2"):
        options_of_form({"plan": "a 10 1\nb five 2"})
