"""Many people at once, in short form; `make load` is the long one."""

from __future__ import annotations

from dataclasses import replace

from cranfield.web.settings import ServerSettings
from crowds import Crowd, crowded, free_port


def test_a_crowd_judges_without_a_fault(settings: ServerSettings) -> None:
    """No time is asked for here: machines are slow and busy."""
    crowd = Crowd(assessors=20, thinking=0.1, seconds=600, enough=60, documents=2000, topics=4)
    told = crowded(replace(settings, port=free_port()), crowd)
    assert told.faults == []
    assert told.judged >= 60
