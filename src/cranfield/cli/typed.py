"""Rankings that are typed on the line: how `try` and `explain` tell them from options, and from files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import click

from cranfield.errors import UsageError

DECISIONS = ("empty_topics", "depth", "judged_only")  # of a policy, those that rankings without scores leave open
SINGLE_GRADE = re.compile(r" *([0-9-]|[0-9]*\.[0-9]+) *")
UNJUDGED_FIRST = re.compile(r"-[-0-9.,;/ ]+")  # as an option would start; - alone is none
RANKING = re.compile(r"[-0-9.,;/ ]+")
MEANT = re.compile(r"[-., ]*[0-9].*|[-,; ]+(/.*)?")  # as a ranking, with a slip in it


class RankingsFirst(click.Command):
    """A command whose arguments may start with a dash: a ranking whose first document is not judged is no option."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        valued = {
            name
            for option in self.params
            if isinstance(option, click.Option) and not option.is_flag
            for name in option.opts
        }
        end = words.index("--") if "--" in words else len(words)
        marked = [
            f" {word}" if UNJUDGED_FIRST.fullmatch(word) and previous not in valued else word
            for previous, word in zip(["", *words], words[:end], strict=False)
        ]
        return super().parse_args(context, marked + words[end:])


def are_typed(texts: Sequence[str]) -> bool:
    """Whether all these are rankings and no files: 3,2,0/1, or NAME=3,2,0/1. A file is never alone."""
    pattern = MEANT if len(texts) == 1 else RANKING
    return all(pattern.fullmatch(text.rpartition("=")[2]) and not os.path.exists(text) for text in texts)


def named_lists(texts: Sequence[str], usual: str = "run") -> dict[str, str]:
    """What is typed under names: those given, or run, or run1, run2, …"""
    named: dict[str, str] = {}
    for place, text in enumerate(texts, start=1):
        if os.path.isfile(text):
            raise UsageError(f"{text} is a file: `cranfield evaluate` scores runs in files; here grades are typed")
        name, _, ranking = text.strip().rpartition("=")
        name = name.strip() or (usual if len(texts) == 1 else f"{usual}{place}")
        if name in named:
            raise UsageError(f"two systems are called {name}")
        named[name] = ranking
    return named


def named_rankings(texts: Sequence[str]) -> dict[str, str]:
    """Rankings of grades under names; none was typed with blanks for commas."""
    if len(texts) > 2 and all(SINGLE_GRADE.fullmatch(ranking) for ranking in texts):
        joined = ",".join(ranking.strip() for ranking in texts)
        raise UsageError(f"{len(texts)} rankings of one document each; join grades with commas: {joined}")
    return named_lists(texts)
