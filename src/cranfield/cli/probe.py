"""`cranfield probe`"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from cranfield.cli import options
from cranfield.cli.streams import tell
from cranfield.errors import DataError, UsageError
from cranfield.formats.reading import Reading
from cranfield.probing.engines import ENGINES, engine_names
from cranfield.search.search_tables import FORMATS

if TYPE_CHECKING:
    from cranfield.probing import Expectations, Limits, Target
    from cranfield.search import Asking
    from cranfield.texts import Ids


def _target(
    url: str,
    engine: str,
    fields: str | None,
    body: str | None,
    ids: str | None,
    scores: str | None,
    header_file: str | None,
) -> Target:
    from cranfield.probing import Target, read_headers

    if ids in options.TOPIC_IDS:
        raise UsageError(
            "--ids says where an answer has its documents, as 'results[*].id': what topics are called is "
            f"--topic-ids {ids}"
        )
    headers = read_headers(header_file) if header_file is not None else {}
    return Target(
        url=url, engine=engine, fields=options.fields(fields), body=body, ids=ids, scores=scores, headers=headers
    )


def _limits(rate: float, parallel: int, timeout: float, retries: int) -> Limits:
    from cranfield.probing import Limits

    return Limits(rate=rate, parallel=parallel, timeout=timeout, retries=retries)


def _asking(query: str | None, depth: int, tag: str | None, warm_up: int, repeats: int) -> Asking:
    from cranfield.search import Asking, Timing

    return Asking(query=options.fields(query), depth=depth, tag=tag, timing=Timing(warm_up, repeats))


_LABELS = (
    "Of grades that are words, those from L0 to L99 are taken here. Make numbers of others first, with cranfield "
    "convert --labels, or list the documents that are expected: a topic and a document on each line."
)


def _expected(expect: str | None, within: int | None, reading: Reading) -> Expectations | None:
    from cranfield.probing import Expectations, read_items

    if expect is None:
        if within is not None:
            raise UsageError("--within is for documents that are expected: name them with --expect FILE")
        return None
    try:
        items = read_items(expect, reading=reading)
    except DataError as error:
        if "--labels" not in (error.option or ""):
            raise
        where = {"source": error.source, "text": error.text, "remedy": error.remedy, "option": _LABELS}
        raise DataError(error.message, line=error.line, **where) from None
    return Expectations(items=items) if within is None else Expectations(items=items, within=within)


@click.command("probe")
@click.argument("url")
@click.option("--topics", required=True, metavar="FILE", help="Topics to ask, in any format that is read.")
@click.option(
    "--engine",
    type=options.NameOf(ENGINES, engine_names),
    default="elasticsearch",
    show_default=True,
    help="What kind of engine it is; json is any that answers in JSON.",
)
@click.option(
    "-o",
    "--output",
    type=options.OutputFile(),
    metavar="RUN",
    default="-",
    help="Where the run goes. [default: standard output]",
)
@click.option("--tag", help="The run's tag. [default: the engine]")
@click.option("--query", metavar="FIELD[+FIELD]", help="Fields that make a query: title+description. [default: title]")
@click.option(
    "--topic-ids",
    type=click.Choice(options.TOPIC_IDS),
    default="given",
    show_default=True,
    help="What topics are called: as they are given, by position, or by number, without leading zeros.",
)
@click.option(
    "--fields",
    metavar="FIELD[+FIELD]",
    help="Fields that the engine shall search, as title^2+text. [default: what it searches by itself]",
)
@click.option(
    "--body",
    metavar="FILE",
    help="A body in JSON to post instead, in which {query} and {depth} stand for values.",
)
@click.option(
    "--ids", metavar="PATH", help="Where an answer has its documents, as 'results[*].id'. [default: the engine's]"
)
@click.option(
    "--scores",
    metavar="PATH",
    help="Where it has their scores; none: the engine's order counts. [default: the engine's, for json none]",
)
@click.option("--depth", type=click.IntRange(1), default=1000, show_default=True, help="Documents for each topic.")
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    default=10,
    show_default=True,
    help="Requests a second, at most.",
)
@click.option(
    "--parallel", type=click.IntRange(1, 100), default=1, show_default=True, help="Requests at once, at most."
)
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    default=30,
    show_default=True,
    help="Seconds that an answer may take.",
)
@click.option(
    "--retries",
    type=click.IntRange(0, 20),
    default=3,
    show_default=True,
    help="How often a request is sent once more where the network fails or the engine is busy: each time after a "
    "longer pause, or after the one that the engine asks for.",
)
@click.option(
    "--header-file",
    metavar="FILE",
    help="Headers to send, a line each, as Authorization: ApiKey …; they are neither shown nor kept.",
)
@click.option("--warm-up", type=click.IntRange(0), default=10, show_default=True, help="Queries asked before timing.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="How often each query is asked.")
@click.option("--allow-failures", is_flag=True, help="Make a run of the other topics where some have no answer.")
@click.option(
    "--strict", is_flag=True, help="Exit code 1 if a topic has no answer, or something is wrong with an answer."
)
@click.option(
    "--expect",
    metavar="FILE",
    help="Documents that must be found: lines of topic and document, or judgements. Exit code 1 if one is not visible.",
)
@click.option("--within", type=click.IntRange(1), help="Among how many they must be. [default: 10]")
@options.reading("labels", "threads")
@options.output_format(FORMATS)
@options.gathered("target", _target)
@options.gathered("limits", _limits)
@options.gathered("asking", _asking)
@options.gathered("expected", _expected)
def command(
    topics: str,
    output: str,
    topic_ids: Ids,
    allow_failures: bool,
    strict: bool,
    output_format: str,
    target: Target,
    limits: Limits,
    asking: Asking,
    expected: Expectations | None,
) -> None:
    """Send topics to the search engine at URL, make a run of its answers, and say how fast and how sound they are.

    URL is that of an index (http://localhost:9200/INDEX), of a collection of Solr (http://localhost:8983/solr/NAME), or
    with --engine json any address with {query} and {depth} in it. What was asked and what it took goes into
    RUN.metadata.json beside the run. Credentials come from --header-file, from the variable
    CRANFIELD_PROBE_AUTHORIZATION (the value of that header), or from the address; they are neither shown nor kept.

    Answers must be JSON with an id and a number for each document. Documents that stand twice, scores that do not
    descend, more documents than asked for, rankings that change between repeats, and answers that the engine itself
    calls partial are told. Nothing is written where
    a topic has no answer, unless failures are allowed.

    \b
    Examples:
      $ cranfield probe http://localhost:9200/pond --topics pond-topics.tsv --rate 50 -o pond.run
      $ cranfield probe http://localhost:8983/solr/pond --engine solr --topics pond-topics.tsv --rate 50 -o solr.run
      $ cranfield probe 'http://localhost/find?q={query}' --engine json --ids 'hits[*].id' --topics pond-topics.tsv
      $ cranfield probe http://localhost:9200/pond --topics pond-topics.tsv --expect pond-items.txt --rate 50 -o p.run
    """
    from cranfield.cli.progress import counted
    from cranfield.probing import probe
    from cranfield.probing.probe_tables import render
    from cranfield.texts import read_topics

    _check_output(output)
    asked = read_topics(topics, ids=topic_ids)
    for _, note in asked.notes:
        tell("note", note)
    probed = probe(
        target,
        asked,
        asking=asking,
        limits=limits,
        expected=expected,
        allow_failures=allow_failures,
        place=output,
        watch=counted,
    )
    options.warn(probed.warnings)
    probed.write(output, command=["cranfield", *sys.argv[1:]])
    click.echo(render(probed, output_format), nl=False, err=output == "-")
    if (strict and not probed.sound) or (probed.visibility is not None and probed.visibility.missing):
        raise SystemExit(1)


def _check_output(output: str) -> None:
    """That the run and its metadata can be written."""
    from cranfield.efficiency.metadata import metadata_path
    from cranfield.formats.output import check_place

    if output != "-":
        check_place(str(metadata_path(output)), "the run's metadata")
