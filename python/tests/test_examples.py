"""The examples of the documentation run, and every public name has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path
from typing import Any

import pytest

import minwise

MODULES = sorted({"minwise", *(f"minwise.{module.name}" for module in pkgutil.iter_modules(minwise.__path__))})


def run(finder: doctest.DocTestFinder, value: Any, name: str, names: dict[str, Any]) -> int:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in finder.find(value, name, module=False, globs=dict(names)):
        runner.run(test)
    assert runner.failures == 0, name
    return int(runner.tries)


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith("__main__")])
def test_examples_of_a_module(module: str) -> None:
    loaded = importlib.import_module(module)
    results = doctest.testmod(loaded, optionflags=doctest.ELLIPSIS)
    assert results.failed == 0


def test_examples_of_the_extension_module() -> None:
    tries = sum(run(doctest.DocTestFinder(), getattr(minwise, name), name, {}) for name in minwise.__all__)
    assert tries > 20


def test_every_public_name_is_documented() -> None:
    for name in minwise.__all__:
        value = getattr(minwise, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
            if inspect.isclass(value):
                for method, member in vars(value).items():
                    if not method.startswith("_") and callable(member) and not isinstance(member, type):
                        assert inspect.getdoc(member), f"{name}.{method}"


@pytest.mark.parametrize("page", ["README.md", "docs/guides/python.md", "python/README.md", "docs/guides/coming-from.md"])
def test_programs_of_a_page(page: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of Python in a page runs, one after the other, in a folder with the examples."""
    path = root / page
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(root / "examples")
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = path.read_text(encoding="utf-8").split("```python\n")[1:]
    assert blocks
    for number, block in enumerate(blocks):
        code = block.split("```", 1)[0]
        exec(compile(code, f"{page}, block {number + 1}", "exec"), names)
