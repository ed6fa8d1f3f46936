"""Tests that pairs of the job are those of the command, and sketches those of the Python package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import numpy
import pytest
from corpora import CORPORA, Command, forms, rows_of


@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("limits", [{}, {"_asking": 2, "_pairs": 10}], ids=["listed", "blocks"])
def test_pairs(sail: Any, command: Command, tmp_path: Path, name: str, limits: dict[str, int]) -> None:
    rows = rows_of(CORPORA[name]())
    expected = {}
    for line in command("pairs", command.write(rows)).splitlines():
        first, second, similarity = line.split("\t")
        expected[first, second] = float(similarity)
    df = sail.createDataFrame(rows)
    found = minwise.spark.pairs(df, text="text", order_by="row", work=str(tmp_path / "work"), **limits).collect()
    by_ids = {(row["first"], row["second"]): row["similarity"] for row in found}
    assert len(by_ids) == len(found)
    assert set(by_ids) == set(expected)
    for both, similarity in expected.items():
        assert abs(by_ids[both] - similarity) < 1e-6


def test_pairs_decide_nothing(sail: Any, tmp_path: Path) -> None:
    df = sail.createDataFrame(rows_of(["a b c"]))
    with pytest.raises(minwise.SettingError, match="`keep`"):
        minwise.spark.pairs(df, text="text", order_by="row", work=str(tmp_path / "work"), keep="longest")


def test_sketches_are_those_of_the_package(sail: Any) -> None:
    texts = [*forms(20), "", "日本語の文章"]
    rows = minwise.spark.sketch(sail.createDataFrame(rows_of(texts)), text="text", bands=8, rows=4).collect()
    sketches = minwise.Spec().sketch(texts)
    keys = sketches.band_keys(8, 4).astype(numpy.int64)
    assert len(rows) == len(texts)
    for row in rows:
        at = int(row["id"][1:])
        if texts[at] == "":
            assert row["sketch"] is None and row["band_keys"] is None
            continue
        assert (numpy.frombuffer(row["sketch"], "<u4") == numpy.asarray(sketches)[at]).all()
        assert (numpy.array(row["band_keys"]) == keys[at]).all()
