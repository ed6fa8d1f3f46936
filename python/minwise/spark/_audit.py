"""The audit: a sample of documents is compared with all others without bands, which measures the recall.

It counts as the audit of the command does. Documents of the input are drawn, and each has a pair with every other shingle set that is similar to
its own, and one with its equal documents, if it has any. A pair counts as found if both documents share a band and the filter of the job
leaves the pair open; on a full shelf, the earlier document must have come before the shelf was full.
"""

from __future__ import annotations

from typing import Any

from .._minwise import spark_share
from . import _tasks
from ._rounds import SHELF, compare
from ._rows import Columns
from ._shelves import chosen_texts, copies_of, groups_here, members_of, split_groups
from ._tasks import Job
from ._work import Work

#: Documents of a sample, and pairs of sketches that `auto` compares at most: some ten seconds of one core.
MOST_DOCUMENTS = 1_000
MOST_PAIRS = 2_000_000_000
#: Pairs of a sample that are compared exactly, about. A drawn document has at least the first and at most the second number of them; if more
#: documents are near it, those that are compared stand for all.
EXACT_PAIRS = 65_536
PARTNERS = (16, 256)


def size(audit: int | str, documents: int, distinct: int) -> int:
    """How many documents are drawn."""
    if audit == "off" or documents == 0:
        return 0
    if audit == "auto":
        return min(MOST_DOCUMENTS, documents, max(MOST_PAIRS // max(distinct, 1), 1))
    return min(int(audit), documents)


def partners(sets: int) -> int:
    """How many documents near each of so many drawn shingle sets are compared exactly."""
    least, most = PARTNERS
    return min(max(EXACT_PAIRS // max(sets, 1), least), most)


def full_shelves(work: Work, most: int, removed: str | None) -> dict[tuple[int, int], bytes]:
    """Shelves that took `most` documents and left out others, by band and band key, each with the rank key of the last document that it took.
    Documents of the table `removed` do not stand on shelves."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    here = groups_here(work)
    members = members_of(work) if here is None else work.frame(split_groups(here)[0], "members")
    large = members.groupBy("band", "key").agg(F.count(F.lit(1)).alias("n")).where(F.col("n") > most).select("band", "key")
    put = members.join(F.broadcast(large), ["band", "key"])
    if removed is not None:
        put = put.join(work.table(removed, "rank binary"), "rank", "left_anti")
    order = Window.partitionBy("band", "key").orderBy(F.hex("rank"))
    last = put.withColumn("at", F.row_number().over(order)).where(F.col("at") == most)
    return {(row["band"], row["key"]): bytes(row["rank"]) for row in last.collect()}


def audit(
    work: Work,
    df: Any,
    against: Any,
    columns: Columns,
    job: Job,
    documents: int,
    of: int,
    kinds: list[int],
    largest: int,
    shelf: int | None,
    removed: str | None,
) -> dict[str, Any]:
    """Draws `documents` of all documents of the input, which are `of` rows of some `kinds`, and counts their pairs, and how many of them the job
    had. A shelf takes `shelf` documents, without those of the table `removed`, and the largest one has `largest`."""
    import pyarrow as pa
    from pyspark.sql import functions as F

    sketches = work.table("sketches", _tasks.SKETCHES)
    # The fingerprint of a row is as good as random, and the same in every run.
    rows = sketches.where(F.col("kind").isin(kinds) & ~F.col("given")).orderBy("content", "rank").limit(documents).select("rank", "sketch", "keys")
    drawn = rows.toArrow().to_pylist()
    # The first of its equal documents for each drawn one, or the document itself if it is the first and has copies.
    copies = copies_of(work)
    mine = F.broadcast(work.frame(pa.table({"rank": pa.array([row["rank"] for row in drawn], pa.binary())}), "audit-drawn"))
    later = copies.join(mine, "rank").select("rank", "other")
    earlier = copies.select(F.col("other").alias("rank")).join(mine, "rank", "left_semi").distinct().select("rank", F.col("rank").alias("other"))
    firsts = {bytes(row["rank"]): bytes(row["other"]) for row in later.unionByName(earlier).collect()}
    sets = {firsts.get(row["rank"], row["rank"]): (row["sketch"], row["keys"]) for row in drawn if row["sketch"] is not None}
    found: dict[bytes, list[tuple[bytes, bytes]]] = {}
    near: dict[bytes, int] = {}
    similar: set[tuple[bytes, bytes]] = set()
    if sets:
        near, found = _near(work, sketches, copies, job, sets)
        similar = _similar(work, df, against, columns, job, found)
    most = SHELF if shelf is None else shelf
    full = full_shelves(work, most, removed) if largest > most else {}

    def is_met(first: bytes, other: bytes, bands: bytes) -> bool:
        keys = sets[first][1]
        for at in range(0, len(bands), 2):
            band = int.from_bytes(bands[at : at + 2], "little")
            key = int.from_bytes(keys[8 * band : 8 * band + 8], "little", signed=True)
            last = full.get((band, key))
            if last is None or min(first, other) <= last:
                return True
        return False

    # Pairs, found pairs, and how many documents near it each compared one stands for, by shingle set.
    seen: dict[bytes, tuple[int, int, float]] = {}
    for first, others in found.items():
        pairs = [(other, bands) for other, bands in others if (min(first, other), max(first, other)) in similar]
        met = sum(is_met(first, other, bands) for other, bands in pairs)
        seen[first] = (len(pairs), met, near[first] / len(others))
    counted, total, hits = [], 0, 0
    for row in drawn:
        equal = row["rank"] in firsts
        pairs_of, met_of, stand_for = seen.get(firsts.get(row["rank"], row["rank"]), (0, 0, 1.0))
        total, hits = total + equal + pairs_of, hits + equal + met_of
        counted.append((equal + stand_for * pairs_of, equal + stand_for * met_of))
    is_whole = all(stand_for == 1.0 for _, _, stand_for in seen.values())
    unseen = 1.0 - len(drawn) / max(of, 1) if is_whole else 1.0
    recall, low, high = spark_share(counted, unseen)
    measured = (recall, low, high) if total else (None, None, None)
    names = ("recall", "low", "high")
    return {"documents": len(drawn), "pairs": total, "found": hits, **dict(zip(names, measured)), "is_complete": unseen <= 0.0}


def _near(
    work: Work, sketches: Any, copies: Any, job: Job, sets: dict[bytes, tuple[bytes, bytes]]
) -> tuple[dict[bytes, int], dict[bytes, list[tuple[bytes, bytes]]]]:
    """For each drawn shingle set, the number of documents near it, and those of them that are compared exactly, with the bands that they share."""
    import pyarrow as pa
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    names = sorted(sets)
    sample = pa.table({"rank": pa.array(names, pa.binary()), "sketch": pa.array([sets[name][0] for name in names], pa.binary())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, sample.schema) as writer:
        writer.write_table(sample)
    most = partners(len(sets))
    # One of equal documents stands for all.
    rows = sketches.where("sketch is not null").select("rank", "sketch").join(copies.select("rank"), "rank", "left_anti")
    task = _tasks.sampler(job, sink.getvalue().to_pybytes(), most)
    table = work.save(rows.mapInArrow(task, _tasks.NEAR), "audit-near")
    counted = table.where("near is not null").groupBy("a").agg(F.sum("near").alias("near")).collect()
    order = Window.partitionBy("a").orderBy("key", F.hex("c"))
    chosen = table.where("c is not null").withColumn("at", F.row_number().over(order)).where(F.col("at") <= most)
    found: dict[bytes, list[tuple[bytes, bytes]]] = {}
    for row in chosen.select("a", "c", "bands").toArrow().to_pylist():
        found.setdefault(row["a"], []).append((row["c"], row["bands"]))
    return {bytes(row["a"]): row["near"] for row in counted}, found


def _similar(
    work: Work, df: Any, against: Any, columns: Columns, job: Job, found: dict[bytes, list[tuple[bytes, bytes]]]
) -> set[tuple[bytes, bytes]]:
    """Pairs that reach the threshold, the earlier document first."""
    import pyarrow as pa

    pairs = sorted({(min(first, other), max(first, other)) for first, others in found.items() for other, _ in others})
    if not pairs:
        return set()
    ranks = sorted({rank for pair in pairs for rank in pair})
    texts = chosen_texts(df, against, columns, job, pa.table({"rank": pa.array(ranks, pa.binary())}), len(ranks))
    work.save(texts, "audit-texts")
    asks = pa.table({name: pa.array([pair[at] for pair in pairs], pa.binary()) for at, name in enumerate(("a", "c"))})
    compare(work, job, work.frame(asks, "audit-asks"), "audit-similar", all=False, texts="audit-texts")
    rows = work.table("audit-similar", _tasks.SIMILAR).where("a is not null").select("a", "c").toArrow().to_pylist()
    return {(row["a"], row["c"]) for row in rows}
