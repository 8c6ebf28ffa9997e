"""Systems that see relevance through noise: a good, a fair and a poor one, on forty topics."""

from __future__ import annotations

import random
from pathlib import Path

TOPICS = [str(number) for number in range(1, 41)]
QRELS: dict[str, dict[str, float]] = {topic: {f"d{number}": number % 3 for number in range(30)} for topic in TOPICS}


def system(skill: float, seed: int, topics: list[str] = TOPICS) -> dict[str, dict[str, float]]:
    """A run that sees relevance through noise: the more skill, the less of it."""
    chance = random.Random(seed)
    return {
        topic: {document: skill * grade + chance.gauss(0, 1) for document, grade in QRELS[topic].items()}
        for topic in topics
    }


RUNS = {"poor": system(0.1, 1), "fair": system(0.4, 2), "good": system(1.0, 3)}


def write(path: Path, table: dict[str, dict[str, float]]) -> str:
    path.write_text(
        "".join(f"{topic} Q0 {d} 0 {value} t\n" for topic, of in table.items() for d, value in of.items())
        if path.suffix == ".run"
        else "".join(f"{topic} 0 {d} {value}\n" for topic, of in table.items() for d, value in of.items())
    )
    return str(path)
