"""The audit, tables of results, the report, and what the job logs."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import pytest
from corpora import Command, assert_same, chains, decided_by, family, generated, rows_of
from minwise.spark import _audit


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return rows_of(generated(120) + chains(2, 30) + family(50))


def test_the_audit_measures_the_recall(sail: Any, command: Command, tmp_path: Path, rows: Any) -> None:
    """All pairs, without bands, are what the audit of every document finds."""
    every = command("pairs", command.write(rows), "--candidates", "all").splitlines()
    texts = {row["id"]: row["text"] for row in rows}
    first = {}
    for row in rows:
        first.setdefault(minwise.Spec().shingles(row["text"]).tobytes(), row["id"])
    distinct = set(first.values())
    pairs = [line.split("\t") for line in every]
    expected = [(a, b) for a, b, _ in pairs if a in distinct and b in distinct]
    df = sail.createDataFrame(rows)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "bands": 3, "rows": 12}
    result = minwise.spark.dedup(df, work=str(tmp_path / "a"), audit=len(texts), **settings)
    audit = result.summary["audit"]
    assert audit["documents"] == len(distinct)
    assert audit["pairs"] == len(expected)
    sketches = minwise.Spec().sketch([row["text"] for row in rows]).band_keys(3, 12)
    at = {row["id"]: number for number, row in enumerate(rows)}
    found = sum((sketches[at[a]] == sketches[at[b]]).any() for a, b in expected)
    assert audit["found"] == found < audit["pairs"]
    assert audit["low"] < audit["recall"] == found / len(expected) < audit["high"]
    # A sample says about the same, and the same in every run.
    sampled = minwise.spark.dedup(df, work=str(tmp_path / "b"), audit=40, **settings).summary["audit"]
    assert sampled["documents"] == 40 and 0 < sampled["pairs"] < audit["pairs"]
    assert sampled == minwise.spark.dedup(df, work=str(tmp_path / "c"), audit=40, **settings).summary["audit"]
    assert "audit" not in minwise.spark.dedup(df, work=str(tmp_path / "d"), audit="off", **settings).summary
    with pytest.raises(minwise.SettingError, match="`audit`"):
        minwise.spark.dedup(df, work=str(tmp_path / "e"), audit="many", **settings)


def test_intervals() -> None:
    assert _audit.interval(0, 0) == (0.0, 1.0)
    # Brown, Cai and DasGupta, Interval estimation for a binomial proportion, 2001: the interval of Wilson.
    low, high = _audit.interval(81, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert _audit.size("auto", 10) == 10 and _audit.size("off", 10) == 0
    assert _audit.size("auto", 10**9) == 2 and _audit.size(5, 3) == 3


def test_tables_and_summary(sail: Any, command: Command, tmp_path: Path, rows: Any, caplog: pytest.LogCaptureFixture) -> None:
    expected, summary = command.dedup(rows)
    with caplog.at_level(logging.INFO, logger="minwise.spark"):
        result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"))
    assert_same(decided_by(result), expected)
    same = {"read": "read", "kept": "kept", "removed": "removed", "equal": "removed_equal", "clusters": "clusters", "rejected": "rejected"}
    assert {name: result.summary[name] for name in same} == {name: summary[other] for name, other in same.items()}
    clusters = {row["id"]: row for row in result.clusters.collect()}
    for id in {of for of, _ in expected.values()}:
        similarities = [similarity for of, similarity in expected.values() if of == id]
        assert clusters[id]["documents"] == len(similarities) + 1
        assert abs(clusters[id]["least_similarity"] - min(similarities)) < 1e-6
    assert len(clusters) == summary["clusters"]
    assert repr(result) == f"Result(read={len(rows)}, kept={summary['kept']}, removed={summary['removed']}, rejected=0)"
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("executors: minwise ") and "kernel" in line for line in lines)
    rounds = [line for line in lines if line.startswith("round ")]
    assert len(rounds) == result.summary["rounds"] and all("pairs asked" in line for line in rounds)


def test_the_report_of_a_sample(sail: Any, tmp_path: Path, rows: Any) -> None:
    result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"))
    result.report(tmp_path / "report", clusters=3)
    pairs = (tmp_path / "report/pairs.tsv").read_text(encoding="utf-8").splitlines()
    decided = decided_by(result)
    assert pairs and all(decided[line.split("\t")[0]][0] == line.split("\t")[1] for line in pairs)
    assert "<html" in (tmp_path / "report/index.html").read_text(encoding="utf-8")
    ignoring = minwise.spark.dedup(
        sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "ignoring"), ignore_text=["b1 b2 b3 b4 b5"]
    )
    with pytest.raises(minwise.SettingError, match="report"):
        ignoring.report(tmp_path / "other")


def test_the_summary_in_words() -> None:
    """Counts that are 0 or 1, an audit that measured little, marks, and clusters that were spared."""
    from minwise.spark._summary import compared, measured, percent, probability, show

    assert [percent(part, 1000) for part in (0, 1, 375, 999, 1000)] == ["0 %", "0.1 %", "37.5 %", "99.9 %", "100 %"]
    assert [percent(1, 10_000), percent(9_999, 10_000)] == ["below 0.1 %", "above 99.9 %"]
    shares = [0.0, 0.00001, 0.5, 0.99995, 1.0]
    assert [probability(share) for share in shares] == ["0 %", "below 0.01 %", "50.00 %", "above 99.99 %", "100 %"]
    pairs = {"asked": 1400, "screened": 1300, "similar": 1200, "threshold": 0.8}
    assert compared(pairs) == "1,400 candidate pairs: 100 ruled out by their sketches, 1,300 compared exactly, 1,200 reach 0.8"
    few = {"asked": 2, "screened": 1, "similar": 1, "threshold": 0.8}
    assert compared(few) == "2 candidate pairs: 1 ruled out by its sketches, 1 compared exactly, 1 reaches 0.8"
    assert measured(None) == "not measured (`--audit N` measures it)"
    audit = {"documents": 9, "pairs": 2, "found": 2, "recall": 1.0, "low": 0.34, "high": 1.0}
    on = "on the 2 near-duplicate pairs of 9 documents of a sample"
    assert measured(audit) == f"100 % measured (34.00 % to 100 % with 95 % confidence) {on} (`--audit N` compares more)"
    assert measured({**audit, "low": 0.91}) == f"100 % measured (91.00 % to 100 % with 95 % confidence) {on}"
    none = "not measured, because 9 documents of a sample have no near-duplicates (`--audit N` compares more)"
    assert measured({**audit, "pairs": 0}) == none
    counts = {
        "read": 8, "references": 1, "nulls": 1, "without_shingles": 2, "kept": 6, "removed": 1, "clusters": 1, "equal": 1, "rejected": 1,
        "spared": 2, "large_clusters": 1, "max_cluster": 2, **few, "rounds": 1, "largest": 3, "spec": "minwise:1", "keep": "first",
        "cluster": "star", "bands": 16, "rows": 6,
    }  # fmt: skip
    assert show(counts, 2.0, {"output": "out", "clusters": "c"}, is_annotated=True).splitlines() == [
        "read        8 records; 1 with a null text; 2 without shingles",
        "reference   1 document",
        "marked      1 document (12.5 %) in 1 cluster; 1 of them equal after normalisation",
        "unmarked    6 documents (75.0 %)",
        "spared      2 documents in 1 cluster of more than 2 documents (`--max-cluster`)",
        "rejected    1 record",
        "compared    2 candidate pairs: 1 ruled out by its sketches, 1 compared exactly, 1 reaches 0.8",
        "recall      not measured (`--audit N` measures it)",
        "wrote       7 annotated documents to `out`",
        "            the clusters to `c`",
        "time        2.00 s (4 documents/s)",
        "",
        "Details",
        "spec        minwise:1",
        "settings    keep first, cluster star",
        "candidates  16 bands of 6 rows",
        "rounds      1; the largest shelf has 3 documents",
    ]
