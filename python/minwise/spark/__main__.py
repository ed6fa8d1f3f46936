"""Runs the job as a program: `python -m minwise.spark`. For spark-submit, `submit.py` does the same.

    python -m minwise.spark --input s3://bucket/in --output s3://bucket/out --work s3://bucket/work --order-by path,row
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Callable
from typing import Any

from .._errors import InputError, MinwiseError, SettingError
from . import _job, dedup_files
from ._files import apart
from ._results import refuse_annotated
from ._sail import SailServer
from ._settings import REFUSED, SUPPORTED, require
from ._summary import Summary, show
from ._work import first_line

#: Options whose values are numbers, with the type of each.
NUMBERS: dict[str, Callable[[str], Any]] = {
    "threshold": float,
    "recall": float,
    "max_cluster": int,
    "registers": int,
    "seed": int,
    "bands": int,
    "rows": int,
    "error_per_look": float,
}
FLAGS: set[str] = {"strip_markup"}


def parser() -> argparse.ArgumentParser:
    """Returns the parser of the options: those of the program, and the arguments of `minwise.spark.dedup` with the
    option names of the command `minwise`."""
    out = argparse.ArgumentParser(prog="python -m minwise.spark", description="Removes near-duplicates on a cluster, as `minwise dedup` does.")
    out.add_argument("--input", required=True, nargs="+", help="tables that Spark reads; with --files, files and folders that every executor can open")
    out.add_argument("--output", required=True, help="folder of the kept rows; with --files, one file per input")
    out.add_argument("--work", required=True, help="folder of the job, from which a killed job resumes")
    out.add_argument("--format", help="format of tables [default: by name: json for .json and .jsonl, csv, orc, else parquet]")
    out.add_argument("--files", action="store_true", help="read and write files with the reader of the command")
    out.add_argument("--text-field", help="column of the text [default: the only column of strings, else `text`]")
    out.add_argument("--id-field", help="column of the id [default: `id` if there is one]")
    out.add_argument("--order-by", help="columns that order rows, separated by commas")
    out.add_argument("--against", nargs="+", help="tables, or with --files files, whose rows always stay")
    out.add_argument("--ignore-text", nargs="+", metavar="FILE", help="files and folders of texts whose shingles are left out; the driver reads them")
    out.add_argument("--removed", help="folder of the removed rows")
    out.add_argument("--decisions", help="folder of the table of decisions")
    out.add_argument("--clusters", help="folder of the table of clusters")
    out.add_argument("--report", help="folder on the driver of the report of a sample")
    out.add_argument("--annotate", action="store_true", help="write all rows, with `duplicate_of` and `similarity`")
    out.add_argument("--no-resume", action="store_true", help="begin anew in a folder that has a job")
    out.add_argument("--remote", help="URL of a Spark Connect server, such as sc://host:15002")
    out.add_argument("--sail", action="store_true", help="run on a Sail server that the program starts (`pip install pysail`)")
    out.add_argument("--quiet", action="store_true", help="log nothing but errors")
    for name in (*SUPPORTED, *REFUSED):
        option = f"--{name.replace('_', '-')}"
        if option in out._option_string_actions:
            continue
        hidden = argparse.SUPPRESS if name in REFUSED else f"as in `minwise dedup {option}`"
        if name in FLAGS:
            out.add_argument(option, action="store_true", default=None, help=hidden)
        else:
            out.add_argument(option, type=NUMBERS.get(name, str), help=hidden)
    return out


def _read(spark: Any, setting: str, paths: list[str], format: str | None) -> Any:
    if format is None:
        name = paths[0].rstrip("/").lower()
        for end in (".gz", ".zst", ".bz2"):
            name = name.removesuffix(end)
        kinds = {"jsonl": "json", "json": "json", "csv": "csv", "orc": "orc"}
        format = kinds.get(name.rpartition(".")[2], "parquet")
    reader = spark.read.format(format)
    if format == "csv":
        # The options make Spark read CSV as the command does: a quoted field may have line breaks, and two quotes in it
        # stand for one.
        reader = reader.option("header", "true").option("multiLine", "true").option("escape", '"')
    why = "there is no table"
    try:
        df = reader.load(paths if len(paths) > 1 else paths[0])
        # Spark Connect looks at the path only when the columns are asked for. For a path that does not exist, Sail
        # returns a table without columns.
        if df.columns:
            return df
    except Exception as error:  # noqa: BLE001
        why = first_line(error)
    hint = "executors must see the path, and `--format` names the format of the table"
    raise InputError(f"`{setting}`: `{', '.join(paths)}` cannot be read: {why}", hint=hint)


def _session(words: argparse.Namespace) -> tuple[Any, Any]:
    from pyspark.sql import SparkSession

    if words.sail:
        server = SailServer()
        return SparkSession.builder.remote(server.url).getOrCreate(), server
    builder = SparkSession.builder.appName("minwise dedup")
    if words.remote:
        builder = builder.remote(words.remote)
    return builder.getOrCreate(), None


class _Style(logging.Formatter):
    """Formats log lines as the command does, with the labels `note:`, `warning:` and `error:`."""

    def format(self, record: logging.LogRecord) -> str:
        kind = "error" if record.levelno >= logging.ERROR else "warning" if record.levelno >= logging.WARNING else "note"
        return f"{kind}: {record.getMessage()}"


def _complain(error: Exception) -> None:
    hint = getattr(error, "hint", None)
    message = str(error) if hint is None else str(error).removesuffix(f"; hint: {hint}")
    print(f"error: {message}" + ("" if hint is None else f"\nhint: {hint}"), file=sys.stderr)


def _run(words: argparse.Namespace, spark: Any) -> Summary:
    given = {name: getattr(words, name) for name in (*SUPPORTED, *REFUSED) if getattr(words, name, None) is not None}
    if words.ignore_text:
        given["_ignored_files"] = tuple(words.ignore_text)
    common = {"text": words.text_field, "id": words.id_field, "work": words.work, "resume": not words.no_resume, **given}
    outputs = {name: getattr(words, name) for name in ("output", "removed", "decisions", "clusters") if getattr(words, name)}
    inputs = [*words.input, *(words.against or [])]
    for name, path in [*outputs.items(), ("work", words.work)]:
        apart(name, path, [*inputs, *(other for kind, other in outputs.items() if kind != name)])
    if words.files:
        for name in ("removed", "clusters", "report", "annotate"):
            if getattr(words, name):
                raise SettingError(f"`{name}`: a job over files does not write it", hint="leave out `--files`", settings=[name])
        for name in ("order_by", "format"):
            if getattr(words, name):
                why = "files are read in the order of their paths and lines, by the reader of the command"
                raise SettingError(f"`{name}`: {why}", hint=f"leave out `--{name.replace('_', '-')}`", settings=[name])
        tables = {"decisions": (words.decisions, "decisions")} if words.decisions else {}
        done = dedup_files(spark, words.input, words.output, against=words.against, _outputs=tables, **common)
        for name, (path, table) in tables.items():
            done.write(name, path, table)
        return done.summary
    df = _read(spark, "input", words.input, words.format)
    if words.annotate:
        refuse_annotated(df)
    against = _read(spark, "against", words.against, words.format) if words.against else None
    order_by = words.order_by.split(",") if words.order_by else None
    kept = "annotated" if words.annotate else "kept"
    tables = {name: (path, kept if name == "output" else name) for name, path in outputs.items()}
    result = _job.dedup(df, against=against, order_by=order_by, _outputs=tables, **common)
    for name, (path, table) in tables.items():
        result.write(name, path, table)
    if words.report:
        result.report(words.report)
    return result.summary


def main(words: list[str] | None = None) -> int:
    """Runs the job and returns the exit status: 0, or 2 if settings or inputs cannot be used."""
    chosen = parser().parse_args(words)
    handler = logging.StreamHandler()
    handler.setFormatter(_Style())
    logging.basicConfig(level=logging.ERROR if chosen.quiet else logging.WARNING, handlers=[handler])
    logging.getLogger("minwise.spark").setLevel(logging.ERROR if chosen.quiet else logging.INFO)
    try:
        require()
        spark, server = _session(chosen)
    except (ImportError, RuntimeError) as error:
        _complain(error)
        return 2
    try:
        began = time.monotonic()
        summary = _run(chosen, spark)
        names = ("output", "removed", "decisions", "clusters", "report")
        outputs = {name: path for name in names if (path := getattr(chosen, name))}
        print(show(summary, time.monotonic() - began, outputs, chosen.annotate))
        return 0
    except (MinwiseError, OSError) as error:
        _complain(error)
        return 2
    finally:
        try:
            spark.stop()
        finally:
            if server is not None:
                server.stop()


if __name__ == "__main__":
    sys.exit(main())
