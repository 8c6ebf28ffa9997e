"""Judgements that come as a frame of Spark."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from cranfield.errors import DataError
from cranfield.formats import read_qrels, request_for
from cranfield.formats.format import decode
from cranfield.formats.layout import check_grades, require_columns
from cranfield.formats.reading import Reading
from cranfield.judged import pool
from cranfield.policy import Policy
from cranfield.spark.jobs import Job
from cranfield.spark.row_tasks import with_judgements
from cranfield.spark.run_sources import judgement_rows
from cranfield.tables import Qrels

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SOURCE = "the judgements"


@dataclass(frozen=True, eq=False)
class JudgementFrame:
    """The rows of judgements as they travel, and what the column of their grades is called."""

    rows: DataFrame
    grade: str
    reading: Reading

    @classmethod
    def of(cls, frame: DataFrame, reading: Reading) -> JudgementFrame:
        columns = require_columns(frame.columns, "grade", reading.told, SOURCE)
        return cls(judgement_rows(frame, reading), frame.columns[columns.value], reading)

    @cached_property
    def count(self) -> int:
        """How many they are."""
        count: int = self.rows.count()
        if not count:
            raise DataError("has no rows", source=SOURCE, remedy="Give at least one document.")
        return count

    @cached_property
    def highest(self) -> float:
        """The highest grade of all."""
        from pyspark.sql import functions

        found = self.rows.agg(functions.max("value")).collect()[0][0]
        return max(float(found or 0.0), 0.0)

    def topics(self) -> tuple[list[str], int]:
        """Some of the judged topics, to be named, and how many there are."""
        topics = self.rows.select("topic").distinct()
        first = topics.orderBy("topic").limit(3).collect()
        return [decode(bytes(row[0])) for row in first], topics.count()

    def collected(self) -> Qrels:
        """The judgements, here. What is wrong with them is told by their ids: rows of a frame have no numbers."""
        none = Job(None, pool(self.nothing()), Policy(), self.reading, (), {})
        qrels = with_judgements(none, self.rows.toArrow(), self.highest).qrels
        assert qrels is not None
        check_grades(qrels.table, self.grade, request_for("grade", self.reading), SOURCE)
        return qrels

    @staticmethod
    def nothing() -> Qrels:
        """Some judgements or other, where those of a task come with its rows."""
        return read_qrels({"-": {"-": 1}})
