"""What results show of texts: the question in full, of each document its title and the passage that fits best."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.quotation.quoting import Quotations as Quotations
    from cranfield.quotation.quoting import quote as quote
    from cranfield.quotation.storing import build_store as build_store
    from cranfield.quotation.text_sources import TextSource as TextSource

PUBLIC = {
    "quoting": "Quotations quote",
    "storing": "build_store",
    "text_sources": "TextSource",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
