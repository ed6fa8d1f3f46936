"""Measures the package beside datasketch, rensa and gaoya, and beside the command, in one run.

    python bench.py MINWISE CORPUS [--check]

MINWISE is the path of the command. CORPUS is a file of JSON lines with `text`, plain or compressed by zstd (the program
`zstd` decompresses it). Times are CPU seconds of this process and its children, the smallest of five runs. Minwise gets
the texts. rensa and datasketch get tokens that were cut before the measurement, because cutting in Python takes longer
than sketching. With `--check`, the program fails if a value misses the bound that its line states.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import minwise

SKETCHED = 5_000
DEDUPLICATED = 20_000
INDEXED = 3_000


def cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def least(work: Callable[[], Any], turns: int = 5) -> float:
    best = float("inf")
    for _ in range(turns):
        began = cpu()
        work()
        best = min(best, cpu() - began)
    return best


def documents(command: str, path: str, count: int) -> list[str]:
    """Returns the first `count` texts of a corpus. The program `zstd` decompresses a compressed corpus."""
    if not path.endswith(".zst"):
        with open(path, encoding="utf-8") as lines:
            return [json.loads(line)["text"] for _, line in zip(range(count), lines)]
    with subprocess.Popen(["zstd", "-dc", path], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        texts = [json.loads(line)["text"] for _, line in zip(range(count), program.stdout)]
        program.terminate()
    return texts


class Table:
    def __init__(self) -> None:
        self.failed = 0

    def line(self, name: str, value: float, unit: str, floor: float, above: bool = True) -> None:
        holds = value >= floor if above else value <= floor
        self.failed += not holds
        relation = "at least" if above else "at most"
        print(f"{name:<62}{value:>10.2f} {unit:<16}{relation} {floor:g}{'' if holds else '   MISSED'}", flush=True)


def main(command: str, corpus: str, *flags: str) -> int:
    texts = documents(command, corpus, DEDUPLICATED)
    some = texts[:SKETCHED]
    megabytes = sum(len(text.encode()) for text in some) / 1e6
    print(f"{len(some)} documents, {megabytes:.1f} MB, one thread; CPU seconds, the least of five turns\n")
    table = Table()
    spec = minwise.Spec()
    ours = least(lambda: spec.sketch(some, threads=1))
    table.line("sketch a list of str", megabytes / ours, "MB per CPU s", 500)

    import pyarrow

    column = pyarrow.array(some)
    table.line("sketch a pyarrow column", megabytes / least(lambda: spec.sketch(column, threads=1)), "MB per CPU s", 500)

    tokens = [text.split() for text in some]
    encoded = [[token.encode() for token in words] for words in tokens]
    import datasketch
    import gaoya
    import rensa

    theirs = least(lambda: datasketch.MinHash.bulk(encoded, num_perm=128))
    table.line("datasketch bulk, tokens ready, against ours", theirs / ours, "times", 60)

    def with_rensa() -> None:
        for words in tokens:
            rensa.RMinHash(num_perm=128, seed=1).update(words)

    table.line("rensa RMinHash, tokens ready, against ours", least(with_rensa) / ours, "times", 1.5)

    def with_gaoya() -> None:
        index = gaoya.minhash.MinHashStringIndex(hash_size=32, jaccard_threshold=0.8, num_bands=16, band_size=8, analyzer="word", ngram_range=(5, 5))
        for number, text in enumerate(some):
            index.insert_document(number, text)

    table.line("gaoya with its index, against ours", least(with_gaoya) / ours, "times", 10)

    began = time.process_time()
    five = ["five words are in here"]
    for _ in range(200_000):
        spec.sketch(five)
    table.line("a call with five words", (time.process_time() - began) / 200_000 * 1e6, "µs", 1.0, above=False)

    # Sketches for the index in memory are made before the measurement, because only the index is measured.
    theirs_sketches = datasketch.MinHash.bulk(encoded[:INDEXED], num_perm=128)
    our_sketches = spec.sketch(some[:INDEXED])
    rows = [our_sketches[number] for number in range(INDEXED)]

    def their_index() -> None:
        lsh = datasketch.MinHashLSH(num_perm=128, params=(16, 8))
        for number, sketch in enumerate(theirs_sketches):
            lsh.insert(number, sketch)
            lsh.query(sketch)

    def our_index() -> None:
        lsh = minwise.Lsh(bands=16, rows=8)
        for number, sketch in enumerate(rows):
            lsh.insert(number, sketch)
            lsh.query(sketch)

    def their_many() -> None:
        lsh = datasketch.MinHashLSH(num_perm=128, params=(16, 8))
        with lsh.insertion_session() as session:
            for number, sketch in enumerate(theirs_sketches):
                session.insert(number, sketch)

    def our_many() -> None:
        minwise.Lsh(bands=16, rows=8).insert_many(range(INDEXED), our_sketches, threads=1)

    table.line("MinHashLSH insert and query, against Lsh one by one", least(their_index) / least(our_index), "times", 10)
    table.line("MinHashLSH insertion session, against insert_many", least(their_many) / least(our_many), "times", 50)

    # A whole run of the package is compared with a run of the command on the same documents.
    whole = pyarrow.table({"text": texts})
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            for text in texts:
                file.write(json.dumps({"text": text}, ensure_ascii=False) + "\n")
        words = [command, "dedup", path, "-o", os.path.join(folder, "out.jsonl"), "--force", "--quiet", "--threads", "2", "--audit", "off"]
        of_command = least(lambda: subprocess.run(words, check=True))
        kept = sum(1 for _ in open(os.path.join(folder, "out.jsonl"), "rb"))
    results: list[Any] = []
    of_package = least(lambda: results.append(minwise.dedup(whole, threads=2, audit="off").kept.num_rows))
    assert set(results) == {kept}, (results, kept)
    table.line("dedup of a pyarrow table, against the command", of_package / of_command, "times its CPU", 1.3, above=False)
    print(f"\n{len(texts)} documents, {kept} kept by both; the command took {of_command:.2f} CPU s, the package {of_package:.2f}")
    return 1 if table.failed and "--check" in flags else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
