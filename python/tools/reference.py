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
HEAD = """# The Python package

Written by `python/tools/reference.py` from the documentation of the package; a test says that it is current. [The guide](../guides/python.md) begins with examples.
"""


def described(text: str) -> str:
    """Documentation as Markdown: parameters as a list, examples as code, references as names."""
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
        line = re.sub(r"^:param (\w+):", r"- `\1`:", line)
        lines.append(line)
    if is_example:
        lines.append("```")
    return "\n".join(lines).strip()


def signature(value: Any) -> str:
    try:
        shown = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    # Annotations of modules that are imported for type checkers only are strings.
    return re.sub(r"'([^',]*)'", r"\1", shown) if "->" in shown else shown


def members(value: type) -> list[str]:
    out: list[str] = []
    for name, member in sorted(vars(value).items()):
        if name.startswith("_"):
            continue
        found = getattr(value, name)
        documentation = inspect.getdoc(member) or inspect.getdoc(found)
        if isinstance(member, property) or inspect.isgetsetdescriptor(member):
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
        return [f"## `{name}`{inherits}", "", documentation, "", *listed, *rest]
    if callable(value):
        return [f"## `{name}`", "", "```python", f"{name}{signature(value)}".replace(", ", ",\n    ").replace("(", "(\n    ", 1), "```", "", documentation, ""]
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
