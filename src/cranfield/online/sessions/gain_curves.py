"""`gain_curve`: what users have gained by and by in their sessions, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cranfield.errors import UsageError, plural
from cranfield.evaluation.findings import Finding
from cranfield.evaluation.printed import PrintedInNotebooks
from cranfield.judged import Floats
from cranfield.online.sessions.session_logs import Sessions, UserSession
from cranfield.online.sessions.session_scores import unit_of

Steps = list[tuple[float, float]]  # when what was gained


class CurvePoint(NamedTuple):
    """The mean gain of a system's sessions at some point, with the ends of its interval."""

    system: str
    at: float
    gain: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class GainCurve(PrintedInNotebooks):
    """Gain over the course of sessions: by "seconds" what was read until then, by "pages" what was shown until then.

    A session that has ended keeps what it gained. Intervals (95 %) are those of the mean over `unit`s,
    by t; NaN with one.
    """

    over: str
    unit: str
    points: tuple[CurvePoint, ...]
    warnings: tuple[Finding, ...] = ()

    def _rendered(self, format: str) -> str:
        from cranfield.online.sessions.session_tables import render_curve

        return render_curve(self, format)


def gain_curve(sessions: Sessions, over: str = "pages", *, points: int = 10, by: str = "auto") -> GainCurve:
    """How gain grows in the course of sessions, with intervals.

    >>> from cranfield.online.sessions.session_logs import UserSession, Sessions
    >>> def session(number):
    ...     gains = ((float(number % 2),), (1.0,))
    ...     return UserSession(f"s{number}", "a", None, (("d",), ("e",)), gains, (1.0, 1.0), 2, 0, (), None)
    >>> [round(point.gain, 2) for point in gain_curve(Sessions(tuple(map(session, range(4))), "log")).points]
    [0.5, 1.5]
    """
    if over not in ("pages", "seconds"):
        raise UsageError(f"gain grows over pages or seconds, not over '{over}'")
    if points < 1:
        raise UsageError(f"a curve has 1 point or more, not {points}")
    unit = unit_of(sessions, by)
    every = [(session, _steps(session, over)) for session in sessions.sessions]
    known = [(session, steps) for session, steps in every if steps is not None]
    findings = []
    if len(known) < len(every):
        left = len(every) - len(known)
        message = f"{plural(left, 'session')} without times, left out of gain over seconds"
        findings.append(Finding("no-times", sessions.source, message))
    if not known:
        raise UsageError(f"{sessions.source}: no session has times: take gain over pages")
    grid = _grid(max(_length(session, over) for session, _ in known), over, points)
    made = []
    for system in sessions.systems:
        of_unit: dict[str, list[Floats]] = {}
        for session, steps in known:
            if session.system == system:
                name = session.name if unit == "session" else str(session.user)
                gained = np.array([sum(gain for at, gain in steps if at <= end) for end in grid])
                of_unit.setdefault(name, []).append(gained)
        made += _points(system, grid, [np.mean(rows, axis=0) for rows in of_unit.values()])
    return GainCurve(over=over, unit=unit, points=tuple(made), warnings=tuple(findings))


def _grid(longest: float, over: str, points: int) -> Floats:
    """Where the curve is looked at: every page or second, or as many as there may be, as evenly as can be."""
    if over == "seconds":
        return np.unique(np.linspace(0, longest, points + 1)[1:])
    return np.unique(np.linspace(1, longest, min(points, int(longest))).round())


def _steps(session: UserSession, over: str) -> Steps | None:
    """When what was gained, each document once; None where that is not known."""
    if over == "pages":
        seen: set[str] = set()
        steps = []
        for page, (documents, gains) in enumerate(zip(session.documents, session.gains, strict=True), start=1):
            for document, gain in zip(documents, gains, strict=True):
                steps.append((float(page), 0.0 if document in seen else gain))
                seen.add(document)
        return steps
    if session.seconds is None or any(document.second is None for document in session.read):
        return None
    return [(document.second or 0.0, document.gain) for document in session.read]


def _length(session: UserSession, over: str) -> float:
    return float(len(session.gains)) if over == "pages" else session.seconds or 0.0


def _points(system: str, grid: Floats, rows: list[Floats]) -> list[CurvePoint]:
    from scipy.special import stdtrit

    if not rows:
        return []
    gained = np.array(rows)
    count = len(gained)
    mean = gained.mean(axis=0)
    half = np.full(len(grid), np.nan)
    if count > 1:
        half = -stdtrit(count - 1, 0.025) * gained.std(axis=0, ddof=1) / np.sqrt(count)
    return [
        CurvePoint(system, float(at), float(m), float(m - h), float(m + h))
        for at, m, h in zip(grid, mean, half, strict=True)
    ]
