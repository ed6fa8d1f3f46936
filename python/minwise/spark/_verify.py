"""Compares pairs exactly.

Pairs are put into buckets, a bucket gets the texts of its documents, and a task compares one bucket.
"""

from __future__ import annotations

import logging
from typing import Any

from .._minwise import SPARK_BUCKET_BYTES, SPARK_BUCKET_PAIRS
from . import _tasks
from ._tasks import Job
from ._work import Work, first_line

log = logging.getLogger("minwise.spark")

#: Upper bounds of one bucket: bytes of its texts, and number of its pairs.
BUCKET_BYTES, BUCKET_PAIRS = SPARK_BUCKET_BYTES, SPARK_BUCKET_PAIRS
#: Maximum number of buckets.
MOST_BUCKETS = 100_000
#: Number of buckets whose pairs one task numbers (`placed`). A task with more pairs would take longer, and with fewer,
#: more buckets would not be full.
GROUPED_BUCKETS = 16
#: Maximum number of pairs whose documents are broadcast to filter the table of texts before the shuffle.
SMALL_PAIRS = 2_000_000
#: Maximum number of pairs whose documents and buckets are broadcast, so that each text is shuffled only to the buckets
#: that need it. This number of pairs takes some 100 MB.
FEW_PAIRS = 500_000


def needed(table: Any, pairs: Any) -> Any:
    """Returns the rows of `table` whose documents are in `pairs`, which has at most `SMALL_PAIRS` pairs.

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
    from pyspark.errors import PySparkNotImplementedError, UnsupportedOperationException

    try:
        placed = rows.repartitionById(buckets, "bucket")
        # The schema is read, because Spark Connect sends the plan to the server only then, and an error must be raised
        # here.
        work.numbers_tasks = len(placed.schema) > 0
    # Other errors, such as a lost connection, are no reason to send more texts.
    except (AttributeError, PySparkNotImplementedError, UnsupportedOperationException) as error:
        log.info("the engine cannot choose the task of a bucket, so that a text is sent once per bucket: %s", first_line(error))
        work.numbers_tasks = False
        return rows
    return placed


def with_bytes(pairs: Any, texts: Any) -> Any:
    """Adds the column `bytes` to pairs: the bytes of both texts. `texts` has the size of each text."""
    from pyspark.sql import functions as F

    sizes = (needed(texts, pairs) if pairs.count() <= SMALL_PAIRS else texts).select("rank", "size")
    firsts = sizes.select(F.col("rank").alias("a"), F.col("size").alias("na"))
    seconds = sizes.select(F.col("rank").alias("c"), F.col("size").alias("nc"))
    zero = F.lit(0).cast("bigint")
    # Pairs without texts stay, because comparing them raises the error that the input is not deterministic.
    both = pairs.join(firsts, "a", "left").join(seconds, "c", "left")
    return both.select("a", "c", (F.coalesce("na", zero) + F.coalesce("nc", zero)).alias("bytes"))


def in_buckets(work: Work, pairs: Any) -> tuple[int, Any, int]:
    """Puts pairs (`a`, `c`, `bytes`) into buckets. Returns the number of pairs, the pairs (`bucket`, `a`, `c`), and the
    number of buckets.

    Pairs are sorted by their later document and cut by the sums of their bytes, so that the texts of a bucket have at
    most `BUCKET_BYTES`, and those of one pair more. An average would not do: among many short texts, one document that
    is compared with 50,000 long ones would make one bucket of several GB.
    """
    import pyarrow as pa
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    # Each pair counts as at least a share of the pairs of a bucket, so that one sum limits bytes and pairs.
    cost = F.greatest(F.col("bytes"), F.lit(-(-BUCKET_BYTES // BUCKET_PAIRS)).cast("bigint"))
    counted = pairs.agg(F.count(F.lit(1)).alias("pairs"), F.sum(cost).alias("cost")).collect()[0]
    number, total = counted["pairs"], counted["cost"] or 0
    if total <= BUCKET_BYTES:
        return number, pairs.select(F.lit(0).alias("bucket"), "a", "c"), 1
    most = max(BUCKET_BYTES, -(-total // MOST_BUCKETS))
    groups = int(max(total // (GROUPED_BUCKETS * most), 1))
    rows = pairs.select(F.pmod(F.hash("c"), F.lit(groups)).cast("bigint").alias("group"), "a", "c", cost.alias("cost"))
    sums = rows.groupBy("group").agg(F.sum("cost").alias("cost")).toArrow()
    first: list[int] = []
    buckets = 0
    for size in sums["cost"].to_pylist():
        first.append(buckets)
        buckets += -(-size // most)
    starts = work.frame(pa.table({"group": sums["group"].cast(pa.int64()), "first": pa.array(first, pa.int64())}), "bucket-starts")
    order = Window.partitionBy("group").orderBy("c", "a").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    rows = rows.select("group", "a", "c", F.sum("cost").over(order).alias("sum")).join(F.broadcast(starts), "group")
    # The sum with the pair itself is divided, so that the last bucket of a group is never empty.
    bucket = F.col("first") + F.floor((F.col("sum") - 1) / F.lit(most))
    return number, rows.select(bucket.cast("int").alias("bucket"), "a", "c"), buckets


def compare(work: Work, job: Job, pairs: Any, name: str, all: bool, screens: bool = False, texts: str = "texts") -> dict[str, Any]:
    """Compares pairs (`a`, `c`, `bytes`) exactly, and writes the similar pairs to the table `name`, or all pairs if
    `all` is true. Returns the counts.

    If `screens` is true, pairs that sketches rule out are not compared. `bytes` is the number of bytes of both texts;
    without this column, it is taken from the table of texts.

    Pairs of one later document are in one bucket or in neighbouring ones, so that a document with very many later
    documents does not make one large task.
    """
    from pyspark.sql import functions as F

    known = work.table(texts, _tasks.TEXTS).where("rank is not null")
    pairs = pairs if "bytes" in pairs.columns else with_bytes(pairs, known)
    number, placed, buckets = in_buckets(work, pairs)
    if number == 0:
        # An empty table is written with its schema, because Spark may not know the schema of a result without rows.
        work.spark.createDataFrame([], _tasks.SIMILAR).write.mode("overwrite").parquet(work.at(name))
        return {"screened": 0, "similar": 0}
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
