"""The archive of documents on disk."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from . import _adapters, _minwise
from ._minwise import Spec
from ._results import counted
from ._runs import Followed, Progress, check_cancel

if TYPE_CHECKING:
    from types import TracebackType


class SharedPassage(NamedTuple):
    """A passage that the checked text shares with a document. ``query`` and ``document`` are slices of characters.

    >>> import minwise, tempfile
    >>> text = "Yes: herons nest in the old willow by the mill pond."
    >>> with tempfile.TemporaryDirectory() as folder, minwise.Index.create(folder + "/archive") as index:
    ...     _ = index.add({"note": "Herons nest in the old willow by the mill pond each spring."})
    ...     passage = index.check(text)[0].passages[0]
    >>> text[passage.query], passage.tokens
    ('herons nest in the old willow by the mill pond', 10)
    """

    #: Place of the passage in the checked text.
    query: slice
    #: Place of the passage in the document; None if the archive keeps no texts.
    document: slice | None
    #: The length of the passage in words, or in characters if shingles are made of characters.
    tokens: int
    #: Whether the order of the shared passages differs at this passage: it comes earlier or later in the document than
    #: in the text.
    moved: bool


class Match(NamedTuple):
    """A document of the archive that the checked text repeats.

    >>> import minwise, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, minwise.Index.create(folder + "/archive") as index:
    ...     _ = index.add([{"id": "note", "text": "Herons nest in the old willow by the mill pond.", "year": 2019}])
    ...     match = index.check("Yes: herons nest in the old willow by the mill pond.")[0]
    >>> match.id, match.metadata, match.containment_of_document
    ('note', {'year': 2019}, 1.0)
    """

    id: str
    title: str | None
    metadata: dict[str, Any]
    #: The exact Jaccard similarity.
    similarity: float
    #: The exact share of the checked text that is in the document.
    containment_of_query: float
    #: The exact share of the document that is in the checked text.
    containment_of_document: float
    #: Weighted similarity; None unless `check` is called with `weight`.
    weighted: float | None
    #: Number of tokens of the longest shared passage.
    longest_passage: int
    #: The reasons why the document is listed: ``similarity``, ``containment`` or ``passage``.
    reasons: tuple[str, ...]
    passages: tuple[SharedPassage, ...]


class Added(NamedTuple):
    """Numbers of new, replaced and unchanged documents of a call.

    >>> import minwise, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, minwise.Index.create(folder + "/archive") as index:
    ...     index.add({"a": "a rose", "b": "a daffodil"})
    ...     index.add({"a": "a rose", "b": "another daffodil"})
    Added(new=2, replaced=0, unchanged=0)
    Added(new=0, replaced=1, unchanged=1)
    """

    new: int
    replaced: int
    unchanged: int


class Index:
    """An archive of documents on disk. ``check`` finds the documents that a new text repeats.

    ``minwise index``, ``minwise check`` and ``minwise serve`` use the same folder. Only one process at a time can have an
    archive open. A change is on disk when its call returns, and is made whole or not at all.

    >>> import minwise, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, minwise.Index.create(folder + "/archive") as index:
    ...     added = index.add({"note": "Herons nest in the old willow by the mill pond each spring."})
    ...     matches = index.check("Each year herons nest in the old willow by the mill pond.")
    >>> matches[0].id, round(matches[0].similarity, 2)
    ('note', 0.6)
    """

    __slots__ = ("_archive", "_path")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens an archive."""
        self._path = os.fspath(path)
        self._archive = _minwise.Archive.open(self._path)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        spec: Spec | str | None = None,
        threshold: float = 0.5,
        recall: float = 0.996,
        passage: int = 25,
        bits: float | None = 8,
        texts: bool = True,
    ) -> Index:
        """Makes an archive in a folder that does not exist or is empty, as ``minwise index create`` does.

        :param threshold: the similarity at which documents are found with the probability ``recall``.
        :param passage: the minimum number of tokens of a shared passage that makes a document a candidate.
        :param bits: the bits to keep of each register; None keeps all.
        :param texts: whether texts are kept. Without texts, ``document`` of every passage is None.
        """
        index = cls.__new__(cls)
        index._path = os.fspath(path)
        if bits is not None and not isinstance(bits, (int, float)):
            raise TypeError(f"bits is {type(bits).__name__}: it must be a number or None")
        shown = None if bits is None else f"{bits:g}"
        index._archive = _minwise.Archive.create(index._path, spec, threshold, recall, passage, shown, texts)
        return index

    @property
    def path(self) -> str:
        """The folder of the archive."""
        return self._path

    @property
    def spec(self) -> Spec:
        """The spec by which documents become shingles and sketches."""
        return self._archive.spec()

    @property
    def closed(self) -> bool:
        """Whether the archive was closed."""
        return self._archive.is_closed

    def add(
        self,
        documents: Mapping[str, str] | Iterable[tuple[str, str]] | Iterable[Mapping[str, Any]],
        *,
        threads: int | None = None,
    ) -> Added:
        """Adds documents, all of them or none. If the archive has an id already, the new document replaces the old one.

        ``documents`` is a mapping from ids to texts, pairs of id and text, or records with ``id``, ``text`` and an optional
        ``title``; all other fields of a record are metadata.
        """
        ids: list[str] = []
        texts: list[Any] = []
        titles: list[str | None] = []
        metadata: list[str | None] = []
        rows: Iterable[Any] = documents.items() if isinstance(documents, Mapping) else documents
        for at, row in enumerate(rows):
            title: Any = None
            more: Any = None
            if isinstance(row, Mapping):
                missing = [name for name in ("id", "text") if name not in row]
                if missing:
                    raise ValueError(f"documents[{at}] has no field {missing[0]!r}")
                id, text, title = row["id"], row["text"], row.get("title")
                more = {name: value for name, value in row.items() if name not in ("id", "text", "title")}
            elif isinstance(row, Sequence) and not isinstance(row, str) and len(row) == 2:
                id, text = row
            else:
                raise TypeError(f"documents[{at}] is {type(row).__name__}: it must be a pair of id and text, or a dict")
            if not isinstance(text, str):
                raise TypeError(f"the text of documents[{at}] is {type(text).__name__}: it must be str")
            if title is not None and not isinstance(title, str):
                raise TypeError(f"the title of documents[{at}] is {type(title).__name__}: it must be str")
            ids.append(str(id))
            texts.append(text)
            titles.append(title)
            metadata.append(json.dumps(more, default=_adapters.as_text) if more else None)
        return Added(*self._archive.add(ids, texts, titles, metadata, threads, int(time.time())))

    def remove(self, ids: str | Iterable[str]) -> None:
        """Removes documents by their ids, all of them or none. An id that no document has raises ``KeyError``."""
        self._archive.remove([ids] if isinstance(ids, str) else list(ids))

    def check(
        self,
        text: str,
        *,
        threshold: float = 0.5,
        containment: float = 0.3,
        passage: int | Literal["off"] | None = None,
        top: int = 10,
        candidates: int = 1000,
        passages: int = 50,
        max_df: float | None = None,
        ignore_text: Sequence[str] = (),
        ignore_quotations: bool = False,
        ignore_references: bool = False,
        exclude: Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
        date_field: str | None = None,
        weight: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        itself: str | None = None,
    ) -> list[Match]:
        """Finds the documents that a text repeats: the most similar documents first, with the passages that both share.

        Each option has the meaning of the option of ``minwise check`` with the same name, with ``_`` for ``-``;
        ``ignore_text`` is a list of texts.

        :param metadata: the metadata of the text, for ``exclude``.
        :param itself: the id of the text in the archive; this document is not reported.
        """
        options = {
            "threshold": threshold,
            "containment": containment,
            "passage": passage,
            "top": top,
            "candidates": candidates,
            "passages": passages,
            "max_df": max_df,
            "ignore_text": list(ignore_text),
            "ignore_quotations": ignore_quotations,
            "ignore_references": ignore_references,
            "exclude": list(exclude),
            "since": since,
            "until": until,
            "date_field": date_field,
            "weight": weight,
        }
        more = None if metadata is None else json.dumps(dict(metadata), default=_adapters.as_text)
        answer = json.loads(self._archive.check(text, json.dumps(options), more, itself))
        places = _Characters(text)
        return [self._match(found, places) for found in answer["matches"]]

    def _match(self, found: dict[str, Any], places: _Characters) -> Match:
        passages: list[SharedPassage] = []
        other: _Characters | None = None
        for passage in found["passages"]:
            document = None
            if passage["document"] is not None:
                if other is None:
                    other = _Characters(self._archive.text(found["id"]) or "")
                document = other.slice(passage["document"])
            passages.append(
                SharedPassage(places.slice(passage["query"]), document, passage["tokens"], passage["moved"])
            )
        return Match(
            found["id"],
            found["title"],
            found["metadata"],
            found["similarity"],
            found["containment_of_query"],
            found["containment_of_document"],
            found["weighted"],
            found["longest_passage"],
            tuple(name for name, holds in found["reasons"].items() if holds),
            tuple(passages),
        )

    def text(self, id: str) -> str | None:
        """Returns the text of a document; None if the archive keeps no texts. An id that no document has raises ``KeyError``."""
        return self._archive.text(id)

    def ids(self) -> list[str]:
        """Returns the ids of all documents, in the order in which they were added."""
        return self._archive.ids()

    def statistics(self) -> dict[str, int]:
        """Returns counts and sizes of the archive: documents, bytes of texts, bytes on disk and so on."""
        found: dict[str, int] = json.loads(self._archive.statistics())
        return found

    def compact(self, *, progress: Progress = None, cancel: Callable[[], bool] | None = None) -> None:
        """Merges the changes, and drops removed documents from the files."""
        check_cancel(cancel)
        with Followed(progress) as function:
            self._archive.compact(function, cancel)

    def close(self) -> None:
        """Closes the archive, so that another process can open it."""
        self._archive.close()

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._archive.has(id)

    def __len__(self) -> int:
        return len(self._archive)

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Index({self._path!r}, {'closed' if self.closed else counted(len(self), 'document')})"


class _Characters:
    """Converts byte offsets in a text to character offsets.

    The archive uses byte offsets in UTF-8; Python slices by characters.
    """

    __slots__ = ("_bytes", "_places")

    def __init__(self, text: str) -> None:
        self._bytes: bytes | None = None
        #: Position in the original text of each character of the repaired text, then the length of the original text.
        #: For a text without surrogates, `_places` is None.
        self._places: list[int] | None = None
        if text.isascii():
            return
        try:
            self._bytes = text.encode("utf-8")
        except UnicodeEncodeError:
            repaired, self._places = _repaired(text)
            self._bytes = repaired.encode("utf-8")

    def _at(self, byte: int) -> int:
        if self._bytes is None:
            return byte
        at = len(self._bytes[:byte].decode("utf-8", "replace"))
        return at if self._places is None else self._places[at]

    def slice(self, span: Sequence[int]) -> slice:
        start, end = span
        return slice(self._at(start), self._at(end))


def _repaired(text: str) -> tuple[str, list[int]]:
    """Returns a text with its surrogates repaired as in the archive, and the position of each of its characters in the
    original text.

    A pair of surrogates becomes one character, and a lone surrogate becomes U+FFFD.
    """
    out: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(text):
        places.append(at)
        pair = text[at : at + 2]
        if len(pair) == 2 and "\ud800" <= pair[0] < "\udc00" <= pair[1] <= "\udfff":
            out.append(pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le"))
            at += 2
        else:
            out.append("\ufffd" if "\ud800" <= text[at] <= "\udfff" else text[at])
            at += 1
    return "".join(out), [*places, len(text)]
