"""The folder of a job: tables that steps leave, and the manifest that names the steps that are done.

Everything is Parquet that Spark writes and reads, so the folder can be wherever Spark can write. A step counts once the manifest names
it: a killed job begins again after its last step that is done.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Callable
from typing import Any

from .._errors import SettingError

log = logging.getLogger("minwise.spark")

MANIFEST = "token string, step string, fields string, counts string"
#: Bytes of a table that go to the engine in one message.
MESSAGE_BYTES = 32 << 20
#: The version of the tables in a folder.
FORMAT = 1


class Work:
    """The folder of one job."""

    def __init__(self, spark: Any, path: str, fields: dict[str, Any], resume: bool) -> None:
        self.spark = spark
        self.path: str = str(path).rstrip("/")
        self.token: str = ""
        #: Steps that this process has made.
        self.computed: int = 0
        #: Whether the folder has no steps of an earlier process.
        self.is_new: bool = True
        # Steps that are known to be done, with their counts.
        self._done: dict[str, dict[str, Any]] = {}
        fields = json.loads(json.dumps({"format": FORMAT, **fields}))
        before = self._read("job") if resume else None
        if before is not None:
            self._check(json.loads(before["fields"]), fields)
            self.token = before["token"]
            self.is_new = False
        else:
            self.token = uuid.uuid4().hex
            self._write("job", fields, {})

    def _check(self, before: dict[str, Any], now: dict[str, Any]) -> None:
        # The spec and the threshold come before the bands that follow from them.
        for name in [*now, *(name for name in before if name not in now)]:
            if before.get(name) != now.get(name):
                raise SettingError(
                    f"`work`: {self.path} belongs to a job with another `{name}`: {before.get(name)!r}, not {now.get(name)!r}",
                    hint="name another folder, or begin anew with `resume=False`",
                    settings=["work", name],
                )

    def at(self, name: str) -> str:
        return f"{self.path}/{name}"

    def _read(self, step: str) -> dict[str, Any] | None:
        try:
            rows = self.spark.read.schema(MANIFEST).parquet(self.at(f"manifest/{step}")).collect()
        except Exception:  # noqa: BLE001
            # Engines raise different exceptions for a folder that does not exist.
            return None
        return rows[0].asDict() if rows else None

    def _write(self, step: str, fields: dict[str, Any], counts: dict[str, Any]) -> None:
        row = [(self.token, step, json.dumps(fields), json.dumps(counts))]
        frame = self.spark.createDataFrame(row, MANIFEST).coalesce(1)
        frame.write.mode("overwrite").parquet(self.at(f"manifest/{step}"))

    def counts(self, step: str) -> dict[str, Any] | None:
        """The counts of a step that is done."""
        # A job that began just now has no steps of an earlier one.
        if step in self._done or self.is_new:
            return self._done.get(step)
        row = self._read(step)
        if row is None or row["token"] != self.token:
            return None
        counts: dict[str, Any] = json.loads(row["counts"])
        self._done[step] = counts
        return counts

    def step(self, step: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Makes a step unless it is done, and returns its counts."""
        done = self.counts(step)
        if done is not None:
            return done
        describe(self.spark, f"minwise: {step}")
        try:
            counts = make()
            self._write(step, {}, counts)
        finally:
            describe(self.spark, None)
        self._done[step] = counts
        self.computed += 1
        if step.startswith("round"):
            # Rounds have lines of their own.
            return counts
        shown = ", ".join(f"{name} {value:,}" for name, value in counts.items() if isinstance(value, int))
        log.info("%s: %s", step, shown or "done")
        return counts

    def save(self, frame: Any, name: str) -> Any:
        """Writes a table and returns it as it is read back."""
        frame.write.mode("overwrite").parquet(self.at(name))
        return self.table(name, frame.schema)

    def frame(self, table: Any, name: str) -> Any:
        """A table of the driver as a DataFrame. A large one is written in parts, because messages of Spark Connect are limited."""
        # A plan may name its table several times, and each time takes its bytes again.
        if table.nbytes <= MESSAGE_BYTES // 8:
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


def describe(spark: Any, text: str | None) -> None:
    """Names the jobs that follow in the pages of the engine, if the engine can; None ends that."""
    try:
        spark.sparkContext.setJobDescription(text)
    except Exception:  # noqa: BLE001
        # Spark Connect and Sail have no SparkContext.
        return
