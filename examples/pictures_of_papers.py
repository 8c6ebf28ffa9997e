"""Pictures of papers: means with intervals, every score, differences, bounds, effort and a sweep, with captions.

Takes the folder to draw into; without one the pictures go to a temporary folder.
"""

import random
import sys
import tempfile
from pathlib import Path

import cranfield
from cranfield.plot.saving import save
from cranfield.plot.style import caption_of

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

# Thirty topics with 60 documents, 12 of them relevant; of the others every fourth was never judged.
topics = [str(number) for number in range(1, 31)]
qrels = {topic: {f"d{i}": int(i < 12) for i in range(60) if i < 12 or i % 4} for topic in topics}


def mixed(weight: float, seed: int) -> dict[str, dict[str, float]]:
    """The best 20 documents of a system; it sees relevance through noise, and best at a weight of 0.6."""
    draw = random.Random(seed)
    skill = 1.6 - 2 * abs(weight - 0.6)
    scores = {t: {f"d{i}": skill * (i < 12) + draw.gauss(0, 1) for i in range(60)} for t in topics}
    return {t: dict(sorted(of.items(), key=lambda entry: -entry[1])[:20]) for t, of in scores.items()}


weights = {f"w{step} {kind}": (step / 10, kind) for kind in ("dense", "sparse") for step in range(2, 10)}
swept = {name: mixed(weight - 0.25 * (kind == "sparse"), 7) for name, (weight, kind) in weights.items()}
parameters = {name: {"weight": weight, "vectors": kind} for name, (weight, kind) in weights.items()}
few = {name: mixed(weight, seed) for seed, (name, weight) in enumerate([("new", 0.5), ("bm25", 0.1), ("lm", 0.2)])}
two = {name: few[name] for name in ("new", "bm25")}

measures = ["nDCG@10", "AP"]
results = cranfield.evaluate(qrels, few, measures)
charts = {
    "means": results.plot.means(measures=measures),
    "beeswarm": results.plot.beeswarm(),
    "waterfall": cranfield.evaluate(qrels, two, "AP").plot.waterfall(),
    "bounds": results.plot.bounds(),
    "effort": results.plot.effort(),
    "sweep": cranfield.evaluate(qrels, swept, "AP").plot.sweep(parameters=parameters),
}
for name, chart in charts.items():
    save(chart, str(folder / f"{name}.svg"))
    print(f"{name}.svg: {caption_of(chart)}\n")
