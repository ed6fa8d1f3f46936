"""Tests of progress, cancelling, Ctrl-C, threads, processes and asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import Stopwatch, generated

import minwise
from minwise import Lsh, Spec


@pytest.fixture(scope="module")
def many() -> list[str]:
    return generated(30_000)


def test_progress_is_told_on_the_calling_thread(many: list[str]) -> None:
    calls: list[tuple[str, int, int]] = []
    threads = set()

    def progress(stage: str, done: int, total: int) -> None:
        threads.add(threading.get_ident())
        calls.append((stage, done, total))

    began = time.monotonic()
    minwise.dedup(many, progress=progress, threads=1)
    elapsed = time.monotonic() - began
    assert calls and threads == {threading.get_ident()}
    assert len(calls) <= elapsed * 10 + 2
    assert all(isinstance(done, int) and done >= 0 for _, done, _ in calls)


def test_progress_draws(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, many: list[str]) -> None:
    minwise.dedup(many[:3000], progress=True)
    assert capfd.readouterr().err != ""
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    minwise.dedup(many[:3000], progress=True)
    assert "minwise: " in capfd.readouterr().err


def test_an_error_in_progress_ends_the_run(many: list[str]) -> None:
    def progress(*_: Any) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        minwise.dedup(many, progress=progress)


def test_cancel(many: list[str], tmp_path: Path) -> None:
    with pytest.raises(minwise.Cancelled):
        minwise.dedup(many, cancel=lambda: True)
    # `cancel` is called before the work begins, so that even short work can be cancelled.
    with pytest.raises(minwise.Cancelled):
        minwise.dedup(["a", "b"], cancel=lambda: True)
    with pytest.raises(minwise.Cancelled):
        minwise.dedup(iter(many), cancel=lambda: True, temp_dir=tmp_path)
    assert os.listdir(tmp_path) == []
    # `dedup` is called on a thread that is not the main thread, so it receives no signals.
    asked, stop = threading.Event(), threading.Event()

    def cancel() -> bool:
        asked.set()
        return stop.wait(60)

    with concurrent.futures.ThreadPoolExecutor() as pool:
        future = pool.submit(minwise.dedup, many, cancel=cancel)
        assert asked.wait(60)
        stop.set()
        with pytest.raises(minwise.Cancelled):
            future.result(60)


#: Calls that take long, each as three parts of a program: its preparation, the call, and a check that no files are
#: left.
LONG_CALLS = {
    "dedup": ("", "minwise.dedup(texts, threads=1, weight='tf-idf')", "True"),
    "pairs": ("", "minwise.pairs(texts, threads=1, weight='tf-idf')", "True"),
    "dedup of a generator": (
        "",
        "minwise.dedup((text for text in texts), temp_dir=folder, threads=1, weight='tf-idf')",
        "os.listdir(folder) == []",
    ),
    "dedup_files": (
        """
with open(folder + "/in.jsonl", "w") as file:
    for text in texts:
        file.write(json.dumps({"text": text}) + "\\n")
""",
        "minwise.dedup_files(folder + '/in.jsonl', folder + '/out.jsonl', temp_dir=folder, threads=1, weight='tf-idf')",
        "os.listdir(folder) == ['in.jsonl']",
    ),
    "sketch of a list": ("texts *= 20", "minwise.Spec().sketch(texts, threads=1)", "True"),
    "sketch of an Arrow column": (
        "import pyarrow; texts = pyarrow.array(texts * 20)",
        "minwise.Spec().sketch(texts, threads=1)",
        "True",
    ),
    "estimate": (
        "sketches = minwise.Spec().sketch(texts); pairs = [(n, n) for n in range(len(texts))] * 60",
        "sketches.estimate(sketches, pairs=pairs)",
        "True",
    ),
    "insert_many": (
        "lsh = minwise.Lsh(); texts *= 5",
        "lsh.insert_many(range(len(texts)), texts, threads=1)",
        "len(lsh) == 0 and 1 not in lsh and lsh.query(texts[0]) == []",
    ),
    "insert_many of sketches": (
        "lsh = minwise.Lsh(); sketches = minwise.Spec().sketch(texts * 10)",
        "lsh.insert_many(range(len(sketches)), sketches, threads=1)",
        "len(lsh) == 0 and 1 not in lsh",
    ),
    "Index.add": (
        "index = minwise.Index.create(folder + '/archive')",
        "index.add({str(number): text for number, text in enumerate(texts)}, threads=1)",
        "len(index) == 0 and index.check(texts[0]) == []",
    ),
    "report": (
        "result = minwise.dedup([f'words of the text {n // 3}' for n in range(600_000 * size)], audit='off')",
        "result.report(folder + '/report')",
        "os.listdir(folder) == []",
    ),
    "compare": (
        "left, right = ' '.join(texts), ' '.join(reversed(texts))",
        "minwise.compare(left, right, passages=3)",
        "True",
    ),
    "explain": (
        "long = ' '.join(texts); result = minwise.dedup([long, long + ' and more'])",
        "result.explain(1)",
        "True",
    ),
}

INTERRUPTED = """
import json, os, signal, sys, threading, minwise
sys.path.insert(0, sys.argv[1])
from conftest import Stopwatch, read_texts
folder, size = sys.argv[2], int(sys.argv[3])
texts = read_texts(sys.argv[4], size)
%s
sent = []
def interrupt():
    sent.append(Stopwatch())
    os.kill(os.getpid(), signal.SIGINT)
try:
    threading.Timer(0.1, interrupt).start()
    %s
    os._exit(9)
except KeyboardInterrupt:
    print(sent[0].seconds(), flush=True)
assert %s
"""

STAGE_INTERRUPTED = """
import os, signal, sys, minwise
sys.path.insert(0, sys.argv[1])
from conftest import Stopwatch, read_texts
stage, size = sys.argv[2], int(sys.argv[3])
# The texts must be enough for a report of progress within the stage.
texts = read_texts(sys.argv[4], 5 * size if stage in ("read", "candidates", "verify") else size)
sent = []
def progress(now, *_):
    if now == stage and not sent:
        sent.append(Stopwatch())
        os.kill(os.getpid(), signal.SIGINT)
more = {"weight": "tf-idf"} if stage == "weigh" else {"audit": 1000}
try:
    minwise.dedup(texts, progress=progress, threads=1, **more)
    os._exit(9)
except KeyboardInterrupt:
    print(sent[0].seconds())
"""


@pytest.fixture(scope="module")
def texts_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Writes a file of 60,000 texts once, because generating them takes a test program longer than its own work."""
    path = tmp_path_factory.mktemp("texts") / "texts.txt"
    path.write_text("\n".join(generated(60_000)), encoding="utf-8")
    return str(path)


def test_the_stopwatch_counts_the_work_of_any_thread() -> None:
    def work() -> None:
        began = time.thread_time()
        while time.thread_time() - began < 0.3:
            pass

    for run in (work, lambda: [thread := threading.Thread(target=work), thread.start(), thread.join()]):
        watch = Stopwatch()
        run()
        assert 0.29 < watch.seconds()


def check_interrupted(code: str, folder: Path, texts_file: str, second: Callable[[Path], str]) -> None:
    """Runs a program that interrupts itself and prints the seconds from the signal to the exception.

    If the call ends before the interrupt, the program returns 9. Then it is run again with twice as much data, because
    the machine was too fast for this amount."""
    size, took = 1, []
    for attempt in range(8):
        own = folder / str(attempt)
        own.mkdir()
        words = [sys.executable, "-c", code, str(Path(__file__).parent), second(own), str(size), texts_file]
        done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=300)
        if done.returncode == 9:
            size *= 2
            continue
        assert done.returncode == 0, done.stderr
        took.append(float(done.stdout))
        if took[-1] <= 0.2:
            return
    assert took, "the call was over too soon"
    raise AssertionError(f"it took {took} s")


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("name", LONG_CALLS)
def test_ctrl_c_stops_soon_and_leaves_nothing_behind(name: str, tmp_path: Path, texts_file: str) -> None:
    check_interrupted(INTERRUPTED % LONG_CALLS[name], tmp_path, texts_file, str)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize("stage", ["weigh", "read", "candidates", "verify", "audit"])
def test_ctrl_c_stops_every_stage_soon(stage: str, tmp_path: Path, texts_file: str) -> None:
    check_interrupted(STAGE_INTERRUPTED, tmp_path, texts_file, lambda _: stage)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("sketch", "spec.sketch([long])"),
        ("shingles", "spec.shingles(long)"),
        ("compare", "spec.compare(long, long)"),
        ("insert", "lsh.insert('a', long)"),
        ("query", "lsh.query(long)"),
        ("insert_many", "lsh.insert_many(['a'], [long])"),
        ("Index.add", "index.add({'a': long})"),
        ("Index.check", "index.check(long)"),
        ("Arrow stream", "spec.sketch(slow)"),
    ],
)
def test_other_threads_go_on_during_long_calls(name: str, call: str, tmp_path: Path, texts_file: str) -> None:
    """Another thread continues to tick during a long call, which shows that the call has released the interpreter's
    lock.
    """
    code = f"""
import duckdb, os, sys, threading, time, minwise
sys.path.insert(0, sys.argv[1])
from conftest import read_texts
size = int(sys.argv[3])
spec = minwise.Spec()
spec.sketch(["tables are made"])
long = " ".join(read_texts(sys.argv[4])) * (4 * size)
lsh = minwise.Lsh()
index = minwise.Index.create(sys.argv[2] + "/archive")
class Slow:
    # DuckDB computes the rows when the stream is read, and does not need the interpreter.
    def __arrow_c_stream__(self, requested_schema=None):
        rows = 30000 * size
        return duckdb.sql(f"select 'text ' || sum(hash(a.range + b.range)) as t from range({{rows}}) a, range(4000) b").__arrow_c_stream__()
slow = Slow()
# Ticks are processor time of this process, because a busy machine stops both threads.
ticks, begun, done = [], threading.Event(), threading.Event()
def tick():
    while not done.is_set():
        ticks.append(time.process_time())
        begun.set()
        time.sleep(0.002)
clock = threading.Thread(target=tick)
clock.start()
begun.wait()
began = time.process_time()
try:
    {call}
except TypeError as error:
    assert "table" in str(error), error
ended = time.process_time()
done.set()
clock.join()
if ended - began < 0.05:
    os._exit(9)
during = [moment for moment in ticks if began < moment < ended]
gaps = [b - a for a, b in zip([began, *during], [*during, ended])]
print(max(gaps) / (ended - began))
"""
    size, shares = 1, []
    for attempt in range(8):
        own = tmp_path / str(attempt)
        own.mkdir()
        words = [sys.executable, "-c", code, str(Path(__file__).parent), str(own), str(size), texts_file]
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300)
        if done.returncode == 9:
            size *= 2
            continue
        assert done.returncode == 0, done.stderr
        # Only the last word is read, because DuckDB draws a progress bar on standard output before it.
        shares.append(float(done.stdout.split()[-1]))
        if shares[-1] < 0.5:
            return
    raise AssertionError(f"the longest share without a tick: {shares}")


def sketched(texts: list[str]) -> bytes:
    return numpy.asarray(Spec().sketch(texts)).tobytes()


def deduplicated(texts: list[str]) -> list[str]:
    return minwise.dedup(texts, threads=2).kept


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no such method")
    texts = generated(300)
    # The process uses threads before it forks, because the forked process loses them and must work nevertheless.
    expected = sketched(texts), deduplicated(texts)
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        assert pool.map(sketched, [texts, texts]) == [expected[0]] * 2
        assert pool.map(deduplicated, [texts]) == [expected[1]]
        # Objects reach the other process as pickles.
        spec, lsh = Spec.of(shingle="chars:7"), Lsh()
        lsh.insert_many(range(300), texts)
        assert pool.apply(str, (spec,)) == str(spec)
        assert pool.apply(len, (lsh,)) == 300
        assert pool.apply(len, (Spec().sketch(texts),)) == 300
        assert pool.apply(len, (minwise.dedup(texts),)) == 300


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_another_thread_works(many: list[str]) -> None:
    expected = deduplicated(many[:500])
    worker = threading.Thread(target=minwise.dedup, args=(many,))
    worker.start()
    try:
        process = os.fork()
        if process == 0:
            os._exit(0 if deduplicated(many[:500]) == expected else 1)
        _, status = os.waitpid(process, 0)
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        worker.join()


def test_threads_run_at_once(many: list[str]) -> None:
    """Other Python threads continue during a run, because the run releases the interpreter's lock."""
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    clock = threading.Thread(target=tick)
    clock.start()
    began = time.monotonic()
    minwise.dedup(many, threads=1)
    elapsed = time.monotonic() - began
    done.set()
    clock.join()
    # If the run held the lock, there would be only a few ticks.
    assert len(ticks) > elapsed / 0.1
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        results = list(pool.map(deduplicated, [many[:2000]] * 4))
    assert all(result == results[0] for result in results)


def test_a_list_that_another_thread_changes() -> None:
    texts = generated(2000)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            texts.append("more " * 9)
            texts.pop(0)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(5):
            minwise.dedup(texts)
            Spec().sketch(texts)
    finally:
        stop.set()
        thread.join()


def test_asyncio(many: list[str]) -> None:
    async def main() -> tuple[Any, int]:
        beats = 0
        task = asyncio.create_task(asyncio.to_thread(minwise.dedup, many, threads=1))
        while not task.done():
            beats += 1
            await asyncio.sleep(0.01)
        return await task, beats

    result, beats = asyncio.run(main())
    assert beats >= 2 and len(result) == len(many)
