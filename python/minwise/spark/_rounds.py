"""Runs rounds until every document is decided. A round chooses pairs, screens them by their sketches and compares them
exactly. A document asks in a round if it is compared with other documents of its shelves; a shelf has the documents
with one band key.

The choice of pairs depends on shelves and on similar pairs, and on no text or sketch. The driver chooses pairs itself
(`DriverRounds`) if it has enough memory: 160 to 830 bytes per document and shelf. Otherwise, tasks choose the pairs
(`ClusterRounds`). A task for shelves has whole shelves; it chooses pairs and counts what each document waits for. A
task for decisions has whole components of undecided documents that similar pairs connect. Dissimilar documents of one
shelf may be in different components, because the documents that a document waits for are counted before. If a count is
out of date, it only delays a decision (`shelf.rs` in `crates/core`).
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Any

from .._minwise import SPARK_SHELF
from . import _tasks, _verify
from ._shelves import SMALL_HASHES, SMALL_ROWS, copies_of, members_of, shelves_and_copies
from ._tasks import Job
from ._verify import SMALL_PAIRS, compare, needed
from ._work import ANSWER_BYTES, Work, fetched, fetched_whole

log = logging.getLogger("minwise.spark")

#: Maximum number of memberships of shelves and copies that the driver takes. This number takes 3.2 GB of its memory if
#: shelves are small, and up to 17 GB if shelves have hundreds of dissimilar documents.
DRIVER_MEMBERS = 20_000_000
#: Bytes of a membership, a copy or a similar pair that Spark sends to the driver, without rank keys.
ROW_BYTES = 24
#: Maximum bytes of the texts of the listed pairs of a round that one job screens and compares. Such a round also has at
#: most `SMALL_PAIRS` pairs.
SMALL_BYTES = 1 << 30
#: Limits up to which the driver compares all pairs itself, in some ten seconds of one core. The Spark jobs of a round
#: take as long even for few pairs. `HERE_BYTES` limits the bytes of the texts of documents on shelves.
HERE_BYTES = 256 << 20
#: Maximum bytes of the sketches of documents on shelves, if the driver compares pairs itself.
HERE_SKETCHES = 256 << 20
#: Maximum number of memberships of shelves, if the driver compares pairs itself.
HERE_MEMBERS = 2_000_000
#: Maximum number of documents of the largest shelf, if the driver compares pairs itself.
HERE_LARGEST = 1_000
#: Maximum number of pairs of a round, if the driver compares pairs itself.
HERE_PAIRS = 500_000
#: Maximum bytes of the files with the texts of documents on shelves, if the driver reads some of the texts for the last
#: rounds. Larger tables are filtered by tasks.
HERE_FILES = 1 << 30
#: Bytes that a task needs for a membership with the state of its document, or for a similar pair, without rank keys.
STATE_BYTES = 180
#: Bytes of one part of the shelves or of the components.
PART_BYTES = 128 << 20
#: Maximum number of parts.
MOST_PARTS = 20_000
#: Number of documents of the largest shelf from which texts get parity bits, which screen the pairs of blocks. Smaller
#: jobs save the time, because making parity bits takes as long as making a sketch.
CROWD = 256
#: Values of the column `state`.
UNDECIDED, KEPT, REMOVED = range(3)
#: Value of the column `decided` if no round has decided the document.
NEVER = 65_535
NAMED = "rank binary, `of` binary, similarity double, is_equal boolean"


@dataclass
class Asks:
    """The pairs of a round.

    `pairs` (`a`, `c`) and the rows of `blocks` are DataFrames or None; `listed` is the number of listed pairs.
    """

    pairs: Any
    blocks: Any
    listed: int
    #: Arrow tables of the listed pairs with their buckets, and of the documents of each bucket. If they are set,
    #: `pairs` is None.
    placed: tuple[Any, Any] | None = None
    #: Counts of the round, if the driver has compared its pairs.
    counts: dict[str, int] | None = None


class Rounds:
    """The rounds of one job. Subclasses choose the pairs of each round."""

    def __init__(self, work: Work, job: Job, counts: dict[str, Any]) -> None:
        self.work = work
        self.job = job
        self.key_bytes = counts["member_bytes"] // max(counts["members"], 1) + 1
        self.has_crowds = counts["largest"] >= CROWD
        self.totals = {"rounds": 0, "asked": 0, "screened": 0, "similar": 0}

    #: Average number of bytes of a rank key.
    key_bytes: int = 0
    #: Whether a shelf is so large that its pairs may become a block.
    has_crowds: bool = False

    def can_compare(self, texts: int, limit: int | None) -> bool:
        """Reports whether the driver can compare all pairs itself.

        `texts` is the number of bytes of all texts of the input. `limit` replaces `HERE_BYTES` in tests.
        """
        return False

    def run_here(self, texts: Any) -> bool:
        """Runs all rounds on the driver, with the texts of documents on shelves (`rank`, `text`, `size`, `sketch`).

        Returns False if a round has too many pairs for the driver. Then the rounds must begin anew with another object.
        """
        raise NotImplementedError

    def ranks(self) -> tuple[Any, int]:
        """Returns the rank keys of documents on shelves, as an Arrow table or a DataFrame, and their number."""
        raise NotImplementedError

    def take_sizes(self, sizes: Any) -> None:
        """Stores the sizes of texts (`rank`, `size`), if the subclass needs them on the driver."""

    def begin(self) -> None:
        """Prepares the rounds. The step that writes the texts must be done."""
        from pyspark.sql import functions as F

        texts = self.work.table("texts", _tasks.TEXTS).where("rank is not null")
        self.totals["bytes"] = texts.agg(F.sum("size").alias("bytes")).collect()[0]["bytes"] or 0

    def asks(self, number: int) -> Asks | None:
        """Returns the pairs of a round, or None if no pairs are left to compare."""
        raise NotImplementedError

    def answer(self, number: int, similar: Any, pairs: int) -> None:
        """Receives the number of similar pairs of a round, and the pairs themselves if the driver has them.

        The folder has the pairs in any case.
        """

    def undecided(self) -> int:
        return 0

    def decided(self) -> Any:
        """Returns all removed rows as an Arrow table, for stars, if the driver has all copies; otherwise None."""
        return None

    def named(self, copies: Any) -> Any:
        """Returns the removed documents and their copies with their keepers, for stars.

        Returns None if no document is removed.
        """
        raise NotImplementedError

    def joined(self) -> Any:
        """Returns documents (`c`) with the first document of their component (`a`), for components."""
        raise NotImplementedError

    def run(self) -> dict[str, int]:
        """Runs rounds until no pairs are left to compare. Returns the counts of all rounds."""
        self.begin()
        while True:
            number = self.totals["rounds"] + 1
            began = time.monotonic()
            step = f"round-{number:03}"
            asks = self.asks(number)
            if asks is None:
                return self.totals
            undecided = self.undecided()
            if asks.counts is not None:
                self._add(number, asks.counts, undecided, began)
                continue
            counts = self.work.step(step, lambda: self._round(step, number, asks))
            self.answer(number, self._last, counts["similar"])
            self._last = None
            self._add(number, counts, undecided, began)

    def _add(self, number: int, counts: dict[str, Any], undecided: int, began: float) -> None:
        """Adds the counts of a round to the totals."""
        self.totals["rounds"] = number
        for name in ("asked", "screened", "similar"):
            self.totals[name] += counts[name]
        log.info(
            "round %d: %d pairs asked, %d left by sketches, %d similar; %d documents undecided before; %.1f s",
            number, counts["asked"], counts["screened"], counts["similar"], undecided, time.monotonic() - began,
        )  # fmt: skip

    #: Similar pairs of the latest round, if the driver has them.
    _last: Any = None

    def _small_round(self, step: str, asks: Asks) -> dict[str, Any]:
        """Screens and compares few pairs in one Spark job."""
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
        work.save(similar, f"{step}-similar")
        self._last = work.fetch(f"{step}-similar", _tasks.SIMILAR, ("a", "c", "similarity", "compared"))
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
            # A row belongs to many tasks and is repeated for each of them.
            tasks = F.explode(F.sequence(F.col("task"), F.col("end"), F.col("step")))
            # Rows with parity bits are sent without sketches, which are four times as large.
            own = sketches.withColumn("sketch", F.when(F.col("parity").isNull(), F.col("sketch")))
            rows = asks.blocks.join(own, "rank").withColumn("task", tasks).drop("step", "end")
            keys = ["part", "task"] if "part" in rows.columns else ["task"]
            found.append(rows.groupBy(*keys).applyInArrow(_tasks.block_screener(self.job), _tasks.ASKED))
        both = found[0] if len(found) == 1 else found[0].unionByName(found[1])
        table = work.save(both.select("a", "c", "bytes", "asked"), f"{step}-screened")
        asked = table.agg(F.sum("asked").alias("asked")).collect()[0]["asked"] if asks.blocks is not None else 0
        pairs = table.where(F.col("a").isNotNull()).select("a", "c", "bytes")
        # Only rounds with blocks look for repeated pairs: listed pairs have no repeats within a round.
        is_table = asks.blocks is not None
        pairs = pairs.distinct() if is_table else pairs
        for before in range(1, number if is_table else 1):
            if not (work.counts(f"round-{before:03}") or {}).get("is_table"):
                continue
            # Pairs of earlier rounds are removed, because a pair may be in the block of one shelf and in a later block
            # of another shelf.
            earlier = work.table(f"round-{before:03}-screened", _tasks.ASKED).where(F.col("a").isNotNull())
            pairs = pairs.join(earlier.select("a", "c"), ["a", "c"], "left_anti")
        pairs = work.save(pairs, f"{step}-pairs")
        counts = compare(work, self.job, pairs, f"{step}-similar", all=False, screens=is_table)
        return {"asked": asks.listed + int(asked or 0), **counts, "is_table": is_table}


class DriverRounds(Rounds):
    """Rounds whose pairs the driver chooses."""

    def __init__(self, work: Work, job: Job, clustering: str, limits: dict[str, int | None], counts: dict[str, Any]) -> None:
        from .._minwise import SparkRounds

        super().__init__(work, job, counts)
        #: All copies as an Arrow table, if they are few; otherwise None.
        self.copies: Any = None
        limits = dict(limits)
        rest = limits.pop("rest", None)
        # Bytes of the texts that the driver may still fetch for the pairs that are left.
        self._room = HERE_BYTES if rest is None else rest
        shelves: Any
        self._members_bytes = counts["members"] * ROW_BYTES + counts["member_bytes"]
        self._copies_bytes = counts["copies"] * ROW_BYTES + counts["copy_bytes"]
        is_few = counts["copies"] <= SMALL_ROWS and self._copies_bytes <= ANSWER_BYTES
        if not counts["is_table"] or is_few and self._members_bytes + self._copies_bytes <= ANSWER_BYTES:
            # The driver has the shelves and the copies already, or one job fetches all of them.
            shelves, self.copies = shelves_and_copies(work)
            parts, shelves = [self.copies], [shelves]
        else:
            self.copies = copies_of(work).toArrow() if is_few else None
            parts = fetched(copies_of(work), self._copies_bytes, "rank") if self.copies is None else [self.copies]
            shelves = fetched(members_of(work), self._members_bytes, "rank")
        self.driver = SparkRounds(clustering, shelves, parts, bucket=(_verify.BUCKET_BYTES, _verify.BUCKET_PAIRS), **limits)
        self.clustering = clustering
        self._is_few = counts["members"] <= HERE_MEMBERS and counts["largest"] <= HERE_LARGEST
        # Similar pairs of the last round. None if the driver has compared the pairs of the last round.
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

        # Rows without a rank key have the sums of batches.
        sizes = sizes.select(["rank", "size"]).filter(pc.is_valid(sizes["rank"]))
        self.driver.take_sizes(sizes)
        self._has_sizes = True
        self.totals["bytes"] = pc.sum(sizes["size"]).as_py() or 0

    def begin(self) -> None:
        if self._has_sizes:
            return
        if self.driver.documents() <= SMALL_HASHES:
            # A resumed job has skipped the step that reads texts and calls `take_sizes`, so the sizes are fetched.
            sizes = self.work.table("texts", _tasks.TEXTS).where("rank is not null").select("rank", "size")
            self.take_sizes(fetched_whole(sizes, self.driver.documents() * (self.key_bytes + ROW_BYTES), "rank"))
        else:
            super().begin()

    def asks(self, number: int) -> Asks | None:
        import pyarrow as pa
        import pyarrow.compute as pc

        number_listed, number_blocks = self.driver.begin_round(self._similar)
        if not number_listed and not number_blocks:
            return None
        work, name = self.work, f"round-{number:03}"
        # A round of an earlier job is not run again, so its tables are not needed.
        if work.counts(name) is not None:
            return Asks(None, None, 0)
        if number > 1 and self._has_sizes and not number_blocks and number_listed <= HERE_PAIRS and self._fetch_rest():
            self._similar = None
            return Asks(None, None, number_listed, counts=self._compare(number_listed))
        listed, wanted, blocks = self.driver.tables()
        placed, documents = pa.table(pa.record_batch(listed)), pa.table(pa.record_batch(wanted))
        if self._has_sizes and not len(blocks) and len(listed) <= SMALL_PAIRS and placed.nbytes <= ANSWER_BYTES:
            if (pc.sum(documents["size"]).as_py() or 0) <= SMALL_BYTES:
                return Asks(None, None, len(listed), (placed, documents.select(["bucket", "rank"])))
        pairs = work.frame(placed.select(["a", "c"]), f"{name}-asks") if len(listed) else None
        tasks = work.frame(pa.table(pa.record_batch(blocks)), f"{name}-blocks") if len(blocks) else None
        return Asks(pairs, tasks, len(listed))

    def _fetch_rest(self) -> bool:
        """Fetches the texts that the listed pairs of a round need and the driver lacks.

        The last rounds have few pairs, and the Spark jobs of a round take seconds even for one pair. Returns False if the
        texts are too large.
        """
        import pyarrow as pa
        import pyarrow.compute as pc
        from pyspark.sql import functions as F

        ranks, size = self.driver.lacking()
        if size + len(ranks) * int(_tasks._task(self.job).sketch_bytes()) > self._room:
            return False
        self._room -= size
        if not len(ranks):
            return True
        wanted, names = pa.record_batch(ranks), ["rank", "text", "sketch"]
        files = self.work.opened("texts", _tasks.TEXTS, ["rank"], HERE_FILES)
        if files:
            batches = (batch.select(names) for file in files for batch in file.iter_batches(10_000, columns=names, use_threads=False))
            # Engines write rank keys with other types of bytes.
            chosen = [batch.filter(pc.is_in(batch.column(0).cast(pa.binary()), wanted.column(0))) for batch in batches]
            found = pa.Table.from_batches(chosen, pa.schema([files[0].schema_arrow.field(name) for name in names]))
        else:
            table = self.work.table("texts", _tasks.TEXTS).select(*names)
            found = table.join(F.broadcast(self.work.frame(pa.table(wanted), "rest")), "rank", "left_semi").toArrow()
        self.driver.take_texts(_tasks._task(self.job), found)
        return True

    def _compare(self, listed: int) -> dict[str, int]:
        """Compares the listed pairs of a round on the driver. Returns the counts of the round."""
        compared, similar = self.driver.compare(_tasks._task(self.job))
        return {"asked": listed, "screened": compared, "similar": similar}

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

        # A resumed job that has written the texts to the folder uses them.
        if self.copies is None or self.clustering != "star" or not self._is_few or self.work.counts("texts") is not None:
            return False
        documents = self.driver.documents()
        sketches = documents * int(_tasks._task(self.job).sketch_bytes())
        rows = self.work.memory.get("rows")
        if rows is not None:
            # The driver knows the sizes of all texts, so only the texts of documents on shelves are counted.
            ranks = pa.record_batch(self.driver.ranks()).column(0)
            texts = pc.sum(rows.filter(pc.is_in(rows["rank"], ranks))["size"]).as_py() or 0
        fetched = texts + documents * (self.key_bytes + ROW_BYTES)
        return documents <= SMALL_HASHES and sketches <= HERE_SKETCHES and fetched <= (HERE_BYTES if limit is None else limit)

    def run_here(self, texts: Any) -> bool:
        self.take_sizes(texts)
        self.driver.take_texts(_tasks._task(self.job), texts)
        self._similar = None
        while True:
            number, began, undecided = self.totals["rounds"] + 1, time.monotonic(), self.undecided()
            listed, blocks = self.driver.begin_round()
            if not listed and not blocks:
                return True
            if blocks or listed > HERE_PAIRS:
                return False
            self._add(number, self._compare(listed), undecided, began)

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


def _none(*names: str, similarity: bool = False) -> Any:
    import pyarrow as pa

    columns = {name: pa.array([], pa.binary()) for name in names}
    return pa.table(columns | {"similarity": pa.array([], pa.float64())} if similarity else columns)


class ClusterRounds(Rounds):
    """Rounds whose pairs tasks choose. Each task of a round takes some shelves, or some connected components of similar
    documents, and chooses pairs of their documents.

    The states of documents are a table in the folder.
    """

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
        """Writes the states before the first round: references are kept, and all other documents are undecided."""
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
        """Returns the column `part`, computed from `keys`.

        All parts together have `rows` memberships or similar pairs.
        """
        from pyspark.sql import functions as F

        parts = min(max(rows * (STATE_BYTES + 2 * self.key_bytes) // PART_BYTES, 4), MOST_PARTS)
        return F.pmod(F.hash(*keys), F.lit(parts)).cast("bigint").alias("part")

    def _links(self) -> int:
        """Returns an upper bound on the number of rows of all components. A component has one row per undecided
        document and one row per similar pair."""
        return self.documents + self.totals["similar"]

    def _shelves(self, states: Any, asked: list[str]) -> Any:
        """Returns memberships with the states or labels of their documents.

        If shelves can be full, the result also has the documents that asked on such shelves, from the tables `asked` of
        earlier rounds.
        """
        from pyspark.sql import functions as F

        rows = members_of(self.work).join(states, "rank").withColumn("what", F.lit(0))
        shelf = self.limits.get("shelf")
        if self.clustering == "star" and self.largest > (SPARK_SHELF if shelf is None else shelf):
            for table in asked:
                asks = self.work.table(table, _tasks.ASKS).where("c is null and task is null")
                missing = [F.lit(None).cast(rows.schema[name].dataType).alias(name) for name in states.columns if name != "rank"]
                rows = rows.unionByName(asks.select("band", "key", "rank", *missing, F.lit(1).alias("what")))
        return rows.select(self._part(self._members, "band", "key"), "*")

    def _similar(self, rounds: range) -> Any:
        """Returns the similar pairs of rounds, the earlier document first. Returns None if there were no rounds."""
        from pyspark.sql import functions as F

        all = None
        for number in rounds:
            table = self.work.table(f"round-{number:03}-similar", _tasks.SIMILAR).where("a is not null")
            table = table.select(F.least("a", "c").alias("a"), F.greatest("a", "c").alias("c"), "similarity")
            all = table if all is None else all.unionByName(table)
        return all

    def _decide(self, states: Any, waits: Any, similar: Any) -> Any:
        """Returns the documents that can be decided now.

        Each component of similar undecided documents is decided separately.
        """
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
        # A document that is similar to no undecided document is a component of its own.
        rows = rows.select(self._part(self._links(), F.coalesce("label", "rank")), "rank", "other", "similarity", "unasked")
        return rows.groupBy("part").applyInArrow(_tasks.settler(), _tasks.SETTLED)

    def _labels(self, pairs: Any) -> Any:
        """Finds the connected components of pairs.

        Returns each document with its label: the first document of its component.
        """
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
            # A document that finds a smaller label passes it on to the document that its old label names. Otherwise, a
            # smaller label would move along a chain of n documents in random order one document per round, in n rounds.
            told = least.groupBy(F.col("label").alias("rank")).agg(F.min("least").alias("told"))
            least = least.join(told, "rank", "left").select("rank", "label", F.least("least", F.coalesce("told", "least")).alias("least"))
            # Each label is replaced by the label of the document that it names, so that a chain takes about log n
            # rounds.
            further = labels.select(F.col("rank").alias("least"), F.col("label").alias("far"))
            jumped = least.join(further, "least").select("rank", F.least("least", "far").alias("new"), "label")
            moved = (F.col("new") != F.col("label")).alias("moved")
            after = work.save(jumped.select("rank", F.col("new").alias("label"), moved), f"pass-labels-{rounds % 2}")
            labels = after.select("rank", "label")
            if not after.where("moved").limit(1).collect():
                return labels

    def _star(self, number: int) -> dict[str, Any]:
        """Decides documents until nothing changes, adds documents to the front, and writes the pairs of a round of
        stars.
        """
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
                # Two names alternate, because a table cannot be overwritten while it is read.
                states = work.save(new, f"pass-states-{passes % 2}")
            joined = states.join(waits.select("rank", "behind"), "rank", "left")
            is_new = (F.col("state") == UNDECIDED) & (F.col("front") == 0) & (F.coalesce("behind", F.lit(0)) == 0)
            front = F.when(is_new, F.lit(round)).otherwise(F.col("front")).cast("bigint")
            fronted = joined.select("rank", "last", "state", front.alias("front"), "decided")
            # Two names alternate, so that the states of the previous step remain if this step is killed.
            last = f"states-{number % 2}-{round % 2}"
            states = work.save(fronted, last)
            undecided = states.where(f"state = {UNDECIDED}").count()
            counts = self._ask(number, round, states, tables)
            tables = [*tables, counts["table"]]
            if counts["rows"] or not undecided:
                return {**counts, "round": round, "states": last, "undecided": undecided, "tables": tables}

    def _join(self, number: int) -> dict[str, Any]:
        """Joins components by the similar pairs of the last round, and writes the pairs of the next round."""
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
            # The front of a shelf grows fourfold per round. When it covers the largest shelf, all pairs were compared.
            if counts["rows"] or 4 ** (round - 1) >= self.largest or self.clustering == "pairs":
                return {**counts, "round": round, "labels": last}

    def _ask(self, number: int, round: int, states: Any, tables: list[str]) -> dict[str, Any]:
        """Writes the table of the pairs that are compared in a round, on all shelves.

        Returns the number of its rows.
        """
        from pyspark.sql import functions as F

        task = _tasks.asker(self.clustering, round, self.largest, self.limits)
        rows = self._shelves(states, tables).groupBy("part").applyInArrow(task, _tasks.ASKS)
        name = f"asks-{number:03}-{round}"
        table = self.work.save(rows, name)
        asked = table.where("c is not null or task is not null")
        blocks = asked.agg(F.count("task").alias("n")).collect()[0]["n"]
        # Repeated pairs are counted once: near-duplicates share several shelves, which may be in several tasks.
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
            # The mask of a row has only the band of its own shelf. The masks of a document are added up, so that each
            # of its rows has all its bands.
            tasks = table.where("c is null and task is not null").drop("c", "key")
            masks = tasks.where("side = 0").groupBy("rank").agg(F.sum("mask").alias("mask"))
            tasks = tasks.withColumnRenamed("mask", "own").join(masks, "rank", "left")
            tasks = tasks.withColumn("mask", F.coalesce("mask", F.lit(0)).cast("bigint")).drop("own")
        return Asks(pairs, tasks, done["listed"])

    #: Counts of the last choice of pairs, which chose no pair. The counts name the tables of the final states or
    #: labels.
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
    """Makes rounds on the driver, or on the cluster if there are too many memberships and copies for the driver."""
    limits = dict(limits)
    limits.pop("here", None)
    most = limits.pop("driver", None)
    most = DRIVER_MEMBERS if most is None else most
    # Copies are counted, too, because the driver also finds their keepers.
    if counts["members"] + counts["copies"] <= most:
        return DriverRounds(work, job, clustering, limits, counts)
    limits.pop("rest", None)
    return ClusterRounds(work, job, clustering, limits, counts)
