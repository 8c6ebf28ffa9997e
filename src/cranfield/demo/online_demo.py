"""`build_online_demo`: simulated users of two of the demo's systems, on interleaved lists and in an A/B test."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cranfield.demo.building import PARTS, REPORT, SYSTEMS, own_folder, searched, timed
from cranfield.demo.embedded import demo_collection
from cranfield.formats import read_run
from cranfield.formats.output import save
from cranfield.libraries import library
from cranfield.online.analysis.analysing import analyse
from cranfield.online.analysis.analysis import TrialAnalysis
from cranfield.online.analysis.trial_page import write_report
from cranfield.online.interleaving.impressions import read_interleaving
from cranfield.online.interleaving.preferring import UserPreferences, preferences
from cranfield.online.logs import read_logs
from cranfield.online.trial_files import read_trial
from cranfield.online.users import (
    JudgedRankings,
    Population,
    Rehearsal,
    UserModel,
    UserSimulation,
    rehearse,
    write_simulated,
)
from cranfield.search.tokens import library as search_library
from cranfield.texts.collection import TOML
from cranfield.texts.writing import write_qrels

ONLINE = "online-demo"  # whose folder it is
CONTROL, NEW = "bm25", "bm25-long"
AB, INTERLEAVED = "ab-test", "interleaving"


class OnlineDemo(NamedTuple):
    """What was made, what users did, and where it is."""

    folder: Path
    preferred: UserPreferences
    analysis: TrialAnalysis
    rehearsal: Rehearsal
    page: Path


def build_online_demo(
    folder: str | os.PathLike[str],
    *,
    users: int = 4000,
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> OnlineDemo:
    """Searches the collection with two systems, lets simulated users of both leave logs, and analyses these.

    `say` is told what has been done. A folder that holds something else is left alone.
    """
    with timed(say) as done:
        for module in ("bm25s", "Stemmer", "sklearn.feature_extraction.text"):  # or nothing is begun
            search_library(module)
        for module in ("duckdb", "pyarrow", "narwhals"):
            library(module, "logs of searches")
        done("libraries loaded")
    root = own_folder(Path(folder), ONLINE)
    with timed(say) as done:
        collection = demo_collection()
        assert collection.qrels is not None
        save(root / TOML, [f'name = "{ONLINE}"\nqrels = "{PARTS["qrels"]}"\n'])
        (root / "runs").mkdir(exist_ok=True)
        write_qrels(collection.qrels, root / PARTS["qrels"], format="trec")
        done("the demo's collection")
    systems = [system for system in SYSTEMS if system.name in (CONTROL, NEW)]
    runs = [read_run(str(path)) for path in searched(collection, root / "runs", systems, say)]
    model, population = UserModel("navigational"), Population(users=users, seed=seed)
    rankings = JudgedRankings.of(collection.qrels, runs, [CONTROL, NEW], depth=model.depth)
    with timed(say) as done:
        for design, name in (("interleaving", INTERLEAVED), ("ab", AB)):
            simulation = UserSimulation(rankings, model, population, design)  # type: ignore[arg-type]
            for note in write_simulated(simulation, str(root / name)).notes:
                say(f"{root / name}: {note}")
        done(f"{users:,} simulated users, on interleaved lists and in an A/B test")
    with timed(say) as done:
        files = (str(root / INTERLEAVED / f"{table}.parquet") for table in ("impressions", "events"))
        preferred = preferences(read_interleaving(*files), seed=seed)
        analysis = analyse(read_logs(str(root / AB)), read_trial(str(root / AB / "experiment.toml")))
        rehearsal = rehearse(UserSimulation(rankings, model, population))
        page = root / REPORT
        write_report(analysis, str(page))
        done("analysed and reported")
    return OnlineDemo(root, preferred, analysis, rehearsal, page)
