"""Compressed files of several members: unpacked side by side they are what they are one piece after another, and what
is wrong with them is told alike."""

from __future__ import annotations

import gzip
import lzma
import mmap
import random
import resource
import signal
import struct
import tempfile
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield
from cranfield import DataError
from cranfield.formats import members, unpacking
from cranfield.formats.members import unpacked_file, unpacked_whole
from cranfield.formats.reading import Reading
from cranfield.formats.unpacking import compression_of, zstd_module

TEXT = "".join(
    f"t{topic} Q0 document-{random.Random(topic).randrange(10**6)}-{rank} {rank} {1000 - rank} tag\n"
    for topic in range(60)
    for rank in range(200)
).encode()


def bgzf_block(text: bytes) -> bytes:
    """A block as bgzip writes it: a member of gzip that says how long it is."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = packer.compress(text) + packer.flush()
    head = b"\x1f\x8b\x08\x04" + bytes(4) + b"\x00\xff\x06\x00BC\x02\x00" + struct.pack("<H", len(data) + 25)
    return head + data + struct.pack("<II", zlib.crc32(text), len(text))


def zstd_frame(text: bytes) -> bytes:
    return bytes(zstd_module().compress(text))


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda text: gzip.compress(text, mtime=0),
    "bgzf": bgzf_block,
    "zstd": zstd_frame,
}


def packed(form: str, text: bytes = TEXT, size: int = 20_000) -> bytes:
    """A text cut anywhere, each part compressed by itself; BGZF ends with an empty block."""
    cut = [text[at : at + size] for at in range(0, len(text), size)]
    return b"".join(map(PACKED[form], [*cut, b""] if form == "bgzf" else cut))


@pytest.fixture(autouse=True)
def small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "LEAST_GROUP", 4096)
    monkeypatch.setattr(members, "SEARCHED", 5000)


def outcome(data: bytes, threads: int) -> tuple[bytes, str]:
    """All that is unpacked, and the error at the end of it; bytes before an error may be fewer or more."""
    out = b""
    try:
        for piece in unpacked_file(data, "a.packed", threads):
            out += piece
    except DataError as error:
        return b"", str(error)
    return out, ""


@pytest.mark.parametrize("form", PACKED)
@pytest.mark.parametrize("threads", [2, 5])
def test_members_are_one_text(form: str, threads: int) -> None:
    assert outcome(packed(form), threads) == (TEXT, "")


@pytest.mark.parametrize("form", PACKED)
def test_all_of_them_are_unpacked_side_by_side(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is left to be unpacked one piece after another."""
    monkeypatch.setattr(members, "unpacked", None)
    assert outcome(packed(form), 2) == (TEXT, "")


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_a_single_member_is_not_searched_for_others(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(form, size=len(TEXT))
    assert len(data) > 2 * members.LEAST_GROUP
    monkeypatch.setattr(members, "_gzip_ends", None)
    assert outcome(data, 2) == (TEXT, "")


def test_a_member_inside_a_member_is_none() -> None:
    """Bytes that look like the start of a member, stored as they are: a wrong guess costs no byte."""
    inside = gzip.compress(b"inside", mtime=0)
    text = TEXT[:30_000] + inside + TEXT[30_000:50_000]
    data = b"".join(gzip.compress(part, 0, mtime=0) for part in (text, TEXT, inside * 9))
    assert outcome(data, 3) == (text + TEXT + inside * 9, "")


@pytest.mark.parametrize("form", PACKED)
@pytest.mark.parametrize(
    ("harm", "told"),
    {
        "cut": (lambda data: data[:-9], "it ends too early"),
        "cut in the middle": (lambda data: data[: len(data) // 2], "it ends too early"),
        "something behind": (lambda data: data + b"and more of it", "something else follows"),
        "something between": (lambda data: data + bytes(20) + data, "something else follows"),
        "zeros behind": (lambda data: data + bytes(5000), ""),
        "flipped": (lambda data: data[:30_000] + bytes([data[30_000] ^ 0xFF]) + data[30_001:], "damaged"),
    }.values(),
    ids=["cut", "cut in the middle", "something behind", "something between", "zeros behind", "flipped"],
)
def test_damage_is_told_as_ever(form: str, harm: Callable[[bytes], bytes], told: str) -> None:
    data = harm(packed(form))
    one = outcome(data, 1)
    assert told in one[1]
    assert (one[1] == "") == (told == "")
    assert outcome(data, 3) == one


@given(
    st.sampled_from(sorted(PACKED)),
    st.lists(st.tuples(st.integers(0, 60_000), st.sampled_from(["flip", "cut", "drop", "zero", "member"])), max_size=2),
)
@settings(max_examples=120, derandomize=True)
def test_any_damage_is_told_as_ever(form: str, harms: list[tuple[int, str]]) -> None:
    data = packed(form, TEXT[:200_000], 9_000)
    for place, harm in harms:
        at = place % max(len(data), 1)
        data = {
            "flip": data[:at] + bytes(byte ^ 4 for byte in data[at : at + 1]) + data[at + 1 :],
            "cut": data[:at],
            "drop": data[:at] + data[at + 7 :],
            "zero": data[:at] + bytes(12) + data[at:],
            "member": data + PACKED[form](b"x"),
        }[harm]
    if compression_of(data[:10]) is not None:
        assert outcome(data, 2) == outcome(data, 1)


@pytest.mark.parametrize("form", PACKED)
def test_what_expands_beyond_reason_is_refused(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacking, "LEAST_LIMIT", 1 << 20)
    monkeypatch.setattr(unpacking, "EXPANSION", 100)
    monkeypatch.setattr(members, "LEAST_GROUP", 64)
    size = 60_000 if form == "bgzf" else 1 << 19
    data = packed(form, bytes(1 << 23), size)
    for threads in (1, 3):
        assert "is compressed to less than 1/100 of its text" in outcome(data, threads)[1]


def test_members_that_become_too_much_are_unpacked_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_MADE", 50_000)
    assert outcome(packed("gzip"), 2) == (TEXT, "")
    monkeypatch.setattr(members, "MOST_GROUP", 2000)
    assert outcome(packed("zstd"), 2) == (TEXT, "")


@pytest.mark.parametrize("room", [True, False])
def test_much_text_is_kept_on_disk_where_there_is_room(room: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_HELD", 100_000)
    assert isinstance(unpacked_whole(packed("gzip", TEXT[:90_000]), "a"), bytearray)
    if not room:
        file_limit = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (250_001, file_limit[1]))
    try:
        whole = unpacked_whole(packed("gzip"), "a")
    finally:
        if not room:
            resource.setrlimit(resource.RLIMIT_FSIZE, file_limit)
            signal.signal(signal.SIGXFSZ, ignored)
    assert isinstance(whole, mmap.mmap if room else bytearray)
    assert bytes(whole) == TEXT


def test_without_a_place_for_temporary_files_memory_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MOST_HELD", 100_000)
    monkeypatch.setattr(tempfile, "tempdir", "/nowhere")
    assert bytes(unpacked_whole(packed("gzip"), "a")) == TEXT


@pytest.mark.parametrize("form", PACKED)
def test_runs_score_as_the_plain_one(form: str, tmp_path: Path) -> None:
    qrels = {
        f"t{topic}": {line.split()[2]: 1 for line in TEXT.decode().splitlines()[topic * 200 :: 7]}
        for topic in range(60)
    }
    (tmp_path / "plain.run").write_bytes(TEXT)
    (tmp_path / "packed.run").write_bytes(packed(form))
    plain, side_by_side = (
        cranfield.evaluate(qrels, str(tmp_path / name), ["AP", "RR"], reading=Reading(threads=3)).scores.tolist()
        for name in ("plain.run", "packed.run")
    )
    assert side_by_side == plain
    assert cranfield.read_run(tmp_path / "packed.run").to_dict() == cranfield.read_run(tmp_path / "plain.run").to_dict()


@pytest.mark.parametrize("given", [0, 1, 4])
def test_without_more_threads_the_rest_is_unpacked_piece_by_piece(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start
    left = [given]

    def refused(thread: threading.Thread) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refused)
    assert outcome(packed("gzip"), 6) == (TEXT, "")


def test_frames_to_be_skipped_are_skipped() -> None:
    """As pzstd writes them before each frame, and others at the end, to find places by."""
    skipped = struct.pack("<II", 0x184D2A50, 4) + b"\x01\x02\x03\x04"
    frames = [zstd_frame(TEXT[at : at + 20_000]) for at in range(0, len(TEXT), 20_000)]
    for data in (skipped + skipped.join(frames) + skipped, b"".join(frames) + skipped):
        for threads in (1, 3):
            assert outcome(data, threads) == (TEXT, "")
            assert "it ends too early" in outcome(data[:-2], threads)[1]


def gzip_member(flags: int, text: bytes) -> bytes:
    """A member whose header has what the flags say: a checksum of it, further data, a name, a comment."""
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(5) + b"\x03"
    head += struct.pack("<H", 3) + b"abc" if flags & 4 else b""
    head += b"a.run\0" if flags & 8 else b""
    head += b"made by a test\0" if flags & 16 else b""
    head += struct.pack("<H", zlib.crc32(head) & 0xFFFF) if flags & 2 else b""
    return head + gzip.compress(text, mtime=0)[10:]


@pytest.mark.parametrize("flags", range(0, 32, 2))
def test_headers_of_gzip_may_be_cut_anywhere(flags: int) -> None:
    first, second = gzip_member(0, b"one\n"), gzip_member(flags, b"two\n")
    for cut in range(len(first), len(first) + 50):
        both = first + second
        assert b"".join(unpacking.unpacked(iter([both[:cut], both[cut:]]), "a.gz")) == b"one\ntwo\n", cut


@pytest.mark.parametrize("zeros", [0, 4, 8])
def test_streams_of_xz_may_be_padded(zeros: int) -> None:
    data = lzma.compress(b"one\n") + bytes(zeros) + lzma.compress(b"two\n") + bytes(zeros)
    for cut in range(10, len(data)):
        assert b"".join(unpacking.unpacked(iter([data[:cut], data[cut:]]), "a.xz")) == b"one\ntwo\n", cut
    with pytest.raises(DataError, match="something else follows"):
        list(unpacking.unpacked(iter([lzma.compress(b"one\n"), bytes(4), b"more"]), "a.xz"))
