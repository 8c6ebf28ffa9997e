"""Packages of others that add to ours, and modules named on the command line: they work, and nothing else imports."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from commands import commands
from cranfield.cli.measure_names import MeasureName
from cranfield.errors import UsageError
from cranfield.measures import parse_measures
from places import EXAMPLES, ROOT

QRELS, BM25, DENSE = (str(EXAMPLES / name) for name in ("qrels.txt", "bm25.run", "dense.run"))


def python(*arguments: str, path: Path | None = None, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A new interpreter that finds what lies in a folder."""
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=folder, env=environment
    )


def cranfield(*arguments: str, path: Path | None = None, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return python("-m", "cranfield", *arguments, path=path, folder=folder)


# ---- the example ----


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of docs/plugins.md, built and installed into a folder of its own."""
    if find_spec("setuptools") is None:
        pytest.skip("no setuptools to build the example with: pip install 'setuptools>=70.1'")
    base = tmp_path_factory.mktemp("plugin")
    shutil.copytree(EXAMPLES / "plugin", base / "source")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--target", str(base / "site")]
    done = python("-m", "pip", "install", "--disable-pip-version-check", *options, str(base / "source"))
    assert done.returncode == 0, done.stderr
    return base / "site"


def test_a_measure_of_a_plugin_is_one_like_any_other(installed: Path) -> None:
    done = cranfield("evaluate", QRELS, BM25, "-m", "Promptness(half=3)@10,AP", path=installed)
    assert (done.stderr, done.stdout.split()[:3]) == ("", ["run", "Promptness(half=3)@10", "AP"])
    assert "Promptness[@k]" in cranfield("measures", path=installed).stdout
    explained = cranfield("measures", "Promptness", path=installed).stdout
    assert "half = 5: the rank at which a find is worth a half (a number above 0)" in explained
    wrong = cranfield("evaluate", QRELS, BM25, "-m", "Promptnes", path=installed)
    assert (wrong.returncode, "did you mean Promptness" in wrong.stderr) == (2, True)
    code = (
        "import cranfield, pickle\n"
        "from cranfield.measures import Promptness, parse_measure\n"
        f"results = cranfield.evaluate({QRELS!r}, {BM25!r}, ['Promptness(half=3)@10'])\n"
        "assert parse_measure(str(results.measures[0])) == results.measures[0] == Promptness(half=3) @ 10\n"
        "assert pickle.loads(pickle.dumps(results)).measures == results.measures\n"
        "print(results.measures[0], f'{results.scores[0].mean():.4f}')"
    )
    in_python = python("-c", code, path=installed)
    assert (in_python.stderr, in_python.stdout) == ("", "Promptness(half=3)@10 0.8333\n")
    assert "0.8333" in done.stdout


def test_a_method_of_fusion_and_a_format_of_a_plugin(installed: Path, tmp_path: Path) -> None:
    fused = tmp_path / "fused.ranked"
    done = cranfield("fuse", BM25, DENSE, "--method", "alternate(shift=1)", "-o", str(fused), path=installed)
    assert (done.returncode, done.stderr) != (0, "")  # the format has no scores: they are not lost in silence
    assert "scores are dropped, their order is kept" in done.stderr
    run = tmp_path / "fused.run"
    done = cranfield("fuse", BM25, DENSE, "--method", "alternate(shift=1)", "-o", str(run), path=installed)
    assert (done.returncode, done.stderr) == (0, "")
    assert "alternate: Alternating lists" in cranfield("fuse", "--method", "list", path=installed).stdout
    done = cranfield("convert", str(run), "-o", str(fused), "--lossy", path=installed)
    assert done.returncode == 0, done.stderr
    assert fused.read_text().startswith("1: ")
    scores = [
        cranfield("evaluate", QRELS, str(path), *format, "-m", "AP", path=installed).stdout
        for path, format in ((run, ()), (fused, ("--format", "ranked")))
    ]
    assert scores[0] == scores[1] != ""
    unknown = cranfield("evaluate", QRELS, str(fused), "--format", "ranket", path=installed)
    assert (unknown.returncode, "'ranket' is not one of 'parquet'" in unknown.stderr) == (2, True)


def test_a_picture_and_a_coefficient_of_a_plugin(installed: Path, tmp_path: Path) -> None:
    picture = tmp_path / "bars.json"
    done = cranfield("plot", "topic-bars", QRELS, BM25, DENSE, "-m", "P@5", "-o", str(picture), path=installed)
    assert (done.returncode, done.stderr) == (0, "")
    assert {row["run"] for row in json.loads(picture.read_text())["data"]["values"]} == {"bm25", "dense"}
    assert "topic-bars           A bar for each topic and run." in cranfield("plot", "list", path=installed).stdout
    agreed = cranfield("correlate", BM25, DENSE, "-c", "footrule", path=installed)
    assert "footrule" in agreed.stdout.splitlines()[0].split()


def test_without_the_package_the_names_are_unknown() -> None:
    assert cranfield("evaluate", QRELS, BM25, "-m", "Promptness").returncode == 2
    assert cranfield("fuse", BM25, DENSE, "--method", "alternate").returncode == 2


def test_the_page_shows_the_example_as_it_is() -> None:
    page = (ROOT / "docs" / "plugins.md").read_text()
    for path in [EXAMPLES / "plugin" / "pyproject.toml", EXAMPLES / "plugin" / "src" / "pond_tools" / "measures.py"]:
        assert path.read_text() in page, path.name
    from test_registry import REGISTRIES

    for group, registry in REGISTRIES.items():
        assert f"| `{group}` | {registry.noun} |" in page


# ---- plug-ins that are wrong ----


def plugged(folder: Path, entry_points: str, **modules: str) -> Path:
    """A folder with an installed package of some modules, which has these entry points."""
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    about = folder / "wrong_tools-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong-tools\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(entry_points)
    return folder


OWN = "import cranfield, numpy\n@cranfield.measure()\ndef {name}(judged): return numpy.ones(len(judged.topics))\n"


def test_a_plugin_that_cannot_be_imported_is_told_when_it_is_asked_for(tmp_path: Path) -> None:
    path = plugged(
        tmp_path,
        "[cranfield.measures]\nBroken = broken\nFine = fine\n[cranfield.pictures]\nleaving = leaving\n",
        broken="import a_module_that_is_not_there",
        fine=OWN.format(name="Fine"),
        leaving="raise SystemExit(0)",
    )
    whose = "the plug-in 'Broken' of the package wrong-tools (cranfield.measures: broken) cannot be used: "
    why = "ModuleNotFoundError: No module named 'a_module_that_is_not_there'"
    asked = cranfield("evaluate", QRELS, BM25, "-m", "Broken@10", path=path)
    assert (asked.returncode, asked.stdout, asked.stderr) == (2, "", f"cranfield: {whose}{why}\n")
    listed = cranfield("measures", path=path)
    assert (listed.returncode, listed.stderr) == (0, f"cranfield: note: {whose}{why}\n")
    assert "Fine" in listed.stdout
    assert cranfield("measures", "--quiet", path=path).stderr == ""
    for measure in ("AP", "Fine"):
        others = cranfield("evaluate", QRELS, BM25, "-m", measure, path=path)
        assert (others.returncode, others.stderr) == (0, "")
    left = cranfield("plot", "leaving", QRELS, BM25, "-o", str(tmp_path / "a.svg"), path=path)
    assert (left.returncode, "'leaving' of the package wrong-tools" in left.stderr) == (2, True)


def test_a_plugin_cannot_take_the_place_of_ours(tmp_path: Path) -> None:
    path = plugged(
        tmp_path,
        "[cranfield.measures]\nAP = same\nTwo = both\n",
        same=OWN.format(name="AP"),
        both=OWN.format(name="Two") + OWN.format(name="RR"),
    )
    ours = cranfield("evaluate", QRELS, BM25, "-m", "AP", path=path)
    assert (ours.stdout, ours.stderr) == (cranfield("evaluate", QRELS, BM25, "-m", "AP").stdout, "")
    listed = cranfield("measures", path=path)
    assert listed.stdout == cranfield("measures").stdout
    assert listed.stderr.count("give yours another name") == 2
    assert "there is a measure called 'AP' already, cranfield.measures.ranked.AP" in listed.stderr
    code = "import cranfield\nfor _ in range(2):\n    try: cranfield.measures.parse_measure('Two')\n"
    code += "    except cranfield.UsageError as error: print(error)"
    twice = python("-c", code, path=path).stdout.splitlines()
    assert len(twice) == 2
    assert all("'Two' of the package wrong-tools" in told and "called 'RR' already" in told for told in twice)


def test_a_plugin_that_defines_something_else_is_refused(tmp_path: Path) -> None:
    path = plugged(tmp_path, "[cranfield.measures]\nThis = that\n", that=OWN.format(name="That"))
    done = cranfield("evaluate", QRELS, BM25, "-m", "This", path=path)
    assert done.returncode == 2
    assert "'This' of the package wrong-tools (cranfield.measures: that)" in done.stderr
    assert "it defines no measure of that name" in done.stderr


def test_a_plugin_whose_decorator_is_not_called_is_told_so(tmp_path: Path) -> None:
    parentheses = "its parentheses even where nothing stands in them"
    of_the_room = f"it defines no measure of that name: one is made by measure(…), with {parentheses}"
    bare = OWN.format(name="Bare").replace("measure()", "measure")
    for place, module, hint in (
        ("room", "from cranfield.measures import measure\n" + bare.replace("@cranfield.", "@"), of_the_room),
        ("top", bare, f"; a decorator has {parentheses}"),
    ):
        (tmp_path / place).mkdir()
        path = plugged(tmp_path / place, "[cranfield.measures]\nBare = bare:Bare\n", bare=module)
        done = cranfield("evaluate", QRELS, BM25, "-m", "Bare", path=path)
        assert done.returncode == 2
        assert "(cranfield.measures: bare:Bare) cannot be used: " in done.stderr
        assert hint in done.stderr


# ---- modules named on the command line, and nowhere else ----

# What was imported can be seen: the module writes a file.
NOSY = "open('imported', 'w').close()\n" + OWN.format(name="Nosy")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder to work in, with a module of one's own in it."""
    (tmp_path / "nosy.py").write_text(NOSY)
    return tmp_path


def test_a_module_can_be_named_on_the_command_line(here: Path) -> None:
    done = cranfield("evaluate", QRELS, BM25, "-m", "AP,nosy:Nosy", "-m", "nosy:Nosy(agg='sum')", folder=here)
    assert (done.returncode, done.stderr, (here / "imported").exists()) == (0, "", True)
    assert done.stdout.splitlines()[0].split() == ["run", "AP", "Nosy", "Nosy(agg='sum')"]
    gated = cranfield("gate", QRELS, BM25, DENSE, "-m", "nosy:Nosy", "--minimum", "0.5", folder=here)
    assert (gated.returncode, "Nosy" in gated.stdout) == (0, True)
    assert cranfield("measures", "nosy:Nosy", folder=here).stdout.startswith("Nosy\n")


def test_every_command_that_takes_a_measure_takes_one_s_own() -> None:
    options = {
        name: [option.type for option in command.params if "--measure" in option.opts]
        for name, command in commands().items()
    }
    assert len([name for name, types in options.items() if types]) >= 10
    for name, types in options.items():
        assert all(isinstance(kind, MeasureName) for kind in types) or name == "trec_eval", name


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        ("nowhere:Nosy", "no module 'nowhere', neither installed nor in this folder"),
        ("nosy:Nose", "nosy has no Nose"),
        ("os:getcwd", "os:getcwd is not a measure: a function becomes one by @cranfield.measure()"),
        ("wrong:X", "the module 'wrong' cannot be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_what_is_wrong_with_such_a_name_is_told(
    here: Path, measure: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "wrong.py").write_text("1 / 0")
    (here / "nosy.py").write_text("")
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "nosy", raising=False)
    with pytest.raises(UsageError) as caught:
        MeasureName().convert(measure, None, None)
    assert told in str(caught.value)
    sys.modules.pop("nosy", None)


def test_what_lies_about_takes_the_place_of_nothing_installed(here: Path) -> None:
    (here / "json.py").write_text(NOSY)
    done = python("-P", "-m", "cranfield", "evaluate", QRELS, BM25, "-m", "json:Nosy", folder=here)
    assert (done.returncode, "json has no Nosy" in done.stderr, (here / "imported").exists()) == (2, True, False)


REFUSED = "names a module: only -m on the command line imports one"
ASKED = "'nosy:Nosy@10'"
# Every way in which a name of a measure comes from somewhere else, and then of other things that are registered.
MEASURES_IN_PYTHON = (
    f"cranfield.evaluate({QRELS!r}, {BM25!r}, {ASKED})",
    f"cranfield.compare(cranfield.Experiment({QRELS!r}, [{BM25!r}, {DENSE!r}]), [{ASKED}, 'AP'])",
    f"Thresholds({{{ASKED}: Rule()}})",
    f"cranfield.diagnose(cranfield.Experiment({QRELS!r}, [{BM25!r}, {DENSE!r}]), {ASKED})",
    f"cranfield.explain(cranfield.Experiment({QRELS!r}, {BM25!r}), '1', {ASKED})",
    f"cranfield.measures.parse_measures('AP,' + {ASKED})",
    f"cranfield.fusion.train_fusion(cranfield.Experiment({QRELS!r}, [{BM25!r}, {DENSE!r}]), "
    f"training=cranfield.fusion.Training(measure={ASKED}))",
    f"cranfield.plan(cranfield.Experiment({QRELS!r}, [{BM25!r}, {DENSE!r}]), {ASKED})",
)
OTHERS_IN_PYTHON = (
    "pickle.loads(pickle.dumps(cranfield.measures.AP).replace(b'\\x02AP', b'\\x09nosy:Nosy'))",
    f"cranfield.fuse([{BM25!r}, {DENSE!r}], 'nosy:Nosy')",
    f"cranfield.fuse([{BM25!r}, {DENSE!r}], 'combsum', norm='nosy:Nosy')",
    "cranfield.search.find_model('nosy:Nosy')",
    f"cranfield.compare(cranfield.Experiment({QRELS!r}, [{BM25!r}, {DENSE!r}]), 'AP', tests=['nosy:Nosy'])",
    f"cranfield.compare(cranfield.Experiment({QRELS!r}, [{BM25!r}, {DENSE!r}]), 'AP', correction='nosy:Nosy')",
    f"cranfield.correlate({BM25!r}, {DENSE!r}, coefficients='nosy:Nosy')",
    f"cranfield.evaluate({QRELS!r}, {BM25!r}, 'AP').plot.__getattr__('nosy:Nosy')",
    "find_method('nosy:Nosy')",
    f"cranfield.read_run({BM25!r}, reading=cranfield.Reading(format='nosy:Nosy'))",
    f"cranfield.read_qrels({QRELS!r}, reading=cranfield.Reading(judgements='nosy:Nosy'))",
)


def test_no_name_given_in_python_imports_anything(here: Path) -> None:
    code = f"""
import sys, pickle, cranfield, cranfield.fusion, cranfield.search
from cranfield.comparison.gate.rules import Rule, Thresholds
from cranfield.pooling.strategy import find_method
for call in {(*MEASURES_IN_PYTHON, *OTHERS_IN_PYTHON)!r}:
    try: eval(call)
    except Exception as error: print(type(error).__name__, str(error).splitlines()[0])
    else: print("accepted")
    assert "nosy" not in sys.modules, call
"""
    done = python("-c", code, folder=here, path=here)
    assert done.returncode == 0, done.stderr
    told = done.stdout.splitlines()
    assert len(told) == len(MEASURES_IN_PYTHON) + len(OTHERS_IN_PYTHON)
    for call, sentence in zip((*MEASURES_IN_PYTHON, *OTHERS_IN_PYTHON), told, strict=True):
        assert "nosy:Nosy" in sentence, f"{call}: {sentence}"
        assert call not in MEASURES_IN_PYTHON or sentence.startswith(f"UsageError {ASKED} {REFUSED}"), sentence
    assert not (here / "imported").exists()


def test_the_sentence_says_what_to_do_instead() -> None:
    with pytest.raises(UsageError, match="Import it yourself and give the measure, or install it as a plug-in"):
        parse_measures("nosy:Nosy")


# Commands whose names come from files, or are of other things than measures: none imports.
COMMANDS = (
    ["gate", QRELS, BM25, DENSE, "--config", "rules.toml"],
    ["compare", "--collections", "collections.toml", "-m", "AP"],
    ["search", "pond.toml"],
    ["compare", QRELS, BM25, DENSE, "--splits", "splits.json"],
    ["compare", QRELS, BM25, DENSE, "--ledger", "ledger.jsonl"],
    ["pool", "bm25.run", "--plan", "plan.csv"],
    ["evaluate", QRELS, "bm25.run", "--figure", "latency"],
    ["trec_eval", "-m", "nosy:Nosy", QRELS, BM25],
    ["evaluate", QRELS, "nosy:Nosy"],
    ["fuse", BM25, DENSE, "--method", "nosy:Nosy"],
    ["fuse", BM25, DENSE, "--norm", "nosy:Nosy"],
    ["pool", "bm25.run", "--method", "nosy:Nosy"],
    ["search", "pond.toml", "--model", "nosy:Nosy"],
    ["compare", QRELS, BM25, DENSE, "--test", "nosy:Nosy"],
    ["compare", QRELS, BM25, DENSE, "--correction", "nosy:Nosy"],
    ["correlate", BM25, DENSE, "-c", "nosy:Nosy"],
    ["plot", "nosy:Nosy", QRELS, BM25, "-o", "a.svg"],
    ["evaluate", QRELS, BM25, "--format", "nosy:Nosy"],
    ["evaluate", QRELS, BM25, "--judgements", "nosy:Nosy"],
)


def test_no_name_in_a_file_imports_anything(here: Path) -> None:
    files = {
        "rules.toml": '[measures."nosy:Nosy"]\nminimum = 0.1\n',
        "collections.toml": f'["nosy:Nosy"]\nqrels = "{QRELS}"\n["nosy:Nosy".runs]\na = "{BM25}"\nb = "{DENSE}"\n',
        "pond.toml": f'documents = "nosy:Nosy"\ntopics = "nosy:Nosy"\nqrels = "{QRELS}"\n',
        "splits.json": json.dumps({"folds": [{"train": ["1"], "test": ["nosy:Nosy"]}]}),
        "plan.csv": "run,depth,priority\nnosy:Nosy,10,1\n",
        "ledger.jsonl": json.dumps({"measures": ["nosy:Nosy"], "tests": ["nosy:Nosy"]}) + "\n",
        "bm25.run.metadata.json": json.dumps({"tag": "nosy:Nosy", "measure": "nosy:Nosy"}),
    }
    for name, text in files.items():
        (here / name).write_text(text)
    shutil.copy(BM25, here / "bm25.run")
    code = f"""
import sys
from cranfield.cli import cli
for command in {COMMANDS!r}:
    try: cli(command, standalone_mode=False)
    except (Exception, SystemExit) as error: print("TOLD", type(error).__name__, str(error).splitlines()[0])
    else: print("TOLD nothing")
    assert "nosy" not in sys.modules, command
"""
    done = python("-c", code, folder=here, path=here)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith("TOLD")]
    assert len(told) == len(COMMANDS)
    assert told[0].startswith(f"TOLD UsageError 'nosy:Nosy' {REFUSED}")
    assert not (here / "imported").exists()


def test_only_the_command_line_has_the_door() -> None:
    """The module that imports by name is used by the command line alone."""
    users = [
        str(path.relative_to(ROOT / "src" / "cranfield"))
        for path in (ROOT / "src" / "cranfield").rglob("*.py")
        if "measures.importing" in path.read_text()
    ]
    assert sorted(users) == ["cli/measure_names.py", "cli/online_audit.py"]
