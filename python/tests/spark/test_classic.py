"""Tests of classic Spark: executors that are separate processes make the same decisions as the command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import minwise.spark
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import CORPORA, LARGE, STATED, Command, assert_same, check_second_reading, decided_by, rows_of
from minwise.spark import _results, _rounds, _settings, _shelves, _tasks, _verify, _work


@pytest.fixture(scope="module")
def classic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Yields a session on a cluster of two executors on this machine, with one core and 1 GiB each."""
    from pyspark.sql import SparkSession

    # A Spark Connect session in the same process sets environment variables, with which functions of columns would be
    # those of Connect.
    marks = ("SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE", "SPARK_LOCAL_REMOTE")
    connect = {name: os.environ.pop(name) for name in marks if name in os.environ}
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    folder = tmp_path_factory.mktemp("classic")
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("minwise")
    settings = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder / "local"),
        "spark.worker.dir": str(folder / "work"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.log.level": "ERROR",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    before = Path.cwd()
    os.chdir(folder)
    spark = builder.getOrCreate()
    yield spark
    spark.stop()
    os.chdir(before)
    os.environ.update(connect)


@pytest.mark.parametrize("name, limits", [("articles", {"_here": 0}), ("odd", {}), ("generated", {})])
def test_default_settings(classic: Any, command: Command, tmp_path: Path, name: str, limits: dict[str, int]) -> None:
    rows = rows_of(CORPORA[name]())
    expected, _ = command.dedup(rows)
    df = classic.createDataFrame(rows).repartition(3)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off", **limits)
    assert_same(decided_by(result), expected)
    assert {row["id"] for row in result.kept.collect()} == {row["id"] for row in rows} - set(expected)


@pytest.mark.parametrize(
    "limits, many, cluster",
    [({}, False, "star"), ({"_asking": 2, "_pairs": 10}, False, "star"), ({}, True, "star"), ({"_asking": 2, "_pairs": 10}, True, "components")],
    ids=["listed", "blocks", "many", "components"],
)
def test_a_text_is_sent_once_to_each_task(
    classic: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int], many: bool, cluster: str
) -> None:
    """Each bucket of pairs is a task of its own, even with many more buckets than shuffle partitions.

    If `many` is true, the pairs are treated as too many to send their documents to every task. Tasks write down their
    texts.
    """
    rows, notes = rows_of(CORPORA["family"]()), tmp_path / "notes"
    expected, _ = command.dedup(rows, "--cluster", cluster)
    for module in (_verify, _rounds) if many else ():
        for name in ("FEW_PAIRS", "SMALL_PAIRS"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, 0)
    notes.mkdir()
    make, folder = _tasks.verifier, str(notes)

    def verifier(job: Any, all: bool, screens: bool) -> Any:
        verify = make(job, all, screens)

        def note(table: Any) -> Any:
            import json
            import uuid

            from pyspark import TaskContext

            of = TaskContext.get()
            ranks = [a.hex() for a, c in zip(table["a"].to_pylist(), table["c"].to_pylist()) if c is None]
            with open(f"{folder}/{uuid.uuid4().hex}", "w", encoding="ascii") as out:
                json.dump([of.stageId(), of.partitionId(), ranks, len(table) - len(ranks)], out)
            return verify(table)

        return note

    monkeypatch.setattr(_tasks, "verifier", verifier)
    monkeypatch.setattr(_verify, "BUCKET_PAIRS", 200 if many else 20)
    df = classic.createDataFrame(rows).repartition(3)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off", cluster=cluster, _here=0, _rest=0, **limits)
    assert_same(decided_by(result), expected)
    sent: dict[tuple[int, int], list[str]] = {}
    pairs = 0
    for path in notes.iterdir():
        stage, task, ranks, number = json.loads(path.read_text(encoding="ascii"))
        sent.setdefault((stage, task), []).extend(ranks)
        pairs += number
    texts = [rank for ranks in sent.values() for rank in ranks]
    # Tasks get fewer texts than two per pair, because a task gets a text once for all its pairs.
    assert len(sent) > 4 * result.summary.rounds and len(texts) < 2 * pairs
    assert all(len(set(ranks)) == len(ranks) for ranks in sent.values())
    assert len(set(texts)) < len(texts), "some documents are in several buckets"


class Killed(BaseException):
    pass


def test_a_job_that_was_killed_goes_on(
    classic: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = rows_of(CORPORA["articles"]())
    expected, _ = command.dedup(rows)
    df = classic.createDataFrame(rows).repartition(2)
    write = _work.Work._write

    def kill(self: Any, step: str, counts: Any, mode: str = "append") -> None:
        if step == "round-001":
            raise Killed
        write(self, step, counts, mode)

    monkeypatch.setattr(_work.Work, "_write", kill)
    with pytest.raises(Killed):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off", _here=0, _rest=0)
    monkeypatch.setattr(_work.Work, "_write", write)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off", _here=0, _rest=0)
    assert_same(decided_by(result), expected)
    # The steps `sketches`, `groups` and `texts` were done before; the rounds and the decisions were not.
    assert result.summary.steps_computed == result.summary.rounds + 1


def test_jobs_have_descriptions(classic: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The web interface of Spark shows the step of each job. The description that the caller has set comes back."""
    context, shown = classic.sparkContext, []
    save = _work.Work.save

    def saved(self: Any, frame: Any, name: str) -> Any:
        shown.append(context.getLocalProperty("spark.job.description"))
        return save(self, frame, name)

    make = _tasks.checker

    def checker(job: Any) -> Any:
        shown.append(context.getLocalProperty("spark.job.description"))
        return make(job)

    def kept(self: Any) -> Any:
        shown.append(context.getLocalProperty("spark.job.description"))
        return self.decisions

    monkeypatch.setattr(_work.Work, "save", saved)
    monkeypatch.setattr(_tasks, "checker", checker)
    monkeypatch.setattr(_results.Result, "kept", property(kept))
    df = classic.createDataFrame(rows_of(["a b c d e f g", "a b c d e f g"]))
    context.setJobDescription("mine")
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    result.write("output", str(tmp_path / "out"), "kept")
    assert shown == ["minwise: check of an executor", "minwise: sketches", "minwise: decisions", "minwise: output"]
    assert context.getLocalProperty("spark.job.description") == "mine"
    context.setJobDescription(None)


def test_the_program_names_tables_that_cannot_be_read(classic: Any, tmp_path: Path) -> None:
    from minwise.spark import __main__ as program

    (tmp_path / "text.parquet").write_text("this is no table")
    for path in (tmp_path / "nothing", tmp_path / "text.parquet"):
        with pytest.raises(minwise.InputError, match=f"`input`: .*{path.name}.* cannot be read: ") as raised:
            program._read(classic, "input", [str(path)], None)
        assert "--format" in (raised.value.hint or "")


def test_a_manifest_that_cannot_be_read_is_not_an_empty_one(classic: Any, tmp_path: Path) -> None:
    df = classic.createDataFrame(rows_of(["a b c"]))
    (tmp_path / "work/manifest").mkdir(parents=True)
    (tmp_path / "work/manifest/part-0.parquet").write_text("this is no table")
    with pytest.raises(minwise.InputError, match="`work`.*manifest cannot be read"):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    assert _work.exists(classic, str(tmp_path / "work/manifest")) and _work.exists(classic, str(tmp_path))
    assert not _work.exists(classic, str(tmp_path / "nothing"))


def test_the_wrong_executors_are_one_clear_error(classic: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from minwise.spark import _job

    df = classic.createDataFrame(rows_of(["a b c"]))
    monkeypatch.setattr(_job, "__version__", "99.0")
    with pytest.raises(minwise.MinwiseError, match="executors have .*the driver has minwise 99.0"):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    # The executors have the version of the driver, and compute another fingerprint of the spec.
    job = _tasks.Job(json.dumps(_settings.plan({})))
    fingerprint = _tasks._task(job).fingerprint()
    assert _shelves.check_executors(classic, job, minwise.__version__, fingerprint)["version"] == minwise.__version__
    with pytest.raises(minwise.MinwiseError, match=f"executors have another spec, and the driver has minwise {minwise.__version__}"):
        _shelves.check_executors(classic, job, minwise.__version__, fingerprint + 1)


def test_every_task_checks_its_version(tmp_path: Path) -> None:
    """Every task checks its version, because an executor that joins later may have another version than the checked
    executor.
    """
    from minwise.spark import _settings, _tasks

    plan = json.dumps(_settings.plan({}))
    fingerprint = _tasks._task(_tasks.Job(plan)).fingerprint()
    assert _tasks._task(_tasks.Job(plan, driver=(minwise.__version__, fingerprint)))
    for driver in (("99.0", fingerprint), (minwise.__version__, fingerprint + 1)):
        with pytest.raises(RuntimeError, match=f"an executor has minwise {minwise.__version__}, and the driver has minwise {driver[0]}"):
            _tasks._task(_tasks.Job(plan, driver=driver))


def test_every_task_goes_through_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    from minwise.spark import _files

    makes = [make for module in (_tasks, _files) for name, make in vars(module).items() if getattr(make, "__module__", "") == module.__name__]
    tasks = {make.__name__ for make in makes if "Callable" in str(getattr(make, "__annotations__", {}).get("return"))}
    # All makers of tasks are decorated with `checked`, except `checker`, which is the check before the job, and
    # `checked` itself.
    assert len(tasks) > 20
    assert tasks - {make.__name__ for make in makes if hasattr(make, "__wrapped__")} == {"checker", "checked"}
    monkeypatch.setattr(minwise, "__version__", "99.0")
    namer = _tasks.namer()
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="the driver has minwise 99.0"):
        namer(None)


def test_a_second_reading_makes_the_same_rank_keys(classic: Any, tmp_path: Path) -> None:
    check_second_reading(classic, tmp_path / "work")


@pytest.mark.parametrize("limits", [{}, {"_here": 0}, {"_driver": 0}], ids=["driver", "tasks", "cluster"])
def test_texts_that_are_no_utf_8_are_rejected(classic: Any, command: Command, tmp_path: Path, limits: dict[str, int]) -> None:
    """Rows whose text is not UTF-8 are rejected, as the command rejects them. Spark does not check the bytes of a text."""
    ends = (b"\xff", b"ok", b"\xfe", b"\xc3\x28", b"ok", b"no other words than these nine are no copy", b"ok")
    rows = [(b"one text of twelve words that stand here and end in " + end, number) for number, end in enumerate(ends)]
    df = classic.createDataFrame(rows, "bytes binary, row bigint").selectExpr("cast(bytes as string) as text", "cast(row as string) as id", "row")
    df.write.parquet(str(tmp_path / "in"))
    out, rejected = tmp_path / "out.parquet", tmp_path / "report/rejects.jsonl"
    words = ["--shingle", "words:1", "--output", out, "--report", rejected.parent]
    command("dedup", tmp_path / "in", *words)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), shingle="words:1", audit="off", **limits)
    assert result.summary.removed == 2 and result.summary.rejected == 3
    assert {row["id"] for row in result.kept.collect()} == set(pq.read_table(out)["id"].to_pylist()) == {"1", "5"}
    reasons = {record["id"]: record["reason"] for record in map(json.loads, rejected.read_text().splitlines())}
    assert {row["id"]: row["reason"] for row in result.rejects.collect()} == reasons == dict.fromkeys("023", "invalid_utf8")
    # `max_df` does not count them either.
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "max-df"), shingle="words:1", audit="off", max_df=3, **limits)
    out, words[3] = tmp_path / "out-max-df.parquet", tmp_path / "out-max-df.parquet"
    command("dedup", tmp_path / "in", *words[:4], "--max-df", 3)
    assert {row["id"] for row in result.kept.collect()} == set(pq.read_table(out)["id"].to_pylist())


def test_arrow_batches_are_cut_by_bytes(classic: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches that tasks get and return are cut by bytes: 10,000 rows would have 400 MB.

    Tasks write down their largest batch.
    """
    notes = tmp_path / "notes"
    notes.mkdir()
    make, folder = _tasks.sketcher, str(notes)

    def sketcher(job: Any, given: bool) -> Any:
        sketch = make(job, given)

        def note(batches: Any) -> Any:
            import uuid

            def noted() -> Any:
                for batch in batches:
                    with open(f"{folder}/{uuid.uuid4().hex}", "w", encoding="ascii") as out:
                        out.write(f"{len(batch)} {batch.nbytes}")
                    yield batch

            return sketch(noted())

        return note

    monkeypatch.setattr(_tasks, "sketcher", sketcher)
    monkeypatch.setattr(_work, "BATCH_BYTES", 1 << 20)
    df = classic.range(100, numPartitions=1).selectExpr("id as row", "repeat(concat('w', id, ' '), 10000) as text")
    pairs = minwise.spark.pairs(df, text="text", order_by="row", work=str(tmp_path / "pairs"))
    minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    assert pairs.count() == 0
    sizes = [tuple(map(int, path.read_text().split())) for path in notes.iterdir()]
    assert sum(rows for rows, _ in sizes) == 200 and len(sizes) > 6
    assert max(size for _, size in sizes) < 2 << 20
    assert _tasks.BATCH_BYTES == 64 << 20
    batch = pa.record_batch({"text": pa.array(["x" * (1 << 20)] * 200)})
    cut = list(_tasks.cut(batch))
    assert sum(map(len, cut)) == 200 and max(part.nbytes for part in cut) <= 64 << 20 and len(cut) > 3


#: A program that runs a job on a Spark Connect server, which its session starts. The program runs in a process of its
#: own, because sessions of other kinds leave environment variables behind.
CONNECT = """
import json, sys
import minwise.spark
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[2]").config("spark.sql.shuffle.partitions", "4").getOrCreate()
df = spark.read.parquet(sys.argv[1])
result = minwise.spark.dedup(df, text="text", order_by="row", work=sys.argv[2], **json.loads(sys.argv[3]))
print(json.dumps([tuple(row) for row in result.decisions.collect()]))
"""


@pytest.mark.java
@pytest.mark.parametrize(
    "limits",
    [pytest.param({}, marks=pytest.mark.long), {"_here": 0}, pytest.param({"_driver": 0}, marks=pytest.mark.long)],
    ids=["here", "tasks", "cluster"],
)
def test_spark_connect(command: Command, tmp_path: Path, limits: dict[str, int]) -> None:
    rows = rows_of(CORPORA["articles"]())
    expected, _ = command.dedup(rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    words = [sys.executable, "-c", CONNECT, str(tmp_path / "in.parquet"), str(tmp_path / "work"), json.dumps(limits)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert_same({id: (of, similarity) for id, of, similarity in json.loads(done.stdout.splitlines()[-1])}, expected)


@pytest.mark.long
@pytest.mark.parametrize("name, limits", STATED)
def test_tasks_stay_below_one_gib(classic: Any, tmp_path: Path, name: str, limits: dict[str, int]) -> None:
    """With a heap of 1 GiB per executor, the peak resident memory (VmHWM) of every Python worker stays below 1 GiB,
    too.
    """
    make, count, _ = LARGE[name]
    rows = rows_of(make(count))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet", row_group_size=10_000)
    del rows
    peaks: dict[str, int] = {}
    is_done = threading.Event()

    def watch() -> None:
        while not is_done.wait(0.2):
            for process in Path("/proc").iterdir():
                try:
                    if process.name.isdigit() and b"pyspark.daemon" in (process / "cmdline").read_bytes():
                        line = next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmHWM"))
                        peaks[process.name] = int(line.split()[1]) << 10
                except (OSError, StopIteration):
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        df = classic.read.parquet(str(tmp_path / "in.parquet"))
        settings: dict[str, Any] = {"text": "text", "order_by": "row", "audit": "off", "_here": 0, **limits}
        result = minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings)
    finally:
        is_done.set()
        watcher.join()
    print(name, limits, count, {key: getattr(result.summary, key) for key in ("rounds", "candidates", "removed", "largest_shelf")}, max(peaks.values()) >> 20, "MiB")
    assert result.summary.rounds <= 12
    assert max(peaks.values()) < 1 << 30


@pytest.mark.java
def test_spark_submit_runs_the_program(command: Command, tmp_path: Path) -> None:
    """spark-submit runs a job with the file of the program, and passes it the options after the file."""
    from minwise.spark import submit

    rows = rows_of(CORPORA["articles"]())
    expected, _ = command.dedup(rows)
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    words = [str(Path(sys.executable).parent / "spark-submit"), "--master", "local[2]", "--conf", "spark.ui.enabled=false", submit.__file__]
    words += ["--input", tmp_path / "in.parquet", "--output", tmp_path / "out", "--work", tmp_path / "work", "--order-by", "row", "--text-field", "text"]
    # A session on Sail in this process sets variables with which Spark would start a client of Connect.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    environment |= {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([*map(str, words)], env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert set(pq.read_table(tmp_path / "out")["id"].to_pylist()) == {row["id"] for row in rows} - set(expected)


def test_spark_reads_compressed_outputs(classic: Any, command: Command, tmp_path: Path) -> None:
    """Spark reads all records of compressed outputs of the command, which several threads wrote."""
    rows = [{"id": str(number), "text": f"{number} {'word ' * 40}{number * 7919}"} for number in range(25_000)]
    path = command.write(rows)
    for name in ("out.jsonl.gz", "out.jsonl.zst"):
        command("dedup", path, "--output", tmp_path / name, "--threads", "2", "--threshold", "1")
        assert classic.read.json(str(tmp_path / name)).count() == len(rows)
