"""The tool behind `make mutants`: it makes the faults it says, and only such that are programs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from mutants import (
    AREAS,
    DATA,
    KINDS,
    OPTIONS,
    PACKAGE,
    ROOT,
    Fault,
    Record,
    all_faults,
    area_of,
    faults_of,
    faulty,
    in_words,
    sample,
)

SOURCE = '''
from math import sqrt
__all__ = ["told"]
def told(values: list[int] = [1, 2], *, low: float = 0.5, quiet: bool = False) -> str:
    """No fault here: 1 < 2."""
    if low < max(values) and not quiet:
        return f"there are {len(values) + 1} of them, the first is {values[0]}"
    warn("beware of it")
    return write(low, values, style="bold", strict=True) if quiet else ""
'''


def told(path: str, source: str) -> list[Fault]:
    return [each for fault in faults_of(path, source) if (each := in_words(fault, source)) is not None]


@pytest.mark.parametrize(
    ("kind", "new"),
    [
        ("comparison", "low <= max(values)"),
        ("comparison", "low > max(values)"),
        ("arithmetic", "len(values) - 1"),
        ("sign", "quiet"),
        ("negation", "if not (low < max(values) and (not quiet)):"),
        ("connective", "low < max(values) or not quiet"),
        ("connective", "low < max(values)"),
        ("connective", "not quiet"),
        ("constant", "0.55"),
        ("constant", "True"),
        ("constant", "2"),
        ("swapped arguments", "write(values, low, style='bold', strict=True)"),
        ("dropped keyword", "write(…)"),
        ("twin function", "min(values)"),
        ("swapped branches", "'' if quiet else write(low, values, style='bold', strict=True)"),
        ("default return", "told: return ''"),
        ("sentence", "' of them, the first is not '"),
        ("sentence", "''"),
    ],
)
def test_faults_are_those_that_are_said(kind: str, new: str) -> None:
    assert new in [fault.new for fault in told("x.py", SOURCE) if fault.kind == kind]


def test_what_makes_no_difference_is_left_alone() -> None:
    faults = told("x.py", SOURCE)
    assert not [fault for fault in faults if "No fault here" in fault.old or fault.old in ("'told'", "strict=True")]
    assert not [fault for fault in faults if "strict" not in fault.new and "strict" in fault.old]
    assert not told("x.py", "_BLOCK = 1 << 20  # held at a time\n")
    assert not told("x.py", "Answer: TypeAlias = Literal['pass', 'fail']\n")
    assert not told("x.py", "class Reads(Protocol):\n    def read(self, size: int = -1) -> bytes: ...\n")
    assert told("x.py", "_MOST = 1 << 20  # that may be given\n")
    assert not [fault for fault in told("x.py", "same = np.array_equal(a, b)\n") if fault.kind == "swapped arguments"]


def test_an_option_is_swallowed() -> None:
    source = "@click.command('x')\ndef command(seed: int, quiet: bool, name: str | None) -> None:\n    go(seed)\n"
    made = [fault for fault in told("cli/x.py", source) if fault.kind == "swallowed option"]
    assert [fault.new for fault in made] == ["command: seed = 0", "command: quiet = False", "command: name = None"]
    assert {fault.area for fault in made} == {OPTIONS}
    assert faulty(source, made[0]).splitlines()[2:] == ["    seed = 0", "    go(seed)"]


def test_every_kind_of_fault_is_made_and_each_is_another_program() -> None:
    every = [fault for faults in all_faults().values() for fault in faults]
    assert {fault.kind for fault in every} == set(KINDS)
    assert len(set(every)) == len(every) > 10_000
    for fault in every[:: len(every) // 25]:
        source = (ROOT / PACKAGE / fault.path).read_text()
        made = faulty(source, fault)
        compile(made, fault.path, "exec")
        assert in_words(fault, source) is None or ast.dump(ast.parse(made)) != ast.dump(ast.parse(source)), fault


def test_samples_are_the_same_for_the_same_seed_and_spread_over_the_areas() -> None:
    first, again, other = (sample(4, seed, ["statistics"]) for seed in (1, 1, 2))
    assert first == again != other
    assert [fault.area for fault in first] == ["statistics"] * 4
    assert len({fault.kind for fault in first}) == 4
    areas = [fault.area for fault in sample(16, 1)]
    assert sorted(areas) == sorted([*AREAS, OPTIONS] * 2)


def test_areas_name_what_is_there() -> None:
    package = ROOT / PACKAGE
    for name in (name for names in (*AREAS.values(), DATA) for name in names):
        assert not name or (package / name).exists(), name
    assert area_of("measures/bounded.py", "sign") == "judged and bounds"
    assert area_of("cli/gate.py", "sign") == "report, plot and command line"
    assert area_of("cli/gate.py", "dropped keyword") == OPTIONS
    assert area_of(Path("new.py").as_posix(), "sign") == "report, plot and command line"


def test_what_is_declared_is_shown_to_tests_that_look_at_declarations(tmp_path: Path) -> None:
    """They execute no line of it: it was imported before."""
    own, looks = "tests/test_x.py::test_own", "tests/test_y.py::test_what_there_is_is_as_written_down"
    (tmp_path / "test_x.json").write_text(json.dumps({"tests": {own: 0.1, looks: 0.2}}))
    known = Record(tmp_path)
    declared = told("x.py", "SEED = option('--seed', default=3)\n")[0]
    assert declared.header
    assert known.order(declared, 9)[0] == looks
    (inside,) = [fault for fault in told("x.py", "def f(x: int) -> int:\n    return x + 1\n") if fault.new == "x - 1"]
    assert not inside.header
    assert known.order(inside, 9)[0] == own
