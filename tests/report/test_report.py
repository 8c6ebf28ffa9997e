"""Reports: every number is the library's, in the data and in the tables; one file that is safe, small and complete."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cranfield
from commands import command_line
from cranfield import Policy, UsageError, evaluate
from cranfield.comparison.question import Question
from cranfield.comparison.standing import against, tiers, verdict
from cranfield.comparison.systems import compare
from cranfield.evaluation.experiment import Experiment
from cranfield.explanation.accounts import explain
from cranfield.judged import judge
from cranfield.measures import Measure
from cranfield.plot import saving
from cranfield.plot.curves import by_cutoff, interpolated, ranked
from cranfield.report import page, page_markdown, page_pdf, report_tables
from cranfield.report.contents import Report, gather, rankings
from cranfield.report.figures import Illustration, figures
from cranfield.report.page import explained_topics as explained
from cranfield.report.page import pictures
from cranfield.report.report_files import WRITERS
from cranfield.report.report_files import write as write_report
from cranfield.report.report_tables import ADVICE, DECIDES, standings_grid
from noisy import QRELS, RUNS, system, write

MEASURES = ["nDCG@10", "AP", "P@10"]
FOUR = {**RUNS, "better": system(1.2, 4)}
JUDGED = {topic: {document: float(grade) for document, grade in of.items()} for topic, of in QRELS.items()}


MANY = 30  # systems, more than there are letters


@pytest.fixture(scope="module")
def many() -> Report:
    runs = {f"s{n:02}": system(0.2 + n / 15, n) for n in range(MANY)}
    return gather(Experiment(QRELS, runs), ["nDCG@10", "AP"])


class Reader(HTMLParser):
    """The page as a person without scripts has it: the text of every table, and which elements there are."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._open: list[str] = []
        self._rows: list[list[str]] = []
        self._caption = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open.append(tag)
        if tag == "table":
            self._rows, self._caption = [], ""
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass
        if tag == "table":
            self.tables[self._caption] = self._rows

    def handle_data(self, data: str) -> None:
        if "script" in self._open:
            self.scripts[-1] += data
        elif "caption" in self._open:
            self._caption += data
        elif {"td", "th"} & set(self._open) and "sup" not in self._open:
            self._rows[-1][-1] += data


@pytest.fixture(scope="module")
def report() -> Report:
    return gather(Experiment(QRELS, FOUR), MEASURES, command="cranfield report …")


@pytest.fixture(scope="module")
def text(report: Report) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(explained, "MOST_EXPLAINED", 5 * len(QRELS))
        return page.render(report)


@pytest.fixture(scope="module")
def reader(text: str) -> Reader:
    return Reader(text)


@pytest.fixture(scope="module")
def data(reader: Reader) -> Any:
    return json.loads(reader.scripts[0])


@pytest.fixture(scope="module")
def carried(reader: Reader) -> Any:
    return json.loads(reader.scripts[1])


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages whose pictures are looked at elsewhere, with few explanations: both take their time."""
    monkeypatch.setattr(pictures, "figures", lambda report, measure: [])
    monkeypatch.setattr(explained, "MOST_EXPLAINED", 3 * len(QRELS))


def embedded(report: Report) -> Any:
    return json.loads(Reader(page.render(report)).scripts[0])


def test_every_score_in_the_data_is_that_of_evaluate(data: Any) -> None:
    results = evaluate(QRELS, FOUR, MEASURES)
    assert data["systems"] == list(results.runs)
    assert data["topics"] == list(results.topics)
    assert [one["name"] for one in data["measures"]] == MEASURES
    for m, one in enumerate(data["measures"]):
        assert one["scores"] == results.scores[:, m].tolist()
        assert one["means"] == pytest.approx(results.means[:, m].tolist(), abs=1e-15)


def test_every_comparison_in_the_data_is_that_of_compare(data: Any, report: Report) -> None:
    found = compare(Experiment(QRELS, FOUR), MEASURES)
    pairs = iter(found.rows())
    for panel, one in zip(found.panels, data["measures"], strict=True):
        for k, (i, j) in enumerate(data["pairs"]):
            pair = next(pairs)
            assert (data["systems"][i], data["systems"][j], one["name"]) == (pair.system, pair.other, pair.measure)
            names = (
                "difference",
                "low",
                "high",
                "adjusted_p",
                "wins",
                "ties",
                "losses",
            )
            assert [one[name][k] for name in names] == [getattr(pair, name) for name in names]
        assert report.reference(panel.measure) == panel.best
        beaten = [found.beaten_by(panel, system) for system in range(len(FOUR))]
        assert [sorted(systems) for systems in one["beats"]] == beaten  # there in the order of their letters
        assert one["tiers"] == tiers(found, panel)
        assert one["verdict"] == verdict(found, panel)


def test_what_is_said_of_each_baseline_is_what_a_comparison_says(data: Any) -> None:
    """Seen from a baseline, p stays that of the family of all pairs; signs, tiers and sentences are the baseline's."""
    found = compare(Experiment(QRELS, FOUR), MEASURES)
    for panel, one in zip(found.panels, data["measures"], strict=True):
        for number, name in enumerate(found.systems):
            seen = replace(found, baseline=name)
            assert one["tiers_against"][number] == tiers(seen, panel)
            assert one["tiers_against"][number][number] == "level"
            assert one["verdicts_against"][number] == verdict(seen, panel)
            assert f"Against the baseline {name}, " in one["verdicts_against"][number]


def rows_of(carried: Any, picture: str, data: Any, measure: int = 0) -> list[dict[str, Any]]:
    """The rows of a picture as the page's script makes them of columns."""
    made = next(one for one in carried["pictures"] if one["name"] == picture)
    spec = carried["specs"][made["specs"][measure]]
    tables = [int(number) for number in re.findall(r'"table": (\d+)', json.dumps(spec))]
    lists = carried["lists"]

    def column(part: Any, name: str) -> list[Any]:
        entry = part["columns"][name]
        if "all" in entry:
            return [entry["all"]] * part["count"]
        if "at" in entry:
            return [lists[entry["of"]][place] for place in lists[entry["at"]]]
        if "list" in entry:
            return list(lists[entry["list"]])
        systems = column(part, "system")
        others = column(part, "topic" if "scores" in entry else "other")
        if "joined" in entry:
            return [f"{a}{entry['joined']}{b}" for a, b in zip(systems, others, strict=True)]
        if "scores" in entry:
            scores = data["measures"][entry["scores"]]["scores"]
            return [
                scores[data["systems"].index(a)][data["topics"].index(t)] for a, t in zip(systems, others, strict=True)
            ]
        return [entry["sign"] * pair(entry, a, b) for a, b in zip(systems, others, strict=True)]

    def pair(entry: Any, a: str, b: str) -> float:
        i, j = data["systems"].index(a), data["systems"].index(b)
        of, figure = data["measures"][entry["pairs"]], entry["figure"]
        if [i, j] in data["pairs"]:
            return float(of[figure][data["pairs"].index([i, j])])
        turned = {"low": "high", "high": "low"}.get(figure, figure)
        value = float(of[turned][data["pairs"].index([j, i])])
        return value if figure == "adjusted_p" else -value

    rows = []
    for part in carried["tables"][tables[0]]:
        columns = {name: column(part, name) for name in part["columns"]}
        rows += [{name: values[r] for name, values in columns.items()} for r in range(part["count"])]
    return rows


def test_curves_of_the_pictures_are_those_of_the_library(carried: Any, data: Any) -> None:
    collected = Experiment(QRELS, FOUR)
    expected = {"interpolated": interpolated(collected), "cutoff": by_cutoff(collected, "nDCG")}
    for name, curves in expected.items():
        rows = rows_of(carried, name, data)
        for system_name in data["systems"]:
            known = dict(curves.of(system_name))
            made = {row["x"]: row["y"] for row in rows if row["system"] == system_name}
            assert made
            assert made == {x: known[x] for x in made}


def test_every_picture_has_the_rows_of_its_chart(report: Report, carried: Any, data: Any) -> None:
    """As columns, with what many have in common once, no row is lost or changed, whatever the measure."""
    for m, measure in enumerate(report.results.measures):
        for figure in figures(report, measure=measure):
            chart = (figure.draw_all or figure.draw)().to_dict()
            values = next(part["values"] for part in _datas(chart))
            assert rows_of(carried, figure.name, data, m) == values, (figure.name, measure)


def _datas(part: Any) -> list[Any]:
    if isinstance(part, list):
        return [data for item in part for data in _datas(item)]
    if not isinstance(part, dict):
        return []
    own = [part["data"]] if isinstance(part.get("data"), dict) and "values" in part["data"] else []
    return own + [data for item in part.values() for data in _datas(item)]


def test_the_page_carries_what_pictures_share_once(carried: Any) -> None:
    assert len(carried["configs"]) == 1
    for name in ("interpolated", "cutoff"):
        picture = next(one for one in carried["pictures"] if one["name"] == name)
        assert len(set(picture["specs"])) == 1
    written = [json.dumps(values) for values in carried["lists"]]
    assert len(written) == len(set(written))


def test_documents_in_the_data_are_the_first_of_each_ranking(data: Any) -> None:
    collected = Experiment(QRELS, FOUR)
    made = data["rankings"]
    for t, topic in enumerate(data["topics"]):
        for s, name in enumerate(data["systems"]):
            shown = [(made["documents"][t][d], made["grades"][t][d]) for d in made["places"][s][t]]
            rows = [row for row in ranked(collected, topic, depth=10) if row.run == name]
            assert shown == [(row.document, row.grade) for row in rows]


def test_explanations_in_the_data_are_those_of_explain(data: Any) -> None:
    carried = {(one["measure"], one["system"]): one["topics"] for one in data["explanations"]}
    means = data["measures"][0]["means"]
    assert (0, means.index(max(means))) in carried
    for (m, s), topics in carried.items():
        of = data["measures"][m]
        for t, topic in enumerate(data["topics"]):
            assert topics[t]["board"].endswith(f"{of['scores'][s][t]:.4f}"), (of["name"], topic)
    first = carried[0, data["systems"].index("good")][0]
    account = explain(Experiment(QRELS, FOUR["good"]), data["topics"][0], "nDCG@10").accounts[0]
    column = first["header"].index("contribution")
    given = [row[column] for row in first["rows"]]
    assert given == [f"{line.contribution:.4f}" if line.contribution else "" for line in account.lines]


def test_the_tables_of_systems_show_the_comparison(reader: Reader) -> None:
    found = compare(Experiment(QRELS, FOUR), MEASURES)
    for panel in found.panels:
        header, *rows = reader.tables[f"Systems by {panel.measure}"]
        assert panel.best is not None
        best = found.systems[panel.best]
        assert header[3:5] == [str(panel.measure), f"− {best}"]
        assert [row[1] for row in rows] == [found.systems[i] for i in np.argsort(-panel.means)]
        pairs = {}
        for pair in found.rows():
            if pair.measure == str(panel.measure) and best in (pair.system, pair.other):
                other, turned = (pair.other, True) if pair.system == best else (pair.system, False)
                low, high = (-pair.high, -pair.low) if turned else (pair.low, pair.high)
                counts = (pair.losses, pair.ties, pair.wins) if turned else (pair.wins, pair.ties, pair.losses)
                pairs[other] = (-pair.difference if turned else pair.difference, low, high, pair.adjusted_p, counts)
        for row in rows:
            assert row[3].rstrip() == f"{panel.means[found.systems.index(row[1])]:.4f}"  # a blank before its letters
            if row[1] != best:
                difference, low, high, p, counts = pairs[row[1]]
                shown = "<0.0001" if p < 0.0001 else f"{p:.4f}"
                expected = [f"{difference:+.4f}", f"[{low:+.4f}, {high:+.4f}]", shown, "/".join(map(str, counts))]
                assert row[4:8] == expected


def test_every_pair_is_listed_with_the_p_of_every_test(reader: Reader) -> None:
    found = compare(Experiment(QRELS, FOUR), MEASURES)
    for panel in found.panels:
        name = next(name for name in reader.tables if name.startswith(f"Every pair by {panel.measure};"))
        header, *rows = reader.tables[name]
        pairs = [pair for pair in found.rows() if pair.measure == str(panel.measure)]
        for row, pair in zip(rows, pairs, strict=True):
            assert row[:2] == [f"{pair.system} − {pair.other}", f"{pair.difference:+.4f}"]
            for test in found.tests:
                p = pair.p[test.name]
                assert row[header.index(f"p ({test.name}), uncorrected")] == ("<0.0001" if p < 0.0001 else f"{p:.4f}")


def test_the_table_of_topics_shows_every_score(reader: Reader) -> None:
    results = evaluate(QRELS, FOUR, MEASURES)
    header, *rows = reader.tables["nDCG@10 of every topic"]
    assert header == ["topic", *results.runs]
    assert rows == [
        [topic, *(f"{score:.4f}" for score in scores)]
        for topic, scores in zip(results.topics, results.scores[:, 0].T.tolist(), strict=True)
    ]


def test_the_page_needs_nothing_else(text: str, reader: Reader) -> None:
    own = text.replace(reader.scripts[2], "")  # Vega's library names places in its messages
    assert not re.findall(r"https?://(?!www\.w3\.org)", own)
    assert not any({"src", "href"} & set(attributes) and tag != "a" for tag, attributes in reader.tags)
    assert all((attributes.get("href") or "#").startswith("#") for tag, attributes in reader.tags if tag == "a")
    policy = next(a["content"] for tag, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("script-src")[1]
    for script in reader.scripts[2:]:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy


def test_the_page_can_be_read_by_everyone(text: str, reader: Reader) -> None:
    heads = [attributes for tag, attributes in reader.tags if tag == "th"]
    assert heads
    assert all(attributes.get("scope") in ("col", "row") for attributes in heads)
    pictures = [attributes for tag, attributes in reader.tags if tag == "svg" and attributes.get("role") == "img"]
    assert len(pictures) == len([tag for tag, _ in reader.tags if tag == "figure"]) == 8
    assert all(attributes["aria-label"] for attributes in pictures)
    names = [value for _, attributes in reader.tags for name, value in attributes.items() if name == "id"]
    assert len(names) == len(set(names))
    for needed in ("prefers-color-scheme: dark", "@media print", "@media (max-width", ":focus-visible"):
        assert needed in text


def test_a_page_is_the_same_whenever_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    matrices = ("p-values", "stability")  # pictures with ids of their own, which Vega counts on

    def some_figures(report: Report, measure: Measure) -> list[Illustration]:
        return [one for one in figures(report, measure=measure) if one.name in matrices]

    monkeypatch.setattr(pictures, "figures", some_figures)
    monkeypatch.setattr(explained, "MOST_EXPLAINED", len(QRELS))
    assert page.render(gather(Experiment(QRELS, FOUR), "AP")) == page.render(gather(Experiment(QRELS, FOUR), "AP"))


def test_ids_cannot_break_out_of_the_page(no_pictures: None) -> None:
    bad = "</script><img src=x onerror=alert(1)>&\"'"
    qrels = {bad: {bad: 1, "b": 0}, "2": {"b": 1}, "3": {"b": 1}}
    one, other = ({topic: {bad: 1.0, "b": score} for topic in qrels} for score in (0.5, 2.0))
    made = page.render(gather(Experiment(qrels, {bad: one, "other": other}), "RR", title=bad, command=bad))
    reader = Reader(made)
    assert len(reader.scripts) == 4
    assert not any(tag == "img" for tag, _ in reader.tags)
    found = json.loads(reader.scripts[0])
    assert bad in found["topics"]
    assert bad in found["systems"]
    assert bad in reader.tables["RR of every topic"][0]


def test_ids_that_are_no_text_are_shown_as_escapes(tmp_path: Path, no_pictures: None) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "a.run"
    qrels.write_bytes(b"1 0 d\xff 1\n2 0 d1 1\n")
    run.write_bytes(b"1 Q0 d\xff 1 2 a\n2 Q0 d1 1 2 a\n")
    write_report(gather(Experiment(str(qrels), str(run)), "RR"), str(tmp_path / "report.html"))
    assert json.loads(Reader((tmp_path / "report.html").read_text("utf-8")).scripts[0])["rankings"]["documents"]


def test_one_system_alone(no_pictures: None) -> None:
    made = gather(Experiment(QRELS, {"good": RUNS["good"]}), MEASURES)
    reader = Reader(page.render(made))
    mean = evaluate(QRELS, RUNS["good"], MEASURES).means[0]
    assert reader.tables["Systems by AP"] == [["system", "AP"], ["good", f"{mean[1]:.4f}"]]
    assert [figure.name for figure in figures(made)] == ["interpolated", "cutoff", "heatmap"]
    text = page.render(made)
    assert embedded(made)["reading"] == ""
    assert "read-against" not in text.partition("<script")[0]
    assert "Opening a topic shows the first 10 documents; those further down are left out." in text


def test_what_is_explained_is_there(report: Report) -> None:
    lines = " ".join(report_tables.reading(report))
    assert "* after a difference" not in lines
    assert "d_z" not in lines
    assert "detectable" not in lines
    assert "unjudged: share of the documents that nobody judged, of the first k for measures @k, else of all" in lines
    assert "a mean may stand below a lower one of the tier above" in lines
    of_pairs = " ".join(report_tables.reading_pairs(report))
    assert of_pairs.startswith("* after a difference says that it is significant (adjusted p below 0.05).")
    assert all(f"{name}: " in of_pairs for name in ("d_z", "W/T/L", "detectable"))
    fold = re.search("<details>.*?</details>", page.render(report), re.DOTALL)
    assert fold is not None
    assert of_pairs.split(" ", 1)[1][:40] in fold[0]
    assert of_pairs.partition("detectable")[2] in page_markdown.text_of(report)


def test_more_systems_than_letters_are_counted(many: Report) -> None:
    assert many.comparison is not None
    grid = standings_grid(many, many.results.measures[0])
    assert (grid.header[:3], grid.labels) == (["system", "tier", "nDCG@10"], 2)
    beaten = {s.system: len(s.beats) for s in many.standings(many.results.measures[0])}
    for system_name, _, mean, *_ in grid.cells():
        count = beaten[system_name.text]
        assert mean.above == ("all" if count == MANY - 1 else f"{count} of {MANY - 1}")
    assert max(beaten.values()) > 3
    assert embedded(many)["letters"] == []


def test_systems_that_are_level_share_the_first_place(no_pictures: None) -> None:
    same = {"a": RUNS["good"], "b": RUNS["good"], "c": RUNS["poor"]}
    report = gather(Experiment(QRELS, same), ["AP"])
    assert report.verdict(report.results.measures[0]).startswith("a and b share the highest AP, ")
    assert "-0.0000" not in str(standings_grid(report, report.results.measures[0]))


@pytest.mark.parametrize("runs", [{"good": FOUR["good"]}, FOUR])
def test_a_baseline_that_is_no_run_is_refused_whatever_their_number(runs: Any) -> None:
    with pytest.raises(UsageError, match=r"no run 'goood' to be the baseline; there (is|are) "):
        gather(Experiment(QRELS, runs), MEASURES, Question(baseline="goood"))


def test_a_baseline_is_what_systems_are_set_against(no_pictures: None) -> None:
    made = gather(Experiment(QRELS, FOUR), MEASURES, Question(baseline="fair"))
    found = embedded(made)
    assert found["baseline"] == found["systems"].index("fair")
    assert {made.reference(measure) for measure in made.results.measures} == {found["baseline"]}
    assert "p-values" not in [figure.name for figure in figures(made)]
    assert {s.system: s.tier for s in made.standings(made.results.measures[0])}["fair"] == "level"
    assert "Against the baseline fair, 2 of 3 are significantly better" in made.verdict(made.results.measures[0])


def test_topics_that_do_not_count_have_no_number(no_pictures: None) -> None:
    short = {topic: documents for topic, documents in RUNS["fair"].items() if topic not in ("3", "5")}
    made = gather(Experiment(QRELS, {**RUNS, "fair": short}, policy=Policy(topics="run")), MEASURES)
    found = embedded(made)
    s, t = found["systems"].index("fair"), found["topics"].index("3")
    assert found["measures"][0]["scores"][s][t] is None
    expected = compare(Experiment(QRELS, {**RUNS, "fair": short}, policy=Policy(topics="run")), MEASURES)
    assert found["measures"][0]["means"] == expected.panels[0].means.tolist()
    assert "on 38 topics" in made.verdict(made.results.measures[0])


@pytest.mark.parametrize(
    "policy",
    [
        Policy(),
        Policy(ties="file"),
        Policy(ties="best"),
        Policy(ties="worst"),
        Policy(depth=4),
        Policy(judged_only=True),
        Policy(ties="best", judged_only=True, depth=7),
    ],
    ids=str,
)
def test_documents_stand_where_measures_see_them(policy: Policy) -> None:
    qrels = {topic: {f"d{i}": i % 3 for i in range(0, 12, 2)} for topic in "1234"}
    rounded = {t: {f"d{i * 5 % 12}": float(12 - i * int(t)) // 4 for i in range(12)} for t in qrels}
    experiment = Experiment(qrels, {"a": rounded}, policy=policy)
    made = rankings(experiment, tuple(qrels))
    judged = judge(experiment.tables()[0], cranfield.read_qrels(qrels), policy)
    for t, topic in enumerate(judged.topics):
        hits = slice(judged.offsets[t], judged.offsets[t + 1])
        expected = {
            rank: grade for rank, grade in zip(judged.rank[hits], judged.grade[hits], strict=True) if rank <= 10
        }
        shown = [made.grades[t][d] for d in made.places[0][t]]
        assert {rank: grade for rank, grade in enumerate(shown, start=1) if grade is not None} == expected
        documents = [made.documents[t][d] for d in made.places[0][t]]
        assert len(set(documents)) == len(documents) == min(10, judged.retrieved[t])
        scores = [rounded[topic][document] for document in documents]
        assert scores == sorted(scores, reverse=True)


def test_a_mean_over_orders_has_nothing_to_explain(no_pictures: None) -> None:
    found = embedded(gather(Experiment(QRELS, FOUR, policy=Policy(ties="expected")), "AP"))
    assert found["explanations"] == []
    assert found["explain"] is None


def test_what_does_not_fit_is_left_out_and_said(
    report: Report, monkeypatch: pytest.MonkeyPatch, no_pictures: None
) -> None:
    monkeypatch.setattr(explained, "MOST_CARRIED", 70_000)
    monkeypatch.setattr("cranfield.report.contents.MOST_LISTED", 4 * 40 * 3)
    made = gather(Experiment(QRELS, FOUR), MEASURES)
    found = embedded(made)
    assert found["rankings"]["depth"] == 3
    assert 1 <= len(found["explanations"]) < 4
    assert len(json.dumps(found["explanations"])) < 80_000
    assert re.search(r"It explains every step of nDCG@10 of \d systems?\.", page.render(made))


def test_a_large_report_stays_below_three_and_a_half_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = [f"topic-{number}" for number in range(250)]
    chance = np.random.default_rng(5)
    ids = np.array([f"document-{number:07d}" for number in range(100)])
    qrels = {topic: dict(zip(ids.tolist(), chance.integers(0, 3, 100).tolist(), strict=True)) for topic in topics}
    runs = {
        f"system-{number}": {
            topic: dict(zip(chance.permutation(ids)[:20].tolist(), range(20, 0, -1), strict=True)) for topic in topics
        }
        for number in range(20)
    }
    monkeypatch.setattr(page, "explanations", lambda report: [])
    made = page.render(
        gather(Experiment(qrels, runs), ["nDCG@10", "AP", "RR", "P@10", "R@100"], Question(tests=("t",)))
    )
    assert len(made.encode()) + explained.MOST_CARRIED < 3_500_000


def test_tiers_are_led_by_systems_that_differ() -> None:
    runs = {f"s{number}": system(0.15 * number, number) for number in range(8)}
    found = compare(Experiment(QRELS, runs), "nDCG@10")
    panel = found.panels[0]
    tier = tiers(found, panel)
    order = np.argsort(-panel.means).tolist()
    assert [tier[i] for i in order] == sorted(tier, key=int)
    leaders = [next(i for i in order if tier[i] == name) for name in sorted(set(tier), key=int)]
    assert 1 < len(leaders) < 8
    for i in order:
        leader = leaders[int(tier[i]) - 1]
        assert i == leader or i not in found.beaten_by(panel, leader)
    assert all(b in found.beaten_by(panel, a) for a, b in pairwise(leaders))


def test_pairs_against_one_system_are_those_of_the_comparison() -> None:
    found = compare(Experiment(QRELS, FOUR), ["nDCG@10", "AP"])
    pairs = {(p.measure, p.system, p.other): p for p in found.rows()}
    for pair in against(found, 1).rows():
        assert pair.other == "fair"
        same = pairs.get((pair.measure, pair.system, "fair"))
        turned = pairs.get((pair.measure, "fair", pair.system))
        if same:
            assert pair == same
        elif turned:
            assert (pair.difference, pair.low, pair.high) == (-turned.difference, -turned.high, -turned.low)
            assert (pair.together_low, pair.wins, pair.adjusted_p) == (
                -turned.together_high,
                turned.losses,
                turned.adjusted_p,
            )


def test_pictures_show_p_values_of_the_whole_family(report: Report) -> None:
    found = compare(Experiment(QRELS, FOUR), MEASURES)
    chart = next(figure for figure in figures(report) if figure.name == "p-values").chart.to_dict()
    rows = chart["data"]["values"]
    shown = {(row["system"], row["other"]): row["value"] for row in rows}
    for pair in found.rows():
        if pair.measure == "nDCG@10":
            assert shown[pair.system, pair.other] == shown[pair.other, pair.system] == pair.adjusted_p


def test_a_static_heat_map_is_one_path_a_shade(report: Report) -> None:
    """Every cell is still there, at its place."""
    figure = next(figure for figure in figures(report) if figure.name == "heatmap")
    drawn = saving.drawn(figure.chart, "svg").decode()
    small = pictures.compact(drawn)
    cells = len(FOUR) * len(QRELS)
    assert drawn.count("<path") >= cells
    assert small.count("<path") < cells / 2
    strokes = re.findall(r"M[\d.]+ [\d.]+h[\d.]+", small)
    assert len(strokes) == len(set(strokes)) == cells
    assert len(small) < len(drawn) * 0.6


def test_markdown_has_the_numbers_and_its_pictures(report: Report, tmp_path: Path) -> None:
    written = write_report(report, str(tmp_path / "report.md"))
    text = (tmp_path / "report.md").read_text()
    assert len(written) == 9
    assert all(Path(name).stat().st_size for name in written)
    for name in re.findall(r"\]\(([^)]*)\)", text):
        assert (tmp_path / name).read_bytes().startswith(b"<svg")
    results = evaluate(QRELS, FOUR, MEASURES)
    for topic, scores in zip(results.topics, results.scores[:, 1].T.tolist(), strict=True):
        assert f"| {topic} | " + " | ".join(f"{score:.4f}" for score in scores) in text
    assert "```\ncranfield report …\n```" in text


def test_fragments_for_papers(report: Report, tmp_path: Path) -> None:
    write_report(report, str(tmp_path / "report.tex"))
    text = (tmp_path / "report.tex").read_text()
    assert text.count("\\begin{") == text.count("\\end{") > 0
    assert text.count("{") == text.count("}")
    names = re.findall(r"\\includegraphics\{([^}]*)\}", text)
    assert len(names) == 8
    for name in names:
        assert (tmp_path / name).read_bytes().startswith(b"%PDF")
    assert "\\toprule" in text
    assert f"{report.standings(report.results.measures[0])[0].mean:.4f}" in text


def test_without_a_browser_a_pdf_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UsageError, match="apt install chromium"):
        page_pdf.printed(b"")


def test_the_command_writes_what_it_says(tmp_path: Path, no_pictures: None) -> None:
    qrels = write(tmp_path / "qrels.txt", JUDGED)
    runs = [write(tmp_path / f"{name}.run", run) for name, run in RUNS.items()]
    target = tmp_path / "out.html"
    done = command_line("report", qrels, *runs, "-m", "AP", "-o", target, "--title", "A & B")
    assert (done.exit, done.stdout) == (0, f"{target}\n"), done.stderr
    reader = Reader(target.read_text())
    found = json.loads(reader.scripts[0])
    assert found["title"] == "A & B"
    assert found["explain"][0] == f"cranfield explain {qrels} {runs[0]}"
    again = "".join(re.findall(r'<pre class="command"><code>(.*?)</code>', target.read_text()))
    assert (
        again == f"cranfield report {qrels} {' '.join(map(str, runs))} -m AP -o {target} --title &#x27;A &amp; B&#x27;"
    )
    header, *inputs = reader.tables["Files that were read"]
    for row, path in zip(inputs, [qrels, *runs], strict=True):
        assert row[1] == str(path)
        assert row[2] == f"{Path(path).stat().st_size:,}"
        assert re.fullmatch(r"xxh3_128:[0-9a-f]{32}", row[header.index("digest")])


def test_a_file_that_cannot_be_is_refused(tmp_path: Path, no_pictures: None) -> None:
    missing = tmp_path / "no.qrels"
    done = command_line("report", missing, missing, "-o", tmp_path / "report.docx")
    assert done.exit == 2
    assert "html, md, tex, pdf" in done.stderr
    assert set(WRITERS) == {"html", "md", "tex", "pdf"}
    qrels, run = write(tmp_path / "q", JUDGED), write(tmp_path / "a.run", RUNS["good"])
    done = command_line("report", qrels, run, "-o", tmp_path / "none" / "report.html")
    assert done.exit == 3
    assert "cannot be written" in done.stderr
    (tmp_path / "report.html").mkdir()
    done = command_line("report", qrels, run, "-o", tmp_path / "report.html")
    assert done.exit == 3
    assert "cannot be written" in done.stderr


def test_advice_and_decisions_are_about_what_there_is() -> None:
    source = "".join(
        path.read_text() for path in Path(cranfield.__file__).parent.rglob("*.py") if path.parent.name != "report"
    )
    for code in ADVICE:
        assert f'"{code}"' in source, code
    assert set(DECIDES) == set(Policy.__dataclass_fields__)


def test_measures_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(UsageError, match="means over topics are compared"):
        gather(Experiment(QRELS, FOUR), "GMAP")


def test_of_very_many_topics_some_are_listed_from_the_hardest_to_the_easiest(monkeypatch: pytest.MonkeyPatch) -> None:
    made = gather(Experiment(QRELS, RUNS), ["AP", "RR"])
    count = len(made.results.topics)
    assert report_tables.listed_topics(made) == list(range(count))
    assert report_tables.which_topics(made) == "every topic"
    monkeypatch.setattr(report_tables, "MOST_SCORES", 5 * len(RUNS) * 2)
    order = np.argsort(made.results.scores[:, 0].mean(axis=0), kind="stable")
    wanted = [order[round(place * (count - 1) / 4)] for place in range(5)]
    assert report_tables.listed_topics(made) == sorted(wanted)
    assert report_tables.which_topics(made) == f"5 of {count} topics, evenly from the hardest to the easiest"


def test_what_is_found_of_several_runs_is_said_once_and_names_them_all() -> None:
    tied = {f"r{n}": {topic: dict.fromkeys(scores, 1.0) for topic, scores in RUNS["fair"].items()} for n in range(7)}
    report = gather(Experiment(QRELS, tied), ["AP"])
    ties = [finding for finding in report_tables.shown_findings(report) if finding.code == "ties"]
    assert len(ties) == 1
    assert [name for name in tied if f"{name} (in " in ties[0].source] == list(tied)
