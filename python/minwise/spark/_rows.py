"""Chooses the columns of a DataFrame that the job reads: text, id, values of the keeper policy, and order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._errors import SettingError
from .._minwise import keep_fields


@dataclass(frozen=True)
class Columns:
    """Names of the columns of a DataFrame that a job reads."""

    text: str
    id: str | None
    order_by: tuple[str, ...]
    fields: tuple[str, ...]
    #: Whether the columns have the names that tasks expect already: `text`, `v0`, `o0` and so on.
    is_ready: bool = False


def chosen_text(df: Any, text: str | None) -> str:
    """Returns the name of the text column: the name that the caller gave, else the only column of strings, else
    `text`.
    """
    if text is not None:
        return text
    strings: list[str] = [field.name for field in df.schema.fields if field.dataType.typeName() == "string"]
    if len(strings) == 1:
        return strings[0]
    if "text" in strings:
        return "text"
    listed = ", ".join(f"`{name}`" for name in df.columns) or "none"
    raise SettingError(f"`text`: there is no single column of strings; columns: {listed}", hint="name one as `text`")


def choose(df: Any, text: str | None, id: str | None, order_by: str | Sequence[str] | None, keep: str) -> Columns:
    """Chooses the columns of a DataFrame, and raises an error for a column that it does not have."""
    there = list(df.columns)
    twice = next((name for at, name in enumerate(there) if name in there[:at]), None)
    if twice is not None:
        raise SettingError(f"two columns are called `{twice}`", hint="rename one of them, such as with `df.toDF(…)`")
    text = chosen_text(df, text)
    names = [order_by] if isinstance(order_by, str) else list(order_by or ())
    fields = list(keep_fields(keep))
    if id is None and "id" in there:
        id = "id"
    # A keeper policy without fields ranks rows by their lengths at most, and lengths repeat, so the order of rows must
    # be given.
    if not names and not fields:
        raise SettingError(
            f"`order_by`: `keep=\"{keep}\"` needs an order, and rows of a DataFrame have none",
            hint="name the columns that order rows, such as `order_by=[\"path\", \"row\"]`",
            settings=["order_by"],
        )
    for setting, wanted in (("text", [text]), ("id", [id] if id else []), ("order_by", names), ("keep", fields)):
        for name in wanted:
            if not has_column(df, name):
                listed = ", ".join(f"`{column}`" for column in there)
                raise SettingError(f"`{setting}`: there is no column `{name}`; columns: {listed}", settings=[setting])
    return Columns(text, id, tuple(names), tuple(fields))


def quoted(name: str) -> str:
    """Returns the name of a column in backquotes, so that Spark does not read a dot in it as a field."""
    return "`" + name.replace("`", "``") + "`"


def has_column(df: Any, name: str) -> bool:
    """Reports whether there is a column of this name, or a column that the name may be a field of, such as `meta` for
    `meta.url`.
    """
    return name in df.columns or name.split(".")[0].strip("`") in df.columns


def column(df: Any, name: str) -> Any:
    """Returns a column by its name.

    A name with dots is a column of this name if there is one, and else a field of a column.
    """
    from pyspark.sql import functions as F

    return F.col(quoted(name) if name in df.columns else name)


def _value(df: Any, name: str) -> Any:
    """Returns the value of a field in the form that tasks read: integers as text, and all other values unchanged."""
    value = column(df, name)
    kind = df.select(value.alias("v")).schema.fields[0].dataType.typeName()
    # These values are converted to text by the code of the command. The text that Spark makes of them differs: times depend
    # on the time zone of the session, and floating-point numbers have a point even if they are whole.
    return value if kind in ("timestamp", "timestamp_ntz", "date", "float", "double", "decimal") else value.cast("string")


def expressions(df: Any, columns: Columns, prefix: str = "") -> list[Any]:
    """Returns expressions for the text, the values of the keeper policy, and the columns that order rows."""
    # The text is cast to string, because a column of type CHAR(n) or VARCHAR(n) has another type.
    out = [column(df, columns.text).cast("string").alias(f"{prefix}text")]
    out += [_value(df, name).alias(f"{prefix}v{at}") for at, name in enumerate(columns.fields)]
    out += [column(df, name).alias(f"{prefix}o{at}") for at, name in enumerate(columns.order_by)]
    return out


def selected(df: Any, columns: Columns) -> Any:
    """Selects the columns of a DataFrame that tasks read: `id`, `text`, `v0`, `v1`, … and `o0`, `o1`, …."""
    from pyspark.sql import functions as F

    if columns.is_ready:
        values = [f"v{at}" for at in range(len(columns.fields))]
        return df.select("id", "text", *values, "o0", "o1", "unreadable")
    # References may lack the id column. A row without an id is named by its rank key.
    has_id = columns.id is not None and has_column(df, columns.id)
    id = column(df, columns.id).cast("string") if has_id and columns.id else F.lit(None).cast("string")
    return df.select(id.alias("id"), *expressions(df, columns))


def for_references(columns: Columns) -> Columns:
    """Returns the columns to read of references.

    The fields of the keeper policy are left out, because references come first anyway.
    """
    return Columns(columns.text, columns.id, columns.order_by, (), columns.is_ready)
