"""What a collection's file says of grades and topics: read, shown, checked, and kept when it is written."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from commands import command_line
from cranfield.description import describe
from cranfield.errors import DataError
from cranfield.formats import read_qrels
from cranfield.texts.collection import read_collection, read_facts
from cranfield.texts.facts import CollectionFacts, as_toml
from cranfield.texts.writing import write_collection

LISTED = """
qrels = "old.txt"
topic_source = "taken from a query log <b>"

[labels]
S = 3
A = 2
C = 0

[grades]
3 = "highly relevant"
2 = "relevant & more"
"-2" = "spam"
"0.5" = "partly"
"""
FACTS = CollectionFacts(
    topic_source="taken from a query log <b>",
    grades={3.0: "highly relevant", 2.0: "relevant & more", -2.0: "spam", 0.5: "partly"},
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "collection.toml").write_text(LISTED)
    (tmp_path / "old.txt").write_text("1 0 d1 S\n1 0 d2 C\n2 0 d1 A\n")
    (tmp_path / "qrels.txt").write_text("1 0 d1 3\n1 0 d2 0\n2 0 d1 2\n")
    (tmp_path / "a.run").write_text("1 Q0 d1 1 2 a\n1 Q0 d2 2 1 a\n2 Q0 d1 1 1 a\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_labels_grades_and_the_source_of_topics_are_read(folder: Path) -> None:
    collection = read_collection(folder)
    assert collection.qrels is not None
    assert collection.qrels.to_dict() == {"1": {"d1": 3.0, "d2": 0.0}, "2": {"d1": 2.0}}
    assert collection.facts == read_facts(folder) == read_facts(folder / "collection.toml") == FACTS
    assert read_collection(collection, only=("qrels",)).facts == FACTS


def test_describe_shows_them_and_tells_grades_without_a_label(folder: Path) -> None:
    text = command_line("describe", folder).stdout
    assert "Topics: taken from a query log <b>\n" in text
    assert "\ngrade 3: highly relevant " in text
    assert "\ngrade 2: relevant & more " in text
    assert "\ngrade 0  " in text
    assert "note: " + f"{folder.name}: 1 grade of the judgements without a label in the collection's file: 0" in text
    told = json.loads(command_line("describe", folder, "-f", "json").stdout)
    assert told["topic_source"] == FACTS.topic_source
    assert [(grade["grade"], grade["label"]) for grade in told["judgements"]["grades"]] == [
        (3, "highly relevant"),
        (2, "relevant & more"),
        (0, None),
    ]


def test_nothing_is_said_where_every_grade_has_a_label_or_none_has(folder: Path) -> None:
    whole = f'{LISTED}0 = "not relevant"\n'
    for text in (whole, LISTED.partition("[grades]")[0]):
        (folder / "collection.toml").write_text(text)
        assert "unlabelled-grades" not in [finding.code for finding in describe(folder).findings]
    assert "Topics:" not in str(describe({"1": {"d1": 1}}))


def test_check_tells_grades_without_a_label(folder: Path) -> None:
    done = command_line("check", "qrels.txt", "a.run", "--collection", ".")
    message = "1 grade of the judgements without a label in the collection's file: 0"
    assert f"note      unlabelled-grades     qrels: {message}\n" in done.stdout
    assert "unlabelled" not in command_line("check", "qrels.txt", "a.run").stdout


@pytest.mark.parametrize(
    ("suffix", "shown"),
    [
        ("md", ["Topics: taken from a query log &lt;b>", "| 3 | highly relevant | 1 |", "| 0 | – | 1 |"]),
        ("html", ["<h3>Collection</h3>", "Topics: taken from a query log &lt;b&gt;", "relevant &amp; more"]),
        ("tex", ["What grades mean. Topics: taken from a query log", "relevant \\& more"]),
    ],
)
def test_reports_show_them_where_the_collection_is_given(suffix: str, shown: list[str], folder: Path) -> None:
    line = ["report", "qrels.txt", "a.run", "-m", "RR", "-o"]
    assert command_line(*line, f"plain.{suffix}").exit == 0
    assert command_line(*line, f"told.{suffix}", "--collection", "collection.toml").exit == 0
    for text in shown:
        assert text in (folder / f"told.{suffix}").read_text()
        assert text not in (folder / f"plain.{suffix}").read_text()


def test_they_are_kept_when_a_collection_is_written(folder: Path) -> None:
    awkward = CollectionFacts(topic_source='a "log"\\\x7f\n', grades={**FACTS.grades, 1 / 3: "ä"})
    collection = read_collection(documents={"d1": "They swim."}, qrels={"1": {"d1": 1}})
    object.__setattr__(collection, "facts", awkward)
    write_collection(collection, folder / "beir")
    again = read_collection(folder / "beir")
    assert again.facts == awkward
    assert again.documents is not None
    assert again.topics is None
    write_collection(read_collection(qrels={"1": {"d1": 1}}), folder / "without")
    assert not (folder / "without" / "collection.toml").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("topic_source = 3", "topic_source is a text, where the topics are from"),
        ('topic_source = " "', "topic_source is a text, where the topics are from"),
        ("grades = 3", "grades are a table of what each grade is called"),
        ("[grades]\n1 = 2", "no grade with what it is called: 1 = 2"),
        ('[grades]\nhigh = "x"', "no grade with what it is called: high = 'x'"),
        ('[grades]\nnan = "x"', "no grade with what it is called: nan = 'x'"),
        ('[grades]\n1 = "x"\n"1.0" = "y"', "the grade 1 is called two things"),
        ('[labels]\nA = "x"', "the grade of the label 'A' is a number, not 'x'"),
        ('labels = "A=1"', "labels are a table of label = number"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, told: str, folder: Path) -> None:
    (folder / "collection.toml").write_text(f'qrels = "old.txt"\n{text}\n')
    with pytest.raises(DataError, match=f"collection.toml: {told}"):
        read_collection(folder)


def test_a_folder_without_a_list_says_nothing(folder: Path) -> None:
    (folder / "collection.toml").unlink()
    with pytest.raises(DataError, match=r"has no collection\.toml that could say what its grades are called"):
        read_facts(folder)


def test_grades_of_many_digits_are_read_again() -> None:
    facts = CollectionFacts(grades={1234567.0: "big", 1e16: "bigger"})
    assert tomllib.loads(as_toml(facts)) == {"grades": {"1234567": "big", "10000000000000000": "bigger"}}


# ---- a collection's file beside judgements, and in their place ----


@pytest.fixture
def letters(tmp_path: Path) -> Path:
    """Judgements with letters for grades, a run, and files of collections that say something of them or nothing."""
    (tmp_path / "q").write_text("1 d1 S\n1 d2 B\n2 d1 A\n2 d4 C\n")
    (tmp_path / "r").write_text("1 Q0 d1 1 2 t\n1 Q0 d2 2 1 t\n2 Q0 d4 1 1 t\n")
    (tmp_path / "letters.toml").write_text('qrels = "q"\n[labels]\nS = 3\nA = 2\nB = 1\nC = 0\n')
    (tmp_path / "bare.toml").write_text('name = "bare"\ntopics = "t"\n')
    return tmp_path


def test_labels_of_a_collection_are_taken_for_the_judgements(letters: Path) -> None:
    told = ("--labels", "S=3,A=2,B=1,C=0")
    for command, more in (("check", ()), ("report", ("-m", "nDCG@10", "-o", "x.md"))):
        line = (command, "q", "r", *more)
        by_file = command_line(*line, "--collection", "letters.toml", folder=letters)
        written = (letters / "x.md").read_text() if more else ""
        by_option = command_line(*line, *told, folder=letters)
        assert (by_file.exit, by_file.stdout, by_file.stderr) == (by_option.exit, by_option.stdout, by_option.stderr)
        assert "nDCG@10" in written or not more
    other = command_line("check", "q", "r", "--collection", "letters.toml", "--labels", "S=1", folder=letters)
    assert "The table of labels lacks A, B, C" in other.stderr  # what is typed counts


def test_a_collection_that_says_nothing_is_told(letters: Path) -> None:
    done = command_line("check", "q", "r", "--labels", "S=3,A=2,B=1,C=0", "--collection", "bare.toml", folder=letters)
    told = "cranfield: note: bare.toml: has neither [grades] nor [labels] nor topic_source: nothing of it is shown\n"
    assert (done.exit, done.stderr) == (0, told)
    assert not command_line("check", "q", "r", "--collection", "letters.toml", folder=letters).stderr


@pytest.mark.parametrize("command", ["evaluate", "compare", "check", "report", "explain", "split"])
def test_a_collection_in_place_of_judgements_is_recognised(letters: Path, command: str) -> None:
    more = {"report": ("-o", "x.md"), "compare": ("r",), "explain": ("-m", "AP"), "split": ("--folds", "2")}
    line = (command, "letters.toml", *(() if command == "split" else ("r",)), *more.get(command, ()))
    done = command_line(*line, folder=letters)
    assert (done.exit, done.stdout) == (3, "")
    assert done.stderr == (
        "cranfield: letters.toml: is a collection's file, where judgements are needed\n"
        "    Its judgements are q: name that in its place, with the numbers of its grades: --labels letters.toml.\n"
    )


def test_judgements_that_a_collection_names_are_told_where_they_lie(letters: Path) -> None:
    with pytest.raises(DataError, match="It names none: give the file of judgements itself"):
        read_qrels(letters / "bare.toml")
    (letters / "plain.toml").write_text('qrels = "q"\n')
    with pytest.raises(DataError) as error:
        read_qrels(letters / "plain.toml")
    assert error.value.remedy == f"Its judgements are {letters / 'q'}: name that in its place."
    (letters / "judgements.toml").write_text("1 0 d1 1\n")
    assert read_qrels(letters / "judgements.toml").to_dict() == {"1": {"d1": 1}}
