"""Runs the command ``minwise`` for ``python -m minwise``. The extra ``cli`` installs the command."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig


def find() -> str | None:
    """Returns the path of the command: beside this interpreter, else in PATH; None if it is not installed."""
    name = "minwise.exe" if sys.platform == "win32" else "minwise"
    for folder in (sysconfig.get_path("scripts"), os.path.dirname(sys.executable)):
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return path
    return shutil.which(name)


def main() -> int:
    program = find()
    if program is None:
        sys.stderr.write("the `minwise` command is not installed: pip install 'minwise[cli]'\n")
        return 127
    if sys.platform == "win32":
        import subprocess

        return subprocess.call([program, *sys.argv[1:]])
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
