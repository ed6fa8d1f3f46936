"""The classes of datasketch 2 that deduplication needs, with the same values, on the kernels of this package.

Sketches are equal bit for bit to those of datasketch 2.0 with its default scheme ``affine32``, so stored sketches can be used.

>>> from minwise.datasketch import MinHash, MinHashLSH
>>> first, second = MinHash(), MinHash()
>>> first.update_batch([b"to", b"be", b"or", b"not"])
>>> second.update_batch([b"to", b"be", b"or", b"so"])
>>> lsh = MinHashLSH(threshold=0.4)
>>> lsh.insert("first", first)
>>> lsh.query(second)
['first']

These are all differences from datasketch 2.0:

- This module has only ``MinHash``, ``LeanMinHash`` and ``MinHashLSH``, and an index is in memory.
- ``MinHash`` has no ``gpu_mode``, ``hashobj`` or ``permutations`` among its arguments, so pass all arguments after ``seed`` by
  name.
- Sketches of the schemes ``legacy`` and ``affine64`` can be loaded, compared and merged, but not made or updated.
- ``MinHashLSH`` has no ``storage_config``, ``prepickle`` or ``hashfunc`` among its arguments; ``buffer_size`` of a session has no
  effect, because nothing is buffered.
- ``MinHashLSH`` has no ``add_to_query_buffer``, ``collect_query_buffer``, ``get_counts``, ``get_subset_counts`` or
  ``buffer_size``. ``keys`` is a method: write ``lsh.keys()`` for ``lsh.keys``. ``len(lsh)`` is new.
- ``query`` returns keys in the order of their similarities, and with ``scores=True`` also the similarities. datasketch returns keys
  in any order.
- A key that is inserted again with ``check_duplication=False``, or is in both indexes of a ``merge``, has its last sketch. In
  datasketch, the key is found by the bands of the old and of the new sketch.
- An index takes no sketches of ``affine64``.
- An index that datasketch pickled has only the registers of its bands, so similarities are estimated from these registers.
- Pickles of datasketch are read by ``load`` and ``loads``, which run no code of a pickle. ``pickle`` writes sketches and indexes of
  this module as its own classes, which datasketch does not read; ``LeanMinHash.serialize`` writes bytes that both read.
- Messages of errors differ.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from . import _minwise

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

__all__ = ["LeanMinHash", "MinHash", "MinHashLSH", "load", "loads", "sha1_hash32"]

HashFunction = Callable[[Any], int]

_SCHEMES = ("affine32", "affine64", "legacy")
TYPES: dict[str, Any] = {"affine32": numpy.uint32, "affine64": numpy.uint64, "legacy": numpy.uint64}
MOST = {"affine32": (1 << 32) - 1, "affine64": (1 << 64) - 1, "legacy": (1 << 32) - 1}
_CODES = {"affine32": 1, "affine64": 2}


def sha1_hash32(data: bytes) -> int:
    """Returns the first four bytes of the SHA-1 of some bytes as a number. This function is the default hash function.

    >>> sha1_hash32(b"to be")
    2202304058
    """
    return int.from_bytes(hashlib.sha1(data).digest()[:4], "little")


def _drawn(registers: int, seed: int) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32]]:
    """Draws multipliers and offsets from NumPy's generator, in the same way as datasketch."""
    generator = numpy.random.RandomState(seed)
    kind = numpy.uint32
    multipliers = generator.randint(0, 1 << 31, registers, dtype=kind) * kind(2) + kind(1)
    offsets = generator.randint(0, 1 << 32, registers, dtype=kind)
    for array in (multipliers, offsets):
        array.flags.writeable = False
    return multipliers, offsets


def _checked_scheme(scheme: str) -> str:
    if scheme not in _SCHEMES:
        raise ValueError(f"scheme is {scheme!r}: it must be one of {', '.join(_SCHEMES)}")
    return scheme


def _values(values: Any, scheme: str) -> NDArray[Any]:
    """Converts registers to an array of the scheme's type. Raises ValueError if a value does not fit the type."""
    given = values if isinstance(values, numpy.ndarray) else [int(value) for value in values]
    if len(given) and (min(given) < 0 or max(given) > MOST[scheme]):
        raise ValueError(f"a hash value is out of range for the scheme {scheme!r}")
    return numpy.array(given, dtype=TYPES[scheme])


_drawn_before: dict[tuple[int, int], tuple[NDArray[numpy.uint32], NDArray[numpy.uint32]]] = {}


def _coefficients(registers: int, seed: int) -> tuple[NDArray[numpy.uint32], NDArray[numpy.uint32]]:
    """Returns multipliers and offsets from a cache, because drawing them takes longer than sketching a small set."""
    found = _drawn_before.get((registers, seed))
    if found is None:
        if len(_drawn_before) >= 64:
            _drawn_before.clear()
        found = _drawn_before[registers, seed] = _drawn(registers, seed)
    return found


class MinHash:
    """A MinHash sketch of a set. Its hash values equal those of ``datasketch.MinHash`` (version 2.0, default scheme) bit for bit.

    >>> sketch = MinHash(num_perm=16)
    >>> sketch.update(b"token")
    >>> len(sketch), sketch.is_empty()
    (16, False)
    """

    seed: int
    num_perm: int
    scheme: str
    hashvalues: NDArray[Any]
    hashfunc: HashFunction

    def __init__(
        self,
        num_perm: int = 128,
        seed: int = 1,
        hashfunc: HashFunction | None = None,
        hashvalues: Sequence[int] | NDArray[Any] | None = None,
        scheme: str | None = None,
    ) -> None:
        if scheme is None:
            if hashvalues is not None:
                raise ValueError("scheme must be given with hashvalues, because values do not tell their scheme")
            scheme = "affine32"
        self.scheme = _checked_scheme(scheme)
        if hashvalues is None and scheme != "affine32":
            raise ValueError(f"sketches of the scheme {scheme!r} can be loaded, but not made: use 'affine32'")
        if hashfunc is not None and not callable(hashfunc):
            raise ValueError("hashfunc must be a function")
        self.hashfunc = sha1_hash32 if hashfunc is None else hashfunc
        self.seed = seed
        if hashvalues is None:
            if not 1 <= num_perm <= 1 << 16:
                raise ValueError("num_perm must be from 1 to 65,536")
            self.hashvalues = numpy.full(num_perm, MOST[scheme], dtype=TYPES[scheme])
        else:
            self.hashvalues = _values(hashvalues, scheme)
        self.num_perm = len(self.hashvalues)

    @property
    def permutations(self) -> NDArray[numpy.uint32]:
        """The multipliers and the offsets of the hash functions."""
        self._check_writable()
        return numpy.array(_coefficients(self.num_perm, self.seed))

    def _check_writable(self) -> None:
        if self.scheme != "affine32":
            raise TypeError(f"a sketch of the scheme {self.scheme!r} cannot be updated")

    def update(self, b: Any) -> None:
        """Adds a value to the set."""
        self.update_batch((b,))

    def update_batch(self, b: Iterable[Any]) -> None:
        """Adds values to the set."""
        self._check_writable()
        hashes = _hashes(self.hashfunc, b)
        if len(hashes) == 0:
            return
        self.hashvalues = _sketch(hashes, [len(hashes)], self.hashvalues, self.seed)[0]

    def jaccard(self, other: MinHash) -> float:
        """Returns the estimated Jaccard similarity."""
        self._check_same(other)
        return float(numpy.count_nonzero(self.hashvalues == other.hashvalues)) / float(len(self))

    def _check_same(self, other: MinHash) -> None:
        mine = (self.scheme, self.seed, len(self))
        theirs = (getattr(other, "scheme", None), other.seed, len(other))
        for name, left, right in zip(("scheme", "seed", "number of registers"), mine, theirs):
            if left != right:
                raise ValueError(f"the sketches differ in their {name}: {left!r} and {right!r}")

    def count(self) -> float:
        """Returns the estimated number of values in the set."""
        share = self.hashvalues / float(MOST[self.scheme])
        return float(float(len(self)) / numpy.sum(share) - 1.0)

    def merge(self, other: MinHash) -> None:
        """Turns this sketch into the sketch of the union of both sets."""
        self._check_same(other)
        self.hashvalues = numpy.minimum(other.hashvalues, self.hashvalues)

    def digest(self) -> NDArray[Any]:
        """Returns a copy of the registers."""
        return self.hashvalues.copy()

    def is_empty(self) -> bool:
        """Reports whether the set has no values."""
        return bool((self.hashvalues == MOST[self.scheme]).all())

    def clear(self) -> None:
        """Removes all values."""
        self.hashvalues = numpy.full(len(self), MOST[self.scheme], dtype=TYPES[self.scheme])

    def copy(self) -> MinHash:
        """Returns an independent copy of the sketch."""
        return MinHash(seed=self.seed, hashfunc=self.hashfunc, hashvalues=self.hashvalues, scheme=self.scheme)

    def __len__(self) -> int:
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        return (
            type(self) is type(other)
            and isinstance(other, MinHash)
            and (self.scheme, self.seed) == (other.scheme, other.seed)
            and numpy.array_equal(self.hashvalues, other.hashvalues)
        )

    @classmethod
    def union(cls, *sketches: MinHash) -> MinHash:
        """Returns the sketch of the union of several sets."""
        if len(sketches) < 2:
            raise ValueError("a union needs at least 2 sketches")
        result = sketches[0].copy()
        for other in sketches[1:]:
            result.merge(other)
        return result

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **arguments: Any) -> list[MinHash]:
        """Returns a list with one sketch per set of values.

        >>> [len(sketch) for sketch in MinHash.bulk([[b"a", b"b"], [b"c"]], num_perm=64)]
        [64, 64]
        """
        model = cls(**arguments)
        model._check_writable()
        hashes: list[NDArray[numpy.uint32]] = []
        ends: list[int] = []
        total = 0
        for values in b:
            some = _hashes(model.hashfunc, values)
            total += len(some)
            hashes.append(some)
            ends.append(total)
        if not ends:
            return []
        rows = _sketch(numpy.concatenate(hashes), ends, model.hashvalues, model.seed)
        sketches = []
        for row in rows:
            sketch = cls.__new__(cls)
            sketch.scheme, sketch.seed, sketch.num_perm = model.scheme, model.seed, model.num_perm
            sketch.hashfunc, sketch.hashvalues = model.hashfunc, row
            sketches.append(sketch)
        return sketches

    @classmethod
    def generator(cls, b: Iterable[Iterable[Any]], **arguments: Any) -> Iterator[MinHash]:
        """Yields the sketches of sets of values, one after the other."""
        model = cls(**arguments)
        for values in b:
            sketch = model.copy()
            sketch.update_batch(values)
            yield sketch


def _hashes(function: HashFunction, values: Iterable[Any]) -> NDArray[numpy.uint32]:
    if function is sha1_hash32:
        sha1 = hashlib.sha1
        digests = b"".join([sha1(value).digest()[:4] for value in values])
        return numpy.frombuffer(digests, dtype="<u4").astype(numpy.uint32, copy=False)
    try:
        return numpy.array([function(value) for value in values], dtype=numpy.uint32)
    except OverflowError:
        raise ValueError("hashfunc returned a number that 32 bits cannot hold") from None


def _sketch(hashes: NDArray[numpy.uint32], ends: list[int], begin: NDArray[Any], seed: int) -> NDArray[numpy.uint32]:
    multipliers, offsets = _coefficients(len(begin), seed)
    made = _minwise.affine32(
        hashes.tobytes(), multipliers.tobytes(), offsets.tobytes(), begin.astype(numpy.uint32).tobytes(), ends
    )
    return numpy.frombuffer(bytearray(made), dtype=numpy.uint32).reshape(len(ends), len(begin))


class LeanMinHash(MinHash):
    """A sketch that can no longer be updated, and is serialized to the same bytes as by datasketch.

    >>> lean = LeanMinHash(MinHash(num_perm=4))
    >>> buffer = bytearray(lean.bytesize())
    >>> lean.serialize(buffer)
    >>> LeanMinHash.deserialize(buffer) == lean
    True
    """

    def __init__(
        self,
        minhash: MinHash | None = None,
        seed: int | None = None,
        hashvalues: Sequence[int] | NDArray[Any] | None = None,
        scheme: str | None = None,
    ) -> None:
        if minhash is not None:
            if scheme is not None and scheme != minhash.scheme:
                raise ValueError(f"scheme is {scheme!r}, and that of the sketch is {minhash.scheme!r}")
            seed, hashvalues, scheme = minhash.seed, minhash.hashvalues, minhash.scheme
        if seed is None or hashvalues is None:
            raise ValueError("either minhash, or seed and hashvalues must be given")
        super().__init__(seed=seed, hashvalues=hashvalues, scheme=scheme)

    def _check_writable(self) -> None:
        raise TypeError("a LeanMinHash cannot be updated")

    def copy(self) -> LeanMinHash:
        """Returns an independent copy of the sketch."""
        return LeanMinHash(self)

    def __hash__(self) -> int:
        return hash((self.scheme, self.seed, tuple(self.hashvalues.tolist())))

    def _form(self, order: str) -> str:
        if self.scheme == "legacy":
            return f"{order}qi{len(self)}I"
        return f"{order}qiB{len(self)}{'I' if self.scheme == 'affine32' else 'Q'}"

    def bytesize(self, byteorder: str = "@") -> int:
        """Returns the number of bytes that :meth:`serialize` writes."""
        return struct.calcsize(self._form(byteorder))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Writes the sketch into a buffer, as datasketch does."""
        if len(buf) < self.bytesize(byteorder):
            raise ValueError("the buffer is too small for this sketch")
        values = self.hashvalues.tolist()
        if self.scheme == "legacy":
            struct.pack_into(self._form(byteorder), buf, 0, self.seed, len(self), *values)
        else:
            struct.pack_into(self._form(byteorder), buf, 0, self.seed, -len(self), _CODES[self.scheme], *values)

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """Reads a sketch that :meth:`serialize` wrote, here or in datasketch."""
        head = f"{byteorder}qi"
        try:
            seed, count = struct.unpack_from(head, buf, 0)
            if count >= 0:
                scheme, at = "legacy", struct.calcsize(head)
            else:
                (code,) = struct.unpack_from(f"{byteorder}B", buf, struct.calcsize(head))
                schemes = {code: scheme for scheme, code in _CODES.items()}
                if code not in schemes:
                    raise ValueError(f"{code} is not the code of a scheme")
                scheme = schemes[code]
                at = struct.calcsize(f"{head}B0{'I' if scheme == 'affine32' else 'Q'}")
            form = "Q" if scheme == "affine64" else "I"
            values = struct.unpack_from(f"{byteorder}{abs(count)}{form}", buf, at)
        except struct.error as error:
            raise ValueError(f"the buffer holds no sketch: {error}") from None
        return cls(seed=seed, hashvalues=values, scheme=scheme)

    def __reduce__(self) -> tuple[Any, ...]:
        return LeanMinHash, (None, self.seed, self.hashvalues, self.scheme)


def _best_bands(threshold: float, registers: int, weights: tuple[float, float]) -> tuple[int, int]:
    """Chooses bands and rows as datasketch does: with the smallest weighted sum of the areas of wrong and of missed
    answers.

    The areas are integrals of the S-curve, a polynomial whose degree is at most the number of registers. So
    Gauss–Legendre quadrature with half as many points is exact.
    """
    points, shares = numpy.polynomial.legendre.leggauss(registers // 2 + 1)
    below = (points + 1.0) / 2.0 * threshold
    above = threshold + (points + 1.0) / 2.0 * (1.0 - threshold)
    best, least = (0, 0), float("inf")
    for bands in range(1, registers + 1):
        for rows in range(1, registers // bands + 1):
            wrong = float(shares @ (1.0 - (1.0 - below**rows) ** bands)) / 2.0 * threshold
            missed = float(shares @ (1.0 - above**rows) ** bands) / 2.0 * (1.0 - threshold)
            error = wrong * weights[0] + missed * weights[1]
            if error < least:
                best, least = (bands, rows), error
    return best


class MinHashLSH:
    """An index of sketches in memory, with the same answers as the index of datasketch, and scores on demand.

    >>> lsh = MinHashLSH(threshold=0.5, num_perm=128)
    >>> sketch = MinHash()
    >>> sketch.update_batch([b"to", b"be", b"or"])
    >>> lsh.insert("hamlet", sketch)
    >>> lsh.query(sketch, scores=True)
    [('hamlet', 1.0)]
    """

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
    ) -> None:
        if not 0.0 <= threshold <= 1.0:
            raise ValueError("threshold must be from 0 to 1")
        if num_perm < 2:
            raise ValueError("num_perm must be at least 2")
        if any(weight < 0.0 or weight > 1.0 for weight in weights) or abs(sum(weights) - 1.0) > 1e-9:
            raise ValueError("weights must be from 0 to 1 and add up to 1")
        if params is None:
            params = _best_bands(float(threshold), num_perm, (float(weights[0]), float(weights[1])))
        self._begin(threshold, num_perm, params[0], params[1], num_perm)

    def _begin(self, threshold: float, num_perm: int, bands: int, rows: int, width: int) -> None:
        if bands < 1 or rows < 1 or bands * rows > num_perm:
            raise ValueError(f"{bands} bands of {rows} rows do not fit {num_perm} registers")
        self.threshold = threshold
        self.h = num_perm
        self.b = bands
        self.r = rows
        #: Number of registers of each sketch that the index stores: all registers, or only those of the bands if the
        #: index was loaded.
        self._width = width
        spec = f"none / words:1 / minhash:{width} / seed:1"
        # The threshold has no effect, because `_query_row` returns all sketches that share a band.
        self._lsh = _minwise.Lsh(spec, threshold=0.5, bands=bands, rows=rows)
        #: Keys of sketches of empty sets. Empty sketches are kept out of the bands, because they share all bands with
        #: one another.
        self._empty: dict[Hashable, None] = {}
        self._scheme: str | None = None

    def _row(self, minhash: MinHash) -> bytes:
        if len(minhash) != self.h:
            raise ValueError(f"the sketch has {len(minhash)} registers, and those of the index have {self.h}")
        if self._scheme is not None and minhash.scheme != self._scheme:
            raise ValueError(f"the sketch has the scheme {minhash.scheme!r}, and those of the index {self._scheme!r}")
        if minhash.scheme == "affine64":
            raise ValueError("an index holds sketches of 32 bits per register, and those of 'affine64' have 64")
        return minhash.hashvalues[: self._width].astype(numpy.uint32).tobytes()

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        """Inserts a sketch. A key that the index has already raises ``ValueError``, unless ``check_duplication`` is false."""
        row = self._row(minhash)
        if key in self:
            if check_duplication:
                raise ValueError(f"the key {key!r} is in the index already")
            self.remove(key)
        if minhash.is_empty():
            self._empty[key] = None
        else:
            self._lsh._insert_row(key, row)
        self._scheme = minhash.scheme

    @overload
    def query(self, minhash: MinHash, scores: Literal[False] = False) -> list[Any]: ...

    @overload
    def query(self, minhash: MinHash, scores: Literal[True]) -> list[tuple[Any, float]]: ...

    def query(self, minhash: MinHash, scores: bool = False) -> list[Any] | list[tuple[Any, float]]:
        """Returns the keys of all sketches that share a band with this sketch, the most similar sketch first.

        With ``scores=True``, each key comes with the estimated similarity.
        """
        row = self._row(minhash)
        if minhash.is_empty():
            found = [(key, 1.0) for key in self._empty]
        else:
            found = self._lsh._query_row(row)
        return found if scores else [key for key, _ in found]

    def remove(self, key: Hashable) -> None:
        """Removes a sketch. A key that the index lacks raises ``ValueError``."""
        if key in self._empty:
            del self._empty[key]
        elif key in self._lsh:
            self._lsh.remove(key)
        else:
            raise ValueError(f"the key {key!r} is not in the index")

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Adds the sketches of another index with the same numbers of registers, bands and rows."""
        if type(other) is not type(self) or (self.h, self.b, self.r, self._width) != (
            other.h,
            other.b,
            other.r,
            other._width,
        ):
            raise ValueError("only indexes with as many registers, bands and rows can be merged")
        if self._scheme and other._scheme and self._scheme != other._scheme:
            raise ValueError(f"the indexes have the schemes {self._scheme!r} and {other._scheme!r}")
        both = [key for key in other.keys() if key in self]
        if both:
            if check_overlap:
                raise ValueError(f"the key {both[0]!r} is in both indexes")
            for key in both:
                self.remove(key)
        self._lsh.merge(other._lsh)
        self._empty.update(other._empty)
        self._scheme = self._scheme or other._scheme

    def insertion_session(self, buffer_size: int = 50000) -> _Session:
        """Returns a context manager with a method ``insert``. Nothing is buffered: insertion in memory needs no session."""
        return _Session(self)

    def deletion_session(self, buffer_size: int = 50000) -> _Session:
        """Returns a context manager with a method ``remove``."""
        return _Session(self)

    def keys(self) -> list[Any]:
        """Returns the keys of all sketches."""
        return [*self._lsh.keys(), *self._empty]

    def is_empty(self) -> bool:
        """Reports whether there are no sketches."""
        return len(self) == 0

    def __contains__(self, key: object) -> bool:
        return key in self._empty or key in self._lsh

    def __len__(self) -> int:
        return len(self._lsh) + len(self._empty)


class _Session:
    """A session that inserts into an index, or removes from it, without a buffer."""

    def __init__(self, lsh: MinHashLSH) -> None:
        self.lsh = lsh

    def insert(self, key: Hashable, minhash: MinHash, check_duplication: bool = True) -> None:
        self.lsh.insert(key, minhash, check_duplication)

    def remove(self, key: Hashable) -> None:
        self.lsh.remove(key)

    def close(self) -> None:
        """Does nothing, because a session has no buffer."""

    def __enter__(self) -> _Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def load(path: str | os.PathLike[str]) -> Any:
    """Loads a pickle that datasketch 2 wrote: a ``MinHash``, ``LeanMinHash`` or ``MinHashLSH`` in memory, or a list or dict of them.

    The pickle cannot run code: every name that is not of datasketch is refused.

    >>> import pathlib, pickle, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "numbers.pickle")
    ...     _ = path.write_bytes(pickle.dumps([1, 2]))
    ...     load(path)
    [1, 2]
    """
    from ._datasketch_pickles import unpickled

    with open(path, "rb") as file:
        return unpickled(file)


def loads(data: bytes) -> Any:
    """Loads a pickle from bytes, as :func:`load` does from a file.

    >>> import pickle
    >>> loads(pickle.dumps({"no": ["sketches"]}))
    {'no': ['sketches']}
    """
    from ._datasketch_pickles import unpickled

    return unpickled(io.BytesIO(data))
