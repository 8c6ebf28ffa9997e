"""How tests are dealt to workers: those of a file together, so that what they share is made once.

One by one, as `--dist loadgroup` deals what has no group, both workers make every fixture of every file; and xdist
counts all that it has ever dealt whenever a test ends, which with many thousands takes a minute of a processor.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]

TOGETHER = 40  # tests of a file: a longer one goes to several workers


class DealingByFile(LoadGroupScheduling):  # type: ignore[misc]
    """Groups stay whole; of all other tests, as many as stand together in a file."""

    def __init__(self, config: Any, log: Any = None) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False  # in their order: fixtures of a file end when another begins
        self._hands: dict[str, str] = {}

    def _split_scope(self, nodeid: str) -> str:
        if not self._hands:
            self._hands = hands(self.collection or [], super()._split_scope)
        return self._hands[nodeid]


def hands(tests: list[str], group_of: Any) -> dict[str, str]:
    """For each test what it is dealt with."""
    counted: Counter[str] = Counter()
    found = {}
    for test in tests:
        group = group_of(test)
        if group == test:
            file = test.partition("::")[0]
            group = f"{file} {counted[file] // TOGETHER}"
            counted[file] += 1
        found[test] = group
    return found
