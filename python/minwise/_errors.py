"""The exceptions of the package. The extension module raises them."""

from __future__ import annotations

import warnings


class MinwiseError(Exception):
    """The base of all exceptions of this package.

    ``code`` is a stable name of what went wrong, and ``hint`` is what to try instead, or None.
    """

    code: str
    hint: str | None

    def __init__(self, message: str = "", *, code: str = "error", hint: str | None = None) -> None:
        super().__init__(message if hint is None else f"{message}; hint: {hint}")
        self.code = code
        self.hint = hint


class SettingError(MinwiseError, ValueError):
    """An argument cannot be used. ``settings`` has the names of all arguments that are wrong."""

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
    """Two specs differ in ``field``, whose values are ``left`` and ``right``."""

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
    """A file cannot be read or written. ``errno`` is that of the operating system, if there is one."""

    def __init__(
        self, message: str = "", *, code: str = "io", hint: str | None = None, errno: int | None = None
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.errno = errno


class RejectedRecords(MinwiseError, ValueError):
    """More records were rejected than allowed, or all of them."""


class IndexDamaged(MinwiseError):
    """An archive on disk cannot be read."""


class Cancelled(MinwiseError):
    """The function ``cancel`` returned true."""


class MinwiseWarning(UserWarning):
    """A run went on, but a part of its input or of its result needs attention."""


def warn(message: str) -> None:
    """Warns at the place that called the package."""
    warnings.warn(message, MinwiseWarning, stacklevel=3)
