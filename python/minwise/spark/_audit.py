"""The audit measures the recall of decisions: it draws kept documents and compares them with all other documents,
without bands.
"""

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

#: Maximum number of documents that `auto` draws. The command, too, compares all pairs of a corpus of this size.
MOST_DOCUMENTS = 3_500
#: Maximum number of pairs of sketches that `auto` compares, if it draws more than `LEAST_DOCUMENTS`.
MOST_PAIRS = 2_000_000_000
#: Number of documents that `auto` draws from inputs of any size, if there are so many. With fewer, the interval would say
#: little: with 20, none of them missed, and three of ten documents removed, a recall of 70 % would still be possible.
LEAST_DOCUMENTS = 500
#: Maximum number of documents in the clusters of all drawn documents. The driver holds the sketches of these documents.
MOST_SKETCHES = 100_000
#: Maximum number of pairs that sketches do not reject, as in the command. If more than `MOST_NEAR / PARTNERS` documents
#: are asked for, the maximum is `PARTNERS` pairs per document.
MOST_NEAR = 1 << 19
#: Number of pairs per drawn document that a task returns for a batch of rows in the first attempt.
PARTNERS = 32


def size(audit: int | str, distinct: int) -> int:
    """Returns the number of documents to draw, from the setting `audit` and the number of distinct documents."""
    if audit == "off" or distinct < 1:
        return 0
    if audit == "auto":
        return min(MOST_DOCUMENTS, max(MOST_PAIRS // distinct, LEAST_DOCUMENTS))
    return int(audit)


def searched_of(work: Work, cluster: str, spared: int) -> Any:
    """Returns the documents that an audit searches, with the rank key of the kept document of their cluster.

    For stars, these documents are the kept ones; for components, all distinct documents. Documents without shingles
    have no sketch: only equal documents can repeat them.
    """
    from pyspark.sql import functions as F

    rows = work.table("sketches", _tasks.SKETCHES).where(F.col("equality").isNotNull()).select("rank", "equality", "sketch")
    # Copies are left out: the first of several equal documents stands for all of them.
    rows = rows.join(copies_of(work).select("rank"), "rank", "left_anti")
    # Spared documents are no missed duplicates, because the job found them, so the decisions before sparing are used.
    decided = work.table("all-decided" if spared else "decisions", "rank binary, `of` binary").select("rank", "of")
    if cluster == "star":
        return rows.join(decided, "rank", "left_anti").withColumn("cluster", F.col("rank"))
    return rows.join(decided, "rank", "left").select("rank", "equality", "sketch", F.coalesce("of", "rank").alias("cluster"))


def drawn_of(work: Work, searched: Any, job: Job, documents: int) -> tuple[int, list[bytes]]:
    """Returns the number of kept documents of the inputs, and the rank keys of the drawn documents."""
    from pyspark.sql import functions as F

    # References are not drawn. Their rank keys begin with 0.
    kept = searched.where((F.col("rank") == F.col("cluster")) & ~F.hex("rank").startswith("00"))
    order = work.save(kept.select("rank", "equality").mapInArrow(_tasks.drawer(job), _tasks.ORDERED), "audit-order")
    first = order.orderBy(F.hex("order"), F.hex("rank")).limit(documents).select("rank").toArrow()
    return order.count(), first["rank"].to_pylist()


def sample_of(work: Work, searched: Any, drawn: list[bytes]) -> tuple[int, Any]:
    """Returns the number of drawn documents that are compared, and the documents of their clusters as a table.

    If the clusters have too many documents for the driver, the documents that were drawn last are left out.
    """
    from pyspark.sql import functions as F

    rows = in_clusters(work, searched, drawn).select("rank", "cluster", "sketch")
    sizes = {bytes(row["cluster"]): row["n"] for row in rows.groupBy("cluster").agg(F.count(F.lit(1)).alias("n")).collect()}
    total = number = 0
    for rank in drawn:
        total += sizes[rank]
        if total > MOST_SKETCHES:
            break
        number += 1
    if number < len(drawn):
        rows = in_clusters(work, rows, drawn[:number])
    return number, rows.toArrow() if number else None


def in_clusters(work: Work, rows: Any, drawn: list[bytes]) -> Any:
    """Returns the rows of the clusters whose kept documents were drawn."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    if not drawn:
        return rows.limit(0)
    return rows.join(F.broadcast(work.frame(pa.table({"cluster": pa.array(drawn, pa.binary())}), "audit-drawn")), "cluster", "left_semi")


def near_pairs(work: Work, searched: Any, job: Job, drawn: list[bytes], sample: Any, asked: int | None) -> tuple[int, Any]:
    """Returns the number of drawn documents that are compared, and all their pairs that sketches do not reject.

    If there are too many pairs, half of the drawn documents are left out, repeatedly, as in the command. Sketches leave
    nearly all pairs open if the documents are one form, filled in differently.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyspark.sql import functions as F

    def screened(sample: Any, most: int) -> Any:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, sample.schema) as writer:
            writer.write_table(sample)
        sampler = _tasks.sampler(job, sink.getvalue().to_pybytes(), most)
        rows = searched.where(F.col("sketch").isNotNull()).select("rank", "cluster", "sketch")
        return work.save(rows.mapInArrow(sampler, _tasks.NEAR), "audit-pairs")

    pairs = screened(sample, PARTNERS)
    counted = pairs.where("a is null").groupBy("cluster").agg(F.sum("open").alias("open"), F.max("open").alias("largest")).toArrow()
    of = dict(zip(counted["cluster"].to_pylist(), counted["open"].to_pylist()))
    number, most = len(drawn), max(MOST_NEAR, PARTNERS * (asked or 0))
    while number and sum(of.get(rank, 0) for rank in drawn[:number]) > most:
        number //= 2
    pairs = pairs.where("a is not null")
    if not number:
        return 0, pairs
    chosen = pa.array(drawn[:number], pa.binary())
    if number < len(drawn) or (pc.max(counted["largest"]).as_py() or 0) > PARTNERS:
        pairs = screened(sample.filter(pc.is_in(sample["cluster"], chosen)), most).where("a is not null")
    return number, pairs.select("a", "c", "cluster")


def audit(
    work: Work, df: Any, against: Any, columns: Columns, job: Job, cluster: str, counts: dict[str, Any], documents: int, asked: int | None
) -> dict[str, Any]:
    """Draws kept documents and counts the missed duplicates among them. Returns the result of the audit."""
    from pyspark.sql import functions as F

    found = counts["removed"] + counts["spared"]
    searched = searched_of(work, cluster, counts["spared"])
    kept, drawn = drawn_of(work, searched, job, documents)
    number, table = sample_of(work, searched, drawn) if drawn else (0, None)
    if number:
        number, pairs = near_pairs(work, searched, job, drawn[:number], table, asked)
    if not number:
        return cast(dict[str, Any], json.loads(spark_audit(kept, 0, found, 0)))
    needed = pairs.select(F.col("a").alias("rank")).unionByName(pairs.select(F.col("c").alias("rank"))).distinct()
    texts = needed.count()
    work.save(chosen_texts(df, against, columns, job, needed.toArrow() if texts <= SMALL_HASHES else needed, texts), "audit-texts")
    compare(work, job, pairs.select("a", "c"), "audit-similar", all=False, texts="audit-texts")
    similar = work.table("audit-similar", _tasks.SIMILAR).where("a is not null").join(pairs, ["a", "c"])
    missed = similar.select("cluster").distinct().count()
    return cast(dict[str, Any], json.loads(spark_audit(kept, number, found, missed)))
