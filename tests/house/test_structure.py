"""The shape of the project: imports go one way, public names exist and are explained, starting up stays light."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import cranfield
import cranfield.measures
from places import ROOT

PACKAGE = Path(cranfield.__file__).parent
# Data flows this way: a module may import from its own layer or an earlier one.
LAYERS = (
    ("version", "exports", "render", "errors", "libraries", "numerals", "notation", "records", "registry", "_core"),
    ("policy", "tables", "travel"),
    ("signatures",),
    ("formats",),
    ("texts",),
    ("efficiency",),
    ("judged",),
    ("measures",),
    ("evaluation",),
    ("statistics",),
    ("agreement", "description", "fusion", "planning", "studies"),
    ("search",),
    ("learning",),
    ("pooling",),
    ("quotation",),
    ("judging",),
    ("probing",),
    ("comparison",),
    ("explanation",),
    ("plot",),
    ("report",),
    ("online",),
    ("demo",),
    ("trec_eval",),
    ("web",),
    ("spark",),
    ("cli", "__main__"),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# What a lower layer may load late, inside a function: a result can print itself.
LATE = {("evaluation", "plot"), ("exports", "signatures"), ("signatures", "formats"), ("signatures", "texts")}
# Alembic runs migrations; nobody imports them.
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "migrations" not in path.parts)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def layer_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "cranfield" and len(parts) > 1 else None


def imports_of(path: Path) -> set[tuple[str, bool]]:
    """Modules a file imports, and whether at the top (True) or inside a function; typing-only imports do not count."""
    found: set[tuple[str, bool]] = set()

    def visit(node: ast.AST, top: bool) -> None:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            return
        if isinstance(node, ast.Import):
            found.update((alias.name, top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update((f"{node.module}.{alias.name}", top) for alias in node.names)
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for child in ast.iter_child_nodes(node):
            visit(child, top and not inside)

    visit(parsed(path), True)
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for module, _ in imports_of(path):
        other = layer_of(module)
        if other is not None and (own, other) not in LATE:
            assert RANK[other] <= RANK[own], f"{own} imports {module}"


ROOMS = [
    importlib.import_module(".".join(("cranfield", *path.parent.relative_to(PACKAGE).parts)))
    for path in MODULES
    if path.name == "__init__.py" and "PUBLIC" in path.read_text()
]


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.__name__))
def test_no_public_name_is_hidden_by_a_module(room: ModuleType) -> None:
    """A package binds a submodule to its name once it is imported: a function of that name would be gone."""
    folder = Path(str(room.__file__)).parent
    assert not {path.stem for path in folder.iterdir()} & set(dir(room))


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.__name__))
def test_type_checkers_see_the_public_names(room: ModuleType) -> None:
    """They are written twice, for the type checker and for Python, and both say the same."""
    block = next(
        node
        for node in ast.parse(Path(str(room.__file__)).read_text()).body
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    )
    typed = {
        (str(node.module).removeprefix(f"{room.__name__}."), alias.asname)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == {(module, name) for module, names in room.PUBLIC.items() for name in names.split()}


def test_every_module_belongs_to_a_layer() -> None:
    tops = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES} - {"__init__"}
    assert tops <= set(RANK)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["evaluate", "--help"], ["trec_eval", "--help"], ["--version"]], ids=" ".join
)
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    heavy = {"numpy", "rich", "pandas", "polars", "pyarrow", "xxhash", "json", "concurrent.futures"}
    code = (
        "import sys; sys.argv = ['cranfield', *sys.argv[2:]]\n"
        "from cranfield.cli import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        f"sys.exit(', '.join({heavy!r} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code, "-", *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), f"{done.stderr} was loaded"
    assert done.stdout


def test_help_loads_no_command() -> None:
    code = (
        "import sys; sys.argv = ['cranfield', '--help']\n"
        "from cranfield.cli import COMMANDS, main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "modules = ['cranfield.cli.' + '_'.join(name.split()) for name in COMMANDS]\n"
        "sys.exit(' '.join(module for module in modules if module in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_evaluating_text_does_not_load_optional_libraries() -> None:
    code = (
        "import sys, cranfield\n"
        "cranfield.evaluate('examples/qrels.txt', 'examples/bm25.run', 'AP')\n"
        "print(sorted({'rich', 'pandas', 'polars', 'pyarrow', 'scipy', 'altair'} & set(sys.modules)))"
    )
    root = ROOT
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "[]"


def test_evaluating_loads_no_more_of_numpy_than_importing_it_does() -> None:
    """What NumPy loads once a function of it is called, such as masked arrays, takes as long as a small evaluation."""
    code = (
        "import sys, numpy; before = set(sys.modules)\n"
        "import cranfield\n"
        "cranfield.evaluate('examples/qrels.txt', 'examples/bm25.run', ['nDCG@10', 'AP', 'RR', 'P@10', 'R@1000'])\n"
        "print(sorted(name for name in set(sys.modules) - before if name.startswith('numpy')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.__name__))
def test_exported_names_exist_and_have_help(room: ModuleType) -> None:
    for name in dir(room):
        assert inspect.getdoc(getattr(room, name)), name


def test_public_names_are_seen_at_a_glance() -> None:
    assert 20 <= len(dir(cranfield)) <= 32
    for name in cranfield.measures.__all__:
        assert hasattr(cranfield.measures, name)


def test_measures_exported_are_those_registered() -> None:
    registered = {measure.name for measure in cranfield.measures.all_measures()}
    assert registered <= set(cranfield.measures.__all__)


def test_unknown_attribute_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        cranfield.evalute  # noqa: B018


def python_modules() -> list[ModuleType]:
    names = [".".join(("cranfield", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in MODULES]
    return [importlib.import_module(name.removesuffix(".__init__")) for name in names if not name.endswith("__main__")]


@pytest.mark.parametrize("module", python_modules(), ids=lambda module: module.__name__)
def test_examples_in_docstrings_run(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.__name__))
def test_every_public_function_has_an_example(room: ModuleType) -> None:
    for name in dir(room):
        value = getattr(room, name)
        if inspect.isfunction(value) and name not in ("measure", "model"):
            assert ">>>" in (inspect.getdoc(value) or ""), name


def test_no_module_name_three_times_and_no_class_name_twice() -> None:
    """A name says where a reader is. Modules of doors are called as what they open."""
    rooms = [path for path in MODULES if path.relative_to(PACKAGE).parts[0] not in ("cli", "spark", "trec_eval", "web")]
    modules = Counter(path.stem for path in rooms if path.stem != "__init__")
    assert [name for name, count in modules.items() if count > 2] == []
    defined = [node for path in MODULES for node in ast.walk(parsed(path))]
    classes = Counter(node.name for node in defined if isinstance(node, ast.ClassDef))
    # A scale is what people call both: of a questionnaire in `studies`, of grades in `judging`.
    assert [name for name, count in classes.items() if count > 1] == ["Scale"]


@cache
def functions() -> list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return [
        (path, node)
        for path in MODULES
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def test_no_function_is_longer_than_a_page() -> None:
    lengths = {(path.name, node.name): (node.end_lineno or 0) - node.lineno + 1 for path, node in functions()}
    assert {place: lines for place, lines in lengths.items() if lines > 60} == {}


def test_functions_take_few_arguments() -> None:
    """What belongs together is a record. A command takes what its options are, a measure what its formula has."""
    many = {}
    for path, node in functions():
        given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = [argument.arg for argument in given if argument.arg not in ("self", "cls")]
        is_measure = any("measure" in ast.unparse(decorator) for decorator in node.decorator_list)
        if len(names) > 8 and path.relative_to(PACKAGE).parts[0] != "cli" and not is_measure:
            many[path.name, node.name] = len(names)
    assert many == {}


def test_family_modules_stay_readable() -> None:
    for path in (PACKAGE / "measures").glob("*.py"):
        if path.name != "registry.py":
            assert len(path.read_text().splitlines()) <= 320, path.name


MARKUP = re.compile(r"</?[a-z][a-z0-9]*( [a-z-]+=|>)")
# What is markup already: our own files, and pictures that Vega has escaped.
FIXED = re.compile(
    r"'.*'|[A-Z]+|files\('cranfield\.report\.page'\)\.joinpath\(name\)\.read_text\(encoding='utf-8'\)"
    r"|vl_convert\.javascript_bundle\(SNIPPET\)|svg"
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_markup_is_made_in_one_place(path: Path) -> None:
    """No module but `escaping` puts text into markup: renderers take text, and a new one cannot forget to escape it.

    Texts in marked-up formats are read and written by `texts`; tables in Markdown have small letters in tags.
    """
    name = str(path.relative_to(PACKAGE))
    # `room` changes the ground of a drawing that is all ours: what it puts in are numbers.
    if name in ("render/escaping.py", "plot/room.py") or name.startswith("texts"):
        return
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            assert "html" not in [alias.name for alias in node.names], name
        if isinstance(node, ast.ImportFrom):
            assert node.module not in ("html", "xml.sax.saxutils", "markupsafe"), name
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Markup.fixed", "Markup._of"):
            assert FIXED.fullmatch(ast.unparse(node.args[0])), f"{name}: {ast.unparse(node)}"
        if (
            isinstance(node, ast.JoinedStr)
            and len(node.values) > 1
            and name not in ("render/grid.py", "comparison/gate/gate_tables.py")
        ):
            literal = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
            assert not MARKUP.search(literal), f"{name}: {ast.unparse(node)}"


def test_what_is_rounded_to_zero_has_no_minus() -> None:
    """`+z` writes a difference of -0.00001 as +0.0000."""
    signed = re.compile(r"\{[^{}\n]*:\+(?!z|d)[^{}]*\}")
    found = {path.name: signed.findall(path.read_text(encoding="utf-8")) for path in MODULES}
    assert {name: lines for name, lines in found.items() if lines} == {}
