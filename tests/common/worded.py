"""Texts made so that relevant documents share words: what a learner can find, and how much of it."""

from __future__ import annotations

from random import Random

SYLLABLES = ("ba", "do", "ki", "lu", "me", "no", "pe", "ra", "su", "ti", "vo", "wa", "xe", "yi", "zo", "fu")


def words(random: Random, count: int) -> list[str]:
    """Words that no list of stop words has, and that no stemmer makes equal."""
    made: dict[str, None] = {}
    while len(made) < count:
        made.setdefault("".join(random.choices(SYLLABLES, k=4)) + "q")
    return list(made)


def worded(seed: int, *, documents: int = 200, relevant: int = 20, length: int = 30) -> tuple[dict[str, str], set[str]]:
    """Documents with words of a common stock, and those relevant with a few of their own as well: {id: text}, ids.

    The question "asked" is a word of some of the relevant ones; the others must be learned.
    """
    random = Random(f"worded {seed}")
    stock, own = words(random, 300), [f"own{number}q" for number in range(12)]
    ids = [f"d{number:04}" for number in range(documents)]
    chosen = set(random.sample(ids, relevant))
    texts = {}
    for id in ids:
        text = random.choices(stock, weights=[1 / (rank + 3) for rank in range(300)], k=length)
        if id in chosen:
            text += random.sample(own, 4) + (["asked"] if random.random() < 0.3 else [])
        texts[id] = " ".join(text)
    return texts, chosen
