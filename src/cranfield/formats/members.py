"""Compressed files of several members, each whole in itself, unpacked side by side: gzip (BGZF among it) and zstd.

Where a member ends is known (BGZF and zstd say it) or guessed (gzip: where another seems to begin). Members are taken
only if they end where the next begins, so that a wrong guess costs time, never a byte: from there on the file is
unpacked one piece after another, by `unpacked`, which tells what is damaged.
"""

from __future__ import annotations

import mmap
import re
from collections import deque
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from cranfield.formats.unpacking import (
    Compression,
    Stored,
    UnpackedSoFar,
    check_size,
    compression_of,
    decoder_errors,
    let_go,
    pieces_of,
    unpacked,
    zstd_module,
)
from cranfield.records import NamedTuple

if TYPE_CHECKING:
    from concurrent.futures import Future

LEAST_GROUP = 1 << 20  # stored bytes to unpack in one go: less is not worth a thread
MOST_GROUP = 1 << 24  # more would fill the memory: it is unpacked piece by piece
MOST_MADE = 1 << 26  # bytes to make of them
MOST_HELD = 1 << 28  # bytes of unpacked text to hold in memory
SEARCHED = 1 << 22  # bytes of gzip that are searched at once for the next member
# A member of gzip, with the flags, the speed and the system that there are.
_GZIP = rb"(?s)\x1f\x8b\x08[\x00-\x1f].{4}[\x00\x02\x04][\x00-\x0d\xff]"
_BGZF = rb"(?s)\x1f\x8b\x08\x04.{6}\x06\x00BC\x02\x00(.{2})"
_GZIP_HEAD, _BGZF_HEAD = 10, 18  # bytes


class MemberGroup(NamedTuple):
    """Members one after another: where each begins, and where the last one ends."""

    begins: tuple[int, ...]
    end: int


def unpacked_file(stored: Stored, label: str, threads: int = 1) -> Iterator[bytes]:
    """What a compressed file holds, piece by piece."""
    compression = compression_of(bytes(stored[:10]))
    assert compression is not None
    done = UnpackedSoFar(compression)
    if threads > 1 and len(stored) > 2 * LEAST_GROUP and compression.name in ("gzip", "zstd"):
        for so_far, piece in _side_by_side(stored, label, threads, compression):
            done = so_far
            yield piece
    if done.stored < len(stored):
        yield from unpacked(pieces_of(stored, done.stored), label, done)


def unpacked_whole(stored: Stored, label: str, threads: int = 1) -> Stored:
    """All that a compressed file holds; where that is much, in a temporary file, so that it need not stay in memory."""
    held = bytearray()
    pieces = unpacked_file(stored, label, threads)
    for piece in pieces:
        held += piece
        if len(held) > MOST_HELD:
            return _on_disk(held, pieces)
    return held


def _on_disk(held: bytearray, pieces: Iterator[bytes]) -> Stored:
    from tempfile import TemporaryFile

    every: Iterator[bytes | bytearray] = chain([held], pieces)
    try:
        with TemporaryFile(buffering=0) as file:
            for piece in every:
                left = memoryview(piece)
                try:
                    while left:
                        left = left[file.write(left) :]
                except OSError:  # no room on the disk
                    written = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
                    return bytearray(b"").join([written, left, *pieces])
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:  # no place for temporary files
        return bytearray(b"").join([held, *pieces])


def _side_by_side(
    stored: Stored, label: str, threads: int, compression: Compression
) -> Iterator[tuple[UnpackedSoFar, bytes]]:
    """What groups of members hold, in their order, and how far this has come; it ends where something is odd."""
    groups = _groups(stored, compression)
    first = list(islice(groups, 2))
    if len(first) < 2:
        return
    from concurrent.futures import ThreadPoolExecutor

    view = memoryview(stored)
    size = 0
    ahead: deque[tuple[MemberGroup, Future[list[bytes]]]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for group in first:
            ahead.append((group, pool.submit(_members, view, group, compression)))
        while ahead:
            for group in islice(groups, threads + 1 - len(ahead)):
                ahead.append((group, pool.submit(_members, view, group, compression)))
            group, made = ahead.popleft()
            try:
                texts = made.result()
            except decoder_errors(compression):
                return
            for text in texts:
                size += len(text)
            check_size(label, group.end, size)
            let_go(stored, group.begins[0], group.end)
            yield UnpackedSoFar(compression, group.end, size), b"".join(texts)
    except RuntimeError:  # the system gives no more threads
        return
    finally:
        pool.shutdown(cancel_futures=True)


def _members(view: memoryview, group: MemberGroup, compression: Compression) -> list[bytes]:
    """What the members of a group hold; an error where one is not whole, or does not end where the next begins."""
    made: list[bytes] = []
    left = MOST_MADE
    for begin, end in zip(group.begins, (*group.begins[1:], group.end), strict=True):
        decoder = compression.decoder()
        made.append(decoder.decompress(view[begin:end], left))
        if not decoder.eof or decoder.unused_data:
            raise EOFError
        left -= len(made[-1])
        if left <= 0:
            raise EOFError
    return made


def _groups(stored: Stored, compression: Compression) -> Iterator[MemberGroup]:
    """Members in groups that are worth a thread, up to where one is too large, or where there is none."""
    begins: list[int] = []
    at = 0
    for end in _ends(stored, compression):
        if end - at > MOST_GROUP:
            let_go(stored, at, end)  # what was looked at to find its end
            break
        begins.append(at)
        at = end
        if at - begins[0] >= LEAST_GROUP:
            yield MemberGroup(tuple(begins), at)
            begins = []
    if begins:
        yield MemberGroup(tuple(begins), at)


def _ends(stored: Stored, compression: Compression) -> Iterator[int]:
    """Where members end, one after another from the start; of gzip that is a guess, unless it is BGZF."""
    if compression.name == "zstd":
        return _zstd_ends(stored, compression)
    if re.match(_BGZF, stored[:_BGZF_HEAD]):
        return _bgzf_ends(stored)
    return iter(()) if _seems_alone(stored, compression) else _gzip_ends(stored)


def _zstd_ends(stored: Stored, compression: Compression) -> Iterator[int]:
    zstd = zstd_module()
    view, at = memoryview(stored), 0
    while compression.begins(view[at : at + 4]):
        try:
            # All of a frame is looked at to find its end: not of one that is too large for a group.
            at += zstd.get_frame_size(view[at : at + MOST_GROUP])
        except zstd.ZstdError:  # larger, cut short, or damaged
            return
        yield at


def _bgzf_ends(stored: Stored) -> Iterator[int]:
    at = 0
    while head := re.match(_BGZF, stored[at : at + _BGZF_HEAD]):
        at += int.from_bytes(head[1], "little") + 1
        if at > len(stored):
            return
        yield at


def _seems_alone(stored: Stored, compression: Compression) -> bool:
    """Whether the last four bytes, the length of the last member's text, are about what all of the file would make.

    Searching a large file for members that it has not would take longer than unpacking it.
    """
    decoder, sample = compression.decoder(), memoryview(stored)[: LEAST_GROUP >> 3]
    try:
        made = len(decoder.decompress(sample, MOST_MADE))
    except decoder_errors(compression):
        return True
    expected = made * len(stored) / len(sample)
    last = int.from_bytes(stored[-4:], "little")
    return not decoder.eof and (expected >= 1 << 32 or last > 0.8 * expected)  # it is counted modulo 2^32


def _gzip_ends(stored: Stored) -> Iterator[int]:
    for begin in range(0, len(stored), SEARCHED - _GZIP_HEAD + 1):  # one may begin where what was searched ends
        for head in re.finditer(_GZIP, bytes(stored[begin : begin + SEARCHED])):
            if begin + head.start() > 0:
                yield begin + head.start()
    yield len(stored)
