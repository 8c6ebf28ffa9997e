"""`cranfield measures`"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cranfield.cli.measure_names import MeasureName
from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.measures.registry import Measure


ARROWS = {"higher": " ", "lower": "↓", "neither": "·"}


@click.command("measures")
@click.argument("name", required=False, type=MeasureName())
@click.option("--markdown", is_flag=True, help="Everything about all measures as one page, as in docs/measures.md.")
def command(name: str | None, markdown: bool) -> None:
    """List the measures, or explain the one called NAME: formula, parameters, example, reference.

    \b
    Examples:
      $ cranfield measures
      $ cranfield measures nDCG
    """
    from cranfield.measures import all_measures
    from cranfield.measures.notation import usage

    if markdown and name is not None:
        raise UsageError(f"--markdown is a page of all measures: leave out {name}, or --markdown")
    if markdown:
        from cranfield.measures.measures_page import page

        click.echo(page(), nl=False)
        return

    if name is not None:
        click.echo(explained(_meant(name)))
        return
    width = max(len(usage(measure)) for measure in all_measures())
    family = ""
    for measure in all_measures():
        if measure.definition.family != family:
            gap = "\n" if family else ""
            family = measure.definition.family
            click.echo(f"{gap}{family.replace('_', ' ')}")
        arrow = ARROWS[measure.better]
        click.echo(f"{arrow} {usage(measure):<{width}}  {measure.definition.summary}")
    click.echo("\n↓ less is better, · neither more nor less is. `cranfield measures NAME` explains one.")


def _meant(name: str) -> Measure:
    """The measure that is called so, by us or, if it is the only one, by lectures; else what is called so, if anything
    is."""
    from cranfield.measures import parse_measures
    from cranfield.measures.misnamed import known_as

    try:
        return parse_measures(name)[0]
    except UsageError as error:
        lectures = known_as(name)
        if len(lectures) == 1:
            return lectures[0]
        from cranfield.cli.elsewhere import elsewhere

        shown = "" if lectures or not str(error).startswith("unknown measure") else elsewhere(name, _all_commands())
        if not shown:
            raise
        raise UsageError(f"no measure is called '{name}'; see {shown}") from None


def _all_commands() -> click.Group:
    group = click.get_current_context().find_root().command
    assert isinstance(group, click.Group)
    return group


def explained(measure: Measure) -> str:
    """Everything the registry knows about a measure."""
    from cranfield.measures.definition import needed
    from cranfield.measures.measures_page import average, better
    from cranfield.measures.notation import usage

    definition = measure.definition
    parameters: list[str] = []
    for name, parameter in definition.parameters.items():
        default = f"{definition.defaults[name]!r}" if name in definition.defaults else "required"
        written = f"@{name}" if name == definition.at else name
        text = f"{written} = {default}: {parameter.help} ({parameter.accepts})"
        parameters.append(_labelled("" if parameters else "Parameters", text))
    reference = definition.part("Reference")
    parts = [usage(measure), definition.description]
    for label, formula in definition.formulas.items():
        condition = label.removeprefix("Formula").strip()
        parts.append(_labelled("" if condition else "Formula", f"{condition}: {formula}" if condition else formula))
    parts += [_labelled("Average", average(measure))] if measure.name in definition.averages else []
    parts.append(_labelled("Better", better(measure)))
    parts.append("\n".join(parameters))
    names = [*definition.aliases, *(f"{name} (agg='{agg}')" for name, (agg, _) in definition.averages.items())]
    trec = [n for n in (definition.trec, f"{definition.trec_at}_k" if definition.trec_at else None) if n]
    parts += [_labelled("Also", ", ".join(names))] if names else []
    parts += [_labelled("trec_eval", ", ".join(trec))] if trec else []
    parts += [_labelled("Known as", definition.part("Known as"))] if definition.known_as else []
    parts += [_labelled("Needs", needed(definition.needs))] if definition.needs else []
    parts.append(_labelled("Example", definition.example, wrap=False))
    parts += [_labelled("Reference", reference)] if reference else []
    return "\n\n".join(parts)


def _labelled(label: str, text: str, *, wrap: bool = True) -> str:
    """A label in a margin of its own, the text beside it."""
    import textwrap

    margin = " " * 12
    lines = textwrap.wrap(text, 88, break_on_hyphens=False) if wrap else text.split("\n")
    return label.ljust(12) + f"\n{margin}".join(lines)
