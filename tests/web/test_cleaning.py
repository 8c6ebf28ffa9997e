"""Documents and guidelines of whatever kind on a page: what they say is there, and nothing that they would do is done.

Hostile inputs are opened in a real browser, both as the page has them (a sandboxed frame under the content policy) and
as they would stand in a page without either, so that no wall hides a hole in another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

from cranfield import UsageError
from cranfield.judging.showing import PART
from cranfield.report.page_pdf import find_browser
from cranfield.web.cleaning import DEEPEST, LONGEST_GUIDELINE, cleaned_html, guideline_html, looks_like_html

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
HOME = "http://judging.test/"
AWAY = "http://elsewhere.test"
RUN = "parent.document.title=document.title=top.document.title='run'"


# ruff: noqa: E501 - attacks are easier to read in one line
# A class of attack a line, or several; @RUN@ is a script that would be noticed, @AWAY@ an address.
HOSTILE = {
    "script": "<script>@RUN@</script><SCRIPT SRC=@AWAY@/1></SCRIPT><script/x>@RUN@</script>",
    "unclosed script": "<p>a</p><script>@RUN@",
    "half a tag": "<p>a</p><img src=x onerror=@RUN@ ",
    "split script": "<scr<script>ipt>@RUN@</scr</script>ipt>",
    "null bytes": "<scr\0ipt>@RUN@</scr\0ipt><img s\0rc=x onerr\0or=@RUN@><a href='java\0script:@RUN@'>x</a>",
    "events": (
        "<img src=x onerror=@RUN@><body onload=@RUN@><p onclick=@RUN@ onmouseover=@RUN@>a</p>"
        "<details open ontoggle=@RUN@><summary>a</summary></details><input autofocus onfocus=@RUN@>"
        "<marquee onstart=@RUN@>a</marquee><video onerror=@RUN@><source src=x></video>"
        "<div tabindex=1 autofocus onfocus=@RUN@>a</div><p style='animation:x' onanimationstart=@RUN@>a</p>"
    ),
    "events without blanks": "<img/src=x/onerror=@RUN@><svg/onload=@RUN@><b/onclick=@RUN@>a</b>",
    "event behind quotes": "<p title=\"a\"onmouseover=\"@RUN@\">x</p><p title='`' `onmouseover=@RUN@>a",
    "addresses": (
        "<a href='javascript:@RUN@'>a</a><a href=' jav&#x09;ascript:@RUN@'>b</a><a href='&#1;javascript:@RUN@'>c</a>"
        "<a href='data:text/html,<script>@RUN@</script>'>d</a><a href='vbscript:x'>e</a><a href='@AWAY@/2'>f</a>"
        "<a href='//elsewhere.test/3'>g</a><a href='/logout' ping='@AWAY@/4' target=_top>h</a>"
        "<area href='javascript:@RUN@' shape=default>"
    ),
    "forms": (
        "<form action='@AWAY@/5'><button>a</button><input name=x><input type=image src='@AWAY@/6'></form>"
        "<button formaction='javascript:@RUN@'>b</button><form action=javascript:@RUN@ id=f></form><button form=f>c</button>"
        "<isindex action=javascript:@RUN@ type=image>"
    ),
    "pictures": (
        "<img src='@AWAY@/7'><img srcset='@AWAY@/8 2x'><picture><source srcset='@AWAY@/9'><img></picture>"
        "<img lowsrc='@AWAY@/10'><body background='@AWAY@/11'><table background='@AWAY@/12'><tr><td background='@AWAY@/13'>a"
        "<video src='@AWAY@/14' poster='@AWAY@/15' autoplay></video><audio src='@AWAY@/16' autoplay></audio>"
        "<input type=image src='@AWAY@/17'><link rel=icon href='@AWAY@/18'>"
    ),
    "styles": (
        "<style>@import '@AWAY@/19'; body{background:url(@AWAY@/20)} @font-face{font-family:x;src:url(@AWAY@/21)}"
        "p{font-family:x}</style><link rel=stylesheet href='@AWAY@/22'><p style='background:url(@AWAY@/23)'>a</p>"
        "<p style='position:fixed;inset:0'>over everything</p><style>@import'@AWAY@/24"
    ),
    "preloads": (
        "<link rel=preload as=image href='@AWAY@/25'><link rel=prefetch href='@AWAY@/26'>"
        "<link rel=dns-prefetch href='@AWAY@'><link rel=modulepreload href='@AWAY@/27'><link rel=manifest href='@AWAY@/28'>"
    ),
    "head": (
        "<meta http-equiv=refresh content='0;url=@AWAY@/29'><meta http-equiv=refresh content='0;url=javascript:@RUN@'>"
        "<base href='@AWAY@/'><base target=_top><meta http-equiv=Set-Cookie content='a=b'><a href=x>a</a><img src=y>"
    ),
    "frames": (
        "<iframe src='@AWAY@/30'></iframe><iframe src='javascript:@RUN@'></iframe><frameset><frame src='@AWAY@/31'></frameset>"
        "<iframe srcdoc='<script>@RUN@</script>'></iframe><iframe srcdoc='&lt;iframe srcdoc=\"&lt;img src=x onerror=@RUN@>\">'>"
        "<object data='@AWAY@/32'></object><embed src='@AWAY@/33'><applet code='@AWAY@/34'></applet><portal src='@AWAY@/35'>"
        "<fencedframe src='@AWAY@/36'></fencedframe>"
    ),
    "out of the frame": '"></iframe><script>@RUN@</script>&quot;&gt;&lt;/iframe&gt;&lt;script&gt;@RUN@&lt;/script&gt;',
    "svg": (
        "<svg onload=@RUN@><script>@RUN@</script><image href='@AWAY@/37'/><use href='@AWAY@/38#x'/>"
        "<a xlink:href='javascript:@RUN@'><text>a</text></a><animate onbegin=@RUN@ attributeName=x dur=1s>"
        "<set attributeName=href to='javascript:@RUN@'/><foreignObject><img src=x onerror=@RUN@></foreignObject></svg>"
    ),
    "mathml": (
        "<math href='javascript:@RUN@'><mtext><img src=x onerror=@RUN@></mtext><maction actiontype='statusline#@AWAY@'>a"
        "<annotation-xml encoding='text/html'><img src=x onerror=@RUN@></annotation-xml></math>"
    ),
    "namespaces": (
        "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=@RUN@&gt;'>"
        "<svg></p><style><a id='</style><img src=x onerror=@RUN@>'>"
        "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=@RUN@>"
        "<svg><title><![CDATA[</title><img src=x onerror=@RUN@>]]>"
    ),
    "mutation": (
        "<noscript><p title='</noscript><img src=x onerror=@RUN@>'><xmp><p title='</xmp><img src=x onerror=@RUN@>'></xmp>"
        "<textarea><p title='</textarea><img src=x onerror=@RUN@>'></textarea><title><p title='</title><img src=x onerror=@RUN@>'>"
        "<noembed><p title='</noembed><img src=x onerror=@RUN@>'><select><style></select><img src=x onerror=@RUN@></style>"
        "<listing>&lt;img src=x onerror=@RUN@&gt;</listing><plaintext><img src=x onerror=@RUN@>"
    ),
    "templates": "<template><img src=x onerror=@RUN@></template><div><template shadowrootmode=open><img src=x onerror=@RUN@>",
    "comments": "<!--><img src=x onerror=@RUN@>--><!--[if IE]><script>@RUN@</script><![endif]--><!-- --!><img src=x onerror=@RUN@>",
    "declarations": "<!DOCTYPE x [<!ENTITY a '<script>@RUN@</script>'>]>&a;<?xml-stylesheet href='@AWAY@/39'?><![CDATA[<script>@RUN@</script>]]>",
    "entities": "&lt;script&gt;@RUN@&lt;/script&gt;&#60;img src=x onerror=@RUN@&#62;&amp;lt;script&amp;gt;@RUN@&amp;lt;/script&amp;gt;",
    "elements of others": "<x-y onclick=@RUN@>a</x-y><xss id=x tabindex=1 onfocus=@RUN@ contenteditable autofocus>b</xss><slot name=a>c</slot>",
    "names": "<img name=cookie><form name=body id=documentElement></form><a id=location name=location href='@AWAY@/40'>a</a>",
    "nested tables": "<table><td><table><a><table><img src=x onerror=@RUN@></a><td colspan=9999999 rowspan=9999999>x",
    "half characters": "\ud83d<scr\ud800ipt>@RUN@</script>\udcff<p la\udce9ng=x>a\x1b\u202e</p>",
    "nested deep": "<div>" * 1000 + "<script>@RUN@</script><img src=x onerror=@RUN@>",
    "attributes without end": "<p " + "a" * 5000 + "=\"" + "<img src=x onerror=@RUN@>" * 50,
}  # fmt: skip
# Harmless as they are: cleaning in the wrong way would make something of them, or a mouse.
SLY = {
    "attributes without end", "declarations", "entities", "event behind quotes", "half a tag", "half characters",
    "split script", "unclosed script",
}  # fmt: skip
MARKDOWN = {
    "html": "<script>@RUN@</script>\n\n<img src=x onerror=@RUN@>\n\n<div onclick=@RUN@>\n\na <b onclick=@RUN@>b</b>",
    "links": "[a](javascript:@RUN@) [b](<java\tscript:@RUN@>) [c](data:text/html,x) <javascript:@RUN@> [d](vbscript:x)\n\n[e]\n\n[e]: javascript:@RUN@",
    "pictures": "![a](@AWAY@/50) ![b][c]\n\n[c]: @AWAY@/51",
    "out of attributes": "[a](http://x.test/\"onmouseover=@RUN@) [b](http://x.test 'a\" onclick=\"@RUN@') ```\"><script>@RUN@</script>\nx\n```",
    "tables": "|<script>|b|\n|---|---|\n|<img src=x onerror=@RUN@>|[x](javascript:@RUN@)|",
    "code": "    <script>@RUN@</script>\n\n```html onload=@RUN@\n<script>@RUN@</script>\n```",
}  # fmt: skip


def filled(text: str) -> str:
    return text.replace("@RUN@", RUN).replace("@AWAY@", AWAY)


def test_a_document_keeps_what_it_says() -> None:
    page = (
        "<html lang=en><head><title>Pond</title></head><body><h1 class=x id=y>Ducks</h1><p dir=RTL lang=he>They <b>swim</b>"
        "<ol start=3><li>one</ol><table><tr><th colspan=2 rowspan=100>a<td dir=up>b</table>a <a href=/x>link</a>, 1 < 2 &amp; 3"
    )
    assert cleaned_html(page) == (
        'Pond<h1>Ducks</h1><p dir="RTL" lang="he">They <b>swim</b></p><ol start="3"><li>one</li></ol>'
        '<table><tbody><tr><th colspan="2">a</th><td>b</td></tr></tbody></table>a link, 1 &lt; 2 &amp; 3'
    )


def test_a_long_page_is_given_in_parts_with_a_sentence() -> None:
    page = "<p>Ducks swim.</p>" * 10_000
    pieces = [cleaned_html(page, part) for part in (1, 2)]
    for number, piece in enumerate(pieces, 1):
        assert piece.startswith(f"<p><em>This document is long: here is part {number} of 2, characters ")
    assert sum(piece.count("<p>Ducks swim.</p>") for piece in pieces) == 10_000
    assert "This document is long" not in cleaned_html("<p>Ducks swim.</p>" * (PART // 18))
    with pytest.raises(UsageError, match="the document has 2 parts, and part 3 is none of them"):
        cleaned_html(page, 3)


def test_a_page_nested_beyond_measure_is_given_as_text() -> None:
    told = "The elements of this page are nested too deep to be shown: here is its text."
    deep = cleaned_html("<div>" * (DEEPEST + 1) + "a &lt;b&gt; <i>c</i>")
    assert deep == f"<p><em>{told}</em></p><pre>a &lt;b&gt; c</pre>"
    assert told in cleaned_html("<div></q>" * (DEEPEST + 1))  # an end of something else is no end
    assert told not in cleaned_html("<div>" * DEEPEST + "a")
    assert told not in cleaned_html("<div><b>a</b></div><p>b<li>c<br>" * DEEPEST)


@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_hostile_is_left_in_a_document(name: str) -> None:
    cleaned = cleaned_html(filled(HOSTILE[name]))
    tags = re.findall(r"<[^>]*>", cleaned)
    assert not [
        tag
        for tag in tags
        if re.search(r"\bon\w+=|href|src|style|url|<(script|svg|math|img|iframe|form|meta|base|a)\b", tag)
    ]
    assert cleaned_html(cleaned) == cleaned or name in ("nested deep", "entities")
    cleaned.encode("utf-8")


def test_guidelines_are_markdown() -> None:
    text = (
        "# Grades\n\n| grade | meaning |\n|---|---|\n| 1 | ~~no~~ *partly* |\n\n3. `a`\n\n![duck](http://x.test/d.png)"
    )
    assert guideline_html(text) == (
        "<h1>Grades</h1>\n<table>\n<thead>\n<tr>\n<th>grade</th>\n<th>meaning</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n"
        '<td><s>no</s> <em>partly</em></td>\n</tr>\n</tbody>\n</table>\n<ol start="3">\n<li><code>a</code></li>\n</ol>\n'
        '<p>!<a href="http://x.test/d.png" rel="noopener noreferrer nofollow">duck</a></p>\n'
    )
    with pytest.raises(UsageError, match="guidelines of 100,001 characters are too long: there may be 100,000"):
        guideline_html("x" * (LONGEST_GUIDELINE + 1))


def test_links_of_guidelines_lead_to_pages_and_mail_alone() -> None:
    links = "[a](http://x.test) [b](mailto:a@x.test) [c](/logout) [d](ftp://x.test) [e](#x) [f](//x.test)"
    assert re.findall('href="([^"]*)"', guideline_html(links)) == ["http://x.test", "mailto:a@x.test"]


@pytest.mark.parametrize(
    ("text", "is_html"),
    [
        ("<!doctype html>\n<p>a", True),
        ("\ufeff<?xml version='1.0'?><!-- a --> <HTML xmlns='x'>", True),
        ("<body>a", True),
        ("<p>a</P >", True),
        ("<div class='x'><b>a</b></div> b", True),
        ("<p>a", False),
        ("</p>", False),
        ("<b>a</b>", False),
        ("<vector> and </vector>", False),
        ("<htmlx>a</htmlx>", False),
        ("a <p>b</p>", False),
        ("1 < 2 > 0", False),
        ("", False),
        ("<!-- " * 30_000, False),
        ("<p>" * 100_000, False),
    ],
)
def test_what_looks_like_html(text: str, is_html: bool) -> None:
    assert looks_like_html(text) == is_html


BROWSER = find_browser()
in_browser = pytest.mark.skipif(
    BROWSER is None or find_spec("playwright") is None, reason="there is no Chromium or no Playwright here"
)


class Opened(NamedTuple):
    """What happened while a page was open: addresses that were asked for, and what else should not have happened."""

    asked: list[str]
    wrong: list[str]


class Hall:
    """A browser in which HOME is answered by what is to be shown, and every other address by nothing."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.new_context()
        self.body = self.policy = ""
        self.now = Opened([], [])
        self.context.route("**/*", self._answer)
        self.context.on("page", self._watch)

    def _answer(self, route: Any) -> None:
        self.now.asked.append(route.request.url)
        if route.request.url != HOME:
            route.abort()
            return
        headers = {"Content-Security-Policy": self.policy} if self.policy else {}
        route.fulfill(body=self.body.encode("utf-8"), content_type="text/html; charset=utf-8", headers=headers)

    def _watch(self, page: Any) -> None:
        page.on("pageerror", lambda error: self.now.wrong.append(str(error)))
        page.on("dialog", lambda dialog: self.now.wrong.append(dialog.message))
        page.on("console", lambda message: self.now.wrong.append(message.text))

    def open(self, body: str, policy: str, frames: int = 0) -> Opened:
        self.body, self.policy, self.now = body, policy, Opened([], [])
        page = self.context.pages[0] if self.context.pages else self.context.new_page()
        page.goto(HOME)
        page.wait_for_timeout(50)  # what would begin by itself begins at once
        if len(page.frames) != frames + 1 or page.url != HOME or len(self.context.pages) > 1:
            self.now.wrong.append(f"{page.url}, {len(page.frames)} frames, {len(self.context.pages)} pages")
        for frame in page.frames:
            if frame.title() == "run" or frame.locator("a[href], button, input, summary, [tabindex]").count():
                self.now.wrong.append("a script was run, or something is there to be pressed")
        for opened in self.context.pages if self.now != ([HOME], []) else ():
            opened.close()
        return self.now


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def hall(browser: Any) -> Hall:
    return Hall(browser)


HEAD = "<!doctype html><title>judging</title>"


def in_frame(html: str) -> str:
    """As the page has it: escaped as an attribute. This is what Jinja makes of it."""
    escaped = html.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&#34;")
    return f'<iframe sandbox srcdoc="{escaped}"></iframe>'


@in_browser
def test_hostile_documents_do_nothing_in_their_frames(hall: Hall) -> None:
    frames = "".join(in_frame(cleaned_html(filled(text))) for text in HOSTILE.values())
    assert hall.open(HEAD + frames, POLICY, len(HOSTILE)) == ([HOME], [])


@in_browser
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_does_nothing_without_any_wall(hall: Hall, name: str) -> None:
    assert hall.open(HEAD + cleaned_html(filled(HOSTILE[name])), "") == ([HOME], [])


@in_browser
def test_hostile_documents_are_hostile(browser: Any) -> None:
    """Or the tests above would say nothing: uncleaned, and without a wall, they do what they are meant to do."""
    hall = Hall(browser)
    harmless = []
    for name, text in HOSTILE.items():
        asked, wrong = hall.open(HEAD + filled(text).encode("utf-8", "replace").decode(), "")
        if asked == [HOME] and not wrong:
            harmless.append(name)
    assert set(harmless) <= SLY


@in_browser
def test_the_frame_is_a_wall_by_itself(hall: Hall) -> None:
    """Even if nothing were cleaned, no script of a document would run, and nothing would be fetched from elsewhere."""
    frames = "".join(in_frame(filled(HOSTILE[name])) for name in ("script", "events", "svg", "pictures", "styles"))
    asked, wrong = hall.open(HEAD + frames, POLICY, 5)
    assert asked == [HOME]
    assert "a script was run, or something is there to be pressed" in wrong  # forms and links, which press nothing
    assert any("Content Security Policy" in told or "sandboxed" in told for told in wrong)


@in_browser
@pytest.mark.parametrize("name", MARKDOWN)
def test_hostile_guidelines_do_nothing_in_a_page(hall: Hall, name: str) -> None:
    html = guideline_html(filled(MARKDOWN[name]))
    without_links = re.sub(' href="https?:[^"]*"', "", html)  # a link to a page may be followed
    assert hall.open(HEAD + without_links, "") == ([HOME], [])


@in_browser
def test_a_document_is_seen_in_its_frame(hall: Hall) -> None:
    hall.body, hall.policy = in_frame(cleaned_html('<h1>Ducks &amp; "geese"</h1><script>x</script><p>swim</p>')), POLICY
    page = hall.context.new_page()
    page.goto(HOME)
    frame = page.frames[1]
    assert frame.locator("h1").text_content() == 'Ducks & "geese"'
    assert frame.locator("p").text_content() == "swim"
    page.close()
