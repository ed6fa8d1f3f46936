"""The folder of a job: tables that steps leave, and the manifest that names the steps that are done.

Everything is Parquet that Spark writes and reads, so the folder can be wherever Spark can write. A step counts once the manifest names
it: a killed job begins again after its last step that is done. The table of a step that was not done is written anew and never read.
The manifest is one table, which has a row per step, so that a job that goes on reads it once.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._errors import InputError, SettingError
from ._tasks import BATCH_BYTES

log = logging.getLogger("minwise.spark")

MANIFEST = "token string, step string, fields string, counts string"
#: The row of a job that began anew.
BEGIN = "begin"
#: Bytes of a table that go to the engine in one message. Classic Spark holds them as rows, which take ten times the memory: with
#: 32 MiB, a driver with 1 GiB of heap had no room for a round of 100,000 near-copies.
MESSAGE_BYTES = 8 << 20
#: Bytes of a table that come from the engine in one answer. Classic Spark refuses more than `spark.driver.maxResultSize`: 1 GiB.
ANSWER_BYTES = 256 << 20
#: The version of the tables in a folder.
FORMAT = 6


def is_missing(error: Exception) -> bool:
    """Whether an error of an engine says that a path does not exist."""
    # Sail raises nothing: such a table is empty.
    condition = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    return condition is not None and condition() == "PATH_NOT_FOUND"


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def exists(spark: Any, path: str) -> bool:
    """Whether there is a table at a path, or anything else that is no table."""
    try:
        # Sail has no columns of a table that does not exist.
        return bool(spark.read.parquet(path).columns)
    except Exception as error:  # noqa: BLE001
        # A folder with other files, or without any, cannot be read as a table.
        return not is_missing(error)


def refuse_existing(spark: Any, name: str, path: str) -> None:
    """Raises an error if there is something at the path of an output."""
    if exists(spark, path):
        hint = "name another folder, or delete this one"
        raise SettingError(f"`{name}`: there is something at `{path}`", hint=hint, settings=[name])


class Work:
    """The folder of one job."""

    def __init__(self, spark: Any, path: str, fields: dict[str, Any], resume: bool) -> None:
        self.spark = spark
        self.path: str = str(path).rstrip("/")
        #: Steps that this process has made.
        self.computed: int = 0
        #: Tables of the driver that the folder does not have.
        self.memory: dict[str, Any] = {}
        #: Whether the engine puts rows into tasks by their numbers, once that is known.
        self.numbers_tasks: bool | None = None
        # Rows of the manifest that are written together with the next one.
        self._deferred: list[dict[str, Any]] = []
        # Steps that are known to be done, with their counts.
        self._done: dict[str, dict[str, Any]] = {}
        self._fields: dict[str, Any] | None = json.loads(json.dumps({"format": FORMAT, **fields}))
        self.token: str = uuid.uuid4().hex
        if not resume:
            # Tables of an earlier job are no longer those of their steps as soon as the first one is overwritten.
            self._write(BEGIN, {}, "overwrite")
            return
        rows = self._read()
        if not rows:
            return
        if len({row["token"] for row in rows}) > 1:
            raise SettingError(
                f"`work`: two jobs wrote to {self.path} at the same time",
                hint="name another folder for each job, or begin anew with `resume=False`",
                settings=["work"],
            )
        self.token = rows[0]["token"]
        assert self._fields is not None
        for row in rows:
            if row["fields"] is not None:
                self._check(json.loads(row["fields"]), self._fields)
                self._fields = None
                break
        for row in rows:
            if row["step"] != BEGIN:
                self._done[row["step"]] = {**self._done.get(row["step"], {}), **json.loads(row["counts"])}

    def _check(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        # The spec and the threshold come before the bands that follow from them.
        for name in [*now, *(name for name in before if name not in now)]:
            if before.get(name) != now.get(name):
                self.refuse(name, repr(before.get(name)), repr(now.get(name)))

    def refuse(self, name: str, before: str, now: str) -> None:
        """Raises because the folder belongs to another job."""
        raise SettingError(
            f"`work`: {self.path} belongs to a job with another `{name}`: {before}, not {now}",
            hint="name another folder, or begin anew with `resume=False`",
            settings=["work", name],
        )

    def at(self, name: str) -> str:
        return f"{self.path}/{name}"

    def _read(self) -> list[dict[str, Any]]:
        try:
            rows = self.spark.read.schema(MANIFEST).parquet(self.at("manifest")).collect()
        except Exception as error:
            if is_missing(error):
                return []
            # A manifest that cannot be read may name hours of work.
            raise InputError(
                f"`work`: {self.at('manifest')} cannot be read: {first_line(error)}",
                hint="look after the rights of the folder and the storage, name another folder, or begin anew with `resume=False`",
            ) from error
        return [row.asDict() for row in rows]

    def _write(self, step: str, counts: dict[str, Any], mode: str = "append") -> None:
        import pyarrow as pa

        fields = None if self._fields is None else json.dumps(self._fields)
        rows = [*self._deferred, {"token": self.token, "step": step, "fields": fields, "counts": json.dumps(counts)}]
        # Classic Spark makes rows of Python by a job, and takes Arrow tables as they are.
        table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})
        self.spark.createDataFrame(table).write.mode(mode).parquet(self.at("manifest"))
        self._fields = None
        self._deferred = []

    def counts(self, step: str) -> dict[str, Any] | None:
        """The counts of a step that is done."""
        return self._done.get(step)

    def step(self, step: str, make: Callable[[], dict[str, Any]], defer: bool = False) -> dict[str, Any]:
        """Makes a step unless it is done, and returns its counts. With `defer`, the manifest names a step that leaves no table together with the
        next step, and a job that is killed before makes it again."""
        done = self.counts(step)
        if done is not None:
            return done
        describe(self.spark, f"minwise: {step}")
        try:
            counts = make()
            if defer and counts.get("is_table") is False and self._fields is None:
                self._deferred.append({"token": self.token, "step": step, "fields": None, "counts": json.dumps(counts)})
            else:
                self._write(step, counts)
        finally:
            describe(self.spark, None)
        self._done[step] = counts
        self.computed += 1
        if step.startswith("round"):
            # Rounds have lines of their own.
            return counts
        shown = ", ".join(f"{name} {value:,}" for name, value in counts.items() if isinstance(value, int) and name != "sum")
        log.info("%s: %s", step, shown or "done")
        return counts

    def note(self, name: str, counts: dict[str, Any]) -> None:
        """Writes something down that is no step, beside what was written under this name before."""
        self._write(name, counts)
        self._done[name] = counts

    def is_own(self, name: str, path: str, table: str) -> bool:
        """Whether this job began to write a table to a path, and wrote nothing else under this name."""
        output = {"path": path, "table": table}
        return self.counts(f"writing-{name}") == output and self.counts(f"written-{name}") in (None, output)

    def save(self, frame: Any, name: str) -> Any:
        """Writes a table and returns it as it is read back."""
        frame.write.mode("overwrite").parquet(self.at(name))
        return self.table(name, frame.schema)

    def frame(self, table: Any, name: str) -> Any:
        """A table of the driver as a DataFrame. A large one is written in parts, because messages of Spark Connect are limited."""
        # A plan may name its table several times, and each time takes its bytes again.
        if table.nbytes <= MESSAGE_BYTES // 2:
            return self.spark.createDataFrame(table)
        rows = max(MESSAGE_BYTES * len(table) // table.nbytes, 1)
        schema = None
        for begin in range(0, len(table), rows):
            part = self.spark.createDataFrame(table.slice(begin, rows).combine_chunks())
            part.write.mode("append" if begin else "overwrite").parquet(self.at(name))
            schema = part.schema
        return self.table(name, schema)

    def table(self, name: str, schema: Any) -> Any:
        # An empty table may have no file, and so no schema of its own.
        return self.spark.read.schema(schema).parquet(self.at(name))


@contextmanager
def batches_by_bytes(spark: Any) -> Iterator[None]:
    """Asks the engine to cut Arrow batches by bytes, as tasks do, for the time of a job."""
    name, wanted, before = "spark.sql.execution.arrow.maxBytesPerBatch", str(BATCH_BYTES), None
    try:
        before = spark.conf.get(name, None)
        if before != wanted:
            spark.conf.set(name, wanted)
    except Exception:  # noqa: BLE001
        # An engine may have no such setting. Batches of Sail have 8,192 rows.
        before = wanted
    if before == wanted:
        yield
        return
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, before)


def fetched(frame: Any, bytes: int, *keys: str) -> Any:
    """The rows of a DataFrame on the driver, as tables that are fetched one by one. Few rows have the same `keys`."""
    from pyspark.sql import functions as F

    parts = max(-(-bytes // ANSWER_BYTES), 1)
    if parts == 1:
        yield frame.toArrow()
        return
    for part in range(parts):
        yield frame.where(F.pmod(F.hash(*keys), F.lit(parts)) == part).toArrow()


def fetched_whole(frame: Any, bytes: int, *keys: str) -> Any:
    """The rows of a DataFrame on the driver as one table, which is fetched in several answers if it is large."""
    import pyarrow as pa

    return pa.concat_tables(fetched(frame, bytes, *keys))


def describe(spark: Any, text: str | None) -> None:
    """Names the jobs that follow in the pages of the engine, if the engine can; None ends that."""
    try:
        spark.sparkContext.setJobDescription(text)
    except Exception:  # noqa: BLE001
        # Spark Connect and Sail have no SparkContext.
        return
