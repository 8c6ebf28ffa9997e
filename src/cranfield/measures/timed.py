"""Measures of users who read at a certain speed: what stands below long documents is reached late, or never.

They need the length of every retrieved document, judged or not. `evaluate` gives them rankings in which all that was
retrieved is in the pool, what is unjudged with a negative grade; so condensed lists, cuts and ties are as elsewhere.
"""
# ruff: noqa: N803  L is what the paper calls it

from __future__ import annotations

import numpy as np

from cranfield.errors import UsageError
from cranfield.judged import Floats, Judged
from cranfield.measures import bounded
from cranfield.measures.arithmetic import within
from cranfield.measures.definition import Traits
from cranfield.measures.explained import Trace, Working, averaged, number, summed
from cranfield.measures.gain import Gain, gains, highest_gain
from cranfield.measures.registry import measure
from cranfield.registry import Parameter, is_number

RANGE = (0.0, float("inf"))


def _from_zero(help: str) -> Parameter:
    return Parameter(help, "a number from 0", lambda v: is_number(v) and v >= 0)


def _above_zero(help: str) -> Parameter:
    return Parameter(help, "a number above 0", lambda v: is_number(v) and v > 0)


def _share(help: str) -> Parameter:
    return Parameter(help, "a number from 0 to 1", lambda v: is_number(v) and 0 <= v <= 1)


def lengths_of(judged: Judged) -> Floats:
    """The length of each document that was retrieved."""
    if not np.array_equal(np.diff(judged.offsets), judged.retrieved):
        raise UsageError("unjudged documents are not in these rankings, nor their lengths: use evaluate(lengths=…)")
    lengths: Floats = judged.pool.columns["lengths"][judged.row]
    return lengths


@measure(
    Traits(needs="lengths", range=RANGE, bounds=lambda judged, **parameters: bounds_of_tbg(judged, **parameters)),
    explain=lambda trace, **parameters: explained_tbg(trace, **parameters),
    half_life=_above_zero("after how many seconds half of the users have stopped"),
    click=_share("chance to open a document whose summary was read, if it is relevant"),
    click_other=_share("the same if it is not relevant"),
    save=_share("chance to recognise an opened relevant document as relevant"),
    summary=_from_zero("seconds to read a summary"),
    opened=_from_zero("seconds that an opened document takes whatever its length"),
    word=_from_zero("seconds a word of an opened document"),
)
def TBG(
    judged: Judged,
    *,
    half_life: float = 224,
    click: float = 0.64,
    click_other: float = 0.39,
    save: float = 0.77,
    summary: float = 4.4,
    opened: float = 7.8,
    word: float = 0.018,
    rel: float = 1,
    cutoff: int | None = None,
) -> Floats:
    """Time-biased gain: relevant documents recognised by users who read summaries, open documents, and stop by and by.

    Lengths are words; the defaults are those that the paper measured. Its copies of a document, which take a user no
    time once one was read, are not told apart here; give copies the length 0 to come close. An unjudged document takes
    the time of one that is not relevant.

    Formula: Σ g_k D(T(k)) over ranks k; g_k = click · save if relevant, else 0; D(t) = 2^(-t / half_life); T(k) =
      Σ_{i<k} (summary + c_i (opened + word · length_i)), c_i = click if relevant, else click_other
    Reference: Smucker and Clarke, "Time-based calibration of effectiveness measures", SIGIR 2012.

    >>> import cranfield
    >>> qrels, run = {"q1": {"d1": 1, "d2": 1}}, {"q1": {"d1": 3.0, "d7": 2.0, "d2": 1.0}}
    >>> cranfield.evaluate(qrels, run, "TBG", lengths={"d1": 500, "d7": 300, "d2": 900}).of("TBG")
    array([0.94933783])
    """
    hit = judged.hits(rel)
    before = _time_before(judged, rel, click, click_other, summary, opened, word)
    return judged.total(hit * within(judged.rank, cutoff) * click * save * np.exp2(-before / half_life))


def _time_before(
    judged: Judged, rel: float, click: float, click_other: float, summary: float, opened: float, word: float
) -> Floats:
    """Seconds until each document is reached."""
    time = summary + np.where(judged.hits(rel), click, click_other) * (opened + word * lengths_of(judged))
    return judged.running(time) - time


def explained_tbg(
    trace: Trace, *, half_life: float, click: float, save: float, rel: float, cutoff: int | None, **parameters: float
) -> Working:
    """Each relevant document counts as far as users have not stopped before it."""
    counts = trace.relevant(rel, cutoff)
    before = trace.spread(_time_before(trace.judged, rel, click, **parameters))
    staying: Floats = np.exp2(-before / half_life)
    written = summed([f"2^(−{number(t)}/{number(half_life)})" for t in before[counts]])
    columns = {"seconds before": before, "still reading": staying}
    steps = f"{number(click)} · {number(save)} · ({written})"
    return Working(counts, (steps,), counts * click * save * staying, columns)


@measure(
    Traits(needs="lengths", range=RANGE, bounds=lambda judged, **parameters: bounds_of_u(judged, **parameters)),
    aliases=("UMeasure",),
    explain=lambda trace, **parameters: explained_u(trace, **parameters),
    L=_above_zero("characters that users read at most: where the value of what is found has fallen to 0"),
    snippet=_from_zero("characters of a snippet; that of every document is read"),
    read=_share("how much of a relevant document is read"),
)
def U(
    judged: Judged,
    *,
    L: float = 132000,
    snippet: float = 200,
    read: float = 0.2,
    gain: Gain = "linear",
    cutoff: int | None = None,
) -> Floats:
    """U-measure: gains, each discounted by how much text a user has read when it is found.

    Lengths are characters. The text is that of users who read all snippets and a part of every relevant document; a
    document's gain stands where its reading ends. The sum is not normalised; with gains of (2^grade - 1) / 2^max_grade,
    as in ERR, it is that of gain='exp' divided by 2^max_grade.

    Formula: Σ g_k max(0, 1 - pos_k / L) over ranks k; pos_k = k · snippet + read · Σ length_i over relevant ranks i ≤ k
    Reference: Sakai and Dou, "Summaries, ranked retrieval and sessions: a unified framework for information access
      evaluation", SIGIR 2013.

    >>> import cranfield
    >>> qrels, run = {"q1": {"d1": 1, "d2": 1}}, {"q1": {"d1": 3.0, "d7": 2.0, "d2": 1.0}}
    >>> cranfield.evaluate(qrels, run, "U", lengths={"d1": 5000, "d7": 3000, "d2": 9000}).of("U")
    array([1.96515152])
    """
    position = _position(judged, snippet, read)
    return judged.total(gains(judged.grade, gain) * within(judged.rank, cutoff) * np.maximum(1 - position / L, 0.0))


def _position(judged: Judged, snippet: float, read: float) -> Floats:
    """Characters that a user has read at the end of each document."""
    text = read * lengths_of(judged) * (judged.grade > 0)
    return snippet * judged.rank + judged.running(text)


def explained_u(trace: Trace, *, L: float, snippet: float, read: float, gain: Gain, cutoff: int | None) -> Working:
    """Each gain counts by what is left of the text that a user will read."""
    own = trace.spread(gains(trace.judged.grade, gain)) * trace.within(cutoff)
    position = trace.spread(_position(trace.judged, snippet, read))
    terms = own * np.maximum(1 - position / L, 0.0)
    counts = terms != 0
    texts = [f"{number(g)}·(1 − {number(p)}/{number(L)})" for g, p in zip(own[counts], position[counts], strict=True)]
    columns = {"gain": own, "characters read": position}
    return averaged(trace, terms, 1, counts=counts, texts=texts, columns=columns)


def bounds_of_tbg(judged: Judged, *, rel: float, cutoff: int | None, **parameters: float) -> bounded.Bounds:
    """From the last rank up: what follows a document counts less by the time it takes, and depends on nothing else."""
    hit, unknown, counted = judged.hits(rel), judged.grade < 0, within(judged.rank, cutoff)
    reading = parameters["opened"] + parameters["word"] * lengths_of(judged)
    gain = parameters["click"] * parameters["save"] * counted
    if_relevant, if_not = (
        np.exp2(-(parameters["summary"] + click * reading) / parameters["half_life"])
        for click in (parameters["click"], parameters["click_other"])
    )
    lowest, highest = np.zeros(len(judged.topics)), np.zeros(len(judged.topics))
    for rank in range(int(judged.retrieved.max(initial=0)), 0, -1):
        topics = np.flatnonzero(judged.retrieved >= rank)
        at = judged.offsets[topics] + rank - 1
        for value, better in ((lowest, np.minimum), (highest, np.maximum)):
            relevant, other = gain[at] + if_relevant[at] * value[topics], if_not[at] * value[topics]
            value[topics] = np.where(unknown[at], better(relevant, other), np.where(hit[at], relevant, other))
    return lowest, highest


def bounds_of_u(
    judged: Judged, *, L: float, snippet: float, read: float, gain: Gain, cutoff: int | None
) -> bounded.Bounds:
    """Not the extremes, but limits that hold: unjudged documents give most and hold up nothing, or give nothing and do.

    To find the extremes is a knapsack problem; the limits are too wide by what reading unjudged documents holds up.
    """
    text, unknown, shown = read * lengths_of(judged), judged.grade < 0, snippet * judged.rank
    relevant = text * (judged.grade > 0)
    known, counted = gains(judged.grade, gain), within(judged.rank, cutoff)
    most = np.where(unknown, highest_gain(judged, gain), known)
    late = shown + judged.running(relevant + text * unknown)
    soon = shown + judged.running(relevant) + text * unknown
    lowest = judged.total(known * counted * np.maximum(1 - late / L, 0.0))
    return lowest, judged.total(most * counted * np.maximum(1 - soon / L, 0.0))
