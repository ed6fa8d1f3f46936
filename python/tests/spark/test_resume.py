"""Tests that a killed job resumes after its last step that is done, and has the same result as an uninterrupted job."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import pytest
from corpora import assert_same, decided_by, family, generated, rows_of
from minwise._minwise import SparkTask
from minwise.spark import _rounds, _shelves, _work
from minwise.spark._sail import SailServer


class Killed(BaseException):
    pass


def rows() -> list[dict[str, Any]]:
    return rows_of(generated(100) + family(80))


KILLED = [
    ("star", {}),
    ("star", {"_here": 0, "_rest": 0}),
    ("star", {"_here": 0}),
    ("components", {"_rest": 0}),
    ("star", {"_driver": 0}),
]


@pytest.mark.parametrize("cluster, limits", KILLED, ids=["here", "star", "rest", "components", "tasks"])
def test_a_job_that_was_killed_goes_on(
    sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str, limits: dict[str, int]
) -> None:
    df = sail.createDataFrame(rows())
    settings = {"text": "text", "order_by": "row", "cluster": cluster, **limits}
    whole = minwise.spark.dedup(df, work=str(tmp_path / "whole"), **settings)
    expected, steps = decided_by(whole), whole.summary.steps_computed
    # A job that compares pairs on the driver has four steps: sketches, groups, decisions and audit.
    assert steps == 4 if cluster == "star" and not limits else steps >= 6
    write = _work.Work._write
    # For a small input, the rows of the steps `sketches` and `groups` are written to the manifest together with that of
    # the next step. If the step `groups` writes a table, its row is written at once, together with that of `sketches`.
    deferred = 1 if (tmp_path / "whole/groups").exists() else 2
    assert deferred == (1 if {"_here", "_driver"} & set(limits) else 2)
    for stop in range(steps - deferred):
        written = [0]

        def kill(self: Any, step: str, counts: Any, mode: str = "append", written: Any = written, stop: int = stop) -> None:
            # The job is killed after the tables of the step are written, and before its row of the manifest is.
            if written[0] == 1 if stop else not written[0]:
                raise Killed
            written[0] += 1
            write(self, step, counts, mode)

        monkeypatch.setattr(_work.Work, "_write", kill)
        # Each run completes one row of the manifest more than the previous run.
        with pytest.raises(Killed):
            minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings)
    monkeypatch.setattr(_work.Work, "_write", write)
    result = minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings)
    assert result.summary.steps_computed == 1
    assert_same(decided_by(result), expected)
    for name in ("removed", "rounds", "candidates", "verified", "kept"):
        assert getattr(result.summary, name) == getattr(whole.summary, name)
    # A complete job computes no step.
    assert minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings).summary.steps_computed == 0


def test_a_process_that_is_killed_leaves_a_folder_to_go_on_from(sail: Any, tmp_path: Path) -> None:
    source, work = tmp_path / "in.parquet", tmp_path / "work"
    df = sail.createDataFrame(rows())
    df.write.parquet(str(source))
    df = sail.read.parquet(str(source))
    whole = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "whole"))
    expected = decided_by(whole)
    words = ["--sail", "--input", str(source), "--output", str(tmp_path / "out"), "--work", str(work)]
    run = [sys.executable, "-m", "minwise.spark", *words, "--text-field", "text", "--order-by", "row"]
    process = subprocess.Popen(run, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    # The process is killed when it writes the first table of the audit. The manifest names earlier steps then.
    while not (work / "audit-order").exists() and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert not (tmp_path / "out").exists()
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(work))
    assert 0 < result.summary.steps_computed < whole.summary.steps_computed
    assert_same(decided_by(result), expected)


def test_large_tables_go_in_parts(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    df = sail.createDataFrame(rows())
    expected = decided_by(minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "whole")))
    monkeypatch.setattr(_work, "MESSAGE_BYTES", 500)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "parts"), _asking=2, _pairs=50)
    assert (tmp_path / "parts/round-001-asks").exists() or (tmp_path / "parts/round-001-blocks").exists()
    assert_same(decided_by(result), expected)


def test_rounds_with_too_many_pairs_for_the_driver_begin_anew(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    df = sail.createDataFrame(rows())
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "audit": "off"}
    here = minwise.spark.dedup(df, work=str(tmp_path / "here"), **settings)
    assert not (tmp_path / "here/texts").exists() and here.summary.rounds > 1
    # With these limits, the driver gives up before the first round, or in a later round.
    for name, limit in (("first", 1), ("later", here.summary.candidates // 2)):
        monkeypatch.setattr(_rounds, "HERE_PAIRS", limit)
        result = minwise.spark.dedup(df, work=str(tmp_path / name), **settings)
        assert_same(decided_by(result), decided_by(here))
        for count in ("rounds", "candidates", "compared", "verified", "shelved_bytes"):
            assert getattr(result.summary, count) == getattr(here.summary, count), count
    assert (tmp_path / "first/texts").exists()


def test_a_folder_of_another_job_is_refused_by_the_field(sail: Any, tmp_path: Path) -> None:
    df = sail.createDataFrame(rows()[:40])
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "work": str(tmp_path / "work")}
    before = decided_by(minwise.spark.dedup(df, **settings))
    for changed, field in [({"threshold": 0.7}, "threshold"), ({"keep": "last"}, "keep"), ({"seed": 2}, "spec"), ({"id": "row"}, "id")]:
        with pytest.raises(minwise.SettingError, match=f"another `{field}`") as raised:
            minwise.spark.dedup(df, **settings, **changed)
        assert "resume=False" in (raised.value.hint or "")
    with pytest.raises(minwise.SettingError, match="another `columns`"):
        minwise.spark.dedup(df.selectExpr("*", "1 as more"), **settings)
    ignoring = {**settings, "work": str(tmp_path / "ignoring")}
    minwise.spark.dedup(df, **ignoring, ignore_text=["one text of six words here"])
    # Both texts have the same number of shingles, so the job must compare the shingles themselves.
    with pytest.raises(minwise.SettingError, match="another `ignore_text`"):
        minwise.spark.dedup(df, **ignoring, ignore_text=["other text of six words here"])
    # With `resume=False`, a job with other settings may use the folder.
    result = minwise.spark.dedup(df, **settings, threshold=0.99, resume=False)
    assert set(decided_by(result)) < set(before)
    assert result.summary.steps_computed > 0


def test_a_folder_is_not_used_for_other_rows(sail: Any, tmp_path: Path) -> None:
    """A folder is not used for an input with another text or another row, although the schema is the same."""
    before = rows()[:60]
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "audit": "off"}
    whole = minwise.spark.dedup(sail.createDataFrame(before), work=str(tmp_path / "work"), **settings)
    assert whole.summary.removed > 0
    changed = [dict(row, text="another text of some words") if row["row"] == 2 else row for row in before]
    swapped = [dict(row, row=1 - row["row"]) if row["row"] < 2 else row for row in before]
    for now in (changed, swapped, before[:-1], [*before, {"id": "more", "text": "x", "row": 99}]):
        with pytest.raises(minwise.SettingError, match="another `input`.*60 rows") as raised:
            minwise.spark.dedup(sail.createDataFrame(now), work=str(tmp_path / "work"), **settings)
        assert "resume=False" in (raised.value.hint or "")
    # Rows in another order are the same input, because `order_by` orders them.
    again = minwise.spark.dedup(sail.createDataFrame(before[::-1]), work=str(tmp_path / "work"), **settings)
    assert again.summary.steps_computed == 0
    now = minwise.spark.dedup(sail.createDataFrame(changed), work=str(tmp_path / "work"), resume=False, **settings)
    assert now.summary.steps_computed > 0


def test_rows_that_change_after_the_job_are_never_removed(sail: Any, tmp_path: Path) -> None:
    source, before = tmp_path / "in.parquet", rows()[:60]
    sail.createDataFrame(before).write.parquet(str(source))
    df = sail.read.parquet(str(source))
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    removed = {row["row"] for row in result.removed.collect()}
    assert removed
    # All rows keep their rank keys, and all but one get a new text.
    one = min(removed)
    after = [row if row["row"] == one else dict(row, text=f"new {row['text']}") for row in before]
    sail.createDataFrame(after).write.mode("overwrite").parquet(str(source))
    assert {row["row"] for row in result.removed.collect()} == {one}
    assert {row["row"] for row in result.kept.collect()} == {row["row"] for row in before} - {one}
    assert {row["row"] for row in result.annotated.collect() if row["duplicate_of"] is not None} == {one}


def test_a_manifest_that_cannot_be_read_is_not_an_empty_one(sail: Any, tmp_path: Path) -> None:
    df = sail.createDataFrame(rows()[:40])
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "work": str(tmp_path / "work"), "audit": "off"}
    expected = decided_by(minwise.spark.dedup(df, **settings))
    (tmp_path / "work/manifest/part-9.parquet").write_text("this is no table")
    with pytest.raises(minwise.InputError, match="`work`.*manifest cannot be read"):
        minwise.spark.dedup(df, **settings)
    result = minwise.spark.dedup(df, **settings, resume=False)
    assert_same(decided_by(result), expected)


def test_tables_of_steps_that_were_not_done_are_never_read(sail: Any, tmp_path: Path) -> None:
    """A table that a killed job has written in part is written again."""
    df = sail.createDataFrame(rows()[:60])
    settings: dict[str, Any] = {"text": "text", "order_by": "row"}
    expected = decided_by(minwise.spark.dedup(df, work=str(tmp_path / "whole"), **settings))
    for path in (tmp_path / "whole").iterdir():
        if path.name != "manifest":
            (tmp_path / "work" / path.name).mkdir(parents=True)
            (tmp_path / "work" / path.name / "part-0.parquet").write_text("half of a table")
    result = minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings)
    assert_same(decided_by(result), expected)


def test_two_jobs_in_one_folder_are_refused(sail: Any, tmp_path: Path) -> None:
    first, second = (_work.Work(sail, str(tmp_path / "work"), {}, True) for _ in range(2))
    first.step("a", lambda: {"n": 1})
    assert _work.Work(sail, str(tmp_path / "work"), {}, True).counts("a") == {"n": 1}
    second.step("a", lambda: {"n": 2})
    with pytest.raises(minwise.SettingError, match="two jobs"):
        _work.Work(sail, str(tmp_path / "work"), {}, True)


def test_tables_come_to_the_driver_in_parts(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large tables are fetched in parts, because classic Spark refuses answers above `spark.driver.maxResultSize`.

    Rank keys of this test have 200 bytes.
    """
    df = sail.createDataFrame(rows()).selectExpr("id", "text", "concat(repeat('x', 190), lpad(cast(row as string), 8, '0')) as `order`")
    settings: dict[str, Any] = {"text": "text", "order_by": "order", "audit": "off"}
    whole = minwise.spark.dedup(df, work=str(tmp_path / "whole"), **settings)
    answers: list[int] = []
    fetch = type(df).toArrow

    def measured(self: Any) -> Any:
        table = fetch(self)
        answers.append(table.nbytes)
        return table

    most = 20_000
    monkeypatch.setattr(type(df), "toArrow", measured)
    for module in (_work, _rounds):
        monkeypatch.setattr(module, "ANSWER_BYTES", most)
    monkeypatch.setattr(_shelves, "HERE_KEYS", 0)
    monkeypatch.setattr(_rounds, "HERE_BYTES", 0)
    result = minwise.spark.dedup(df, work=str(tmp_path / "parts"), **settings)
    assert_same(decided_by(result), decided_by(whole))
    # The rank keys of the shelves alone have more bytes than four answers may have. An answer may be up to twice the
    # limit, because parts by hashes differ in size.
    assert result.summary.memberships * 200 > 4 * most
    assert len(answers) > 8 and max(answers) < 2 * most


def test_executors_with_different_kernels_agree(
    sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Executors with different kernels make the same sketches.

    The job begins on one server and ends on another server with another kernel.
    """
    from pyspark.sql import SparkSession

    settings: dict[str, Any] = {"text": "text", "order_by": "row", "work": str(tmp_path / "work")}
    expected = decided_by(minwise.spark.dedup(sail.createDataFrame(rows()), **{**settings, "work": str(tmp_path / "whole")}))
    write = _work.Work._write

    def kill(self: Any, step: str, counts: Any, mode: str = "append") -> None:
        if step == "texts":
            raise Killed
        write(self, step, counts, mode)

    settings["_here"] = 0

    def sketches(spark: Any) -> dict[str, Any]:
        found = minwise.spark.sketch(spark.createDataFrame(rows()), text="text").collect()
        return {row["id"]: (row["sketch"], row["band_keys"]) for row in found}

    monkeypatch.setenv("MINWISE_KERNEL", "portable")
    with SailServer() as server, caplog.at_level(logging.INFO, logger="minwise.spark"):
        other = SparkSession.builder.remote(server.url).create()
        portable = sketches(other)
        assert "kernel portable," in caplog.text
        monkeypatch.setattr(_work.Work, "_write", kill)
        with pytest.raises(Killed):
            minwise.spark.dedup(other.createDataFrame(rows()), **settings)
        monkeypatch.setattr(_work.Work, "_write", write)
        other.stop()
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="minwise.spark"):
        assert sketches(sail) == portable
    if SparkTask.kernel() != "portable":
        assert "kernel portable," not in caplog.text
    result = minwise.spark.dedup(sail.createDataFrame(rows()), **settings)
    assert_same(decided_by(result), expected)


def test_shingles_that_were_counted_are_those_of_the_input(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that was killed after it had counted shingles cannot resume with another input."""
    own = rows()
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "work": str(tmp_path / "work"), "audit": "off", "max_df": 0.5}
    write = _work.Work._write

    def kill(self: Any, step: str, counts: Any, mode: str = "append") -> None:
        # The step `left-out` has counted the shingles.
        if step != "left-out":
            raise Killed
        write(self, step, counts, mode)

    monkeypatch.setattr(_work.Work, "_write", kill)
    with pytest.raises(Killed):
        minwise.spark.dedup(sail.createDataFrame(own), **settings)
    monkeypatch.setattr(_work.Work, "_write", write)
    other = [*own[:-1], {**own[-1], "text": "another text than before"}]
    with pytest.raises(minwise.InputError, match="not deterministic"):
        minwise.spark.dedup(sail.createDataFrame(other), **settings)
    settings["resume"] = False
    assert minwise.spark.dedup(sail.createDataFrame(own), **settings).summary.read == len(own)
