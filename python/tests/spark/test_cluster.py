"""Asks that tasks work out, one per component, are those that the driver works out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import minwise.spark
import pytest
from corpora import CORPORA, Command, assert_same, decided_by, rows_of

#: The driver takes nothing.
CLUSTER = {"_driver": 0}


@pytest.mark.parametrize("cluster", ["star", "components"])
@pytest.mark.parametrize("name", CORPORA)
def test_decisions_on_the_cluster(sail: Any, command: Command, tmp_path: Path, name: str, cluster: str) -> None:
    rows = rows_of(CORPORA[name]())
    expected, _ = command.dedup(rows, "--cluster", cluster)
    df = sail.createDataFrame(rows)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "cluster": cluster, "_asking": 4, "_pairs": 200}
    on_driver = minwise.spark.dedup(df, work=str(tmp_path / "driver"), **settings)
    result = minwise.spark.dedup(df, work=str(tmp_path / "cluster"), **settings, **CLUSTER)
    assert_same(decided_by(result), expected)
    assert_same(decided_by(on_driver), expected)
    for count in ("rounds", "asked", "screened", "similar", "removed"):
        assert result.summary[count] == on_driver.summary[count], count
    assert minwise.spark.dedup(df, work=str(tmp_path / "cluster"), **settings, **CLUSTER).summary["steps_computed"] == 0


@pytest.mark.parametrize("cluster", ["star", "components"])
def test_full_shelves_decide_alike_everywhere(sail: Any, tmp_path: Path, cluster: str) -> None:
    """A full shelf leaves documents out, whoever works out the asks and whether pairs are listed."""
    rows = rows_of(CORPORA["family"]() + CORPORA["generated"]()[:100])
    df = sail.createDataFrame(rows)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "cluster": cluster, "audit": "off"}
    whole = decided_by(minwise.spark.dedup(df, work=str(tmp_path / "whole"), **settings))
    found = []
    for at, limits in enumerate([{}, {"_asking": 2, "_pairs": 20}, {"_driver": 0}, {"_driver": 0, "_asking": 2, "_pairs": 20}]):
        result = minwise.spark.dedup(df, work=str(tmp_path / str(at)), **settings, **limits, _shelf=2)
        found.append(decided_by(result))
    assert found[0] != whole
    for other in found[1:]:
        assert_same(other, found[0])
