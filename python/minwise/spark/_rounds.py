"""Rounds: pairs are asked, screened by their sketches and compared exactly, until every document is decided.

Who is asked about whom depends on shelves and similar pairs, and on no text or sketch. The driver works that out if it has room: some 170
bytes per document and shelf. Above that, one task per component does, where a component has all documents that shelves connect: every
similar pair and every dependency of the rule of full shelves lies in one component.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

from . import _tasks
from ._shelves import SMALL_HASHES, SMALL_ROWS, copies_of, members_of
from ._tasks import Job
from ._work import Work, fetched

log = logging.getLogger("minwise.spark")

#: Memberships of shelves that the driver takes: some 8.5 GB.
DRIVER_MEMBERS = 50_000_000
#: Bytes of a membership or of a copy that an engine sends to the driver.
ROW_BYTES = 40
#: Texts of the pairs of one bucket, in bytes, and pairs of one bucket.
BUCKET_BYTES = 64 << 20
BUCKET_PAIRS = 50_000
MOST_BUCKETS = 100_000
#: Listed pairs of a round, and the texts of all their documents in bytes, that are screened and compared by one job.
SMALL_PAIRS = 2_000_000
SMALL_BYTES = 1 << 30
LABELS = "rank binary, component binary"


@dataclass
class Asks:
    """The pairs of a round. `pairs` (`a`, `c`) and rows of `blocks` are DataFrames; the others are tables of the driver, if it has them."""

    pairs: Any
    blocks: Any
    listed: int
    #: Pairs with their buckets, and the documents of each bucket.
    placed: tuple[Any, Any] | None = None


class Rounds:
    """The rounds of one job. Subclasses know who is asked about whom."""

    def __init__(self, work: Work, job: Job) -> None:
        self.work = work
        self.job = job
        self.totals = {"rounds": 0, "asked": 0, "screened": 0, "similar": 0}

    def ranks(self) -> tuple[Any, int]:
        """Rank keys of documents on shelves, as a table of the driver or as a DataFrame, and their number."""
        raise NotImplementedError

    def begin(self) -> None:
        """Gets ready for the rounds, after the texts are there."""
        from pyspark.sql import functions as F

        texts = self.work.table("texts", _tasks.TEXTS).where("rank is not null")
        self.totals["bytes"] = texts.agg(F.sum("size").alias("bytes")).collect()[0]["bytes"] or 0

    def asks(self, number: int) -> Asks | None:
        """Pairs of a round; None if there is nothing to ask."""
        raise NotImplementedError

    def answer(self, number: int, similar: Any) -> None:
        """Takes note that the similar pairs of a round are in the folder."""

    def undecided(self) -> int:
        return 0

    def decided(self) -> Any:
        """All removed rows as a table of the driver, if it has all copies; stars only."""
        return None

    def named(self, copies: Any) -> Any:
        """Removed documents and their copies with their keepers; stars only. None if no document is removed."""
        raise NotImplementedError

    def joined(self) -> Any:
        """Documents (`c`) with the first of their component (`a`); components only."""
        raise NotImplementedError

    def run(self) -> dict[str, int]:
        """Goes on until there is nothing to ask, and returns the counts of all rounds."""
        self.begin()
        while True:
            number = self.totals["rounds"] + 1
            began = time.monotonic()
            step = f"round-{number:03}"
            asks = self.asks(number)
            if asks is None:
                return self.totals
            undecided = self.undecided()
            counts = self.work.step(step, lambda: self._round(step, number, asks))
            self.answer(number, self._last)
            self._last = None
            self.totals["rounds"] = number
            for name in ("asked", "screened", "similar"):
                self.totals[name] += counts[name]
            log.info(
                "round %d: %d pairs asked, %d left by sketches, %d similar; %d documents undecided before; %.1f s",
                number, counts["asked"], counts["screened"], counts["similar"], undecided, time.monotonic() - began,
            )  # fmt: skip

    #: The similar pairs of the round that was just made, if the driver has them.
    _last: Any = None

    def _small_round(self, step: str, asks: Asks) -> dict[str, Any]:
        """Few pairs are screened and compared by one job."""
        from pyspark.sql import functions as F

        work = self.work
        assert asks.placed is not None
        placed, wanted = asks.placed
        pairs = work.frame(placed, f"{step}-asks")
        documents = F.broadcast(work.frame(wanted, f"{step}-wanted"))
        texts = work.table("texts", _tasks.TEXTS).select("rank", "text", "sketch").join(documents, "rank")
        rows = texts.select("bucket", F.col("rank").alias("a"), F.lit(None).cast("binary").alias("c"), "text", "sketch")
        none = F.lit(None)
        rows = rows.unionByName(pairs.select("bucket", "a", "c", none.cast("string").alias("text"), none.cast("binary").alias("sketch")))
        task = _tasks.verifier(self.job, False, True)
        self._last = work.save(rows.groupBy("bucket").applyInArrow(task, _tasks.SIMILAR), f"{step}-similar").toArrow()
        compared = sum(number for number in self._last["compared"].to_pylist() if number is not None)
        similar = len(self._last) - self._last["a"].null_count
        return {"asked": asks.listed, "screened": compared, "similar": similar, "is_table": False}

    def _round(self, step: str, number: int, asks: Asks) -> dict[str, Any]:
        from pyspark.sql import functions as F

        if asks.placed is not None:
            return self._small_round(step, asks)
        work = self.work
        sketches = work.table("texts", _tasks.TEXTS).where("rank is not null").select("rank", "sketch", "size")
        found = []
        if asks.pairs is not None:
            own = needed(sketches, asks.pairs) if asks.listed <= SMALL_PAIRS else sketches
            first = own.select(F.col("rank").alias("a"), F.col("sketch").alias("sa"), F.col("size").alias("na"))
            second = own.select(F.col("rank").alias("c"), F.col("sketch").alias("sc"), F.col("size").alias("nc"))
            rows = asks.pairs.join(first, "a").join(second, "c").select("a", "c", "sa", "sc", "na", "nc")
            screened = rows.mapInArrow(_tasks.screener(self.job), _tasks.SCREENED)
            found.append(screened.withColumn("asked", F.lit(None).cast("bigint")))
        if asks.blocks is not None:
            # A row is in many tasks.
            tasks = F.explode(F.sequence(F.col("task"), F.col("end"), F.col("step")))
            rows = asks.blocks.join(sketches, "rank").withColumn("task", tasks).drop("step", "end")
            keys = ["component", "task"] if "component" in rows.columns else ["task"]
            found.append(rows.groupBy(*keys).applyInArrow(_tasks.block_screener(self.job), _tasks.ASKED))
        both = found[0] if len(found) == 1 else found[0].unionByName(found[1])
        table = work.save(both.select("a", "c", "bytes", "asked"), f"{step}-screened")
        counted = table.agg(F.sum("asked").alias("asked"), F.sum("bytes").alias("bytes")).collect()[0]
        pairs = table.where(F.col("a").isNotNull()).select("a", "c")
        # Listed pairs are listed once per round, and small rounds do not look for those of earlier rounds either.
        is_table = asks.blocks is not None
        pairs = pairs.distinct() if is_table else pairs
        for before in range(1, number if is_table else 1):
            if not (work.counts(f"round-{before:03}") or {}).get("is_table"):
                continue
            # A pair may be in a block of one shelf and in a later one of another.
            earlier = work.table(f"round-{before:03}-screened", _tasks.ASKED).where(F.col("a").isNotNull())
            pairs = pairs.join(earlier.select("a", "c"), ["a", "c"], "left_anti")
        pairs = work.save(pairs, f"{step}-pairs")
        counts = compare(work, self.job, pairs, f"{step}-similar", all=False, bytes=counted["bytes"] or 0)
        return {"asked": asks.listed + int(counted["asked"] or 0), **counts, "is_table": is_table}


class DriverRounds(Rounds):
    """Rounds whose asks the driver works out."""

    def __init__(self, work: Work, job: Job, clustering: str, limits: dict[str, int | None], members: int, copies: int) -> None:
        from .._minwise import SparkRounds

        super().__init__(work, job)
        #: All copies, if they are few.
        self.copies: Any = copies_of(work).toArrow() if copies <= SMALL_ROWS else None
        parts = fetched(copies_of(work), copies * ROW_BYTES, "other") if self.copies is None else [self.copies]
        self.driver = SparkRounds(clustering, fetched(members_of(work), members * ROW_BYTES, "key"), parts, **limits)
        self._similar: Any = _none("a", "c", similarity=True)
        self._has_sizes = False

    def ranks(self) -> tuple[Any, int]:
        import pyarrow as pa

        number = self.driver.documents()
        if number <= SMALL_HASHES:
            return pa.table(pa.record_batch(self.driver.ranks())), number
        return members_of(self.work).select("rank").distinct(), number

    def begin(self) -> None:
        import pyarrow.compute as pc

        if self.driver.documents() <= SMALL_HASHES:
            texts = self.work.table("texts", _tasks.TEXTS).where("rank is not null").select("rank", "size").toArrow()
            self.driver.take_sizes(texts)
            self._has_sizes = True
            self.totals["bytes"] = pc.sum(texts["size"]).as_py() or 0
        else:
            super().begin()

    def asks(self, number: int) -> Asks | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        listed, wanted, blocks = self.driver.next_round(self._similar)
        if not len(listed) and not len(blocks):
            return None
        work, name = self.work, f"round-{number:03}"
        # A round that is done needs no tables.
        if work.counts(name) is not None:
            return Asks(None, None, 0)
        placed, documents = pa.table(pa.record_batch(listed)), pa.table(pa.record_batch(wanted))
        if self._has_sizes and not len(blocks) and len(listed) <= SMALL_PAIRS:
            if (pc.sum(documents["size"]).as_py() or 0) <= SMALL_BYTES:
                return Asks(None, None, len(listed), (placed, documents.select(["bucket", "rank"])))
        pairs = work.frame(placed.select(["a", "c"]), f"{name}-asks") if len(listed) else None
        tasks = work.frame(pa.table(pa.record_batch(blocks)), f"{name}-blocks") if len(blocks) else None
        return Asks(pairs, tasks, len(listed))

    def answer(self, number: int, similar: Any) -> None:
        if similar is None:
            similar = self.work.table(f"round-{number:03}-similar", _tasks.SIMILAR).where("a is not null").toArrow()
        self._similar = similar.select(["a", "c", "similarity"])

    def undecided(self) -> int:
        return int(self.driver.undecided())

    def decided(self) -> Any:
        import pyarrow as pa

        if self.copies is None:
            return None
        return pa.table(pa.record_batch(self.driver.named(self.copies, True)))

    def named(self, copies: Any) -> Any:
        import pyarrow as pa

        removed = pa.table(pa.record_batch(self.driver.named(_none("rank", "other"), False)))
        if not len(removed):
            return None
        firsts = self.work.frame(removed.select(["rank"]).rename_columns(["other"]), "named-firsts")
        visits = copies.join(firsts, "other", "left_semi").select("rank", "other").toArrow()
        return self.work.frame(pa.table(pa.record_batch(self.driver.named(visits, False))), "named-rows")

    def joined(self) -> Any:
        import pyarrow as pa

        pairs = pa.table(pa.record_batch(self.driver.joined()))
        return self.work.frame(pairs, "joined-rows").select("a", "c") if len(pairs) else None


def _none(*names: str, similarity: bool = False) -> Any:
    import pyarrow as pa

    columns = {name: pa.array([], pa.binary()) for name in names}
    return pa.table(columns | {"similarity": pa.array([], pa.float64())} if similarity else columns)


class ClusterRounds(Rounds):
    """Rounds whose asks are worked out by one task per component. A task repeats all rounds from their similar pairs, so that it keeps
    nothing between two rounds."""

    def __init__(self, work: Work, job: Job, clustering: str, limits: dict[str, int | None]) -> None:
        super().__init__(work, job)
        self.clustering = clustering
        self.limits = limits
        self.documents = work.step("components", self._label)["documents"]

    def ranks(self) -> tuple[Any, int]:
        return self.work.table("components", LABELS).select("rank"), self.documents

    def _label(self) -> dict[str, Any]:
        """Finds components: the least rank key that shelves connect a document with."""
        from pyspark.sql import functions as F

        work = self.work
        shelves = members_of(work)
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
        counted = labels.agg(F.count(F.lit(1)).alias("documents"), F.count_distinct("component").alias("components")).collect()[0]
        return {"label_rounds": rounds, "components": counted["components"], "documents": counted["documents"]}

    def _rows(self, rounds: int) -> Any:
        """All that tasks know: memberships (0), copies (1), and the similar pairs of each round (2)."""
        from pyspark.sql import functions as F

        work, labels = self.work, self.work.table("components", LABELS)
        kinds = {"band": "bigint", "key": "bigint", "rank": "binary", "other": "binary", "similarity": "double"}

        def rows(table: Any, what: int, number: int = 0) -> Any:
            there = [F.col(name) if name in table.columns else F.lit(None).cast(kind).alias(name) for name, kind in kinds.items()]
            told = [F.lit(what).alias("what"), F.lit(number).alias("number")]
            return table.join(labels, "rank").select("component", *told, *there)

        all = rows(members_of(work), 0)
        # A copy belongs to the component of the first document.
        copies = copies_of(work).select(F.col("other").alias("rank"), F.col("rank").alias("other"))
        swapped = rows(copies, 1).withColumnsRenamed({"rank": "first", "other": "rank"}).withColumnRenamed("first", "other")
        all = all.unionByName(swapped)
        for number in range(1, rounds + 1):
            similar = work.table(f"round-{number:03}-similar", _tasks.SIMILAR).where("a is not null")
            renamed = similar.select(F.col("a").alias("rank"), F.col("c").alias("other"), "similarity")
            all = all.unionByName(rows(renamed, 2, number))
        return all

    def asks(self, number: int) -> Asks | None:
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
            tasks = table.where(F.col("c").isNull()).drop("c")
        return Asks(pairs, tasks, done["listed"])

    def named(self, copies: Any) -> Any:
        task = _tasks.namer(self.clustering, self.limits, self.totals["rounds"])
        named = self._rows(self.totals["rounds"]).groupBy("component")
        return named.applyInArrow(task, "rank binary, `of` binary, similarity double, is_equal boolean")

    def joined(self) -> Any:
        task = _tasks.joiner(self.clustering, self.limits, self.totals["rounds"])
        return self._rows(self.totals["rounds"]).groupBy("component").applyInArrow(task, _tasks.PAIRS)


def rounds_of(work: Work, job: Job, clustering: str, limits: dict[str, Any], counts: dict[str, Any]) -> Rounds:
    """Rounds on the driver, or on the cluster if the shelves have too many memberships for the driver."""
    limits = dict(limits)
    most = limits.pop("driver", None)
    most = DRIVER_MEMBERS if most is None else most
    if counts["members"] <= most:
        return DriverRounds(work, job, clustering, limits, counts["members"], counts["copies"])
    return ClusterRounds(work, job, clustering, limits)


def needed(table: Any, pairs: Any) -> Any:
    """The rows of a table that documents of few pairs have. Every task gets the documents, so that the table is not shuffled whole."""
    from pyspark.sql import functions as F

    ends = pairs.select(F.col("a").alias("rank")).unionByName(pairs.select(F.col("c").alias("rank"))).distinct()
    return table.join(F.broadcast(ends), "rank", "left_semi")


def compare(
    work: Work, job: Job, pairs: Any, name: str, all: bool, texts: str = "texts", bytes: int | None = None
) -> dict[str, Any]:
    """Compares pairs exactly and writes those that are similar, or all of them. `bytes` are those of both texts of all pairs.

    Pairs go to buckets by their later document, so that one document with very many others does not make one large task.
    Each text is sent once per bucket that needs it.
    """
    from pyspark.sql import functions as F

    number = pairs.count()
    if number == 0:
        # No row goes to the engine, which may not know the schema of nothing.
        work.spark.createDataFrame([], _tasks.SIMILAR).write.mode("overwrite").parquet(work.at(name))
        return {"screened": 0, "similar": 0}
    known = work.table(texts, _tasks.TEXTS).where("rank is not null")
    if number <= SMALL_PAIRS:
        known = needed(known, pairs)
    if bytes is None:
        sizes = known.select("rank", "size")
        ends = pairs.select(F.col("a").alias("rank")).unionByName(pairs.select(F.col("c").alias("rank")))
        bytes = ends.join(sizes, "rank").agg(F.sum("size").alias("bytes")).collect()[0]["bytes"] or 0
    buckets = min(max(bytes // BUCKET_BYTES, number // BUCKET_PAIRS, 1), MOST_BUCKETS)
    placed = pairs.withColumn("bucket", F.pmod(F.hash("c"), F.lit(int(buckets))).cast("bigint"))
    firsts = placed.select("bucket", F.col("a").alias("rank"))
    wanted = firsts.unionByName(placed.select("bucket", F.col("c").alias("rank"))).distinct()
    with_texts = wanted.join(known.select("rank", "text"), "rank")
    none = F.lit(None)
    rows = with_texts.select("bucket", F.col("rank").alias("a"), none.cast("binary").alias("c"), "text", none.cast("binary").alias("sketch"))
    rows = rows.unionByName(placed.select("bucket", "a", "c", none.cast("string").alias("text"), none.cast("binary").alias("sketch")))
    similar = work.save(rows.groupBy("bucket").applyInArrow(_tasks.verifier(job, all, False), _tasks.SIMILAR), name)
    return {"screened": number, "similar": similar.where("a is not null").count()}
