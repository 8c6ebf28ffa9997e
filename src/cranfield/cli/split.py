"""`cranfield split`"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from cranfield.cli import options
from cranfield.errors import UsageError, plural
from cranfield.formats.reading import Reading

if TYPE_CHECKING:
    from cranfield.planning.splits import Splits
    from cranfield.tables import Qrels
    from cranfield.texts import Ids

DEFAULT_MEASURE = "AP"


class WrittenFiles(NamedTuple):
    """What is to be written, and where."""

    output: str | None
    with_qrels: bool
    with_topics: str | None
    ids: Ids

    def check(self) -> None:
        """Refuses what would not be written."""
        if self.ids != "given" and self.with_topics is None:
            raise UsageError("--ids is about the ids of topics: name these, with --with-topics")
        in_parts = self.with_qrels or self.with_topics is not None
        if in_parts and (self.output is None or self.output.endswith(".json")):
            option = "--with-qrels" if self.with_qrels else "--with-topics"
            raise UsageError(f"{option} writes a file for each part: name a folder for them, as -o class")

    def written(self, splits: Splits, judged: Qrels, reading: Reading) -> str:
        """Writes the splits, and gives what to print."""
        if self.output is None:
            return splits.to_json()
        from cranfield.planning.parts import judgement_files, topic_files

        parts = [judgement_files(splits, judged, reading)] if self.with_qrels else []
        parts += [] if self.with_topics is None else [topic_files(splits, self.with_topics, self.ids)]
        beside = {name: content for part in parts for name, content in part.files.items()}
        written = splits.write(self.output, beside)
        options.warn(note for part in parts for note in part.notes)
        lists = len(written) - 1 - len(beside)
        more = f" and {plural(lists, 'list')} of topics beside it" if lists else ""
        more += f", with {plural(len(beside), 'file')} of judgements and topics" if beside else ""
        return f"{plural(len(splits.folds), 'split')} in {written[0]}{more}\n"


@click.command("split")
@click.argument("qrels")
@click.option("--folds", type=click.IntRange(2), help="Number of folds; each is tested once. [default: 5]")
@click.option("--test-share", type=float, help="Instead of folds: two parts, with this share of topics for testing.")
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="How often to split, each time anew."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed, the same splits.")
@click.option(
    "--stratify",
    "runs",
    multiple=True,
    metavar="RUN",
    help="A run whose scores tell how hard a topic is (their mean, of several): every part gets hard and easy ones.",
)
@click.option("-m", "--measure", help=f"Measure of difficulty, for --stratify. [default: {DEFAULT_MEASURE}]")
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(folder=True),
    metavar="PATH",
    help="A file ending in .json, or a folder for that and a list of topics for each part. [default: standard output]",
)
@click.option(
    "--with-qrels",
    is_flag=True,
    help="Also write the judgements of each part into the folder, in the format of QRELS with all its columns.",
)
@click.option(
    "--with-topics",
    metavar="FILE",
    help="Also write the topics of each part into the folder: those of a file, in its format, or of a collection.",
)
@options.topic_ids
@options.judgements
@options.reading(kind=True)
@options.gathered("files", WrittenFiles)
def command(
    qrels: str,
    folds: int | None,
    test_share: float | None,
    repeats: int,
    seed: int,
    runs: tuple[str, ...],
    measure: str | None,
    files: WrittenFiles,
    reading: Reading,
) -> None:
    """Split the topics of QRELS into those to tune on and those to test on.

    The result is JSON: {"seed": …, "folds": [{"train": […], "test": […]}, …]}. It depends on the topic ids and the
    seed alone, not on the order of topics nor on the machine.

    Parts are called train and test, or of several folds fold1.train, fold1.test and so on: their files in a folder, as
    test.txt and test.qrels, and for --topic-set of other commands, as splits.json:test.

    \b
    Examples:
      $ cranfield split qrels.txt --folds 3 --seed 1
      $ cranfield split qrels.txt --test-share 0.5 --stratify bm25.run --stratify dense.run -m nDCG@10
      $ cranfield split qrels.txt --test-share 0.5 --with-qrels -o class
    """
    if folds is not None and test_share is not None:
        raise UsageError("--folds and --test-share exclude each other")
    if measure is not None and not runs:
        raise UsageError("--measure is of the difficulty of topics: name runs to tell it by, with --stratify")
    files.check()
    from cranfield.formats import read_qrels
    from cranfield.planning.splits import split, stratified_split

    judged = read_qrels(qrels, reading=reading)
    folds = folds or (5 if test_share is None else None)
    if runs:
        from cranfield.evaluation.experiment import Experiment

        splits, warnings = stratified_split(
            Experiment(judged, list(runs), reading=reading, rows=False),
            measure or DEFAULT_MEASURE,
            folds=folds,
            test_share=test_share,
            seed=seed,
            repeats=repeats,
        )
        options.warn(warnings)
    else:
        splits = split(judged, folds=folds, test_share=test_share, seed=seed, repeats=repeats)
    click.echo(files.written(splits, judged, reading), nl=False)
