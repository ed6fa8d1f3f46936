"""Reads pickles that datasketch wrote, without running code that a pickle names."""

from __future__ import annotations

import collections
import io
import pickle
from typing import IO, TYPE_CHECKING, Any

import numpy

from ._errors import InputError
from .datasketch import MOST, TYPES, LeanMinHash, MinHash, MinHashLSH, sha1_hash32

if TYPE_CHECKING:
    from numpy.typing import NDArray


class _Shell:
    """Stands for an object of datasketch, and stores the content of the pickle about it. No code of datasketch runs."""

    name = ""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = None
        self.items: dict[Any, Any] = {}

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __setitem__(self, key: Any, value: Any) -> None:
        self.items[key] = value


def _shell(name: str) -> type[_Shell]:
    return type(name, (_Shell,), {"name": name})


def _attribute(value: Any, name: str) -> None:
    """Replaces ``getattr`` in pickles, and returns None. A pickled index uses ``getattr`` only for one of its
    methods, which is not needed."""


_SHELLS = {
    ("datasketch.minhash", "MinHash"): _shell("MinHash"),
    ("datasketch.lean_minhash", "LeanMinHash"): _shell("LeanMinHash"),
    ("datasketch.lsh", "MinHashLSH"): _shell("MinHashLSH"),
    ("datasketch.storage", "DictListStorage"): _shell("DictListStorage"),
    ("datasketch.storage", "DictSetStorage"): _shell("DictSetStorage"),
}


class _Dtype:
    """Replaces ``numpy.dtype`` in pickles. Only types of numbers are allowed: in an array of objects, the bytes of
    the pickle would be used as addresses of memory."""

    def __init__(self, name: str, align: bool = False, copy: bool = False) -> None:
        self.kind = numpy.dtype(str(name))
        if self.kind.kind not in "biuf":
            raise InputError(f"the pickle has an array of `{name}`, and sketches have numbers", code="pickle")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        if state[1] in ("<", ">"):
            self.kind = self.kind.newbyteorder(state[1])


class _Array:
    """Replaces ``numpy.ndarray`` in pickles."""

    def __init__(self, *given: Any) -> None:
        raise InputError("the pickle makes an array in a way that no pickle of datasketch does", code="pickle")

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, _, data = state
        self.values = _array(bytes(data), kind, shape)


def _array(data: Any, kind: Any, shape: Any, order: str = "C") -> NDArray[Any]:
    """Stands for ``_frombuffer``: returns an array of numbers over a copy of the given bytes."""
    if not isinstance(kind, _Dtype):
        raise InputError("the pickle has an array without a type of numbers", code="pickle")
    return numpy.frombuffer(bytes(data), dtype=kind.kind).reshape(shape)


def _empty_array(kind: Any, shape: Any, name: Any) -> _Array:
    """Replaces ``_reconstruct`` of NumPy in pickles: returns an array whose values follow later in the pickle."""
    return _Array.__new__(_Array)


def _scalar(kind: Any, data: Any = b"") -> Any:
    return _array(data, kind, ())[()]


def _latin(text: str, codec: str) -> bytes:
    """Replaces ``_codecs.encode``, which old pickle protocols use for bytes."""
    return text.encode("latin-1")


#: Further names that a pickle of datasketch may use. Containers are used as they are; classes and functions of NumPy are
#: replaced by those of this module.
_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("numpy.core.multiarray", "scalar"): _scalar,
    ("numpy._core.numeric", "_frombuffer"): _array,
    ("numpy.core.numeric", "_frombuffer"): _array,
    ("collections", "defaultdict"): collections.defaultdict,
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("builtins", "set"): set,
    ("builtins", "list"): list,
    ("builtins", "bytearray"): bytearray,
    ("_codecs", "encode"): _latin,
}


class _Unpickler(pickle.Unpickler):
    """Reads pickles of datasketch, and refuses every name that such a pickle does not need."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _SHELLS:
            return _SHELLS[module, name]
        if module == "datasketch.hashfunc" and name in ("sha1_hash32", "sha1_hash64"):
            return sha1_hash32
        if (module, name) == ("builtins", "getattr"):
            return _attribute
        if (module, name) in _ADMITTED:
            return _ADMITTED[module, name]
        raise InputError(f"the pickle names `{module}.{name}`, which is no part of datasketch", code="pickle")


def unpickled(file: IO[bytes]) -> Any:
    """Reads a pickle and converts its sketches and indexes to classes of this package."""
    try:
        return _converted(_Unpickler(file).load())
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"the pickle cannot be read: {error}", code="pickle") from None


def _converted(value: Any) -> Any:
    if isinstance(value, list):
        return [_converted(item) for item in value]
    if isinstance(value, tuple):
        return tuple(_converted(item) for item in value)
    if isinstance(value, dict):
        return {key: _converted(item) for key, item in value.items()}
    if not isinstance(value, _Shell):
        return value
    if value.name == "MinHash":
        state = value.state
        # Pickles of datasketch before version 2 have no scheme.
        scheme = state.get("scheme", "legacy")
        values = state["hashvalues"]
        values = values.values if isinstance(values, _Array) else values
        return MinHash(seed=state["seed"], hashvalues=values, scheme=scheme)
    if value.name == "LeanMinHash":
        return LeanMinHash.deserialize(value.state)
    if value.name == "MinHashLSH":
        return _converted_index(value.state)
    raise InputError(f"the pickle holds a {value.name}, which is no sketch and no index", code="pickle")


def _table(storage: Any) -> dict[Any, Any]:
    """Returns the dictionary of a storage in memory."""
    state = storage.state
    table = state.get("_dict") if isinstance(state, dict) else None
    if not isinstance(table, dict):
        raise InputError("the index is not in memory: only such indexes can be loaded", code="pickle")
    return table


def _converted_index(state: dict[str, Any]) -> MinHashLSH:
    """Makes an index from the state of a pickled index.

    Its band keys are the registers of the bands; all other registers are lost.
    """
    if state.get("hashfunc") is not None:
        raise InputError("the index has hashed band keys, so that its registers are lost: build it anew", code="pickle")
    bands, rows, registers = state["b"], state["r"], state["h"]
    lsh = MinHashLSH.__new__(MinHashLSH)
    lsh._begin(state.get("threshold", 0.5), registers, bands, rows, bands * rows)
    scheme = state.get("_minhash_scheme") or "legacy"
    if scheme == "affine64":
        raise InputError("an index of the scheme 'affine64' cannot be loaded: build it anew", code="pickle")
    lsh._scheme = scheme
    kind = numpy.dtype(TYPES[scheme])
    for key, keys in _table(state["keys"]).items():
        values = numpy.frombuffer(b"".join(keys), dtype=kind.newbyteorder()).astype(numpy.uint32)
        if state.get("prepickle"):
            key = _Unpickler(io.BytesIO(key)).load()
        if (values == MOST[scheme]).all():
            lsh._empty[key] = None
        else:
            lsh._lsh._insert_row(key, values.tobytes())
    return lsh
