"""Classic Spark: the same decisions, on executors that are processes of their own."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import minwise.spark
import pytest
from corpora import CORPORA, Command, assert_same, decided_by, rows_of
from minwise.spark import _work


@pytest.fixture(scope="module")
def classic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of two executors on this machine, with one core and 1 GiB each."""
    from pyspark.sql import SparkSession

    # A session by Spark Connect in the same process leaves a mark, by which functions of columns are those of Connect.
    marks = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE")
    connect = {name: os.environ.pop(name) for name in marks if name in os.environ}
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    folder = tmp_path_factory.mktemp("classic")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("minwise")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder / "local"),
        "spark.worker.dir": str(folder / "work"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.log.level": "ERROR",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    before = Path.cwd()
    os.chdir(folder)
    spark = builder.getOrCreate()
    yield spark
    spark.stop()
    os.chdir(before)
    os.environ.update(connect)


@pytest.mark.parametrize("name", ["articles", "odd"])
def test_default_settings(classic: Any, command: Command, tmp_path: Path, name: str) -> None:
    rows = rows_of(CORPORA[name]())
    expected, _ = command.dedup(rows)
    df = classic.createDataFrame(rows).repartition(3)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    assert_same(decided_by(result), expected)
    assert {row["id"] for row in result.kept.collect()} == {row["id"] for row in rows} - set(expected)


class Killed(BaseException):
    pass


def test_a_job_that_was_killed_goes_on(
    classic: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(CORPORA["articles"]())
    expected, _ = command.dedup(rows)
    df = classic.createDataFrame(rows).repartition(2)
    write = _work.Work._write

    def kill(self: Any, step: str, counts: Any, mode: str = "append") -> None:
        if step == "round-001":
            raise Killed
        write(self, step, counts, mode)

    monkeypatch.setattr(_work.Work, "_write", kill)
    with pytest.raises(Killed):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    monkeypatch.setattr(_work.Work, "_write", write)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    assert_same(decided_by(result), expected)
    # Sketches, groups and texts were there; the round and the decisions were not.
    assert result.summary["steps_computed"] == result.summary["rounds"] + 1


def test_a_manifest_that_cannot_be_read_is_not_an_empty_one(classic: Any, tmp_path: Path) -> None:
    df = classic.createDataFrame(rows_of(["a b c"]))
    (tmp_path / "work/manifest").mkdir(parents=True)
    (tmp_path / "work/manifest/part-0.parquet").write_text("this is no table")
    with pytest.raises(minwise.InputError, match="`work`.*manifest cannot be read"):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    assert _work.exists(classic, str(tmp_path / "work/manifest")) and _work.exists(classic, str(tmp_path))
    assert not _work.exists(classic, str(tmp_path / "nothing"))


def test_the_wrong_executors_are_one_clear_error(classic: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minwise.spark import _job

    df = classic.createDataFrame(rows_of(["a b c"]))
    monkeypatch.setattr(_job, "__version__", "99.0")
    with pytest.raises(minwise.MinwiseError, match="executors have .*the driver has minwise 99.0"):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
