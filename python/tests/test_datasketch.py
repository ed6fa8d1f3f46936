"""Tests that `minwise.datasketch` gives the values of the installed datasketch."""

from __future__ import annotations

import inspect
import os
import pickle
import random
import re
from pathlib import Path
from typing import Any

import numpy
import pytest

datasketch = pytest.importorskip("datasketch")

import minwise  # noqa: E402
from minwise import datasketch as layer  # noqa: E402
from minwise.datasketch import LeanMinHash, MinHash, MinHashLSH, load, loads  # noqa: E402


def sets(count: int, seed: int = 1) -> list[list[bytes]]:
    source = random.Random(seed)
    made = []
    for _ in range(count):
        base = source.randrange(6)
        made.append([f"t{base}-{source.randrange(40)}".encode() for _ in range(source.randrange(60))])
    return made


@pytest.mark.parametrize(("registers", "seed"), [(128, 1), (64, 7), (200, 42), (1, 3), (129, 2**32 - 1)])
def test_values_are_equal_bit_for_bit(registers: int, seed: int) -> None:
    for tokens in [[], [b""], [b"one"], *sets(20)]:
        ours, theirs = MinHash(registers, seed), datasketch.MinHash(registers, seed)
        ours.update_batch(tokens)
        theirs.update_batch(tokens)
        assert ours.hashvalues.dtype == theirs.hashvalues.dtype == numpy.uint32
        assert (ours.hashvalues == theirs.hashvalues).all()
        for token in tokens[:3]:
            ours.update(token + b"!")
            theirs.update(token + b"!")
        assert (ours.digest() == theirs.digest()).all()
        assert ours.count() == theirs.count() and ours.is_empty() == theirs.is_empty()
        assert (ours.permutations == theirs.permutations).all()


def test_bulk_union_merge_and_jaccard() -> None:
    data = sets(30)
    ours, theirs = MinHash.bulk(data, num_perm=96), datasketch.MinHash.bulk(data, num_perm=96)
    assert all((a.hashvalues == b.hashvalues).all() for a, b in zip(ours, theirs))
    again = list(MinHash.generator(data, num_perm=96))
    assert again == ours
    for i in range(10):
        assert ours[i].jaccard(ours[i + 1]) == theirs[i].jaccard(theirs[i + 1])
        assert (MinHash.union(*ours[i : i + 3]).hashvalues == datasketch.MinHash.union(*theirs[i : i + 3]).hashvalues).all()
    merged = ours[0].copy()
    merged.merge(ours[1])
    assert merged == MinHash.union(ours[0], ours[1]) and merged != ours[0]
    merged.clear()
    assert merged.is_empty()
    assert MinHash.bulk([]) == []


def test_another_hash_function() -> None:
    def identity(value: int) -> int:
        return value

    ours, theirs = MinHash(hashfunc=identity), datasketch.MinHash(hashfunc=identity)
    ours.update_batch(range(100))
    theirs.update_batch(range(100))
    assert (ours.hashvalues == theirs.hashvalues).all()
    with pytest.raises(ValueError, match="32 bits"):
        ours.update(1 << 40)


def test_bytes_of_lean_sketches_are_equal() -> None:
    for scheme in ("affine32", "legacy", "affine64"):
        theirs = datasketch.MinHash(32, scheme=scheme)
        theirs.update_batch([b"a", b"b"])
        lean = datasketch.LeanMinHash(theirs)
        for order in "@<>":
            buffer = bytearray(lean.bytesize(order))
            lean.serialize(buffer, order)
            ours = LeanMinHash.deserialize(buffer, order)
            assert ours.scheme == scheme and (ours.hashvalues == lean.hashvalues).all()
            copy = bytearray(ours.bytesize(order))
            ours.serialize(copy, order)
            assert copy == buffer
        assert hash(ours) == hash(ours.copy()) and pickle.loads(pickle.dumps(ours)) == ours
        with pytest.raises(TypeError):
            ours.update(b"c")
    with pytest.raises(ValueError, match="holds no sketch"):
        LeanMinHash.deserialize(b"abc")
    with pytest.raises(ValueError, match="not made"):
        MinHash(scheme="legacy")
    with pytest.raises(ValueError, match="scheme must be given"):
        MinHash(hashvalues=[1, 2])
    with pytest.raises(ValueError, match="too small"):
        LeanMinHash(MinHash()).serialize(bytearray(3))


@pytest.mark.parametrize(("threshold", "registers"), [(0.9, 128), (0.5, 128), (0.8, 64), (0.3, 100), (0.7, 200)])
def test_bands_are_chosen_as_there(threshold: float, registers: int) -> None:
    pytest.importorskip("scipy")
    ours = MinHashLSH(threshold=threshold, num_perm=registers)
    theirs = datasketch.MinHashLSH(threshold=threshold, num_perm=registers)
    assert (ours.b, ours.r) == (theirs.b, theirs.r)


def filled(count: int = 200) -> tuple[Any, Any, list[Any], list[Any]]:
    data = sets(count)
    ours, theirs = MinHash.bulk(data), datasketch.MinHash.bulk(data)
    a, b = MinHashLSH(threshold=0.5), datasketch.MinHashLSH(threshold=0.5)
    for number, (x, y) in enumerate(zip(ours, theirs)):
        a.insert(number, x)
        b.insert(number, y)
    return a, b, ours, theirs


def test_queries_give_the_keys_of_datasketch() -> None:
    a, b, ours, theirs = filled()
    for x, y in zip(ours, theirs):
        assert sorted(a.query(x)) == sorted(b.query(y))
        scored = a.query(x, scores=True)
        assert all(score == x.jaccard(ours[key]) for key, score in scored)
        assert [score for _, score in scored] == sorted((score for _, score in scored), reverse=True)
    for key in range(0, 200, 3):
        a.remove(key)
        b.remove(key)
    for x, y in zip(ours, theirs):
        assert sorted(a.query(x)) == sorted(b.query(y))
    assert 0 not in a and 1 in a and len(a) == len(list(b.keys))
    for index, sketch in ((a, ours[1]), (b, theirs[1])):
        with pytest.raises(ValueError):
            index.insert(1, sketch)
        with pytest.raises(ValueError):
            index.remove(0)
    copy = pickle.loads(pickle.dumps(a))
    assert copy.query(ours[4]) == a.query(ours[4])


def test_sessions_and_merging() -> None:
    first, second = MinHashLSH(params=(16, 8)), MinHashLSH(params=(16, 8))
    made = MinHash.bulk(sets(20))
    with first.insertion_session() as session:
        for number in range(10):
            session.insert(number, made[number])
    for number in range(10, 20):
        second.insert(number, made[number])
    first.merge(second, check_overlap=True)
    assert len(first) == 20
    with pytest.raises(ValueError, match="both"):
        first.merge(second, check_overlap=True)
    first.merge(second)
    assert len(first) == 20
    with first.deletion_session() as session:
        session.remove(3)
    assert 3 not in first and not first.is_empty()
    with pytest.raises(ValueError, match="registers"):
        first.query(MinHash(64))
    with pytest.raises(ValueError, match="as many"):
        first.merge(MinHashLSH(params=(8, 16)))


def test_stored_sketches_and_indexes_are_loaded(tmp_path: Path) -> None:
    _, b, ours, theirs = filled(60)
    path = tmp_path / "sketches.pickle"
    path.write_bytes(pickle.dumps({"all": theirs, "lean": datasketch.LeanMinHash(theirs[3])}))
    loaded = load(path)
    assert all((x.hashvalues == y.hashvalues).all() for x, y in zip(loaded["all"], ours))
    assert (loaded["lean"].hashvalues == ours[3].hashvalues).all()
    loaded["all"][0].update(b"more")
    # A loaded index gives the same answers as before, and accepts more sketches.
    index = loads(pickle.dumps(b))
    for x, y in zip(ours, theirs):
        assert sorted(index.query(x)) == sorted(b.query(y))
    index.insert("new", ours[0])
    assert "new" in index.query(ours[0])
    old = datasketch.MinHash(scheme="legacy")
    old.update_batch([b"a", b"b"])
    stored = datasketch.MinHashLSH(threshold=0.5)
    stored.insert("old", old)
    index = loads(pickle.dumps(stored))
    assert index.query(loads(pickle.dumps(old))) == ["old"]
    with pytest.raises(ValueError, match="scheme"):
        index.query(MinHash())


def test_a_pickle_cannot_run_code(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "made"),)

    for data in (pickle.dumps(Evil()), pickle.dumps([datasketch.MinHash(), Evil()])):
        with pytest.raises(minwise.InputError, match="no part of datasketch"):
            loads(data)
    assert not (tmp_path / "made").exists()
    for broken in (b"", b"nonsense", pickle.dumps(datasketch.MinHash())[:50]):
        with pytest.raises(minwise.InputError):
            loads(broken)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


class Reduced:
    """An object whose pickle calls a function."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize(
    "harmful",
    [
        Reduced(numpy.ndarray, (2,), "O", bytearray(16)),
        Reduced(numpy.dtype, "O"),
        numpy.array(["a", None], dtype=object),
        Reduced(eval, "1"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_a_harmful_pickle_is_refused(harmful: Any, protocol: int) -> None:
    with pytest.raises(minwise.InputError):
        loads(pickle.dumps(harmful, protocol=protocol))


def parameters(value: Any) -> set[str]:
    return set(inspect.signature(value).parameters)


def test_the_list_of_differences_is_complete() -> None:
    """Every public member and argument of datasketch's classes is in `minwise.datasketch`, or its docstring lists it as
    missing.
    """
    listed = set(re.findall(r"``(\w+)``", layer.__doc__ or ""))
    left_out = set()
    for name in ("MinHash", "LeanMinHash", "MinHashLSH"):
        theirs, ours = getattr(datasketch, name), getattr(layer, name)
        left_out |= parameters(theirs) - parameters(ours)
        for member, value in inspect.getmembers(theirs):
            if member.startswith("_"):
                continue
            if not hasattr(ours, member) and not hasattr(ours(**({"minhash": MinHash()} if name == "LeanMinHash" else {})), member):
                left_out.add(member)
            elif inspect.isfunction(value):
                left_out |= parameters(value) - parameters(getattr(ours, member))
    assert left_out <= listed, left_out - listed
    # The docstring must not list members that exist. If this assertion fails, one was added and the docstring must be
    # changed.
    assert {"gpu_mode", "hashobj", "storage_config", "prepickle", "add_to_query_buffer", "get_counts"} <= left_out


def test_the_differences_are_those_of_the_list() -> None:
    data = [[b"a", b"b"], [b"c", b"d"]]
    ours, theirs = MinHash.bulk(data), datasketch.MinHash.bulk(data)
    assert not hasattr(datasketch.MinHashLSH, "__len__") and len(MinHashLSH()) == 0
    mine, other = MinHashLSH(params=(16, 8)), datasketch.MinHashLSH(params=(16, 8))
    for index, sketches in ((mine, ours), (other, theirs)):
        index.insert("key", sketches[0])
        index.insert("key", sketches[1], check_duplication=False)
    assert mine.query(ours[0]) == [] and mine.query(ours[1]) == ["key"]
    assert other.query(theirs[0]) == ["key"] and other.query(theirs[1]) == ["key"]
    sixty_four = datasketch.MinHash(scheme="affine64")
    sixty_four.update(b"a")
    with pytest.raises(ValueError, match="affine64"):
        mine.insert("wide", loads(pickle.dumps(sixty_four)))
    with pytest.raises(TypeError, match="cannot be updated"):
        loads(pickle.dumps(sixty_four)).update(b"b")
