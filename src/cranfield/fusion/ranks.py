"""Methods that look at ranks alone."""

from __future__ import annotations

import numpy as np

from cranfield.fusion.lists import Floats, Lists
from cranfield.fusion.method import method
from cranfield.registry import Parameter, is_number

BAILEY = 'Bailey, Moffat, Scholer and Thomas, "Retrieval consistency in the presence of query variations", SIGIR 2017'
CORMACK = (
    'Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning '
    'methods", SIGIR 2009'
)
MOURAO = (
    'Mourão, Martins and Magalhães, "Multimodal medical information retrieval with unsupervised rank fusion", '
    "Computerized Medical Imaging and Graphics 39, 2015"
)


@method(
    "rrf",
    title="Reciprocal rank fusion",
    formula="Σ 1 / (k + i)",
    reference=CORMACK,
    looks_at="ranks",
    k=Parameter(
        "the larger, the less the first ranks stand out",
        "a number from 0",
        lambda value: is_number(value) and value >= 0,
        grid=(60, 0, 1, 2, 5, 10, 20, 30, 40, 50, 70, 80, 90, 100, 150, 200),
    ),
)
def rrf(lists: Lists, *, k: float = 60) -> Floats:
    """The sum of reciprocal ranks, with a constant that keeps the first from deciding alone."""
    return lists.total(1 / (float(k) + lists.rank))


@method("isr", title="Inverse square rank", formula="n Σ 1 / i²", reference=MOURAO, looks_at="ranks")
def isr(lists: Lists) -> Floats:
    """Squares of reciprocal ranks, times the number of lists."""
    return lists.found * lists.total(inverse_square(lists))


@method(
    "log-isr",
    title="Logarithmic ISR",
    formula="log(n) Σ 1 / i²",
    reference=MOURAO,
    looks_at="ranks",
    aliases=("log_isr",),
)
def log_isr(lists: Lists) -> Floats:
    """ISR with the logarithm of the number of lists: a document of one list alone gets 0."""
    return np.log(lists.found) * lists.total(inverse_square(lists))


@method(
    "logn-isr",
    title="Logarithmic ISR with N",
    formula="log(n + sigma) Σ 1 / i²",
    reference=MOURAO,
    looks_at="ranks",
    aliases=("logn_isr",),
    sigma=Parameter(
        "keeps apart the documents of one list alone",
        "a number from 0 to 1",
        lambda value: is_number(value) and 0 <= value <= 1,
        grid=(0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    ),
)
def logn_isr(lists: Lists, *, sigma: float = 0.01) -> Floats:
    """Logarithmic ISR in which a document of one list alone still gets something."""
    agreement: Floats = np.log(lists.found + sigma)
    return agreement * lists.total(inverse_square(lists))


def inverse_square(lists: Lists) -> Floats:
    """1 / i² of each row."""
    squares: Floats = np.square(lists.rank, dtype=np.float64)
    return np.reciprocal(squares)


@method(
    "rbc",
    title="Rank-biased centroids",
    formula="Σ (1 - phi) phi^(i-1)",
    reference=BAILEY,
    looks_at="ranks",
    phi=Parameter(
        "persistence: the chance that a reader goes on to the next document",
        "a number between 0 and 1",
        lambda value: is_number(value) and 0 < value < 1,
        grid=(0.9, 0.5, 0.6, 0.7, 0.8, 0.85, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99),
    ),
)
def rbc(lists: Lists, *, phi: float = 0.9) -> Floats:
    """The weights of rank-biased precision, added up."""
    weight = (1 - phi) * phi ** np.arange(lists.length.max(initial=0))
    return lists.total(weight[lists.rank - 1])
