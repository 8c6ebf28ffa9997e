"""Several seeds: a neural ranker is another system every time it is trained. Is the method better, or this one run?"""

import random

import cranfield

# A small world of its own: 30 topics of 40 documents, the first five of them relevant.
topics = [str(number) for number in range(1, 31)]
qrels = {topic: {f"d{i}": int(i < 5) for i in range(40)} for topic in topics}


def run(quality: float, seed: int) -> dict[str, dict[str, float]]:
    """A ranker whose scores are `quality` for what is relevant, plus chance; some seeds are luckier than others."""
    draw = random.Random(f"{quality} {seed}")
    quality += draw.gauss(0, 0.25)
    return {topic: {f"d{i}": quality * (i < 5) + draw.gauss(0, 1) for i in range(40)} for topic in topics}


# A list of runs under one name are runs of one method. Topics and seeds are both a sample, and both count.
old, new = [run(1.0, seed) for seed in range(5)], [run(1.25, seed) for seed in range(5)]
print(cranfield.compare(cranfield.Experiment(qrels, {"new": new, "old": old}), "nDCG@10"))

# One run of each, as papers often report: the answer depends on which one was drawn.
print("\nthe same from one run of each, five times over:")
for seed in range(5):
    (pair,) = cranfield.compare(cranfield.Experiment(qrels, {"new": new[seed], "old": old[seed]}), "nDCG@10").rows()
    verdict = "significant" if pair.significant else "not significant"
    print(f"  seed {seed}: {pair.difference:+.4f}, adjusted p {pair.adjusted_p:.4f}, {verdict}")
