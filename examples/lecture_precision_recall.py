"""A lecture's first figure: precision and recall of one query, after each relevant document and interpolated.

Takes the folder to draw into; without one the picture goes to a temporary folder.
"""

import sys
import tempfile
from pathlib import Path

from cranfield import Experiment
from cranfield.plot.curves import interpolated, precision_recall
from cranfield.plot.lines import raw_and_interpolated
from cranfield.plot.saving import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

# Fifteen documents, best first, as the lecture ranks them.
ranking = ["d123", "d84", "d56", "d6", "d8", "d9", "d511", "d129", "d187", "d25", "d38", "d48", "d250", "d113", "d3"]
run = {document: float(-rank) for rank, document in enumerate(ranking)}
ten = ["d3", "d5", "d9", "d25", "d39", "d44", "d56", "d71", "d89", "d123"]
three = ["d3", "d56", "d129"]
qrels = {"ten relevant": dict.fromkeys(ten, 1), "three relevant": dict.fromkeys(three, 1)}
experiment = Experiment(qrels, {"the lecture's ranking": dict.fromkeys(qrels, run)})

points, levels = {}, {}
for topic in qrels:
    raw = precision_recall(experiment, [topic])
    smooth = interpolated(experiment, topics=[topic])
    points[topic], levels[topic] = raw.of("the lecture's ranking", topic), smooth.of("the lecture's ranking", topic)
    print(f"{topic}\n  after each relevant document, recall and precision:")
    print("   ", "  ".join(f"({recall:.0%}, {precision:.1%})" for recall, precision in points[topic]))
    # Interpolated precision is the highest at this recall or beyond: a curve that never rises.
    print("  interpolated at recall 0 %, 10 %, …, 100 %:")
    print("   ", " ".join(f"{100 * precision:.1f}" for _, precision in levels[topic]))
    picture = folder / f"precision-recall-{topic.replace(' ', '-')}.svg"
    save(raw_and_interpolated(raw, smooth, title=topic), str(picture))
    print(f"  drawn: {picture.name}")
