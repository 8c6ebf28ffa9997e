"""Answers from tables, the scores of scales, and what is told about both."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from cranfield.errors import DataError, UsageError
from cranfield.studies import Answers, Scale, find_scale, read_answers, read_scales, score_answers
from cranfield.studies.scales import changed
from cranfield.studies.scoring import cronbach_alpha

SUS = find_scale("sus")
SATISFACTION = find_scale("satisfaction")
LOADS = find_scale("tlx").items


def sus(*answers: object, who: str = "p1", system: str = "A") -> dict[str, object]:
    return {"participant": who, "system": system, **dict(zip(SUS.items, answers, strict=True))}


def read(rows: Sequence[Mapping[str, object]], scale: Scale, **more: dict[str, str]) -> Answers:
    return read_answers(rows, scale, **more)  # type: ignore[arg-type]


def told(answers: Answers) -> dict[str, tuple[str, bool]]:
    return {finding.code: (finding.message, finding.doubtful) for finding in answers.warnings}


@pytest.mark.parametrize(
    ("answers", "score"),
    [
        ([5, 1] * 5, 100.0),
        ([1, 5] * 5, 0.0),
        ([3] * 10, 50.0),
        ([4, 2, 4, 1, 5, 2, 4, 2, 3, 3], (3 + 3 + 3 + 4 + 4 + 3 + 3 + 3 + 2 + 2) * 2.5),
        ([5] * 10, 50.0),
    ],
)
def test_sus_is_what_brooke_made_it(answers: list[int], score: float) -> None:
    assert read([sus(*answers)], SUS).scores == pytest.approx([score])


def test_sus_is_the_sum_of_its_parts_for_any_answers() -> None:
    draw = np.random.default_rng(0)
    given = draw.integers(1, 6, size=(50, 10))
    wanted = 2.5 * ((given[:, ::2] - 1).sum(axis=1) + (5 - given[:, 1::2]).sum(axis=1))
    rows = [sus(*sheet.tolist(), who=f"p{n}") for n, sheet in enumerate(given)]
    assert read(rows, SUS).scores == pytest.approx(wanted)


def tlx(*answers: float, weights: Sequence[int] = (), who: str = "p1") -> dict[str, object]:
    row: dict[str, object] = {"participant": who, "system": "A", **dict(zip(LOADS, answers, strict=True))}
    return row | dict(zip((f"{load}_weight" for load in LOADS), weights, strict=False))


def test_raw_tlx_is_the_mean_of_six() -> None:
    assert read([tlx(10, 20, 30, 40, 50, 60)], find_scale("tlx")).scores == pytest.approx([35.0])


@pytest.mark.parametrize(("low", "high"), [(0, 20), (1, 21)])
def test_tlx_of_other_ranges_is_stretched(low: float, high: float) -> None:
    scale = changed(find_scale("tlx"), low=float(low), high=float(high))
    assert read([tlx(*[low] * 6), tlx(*[high] * 6, who="p2")], scale).scores == pytest.approx([0, 100])
    assert read([tlx(*[low + 5] * 6)], scale).scores == pytest.approx([25])


def test_marks_of_the_paper_form_are_not_taken_for_percent_in_silence() -> None:
    scale = find_scale("tlx")
    marks = read([tlx(16, 1, 11, 5, 13, 21)], scale)
    assert told(marks)["narrow-answers"][0].startswith("no answer to tlx is above 21, of 100: were they marked from 0")
    assert read([tlx(16, 1, 11, 5, 13, 22)], scale).warnings == ()
    assert read([tlx(16, 1, 11, 5, 13, 21)], changed(scale, low=1.0, high=21.0)).warnings == ()


def test_weighted_tlx_counts_choices() -> None:
    scale = find_scale("tlx-weighted")
    row = tlx(80, 0, 60, 40, 70, 20, weights=(5, 0, 4, 3, 2, 1))
    wanted = (80 * 5 + 60 * 4 + 40 * 3 + 70 * 2 + 20) / 15
    assert read([row], scale).scores == pytest.approx([wanted])


@pytest.mark.parametrize("weights", [(5, 0, 4, 3, 2, 2), (6, 0, 4, 2, 2, 1), (5.5, 0, 3.5, 3, 2, 1)])
def test_weights_that_no_choices_give_are_refused(weights: Sequence[int]) -> None:
    with pytest.raises(DataError, match="whole numbers from 0 to 5 that make 15 in all"):
        read([tlx(80, 0, 60, 40, 70, 20, weights=weights)], find_scale("tlx-weighted"))


def test_less_load_is_better() -> None:
    assert [find_scale(name).better for name in ("sus", "tlx", "tlx-weighted", "satisfaction")] == [
        "more",
        "less",
        "less",
        "more",
    ]


TABLE = "participant,system,task,satisfaction\np1,A,t1,4\np1,B,t2,2\np2,A,t2,5\n"


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "long"])
def test_every_form_of_a_table_says_the_same(form: str) -> None:
    rows = [line.split(",") for line in TABLE.splitlines()]
    if form == "csv":
        text = TABLE
    elif form == "tsv":
        text = TABLE.replace(",", "\t")
    elif form == "jsonl":
        text = "".join(json.dumps(dict(zip(rows[0], row, strict=True))) + "\n" for row in rows[1:])
    else:
        text = "participant,system,task,item,answer\n" + "".join(
            f"{a},{b},{c},satisfaction,{d}\n" for a, b, c, d in rows[1:]
        )
    answers = read_answers(io.StringIO(text), SATISFACTION)
    assert answers.participants == ("p1", "p1", "p2")
    assert answers.systems == ("A", "B", "A")
    assert answers.topics == ("t1", "t2", "t2")
    assert answers.scores.tolist() == [4, 2, 5]
    assert answers.warnings == ()


SAME = [
    TABLE.encode("utf-8-sig"),
    TABLE.replace("\n", "\r\n").encode(),
    TABLE.replace("\n", "\r").encode(),
    TABLE.replace(",", ";").encode(),
    TABLE.replace("p1", '"p1"').replace(",4", ',"4"').encode(),
    TABLE.replace(",", ";").replace("system;", '"system";').encode("utf-8-sig"),
    b"\n" + TABLE.encode() + b"\n,,,\n",
    gzip.compress(TABLE.encode(), mtime=0),
    b'{"participant": "p1", "system": "A", "task": "t1", "satisfaction": 4}\r\n\r\n'
    b'{"participant": "p1", "system": "B", "task": "t2", "satisfaction": 2}\r\n'
    b'{"participant": "p2", "system": "A", "task": "t2", "satisfaction": 5}',
]


@pytest.mark.parametrize("data", SAME)
def test_tables_are_read_however_programs_write_them(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_bytes(data)
    answers = read_answers(str(file), SATISFACTION)
    assert (answers.participants, answers.systems, answers.topics) == (
        ("p1", "p1", "p2"), ("A", "B", "A"), ("t1", "t2", "t2"),
    )  # fmt: skip
    assert answers.scores.tolist() == [4, 2, 5]


UNREADABLE = [
    (
        "participant,system,satisfaction\np1,A,4\nJosé,A,3\n".encode("latin-1"),
        ":3: is not UTF-8\n    3 | Jos\\xe9,A,3\n    Convert it, as from Windows by iconv -f WINDOWS-1252 -t UTF-8; "
        "spreadsheets save CSV as UTF-8 too.",
    ),
    (TABLE.encode("utf-16"), ": is UTF-16\n    Convert it: iconv -f UTF-16 -t UTF-8."),
    (b"participant,system,satisfaction\np1,A\0,4\n", ":2: NUL byte\n    2 | p1,A\\x00,4\n    Is this a file of text?"),
    (
        b'[{"participant": "p1", "system": "A", "satisfaction": 4}]',
        ":1: one JSON value, where an object is expected on each line\n    "
        '1 | [{"participant": "p1", "system": "A", "satisfaction": 4}]\n    '
        "jq -c . makes a line of each; jq -c '.[]' of each in a list.",
    ),
    (
        b'participant,system,comment,satisfaction\np1,A,"he said "no"",4\n',
        ':2: not CSV: \',\' expected after \'"\'\n    2 | p1,A,"he said "no"",4\n    Inside quotes, write " as "".',
    ),
    (
        b"participant;system;satisfaction\np1;A;4;5\n",
        ":2: 4 fields where the header has 3\n    2 | p1;A;4;5\n    "
        "Every line has the header's columns; a field with a semicolon in it stands in quotes.",
    ),
    (
        b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0" + 12 * b"\0" + b"\x13\0\0\0[Content_Types].xml",
        ": is a document of an office program\n    Save the sheet as CSV, in UTF-8.",
    ),
    (b"PK\x03\x04\x14\0answers.csv", ": is a zip archive\n    Unpack it first."),
]


@pytest.mark.parametrize(("data", "words"), UNREADABLE)
def test_what_cannot_be_read_is_told_with_its_remedy(data: bytes, words: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_bytes(data)
    with pytest.raises(DataError) as error:
        read_answers(str(file), SATISFACTION)
    assert str(error.value) == f"{file}{words}"


@pytest.mark.parametrize("name", ["SUS_{:02}", "q{}", "Item {}", "sus-{}"])
def test_columns_of_sus_may_be_called_otherwise(name: str) -> None:
    row = {"User ID": "p1", "Condition": "A", **{name.format(n): 3 for n in range(1, 11)}}
    assert read([row], SUS).scores.tolist() == [50.0]


def test_columns_are_named_where_names_do_not_tell() -> None:
    row = {"who": "p1", "what": "A", "happy": 4}
    scale = changed(SATISFACTION, items=("happy",))
    with pytest.raises(DataError, match="no column for the participant; there are who, what, happy"):
        read([row], scale)
    answers = read([row], scale, columns={"participant": "who", "system": "what"})
    assert (answers.participants, answers.systems) == (("p1",), ("A",))


@pytest.mark.parametrize("name", ["rating", "answer", "value", "item", "question"])
def test_an_item_may_be_called_as_columns_of_the_long_form(name: str) -> None:
    answers = read([{"user": "p1", "system": "A", name: 4}], changed(SATISFACTION, items=(name,)))
    assert answers.scores.tolist() == [4]


def test_a_sheet_without_an_answer_is_no_line_of_the_long_form() -> None:
    rows = [{"user": who, "system": "A", "item": item, "answer": 3 if who == "x" else ""}
            for who in "xy" for item in SUS.items]  # fmt: skip
    assert told(read(rows, SUS))["no-answer"][0] == "1 of 2 sheets has no answer to sus, left out"


def test_names_of_items_keep_which_are_turned_round() -> None:
    renamed = changed(SUS, items=tuple(f"x{n}" for n in range(1, 11)))
    assert renamed.reversed == ("x2", "x4", "x6", "x8", "x10")
    with pytest.raises(UsageError, match="scale sus has 10 items, not 2"):
        changed(SUS, items=("a", "b"))


WRONG = [
    ("participant,system,satisfaction\np1,A,6\n", ":2: column satisfaction: answer '6' to satisfaction is not a whole"),
    ("participant,system,satisfaction\np1,A,3.5\n", "answer '3.5' to satisfaction is not a whole number"),
    ("participant,system,satisfaction\np1,A,good\n", "answer 'good' to satisfaction"),
    ("participant,system,satisfaction\np1,A,nan\n", "answer 'nan' to satisfaction"),
    ("participant,system,satisfaction\np1,A,4\np1,A,3\n", ":3: a second answer of p1 about A; the first is in line 2"),
    ("participant,system,satisfaction\np1,,4\n", ":2: no system"),
    ("participant,system,satisfaction\np1,A\n", ":2: 2 fields where the header has 3"),
    ("participant,system,comment\np1,A,x\n", "no column for satisfaction; there are participant"),
    ("participant,user,system,satisfaction\n1,1,A,3\n", "two columns may be the participant: participant and user"),
    ("participant,system,system,satisfaction\n1,1,A,3\n", ":1: two columns are called 'system'"),
    ("participant,system,topic,satisfaction\np1,A,t1,3\np1,B,,3\n", ":3: no topic, but other lines have one"),
    ("participant,system,satisfaction\np1,A,\n", "nobody answered anything of satisfaction"),
    ("participant,system,satisfaction\n", "has no rows"),
    ('participant,system,satisfaction\np1,"A,3\n', ":2: not CSV: unexpected end of data"),
    ('{"participant": 1, "system": "A", "satisfaction": true}\n', "answer 'true' to satisfaction"),
    ("mood\n1\n", "no column for the participant; there are mood"),
    ('{"participant": 1}\n[1]\n', ":2: expected an object on each line"),
    ("participant,system,item,answer\np1,A,satisfaction,4\np1,A,satisfaction,3\n", ":3: a second answer of p1 about"),
    ("participant,system,topic,satisfaction\n1,A,t,3\n1,A,t,3\n", ":3: a second answer of 1 about A on t; the first is "
     "in line 2\n    3 | 1,A,t,3\n    Somebody answers once about a system on a topic: leave out all but one."),
    ("participant,system,item,answer\np1,A,mood,4\n", "no item of satisfaction among those in column item: mood"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_what_is_wrong_is_told_with_its_place(text: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        read_answers(io.StringIO(text), SATISFACTION)
    assert message in str(error.value)


def test_lines_are_counted_through_quotes() -> None:
    text = 'participant,system,comment,satisfaction\np1,A,"two\nlines",3\np2,A,x,9\n'
    with pytest.raises(DataError, match=r":4: column satisfaction") as error:
        read_answers(io.StringIO(text), SATISFACTION)
    assert error.value.text == "p2,A,x,9"


def test_a_sheet_of_sus_that_lacks_an_answer_has_no_score() -> None:
    answers = read([sus(*[3] * 10), sus(*[3] * 4, None, "", *[3] * 4, who="p2")], SUS)
    assert answers.scores.tolist()[0] == 50
    assert np.isnan(answers.scores[1])
    assert told(answers)["missing-answers"] == (
        "2 answers missing on 1 sheet (sus5, sus6): no score for it, left out",
        True,
    )
    assert score_answers(answers).systems[0].sheets == 1


def test_the_mean_of_the_others_may_stand_for_what_is_missing() -> None:
    scale = changed(SUS, missing="mean")
    half = [5, 1, 5, 1, 5, *[None] * 5]
    answers = read([sus(*half), sus(*half[:4], *[None] * 6, who="p2")], scale)
    assert answers.scores[0] == 100
    assert np.isnan(answers.scores[1])
    assert "1 with less than half have no score" in told(answers)["missing-answers"][0]


def test_answers_print_as_their_first_sheets() -> None:
    rows = [{"user": f"p{n}", "system": "A", "topic": "t<1>", "satisfaction": 1 + n % 5} for n in range(12)]
    lines = str(read(rows, SATISFACTION)).splitlines()
    assert lines[:3] == [
        "satisfaction, from 1 to 5, more is better",
        "participant  system  topic  satisfaction",
        "p0           A       t<1>           1.00",
    ]
    assert lines[-1] == "… and 2 more sheets"
    assert "<td>t&lt;1&gt;</td>" in read(rows, SATISFACTION)._repr_html_()
    assert "more sheet" not in str(read(rows[:10], SATISFACTION))


def test_nothing_is_said_of_complete_sheets() -> None:
    assert read([sus(*[3] * 10)], SUS).warnings == ()


def test_columns_and_lines_of_others_are_left_alone_and_told() -> None:
    rows: list[dict[str, object]] = [
        {"user": "p1", "system": "A", "satisfaction": 3, "mood": "fine"},
        {"user": "p1", "system": "A", "mood": "x"},
    ]
    findings = told(read(rows, SATISFACTION))
    assert findings["other-columns"] == ("not of satisfaction, left alone: mood", False)
    assert findings["no-answer"] == ("1 of 2 lines has no answer to satisfaction, left out", False)


def test_scales_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "scales.toml"
    file.write_text(
        '[trust]\nitems = ["a", "b"]\nlow = 1\nhigh = 7\nreversed = ["b"]\nscore_low = 0\nscore_high = 10\n'
    )
    scale = find_scale("trust", read_scales(str(file)))
    answers = read(
        [{"user": "p1", "system": "A", "a": 7, "b": 1}, {"user": "p2", "system": "A", "a": 4, "b": 4}], scale
    )
    assert answers.scores.tolist() == [10.0, 5.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no scale in it"),
        ("trust = 3", "'trust' is no table"),
        ("[trust]\nlow = 1", "scale trust has no items"),
        ('[trust]\nitems = ["a"]\nlo = 1', "scale trust: 'lo' is not known"),
        ('[trust]\nitems = ["a"]\nlow = "x"', "'low' must be a number, not 'x'"),
        ('[trust]\nitems = ["a"]\nwhole = 1', "'whole' must be true or false, not 1"),
        ('[trust]\nitems = "a"', "'items' must be a list of texts"),
        ('[trust]\nitems = ["a"]\nhigh = inf', "scale trust: high is a finite number, not inf"),
        ('[trust]\nitems = ["a"]\nscore_low = nan', "scale trust: score_low is a finite number, not nan"),
        ('[trust]\nitems = ["a"]\nlow = 5\nhigh = 5', "the lowest answer, 5, must be below 5"),
        ('[trust]\nitems = ["a"]\nreversed = ["b"]', "'b' is reversed but is not among its items"),
        ('[trust]\nitems = ["a"]\nbetter = "higher"', "better is more or less, not 'higher'"),
        ('[trust]\nitems = ["a", "A"]', "needs items, each once, not a, A"),
        ('[trust]\nitems = ["a"]\nweights = ["b", "c"]', "2 weights for 1 items"),
        ('[trust]\nitems = ["a"]\nscore_low = 9', "the lowest score, 9, must be below 5"),
    ],
)
def test_wrong_scales_are_told(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "scales.toml"
    file.write_text(text)
    with pytest.raises(DataError) as error:
        read_scales(str(file))
    assert message in str(error.value)
    assert str(error.value).startswith(str(file))


def test_means_are_over_participants_not_over_sheets() -> None:
    given = {"p1": (5, 5, 5, 5), "p2": (1,), "p3": (3,)}
    rows = [
        {"user": who, "system": "A", "topic": f"t{n}", "satisfaction": x}
        for who, answers in given.items()
        for n, x in enumerate(answers)
    ]
    scores = score_answers(read(rows, SATISFACTION))
    (score,) = scores.systems
    assert (score.participants, score.sheets, score.mean, score.sd, score.median) == (3, 6, 3.0, 2.0, 3.0)
    assert (score.low, score.high) == pytest.approx((3 - 4.302653 * 2 / np.sqrt(3), 3 + 4.302653 * 2 / np.sqrt(3)))
    assert "who answered several times about a system counts once, with the mean" in str(scores)
    assert [(each.participant, each.sheets, each.mean) for each in scores.participants] == [
        ("p1", 4, 5.0),
        ("p2", 1, 1.0),
        ("p3", 1, 3.0),
    ]
    assert score_answers(read(rows, SATISFACTION), level=0.5).systems[0].high < score.high


def test_intervals_beyond_the_scale_are_told_with_both_its_ends() -> None:
    rows = [{"user": n, "system": s, "satisfaction": x} for s, of in (("A", (4, 5)), ("B", (2, 4)), ("C", (3, 3)))
            for n, x in enumerate(of)]  # fmt: skip
    (doubt,) = [w.message for w in score_answers(read(rows, SATISFACTION)).warnings if w.code == "interval-beyond"]
    assert doubt.startswith("the intervals of A, B go beyond the scale, 1 to 5: ")


def test_one_participant_has_no_interval() -> None:
    scores = score_answers(read([{"user": "p1", "system": "A", "satisfaction": 3}], SATISFACTION))
    assert np.isnan([scores.systems[0].low, scores.systems[0].sd]).all()
    assert "fewer than two participants have a score for A: no 95% interval" in str(scores)


def test_alpha_is_one_for_the_same_item_twice_and_undefined_for_one() -> None:
    values = np.array([[1.0, 1], [3, 3], [4, 4]])
    assert cronbach_alpha(values) == pytest.approx(1)
    assert np.isnan(cronbach_alpha(values[:, :1]))
    assert np.isnan(cronbach_alpha(np.ones((3, 2))))
    # k r / (1 + (k - 1) r) for items of the same variance (Spearman and Brown)
    both = np.random.default_rng(1).normal(size=(40, 2))
    both = (both - both.mean(axis=0)) / both.std(axis=0)
    r = float(np.corrcoef(both.T)[0, 1])
    assert cronbach_alpha(both) == pytest.approx(2 * r / (1 + r))


def test_sums_that_vary_by_rounding_alone_have_no_alpha() -> None:
    first = np.random.default_rng(0).random(30)
    assert np.isnan(cronbach_alpha(np.array([first, 0.7 - first]).T))
    assert cronbach_alpha(np.array([first, 0.7 - first * 0.999]).T) < -1000


def test_what_systems_differ_by_is_no_agreement_of_items() -> None:
    draw = np.random.default_rng(0)
    scale = Scale(name="load", items=tuple("abcd"), low=0, high=100)
    rows = [
        {"user": n, "system": s, **{item: float(draw.normal(mean, 5)) for item in "abcd"}}
        for s, mean in (("A", 60), ("B", 30))
        for n in range(30)
    ]
    scores = score_answers(read(rows, scale))
    assert scores.alpha < 0.4  # 0.98 with the difference of systems in it
    assert [w.code for w in scores.warnings] == ["weak-scale"]
    assert f"of all sheets, within systems, it is {scores.alpha:.2f}" in str(scores)
    alone = score_answers(read(rows[:30], scale))
    assert alone.alpha == pytest.approx(alone.systems[0].alpha)


def test_scores_that_are_all_the_same_are_told() -> None:
    """Whatever is made of them: their spread is 0, and they have neither p nor coefficient."""
    same = [sus(*[4] * 10, who=f"p{n}", system=system) for system in "AB" for n in range(6)]
    scores = score_answers(read(same, SUS))
    assert [finding.message for finding in scores.warnings] == [
        "all 12 scores of sus are 50: they tell nothing apart",
        "no Cronbach's alpha: within systems the sums of answers do not vary from sheet to sheet",
    ]
    assert "same-scores" not in told(read([*same, sus(*[5] * 9, 4, who="x")], SUS))
    assert "same-scores" not in told(read(same[:1], SUS))


def test_alpha_is_of_sheets_without_a_gap() -> None:
    scale = changed(SUS, missing="mean")
    rows = [sus(*[1 + (n + k) % 5 for k in range(9)], 3 if n < 2 else None, who=f"p{n}") for n in range(12)]
    messages = [finding.message for finding in score_answers(read(rows, scale)).warnings]
    assert "Cronbach's alpha is that of 2 whole sheets: too few to say whether items go together" in messages


def test_a_decimal_comma_is_no_decimal_point() -> None:
    table = "participant;system;" + ";".join(LOADS) + "\np1;A;10;20;30,5;40;50;60\n"
    with pytest.raises(DataError) as error:
        read_answers(io.StringIO(table), find_scale("tlx"))
    assert "answer '30,5' to temporal is not a number from 0 to 100" in str(error.value)
    assert "; write a decimal comma as a point; if answers" in str(error.value)
    with pytest.raises(DataError) as error:
        read_answers(io.StringIO(table.replace("30,5", "300")), find_scale("tlx"))
    assert "decimal comma" not in str(error.value)


def test_items_that_contradict_each_other_are_told() -> None:
    scale = Scale(name="trust", items=("a", "b"))
    rows = [{"user": n, "system": "A", "a": 1 + n % 5, "b": 5 - n % 5 - (n == 1)} for n in range(1, 12)]
    (doubt,) = [w for w in score_answers(read(rows, scale)).warnings if w.code == "weak-scale"]
    assert doubt.message.endswith("is one of them reversed, and not said to be?")
    turned = changed(scale, reversed=("b",))
    assert not [w for w in score_answers(read(rows, turned)).warnings if w.code == "weak-scale"]


def test_names_of_scales_are_told() -> None:
    with pytest.raises(UsageError, match="there is no scale 'nps', but sus, tlx, tlx-weighted or satisfaction"):
        find_scale("nps")
