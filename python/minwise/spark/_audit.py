"""The audit: a sample of documents is compared with all others without bands, which measures the recall."""

from __future__ import annotations

import math
from typing import Any

from . import _tasks
from ._rounds import compare
from ._rows import Columns
from ._shelves import SMALL_HASHES, chosen_texts, copies_of
from ._tasks import Job
from ._work import Work

#: Documents of a sample, and pairs of sketches that `auto` compares at most: some ten seconds of one core.
MOST_DOCUMENTS = 1_000
MOST_PAIRS = 2_000_000_000


def interval(found: int, pairs: int) -> tuple[float, float]:
    """The interval of Wilson that has the true share with 95 %."""
    if pairs == 0:
        return 0.0, 1.0
    z, share = 1.959964, found / pairs
    middle = share + z * z / (2 * pairs)
    width = z * math.sqrt(share * (1 - share) / pairs + z * z / (4 * pairs * pairs))
    scale = 1 + z * z / pairs
    return max((middle - width) / scale, 0.0), min((middle + width) / scale, 1.0)


def size(audit: int | str, distinct: int) -> int:
    """How many documents are drawn."""
    if audit == "off" or distinct < 2:
        return 0
    if audit == "auto":
        return min(MOST_DOCUMENTS, distinct, max(MOST_PAIRS // distinct, 1))
    return min(int(audit), distinct)


def audit(work: Work, df: Any, against: Any, columns: Columns, job: Job, documents: int) -> dict[str, Any]:
    """Counts the similar pairs of a sample, and how many of them share a band."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    sketches = work.table("sketches", _tasks.SKETCHES).where(F.col("sketch").isNotNull())
    # One of equal documents stands for all.
    rows = sketches.select("rank", "sketch", "content").join(copies_of(work).select("rank"), "rank", "left_anti")
    # The fingerprint of a text is as good as random, and the same in every run.
    drawn = rows.orderBy("content", "rank").limit(documents).select("rank", "sketch").toArrow()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, drawn.schema) as writer:
        writer.write_table(drawn)
    sample = sink.getvalue().to_pybytes()
    found = rows.select("rank", "sketch").mapInArrow(_tasks.sampler(job, sample), _tasks.MET)
    pairs = work.save(found.select(F.least("a", "c").alias("a"), F.greatest("a", "c").alias("c"), "met").distinct(), "audit-pairs")
    needed = pairs.select(F.col("a").alias("rank")).unionByName(pairs.select(F.col("c").alias("rank"))).distinct()
    number = needed.count()
    work.save(chosen_texts(df, against, columns, job, needed.toArrow() if number <= SMALL_HASHES else needed, number), "audit-texts")
    compare(work, job, pairs.select("a", "c"), "audit-similar", all=False, texts="audit-texts")
    similar = work.table("audit-similar", _tasks.SIMILAR).where("a is not null").join(pairs, ["a", "c"])
    counted = similar.agg(F.count(F.lit(1)).alias("pairs"), F.sum(F.col("met").cast("bigint")).alias("found")).collect()[0]
    number, met = counted["pairs"], counted["found"] or 0
    low, high = interval(met, number)
    recall = met / number if number else 1.0
    return {"documents": len(drawn), "pairs": number, "found": met, "recall": recall, "low": low, "high": high}
