"""Where an engine is, and what lets one in: neither password nor key is ever shown or kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from cranfield.errors import DataError, UsageError
from cranfield.formats.format import decode
from cranfield.formats.sources import open_source

PORTS = {"http": 80, "https": 443}
VARIABLE = "CRANFIELD_PROBE_AUTHORIZATION"
MASK = "***"
# Names of parameters whose values let one in.
SECRET = re.compile(r"key(?!word)|token|secret|passw|auth(?!or)|signature", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&])([^=&#]+)=([^&#]*)")
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
        words = [] if self.login is None else [self.login, self.login.partition(":")[2]]
        words += [value for name, value in parse_qsl(self.query) if SECRET.search(name)]
        return [word for word in words if word]


def masked(url: str) -> str:
    """An address, or any text, without what lets one in.

    >>> masked("http://ada:lace@localhost:9200/pond?api_key=x&size=3")
    'http://***@localhost:9200/pond?api_key=***&size=3'
    """
    shown = re.sub(r"//.*@", f"//{MASK}@", url)
    return _PARAMETER.sub(
        lambda found: found[0] if not SECRET.search(found[2]) else f"{found[1]}{found[2]}={MASK}", shown
    )


def without(secrets: Iterable[str], text: str) -> str:
    """A text of the engine's without our secrets, should it repeat them.

    >>> without(["lace"], "no user with lace")
    'no user with ***'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text


def read_headers(path: str) -> dict[str, str]:
    """Headers from a file, a line each, as `Authorization: ApiKey …`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "headers").write_text("Authorization: Bearer abc\\nX-Tenant: pond\\n")
    ...     list(read_headers(f"{folder}/headers"))
    ['Authorization', 'X-Tenant']
    """
    headers: dict[str, str] = {}
    for number, line in enumerate(decode(bytes(open_source(path).data)).splitlines(), start=1):
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
