"""ASReview's own simulation, in an environment that has it: `python with_asreview.py < asked.json > efforts.json`

For each topic the documents and labels given, with the question as a record that is known to be relevant. It begins as
`asreview simulate` does: records from the top until two labels are known, then its default model.
"""

import json
import sys
from math import ceil

import pandas as pd
from asreview.learner import ActiveLearningCycle
from asreview.models.models import get_ai_config
from asreview.models.queriers import TopDown
from asreview.models.stoppers import IsFittable
from asreview.simulation.simulate import Simulate


class Found:
    """Stops when so many relevant records are known, the question among them."""

    def __init__(self, count: int) -> None:
        self.count = count

    def stop(self, results: pd.DataFrame, data: object) -> bool:
        return bool(results["label"].sum() >= self.count)


def efforts(question: str, texts: list[str], relevant: list[int], targets: list[float]) -> list[int]:
    """After how many judgements each share of the relevant documents is found."""
    labels = pd.Series([0] * len(texts) + [1])
    labels[relevant] = 1
    records = pd.DataFrame({"title": "", "abstract": [*texts, question]})
    wanted = [ceil(round(target * len(relevant), 9)) for target in targets]
    cycles = [
        ActiveLearningCycle(querier=TopDown(), stopper=IsFittable()),
        ActiveLearningCycle.from_meta(get_ai_config("elas_u4")["value"]),
    ]
    simulation = Simulate(records, labels, cycles, stopper=Found(max(wanted) + 1), print_progress=False)
    simulation.label([len(texts)])
    simulation.review()
    found = simulation._results["label"].cumsum().to_numpy() - 1
    return [int((found < count).sum()) for count in wanted]


asked = json.load(sys.stdin)
answers = []
for number, topic in enumerate(asked["topics"]):
    texts = [asked["texts"][row] for row in topic["rows"]]
    answers.append(efforts(topic["question"], texts, topic["relevant"], asked["targets"]))
    print(f"{number + 1} of {len(asked['topics'])}", end="\r", file=sys.stderr)
json.dump(answers, sys.stdout)
