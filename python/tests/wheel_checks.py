"""Tests of wheels, which `cargo x test-wheels` runs.

The library of the other tests would fail these tests, because it has debugging information and the features of the
whole workspace.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import minwise
from minwise import _minwise


def test_import_takes_at_most_50_ms(tmp_path: Path) -> None:
    code = "import time; t = time.process_time(); import minwise; print(time.process_time() - t)"
    best = min(
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path).stdout)
        for _ in range(5)
    )
    assert best <= 0.05


def test_pdf_files_are_refused_by_name(tmp_path: Path) -> None:
    """Wheels cannot read PDF, because the reader of PDF starts threads of its own. The guide documents this."""
    path = tmp_path / "paper.pdf"
    path.write_bytes(b"%PDF-1.4\n1 0 obj\n<< >>\nendobj\n")
    with pytest.raises(minwise.MinwiseError, match="(?i)pdf"):
        minwise.dedup_files(path, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [path]


def test_the_library_has_no_faults_on_demand() -> None:
    assert not hasattr(_minwise, "fail_next")
