"""The audit: kept documents are drawn and compared with all others without bands, which measures the recall of decisions."""

from __future__ import annotations

import json
from typing import Any, cast

from .._minwise import spark_audit
from . import _tasks
from ._rows import Columns
from ._shelves import SMALL_HASHES, chosen_texts, copies_of
from ._tasks import Job
from ._verify import compare
from ._work import Work

#: Documents that `auto` draws at most, and pairs of sketches that it compares: some ten seconds of one core. The command compares all pairs of as
#: many documents.
MOST_DOCUMENTS = 3_500
MOST_PAIRS = 2_000_000_000
#: Documents of the clusters of a sample, whose sketches the driver has.
MOST_SKETCHES = 100_000


def size(audit: int | str, distinct: int) -> int:
    """How many documents are drawn."""
    if audit == "off" or distinct < 1:
        return 0
    if audit == "auto":
        return min(MOST_DOCUMENTS, max(MOST_PAIRS // distinct, 1))
    return int(audit)


def searched_of(work: Work, cluster: str, spared: int) -> Any:
    """Documents that have a text, with the rank key of the kept document of their cluster: kept ones by stars, all distinct ones by components. Those
    without shingles have no sketch and are found equal or not at all."""
    from pyspark.sql import functions as F

    rows = work.table("sketches", _tasks.SKETCHES).where(F.col("equality").isNotNull()).select("rank", "equality", "sketch")
    # One of equal documents stands for all.
    rows = rows.join(copies_of(work).select("rank"), "rank", "left_anti")
    # Spared documents were found, so they are no missed duplicates.
    decided = work.table("all-decided" if spared else "decisions", "rank binary, `of` binary").select("rank", "of")
    if cluster == "star":
        return rows.join(decided, "rank", "left_anti").withColumn("cluster", F.col("rank"))
    return rows.join(decided, "rank", "left").select("rank", "equality", "sketch", F.coalesce("of", "rank").alias("cluster"))


def drawn_of(work: Work, searched: Any, job: Job, documents: int) -> tuple[int, list[bytes]]:
    """The number of kept documents of the inputs that have a text, and the rank keys of those that are drawn."""
    from pyspark.sql import functions as F

    # Rank keys of references begin with 0.
    kept = searched.where((F.col("rank") == F.col("cluster")) & ~F.hex("rank").startswith("00"))
    order = work.save(kept.select("rank", "equality").mapInArrow(_tasks.drawer(job), _tasks.ORDERED), "audit-order")
    first = order.orderBy(F.hex("order"), F.hex("rank")).limit(documents).select("rank").toArrow()
    return order.count(), first["rank"].to_pylist()


def sample_of(work: Work, searched: Any, drawn: list[bytes]) -> tuple[int, Any]:
    """How many of the drawn documents are compared, and the documents of their clusters as a table. If clusters are too large for the driver, those
    that were drawn last are left out."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    chosen = work.frame(pa.table({"cluster": pa.array(drawn, pa.binary())}), "audit-drawn")
    rows = searched.join(F.broadcast(chosen), "cluster").select("rank", "cluster", "sketch")
    sizes = {row["cluster"]: row["n"] for row in rows.groupBy("cluster").agg(F.count(F.lit(1)).alias("n")).collect()}
    total, number = 0, 0
    for number, rank in enumerate(drawn, 1):
        total += sizes[rank]
        if total > MOST_SKETCHES and number > 1:
            number -= 1
            rows = rows.where(F.col("cluster").isin(drawn[:number]))
            break
    return number, rows.toArrow()


def audit(
    work: Work, df: Any, against: Any, columns: Columns, job: Job, cluster: str, counts: dict[str, Any], documents: int
) -> dict[str, Any]:
    """Draws kept documents and counts those that repeat another kept one, which were missed."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    found = counts["removed"] + counts["spared"]
    searched = searched_of(work, cluster, counts["spared"])
    kept, drawn = drawn_of(work, searched, job, documents)
    if not drawn:
        return cast(dict[str, Any], json.loads(spark_audit(kept, 0, found, 0)))
    compared, table = sample_of(work, searched, drawn)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    near = searched.where(F.col("sketch").isNotNull()).select("rank", "cluster", "sketch").mapInArrow(_tasks.sampler(job, sink.getvalue().to_pybytes()), _tasks.NEAR)
    pairs = work.save(near, "audit-pairs")
    needed = pairs.select(F.col("a").alias("rank")).unionByName(pairs.select(F.col("c").alias("rank"))).distinct()
    number = needed.count()
    work.save(chosen_texts(df, against, columns, job, needed.toArrow() if number <= SMALL_HASHES else needed, number), "audit-texts")
    compare(work, job, pairs.select("a", "c"), "audit-similar", all=False, texts="audit-texts")
    similar = work.table("audit-similar", _tasks.SIMILAR).where("a is not null").join(pairs, ["a", "c"])
    missed = similar.select("cluster").distinct().count()
    return cast(dict[str, Any], json.loads(spark_audit(kept, compared, found, missed)))
