"""A lecture's plot of the penalty: how much a relevant document counts at each rank, with several discounts, or none.

Takes the folder to draw into; without one the picture goes to a temporary folder.
"""

import sys
import tempfile
from pathlib import Path

from cranfield.plot.curves import discounts
from cranfield.plot.lines import lines
from cranfield.plot.saving import save

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

# CG discounts nothing; DCG divides by log2(i + 1), or with a base from there on by the logarithm of the rank; RR by the
# rank itself. RBP alone decays exponentially: each rank keeps the same share of the one above it.
measures = ["CG", "DCG(base=10)", "DCG(base=2)", "DCG", "RR", "RBP(p=0.8)"]
made = discounts(measures, depth=20)
curves = {name: made.of(name) for name in dict.fromkeys(point.run for point in made.points)}
print("percent kept at rank", " ".join(f"{rank:4d}" for rank in range(1, 11)))
for name, curve in curves.items():
    print(f"{name:<20}", " ".join(f"{100 * kept:4.0f}" for _, kept in curve[:10]))

save(lines(made, y_domain=(0.0, 1.0)), str(folder / "discounts.svg"))
print("drawn: discounts.svg")
