"""Tests of the golden values in `vectors/`, which every implementation must reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import minwise
from minwise import Sketches, Spec

tomllib = pytest.importorskip("tomllib")


@pytest.fixture
def vectors(root: Path) -> Any:
    return lambda name: tomllib.loads((root / f"vectors/{name}.toml").read_text(encoding="utf-8"))


def numbers(digits: list[str]) -> list[int]:
    return [int(number, 16) for number in digits]


def test_specs(vectors: Any) -> None:
    rows = vectors("spec")["spec"]
    assert len(rows) > 10
    for row in rows:
        spec = Spec(row["given"])
        assert (str(spec), spec.fingerprint) == (row["text"], int(row["fingerprint"], 16))


def test_shingles(vectors: Any) -> None:
    rows = vectors("shingle")["text"]
    assert len(rows) > 10
    for row in rows:
        for shingling, expected in row["shingles"].items():
            assert Spec.of(shingle=shingling).shingles(row["source"]).tolist() == numbers(expected), (row["name"], shingling)


def test_sketches(vectors: Any) -> None:
    rows = vectors("minhash")["document"]
    assert len(rows) > 3
    for row in rows:
        assert numpy.asarray(Spec(row["spec"]).sketch([row["source"]]))[0].tolist() == numbers(row["sketch"])


def test_band_keys(vectors: Any) -> None:
    rows = vectors("minhash")["band_keys"]
    assert len(rows) > 5
    for row in rows:
        words = numpy.array(numbers(row["sketch"]), dtype="<u4")
        spec = f"nfkc+casefold / words:5 / minhash:{len(words)} / seed:1"
        sketches = Sketches._restore(1, spec, words.tobytes(), b"\x01", None)
        assert sketches.band_keys(row["bands"], row["rows"])[0].tolist() == numbers(row["keys"])


def test_choices(vectors: Any) -> None:
    rows = vectors("tune")["choice"]
    assert len(rows) > 50
    for row in rows:
        chosen = minwise.plan(row["threshold"], recall=row["recall"], registers=row["registers"])
        assert (chosen.bands, chosen.rows) == (row["bands"], row["rows"])
        assert abs(chosen.expected_false_candidates - row["false_candidates"]) < 1e-6
