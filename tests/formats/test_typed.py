"""What is typed by hand: rankings as grades, lists; and what is wrong with it, with its place."""

from __future__ import annotations

import io

import pytest

from cranfield.errors import DataError, DuplicateError, UsageError
from cranfield.formats.ranks import read_ranks
from cranfield.formats.typed import TypedRanking, typed_names, typed_numbers, typed_ranking, typed_topics
from cranfield.judged import relstring


@pytest.mark.parametrize(
    ("text", "retrieved", "missed"),
    [
        ("3,2,3,0,1,2/2", (3, 2, 3, 0, 1, 2), (2,)),
        ("323012/2", (3, 2, 3, 0, 1, 2), (2,)),
        (" 3 , 2 / 1 ", (3, 2), (1,)),
        ("1-0", (1, None, 0), ()),
        ("1,-,0/-1,0.5", (1, None, 0), (-1, 0.5)),
        ("-1", (None, 1), ()),
        ("-1,", (-1,), ()),
        ("10", (1, 0), ()),
        ("10,", (10,), ()),
        ("10,2/10,", (10, 2), (10,)),
        ("0.5", (0.5,), ()),
        ("0.5/1", (0.5,), (1,)),
        ("/21", (), (2, 1)),
        ("", (), ()),
    ],
)
def test_a_ranking(text: str, retrieved: tuple[float | None, ...], missed: tuple[float, ...]) -> None:
    assert typed_ranking(text) == TypedRanking(retrieved, missed)


def test_topics_go_between_semicolons() -> None:
    assert [topic.judged for topic in typed_topics("3,2;1/1; 0,1")] == [(3, 2), (1, 1), (0, 1)]
    assert [topic.judged for topic in typed_topics("32;1/1")] == [(3, 2), (1, 1)]


GRADES = "Grades are numbers with commas between them, as 3,2,0.5, or single digits without, as 320; - is not judged."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("3,x,1", f"'x' is not a grade (character 3 of what is typed)\n    3,x,1\n      ^\n    {GRADES}"),
        ("32x1", f"'x' is not a grade (character 3 of what is typed)\n    32x1\n      ^\n    {GRADES}"),
        ("3 2 1", f"'3 2 1' is not a grade (character 1 of what is typed)\n    3 2 1\n    ^^^^^\n    {GRADES}"),
        ("1,nan", f"'nan' is not a grade (character 3 of what is typed)\n    1,nan\n      ^^^\n    {GRADES}"),
        ("1,1_0", f"'1_0' is not a grade (character 3 of what is typed)\n    1,1_0\n      ^^^\n    {GRADES}"),
        (
            "3,2/12",
            "'12' may be one grade or 2 (character 5 of what is typed)\n    3,2/12\n        ^^\n"
            "    Write '12,' if it is one, '1,2' if they are 2.",
        ),
        (
            "3,2;101",
            "'101' may be one grade or 3 (character 5 of what is typed)\n    3,2;101\n        ^^^\n"
            "    Write '101,' if it is one, '1,0,1' if they are 3.",
        ),
        (
            "1,,2",
            "nothing stands between the commas (character 3 of what is typed)\n    1,,2\n      ^\n"
            "    Write - for an unjudged document, 0 for a poor one.",
        ),
        (
            "1/2/3",
            "a second / (character 4 of what is typed)\n    1/2/3\n       ^\n"
            "    What stands after one / was judged and not retrieved; ; goes between topics.",
        ),
        (
            "1;;2",
            "topic 2 is empty (character 3 of what is typed)\n    1;;2\n      ^\n"
            "    ; goes between topics, not after the last one.",
        ),
        (
            "1;--",
            "topic 2 has no judged document (character 3 of what is typed)\n    1;--\n      ^^\n"
            "    Without grades there is nothing to score.",
        ),
        (
            "1/2,-",
            "an unjudged document that was not retrieved (character 5 of what is typed)\n    1/2,-\n        ^\n"
            "    It counts nowhere: after / stand grades alone.",
        ),
        (
            "1," * 60 + "x" + ",2" * 60,
            "'x' is not a grade (character 121 of what is typed)\n"
            f"    …{'1,' * 15}x{',2' * 15}…\n    {' ' * 31}^\n    {GRADES}",
        ),
    ],
)
def test_what_is_wrong_is_shown_in_its_place(text: str, told: str) -> None:
    with pytest.raises(UsageError) as found:
        typed_topics(text)
    assert str(found.value) == told


def test_nothing_typed_is_told() -> None:
    for read in (typed_topics, typed_numbers, typed_names):
        with pytest.raises(UsageError, match=r"^nothing is typed"):
            read("  ")


def test_tests_write_rankings_as_people_do() -> None:
    assert relstring("3,10,-/0.5").pool.grades.tolist() == [10, 3, 0.5]
    assert relstring("3,10,-/0.5").retrieved.tolist() == [3]
    with pytest.raises(UsageError, match="'x' is not a grade"):
        relstring("1x")


def test_lists() -> None:
    assert typed_numbers("0.3, 1,-2e-1") == (0.3, 1.0, -0.2)
    assert typed_names("d2, d 1") == ("d2", "d 1")
    with pytest.raises(UsageError, match=r"'b' is not a number \(character 4 of what is typed\)"):
        typed_numbers("1, b")
    with pytest.raises(UsageError, match=r"'a' stands there twice \(character 5 of what is typed\)"):
        typed_names("a,b,a")
    with pytest.raises(UsageError, match="nothing stands between the commas"):
        typed_numbers("1,,2")


@pytest.mark.parametrize("separator", [",", "\t", " ", " , ", "   "])
def test_ranks_from_a_file(separator: str) -> None:
    rows = [["d1", "1", "2.5"], ["d2", "2", "2.5"]]
    text = "".join(separator.join(row) + "\n" for row in rows)
    bare = read_ranks(io.StringIO(text))
    assert bare == (("R1", "R2"), {"d1": 1, "d2": 2}, {"d1": 2.5, "d2": 2.5})
    named = read_ranks(io.StringIO(separator.join(["documents", "ideal", "new"]) + "\n\n" + text))
    assert named == (("ideal", "new"), bare.first, bare.second)
    assert read_ranks(io.StringIO("# by hand\n" + text)) == bare


@pytest.mark.parametrize(
    ("text", "error", "told"),
    [
        ("d1,1,2\nd2,1\n", DataError, ":2: 2 columns, not 3\n    2 | d2,1\n    A row is a document and its two ranks"),
        ("d1,1,2\nd2,1,x\n", DataError, ":2: rank 'x' is not a number\n    2 | d2,1,x\n    A row is"),
        ("d,a,b\nd1,1,2\nd1,2,1\n", DuplicateError, ":3: document 'd1' is there twice\n    3 | d1,2,1\n    A document"),
        ("\n\n", DataError, "open file: is empty"),
    ],
)
def test_ranks_that_are_none(text: str, error: type[DataError], told: str) -> None:
    with pytest.raises(error) as found:
        read_ranks(io.StringIO(text))
    assert told in str(found.value)
