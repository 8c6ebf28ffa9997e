"""What a command writes on a terminal: tables as wide as that is, colours where it has them, the seconds it takes."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

import pytest

from commands import command_process, of_a_process
from places import EXAMPLES

WORDS = ["compare", "qrels.txt", "bm25.run", "dense.run", "-m", "nDCG@10"]


def on_terminal(*words: str, width: int = 80, folder: Path = EXAMPLES, **environment: str) -> str:
    """What a person sees who types this into a terminal, standard error included."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        line = [sys.executable, "-m", "cranfield", *words]
        os.execve(sys.executable, line, of_a_process() | {"TERM": "xterm", "COLUMNS": str(width)} | environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    seen = b""
    try:
        while part := os.read(terminal, 65536):
            seen += part
    except OSError:  # the program has ended
        pass
    os.waitpid(child, 0)
    return seen.decode().replace("\r\n", "\n")


def plain(text: str) -> str:
    """The text without bars and colours."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", text)


@pytest.fixture(scope="module")
def seen() -> str:
    return on_terminal(*WORDS)


def test_tables_fit_a_terminal_and_lose_nothing(seen: str) -> None:
    text = plain(seen)
    table = text[: text.index("cranfield: warning:")]
    own = table[table.index("dense has the highest") :]
    assert max(map(len, text[text.index("dense has the highest") :].splitlines())) <= 80  # sentences too
    assert "(9 columns in 2 tables: they do not fit into 80 characters)" in own
    for column in ("difference", "W/T/L", "p (randomisation)", "adjusted p", "detectable"):
        assert column in own
    assert own.count("bm25 − dense") == 2


def test_a_wide_terminal_and_a_pipe_have_one_table() -> None:
    assert "do not fit" not in on_terminal(*WORDS, width=200)
    piped = command_process(*WORDS, folder=EXAMPLES)
    assert "do not fit" not in piped.stdout
    assert "\x1b" not in piped.stdout + piped.stderr


def test_programs_read_a_warning_a_line_whatever_columns_says() -> None:
    piped = command_process(*WORDS, folder=EXAMPLES, COLUMNS="60")
    assert piped == command_process(*WORDS, folder=EXAMPLES)
    assert all(line.startswith("cranfield: ") for line in piped.stderr.splitlines())


def test_the_verdict_comes_first_and_warnings_last(seen: str) -> None:
    text = plain(seen)
    assert text.index("dense has the highest") < text.index("pair") < text.index("cranfield: warning:")


def test_colours_where_a_terminal_has_them(seen: str) -> None:
    assert "\x1b[1m→0.7379\x1b[0m" in seen
    assert "\x1b[33mwarning:\x1b[0m" in seen
    assert "\x1b[1m" not in on_terminal(*WORDS, NO_COLOR="1")
    assert "\x1b[1m" not in on_terminal(*WORDS, TERM="dumb")


def test_an_id_cannot_colour_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 d1 1\n")
    (tmp_path / "r").write_text("1 Q0 d1 1 1 a\x1b[31mb\n")
    (tmp_path / "a\x1b[31mb.run").write_text("1 Q0 d1 1 1 x\n")
    shown = on_terminal("evaluate", "q", "a\x1b[31mb.run", folder=tmp_path)
    assert "\x1b[31m" not in shown
    assert "a\\x1b[31mb" in shown


SLOW = """
import sys, time
from cranfield.cli import progress
from cranfield.cli.streams import guarded, show_text
progress.LONG = 0.05
with guarded(), progress.seconds_told("cranfield"):
    time.sleep(0.3)
    show_text("done\\n")
"""


def test_a_command_that_takes_long_tells_its_seconds_and_clears_them() -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, [sys.executable, "-c", SLOW], of_a_process() | {"TERM": "xterm"})
    seen = b""
    try:
        while part := os.read(terminal, 65536):
            seen += part
    except OSError:
        pass
    os.waitpid(child, 0)
    assert b"cranfield: 0 s" in seen
    assert seen.endswith(b"\r\x1b[Kdone\r\n")
