"""trec_eval's measures in the order in which it prints them, and what a user may write after -m."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite
from typing import NamedTuple

from cranfield.trec_eval.arguments import BadParametersError, CalculationError, UnknownMeasureError, Version

# A number is read as far as it goes and what follows is not looked at, as C does: 23.4 is the rank 23.
WHOLE = re.compile(r"\s*([+-]?[0-9]+)", re.ASCII)
DECIMAL = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.ASCII)

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = tuple(i / 10 for i in range(11))
MULTIPLES = tuple(i / 5 for i in range(1, 11))


class TrecMeasure(NamedTuple):
    """One of trec_eval's measures.

    `takes` says what may follow its name: ranks and levels make a line each, numbers and pairs are settings of one
    value. `summary` says how topics become one number; `nicknames` are the groups it belongs to.
    """

    name: str
    nicknames: str = ""
    takes: str = ""
    default: tuple[float, ...] = ()
    summary: str = "mean"
    judgements: str = "qrels"
    since: Version = "9.0"

    @property
    def is_count(self) -> bool:
        return self.summary == "sum"


ALL, OFFICIAL, SET = "all_trec", "official all_trec", "set all_trec"
EVERYWHERE = "official set all_trec all_prefs prefs qrels_jg"
COUNTS = "official set all_trec"

TABLE = (
    TrecMeasure("runid", EVERYWHERE, summary="text", judgements=""),
    TrecMeasure("num_q", EVERYWHERE, summary="topics", judgements=""),
    TrecMeasure("num_ret", COUNTS, summary="sum"),
    TrecMeasure("num_rel", COUNTS, summary="sum"),
    TrecMeasure("num_rel_ret", COUNTS, summary="sum"),
    TrecMeasure("map", OFFICIAL),
    TrecMeasure("gm_map", OFFICIAL, summary="geometric"),
    TrecMeasure("Rprec", OFFICIAL),
    TrecMeasure("bpref", OFFICIAL),
    TrecMeasure("recip_rank", OFFICIAL),
    TrecMeasure("iprec_at_recall", OFFICIAL, "levels", RECALLS),
    TrecMeasure("P", OFFICIAL, "ranks", RANKS),
    TrecMeasure("relstring", ALL, "numbers", (10,), summary="per topic"),
    TrecMeasure("recall", ALL, "ranks", RANKS),
    TrecMeasure("infAP", ALL),
    TrecMeasure("gm_bpref", ALL, summary="geometric"),
    TrecMeasure("Rprec_mult", ALL, "levels", MULTIPLES),
    TrecMeasure("utility", SET, "numbers", (1, -1, 0, 0)),
    TrecMeasure("11pt_avg", ALL, "numbers", RECALLS),
    TrecMeasure("binG", ALL),
    TrecMeasure("G", ALL, "pairs"),
    TrecMeasure("dcg", "", "pairs", since="10.0"),
    TrecMeasure("ideal_dcg", "", "pairs", since="10.0"),
    TrecMeasure("ndcg", ALL, "pairs"),
    TrecMeasure("ndcg_rel", ALL, "pairs"),
    TrecMeasure("Rndcg", ALL, "pairs"),
    TrecMeasure("ndcg_cut", ALL, "ranks", RANKS),
    TrecMeasure("map_cut", ALL, "ranks", RANKS),
    TrecMeasure("relative_P", ALL, "ranks", RANKS),
    TrecMeasure("success", ALL, "ranks", (1, 5, 10)),
    TrecMeasure("set_P", SET),
    TrecMeasure("set_relative_P", SET),
    TrecMeasure("set_recall", SET),
    TrecMeasure("set_map", SET),
    TrecMeasure("set_F", SET, "numbers", (1,)),
    TrecMeasure("num_nonrel_judged_ret", ALL, summary="sum"),
    *(TrecMeasure(f"prefs_num_prefs_{which}", "all_prefs prefs", summary="sum", judgements="prefs")
      for which in ("poss", "ful", "ful_ret")),
    *(TrecMeasure(f"prefs_{which}", "all_prefs prefs", judgements="prefs") for which in ("simp", "pair", "avgjg")),
    TrecMeasure("prefs_avgjg_Rnonrel", "all_prefs", judgements="prefs"),
    *(TrecMeasure(f"prefs_{which}_ret", "all_prefs", judgements="prefs")
      for which in ("simp", "pair", "avgjg", "avgjg_Rnonrel")),
    *(TrecMeasure(f"prefs_{which}_imp", "all_prefs", judgements="prefs") for which in ("simp", "pair", "avgjg")),
    TrecMeasure("map_avgjg", "qrels_jg", judgements="qrels_jg"),
    TrecMeasure("P_avgjg", "qrels_jg", "ranks", RANKS, judgements="qrels_jg"),
    TrecMeasure("Rprec_mult_avgjg", "qrels_jg", "levels", MULTIPLES, judgements="qrels_jg"),
    TrecMeasure("yaap"),
    TrecMeasure("rbp", ALL, "pairs", since="10.0"),
    TrecMeasure("rbp_resid", ALL, "pairs", since="10.0"),
    TrecMeasure("unj", ALL, "ranks", (5, 10, 20), since="10.0"),
)  # fmt: skip


def everything(format: str) -> tuple[str, ...]:
    """The names of all measures of one format of judgements.

    >>> everything("qrels_jg")
    ('runid', 'num_q', 'map_avgjg', 'P_avgjg', 'Rprec_mult_avgjg')
    """
    kind = "prefs" if format == "qrels_prefs" else format
    return tuple(entry.name for entry in TABLE if entry.judgements in ("", kind))


class Wanted(NamedTuple):
    """A measure that was asked for, with its parameters: numbers, or pairs of a name and a number."""

    entry: TrecMeasure
    numbers: tuple[float, ...]
    pairs: tuple[tuple[str, float], ...]
    names: tuple[str, ...]  # as printed, one for each value


def wanted(texts: Iterable[str], version: Version) -> list[Wanted]:
    """What a list of -m asks for, in trec_eval's order. Of several parameters for one measure the first count.

    >>> [request.names for request in wanted(["ndcg.1=3,2=9", "P.10,5"], "10.0")]
    [('P_5', 'P_10'), ('ndcg_1=3,2=9',)]
    """
    known = [entry for entry in TABLE if float(entry.since) <= float(version)]
    chosen: dict[str, str] = {}
    for text in texts:
        name, dot, parameters = text.partition(".")
        members = [entry.name for entry in known if name == entry.name or name in entry.nicknames.split()]
        if not members or (dot and not parameters):
            raise UnknownMeasureError(f"unknown measure '{text}'", remedy=_hint(name, known, version))
        for member in members:
            own = parameters if member == name else ""  # those of a group are nobody's
            chosen[member] = chosen.get(member) or own
    return [_parsed(entry, chosen[entry.name]) for entry in known if entry.name in chosen]


def _hint(name: str, known: list[TrecMeasure], version: Version) -> str:
    import difflib

    if any(entry.name == name for entry in TABLE):
        return f"trec_eval {version} does not have it; trec_eval 10.0 does."
    names = [entry.name for entry in known] + sorted({word for entry in known for word in entry.nicknames.split()})
    near = difflib.get_close_matches(name, names, n=2, cutoff=0.6)
    return f"Did you mean {' or '.join(near)}?" if near else "all_trec names all measures of plain judgements."


def _parsed(entry: TrecMeasure, text: str) -> Wanted:
    numbers = entry.default
    pairs: tuple[tuple[str, float], ...] = ()
    if text and not entry.takes:
        return Wanted(entry, numbers, (), (entry.name,))  # trec_eval does not look at what it does not take
    if text and entry.takes == "pairs":
        pairs = tuple(_pair(entry, part) for part in text.split(","))
    elif text:
        numbers = tuple(_number(entry, part) for part in text.split(","))
    if entry.takes in ("ranks", "levels"):
        if text:
            numbers = tuple(sorted(numbers))
        if len(set(numbers)) < len(numbers):
            raise BadParametersError(f"{entry.name}.{text} has a cutoff twice")
        shown = [f"{number}" if entry.takes == "ranks" else f"{number:3.2f}" for number in numbers]
        return Wanted(entry, numbers, pairs, tuple(f"{entry.name}_{number}" for number in shown))
    if entry.name == "utility" and len(numbers) != 4:
        raise CalculationError(f"{entry.name}.{text} needs four numbers")
    return Wanted(entry, numbers, pairs, (f"{entry.name}_{text}" if text else entry.name,))


def _number(entry: TrecMeasure, text: str) -> float:
    is_rank = entry.takes == "ranks"
    number = _read(WHOLE if is_rank else DECIMAL, text)
    if number is None:
        raise BadParametersError(f"{entry.name}: '{text}' is not {'a whole number' if is_rank else 'a number'}")
    if is_rank and not 1 <= number < 2**62:
        raise BadParametersError(f"{entry.name}: a cutoff must be a whole number from 1, not {text}")
    return number


def _pair(entry: TrecMeasure, text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    number = None if "=" in value else _read(DECIMAL, value)
    of_rank_biased = name == "p" and entry.name in ("rbp", "rbp_resid")
    if number is None or not (of_rank_biased or WHOLE.fullmatch(name)):
        raise BadParametersError(f"{entry.name}: '{text}' is not of the form grade=gain")
    if of_rank_biased and not 0 < number < 1:
        raise BadParametersError(f"{entry.name}: p must be between 0 and 1, not {value}")
    return name, number


def _read(pattern: re.Pattern[str], text: str) -> float | None:
    """The number that a text starts with, None if it starts with none; a whole one stays whole."""
    start = pattern.match(text)
    if start is None:
        return None
    number = int(start[1]) if pattern is WHOLE else float(start[1])
    return number if isfinite(number) else None
