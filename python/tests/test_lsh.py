"""Tests of `Lsh`, the index in memory."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from typing import Any

import pytest
from conftest import generated

import minwise
from minwise import Lsh, Spec

SPEC = "nfkc+casefold / words:2 / minhash:128 / seed:1"
FOX = "The quick brown fox jumps over the lazy dog and runs on."


def test_insert_query_remove() -> None:
    lsh = Lsh(SPEC, threshold=0.7)
    lsh.insert("fox", FOX)
    lsh.insert(("any", 1), "The cat sat on the mat and looked at the door.")
    [(key, estimate)] = lsh.query(FOX.lower())
    assert key == "fox" and estimate.value == 1.0 and estimate.low < 1.0
    assert lsh.query("something else") == []
    assert len(lsh) == 2 and ("any", 1) in lsh and "cat" not in lsh
    assert lsh.keys() == ["fox", ("any", 1)]
    lsh.remove("fox")
    assert lsh.query(FOX) == [] and "fox" not in lsh and len(lsh) == 1
    with pytest.raises(KeyError, match="'fox' is not in the index"):
        lsh.remove("fox")
    with pytest.raises(KeyError, match="already"):
        lsh.insert(("any", 1), FOX)
    with pytest.raises(TypeError):
        lsh.insert([], FOX)
    with pytest.raises(TypeError, match="document is int"):
        lsh.insert("x", 3)  # type: ignore[arg-type]
    assert len(lsh) == 1 and lsh.keys() == [("any", 1)]


def test_sketches_do_for_texts() -> None:
    spec = Spec(SPEC)
    lsh = Lsh(spec, threshold=0.5)
    sketches = spec.sketch([FOX, "other words are in this text"])
    lsh.insert("fox", sketches[0])
    assert lsh.query(sketches[0]) == lsh.query(FOX)
    with pytest.raises(ValueError, match="2 sketches"):
        lsh.query(sketches)
    with pytest.raises(minwise.SpecMismatch):
        lsh.insert("y", Spec().sketch([FOX]))
    other = Lsh(spec, threshold=0.5)
    other.insert_many(["a", "b"], sketches)
    assert [key for key, _ in other.query(FOX)] == ["a"]


def test_many_are_as_one_by_one() -> None:
    texts = generated(600)
    one, many = Lsh(threshold=0.5), Lsh(threshold=0.5)
    for number, text in enumerate(texts):
        one.insert(number, text)
    many.insert_many(range(len(texts)), texts, threads=2)
    assert many.keys() == one.keys()
    for text in texts[:50]:
        assert many.query(text) == one.query(text)
    with pytest.raises(KeyError, match=r"keys\[1\] is 5"):
        many.insert_many([9000, 5], ["a", "b"])
    with pytest.raises(KeyError, match=r"keys\[1\] is 7000"):
        many.insert_many([7000, 7000], ["a", "b"])
    with pytest.raises(ValueError, match="1 keys for 2 documents"):
        many.insert_many([1234567], ["a", "b"])
    with pytest.raises(TypeError, match=r"documents\[1\] is int"):
        many.insert_many([9000, 9001], ["a", 5])
    assert len(many) == len(texts)
    pyarrow = pytest.importorskip("pyarrow")
    arrow = Lsh(threshold=0.5)
    arrow.insert_many(range(len(texts)), pyarrow.array(texts))
    assert arrow.query(texts[3]) == one.query(texts[3])


def test_queries_find_what_pairs_finds() -> None:
    texts = generated(300)
    lsh = Lsh(threshold=0.8, recall=0.9999, keep_shingles=True)
    lsh.insert_many(range(len(texts)), texts)
    found = {
        (min(number, key), max(number, key)): similarity.value
        for number, text in enumerate(texts)
        for key, similarity in lsh.query(text)
        if key != number
    }
    exact = {(p.first, p.second): p.similarity for p in minwise.pairs(texts, candidates="all")}
    assert found == exact
    assert all(float(e) == e.low == e.high and e.standard_error == 0 for _, e in lsh.query(texts[0]))


def test_top_and_at_least() -> None:
    texts = [FOX, FOX + " And on.", FOX + " And on and on he runs.", "nothing of this"]
    lsh = Lsh(SPEC, bands=64, rows=2, threshold=0.9)
    lsh.insert_many(range(4), texts)
    assert [key for key, _ in lsh.query(FOX, at_least=0.3)] == [0, 1, 2]
    assert [key for key, _ in lsh.query(FOX, at_least=0.3, top=2)] == [0, 1]
    assert (lsh.bands, lsh.rows, lsh.threshold) == (64, 2, 0.9)
    with pytest.raises(minwise.SettingError):
        lsh.query(FOX, at_least=3.0)
    with pytest.raises(minwise.SettingError):
        Lsh(threshold=0.0)
    with pytest.raises(minwise.SettingError, match="go together"):
        Lsh(bands=3)


@pytest.mark.parametrize("keep", [False, True])
def test_pickle_and_merge(keep: bool) -> None:
    texts = generated(60)
    first, second = Lsh(keep_shingles=keep), Lsh(keep_shingles=keep)
    first.insert_many([("a", n) for n in range(30)], texts[:30])
    second.insert_many([("b", n) for n in range(30)], texts[30:])
    first.remove(("a", 3))
    copy = pickle.loads(pickle.dumps(first))
    assert copy.keys() == first.keys()
    for text in texts:
        assert copy.query(text) == first.query(text)
    copy.merge(pickle.loads(pickle.dumps(second)))
    assert len(copy) == 59
    assert {key for key, _ in copy.query(texts[45])} >= {("b", 15)}
    with pytest.raises(KeyError, match="both"):
        copy.merge(second)
    with pytest.raises(ValueError, match="itself"):
        copy.merge(copy)
    with pytest.raises(minwise.SpecMismatch):
        copy.merge(Lsh(SPEC))
    restore, state = first.__reduce__()
    with pytest.raises(ValueError, match="version 7"):
        restore(7, *state[1:])
    with pytest.raises(minwise.InputError, match="damaged"):
        restore(1, state[1][:20], state[2])


def test_threads_share_an_index() -> None:
    lsh = Lsh(threshold=0.5)
    texts = generated(400)
    failures: list[BaseException] = []

    def work(part: int) -> None:
        try:
            for number in range(part, 400, 4):
                lsh.insert(number, texts[number])
                assert any(key == number for key, _ in lsh.query(texts[number]))
            lsh.insert_many([(part, n) for n in range(50)], texts[:50], threads=2)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures and len(lsh) == 600


def test_strange_keys() -> None:
    class Odd:
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: Any) -> bool:
            raise RuntimeError("no comparison")

    lsh = Lsh()
    lsh.insert(Odd(), "a")
    with pytest.raises(RuntimeError, match="no comparison"):
        lsh.insert(Odd(), "b")
    assert len(lsh) == 1


def test_a_generator_may_ask_the_index() -> None:
    lsh = minwise.Lsh("nfkc+casefold / words:1 / minhash:128 / seed:1", threshold=0.5)
    lsh.insert("a", "one two three")
    texts = ["one two three", "four five six"]
    lsh.insert_many(["b"], (text for text in texts if not lsh.query(text)))
    assert lsh.keys() == ["a", "b"]


@pytest.mark.parametrize("call", ["insert", "insert_many", "remove", "contains", "merge", "repr of a taken key", "drop"])
def test_a_key_may_ask_the_index(call: str) -> None:
    """Comparing, showing and freeing keys runs Python code, which may call the index.

    So the index must not be locked meanwhile.
    """
    code = f"""
import minwise, gc
lsh = minwise.Lsh("nfkc+casefold / words:1 / minhash:128 / seed:1", threshold=0.5)
asked = []

class Key:
    def __init__(self, name): self.name = name
    def _ask(self): asked.append(len(lsh) + len(lsh.query("one two three")))
    def __hash__(self): self._ask(); return 7
    def __eq__(self, other): self._ask(); return self.name == other.name
    def __repr__(self): self._ask(); return self.name
    def __del__(self): self._ask()

lsh.insert(Key("a"), "one two three")
call = {call!r}
if call == "insert":
    lsh.insert(Key("b"), "one two three")
elif call == "insert_many":
    lsh.insert_many([Key("b"), Key("c")], ["one two three"] * 2)
elif call == "remove":
    lsh.remove(Key("a"))
elif call == "contains":
    assert Key("a") in lsh and Key("b") not in lsh
elif call == "merge":
    other = minwise.Lsh(lsh.spec, threshold=0.5)
    other.insert(Key("b"), "one two three")
    lsh.merge(other)
    assert len(lsh) == 2
elif call == "drop":
    lsh.remove(Key("a"))
    gc.collect()
else:
    try:
        lsh.insert(Key("a"), "x")
    except KeyError as error:
        assert "a is in the index already" in str(error), error
    try:
        lsh.insert_many([Key("b"), Key("a")], ["x", "y"])
    except KeyError as error:
        assert "keys[1] is a" in str(error), error
    assert Key("b") not in lsh and len(lsh) == 1
before = len(asked)
assert before > 1
print("done", flush=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd="/")
    assert done.stdout == "done\n" and done.returncode == 0, done.stderr


def test_a_key_of_a_document_that_is_refused_is_free_again() -> None:
    lsh = Lsh("nfkc+casefold / words:5,short=reject / minhash:128 / seed:1")
    for _ in range(2):
        with pytest.raises(minwise.SettingError):
            lsh.insert("a", "too short")
        with pytest.raises(minwise.SettingError, match="1"):
            lsh.insert_many(["a", "b"], ["one two three four five six", "too short"])
    assert len(lsh) == 0 and "a" not in lsh and lsh.keys() == []
    lsh.insert_many(["a", "b"], ["one two three four five six"] * 2)
    assert lsh.keys() == ["a", "b"]


def test_an_index_is_merged_once() -> None:
    first, second = Lsh(threshold=0.5), Lsh(threshold=0.5)
    second.insert_many([1, 2], ["one two three four five six", "seven eight nine ten eleven twelve"])
    first.merge(second)
    for _ in range(2):
        with pytest.raises(KeyError, match="1 is in both"):
            first.merge(second)
    assert len(first) == 2 and 1 in first and 2 in first
    first.remove(1)
    assert first.keys() == [2] and second.keys() == [1, 2]


def test_a_pickle_belongs_together_while_others_insert() -> None:
    lsh = Lsh(threshold=0.5)
    texts = generated(300)
    stop = threading.Event()

    def insert() -> None:
        for number, text in enumerate(texts):
            lsh.insert(number, text)
        stop.set()

    worker = threading.Thread(target=insert)
    worker.start()
    while not stop.is_set():
        copy = pickle.loads(pickle.dumps(lsh))
        for key in copy.keys()[-3:]:
            assert key in [found for found, _ in copy.query(texts[key])]
    worker.join()


def test_a_damaged_pickle_with_equal_keys_is_refused() -> None:
    lsh = Lsh()
    lsh.insert_many(["a", "b"], ["one two three four five", "six seven eight nine ten"])
    restore, state = lsh.__reduce__()
    with pytest.raises(minwise.InputError, match="damaged"):
        restore(state[0], state[1], ["a", "a"])
