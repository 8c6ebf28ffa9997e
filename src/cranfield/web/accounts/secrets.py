"""Random words that let somebody in. The database keeps their digests, so that reading it lets nobody in."""

from __future__ import annotations

import hashlib
import secrets

WORD_BYTES = 32


def new_word() -> str:
    """256 random bits that fit into an address."""
    return secrets.token_urlsafe(WORD_BYTES)


def digest(word: str) -> str:
    """What is stored of a word. It is long and random, so a quick digest is safe."""
    return hashlib.sha256(word.encode()).hexdigest()


def public_name() -> str:
    """80 random bits, the part of a token that may be shown."""
    return secrets.token_hex(10)
