"""Z-scores (-Z): values as deviations from the mean of reference runs."""

from __future__ import annotations

import numpy as np

from cranfield.errors import DataError
from cranfield.formats.format import decode
from cranfield.formats.sources import open_source
from cranfield.judged import Floats
from cranfield.trec_eval.names import DECIMAL

UNKNOWN = -1000000.0
Reference = dict[tuple[str, str], tuple[float, float]]  # (topic, measure): mean and standard deviation


def read_zscores(path: str) -> Reference:
    """Lines of topic, measure, mean and standard deviation."""
    source = open_source(path)
    reference: Reference = {}
    for number, line in enumerate(bytes(source.data).splitlines(), start=1):
        try:
            topic, name, *numbers = map(decode, line.split())
            mean, deviation = (float(text) for text in numbers if DECIMAL.fullmatch(text))
            reference[topic, name] = mean, deviation
        except ValueError:
            raise DataError(
                "a line of z-scores must be: topic, measure, mean, standard deviation",
                source=source.label,
                line=number,
                text=decode(line),
            ) from None
    return reference


def standardised(values: Floats, name: str, topics: list[str], reference: Reference) -> Floats:
    """Each value less its mean, by the deviation; a topic without them has no z-score, which trec_eval writes so."""
    pairs = [(value, reference.get((topic, name))) for value, topic in zip(values.tolist(), topics, strict=True)]
    return np.array([UNKNOWN if known is None else _standardised(value, *known) for value, known in pairs])


def _standardised(value: float, mean: float, deviation: float) -> float:
    if deviation != 0:
        return (value - mean) / deviation
    return 0.0 if value == mean else UNKNOWN
