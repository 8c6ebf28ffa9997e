"""Times one evaluation inside a fresh process: `python bench/inside.py CONTENDER FOLDER WARM_FOLDER`

Each contender loads its inputs, which is not timed, and evaluates them, which is. It does both on the small data of
WARM_FOLDER first, so that no import is timed. What is prepared has been used before with another run.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

MEASURES = ["AP", "nDCG@10", "RR", "P@10", "R@1000"]
TREC_NAMES = ["map", "ndcg_cut_10", "recip_rank", "P_10", "recall_1000"]
TREC_REQUEST = {"map", "ndcg_cut.10", "recip_rank", "P.10", "recall.1000"}


class Contender(NamedTuple):
    load: Callable[[Path], tuple[Any, Any]]
    evaluate: Callable[[Any, Any], Any]
    means: Callable[[Any], dict[str, float]]


def evaluate(qrels: Any, runs: Any) -> dict[str, dict[str, float]]:
    import cranfield

    return cranfield.evaluate(qrels, runs, MEASURES).mean()


def evaluate_everything(qrels: Any, runs: Any) -> dict[str, dict[str, float]]:
    """Every measure that needs grades alone, as it stands, with a cutoff or level where one is required."""
    import cranfield

    at = {"cutoff": 10, "recall": 0.5}
    plain = [measure for measure in cranfield.measures.all_measures() if measure.definition.needs is None]
    measures = [m @ at.get(str(m.definition.at), 1.0) if m.definition.required else m for m in plain]
    return cranfield.evaluate(qrels, runs, measures).mean()


def one_by_one(qrels: Any, runs: Any) -> dict[str, dict[str, float]]:
    """What a loop over files costs: the judgements are read again for each."""
    return {name: means for run in runs for name, means in evaluate(qrels, run).items()}


def flat(means: dict[str, dict[str, float]]) -> dict[str, float]:
    if len(means) == 1:
        return next(iter(means.values()))
    return {f"{run} {name}": value for run, values in means.items() for name, value in values.items()}


def paths(folder: Path) -> tuple[Path, list[Path]]:
    return folder / "qrels", sorted(folder.glob("*.run"))


def read_and_judge(qrels: Path, runs: list[Path]) -> Any:
    import cranfield

    return cranfield.judged.judge(cranfield.read_run(runs[0]), cranfield.read_qrels(qrels))


def dicts(folder: Path) -> tuple[Any, Any]:
    import pytrec_eval

    with (folder / "qrels").open() as qrels, (folder / "001.run").open() as run:
        return dict(pytrec_eval.parse_qrel(qrels)), dict(pytrec_eval.parse_run(run))


def dicts_with_qrels_read(folder: Path) -> tuple[Any, Any]:
    import cranfield

    given, run = dicts(folder)
    qrels = cranfield.read_qrels(given)
    topic = next(iter(run))
    evaluate(qrels, {topic: run[topic]})  # they were used before, as in a loop over checkpoints
    return qrels, run


def dicts_with_evaluator(folder: Path) -> tuple[Any, Any]:
    import pytrec_eval

    qrels, run = dicts(folder)
    return pytrec_eval.RelevanceEvaluator(qrels, TREC_REQUEST), run


def pytrec_eval_means(topics: dict[str, dict[str, float]]) -> dict[str, float]:
    return {
        name: sum(topic[trec] for topic in topics.values()) / len(topics)
        for name, trec in zip(MEASURES, TREC_NAMES, strict=True)
    }


def evaluate_with_pytrec_eval(qrels: Any, run: Any) -> Any:
    import pytrec_eval

    return pytrec_eval.RelevanceEvaluator(qrels, TREC_REQUEST).evaluate(run)


def pandas_frames(folder: Path) -> tuple[Any, Any]:
    import pandas

    def read(name: str, columns: list[str], wanted: list[str]) -> Any:
        types = {"query_id": str, "doc_id": str}
        return pandas.read_csv(folder / name, sep=" ", names=columns, usecols=wanted, dtype=types)

    qrels = read("qrels", ["query_id", "0", "doc_id", "relevance"], ["query_id", "doc_id", "relevance"])
    columns = ["query_id", "Q0", "doc_id", "rank", "score", "tag"]
    return qrels, read("001.run", columns, ["query_id", "doc_id", "score"])


def polars_frames(folder: Path) -> tuple[Any, Any]:
    import polars

    qrels, run = pandas_frames(folder)
    return polars.from_pandas(qrels), polars.from_pandas(run)


def evaluate_with_ir_measures(qrels: Any, run: Any) -> Any:
    import ir_measures

    return ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in MEASURES], qrels, run)


def ir_measures_means(means: dict[Any, float]) -> dict[str, float]:
    return {str(measure): value for measure, value in means.items()}


CONTENDERS = {
    "dicts": Contender(dicts, evaluate, flat),
    "dicts, pytrec_eval": Contender(dicts, evaluate_with_pytrec_eval, pytrec_eval_means),
    "prepared": Contender(dicts_with_qrels_read, evaluate, flat),
    "prepared, pytrec_eval": Contender(dicts_with_evaluator, lambda qrels, run: qrels.evaluate(run), pytrec_eval_means),
    "pandas": Contender(pandas_frames, evaluate, flat),
    "polars": Contender(polars_frames, evaluate, flat),
    "pandas, ir_measures": Contender(pandas_frames, evaluate_with_ir_measures, ir_measures_means),
    "one call": Contender(paths, evaluate, flat),
    "single calls": Contender(paths, one_by_one, flat),
    "five measures": Contender(paths, evaluate, lambda means: {}),
    "every measure": Contender(paths, evaluate_everything, lambda means: {}),
    "read and judge": Contender(paths, read_and_judge, lambda judged: {}),
}


def main(name: str, folder: Path, warm_folder: Path) -> None:
    contender = CONTENDERS[name]
    contender.evaluate(*contender.load(warm_folder))
    qrels, runs = contender.load(folder)
    start = time.perf_counter()
    result = contender.evaluate(qrels, runs)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "means": contender.means(result)}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
