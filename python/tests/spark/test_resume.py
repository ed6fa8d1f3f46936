"""A job that was killed goes on after its last step that is done, and comes to the same result."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import pytest
from corpora import assert_same, decided_by, family, generated, rows_of
from minwise.spark import _work


class Killed(BaseException):
    pass


def rows() -> list[dict[str, Any]]:
    return rows_of(generated(100) + family(80))


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_a_job_that_was_killed_goes_on(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cluster: str) -> None:
    df = sail.createDataFrame(rows())
    settings = {"text": "text", "order_by": "row", "cluster": cluster}
    whole = minwise.spark.dedup(df, work=str(tmp_path / "whole"), **settings)
    expected, steps = decided_by(whole), whole.summary["steps_computed"]
    assert steps >= 6
    write = _work.Work._write
    for stop in range(steps):
        written = [0]

        def kill(self: Any, step: str, counts: Any, mode: str = "append", written: Any = written, stop: int = stop) -> None:
            # The tables of the step are there, and the manifest does not name it.
            if written[0] == 1 if stop else not written[0]:
                raise Killed
            written[0] += 1
            write(self, step, counts, mode)

        monkeypatch.setattr(_work.Work, "_write", kill)
        # Each job gets one step further than the one before.
        with pytest.raises(Killed):
            minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings)
    monkeypatch.setattr(_work.Work, "_write", write)
    result = minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings)
    assert result.summary["steps_computed"] == 1
    assert_same(decided_by(result), expected)
    for name in ("removed", "rounds", "asked", "similar", "kept"):
        assert result.summary[name] == whole.summary[name]
    # Everything is done, so that nothing is computed.
    assert minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings).summary["steps_computed"] == 0


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
    # The table of the first step is there as soon as the second one is written.
    while not (work / "groups").exists() and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.wait()
    assert not (tmp_path / "out").exists()
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(work))
    assert 0 < result.summary["steps_computed"] < whole.summary["steps_computed"]
    assert_same(decided_by(result), expected)


def test_large_tables_go_in_parts(sail: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    df = sail.createDataFrame(rows())
    expected = decided_by(minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "whole")))
    monkeypatch.setattr(_work, "MESSAGE_BYTES", 500)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "parts"), _asking=2, _pairs=50)
    assert (tmp_path / "parts/round-001-asks").exists() or (tmp_path / "parts/round-001-blocks").exists()
    assert_same(decided_by(result), expected)


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
    # Both texts have the same number of shingles.
    with pytest.raises(minwise.SettingError, match="another `ignore_text`"):
        minwise.spark.dedup(df, **ignoring, ignore_text=["other text of six words here"])
    # A job that begins anew takes the folder.
    result = minwise.spark.dedup(df, **settings, threshold=0.99, resume=False)
    assert set(decided_by(result)) < set(before)
    assert result.summary["steps_computed"] > 0
