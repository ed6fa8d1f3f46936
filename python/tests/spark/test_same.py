"""The job decides as the command does: removed set, keepers and similarities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import minwise.spark
import pytest
from corpora import CORPORA, Command, assert_same, decided_by, rows_of


@pytest.mark.parametrize("limits", [{}, {"_here": 0}], ids=["driver", "tasks"])
@pytest.mark.parametrize("name", CORPORA)
def test_default_settings(sail: Any, command: Command, tmp_path: Path, name: str, limits: dict[str, int]) -> None:
    """Pairs of a small input are compared by the driver, and those of others by tasks."""
    rows = rows_of(CORPORA[name]())
    expected, summary = command.dedup(rows)
    df = sail.createDataFrame(rows)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), **limits)
    assert (tmp_path / "work/texts").exists() == ("_here" in limits)
    assert_same(decided_by(result), expected)
    assert result.summary["removed"] == len(expected)
    assert result.kept.count() == len(rows) - len(expected)
