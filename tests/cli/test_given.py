"""Nothing that is given on the line is left out in silence: it counts, or it is refused as it was typed."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path

import click
import pytest

from commands import command_line, commands, printed
from cranfield.cli.plot import USES
from cranfield.cli.typed import DECISIONS
from cranfield.plot.subject import all_pictures
from places import EXAMPLES

SET = "3 of 6 judged topics count: those of some.txt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("given")
    for name in ("qrels.txt", "bm25.run", "dense.run", "study.csv"):
        shutil.copy(EXAMPLES / name, place)
    (place / "some.txt").write_text("1\n2\n3\n")
    (place / "ranks.txt").write_text("a 1 2\nb 2 1\nc 3 3\n")
    return place


def refused(*words: str, folder: Path | None = None) -> str:
    done = command_line(*words, folder=folder)
    assert (done.exit, done.stdout) == (2, ""), (words, done)
    return done.stderr


@cache
def options(name: str) -> list[click.Option]:
    return [option for option in commands()[name].params if isinstance(option, click.Option)]


OURS = [name for name in commands() if name != "trec_eval"]  # which takes the last, as trec_eval does
SINGLE = [
    pytest.param(name, option, id=f"{name} {option}")
    for name in OURS
    for parameter in options(name)
    if not parameter.multiple and not parameter.is_flag
    for option in parameter.opts
]


class TestOnce:
    @pytest.mark.parametrize(("name", "option"), SINGLE)
    def test_one_value_is_taken_once(self, name: str, option: str) -> None:
        told = f"cranfield: {option} was given twice: x, y; it takes one\n"
        assert refused(*name.split(), option, "x", option, "y") == told
        joined = [f"{option}=x", f"{option}=y"] if option.startswith("--") else [f"{option}x", f"{option}y"]
        assert refused(*name.split(), *joined) == told

    def test_what_several_may_be_given_of_stays(self, folder: Path) -> None:
        text = printed("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "-m", "RR", folder=folder)
        assert text.split()[:3] == ["run", "AP", "RR"]

    def test_the_same_twice_loses_nothing(self) -> None:
        assert printed("try", "1,0", "--depth", "1", "--depth", "1", "--explain", "--explain") == printed(
            "try", "1,0", "--depth", "1", "--explain"
        )

    def test_it_is_called_as_it_was_typed(self) -> None:
        for words in (["-f", "csv", "--output-format", "json"], ["-fcsv", "-f", "json"]):
            assert refused("try", "1,0", *words) == "cranfield: -f was given twice: csv, json; it takes one\n"
        three = refused("try", "1,0", "--depth", "1", "--depth=2", "--depth", "1")
        assert three == "cranfield: --depth was given 3 times: 1, 2, 1; it takes one\n"

    @pytest.mark.parametrize(
        ("name", "option"),
        [pytest.param(name, option, id=name) for name in OURS for option in options(name) if option.secondary_opts],
    )
    def test_yes_and_no_are_refused(self, name: str, option: click.Option) -> None:
        yes, no = option.opts[0], option.secondary_opts[0]
        assert refused(*name.split(), no, yes) == f"cranfield: {yes} or {no}, not both\n"

    def test_trec_eval_takes_the_last(self, folder: Path) -> None:
        line = ["trec_eval", "qrels.txt", "bm25.run", "-m", "P"]
        assert printed(*line, "-l", "1", "-l", "2", folder=folder) == printed(*line, "-l", "2", folder=folder)

    def test_a_topic_has_one_fall_and_a_column_one_name(self, folder: Path) -> None:
        gate = refused("gate", "qrels.txt", "bm25.run", "dense.run", "--topic", "1=0.1", "--topic", "1", folder=folder)
        assert gate == "cranfield: --topic 1 was given twice: a topic has one fall\n"
        line = ["study", "score", "study.csv", "--scale", "sus", "--columns", "system=a", "--columns", "system=b"]
        told = "cranfield: --columns names system twice: a, b; a table of answers has one\n"
        assert refused(*line, folder=folder) == told


def typed(option: click.Option) -> list[str]:
    """An option with a value that it takes, as its type has it."""
    name = (option.secondary_opts or option.opts)[-1]
    if option.is_flag:
        return [name]
    kind = option.type
    if isinstance(kind, click.Choice):
        return [name, str(next(iter(kind.choices)))]
    values = {"columns": "document=x", "labels": "A=1", "measures": "AP", "output": "out.svg", "topic_set": "some.txt"}
    values |= {"collection": str(EXAMPLES / "pond.toml")}
    return [name, values.get(str(option.name), "1")]


class TestPictures:
    @pytest.mark.parametrize("kind", [picture.name for picture in all_pictures()])
    @pytest.mark.parametrize("option", ["--baseline", "--down-to", "--no-sort", "--costs", "--cost"])
    def test_what_a_kind_has_no_use_for_is_refused(self, kind: str, option: str) -> None:
        takers = [
            picture.name for picture in all_pictures() if any(option in USES[use].split(" or ") for use in picture.uses)
        ]
        value = [] if option == "--no-sort" else ["x.csv" if option == "--costs" else "1"]
        told = command_line("plot", kind, option, *value).stderr
        take = "takes" if len(takers) == 1 else "take"
        assert (told == f"cranfield: {kind} has no use for {option}: {', '.join(takers)} {take} it\n") == (
            kind not in takers
        )

    @pytest.mark.parametrize("option", [pytest.param(option, id=option.opts[-1]) for option in options("plot")])
    def test_a_picture_of_measures_takes_no_word_on_runs(self, option: click.Option, folder: Path) -> None:
        words = [] if option.name == "output" else ["-o", "out.svg"]
        done = command_line("plot", "discounts", *words, *typed(option), folder=folder)
        if option.name in ("measures", "output", "down_to", "theme", "quiet"):
            assert (done.exit, done.stdout.splitlines()[0]) == (0, "out.svg"), done
        else:
            assert done.exit == 2
            assert typed(option)[0] in done.stderr or option.name in ("chosen", "highlight")

    def test_the_words(self, folder: Path) -> None:
        told = refused("plot", "discounts", "-o", "out.svg", "--depth", "3", folder=folder)
        assert (
            told
            == "cranfield: --depth is about judgements and runs, and discounts is of measures alone: leave it out\n"
        )
        both = refused(
            "plot", "pareto", "qrels.txt", "bm25.run", "-o", "o.svg", "--costs", "c.csv", "--cost", "p50", folder=folder
        )
        assert both == "cranfield: --cost or --costs, not both: costs are in the table or in the runs' metadata\n"
        assert refused("plot", "list", "--theme", "paper") == (
            "cranfield: --theme is of no use to plot list, which shows all kinds\n"
        )
        assert refused("plot", "list", "a", "b") == "cranfield: plot list shows all kinds: leave out a b\n"

    @pytest.mark.parametrize("asked", ["--test list", "--correction list"])
    def test_a_list_takes_nothing_else(self, asked: str) -> None:
        words = ["compare", *asked.split()]
        for other in ("--alpha 0.1", "-m AP", "-f json", "--test=t" if "corr" in asked else "--correction holm"):
            option = other.replace("=", " ").split()[0]
            told = refused(*words, *other.split())
            assert told == f"cranfield: {option} is of no use to compare {asked}, which shows all there are\n"
        told = refused(*words, "qrels.txt", "bm25.run")
        assert told == f"cranfield: compare {asked} shows all there are: leave out qrels.txt bm25.run\n"
        assert command_line(*words, "--quiet").exit == 0

    def test_python_refuses_them_too(self) -> None:
        import cranfield

        results = cranfield.evaluate({"1": {"d1": 1}}, {"a": {"1": {"d1": 1.0}}}, "AP")
        with pytest.raises(cranfield.UsageError, match=r"^heatmap has no use for depth: effort, cutoff, .* take it$"):
            results.plot.heatmap(depth=3)


class TestTyped:
    @pytest.mark.parametrize("option", [pytest.param(option, id=option.opts[-1]) for option in options("explain")])
    def test_only_what_try_takes_goes_with_a_typed_ranking(self, option: click.Option, folder: Path) -> None:
        done = command_line("explain", "3,2,0/1", *typed(option), folder=folder)
        if option.name in ("measures", "output_format", "quiet", *DECISIONS):
            assert done.exit == 0, done.stderr
        else:
            assert done.exit == 2
            files = "is for judgements and runs in files; a typed ranking takes -m, --empty-topics, --depth and"
            assert done.stderr == f"cranfield: {typed(option)[0]} {files} --judged-only\n"

    @pytest.mark.parametrize(
        "rankings",
        [
            ["3,2,0/1"],
            ["320/1"],
            ["-,3/1"],
            ["-3/1"],
            [".5,1"],
            ["-,.5,1"],
            ["a=3,2"],
            ["a=-,2"],
            ["1;01"],
            ["--", "-1"],
            [" 3, 2"],
            ["10,"],
            ["-1,2"],
            ["a=10", "b=01"],
            ["-1", "01"],
            ["101", "-,1,1", "11-"],
            ["---1"],
        ],
        ids="|".join,
    )
    def test_explain_takes_what_try_takes(self, rankings: list[str]) -> None:
        first = ["-m", "AP,nDCG"]
        tried = command_line("try", *first, "--explain", *rankings)
        assert tried.exit == 0, tried.stderr
        assert command_line("explain", *first, *rankings) == tried

    @pytest.mark.parametrize("ranking", ["3,x,2", "-", "3//2", "12,34,5/67", "3,,2", "1;", "a=1,b"])
    def test_both_refuse_the_same(self, ranking: str) -> None:
        told = refused("try", ranking)
        assert "character" in told
        assert refused("explain", ranking) == told

    def test_a_dash_is_standard_input(self, folder: Path) -> None:
        text = (folder / "ranks.txt").read_bytes()
        from_file = command_line("try", "--correlation", "ranks.txt", folder=folder)
        for words in (["--correlation", "-"], ["-", "--correlation"]):
            assert command_line("try", *words, stdin=text, folder=folder).stdout == from_file.stdout

    def test_the_value_of_an_option_is_no_ranking(self) -> None:
        for name in ("try", "explain"):
            assert "'--depth': -5 is not in the range" in refused(name, "--depth", "-5", "3,2")

    def test_files_are_files(self, folder: Path) -> None:
        told = "cranfield: give a run beside the judgements in qrels.txt, or a ranking typed as grades: 3,2,0/1\n"
        assert refused("explain", "qrels.txt", folder=folder) == told
        done = command_line("explain", "2024", "2025.run", folder=folder)
        assert done.exit == 3
        assert "2024: no such file" in done.stderr


REFUSED = {
    "try 1,2 2,1 --correlation -m AP": "-m does not apply to --correlation, which takes lists as they are",
    "try 1,2 --means --judged-only": "--judged-only does not apply to --means, which takes lists as they are",
    "try 1,2 --means --depth 9": "--depth does not apply to --means, which takes lists as they are",
    "try 1,2 --means --empty-topics zero": "--empty-topics does not apply to --means, which takes lists as they are",
    "try 1,2 --means --explain": "--explain is what --means does by itself: leave it out",
    "explain qrels.txt bm25.run dense.run --topic 1 --correlation --ties docid": (
        "--ties does not apply to --correlation, which is of the documents as runs score them"
    ),
    "explain qrels.txt bm25.run dense.run --topic 1 --correlation --lengths x": (
        "--lengths does not apply to --correlation, which is of the documents as runs score them"
    ),
    "evaluate qrels.txt bm25.run --digest sha256": "--digest is shown with -f json alone: add that",
    "evaluate qrels.txt bm25.run --before x": "--before is about ranks: say by which measure, as --sort nDCG@10",
    "measures nDCG --markdown": "--markdown is a page of all measures: leave out nDCG, or --markdown",
    "plan --effect 0.3 --threads 2": "--threads is for plans from data: name the judgements and the runs",
    "plan --effect 0.3 -m AP": "-m is for plans from data: name the judgements and the runs",
    "plan qrels.txt bm25.run dense.run --design paired": (
        "--design is for plans from numbers; with runs it is what the runs show"
    ),
    "search pond.toml --measure AP": "--measure is for tuning: say what to tune, as --grid k1=0.6:1.8:0.2",
    "search pond.toml --labels A=1": "--labels is for tuning: say what to tune, as --grid k1=0.6:1.8:0.2",
    "search pond.toml --grid k1=1,2 --save-best b.toml --tag x": (
        "--tag is for a run, and with --save-best alone none is made: name one with -o"
    ),
    "fuse a b --method weighted-sum --train q --save-best b.toml --name x": (
        "--name is for a run, and with --save-best alone none is made: name one with -o"
    ),
    "correlate bm25.run dense.run -m AP": (
        "-m does not apply to the documents of two runs; give --qrels to compare systems"
    ),
    "gate q a b --config c.toml --measure AP": (
        "--measure or --config, not both: thresholds are in the file or on the line"
    ),
}


@pytest.mark.parametrize(("line", "told"), REFUSED.items())
def test_what_would_not_count_is_refused(line: str, told: str, folder: Path) -> None:
    assert refused(*line.split(), folder=folder) == f"cranfield: {told}\n"


RUNS = "qrels.txt bm25.run dense.run"
DOORS = {
    "evaluate": [f"evaluate {RUNS}", f"evaluate {RUNS} --sort AP"],
    "compare": [f"compare {RUNS}"],
    "gate": [f"gate {RUNS}"],
    "diagnose": [f"diagnose {RUNS}"],
    "plot": [f"plot heatmap {RUNS} -o out.svg", f"plot pooling {RUNS} -o out.svg"],
    "report": [f"report {RUNS} -o out.md"],
    "explain": [f"explain {RUNS}", f"explain {RUNS} --topic 1", f"explain {RUNS} --topic 1 --correlation"],
}


class TestTopicSets:
    def test_every_command_with_a_set_is_here(self) -> None:
        taking = {name for name in OURS for option in options(name) if option.name == "topic_set"}
        assert taking == set(DOORS)

    @pytest.mark.parametrize("line", [line for lines in DOORS.values() for line in lines])
    def test_every_door_tells_it(self, line: str, folder: Path) -> None:
        done = command_line(*line.split(), "--topic-set", "some.txt", folder=folder)
        assert done.stderr.count(f"cranfield: note: qrels: {SET}\n") == 1, done
        assert "judged topics count" not in command_line(*line.split(), folder=folder).stderr
        assert (
            "judged topics count"
            not in command_line(*line.split(), "--topic-set", "some.txt", "--quiet", folder=folder).stderr
        )

    @pytest.mark.parametrize("format", ["csv", "json", "latex"])
    def test_whatever_the_format(self, format: str, folder: Path) -> None:
        done = command_line("compare", *RUNS.split(), "--topic-set", "some.txt", "-f", format, folder=folder)
        assert SET in done.stderr

    def test_tables_tell_it(self, folder: Path) -> None:
        said = {
            "gate": "The check cannot tell. On 3 topics of some.txt.\n",
            "diagnose": ", 3 topics of some.txt\n",
            "compare": "2 systems on 3 topics of some.txt.",
        }
        for name, text in said.items():
            assert text in command_line(name, *RUNS.split(), "--topic-set", "some.txt", folder=folder).stdout
            assert "some.txt" not in command_line(name, *RUNS.split(), folder=folder).stdout

    @pytest.mark.parametrize("name", ["evaluate", "compare", "gate", "diagnose", "explain"])
    def test_the_json_form_tells_it(self, name: str, folder: Path) -> None:
        done = command_line(name, *RUNS.split(), "--topic-set", "some.txt", "-f", "json", folder=folder)
        assert json.loads(done.stdout)["policy"]["topic_set"]["name"] == "some.txt"
