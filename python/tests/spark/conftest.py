"""The engine that all tests run on, and the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import Command


@pytest.fixture(scope="session")
def sail() -> Iterator[Any]:
    """A session on Sail, by Spark Connect."""
    from pysail.spark import SparkConnectServer
    from pyspark.sql import SparkSession

    server = SparkConnectServer("127.0.0.1", 0)
    server.start(background=True)
    _, port = server.listening_address
    spark = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").getOrCreate()
    yield spark
    spark.stop()
    server.stop()


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not os.environ.get("MINWISE_LONG"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="long: `cargo x test --long` runs it"))
