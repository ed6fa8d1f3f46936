"""Decisions: which rows go, which document stays in their stead, and how similar both are."""

from __future__ import annotations

from typing import Any

from . import _tasks
from ._rounds import Rounds, compare
from ._shelves import EQUALS
from ._tasks import Job
from ._work import Work

NAMED = "rank binary, `of` binary, similarity double"
IDS = "rank binary, id string"
DECISIONS = "id string, duplicate_of string, similarity double, rank binary, `of` binary, is_equal boolean"


def _inputs(work: Work) -> Any:
    return work.table("sketches", _tasks.SKETCHES).where("not given")


def named(work: Work, job: Job, rounds: Rounds) -> dict[str, Any]:
    """Keepers of rows whose document was removed. Later copies of a document may have another keeper than the first one."""
    from pyspark.sql import functions as F

    equals = work.table("equals", EQUALS).where("copies > 1").select("equality", F.col("rank").alias("first"))
    copies = _inputs(work).select("rank", "equality").join(equals, "equality").where(F.col("rank") != F.col("first"))
    found = rounds.named(copies.select("rank", "first"))
    if found is None:
        found = work.spark.createDataFrame([], NAMED)
    table = work.save(found.select("rank", "of", "similarity"), "named")
    return {"named": table.count()}


def joined(work: Work, job: Job, rounds: Rounds) -> dict[str, Any]:
    """Keepers of rows by components: the first document of the component, and the similarity to it."""
    from pyspark.sql import functions as F

    pairs = rounds.joined()
    if pairs is None:
        work.spark.createDataFrame([], NAMED).write.mode("overwrite").parquet(work.at("named"))
        return {"named": 0}
    compare(work, job, work.save(pairs, "joined-pairs"), "joined", all=True)
    known = work.table("joined", _tasks.SIMILAR)
    equals = work.table("equals", EQUALS).select("equality", F.col("rank").alias("c"))
    rows = _inputs(work).select("rank", "equality").join(equals, "equality").join(known, "c")
    table = work.save(rows.select("rank", F.col("a").alias("of"), "similarity"), "named")
    return {"named": table.count()}


def ids(work: Work, files: Any = None, is_last: bool = False) -> dict[str, Any]:
    """Ids of rows: a repeated one becomes `id#2`, `id#3` in keeper order, and a row without one gets its rank key.

    Records of `files` whose id repeats go by their places instead, as in the command.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    rows = work.table("sketches", _tasks.SKETCHES)
    shown = rows.select("rank", "given", F.coalesce("id", F.lower(F.hex("rank"))).alias("id"))
    inputs = shown.where("not given").select("rank", "id")
    repeated = inputs.groupBy("id").agg(F.count(F.lit(1)).alias("n")).where("n > 1").select("id")
    again = inputs.join(repeated, "id")
    if files is None:
        order = Window.partitionBy("id").orderBy(F.hex("rank"))
        again = again.select("rank", "id", F.row_number().over(order).alias("number"))
        named = F.concat(F.col("id"), F.lit("#"), F.col("number").cast("string"))
        changed = again.where("number > 1").select("rank", named.alias("id"))
    else:
        # The key of a record is its file and row, which end the rank key.
        place = files.select("place", "o0", "o1")
        ends = again.select("rank").mapInArrow(_tasks.placer(is_last), _tasks.PLACES)
        changed = ends.join(place, ["o0", "o1"]).select("rank", F.col("place").alias("id"))
    table = work.save(changed.select("rank", "id"), "repeated-ids")
    return {"repeated_ids": table.count()}


def with_ids(work: Work) -> Any:
    """Rank keys and ids of all rows."""
    from pyspark.sql import functions as F

    rows = work.table("sketches", _tasks.SKETCHES)
    shown = rows.select("rank", F.coalesce("id", F.lower(F.hex("rank"))).alias("plain"))
    repeated = work.table("repeated-ids", IDS)
    return shown.join(repeated, "rank", "left").select("rank", F.coalesce("id", "plain").alias("id"))


def decisions(work: Work, max_cluster: int | None) -> dict[str, Any]:
    """Joins near-duplicates and equal documents, and leaves out large clusters."""
    from pyspark.sql import functions as F

    found = work.table("named", NAMED)
    equals = work.table("equals", EQUALS).where("copies > 1").select("equality", F.col("rank").alias("of"))
    copies = _inputs(work).select("rank", "equality").join(equals, "equality").where(F.col("rank") != F.col("of"))
    # Copies of a removed document, or of a reference in a component, were named with it.
    copies = copies.join(found.select("rank"), "rank", "left_anti")
    all = found.withColumn("is_equal", F.lit(False)).unionByName(
        copies.select("rank", "of", F.lit(1.0).alias("similarity"), F.lit(True).alias("is_equal"))
    )
    spared, large = 0, 0
    if max_cluster is not None:
        sizes = all.groupBy("of").agg(F.count(F.lit(1)).alias("n")).where(F.col("n") + 1 > max_cluster)
        counted = sizes.agg(F.count(F.lit(1)).alias("large"), F.sum("n").alias("spared")).collect()[0]
        large, spared = counted["large"], counted["spared"] or 0
        all = all.join(sizes.select("of"), "of", "left_anti").select("rank", "of", "similarity", "is_equal")
    names = with_ids(work)
    shown = all.join(names, "rank").join(
        names.select(F.col("rank").alias("of"), F.col("id").alias("duplicate_of")), "of"
    )
    table = work.save(shown.select("id", "duplicate_of", "similarity", "rank", "of", "is_equal"), "decisions")
    counted = table.agg(
        F.count(F.lit(1)).alias("n"),
        F.count_distinct("of").alias("clusters"),
        F.sum(F.when(F.col("is_equal"), 1).otherwise(0)).alias("equal"),
    ).collect()[0]
    return {
        "removed": counted["n"],
        "clusters": counted["clusters"],
        "equal": counted["equal"] or 0,
        "spared": spared,
        "large_clusters": large,
    }
