"""Parameters tuned on one collection and used on another: the file, what it is checked for, and who notices."""

from __future__ import annotations

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import cranfield
from commands import Outcome, command_line
from cranfield.errors import DataError
from cranfield.formats import read_qrels
from cranfield.planning.tuned import TunedOn, TunedParameters, judgements_digest, read_parameters, topic_digests
from places import EXAMPLES

POND, QRELS = EXAMPLES / "pond.toml", EXAMPLES / "pond.qrels"
GRID = ("--grid", "k1=0.2,3", "b=0.1,0.9", "--seed", "1")
RUNS = (EXAMPLES / "bm25.run", EXAMPLES / "dense.run")


def searched(*arguments: str | Path, collection: Path = POND) -> Outcome:
    makes_run = "--save-best" not in arguments or "-o" in arguments
    timed = ("--repeats", "1", "--warm-up", "0") if makes_run else ()
    return command_line("search", collection, *timed, *arguments)


@pytest.fixture(scope="module")
def best(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The best parameters on the pond."""
    path = tmp_path_factory.mktemp("best") / "best.toml"
    done = searched(*GRID, "--save-best", path)
    assert done.exit == 0, done.stderr
    return path


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """The pond's documents, and under its topic ids other questions, but for the last; each with a judgement more."""
    asked = [line.split("\t") for line in (EXAMPLES / "pond-topics.tsv").read_text().splitlines()]
    others = [f"{topic}\t{query if topic == '6' else 'wild ' + query}" for topic, query in asked]
    (tmp_path / "topics.tsv").write_text("\n".join(others) + "\n")
    (tmp_path / "lake.qrels").write_text(QRELS.read_text() + "".join(f"{topic} 0 more 0\n" for topic in range(1, 7)))
    parts = f'name = "lake"\ndocuments = "{EXAMPLES / "pond-documents.jsonl"}"\ntopics = "topics.tsv"\n'
    (tmp_path / "lake.toml").write_text(f'{parts}qrels = "lake.qrels"\n')
    return tmp_path / "lake.toml"


def metadata(run: Path) -> Any:
    return json.loads(Path(f"{run}.metadata.json").read_text())


# The file


def test_the_best_on_all_topics_is_kept_with_what_it_was_tuned_on(best: Path, tmp_path: Path) -> None:
    told = tomllib.loads(best.read_text())
    done = json.loads(searched(*GRID, "-f", "json", "-o", tmp_path / "a.run").stdout)["tuning"]
    means = [sum(point["scores"]) / len(point["scores"]) for point in done["points"]]
    chosen = done["points"][means.index(max(means))]["parameters"]
    assert told["parameters"] == {**chosen, "variant": "lucene"}
    assert told["tuned"]["score"] == pytest.approx(max(means))
    assert (told["model"], told["stemmer"], told["stop-words"]) == ("bm25", "english", "english")
    assert (told["tuned"]["measure"], told["tuned"]["collection"]) == ("AP", "pond")
    assert told["tuned"]["judgements"] == judgements_digest(read_qrels(QRELS))
    assert list(told["tuned"]["topics"]) == ["1", "2", "3", "4", "5", "6"]
    assert told["tuned"]["topics"]["6"] == "who eats frogs"


def test_saving_alone_makes_no_run_and_shows_what_is_saved(tmp_path: Path) -> None:
    done = searched(*GRID, "--save-best", tmp_path / "p.toml")
    assert "efficiency" not in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["best", "on", "all,", "saved", "0.2", "0.1", "0.8386", "6"]
    both = searched(*GRID, "--save-best", tmp_path / "p.toml", "-o", tmp_path / "a.run")
    assert "best on all, saved" in both.stdout
    assert "latency p50" in both.stdout
    assert (tmp_path / "a.run").exists()
    printed = searched(*GRID, "--save-best", "-")
    assert printed.stdout == (tmp_path / "p.toml").read_text()
    assert "best on all, saved" in printed.stderr
    assert "saved" not in searched(*GRID, "-o", tmp_path / "a.run").stdout
    document = json.loads(searched(*GRID, "--save-best", tmp_path / "p.toml", "-f", "json").stdout)
    assert document["saved"]["parameters"]["k1"] == 0.2
    assert "metadata" not in document


def test_of_splits_the_topics_to_tune_on_are_tuned_on(tmp_path: Path) -> None:
    splits = {"schema": "cranfield.splits/1", "folds": [{"train": ["2", "4", "5"], "test": ["1", "3"]}]}
    (tmp_path / "splits.json").write_text(json.dumps(splits))
    arguments = ("--splits", tmp_path / "splits.json", "--save-best", tmp_path / "p.toml")
    assert searched("--grid", "k1=0.2,3", *arguments).exit == 0
    assert list(tomllib.loads((tmp_path / "p.toml").read_text())["tuned"]["topics"]) == ["2", "4", "5"]
    shown = searched("--grid", "k1=0.2,3", *arguments).stdout.splitlines()[-1]
    assert shown.startswith("best on training topics, saved")  # and not on all
    assert shown.endswith(" 3")
    splits["folds"] = [{"train": ["2", "4"], "test": ["1", "3"]}]
    (tmp_path / "splits.json").write_text(json.dumps(splits))
    learning = ("--method", "weighted-sum", "--train", EXAMPLES / "qrels.txt", *arguments)
    assert fused(*learning).stdout.splitlines()[-1].startswith("best on training topics, saved: weights ")


@pytest.mark.parametrize(
    ("grid", "told"),
    [
        ("k1=1,2,3", "note: bm25: k1 is best at the end of its grid, 1: try values below"),
        ("b=0,0.4,0.9", "note: bm25: b is best at the end of its grid, 0.9: try values above"),
        ("b=0,0.4,1", None),  # there is nothing above 1
        ("k1=2,3,9", None),  # the first of equals
        ("k1=0.2,3", None),  # of two values each is an end
        ("variant=lucene,robertson,atire", None),
    ],
)
def test_a_best_value_at_the_end_of_its_grid_is_noted(grid: str, told: str | None, tmp_path: Path) -> None:
    done = searched("--grid", grid, "-m", "nDCG", "--save-best", tmp_path / "p.toml")
    assert done.exit == 0
    assert ("is best at the end of its grid" in done.stderr) == (told is not None), (done.stdout, done.stderr)
    assert (told or "") in done.stderr


def test_settings_that_were_given_are_kept_and_files_found_from_everywhere(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("the\n")
    given = ("--stemmer", "none", "--stop-words", tmp_path / "words", "--fields", "text", "--query", "title")
    assert searched(*GRID, *given, "--save-best", tmp_path / "p.toml").exit == 0
    told = tomllib.loads((tmp_path / "p.toml").read_text())
    assert [told[name] for name in ("stemmer", "fields", "query")] == ["none", "text", "title"]
    assert told["stop-words"] == str(tmp_path / "words")
    assert searched("--parameters", tmp_path / "p.toml", "-o", tmp_path / "a.run").exit == 0
    assert metadata(tmp_path / "a.run")["method"]["indexing"]["stemmer"] == "none"


def test_whatever_is_in_a_name_is_read_as_it_was_written(tmp_path: Path) -> None:
    topics = {'a "quoted" \\ id': "tab\there", "ümlaut": "del\x7f", "#3": "", "[x]": "=1"}
    tuned = TunedOn(topics=topics, measure="AP", score=0.1, collection="c", judgements="d", runs=("r",))
    saved = TunedParameters(settings={"model": "bm25"}, parameters={"k1": 1e-5, "variant": 'x"'}, tuned=tuned)
    saved.write(tmp_path / "p.toml")
    again = read_parameters(tmp_path / "p.toml", "search")
    assert (again.settings, again.parameters, again.tuned) == (saved.settings, saved.parameters, tuned)
    odd = TunedParameters(settings={}, parameters={}, tuned=TunedOn(topics={"\udce9": ""}))
    with pytest.raises(DataError, match="cannot hold topic ids that are not UTF-8"):
        odd.write(tmp_path / "p.toml")


# Using it


def test_another_collection_is_searched_with_the_parameters(best: Path, lake: Path, tmp_path: Path) -> None:
    chosen = tomllib.loads(best.read_text())["parameters"]
    plain, used = tmp_path / "plain.run", tmp_path / "used.run"
    assert searched("--k1", str(chosen["k1"]), "--b", str(chosen["b"]), "-o", plain, collection=lake).exit == 0
    done = searched("--parameters", best, "-o", used, collection=lake)
    assert used.read_text() == plain.read_text()
    tuning = metadata(used)["tuning"]
    assert tuning == {
        "file": str(best),
        "measure": "AP",
        "score": tuning["score"],
        "collection": "pond",
        "judgements": judgements_digest(read_qrels(QRELS)),
        "topics": ["1", "2", "3", "4", "5", "6"],
        "digests": topic_digests(read_qrels(QRELS)),
        "also searched": ["6"],
    }
    assert "used: 1 of the topics tested on were tuned on: 6" not in done.stderr
    assert "bm25: 1 of the topics tested on were tuned on: 6. Test on others" in done.stderr


def test_one_option_is_the_same_twice_or_refused(best: Path, tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    assert searched("--parameters", best, "--k1", "0.20", "--stemmer", "english", "--depth", "5", "-o", run).exit == 0
    for option, value, entry in (("--k1", "1", "k1 = 0.2"), ("--model", "lm", "model = bm25"),
                                 ("--stop-words", "none", "stop-words = english")):  # fmt: skip
        done = searched("--parameters", best, option, value, "-o", run)
        assert done.exit == 2
        assert f"{option} {value} contradicts {best}, which has {entry}: leave one of the two out" in done.stderr


def test_a_seed_of_the_file_is_used(tmp_path: Path) -> None:
    assert searched("--model", "random", "--grid", "seed=1,7", "--save-best", tmp_path / "p.toml").exit == 0
    seed = tomllib.loads((tmp_path / "p.toml").read_text())["parameters"]["seed"]
    runs = [tmp_path / "a.run", tmp_path / "b.run"]
    assert searched("--parameters", tmp_path / "p.toml", "-o", runs[0]).exit == 0
    assert searched("--model", "random", "--seed", str(seed), "-o", runs[1]).exit == 0
    assert runs[0].read_text() == runs[1].read_text()
    assert "--seed 99 contradicts" in searched("--parameters", tmp_path / "p.toml", "--seed", "99").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--save-best", "p.toml"), "--save-best is not for a search without tuning: say what to tune, as --grid"),
        ((*GRID, "--parameters", "p.toml"), "--parameters are tuned already: give them or --grid, not both"),
        ((*GRID, "--save-best", "-", "-o", "-"), "cannot both go to one place"),
        (
            (*GRID, "--save-best", "x.toml", "--header"),
            "--header is for a run, and with --save-best alone none is made",
        ),
    ],
)
def test_what_makes_no_sense_together_is_refused(arguments: tuple[str, ...], message: str) -> None:
    done = searched(*arguments)
    assert (done.exit, message in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("text", "line", "message", "remedy"),
    [
        ("model = bm25", None, "is not TOML: Invalid value (at line 1", "Let --save-best write it anew"),
        ("k1 = 1", None, "has no model, which files of parameters have", 'Begin it with model = "…"'),
        ('method = "rrf"', 1, "is for `cranfield fuse`", "Write one with `cranfield search --save-best`"),
        ('model = "bm25"\nstemer = "none"', 2, "unknown entry stemer", "Known: model, stemmer"),
        ("model = 3", 1, "model must be text, not 3", 'Write model = "…"'),
        ('model = "bm52"', 1, "no model 'bm52'", "Mend that line"),
        ('model = "bm25"\nstemmer = "klingon"', 2, "no stemmer 'klingon'", "Mend that line"),
        ('model = "bm25"\nstop-words = "nope"', 2, "no list of stop words 'nope'", "Mend that line"),
        ('model = "bm25"\nparameters = 3', 2, "parameters must be a table", "Write [parameters] on a line"),
        ('model = "bm25"\n[parameters]\nmu = 3', 3, "bm25 has no parameter 'mu'", "Mend that line"),
        ('model = "bm25"\n[parameters]\nk1 = "x"', 3, "k1 must be a number, not 'x'", "Mend that line"),
        ('model = "bm25"\n[parameters]\nb = 7', 3, "b must be from 0 to 1, not 7.0", "Mend that line"),
        ('model = "bm25"\n[parameters]\nb = {c = 1}', 3, "b is not a value that a parameter can have", "Give a number"),
        ('model = "bm25"\n[tuned]\nscore = 1', 2, "[tuned] has no topics", 'Write topics = ["1", "2"]'),
        ('model = "bm25"\n[tuned]\ntopics = [1]', 3, "[tuned] has no topics", 'Write topics = ["1", "2"]'),
        ('model = "bm25"\n[tuned]\ntopics = ["1"]\nscore = "x"', 4, "score must be a number, not 'x'", "Mend it"),
        ('model = "bm25"\n[tuned]\ntopics = ["1"]\nruns = "x"', 4, "runs must be a list of names", "Write runs = "),
        ('model = "bm25"\n[tuned]\ntopics = ["1"]\n[tuned.digests]\n1 = 2', 4, "digests must be texts", "Leave "),
        ('model = "bm25"\n[tuned]\ntopics = ["1"]\nmessure = "x"', 4, "unknown entry messure", "Known: measure"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_told_with_its_line(
    text: str, line: int | None, message: str, remedy: str, tmp_path: Path
) -> None:
    (tmp_path / "p.toml").write_text(text)
    done = searched("--parameters", tmp_path / "p.toml")
    where = f"{tmp_path / 'p.toml'}:{line}: " if line else f"{tmp_path / 'p.toml'}: "
    assert done.exit == 3, done.stderr
    assert f"{where}{message}" in done.stderr
    assert remedy in done.stderr


def test_a_file_by_hand_needs_a_model_only(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('model = "lm"\n[parameters]\nmu = 500\n')
    run = tmp_path / "a.run"
    assert searched("--parameters", tmp_path / "p.toml", "-o", run).exit == 0
    assert metadata(run)["method"]["retrieval"][0]["mu"] == 500
    assert metadata(run)["tuning"] == {"file": str(tmp_path / "p.toml")}
    told = command_line("compare", QRELS, run, run, "--tuned-on", tmp_path / "p.toml")
    assert (told.exit, "does not say what was tuned on" in told.stderr) == (3, True)


# Who notices


def compared(qrels: Path, *arguments: str | Path) -> list[str]:
    done = command_line("compare", qrels, *arguments, "-m", "AP")
    assert done.exit == 0, done.stderr
    return [line for line in done.stderr.splitlines() if "tuned on" in line]


def test_a_comparison_notices_by_itself(best: Path, lake: Path, tmp_path: Path) -> None:
    plain, same, folds = (tmp_path / name for name in ("plain.run", "same.run", "folds.run"))
    for arguments in (("-o", plain), ("--parameters", best, "-o", same), (*GRID, "-o", folds)):
        assert searched(*arguments).exit == 0
    told = "6 of the topics tested on were tuned on: 1, 2, 3, 4, 5 and 1 more. Test on others: `cranfield split`"
    assert compared(QRELS, plain, same) == [f"cranfield: warning: same: {told}"]
    assert compared(QRELS, plain, folds) == []  # no topic of it was tuned on itself
    assert compared(QRELS, plain, folds, "--tuned-on", best) == [f"cranfield: warning: topics: {told}"]
    other = tmp_path / "other.run"
    assert searched("--parameters", best, "-o", other, collection=lake).exit == 0
    (line,) = compared(lake.parent / "lake.qrels", plain, other)  # of six ids that are the same, one topic is
    assert (
        line
        == "cranfield: warning: other: 1 of the topics tested on were tuned on: 6. Test on others: `cranfield split`"
    )
    (line,) = compared(lake.parent / "lake.qrels", plain, folds, "--tuned-on", best)
    assert line == (
        "cranfield: note: topics: 6 topics of pond with other judgements were tuned on under ids that are tested on: "
        "1, 2, 3, 4, 5 and 1 more. If they are the same topics, test on others"
    )


def test_a_part_of_the_judgements_is_known_by_each_topic(tmp_path: Path) -> None:
    """The homework's own case: tuned on the public half, and tested on all."""
    rows = QRELS.read_text().splitlines(keepends=True)
    (tmp_path / "train.qrels").write_text("".join(row for row in rows if row.split()[0] in "135"))
    best, plain, student = (tmp_path / name for name in ("best.toml", "plain.run", "student.run"))
    assert searched("--grid", "k1=0.2,3", "--tune", tmp_path / "train.qrels", "--save-best", best).exit == 0
    assert searched("-o", plain).exit == 0
    told = "3 of the topics tested on were tuned on: 1, 3, 5. Test on others: `cranfield split`"
    assert compared(QRELS, plain, RUNS[0], "--tuned-on", best) == [f"cranfield: warning: topics: {told}"]
    done = searched("--parameters", best, "-o", student)
    assert f"bm25: {told}" in done.stderr
    assert compared(QRELS, plain, student) == [f"cranfield: warning: student: {told}"]
    (tmp_path / "more.qrels").write_text("".join(rows) + "1 0 more 0\n")
    assert compared(tmp_path / "more.qrels", plain, RUNS[0], "--tuned-on", best) == [
        "cranfield: warning: topics: 2 of the topics tested on were tuned on: 3, 5. Test on others: `cranfield split`",
        "cranfield: note: topics: 1 topic of pond with other judgements were tuned on under ids that are tested on: 1. "
        "If they are the same topics, test on others",
    ]


def test_other_topics_under_the_same_ids_are_no_alarm_where_a_search_has_seen_the_queries(tmp_path: Path) -> None:
    best, run, other = EXAMPLES / "best.toml", tmp_path / "lake.run", tmp_path / "other.run"
    assert searched("--parameters", best, "-o", run, collection=EXAMPLES / "lake.toml").exit == 0
    assert searched("-o", other, collection=EXAMPLES / "lake.toml").exit == 0
    assert compared(EXAMPLES / "lake.qrels", run, other, "--tuned-on", best) == []
    (line,) = compared(EXAMPLES / "lake.qrels", other, other, "--tuned-on", best)  # nobody has seen the queries
    assert "with other judgements were tuned on under ids that are tested on" in line


def test_the_same_queries_under_other_ids_are_noticed(best: Path, tmp_path: Path) -> None:
    asked = [line.split("\t") for line in (EXAMPLES / "pond-topics.tsv").read_text().splitlines()]
    (tmp_path / "topics.tsv").write_text("".join(f"q{topic}\t{query.upper()}  \n" for topic, query in asked))
    (tmp_path / "q.qrels").write_text("".join(f"q{row}" for row in QRELS.read_text().splitlines(keepends=True)))
    parts = f'name = "renamed"\ndocuments = "{EXAMPLES / "pond-documents.jsonl"}"\ntopics = "topics.tsv"\n'
    (tmp_path / "renamed.toml").write_text(f'{parts}qrels = "q.qrels"\n')
    plain, used = tmp_path / "plain.run", tmp_path / "used.run"
    assert searched("-o", plain, collection=tmp_path / "renamed.toml").exit == 0
    done = searched("--parameters", best, "-o", used, collection=tmp_path / "renamed.toml")
    told = "6 of the topics tested on were tuned on: q1, q2, q3, q4, q5 and 1 more. Test on others: `cranfield split`"
    assert f"bm25: {told}" in done.stderr
    assert compared(tmp_path / "q.qrels", plain, used) == [f"cranfield: warning: used: {told}"]


def test_whoever_ranks_or_accepts_runs_notices_too(best: Path, tmp_path: Path) -> None:
    plain, same = tmp_path / "plain.run", tmp_path / "same.run"
    for arguments in (("-o", plain), ("--parameters", best, "-o", same)):
        assert searched(*arguments).exit == 0
    told = "6 of the topics tested on were tuned on: 1, 2, 3, 4, 5 and 1 more. Test on others: `cranfield split`"
    for line, name in (
        (("evaluate", QRELS, plain, same, "--sort", "AP"), "same"),
        (("gate", QRELS, plain, same, "-m", "AP"), "candidate"),
        (("diagnose", QRELS, plain, same, "-m", "AP"), "same"),
    ):
        done = command_line(*line)
        assert f"cranfield: warning: {name}: {told}" in done.stderr, line
        assert "tuned on" not in command_line(*(plain if word == same else word for word in line)).stderr, line


def test_a_run_is_known_when_it_is_packed_converted_or_fused(best: Path, tmp_path: Path) -> None:
    plain, same = tmp_path / "plain.run", tmp_path / "same.run"
    for arguments in (("-o", plain), ("--parameters", best, "-o", same)):
        assert searched(*arguments).exit == 0
    told = "6 of the topics tested on were tuned on: 1, 2, 3, 4, 5 and 1 more. Test on others: `cranfield split`"
    packed = tmp_path / "same.run.gz"
    packed.write_bytes(gzip.compress(same.read_bytes()))
    assert compared(QRELS, plain, packed) == [f"cranfield: warning: same: {told}"]
    for name in ("csv.csv", "lines.jsonl.gz"):
        done = command_line("convert", same, "-o", tmp_path / name)
        assert done.stdout == f"wrote {tmp_path / name}, and beside it the metadata of the run\n"
        assert metadata(tmp_path / name) == metadata(same)
        (line,) = compared(QRELS, plain, tmp_path / name)
        assert line.endswith(told)
    assert command_line("convert", RUNS[0], "-o", tmp_path / "b.csv").stdout == f"wrote {tmp_path / 'b.csv'}\n"
    both = tmp_path / "both.run"
    assert command_line("fuse", plain, same, "-o", both).exit == 0
    assert metadata(both)["tuning"] == {"of runs": [{"run": "same", **metadata(same)["tuning"]}]}
    assert compared(QRELS, plain, both) == [f"cranfield: warning: both (fused from same): {told}"]
    Path(f"{same}.metadata.json").write_text("{")
    done = command_line("fuse", plain, same, "-o", both)
    assert (done.exit, "note: same: what it was tuned on is not known" in done.stderr) == (0, True)


def test_metadata_that_cannot_be_read_stop_no_comparison(tmp_path: Path) -> None:
    runs = [tmp_path / "a.run", tmp_path / "b.run"]
    for run in runs:
        assert searched("-o", run).exit == 0
    Path(f"{runs[0]}.metadata.json").write_text("{")
    (line,) = compared(QRELS, *runs)
    assert line.startswith("cranfield: note: a: what it was tuned on is not known: ")
    Path(f"{runs[0]}.metadata.json").write_text('{"tuning": {"topics": 3, "folds": [3]}}')
    assert compared(QRELS, *runs) == []


def test_topics_by_hand_count_by_their_ids(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('model = "bm25"\n[tuned]\ntopics = ["1", "77"]\n')
    run = tmp_path / "a.run"
    done = searched("--parameters", tmp_path / "p.toml", "-o", run)
    assert "bm25: 1 of the topics tested on were tuned on: 1. Test on others" in done.stderr
    (line,) = compared(QRELS, run, RUNS[0], "--tuned-on", tmp_path / "p.toml")
    assert line.startswith("cranfield: warning: topics, a: 1 of the topics tested on were tuned on: 1. ")


# Fusion: the same words


def fused(*arguments: str | Path) -> Outcome:
    return command_line("fuse", *RUNS, *arguments)


def test_fusion_keeps_and_takes_parameters_in_the_same_way(tmp_path: Path) -> None:
    best, run, direct = tmp_path / "f.toml", tmp_path / "a.run", tmp_path / "b.run"
    learning = ("--method", "weighted-sum", "--norm", "sum", "--train", EXAMPLES / "qrels.txt")
    done = fused(*learning, "--save-best", best)
    told = tomllib.loads(best.read_text())
    weights = told["parameters"]["weights"]
    assert (told["method"], told["norm"]) == ("weighted-sum", "sum")
    assert told["tuned"]["topics"] == ["1", "2", "3", "4", "5", "6"]
    assert told["tuned"]["runs"] == ["bm25", "dense"]
    shown = ", ".join(f"{weight:g}" for weight in weights)
    assert done.stdout.splitlines()[-1].startswith(f"best on all, saved: weights {shown}; nDCG@10 ")
    assert done.stdout.splitlines()[-1].endswith("learnt on 6 topics")
    assert fused("--parameters", best, "-o", run).exit == 0
    given = ",".join(map(str, weights))
    assert fused("--method", "weighted-sum", "--norm", "sum", "-p", f"weights={given}", "-o", direct).exit == 0
    assert run.read_text() == direct.read_text()
    assert metadata(run)["tuning"]["file"] == str(best)
    told_again = "6 of the topics tested on were tuned on: 1, 2, 3, 4, 5 and 1 more. Test on others: `cranfield split`"
    assert compared(EXAMPLES / "qrels.txt", run, *RUNS) == [f"cranfield: warning: a: {told_again}"]
    for option, value in (("--method", "rrf"), ("--norm", "min-max"), ("-p", "weights=1,2")):
        assert f"{option} {value} contradicts {best}" in fused("--parameters", best, option, value).stderr
    turned = command_line("fuse", *RUNS[::-1], "--parameters", best)
    assert "f.toml: has parameters for bm25, dense in this order, not for dense, bm25" in turned.stderr
    assert turned.exit == 3
    (other := tmp_path / "other.run").write_text(Path(RUNS[1]).read_text())
    told_of = command_line("fuse", RUNS[0], other, "--parameters", best, "-o", tmp_path / "c.run")
    assert (told_of.exit, "f.toml: were learnt for bm25, dense; fused are bm25, other" in told_of.stderr) == (0, True)
    three = command_line("fuse", *RUNS, RUNS[0], "--parameters", best)
    assert (
        three.exit,
        "f.toml:5: weighted-sum: weights must be a list with an entry for each of the 3" in three.stderr,
    ) == (
        3,
        True,
    )


def test_what_folds_learn_is_no_tuning_on_the_test_and_the_same_topics_are(tmp_path: Path) -> None:
    learning = ("--method", "weighted-sum", "--train", EXAMPLES / "qrels.txt")
    folds, same = tmp_path / "folds.run", tmp_path / "same.run"
    assert fused(*learning, "--folds", "3", "-o", folds).exit == 0
    assert fused(*learning, "--same-topics", "-o", same).exit == 0
    (line,) = compared(EXAMPLES / "qrels.txt", folds, same)
    assert line.startswith("cranfield: warning: same: 6 of the topics tested on were tuned on: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--save-best", "f.toml"), "--save-best can only be given with --train QRELS"),
        (("--parameters", "f.toml", "--train", "q"), "--parameters are learnt already: give them or --train, not both"),
        (("--train", "q", "--save-best", "-", "-o", "-"), "cannot both go to standard output"),
    ],
)
def test_fusion_refuses_what_makes_no_sense(arguments: tuple[str, ...], message: str) -> None:
    done = fused(*arguments)
    assert (done.exit, message in done.stderr) == (2, True), done.stderr


# Judgements that there is nothing to learn from


OTHER_TOPICS, OTHER_DOCUMENTS = "zz 0 d01 1\n", "1 0 zzz 1\n2 0 yyy 1\n3 0 zzz 0\n"
ONE_TOPIC = "1 0 {0} 1\n2 0 zzz 1\n3 0 zzz 1\n4 0 zzz 1\n"


@pytest.mark.parametrize(
    ("judgements", "message"),
    [
        (OTHER_TOPICS, "no topic in common with pond: the judgements have zz, the collection has 1, 2, 3 and 3 more"),
        (
            OTHER_DOCUMENTS,
            "not one relevant document of these judgements is in pond: nothing can be tuned on them. The judgements "
            "have zzz, yyy, pond has d12, d11, d10 and 9 more",
        ),
        ("1 0 d01 0\n2 0 d02 0\n", "The judgements have none, pond has"),
        (ONE_TOPIC.format("d01"), "has nothing to be tuned on: not one relevant document of its training topics ("),
    ],
)
def test_nothing_is_tuned_on_judgements_without_a_relevant_document(
    judgements: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "q").write_text(judgements)
    for more in (("-o", tmp_path / "a.run"), ("--save-best", tmp_path / "p.toml")):
        done = searched(*GRID, "--tune", tmp_path / "q", *more)
        assert (done.exit, message in done.stderr) == (3, True), done.stderr
        assert str(tmp_path / "q") in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["q"]


@pytest.mark.parametrize("way", [("--folds", "2"), ("--same-topics",)])
@pytest.mark.parametrize(
    ("judgements", "message"),
    [
        (
            OTHER_TOPICS + "yy 0 d01 1\n",
            "judges no topic that a run has: the judgements have yy, zz, the runs have 1, 2, ",
        ),
        (
            OTHER_DOCUMENTS,
            "not one document that it calls relevant is in bm25, dense: nothing can be learnt from it. The ",
        ),
        ("1 0 D059 0\n2 0 D059 0\n1 0 zzz 1\n", "The judgements have zzz, the runs have D059, "),
    ],
)
def test_nothing_is_learnt_from_judgements_without_a_relevant_document(
    way: tuple[str, ...], judgements: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "q").write_text(judgements)
    done = fused("--method", "weighted-sum", "--train", tmp_path / "q", *way, "-o", tmp_path / "a.run")
    assert (done.exit, message in done.stderr) == (3, True), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["q"]


def test_a_fold_without_a_relevant_document_is_refused_where_others_have_one(tmp_path: Path) -> None:
    first = cranfield.read_run(RUNS[0]).of("1")
    (tmp_path / "q").write_text(ONE_TOPIC.format(next(iter(first))))
    arguments = ("--method", "weighted-sum", "--train", tmp_path / "q")
    done = fused(*arguments, "--folds", "2")
    assert done.exit == 3
    assert "has nothing to learn from: not one relevant document of its training topics (" in done.stderr
    assert fused(*arguments, "--same-topics", "-o", tmp_path / "a.run").exit == 0
