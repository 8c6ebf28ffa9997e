"""Reports with texts: what a page carries of them, within its budget, and nothing in it is more than text."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from commands import command_line, printed
from cranfield import Experiment
from cranfield.formats.sources import compute_digest
from cranfield.quotation import TextSource, quote
from cranfield.render.escaping import script_data
from cranfield.report import page, page_markdown
from cranfield.report.carried_texts import carried_texts, listed_documents, with_texts
from cranfield.report.contents import Report, gather
from cranfield.report.page import pictures
from cranfield.report.page.explained_topics import text_flags
from cranfield.report.page.payload import payload
from cranfield.report.page_pdf import BROWSERS
from needed import needs
from places import EXAMPLES

POND = EXAMPLES / "pond.toml"
QRELS = EXAMPLES / "pond.qrels"
RUNS = {
    "a": {"1": {"d12": 3.0, "d01": 2.0, "x9": 1.0}, "2": {"d02": 2.0, "d06": 1.0}, "3": {"d09": 1.0}},
    "b": {"1": {"d01": 3.0, "d04": 2.0}, "2": {"d06": 2.0, "d01": 1.0}, "3": {"d03": 1.0}},
}


def of_pond(**more: Any) -> Report:
    return with_texts(gather(Experiment(str(QRELS), RUNS), ["AP"]), POND, **more)


@pytest.fixture(scope="module")
def report() -> Report:
    return of_pond()


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_without_a_collection_there_is_nothing_of_texts() -> None:
    data = payload(gather(Experiment(str(QRELS), RUNS), ["AP"]))
    assert not {"questions", "texts", "whole", "words"} & data.keys()


def test_the_page_carries_questions_titles_passages_whole_texts_and_words(report: Report) -> None:
    data = data_of(page.render(report))
    assert data["questions"][0] == [["title", "can ducks swim well"]]
    documents, texts = data["rankings"]["documents"], data["texts"]
    assert [len(of_topic) for of_topic in texts] == [len(of_topic) for of_topic in documents]
    first = dict(zip(documents[0], texts[0], strict=True))
    assert first["x9"] is None
    assert first["d12"]["title"] == "Why feathers stay dry"
    assert first["d12"]["snippet"].startswith("Ducks spread oil")
    assert data["whole"]["d12"].startswith("Ducks spread oil from a gland")
    assert data["words"][0] == ["duck", "ducks", "swim"]
    assert report.texts is not None
    assert report.texts.left_out is None


def test_a_document_has_the_passage_of_the_topic_that_it_is_shown_for(report: Report) -> None:
    """d01 is found for two topics, and other words of it are marked."""
    assert report.texts is not None
    assert {"d01"} == report.texts.texts[0].keys() & report.texts.texts[1].keys()
    assert report.quotations is not None
    assert report.quotations.words("1", ["d01"]) == ["ducks", "swim"]
    assert report.quotations.words("2", ["d01"]) == ["ducks"]


def test_only_documents_that_are_listed_are_carried(report: Report) -> None:
    listed = {document for documents in listed_documents(report).values() for document in documents}
    assert report.texts is not None
    assert report.texts.whole.keys() == listed - {"x9"}


def test_documents_are_listed_by_their_best_rank(report: Report) -> None:
    assert listed_documents(report)["1"] == ["d12", "d01", "d04", "x9"]


def test_what_the_collection_lacks_is_a_finding(report: Report) -> None:
    assert ("pond", "no text of 1 of 8 documents shown: x9") in {(f.source, f.message) for f in report.findings}
    assert "no text of 1 of 8 documents shown: x9" in page.render(report)


def carried_size(data: dict[str, Any]) -> int:
    carried = [data["questions"], data["texts"], data["whole"], data["words"]]
    return sum(len(str(script_data(part))) for part in carried)


@pytest.mark.parametrize("budget", [0, 1, 150, 400, 800, 1500, 2500, 4000, 10_000])
def test_the_budget_is_kept_and_what_is_left_out_is_said(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "figures", lambda report, **_: [])  # they take their time
    small = of_pond(budget=budget)
    text = page.render(small)
    data = data_of(text)
    assert small.texts is not None
    left_out = small.texts.left_out
    nulls = sum(len(of_topic) for of_topic in data["texts"]) * 6 + 100  # "null," where nothing is carried
    assert carried_size(data) <= budget + nulls
    whole = len(data["whole"]) == 7
    assert (left_out is None) == whole
    if not budget:
        assert left_out == "Texts are left out: their budget is 0."
    if left_out is not None:
        assert left_out in text
        if budget:
            assert left_out.startswith("Left out, to keep texts within ")
            assert f"whole texts of {7 - len(data['whole'])} of 7 documents" in left_out


def test_questions_come_first_then_passages_then_whole_texts() -> None:
    earlier = (0, 0, 0)
    for budget in range(100, 4000, 100):
        carried = of_pond(budget=budget).texts
        assert carried is not None
        count = (
            sum(question is not None for question in carried.questions),
            sum(map(len, carried.texts)),
            len(carried.whole),
        )
        assert count >= earlier  # more room is never worse
        assert count[1] == 0 or count[0] == 6
        assert count[2] == 0 or count[1] == 8
        earlier = count
    assert earlier == (6, 8, 7)


def test_the_first_documents_of_all_topics_come_before_the_second_ones() -> None:
    shown = {"1": ["d01", "d12"], "2": ["d02", "d06"], "3": ["d03", "d09"]}
    quotations = quote(POND, shown, room=9000)
    for budget in range(100, 3000, 50):
        carried = carried_texts(quotations, shown, budget)
        places = [len(of_topic) for of_topic in carried.texts]
        assert max(places) - min(places) <= 1
        assert carried.whole.keys() <= {document for of_topic in carried.texts for document in of_topic}


def test_tables_of_topics_have_the_question_beside_the_id(report: Report) -> None:
    assert '<th scope="row">1</th><td>can ducks swim well</td>' in page.render(report)
    assert "| 1 | can ducks swim well |" in page_markdown.text_of(report)


def test_where_texts_are_from_is_told(report: Report) -> None:
    assert "<p>Texts: pond</p>" in page.render(report)
    assert "\n\nTexts: pond\n\n" in page_markdown.text_of(report)


HOSTILE = {
    "script": "</script><script>alert(1)</script><img src=x onerror=alert(2)><!--",
    "control": "duck\x1b[2J\x07\x9b31m\u202egnp.exe\u2066",
    "lone": "duck \udce9 \ud800 swims",
    "lines": "duck\r\nswims\rwell\u2028on",
    "mark": "*duck* _swim_ `x` [a](javascript:b) | c $d$ \\end{document} %",
    "empty": "",
    "blank": " \n\t ",
}


@pytest.fixture(scope="module")
def hostile() -> Report:
    topics: dict[str, Any] = {
        "1": {"title": "duck </script><b>\x1b[2J", "description": HOSTILE["script"]},
        "2": HOSTILE["control"],
    }
    documents = {id: {"title": text, "text": text} for id, text in HOSTILE.items()}
    run = {topic: {id: 9.0 - place for place, id in enumerate(HOSTILE)} for topic in ("1", "2")}
    qrels = {topic: {"script": 1} for topic in run}
    source = TextSource(topics=topics, documents=[documents])
    return with_texts(gather(Experiment(qrels, {"a": run}), ["AP"]), source)


def test_no_text_is_more_than_text(hostile: Report) -> None:
    # without Vega, the first of the scripts
    text = re.sub("<script>.*?</script>", "", page.render(hostile), count=1, flags=re.DOTALL)
    assert text.encode()  # no lone surrogate is left
    assert "<img" not in text
    assert "alert(1)" in text
    assert text.lower().count("</script") == text.lower().count("<script")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", text)
    whole = data_of(text)["whole"]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", str(whole))
    assert whole["script"] == HOSTILE["script"]
    assert whole["control"] == r"duck\x1b[2J\x07\x9b31m\u202egnp.exe\u2066"
    assert whole["lines"] == "duck\nswims\nwell\\u2028on"
    assert not {"empty", "blank"} & whole.keys()


def test_markdown_and_latex_take_no_question_for_more_than_text(hostile: Report) -> None:
    text = page_markdown.text_of(hostile)
    assert "</script>" not in text.replace("&lt;/script>", "")
    assert "\x1b" not in text


def test_a_huge_document_is_shown_in_part_and_not_carried_whole() -> None:
    source = TextSource(topics={"1": "needle"}, documents=[{"d1": "hay " * 2_500_000 + "needle " + "hay " * 9}])
    report = with_texts(gather(Experiment({"1": {"d1": 1}}, {"a": {"1": {"d1": 1.0}}}), ["AP"]), source)
    assert report.texts is not None
    assert "needle" in report.texts.texts[0]["d1"].snippet
    assert report.texts.whole == {}
    assert report.texts.left_out == "Left out, to keep texts within 5 MB: whole texts of 1 of 1 document."
    assert len(page.render(report)) < 1_500_000  # of which Vega is 900,000


def test_gather_takes_a_collection_and_what_it_says_of_grades(tmp_path: Path) -> None:
    listed = tmp_path / "pond.toml"
    places = "".join(f'{part} = "{EXAMPLES / name}"\n' for part, name in (("topics", "pond-topics.tsv"),))
    listed.write_text(f'{places}topic_source = "a query log"\n')
    report = gather(Experiment(str(QRELS), RUNS), ["AP"], collection=listed)
    assert report.facts.topic_source == "a query log"
    assert report.quotations is not None
    assert report.quotations.question("1") == "can ducks swim well"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, run in RUNS.items():
        lines = [f"{t} Q0 {d} 1 {score} {name}\n" for t, found in run.items() for d, score in found.items()]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    return tmp_path


def test_the_command_says_what_is_missing_and_what_was_left_out(folder: Path) -> None:
    line: list[str | Path] = [
        "report",
        QRELS,
        "a.run",
        "b.run",
        "-m",
        "AP",
        "--collection",
        POND,
        "--text-budget",
        "1K",
        "-o",
        "r.html",
    ]
    done = command_line(*line, folder=folder)
    assert "cranfield: note: pond: no text of 1 of 8 documents shown: x9\n" in done.stderr
    assert "cranfield: note: --text-budget: Left out, to keep texts within 1 KB: " in done.stderr
    whole = command_line(*line[:-4], "-o", "r.html", folder=folder)
    assert "--text-budget" not in whole.stderr
    none = command_line(*line[:-3], "0", "-o", "r.html", folder=folder)
    assert "cranfield: note: --text-budget: Texts are left out: their budget is 0\n" in none.stderr


def test_files_of_texts_are_among_those_read_and_commands_ask_for_them(folder: Path) -> None:
    given = ["--questions", str(EXAMPLES / "pond-topics.tsv"), "--documents", str(EXAMPLES / "pond-documents.jsonl")]
    line: list[str | Path] = ["report", QRELS, "a.run", "b.run", "-m", "AP"]
    assert command_line(*line, *given, "-o", "r.html", folder=folder).exit == 0
    assert command_line(*line, "--collection", POND, "-o", "r.md", folder=folder).exit == 0
    page, markdown = ((folder / name).read_text(encoding="utf-8") for name in ("r.html", "r.md"))
    for what, path in (("questions", given[1]), ("documents", given[3])):
        digest = compute_digest(Path(path).read_bytes(), "xxh3_128")
        row = f'<tr><th scope="row">{what}</th><td>{path}</td><td class="n">{Path(path).stat().st_size:,}</td>'
        assert row in page
        assert digest in page
        # Documents are not read for a form that has none.
        assert (digest in markdown) == (what == "questions")
    commands = json.loads(re.search(r'"explain":(\[.*?\])', page)[1])  # type: ignore[index]
    assert [line.split(" a.run ")[1] for line in commands[:1]] == [shlex.join(given)]


def test_commands_ask_for_the_collection_and_its_ids() -> None:
    report = gather(Experiment(str(QRELS), RUNS), "AP")
    assert text_flags(report) == []
    source = TextSource(collection=str(POND), ids="number")
    assert text_flags(with_texts(report, source)) == ["--collection", str(POND), "--ids", "number"]


@pytest.mark.parametrize("name", ["r.md", "r.tex", "r.pdf"])
def test_forms_that_carry_no_documents_say_nothing_of_them(name: str, folder: Path) -> None:
    if name == "r.pdf":
        needs(*BROWSERS, package="chromium")
    done = command_line("report", QRELS, "a.run", "b.run", "-m", "AP", "--collection", POND, "-o", name, folder=folder)
    assert "--text-budget" not in done.stderr
    assert "no text of" not in done.stderr


def test_a_file_of_facts_alone_shows_what_it_says_and_says_nothing(folder: Path) -> None:
    (folder / "facts.toml").write_text('topic_source = "a query log"\n')
    (folder / "nothing.toml").write_text('name = "pond"\n')
    line: list[str | Path] = ["report", QRELS, "a.run", "b.run", "-m", "AP", "-o", "r.md", "--collection"]
    told = command_line(*line, "facts.toml", folder=folder)
    assert "facts.toml" not in told.stderr
    assert "Topics: a query log" in (folder / "r.md").read_text()
    nothing = command_line(*line, "nothing.toml", folder=folder)
    assert "note: nothing.toml: has neither topics nor documents nor [grades] nor [labels]" in nothing.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("--text-budget 1M -o r.html", "--text-budget is of the texts that a page carries: give --collection"),
        (f"--text-budget 1M --collection {POND} -o r.md", "--text-budget is of the texts that a page carries"),
        ("--documents d.jsonl -o r.tex", "--documents are texts that only a page carries: give -o an .html file"),
    ],
)
def test_what_would_not_count_is_refused(line: str, told: str, folder: Path) -> None:
    done = command_line("report", QRELS, "a.run", *line.split(), folder=folder)
    assert (done.exit, told in done.stderr) == (2, True)


@pytest.mark.parametrize("size", ["", "M", "5X", "-1", "nan", "1e99"])
def test_a_budget_is_a_number_of_bytes(size: str, folder: Path) -> None:
    done = command_line("report", QRELS, "a.run", "-o", "r.html", f"--text-budget={size}", folder=folder)
    assert done.exit == 2
    assert f"--text-budget is a number of bytes, as 5M or 500K, not '{size}'" in done.stderr


def test_labels_of_the_collection_are_used_to_read_judgements(folder: Path) -> None:
    (folder / "letters.qrels").write_text("1 0 d01 A\n2 0 d02 A\n3 0 d03 A\n3 0 d09 B\n")
    (folder / "pond.toml").write_text(f"{POND.read_text()}[labels]\nA = 1\nB = 0\n")
    for name in ("pond-documents.jsonl", "pond-topics.tsv"):
        (folder / name).write_bytes((EXAMPLES / name).read_bytes())
    line = ["letters.qrels", "a.run", "b.run", "-m", "AP"]
    told = printed("diagnose", *line, "--collection", "pond.toml", folder=folder)
    assert "birds flying south for the winter" in told


def test_an_output_that_is_one_of_the_texts_is_refused(folder: Path) -> None:
    documents = folder / "documents.html"
    documents.write_bytes((EXAMPLES / "pond-documents.jsonl").read_bytes())
    before = documents.read_bytes()
    line: list[str | Path] = [
        "report",
        QRELS,
        "a.run",
        "-m",
        "AP",
        "--documents",
        "documents.html",
        "-o",
        "documents.html",
    ]
    assert command_line(*line, folder=folder).exit == 2
    assert documents.read_bytes() == before


def test_questions_in_no_known_format_are_refused_without_an_option_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("1 Q0 d01 1 2.0 a\n")
    done = command_line("report", QRELS, "a.run", "--questions", QRELS, "-o", "r.html", folder=tmp_path)
    assert done.exit == 3
    assert "is in no known format of topics" in done.stderr
    assert "[formats] topics = …, with one of smart, csv" in done.stderr
    assert "--from" not in done.stderr


def test_a_doubt_about_questions_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "q.qrels").write_text("".join(f"{t} 0 d1 1\n" for t in (1, 2, 3)))
    (tmp_path / "a.run").write_text("".join(f"{t} Q0 d1 1 2.0 a\n" for t in (1, 2, 3)))
    (tmp_path / "t.tsv").write_text("id\ttitle\n001\tducks\n2\tgeese\n4\tswans\n")
    line = ["report", "q.qrels", "a.run", "-m", "RR", "--questions", "t.tsv"]
    for name in ("r.html", "r.md"):
        done = command_line(*line, "-o", name, folder=tmp_path)
        assert done.stderr.count("warning: t: what was asked is not shown: the judgements do not use the topics'") == 1
        assert "geese" not in (tmp_path / name).read_text(encoding="utf-8")
    right = command_line(*line, "--ids", "position", "-o", "r.md", folder=tmp_path)
    assert "warning: t:" not in right.stderr
    assert "swans" in (tmp_path / "r.md").read_text(encoding="utf-8")
