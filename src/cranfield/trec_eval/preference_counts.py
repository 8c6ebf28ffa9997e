"""Preferences between documents (-R prefs, qrels_prefs).

Within a sub-group every two documents of different level make a preference; the sub-groups of a group belong to one
person and are taken together, with what follows from them. A preference of A over B is fulfilled if A stands above B
in the ranking. It is `ret` if both are retrieved, `imp` if one is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cranfield.formats.preferences import Judgement, with_what_follows
from cranfield.judged import Floats, Mask
from cranfield.tables import Run
from cranfield.trec_eval.arguments import CalculationError, Options
from cranfield.trec_eval.inputs import as_bytes
from cranfield.trec_eval.names import TABLE, Wanted


class Group(NamedTuple):
    """One person's preferences for a topic.

    Documents are numbered in the order of the ranking, those not retrieved last; `levels` has NaN for what the person
    did not look at. `single` says that one sub-group orders all documents.
    """

    prefers: Mask  # [i, j]: i is preferred to j
    levels: Floats
    retrieved: int
    single: bool

    def share(self, kind: str, kept: Mask | None = None) -> tuple[int, int]:
        """How many preferences are fulfilled, of how many, among some documents."""
        prefers = self.prefers if kept is None else self.prefers & kept & kept[:, None]
        n = self.retrieved
        if kind == "ret":
            prefers = prefers[:n, :n]
            return int(np.triu(prefers).sum()), int(prefers.sum())
        fulfilled = int(np.triu(prefers)[:n].sum())
        unseen = int(prefers[n:, n:].sum()) if kind == "imp" else 0
        return fulfilled, int(prefers.sum()) - unseen

    def share_of_balanced(self, kind: str) -> tuple[int, int]:
        """The same with as many non-relevant documents as relevant ones: some left out, or some made up."""
        n = self.retrieved if kind == "ret" else len(self.levels)
        relevant = self.levels > 0
        nonrelevant = self.levels <= 0 if self.single else self.levels == 0
        wanted, available = int(relevant[:n].sum()), int(nonrelevant[:n].sum())
        if wanted >= available:
            fulfilled, possible = self.share(kind)
            made_up = wanted - available
            return fulfilled + int(relevant[: self.retrieved].sum()) * made_up, possible + int(relevant.sum()) * made_up
        if not self.single:
            return self.share(kind, ~nonrelevant | (np.cumsum(nonrelevant) <= int(relevant.sum())))
        # With one sub-group trec_eval takes the documents it keeps from the lowest level, and sets them against all
        # documents, also those of their own kind and themselves.
        lowest = np.nanmin(self.levels)
        kept = np.flatnonzero(self.levels == lowest)[:wanted]
        fulfilled, possible = self.share(kind, self.levels > lowest)
        others = np.flatnonzero(~np.isnan(self.levels))
        if kind == "ret":
            others, kept = others[others < n], kept[kept < n]
        above = (others[:, None] < kept) & (others[:, None] < self.retrieved)
        return fulfilled + int(above.sum()), possible + above.size


class Compared(NamedTuple):
    """All that is known of a topic: the groups, and how many of them prefer i to j."""

    groups: list[Group]
    counts: NDArray[np.int64]
    retrieved: int


def measures(
    lines: Sequence[Judgement],
    topics: tuple[str, ...],
    run: Run,
    options: Options,
    faults: dict[str, CalculationError],
) -> Callable[[Wanted], list[Floats]]:
    """How to compute a measure of preferences. Topics for which that cannot be done go into `faults`."""
    by_topic: dict[str, list[Judgement]] = {topic: [] for topic in topics}
    for line in lines:
        by_topic[line.topic].append(line)
    answers = run.to_dict(list(topics))
    names = [entry.name for entry in TABLE if entry.judgements == "prefs"]
    # All measures of a topic at once: its matrices have an entry for any two documents, and are then let go.
    rows = []
    for topic, of_topic in by_topic.items():
        try:
            rows.append(_values(names, of_topic, answers.get(topic, {}), options))
        except CalculationError as fault:
            faults[topic] = fault
            rows.append([0.0] * len(names))
    columns = dict(zip(names, np.array(rows).T, strict=True))
    return lambda request: [columns[request.entry.name]]


def _values(names: list[str], lines: list[Judgement], answer: dict[str, float], options: Options) -> list[float]:
    topic = _compared(lines, answer, options)
    return [_value(name.removeprefix("prefs_"), topic) for name in names]


def _value(name: str, topic: Compared) -> float:
    name, kind = (name[:-4], name[-3:]) if name.endswith(("_ret", "_imp")) else (name, "")
    if name.startswith("num_prefs"):
        parts = [group.share(kind) for group in topic.groups]
        return float(sum(possible if name.endswith("poss") else fulfilled for fulfilled, possible in parts))
    if name == "simp":
        parts = [group.share(kind) for group in topic.groups]
        return _ratio((sum(fulfilled for fulfilled, _ in parts), sum(possible for _, possible in parts)))
    if name == "pair":
        return _by_pair(topic, kind)
    shares = [g.share(kind) if name == "avgjg" else g.share_of_balanced(kind) for g in topic.groups]
    if name == "avgjg_Rnonrel" and any(possible == 0 for _, possible in shares):
        return 0.0  # trec_eval divides 0 by 0 for that group, and keeps only a sum above 0
    return sum(map(_ratio, shares)) / len(shares)


def _ratio(share: tuple[int, int]) -> float:
    fulfilled, possible = share
    return fulfilled / possible if possible else 0.0


def _by_pair(topic: Compared, kind: str) -> float:
    n = topic.retrieved
    counts = topic.counts[:n, :n] if kind == "ret" else topic.counts
    expressed = np.triu(counts + counts.T)
    if kind == "imp":
        expressed[n:, n:] = 0
    pairs = expressed > 0
    satisfied = np.divide(counts, expressed, out=np.zeros(counts.shape), where=pairs)[:n]
    # Added up one after the other, pairs of which both are retrieved first, as trec_eval does.
    terms = np.concatenate(([0.0], satisfied[:, :n].ravel(), satisfied[:, n:].ravel()))
    number = int(pairs.sum())
    return float(np.add.accumulate(terms)[-1]) / number if number else 0.0


def _compared(lines: list[Judgement], answer: dict[str, float], options: Options) -> Compared:
    # Ties stand by document id ascending here, and descending everywhere else in trec_eval.
    ranking = sorted(answer, key=lambda document: (-answer[document], as_bytes(document)))[: options.depth]
    judged = {line.document for line in lines}
    retrieved = [document for document in ranking if document in judged]
    seen = set(retrieved)
    number = {document: i for i, document in enumerate(retrieved + sorted(judged - seen, key=as_bytes))}
    ordered = sorted(lines, key=lambda line: (as_bytes(line.group), as_bytes(line.subgroup)))
    groups = [
        _group(list(of_group), number, len(retrieved)) for _, of_group in groupby(ordered, key=lambda line: line.group)
    ]
    counts = np.zeros((len(number), len(number)), dtype=np.int64)
    for group in groups:
        counts += group.prefers
    return Compared(groups, counts, len(retrieved))


def _group(lines: list[Judgement], number: dict[str, int], retrieved: int) -> Group:
    size = len(number)
    prefers = np.zeros((size, size), dtype=bool)
    levels = np.full(size, np.nan)
    subgroups = [list(of_subgroup) for _, of_subgroup in groupby(lines, key=lambda line: line.subgroup)]
    for of_subgroup in subgroups:
        level = np.full(size, np.nan)
        for line in of_subgroup:
            at = number[line.document]
            known = level[at] if len(subgroups) == 1 else levels[at]
            if len(subgroups) == 1 and known == known and known != line.level:
                raise CalculationError(f"topic '{line.topic}': document '{line.document}' has two levels in one group")
            if len(subgroups) > 1 and ((known > 0 and line.level == 0) or (known == 0 and line.level > 0)):
                raise CalculationError(
                    f"topic '{line.topic}': document '{line.document}' is relevant and also not for '{line.group}'"
                )
            level[at] = levels[at] = line.level
        prefers |= level[:, None] > level
    if len(subgroups) > 1:
        prefers = _consistent(prefers, lines[0])
    return Group(prefers, levels, retrieved, len(subgroups) == 1)


def _consistent(prefers: Mask, line: Judgement) -> Mask:
    """The preferences of a group with what follows from them."""
    prefers = with_what_follows(prefers)
    if np.any(prefers & prefers.T):
        raise CalculationError(f"topic '{line.topic}': the preferences of group '{line.group}' contradict each other")
    return prefers
