"""Tests that the job decides as the command does: same removed documents, keepers and similarities."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import minwise.spark
import pytest
from corpora import CORPORA, Command, assert_same, decided_by, rows_of
from minwise.spark import _rounds, _work


@pytest.mark.parametrize("limits", [{}, {"_here": 0}, {"_here": 0, "_rest": 0}], ids=["driver", "both", "tasks"])
@pytest.mark.parametrize("name", CORPORA)
def test_default_settings(sail: Any, command: Command, tmp_path: Path, name: str, limits: dict[str, int]) -> None:
    """The driver compares the pairs of a small input, and tasks those of a larger one. The driver compares the pairs of
    later rounds if they are few.
    """
    rows = rows_of(CORPORA[name]())
    expected, summary = command.dedup(rows)
    df = sail.createDataFrame(rows)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), **limits)
    rounds = {path.name for path in (tmp_path / "work").glob("round-*-similar")}
    assert (tmp_path / "work/texts").exists() == ("_here" in limits)
    by_tasks = 0 if "_here" not in limits else result.summary.rounds if "_rest" in limits else min(result.summary.rounds, 1)
    assert len(rounds) == by_tasks
    assert_same(decided_by(result), expected)
    assert result.summary.removed == len(expected)
    assert result.kept.count() == len(rows) - len(expected)


@pytest.mark.parametrize("name, limit", [("HERE_SKETCHES", 512), ("HERE_BYTES", 4_000), ("HERE_MEMBERS", 3), ("HERE_LARGEST", 1)])
def test_an_input_that_is_too_large_for_the_driver_goes_to_tasks(
    sail: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    """The bytes of sketches are limited, too, because a million short texts have few bytes of text and many bytes of
    sketches.
    """
    rows = rows_of(CORPORA["articles"]())
    monkeypatch.setattr(_rounds, name, limit)
    result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    assert (tmp_path / "work/texts").exists()
    assert_same(decided_by(result), command.dedup(rows)[0])


@pytest.mark.parametrize("keep", ["first", "max:score"])
def test_the_driver_opens_the_files_of_small_tables(
    sail: Any, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, keep: str
) -> None:
    """The driver counts and reads sketches from the files of their table, and by Spark if it cannot open the files."""
    rows = [dict(row, score=None if row["row"] % 3 else "1") for row in rows_of(CORPORA["generated"]()[:100])]
    df = sail.createDataFrame(rows, "id string, row long, score string, text string")
    expected, opened, files = command.dedup(rows, "--keep", keep)[0], [], _work.Work.files

    def noted(self: Any, name: str, schema: Any, most: int | None = None) -> list[str]:
        opened.append(files(self, name, schema, most))
        return opened[-1]

    settings: dict[str, Any] = {"text": "text", "order_by": "row", "audit": "off", "keep": keep}
    summaries = []
    for name, replaced in (("by files", noted), ("by Spark", lambda *_: [])):
        monkeypatch.setattr(_work.Work, "files", replaced)
        result = minwise.spark.dedup(df, work=str(tmp_path / name), **settings)
        assert_same(decided_by(result), expected)
        summaries.append(result.summary.as_dict())
    assert [Path(path).parent for path in opened[0]] == [tmp_path / "by files/sketches"] * len(opened[0]) != []
    assert summaries[0] == summaries[1] and len(caplog.messages) == (2 if keep == "max:score" else 0)


@pytest.mark.parametrize("link", ["s3://bucket/a.parquet", "file://other/{here}", "{here}", "file://{here}.gone", "file://{here}, s3://bucket/a.parquet", "none", "many"])
def test_files_of_other_machines_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, link: str) -> None:
    path = tmp_path / "a b%.parquet"
    path.write_text("a table")
    links = [] if link == "none" else [each.replace("{here}", quote(str(path))) for each in link.split(", ")]
    links = [path.as_uri()] * 1_001 if link == "many" else links
    work: Any = SimpleNamespace(table=lambda *_: SimpleNamespace(inputFiles=lambda: links))
    assert _work.Work.files(work, "a", "") == []
    links[:] = [path.as_uri()]
    assert _work.Work.files(work, "a", "") == [str(path)]
    monkeypatch.setattr(_work, "ANSWER_BYTES", 6)
    assert _work.Work.files(work, "a", "") == []
    assert _work.Work.files(SimpleNamespace(), "a", "") == []  # type: ignore[arg-type]
