"""What an operator decides: where the data are, who may reach the server, and how much it takes."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cranfield.errors import UsageError

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
MEGABYTE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ServerSettings:
    """All that a server is told. `database` is empty for SQLite in the folder, `hosts` are the names under which
    browsers reach it besides those of loopback, `proxies` the addresses whose forwarded headers count, `collections`
    the folders from which projects may be made over the network.

    >>> ServerSettings(folder=Path("data")).secure
    False
    """

    folder: Path
    database: str = ""
    host: str = "127.0.0.1"
    port: int = 8000
    hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    certificate: Path | None = None
    certificate_key: Path | None = None
    collections: tuple[Path, ...] = ()
    upload_limit: int = 500 * MEGABYTE
    form_limit: int = MEGABYTE
    lease_minutes: float = 10

    @property
    def secure(self) -> bool:
        """Whether browsers reach it by https, so that cookies are for https alone."""
        return self.certificate is not None or bool(self.proxies)

    @property
    def allowed_hosts(self) -> tuple[str, ...]:
        """The names that a request may call the server by."""
        return (*LOOPBACK, *self.hosts)

    @property
    def address(self) -> str:
        """Where a person finds it."""
        name = self.hosts[0] if self.hosts else "localhost" if is_loopback(self.host) else self.host
        port = "" if self.proxies else f":{self.port}"
        return f"{'https' if self.secure else 'http'}://{name}{port}"

    def checked(self) -> ServerSettings:
        """The same, unless it would let strangers read along."""
        if (self.certificate is None) != (self.certificate_key is None):
            raise UsageError("a certificate and its key go together: --certificate FILE --certificate-key FILE")
        if not is_loopback(self.host):
            if not self.secure:
                raise UsageError(
                    f"--host {self.host} would send passwords over the network as they are: give --certificate and "
                    "--certificate-key, or --proxy with the address of the proxy that speaks https"
                )
            if not self.hosts:
                raise UsageError("--host other than loopback needs --name, the name by which browsers reach the server")
        return self


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
