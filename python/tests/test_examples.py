"""Tests that the examples of the documentation run, and that every public name has an example."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import minwise
from minwise import datasketch

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


def test_every_public_name_has_an_example() -> None:
    for module in (minwise, datasketch):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) or callable(value):
                assert ">>> " in (inspect.getdoc(value) or ""), name


def test_every_public_name_is_documented() -> None:
    for name in minwise.__all__:
        value = getattr(minwise, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), name
            if inspect.isclass(value):
                for method, member in vars(value).items():
                    if not method.startswith("_") and callable(member) and not isinstance(member, type):
                        assert inspect.getdoc(member), f"{name}.{method}"


def test_every_field_of_a_summary_is_documented(root: Path) -> None:
    documented = re.findall(r"^ *:ivar (\w+): \S", minwise.Summary.__doc__ or "", flags=re.MULTILINE)
    assert len(set(documented)) == len(documented)
    fields = minwise.dedup(["a rose", "A rose!"]).summary.as_dict()
    assert set(documented) == fields.keys() == minwise.Summary.__annotations__.keys()
    reference = (root / "docs/reference/python.md").read_text(encoding="utf-8")
    assert all(f"\n- `{name}`: " in reference for name in fields)


def test_every_rule_of_keep_is_documented(root: Path) -> None:
    """The help of the command, the docstring of `dedup` and the guide name all rankings that a keeper policy may
    have.
    """
    rows = [{"text": "a rose", "f": "1"}, {"text": "A rose!", "f": "2"}]
    guide = (root / "docs/guides/python.md").read_text(encoding="utf-8")
    rules = ["first", "last", "longest", "shortest", "newest:f", "oldest:f", "max:f", "min:f", "priority:f=2,1"]
    with pytest.raises(minwise.SettingError) as caught:
        minwise.dedup(rows, text="text", keep="best")
    for rule in rules:
        kept = minwise.dedup(rows, text="text", keep=rule).kept
        assert len(kept) == 1
        name = rule.partition(":")[0]
        assert name in str(caught.value), "the engine has other rules"
        assert f"``{name}" in (minwise.dedup.__doc__ or "") and f'`"{name}' in guide, name


@pytest.mark.parametrize("page", ["README.md", "docs/guides/python.md", "python/README.md", "docs/guides/coming-from.md"])
def test_programs_of_a_page(page: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All Python blocks of a page run, one after the other, in a folder with the example files."""
    path = root / page
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(root / "examples")
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = path.read_text(encoding="utf-8").split("```python\n")[1:]
    assert blocks
    for number, block in enumerate(blocks):
        code = block.split("```", 1)[0]
        exec(compile(code, f"{page}, block {number + 1}", "exec"), names)


def test_the_tutorial_runs(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell of the notebook runs, and the notebook can show its last value."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(root / "examples")
    notebook = json.loads((root / "docs/guides/tutorial.ipynb").read_text(encoding="utf-8"))
    names: dict[str, Any] = {}
    shown = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [] and cell["execution_count"] is None
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), cell["id"], "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
            if hasattr(value, "_repr_html_"):
                assert value._repr_html_().startswith("<") or "<table" in value._repr_html_()
                shown += 1
    assert shown >= 4
    assert (tmp_path / "report/index.html").exists()


def test_the_reference_is_current(root: Path) -> None:
    script = root / "python/tools/reference.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, cwd=root / "docs")
    assert done.returncode == 0, done.stderr
