"""Files are cut where topics begin: every line is in one piece, and no topic is cut whose lines stand together."""

from __future__ import annotations

from itertools import groupby, pairwise
from pathlib import Path
from random import Random

import pytest

from cranfield.spark.piece_texts import FilePiece, piece_text
from cranfield.spark.run_sources import Cutting

ENDS = {"LF": b"\n", "CR LF": b"\r\n", "CR": b"\r"}


def pieces_of(paths: list[Path], most: int) -> list[bytes]:
    files = tuple(map(str, paths))
    cuts = [Cutting(most, 3).cuts(path.stat().st_size) for path in paths]
    return [
        piece_text(FilePiece("run", files, number, begin, end))[1]
        for number, of_file in enumerate(cuts)
        for begin, end in pairwise(of_file)
    ]


def lines_of(random: Random, topics: int) -> list[bytes]:
    """Topics of very different lengths, each with all its lines together, blank lines and comments among them."""
    lines = []
    for topic in range(topics):
        for number in range(random.choice([1, 2, 40, 400])):
            lines.append(f"{topic} Q0 d{number} {number + 1} {-number} tag".encode())
            if random.random() < 0.05:
                lines.append(random.choice([b"", b"# a comment", b"  "]))
    return lines


@pytest.mark.parametrize("end", ENDS.values(), ids=list(ENDS))
@pytest.mark.parametrize("files", [1, 4])
def test_every_line_is_in_one_piece_and_no_topic_is_cut(tmp_path: Path, end: bytes, files: int) -> None:
    for seed in range(6):
        random = Random(seed)
        lines = lines_of(random, 30)
        cuts = [0, *sorted(random.sample(range(1, len(lines)), files - 1)), len(lines)]
        paths = [tmp_path / f"{seed}-{number}" for number in range(files)]
        for path, (first, last) in zip(paths, pairwise(cuts), strict=True):
            path.write_bytes(b"\xef\xbb\xbf" + end.join(lines[first:last]))  # no end of the last line
        for most in (7, 100, 1_000, 20_000, 10**6):
            texts = pieces_of(paths, most)
            kept = [line for text in texts for line in text.replace(end, b"\n").split(b"\n") if line.strip()]
            assert kept == [line for line in lines if line.strip()]
            topics = [
                {line.split()[0] for line in text.replace(end, b"\n").split(b"\n") if line[:1].isdigit()}
                for text in texts
            ]
            assert sum(map(len, topics)) == 30
            if most == 1_000:
                assert len([text for text in texts if text]) > 5


def test_a_topic_is_followed_as_far_as_it_goes(tmp_path: Path) -> None:
    """Over files and blocks, by the piece that it begins in; those inside of it are empty."""
    rows = [
        f"{topic} Q0 d{number} 1 1 tag\n" for topic, count in ((1, 5), (2, 20_000), (3, 5)) for number in range(count)
    ]
    paths = []
    for number, first in enumerate(range(0, len(rows), 6_000)):
        paths.append(tmp_path / f"part{number}")
        paths[-1].write_text("".join(rows[first : first + 6_000]))
    texts = [text for text in pieces_of(paths, 1_000) if text]
    assert b"".join(texts).decode() == "".join(rows)
    owners = [[topic for topic, _ in groupby(text.split(b" ")[0] for text in text.splitlines())] for text in texts]
    assert sorted(topic for owned in owners for topic in owned) == [b"1", b"2", b"3"]
