"""Sketches, equal documents, shelves and texts: the tables that rounds work on."""

from __future__ import annotations

import logging
from typing import Any

from .._errors import InputError, MinwiseError, SettingError
from . import _tasks
from ._rows import Columns, for_references, selected
from ._tasks import Job
from ._work import Work

log = logging.getLogger("minwise.spark")

EQUALS = "equality binary, rank binary, last binary, copies bigint, keys array<bigint>"
SHELVES = "band int, `key` bigint, rank binary"
TEXTS = "rank binary, text string, size bigint"

#: Rows of a small table, which the engine sends to every task instead of shuffling both tables.
SMALL_ROWS = 2_000_000

#: Values of `kind` in the table of sketches.
WITH_SHINGLES, WITHOUT_SHINGLES, NULL, TOO_SHORT, TOO_LONG = range(5)
REASONS = {NULL: "the text is null", TOO_SHORT: "the text is shorter than a shingle", TOO_LONG: "the text is too long"}


def check_executors(spark: Any, job: Job, version: str, fingerprint: int) -> dict[str, Any]:
    """Raises one clear error if executors have another minwise than the driver, or none."""
    try:
        rows = spark.range(0, 1, 1, 1).mapInArrow(_tasks.checker(job), _tasks.EXECUTOR).collect()
    except Exception as error:
        raise MinwiseError(
            f"executors cannot run minwise: {str(error).splitlines()[0]}",
            hint="install minwise, pyarrow and the Python of the driver on every executor (`PYSPARK_PYTHON`)",
        ) from error
    for row in rows:
        if row["version"] != version or row["fingerprint"] != str(fingerprint):
            found = f"minwise {row['version']}" if row["version"] else row["fingerprint"]
            what = "another spec" if row["version"] == version else found
            raise MinwiseError(
                f"executors have {what}, and the driver has minwise {version}",
                hint="install the same version of minwise on the driver and on every executor",
            )
    found = {name: rows[0][name] for name in ("version", "kernel", "python", "machine")}
    log.info("executors: minwise %(version)s, kernel %(kernel)s, Python %(python)s on %(machine)s", found)
    return found


def frequent_shingles(df: Any, against: Any, columns: Columns, job: Job, max_df: str) -> bytes:
    """The shingles that stand in more documents than `max_df` allows, as 8 bytes each."""
    from pyspark.sql import functions as F

    from .._minwise import spark_frequent
    from ._settings import MOST_LEFT_OUT

    rows = selected(df, columns).select("text")
    if against is not None:
        rows = rows.unionByName(selected(against, for_references(columns)).select("text"))
    counted = rows.mapInArrow(_tasks.counter(job), _tasks.COUNTED)
    counted = counted.groupBy("shingle").agg(F.sum("documents").alias("documents"))
    documents = 0
    if "." in max_df:
        sketched = rows.mapInArrow(_tasks.sizer(job), _tasks.SIZES).agg(F.sum("documents").alias("n")).collect()
        documents = int(sketched[0]["n"] or 0)
        least = float(max_df) * documents
    else:
        least = float(max_df)
    # Rust decides by the same comparison as the command; this only leaves out what is certain.
    left_out = spark_frequent(counted.where(F.col("documents") >= F.lit(int(least))).toArrow(), max_df, documents)
    if len(left_out) > MOST_LEFT_OUT:
        raise SettingError(
            f"`max_df`: {len(left_out) // 8:,} shingles are left out, more than every task can load",
            hint="a larger `max_df` leaves out fewer",
            settings=["max_df"],
        )
    return bytes(left_out)


def sketch_rows(df: Any, against: Any, columns: Columns, job: Job) -> Any:
    """The table of sketches: one row per row of the input, references first."""
    rows = selected(df, columns).mapInArrow(_tasks.sketcher(job, False), _tasks.SKETCHES)
    if against is not None:
        references = selected(against, for_references(columns))
        rows = rows.unionByName(references.mapInArrow(_tasks.sketcher(job, True), _tasks.SKETCHES))
    return rows


def sketches(work: Work, df: Any, against: Any, columns: Columns, job: Job, null: str) -> dict[str, Any]:
    """Step 1: writes the sketches, and refuses rows that cannot be told apart."""
    from pyspark.sql import functions as F

    table = work.save(sketch_rows(df, against, columns, job), "sketches")
    by_rank = table.groupBy("rank").agg(
        F.count(F.lit(1)).alias("n"), F.min("given").alias("given"), F.min("kind").alias("kind"),
    )  # fmt: skip
    sums = F.sum("n").alias("rows"), F.max("n").alias("most")
    counted = by_rank.groupBy("given", "kind").agg(*sums).collect()
    kinds = {(row["given"], row["kind"]): row["rows"] for row in counted}
    if null == "error" and any(kind == NULL for _, kind in kinds):
        ids = [row["id"] for row in table.where(F.col("kind") == NULL).orderBy("rank").limit(1).collect()]
        raise InputError(f"the text of `{ids[0]}` is null", hint='`null="keep"` keeps such rows')
    if any(row["most"] > 1 for row in counted):
        twice = table.groupBy("rank").agg(
            F.count(F.lit(1)).alias("n"), F.min("id").alias("first"), F.max("id").alias("second")
        )
        examples = twice.where("n > 1").orderBy("rank").limit(2).collect()
        named = [f"`{row['first']}` and `{row['second']}`" for row in examples if row["first"] is not None]
        shown = "; ".join(named) or f"{examples[0]['n']} rows with the rank key {bytes(examples[0]['rank']).hex()}"
        raise SettingError(
            f"`order_by`: rows cannot be told apart, such as {shown}",
            hint="name columns that no two rows share, such as a path and a row number",
            settings=["order_by"],
        )

    def count(given: bool, *of: int) -> int:
        return sum(n for (is_given, kind), n in kinds.items() if is_given == given and (not of or kind in of))

    return {
        "read": count(False),
        "references": count(True),
        "nulls": count(False, NULL),
        "too_short": count(False, TOO_SHORT),
        "too_long": count(False, TOO_LONG),
        "without_shingles": count(False, WITHOUT_SHINGLES),
    }


def equals(work: Work) -> dict[str, Any]:
    """Step 2: groups equal documents; the first in keeper order stands for them."""
    from pyspark.sql import functions as F

    rows = work.table("sketches", _tasks.SKETCHES).where(F.col("equality").isNotNull())
    groups = rows.groupBy("equality").agg(
        F.min("rank").alias("rank"),
        F.max("rank").alias("last"),
        F.count(F.lit(1)).alias("copies"),
        F.min_by("keys", "rank").alias("keys"),
    )
    table = work.save(groups.select("equality", "rank", "last", "copies", "keys"), "equals")
    counted = table.agg(F.count(F.lit(1)).alias("n"), F.sum(F.when(F.col("copies") > 1, 1).otherwise(0)).alias("m")).collect()[0]
    return {"distinct": counted["n"], "with_equals": counted["m"] or 0}


def shelves(work: Work) -> dict[str, Any]:
    """Step 3: band keys that two documents or more have."""
    from pyspark.sql import functions as F

    rows = work.table("equals", EQUALS).where(F.col("keys").isNotNull())
    keyed = rows.select("rank", F.posexplode("keys").alias("band", "key"))
    shared = keyed.groupBy("band", "key").agg(F.count(F.lit(1)).alias("n")).where("n > 1")
    joined = keyed.join(shared.select("band", "key"), ["band", "key"])
    table = work.save(joined.select(F.col("band").cast("int").alias("band"), "key", "rank"), "shelves")
    counted = table.agg(F.count(F.lit(1)).alias("members"), F.count_distinct("rank").alias("documents")).collect()[0]
    return {"members": counted["members"], "documents": counted["documents"]}


def texts(work: Work, df: Any, against: Any, columns: Columns, job: Job, needed: int) -> dict[str, Any]:
    """Step 4: reads the input a second time and keeps the texts of documents on shelves.

    If a row of the first reading is missing, or has another text, the input is not deterministic, and the job ends.
    """
    from pyspark.sql import functions as F

    ranks = work.table("shelves", SHELVES).select("rank").distinct()
    before = work.table("sketches", _tasks.SKETCHES).select("rank", "content").join(ranks, "rank", "left_semi")
    if needed <= SMALL_ROWS:
        before = F.broadcast(before)
    again = selected(df, columns).drop("id").mapInArrow(_tasks.ranker(job, False), _tasks.RANKS)
    if against is not None:
        references = selected(against, for_references(columns)).drop("id")
        again = again.unionByName(references.mapInArrow(_tasks.ranker(job, True), _tasks.RANKS))
    table = work.save(again.join(before, ["rank", "content"]).select("rank", "text", "size"), "texts")
    counted = table.agg(F.count(F.lit(1)).alias("n"), F.sum("size").alias("bytes")).collect()[0]
    if counted["n"] != needed:
        missing = needed - counted["n"]
        raise InputError(
            f"the input is not deterministic: {abs(missing):,} of {needed:,} rows differ when it is read again",
            hint="write the input to a table first, and pass that table",
        )
    return {"texts": counted["n"], "bytes": counted["bytes"] or 0}
