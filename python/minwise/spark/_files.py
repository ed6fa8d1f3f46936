"""Deduplicates files: reads files and folders, and writes one file per input, both with the code of the command."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .._errors import SettingError
from .._minwise import SparkFile, keep_fields
from . import _decide, _job, _settings, _shelves, _tasks
from ._rows import Columns
from ._summary import Summary, summary_of
from ._tasks import checked
from ._work import Work, batches_by_bytes

log = logging.getLogger("minwise.spark")

Path = str | os.PathLike[str]

COPIED = "file bigint, records bigint"
REJECTED = "id string, reason string, message string"


def _opened(path: str, options: list[tuple[str, str]], fields: list[str]) -> Any:
    return SparkFile(path, options, fields)


#: Name extensions of formats of records, as in the command.
RECORDS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".feather", ".ipc", ".warc")


#: Name extensions of files that may be empty, as in the command. Other formats are left out, because tables and
#: compressed files have headers.
MAY_BE_EMPTY = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".warc")


def _is_skipped(path: str) -> bool:
    """Reports whether the command skips a file of a folder.

    Skipped files are system files, lock files of Office, and files such as `_SUCCESS` of Spark, whose names begin with
    `.` or `_` and have no extension of records. Empty files are skipped, too, if their format does not allow them, such
    as parts of a table without extensions.
    """
    name = os.path.basename(path)
    if name.lower() in (".ds_store", "thumbs.db", "desktop.ini") or name.startswith("~$"):
        return True
    plain = name.lower()
    if os.path.exists(path) and os.path.getsize(path) == 0 and not plain.endswith(MAY_BE_EMPTY):
        return True
    for end in (".gz", ".zst", ".bz2", ".xz"):
        plain = plain.removesuffix(end)
    return name.startswith((".", "_")) and not plain.endswith(RECORDS)


class _Listing:
    """Lists the files of inputs and of references in the order of the command, each with its name in an output folder.

    A file to which several links lead is listed once.
    """

    def __init__(self) -> None:
        #: Number of files of folders that were skipped.
        self.skipped = 0
        # Per file (by device and inode): its first path, whether the caller named the file itself, and whether it is a
        # reference.
        self._seen: dict[tuple[int, int], tuple[str, bool, bool]] = {}

    def of(self, setting: str, inputs: Path | Sequence[Path]) -> list[tuple[str, str]]:
        words = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
        found: list[tuple[str, str]] = []
        is_reference = setting == "against"
        for word in words:
            top = os.fspath(word)
            if os.path.isdir(top):
                inside = [(path, name) for path, name in sorted(_walk(top), key=lambda both: os.fsencode(both[1]))]
                own = [(path, name) for path, name in inside if not _is_skipped(path)]
                self.skipped += len(inside) - len(own)
            else:
                own = [(top, os.path.basename(top))]
            found += [both for both in own if self._admit(setting, both[0], not os.path.isdir(top), is_reference)]
        names = [name for _, name in found]
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None and not is_reference:
            hint = "name a folder above both, or rename one of them"
            raise SettingError(f"`{setting}`: two inputs would be written as `{twice}`", hint=hint, settings=[setting])
        if not found:
            raise SettingError(f"`{setting}`: there are no files", hint="name files of records, or folders of them", settings=[setting])
        return found

    def _admit(self, setting: str, path: str, is_named: bool, is_reference: bool) -> bool:
        """Reports whether a file is new.

        As in the command, it raises an error if a file is named twice, or is both input and reference.
        """
        try:
            state = os.stat(path)
        except OSError as error:
            if not os.path.lexists(path):
                hint = "every executor must see all files under the same paths"
                raise SettingError(f"`{setting}`: there is no `{path}`", hint=hint, settings=[setting]) from error
            hint = "every executor must see all files; delete links that lead nowhere"
            raise SettingError(f"`{setting}`: `{path}` cannot be read: {error.strerror}", hint=hint, settings=[setting]) from error
        key = (state.st_dev, state.st_ino)
        if key not in self._seen:
            self._seen[key] = (path, is_named, is_reference)
            return True
        first, was_named, was_reference = self._seen[key]
        if was_reference != is_reference:
            raise SettingError(f"`{setting}`: `{path}` is an input and a reference", hint="name it once", settings=[setting])
        if is_named and was_named:
            raise SettingError(f"`{setting}`: `{path}` and `{first}` are one file", hint="name it once", settings=[setting])
        return False


def _walk(top: str) -> Iterator[tuple[str, str]]:
    """Yields all files below a folder, with their paths relative to the folder.

    Links are followed as in the command, because data sets are often folders of links.
    """
    above: dict[str, tuple[tuple[int, int], ...]] = {}
    for folder, folders, names in os.walk(top, followlinks=True):
        state = os.stat(folder)
        own = (*above.get(os.path.dirname(folder), ()), (state.st_dev, state.st_ino))
        above[folder] = own
        # A link to a folder above is not followed, because the walk would never end.
        for name in list(folders):
            inner = os.stat(os.path.join(folder, name))
            if (inner.st_dev, inner.st_ino) in own:
                folders.remove(name)
        for name in names:
            path = os.path.join(folder, name)
            # Pipes, sockets and devices are left out. Broken links are kept, so that `_admit` raises an error for them.
            if os.path.isfile(path) or not os.path.exists(path):
                yield path, os.path.relpath(path, top).replace(os.sep, "/")


def apart(setting: str, path: str, inputs: Sequence[str]) -> None:
    """Raises an error if `path`, which the job writes, contains an input or lies in one: a resumed job would read
    its own output.
    """

    def parts(path: str) -> tuple[str, list[str]]:
        scheme, colon, rest = path.rpartition("://")
        is_local = not colon or scheme == "file"
        rest = os.path.realpath(rest) if is_local else rest
        return ("" if is_local else scheme), [part for part in rest.split("/") if part]

    scheme, own = parts(path)
    for other in inputs:
        other_scheme, theirs = parts(other)
        if scheme == other_scheme and (own[: len(theirs)] == theirs or theirs[: len(own)] == own):
            raise SettingError(
                f"`{setting}`: `{path}` and `{other}` lie in one another",
                hint="name a folder outside of all inputs and of all other outputs",
                settings=[setting],
            )


def _identity(files: list[tuple[str, str]]) -> list[list[Any]]:
    """Returns the paths with sizes and modification times, by which a resumed job notices that a file has changed."""
    states = [(path, os.stat(path)) for path, _ in files]
    return [[path, state.st_size, state.st_mtime_ns] for path, state in states]


@checked
def scanner(options: list[tuple[str, str]], fields: list[str], rejects: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that reads the files of a batch and yields their records, or with `rejects` only the records that are
    rejected, each with the reason.

    Records that cannot be read are among the records, marked in the column `unreadable`, so that the job counts them
    without reading all files again.
    """

    def scan(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        from minwise.spark._files import _opened
        from minwise.spark._tasks import _batch, cut

        for batch in batches:
            for number, path in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist()):
                file = _opened(path, options, fields)
                lines = 0
                for chunk in range(file.chunks()):
                    made, scanned = file.scan(chunk)
                    rows = _batch(made)
                    places = [file.place_name(lines + line) for line in rows.column(1).to_pylist()]
                    lines += scanned
                    id = pc.coalesce(rows.column(2), pa.array(places, pa.large_string())).cast(pa.string())
                    is_bad = pc.is_valid(rows.column(4))
                    if rejects:
                        out = [id, rows.column(4).cast(pa.string()), rows.column(5).cast(pa.string())]
                        yield pa.RecordBatch.from_arrays(out, names=["id", "reason", "message"]).filter(is_bad)
                        continue
                    out = [id, pa.array(places, pa.string()), rows.column(3).cast(pa.string())]
                    out += [rows.column(6 + at).cast(pa.string()) for at in range(len(fields))]
                    out += [pa.array([number] * len(rows), pa.int64()), rows.column(0), is_bad]
                    names = ["id", "place", "text", *(f"v{at}" for at in range(len(fields))), "o0", "o1", "unreadable"]
                    yield from cut(pa.RecordBatch.from_arrays(out, names=names))

    return scan


@checked
def copier(output: str, options: list[tuple[str, str]], fields: list[str]) -> Callable[[Any], Any]:
    """Makes a task that writes one file without the removed records."""

    def copy(table: Any) -> Any:
        import os

        import pyarrow as pa

        from minwise.spark._files import _opened

        number = table["file"][0].as_py()
        path = next(path for path in table["path"].to_pylist() if path is not None)
        name = next(name for name in table["name"].to_pylist() if name is not None)
        gone = [row for row in table["row"].to_pylist() if row is not None]
        target = os.path.join(output, *name.split("/"))
        os.makedirs(os.path.dirname(target), exist_ok=True)
        # `copy` writes under a temporary name and renames the file when it is complete.
        records = _opened(path, options, fields).copy(target, gone)
        return pa.table({"file": pa.array([number], pa.int64()), "records": pa.array([records], pa.int64())})

    return copy


class FilesResult:
    """The result of :func:`minwise.spark.dedup_files`."""

    def __init__(self, work: Work, counts: dict[str, Any], rejects: Any) -> None:
        self._work = work
        #: The settings and the counts of the job.
        self.summary: Summary = summary_of(counts)
        #: Rejected records, with one row per record: `id`, the code of the `reason`, and a `message`.
        self.rejects = rejects

    @property
    def decisions(self) -> Any:
        """Table of the decisions, with one row per removed document: `id`, `duplicate_of` and `similarity`."""
        return self._work.table("decisions", _decide.DECISIONS).select("id", "duplicate_of", "similarity")

    def write(self, name: str, path: str, table: str) -> None:
        """Writes a table of the result, unless an earlier run of this job has written it already."""
        self._work.write(name, path, table, lambda: getattr(self, table))

    def __repr__(self) -> str:
        of = self.summary
        return f"FilesResult(read={of.read}, kept={of.kept}, removed={of.removed}, rejected={of.rejected})"


def dedup_files(
    spark: Any,
    inputs: Path | Sequence[Path],
    output: Path,
    *,
    work: str,
    text: str | None = None,
    id: str | None = None,
    against: Path | Sequence[Path] | None = None,
    resume: bool = True,
    **same: Any,
) -> FilesResult:
    """Removes near-duplicates from files of records, and writes one file per input, as ``minwise dedup -o DIR/`` does.

    Driver and executors must see the same files, on a shared file system. The code of the command reads and copies the
    records.

    :param spark: the session.
    :param inputs: files of records (JSONL, CSV, Parquet or Arrow, also compressed), and folders of such files.
    :param output: the folder that gets one file per input, under the same relative name.
    :param work: a folder that Spark can write. A killed job resumes from the tables in this folder.
    :param text: the field of the text. Default: as in the command.
    :param id: the field of the id. Default: as in the command. A record without an id, or with a repeated id, is named
        ``file:line``.
    :param against: files whose records always stay, and that are not written.
    :param resume: True resumes an earlier job in the same folder; False begins anew.
    :param same: the arguments of :func:`dedup`.
    """
    with batches_by_bytes(spark):
        return _dedup_files(spark, inputs, output, work, text, id, against, resume, same)


def _dedup_files(
    spark: Any, inputs: Any, output: Path, work: str, text: Any, id: Any, against: Any, resume: bool, same: dict[str, Any]
) -> FilesResult:
    from pyspark.sql import functions as F

    listing = _Listing()
    references = listing.of("against", against) if against is not None else []
    files = listing.of("inputs", inputs)
    output = os.fspath(output)
    words = [[given] if isinstance(given, (str, os.PathLike)) else list(given) for given in (inputs, against) if given is not None]
    tops = [os.fspath(word) for some in words for word in some]
    apart("output", output, tops)
    apart("work", work, tops)
    apart("work", work, [output])
    limits, outputs = _job._limits(same), same.pop("_outputs", {})
    # `_ignored_files` are the files of `python -m minwise.spark --ignore-text`.
    chosen = _settings.check({name: value for name, value in same.items() if name != "_ignored_files"})
    plan = _settings.plan(chosen)
    fields = list(keep_fields(plan["keep"]))
    options = [("null", plan["null"])]
    options += [("text-field", text)] if text else []
    options += [("id-field", id)] if id else []
    options += [("max-record", str(plan["max_record"]))]
    # The first file is opened here, so that a missing field or an unknown format is an error before the job begins.
    for path, _ in files[:1]:
        _opened(path, options, fields)

    def numbered_files(some: list[tuple[str, str]]) -> Any:
        return spark.createDataFrame([(at, path) for at, (path, _) in enumerate(some)], "file long, path string")

    def frame(some: list[tuple[str, str]], fields: list[str]) -> Any:
        numbered = numbered_files(some).repartition(max(min(len(some), 10_000), 1))
        values = "".join(f"v{at} string, " for at in range(len(fields)))
        return numbered.mapInArrow(
            scanner(options, fields, False), f"id string, place string, text string, {values}o0 long, o1 long, unreadable boolean"
        )

    columns = Columns("text", "id", ("o0", "o1"), tuple(fields), is_ready=True)
    df = frame(files, fields)
    given = frame(references, []) if references else None
    identity = {"inputs": _identity(files), "against_files": _identity(references), "options": [list(option) for option in options], "output": os.path.abspath(output)}
    ready = _job._Ready(df, given, text, None, None, same, work, resume, "dedup_files", columns, identity, outputs)
    assert ready.work is not None
    folder = ready.work
    if os.path.isdir(output) and os.listdir(output) and folder.counts("decisions") is None:
        raise SettingError(f"`output`: `{output}` is not empty", hint="name another folder", settings=["output"])
    counts = _job.run(ready, limits, plan)

    def copied() -> dict[str, Any]:
        ranks = folder.table("decisions", _decide.DECISIONS).select("rank")
        bad = [_shelves.TOO_SHORT, _shelves.TOO_LONG]
        rejected = folder.table("sketches", _tasks.SKETCHES).where("not given").where(F.col("kind").isin(bad))
        gone = ranks.unionByName(rejected.select("rank"))
        gone = gone.mapInArrow(_tasks.placer(_job.is_last(plan["keep"])), _tasks.PLACES)
        none = F.lit(None)
        gone = gone.select(F.col("o0").alias("file"), F.col("o1").alias("row"), none.cast("string").alias("path"), none.cast("string").alias("name"))
        every = [(at, None, path, name) for at, (path, name) in enumerate(files)]
        rows = spark.createDataFrame(every, "file long, row long, path string, name string").unionByName(gone)
        table = folder.save(rows.groupBy("file").applyInArrow(copier(output, options, fields), COPIED), "copied")
        counted = table.agg(F.count(F.lit(1)).alias("files"), F.sum("records").alias("records")).collect()[0]
        return {"files": counted["files"], "written": counted["records"] or 0}

    counts |= folder.step("copied", copied)
    # The files are read again only if the caller looks at the rejects.
    rejects = numbered_files(files).mapInArrow(scanner(options, [], True), REJECTED)
    counts["skipped_files"] = listing.skipped
    return FilesResult(folder, counts, rejects)
