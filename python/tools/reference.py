"""Writes `docs/reference/python.md` from the documentation of the package, or checks it with `--check`."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import minwise
import minwise.datasketch

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/python.md"
# Classes whose constructors are documented, because programs call them. Objects of other classes are returned by
# functions.
MADE = ("Index", "Lsh", "Spec", "MinHash", "LeanMinHash", "MinHashLSH")
HEAD = """# The Python package

Written by `python/tools/reference.py` from the documentation of the package; a test checks that it is current. [The guide](../guides/python.md) begins with examples.
"""


def described(text: str) -> str:
    """Converts a docstring to Markdown: parameters to a list, examples to code blocks, references to names."""
    lines: list[str] = []
    is_example = False
    for line in text.splitlines():
        if line.startswith((">>> ", "... ")) or (is_example and line.strip()):
            if not is_example:
                lines += ["```pycon"]
            is_example = True
            lines.append(line)
            continue
        if is_example:
            lines.append("```")
            is_example = False
        line = re.sub(r":(?:class|func|meth|attr):`~?([\w.]+)`", r"`\1`", line).replace("``", "`")
        line = re.sub(r"^:(?:param|ivar) (\w+):", r"- `\1`:", line)
        lines.append(line)
    if is_example:
        lines.append("```")
    return "\n".join(lines).strip()


def parameters(value: Any) -> list[str] | None:
    """Returns the parameters of a function as a caller writes them, or None if the function has no signature."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    shown: list[str] = []
    positional = 0
    for parameter in found:
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional = len(shown) + 1
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        text = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + parameter.name
        note = parameter.annotation
        if note is not parameter.empty:
            text += f": {note if isinstance(note, str) else inspect.formatannotation(note)}"
        if parameter.default is not parameter.empty:
            text += f"{'=' if note is parameter.empty else ' = '}{parameter.default!r}"
        shown.append(text)
    if positional:
        shown.insert(positional, "/")
    return shown


def returned(value: Any) -> str:
    note = inspect.signature(value).return_annotation
    if note is inspect.Signature.empty:
        return ""
    return f" -> {note if isinstance(note, str) else inspect.formatannotation(note)}"


def signature(value: Any) -> str:
    shown = parameters(value)
    return "" if shown is None else f"({', '.join(shown)}){returned(value)}"


def members(value: type) -> list[str]:
    out: list[str] = []
    for name, member in sorted(vars(value).items()):
        if name.startswith("_"):
            continue
        found = getattr(value, name)
        documentation = inspect.getdoc(member if isinstance(member, property) else found)
        is_field = isinstance(member, property) or inspect.isgetsetdescriptor(member)
        if is_field or type(member).__name__ == "_Side":
            if documentation:
                out += [f"**`{name}`** {described(documentation)}", ""]
        elif callable(found) and documentation:
            out += [f"**`{name}{signature(found)}`** {described(documentation)}", ""]
    return out


def section(name: str, value: Any) -> list[str]:
    documentation = described(inspect.getdoc(value) or "")
    if inspect.isclass(value):
        bases = [base.__name__ for base in value.__bases__ if base.__name__ not in ("object", "tuple", "Generic")]
        inherits = f" ({', '.join(bases)})" if issubclass(value, BaseException) else ""
        fields = getattr(value, "_fields", None)
        listed = [f"Fields: {', '.join(f'`{field}`' for field in fields)}.", ""] if isinstance(fields, tuple) else []
        rest = [] if fields else members(value)
        is_made = name in MADE
        made = ["```python", f"{name}{signature(value).removesuffix(' -> None')}", "```", ""] if is_made else []
        return [f"## `{name}`{inherits}", "", *made, documentation, "", *listed, *rest]
    if callable(value):
        lines = "".join(f"    {parameter},\n" for parameter in parameters(value) or [])
        return [f"## `{name}`", "", "```python", f"{name}(\n{lines}){returned(value)}", "```", "", documentation, ""]
    return []


def page() -> str:
    lines = [HEAD]
    for name in sorted(minwise.__all__, key=str.lower):
        if not name.startswith("_"):
            lines += section(name, getattr(minwise, name))
    lines += ["# `minwise.datasketch`", "", described(inspect.getdoc(minwise.datasketch) or ""), ""]
    for name in minwise.datasketch.__all__:
        lines += section(name, getattr(minwise.datasketch, name))
    text = "\n".join(lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(PAGE.read_text(encoding="utf-8") != page() and f"{PAGE} is not current: run python/tools/reference.py")
    PAGE.write_text(page(), encoding="utf-8")
