"""A pool that nobody has judged, given as judgements: recognised in every form that `cranfield pool` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import cranfield
from cranfield import DataError
from cranfield.cli import cli
from places import EXAMPLES

RUN = str(EXAMPLES / "bm25.run")
NOBODY = "This looks like a pool that nobody has judged yet, as `cranfield pool` writes it: judge it, with "


def pooled(path: Path, *words: str) -> Path:
    done = CliRunner().invoke(cli, ["pool", RUN, "-o", str(path), *words])
    assert done.exit_code == 0, done.output
    return path


def told(*words: Any) -> str:
    done = CliRunner().invoke(cli, list(map(str, words)))
    assert isinstance(done.exception, DataError), done.output
    return str(done.exception)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("pool.txt", "a grade at the end of each line"),
        ("pool.csv", "a column grade"),
        ("pool.tsv", "a column grade"),
    ],
)
@pytest.mark.parametrize("words", ["evaluate", "check", "compare", "evaluate --judgements judges"])
def test_a_pool_is_not_judgements(name: str, how: str, words: str, tmp_path: Path) -> None:
    path = pooled(tmp_path / name, "--depth", "3")
    message = told(*words.split(), path, RUN, *([RUN] if words == "compare" else []))
    assert f"{NOBODY}{how}, 0 for what is not relevant and 1 or more for what is" in message
    assert "was cut short" not in message


def test_with_the_grades_it_says_to_add_it_is(tmp_path: Path) -> None:
    text, table = pooled(tmp_path / "pool.txt", "--depth", "3"), pooled(tmp_path / "pool.csv", "--depth", "3")
    text.write_text("".join(f"{line} 1\n" for line in text.read_text().splitlines()))
    first, *rows = table.read_text().splitlines()
    table.write_text("".join(f"{line}\n" for line in (f"{first},grade", *(f"{row},1" for row in rows))))
    assert cranfield.read_qrels(text).to_dict() == cranfield.read_qrels(table).to_dict()
    assert cranfield.evaluate(text, RUN, "P@3").mean()["bm25"]["P@3"] == 1.0


def test_documents_that_are_numbers_may_be_grades(tmp_path: Path) -> None:
    path = tmp_path / "pool.txt"
    path.write_text("1 0 17\n1 0 18\n")
    message = told("check", path)
    assert NOBODY in message
    assert "If its last column is a grade, the second, the iteration, is missing." in message


def test_other_lines_of_three_fields_are_no_pool(tmp_path: Path) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("q1 d1 1\n")
    message = told("check", path)
    assert "nobody" not in message
    assert "The second column, the iteration, is missing" in message


def test_strata_without_grades_name_the_command_that_fills_them(tmp_path: Path) -> None:
    path = pooled(tmp_path / "pool.txt", "--method", "stratified", "--strata", "1:1,3:50%")
    message = told("evaluate", f"{path}.strata", RUN, "-m", "statAP")
    assert "nobody has judged it yet: every grade is negative" in message
    assert "`cranfield pool --fill QRELS --strata FILE`" in message
    some_judged = "q1 0 d1 0\nq1 0 d2 -1\n"
    (tmp_path / "judged.txt").write_text(some_judged)
    assert "nothing is relevant: no grade is above 0" in told("check", tmp_path / "judged.txt")
