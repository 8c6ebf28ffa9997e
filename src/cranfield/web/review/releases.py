"""Releases: what is missing before one, what it would be good for, and its making.

Everything is computed and written to the disk before the transaction begins; in it the release gets its number. The
same judgements by the same policy are the same release: nothing new is made of them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select
from starlette.exceptions import HTTPException

from cranfield.errors import CranfieldError
from cranfield.evaluation.findings import gathered
from cranfield.judging.events import Event
from cranfield.judging.releasing import (
    WHYS,
    ReleasedJudgements,
    ReleasePolicy,
    Support,
    Undecided,
    released,
    support,
)
from cranfield.web.admission import Visit
from cranfield.web.judging.stored_events import told_events
from cranfield.web.projects.options import ProjectOptions
from cranfield.web.review.adjudication import LateOpinion, late_opinions
from cranfield.web.review.release_files import (
    EVENTS,
    PROVENANCE,
    QRELS,
    SAMPLED,
    digest_of,
    folder_of,
    given_up,
    numbered,
    unchanged,
    written,
)
from cranfield.web.review.run_files import runs_of
from cranfield.web.review.snapshot import Snapshot, moment_of, taken
from cranfield.web.store.audit import note
from cranfield.web.store.tables import MemberRow, ProjectRow, ReleaseRow

# A measure is not supported while these are in doubt, by the code of the finding.
STILL_NEEDED = {"few-topics": "more topics", "judged-depth": "more of what the runs retrieve judged"}
NO_DEPTH = "give it (--depth)"  # advice for the prompt: a project knows its depth, or its method has none
NAMED = 100  # pairs without a grade that a page names
POLICY_WORDS: dict[ReleasePolicy, str] = {
    "majority": "what more than half of the assessors say; no grade where there is no such",
    "highest": "the highest grade that somebody gave",
    "lowest": "the lowest grade that somebody gave",
    "median": "the middle grade; of two in the middle the lower",
    "adjudicated only": "no grade where opinions differ, unless somebody decided",
}


@dataclass(frozen=True, kw_only=True)
class Version:
    """A release as it is noted: `summary` is its provenance without the pairs, `files` the digests of its files."""

    version: int
    digest: str
    policy: str
    at: int
    by: str
    summary: dict[str, Any]
    files: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a release would be now. `short` counts pairs that lack opinions they want, `undecided` those without a grade
    by why, `named` the first of them with their numbers; `lacking` says why it can't be made, if so."""

    policy: ReleasePolicy
    pairs: int
    short: int
    judgements: int
    methods: dict[str, int]
    undecided: dict[str, int]
    named: tuple[tuple[int, Undecided], ...]
    late: tuple[LateOpinion, ...]
    support: Support | None
    notes: tuple[str, ...]
    lacking: str

    @property
    def findings(self) -> list[str]:
        """All that is to be known of the judgements, once each; what holds for several runs is said once."""
        if self.support is None:
            return list(self.notes)
        analysis = self.support.analysis
        found = [*self.support.description.findings, *self.support.findings, *(analysis.warnings if analysis else ())]
        return [*self.notes, *(str(finding) for finding in gathered(found) if NO_DEPTH not in finding.message)]

    @property
    def still_needed(self) -> str:
        """What every measure still needs, whatever the judgements would suffice for; nothing if all is there."""
        found = () if self.support is None else self.support.description.findings
        doubtful = {finding.code for finding in found if finding.doubtful}
        return " and ".join(words for code, words in STILL_NEEDED.items() if code in doubtful)


def preview(visit: Visit, folder: Path, policy: ReleasePolicy) -> Preview:
    """What is missing, and what the judgements would support."""
    with moment_of(visit.store) as connection:
        snapshot = taken(connection, visit.here.id)
        late = late_opinions(connection, visit.here.id)
    release = _released(snapshot, policy, ())
    whys = Counter(pair.why for pair in release.undecided)
    options = ProjectOptions.from_json(visit.here.settings)
    made, notes, lacking = _supported(snapshot, release, folder, options.pool_depth)
    return Preview(
        policy=policy,
        pairs=len(snapshot.pairs),
        short=sum(1 for _ in _short(snapshot)),
        judgements=len(release.decisions),
        methods=dict(sorted(Counter(decision.method for decision in release.decisions.values()).items())),
        undecided={why: whys[why] for why in WHYS if whys[why]},
        named=tuple((snapshot.pairs[pair.topic, pair.document].number, pair) for pair in release.undecided[:NAMED]),
        late=tuple(late),
        support=made,
        notes=tuple(notes),
        lacking=lacking,
    )


def _supported(
    snapshot: Snapshot, release: ReleasedJudgements, folder: Path, depth: int | None
) -> tuple[Support | None, list[str], str]:
    """What the judgements are good for, what is to be said besides, and why they can't be released, if so."""
    try:
        release.content  # noqa: B018 - what can't be written can't be released
    except CranfieldError as error:
        return None, [], str(error)
    runs, notes = runs_of(folder, snapshot.mark.runs)
    if not runs:
        notes.append("There are no runs in this project: what leaving one out would change can't be told.")
    if release.chances:
        try:
            release.prels  # noqa: B018 - the same for the file with chances
        except CranfieldError as error:
            notes.append(f"There will be no file with chances: {error}")
    if depth is not None and runs:  # no run is pooled deeper than it goes
        depth = min(depth, max(int(run.table.counts().max()) for run in runs.values()))
    try:
        return support(release, dict(runs) if runs else None, depth=depth), notes, ""
    except CranfieldError as error:  # nothing relevant, say: no measure can be used, and the file is right all the same
        return None, [*notes, f"What these judgements support can't be told: {error}"], ""


def _short(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """Pairs with fewer opinions than they want."""
    counts = Counter((topic, document) for topic, document, _, repeat in snapshot.state.opinions if not repeat)
    return (pair for pair, asked in snapshot.pairs.items() if counts[pair] < asked.wanted)


def _released(snapshot: Snapshot, policy: ReleasePolicy, events: tuple[Event, ...]) -> ReleasedJudgements:
    return released(snapshot.state, snapshot.scale, policy, pool=snapshot.pool, chances=snapshot.chances, events=events)


def make_release(visit: Visit, folder: Path, policy: ReleasePolicy) -> tuple[Version, bool]:
    """Makes a release of what is judged now; whether it is new. If the last one is the same, it is that one."""
    with moment_of(visit.store) as connection:
        snapshot = taken(connection, visit.here.id)
        events = tuple(told_events(connection, visit.here.id))
    release = _released(snapshot, policy, events)
    provenance = release.provenance
    files = {
        QRELS: release.content,
        EVENTS: "".join(f"{event.line}\n" for event in events).encode(),
        PROVENANCE: json.dumps(provenance, ensure_ascii=False, indent=1, sort_keys=True).encode("utf-8", "replace"),
    }
    if release.chances and not any((pair.topic, pair.document) in release.chances for pair in release.undecided):
        files[SAMPLED] = release.prels
    digests = {name: digest_of(content) for name, content in files.items()}
    summary = {name: value for name, value in provenance.items() if name not in ("pairs", "undecided")}
    summary |= {"undecided": len(release.undecided), "files": digests}
    made = written(folder_of(folder, visit.here.slug), files)
    try:
        version, new = _noted(visit, made, release.digest, summary)
    finally:
        given_up(made)
    return version_of(visit, version), new


def _noted(visit: Visit, made: Path, digest: str, summary: dict[str, Any]) -> tuple[int, bool]:
    """Gives a release its number, one more than the last; or the number of the last, if that is the same."""
    project, user = visit.here.id, visit.person.id
    with visit.store.writing() as connection:
        connection.execute(select(ProjectRow.id).where(ProjectRow.id == project).with_for_update())
        asked = select(ReleaseRow).where(ReleaseRow.project_id == project).order_by(ReleaseRow.version.desc())
        last = connection.execute(asked.limit(1)).first()
        if last is not None and last.provenance["files"] == summary["files"]:
            return int(last.version), False
        version = 1 if last is None else int(last.version) + 1
        now = visit.store.clock()
        values = {"version": version, "digest": digest, "provenance": summary, "at": now, "user_id": user}
        connection.execute(insert(ReleaseRow).values(project_id=project, **values))
        told = {"version": version, "digest": digest, "policy": summary["policy"]}
        note(connection, now, "release", user=user, project=project, **told)
        numbered(made, version)  # the last thing: what is noted has its files
    return version, True


def versions(connection: Connection, project: int) -> list[Version]:
    """All releases of a project, the newest first."""
    asked = (
        select(ReleaseRow, MemberRow.pseudonym)
        .outerjoin(
            MemberRow, (MemberRow.project_id == ReleaseRow.project_id) & (MemberRow.user_id == ReleaseRow.user_id)
        )
        .where(ReleaseRow.project_id == project)
        .order_by(ReleaseRow.version.desc())
    )
    return [
        Version(
            version=row.version,
            digest=row.digest,
            policy=row.provenance["policy"],
            at=row.at,
            by=row.pseudonym or "somebody who is no member any more",
            summary={name: value for name, value in row.provenance.items() if name != "files"},
            files=row.provenance["files"],
        )
        for row in connection.execute(asked)
    ]


def version_of(visit: Visit, version: int) -> Version:
    """One release, or 404."""
    with visit.store.reading() as connection:
        known = [each for each in versions(connection, visit.here.id) if each.version == version]
    if not known:
        raise HTTPException(404)
    return known[0]


def file_of(visit: Visit, folder: Path, version: int, name: str) -> bytes:
    """A file of a release, as it was released, or 404."""
    known = version_of(visit, version)
    if name not in known.files:
        raise HTTPException(404)
    return unchanged(folder_of(folder, visit.here.slug) / str(version) / name, known.files[name])
