"""Tests of the benchmark `python/tools/bench_spark.py`. `cargo x bench spark` runs it."""

from __future__ import annotations

import subprocess
import sys

from corpora import ROOT


def test_a_benchmark_of_some_engines_is_not_checked() -> None:
    """Without the empty job or the other engines, `--check` would compare nothing and pass."""
    words = [sys.executable, str(ROOT / "python/tools/bench_spark.py"), "minwise", "1000", "--check", "--only=minwise.spark"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "leave out `--only`" in done.stderr
