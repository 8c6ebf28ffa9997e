"""The body of a request into a file, counted as it comes: never more of it in memory than a piece.

A body is the file itself, or a form (multipart/form-data) with one file and a few small fields. What is refused leaves
nothing behind. What a client announces is believed only where that refuses it sooner.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from cranfield.errors import plural
from cranfield.web.uploads.file_names import NAMELESS, harmless_name
from cranfield.web.uploads.refusal import UploadError

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]  # as ASGI has it
FORM = b"multipart/form-data"
UNCHECKED = ".upload"  # what files are called that nobody has looked at yet
PIECE = 1 << 20  # bytes that are held before they are written
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, kw_only=True)
class BodyLimits:
    """What a client may send, and how slowly.

    file_bytes: of the file. chunk_seconds: between two pieces. grace_seconds, slowest: a body takes no longer than the
    first and what it has at so many bytes a second. reserve: bytes of the disk that uploads leave for the judgements.
    fields, field_bytes: of a form, beside its file.
    """

    file_bytes: int = 256 << 20
    chunk_seconds: float = 20
    grace_seconds: float = 30
    slowest: int = 16 << 10
    reserve: int = 256 << 20
    fields: int = 10
    field_bytes: int = 8 << 10

    @property
    def body_bytes(self) -> int:
        """The file, and what a form has around it."""
        return self.file_bytes + (self.fields + 1) * (self.field_bytes + (16 << 10))


BODY = BodyLimits()


@dataclass(frozen=True, kw_only=True)
class ReceivedFile:
    """A file that a client sent: where it is, what the client calls it, and the fields that came with it.

    The name is harmless; the fields are not.
    """

    path: str
    name: str
    size: int
    sha256: str
    fields: Mapping[str, str] = field(default_factory=dict)

    def remove(self) -> None:
        """Removes the file, if it is still there."""
        with suppress(FileNotFoundError):
            os.remove(self.path)


async def received(
    scope: Mapping[str, Any],
    receive: Receive,
    folder: str | os.PathLike[str],
    *,
    name: str = NAMELESS,
    limits: BodyLimits = BODY,
) -> ReceivedFile:
    """The body of a request as a file of a new name in a folder, which is the caller's to remove.

    `name` is what the client calls a body that is no form. An error is an `UploadError`, and leaves nothing.
    """
    headers = {key.lower(): value for key, value in reversed(scope["headers"])}
    announced = headers.get(b"content-length", b"")
    if announced.isdigit() and (len(announced) > 18 or int(announced) > limits.body_bytes):
        raise _too_long(limits)
    kind, options = parse_options_header(headers.get(b"content-type", b""))
    file = _NewFile(folder, limits)
    body: _Form | _NewFile = _Form(file, options, limits) if kind == FORM else file
    try:
        async for chunk in _chunks(receive, limits):
            body.take(chunk)
            if file.held >= PIECE:
                await asyncio.to_thread(file.flush)
        body.end()
        await asyncio.to_thread(file.flush)
        called, fields = (body.name, body.fields) if isinstance(body, _Form) else (harmless_name(name), {})
        return ReceivedFile(path=file.path, name=called, size=file.size, sha256=file.close(), fields=fields)
    except BaseException:  # a request that is cancelled leaves nothing either
        file.discard()
        raise


async def _chunks(receive: Receive, limits: BodyLimits) -> AsyncIterator[bytes]:
    """The pieces of a body, until its end; an error once it is too long or too slow, or the client has gone."""
    start = time.monotonic()
    size, more = 0, True
    while more:
        try:
            message = await asyncio.wait_for(receive(), limits.chunk_seconds)
        except TimeoutError:
            raise UploadError("slow", f"nothing came for {limits.chunk_seconds:g} seconds") from None
        if message["type"] == "http.disconnect":
            raise UploadError("disconnected", f"the connection ended after {plural(size, 'byte')}")
        chunk = message.get("body", b"")
        size += len(chunk)
        if size > limits.body_bytes:
            raise _too_long(limits)
        more = bool(message.get("more_body"))
        if more and time.monotonic() - start > limits.grace_seconds + size / limits.slowest:
            raise UploadError("slow", f"fewer than {limits.slowest:,} bytes a second came")
        yield chunk


def _too_long(limits: BodyLimits) -> UploadError:
    return UploadError(
        "too-long",
        f"the file is longer than {limits.file_bytes:,} bytes",
        "Compress it (gzip, bzip2, xz or zstd), or send less.",
    )


class _NewFile:
    """A file of a name that nobody knows before, written piece by piece and digested on the way."""

    def __init__(self, folder: str | os.PathLike[str], limits: BodyLimits) -> None:
        self.path = os.path.join(os.fspath(folder), secrets.token_hex(16) + UNCHECKED)
        self.size = 0
        self._limits = limits
        self._digest = hashlib.sha256()
        self._pieces: list[bytes] = []
        self.held = 0
        self._space()
        try:
            self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unwritable(error) from None

    def take(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > self._limits.file_bytes:
            raise _too_long(self._limits)
        self._pieces.append(data)
        self.held += len(data)

    def end(self) -> None:
        """Nothing more comes."""

    def flush(self) -> None:
        """Writes what is held."""
        self._space()
        data = memoryview(b"".join(self._pieces))
        self._pieces, self.held = [], 0
        self._digest.update(data)
        try:
            while len(data):
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise _unwritable(error) from None

    def close(self) -> str:
        """Ends the file; gives its digest."""
        os.close(self._file)
        return self._digest.hexdigest()

    def discard(self) -> None:
        with suppress(OSError):
            os.close(self._file)
        with suppress(OSError):
            os.remove(self.path)

    def _space(self) -> None:
        """Judgements need the disk as well: an upload must not take the last of it."""
        try:
            disk = os.statvfs(os.path.dirname(self.path))
        except OSError as error:
            raise _unwritable(error) from None
        if disk.f_bavail * disk.f_frsize < self._limits.reserve:
            raise _no_space("fewer bytes are free than are kept for judgements")


def _unwritable(error: OSError) -> UploadError:
    reason = error.strerror or str(error)
    if error.errno in NO_SPACE:
        return _no_space(reason)
    return UploadError("failure", "the server could not keep the file; nothing was kept", detail=reason)


def _no_space(reason: str) -> UploadError:
    return UploadError(
        "no-space", "the server's disk is full; nothing was kept", "Tell who runs the server.", detail=reason
    )


class _Form:
    """A form as it comes: what is in its file goes into the file, what is in its fields is kept."""

    def __init__(self, file: _NewFile, options: Mapping[bytes, bytes], limits: BodyLimits) -> None:
        self.name = ""
        self.fields: dict[str, str] = {}
        self._file, self._limits = file, limits
        self._value: bytearray | None = None  # of the field that is being read; None while it is the file
        self._field = ""
        self._header, self._content = bytearray(), bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._ended = False
        boundary = options.get(b"boundary", b"")
        if not boundary:
            file.discard()
            raise _malformed("it names no boundary")
        callbacks = {name: getattr(self, f"_{name}") for name in _CALLBACKS}
        try:
            self._parser = MultipartParser(boundary, callbacks)  # type: ignore[arg-type]
        except FormParserError as error:
            file.discard()
            raise _malformed(str(error)) from None

    def take(self, data: bytes) -> None:
        try:
            self._parser.write(data)
        except FormParserError as error:
            raise _malformed(str(error)) from None

    def end(self) -> None:
        if not self._ended:
            raise _malformed("it ends too early")
        if not self.name:
            raise _malformed("it has no file")

    def _on_part_begin(self) -> None:
        self._headers = {}

    def _on_header_begin(self) -> None:
        self._header, self._content = bytearray(), bytearray()

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._content += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[bytes(self._header).lower()] = bytes(self._content)

    def _on_headers_finished(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if kind != b"form-data":
            raise _malformed("a part of it does not say what it is")
        if b"filename" in options:
            if self.name:
                raise _malformed("it has more than one file")
            if not options[b"filename"]:  # what a browser sends for a choice not made
                raise _malformed("no file was chosen")
            self.name = harmless_name(options[b"filename"].decode("utf-8", "replace"))
            self._value = None
            return
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        if len(self._field) > 100:
            raise _malformed("a field has a name of more than 100 characters")
        if self._field in self.fields:
            raise _malformed("a field comes twice")
        if len(self.fields) == self._limits.fields:
            raise _malformed(f"it has more than {plural(self._limits.fields, 'field')}")
        self.fields[self._field] = ""
        self._value = bytearray()

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._value is None:
            self._file.take(data[start:end])
            return
        self._value += data[start:end]
        if len(self._value) > self._limits.field_bytes:
            raise _malformed(f"a field has more than {self._limits.field_bytes:,} bytes")

    def _on_part_end(self) -> None:
        if self._value is not None:
            self.fields[self._field] = self._value.decode("utf-8", "replace")

    def _on_end(self) -> None:
        self._ended = True


_CALLBACKS = (
    "on_part_begin",
    "on_header_begin",
    "on_header_field",
    "on_header_value",
    "on_header_end",
    "on_headers_finished",
    "on_part_data",
    "on_part_end",
    "on_end",
)


def _malformed(reason: str) -> UploadError:
    return UploadError("malformed", f"not a form with one file: {reason}")
