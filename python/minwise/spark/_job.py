"""The functions `dedup`, `pairs` and `sketch`, and the steps of a job."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import __version__
from .._errors import SettingError
from .._minwise import SparkTask, spark_ignored
from . import _audit, _decide, _settings, _shelves, _tasks
from ._results import Result
from ._rounds import Rounds, rounds_of
from ._rows import Columns, choose
from ._rows import column as column_of
from ._tasks import Job
from ._work import Work, batches_by_bytes, described, refuse_existing

#: Bytes of the texts of an input whose step `sketches` takes some ten seconds of one core.
SHORT_BYTES = 1 << 30


class _Ready:
    """A job whose settings and executors were checked."""

    def __init__(
        self,
        df: Any,
        against: Any,
        text: str | None,
        id: str | None,
        order_by: str | Sequence[str] | None,
        given: dict[str, Any],
        work: str | None,
        resume: bool,
        kind: str,
        columns: Columns | None = None,
        identity: dict[str, Any] | None = None,
        outputs: dict[str, tuple[str, str]] | None = None,
    ) -> None:
        _settings.require()
        # `python -m minwise.spark` passes the texts to ignore as names of files, and the files are read as the command
        # reads them.
        files = given.pop("_ignored_files", ())
        chosen = _settings.check(given)
        self.audit = chosen.get("audit", "auto")
        self.plan = _settings.plan(chosen)
        self.columns = columns or choose(df, text, id, order_by, self.plan["keep"])
        if against is not None and columns is None:
            choose(against, self.columns.text, None, self.columns.order_by, "first")
        self.df, self.against = df, against
        spark = df.sparkSession
        weights = None if chosen.get("weights") is None else str(chosen["weights"])
        plain = Job(json.dumps(self.plan), b"", weights)
        texts = _texts(chosen.get("ignore_text"), self.columns.text)
        ignored = bytes(SparkTask(plain.plan, b"", weights).ignored(texts)) if texts else b""
        ignored += spark_ignored(self.plan["spec"], list(files), text) if files else b""
        if len(ignored) > _settings.MOST_LEFT_OUT:
            raise SettingError(
                f"`ignore_text`: the texts have {len(ignored) // 8:,} shingles; every task loads them, and {_settings.MOST_LEFT_OUT // 8:,} at most",
                hint="pass texts that many documents share, such as headers and licences, and no corpus",
                settings=["ignore_text"],
            )
        # Number of shingles that `max_df` may still leave out.
        self._room = (_settings.MOST_LEFT_OUT - len(ignored)) // 8
        plain_driver = (__version__, SparkTask(plain.plan, b"", weights).fingerprint())
        self.executor = _shelves.check_executors(spark, plain, *plain_driver)
        self.work: Work | None = None
        if work is not None:
            fields = {
                "kind": kind,
                "version": __version__,
                **self.plan,
                "text": self.columns.text,
                "id": self.columns.id,
                "order_by": list(self.columns.order_by),
                "columns": df.schema.simpleString(),
                "against": None if against is None else against.schema.simpleString(),
                "ignore_text": hashlib.sha256(ignored).hexdigest() if ignored else None,
                "audit": self.audit,
                **(identity or {}),
            }
            self.work = Work(spark, work, fields, resume)
            claim(self.work, outputs or {})
        #: Number of rows and sum of their fingerprints when shingles were counted; None if they were not counted.
        self.counted: tuple[int, int] | None = None
        frequent = self._frequent(replace(plain, driver=plain_driver)) if self.plan["max_df"] is not None else b""
        # Whole sketches are written only if the caller wants them or an audit needs them.
        has_sketches, left_out = kind == "sketch" or kind != "pairs" and self.audit != "off", ignored + frequent
        driver = (__version__, SparkTask(plain.plan, left_out, weights).fingerprint())
        self.job = Job(plain.plan, left_out, weights, has_sketches, driver)

    def _frequent(self, job: Job) -> bytes:
        """Returns the shingles that too many documents have.

        A job counts shingles once. A resumed job reads the result from the folder.
        """

        def make() -> tuple[bytes, tuple[int, int]]:
            return _shelves.frequent_shingles(self.df, self.against, self.columns, job, self.plan["max_df"], self._room)

        if self.work is None:
            return make()[0]
        work = self.work

        def count() -> dict[str, Any]:
            found, (rows, content) = make()
            frame = work.spark.createDataFrame([(bytearray(found),)], "shingles binary")
            frame.write.mode("overwrite").parquet(work.at("left-out"))
            return {"left_out": len(found) // 8, "rows": rows, "sum": content}

        counts = work.step("left-out", count)
        self.counted = (counts["rows"], counts["sum"])
        return bytes(work.table("left-out", "shingles binary").collect()[0]["shingles"])


def _texts(ignored: Any, column: str) -> list[str]:
    """Returns the texts of `ignore_text`. A str is one text; of a DataFrame, the text column is read."""
    if ignored is None:
        return []
    if isinstance(ignored, str):
        return [ignored]
    if hasattr(ignored, "sparkSession"):
        from pyspark.sql import functions as F

        texts = ignored.select(column_of(ignored, column).cast("string").alias("text")).where("text is not null")
        size = texts.agg(F.sum(F.octet_length("text")).alias("bytes")).collect()[0]["bytes"] or 0
        if size > _settings.MOST_IGNORED:
            raise SettingError(
                f"`ignore_text`: the texts have {size >> 20:,} MiB; the driver reads them, and {_settings.MOST_IGNORED >> 20} MiB at most",
                hint="pass texts that many documents share, such as headers and licences, and no corpus",
                settings=["ignore_text"],
            )
        return [row["text"] for row in texts.collect()]
    return [str(text) for text in ignored]


def _limits(given: dict[str, Any]) -> dict[str, int | None]:
    """Takes the limits that only tests change out of the arguments.

    `shelf` limits the documents of a shelf, and `listed` the listed pairs of a round. `asking` and `pairs` are the
    smallest size of a block. `driver` limits the memberships that the driver takes, `here` the bytes of texts whose
    pairs the driver compares, and `rest` the bytes of texts that the driver fetches for the last rounds.
    """
    return {name: given.pop(f"_{name}", None) for name in ("shelf", "asking", "pairs", "listed", "driver", "here", "rest")}


def dedup(
    df: Any,
    *,
    work: str,
    text: str | None = None,
    id: str | None = None,
    order_by: str | Sequence[str] | None = None,
    against: Any = None,
    resume: bool = True,
    **same: Any,
) -> Result:
    """Removes near-duplicates from a DataFrame of Spark, with the decisions of ``minwise dedup``.

    :param df: rows with a column of texts.
    :param work: a folder that Spark can write. A killed job resumes from the tables in this folder.
    :param text: the column of the text. Default: the only column of strings, else ``text``.
    :param id: the column of ids. Default: ``id`` if there is one; else rows are named by their rank keys.
    :param order_by: the columns that order rows, as the order of lines does in a file. No two rows may have equal values in
        all these columns, unless ``keep`` ranks them differently.
    :param against: a second DataFrame, with the same columns of text and order, whose rows always stay.
    :param resume: True resumes an earlier job in the same folder; False begins anew.
    :param same: the arguments of :func:`minwise.dedup`, with the same meaning: ``threshold``, ``spec``, ``keep``, ``cluster``,
        ``max_cluster``, ``recall``, ``weight``, ``weights``, ``max_df``, ``ignore_text``, ``null``, ``max_record``, ``normalize``,
        ``shingle``, ``strip_markup``, ``whitespace``, ``short``, ``sketch``, ``registers``, ``seed``, ``bands``, ``rows``,
        ``filter_error``, ``looks``, ``error_per_look`` and ``audit``.
    """
    with batches_by_bytes(df.sparkSession):
        return _dedup(df, against, text, id, order_by, same, work, resume)


def _dedup(
    df: Any,
    against: Any,
    text: str | None,
    id: str | None,
    order_by: str | Sequence[str] | None,
    same: dict[str, Any],
    work: str,
    resume: bool,
) -> Result:
    limits, outputs = _limits(same), same.pop("_outputs", {})
    ready = _Ready(df, against, text, id, order_by, same, work, resume, "dedup", outputs=outputs)
    assert ready.work is not None
    counts = run(ready, limits, ready.plan)
    return Result(ready.work, df, against, ready.columns, ready.job, ready.plan["null"], counts)


def claim(folder: Work, outputs: dict[str, tuple[str, str]]) -> None:
    """Raises an error if an output exists, before anything is computed.

    Outputs that this job began to write are allowed.
    """
    for name, (path, table) in outputs.items():
        if not folder.is_own(name, path, table):
            refuse_existing(folder.spark, name, path)


def is_last(keep: str) -> bool:
    """Reports whether a keeper policy ends with `last`: of rows that its rankings leave tied, the last one comes
    first.
    """
    return keep == "last" or keep.endswith(";last") and not keep.endswith("\\;last")


def compare_here(ready: _Ready, rounds: Rounds, before: tuple[int, int]) -> bool:
    """Reads texts and runs all rounds on the driver. For a small input, starting Spark jobs would take longer than
    comparing its pairs.

    Returns False if a round has too many pairs for the driver.
    """
    assert ready.work is not None
    ranks, number = rounds.ranks()
    with described(ready.work.spark, "minwise: texts"):
        texts = _shelves.texts_here(ready.df, ready.against, ready.columns, ready.job, ranks, number, before)
    return rounds.run_here(texts)


def check_counted(ready: _Ready, before: tuple[int, int]) -> None:
    """Raises an error if the rows differ from those whose shingles were counted for `max_df`.

    An earlier run that was killed may have counted them.
    """
    if ready.counted is not None:
        _shelves.refuse_another_reading(before, ready.counted)


def _is_short(sketched: dict[str, Any]) -> bool:
    """Reports whether the step `sketches` is so short that a killed job may as well repeat it."""
    return bool(sketched["rows"] <= _shelves.SMALL_HASHES and sketched["bytes"] <= SHORT_BYTES)


def _is_without_table(grouped: dict[str, Any]) -> bool:
    """Reports whether the step `groups` has written no table. A resumed job makes the groups again in any case."""
    return grouped["is_table"] is False


def run(ready: _Ready, limits: dict[str, int | None], plan: dict[str, Any]) -> dict[str, Any]:
    """Runs all steps that are not done, and returns the counts."""
    folder, job, columns, df, against = ready.work, ready.job, ready.columns, ready.df, ready.against
    assert folder is not None
    null = plan["null"]
    is_known = folder.counts("sketches") is not None
    sketched = folder.step("sketches", lambda: _shelves.sketches(folder, df, against, columns, job, plan["keep"]), _is_short)
    rows = sketched["rows"]
    grouped = folder.step("groups", lambda: _shelves.groups(folder, sketched, plan["bands"], null, columns.order_by, limits), _is_without_table)
    counts = {name: value for name, value in grouped.items() if name not in ("sum", "member_bytes", "copy_bytes", "id_bytes", "is_table")}
    before = (rows, grouped["sum"])
    check_counted(ready, before)
    # A resumed job checks that its input is unchanged. Files need no check, because their sizes and times were compared
    # before.
    if is_known and not columns.is_ready:
        _shelves.check_input(folder, df, against, columns, job, before)
    if folder.counts("decisions") is None:
        rounds = rounds_of(folder, job, plan["cluster"], limits, grouped)
        here = rounds.can_compare(sketched["bytes"], limits.get("here"))
        if not here or not compare_here(ready, rounds, before):
            # If the driver has given up because of too many pairs, the rounds begin anew.
            rounds = rounds_of(folder, job, plan["cluster"], limits, grouped) if here else rounds
            folder.step("texts", lambda: _shelves.texts(folder, df, against, columns, job, rounds, before))
            # Rounds of an earlier job are not computed again: their similar pairs are read from the folder.
            rounds.run()
        _decide.ids(folder, counts["repeated_ids"], null, df if columns.is_ready else None, is_last(plan["keep"]))
        id_bytes = grouped["id_bytes"] // max(rows, 1) + 1
        folder.step("decisions", lambda: _decide.decisions(folder, job, rounds, plan["cluster"], plan["max_cluster"], id_bytes))
    counts |= folder.counts("decisions") or {}
    counts["repeated_ids"] = (folder.counts("ids") or {}).get("sharing", 0)
    counts["kept"] = counts["read"] - counts["removed"] - counts["rejected"]
    drawn = _audit.size(ready.audit, counts["distinct"])
    asked = int(ready.audit) if str(ready.audit).isdigit() else None
    # Without a filter there is no audit: if sketches rule out no pair, the audit would have to compare all texts.
    if drawn and plan["audit_filter"] is not None:
        counts["audit"] = folder.step("audit", lambda: _audit.audit(folder, df, against, columns, job, plan["cluster"], counts, drawn, asked))
    names = ("spec", "threshold", "bands", "rows", "keep", "cluster", "max_cluster", "found_at_threshold")
    counts |= {name: plan[name] for name in (*names, "filter_error", "looks", "error_per_look")}
    assert job.driver is not None
    counts |= {"fingerprint": job.driver[1], "unranked": sketched["unranked"], "text_bytes": sketched["bytes"]}
    counts["steps_computed"] = folder.computed
    return counts


def pairs(
    df: Any,
    *,
    work: str,
    text: str | None = None,
    id: str | None = None,
    order_by: str | Sequence[str] | None = None,
    resume: bool = True,
    **same: Any,
) -> Any:
    """Lists all near-duplicate pairs of a DataFrame, as ``minwise pairs`` does. The columns are `first`, `second` and
    `similarity`.

    Takes the arguments of :func:`dedup`, except `against` and the arguments that decide which document stays.
    """
    _refuse(same, DECIDING, "pairs are listed, and nothing is decided")
    with batches_by_bytes(df.sparkSession):
        return _pairs(df, text, id, order_by, same, work, resume)


#: Arguments of `dedup` that concern decisions, which `pairs` and `sketch` do not make.
DECIDING = ("keep", "cluster", "max_cluster", "audit")


def _refuse(given: dict[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if given.get(name) is not None:
            raise SettingError(f"`{name}`: {why}", hint=f"leave out `{name}`, or use `minwise.spark.dedup`", settings=[name])


def _pairs(
    df: Any, text: str | None, id: str | None, order_by: str | Sequence[str] | None, same: dict[str, Any], work: str, resume: bool
) -> Any:
    from pyspark.sql import functions as F

    limits = _limits(same)
    ready = _Ready(df, None, text, id, order_by, same, work, resume, "pairs")
    job, columns = ready.job, ready.columns
    assert ready.work is not None
    folder = ready.work
    is_known = folder.counts("sketches") is not None
    sketched = folder.step("sketches", lambda: _shelves.sketches(folder, df, None, columns, job, ready.plan["keep"]), _is_short)
    rows = sketched["rows"]
    bands, null = ready.plan["bands"], ready.plan["null"]
    counts = folder.step("groups", lambda: _shelves.groups(folder, sketched, bands, null, columns.order_by, limits), _is_without_table)
    before = (rows, counts["sum"])
    check_counted(ready, before)
    if is_known:
        _shelves.check_input(folder, df, None, columns, job, before)

    def compared() -> dict[str, Any]:
        rounds = rounds_of(folder, job, "pairs", limits, counts)
        folder.step("texts", lambda: _shelves.texts(folder, df, None, columns, job, rounds, before))
        return rounds.run()

    folder.step("rounds", compared)
    _decide.ids(folder, counts["repeated_ids"], null)
    similar = folder.spark.createDataFrame([], _tasks.SIMILAR)
    if folder.counts("round-001") is not None:
        similar = folder.table("round-001-similar", _tasks.SIMILAR).where("a is not null")
    copies = _shelves.copies_of(folder)
    # `members` has each document (`stands`) with all its copies (`rank`), itself included.
    both = similar.select(F.col("a").alias("stands")).unionByName(similar.select(F.col("c").alias("stands")))
    firsts = both.unionByName(copies.select(F.col("other").alias("stands"))).distinct()
    members = firsts.select(F.col("stands").alias("rank"), "stands").unionByName(copies.select("rank", F.col("other").alias("stands")))
    # A pair of distinct documents becomes all pairs of a copy of the first and a copy of the second.
    firsts = members.select(F.col("rank").alias("x"), F.col("stands").alias("a"))
    seconds = members.select(F.col("rank").alias("y"), F.col("stands").alias("c"))
    found = similar.join(firsts, "a").join(seconds, "c").select("x", "y", "similarity")
    left = members.select(F.col("rank").alias("x"), "stands")
    right = members.select(F.col("rank").alias("y"), "stands")
    equal = left.join(right, "stands").where(F.col("x") < F.col("y")).select("x", "y", F.lit(1.0).alias("similarity"))
    both = found.unionByName(equal)
    ordered = both.select(F.least("x", "y").alias("x"), F.greatest("x", "y").alias("y"), "similarity")
    names = _decide.with_ids(folder)
    shown = ordered.join(names.select(F.col("rank").alias("x"), F.col("id").alias("first")), "x")
    shown = shown.join(names.select(F.col("rank").alias("y"), F.col("id").alias("second")), "y")
    return shown.select("first", "second", "similarity")


def sketch(df: Any, *, text: str | None = None, id: str | None = None, **same: Any) -> Any:
    """Sketches the rows of a DataFrame. The columns are `id`, `sketch` (words of 32 bits, little-endian) and
    `band_keys`.

    Takes the arguments of :func:`dedup` that set the spec and the bands. In a row without shingles, `sketch` and
    `band_keys` are null.
    """
    _refuse(same, DECIDING, "rows are sketched, and nothing is decided")
    ready = _Ready(df, None, text, id, [text] if text else [_first_text(df)], same, None, False, "sketch")
    rows = _shelves.sketch_rows(df, None, ready.columns, ready.job)
    return rows.select("id", "sketch", "keys").mapInArrow(_tasks.lister(), "id string, sketch binary, band_keys array<bigint>")


def _first_text(df: Any) -> str:
    from ._rows import chosen_text

    return chosen_text(df, None)
