"""Fixtures of the tests of the Spark job: a session on a Sail server, and the command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from corpora import ROOT, Command
from minwise.spark._sail import SailServer

#: The server of the test session. Its log is shown with failed tests.
SERVERS: list[SailServer] = []


@pytest.fixture(scope="session")
def sail() -> Iterator[Any]:
    """Yields a Spark Connect session on a Sail server in a process of its own."""
    from pyspark.sql import SparkSession

    with SailServer() as server:
        SERVERS.append(server)
        spark = SparkSession.builder.remote(server.url).getOrCreate()
        yield spark
        SERVERS.clear()
        spark.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.failed:
        for server in SERVERS:
            report.sections.append(("log of the Sail server", server.log()[-4_000:]))
    return report


@pytest.fixture(scope="session")
def guide() -> str:
    """Returns the guide to the Spark job."""
    return (ROOT / "docs/guides/spark.md").read_text(encoding="utf-8")


@pytest.fixture
def command(tmp_path: Path) -> Command:
    return Command(tmp_path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        # The warning is ignored, because sockets of Spark are closed when Python collects them, which may happen in any
        # test.
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
    if os.environ.get("MINWISE_WITHOUT_JAVA"):
        for item in items:
            if "classic" in getattr(item, "fixturenames", ()) or item.get_closest_marker("java"):
                item.add_marker(pytest.mark.skip(reason="classic Spark needs Java 17 or later"))
    if not os.environ.get("MINWISE_LONG"):
        for item in items:
            if item.get_closest_marker("long"):
                item.add_marker(pytest.mark.skip(reason="long: `cargo x test --long` runs it"))
