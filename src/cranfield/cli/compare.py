"""`cranfield compare`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cranfield.cli import options
from cranfield.cli.progress import watched
from cranfield.comparison.comparison_tables import FORMATS, render
from cranfield.errors import DataError, UsageError

if TYPE_CHECKING:
    from cranfield.comparison.comparison import Comparison
    from cranfield.evaluation.findings import Finding
    from cranfield.formats.layout import Layout

DEFAULT_MEASURES = ("nDCG@10", "AP")


@click.command("compare")
@click.argument("qrels", required=False)
@click.argument("runs", nargs=-1)
@options.measures
@click.option("--baseline", metavar="RUN", help="Compare every run with this one (its name or path), not all pairs.")
@click.option(
    "--test",
    "tests",
    multiple=True,
    metavar="NAME",
    help="Test of significance; the first decides, others are shown beside it. Without one, t decides, or the exact "
    "randomisation test where two runs differ on fewer than 25 topics. `--test list` explains them all.",
)
@options.correction
@options.alpha
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Chance with which the detectable difference is found.",
)
@click.option(
    "--equivalence",
    type=click.FloatRange(0, min_open=True),
    metavar="MARGIN",
    help="Also ask whether systems are equal up to this difference (two one-sided t tests).",
)
@click.option(
    "--seeds",
    multiple=True,
    metavar="PATTERN",
    help="Runs of one system under several seeds, as 'dense-*.run'; may be repeated, once for each system.",
)
@click.option("--splits", metavar="FILE", help="Topic splits made by `cranfield split`: show every fold as well.")
@click.option(
    "--tuned-on", metavar="FILE", help="Judgements or topic list that systems were tuned on: warn of topics in both."
)
@click.option(
    "--collections",
    metavar="FILE",
    help="TOML file with several collections, [NAME] qrels = '…' and [NAME.runs] system = '…', instead of QRELS RUNS.",
)
@click.option(
    "--resamples", type=click.IntRange(99), default=100_000, show_default=True, help="Resamples of tests that draw."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of tests that draw.")
@click.option(
    "--risk",
    type=click.FloatRange(0),
    metavar="ALPHA",
    help="Add URisk, TRisk and GeoRisk against the baseline; a loss weighs 1 + ALPHA times as much as a gain.",
)
@click.option(
    "--simultaneous", is_flag=True, help="Show intervals that hold for all comparisons together, not each by itself."
)
@click.option(
    "--ledger",
    type=options.OutputFile(),
    metavar="FILE",
    help="Keep a list of all comparisons made, and say how many were made before.",
)
@options.output_format(list(FORMATS))
@options.policy
@options.figures
@options.judgements
@options.input_format
@options.threads
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    output_format: str,
    seeds: tuple[str, ...],
    splits: str | None,
    tuned_on: str | None,
    collections: str | None,
    tests: tuple[str, ...],
    resamples: int,
    seed: int,
    equivalence: float | None,
    input_format: Layout | str | None,
    threads: int | None,
    ledger: str | None,
    simultaneous: bool,
    **given: Any,
) -> None:
    """Compare RUNS with each other on the judgements in QRELS: is one really better than another?

    For each measure: means, the best marked, letters for the runs that each one beats; for each pair the difference
    with its interval, effect size (d_z), topics won, tied and lost, p-values, p corrected for all comparisons, and the
    difference that this many topics can find after that correction. An interval leaves out 0 exactly where corrected p
    is below alpha; --simultaneous shows wider ones that hold for all comparisons together.

    Systems that each answered topics of their own are compared with --topics run and an unpaired test: --test welch,
    student or mann-whitney.

    \b
    Examples:
      $ cranfield compare qrels.txt bm25.run dense.run
      $ cranfield compare qrels.txt bm25.run dense.run -m nDCG@10 --baseline bm25 --test randomisation -f latex
      $ cranfield compare --test list
    """
    if "list" in tests or given["correction"] == "list":
        click.echo(listed_tests() if "list" in tests else listed_corrections(), nl=False)
        return
    policy = options.taken_policy(given)
    digest = output_format == "json" or ledger or collections  # to know judgements again, under whatever name
    read = options.taken_inputs(given) | {"digest": "xxh3_128" if digest else None}
    with watched("reading") as progress:
        from cranfield.comparison.systems import compare_collections
        from cranfield.statistics.significance import Sampling

        sources = _collections(collections, qrels, runs, seeds)
        found = compare_collections(
            sources,
            measures or DEFAULT_MEASURES,
            policy=policy,
            read=read | {"format": input_format, "threads": threads, "progress": progress},
            tests=tests or None,
            margin=equivalence,
            splits=_read_splits(splits, sources),
            tuned_on=_topics_of(tuned_on, input_format),
            sampling=Sampling(seed, resamples, threads),
            **given | {"baseline": _named(given["baseline"], runs)},
        )
    options.warn([*found.warnings, *_entered(ledger, found)])
    click.echo(render(found, output_format, simultaneous=simultaneous), nl=False)


def _entered(path: str | None, found: Comparison) -> list[Finding]:
    if path is None:
        return []
    from datetime import UTC, datetime

    from cranfield.comparison.ledger import entered

    told = entered(path, found, datetime.now(UTC).isoformat(timespec="seconds"))
    return [] if told is None else [told]


def listed_tests() -> str:
    """Every test of significance with its null hypothesis."""
    from cranfield.statistics.significance import all_tests

    lines = []
    for test in all_tests():
        kind = {
            "family": " (all pairs at once, corrected)",
            "independent": " (each system on topics of its own: --topics run)",
        }.get(test.kind, "")
        lines.append(
            f"{test.name}: {test.title}{kind}\n    {test.help.splitlines()[0]}\n    Null hypothesis: {test.null}.\n"
        )
    return "\n".join(lines)


def listed_corrections() -> str:
    """Every correction with what it keeps below alpha."""
    from cranfield.statistics.corrections import all_corrections

    return "".join(f"{each.name}\n    Keeps down {each.controls}.\n" for each in all_corrections())


def _collections(
    path: str | None, qrels: str | None, runs: tuple[str, ...], patterns: tuple[str, ...]
) -> dict[str, tuple[Any, Any]]:
    """{name: (qrels, runs)}; one without a name unless a file lists several."""
    if path is not None:
        if qrels is not None or patterns:
            given = "QRELS and RUNS" if qrels is not None else "--seeds"
            raise UsageError(f"give --collections or {given}, not both; a system's runs may be a list in the file")
        return _listed_collections(path)
    if qrels is None or not (runs or patterns):
        raise UsageError("what is to be compared? Give QRELS and two RUNS or more, or --collections FILE")
    if not patterns:
        return {"": (qrels, list(runs))}
    systems: dict[str, Any] = dict(zip(_names(runs), runs, strict=True))
    for pattern in patterns:
        name = _system_of(pattern)
        if name in systems:
            raise UsageError(f"--seeds '{pattern}' is a second system called {name}: rename its files")
        systems[name] = _matching(pattern)
    return {"": (qrels, systems)}


def _listed_collections(path: str) -> dict[str, tuple[Any, Any]]:
    from pathlib import Path

    from cranfield.formats.sources import read_toml

    document, folder = read_toml(path), Path(path).parent
    found: dict[str, tuple[Any, Any]] = {}
    for name, entry in document.items():
        if not _is_collection(entry):
            raise UsageError(
                f"{path}: [{name}] must have qrels = 'file' and a table [{name}.runs] with system = 'file', or a list "
                "of files, and nothing else"
            )
        runs = {
            system: [str(folder / one) for one in files] if isinstance(files, list) else str(folder / files)
            for system, files in entry["runs"].items()
        }
        found[name] = (str(folder / entry["qrels"]), runs)
    if not found:
        raise UsageError(f"{path}: no collection in it; write [NAME] with qrels = 'file' and [NAME.runs]")
    return found


def _is_collection(entry: Any) -> bool:
    if not isinstance(entry, dict) or set(entry) != {"qrels", "runs"} or not isinstance(entry["runs"], dict):
        return False
    files = [each for given in entry["runs"].values() for each in (given if isinstance(given, list) else [given])]
    return all(isinstance(file, str) for file in [entry["qrels"], *files])


def _matching(pattern: str) -> list[str]:
    from glob import glob

    found = sorted(glob(pattern))
    if not found:
        raise UsageError(f"no file matches --seeds '{pattern}'")
    return found


def _system_of(pattern: str) -> str:
    """A system's name from the pattern of its runs.

    >>> _system_of("runs/dense-*.run")
    'dense'
    """
    from cranfield.formats import stem

    return "".join(c for c in stem(pattern) if c not in "*?[]").strip("-_.# ") or pattern


def _names(runs: tuple[str, ...]) -> list[str]:
    """What runs are called, which is their path where two have the same name."""
    from cranfield.formats import distinct_names, stem

    return distinct_names([(stem(run), run) for run in runs])


def _named(wanted: str | None, runs: tuple[str, ...]) -> str | None:
    """The name of one of the runs, which may be given as its path."""
    import os

    for name, run in zip(_names(runs), runs, strict=True):
        if wanted is not None and wanted != name and os.path.abspath(run) == os.path.abspath(wanted):
            return name
    return wanted


def _read_splits(path: str | None, sources: dict[str, tuple[Any, Any]]) -> Any:
    if path is None:
        return None
    if len(sources) > 1:
        raise UsageError("splits belong to one collection")
    from cranfield.planning.splits import read_splits

    return read_splits(path)


def _topics_of(path: str | None, format: Layout | str | None) -> tuple[str, ...]:
    """Topics of a judgement file, or of a list with one id a line."""
    if path is None:
        return ()
    from cranfield.formats import read_qrels
    from cranfield.formats.sources import open_source

    lines = bytes(open_source(path).data).decode("utf-8-sig", "surrogateescape").split("\n")
    ids = [line.strip() for line in lines if line.strip()]
    if not ids:
        raise DataError("no topic in it", source=path, remedy="Write a topic id on each line, or name judgements.")
    a_list = all(len(line.split()) == 1 for line in ids) and not any("," in line for line in ids)
    return tuple(ids) if a_list else tuple(read_qrels(path, format=format).topics)
