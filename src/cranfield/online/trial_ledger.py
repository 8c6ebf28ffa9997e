"""A ledger of a trial: each time it is looked at, with the digest that its plan had then.

A plan that is changed after the first look, and looks that were not planned, can so be seen. A ledger is a file with a
JSON object a line; by default it lies beside the trial, `experiment.toml.ledger`.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import NamedTuple

from cranfield.errors import DataError, UsageError
from cranfield.evaluation.findings import Finding
from cranfield.formats.output import append, so_far
from cranfield.online.trial import Trial

SCHEMA = "cranfield.online-ledger/1"
LEDGER = ".ledger"  # after the name of a plan


class TrialLook(NamedTuple):
    """A look at a trial: when, with which plan, how many units and queries there were, and whether it was the
    last of the plan, on which all of alpha was spent. What a ledger does not say is None.
    """

    when: str
    experiment: str
    digest: str
    units: int
    queries: int | None = None
    last: bool | None = None

    def is_made_of(self, units: int, queries: int | None) -> bool:
        """Whether it was made of the same units with as many queries: then it is the same look."""
        return self.units == units and self.queries in (None, queries)


def ledger_of(trial: Trial) -> str | None:
    """The ledger beside the file of a trial; None for one that came from no file."""
    return None if trial.source is None else f"{trial.source}{LEDGER}"


def read_looks(path: str, trial: Trial) -> list[TrialLook]:
    """The looks at a trial so far, the first first; other trials in the same ledger are left aside."""
    looks = []
    for number, line in enumerate(so_far(path).splitlines(), start=1):
        try:
            entry = json.loads(line)
            if entry["schema"] != SCHEMA:
                raise ValueError
            look = TrialLook(
                str(entry["when"]),
                str(entry["experiment"]),
                str(entry["digest"]),
                int(entry["units"]),
                None if entry.get("queries") is None else int(entry["queries"]),
                None if entry.get("last") is None else bool(entry["last"]),
            )
        except (ValueError, TypeError, KeyError):
            raise DataError("is not an entry of a trial's ledger", source=path, line=number, text=line) from None
        if look.experiment == trial.name:
            looks.append(look)
    return looks


def note_look(
    path: str, trial: Trial, units: int, *, queries: int | None = None, last: bool | None = None
) -> list[Finding]:
    """Writes down a look, and tells if the plan is another one than at the first.

    The same units with as many queries, by the same plan, are the same look again.

    >>> import tempfile, pathlib
    >>> ledger = str(pathlib.Path(tempfile.mkdtemp()) / "ledger")
    >>> note_look(ledger, Trial("t", {"a": 1, "b": 1}, primary="ctr"), 100)
    []
    >>> [found.code for found in note_look(ledger, Trial("t", {"a": 1, "b": 1}, primary="latency"), 200)]
    ['trial-changed']
    """
    before = read_looks(path, trial)
    if any(look.is_made_of(units, queries) and look.digest == trial.digest for look in before):
        return changed_since(before, trial)  # the same look again
    entry = {
        "schema": SCHEMA,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "experiment": trial.name,
        "digest": trial.digest,
        "units": units,
        "queries": queries,
        "last": last,
    }
    text = so_far(path)
    append(path, ("\n" if text and not text.endswith("\n") else "") + json.dumps(entry) + "\n")
    return changed_since(before, trial)


def changed_since(looks: list[TrialLook], trial: Trial) -> list[Finding]:
    """Whether the plan is another one than at the first look."""
    if not looks or looks[0].digest == trial.digest:
        return []
    first = looks[0]
    message = (
        f"the plan was changed after results were seen: its digest is {trial.digest}, and was {first.digest} when "
        f"it was first looked at, {first.when} with {first.units:,} units. What it says now was not planned"
    )
    return [Finding("trial-changed", trial.source or trial.name, message)]


def check_digest(trial: Trial, expected: str | None) -> None:
    """Refuses a trial whose digest is not the one that was written down elsewhere, as in a registration.

    >>> check_digest(Trial("t", {"a": 1, "b": 1}, primary="ctr"), "0123456789abcdef")
    Traceback (most recent call last):
    cranfield.errors.UsageError: the digest of the trial t is 08d3b0d14d216768, not 0123456789abcdef as expected
        The plan is not the one that was registered.
    """
    if expected is not None and expected.strip().lower() != trial.digest:
        raise UsageError(
            f"the digest of the trial {trial.name} is {trial.digest}, not {expected} as expected",
            "The plan is not the one that was registered.",
        )
