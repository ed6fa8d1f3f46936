"""Rounds: pairs are asked, screened by their sketches and compared exactly, until every document is decided.

Who is asked about whom depends on shelves and similar pairs, and on no text or sketch. The driver works that out if it has room: 160 to 830
bytes per document and shelf. Above that, tasks do. A task has whole shelves, which name pairs and count what each document waits for, or
whole components of undecided documents that similar pairs connect, which it decides. Shelves connect nothing: what a document waits for
is counted before, and a count that is out of date only delays a decision (`shelf.rs` of core).
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

from . import _tasks, _verify
from ._shelves import SMALL_HASHES, SMALL_ROWS, copies_of, members_of, shelves_and_copies
from ._tasks import Job
from ._verify import SMALL_PAIRS, compare, needed
from ._work import ANSWER_BYTES, Work, fetched, fetched_whole

log = logging.getLogger("minwise.spark")

#: Memberships of shelves and copies that the driver takes: 3.2 GB if shelves are small, and up to 17 GB if they have hundreds of dissimilar documents.
DRIVER_MEMBERS = 20_000_000
#: Bytes of a membership, of a copy and of a similar pair that an engine sends to the driver, beside rank keys.
ROW_BYTES = 24
#: Bytes of the texts of all documents of the listed pairs of a round that are screened and compared by one job, unless there are more pairs than
#: `SMALL_PAIRS`.
SMALL_BYTES = 1 << 30
#: Bytes of the texts of documents on shelves, bytes of their sketches, memberships of shelves, documents of the largest shelf, and pairs of a
#: round up to which the driver compares pairs itself: some ten seconds of one core. The jobs of a round take as long, whatever they compare.
HERE_BYTES = 256 << 20
HERE_SKETCHES = 256 << 20
HERE_MEMBERS = 2_000_000
HERE_LARGEST = 1_000
HERE_PAIRS = 500_000
#: Bytes that a task takes for a membership with the state of its document, or for a similar pair, beside rank keys, and bytes of one part of the
#: shelves or of the components.
STATE_BYTES = 180
PART_BYTES = 128 << 20
MOST_PARTS = 20_000
#: Documents of the largest shelf from which on the texts have parity bits, which screen the pairs of blocks. To make them takes as long as a
#: sketch.
CROWD = 256
#: Documents that a shelf takes, as in `block.rs`.
SHELF = 131_072
#: Values of `state`, and of `decided` if no round has decided.
UNDECIDED, KEPT, REMOVED = range(3)
NEVER = 65_535
NAMED = "rank binary, `of` binary, similarity double, is_equal boolean"


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

    def __init__(self, work: Work, job: Job, counts: dict[str, Any]) -> None:
        self.work = work
        self.job = job
        self.key_bytes = counts["member_bytes"] // max(counts["members"], 1) + 1
        self.has_crowds = counts["largest"] >= CROWD
        self.totals = {"rounds": 0, "asked": 0, "screened": 0, "similar": 0}

    #: Bytes of a rank key, on average.
    key_bytes: int = 0
    #: Whether a shelf is so large that its pairs may be a block.
    has_crowds: bool = False

    def can_compare(self, texts: int, limit: int | None) -> bool:
        """Whether the driver can compare all pairs itself. All texts of the input have `texts` bytes; `limit` is a limit of tests."""
        return False

    def run_here(self, texts: Any) -> bool:
        """Makes all rounds on the driver, with the texts of documents on shelves (`rank`, `text`, `size`). Returns False if a round has too many
        pairs for that; these rounds are then of no use."""
        raise NotImplementedError

    def ranks(self) -> tuple[Any, int]:
        """Rank keys of documents on shelves, as a table of the driver or as a DataFrame, and their number."""
        raise NotImplementedError

    def take_sizes(self, sizes: Any) -> None:
        """Takes the bytes of texts (`rank`, `size`) from the step that reads them, if the driver has them."""

    def begin(self) -> None:
        """Gets ready for the rounds, after the texts are there."""
        from pyspark.sql import functions as F

        texts = self.work.table("texts", _tasks.TEXTS).where("rank is not null")
        self.totals["bytes"] = texts.agg(F.sum("size").alias("bytes")).collect()[0]["bytes"] or 0

    def asks(self, number: int) -> Asks | None:
        """Pairs of a round; None if there is nothing to ask."""
        raise NotImplementedError

    def answer(self, number: int, similar: Any, pairs: int) -> None:
        """Takes note that the similar pairs of a round are in the folder, and how many there are."""

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
            self.answer(number, self._last, counts["similar"])
            self._last = None
            self._add(number, counts, undecided, began)

    def _add(self, number: int, counts: dict[str, Any], undecided: int, began: float) -> None:
        """Adds the counts of a round to those of all rounds."""
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
        import pyarrow.compute as pc
        from pyspark.sql import functions as F

        work = self.work
        assert asks.placed is not None
        placed, wanted = asks.placed
        pairs = work.frame(placed, f"{step}-asks")
        documents = F.broadcast(work.frame(wanted, f"{step}-wanted"))
        texts = work.table("texts", _tasks.TEXTS).select("rank", "text", "sketch").join(documents, "rank")
        buckets = pc.max(placed["bucket"]).as_py() + 1
        similar = _verify.similar(work, self.job, pairs, texts, buckets, all=False, screens=True)
        self._last = work.save(similar, f"{step}-similar").toArrow()
        compared = sum(number for number in self._last["compared"].to_pylist() if number is not None)
        similar = len(self._last) - self._last["a"].null_count
        return {"asked": asks.listed, "screened": compared, "similar": similar, "is_table": False}

    def _round(self, step: str, number: int, asks: Asks) -> dict[str, Any]:
        from pyspark.sql import functions as F

        if asks.placed is not None:
            return self._small_round(step, asks)
        work = self.work
        sketches = work.table("texts", _tasks.TEXTS).where("rank is not null").select("rank", "sketch", "size", "parity")
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
            # Rows with parity bits need no sketches, which are four times as large.
            own = sketches.withColumn("sketch", F.when(F.col("parity").isNull(), F.col("sketch")))
            rows = asks.blocks.join(own, "rank").withColumn("task", tasks).drop("step", "end")
            keys = ["part", "task"] if "part" in rows.columns else ["task"]
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
        counts = compare(work, self.job, pairs, f"{step}-similar", all=False, screens=is_table, bytes=counted["bytes"] or 0)
        return {"asked": asks.listed + int(counted["asked"] or 0), **counts, "is_table": is_table}


class DriverRounds(Rounds):
    """Rounds whose asks the driver works out."""

    def __init__(self, work: Work, job: Job, clustering: str, limits: dict[str, int | None], counts: dict[str, Any]) -> None:
        from .._minwise import SparkRounds

        super().__init__(work, job, counts)
        #: All copies, if they are few.
        self.copies: Any = None
        shelves: Any
        self._members_bytes = counts["members"] * ROW_BYTES + counts["member_bytes"]
        self._copies_bytes = counts["copies"] * ROW_BYTES + counts["copy_bytes"]
        is_few = counts["copies"] <= SMALL_ROWS and self._copies_bytes <= ANSWER_BYTES
        if not counts["is_table"] or is_few and self._members_bytes + self._copies_bytes <= ANSWER_BYTES:
            # The driver has both, or one job fetches them.
            shelves, self.copies = shelves_and_copies(work)
            parts, shelves = [self.copies], [shelves]
        else:
            self.copies = copies_of(work).toArrow() if is_few else None
            parts = fetched(copies_of(work), self._copies_bytes, "rank") if self.copies is None else [self.copies]
            shelves = fetched(members_of(work), self._members_bytes, "rank")
        self.driver = SparkRounds(clustering, shelves, parts, bucket=(_verify.BUCKET_BYTES, _verify.BUCKET_PAIRS), **limits)
        self.clustering = clustering
        self._is_few = counts["members"] <= HERE_MEMBERS and counts["largest"] <= HERE_LARGEST
        self._similar: Any = _none("a", "c", similarity=True)
        self._has_sizes = False

    def ranks(self) -> tuple[Any, int]:
        import pyarrow as pa

        number = self.driver.documents()
        if number <= SMALL_HASHES:
            return pa.table(pa.record_batch(self.driver.ranks())), number
        return members_of(self.work).select("rank").distinct(), number

    def take_sizes(self, sizes: Any) -> None:
        import pyarrow.compute as pc

        self.driver.take_sizes(sizes)
        self._has_sizes = True
        self.totals["bytes"] = pc.sum(sizes["size"]).as_py() or 0

    def begin(self) -> None:
        if self._has_sizes:
            return
        if self.driver.documents() <= SMALL_HASHES:
            # The job goes on after the step that reads texts.
            sizes = self.work.table("texts", _tasks.TEXTS).where("rank is not null").select("rank", "size")
            self.take_sizes(fetched_whole(sizes, self.driver.documents() * (self.key_bytes + ROW_BYTES), "rank"))
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
        if self._has_sizes and not len(blocks) and len(listed) <= SMALL_PAIRS and placed.nbytes <= ANSWER_BYTES:
            if (pc.sum(documents["size"]).as_py() or 0) <= SMALL_BYTES:
                return Asks(None, None, len(listed), (placed, documents.select(["bucket", "rank"])))
        pairs = work.frame(placed.select(["a", "c"]), f"{name}-asks") if len(listed) else None
        tasks = work.frame(pa.table(pa.record_batch(blocks)), f"{name}-blocks") if len(blocks) else None
        return Asks(pairs, tasks, len(listed))

    def answer(self, number: int, similar: Any, pairs: int) -> None:
        if similar is None:
            table = self.work.table(f"round-{number:03}-similar", _tasks.SIMILAR).where("a is not null")
            similar = fetched_whole(table.select("a", "c", "similarity"), pairs * (2 * self.key_bytes + ROW_BYTES), "a", "c")
        self._similar = similar.select(["a", "c", "similarity"])

    def undecided(self) -> int:
        return int(self.driver.undecided())

    def can_compare(self, texts: int, limit: int | None) -> bool:
        import pyarrow as pa
        import pyarrow.compute as pc

        # A job that has written texts goes on with them.
        if self.copies is None or self.clustering != "star" or not self._is_few or self.work.counts("texts") is not None:
            return False
        documents = self.driver.documents()
        sketches = documents * int(_tasks._task(self.job).sketch_bytes())
        rows = self.work.memory.get("rows")
        if rows is not None:
            # The driver knows the sizes of all texts, and fetches those of documents on shelves.
            ranks = pa.record_batch(self.driver.ranks()).column(0)
            texts = pc.sum(rows.filter(pc.is_in(rows["rank"], ranks))["size"]).as_py() or 0
        fetched = texts + documents * (self.key_bytes + ROW_BYTES)
        return documents <= SMALL_HASHES and sketches <= HERE_SKETCHES and fetched <= (HERE_BYTES if limit is None else limit)

    def run_here(self, texts: Any) -> bool:
        import pyarrow as pa

        self.take_sizes(texts.select(["rank", "size"]))
        task = _tasks._task(self.job)
        # Sketches are made here, because they would take as long to send as to make.
        texts = pa.Table.from_batches([pa.record_batch(task.fill(batch, False)) for batch in texts.to_batches(10_000)], texts.schema)
        texts = texts.select(["rank", "text", "sketch"]).combine_chunks()
        at = {rank: row for row, rank in enumerate(texts["rank"].to_pylist())}
        while True:
            number, began, undecided = self.totals["rounds"] + 1, time.monotonic(), self.undecided()
            listed, wanted, blocks = self.driver.next_round(self._similar)
            if not len(listed) and not len(blocks):
                return True
            if len(blocks) or len(listed) > HERE_PAIRS:
                return False
            pairs, documents = (_by_bucket(pa.table(pa.record_batch(one))) for one in (listed, wanted))
            found, compared = [], 0
            for own, needed in zip(pairs, documents):
                rows = pa.array([at[rank] for rank in needed["rank"].to_pylist()], pa.int64())
                made, screened = task.similarities(texts.take(rows), own, False, True)
                found.append(pa.record_batch(made))
                compared += screened
            self._similar = pa.Table.from_batches(found)
            counts = {"asked": len(listed), "screened": compared, "similar": len(self._similar)}
            self._add(number, counts, undecided, began)

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
        visits = fetched_whole(copies.join(firsts, "other", "left_semi").select("rank", "other"), self._copies_bytes, "rank")
        return self.work.frame(pa.table(pa.record_batch(self.driver.named(visits, False))), "named-rows")

    def joined(self) -> Any:
        import pyarrow as pa

        pairs = pa.table(pa.record_batch(self.driver.joined()))
        return self.work.frame(pairs, "joined-rows").select("a", "c") if len(pairs) else None


def _by_bucket(table: Any) -> list[Any]:
    """The rows of each bucket, in the order of buckets. Rows of one bucket follow one another."""
    import pyarrow.compute as pc

    out, begin = [], 0
    for row in pc.value_counts(table["bucket"]):
        number = row["counts"].as_py()
        out.append(table.slice(begin, number))
        begin += number
    return out


def _none(*names: str, similarity: bool = False) -> Any:
    import pyarrow as pa

    columns = {name: pa.array([], pa.binary()) for name in names}
    return pa.table(columns | {"similarity": pa.array([], pa.float64())} if similarity else columns)


class ClusterRounds(Rounds):
    """Rounds whose asks are worked out by tasks. A task has some shelves, or some components of documents that similar pairs connect,
    and states of documents are a table in the folder."""

    def __init__(self, work: Work, job: Job, clustering: str, limits: dict[str, int | None], counts: dict[str, Any]) -> None:
        super().__init__(work, job, counts)
        self.clustering = clustering
        self.limits = limits
        self.largest: int = counts["largest"]
        self._members: int = counts["members"]
        self._copies: int = counts["copies"]
        self.documents: int = work.step("documents", self._begin)["documents"]
        self._undecided = 0

    def ranks(self) -> tuple[Any, int]:
        return self.work.table("documents", _tasks.STATES).select("rank"), self.documents

    def undecided(self) -> int:
        return self._undecided

    def _begin(self) -> dict[str, Any]:
        """Writes the states before the first round: references are kept, and all others are undecided."""
        from pyspark.sql import functions as F

        firsts = members_of(self.work).select("rank").distinct()
        last = copies_of(self.work).groupBy(F.col("other").alias("rank")).agg(F.max("rank").alias("last"))
        given = F.hex("rank").startswith("00")
        state = F.when(given, KEPT).otherwise(UNDECIDED).cast("bigint")
        decided = F.when(given, 0).otherwise(NEVER).cast("bigint")
        columns = [state.alias("state"), F.lit(0).cast("bigint").alias("front"), decided.alias("decided")]
        table = self.work.save(firsts.join(last, "rank", "left").select("rank", "last", *columns), "documents")
        return {"documents": table.count()}

    def _part(self, rows: int, *keys: Any) -> Any:
        """The part of a row. All parts have `rows` memberships or similar pairs together."""
        from pyspark.sql import functions as F

        parts = min(max(rows * (STATE_BYTES + 2 * self.key_bytes) // PART_BYTES, 4), MOST_PARTS)
        return F.pmod(F.hash(*keys), F.lit(parts)).cast("bigint").alias("part")

    def _links(self) -> int:
        """Undecided documents and similar pairs, at most: the rows of all components."""
        return self.documents + self.totals["similar"]

    def _shelves(self, states: Any, asked: list[str]) -> Any:
        """Memberships with the states or labels of their documents, and documents that asked on shelves that can be full, from the tables of
        earlier rounds."""
        from pyspark.sql import functions as F

        rows = members_of(self.work).join(states, "rank").withColumn("what", F.lit(0))
        shelf = self.limits.get("shelf")
        if self.clustering == "star" and self.largest > (SHELF if shelf is None else shelf):
            for table in asked:
                asks = self.work.table(table, _tasks.ASKS).where("c is null and task is null")
                missing = [F.lit(None).cast(rows.schema[name].dataType).alias(name) for name in states.columns if name != "rank"]
                rows = rows.unionByName(asks.select("band", "key", "rank", *missing, F.lit(1).alias("what")))
        return rows.select(self._part(self._members, "band", "key"), "*")

    def _similar(self, rounds: range) -> Any:
        """Similar pairs of some rounds, the earlier document first; None if there were no rounds."""
        from pyspark.sql import functions as F

        all = None
        for number in rounds:
            table = self.work.table(f"round-{number:03}-similar", _tasks.SIMILAR).where("a is not null")
            table = table.select(F.least("a", "c").alias("a"), F.greatest("a", "c").alias("c"), "similarity")
            all = table if all is None else all.unionByName(table)
        return all

    def _decide(self, states: Any, waits: Any, similar: Any) -> Any:
        """Documents that can be decided, one component of similar undecided documents apart from another."""
        from pyspark.sql import functions as F

        work = self.work
        undecided = states.where(f"state = {UNDECIDED}").select("rank")
        rows = undecided.join(waits.select("rank", "unasked"), "rank", "left")
        nothing = [F.lit(None).cast("binary").alias("other"), F.lit(None).cast("double").alias("similarity")]
        rows = rows.select("rank", *nothing, F.coalesce("unasked", F.lit(0)).cast("bigint").alias("unasked"))
        if similar is None:
            return rows.select(self._part(self._links(), "rank"), "*").groupBy("part").applyInArrow(_tasks.settler(), _tasks.SETTLED)
        before = states.where(f"state <> {REMOVED}").select(F.col("rank").alias("a"), "state")
        edges = similar.join(undecided.withColumnRenamed("rank", "c"), "c").join(before, "a")
        edges = work.save(edges.select("a", "c", "similarity", "state"), "pass-edges")
        labels = self._labels(edges.where(f"state = {UNDECIDED}").select("a", "c"))
        none = F.lit(None).cast("bigint")
        pairs = edges.select(F.col("c").alias("rank"), F.col("a").alias("other"), "similarity", none.alias("unasked"))
        rows = rows.unionByName(pairs).join(labels, "rank", "left")
        # A document without similar undecided ones is a component of its own.
        rows = rows.select(self._part(self._links(), F.coalesce("label", "rank")), "rank", "other", "similarity", "unasked")
        return rows.groupBy("part").applyInArrow(_tasks.settler(), _tasks.SETTLED)

    def _labels(self, pairs: Any) -> Any:
        """Components of pairs: the first document that each one is connected with."""
        from pyspark.sql import functions as F

        work = self.work
        both = pairs.unionByName(pairs.select(F.col("c").alias("a"), F.col("a").alias("c")))
        labels = work.save(both.groupBy(F.col("a").alias("rank")).agg(F.min(F.least("a", "c")).alias("label")), "pass-labels-0")
        if not labels.limit(1).collect():
            return labels
        rounds = 0
        while True:
            rounds += 1
            near = both.join(labels.withColumnRenamed("rank", "c"), "c").groupBy(F.col("a").alias("rank")).agg(F.min("label").alias("near"))
            least = labels.join(near, "rank").select("rank", "label", F.least("label", "near").alias("least"))
            # A document that finds a smaller label tells it to the document that its old label names. Without that, a smaller label
            # would walk along a chain of n documents in random order step by step, in n rounds.
            told = least.groupBy(F.col("label").alias("rank")).agg(F.min("least").alias("told"))
            least = least.join(told, "rank", "left").select("rank", "label", F.least("least", F.coalesce("told", "least")).alias("least"))
            # The label of the label is nearer still, so that a chain takes about log n rounds.
            further = labels.select(F.col("rank").alias("least"), F.col("label").alias("far"))
            jumped = least.join(further, "least").select("rank", F.least("least", "far").alias("new"), "label")
            moved = (F.col("new") != F.col("label")).alias("moved")
            after = work.save(jumped.select("rank", F.col("new").alias("label"), moved), f"pass-labels-{rounds % 2}")
            labels = after.select("rank", "label")
            if not after.where("moved").limit(1).collect():
                return labels

    def _star(self, number: int) -> dict[str, Any]:
        """Decides until nothing changes, moves the front, and writes the pairs of a round."""
        from pyspark.sql import functions as F

        work = self.work
        before = work.counts(f"asks-{number - 1:03}") or {"round": 0, "states": "documents", "tables": []}
        states, round, tables = work.table(before["states"], _tasks.STATES), before["round"], before["tables"]
        similar = self._similar(range(1, number))
        shelf = self.limits.get("shelf")
        while True:
            round += 1
            passes = 0
            while True:
                passes += 1
                shelves = self._shelves(states, tables).groupBy("part").applyInArrow(_tasks.waiter(round, shelf), _tasks.WAITS)
                waits = shelves.groupBy("rank").agg(F.sum("unasked").alias("unasked"), F.max("behind").alias("behind"))
                waits = work.save(waits, "pass-waits")
                settled = work.save(self._decide(states, waits, similar), "pass-settled")
                if not settled.limit(1).collect():
                    break
                new = states.join(settled.withColumnRenamed("state", "new"), "rank", "left")
                decided = F.when(F.col("new").isNull(), F.col("decided")).otherwise(F.lit(round)).cast("bigint")
                new = new.select("rank", "last", F.coalesce("new", "state").alias("state"), "front", decided.alias("decided"))
                # No table is read and written at the same time.
                states = work.save(new, f"pass-states-{passes % 2}")
            joined = states.join(waits.select("rank", "behind"), "rank", "left")
            is_new = (F.col("state") == UNDECIDED) & (F.col("front") == 0) & (F.coalesce("behind", F.lit(0)) == 0)
            front = F.when(is_new, F.lit(round)).otherwise(F.col("front")).cast("bigint")
            fronted = joined.select("rank", "last", "state", front.alias("front"), "decided")
            # A step that was not done begins with the states of the one before.
            last = f"states-{number % 2}-{round % 2}"
            states = work.save(fronted, last)
            undecided = states.where(f"state = {UNDECIDED}").count()
            counts = self._ask(number, round, states, tables)
            tables = [*tables, counts["table"]]
            if counts["rows"] or not undecided:
                return {**counts, "round": round, "states": last, "undecided": undecided, "tables": tables}

    def _join(self, number: int) -> dict[str, Any]:
        """Joins components by the similar pairs of the last round, and writes the pairs of the next one."""
        from pyspark.sql import functions as F

        work = self.work
        before = work.counts(f"asks-{number - 1:03}")
        if before is not None and self.clustering == "pairs":
            return {"rows": 0, "listed": 0}
        if before is None:
            labels = work.table("documents", _tasks.STATES).select("rank", F.col("rank").alias("label"))
            last, round = "labels-000", 0
        else:
            labels, round = work.table(before["labels"], _tasks.LABELS), before["round"]
            last = f"labels-{number - 1:03}"
            similar = self._similar(range(number - 1, number))
            first = labels.select(F.col("rank").alias("a"), F.col("label").alias("x"))
            second = labels.select(F.col("rank").alias("c"), F.col("label").alias("y"))
            pairs = similar.join(first, "a").join(second, "c").where("x <> y").select(F.col("x").alias("a"), F.col("y").alias("c")).distinct()
            pairs = work.save(pairs, "pass-edges")
            joined = self._labels(pairs).select(F.col("rank").alias("label"), F.col("label").alias("new"))
            labels = labels.join(joined, "label", "left").select("rank", F.coalesce("new", "label").alias("label"))
        labels = work.save(labels, last)
        while True:
            round += 1
            counts = self._ask(number, round, labels, [])
            # After the last round, no shelf has members that were not compared.
            if counts["rows"] or 4 ** (round - 1) >= self.largest or self.clustering == "pairs":
                return {**counts, "round": round, "labels": last}

    def _ask(self, number: int, round: int, states: Any, tables: list[str]) -> dict[str, Any]:
        """Writes the table of the pairs that all shelves ask about."""
        from pyspark.sql import functions as F

        task = _tasks.asker(self.clustering, round, self.largest, self.limits)
        rows = self._shelves(states, tables).groupBy("part").applyInArrow(task, _tasks.ASKS)
        name = f"asks-{number:03}-{round}"
        table = self.work.save(rows, name)
        asked = table.where("c is not null or task is not null")
        blocks = asked.agg(F.count("task").alias("n")).collect()[0]["n"]
        # Near-duplicates share several shelves, which may be in several tasks.
        listed = asked.where("c is not null").select("rank", "c").distinct().count()
        return {"rows": blocks + listed, "listed": listed, "table": name}

    def asks(self, number: int) -> Asks | None:
        from pyspark.sql import functions as F

        name = f"asks-{number:03}"
        done = self.work.step(name, lambda: self._star(number) if self.clustering == "star" else self._join(number))
        self._undecided = done.get("undecided", 0)
        if not done["rows"]:
            self._last_asks = done
            return None
        table = self.work.table(done["table"], _tasks.ASKS)
        pairs = table.where("c is not null").select(F.col("rank").alias("a"), "c").distinct() if done["listed"] else None
        tasks = None
        if done["rows"] > done["listed"]:
            # Tasks of all parts have numbers from 0, and rows have the masks of their own shelves.
            tasks = table.where("c is null and task is not null").drop("c", "key")
            masks = tasks.where("side = 0").groupBy("rank").agg(F.sum("mask").alias("mask"))
            tasks = tasks.withColumnRenamed("mask", "own").join(masks, "rank", "left")
            tasks = tasks.withColumn("mask", F.coalesce("mask", F.lit(0)).cast("bigint")).drop("own")
        return Asks(pairs, tasks, done["listed"])

    #: The counts of the asks after the last round, which has none.
    _last_asks: dict[str, Any]

    def named(self, copies: Any) -> Any:
        from pyspark.sql import functions as F

        similar = self._similar(range(1, self.totals["rounds"] + 1))
        if similar is None:
            return None
        states = self.work.table(self._last_asks["states"], _tasks.STATES)
        removed = states.where(f"state = {REMOVED}").select("rank")
        kept = states.where(f"state = {KEPT}").select(F.col("rank").alias("other"))
        both = similar.select(F.col("c").alias("rank"), F.col("a").alias("other"), "similarity")
        both = both.unionByName(similar.select(F.col("a").alias("rank"), F.col("c").alias("other"), "similarity"))
        links = both.join(removed, "rank").join(kept, "other")
        parts = self._links() + self._copies
        links = links.select(self._part(parts, "rank"), "rank", "other", "similarity")
        visits = copies.join(removed.withColumnRenamed("rank", "other"), "other").select("rank", "other")
        visits = visits.unionByName(removed.select("rank", F.col("rank").alias("other")))
        none = F.lit(None).cast("double").alias("similarity")
        rows = links.unionByName(visits.select(self._part(parts, "other"), "rank", "other", none))
        return rows.groupBy("part").applyInArrow(_tasks.namer(), NAMED)

    def joined(self) -> Any:
        from pyspark.sql import functions as F

        labels = self.work.table(self._last_asks["labels"], _tasks.LABELS)
        return labels.where("rank <> label").select(F.col("label").alias("a"), F.col("rank").alias("c"))


def rounds_of(work: Work, job: Job, clustering: str, limits: dict[str, Any], counts: dict[str, Any]) -> Rounds:
    """Rounds on the driver, or on the cluster if the shelves have too many memberships for the driver."""
    limits = dict(limits)
    limits.pop("here", None)
    most = limits.pop("driver", None)
    most = DRIVER_MEMBERS if most is None else most
    # The driver names the keepers of copies, too.
    if counts["members"] + counts["copies"] <= most:
        return DriverRounds(work, job, clustering, limits, counts)
    return ClusterRounds(work, job, clustering, limits, counts)
