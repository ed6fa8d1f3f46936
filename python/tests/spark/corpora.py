"""Corpora that both the job and the command deduplicate, and a class that runs the command."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import pytest

ROOT = Path(__file__).resolve().parents[3]


def generated(count: int, seed: int = 3, words: int = 40) -> list[str]:
    """Returns random texts, of which 20 % are copies of earlier texts and 20 % are near-copies."""
    source = random.Random(seed)
    texts: list[str] = []
    for number in range(count):
        if number % 5 == 3:
            texts.append(source.choice(texts))
        elif number % 5 == 4:
            parts = source.choice(texts).split()
            parts[source.randrange(len(parts))] = f"x{source.randrange(9)}"
            texts.append(" ".join(parts))
        else:
            texts.append(" ".join(f"w{source.randrange(900)}" for _ in range(words)))
    return texts


def chains(count: int, length: int) -> list[str]:
    """Returns chains of revisions of a text. Each revision differs from the previous one in one word."""
    source = random.Random(7)
    texts = []
    for chain in range(count):
        parts = [f"c{chain}w{source.randrange(10_000)}" for _ in range(60)]
        for _ in range(length):
            parts[source.randrange(len(parts))] = f"c{chain}r{source.randrange(10_000)}"
            texts.append(" ".join(parts))
    source.shuffle(texts)
    return texts


def copies(count: int) -> list[str]:
    """Returns copies of one text: 25 % equal it, and nearly all others are near-duplicates that differ from it in one
    word.

    Of the copies that are not equal, 0.1 % differ in up to eight words.
    """
    source = random.Random(37)
    base = [f"b{number}" for number in range(80)]
    texts = []
    for number in range(count):
        parts = list(base)
        for _ in range(0 if number % 4 == 3 else 8 if source.randrange(1_000) == 0 else 1):
            parts[source.randrange(len(parts))] = f"y{source.randrange(10**6)}"
        texts.append(" ".join(parts))
    return texts


def family(count: int) -> list[str]:
    """Returns many variants of one text. Half of them are not similar to the first variant."""
    source = random.Random(11)
    base = [f"b{number}" for number in range(80)]
    texts = []
    for _ in range(count):
        parts = list(base)
        for _ in range(source.randrange(4)):
            parts[source.randrange(len(parts))] = f"y{source.randrange(40)}"
        texts.append(" ".join(parts))
    return texts


def forms(count: int, shared: int = 60, own: int = 30) -> list[str]:
    """Returns texts that are one form, filled in differently. Few of them are similar."""
    source = random.Random(13)
    form = " ".join(f"f{number}" for number in range(shared))
    texts = []
    for number in range(count):
        if number % 10 == 9:
            texts.append(texts[source.randrange(len(texts))] + " again")
        else:
            texts.append(form + " " + " ".join(f"v{source.randrange(50_000)}" for _ in range(own)))
    return texts


def one_shelf(count: int) -> list[str]:
    """Returns texts that share one half, so that they share shelves. No two of them are similar."""
    source = random.Random(19)
    half = " ".join(f"h{number}" for number in range(100))
    return [half + " " + " ".join(f"o{source.randrange(10**6)}" for _ in range(25)) for _ in range(count)]


#: Large corpora with crowds: the function, the number of texts, and a lower bound of the documents on the largest
#: shelf.
LARGE = {"copies": (copies, 1_000_000, 300_000), "forms": (forms, 100_000, 1_000), "one_shelf": (one_shelf, 100_000, 20_000), "family": (family, 100_000, 20_000)}
#: Large corpora with the limits of the job: the driver chooses the pairs of each, and tasks those of the forms and of the
#: texts that share one half.
STATED = [*(pytest.param(name, {}, id=name) for name in LARGE), *(pytest.param(name, {"_driver": 0}, id=f"{name}-tasks") for name in ("forms", "one_shelf"))]


def odd() -> list[str]:
    """Returns short and empty texts, and texts with unusual characters."""
    source = random.Random(5)
    pieces = ["", " ", "a", "Ä", "ﬁ", "\u200b", "日本語の文章", "é", "e\u0301", "😀", "\ufffd", "a b", "\n", "\u2028"]
    return ["".join(source.choice(pieces) for _ in range(source.randrange(12))) for _ in range(200)]


def articles() -> list[str]:
    lines = (ROOT / "examples/articles.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


CORPORA = {
    "articles": articles,
    "odd": odd,
    "generated": lambda: generated(400),
    "chains": lambda: chains(4, 50),
    "family": lambda: family(400),
    "forms": lambda: forms(400),
}


def rows_of(texts: list[str]) -> list[dict[str, Any]]:
    return [{"id": f"d{number}", "text": text, "row": number} for number, text in enumerate(texts)]


Decided = dict[str, tuple[str, float]]


class Command:
    """Runs the `minwise` command. The environment variable `MINWISE` has its path."""

    def __init__(self, folder: Path) -> None:
        self.program = os.environ.get("MINWISE", str(ROOT / "target/debug/minwise"))
        self.folder = folder
        self.runs = 0

    def __call__(self, *words: Any) -> str:
        done = subprocess.run([self.program, *map(str, words)], capture_output=True, text=True, encoding="utf-8")
        if done.returncode not in (0, 2):
            raise AssertionError(done.stderr)
        return done.stdout

    def write(self, rows: list[dict[str, Any]]) -> Path:
        self.runs += 1
        path = self.folder / f"in-{self.runs}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="ascii")
        return path

    def dedup(self, rows: list[dict[str, Any]], *words: Any) -> tuple[Decided, dict[str, Any]]:
        """Deduplicates rows with the command. Returns its decisions and its summary."""
        path = self.write(rows)
        report = self.folder / f"report-{self.runs}"
        self("dedup", path, "--output", self.folder / f"out-{self.runs}.jsonl", "--report", report, *words)
        decided: Decided = {}
        for line in (report / "pairs.tsv").read_text(encoding="utf-8").splitlines():
            id, of, similarity = line.split("\t")
            decided[id] = (of, float(similarity))
        summary: dict[str, Any] = json.loads((report / "summary.json").read_text(encoding="utf-8"))
        return decided, summary


def decided_by(result: Any) -> Decided:
    table = result.decisions.toArrow().to_pylist()
    found = {row["id"]: (row["duplicate_of"], row["similarity"]) for row in table}
    assert len(found) == len(table), "each row is decided once"
    return found


#: Fields of a summary that are None, because the job does not compute them.
UNCOUNTED = ("expected_recall", "expected_recall_low", "filter_compared", "filter_registers", "repaired")
#: Fields of a summary that differ from those of the command, because they depend on the compared pairs and on the form
#: of the input.
OTHERS = ("candidates", "filtered", "compared", "verified", "bytes")


def assert_same_summary(of: Any, expected: dict[str, Any]) -> None:
    """Checks that the summary of a job has all fields of the command's summary, with the same values."""
    assert isinstance(of, minwise.Summary)
    fields = of.as_dict()
    assert all(fields[name] is None for name in UNCOUNTED)
    assert all(fields[name] >= 0 for name in OTHERS)
    same = [name for name in minwise.Summary.__annotations__ if name not in (*UNCOUNTED, *OTHERS, "audit")]
    others = {name: (fields[name], expected[name]) for name in same if fields[name] != expected[name]}
    assert not others, others
    # One of the two may have been run without an audit.
    if fields["audit"] is not None and expected["audit"] is not None:
        assert fields["audit"] == pytest.approx(expected["audit"])
    assert json.loads(json.dumps(fields)) == fields and pickle.loads(pickle.dumps(of)) == of


def assert_same(found: Decided, expected: Decided) -> None:
    assert set(found) == set(expected)
    for id, (of, similarity) in expected.items():
        assert found[id][0] == of, id
        # The tolerance is needed because reports round to six digits.
        assert abs(found[id][1] - similarity) < 1e-6, id


#: Columns of all kinds that can order rows, as expressions of a row number `n`.
KINDS = {
    "date": "date_add(date'1969-12-30', cast(n / 9 as int))",
    "truth": "n % 2 = 0",
    "time": "timestamp_micros(cast(n as bigint) * 1000003)",
    "local": "cast(timestamp_micros(cast(n as bigint) * 1000003) as timestamp_ntz)",
    "decimal": "cast(n as decimal(12, 3))",
    "float": "cast(n as float)",
    "text_of": "cast(n as string)",
    "bytes": "cast(cast(n as string) as binary)",
    "missing": "if(n % 3 = 0, null, n)",
}


def check_second_reading(spark: Any, work: Path) -> None:
    """Checks a job with references whose order has columns of all kinds: both readings must make the same rank keys. The
    folder of the job is a URL.
    """
    texts, columns = generated(60), [f"{value} as `{name}`" for name, value in KINDS.items()]
    df = spark.createDataFrame([(text, number) for number, text in enumerate(texts)], "text string, n int").selectExpr("text", "n", *columns)
    settings: dict[str, Any] = {"text": "text", "order_by": list(KINDS), "keep": "newest:time", "audit": "off"}
    result = minwise.spark.dedup(df.where("n >= 20"), against=df.where("n < 20"), work=work.as_uri(), **settings)
    expected = minwise.dedup(texts[20:][::-1], against=texts[:20])
    assert (work / "decisions").exists() and not (work / "texts").exists()
    assert [row["n"] for row in result.kept.select("n").orderBy("n").collect()] == [59 - at for at, stays in enumerate(expected.kept_mask) if stays][::-1]
    assert 0 < result.summary.removed == expected.summary.removed
