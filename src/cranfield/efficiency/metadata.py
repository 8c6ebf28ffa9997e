"""What a run says of itself: ir_metadata in comments at its head, and as JSON beside it.

The schema is that of Breuer et al., "ir_metadata: an extensible metadata schema for IR experiments", SIGIR 2022, with
`resources` for efficiency. See docs/search.md.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cranfield.efficiency.resources import FIGURES, check_figures
from cranfield.efficiency.timing import Efficiency
from cranfield.errors import DataError, UsageError, some
from cranfield.formats import COMPRESSED, distinct_names, stem, without_compression
from cranfield.formats.format import decode
from cranfield.formats.heads import END, START, metadata_lines
from cranfield.formats.json_text import parse
from cranfield.formats.output import save
from cranfield.formats.sources import open_source
from cranfield.libraries import library
from cranfield.render.json_form import Json
from cranfield.tables import Run

SCHEMA = "0.1"
PLAIN_KEY = re.compile(r"(?!(?:y|yes|n|no|on|off|true|false|null)$)[a-z_][a-z0-9 _-]*", re.IGNORECASE)

HEAD = ("schema-version", "run-version", "tag", "platform")  # what stands before the implementation


def run_metadata(
    tag: str,
    efficiency: Efficiency | None = None,
    *,
    method: Mapping[str, Json] | None = None,
    data: Mapping[str, Json] | None = None,
    command: Iterable[str] = (),
) -> dict[str, Json]:
    """A run's metadata in the order of the schema: platform, implementation, method, data, then resources; platform and
    resources are those of the `efficiency`, if that was measured.

    >>> metadata = run_metadata("bm25", Efficiency({"1": 0.002}, 0.002, 0, 1), method={"automatic": True})
    >>> list(metadata), metadata["resources"]["searching"]["latency ms"]["p50"]
    (['schema-version', 'run-version', 'tag', 'method', 'resources'], 2.0)
    """
    parts = {
        "platform": dict(efficiency.machine) if efficiency else {},
        "method": dict(method or {}),
        "data": dict(data or {}),
        "resources": efficiency.to_dict() if efficiency else {},
    }
    head = {"schema-version": SCHEMA, "run-version": "1.0", "tag": tag}
    return with_command(head | {name: part for name, part in parts.items() if part}, command)


def with_command(metadata: Mapping[str, Json], command: Iterable[str]) -> dict[str, Json]:
    """The same with the command that made the run, if there is one, in its place: behind the platform.

    >>> list(with_command({"tag": "a", "platform": {}, "method": {}}, ["cranfield", "search"]))
    ['tag', 'platform', 'implementation', 'method']
    """
    arguments = list(command)
    if not arguments:
        return dict(metadata)
    implementation = {"executable": {"cmd": arguments}, "source": {"lang": ["python"]}}
    before = {name: metadata[name] for name in HEAD if name in metadata}
    return {**before, "implementation": implementation, **metadata}


def header(metadata: Mapping[str, Json]) -> str:
    """Metadata as comment lines for the head of a run: YAML between two marks.

    >>> print(header({"tag": "bm25", "method": {"retrieval": [{"name": "bm25", "k1": 0.9}]}}), end="")
    # ir_metadata.start
    # tag: "bm25"
    # method:
    #   retrieval:
    #   - name: "bm25"
    #     k1: 0.9
    # ir_metadata.end
    """
    lines = [f"# {line}" for line in _yaml(metadata)]
    return "\n".join([START, *(_no_row(line) for line in lines), END]) + "\n"


def metadata_path(run: str | os.PathLike[str]) -> Path:
    """Where the metadata of a run lies.

    >>> metadata_path("runs/bm25.run").name
    'bm25.run.metadata.json'
    """
    return Path(f"{os.fspath(run)}.metadata.json")


def metadata_file(run: str | os.PathLike[str]) -> Path | None:
    """The file of metadata beside a run, which may have been compressed or unpacked since; None if there is none.

    >>> metadata_file("examples/bm25.run") is None
    True
    """
    path = os.fspath(run)
    bare = without_compression(path)
    names = dict.fromkeys([path, bare, *(f"{bare}{suffix}" for suffix in COMPRESSED)])
    return next((beside for beside in map(metadata_path, names) if beside.is_file()), None)


def carry_metadata(run: str | os.PathLike[str], place: str | os.PathLike[str]) -> bool:
    """Writes what lies beside a run beside another file with the same rows too; says whether there was something."""
    beside = None if os.fspath(run) == "-" else metadata_file(run)
    if beside is None or not os.path.isfile(place):
        return False
    save(metadata_path(place), [bytes(open_source(str(beside)).data)])
    return True


def tuning_of(run: str | os.PathLike[str] | None) -> dict[str, Any] | None:
    """What the metadata beside a run say that it was tuned on; None where they do not.

    >>> tuning_of("examples/bm25.run") is None
    True
    """
    if run is None or os.fspath(run) == "-" or metadata_file(run) is None:
        return None
    tuning = (read_metadata(run) or {}).get("tuning")
    return tuning if isinstance(tuning, dict) else None


def write_metadata(run: str | os.PathLike[str], metadata: Mapping[str, Json]) -> Path:
    """Writes metadata beside a run, and says where.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_metadata(f"{folder}/a.run", {"tag": "a"})
    ...     read_metadata(f"{folder}/a.run")
    {'tag': 'a'}
    """
    path = metadata_path(run)
    save(path, [json.dumps(metadata, indent=1, ensure_ascii=False) + "\n"])
    return path


def write_described(
    run: Run, place: str, metadata: Mapping[str, Json], *, head: bool = False, more: Mapping[str, Json] | None = None
) -> None:
    """Writes a run in the format that its name calls for, with metadata beside it if it is a file.

    They stand at the head of the run too if asked for, as few tools read that; `more` stands beside it alone.
    """
    from cranfield.formats.writers import format_of
    from cranfield.texts.writing import write_run

    if head:
        rows = io.BytesIO()
        write_run(run, rows, format=format_of(place))
        save(place, [header(metadata), rows.getvalue()])
    else:
        write_run(run, place, format=format_of(place))
    if place != "-" and os.path.isfile(place):
        write_metadata(place, {**metadata, **(more or {})})


def read_metadata(run: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The metadata of a run: from the file beside it, or from the comments at its head; None if it has neither.

    Comments are YAML, for which PyYAML is needed (in the `search` extra).

    >>> read_metadata("examples/bm25.run") is None
    True
    """
    beside = metadata_file(run)
    if beside is not None:
        source = str(beside)
        metadata = parse(decode(bytes(open_source(source).data)), source, None)
    else:
        source = os.fspath(run)
        lines = metadata_lines(open_source(source).data)
        if not lines:
            return None
        if lines[-1] != END:
            raise DataError(f"has metadata that do not end: no line {END}", source=source)
        metadata = _read_yaml("\n".join(line[2:] for line in lines[1:-1]), source)
    if not isinstance(metadata, dict):
        raise DataError("has metadata that are not a mapping of names to values", source=source)
    return metadata


def figures_of(
    runs: Iterable[str | os.PathLike[str] | None], figures: Iterable[str] = FIGURES
) -> dict[str, tuple[float | None, ...]]:
    """Figures of efficiency, each with a number for every run; None where a run's metadata do not have it, and for
    runs that are not files.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     efficiency = Efficiency({"1": 0.002, "2": 0.004}, 0.006, 0, 1)
    ...     _ = write_metadata(f"{folder}/a.run", run_metadata("a", efficiency))
    ...     figures_of([f"{folder}/a.run", None], ["p99", "index"])
    {'p99': (4.0, None), 'index': (None, None)}
    """
    wanted = check_figures(figures)
    metadata = [{} if run is None or os.fspath(run) == "-" else read_metadata(run) or {} for run in runs]
    return {name: tuple(_number_at(part.get("resources"), FIGURES[name].place) for part in metadata) for name in wanted}


def costs_of(runs: Iterable[str | os.PathLike[str]], cost: str = "latency") -> dict[str, float]:
    """What each run costs, by the run's name, from their metadata: mean `latency` in milliseconds, its percentiles p50,
    p90, p95 and p99, `indexing` seconds, bytes of the `index` or of `memory`. A run without it is an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     efficiency = Efficiency({"1": 0.002, "2": 0.004}, 0.006, 0, 1)
    ...     _ = write_metadata(f"{folder}/a.run", run_metadata("a", efficiency))
    ...     costs_of([f"{folder}/a.run"]), costs_of([f"{folder}/a.run"], "p50")
    ({'a': 3.0}, {'a': 2.0})
    """
    costs = [name for name, figure in FIGURES.items() if figure.is_cost]
    if cost not in costs:
        raise UsageError(f"no cost '{cost}'; there are {', '.join(costs)}")
    paths = [os.fspath(run) for run in runs]
    names = distinct_names([(stem(path), path) for path in paths])
    values = dict(zip(names, figures_of(paths, [cost])[cost], strict=True))
    missing = [run for run, value in values.items() if value is None]
    if missing:
        raise no_figure(cost, missing, "for others give a table of run and cost with --costs (costs= in Python)")
    return {run: value for run, value in values.items() if value is not None}


def no_figure(
    name: str,
    runs: list[str],
    otherwise: str = "for others, write what was measured: cranfield.efficiency.write_metadata",
) -> DataError:
    """What to say where the metadata of runs do not have a figure."""
    return DataError(
        f"no {name} is known of {some(runs)}: there is none in the metadata",
        remedy=f"Runs that `cranfield search` made have it; {otherwise}.",
    )


def _number_at(resources: Json, place: Iterable[str]) -> float | None:
    value = resources
    for name in place:
        value = value.get(name) if isinstance(value, Mapping) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _yaml(value: Mapping[str, Json] | Sequence[Json]) -> list[str]:
    """Nested mappings and lists as lines of YAML."""
    if isinstance(value, Mapping):
        items = [(f"{name if PLAIN_KEY.fullmatch(name) else _scalar(name)}:", part) for name, part in value.items()]
    else:
        items = [("-", part) for part in value]
    lines = []
    for mark, part in items:
        if not isinstance(part, Mapping | list | tuple) or not part:
            lines.append(f"{mark} {_scalar(part)}")
        elif mark == "-":
            first, *others = _yaml(part)
            lines += [f"- {first}", *(f"  {line}" for line in others)]
        else:
            indent = "  " if isinstance(part, Mapping) else ""
            lines += [mark, *(indent + line for line in _yaml(part))]
    return lines


def _scalar(value: Json) -> str:
    """Text in double quotes, as in JSON; numbers with a point before an exponent, without which YAML reads text."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(r"^(-?\d+)e", r"\1.0e", text) if isinstance(value, float) else text


def _no_row(line: str) -> str:
    """A comment that no reader takes for a row of the run: if it has numbers where a row has rank and score, the blanks
    between quotes are written as escapes, which YAML reads as blanks again.
    """
    fields = line.split()
    if len(fields) >= 6 and all(re.match(r"[-+.]?\d", field) for field in fields[3:5]):
        return re.sub(r'"(?:[^"\\]|\\.)*"', lambda quoted: quoted[0].replace(" ", "\\u0020"), line)
    return line


def _read_yaml(text: str, source: str) -> Json:
    library("yaml", f"reading the metadata in the comments of {source}")
    import yaml

    try:
        value: Json = yaml.safe_load(text)
        return value
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that there is not
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise DataError(f"has metadata that are not YAML: {reason}", source=source) from None
