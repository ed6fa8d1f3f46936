"""Makes the table of decisions: the removed rows, the document that is kept in place of each, and their similarity."""

from __future__ import annotations

from typing import Any

from . import _tasks
from ._rounds import Rounds
from ._shelves import NULL, REASONS, SMALL_HASHES, copies_of
from ._tasks import Job
from ._verify import compare
from ._work import Work, fetched_whole

DECISIONS = "id string, duplicate_of string, similarity double, rank binary, content bigint, `of` binary, is_equal boolean"


def decided(work: Work, job: Job, rounds: Rounds, cluster: str) -> Any:
    """Returns the removed rows with their keepers, as an Arrow table if the driver has all copies, and as a DataFrame
    otherwise.
    """
    from pyspark.sql import functions as F

    if cluster == "star":
        table = rounds.decided()
        if table is not None:
            return table
        # Copies are named one by one, because a later copy of a document may have another keeper than the first.
        found = rounds.named(copies_of(work))
    else:
        found = joined(work, job, rounds)
    copies = copies_of(work)
    if found is not None:
        found = work.save(found.select("rank", "of", "similarity", F.lit(False).alias("is_equal")), "named")
        # Copies that have a keeper already are left out; they are copies of removed documents.
        copies = copies.join(found.select("rank"), "rank", "left_anti")
    rows = copies.select("rank", F.col("other").alias("of"), F.lit(1.0).alias("similarity"), F.lit(True).alias("is_equal"))
    rows = rows if found is None else found.unionByName(rows)
    # References are never removed. Their rank keys begin with 0.
    return rows.where(~F.hex("rank").startswith("00"))


def joined(work: Work, job: Job, rounds: Rounds) -> Any:
    """Returns the keepers of rows for components: the first document of the component, and the similarity to it."""
    from pyspark.sql import functions as F

    pairs = rounds.joined()
    if pairs is None:
        return None
    compare(work, job, work.save(pairs, "joined-pairs"), "joined", all=True)
    known = work.table("joined", _tasks.SIMILAR).where("a is not null")
    documents = known.select(F.col("c").alias("rank"), F.col("a").alias("of"), "similarity")
    copies = copies_of(work).join(known.withColumnRenamed("c", "other"), "other")
    return documents.unionByName(copies.select("rank", F.col("a").alias("of"), "similarity"))


def named_rows(work: Work, files: Any, null: str) -> Any:
    """Returns the ids of rows that are documents. Rejected rows are left out: their ids do not count as repeated."""
    from pyspark.sql import functions as F

    rejected = [kind for kind in REASONS if kind != NULL or null == "reject"]
    rows = work.table("sketches", _tasks.SKETCHES).where("id is not null").where(~F.col("kind").isin(rejected))
    return (rows if files is None else rows.where("not given")).select("rank", "id")


def renamed(work: Work, files: Any, is_last: bool, rows: Any) -> Any:
    """Returns new ids of rows whose id repeats. The first row keeps the id; the others get `id#2`, `id#3`, … in keeper
    order, but no id that a row has already.

    Records of `files` whose id repeats are named by their places instead, as in the command.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    repeated = rows.groupBy("id").agg(F.count(F.lit(1)).alias("n")).where("n > 1").select("id")
    again = rows.join(repeated, "id")
    if files is not None:
        # A record is found by its file and row, which are the last parts of its rank key.
        place = files.select("place", "o0", "o1")
        ends = again.select("rank").mapInArrow(_tasks.placer(is_last), _tasks.PLACES)
        return ends.join(place, ["o0", "o1"]).select("rank", F.col("place").alias("id"))
    # `taken` has the ids of rows that look like the new names, such as `a#2` if the id `a` repeats.
    number = F.regexp_extract("id", "#([2-9]|[1-9][0-9]{1,8})$", 1)
    numbered = rows.select("id", number.alias("shown")).where("shown <> ''")
    base = F.expr("substring(id, 1, length(id) - length(shown) - 1)")
    taken = numbered.select(base.alias("id"), F.col("shown").cast("bigint").alias("number")).distinct()
    taken = work.save(taken.join(repeated, "id", "left_semi"), "taken-ids")
    marked = taken.select("id").distinct()
    order = Window.partitionBy("id").orderBy(F.hex("rank"))
    plain = again.join(marked, "id", "left_anti").select("rank", "id", F.row_number().over(order).alias("number"))
    name = F.concat(F.col("id"), F.lit("#"), F.col("number").cast("string"))
    plain = plain.where("number > 1").select("rank", name.alias("id"))
    if not taken.limit(1).collect():
        return plain
    there = again.join(marked, "id", "left_semi").select("id", "rank", F.lit(None).cast("bigint").alias("number"))
    both = there.unionByName(taken.select("id", F.lit(None).cast("binary").alias("rank"), "number"))
    return plain.unionByName(both.groupBy("id").applyInArrow(_tasks.renamer(), _tasks.IDS))


def with_ids(work: Work) -> Any:
    """Returns the rank keys, ids and fingerprints of all rows.

    A row without an id is named by its rank key in hexadecimal.
    """
    from pyspark.sql import functions as F

    rows = work.table("sketches", _tasks.SKETCHES)
    shown = rows.select("rank", "content", F.coalesce("id", F.lower(F.hex("rank"))).alias("id"))
    if not (work.counts("ids") or {}).get("renamed"):
        return shown
    names = work.table("renamed-ids", _tasks.IDS).withColumnRenamed("id", "name")
    return shown.join(names, "rank", "left").select("rank", "content", F.coalesce("name", "id").alias("id"))


def ids(work: Work, repeated: int, null: str, files: Any = None, is_last: bool = False) -> None:
    """Runs the step that gives new ids to rows whose id repeats, if there are any."""
    from pyspark.sql import functions as F

    def make() -> dict[str, Any]:
        rows = named_rows(work, files, null)
        sharing = rows.groupBy("id").agg(F.count(F.lit(1)).alias("n")).where("n > 1").agg(F.sum("n").alias("n")).collect()[0]["n"]
        return {"renamed": work.save(renamed(work, files, is_last, rows), "renamed-ids").count(), "sharing": sharing or 0}

    if repeated:
        work.step("ids", make)


COLUMNS = ["id", "duplicate_of", "similarity", "rank", "content", "of", "is_equal"]


def with_names(work: Work, table: Any, id_bytes: int) -> Any:
    """Adds ids to the decisions, which are a table on the driver. Ids have `id_bytes` bytes on average.

    Unless the driver has all ids, one job fetches the ids of all documents that the decisions name.
    """
    import pyarrow as pa
    from pyspark.sql import functions as F

    rows = work.memory.get("rows")
    if rows is None or (work.counts("ids") or {}).get("renamed"):
        ends = pa.chunked_array([*table["rank"].chunks, *table["of"].chunks], pa.binary()).unique()
        wanted = F.broadcast(work.frame(pa.table({"rank": ends}), "decided"))
        rows = fetched_whole(with_ids(work).join(wanted, "rank"), ends.nbytes + len(ends) * (id_bytes + 24), "rank").combine_chunks()
    at = {rank: row for row, rank in enumerate(rows["rank"].to_pylist())}
    own, keepers = (rows.take(pa.array([at[rank] for rank in table[name].to_pylist()], pa.int64())) for name in ("rank", "of"))
    # A row without an id is named by its rank key.
    ids, names = (
        pa.array([rank.hex() if id is None else id for id, rank in zip(some["id"].to_pylist(), some["rank"].to_pylist())], pa.string())
        for some in (own, keepers)
    )
    columns = {"id": ids, "duplicate_of": names, "content": own["content"]}
    columns |= {name: table[name] for name in ("similarity", "rank", "of", "is_equal")}
    return pa.table({name: columns[name] for name in COLUMNS})


def decisions(work: Work, job: Job, rounds: Rounds, cluster: str, max_cluster: int | None, id_bytes: int) -> dict[str, Any]:
    """Runs the step that joins near-duplicates and equal documents, leaves out large clusters, and adds ids.

    Returns the counts.
    """
    from pyspark.sql import functions as F

    all = decided(work, job, rounds, cluster)
    spared, large = 0, 0
    if not hasattr(all, "sparkSession"):
        if not len(all):
            work.spark.createDataFrame([], DECISIONS).write.mode("overwrite").parquet(work.at("decisions"))
            return {**rounds.totals, "removed": 0, "clusters": 0, "equal": 0, "spared": 0, "large_clusters": 0}
        if max_cluster is None and len(all) <= SMALL_HASHES:
            work.save(work.frame(with_names(work, all, id_bytes), "named-decisions"), "decisions")
            equal = all["is_equal"].to_pylist().count(True)
            return {**rounds.totals, "removed": len(all), "clusters": len(all["of"].unique()), "equal": equal, "spared": 0, "large_clusters": 0}
        all = work.frame(all, "decided")
    if max_cluster is not None:
        all = work.save(all, "all-decided")
        sizes = all.groupBy("of").agg(F.count(F.lit(1)).alias("n")).where(F.col("n") + 1 > max_cluster)
        counted = sizes.agg(F.count(F.lit(1)).alias("large"), F.sum("n").alias("spared")).collect()[0]
        large, spared = counted["large"], counted["spared"] or 0
        all = all.join(sizes.select("of"), "of", "left_anti").select("rank", "of", "similarity", "is_equal")
    names = with_ids(work)
    shown = names.join(all, "rank").join(names.select(F.col("rank").alias("of"), F.col("id").alias("duplicate_of")), "of")
    table = work.save(shown.select(*COLUMNS), "decisions")
    counted = table.agg(
        F.count(F.lit(1)).alias("n"),
        F.count_distinct("of").alias("clusters"),
        F.sum(F.when(F.col("is_equal"), 1).otherwise(0)).alias("equal"),
    ).collect()[0]
    counts = {"removed": counted["n"], "clusters": counted["clusters"], "equal": counted["equal"] or 0}
    return {**rounds.totals, **counts, "spared": spared, "large_clusters": large}
