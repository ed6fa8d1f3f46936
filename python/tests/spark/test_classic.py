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
from minwise.spark import _tasks, _verify, _work


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


@pytest.mark.parametrize("limits", [{}, {"_asking": 2, "_pairs": 10}], ids=["listed", "blocks"])
def test_a_text_is_sent_once_to_each_task(
    classic: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    """Each bucket of pairs is a task of its own, even with many more buckets than shuffle partitions.

    Tasks write down their texts.
    """
    rows, notes = rows_of(CORPORA["family"]()), tmp_path / "notes"
    expected, _ = command.dedup(rows)
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
    monkeypatch.setattr(_verify, "BUCKET_PAIRS", 20)
    df = classic.createDataFrame(rows).repartition(3)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off", _here=0, **limits)
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
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off", _here=0)
    monkeypatch.setattr(_work.Work, "_write", write)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off", _here=0)
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

    monkeypatch.setattr(_work.Work, "save", saved)
    df = classic.createDataFrame(rows_of(["a b c d e f g", "a b c d e f g"]))
    context.setJobDescription("mine")
    minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    assert shown == ["minwise: sketches", "minwise: decisions"]
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


@pytest.mark.parametrize("limits", [{}, {"_here": 0}], ids=["driver", "tasks"])
def test_texts_that_are_no_utf_8_are_repaired(classic: Any, tmp_path: Path, limits: dict[str, int]) -> None:
    """Texts with invalid UTF-8 are repaired, because Spark does not check the bytes of a text."""
    rows = [(b"one text of six words here " + bad, number) for number, bad in enumerate((b"\xff", b"\xfe", b"\xc3\x28", b"ok"))]
    df = classic.createDataFrame(rows, "bytes binary, row bigint").selectExpr("cast(bytes as string) as text", "row")
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off", **limits)
    expected = minwise.dedup([text.decode("utf-8", "replace") for text, _ in rows])
    assert result.summary.removed == expected.summary.removed > 0
    assert [row["row"] for row in result.kept.orderBy("row").collect()] == [row for row, stays in enumerate(expected.kept_mask) if stays]


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


@pytest.mark.long
@pytest.mark.parametrize("limits", [{}, {"_here": 0}, {"_driver": 0}], ids=["here", "tasks", "cluster"])
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


def test_spark_submit_runs_the_program() -> None:
    """spark-submit runs the file and passes the options after it to the program."""
    from minwise.spark import submit

    words = [str(Path(sys.executable).parent / "spark-submit"), submit.__file__, "--help"]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "--order-by" in done.stdout


def test_spark_reads_compressed_outputs(classic: Any, command: Command, tmp_path: Path) -> None:
    """Spark reads all records of compressed outputs of the command, which several threads wrote."""
    rows = [{"id": str(number), "text": f"{number} {'word ' * 40}{number * 7919}"} for number in range(25_000)]
    path = command.write(rows)
    for name in ("out.jsonl.gz", "out.jsonl.zst"):
        command("dedup", path, "--output", tmp_path / name, "--threads", "2", "--threshold", "1")
        assert classic.read.json(str(tmp_path / name)).count() == len(rows)
