"""The functions of the package."""

from __future__ import annotations

import operator
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

from . import _adapters, _minwise
from ._adapters import Spool, Wanted
from ._errors import SettingError
from ._minwise import Comparison, Spec
from ._results import Dedup, Pairs, Plan, Reject, Summary, make_dedup, make_summary

T = TypeVar("T")
Path = str | os.PathLike[str]
Progress = bool | Callable[[str, int, int], object] | None

#: Arguments that are parts of a spec.
SPEC_PARTS = (
    "normalize",
    "shingle",
    "strip_markup",
    "whitespace",
    "short",
    "sketch",
    "registers",
    "seed",
    "weight",
    "max_df",
)
#: Arguments that :func:`options` leaves out, because they are passed to the extension module as objects or used only in
#: Python.
OWN = frozenset({"spec", "against", "ignore_text", "ignore_shingles", "weights", "progress", "cancel", "errors", "temp_dir"})


def option_text(name: str, value: Any) -> str:
    """Returns the value of an argument as the text of the command's option."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, float):
        # The value is converted first, because the `repr` of a NumPy float has the name of its type.
        text = repr(float(value))
        # Only a number with a point is read as a share, so `max_df` is written as 0.00005 and not as 5e-05.
        return format(Decimal(text), "f") if name == "max_df" and "e" in text else text
    if name == "keep" and isinstance(value, Sequence):
        return ";".join(map(str, value))
    if name == "looks" and isinstance(value, Sequence):
        return ",".join(map(str, value))
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if hasattr(value, "item"):
        return option_text(name, value.item())
    raise TypeError(f"{name} is {type(value).__name__}: it must be a str or a number")


def options(given: dict[str, Any]) -> list[tuple[str, str]]:
    """Returns the arguments that the caller gave, with the names of the command's options and the values as text."""
    if given.get("spec") is not None:
        twice = [name for name in SPEC_PARTS if given.get(name) is not None]
        if twice:
            listed = ", ".join(f"`{name}`" for name in twice)
            raise SettingError(f"{listed}: `spec` says it already", hint="leave one of them out", settings=twice)
    out = []
    for name, value in given.items():
        if value is None or name in OWN:
            continue
        out.append((name.replace("_", "-"), option_text(name, value)))
    return out


class Drawn:
    """Draws progress on standard error: with tqdm if it is installed, else as one line."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._stage: str | None = None
        self._began = time.monotonic()
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]

            self._tqdm: Any = tqdm
        except ImportError:
            self._tqdm = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._tqdm is None:
            share = f"{min(done / total, 1.0):4.0%}" if total else ""
            elapsed = time.monotonic() - self._began
            self._stage = stage
            sys.stderr.write(f"\rminwise: {stage:<12}{share} {elapsed:6.1f} s")
            sys.stderr.flush()
            return
        if stage != self._stage:
            self.close()
            self._stage = stage
            self._bar = self._tqdm(total=total or None, desc=stage, leave=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        elif self._tqdm is None and self._stage is not None:
            sys.stderr.write("\n")


class Followed:
    """A context manager that provides the function for the progress of a run.

    On exit, it closes a drawn progress bar.
    """

    def __init__(self, progress: Progress) -> None:
        self._drawn = Drawn() if progress is True else None
        self.function = self._drawn if self._drawn is not None else (progress or None)
        if self.function is not None and not callable(self.function):
            raise TypeError(f"progress is {type(progress).__name__}: it must be a bool or a function")

    def __enter__(self) -> Callable[[str, int, int], object] | None:
        return self.function  # type: ignore[return-value]

    def __exit__(self, *ignored: object) -> None:
        if self._drawn is not None:
            self._drawn.close()


def check_cancel(cancel: Any) -> None:
    if cancel is not None and not callable(cancel):
        raise TypeError(f"cancel is {type(cancel).__name__}: it must be a function without arguments")


def keep_text(keep: Any) -> str | None:
    if keep is None:
        return None
    return option_text("keep", keep)


class _Sources:
    """The adapted data of all arguments of a run."""

    def __init__(self, data: Any, text: str | None, id: Any, given: dict[str, Any]) -> None:
        keep = keep_text(given.get("keep"))
        fields = _minwise.keep_fields(keep) if keep else []
        temp_dir = given.get("temp_dir")
        errors = given.get("errors") or "replace"
        self.spools: list[Spool] = []
        # The column is called "id" in the run if its name is not plain, because the run would read the name as a path.
        id_column = id if isinstance(id, str) and _adapters.is_plain(id) else "id"
        try:
            wanted = Wanted(text, id, fields, temp_dir, "data", errors, id_column=id_column)
            self.adapted = _adapters.adapt(data, wanted)
            if self.adapted.spool is not None:
                self.spools.append(self.adapted.spool)
            self.text = self.adapted.field or text or "text"
            self.id = self.adapted.id_column or id_column
            self.against = self._references(given.get("against"), "against", fields, temp_dir, errors)
            self.ignored = self._references(given.get("ignore_text"), "ignore_text", [], temp_dir, errors)
        except BaseException:
            self.close()
            raise

    def _references(self, data: Any, name: str, fields: list[str], temp_dir: Any, errors: str) -> list[Any]:
        # References have their text in the column of the data's text, because a run has one text field for all sources.
        column = _adapters.roots(self.text)[0]
        wanted = Wanted(self.adapted.text, None, fields, temp_dir, name, errors, column, self.id)
        sources, spools = _adapters.references(data, wanted)
        self.spools.extend(spools)
        if self.text == _adapters.TEXT and name == "against" and any(kind == "file" for kind, *_ in sources):
            raise SettingError(
                f"`text`: the column {self.adapted.text!r} has a name that means a path in the files of `against`",
                hint="rename the column",
                settings=["text"],
            )
        return sources

    def job(self, given: dict[str, Any], progress: Any) -> dict[str, Any]:
        chosen = options(given)
        chosen.append(("text-field", self.text))
        chosen.append(("id-field", self.id))
        if given.get("temp_dir") is not None:
            chosen.append(("temp-dir", os.fspath(given["temp_dir"])))
        return {
            "inputs": [self.adapted.source],
            "against": self.against,
            "ignore_text": self.ignored,
            "ignore_shingles": given.get("ignore_shingles", b""),
            "options": chosen,
            "spec": given.get("spec"),
            "weights": given.get("weights"),
            "text_column": self.text,
            "id_column": self.id,
            "errors": given.get("errors") or "replace",
            "progress": progress,
            "cancel": given.get("cancel"),
        }

    def close(self) -> None:
        for spool in self.spools:
            spool.close()


def dedup(
    data: T,
    *,
    text: str | None = None,
    id: str | Iterable[Any] | None = None,
    against: Any = None,
    threshold: float = 0.8,
    spec: Spec | str | None = None,
    measure: str = "jaccard",
    keep: str | Sequence[str] | None = None,
    cluster: str = "star",
    max_cluster: int | None = None,
    recall: float | None = None,
    candidates: str | None = None,
    weight: str | None = None,
    weights: Path | None = None,
    max_df: float | str | None = None,
    ignore_text: Any = None,
    order: float | None = None,
    null: str = "keep",
    audit: int | str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: Path | None = None,
    max_rejects: int | None = None,
    max_record: int | str | None = None,
    errors: str = "replace",
    normalize: str | None = None,
    shingle: str | None = None,
    strip_markup: bool | None = None,
    whitespace: str | None = None,
    short: str | None = None,
    sketch: str | None = None,
    registers: int | None = None,
    seed: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    bits: float | str | None = None,
    filter_error: float | str | None = None,
    looks: Sequence[int] | str | None = None,
    error_per_look: float | None = None,
    progress: Progress = None,
    cancel: Callable[[], bool] | None = None,
) -> Dedup[T]:
    """Removes near-duplicates.

    Sketches find candidates, and every candidate is verified on the shingles of both texts, so similarities are exact. The
    result does not depend on the number of threads, and ``minwise dedup`` with the options of the same names gives the same
    result.

    :param data: a list of texts or of records (dict), a generator of either, or a column or table of NumPy, pandas, polars,
        pyarrow, DuckDB or datasets, or of any library that exports Arrow data.
    :param text: the column or field of the text. Default: the only column of strings, else ``text``.
    :param id: the column of ids, or a sequence of ids. Default: the column ``id`` if there is one, else the positions of the rows.
    :param against: a second corpus, whose documents always stay. A str or a ``Path`` is one file, and a list of ``Path`` is
        several files. All other values are data of the kinds that ``data`` accepts, so a list of str is a list of texts.
    :param threshold: two documents are near-duplicates if their exact similarity is at least this value.
    :param spec: normalisation, shingles, sketch and seed together. If it is given, leave out ``normalize``, ``shingle``,
        ``strip_markup``, ``whitespace``, ``short``, ``sketch``, ``registers`` and ``seed``.
    :param measure: ``jaccard`` (the default), or ``containment``: the share of the smaller document that the larger one has.
    :param keep: the document of a cluster that stays: ``first``, ``last``, ``longest``, ``shortest``, ``newest:FIELD``,
        ``oldest:FIELD``, ``max:FIELD``, ``min:FIELD`` or ``priority:FIELD=A,B,C``. FIELD is a column of the data. In a list of
        rules, each rule breaks the ties of the rules before it; the order of the data breaks the remaining ties. Documents
        without a value of FIELD come last. Default: ``first``; with ``containment``, ``longest``.
    :param cluster: ``star`` removes a document only if it is similar to a kept document; ``components`` also if a chain
        of near-duplicates connects it to the kept document.
    :param max_cluster: clusters with more documents than this stay as they are.
    :param recall: the probability with which a pair exactly at the threshold is found. Default: 0.99.
    :param candidates: ``banding`` (the default), ``sort-merge`` or ``all``; the last two miss nothing and take more time.
    :param weight: how shingles count: ``none`` (the default), ``count``, ``tf``, ``tf-idf`` or ``tf-idf,smooth``.
    :param weights: a table of document frequencies, made by ``minwise weights``. Default: the data is counted first.
    :param max_df: leaves out shingles that occur in more documents than this: a share such as ``0.1``, or a number such as
        ``500``.
    :param ignore_text: texts whose shingles are ignored, such as a form. It takes the same kinds of values as ``against``.
    :param order: the share of common shingles that must be at about the same places in both documents.
    :param null: the rule for null texts: ``keep``, ``reject`` or ``error``.
    :param audit: the number of kept documents that are audited to measure the recall, or ``auto`` or ``off``.
    :param threads: the number of threads. Default: one per core.
    :param memory: the most memory to take, such as ``"4GiB"`` or a number of bytes; at least 128 MiB. Data beyond this limit
        goes to temporary files.
    :param temp_dir: the folder of temporary files. Default: the folder of the system.
    :param max_rejects: more rejected records than this raise :class:`minwise.RejectedRecords`. Default: no limit.
    :param max_record: the largest text, such as ``"1GiB"``; a larger text is rejected.
    :param normalize: ``nfkc+casefold`` (the default), ``casefold`` or ``none``.
    :param shingle: ``words:5`` (the default), ``words:N``, ``chars:N`` or ``terms``. With ``,bag`` at the end, as in
        ``words:5,bag``, a shingle counts as often as it occurs; without ``,bag``, it counts only once.
    :param strip_markup: removes markup from the text first.
    :param whitespace: the rule for white space: ``fold`` (the default), ``keep`` or ``remove``.
    :param short: the rule for a text that is shorter than a shingle: ``one`` makes one shingle of the text (the default), and
        ``reject`` rejects the text.
    :param sketch: ``minhash`` (the default), ``min-max``, ``one-permutation``, ``super-minhash`` or ``fast-similarity``.
    :param registers: registers of a sketch. Default: 128.
    :param seed: the seed of the hash functions. Default: 1.
    :param bands: the number of bands, instead of the number that follows from ``recall``; set ``rows``, too.
    :param rows: the registers of each band.
    :param bits: the bits to keep of each register, to save memory: a number from 1 to 16, such as 2 or 1.5, or one of 0.5,
        0.25 and 0.125. Default: all bits.
    :param filter_error: the largest share of pairs, among those whose similarity is exactly the threshold, that sketches may
        rule out by mistake; ``off`` switches the filter off. Default: 10⁻⁶.
    :param looks: numbers of registers after which sketches may rule out a pair, such as ``[16, 32, 64, 128]``.
    :param error_per_look: the largest share of pairs, among those whose similarity is exactly the threshold, that sketches may
        rule out by mistake at each look; ``filter_error`` limits the share of all looks together instead.
    :param errors: ``replace`` replaces lone surrogates, ``strict`` refuses them.
    :param progress: True draws a bar; a function is called with stage, amount done and total.
    :param cancel: a function that is called every 50 ms; if it returns true, the run ends with :class:`minwise.Cancelled`.

    >>> import minwise
    >>> result = minwise.dedup(["a rose is a rose", "A rose is a rose.", "a daffodil"], threshold=0.9)
    >>> result.kept
    ['a rose is a rose', 'a daffodil']
    """
    given = dict(locals())
    for name in ("data", "text", "id"):
        del given[name]
    check_cancel(cancel)
    return dedup_given(data, text, id, given)


def dedup_given(data: T, text: str | None, id: Any, given: dict[str, Any]) -> Dedup[T]:
    """Runs :func:`dedup` with the arguments `given`, among which may be `ignore_shingles`: shingles to leave out, 8
    bytes each.
    """
    sources = _Sources(data, text, id, given)
    try:
        with Followed(given.get("progress")) as function:
            run = _minwise.run_dedup(sources.job(given, function))
        return make_dedup(run, sources.adapted.take, sources.adapted.ids, tuple(sources.spools))
    except BaseException:
        sources.close()
        raise


def pairs(
    data: Any,
    *,
    text: str | None = None,
    id: str | Iterable[Any] | None = None,
    of: Iterable[Any] | None = None,
    threshold: float = 0.8,
    spec: Spec | str | None = None,
    measure: str = "jaccard",
    recall: float | None = None,
    candidates: str | None = None,
    weight: str | None = None,
    weights: Path | None = None,
    max_df: float | str | None = None,
    ignore_text: Any = None,
    order: float | None = None,
    null: str = "keep",
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: Path | None = None,
    max_rejects: int | None = None,
    max_record: int | str | None = None,
    errors: str = "replace",
    normalize: str | None = None,
    shingle: str | None = None,
    strip_markup: bool | None = None,
    whitespace: str | None = None,
    short: str | None = None,
    sketch: str | None = None,
    registers: int | None = None,
    seed: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    bits: float | str | None = None,
    filter_error: float | str | None = None,
    looks: Sequence[int] | str | None = None,
    error_per_look: float | None = None,
    progress: Progress = None,
    cancel: Callable[[], bool] | None = None,
) -> Pairs:
    """Lists near-duplicate pairs with their exact similarities, ordered by the positions of the documents.

    :param of: only the pairs of documents with these ids; positions if the data has no ids.

    The other arguments are those of :func:`minwise.dedup`.

    >>> import minwise
    >>> for pair in minwise.pairs(["a rose is a rose", "A rose is a rose.", "a daffodil"]):
    ...     print(pair.first, pair.second, pair.similarity)
    0 1 1.0
    """
    given = dict(locals())
    for name in ("data", "text", "id", "of"):
        del given[name]
    check_cancel(cancel)
    sources = _Sources(data, text, id, given)
    try:
        ids = sources.adapted.ids
        names = None
        if of is not None:
            listed = [of] if isinstance(of, (str, int)) else list(of)
            names = [run_id(one, ids, at) for at, one in enumerate(listed)]
        with Followed(progress) as function:
            found = _minwise.run_pairs(sources.job(given, function), names)
        first, second, similarity = (column.to_list() for column in found.columns())
        rejects = tuple(Reject(*reject) for reject in found.rejects())
        shown = None if ids is None else _adapters.shown_ids(ids, found.ids if has_repeated(ids) else None)
        return Pairs(first, second, similarity, shown, rejects)
    finally:
        sources.close()


def has_repeated(ids: Sequence[Any]) -> bool:
    texts = [text for text in _adapters.id_texts(ids) if text is not None]
    return len(set(texts)) < len(texts)


def run_id(id: Any, ids: Sequence[Any] | None, at: int) -> str:
    """Returns the id that a document has in the run. A document without an id is named by its position."""
    if ids is not None and not (
        isinstance(id, int) and 0 <= id < len(ids) and _adapters.is_missing(ids[id])
    ):
        return str(id)
    try:
        return f"data:{operator.index(id) + 1}"
    except TypeError:
        raise TypeError(f"of[{at}] is {type(id).__name__}: it must be a position, because the data has no ids") from None


def dedup_files(
    inputs: Path | Iterable[Path],
    output: Path | None,
    *,
    text: str | None = None,
    id: str | None = None,
    against: Path | Iterable[Path] | None = None,
    removed: Path | None = None,
    annotate: bool = False,
    output_format: str | None = None,
    compression: str | None = None,
    report: Path | None = None,
    dry_run: bool = False,
    force: bool = False,
    work: Path | None = None,
    resume: bool = False,
    keep_work: bool = False,
    threshold: float = 0.8,
    spec: Spec | str | None = None,
    measure: str = "jaccard",
    keep: str | Sequence[str] | None = None,
    cluster: str = "star",
    max_cluster: int | None = None,
    recall: float | None = None,
    candidates: str | None = None,
    weight: str | None = None,
    weights: Path | None = None,
    max_df: float | str | None = None,
    ignore_text: Path | Iterable[Path] | None = None,
    order: float | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    max_record: int | str | None = None,
    null: str = "keep",
    strict: bool = False,
    input_format: str | None = None,
    audit: int | str = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    temp_dir: Path | None = None,
    max_rejects: int | None = None,
    normalize: str | None = None,
    shingle: str | None = None,
    strip_markup: bool | None = None,
    whitespace: str | None = None,
    short: str | None = None,
    sketch: str | None = None,
    registers: int | None = None,
    seed: int | None = None,
    bands: int | None = None,
    rows: int | None = None,
    bits: float | str | None = None,
    filter_error: float | str | None = None,
    looks: Sequence[int] | str | None = None,
    error_per_look: float | None = None,
    progress: Progress = None,
    cancel: Callable[[], bool] | None = None,
) -> Summary:
    """Writes files without their near-duplicates, as ``minwise dedup`` does, byte for byte.

    Every argument is the option of the command with the same name, with ``_`` for ``-``; ``text`` is ``--text-field`` and ``id``
    is ``--id-field``.

    :param inputs: files, folders or patterns.
    :param output: the file or folder of the kept records; None with ``dry_run=True``.

    >>> import minwise, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source, kept = pathlib.Path(folder, "in.jsonl"), pathlib.Path(folder, "out.jsonl")
    ...     _ = source.write_text('{"text": "a rose"}\\n{"text": "A rose!"}\\n')
    ...     summary = minwise.dedup_files(source, kept)
    ...     kept.read_text()
    '{"text": "a rose"}\\n'
    """
    given = dict(locals())
    for name in (
        "inputs output text id removed annotate report dry_run force work resume keep_work against ignore_text".split()
    ):
        del given[name]
    check_cancel(cancel)
    if output is None and not dry_run:
        raise SettingError("`output`: it is needed, unless `dry_run` is true", settings=["output"])
    if annotate and removed is not None:
        raise SettingError("`removed`: with `annotate`, all documents are in `output`", settings=["removed"])
    if (resume or keep_work) and work is None:
        raise SettingError("`resume` and `keep_work` need `work`", settings=["work"])
    chosen = options(given)
    chosen.append(("text-field", "text" if text is None else text))
    chosen.append(("id-field", "id" if id is None else id))
    if temp_dir is not None:
        chosen.append(("temp-dir", os.fspath(temp_dir)))
    sources = paths(inputs, "inputs")
    if not sources:
        raise SettingError("`inputs`: there are none", settings=["inputs"])
    job = {
        "inputs": sources,
        "against": paths(against, "against"),
        "ignore_text": paths(ignore_text, "ignore_text"),
        "ignore_shingles": b"",
        "options": chosen,
        "spec": spec,
        "weights": weights,
        "text_column": "text",
        "id_column": "id",
        "errors": "replace",
        "cancel": cancel,
    }
    files = {
        "output": None if output is None or dry_run else text_path(output),
        "removed": None if removed is None or dry_run else text_path(removed),
        "annotate": annotate,
        "report": report,
        "force": force,
        "work": work,
        "resume": resume,
        "keep_work": keep_work,
        "command": None,
    }
    with Followed(progress) as function:
        run = _minwise.run_dedup({**job, "progress": function}, files)
    return make_summary(run)


def text_path(path: Any) -> str:
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"a path is {type(text).__name__}: it must be str or os.PathLike")
    return text


def paths(given: Any, name: str) -> list[tuple[str, str]]:
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    out = []
    for at, path in enumerate(given):
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"{name}[{at}] is {type(path).__name__}: it must be a path")
        out.append(("file", text_path(path)))
    return out


def compare(a: str, b: str, *, spec: Spec | str | None = None, passages: int = 0) -> Comparison:
    """Compares two texts: exact similarity, the estimate of their sketches, and the longest passages that both share.

    >>> import minwise
    >>> comparison = minwise.compare("to be or not to be", "to be or not to be that is", passages=1)
    >>> comparison.similarity
    0.5
    >>> comparison.passages[0].text
    'to be or not to be'
    """
    if spec is None:
        spec = default_spec()
    elif isinstance(spec, str):
        spec = Spec(spec)
    return spec.compare(a, b, passages=passages)


_default: Spec | None = None


def default_spec() -> Spec:
    """Returns the default spec, which is cached, because making its tables takes longer than comparing short texts."""
    global _default
    if _default is None:
        _default = Spec()
    return _default


def plan(
    threshold: float,
    *,
    recall: float | None = None,
    registers: int = 128,
    bands: int | None = None,
    rows: int | None = None,
) -> Plan:
    """Chooses bands and rows for a threshold and a recall, as ``minwise plan`` does, and computes the expected results.

    Give either ``recall``, or ``bands`` and ``rows``. Without these arguments, the recall is 0.99.

    >>> import minwise
    >>> chosen = minwise.plan(0.8)
    >>> chosen.bands, chosen.rows
    (16, 6)
    """
    found = _minwise.plan(threshold, recall, registers, bands, rows)
    chosen_bands, chosen_rows, reached, half, steepest, false_candidates, sketch_bytes = found
    return Plan(
        threshold, registers, chosen_bands, chosen_rows, reached, half, steepest, false_candidates, sketch_bytes
    )
