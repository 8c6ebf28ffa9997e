"""Judgements made of opinions: policies, what is left undecided, the file and where it is from."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cranfield.errors import DataError, UsageError
from cranfield.formats import read_qrels
from cranfield.formats.reading import Reading
from cranfield.judging.events import Event, moment
from cranfield.judging.releasing import POLICIES, ReleasedJudgements, ReleasePolicy, released, support
from cranfield.judging.scale import Grade, Scale
from cranfield.judging.state import state_of
from cranfield.pooling.files import read_strata, sample_text
from cranfield.pooling.making import make_pool
from cranfield.pooling.strata import parse_strata

USUAL = Scale.usual()
SPAM = Scale(
    grades=(
        Grade(value=-2, label="spam", key="s", gain=0.0),
        Grade(value=0, label="not", key="0", gain=0.0),
        Grade(value=1, label="some", key="1", gain=1.0),
        Grade(value=2, label="much", key="2", gain=2.0),
    ),
    threshold=2,
)


def said(document: str, *grades: int | None, **more: Any) -> list[Event]:
    """Grades of assessors a, b, c, … of a document; None for one who can't tell."""
    usual: dict[str, Any] = {"topic": "q1", "document": document, "key": document, "at": moment(0), **more}
    return [
        Event(assessor=who, kind="cannot", reason="other", **usual)
        if grade is None
        else Event(assessor=who, kind="grade", grade=grade, **usual)
        for who, grade in zip("abcdef", grades, strict=False)
    ]


def release(
    events: list[Event], policy: ReleasePolicy = "majority", scale: Scale = USUAL, **more: Any
) -> ReleasedJudgements:
    return released(state_of(events), scale, policy, events=events, **more)


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ((2,), dict.fromkeys(POLICIES, (2, "alone"))),
        ((2, 2), dict.fromkeys(POLICIES, (2, "agreed"))),
        ((2, None), dict.fromkeys(POLICIES, (2, "alone"))),
        ((None, None), dict.fromkeys(POLICIES, "can't tell")),
        (
            (0, 3),
            {
                "majority": "opinions differ",
                "highest": (3, "highest"),
                "lowest": (0, "lowest"),
                "median": (0, "median"),
            },
        ),
        (
            (0, 3, 3),
            {"majority": (3, "majority"), "highest": (3, "highest"), "lowest": (0, "lowest"), "median": (3, "median")},
        ),
        ((0, 1, 3), {"majority": "opinions differ", "median": (1, "median")}),
        ((0, 0, 3, 3), {"majority": "opinions differ", "median": (0, "median")}),
        ((0, 3, 3, None), {"majority": (3, "majority")}),
    ],
)
def test_policies(grades: tuple[int | None, ...], expected: dict[ReleasePolicy, tuple[int, str] | str]) -> None:
    if "adjudicated only" not in expected:
        expected = {**expected, "adjudicated only": "opinions differ"}
    for policy, wanted in expected.items():
        made = release(said("d", *grades), policy)
        if isinstance(wanted, str):
            assert [pair.why for pair in made.undecided] == [wanted], policy
            assert not made.decisions
        else:
            assert made.decisions["q1", "d"][:2] == wanted, policy
            assert not made.undecided


def verdict(document: str, **what: Any) -> Event:
    return Event(
        topic="q1", document=document, assessor="z", kind="adjudicate", key=f"v{document}", at=moment(9), **what
    )


def test_a_verdict_goes_before_everything() -> None:
    events = [*said("d1", 0, 0, 0), verdict("d1", grade=3), *said("d2", 1), verdict("d2", reason="language")]
    made = release(events)
    assert made.decisions["q1", "d1"][:2] == (3, "adjudicated")
    assert [pair.why for pair in made.undecided] == ["adjudicated without a grade"]
    assert made.provenance["assessors"][-1] == {"assessor": "z", "grades": 0, "adjudications": 2}  # type: ignore[index]


def test_later_and_repeats_do_not_count() -> None:
    events = [*said("d1", 2), *said("d1", 0, repeat=True, key="r"), *said("d2", 2)]
    events.append(Event(topic="q1", document="d2", assessor="a", kind="later", key="l", at=moment(1)))
    made = release(events, pool={"q1": ["d1", "d2"]})
    assert made.grades == {"q1": {"d1": 2}}
    assert made.undecided == (("q1", "d2", "not judged"),)


def test_the_file_is_read_back_and_known_by_its_digest() -> None:
    events = [*said("d10", 3), *said("d9", 0), *said("d1", 1, topic="q0")]
    made = release(events)
    assert made.content == b"q0 0 d1 1\nq1 0 d10 3\nq1 0 d9 0\n"
    assert made.digest == f"sha256:{hashlib.sha256(made.content).hexdigest()}"
    assert made.digest == release(events[::-1]).digest
    other = release(events, format="csv")
    assert other.content == made.written("csv")
    assert other.content.startswith(b"topic,document,grade")
    assert other.provenance["digest"] == f"sha256:{hashlib.sha256(other.content).hexdigest()}"


def test_ids_that_text_cannot_hold() -> None:
    made = release(said("the first", 1))
    with pytest.raises(DataError, match="cannot be written as trec"):
        made.content  # noqa: B018
    assert "the first" in json.loads(made.written("jsonl")).values()


def test_grades_below_zero_are_told() -> None:
    made = release([*said("d1", -2), *said("d2", 2)], scale=SPAM)
    assert read_qrels({"q1": {"d1": -2, "d2": 2}}).of("q1") == made.grades["q1"]
    assert [str(finding) for finding in made.findings] == [
        "judgements: 1 document graded -2, spam: measures count them as unjudged",
        "judgements: relevant is grade 2 and above: say so to measures, as AP(rel=2)",
    ]
    assert release(said("d2", 2)).findings == ()


def test_a_grade_that_the_scale_lacks_is_an_error() -> None:
    for events in (said("d", 7), [*said("d", 1), verdict("d", grade=7)]):
        with pytest.raises(DataError, match="7 is no grade of the scale"):
            release(events)
    with pytest.raises(
        UsageError, match="a policy is majority, highest, lowest, median or adjudicated only, not 'mean'"
    ):
        release([], "mean")  # type: ignore[arg-type]


RUNS = {"x": {"q1": {f"d{n}": 10.0 - n for n in range(6)}}, "y": {"q1": {f"d{n}": float(n) for n in range(6)}}}


def test_a_sample_has_its_strata_and_is_refused_with_holes() -> None:
    pool = make_pool(RUNS, "stratified", strata=parse_strata("2:1,6:50%"))
    assert pool.sample is not None
    drawn = [document for document, of in pool.sample["q1"].items() if of.drawn]
    events = [event for n, document in enumerate(drawn) for event in said(document, 2 if n else -2)]
    made = release(events, scale=SPAM, sample=pool.sample, pool=pool.documents)
    lines = [line.split() for line in made.content.decode().splitlines()]
    assert {document: int(grade) for _, _, document, _, grade in lines} == {
        document: -1 if not of.drawn else 0 if document == drawn[0] else 2 for document, of in pool.sample["q1"].items()
    }
    qrels = read_qrels(_file(made.content), reading=Reading(judgements="sampled"))
    assert set(qrels.columns) == {"sampled", "stratum"}
    (below,) = [finding for finding in made.findings if finding.code == "negative-grades"]
    assert below.message.endswith("written as 0, since below 0 a sample has what was not drawn")
    pairs = made.provenance["pairs"]
    assert pairs[0]["stratum"] == pool.sample["q1"][drawn[0]].stratum  # type: ignore[index,call-overload]
    assert pairs[0]["inclusion"] == pool.sample["q1"][drawn[0]].chance  # type: ignore[index,call-overload]
    holes = release(events[1:], scale=SPAM, sample=pool.sample)
    assert holes.undecided == (("q1", drawn[0], "not judged"),)
    with pytest.raises(DataError, match="1 document drawn but not judged"):
        holes.content  # noqa: B018
    with pytest.raises(UsageError, match="the judgements of a sample are text with strata"):
        made.written("csv")


def _file(content: bytes) -> Any:
    import io

    return io.StringIO(content.decode())


def test_strata_are_read_as_they_were_drawn() -> None:
    pool = make_pool(RUNS, "stratified", strata=parse_strata("2:1,6:50%"))
    assert read_strata(_file(sample_text(pool).encode())) == pool.sample


def test_provenance_tells_everything_and_is_json() -> None:
    events = [*said("d1", 1, 1, scale=2, guideline=3, origin="terminal"), *said("d2", 0, 3), *said("d3", None)]
    made = release(events, pool={"q1": ["d4"]})
    told: Any = json.loads(json.dumps(made.provenance))
    assert told["schema"] == "cranfield.release/1"
    assert told["digest"] == made.digest
    assert told["grades"] == {"0": 0, "1": 1, "2": 0, "3": 0}
    assert (told["judgements"], told["topics"], told["relevant"], told["events"]) == (1, 1, 1, 5)
    assert told["methods"] == {"agreed": 1}
    assert told["assessors"] == [
        {"assessor": "a", "grades": 1, "adjudications": 0},
        {"assessor": "b", "grades": 1, "adjudications": 0},
    ]
    assert (told["scale_versions"], told["guideline_versions"]) == ([1, 2], [1, 3])
    assert told["origins"] == ["api", "terminal"]
    assert [(pair["document"], pair["why"]) for pair in told["undecided"]] == [
        ("d2", "opinions differ"),
        ("d3", "can't tell"),
        ("d4", "not judged"),
    ]
    assert told["pairs"] == [
        {
            "topic": "q1",
            "document": "d1",
            "grade": 1,
            "method": "agreed",
            "opinions": [{"assessor": "a", "grade": 1}, {"assessor": "b", "grade": 1}],
        }
    ]
    assert Scale.from_json(told["scale"]) == USUAL
    assert "judgements: without a grade, can't tell: 1 pair: q1 d3" in told["findings"]


def test_what_judgements_support() -> None:
    events = [event for n in range(6) for event in said(f"d{n}", n % 3)]
    found = support(release(events), RUNS)
    assert found.description.judgements is not None
    assert found.description.judgements.relevant == 4
    assert found.analysis is not None
    assert len(found.analysis.left_out) == 2
    assert found.analysis.measure == "AP"
    stricter = support(release(events, scale=SPAM), RUNS)
    assert stricter.analysis is not None
    assert (stricter.analysis.measure, stricter.analysis.relevant) == ("AP(rel=2)", 2)
    alone = support(release(events), {"x": RUNS["x"]})
    assert alone.analysis is None
    assert "what leaving out a run would change can't be told" in alone.findings[-1].message
    with pytest.raises(DataError, match="nothing is judged yet"):
        support(release([]))


@given(
    st.lists(st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=1, max_size=5), max_size=6),
    st.sampled_from(POLICIES),
)
def test_every_pair_is_decided_or_named_and_grades_are_those_given(
    given_grades: list[list[int | None]], policy: ReleasePolicy
) -> None:
    events = [event for n, grades in enumerate(given_grades) for event in said(f"d{n}", *grades)]
    made = release(events, policy)
    pairs = {*made.decisions, *((pair.topic, pair.document) for pair in made.undecided)}
    assert len(pairs) == len(made.decisions) + len(made.undecided) == len(given_grades)
    for (_, document), decision in made.decisions.items():
        assert decision.grade in given_grades[int(document[1:])]
