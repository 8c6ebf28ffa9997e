"""Against outputs of trec_eval 10.0 and 9.0.8 themselves, line by line, where the data folder is at hand.

Left out, line by line:
- measures that are not in the registry, and runid and relstring, which are not numbers;
- interpolated precision (iprec_at_recall, 11pt_avg) on topics where the version's rule for how many documents reach a
  recall level is not the exact one, and its means when that holds for any topic. 10.0 rounds to the nearest number,
  9.0.8 adds 0.9 and truncates; precision at recall c needs at least c of the relevant documents;
- rbp, which 10.0 scales by variables that it never sets, and rbp_resid, which it gives as 0 for a topic without an
  answer, where everything is in doubt.
"""

from __future__ import annotations

import gzip
import math
import struct
from dataclasses import dataclass
from pathlib import Path

import pytest

from cranfield import Measure, Policy, Results, UsageError, evaluate
from cranfield.measures import parse_measure
from places import DATA

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the data folder with trec_eval's outputs is not here")

HALF_A_DIGIT = 5.1e-5  # outputs have four decimals
Table = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Golden:
    """An output of trec_eval, what it was made from, and how many of its lines at least are compared."""

    output: str
    qrels: str
    run: str
    version: int
    complete: bool  # -c: every topic of the judgements counts
    topics: int
    lines: int
    depth: int | None = None  # -M
    rel: int = 1  # -l

    def __repr__(self) -> str:
        return Path(self.output).name


CRANFIELD = "cranfield/expected/{}.trec_eval-{}.qc.all_trec.txt.gz"
GOLDEN = [
    Golden("trec_eval/out.test.aq", "trec_eval/qrels.test", "trec_eval/results.test", 10, False, 3, 225),
    Golden("trec_eval/out.test.aqc", "trec_eval/qrels.test", "trec_eval/results.trunc", 10, True, 3, 225),
    Golden("trec_eval/out.test.aqcM", "trec_eval/qrels.test", "trec_eval/results.trunc", 10, True, 3, 225, depth=100),
    Golden("trec_eval/out.test.aql", "trec_eval/qrels.rel_level", "trec_eval/results.test", 10, False, 3, 225, rel=2),
    *(
        Golden(
            CRANFIELD.format(run, version),
            "cranfield/cranfield.qrels",
            f"cranfield/runs/{run}.run.gz",
            int(version.partition(".")[0]),
            True,
            225,
            13_000,
        )
        for run in ("bm25-stem", "vsm-logtf-coarse")
        for version in ("10.0", "9.0.8")
    ),
]


def text_of(name: str) -> str:
    content = (DATA / name).read_bytes()
    return (gzip.decompress(content) if name.endswith(".gz") else content).decode()


def read(name: str, document: int, number: int) -> Table:
    """The columns of a file, without the package's readers."""
    table: Table = {}
    for line in text_of(name).splitlines():
        fields = line.split()
        table.setdefault(fields[0], {})[fields[document]] = float(fields[number])
    return table


def single_precision(run: Table) -> Table:
    """As 9.0.8 stores scores: what differs beyond seven digits is a tie there."""
    return {
        topic: {document: struct.unpack("f", struct.pack("f", score))[0] for document, score in scores.items()}
        for topic, scores in run.items()
    }


def parsed(output: str) -> list[tuple[str, str, str]]:
    return [(name, topic, text) for name, topic, text in (line.split(None, 2) for line in output.splitlines())]


def known(name: str) -> Measure | None:
    """The measure of that name in trec_eval, if the registry has it."""
    try:
        measure = parse_measure(name)
    except UsageError:
        return None
    return measure if measure.trec_name == name else None


def needed(version: int, level: float, relevant: int) -> int:
    """How many relevant documents reach a recall level, as that version computes it."""
    count = int(level * relevant + 0.9) if version == 9 else math.floor(level * relevant + 0.5)
    return max(count, 1)


def interpolates_as_we_do(measure: Measure, version: int, relevant: int) -> bool:
    if measure.definition.name == "InterpolatedAP":
        tenths = list(range(11))
    elif measure.definition.name == "IPrec":
        tenths = [round(measure.parameters["recall"] * 10)]
    else:
        return True
    return all(needed(version, tenth / 10, relevant) == max(-(-tenth * relevant // 10), 1) for tenth in tenths)


def evaluated(golden: Golden, qrels: Table, measures: list[Measure]) -> Results:
    run = read(golden.run, 2, 4)
    policy = Policy(topics="qrels" if golden.complete else "run", depth=golden.depth)
    return evaluate(qrels, single_precision(run) if golden.version == 9 else run, measures, policy=policy)


@pytest.mark.parametrize("golden", GOLDEN, ids=repr)
def test_every_known_line_of_trec_eval_is_met(golden: Golden) -> None:
    qrels = read(golden.qrels, 2, 3)
    lines = parsed(text_of(golden.output))
    measures = {
        name: measure(rel=golden.rel) if "rel" in measure.parameters else measure
        for name in dict.fromkeys(name for name, _, _ in lines)
        if (measure := known(name)) is not None and not name.startswith("rbp")
    }
    results = evaluated(golden, qrels, list(measures.values()))
    per_topic, means = results.per_topic()["run"], results.mean()["run"]
    relevant = {topic: sum(grade >= golden.rel for grade in grades.values()) for topic, grades in qrels.items()}
    compared, topics, differing = 0, set(), []
    for name, topic, text in lines:
        if name not in measures:
            continue
        measure = measures[name]
        counts = relevant.values() if topic == "all" else [relevant[topic]]
        if not all(interpolates_as_we_do(measure, golden.version, count) for count in counts):
            continue
        ours = means[str(measure)] if topic == "all" else per_topic[topic][str(measure)]
        if abs(ours - float(text)) > (0 if measure.is_count else HALF_A_DIGIT):
            differing.append((name, topic, text, ours))
        compared += 1
        topics.add(topic)
    assert not differing
    assert compared >= golden.lines
    assert len(topics) == golden.topics + 1


def test_the_names_of_the_official_measures_are_known() -> None:
    """So that the comparison above cannot shrink without a word."""
    names = ["map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall_0.10", "P_10", "recall_100", "ndcg"]
    names += ["ndcg_cut_10", "map_cut_10", "success_5", "set_P", "set_recall", "set_F", "11pt_avg", "gm_bpref"]
    names += ["num_q", "num_ret", "num_rel", "num_rel_ret"]
    assert [name for name in names if known(name) is None] == []
