"""The exceptions of the package. The extension module raises them."""

from __future__ import annotations

import os
import sys
import warnings

#: The folder of the package, with which the file names of its functions begin.
PACKAGE = os.path.join(os.path.dirname(__file__), "")


class MinwiseError(Exception):
    """The base of all exceptions of this package.

    ``code`` is the stable name of the error. ``hint`` is a suggestion what to try instead, or None.

    >>> import minwise
    >>> try:
    ...     minwise.dedup(["a", "b"], threshold=2)
    ... except minwise.MinwiseError as error:
    ...     print(error.code)
    bad_setting
    """

    code: str
    hint: str | None

    def __init__(self, message: str = "", *, code: str = "error", hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}; hint: {hint}")
        self.code = code
        self.hint = hint


class SettingError(MinwiseError, ValueError):
    """An argument cannot be used. ``settings`` has the names of all arguments that are wrong.

    >>> import minwise
    >>> try:
    ...     minwise.dedup(["a", "b"], threshold=2, shingle="lines:3")
    ... except minwise.SettingError as error:
    ...     print(sorted(error.settings))
    ['shingle', 'threshold']
    """

    settings: tuple[str, ...]

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "bad_setting",
        hint: str | None = None,
        settings: list[str] | tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.settings = tuple(settings)


class SpecMismatch(MinwiseError, ValueError):
    """Two specs differ. The attribute ``field`` names the first setting that differs; ``left`` and ``right`` are its values.

    >>> import minwise
    >>> try:
    ...     minwise.Spec().check(minwise.Spec.of(shingle="chars:9"))
    ... except minwise.SpecMismatch as error:
    ...     print(error.field, error.left, error.right)
    shingle words:5 chars:9
    """

    field: str
    left: str
    right: str

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "spec_mismatch",
        hint: str | None = None,
        field: str = "",
        left: str = "",
        right: str = "",
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.field = field
        self.left = left
        self.right = right


class InputError(MinwiseError, OSError):
    """A file cannot be read or written. ``errno`` is the error number of the operating system, or None.

    >>> import minwise
    >>> try:
    ...     minwise.Sketches.load("nowhere.sketches")
    ... except minwise.InputError as error:
    ...     print(isinstance(error, OSError))
    True
    """

    def __init__(
        self, message: str = "", *, code: str = "io", hint: str | None = None, errno: int | None = None
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.errno = errno


class RejectedRecords(MinwiseError, ValueError):
    """More records were rejected than allowed, or all records were rejected.

    >>> import minwise
    >>> try:
    ...     minwise.dedup(["a", None], null="error")
    ... except minwise.RejectedRecords as error:
    ...     print(error.code)
    null
    """


class IndexDamaged(MinwiseError):
    """An archive on disk cannot be read.

    >>> import minwise, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     minwise.Index.create(folder + "/archive").close()
    ...     _ = pathlib.Path(folder, "archive", "header").write_bytes(b"\\xff\\xff")
    ...     try:
    ...         minwise.Index(folder + "/archive")
    ...     except minwise.IndexDamaged as error:
    ...         print(error.code)
    damaged
    """


class Cancelled(MinwiseError):
    """The function ``cancel`` returned true.

    >>> import minwise
    >>> try:
    ...     minwise.dedup([f"text {number}" for number in range(100_000)], cancel=lambda: True)
    ... except minwise.Cancelled as error:
    ...     print(error)
    the run was cancelled
    """


class MinwiseWarning(UserWarning):
    """A run continued, but a part of its input or of its result needs attention.

    >>> import minwise, warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     result = minwise.dedup(["lone surrogate \\ud800", "another text"])
    >>> caught[0].category.__name__, result.summary.repaired
    ('MinwiseWarning', 1)
    """


def warn(message: str) -> None:
    """Warns at the line that called the package, however many functions of the package lie between."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, MinwiseWarning, stacklevel=level)
