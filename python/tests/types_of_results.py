"""States the types that a type checker must infer.

`python/check.py` has mypy and pyright read this file; it is never run.
"""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_type

import minwise


def texts() -> Iterator[str]:
    yield "a rose"


assert_type(minwise.dedup(["a", "b"]).kept, list[str])
assert_type(minwise.dedup(texts()).kept, minwise.Stream[str])
assert_type(minwise.dedup({"text": text} for text in ["a"]).kept, minwise.Stream[dict[str, str]])
assert_type(minwise.dedup(["a"]).restore(below=0.9).kept, list[str])
assert_type(list(minwise.dedup(texts()).removed), list[str])
assert_type(minwise.pairs(["a"])[0], minwise.Pair)
assert_type(minwise.dedup(["a"]).decisions[:2], list[minwise.Decision])
