"""What a collection holds, and what to do with it."""

from __future__ import annotations

from cranfield.exports import TYPE_CHECKING, exported

if TYPE_CHECKING:
    from cranfield.description.description import Description as Description
    from cranfield.description.description import describe as describe

PUBLIC = {
    "description": "Description describe",
}
__getattr__, __dir__ = exported(__name__, PUBLIC)
