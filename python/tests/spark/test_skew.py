"""Tests of crowds: the decisions are those of the command, and the job needs few rounds and not many more pairs than
the command.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import minwise.spark
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import LARGE, Command, assert_same, decided_by, family, forms, one_shelf, rows_of
from minwise.spark import _settings, _tasks, _verify, _work

BLOCKS = {"_asking": 4, "_pairs": 2_000}


def check(spark: Any, command: Command, work: Path, texts: list[str], **given: Any) -> dict[str, Any]:
    rows = rows_of(texts)
    expected, summary = command.dedup(rows)
    # The rows are written to a file first, because Spark Connect would send a million rows in one message.
    source = work.with_suffix(".parquet")
    pq.write_table(pa.Table.from_pylist(rows), source, row_group_size=10_000)
    df = spark.read.parquet(str(source))
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(work), audit="off", _here=0, **given)
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
    # With blocks, parity bits rule out nearly all of these pairs. Sketches rule out few of them.
    assert not limits or counts["compared"] < counts["candidates"] / 100


def test_pairs_of_one_document_are_divided_by_bytes(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document that is compared with many long texts does not make one large bucket, even if its pairs are few."""
    texts = [" ".join(f"w{number}x{at}" for at in range(150)) for number in range(200)]
    ranks = [bytes([1]) + number.to_bytes(3, "big") for number in range(len(texts))]
    columns = [(bytearray(rank), text, len(text)) for rank, text in zip(ranks, texts)]
    job = _tasks.Job(json.dumps(_settings.plan({})))
    work = _work.Work(sail, str(tmp_path / "work"), {}, True)
    work.save(sail.createDataFrame(columns, "rank binary, text string, size bigint").selectExpr("*", "cast(null as binary) as sketch"), "texts")
    pairs = sail.createDataFrame([(bytearray(rank), bytearray(ranks[-1])) for rank in ranks[:-1]], "a binary, c binary")
    similar, buckets = _verify.similar, []

    def counted(work: Any, job: Any, pairs: Any, texts: Any, *more: Any) -> Any:
        buckets.extend(row["texts"] for row in texts.groupBy("bucket").agg({"text": "count"}).toDF("bucket", "texts").collect())
        return similar(work, job, pairs, texts, *more)

    monkeypatch.setattr(_verify, "similar", counted)
    monkeypatch.setattr(_verify, "BUCKET_BYTES", 40 * len(texts[0]))
    assert _verify.compare(work, job, pairs, "found", all=True) == {"screened": len(ranks) - 1, "similar": len(ranks) - 1}
    # A bucket has 20 pairs on average: 40 texts by the estimate, which counts the later text of each pair.
    assert sum(buckets) == len(ranks) - 1 + len(buckets) and max(buckets) < 80


@pytest.mark.long
@pytest.mark.parametrize("name", LARGE)
def test_stated_sizes(sail: Any, command: Command, tmp_path: Path, name: str) -> None:
    make, count, least = LARGE[name]
    assert check(sail, command, tmp_path / "work", make(count))["largest_shelf"] > least
