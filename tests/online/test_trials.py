"""Trials: what a file may say, how mistakes are told, and that a plan that was changed is seen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cranfield.errors import DataError, UsageError
from cranfield.online import Trial, read_trial
from cranfield.online.metrics import defined_metric
from cranfield.online.trial import Cap, Exclusions, Guardrail, Looks, OwnMetric
from cranfield.online.trial_ledger import changed_since, check_digest, note_look, read_looks
from places import EXAMPLES

PLAIN = 'name = "t"\nprimary = "ctr"\n[arms]\na = 1\nb = 1\n'
ARMS = {"a": 1.0, "b": 1.0}


def written(folder: Path, text: str) -> str:
    path = folder / "experiment.toml"
    path.write_text(text)
    return str(path)


def test_the_example_says_all_there_is() -> None:
    trial = read_trial(str(EXAMPLES / "experiment.toml"))
    assert trial.metric_names == ("ctr", "latency", "zero_results", "abandonment", "rr_first", "carts")
    assert trial.control == "bm25"
    assert trial.guardrails == (Guardrail("latency", 20), Guardrail("zero_results", 0.05, relative=True))
    assert trial.looks == Looks("obrien-fleming", (0.5, 1.0))
    assert trial.winsorise == {"carts": Cap(quantile=0.99)}
    assert trial.exclusions == Exclusions(queries_per_day=200, late_hours=24)
    assert (trial.maximum, trial.segments, trial.covariates) == (400, ("device",), ("ctr",))
    assert trial.metric("carts").per == "unit"


def test_comments_and_order_do_not_change_the_digest_and_all_else_does(tmp_path: Path) -> None:
    trial = read_trial(written(tmp_path, PLAIN))
    same = '# why\nprimary = "ctr"   # decided\nname = "t"\n\n[arms]\na = 1.0\nb = 1\n'
    assert read_trial(written(tmp_path, same)).digest == trial.digest == Trial("t", ARMS, "ctr").digest
    others: list[dict[str, Any]] = [
        {"name": "u"},
        {"arms": {"b": 1.0, "a": 1.0}},
        {"arms": {"a": 1.0, "b": 2.0}},
        {"primary": "latency"},
        {"unit": "session_id"},
        {"secondary": ("latency",)},
        {"guardrails": (Guardrail("latency", 1),)},
        {"segments": ("device",)},
        {"covariates": ("x",)},
        {"looks": Looks("pocock")},
        {"maximum": 10},
        {"alpha": 0.01},
        {"exclusions": Exclusions(bots=False)},
        {"exclusions": Exclusions(units=("u1",))},
        {"winsorise": {"ctr": Cap(value=3.0)}},
        {"metrics": {"x": OwnMetric("count(x)")}},
        {"salt": "s"},
    ]
    digests = [Trial(**{"name": "t", "arms": ARMS, "primary": "ctr", **other}).digest for other in others]
    assert len({trial.digest, *digests}) == len(others) + 1
    # every field but the source has a part in it
    changed = {name for other in others for name in other} | {"start", "end", "source"}
    assert changed == set(Trial.__dataclass_fields__)


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (PLAIN.replace("primary", "primry"), 2, "there is no key primry\n.*\n    Did you mean primary?"),
        (PLAIN.replace('"ctr"', '"crt"'), 2, "primary is no metric: unknown metric 'crt'.*did you mean ctr?"),
        (PLAIN.replace('"ctr"', '"queries_per_session"'), 2, "neither more nor less is better"),
        (PLAIN.replace("b = 1", "b = -1"), 5, "arms.b is a weight above 0, not -1"),
        (PLAIN.replace("b = 1\n", ""), 3, "arms has 1: at least two"),
        (PLAIN.replace("b = 1", 'b = "one"'), 5, 'arms.b is a number, not "one"'),
        ("alpha = 2.0\n" + PLAIN, 1, "alpha is a number between 0 and 1"),
        ("maximum = 1\n" + PLAIN, 1, "maximum is a whole number of units from 2"),
        ("start = 2026-11-02T00:00:00\n" + PLAIN, 1, "start has no time zone"),
        ("start = 2026-11-02\n" + PLAIN, 1, "start is a date with a time, as 2026-11-02T00:00:00Z, not 2026-11-02\n"),
        ("end = 2026-11-02\n" + PLAIN, 1, "Write end = 2026-11-02T00:00:00Z: when that day begins, in UTC"),
        ('maximum = [3, "a", true]\n' + PLAIN, 1, r'maximum is a whole number, not \[3, "a", true\]'),
        ("start = 2026-11-02T00:00:00Z\nend = 2026-11-01T00:00:00Z\n" + PLAIN, 2, "must be after start"),
        ('secondary = ["ctr"]\n' + PLAIN, 1, "which is the primary metric already"),
        (PLAIN + "[guardrails]\nlatency = -3\n", 7, "has a margin from 0"),
        (
            PLAIN + "[guardrails]\nlatency = {relative = 2}\n",
            7,
            "has a relative margin of 2, which is 200 %: write 0.02 for 2 %, or a margin in units of the metric",
        ),
        (PLAIN + "[guardrails]\nlatency = {relative = 1}\n", 7, "which is 100 %: write 0.01 for 1 %"),
        (PLAIN + "[guardrails]\nlatency = {margn = 3}\n", 7, "there is no key guardrails.latency.margn"),
        (PLAIN + "[guardrails]\nqueries_per_unit = 3\n", 7, "has no direction"),
        (PLAIN + '[looks]\nspending = "pocok"\n', 7, "did you mean pocock?"),
        (PLAIN + "[looks]\nat = [0.5, 1.0]\n", 7, "which is not given: write maximum"),
        ("maximum = 9\n" + PLAIN + "[looks]\nat = [0.5, 0.9]\n", 8, "the last of which is 1"),
        (PLAIN + "[looks]\nnumber = 3\nat = [1.0]\n", 7, "one of both"),
        (PLAIN + "[exclusions]\nbot = true\n", 7, "Did you mean bots?"),
        (PLAIN + "[exclusions]\nlate_hours = 0\n", 7, "is a number above 0"),
        (PLAIN + "[winsorise]\nctrr = 0.99\n", 7, "did you mean ctr?"),
        (PLAIN + "[winsorise]\nctr = 99\n", 7, "between 0.5 and 1"),
        (PLAIN + '[metrics.x]\nnumerator = "units"\n', 6, "units can be the denominator alone"),
        (PLAIN + '[metrics.x]\nnumerator = "import os"\n', 6, "is none of queries, units"),
        (PLAIN + '[metrics.x]\ndenominator = "units"\n', 6, "metrics.x has no numerator"),
        (PLAIN + '[metrics.x]\nnumerator = "count(a)"\nbetter = "up"\n', 8, "is more, less or neither"),
    ],
)
def test_mistakes_are_told_with_their_line(text: str, line: int, told: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError) as caught:
        read_trial(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert re.search(told.replace("?", r"\?"), str(caught.value), re.DOTALL), str(caught.value)


@pytest.mark.parametrize("key", ["name", "primary", "arms"])
def test_what_must_be_there_is_asked_for(key: str, tmp_path: Path) -> None:
    text = PLAIN.split("[arms]")[0] if key == "arms" else re.sub(rf"(?m)^{key} = .*\n", "", PLAIN)
    with pytest.raises(DataError, match=f"has no {key}"):
        read_trial(written(tmp_path, text))


def test_what_is_no_toml_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not TOML"):
        read_trial(written(tmp_path, "name = \n"))


def test_a_changed_plan_is_seen_in_the_ledger(tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger")
    first, second = Trial("t", ARMS, "ctr"), Trial("t", ARMS, "ctr", alpha=0.1)
    assert note_look(ledger, first, 100) == []
    assert note_look(ledger, first, 200) == []
    assert note_look(ledger, Trial("other", ARMS, "latency"), 5) == []
    (found,) = note_look(ledger, second, 300)
    assert found.code == "trial-changed"
    assert f"its digest is {second.digest}, and was {first.digest}" in found.message
    assert "with 100 units" in found.message
    assert [look.units for look in read_looks(ledger, first)] == [100, 200, 300]
    assert changed_since(read_looks(ledger, first), first) == []
    Path(ledger).write_text("{}\n")
    with pytest.raises(DataError, match="is not an entry of a trial's ledger"):
        read_looks(ledger, first)


def test_a_look_is_known_by_its_units_and_queries(tmp_path: Path) -> None:
    ledger, trial = str(tmp_path / "ledger"), Trial("t", ARMS, "ctr")
    for queries, last in ((300, False), (300, False), (400, True)):
        note_look(ledger, trial, 100, queries=queries, last=last)
    looks = read_looks(ledger, trial)
    assert [(look.units, look.queries, look.last) for look in looks] == [(100, 300, False), (100, 400, True)]
    Path(ledger).write_text(
        Path(ledger).read_text().splitlines()[0].replace(', "queries": 300, "last": false', "") + "\n"
    )
    (old,) = read_looks(ledger, trial)
    assert (old.queries, old.last, old.is_made_of(100, 7), old.is_made_of(101, 7)) == (None, None, True, False)


def test_a_digest_that_was_registered_holds(tmp_path: Path) -> None:
    trial = Trial("t", ARMS, "ctr")
    check_digest(trial, None)
    check_digest(trial, trial.digest.upper())
    with pytest.raises(UsageError, match=f"is {trial.digest}, not abc as expected"):
        check_digest(trial, "abc")


def test_own_metrics_import_nothing() -> None:
    for text in ("os:getcwd", "count(__import__('os'))", "count()", "sum(a, b, c)", "1 + 1", ""):
        with pytest.raises(UsageError, match="is none of queries"):
            defined_metric("x", text)
