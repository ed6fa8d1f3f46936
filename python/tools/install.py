"""Installs the package into the environment of this interpreter, as a wheel would.

    python install.py LIBRARY

LIBRARY is the path of the extension module that Cargo built.
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path


def install(library: str) -> None:
    package = Path(sysconfig.get_path("platlib")) / "minwise"
    shutil.rmtree(package, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "*.so")
    shutil.copytree(Path(__file__).resolve().parents[1] / "minwise", package, ignore=ignored)
    shutil.copyfile(library, package / "_minwise.abi3.so")


if __name__ == "__main__":
    install(sys.argv[1])
