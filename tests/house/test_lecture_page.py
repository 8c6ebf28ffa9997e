"""docs/lectures.md: every command on it runs and prints what is shown, and what it counts is there.

`make record ONLY=tests/house/test_lecture_page.py` writes down anew what the commands print. Then read the diff.
"""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from commands import command_line
from lecture_numbers import NUMBERS, is_cut
from places import EXAMPLES, ROOT

PAGE = ROOT / "docs" / "lectures.md"
BLOCK = re.compile(r"(```console\n)(.*?)(```)", re.DOTALL)
ITEM = re.compile(r"(?m)^### (\d{3})\.(\d+) .+$")
LEFT_OUT = "…"  # what varies from one machine to another, or is long: lines, or the start or the end of one
NOT_HERE, SLIP, CUT = "**Not here.**", "**Slip.**", "**Cut.**"


def sections() -> dict[tuple[str, int], str]:
    """The items of the page: which notes, which number, and what is said of it."""
    text = PAGE.read_text(encoding="utf-8")
    heads = list(ITEM.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    return {
        (head[1], int(head[2])): re.split(r"(?m)^## ", text[head.start() : end])[0]
        for head, end in zip(heads, ends, strict=True)
    }


def steps(block: str) -> list[tuple[str, str]]:
    """The commands of a block, each with what is shown of its output."""
    parts = re.split(r"(?m)^\$ ", block)[1:]
    return [(command, shown) for command, _, shown in (part.partition("\n") for part in parts)]


def left_out(shown: str) -> bool:
    """Whether some of what a command prints is not shown."""
    return any(line.startswith(LEFT_OUT) or line.endswith(LEFT_OUT) for line in shown.splitlines())


def agrees(shown: str, came: str) -> bool:
    """Whether what is shown is what came, whole lines but where something is left out."""
    lines = [
        r"(?:.*\n)*?" if line == LEFT_OUT else re.escape(line).replace(LEFT_OUT, ".*") + r"\n"
        for line in shown.splitlines()
    ]
    return re.fullmatch("".join(lines), came) is not None


def copied(folder: Path) -> Path:
    """The folder of examples, to write into."""
    made = folder / "examples"
    shutil.copytree(EXAMPLES, made, ignore=shutil.ignore_patterns("plugin", "*.py", "*.ipynb"))
    return made


def printed(command: str, folder: Path) -> str:
    words = shlex.split(command)
    assert words[0] == "cranfield", command
    done = command_line(*words[1:], folder=folder)
    assert done.exit == 0, f"{command}\n{done.stderr}"
    return done.stdout


@pytest.mark.parametrize("seed", ["000", "001", "002", "003", "004"])
def test_commands_run_and_print_what_is_shown(seed: str, tmp_path: Path) -> None:
    folder = copied(tmp_path)
    for (notes, number), text in sections().items():
        for command, shown in (step for block in BLOCK.findall(text) for step in steps(block[1]) if notes == seed):
            came = printed(command, folder)
            if left_out(shown):
                assert agrees(shown, came), f"{notes}.{number}: {command}\n{came}"
            else:
                assert shown == came, f"{notes}.{number}: {command}"


def test_every_item_has_a_command_or_a_reason_and_the_count_is_right() -> None:
    items, done, told, slips = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for (seed, number), text in sections().items():
        items[seed] += 1
        assert number == items[seed], f"{seed}.{number} is out of order"
        has_command, has_reason = "```console\n$ cranfield " in text, NOT_HERE in text
        assert has_command != has_reason, f"{seed}.{number} has a command or says why not"
        done[seed] += has_command
        told[seed] += has_reason
        slips[seed] += SLIP in text
    rows = [f"| {seed} | {items[seed]} | {done[seed]} | {told[seed]} | {slips[seed]} |" for seed in sorted(items)]
    rows.append(f"| all | {items.total()} | {done.total()} | {told.total()} | {slips.total()} |")
    text = PAGE.read_text(encoding="utf-8")
    assert "\n".join(rows) in text, "\n".join(rows)


def test_every_slip_of_a_number_is_on_the_page() -> None:
    told: dict[str, str] = {}
    for (seed, _), text in sections().items():
        told[seed] = told.get(seed, "") + text.partition(SLIP)[2]
    for number in NUMBERS:
        for place in number.wrong:
            assert number.printed.split()[place - 1] in told[number.seed], (str(number), place)


def test_every_number_that_is_cut_is_on_the_page() -> None:
    told: dict[str, str] = {}
    for (seed, _), text in sections().items():
        told[seed] = told.get(seed, "") + "".join(line for line in text.splitlines() if line.startswith(CUT))
    for number in NUMBERS:
        for printed_as, exact in zip(number.printed.split(), number.exact, strict=False):
            if is_cut(printed_as, exact):
                assert re.search(rf"\b{re.escape(printed_as)}\b", told[number.seed]), (str(number), printed_as)


def test_what_is_shown_in_part_says_so() -> None:
    came = "first line\nsecond line\nthird\n"
    for shown in ("…\nsecond line\n…\n", "first …\n…\n", "…\n… line\nthird\n", "first line\n…\n"):
        assert left_out(shown)
        assert agrees(shown, came), shown
    for shown in ("…\nsecond\n…\n", "…\nthird\nsecond line\n…\n", "first line\n", "…\nsecond line\n"):
        assert not agrees(shown, came), shown
    assert not left_out("a sum: 1 + … + 2\n")


def store() -> None:
    """Runs the commands of the page anew and writes down what they print."""
    with tempfile.TemporaryDirectory() as place:
        folder = copied(Path(place))

        def filled(block: re.Match[str]) -> str:
            text = ""
            for command, shown in steps(block[2]):
                came = printed(command, folder)  # whatever is shown of it: later commands need what it writes
                text += f"$ {command}\n{shown if left_out(shown) else came}"
            return block[1] + text + block[3]

        PAGE.write_text(BLOCK.sub(filled, PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    store()
