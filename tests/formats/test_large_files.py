"""Files that the cache of the system could not hold are read from the disk, past it: the same numbers and errors,
whatever of them is in the cache already."""

from __future__ import annotations

import os
import random
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import cranfield
from cranfield import DataError
from cranfield.formats import sources
from cranfield.formats.reading import Reading

MEASURES = ["AP", "nDCG@10", "RR", "P@5"]
TOPICS, ROWS = 180, 1000  # some parts of half a megabyte and more


def lines_of() -> list[str]:
    chance = random.Random(17)
    return [
        f"t{topic} Q0 document-{number} {rank} {chance.choice([1.5, 2.0, chance.random()])} tag\n"
        for topic in range(TOPICS)
        for rank, number in enumerate(chance.sample(range(9000), ROWS), start=1)
    ]


LINES = lines_of()


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file that is mapped is larger than the cache."""
    monkeypatch.setattr(sources, "_cache", lambda: 0)


@pytest.fixture(scope="module")
def qrels(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("large") / "qrels"
    judged = (line.split() for line in LINES[::5])
    path.write_text("".join(f"{words[0]} 0 {words[2]} {len(words[2]) % 3}\n" for words in judged))
    return str(path)


@pytest.fixture(scope="module")
def plain(qrels: str) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for line in LINES:
        topic, _, document, _, score, _ = line.split()
        run.setdefault(topic, {})[document] = float(score)
    return cranfield.evaluate(qrels, {"a": run}, MEASURES).mean()


def written(path: Path, text: str) -> Path:
    """A file of which nothing is in the cache, where the system does so."""
    path.write_text(text)
    assert path.stat().st_size > sources.COPIED
    forget(path)
    return path


def forget(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def in_pieces() -> Iterator[list[str]]:
    """The lines of each topic, half of them at a time."""
    for half in (0, 1):
        for topic in range(TOPICS):
            of_topic = LINES[topic * ROWS : (topic + 1) * ROWS]
            yield of_topic[half::2]


TEXTS = {
    "grouped": "".join(LINES),
    "scattered": "".join(line for piece in in_pieces() for line in piece),
    "marked": "\ufeff" + "".join(LINES),
    "CR LF": "".join(LINES).replace("\n", "\r\n"),
    "without an end": "".join(LINES).rstrip("\n"),
    "CSV": "topic,document,score\n" + "".join(",".join(line.split()[i] for i in (0, 2, 4)) + "\n" for line in LINES),
}


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("form", TEXTS)
def test_numbers_are_those_of_any_file(
    form: str, threads: int, tmp_path: Path, qrels: str, plain: dict[str, dict[str, float]]
) -> None:
    path = written(tmp_path / "a.run", TEXTS[form])
    reading = Reading(threads=threads)
    assert cranfield.evaluate(qrels, str(path), MEASURES, reading=reading).mean() == plain
    assert cranfield.evaluate(qrels, str(path), MEASURES, reading=reading).mean() == plain  # some of it is in the cache
    assert len(cranfield.read_run(path)) == len(LINES)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("place", [0, 1, TOPICS * ROWS // 2, TOPICS * ROWS - 1])
def test_faults_are_told_with_their_line(place: int, tmp_path: Path, qrels: str) -> None:
    lines = [*LINES]
    lines[place] = "t1 Q0 odd 1 zero tag\n"
    path = written(tmp_path / "a.run", "\ufeff" + "".join(lines))
    with pytest.raises(DataError, match="'zero' is not a number") as told:
        cranfield.evaluate(qrels, str(path), MEASURES)
    assert (told.value.line, told.value.text) == (place + 1, lines[place].strip())


@pytest.mark.usefixtures("large")
def test_the_cache_is_passed_by(tmp_path: Path, qrels: str) -> None:
    # Much longer than what the system reads ahead where somebody looks at the first bytes.
    path = written(tmp_path / "a.run", TEXTS["grouped"].replace(" tag\n", f" {'tag' * 300}\n"))
    if from_disk(path.read_bytes) < path.stat().st_size / 2:
        pytest.skip("what is read here comes from no disk, or nobody counts it")
    forget(path)
    for _ in range(2):  # the second time it would come from the cache
        assert from_disk(lambda: cranfield.evaluate(qrels, str(path), MEASURES)) > 0.7 * path.stat().st_size


def from_disk(work: Callable[[], object]) -> int:
    """How many bytes work reads from a disk."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_inblock
    work()
    return 512 * (resource.getrusage(resource.RUSAGE_SELF).ru_inblock - before)


@pytest.mark.usefixtures("large")
def test_descriptors_are_closed(tmp_path: Path, qrels: str) -> None:
    path = written(tmp_path / "a.run", TEXTS["grouped"])
    for _ in range(3):
        cranfield.evaluate(qrels, str(path), MEASURES)
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no /proc here")
    left = [os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd")]
    assert str(path.resolve()) not in left
