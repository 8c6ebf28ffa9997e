"""The command line as a person meets it: help, examples, exit codes, output formats, progress.

What the examples in the help print is kept in `help_examples.txt`; `make record` writes it anew.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

import click
import pytest

import cranfield
from commands import Outcome, command_line, commands
from cranfield.cli import COMMANDS, MODULES, TASKS, cli, options
from cranfield.cli.evaluate import DEFAULT_MEASURES
from cranfield.cli.measures import explained
from cranfield.evaluation.result_tables import FORMATS
from cranfield.formats.writers import writable
from cranfield.measures.measures_page import entry
from cranfield.measures.registry import Measure
from cranfield.registry import Entry, number
from cranfield.texts import PARQUET
from cranfield.texts.forms import FORMATS as TEXT_FORMATS
from places import EXAMPLES

KEPT = Path(__file__).with_name("help_examples.txt")
LONGEST = 40  # lines of output that are kept; of the rest a digest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder with the example files: some commands write beside them."""
    return copy_of_examples(tmp_path_factory.mktemp("examples"))


def copy_of_examples(folder: Path) -> Path:
    for path in EXAMPLES.iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    return folder


def cranfield_command(*arguments: str, cwd: Path = EXAMPLES) -> Outcome:
    """Runs the command in this process, in the folder with the example files."""
    return command_line(*arguments, folder=cwd)


def examples() -> list[str]:
    texts = [cli.help or "", *(command.help or "" for command in commands().values())]
    return [line.strip()[2:] for text in texts for line in text.splitlines() if line.strip().startswith("$ ")]


def examples_run() -> list[str]:
    """All but the demo, which `test_demo.py` makes once for all its tests."""
    # Those of servers are run in tests/web.
    served = ("cranfield demo", "cranfield online demo", "cranfield serve")
    return [example for example in examples() if not example.startswith(served) and "--server" not in example]


def outcome_of(example: str, folder: Path) -> tuple[str, int]:
    """What an example prints, and its exit code; times measured are not the same twice, and stand there as 0."""
    done = cranfield_command(*shlex.split(example)[1:], cwd=folder)
    lines = [line.rstrip() for line in (done.stdout + done.stderr).splitlines()]
    if "efficiency" in lines:
        at = lines.index("efficiency")
        lines[at:] = [re.sub(r" +[\d,.]+ ?(\w*)$", r" 0 \1", line).rstrip() for line in lines[at:]]
    if len(lines) > LONGEST:
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        lines = [*lines[:LONGEST], f"… {len(lines) - LONGEST} more lines, {digest[:16]} in all"]
    return "\n".join(lines), done.exit


def kept_examples() -> dict[str, str]:
    parts = re.split(r"^\$ (.+)\n", KEPT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (text.removesuffix("\n\n") for text in parts[2::2]), strict=True))


@pytest.mark.parametrize("example", examples_run())
def test_examples_in_help_print_what_they_printed(example: str, folder: Path) -> None:
    text, code = outcome_of(example, folder)
    assert code == (1 if example.startswith("cranfield check") else 0), text
    assert text == kept_examples().get(example), "if this is meant: make record, and read the diff"


def test_no_example_is_kept_that_help_does_not_have() -> None:
    assert list(kept_examples()) == list(dict.fromkeys(examples_run()))


def test_examples_of_the_demo_say_where_it_goes() -> None:
    demo = commands()["demo"]
    wanted = [shlex.split(example)[2:] for example in examples() if example.startswith("cranfield demo")]
    folders = [demo.make_context("demo", words).params["output"] for words in wanted]
    assert folders == ["cranfield-demo", "/tmp/docstrings"]


def test_every_command_and_option_has_help_and_every_command_an_example() -> None:
    assert set(commands()) == set(COMMANDS)
    for name, command in commands().items():
        assert command.help, name
        assert f"$ cranfield {name}" in command.help, name
        for parameter in command.params:
            assert not isinstance(parameter, click.Option) or parameter.help, f"{name} {parameter.name}"


def test_every_command_is_listed_once_with_its_purpose_on_one_line() -> None:
    """At the width that help is never narrower than; a word of it that is cut off helps nobody."""
    lines = command_line("--help").stdout.splitlines()
    listed = [re.split(r" {2,}", line.strip(), maxsplit=1) for line in lines if line.startswith("  ")]
    purposes = {words[0]: words[1] for words in listed if words and words[0] in COMMANDS}
    assert sorted(words[0] for words in listed if words and words[0] in COMMANDS) == list(COMMANDS)
    assert purposes == {name: text for commands in TASKS.values() for name, text in commands.items()}
    for name, text in purposes.items():
        assert text.endswith("."), name
        assert len(text) <= 59, name


@pytest.mark.parametrize("name", ["evaluate", "compare", "explain", "gate", "report", "try"])
def test_help_says_which_measures_are_taken_unless_asked(name: str) -> None:
    (option,) = [option for option in commands()[name].params if option.name == "measures"]
    taken = import_module(f"cranfield.cli.{MODULES.get(name, name)}").DEFAULT_MEASURES
    assert isinstance(option, click.Option)
    assert str(option.help).endswith(f"[default: {', '.join(taken)}]")


def test_help_of_convert_names_every_format() -> None:
    """What can be written, in the order of the registries; those of plug-ins are no part of the help."""
    text = commands()["convert"].help or ""
    lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines() if re.search(r"\S {2,}\S", line)]
    listed = {kinds: names.split(", ") for kinds, names in lines}
    assert set(listed) == {"run, qrels", "qrels", "topics, documents"}
    for kinds, of_judgements in (("run, qrels", False), ("qrels", True)):
        expected = [format.name for format in writable() if (format.only == "grade") == of_judgements]
        assert sorted(listed[kinds]) == sorted(expected)
    for kind in ("topics", "documents"):
        assert sorted(listed["topics, documents"]) == sorted({*TEXT_FORMATS[kind], PARQUET})


def test_what_neighbours_call_an_option_is_known() -> None:
    done = command_line("evaluate", "q", "r", "--metric", "AP")
    assert (done.exit, done.stderr.splitlines()[-1]) == (
        2,
        "Error: No such option '--metric'; did you mean --measure?",
    )
    assert "did you mean" not in command_line("demo", "--metric", "AP").stderr  # which has none


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ("evaluate q r -m nDCG10", "unknown measure 'nDCG10'; did you mean nDCG@10?"),
        ("evaluate q r -m map_10", "unknown measure 'map_10'; did you mean AP@10?"),
        ("evaluate q r --format jsonll", "'trec'; did you mean jsonl?"),
        ("evaluate q r --judgements subtopic", "'preferences'; did you mean subtopics?"),
        ("evaluate q r --judgements zzz", "'preferences'."),
        ("gate q a b --tolerance 1%", "'1%' is not a number: this option takes no percent."),
        ("gate q a b --tolerance 1_0", "'1_0' is not a number: digits are 0 to 9, with nothing between them."),
        ("plot heatmap q r", "where to? Add the file to write, as -o heatmap.svg"),
        ("plot heatmap", "what is to be drawn? cranfield plot heatmap QRELS RUN... -o heatmap.svg"),
    ],
)
def test_remedies_are_those_that_help(arguments: str, told: str) -> None:
    done = command_line(*(str(EXAMPLES / file) if (file := FILES.get(word)) else word for word in arguments.split()))
    assert done.exit == 2
    assert done.stderr.rstrip("\n").endswith(told)


FILES = {"q": "qrels.txt", "r": "bm25.run", "a": "bm25.run", "b": "dense.run"}


def test_an_unknown_format_or_kind_is_told_with_the_nearest() -> None:
    for option in ("--to", "--from"):
        done = command_line("convert", EXAMPLES / "bm25.run", "-o", "-", "--kind", "run", option, "jsonll")
        assert (done.exit, done.stderr.rstrip("\n").endswith("; did you mean jsonl?")) == (2, True)
    with pytest.raises(cranfield.UsageError, match=r"there are plain, .*; did you mean subtopics\?$"):
        cranfield.read_qrels(EXAMPLES / "qrels.txt", reading=cranfield.Reading(judgements="subtopic"))


def test_coefficients_are_listed_as_tests_are() -> None:
    listed = command_line("correlate", "-c", "list")
    assert listed.exit == 0
    assert listed.stdout == command_line("correlate", "--list").stdout
    assert listed.stdout.startswith("spearman: ")


def test_lists_show_parameters() -> None:
    entry = Entry(
        name="trimmed",
        function=max,
        parameters={
            "share": number("the share left out", 0, 0.5)._replace(default=0.1),
            "from_": number("where it begins", 0, 1),
        },
    )
    assert options.parameter_lines(entry) == [
        "    share: the share left out (a number from 0 to 0.5) [default: 0.1]",
        "    from: where it begins (a number from 0 to 1)",
    ]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_two_options_of_a_command_are_called_the_same(name: str) -> None:
    """A parameter of a model becomes an option of `search`, beside those that it has."""
    called = Counter(word for option in commands()[name].params for word in (*option.opts, *option.secondary_opts))
    assert {word for word, times in called.items() if times > 1} == set()


@pytest.mark.parametrize(
    ("name", "told"),
    [("evalute", "There is no command 'evalute'; did you mean evaluate?"), ("xyz", "There is no command 'xyz'.")],
)
def test_a_command_that_does_not_exist_is_told_with_the_nearest(name: str, told: str) -> None:
    done = command_line(name, "qrels.txt")
    assert (done.exit, done.stdout) == (2, "")
    assert told in done.stderr


@pytest.mark.parametrize("module", sorted(path.stem for path in Path(cranfield.__file__).parent.glob("cli/*.py")))
def test_every_command_module_is_listed(module: str) -> None:
    others = ("__init__", "elsewhere", "given", "measure_names", "options", "progress", "stopping", "streams", "typed")
    shared = ("judging_screen", "keys", "projects", "simulated")  # by commands of judging, and of simulated users
    assert module in (*COMMANDS, *MODULES.values(), *others, *shared)


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (0, "evaluate qrels.txt bm25.run"),
        (2, "evaluate qrels.txt bm25.run -m nope"),
        (2, "evaluate qrels.txt"),
        (2, "evaluate qrels.txt bm25.run --depth 0"),
        (3, "evaluate qrels.txt missing.run"),
        (3, "evaluate bm25.run qrels.txt"),
        (0, "check qrels.txt"),
        (2, "nope"),
    ],
)
def test_exit_codes(code: int, arguments: str) -> None:
    assert cranfield_command(*arguments.split()).exit == code


@pytest.mark.parametrize(("code", "arguments"), [(0, "--version"), (2, "nope"), (3, "check missing")])
def test_exit_codes_reach_the_shell(code: int, arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "cranfield", *arguments.split()], capture_output=True, check=False)
    assert done.returncode == code


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("per_topic", [False, True])
def test_every_format_shows_every_number(format: str, per_topic: bool) -> None:
    arguments = ["evaluate", "qrels.txt", "bm25.run", "dense.run", "-m", "AP", "-m", "P@5", "-f", format]
    done = cranfield_command(*arguments, *(["-q"] if per_topic else []))
    assert done.exit == 0, done.stderr
    results = cranfield.evaluate(EXAMPLES / "qrels.txt", [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"], ["AP", "P@5"])
    wanted = results.means.ravel().tolist()
    if per_topic:
        wanted += results.scores.ravel().tolist()
    numbers = [float(number) for number in re.findall(r"(?<![\w.])\d+\.\d+", done.stdout)]
    for value in wanted:
        assert any(abs(number - value) < 5.1e-5 for number in numbers), value


def test_json_form_is_as_documented() -> None:
    done = cranfield_command("evaluate", "qrels.txt", "bm25.run", "-m", "AP", "-m", "nDCG@10", "-f", "json", "-q")
    document = json.loads(done.stdout)
    assert list(document) == ["schema", "version", "policy", "inputs", "measures", "better", "runs", "warnings"]
    assert document["schema"] == "cranfield.evaluate/1"
    assert document["version"] == cranfield.__version__
    assert document["policy"]["ties"] == "docid"
    assert document["measures"] == ["AP", "nDCG@10"]
    assert [entry["path"] for entry in document["inputs"]] == ["qrels.txt", "bm25.run"]
    assert [(entry["rows"], entry["topics"]) for entry in document["inputs"]] == [(147, 6), (120, 6)]
    assert all(entry["digest"].startswith("xxh3_128:") for entry in document["inputs"])
    results = cranfield.evaluate(EXAMPLES / "qrels.txt", EXAMPLES / "bm25.run", ["AP", "nDCG@10"])
    (run,) = document["runs"]
    assert run["name"] == "bm25"
    assert run["mean"] == results.mean()["bm25"]
    assert run["topics"] == results.per_topic()["bm25"]
    without = json.loads(cranfield_command("evaluate", "qrels.txt", "bm25.run", "-f", "json").stdout)
    assert "topics" not in without["runs"][0]


def test_digest_is_that_of_the_stored_bytes(tmp_path: Path) -> None:
    import gzip

    packed = tmp_path / "bm25.run.gz"
    packed.write_bytes(gzip.compress((EXAMPLES / "bm25.run").read_bytes()))
    done = cranfield_command("evaluate", "qrels.txt", str(packed), "-f", "json", "--digest", "sha256")
    digests = [entry["digest"] for entry in json.loads(done.stdout)["inputs"]]
    assert digests[1] == f"sha256:{hashlib.sha256(packed.read_bytes()).hexdigest()}"


def test_unknown_digest_is_refused_with_the_known_ones() -> None:
    done = cranfield_command("evaluate", "qrels.txt", "bm25.run", "-f", "json", "--digest", "sha257")
    assert done.exit == 2
    assert "sha256" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("format", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_csv_has_full_precision_one_row_a_topic_and_the_mean(format: str, delimiter: str) -> None:
    done = cranfield_command("evaluate", "qrels.txt", "bm25.run", "dense.run", "-m", "AP", "-f", format, "-q")
    rows = list(csv.DictReader(io.StringIO(done.stdout), delimiter=delimiter))
    results = cranfield.evaluate(EXAMPLES / "qrels.txt", [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"], "AP")
    expected = [
        (run, topic, value)
        for run, scores, mean in zip(results.runs, results.scores[:, 0].tolist(), results.means[:, 0], strict=True)
        for topic, value in zip((*results.topics, "all"), (*scores, mean), strict=True)
    ]
    assert [(row["run"], row["topic"], float(row["AP"])) for row in rows] == expected


def test_warnings_go_to_standard_error_and_results_to_standard_output(tmp_path: Path) -> None:
    run = tmp_path / "short.run"
    run.write_text("1 Q0 D001 1 2.0 x\n")
    done = cranfield_command("evaluate", "qrels.txt", str(run), "-m", "AP")
    assert "no answer to 5 judged topics" in done.stderr
    assert done.stdout.splitlines()[0].split() == ["run", "AP"]


def test_standard_input_can_be_read_once() -> None:
    text = (EXAMPLES / "bm25.run").read_text()
    command = [sys.executable, "-m", "cranfield", "evaluate", "qrels.txt", "-", "-m", "AP"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=EXAMPLES, check=True)
    assert "0.4739" in done.stdout
    twice = subprocess.run([*command, "-"], input=text, capture_output=True, text=True, cwd=EXAMPLES, check=False)
    assert twice.returncode == 3
    assert "standard input" in twice.stderr


def test_measures_lists_all_and_explains_one() -> None:
    listing = cranfield_command("measures").stdout
    for measure in cranfield.measures.all_measures():
        assert measure.name in listing
        explained = cranfield_command("measures", measure.name) if measure.name in ("AP", "IPrec") else None
        if explained is not None:
            assert measure.definition.part("Formula") in explained.stdout
            assert measure.definition.part("Reference")[:40] in explained.stdout
    assert cranfield_command("measures", "nope").exit == 2


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("kappa", "`cranfield agreement --help`"),
        ("spearman", "`cranfield correlate --coefficient spearman`"),
        ("kendall", "`cranfield correlate --coefficient kendall`"),
        ("pooling", "`cranfield pool --help`"),
        ("bonferroni", "`cranfield compare --correction bonferroni`"),
        ("t-test", "`cranfield compare --test t`"),
        ("Wilcoxon", "`cranfield compare --test wilcoxon`"),
        ("CombSUM", "`cranfield fuse --method combsum`"),
        ("bm25", "`cranfield search --model bm25`"),
        ("gate", "`cranfield gate --help`"),
    ],
)
def test_what_is_no_measure_but_something_else_is_shown_elsewhere(name: str, shown: str) -> None:
    called = cranfield_command("measures", name)
    assert (called.exit, called.stdout) == (2, "")
    assert called.stderr == f"cranfield: no measure is called '{name}'; see {shown}\n"
    *command, last = shown.strip("`").split()[1:]
    if command[1:]:
        assert command[1] in cranfield_command(command[0], "--help").stdout
        assert last


@pytest.mark.parametrize("name", ["nope", "recal", "R-Precision", "nDGC", "AP(foo=1)", "the", "-"])
def test_what_is_nowhere_else_is_an_unknown_measure(name: str) -> None:
    assert "see `" not in cranfield_command("measures", name).stderr


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("IDCG", "IdealDCG[@k]"),
        ("mean reciprocal rank", "RR[@k]"),
        ("ExpectedSearchLength", "ESL"),
        ("F2", "F(beta=2)@k"),
        ("GMAP", "GMAP[@k]"),
    ],
)
def test_a_measure_is_shown_by_what_lectures_call_it(name: str, head: str) -> None:
    assert cranfield_command("measures", name).stdout.splitlines()[0] == head


def test_a_measure_with_an_average_of_its_own_says_how_topics_become_one_number() -> None:
    for name, average in (("GMAP", "geometric mean: the n-th root of Π x"), ("HMAP", "harmonic mean: n / Σ (1 / x)")):
        assert f"Average     over topics the {average}" in cranfield_command("measures", name).stdout
    assert "Average " not in cranfield_command("measures", "AP").stdout


@pytest.mark.parametrize(
    "measure", list(cranfield.measures.all_measures()), ids=lambda measure: measure.definition.name
)
def test_what_is_told_of_a_measure_is_whole(measure: cranfield.Measure) -> None:
    """No word of it is lost or broken at the end of a line."""
    definition = measure.definition
    told = cranfield_command("measures", definition.name).stdout.split()
    for label in ("Formula", "Reference"):
        words = definition.part(label).split()
        start = told.index(label) + 1
        assert told[start : start + len(words)] == words
    assert " ".join(definition.description.split()) in " ".join(told)


def test_a_measure_without_formula_or_reference_has_no_empty_headings() -> None:
    """One of one's own, with a docstring of a line."""

    def halved() -> None:
        """The reciprocal rank, halved."""

    measure = Measure(cranfield.measures.RR.definition.replaced(function=halved), "HalfRR")
    told, page = explained(measure), entry(measure)
    assert "The reciprocal rank, halved." in told
    assert "The reciprocal rank, halved." in page
    for heading in ("Formula", "Reference"):
        assert heading not in told
        assert heading not in page


def test_check_names_what_is_odd(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 0 a 0.5\n1 0 b -1\n1 0 c 2\n2 0 a 1\n3 0 a 0\n")
    run.write_text("1 Q0 a 1 3 x\n1 Q0 c 2 3 x\n1 Q0 c 2 3 x\n1 Q0 d 4 4 y\n9 Q0 a 1 1 x\n")
    done = cranfield_command("check", str(qrels), str(run))
    assert done.exit == 1
    for code in (
        "no-relevant", "fractional-grades", "negative-grades", "duplicates-collapsed", "several-tags",
        "missing-topics", "extra-topics", "rank-disagreement", "ties", "unjudged",
    ):  # fmt: skip
        assert code in done.stdout, code


def test_help_says_what_is_measured_unless_asked() -> None:
    *most, last = DEFAULT_MEASURES
    assert f"Without -m the measures are {', '.join(most)} and {last};" in (commands()["evaluate"].help or "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize(
    ("measure", "judgements", "told"),
    [
        ("AP", "1 0 x one\n", ":1: grade 'one' is not a number"),
        ("AP", "1 a x 1\n1 b x 0\n", ":2: document 'x' is given a second grade"),
        ("StRecall@5", "1 a x 1\n1 b x 0\n", ""),
        ("StRecall@5", "1 a x 1\n1 b y 1\n", ""),
    ],
)
def test_pipes_are_read_once(measure: str, judgements: str, told: str, tmp_path: Path) -> None:
    """A second reading of a pipe would find nothing, or wait for ever."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    for path in (qrels, run):
        os.mkfifo(path)
    command = [sys.executable, "-m", "cranfield", "evaluate", str(qrels), str(run), "-m", measure, "-f", "csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        qrels.write_text(judgements)
        if not told:
            run.write_text("1 Q0 x 1 3 t\n")
        try:
            out, errors = started.communicate(timeout=60)
        finally:
            started.kill()
    assert (started.returncode, told in errors) == (3 if told else 0, True), errors
    assert out.endswith("" if told else f"run,{1.0 if ' y ' not in judgements else 0.5}\n")
    piped = subprocess.run(
        [*command[:4], "-", "bm25.run", *command[6:]],
        input=judgements, capture_output=True, text=True, check=False, cwd=EXAMPLES,
    )  # fmt: skip
    assert (piped.returncode, told in piped.stderr) == (3 if told else 0, True), piped.stderr


def test_check_takes_every_kind_of_judgements(tmp_path: Path) -> None:
    """Judgements that `evaluate` reads with --judgements can be checked too."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("1 a x 1\n1 b x 0\n")
    run.write_text("1 Q0 x 1 3 t\n")
    plain = cranfield_command("check", str(qrels), str(run))
    assert plain.exit == 3
    assert "--judgements subtopics" in plain.stderr
    grouped = cranfield_command("check", str(qrels), str(run), "--judgements", "subtopics")
    assert (grouped.exit, grouped.stderr) == (0, "")
    assert "unjudged documents by depth: 0.0% at 1" in grouped.stdout


def test_output_to_a_closed_pipe_is_quiet() -> None:
    command = f"{shlex.quote(sys.executable)} -m cranfield measures | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("arguments", [["measures"], ["fuse", "bm25.run", "dense.run"]])
def test_output_that_cannot_be_written_is_told(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "cranfield", *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, cwd=EXAMPLES)
    assert done.returncode == 3
    assert done.stderr == "cranfield: standard output cannot be written: No space left on device\n"


def test_modules_can_be_reached_from_the_package() -> None:
    code = "import cranfield; print(cranfield.measures.AP, hasattr(cranfield, 'nothing'), hasattr(cranfield, '_no'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "AP False False\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_closed_stream_is_no_error(closed: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m cranfield evaluate qrels.txt bm25.run -m AP {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, cwd=EXAMPLES)
    assert (done.returncode, "Traceback" in done.stdout + done.stderr) == (0, False)


@pytest.mark.parametrize("arguments", [["search", "no.toml"], ["fuse", "no.run", "nor.run"]])
def test_where_output_goes_is_looked_at_before_the_work(arguments: list[str], tmp_path: Path) -> None:
    for place, told in (("no folder/x.run", "there is no folder no folder"), (str(tmp_path), "it is a folder")):
        done = cranfield_command(*arguments, "-o", place)
        assert (done.exit, done.stderr) == (3, f"cranfield: {place}: cannot be written: {told}\n")


def test_progress_bar_shows_only_on_a_terminal_and_only_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """A real pseudo-terminal, with the patience cut short so that the example is slow enough."""
    code = (
        "import time, cranfield.cli.progress as p\n"
        "p.PATIENCE = 0.01\n"
        "with p.watched('reading') as progress: time.sleep(0.6)\n"
    )
    monkeypatch.setenv("TERM", "xterm")
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True)
    os.close(theirs)
    assert b"reading" in os.read(ours, 65536)
    os.close(ours)
    silent = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert silent.stderr == b""


def keep_examples() -> None:
    """Writes what the examples print now."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        copy_of_examples(Path(folder))
        texts = [
            f"$ {example}\n{outcome_of(example, Path(folder))[0]}\n\n" for example in dict.fromkeys(examples_run())
        ]
    KEPT.write_text("".join(texts), encoding="utf-8")


if __name__ == "__main__":
    keep_examples()
