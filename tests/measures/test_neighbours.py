"""The names that trec_eval, ir_measures and ranx have for measures, as their own documentation writes them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest
from click.testing import CliRunner

from cranfield import Policy, UsageError, evaluate
from cranfield.cli import cli
from cranfield.measures import parse_measure, parse_measures
from cranfield.measures.notation import RANX
from cranfield.plot.subject import find_picture
from generate import collection

MADE = collection("graded", 5, topics=8)

# As ranx's documentation writes them, with the measure of ours that each is.
RANX_EXAMPLES = {
    "hits": "NumRelRet(agg='mean')",
    "hits@5": "NumRelRet(agg='mean')@5",
    "hit_rate@10": "Success@10",
    "precision": "SetP",
    "precision@5": "P@5",
    "recall@100": "R@100",
    "recall@3-l2": "R(rel=2)@3",
    "f1": "SetF",
    "f1@10": "F@10",
    "r-precision": "Rprec",
    "mrr": "RR",
    "mrr@2": "RR@2",
    "map": "AP",
    "map@5": "AP@5",
    "map@5-l2": "AP(rel=2)@5",
    "dcg@10": "DCG@10",
    "dcg_burges@10": "DCG(gain='exp')@10",
    "ndcg": "nDCG",
    "ndcg@10": "nDCG@10",
    "ndcg_burges@10": "nDCG(gain='exp')@10",
    "bpref": "Bpref",
}
ASK_RANX = """
import json, sys
from ranx import evaluate
qrels, run, names = json.load(sys.stdin)
qrels = {topic: {d: int(g) for d, g in of.items()} for topic, of in qrels.items()}
print(json.dumps({name: float(evaluate(qrels, run, name)) for name in names}))
"""


@pytest.fixture(scope="module")
def by_ranx() -> dict[str, float]:
    """What ranx gives, without the half minute in which it compiles itself."""
    if find_spec("ranx") is None:
        pytest.skip("ranx is not installed")
    given = json.dumps([MADE.qrels, MADE.run, list(RANX_EXAMPLES)])
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    asked = [sys.executable, "-c", ASK_RANX]
    done = subprocess.run(asked, input=given, env=plain, capture_output=True, text=True, check=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize(("name", "ours"), RANX_EXAMPLES.items())
def test_a_name_of_ranx_is_the_measure_with_its_value(by_ranx: dict[str, float], name: str, ours: str) -> None:
    assert str(parse_measure(name)) == ours
    results = evaluate(MADE.qrels, MADE.run, name)
    assert results.mean()["run"][ours] == pytest.approx(by_ranx[name], abs=1e-12)


def test_every_name_of_ranx_has_an_example() -> None:
    assert set(RANX) <= {name.split("@")[0] for name in RANX_EXAMPLES}


# trec_eval's names with a cutoff in the notation of ir_measures, and the measure of ir_measures that has the value.
CUT = {
    "map@5": "AP@5",
    "map_cut@5": "AP@5",
    "map(rel=2)@5": "AP(rel=2)@5",
    "ndcg@10": "nDCG@10",
    "ndcg_cut@10": "nDCG@10",
    "recip_rank@10": "RR@10",
    "P@10": "P@10",
    "recall@10": "R@10",
    "success@5": "Success@5",
    "iprec_at_recall@0.2": "IPrec@0.2",
}


@pytest.mark.parametrize(("name", "theirs"), CUT.items())
def test_a_name_of_trec_eval_takes_a_cutoff(name: str, theirs: str) -> None:
    ir_measures = pytest.importorskip("ir_measures")
    policy = Policy(topics="run")  # a topic without an answer has no value in ir_measures
    ours = evaluate(MADE.qrels, MADE.run, name, policy=policy).mean()["run"]
    expected = ir_measures.calc_aggregate([ir_measures.parse_measure(theirs)], MADE.qrels, MADE.run)
    assert list(ours.values()) == pytest.approx(list(expected.values()), abs=1e-12)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("nDCG@10,AP", "nDCG@10 AP"),
        (" nDCG@10 , AP ", "nDCG@10 AP"),
        ("P.5,10", "P@5 P@10"),
        ("P.5,10,AP", "P@5 P@10 AP"),
        ("AP,P_5,10", "AP P@5 P@10"),
        ("map,11pt_avg,ndcg_cut.5,20", "AP InterpolatedAP nDCG@5 nDCG@20"),
        ("iprec_at_recall.0.1,0.5,map", "IPrec@0.1 IPrec@0.5 AP"),
        ("map@100,mrr@10,precision@5", "AP@100 RR@10 P@5"),
    ],
)
def test_commas_between_measures(text: str, found: str) -> None:
    assert [str(one) for one in parse_measures(text)] == found.split()


def test_commas_inside_brackets_belong_to_the_measure() -> None:
    text = "AP(rel=2),nDCG(gain={1: 3, 2: 9}, judged_only=True)@10"
    assert list(map(str, parse_measures(text))) == ["AP(rel=2)", "nDCG(gain={1: 3, 2: 9}, judged_only=True)@10"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nDCG@10,", "'nDCG@10,' has a comma with no measure beside it"),
        (",AP", "',AP' has a comma with no measure beside it"),
        ("P@5,10", "after a comma the measure is named again: write P@5,P@10 or P.5,10"),
        ("nDCG@10,APP", "unknown measure 'APP'; did you mean AP"),
        ("nDCG@10 AP", "between several measures there are commas, as in nDCG@10,AP"),
        ("nDCG@10;AP", "between several measures there are commas"),
        ("rbp.95", r"two meanings; write RBP\(p=0.95\), .* or GradedRBP\(p=0.95\)"),
        ("rbp@95", r"RBP\(p=0.95\).*GradedRBP\(p=0.95\).*a cutoff is GradedRBP@95"),
        ("r-precision@5", "Rprec takes no cutoff"),
        ("hit_rate", "Success needs a cutoff: Success@10"),
        ("ndcg@10-l2", "nDCG has no parameter 'rel'"),
    ],
)
def test_what_cannot_be_meant_is_told_with_the_right_spelling(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, text)


# Every command that takes several measures, as words before the measures.
SEVERAL: dict[str, tuple[str, ...]] = {
    "evaluate": ("QRELS", "RUN"),
    "compare": ("QRELS", "RUN", "OTHER"),
    "explain": ("QRELS", "RUN", "--topic", "1"),
    "plan": ("QRELS", "RUN", "OTHER"),
    "correlate": ("--qrels", "QRELS", "RUN", "OTHER"),
}


@pytest.mark.parametrize("command", SEVERAL)
def test_commas_are_the_same_as_repeating_the_option(command: str) -> None:
    files = {"QRELS": "examples/qrels.txt", "RUN": "examples/bm25.run", "OTHER": "examples/dense.run"}
    words = [command, *(files.get(word, word) for word in SEVERAL[command])]

    def told(*measures: str) -> Any:
        done = CliRunner().invoke(cli, [*words, *measures])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert told("-m", "nDCG@5,AP") == told("-m", "nDCG@5", "-m", "AP") != told("-m", "nDCG@5,RR")


def test_one_measure_is_asked_for_where_one_is_taken() -> None:
    with pytest.raises(UsageError, match="'nDCG@5,AP' names 2 measures, and one is wanted: nDCG@5, AP"):
        parse_measure("nDCG@5,AP")


@pytest.mark.parametrize("text", ["nDCG@5,AP", "P.5,10"])
def test_a_picture_of_one_measure_leaves_no_other_out_in_silence(text: str) -> None:
    with pytest.raises(UsageError, match="heatmap shows one measure, not 2: "):
        find_picture("heatmap").check_asked([text], [], {})
    find_picture("forest").check_asked([text], [], {})


def test_a_measure_where_ir_measures_has_it_is_told_where_it_goes() -> None:
    words = ["evaluate", "examples/qrels.txt", "examples/bm25.run"]
    told = CliRunner().invoke(cli, [*words, "nDCG@10"]).exception
    assert str(told) == "nDCG@10 is a measure, and there is no run of that name: measures are given as -m nDCG@10"
    assert "no such file" in str(CliRunner().invoke(cli, [*words, "missing.run"]).exception)
