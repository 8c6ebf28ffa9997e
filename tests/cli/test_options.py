"""Every option of every command does something: each has a pair of command lines whose outcomes differ.

A command that takes an option and forgets it passes every other test: so no option may be without an entry here.

What is refused, and in which words, is kept in `refused.txt`, and what every option takes and means when left out in
`interface.txt`; `make record` writes both anew.
"""

from __future__ import annotations

import contextlib
import json
import random
import re
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from commands import command_line
from cranfield.cli import COMMANDS, cli
from cranfield.online import read_trial
from places import EXAMPLES

KEPT = Path(__file__).with_name("refused.txt")
INTERFACE = Path(__file__).with_name("interface.txt")
OUT = Path("out")  # what commands write goes here, and is part of the outcome


class Entry(NamedTuple):
    """An option, and a command line with and without it, or with one and with another value."""

    option: str
    line: str
    given: str
    instead: str = ""
    expected: str = ""  # a pattern that the outcome with the option has, and the other has not
    same: bool = False  # the option must not change the outcome
    exit: int = 0


def coming(line: str, *, without: Sequence[str] = ()) -> list[Entry]:
    """Options about simulated users who come on days, in sessions."""
    own = {
        "--users": "--users 50",
        "--days": "--days 3",
        "--activity": "--activity zipf",
        "--sessions": "--sessions 2",
        "--queries": "--queries 3",
        "--popularity": "--popularity 2",
        "--bots": "--bots 0.5",
    }
    return [Entry(option, line, given) for option, given in own.items() if option not in without]


def behaving(line: str) -> list[Entry]:
    """Options about how simulated users click."""
    own = {
        "--behaviour": "--behaviour informational",
        "--rel": "--rel 2",
        "--depth": "--depth 3",
        "--patience": "--patience 1",
        "--satisfied": "--satisfied 1",
        "--taste": "--taste 2",
        "--leaning": "--leaning 2",
        "--seed": "--seed 1",
    }
    return [Entry(option, line, given) for option, given in own.items()]


def shared(line: str, *, without: Sequence[str] = ()) -> list[Entry]:
    """The options that many commands share, for a command line on qrels.txt and the given runs."""
    own = {
        "--ties": "--ties file",
        "--topics": "--topics common",
        "--topic-set": "--topic-set some.topics",
        "--empty-topics": "--empty-topics drop",
        "--depth": "--depth 3",
        "--judged-only": "--judged-only",
    }
    entries = [Entry(option, line, given) for option, given in own.items()]
    chances = line.replace("qrels.txt", "chances.txt")
    entries.append(Entry("--grades", chances, "--grades probabilities"))
    entries.append(Entry("--threads", line, "--threads 1", "--threads 2", same=True))
    entries += [*wrong_format(line), columns(line), labels(line)]
    return [entry for entry in entries if entry.option not in without]


def wrong_format(line: str) -> list[Entry]:
    """Where content tells the format, another one is an error."""
    return [Entry("--format", line, "--format parquet", expected="damaged Parquet file", exit=3)]


def columns(line: str) -> Entry:
    """Tables whose column of documents has a name that does not tell."""
    for name in ("qrels.txt", "a.run", "b.run", "full.txt"):
        line = line.replace(name, f"named-{name}.csv")
    return Entry("--columns", line, "--columns document=mydoc")


LABELS = "--labels A=3,B=2,C=1,D=0"


def labels(line: str) -> Entry:
    """Judgements whose grades are letters: without a table they are refused."""
    return Entry("--labels", line.replace("qrels.txt", "letters.txt"), LABELS)


def texts(line: str, written: str) -> list[Entry]:
    """The texts of what is shown; `written` is a title that is told with them alone."""
    numbered = line + " --documents pond-documents.jsonl --questions"
    return [
        Entry("--collection", line, "--collection pond.toml", expected=written),
        Entry("--questions", line, "--questions pond-topics.tsv", expected="can ducks swim well"),
        Entry("--ids", f"{numbered} numbered.tsv", "--ids position", expected="can ducks swim well"),
        Entry("--ids", line, "--ids position", expected="--ids is of the texts of topics", exit=2),
        Entry("--topics", line, "--topics pond-topics.tsv", expected="are given with --questions", exit=2),
    ]


EVALUATE = "evaluate qrels.txt a.run b.run -m AP -m nDCG@5"
COMPARE = "compare qrels.txt a.run b.run c.run -m AP"
DRAWN = "compare long.txt long-a.run long-b.run -m AP --resamples 999"
EXPLAIN_POND = "explain pond.qrels pond-a.run --topic 1 -m AP"
DIAGNOSE_POND = "diagnose pond.qrels pond-a.run pond-b.run -m AP --topic 1"
REPORT_POND = "report pond.qrels pond-a.run pond-b.run -m AP -o out/r.html"
REPORT = "report qrels.txt a.run b.run -m AP -o out/r.tex"
GATE = "gate long.txt long-b.run long-c.run"  # a little better, not surely
WORSE = "gate long.txt long-a.run long-b.run"
ENGINE = "http://localhost:9200/pond"
PROBE = f"probe {ENGINE} --topics pond-topics.tsv --rate 5000 --warm-up 0 --repeats 1 -o out/r.run"
FOUND = PROBE.replace("/pond ", "/find?q={query} --engine json ")
GRID = "search pond.toml -o out/r.run --grid k1=0.2,3 b=0.1,0.9"
SEARCH = "search pond.toml -o out/r.run"
SIMULATE = "online simulate qrels.txt a.run b.run --users 40 --to jsonl -o out"
REHEARSE = "online rehearse qrels.txt a.run b.run --resamples 100"
LINK = "online link qrels.txt a.run b.run --resamples 100"
ONLINE = "online check impressions.jsonl events.jsonl assignments.csv"
CLICKS = "online clicks clicks.jsonl --resamples 0"
SESSIONS = "online sessions users.qrels sessions.jsonl"
ANALYSE = "online analyse impressions.jsonl events.jsonl assignments.csv --trial experiment.toml"
PLAN = "online plan --trial experiment.toml --mean 0.4 --sd 0.5 --effect 0.1"
TRAIN = "fuse a.run b.run --method weighted-sum --train qrels.txt -o out/f.run"

JUDGE = "judge pond.pool --events out/log"
RELEASE = "judge pond.pool --release"
BOTH = f"{RELEASE} --events pond-ann.events --events pond-bob.events"
ENTRIES: dict[str, list[Entry]] = {
    "agreement": [
        columns("agreement qrels.txt full.txt --resamples 100"),
        labels("agreement qrels.txt full.txt --resamples 100"),
        Entry(
            "--run", "agreement judges.txt --resamples 100", "--run a.run --run b.run", expected="Orderings of systems"
        ),
        Entry(
            "--measure", "agreement judges.txt --run a.run --run b.run --run c.run --resamples 100", "-m P@2", "-m AP"
        ),
        Entry("--rel", "agreement judges.txt", "--rel 2", expected="grade 2 and above"),
        Entry("--per-topic", "agreement judges.txt", "--per-topic", expected="By topic"),
        Entry("--resamples", "agreement judges.txt", "--resamples 100"),
        Entry("--seed", "agreement judges.txt", "--seed 1"),
        Entry("--output-format", "agreement judges.txt", "-f json", expected=r'^{\s+"schema"'),
        *wrong_format("agreement qrels.txt full.txt"),
        *wrong_format("agreement judges.txt --run a.run --run b.run --resamples 100"),
        Entry("--threads", "agreement judges.txt", "--threads 1", "--threads 2", same=True),
    ],
    "check": [
        columns("check qrels.txt b.run")._replace(exit=1),
        labels("check qrels.txt b.run")._replace(exit=1),
        Entry("--collection", "check qrels.txt b.run", "--collection graded.toml", expected="unlabelled", exit=1),
        Entry("--judgements", "check subtopics.txt a.run", "--judgements subtopics", exit=1),
        *wrong_format("check qrels.txt a.run"),
    ],
    "compare": [
        *shared("compare qrels.txt a.run b.run -m AP"),
        Entry("--measure", "compare qrels.txt a.run b.run", "-m P@3", expected="P@3"),
        Entry("--baseline", COMPARE, "--baseline b.run"),
        Entry("--test", COMPARE, "--test wilcoxon", "--test sign", expected="p \\(wilcoxon\\)"),
        Entry("--correction", COMPARE, "--correction none", "--correction bonferroni"),
        Entry("--alpha", COMPARE, "--alpha 0.6", expected="below 0.6"),
        Entry("--power", COMPARE, "--power 0.5", expected="50%"),
        Entry("--equivalence", COMPARE, "--equivalence 0.3"),
        Entry("--seeds", "compare qrels.txt a.run -m AP", "--seeds seed-*.run"),
        Entry("--splits", COMPARE, "--splits splits.json"),
        Entry("--tuned-on", COMPARE, "--tuned-on qrels.txt", expected="tuned"),
        Entry("--tuned-on", "compare pond.qrels pond.run pond.run -m AP", "--tuned-on best.toml", expected="tuned on"),
        Entry("--collections", "compare -m AP", "--collections collections.toml"),
        Entry("--resamples", f"{DRAWN} --test randomisation", "--resamples 99"),
        Entry("--seed", f"{DRAWN} --test randomisation", "--seed 1"),
        Entry("--seed", f"{DRAWN} --test bootstrap", "--seed 1"),
        Entry("--risk", f"{COMPARE} --baseline a.run", "--risk 5", "--risk 1"),
        Entry("--simultaneous", COMPARE, "--simultaneous"),
        Entry("--show", COMPARE, "--show difference", "--show AP,interval"),
        Entry("--ledger", COMPARE, "--ledger out/ledger.jsonl"),
        Entry("--output-format", COMPARE, "-f csv", "-f tsv"),
        Entry("--figure", "compare qrels.txt a.run b.run -m AP", "--figure latency", expected="latency"),
        Entry("--judgements", "compare judges.txt a.run b.run -m AP", "--judgements judges"),
        Entry("--judges", "compare judges.txt a.run b.run -m AP --judgements judges", "--judges majority"),
        Entry("--known", "compare qrels.txt a.run b.run -m Novelty", "--known known.txt"),
        Entry("--lengths", "compare qrels.txt a.run b.run -m TBG", "--lengths lengths.txt"),
    ],
    "convert": [
        columns("convert a.run -o - --to csv --kind run"),
        labels("convert qrels.txt -o - --to csv --kind qrels"),
        Entry("--output", "convert a.run", "-o out/a.csv", "-o out/a.jsonl"),
        Entry("--kind", "convert pond.toml -o out/x --to jsonl", "--kind qrels", "--kind topics"),
        Entry("--from", "convert a.msmarco -o out/a.csv --kind run", "--from msmarco"),
        Entry("--to", "convert a.run -o out/a.txt", "--to msmarco --lossy", "--to csv"),
        Entry("--lossy", "convert a.run -o - --to msmarco", "--lossy", expected="^t01"),
        Entry("--ids", "convert topics.tsv --kind topics -o - --to tsv", "--ids number", "--ids position"),
    ],
    "correlate": [
        columns("correlate a.run b.run"),
        labels("correlate --qrels qrels.txt a.run b.run c.run --resamples 20"),
        labels("correlate --qrels qrels.txt -m AP a.run --reproduced b.run --resamples 20"),
        Entry("--qrels", "correlate a.run b.run", "--qrels qrels.txt"),
        Entry(
            "--measure", "correlate --qrels qrels.txt a.run b.run c.run --resamples 20", "-m P@2 -m AP", "-m P@3 -m AP"
        ),
        Entry(
            "--topic-set",
            "correlate --qrels qrels.txt -m AP a.run b.run c.run --resamples 20",
            "--topic-set some.topics",
        ),
        Entry("--halves", "correlate --qrels qrels.txt -m AP a.run b.run c.run", "--halves 7", "--halves 30"),
        Entry("--reproduced", "correlate --qrels qrels.txt -m AP a.run", "--reproduced b.run", "--reproduced c.run"),
        Entry("--coefficient", "correlate a.run b.run", "-c kendall_c"),
        Entry("--list", "correlate a.run b.run", "--list", expected="Ties: "),
        Entry("--persistence", "correlate a.run b.run", "-p 0.5"),
        Entry("--ties", "correlate a.run b.run", "--ties a", "--ties w"),
        Entry("--depth", "correlate a.run b.run", "--depth 5"),
        Entry("--depth", "correlate --qrels qrels.txt -m AP a.run --reproduced b.run", "--depth 5"),
        Entry("--overlap-depth", "correlate a.run b.run", "--overlap-depth 3", expected="overlap@3"),
        Entry("--resamples", "correlate --qrels qrels.txt a.run b.run c.run", "--resamples 20"),
        Entry("--seed", "correlate --qrels qrels.txt a.run b.run c.run --resamples 20", "--seed 3"),
        Entry("--seed", "correlate --qrels qrels.txt -m AP a.run b.run c.run --halves 7", "--seed 3"),
        Entry("--seed", "correlate --qrels qrels.txt -m AP a.run --reproduced b.run --resamples 20", "--seed 3"),
        Entry("--output-format", "correlate a.run b.run", "-f csv", "-f json"),
        Entry("--per-topic", "correlate a.run b.run", "--per-topic"),
        Entry("--format", "correlate a.msmarco b.msmarco", "--format msmarco"),
    ],
    "describe": [
        columns("describe qrels.txt --kind qrels"),
        labels("describe qrels.txt --kind qrels"),
        Entry("--kind", "describe pond.toml", "--kind qrels"),
        Entry("--from", "describe qrels.txt --kind qrels", "--from parquet", exit=3),
        Entry("--judgements", "describe subtopics.txt", "--judgements subtopics"),
        Entry("--run-format", "describe qrels.txt a.msmarco", "--run-format msmarco"),
        Entry("--ids", "describe numbered.toml", "--ids position"),
        Entry("--output-format", "describe qrels.txt", "-f markdown"),
    ],
    "diagnose": [
        *shared("diagnose qrels.txt a.run b.run -m AP --every-topic"),
        *texts(DIAGNOSE_POND, "Why feathers stay dry"),
        Entry("--documents", DIAGNOSE_POND, "--documents pond-documents.jsonl", expected="Why feathers stay dry"),
        Entry("--measure", "diagnose qrels.txt a.run b.run", "-m AP"),
        Entry("--slices", "diagnose qrels.txt a.run b.run", "--slices slices.csv", expected="short"),
        Entry("--topic", "diagnose qrels.txt a.run b.run", "--topic t02", "--topic t03"),
        Entry("--shown", "diagnose qrels.txt a.run b.run --topic t02", "--shown 4"),
        Entry("--every-topic", "diagnose long.txt long-a.run long-b.run", "--every-topic"),
        Entry("--output-format", "diagnose qrels.txt a.run b.run", "-f html"),
        Entry("--judgements", "diagnose judges.txt a.run b.run -m AP", "--judgements judges"),
        Entry("--judges", "diagnose judges.txt a.run b.run -m AP --judgements judges", "--judges majority"),
        Entry("--known", "diagnose qrels.txt a.run b.run -m Novelty", "--known known.txt"),
        Entry("--lengths", "diagnose qrels.txt a.run b.run -m TBG", "--lengths lengths.txt"),
    ],
    "evaluate": [
        *shared(EVALUATE),
        Entry("--measure", "evaluate qrels.txt a.run", "-m Bpref", expected="Bpref"),
        Entry("--per-topic", EVALUATE, "-q", expected="t03"),
        Entry("--output-format", EVALUATE, "-f latex"),
        Entry("--samples", "evaluate qrels.txt a.run -m ERR --ties expected", "--samples 20", "--samples 50"),
        Entry("--seed", "evaluate qrels.txt a.run -m ERR --ties expected --samples 20", "--seed 1"),
        Entry("--bounds", EVALUATE, "--bounds"),
        Entry("--figure", EVALUATE, "--figure latency", "--figure p99"),
        Entry("--judgements", "evaluate judges.txt a.run b.run -m AP", "--judgements judges"),
        Entry("--judges", "evaluate judges.txt a.run -m AP --judgements judges", "--judges mean", "--judges majority"),
        Entry("--known", "evaluate qrels.txt a.run -m Novelty", "--known known.txt"),
        Entry("--lengths", "evaluate qrels.txt a.run -m TBG", "--lengths lengths.txt"),
        Entry("--digest", "evaluate qrels.txt a.run -f json", "--digest sha256", expected="sha256:"),
        # What it does where there is a cluster is tested in tests/spark.
        Entry("--engine", "evaluate qrels.txt -", "--engine local[1]", expected="a cluster reads files", exit=2),
        Entry("--sort", EVALUATE, "--sort AP", expected="^rank  tier  run"),
        Entry("--before", f"{EVALUATE} --sort AP", "--before public.json", expected="rank before"),
    ],
    "explain": [
        *shared(
            "explain qrels.txt a.run b.run --topic t02 -m AP",
            without=("--topics", "--topic-set", "--empty-topics", "--grades"),
        ),
        Entry("--topic-set", "explain qrels.txt a.run --topic t09 -m AP", "--topic-set some.topics", exit=2),
        Entry("--topics", "explain qrels.txt a.run --topic t12 -m AP", "--topics run", expected="left out of the mean"),
        Entry(
            "--empty-topics", "explain qrels.txt a.run --topic t11 -m AP", "--empty-topics drop", expected="left out"
        ),
        Entry("--grades", "explain chances.txt a.run --topic t02 -m AP", "--grades probabilities", exit=2),
        Entry("--topic", "explain qrels.txt a.run -m AP", "--topic t02", "--topic t03"),
        Entry("--topic", "explain qrels.txt a.run -m AP", "--topic t02", expected="on topic t02"),
        Entry("--correlation", "explain qrels.txt a.run b.run --topic t02", "--correlation", expected="spearman = "),
        *texts(EXPLAIN_POND, "Why feathers stay dry"),
        Entry("--documents", EXPLAIN_POND, "--documents pond-documents.jsonl", expected="Why feathers stay dry"),
        Entry("--collection", "explain pond.qrels pond-a.run -m AP", "--collection pond.toml", exit=2),
        Entry("--measure", "explain qrels.txt a.run --topic t02", "-m P@4"),
        Entry("--shown", "explain qrels.txt a.run --topic t02 -m AP", "--shown 2"),
        Entry("--output-format", "explain qrels.txt a.run --topic t02 -m AP", "-f json"),
        Entry("--judgements", "explain judges.txt a.run --topic t02 -m AP", "--judgements judges"),
        Entry("--known", "explain qrels.txt a.run --topic t02 -m Novelty", "--known known.txt"),
        Entry("--lengths", "explain qrels.txt a.run --topic t02 -m TBG", "--lengths lengths.txt"),
        Entry("--judges", "explain judges.txt a.run --topic t02 -m AP --judgements judges", "--judges mean", exit=2),
    ],
    "fuse": [
        columns("fuse a.run b.run"),
        labels(TRAIN),
        Entry("--method", "fuse a.run b.run", "--method combsum"),
        Entry("--norm", "fuse a.run b.run --method combsum", "--norm z"),
        Entry("--parameter", "fuse a.run b.run", "-p k=1"),
        Entry("--depth", "fuse a.run b.run", "--depth 4"),
        Entry("--name", "fuse a.run b.run", "--name mixed", expected=" mixed$"),
        Entry("--output", "fuse a.run b.run", "-o out/f.run"),
        Entry("--train", "fuse a.run b.run --method weighted-sum -o out/f.run", "--train qrels.txt"),
        Entry("--measure", TRAIN, "-m P@2"),
        Entry("--splits", TRAIN, "--splits splits.json"),
        Entry("--folds", TRAIN, "--folds 3"),
        Entry("--seed", TRAIN, "--seed 4"),
        Entry("--same-topics", TRAIN, "--same-topics"),
        Entry("--learnt", TRAIN, "--learnt out/learnt.json"),
        Entry("--save-best", TRAIN, "--save-best out/best.toml", expected="best on all, saved"),
        Entry("--parameters", "fuse a.run b.run -o out/f.run", "--parameters weights.toml"),
        Entry("--format", "fuse a.msmarco b.msmarco", "--format msmarco"),
        Entry("--threads", "fuse a.run b.run", "--threads 1", "--threads 2", same=True),
    ],
    # The topics of other commands are too few for gate to tell.
    "gate": [
        *shared(
            "gate qrels.txt b.run c.run -m AP",
            without=("--topics", "--ties", "--empty-topics", "--depth", "--judged-only", "--grades"),
        ),
        Entry("--topics", "gate qrels.txt c.run a.run -m AP --no-significant --tolerance 9", "--topics common"),
        Entry("--ties", "gate qrels.txt b.run c.run -m AP", "--ties file"),
        Entry("--empty-topics", "gate qrels.txt b.run c.run -m AP", "--empty-topics drop"),
        Entry("--depth", "gate qrels.txt b.run c.run -m AP", "--depth 3"),
        Entry("--judged-only", "gate qrels.txt b.run c.run -m AP", "--judged-only"),
        Entry("--grades", "gate chances.txt b.run c.run -m AP", "--grades probabilities"),
        Entry("--measure", GATE, "-m P@3", expected="P@3"),
        Entry("--tolerance", f"{GATE} -m AP --no-significant", "--tolerance 0", exit=1),
        Entry("--significant", f"{GATE} -m AP --tolerance 9", "--no-significant", "--significant"),
        Entry("--minimum", f"{GATE} -m AP --no-significant", "--minimum 0.99", exit=1),
        Entry("--maximum", f"{GATE} -m AP --no-significant", "--maximum 0.01", exit=1),
        Entry("--topic", f"{GATE} -m AP", "--topic t002=0.9", "--topic t003=0.9"),
        Entry("--alpha", f"{WORSE} -m AP", "--alpha 0.000001", "--alpha 0.9"),
        Entry("--config", GATE, "--config gate.toml"),
        Entry("--test", f"{GATE} -m AP", "--test t", "--test sign"),
        Entry("--summary", GATE, "--summary out/summary.md"),
        Entry("--output-format", GATE, "-f markdown"),
        Entry("--require", f"{GATE} -m AP", "--require better", exit=1),
        Entry("--margin", f"{GATE} -m AP --require non-inferior", "--margin 0.9", "--margin 0.8"),
        Entry("--cannot-tell", "gate few.txt few-a.run few-b.run -m AP", "--cannot-tell pass", "--cannot-tell fail"),
        Entry("--resamples", f"{GATE} -m AP", "--resamples 99", "--resamples 999"),
        Entry("--seed", f"{GATE} -m AP --resamples 99", "--seed 1"),
        Entry("--ledger", GATE, "--ledger out/ledger.jsonl"),
        Entry("--judgements", "gate judges.txt b.run c.run -m AP", "--judgements judges"),
        Entry("--judges", "gate judges.txt b.run c.run -m AP --judgements judges", "--judges majority"),
        Entry("--known", "gate qrels.txt b.run c.run -m Novelty", "--known known.txt"),
        Entry("--lengths", "gate qrels.txt b.run c.run -m TBG", "--lengths lengths.txt"),
    ],
    "online clicks": [
        Entry("--model", CLICKS, "--model PBM", expected="position-based model"),
        Entry("--model", "online clicks", "--model list", expected="Known as|dynamic Bayesian network"),
        Entry(
            "--from",
            "online clicks yandex.tsv --resamples 0 --held-out 0",
            "--from yandex",
            expected="3 pages of 2 users",
        ),
        Entry("--output", CLICKS, "-o out/c.qrels"),
        Entry("--details", CLICKS, "--details out/c.csv", "--details out/c.tsv", expected="query,document"),
        Entry("--grades", f"{CLICKS} -o out/c.qrels", "--grades 0.1,0.3"),
        Entry("--topics", f"{CLICKS} -o out/c.qrels", "--topics users.tsv", expected="c301 0 "),
        Entry("--least-examined", f"{CLICKS} -o out/c.qrels", "--least-examined 9", expected="less than 9 times"),
        Entry("--prior", CLICKS, "--prior 0,5", expected="0 times yes and 5 times no"),
        Entry("--held-out", CLICKS, "--held-out 0.5", expected="120 pages of users held out"),
        Entry("--resamples", f"{CLICKS} --model PBM", "--resamples 5"),
        Entry("--run", CLICKS, "--run users.run --draws 5", expected="nDCG@10 under what clicks say"),
        Entry("--measure", f"{CLICKS} --run users.run --draws 5", "-m AP", expected="AP under what clicks say"),
        Entry("--measure", CLICKS, "-m AP", expected="is for runs", exit=2),
        Entry("--draws", f"{CLICKS} --run users.run", "--draws 5", "--draws 6", expected="5 draws"),
        Entry("--seed", CLICKS, "--seed 3"),
        Entry("--output-format", CLICKS, "-f csv", expected="rank,pages"),
    ],
    "online sessions": [
        Entry("--measure", SESSIONS, "-m sDCG_jig", expected="sDCG_jig"),
        Entry("--measure", "online sessions", "-m list", expected="Session rank-biased precision"),
        Entry("--by", SESSIONS, "--by session", expected="Means over sessions"),
        Entry("--baseline", SESSIONS, "--baseline dense", "--baseline bm25"),
        Entry("--test", SESSIONS, "--test mann-whitney", expected="mann-whitney"),
        Entry("--correction", SESSIONS, "--correction none"),
        Entry("--alpha", SESSIONS, "--alpha 0.5", expected="below 0.5"),
        Entry("--from", "online sessions searched.qrels yandex.tsv", "--from yandex", expected="Means over users"),
        Entry("--gate", "online sessions users.qrels shared.jsonl", "--gate", expected="The candidate "),
        Entry(
            "--margin", "online sessions users.qrels shared.jsonl --gate", "--margin 99%", expected="by less than 99%"
        ),
        Entry("--curve", SESSIONS, "--curve seconds", expected="Gain over seconds"),
        Entry("--output-format", SESSIONS, "-f csv", expected="system,user,measure,score"),
    ],
    "measures": [Entry("--markdown", "measures", "--markdown", expected="^# ")],
    "online analyse": [
        Entry("--trial", ANALYSE.partition(" --trial")[0], "--trial experiment.toml", "--trial planned.toml"),
        Entry(
            "--from-moments",
            "online analyse --trial moments.toml",
            "--from-moments moments.json",
            "--from-moments off.json",
        ),
        Entry("--moments", ANALYSE, "--moments out/m.json", expected="cranfield.online-moments/1"),
        Entry("--ledger", ANALYSE, "--ledger out/looks", expected="cranfield.online-ledger/1"),
        Entry("--expect-digest", ANALYSE, "--expect-digest abc", expected="not abc", exit=2),
        Entry(
            "--despite-mismatch",
            "online analyse --trial moments.toml --from-moments off.json",
            "--despite-mismatch",
            expected="Primary metric",
            exit=1,
        ),
        Entry("--replay", ANALYSE, "--replay 20", expected="False alarms, of units dealt anew"),
        Entry("--seed", f"{ANALYSE} --replay 20", "--seed 1"),
        Entry("--output", ANALYSE, "-o out/r.html", expected="<title>Trial dense-2026</title>"),
        Entry("--output-format", ANALYSE, "-f csv", "-f tsv"),
    ],
    "online plan": [
        Entry(
            "--trial", "online plan --mean 0.4 --sd 0.5 --effect 0.1", "--trial experiment.toml", "--trial arms.toml"
        ),
        Entry("--effect", PLAN.partition(" --effect")[0], "--effect 0.3", "--effect 0.2"),
        Entry("--power", PLAN, "--power 0.9", expected="with a chance of 90%"),
        Entry("--share", "online plan . --trial experiment.toml --effect 0.4", "--share 0.5"),
        Entry("--mean", PLAN.replace(" --mean 0.4", ""), "--mean 0.5", "--mean 0.4"),
        Entry("--sd", PLAN.replace(" --sd 0.5", ""), "--sd 0.6", "--sd 0.5"),
        Entry("--rho", PLAN, "--rho 0.5", expected="25.0% of the variance is explained"),
        Entry("--output-format", "online plan . --trial experiment.toml --effect 0.4", "-f csv", "-f tsv"),
    ],
    "online trials": [
        Entry("--ledger", "online trials planned.toml", "--ledger looks.ledger", "--ledger other.ledger"),
        Entry("--output-format", "online trials planned.toml", "-f csv", "-f tsv"),
    ],
    "online check": [
        Entry("--trial", ONLINE, "--trial experiment.toml", expected="digest"),
        Entry(
            "--expect-digest", f"{ONLINE} --trial experiment.toml", "--expect-digest abc", expected="not abc", exit=2
        ),
        Entry("--output-format", ONLINE, "-f csv", "-f tsv"),
    ],
    "online import": [
        Entry("--to", "online import yandex yandex.tsv -o out", "--to jsonl", expected="^out/events.jsonl: 2 rows"),
        Entry("--output", "online import yandex yandex.tsv", "-o out/a", "-o out/b", expected="^out/a/"),
    ],
    "online audit": [
        Entry("--length", "online audit team-draft --overlapping 0", "--length 2", "--length 3"),
        Entry("--overlapping", "online audit team-draft --length 3", "--overlapping 1"),
        Entry("--seed", "online audit own_chance:Drawn --length 2 --overlapping 0", "--seed 1"),
        Entry(
            "--require",
            "online audit team-draft --length 3",
            "--require better-wins",
            expected="note: team-draft: better-wins is required, and is not shown to hold",
            exit=1,
        ),
        Entry("--output-format", "online audit team-draft --length 2", "-f csv", "-f tsv"),
    ],
    "online interleave": [
        Entry("--method", "online interleave a.run b.run", "--method pairwise", expected='"teams": \\[\\]'),
        Entry("--rankings", "online interleave", "--rankings asked.jsonl", "--rankings asked-b.jsonl"),
        Entry("--users", "online interleave a.run b.run", "--users users.txt", expected='"user_id": "ann"'),
        Entry("--length", "online interleave a.run b.run", "--length 2"),
        Entry("--names", "online interleave a.run b.run", "--names old,new", expected='"old", "new"'),
        Entry("--seed", "online interleave a.run b.run", "--seed 1"),
        Entry("--output", "online interleave a.run b.run", "-o out/shown.jsonl", expected="lists written to out/"),
        Entry("--threads", "online interleave a.run b.run", "--threads 1", "--threads 2", same=True),
        *wrong_format("online interleave a.run b.run"),
        columns("online interleave a.run b.run"),
    ],
    "online preferences": [
        Entry("--action", "online preferences shown.jsonl clicked.jsonl", "--action buy", expected="no event", exit=3),
        Entry("--method", "online preferences shown.jsonl clicked.jsonl", "--method balanced", expected="made", exit=3),
        Entry("--alpha", "online preferences shown.jsonl clicked.jsonl", "--alpha 0.1", expected="90%"),
        Entry("--resamples", "online preferences shown.jsonl clicked.jsonl", "--resamples 100"),
        Entry("--seed", "online preferences shown.jsonl clicked.jsonl", "--seed 1"),
        Entry("--output-format", "online preferences shown.jsonl clicked.jsonl", "-f csv", "-f tsv"),
    ],
    "online simulate": [
        Entry("--design", SIMULATE, "--design interleaving", expected='"teams": '),
        Entry("--method", f"{SIMULATE} --design interleaving", "--method balanced", expected='"method": "balanced"'),
        Entry("--output", "online simulate qrels.txt a.run b.run --to jsonl", "-o out/a", "-o out/b"),
        Entry("--to", "online simulate qrels.txt a.run b.run -o out", "--to jsonl", expected="events.jsonl"),
        *coming(SIMULATE),
        *behaving(SIMULATE),
        *wrong_format(SIMULATE),
        columns(SIMULATE),
        Entry("--threads", SIMULATE, "--threads 1", "--threads 2", same=True),
    ],
    "online rehearse": [
        Entry("--method", REHEARSE, "--method balanced", expected="balanced"),
        Entry("--power", REHEARSE, "--power 0.9", expected="power 0.9"),
        Entry("--alpha", REHEARSE, "--alpha 0.1", expected="one test at 0.1"),
        Entry("--resamples", "online rehearse qrels.txt a.run b.run", "--resamples 100"),
        Entry("--output-format", REHEARSE, "-f csv", "-f tsv"),
        *coming(REHEARSE, without=("--days", "--bots")),
        Entry("--days", f"{REHEARSE} --sessions 10", "--days 1"),
        Entry("--bots", REHEARSE, "--bots 0.5"),
        *behaving(REHEARSE),
        *wrong_format(REHEARSE),
        columns(REHEARSE),
        Entry("--threads", REHEARSE, "--threads 1", "--threads 2", same=True),
    ],
    "online link": [
        Entry("--measure", LINK, "-m AP", expected="A difference in AP|whether AP"),
        Entry("--method", LINK, "--method balanced", expected="Delta of balanced"),
        Entry("--impressions", LINK, "--impressions 20", expected="^20 navigational"),
        Entry("--resamples", "online link qrels.txt a.run b.run", "--resamples 100"),
        Entry("--output-format", LINK, "-f csv", "-f tsv"),
        *behaving(LINK),
        *wrong_format(LINK),
        columns(LINK),
        Entry("--threads", LINK, "--threads 1", "--threads 2", same=True),
    ],
    "online prove": [
        Entry("--seed", "online prove h --short", "--seed 1", expected="seed 1"),
        Entry("--output-format", "online prove i --short", "-f csv", "-f tsv"),
    ],
    "plan": [
        columns("plan qrels.txt a.run b.run"),
        labels("plan qrels.txt a.run b.run"),
        Entry("--measure", "plan qrels.txt a.run b.run", "-m P@3", expected="P@3"),
        Entry("--difference", "plan --sd 0.1", "--difference 0.05", "--difference 0.02"),
        Entry("--sd", "plan --difference 0.05", "--sd 0.2", "--sd 0.1"),
        Entry("--effect", "plan", "--effect 0.3", "--effect 0.5"),
        Entry("--topics", "plan --effect 0.3", "--topics 40"),
        Entry("--topics", "plan qrels.txt a.run b.run", "--topics 40"),
        Entry("--power", "plan --effect 0.3", "--power 0.95"),
        Entry("--power", "plan qrels.txt a.run b.run", "--power 0.95"),
        Entry("--alpha", "plan --effect 0.3", "--alpha 0.01"),
        Entry("--alpha", "plan qrels.txt a.run b.run", "--alpha 0.01"),
        Entry("--comparisons", "plan --effect 0.3", "--comparisons 10"),
        Entry("--comparisons", "plan qrels.txt a.run b.run", "--comparisons 10"),
        Entry("--design", "plan --effect 0.3", "--design independent"),
        Entry("--target", "plan qrels.txt a.run b.run", "--target 0.5"),
        Entry("--output-format", "plan --effect 0.3", "-f markdown"),
        *wrong_format("plan qrels.txt a.run b.run"),
        Entry("--threads", "plan qrels.txt a.run b.run", "--threads 1", "--threads 2", same=True),
    ],
    "plot": [
        *shared("plot heatmap qrels.txt a.run b.run -m AP -o out/p.json"),
        Entry("--output", "plot heatmap qrels.txt a.run b.run -m AP", "-o out/p.json"),
        Entry("--measure", "plot heatmap qrels.txt a.run b.run -o out/p.json", "-m P@3"),
        Entry("--topic", "plot interpolated qrels.txt a.run b.run -o out/p.json", "--topic t02"),
        Entry("--baseline", "plot forest qrels.txt a.run b.run c.run -m AP -o out/p.json", "--baseline b"),
        Entry("--highlight", "plot cutoff qrels.txt a.run b.run -o out/p.json", "--highlight b", "--highlight a"),
        Entry("--down-to", "plot cutoff qrels.txt a.run b.run -o out/p.json", "--down-to 4"),
        Entry("--theme", "plot interpolated qrels.txt a.run -o out/p.json", "--theme paper"),
        Entry("--sort", "plot heatmap qrels.txt a.run b.run -m AP -o out/p.json", "--no-sort"),
        Entry("--costs", "plot pareto qrels.txt c.run b.run -m AP -o out/p.json", "--costs costs.csv"),
        Entry("--cost", "plot pareto qrels.txt a.run b.run -m AP -o out/p.json", "--cost p99"),
        Entry(
            "--swept", "plot sweep qrels.txt b.run c.run -m AP -o out/p.json", "--swept swept.csv", "--swept costs.csv"
        ),
        Entry("--along", "plot sweep qrels.txt b.run c.run -m AP --swept swept.csv -o out/p.json", "--along b"),
        Entry("--judgements", "plot heatmap judges.txt a.run b.run -m AP -o out/p.json", "--judgements judges"),
        Entry(
            "--judges",
            "plot heatmap judges.txt a.run b.run -m AP --judgements judges -o out/p.json",
            "--judges majority",
        ),
        Entry("--known", "plot heatmap qrels.txt a.run b.run -m Novelty -o out/p.json", "--known known.txt"),
        Entry("--lengths", "plot heatmap qrels.txt a.run b.run -m TBG -o out/p.json", "--lengths lengths.txt"),
    ],
    "judge": [
        *(entry for entry in texts(JUDGE, "Why feathers stay dry") if entry.option != "--topics"),
        Entry("--documents", JUDGE, "--documents pond-documents.jsonl", expected="Why feathers stay dry"),
        Entry("--events", f"{RELEASE} --events pond-ann.events", "--events pond-bob.events"),
        Entry("--events", f"{JUDGE} --collection pond.toml", "--events out/other", expected="left: out/other"),
        Entry("--assessor", f"{JUDGE} --collection pond.toml", "--assessor ann"),
        Entry("--scale", f"{JUDGE} --collection pond.toml", "--scale 0=no,1=yes", expected="0 no  1 yes"),
        Entry("--scale", f"{RELEASE} --events pond-ann.events", "--scale 0=no,1=yes", exit=3),
        Entry("--seed", f"{JUDGE} --collection pond.toml", "--seed 3"),
        Entry("--release", "judge pond.pool --events pond-ann.events", "--release", expected="^1 0 d01 3"),
        Entry("--policy", BOTH, "--policy highest", "--policy lowest"),
        Entry("--policy", BOTH, "--policy median"),
        Entry("--policy", BOTH, "--policy adjudicated-only", "--policy highest", expected="opinions differ"),
        Entry("--output", f"{RELEASE} --events pond-ann.events", "-o out/q.csv", expected="topic,document,grade"),
        Entry("--output", f"{JUDGE} --collection pond.toml", "-o out/q", expected="Nothing is judged yet"),
        Entry("--provenance", f"{BOTH} -o out/q", "--provenance out/p.json", expected="cranfield.release/1"),
    ],
    "pool": [
        columns("pool a.run b.run"),
        labels("pool --analyse qrels.txt a.run b.run"),
        labels("pool --simulate qrels.txt a.run b.run"),
        labels("pool a.run b.run --method move-to-front --batch 3 --judged qrels.txt"),
        Entry("--analyse", "pool a.run b.run", "--analyse qrels.txt", expected="Verdict"),
        Entry("--simulate", "pool a.run b.run", "--simulate qrels.txt", expected="Replayed"),
        Entry("--fill", "pool --strata sample.strata", "--fill full.txt"),
        Entry("--method", "pool a.run b.run --budget 3", "--method rrf"),
        Entry("--depth", "pool a.run b.run", "--depth 2"),
        Entry("--depth", "pool --analyse qrels.txt a.run b.run", "--depth 2"),
        Entry("--depth", "pool --simulate qrels.txt a.run b.run", "--depth 2"),
        Entry("--plan", "pool a.run b.run", "--plan plan.csv"),
        Entry("--budget", "pool a.run b.run", "--budget 2"),
        Entry("--budget", "pool --simulate qrels.txt a.run b.run", "--budget 2"),
        Entry("--strata", "pool a.run b.run --method stratified -o out/p.txt", "--strata 3:1,20:10%"),
        Entry("--collection", "pool --simulate pond.qrels pond-a.run", "--collection pond.toml", expected="cal "),
        Entry("--ids", "pool --method cal --collection numbered.toml", "--ids position"),
        Entry("--judged", "pool a.run b.run --method move-to-front --batch 3", "--judged qrels.txt"),
        Entry("--judged", "pool --method cal --collection pond.toml --batch 3", "--judged pond.qrels"),
        Entry("--batch", "pool a.run b.run --method move-to-front", "--batch 3"),
        Entry("--groups", "pool --analyse qrels.txt a.run b.run c.run", "--groups groups.csv"),
        Entry("--measure", "pool --analyse qrels.txt a.run b.run", "-m P@3"),
        Entry("--measure", "pool --simulate qrels.txt a.run b.run", "-m P@3"),
        Entry("--rel", "pool --analyse qrels.txt a.run b.run", "--rel 2"),
        Entry("--rel", "pool --simulate qrels.txt a.run b.run", "--rel 2"),
        Entry("--rel", "pool a.run b.run --method maxmean --judged qrels.txt --batch 3", "--rel 3"),
        Entry("--seed", "pool a.run b.run --method thompson --judged qrels.txt --batch 3", "--seed 2"),
        Entry("--seed", "pool a.run b.run --method stratified --strata 3:1,20:20% -o out/p.txt", "--seed 2"),
        Entry("--seed", "pool --simulate qrels.txt a.run b.run c.run --method thompson --budget 3", "--seed 2"),
        Entry("--output", "pool a.run b.run", "-o out/p.csv"),
        Entry("--picture", "pool --simulate qrels.txt a.run b.run", "--picture out/p.svg"),
        Entry("--output-format", "pool --analyse qrels.txt a.run b.run", "-f json"),
        Entry("--format", "pool a.msmarco b.msmarco", "--format msmarco"),
        Entry("--threads", "pool a.run b.run", "--threads 1", "--threads 2", same=True),
    ],
    "report": [
        *shared(REPORT),
        Entry("--output", "report qrels.txt a.run b.run -m AP", "-o out/r.md", "-o out/r.tex"),
        Entry("--measure", "report qrels.txt a.run b.run -o out/r.tex", "-m P@3"),
        Entry("--title", REPORT.replace("tex", "md"), "--title Ducks", expected="Ducks"),
        Entry("--collection", REPORT, "--collection graded.toml", expected="partly relevant"),
        *texts(REPORT_POND, "Why feathers stay dry"),
        Entry("--documents", REPORT_POND, "--documents pond-documents.jsonl", expected="Why feathers stay dry"),
        Entry(
            "--text-budget",
            f"{REPORT_POND} --collection pond.toml",
            "--text-budget 2K",
            "--text-budget 1M",
            expected="Left out, to keep texts within 2 KB",
        ),
        Entry("--baseline", "report qrels.txt a.run b.run c.run -m AP -o out/r.tex", "--baseline b"),
        Entry("--test", REPORT, "--test wilcoxon", "--test sign"),
        Entry("--correction", "report qrels.txt a.run b.run c.run -m AP -o out/r.tex", "--correction bonferroni"),
        Entry("--alpha", REPORT, "--alpha 0.9"),
        Entry("--figure", REPORT, "--figure latency"),
        Entry("--judgements", "report judges.txt a.run b.run -m AP -o out/r.tex", "--judgements judges"),
        Entry("--judges", "report judges.txt a.run b.run -m AP --judgements judges -o out/r.tex", "--judges majority"),
        Entry("--known", "report qrels.txt a.run b.run -m Novelty -o out/r.tex", "--known known.txt"),
        Entry("--lengths", "report qrels.txt a.run b.run -m TBG -o out/r.tex", "--lengths lengths.txt"),
    ],
    "probe": [
        Entry(
            "--topics", f"probe {ENGINE} --rate 5000 -o out/r.run", "--topics pond-topics.tsv", "--topics numbered.tsv"
        ),
        Entry("--engine", PROBE, "--engine opensearch", expected=" opensearch$"),
        Entry("--engine", PROBE.replace("/pond ", "/solr/pond "), "--engine solr", expected=" solr$"),
        Entry("--output", f"probe {ENGINE} --topics pond-topics.tsv --rate 5000", "-o out/s.run"),
        Entry("--tag", PROBE, "--tag mine", expected=" mine$"),
        Entry("--query", PROBE.replace("pond-topics", "fields"), "--query description"),
        Entry("--topic-ids", PROBE.replace("pond-topics", "numbered"), "--topic-ids position"),
        Entry("--fields", PROBE, "--fields title"),
        Entry("--body", PROBE, "--body body.json"),
        Entry("--ids", FOUND, "--ids hits[*].id", expected=" Q0 d01 "),
        Entry("--scores", f"{FOUND} --ids hits[*].id", "--scores hits[*].score"),
        Entry("--scores", PROBE, "--scores none"),
        Entry("--depth", PROBE, "--depth 1"),
        Entry("--rate", PROBE, "--rate 500", expected='"most per second": 500.0'),
        Entry("--parallel", PROBE, "--parallel 2", expected='"at once": 2'),
        Entry("--timeout", PROBE, "--timeout 5", expected='"timeout s": 5.0'),
        Entry("--retries", PROBE, "--retries 1", expected='"retries": 1'),
        Entry("--header-file", PROBE.replace("/pond ", "/pond-locked "), "--header-file headers", expected=" Q0 d01 "),
        Entry("--warm-up", PROBE, "--warm-up 2", expected='"warm-up queries": 2'),
        Entry("--repeats", PROBE, "--repeats 2", expected='"repeats": 2'),
        Entry("--allow-failures", PROBE.replace("/pond ", "/pond-partial "), "--allow-failures"),
        Entry("--strict", PROBE.replace("/pond ", "/pond-duplicates "), "--strict", same=True, exit=1),
        Entry("--expect", PROBE, "--expect pond-items.txt", expected="RR@10, mean over topics"),
        Entry("--within", f"{PROBE} --expect pond-items.txt", "--within 3", expected="in the first 3"),
        Entry("--columns", f"{PROBE} --expect named-pond.csv", "--columns document=mydoc"),
        Entry("--format", f"{PROBE} --expect pond.qrels", "--format parquet", expected="damaged Parquet file", exit=3),
        Entry("--output-format", PROBE, "-f json", expected='"schema"'),
    ],
    "search": [
        Entry("--model", SEARCH, "--model lm", "--model vsm"),
        Entry("--output", "search pond.toml", "-o out/s.run"),
        Entry("--tag", SEARCH, "--tag mine", expected=" mine$"),
        Entry("--query", "search fields.toml -o out/r.run", "--query description"),
        Entry("--fields", SEARCH, "--fields title"),
        Entry("--stemmer", SEARCH, "--stemmer none"),
        Entry("--stop-words", SEARCH, "--stop-words none"),
        Entry("--depth", SEARCH, "--depth 1"),
        Entry("--k1", SEARCH, "--k1 0.2"),
        Entry("--b", SEARCH, "--b 0"),
        Entry("--delta", f"{SEARCH} --variant bm25+", "--delta 3"),
        Entry("--variant", SEARCH, "--variant atire"),
        Entry("--weighting", f"{SEARCH} --model vsm", "--weighting nnn.nnn"),
        Entry("--slope", f"{SEARCH} --model vsm --weighting Lnu.ltc", "--slope 0.9"),
        Entry("--sublinear", f"{SEARCH} --model tfidf", "--sublinear true", "--sublinear false"),
        Entry("--mu", f"{SEARCH} --model lm", "--mu 1"),
        Entry("--lambda", f"{SEARCH} --model jm", "--lambda 0.9"),
        Entry("--grid", SEARCH, "--grid k1=0.2,3", "--grid k1=0.3,3"),
        Entry("--tune", GRID, "--tune pond.qrels", "--tune other.qrels"),
        Entry("--measure", GRID, "-m P@1"),
        Entry("--columns", f"{GRID} --tune named-pond.csv", "--columns document=mydoc"),
        Entry("--labels", f"{GRID} --tune letters-pond.txt", "--labels A=1,B=0"),
        Entry("--splits", GRID, "--splits pond-splits.json"),
        Entry("--folds", GRID, "--folds 3"),
        Entry("--seed", GRID, "--seed 3"),
        Entry("--seed", f"{SEARCH} --model random", "--seed 3"),
        Entry("--save-best", GRID, "--save-best out/best.toml", expected=r"^\[tuned\]"),
        Entry("--parameters", SEARCH, "--parameters best.toml"),
        Entry("--index", SEARCH, "--index out/index"),
        Entry("--warm-up", f"{SEARCH} -f json", "--warm-up 1"),
        Entry("--repeats", f"{SEARCH} -f json", "--repeats 2"),
        Entry("--header", SEARCH, "--header", "--no-header"),
        Entry("--ids", "search numbered.toml -o out/r.run", "--ids position"),
        Entry("--output-format", SEARCH, "-f json", expected='"schema"'),
    ],
    "split": [
        columns("split qrels.txt"),
        labels("split qrels.txt"),
        labels("split qrels.txt --stratify a.run"),
        Entry("--folds", "split qrels.txt", "--folds 3"),
        Entry("--test-share", "split qrels.txt", "--test-share 0.3", "--test-share 0.5"),
        Entry("--repeats", "split qrels.txt", "--repeats 2"),
        Entry("--repeats", "split qrels.txt --stratify a.run", "--repeats 3"),
        Entry("--seed", "split qrels.txt", "--seed 5"),
        Entry("--stratify", "split qrels.txt", "--stratify a.run", "--stratify b.run"),
        Entry("--measure", "split qrels.txt --stratify a.run", "-m P@3"),
        Entry("--output", "split qrels.txt", "-o out/splits.json", "-o out/parts"),
        Entry("--with-qrels", "split qrels.txt -o out/parts", "--with-qrels", expected="with 10 files"),
        Entry("--with-topics", "split pond.qrels -o out/parts", "--with-topics pond-topics.tsv"),
        Entry(
            "--ids",
            "split pond.qrels -o out/parts --with-topics numbered.tsv",
            "--ids position",
            "--ids number",
            exit=0,
        ),
        Entry("--judgements", "split judges.txt", "--judgements judges"),
        *wrong_format("split qrels.txt"),
        *wrong_format("split qrels.txt --stratify a.run"),
        Entry("--threads", "split qrels.txt --stratify a.run", "--threads 1", "--threads 2", same=True),
    ],
    "study compare": [
        Entry("--scale", "study compare study.csv", "--scale satisfaction", "--scale mood --items mood"),
        Entry("--scales", "study compare study.csv --scale trust", "--scales scales.toml", "--scales other.toml"),
        Entry("--items", "study compare study.csv --scale satisfaction", "--items mood"),
        Entry("--range", "study compare study.csv --scale tlx --items mood,risk", "--range 0:10", "--range 0:20"),
        Entry("--reversed", "study compare study.csv --scale both --items mood,risk --range 1:5", "--reversed risk"),
        Entry("--less-is-better", "study compare study.csv --scale satisfaction", "--less-is-better"),
        Entry("--missing", "study compare study.csv --scale both --items mood,holes --range 1:5", "--missing mean"),
        Entry("--columns", "study compare study.csv --scale satisfaction", "--columns system=other"),
        Entry("--output-format", "study compare study.csv --scale satisfaction", "-f csv", "-f tsv"),
        Entry(
            "--model",
            "study compare study.csv --scale satisfaction",
            "--model paired",
            "--model mixed",
            expected="paired t tests",
        ),
        Entry("--additive", "study compare study.csv --scale satisfaction", "--additive"),
        Entry(
            "--correction", "study compare study.csv --scale satisfaction --columns system=three", "--correction none"
        ),
        Entry("--alpha", "study compare study.csv --scale satisfaction", "--alpha 0.5", expected="is below 0.5"),
    ],
    "study correlate": [
        Entry(
            "--scale",
            "study correlate study.csv qrels.txt a.run b.run",
            "--scale satisfaction --resamples 100",
            "--scale mood --items mood --resamples 100",
        ),
        Entry(
            "--scales",
            "study correlate study.csv qrels.txt a.run b.run --scale trust --resamples 100",
            "--scales scales.toml",
            "--scales other.toml",
        ),
        Entry(
            "--items",
            "study correlate study.csv qrels.txt a.run b.run --scale satisfaction --resamples 100",
            "--items mood",
        ),
        Entry(
            "--range",
            "study correlate study.csv qrels.txt a.run b.run --scale both --items mood,risk --resamples 100",
            "--range 0:10",
            "--range 0:20",
        ),
        Entry(
            "--reversed",
            "study correlate study.csv qrels.txt a.run b.run --scale both --items mood,risk --range 1:5",
            "--reversed risk",
        ),
        Entry(
            "--less-is-better",
            "study correlate study.csv qrels.txt a.run b.run --scale satisfaction --resamples 100",
            "--less-is-better",
        ),
        Entry(
            "--missing",
            "study correlate study.csv qrels.txt a.run b.run --scale both --items mood,holes --range 1:5",
            "--missing mean",
        ),
        Entry(
            "--columns",
            "study correlate study.csv qrels.txt a.run b.run --scale satisfaction --resamples 100",
            "--columns topic=shifted",
        ),
        Entry(
            "--output-format",
            "study correlate study.csv qrels.txt a.run b.run --scale satisfaction --resamples 100",
            "-f csv",
            "-f tsv",
        ),
        Entry(
            "--measure",
            "study correlate study.csv qrels.txt a.run b.run --scale satisfaction --resamples 100",
            "-m AP",
            "-m P@3",
            expected="^AP ",
        ),
        Entry(
            "--coefficient",
            "study correlate study.csv qrels.txt a.run b.run --scale satisfaction --resamples 100",
            "-c tau_ap",
        ),
        Entry(
            "--points",
            "study correlate study.csv qrels.txt a.run b.run --scale satisfaction --resamples 100",
            "--points",
            expected="By system and topic",
        ),
        Entry("--resamples", "study correlate study.csv qrels.txt a.run b.run --scale satisfaction", "--resamples 100"),
        Entry(
            "--seed", "study correlate study.csv qrels.txt a.run b.run --scale satisfaction --resamples 100", "--seed 3"
        ),
    ],
    "study plan": [
        Entry("--systems", "study plan --participants 4", "--systems A,B", "--systems A,C"),
        Entry("--participants", "study plan --systems A,B", "--participants 4", "--participants 2"),
        Entry("--topics", "study plan --systems A,B --participants 4", "--topics topics.tsv", "--topics some.topics"),
        Entry("--design", "study plan --systems A,B,C --participants 6", "--design graeco-latin"),
        Entry("--systems-each", "study plan --systems A,B,C --participants 6", "--systems-each 2"),
        Entry("--topics-each", "study plan --systems A,B --participants 4 --topics some.topics", "--topics-each 1"),
        Entry("--sd", "study plan --systems A,B,C --participants 6", "--sd 10", expected="deviation is 10"),
        Entry("--seed", "study plan --systems A,B,C --participants 6", "--seed 1"),
        Entry("--output-format", "study plan --systems A,B --participants 4", "-f csv", "-f tsv"),
    ],
    "study score": [
        Entry("--scale", "study score study.csv", "--scale satisfaction", "--scale mood --items mood"),
        Entry("--scales", "study score study.csv --scale trust", "--scales scales.toml", "--scales other.toml"),
        Entry("--items", "study score study.csv --scale satisfaction", "--items mood"),
        Entry("--range", "study score study.csv --scale tlx --items mood,risk", "--range 0:10", "--range 0:20"),
        Entry("--reversed", "study score study.csv --scale both --items mood,risk --range 1:5", "--reversed risk"),
        Entry("--less-is-better", "study score study.csv --scale satisfaction", "--less-is-better"),
        Entry("--missing", "study score study.csv --scale both --items mood,holes --range 1:5", "--missing mean"),
        Entry("--columns", "study score study.csv --scale satisfaction", "--columns system=other"),
        Entry("--output-format", "study score study.csv --scale satisfaction", "-f csv", "-f tsv"),
        Entry("--alpha", "study score study.csv --scale satisfaction", "--alpha 0.5", expected="50% interval"),
        Entry("--per-participant", "study score study.csv --scale satisfaction", "--per-participant", expected="p3"),
    ],
    "try": [
        Entry("--measure", "try 3,2,3,0,1,2/2", "-m nDCG@5", "-m AP", expected="nDCG@5"),
        Entry("--explain", "try 3,2,3,0,1,2/2 -m AP", "--explain", expected="AP = \\("),
        Entry("--correlation", "try 1,2,3 2,1,3", "--correlation", expected="kendall = "),
        Entry("--means", "try 1,0.5", "--means", expected="GMAP = "),
        Entry("--output-format", "try 101 -m AP", "-f csv", expected="run,AP"),
        Entry("--empty-topics", "try 101;00 -m AP", "--empty-topics drop"),
        Entry("--depth", "try 101 -m AP", "--depth 2"),
        Entry("--judged-only", "try -1 -m AP", "--judged-only"),
    ],
    "trec_eval": [
        columns("trec_eval qrels.txt b.run"),
        Entry("--query_eval_wanted", "trec_eval qrels.txt b.run", "-q", expected="\tt02\t"),
        Entry("--nosummary", "trec_eval -q qrels.txt b.run", "-n"),
        Entry("--complete_rel_info_wanted", "trec_eval qrels.txt a.run", "-c"),
        Entry("--level_for_rel", "trec_eval qrels.txt b.run", "-l 2"),
        Entry("--measure", "trec_eval qrels.txt b.run", "-m P.3", expected="P_3  "),
        Entry("--Max_retrieved_per_topic", "trec_eval qrels.txt b.run", "-M 3"),
        Entry("--Judged_docs_only", "trec_eval qrels.txt b.run", "-J"),
        Entry("--Number_docs_in_coll", "trec_eval -m utility.1,-1,0,-1 qrels.txt b.run", "-N 100"),
        Entry("--Rel_info_format", "trec_eval -m prefs prefs.txt b.run", "-R prefs"),
        Entry("--Results_format", "trec_eval qrels.txt b.run", "-T trec_results", same=True),
        Entry("--Zscore", "trec_eval -q -m map qrels.txt b.run", "-Z zscores.txt"),
        Entry("--Debug_level", "trec_eval qrels.txt b.run", "-D 1", same=True),
        Entry("--version", "trec_eval qrels.txt b.run", "-v", expected="version"),
        Entry("--as", "trec_eval qrels.txt b.run", "--as 9.0"),
        Entry("--explain-differences", "trec_eval qrels.txt b.run", "--explain-differences"),
    ],
}
# What is proved elsewhere, and where.
ELSEWHERE = {
    **{
        ("serve", option): "test_serve_command.py, test_serving.py: a server that runs until it is stopped"
        for option in (
            *("--db", "--host", "--port", "--name", "--proxy", "--certificate", "--certificate-key", "--collections"),
            *("--check", "--backup", "--restore", "--reset-link"),
        )
    },
    ("online demo", "--output"): "test_online_demo.py: the demo is made in the folder that is named",
    ("online demo", "--users"): "test_online_demo.py: so many users are in the verdicts",
    ("online demo", "--seed"): "test_online_demo.py: another seed, other users",
    ("online prove", "--short"): "test_proofs.py: without it a proof takes minutes; both sizes are in its table",
    ("demo", "--output"): "test_demo.py: the demo is made in the folder that is named",
    **{
        (f"project {command}", option): "test_project_command.py: in a folder, with PostgreSQL, and on a server"
        for command, more in (
            (
                "create",
                "--name --collection --documents --topics --known --method --depth --budget --opinions --overlap "
                "--seed --owner --ids",
            ),
            ("delete", ""),
            ("list", "--output-format"),
            ("show", "--output-format"),
        )
        for option in ("--data", "--db", "--server", *more.split())
    },
    ("every", "--quiet"): "test_quiet.py: what is said beside the answer is not said, and nothing else changes",
    ("search", "--track"): "test_efficiency.py: it needs a library that is not always there",
}


REFUSED = """
agreement judges.txt -m AP
agreement judges.txt --format csv
agreement qrels.txt
agreement judges.txt --run a.run -m nope
check qrels.txt --collection qrels.txt
check qrels.txt --collection gate.toml
compare
compare qrels.txt a.run
compare qrels.txt a.run b.run --test nope
compare qrels.txt a.run b.run --correction nope
compare qrels.txt a.run b.run --baseline nope
compare qrels.txt a.run b.run --collections collections.toml
compare --collections gate.toml
compare qrels.txt a.run --seeds none-*.run
compare qrels.txt a.run b.run --splits gate.toml
compare qrels.txt a.run b.run --splits pond-splits.json
compare qrels.txt a.run b.run --test welch
compare qrels.txt a.run b.run --risk 1
compare qrels.txt a.run b.run --tuned-on empty.txt
compare qrels.txt a.run b.run --tuned-on gate.toml
compare qrels.txt a.run b.run --tuned-on plain.toml
compare --collections collections.toml --splits splits.json
compare --collections collections.toml --topic-set some.topics
convert a.run -o out/a
convert a.run -o out/a.csv --from nope
convert a.run -o out/a.csv --to nope
convert a.run -o out/a.txt --to ntcir
convert chances.txt -o out/a.txt --to ntcir
convert a.run -o -
convert a.run -o - --to msmarco
convert missing.run -o out/a.csv
convert qrels.txt -o out/x --kind documents
convert pond.toml -o out/x --labels A=1
correlate a.run
correlate a.run b.run c.run
correlate a.run b.run -m AP
correlate a.run b.run --halves 3
correlate a.run b.run --seed 3
correlate a.run b.run -p 1.5
correlate a.run b.run -c nope
correlate a.run other.qrels
correlate --qrels qrels.txt a.run b.run -m AP
correlate --qrels qrels.txt a.run b.run --ties a
correlate --qrels qrels.txt a.run b.run c.run --halves 3 --qrels full.txt
correlate --qrels qrels.txt a.run -m AP -m P@3
correlate --qrels qrels.txt a.run b.run --reproduced c.run
correlate --qrels qrels.txt --topic-set zscores.txt a.run b.run
correlate --qrels qrels.txt --topic-set some.topics --topic-set empty.txt a.run b.run
describe missing
describe pond.toml --labels A=1
describe qrels.txt --from nope
diagnose qrels.txt a.run b.run --topic nope
diagnose qrels.txt a.run b.run --slices qrels.txt
evaluate qrels.txt a.run -m nope
evaluate qrels.txt a.run -m P
evaluate qrels.txt a.run -m P@0
evaluate qrels.txt a.run -m AP(rel=x)
evaluate qrels.txt a.run -m nDCG(gain=y)@10
evaluate qrels.txt a.run -m Novelty
evaluate qrels.txt a.run -m TBG
evaluate qrels.txt a.run --digest nope -f json
evaluate letters.txt a.run
evaluate letters.txt a.run --labels A=3,B=2
evaluate letters.txt a.run --labels A=3,B
evaluate letters.txt a.run --labels A=high
evaluate letters.txt a.run --labels A=1,A=2
evaluate letters.txt a.run --labels 2=1
evaluate letters.txt a.run --labels gate.toml
evaluate qrels.txt a.run --labels A=1 --judgements sampled -m statAP
evaluate qrels.txt a.run --topic-set splits.json
evaluate qrels.txt a.run --topic-set splits.json:test
evaluate qrels.txt a.run --topic-set pond.qrels
evaluate qrels.txt a.run --topic-set empty.txt
evaluate qrels.txt a.run b.run --sort NumRet
evaluate qrels.txt a.run b.run --sort P.3,5
evaluate qrels.txt a.run b.run --before public.json
evaluate qrels.txt a.run b.run --sort AP --before splits.json
evaluate qrels.txt a.run b.run --sort Bpref --before public.json
evaluate qrels.txt a.run b.run --sort AP --depth 3 --before public.json
evaluate qrels.txt c.run --sort AP --before public.json
evaluate qrels.txt a.run --figure memory
evaluate qrels.txt pond.qrels
evaluate a.run qrels.txt
evaluate qrels.txt missing.run
evaluate qrels.txt a.run --lengths slices.csv -m TBG
evaluate qrels.txt a.run --grades probabilities
evaluate pond.qrels a.run
evaluate twice.txt a.run
evaluate twice.txt a.run --judgements judges
evaluate twice.txt a.run --judgements subtopics -m StRecall@5
evaluate twice.prels a.run --judgements sampled -m statAP
evaluate empty.txt a.run
evaluate empty.txt a.run --judgements judges
explain 3,2,0 --topic 1
explain qrels.txt a.run --topic nope
explain qrels.txt a.run --topic t02 --ties expected
explain qrels.txt a.run --topic t02 --grades probabilities
explain qrels.txt a.run --topic t02 --correlation
explain qrels.txt a.run b.run --correlation
explain qrels.txt a.run b.run --topic t02 --correlation -m AP
explain qrels.txt a.run b.run --topic nope --correlation
fuse a.run
fuse a.run b.run --method nope
fuse a.run b.run --norm nope
fuse a.run b.run --norm z
fuse a.run b.run -p k=x
fuse a.run b.run -p nope=1
fuse a.run b.run -p k=-1
fuse a.run b.run -p k=1 -p k=2
fuse a.run b.run --method weighted-sum -p weights=1,2,3
fuse a.run b.run --folds 3
fuse a.run b.run --method weighted-sum --train qrels.txt --folds 2 --same-topics
fuse a.run b.run --method weighted-sum --train qrels.txt --folds 50
fuse a.run b.run --method weighted-sum --train qrels.txt --same-topics --seed 1
fuse a.run b.run --method weighted-sum --train qrels.txt -o - --learnt -
fuse a.run b.run --save-best out/best.toml
fuse a.run b.run --method weighted-sum --train qrels.txt --parameters weights.toml
fuse a.run b.run --parameters weights.toml --method rrf
fuse a.run b.run --parameters weights.toml -p weights=1,2
fuse a.run b.run c.run --parameters weights.toml
fuse a.run b.run --parameters best.toml
fuse a.run b.run --method weighted-sum --train pond.qrels
fuse a.run b.run --method weighted-sum --train other-documents.txt
fuse a.run b.run --name two/words -o nowhere/x.run
gate qrels.txt a.run b.run --topic t02=x
gate qrels.txt a.run b.run --topic nope
gate qrels.txt a.run b.run --config gate.toml --alpha 0.1
gate qrels.txt a.run b.run --config collections.toml
measures nope
plan
online audit nope
online audit own_chance:Nothing
online audit missing:Thing
online audit 'optimised(credit=best)'
online audit team-draft --length 9
online interleave a.run
online interleave
online interleave a.run b.run --rankings asked.jsonl
online interleave --rankings asked.jsonl --users users.txt
online interleave a.run b.run --names one
online interleave a.run b.run --names one,one
online interleave a.run b.run --method nope
online interleave a.run b.run --users missing.txt
online interleave --rankings clicked.jsonl
online interleave --rankings asked-twice.jsonl
online preferences shown.jsonl missing.jsonl
online simulate qrels.txt a.run -o out
online simulate qrels.txt a.run b.run
online simulate qrels.txt a.run b.run -o out --design multileaving
online simulate qrels.txt a.run b.run -o out --design interleaving --method nope
online simulate qrels.txt a.run missing.run -o out
online simulate qrels.txt a.run b.run -o out --behaviour nobody
online simulate qrels.txt a.run b.run -o out --sessions 1000
online rehearse qrels.txt a.run b.run --power 1
online link qrels.txt a.run
online link qrels.txt a.run b.run -m nope
online prove z
online preferences clicked.jsonl clicked.jsonl
online preferences shown.jsonl a.run
plan --difference 0.1
plan --effect 0.3 --power 2
plan --effect 0.3 --alpha 0
plan --effect 0.3 -m AP
plan --effect 0.3 --target 0.5
plan qrels.txt a.run b.run --sd 1
plan qrels.txt a.run
plot nope qrels.txt a.run -o out/p.svg
plot heatmap qrels.txt a.run b.run
plot heatmap qrels.txt a.run b.run -o out/p.gif
plot heatmap qrels.txt a.run b.run -m AP -m RR -o out/p.json
plot scatter qrels.txt a.run b.run c.run -m AP -o out/p.json
plot precision-recall qrels.txt a.run -o out/p.json
plot cutoff qrels.txt a.run b.run --highlight c -o out/p.json
plot heatmap qrels.txt a.run b.run --highlight a -o out/p.json
plot pareto qrels.txt a.run b.run --cost nope -o out/p.json
plot sweep qrels.txt b.run c.run -m AP -o out/p.json
plot sweep qrels.txt b.run c.run -m AP --swept swept.csv --along mu -o out/p.json
plot sweep qrels.txt b.run c.run -m NumRet --swept swept.csv -o out/p.json
plot sweep -o out/p.json
plot effort qrels.txt b.run c.run -m AP -o out/p.json
plot pareto qrels.txt a.run b.run --costs slices.csv -o out/p.json
plot pareto qrels.txt long-a.run b.run --cost memory -o out/p.json
judge pond.pool
judge -
judge none.pool --collection pond.toml
judge pond.qrels --collection pond.toml
judge pond.pool --collection pond.toml -o -
judge pond.pool --collection pond.toml --events a --events b
judge pond.pool --collection pond.toml --provenance out/p
judge pond.pool --collection pond.toml --scale 0=no,no
judge pond.pool --collection pond.toml --scale 0=no,12=yes
judge pond.pool --collection pond.toml --scale 0=no,1:u=yes
judge pond.pool --collection pond.toml --scale best.toml
judge pond.pool --collection pond.toml --scale none.json
judge pond.pool --collection pond.toml --scale pond.json
judge pond.pool --collection pond.toml --events pond-ann.events --scale 0=no,1=yes
judge pond.pool --collection pond.toml --events pond-topics.tsv
judge pond.pool --release
judge pond.pool --release --collection pond.toml
judge pond.pool --release --assessor ann --events pond-ann.events
judge pond.pool --release --events pond-topics.tsv
judge pond.pool --release --events pond-ann.events -o pond.pool
judge pond.pool --release --events pond-ann.events -o pond-ann.events
pool
pool a.run b.run --method nope
pool a.run b.run --method rrf(k=x)
pool a.run b.run --method rrf(z=1)
pool a.run b.run --method rrf --method depth
pool a.run b.run --budget 1 --budget 2
pool a.run b.run --method stratified --strata 3:1,20:10%
pool a.run b.run --method stratified -o out/p.txt --strata 3:2
pool a.run b.run --method stratified -o out/p.txt --strata x
pool a.run b.run --method stratified -o out/p.txt --strata 20:1,3:50%
pool a.run b.run --batch 3
pool a.run b.run --groups groups.csv
pool --collection pond.toml
pool --method cal a.run
pool --method cal --collection pond.toml a.run
pool --method cal --collection pond.toml --depth 3
pool --method cal --collection nowhere
pool pond-a.run --collection pond.toml
pool a.run --ids position
pool --method cal(whole=2) --collection pond.toml
pool --analyse qrels.txt a.run b.run --collection pond.toml
pool --simulate pond.qrels pond-a.run --method cal
pool --simulate pond.qrels --method cal --collection pond.toml
pool a.run b.run --plan groups.csv
pool a.run c.run --plan plan.csv
pool --analyse qrels.txt a.run
pool --analyse qrels.txt a.run b.run --budget 3
pool --analyse qrels.txt a.run b.run --groups plan.csv
pool --analyse qrels.txt --simulate qrels.txt a.run b.run
pool --simulate qrels.txt a.run b.run --method stratified
pool --fill qrels.txt
pool --fill qrels.txt --strata sample.strata
probe
probe http://localhost:9200/pond
probe localhost:9200/pond --topics pond-topics.tsv
probe file:///etc/passwd --topics pond-topics.tsv
probe http://ada:la/ce@localhost:9200/pond --topics pond-topics.tsv
probe http://localhost:9200/pond --topics missing.tsv
probe http://localhost:9200/pond --topics pond-topics.tsv --engine elastik
probe http://localhost:9200/pond --topics pond-topics.tsv --engine json
probe http://localhost:9200/pond?q={query} --topics pond-topics.tsv
probe http://localhost:9200/find?q={query} --topics pond-topics.tsv --engine json
probe http://localhost:9200/find?q={query} --topics pond-topics.tsv --engine json --ids hits.id
probe http://localhost:9200/find?q={query} --topics pond-topics.tsv --engine json --ids results[*].id
probe http://localhost:9200/pond --topics pond-topics.tsv --query nope
probe http://localhost:9200/pond --topics pond-topics.tsv --rate 0
probe http://localhost:9200/pond --topics pond-topics.tsv --within 5
probe http://localhost:9200/pond --topics pond-topics.tsv --expect pond-items.txt --depth 5
probe http://localhost:9200/pond --topics numbered.tsv --expect pond-items.txt
probe http://localhost:9200/pond --topics pond-topics.tsv --header-file qrels.txt
probe http://localhost:9200/pond --topics pond-topics.tsv --body costs.csv
probe http://localhost:9200/solr/pond?q=x --topics pond-topics.tsv --engine solr
probe http://localhost:9200/pond-wrong --topics pond-topics.tsv -o out/r.run
probe http://localhost:9200/pond-refused --topics pond-topics.tsv -o out/r.run
probe http://localhost:9200/pond-broken --topics pond-topics.tsv -o out/r.run
probe http://localhost:9200/pond-away --topics pond-topics.tsv -o out/r.run
probe http://localhost:9200/pond-nothing --topics pond-topics.tsv --rate 5000 -o out/r.run
report qrels.txt a.run b.run -o out/r.doc
report qrels.txt a.run b.run -o out/r.tex --test nope
search missing.toml
search qrels.txt
search pond.toml more
search pond.toml --model nope
search pond.toml --folds 3
search pond.toml --k1 x
search pond.toml --k1 -1
search pond.toml --mu 3
search pond.toml --delta 1
search pond.toml --slope 0.3 --model vsm
search pond.toml --model vsm --weighting zzz.zzz
search pond.toml --fields nope
search pond.toml --query nope
search pond.toml --grid k1=1
search pond.toml --grid k1=2:1:0.5
search pond.toml --grid nope=1,2
search pond.toml --grid k1=1,2 --k1 3
search pond.toml --grid k1=1,2 -m NumRet
search no-documents.toml
search no-topics.toml
search no-qrels.toml --grid k1=1,2
search numbered.toml --grid k1=1,2
search pond.toml --grid k1=1,2 --folds 2 --splits pond-splits.json
search pond.toml --grid k1=1,2 --splits splits.json
search pond.toml --grid k1=1,2 --tune qrels.txt
search pond.toml --grid k1=1,2 --tune strangers.qrels
search pond.toml --grid k1=1,2 --tune one-known.qrels
search pond.toml --save-best out/best.toml
search pond.toml --grid k1=1,2 --parameters best.toml
search pond.toml --parameters best.toml --k1 2
search pond.toml --parameters best.toml --stemmer none
search pond.toml --parameters weights.toml
search pond.toml --parameters gate.toml
search pond.toml --parameters wrong.toml
search pond.toml --parameters no.toml
search pond.toml --grid k1=1,2 --save-best - -o -
search pond.toml --grid k1=1,2 --save-best out/best.toml --header
split qrels.txt --folds 50
online analyse
online analyse . --trial missing.toml
online analyse . --trial experiment.toml --from-moments moments.json
online analyse --trial experiment.toml --from-moments moments.json
online analyse --trial moments.toml --from-moments qrels.txt
online analyse --trial moments.toml --from-moments moments.json --replay 20
online analyse impressions.jsonl events.jsonl assignments.csv --trial experiment.toml -o out/r.pdf
online plan --trial experiment.toml --effect 0.1
online plan . --trial experiment.toml --effect 0.1 --mean 0.4 --sd 0.5
online plan --trial experiment.toml --effect 0 --mean 0.4 --sd 0.5
online plan --trial experiment.toml --effect 0.1 --mean 0 --sd 0.5
online trials missing.toml
online trials qrels.txt
online check missing
online check impressions.jsonl
online check impressions.jsonl events.jsonl qrels.txt
online check impressions.jsonl events.jsonl --expect-digest abc
online check impressions.jsonl events.jsonl --trial missing.toml
online import ubi missing.jsonl -o out
online import ubis yandex.tsv -o out
online import yandex qrels.txt -o out/x
study
study help
study plan --systems A --participants 2
study plan --systems A,,B --participants 2
study plan --systems A,B,C,D,E,F --participants 6 --design graeco-latin
study plan --systems A,B --participants 2 --topics missing.tsv
study plan --systems A,B --participants 2 --topics-each 2
online clicks
online clicks missing.jsonl
online clicks qrels.txt
online clicks clicks.jsonl --model nope
online clicks clicks.jsonl --model DBN(gamma=3)
online clicks clicks.jsonl --grades 0.5,0.2
online clicks clicks.jsonl --grades many
online clicks clicks.jsonl --prior 1
online clicks clicks.jsonl --prior -1,1
online clicks clicks.jsonl --resamples 1
online clicks clicks.jsonl --topics topics.tsv
online clicks clicks.jsonl --draws 5
online clicks clicks.jsonl -o - --details -
online sessions
online sessions users.qrels
online sessions users.qrels clicks.jsonl -m nope
online sessions qrels.txt sessions.jsonl
online sessions users.qrels sessions.jsonl -m sRBP(p=1)
online sessions users.qrels sessions.jsonl --baseline nope
online sessions users.qrels sessions.jsonl --test t
study plan --systems A,B --participants 2 --sd 0
study score study.csv
study score study.csv --scale sus
study score study.csv --scale nope
study score study.csv --scale satisfaction --range 1:3
study score study.csv --scale satisfaction --range 1-5
study score study.csv --scale satisfaction --columns who=participant
study score study.csv --scale satisfaction --columns system=nothing
study score study.csv --scale trust --scales qrels.txt
study score missing.csv --scale satisfaction
study compare study.csv --scale satisfaction --correction nope
study compare study.csv --scale satisfaction --model anova
study correlate study.csv qrels.txt a.run --scale satisfaction
study correlate study.csv qrels.txt c.run --scale satisfaction
study correlate study.csv qrels.txt a.run b.run --scale satisfaction -c nope
split qrels.txt --folds 2 --test-share 0.5
split qrels.txt --test-share 2
split qrels.txt --test-share 0.01
split qrels.txt -m AP
split qrels.txt --with-qrels
split qrels.txt --with-topics pond-topics.tsv -o out/parts
split qrels.txt --ids number
split qrels.txt -o out/x.json --stratify missing.run
trec_eval qrels.txt a.run
trec_eval -m nope qrels.txt b.run
trec_eval qrels.txt missing.run
trec_eval -m prefs qrels.txt b.run
try
try qrels.txt a.run
try 3,x,1
try 3 2 0
try /1
try 101 -m nope
try a=101 a=110
try 101 --explain -f csv
try 1,2 --means -f trec
try 1,2 --means -m AP
try 1,2 --means --depth 2
try 1,2 --means --explain
try 1,x --means
try 1,2 2,1 --correlation --means
try 1,2 2,1 --correlation -f latex
try 1,2 2,1 --correlation --judged-only
try 1,2;2,1 --correlation
try missing.csv --correlation
try 1,2 2,1 1,2 --correlation
try a,b b,c --correlation
try a,b 1,2 --correlation
"""


OWN_CHANCE = """
from cranfield.online.interleaving.drafts import TeamDraft

class Drawn(TeamDraft):
    count = 0
    def interleave(self, rankings, length, draw):
        Drawn.count += 1
        return super().interleave(rankings, length, lambda weights: (draw(weights) + Drawn.count) % len(weights))

Nothing = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_collection(tmp_path_factory.mktemp("options"))


def small_collection(home: Path) -> Path:
    """A small collection in which everything occurs: ties, topics without answer or relevant document, holes."""
    draw = random.Random(7)
    topics, documents = [f"t{number:02}" for number in range(1, 13)], [f"d{number:02}" for number in range(40)]
    qrels = {topic: {d: draw.choice([0, 0, 0, 1, 1, 2, 3]) for d in draw.sample(documents, 24)} for topic in topics}
    qrels["t11"] = dict.fromkeys(qrels["t11"], 0)

    def write(name: str, lines: list[str]) -> None:
        (home / name).write_text("\n".join(lines) + "\n")

    for name in ("shown.jsonl", "clicked.jsonl"):
        shutil.copy(EXAMPLES / name, home / name)
    asked = '{"query_id": "q", "user_id": "u", "rankings": [["a", "b"], ["b", "c"]]}'
    write("asked.jsonl", [asked])
    write("asked-b.jsonl", [asked.replace('"a"', '"x"')])
    write("asked-twice.jsonl", [asked.replace('"a"', '"b"')])
    write("users.txt", ["ann", "bob"])
    write("own_chance.py", OWN_CHANCE.strip().split("\n"))

    def rows(grades: dict[str, dict[str, Any]], middle: str = "0") -> list[str]:
        return [f"{topic} {middle} {d} {grade}" for topic, given in grades.items() for d, grade in given.items()]

    def run(name: str, judged: dict[str, dict[str, int]], skill: float, leave: str = "") -> None:
        lines, short = [], []
        for topic, grades in judged.items():
            if topic == leave:
                continue
            score = {d: round(skill * grades.get(d, 0) + draw.uniform(0, 2.5)) for d in documents}
            best = sorted(documents, key=lambda d: (-score[d], d))[:15]
            lines += [f"{topic} Q0 {d} {rank} {score[d]} {name}" for rank, d in enumerate(best, start=1)]
            short += [f"{topic}\t{d}\t{rank}" for rank, d in enumerate(best, start=1)]
        write(f"{name}.run", lines)
        write(f"{name}.msmarco", short)
        latency = {"mean": draw.uniform(1, 9), "p99": draw.uniform(10, 20)}
        known = {"resources": {"searching": {"latency ms": latency}}}
        (home / f"{name}.run.metadata.json").write_text(json.dumps(known))

    write("qrels.txt", rows(qrels))
    write("letters.txt", rows({t: {d: "DCBA"[grade] for d, grade in given.items()} for t, given in qrels.items()}))
    for name, skill, leave in (
        ("a", 0.7, "t12"),
        ("b", 0.4, ""),
        ("c", 0.9, ""),
        ("seed-1", 0.6, ""),
        ("seed-2", 0.6, ""),
    ):
        run(name, qrels, skill, leave)
    long = {f"t{n:03}": {d: draw.choice([0, 1]) for d in draw.sample(documents, 15)} for n in range(40)}
    write("long.txt", rows(long))
    run("long-a", long, 0.9)
    run("long-b", long, 0.5)
    run("long-c", long, 0.52)
    few = {topic: long[topic] for topic in list(long)[:3]}
    write("few.txt", rows(few))
    run("few-a", few, 0.9)
    run("few-b", few, 0.5)
    write("gate.toml", ["alpha = 0.05", "[measures.'P@2']", "tolerance = 0.5"])
    write("full.txt", rows({topic: dict.fromkeys(documents, 1) for topic in topics}))
    write("chances.txt", rows({topic: {d: grade / 3 for d, grade in given.items()} for topic, given in qrels.items()}))
    judges = {
        judge: {t: {d: max(0, g + draw.choice([-1, 0, 0, 1])) for d, g in given.items()} for t, given in qrels.items()}
        for judge in ("ann", "bob", "eve")
    }
    write("judges.txt", [line for judge, given in judges.items() for line in rows(given, judge)])
    write("subtopics.txt", [line for part in ("1", "2") for line in rows(qrels, part)])
    write(
        "known.txt",
        rows(
            {topic: {d: 1 for d, g in given.items() if g > 1} for topic, given in qrels.items() if any(given.values())}
        ),
    )
    write("lengths.txt", [f"{d}\t{draw.randint(50, 900)}" for d in documents])
    write("twice.txt", ["t01 ann d01 1", "t01 ann d01 0"])
    write("twice.prels", ["t01 d01 1 1 0.5", "t01 d02 0 1 0.5", "t01 d01 0 1 0.5"])
    write("empty.txt", [])
    write("some.topics", topics[:5])
    write("slices.csv", ["topic,length", *(f"{topic},{draw.choice(['short', 'long'])}" for topic in topics)])
    write("costs.csv", ["run,euros", "b,3", "c,5"])
    write("swept.csv", ["run,k1,b", "b,0.9,0.4", "c,1.2,0.75"])
    write("plan.csv", ["run,depth,priority", "a,3,1", "b,1,2"])
    write("groups.csv", ["run,group", "a,us", "b,us", "c,them"])
    write("prefs.txt", [f"{t} 0 1 {d} {g}" for t, given in qrels.items() for d, g in given.items() if g])
    write("zscores.txt", [f"{topic} map 0.5 0.1" for topic in topics])
    write("topics.tsv", ["id\ttitle", "001\tducks", "005\tgeese"])
    write("collections.toml", [
        "[one]", "qrels = 'qrels.txt'", "[one.runs]", "x = 'a.run'", "y = 'b.run'",
        "[two]", "qrels = 'qrels.txt'", "[two.runs]", "x = 'c.run'", "y = 'b.run'",
    ])  # fmt: skip
    named = ["topic,mydoc,grade", *(f"{t},{d},{g}" for t, given in qrels.items() for d, g in given.items())]
    write("named-qrels.txt.csv", named)
    write("named-full.txt.csv", ["topic,mydoc,grade", *(f"{topic},{d},1" for topic in topics for d in documents)])
    for name in ("a", "b"):
        fields = [line.split() for line in (home / f"{name}.run").read_text().splitlines()]
        write(f"named-{name}.run.csv", ["topic,mydoc,score", *(f"{f[0]},{f[2]},{f[4]}" for f in fields)])
    for path in EXAMPLES.glob("pond*"):
        shutil.copy(path, home)
    for name in ("impressions.jsonl", "events.jsonl", "assignments.csv", "experiment.toml", "yandex.tsv"):
        shutil.copy(EXAMPLES / name, home)
    experiment = (home / "experiment.toml").read_text()
    write("experiment.toml", [experiment.replace('covariates = ["ctr"]', "")])
    for name, other in (
        ("clicks.jsonl",) * 2,
        ("sessions.jsonl",) * 2,
        ("qrels.txt", "users.qrels"),
        ("bm25.run", "users.run"),
    ):
        shutil.copy(EXAMPLES / name, home / other)
    write("users.tsv", ["c301\t1", "c302\t2"])
    write("searched.qrels", ["10 0 d2 1"])
    judged_first = {line.split()[0]: line.split()[2] for line in (home / "users.qrels").read_text().splitlines()}
    write("shared.jsonl", [
        json.dumps({"session_id": topic, "topic": topic, "query_text": "q", "variant": arm, "docs": [doc, "z"][::way]})
        for topic, doc in judged_first.items() for arm, way in (("old", -1), ("new", 1))
    ])  # fmt: skip
    write("planned.toml", [experiment.replace('covariates = ["ctr"]', "").replace("maximum = 400", "maximum = 118")])
    write("arms.toml", [experiment.replace("dense = 1", "dense = 1\nother = 1")])
    write("moments.toml", ['name = "m"', 'primary = "carts"', "[arms]", "a = 1", "b = 1", "[metrics.carts]",
                           'numerator = "count(cart)"', 'denominator = "units"'])  # fmt: skip
    for name, counts in (("moments", (60, 60)), ("off", (900, 500))):
        write(f"{name}.json", [sent_moments(home / "moments.toml", counts)])
    look = {"schema": "cranfield.online-ledger/1", "when": "2026-11-10", "experiment": "dense-2026", "units": 59}
    planned = read_trial(str(home / "planned.toml"))
    write("looks.ledger", [json.dumps(look | {"digest": planned.digest})])
    write("other.ledger", [json.dumps(look | {"digest": "0" * 16})])
    pond = (home / "pond.toml").read_text()
    judged = [line.split() for line in (home / "pond.qrels").read_text().splitlines()]
    write("named-pond.csv", ["topic,mydoc,grade", *(f"{fields[0]},{fields[2]},{fields[3]}" for fields in judged)])
    write("letters-pond.txt", [f"{fields[0]} 0 {fields[2]} {'BA'[fields[3] != '0']}" for fields in judged])
    write("graded.toml", ['topic_source = "a query log"', "[grades]", '0 = "not relevant"', '1 = "partly relevant"'])
    found = {"1": ["d12", "d01"], "2": ["d02", "d06"], "3": ["d09", "d03"], "4": ["d10", "d05"]}
    for name, step in (("pond-a", 1), ("pond-b", -1)):
        rows_of_run = [(topic, d, rank) for topic, ids in found.items() for rank, d in enumerate(ids[::step], start=1)]
        write(f"{name}.run", [f"{topic} Q0 {d} {rank} {9 - rank} {name}" for topic, d, rank in rows_of_run])
    write("other.qrels", [f"{n} 0 d{10 - n:02} 1" for n in range(1, 7)])
    titles = [line.split("\t") for line in (home / "pond-topics.tsv").read_text().splitlines()[1:]]
    write("numbered.tsv", ["id\ttitle", *(f"{10 * int(id)}\t{title}" for id, title in titles)])
    write("numbered.toml", [pond.replace("pond-topics.tsv", "numbered.tsv")])
    for part in ("topics", "documents", "qrels"):
        write(f"no-{part}.toml", [line for line in pond.splitlines() if not line.startswith(part)])
    write("fields.tsv", ["id\ttitle\tdescription", *(f"{id}\t{title}\tgeese and swans" for id, title in titles)])
    write("headers", ["X-Key: open"])
    write("body.json", ['{"query": {"multi_match": {"query": {query}, "fields": ["title"]}}, "size": {depth}}'])
    write("fields.toml", [pond.replace("pond-topics.tsv", "fields.tsv")])
    write("study.csv", [
        "participant,system,other,three,topic,shifted,satisfaction,mood,risk,holes",
        *(
            f"p{p},{'ab'[(p + t) % 2]},{'ba'[(p + t) % 2 * (p > 2)]},{'xyz'[(p + t) % 3]},"
            f"t{t:02},t{(t + 3) % 12 + 1:02},"
            f"{1 + (p * t + p) % 5},{draw.randint(1, 5)},{draw.randint(1, 4)},{draw.choice(['', '2', '4'])}"
            for p in range(1, 9) for t in range(1, 11)
        ),
    ])  # fmt: skip
    write("pond.json", ["{"])
    write("scales.toml", ["[trust]", "items = ['mood', 'risk']"])
    write("other.toml", ["[trust]", "items = ['mood', 'risk']", "reversed = ['risk']"])
    write("plain.toml", ['model = "bm25"'])
    write("wrong.toml", ['model = "bm25"', "[parameters]", "b = 7"])
    write("strangers.qrels", ["1 0 x1 1", "2 0 x2 1"])
    write("one-known.qrels", ["1 0 d01 1", "2 0 x2 1", "3 0 x2 1"])
    write("other-documents.txt", ["t01 0 x1 1", "t02 0 x2 1"])
    for line in (
        "search pond.toml --grid k1=0.2,3 b=0.1,0.9 --save-best best.toml",
        "search pond.toml -o pond.run",
        "fuse a.run b.run --method weighted-sum --train qrels.txt --save-best weights.toml",
        "split qrels.txt --folds 2 --seed 9 -o splits.json",
        "split pond.qrels --folds 2 --seed 9 -o pond-splits.json",
        "pool a.run b.run --method stratified --strata 3:1,20:50% -o sample",
    ):
        with contextlib.chdir(home):
            assert command_line(*line.split()).exit == 0, line
    line = "evaluate qrels.txt a.run b.run -m AP --topic-set some.topics -f json"
    write("public.json", [command_line(*line.split(), folder=home).stdout])
    return home


@cache
def sent_moments(plan: Path, counts: tuple[int, int]) -> str:
    """Moments as a warehouse sends them: carts of units, of every second one in an arm and every third in the other."""
    trial = read_trial(str(plan))
    slices = []
    for step, (arm, count) in enumerate(zip(trial.arms, counts, strict=True), start=2):
        carts = -(-count // step)
        sums = {"names": ["carts: numerator"], "count": count, "sums": [carts], "products": [[carts]]}
        slices.append({"by": "all", "value": "", "arm": arm, **sums})
    metric = {"name": "carts", "better": "more", "per": "unit", "numerator": "carts: numerator"}
    document = {
        "schema": "cranfield.online-moments/1",
        "experiment": trial.name,
        "digest": trial.digest,
        "unit": "user_id",
    }
    sizes = {"arms": list(trial.arms), "units": sum(counts), "queries": 0, "events": 0}
    return json.dumps(document | sizes | {"metrics": [metric], "slices": slices})


def outcome(line: str, folder: Path) -> tuple[int, str]:
    """The exit code, and all that a command line prints and writes."""
    with contextlib.chdir(folder):
        shutil.rmtree(OUT, ignore_errors=True)
        OUT.mkdir()
        done = command_line(*line.split())
        assert not done.stdout.endswith("\n\n"), line
        files = {path.name: path.read_bytes().decode("latin-1") for path in sorted(OUT.rglob("*")) if path.is_file()}
    return done.exit, "\n".join([done.stdout, done.stderr, *(f"{name}\n{text}" for name, text in files.items())])


def comparable(line: str, text: str) -> str:
    """An outcome without the command line itself, which some files tell, and without the time that a search took."""
    if line.startswith("probe"):
        text = re.sub(r'"cmd": \[.*?\]', "", text, flags=re.DOTALL)
        text = re.sub(
            r'^(latency|queries a second|.*"(mean|p\d\d|max|\d+|queries per second)": ).*$',
            "",
            text,
            flags=re.MULTILINE,
        )
    if line.startswith("search"):
        kept = re.compile(r"^\D*$| Q0 |AP|measured|schema")
        text = "\n".join(each for each in text.splitlines() if kept.search(each))
    return text.replace(line, "")


def options() -> dict[str, set[str]]:
    """The options of every command, by their long names."""
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in COMMANDS}
    return {
        name: {max(option.opts, key=len) for option in command.params if isinstance(option, click.Option)}
        for name, command in found.items()
        if command is not None
    }


CASES = [
    pytest.param(entry, id=f"{command} {entry.option} {number}")
    for command in options()
    for number, entry in enumerate(ENTRIES.get(command, ()))
]


def added_to(entry: Entry, added: str) -> str:
    """The line with an option; the value that the line has for it goes, as it takes one."""
    line = re.sub(rf" {entry.option} \S+", "", entry.line) if added.startswith(entry.option) else entry.line
    return f"{line} {added}".strip()


@pytest.mark.parametrize("entry", CASES)
def test_option_changes_the_outcome(entry: Entry, folder: Path) -> None:
    lines = [added_to(entry, added) for added in (entry.given, entry.instead)]
    (code, _), _ = outcomes = [outcome(line, folder) for line in lines]
    text, other = (comparable(line, said) for line, (_, said) in zip(lines, outcomes, strict=True))
    assert code == entry.exit, text
    assert (text == other) == entry.same
    if entry.expected:
        assert re.search(entry.expected, text, re.MULTILINE), text
        assert not re.search(entry.expected, other, re.MULTILINE), other


def refusals() -> list[str]:
    return REFUSED.strip().splitlines()


def kept_refusals() -> dict[str, str]:
    parts = re.split(r"^\$ cranfield (.+)\n", KEPT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], (text.rstrip("\n") for text in parts[2::2]), strict=True))


def refused(line: str, folder: Path) -> str:
    """The exit code and all that is said; nothing is printed or written beside it."""
    code, text = outcome(line, folder)
    return f"{text.strip()}\nexit code {code}"


@pytest.mark.parametrize("line", refusals())
def test_what_is_refused_is_told_in_these_words(line: str, folder: Path) -> None:
    text = refused(line, folder)
    assert text == kept_refusals().get(line), "if this is meant: make record, and read the diff"
    assert not text.endswith("exit code 0")
    assert "Traceback" not in text


# What a result in JSON says of how it was made: the command line, where it stands, and what must stand there.
SAID: list[tuple[str, str, Any]] = [
    ("agreement judges.txt --seed 3", "seed", 3),
    ("agreement judges.txt --resamples 150", "resamples", 150),
    ("agreement judges.txt --rel 2", "rel", 2),
    ("compare qrels.txt a.run b.run --seed 3", "seed", 3),
    ("compare qrels.txt a.run b.run --resamples 150", "resamples", 150),
    ("compare qrels.txt a.run b.run --alpha 0.1", "alpha", 0.1),
    ("compare qrels.txt a.run b.run --power 0.7", "power", 0.7),
    ("compare qrels.txt a.run b.run --equivalence 0.1", "margin", 0.1),
    ("compare qrels.txt a.run b.run --correction none", "correction", "none"),
    ("compare qrels.txt a.run b.run --test sign", "tests.0.name", "sign"),
    ("compare qrels.txt a.run b.run --baseline b", "baseline", "b"),
    ("compare qrels.txt a.run b.run --ties worst", "policy.ties", "worst"),
    ("correlate a.run b.run -p 0.5", "settings.p", 0.5),
    ("correlate a.run b.run --ties w", "settings.ties", "w"),
    ("correlate a.run b.run --depth 5", "settings.depth", 5),
    ("correlate a.run b.run --overlap-depth 5", "settings.overlap_depth", 5),
    ("correlate --qrels qrels.txt a.run b.run c.run --seed 3 --resamples 9", "settings.seed", 3),
    ("correlate --qrels qrels.txt a.run b.run c.run --resamples 50", "settings.resamples", 50),
    ("correlate --qrels qrels.txt a.run b.run c.run --depth 5 --resamples 9", "settings.policy.depth", 5),
    ("correlate --qrels qrels.txt a.run b.run c.run --halves 5 --seed 3", "settings.seed", 3),
    ("correlate --qrels qrels.txt a.run b.run c.run --halves 5", "settings.resamples", 5),
    ("correlate --qrels qrels.txt a.run --reproduced b.run -p 0.5 --seed 2 --resamples 9", "settings.p", 0.5),
    ("correlate --qrels qrels.txt a.run --reproduced b.run -p 0.5 --seed 2 --resamples 9", "settings.seed", 2),
    ("evaluate qrels.txt a.run --seed 3", "policy.seed", 3),
    ("evaluate qrels.txt a.run --samples 30", "policy.samples", 30),
    ("evaluate qrels.txt a.run --judged-only", "policy.judged_only", True),
    ("evaluate qrels.txt a.run --topics run", "policy.topics", "run"),
    ("evaluate qrels.txt a.run --empty-topics drop", "policy.empty_topics", "drop"),
    ("evaluate chances.txt a.run --grades probabilities", "policy.grades", "probabilities"),
    ("explain qrels.txt a.run --topic t02 --depth 4", "policy.depth", 4),
    ("explain qrels.txt a.run --depth 4", "policy.depth", 4),
    ("try 101 --depth 2", "policy.depth", 2),
    ("try 101 --judged-only --explain", "policy.judged_only", True),
    (f"{GATE} --alpha 0.1", "alpha", 0.1),
    (f"{GATE} --test sign", "test", "sign"),
    (f"{GATE} --resamples 150", "resamples", 150),
    (f"{GATE} --seed 3 --resamples 99", "seed", 3),
    (f"{GATE} --cannot-tell fail", "cannot_tell", "fail"),
    (f"{GATE} --depth 5", "policy.depth", 5),
    ("plan qrels.txt a.run b.run --power 0.7", "power", 0.7),
    ("plan qrels.txt a.run b.run --alpha 0.1", "alpha", 0.1),
    ("plan qrels.txt a.run b.run --comparisons 3", "comparisons", 3),
    ("plan qrels.txt a.run b.run --topics 30", "planned_topics", 30),
    ("pool --analyse qrels.txt a.run b.run --depth 3", "depth", 3),
    ("pool --analyse qrels.txt a.run b.run -m P@3", "measure", "P@3"),
    ("pool --simulate qrels.txt a.run b.run --seed 3", "seed", 3),
    ("pool --simulate qrels.txt a.run b.run --depth 3", "depth", 3),
    ("pool --simulate qrels.txt a.run b.run --budget 4", "budgets.0", 4),
]


@pytest.mark.parametrize(("line", "place", "wanted"), SAID)
def test_the_json_form_says_what_was_used(line: str, place: str, wanted: Any, folder: Path) -> None:
    with contextlib.chdir(folder):
        value = json.loads(command_line(*line.split(), "-f", "json").stdout)
    for part in place.split("."):
        value = value[int(part) if isinstance(value, list) else part]
    assert value == wanted


@pytest.mark.parametrize(
    "line", ["evaluate named-qrels.txt.csv named-a.run.csv", "check named-qrels.txt.csv named-a.run.csv"]
)
def test_a_format_and_names_of_columns_are_told_together(line: str, folder: Path) -> None:
    named = f"{line} --columns document=mydoc"
    assert outcome(named, folder) == outcome(f"{named} --format csv", folder)
    for order in (f"{named} --format parquet", f"{line} --format parquet --columns document=mydoc"):
        code, text = outcome(order, folder)
        assert code == 3
        assert "damaged Parquet file" in text


def test_splits_say_their_seed_and_repeats(folder: Path) -> None:
    with contextlib.chdir(folder):
        made = json.loads(command_line(*["split", "qrels.txt", "--seed", "4", "--repeats", "2"]).stdout)
    assert (made["seed"], made["repeats"]) == (4, 2)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_an_entry(command: str) -> None:
    found = {entry.option for entry in ENTRIES.get(command, ())}
    elsewhere = {option for name, option in ELSEWHERE if name in (command, "every")}
    assert found | elsewhere == options()[command]


def taken(given: click.Parameter) -> str:
    """What an argument or option takes, whether it must be given or may be repeated, and what holds when it is not."""
    kind: dict[str, Any] = {**given.type.to_info_dict()}
    words = [" ".join([*given.opts, *given.secondary_opts]), kind["param_type"]]
    words += kind.get("choices", ())
    if kind.get("min") is not None or kind.get("max") is not None:
        open_or_closed = "<" if kind["min_open"] else "<=", "<" if kind["max_open"] else "<="
        words.append("{min} {} x {} {max}".format(*open_or_closed, **kind).removesuffix(" <= None"))
    words += [word for word in ("required", "multiple", "is_flag", "is_eager", "hidden") if getattr(given, word, False)]
    if given.nargs != 1:
        words.append(f"nargs {given.nargs}")
    default = given.to_info_dict()["default"]
    if default is not None and default is not False:
        words.append(f"default {default}")
    return ", ".join(words)


def interface() -> str:
    context = click.Context(cli)
    found = {name: cli.get_command(context, name) for name in COMMANDS}
    lines = [
        f"{name} {taken(given)}\n" for name, command in found.items() if command is not None for given in command.params
    ]
    return "".join(lines)


def test_what_options_take_is_as_written_down() -> None:
    """A default, a range, a choice or a repetition that changes, changes what scripts mean."""
    kept = INTERFACE.read_text(encoding="utf-8").splitlines()
    assert interface().splitlines() == kept, "if this is meant: make record, and read the diff"


def keep_refusals() -> None:
    """Writes what is refused now, and how."""
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        folder = small_collection(Path(place))
        texts = [f"$ cranfield {line}\n{refused(line, folder)}\n\n" for line in refusals()]
    KEPT.write_text("".join(texts), encoding="utf-8")


if __name__ == "__main__":
    keep_refusals()
    INTERFACE.write_text(interface(), encoding="utf-8")
