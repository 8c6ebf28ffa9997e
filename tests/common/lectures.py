"""Rankings and judgements that the lectures work with."""

from __future__ import annotations

Q1 = ["d123", "d84", "d56", "d6", "d8", "d9", "d511", "d129", "d187", "d25", "d38", "d48", "d250", "d113", "d3"]
Q2 = ["d425", "d87", "d56", "d32", "d124", "d615", "d512", "d129", "d4", "d130", "d193", "d715", "d810", "d5", "d3"]
Q2_REORDERED = [
    *("d84", "d56", "d123", "d129", "d8", "d6", "d511", "d9", "d187", "d3", "d48", "d38", "d25", "d113", "d250"),
]
Q2_LATE = ["d511", "d8", "d6", "d56", "d84", "d9", "d123", "d25", "d129", "d187", "d38", "d48", "d250", "d113", "d3"]
# The answers of the example of cumulated gain, as they are listed. The gains printed below them are not those of the
# first list, which has d3, of grade 3, at rank 4; they are those of Q1.
LISTED_Q1 = ["d71", "d2", "d56", "d3", "d4", "d9", "d11", "d12", "d13", "d25", "d21", "d22", "d23", "d24", "d5"]
LISTED_Q2 = ["d71", "d2", "d56", "d5", "d4", "d9", "d11", "d129", "d13", "d25", "d21", "d22", "d23", "d24", "d3"]
TEN_RELEVANT = ["d3", "d5", "d9", "d25", "d39", "d44", "d56", "d71", "d89", "d123"]
FIVE_RELEVANT = ["d123", "d56", "d9", "d25", "d3"]
GRADES_Q1 = dict(zip(TEN_RELEVANT, [3, 3, 3, 2, 2, 2, 1, 1, 1, 1], strict=True))
GRADES_Q2 = {"d3": 3, "d56": 2, "d129": 1}


def ranked(documents: list[str]) -> dict[str, float]:
    return {document: -float(rank) for rank, document in enumerate(documents)}


def relevant(documents: list[str]) -> dict[str, int]:
    return dict.fromkeys(documents, 1)
