"""Lease, judge, undo, put off, expire, adjudicate, in any order, against a small model, on both databases."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings, strategies
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)
from sqlalchemy import insert, select
from starlette.exceptions import HTTPException

from cranfield.errors import DataError
from cranfield.judging.scale import Scale
from cranfield.web.accounts.invitations import join
from cranfield.web.accounts.people import new_account
from cranfield.web.judging.leasing import Asker, Leased, give_back, lease
from cranfield.web.judging.rebuilding import differences, from_tables, rebuild
from cranfield.web.judging.recording import NewJudgement, record
from cranfield.web.serving import open_folder
from cranfield.web.settings import ServerSettings
from cranfield.web.store.engine import Store
from cranfield.web.store.tables import PairRow, ProjectRow, ScaleRow, TopicRow

MINUTES = 60_000
LEASE = 10 * MINUTES


@dataclass
class Model:
    """What must be true, kept the simplest way: opinions with their history, leases, what was put off."""

    wanted: dict[int, int]
    history: dict[tuple[int, int], list[tuple[str, str, int | None]]] = field(default_factory=dict)  # key, kind, grade
    leases: dict[tuple[int, int], int] = field(default_factory=dict)  # pair, user → until
    put_off: set[tuple[int, int]] = field(default_factory=set)
    verdicts: dict[int, list[tuple[str, int]]] = field(default_factory=dict)

    def opinion(self, pair: int, user: int) -> tuple[str, int | None] | None:
        said = self.history.get((pair, user), [])
        return None if not said or said[-1][1] == "later" else said[-1][1:]

    def opinions(self, pair: int) -> int:
        return sum(self.opinion(*slot) is not None for slot in self.history if slot[0] == pair)

    def held(self, pair: int, now: int, but: int) -> int:
        return sum(p == pair and u != but and until > now for (p, u), until in self.leases.items())

    def has_place(self, pair: int, user: int, now: int) -> bool:
        return self.opinions(pair) + self.held(pair, now, user) < self.wanted[pair]


class JudgingMachine(RuleBasedStateMachine):
    """Three people, one topic of six documents, two of them wanted twice."""

    database = ""
    handed = Bundle("handed")  # leases that somebody has on their screen
    said = Bundle("said")  # judgements that were stored

    @initialize()
    def begin(self) -> None:
        self.folder = TemporaryDirectory()
        self.now = 1_800_000_000_000
        self.store: Store = open_folder(
            ServerSettings(folder=Path(self.folder.name), database=self.database), lambda: self.now
        )
        self.number = 0
        with self.store.writing() as connection:
            self.project = connection.execute(
                insert(ProjectRow)
                .values(
                    slug=f"p{os.urandom(6).hex()}", title="P", collection="", settings={}, state="ready", created_at=0
                )
                .returning(ProjectRow.id)
            ).scalar_one()
            scale = {"project_id": self.project, "version": 1, "scale": Scale.usual().to_json(), "at": 0}
            connection.execute(insert(ScaleRow).values(**scale))
            self.topic = connection.execute(
                insert(TopicRow).values(project_id=self.project, name="1", place=1, fields=[]).returning(TopicRow.id)
            ).scalar_one()
            wanted = {}
            for place in range(6):
                values = {"document": f"d{place}", "source": "pool", "batch": 0, "place": place}
                pair = connection.execute(
                    insert(PairRow)
                    .values(topic_id=self.topic, wanted=1 + (place < 2), opinions=0, **values)
                    .returning(PairRow.id)
                ).scalar_one()
                wanted[pair] = 1 + (place < 2)
            self.people = []
            for _ in range(3):
                account = new_account(connection, 0, f"a{os.urandom(6).hex()}", "no password")
                join(connection, 0, self.project, account, "adjudicator")
                self.people.append(account.id)
        self.model = Model(wanted)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()

    def key(self) -> str:
        self.number += 1
        return f"k{self.number}"

    def say(self, user: int, said: NewJudgement) -> bool:
        with self.store.writing() as connection:
            return record(connection, self.now, self.project, user, said).again

    @rule(target=handed, who=strategies.integers(0, 2), count=strategies.integers(1, 3))
    def ask(self, who: int, count: int) -> object:
        user, model = self.people[who], self.model
        with self.store.writing() as connection:
            given = lease(connection, self.now, Asker(user=user, topic=self.topic, lease_ms=LEASE), count)
        pairs = [one.pair for one in given]
        mine = [pair for (pair, other) in model.leases if other == user]
        kept = [pair for pair in mine if model.leases[pair, user] > self.now or model.has_place(pair, user, self.now)]
        free = [
            pair
            for pair in model.wanted
            if pair not in mine and model.opinion(pair, user) is None and model.has_place(pair, user, self.now)
        ]
        assert len(set(pairs)) == len(pairs)
        assert len(pairs) == min(count, len(kept) + len(free))
        assert set(pairs) <= {*kept, *free}
        assert set(kept) <= set(pairs) or len(pairs) == count
        # What was put off comes last.
        waiting = [pair for pair in free if (pair, user) not in model.put_off]
        if any((pair, user) in model.put_off and pair not in kept for pair in pairs):
            assert set(waiting) <= set(pairs)
        for pair in pairs:
            model.leases[pair, user] = self.now + LEASE
        return multiple(*((user, one) for one in given))

    @rule(target=said, held=consumes(handed), grade=strategies.one_of(strategies.none(), strategies.integers(0, 3)))
    def judge(self, held: tuple[int, Leased], grade: int | None) -> tuple[int, NewJudgement]:
        user, given = held
        if grade is None:
            what = NewJudgement(pair=given.pair, kind="cannot", reason="other", key=self.key())
        else:
            what = NewJudgement(pair=given.pair, kind="grade", grade=grade, key=self.key())
        self.stored(user, what)
        return user, what

    def stored(self, user: int, what: NewJudgement) -> None:
        slot = what.pair, user
        asked = slot in self.model.leases or slot in self.model.history
        if not asked:  # the lease was given back
            with pytest.raises(HTTPException) as refusal:
                self.say(user, what)
            assert refusal.value.status_code == 409
            return
        assert not self.say(user, what)
        self.model.history.setdefault(slot, []).append((what.key, what.kind, what.grade))
        self.model.leases.pop(slot, None)
        self.model.put_off.discard(slot)

    @rule(held=consumes(handed))
    def later(self, held: tuple[int, Leased]) -> None:
        user, given = held
        before = (given.pair, user) in self.model.leases or (given.pair, user) in self.model.history
        self.stored(user, NewJudgement(pair=given.pair, kind="later", key=self.key()))
        if before:
            self.model.put_off.add((given.pair, user))

    @rule(sent=said)
    def send_again(self, sent: tuple[int, NewJudgement]) -> None:
        user, what = sent
        if any(key == what.key for key, *_ in self.ever.get((what.pair, user), [])):
            assert self.say(user, what)
            other = NewJudgement(pair=what.pair, kind="later", key=what.key)
            with pytest.raises(HTTPException) as refusal:
                self.say(user, other)
            assert refusal.value.status_code == 409

    @property
    def ever(self) -> dict[tuple[int, int], list[tuple[str, str, int | None]]]:
        return self.model.history

    @rule(sent=said)
    def undo(self, sent: tuple[int, NewJudgement]) -> None:
        user, what = sent
        slot = what.pair, user
        undo = NewJudgement(pair=what.pair, kind="undo", undoes=what.key, key=self.key())
        standing = [key for key, *_ in self.model.history.get(slot, [])]
        if what.key not in standing:
            with pytest.raises(DataError):
                self.say(user, undo)
            return
        self.say(user, undo)
        left = [one for one in self.model.history[slot] if one[0] != what.key]
        self.model.history[slot] = left
        self.model.leases.pop(slot, None)
        self.model.put_off.discard(slot)
        if self.model.opinion(*slot) is None:
            self.model.leases[slot] = self.now + LEASE

    @rule(who=strategies.integers(0, 2))
    def leave(self, who: int) -> None:
        user = self.people[who]
        with self.store.writing() as connection:
            give_back(connection, user, self.topic)
        for slot in [slot for slot in self.model.leases if slot[1] == user]:
            del self.model.leases[slot]

    @rule(minutes=strategies.sampled_from([1, 6, 11, 30]))
    def wait(self, minutes: int) -> None:
        self.now += minutes * MINUTES

    @rule(who=strategies.integers(0, 2), place=strategies.integers(0, 5), grade=strategies.integers(0, 3))
    def adjudicate(self, who: int, place: int, grade: int) -> None:
        pair = list(self.model.wanted)[place]
        key = self.key()
        assert not self.say(self.people[who], NewJudgement(pair=pair, kind="adjudicate", grade=grade, key=key))
        self.model.verdicts.setdefault(pair, []).append((key, grade))

    @precondition(lambda self: hasattr(self, "model"))
    @invariant()
    def tables_are_what_the_model_says(self) -> None:
        with self.store.reading() as connection:
            opinions, verdicts = from_tables(connection, self.project)
            counts = {
                row.id: row.opinions
                for row in connection.execute(select(PairRow).where(PairRow.topic_id == self.topic))
            }
            assert differences(connection, self.project) == []
        wanted = {slot: self.model.opinion(*slot) for slot in self.model.history}
        assert {slot[:2]: row[1:] for slot, row in opinions.items()} == {
            s: o for s, o in wanted.items() if o is not None
        }
        assert {pair: row[2] for pair, row in verdicts.items()} == {
            p: said[-1][1] for p, said in self.model.verdicts.items()
        }
        assert counts == {pair: self.model.opinions(pair) for pair in self.model.wanted}

    @rule()
    def make_anew(self) -> None:
        with self.store.writing() as connection:
            before = from_tables(connection, self.project)
            rebuild(connection, self.project)
            assert from_tables(connection, self.project) == before


LENGTH = settings(
    max_examples=int(os.environ.get("CRANFIELD_MACHINE", "15")),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@contextmanager
def machine(database: str) -> Iterator[type[JudgingMachine]]:
    JudgingMachine.database = database
    yield JudgingMachine
    JudgingMachine.database = ""


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_judging_is_what_the_model_says(kind: str, request: pytest.FixtureRequest) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    address = request.getfixturevalue("cluster").new_database() if kind == "postgresql" else ""
    with machine(address) as made:
        run_state_machine_as_test(made, settings=LENGTH)
