"""Data of publications that several tests of significance are checked on, and where TREC-8's scores are, if at all."""

from __future__ import annotations

import numpy as np

from places import DATA

TREC8 = DATA / "trec8" / "adhoc8_ap.csv"

# Croft, Metzler and Strohman, "Search engines", 2010, section 8.6: B, which is to be better, and A.
CROFT = np.array([[35, 84, 15, 75, 68, 85, 80, 50, 58, 75], [25, 43, 39, 75, 43, 15, 20, 52, 49, 50]], dtype=float)
# Tague, in "Information retrieval experiment", 1981, page 96: differences.
TAGUE = np.array([[0.11, 0.01, 0.01, -0.02, 0.02, 0.47, 0.11, -0.01, 0.01, -0.07], [0.0] * 10])
# Sakai, "Laboratory experiments in information retrieval", 2018, table 5.1: systems a, b and c.
SAKAI = (
    np.array(
        [
            [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
            [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
            [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
        ]
    )
    / 10
)
# Student, "The probable error of a mean", 1908: hours of sleep gained.
SLEEP = np.array(
    [[0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2], [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]]
)
