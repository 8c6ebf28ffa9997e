"""Documents and topics: every format and dialect is read as it is meant, and what is odd is said."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import sys
import tarfile
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from cranfield import DataError, UsageError, describe, evaluate, read_run
from cranfield.formats.reading import Reading
from cranfield.texts import read_documents, read_topics
from cranfield.texts.collection import Collection, read_collection
from cranfield.texts.content import kind_of
from cranfield.texts.texts import Documents, Topics
from places import COLLECTION, ROOT


def documents(text: str | bytes, format: str | None = None) -> Documents:
    return read_documents(
        io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text), reading=Reading(format=format)
    )


def topics(text: str, format: str | None = None) -> Topics:
    return read_topics(io.StringIO(text), reading=Reading(format=format))


def only_row(texts: Documents | Topics) -> dict[str, str]:
    ((id, fields),) = texts.rows()
    return {"id": id, **{name: text for name, text in fields.items() if text}}


def codes(texts: Any) -> list[str]:
    return [code for code, _ in texts.notes]


# TREC documents

DIALECTS = {
    "Financial Times": (
        "<DOC>\n<DOCNO>FT911-1</DOCNO>\n<PROFILE>_AN-1</PROFILE>\n<DATE>910514\n</DATE>\n<HEADLINE>\nFT 14 MAY 91 / "
        "Ducks\n</HEADLINE>\n<TEXT>\nThey swim.\n</TEXT>\n<PUB>The Financial Times\n</PUB>\n</DOC>\n",
        {"id": "FT911-1", "profile": "_AN-1", "date": "910514", "title": "FT 14 MAY 91 / Ducks", "text": "They swim.",
         "pub": "The Financial Times"},
    ),
    "FBIS": (
        '<DOC>\n<DOCNO> FBIS3-1 </DOCNO>\n<HT>  "cr1" </HT>\n<HEADER>\n<AU> FBIS-EEU </AU>\n<H3> <TI>  Ducks </TI>'
        "</H3>\n</HEADER>\n<TEXT>\n<F P=104> Latvia </F>\nThey swim.\n</TEXT>\n</DOC>\n",
        {"id": "FBIS3-1", "ht": '"cr1"', "au": "FBIS-EEU", "title": "Ducks", "text": "Latvia  \nThey swim."},
    ),
    "LA Times": (
        "<DOC>\n<DOCNO> LA010189-0001 </DOCNO>\n<DOCID> 1 </DOCID>\n<DATE>\n<P>\nJanuary 1, 1989\n</P>\n</DATE>\n"
        "<HEADLINE>\n<P>\nDUCKS\n</P>\n</HEADLINE>\n<TEXT>\n<P>\nThey swim.\n</P>\n<P>\nThey fly.\n</P>\n</TEXT>\n"
        "</DOC>\n",
        {"id": "LA010189-0001", "date": "January 1, 1989", "title": "DUCKS", "text": "They swim.\n \n \nThey fly."},
    ),
    "Wall Street Journal, with a lead paragraph": (
        "<DOC>\n<DOCNO> WSJ870324-0001 </DOCNO>\n<HL> Ducks </HL>\n<DD> 03/24/87</DD>\n<LP>\nThey swim.\n</LP>\n"
        "<TEXT>\nThey fly.\n</TEXT>\n</DOC>\n",
        {"id": "WSJ870324-0001", "title": "Ducks", "dd": "03/24/87", "text": "They swim.\n \nThey fly."},
    ),
    "Associated Press, in lower case, two headings and two texts": (
        "<doc>\n<docno> AP880212-0001 </docno>\n<head>Ducks</head>\n<head>Geese</head>\n<text>\nThey swim.\n</text>\n"
        "<text>They fly.</text></doc>\n",
        {"id": "AP880212-0001", "title": "Ducks \nGeese", "text": "They swim.\n \nThey fly."},
    ),
    "Federal Register, with the title in the text": (
        "<DOC>\n<DOCNO> FR940104-0-00001 </DOCNO>\n<PARENT> FR940104 </PARENT>\n<TEXT>\n<!-- PJG -->\n<USDEPT>PONDS"
        "</USDEPT>\n<DOCTITLE>Ducks&blank;</DOCTITLE>\nThey swim.\n</TEXT>\n</DOC>\n",
        {"id": "FR940104-0-00001", "parent": "FR940104", "title": "Ducks", "text": "PONDS They swim."},
    ),
    "an id in the tag": (
        '<DOC id="AFP_1" type="story">\n<HEADLINE>\nDucks\n</HEADLINE>\n<TEXT>\nThey swim.\n</TEXT>\n</DOC>',
        {"id": "AFP_1", "title": "Ducks", "text": "They swim."},
    ),
    "a web page": (
        "<DOC>\n<DOCNO>WTX001-B01-1</DOCNO>\n<DOCHDR>\nhttp://ducks 1997\n</DOCHDR>\n<html><title>Ducks</title>\n"
        "<script>x<y</script><!-- no --><body><h1>They</h1> swim.<br/></body></html>\n</DOC>",
        {"id": "WTX001-B01-1", "title": "Ducks", "text": "They   swim."},
    ),
    "a web page with what others call headings and text": (
        "<DOC>\n<DOCNO>G00-1</DOCNO>\n<DOCHDR>\nhttp://ducks\n</DOCHDR>\n<!DOCTYPE HTML PUBLIC '-//W3C//DTD'>\n<html>"
        "<head><meta name=x><title>Ducks</title></head><body><h1>They</h1> <text>swim.</text></body></html>\n</DOC>",
        {"id": "G00-1", "title": "Ducks", "text": "They swim."},
    ),
    "XML with CDATA": (
        "<?xml version='1.0'?>\n<DOC><DOCNO>1</DOCNO><TEXT><![CDATA[ 1 <b> 2 ]]></TEXT></DOC>",
        {"id": "1", "text": "1 <b> 2"},
    ),
    "no TEXT at all": ("<DOC><DOCNO>1</DOCNO>They swim.</DOC>", {"id": "1", "text": "They swim."}),
    "entities": (
        "<DOC><DOCNO>1</DOCNO><TEXT>AT&T &amp; R&D, a &lt;b&gt; caf&eacute; &#233; &blank;3&hyph;4</TEXT></DOC>",
        {"id": "1", "text": "AT&T & R&D, a <b> café é  3-4"},
    ),
    "less-than signs that are no tags": (
        "<DOC><DOCNO>1</DOCNO><TEXT>1 < 2 and 3 <4> 5</TEXT></DOC>",
        {"id": "1", "text": "1 < 2 and 3 <4> 5"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), DIALECTS.values(), ids=DIALECTS)
def test_dialects_of_trec_documents(text: str, expected: dict[str, str]) -> None:
    def words(fields: dict[str, str]) -> dict[str, str]:
        return {name: " ".join(value.split()) for name, value in fields.items()}

    assert words(only_row(documents(text))) == words(expected)
    assert words(only_row(documents(text.replace("\n", "\r\n")))) == words(expected)


MALFORMED = {
    "a heading that is not closed": (
        "<DOC><DOCNO>1</DOCNO>\n<HL>Ducks\n<TEXT>They swim.</TEXT></DOC>",
        {"id": "1", "title": "Ducks", "text": "They swim."},
        ["unclosed-tag"],
    ),
    "a heading that is not closed, before another field": (
        "<DOC><DOCNO>1</DOCNO><HL>Ducks<DATE>1989</DATE><TEXT>They swim.</TEXT></DOC>",
        {"id": "1", "title": "Ducks", "date": "1989", "text": "They swim."},
        ["unclosed-tag"],
    ),
    "the first of two headings is not closed": (
        "<DOC><DOCNO>1</DOCNO><HEAD>Ducks<TEXT>They swim.</TEXT><HEAD>Geese</HEAD></DOC>",
        {"id": "1", "title": "Ducks\nGeese", "text": "They swim."},
        ["unclosed-tag"],
    ),
    "an id that is not closed": (
        "<DOC><DOCNO>1\n<TEXT>They swim.</TEXT></DOC>",
        {"id": "1", "text": "They swim."},
        ["unclosed-tag"],
    ),
    "a text that is not closed": (
        "<DOC><DOCNO>1</DOCNO><TEXT>They <P>swim.</DOC>",
        {"id": "1", "text": "They  swim."},
        ["unclosed-tag"],
    ),
    "a text in a text": (
        "<DOC><DOCNO>1</DOCNO><TEXT>They <TEXT>swim</TEXT> and fly.</TEXT></DOC>",
        {"id": "1", "text": "They  swim\nand fly."},
        ["loose-text"],
    ),
    "words outside any field": (
        "<DOC><DOCNO>1</DOCNO>Ducks<TEXT>swim</TEXT></DOC>",
        {"id": "1", "text": "swim\nDucks"},
        ["loose-text"],
    ),
    "the title of a web page is not closed": (
        "<DOC><DOCNO>1</DOCNO><HTML><HEAD><TITLE>Ducks</HEAD><BODY>They swim.</BODY></HTML></DOC>",
        {"id": "1", "title": "Ducks", "text": "They swim."},
        ["unclosed-tag"],
    ),
    "a tag <DOC> in a text": (
        "<DOC><DOCNO>1</DOCNO><TEXT>They <DOC> swim.</TEXT></DOC>",
        {"id": "1", "text": "They   swim."},
        [],
    ),
    "a document that is not closed": (
        "<DOC><DOCNO>1</DOCNO><TEXT>They swim.</TEXT>",
        {"id": "1", "text": "They swim."},
        ["unclosed-doc"],
    ),
    "words between documents": (
        "Read me\n<DOC><DOCNO>1</DOCNO><TEXT>They swim.</TEXT></DOC>\nThe end",
        {"id": "1", "text": "They swim."},
        ["outside"],
    ),
    "an entity that nobody knows": (
        "<DOC><DOCNO>1</DOCNO><TEXT>a &nosuch; b</TEXT></DOC>",
        {"id": "1", "text": "a &nosuch; b"},
        ["unknown-entities"],
    ),
}


@pytest.mark.parametrize(("text", "expected", "notes"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_markup_is_read_and_counted(text: str, expected: dict[str, str], notes: list[str]) -> None:
    found = documents(text)
    assert only_row(found) == expected
    assert codes(found) == notes


def test_documents_that_run_into_each_other_are_told_apart() -> None:
    found = documents("<DOC><DOCNO>1</DOCNO><TEXT>a</TEXT>\n<DOC><DOCNO>2</DOCNO><TEXT>b</TEXT></DOC>")
    assert (found.ids, found.fields["text"]) == (("1", "2"), ["a", "b"])
    assert found.notes == (
        ("unclosed-doc", "1 document without </DOC>: ended where the next begins, or the file does"),
    )


def test_counts_of_documents_without_words() -> None:
    found = documents("<DOC><DOCNO>1</DOCNO><TEXT> </TEXT></DOC><DOC><DOCNO>2</DOCNO><TEXT>b</TEXT></DOC>")
    assert found.notes == (("empty-documents", "1 document without a word"),)


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path: Path) -> None:
    (tmp_path / "ap").mkdir()
    for name, id in (("wsj1", "4"), ("ap/b.gz", "3"), ("ap/a.bz2", "2")):
        content = f"<DOC><DOCNO>{id}</DOCNO><TEXT>text {id}</TEXT></DOC>".encode()
        suffix = Path(name).suffix
        packed = gzip.compress(content) if suffix == ".gz" else bz2.compress(content) if suffix == ".bz2" else content
        (tmp_path / name).write_bytes(packed)
    (tmp_path / "readme").write_text("What is here.")
    found = read_documents(tmp_path)
    assert found.ids == ("2", "3", "4")
    assert found.notes[-1] == ("left-out", "1 file without documents, left out: readme")
    (tmp_path / "again").write_text("<DOC><DOCNO>4</DOCNO></DOC>")
    with pytest.raises(DataError, match=r"wsj1:1: document '4' comes a second time\n    First on line 1 of .*again\."):
        read_documents(tmp_path)


def test_what_is_odd_is_counted_over_all_files(tmp_path: Path) -> None:
    for id in "123":
        (tmp_path / id).write_bytes(f"<DOC><DOCNO>{id}</DOCNO><TEXT>\xe9 &nosuch; &nosuch;</TEXT>".encode("latin-1"))
    assert read_documents(tmp_path).notes == (
        ("latin-1", f"3 files not in UTF-8, read as Latin-1: {tmp_path / '1'}, line 1"),
        ("unclosed-doc", "3 documents without </DOC>: ended where the next begins, or the file does"),
        ("unknown-entities", "6 places with an unknown entity, left as it is: &nosuch;"),
    )


def test_latin_1_is_read_with_a_note_and_its_ids_are_those_of_judgements() -> None:
    text = "<DOC>\n<DOCNO>d\xe9</DOCNO><TEXT>caf\xe9</TEXT></DOC>"
    found = documents(text.encode("latin-1"))
    assert found.fields["text"] == ["café"]
    assert found.notes == (("latin-1", "1 file not in UTF-8, read as Latin-1: open file, line 2"),)
    assert found.ids == (b"d\xe9".decode("utf-8", "surrogateescape"),)  # as read_qrels has it
    assert documents(text.encode()).ids == ("dé",)


# Topics

CLASSIC = """<top>
<num> Number: 301
<title> International Organized Crime

<desc> Description:
Identify organizations that participate in international
criminal activity.

<narr> Narrative:
A relevant document must as a minimum identify the organization.
</top>

<top>
<num> Number: 302
<title> Poliomyelitis and Post-Polio

<desc> Description:
Is the disease under control?

<narr> Narrative:
Yes or no.
</top>
"""


def test_classic_topics() -> None:
    found = topics(CLASSIC)
    assert found.ids == ("301", "302")
    assert found.queries() == ["International Organized Crime", "Poliomyelitis and Post-Polio"]
    assert found.queries("description")[1] == "Is the disease under control?"
    assert found.fields["narrative"][1] == "Yes or no."
    assert found.notes == ()


TOPIC_DIALECTS = {
    "closed": "<top><num>1</num><title>ducks</title><desc>How do they swim?</desc><narr>Not geese.</narr></top>",
    "closed, with labels": "<top><num> Number: 1 </num>\n<title> Topic: ducks </title>\n<desc> Description:\n"
    "How do they swim?</desc><narr>Narrative: Not geese.</narr></top>",
    "upper case, never closed": "<TOP>\n<NUM>Number: 1\n<TITLE>ducks\n<DESC>Description:\nHow do they swim?\n"
    "<NARR>Not geese.",
    "web track": '<?xml version="1.0"?>\n<topics>\n<topic number="1" type="faceted">\n<query>ducks</query>\n'
    "<description>How do they swim?</description>\n<narrative>Not geese.</narrative></topic></topics>",
    "CLEF": "<top lang='en'><num>1</num><EN-title>ducks</EN-title><EN-desc>How do they swim?</EN-desc>"
    "<EN-narr>Not geese.</EN-narr></top>",
    "CDATA": '<topic id="1"><title><![CDATA[ducks]]></title><question>How do they swim?</question><narrative>Not geese.'
    "</narrative></topic>",
    "JSON": '{"qid": "1", "query": "ducks", "description": "How do they swim?", "narrative": "Not geese."}',
    "CSV": 'topic,title,desc,narr\n1,ducks,"How do they swim?",Not geese.\n',
}  # fmt: skip


@pytest.mark.parametrize("text", TOPIC_DIALECTS.values(), ids=TOPIC_DIALECTS)
def test_dialects_of_topics(text: str) -> None:
    row = only_row(topics(text))
    wanted = {"id": "1", "title": "ducks", "description": "How do they swim?", "narrative": "Not geese."}
    assert wanted.items() <= row.items()
    assert set(row) - set(wanted) <= {"type", "lang"}


def test_topics_of_the_first_years_have_more_fields() -> None:
    text = (
        "<top>\n<head> Tipster\n<num> Number:  051\n<dom> Domain: Birds\n<title> Topic:  Ducks\n<desc> Description:\n"
        "They swim\n<con> Concept(s):\n1. ducks\n<fac> Factor(s):\n<nat> Nationality: U.S.\n</fac>\n</top>"
    )
    row = only_row(topics(text))
    assert (row["id"], row["domain"], row["title"], row["concepts"]) == ("051", "Birds", "Ducks", "1. ducks")


def test_each_language_is_a_field_of_its_own() -> None:
    for text in (
        "<top><num>C1</num><DE-title>Enten</DE-title><EN-title>ducks</EN-title><DE-desc>a</DE-desc></top>",
        "<top>\n<num> Number: C1\n<DE-title>\nEnten\n<EN-title> ducks\n<DE-desc> Description:\na\n</top>",
        "<topic><num>C1</num><title lang='de'>Enten</title><title lang='en'>ducks</title>"
        "<desc xml:lang='de'>a</desc></topic>",
    ):
        found = topics(text)
        assert only_row(found) == {"id": "C1", "title": "Enten", "en-title": "ducks", "description": "a"}
        told = "1 topic in several languages, read in the first (de); the others are fields such as en-title"
        assert found.notes == (("languages", told),)
    one = topics("<top><num>C1<E-title>ducks<E-desc> Description: a</top>")
    assert (only_row(one), one.notes) == ({"id": "C1", "title": "ducks", "description": "a"}, ())


def test_a_topic_may_be_nothing_but_words() -> None:
    found = topics('<topics task="trials">\n<topic number="1">\nA man with ducks\n</topic></topics>')
    assert (only_row(found), found.notes) == ({"id": "1", "title": "A man with ducks"}, ())
    found = topics("<top><num>1</num> lost <title>ducks</title> words</top>")
    assert (only_row(found), codes(found)) == ({"id": "1", "title": "ducks"}, ["loose-text"])


def test_a_number_ends_where_any_tag_begins() -> None:
    assert only_row(topics("<top>\n<num> Number: 1\n<origin> web\n<title> ducks\n</top>")) == {
        "id": "1",
        "origin": "web",
        "title": "ducks",
    }


def test_the_narrative_is_never_a_query_unless_asked() -> None:
    found = topics("<top><num>1<narr>Only this.</top><top><num>2<title>ducks<narr>That.</top>")
    assert found.queries() == ["", "ducks"]
    assert found.text() == ["", "ducks"]
    assert found.queries("title", "narrative") == ["Only this.", "ducks That."]
    assert codes(found) == ["empty-topics"]


# SMART

SMART = """.I 1
.T
experimental ducks
.A
brown,m.
.B
j. ducks 1958
.W
they swim .
  they fly .
.I 2
.W
a
.W
b
"""


def test_smart_documents() -> None:
    found = documents(SMART)
    assert found.ids == ("1", "2")
    assert found.fields == {
        "title": ["experimental ducks", ""],
        "author": ["brown,m.", ""],
        "bibliography": ["j. ducks 1958", ""],
        "text": ["they swim .\n  they fly .", "a\nb"],
    }
    assert found.notes == (("repeated-fields", "1 field repeated in a record: joined"),)


def test_smart_queries_with_and_without_titles() -> None:
    assert topics(".I 001\n.W\nducks\n").fields == {"title": ["ducks"]}
    assert topics(".I 1\n.T\nducks\n.W\nhow do\nthey swim\n").queries("description") == ["how do\nthey swim"]


def test_positions_and_numbers_as_ids() -> None:
    text = ".I 001\n.W\na\n.I 004\n.W\nb\n"
    for ids, expected in (("given", ("001", "004")), ("position", ("1", "2")), ("number", ("1", "4"))):
        assert read_topics(io.StringIO(text), ids=ids).ids == expected  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="ids are given, position, number"):
        read_topics(io.StringIO(text), ids="rank")  # type: ignore[arg-type]


# JSON, tables, memory


def test_beir_with_metadata() -> None:
    found = documents(
        '{"_id": "d1", "title": "", "text": "They swim.", "metadata": {"url": "u", "year": 1958, "text": "x"}}\n\n'
    )
    assert only_row(found) == {"id": "d1", "text": "They swim.", "url": "u", "year": "1958", "metadata.text": "x"}
    assert topics('{"_id": 7, "text": "ducks", "metadata": {}}').queries() == ["ducks"]


def test_metadata_of_beir_are_never_the_query() -> None:
    metadata = {"query": "duck home", "title": "Ducks", "narrative": "Wild ones."}
    found = topics(json.dumps({"_id": "1", "text": "where do ducks live", "metadata": metadata}))
    more = {"query": "duck home", "metadata.title": "Ducks", "narrative": "Wild ones."}
    assert only_row(found) == {"id": "1", "title": "where do ducks live", **more}
    assert read_topics([{"query_id": "1", "query": "duck home", "text": "where do ducks live"}]).queries() == [
        "where do ducks live"  # as ir_datasets has them
    ]


def test_msmarco_passages_documents_and_queries() -> None:
    assert only_row(documents('0\tThe "presence" of ducks\n')) == {"id": "0", "text": 'The "presence" of ducks'}
    long_form = documents("D1\thttp://d\tDucks\tThey swim.\nD2\thttp://e\tGeese\tThey fly.\n")
    assert long_form.fields == {
        "url": ["http://d", "http://e"],
        "title": ["Ducks", "Geese"],
        "text": ["They swim.", "They fly."],
    }
    assert topics("1048585\twhat is a duck\n").queries() == ["what is a duck"]


def test_csv_with_quotes_and_lines_in_a_field() -> None:
    found = documents('docno,title,body\n1,"a ""b""","x,\n y"\r\n\n2,,z\n')
    assert found.fields == {"title": ['a "b"', ""], "text": ["x,\n y", "z"]}


def test_a_field_longer_than_csv_allows_by_default() -> None:
    assert len(documents("id,text\n1," + "x" * 200_000).fields["text"][0]) == 200_000


class Record(NamedTuple):
    doc_id: str
    title: str
    text: str


def test_memory() -> None:
    import pandas
    import polars

    expected = {"title": ["Ducks", ""], "text": ["They swim.", "They fly."]}
    columns = {"docno": ["1", "2"], **expected}
    for source in (
        {"1": {"title": "Ducks", "text": "They swim."}, "2": {"text": "They fly."}},
        [Record("1", "Ducks", "They swim."), Record("2", "", "They fly.")],
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
    ):
        found = read_documents(source)
        assert (found.ids, found.fields) == (("1", "2"), expected)
    assert read_topics({1: "ducks"}).rows().__next__() == ("1", {"title": "ducks"})
    with pytest.raises(TypeError, match="expected a path"):
        read_documents(7)  # type: ignore[arg-type]


# Errors

BAD = {
    "no DOCNO": ("<DOC>\n<TEXT>a</TEXT></DOC>", ":1: a document without <DOCNO>"),
    "the same document twice": (
        "<DOC><DOCNO>1</DOCNO></DOC>\n<DOC><DOCNO>1</DOCNO></DOC>",
        ":2: document '1' comes a second time\n    First on line 1.",
    ),
    "the same line twice": ("1\ta\n2\tb\n1\tc\n", ":3: document '1' comes a second time\n    First on line 1."),
    "a record without an id": (".I 1\n.W\na\n.I\n.W\nb\n", ":4: a record without an id"),
    "SMART text outside fields": (".I 1\nducks\n.W\nb\n", ":2: text before the first field\n    2 | ducks"),
    "not JSON": ('{"id": 1, "text": "a"}\n{"id": 2, "text"', ":2: not JSON"),
    "one JSON value": ('[\n{"id": 1, "text": "a"}\n]', ":1: one JSON value, where an object is expected on each line"),
    "a list of objects": ('[{"id": 1, "text": "a"}]', "one JSON value, where an object is expected on each line"),
    "not an object": ('{"id": 1, "text": "a"}\n[1]', ":2: expected an object"),
    "an id that is a list": ('{"id": [1], "text": "a"}', ":1: the id [1] is neither a string nor an integer"),
    "a key twice": ('{"id": 1, "text": "a", "text": "b"}', "key 'text' appears twice"),
    "no text": ('{"id": 1, "text": "a"}\n{"id": 2, "words": "b"}', ":2: no columns for an id and a title or text"),
    "a tab in a text": ("1\ta\n2\tb\tc\n", ":2: 3 fields where 2 are expected (id, text)\n    2 | 2\tb\tc"),
    "an open quote": ('id,text\n1,a\n2,"b\n', ":3: not CSV"),
    "an empty id": ("id,text\n,a\n", ":2: empty id"),
    "nothing known": ("hello\n", ":1: is in no known format of documents\n    1 | hello"),
    "empty": ("", "is empty"),
    "only a header": ("id,text\n", "has no document"),
    "NUL": ("<DOC><DOCNO>1</DOCNO>\n<TEXT>a\0b</TEXT></DOC>", ":2: NUL byte at offset 29"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD)
def test_bad_documents_are_named_with_file_and_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / ("docs.json" if text.startswith("[") else "docs")
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_documents(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_other_faults(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a topic without a number"):
        topics("<top><title>ducks</top>")
    with pytest.raises(UsageError, match="unknown format of topics 'xml'"):
        topics(CLASSIC, format="xml")
    with pytest.raises(DataError, match="no such file"):
        read_topics(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"compress \(\.Z\)"):
        documents(b"\x1f\x9d\x90")
    with pytest.raises(DataError, match="has no files"):
        read_documents(tmp_path)


def test_files_packed_in_other_ways_are_named(tmp_path: Path) -> None:
    (tmp_path / "docs.sgml").write_text("<DOC><DOCNO>1</DOCNO></DOC>")
    with tarfile.open(tmp_path / "docs.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "docs.sgml", "docs.sgml")
    for source in (tmp_path / "docs.tar.gz", tmp_path):
        with pytest.raises(DataError, match=r"docs\.tar\.gz: is a tar archive\n    Unpack it first: tar -xf does\."):
            read_documents(source)
    with pytest.raises(DataError, match="is a tar archive"):
        describe(tmp_path / "docs.tar.gz")
    (tmp_path / "docs.tar.gz").write_bytes(b"\x1f\x9d\x90" * 99)
    with pytest.raises(DataError, match=r"compress \(\.Z\)"):
        read_documents(tmp_path)


# Kinds of files

KINDS = [
    ("1 Q0 d1 1 9.5 tag\n", "x", "run"),
    ("1 0 d1 1\n", "x", "qrels"),
    ("1\t0\td1\t1\n", "qrels.dev.tsv", "qrels"),
    ("query-id\tcorpus-id\tscore\nq\td\t1\n", "test.tsv", "qrels"),
    ("topic,document,score\nq,d,1\n", "x.csv", None),
    ("topic,document,score\nq,d,1\n", "bm25.run.csv", "run"),
    ("topic,document,rank,score\nq,d,1,2\n", "x.csv", "run"),
    ('{"q": {"d": 0.5}}', "x.json", "run"),
    ('{"q": {"d": 1}}', "x.json", None),
    ('{"q": {"d": 1}}', "my.qrels.json", "qrels"),
    ('{"topic": "q", "document": "d", "grade": 1}', "x", "qrels"),
    ('{"_id": "q", "text": "d"}', "queries.jsonl", "topics"),
    ('{"_id": "q", "text": "d"}', "corpus.jsonl.gz", "documents"),
    ('{"docno": "q", "text": "d"}', "x", "documents"),
    ('{"qid": "q", "query": "d"}', "x", "topics"),
    ("1\tducks\n", "x.tsv", None),
    ("1\tducks swim\n", "collection.tsv", "documents"),
    ("D1\thttp://d\tDucks\tThey swim.\n", "x", "documents"),
    ("1\t7\tducks swim\tThey do.\n", "top1000.dev", None),
    ("1\t7\tducks swim\tThey do.\n", "collection.tsv", "documents"),
    (CLASSIC, "x", "topics"),
    ("<DOC><DOCNO>1</DOCNO></DOC>", "topics.txt", "documents"),
    (SMART, "x", "documents"),
    (".I 1\n.W\na\n", "x", None),
    (".I 1\n.W\na\n", "cran.qry", "topics"),
    ("hello world\n", "x", None),
    ("", "x", None),
]


@pytest.mark.parametrize(("text", "name", "kind"), KINDS)
def test_kinds_of_files(text: str, name: str, kind: str | None) -> None:
    assert kind_of(text.encode(), name) == kind


# Collections


def beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": f"d{i}", "title": "", "text": f"text {i}"} for i in range(3)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "one"}\n{"_id": "q2", "text": "two"}\n')
    for split in ("train", "test"):
        (folder / "qrels" / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\t{split}\t1\nq2\td2\t2\n")
    return folder


def test_a_beir_folder_as_a_whole(tmp_path: Path) -> None:
    found = read_collection(beir(tmp_path / "ducks"))
    assert repr(found) == "<Collection 'ducks': 3 documents, 2 topics, 2 judgements>"
    assert found.qrels is not None
    assert found.qrels.of("q1") == {"test": 1.0}
    assert found.notes == (("left-out", "files left out: qrels/train.tsv"),)


def test_documents_in_a_folder_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for id in "21":
        (tmp_path / "docs" / f"file{id}").write_text(f"<DOC><DOCNO>{id}</DOCNO><TEXT>a</TEXT></DOC>")
    (tmp_path / "topics.txt").write_text(CLASSIC)
    found = read_collection(tmp_path)
    assert found.documents is not None
    assert found.documents.ids == ("1", "2")


def test_a_toml_file_names_the_parts(tmp_path: Path) -> None:
    beir(tmp_path)
    (tmp_path / "old.qry").write_text(".I 007\n.W\nducks\n.I 009\n.W\ngeese\n")
    toml = tmp_path / "collection.toml"
    toml.write_text('name = "birds"\ntopics = "old.qry"\nqrels = "qrels/train.tsv"\nids = "position"\n')
    found = read_collection(tmp_path)
    assert (found.name, found.documents) == ("birds", None)
    assert found.topics is not None
    assert found.topics.ids == ("1", "2")
    toml.write_text('documets = "corpus.jsonl"')
    with pytest.raises(DataError, match="unknown entry documets"):
        read_collection(toml)


def test_what_a_folder_does_not_decide_is_asked(tmp_path: Path) -> None:
    beir(tmp_path)
    (tmp_path / "corpus2.jsonl").write_text('{"_id": "d9", "text": "more"}')
    with pytest.raises(DataError, match=r"several files may be the documents: corpus\.jsonl, corpus2\.jsonl"):
        read_collection(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="neither documents nor topics nor judgements"):
        read_collection(tmp_path / "empty")
    with pytest.raises(UsageError, match="needs documents, topics or qrels"):
        read_collection()


def test_topics_that_judgements_call_by_position_are_noticed() -> None:
    asked = Topics(("001", "004", "009"), {"title": ["a", "b", "c"]})
    for judged, way in (({"1": {"d": 1}, "3": {"d": 1}}, "position"), ({"1": {"d": 1}, "9": {"d": 1}}, "number")):
        ((code, note),) = read_collection(topics=asked, qrels=judged).notes
        assert (code, f"--ids {way} (ids=" in note) == ("topic-ids", True)
        assert read_collection(topics=asked, qrels=judged, ids=way).notes == ()  # type: ignore[arg-type]
    assert read_collection(topics=asked, qrels={"001": {"d": 1}}).notes == ()
    assert read_collection(topics=asked, qrels={"77": {"d": 1}}).notes == ()


@pytest.mark.skipif(not COLLECTION.is_dir(), reason="the data folder with the Cranfield collection is not here")
def test_the_cranfield_collection() -> None:
    found = read_collection(COLLECTION)
    assert found.documents is not None
    assert found.topics is not None
    assert (len(found.documents), len(found.topics)) == (1400, 225)
    assert [code for code, _ in found.notes] == ["left-out", "topic-ids"]
    assert found.topics.ids[2] == "004"
    rows = dict(found.documents.rows())
    assert rows["1"]["author"] == "brenckman,m.\t"
    assert rows["1"]["text"].endswith("the specific configuration of the experiment .")
    assert rows["1400"]["title"].startswith("the buckling shear stress of simply-supported")
    assert [id for id, fields in rows.items() if not fields["text"]] == ["471", "995"]
    by_position = read_collection(COLLECTION, ids="position")
    assert by_position.topics is not None
    assert by_position.qrels is not None
    assert set(by_position.qrels.topics) == set(by_position.topics.ids)
    assert [code for code, _ in by_position.notes] == ["left-out"]


# ir_datasets


class Query(NamedTuple):
    query_id: str
    title: str
    description: str


class Judgement(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int
    iteration: str


class Dataset:
    """What cranfield uses of a dataset of ir_datasets."""

    def has_docs(self) -> bool:
        return True

    has_queries = has_qrels = has_docs

    def docs_iter(self) -> Any:
        return iter([Record("d1", "Ducks", "They swim.")])

    def queries_iter(self) -> Any:
        return iter([Query("1", "ducks", "How do they swim?")])

    def qrels_iter(self) -> Any:
        return iter([Judgement("1", "d1", 2, "0")])


def test_ids_of_ir_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = ModuleType("ir_datasets")
    package.load = {"ducks": Dataset()}.__getitem__  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "ir_datasets", package)
    assert only_row(read_documents("irds:ducks")) == {"id": "d1", "title": "Ducks", "text": "They swim."}
    assert only_row(read_topics("ir_datasets:ducks"))["description"] == "How do they swim?"
    found: Collection = read_collection("irds:ducks")
    assert repr(found) == "<Collection 'ducks': 1 document, 1 topic, 1 judgement>"
    assert found.qrels is not None
    assert found.qrels.of("1") == {"d1": 2.0}
    with pytest.raises(UsageError, match="no dataset 'geese'"):
        read_documents("irds:geese")
    (tmp_path / "collection.toml").write_text('qrels = "irds:ducks"')
    assert repr(read_collection(tmp_path, name="x")) == "<Collection 'x': 0 documents, 0 topics, 1 judgement>"
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(DataError, match="needs the package ir_datasets"):
        read_documents("irds:ducks")


def test_a_dataset_of_ir_datasets_itself(tmp_path: Path) -> None:
    import ir_datasets  # type: ignore[import-untyped]

    files = {"docs": "d1\tducks swim\nd2\tgeese fly\n", "queries": "1\tducks\n", "qrels": "1 0 d1 2\n1 0 d2 0\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    docs, queries, qrels = (str(tmp_path / name) for name in files)
    made = ir_datasets.create_dataset(docs_tsv=docs, queries_tsv=queries, qrels_trec=qrels)
    ir_datasets.registry.register("cranfield-test", made)
    assert dict(read_documents("irds:cranfield-test").rows())["d2"]["text"] == "geese fly"
    assert read_topics("irds:cranfield-test").queries() == ["ducks"]
    results = evaluate("irds:cranfield-test", {"1": {"d2": 2.0, "d1": 1.0}}, "AP")
    assert (results.inputs[0].name, results.mean()) == ("cranfield-test", {"run": {"AP": 0.5}})
    with pytest.raises(DataError, match="irds:cranfield-test: has no scoreddocs"):
        read_run("irds:cranfield-test")


class Page(NamedTuple):
    doc_id: str
    body: bytes
    headers: bytes

    def default_text(self) -> str:
        return "They swim."


class Patient(NamedTuple):
    query_id: str
    disease: str

    def default_text(self) -> str:
        return f"about {self.disease}"


def test_records_that_say_themselves_what_their_text_is() -> None:
    page = Page("d1", b"<html>They swim.</html>", b"caf\xe9")
    assert only_row(read_documents([page])) == {"id": "d1", "text": "They swim.", "headers": "café"}
    assert only_row(read_topics([Patient("1", "flu")])) == {"id": "1", "title": "about flu", "disease": "flu"}


def test_formats_and_names_are_documented() -> None:
    from cranfield.texts import names
    from cranfield.texts.columns import ACCEPTED

    page = (ROOT / "docs" / "collections.md").read_text()
    for kind, roles in ACCEPTED.items():
        assert all(f"`{name}`" in page for name in names(kind))
        for role, accepted in roles.items():
            if role != "id":
                assert ", ".join(f"`{name}`" for name in accepted) in page, (kind, role)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("&#0;", "&#0;"),
        ("&#1;", "\x01"),
        ("&#127;", "\x7f"),
        ("&#128;", "€"),  # as Windows had it, and old pages meant it
        ("&#159;", "Ÿ"),
        ("&#160;", "\xa0"),
        ("&#55295;", "\ud7ff"),
        ("&#55296;", "&#55296;"),
        ("&#57343;", "&#57343;"),
        ("&#57344;", "\ue000"),
        ("&#1114111;", "\U0010ffff"),
        ("&#1114112;", "&#1114112;"),
        ("&#xE9; &#XE9; &eacute;", "é é é"),
        ("&nosuch; &", "&nosuch; &"),
    ],
)
def test_entities_are_the_characters_they_name_and_others_stay(written: str, read: str) -> None:
    source = io.StringIO(f"<DOC><DOCNO>1</DOCNO><TEXT>a{written}b</TEXT></DOC>")
    assert read_documents(source, reading=Reading(format="trec")).fields["text"] == [f"a{read}b"]
