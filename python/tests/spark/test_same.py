"""Tests that the job decides as the command does: same removed documents, keepers and similarities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import minwise.spark
import pytest
from corpora import CORPORA, Command, assert_same, decided_by, rows_of
from minwise.spark import _rounds


@pytest.mark.parametrize("limits", [{}, {"_here": 0}], ids=["driver", "tasks"])
@pytest.mark.parametrize("name", CORPORA)
def test_default_settings(sail: Any, command: Command, tmp_path: Path, name: str, limits: dict[str, int]) -> None:
    """The driver compares the pairs of a small input, and tasks those of a larger one."""
    rows = rows_of(CORPORA[name]())
    expected, summary = command.dedup(rows)
    df = sail.createDataFrame(rows)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), **limits)
    assert (tmp_path / "work/texts").exists() == ("_here" in limits)
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
