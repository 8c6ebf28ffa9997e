"""What `cranfield online demo` says at the end: both verdicts, how many users each design needs, what to try next."""

from __future__ import annotations

import shlex

from cranfield.demo.online_demo import AB, CONTROL, INTERLEAVED, NEW, OnlineDemo
from cranfield.demo.telling import program, wrapped
from cranfield.online.users.users_tables import render_rehearsal


def told_online(demo: OnlineDemo) -> str:
    """Verdicts, tables, files and next steps, as text for a terminal."""
    verdicts = [
        f"Interleaving of {CONTROL} and {NEW}, {demo.preferred.impressions:,} impressions, "
        f"{demo.preferred.clicked:,} of them with clicks, of {demo.preferred.users:,} users: {demo.preferred.verdict}",
        f"A/B test, {demo.analysis.units:,} users: {' '.join(map(str, demo.analysis.verdicts))}",
    ]
    return "\n".join([*map(wrapped, verdicts), render_rehearsal(demo.rehearsal, "table"), _where(demo), _next(demo)])


def _where(demo: OnlineDemo) -> str:
    contents = {
        demo.page.name: "to be opened in a browser: the A/B test",
        f"{INTERLEAVED}/": "the log of interleaved lists: impressions, events",
        f"{AB}/": "the log of the A/B test: impressions, events, assignments; experiment.toml",
        "runs/": "what both systems found",
    }
    lines = [f"  {name:16} {content}" for name, content in contents.items()]
    return f"The report is {demo.page.resolve()}\nIn {demo.folder}:\n" + "\n".join(lines) + "\n"


def _next(demo: OnlineDemo) -> str:
    def place(name: str) -> str:
        return shlex.quote(str(demo.folder / name))

    runs = " ".join(place(f"runs/{name}.run") for name in (CONTROL, NEW))
    commands = (
        f"online check {place(AB)} --trial {place(f'{AB}/experiment.toml')}",
        f"online analyse {place(AB)} --trial {place(f'{AB}/experiment.toml')}",
        f"online preferences {place(f'{INTERLEAVED}/impressions.parquet')} {place(f'{INTERLEAVED}/events.parquet')}",
        f"online link {place('qrels.txt')} {runs}",
    )
    return "Try next:\n" + "".join(f"  {program()} {command}\n" for command in commands)
