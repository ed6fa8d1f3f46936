"""Converts data of other libraries to sources of a run, and returns the rows of a result in the type of the data.

No library is imported to recognise its objects. If an object of a library exists, the library is in ``sys.modules``
already.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, compress
from typing import Any, Generic, TypeVar

from ._errors import InputError, SettingError

Source = tuple[Any, ...]
R = TypeVar("R")

#: Name of the text column in a run, if the column's own name would be read as a field path.
TEXT = "minwise:text"
#: Name of the id column in a run, if its usual name is taken by the text column. In a spool, this field has the
#: original id.
ID = "minwise:id"


def type_name(value: object) -> str:
    return type(value).__name__


def loaded(name: str) -> Any:
    """Returns the module of a library, or None if it was not imported yet."""
    return sys.modules.get(name)


def is_a(value: object, library: str, *names: str) -> bool:
    """Reports whether a value is an instance of one of a library's classes, without importing the library."""
    module = loaded(library)
    if module is None:
        return False
    classes = tuple(filter(None, (getattr(module, name, None) for name in names)))
    return isinstance(value, classes)


class Adapted:
    """Data that is ready for a run."""

    __slots__ = ("source", "ids", "take", "text", "field", "id_column", "spool")

    def __init__(
        self,
        source: Source,
        take: Callable[[list[bool]], Any],
        *,
        ids: list[Any] | None = None,
        text: str | None = None,
        field: str | None = None,
        id_column: str | None = None,
        spool: Spool | None = None,
    ) -> None:
        #: The source as the extension module takes it.
        self.source = source
        #: Function that returns the rows whose element in a mask is true, in the type of the data.
        self.take = take
        #: Original id of each row, or None if rows are named by their position.
        self.ids = ids
        #: Name of the text column that the caller uses, if the data is a table.
        self.text = text
        #: Name of the text field in the run. This name differs from `text` if the name of the column would mean a path.
        self.field = field if field is not None else text
        #: Name of the id column in the run, or None if it is the name that the caller asked for.
        self.id_column = id_column
        #: Temporary file that must exist as long as the result, or None.
        self.spool = spool


# ---------------------------------------------------------------------------------------------------------------- texts


def text_list(data: Any, name: str) -> Any:
    """Returns the texts of an object that is neither a list nor Arrow data.

    The extension module calls this function.
    """
    if isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name} is {type_name(data)}: it must be a list of str")
    if isinstance(data, Mapping):
        raise TypeError(f"{name} is {type_name(data)}: it must be a list of str")
    if is_a(data, "numpy", "ndarray"):
        return numpy_texts(data, name)
    if is_a(data, "pandas", "Series"):
        return pandas_texts(data)
    if is_a(data, "pandas", "Index"):
        return pandas_texts(data.to_series())
    if isinstance(data, Iterable):
        return list(data)
    raise TypeError(f"{name} is {type_name(data)}: it must be a list of str")


def numpy_texts(data: Any, name: str) -> list[Any]:
    if data.ndim != 1:
        raise TypeError(f"{name} is an array of {data.ndim} dimensions: it must have one")
    if data.dtype.kind not in "UOT":
        raise TypeError(f"{name} is an array of {data.dtype}: it must be one of str")
    texts: list[Any] = data.tolist()
    return texts


def pandas_texts(data: Any) -> list[Any]:
    """Returns a column of pandas as a list, with None for every kind of missing value."""
    values: list[Any] = data.astype(object).tolist()
    missing: list[bool] = data.isna().tolist()
    if any(missing):
        return [None if gone else value for value, gone in zip(values, missing)]
    return values


# ----------------------------------------------------------------------------------------------------------------- names


def choose_text(text: str | None, names: Sequence[str], strings: Sequence[str], what: str) -> str:
    """Returns the name of the text column: the name that the caller gave, else the only column of strings, else
    `text`.
    """
    if text is not None:
        missing = [part for part in roots(text) if part not in names]
        if missing and text not in names:
            listed = ", ".join(map(repr, names))
            raise SettingError(
                f"`text`: {what} has no column {missing[0]!r}; its columns are {listed}", settings=["text"]
            )
        return text
    if len(strings) == 1:
        return strings[0]
    if "text" in names:
        return "text"
    listed = ", ".join(map(repr, names))
    raise SettingError(
        f"`text`: {what} has {len(strings)} columns of strings and none called 'text'",
        hint=f"name the column: text=NAME; the columns are {listed}",
        settings=["text"],
    )


def roots(field: str) -> list[str]:
    """Returns the columns in which the paths of a field begin: `title` and `meta` for `title,meta.body`."""
    return [re.split(r"[.\[]", part.strip(), maxsplit=1)[0] for part in field.split(",")]


def choose_id(id: Any, names: Sequence[str], text: str, what: str) -> str | None:
    if id is None:
        return "id" if "id" in names and text != "id" else None
    if id not in names:
        listed = ", ".join(map(repr, names))
        raise SettingError(f"`id`: {what} has no column {id!r}; its columns are {listed}", settings=["id"])
    return str(id)


def given_ids(id: Any, length: int | None) -> list[Any]:
    """Returns as a list the ids that the caller passed beside the data, and checks their number."""
    if isinstance(id, str):
        raise SettingError("`id` names a column, and the data has no columns", settings=["id"])
    ids = list(id.tolist() if hasattr(id, "tolist") else id.to_list() if hasattr(id, "to_list") else id)
    if length is not None and len(ids) != length:
        raise SettingError(f"`id`: there are {len(ids)} ids for {length} texts", settings=["id"])
    return ids


def is_missing(value: Any) -> bool:
    """Reports whether a value is None, NaN, or a missing value of pandas.

    A missing value of pandas is recognised by the name of its type, because comparisons with it have no truth value.
    """
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return type_name(value) in ("NAType", "NaTType")


def id_texts(ids: Iterable[Any]) -> list[str | None]:
    """Returns ids as texts, with None for each missing id."""
    return [None if is_missing(id) else str(id) for id in ids]


def shown_ids(ids: list[Any], names: Callable[[list[int]], list[str | None]] | None) -> list[Any]:
    """Returns the ids of rows for the caller: the original ids, and the position of a row without an id.

    If an id repeats, the run adds a number to the repeated ids, such as ``id#2``. ``names`` returns the ids of
    positions in the run. ``names`` is None if no id repeats.
    """
    texts = id_texts(ids)
    shown = [position if text is None else id for position, (id, text) in enumerate(zip(ids, texts))]
    if names is not None:
        there = [position for position, text in enumerate(texts) if text is not None]
        for position, name in zip(there, names(there)):
            if name is not None and name != texts[position]:
                shown[position] = name
    return shown


def is_plain(name: str) -> bool:
    """Reports whether a run reads a name as one column.

    To a run, ``a.b`` and ``a[]`` are paths, and ``a,b`` is two columns.
    """
    return bool(name) and not any(sign in name for sign in ".,[")


# ----------------------------------------------------------------------------------------------------------------- spool


def _remove_own(folder: str, process: int) -> None:
    # The folder belongs to the process that made it. A forked process, which calls this function when it ends, must not
    # remove it.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class Spool:
    """A temporary file with the rows of a stream. The run reads the rows, and the caller reads them again."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        try:
            self._folder: str = tempfile.mkdtemp(prefix="minwise-", dir=os.fspath(folder) if folder is not None else None)
        except OSError as error:
            message = f"cannot create a temporary folder in `{folder}`: {error.strerror}"
            raise InputError(message, errno=error.errno) from None
        self._remove = weakref.finalize(self, _remove_own, self._folder, os.getpid())
        self.path: str = os.path.join(self._folder, "data.jsonl")
        self._file = open(self.path, "w", encoding="ascii", newline="\n")

    def add(self, row: Mapping[str, Any]) -> None:
        try:
            line = json.dumps(row, default=as_text, allow_nan=False) + "\n"
        except ValueError:
            line = json.dumps(without_nan(row), default=as_text) + "\n"
        try:
            self._file.write(line)
        except OSError as error:
            raise self._failed(error) from None

    def finish(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> InputError:
        message = f"cannot write the temporary file `{self.path}`: {error.strerror}"
        return InputError(message, errno=error.errno, hint="temp_dir=FOLDER names a folder with more room")

    def close(self) -> None:
        with suppress(OSError):
            # The error is ignored: if the disk is full, `add` has raised it before.
            self._file.close()
        self._remove()

    @property
    def is_open(self) -> bool:
        return os.path.exists(self.path)


def without_nan(value: Any) -> Any:
    """Returns a value with None instead of NaN and infinity, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: without_nan(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return value


def as_text(value: Any) -> Any:
    """Converts a value of a type that JSON does not have: dates to ISO 8601, NumPy scalars to numbers, all others to
    text.
    """
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    return str(value)


class Stream(Generic[R]):
    """The kept or the removed rows of a generator. The rows can be iterated any number of times while the result is open.

    >>> import minwise
    >>> with minwise.dedup(text for text in ["a rose", "A rose!", "a daffodil"]) as result:
    ...     list(result.kept), len(result.kept)
    (['a rose', 'a daffodil'], 2)
    """

    __slots__ = ("_spool", "_mask", "_row")

    def __init__(self, spool: Spool, mask: list[bool], row: Callable[[dict[str, Any]], R]) -> None:
        self._spool = spool
        self._mask = mask
        self._row = row

    def __iter__(self) -> Iterator[R]:
        if not self._spool.is_open:
            raise ValueError("the result was closed, and its rows are gone")
        with open(self._spool.path, encoding="ascii") as lines:
            for line in compress(lines, self._mask):
                yield self._row(json.loads(line))

    def __len__(self) -> int:
        return sum(self._mask)

    def __repr__(self) -> str:
        return f"<stream of {len(self)} rows>"


# -------------------------------------------------------------------------------------------------------------- adapters


class Wanted:
    """Settings for adapting the data of one argument."""

    __slots__ = ("text", "id", "fields", "temp_dir", "name", "errors", "column", "id_column")

    def __init__(
        self,
        text: str | None,
        id: Any,
        fields: list[str],
        temp_dir: Any,
        name: str,
        errors: str,
        column: str | None = None,
        id_column: str = "id",
    ) -> None:
        self.text = text
        #: Name of the field for the text; None except for references, whose text must be in the same field as the text
        #: of the data.
        self.column = column
        #: Name of the column for the ids.
        self.id_column = id_column
        self.id = id
        #: Fields that the keeper policy reads.
        self.fields = fields
        self.temp_dir = temp_dir
        self.name = name
        self.errors = errors


def adapt(data: Any, wanted: Wanted) -> Adapted:
    """Adapts data of any supported type for a run."""
    name = wanted.name
    if isinstance(data, str):
        raise TypeError(
            f"{name} is one str: it must be a list of texts or a table; dedup_files() takes names of files"
        )
    if isinstance(data, os.PathLike):
        raise TypeError(f"{name} is a path: it must be a list of texts or a table; dedup_files() takes files")
    if isinstance(data, (list, tuple)):
        return adapt_list(data, wanted)
    if is_a(data, "numpy", "ndarray"):
        return adapt_texts(data, numpy_texts(data, name), lambda mask: data[as_mask(mask)], wanted)
    if is_a(data, "pandas", "Series"):
        return adapt_texts(data, pandas_texts(data), lambda mask: data[as_mask(mask)], wanted)
    if is_a(data, "pandas", "Index"):
        return adapt_texts(data, pandas_texts(data.to_series()), lambda mask: data[as_mask(mask)], wanted)
    if is_a(data, "pandas", "DataFrame"):
        return adapt_pandas(data, wanted)
    if is_a(data, "polars", "Series"):
        return adapt_texts(data, data, lambda mask: data.filter(polars_mask(mask)), wanted)
    if is_a(data, "polars", "DataFrame"):
        return adapt_polars(data, data, lambda frame: frame, wanted)
    if is_a(data, "polars", "LazyFrame"):
        # The frame is collected once, because both the run and the caller need its rows.
        collected = data.collect()
        return adapt_polars(data, collected, lambda frame: frame.lazy(), wanted)
    if is_a(data, "pyarrow", "Array", "ChunkedArray"):
        return adapt_texts(data, data, lambda mask: arrow_rows(data, mask), wanted)
    if is_a(data, "pyarrow", "Table", "RecordBatch"):
        return adapt_arrow(data, data, lambda table: table, wanted)
    if is_a(data, "pyarrow", "RecordBatchReader"):
        table = data.read_all()
        return adapt_arrow(data, table, lambda table: table, wanted)
    if is_a(data, "duckdb", "DuckDBPyRelation"):
        return adapt_duckdb(data, wanted)
    if is_a(data, "datasets", "Dataset"):
        return adapt_dataset(data, wanted)
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return adapt_capsules(data, wanted)
    if isinstance(data, Iterable) and not isinstance(data, (Mapping, set, frozenset, bytes, bytearray, memoryview)):
        return adapt_stream(data, wanted)
    raise refused(data, name)


#: The types of data that a run takes, for messages.
ACCEPTED = (
    "a list or a generator of texts or of records (dict), a NumPy array of texts, or a column or a table of pandas, polars, "
    "pyarrow, DuckDB or datasets"
)


def refused(data: Any, name: str) -> TypeError:
    """Makes the error for data of an unsupported type, with a hint how to convert the data."""
    way = ""
    if isinstance(data, (set, frozenset)):
        way = f"; a set has no order, by which a run decides: pass sorted({name})"
    elif is_a(data, "datasets", "DatasetDict", "IterableDatasetDict"):
        way = f"; choose a split, such as {name}[{next(iter(data), 'train')!r}]"
    elif isinstance(data, Mapping):
        way = f"; the values of a dict are list({name}.values())"
    elif isinstance(data, (bytes, bytearray, memoryview)):
        way = "; decode bytes to str first"
    elif type(data).__module__.startswith("pyspark.sql."):
        way = "; minwise.spark.dedup takes a DataFrame of Spark"
    elif callable(getattr(data, "to_table", None)):
        way = f"; {name}.to_table() is a table"
    return TypeError(f"{name} is {type_name(data)}: it must be {ACCEPTED}{way}")


def as_mask(mask: list[bool]) -> Any:
    import numpy

    return numpy.asarray(mask, dtype=bool)


def polars_mask(mask: list[bool]) -> Any:
    return loaded("polars").Series(mask, dtype=loaded("polars").Boolean)


def arrow_mask(mask: list[bool]) -> Any:
    return loaded("pyarrow").array(mask, type=loaded("pyarrow").bool_())


def arrow_rows(data: Any, mask: list[bool]) -> Any:
    """Returns the rows of pyarrow data whose element in the mask is true."""
    pyarrow = loaded("pyarrow")
    try:
        return data.filter(arrow_mask(mask))
    except pyarrow.ArrowNotImplementedError:
        # pyarrow cannot filter all types (string views, for example), but it can slice and join columns of all types.
        ends = [at for at, (one, next) in enumerate(zip([False, *mask], [*mask, False])) if one != next]
        parts = [data.slice(start, end - start) for start, end in zip(ends[::2], ends[1::2])] or [data.slice(0, 0)]
    if isinstance(data, pyarrow.Table):
        return pyarrow.concat_tables(parts)
    if isinstance(data, pyarrow.RecordBatch):
        return pyarrow.concat_batches(parts)
    if isinstance(data, pyarrow.ChunkedArray):
        return pyarrow.chunked_array([chunk for part in parts for chunk in part.chunks], type=data.type)
    return pyarrow.concat_arrays(parts)


def adapt_texts(data: Any, texts: Any, take: Callable[[list[bool]], Any], wanted: Wanted) -> Adapted:
    """Makes the input of a run from one column of texts. `take` filters `data` by a mask."""
    if wanted.column is None and wanted.text is not None:
        raise SettingError(
            f"`text` names a column, and {wanted.name} is {type_name(data)} without columns", settings=["text"]
        )
    if wanted.column is None and wanted.fields:
        raise SettingError(
            f"`keep` looks at {wanted.fields[0]!r}, and {wanted.name} is {type_name(data)} without columns",
            settings=["keep"],
        )
    if wanted.id is None:
        return Adapted(("texts", texts, None, None), take)
    ids = given_ids(wanted.id, len(data))
    return Adapted(("texts", texts, id_texts(ids), None), take, ids=ids)


def adapt_list(data: Any, wanted: Wanted) -> Adapted:
    kind = tuple if type(data) is tuple else list
    # The list is copied, because the caller or another thread may change it during the run and after it.
    rows = list(data)
    take: Callable[[list[bool]], Any] = lambda mask: kind(compress(rows, mask))  # noqa: E731
    first = next((row for row in rows if row is not None), None)
    if isinstance(first, Mapping):
        return adapt_records(rows, take, wanted)
    return adapt_texts(rows, rows, take, wanted)


def check_text(value: Any, place: str) -> None:
    is_null = value is None or (isinstance(value, float) and math.isnan(value))
    if not is_null and not isinstance(value, (str, list, dict)):
        raise TypeError(f"{place} is {type_name(value)}: it must be str")


def check_surrogates(value: Any, place: str) -> None:
    """Raises ValueError for a text with a lone surrogate, also inside of lists and fields."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError(f'{place} has a lone surrogate, and errors is "strict"') from None
    elif isinstance(value, Mapping):
        for name, item in value.items():
            check_surrogates(item, f"{place}[{name!r}]")
    elif isinstance(value, (list, tuple)):
        for at, item in enumerate(value):
            check_surrogates(item, f"{place}[{at}]")


class _Fields:
    """Names of the fields of records in a spool, chosen by the first record."""

    def __init__(self, first: Mapping[Any, Any], wanted: Wanted) -> None:
        names = [str(name) for name in first]
        strings = [name for name, value in zip(names, first.values()) if isinstance(value, str)]
        self.text = choose_text(wanted.text, names, strings, "the first record")
        self.is_whole = self.text in names
        self.field = self.text
        if self.is_whole and (wanted.column is not None or not is_plain(self.text)):
            self.field = wanted.column or TEXT
        #: Name of the field of the records that has the ids, or None.
        self.id: str | None = None
        if wanted.id is None or isinstance(wanted.id, str):
            name = wanted.id if wanted.id is not None else "id"
            self.id = None if name == self.text else name
        self.id_column = ID if wanted.id_column == self.field else wanted.id_column
        self.texts = [self.text] if self.is_whole else roots(self.text)
        self.others = {root for field in wanted.fields for root in roots(field)} - {self.id}

    def spooled(self, row: Mapping[Any, Any], id: Any, is_stream: bool) -> dict[str, Any]:
        """Returns a record in the form that the run reads.

        A record of a stream keeps all its fields, for :meth:`restored`.
        """
        out: dict[str, Any] = dict(row) if is_stream else {}
        if not is_stream:
            out.update((name, row[name]) for name in (*self.texts, *self.others) if name in row)
        if self.field != self.text and self.text in row:
            out[self.field] = out.pop(self.text)
        if is_stream and self.id_column in row:
            # The original id is kept in a field of its own, because the id column gets the id as text.
            out[ID] = row[self.id_column]
        text = None if is_missing(id) else str(id)
        if text is None:
            out.pop(self.id_column, None)
        else:
            out[self.id_column] = text
        return out

    def restored(self, row: dict[str, Any]) -> dict[str, Any]:
        """Returns the original record of a stream, from the form that :meth:`spooled` returned."""
        if self.id_column != ID and ID in row:
            row[self.id_column] = row.pop(ID)
        else:
            row.pop(self.id_column, None)
        if self.field != self.text and self.field in row:
            row[self.text] = row.pop(self.field)
        return row


def adapt_records(data: Any, take: Callable[[list[bool]], Any] | None, wanted: Wanted) -> Adapted:
    """Adapts rows that are dictionaries. The rows are written to a temporary file as JSON, so that fields mean the
    same as in the command."""
    is_beside = wanted.id is not None and not isinstance(wanted.id, str)
    beside = given_ids(wanted.id, None) if is_beside else []
    spool = Spool(wanted.temp_dir)
    try:
        fields: _Fields | None = None
        ids: list[Any] = []
        count = 0
        for position, row in enumerate(data):
            count = position + 1
            if not isinstance(row, Mapping):
                raise TypeError(f"{wanted.name}[{position}] is {type_name(row)}: it must be a dict, as those before it")
            if fields is None:
                fields = _Fields(row, wanted)
            for name in fields.texts:
                if name in row:
                    place = f"{wanted.name}[{position}][{name!r}]"
                    check_text(row[name], place)
                    if wanted.errors == "strict":
                        check_surrogates(row[name], place)
            if is_beside:
                id = beside[position] if position < len(beside) else None
            else:
                id = None if fields.id is None else row.get(fields.id)
            ids.append(id)
            spool.add(fields.spooled(row, id, is_stream=take is None))
        spool.finish()
        if is_beside:
            given_ids(beside, count)
    except BaseException:
        spool.close()
        raise
    if fields is None:
        return Adapted(("path", spool.path), take or (lambda mask: Stream(spool, mask, dict)), text=wanted.text, spool=spool)
    if take is None:
        restored = fields.restored
        take = lambda mask: Stream(spool, mask, restored)  # noqa: E731
    return Adapted(
        ("path", spool.path),
        take,
        ids=ids if any(not is_missing(id) for id in ids) else None,
        text=fields.text,
        field=fields.field,
        id_column=fields.id_column,
        spool=spool,
    )


def adapt_stream(data: Iterable[Any], wanted: Wanted) -> Adapted:
    """Adapts a generator. Its rows are written to a temporary file, because a generator can be read only once."""
    rows = iter(data)
    first: list[Any] = []
    for row in rows:
        first.append(row)
        if row is not None:
            break
    every = chain(first, rows)
    if first and isinstance(first[-1], Mapping):
        return adapt_records(every, None, wanted)
    if wanted.column is None and wanted.text is not None:
        raise SettingError("`text` names a field, and the stream has texts without fields", settings=["text"])
    if wanted.column is None and wanted.fields:
        raise SettingError(
            f"`keep` looks at {wanted.fields[0]!r}, and the stream has texts without fields", settings=["keep"]
        )
    ids = None if wanted.id is None else given_ids(wanted.id, None)
    named = None if ids is None else id_texts(ids)
    column = wanted.column or "text"
    spool = Spool(wanted.temp_dir)
    try:
        length = 0
        for position, row in enumerate(every):
            if row is not None and not isinstance(row, str):
                raise TypeError(f"{wanted.name}[{position}] is {type_name(row)}: it must be str")
            if wanted.errors == "strict":
                check_surrogates(row, f"{wanted.name}[{position}]")
            spooled = {column: row}
            if named is not None and position < len(named) and named[position] is not None:
                spooled[wanted.id_column] = named[position]
            spool.add(spooled)
            length += 1
        spool.finish()
        if ids is not None:
            given_ids(ids, length)
    except BaseException:
        spool.close()
        raise
    take = lambda mask: Stream(spool, mask, lambda row: row[column])  # noqa: E731
    return Adapted(("path", spool.path), take, ids=ids, field=column, spool=spool)


def adapt_table(
    names: list[str],
    strings: list[str],
    what: str,
    length: int,
    columns: Callable[[dict[str, str]], Any],
    values: Callable[[str], list[Any]],
    take: Callable[[list[bool]], Any],
    wanted: Wanted,
) -> Adapted:
    """Adapts a table: chooses the columns that a run needs, and the ids of the rows.

    ``columns`` returns a table of the given columns with new names. ``values`` returns a column as a list.
    """
    if len(set(names)) != len(names):
        raise SettingError(f"{what} has two columns of one name", settings=["text"])
    text = choose_text(wanted.text, names, strings, what)
    field = text
    if text in names and (wanted.column is not None or not is_plain(text)):
        field = wanted.column or TEXT
    needed = {text: field} if text in names else {name: name for name in roots(text)}
    for name in (root for keep in wanted.fields for root in roots(keep)):
        if name in names:
            needed.setdefault(name, name)
        elif wanted.column is None:
            listed = ", ".join(map(repr, names))
            raise SettingError(f"`keep`: {what} has no column {name!r}; its columns are {listed}", settings=["keep"])
    id_column = ID if wanted.id_column == field else wanted.id_column
    ids: list[Any] | None = None
    if wanted.id is not None and not isinstance(wanted.id, str):
        ids = given_ids(wanted.id, length)
    else:
        id_name = choose_id(wanted.id, names, text, what)
        ids = None if id_name is None else values(id_name)
    source = ("table", columns(needed), None if ids is None else id_texts(ids))
    return Adapted(source, take, ids=ids, text=text, field=field, id_column=id_column)


def adapt_polars(data: Any, frame: Any, back: Callable[[Any], Any], wanted: Wanted) -> Adapted:
    polars = loaded("polars")

    def column(old: str, new: str) -> Any:
        series = frame.get_column(old).alias(new)
        # A column without any value has the type Null and is cast, because Arrow libraries export this type in
        # different ways.
        return series.cast(polars.String) if series.dtype == polars.Null else series

    kinds = tuple(filter(None, (polars.String, polars.Categorical, getattr(polars, "Enum", None))))
    return adapt_table(
        list(frame.columns),
        [name for name, kind in frame.schema.items() if any(kind == text for text in kinds)],
        f"the {type_name(data)}",
        frame.height,
        # Columns are selected one by one, because `select` reads some names as patterns.
        lambda names: polars.DataFrame([column(old, new) for old, new in names.items()]),
        lambda name: list(frame.get_column(name).to_list()),
        lambda mask: back(frame.filter(polars_mask(mask))),
        wanted,
    )


def is_arrow_text(kind: Any) -> bool:
    types = loaded("pyarrow").types
    if types.is_dictionary(kind):
        return is_arrow_text(kind.value_type)
    views = getattr(types, "is_string_view", lambda _: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or views(kind))


def adapt_arrow(data: Any, table: Any, back: Callable[[Any], Any], wanted: Wanted) -> Adapted:
    names = list(table.schema.names)

    def columns(chosen: dict[str, str]) -> Any:
        return table.select([names.index(name) for name in chosen]).rename_columns(list(chosen.values()))

    return adapt_table(
        names,
        [field.name for field in table.schema if is_arrow_text(field.type)],
        f"the {type_name(data)}",
        table.num_rows,
        columns,
        lambda name: list(table.column(name).to_pylist()),
        lambda mask: back(arrow_rows(table, mask)),
        wanted,
    )


def adapt_duckdb(data: Any, wanted: Wanted) -> Adapted:
    # pyarrow is imported, because DuckDB exports rows as a pyarrow table.
    import pyarrow  # type: ignore[import-untyped,unused-ignore]  # noqa: F401

    fetch = getattr(data, "to_arrow_table", None) or data.fetch_arrow_table
    table = fetch()
    # The returned rows belong to the default connection, because a relation does not reveal its own connection.
    return adapt_arrow(data, table, loaded("duckdb").from_arrow, wanted)


def adapt_dataset(data: Any, wanted: Wanted) -> Adapted:
    """Reads the wanted columns of a Hugging Face dataset as Arrow, in the order of its rows.

    Its rows may be a selection of the rows of its Arrow table, so the table is not used directly.
    """

    def columns(chosen: dict[str, str]) -> Any:
        table = data.select_columns(list(chosen)).with_format("arrow")[:]
        return table.select(list(chosen)).rename_columns(list(chosen.values()))

    return adapt_table(
        list(data.column_names),
        [name for name, kind in data.features.items() if getattr(kind, "dtype", None) in ("string", "large_string")],
        "the Dataset",
        data.num_rows,
        columns,
        lambda name: list(columns({name: name}).column(name).to_pylist()),
        lambda mask: data.select([row for row, stays in enumerate(mask) if stays]),
        wanted,
    )


def adapt_pandas(data: Any, wanted: Wanted) -> Adapted:
    names = [str(name) for name in data.columns]
    if len(set(names)) != len(names):
        raise SettingError("the DataFrame has two columns of one name", settings=["text"])
    by_name = dict(zip(names, data.columns))
    strings = [name for name, column in by_name.items() if is_pandas_text(data[column])]
    what = "the DataFrame"
    text = choose_text(wanted.text, names, strings, what)
    take = lambda mask: data[as_mask(mask)]  # noqa: E731
    is_beside = wanted.id is not None and not isinstance(wanted.id, str)
    id_column = None if is_beside else choose_id(wanted.id, names, text, what)
    if text in by_name and not wanted.fields:
        texts = pandas_texts(data[by_name[text]])
        ids: list[Any] | None = None
        if is_beside:
            ids = given_ids(wanted.id, len(data))
        elif id_column is not None:
            ids = pandas_texts(data[by_name[id_column]])
        named = None if ids is None else id_texts(ids)
        source = ("texts", texts, named, f"{wanted.name}[{text!r}]")
        return Adapted(source, take, ids=ids, text=text, field=text if is_plain(text) else TEXT)
    # The rows are converted to records, because records keep the types of the fields that a keeper policy reads.
    sought = {text, *roots(text), *(root for field in wanted.fields for root in roots(field)), id_column}
    columns = {name: pandas_texts(data[by_name[name]]) for name in names if name in sought}
    rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    if not rows:
        return Adapted(("texts", [], None, None), take, text=text, field=text if is_plain(text) else TEXT)
    asked = Wanted(
        text,
        wanted.id,
        wanted.fields,
        wanted.temp_dir,
        wanted.name,
        wanted.errors,
        wanted.column,
        wanted.id_column,
    )
    return adapt_records(rows, take, asked)


def is_pandas_text(column: Any) -> bool:
    kind = str(column.dtype)
    if kind == "object":
        first = next((value for value in column if isinstance(value, str)), None)
        return first is not None
    if kind == "category":
        # All categories are checked, because some may be numbers or dates.
        return all(isinstance(value, str) for value in column.cat.categories)
    return kind.startswith("str") or kind == "large_string[pyarrow]"


def adapt_capsules(data: Any, wanted: Wanted) -> Adapted:
    """Adapts Arrow data of any other library. pyarrow selects the rows of the result."""
    try:
        import pyarrow  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise TypeError(
            f"{wanted.name} is {type_name(data)}: pyarrow is needed to return rows of it; install pyarrow"
        ) from None
    try:
        table = pyarrow.table(data)
    except (TypeError, ValueError, pyarrow.ArrowInvalid):
        try:
            column = pyarrow.chunked_array(data)
        except (TypeError, ValueError, pyarrow.ArrowInvalid) as error:
            raise TypeError(f"{wanted.name} is {type_name(data)}: its Arrow data cannot be read: {error}") from None
        return adapt_texts(column, column, lambda mask: arrow_rows(column, mask), wanted)
    return adapt_arrow(data, table, lambda table: table, wanted)


def references(data: Any, wanted: Wanted) -> tuple[list[Source], list[Spool]]:
    """Returns the sources and spools of an argument that takes files, texts or tables. A str or a path is a file."""
    if data is None:
        return [], []
    if isinstance(data, (str, os.PathLike)):
        return [("file", os.fspath(data))], []
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, os.PathLike) for item in data):
        return [("file", os.fspath(item)) for item in data], []
    adapted = adapt(data, wanted)
    return [adapted.source], [adapted.spool] if adapted.spool else []
