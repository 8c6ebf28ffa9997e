"""Compressed uploads: single streams are unpacked, archives refused, and bombs stopped while they are small."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tracemalloc
from collections.abc import Callable

import pytest

from cranfield.errors import CranfieldError, DataError
from cranfield.formats.unpacking import zstd_module
from cranfield.web.uploads.refusal import UploadError
from cranfield.web.uploads.unpacking import UnpackingLimits, unpack

TEXT = b"".join(b"q%d Q0 d%d 1 %d tag\n" % (i % 7, i * i, i) for i in range(3000))
LINE = b"q1 Q0 d1 1 9.5 tag\n"


def zstd(data: bytes) -> bytes:
    module = zstd_module()
    packed: bytes = module.compress(data, options={module.CompressionParameter.checksum_flag: 1})
    return packed


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstd,
}


class Sink(io.RawIOBase):
    """What is written is counted and forgotten."""

    def __init__(self) -> None:
        self.size = 0

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self.size += len(data)
        return len(data)


@pytest.mark.parametrize("kind", PACKERS)
def test_single_streams_are_known_by_their_content(kind: str) -> None:
    pack = PACKERS[kind]
    for packed in (pack(TEXT), pack(TEXT[:1000]) + pack(TEXT[1000:])):  # parallel compressors write several in a row
        target = io.BytesIO()
        found = unpack(io.BytesIO(packed), target, "a.txt")
        assert (found.compression, found.size, found.rows) == (kind, len(TEXT), 3000)
        assert target.getvalue() == TEXT


def test_a_file_as_it_is() -> None:
    target = io.BytesIO()
    assert unpack(io.BytesIO(b"a\nb"), target, "a.gz").rows == 2
    assert unpack(io.BytesIO(b"a\r\nb\r\n"), target, "a.gz").rows == 2
    assert unpack(io.BytesIO(b"a\rb\r"), target, "a.gz").rows == 2
    assert unpack(io.BytesIO(b""), target, "a.gz").rows == 0
    assert target.getvalue() == b"a\nba\r\nb\r\na\rb\r"


def bomb(kind: str) -> bytes:
    """About 400 MB of one line, in a few kilobytes."""
    return PACKERS[kind](LINE * (1 << 18)) * 80


@pytest.mark.parametrize("kind", PACKERS)
def test_bombs_are_stopped_while_they_are_small(kind: str) -> None:
    packed = bomb(kind)
    assert 80 * len(LINE) * (1 << 18) > 250 * len(packed)
    sink = Sink()
    tracemalloc.start()
    try:
        with pytest.raises(UploadError) as refused:
            unpack(io.BytesIO(packed), sink, "a.run.gz")  # type: ignore[arg-type]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (refused.value.code, refused.value.status) == ("expansion", 413)
    assert str(refused.value).startswith("a.run.gz: unpacks to more than 200 times its bytes")
    assert sink.size < 150 << 20
    assert peak < 64 << 20


def test_what_hides_behind_noise_is_stopped_by_size() -> None:
    """Bytes that do not shrink at the start make up for the ratio of those that follow, not for their number."""
    packed = bomb("bzip2")
    sink = Sink()
    with pytest.raises(UploadError, match="a: unpacks to more than 30,000,000 bytes"):
        unpack(io.BytesIO(packed), sink, "a", UnpackingLimits(text_bytes=30_000_000, ratio=1 << 40))  # type: ignore[arg-type]
    assert sink.size <= 30_000_000


def test_a_file_that_is_not_compressed_is_held_against_size_and_rows_alone() -> None:
    big = b"x" * (3 << 20)
    assert unpack(io.BytesIO(big), Sink(), "a", UnpackingLimits(ratio=1)).size == len(big)  # type: ignore[arg-type]
    with pytest.raises(UploadError, match="a: unpacks to more than 1,000,000 bytes"):
        unpack(io.BytesIO(big), Sink(), "a", UnpackingLimits(text_bytes=1_000_000))  # type: ignore[arg-type]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_rows_are_counted_whichever_way_they_end(end: bytes) -> None:
    limits = UnpackingLimits(rows=100)
    unpack(io.BytesIO((b"x" + end) * 100), io.BytesIO(), "a", limits)
    for data in ((b"x" + end) * 101, (b"x" + end) * 100 + b"x", gzip.compress((b"x" + end) * 101)):
        with pytest.raises(UploadError, match="a: has more than 100 lines") as refused:
            unpack(io.BytesIO(data), io.BytesIO(), "a", limits)
        assert refused.value.status == 413


@pytest.mark.parametrize("kind", PACKERS)
def test_members_without_end(kind: str) -> None:
    """Streams of nothing or next to nothing: neither size nor ratio would stop them."""
    limits = UnpackingLimits(members=5000)
    for content in (b"", b"x"):
        unpack(io.BytesIO(PACKERS[kind](content) * 4900), io.BytesIO(), "a", limits)
        with pytest.raises(UploadError, match="a: is more than 5,000 compressed streams in a row"):
            unpack(io.BytesIO(PACKERS[kind](content) * 9000), io.BytesIO(), "a", limits)


def test_a_window_that_needs_gigabytes() -> None:
    frame = b"\x28\xb5\x2f\xfd\x00" + bytes([21 << 3]) + b"\x09\x00\x00x"  # of 2 GiB; one byte of text
    with pytest.raises(UploadError, match="needs more memory than zstd takes unless told to") as refused:
        unpack(io.BytesIO(frame), io.BytesIO(), "a.zst")
    assert refused.value.code == "memory"
    assert unpack(io.BytesIO(frame[:5] + b"\x00" + frame[6:]), io.BytesIO(), "a.zst").size == 1


ARCHIVES = {
    "a zip archive": b"PK\x03\x04" + b"x" * 600,
    "a zip archive ": b"PK\x05\x06" + bytes(18),
    "a tar archive": b"a.run".ljust(257, b"\0") + b"ustar\x0000" + bytes(300),
    "a 7z archive": b"7z\xbc\xaf\x27\x1c\0\4",
    "a rar archive": b"Rar!\x1a\x07\x01\0",
    "compressed by compress": b"\x1f\x9d\x90",
    "compressed by lz4": b"\x04\x22M\x18d@",
    "compressed by lzip": b"LZIP\x01",
    "a Parquet file": b"PAR1\x15\x04",
    "an Arrow file": b"ARROW1\0\0",
}


@pytest.mark.parametrize("what", ARCHIVES)
@pytest.mark.parametrize("around", [None, *PACKERS])
def test_archives_are_refused_in_words(what: str, around: str | None) -> None:
    data = ARCHIVES[what] if around is None else PACKERS[around](ARCHIVES[what])
    target = io.BytesIO()
    with pytest.raises(UploadError) as refused:
        unpack(io.BytesIO(data), target, "a.run")
    assert refused.value.code == "packed"
    assert str(refused.value).startswith(f"a.run: is {what.strip()}")
    assert str(refused.value).endswith("Upload one file, as it is or compressed by gzip, bzip2, xz or zstd.")
    assert target.getvalue() == b""


@pytest.mark.parametrize("inner", PACKERS)
@pytest.mark.parametrize("outer", PACKERS)
def test_what_is_compressed_twice_is_refused(outer: str, inner: str) -> None:
    for data in (PACKERS[outer](PACKERS[inner](TEXT)), PACKERS[outer](b"") + PACKERS[outer](PACKERS[inner](TEXT))):
        with pytest.raises(UploadError, match="is compressed twice"):
            unpack(io.BytesIO(data), io.BytesIO(), "a.gz")


@pytest.mark.parametrize("kind", PACKERS)
def test_damaged_data_is_told_by_the_readers_own_words(kind: str) -> None:
    packed = PACKERS[kind](TEXT)
    for data in (packed[:-20], packed[:50] + bytes(20) + packed[70:], packed + b"something else"):
        with pytest.raises((DataError, UploadError)) as refused:
            unpack(io.BytesIO(data), io.BytesIO(), "a.gz")
        assert isinstance(refused.value, CranfieldError)
        assert str(refused.value).startswith(f"a.gz: damaged {kind} data (")
