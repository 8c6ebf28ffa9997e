"""Where an engine is, and what lets one in: neither password nor key is ever shown or kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from cranfield.errors import DataError, UsageError
from cranfield.formats.format import BYTE_ORDER_MARK, decode
from cranfield.formats.sources import open_source

PORTS = {"http": 80, "https": 443}
VARIABLE = "CRANFIELD_PROBE_AUTHORIZATION"
MASK = "***"
# Names of parameters whose values let one in.
SECRET = re.compile(
    r"key(?!word)|token|secret|pass(?!age|enger|ion|ive)|pwd|auth(?!or)|sig(?!h|m|n)|signature|credential|session"
    r"|bearer|jwt",
    re.IGNORECASE,
)
SHORTEST = 4  # signs of a secret; what is shorter stands in too many other words
_ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})  # as pages have it
_PARAMETER = re.compile(r"([?&#])([^=&#]+)=([^&#]*)")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = ("content-length", "content-type", "host", "transfer-encoding", "connection", "accept-encoding")


@dataclass(frozen=True, kw_only=True)
class Address:
    """An address taken apart; `path` and `query` may hold {query} and {depth}."""

    scheme: str
    host: str
    port: int
    path: str
    query: str
    login: str | None = field(default=None, repr=False)  # user:password

    @classmethod
    def of(cls, url: str) -> Address:
        """
        >>> Address.of("https://ada:lace@example.org/pond?pretty=1")
        Address(scheme='https', host='example.org', port=443, path='/pond', query='pretty=1')
        """
        try:
            parts = urlsplit(url)
            port, host = parts.port, parts.hostname
        except ValueError:
            port, host = None, None
            parts = urlsplit("")
        if parts.scheme not in PORTS or not host:
            raise UsageError(f"'{masked(url)}' is no address of an engine: give one as http://localhost:9200/index")
        if any(character <= " " or character == "\x7f" for character in url):
            raise UsageError(f"'{masked(url)}' has a blank in it: write %20")
        try:
            host.encode("idna")
        except UnicodeError:
            raise UsageError(f"'{masked(url)}' has no name of a host: its parts are of 1 to 63 letters each") from None
        login = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}" if "@" in parts.netloc else None
        return cls(
            scheme=parts.scheme,
            host=host,
            port=PORTS[parts.scheme] if port is None else port,
            path=quote(parts.path, safe="/%:@!$&'()*+,;=~{}") or "/",
            query=quote(parts.query, safe="/%:@!$&'()*+,;=~?{}[]"),
            login=login,
        )

    @property
    def origin(self) -> tuple[str, str, int]:
        """What must be the same for credentials to be sent."""
        return self.scheme, self.host, self.port

    def secrets(self) -> list[str]:
        """What lets one in, as it may come back in an answer."""
        user, _, password = (self.login or "").partition(":")
        words = [self.login or "", password or user]  # a user without a password is a token
        for _, name, value in _PARAMETER.findall(f"?{self.query}"):
            if SECRET.search(unquote_plus(name)):
                words += [value, unquote_plus(value)]
        return [word for word in words if word]


def masked(url: str) -> str:
    """An address, or any text, without what lets one in.

    >>> masked("http://ada:lace@localhost:9200/pond?api_key=x&size=3")
    'http://***@localhost:9200/pond?api_key=***&size=3'
    """
    shown = re.sub(r"//.*@", f"//{MASK}@", url)
    return _PARAMETER.sub(
        lambda found: f"{found[1]}{found[2]}={MASK}" if SECRET.search(unquote_plus(found[2])) else found[0], shown
    )


class Secrets:
    """What lets one in, in all the forms in which an engine may repeat it: its words are shown and kept through here.

    >>> secrets = Secrets(["Bearer a+b-lace", "a+b-lace"])
    >>> secrets.hidden("no user with a%2Bb-lace, nor with YStiLWxhY2U=, nor Bearer a+b-l…")
    'no user with ***, nor with ***=, nor ***…'
    """

    def __init__(self, words: Iterable[str]) -> None:
        forms = {form.lower() for word in words for form in _forms(word) if len(form) >= SHORTEST}
        self._forms = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._forms)) or "(?!)", re.IGNORECASE)

    def hidden(self, text: str) -> str:
        """A text without them, nor a piece of one on either side of where something is left out."""
        first, *others = self._pattern.sub(MASK, text).split("…")
        for other in others:
            first = f"{self._without_piece(first, -1)}…{self._without_piece(other, 1)}"
        return first

    def _without_piece(self, text: str, step: int) -> str:
        """Without the beginning of a secret at the end of a text (-1), or the end of one at its beginning (1)."""
        signs, most = text.lower()[::step], 0
        for form in self._forms:
            for length in range(SHORTEST, min(len(form), len(signs)) + 1):
                piece = form[:length] if step < 0 else form[-length:]
                if signs.startswith(piece[::step]):
                    most = max(most, length)
        if not most:
            return text
        return f"{text[:-most]}{MASK}" if step < 0 else f"{MASK}{text[most:]}"


def _forms(word: str) -> Iterable[str]:
    """As it is, as in an address, in JSON, in HTML, in base64, on one line, and read in another encoding."""
    import json
    from base64 import b64encode, urlsafe_b64encode

    raw = word.encode("utf-8", "surrogateescape")
    yield from (word, unquote(word), quote(raw, safe=""), quote(raw), quote_plus(raw))
    yield from (word.translate(_ESCAPED), " ".join(word.split()), raw.decode("latin-1"))
    for ascii_alone in (True, False):
        quoted = json.dumps(word, ensure_ascii=ascii_alone)
        yield from (quoted[1:-1], json.dumps(quoted, ensure_ascii=ascii_alone)[3:-3])  # and JSON in JSON
    yield from (encoded(raw).decode().rstrip("=") for encoded in (b64encode, urlsafe_b64encode))


def header_secrets(headers: Mapping[str, str]) -> Iterable[str]:
    """Values of headers, what follows their first word, and what is set in them, as in a cookie."""
    for value in headers.values():
        yield from (value, value.partition(" ")[2], *re.findall(r'=\s*"?([^;,\s"]+)', value))


def read_headers(path: str) -> dict[str, str]:
    """Headers from a file, a line each, as `Authorization: ApiKey …`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "headers").write_text("Authorization: Bearer abc\\nX-Tenant: pond\\n")
    ...     list(read_headers(f"{folder}/headers"))
    ['Authorization', 'X-Tenant']
    """
    headers: dict[str, str] = {}
    text = decode(bytes(open_source(path).data).removeprefix(BYTE_ORDER_MARK))
    for number, line in enumerate(text.splitlines(), start=1):
        name, colon, value = line.partition(":")
        if not line.strip():
            continue
        if not colon or not _TOKEN.fullmatch(name):  # the line is not shown: it may be a secret
            raise DataError(
                f"line {number} is no header", source=path, remedy="Write them as Name: value, a line each."
            )
        if name.lower() in {known.lower() for known in headers}:
            raise DataError(f"line {number} gives {name} a second time", source=path)
        headers[name] = value.strip()
    return headers


def credentials(address: Address, headers: Mapping[str, str]) -> dict[str, str]:
    """All headers that are sent: those given, and Authorization from the environment or from the address.

    >>> credentials(Address.of("http://ada:lace@localhost/"), {"X-Tenant": "pond"})
    {'X-Tenant': 'pond', 'Authorization': 'Basic YWRhOmxhY2U='}
    """
    from base64 import b64encode

    sent = dict(headers)
    for name, value in sent.items():
        if not _TOKEN.fullmatch(name) or not value.isprintable() or not value.isascii():
            raise UsageError(f"the header {name} cannot be sent: its name and value must be plain ASCII text")
        if name.lower() in _OURS:
            raise UsageError(f"the header {name} is not for you to set: leave it out")
    places = {"the headers": any(name.lower() == "authorization" for name in sent)}
    places["the address"] = address.login is not None
    variable = os.environ.get(VARIABLE)
    if sum(places.values()) > 1:
        raise UsageError("the headers and the address both have credentials: give one of them")
    if address.login is not None:
        sent["Authorization"] = f"Basic {b64encode(address.login.encode()).decode()}"
    elif variable and not any(places.values()):
        if not variable.isprintable() or not variable.isascii():
            raise UsageError(f"what {VARIABLE} holds cannot be sent: it must be plain ASCII text")
        sent["Authorization"] = variable
    return sent
