"""Nothing lost, nothing crashed: outputs that are inputs, signals, closed streams, texts that expand, deep nesting."""

from __future__ import annotations

import ast
import bz2
import gzip
import inspect
import json
import lzma
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import cranfield
from commands import OF_THE_SERVER, command_line
from cranfield import DataError, UsageError
from cranfield.cli import COMMANDS, cli, plain_numbers
from cranfield.cli.options import OutputFile
from cranfield.errors import ArgumentError
from cranfield.evaluation.experiment import Experiment
from cranfield.formats import touched, unpacking
from cranfield.formats.output import check_place, save
from cranfield.formats.reading import Reading
from places import EXAMPLES

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKAGE = Path(cranfield.__file__).parent


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The example files, and what else commands read, in a folder to stand in."""
    for path in EXAMPLES.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    (tmp_path / "gate.toml").write_text('[measures."AP"]\ntolerance = 0.5\n')
    (tmp_path / "collections.toml").write_text(
        '[all]\nqrels = "qrels.txt"\n[all.runs]\nb = "bm25.run"\nd = "dense.run"\n'
    )
    (tmp_path / "slices.csv").write_text("topic,kind\n1,a\n2,b\n")
    (tmp_path / "costs.csv").write_text("run,cost\nbm25,1\ndense,2\n")
    (tmp_path / "plan.csv").write_text("run,depth\nbm25,5\ndense,5\n")
    (tmp_path / "groups.csv").write_text("run,group\nbm25,x\ndense,y\n")
    (tmp_path / "topics.list").write_text("1\n2\n3\n")
    (tmp_path / "asked.jsonl").write_text('{"query_id": "q", "rankings": [["a", "b"], ["b"]]}\n')
    (tmp_path / "stop.txt").write_text("the\n")
    (tmp_path / "headers").write_text("X-Key: open\n")
    (tmp_path / "body.json").write_text('{"query": {"multi_match": {"query": {query}}}, "size": {depth}}')
    (tmp_path / "scales.toml").write_text('[trust]\nitems = ["satisfaction"]\n')
    splits = {"folds": [{"train": ["1", "2", "3"], "test": ["4", "5", "6"]}]}
    (tmp_path / "splits.json").write_text(json.dumps(splits))
    monkeypatch.chdir(tmp_path)
    return tmp_path


READ_NOTHING = {"demo", "online demo", "online prove", "measures", *OF_THE_SERVER}

# Command lines that read: what each option that writes is tried with. {} is where such an option goes.
LINES: dict[str, list[str]] = {
    "agreement": ["judges.txt --run bm25.run --run dense.run"],
    "check": ["qrels.txt bm25.run"],
    "compare": [
        "qrels.txt bm25.run dense.run --splits splits.json --tuned-on topics.list -m AP",
        "--collections collections.toml -m AP",
    ],
    "convert": ["bm25.run", "qrels.txt", "pond-documents.jsonl --kind documents", "pond-topics.tsv --kind topics"],
    "correlate": ["--qrels qrels.txt bm25.run dense.run --topic-set topics.list", "bm25.run --reproduced dense.run"],
    "demo": [""],
    "describe": ["qrels.txt bm25.run"],
    "diagnose": ["qrels.txt bm25.run dense.run --slices slices.csv"],
    "evaluate": ["qrels.txt bm25.run dense.run"],
    "explain": ["qrels.txt bm25.run --topic 1"],
    "fuse": ["bm25.run dense.run --method weighted-sum --train qrels.txt --splits splits.json"],
    "gate": ["qrels.txt bm25.run dense.run --config gate.toml"],
    "judge": ["pond.pool --release --events pond-ann.events --events pond-bob.events"],
    "measures": [""],
    "online analyse": ["impressions.jsonl events.jsonl assignments.csv covariates.csv --trial experiment.toml"],
    "online audit": ["team-draft --length 2"],
    "online check": ["impressions.jsonl events.jsonl --trial experiment.toml"],
    "online import": ["yandex yandex.tsv"],
    "online interleave": ["bm25.run dense.run --users topics.list", "--rankings asked.jsonl"],
    "online preferences": ["shown.jsonl clicked.jsonl"],
    "online demo": ["--users 100"],
    "online simulate": ["qrels.txt bm25.run dense.run --users 20"],
    "online rehearse": ["qrels.txt bm25.run dense.run --users 50"],
    "online link": ["qrels.txt bm25.run dense.run"],
    "online prove": ["d --short"],
    "online clicks": [
        "clicks.jsonl --resamples 0 --run bm25.run --draws 2",
        "clicks.jsonl --resamples 0 --topics lake-topics.tsv",
    ],
    "online sessions": ["qrels.txt sessions.jsonl"],
    "online plan": ["impressions.jsonl events.jsonl covariates.csv --trial experiment.toml --effect 0.2"],
    "online trials": ["experiment.toml"],
    "plan": ["qrels.txt bm25.run dense.run"],
    "plot": ["pareto qrels.txt bm25.run dense.run --costs costs.csv"],
    "pool": [
        "bm25.run dense.run --judged qrels.txt --plan plan.csv",
        "bm25.run dense.run --method stratified",
        "--simulate qrels.txt bm25.run dense.run --method depth --budget 5",
        "--fill qrels.txt --strata pond.qrels",
    ],
    "probe": [
        "http://localhost:9200/pond --topics pond-topics.tsv --expect pond-items.txt --header-file headers --rate 5000",
        "http://localhost:9200/pond --topics pond-topics.tsv --body body.json --rate 5000",
    ],
    "report": ["qrels.txt bm25.run dense.run -m AP"],
    "search": [
        "pond.toml --stop-words stop.txt --repeats 1",
        "pond.toml --grid k1=0.6,1.2 --tune pond.qrels --splits splits.json",
        "pond.toml --parameters best.toml --repeats 1",
    ],
    "split": ["qrels.txt --stratify bm25.run"],
    "study compare": ["study.csv --scale satisfaction", "study.csv --scale trust --scales scales.toml"],
    "study correlate": ["study.csv qrels.txt bm25.run dense.run --scale satisfaction"],
    "study plan": ["--systems A,B --participants 2 --topics topics.list"],
    "study score": ["study.csv --scale sus", "study.csv --scale trust --scales scales.toml"],
    "trec_eval": ["qrels.txt bm25.run"],
    "try": ["--correlation costs.csv"],
}
# What a line reads that it does not name.
BESIDE = {
    "pond.toml": ["pond-documents.jsonl", "pond-topics.tsv", "pond.qrels"],
    "collections.toml": ["qrels.txt", "bm25.run", "dense.run"],
}
SUFFIXES = {
    ("online analyse", "output"): ".html",
    ("plot", "output"): ".svg",
    ("report", "output"): ".html",
    ("pool", "picture"): ".svg",
}


def commands() -> dict[str, click.Command]:
    context = click.Context(cli)
    return {name: command for name in COMMANDS if (command := cli.get_command(context, name)) is not None}


def writers() -> list[tuple[str, str]]:
    """Every option that writes a file, as its type says."""
    return [
        (name, str(parameter.name))
        for name, command in commands().items()
        for parameter in command.params
        if isinstance(parameter.type, OutputFile)
    ]


def option_of(name: str, parameter: str) -> str:
    return next(each.opts[-1] for each in commands()[name].params if each.name == parameter)


def inputs_of(line: str) -> list[str]:
    named = [word for word in line.split() if os.path.isfile(word)]
    return list(dict.fromkeys([*named, *(beside for word in named for beside in BESIDE.get(word, []))]))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def linked(folder: Path, source: str, suffix: str, how: str) -> str:
    """Another name of a file, ending as the command wants it."""
    if how == "itself" and source.endswith(suffix):
        return f"./{source}"
    name = f"other{suffix}"
    (os.link if how != "symbolic link" else os.symlink)(folder / source, folder / name)
    return name


class TestOutputsThatAreInputs:
    def test_every_command_is_walked(self) -> None:
        assert set(LINES) == set(COMMANDS) - OF_THE_SERVER
        assert ("convert", "output") in writers()
        assert ("compare", "ledger") in writers()
        assert ("gate", "summary") in writers()
        assert len(writers()) >= 13

    @pytest.mark.parametrize("how", ["itself", "hard link", "symbolic link"])
    @pytest.mark.parametrize(("name", "parameter"), writers(), ids=lambda value: str(value))
    def test_an_output_that_is_an_input_is_refused(self, name: str, parameter: str, how: str, folder: Path) -> None:
        suffix = SUFFIXES.get((name, parameter), "")
        tried = 0
        for line in LINES[name]:
            for source in inputs_of(line):
                if how == "itself" and suffix:
                    continue  # no input ends so, but a link to it may
                if (name, parameter) == ("search", "index_file"):
                    continue  # what is there is read as an index, never written
                place = linked(folder, source, suffix, how)
                before = contents(folder)
                outcome = command_line(name, *line.split(), option_of(name, parameter), place)
                if f"{option_of(name, parameter)} is not for" in outcome.stderr:  # pool has several ways of its own
                    pass
                else:
                    assert outcome.exit == 2, (line, source, outcome)
                    assert f"{place} is also read" in outcome.stderr, (line, source, outcome.stderr)
                    assert "Nothing was changed" in outcome.stderr
                    tried += 1
                assert contents(folder) == before, (line, source)
                if place.startswith("other"):
                    (folder / place).unlink()
        skipped = (how == "itself" and suffix) or (name, parameter) in (
            ("search", "index_file"),
            ("demo", "output"),
            ("online demo", "output"),
        )
        assert tried or skipped, "no line of this command uses the option"

    @pytest.mark.parametrize("name", sorted(set(COMMANDS) - OF_THE_SERVER))
    def test_every_option_that_writes_is_declared(self, name: str, folder: Path) -> None:
        """An option of free text that makes a new file without being an OutputFile has been forgotten."""
        if name in ("demo", "online demo"):
            return  # its only option is declared
        for parameter in commands()[name].params:
            free = isinstance(parameter, click.Option) and isinstance(parameter.type, click.types.StringParamType)
            if not free or parameter.name in ("method", "methods"):
                continue
            for line in LINES[name][: 1 if name == "search" else None]:
                output = ["-o", "-"] if name == "convert" else ["-o", "made.html"] if name == "report" else []
                if name == "plot":
                    output = ["-o", "made.svg"]
                command_line(name, *line.split(), *output, parameter.opts[-1], "fresh.file")
                fresh = [path.name for path in folder.iterdir() if path.name.startswith("fresh.file")]
                assert not fresh, f"{name} {parameter.opts[-1]} writes"

    def test_two_outputs_are_two_files(self, folder: Path) -> None:
        line = [
            "fuse",
            "bm25.run",
            "dense.run",
            "--method",
            "weighted-sum",
            "--train",
            "qrels.txt",
            "--learnt",
            "x",
            "-o",
            "./x",
        ]
        outcome = command_line(*line)
        assert (outcome.exit, "--learnt and --output name one file" in outcome.stderr) == (2, True), outcome
        assert not (folder / "x").exists()
        outcome = command_line("search", "pond.toml", "-o", "x", "--index", "x.metadata.json")
        assert outcome.exit == 2
        assert "--index and the run's metadata name one file" in outcome.stderr
        assert not (folder / "x").exists()

    def test_the_same_file_may_be_written_again(self, folder: Path) -> None:
        for _ in range(2):
            assert command_line("fuse", "bm25.run", "dense.run", "-o", "fused.run", "--name", "fused.run").exit == 0
            assert command_line("search", "pond.toml", "--index", "pond.index", "-o", "pond.run").exit == 0
            ledger = command_line("compare", "qrels.txt", "bm25.run", "dense.run", "--ledger", "ledger.jsonl")
            assert ledger.exit == 0, ledger
        assert len((folder / "ledger.jsonl").read_text().splitlines()) == 2

    def test_outside_a_command_a_file_is_read_and_written_again(self, folder: Path) -> None:
        for _ in range(2):
            cranfield.write_run(cranfield.read_run("bm25.run"), "bm25.run", format="trec")

    def test_standard_streams_are_files_too(self, folder: Path) -> None:
        before = (folder / "bm25.run").read_bytes()
        command = [sys.executable, "-m", "cranfield", "evaluate", "qrels.txt", "bm25.run"]
        with open("bm25.run", "ab") as appended:
            done = subprocess.run(command, stdout=appended, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, b"standard output is also read (as bm25.run)" in done.stderr) == (2, True)
        command = [sys.executable, "-m", "cranfield", "convert", "-", "--kind", "run", "-o", "bm25.run"]
        with open("bm25.run", "rb") as given:
            done = subprocess.run(command, stdin=given, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, b"bm25.run is also read (as standard input)" in done.stderr) == (2, True)
        assert (folder / "bm25.run").read_bytes() == before

    def test_derived_outputs_are_refused(self, folder: Path) -> None:
        (folder / "sample.strata").write_bytes((folder / "bm25.run").read_bytes())
        before = contents(folder)
        line = ["pool", "sample.strata", "dense.run", "--method", "stratified", "-o", "sample"]
        outcome = command_line(*line)
        assert (outcome.exit, "sample.strata is also read" in outcome.stderr) == (2, True), outcome
        assert contents(folder) == before

    def test_a_folder_is_not_converted_onto_itself(self, folder: Path) -> None:
        pond = folder / "pond"
        pond.mkdir()
        shutil.copy("pond-documents.jsonl", pond / "corpus.jsonl")
        shutil.copy("pond-topics.tsv", pond / "queries.tsv")
        before = contents(folder)
        (folder / "link").symlink_to(pond)
        outcome = command_line("convert", "pond", "-o", "link")
        assert (outcome.exit, "is the collection itself" in outcome.stderr) == (2, True), outcome
        assert {name: text for name, text in contents(folder).items() if not name.startswith("link")} == before

    def test_what_a_search_writes_is_no_part_of_its_collection(self, folder: Path) -> None:
        pond = folder / "pond"
        (pond / "documents").mkdir(parents=True)
        shutil.copy("pond-documents.jsonl", pond / "documents" / "all.jsonl")
        shutil.copy("pond-topics.tsv", pond / "queries.tsv")
        for place in ("documents/", ""):
            for _ in range(2):
                line = ["search", "pond", "--index", f"pond/{place}x.index", "-o", f"pond/{place}x.run"]
                outcome = command_line(*line)
                assert outcome.exit == 0, outcome
        whole = cranfield.texts.collection.read_collection(pond)
        assert whole.documents is not None
        assert len(whole.documents) == 12
        assert len(cranfield.texts.read_documents(pond / "documents")) == 12

    def test_every_file_is_opened_in_one_place(self) -> None:
        """A file that is opened elsewhere would not be known to be an input or an output."""
        allowed = {
            ("formats/sources.py", "open"),
            ("formats/output.py", "open"),
            ("judging/event_log.py", "open"),  # after touched.writes: a log is read and added to
            ("cli/__init__.py", "open"),  # the place for what --quiet does not tell
            ("search/index.py", "open"),  # what whole_file gives
            ("search/index.py", "load"),  # after touched.reads
            ("registry.py", "open"),  # modules of a room
            ("efficiency/timing.py", "open"),  # what the system tells of itself
            ("report/page_pdf.py", "read_bytes"),  # of a temporary folder
            ("report/page_pdf.py", "write_bytes"),
            ("texts/document_store.py", "open"),  # what whole_file gives, and stores after touched.reads
            ("learning/features.py", "open"),  # what whole_file gives
            ("learning/features.py", "load"),  # after touched.reads
            ("learning/features.py", "read_text"),
            ("spark/piece_texts.py", "open"),  # pieces of runs, in tasks; the files were opened by the driver before
            ("spark/file_tasks.py", "open"),  # whether a worker sees a file
            ("spark/telling.py", "open"),
        }
        found = set()
        # The server writes into its own folder alone, under names of its own; tests/web is about that.
        for path in (path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] != "web"):
            for node in ast.walk(ast.parse(path.read_text())):
                if not isinstance(node, ast.Call):
                    continue
                on = node.func.value if isinstance(node.func, ast.Attribute) else None
                named = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
                whole = named in ("read_text", "read_bytes", "write_text", "write_bytes") and on is not None
                base = on.id if isinstance(on, ast.Name) else ""
                opens = (named == "open" and (on is None or base in ("io", "os"))) or (named, base) == ("load", "np")
                if (whole and "files(" not in ast.unparse(node)) or opens:
                    found.add((str(path.relative_to(PACKAGE)), named))
        assert found <= allowed


class TestWriting:
    def test_threads_may_write_one_path(self, tmp_path: Path) -> None:
        failed: list[BaseException] = []
        start = threading.Barrier(8)

        def write(text: str) -> None:
            start.wait()
            try:
                for _ in range(20):
                    save(tmp_path / "x.txt", [text] * 50)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcdefgh"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        assert len(set((tmp_path / "x.txt").read_text())) == 1
        assert [path.name for path in tmp_path.iterdir()] == ["x.txt"]

    def test_the_longest_name_can_be_written(self, tmp_path: Path) -> None:
        save(tmp_path / ("é" * 127), ["x"])
        assert (tmp_path / ("é" * 127)).read_text() == "x"

    def test_faults_on_the_way_leave_nothing(self, tmp_path: Path) -> None:
        def half() -> Iterator[str]:
            yield "half"
            assert len(list(tmp_path.iterdir())) == 1
            raise RuntimeError

        with pytest.raises(RuntimeError):
            save(tmp_path / "x", half())
        assert list(tmp_path.iterdir()) == []

    def test_names_with_a_nul_are_told(self) -> None:
        for call in (
            lambda: save("a\0b", ["x"]),
            lambda: check_place("a\0b", "-o"),
            lambda: cranfield.read_run("a\0b"),
        ):
            with pytest.raises(DataError, match="NUL"):
                call()


class TestStopping:
    """Interrupted is 130, terminated 143; no traceback, and no half-written file."""

    @pytest.fixture
    def slow(self, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
        """A command that waits for its second input, having begun to write the output."""
        code = (
            "import sys\n"
            "from cranfield import cli\n"
            "from cranfield.formats import output\n"
            "def work():\n"
            "    def forever():\n"
            "        yield 'half'\n"
            "        print('begun', flush=True)\n"
            "        sys.stdin.read()\n"
            f"    output.save({str(tmp_path / 'out.txt')!r}, forever())\n"
            "cli.main = work\n"
            "cli.entry()\n"
        )
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen([sys.executable, "-c", code], **pipes) as started:
            assert started.stdout is not None
            assert started.stdout.readline() == b"begun\n"
            yield started

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_during_work(self, number: signal.Signals, slow: subprocess.Popen[bytes], tmp_path: Path) -> None:
        assert len(list(tmp_path.iterdir())) == 1
        slow.send_signal(number)
        _, told = slow.communicate(timeout=30)
        assert slow.returncode == 128 + number
        assert told == b"cranfield: interrupted, nothing half written is left\n"
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_while_the_core_computes(self, number: signal.Signals, folder: Path) -> None:
        """The core does not look at signals: somebody else must."""
        code = (
            "import signal, sys\n"
            "from cranfield import cli\n"
            "from cranfield.cli import stopping\n"
            "stopping.PATIENCE = 0.1\n"
            "def work():\n"
            "    print('begun', flush=True)\n"
            "    for each in (signal.SIGINT, signal.SIGTERM):\n"
            "        signal.signal(each, lambda *_: None)  # as if it were never heard\n"
            "    sys.stdin.read()\n"
            "cli.main = work\n"
            "cli.entry()\n"
        )
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen([sys.executable, "-c", code], **pipes) as started:
            assert started.stdout is not None
            assert started.stdout.readline() == b"begun\n"
            time.sleep(0.2)
            started.send_signal(number)
            assert started.wait(timeout=30) == 128 + number

    def test_during_imports(self) -> None:
        """`python -m cranfield`, interrupted while its libraries load."""
        code = (
            "import builtins, signal, sys\n"
            "real = builtins.__import__\n"
            "def interrupted(name, *rest):\n"
            "    if name == 'click':\n"
            "        signal.raise_signal(signal.SIGINT)\n"
            "    return real(name, *rest)\n"
            "builtins.__import__ = interrupted\n"
            "sys.argv = ['cranfield', '--help']\n"
            "import cranfield.__main__\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
        assert (done.returncode, done.stderr, done.stdout) == (130, b"", b"")

    def test_what_was_just_written_is_not_written_over(self, tmp_path: Path) -> None:
        place = tmp_path / "made.txt"
        place.write_text("made")
        with touched.one_command():
            touched.wrote(str(place))
            with pytest.raises(UsageError, match=r"made\.txt was just written, as .*made\.txt: name another file"):
                touched.writes(str(tmp_path / "." / "made.txt"))
            touched.wrote(os.devnull)
            touched.writes(os.devnull)

    def test_a_broken_pipe_is_not_the_no_of_gate(self) -> None:
        reading, writing = os.pipe()
        os.close(reading)
        line = [sys.executable, "-m", "cranfield", "measures"]
        done = subprocess.run(line, stdout=writing, stderr=subprocess.PIPE, check=False)
        os.close(writing)
        assert (done.returncode, done.stderr) == (141, b"")


class TestStreams:
    def test_other_encodings(self, folder: Path) -> None:
        environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
        line = [sys.executable, "-m", "cranfield", "compare", "qrels.txt", "bm25.run", "dense.run", "-m", "AP"]
        done = subprocess.run(line, capture_output=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        assert b"bm25 \\u2212 dense" in done.stdout
        assert "Traceback" not in done.stderr.decode()

    def test_half_a_character_in_an_id_is_shown(self, folder: Path) -> None:
        Path("q.json").write_text('{"\\ud800": {"d": 1}}')
        Path("r.json").write_text('{"\\ud800": {"d": 1.5}}')
        outcome = command_line("evaluate", "q.json", "r.json", "-q", "-m", "RR")
        assert outcome.exit in (0, 3), outcome
        assert "Traceback" not in outcome.stderr

    @pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
    @pytest.mark.parametrize(
        "line", ["evaluate qrels.txt -", "fuse bm25.run dense.run -o -", "evaluate no.file bm25.run"]
    )
    def test_closed_streams(self, closed: str, line: str, folder: Path) -> None:
        command = f"exec {sys.executable} -m cranfield {line} {closed}"
        done = subprocess.run(command, shell=True, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        assert b"Traceback" not in done.stderr + done.stdout
        assert done.returncode in (0, 3)

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
    @pytest.mark.parametrize("place", ["out", "err", "file"])
    def test_a_full_disk(self, place: str, folder: Path) -> None:
        command = [sys.executable, "-m", "cranfield", "fuse", "bm25.run", "dense.run", "--depth", "5"]
        command += ["-o", "/dev/full"] if place == "file" else []
        with open("/dev/full", "wb") as full:
            out, err = (full if place == "out" else subprocess.PIPE), (full if place == "err" else subprocess.PIPE)
            done = subprocess.run(command, stdout=out, stderr=err, check=False)
        assert done.returncode == (0 if place == "err" else 3)
        assert b"Traceback" not in (done.stderr or b"")


def bomb(form: str, size: int) -> bytes:
    """So many zeros in several members, compressed."""
    compress: dict[str, Callable[[bytes], bytes]] = {
        "gzip": lambda text: gzip.compress(text, mtime=0),
        "bzip2": bz2.compress,
        "xz": lzma.compress,
        "zstd": zstd.compress,
    }
    member = compress[form](bytes(1 << 20))
    return member * (size >> 20)


class TestExpansion:
    @pytest.fixture(autouse=True)
    def smaller(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(unpacking, "LEAST_LIMIT", 1 << 20)
        monkeypatch.setattr(unpacking, "_MOST_AT_ONCE", 1 << 16)

    @pytest.mark.parametrize("form", ["gzip", "bzip2", "xz", "zstd"])
    @pytest.mark.parametrize("read", [cranfield.read_run, cranfield.read_qrels, cranfield.texts.read_documents])
    def test_what_expands_beyond_reason_is_refused_early(
        self, form: str, read: Callable[[Any], Any], tmp_path: Path
    ) -> None:
        path = tmp_path / "x"
        path.write_bytes(bomb(form, 1 << 24))
        with pytest.raises(DataError) as caught:
            read(path)
        assert "compressed to less than 1/500 of its text" in str(caught.value)
        assert "set CRANFIELD_EXPANSION to more than 500" in str(caught.value)
        unpacked = int(str(caught.value).split("text, ")[1].split(" MiB")[0])
        assert unpacked <= 1 + max(1, 500 * path.stat().st_size >> 20), "only so much was unpacked"

    def test_a_single_member_is_unpacked_in_pieces(self, tmp_path: Path) -> None:
        for form, data in {"gzip": gzip.compress(bytes(1 << 23)), "bzip2": bz2.compress(bytes(1 << 23))}.items():
            pieces: list[int] = []
            with pytest.raises(DataError, match="less than 1/500"):
                pieces.extend(map(len, unpacking.unpacked(iter([data]), form)))
            del pieces
            largest = 0
            for piece, _ in zip(unpacking.unpacked(iter([data]), form), range(8), strict=False):
                largest = max(largest, len(piece))
            assert largest <= 1 << 16

    def test_the_limit_can_be_raised(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        row = b"q1 Q0 d1 1 1.0 " + b"t" * 50 + b"\n"
        path = tmp_path / "x.run"
        path.write_bytes(bz2.compress(row * (1 << 15)))
        with pytest.raises(DataError, match="less than 1/500"):
            cranfield.read_run(path)
        monkeypatch.setenv("CRANFIELD_EXPANSION", "100000")
        assert len(cranfield.read_run(path)) == 1
        monkeypatch.setenv("CRANFIELD_EXPANSION", "1_000")
        with pytest.raises(UsageError, match="CRANFIELD_EXPANSION must be a whole number"):
            cranfield.read_run(path)

    @pytest.mark.parametrize("form", ["gzip", "bzip2", "xz", "zstd"])
    def test_runs_that_shrink_well_are_read(self, form: str, tmp_path: Path) -> None:
        rows = b"".join(b"%d Q0 doc%06d %d %d tag\n" % (q, r, r, 1000 - r) for q in range(60) for r in range(1, 1001))
        compress: Any = {"gzip": gzip, "bzip2": bz2, "xz": lzma, "zstd": zstd}[form].compress
        path = tmp_path / "x.run"
        path.write_bytes(compress(rows))
        assert len(rows) > unpacking.LEAST_LIMIT
        assert len(cranfield.read_run(path)) == 60_000

    def test_devices_that_do_not_end(self, folder: Path) -> None:
        for line in ("evaluate /dev/zero bm25.run", "search pond.toml --stop-words /dev/zero", "describe /dev/zero"):
            outcome = command_line(*line.split())
            assert (outcome.exit, "/dev/zero: is a device that does not end" in outcome.stderr) == (3, True), outcome


DEEP = 200_000


class TestDeepNesting:
    @pytest.mark.parametrize(
        ("line", "text"),
        [
            ("evaluate deep bm25.run", '{"a":' * DEEP),
            ("evaluate qrels.txt deep", '{"a":' * DEEP),
            ("describe deep --kind documents", '{"id":' + "[" * DEEP),
            ("compare qrels.txt bm25.run dense.run --splits deep", "[" * DEEP),
            ("compare qrels.txt bm25.run dense.run -m AP --ledger deep", "[" * DEEP),
            ("compare --collections deep", "a = " + "[" * DEEP),
            ("gate qrels.txt bm25.run dense.run --config deep", "a = " + "[" * DEEP),
            ("search deep.toml", "a = " + "[" * DEEP),
            ("evaluate qrels.txt bm25.run --lengths deep -m TBG", '{"a":' * DEEP),
            ("evaluate qrels.txt bm25.run -m deep", ""),
        ],
        ids=lambda value: value[:40],
    )
    def test_it_is_told(self, line: str, text: str, folder: Path) -> None:
        for name in ("deep", "deep.toml"):
            Path(name).write_text(text)
        words = line.split()
        if not text:
            words[-1] = "P(" * 10_000
        outcome = command_line(*words)
        assert outcome.exit == (3 if text else 2), outcome.stderr[-500:]
        assert "Traceback" not in outcome.stderr
        told = ("nested too deeply", "not an entry of a ledger", "no known format")
        assert any(each in outcome.stderr for each in told) or not text

    def test_metadata_beside_a_run(self, folder: Path) -> None:
        Path("bm25.run.metadata.json").write_text("[" * DEEP)
        outcome = command_line("evaluate", "qrels.txt", "bm25.run", "--figure", "p50")
        assert (outcome.exit, "nested too deeply" in outcome.stderr) == (3, True)


ODD = ("1_0", "１０", "٣", " 10", "1e400", "nan", "inf", "0x10", "9" * 30, "9" * 5000)


class TestNumbers:
    def test_every_number_of_every_command_is_written_plainly(self) -> None:
        tried = 0
        for command in commands().values():
            context = click.Context(command)
            for parameter in command.params:
                takes = (click.types.IntParamType, click.types.FloatParamType)
                if isinstance(parameter.type, takes):
                    tried += 1
                    for text in ODD:
                        if text == "9" * 30 and isinstance(parameter.type, click.types.FloatParamType):
                            continue
                        with pytest.raises(click.BadParameter, match="is not a"):
                            parameter.type(text, parameter, context)
        assert tried > 60

    def test_numbers_that_are_fine(self) -> None:
        whole, share = plain_numbers(click.INT), plain_numbers(click.FloatRange(0, 1))
        assert (whole("-12"), whole(7), share("1e-3")) == (-12, 7, 0.001)

    @pytest.mark.parametrize(
        "line",
        [
            "evaluate qrels.txt bm25.run -m P@1_0",
            "evaluate qrels.txt bm25.run -m P@１０",
            "evaluate qrels.txt bm25.run -m Ｐ@10",
            "evaluate qrels.txt bm25.run -m P@0x10",
            "evaluate qrels.txt bm25.run -m RBP(p=0_0.5)",
            "evaluate qrels.txt bm25.run -m nDCG(gain={1:1_0})@10",
            "fuse bm25.run dense.run -p k=6_0",
            "fuse bm25.run dense.run -p k=６０",
            "fuse bm25.run dense.run --method weighted-sum -p weights=0.7,0_1.3",
            "search pond.toml --grid k1=1_0,2",
            "search pond.toml --grid k1=1:1_0:1",
            "search pond.toml --k1 1_0",
            "search pond.toml --k1 nan",
            "pool bm25.run dense.run --method rrf(k=6_0)",
            "pool bm25.run dense.run --method stratified --strata 1_0:1 -o x",
            "gate qrels.txt bm25.run dense.run --topic 1=0_1",
            "gate qrels.txt bm25.run dense.run --topic 1=nan",
        ],
    )
    def test_notation_and_options(self, line: str, folder: Path) -> None:
        outcome = command_line(*line.split())
        assert (outcome.exit, outcome.stdout) == (2, ""), outcome

    def test_costs(self, folder: Path) -> None:
        Path("costs.csv").write_text("run,cost\nbm25,1_0\ndense,2\n")
        line = ["plot", "pareto", "qrels.txt", "bm25.run", "dense.run", "--costs", "costs.csv", "-o", "x.svg"]
        outcome = command_line(*line)
        assert (outcome.exit, "'1_0' of bm25 is not a number" in outcome.stderr) == (3, True), outcome

    def test_splits_that_fill_the_memory(self, folder: Path) -> None:
        outcome = command_line("split", "qrels.txt", "--repeats", "100000000")
        assert (outcome.exit, "ask for fewer" in outcome.stderr) == (2, True)
        assert len(cranfield.split(["1", "2", "3"], folds=3, repeats=1000).folds) == 3000


QRELS = {str(t): {"a": 1, "b": 0, "c": t % 2} for t in range(6)}
RUN = {str(t): {"a": 1.0, "b": 2.0, "c": 3.0 * (t % 3)} for t in range(6)}
api: Any = cranfield  # what is called wrongly on purpose


class TestCalls:
    @pytest.mark.parametrize(
        ("call", "told"),
        [
            (
                lambda: api.evaluate(QRELS, RUN, "AP", reading=Reading(threads=0)),
                "threads must be a whole number from 1",
            ),
            (
                lambda: api.evaluate(
                    QRELS,
                    RUN,
                    "AP",
                    reading=Reading(threads="2"),  # type: ignore[arg-type]
                ),
                "threads must be a whole number from 1",
            ),
            (
                lambda: api.evaluate(QRELS, RUN, "AP", reading=Reading(threads=True)),
                "threads must be a whole number from 1",
            ),
            (lambda: api.evaluate(QRELS, RUN, "AP", threads=2), r"reading=Reading\(threads=…\)"),
            (lambda: api.evaluate(QRELS, RUN, "AP", bound=True), "did you mean bounds"),
            (lambda: api.evaluate(QRELS, RUN, "AP", reading="csv"), "reading must be of the class Reading"),
            (
                lambda: api.compare(QRELS, [RUN, RUN], "AP"),
                r"make one of judgements and runs: cranfield.Experiment\(qrels, runs\)",
            ),
            (lambda: api.evaluate(QRELS, RUN, "AP", ties="file"), r"policy=Policy\(ties=…\)"),
            (lambda: api.evaluate(QRELS, RUN, "AP", policy="file"), "policy must be of the class Policy or None"),
            (lambda: api.evaluate(QRELS, RUN, 5), "measures are names, as 'nDCG@10', or Measure objects, not 5"),
            (lambda: api.explain(Experiment(QRELS, RUN), 1, "AP"), "topic must be text, not 1"),
            (lambda: api.compare(Experiment(QRELS, [RUN, RUN]), "AP", test="t"), "did you mean tests"),
            (lambda: api.compare(Experiment(QRELS, [RUN, RUN]), "AP", format="csv"), r"reading=Reading\(format=…\)"),
            (lambda: api.compare(Experiment(QRELS, [RUN, RUN]), "AP", risk=1.0), r"details=Details\(risk=…\)"),
            (lambda: api.gate(Experiment(QRELS, [RUN, RUN]), tests=["t"]), "did you mean test"),
            (lambda: api.split(["1", "2"], folds="2"), "folds must be a whole number or None, not '2'"),
            (lambda: api.split(["1", "2"], fold=2), "did you mean folds"),
            (lambda: api.read_run(RUN, nmae="x"), "did you mean name"),
            (lambda: api.read_run(5), "expected a path"),
            (lambda: api.planning.read_splits(5), "expected a path"),
            (lambda: api.diagnose(Experiment(QRELS, [RUN, RUN]), "AP", topics=[1]), "topics must be a series of text"),
        ],
    )
    def test_wrong_names_and_types(self, call: Callable[[], object], told: str) -> None:
        with pytest.raises(UsageError, match=told):
            call()

    def test_every_public_function_names_the_nearest(self) -> None:
        tried = 0
        rooms = [cranfield.agreement, cranfield.comparison, cranfield.efficiency, cranfield.planning, cranfield.fusion]
        for name, function in ((name, getattr(room, name)) for room in (cranfield, *rooms) for name in dir(room)):
            if not inspect.isfunction(function) or name == "measure":
                continue
            parameters = inspect.signature(function).parameters.values()
            if any(each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL) for each in parameters):
                continue
            tried += 1
            with pytest.raises(ArgumentError, match=f"{name} has no argument 'no_such_name'"):
                function(no_such_name=1)
            for each in parameters:
                if len(each.name) > 4:
                    with pytest.raises(ArgumentError, match=f"did you mean {each.name}"):
                        function(**{each.name + "_": 1})
        assert tried > 30

    def test_it_is_the_function_still(self) -> None:
        import pickle

        assert cranfield.evaluate is cranfield.evaluate
        assert pickle.loads(pickle.dumps(cranfield.evaluate)) is cranfield.evaluate
        assert "Evaluates one run" in (cranfield.evaluate.__doc__ or "")
        with pytest.raises(TypeError):  # as of any function
            api.evaluate(QRELS, RUN, "AP", tread=1)


class TestNothingInCommon:
    """0.0 everywhere would read as a bad system."""

    @pytest.fixture
    def apart(self, folder: Path) -> Path:
        for name in ("bm25", "dense"):
            rows = Path(f"{name}.run").read_text().splitlines()
            Path(f"{name}-topics.run").write_text("".join(f"x{row}\n" for row in rows))
            Path(f"{name}-documents.run").write_text("".join(row.replace("Q0 ", "Q0 x") + "\n" for row in rows))
        Path("documents.qrels").write_text(Path("pond.qrels").read_text().replace(" 0 ", " 0 x"))
        return folder

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("explain qrels.txt bm25-topics.run --topic 1", "no topic in common with the judgements"),
            ("explain qrels.txt bm25.run dense-topics.run --topic 1", "dense-topics.run: no topic in common"),
            ("pool bm25-topics.run --judged qrels.txt -o out", "judges no topic that a run has"),
            ("pool bm25-topics.run --judged qrels.txt --method move-to-front -o out", "judges no topic that a run has"),
            ("search pond.toml --grid k1=0.6,1.2 --tune documents.qrels -o out", "not one relevant document"),
            ("search pond.toml --grid k1=0.6,1.2 --tune qrels.txt -o out", "not one relevant document"),
            (
                "fuse bm25-documents.run dense-documents.run --method weighted-sum --train qrels.txt --folds 2 -o out",
                "not one document that it calls relevant is in",
            ),
        ],
    )
    def test_it_is_refused(self, line: str, told: str, apart: Path) -> None:
        outcome = command_line(*line.split())
        assert (outcome.exit, outcome.stdout) == (3, ""), outcome
        assert told in outcome.stderr
        assert not (apart / "out").exists()

    def test_a_run_without_a_judged_document_is_warned_of(self, apart: Path) -> None:
        outcome = command_line("explain", "qrels.txt", "bm25-documents.run", "--topic", "1")
        assert "not one retrieved document is judged" in outcome.stderr
        outcome = command_line("explain", "qrels.txt", "bm25.run", "--topic", "1")
        assert "not one" not in outcome.stderr

    @pytest.mark.parametrize("name", ["qrels.txt", "pond-topics.tsv", "pond-documents.jsonl"])
    def test_old_line_ends_are_read(self, name: str, folder: Path) -> None:
        new = command_line("describe", name)
        Path(name).write_bytes(Path(name).read_bytes().replace(b"\n", b"\r"))
        old = command_line("describe", name)
        assert new.exit == 0
        assert old == new


class TestAttacks:
    """What files may turn out to be: never a traceback."""

    @pytest.fixture
    def hostile(self, folder: Path) -> Path:
        Path("empty").write_bytes(b"")
        Path("folder").mkdir()
        Path("loop").symlink_to("loop")
        Path("gone").symlink_to("nowhere")
        Path("nuls").write_bytes(bytes(1000))
        Path("random").write_bytes(bytes((i * 7919) % 256 for i in range(5000)))
        return folder

    @pytest.mark.parametrize(
        "name",
        [name for name in COMMANDS if name not in ("demo", "online demo", "online prove", "measures", *OF_THE_SERVER)],
    )
    def test_inputs_of_every_kind(self, name: str, hostile: Path) -> None:
        for line in LINES[name]:
            words = line.split()
            more = {"convert": ["-o", "made.csv"], "report": ["-o", "made.html"], "plot": ["-o", "made.svg"]}
            for place, word in enumerate(words):
                if not os.path.isfile(word):
                    continue
                for other in ("empty", "folder", "loop", "gone", "nuls", "random", "/dev/null", "x" * 300, "a\nb"):
                    tried = [*words[:place], other, *words[place + 1 :], *more.get(name, [])]
                    outcome = command_line(name, *tried)
                    assert outcome.exit in (0, 1, 2, 3, 4, 7), (tried, outcome.stderr[-300:])
        assert not list(hostile.rglob("*.part"))

    @pytest.mark.parametrize("place", ["folder", "no/such/place", "/proc/x", "x" * 300])
    @pytest.mark.parametrize(("name", "parameter"), writers(), ids=lambda value: str(value))
    def test_outputs_that_cannot_be(self, name: str, parameter: str, place: str, hostile: Path) -> None:
        made = name in ("split", "online import", "online simulate") and place in ("folder", "no/such/place")
        if made or (name, place) == ("convert", "folder"):
            return  # a folder is what they may write, and make
        line = LINES[name][{"picture": 2, "save_best": len(LINES[name]) // 2}.get(parameter, 0)]
        suffix = "" if place == "folder" else SUFFIXES.get((name, parameter), ".csv" if name == "convert" else "")
        more = ["-o", "made.csv"] if name == "convert" and parameter != "output" else []
        if name in ("demo", "online demo"):
            return
        outcome = command_line(name, *line.split(), option_of(name, parameter), place + suffix, *more)
        assert outcome.exit in (2, 3), outcome
        assert "cannot be" in outcome.stderr or "folder" in outcome.stderr, outcome


def test_other_ways_to_a_file_are_the_same_file() -> None:
    with touched.one_command():
        touched.will_write(str(EXAMPLES / "qrels.txt"), "-o")
        with pytest.raises(UsageError, match="is also read"):
            touched.reads(str(EXAMPLES / ".." / "examples" / "qrels.txt"))
    touched.reads(str(EXAMPLES / "qrels.txt"))
