"""The folder of a job: the tables that steps write, and the manifest, which names the steps that are done.

All tables are Parquet that Spark writes and reads, so the folder can be wherever Spark can write. A step is done when
the manifest names it. A killed job resumes after its last step that is done. If a step was killed, its table is never
read and is written again. The manifest is one table with one row per step, so that a resumed job reads it once.
"""

from __future__ import annotations

import json
import logging
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote, urlsplit

from .._errors import InputError, SettingError
from ._tasks import BATCH_BYTES

log = logging.getLogger("minwise.spark")

MANIFEST = "token string, step string, fields string, counts string"
#: Name of the first row of the manifest of a job that began anew.
BEGIN = "begin"
#: Maximum bytes of a table that are sent to Spark in one message. Classic Spark holds them as rows, which take ten
#: times the memory: with 32 MiB, a driver with 1 GiB of heap had no memory left for a round of 100,000 near-copies.
MESSAGE_BYTES = 8 << 20
#: Maximum bytes of a table that are fetched from Spark in one answer. Classic Spark refuses more than
#: `spark.driver.maxResultSize`, 1 GiB by default.
ANSWER_BYTES = 256 << 20
#: Maximum number of files of a table that the driver opens itself.
MOST_FILES = 1_000
#: Maximum bytes of the files of a table of which the driver reads some columns itself.
MOST_OPENED = 4 << 30
#: Version of the tables in a folder.
FORMAT = 7


def is_missing(error: Exception) -> bool:
    """Reports whether an error of Spark means that a path does not exist."""
    # Sail raises no error for a path that does not exist: it returns an empty table.
    condition = getattr(error, "getCondition", None) or getattr(error, "getErrorClass", None)
    return condition is not None and condition() == "PATH_NOT_FOUND"


def first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def uncompressed(metadata: Any, columns: Sequence[str]) -> int:
    """Returns the bytes of columns of a Parquet file before compression."""
    groups = [metadata.row_group(at) for at in range(metadata.num_row_groups)]
    chunks = [group.column(at) for group in groups for at in range(group.num_columns)]
    return sum(int(chunk.total_uncompressed_size) for chunk in chunks if chunk.path_in_schema in columns)


def exists(spark: Any, path: str) -> bool:
    """Reports whether there is a table, or anything else, at a path."""
    try:
        # For a path that does not exist, Sail returns a table without columns.
        return bool(spark.read.parquet(path).columns)
    except Exception as error:  # noqa: BLE001
        # Another error means that the path exists: a folder with other files, or an empty one, cannot be read as a
        # table.
        return not is_missing(error)


def refuse_existing(spark: Any, name: str, path: str) -> None:
    """Raises an error if anything exists at the path of an output."""
    if exists(spark, path):
        hint = "name another folder, or delete this one"
        raise SettingError(f"`{name}`: there is something at `{path}`", hint=hint, settings=[name])


class Work:
    """The folder of one job."""

    def __init__(self, spark: Any, path: str, fields: dict[str, Any], resume: bool) -> None:
        self.spark = spark
        self.path: str = str(path).rstrip("/")
        #: Number of steps that this process has computed.
        self.computed: int = 0
        #: Arrow tables on the driver that are not in the folder, by name.
        self.memory: dict[str, Any] = {}
        #: Whether `repartitionById` works, which Sail does not have; None until a call has tried it.
        self.numbers_tasks: bool | None = None
        # Rows of the manifest that will be written together with the next row.
        self._deferred: list[dict[str, Any]] = []
        # Counts of the steps that are done, by step.
        self._done: dict[str, dict[str, Any]] = {}
        self._fields: dict[str, Any] | None = json.loads(json.dumps({"format": FORMAT, **fields}))
        self.token: str = uuid.uuid4().hex
        if not resume:
            # The manifest of an earlier job is overwritten at once, because this job overwrites the tables that it
            # names.
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
        # Fields are compared in the order of the plan, so that a changed threshold is reported before the bands that
        # follow from it.
        for name in [*now, *(name for name in before if name not in now)]:
            if before.get(name) != now.get(name):
                self.refuse(name, repr(before.get(name)), repr(now.get(name)))

    def refuse(self, name: str, before: str, now: str) -> None:
        """Raises the error that the folder belongs to a job with another setting or input."""
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
            # An unreadable manifest is an error, and not an empty one, because beginning anew would discard hours of
            # work.
            raise InputError(
                f"`work`: {self.at('manifest')} cannot be read: {first_line(error)}",
                hint="look after the rights of the folder and the storage, name another folder, or begin anew with `resume=False`",
            ) from error
        return [row.asDict() for row in rows]

    def _row(self, step: str, counts: dict[str, Any]) -> dict[str, Any]:
        """Returns a row of the manifest. The first row has the fields of the job."""
        fields = None if self._fields is None else json.dumps(self._fields)
        self._fields = None
        return {"token": self.token, "step": step, "fields": fields, "counts": json.dumps(counts)}

    def _write(self, step: str, counts: dict[str, Any], mode: str = "append") -> None:
        import pyarrow as pa

        rows = [*self._deferred, self._row(step, counts)]
        # The rows are passed as an Arrow table, because classic Spark starts a job to convert rows of Python.
        table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in rows[0]})
        self.spark.createDataFrame(table).write.mode(mode).parquet(self.at("manifest"))
        self._deferred = []

    def counts(self, step: str) -> dict[str, Any] | None:
        """Returns the counts of a step, or None if the step is not done."""
        return self._done.get(step)

    def step(
        self, step: str, make: Callable[[], dict[str, Any]], defer: Callable[[dict[str, Any]], bool] = lambda _: False
    ) -> dict[str, Any]:
        """Runs a step unless it is done, and returns its counts.

        If `defer` returns true for the counts, the row of the step is written to the manifest together with that of the
        next step, because each write is a Spark job. If the job is killed between the two steps, this step runs again.
        """
        done = self.counts(step)
        if done is not None:
            return done
        with described(self.spark, f"minwise: {step}"):
            counts = make()
            if defer(counts):
                self._deferred.append(self._row(step, counts))
            else:
                self._write(step, counts)
        self._done[step] = counts
        self.computed += 1
        if step.startswith("round"):
            # `Rounds` logs a line per round itself.
            return counts
        shown = ", ".join(f"{name} {value:,}" for name, value in counts.items() if isinstance(value, int) and name != "sum")
        log.info("%s: %s", step, shown or "done")
        return counts

    def note(self, name: str, counts: dict[str, Any]) -> None:
        """Appends a row to the manifest that is no step, such as the path of an output.

        Its values replace earlier values of the same name.
        """
        self._write(name, counts)
        self._done[name] = counts

    def is_own(self, name: str, path: str, table: str) -> bool:
        """Reports whether this job began to write the table to the path, and did not write the output `name` to another
        path.
        """
        output = {"path": path, "table": table}
        return self.counts(f"writing-{name}") == output and self.counts(f"written-{name}") in (None, output)

    def write(self, name: str, path: str, table: str, make: Callable[[], Any]) -> None:
        """Writes an output, which is a table of the result, unless an earlier run of this job has written it already."""
        output = {"path": path, "table": table}
        if self.counts(f"written-{name}") == output and exists(self.spark, path):
            return
        if not self.is_own(name, path, table):
            # The path was checked before the job began, but another program may have written to it since, because a job
            # may take hours.
            refuse_existing(self.spark, name, path)
            self.note(f"writing-{name}", output)
        with batches_by_bytes(self.spark), described(self.spark, f"minwise: {name}"):
            make().write.mode("overwrite").parquet(path)
        self.note(f"written-{name}", output)

    def save(self, frame: Any, name: str) -> Any:
        """Writes a table to the folder, and returns it as a DataFrame that reads it back."""
        frame.write.mode("overwrite").parquet(self.at(name))
        return self.table(name, frame.schema)

    def frame(self, table: Any, name: str) -> Any:
        """Converts an Arrow table to a DataFrame.

        A large table is written in parts, because Spark Connect limits the size of a message.
        """
        # The bound is half a message, because a plan that uses the table twice contains its bytes twice.
        if table.nbytes <= MESSAGE_BYTES // 2:
            return self.spark.createDataFrame(table)
        rows = max(MESSAGE_BYTES * len(table) // table.nbytes, 1)
        schema = None
        for begin in range(0, len(table), rows):
            part = self.spark.createDataFrame(table.slice(begin, rows).combine_chunks())
            part.write.mode("append" if begin else "overwrite").parquet(self.at(name))
            schema = part.schema
        return self.table(name, schema)

    def files(self, name: str, schema: Any, most: int | None = None) -> list[str]:
        """Returns the paths of the files of a table if the driver can open all of them, and they have at most `most`
        bytes (default: `ANSWER_BYTES`).

        Otherwise, returns an empty list. Names of files that Spark writes are unique, so a path that exists here is no file
        of another machine.
        """
        try:
            links = [urlsplit(link) for link in self.table(name, schema).inputFiles()]
        except Exception:  # noqa: BLE001
            # Engines may lack this call, which only saves time.
            return []
        paths = [unquote(link.path) for link in links]
        is_here = len(links) <= MOST_FILES and all(link.scheme == "file" and not link.netloc for link in links)
        is_here = is_here and all(map(os.path.isfile, paths))
        most = ANSWER_BYTES if most is None else most
        return paths if is_here and sum(map(os.path.getsize, paths)) <= most else []

    def opened(self, name: str, schema: Any, columns: Sequence[str], most: int | None = None) -> list[Any]:
        """Opens the files of a table that the driver can open, if `columns` have at most `ANSWER_BYTES` before
        compression. Returns no files otherwise.

        Reading files takes a small part of the CPU time of a Spark job that fetches the rows.
        """
        import pyarrow.parquet as pq

        files = [pq.ParquetFile(path) for path in self.files(name, schema, most)]
        return files if sum(uncompressed(file.metadata, columns) for file in files) <= ANSWER_BYTES else []

    def fetch(self, name: str, schema: Any, columns: Sequence[str]) -> Any:
        """Returns columns of a small table as an Arrow table: from its files, if the driver can open them."""
        import pyarrow as pa

        files = self.opened(name, schema, columns, MOST_OPENED)
        if not files:
            return self.table(name, schema).select(*columns).toArrow()
        return pa.concat_tables(file.read(columns=list(columns), use_threads=False) for file in files).select(list(columns))

    def table(self, name: str, schema: Any) -> Any:
        # The schema is given, because an empty table may have no file to read it from.
        return self.spark.read.schema(schema).parquet(self.at(name))


@contextmanager
def batches_by_bytes(spark: Any) -> Iterator[None]:
    """Sets Spark's limit for the bytes of an Arrow batch to that of tasks, and restores it on exit."""
    name, wanted, before = "spark.sql.execution.arrow.maxBytesPerBatch", str(BATCH_BYTES), None
    try:
        before = spark.conf.get(name, None)
        if before != wanted:
            spark.conf.set(name, wanted)
    except Exception:  # noqa: BLE001
        # Without this setting, nothing is changed: batches of Sail have 8,192 rows.
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
    """Fetches the rows of a DataFrame, `bytes` bytes in all, and yields them as Arrow tables of at most about
    `ANSWER_BYTES` bytes.

    Rows are divided by a hash of `keys`, so only few rows may have the same values of `keys`.
    """
    from pyspark.sql import functions as F

    parts = max(-(-bytes // ANSWER_BYTES), 1)
    if parts == 1:
        yield frame.toArrow()
        return
    for part in range(parts):
        yield frame.where(F.pmod(F.hash(*keys), F.lit(parts)) == part).toArrow()


def fetched_whole(frame: Any, bytes: int, *keys: str) -> Any:
    """Fetches the rows of a DataFrame as one Arrow table, in several answers if the table is large."""
    import pyarrow as pa

    return pa.concat_tables(fetched(frame, bytes, *keys))


@contextmanager
def described(spark: Any, text: str) -> Iterator[None]:
    """Sets the description of jobs in the web interface of Spark, and restores the earlier description on exit.

    Does nothing if there is no SparkContext.
    """
    context, before = None, None
    try:
        context = spark.sparkContext
        before = context.getLocalProperty("spark.job.description")
        context.setJobDescription(text)
    except Exception:  # noqa: BLE001
        # Spark Connect and Sail have no SparkContext.
        context = None
    try:
        yield
    finally:
        if context is not None:
            context.setJobDescription(before)
