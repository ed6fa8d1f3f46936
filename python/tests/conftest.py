"""Fixtures of all tests: corpora, and the command, with whose answers tests compare those of the package."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def command() -> Any:
    """Returns a function that runs the command and returns its output.

    The environment variable `MINWISE` has the path of the command.
    """
    program = os.environ.get("MINWISE", str(ROOT / "target/debug/minwise"))
    if not os.path.exists(program):
        pytest.fail(f"there is no command {program}: build it with `cargo build`, or name it in MINWISE")

    def run(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, encoding="utf-8")
        if check and done.returncode not in (0, 2):
            raise AssertionError(done.stderr)
        return done

    return run


def generated(count: int, seed: int = 3) -> list[str]:
    """Returns random texts, of which 20 % are copies of earlier texts and 20 % are near-copies."""
    source = random.Random(seed)
    texts: list[str] = []
    for number in range(count):
        words = " ".join(f"w{source.randrange(900)}" for _ in range(40))
        if number % 5 == 3:
            texts.append(source.choice(texts))
        elif number % 5 == 4:
            texts.append(f"{source.choice(texts)} and {source.randrange(9)}")
        else:
            texts.append(words)
    return texts


def odd(count: int) -> list[str]:
    """Returns short and empty texts, and texts with unusual characters."""
    source = random.Random(5)
    pieces = ["", " ", "a", "Ä", "ﬁ", "\u200b", "日本語の文章", "é", "e\u0301", "\x00", "😀", "\ufffd", "a b", "\n", "\u2028"]
    return ["".join(source.choice(pieces) for _ in range(source.randrange(12))) for _ in range(count)]


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return generated(120)


@pytest.fixture(scope="session")
def articles() -> list[dict[str, Any]]:
    lines = (ROOT / "examples/articles.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def letters() -> list[str]:
    files = sorted(path for path in (ROOT / "examples/letters").rglob("*") if path.suffix in (".txt", ".md"))
    return [path.read_text(encoding="utf-8", errors="replace") for path in files]


CORPORA = {
    "articles": lambda: [
        json.loads(line)["text"]
        for line in (ROOT / "examples/articles.jsonl").read_text(encoding="utf-8").splitlines()
    ],
    "letters": letters,
    "generated": lambda: generated(300),
    "odd": lambda: odd(200),
}


@pytest.fixture(params=CORPORA)
def corpus(request: pytest.FixtureRequest) -> list[str]:
    texts: list[str] = CORPORA[request.param]()
    return texts


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
    return path


def waited() -> float:
    """Returns the seconds in which any program of this machine waited for a processor, as counted by Linux; 0 on other
    systems.
    """
    try:
        with open("/proc/pressure/cpu", encoding="ascii") as lines:
            return int(lines.readline().rpartition("=")[2]) / 1e6
    except OSError:
        return 0.0


def read_texts(path: str, size: int = 1) -> list[str]:
    """Returns the texts of a file with one text per line.

    If `size` is above 1, returns `size` near-copies of each text instead.
    """
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return lines if size == 1 else [f"{line} {copy}" for copy in range(size) for line in lines]


def delays() -> dict[str, float]:
    """Returns the seconds that each thread of this process was ready to run but waited for a processor, as counted by
    Linux.
    """
    found = {}
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/schedstat", encoding="ascii") as file:
                found[thread] = int(file.read().split()[1]) / 1e9
    except OSError:
        pass
    return found


class Stopwatch:
    """Measures the seconds that this process needs for some work, on a machine that may be busy with other work.

    Two upper bounds are computed, and the smaller bound is returned. The first bound is the elapsed time minus the time
    in which any program waited for a processor, but at least the processor time of this process. The first bound is too
    large if one thread continues to work while the thread that would stop it waits for a processor. The second bound is
    the elapsed time minus the time in which the threads of this process waited. The second bound misses the waiting
    time of threads that have ended. If a processor is free, both bounds are the elapsed time."""

    def __init__(self) -> None:
        self.began = time.monotonic(), time.process_time(), waited()
        self.delays = delays()

    def seconds(self) -> float:
        elapsed, worked, idle = (now - then for now, then in zip((time.monotonic(), time.process_time(), waited()), self.began))
        delayed = sum(delay - self.delays.get(thread, 0.0) for thread, delay in delays().items())
        return min(max(worked, elapsed - idle), elapsed - delayed)
