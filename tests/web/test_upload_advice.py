"""What is told of a file that a project does not take: advice that can be followed where it is read."""

from __future__ import annotations

import re

import pytest
from starlette.testclient import TestClient

from cranfield.errors import DataError, UsageError
from cranfield.formats import read_qrels, read_run
from cranfield.web.templating import told_lines
from cranfield.web.uploads.advice import advice_for_uploads
from ponds import pond
from sites import Site

RUN = "".join(f"1 Q0 d{number} {number} {9 - number} a\n" for number in range(1, 9)).encode()
FOR_CALLERS = re.compile(r"--[a-z]|Reading\(|in Python|arguments|in the right place")


@pytest.fixture
def owner(site: Site) -> TestClient:
    pond(site)
    site.member("ada", "ducks", "owner")
    return site.visitor("ada")


@pytest.mark.parametrize(
    ("read", "content", "words"),
    [
        (read_qrels, RUN, "This looks like a run, and judgements are expected here: send it as a run."),
        (read_run, b"1 0 d1 2\n", "This looks like judgements, and a run is expected here: send it as judgements."),
        (read_run, b'{"id": "1"}\n', "Name the columns in the file as below, or send it where it belongs."),
        (read_qrels, b"1 0 d1 A\n1 0 d2 B\n", "Grades are labels here: A, B. Write a number for each."),
        (read_qrels, b"1 0 d1 1\n1 1 d1 2\n", "A project takes one grade of each document for a topic."),
        (read_qrels, b"1 0 d1 1 0.5\n", "An id may not contain a blank, and a line has four columns."),
        (
            read_qrels,
            b"1 d1 A\n",
            "This looks like NTCIR's form: write lines of topic, 0, document and a number.",
        ),
        (
            read_qrels,
            b"topic,document,score\n1,d1,0.5\n1,d2,0.25\n",
            "If it is right all the same, rename that column in the file.",
        ),
    ],
)
def test_advice_is_for_whoever_sends_the_file(tmp_path, read, content, words) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "sent").write_bytes(content)
    with pytest.raises(DataError) as refused:
        read(tmp_path / "sent")
    assert FOR_CALLERS.search(refused.value.at_prompt), "else there is nothing to put in its place"
    told = advice_for_uploads(refused.value)
    assert words in [line.strip() for line in told.splitlines()]
    assert not FOR_CALLERS.search(told)
    assert told.splitlines()[0] == str(refused.value).splitlines()[0]


def test_other_advice_for_callers_is_left_out_and_what_the_file_says_stays() -> None:
    error = DataError("is odd", source="a.run", line=3, text="1 --depth 2", remedy="Try --this.\n    Or mend it.")
    assert advice_for_uploads(error).splitlines() == ["a.run:3: is odd", "    3 | 1 --depth 2", "    Or mend it."]
    assert advice_for_uploads(UsageError("no", "Do --this.", "Do that.")) == "no\n    Do that."


def test_lines_of_a_page_are_few() -> None:
    assert told_lines("a\n    b") == ["a", "b"]
    many = "a\n    Also:\n    " + "\n    ".join(f"b{number}" for number in range(19))
    assert told_lines(many)[1:] == ["Also:", "b0", "b1", "b2", "and 16 other faults"]
    assert told_lines(f"{many}\n    Others may follow.")[-1] == "and 16 other faults or more"
    assert told_lines("a\n    Also:\n    b\n    Others may follow.")[-2:] == ["b", "Others may follow."]


def test_a_refused_upload_comes_back_to_its_form(owner: TestClient) -> None:
    """Status and headers are those of the refusal; a paragraph for each line, and of many faults the first few."""
    answer = owner.post("/p/ducks/parts/judgements", files={"file": ("my.qrels", RUN)})
    assert answer.status_code == 422
    assert "<h1>Settings</h1>" in answer.text
    for line in (
        "my.qrels:1: 6 fields where trec needs 4 (topic, iteration, document, grade)",
        "1 | 1 Q0 d1 1 8 a",
        "This looks like a run, and judgements are expected here: send it as a run.",
        "and 4 other faults",
    ):
        assert f"<p>{line}</p>" in answer.text
    assert "my.qrels:6" not in answer.text
    run = owner.post("/p/ducks/runs", files={"file": ("my.run", b"1 0 d1 2\n")})
    assert (run.status_code, "<h1>Runs</h1>" in run.text, "<h2>Add a run</h2>" in run.text) == (422, True, True)
    assert "<p>This looks like judgements, and a run is expected here: send it as judgements.</p>" in run.text
    packed = owner.post("/p/ducks/runs", files={"file": ("my.zip", b"PK\x03\x04" + b"x" * 60)})
    assert (packed.status_code, "<h1>Runs</h1>" in packed.text) == (415, True)
    malformed = owner.post("/p/ducks/runs", content=b"x", headers={"content-type": "multipart/form-data; boundary=b"})
    assert (malformed.status_code, malformed.headers["connection"]) == (400, "close")


def test_a_page_of_an_error_has_words_for_a_heading_and_leads_back(owner: TestClient) -> None:
    missing = owner.get("/p/ducks/guidelines")
    assert (missing.status_code, missing.text.count("<h1>Nothing here ")) == (404, 1)
    assert '<a href="/p/ducks">Back to Ducks</a>' in missing.text
    assert "Back to" not in owner.get("/p/geese").text
