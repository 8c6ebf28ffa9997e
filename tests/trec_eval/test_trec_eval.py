"""`cranfield trec_eval` against outputs of trec_eval itself, where they are at hand, and against figures by hand."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from commands import Outcome, command_line
from cranfield.trec_eval.arguments import VERSIONS
from cranfield.trec_eval.names import TABLE, everything, wanted
from generate import WHOLE_GRADES, Collection, collections
from places import DATA

FOLDERS, CRANFIELD = (DATA / "trec_eval", DATA / "trec_eval-more"), DATA / "cranfield"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder with trec_eval's outputs is not here")


def trec_eval(*arguments: str | Path) -> Outcome:
    return command_line("trec_eval", *arguments)


MEASURE_PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 -m Rprec_mult.5.0,0.2,0.35 "
    "-mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 -mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)
# NIST's regression suite: what each call prints is in the file named first. Files stand in one of two folders.
GOLDEN = [
    "out.test: qrels.test results.test",
    "out.test.a: -m all_trec qrels.test results.test",
    "out.test.aq: -m all_trec -q qrels.test results.test",
    "out.test.aqc: -m all_trec -q -c qrels.test results.trunc",
    "out.test.aqcM: -m all_trec -q -c -M100 qrels.test results.trunc",
    "out.test.aql: -m all_trec -mrelstring.20 -q -l2 qrels.rel_level results.test",
    "out.test.prefs: -m all_prefs -q -R prefs prefs.test prefs.results.test",
    "out.test.qrels_prefs: -m all_prefs -q -R qrels_prefs qrels.test results.test",
    "out.test.qrels_jg: -m qrels_jg -q -R qrels_jg qrels.123 results.test",
    f"out.test.meas_params: {MEASURE_PARAMETERS} qrels.test results.test",
    "out.test.aqZ: -q -m all_trec -Z zscores_file qrels.test results.test",
    "out.comment.test: qrels.comment.test results.comment.test",
    "out.test: qrels.test.with-comments results.test",
    "out.test.prefs: -m all_prefs -q -R prefs prefs.comment.test prefs.results.test",
    "out.test.qrels_jg: -m qrels_jg -q -R qrels_jg qrels.comments.123 results.test",
]


def theirs(name: str) -> Path:
    return next((path for folder in FOLDERS if (path := folder / name).is_file()), Path(name))


@needs_data
@pytest.mark.parametrize("golden", GOLDEN)
def test_outputs_of_its_own_tests_are_reproduced(golden: str) -> None:
    output, _, arguments = golden.partition(": ")
    done = trec_eval(*(theirs(word) for word in arguments.split()))
    assert (done.exit, done.stderr) == (0, "")
    assert done.stdout == theirs(output).read_text()


@needs_data
def test_every_file_of_the_suite_is_used() -> None:
    files = {path.name for folder in FOLDERS for path in folder.iterdir()}
    assert files == {word.rstrip(":") for golden in GOLDEN for word in golden.split()} & files
    assert len(GOLDEN) == 15


@needs_data
@pytest.mark.parametrize("output", sorted(os.listdir(CRANFIELD / "expected")) if DATA.is_dir() else [])
def test_both_versions_are_reproduced_on_a_real_collection(output: str) -> None:
    run, _, rest = output.partition(".trec_eval-")
    version = "9.0" if rest.startswith("9.0") else "10.0"
    files = (CRANFIELD / "cranfield.qrels", CRANFIELD / "runs" / f"{run}.run.gz")
    done = trec_eval("--as", version, "-q", "-c", "-m", "all_trec", *files)
    expected = gzip.decompress((CRANFIELD / "expected" / output).read_bytes()).decode()
    assert (done.exit, done.stderr) == (0, "")
    assert done.stdout == expected


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("made", collections(4, WHOLE_GRADES), ids=str)
def test_9_prints_what_pytrec_eval_computes(made: Collection, level: int, tmp_path: Path) -> None:
    """pytrec_eval holds a trec_eval 9.0; it knows a few names more than it has values for."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels = {topic: {document: int(grade) for document, grade in of.items()} for topic, of in made.qrels.items()}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures, relevance_level=level)
    (tmp_path / "qrels").write_text("".join(f"{t} 0 {d} {g}\n" for t, of in qrels.items() for d, g in of.items()))
    (tmp_path / "run").write_text(
        "".join(f"{t} Q0 {d} 1 {s!r} x\n" for t, of in made.run.items() for d, s in of.items())
    )
    asked = ("-q", "-n", "-l", str(level), "-m", "all_trec", "-m", "yaap")
    done = trec_eval("--as", "9.0", *asked, tmp_path / "qrels", tmp_path / "run")
    ours = {
        (topic, name.strip()): value for name, topic, value in (row.split("\t") for row in done.stdout.splitlines())
    }
    expected = {
        (topic, name): f"{value:.0f}" if name.startswith("num_") else f"{value:6.4f}"
        for topic, values in theirs.evaluate(made.run).items()
        for name, value in values.items()
        if name != "relstring" and (topic, name) in ours
    }
    assert len(expected) >= 90 * len(set(made.run) & set(qrels))
    assert {key: ours[key] for key in expected} == expected


class Small:
    """Judgements and a run written by hand: a topic's grades, and its documents from best to worst."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, qrels: str, run: str, *arguments: str, version: str = "10.0") -> Outcome:
        """`qrels` has lines of topic and document=grade; `run` of topic and document, with =score or in order."""
        judgements = [(line.split()[0], pair.split("=")) for line in qrels.split(";") for pair in line.split()[1:]]
        rows = [
            (line.split()[0], *(f"{document}={-rank}".split("=")[:2]))
            for line in run.split(";")
            for rank, document in enumerate(line.split()[1:])
        ]
        return self.text(
            "".join(f"{topic} 0 {document} {grade}\n" for topic, (document, grade) in judgements),
            "".join(f"{topic} Q0 {document} 0 {score} tag\n" for topic, document, score in rows),
            *arguments,
            version=version,
        )

    def text(self, qrels: str, run: str, *arguments: str, version: str = "10.0") -> Outcome:
        (self.folder / "qrels").write_text(qrels)
        (self.folder / "run").write_text(run)
        return trec_eval("--as", version, *arguments, self.folder / "qrels", self.folder / "run")


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def line(name: str, topic: str, value: str) -> str:
    return f"{name:<22}\t{topic}\t{value}\n"


@pytest.mark.parametrize(("version", "value"), [("9.0", "0.6667"), ("10.0", "1.0000")])
def test_recall_levels_are_rounded_as_the_version_does(small: Small, version: str, value: str) -> None:
    """0.4 of 3 is 1.2: two documents for 9.0, with precision 2/3; one for 10.0, with precision 1."""
    done = small("q a=1 b=1 c=1", "q a x b y z c", "-m", "iprec_at_recall..4", version=version)
    assert done.stdout == line("iprec_at_recall_0.40", "all", value)


def test_a_level_just_below_a_whole_number_in_binary_needs_one_document_less_in_9(small: Small) -> None:
    """0.7 * 3 + 0.9 is 2.9999999999999996; ours needs three."""
    done = small("q a=1 b=1 c=1", "q a x b y z c", "-m", "iprec_at_recall..7", version="9.0")
    assert done.stdout == line("iprec_at_recall_0.70", "all", "0.6667")


MISSING = ("q1 a=1;q2 b=1", "q1 a")
WITH_GM = ("-m", "map", "-m", "gm_map", "-m", "num_q")


def test_9_leaves_topics_without_an_answer_out(small: Small) -> None:
    done = small(*MISSING, *WITH_GM, "-q", version="9.0")
    assert done.stdout == (
        line("map", "q1", "1.0000") + line("num_q", "all", "1") + line("map", "all", "1.0000")
        + line("gm_map", "all", "1.0000")
    )  # fmt: skip


def test_9_with_c_counts_topics_without_an_answer_and_does_not_print_them(small: Small) -> None:
    """The geometric mean of 1 and 0.00001 is 0.0032."""
    done = small(*MISSING, *WITH_GM, "-q", "-c", version="9.0")
    assert done.stdout == (
        line("map", "q1", "1.0000") + line("num_q", "all", "2") + line("map", "all", "0.5000")
        + line("gm_map", "all", "0.0032")
    )  # fmt: skip


def test_10_stops_at_a_topic_without_an_answer(small: Small) -> None:
    done = small(*MISSING, *WITH_GM)
    assert (done.exit, done.stdout) == (4, "")
    assert "no answer for q2" in done.stderr


def test_10_with_c_prints_topics_without_an_answer(small: Small) -> None:
    done = small(*MISSING, "-m", "map", "-m", "num_ret", "-m", "relstring", "-q", "-c")
    assert done.stdout == (
        line("num_ret", "q1", "1") + line("map", "q1", "1.0000") + line("relstring", "q1", "'1'")
        + line("num_ret", "q2", "0") + line("map", "q2", "0.0000") + line("relstring", "q2", "''")
        + line("num_ret", "all", "1") + line("map", "all", "0.5000")
    )  # fmt: skip


def test_yaap_of_a_topic_without_an_answer(small: Small) -> None:
    """ln(2) for q1; ln(1/2) for q2 in 10.0, and nothing in 9.0."""
    assert small(*MISSING, "-m", "yaap", "-c").stdout == line("yaap", "all", "0.0000")
    assert small(*MISSING, "-m", "yaap", "-c", version="9.0").stdout == line("yaap", "all", "0.3466")


def test_parameters_do_not_let_a_made_up_document_through(small: Small) -> None:
    """trec_eval 10.0 prints -1, 1 and '-' for q2; an empty list has utility 0, nothing unjudged and no grades."""
    asked = ("-m", "utility.1,-1,0,0", "-m", "rbp_resid.p=.5", "-m", "relstring.5")
    done = small(*MISSING, *asked, "-q", "-n", "-c")
    assert done.stdout.splitlines()[3:] == [
        f"{'relstring_5':<22}\tq2\t''",
        f"{'utility_1,-1,0,0':<22}\tq2\t0.0000",
        f"{'rbp_resid_p=.5':<22}\tq2\t0.0000",
    ]


@pytest.mark.parametrize(("version", "value"), [("9.0", "0.5000"), ("10.0", "1.0000")])
def test_scores_are_single_in_9_and_double_in_10(small: Small, version: str, value: str) -> None:
    """In single precision the two scores are equal, and the later id stands first."""
    done = small("q d1=1", "q d1=16777217 d2=16777216", "-m", "recip_rank", version=version)
    assert done.stdout == line("recip_rank", "all", value)


def test_single_precision_leaves_other_topics_and_large_scores_alone(small: Small) -> None:
    run = "q1 d1=16777217 d2=16777216;q2 d1=3 d2=2;q3 d1=1e300 d2=2e300"
    done = small("q1 d1=1;q2 d1=1;q3 d1=1", run, "-m", "recip_rank", "-q", "-n", version="9.0")
    assert [text.split("\t")[2] for text in done.stdout.splitlines()] == ["0.5000", "1.0000", "0.5000"]


def test_c_counts_relevant_documents_whatever_the_level(small: Small) -> None:
    qrels, run = "q a=2 b=2 c=1", "q a"
    assert small(qrels, run, "-m", "num_rel", "-l2").stdout == line("num_rel", "all", "2")
    assert small(qrels, run, "-m", "num_rel", "-l", "2", "-c").stdout == line("num_rel", "all", "3")


VALUES = [
    # 3/1 + 9/log2(3) over 9/1 + 3/log2(3)
    ("q a=1 b=2", "q a b", "ndcg.1=3,2=9", "ndcg_1=3,2=9", "0.7967"),
    # the same formula with 0.3 and 0.7, which trec_eval sorts as if they were equal
    ("q a=1 b=2", "q a b", "ndcg.1=.3,2=.7", "ndcg_1=.3,2=.7", "0.8340"),
    # an unjudged document counts 1: 1 + 1/log2(3) over 1
    ("q a=1", "q x a", "ndcg.-1=1", "ndcg_-1=1", "1.6309"),
    # a negative gain is taken from DCG and is no part of the ideal: 1/log2(3) - 1 over 1
    ("q a=1 b=0", "q b a", "ndcg.0=-1", "ndcg_0=-1", "-0.3691"),
    ("q a=1 b=0", "q b a", "ndcg_rel.0=-9", "ndcg_rel_0=-9", "0.0000"),
    ("q a=1 b=2", "q a b", "dcg", "dcg", "2.2619"),
    ("q a=1 b=2", "q a b", "ideal_dcg", "ideal_dcg", "2.6309"),
    ("q a=1 b=1 c=1", "q a x b y", "utility.2,-1,0,0", "utility_2,-1,0,0", "2.0000"),
    ("q a=1 b=1 c=1", "q a x b y", "utility", "utility", "0.0000"),
    # (2 + 1) P R / (R + 2 P), P = 1/2 and R = 2/3
    ("q a=1 b=1 c=1", "q a x b y", "set_F.2", "set_F_2", "0.6000"),
    ("q a=1 b=1 c=1", "q a x b y", "set_map", "set_map", "0.3333"),
    ("q a=1 b=1 c=1", "q a x b y", "set_relative_P", "set_relative_P", "0.6667"),
    ("q a=1 b=1 c=1", "q a x b y", "Rprec_mult.0.5", "Rprec_mult_0.50", "0.5000"),
    ("q a=1 b=1 c=1", "q a x b y", "11pt_avg..25,.5", "11pt_avg_.25,.5", "0.8333"),
    ("q a=1 b=1", "q a x y b", "binG", "binG", "0.7500"),
    ("q a=1 b=0", "q a x b", "unj.5", "unj_5", "0.2000"),
    # half of 1 and 1/2 of half a quarter: (1 - p) (2/2 + 1/2 p²)
    ("q a=2 b=0 c=1", "q a b c", "rbp.p=.5", "rbp_p=.5", "0.5625"),
    # gains from -1 to 3 become 0 to 1: a 1, b 1/4 (as level 0 has), c 0
    ("q a=1 b=0 c=2", "q a b c", "rbp.p=.5,1=3,2=-1", "rbp_p=.5,1=3,2=-1", "0.5625"),
    ("q a=1000000000000000", "q a", "rbp.p=.5", "rbp_p=.5", "0.5000"),
    # p³ below the list and (1 - p) p for x
    ("q a=2 c=1", "q a x c", "rbp_resid.p=.5", "rbp_resid_p=.5", "0.3750"),
    ("q a=2 c=1", "q a c", "rbp_resid.p=.5", "rbp_resid_p=.5", "0.0000"),
    # grades are cut to whole numbers: 1.9 is 1 and 0.7 is 0
    ("q a=1.9 b=0.7", "q b a", "ndcg", "ndcg", "0.6309"),
    ("q a=1.9 b=0.7", "q b a", "num_rel", "num_rel", "1"),
    ("q a=1 b=1 c=0", "q c a b", "bpref", "bpref", "0.0000"),
]


@pytest.mark.parametrize(("qrels", "run", "measure", "name", "value"), VALUES, ids=[case[2] for case in VALUES])
def test_values_by_hand(small: Small, qrels: str, run: str, measure: str, name: str, value: str) -> None:
    done = small(qrels, run, "-m", measure)
    assert (done.stdout, done.stderr) == (line(name, "all", value), "")


def test_utility_knows_the_size_of_the_collection(small: Small) -> None:
    """100 documents, 4 retrieved and one relevant one missed."""
    done = small("q a=1 b=1 c=1", "q a x b y", "-m", "utility.0,0,0,1", "-N100")
    assert done.stdout == line("utility_0,0,0,1", "all", "95.0000")


def test_gains_do_not_look_at_the_level_but_for_one(small: Small) -> None:
    done = small("q a=1", "q a", "-l2", "-m", "ndcg", "-m", "Rndcg")
    assert done.stdout == line("ndcg", "all", "1.0000") + line("Rndcg", "all", "0.0000")


def test_relstring_shows_a_character_a_document(small: Small) -> None:
    done = small("q a=3 b=12 c=-1 e=0 f=1", "q a b c d e f", "-q", "-m", "relstring.5")
    assert done.stdout == line("relstring_5", "q", "'3>.-0'")


def test_depth_is_cut_before_unjudged_documents_are_taken_out(small: Small) -> None:
    done = small("q a=1", "q x y a", "-J", "-M", "2", "-m", "num_ret", "-m", "map")
    assert done.stdout == line("num_ret", "all", "0") + line("map", "all", "0.0000")


def test_names_longer_than_the_column_are_not_cut(small: Small) -> None:
    done = small("q a=1", "q a", "-m", "ndcg.1=3,2=9,3=27,4=81,5=243")
    assert done.stdout == "ndcg_1=3,2=9,3=27,4=81,5=243\tall\t1.0000\n"


def test_measures_are_printed_in_the_order_of_the_table_with_sorted_cutoffs(small: Small) -> None:
    done = small("q a=1", "q a", "-m", "P.10,5", "-m", "map", "-m", "P.1")
    assert [text.split()[0] for text in done.stdout.splitlines()] == ["map", "P_5", "P_10"]


def test_topics_go_by_their_bytes_and_the_summary_can_be_left_out(small: Small) -> None:
    done = small("9 a=1;10 a=1;2 a=1", "9 a;10 a;2 a", "-q", "-n", "-m", "map", "-m", "num_q", "-m", "gm_map")
    assert done.stdout == "".join(line("map", topic, "1.0000") for topic in ("10", "2", "9"))


def test_percent_signs_and_lines_without_text_do_no_harm(small: Small) -> None:
    done = small.text("100% 0 a 1\n\n", "100% Q0 a 1 1.0 50%s\n\n", "-q", "-m", "map", "-m", "runid")
    expected = line("map", "100%", "1.0000") + line("runid", "all", "50%s") + line("map", "all", "1.0000")
    assert done.stdout == expected


def test_the_name_of_the_run_is_that_of_the_last_line(small: Small) -> None:
    done = small.text("q 0 a 1\n", "q Q0 a 1 2 first\nq Q0 b 2 1 last\n", "-m", "runid")
    assert done.stdout == line("runid", "all", "last")


@pytest.mark.parametrize("version", VERSIONS)
def test_z_scores(small: Small, tmp_path: Path, version: str) -> None:
    """(1 - 0.5) / 0.25; equal to a mean without deviation; not in the file."""
    (tmp_path / "z").write_text("q1 map 0.5 0.25\nq1 P_5 0.2 0\nq2 map 0 1\nq2 P_5 0.1 0\n")
    asked = ("-m", "map", "-m", "P.5", "-m", "num_ret", "-m", "num_q")
    done = small("q1 a=1;q2 b=1", "q1 a;q2 x", *asked, "-q", "-Z", str(tmp_path / "z"), version=version)
    assert done.stdout == "".join(
        [
            "Z" + line("num_ret", "q1", "-1000000.0000"),
            "Z" + line("map", "q1", "2.0000"),
            "Z" + line("P_5", "q1", "0.0000"),
            "Z" + line("num_ret", "q2", "-1000000.0000"),
            "Z" + line("map", "q2", "0.0000"),
            "Z" + line("P_5", "q2", "-1000000.0000"),
            "Z" + line("num_q", "all", "2.0000"),
            "Z" + line("num_ret", "all", "-2000000.0000"),
            "Z" + line("map", "all", "1.0000"),
            "Z" + line("P_5", "all", "-500000.0000"),
        ]
    )


NUMBERS = [
    ("ndcg_cut.23.4", "ndcg_cut_23"),
    ("P.1_0", "P_1"),
    ("P. 7x", "P_7"),
    ("iprec_at_recall..25x", "iprec_at_recall_0.25"),
    ("set_F.2e0x", "set_F_2e0x"),
    ("ndcg.1=3x", "ndcg_1=3x"),
]


@pytest.mark.parametrize(("asked", "name"), NUMBERS)
def test_a_number_is_read_as_far_as_it_goes(small: Small, asked: str, name: str) -> None:
    done = small("q a=1", "q a", "-m", asked)
    assert (done.exit, done.stdout.split("\t")[0].strip()) == (0, name)


def test_levels_of_11pt_avg_count_in_the_order_given(small: Small) -> None:
    """From the last: 0.5 needs one document, precision 1; 1 needs more than that, and has the highest of all."""
    qrels, run = "q a=1 b=1", "q a x b"
    assert small(qrels, run, "-m", "11pt_avg.0.5,1").stdout == line("11pt_avg_0.5,1", "all", "0.8333")
    assert small(qrels, run, "-m", "11pt_avg.1,0.5").stdout == line("11pt_avg_1,0.5", "all", "1.0000")


def test_a_half_is_rounded_as_the_order_of_operations_has_it(small: Small) -> None:
    """F is 0.01875 and a little more; another order of multiplication gives 0.01875 itself, which is rounded down."""
    relevant = " ".join(f"r{i}=1" for i in range(78))
    done = small(f"q {relevant}", "q r1 x y z", "-m", "set_F.2")
    assert done.stdout == line("set_F_2", "all", "0.0188")


def test_a_half_that_is_a_mean_of_residuals_is_rounded_so_too(small: Small) -> None:
    """The mean of 0.91, 0.91, 0.919 and 0.9 is 0.90975, and a little more if powers of p are made one by one."""
    done = small("q1 b=0;q2 b=0;q3 c=0;q4 a=0", ";".join(f"q{i} a b c d" for i in range(1, 5)), "-m", "rbp_resid")
    assert done.stdout == line("rbp_resid", "all", "0.9098")


def test_a_negative_weight_of_set_f_is_taken_as_it_is(small: Small) -> None:
    """P = 1 and R = 1/2: (0.5) P R / (R - 0.5 P) has no value, and -2 gives -0.5 / -1.5."""
    assert small("q a=1 b=1", "q a", "-m", "set_F.-2").stdout == line("set_F_-2", "all", "0.3333")
    assert small("q a=1 b=1", "q a", "-m", "set_F.-.5").stdout == line("set_F_-.5", "all", "0.0000")


TWO_PRINTED = line("num_ret", "q1", "1") + line("map", "q1", "1.0000")


def test_10_prints_the_topics_before_the_one_at_which_it_stops(small: Small) -> None:
    qrels, run, asked = "q1 a=1;q2 a=1;q3 a=1", "q1 a;q3 a", ("-m", "map", "-m", "num_ret")
    done = small(qrels, run, *asked, "-q")
    assert (done.exit, done.stdout) == (4, TWO_PRINTED)
    assert "no answer for q2" in done.stderr
    assert small(qrels, run, *asked, "-q", "-n").stdout == TWO_PRINTED
    assert small(qrels, run, *asked).stdout == ""
    assert small(qrels, "q2 a;q3 a", *asked, "-q").stdout == ""


@pytest.mark.parametrize("version", VERSIONS)
def test_a_first_topic_with_only_negative_grades_stops_it(small: Small, version: str) -> None:
    """The place where grades are counted is made for the first topic, and for that one it would be empty."""
    first, later = "q1 a=-1;q2 a=1", "q1 a=1;q2 a=-1 b=-2"
    done = small(first, "q1 a;q2 a", "-q", "-m", "map", version=version)
    assert (done.exit, done.stdout) == (4, "")
    assert "topic 'q1', the first, has only negative grades" in done.stderr
    assert small(first, "q1 a;q2 a", "-m", "num_q", version=version).stdout == line("num_q", "all", "2")
    done = small(later, "q1 a;q2 a", "-q", "-n", "-m", "map", version=version)
    assert done.stdout == line("map", "q1", "1.0000") + line("map", "q2", "0.0000")
    if version == "9.0":  # goes by the topics of the run: its first is another
        assert small(first, "q2 a", "-m", "map", version=version).stdout == line("map", "all", "1.0000")


def test_a_later_topic_with_only_negative_grades_finds_those_of_the_one_before(small: Small) -> None:
    done = small("q1 a=3;q2 b=-1;q3 c=-1;q4 d=1", "q1 a;q2 b;q3 c;q4 d", "-q", "-n", "-m", "ideal_dcg", "-m", "ndcg")
    assert [text.split("\t")[2] for text in done.stdout.splitlines()] == [
        "3.0000", "1.0000", "3.0000", "0.0000", "3.0000", "0.0000", "1.0000", "1.0000",
    ]  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_the_run_id_of_json_lines_is_printed(tmp_path: Path, version: str) -> None:
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    (tmp_path / "run.jsonl").write_text('{"topic": "q", "document": "a", "score": 1, "run_id": "bm25"}\n')
    done = trec_eval("--as", version, "-m", "runid", tmp_path / "qrels", tmp_path / "run.jsonl")
    assert done.stdout == line("runid", "all", "bm25")


def test_comments_in_every_format_of_judgements(small: Small) -> None:
    run = "# x\nq Q0 a 1 2 t\n# Q0 b 1 9 t\nq Q0 b 2 1 t\n"
    for format, lines, name in (
        ("qrels", "# by hand 0 1\nq 0 a 1\n", "map"),
        ("qrels_jg", "# by hand\nq 0 a 1\n# 0 b 1\n", "map_avgjg"),
        ("qrels_prefs", "q 0 a 1\n# 0 b 1\nq 0 b 0\n#end\n", "prefs_simp"),
        ("prefs", "# j s b 3\nq j s a 1\nq j s b#1 0\n", "prefs_simp"),
    ):
        assert small.text(lines, run, "-R", format, "-q", "-m", name).stdout == line(name, "q", "1.0000") + line(
            name, "all", "1.0000"
        )


def test_a_document_twice_for_one_assessor_is_a_fault_of_the_file(small: Small) -> None:
    done = small.text("q A a 1\nq A a 1\n", "q Q0 a 1 1 t\n", "-R", "qrels_jg", "-m", "map_avgjg")
    assert (done.exit, done.stdout) == (2, "")


@pytest.mark.parametrize("row", ["q1 map 1_0 1", "q1 map \uff11 1", "q1 map 1", "q1 map 1 1 1", "q1 map x 1", ""])
def test_lines_of_z_scores_that_are_none(small: Small, tmp_path: Path, row: str) -> None:
    (tmp_path / "z").write_text(f"q1 map 0 1\n{row}\n")
    done = small("q1 a=1", "q1 a", "-m", "map", "-Z", str(tmp_path / "z"))
    assert (done.exit, done.stdout) == (2, "")
    assert "z:2: a line of z-scores must be" in done.stderr


def test_several_assessors_are_averaged(small: Small) -> None:
    """The first finds a relevant document at rank 1 of 2, the second at rank 2; q2 has one assessor only."""
    qrels = "q1 A a 1\nq1 A b 0\nq1 B a 0\nq1 B b 1\nq2 A a 1\n"
    run = "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 1 t\n"
    done = small.text(qrels, run, "-R", "qrels_jg", "-q", "-m", "map_avgjg", "-m", "P_avgjg.1")
    assert done.stdout == (
        line("map_avgjg", "q1", "0.7500") + line("P_avgjg_1", "q1", "0.5000")
        + line("map_avgjg", "q2", "1.0000") + line("P_avgjg_1", "q2", "1.0000")
        + line("map_avgjg", "all", "0.8750") + line("P_avgjg_1", "all", "0.7500")
    )  # fmt: skip


def preferences(small: Small, lines: str, run: str, *arguments: str) -> Outcome:
    rows = "".join(f"q Q0 {document} 0 {-rank} t\n" for rank, document in enumerate(run.split()))
    return small.text("".join(f"q {text}\n" for text in lines.split(";")), rows, "-R", "prefs", *arguments)


def test_preferences_follow_from_preferences(small: Small) -> None:
    """a over b and b over c makes a over c; c stands first, and a above b."""
    done = preferences(small, "p 1 a 2;p 1 b 1;p 2 b 2;p 2 c 1", "c a b", "-m", "prefs")
    assert done.stdout.splitlines()[2:6] == [
        f"{'prefs_num_prefs_poss':<22}\tall\t3",
        f"{'prefs_num_prefs_ful':<22}\tall\t1",
        "prefs_num_prefs_ful_ret\tall\t1",
        f"{'prefs_simp':<22}\tall\t0.3333",
    ]


def test_preferences_that_contradict_each_other_are_an_error(small: Small) -> None:
    done = preferences(small, "p 1 a 2;p 1 b 1;p 2 b 2;p 2 a 1", "a b", "-m", "prefs")
    assert (done.exit, done.stdout) == (4, "")
    assert "contradict" in done.stderr


def test_a_judge_without_a_pair_makes_the_balanced_share_of_a_topic_0(small: Small) -> None:
    """0 / 0 for that judge: trec_eval keeps only sums above 0, and that one is not. Other averages count him as 0."""
    pairs = "ann s a 1;ann s b 0"
    names = ("prefs_avgjg", "prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret")
    asked = [part for name in names for part in ("-m", name)]

    def shares(lines: str) -> list[str]:
        return [text.split("\t")[2] for text in preferences(small, lines, "a b c", *asked).stdout.splitlines()]

    assert shares(pairs) == ["1.0000", "1.0000", "1.0000"]
    assert shares(f"{pairs};bob s c 0") == ["0.5000", "0.0000", "0.0000"]
    assert shares(f"{pairs};bob s c 1") == ["0.5000", "1.0000", "1.0000"]  # one made-up document below c


def test_preferences_that_cannot_be_are_found_after_the_topics_before(small: Small) -> None:
    lines = "q1 j s a 1\nq1 j s b 0\nq2 j s a 1\nq2 j s a 0\n"
    run = "q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\n"
    done = small.text(lines, run, "-R", "prefs", "-q", "-m", "prefs_simp")
    assert (done.exit, done.stdout) == (4, line("prefs_simp", "q1", "1.0000"))
    assert "has two levels in one group" in done.stderr


def test_ties_stand_in_ascending_order_for_preferences(small: Small) -> None:
    done = small.text("q 0 a 1\nq 0 b 0\n", "q Q0 a 0 1 t\nq Q0 b 0 1 t\n", "-R", "qrels_prefs", "-m", "prefs_simp")
    assert done.stdout == line("prefs_simp", "all", "1.0000")


EXITS = [
    (("-m", "nope"), 1),
    (("-m", "P."), 1),
    (("-m", "all_trec.5"), 0),
    (("-m", "official.x"), 0),
    (("-m", "P.5,5"), 2),
    (("-m", "P.0"), 2),
    (("-m", "P.x"), 2),
    (("-m", "P.5,5.5"), 2),
    (("-m", "P.\uff15"), 2),
    (("-m", "11pt_avg.x"), 2),
    (("-m", "ndcg.1=2=3"), 2),
    (("-m", "ndcg.1_0=2"), 2),
    (("-m", "P.99999999999999999999999"), 2),
    (("-m", "11pt_avg.nan"), 2),
    (("-m", "ndcg.1=inf"), 2),
    (("-m", "iprec_at_recall.1e300"), 0),
    (("-m", "ndcg.5"), 2),
    (("-m", "utility.1,2"), 4),
    (("-R", "nope"), 2),
    (("-T", "nope"), 2),
    (("-m", "rbp.p=2"), 2),
    (("--nonsense",), 1),
    (("-l", "x"), 1),
    (("-M", "0"), 1),
    (("-Z", "missing-file"), 2),
    (("-m", "prefs_simp"), 4),
    (("-R", "prefs", "-m", "map"), 4),
    (("-m", "map"), 0),
    (("-m", "map.5"), 0),
]


@pytest.mark.parametrize(("arguments", "code"), EXITS, ids=[" ".join(case[0]) for case in EXITS])
def test_exit_codes_of_the_request(small: Small, arguments: tuple[str, ...], code: int) -> None:
    done = small("q a=1", "q a", *arguments)
    assert done.exit == code
    assert bool(done.stderr) == (code != 0)


@pytest.mark.parametrize(
    ("qrels", "run", "code"),
    [
        ("q 0 a 1\n", "q Q0 a 1 1\n", 2),
        ("q 0 a\n", "q Q0 a 1 1 t\n", 2),
        ("", "q Q0 a 1 1 t\n", 2),
        ("q 0 a 1\nq 0 a 0\n", "q Q0 a 1 1 t\n", 4),
        ("q 0 a 1\nq 0 a 1\n", "q Q0 a 1 1 t\n", 4),
        ("q 0 a 1\n", "q Q0 a 1 1 t\nq Q0 a 1 2 t\n", 4),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_exit_codes_of_the_files(small: Small, version: str, qrels: str, run: str, code: int) -> None:
    done = small.text(qrels, run, version=version)
    assert (done.exit, done.stdout) == (code, "")
    assert done.stderr


@pytest.mark.parametrize(("version", "code"), [("9.0", 7), ("10.0", 4)])
def test_exit_codes_where_no_topic_is_in_both_files(small: Small, version: str, code: int) -> None:
    done = small("q a=1", "z a", version=version)
    assert (done.exit, done.stdout) == (code, "")
    assert done.stderr


def test_files_that_are_not_there(tmp_path: Path) -> None:
    assert trec_eval(tmp_path / "a", tmp_path / "b").exit == 2
    assert trec_eval(tmp_path / "a").exit == 1


def test_9_does_not_know_what_came_with_10(small: Small) -> None:
    done = small("q a=1", "q a", "-m", "rbp", version="9.0")
    assert done.exit == 1
    assert "trec_eval 10.0 does" in done.stderr


@pytest.mark.parametrize("nickname", sorted({word for entry in TABLE for word in entry.nicknames.split()}))
def test_every_measure_of_every_group_can_be_asked_for(small: Small, nickname: str) -> None:
    formats = {one.entry.judgements for one in wanted([nickname], "10.0")} - {""}
    (format,) = formats
    judgements = "q 0 0 a 1\nq 0 0 b 0\n" if format == "prefs" else "q 0 a 1\nq 0 b 0\n"
    done = small.text(judgements, "q Q0 a 1 1 t\n", "-q", "-R", format, "-m", nickname)
    assert (done.exit, done.stderr) == (0, "")
    assert done.stdout
    assert {one.entry.name for one in wanted([nickname], "10.0")} <= set(everything(format))


def test_differences_are_explained(small: Small) -> None:
    done = small("q d1=1 d2=1 d3=1", "q d1=16777217 x=16777216 d2=9 d3=5", "--explain-differences")
    lines = {text.split()[0]: text for text in done.stdout.splitlines()}
    assert lines["recip_rank"].split()[1:4] == ["0.5000", "1.0000", "1.0000"]
    assert "single precision" in lines["recip_rank"]
    assert "rounded to the nearest" in lines["iprec_at_recall_0.40"]
    assert "recall_5" not in lines


def test_where_all_agree_it_says_so(small: Small) -> None:
    done = small("q a=1", "q a", "--explain-differences", "-m", "map")
    assert done.stdout.startswith("All agree")


def test_differences_of_topics_without_an_answer(small: Small) -> None:
    done = small(*MISSING, "--explain-differences", "-m", "map", "-m", "utility.1,-1,0,0")
    assert "10.0 stops" in done.stdout
    assert done.stdout.splitlines()[1].split()[:4] == ["map", "1.0000", "-", "0.5000"]
    complete = small(*MISSING, "--explain-differences", "-c", "-m", "map", "-m", "utility.1,-1,0,0")
    assert "makes up a document" in complete.stdout


def test_differences_say_why_a_version_stops(small: Small) -> None:
    asked = ("--explain-differences", "-m", "map")
    told = small(*MISSING, *asked).stdout
    assert "10.0 stops with exit code 4: the run has no answer for q2. -c counts such topics as 0" in told
    assert "9.0 stops" not in told
    told = small("q1 a=-1;q2 a=1", "q1 a;q2 a", *asked).stdout
    for version in VERSIONS:
        assert f"{version} stops with exit code 4: topic 'q1', the first, has only negative grades." in told
    assert "no answer" not in told


def test_differences_of_ideals_that_a_topic_left(small: Small) -> None:
    done = small("q1 a=3;q2 b=-1", "q1 a;q2 b", "--explain-differences", "-m", "ideal_dcg")
    assert done.stdout.splitlines()[1].split()[:5] == ["ideal_dcg", "-", "3.0000", "1.5000", "1"]
    assert "the value of the topic before" in done.stdout


def test_differences_by_grades_that_are_no_whole_numbers(small: Small) -> None:
    done = small("q a=1.9 b=0.7", "q b a", "--explain-differences", "-m", "ndcg", "-m", "G.1=.5")
    assert "cuts grades to whole numbers" in done.stdout
    assert "G_1=.5: trec_eval takes gains less than 1 apart for equal" in done.stdout
