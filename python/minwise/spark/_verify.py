"""Compares pairs exactly.

Pairs are put into buckets, a bucket gets the texts of its documents, and a task compares one bucket.
"""

from __future__ import annotations

from typing import Any

from .._minwise import SPARK_BUCKET_BYTES, SPARK_BUCKET_PAIRS
from . import _tasks
from ._tasks import Job
from ._work import Work

#: Upper bounds of one bucket: bytes of its texts, and number of its pairs.
BUCKET_BYTES, BUCKET_PAIRS = SPARK_BUCKET_BYTES, SPARK_BUCKET_PAIRS
#: Maximum number of buckets.
MOST_BUCKETS = 100_000
#: Maximum number of pairs whose documents are broadcast to filter the table of texts before the shuffle.
SMALL_PAIRS = 2_000_000
#: Maximum number of pairs whose documents and buckets are broadcast, so that each text is shuffled only to the buckets
#: that need it. This number of pairs takes some 100 MB.
FEW_PAIRS = 500_000


def needed(table: Any, pairs: Any) -> Any:
    """Returns the rows of a table whose documents are in one of few pairs.

    The documents are broadcast to every task, so that the table is filtered before the shuffle.
    """
    from pyspark.sql import functions as F

    ends = pairs.select(F.col("a").alias("rank")).unionByName(pairs.select(F.col("c").alias("rank"))).distinct()
    return table.join(F.broadcast(ends), "rank", "left_semi")


def similar(work: Work, job: Job, pairs: Any, texts: Any, buckets: int, all: bool, screens: bool) -> Any:
    """Returns the similarities of the similar pairs, or of all pairs if `all` is true. Pairs have the columns `bucket`,
    `a` and `c`.

    `texts` (`bucket`, `rank`, `text`, `sketch`) has the text of each document once per bucket that needs it.
    """
    from pyspark.sql import functions as F

    none = F.lit(None)
    rows = texts.select("bucket", F.col("rank").alias("a"), none.cast("binary").alias("c"), "text", "sketch")
    rows = rows.unionByName(pairs.select("bucket", "a", "c", none.cast("string").alias("text"), none.cast("binary").alias("sketch")))
    return in_tasks(work, rows, buckets).groupBy("bucket").applyInArrow(_tasks.verifier(job, all, screens), _tasks.SIMILAR)


def in_tasks(work: Work, rows: Any, buckets: int) -> Any:
    """Distributes rows so that the task number of a row is its `bucket`, a number below `buckets`.

    Sail cannot do this, so the rows are returned unchanged. A task may then get several buckets, and gets a text once
    for each bucket that needs it.
    """
    if work.numbers_tasks is False:
        return rows
    try:
        placed = rows.repartitionById(buckets, "bucket")
        # The schema is read, because Spark Connect sends the plan to the server only then, and an error must be raised
        # here.
        work.numbers_tasks = len(placed.schema) > 0
    except Exception:  # noqa: BLE001
        work.numbers_tasks = False
        return rows
    return placed


def compare(
    work: Work, job: Job, pairs: Any, name: str, all: bool, screens: bool = False, texts: str = "texts", bytes: int | None = None
) -> dict[str, Any]:
    """Compares pairs exactly, and writes the similar pairs to the table `name`, or all pairs if `all` is true. Returns
    the counts.

    If `screens` is true, pairs that sketches rule out are not compared. `bytes` is the sum of the bytes of both texts
    over all pairs.

    The bucket of a pair follows from its later document, so that one document with very many later documents does not
    make one large task. The pairs of a document with very many earlier documents are divided among several buckets.
    """
    from pyspark.sql import functions as F

    number = pairs.count()
    if number == 0:
        # An empty table is written with its schema, because Spark may not know the schema of a result without rows.
        work.spark.createDataFrame([], _tasks.SIMILAR).write.mode("overwrite").parquet(work.at(name))
        return {"screened": 0, "similar": 0}
    known = work.table(texts, _tasks.TEXTS).where("rank is not null")
    if bytes is None:
        ends = pairs.select(F.col("a").alias("rank")).unionByName(pairs.select(F.col("c").alias("rank")))
        ends = F.broadcast(ends) if number <= FEW_PAIRS else ends
        bytes = known.select("rank", "size").join(ends, "rank").agg(F.sum("size").alias("bytes")).collect()[0]["bytes"] or 0
    buckets = int(min(max(bytes // BUCKET_BYTES, number // BUCKET_PAIRS, 1), MOST_BUCKETS))
    parts = 1
    if buckets > 1:
        # A document with very many earlier documents would make one large bucket, so its pairs are divided. Their bytes
        # are estimated by those of an average pair.
        largest = pairs.groupBy("c").agg(F.count(F.lit(1)).alias("n")).agg(F.max("n").alias("n")).collect()[0]["n"]
        parts = max(-(-largest // BUCKET_PAIRS), -(-largest * bytes // (number * BUCKET_BYTES)))
    keys = [F.col("c")] if parts == 1 else [F.col("c"), F.pmod(F.hash("a"), F.lit(parts))]
    placed = pairs.withColumn("bucket", F.pmod(F.hash(*keys), F.lit(buckets)))
    firsts = placed.select("bucket", F.col("a").alias("rank"))
    wanted = firsts.unionByName(placed.select("bucket", F.col("c").alias("rank"))).distinct()
    if number <= FEW_PAIRS:
        wanted = F.broadcast(wanted)
    elif number <= SMALL_PAIRS:
        known = needed(known, pairs)
    sketch = "sketch" if screens else F.lit(None).cast("binary").alias("sketch")
    with_texts = known.select("rank", "text", sketch).join(wanted, "rank")
    table = work.save(similar(work, job, placed, with_texts, buckets, all, screens), name)
    counted = table.agg(F.sum("compared").alias("compared"), F.count("a").alias("similar")).collect()[0]
    return {"screened": counted["compared"] or 0, "similar": counted["similar"]}
