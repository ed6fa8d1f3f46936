"""Measures the Spark job beside the command, Spark ML's `MinHashLSH`, and a job as people write it by hand.

    python bench_spark.py MINWISE [DOCUMENTS] [--check] [--threads] [--only="start,minwise.spark,short:by hand"]
    python bench_spark.py --driver [DOCUMENTS [MEMBERS]]
    python bench_spark.py --task [DOCUMENTS]
    python bench_spark.py --audit [DOCUMENTS]

Each engine runs in processes of its own on `local[2]`: first with the default settings of Java, as most people run it,
then with settings for a short job on one machine. `MinHashLSH` runs with default settings only, because long jobs need
the second compiler. CPU seconds are those of all processes. Numbers of jobs and shuffled bytes are read from the event
log. With `--threads`, the CPU seconds of each run are also printed by the names of its threads. Spark logs the bytes that it writes, after compression, so a last run measures the bytes of the job without
compression (`spark.shuffle.compress=false`).

A run of the job ends when its table of decisions is written. The table is read after the measurement, without Spark. The
other engines write no result: they return the removed documents to the driver.

The truth is `minwise dedup --candidates sort-merge`, which misses no pair. Recall is the share of the truth's removed
documents that an engine removes, too. Precision is the share of an engine's removed documents that the truth removes,
too. With `--only`, only the named engines run, with default settings or those before the colon (`RUNS`), and the truth
is the decisions of the command, which saves hours with a large corpus.

With `--check`, the program fails in three cases:

- The job decides otherwise than the command.
- If tasks do the work, the job shuffles more than 1.5 times the bytes of its formula, before compression. With a small
  input, the job shuffles nothing, so the shuffled bytes are not checked.
- The job by hand or `MinHashLSH` takes less than a bound (`BOUNDS`) times the CPU of the job.

`--check` needs the runs of all engines, so it is refused together with `--only`.

The goal is 5 times the CPU of the job. For the job by hand, a program in Spark can hardly reach it with the whole CPU: an
empty job alone takes nearly a fifth of the CPU of the job by hand. So for the job by hand, the CPU of an empty job is
subtracted from both, and the bound is 5 with both settings of Java. If tasks find shelves and compare pairs, the bound is
2: 200,000 documents are so few that these Spark jobs, which a larger input needs, take most of the CPU, and the compiler
of Java a third of it. `MinHashLSH` has the bound 5 of the whole CPU in both cases.

`--driver` prints the memory that the driver takes for shelves of DOCUMENTS documents, `--task` the memory of a task
whose only shelf has all DOCUMENTS documents, and `--audit` the CPU time of the audit of DOCUMENTS documents, as far as
it grows with their number.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")


def corpus(path: Path, documents: int) -> None:
    """Writes texts of 50 to 400 words. 30 % of them are copies of an earlier text, with up to 12 words changed."""
    source = random.Random(29)
    words = [f"w{number}" for number in range(50_000)]
    texts: list[list[str]] = []
    with path.open("w", encoding="ascii") as out:
        for number in range(documents):
            if texts and source.random() < 0.3:
                parts = list(texts[source.randrange(len(texts))])
                for _ in range(source.randrange(13)):
                    parts[source.randrange(len(parts))] = source.choice(words)
            else:
                parts = [words[int(50_000 * source.random() ** 3)] for _ in range(source.randrange(50, 400))]
            if len(texts) < 20_000:
                texts.append(parts)
            out.write(json.dumps({"id": f"d{number}", "row": number, "text": " ".join(parts)}) + "\n")


#: Settings of Java by name. `short` uses only the first compiler, because short jobs end before the second compiler
#: pays off.
JAVA = {"default": "", "short": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC", "bytes": ""}


def session(folder: Path, java: str) -> Any:
    from pyspark.sql import SparkSession

    (folder / "events").mkdir(parents=True, exist_ok=True)
    settings = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.sql.shuffle.partitions": "8",
        "spark.shuffle.compress": "false" if java == "bytes" else "true",
        "spark.driver.memory": "6g",
        "spark.driver.extraJavaOptions": JAVA[java],
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master("local[2]").appName("bench")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def components(pairs: list[tuple[int, int]]) -> set[int]:
    """Returns the documents that are not the first of their connected component."""
    parent: dict[int, int] = {}

    def find(one: int) -> int:
        while parent.setdefault(one, one) != one:
            parent[one] = parent[parent[one]]
            one = parent[one]
        return one

    for a, b in pairs:
        a, b = sorted((find(a), find(b)))
        parent[b] = a
    return {one for one in parent if find(one) != one}


def by_minwise(spark: Any, source: str, folder: Path, audit: str = "off", **limits: int) -> None:
    import minwise.spark

    df = spark.read.parquet(source)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(folder / "work"), audit=audit, **limits)
    (folder / "counts.json").write_text(json.dumps(result.summary.as_dict()))


def with_audit(spark: Any, source: str, folder: Path) -> None:
    """Runs the job with the default audit, which the other runs leave out, because the other engines have none."""
    by_minwise(spark, source, folder, audit="auto")


def by_tasks(spark: Any, source: str, folder: Path) -> None:
    """Runs the job as for an input that is too large for the driver."""
    by_minwise(spark, source, folder, _here=0)


def by_parts(spark: Any, source: str, folder: Path) -> None:
    """Runs the job as for an input whose shelves are too large for the driver."""
    by_minwise(spark, source, folder, _driver=0)


def decided(folder: Path) -> set[int]:
    """Returns the removed documents of a job of ours, from the table of decisions that it has written."""
    import pyarrow.parquet as pq

    return {int(id[1:]) for id in pq.read_table(folder / "work/decisions", columns=["id"])["id"].to_pylist()}


def by_spark_ml(spark: Any, source: str, folder: Path) -> set[int]:
    """Runs the join of Spark ML. Features are hashed shingles of five words, as in the documentation of Spark."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import functions as F

    df = spark.read.parquet(source).select("row", "text")
    df = RegexTokenizer(inputCol="text", outputCol="words", pattern="\\W+").transform(df)
    df = NGram(n=5, inputCol="words", outputCol="shingles").transform(df)
    df = HashingTF(inputCol="shingles", outputCol="features", binary=True, numFeatures=1 << 20).transform(df).select("row", "features")
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=5, seed=1).fit(df)
    joined = model.approxSimilarityJoin(df, df, 0.2, distCol="distance").where(F.col("datasetA.row") < F.col("datasetB.row"))
    pairs = joined.select(F.col("datasetA.row").alias("a"), F.col("datasetB.row").alias("b")).collect()
    return components([(row["a"], row["b"]) for row in pairs])


def by_hand(spark: Any, source: str, folder: Path) -> set[int]:
    """Runs a job as people write it: MinHash in a Python function, a self-join on band keys, and connected components,
    without verification."""
    import numpy
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, LongType

    generator = numpy.random.RandomState(1)
    prime = (1 << 61) - 1
    a, b = (generator.randint(1, prime, 96, dtype=numpy.uint64) for _ in range(2))

    def keys(text: str) -> list[int]:
        import hashlib
        import struct

        words = text.lower().split()
        shingles = {" ".join(words[at : at + 5]) for at in range(max(len(words) - 4, 1))}
        hashes = numpy.array([struct.unpack("<I", hashlib.sha1(one.encode()).digest()[:4])[0] for one in shingles], numpy.uint64)
        minima = ((hashes[:, None] * a + b) % numpy.uint64(prime) & numpy.uint64(0xFFFFFFFF)).min(axis=0)
        return [hash((band, *minima[band * 6 : band * 6 + 6].tolist())) for band in range(16)]

    keyed = spark.read.parquet(source).select("row", F.posexplode(F.udf(keys, ArrayType(LongType()))("text")).alias("band", "key"))
    keyed.write.parquet(str(folder / "keyed"))
    keyed = spark.read.parquet(str(folder / "keyed"))
    left, right = keyed.withColumnRenamed("row", "a"), keyed.withColumnRenamed("row", "b")
    pairs = left.join(right, ["band", "key"]).where("a < b").select("a", "b").distinct().collect()
    return components([(row["a"], row["b"]) for row in pairs])


def by_nothing(spark: Any, source: str, folder: Path) -> set[int]:
    """Does the work that every job has: starts a session, runs one task in Python, and writes and reads one small
    table.
    """
    rows = spark.range(10).mapInArrow(lambda batches: batches, "id long")
    rows.write.parquet(str(folder / "rows"))
    spark.read.parquet(str(folder / "rows")).collect()
    return set()


#: Functions that run the engines. They return the removed documents, or None if a table has them.
ENGINES: dict[str, Callable[[Any, str, Path], set[int] | None]] = {
    "start": by_nothing,
    "minwise.spark": by_minwise,
    "with audit": with_audit,
    "by tasks": by_tasks,
    "without driver": by_parts,
    "by hand": by_hand,
    "MinHashLSH": by_spark_ml,
}
#: Engines to run, by the name of the settings. `bytes` has the default settings of Java, and no compression.
RUNS = {
    "default": ["start", "minwise.spark", "with audit", "by tasks", "by hand", "MinHashLSH"],
    "short": ["start", "minwise.spark", "by tasks", "by hand"],
    "bytes": ["by tasks", "without driver"],
}
#: Engines of the job, whose decisions must be those of the command.
OURS = ("minwise.spark", "with audit", "by tasks", "without driver")
#: Lower bounds of the CPU of another engine, as a multiple of the CPU of the job: settings, the other engine, the job,
#: whether the CPU of an empty job is subtracted from both, and the bound.
BOUNDS = [
    ("default", "MinHashLSH", "minwise.spark", False, 5),
    ("default", "MinHashLSH", "by tasks", False, 5),
    ("default", "by hand", "minwise.spark", True, 5),
    ("default", "by hand", "by tasks", True, 2),
    ("short", "by hand", "minwise.spark", True, 5),
    ("short", "by hand", "by tasks", True, 2),
]
#: Maximum of the bytes that tasks shuffle, before compression, as a multiple of the formula.
MOST_BYTES = 1.5


def worker(name: str, source: str, folder: Path, java: str) -> None:
    spark = session(folder, java)
    removed = ENGINES[name](spark, source, folder)
    spark.stop()
    # The result of the job is a table, which is read after the measurement. The other engines return theirs.
    if removed is not None:
        (folder / "removed.json").write_text(json.dumps(sorted(removed)))


def used_by(folder: Path) -> int:
    """Returns the clock ticks of CPU time of a process or a thread, from its folder in `/proc`."""
    fields = (folder / "stat").read_text().rpartition(") ")[2].split()
    return int(fields[11]) + int(fields[12])


def measured(words: list[str]) -> tuple[float, float]:
    """Runs a command. Returns its elapsed seconds and the CPU seconds of all its processes."""
    began = time.monotonic()
    process = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)
    used: dict[Path, int] = {}
    threads: dict[Path, tuple[str, int]] = {}
    while process.poll() is None:
        for entry in map(Path, (f"/proc/{name}" for name in os.listdir("/proc") if name.isdigit())):
            try:
                if os.getsid(int(entry.name)) != process.pid:
                    continue
                used[entry] = used_by(entry)
                for thread in (entry / "task").iterdir() if IS_BY_THREAD else ():
                    threads[thread] = ((thread / "comm").read_text().strip(), used_by(thread))
            except OSError:
                continue
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"{words[-3:]} failed")
    if IS_BY_THREAD:
        show_threads(threads)
    return time.monotonic() - began, sum(used.values()) / TICKS


#: Whether CPU seconds are also printed by the names of threads.
IS_BY_THREAD = "--threads" in sys.argv


def show_threads(threads: dict[Path, tuple[str, int]]) -> None:
    """Prints the CPU seconds of the names of threads, of which Linux keeps 15 letters. Numbers in names are left out."""
    sums: dict[str, float] = {}
    for name, ticks in threads.values():
        plain = "".join(letter for letter in name if not letter.isdigit()).strip(" -.#")
        sums[plain] = sums.get(plain, 0.0) + ticks / TICKS
    most = sorted(sums.items(), key=lambda both: -both[1])[:12]
    print(f"{'':16}" + ", ".join(f"{name} {seconds:.1f}" for name, seconds in most if seconds >= 0.05), flush=True)


def logged(folder: Path) -> tuple[int, dict[str, int]]:
    """Returns the number of jobs in the event log, and the shuffled bytes by the descriptions of jobs."""
    jobs, steps, written = 0, {}, {}
    for path in (folder / "events").iterdir():
        for line in path.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                jobs += 1
                step = event.get("Properties", {}).get("spark.job.description", "").removeprefix("minwise: ")
                steps |= dict.fromkeys(event["Stage IDs"], step)
            if event["Event"] == "SparkListenerTaskEnd":
                more = event.get("Task Metrics", {}).get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
                step = steps.get(event["Stage ID"], "")
                written[step] = written.get(step, 0) + more
    return jobs, {step: size for step, size in written.items() if size}


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def tables(source: Path, folder: Path) -> int:
    """Writes the corpus as eight Parquet files, and returns the bytes of all texts."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    schema = pa.schema([("id", pa.string()), ("row", pa.int64()), ("text", pa.string())])
    parts = [pq.ParquetWriter(folder / f"{part}.parquet", schema) for part in range(8)]
    size = 0
    with source.open(encoding="ascii") as lines:
        while rows := [json.loads(line) for line in islice(lines, 80_000)]:
            size += sum(len(row["text"]) for row in rows)
            for part, out in enumerate(parts):
                out.write_table(pa.Table.from_pylist(rows[part::8], schema))
    for out in parts:
        out.close()
    return size


def main(minwise: str, documents: int, check: bool, only: list[str]) -> int:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONHASHSEED"] = "0"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        corpus(folder / "in.jsonl", documents)
        size = tables(folder / "in.jsonl", folder / "in")
        output = lambda which: [str(folder / "in.jsonl"), "--output", str(folder / f"{which}.jsonl"), "--report", str(folder / which), "--audit", "off"]  # noqa: E731
        seconds, cpu = measured([minwise, "dedup", *output("command"), "--threads", "2"])
        print(f"{documents:,} documents, {size / 1e6:.0f} MB of text; local[2]")
        print(f"{'':16}{'seconds':>9}{'CPU s':>9}{'jobs':>6}{'shuffled MB':>13}{'recall':>9}{'precision':>11}")

        def removed(which: str) -> set[int]:
            lines = (folder / which / "pairs.tsv").read_text().splitlines()
            return {int(line.split("\t")[0][1:]) for line in lines}

        if not only:
            subprocess.run([minwise, "dedup", *output("truth"), "--candidates", "sort-merge"], check=True, capture_output=True)
        truth = removed("command" if only else "truth")

        def show(engine: str, seconds: float, cpu: float, events: tuple[int, dict[str, int]] | None, found: set[int]) -> None:
            both = len(found & truth)
            recall, precision = both / max(len(truth), 1), both / max(len(found), 1)
            jobs, bytes = ("", "") if events is None else (str(events[0]), f"{sum(events[1].values()) / 1e6:.1f}")
            print(f"{engine:16}{seconds:9.1f}{cpu:9.1f}{jobs:>6}{bytes:>13}{recall:9.4f}{precision:11.4f}", flush=True)

        show("minwise dedup", seconds, cpu, None, removed("command"))
        failures, cpus = [], {}
        for java, engines in (chosen(only) if only else RUNS).items():
            print(f"Java: {JAVA[java] or 'default settings'}{'; shuffled bytes are not compressed' if java == 'bytes' else ''}")
            for engine in engines:
                own = folder / f"{java}-{engine.replace(' ', '-')}"
                own.mkdir()
                seconds, cpu = measured([sys.executable, __file__, "--worker", engine, str(folder / "in"), str(own), java])
                cpus[java, engine] = cpu
                found = decided(own) if engine in OURS else set(json.loads((own / "removed.json").read_text()))
                events = logged(own)
                show(engine, seconds, cpu, events, found)
                if engine not in OURS:
                    continue
                if found != removed("command"):
                    failures.append(f"{engine} decides otherwise than the command")
                counts = json.loads((own / "counts.json").read_text())
                print(f"{'':16}{counts['rounds']} rounds, {counts['candidates']:,} pairs asked, {counts['memberships']:,} memberships; folder of {size_of(own / 'work') / 1e6:.0f} MB")
                if java == "bytes":
                    expected = formula(documents, counts)
                    ratio = sum(events[1].values()) / expected
                    print(f"{'':16}{ratio:.2f} times the formula, {expected / 1e6:.1f} MB; MB by step: " + ", ".join(f"{step} {size / 1e6:.1f}" for step, size in events[1].items()))
                    if engine == "by tasks" and ratio > MOST_BYTES:
                        failures.append(f"{engine} shuffles {ratio:.2f} times the formula")
        for java, engine, ours, is_above, least in BOUNDS:
            names = [(java, name) for name in (engine, ours, "start")]
            if not all(name in cpus for name in names):
                continue
            other, own, start = (cpus[name] for name in names)
            ratio, above = other / own, (other - start) / max(own - start, 0.01)
            print(f"{java}: {engine} takes {ratio:.1f} times the CPU of {ours}, and {above:.1f} times above an empty job")
            if (above if is_above else ratio) < least:
                failures.append(f"{java}: {engine} takes less than {least} times the CPU of {ours}{' above an empty job' if is_above else ''}")
    for failure in failures:
        print(f"below the stated bounds: {failure}")
    return int(check and bool(failures))


def chosen(only: list[str]) -> dict[str, list[str]]:
    """Returns the engines of `--only` by the name of their settings."""
    runs: dict[str, list[str]] = {}
    for word in only:
        java, _, engine = word.rpartition(":")
        runs.setdefault(java or "default", []).append(engine)
    return runs


def formula(documents: int, counts: dict[str, Any]) -> float:
    """Returns the shuffled bytes by the formula of the guide, for 16 bands and sketches of 512 bytes.

    The terms are the keys of all documents, the pairs, the sketches of pairs, and once the texts of documents on
    shelves.
    """
    bands, row = 16, 512
    return documents * (32 + 2 * bands * 24) + 16 * counts["candidates"] + 2 * row * counts["compared"] + counts["shelved_bytes"]


def peak() -> str:
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return f"{int(line.split()[1]) / 1e6:.2f} GB"


def driver(documents: int, members: int) -> None:
    """Prints the peak memory of the driver before and after the first rounds.

    Shelves are random, with `members` documents per shelf and 8 memberships per document. No two documents are similar,
    so that every pair is compared in the end.
    """
    import numpy
    import pyarrow as pa
    from minwise._minwise import SparkRounds

    generator, parts = numpy.random.default_rng(1), 8

    def tables() -> Any:
        for part in range(parts):
            numbers = generator.integers(0, documents, documents * 8 // parts, dtype=numpy.uint64)
            ranks = [b"\1\1" + one for one in numbers.astype(">u8").view("S8").tolist()]
            keys = generator.integers(0, max(documents * 8 // parts // members, 1), len(ranks), dtype=numpy.int64) * parts + part
            table = pa.table({"band": keys % 16, "key": keys, "rank": pa.array(ranks, pa.binary())})
            yield table.group_by(["band", "key", "rank"]).aggregate([]).select(["band", "key", "rank"])

    none = pa.array([], pa.binary())
    rounds = SparkRounds("star", tables(), [pa.table({"rank": none, "other": none})])
    print(f"{rounds.documents():,} documents, {8 * documents:,} memberships: {peak()}")
    for number in range(1, 6):
        listed, _, blocks = rounds.next_round(pa.table({"a": none, "c": none, "similarity": pa.array([], pa.float64())}))
        print(f"round {number}: {len(listed):,} listed pairs, {len(blocks):,} rows of blocks: {peak()}", flush=True)


def task(documents: int) -> None:
    """Prints the peak memory of a task for grouping, and of tasks for a round, that have one shelf with every
    document.
    """
    import numpy
    import pyarrow as pa
    from minwise._minwise import spark_ask, spark_group, spark_sort, spark_wait

    numbers = numpy.arange(documents, dtype=numpy.uint64)
    ranks = pa.array([b"\1\1" + one for one in numbers.astype(">u8").view("S8").tolist()], pa.binary())
    print(f"{documents:,} documents on one shelf; before: {peak()}")
    number, zero = pa.array(numbers.astype(numpy.int64)), pa.array(numpy.zeros(documents, numpy.int64))
    equality = pa.array([one.tobytes() * 2 for one in numbers], pa.binary())
    sketched = {"rank": ranks, "id": pa.nulls(documents, pa.string()), "given": pa.array([False] * documents), "kind": zero.cast(pa.int8())}
    packed = pa.table(pa.record_batch(spark_sort(pa.table({**sketched, "equality": equality, "content": number, "keys": pa.array([bytes(8)] * documents, pa.binary())}), 1)))
    shelf = packed.filter(pa.compute.equal(packed["part"], 0))
    del sketched, equality
    print(f"packed: {peak()}")
    grouped = len(spark_group(0, 1, shelf.select(["rows"])))
    print(f"grouped, {grouped:,} rows: {peak()}")
    del packed, shelf
    never = pa.array(numpy.full(documents, 65_535, numpy.int64))
    states = {"band": zero, "key": zero, "rank": ranks, "last": pa.nulls(documents, pa.binary()), "state": zero, "front": zero, "decided": never}
    rows = pa.table({**states, "what": zero})
    print(f"{len(spark_wait(rows, 1)):,} documents wait: {peak()}")
    listed, blocks, _ = spark_ask("star", rows, 1, documents)
    print(f"{len(listed):,} pairs and {len(blocks):,} rows of blocks are asked: {peak()}")


def audit(documents: int) -> None:
    """Prints how many documents an audit of DOCUMENTS documents draws, and the CPU time of one core for comparing their
    sketches with all others. The time is that of a task with some sketches, multiplied.
    """
    import numpy
    import pyarrow as pa
    from minwise._minwise import SparkTask
    from minwise.spark import _audit, _settings, _tasks

    drawn = _audit.size("auto", documents)
    made = SparkTask(json.dumps(_settings.plan({})), b"")
    generator, width = numpy.random.default_rng(1), made.sketch_bytes()

    def rows(count: int) -> Any:
        # Ranks of both tables are spread alike, because a row is compared only with the documents of later clusters.
        ranks = pa.array([b"\1" + ((at << 40) // count).to_bytes(8, "big") for at in range(count)], pa.binary())
        sketches = pa.array([generator.bytes(width) for _ in range(count)], pa.binary())
        return pa.record_batch({"rank": ranks, "cluster": ranks, "sketch": sketches})

    sample, batch, repeats = pa.table(rows(drawn)), rows(_tasks.SAMPLED_ROWS), 20
    began = time.process_time()
    for _ in range(repeats):
        made.screen_sample(batch, sample, _audit.PARTNERS)
    seconds = (time.process_time() - began) / repeats / len(batch)
    print(f"{documents:,} documents: {drawn:,} drawn, {documents * drawn:.1e} pairs of sketches, {seconds * documents:,.0f} s of one core")


if __name__ == "__main__":
    numbers = [word for word in sys.argv[2:] if word.isdigit()]
    if sys.argv[1] == "--driver":
        documents, members = [*map(int, numbers), *(1_000_000, 1)[len(numbers) :]]
        driver(documents, members)
    elif sys.argv[1] == "--task":
        task(int([*numbers, "1000000"][0]))
    elif sys.argv[1] == "--audit":
        audit(int([*numbers, "1000000"][0]))
    elif sys.argv[1] == "--worker":
        worker(sys.argv[2], sys.argv[3], Path(sys.argv[4]), sys.argv[5])
    else:
        only = [engine for word in sys.argv if word.startswith("--only=") for engine in word.removeprefix("--only=").split(",")]
        if only and "--check" in sys.argv:
            sys.exit("`--check` compares all engines: leave out `--only`")
        sys.exit(main(sys.argv[1], int(numbers[0]) if numbers else 200_000, "--check" in sys.argv, only))
