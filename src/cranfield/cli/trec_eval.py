"""`cranfield trec_eval`"""

from __future__ import annotations

from typing import Any, cast

import click

from cranfield.cli import options as shared
from cranfield.cli.progress import read_meanwhile
from cranfield.errors import CranfieldError, DataError
from cranfield.formats.reading import Reading
from cranfield.trec_eval.arguments import FILE, FORMATS, USAGE, VERSIONS, Options, Version, exit_code
from cranfield.trec_eval.inputs import read
from cranfield.trec_eval.names import everything, wanted
from cranfield.version import __version__

DEFAULT = ("official",)
FILE_FORMATS = ("format", "results_format")  # a wrong one is found when the file is to be read


class LikeTrecEval(click.Command):
    """What goes wrong leaves the exit code that trec_eval would leave."""

    def make_context(self, *arguments: Any, **settings: Any) -> click.Context:
        try:
            return super().make_context(*arguments, **settings)
        except click.UsageError as error:
            of_a_file = isinstance(error, click.BadParameter) and getattr(error.param, "name", "") in FILE_FORMATS
            vars(error)["exit_code"] = FILE if of_a_file else USAGE
            raise

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except CranfieldError as error:
            click.echo(f"cranfield: {error.at_prompt if isinstance(error, DataError) else error}", err=True)
            raise SystemExit(exit_code(error)) from None


def _version(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"trec_eval version {VERSIONS[-1]} (cranfield {__version__})")
        context.exit()


@click.command("trec_eval", cls=LikeTrecEval)
@click.argument("qrels")
@click.argument("run")
@click.option("-q", "--query_eval_wanted", "per_topic", is_flag=True, help="Print every topic as well as the summary.")
@click.option("-n", "--nosummary", "no_summary", is_flag=True, help="Leave the summary out.")
@click.option(
    "-c",
    "--complete_rel_info_wanted",
    "complete",
    is_flag=True,
    help="Average over all topics of QRELS, those without an answer as 0.",
)
@click.option(
    "-l",
    "--level_for_rel",
    "level",
    type=int,
    default=1,
    metavar="N",
    help="Least grade of a relevant document [default: 1].",
)
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE", help="A measure or a group of them, as P.5,10."
)
@click.option(
    "-M", "--Max_retrieved_per_topic", "depth", type=click.IntRange(1), metavar="N", help="Cut every ranking here."
)
@click.option("-J", "--Judged_docs_only", "judged_only", is_flag=True, help="Take unjudged documents out, after -M.")
@click.option(
    "-N",
    "--Number_docs_in_coll",
    "documents",
    type=int,
    default=0,
    metavar="N",
    help="Documents in the collection, for utility.",
)
@click.option(
    "-R",
    "--Rel_info_format",
    "format",
    type=click.Choice(FORMATS),
    default="qrels",
    show_default=True,
    help="Format of the judgements.",
)
@click.option(
    "-T",
    "--Results_format",
    "results_format",
    type=click.Choice(["trec_results"]),
    help="Format of the run; there is only this one.",
)
@click.option(
    "-Z", "--Zscore", "zscores", metavar="FILE", help="Print z-scores, by a file of topic, measure, mean and deviation."
)
@click.option("-D", "--Debug_level", "debug", metavar="LEVEL", help="Accepted and ignored.")
@click.option(
    "-v", "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version."
)
@click.option(
    "--as",
    "as_version",
    type=click.Choice(VERSIONS),
    default=VERSIONS[-1],
    show_default=True,
    help="The version to imitate.",
)
@click.option("--explain-differences", is_flag=True, help="Show where versions and cranfield differ, and why.")
@shared.reading("format", "labels", "threads")
def command(
    qrels: str,
    run: str,
    measures: tuple[str, ...],
    no_summary: bool,
    as_version: str,
    debug: str | None,
    results_format: str | None,
    explain_differences: bool,
    reading: Reading,
    **settings: Any,
) -> None:
    """Print what trec_eval would print, to the character.

    Measures go by trec_eval's names. A name may have parameters: P.5,10, ndcg.1=3,2=9, set_F.2, utility.2,-1,0,0,
    iprec_at_recall..10,.20, relstring.20. Groups of measures are official (which is what you get without -m), set,
    all_trec, prefs, all_prefs and qrels_jg; the last three need -R.

    Where trec_eval's own result is undefined, as for rbp on grades above 1, the value is that of the formula.

    Exit codes are trec_eval's: 1 wrong usage or measure, 2 a file, 4 a calculation, 7 no topic in both files.

    \b
    Examples:
      $ cranfield trec_eval qrels.txt bm25.run
      $ cranfield trec_eval -q -c -m map -m P.5,10 qrels.txt bm25.run
      $ cranfield trec_eval --explain-differences qrels.txt bm25.run
    """
    default = everything(settings["format"]) if explain_differences else DEFAULT
    options = Options(
        cast(Version, as_version), measures or default, summary=not no_summary, reading=reading, **settings
    )
    if explain_differences:
        from cranfield.trec_eval.versions import explained

        click.echo(explained(options, qrels, run), nl=False)
        return
    asked = wanted(options.measures, options.version)
    with read_meanwhile(lambda: read(asked, options, qrels, run)) as files:
        from cranfield.trec_eval.printed import rendered
        from cranfield.trec_eval.totals import evaluate

        table = evaluate(asked, files(), options)
    click.echo(rendered(table, options), nl=False)
    if table.stopped is not None:
        raise table.stopped
