"""What is said of odd inputs, and of which; and that nothing is said where nothing is odd."""

from __future__ import annotations

import gzip
import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import command_line
from cranfield import Experiment, Policy, evaluate
from cranfield.evaluation.checking import check
from cranfield.evaluation.findings import Finding, gathered
from cranfield.formats import read_qrels, read_run
from cranfield.formats.format import repeated_note
from cranfield.formats.reading import Reading
from generate import Judgements, Rankings

TIES = (
    "documents of different grades have equal scores in 1 topic, and a convention decides which comes first: --ties "
    "expected (Policy(ties='expected') in Python) takes the mean over all orders"
)


def of(code: str, findings: tuple[Finding, ...] | list[Finding]) -> list[str]:
    return [str(finding) for finding in findings if finding.code == code]


def tied(*groups: str) -> Rankings:
    """A ranking of documents, a letter each, those of a group tied."""
    return {"q": {document: -float(number) for number, group in enumerate(groups) for document in group}}


QRELS: Judgements = {"q": {"a": 2, "b": 1, "c": 1, "n": 0, "m": 0, "p": -1}}


@pytest.mark.parametrize(
    ("groups", "measures", "policy", "doubtful"),
    [
        (("ab", "c"), "nDCG", Policy(), True),
        (("bc", "a"), "nDCG", Policy(), False),  # of the same grade
        (("nm", "a"), "nDCG", Policy(), False),
        (("au", "n"), "nDCG", Policy(), True),  # u is unjudged, and counts as not relevant
        (("nu", "a"), "nDCG", Policy(), False),
        (("np", "a"), "nDCG", Policy(), False),  # p is in the pool, but unjudged
        (("au", "n"), "nDCG", Policy(judged_only=True), False),
        (("ab", "c"), "nDCG", Policy(judged_only=True), True),
        (("au", "n"), "nDCG", Policy(judged_only=True, depth=1), True),  # the order decides who is left
        (("c", "ab"), "nDCG@1", Policy(), False),  # below all that is looked at
        (("c", "ab"), "nDCG@2", Policy(), True),  # across the cutoff
        (("c", "ab"), "nDCG@1,nDCG", Policy(), True),
        (("c", "ab"), "nDCG", Policy(depth=1), False),
        (("c", "ab"), "nDCG", Policy(depth=2), True),
        (("ab", "c"), "nDCG", Policy(ties="file"), True),
        (("ab", "c"), "nDCG", Policy(ties="expected"), False),
        (("ab", "c"), "nDCG", Policy(ties="worst"), False),
        (("an", "c"), "ESL", Policy(), False),  # the mean over all orders already
        (("an", "c"), "ESL,AP", Policy(), True),
        (("an", "c"), "ESL", Policy(depth=1), True),  # the order decides who is left
        (("an", "c"), "SetP,NumRel", Policy(), False),  # of the whole list
        (("an", "c"), "SetP", Policy(depth=1), True),
        (("na", "c"), "P@1,SetP", Policy(), True),
    ],
)
def test_ties_are_doubtful_where_their_order_may_matter(
    groups: tuple[str, ...], measures: str, policy: Policy, doubtful: bool
) -> None:
    results = evaluate(QRELS, tied(*groups), measures.split(","), policy=policy)
    assert of("ties", results.warnings) == ([f"run: {TIES}"] if doubtful else [])
    if policy.ties in ("docid", "file"):
        best, worst = (
            evaluate(QRELS, tied(*groups), measures.split(","), policy=replace(policy, ties=ties)).scores
            for ties in ("best", "worst")
        )
        assert (best != worst).any() == doubtful


def test_check_tells_of_ties_that_do_not_matter() -> None:
    findings = check(Experiment(QRELS, tied("bc", "uv")))
    assert of("ties", findings) == ["run: 4 documents tied in score, 2 of them judged; none with one of another grade"]
    assert [finding.doubtful for finding in findings if finding.code == "ties"] == [False]
    assert not of("ties", check(Experiment(QRELS, tied("b", "c", "uv"))))


def test_what_is_to_be_said_of_several_runs_is_said_once(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("1 0 a 1\n2 0 a 1\n3 0 a 1\n")
    for name, topics in (("x", "12"), ("y", "1"), ("z", "")):
        rows = [f"{t} Q0 {d} 1 {int(d == 'a' and t not in topics)} {name}\n" for t in "123" for d in "ab"]
        (tmp_path / f"{name}.run").write_text("".join(rows))
    told = command_line("evaluate", qrels, *(tmp_path / f"{name}.run" for name in "xyz"), "-m", "AP").stderr
    alike = TIES.replace(" in 1 topic,", ",")
    assert told == f"cranfield: warning: x (in 2 topics), y (in 1 topic): {alike}\n"
    alone = command_line("evaluate", qrels, tmp_path / "y.run", "-m", "AP").stderr
    assert alone == f"cranfield: warning: y: {TIES}\n"


def test_gathering_keeps_apart_what_differs() -> None:
    findings = [
        Finding("a", "x", "one"),
        Finding("b", "x", "one"),
        Finding("a", "x", "two"),
        Finding("a", "y", "one", False),
    ]
    assert gathered(findings) == findings
    assert gathered([*findings, findings[0]]) == findings
    many = [Finding("a", f"r{i}", "odd") for i in range(7)]
    assert [str(finding) for finding in gathered(many)] == ["r0, r1, r2, r3, r4 and 2 more: odd"]


def test_runs_of_one_name_are_told_apart_in_warnings_as_in_the_table(tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("1 0 a 1\n2 0 a 1\n")
    paths = [tmp_path / folder / "bm25.run" for folder in "xy"]
    for topic, path in enumerate(paths, start=1):
        path.parent.mkdir()
        path.write_text(f"{topic} Q0 a 1 1 t\n")
    results = evaluate(str(qrels), [str(path) for path in paths], "RR")
    assert of("missing-topics", results.warnings) == [
        f"{path}: no answer to 1 judged topic, scored 0: {topic}" for path, topic in zip(paths, "21", strict=True)
    ]
    assert results.runs == tuple(map(str, paths))
    findings = check(Experiment(str(qrels), [str(path) for path in paths]))
    assert {finding.source for finding in findings if finding.code == "missing-topics"} == set(results.runs)
    assert not of("same-file", findings) + of("same-file", results.warnings)


def test_a_file_given_twice_is_told(tmp_path: Path) -> None:
    qrels, run, link = tmp_path / "qrels", tmp_path / "bm25.run", tmp_path / "other.run"
    qrels.write_text("1 0 a 1\n")
    run.write_text("1 Q0 a 1 1 t\n")
    link.symlink_to(run)
    said = f"{run}#2: the same file as {run}: is another one meant?"
    assert said in command_line("evaluate", qrels, run, run, "-m", "RR").stderr
    assert said in command_line("check", qrels, run, run).stdout
    results = evaluate(str(qrels), [str(run), str(link)], "RR")
    assert of("same-file", results.warnings) == ["other: the same file as bm25: is another one meant?"]


def test_measures_that_look_below_all_lists_are_told() -> None:
    run: Rankings = {"q": {"a": 3.0, "b": 2.0}, "r": {"a": 1.0}}
    qrels: Judgements = {"q": {"a": 1}, "r": {"a": 1}}
    results = evaluate(qrels, run, ["R@1000", "P@2", "nDCG@10", "AP"])
    assert of("short-of-cutoff", results.warnings) == [
        "run: no list is longer than 2: R@1000, nDCG@10 can see no further"
    ]
    assert not any(finding.doubtful for finding in results.warnings if finding.code == "short-of-cutoff")
    assert not of("short-of-cutoff", evaluate(qrels, run, ["P@2", "AP", "Rprec"]).warnings)


def test_scores_for_grades_and_grades_for_scores_look_swapped() -> None:
    run: Rankings = {t: {f"d{i}": 30.5 - i for i in range(30)} for t in "12"}
    qrels: Judgements = {t: {"d3": 2, "d5": 1, "d7": 0} for t in "12"}
    assert of("swapped", evaluate(run, qrels, "AP").warnings) == [
        "run: its only scores are 0, 1, 2, while judgements have more than 20 different grades, such as 30.5: are the "
        "two arguments swapped?"
    ]
    assert not of("swapped", evaluate(qrels, run, "AP").warnings)
    assert not of("swapped", evaluate(run, run, "AP").warnings)
    assert not of("swapped", evaluate(qrels, qrels, "AP").warnings)


def test_check_says_why_unjudged_documents_are_doubtful_or_not() -> None:
    run: Rankings = {"q": {f"d{i}": -float(i) for i in range(20)}}

    def unjudged(judged: int, offset: int, irrelevant: int = 0) -> tuple[str, bool]:
        qrels: Judgements = {"q": {f"d{i + offset}": int(i >= irrelevant) for i in range(judged)}}
        (finding,) = (finding for finding in check(Experiment(qrels, run)) if finding.code == "unjudged")
        return finding.message.partition(". ")[2], finding.doubtful

    assert unjudged(12, 5) == ("With 12 judgements a topic they are holes in the pool, and count as not relevant", True)
    assert unjudged(2, 0) == (
        "With 2 judgements a topic, 0% of them not relevant, that is to be expected",
        False,
    )
    for judged, irrelevant, told in (
        (2, 1, "With 2 judgements a topic, 50%"),
        (8, 6, "With 8 judgements a topic, 75%"),
    ):
        shallow = f"{told} of them not relevant, the pool is shallow: they are holes in it, and count as not relevant"
        assert unjudged(judged, 0, irrelevant) == (shallow if judged == 2 else "", judged == 2)
        assert unjudged(judged, 5, irrelevant) == (shallow, True)
    assert unjudged(20, 0) == ("", False)


def test_check_tells_every_faulty_line_of_every_file(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b x\n1 0 c\n")
    lines = [
        "1 Q0 a 1 9 t",
        "1 Q0 b 2 8 t",
        "1 Q0 c 3 x t",
        "1 Q0 d 4 t",
        "1 Q0 e 5 nan t",
        "1 Q0 a 6 4 t",
        "1 Q0 f 7 3 t",
    ]
    (tmp_path / "r").write_text("\n".join(lines) + "\n")
    done = command_line("check", "q", "r", "missing", folder=tmp_path)
    assert (done.exit, done.stdout) == (3, "")
    assert done.stderr == (
        "cranfield: q:2: grade 'x' is not a number\n"
        "    2 | 1 0 b x\n"
        "    Grades are labels here: x. Say which number each is: --labels 'x=NUMBER' (0 for not relevant, more for "
        "what is more relevant).\n"
        "    Also:\n"
        "    q:3: 3 fields where trec needs 4 (topic, iteration, document, grade)\n"
        "    r:3: score 'x' is not a number\n"
        "    r:4: 5 fields where trec needs 6 (topic, Q0, document, rank, score, tag)\n"
        "    r:5: score is 'nan'\n"
        "    r:6: document 'a' is given a second score for the same topic\n"
        "    missing: no such file\n"
    )
    assert command_line("--quiet", "check", "q", "r", "missing", folder=tmp_path) == done


@pytest.mark.parametrize(
    ("name", "head", "good", "bad"),
    [
        ("r.csv", "topic,document,score\n", "1,d{},2\n", "1,d{},x\n"),
        ("r.jsonl", "", '{{"topic": "1", "document": "d{}", "score": 2}}\n', '{{"topic": "1", "document": "d{}"\n'),
        ("r.run.gz", "", "1 Q0 d{} 1 2 t\n", "1 Q0 d{} 1 2,5 t\n"),
    ],
)
def test_check_tells_twenty_faults_of_a_file_in_any_format(
    name: str, head: str, good: str, bad: str, tmp_path: Path
) -> None:
    (tmp_path / "q").write_text("1 0 d0 1\n")

    def told(faults: int) -> list[int]:
        text = head + good.format(0) + "".join(good.format(-i) + bad.format(i) for i in range(1, faults + 1))
        data = text.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
        done = command_line("check", tmp_path / "q", tmp_path / name)
        assert done.exit == 3
        assert ("\n    Others may follow.\n" in done.stderr) == (faults > 20)
        return [int(line) for line in re.findall(rf"{re.escape(name)}:(\d+): ", done.stderr)]

    first = 3 + bool(head)
    assert told(3) == [first, first + 2, first + 4]
    assert told(20) == told(22) == list(range(first, first + 40, 2))


def test_check_says_where_it_cannot_go_on(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 d0 1\n")
    (tmp_path / "r.json").write_text('{"1": {"d1": 1,\n"d2": x}}\n')
    done = command_line("check", tmp_path / "q", tmp_path / "r.json")
    assert done.exit == 3
    assert "r.json:2: not JSON" in done.stderr
    assert done.stderr.endswith("    This is the first fault; others may follow.\n")
    (tmp_path / "r.run").write_text("2 Q0 d0 1 1 t\n")  # nothing is wrong with its lines
    done = command_line("check", tmp_path / "q", tmp_path / "r.run")
    assert "no topic in common" in done.stderr
    assert "follow" not in done.stderr


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [("1", "a", 1), ("1", "b", 0), ("1", "b", 0)],
            "1 line repeats another with the same value, that of document 'b' of topic '1'; each counts once",
        ),
        (
            [("1", "b", 0), ("2", "a", 1), ("1", "b", 0), ("2", "a", 1), ("1", "b", 0)],
            "3 lines repeat another with the same value, such as that of document 'b' of topic '1'; each counts once",
        ),
    ],
)
def test_the_first_line_that_repeats_another_is_named(rows: list[tuple[str, str, int]], said: str) -> None:
    names = ("topic", "document", "grade")
    records: Any = [dict(zip(names, row, strict=True)) for row in rows]
    texts = {
        "plain": "".join(f"{topic} 0 {document} {grade}\n" for topic, document, grade in rows),
        "judges": "".join(f"{topic} j1 {document} {grade}\n" for topic, document, grade in rows),
        "sampled": "".join(f"{topic} 0 {document} 1 {grade}\n" for topic, document, grade in rows),
    }
    tables = [read_qrels(io.StringIO(text), reading=Reading(judgements=kind)) for kind, text in texts.items()]
    arrays: Any = tuple(map(list, zip(*rows, strict=True)))
    tables += [read_qrels(records), read_qrels(arrays)]
    for table in tables:
        assert dict(table.origin.notes)["duplicates-collapsed"] == said
    assert not read_qrels(io.StringIO("1 0 a 1\n1 0 b 1\n")).origin.notes


def test_of_a_large_run_the_same_repeated_line_is_named_by_any_number_of_threads() -> None:
    lines = [f"{t} Q0 d{i} {i} {9999 - i} tag\n" for t in range(1, 41) for i in range(1, 1001)]
    lines.insert(25_000, lines[24_500])
    text = "".join(lines)
    for threads in (1, 2):
        run = read_run(io.StringIO(text), reading=Reading(threads=threads))
        assert dict(run.origin.notes)["duplicates-collapsed"].startswith("1 line repeats another")
        assert "document 'd501' of topic '25'" in dict(run.origin.notes)["duplicates-collapsed"]


@pytest.mark.parametrize(
    ("run", "counted"),
    [
        ("1 Q0 a 1 1 t\n", "1 of 2 findings makes"),  # of two topics one is missing; and what is unjudged
        ("1 Q0 a 1 1 t\n1 Q0 x 2 1 t\n", "2 of 3 findings make"),
    ],
)
def test_check_counts_what_makes_a_number_doubtful(run: str, counted: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n2 0 a 1\n")
    (tmp_path / "r").write_text(run)
    done = command_line("check", "q", "r", folder=tmp_path)
    assert (done.exit, done.stdout.split("\n")[-2]) == (1, f"{counted} a number doubtful")


@pytest.mark.parametrize(
    ("names", "scored"),
    [
        ("AP nDCG@10 P@5 RR Satisfaction", "scored 0 for every run"),
        ("AP NumRel", "scored 0 for every run"),
        ("AP E@10", "scored as lists are that find nothing"),
        *((name, "scored as lists are that find nothing") for name in ("ESL", "Frustration", "NumRet", "AP(rel=0)")),
    ],
)
def test_a_topic_without_a_relevant_document_is_said_to_score_what_it_scores(names: str, scored: str) -> None:
    results = evaluate({"1": {"a": 1}, "2": {"b": 0}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}, names.split())
    assert of("no-relevant", results.warnings) == [f"qrels: 1 topic without a relevant document, {scored}: 2"]
    assert (results.scores[0, :, 1] == 0).all() == (scored == "scored 0 for every run")


def test_where_no_measure_is_known_nothing_is_said_of_all() -> None:
    found = [*check(Experiment({"1": {"a": 1}, "2": {"b": 0}, "3": {"c": 1}}, {"1": {"a": 1.0}, "2": {"b": 1.0}}))]
    assert of("no-relevant", found) == ["qrels: 1 topic without a relevant document, scored 0 by most measures: 2"]
    assert of("missing-topics", found) == ["run: no answer to 1 judged topic, scored 0 by most measures: 3"]


def test_a_topic_without_an_answer_is_said_to_score_what_it_scores() -> None:
    qrels, run = {"1": {"a": 1}, "2": {"b": 1}}, {"1": {"a": 1.0}}

    def told(*measures: str) -> str:
        results = evaluate(qrels, run, list(measures))
        (finding,) = (finding for finding in results.warnings if finding.code == "missing-topics")
        return finding.message

    assert told("AP", "Utility") == "no answer to 1 judged topic, scored 0: 2"
    assert told("AP", "ScaledUtility") == "no answer to 1 judged topic, scored as an empty list: 2"
    assert told("Utility(c=-1)") == "no answer to 1 judged topic, scored as an empty list: 2"
    assert evaluate(qrels, run, "ScaledUtility").scores[0, 0].tolist() == [1.0, 1 / 3]


@pytest.mark.parametrize("data", [b"\xb1\xbd\xff", b'{"q1": {"d1": 1.0}', b'{"q1":\n\n'])
def test_what_ends_too_early_is_told_once(tmp_path: Path, data: bytes) -> None:
    """Its fault is made blank, and the next one is behind the last line, where there is nothing to be made blank."""
    path = tmp_path / "a.json"
    path.write_bytes(data)
    done = command_line("check", "examples/qrels.txt", path)
    assert done.exit == 3
    assert "a.json:" in done.stderr
    assert "not JSON" in done.stderr
    assert "Also:" not in done.stderr


def test_shares_by_depth_of_several_runs_are_told_in_brackets() -> None:
    found = [
        Finding("unjudged", run, f"unjudged documents by depth: {share}% at 1, {share}% at 10, 9.0% at 100. Holes")
        for run, share in (("a", 1.0), ("b", 2.5))
    ]
    assert [str(one) for one in gathered(found)] == [
        "a (1.0% at 10), b (2.5% at 10): unjudged documents by depth. Holes"
    ]
    assert [str(one) for one in gathered(found, most=None)] == [
        "a (1.0% at 1, 1.0% at 10, 9.0% at 100), b (2.5% at 1, 2.5% at 10, 9.0% at 100): "
        "unjudged documents by depth. Holes"
    ]


def many(code: str, sentences: list[str]) -> list[Finding]:
    return [Finding(code, f"r{i}", sentence) for i, sentence in enumerate(sentences)]


NAMED = "r0, r1, r2, r3, r4 and 3 more"


@pytest.mark.parametrize(
    ("code", "sentences", "told"),
    [
        (
            "rank-disagreement",
            [
                f"the rank column contradicts the scores in {n:,} row{'s' * (n > 1)}"
                for n in (7, 1, 2355, 3, 4, 5, 6, 8)
            ],
            "the rank column contradicts the scores in 1 to 2,355 rows",
        ),
        (
            "missing-topics",
            [f"no answer to {n} judged topic{'s' * (n > 1)}, scored 0: {301 + n}, a: {n}" for n in range(1, 9)],
            "no answer to 1 to 8 judged topics, scored 0",
        ),
        (
            "duplicates-collapsed",
            [repeated_note(n, f"q{n}", f"d; {n}")[0][1] for n in (1, 20, 3, 4, 5, 6, 7, 8)],
            "1 to 20 lines repeat another with the same value; each counts once",
        ),
        (
            "short-of-cutoff",
            [f"no list is longer than {n}: P@1000 can see no further" for n in range(10, 18)],
            "no list is longer than 10 to 17: P@1000 can see no further",
        ),
        (
            "sampled-ties",
            [f"AP is a mean over 100 random orders of ties: standard error {n}" for n in ("0.1", "2e-05", *"345678")],
            "AP is a mean over 100 random orders of ties: standard error 2e-05 to 8",
        ),
    ],
)
def test_what_is_said_of_many_runs_is_said_once_with_the_range_of_its_figures(
    code: str, sentences: list[str], told: str
) -> None:
    findings = [Finding("first", "r0", "one"), *many(code, sentences), Finding("last", "r0", "one")]
    assert [str(one) for one in gathered(findings)] == ["r0: one", f"{NAMED}: {told}", "r0: one"]
    assert gathered(findings[:6]) == findings[:6]  # each of a few has its own
    assert len(gathered(findings, most=None)) == len({*findings})


def test_ranges_are_for_figures_of_one_sentence_alone() -> None:
    others = many("swapped", [f"its only scores are {n}" for n in range(9)])
    assert gathered(others) == others
    doubts = many("comments", [f"{n} lines" for n in range(2, 7)])
    notes = [Finding("comments", f"n{n}", f"{n} lines", doubtful=False) for n in range(2, 7)]
    assert gathered([*doubts, *notes]) == [*doubts, *notes]


def test_many_runs_have_few_lines_of_warnings(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("".join(f"1 0 d{n} 1\n" for n in range(20)))
    for run in range(12):  # its last documents have ranks that the scores contradict
        rows = [f"1 Q0 d{n} {n if n + run < 14 else 1} {99 - n} t\n" for n in range(20)]
        (tmp_path / f"sys{run:02}.run").write_text("".join(rows))
    names = [f"sys{run:02}.run" for run in range(12)]
    told = command_line("evaluate", "qrels", *names, "-m", "AP", folder=tmp_path).stderr.splitlines()
    assert told == [
        "cranfield: warning: sys00, sys01, sys02, sys03, sys04 and 7 more: the rank column contradicts the scores in "
        "6 to 17 rows; the scores decide"
    ]
