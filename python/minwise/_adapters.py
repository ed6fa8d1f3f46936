"""Data of other libraries: what goes into a run, and rows back in the type that came in.

No library is imported here unless one of its objects was handed in: such an object's library is in ``sys.modules`` already.
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
from typing import Any

from ._errors import InputError, SettingError

Source = tuple[Any, ...]


def type_name(value: object) -> str:
    return type(value).__name__


def loaded(name: str) -> Any:
    """A library that was imported already, or None."""
    return sys.modules.get(name)


def is_a(value: object, library: str, *names: str) -> bool:
    """Whether a value is of one of a library's classes, without importing the library."""
    module = loaded(library)
    if module is None:
        return False
    classes = tuple(filter(None, (getattr(module, name, None) for name in names)))
    return isinstance(value, classes)


class Adapted:
    """Data that is ready for a run."""

    __slots__ = ("source", "ids", "take", "text", "spool")

    def __init__(
        self,
        source: Source,
        take: Callable[[list[bool]], Any],
        *,
        ids: list[Any] | None = None,
        text: str | None = None,
        spool: Spool | None = None,
    ) -> None:
        #: The source as the extension module takes it.
        self.source = source
        #: Returns the rows whose place in the mask is true, in the type that came in.
        self.take = take
        #: The id of each row as it came in, or None if rows go by their position.
        self.ids = ids
        #: The column of the text, if the data is a table.
        self.text = text
        #: Temporary files that must live as long as the result.
        self.spool = spool


# ---------------------------------------------------------------------------------------------------------------- texts


def text_list(data: Any, name: str) -> Any:
    """Texts of an object that is neither a list nor Arrow data. Called by the extension module."""
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
    """A column of pandas as a list, with None for every kind of missing value."""
    values: list[Any] = data.astype(object).tolist()
    missing: list[bool] = data.isna().tolist()
    if any(missing):
        return [None if gone else value for value, gone in zip(values, missing)]
    return values


# ----------------------------------------------------------------------------------------------------------------- names


def choose_text(text: str | None, names: Sequence[str], strings: Sequence[str], what: str) -> str:
    """The column of the text: the one that was named, else the only column of strings, else `text`."""
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
    """The columns that a field such as `title,meta.body` begins in."""
    return [re.split(r"[.\[]", part.strip(), maxsplit=1)[0] for part in field.split(",")]


def choose_id(id: Any, names: Sequence[str], text: str, what: str) -> str | None:
    if id is None:
        return "id" if "id" in names and text != "id" else None
    if id not in names:
        listed = ", ".join(map(repr, names))
        raise SettingError(f"`id`: {what} has no column {id!r}; its columns are {listed}", settings=["id"])
    return str(id)


def given_ids(id: Any, length: int | None) -> list[Any]:
    """Ids that were given as a list beside the data."""
    if isinstance(id, str):
        raise SettingError("`id` names a column, and the data has no columns", settings=["id"])
    ids = list(id.tolist() if hasattr(id, "tolist") else id.to_list() if hasattr(id, "to_list") else id)
    if length is not None and len(ids) != length:
        raise SettingError(f"`id`: there are {len(ids)} ids for {length} texts", settings=["id"])
    return ids


def unique_ids(ids: list[Any]) -> tuple[list[Any], list[str]]:
    """Ids as they came in, and as text, each only once: a repeated id becomes `id#2`, `id#3` and so on."""
    shown: list[Any] = []
    texts: list[str] = []
    taken: set[str] = set()
    counts: dict[str, int] = {}
    for position, id in enumerate(ids):
        if id is None or id != id:
            id = position
        text = str(id)
        if text in taken:
            number = counts.get(text, 1) + 1
            while f"{text}#{number}" in taken:
                number += 1
            counts[text] = number
            id = text = f"{text}#{number}"
        taken.add(text)
        shown.append(id)
        texts.append(text)
    return shown, texts


# ----------------------------------------------------------------------------------------------------------------- spool


def _remove_own(folder: str, process: int) -> None:
    # A forked process ends too, and the folder is that of the process which made it.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


class Spool:
    """Rows of a stream in a temporary file, from which a run reads them, and the caller again."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        try:
            self._folder = tempfile.mkdtemp(prefix="minwise-", dir=folder)
        except OSError as error:
            message = f"cannot create a temporary folder in `{folder}`: {error.strerror}"
            raise InputError(message, errno=error.errno) from None
        self._remove = weakref.finalize(self, _remove_own, self._folder, os.getpid())
        self.path = os.path.join(self._folder, "data.jsonl")
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
            # A disk that was full is still full.
            self._file.close()
        self._remove()

    @property
    def is_open(self) -> bool:
        return os.path.exists(self.path)


def without_nan(value: Any) -> Any:
    """The value with null for numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {name: without_nan(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return value


def as_text(value: Any) -> Any:
    """A value that JSON does not have, as the command would see it in a file."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item"):
        return value.item()
    return str(value)


class Stream:
    """Rows of a spool, which can be iterated any number of times as long as the result is open."""

    __slots__ = ("_spool", "_mask", "_is_text")

    def __init__(self, spool: Spool, mask: list[bool], is_text: bool) -> None:
        self._spool = spool
        self._mask = mask
        self._is_text = is_text

    def __iter__(self) -> Iterator[Any]:
        if not self._spool.is_open:
            raise ValueError("the result was closed, and its rows are gone")
        with open(self._spool.path, encoding="ascii") as lines:
            for line in compress(lines, self._mask):
                row = json.loads(line)
                yield row["text"] if self._is_text else row

    def __len__(self) -> int:
        return sum(self._mask)

    def __repr__(self) -> str:
        return f"<stream of {len(self)} rows>"


# -------------------------------------------------------------------------------------------------------------- adapters


class Wanted:
    """What a run asks of its data."""

    __slots__ = ("text", "id", "fields", "temp_dir", "name", "errors", "column")

    def __init__(
        self,
        text: str | None,
        id: Any,
        fields: list[str],
        temp_dir: Any,
        name: str,
        errors: str,
        column: str | None = None,
    ) -> None:
        self.text = text
        #: The field that texts without fields get. Only references have it, whose text is in the fields of the data.
        self.column = column
        self.id = id
        #: Fields that the keeper policy looks at.
        self.fields = fields
        self.temp_dir = temp_dir
        self.name = name
        self.errors = errors


def adapt(data: Any, wanted: Wanted) -> Adapted:
    """Data of any kind, ready for a run."""
    name = wanted.name
    if isinstance(data, str):
        raise TypeError(
            f"{name} is one str: it must be a list of texts or a table; dedup_files() takes names of files"
        )
    if isinstance(data, os.PathLike):
        raise TypeError(f"{name} is a path: it must be a list of texts or a table; dedup_files() takes files")
    if isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"{name} is {type_name(data)}: it must be a list of str")
    if isinstance(data, (list, tuple)):
        return adapt_list(data, wanted)
    if is_a(data, "numpy", "ndarray"):
        return adapt_texts(data, numpy_texts(data, name), lambda mask: data[as_mask(mask)], wanted)
    if is_a(data, "pandas", "Series"):
        return adapt_texts(data, pandas_texts(data), lambda mask: data[as_mask(mask)], wanted)
    if is_a(data, "pandas", "DataFrame"):
        return adapt_pandas(data, wanted)
    if is_a(data, "polars", "Series"):
        return adapt_texts(data, data, lambda mask: data.filter(polars_mask(mask)), wanted)
    if is_a(data, "polars", "DataFrame"):
        return adapt_polars(data, data, lambda frame: frame, wanted)
    if is_a(data, "polars", "LazyFrame"):
        # The rows are needed twice: for the run, and for the caller.
        collected = data.collect()
        return adapt_polars(data, collected, lambda frame: frame.lazy(), wanted)
    if is_a(data, "pyarrow", "Array", "ChunkedArray"):
        return adapt_texts(data, data, lambda mask: data.filter(arrow_mask(mask)), wanted)
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
    if isinstance(data, Mapping):
        raise TypeError(f"{name} is {type_name(data)}: it must be a list of texts, a list of records or a table")
    if isinstance(data, Iterable):
        return adapt_stream(data, wanted)
    raise TypeError(f"{name} is {type_name(data)}: it must be a list of texts or a table")


def as_mask(mask: list[bool]) -> Any:
    import numpy

    return numpy.asarray(mask, dtype=bool)


def polars_mask(mask: list[bool]) -> Any:
    return loaded("polars").Series(mask, dtype=loaded("polars").Boolean)


def arrow_mask(mask: list[bool]) -> Any:
    return loaded("pyarrow").array(mask, type=loaded("pyarrow").bool_())


def adapt_texts(data: Any, texts: Any, take: Callable[[list[bool]], Any], wanted: Wanted) -> Adapted:
    """One column of texts."""
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
        return Adapted(("texts", texts, None), take)
    ids, unique = unique_ids(given_ids(wanted.id, len(data)))
    return Adapted(("texts", texts, unique), take, ids=ids)


def adapt_list(data: Any, wanted: Wanted) -> Adapted:
    kind = tuple if type(data) is tuple else list
    # A copy, because the caller or another thread may change the list during the run and after it.
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


def adapt_records(data: Any, take: Callable[[list[bool]], Any] | None, wanted: Wanted) -> Adapted:
    """Rows that are dictionaries. They go to a temporary file as JSON, so that fields mean what they mean in the command."""
    spool = Spool(wanted.temp_dir)
    try:
        rows = iter(data)
        text: str | None = None
        id_field: str | None = None
        needed: set[str] | None = None
        ids: list[Any] = []
        count = 0
        for position, row in enumerate(rows):
            count = position + 1
            if not isinstance(row, Mapping):
                raise TypeError(f"{wanted.name}[{position}] is {type_name(row)}: it must be a dict, as those before it")
            if text is None:
                strings = [name for name, value in row.items() if isinstance(value, str)]
                text = choose_text(wanted.text, list(row), strings, "the first record")
                if wanted.id is None or isinstance(wanted.id, str):
                    id_field = wanted.id if wanted.id is not None else "id"
                    id_field = None if id_field == text else id_field
                needed = {*roots(text), *(root for field in wanted.fields for root in roots(field))}
                if id_field is not None:
                    needed.add(id_field)
            assert needed is not None
            if text in row:
                check_text(row[text], f"{wanted.name}[{position}][{text!r}]")
            if id_field is not None:
                ids.append(row.get(id_field))
            # Rows of a stream must come back, so that all fields are kept.
            kept = row if take is None else {name: row[name] for name in needed if name in row}
            spool.add(kept)
        spool.finish()
    except BaseException:
        spool.close()
        raise
    if wanted.id is not None and not isinstance(wanted.id, str):
        try:
            ids = given_ids(wanted.id, count)
        except BaseException:
            spool.close()
            raise
    shown = unique_ids(ids)[0] if any(id is not None for id in ids) else None
    if take is None:
        final = spool
        take = lambda mask: Stream(final, mask, is_text=False)  # noqa: E731
    return Adapted(("path", spool.path), take, ids=shown, text=text, spool=spool)


def adapt_stream(data: Iterable[Any], wanted: Wanted) -> Adapted:
    """A generator. It can be read once, so its rows go to a temporary file."""
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
    spool = Spool(wanted.temp_dir)
    try:
        length = 0
        for position, row in enumerate(every):
            if row is not None and not isinstance(row, str):
                raise TypeError(f"{wanted.name}[{position}] is {type_name(row)}: it must be str")
            if wanted.errors == "strict" and row is not None:
                try:
                    row.encode("utf-8")
                except UnicodeEncodeError:
                    raise ValueError(f'{wanted.name}[{position}] has a lone surrogate, and errors is "strict"') from None
            spool.add({wanted.column or "text": row})
            length += 1
        spool.finish()
        ids = None if wanted.id is None else unique_ids(given_ids(wanted.id, length))[0]
    except BaseException:
        spool.close()
        raise
    return Adapted(
        ("path", spool.path), lambda mask: Stream(spool, mask, is_text=True), ids=ids, text="text", spool=spool
    )


def table_source(
    columns: Callable[[list[str]], Any],
    values: Callable[[str], list[Any]],
    text: str,
    id_name: str | None,
    wanted: Wanted,
    length: int,
) -> tuple[Source, list[Any] | None]:
    """The columns that a run needs of a table, and the ids of its rows."""
    needed: list[str] = []
    for name in [*([text] if id_name == text else []), *roots_of(text), *(r for f in wanted.fields for r in roots(f))]:
        if name not in needed and name != id_name:
            needed.append(name)
    ids: list[Any] | None = None
    unique: list[str] | None = None
    if wanted.id is not None and not isinstance(wanted.id, str):
        ids, unique = unique_ids(given_ids(wanted.id, length))
    elif id_name is not None:
        ids, unique = unique_ids(values(id_name))
    return ("table", columns(needed), unique), ids


def roots_of(text: str) -> list[str]:
    return roots(text)


def id_name(wanted: Wanted, names: list[str], text: str, what: str) -> str | None:
    if wanted.id is not None and not isinstance(wanted.id, str):
        return None
    return choose_id(wanted.id, names, text, what)


def adapt_polars(data: Any, frame: Any, back: Callable[[Any], Any], wanted: Wanted) -> Adapted:
    polars = loaded("polars")
    names = list(frame.columns)
    strings = [name for name, kind in frame.schema.items() if kind in (polars.String, polars.Categorical)]
    what = f"the {type_name(data)}"
    text = choose_text(wanted.text, names, strings, what)
    source, ids = table_source(
        lambda columns: frame.select(columns),
        lambda name: frame.get_column(name).to_list(),
        text,
        id_name(wanted, names, text, what),
        wanted,
        frame.height,
    )
    return Adapted(source, lambda mask: back(frame.filter(polars_mask(mask))), ids=ids, text=text)


def is_arrow_text(kind: Any) -> bool:
    types = loaded("pyarrow").types
    if types.is_dictionary(kind):
        return is_arrow_text(kind.value_type)
    views = getattr(types, "is_string_view", lambda _: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or views(kind))


def adapt_arrow(data: Any, table: Any, back: Callable[[Any], Any], wanted: Wanted) -> Adapted:
    names = list(table.schema.names)
    strings = [field.name for field in table.schema if is_arrow_text(field.type)]
    what = f"the {type_name(data)}"
    text = choose_text(wanted.text, names, strings, what)
    source, ids = table_source(
        lambda columns: table.select(columns),
        lambda name: table.column(name).to_pylist(),
        text,
        id_name(wanted, names, text, what),
        wanted,
        table.num_rows,
    )
    return Adapted(source, lambda mask: back(table.filter(arrow_mask(mask))), ids=ids, text=text)


def adapt_duckdb(data: Any, wanted: Wanted) -> Adapted:
    # DuckDB hands its rows over as Arrow data.
    import pyarrow  # type: ignore[import-untyped,unused-ignore]  # noqa: F401

    fetch = getattr(data, "to_arrow_table", None) or data.fetch_arrow_table
    table = fetch()
    # The relation's own connection is not to be had, so the rows come back on the default one.
    return adapt_arrow(data, table, loaded("duckdb").from_arrow, wanted)


def adapt_dataset(data: Any, wanted: Wanted) -> Adapted:
    """A dataset of Hugging Face. Its rows may be a selection of its table."""
    what = "the Dataset"
    names = list(data.column_names)
    strings = [name for name, kind in data.features.items() if getattr(kind, "dtype", None) in ("string", "large_string")]
    text = choose_text(wanted.text, names, strings, what)

    def columns(names: list[str]) -> Any:
        return data.select_columns(names).with_format("arrow")[:]

    source, ids = table_source(
        columns,
        lambda name: columns([name]).column(name).to_pylist(),
        text,
        id_name(wanted, names, text, what),
        wanted,
        data.num_rows,
    )
    take = lambda mask: data.select([row for row, stays in enumerate(mask) if stays])  # noqa: E731
    return Adapted(source, take, ids=ids, text=text)


def adapt_pandas(data: Any, wanted: Wanted) -> Adapted:
    names = [str(name) for name in data.columns]
    if len(set(names)) != len(names):
        raise SettingError("the DataFrame has two columns of one name", settings=["text"])
    by_name = dict(zip(names, data.columns))
    strings = [name for name, column in by_name.items() if is_pandas_text(data[column])]
    what = "the DataFrame"
    text = choose_text(wanted.text, names, strings, what)
    take = lambda mask: data[as_mask(mask)]  # noqa: E731
    id_column = id_name(wanted, names, text, what)
    if text in by_name and not wanted.fields:
        texts = pandas_texts(data[by_name[text]])
        if wanted.id is not None and not isinstance(wanted.id, str):
            ids, unique = unique_ids(given_ids(wanted.id, len(data)))
            return Adapted(("texts", texts, unique), take, ids=ids, text=text)
        if id_column is None:
            return Adapted(("texts", texts, None), take, text=text)
        ids, unique = unique_ids(pandas_texts(data[by_name[id_column]]))
        return Adapted(("texts", texts, unique), take, ids=ids, text=text)
    # Fields of a keeper policy have types of their own, which records keep.
    needed = [name for name in names if name in {*roots(text), *(r for f in wanted.fields for r in roots(f)), id_column}]
    columns = {name: pandas_texts(data[by_name[name]]) for name in needed}
    rows = [dict(zip(columns, values)) for values in zip(*columns.values())]
    asked = Wanted(text, wanted.id, wanted.fields, wanted.temp_dir, wanted.name, wanted.errors, wanted.column)
    return adapt_records(rows, take, asked) if rows else Adapted(("texts", [], None), take, text=text)


def is_pandas_text(column: Any) -> bool:
    kind = str(column.dtype)
    if kind == "object":
        first = next((value for value in column if isinstance(value, str)), None)
        return first is not None
    return kind.startswith("str") or kind in ("string", "large_string[pyarrow]", "category")


def adapt_capsules(data: Any, wanted: Wanted) -> Adapted:
    """Arrow data of a library that is not known here. pyarrow selects its rows."""
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
        return adapt_texts(column, column, lambda mask: column.filter(arrow_mask(mask)), wanted)
    return adapt_arrow(data, table, lambda table: table, wanted)


def references(data: Any, wanted: Wanted) -> tuple[list[Source], list[Spool]]:
    """Sources of an argument that takes files, texts or tables: a str or a path is a file."""
    if data is None:
        return [], []
    if isinstance(data, (str, os.PathLike)):
        return [("file", os.fspath(data))], []
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, os.PathLike) for item in data):
        return [("file", os.fspath(item)) for item in data], []
    adapted = adapt(data, wanted)
    return [adapted.source], [adapted.spool] if adapted.spool else []
