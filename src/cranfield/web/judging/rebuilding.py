"""What the events come to, made anew from all of them, and where the tables say otherwise."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select, update

from cranfield.judging.state import state_of
from cranfield.web.judging.stored_events import stored_event
from cranfield.web.store.tables import EventRow, OpinionRow, PairRow, TopicRow, VerdictRow

Opinions = dict[tuple[int, int, bool], tuple[int, str, int | None]]
Verdicts = dict[int, tuple[int, int, int | None]]


def from_events(connection: Connection, project: int) -> tuple[Opinions, Verdicts]:
    """Opinions by pair, person and repeat, and verdicts by pair, as the events of a project make them."""
    asked = select(EventRow).where(EventRow.project_id == project).order_by(EventRow.id)
    rows = {(str(row.user_id), row.key): row for row in connection.execute(asked)}
    state = state_of(map(stored_event, rows.values()))
    opinions: Opinions = {}
    for (_, pair, user, repeat), opinion in state.opinions.items():
        row = rows[user, opinion.key]
        opinions[int(pair), int(user), repeat] = (row.id, row.kind, row.grade)
    verdicts: Verdicts = {}
    for (_, pair), verdict in state.verdicts.items():
        row = rows[verdict.assessor, verdict.key]
        verdicts[int(pair)] = (row.id, row.user_id, row.grade)
    return opinions, verdicts


def from_tables(connection: Connection, project: int) -> tuple[Opinions, Verdicts]:
    """The same as the tables have it."""
    of_project = (
        select(PairRow.id).join(TopicRow, TopicRow.id == PairRow.topic_id).where(TopicRow.project_id == project)
    )
    opinions = {
        (row.pair_id, row.user_id, row.repeat): (row.event_id, row.kind, row.grade)
        for row in connection.execute(select(OpinionRow).where(OpinionRow.pair_id.in_(of_project)))
    }
    verdicts = {
        row.pair_id: (row.event_id, row.user_id, row.grade)
        for row in connection.execute(select(VerdictRow).where(VerdictRow.pair_id.in_(of_project)))
    }
    return opinions, verdicts


def differences(connection: Connection, project: int) -> list[str]:
    """Where the tables are not what the events come to; nothing where all is well."""
    told = []
    (opinions, verdicts), (kept_opinions, kept_verdicts) = (
        from_events(connection, project),
        from_tables(connection, project),
    )
    for slot in sorted(set(opinions) | set(kept_opinions)):
        if opinions.get(slot) != kept_opinions.get(slot):
            told.append(f"opinion {slot}: events say {opinions.get(slot)}, the table {kept_opinions.get(slot)}")
    for pair in sorted(set(verdicts) | set(kept_verdicts)):
        if verdicts.get(pair) != kept_verdicts.get(pair):
            told.append(f"verdict {pair}: events say {verdicts.get(pair)}, the table {kept_verdicts.get(pair)}")
    counts: dict[int, int] = {}
    for pair, _, repeat in opinions:
        counts[pair] = counts.get(pair, 0) + (not repeat)
    asked = select(PairRow.id, PairRow.opinions).join(TopicRow, TopicRow.id == PairRow.topic_id)
    for row in connection.execute(asked.where(TopicRow.project_id == project)):
        if row.opinions != counts.get(row.id, 0):
            told.append(f"pair {row.id}: {counts.get(row.id, 0)} opinions, the table says {row.opinions}")
    return told


def rebuild(connection: Connection, project: int) -> None:
    """Writes the tables anew from the events."""
    opinions, verdicts = from_events(connection, project)
    of_project = (
        select(PairRow.id).join(TopicRow, TopicRow.id == PairRow.topic_id).where(TopicRow.project_id == project)
    )
    connection.execute(delete(OpinionRow).where(OpinionRow.pair_id.in_(of_project)))
    connection.execute(delete(VerdictRow).where(VerdictRow.pair_id.in_(of_project)))
    asked = select(EventRow.id, EventRow.at).where(EventRow.project_id == project)
    at = {row.id: row.at for row in connection.execute(asked)}
    counts: dict[int, int] = {}
    for (pair, user, repeat), (event, kind, grade) in opinions.items():
        values = {"event_id": event, "kind": kind, "grade": grade, "at": at[event]}
        connection.execute(insert(OpinionRow).values(pair_id=pair, user_id=user, repeat=repeat, **values))
        counts[pair] = counts.get(pair, 0) + (not repeat)
    for pair, (event, user, grade) in verdicts.items():
        values = {"event_id": event, "user_id": user, "grade": grade, "at": at[event]}
        connection.execute(insert(VerdictRow).values(pair_id=pair, **values))
    connection.execute(update(PairRow).where(PairRow.id.in_(of_project)).values(opinions=0))
    for pair, count in counts.items():
        connection.execute(update(PairRow).where(PairRow.id == pair).values(opinions=count))
