"""Makes the functions that run on executors.

Each of these functions gets and returns Arrow batches, or an Arrow table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

Given = ParamSpec("Given")

#: Schemas of the tables that tasks return.
SKETCHES = (
    "rank binary, id string, given boolean, kind tinyint, equality binary, content bigint, size bigint, "
    "sketch binary, keys binary"
)
TEXTS = "rank binary, text string, size bigint, sketch binary, content bigint, parity binary"
PACKED = "part bigint, rows binary"
GROUPS = "what bigint, band bigint, `key` bigint, rank binary, other binary, number bigint"
PAIRS = "a binary, c binary"
SCREENED = "a binary, c binary, bytes bigint"
ASKED = "a binary, c binary, bytes bigint, asked bigint"
SIMILAR = "a binary, c binary, similarity double, compared bigint"
NEAR = "a binary, c binary, cluster binary, open bigint"
ORDERED = "rank binary, `order` binary"
COUNTED = "shingle bigint, documents bigint, high bigint, low bigint"
SIZES = "documents bigint, rows bigint, content bigint"
SUMS = "rows bigint, bytes bigint, key_bytes bigint, unranked array<bigint>"
#: Integer columns of the table of pairs that are compared in a round (`ASKS`). In a listed pair, all these columns are
#: null. In a row of a block, `key` is null. In a document that asked on a shelf that can be full, all but `band` and
#: `key` are null.
ASK_NUMBERS = ("task", "step", "end", "side", "block", "band", "key", "document", "last", "front", "decided", "kind", "joined", "mask")
ASKS = "part bigint, rank binary, c binary, " + ", ".join(f"`{name}` bigint" for name in ASK_NUMBERS)
STATES = "rank binary, last binary, state bigint, front bigint, decided bigint"
WAITS = "rank binary, unasked bigint, behind bigint"
SETTLED = "rank binary, state bigint"
LABELS = "rank binary, label binary"
IDS = "rank binary, id string"
PLACES = "rank binary, o0 bigint, o1 bigint"
EXECUTOR = "version string, fingerprint string, kernel string, python string, machine string"

#: Maximum bytes of a batch that a task returns. A single row may have more.
BATCH_BYTES = 64 << 20
#: Approximate number of pairs of blocks that a task screens before it returns the pairs that are left.
PORTION = 1_000_000
#: Number of rows that are compared with the sample of an audit before the task returns their pairs.
SAMPLED_ROWS = 10_000


@dataclass(frozen=True)
class Job:
    """The settings that every task gets.

    `plan` is the plan as JSON, `ignored` the shingles that are left out, and `weights` the path of a table of document
    frequencies. `sketches` is true if the table of sketches has whole sketches. `driver` has the driver's version of
    minwise and its fingerprint of the spec.
    """

    plan: str
    ignored: bytes = b""
    weights: str | None = None
    sketches: bool = False
    driver: tuple[str, int] | None = None


#: Tasks of this process by their settings. Only `MOST_TASKS` are kept, because a worker process may live longer than a
#: job, and a task may have 32 MiB of shingles (`MOST_LEFT_OUT`).
_TASKS: dict[Job, Any] = {}
MOST_TASKS = 4


def _task(job: Job) -> Any:
    from .. import __version__
    from .._minwise import SparkTask

    found = _TASKS.get(job)
    if found is None:
        made = SparkTask(job.plan, job.ignored, job.weights)
        # The check before the job covers only one executor, and other executors may join later.
        if job.driver is not None and job.driver != (__version__, made.fingerprint()):
            raise RuntimeError(
                f"an executor has minwise {__version__}, and the driver has minwise {job.driver[0]}: install the same version everywhere"
            )
        if len(_TASKS) >= MOST_TASKS:
            _TASKS.pop(next(iter(_TASKS)), None)
        _TASKS[job] = found = made
    return found


def _batch(arrow: Any) -> Any:
    import pyarrow as pa

    return pa.record_batch(arrow)


def cut(batch: Any) -> Iterator[Any]:
    """Cuts a batch into batches of at most 64 MiB."""
    rows = len(batch)
    if batch.nbytes <= BATCH_BYTES or rows <= 1:
        yield batch
        return
    half = rows // 2
    yield from cut(batch.slice(0, half))
    yield from cut(batch.slice(half))


def checked(make: Callable[Given, Callable[..., Any]]) -> Callable[Given, Callable[..., Any]]:
    """Decorates a factory of task functions, so that each function first checks that its executor has the driver's
    version of minwise.

    The check before the job covers only one executor, and other executors may join later. All must have the same
    version, because tasks exchange data in forms that may differ between versions.
    """

    @wraps(make)
    def factory(*given: Given.args, **named: Given.kwargs) -> Callable[..., Any]:
        from .. import __version__

        run, driver = make(*given, **named), __version__

        def task(rows: Any) -> Any:
            from minwise import __version__

            if __version__ != driver:
                raise RuntimeError(f"an executor has minwise {__version__}, and the driver has minwise {driver}: install the same version everywhere")
            return run(rows)

        # The annotations are copied, because Spark distinguishes functions of tables from functions of batches by them.
        hints = dict(run.__annotations__)
        task.__annotations__ = {"return": hints.pop("return"), "rows": next(iter(hints.values()))}
        return task

    return factory


def checker(job: Job) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that returns the versions of minwise and Python, the kernel and the fingerprint of the spec of an
    executor.
    """

    def check(batches: Iterator[Any]) -> Iterator[Any]:
        import platform
        import sys

        import pyarrow as pa

        for batch in batches:
            try:
                import minwise
                from minwise.spark._tasks import _task

                version = str(minwise.__version__)
                fingerprint, kernel = str(_task(job).fingerprint()), _task(job).kernel()
            except Exception as error:  # noqa: BLE001
                version, fingerprint, kernel = "", f"{type(error).__name__}: {error}", ""
            row = [version, fingerprint, kernel, sys.version.split()[0], platform.machine()]
            names = ["version", "fingerprint", "kernel", "python", "machine"]
            yield pa.RecordBatch.from_arrays([pa.array([value] * len(batch), pa.string()) for value in row], names=names)

    return check


@checked
def sketcher(job: Job, given: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that sketches rows."""

    def sketch(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from minwise.spark._tasks import _batch, _task, cut

        task = _task(job)
        for batch in batches:
            for part in cut(batch):
                id = part.column(part.schema.get_field_index("id"))
                begin = 0
                for made in task.sketch(part, given, job.sketches):
                    out = _batch(made)
                    own = id.slice(begin, len(out))
                    begin += len(out)
                    arrays = [out.column(0), own.cast(pa.string()), pa.array([given] * len(out), pa.bool_())]
                    arrays += [out.column(at) for at in range(1, out.num_columns)]
                    names = ["rank", "id", "given", "kind", "equality", "content", "size", "sketch", "keys"]
                    yield from cut(pa.RecordBatch.from_arrays(arrays, names=names))

    return sketch


@checked
def summer(places: list[tuple[int, int]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that sums up rows: their number, the bytes of their texts, and the bytes of their rank keys and ids.

    The task also counts, per ranking of the keeper policy, the documents without a value (`unranked`). `places` are the
    first and last bytes of the rankings in rank keys.
    """

    def sum_up(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        sums, unranked = [0, 0, 0], [0] * len(places)
        for batch in batches:
            keys = batch.column(1).nbytes + batch.column(2).nbytes
            sums = [before + more for before, more in zip(sums, (len(batch), pc.sum(batch.column(0)).as_py() or 0, keys))]
            if places:
                # Only rows of inputs that have a usable text are counted.
                own = batch.filter(pc.and_(pc.less_equal(batch.column(3), 1), pc.invert(batch.column(4)))).column(1)
                for number, (begin, end) in enumerate(places):
                    nothing = pc.equal(pc.binary_slice(own, begin, end), pa.scalar(b"\xff" * (end - begin), pa.binary()))
                    unranked[number] += pc.sum(nothing).as_py() or 0
        arrays = [pa.array([one], pa.int64()) for one in sums]
        yield pa.RecordBatch.from_arrays([*arrays, pa.array([unranked], pa.list_(pa.int64()))], names=["rows", "bytes", "key_bytes", "unranked"])

    return sum_up


@checked
def lister() -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that converts band keys from bytes to lists of integers."""

    def list_keys(batches: Iterator[Any]) -> Iterator[Any]:
        import array

        import pyarrow as pa

        for batch in batches:
            id, sketch, keys = (batch.column(batch.schema.get_field_index(name)) for name in ("id", "sketch", "keys"))
            listed = [None if one is None else array.array("q", one).tolist() for one in keys.to_pylist()]
            yield pa.RecordBatch.from_arrays([id, sketch, pa.array(listed, pa.list_(pa.int64()))], names=["id", "sketch", "band_keys"])

    return list_keys


@checked
def sorter(parts: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that groups the rows of the sketch table by part and packs each part."""

    def sort(batches: Iterator[Any]) -> Iterator[Any]:
        from minwise._minwise import spark_sort
        from minwise.spark._tasks import _batch

        for batch in batches:
            yield _batch(spark_sort(batch, parts))

    return sort


@checked
def grouper(parts: int) -> Callable[[Any], Any]:
    """Makes a task that finds the equal documents, the shelves or the counts of one part."""

    def group(table: Any) -> Any:
        import pyarrow as pa

        from minwise._minwise import spark_group
        from minwise.spark._tasks import _batch

        return pa.Table.from_batches([_batch(spark_group(table["part"][0].as_py(), parts, table.select(["rows"])))])

    return group


@checked
def reader(job: Job, given: bool, needed: bytes | None, sketches: bool, parities: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task for the second reading, which returns the texts of rows, and a row with the sums of each batch.

    If `needed` has hashes of rank keys, only texts of rows with these hashes are returned.
    """

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        from minwise.spark._tasks import _batch, _task, cut

        task = _task(job)
        for batch in batches:
            for part in cut(batch):
                yield _batch(task.read_again(part, given, needed, sketches, parities))

    return read


@checked
def filler(job: Job, parities: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that adds sketches to texts, and parity bits if `parities` is true."""

    def fill(batches: Iterator[Any]) -> Iterator[Any]:
        from minwise.spark._tasks import _batch, _task, cut

        for batch in batches:
            for part in cut(batch):
                yield _batch(_task(job).fill(part, parities))

    return fill


@checked
def tagger(job: Job, names: list[str], prefix: str, added: list[str], given: bool = False) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that adds the rank key and the fingerprint to rows, and keeps the columns `names`."""

    def tag(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from minwise.spark._tasks import _batch, _task, cut

        task = _task(job)
        for batch in batches:
            for part in cut(batch):
                own = range(len(names), part.num_columns)
                keys = pa.RecordBatch.from_arrays(
                    [part.column(at) for at in own], names=[part.schema.names[at][len(prefix) :] for at in own]
                )
                made = [_batch(one) for one in task.ranks(keys, given)]
                more = [pa.concat_arrays([one.column(at) for one in made]) for at in range(2)]
                arrays = [part.column(at) for at in range(len(names))]
                yield pa.RecordBatch.from_arrays([*arrays, *more], names=[*names, *added])

    return tag


@checked
def renamer() -> Callable[[Any], Any]:
    """Makes a task that names the rows of one id `id#2`, `id#3` and so on, in keeper order.

    Names that other rows have are skipped.
    """

    def rename(table: Any) -> Any:
        import pyarrow as pa

        id = table["id"][0].as_py()
        taken = {number for number in table["number"].to_pylist() if number is not None}
        ranks = sorted(rank for rank in table["rank"].to_pylist() if rank is not None)
        names, number = [], 1
        for _ in ranks[1:]:
            number += 1
            while number in taken:
                number += 1
            names.append(f"{id}#{number}")
        return pa.table({"rank": pa.array(ranks[1:], pa.binary()), "id": pa.array(names, pa.string())})

    return rename


@checked
def placer(is_last: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that reads file and row of records from their rank keys.

    The last 18 bytes of a rank key are the file and the row, each as a mark of 1 byte and a number of 8 bytes.
    """

    def place(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            ranks = batch.column(0).to_pylist()
            ends = [bytes(255 - byte for byte in rank[-18:]) if is_last else rank[-18:] for rank in ranks]
            numbers = [[int.from_bytes(end[at : at + 8], "big") - (1 << 63) for end in ends] for at in (1, 10)]
            arrays = [pa.array(ranks, pa.binary()), *(pa.array(some, pa.int64()) for some in numbers)]
            yield pa.RecordBatch.from_arrays(arrays, names=["rank", "o0", "o1"])

    return place


@checked
def counter(job: Job, given: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that returns the distinct shingles of a batch, each with the number of texts that have it.

    A last row without a shingle has the number of all rows, and the sum of their fingerprints. The sum is split into
    two halves of 32 bits, so that adding up many of them does not overflow.
    """

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from minwise.spark._tasks import COUNTED_NAMES, _batch, _task, content_sum, cut

        for batch in batches:
            for part in cut(batch):
                counted = _batch(_task(job).count(part))
                none = pa.nulls(len(counted), pa.int64())
                yield from cut(pa.RecordBatch.from_arrays([counted.column(0), counted.column(1), none, none], names=COUNTED_NAMES))
                total = content_sum(_task(job), part, given)
                sums = [None, len(part), total >> 32, total & 0xFFFFFFFF]
                yield pa.RecordBatch.from_arrays([pa.array([one], pa.int64()) for one in sums], names=COUNTED_NAMES)

    return count


COUNTED_NAMES = ["shingle", "documents", "high", "low"]


def content_sum(task: Any, batch: Any, given: bool) -> int:
    """Returns the sum of the fingerprints of rows."""
    import pyarrow.compute as pc

    # The sum fits 64 bits: sums of Arrow wrap around, and a batch of rows makes only one batch of rank keys.
    return sum(pc.sum(_batch(made).column(1)).as_py() or 0 for made in task.ranks(batch, given))


@checked
def sizer(job: Job, given: bool) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that returns the number of documents of a batch that `max_df` counts, the number of rows, and the
    sum of their fingerprints.
    """

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        import pyarrow.compute as pc

        from minwise.spark._tasks import _batch, _task, cut

        for batch in batches:
            for part in cut(batch):
                made = [_batch(one) for one in _task(job).sketch(part, given, False)]
                number = sum(pc.sum(pc.less_equal(one.column(1), 1)).as_py() or 0 for one in made)
                content = sum(pc.sum(one.column(3)).as_py() or 0 for one in made)
                sums = [number, len(part), content]
                yield pa.RecordBatch.from_arrays([pa.array([one], pa.int64()) for one in sums], names=["documents", "rows", "content"])

    return count


@checked
def waiter(round: int, shelf: int | None) -> Callable[[Any], Any]:
    """Makes a task that computes why undecided documents wait on the shelves of one part."""

    def wait(table: Any) -> Any:
        import pyarrow as pa

        from minwise._minwise import spark_wait
        from minwise.spark._tasks import _batch

        return pa.Table.from_batches([_batch(spark_wait(table, round, shelf))])

    return wait


@checked
def asker(clustering: str, round: int, largest: int, limits: dict[str, int | None]) -> Callable[[Any], Any]:
    """Makes a task that chooses the pairs and blocks that are compared in a round, for the shelves of one part.

    The task also returns the documents that asked on shelves that can be full.
    """

    def ask(table: Any) -> Any:
        import pyarrow as pa

        from minwise._minwise import spark_ask
        from minwise.spark._tasks import ASK_NUMBERS, _batch

        made = [_batch(one) for one in spark_ask(clustering, table, round, largest, **limits)]
        listed, blocks, asked = (pa.table(one) for one in made)
        sizes = [len(listed), len(blocks), len(asked)]
        columns = {"part": pa.array([table["part"][0].as_py()] * sum(sizes), pa.int64())}
        ranks = [*listed["a"].chunks, *blocks["rank"].chunks, *asked["rank"].chunks]
        columns["rank"] = pa.chunked_array(ranks, pa.binary())
        columns["c"] = pa.chunked_array([*listed["c"].chunks, pa.nulls(sizes[1] + sizes[2], pa.binary())], pa.binary())
        for name in ASK_NUMBERS:
            chunks = [pa.nulls(sizes[0], pa.int64())]
            for one in (blocks, asked):
                chunks += one[name].chunks if name in one.column_names else [pa.nulls(len(one), pa.int64())]
            columns[name] = pa.chunked_array(chunks, pa.int64())
        return pa.table(columns)

    return ask


@checked
def settler() -> Callable[[Any], Any]:
    """Makes a task that decides the undecided documents of one part of the components."""

    def settle(table: Any) -> Any:
        import pyarrow as pa

        from minwise._minwise import spark_settle
        from minwise.spark._tasks import _batch

        return pa.Table.from_batches([_batch(spark_settle(table))])

    return settle


@checked
def namer() -> Callable[[Any], Any]:
    """Makes a task that finds the keepers of the removed visits of one part."""

    def name(table: Any) -> Any:
        import pyarrow as pa

        from minwise._minwise import spark_name
        from minwise.spark._tasks import _batch

        return pa.Table.from_batches([_batch(spark_name(table))])

    return name


@checked
def screener(job: Job) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that returns the pairs that may be similar by their sketches."""

    def screen(batches: Iterator[Any]) -> Iterator[Any]:
        from minwise.spark._tasks import _batch, _task, cut

        for batch in batches:
            for part in cut(batch):
                yield _batch(_task(job).screen(part))

    return screen


@checked
def block_screener(job: Job) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that returns the pairs of blocks that may be similar, and rows with the number of screened pairs
    (`asked`).
    """
    import pyarrow as pa

    def screen(batches: Any) -> Any:
        import pyarrow as pa

        from minwise._minwise import SparkBlocks
        from minwise.spark._tasks import PORTION, _batch, _task, cut

        blocks = SparkBlocks(_task(job), pa.Table.from_batches(list(batches)))
        while (screened := blocks.screen(PORTION)) is not None:
            pairs, asked = _batch(screened[0]), screened[1]
            none = pa.nulls(1, pa.binary())
            first = pa.concat_arrays([pairs.column(0), none])
            second = pa.concat_arrays([pairs.column(1), none])
            bytes = pa.concat_arrays([pairs.column(2), pa.nulls(1, pa.int64())])
            counts = pa.concat_arrays([pa.nulls(len(pairs), pa.int64()), pa.array([asked], pa.int64())])
            yield from cut(pa.RecordBatch.from_arrays([first, second, bytes, counts], names=["a", "c", "bytes", "asked"]))

    # The annotations make Spark pass an iterator of batches to the function, instead of one table.
    screen.__annotations__ = {"batches": Iterator[pa.RecordBatch], "return": Iterator[pa.RecordBatch]}
    return screen


@checked
def drawer(job: Job) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that returns the hashes by which an audit draws kept documents, as in the command."""

    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        from minwise.spark._tasks import _batch, _task

        for batch in batches:
            yield _batch(_task(job).audit_order(batch))

    return draw


@checked
def sampler(job: Job, sample: bytes, most: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Makes a task that returns the pairs of a row and a document of the sample that may be similar, if the row belongs
    to an earlier cluster.

    Per batch and document of the sample, at most `most` pairs are returned, and a row with the number of all pairs.
    """

    def screen(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        from minwise.spark._tasks import SAMPLED_ROWS, _batch, _task, cut

        drawn = pa.ipc.open_stream(sample).read_all()
        for batch in batches:
            for begin in range(0, len(batch), SAMPLED_ROWS):
                yield from cut(_batch(_task(job).screen_sample(batch.slice(begin, SAMPLED_ROWS), drawn, most)))

    return screen


@checked
def verifier(job: Job, all: bool, screens: bool) -> Callable[[Any], Any]:
    """Makes a task that returns the exact similarities of the pairs of one bucket, and a row with the number of
    compared pairs.

    The input has the pairs of the bucket, and each of their texts once.
    """

    def verify(table: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        from minwise.spark._tasks import _batch, _task

        is_text = pc.is_null(table["c"])
        texts = table.filter(is_text).select(["a", "text", "sketch"]).rename_columns(["rank", "text", "sketch"])
        pairs = table.filter(pc.invert(is_text)).select(["a", "c"])
        made, compared = _task(job).similarities(texts, pairs, all, screens)
        found = _batch(made)
        columns = [pa.concat_arrays([found.column(at), pa.nulls(1, found.column(at).type)]) for at in range(3)]
        counts = pa.concat_arrays([pa.nulls(len(found), pa.int64()), pa.array([compared], pa.int64())])
        return pa.table({"a": columns[0], "c": columns[1], "similarity": columns[2], "compared": counts})

    return verify
