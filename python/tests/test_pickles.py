"""Tests that pickles of every released format can be read.

`python test_pickles.py` writes pickles of the current format.
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import minwise
from minwise.datasketch import LeanMinHash, MinHash, MinHashLSH

FIXTURES = Path(__file__).parent / "fixtures"
SPEC = "nfkc+casefold / words:2 / minhash:16 / seed:3"
TEXTS = ["a rose is a rose is a rose", "A rose is a rose is a rose!", "", "a daffodil is no rose at all"]


def made() -> dict[str, Any]:
    """Returns an object of each class that can be pickled, by name."""
    spec = minwise.Spec(SPEC)
    lsh = minwise.Lsh(spec, threshold=0.5, keep_shingles=True)
    lsh.insert_many(["a", ("b", 2), 3, None], TEXTS)
    sketch = MinHash(8)
    sketch.update_batch([b"a", b"b"])
    index = MinHashLSH(num_perm=8, params=(4, 2))
    index.insert("key", sketch)
    index.insert("empty", MinHash(8))
    return {
        "spec": spec,
        "sketches": spec.sketch(TEXTS),
        "lsh": lsh,
        "dedup": minwise.dedup(TEXTS, id=["w", "x", "y", "z"], against=[TEXTS[3]], spec=SPEC, threads=1, audit="off"),
        "estimate": minwise.Estimate(0.5, 0.1, 0.4, 0.6),
        "lean-minhash": LeanMinHash(sketch),
        "minhash": sketch,
        "minhash-lsh": index,
    }


def same(name: str, one: Any, other: Any) -> bool:
    if name == "lsh":
        return bool(one.keys() == other.keys() and all(one.query(text) == other.query(text) for text in TEXTS))
    if name == "dedup":
        return bool(one.decisions == other.decisions and one.summary == other.summary)
    if name == "minhash-lsh":
        sketch = made()["minhash"]
        return bool(one.query(sketch, scores=True) == other.query(sketch, scores=True) == [("key", 1.0)])
    return bool(one == other)


@pytest.mark.parametrize("name", list(made()))
def test_a_pickle_of_each_format_is_read(name: str) -> None:
    fixtures = sorted(FIXTURES.glob(f"{name}-[0-9]*.pickle"))
    assert fixtures, f"there is no pickle of {name}"
    for path in fixtures:
        assert same(name, pickle.loads(path.read_bytes()), made()[name]), path
    assert same(name, pickle.loads(pickle.dumps(made()[name])), made()[name])


if __name__ == "__main__":
    for name, value in made().items():
        (FIXTURES / f"{name}-1.pickle").write_bytes(pickle.dumps(value, protocol=4))
