"""trec_eval as one slow and obvious program, written from a reading of its semantics, for comparison by the character.

It knows nothing of the package. Every sum is taken rank by rank and topic by topic, in trec_eval's order, because the
fourth decimal of a value that lies between two depends on it. What trec_eval leaves undefined has the value that
docs/decisions/trec_eval.md promises.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

RANKS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
UNPOOLED, UNJUDGED = -1, -2
SMALLEST = 0.00001
NO_ZSCORE = -1000000.0


@dataclass(frozen=True)
class Call:
    """The options of a call; the measures come with their parameters, in the order in which they are printed."""

    version: str = "10.0"
    per_topic: bool = False
    summary: bool = True
    complete: bool = False
    level: int = 1
    depth: int | None = None
    judged_only: bool = False
    documents: int = 0
    zscores: dict[tuple[str, str], tuple[float, float]] | None = None

    def arguments(self) -> list[str]:
        """The command line, but for measures, files and the file of z-scores."""
        flags = {"-q": self.per_topic, "-n": not self.summary, "-c": self.complete, "-J": self.judged_only}
        numbers = {"-l": self.level, "-N": self.documents} | ({} if self.depth is None else {"-M": self.depth})
        given = [flag for flag, is_set in flags.items() if is_set]
        return ["--as", self.version, *given, *(f"{name}{number}" for name, number in numbers.items())]


@dataclass
class Topic:
    """A ranking as grades with two codes, and how many judgements there are of each grade from 0."""

    ranked: list[int]
    levels: list[int]
    leftover: list[int]  # what formulas with gains find: the levels, or those of the topic before where there are none
    call: Call
    relevant: int = field(init=False)
    found: int = field(init=False)

    def __post_init__(self) -> None:
        self.relevant = sum(count for grade, count in enumerate(self.levels) if grade >= self.call.level)
        self.found = sum(self.is_relevant(grade) for grade in self.ranked)

    def is_relevant(self, grade: int) -> bool:
        return grade >= 0 and grade >= self.call.level

    def found_down_to(self, rank: int) -> int:
        return sum(self.is_relevant(grade) for grade in self.ranked[:rank])

    def hits(self) -> Iterator[tuple[int, int]]:
        """Rank and number of each relevant document."""
        number = 0
        for rank, grade in enumerate(self.ranked, start=1):
            if self.is_relevant(grade):
                number += 1
                yield rank, number


def over(a: float, b: float) -> float:
    return a / b if b else 0.0


def precisions(topic: Topic, cutoff: int) -> float:
    total = 0.0
    for rank, number in topic.hits():
        if rank <= cutoff:
            total += number / rank
    return total


def average_precision(topic: Topic) -> float:
    return over(precisions(topic, len(topic.ranked)), topic.relevant)


def bpref(topic: Topic) -> float:
    nonrelevant = sum(count for grade, count in enumerate(topic.levels) if grade < topic.call.level)
    total, above = 0.0, 0
    for grade in topic.ranked:
        if grade < 0:
            continue
        if not topic.is_relevant(grade):
            above += 1
        elif above:
            total += 1.0 - min(above, topic.relevant) / min(nonrelevant, topic.relevant)
        else:
            total += 1.0
    return over(total, topic.relevant)


def inferred(topic: Topic) -> float:
    total, relevant, nonrelevant, unjudged = 0.0, 0, 0, 0
    for above, grade in enumerate(topic.ranked):
        if grade == UNJUDGED:
            unjudged += 1
        elif grade >= 0 and not topic.is_relevant(grade):
            nonrelevant += 1
        elif grade >= 0:
            if above == 0:
                total += 1.0
            else:
                pooled = (relevant + nonrelevant + unjudged) / above
                share = (relevant + SMALLEST) / (relevant + nonrelevant + 2 * SMALLEST)
                total += 1.0 / (above + 1.0) + (above / (above + 1.0)) * pooled * share
            relevant += 1
    return over(total, topic.relevant)


def needed(topic: Topic, recall: float) -> int:
    wanted = recall * topic.relevant
    return int(wanted + 0.9) if topic.call.version == "9.0" else math.floor(wanted + 0.5)


def interpolated(topic: Topic, recall: float) -> float:
    """The highest precision from the rank on where recall is reached."""
    count = max(needed(topic, recall), 1)
    return max((number / rank for rank, number in topic.hits() if number >= count), default=0.0)


def interpolated_average(topic: Topic, recalls: Sequence[float]) -> float:
    """Levels are gone through from the last; one that does not lie below the one after it gets the overall maximum."""
    total, reachable, at_end, skipping = 0.0, topic.found, False, True
    for recall in reversed(recalls):
        count = needed(topic, recall)
        if skipping and count > topic.found:
            continue
        skipping = False
        at_end = at_end or not 1 <= count <= reachable
        total += interpolated(topic, 0.0 if at_end else recall)
        reachable = count
    return total / len(recalls)


def precision_at_multiple(topic: Topic, multiple: float) -> float:
    depth = int(multiple * topic.relevant + 0.9)
    return over(topic.found_down_to(depth), depth)


def utility(topic: Topic, a: float, b: float, c: float, d: float) -> float:
    length, relevant, found = len(topic.ranked), topic.relevant, topic.found
    neither = topic.call.documents + found - length - relevant
    return a * found + b * (length - found) + c * (relevant - found) + d * neither


def binary_gain(topic: Topic) -> float:
    total = 0.0
    for rank, number in topic.hits():
        total += 1.0 / math.log2(2 + rank - number)
    return over(total, topic.relevant)


Gains = dict[int, float]


def gain_of(topic: Topic, grade: int, given: Gains) -> float:
    if grade in given:
        return given[grade]
    return float(grade) if 0 <= grade < len(topic.leftover) else 0.0


def ideal_gains(topic: Topic, given: Gains) -> list[float]:
    """The gains of all judged documents above 0, the highest first."""
    gains = [gain_of(topic, grade, given) for grade, count in enumerate(topic.leftover) for _ in range(count)]
    return sorted((gain for gain in gains if gain > 0), reverse=True)


def discounted(gains: Sequence[float]) -> list[float]:
    """Running sums."""
    sums, total = [], 0.0
    for rank, gain in enumerate(gains, start=1):
        if gain:
            total += gain / math.log2(rank + 1)
        sums.append(total)
    return sums


def last(sums: Sequence[float]) -> float:
    return sums[-1] if sums else 0.0


def shown_gains(topic: Topic, given: Gains) -> list[float]:
    return [gain_of(topic, grade, given) for grade in topic.ranked]


def dcg(topic: Topic, given: Gains) -> float:
    return last(discounted(shown_gains(topic, given)))


def ideal_dcg(topic: Topic, given: Gains) -> float:
    return last(discounted(ideal_gains(topic, given)))


def ndcg(topic: Topic, given: Gains) -> float:
    return over(dcg(topic, given), ideal_dcg(topic, given))


def ndcg_at(topic: Topic, cutoff: int) -> float:
    shown = [float(max(grade, 0)) for grade in topic.ranked[:cutoff]]
    return over(last(discounted(shown)), last(discounted(ideal_gains(topic, {})[:cutoff])))


def gain_by_cost(topic: Topic, given: Gains) -> float:
    ideal = ideal_gains(topic, given)
    total = cost = gained = 0.0
    for index, gain in enumerate(shown_gains(topic, given)):
        gained += gain
        cost += max(ideal[index], 1.0) if index < len(ideal) else 1.0
        if gain and 2 + cost - gained > 0:
            total += over(gain, math.log2(2 + cost - gained))
    return over(total, sum(ideal))


def ndcg_at_relevant(topic: Topic, given: Gains) -> float:
    shown = shown_gains(topic, given)
    found, ideal = discounted(shown), discounted(ideal_gains(topic, given))
    total, retrieved = 0.0, 0
    for index, gain in enumerate(shown):
        if gain > 0 and ideal:
            total += found[index] / ideal[min(index, len(ideal) - 1)]
            retrieved += 1
    if not ideal:
        return 0.0
    total += (len(ideal) - retrieved) * last(found) / ideal[-1]
    return total / len(ideal) if total > 0 else 0.0


def ndcg_at_levels(topic: Topic, given: Gains) -> float:
    if topic.relevant == 0:
        return 0.0
    gains = ideal_gains(topic, given)
    found, ideal = discounted(shown_gains(topic, given)), discounted(gains)
    total, points = 0.0, 0
    ends = [i for i in range(len(gains)) if i == len(gains) - 1 or gains[i + 1] < gains[i]]
    for end in ends:
        if end >= len(found) and len(found) >= len(gains) + 2:
            break
        total += over(found[end] if end < len(found) else last(found), ideal[end])
        points += 1
    if gains and len(found) >= len(gains) + 2:  # one rank beyond ends the ideal's last level, and the list goes on
        total += last(found) / ideal[-1]
        points += 1
    return over(total, points)


def set_f(topic: Topic, x: float) -> float:
    if not topic.found:
        return 0.0
    precision, recall = topic.found / len(topic.ranked), topic.found / topic.relevant
    return over((x + 1.0) * precision * recall, x * precision + recall)


def log_odds(topic: Topic) -> float:
    total = precisions(topic, len(topic.ranked))
    return math.log((1.0 + total) / (1.0 + topic.relevant - total))


def residual(topic: Topic, p: float) -> float:
    total, weight, unjudged = 0.0, 1.0, 0
    for grade in topic.ranked:
        if grade < 0:
            unjudged += 1
            total += weight
        weight = weight * p
    return weight + (1 - p) * total if unjudged else 0.0


def relstring(topic: Topic, length: int) -> str:
    signs = {UNPOOLED: "-", UNJUDGED: "."}
    return "'" + "".join(signs.get(grade, str(grade) if grade <= 9 else ">") for grade in topic.ranked[:length]) + "'"


def floored(value: float) -> float:
    return math.log(max(value, SMALLEST))


Values = Callable[[Topic], list[float]]


@dataclass(frozen=True)
class Measure:
    """What is asked for with -m, the names it is printed by, and how: a mean, a sum, a geometric mean, a text, …"""

    asked: str
    names: list[str]
    values: Values
    kind: str = "mean"


def alone(name: str, value: Callable[[Topic], float], kind: str = "mean") -> Measure:
    return Measure(name, [name], lambda topic: [value(topic)], kind)


def at_ranks(name: str, cutoffs: Sequence[int], value: Callable[[Topic, int], float], *, default: bool) -> Measure:
    asked = name if default else f"{name}.{','.join(map(str, cutoffs))}"
    return Measure(asked, [f"{name}_{k}" for k in cutoffs], lambda topic: [value(topic, k) for k in cutoffs])


def at_levels(name: str, levels: Sequence[float], value: Callable[[Topic, float], float], *, default: bool) -> Measure:
    asked = name if default else f"{name}.{','.join(map(str, levels))}"
    return Measure(asked, [f"{name}_{c:3.2f}" for c in levels], lambda topic: [value(topic, c) for c in levels])


def with_text(name: str, text: str, value: Callable[[Topic], float], kind: str = "mean") -> Measure:
    joined = (f"{name}.{text}", f"{name}_{text}") if text else (name, name)
    return Measure(joined[0], [joined[1]], lambda topic: [value(topic)], kind)


def measures(
    version: str,
    *,
    ranks: Sequence[int] | None = None,
    recalls: Sequence[float] | None = None,
    points: Sequence[float] | None = None,
    worth: Sequence[float] | None = None,
    gains: Gains | None = None,
    x: float | None = None,
    p: float | None = None,
    length: int | None = None,
) -> list[Measure]:
    """All of trec_eval's measures of plain judgements but rbp, in its order. A parameter of None is the default."""
    cuts, usual = ranks or RANKS, ranks is None
    recall_levels, multiples = recalls or RECALLS, recalls or MULTIPLES
    given, pairs = gains or {}, ",".join(f"{grade}={gain:g}" for grade, gain in (gains or {}).items())
    weights = tuple(worth or (1, -1, 0, 0))
    nonrelevant = "num_nonrel_judged_ret"
    new = version == "10.0"
    return [
        alone("runid", lambda t: 0.0, "runid"),
        alone("num_q", lambda t: 1.0, "topics"),
        alone("num_ret", lambda t: len(t.ranked), "sum"),
        alone("num_rel", lambda t: t.relevant, "sum"),
        alone("num_rel_ret", lambda t: t.found, "sum"),
        alone("map", average_precision),
        alone("gm_map", lambda t: floored(average_precision(t)), "geometric"),
        alone("Rprec", lambda t: over(t.found_down_to(t.relevant), t.relevant)),
        alone("bpref", bpref),
        alone("recip_rank", lambda t: next((1.0 / rank for rank, _ in t.hits()), 0.0)),
        at_levels("iprec_at_recall", recall_levels, interpolated, default=recalls is None),
        at_ranks("P", cuts, lambda t, k: t.found_down_to(k) / k, default=usual),
        with_text("relstring", "" if length is None else str(length), lambda t: 0.0, "relstring"),
        at_ranks("recall", cuts, lambda t, k: over(t.found_down_to(k), t.relevant), default=usual),
        alone("infAP", inferred),
        alone("gm_bpref", lambda t: floored(bpref(t)), "geometric"),
        at_levels("Rprec_mult", multiples, precision_at_multiple, default=recalls is None),
        with_text("utility", ",".join(f"{w:g}" for w in worth or ()), lambda t: utility(t, *weights)),
        with_text(
            "11pt_avg",
            ",".join(map(str, points or ())),
            lambda t: interpolated_average(t, points or RECALLS),
        ),
        alone("binG", binary_gain),
        with_text("G", pairs, lambda t: gain_by_cost(t, given)),
        *([with_text("dcg", pairs, lambda t: dcg(t, given))] if new else []),
        *([with_text("ideal_dcg", pairs, lambda t: ideal_dcg(t, given))] if new else []),
        with_text("ndcg", pairs, lambda t: ndcg(t, given)),
        with_text("ndcg_rel", pairs, lambda t: ndcg_at_relevant(t, given)),
        with_text("Rndcg", pairs, lambda t: ndcg_at_levels(t, given)),
        at_ranks("ndcg_cut", cuts, ndcg_at, default=usual),
        at_ranks("map_cut", cuts, lambda t, k: over(precisions(t, k), t.relevant), default=usual),
        at_ranks("relative_P", cuts, lambda t, k: over(t.found_down_to(k), min(k, t.relevant)), default=usual),
        at_ranks("success", ranks or (1, 5, 10), lambda t, k: float(t.found_down_to(k) > 0), default=usual),
        alone("set_P", lambda t: over(t.found, len(t.ranked))),
        alone("set_relative_P", lambda t: over(t.found, min(len(t.ranked), t.relevant))),
        alone("set_recall", lambda t: over(t.found, t.relevant)),
        alone("set_map", lambda t: over(t.found * t.found, len(t.ranked) * t.relevant)),
        with_text("set_F", "" if x is None else f"{x:g}", lambda t: set_f(t, 1.0 if x is None else x)),
        alone(nonrelevant, lambda t: sum(g >= 0 and not t.is_relevant(g) for g in t.ranked), "sum"),
        alone("yaap", log_odds),
        *([with_text("rbp_resid", "" if p is None else f"p={p:g}", lambda t: residual(t, p or 0.9))] if new else []),
        *([at_ranks("unj", ranks or (5, 10, 20), lambda t, k: sum(g < 0 for g in t.ranked[:k]) / k, default=usual)]
          if new else []),
    ]  # fmt: skip


def single(score: float) -> float:
    stored: float = struct.unpack("f", struct.pack("f", score))[0]
    return stored


Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def ranking(answer: dict[str, float], grades: dict[str, int], call: Call) -> list[int]:
    scores = {document: single(score) if call.version == "9.0" else score for document, score in answer.items()}
    documents = sorted(scores, key=lambda document: (scores[document], document.encode()), reverse=True)[: call.depth]
    codes = [max(grades[d], UNJUDGED) if d in grades else UNPOOLED for d in documents]
    codes = [UNJUDGED if d in grades and grades[d] < 0 else code for d, code in zip(documents, codes, strict=True)]
    return [code for code in codes if code >= 0] if call.judged_only else codes


def evaluate(call: Call, wanted: Sequence[Measure], qrels: Qrels, run: Run, runid: str) -> tuple[str, int]:
    """What trec_eval prints, and its exit code."""
    names = sorted(qrels, key=str.encode)
    if call.version == "9.0":
        names = [name for name in names if name in run]
        if not names:
            return "", 7
    lines: list[str] = []
    totals = [[0.0] * len(measure.names) for measure in wanted]
    leftover: list[int] | None = None
    for name in names:
        grades = qrels[name]
        highest = max(grades.values())
        if leftover is None and highest < 0:
            return "".join(lines), 4
        if name not in run and not call.complete:
            return "".join(lines), 4
        levels = [sum(grade == level for grade in grades.values()) for level in range(highest + 1)]
        leftover = levels if highest >= 0 else leftover
        topic = Topic(ranking(run.get(name, {}), grades, call), levels, leftover or [], call)
        for measure, sums in zip(wanted, totals, strict=True):
            for i, (printed, raw) in enumerate(zip(measure.names, measure.values(topic), strict=True)):
                value = raw if call.zscores is None else standardised(raw, name, printed, call.zscores)
                sums[i] += value
                if call.per_topic and measure.kind in ("mean", "sum"):
                    lines.append(line(printed, name, value, measure.kind, call))
            if call.per_topic and measure.kind == "relstring":
                length = int(measure.asked.partition(".")[2] or 10)
                lines.append(f"{measure.names[0]:<22}\t{name}\t{relstring(topic, length)}\n")
    if call.summary:
        count = len(qrels) if call.complete else len(names)
        for measure, sums in zip(wanted, totals, strict=True):
            lines += summary(measure, sums, call, qrels, count, count - len(names), runid)
    return "".join(lines), 0


def summary(
    measure: Measure, sums: list[float], call: Call, qrels: Qrels, count: int, unseen: int, runid: str
) -> Iterator[str]:
    for name, total in zip(measure.names, sums, strict=True):
        if measure.kind == "runid":
            yield f"{name:<22}\tall\t{runid}\n"
        elif measure.kind == "topics":
            yield line(name, "all", count, "sum", call)
        elif name == "num_rel" and call.complete:
            yield line(name, "all", sum(g > 0 for of in qrels.values() for g in of.values()), "sum", call)
        elif measure.kind == "sum":
            yield line(name, "all", total, "sum", call)
        elif measure.kind == "geometric":
            yield line(name, "all", math.exp((total + unseen * math.log(SMALLEST)) / count), "mean", call)
        elif measure.kind == "mean":
            yield line(name, "all", total / count, "mean", call)


def line(name: str, topic: str, value: float, kind: str, call: Call) -> str:
    if call.zscores is not None:
        return f"Z{name:<22}\t{topic}\t{value:6.4f}\n"
    return f"{name:<22}\t{topic}\t{int(value) if kind == 'sum' else format(value, '6.4f')}\n"


def standardised(value: float, topic: str, name: str, reference: dict[tuple[str, str], tuple[float, float]]) -> float:
    if (topic, name) not in reference:
        return NO_ZSCORE
    mean, deviation = reference[topic, name]
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else NO_ZSCORE


# Several assessors (-R qrels_jg) and preferences (-R prefs)

Line = tuple[str, str, str, str, float]  # topic, group, sub-group, document, level
OF_GROUPS = ("map_avgjg", "P_avgjg", "Rprec_mult_avgjg")
OF_PREFERENCES = (
    "num_prefs_poss", "num_prefs_ful", "num_prefs_ful_ret", "simp", "pair", "avgjg", "avgjg_Rnonrel",
    "simp_ret", "pair_ret", "avgjg_ret", "avgjg_Rnonrel_ret", "simp_imp", "pair_imp", "avgjg_imp",
)  # fmt: skip


def averaged_over_groups(call: Call, lines: Sequence[Line], run: Run, runid: str) -> tuple[str, int]:
    """-m qrels_jg: each measure for each group, and the mean over the groups of a topic."""
    plain = [
        alone("map_avgjg", average_precision),
        at_ranks("P_avgjg", RANKS, lambda t, k: t.found_down_to(k) / k, default=True),
        at_levels("Rprec_mult_avgjg", MULTIPLES, precision_at_multiple, default=True),
    ]

    def values(topic: str) -> list[tuple[str, float, str]]:
        groups = sorted({group for name, group, *_ in lines if name == topic}, key=str.encode)
        seen = []
        for group in groups:
            grades = {d: int(level) for name, of, _, d, level in lines if (name, of) == (topic, group)}
            levels = [sum(grade == i for grade in grades.values()) for i in range(max(*grades.values(), 0) + 1)]
            seen.append(Topic(ranking(run.get(topic, {}), grades, call), levels, levels, call))
        found = []
        for measure in plain:
            for i, name in enumerate(measure.names):
                total = 0.0
                for one in seen:
                    total += measure.values(one)[i]
                found.append((name, total / len(seen), "mean"))
        return found

    return in_topics(call, lines, run, runid, values)


def of_preferences(call: Call, lines: Sequence[Line], run: Run, runid: str) -> tuple[str, int]:
    """-m all_prefs, pair by pair."""

    def values(topic: str) -> list[tuple[str, float, str]]:
        mine = [line for line in lines if line[0] == topic]
        scores = {d: single(s) if call.version == "9.0" else s for d, s in run.get(topic, {}).items()}
        shown = sorted(scores, key=lambda d: (-scores[d], d.encode()))[: call.depth]
        judged = {line[3] for line in mine}
        retrieved = [d for d in shown if d in judged]
        order = retrieved + sorted(judged - set(retrieved), key=str.encode)
        place = {d: i for i, d in enumerate(order)}
        groups = [
            Opinion([line for line in mine if line[1] == name], place, len(retrieved))
            for name in sorted({line[1] for line in mine}, key=str.encode)
        ]
        return [
            (f"prefs_{name}", preference(name, groups, len(order), len(retrieved)), "sum" if "num" in name else "mean")
            for name in OF_PREFERENCES
        ]

    return in_topics(call, lines, run, runid, values)


class Opinion:
    """The preferences of one group, as pairs of places in the ranking; from `retrieved` on they were not retrieved."""

    def __init__(self, lines: Sequence[Line], place: dict[str, int], retrieved: int) -> None:
        self.retrieved = retrieved
        self.level = {place[document]: level for _, _, _, document, level in lines}
        self.single = len({line[2] for line in lines}) == 1
        pairs = {
            (place[one[3]], place[other[3]])
            for one in lines
            for other in lines
            if one[2] == other[2] and one[4] > other[4]
        }
        while more := {(a, d) for a, b in pairs for c, d in pairs if b == c} - pairs:
            pairs |= more
        self.pairs = pairs

    def counts(self, kind: str, kept: set[int] | None = None) -> tuple[int, int]:
        """Fulfilled, and possible."""
        n = self.retrieved
        pairs = [(a, b) for a, b in self.pairs if kept is None or (a in kept and b in kept)]
        if kind == "ret":
            pairs = [(a, b) for a, b in pairs if a < n and b < n]
        if kind == "imp":
            pairs = [(a, b) for a, b in pairs if a < n or b < n]
        return sum(a < b and a < n for a, b in pairs), len(pairs)

    def balanced(self, kind: str) -> tuple[int, int]:
        n = self.retrieved
        limit = n if kind == "ret" else math.inf
        relevant = sorted(i for i, level in self.level.items() if level > 0)
        others = sorted(i for i, level in self.level.items() if level == 0 or (self.single and level < 0))
        r, nonrelevant = sum(i < limit for i in relevant), sum(i < limit for i in others)
        if r >= nonrelevant:
            fulfilled, possible = self.counts(kind)
            more = r - nonrelevant
            return fulfilled + sum(i < n for i in relevant) * more, possible + len(relevant) * more
        if not self.single:
            return self.counts(kind, set(self.level) - set(others[len(relevant) :]))
        bottom = min(self.level.values())
        kept = sorted(i for i, level in self.level.items() if level == bottom)[:r]
        fulfilled, possible = self.counts(kind, {i for i, level in self.level.items() if level > bottom})
        against = [(a, b) for a in self.level for b in kept if a < limit and b < limit]
        return fulfilled + sum(a < b and a < n for a, b in against), possible + len(against)


def preference(name: str, groups: list[Opinion], size: int, n: int) -> float:
    base, _, kind = name.rpartition("_") if name.endswith(("_ret", "_imp")) else (name, "", "")
    if base.startswith("num_prefs"):
        return float(sum(group.counts(kind)[base.endswith("poss")] for group in groups))
    if base == "simp":
        return over(*(sum(group.counts(kind)[i] for group in groups) for i in (0, 1)))
    if base == "pair":
        total, pairs = 0.0, 0
        both = [(i, j) for i in range(n) for j in range(i + 1, n)]
        one = [(i, j) for i in range(n) for j in range(n, size)]
        none = [(i, j) for i in range(n, size) for j in range(i + 1, size)]
        for i, j in both + (one if kind != "ret" else []) + (none if kind == "" else []):
            up, down = (sum(pair in group.pairs for group in groups) for pair in ((i, j), (j, i)))
            pairs += up + down > 0
            total += over(up, up + down) if i < n else 0.0
        return over(total, pairs)
    shares = [group.balanced(kind) if base == "avgjg_Rnonrel" else group.counts(kind) for group in groups]
    if base == "avgjg_Rnonrel" and any(possible == 0 for _, possible in shares):
        return 0.0
    total = 0.0
    for share in shares:
        total += over(*share)
    return total / len(groups)


def in_topics(
    call: Call, lines: Sequence[Line], run: Run, runid: str, values: Callable[[str], list[tuple[str, float, str]]]
) -> tuple[str, int]:
    """Topic by topic, then the means and sums."""
    topics = sorted({line[0] for line in lines}, key=str.encode)
    names = topics if call.version == "10.0" else [name for name in topics if name in run]
    if not names:
        return "", 7
    printed: list[str] = []
    totals: dict[tuple[str, str], float] = {}
    for name in names:
        if name not in run and not call.complete:
            return "".join(printed), 4
        for measure, value, kind in values(name):
            totals[measure, kind] = totals.get((measure, kind), 0.0) + value
            if call.per_topic:
                printed.append(line(measure, name, value, kind, call))
    count = len(topics) if call.complete else len(names)
    if call.summary:
        printed += [f"{'runid':<22}\tall\t{runid}\n", line("num_q", "all", count, "sum", call)]
        for (measure, kind), total in totals.items():
            printed.append(line(measure, "all", total if kind == "sum" else total / count, kind, call))
    return "".join(printed), 0
