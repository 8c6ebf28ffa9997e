"""How often somebody may try: buckets that fill again with time, in the memory of the one process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_KEPT = 10_000


class RateLimit:
    """At most `count` acts in `seconds` by each key, then one whenever there is room again.

    >>> limit = RateLimit(2, 60, lambda: 0.0)
    >>> limit.wait("ada"), limit.wait("ada"), limit.wait("ada")
    (0.0, 0.0, 30.0)
    """

    def __init__(self, count: int, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._count, self._rate, self._clock = count, count / seconds, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._turn = threading.Lock()

    def wait(self, key: str) -> float:
        """0 if the act is allowed, and counted; otherwise the seconds until it is."""
        with self._turn:
            now = self._clock()
            left, at = self._buckets.pop(key, (float(self._count), now))
            left = min(self._count, left + (now - at) * self._rate)
            allowed = left >= 1
            self._buckets[key] = (left - 1 if allowed else left, now)
            while len(self._buckets) > MOST_KEPT:
                self._buckets.popitem(last=False)
            return 0.0 if allowed else (1 - left) / self._rate

    def give_back(self, key: str) -> None:
        """The act was no try after all, and does not count."""
        with self._turn:
            left, at = self._buckets.get(key, (float(self._count), self._clock()))
            self._buckets[key] = (min(self._count, left + 1), at)


class Attempts:
    """How often a password may be tried, for one name and from one address; those that are right do not count, so
    that a whole class can sign in from behind one address."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._by_name, self._by_address = RateLimit(5, 60, clock), RateLimit(40, 60, clock)

    def wait(self, name: str, address: str) -> float:
        """0 if it may be tried, and it is counted; otherwise the seconds until it may."""
        by_address = self._by_address.wait(address)
        return by_address or self._by_name.wait(name)

    def succeeded(self, name: str, address: str) -> None:
        self._by_name.give_back(name)
        self._by_address.give_back(address)
