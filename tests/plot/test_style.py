"""Colours: legible in light and dark, told apart by colour-blind readers, and no others in any picture."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from cranfield.plot.style import (
    AXIS,
    COLOURS,
    DARK,
    GREY,
    GROUND,
    INK,
    SHADES,
    TWO_SIDED,
    WRITTEN_SHADES,
)

# What is seen of red, green and blue by those who lack one kind of cone (Machado, Oliveira and Fernandes).
SIGHTS = {
    "whole": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
TO_XYZ = ((0.4339, 0.3762, 0.1899), (0.2127, 0.7152, 0.0722), (0.0178, 0.1095, 0.8728))  # of white, 1 each


def linear(colour: str) -> list[float]:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(m * c for m, c in zip(row, vector, strict=True)) for row in matrix]


def contrast(a: str, b: str) -> float:
    """Of two colours, as the guidelines for accessible pages (WCAG) have it."""
    dark, light = sorted(times(TO_XYZ, linear(colour))[1] for colour in (a, b))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, sight: str) -> list[float]:
    seen = [min(max(part, 0.0), 1.0) for part in times(SIGHTS[sight], linear(colour))]
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in times(TO_XYZ, seen))
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_colours_stay_distinct_for_colour_blind_readers(sight: str, dark: bool) -> None:
    seen = [lab(DARK[colour] if dark else colour, sight) for colour in COLOURS]
    for i, a in enumerate(seen):
        for b in seen[i + 1 :]:
            assert sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5 > 15


def test_text_and_marks_are_seen_on_light_and_on_dark_ground() -> None:
    assert contrast(INK, GROUND) >= 4.5
    assert contrast(DARK[INK], DARK[GROUND]) >= 4.5
    for mark in (*COLOURS, GREY, AXIS):
        assert contrast(mark, GROUND) >= 3, mark
        assert contrast(DARK[mark], DARK[GROUND]) >= 3, mark


@pytest.mark.parametrize("shade", [*WRITTEN_SHADES, *TWO_SIDED])
def test_text_in_cells_is_legible(shade: str) -> None:
    assert contrast(INK, shade) >= 4.5
    assert contrast(DARK[INK], DARK[shade]) >= 4.5


def test_ramps_start_at_the_ground_and_never_turn() -> None:
    from_ground = [contrast(shade, GROUND) for shade in SHADES]
    assert from_ground[0] == 1
    assert from_ground == sorted(from_ground)
    in_the_dark = [contrast(DARK[shade], DARK[GROUND]) for shade in SHADES]
    assert in_the_dark[0] == 1
    assert in_the_dark == sorted(in_the_dark)
    assert TWO_SIDED[len(TWO_SIDED) // 2] == GROUND
