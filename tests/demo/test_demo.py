"""The demo collection: documents taken without a trace, topics and judgements that fit, five systems that differ."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import command_line, of_a_process
from cranfield import DataError, UsageError, demo, evaluate, read_qrels
from cranfield.agreement.assessment import assess
from cranfield.comparison.systems import compare
from cranfield.demo import SYSTEMS, building, demo_collection, judged_again, standard_library, telling
from cranfield.demo import documents as taking
from cranfield.demo import embedded as shipping
from cranfield.demo.building import AGAIN, FIGURES, MEASURES, NOTE, PARTS, REPORT, own_folder
from cranfield.demo.documents import FEWEST, LEFT_OUT
from cranfield.evaluation.experiment import Experiment
from cranfield.texts import Documents
from cranfield.texts.collection import Collection, read_collection

PAGE = Path(demo.__file__).parent / "README.md"


@pytest.fixture(scope="module")
def collection() -> Collection:
    return demo_collection()


@pytest.fixture(scope="module")
def documents(collection: Collection) -> Documents:
    assert collection.documents is not None
    return collection.documents


def digest(documents: Documents) -> str:
    return hashlib.sha256(json.dumps([documents.ids, *map(list, documents.fields.values())]).encode()).hexdigest()


def test_documents_are_many_and_complete(documents: Documents) -> None:
    assert len(documents) >= FEWEST
    assert list(documents.ids) == sorted(documents.ids)
    assert all(text.strip() for text in documents.fields["text"])
    for id, title in zip(documents.ids, documents.fields["title"], strict=True):
        assert title.startswith(id)
        assert "\n" not in title
        assert " at 0x" not in title


def test_only_public_names_of_modules_that_are_everywhere(documents: Documents) -> None:
    for id in documents.ids:
        assert not any(part.startswith("_") for part in id.split(".")), id
        assert not {id, *(id[:at] for at, character in enumerate(id) if character == ".")} & LEFT_OUT, id


# Written in Python, in C, in both, in a private module, in a class, built in, and put together when Python starts.
@pytest.mark.parametrize(
    "id",
    [
        "textwrap.dedent",
        "math.sqrt",
        "heapq.heappush",
        "collections.abc.Sequence.count",
        "collections.deque.rotate",
        "random.Random.shuffle",
        "datetime.date.fromisoformat",
        "configparser",
        "struct",
        "hashlib",
        "pathlib.PurePath.with_name",
        "os.path.splitext",
        "os.getcwd",
        "os.walk",
        "unicodedata.name",
    ],
)
def test_texts_are_what_help_shows(documents: Documents, id: str) -> None:
    parts = id.split(".")
    value: Any = importlib.import_module(parts[0])
    for part in parts[1:]:
        value = getattr(value, part)
    assert documents.only([id]).fields["text"] == [(inspect.getdoc(value) or "").strip()]


def test_what_is_in_private_modules_is_known_by_its_public_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Python moves code between versions, from module to package and from Python to C: names must not change."""
    (tmp_path / "pond").mkdir()
    sources = {
        "__init__": "from pond._ducks import *\nfrom ._geese import Goose as Bird, __doc__\n"
        "from pond.reeds import Reed\n__all__ = _ducks.__all__ + ['Bird']",
        "_ducks": "'Ducks.'\nfrom ._geese import Goose\n__all__ = ['Duck']\n"
        "class Duck:\n 'A duck.'\n def swim(self, far=1):\n  'Swims.'\nclass Drake:\n 'Not exported.'",
        "_geese": "__doc__ = 'Geese.'\nfrom pond._ducks import Duck\n"
        "class Goose:\n 'A goose.'\n def __init__(self, name):\n  'Has a name.'\n def _hide(self):\n  'Hides.'",
        "reeds": "'Reeds.'\ntry:\n import nothing\nexcept ImportError:\n class Reed:\n  'A reed.'",
    }
    for name, source in sources.items():
        (tmp_path / "pond" / f"{name}.py").write_text(source)
    caches = (taking._spec, taking._defined)
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(tmp_path))
    for each in caches:
        each.cache_clear()
    try:
        found = taking._tree("pond")
    finally:
        for each in caches:
            each.cache_clear()
    assert {id: (d.signature, d.text) for id, d in found.items()} == {
        "pond": ("", "Geese."),
        "pond.Duck": ("", "A duck."),
        "pond.Duck.swim": ("(far=1)", "Swims."),
        "pond.Bird": ("(name)", "A goose.\n\nHas a name."),
        "pond.reeds": ("", "Reeds."),
        "pond.reeds.Reed": ("", "A reed."),
    }


def test_built_in_names_have_no_module(documents: Documents) -> None:
    found = documents.only(["str.strip", "len"])
    assert list(found.fields["title"]) == ["str.strip(chars=None, /)", "len(obj, /)"]
    assert found.fields["text"][0] == inspect.getdoc(str.strip)


def test_taking_documents_leaves_no_trace(documents: Documents) -> None:
    """In a new process with another hash seed: the same documents, not a word, nothing of the process changed."""
    code = """if True:
        import os, signal, sys, warnings
        from test_demo import digest
        from cranfield.demo import standard_library
        def state():
            handlers = [signal.getsignal(number) for number in signal.valid_signals()]
            return handlers, list(warnings.filters), dict(os.environ), list(sys.path), os.getcwd(), sys.gettrace()
        before = state()
        documents = standard_library()
        assert state() == before
        assert not {"tkinter", "turtle", "antigravity", "this", "readline", "smtplib", "xmlrpc"} & set(sys.modules)
        print(digest(documents))
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=of_a_process(PYTHONHASHSEED="12345"),
        cwd=Path(__file__).parent,
    )
    assert (done.stdout, done.stderr) == (digest(documents) + "\n", "")


def test_topics_have_a_query_a_question_and_what_counts(collection: Collection) -> None:
    topics = collection.topics
    assert topics is not None
    assert len(topics) >= 40
    for id, fields in topics.rows():
        assert 2 <= len(fields["title"].split()) <= 9, id
        assert fields["description"].endswith("?"), id
        assert [line[:7] for line in fields["narrative"].split("\n")] == ["Grade 3", "Grade 2", "Grade 1"], id
    assert len(set(topics.fields["title"])) == len(topics)


def test_every_topic_has_relevant_documents(collection: Collection) -> None:
    assert collection.topics is not None
    assert collection.qrels is not None
    judged = collection.qrels.to_dict()
    assert list(judged) == list(collection.topics.ids)
    for topic, grades in judged.items():
        assert set(grades.values()) <= {0, 1, 2, 3}
        assert max(grades.values()) == 3, topic
        assert min(grades.values()) == 0, topic
        assert len(grades) >= 30, topic


def test_nearly_all_judged_documents_are_in_this_python(documents: Documents) -> None:
    judged = {id for grades in shipping._shipped("judgements").to_dict().values() for id in grades}
    missing = judged - set(documents.ids)
    assert len(missing) <= 0.05 * len(judged), sorted(missing)


def test_what_this_python_does_not_have_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch, documents: Documents
) -> None:
    judged = read_qrels({"1": {"str.strip": 3, "str.lstrip": 2, "len": 0}, "2": {"str.strip": 1, "len": 0}})
    monkeypatch.setattr(shipping, "_shipped", lambda name: judged)
    monkeypatch.setattr(shipping, "standard_library", lambda: documents.only(["len", "str.lstrip"]))
    monkeypatch.setattr("platform.python_version", lambda: "4.0")
    found = demo_collection()
    assert found.topics is not None
    assert found.qrels is not None
    assert found.topics.ids == ("1",)
    assert found.qrels.to_dict() == {"1": {"str.lstrip": 2, "len": 0}}
    assert dict(found.notes) == {
        "not-in-this-python": "2 judgements left out, of documents not found in Python 4.0: str.strip",
        "no-relevant-document": "1 topic left out, of which Python 4.0 has no relevant document: 2",
    }


def test_without_docstrings_there_is_no_demo() -> None:
    code = "from cranfield.demo.documents import standard_library; standard_library()"
    done = subprocess.run(
        [sys.executable, "-OO", "-B", "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr.splitlines()[-1].endswith("leave out -OO and PYTHONOPTIMIZE=2")


def test_too_few_documents_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(taking, "_tree", lambda module: {})
    with pytest.raises(DataError, match=r"only .* docstrings"):
        standard_library()


def test_counts_are_those_of_the_page() -> None:
    grades = [grade for judged in shipping._shipped("judgements").to_dict().values() for grade in judged.values()]
    page = PAGE.read_text(encoding="utf-8")
    assert f"{len(shipping.shipped_topics())} questions" in page
    assert f"{len(grades):,} grades" in page
    assert f"{sum(grade > 0 for grade in grades):,} relevant documents" in page
    for grade in range(4):
        assert re.search(rf"^\| {grade} \| .* \| {grades.count(grade):,} \|$", page, re.MULTILINE), grade


def test_second_judgements_agree_as_the_page_says() -> None:
    first, second = shipping._shipped("judgements").to_dict(), judged_again().to_dict()
    pairs = [(first[topic][id], grade) for topic, grades in second.items() for id, grade in grades.items()]
    assert len(pairs) >= 200
    found = assess({"first": first, "again": second})
    told = {c.name: c.estimate.value for c in found.coefficients if len(c.judges) == 2}
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    same = sum(a == b for a, b in pairs)
    assert f"{len(pairs)} pairs" in page
    assert f"{same} of them" in page
    for name in ("kappa", "kappa-linear", "kappa-quadratic"):
        assert f"{told[name]:.2f}" in page, name


def test_demo_writes_a_collection_that_can_be_read(made_demo: tuple[Path, str], collection: Collection) -> None:
    folder, _ = made_demo
    found = read_collection(folder)
    assert found.documents is not None
    assert found.topics is not None
    assert found.qrels is not None
    assert collection.documents is not None
    assert collection.topics is not None
    assert collection.qrels is not None
    assert sorted(found.documents.rows()) == sorted(collection.documents.rows())
    assert list(found.topics.rows()) == list(collection.topics.rows())
    assert found.qrels.to_dict() == collection.qrels.to_dict()
    assert read_qrels(folder / AGAIN).to_dict() == judged_again().to_dict()


def test_demo_says_how_its_table_is_read(made_demo: tuple[Path, str]) -> None:
    said = " ".join(made_demo[1].split())
    assert "5 systems on" in said
    assert "Holm correction for" in said


def test_systems_of_the_demo_are_apart(made_demo: tuple[Path, str]) -> None:
    folder, _ = made_demo
    runs = [folder / "runs" / f"{system.name}.run" for system in SYSTEMS]
    qrels = folder / PARTS["qrels"]
    results = evaluate(qrels, runs, ["nDCG@10", "Judged@10"])
    ndcg, judged = results.means.T
    assert len(runs) == 5
    assert ndcg.max() - ndcg.min() > 0.1
    assert ndcg.max() < 0.9  # something is left to do better
    assert judged.min() > 0.9  # on the Python that was judged all but those of two empty lists, on others less
    pairs = list(compare(Experiment(qrels, runs), "nDCG@10").rows())
    assert sum(pair.adjusted_p < 0.05 for pair in pairs) >= len(pairs) / 2
    for run in runs:
        assert json.loads(Path(f"{run}.metadata.json").read_text())["resources"]["searching"]


def test_demo_tells_the_outcome_and_where_everything_is(made_demo: tuple[Path, str]) -> None:
    folder, text = made_demo
    assert (folder / NOTE).read_text(encoding="utf-8") == PAGE.read_text(encoding="utf-8")
    for name in (*PARTS.values(), AGAIN, NOTE, REPORT, *(system.name for system in SYSTEMS), *MEASURES):
        assert name in text
    assert str(folder) in text
    assert "has the highest nDCG@10" in text
    tables, _, _ = text.partition("The report is ")
    assert max(map(len, tables.splitlines())) <= 80
    page = (folder / REPORT).read_text(encoding="utf-8")
    assert all(system.name in page for system in SYSTEMS)
    assert all(f">{figure} " in page for figure in FIGURES)


def test_what_demo_says_to_try_next_works(made_demo: tuple[Path, str]) -> None:
    _, text = made_demo
    lines = [shlex.split(line) for line in text.partition("Try next:\n")[2].splitlines()]
    assert len(lines) >= 3
    for words in lines:
        done = command_line(*words[words.index("cranfield") + 1 :])
        assert done.exit == 0, done.stderr


def test_what_to_try_next_can_be_called_where_theprogram_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    assert telling.program() == "cranfield"
    monkeypatch.setattr("shutil.which", lambda name: None)
    done = subprocess.run([*shlex.split(telling.program()), "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("cranfield")


def test_a_folder_with_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("ten years of work")
    with pytest.raises(UsageError, match="holds something else"):
        own_folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    with pytest.raises(UsageError, match="is a file, not a folder"):
        own_folder(tmp_path / "thesis.txt")
    with pytest.raises(DataError, match="cannot be made: Not a directory"):
        own_folder(tmp_path / "thesis.txt" / "demo")
    (tmp_path / "collection.toml").write_bytes(b'name = "caf\xe9"')
    with pytest.raises(UsageError, match="holds something else"):
        own_folder(tmp_path)


def test_an_older_demo_is_written_over(made_demo: tuple[Path, str]) -> None:
    folder, _ = made_demo
    assert own_folder(folder) == folder


@pytest.mark.parametrize("step", ["demo_collection", "write_documents", "write_run"])
def test_a_demo_that_was_interrupted_can_be_made_again(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collection: Collection
) -> None:
    def interrupted(*given: Any, **named: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(building, "demo_collection", lambda: collection)
    monkeypatch.setattr(building, "write_documents", lambda *given: None)
    monkeypatch.setattr(building, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        building.build_demo(tmp_path / "demo")
    assert own_folder(tmp_path / "demo").is_dir()
