"""Pictures: results, comparisons and curves in, an Altair chart out."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.plot.curves import Curves as Curves

PUBLIC = {"curves": "Curves"}
__getattr__, __dir__ = exported(__name__, PUBLIC)
