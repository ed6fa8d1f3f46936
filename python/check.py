"""Installs the package into the environment of this interpreter, and runs its tests and the type checkers.

    python check.py LIBRARY COMMAND [ONLY…]

LIBRARY is the path of the extension module that Cargo built, COMMAND the path of the `minwise` command, and ONLY the
test files to run. Without ONLY, all tests and the type checkers run. The last line of the output has the numbers of
passed, failed and skipped tests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def run(words: list[str]) -> tuple[bool, str]:
    print("$", " ".join(words), flush=True)
    done = subprocess.run(words, cwd=HERE / "tests", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, flush=True)
    return done.returncode == 0, done.stdout


def main(library: str, command: str, *only: str) -> int:
    subprocess.run([sys.executable, str(HERE / "tools/install.py"), library], check=True)
    bin = Path(sys.executable).parent
    os.environ["MINWISE"] = str(Path(command).resolve())
    # The environment is put first in PATH, because pyright and other checkers use the packages of the first interpreter
    # in PATH.
    os.environ["PATH"] = f"{bin}{os.pathsep}{os.environ['PATH']}"
    os.environ["VIRTUAL_ENV"] = str(bin.parent)
    passed, failed, skipped = 0, 0, 0
    good, out = run([str(bin / "pytest"), "-p", "no:cacheprovider", "-q", "-rfs", *(only or ["."])])
    for number, what in re.findall(r"(\d+) (passed|failed|errors?|skipped)", out.rstrip().rpartition("\n")[2]):
        passed += int(number) if what == "passed" else 0
        failed += int(number) if what.startswith(("failed", "error")) else 0
        skipped += int(number) if what == "skipped" else 0
    failed += not good and not failed
    if not only:
        for words in (
            [str(bin / "mypy"), "--strict", "--package", "minwise"],
            [str(bin / "mypy"), "--strict", "types_of_results.py"],
            [str(bin / "pyright"), "types_of_results.py"],
            [str(bin / "stubtest"), "--mypy-config-file", str(HERE / "pyproject.toml"), "minwise"],
            [str(bin / "pyright"), "--verifytypes", "minwise", "--ignoreexternal"],
        ):
            good, _ = run(words)
            passed += good
            failed += not good
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
