"""Tests of `python -m minwise`, and of the symbols of the extension module."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import minwise
from minwise import _minwise


def run(tmp_path: Path, *words: str, path: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": path}
    return subprocess.run(
        [sys.executable, "-m", "minwise", *words], capture_output=True, text=True, cwd=tmp_path, env=environment
    )


def test_the_module_runs_the_command_or_names_the_extra(command: Any, tmp_path: Path) -> None:
    program = Path(os.environ.get("MINWISE", ""))
    if not program.is_file():
        program = Path(__file__).resolve().parents[2] / "target/debug/minwise"
    if not (Path(sysconfig.get_path("scripts")) / "minwise").exists():
        missing = run(tmp_path, "--version", path=str(tmp_path))
        assert missing.returncode == 127
        assert missing.stderr == "the `minwise` command is not installed: pip install 'minwise[cli]'\n"
    there = run(tmp_path, "plan", "--format", "json", path=str(program.parent))
    assert there.returncode == 0 and there.stdout == command("plan", "--format", "json").stdout
    assert run(tmp_path, "nonsense", path=str(program.parent)).returncode == command("nonsense", check=False).returncode


def test_the_library_is_a_module_of_any_python() -> None:
    assert _minwise.__file__ is not None
    library = Path(_minwise.__file__)
    assert library.name in ("_minwise.abi3.so", "_minwise.pyd")
    content = library.read_bytes()
    assert b"PyInit__minwise" in content
    # The library must not link a version of Python, because other versions could not load it then.
    assert b"libpython3" not in content
    assert minwise.__version__ == _minwise.VERSION


def test_the_version_is_that_of_the_workspace(root: Path) -> None:
    manifest = (root / "Cargo.toml").read_text(encoding="utf-8")
    assert f'\nversion = "{minwise.__version__}"\n' in manifest


def test_every_name_in_the_module_is_there() -> None:
    for name in minwise.__all__:
        assert hasattr(minwise, name), name
    assert sorted(minwise.__all__) == list(minwise.__all__)
