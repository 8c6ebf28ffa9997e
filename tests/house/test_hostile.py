"""Names that want to be more than names: through every command and every form of output, none of them gets its way.

Ids, names of files and texts hold tags and scripts, links, commands of LaTeX, formulas, what steers terminals, what
turns lines round, and what every object of JavaScript has. Commands and their forms are read from the command line
itself: one that is added later is put to the same test.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import click
import numpy as np
import pytest

from commands import OF_THE_SERVER, Outcome, command_line
from cranfield import evaluate
from cranfield.cli import COMMANDS, cli, main
from cranfield.evaluation.experiment import Experiment
from cranfield.plot.saving import WRITERS as PICTURES
from cranfield.plot.saving import drawn
from cranfield.plot.style import caption_of
from cranfield.plot.subject import Subject, all_pictures, find_picture
from cranfield.render import escaping
from cranfield.render.escaping import Markup, script_data, visible
from cranfield.render.terminal import SEQUENCES
from cranfield.report.report_files import WRITERS as REPORTS
from engine_server import with_engine
from scene import marks, written

ESCAPE = "\x1b[2J\x07\x9b31m\u202e"
TOPICS = (
    f"</script><script>window.pwned=1</script>{ESCAPE}",
    '"><svg/onload=window.pwned=1>',
    "[x](javascript:window.pwned=1)|*b*`c`<b>d</b>&lt;",
    r"\input{/etc/passwd}%$_^~#",
    "=HYPERLINK(1)",
    "__proto__",
    "constructor",
    "-1",
    "a:b.c[0]'",
)
DOCUMENTS = (
    f"</td><img/src=x/onerror=window.pwned=1>{ESCAPE}",
    "toString",
    "@SUM(1)",
    "-0.5",
    "hasOwnProperty",
    r"\d{1}",
)
RUNS = (
    f'<img src=x onerror=window.pwned=1>{ESCAPE}\n# [x](javascript:1) \\write18{{x}} "+1',
    "constructor",
    "=cmd|'!A0 _a_ **b** ${title}",
)
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OWN_TAGS = re.compile(r"</?(sup|details|summary)>")  # of Markdown
# Nothing of others is read by these.
# What is shown by judging in the terminal is in tests/cli/test_judge.py, by the server in tests/web.
OWN_TESTS = {"judge", *OF_THE_SERVER}
NOTHING_READ = {"demo", "online demo", *OWN_TESTS}


pytestmark = pytest.mark.xdist_group("hostile")  # every command is run once for all of them


class Files(NamedTuple):
    """Where everything hostile is."""

    folder: Path
    qrels: Path
    judges: Path
    runs: tuple[Path, ...]
    collection: Path
    costs: Path
    slices: Path
    study: Path
    pages: Path  # a log of result pages


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("<img src=x onerror=window.pwned=1>")
    chance = np.random.default_rng(3)
    grades = {topic: {d: int(chance.integers(0, 3)) for d in DOCUMENTS} | {"ok": 1} for topic in TOPICS}
    qrels, judges = folder / "<b>qrels\x1b[2J.txt", folder / "judges.txt"
    lines = [(topic, d, grade) for topic, of in grades.items() for d, grade in of.items()]
    qrels.write_text("".join(f"{topic} 0 {d} {grade}\n" for topic, d, grade in lines))
    with judges.open("w") as file:
        for number, who in enumerate(("constructor", "<script>window.pwned=1</script>\x07"), start=1):
            file.writelines(f"{topic} {who} {d} {min(grade, number)}\n" for topic, d, grade in lines)
    runs = []
    for number, name in enumerate(RUNS):
        runs.append(folder / f"{name}.run")
        scores = {t: {d: chance.random() + number * grades[t][d] for d in (*DOCUMENTS, "ok")} for t in TOPICS}
        tag = "<script>\x1b"
        runs[-1].write_text("".join(f"{t} Q0 {d} 0 {s:.6f} {tag}\n" for t in TOPICS for d, s in scores[t].items()))
    collection = folder / "collection"
    (collection / "qrels").mkdir(parents=True)
    texts = [{"_id": d, "title": TOPICS[0], "text": f"pond frog {DOCUMENTS[0]} {ESCAPE}"} for d in (*DOCUMENTS, "ok")]
    (collection / "corpus.jsonl").write_text("".join(json.dumps(text) + "\n" for text in texts))
    queries = [{"_id": topic, "text": f"frog {TOPICS[1]}{ESCAPE}"} for topic in TOPICS]
    (collection / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    judged = "".join(f"{topic}\t{d}\t{grade}\n" for topic, d, grade in lines if '"' not in topic)
    (collection / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    costs, slices = folder / "costs.csv", folder / "slices.csv"
    with open(costs, "w", newline="") as file:
        csv.writer(file).writerows([["run", TOPICS[1]], *([visible(name), i + 1] for i, name in enumerate(RUNS))])
    with open(slices, "w", newline="") as file:
        csv.writer(file).writerows([["topic", "<b>kind"], *([t, f"{TOPICS[i % 2]}"] for i, t in enumerate(TOPICS))])
    study = folder / "study.csv"
    asked = [
        [f"{TOPICS[0]}{n}", visible(name), t, 1 + (n * 3 + i) % 5]
        for n in range(4)
        for i, name in enumerate(RUNS)
        for t in TOPICS
    ]
    with open(study, "w", newline="") as file:
        csv.writer(file).writerows(
            [["participant", "system", "topic", "satisfaction", "<b>mood"], *([*row, ESCAPE] for row in asked)]
        )
    pages = folder / "pages.jsonl"
    shown = [
        {
            "query_text": t,
            "topic": t,
            "docs": list(DOCUMENTS),
            "clicks": [DOCUMENTS[n % len(DOCUMENTS)], "not \x1b shown"],
        }
        | {"user_id": f"{TOPICS[0]}{n}", "session_id": f"{t}{n}", "variant": visible(RUNS[n % 2])}
        for n in range(4)
        for t in TOPICS
    ]
    pages.write_text("".join(f"{json.dumps(line)}\n" for line in shown))
    return Files(folder, qrels, judges, tuple(runs), collection, costs, slices, study, pages)


def ways(command: str, files: Files) -> list[list[str | Path]]:
    """Ways to call a command that show as much as it can show, without the form of output."""
    qrels, (a, b, c), out = files.qrels, files.runs, files.folder
    topic = ["--topic", TOPICS[0]]
    every: dict[str, list[list[str | Path]]] = {
        "agreement": [[files.judges, "--run", a, "--run", b, "--run", c, "--per-topic", "--resamples", "100"]],
        "check": [[qrels, a, b, c]],
        "compare": [[qrels, a, b, c, "-m", "AP", "--risk", "1", "--baseline", "constructor", "--resamples", "99"]],
        "convert": [
            [a, "-o", "-", "--to", "jsonl"],
            [a, "-o", "-", "--to", "trec", "--kind", "run"],
            [files.collection, "-o", "-", "--kind", "documents", "--to", "jsonl"],
        ],
        "correlate": [[a, b, "-q"], [a, b, c, "--qrels", qrels, "-m", "AP", "-m", "RR", "--resamples", "100"]],
        "describe": [[qrels, a, b], [files.collection]],
        "diagnose": [[qrels, a, b, "--slices", files.slices, *topic, "--every-topic", "-m", "AP"]],
        "evaluate": [[qrels, a, b, c, "-q", "-m", "AP"]],
        "explain": [
            [qrels, a, b, *topic, "-m", "AP"],
            [qrels, a, b, "-m", "AP"],
            [qrels, a, b, *topic, "--correlation"],
        ],
        "fuse": [[a, b, "-o", "-"], [a, b, "--train", qrels, "--method", "weighted-sum", "-o", out / "f.run"]],
        "gate": [[qrels, a, b, "-m", "AP", "--topic", TOPICS[5]]],
        "measures": [["AP"]],
        "online analyse": [hostile_trial(out)],
        "online audit": [["team-draft", "--length", "2"]],
        "online check": [hostile_trial(out)],
        "online import": [["yandex", hostile_yandex(out), "-o", out / "tables"]],
        "online interleave": [[a, b, "--names", f"{RUNS[0]},{RUNS[1]}"]],
        "online plan": [[*hostile_trial(out), "--effect", "0.5"]],
        "online preferences": [hostile_log(out)],
        "online simulate": [
            [qrels, a, b, "--users", "20", "--to", "jsonl", "-o", out / "simulated"],
            [qrels, a, b, "--users", "20", "--design", "interleaving", "-o", out / "interleaved"],
        ],
        "online rehearse": [[qrels, a, b, "--users", "60", "--resamples", "100"]],
        "online link": [[qrels, a, b, c, "--impressions", "5", "--resamples", "100"]],
        "online prove": [["i", "--short"]],
        "online clicks": [[files.pages, "--run", a, "--run", b, "--resamples", "0", "--draws", "3"]],
        "online sessions": [[qrels, files.pages, "--curve", "pages"], [qrels, files.pages, "--by", "session"]],
        "online trials": [hostile_trial(out)[-1:]],
        "plan": [[qrels, a, b, c, "-m", "AP"]],
        "plot": [["list"]],  # pictures have tests of their own
        "pool": [
            ["--analyse", qrels, a, b, c],
            ["--simulate", qrels, a, b, c, "--method", "depth"],
            [a, b, "--depth", "2"],
        ],
        "probe": [
            [
                *("http://localhost:9200/pond-hostile", "--topics", files.collection / "queries.jsonl"),
                *("--expect", qrels, "--rate", "5000", "-o", out / "p.run"),
            ]
        ],
        "report": [],  # so have reports
        "search": [[files.collection, "--model", "bm25", "-o", out / "s.run"]],
        "split": [[qrels, "--folds", "3"]],
        "study compare": [[files.study, "--scale", "satisfaction"]],
        "study correlate": [
            [files.study, qrels, a, b, c, "--scale", "satisfaction", "--points", "--resamples", "100", "-m", "AP"]
        ],
        "study plan": [["--systems", f"{TOPICS[0]},{DOCUMENTS[0]}", "--participants", "3"]],
        "study score": [[files.study, "--scale", "satisfaction", "--per-participant"]],
        "trec_eval": [[qrels, a, "-q"]],
        "try": [[*(f"{name}=101;01" for name in RUNS), "-m", "AP"]],
    }
    return every[command]


def hostile_log(out: Path) -> list[str | Path]:
    """Impressions and clicks whose rankers, users and documents are called as nothing should be."""
    shown, clicks = out / "shown.jsonl", out / "clicked.jsonl"
    policy = {"method": "team-draft", "rankers": list(RUNS[:2])}
    rows = [
        {"query_id": f"{topic}{i}", "user_id": TOPICS[i], "docs": DOCUMENTS[:2], "teams": [0, 1], "policy": policy}
        for i, topic in enumerate(TOPICS[:5])
    ]
    events = [{"query_id": row["query_id"], "action": "click", "doc_id": DOCUMENTS[0]} for row in rows]
    for path, table in ((shown, rows), (clicks, events)):
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in table))
    return [shown, clicks]


def hostile_trial(out: Path) -> list[str | Path]:
    """A log whose units, arms, segments and documents are called as nothing should be, and its plan."""
    folder = out / "log"
    folder.mkdir(exist_ok=True, parents=True)
    names, arms = [f"{TOPICS[i % len(TOPICS)]}{i}" for i in range(40)], RUNS[:2]
    shown = [
        {"query_id": f"q{i}", "ts": f"2026-11-0{2 + i % 7}T12:00:00Z", "user_id": name, "docs": DOCUMENTS[:2]}
        for i, name in enumerate(names)
    ]
    clicks = [
        {
            "query_id": f"q{i}",
            "ts": f"2026-11-0{2 + i % 7}T12:00:05Z",
            "action": "click",
            "doc_id": DOCUMENTS[0],
            "rank": 1,
        }
        for i in range(0, 40, 3)
    ]
    assigned = [{"unit_id": name, "variant": arms[i % 2], RUNS[2]: TOPICS[i % 3]} for i, name in enumerate(names)]
    for table, rows in (("impressions", shown), ("events", clicks), ("assignments", assigned)):
        (folder / f"{table}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    keys = [f"name = {json.dumps(RUNS[0])}", 'primary = "ctr"', f"segments = [{json.dumps(RUNS[2])}]", "[arms]"]
    plan = out / "experiment.toml"
    plan.write_text("\n".join([*keys, *(f"{json.dumps(arm)} = 1" for arm in arms)]) + "\n")
    return [folder, "--trial", plan]


def hostile_yandex(out: Path) -> Path:
    """A log of Yandex's form with ids that are called as nothing should be."""
    out.mkdir(exist_ok=True, parents=True)
    path, name = out / "yandex.tsv", "<script>window.pwned=1</script>"
    path.write_text(f"0\t0\tQ\t{name}\t0\t{name}\n0\t9\tC\t{name}\n")
    return path


def forms_of(command: str) -> list[str]:
    """The forms in which a command prints."""
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    return [
        form
        for option in found.params
        if "--output-format" in option.opts and isinstance(option.type, click.Choice)
        for form in option.type.choices
    ]


def calls(files: Files) -> Iterator[tuple[str, str, list[str | Path]]]:
    """(command, form, arguments) of everything that prints."""
    for command in COMMANDS:
        if command not in NOTHING_READ:
            for way in ways(command, files):
                takes_form = command != "pool" or "--analyse" in way or "--simulate" in way
                for form in (forms_of(command) if takes_form else []) or [""]:
                    yield command, form, [command, *way, *(["-f", form] if form else [])]


@pytest.fixture(scope="module")
def printed(files: Files) -> list[tuple[str, str, Outcome]]:
    """Everything that commands print into a pipe."""
    return [(command, form, command_line(*arguments)) for command, form, arguments in calls(files)]


def test_every_command_answers(printed: list[tuple[str, str, Outcome]]) -> None:
    for command, form, outcome in printed:
        assert outcome.exit in ((0, 1, 4) if command in ("check", "gate", "probe") else (0,)), (
            command,
            form,
            outcome.stderr,
        )
        assert outcome.stdout, (command, form)


def test_standard_error_never_steers_a_terminal(printed: list[tuple[str, str, Outcome]], files: Files) -> None:
    for command, form, outcome in printed:
        assert not CONTROL.search(outcome.stderr), (command, form)
        assert not re.search(r"^#", outcome.stderr, re.MULTILINE), (command, form)  # the second line of a file's name
    missing = f"no\x1b]0;pwned\x07\n{ESCAPE}file"
    for command in COMMANDS:
        if command not in NOTHING_READ:
            for arguments in ([missing], [missing, missing, missing], [f"--{missing}"], ["-f", missing, files.qrels]):
                outcome = command_line(command, *arguments)
                assert outcome.exit, (command, arguments)
                assert not CONTROL.search(outcome.stderr + outcome.stdout), (command, arguments)
    assert not CONTROL.search(command_line(missing).stderr)


def test_on_a_terminal_nothing_is_raw_whatever_its_form(files: Files) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    for command, form, arguments in calls(files):
        screen = Terminal(io.BytesIO(), encoding="utf-8")
        nothing = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with (
            mock.patch.object(sys, "argv", ["cranfield", *map(with_engine, map(str, arguments))]),
            mock.patch.object(sys, "stdout", screen),
            mock.patch.object(sys, "stderr", nothing),
        ):
            with suppress(SystemExit):
                main()
            screen.flush()
        shown = screen.buffer.getvalue().decode("utf-8", "surrogateescape")  # type: ignore[attr-defined]
        for sequence in SEQUENCES if form == "table" else ():  # our own colours
            shown = shown.replace(sequence, "")
        assert shown, (command, form)
        found = CONTROL.search(shown.replace("\t", " "))  # columns of TSV and of trec_eval
        assert "\t" in shown or form not in ("tsv", "trec"), (command, form)
        assert not found, (command, form, shown[max(0, found.start() - 40) : found.end() + 40])


def test_tables_show_names_with_escapes(printed: list[tuple[str, str, Outcome]]) -> None:
    tables = [(command, outcome.stdout) for command, form, outcome in printed if form == "table"]
    assert len(tables) > 10
    for command, text in tables:
        assert not CONTROL.search(text), command
        assert not re.search(r"^# \[x\]", text, re.MULTILINE), command
    shown = "".join(text for _, text in tables)
    assert visible(TOPICS[0]) in shown
    assert visible(RUNS[0]) in shown
    assert visible(DOCUMENTS[0]) in shown


def test_machines_get_ids_as_they_are(printed: list[tuple[str, str, Outcome]], files: Files) -> None:
    outputs = {(command, form): outcome.stdout for command, form, outcome in printed}
    for (_, form), text in outputs.items():
        if form == "json":
            json.loads(text)
    run = json.loads(outputs["evaluate", "json"])["runs"][0]
    assert list(run["topics"]) == sorted(TOPICS, key=lambda topic: topic.encode())
    assert run["name"] == visible(RUNS[0])
    assert json.loads(outputs["evaluate", "json"])["inputs"][1]["path"] == str(files.runs[0])
    assert {line.split("\t")[1] for line in outputs["evaluate", "trec"].splitlines()} == {*TOPICS, "all"}
    assert TOPICS[0] in outputs["trec_eval", ""]
    target = files.folder / "again.run"
    assert command_line("convert", files.runs[0], "-o", target).exit == 0
    assert evaluate(files.qrels, target, "AP").per_topic()["again"].keys() == set(TOPICS)


def test_spreadsheets_find_no_formula_and_every_number(printed: list[tuple[str, str, Outcome]]) -> None:
    tables = [(command, form, outcome.stdout) for command, form, outcome in printed if form in ("csv", "tsv")]
    assert len(tables) > 10
    cells = set()
    for command, form, text in tables:
        for row in csv.reader(io.StringIO(text, newline=""), delimiter="," if form == "csv" else "\t"):
            for cell in row:
                cells.add(cell)
                assert cell[:1] not in ("=", "+", "-", "@", "\t", "\r") or float(cell) is not None, (
                    command,
                    form,
                    cell,
                )
    assert {"'=HYPERLINK(1)", "-1", TOPICS[0], visible(RUNS[0])} <= cells


def test_markdown_makes_nothing_of_names(printed: list[tuple[str, str, Outcome]]) -> None:
    pages = [(command, outcome.stdout) for command, form, outcome in printed if form == "markdown"]
    assert len(pages) > 8
    for command, text in pages:
        check_markdown(text, command)


def check_markdown(text: str, what: str) -> str:
    """Reads Markdown as GitHub does, and gives its text."""
    from markdown_it import MarkdownIt

    assert not CONTROL.search(text), what
    shown = []
    for block in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text):
        assert block.type != "html_block" or not OWN_TAGS.sub("", block.content).strip().startswith("<"), what
        if block.type in ("fence", "inline"):
            parts = block.children or []
            shown.append(block.content if block.type == "fence" else "".join(part.content for part in parts))
            for part in parts:
                assert part.type not in ("link_open", "s_open"), (what, block.content)
                assert part.type != "html_inline" or OWN_TAGS.fullmatch(part.content), (what, block.content)
                assert part.type != "code_inline" or visible(part.content) == part.content != "c", (what, block.content)
    told = "\n".join(shown)
    for name in (*TOPICS, *RUNS, *DOCUMENTS):
        if visible(name) not in told:
            assert escaping.markdown(name) not in text, (what, name)  # it is there, and not as it is
    return told


def test_latex_has_no_command_of_others(printed: list[tuple[str, str, Outcome]]) -> None:
    pages = [(command, outcome.stdout) for command, form, outcome in printed if form == "latex"]
    assert len(pages) > 5
    for command, text in pages:
        check_latex(text, command)
    assert escaping.latex(TOPICS[3]) in "".join(text for _, text in pages)


LATEX = {
    *("begin", "end", "toprule", "midrule", "bottomrule", "textbf", "mathrm", "caption", "label", "centering", "small"),
    *(
        "footnotesize",
        "scriptsize",
        "setlength",
        "tabcolsep",
        "textwidth",
        "infty",
        "pm",
        "times",
        "ge",
        "le",
        "to",
        "downarrow",
    ),
    *("resizebox", "ifdim", "width", "linewidth", "else", "fi", "includegraphics"),
    *("textbackslash", "textless", "textgreater", "textbar", "textasciitilde", "textasciicircum"),
}


def check_latex(text: str, what: str) -> None:
    assert not CONTROL.search(text), what
    code = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("%"))
    assert set(re.findall(r"\\([A-Za-z]+)", code)) <= LATEX, what
    assert not re.search(r"(?<!\\)[%#_~]", re.sub(r"\\(label|includegraphics)\{[^}]*\}", "", code)), what
    rest = re.sub(r"\\[%#_&{}$\\]|\$(?:-|\\[a-z]+)\$|\$\^\{\\mathrm\{[\w*]*\}\}\$", "", code)
    assert "$" not in rest, what
    assert "^" not in rest, what
    assert code.count("\\begin{") == code.count("\\end{"), what


def opened(browser: Any, file: Path, look: str = "document.documentElement.textContent") -> Any:
    """Opens a page, sees to it that nothing of others runs and nothing is asked for, and gives what it shows."""
    context = browser.new_context()
    page = context.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: dialog.dismiss())
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.goto(file.as_uri())
    page.wait_for_load_state()
    shown = page.evaluate(look)
    assert page.evaluate("window.pwned") is None, file.name
    assert page.evaluate("document.querySelectorAll('img, iframe, object, svg[onload]').length") == 0, file.name
    assert asked == [file.as_uri()], file.name
    assert said == [], file.name
    context.close()
    return shown


def test_pages_run_nothing(printed: list[tuple[str, str, Outcome]], browser: Any, tmp_path: Path) -> None:
    pages = [(command, outcome.stdout) for command, form, outcome in printed if form == "html"]
    assert {command for command, _ in pages} == {
        command for command in COMMANDS if "html" in forms_of(command) and command not in OWN_TESTS
    }
    shown = ""
    for number, (command, text) in enumerate(pages):
        assert not CONTROL.search(text), command
        target = tmp_path / f"{number}-{command}.html"
        target.write_text(f'<!DOCTYPE html><meta charset="utf-8">{text}')
        shown += opened(browser, target)
    for name in (TOPICS[0], TOPICS[1], RUNS[0], DOCUMENTS[0]):
        assert visible(name) in shown
    notebook = tmp_path / "notebook.html"
    names = {name: {t: {DOCUMENTS[0]: 1.0} for t in TOPICS} for name in (TOPICS[0], "b")}
    text = evaluate({t: {DOCUMENTS[0]: 1} for t in TOPICS}, names, "AP")._repr_html_()
    notebook.write_text(f'<!DOCTYPE html><meta charset="utf-8">{text}')
    assert visible(TOPICS[0]) in opened(browser, notebook)


def picture_arguments(kind: str, files: Files) -> list[str | Path]:
    runs = files.runs[:2] if kind in ("histogram", "scatter") else files.runs
    given: list[str | Path] = [files.qrels, *runs]
    given += ["--topic", TOPICS[0]] if kind in ("precision-recall", "ranks") else []
    given += ["--swept", files.costs] if kind == "sweep" else []  # each run with a number
    return given + (["--costs", files.costs] if kind == "pareto" else [])


@pytest.mark.parametrize("kind", [picture.name for picture in all_pictures() if not picture.without_runs])
def test_every_picture_draws_every_name(kind: str, files: Files, browser: Any, tmp_path: Path) -> None:
    target = tmp_path / "picture.svg"
    outcome = command_line("plot", kind, *picture_arguments(kind, files), "-o", target)
    assert outcome.exit == 0, outcome.stderr
    text = target.read_text()
    assert not CONTROL.search(text)
    shown = opened(browser, target)
    if kind not in ("agreement", "pooling", "sweep"):  # of measures, methods and parameters
        assert visible(RUNS[0]).replace(" ", "") in re.sub(r"[ \xa0]", "", shown)
        assert "constructor" in shown


@pytest.mark.parametrize("form", PICTURES)
def test_every_form_of_a_picture_holds_every_name(form: str, files: Files, browser: Any, tmp_path: Path) -> None:
    target = tmp_path / f"picture.{form}"
    assert command_line("plot", "heatmap", *picture_arguments("heatmap", files), "-o", target).exit == 0
    if form == "html":
        look = """new Promise((done) => { const wait = () => { const drawn = document.querySelector("svg.marks");
            if (drawn) done(drawn.textContent); else setTimeout(wait, 50); }; wait(); })"""
        shown = opened(browser, target, look)
        assert "<svg/onload=window." in shown  # names of topics are cut where they are long
        assert visible(RUNS[0]) in shown
    elif form == "json":
        rows = json.loads(target.read_text())["data"]["values"]
        assert {row["topic"].lstrip("\u2060") for row in rows} == set(map(visible, TOPICS))
    simulated: list[str | Path] = [
        "--simulate",
        files.qrels,
        *files.runs,
        "--method",
        "depth",
        "--picture",
        tmp_path / f"pool.{form}",
    ]
    assert command_line("pool", *simulated).exit == 0


def test_pictures_of_results_draw_every_name() -> None:
    runs = {name: {t: {DOCUMENTS[i]: 1.0} for t in TOPICS} for i, name in enumerate(RUNS)}
    results = evaluate({t: dict.fromkeys(DOCUMENTS, 1) for t in TOPICS}, runs, "AP")
    assert drawn(results.plot.stability(), "png")
    assert not CONTROL.search(json.dumps(results.plot.heatmap().to_dict(), ensure_ascii=False))


@pytest.mark.parametrize("form", REPORTS)
def test_every_form_of_a_report_shows_every_name(form: str, files: Files, browser: Any, tmp_path: Path) -> None:
    target = tmp_path / f"report.{form}"
    arguments: list[str | Path] = [files.qrels, *files.runs, "-m", "AP", "--title", TOPICS[0], "-o", target]
    outcome = command_line("report", *arguments)
    assert outcome.exit == 0, outcome.stderr
    if form == "html":
        look = f"""() => {{ openTopic({sorted(TOPICS, key=lambda topic: topic.encode()).index(TOPICS[0])});
            return document.body.innerText + document.title; }}"""
        shown = opened(browser, target, look)
        assert f"Topic {visible(TOPICS[0])}" in shown
        for name in (TOPICS[0], TOPICS[1], RUNS[0], "constructor", DOCUMENTS[0]):
            assert visible(name).replace(" ", "") in re.sub(r"\s", "", shown), name
        unpicked = "document.querySelectorAll('tr.unpicked').length"  # the script finds every system by its name
        assert opened(browser, target, unpicked) == 0
    elif form == "md":
        told = check_markdown(target.read_text(), "report").replace(" ", "")
        for name in (TOPICS[0], TOPICS[1], TOPICS[2], RUNS[0], "constructor"):
            assert visible(name).replace(" ", "") in told, name
    elif form == "tex":
        check_latex(target.read_text(), "report")


def test_each_escape_can_be_told_from_the_text() -> None:
    for text in ("bm25_k1=0.9", "a-b (c)", "café", "日本", "👩\u200d💻", "x < y", "50 %"):
        assert visible(text) == text
    assert escaping.markdown("bm25_k1=0.9") == "bm25_k1=0.9"
    assert [escaping.separated_text(text) for text in ("-1", "+1.5e-3", "-", "-1+1", "@a", "a=1")] == [
        *("-1", "+1.5e-3", "'-", "'-1+1", "'@a", "a=1"),
    ]


@pytest.fixture(scope="module")
def many_topics() -> Subject:
    chance = np.random.default_rng(1)
    topics = [f"q{number}" for number in range(7000)]
    qrels = {topic: {"a": 1, "b": 1, "c": 0} for topic in topics}
    runs = {
        name: {topic: dict(zip("abcd", chance.random(4).tolist(), strict=True)) for topic in topics}
        for name in ("one", "other")
    }
    results = evaluate(qrels, runs, "AP")
    return Subject(experiment=Experiment({}), measures=("AP",), evaluated=results)


def test_seven_thousand_topics_are_drawn_and_said(many_topics: Subject) -> None:
    scores = many_topics.results.scores[:, 0]
    chart = find_picture("histogram").draw(many_topics)
    assert drawn(chart, "svg")
    bars = sorted(marks(chart, "rect"), key=lambda bar: float(bar["x"]))
    difference = np.sort(scores[0] - scores[1])[::-1]
    groups = [difference[start : start + 18] for start in range(0, 7000, 18)]
    heights, sizes = [bar["height"] for bar in bars], [abs(group.mean()) for group in groups]
    assert [height / max(heights) for height in heights] == pytest.approx(
        [size / max(sizes) for size in sizes], abs=1e-9
    )
    title = chart.to_dict(validate=False)["layer"][0]["encoding"]["x"]["title"]
    assert title == ["7,000 topics, best for the first system first", "each bar is the mean of 18 neighbours"]
    assert "Each bar is the mean of 18 neighbouring topics." in caption_of(chart)
    chart = find_picture("heatmap").draw(many_topics)
    assert drawn(chart, "svg")
    rows = chart.to_dict(validate=False)["data"]["values"]
    assert len(rows) == 2 * len(groups)
    assert sum(row["score"] for row in rows if row["system"] == "one") / len(groups) == pytest.approx(
        scores[0].mean(), abs=0.01
    )
    assert drawn(find_picture("scatter").draw(many_topics), "svg")


def test_of_a_hundred_runs_the_highest_are_named() -> None:
    chance = np.random.default_rng(2)
    topics = [str(number) for number in range(5)]
    qrels = {topic: {"a": 1, "b": 2} for topic in topics}
    runs = {
        f"run {number}": {topic: dict(zip("abcd", chance.random(4).tolist(), strict=True)) for topic in topics}
        for number in range(100)
    }
    from cranfield.plot.curves import by_cutoff
    from cranfield.plot.lines import lines

    found = by_cutoff(Experiment(qrels, runs), "nDCG", [1, 2, 3])
    chart = lines(found)
    assert len(marks(chart, "line")) == 100 * 3  # a mark a point
    assert len(written(chart)) == 1
    assert "Of 100 systems those not named are grey." in caption_of(chart)
    few = lines(by_cutoff(Experiment(qrels, dict(list(runs.items())[:8])), "nDCG", [1, 2]))
    assert set(written(few)) == set(list(runs)[:8])
    assert "grey" not in caption_of(few)
    rows = find_picture("ranks").draw(Subject(experiment=Experiment(qrels, runs), topics=("1",)))
    assert set(written(rows, "axis-label")) >= {"run 0", "run 99"}


def test_markup_is_compared_by_what_it_says() -> None:
    one, same, other = Markup.text("a<b"), Markup.fixed("a&lt;b"), Markup.text("a>b")
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "a&lt;b"
    assert (bool(one), bool(Markup.text(""))) == (True, False)
    assert repr(one) == "Markup('a&lt;b')"


def test_data_of_scripts_has_no_number_that_json_lacks() -> None:
    for number in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="not JSON compliant"):
            script_data([number])


def test_bytes_that_are_no_text_are_shown_as_bytes() -> None:
    assert visible(b"a\x80\x9fz".decode("utf-8", "surrogateescape")) == "a\\x80\\x9fz"
