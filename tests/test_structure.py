"""The shape of the project: imports go one way, public names exist and are explained, starting up stays light."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import cranfield
import cranfield.measures

PACKAGE = Path(cranfield.__file__).parent
# Data flows this way: a module may import from its own layer or an earlier one.
LAYERS = (
    ("version", "errors", "escaping", "numerals", "touched", "_core"),
    ("policy", "resources", "tables"),
    ("calling",),
    ("formats", "texts"),
    ("writing", "converting"),
    ("efficiency", "metadata"),
    ("judged", "tie_orders"),
    ("measures",),
    ("expected", "findings", "opinions"),
    ("results",),
    ("evaluation",),
    ("statistics",),
    ("checking", "correlating", "describing", "fusion", "plans", "pooling", "splits"),
    ("assessing", "search"),
    ("comparison", "question"),
    ("guards", "ledger", "panels"),
    ("comparing", "diagnosing", "explanation", "explaining"),
    ("gating", "curves"),
    ("plot", "standing"),
    ("reporting",),
    ("report",),
    ("demo",),
    ("trec_eval",),
    ("cli", "__main__"),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
# What a lower layer may load late, inside a function: a result can print itself.
LATE = {
    ("results", "plot"),
    ("comparison", "report"),
    ("correlating", "report"),
    ("plans", "report"),
    ("results", "report"),
    ("explanation", "report"),
    ("describing", "report"),
}
MODULES = sorted(PACKAGE.rglob("*.py"))


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

    visit(ast.parse(path.read_text()), True)
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


def test_no_public_name_is_hidden_by_a_module() -> None:
    """A package binds a submodule to its name once it is imported: a function of that name would be gone."""
    modules = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULES}
    assert not modules & set(cranfield.__all__)


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


def test_evaluating_text_does_not_load_optional_libraries() -> None:
    code = (
        "import sys, cranfield\n"
        "cranfield.evaluate('examples/qrels.txt', 'examples/bm25.run', 'AP')\n"
        "print(sorted({'rich', 'pandas', 'polars', 'pyarrow', 'xxhash', 'scipy', 'altair'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.strip() == "[]"


def test_exported_names_exist_and_have_help() -> None:
    for name in cranfield.__all__:
        value = getattr(cranfield, name)
        if name != "__version__":
            assert inspect.getdoc(value), name
    assert dir(cranfield) == cranfield.__all__
    for name in cranfield.measures.__all__:
        assert hasattr(cranfield.measures, name)


def test_measures_exported_are_those_registered() -> None:
    registered = {measure.name for measure in cranfield.all_measures()}
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


def test_every_public_function_has_an_example() -> None:
    for name in cranfield.__all__:
        value = getattr(cranfield, name)
        if inspect.isfunction(value) and name not in ("all_measures", "measure"):
            assert ">>>" in (inspect.getdoc(value) or ""), name


def test_family_modules_stay_readable() -> None:
    for path in (PACKAGE / "measures").glob("*.py"):
        if path.name != "registry.py":
            assert len(path.read_text().splitlines()) <= 320, path.name


MARKUP = re.compile(r"</?[a-z][a-z0-9]*( [a-z-]+=|>)")
# What is markup already: our own files, and pictures that Vega has escaped.
FIXED = re.compile(
    r"'.*'|[A-Z]+|_own\('[a-z.]+'\)|'\\n'\.join\(\(?_own\(name\) for name in SCRIPTS\)?\)"
    r"|vl_convert\.javascript_bundle\(SNIPPET\)|svg"
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_markup_is_made_in_one_place(path: Path) -> None:
    """No module but `escaping` puts text into markup: renderers take text, and a new one cannot forget to escape it.

    Texts in marked-up formats are read and written by `texts`; tables in Markdown have small letters in tags.
    """
    name = str(path.relative_to(PACKAGE))
    if name == "escaping.py" or name.startswith("texts"):
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            assert "html" not in [alias.name for alias in node.names], name
        if isinstance(node, ast.ImportFrom):
            assert node.module not in ("html", "xml.sax.saxutils", "markupsafe"), name
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Markup.fixed", "Markup._of"):
            assert FIXED.fullmatch(ast.unparse(node.args[0])), f"{name}: {ast.unparse(node)}"
        if (
            isinstance(node, ast.JoinedStr)
            and len(node.values) > 1
            and name not in ("report/grid.py", "report/gate_tables.py")
        ):
            literal = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
            assert not MARKUP.search(literal), f"{name}: {ast.unparse(node)}"
