"""Tests of Spark share one cluster and one session, in one process: `--dist loadgroup` keeps them together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_cluster import Cluster, running_cluster, running_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("spark"))
            # pyspark warns of the pandas that others need, though nothing of it is used.
            item.add_marker(pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"))


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("cluster")) as made:
        yield made


@pytest.fixture(scope="session")
def session(cluster: Cluster) -> Iterator[SparkSession]:
    with running_session(cluster) as made:
        yield made
