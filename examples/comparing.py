"""Comparing systems honestly: the difference, how sure it is, and how large it would have to be to be found."""

from pathlib import Path

import cranfield

HERE = Path(__file__).parent
qrels, runs = HERE / "qrels.txt", [HERE / "dense.run", HERE / "bm25.run"]

# Every pair of systems on every measure is one family, corrected together: with so few topics, ask one question.
found = cranfield.compare(cranfield.Experiment(qrels, runs), "nDCG@10")
print(found)

# Six topics are few. A difference is worth reporting with its interval, not with a star alone.
for pair in found.rows():
    print(f"\n{pair.system} − {pair.other}, {pair.measure}: {pair.difference:+.4f} [{pair.low:+.4f}, {pair.high:+.4f}]")
    print(f"  adjusted p {pair.adjusted_p:.4f}; {pair.wins} topics won, {pair.ties} tied, {pair.losses} lost")
    print(f"  {pair.topics} topics find a difference of {pair.detectable:.4f} four times out of five")

# How many topics would find a difference of 0.1 in AP? Worth knowing before the next experiment.
planned = cranfield.plan(cranfield.Experiment(qrels, runs), "AP", aims=cranfield.planning.Aims(differences=[0.1]))
print(f"\na difference of 0.1 in AP takes {planned.measures[0].pairs[0].topics[0]} topics")

# Which topics is it that make the difference?
print("\nwhat each topic adds to it:")
diagnosis = cranfield.diagnose(cranfield.Experiment(qrels, runs), "AP")
for part in diagnosis.topics:
    print(f"  topic {part.topic}: {part.difference:+.4f}, {part.share:.0%} of it")
