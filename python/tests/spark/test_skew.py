"""Tests of crowds: the decisions are those of the command, and the job needs few rounds and not many more pairs than
the command.
"""

from __future__ import annotations

import json
import logging
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import minwise.spark
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import LARGE, STATED, Command, assert_same, decided_by, family, forms, one_shelf, rows_of
from minwise.spark import _settings, _tasks, _verify, _work
from pyspark.errors import UnsupportedOperationException

BLOCKS = {"_asking": 4, "_pairs": 2_000}


def check(spark: Any, command: Command, work: Path, texts: list[str], **given: Any) -> dict[str, Any]:
    rows = rows_of(texts)
    expected, summary = command.dedup(rows)
    # The rows are written to a file first, because Spark Connect would send a million rows in one message.
    source = work.with_suffix(".parquet")
    pq.write_table(pa.Table.from_pylist(rows), source, row_group_size=10_000)
    df = spark.read.parquet(str(source))
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(work), audit="off", _here=0, _rest=0, **given)
    assert_same(decided_by(result), expected)
    counts: dict[str, Any] = result.summary.as_dict()
    print(len(texts), {name: counts[name] for name in ("rounds", "candidates", "compared", "largest_shelf")}, summary["candidates"])
    assert counts["rounds"] <= 12
    assert counts["candidates"] <= 3 * summary["candidates"]
    return counts


@pytest.mark.parametrize("limits", [{}, BLOCKS], ids=["listed", "blocks"])
def test_one_family(sail: Any, command: Command, tmp_path: Path, limits: dict[str, int]) -> None:
    assert check(sail, command, tmp_path / "work", family(3_000), **limits)["largest_shelf"] > 500


@pytest.mark.parametrize("limits", [{}, BLOCKS], ids=["listed", "blocks"])
def test_one_form(sail: Any, command: Command, tmp_path: Path, limits: dict[str, int]) -> None:
    assert check(sail, command, tmp_path / "work", forms(2_000, shared=80, own=20), **limits)["largest_shelf"] > 100


@pytest.mark.parametrize("limits", [{}, BLOCKS], ids=["listed", "blocks"])
def test_one_shelf_with_every_document(sail: Any, command: Command, tmp_path: Path, limits: dict[str, int]) -> None:
    counts = check(sail, command, tmp_path / "work", one_shelf(1_500), **limits)
    assert counts["largest_shelf"] > 300
    # If `limits` makes blocks, parity bits rule out nearly all pairs of the shelf. Sketches rule out few of them.
    assert not limits or counts["compared"] < counts["candidates"] / 100


def buckets_of(
    sail: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, texts: list[str], pairs: list[tuple[int, int]], screened: bool
) -> list[tuple[int, int]]:
    """Compares pairs of texts. Returns the number of texts and their bytes in each bucket.

    If `screened` is true, the sizes of texts come with the pairs, as in a round. Otherwise they are read with the texts.
    """
    ranks = [bytearray([1]) + number.to_bytes(3, "big") for number in range(len(texts))]
    columns = [(rank, text, len(text)) for rank, text in zip(ranks, texts)]
    work = _work.Work(sail, str(folder), {}, True)
    job = _tasks.Job(json.dumps(_settings.plan({})))
    work.save(sail.createDataFrame(columns, "rank binary, text string, size bigint").selectExpr("*", "cast(null as binary) as sketch"), "texts")
    rows = sail.createDataFrame([(ranks[a], ranks[c], len(texts[a]) + len(texts[c])) for a, c in pairs], _tasks.SCREENED)
    similar, found = _verify.similar, []

    def counted(work: Any, job: Any, pairs: Any, texts: Any, buckets: int, *more: Any) -> Any:
        own = [row.asDict() for row in texts.selectExpr("bucket", "length(text) as size").collect()]
        # Buckets are numbered from 0, because the number of a bucket is the number of its task.
        assert {row["bucket"] for row in own} == set(range(buckets))
        found.extend([row["size"] for row in own if row["bucket"] == bucket] for bucket in range(buckets))
        return similar(work, job, pairs, texts, buckets, *more)

    monkeypatch.setattr(_verify, "similar", counted)
    given = rows if screened else rows.select("a", "c")
    assert _verify.compare(work, job, given, "found", all=True) == {"screened": len(pairs), "similar": len(pairs)}
    return [(len(sizes), sum(sizes)) for sizes in found]


@pytest.mark.parametrize("screened", [True, False], ids=["screened", "texts"])
def test_pairs_of_one_document_are_divided_by_bytes(
    sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screened: bool
) -> None:
    """A document that is compared with many long texts does not make one large bucket, even if its pairs are few."""
    texts = [" ".join(f"w{number}x{at}" for at in range(150)) for number in range(200)]
    most = 40 * max(map(len, texts))
    monkeypatch.setattr(_verify, "BUCKET_BYTES", most)
    found = buckets_of(sail, tmp_path / "work", monkeypatch, texts, [(number, 199) for number in range(199)], screened)
    # Each bucket has some of the 199 texts, and the text of the last document.
    assert sum(number for number, _ in found) == 199 + len(found) and len(found) < 12
    assert max(size for _, size in found) <= most


@pytest.mark.parametrize("grouped", [1, 16])
def test_buckets_are_cut_by_the_sizes_of_their_texts(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grouped: int) -> None:
    """Among very many pairs of short texts, one document is compared with long texts. An average text is short, so an
    average would put all long texts into one bucket.
    """
    source = random.Random(41)
    short, long = 400, 40
    texts = [" ".join(f"s{number}x{at}" for at in range(6)) for number in range(short)]
    texts += [" ".join(f"l{number}x{at}" for at in range(source.randrange(100, 2_000))) for number in range(long)]
    texts.append(" ".join(f"e{at}" for at in range(100)))
    pairs = list({(a, c) for a, c in (sorted(source.sample(range(short), 2)) for _ in range(4_000))})
    pairs += [(number, short + long) for number in range(short, short + long)]
    largest = 2 * max(map(len, texts))
    most = 3 * largest
    monkeypatch.setattr(_verify, "BUCKET_BYTES", most)
    monkeypatch.setattr(_verify, "GROUPED_BUCKETS", grouped)
    found = buckets_of(sail, tmp_path / "work", monkeypatch, texts, pairs, screened=True)
    assert len(found) > 4 and max(size for _, size in found) <= most + largest
    # The average that was used before puts all long texts into one bucket.
    total = sum(len(texts[a]) + len(texts[c]) for a, c in pairs)
    assert long * total < len(pairs) * most < sum(map(len, texts[short:])) * len(pairs)


def test_buckets_are_cut_by_the_number_of_pairs(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_verify, "BUCKET_PAIRS", 30)
    texts = [f"t{number}" for number in range(200)]
    found = buckets_of(sail, tmp_path / "work", monkeypatch, texts, [(number, 199) for number in range(199)], screened=True)
    # Each bucket also has the text of the last document.
    pairs = [number - 1 for number, _ in found]
    assert len(pairs) == 7 and sum(pairs) == 199 and max(pairs) == 30 and min(pairs[:-1]) >= 29


def test_only_missing_calls_are_worked_around(caplog: pytest.LogCaptureFixture) -> None:
    """If the engine lacks the call that chooses the tasks of buckets, rows are returned as they are, and a note is logged.
    Another error is raised.
    """

    class Rows:
        def __init__(self, error: Exception) -> None:
            self.error = error

        def repartitionById(self, buckets: int, column: str) -> Any:
            raise self.error

    for error in (AttributeError("repartitionById"), UnsupportedOperationException("direct shuffle")):
        work: Any = SimpleNamespace(numbers_tasks=None)
        rows = Rows(error)
        with caplog.at_level(logging.INFO, logger="minwise.spark"):
            assert _verify.in_tasks(work, rows, 3) is rows and work.numbers_tasks is False
        assert str(error) in caplog.messages[-1]
    work = SimpleNamespace(numbers_tasks=None)
    with pytest.raises(ConnectionError):
        _verify.in_tasks(work, Rows(ConnectionError("lost")), 3)
    assert work.numbers_tasks is None


@pytest.mark.long
@pytest.mark.parametrize("name, limits", STATED)
def test_stated_sizes(sail: Any, command: Command, tmp_path: Path, name: str, limits: dict[str, int]) -> None:
    make, count, least = LARGE[name]
    assert check(sail, command, tmp_path / "work", make(count), **limits)["largest_shelf"] > least
