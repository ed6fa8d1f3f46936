"""Makes the tables that rounds need: sketches, equal documents, shelves and texts. A shelf has the documents with one
band key."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from .._errors import InputError, MinwiseError, SettingError
from .._minwise import SparkTask, spark_rules
from . import _tasks
from ._rows import Columns, for_references, selected
from ._tasks import Job
from ._work import ANSWER_BYTES, MOST_OPENED, Work, described, fetched_whole, first_line

if TYPE_CHECKING:
    from ._rounds import Rounds

log = logging.getLogger("minwise.spark")

#: Values of the column `what` in the table of groups.
COUNT, COPY, MEMBER = range(3)
#: Keys of counts in the table of groups, as in `group.rs`. Keys below 100 count rows by kind of text, first of inputs,
#: then of references.
KINDS = 7
SUM, RANKS, IDS, DISTINCT, COPIES, MEMBERS, SHELVES, LARGEST, MEMBER_BYTES, COPY_BYTES, ID_BYTES = range(100, 111)

#: Bytes of packed entries that one task groups.
PART_BYTES = 64 << 20
#: Bytes of a packed entry, without its rank key.
ENTRY_BYTES = 30
#: Maximum number of parts.
MOST_PARTS = 20_000

#: Maximum number of rows of a table that Spark sends to every task in a join, instead of shuffling both tables.
SMALL_ROWS = 2_000_000
#: Maximum number of hashes of rows, 8 bytes each, that every task gets with its code.
SMALL_HASHES = 1_000_000

#: Maximum number of band keys of all rows for which the driver finds equal documents and shelves itself. This number of
#: keys takes some 500 MB.
HERE_KEYS = 5_000_000

#: Maximum number of rows of a batch whose sketches the driver makes.
DRIVER_ROWS = 10_000

#: Columns of the table of sketches, without whole sketches.
SKETCHED = ["rank", "id", "given", "kind", "equality", "content", "size", "keys"]

#: Values of the column `kind` in the table of sketches.
WITH_SHINGLES, WITHOUT_SHINGLES, NULL, TOO_SHORT, TOO_LONG, INVALID, UNREADABLE = range(7)
#: Code and message of a rejected row, by its kind. The codes are the same as in `rejects.jsonl` and in the log.
REASONS = {
    NULL: ("null", "the text is null"),
    TOO_SHORT: ("too_short", "the text is shorter than a shingle"),
    TOO_LONG: ("too_large", "the text is longer than `max_record`"),
    INVALID: ("invalid_utf8", "the text is not UTF-8"),
    # Only files have such records. Their reader has further reasons, which `FilesResult.rejects` lists.
    UNREADABLE: ("invalid_record", "the record cannot be read"),
}


def check_executors(spark: Any, job: Job, version: str, fingerprint: int) -> dict[str, Any]:
    """Raises an error if executors have another version of minwise than the driver, or none."""
    try:
        with described(spark, "minwise: check of an executor"):
            rows = spark.range(0, 1, 1, 1).mapInArrow(_tasks.checker(job), _tasks.EXECUTOR).collect()
    except Exception as error:
        raise MinwiseError(
            f"executors cannot run minwise: {first_line(error)}",
            hint="install minwise, pyarrow and the Python of the driver on every executor (`PYSPARK_PYTHON`)",
        ) from error
    for row in rows:
        if row["version"] != version or row["fingerprint"] != str(fingerprint):
            found = f"minwise {row['version']}" if row["version"] else row["fingerprint"]
            what = "another spec" if row["version"] == version else found
            raise MinwiseError(
                f"executors have {what}, and the driver has minwise {version}",
                hint="install the same version of minwise on the driver and on every executor",
            )
    found = {name: rows[0][name] for name in ("version", "kernel", "python", "machine")}
    log.info("executors: minwise %(version)s, kernel %(kernel)s, Python %(python)s on %(machine)s", found)
    return found


def readings(df: Any, against: Any, columns: Columns, ids: bool = False) -> list[tuple[Any, bool]]:
    """Returns the columns of the inputs, and of the references if there are any, each with whether they are references.

    Only the first reading has `ids`.
    """
    read = [(selected(df, columns), False)]
    if against is not None:
        read.append((selected(against, for_references(columns)), True))
    return read if ids else [(rows.drop("id"), given) for rows, given in read]


def united(frames: list[Any]) -> Any:
    """Returns the rows of one DataFrame or of two."""
    return frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])


def frequent_shingles(
    df: Any, against: Any, columns: Columns, job: Job, max_df: str, most: int
) -> tuple[bytes, tuple[int, int]]:
    """Finds the shingles that more documents have than `max_df` allows.

    Returns these shingles, 8 bytes per shingle, and the number of counted rows with the sum of their fingerprints. The
    cluster counts and filters the shingles, so that the driver gets only the frequent ones. More than `most` shingles
    are an error, because every task loads them.
    """
    import pyarrow.compute as pc
    from pyspark.sql import functions as F

    from .._minwise import spark_allowed

    def over(make: Any, schema: str) -> Any:
        return united([rows.mapInArrow(make(job, given), schema) for rows, given in readings(df, against, columns)])

    documents, first = 0, None
    if "." in max_df:
        sizes = over(_tasks.sizer, _tasks.SIZES).collect()
        documents = sum(row["documents"] for row in sizes)
        first = sum(row["rows"] for row in sizes), wrapped(sum(row["content"] for row in sizes))
    allowed = spark_allowed(max_df, documents)
    counted = over(_tasks.counter, _tasks.COUNTED).groupBy("shingle")
    counted = counted.agg(*(F.sum(name).alias(name) for name in ("documents", "high", "low")))
    counted = counted.where((F.col("documents") > allowed) | F.col("shingle").isNull())
    # The limit is `most` + 2: one row without a shingle, and one shingle too many.
    found = counted.limit(most + 2).toArrow()
    left_out = found.filter(pc.is_valid(found["shingle"]))["shingle"]
    if len(left_out) > most:
        refuse_left_out(counted.where(F.col("shingle").isNotNull()), most, max_df)
    sums = found.filter(pc.is_null(found["shingle"])).to_pylist()
    now = (sums[0]["documents"], wrapped((sums[0]["high"] << 32) + sums[0]["low"])) if sums else (0, 0)
    if first is not None:
        refuse_another_reading(now, first)
    # The bytes are taken from the Arrow buffers, because a list of Python integers would take ten times the memory.
    return b"".join(memoryview(chunk.buffers()[1])[8 * chunk.offset :][: 8 * len(chunk)] for chunk in left_out.chunks if len(chunk)), now


def refuse_left_out(counted: Any, most: int, max_df: str) -> None:
    """Raises an error because `max_df` leaves out more shingles than `most`.

    The hint names the smallest `max_df` that leaves out few enough shingles. To find it, the shingles are counted
    again.
    """
    from pyspark.sql import functions as F

    numbers = counted.groupBy("documents").agg(F.count(F.lit(1)).alias("shingles")).collect()
    total, enough = sum(row["shingles"] for row in numbers), 0
    kept = total
    for row in sorted(numbers, key=lambda row: int(row["documents"])):
        if kept <= most:
            break
        enough, kept = row["documents"], kept - row["shingles"]
    raise SettingError(
        f"`max_df`: {total:,} shingles stand in more documents than `{max_df}` allows; every task loads the shingles that are left out, and {most:,} at most",
        hint=f"`max_df={enough}` leaves out {kept:,}, those of more than {enough:,} documents",
        settings=["max_df"],
    )


def sketch_rows(df: Any, against: Any, columns: Columns, job: Job) -> Any:
    """Returns the table of sketches, with one row per row of the inputs and of the references."""
    read = readings(df, against, columns, ids=True)
    return united([rows.mapInArrow(_tasks.sketcher(job, given), _tasks.SKETCHES) for rows, given in read])


def sketches(work: Work, df: Any, against: Any, columns: Columns, job: Job, keep: str) -> dict[str, Any]:
    """Runs step 1: writes the table of sketches. Returns its counts."""
    table = work.save(sketch_rows(df, against, columns, job), "sketches")
    # Rankings begin at byte 1 of a rank key, because byte 0 marks references.
    names, places, begin = [], [], 1
    for name, bytes, has_field in spark_rules(keep):
        if has_field:
            names.append(name)
            places.append((begin, begin + bytes))
        begin += bytes
    sum_up, columns_of = _tasks.summer(places), ["size", "rank", "id", "kind", "given"]
    here = sketches_here(work)
    if here is None:
        # Each task returns its sums and the driver adds them up. An aggregation would need a shuffle, which is one more
        # job.
        counted = [row.asDict() for row in table.select(*columns_of).mapInArrow(sum_up, _tasks.SUMS).collect()]
    else:
        counted = [row for sums in sum_up(in_batches(here.select(columns_of))) for row in sums.to_pylist()]
    unranked = [{"keep": name, "documents": sum(row["unranked"][at] for row in counted)} for at, name in enumerate(names)]
    sums = {name: sum(row[name] for row in counted) for name in ("rows", "bytes", "key_bytes")}
    unranked = [one for one in unranked if one["documents"]]
    for one in unranked:
        log.warning("%s documents have no value that `%s` can rank; they come after all others", f"{one['documents']:,}", one["keep"])
    return {**sums, "unranked": unranked}


def sketches_here(work: Work) -> Any:
    """Returns the table of sketches, without whole sketches, if it is small and the driver can open its files. Returns
    None otherwise. `groups` drops the table from memory.
    """
    import pyarrow as pa

    if "sketches" not in work.memory:
        files = work.opened("sketches", _tasks.SKETCHES, SKETCHED, MOST_OPENED)
        if not files or sum(file.metadata.num_rows for file in files) > SMALL_HASHES:
            return None
        work.memory["sketches"] = pa.concat_tables(file.read(columns=SKETCHED, use_threads=False) for file in files)
    return work.memory["sketches"]


def copies_of(work: Work) -> Any:
    """Returns the documents that equal an earlier document: their rank keys (`rank`), and that of the first document
    (`other`).
    """
    here = groups_here(work)
    if here is not None:
        copies = split_groups(here)[1]
        # The schema is given as text, because Spark does not take it from an Arrow table without rows.
        return work.frame(copies, "copies") if len(copies) else work.spark.createDataFrame([], "rank binary, other binary")
    return work.table("groups", _tasks.GROUPS).where(f"what = {COPY}").select("rank", "other")


def members_of(work: Work) -> Any:
    """Returns the memberships of shelves with two documents or more: band, band key and rank key."""
    return work.table("groups", _tasks.GROUPS).where(f"what = {MEMBER}").select("band", "key", "rank")


def shelves_and_copies(work: Work) -> tuple[Any, Any]:
    """Returns all memberships and all copies, as Arrow tables."""
    here = groups_here(work)
    if here is not None:
        return split_groups(here)
    names = ("what", "band", "key", "rank", "other")
    # The table also has a few rows of counts, which are no memberships and no copies.
    return split_groups(work.fetch("groups", _tasks.GROUPS, names))


def split_groups(table: Any) -> tuple[Any, Any]:
    """Splits a table of groups into memberships and copies."""
    import pyarrow.compute as pc

    members, copies = (table.filter(pc.equal(table["what"], what)) for what in (MEMBER, COPY))
    return members.select(["band", "key", "rank"]), copies.select(["rank", "other"])


def groups_here(work: Work) -> Any:
    """Returns the table of groups of a small input, which only the driver has. Returns None if the folder has the
    table.

    A resumed job makes the table again.
    """
    if "groups" not in work.memory and (work.counts("groups") or {}).get("is_table") is False:
        group_here(work)
        work.memory.pop("sketches", None)
    return work.memory.get("groups")


def group_here(work: Work) -> None:
    """Finds equal documents and shelves on the driver.

    Also keeps the ids and the sizes of all rows in memory, for later steps.
    """
    import pyarrow as pa

    from .._minwise import spark_group_here

    rows = sketches_here(work)
    rows = work.table("sketches", _tasks.SKETCHES).drop("sketch").toArrow() if rows is None else rows
    work.memory["groups"] = pa.Table.from_batches([pa.record_batch(spark_group_here(rows))])
    work.memory["rows"] = rows.select(["rank", "content", "id", "size"]).combine_chunks()


def groups(
    work: Work, sketched: dict[str, Any], bands: int, null: str, order_by: tuple[str, ...], limits: dict[str, int | None]
) -> dict[str, Any]:
    """Runs step 2: finds equal documents and shelves, counts rows, and raises an error if two rows have the same rank
    key.

    For a small input, the driver does this itself, because starting Spark jobs would take longer.
    """
    import pyarrow.compute as pc

    table, rows = work.table("sketches", _tasks.SKETCHES), sketched["rows"]
    is_small = rows <= SMALL_HASHES and rows * bands <= HERE_KEYS and rows * (8 * bands + 48) + sketched["key_bytes"] <= ANSWER_BYTES
    # Tests set these limits to have tasks do the work.
    is_table = not is_small or limits.get("here") is not None or limits.get("driver") is not None
    if is_table:
        entry = ENTRY_BYTES + sketched["key_bytes"] // max(rows, 1)
        parts = min(max(rows * bands * entry // PART_BYTES, 4), MOST_PARTS)
        packed = table.drop("sketch", "size").mapInArrow(_tasks.sorter(parts), _tasks.PACKED)
        work.save(packed.groupBy("part").applyInArrow(_tasks.grouper(parts), _tasks.GROUPS), "groups")
        found = counts_of_groups(work)
    else:
        group_here(work)
        found = work.memory["groups"].filter(pc.equal(work.memory["groups"]["what"], COUNT))
    work.memory.pop("sketches", None)
    counts: dict[int, int] = {}
    for key, number in zip(found["key"].to_pylist(), found["number"].to_pylist()):
        before = counts.get(key, 0)
        counts[key] = max(before, number) if key == LARGEST else before + number

    def count(given: bool, *of: int) -> int:
        return sum(counts.get(given * KINDS + kind, 0) for kind in of or range(KINDS))

    def rejected(given: bool) -> int:
        return count(given, TOO_SHORT, TOO_LONG, INVALID, UNREADABLE, *([NULL] if null == "reject" else []))

    if null == "error" and count(False, NULL) + count(True, NULL):
        ids = table.where(f"kind = {NULL}").orderBy("rank").limit(1).collect()
        raise InputError(f"the text of `{ids[0]['id']}` is null", hint='`null="keep"` keeps such rows')
    if counts.get(RANKS, 0):
        refuse_equal_ranks(table, order_by)
    return {
        "read": count(False),
        "references": count(True) - rejected(True),
        "reference_rejected": rejected(True),
        "rejected": rejected(False),
        "nulls": 0 if null == "reject" else count(False, NULL),
        "without_shingles": count(False, WITHOUT_SHINGLES),
        "distinct": counts.get(DISTINCT, 0),
        "copies": counts.get(COPIES, 0),
        "members": counts.get(MEMBERS, 0),
        "shelves": counts.get(SHELVES, 0),
        "largest": counts.get(LARGEST, 0),
        "repeated_ids": counts.get(IDS, 0),
        "sum": wrapped(counts.get(SUM, 0)),
        "member_bytes": counts.get(MEMBER_BYTES, 0),
        "copy_bytes": counts.get(COPY_BYTES, 0),
        "id_bytes": counts.get(ID_BYTES, 0),
        "is_table": is_table,
    }


def counts_of_groups(work: Work) -> Any:
    """Returns the counts (`key`, `number`) in the table of groups."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = ["what", "key", "number"]
    files = work.opened("groups", _tasks.GROUPS, names, MOST_OPENED)
    if not files:
        return work.table("groups", _tasks.GROUPS).where(f"what = {COUNT}").select("key", "number").toArrow()
    found = pa.concat_tables(file.read(columns=names, use_threads=False) for file in files)
    return found.filter(pc.equal(found["what"], COUNT))


def wrapped(number: int) -> int:
    """Wraps a sum of signed 64-bit integers around to a signed 64-bit integer."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def refuse_equal_ranks(table: Any, order_by: tuple[str, ...]) -> None:
    """Raises an error with two examples if two rows have the same rank key.

    Rank keys that only have the same hash are no error.
    """
    from pyspark.sql import functions as F

    twice = table.groupBy("rank").agg(F.count(F.lit(1)).alias("n"), F.min("id").alias("first"), F.max("id").alias("second"))
    examples = twice.where("n > 1").orderBy("rank").limit(2).collect()
    if not examples:
        return
    named = [f"`{row['first']}` and `{row['second']}`" for row in examples if row["first"] is not None]
    shown = "; ".join(named) or f"{examples[0]['n']} rows with the rank key {bytes(examples[0]['rank']).hex()}"
    # If `order_by` is empty, the rank key has only the rankings of `keep`, and the message states this.
    what = "`order_by`" if order_by else "`order_by`: there is none, and `keep` alone does not order rows"
    raise SettingError(
        f"{what}: rows cannot be told apart, such as {shown}",
        hint="name columns that no two rows share, such as a path and a row number",
        settings=["order_by"],
    )


def again(df: Any, against: Any, columns: Columns, job: Job, needed: bytes | None, sketches: bool = True, parities: bool = False) -> Any:
    """Reads the input another time. Returns rows of the schema `TEXTS`, and a row with the sums of each batch."""
    read = [(rows, _tasks.reader(job, given, needed, sketches, parities)) for rows, given in readings(df, against, columns)]
    return united([rows.mapInArrow(reader, _tasks.TEXTS) for rows, reader in read])


def input_of(sums: Any) -> tuple[int, int]:
    """Returns the number of rows and the sum of their fingerprints, from the rows with sums that a reading makes per
    batch.
    """
    found = sums.where("rank is null").select("size", "content").collect()
    return sum(row["size"] for row in found), wrapped(sum(row["content"] for row in found))


def check_input(work: Work, df: Any, against: Any, columns: Columns, job: Job, before: tuple[int, int]) -> None:
    """Raises an error if the rows of the input differ from those that the tables in the folder were made from."""
    now = input_of(again(df, against, columns, job, b""))
    if now != before:
        shown = [f"{rows:,} rows with the fingerprint {sum & 0xFFFFFFFFFFFFFFFF:016x}" for rows, sum in (before, now)]
        work.refuse("input", *shown)


def texts(work: Work, df: Any, against: Any, columns: Columns, job: Job, rounds: Rounds, before: tuple[int, int]) -> dict[str, Any]:
    """Runs step 3: reads the input a second time and writes the texts of documents on shelves, with their sketches.

    If a row is missing, is new, or has another text than in the first reading, the input is not deterministic, and the
    job raises an error.
    """
    ranks, number = rounds.ranks()
    table = work.save(chosen_texts(df, against, columns, job, ranks, number, rounds.has_crowds), "texts")
    if number <= SMALL_HASHES:
        # The sums and the sizes are fetched together, because two Spark jobs would take longer.
        sizes = sizes_of(work, table, number * (rounds.key_bytes + 24))
        check_sums(sizes, before)
        rounds.take_sizes(sizes)
    else:
        refuse_another_reading(input_of(table), before)
    return {"texts": number}


def sizes_of(work: Work, table: Any, size: int) -> Any:
    """Returns the columns `rank`, `size` and `content` of the table of texts, which have `size` bytes."""
    names = ("rank", "size", "content")
    return work.fetch("texts", _tasks.TEXTS, names) if size <= ANSWER_BYTES else fetched_whole(table.select(*names), size, "rank")


def texts_here(df: Any, against: Any, columns: Columns, job: Job, ranks: Any, number: int, before: tuple[int, int]) -> Any:
    """Reads a small input a second time.

    Returns the texts of documents on shelves as an Arrow table, which is not written to the folder. Rows without a rank
    key have the sums of batches.
    """
    # Tasks choose the texts. Fetching all texts of the input and choosing on the driver took as much CPU time. The driver
    # makes the sketches, because sending them would take as long as making them.
    rows = again(df, against, columns, job, bytes(SparkTask.hashes(ranks)), sketches=False).toArrow()
    check_sums(rows, before)
    log.info("texts: texts %s", f"{number:,}")
    return rows


def in_batches(table: Any) -> list[Any]:
    """Cuts an Arrow table into batches of at most `DRIVER_ROWS` rows. A table without rows is one batch."""
    import pyarrow as pa

    return table.to_batches(DRIVER_ROWS) or [pa.RecordBatch.from_pylist([], table.schema)]


def check_sums(table: Any, before: tuple[int, int]) -> None:
    """Raises an error if the sums of a second reading, in the rows without a rank key, differ from the first reading."""
    import pyarrow.compute as pc

    sums = table.select(["size", "content"]).filter(pc.is_null(table["rank"]))
    refuse_another_reading((sum(sums["size"].to_pylist()), wrapped(sum(sums["content"].to_pylist()))), before)


def refuse_another_reading(now: tuple[int, int], before: tuple[int, int]) -> None:
    if now != before:
        raise InputError(
            f"the input is not deterministic: it has {now[0]:,} rows when it is read again, after {before[0]:,}"
            + ("" if now[0] != before[0] else ", and some of them differ"),
            hint="write the input to a table first, and pass that table",
        )


def chosen_texts(df: Any, against: Any, columns: Columns, job: Job, ranks: Any, number: int, parities: bool = False) -> Any:
    """Reads the texts and sketches of `number` documents (`ranks`), and the sums of the whole reading.

    With `parities`, adds parity bits.
    """
    from pyspark.sql import functions as F

    if not hasattr(ranks, "sparkSession"):
        return again(df, against, columns, job, bytes(SparkTask.hashes(ranks)), parities=parities)
    rows = again(df, against, columns, job, None, sketches=False)
    marked = ranks.withColumn("is_needed", F.lit(True))
    marked = F.broadcast(marked) if number <= SMALL_ROWS else marked
    # Rows without a rank key are kept, because they have the sums of batches.
    chosen = rows.join(marked, "rank", "left").where("rank is null or is_needed")
    found = chosen.select("rank", "text", "size", "sketch", "content").mapInArrow(_tasks.filler(job, parities), _tasks.TEXTS)
    return found
