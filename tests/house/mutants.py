"""Do the tests bite? Puts subtle faults into a copy of the code, one at a time, and counts those that a test notices.

    python tests/house/mutants.py                       300 faults, the same ones for the same seed
    python tests/house/mutants.py --area options        of one area alone
    python tests/house/mutants.py --list-survivors      those that no test noticed, from the results so far

The checkout is never touched: each job has a copy of it, with a virtual environment of its own, in a temporary folder.
A first run of all tests records which lines each of them executes; then a fault is shown to the tests that execute its
line, and if none of them fails to those that execute its function, then its file, until they have used up their time.
Results are appended to build/mutants/results.jsonl, from which --resume goes on.

A fault that makes no difference (a faster way, a check that another check repeats) survives by right: read survivors,
and close the class of what should have been noticed, not the one case.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path("src/cranfield")
STORE = ROOT / "build" / "mutants"

# ---------------------------------------------------------------------------------------------------------------------
# Where: the area of a file is that of the longest name here that it begins with.

AREAS = {
    "measures": ("measures/", "plot/curves.py"),
    "judged and bounds": (
        "judged.py", "measures/bounded.py", "measures/tied.py", "measures/orders.py", "measures/supposed.py",
        "evaluation/", "policy.py",
    ),
    "statistics": ("statistics/", "planning/", "agreement/"),
    "decisions": ("comparison/",),
    "formats and texts": (
        "formats/", "texts/", "tables.py", "description/", "efficiency/metadata.py", "numerals.py",
    ),
    "pooling, fusion and search": ("pooling/", "fusion/", "search/", "demo/", "efficiency/"),
    "report, plot and command line": ("",),
}  # fmt: skip
OPTIONS = "options"  # what a command was given and does not hand on, whatever the file
DATA = ("version.py", "__init__.py")  # nothing to break but names


def area_of(path: str, kind: str) -> str:
    """The area of a fault by its file (within the package) and its kind."""
    if path.startswith("cli/") and kind in ("dropped keyword", "swallowed option"):
        return OPTIONS
    return max((len(name), area) for area, names in AREAS.items() for name in names if path.startswith(name))[1]


# ---------------------------------------------------------------------------------------------------------------------
# What: a kind of fault is a function that gives, for a node of the syntax tree, the nodes to put in its place.

COMPARISONS = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,),
}  # fmt: skip
ARITHMETIC = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
TWINS = [
    ("min", "max"), ("argmin", "argmax"), ("minimum", "maximum"), ("any", "all"), ("floor", "ceil"), ("cdf", "sf"),
    ("nanmin", "nanmax"), ("startswith", "endswith"), ("removeprefix", "removesuffix"), ("mean", "median"),
]  # fmt: skip
TWIN = {a: b for pair in TWINS for a, b in (pair, pair[::-1])}
# Keywords that change how fast something is, how it is checked or how it is typed, not what comes out.
NO_MATTER = {
    "strict", "threads", "progress", "step", "frozen", "slots", "stacklevel", "copy", "dtype", "maxsize", "help",
    "metavar", "show_default", "title", "check", "encoding", "timeout",
}  # fmt: skip
# Names of how much is worked on at a time, which decides how fast it is done and in how much memory.
AT_ONCE = {"_HELD", "_BLOCK", "_COMPARED", "_PIECE", "BLOCK", "BATCH", "CELLS", "ROWS_AT_ONCE"}
SYMMETRIC = ("max", "min", "maximum", "minimum", "isclose", "array_equal")
NEGATED = {" is ": " is not ", " are ": " are not ", " has ": " has no ", " not ": " ", " no ": " ", " than ": " as "}

Changes = Iterator[ast.AST]


def changed(node: ast.AST, **fields: Any) -> Any:
    """The node with other fields; all else it shares with the one it is to replace."""
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def comparison(node: ast.AST) -> Changes:
    if isinstance(node, ast.Compare):
        for at, operator in enumerate(node.ops):
            for other in COMPARISONS[type(operator)]:
                yield changed(node, ops=[*node.ops[:at], other(), *node.ops[at + 1 :]])


def arithmetic(node: ast.AST) -> Changes:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in ARITHMETIC and not _texts(node):
        yield changed(node, op=ARITHMETIC[type(node.op)]())


def sign(node: ast.AST) -> Changes:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not | ast.Invert):
        yield node.operand


def negation(node: ast.AST) -> Changes:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield changed(node, test=ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.comprehension):
        for at, test in enumerate(node.ifs):
            yield changed(node, ifs=[*node.ifs[:at], *node.ifs[at + 1 :]])
            yield changed(node, ifs=[*node.ifs[:at], ast.UnaryOp(ast.Not(), test), *node.ifs[at + 1 :]])


def connective(node: ast.AST) -> Changes:
    if isinstance(node, ast.BoolOp):
        yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        for at in range(len(node.values)):
            left = [*node.values[:at], *node.values[at + 1 :]]
            yield changed(node, values=left) if left[1:] else left[0]


def constant(node: ast.AST) -> Changes:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, bool):
            yield changed(node, value=not node.value)
        elif isinstance(node.value, int):
            yield changed(node, value=node.value + 1)
            if node.value:
                yield changed(node, value=node.value - 1)
        elif isinstance(node.value, float):
            yield changed(node, value=node.value * 1.1 if node.value else 0.1)


def swapped_arguments(node: ast.AST) -> Changes:
    if isinstance(node, ast.Call) and not any(isinstance(argument, ast.Starred) for argument in node.args):
        if _called(node) in SYMMETRIC:
            return
        for at in range(len(node.args) - 1):
            first, second = node.args[at : at + 2]
            yield changed(node, args=[*node.args[:at], second, first, *node.args[at + 2 :]])


def dropped_keyword(node: ast.AST) -> Changes:
    if isinstance(node, ast.Call):
        for at, keyword in enumerate(node.keywords):
            if keyword.arg is not None and keyword.arg not in NO_MATTER:
                yield changed(node, keywords=[*node.keywords[:at], *node.keywords[at + 1 :]])


def swallowed_option(node: ast.AST) -> Changes:
    """A command that looks at its option no more: inside its body the name has its default."""
    if isinstance(node, ast.FunctionDef) and any("click.command" in ast.unparse(each) for each in node.decorator_list):
        for argument in [*node.args.args, *node.args.kwonlyargs]:
            kind = ast.unparse(argument.annotation) if argument.annotation else ""
            if kind == "click.Context" or argument.arg in ("threads", "qrels", "runs"):
                continue
            default = "None" if "None" in kind else {"bool": "False", "int": "0", "float": "0.5"}.get(kind, "")
            default = default or ("()" if kind.startswith("tuple") else "")
            if default:
                at = 1 if ast.get_docstring(node) is not None else 0
                forgotten = ast.parse(f"{argument.arg} = {default}").body
                yield changed(node, body=[*node.body[:at], *forgotten, *node.body[at:]])


def twin_function(node: ast.AST) -> Changes:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in TWIN:
            yield changed(node, func=ast.Name(TWIN[node.func.id], ast.Load()))
        if isinstance(node.func, ast.Attribute) and node.func.attr in TWIN:
            yield changed(node, func=changed(node.func, attr=TWIN[node.func.attr]))


def swapped_branches(node: ast.AST) -> Changes:
    if isinstance(node, ast.IfExp):
        yield changed(node, body=node.orelse, orelse=node.body)


def deleted_statement(node: ast.AST) -> Changes:
    calls = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if calls or isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break):
        yield ast.Pass()


def default_return(node: ast.AST) -> Changes:
    if isinstance(node, ast.FunctionDef) and node.returns is not None:
        kind = ast.unparse(node.returns).split("[")[0]
        empty = {"str": "''", "bool": "False", "int": "0", "float": "0.0", "list": "[]", "dict": "{}", "tuple": "()"}
        if kind in empty and not any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(node)):
            yield changed(node, body=ast.parse(f"return {empty[kind]}").body)


def sentence(node: ast.AST) -> Changes:
    """Words that a reader is told, gone or turned round."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value.split()) > 1:
        for word, other in NEGATED.items():
            if word in node.value:
                yield changed(node, value=node.value.replace(word, other, 1))
                break
        else:
            yield changed(node, value="")


KINDS: dict[str, Callable[[ast.AST], Changes]] = {
    function.__name__.replace("_", " "): function
    for function in (
        comparison, arithmetic, sign, negation, connective, constant, swapped_arguments, dropped_keyword,
        swallowed_option, twin_function, swapped_branches, deleted_statement, default_return, sentence,
    )
}  # fmt: skip


def _called(node: ast.Call) -> str:
    """The last name of what is called."""
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _texts(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether it puts texts or types together, where other arithmetic would only crash."""
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
    words = (ast.JoinedStr, ast.List, ast.Tuple, ast.Dict)
    return any(
        isinstance(side, words) or (isinstance(side, ast.Constant) and not isinstance(side.value, int | float))
        for side in sides
    )


@dataclass(frozen=True)
class Fault:
    """One change of one file. `node` and `choice` find it again in the same source."""

    path: str
    line: int
    kind: str
    node: int
    choice: int
    scope: tuple[int, int]  # the lines of the function around it
    header: bool  # executed when the function is defined, not when it is called
    old: str = ""
    new: str = ""

    @property
    def area(self) -> str:
        return area_of(self.path, self.kind)

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}: {self.old} → {self.new}"


@dataclass(frozen=True)
class Place:
    """A node with its way into the tree."""

    node: ast.AST
    parent: ast.AST
    field: str
    at: int | None
    scope: tuple[int, int]
    header: bool

    def put(self, new: ast.AST) -> None:
        if self.at is None:
            setattr(self.parent, self.field, new)
        else:
            getattr(self.parent, self.field)[self.at] = new


def places(tree: ast.Module) -> list[Place]:
    """Every node where a fault may be put, in reading order; not where it could make no difference."""
    found: list[Place] = []

    def visit(node: ast.AST, scope: tuple[int, int], header: bool) -> None:
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "ctx", "type_comment"):
                continue
            children = value if isinstance(value, list) else [value]
            for at, child in enumerate(children):
                if not isinstance(child, ast.AST) or _inert(child) or _docstring(node, field, at):
                    continue
                if isinstance(child, ast.FunctionDef):
                    inner = (child.lineno, child.end_lineno or child.lineno)
                else:
                    inner = scope
                above = header and not (isinstance(node, ast.FunctionDef) and field == "body")
                found.append(Place(child, node, field, at if isinstance(value, list) else None, inner, above))
                visit(child, inner, above)

    visit(tree, (0, sys.maxsize), True)
    return found


def _inert(node: ast.AST) -> bool:
    """Whether nothing in it reaches a result: imports, types, exported names, sizes of blocks, assertions for types."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Assert | ast.Global):
        return True
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Assign) and any(
        isinstance(each, ast.Name) and each.id in {"__all__", *AT_ONCE} for each in node.targets
    ):
        return True
    if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
        return True
    if isinstance(node, ast.FunctionDef) and ast.unparse(node.body[-1]) == "...":  # of a protocol
        return True
    if isinstance(node, ast.keyword):
        return node.arg in NO_MATTER
    return isinstance(node, ast.Call) and _called(node) in ("cast", "TypeVar", "ParamSpec", "dataclass", "cache")


def _docstring(node: ast.AST, field: str, at: int) -> bool:
    if field != "body" or at or not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
        return False
    return ast.get_docstring(node) is not None


def faults_of(path: str, source: str) -> Iterator[Fault]:
    """Every fault that can be put into a file, without a word yet of what it is."""
    for number, place in enumerate(places(ast.parse(source))):
        line = getattr(place.node, "lineno", getattr(place.parent, "lineno", 1))
        for kind, function in KINDS.items():
            for choice, _ in enumerate(function(place.node)):
                yield Fault(path, line, kind, number, choice, place.scope, place.header)


def in_words(fault: Fault, source: str) -> Fault | None:
    """The same with what it was and what it is; nothing if it is no change, or cannot be written in this Python."""
    place = places(ast.parse(source))[fault.node]
    try:
        old = _told(place.node, fault.kind)
        new = _told(list(KINDS[fault.kind](place.node))[fault.choice], fault.kind)
    except ValueError:  # a quotation inside an f-string
        return None
    if old == new:
        return None
    if fault.kind == "dropped keyword":
        assert isinstance(place.node, ast.Call)
        dropped = [keyword for keyword in place.node.keywords if keyword.arg not in (None, *NO_MATTER)][fault.choice]
        old, new = f"{_called(place.node)}(… {ast.unparse(dropped)})", f"{_called(place.node)}(…)"
    return replace(fault, old=old[:200], new=new[:200])


def _told(node: ast.AST, kind: str) -> str:
    if kind == "swallowed option" or (kind == "default return" and isinstance(node, ast.FunctionDef)):
        assert isinstance(node, ast.FunctionDef)
        at = 1 if ast.get_docstring(node) is not None and len(node.body) > 1 else 0
        return f"{node.name}: {ast.unparse(node.body[at]).splitlines()[0]}"
    if isinstance(node, ast.comprehension):
        return ast.unparse(ast.ListComp(ast.Name("…", ast.Load()), [node]))
    text = ast.unparse(ast.fix_missing_locations(node))
    return text.splitlines()[0] if isinstance(node, ast.If | ast.While) else " ".join(text.split())


def faulty(source: str, fault: Fault) -> str:
    """The source with the fault in it."""
    tree = ast.parse(source)
    place = places(tree)[fault.node]
    place.put(list(KINDS[fault.kind](place.node))[fault.choice])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@cache
def all_faults(root: Path = ROOT) -> dict[str, list[Fault]]:
    """Every fault of the package by area."""
    found: dict[str, list[Fault]] = {area: [] for area in (*AREAS, OPTIONS)}
    for path in sorted((root / PACKAGE).rglob("*.py")):
        name = path.relative_to(root / PACKAGE).as_posix()
        if name not in DATA:
            for fault in faults_of(name, path.read_text()):
                found[fault.area].append(fault)
    return found


def sample(count: int, seed: int, areas: Sequence[str] = (), root: Path = ROOT) -> list[Fault]:
    """As many faults, the same number of each area and within it of each kind as far as there are; in mixed order."""
    chosen: list[Fault] = []
    found = {area: faults for area, faults in all_faults(root).items() if not areas or area in areas}
    for area, faults in found.items():
        draw = random.Random(f"{seed} {area}")
        kinds: dict[str, list[Fault]] = defaultdict(list)
        for fault in draw.sample(faults, len(faults)):
            kinds[fault.kind].append(fault)
        turn = draw.sample(sorted(kinds), len(kinds))
        wanted = -(-count // len(found))
        while wanted and any(kinds.values()):
            for kind in turn:
                if kinds[kind] and wanted:
                    fault = kinds[kind].pop()
                    told = in_words(fault, (root / PACKAGE / fault.path).read_text())
                    if told is not None:
                        wanted -= 1
                        chosen.append(told)
    random.Random(seed).shuffle(chosen)
    return chosen


# ---------------------------------------------------------------------------------------------------------------------
# The laboratory: a copy of the checkout, and an environment in which `cranfield` is that copy, in subprocesses too.


class Laboratory:
    """A copy of the checkout and a warm process in it that runs tests in forks of itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "cranfield"
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in listed.stdout.splitlines():
            if (ROOT / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name)
        import cranfield._core as core  # type: ignore[import-untyped,unused-ignore]

        shutil.copy2(core.__file__, self.folder / PACKAGE)
        if (ROOT.parent / "shared").exists():
            (folder / "shared").symlink_to((ROOT.parent / "shared").resolve())
        venv.EnvBuilder(symlinks=True).create(self.folder / ".venv")
        libraries = sysconfig.get_path("purelib")
        # Lines of a .pth are paths, whose own .pth files are not looked at: the editable install stays out.
        own = next((self.folder / ".venv" / "lib").glob("python*")) / "site-packages"
        lines = [str(self.folder / "src"), libraries, "import coverage; coverage.process_startup()"]
        (own / "laboratory.pth").write_text("\n".join(lines) + "\n")
        python = self.folder / ".venv" / "bin" / "python"
        environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [python, self.folder / "tests" / "house" / "mutants.py", "--serve"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=self.folder, env=environment,
        )  # fmt: skip
        self.written = 0

    def ask(self, **task: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(task), file=self.process.stdin, flush=True)
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def put(self, path: str, source: str) -> None:
        """Writes a file of the package; no two versions have one time, by which Python knows what it compiled."""
        self.written += 1
        place = self.folder / PACKAGE / path
        place.write_text(source)
        os.utime(place, (1_000_000_000 + self.written, 1_000_000_000 + self.written))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def serve() -> None:
    """Inside the laboratory: each line of standard input is a task; tests run in a fork that has libraries loaded."""
    import pytest

    for library in ("altair", "click", "numpy", "pandas", "rich", "scipy.optimize", "scipy.stats"):
        import_module(library)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        task = json.loads(line)
        Path("outcome.json").unlink(missing_ok=True)
        child = os.fork()
        if not child:
            os.setsid()
            with open("output.txt", "w") as output:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
            watch = Recording(task["record"]) if "record" in task else Chosen(task["tests"])
            arguments = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0", *task["files"]]
            code = 3
            try:
                if isinstance(watch, Recording):
                    arguments.remove("-x")
                    watch.start()
                code = int(pytest.main(arguments, plugins=[watch]))
                Path("outcome.json").write_text(json.dumps(watch.outcome() | {"code": code}))
            finally:
                sys.stdout.flush()
                os._exit(code)
        deadline = time.monotonic() + task["timeout"]
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
            time.sleep(0.02)
        else:
            deadline = 0
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # whatever a test left running
        outcome = Path("outcome.json")
        found = json.loads(outcome.read_text()) if outcome.exists() else {"code": 3, "failed": "the process ended"}
        print(json.dumps(found | {"timeout": deadline > 0}), file=answers, flush=True)


class Chosen:
    """Runs the tests that were chosen, in that order."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {test: at for at, test in enumerate(tests)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid]
        )

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def outcome(self) -> dict[str, Any]:
        return {"failed": self.failed}


class Recording:
    """Notes the lines that each test executes, in its subprocesses too, and how long it takes."""

    def __init__(self, data_file: str) -> None:
        self.data_file = data_file
        self.tests: dict[str, float] = {}
        self.failed: set[str] = set()
        self.coverage: Any = None

    def start(self) -> None:
        import coverage

        settings = (
            f"[run]\nsource = src/cranfield\nrelative_files = true\ndata_file = {self.data_file}\npatch = _exit\n"
        )
        Path("recording.ini").write_text(f"{settings}disable_warnings = no-data-collected\n")
        Path("inside.ini").write_text(f"{settings}parallel = true\ncontext = ${{TEST_CONTEXT}}\n")
        os.environ["COVERAGE_PROCESS_START"] = str(Path("inside.ini").resolve())
        self.coverage = coverage.Coverage(config_file="recording.ini")
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.switch(nodeid)

    def pytest_runtest_call(self, item: Any) -> None:
        self.switch(item.nodeid)

    def pytest_runtest_setup(self, item: Any) -> None:
        self.switch(f"{item.nodeid}|setup")

    def switch(self, context: str) -> None:
        self.coverage.switch_context(context)
        os.environ["TEST_CONTEXT"] = context.encode("ascii", "backslashreplace").decode().replace("\0", "")

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.tests[report.nodeid] = self.tests.get(report.nodeid, 0.0) + report.duration
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)

    def outcome(self) -> dict[str, Any]:
        self.coverage.stop()
        self.coverage.save()
        self.coverage.combine([self.data_file, str(Path(self.data_file).parent)], keep=False)
        self.coverage.save()
        return {"tests": {t: s for t, s in self.tests.items() if t not in self.failed}, "failed": sorted(self.failed)}


# ---------------------------------------------------------------------------------------------------------------------
# Which tests: what the first run recorded.

LOOK_AT_DECLARATIONS = ("_as_written_down", "_is_current")  # how tests are called that do


class Record:
    """Which tests execute which lines of which file, and how long they take."""

    def __init__(self, folder: Path = STORE / "record") -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}
        for path in folder.glob("*.json"):
            self.seconds |= json.loads(path.read_text())["tests"]

    @cache  # noqa: B019 - there is one record
    def contexts(self, path: str) -> dict[int, set[str]]:
        """The tests by line; after what a fixture of a whole module did come all tests of that module."""
        from coverage import CoverageData

        found: dict[int, set[str]] = defaultdict(set)
        for file in self.folder.glob("*.db"):
            data = CoverageData(str(file))
            data.read()
            for line, contexts in data.contexts_by_lineno((PACKAGE / path).as_posix()).items():
                found[line].update(contexts)
        return found

    def order(self, fault: Fault, budget: float) -> list[str]:
        """The tests that may notice a fault: of its line, its function, its file; a test of each function first."""
        lines = self.contexts(fault.path)
        first, last = fault.scope
        own = set() if fault.header else lines.get(fault.line, set())
        around = {test for line, tests in lines.items() if first < line <= last for test in tests}
        anywhere = {test for tests in lines.values() for test in tests}
        chosen: dict[str, None] = {}
        if fault.header:  # no test executes what is declared: those that look at declarations do not show in the record
            chosen |= dict.fromkeys(test for test in self.seconds if test.endswith(LOOK_AT_DECLARATIONS))
        for contexts in (own, around, anywhere, self.seconds.keys() if not anywhere else set()):
            tests = {context.removesuffix("|setup") for context in contexts}
            shared = {context.partition("::")[0] for context in contexts if context.endswith("|setup")}
            if contexts is own:
                tests |= {test for test in self.seconds if test.partition("::")[0] in shared}
            turns: Counter[str] = Counter()
            ranked = []
            for test in sorted((test for test in tests if test in self.seconds), key=lambda test: self.seconds[test]):
                function = test.partition("[")[0]
                ranked.append((turns[function], self.seconds[test], test))
                turns[function] += 1
            for _, seconds, test in sorted(ranked):
                if test not in chosen and seconds <= budget:
                    chosen[test] = None
                    budget -= seconds
        return list(chosen)


def digest(*paths: Path) -> str:
    """Of the source and the given files, by which a record knows that it is of them."""
    found = hashlib.sha256()
    helpers = sorted((ROOT / "tests" / "common").glob("*.py"))
    for path in (*sorted((ROOT / PACKAGE).rglob("*.py")), *helpers, *paths):
        found.update(path.read_bytes())
    return found.hexdigest()


def record(laboratories: list[Laboratory], again: list[str] | None) -> None:
    """Runs every test file that changed since it was recorded; or those that are named, or all if none is."""
    folder = STORE / "record"
    folder.mkdir(parents=True, exist_ok=True)
    tests = sorted((ROOT / "tests").rglob("test_*.py"), key=lambda path: -path.stat().st_size)
    wanted = []
    for path in tests:
        told = folder / f"{path.stem}.json"
        if again is not None:
            stale = not again or path.stem in again
        else:
            stale = not told.exists() or json.loads(told.read_text())["digest"] != digest(path)
        if stale:
            wanted.append(path)
    for old in folder.iterdir():
        if old.stem not in {path.stem for path in tests}:
            old.unlink()

    def one(laboratory: Laboratory, path: Path) -> None:
        data = laboratory.folder / "data" / f"{path.stem}.db"
        shutil.rmtree(data.parent, ignore_errors=True)
        data.parent.mkdir()
        started, of = time.monotonic(), digest(path)
        found = laboratory.ask(record=str(data), files=[str(path.relative_to(ROOT))], timeout=3600)
        if "tests" not in found:
            output = (laboratory.folder / "output.txt").read_text()
            sys.exit(f"{path.name} cannot be recorded:\n{output[-3000:]}")
        shutil.copy2(data, folder / data.name)
        (folder / f"{path.stem}.json").write_text(json.dumps(found | {"digest": of}))
        print(f"recorded {path.name}: {len(found['tests'])} tests, {time.monotonic() - started:.0f} s", flush=True)

    spread(laboratories, wanted, one)


def spread(laboratories: list[Laboratory], tasks: Sequence[Any], work: Callable[[Laboratory, Any], None]) -> None:
    """Every task by the laboratory that is free."""
    queue: SimpleQueue[Any] = SimpleQueue()
    for task in tasks:
        queue.put(task)
    errors: list[BaseException] = []

    def run(laboratory: Laboratory) -> None:
        try:
            while not errors:
                work(laboratory, queue.get_nowait())
        except Empty:
            pass
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=run, args=(laboratory,), daemon=True) for laboratory in laboratories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


# ---------------------------------------------------------------------------------------------------------------------
# The run.


def outcome_of(laboratory: Laboratory, fault: Fault, known: Record, budget: float) -> dict[str, Any]:
    """Whether a test notices the fault, and which."""
    source = (ROOT / PACKAGE / fault.path).read_text()
    tests = known.order(fault, budget)
    files: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        files[test.partition("::")[0]].append(test)
    laboratory.put(fault.path, faulty(source, fault))
    try:
        for file, chosen in files.items():
            seconds = sum(known.seconds[test] for test in chosen)
            found = laboratory.ask(files=[file], tests=chosen, timeout=60 + 10 * seconds)
            if found["timeout"]:
                return {"outcome": "killed", "by": f"{file} does not end", "tests": len(tests)}
            if found["code"]:
                return {"outcome": "killed", "by": found["failed"] or file, "tests": len(tests)}
    finally:
        laboratory.put(fault.path, source)
    return {"outcome": "survived" if tests else "untested", "by": "", "tests": len(tests)}


def told(results: Sequence[dict[str, Any]]) -> str:
    """The rate by area."""
    lines = [f"{'area':32} {'faults':>7} {'killed':>7} {'rate':>6}"]
    for area in (*AREAS, OPTIONS, "all"):
        those = [each for each in results if area in (each["area"], "all")]
        killed = sum(each["outcome"] == "killed" for each in those)
        if those:
            lines.append(f"{area:32} {len(those):7} {killed:7} {killed / len(those):6.0%}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300, help="How many faults, spread over the areas (300).")
    parser.add_argument("--seed", type=int, default=0, help="The same seed, the same faults (0).")
    parser.add_argument("--area", action="append", default=[], choices=[*AREAS, OPTIONS], help="May be repeated.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="Copies at work at once (all cores).")
    parser.add_argument("--budget", type=float, default=60, help="Seconds of tests that a fault is shown to (60).")
    parser.add_argument("--resume", action="store_true", help="Go on where the last run ended.")
    parser.add_argument("--stale", action="store_true", help="Take the record of tests by line as it is.")
    parser.add_argument(
        "--record", nargs="*", metavar="TEST", help="Record the lines of these test files, or of all, and no more."
    )
    parser.add_argument("--list-survivors", action="store_true", help="Show what no test noticed, and no more.")
    parser.add_argument("--list-faults", action="store_true", help="Show the faults of the sample, and no more.")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
        return
    store = STORE / "results.jsonl"
    done = [json.loads(line) for line in store.read_text().splitlines()] if store.exists() else []
    if given.list_survivors:
        for each in sorted(done, key=lambda each: (each["area"], each["path"], each["line"])):
            if each["outcome"] != "killed" and (not given.area or each["area"] in given.area):
                print(f"{each['area']}: {each['fault']} ({each['outcome']} {each['tests']} tests)")
        print(told(done))
        return
    faults = sample(given.count, given.seed, given.area)
    if given.list_faults:
        print("\n".join(f"{fault.area}: {fault}" for fault in faults))
        return
    STORE.mkdir(parents=True, exist_ok=True)
    if not given.resume:
        done = []
        store.unlink(missing_ok=True)
    known_faults = {each["fault"] for each in done}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        laboratories = []
        try:
            for job in range(given.jobs):
                (Path(folder) / str(job)).mkdir()
                laboratories.append(Laboratory(Path(folder) / str(job)))
            if not given.stale:
                record(laboratories, given.record)
            if given.record is not None:
                return
            known, lock = Record(), Lock()
            left = [fault for fault in faults if str(fault) not in known_faults]

            def one(laboratory: Laboratory, fault: Fault) -> None:
                started = time.monotonic()
                found = outcome_of(laboratory, fault, known, given.budget)
                entry = asdict(fault) | {"area": fault.area, "fault": str(fault), "seed": given.seed} | found
                with lock, store.open("a") as results:
                    done.append(entry)
                    print(json.dumps(entry), file=results)
                    seconds = time.monotonic() - started
                    print(
                        f"{len(done)}/{len(known_faults) + len(left)} {found['outcome']} {seconds:.0f} s {fault}",
                        flush=True,
                    )

            spread(laboratories, left, one)
        finally:
            for laboratory in laboratories:
                laboratory.close()
    print(told(done))


if __name__ == "__main__":
    main()
