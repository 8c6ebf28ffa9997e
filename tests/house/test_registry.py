"""What holds for every registry: measures, tests, models, pictures, formats and all other things that have a name."""

from __future__ import annotations

import doctest
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cranfield
from cranfield.agreement import correlate
from cranfield.comparison.comparison_tables import render
from cranfield.comparison.systems import compare
from cranfield.errors import UsageError
from cranfield.evaluation.experiment import Experiment
from cranfield.formats.format import FORMATS
from cranfield.formats.kinds import KINDS, kind_of_judgements
from cranfield.formats.reading import Reading
from cranfield.fusion.method import METHODS, NORMALISATIONS
from cranfield.measures.registry import MEASURES
from cranfield.notation import NotationError, parse
from cranfield.online.clicks.click_models import CLICK_MODELS
from cranfield.online.imports import LOG_FORMATS
from cranfield.online.interleaving.method import INTERLEAVERS
from cranfield.online.metrics import METRICS
from cranfield.online.sessions.session_measures import SESSION_MEASURES
from cranfield.plot.subject import PICTURES
from cranfield.pooling.strategy import METHODS as POOLING
from cranfield.probing.engines import ENGINES
from cranfield.registry import Entry, Parameter, Registry, Required, described, is_number, number
from cranfield.search.models import MODELS
from cranfield.statistics.coefficients import COEFFICIENTS, coefficient
from cranfield.statistics.corrections import CORRECTIONS, correction
from cranfield.statistics.paired import sign
from cranfield.statistics.significance import TESTS, Outcome, Sampling, significance_test
from cranfield.texts.forms import FORMATS as TEXT_FORMATS
from noisy import QRELS, RUNS
from places import ROOT

PACKAGE = Path(cranfield.__file__).parent
REGISTRIES: dict[str, Registry[Any]] = {
    registry.group: registry
    for registry in (
        *(MEASURES, METHODS, NORMALISATIONS, POOLING, TESTS, CORRECTIONS, COEFFICIENTS, MODELS, PICTURES, ENGINES),
        *(METRICS, LOG_FORMATS, FORMATS, KINDS, TEXT_FORMATS["documents"], TEXT_FORMATS["topics"]),
        *(INTERLEAVERS, CLICK_MODELS, SESSION_MEASURES),
    )
}
ENTRIES = [(group, entry) for group, registry in REGISTRIES.items() for entry in registry.all()]
every_registry = pytest.mark.parametrize("registry", REGISTRIES.values(), ids=REGISTRIES)
every_entry = pytest.mark.parametrize(
    ("registry", "entry"),
    [(REGISTRIES[group], entry) for group, entry in ENTRIES],
    ids=[f"{group.partition('.')[2]} {entry.name}" for group, entry in ENTRIES],
)
IN_NOTATION = [  # measures have their own, with @, tested in test_measures
    (REGISTRIES[group], entry)
    for group, entry in ENTRIES
    if group not in ("cranfield.measures", "cranfield.session_measures")
]
# Values to try for a parameter, in the order of which the first that is not the default is taken.
VALUES = (2, 0.5, 0, 0.25, 1, True, "bm25+", "lnc.ltc", "rounds", "linear", [0.5, 0.25])


def test_there_is_one_class_of_registry_and_one_of_parameters() -> None:
    """No room keeps a table of names or a class of parameters of its own."""
    sources = {path: path.read_text() for path in PACKAGE.rglob("*.py")}
    assert [path.name for path, text in sources.items() if "class Parameter(" in text] == ["registry.py"]
    assert len(REGISTRIES) == 19
    classes = ("Registry", "ByName", "ByModule")
    made = sum(text.count(f"= {name}(") for text in sources.values() for name in classes)
    assert made + 2 == len(REGISTRIES)  # formats of documents and of topics are made together


@every_registry
def test_no_two_things_share_a_name(registry: Registry[Any]) -> None:
    names = Counter(name for entry in registry.all() for name in entry.names)
    assert [name for name, times in names.items() if times > 1] == []
    for entry in registry.all():
        assert {registry.get_registered(name) for name in entry.names} == {entry}


@every_registry
def test_lists_do_not_depend_on_what_was_loaded_first(registry: Registry[Any]) -> None:
    last = registry.modules()[-1]
    code = (
        f"import {registry.package}.{last}\n"
        f"from {_home(registry)} import {_variable(registry)}\n"
        f"print(*(entry.name for entry in {_variable(registry)}{_index(registry)}.all()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [entry.name for entry in registry.all()]


def _home(registry: Registry[Any]) -> str:
    homes = {
        "cranfield.measures": "cranfield.measures.registry",
        "cranfield.fusion": "cranfield.fusion.method",
        "cranfield.normalisations": "cranfield.fusion.method",
        "cranfield.pooling": "cranfield.pooling.strategy",
        "cranfield.tests": "cranfield.statistics.significance",
        "cranfield.corrections": "cranfield.statistics.corrections",
        "cranfield.coefficients": "cranfield.statistics.coefficients",
        "cranfield.interleaving": "cranfield.online.interleaving.method",
        "cranfield.models": "cranfield.search.models",
        "cranfield.engines": "cranfield.probing.engines",
        "cranfield.metrics": "cranfield.online.metrics",
        "cranfield.logs": "cranfield.online.imports",
        "cranfield.pictures": "cranfield.plot.subject",
        "cranfield.formats": "cranfield.formats.format",
        "cranfield.judgements": "cranfield.formats.kinds",
        "cranfield.documents": "cranfield.texts.forms",
        "cranfield.topics": "cranfield.texts.forms",
        "cranfield.click_models": "cranfield.online.clicks.click_models",
        "cranfield.session_measures": "cranfield.online.sessions.session_measures",
    }
    return homes[registry.group]


def _variable(registry: Registry[Any]) -> str:
    home = import_module(_home(registry))
    return next(
        name
        for name, value in vars(home).items()
        if value is registry or (isinstance(value, dict) and registry in value.values())
    )


def _index(registry: Registry[Any]) -> str:
    kind = registry.group.partition(".")[2]
    return f"[{kind!r}]" if kind in ("documents", "topics") else ""


@every_registry
def test_modules_are_found_by_looking_at_them(registry: Registry[Any]) -> None:
    """No list names them: those that are named come first, and all others are found."""
    assert set(registry.order) <= set(registry.modules())
    here = [entry for other in REGISTRIES.values() if other.package == registry.package for entry in other.all()]
    assert {entry.module.rpartition(".")[2] for entry in registry.all()} <= set(registry.modules())
    assert set(registry.modules()) <= {entry.module.rpartition(".")[2] for entry in here}


@every_entry
def test_every_entry_has_help_and_an_example_that_is_right(registry: Registry[Any], entry: Entry[Any]) -> None:
    if registry.group not in ("cranfield.formats", "cranfield.documents", "cranfield.topics"):  # files show them
        assert entry.summary
    if ">>>" in entry.example:
        names = vars(import_module(entry.module)) | {"relstring": cranfield.judged.relstring}
        example = doctest.DocTestParser().get_doctest(entry.example, dict(names), entry.name, None, None)
        assert doctest.DocTestRunner().run(example).failed == 0
    else:
        assert registry.find(entry.example) == entry


@pytest.mark.parametrize(("registry", "entry"), IN_NOTATION, ids=lambda value: str(getattr(value, "name", "")))
def test_what_is_written_is_read_again(registry: Registry[Any], entry: Entry[Any]) -> None:
    assert registry.find(str(entry)) == entry
    for changed in variants(entry):
        assert changed != entry
        again = registry.find(str(changed))
        assert again == changed
        assert again.settings == changed.settings
        assert again.function.keywords == dict(changed.given)  # a value that is accepted is applied


def variants(entry: Entry[Any]) -> Iterator[Entry[Any]]:
    """The entry with each of its parameters at another value."""
    for name, parameter in entry.parameters.items():
        value = next(v for v in (*VALUES, [[0.5], [0.25]]) if parameter.takes(v) and v != parameter.default)
        yield entry.with_values({name: value})


@every_entry
def test_defaults_shown_are_those_used(registry: Registry[Any], entry: Entry[Any]) -> None:
    source = entry.source
    made = source.__init__ if isinstance(source, type) else source  # type: ignore[misc]
    used = dict(getattr(made, "__kwdefaults__", None) or {})
    assert {name: default for name, default in entry.defaults.items() if name in used} == used
    for name, parameter in entry.parameters.items():
        assert parameter.help, name
        assert parameter.accepts, name
        if not isinstance(parameter.default, Required) and parameter.default is not None:
            assert parameter.takes(parameter.default), name


@every_registry
def test_an_unknown_name_names_the_nearest(registry: Registry[Any]) -> None:
    for entry in registry.all():
        if len(entry.name) < 5:
            continue
        typo = entry.name[:2] + entry.name[3:]
        if registry.look_up(typo) is None:
            told = registry.not_found(typo)
            assert f"'{typo}'" in told
            assert f"did you mean {entry.name}?" in told or entry.name in told
    assert "did you mean" not in registry.not_found("zzzzzzzz")


def test_the_nearest_name_is_told_in_each_kind_s_own_sentence() -> None:
    with pytest.raises(UsageError, match=r"unknown test 'wilcoxn'; there are t, .*; did you mean wilcoxon\?$"):
        TESTS.find("wilcoxn")
    with pytest.raises(UsageError, match=r"no model 'tfidff'; there are bm25, .*; did you mean tfidf\?$"):
        MODELS.find("tfidff")


@pytest.mark.parametrize(
    ("registry", "name", "meant"),
    [
        (TESTS, "ttest", "t"),
        (TESTS, "t-test", "t"),
        (PICTURES, "histo", "histogram"),
        (MODELS, "BM52", "bm25"),
        (FORMATS, "jsonll", "jsonl"),
        (NORMALISATIONS, "minmx", "min-max"),  # not one of its other names
        (METHODS, "rff", "rrf"),
    ],
)
def test_what_people_write_for_a_name_is_known(registry: Registry[Any], name: str, meant: str) -> None:
    assert registry.suggestion(name) == f"; did you mean {meant}?"
    assert registry.suggestion(name, ["quite", "other", "things"]) == ""
    assert registry.suggestion(name, ["things", meant]) in ("", f"; did you mean {meant}?")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rrf(k=1, k=2)", r"'rrf\(k=1, k=2\)' gives k twice"),
        ("rrf(60)", r"'rrf\(60\)' is not a method of fusion: write name\(parameter=value, …\)"),
        ("rrf(k=", "is not a method of fusion"),
        ("rrf@5", "is not a method of fusion"),
        ("rrf(k=1_0)", "'1_0' is not a number"),
        ("rrf(k=__import__('os'))", "is not a method of fusion"),
        ("rrf(c=1)", "rrf has no parameter 'c'; it has: k"),
        ("rrf(k=-1)", "rrf: k must be a number from 0, not -1"),
        ("isr(k=1)", "isr has no parameter 'k'; it has: none"),
        ("weighted-sum(weights=[1, -1])", "weights must be a list of numbers from 0"),
        ("os:getcwd", "unknown method of fusion 'os:getcwd'"),
    ],
)
def test_what_is_wrong_with_a_text_is_told(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        METHODS.find(text)


def test_parameters_in_the_notation_do_what_those_beside_it_do() -> None:
    runs = [{"q1": {"d1": 3.0, "d2": 2.0}}, {"q1": {"d2": 9.0, "d3": 8.0}}]
    beside = cranfield.fuse(runs, "weighted-sum", parameters={"weights": [0.9, 0.1]})
    assert cranfield.fuse(runs, "weighted-sum(weights=[0.9, 0.1])").of("q1") == beside.of("q1")
    assert cranfield.fuse(runs, "RRF(k=1)").of("q1") != cranfield.fuse(runs, "rrf").of("q1")
    with pytest.raises(UsageError, match=r"rrf\(k=1\) has a value for k: it cannot be given another"):
        cranfield.fuse(runs, "rrf(k=1)", parameters={"k": 2})
    assert MODELS.find("jm(lambda=0.4)").settings == {"lambda_": 0.4}
    assert str(MODELS.find("jm(lambda=0.4)")) == "jm(lambda=0.4)"
    with pytest.raises(UsageError, match="lambda must be between 0 and 1, not 4"):
        MODELS.find("jm(lambda=4)")


def test_words_need_no_quotes() -> None:
    for word in ("exp", "exp-log2", "lnc.ltc", "Größe", "_x1"):
        assert parse(f"a(x={word}, y=1)").given == parse(f"a(x='{word}', y=1)").given == (("x", word), ("y", 1))
    assert parse("a(x=None, y=True, z=-2)").given == (("x", None), ("y", True), ("z", -2))
    assert MODELS.find("bm25(variant=atire)") == MODELS.find("bm25(variant='atire')") != MODELS.find("bm25")
    assert str(MODELS.find("vsm(weighting=ntc.ntc)")) == "vsm(weighting='ntc.ntc')"
    with pytest.raises(UsageError, match=r"rrf: k must be a number from 0, not 'many'$"):
        METHODS.find("rrf(k=many)")


@pytest.mark.parametrize("name", ["AP", "nDCG", "lambda", "None", "é", "_"])
@pytest.mark.parametrize("at", ["", "@1", "@10", "@999999999", "@1000000000", "@0", "@0.5"])
def test_a_name_alone_is_read_as_one_with_brackets(name: str, at: str) -> None:
    """What has no brackets is read without the parser."""
    assert parse(name + at) == parse(f"{name}(){at}")


@pytest.mark.parametrize("at", ["@007", "@1_0", "@１０", "@", "@x", "@1@2"])
def test_a_rank_that_is_none_is_refused_without_brackets_too(at: str) -> None:
    with pytest.raises(UsageError) as bare:
        parse(f"P{at}")
    with pytest.raises(UsageError) as bracketed:
        parse(f"P(){at}")
    assert str(bare.value) == str(bracketed.value).replace("P()", "P")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "(a)",
        "a(b)(c)",
        "a.b",
        "a[1]",
        "a(x=b())",
        "a(x=[b])",
        "a(x=b[1])",
        "a(x=b+c)",
        "a(x=1-b)",
        "a@b",
        "a(**b)",
        "a b",
        "a(" * 500,
    ],
)
def test_other_texts_are_not_in_the_notation(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


def test_why_a_text_is_not_in_the_notation() -> None:
    for text, reason in (("a(", "form"), ("a(1)", "position"), ("a@1,2", "several"), ("a(x=[y])", "value")):
        with pytest.raises(NotationError) as caught:
            parse(text)
        assert caught.value.reason == reason


# ---- adding ----


def taken(name: str, module: str) -> None:
    """Registers a correction as if it were written in a module."""

    def function(p: Any) -> Any:
        """Nothing."""
        return p

    function.__module__ = module
    correction(name, title="x", controls="x", levels=lambda alpha, *_: alpha)(function)


def test_a_name_that_is_taken_is_refused_but_a_cell_may_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_called", "_entries"):
        monkeypatch.setattr(CORRECTIONS, name, dict(getattr(CORRECTIONS, name)))
    with pytest.raises(UsageError, match=r"there is a correction called 'holm' already, cranfield.*holm: give yours"):
        taken("holm", "elsewhere")
    taken("mine", "elsewhere")
    taken("mine", "elsewhere")
    with pytest.raises(UsageError, match="there is a correction called 'mine' already, elsewhere"):
        taken("mine", "somewhere")
    assert [entry.name for entry in CORRECTIONS.all()][-2:] == ["none", "mine"]


def test_forms_of_one_test_correction_or_coefficient_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with its values: in the columns, in JSON, and in what decides."""
    for registry in (TESTS, CORRECTIONS, COEFFICIENTS):
        for name in ("_called", "_entries"):
            monkeypatch.setattr(registry, name, dict(getattr(registry, name)))

    @significance_test("cautious", title="cautious test", null="none", about_mean=False, factor=number("x", 1, 9))
    def cautious(scores: Any, pairs: Any, sampling: Sampling, *, factor: float = 1) -> Outcome:
        """The sign test's p, times something."""
        outcome = sign(scores, pairs, sampling)
        return outcome._replace(p=np.minimum(outcome.p * factor, 1.0))

    @correction("times", title="Times", controls="x", levels=lambda alpha, *_: alpha / 3, by=number("x", 1, 9))
    def times(p: Any, *, by: float = 3) -> Any:
        """Times something."""
        return p * by

    results = Experiment(QRELS, RUNS)
    tests = ["cautious(factor=1)", "cautious(factor=2)"]
    both = compare(results, "nDCG@10", tests=tests, correction="times(by=2)")
    alone = [compare(results, "nDCG@10", tests=[test]).panels[0].p[named] for test, named in (
        (tests[0], "cautious"), (tests[1], tests[1])
    )]  # fmt: skip
    assert both.panels[0].p["cautious"].tolist() == alone[0].tolist() != alone[1].tolist()
    assert both.panels[0].p["cautious(factor=2)"].tolist() == alone[1].tolist()
    assert "p (cautious), uncorrected  p (cautious(factor=2)), uncorrected" in render(both, "table")
    assert both.to_dict()["correction"] == "times(by=2)"
    assert [test["name"] for test in both.to_dict()["tests"]] == ["cautious", "cautious(factor=2)"]
    assert [warning.code for warning in both.warnings].count("other-null") == 2

    @coefficient("half", title="Half", says="x", ties="x", to=number("x", 0, 1))
    def half(x: Any, y: Any, *, to: float = 0.5) -> float:
        """A number."""
        return to

    found = correlate(RUNS["good"], RUNS["fair"], ["half", "half(to=0.25)"])
    assert (found.mean()["half"], found.mean()["half(to=0.25)"]) == (0.5, 0.25)


def test_a_kind_of_judgements_of_ours_is_a_module_of_its_name() -> None:
    def read(source: Any, name: str | None, columns: Any) -> Any: ...

    read.__module__ = "cranfield.formats.elsewhere"
    with pytest.raises(UsageError, match=r"elsewhere: the module of the kind of judgements votes must be votes\.py"):
        kind_of_judgements("votes")(read)


def test_kinds_of_judgements_of_others_may_have_columns_of_their_own() -> None:
    assert Reading(judgements="votes", columns={"voter": "hand"}).columns == {"voter": ("hand",)}
    for kind in (None, "plain", "judges"):
        with pytest.raises(UsageError, match="there is no 'voter'"):
            Reading(judgements=kind, columns={"voter": "hand"})


def test_a_parameter_is_described_or_refused() -> None:
    def function(p: Any, *, rate: float = 0.5, other: int) -> Any: ...

    known = described(function, "correction", {"rate": number("how much", 0, 1), "other": number("x", 0, 9)})
    assert (known["rate"].default, known["other"].default.__class__) == (0.5, Required)
    with pytest.raises(UsageError, match=r"function: nothing says what other is; describe it: @correction\(other="):
        described(function, "correction", {"rate": number("how much", 0, 1)})


def test_numbers_of_numpy_are_numbers() -> None:
    assert MODELS.find("bm25").with_values({"k1": np.float64(0.5)}).settings["k1"] == 0.5
    parameter = Parameter("x", "numbers", is_number, for_each_run=True)
    assert parameter.takes([1, 2.5])
    assert not parameter.takes("12")
    assert not parameter.takes([1, "2"])


def test_options_of_search_are_the_parameters_of_the_models() -> None:
    from cranfield.cli.search import command

    options = {option.name: option for option in command.params}
    for model in MODELS.values():
        for name, parameter in model.parameters.items():
            option: Any = options["seed" if name == "seed" else f"p_{name.rstrip('_')}"]
            assert name == "seed" or f"{model.name}: {parameter.help}." in option.help


# ---- starting up ----


def test_names_of_ours_look_at_no_plugin() -> None:
    """Entry points are looked at where a name is not ours, or where everything is listed."""
    code = (
        "import sys, cranfield\n"
        "cranfield.evaluate('examples/qrels.txt', 'examples/bm25.run', ['AP', 'nDCG@10', 'ndcg_cut_5'])\n"
        "from cranfield.statistics.significance import find_test; find_test('t')\n"
        "print('importlib.metadata' in sys.modules)\n"
        "cranfield.measures.__all__\n"
        "print('importlib.metadata' in sys.modules)"
    )
    root = ROOT
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_any_registered_measure_can_be_imported() -> None:
    from cranfield.measures import NERR9, Satisfaction

    assert (str(NERR9), str(Satisfaction)) == ("NERR9", "Satisfaction")
    code = "from cranfield.measures import *\nprint(AP, infNDCG, parse_measure('U'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "AP infNDCG U\n"
    with pytest.raises(AttributeError, match="no attribute 'nDGC': unknown measure 'nDGC'; did you mean nDCG"):
        cranfield.measures.nDGC  # noqa: B018
