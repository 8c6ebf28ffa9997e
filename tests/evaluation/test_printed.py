"""What results look like in Python: their tables, and below them what puts the numbers in doubt."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cranfield
from cranfield import Experiment, Policy
from cranfield.comparison import Rule, Thresholds
from cranfield.errors import LibraryError, UsageError
from cranfield.evaluation.printed import Printed, PrintedInNotebooks

QRELS = {str(t): {"a": 1, "b": 0, "c": 2} for t in range(4)}
WHOLE = {t: {"a": 3.0, "b": 2.0, "c": 1.0} for t in QRELS}
OTHER = {t: {"c": 3.0, "b": 2.0, "a": 1.0} for t in QRELS}
HALF = {t: OTHER[t] for t in ("0", "1")}
MISSING = "half: no answer to 2 judged topics, scored 0: 2, 3"


def results_of_each_kind(experiment: Experiment) -> dict[str, Printed]:
    """What the use cases that start from an experiment give."""
    from cranfield.fusion import Training, train_fusion
    from cranfield.pooling import analyse, simulate

    return {
        "evaluate": experiment.evaluate("AP"),
        "compare": cranfield.compare(experiment, "AP"),
        "diagnose": cranfield.diagnose(experiment, "AP"),
        "gate": cranfield.gate(experiment, Thresholds({"AP": Rule(minimum=0.1)})),
        "plan": cranfield.plan(experiment, "AP"),
        "pool analysis": analyse(experiment),
        "pool simulation": simulate(experiment),
        "trained fusion": train_fusion(experiment, "weighted-sum", Training(measure="AP", same_topics=True)),
    }


@pytest.fixture(scope="module")
def doubtful() -> dict[str, Printed]:
    return results_of_each_kind(Experiment(QRELS, {"whole": WHOLE, "half": HALF}))


KINDS = ["evaluate", "compare", "diagnose", "gate", "plan", "pool analysis", "pool simulation", "trained fusion"]


@pytest.mark.parametrize("kind", KINDS)
def test_results_print_as_their_tables_with_what_is_doubtful_below(kind: str, doubtful: dict[str, Printed]) -> None:
    result = doubtful[kind]
    table, _, below = str(result).partition(f"\n\n{_title(result)}\n")
    assert table == result._rendered("table").rstrip("\n")
    assert table
    assert below.splitlines()[:5] == [f"  {w}" for w in result.warnings if w.doubtful][:5]
    assert repr(result).endswith(str(result))
    if isinstance(result, PrintedInNotebooks):
        html = result._repr_html_()
        assert html.startswith(result._rendered("html"))
        assert html.count("<p>") - result._rendered("html").count("<p>") == 1 + len(below.splitlines())
    assert len(repr(result).splitlines()) <= len(str(result).splitlines()) + 1


def _title(result: Printed) -> str:
    count = sum(warning.doubtful for warning in result.warnings)
    assert count, "nothing is doubtful, and nothing is tested"
    return f"{count} warning{'s' if count > 1 else ''} (.warnings):"


def test_a_run_that_lacks_topics_is_told_wherever_its_scores_are_shown(doubtful: dict[str, Printed]) -> None:
    results = doubtful["evaluate"]
    assert isinstance(results, cranfield.Results)
    assert str(results).splitlines()[-2:] == ["1 warning (.warnings):", f"  {MISSING}"]
    html = results._repr_html_()
    assert html.endswith(f"</table>\n<p>1 warning (.warnings):</p>\n<p>{MISSING}</p>\n")
    for kind in ("compare", "diagnose"):
        result = doubtful[kind]
        assert isinstance(result, PrintedInNotebooks)
        assert "no answer to 2 judged topics" in str(result)
        assert "no answer to 2 judged topics" in result._repr_html_()


def test_nothing_is_said_where_nothing_is_doubtful() -> None:
    results = cranfield.evaluate(QRELS, {"whole": WHOLE}, "AP")
    assert (results.warnings, str(results)) == ((), "run        AP\nwhole  0.8333")
    assert "warning" not in results._repr_html_() + repr(results)
    noted = cranfield.evaluate({**QRELS, "4": {"a": 0}}, WHOLE, "AP", policy=Policy(empty_topics="drop"))
    assert [warning.doubtful for warning in noted.warnings] == [False]
    assert "warning" not in noted._repr_html_() + repr(noted)


def test_many_warnings_are_counted() -> None:
    measures = [f"AP(rel={grade})" for grade in range(2, 9)]  # no grade is so high: a warning of each
    shown = str(cranfield.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, measures)).splitlines()
    assert shown[2:4] == ["", "7 warnings (.warnings):"]
    assert len(shown) == 10
    assert shown[-1] == "  … and 2 more"
    assert "more" not in str(cranfield.evaluate({"1": {"a": 1}}, {"1": {"a": 1.0}}, measures[:5]))


def test_what_is_to_be_said_of_several_runs_is_said_once() -> None:
    shown = str(cranfield.evaluate(QRELS, {"x": HALF, "y": HALF}, "AP")).splitlines()
    assert shown[-2:] == ["1 warning (.warnings):", "  x, y: no answer to 2 judged topics, scored 0: 2, 3"]


def test_names_in_warnings_are_shown_and_not_obeyed() -> None:
    results = cranfield.evaluate(QRELS, {"<b>x\n": HALF, "\x1b[31m": HALF}, "AP")
    assert "\x1b" not in str(results)
    assert len(str(results).splitlines()) == 6
    html = results._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;x" in html


def test_every_result_with_warnings_prints_itself() -> None:
    """No record of warnings is left that Python would show as its fields, thousands of characters of them."""
    package = Path(cranfield.__file__).parent
    modules = [
        ".".join(("cranfield", *path.relative_to(package).with_suffix("").parts))
        for path in package.rglob("*.py")
        if "warnings: tuple[Finding" in path.read_text()
    ]
    records = {
        value
        for name in modules
        for value in vars(importlib.import_module(name)).values()
        if inspect.isclass(value) and dataclasses.is_dataclass(value) and value.__module__ == name
        if "warnings" in {field.name for field in dataclasses.fields(value)}
    }
    assert len(records) >= 14
    for record in records:
        assert not vars(record)["__dataclass_params__"].repr, f"{record}: repr=False"
        if "__repr__" not in vars(record):  # a log, or what was made of one, tells itself in a line of its own
            assert issubclass(record, Printed), record
            assert record.__repr__ is Printed.__repr__


def test_results_without_experiments_print_as_tables_too() -> None:
    from cranfield.agreement import assess
    from cranfield.pooling import make_pool

    judged = {"ann": QRELS, "bob": {t: {"a": 0, "b": 1, "c": 2} for t in QRELS}}
    assert repr(assess(judged)).startswith("Agreement of ann, bob on 4 topics\n")
    assert repr(cranfield.describe(QRELS)) == str(cranfield.describe(QRELS))
    assert str(make_pool({"a": WHOLE, "b": HALF}, depth=1)).startswith("<DocumentPool depth: 6 documents, 4 topics>")
    ducks = cranfield.texts.read_documents({"1": {"text": "Ducks swim."}, "2": {"text": "Geese fly."}})
    retrieved = cranfield.retrieve(ducks, cranfield.texts.read_topics({"1": "swimming ducks"}))
    assert repr(retrieved).startswith("<Retrieved: <Run 'bm25': ")
    assert ">>\nefficiency" in repr(retrieved)
    assert "<td" in retrieved._repr_html_()
    correlation = cranfield.correlate(WHOLE, {"0": OTHER["0"]}, "kendall")
    assert repr(correlation).startswith("<Correlation of ")
    assert " 1 row>\n" in repr(correlation)


@pytest.mark.parametrize(
    ("missing", "remedy", "call"),
    [
        ("pandas", "pip install pandas", lambda results: results.to_pandas()),
        ("polars", "pip install polars", lambda results: results.to_polars()),
        ("pyarrow", "pip install 'cranfield[frames]'", lambda results: results.to_arrow()),
        ("pyarrow", "pip install 'cranfield[frames]'", lambda results: cranfield.read_run(WHOLE).to_arrow()),
        (
            "pandas",
            "pip install pandas",
            lambda results: cranfield.compare(Experiment(QRELS, [WHOLE, OTHER]), "AP").to_pandas(),
        ),
    ],
)
def test_a_library_that_is_missing_is_named_with_what_to_install(
    missing: str, remedy: str, call: Callable[[cranfield.Results], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    results = cranfield.evaluate(QRELS, WHOLE, "AP")
    monkeypatch.setitem(sys.modules, missing, None)  # as Python has it: this cannot be imported
    with pytest.raises(LibraryError) as told:
        call(results)
    assert str(told.value) == f"to_{_suffix(missing)} needs {missing}, which is not installed: {remedy}"
    assert isinstance(told.value, UsageError)
    assert isinstance(told.value, ImportError)


def _suffix(library: str) -> str:
    return {"pyarrow": "arrow"}.get(library, library)


def test_every_extra_that_is_named_exists_and_brings_the_library() -> None:
    from importlib.metadata import packages_distributions, requires

    from cranfield.libraries import EXTRAS

    wanted = [text.lower() for text in requires("cranfield") or ()]
    packages = packages_distributions()
    for library, extra in EXTRAS.items():
        names = {name.lower() for name in packages.get(library, [library.replace("_", "-")])}
        assert any(text.startswith(tuple(names)) and f'extra == "{extra}"' in text for text in wanted), library
