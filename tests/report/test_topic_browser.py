"""The view of a topic in a browser: two systems side by side, what was asked and found, by mouse and by keyboard."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cranfield import evaluate
from cranfield.evaluation.experiment import Experiment
from cranfield.explanation.accounts import explain
from cranfield.quotation import TextSource
from cranfield.report import contents
from cranfield.report.carried_texts import with_texts as with_report_texts
from cranfield.report.contents import Report, gather, rankings
from cranfield.report.page import explained_topics as explained
from cranfield.report.page import pictures, render
from needed import needs_module
from noisy import QRELS as ALL_JUDGED
from noisy import RUNS, system
from places import EXAMPLES
from visits import Visit, address

TOPICS = [str(number) for number in range(1, 13)]
# Some documents are not judged, on some topics more than on others.
QRELS = {
    topic: {d: grade for d, grade in ALL_JUDGED[topic].items() if (int(d[1:]) * 7 + int(topic)) % (3 + int(topic) % 4)}
    for topic in TOPICS
}
HERE = {name: {topic: of[topic] for topic in TOPICS} for name, of in (RUNS | {"<i>other</i>": system(0.7, 9)}).items()}
del HERE["poor"]["12"]  # it has no answer to this one
MEASURES = ["nDCG@10", "AP", "F@10"]
HOSTILE = "<img src=x onerror=alert(1)> Ducks & </script><b>geese</b>"
DEPTH = 10


def ranked(name: str, topic: str, depth: int | None = DEPTH) -> list[str]:
    return sorted(HERE[name].get(topic, {}), key=lambda d: -HERE[name][topic][d])[:depth]


def elsewhere(document: str, way: str, other: str, topic: str) -> str:
    """What is said of a document that the other system has further down, or nowhere."""
    whole = ranked(other, topic, None)
    if document not in whole:
        return f"only here: nowhere in the list of {other}"
    return f"{way} {whole.index(document) + 1} in {other}: not in its first {DEPTH}"


def with_texts(text: str) -> str:
    """The page as it is where a collection was given: what it carries of texts, put in by hand."""
    whole = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert whole is not None
    data = json.loads(whole[1])
    documents = data["rankings"]["documents"]
    data["questions"] = [[["title", HOSTILE], ["narrative", "Swimming ones\ncount."]] for _ in documents]
    data["texts"] = [
        [None if d == "d7" else {"title": f"{HOSTILE} {d}", "snippet": f"… all ducks of {d}; Duckling"} for d in ids]
        for ids in documents
    ]
    data["words"] = [["ducks", "geese"] for _ in documents]
    data["whole"] = {d: f"Whole of {d}: geese\n{HOSTILE}" for ids in documents for d in ids if d not in ("d7", "d8")}
    return text[: whole.start(1)] + json.dumps(data).replace("<", "\\u003c") + text[whole.end(1) :]


@pytest.fixture(scope="module")
def report() -> Report:
    return gather(Experiment(QRELS, HERE), MEASURES)


@pytest.fixture(scope="module")
def plain(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page without texts and pictures."""
    target = tmp_path_factory.mktemp("topics") / "plain.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explained, "MOST_EXPLAINED", len(TOPICS))
        patch.setattr(pictures, "figures", lambda report, **_: [])
        target.write_text(render(report), encoding="utf-8")
    return target


@pytest.fixture(scope="module")
def file(plain: Path) -> Path:
    target = plain.with_name("texts.html")
    target.write_text(with_texts(plain.read_text(encoding="utf-8")), encoding="utf-8")
    return target


@pytest.fixture
def visit(browser: Any, file: Path) -> Iterator[Visit]:
    made = Visit(browser, file, "#topic=5")
    yield made
    assert made.wrong == []
    assert made.asked == [file.as_uri()]
    made.context.close()


@pytest.fixture
def bare(browser: Any, plain: Path) -> Iterator[Visit]:
    made = Visit(browser, plain)
    yield made
    assert made.wrong == []
    made.context.close()


def choose_pair(page: Any, first: str, second: str) -> None:
    """Chosen on both sides, two systems change places: so the second one is chosen twice."""
    for label, name in (("A", first), ("B", second), ("A", first)):
        page.get_by_role("dialog").get_by_label(label, exact=True).select_option(label=name)


def side(page: Any, number: int) -> Any:
    return page.locator("dialog section.side").nth(number)


def heading(page: Any) -> str:
    return str(page.locator("#topic-title").evaluate("title => title.firstChild.textContent"))


def test_two_systems_stand_side_by_side(visit: Visit) -> None:
    page = visit.page
    choose_pair(page, "good", "poor")
    for number, name in enumerate(("good", "poor")):
        assert side(page, number).locator("h3").text_content().startswith(f"{'AB'[number]}: {name} nDCG@10 ")
        assert side(page, number).locator(".rank").all_text_contents() == [str(rank) for rank in range(1, DEPTH + 1)]
        assert side(page, number).locator(".id").all_text_contents() == ranked(name, "5")
        grades = [QRELS["5"].get(d) for d in ranked(name, "5")]
        chips = side(page, number).locator(".chip").all_text_contents()
        assert chips == ["unjudged" if grade is None else f"grade {grade}" for grade in grades]
        count = grades.count(None)
        assert count
        assert side(page, number).get_by_text(f"Unjudged: {count} of {DEPTH} documents").is_visible()


def changes(first: str, second: str, topic: str) -> dict[str, str]:
    """What becomes of each document on the way from the second system to the first."""
    ours, theirs = ranked(first, topic), ranked(second, topic)
    kinds = {d: "left" for d in theirs if d not in ours}
    for rank, d in enumerate(ours):
        before = theirs.index(d) if d in theirs else None
        kinds[d] = "entered" if before is None else ("up", "stayed", "down")[(rank > before) - (rank < before) + 1]
    return kinds


# Where every line of the picture starts and ends, and where the documents stand, in pixels from the picture's top;
# as soon as it is drawn.
DRAWN = """async box => {
  await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const picture = box.querySelector("svg.lines");
  const top = picture.getBoundingClientRect().top;
  const { documents } = data.rankings;
  const t = Number(document.getElementById("topic").dataset.topic);
  const lists = [...box.querySelectorAll("ol")].map(list => Object.fromEntries([...list.children].map(
    item => [documents[t][item.dataset.document], item.querySelector(".head").getBoundingClientRect()])
    .map(([name, place]) => [name, [place.top - top, place.bottom - top]])));
  const lines = [...picture.querySelectorAll("path")].map(path => {
    const [from, to] = [path.getPointAtLength(0), path.getPointAtLength(path.getTotalLength())];
    return [documents[t][path.dataset.document], path.getAttribute("class"), from.x, from.y, to.x, to.y];
  });
  return [lists, lines, picture.clientWidth];
}"""


def test_lines_join_the_same_documents(visit: Visit) -> None:
    page = visit.page
    choose_pair(page, "good", "poor")
    expected = changes("good", "poor", "5")
    assert {"up", "down", "entered", "left"} <= set(expected.values())
    page.locator("dialog .sides path").first.wait_for(state="attached")
    (ours, theirs), lines, width = page.locator("dialog .sides").evaluate(DRAWN)
    assert {document: kind for document, kind, *_ in lines} == expected
    assert len(lines) == len(expected)
    for document, kind, left, start, right, end in lines:
        if kind == "left":
            assert left == pytest.approx(width, abs=1)
            assert theirs[document][0] <= start <= theirs[document][1]
            continue
        assert left == 0
        assert ours[document][0] <= start <= ours[document][1]
        if kind != "entered":
            assert right == pytest.approx(width, abs=1)
            assert theirs[document][0] <= end <= theirs[document][1]


def test_changes_are_told_in_words_too(visit: Visit) -> None:
    page = visit.page
    choose_pair(page, "good", "poor")
    expected = changes("good", "poor", "5")
    words = {"up": "moved up", "down": "moved down", "stayed": "stayed", "entered": "entered", "left": "left"}
    counted = [(list(expected.values()).count(kind), word) for kind, word in words.items()]
    told = ", ".join(f"{count} {word}" for count, word in counted if count)
    line = page.locator("dialog .changes").text_content()
    assert line == f"In the first {DEPTH}, from poor to good: {told}."
    ours, theirs = ranked("good", "5"), ranked("poor", "5")
    for d, text in zip(ours, side(page, 0).locator(".move").all_text_contents(), strict=True):
        moved = ours.index(d) - theirs.index(d) if d in theirs else None
        if moved is None:
            assert text == elsewhere(d, "from", "poor", "5")
        elif moved:
            arrow = "↓" if moved > 0 else "↑"
            assert text == f"{arrow} {abs(moved)}, from rank {theirs.index(d) + 1} in poor"
        else:
            assert text == "= same rank as in poor"
    for d, text in zip(theirs, side(page, 1).locator(".move").all_text_contents(), strict=True):
        if d not in ours:
            assert text == elsewhere(d, "to", "good", "5")
        elif ours.index(d) != theirs.index(d):
            assert text == f"to {ours.index(d) + 1} in good"
    page.evaluate("data.rankings.below = null; openTopic(state.topic)")  # as on a page that has no room for ranks
    marks = [text for n in (0, 1) for text in side(page, n).locator(".entered, .left").all_text_contents()]
    assert set(marks) == {
        "enters top 10: not in the first 10 of poor",
        "leaves top 10: not in the first 10 of good",
    }


def test_ranks_below_those_listed_are_carried_if_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = {name: {"1": {f"d{n}": float(sign * n) for n in range(30)}} for name, sign in (("a", 1), ("b", -1))}
    experiment = Experiment({"1": {"d1": 1}}, runs)
    found = rankings(experiment, ["1"])
    assert found.below is not None
    assert found.below[1][0] == {place: 30 - place for place in range(9, -1, -1)}  # d29 is the first of a
    for limit, most in (("MOST_LISTED", 39), ("MOST_LOOKED_THROUGH", 59)):  # 20 are listed, and 20 ranks are below
        with monkeypatch.context() as patch:
            patch.setattr(contents, limit, most + 1)
            assert rankings(experiment, ["1"]) == found
            patch.setattr(contents, limit, most)
            assert rankings(experiment, ["1"])._replace(below=None) == found._replace(below=None)
            assert rankings(experiment, ["1"]).below is None


def test_pointing_at_a_document_shows_it_in_the_other_list(visit: Visit) -> None:
    page = visit.page
    choose_pair(page, "good", "poor")
    shared = next(d for d, kind in changes("good", "poor", "5").items() if kind in ("up", "down"))
    side(page, 0).locator("li", has=page.get_by_text(shared, exact=True)).locator(".head").hover()
    assert page.locator("dialog li.same .id").all_text_contents() == [shared, shared]
    assert page.locator("dialog path.same").count() == 1


def test_text_of_others_is_shown_as_text(visit: Visit) -> None:
    dialog = visit.page.get_by_role("dialog")
    assert dialog.locator(".asked").text_content() == HOSTILE
    assert dialog.locator(".question dt").all_text_contents() == ["narrative"]
    assert dialog.locator(".question dd").all_text_contents() == ["Swimming ones\ncount."]
    titled = [d for d in ranked("good", "5") if d != "d7"]
    choose_pair(visit.page, "good", "<i>other</i>")
    assert side(visit.page, 0).locator(".title").all_text_contents() == [f"{HOSTILE} {d}" for d in titled]
    assert side(visit.page, 1).locator("h3").text_content().startswith("B: <i>other</i> nDCG@10")
    for details in dialog.locator("details.whole summary").all():
        details.click()
    assert dialog.locator("img, i, dialog b:not(.changes b, .apart-by b)").count() == 0


def test_words_of_the_question_are_marked(visit: Visit) -> None:
    choose_pair(visit.page, "good", "poor")
    card = side(visit.page, 0).locator("li", has=visit.page.locator(".snippet")).first
    assert card.locator(".snippet mark").all_text_contents() == ["ducks"], "and not a word that begins so"
    assert card.locator(".title mark").all_text_contents() == ["Ducks", "geese"]


def test_the_whole_text_is_there_on_demand(visit: Visit) -> None:
    page = visit.page
    choose_pair(page, "good", "poor")
    shown = [d for d in ranked("good", "5") if d not in ("d7", "d8")]
    summaries = side(page, 0).locator("details.whole summary")
    assert summaries.all_text_contents() == [f"Whole text of {d}" for d in shown]
    assert side(page, 0).locator("details.whole p").count() == 0
    summaries.first.focus()
    page.keyboard.press("Enter")
    text = side(page, 0).locator("details.whole p")
    text.wait_for()
    assert text.all_text_contents() == [f"Whole of {shown[0]}: geese\n{HOSTILE}"]
    assert text.locator("mark").all_text_contents() == ["geese", "Ducks", "geese"]
    page.locator("dialog .sides path").first.wait_for(state="attached")
    places, lines, _ = page.locator("dialog .sides").evaluate(DRAWN)
    for document, kind, _, start, _, _ in lines:
        own = places[1 if kind == "left" else 0][document]
        assert own[0] <= start <= own[1], "lines follow when a text opens"


@pytest.mark.parametrize("measure", ["nDCG@10", "AP"])
def test_what_each_document_adds_is_that_of_explain(bare: Visit, measure: str) -> None:
    page = bare.page
    page.get_by_label("Measure", exact=True).select_option(label=measure)
    page.get_by_role("button", name="3", exact=True).click()
    choose_pair(page, "fair", "good")
    for number, name in enumerate(("fair", "good")):
        account = explain(Experiment(QRELS, HERE[name]), "3", measure, shown=DEPTH).accounts[0]
        spoken = side(page, number).locator(".adds > .unseen").all_text_contents()
        seen = side(page, number).locator(".adds [aria-hidden]")
        for rank, line in enumerate(account.lines):
            adds, total = f"{line.contribution or 0:.4f}", f"{line.total:.4f}"
            assert spoken[rank] == f"adds {adds} to {measure}, in all so far {total}"
            columns = seen.nth(rank).locator("> .n").all_text_contents()
            assert columns == [f"+{adds}" if line.contribution else "", f"Σ {total}"]
        rest = account.value - (account.lines[-1].total or 0)
        below = side(page, number).locator(".below").all_text_contents()
        assert below == ([f"Further down: +{rest:.4f}"] if measure == "AP" else [])
    widths = page.locator("dialog .bar > span").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.width))")
    assert max(widths) == 100


def test_a_measure_that_is_no_sum_says_so(bare: Visit) -> None:
    page = bare.page
    page.get_by_label("Measure", exact=True).select_option(label="F@10")
    page.get_by_role("button", name="3", exact=True).click()
    assert page.get_by_text("F@10 is not a sum over documents.").is_visible()
    assert page.locator("dialog .adds").count() == 0


def test_scores_of_all_systems_stay_in_a_table(visit: Visit) -> None:
    results = evaluate(QRELS, HERE, MEASURES)
    t = results.topics.index("5")
    rows = visit.rows("dialog div[aria-label=Scores] table")
    assert {row[0] for row in rows} == set(HERE)
    for row in rows:
        assert row[1:] == [f"{score:.4f}" for score in results.scores[results.runs.index(row[0]), :, t]]
    choose_pair(visit.page, "good", "poor")
    good, poor = (results.scores[results.runs.index(name), 0, t] for name in ("good", "poor"))
    told = visit.page.locator("dialog .apart-by").text_content()
    assert told == f"nDCG@10: {good:.4f} − {poor:.4f} = {good - poor:+.4f}"


def test_topics_turn_by_key_and_by_button(visit: Visit) -> None:
    page = visit.page
    for key, topic in (("ArrowRight", "6"), ("j", "7"), ("k", "6"), ("ArrowLeft", "5"), ("ArrowLeft", "4")):
        page.keyboard.press(key)
        assert heading(page) == f"Topic {topic}"
        assert address(page).endswith(f"#topic={topic}")
    page.get_by_role("button", name="Next →").click()
    assert heading(page) == "Topic 5"
    assert page.evaluate("document.activeElement.dataset.key") == "next"
    page.keyboard.press("Enter")
    assert heading(page) == "Topic 6"
    assert page.locator("#topic-title .reading").text_content() == f" 6 of {len(TOPICS)}"
    page.get_by_role("dialog").get_by_label("B", exact=True).focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Control+j")
    assert heading(page) == "Topic 6", "keys of a list are its own"


def test_the_ends_of_the_list_go_no_further(visit: Visit) -> None:
    page = visit.page
    for _ in range(8):
        page.keyboard.press("k")
    assert heading(page) == "Topic 1"
    assert page.get_by_role("button", name="← Previous").is_disabled()
    assert page.get_by_role("button", name="Next →").is_enabled()


def keys() -> dict[str, dict[str, float]]:
    """What topics are put in order by, least first, with good as A and poor as B."""
    results = evaluate(QRELS, HERE, "nDCG@10")
    scores = {
        run: dict(zip(results.topics, results.scores[number, 0].tolist(), strict=True))
        for number, run in enumerate(results.runs)
    }
    lists = {topic: [ranked(name, topic) for name in HERE if topic in HERE[name]] for topic in TOPICS}
    unjudged = {topic: [sum(d not in QRELS[topic] for d in ids) for ids in lists[topic]] for topic in TOPICS}
    return {
        "by difference": {topic: scores["poor"][topic] - scores["good"][topic] for topic in TOPICS},
        "hardest first": {topic: sum(of[topic] for of in scores.values()) for topic in TOPICS},
        "most unjudged first": {topic: -sum(unjudged[topic]) / len(lists[topic]) for topic in TOPICS},
        "by topic": {topic: float(topic) for topic in TOPICS},
    }


def test_topics_come_in_the_order_that_is_chosen(visit: Visit) -> None:
    page = visit.page
    choose_pair(page, "good", "poor")
    seen = set()
    for name, key in keys().items():
        page.get_by_role("dialog").get_by_label("Topics", exact=True).select_option(label=name)
        order = page.locator("table.topics tbody th button").all_text_contents()
        assert sorted(order, key=int) == TOPICS
        assert [key[topic] for topic in order] == pytest.approx(sorted(key.values())), name
        page.locator("#topic-title").focus()
        for _ in order:
            page.keyboard.press("k")
        walked = [heading(page)]
        for _ in order[1:]:
            page.keyboard.press("j")
            walked.append(heading(page))
        assert walked == [f"Topic {topic}" for topic in order]
        seen.add(tuple(order))
    assert len(seen) == len(keys())


def test_escape_closes_and_gives_the_focus_back(bare: Visit) -> None:
    from playwright.sync_api import expect

    page = bare.page
    opener = page.get_by_role("button", name="7", exact=True)
    opener.focus()
    page.keyboard.press("Enter")
    assert page.get_by_role("dialog").is_visible()
    assert page.evaluate("document.activeElement.id") == "topic-title"
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "7"
    page.wait_for_function("!location.href.includes('topic=')")  # the dialog tells a moment later that it is closed
    opener.click()
    page.get_by_role("dialog").get_by_label("Topics", exact=True).select_option(label="by difference")
    page.get_by_role("button", name="Close").click()
    expect(page.locator("*:focus")).to_have_text("7")  # though the table was sorted anew
    page.keyboard.press("Enter")
    page.keyboard.press("j")
    last = heading(page).removeprefix("Topic ")
    page.keyboard.press("Escape")
    expect(page.locator("*:focus")).to_have_text(last)  # the one that was shown last
    assert last != "7"


def test_the_measure_is_chosen_in_the_view_too(visit: Visit) -> None:
    page = visit.page
    page.get_by_role("dialog").get_by_label("Measure", exact=True).select_option(label="AP")
    assert "measure=AP" in address(page)
    assert "AP" in side(page, 0).locator("h3").inner_text()
    assert page.evaluate("document.activeElement.id") in ("topic-measure", "topic-title")


def test_a_topic_that_is_open_is_printed_without_lines(visit: Visit) -> None:
    page = visit.page
    choose_pair(page, "good", "poor")
    page.emulate_media(media="print")
    assert not page.locator("svg.lines").is_visible()
    ours, theirs = (side(page, n).locator("ol.ranking").bounding_box() for n in (0, 1))
    assert ours["y"] == pytest.approx(theirs["y"], abs=30)
    assert ours["x"] + ours["width"] <= theirs["x"]
    assert ours["y"] < page.locator("dialog .changes").bounding_box()["y"] + 120  # right below what is said of them


def test_systems_change_places_when_chosen_twice(visit: Visit) -> None:
    page = visit.page
    choose_pair(page, "good", "poor")
    page.get_by_role("dialog").get_by_label("A", exact=True).focus()
    page.get_by_role("dialog").get_by_label("A", exact=True).select_option(label="poor")
    assert side(page, 0).locator("h3").text_content().startswith("A: poor")
    assert side(page, 1).locator("h3").text_content().startswith("B: good")
    assert page.evaluate("document.activeElement.dataset.key") == "first"


def test_a_system_without_an_answer(browser: Any, plain: Path) -> None:
    visit = Visit(browser, plain, "#topic=12")
    choose_pair(visit.page, "good", "poor")
    assert visit.page.get_by_text("poor has no answer to this topic.").is_visible()
    assert visit.page.locator("dialog .changes").text_content() == "In the first 10, from poor to good: 10 entered."
    assert side(visit.page, 1).locator("li").count() == 0
    assert visit.wrong == []
    visit.context.close()


def test_one_system_alone(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "figures", lambda report, **_: [])
    target = tmp_path / "alone.html"
    target.write_text(render(gather(Experiment(QRELS, {"good": HERE["good"]}), "RR")), encoding="utf-8")
    visit = Visit(browser, target, "#topic=2")
    assert visit.page.locator("dialog section.side").count() == 1
    assert visit.page.locator("dialog .id").all_text_contents() == ranked("good", "2")
    assert visit.page.locator("dialog svg.lines, dialog .move, dialog .changes").count() == 0
    assert visit.page.locator("dialog select").count() == 1
    assert visit.wrong == []
    visit.context.close()


def test_of_many_systems_some_are_found_by_name(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "figures", lambda report, **_: [])
    drawn = {f"s{n:02}": system(0.2 + n / 15, n) for n in range(30)}
    runs = {name: {topic: ranking[topic] for topic in TOPICS} for name, ranking in drawn.items()}
    target = tmp_path / "many.html"
    target.write_text(render(gather(Experiment(QRELS, runs), ["nDCG@10", "AP"])), encoding="utf-8")
    read = browser.new_context(java_script_enabled=False).new_page()
    read.goto(target.as_uri())
    script = "table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))"
    plain = read.locator("table.standings").first.evaluate(script)
    visit = Visit(browser, target)
    assert visit.rows("table.standings >> nth=0") == plain  # with counts in the place of letters
    visit.page.locator("details.picker summary").click()
    visit.page.get_by_label("Find system").fill("s1")
    assert visit.page.locator("details.picker label:visible").all_inner_texts() == [
        name for name in visit.page.evaluate("byMean().map(i => data.systems[i])") if "s1" in name
    ]
    read.context.close()
    visit.context.close()


def test_questions_have_the_room_that_scores_leave(browser: Any, file: Path) -> None:
    visit = Visit(browser, file)
    assert visit.page.locator(".topics .asked").first.bounding_box()["width"] > 500
    visit.context.close()


def collection_page(target: Path, budget: int) -> Path:
    """A page with one topic that has a question and one that has none, one document with a text and one without."""
    topics = {"1": {"title": "שלום ducks", "description": "Any of them."}, "3": {"title": "geese", "description": ""}}
    documents = {"d1": {"title": "On ducks", "text": "On ducks. They swim in ponds."}}
    source = TextSource(topics=topics, documents=[documents])
    runs = {name: {t: {"d1": 1.0, "x9": n} for t in ("1", "2")} for n, name in ((0.5, "one"), (2.0, "two"))}
    report = gather(Experiment({"1": {"d1": 1}, "2": {"d1": 1}, "3": {"d1": 1}}, runs), "RR")
    target.write_text(render(with_report_texts(report, source, budget=budget)), encoding="utf-8")
    return target


def test_texts_that_are_not_there_say_why(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "figures", lambda report, **_: [])
    file = collection_page(tmp_path / "texts.html", 5_000)
    visit = Visit(browser, file, "#topic=1")
    page = visit.page
    # What a text begins with is not said again where it is the title.
    assert side(page, 0).locator(".snippet").all_inner_texts() == ["They swim in ponds.", "no text in the texts"]
    directions = page.locator("dialog .asked, dialog dd, dialog .title").evaluate_all("parts => parts.map(p => p.dir)")
    assert directions == ["auto"] * 4
    page.evaluate("choose({ topic: 1 })")
    assert page.locator("dialog > .reading").first.inner_text() == "What was asked is not in the texts."
    visit.context.close()
    small = Visit(browser, collection_page(tmp_path / "small.html", 60), "#topic=1")
    left_out = "left out: no room within the budget of texts"
    assert small.page.locator("dialog > .reading").first.inner_text() == f"What was asked is {left_out}."
    texts = side(small.page, 0).locator(".snippet").all_inner_texts()
    assert texts == [left_out, "no text in the texts"]
    small.context.close()


def test_texts_of_a_collection(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "figures", lambda report, **_: [])
    runs = {"one": {"1": {"d12": 2.0, "d01": 1.0}}, "two": {"1": {"d01": 2.0, "d05": 1.0}}}
    report = gather(Experiment(EXAMPLES / "pond.qrels", runs), "RR", collection=str(EXAMPLES / "pond.toml"))
    target = tmp_path / "pond.html"
    target.write_text(render(report), encoding="utf-8")
    visit = Visit(browser, target, "#topic=1")
    choose_pair(visit.page, "one", "two")
    assert visit.page.locator("dialog .asked").text_content() == "can ducks swim well"
    assert side(visit.page, 0).locator(".title").first.text_content() == "Why feathers stay dry"
    marked = {word.lower() for word in side(visit.page, 0).locator("mark").all_text_contents()}
    assert marked
    assert marked <= {"duck", "ducks", "swim", "swims", "swimming", "well"}
    side(visit.page, 0).locator("details.whole summary").first.click()
    side(visit.page, 0).locator("details.whole p").wait_for()
    assert visit.wrong == []
    visit.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_everyone_can_read_the_view(browser: Any, file: Path, width: int, scheme: str) -> None:
    axe = needs_module("axe_playwright_python.sync_playwright")
    visit = Visit(browser, file, "#topic=5", viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = visit.page
    page.locator("dialog details.whole summary").first.click()
    page.locator("dialog details.explanation summary").first.click()
    for box in ("document.documentElement", "document.getElementById('topic')"):
        assert page.evaluate(f"{box}.scrollWidth - {box}.clientWidth") <= 0
    assert page.locator("dialog path").count() >= DEPTH
    found = axe.Axe().run(page, context="#topic").response["violations"]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
    visit.context.close()


def test_what_is_open_is_what_is_printed(visit: Visit) -> None:
    page = visit.page
    page.emulate_media(media="print")
    assert page.locator("dialog .asked").is_visible()
    assert page.locator("dialog ol.ranking li").count() == 2 * DEPTH
    assert page.locator("main:visible, dialog button:visible").count() == 0
    page.emulate_media(media="screen")
    page.keyboard.press("Escape")
    page.emulate_media(media="print")
    assert page.locator("main").is_visible()
