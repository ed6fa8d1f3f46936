"""The result of a job, as DataFrames made from the input and the tables in the folder of the job."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any

from .._errors import SettingError
from . import _tasks
from ._decide import DECISIONS, with_ids
from ._rows import Columns, column, expressions, for_references, quoted
from ._shelves import NULL, REASONS, SMALL_ROWS
from ._summary import Summary, summary_of
from ._tasks import Job
from ._work import Work, batches_by_bytes

#: Prefix of the names of columns that are added to rows and removed again. Meanwhile, the columns of the input are
#: renamed: Spark reads a dot in a name as a field, and a name of the input may equal an added name.
PREFIX = "_minwise_"
RANK = "_minwise_rank"
CONTENT = "_minwise_content"
KEYS = [RANK, CONTENT]


def refuse_annotated(df: Any) -> None:
    """Raises an error if the input has a column with the name of one that `annotated` adds."""
    for name in df.columns:
        # Spark does not distinguish capital letters in names of columns.
        if name.lower() in ("duplicate_of", "similarity"):
            raise SettingError(
                f"`annotated`: the input has a column `{name}`, which is the name of an added column",
                hint="rename it, such as with `df.withColumnRenamed(…)`, or join `decisions` to the rows",
            )


class Result:
    """The result of :func:`minwise.spark.dedup`. Nothing is computed until a DataFrame is used."""

    def __init__(self, work: Work, df: Any, against: Any, columns: Columns, job: Job, null: str, counts: dict[str, Any]) -> None:
        self._work = work
        self._df = df
        self._against = against
        self._columns = columns
        self._job = job
        self._null = null
        #: The settings and the counts of the job.
        self.summary: Summary = summary_of(counts)

    @cached_property
    def _decided(self) -> Any:
        return self._work.table("decisions", DECISIONS)

    @property
    def decisions(self) -> Any:
        """Table of the decisions, with one row per removed document: `id`, `duplicate_of` and `similarity`."""
        return self._decided.select("id", "duplicate_of", "similarity")

    @property
    def clusters(self) -> Any:
        """Table of the clusters, with one row per kept document that removed documents repeat.

        The columns are the `id` of the kept document, the number of `documents` of the cluster, and the
        `least_similarity` and `greatest_similarity` of a removed document to the kept one.
        """
        from pyspark.sql import functions as F

        groups = self._decided.groupBy(F.col("duplicate_of").alias("id"), "of")
        counted = groups.agg(
            (F.count(F.lit(1)) + 1).alias("documents"),
            F.min("similarity").alias("least_similarity"),
            F.max("similarity").alias("greatest_similarity"),
        )
        return counted.select("id", "documents", "least_similarity", "greatest_similarity")

    def _rejected(self) -> Any:
        from pyspark.sql import functions as F

        rows = self._work.table("sketches", _tasks.SKETCHES).where("not given")
        kinds = [kind for kind in REASONS if kind != NULL or self._null == "reject"]
        return rows.where(F.col("kind").isin(kinds))

    @property
    def rejects(self) -> Any:
        """Table of the rejected rows, with one row per rejected row: `id`, the code of the `reason`, and a
        `message`.
        """
        from pyspark.sql import functions as F

        reason, message = F.lit(""), F.lit("")
        for kind, (code, words) in REASONS.items():
            reason = F.when(F.col("kind") == kind, F.lit(code)).otherwise(reason)
            message = F.when(F.col("kind") == kind, F.lit(words)).otherwise(message)
        rejected = self._rejected().select("rank", reason.alias("reason"), message.alias("message"))
        return rejected.join(with_ids(self._work), "rank").select("id", "reason", "message")

    @cached_property
    def _tagged(self) -> Any:
        """The rows of the input with their rank keys and fingerprints.

        The columns of the input are renamed to `c0`, `c1` and so on.
        """
        from pyspark.sql import functions as F
        from pyspark.sql.types import BinaryType, LongType, StructField, StructType

        df = self._df
        helpers = expressions(df, self._columns, PREFIX)
        names = [f"c{at}" for at in range(len(df.columns))]
        fields = [StructField(name, field.dataType, field.nullable) for name, field in zip(names, df.schema.fields)]
        schema = StructType([*fields, StructField(RANK, BinaryType()), StructField(CONTENT, LongType())])
        own = [F.col(quoted(column)).alias(name) for column, name in zip(df.columns, names)]
        return df.select(*own, *helpers).mapInArrow(_tasks.tagger(self._job, names, PREFIX, KEYS), schema)

    def _keys(self, rows: Any, *more: str) -> Any:
        """Returns the rank keys and fingerprints of rows.

        Rows are joined by both, so that a row whose text has changed does not match.
        """
        from pyspark.sql import functions as F

        return rows.select(F.col("rank").alias(RANK), F.col("content").alias(CONTENT), *more)

    def _shown(self, rows: Any, *more: str) -> Any:
        """Returns rows of the input with the original names of their columns."""
        from pyspark.sql import functions as F

        names = [F.col(f"c{at}").alias(name) for at, name in enumerate(self._df.columns)]
        return rows.select(*names, *more)

    def _of(self, rows: Any, how: str) -> Any:
        from pyspark.sql import functions as F

        if self.summary.removed + self.summary.rejected <= SMALL_ROWS:
            rows = F.broadcast(rows)
        return self._shown(self._tagged.join(rows, KEYS, how))

    @property
    def kept(self) -> Any:
        """The kept rows of the input, with all their columns."""
        gone = self._keys(self._decided)
        if self.summary.rejected:
            gone = gone.unionByName(self._keys(self._rejected()))
        return self._of(gone, "left_anti")

    @property
    def removed(self) -> Any:
        """The removed rows of the input, with all their columns."""
        return self._of(self._keys(self._decided), "left_semi")

    @property
    def annotated(self) -> Any:
        """All rows that are not rejected, with the columns `duplicate_of` and `similarity`.

        Both are null in kept rows.
        """
        refuse_annotated(self._df)
        rows = self._tagged
        if self.summary.rejected:
            rows = rows.join(self._keys(self._rejected()), KEYS, "left_anti")
        found = self._keys(self._decided, "duplicate_of", "similarity")
        return self._shown(rows.join(found, KEYS, "left"), "duplicate_of", "similarity")

    def write(self, name: str, path: str, table: str) -> None:
        """Writes a table of the result, unless an earlier run of this job has written it already."""
        self._work.write(name, path, table, lambda: getattr(self, table))

    def report(self, folder: str | os.PathLike[str], *, clusters: int = 50, documents: int = 1_000) -> None:
        """Writes the report of a sample to a folder on the driver, as an HTML page and tables.

        The sample has up to `clusters` of the largest clusters, each with all its documents, and up to `documents`
        documents in all. If the largest cluster alone has more documents, the sample has its first documents. The
        sample is deduplicated again on the driver, with the settings of the job.
        """
        from .._runs import dedup_given

        plan = json.loads(self._job.plan)
        with batches_by_bytes(self._work.spark):
            names = self._sample(clusters, documents)
            texts = self._texts(list(names))
        records = [{"id": names[rank], "text": texts[rank]} for rank in sorted(names) if rank in texts]
        # References come first in the records, because their rank keys begin with 0.
        given = sum(rank[:1] == b"\0" for rank in names if rank in texts)
        # The sample leaves out the shingles that the job left out. `max_df` on the sample alone would leave out other
        # shingles.
        settings: dict[str, Any] = {"weights": self._job.weights, "ignore_shingles": self._job.ignored, "keep": "first", "audit": "auto"}
        settings |= {name: plan[name] for name in ("threshold", "spec", "cluster", "bands", "rows")}
        settings |= {"against": records[:given]} if given else {}
        dedup_given(records[given:], "text", "id", settings).report(folder)

    def _sample(self, clusters: int, documents: int) -> dict[bytes, str]:
        """Returns the rank keys and ids of the documents of the largest clusters."""
        from pyspark.sql import functions as F

        sizes = self._decided.groupBy("of").agg(F.count(F.lit(1)).alias("n"))
        chosen: list[tuple[Any]] = []
        room = documents
        for row in sizes.orderBy(F.desc("n"), F.hex("of")).limit(clusters).collect():
            if chosen and row["n"] >= room:
                break
            chosen.append((row["of"],))
            room -= row["n"] + 1
        if not chosen:
            return {}
        wanted = self._work.spark.createDataFrame(chosen, "`of` binary")
        removed = self._decided.join(F.broadcast(wanted), "of", "left_semi").orderBy(F.hex("of"), F.hex("rank")).limit(documents)
        names: dict[bytes, str] = {}
        for row in removed.select("rank", "id", "of", "duplicate_of").collect():
            names[bytes(row["rank"])] = row["id"]
            names[bytes(row["of"])] = row["duplicate_of"]
        return names

    def _texts(self, ranks: list[bytes]) -> dict[bytes, str]:
        """Returns the texts of the rows with the given rank keys, by rank key.

        The rows are looked up in the input and in the references.
        """
        from pyspark.sql import functions as F

        if not ranks:
            return {}
        wanted = F.broadcast(self._work.spark.createDataFrame([(bytearray(rank),) for rank in ranks], f"{RANK} binary"))
        texts: dict[bytes, str] = {}
        for df, given in ((self._df, False), (self._against, True)):
            if df is None:
                continue
            columns = for_references(self._columns) if given else self._columns
            rows = df.select(column(df, columns.text).cast("string").alias("c0"), *expressions(df, columns, PREFIX))
            tagger = _tasks.tagger(self._job, ["c0"], PREFIX, KEYS, given)
            tagged = rows.mapInArrow(tagger, f"c0 string, {RANK} binary, {CONTENT} bigint")
            found = tagged.join(wanted, RANK, "left_semi").select(RANK, F.col("c0").alias("text")).collect()
            texts |= {bytes(row[RANK]): row["text"] for row in found}
        return texts

    def __repr__(self) -> str:
        of = self.summary
        return f"Result(read={of.read}, kept={of.kept}, removed={of.removed}, rejected={of.rejected})"
