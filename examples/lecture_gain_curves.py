"""A lecture's last figures: cumulated gain, discounted or not, the ideal, and the two ways to normalise.

Takes the folder to draw into; without one the pictures go to a temporary folder.
"""

import sys
import tempfile
from pathlib import Path

from cranfield import Experiment
from cranfield.plot.curves import area, gains, normalised_gains
from cranfield.plot.saving import save
from cranfield.plot.subject import Subject, find_picture

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())

# The same ranking answers two queries, whose documents have grades from 1 to 3. It is the one of the lecture's first
# figure, and not the answers that the lecture lists here: its list for the first query has d3, of grade 3, at rank 4
# and gains 13, while the gains printed below the list, and drawn, come to 10. This ranking gives what is printed.
ranking = ["d123", "d84", "d56", "d6", "d8", "d9", "d511", "d129", "d187", "d25", "d38", "d48", "d250", "d113", "d3"]
first = {"d3": 3, "d5": 3, "d9": 3, "d25": 2, "d39": 2, "d44": 2, "d56": 1, "d71": 1, "d89": 1, "d123": 1}
second = {"d3": 3, "d56": 2, "d129": 1}
listed = "d71 d2 d56 d3 d4 d9 d11 d12 d13 d25 d21 d22 d23 d24 d5"
own, printed = (sum(first.get(document, 0) for document in answers) for answers in (listed.split(), ranking))
print(f"first query: the lecture prints a gain of {printed}, its list of answers gains {own}; drawn as printed")
run = {document: float(-rank) for rank, document in enumerate(ranking)}
experiment = Experiment({"q1": first, "q2": second}, {"ranking": {"q1": run, "q2": run}})


def shown(values: list[tuple[float, float]]) -> str:
    return " ".join(f"{value:5.2f}" for _, value in values)


# DCG as in the lecture: the first document counts in full, the i-th is divided by log2 i. Today's usual discount,
# log2(i + 1), is DCG without a parameter.
made = {}
for kind in ("CG", "DCG(base=2)"):
    curves = gains(experiment, kind, depth=15)
    made[kind] = curves.of("ranking")
    made[f"ideal {kind}"] = curves.of("ranking", series="ideal")
    print(f"{kind}, mean over the queries\n  {shown(made[kind])}\n  of at most\n  {shown(made[f'ideal {kind}'])}")
    # The lecture divides the mean by the mean ideal: a query with much to find weighs more. The usual nDCG divides
    # query by query and takes the mean: every query weighs the same.
    for average in ("ratio of means", "mean of ratios"):
        ratios = normalised_gains(experiment, kind, depth=15, average=average).of("ranking")
        made[f"{kind}, {average}"] = ratios
        print(f"  normalised, {average}; area under it {area(ratios):.4f}\n  {shown(ratios)}")
    name = kind.partition("(")[0].lower()
    subject = Subject(experiment=experiment, measures=(kind,), depth=15)
    save(find_picture("gain").draw(subject), str(folder / f"{name}.svg"))
    save(find_picture("normalised-gain").draw(subject), str(folder / f"n{name}.svg"))
    print(f"  drawn: {name}.svg, n{name}.svg")
