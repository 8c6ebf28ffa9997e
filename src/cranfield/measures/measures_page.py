"""docs/measures.md: every measure on one page, from the registry."""

from __future__ import annotations

from itertools import groupby

from cranfield.measures.definition import EVERYWHERE, FORMULAS, Definition, needed
from cranfield.measures.registry import Measure, all_measures

INTRODUCTION = """# Measures

Written by `cranfield measures --markdown` from the functions themselves; `cranfield measures NAME` shows one.

A measure is written `Name(parameter=value, …)@cutoff`, several with commas between them; words need no quotes, as in
`nDCG(gain=exp)@10`. The names of ir_measures,
trec_eval (`map`, `P.5,10`, `map@100`) and ranx (`mrr@10`, `hit_rate@5`, `map@100-l2`) are accepted too. r_i is the
number of relevant documents in the first i, R how many there are, n how many were retrieved, g_i the gain at rank i.
A topic without a relevant document scores 0, and in a loss, a utility or a count what a list has that finds nothing.
Every measure takes `agg`: how topics become one number (mean, geometric, harmonic or sum; where said also ratio, the
ratio of means), and `judged_only=True`: unjudged documents are taken out of the ranking first (condensed lists).
Under `--ties expected` measures are exact by formula where so marked; the others are so where a topic's ties have few
orders, and otherwise means over random ones.
"""


def page() -> str:
    """The whole page, ending in a newline."""
    parts = [INTRODUCTION]
    for family, measures in groupby(all_measures(), key=lambda measure: measure.definition.family):
        parts.append(f"## {family.replace('_', ' ').capitalize()}\n")
        parts += [entry(measure) for measure in measures]
    return "\n".join(parts)


def entry(measure: Measure) -> str:
    """One measure."""
    definition = measure.definition
    reference = definition.part("Reference")
    lines = [f"### {definition.name}", "", definition.description, ""]
    lines += [f"- {label}: {formula}" for label, formula in definition.formulas.items()]
    own = {name: parameter for name, parameter in definition.parameters.items() if name not in EVERYWHERE}
    for name, parameter in own.items():
        default = f"`{definition.defaults[name]!r}`" if name in definition.defaults else "required"
        lines.append(f"- `{'@' if name == definition.at else ''}{name}` ({default}): {parameter.help}")
    names = [f"`{name}`" for name in other_names(definition)]
    if names:
        lines.append(f"- Also called: {', '.join(names)}")
    lines += [f"- Known as: {definition.part('Known as')}"] if definition.known_as else []
    lines.append(f"- Better: {better(measure)}")
    lines.append(f"- Ties: {ties(measure)}")
    lines += [f"- Needs {needed(definition.needs)}"] if definition.needs else []
    lines += ["- Also as ratio of means: `agg='ratio'`"] if definition.denominator or definition.points else []
    lines += [f"- Reference: {reference}"] if reference else []
    lines += ["", "```python", definition.example, "```", ""]
    return "\n".join(lines)


def better(measure: Measure) -> str:
    """Which values are better, in words.

    >>> from cranfield.measures import AP, E, NumRet, SDCG
    >>> [better(measure) for measure in (AP, E, NumRet)]
    ['higher', 'lower: a loss', 'neither: it says nothing of quality']
    >>> better(SDCG)
    'higher; with other parameters perhaps neither'
    """
    words = {"higher": "higher", "lower": "lower: a loss", "neither": "neither: it says nothing of quality"}
    more = "; with other parameters perhaps neither" if callable(measure.definition.better) else ""
    return words[measure.better] + more


def average(measure: Measure) -> str:
    """How topics become one number, in words.

    >>> from cranfield.measures import parse_measure
    >>> average(parse_measure("HMAP"))
    'over topics the harmonic mean: n / Σ (1 / x)'
    """
    return f"over topics the {FORMULAS[str(measure.parameters['agg'])]}"


def ties(measure: Measure) -> str:
    """How the mean over all orders of ties is found, in words.

    >>> from cranfield.measures import AP, ERR, nDCG
    >>> ties(nDCG), ties(ERR), ties(AP)
    ('exact by formula', 'order by order', "exact by formula, but with over='seen' and a cutoff order by order")
    """
    definition = measure.definition
    if not definition.exact_ties:
        return "order by order"
    others = [
        f"with {name}={word!r}" + (" and a cutoff" if form.reach else "")
        for name, parameter in definition.parameters.items()
        if name not in EVERYWHERE
        for word in parameter.words
        for form in [measure(**{name: word}), *([measure(**{name: word}) @ 10] if definition.at == "cutoff" else [])]
        if not form.traits.exact_ties
    ]
    return f"exact by formula, but {' and '.join(others)} order by order" if others else "exact by formula"


def other_names(definition: Definition) -> list[str]:
    """Aliases, other averages, and what trec_eval calls it."""
    trec = [definition.trec, f"{definition.trec_at}_k" if definition.trec_at else None]
    return [*definition.aliases, *definition.averages, *(name for name in trec if name)]
