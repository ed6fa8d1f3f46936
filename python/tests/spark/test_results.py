"""The audit, tables of results, the report, and what the job logs."""

from __future__ import annotations

import logging
import random
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


def audit_of(summary: dict[str, Any]) -> dict[str, Any]:
    """The audit of a job in the fields of the command."""
    audit = dict(summary["audit"])
    audit.pop("is_complete")
    return audit


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("has_references", [False, True], ids=["alone", "against"])
def test_an_audit_of_all_documents_is_that_of_the_command(
    sail: Any, command: Command, tmp_path: Path, rows: Any, cluster: str, has_references: bool
) -> None:
    """Few bands miss some pairs. Copies, references and documents without shingles count as in the command."""
    rows = [*rows, {"id": "e1", "text": "", "row": 1000}, {"id": "e2", "text": "?!", "row": 1001}, {"id": "e3", "text": None, "row": 1002}]
    inputs, references = (rows[::2], rows[1::2]) if has_references else (rows, [])
    words = ["--bands", "3", "--rows", "12", "--cluster", cluster, "--audit", len(inputs)]
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "bands": 3, "rows": 12, "cluster": cluster, "audit": len(inputs)}
    if has_references:
        words += ["--against", command.write(references)]
        settings["against"] = sail.createDataFrame(references)
    expected, summary = command.dedup(inputs, *words)
    result = minwise.spark.dedup(sail.createDataFrame(inputs), work=str(tmp_path / "work"), **settings)
    assert_same(decided_by(result), expected)
    assert audit_of(result.summary) == summary["audit"]
    assert 0 < summary["audit"]["found"] < summary["audit"]["pairs"] and summary["audit"]["low"] == summary["audit"]["high"]


def test_an_audit_of_a_sample(sail: Any, tmp_path: Path, rows: Any) -> None:
    """A sample says about the same as all documents, and the same in every run."""
    df = sail.createDataFrame(rows)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "bands": 3, "rows": 12}
    whole = minwise.spark.dedup(df, work=str(tmp_path / "a"), audit=len(rows), **settings).summary["audit"]
    sampled = minwise.spark.dedup(df, work=str(tmp_path / "b"), audit=60, **settings).summary["audit"]
    assert sampled["documents"] == 60 and 0 < sampled["pairs"] < whole["pairs"] and not sampled["is_complete"]
    assert sampled["low"] < whole["recall"] < sampled["high"]
    assert sampled == minwise.spark.dedup(df.repartition(3), work=str(tmp_path / "c"), audit=60, **settings).summary["audit"]
    assert "audit" not in minwise.spark.dedup(df, work=str(tmp_path / "d"), audit="off", **settings).summary
    for wrong in ("many", 100_001):
        with pytest.raises(minwise.SettingError, match="`audit`"):
            minwise.spark.dedup(df, work=str(tmp_path / "e"), audit=wrong, **settings)


def test_an_audit_of_a_large_family_compares_few_pairs(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Documents near a drawn one that are not compared are counted, and those that are compared stand for them."""
    source, texts = random.Random(41), []
    for number in range(200):
        words = [f"b{at}" for at in range(200)]
        words[source.randrange(200)] = f"y{number}"
        texts.append(" ".join(words))
    df = sail.createDataFrame(rows_of(texts))
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "bands": 3, "rows": 12, "audit": 200}
    whole = minwise.spark.dedup(df, work=str(tmp_path / "a"), **settings).summary["audit"]
    monkeypatch.setattr(_audit, "PARTNERS", (5, 5))
    few = minwise.spark.dedup(df, work=str(tmp_path / "b"), **settings).summary["audit"]
    # All documents are near all others.
    assert few["documents"] == 200 and few["pairs"] == 5 * 200 and whole["pairs"] == 199 * 200
    assert whole["is_complete"] and not few["is_complete"] and few["low"] < whole["recall"] < few["high"]


def test_a_full_shelf_is_seen_by_the_audit(sail: Any, tmp_path: Path) -> None:
    """A pair is found on a full shelf only if its earlier document was not after the last one that the shelf took."""
    most, rows = 2, rows_of(family(120))
    df = sail.createDataFrame(rows)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "bands": 4, "rows": 8, "audit": len(rows)}
    free = minwise.spark.dedup(df, work=str(tmp_path / "a"), **settings).summary["audit"]
    result = minwise.spark.dedup(df, work=str(tmp_path / "b"), **settings, _shelf=most)
    removed = set(decided_by(result))
    first: dict[bytes, int] = {}
    stands = [first.setdefault(minwise.Spec().shingles(row["text"]).tobytes(), at) for at, row in enumerate(rows)]
    distinct, sets = sorted(set(stands)), [set(minwise.Spec().shingles(row["text"]).tolist()) for row in rows]
    keys = minwise.Spec().sketch([row["text"] for row in rows]).band_keys(4, 8)
    shelves: dict[tuple[int, int], list[int]] = {}
    for at in distinct:
        for band in range(4):
            shelves.setdefault((band, int(keys[at][band])), []).append(at)
    put = {shelf: [at for at in members if f"d{at}" not in removed] for shelf, members in shelves.items()}
    pairs = found = 0
    for at in range(len(rows)):
        own = stands[at]
        pairs, found = (count + (stands.count(own) > 1) for count in (pairs, found))
        for other in distinct:
            if other != own and 10 * len(sets[own] & sets[other]) >= 8 * len(sets[own] | sets[other]):
                shared = [(band, int(keys[own][band])) for band in range(4) if keys[own][band] == keys[other][band]]
                pairs += 1
                found += any(len(put[shelf]) < most or min(own, other) <= put[shelf][most - 1] for shelf in shared)
    audit = result.summary["audit"]
    assert (audit["pairs"], audit["found"]) == (pairs, found) and audit["pairs"] == free["pairs"] and audit["found"] < free["found"]


def test_sizes_of_audits() -> None:
    assert _audit.size("auto", 10, 10) == 10 and _audit.size("off", 10, 10) == 0 and _audit.size("auto", 0, 0) == 0
    assert _audit.size("auto", 10**9, 10**9) == 2 and _audit.size(5, 3, 3) == 3
    assert [_audit.partners(sets) for sets in (0, 1, 1_000, 100_000)] == [256, 256, 65, 16]


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
    audit = {"documents": 9, "pairs": 2, "found": 2, "recall": 1.0, "low": 0.34, "high": 1.0, "is_complete": False}
    on = "on 2 near-duplicates of a sample of 9 documents"
    assert measured(audit) == f"100 % measured (34.00 % to 100 % with 95 % confidence) {on} (`--audit N` compares more)"
    assert measured({**audit, "low": 0.91}) == f"100 % measured (91.00 % to 100 % with 95 % confidence) {on}"
    whole = {**audit, "is_complete": True}
    assert measured(whole) == "100 % measured: 2 of 2 near-duplicates found, summed over all 9 documents"
    none = "not measured, because no document of a sample of 9 has a near-duplicate (`--audit N` compares more)"
    assert measured({**audit, "pairs": 0}) == none
    assert measured({**whole, "pairs": 0}) == "not measured, because none of the 9 documents has a near-duplicate"
    assert measured({**whole, "pairs": 0, "documents": 1}) == "not measured, because the only document has no near-duplicate"
    counts = {
        "read": 8, "references": 1, "nulls": 1, "without_shingles": 2, "kept": 6, "removed": 1, "clusters": 1, "equal": 1, "rejected": 1,
        "spared": 2, "large_clusters": 1, "max_cluster": 2, **few, "rounds": 1, "largest": 3, "spec": "minwise:1", "keep": "first",
        "cluster": "star", "bands": 16, "rows": 6, "found_at_threshold": 0.99,
    }  # fmt: skip
    assert show(counts, 2.0, {"output": "out", "clusters": "c"}, is_annotated=True).splitlines() == [
        "read        8 records; 1 with a null text; 2 without shingles",
        "reference   1 document",
        "marked      1 document (12.5 %) in 1 cluster; 1 of them equal after normalisation",
        "unmarked    6 documents (75.0 %)",
        "spared      2 documents in 1 cluster of more than 2 documents (`--max-cluster`)",
        "rejected    1 record",
        "compared    2 candidate pairs: 1 ruled out by its sketches, 1 compared exactly, 1 reaches 0.8",
        "recall      not measured (`--audit N` measures it); a pair at 0.8 is found with a probability of 99.00 %",
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
