"""`cranfield fuse`"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import click

from cranfield.cli import options
from cranfield.cli.given import refuse
from cranfield.cli.progress import counted
from cranfield.errors import UsageError, plural
from cranfield.formats.reading import Reading
from cranfield.notation import Value

if TYPE_CHECKING:
    from cranfield.fusion import Training
    from cranfield.planning.tuned import TunedParameters
    from cranfield.render.json_form import Json
    from cranfield.tables import Run

LIST, METHOD = "list", "rrf"


class LearningOptions(NamedTuple):
    """What is learnt, and how, as it stands on the line."""

    qrels: str | None
    measure: str | None
    splits: str | None
    folds: int | None
    seed: int | None
    same_topics: bool
    learnt: str | None
    save_best: str | None
    parameters: str | None

    def check(self) -> None:
        """Options that would have no effect are errors."""
        if self.parameters is not None and self.qrels is not None:
            raise UsageError("--parameters are learnt already: give them or --train, not both")
        ways = {"--splits": self.splits, "--folds": self.folds, "--same-topics": self.same_topics or None}
        more = {"--seed": self.seed, "--measure": self.measure, "--learnt": self.learnt}
        more["--save-best"] = self.save_best
        chosen = [option for option, value in ways.items() if value is not None]
        alone = chosen + [option for option, value in more.items() if value is not None]
        if alone and self.qrels is None:
            raise UsageError(f"{' and '.join(alone)} can only be given with --train QRELS")
        if len(chosen) > 1:
            raise UsageError(f"{' and '.join(chosen)} exclude each other")
        if "--seed" in alone and chosen not in ([], ["--folds"]):
            raise UsageError(f"--seed draws folds, and {chosen[0]} has none to draw")

    def training(self) -> Training:
        """The same for the library."""
        from cranfield.fusion import Training

        return Training(
            measure=self.measure or "nDCG@10",
            splits=self.splits,
            folds=self.folds or 5,
            seed=self.seed or 0,
            same_topics=self.same_topics,
            best=self.save_best is not None,
        )


@click.command("fuse")
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--method", help=f"How to fuse; '{LIST}' shows all methods. [default: {METHOD}]")
@click.option(
    "--norm", help=f"How scores are made comparable; '{LIST}' shows all. [default: min-max, none for methods by rank]"
)
@click.option(
    "-p",
    "--parameter",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="A parameter of the method, such as k=30 or weights=0.7,0.3; may be repeated. Training leaves it as it is.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="At most this many documents for each topic.",
)
@click.option("--name", help="Name of the fused run, one word. [default: the method]")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    metavar="FILE",
    help="The fused run, as TREC text unless the suffix says otherwise (.jsonl, .csv …). [default: standard output; "
    "with --save-best no run is written]",
)
@click.option("--train", "qrels", metavar="QRELS", help="Judgements to learn the method's parameters from.")
@click.option("-m", "--measure", help="The measure to train for. [default: nDCG@10]")
@click.option("--splits", metavar="FILE", help="Topics to learn on and topics to use it on, from `cranfield split`.")
@click.option(
    "--folds",
    type=click.IntRange(2),
    help="Instead of --splits: for each of this many folds, learn on the others. [default: 5]",
)
@click.option("--seed", type=click.IntRange(0), help="The same seed, the same folds. [default: 0]")
@click.option("--same-topics", is_flag=True, help="Learn on all topics and fuse the same ones: a fit, not a test.")
@click.option("--learnt", type=options.OutputFile(), metavar="FILE", help="Write what was learnt, as JSON.")
@click.option(
    "--save-best",
    type=options.OutputFile(),
    metavar="FILE",
    help="Keep what is best on all topics learnt on, as TOML, for another collection.",
)
@click.option(
    "--parameters",
    metavar="FILE",
    help="Method, norm and parameters from a file of --save-best. An option that says otherwise is an error.",
)
@options.reading()
@options.gathered("learning", LearningOptions)
def command(
    runs: tuple[str, ...],
    method: str | None,
    norm: str | None,
    given: tuple[str, ...],
    depth: int,
    name: str | None,
    output: str | None,
    learning: LearningOptions,
    reading: Reading,
) -> None:
    """Fuse several runs into one.

    Methods that have something to learn do so from --train QRELS: what is learnt on some topics is used only on
    others, so that the fused run can be evaluated with the same judgements. What was done goes into
    FILE.metadata.json, beside the run. --save-best keeps what is best on all topics, for runs of another collection.

    \b
    Examples:
      $ cranfield fuse bm25.run dense.run -o fused.run
      $ cranfield fuse bm25.run dense.run --method weighted-sum -p weights=0.7,0.3 -o fused.run
      $ cranfield fuse bm25.run dense.run --method weighted-sum --train qrels.txt --folds 3 -o fused.run
      $ cranfield fuse bm25.run dense.run --method weighted-sum --train qrels.txt --save-best weights.toml
      $ cranfield fuse bm25.run dense.run --parameters weights.toml -o fused.run
      $ cranfield fuse --method list
    """
    if method == LIST or norm == LIST:
        click.echo("\n\n".join(described_methods() if method == LIST else described_normalisations()))
        return
    if name is not None and name.split() != [name]:
        raise UsageError(f"--name must be one word, because blanks end the columns of a run, not '{name}'")
    place = output if output is not None or learning.save_best else "-"
    if [place, learning.learnt, learning.save_best].count("-") > 1:
        raise UsageError("the run and what was learnt cannot both go to standard output: name a file for one")
    if place is None:
        refuse("name", why="is for a run, and with --save-best alone none is made: name one with -o")
    learning.check()
    from cranfield.efficiency.metadata import write_described
    from cranfield.fusion.fusing import fusion_metadata, with_tuned_runs

    fusing = Fusing.of(runs, method, norm, given, learning.parameters)
    run, tuning = _fused(fusing, depth, name, place, learning, reading)
    if place is None:
        return
    metadata = fusion_metadata(
        run.name,
        runs,
        fusing.method,
        norm=fusing.norm,
        parameters=fusing.parameters,
        depth=depth,
        learnt_from=learning.qrels,
        command=["cranfield", *sys.argv[1:]],
    )
    tuning, doubts = with_tuned_runs(tuning, runs)
    options.warn(doubts)
    write_described(run, place, metadata, more={"tuning": tuning} if tuning else None)
    if place != "-":
        told = f"{plural(len(runs), 'run')} fused into {place}: {plural(len(run.topics), 'topic')}, {len(run):,} rows"
        click.echo(told, err="-" in (learning.learnt, learning.save_best))


class Fusing(NamedTuple):
    """What is fused, and how, as the line and a file of parameters say it together."""

    runs: tuple[str, ...]
    method: str
    norm: str | None
    parameters: dict[str, Value]
    saved: TunedParameters | None

    @classmethod
    def of(
        cls, runs: tuple[str, ...], method: str | None, norm: str | None, given: Iterable[str], file: str | None
    ) -> Fusing:
        parameters = read_parameters(given)
        if file is None:
            return cls(runs, method or METHOD, norm, parameters, None)
        from cranfield.formats import distinct_names, stem
        from cranfield.fusion.training import checked_order, saved_parameters

        saved = saved_parameters(file, len(runs))
        options.warn(checked_order(saved, distinct_names([(stem(run), run) for run in runs])))
        line = {"method": method, "norm": norm} | dict(text.split("=", 1) for text in given)
        said = saved.beside({name: text for name, text in line.items() if text is not None})
        return cls(runs, said["method"], said.get("norm"), {**saved.parameters, **parameters}, saved)


def _fused(
    fusing: Fusing, depth: int, name: str | None, place: str | None, learning: LearningOptions, reading: Reading
) -> tuple[Run, Mapping[str, Json] | None]:
    """The fused run, and what was learnt for it, which is told."""
    from cranfield.evaluation.experiment import Experiment
    from cranfield.formats.output import save
    from cranfield.fusion import fuse, train_fusion
    from cranfield.fusion.fusing import findings

    runs, method, norm, parameters, saved = fusing
    if learning.qrels is None:
        run = fuse(list(runs), method, norm=norm, parameters=parameters, depth=depth, name=name, reading=reading)
        options.warn(findings(run))
        return run, saved.to_dict() if saved else None
    with counted("learning, trial", 0) as trials:
        trained = train_fusion(
            Experiment(learning.qrels, list(runs), reading=reading),
            method,
            learning.training(),
            norm=norm,
            parameters=parameters,
            depth=depth,
            name=name,
            tried=trials.step,
        )
    options.warn(trained.warnings)
    if learning.learnt is not None:
        save(learning.learnt, [trained.to_json()])
    if learning.save_best is not None:
        trained.saved().write(learning.save_best)
    click.echo(trained.learnt(), err="-" in (place, learning.learnt, learning.save_best))
    return trained.run, trained.tuning()


def read_parameters(given: Iterable[str]) -> dict[str, Value]:
    """Each NAME=VALUE, no name twice."""
    values: dict[str, Value] = {}
    for name, value in map(read_parameter, given):
        if name in values:
            raise UsageError(f"{name} is given twice; several numbers have commas between, as in weights=0.7,0.3")
        values[name] = value
    return values


def read_parameter(text: str) -> tuple[str, Value]:
    """NAME=VALUE, a number or several with commas between.

    >>> read_parameter("k=30"), read_parameter("weights=0.7,0.3")
    (('k', 30), ('weights', [0.7, 0.3]))
    """
    from cranfield.numerals import decimal, whole

    name, _, value = text.partition("=")
    texts = [part.strip() for part in value.split(",")]
    numbers = [decimal(part) if whole(part) is None else whole(part) for part in texts]
    if any(number is None for number in numbers):
        raise UsageError(f"expected NAME=VALUE with a number, or numbers with commas between, not '{text}'")
    return name, numbers if len(numbers) > 1 else numbers[0]


def described_methods() -> list[str]:
    """Each method with its formula, parameters and reference."""
    from cranfield.fusion import all_methods

    told = []
    for method in all_methods():
        names = " or ".join((method.name, *method.aliases))
        lines = [f"{names}: {method.title}", *method.help.splitlines(), f"  formula: {method.formula}"]
        for name, parameter in method.parameters.items():
            default = "learnt" if name == method.learnt else f"default: {method.shown_default(name)}"
            lines.append(f"  {name}: {parameter.help} [{default}]")
        told.append("\n".join([*lines, f"  reference: {method.reference}"]))
    return told


def described_normalisations() -> list[str]:
    """Each normalisation with its formula, parameters and reference."""
    from cranfield.fusion import all_normalisations

    told = []
    for normalisation in all_normalisations():
        lines = [" or ".join(normalisation.names), normalisation.help, f"  formula: {normalisation.formula}"]
        lines += options.parameter_lines(normalisation)
        told.append("\n".join([*lines, f"  reference: {normalisation.reference}"]))
    return told
