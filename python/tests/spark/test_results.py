"""Tests of the audit, the tables of results, the summary, the report and the log of a job."""

from __future__ import annotations

import json
import logging
import random
import re
from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import pytest
from corpora import Command, assert_same, assert_same_summary, chains, decided_by, family, generated, one_shelf, rows_of
from minwise._minwise import spark_audit
from minwise.spark import _audit


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return rows_of(generated(120) + chains(2, 30) + family(50))


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_the_audit_is_that_of_the_command(sail: Any, command: Command, tmp_path: Path, rows: Any, cluster: str) -> None:
    """Job and command count the same missed duplicates, of all kept documents and of samples.

    The bands are chosen to miss many.
    """
    df = sail.createDataFrame(rows)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "bands": 2, "rows": 16, "cluster": cluster}
    words = ["--bands", 2, "--rows", 16, "--cluster", cluster]
    audits = {}
    for number, audit in enumerate(("auto", len(rows), 30)):
        _, summary = command.dedup(rows, *words, "--audit", audit)
        ours = minwise.spark.dedup(df, work=str(tmp_path / str(number)), audit=audit, **settings).summary
        assert ours.audit == pytest.approx(summary["audit"]), audit
        assert ours.audit["removed"] == ours.removed
        audits[audit] = ours.audit
    assert audits["auto"] == audits[len(rows)]
    assert audits["auto"]["missed"] > 3 and audits["auto"]["low"] == audits["auto"]["high"] < 1
    assert audits[30]["documents"] == 30 and audits[30]["low"] < audits["auto"]["recall"] < audits[30]["high"]


def test_spared_documents_and_references_are_not_missed(sail: Any, command: Command, tmp_path: Path, rows: Any) -> None:
    df, half = sail.createDataFrame(rows), len(rows) // 2
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "bands": 2, "rows": 16}
    _, summary = command.dedup(rows, "--bands", 2, "--rows", 16, "--max-cluster", 3)
    ours = minwise.spark.dedup(df, work=str(tmp_path / "spared"), max_cluster=3, **settings).summary
    assert ours.spared == summary["spared"] > 0 and ours.audit == pytest.approx(summary["audit"])
    against = command.write(rows[:half])
    _, summary = command.dedup(rows[half:], "--bands", 2, "--rows", 16, "--against", against)
    given, rest = df.where(df.row < half), df.where(df.row >= half)
    ours = minwise.spark.dedup(rest, against=given, work=str(tmp_path / "against"), **settings).summary
    assert ours.audit == pytest.approx(summary["audit"]) and ours.audit["missed"] > 0


def test_audits_that_are_not_made(sail: Any, tmp_path: Path, rows: Any) -> None:
    df = sail.createDataFrame(rows[:9])
    settings: dict[str, Any] = {"text": "text", "order_by": "row"}
    assert minwise.spark.dedup(df, work=str(tmp_path / "d"), audit="off", **settings).summary.audit is None
    with pytest.raises(minwise.SettingError, match="`audit`"):
        minwise.spark.dedup(df, work=str(tmp_path / "e"), audit="many", **settings)
    assert _audit.size("auto", 10) == _audit.MOST_DOCUMENTS and _audit.size("off", 10) == 0 and _audit.size("auto", 0) == 0
    assert _audit.size(5, 3) == 5


def test_the_default_audit_of_a_large_input_says_something(guide: str) -> None:
    """The table of the guide has the drawn documents, and the least recall that is possible if none of them is missed
    and three of ten documents were removed.
    """
    rows = re.findall(r"^\| 10(.) \| ([\d,]+) \| [^|]+ \| ([\d.]+) % \|$", guide, flags=re.MULTILINE)
    assert len(rows) == 4
    for power, drawn, least in rows:
        documents = 10 ** "⁰¹²³⁴⁵⁶⁷⁸⁹".index(power)
        size = _audit.size("auto", documents)
        found = json.loads(spark_audit(documents * 7 // 10, size, documents * 3 // 10, 0))
        assert f"{size:,}" == drawn
        assert 0 <= found["low"] - float(least) / 100 < 0.001 and found["high"] == 1, documents


def test_tables_and_summary(sail: Any, command: Command, tmp_path: Path, rows: Any, caplog: pytest.LogCaptureFixture) -> None:
    expected, summary = command.dedup(rows)
    with caplog.at_level(logging.INFO, logger="minwise.spark"):
        result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"))
    assert_same(decided_by(result), expected)
    assert_same_summary(result.summary, summary)
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
    assert len(rounds) == result.summary.rounds and all("pairs asked" in line for line in rounds)


@pytest.mark.parametrize("null", ["keep", "reject"])
def test_the_summary_has_the_fields_of_the_command(sail: Any, command: Command, tmp_path: Path, rows: Any, null: str) -> None:
    """The input has null, short and empty texts, references, repeated ids, and documents without the value that the
    policy ranks by.
    """
    texts = ["", "two words", None, *(row["text"] for row in rows[:60]), None]
    own = [{"id": f"d{number // 2 if number > 60 else number}", "row": number, "text": text} for number, text in enumerate(texts)]
    for number, row in enumerate(own):
        row["score"] = None if number % 7 == 3 else f"{number % 5}"
    given = [{"id": f"r{number}", "row": number, "text": text, "score": "1"} for number, text in enumerate([None, "a b", rows[9]["text"]])]
    schema = "id string, row bigint, text string, score string"
    settings = {"text": "text", "order_by": "row", "audit": "off", "keep": "max:score", "short": "reject", "null": null}
    df, against = (sail.createDataFrame([tuple(row[name] for name in ("id", "row", "text", "score")) for row in some], schema) for some in (own, given))
    result = minwise.spark.dedup(df, against=against, work=str(tmp_path / "work"), **settings)
    words = ["--keep", "max:score", "--short", "reject", "--null", null, "--against", command.write(given)]
    summary = command.dedup(own, *words)[1]
    assert_same_summary(result.summary, summary)
    assert summary["unranked"] and summary["repeated_ids"] and summary["rejected"] and summary["reference_rejected"]


def test_the_report_of_a_sample(sail: Any, tmp_path: Path, rows: Any) -> None:
    result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"))
    result.report(tmp_path / "report", clusters=3)
    pairs = (tmp_path / "report/pairs.tsv").read_text(encoding="utf-8").splitlines()
    decided = decided_by(result)
    assert pairs and all(decided[line.split("\t")[0]][0] == line.split("\t")[1] for line in pairs)
    assert "<html" in (tmp_path / "report/index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("given", [{"ignore_text": ["b1 b2 b3 b4 b5 b6 b7 b8 b9"]}, {"max_df": 20}], ids=["text", "max_df"])
def test_a_report_leaves_out_what_the_job_left_out(sail: Any, tmp_path: Path, rows: Any, given: dict[str, Any]) -> None:
    """A report leaves out the shingles that the job left out, although its sample alone has other document
    frequencies.
    """
    df, settings = sail.createDataFrame(rows), {"text": "text", "order_by": "row", "audit": "off"}
    result = minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings, **given)
    result.report(tmp_path / "report", clusters=1_000, documents=10_000)
    found: dict[str, tuple[str, float]] = {}
    for line in (tmp_path / "report/pairs.tsv").read_text(encoding="utf-8").splitlines():
        id, of, similarity = line.split("\t")
        found[id] = (of, float(similarity))
    # Without the setting, the job would remove other documents.
    assert decided_by(result) != decided_by(minwise.spark.dedup(df, work=str(tmp_path / "plain"), **settings))
    assert found and set(found) == set(decided_by(result))
    for id, (_, similarity) in decided_by(result).items():
        assert abs(found[id][1] - similarity) < 1e-6


def test_a_report_has_the_references_and_whole_clusters(sail: Any, tmp_path: Path, rows: Any) -> None:
    df, half = sail.createDataFrame(rows), len(rows) // 2
    given, rest = df.where(df.row < half), df.where(df.row >= half)
    result = minwise.spark.dedup(rest, against=given, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    decided = decided_by(result)
    sizes = sorted(([of for of, _ in decided.values()].count(id) for id in {of for of, _ in decided.values()}), reverse=True)
    for documents, clusters in ((10_000, len(sizes)), (sizes[0] + sizes[1] + 2, 2)):
        result.report(tmp_path / str(documents), clusters=1_000, documents=documents)
        lines = (tmp_path / str(documents) / "pairs.tsv").read_text(encoding="utf-8").splitlines()
        assert len(lines) == sum(sizes[:clusters])
        for id, _, similarity in (line.split("\t") for line in lines):
            assert abs(decided[id][1] - float(similarity)) < 1e-6


def test_an_audit_of_a_form_is_bounded(sail: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit leaves out half of the drawn documents, repeatedly, until few pairs are left.

    The documents are one form, filled in differently, so sketches leave nearly all pairs open.
    """
    rows = rows_of(one_shelf(600))
    monkeypatch.setattr(_audit, "MOST_NEAR", 20_000)
    result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"))
    audit, pairs = result.summary.audit, sail.read.parquet(str(tmp_path / "work/audit-pairs"))
    assert audit is not None and audit["documents"] in (75, 37, 18) and audit["missed"] == 0
    assert audit["documents"] * 30 < pairs.where("a is not null").count() <= 20_000
    # If even the first cluster is too large for the driver, no document is compared.
    monkeypatch.setattr(_audit, "MOST_SKETCHES", 0)
    none = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "none")).summary.audit
    assert none is not None and none["documents"] == 0 and none["recall"] is None


def test_the_summary_in_words() -> None:
    """The summary is right for counts of 0 and 1, an audit with a wide interval, annotated documents, and spared
    clusters.
    """
    from minwise._minwise import percent, probability
    from minwise.spark._summary import Summary, compared, measured, recall, show, unit

    assert [percent(part, 1000) for part in (0, 1, 375, 999, 1000)] == ["0 %", "0.1 %", "37.5 %", "99.9 %", "100 %"]
    assert [percent(1, 10_000), percent(9_999, 10_000)] == ["below 0.1 %", "above 99.9 %"]
    shares = [0.0, 0.00001, 0.5, 0.99995, 1.0]
    assert [probability(share) for share in shares] == ["0 %", "below 0.01 %", "50.00 %", "above 99.99 %", "100 %"]
    pairs = {"candidates": 1400, "filtered": 100, "compared": 1300, "verified": 1200, "threshold": 0.8}
    assert compared(Summary(pairs)) == "1,400 candidate pairs: 100 ruled out by their sketches, 1,300 compared exactly, 1,200 reach 0.8"
    few = {"candidates": 2, "filtered": 1, "compared": 1, "verified": 1, "threshold": 0.8}
    assert compared(Summary(few)) == "2 candidate pairs: 1 ruled out by its sketches, 1 compared exactly, 1 reaches 0.8"
    assert measured(None) == "not measured (`--audit N` measures it)"
    audit = {"kept": 1200, "documents": 9, "removed": 2, "missed": 0, "recall": 1.0, "low": 0.34, "high": 1.0}
    on, more = "none of a sample of 9 of 1,200 kept documents was found to repeat another one", " (`--audit N` compares more)"
    assert measured(audit) == f"100 % measured (at least 34.00 % with 95 % confidence): {on}{more}"
    assert measured({**audit, "low": 0.91}) == f"100 % measured (at least 91.00 % with 95 % confidence): {on}"
    assert measured({**audit, "recall": None}) == f"not measured, because none was removed and {on}{more}"
    exact = {**audit, "documents": 1200, "low": 1.0}
    assert measured(exact) == "100 % measured: none of the 1,200 kept documents repeats another one"
    assert measured({**exact, "kept": 0, "documents": 0}) == "100 % measured: no kept document has a text"
    whole = {**audit, "documents": 1200, "missed": 1, "recall": 0.5, "low": 0.5, "high": 0.5}
    assert measured({**whole, "kept": 1, "documents": 1}) == "50.00 % measured: the only kept document repeats another one"
    assert measured(whole) == "50.00 % measured: 1 of the 1,200 kept documents repeats another one"
    # Every document was looked up, so `--audit N` cannot compare more.
    assert measured({**audit, "documents": 1200}).endswith("none of the 1,200 kept documents was found to repeat another one")
    clean = {"kept": 1200, "documents": 1200, "removed": 0, "missed": 0, "recall": None, "low": None, "high": None}
    assert recall(Summary({"audit": clean, "threshold": 0.8, "found_at_threshold": 0.99236})) == (
        "no near-duplicate was found; an audit of all 1,200 documents found none either;"
        " a pair of similarity 0.8 is found with a probability of at least 99.23 %"
    )
    specs = ["nfkc / words:5 / minhash:128", "nfkc / chars:9 / minhash:128", "nfkc / terms / minhash:128"]
    assert [unit(spec) for spec in specs] == ["word", "character", "term"]
    counts = {
        "read": 8, "reference": 1, "nulls": 1, "without_shingles": 2, "kept": 6, "removed": 1, "clusters": 1, "removed_equal": 1, "rejected": 1,
        "spared": 2, "large_clusters": 1, "max_cluster": 2, **few, "rounds": 1, "largest_shelf": 3, "spec": "nfkc / chars:5 / minhash:128", "keep": "first",
        "cluster": "star", "bands": 16, "rows": 6, "found_at_threshold": 0.99, "audit": None,
    }  # fmt: skip
    assert show(Summary(counts), 2.0, {"output": "out", "clusters": "c"}, is_annotated=True).splitlines() == [
        "read        8 records; 1 with a null text; 2 without characters",
        "reference   1 document",
        "marked      1 document (12.5 %) in 1 cluster; 1 of them equal after normalisation",
        "unmarked    6 documents (75.0 %)",
        "spared      2 documents, because 1 cluster has more than 2 documents (`--max-cluster`)",
        "rejected    1 record",
        "compared    2 candidate pairs: 1 ruled out by its sketches, 1 compared exactly, 1 reaches 0.8",
        "recall      not measured (`--audit N` measures it); a pair of similarity 0.8 is found with a probability of 99.00 %",
        "wrote       7 annotated documents to `out`",
        "            the clusters to `c`",
        "time        2.00 s (4 documents/s)",
        "",
        "Details",
        "spec        nfkc / chars:5 / minhash:128",
        "settings    keep first, cluster star",
        "candidates  16 bands of 6 rows",
        "rounds      1; the largest shelf has 3 documents",
    ]
