"""Rounds: pairs are asked, screened by their sketches and compared exactly, until every document is decided.

Who is asked about whom depends on shelves and similar pairs, and on no text or sketch. The driver works that out if it has room: 24 bytes
per document and shelf. Above that, one task per component does, where a component has all documents that shelves connect: every
similar pair and every dependency of the rule of full shelves lies in one component.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from . import _tasks
from ._shelves import EQUALS, SHELVES, TEXTS
from ._tasks import Job
from ._work import Work

log = logging.getLogger("minwise.spark")

#: Memberships of shelves that the driver takes: some 10 GB.
DRIVER_MEMBERS = 400_000_000
#: Texts of one bucket of pairs, in bytes, and pairs of one bucket that are worth a task of their own.
BUCKET_BYTES = 32 << 20
BUCKET_PAIRS = 2_000
MOST_BUCKETS = 100_000
#: Listed pairs of a round that go through the driver, which saves a table.
SMALL_PAIRS = 2_000_000
LABELS = "rank binary, component binary"


class Rounds:
    """The rounds of one job. Subclasses know who is asked about whom."""

    def __init__(self, work: Work, job: Job) -> None:
        self.work = work
        self.job = job
        self.totals = {"rounds": 0, "asked": 0, "screened": 0, "similar": 0}

    def asks(self, number: int) -> tuple[Any, Any, int] | None:
        """Pairs of a round, rows of its blocks, and how many pairs are listed; None if there is nothing to ask."""
        raise NotImplementedError

    def answer(self, number: int) -> None:
        """Takes note that the similar pairs of a round are in the folder."""

    def undecided(self) -> int:
        return 0

    def named(self, visits: Any) -> Any:
        """Removed visits with their keepers, given the copies (`rank`) of documents (`first`); stars only."""
        raise NotImplementedError

    def joined(self) -> Any:
        """Documents (`c`) with the first of their component (`a`); components only."""
        raise NotImplementedError

    def run(self) -> dict[str, int]:
        """Goes on until there is nothing to ask, and returns the counts of all rounds."""
        while True:
            number = self.totals["rounds"] + 1
            began = time.monotonic()
            step = f"round-{number:03}"
            found = self.asks(number)
            if found is None:
                return self.totals
            pairs, tasks, listed = found
            counts = self.work.step(step, lambda: self._round(step, number, pairs, tasks, listed))
            self.answer(number)
            self.totals["rounds"] = number
            for name in ("asked", "screened", "similar"):
                self.totals[name] += counts[name]
            log.info(
                "round %d: %d pairs asked, %d left by sketches, %d similar; %d documents undecided before; %.1f s",
                number, counts["asked"], counts["screened"], counts["similar"], self.undecided(), time.monotonic() - began,
            )  # fmt: skip

    def _round(self, step: str, number: int, pairs: Any, tasks: Any, listed: int) -> dict[str, Any]:
        from pyspark.sql import functions as F

        work = self.work
        sketches = work.table("sketches", _tasks.SKETCHES).select("rank", "sketch")
        found = []
        if pairs is not None:
            if listed <= SMALL_PAIRS:
                sketches = needed(sketches, pairs)
            first = sketches.select(F.col("rank").alias("a"), F.col("sketch").alias("sa"))
            second = sketches.select(F.col("rank").alias("c"), F.col("sketch").alias("sc"))
            rows = pairs.join(first, "a").join(second, "c").select("a", "c", "sa", "sc")
            screened = rows.mapInArrow(_tasks.screener(self.job), _tasks.PAIRS)
            found.append(screened.withColumn("asked", F.lit(None).cast("bigint")))
        if tasks is not None:
            rows = tasks.join(work.table("sketches", _tasks.SKETCHES).select("rank", "sketch"), "rank")
            found.append(rows.groupBy("task").applyInArrow(_tasks.block_screener(self.job), _tasks.ASKED))
        both = found[0] if len(found) == 1 else found[0].unionByName(found[1])
        both = both.select("a", "c", "asked")
        if tasks is None and listed <= SMALL_PAIRS:
            # Listed pairs are listed once in all rounds, and few of them are left.
            left = both.select("a", "c").toArrow()
            frame = work.frame(left, f"{step}-left") if len(left) else None
            counts = compare(work, self.job, frame, f"{step}-similar", all=False, number=len(left))
            return {"asked": listed, **counts, "is_table": False}
        table = work.save(both, f"{step}-screened")
        asked = listed + (table.agg(F.sum("asked").alias("n")).collect()[0]["n"] or 0)
        pairs = table.where(F.col("a").isNotNull()).select("a", "c").distinct()
        for before in range(1, number):
            if not (work.counts(f"round-{before:03}") or {}).get("is_table"):
                continue
            # A pair may be in a block of one shelf and in a later one of another.
            earlier = work.table(f"round-{before:03}-screened", _tasks.ASKED).where(F.col("a").isNotNull())
            pairs = pairs.join(earlier.select("a", "c"), ["a", "c"], "left_anti")
        pairs = work.save(pairs, f"{step}-pairs")
        counts = compare(work, self.job, pairs, f"{step}-similar", all=False)
        return {"asked": int(asked), **counts, "is_table": True}


class DriverRounds(Rounds):
    """Rounds whose asks the driver works out."""

    def __init__(self, work: Work, job: Job, clustering: str, limits: dict[str, int | None]) -> None:
        import pyarrow as pa

        from .._minwise import SparkRounds

        super().__init__(work, job)
        shelved = work.table("shelves", SHELVES).toArrow()
        copies = work.table("equals", EQUALS).where("copies > 1").select("rank", "last").toArrow()
        self.driver = SparkRounds(clustering, shelved, copies, **limits)
        sizes = shelved.group_by(["band", "key"]).aggregate([("rank", "count")])["rank_count"].to_numpy()
        self.totals |= {"shelves": len(sizes), "largest": int(sizes.max(initial=0))}
        none = {"a": pa.array([], pa.binary()), "c": pa.array([], pa.binary()), "similarity": pa.array([], pa.float64())}
        self._similar: Any = pa.table(none)

    def asks(self, number: int) -> tuple[Any, Any, int] | None:
        import pyarrow as pa

        listed, blocks = self.driver.next_round(self._similar)
        if not len(listed) and not len(blocks):
            return None
        work, name = self.work, f"round-{number:03}"
        # A round that is done needs no tables.
        if work.counts(name) is not None:
            return None, None, 0
        pairs = work.frame(pa.table(pa.record_batch(listed)), f"{name}-asks") if len(listed) else None
        tasks = work.frame(pa.table(pa.record_batch(blocks)), f"{name}-blocks") if len(blocks) else None
        return pairs, tasks, len(listed)

    def answer(self, number: int) -> None:
        self._similar = self.work.table(f"round-{number:03}-similar", _tasks.SIMILAR).toArrow()

    def undecided(self) -> int:
        return int(self.driver.undecided())

    def named(self, visits: Any) -> Any:
        import pyarrow as pa

        none = pa.table({"rank": pa.array([], pa.binary()), "first": pa.array([], pa.binary())})
        removed = pa.table(pa.record_batch(self.driver.named(none)))
        if not len(removed):
            return None
        firsts = self.work.frame(removed.select(["rank"]).rename_columns(["first"]), "named-firsts")
        copies = visits.join(firsts, "first", "left_semi").select("rank", "first").toArrow()
        return self.work.frame(pa.table(pa.record_batch(self.driver.named(copies))), "named-rows")

    def joined(self) -> Any:
        import pyarrow as pa

        pairs = pa.table(pa.record_batch(self.driver.joined()))
        return self.work.frame(pairs, "joined-rows").select("a", "c") if len(pairs) else None


class ClusterRounds(Rounds):
    """Rounds whose asks are worked out by one task per component. A task repeats all rounds from their similar pairs, so that it keeps
    nothing between two rounds."""

    def __init__(self, work: Work, job: Job, clustering: str, limits: dict[str, int | None]) -> None:
        super().__init__(work, job)
        self.clustering = clustering
        self.limits = limits
        counts = work.step("components", self._label)
        self.totals |= {"shelves": counts["shelves"], "largest": counts["largest"]}

    def _label(self) -> dict[str, Any]:
        """Finds components: the least rank key that shelves connect a document with."""
        from pyspark.sql import functions as F

        work = self.work
        shelves = work.table("shelves", SHELVES)
        labels = work.save(shelves.select("rank").distinct().withColumn("component", F.col("rank")), "labels-0")
        rounds = 0
        while True:
            rounds += 1
            on_shelves = shelves.join(labels, "rank").groupBy("band", "key").agg(F.min("component").alias("component"))
            least = shelves.join(on_shelves, ["band", "key"]).groupBy("rank").agg(F.min("component").alias("nearest"))
            # The component of the nearest document is nearer still, so that a chain of n documents takes log n rounds.
            further = labels.select(F.col("rank").alias("nearest"), F.col("component").alias("far"))
            jumped = least.join(further, "nearest").select("rank", F.least("nearest", "far").alias("component"))
            after = work.save(jumped, f"labels-{rounds}")
            before = labels.select("rank", F.col("component").alias("before"))
            changed = after.join(before, "rank").where(F.col("component") != F.col("before")).count()
            labels = after
            if changed == 0:
                break
        work.save(labels.select("rank", "component"), "components")
        sizes = shelves.groupBy("band", "key").agg(F.count(F.lit(1)).alias("n"))
        counted = sizes.agg(F.count(F.lit(1)).alias("shelves"), F.max("n").alias("largest")).collect()[0]
        number = labels.select("component").distinct().count()
        return {"label_rounds": rounds, "components": number, "shelves": counted["shelves"], "largest": counted["largest"] or 0}

    def _rows(self, rounds: int) -> Any:
        """All that tasks know: memberships (0), copies (1), and the similar pairs of each round (2)."""
        from pyspark.sql import functions as F

        work, labels = self.work, self.work.table("components", LABELS)
        kinds = {"band": "int", "key": "bigint", "rank": "binary", "other": "binary", "similarity": "double"}

        def rows(table: Any, what: int, number: int = 0) -> Any:
            there = [F.col(name) if name in table.columns else F.lit(None).cast(kind).alias(name) for name, kind in kinds.items()]
            told = [F.lit(what).alias("what"), F.lit(number).alias("number")]
            return table.join(labels, "rank").select("component", *told, *there)

        all = rows(work.table("shelves", SHELVES), 0)
        copies = work.table("equals", EQUALS).where("copies > 1").select("rank", F.col("last").alias("other"))
        all = all.unionByName(rows(copies, 1))
        for number in range(1, rounds + 1):
            similar = work.table(f"round-{number:03}-similar", _tasks.SIMILAR)
            renamed = similar.select(F.col("a").alias("rank"), F.col("c").alias("other"), "similarity")
            all = all.unionByName(rows(renamed, 2, number))
        return all

    def asks(self, number: int) -> tuple[Any, Any, int] | None:
        from pyspark.sql import functions as F

        done = self.work.counts(f"asks-{number:03}")
        name = f"asks-{number:03}"
        if done is None:

            def ask() -> dict[str, Any]:
                task = _tasks.asker(self.clustering, self.limits, number)
                table = self.work.save(self._rows(number - 1).groupBy("component").applyInArrow(task, _tasks.ASKS), name)
                counted = table.agg(F.count(F.lit(1)).alias("n"), F.count("c").alias("listed")).collect()[0]
                return {"rows": counted["n"], "listed": counted["listed"]}

            done = self.work.step(name, ask)
        if not done["rows"]:
            return None
        table = self.work.table(name, _tasks.ASKS)
        pairs = table.where(F.col("c").isNotNull()).select(F.col("rank").alias("a"), "c") if done["listed"] else None
        tasks = None
        if done["rows"] > done["listed"]:
            # Tasks of all components have numbers from 0.
            task = F.concat(F.hex("component"), F.lit("-"), F.col("task").cast("string"))
            tasks = table.where(F.col("c").isNull()).withColumn("task", task).drop("c", "component")
        return pairs, tasks, done["listed"]

    def named(self, visits: Any) -> Any:
        from pyspark.sql import functions as F

        labels = self.work.table("components", LABELS)
        copies = visits.join(labels.withColumnRenamed("rank", "first"), "first")
        rows = self._rows(self.totals["rounds"])
        none = F.lit(None)
        more = copies.select(
            "component", F.lit(3).alias("what"), none.cast("int").alias("band"), none.cast("bigint").alias("key"), "rank",
            F.col("first").alias("other"), F.lit(0).alias("number"), none.cast("double").alias("similarity"),
        )  # fmt: skip
        task = _tasks.namer(self.clustering, self.limits, self.totals["rounds"])
        return rows.unionByName(more).groupBy("component").applyInArrow(task, "rank binary, `of` binary, similarity double")

    def joined(self) -> Any:
        task = _tasks.joiner(self.clustering, self.limits, self.totals["rounds"])
        return self._rows(self.totals["rounds"]).groupBy("component").applyInArrow(task, _tasks.PAIRS)


def rounds_of(work: Work, job: Job, clustering: str, limits: dict[str, Any], members: int) -> Rounds:
    """Rounds on the driver, or on the cluster if the shelves have too many memberships for the driver."""
    limits = dict(limits)
    most = limits.pop("driver", None)
    most = DRIVER_MEMBERS if most is None else most
    kind = DriverRounds if members <= most else ClusterRounds
    return kind(work, job, clustering, limits)


def needed(table: Any, pairs: Any) -> Any:
    """The rows of a table that documents of few pairs have. Every task gets the documents, so that the table is not shuffled whole."""
    from pyspark.sql import functions as F

    ends = pairs.select(F.col("a").alias("rank")).unionByName(pairs.select(F.col("c").alias("rank"))).distinct()
    return table.join(F.broadcast(ends), "rank", "left_semi")


def compare(
    work: Work, job: Job, pairs: Any, name: str, all: bool, texts: str = "texts", number: int | None = None
) -> dict[str, Any]:
    """Compares `number` pairs exactly and writes those that are similar, or all of them.

    Pairs go to buckets by their later document, so that one document with very many others does not make one large task.
    Each text is sent once per bucket that needs it.
    """
    from pyspark.sql import functions as F

    number = pairs.count() if number is None else number
    if number == 0:
        # No row goes to the engine, which may not know the schema of nothing.
        work.spark.createDataFrame([], _tasks.SIMILAR).write.mode("overwrite").parquet(work.at(name))
        return {"screened": 0, "similar": 0}
    known = work.table(texts, TEXTS)
    if number <= SMALL_PAIRS:
        known = needed(known, pairs)
    size = 0
    if number > SMALL_PAIRS // 100:
        size = known.agg(F.sum("size").alias("bytes")).collect()[0]["bytes"] or 0
    buckets = min(max(size // BUCKET_BYTES, number // BUCKET_PAIRS, 1), MOST_BUCKETS)
    placed = pairs.withColumn("bucket", F.pmod(F.hash("c"), F.lit(int(buckets))).cast("bigint"))
    firsts = placed.select("bucket", F.col("a").alias("rank"))
    wanted = firsts.unionByName(placed.select("bucket", F.col("c").alias("rank"))).distinct()
    with_texts = wanted.join(known.select("rank", "text"), "rank")
    rows = with_texts.select("bucket", F.col("rank").alias("a"), F.lit(None).cast("binary").alias("c"), "text")
    rows = rows.unionByName(placed.select("bucket", "a", "c", F.lit(None).cast("string").alias("text")))
    similar = work.save(rows.groupBy("bucket").applyInArrow(_tasks.verifier(job, all), _tasks.SIMILAR), name)
    return {"screened": number, "similar": similar.count()}
