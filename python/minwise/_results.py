"""The results of runs."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, overload

from . import _minwise
from ._adapters import shown_ids
from ._errors import MinwiseError, SettingError

if TYPE_CHECKING:
    from types import TracebackType

    import numpy
    from numpy.typing import NDArray

    from ._adapters import Spool, Stream
    from ._minwise import Comparison

T = TypeVar("T")
#: The type of the data of a result. The type variable is covariant, because a result returns data and never takes any.
D = TypeVar("D", covariant=True)
R = TypeVar("R")

#: Version of the pickle format that this module writes.
PICKLE_VERSION = 1


def counted(number: int, thing: str) -> str:
    """Returns a number with a noun in singular or plural: ``1 pair``, ``2 pairs``."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


class Estimates(NamedTuple):
    """Estimated similarities, as arrays: values, standard errors, and the ends of the 95 % confidence intervals.

    >>> import minwise
    >>> sketches = minwise.Spec().sketch(["to be or not to be", "To be, or not to be!"])
    >>> estimates = sketches[0].estimate(sketches[1])
    >>> float(estimates.value[0]), float(estimates.high[0])
    (1.0, 1.0)
    """

    value: NDArray[numpy.float64]
    standard_error: NDArray[numpy.float64]
    low: NDArray[numpy.float64]
    high: NDArray[numpy.float64]


class Decision(NamedTuple):
    """A removed document, the document that is kept instead of it, and their exact similarity.

    >>> import minwise
    >>> minwise.dedup(["a rose", "A rose!"], id=["x", "y"]).decisions[0]
    Decision(id='y', duplicate_of='x', similarity=1.0, position=1, duplicate_of_position=0)
    """

    #: Id of the removed document: its id in the data, or its position.
    id: Any
    #: Id of the document that is kept instead.
    duplicate_of: Any
    #: The exact similarity of both documents.
    similarity: float
    #: The position of the removed document.
    position: int
    #: Position of the kept document; None if it is a document of `against`.
    duplicate_of_position: int | None


class Pair(NamedTuple):
    """Two near-duplicates and their exact similarity.

    >>> import minwise
    >>> minwise.pairs(["a rose", "A rose!"], id=["x", "y"])[0]
    Pair(first='x', second='y', similarity=1.0, first_position=0, second_position=1)
    """

    first: Any
    second: Any
    similarity: float
    first_position: int
    second_position: int


class Cluster(NamedTuple):
    """A kept document and the removed documents that repeat it.

    >>> import minwise
    >>> minwise.dedup(["a rose", "A rose!", "a daffodil"]).clusters
    (Cluster(keeper=0, removed=(1,)),)
    """

    keeper: Any
    removed: tuple[Any, ...]


class Reject(NamedTuple):
    """A record that is no document, and is neither kept nor removed.

    >>> import minwise
    >>> reject = minwise.dedup(["a rose", None], null="reject").rejects[0]
    >>> reject.position, reject.reason
    (1, 'null')
    """

    #: Position of the record; None if it is a record of `against`.
    position: int | None
    id: str | None
    #: Stable code of the reason, such as `missing_field`.
    reason: str
    #: The reason in words.
    message: str


class Summary:
    """The settings and the counts of a run.

    Every field is an attribute; ``as_dict()`` has all of them, as ``summary.json`` of a report does.

    >>> import minwise
    >>> summary = minwise.dedup(["a rose", "A rose!", "a daffodil"]).summary
    >>> summary.kept, summary.removed, summary.bands
    (2, 1, 16)

    Documents, where ``read`` is the sum of ``kept``, ``removed`` and ``rejected``:

    :ivar read: records of the data.
    :ivar kept: documents that stay.
    :ivar removed: documents that were removed.
    :ivar removed_equal: removed documents whose shingles equal those of the kept document.
    :ivar annotated: whether all documents were written, with marks on the documents that count as removed.
    :ivar rejected: records that could not become documents.
    :ivar nulls: documents whose text is null; they stay, and are compared with nothing.
    :ivar without_shingles: documents without shingles, such as empty texts.
    :ivar repaired: documents in which lone surrogates were replaced.
    :ivar repeated_ids: documents that share their id with another document.
    :ivar reference: documents of ``against``.
    :ivar reference_rejected: records of ``against`` that could not become documents.
    :ivar skipped_files: files that are no documents.
    :ivar skipped_records: records of a web archive that are no documents; they stay.
    :ivar bytes: bytes of the data; of files, after decompression.

    Clusters:

    :ivar clusters: clusters of more than one document.
    :ivar large_clusters: clusters of more than ``max_cluster`` documents, which stay as they are.
    :ivar spared: documents that stay only because their cluster has more than ``max_cluster`` documents.
    :ivar unranked: rules of ``keep`` that found no value in some documents: each is a dict of ``keep`` and ``documents``.

    Pairs, and how many of them the run found:

    :ivar candidates: pairs that share a band.
    :ivar filtered: candidates that their sketches ruled out.
    :ivar compared: candidates that were compared exactly.
    :ivar verified: compared pairs that reach the threshold.
    :ivar reordered: pairs that reach the threshold, but not ``order``.
    :ivar reordered_estimated: pairs that were not compared exactly, because their sketches do not reach ``order``.
    :ivar filter_compared: registers that the filter compared.
    :ivar filter_registers: registers of all pairs that the filter examined, whether it ruled them out or not.
    :ivar full_shelves: the number of full shelves. A shelf is the documents that share a band key; it takes the first 131,072
        of them and leaves out the rest.
    :ivar left_out: documents that full shelves left out; a document counts once per shelf.
    :ivar expected_recall: the share of the near-duplicate pairs that the run has found, estimated from the bands.
    :ivar expected_recall_low: a lower bound of the true recall, which holds in at least 98 of 100 runs; None if unknown.
    :ivar audit: the recall that the audit measured, as a dict, or None without an audit. ``recall`` is the share of repeated
        documents that were removed, and ``low`` and ``high`` are its 95 % interval. ``kept`` counts the kept documents that
        have a text, ``documents`` those of them that were audited, and ``missed`` the audited documents that repeat another
        kept document. ``removed`` counts the duplicates that the run found.

    Settings, as the run used them:

    :ivar spec: the spec in its text form.
    :ivar fingerprint: the fingerprint of the spec, in hexadecimal.
    :ivar measure: ``jaccard`` or ``containment``.
    :ivar threshold: the least similarity of near-duplicates.
    :ivar order: the least share of common shingles that must be at about the same places in both documents, as given in the
        argument ``order``; None if it was not given.
    :ivar search: how candidates were found: ``banding``, ``sort-merge`` or ``all``.
    :ivar bands: the number of bands.
    :ivar rows: the number of rows per band.
    :ivar bits: the bits that were kept of each register; None if all bits were kept.
    :ivar filter_error: the largest share of pairs, among those whose similarity is exactly the threshold, that the filter may
        rule out by mistake; None without a filter.
    :ivar looks: the numbers of compared registers after which the filter decides whether to rule a pair out, as given in the
        argument ``looks``; None if it was not given.
    :ivar error_per_look: the largest share of pairs, among those whose similarity is exactly the threshold, that the filter may
        rule out by mistake at each look, as given in the argument ``error_per_look``; None if it was not given.
    :ivar keep: the rules by which one document of a cluster stays.
    :ivar cluster: ``star`` or ``components``.
    :ivar max_cluster: the largest number of documents of a cluster from which documents are removed, as given in the argument
        ``max_cluster``; None if it was not given.
    """

    __slots__ = ("_fields",)

    spec: str
    fingerprint: str
    measure: str
    threshold: float
    order: float | None
    search: str
    bands: int
    rows: int
    bits: str | None
    filter_error: float | None
    looks: list[int] | None
    error_per_look: float | None
    keep: str
    cluster: str
    max_cluster: int | None
    read: int
    reference: int
    reference_rejected: int
    kept: int
    removed: int
    removed_equal: int
    annotated: bool
    rejected: int
    skipped_files: int
    skipped_records: int
    nulls: int
    without_shingles: int
    repaired: int
    repeated_ids: int
    clusters: int
    large_clusters: int
    spared: int
    candidates: int
    filtered: int
    filter_compared: int
    filter_registers: int
    compared: int
    verified: int
    reordered: int
    reordered_estimated: int
    full_shelves: int
    left_out: int
    expected_recall: float | None
    expected_recall_low: float | None
    audit: dict[str, Any] | None
    unranked: list[dict[str, Any]]
    bytes: int

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._fields[name]
        except KeyError:
            raise AttributeError(f"a summary has no field {name!r}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._fields]

    def as_dict(self) -> dict[str, Any]:
        """Returns all fields by name."""
        return dict(self._fields)

    def __repr__(self) -> str:
        return f"Summary(read={self.read}, kept={self.kept}, removed={self.removed}, rejected={self.rejected})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and other._fields == self._fields

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._fields,)


class _Rows(Sequence[T]):
    """A sequence of tuples, whose values are stored by column."""

    __slots__ = ()

    def _row(self, at: int) -> T:
        raise NotImplementedError

    @overload
    def __getitem__(self, key: int) -> T: ...

    @overload
    def __getitem__(self, key: slice) -> list[T]: ...

    def __getitem__(self, key: int | slice) -> T | list[T]:
        if isinstance(key, slice):
            return [self._row(at) for at in range(*key.indices(len(self)))]
        key = operator.index(key)
        at = key + len(self) if key < 0 else key
        if not 0 <= at < len(self):
            raise IndexError(f"there is no row {key}: there are {len(self)}")
        return self._row(at)

    def __iter__(self) -> Iterator[T]:
        return map(self._row, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence) and not isinstance(other, str):
            return len(self) == len(other) and all(a == b for a, b in zip(self, other))
        return NotImplemented


class Decisions(_Rows[Decision]):
    """The decisions of a run: a sequence of :class:`Decision`, and an Arrow stream with the fields of a
    :class:`Decision` as columns.

    >>> import minwise
    >>> decisions = minwise.dedup(["a rose", "A rose!", "a ROSE?"]).decisions
    >>> [(decision.id, decision.duplicate_of) for decision in decisions]
    [(1, 0), (2, 0)]
    """

    __slots__ = ("_index", "_of", "_similarity", "_ids", "_references", "_length")

    def __init__(
        self,
        index: list[int],
        of: list[int],
        similarity: list[float],
        ids: Sequence[Any] | None,
        length: int,
        references: Mapping[int, str],
    ) -> None:
        self._index = index
        self._of = of
        self._similarity = similarity
        self._ids = ids
        self._length = length
        #: Ids of the documents of `against`, by position. Their positions begin after those of the data.
        self._references = references

    def __len__(self) -> int:
        return len(self._index)

    def _id(self, index: int) -> Any:
        if index >= self._length:
            return self._references[index]
        return index if self._ids is None else self._ids[index]

    def _row(self, at: int) -> Decision:
        index, of = self._index[at], self._of[at]
        kept = of if of < self._length else None
        return Decision(self._id(index), self._id(of), self._similarity[at], index, kept)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'decision')}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        rows = list(self)
        return _minwise.decision_stream(
            ["id", "duplicate_of", "similarity", "position", "duplicate_of_position"],
            [[row.id for row in rows], [row.duplicate_of for row in rows]],
            self._similarity,
            [[row.position for row in rows], [row.duplicate_of_position for row in rows]],
        )


class Pairs(_Rows[Pair]):
    """Near-duplicate pairs, ordered by the positions of the documents: a sequence of :class:`Pair`, and an Arrow stream
    with the fields of a :class:`Pair` as columns.

    >>> import minwise
    >>> [(pair.first, pair.second) for pair in minwise.pairs(["a rose", "A rose!", "a ROSE?"])]
    [(0, 1), (0, 2), (1, 2)]
    """

    __slots__ = ("_first", "_second", "_similarity", "_ids", "rejects")

    def __init__(
        self,
        first: list[int],
        second: list[int],
        similarity: list[float],
        ids: Sequence[Any] | None,
        rejects: tuple[Reject, ...],
    ) -> None:
        self._first = first
        self._second = second
        self._similarity = similarity
        self._ids = ids
        #: The records that are no documents.
        self.rejects: tuple[Reject, ...] = rejects

    def __len__(self) -> int:
        return len(self._first)

    def _row(self, at: int) -> Pair:
        first, second = self._first[at], self._second[at]
        ids = self._ids
        if ids is None:
            return Pair(first, second, self._similarity[at], first, second)
        return Pair(ids[first], ids[second], self._similarity[at], first, second)

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'pair')}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        rows = list(self)
        return _minwise.decision_stream(
            ["first", "second", "similarity", "first_position", "second_position"],
            [[row.first for row in rows], [row.second for row in rows]],
            self._similarity,
            [self._first, list(self._second)],
        )


class _Run:
    """Holder of the run of a result.

    Results of :meth:`Dedup.restore` share one holder, so that all are closed together.
    """

    __slots__ = ("run",)

    def __init__(self, run: _minwise.Deduplicated) -> None:
        self.run: _minwise.Deduplicated | None = run


class _Side:
    """A property for the kept or the removed rows. If the data is a generator, the rows are a stream; otherwise they
    have the type of the data."""

    def __init__(self, rows: Callable[[Dedup[Any]], Any], doc: str) -> None:
        self._rows = rows
        self.__doc__ = doc

    @overload
    def __get__(self, result: None, owner: Any) -> _Side: ...

    @overload
    def __get__(self, result: Dedup[Iterator[R]], owner: Any) -> Stream[R]: ...

    @overload
    def __get__(self, result: Dedup[T], owner: Any) -> T: ...

    def __get__(self, result: Any, owner: Any) -> Any:
        return self if result is None else self._rows(result)


class Dedup(Generic[D]):
    """The result of :func:`minwise.dedup`.

    ``kept`` and ``removed`` are rows of the data, in the type of the data. If the data is a generator, its rows are in a
    temporary file until ``close``; a result is a context manager, so ``with`` also closes the result.

    >>> import minwise
    >>> texts = ["To be or not to be", "To be, or not to be!", "That is the question"]
    >>> result = minwise.dedup(texts)
    >>> result.kept
    ['To be or not to be', 'That is the question']
    >>> result.decisions[0]
    Decision(id=1, duplicate_of=0, similarity=1.0, position=1, duplicate_of_position=0)
    """

    __slots__ = (
        "_take",
        "_run",
        "_mask",
        "_decisions",
        "_rejects",
        "_summary",
        "_spools",
        "_kept",
        "_removed",
        "_places",
    )

    def __init__(
        self,
        take: Callable[[list[bool]], D] | None,
        run: _Run | None,
        mask: list[bool],
        decisions: Decisions,
        rejects: tuple[Reject, ...],
        summary: Summary,
        spools: tuple[Spool, ...] = (),
    ) -> None:
        self._take = take
        self._run = run
        self._mask = mask
        self._decisions = decisions
        self._rejects = rejects
        self._summary = summary
        self._spools = spools
        self._kept: Any = None
        self._removed: Any = None
        self._places: dict[Any, int] | None = None

    def _rows(self, mask: list[bool]) -> D:
        if self._take is None:
            raise MinwiseError("a pickle of a result has no rows: use kept_mask or kept_indices", code="no_rows")
        return self._take(mask)

    def _kept_rows(self) -> Any:
        if self._kept is None:
            self._kept = self._rows(self._mask)
        return self._kept

    def _removed_rows(self) -> Any:
        if self._removed is None:
            mask = [False] * len(self._mask)
            for index in self._decisions._index:
                mask[index] = True
            self._removed = self._rows(mask)
        return self._removed

    kept: _Side = _Side(_kept_rows, "The rows that stay, in the type of the data.")
    removed: _Side = _Side(
        _removed_rows, "The rows that were removed, in the type of the data. Rejected records are not among them."
    )

    @property
    def kept_mask(self) -> NDArray[numpy.bool_]:
        """For each row of the data, whether it stays."""
        import numpy

        return numpy.array(self._mask, dtype=bool)

    @property
    def kept_indices(self) -> NDArray[numpy.int64]:
        """The positions of the rows that stay, ascending."""
        import numpy

        return numpy.flatnonzero(self.kept_mask).astype(numpy.int64)

    @property
    def decisions(self) -> Decisions:
        """The removed documents in the order of the data: id, id of the kept document, exact similarity."""
        return self._decisions

    def columns(self) -> dict[str, list[Any]]:
        """The decisions as columns with one value per row of the data, to be added to a table.

        ``kept`` is true if the row stays. If the row was removed, ``duplicate_of`` has the id of the document that is kept
        instead, and ``similarity`` has the exact similarity of the row and this document; otherwise, both columns are None.
        ``cluster`` has the position of the row that stays; a kept row has its own position. ``cluster`` is None if the kept
        document is of ``against``, or if the row was rejected.

        >>> import minwise
        >>> result = minwise.dedup(["To be or not to be", "To be, or not to be!", "That is the question"])
        >>> result.columns()["cluster"]
        [0, 0, 2]
        """
        rows = len(self._mask)
        of: list[Any] = [None] * rows
        similarity: list[float | None] = [None] * rows
        cluster: list[int | None] = [at if stays else None for at, stays in enumerate(self._mask)]
        for decision in self._decisions:
            at = decision.position
            of[at], similarity[at] = decision.duplicate_of, decision.similarity
            cluster[at] = decision.duplicate_of_position
        return {"kept": list(self._mask), "duplicate_of": of, "similarity": similarity, "cluster": cluster}

    @property
    def clusters(self) -> tuple[Cluster, ...]:
        """Each kept document that others repeat, with the ids of the removed documents."""
        members: dict[int, list[Any]] = {}
        for of, decision in zip(self._decisions._of, self._decisions):
            members.setdefault(of, []).append(decision.id)
        return tuple(Cluster(self._decisions._id(of), tuple(removed)) for of, removed in sorted(members.items()))

    @property
    def rejects(self) -> tuple[Reject, ...]:
        """The records that are no documents, with the reason for each."""
        return self._rejects

    @property
    def summary(self) -> Summary:
        """The settings and the counts of the run."""
        return self._summary

    def restore(self, below: float) -> Dedup[D]:
        """Puts back the removed documents whose similarity to the kept document is below a value. No text is read.

        A new run at a higher threshold may remove more rows, because ``restore`` does not compare the restored rows with one
        another. The summary keeps the counts of the run.
        """
        if not isinstance(below, (int, float)) and not hasattr(below, "__float__"):
            raise TypeError(f"below is {type(below).__name__}: it must be a number")
        if not 0 <= float(below) <= 1:
            raise SettingError(f"`below`: {below} is no similarity: it must be from 0 to 1", settings=["below"])
        old = self._decisions
        stay = [not similarity < below for similarity in old._similarity]
        mask = list(self._mask)
        for index, still in zip(old._index, stay):
            mask[index] = mask[index] or not still

        def chosen(column: list[Any]) -> list[Any]:
            return [value for value, still in zip(column, stay) if still]

        decisions = Decisions(
            chosen(old._index), chosen(old._of), chosen(old._similarity), old._ids, old._length, old._references
        )
        return Dedup(self._take, self._run, mask, decisions, self._rejects, self._summary, self._spools)

    def explain(self, id: Any, *, passages: int = 3) -> Comparison:
        """Compares a removed document with the document that is kept instead of it.

        ``id`` is the id of the removed document in :attr:`decisions`: its id in the data, or its position.
        """
        if self._places is None:
            self._places = {self._decisions._id(index): at for at, index in enumerate(self._decisions._index)}
        at = self._places.get(id)
        if at is None:
            raise KeyError(f"no document with the id {id!r} was removed")
        return self._open().compare(self._decisions._index[at], self._decisions._of[at], passages)

    def report(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the report of the run to a folder, as ``minwise dedup --report`` does."""
        self._open().write_report(os.fspath(folder), force)

    def _open(self) -> _minwise.Deduplicated:
        run = None if self._run is None else self._run.run
        if run is None:
            raise MinwiseError("the result was closed, or comes from a pickle: its texts are gone", code="closed")
        return run

    def close(self) -> None:
        """Frees the texts and sketches of the run, and removes its temporary files. Decisions and summary stay.

        Results that :meth:`restore` made from this result are closed, too.
        """
        if self._run is not None:
            self._run.run = None
        for spool in self._spools:
            spool.close()

    def __enter__(self) -> Dedup[D]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self._mask)

    def __repr__(self) -> str:
        kept = sum(self._mask)
        removed = len(self._decisions)
        rejected = len(self._mask) - kept - removed
        return f"Dedup({counted(len(self), 'document')}: {kept} kept, {removed} removed, {rejected} rejected)"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.dedup(self)

    def __getstate__(self) -> dict[str, Any]:
        decisions = self._decisions
        return {
            "version": PICKLE_VERSION,
            "mask": bytes(self._mask),
            "index": decisions._index,
            "of": decisions._of,
            "similarity": decisions._similarity,
            "ids": None if decisions._ids is None else list(decisions._ids),
            "references": dict(decisions._references),
            "rejects": [tuple(reject) for reject in self._rejects],
            "summary": self._summary.as_dict(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        version = state["version"]
        if version > PICKLE_VERSION:
            raise ValueError(
                f"this pickle of Dedup has version {version}, and this version of minwise reads up to "
                f"{PICKLE_VERSION}: install a newer minwise"
            )
        mask = [bool(stays) for stays in state["mask"]]
        decisions = Decisions(
            state["index"], state["of"], state["similarity"], state["ids"], len(mask), state["references"]
        )
        rejects = tuple(Reject(*reject) for reject in state["rejects"])
        # Pickles of earlier builds lack `annotated`, because their runs made no annotations.
        summary = Summary({"annotated": False, **state["summary"]})
        self.__init__(None, None, mask, decisions, rejects, summary)  # type: ignore[misc]


def make_dedup(
    run: _minwise.Deduplicated,
    take: Callable[[list[bool]], T],
    ids: Sequence[Any] | None,
    spools: tuple[Spool, ...],
) -> Dedup[T]:
    """Makes the result of a run. Its decisions have the ids of the data."""
    index, of, similarity = (column.to_list() for column in run.removed())
    mask: list[bool] = run.kept_mask().to_list()

    summary = make_summary(run)
    # Ids are read now, because the run is freed when the result is closed.
    behind = sorted({position for position in of if position >= len(run)})
    references = {position: id or "" for position, id in zip(behind, run.ids(behind))}
    shown = None if ids is None else shown_ids(list(ids), run.ids if summary.repeated_ids else None)
    decisions = Decisions(index, of, similarity, shown, len(run), references)
    rejects = tuple(Reject(*reject) for reject in run.rejects())
    return Dedup(take, _Run(run), mask, decisions, rejects, summary, spools)


def make_summary(run: _minwise.Deduplicated) -> Summary:
    return Summary(json.loads(run.summary()))


class Plan(NamedTuple):
    """Bands and rows for a threshold, with their expected results.

    >>> import minwise
    >>> plan = minwise.plan(0.8)
    >>> round(plan.probability(0.8), 3), round(plan.probability(0.4), 3)
    (0.992, 0.064)
    """

    threshold: float
    registers: int
    bands: int
    rows: int
    #: Probability that a pair whose similarity is the threshold is found.
    recall: float
    #: The similarity at which a pair is found with probability one half.
    half_point: float
    #: The similarity at which the S-curve is steepest.
    steepest_point: float | None
    #: Expected candidates per document that are no near-duplicates, if each document has ten neighbours whose
    #: similarities are evenly spread.
    expected_false_candidates: float
    #: Number of bytes of a sketch.
    sketch_bytes: int

    def probability(self, similarity: float) -> float:
        """Returns the probability that a pair of this similarity becomes a candidate."""
        return float(1.0 - (1.0 - similarity**self.rows) ** self.bands)

    def _repr_html_(self) -> str:
        from . import _html

        return _html.plan(self)
