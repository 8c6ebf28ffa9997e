"""A method of fusion: a function of the lists that gives each document a score."""

from cranfield.fusion.lists import Floats, Lists
from cranfield.fusion.method import method
from cranfield.registry import number


@method(
    "alternate",
    title="Alternating lists",
    formula="max 1 / (i + shift)",
    reference="an example",
    looks_at="ranks",
    shift=number("added to every rank", 0, 100, grid=(0, 1, 2)),
)
def alternate(lists: Lists, *, shift: float = 0) -> Floats:
    """First all first documents, then all second ones: the best rank in any list decides."""
    return lists.largest(1 / (lists.rank + shift))
