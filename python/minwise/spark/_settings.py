"""Checks the arguments of a job on the driver, before anything is read."""

from __future__ import annotations

import json
import os
from typing import Any

from .._errors import SettingError
from .._minwise import spark_plan
from .._runs import options

#: Arguments of `minwise.dedup` that the job accepts.
SUPPORTED = (
    "threshold",
    "spec",
    "measure",
    "keep",
    "cluster",
    "max_cluster",
    "recall",
    "candidates",
    "weight",
    "weights",
    "max_df",
    "ignore_text",
    "null",
    "max_record",
    "normalize",
    "shingle",
    "strip_markup",
    "whitespace",
    "short",
    "sketch",
    "registers",
    "seed",
    "bands",
    "rows",
    "filter_error",
    "looks",
    "error_per_look",
    "audit",
)
#: Arguments of `minwise.dedup` that the job refuses, each with the hint of the error.
REFUSED = {
    "bits": "sketches lie on disk, so that whole registers cost no memory: leave it out",
    "order": "`minwise.dedup` compares the order of shingles on one machine",
    "threads": "each task has one thread: set the cores of the executors",
    "memory": "set the memory of the executors",
    "temp_dir": "`work` is the folder of the job",
    "progress": "the logger `minwise.spark` has a line per round",
    "cancel": "cancel the job of the engine",
    "errors": "rows whose text is not valid UTF-8 are rejected, as in the command",
    "max_rejects": "look at `rejects` of the result",
}
#: Maximum number of bytes of a frequency table. Every task loads the table.
MOST_TABLE = 1 << 30
#: Maximum bytes of the shingles that are left out, which every task loads.
MOST_LEFT_OUT = 32 << 20
#: Maximum bytes of the texts of a DataFrame of `ignore_text`, which the driver reads.
MOST_IGNORED = 256 << 20
#: Maximum number of documents that an audit draws. Their sketches are sent to every task.
MOST_DRAWN = 100_000


def require() -> None:
    """Raises an error if a package that the job needs is not installed."""
    for name in ("pyspark", "pyarrow"):
        try:
            __import__(name)
        except ImportError as error:
            raise ImportError(f"minwise.spark needs {name}: install `minwise[spark]`") from error


def check(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments that are not None.

    Raises an error for an argument or a value that the job does not accept.
    """
    for name, value in given.items():
        if name in REFUSED:
            if value is not None:
                raise SettingError(
                    f"`{name}`: the Spark job does not take it", hint=REFUSED[name], settings=[name]
                )
        elif name not in SUPPORTED:
            raise TypeError(f"minwise.spark has no argument {name!r}")
    audit = given.get("audit")
    if audit not in (None, "auto", "off") and (isinstance(audit, bool) or not str(audit).isdigit()):
        hint = "`audit=1000` looks at 1,000 documents"
        raise SettingError(f"`audit`: {audit!r} is no number of documents, `auto` or `off`", hint=hint, settings=["audit"])
    if audit not in (None, "auto", "off") and int(audit) > MOST_DRAWN:
        raise SettingError(
            f"`audit`: the Spark job draws {MOST_DRAWN:,} documents at most, because every task gets their sketches",
            hint=f"`audit={MOST_DRAWN}`",
            settings=["audit"],
        )
    chosen = {name: value for name, value in given.items() if value is not None and name not in REFUSED}
    weights = chosen.get("weights")
    if weights is not None and not os.path.exists(weights):
        raise SettingError(f"`weights`: there is no `{weights}`", hint="`minwise weights INPUT -o FILE` counts a corpus", settings=["weights"])
    if weights is not None and os.path.getsize(weights) >= MOST_TABLE:
        raise SettingError(
            "`weights`: the Spark job takes a table below 1 GiB, because each executor maps it",
            hint="count a sample of the corpus with `minwise weights`",
            settings=["weights"],
        )
    if weights is not None and chosen.get("max_df") is not None:
        raise SettingError(
            "`max_df`: the Spark job does not take it together with `weights`",
            hint="leave out `max_df`, or count frequent shingles without a table of weights",
            settings=["max_df", "weights"],
        )
    return chosen


def plan(chosen: dict[str, Any]) -> dict[str, Any]:
    """Returns the checked settings with all values that follow from them, such as bands and filters.

    Tasks get this plan.
    """
    engine = {name: value for name, value in chosen.items() if name not in ("spec", "weights", "ignore_text", "audit")}
    # The spec is passed with the other arguments, because `options` raises an error if both a spec and parts of it are
    # given.
    listed = options({**engine, "spec": chosen.get("spec")})
    weights = chosen.get("weights")
    made: dict[str, Any] = json.loads(
        spark_plan(listed, chosen.get("spec"), None if weights is None else os.fspath(weights))
    )
    return made
