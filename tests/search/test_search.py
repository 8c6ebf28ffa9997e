"""Searching from end to end: text to terms, index, tuning, the command, and the classic collection."""

from __future__ import annotations

import hashlib
import io
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cranfield
from commands import Outcome, command_line, command_process
from cranfield import DataError, UsageError
from cranfield.agreement.rankings.runs import correlate
from cranfield.cli import progress
from cranfield.efficiency.resources import FIGURES
from cranfield.planning.splits import Splits, split
from cranfield.search import (
    MODELS,
    Analysis,
    Timing,
    Tuned,
    Tuning,
    build_index,
    find_model,
    indexed,
    load_index,
    parse_grid,
    retrieve,
    retrieve_tuned,
    stemmers,
    stop_word_lists,
    stop_words,
    tune,
)
from cranfield.search.collection_search import ModelChoice
from cranfield.search.grids import points
from cranfield.statistics.splitting import Split
from cranfield.texts.collection import Collection, read_collection
from cranfield.texts.texts import Documents, Topics
from places import COLLECTION, EXAMPLES

POND = EXAMPLES / "pond.toml"
ONCE = Timing(warm_up=0, repeats=1)


def pond() -> tuple[Documents, Topics, Any]:
    whole = read_collection(POND)
    assert whole.documents is not None
    assert whole.topics is not None
    return whole.documents, whole.topics, whole.qrels


# Text to terms


def test_terms_are_words_without_case_stop_words_and_endings() -> None:
    text = "The FOXES' dens, and Don't-Care foxes_2 a"
    assert Analysis("none", "none").terms(text) == ["the", "foxes", "dens", "and", "don", "care", "foxes_2"]
    assert Analysis("english", "english").terms("The foxes, running") == ["fox", "run"]
    assert Analysis("german", "german").terms("Die Häuser und das Haus") == ["haus", "haus"]
    assert Analysis("none", "none").terms("Ænglisc ١٢ 漢字") == ["ænglisc", "١٢", "漢字"]
    assert Analysis("none", "none").terms("हिन्दी भाषा, தமிழ்") == ["हिन्दी", "भाषा", "தமிழ்"]
    first, second = Analysis("hindi", "none").terms("लड़की लड़कियाँ")  # girl, girls
    assert first == second


def test_every_stemmer_and_every_list_of_stop_words_can_be_used() -> None:
    for stemmer in stemmers():
        assert len(Analysis(stemmer, "none").terms("one two")) == 2
    assert len(stop_word_lists()) > 10
    for name in stop_word_lists():
        assert len(stop_words(name)) > 30, name
    assert "thin" in stop_words("scikit-learn")
    assert "thin" not in stop_words("english")


def test_stop_words_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("Duck\n\nswan goose\n")
    assert stop_words(path) == {"duck", "swan", "goose"}
    assert Analysis("none", str(path)).terms("the duck") == ["the"]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match="is UTF-16"):
        stop_words(path)
    path.write_text("über\nfür\n", encoding="latin-1")
    with pytest.raises(DataError, match=r"words.txt:1: is not UTF-8\n    1 \| \\xfcber\n    Convert it"):
        stop_words(path)


def test_unknown_stemmer_and_stop_words_name_those_there_are() -> None:
    with pytest.raises(UsageError, match="no stemmer 'klingon'; there are none, arabic"):
        Analysis("klingon")
    with pytest.raises(
        UsageError, match="no list of stop words 'klingon', nor a file of that name; there are none, chi"
    ):
        stop_words("klingon")


@pytest.mark.parametrize("missing", ["sklearn", "bm25s", "Stemmer"])
def test_missing_library_says_what_to_install(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    done = command_line("search", POND, *(("--stop-words", "scikit-learn") if missing == "sklearn" else ()))
    assert done.exit == 2
    assert missing in done.stderr
    assert "pip install 'cranfield[search]'" in done.stderr


# The index


def test_index_counts_what_is_there() -> None:
    documents = Documents(
        ("b", "a"), {"title": ["Ducks", ""], "author": ["Fox", "Fox"], "text": ["ducks swim", "swim"]}
    )
    index = build_index(documents)
    assert index.ids == ("b", "a")  # by id descending
    assert dict(index.vocabulary) == {"duck": 0, "swim": 1}
    assert index.counts.tolist() == [2, 1, 1]
    assert index.lengths.tolist() == [3, 1]
    assert index.collection_frequencies.tolist() == [2, 2]
    assert "fox" in build_index(documents, fields=("author",)).vocabulary


def test_saved_index_gives_the_same_run_and_is_refused_for_other_documents(tmp_path: Path) -> None:
    documents, topics, _ = pond()
    path = tmp_path / "pond.index"
    built, indexing = indexed(documents, path=path)
    assert indexing.saved
    assert indexing.index_bytes == path.stat().st_size
    loaded, again = indexed(documents, path=path)
    assert again.seconds is None
    one, other = (retrieve(index, topics, timing=ONCE).run.to_dict() for index in (built, loaded))
    assert one == other
    with pytest.raises(DataError, match="is the index of other documents"):
        indexed(documents, Analysis("none"), path=path)
    with pytest.raises(DataError, match="is the index of other documents"):
        indexed(documents.only(documents.ids[:5]), path=path)
    path.write_text("nothing of the kind")
    with pytest.raises(DataError, match="is not an index"):
        load_index(path)


def test_an_id_that_the_file_of_an_index_cannot_hold_is_refused(tmp_path: Path) -> None:
    """Ids are parted by NUL there: another document would be found under each of those that follow."""
    (tmp_path / "odd.jsonl").write_text(
        "".join(json.dumps({"id": id, "text": f"duck {text}"}) + "\n" for id, text in (("z\0y", "a"), ("c", "b")))
    )
    index = build_index(cranfield.texts.read_documents(tmp_path / "odd.jsonl"))
    with pytest.raises(DataError, match=r"'z\\x00y' has a NUL in it.*\n.*without saving"):
        index.save(tmp_path / "odd.index")
    assert not (tmp_path / "odd.index").exists()


def test_an_index_whose_parts_do_not_fit_is_none(tmp_path: Path) -> None:
    documents, _, _ = pond()
    path = tmp_path / "pond.index"
    build_index(documents).save(path)
    with np.load(path) as stored:
        arrays = dict(stored)
    for name, changed in (("starts", arrays["starts"][:-1]), ("documents", arrays["documents"] + len(documents))):
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **(arrays | {name: changed}))
        with pytest.raises(DataError, match="is not an index"):
            load_index(path)


def test_saved_index_has_its_stop_words_whatever_becomes_of_their_file(tmp_path: Path) -> None:
    documents, _, _ = pond()
    words, path = tmp_path / "words.txt", tmp_path / "pond.index"
    words.write_text("duck\n")
    indexed(documents, Analysis("none", str(words)), path=path)
    moved = tmp_path / "moved.txt"
    words.rename(moved)
    assert load_index(path).analysis.terms("the duck") == ["the"]
    assert indexed(documents, Analysis("none", str(moved)), path=path)[1].seconds is None
    moved.write_text("goose\n")
    with pytest.raises(DataError, match="other stop words"):
        indexed(documents, Analysis("none", str(moved)), path=path)


def test_what_is_no_index_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.index"
    for write in (np.save, np.savez):
        with open(path, "wb") as file:
            write(file, np.arange(3))
        before = path.read_bytes()
        with pytest.raises(DataError, match="is not an index"):
            indexed(pond()[0], path=path)
        assert path.read_bytes() == before


def test_index_is_saved_as_a_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(file: Any, **_: Any) -> None:
        file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        indexed(pond()[0], path=tmp_path / "pond.index")
    assert list(tmp_path.iterdir()) == []


def test_size_of_an_index_is_that_of_its_file(tmp_path: Path) -> None:
    index = build_index(pond()[0])
    assert 0 < index.save(tmp_path / "pond.index") - index.size < 4000  # heads of its parts, stop words


def test_nothing_to_index_or_to_find_is_an_error() -> None:
    with pytest.raises(DataError, match="has no documents"):
        build_index(Documents((), {"text": []}))
    with pytest.raises(DataError, match="has no terms"):
        build_index(Documents(("1",), {"text": ["the and"]}))
    with pytest.raises(UsageError, match="which fields are to be searched"):
        build_index(Documents(("1",), {"abstract": ["ducks"]}))
    documents = Documents(("1",), {"text": ["ducks"]})
    with pytest.raises(DataError, match="nothing was found for any topic"):
        retrieve(documents, Topics(("1",), {"title": ["zebras"]}))
    with pytest.raises(UsageError, match=r"^depth must be 1 or more, not 0$"):
        retrieve(documents, Topics(("1",), {"title": ["duck"]}), depth=0)
    assert len(retrieve(documents, Topics(("1",), {"title": ["duck"]}), depth=1).run) == 1
    found = retrieve(documents, Topics(("1", "2"), {"title": ["zebras", "duck"]}))
    assert [warning.message for warning in found.warnings] == ["nothing was found for 1"]
    assert found.run.topics == ["2"]


# Grids and tuning


def test_grids_are_ranges_with_their_end_or_values_one_by_one() -> None:
    bm25 = find_model("bm25")
    grid = parse_grid(["k1=0.6:1.8:0.2", "b=0.3:0.8:0.2", "variant=lucene, atire"], bm25)
    assert grid["k1"] == (0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8)
    assert grid["b"] == (0.3, 0.5, 0.7)
    assert len(points(grid)) == 42
    assert parse_grid(["lambda=0.1,0.7"], find_model("jm")) == {"lambda_": (0.1, 0.7)}
    assert parse_grid(["sublinear=true,false"], find_model("tfidf")) == {"sublinear": (True, False)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("k1", "a grid is name=first:last:step"),
        ("k1=", "a grid is name=first:last:step"),
        ("k1=1:2", "three numbers"),
        ("k1=1:two:1", "three numbers"),
        ("k1=2:1:0.5", "from first up to last"),
        ("k1=1:2:0", "from first up to last"),
        ("k1=1:inf:1", "three numbers"),
        ("k1=0:9:0.0001", "more than 10,000"),
        ("k1=1,1.0", "has a value twice"),
        ("k1=high", "k1 must be a number, not 'high'"),
        ("mu=1,2", "bm25 has no parameter 'mu'"),
        ("lambda=0.1,0.2", "bm25 has no parameter 'lambda'"),
        ("=1,2", "a grid is name=first:last:step"),
        ("b=0:2:0.5", "b must be from 0 to 1, not 1.5"),
        ("variant=lucene,okapi", "no variant 'okapi'"),
    ],
)
def test_wrong_grids_are_errors(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_grid([text], find_model("bm25"))


def tuned(splits: Splits | None = None, **changed: Any) -> Tuned:
    documents, topics, qrels = pond()
    queries = dict(zip(topics.ids, topics.queries(), strict=True))
    settings: dict[str, Any] = {"grid": {"k1": (0.1, 1.2, 9.0), "b": (0.0, 0.5, 1.0)}, "measure": "AP"} | changed
    qrels = settings.pop("qrels", qrels)
    parts = splits or split(qrels, folds=3, seed=4)
    return tune(build_index(documents), "bm25", queries, qrels, parts, Tuning(**settings))


def test_each_fold_is_answered_with_what_is_best_on_the_others() -> None:
    found = tuned()
    _, topics, qrels = pond()
    index = build_index(pond()[0])
    run = retrieve_tuned(index, topics, found, timing=ONCE).run
    place = {topic: i for i, topic in enumerate(found.topics)}
    for fold in found.folds:
        means = [float(np.mean([row[place[topic]] for topic in fold.train])) for row in found.scores]
        best = means.index(max(means))
        assert fold.parameters == found.points[best]
        assert fold.train_score == pytest.approx(max(means))
        alone = retrieve(index, topics.only(fold.test), parameters=fold.parameters, timing=ONCE).run
        for topic in fold.test:
            assert run.of(topic) == alone.of(topic)
    assert sorted(run.topics) == sorted(topic for fold in found.folds for topic in fold.test)
    assert cranfield.evaluate(qrels, run, "AP").means[0, 0] == pytest.approx(found.test_score)
    assert found.best_score >= found.test_score


def test_judgements_of_topics_under_test_choose_nothing() -> None:
    """Whatever is known of them, the same parameters are taken for them."""
    qrels = pond()[2].to_dict()
    parts = split(pond()[2], folds=3, seed=4)
    found = tuned(parts)
    for number, fold in enumerate(parts.folds):
        others = {topic: {"d01": 1, "d12": 0} if topic in fold.test else judged for topic, judged in qrels.items()}
        again = tuned(parts, qrels=others)
        assert again.folds[number].parameters == found.folds[number].parameters
        assert again.folds[number].train_score == found.folds[number].train_score
    assert any(fold.parameters != found.folds[0].parameters for fold in found.folds)


def test_parameters_that_are_fixed_stay() -> None:
    found = tuned(grid={"k1": (0.1, 1.2)}, fixed={"b": 0.0})
    assert all(point["b"] == 0.0 for point in found.points)
    assert len(found.points) == 2


def test_topics_outside_the_tests_are_left_out_with_a_note() -> None:
    found = tuned(Splits((Split(("1", "2", "3"), ("4", "5")),)))
    documents, topics, _ = pond()
    done = retrieve_tuned(build_index(documents), topics, found, timing=ONCE)
    assert done.run.topics == ["4", "5"]
    assert [warning.message for warning in done.warnings] == ["topics that no fold tests are left out: 1, 2, 3, 6"]


@pytest.mark.parametrize(
    ("folds", "error", "message"),
    [
        ([(("1", "2"), ("2", "3"))], DataError, "both in train and in test: 2"),
        ([(("1", "2"), ("3",)), (("1", "2"), ("3",))], UsageError, "tested once only, for one run"),
        ([(("1", "7"), ("3",))], DataError, "these topics of the splits are not asked: 7"),
    ],
)
def test_nothing_is_tested_on_what_it_was_tuned_on(folds: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tuned(Splits(tuple(Split(*fold) for fold in folds)))


def test_where_nothing_can_be_chosen_it_is_said() -> None:
    documents, topics, _ = pond()
    found = tuned(grid={"delta": (0.5, 1.0)})  # which lucene has no use for
    (warning,) = retrieve_tuned(build_index(documents), topics, found, timing=ONCE).warnings
    assert warning.message.endswith("the first was taken: fold 1, fold 2, fold 3")
    assert all(fold.parameters == {"delta": 0.5} for fold in found.folds)
    assert tuned().warnings == ()


def test_judgements_that_count_topics_are_not_tuned_on(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "ducks"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "2", "text": "ducks"}\n{"_id": "4", "text": "geese"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n2\td1\t1\n")
    done = command_line("search", tmp_path, "--grid", "k1=1,2")
    assert (done.exit, "--ids position" in done.stderr) == (3, True)


def test_tuning_needs_a_choice_and_scores_by_topic() -> None:
    with pytest.raises(UsageError, match="at least two combinations"):
        tuned(grid={"k1": (1.0,)})
    with pytest.raises(UsageError, match="no score by topic"):
        tuned(measure="nDCG(agg='ratio')")


# The command


def searched(*arguments: str | Path) -> Outcome:
    return command_line("search", POND, "--repeats", "1", "--warm-up", "0", *arguments)


def rows(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("# ")]


def test_command_writes_the_run_that_the_library_finds(tmp_path: Path) -> None:
    documents, topics, _ = pond()
    for model in MODELS:
        path = tmp_path / f"{model}.run"
        assert searched("--model", model, "-o", path, "--depth", "5").exit == 0
        found = retrieve(documents, topics, model, depth=5, timing=ONCE).run
        assert cranfield.read_run(path).to_dict() == found.to_dict()
        assert {line.split()[5] for line in rows(path)} == {model}


def test_same_bytes_every_time_without_the_header(tmp_path: Path) -> None:
    first, second = tmp_path / "a.run", tmp_path / "b.run"
    for path in (first, second):
        assert searched("--tag", "mine", "-o", path).exit == 0
    assert first.read_bytes() == second.read_bytes()
    assert first.read_text().startswith("1 Q0 ")
    with_header = searched("--tag", "mine", "--header")
    assert with_header.stdout.startswith("# ir_metadata.start\n")
    assert with_header.stdout.endswith(first.read_text())
    assert "latency p50" in with_header.stderr


def test_other_tools_read_the_run_and_tables_find_what_lies_beside_it(tmp_path: Path) -> None:
    pytrec_eval, ir_measures = pytest.importorskip("pytrec_eval"), pytest.importorskip("ir_measures")
    path = tmp_path / "a.run"
    assert searched("-o", path).exit == 0
    ours = cranfield.read_run(path).to_dict()
    with path.open() as lines:
        assert pytrec_eval.parse_run(lines) == ours
    theirs = {(row.query_id, row.doc_id): row.score for row in ir_measures.read_trec_run(str(path))}
    assert theirs == {(topic, document): score for topic, of in ours.items() for document, score in of.items()}
    told = command_line("evaluate", EXAMPLES / "pond.qrels", path, "--figure", "p99", "-f", "json")
    assert told.exit == 0, told.stderr
    assert json.loads(told.stdout)["runs"][0]["figures"]["p99"] > 0


def test_a_header_is_refused_where_there_is_no_place_for_it(tmp_path: Path) -> None:
    done = searched("--header", "-o", tmp_path / "a.jsonl")
    assert done.exit == 2
    assert "--header is for TREC text: jsonl has no comments" in done.stderr


def test_fuse_writes_what_it_did_over_what_an_earlier_run_of_that_name_took(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    assert searched("-o", path).exit == 0
    runs = [EXAMPLES / "bm25.run", EXAMPLES / "dense.run"]
    assert command_line("fuse", *runs, "--method", "weighted-sum", "-p", "weights=0.7,0.3", "-o", path).exit == 0
    assert not path.read_text().startswith("#")
    told = cranfield.efficiency.read_metadata(path)
    assert told is not None
    assert told["tag"] == "weighted-sum"
    assert told["method"]["fusion"] == [{"name": "weighted-sum", "weights": [0.7, 0.3], "depth": 1000}]
    assert told["data"]["runs"] == list(map(str, runs))
    assert "resources" not in told  # those of the search that was here before


# Of the rows for the pond, cut at 5: they must be the same on every machine and with every version of a library.
DIGESTS = {
    "bm25": "673944b1719d052c",
    "vsm": "9f67872bdc22ec40",
    "tfidf": "b0687429cda47c40",
    "lm": "047c0cc8bb679b4e",
    "jm": "c1b29e969b45678b",
    "random": "35e16903c3288cd5",
}


@pytest.mark.parametrize("model", MODELS)
def test_same_bytes_on_every_machine(model: str, tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    assert searched("--model", model, "--depth", "5", "-o", path).exit == 0
    assert hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest() == DIGESTS[model]


def test_same_bytes_from_another_process_and_another_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other hashes of text, one thread, and NumPy without the instructions of newer processors, whose logarithms end in
    other bits.
    """
    here = searched("--model", "lm").stdout
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    config: Any = np.show_config(mode="dicts")
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", " ".join(config["SIMD Extensions"].get("found", [])))
    there = command_process("search", POND, "--model", "lm")
    assert there.exit == 0, there.stderr
    assert there.stdout == here


def test_suffix_says_how_the_run_is_written(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a b", "title": "", "text": "ducks"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "1", "text": "ducks"}\n')
    done = command_line("search", tmp_path, "-o", tmp_path / "x.run")
    assert (done.exit, "the id 'a b' cannot be written as trec" in done.stderr) == (3, True)
    for name in ("x.jsonl.gz", "x.csv"):
        assert command_line("search", tmp_path, "-o", tmp_path / name).exit == 0
        assert list(cranfield.read_run(tmp_path / name).of("1")) == ["a b"]
        assert (tmp_path / f"{name}.metadata.json").exists()


def test_nothing_is_written_beside_what_is_no_file(tmp_path: Path) -> None:
    pipe = tmp_path / "null"
    pipe.symlink_to("/dev/null")
    assert searched("-o", pipe).exit == 0
    assert [path.name for path in tmp_path.iterdir()] == ["null"]


def test_metadata_say_what_was_searched_for_and_where(tmp_path: Path) -> None:
    path = tmp_path / "x.run"
    assert searched("--fields", "text", "--query", "title", "--depth", "7", "-o", path).exit == 0
    told = cranfield.efficiency.read_metadata(path)
    assert told is not None
    assert told["method"]["indexing"]["fields"] == "text"
    assert told["method"]["query"] == {"fields": "title", "depth": 7}
    assert told["data"]["test collection"]["name"] == "pond"


def test_ids_that_are_not_utf8_survive_in_the_index(tmp_path: Path) -> None:
    documents = Documents(("a\udcff", "b\nc"), {"text": ["ducks", "ducks swim"]})
    index, _ = indexed(documents, path=tmp_path / "x.index")
    assert load_index(tmp_path / "x.index").ids == index.ids == ("b\nc", "a\udcff")


def test_collection_without_topics_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "1", "title": "", "text": "ducks"}\n')
    done = command_line("search", tmp_path)
    assert done.exit == 3
    assert "has no topics" in done.stderr


def test_documentation_names_every_model_parameter_and_cost() -> None:
    text = (EXAMPLES.parent / "docs" / "search.md").read_text()
    for model in MODELS.values():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{model.name}` | `--")]
        for name, default in model.defaults.items():
            shown = f"{default:g}" if isinstance(default, float) else str(default).lower()
            assert f"`--{name.rstrip('_')}` {shown}" in row
    assert all(name in text for name in FIGURES)
    for name in ("english", "lucene", "scikit-learn"):
        assert f"`{name}` (" in text
        assert f"{len(stop_words(name))} words" in text


def test_parameters_on_the_command_line_reach_the_model(tmp_path: Path) -> None:
    documents, topics, _ = pond()
    cases: list[tuple[str, list[str], dict[str, Any]]] = [
        ("bm25", ["--k1", "0.4", "--b", "0.1", "--variant", "bm25+", "--delta", "0.9"],
         {"k1": 0.4, "b": 0.1, "variant": "bm25+", "delta": 0.9}),
        ("vsm", ["--weighting", "Lnu.ltc", "--slope", "0.4"], {"weighting": "Lnu.ltc", "slope": 0.4}),
        ("tfidf", ["--sublinear", "true"], {"sublinear": True}),
        ("lm", ["--mu", "7"], {"mu": 7.0}),
        ("jm", ["--lambda", "0.2"], {"lambda_": 0.2}),
        ("random", ["--seed", "5"], {"seed": 5}),
    ]  # fmt: skip
    assert {model for model, _, _ in cases} == set(MODELS)
    for model, arguments, parameters in cases:
        assert parameters.keys() == find_model(model).parameters.keys()
        path = tmp_path / "x.run"
        assert searched("--model", model, *arguments, "-o", path).exit == 0
        found = retrieve(documents, topics, model, parameters=parameters, timing=ONCE).run
        assert cranfield.read_run(path).to_dict() == found.to_dict()


def test_command_tunes_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "tuned.run"
    arguments = ("--grid", "k1=0.1,1.2", "--grid", "b=0:1:0.5", "--folds", "2", "--seed", "1", "-m", "AP", "-o", path)
    done = searched(*arguments, "-f", "json")
    assert done.exit == 0, done.stderr
    tuning = json.loads(done.stdout)["tuning"]
    assert len(tuning["points"]) == 6
    assert [len(fold["test"]) for fold in tuning["folds"]] == [3, 3]
    mean = cranfield.evaluate(EXAMPLES / "pond.qrels", path, "AP").means[0, 0]
    assert mean == pytest.approx(tuning["test_score"])
    told = cranfield.efficiency.read_metadata(path)
    assert told is not None
    assert [each["name"] for each in told["method"]["retrieval"]] == ["bm25 fold 1", "bm25 fold 2"]
    assert told["tuning"]["folds"] == tuning["folds"]
    table = searched(*arguments)
    assert f"all, tuned on other topics                       {mean:.4f}       6" in table.stdout
    splits = tmp_path / "splits.json"
    splits.write_text(split(EXAMPLES / "pond.qrels", folds=2, seed=1).to_json())
    again = searched("--grid", "k1=0.1,1.2", "b=0:1:0.5", "--splits", splits, "-o", path, "-f", "json")
    assert json.loads(again.stdout)["tuning"] == tuning


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--model", "bm52"], 2, "no model 'bm52'"),
        (["--mu", "3"], 2, "bm25 has no parameter 'mu'"),
        (["--k1", "inf"], 2, "k1 must be a number, not 'inf'"),
        (["--delta", "1"], 2, "delta counts for bm25l and bm25+ alone"),
        (["--model", "vsm", "--slope", "0.1"], 2, "slope counts for weightings with u alone"),
        (["--grid", "delta=0.5,1"], 2, "delta counts for bm25l and bm25+ alone"),
        (["k1=1,2"], 2, "only one collection can be searched: what is 'k1=1,2'?"),
        (["--grid", "k1=1,2", "b"], 2, "a grid is name=first:last:step or name=value,value, not 'b'"),
        (["--grid", "k1=1,2", "-m", "alpha_nDCG@10"], 2, "needs more than grades"),
        (["--k1", "big"], 2, "k1 must be a number, not 'big'"),
        (["--stemmer", "klingon"], 2, "no stemmer 'klingon'"),
        (["--stop-words", "klingon"], 2, "no list of stop words 'klingon'"),
        (["--query", "narrative"], 2, "no field narrative"),
        (["--fields", "abstract"], 2, "no field abstract"),
        (["--folds", "2"], 2, "say what to tune"),
        (["--grid", "k1=1,2", "--k1", "1"], 2, "both a value and a grid"),
        (["--grid", "k1=1,2", "--folds", "2", "--splits", "x"], 2, "exclude each other"),
        (["--grid", "k1=1,2", "--tune", "missing"], 3, "missing"),
        (["-o", "no/such/folder/x.run"], 3, "cannot be written"),
    ],
)
def test_wrong_calls_say_what_is_wrong(arguments: list[str], code: int, message: str) -> None:
    done = searched(*arguments)
    assert done.exit == code
    assert message in done.stderr


def test_long_work_draws_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with progress.counted("tuning", 3) as counter:
        counter.step()
        waited = 0
        while "tuning" not in terminal.getvalue() and waited < 1000:
            time.sleep(0.01)
            waited += 1
    assert "tuning" in terminal.getvalue()
    assert (counter.done, counter.total) == (1, 3)


def test_models_are_named_in_the_help() -> None:
    done = command_line("search", "--help")
    text = " ".join(done.stdout.split())
    assert all(name in text for name in MODELS)
    assert "bm25, vsm, tfidf, lm, jm or random" in text
    assert ", ".join(MODELS).replace(", random", " or random") in text


# The classic collection


@pytest.fixture(scope="module")
def classic() -> Collection:
    if not COLLECTION.is_dir():
        pytest.skip("the data folder with the Cranfield collection is not here")
    return read_collection(COLLECTION, ids="position")


@pytest.mark.parametrize(
    ("model", "parameters", "settings", "bars", "reference", "overlap"),
    [
        ("bm25", {}, ("english", "english"), (0.29, 0.36), "bm25-stem", 0.85),
        ("bm25", {}, ("english", "lucene"), (0.29, 0.36), "bm25-stem", 0.995),
        ("bm25", {}, ("none", "lucene"), (0.27, 0.34), "bm25", 0.995),
        ("vsm", {"weighting": "lnc.ltc"}, ("english", "english"), (0.27, 0.34), "vsm-logtf", 0.6),
        ("tfidf", {"sublinear": True}, ("none", "scikit-learn"), (0.27, 0.34), "vsm-logtf", 0.995),
        ("tfidf", {}, ("none", "scikit-learn"), (0.27, 0.33), "vsm-tfidf", 0.995),
        ("lm", {}, ("english", "english"), (0.27, 0.34), None, 0),
        ("jm", {}, ("english", "english"), (0.27, 0.34), None, 0),
    ],
)
def test_classic_collection(
    classic: Collection, model: str, parameters: Any, settings: tuple[str, str], bars: tuple[float, float],
    reference: str | None, overlap: float,
) -> None:  # fmt: skip
    assert classic.documents is not None
    assert classic.topics is not None
    assert classic.qrels is not None
    index = build_index(classic.documents, Analysis(*settings))
    run = retrieve(index, classic.topics, model, parameters=parameters, timing=ONCE).run
    precision, gain = cranfield.evaluate(classic.qrels, run, ["AP", "nDCG@10"]).means[0]
    assert precision >= bars[0]
    assert gain >= bars[1]
    if reference is not None:
        agreement = correlate(run, COLLECTION / "runs" / f"{reference}.run.gz", "kendall", depth=100).mean()
        assert agreement["RBO"] >= overlap


def test_a_value_is_given_once_in_the_name_of_the_model_or_by_an_option() -> None:
    """Other parameters may be given by options beside those in the name."""
    named = ModelChoice.of("bm25(k1=0.9)", {"b": "0.3"}, ())
    assert (named.model.name, named.fixed) == ("bm25", {"k1": 0.9, "b": 0.3})
    with pytest.raises(UsageError, match=r"bm25\(k1=0\.9\) has a value for k1: it cannot be given another by --k1"):
        ModelChoice.of("bm25(k1=0.9)", {"k1": "1.2"}, ())
