"""Every measure, by family. To add one, write one decorated function in the module of its family.

Families load when one of their measures is first asked for, so that starting up stays quick. Every registered name can
be imported from here; `__all__` has them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cranfield.measures.definition import Traits as Traits
from cranfield.measures.definition import Trec as Trec
from cranfield.measures.notation import as_measures as as_measures
from cranfield.measures.notation import parse_measure as parse_measure
from cranfield.measures.notation import parse_measures as parse_measures
from cranfield.measures.registry import Measure as Measure
from cranfield.measures.registry import all_measures as all_measures
from cranfield.measures.registry import measure as measure
from cranfield.measures.registry import named

if TYPE_CHECKING:
    # For editors that complete names; type checkers know the other measures by `__getattr__`.
    from cranfield.measures.gain import DCG as DCG
    from cranfield.measures.gain import nDCG as nDCG
    from cranfield.measures.ranked import AP as AP
    from cranfield.measures.ranked import RR as RR
    from cranfield.measures.ranked import F as F
    from cranfield.measures.ranked import P as P
    from cranfield.measures.ranked import R as R
    from cranfield.measures.ranked import Rprec as Rprec
    from cranfield.measures.ranked import Success as Success
    from cranfield.measures.user_models import ERR as ERR
    from cranfield.measures.user_models import RBP as RBP

_FUNCTIONS = ("Measure", "all_measures", "as_measures", "measure", "parse_measure", "parse_measures", "Traits", "Trec")


if TYPE_CHECKING:
    __all__: list[str]

    def __getattr__(name: str) -> Measure: ...
else:

    def __getattr__(name):
        if name == "__all__":
            return __dir__()
        from cranfield.errors import UsageError
        from cranfield.exports import module_of

        if name.startswith("_"):
            raise AttributeError(f"module 'cranfield.measures' has no attribute '{name}'")
        module = module_of(__name__, name)
        if module is not None:
            return module
        try:
            return named(name)
        except UsageError as error:
            raise AttributeError(f"module 'cranfield.measures' has no attribute '{name}': {error}") from None


def __dir__() -> list[str]:
    return [*_FUNCTIONS, *(measure.name for measure in all_measures())]
