"""`score_sessions`: sessions of systems as results, a score for each session as elsewhere for each topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from cranfield.comparison.comparison import Comparison
from cranfield.comparison.panels import Evaluated
from cranfield.comparison.question import Question
from cranfield.comparison.systems import check_comparable, compare_results
from cranfield.errors import UsageError, either, plural, some
from cranfield.evaluation.experiment import Experiment, Input
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.results import Results
from cranfield.judged import Floats
from cranfield.measures import Measure
from cranfield.online.sessions.session_logs import Sessions
from cranfield.online.sessions.session_measures import parse_session_measure, score_session
from cranfield.policy import Policy

MEASURES = ("nsDCG_Jarvelin", "sRBP", "GainRead", "Queries", "Pages", "Clicks", "DocumentsRead", "Seconds")
UNITS = ("auto", "session", "user")
OWN_TEST = "welch"  # where each system has sessions of its own


def score_sessions(
    sessions: Sessions, measures: str | Measure | Iterable[str | Measure] = MEASURES, *, by: str = "auto"
) -> Results:
    """Scores every session: systems are the runs of the results, sessions their topics.

    With by="user" a user's sessions with a system are one score, their mean: what was randomised by user is compared by
    user. "auto" does so where no session was served by two systems and the log names users. NaN marks a session that a
    system did not serve, or for which the log does not tell a value.

    >>> import io
    >>> from cranfield.online.sessions import read_sessions
    >>> log = io.StringIO('{"session_id": "s1", "topic": "7", "query_text": "cats", "docs": ["a", "b"]}')
    >>> score_sessions(read_sessions(log, qrels={"7": {"b": 2}}), "sDCG_jig").mean()
    {'log': {'sDCG_jig': 1.0}}
    """
    given = [measures] if isinstance(measures, str | Measure) else list(measures)
    wanted = tuple(dict.fromkeys(parse_session_measure(measure) for measure in given))
    if not wanted:
        raise UsageError("no measure given")
    unit = unit_of(sessions, by)
    cells: dict[tuple[str, str], list[list[float]]] = {}
    for session in sessions.sessions:
        name = session.name if unit == "session" else str(session.user)
        scores = [score_session(measure, session) for measure in wanted]
        cells.setdefault((session.system, name), []).append(scores)
    systems, names = sessions.systems, tuple(dict.fromkeys(name for _, name in cells))
    cube = np.full((len(systems), len(wanted), len(names)), np.nan)
    places = {name: place for place, name in enumerate(names)}
    for (system, name), rows in cells.items():
        cube[systems.index(system), :, places[name]] = np.mean(rows, axis=0)
    warnings = [*sessions.warnings, *_doubts(sessions, unit, wanted, cube)]
    return Results(
        runs=systems,
        measures=wanted,
        topics=names,
        scores=cube,
        policy=Policy(topics="run" if np.isnan(cube).any() else "qrels"),
        inputs=(Input(sessions.source, None, None, len(sessions.sessions), len(names), role="sessions"),),
        warnings=tuple(warnings),
        experiment=Experiment({}),
    )


def unit_of(sessions: Sessions, by: str) -> str:
    """What has one score, "session" or "user"; "auto" takes users where each system has sessions of its own."""
    if by not in UNITS:
        raise UsageError(f"sessions are scored by {either(UNITS)}, not '{by}'")
    if by == "auto":
        shared = max(_systems_of(sessions).values()) > 1
        return "session" if shared or not _has_users(sessions) else "user"
    if by == "user" and not _has_users(sessions):
        raise UsageError(f"{sessions.source} does not name the users of all sessions: score by session")
    return by


def _systems_of(sessions: Sessions) -> dict[str, int]:
    """How many systems served a session of each name."""
    names = [(session.system, session.name) for session in sessions.sessions]
    counts: dict[str, int] = {}
    for _, name in dict.fromkeys(names):
        counts[name] = counts.get(name, 0) + 1
    return counts


def _has_users(sessions: Sessions) -> bool:
    return all(session.user is not None for session in sessions.sessions)


def _doubts(sessions: Sessions, unit: str, measures: Sequence[Measure], cube: Floats) -> list[Finding]:
    findings = []
    shares = np.unique(list(_systems_of(sessions).values()))
    if len(sessions.systems) > 1 and unit == "session" and shares.max() == 1 and _has_users(sessions):
        users = len({session.user for session in sessions.sessions})
        if users < len(sessions.sessions):
            message = (
                f"{plural(len(sessions.sessions), 'session')} of {plural(users, 'user')}: those of one user are alike, "
                "and a test that takes them for independent finds too much; score by user"
            )
            findings.append(Finding("sessions-of-users", sessions.source, message))
    served = ~np.isnan(cube).all(axis=1)
    for place, measure in enumerate(measures):
        unknown = int((np.isnan(cube[:, place]) & served).sum())
        if unknown:
            message = f"{measure} is not known for {unknown:,} of {plural(int(served.sum()), 'score')}"
            findings.append(Finding("unknown-values", sessions.source, message))
    return findings


def compare_sessions(results: Results, question: Question | None = None) -> Comparison:
    """Which system serves sessions better, by the statistics of `compare`.

    Where systems served the same sessions they are compared session by session; where each has sessions (or users) of
    its own, by Welch's t test unless another is named. Some shared and some not is an error.

    >>> from cranfield.online.sessions.session_logs import UserSession, Sessions
    >>> def session(system, number, gain):
    ...     return UserSession(f"s{number}", system, None, (("d",),), ((gain,),), (1.0,), 1, 0, (), None)
    >>> log = Sessions(tuple(session(s, n, float(n % 3 if s == "a" else 0)) for s in "ab" for n in range(9)), "log")
    >>> comparison = compare_sessions(score_sessions(log, "sDCG_jig"))
    >>> next(comparison.rows()).difference
    1.0
    """
    asked = question or Question()
    check_comparable(results.measures)
    if len(results.runs) < 2:
        raise UsageError(f"a comparison needs two systems or more, and the log has {some(results.runs)} alone")
    served = ~np.isnan(results.scores).all(axis=1)
    if not served.all():
        if (served.sum(axis=0) > 1).any():
            raise UsageError(
                "systems share some sessions and not others: leave out what one of them did not serve, or give "
                "sessions names of their own"
            )
        asked = asked if asked.tests else replace(asked, tests=(OWN_TEST,))
    known = [measure for measure in results.measures if _has_values(results, measure)]
    if not known:
        raise UsageError(f"{some(list(map(str, results.measures)))}: not known for two sessions of every system")
    compared = compare_results({"": Evaluated(results, {run: [run] for run in results.runs})}, known, asked)
    left = [str(measure) for measure in results.measures if measure not in known]
    if not left:
        return compared
    message = f"{some(left)} not compared: not known for two sessions of every system"
    return replace(compared, warnings=(*compared.warnings, Finding("not-compared", "sessions", message)))


def _has_values(results: Results, measure: Measure) -> bool:
    values = results.scores[:, results.measures.index(measure)]
    known = ~np.isnan(values)
    return bool((known.sum(axis=1) > 1).all())
