"""Progress, cancelling, Ctrl-C, threads, processes and asyncio."""

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
from pathlib import Path
from typing import Any

import numpy
import pytest
from conftest import generated

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
    began = time.monotonic()
    with pytest.raises(minwise.Cancelled):
        minwise.dedup(many, cancel=lambda: True)
    assert time.monotonic() - began < 10
    with pytest.raises(minwise.Cancelled):
        minwise.dedup(iter(many), cancel=lambda: True, temp_dir=tmp_path)
    assert os.listdir(tmp_path) == []
    # From another thread, where signals do not arrive.
    stop = threading.Event()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        future = pool.submit(minwise.dedup, many, cancel=stop.is_set)
        stop.set()
        with pytest.raises(minwise.Cancelled):
            future.result(30)


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_stops_soon_and_leaves_nothing_behind(tmp_path: Path) -> None:
    temporary, output = tmp_path / "temporary", tmp_path / "out.jsonl"
    temporary.mkdir()
    code = """
import sys, time, minwise, json
sys.path.insert(0, sys.argv[1])
from conftest import generated
texts = generated(60000)
if sys.argv[4] == "files":
    with open(sys.argv[5], "w") as file:
        for text in texts:
            file.write(json.dumps({"text": text}) + "\\n")
def progress(*_):
    print("go", flush=True)
try:
    if sys.argv[4] == "files":
        minwise.dedup_files(sys.argv[5], sys.argv[3], temp_dir=sys.argv[2], progress=progress, threads=1)
    else:
        minwise.dedup((text for text in texts), temp_dir=sys.argv[2], progress=progress, threads=1)
    print("done", flush=True)
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""
    for kind in ("memory", "files"):
        best = 99.0
        for _ in range(3):
            words = [str(Path(__file__).parent), str(temporary), str(output), kind, str(tmp_path / "in.jsonl")]
            child = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, text=True, cwd=tmp_path)
            assert child.stdout is not None
            assert child.stdout.readline() == "go\n"
            sent = time.time()
            child.send_signal(signal.SIGINT)
            with child:
                lines = [line for line in child.stdout.read().splitlines() if line != "go"]
            assert child.returncode == 0
            assert lines and lines[0] != "done", "the run was over too soon"
            best = min(best, float(lines[0]) - sent)
            assert os.listdir(temporary) == [] and not output.exists()
        assert best <= 0.2, kind


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
    # Threads of this process have run before it forks.
    expected = sketched(texts), deduplicated(texts)
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        assert pool.map(sketched, [texts, texts]) == [expected[0]] * 2
        assert pool.map(deduplicated, [texts]) == [expected[1]]
        # Objects travel by pickle.
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
    """Other threads of Python go on during a run: the interpreter's lock is let go of."""
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
    # A lock that was held would leave a few ticks.
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
