"""Passwords: argon2id, with as much memory as two cores bear, and never more than two at once."""

from __future__ import annotations

import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from cranfield.errors import DataError

SHORTEST, LONGEST = 8, 256
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_turns = threading.Semaphore(2)
# Somebody unknown is told no after as long a time as somebody known.
_DUMMY = _hasher.hash("the password of nobody")


def hashed(password: str) -> str:
    """What is stored of a password."""
    with _turns:
        return _hasher.hash(password)


def verified(stored: str | None, password: str) -> bool:
    """Whether it is the password; nobody's takes as long."""
    with _turns:
        try:
            return _hasher.verify(stored or _DUMMY, password[: LONGEST + 1]) and stored is not None
        except (VerificationError, InvalidHashError):
            return False


def outdated(stored: str) -> bool:
    """Whether it was stored with other costs than today's and should be stored anew."""
    return _hasher.check_needs_rehash(stored)


def checked_password(password: str, *words: str) -> str:
    """A password that is not too short and not the name of the person or the project.

    >>> checked_password("correct horse battery", "ada")
    'correct horse battery'
    """
    if len(password) < SHORTEST:
        raise DataError(f"the password has {len(password)} characters; at least {SHORTEST} are asked for")
    if len(password) > LONGEST:
        raise DataError(f"the password has {len(password)} characters; at most {LONGEST} are taken")
    for word in words:
        if password.casefold() == word.casefold():
            raise DataError("the password is a name that anybody can guess: take another")
    if len(set(password)) < 3:
        raise DataError("the password is one letter or two, again and again: take another")
    return password
