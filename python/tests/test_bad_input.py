"""Bad input: an exception of the right type that names position and argument, and nothing half-written."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pytest

import minwise
from minwise import Lsh, Spec

TAKES_TEXTS: dict[str, Callable[[Any], Any]] = {
    "dedup": minwise.dedup,
    "pairs": minwise.pairs,
    "sketch": Spec().sketch,
    "insert_many": lambda texts: Lsh().insert_many(range(len(texts)), texts),
}


@pytest.mark.parametrize("name", TAKES_TEXTS)
@pytest.mark.parametrize(
    ("bad", "kind"),
    [(1, "int"), (2.5, "float"), (b"bytes", "bytes"), (["nested"], "list"), (float("nan"), "float"), (object(), "object"), (True, "bool")],
)
def test_an_item_of_another_type_is_named(name: str, bad: Any, kind: str) -> None:
    with pytest.raises(TypeError, match=rf"\[1\] is {kind}"):
        TAKES_TEXTS[name](["good", bad, "good"])
    with pytest.raises(TypeError, match=rf"\[2\] is {kind}"):
        TAKES_TEXTS[name](("good", None, bad))


@pytest.mark.parametrize("name", TAKES_TEXTS)
def test_data_of_another_type_is_named(name: str) -> None:
    take = TAKES_TEXTS[name]
    for bad in ("one text", b"bytes", {"a": "b"}):
        with pytest.raises(TypeError):
            take(bad)
    if name != "insert_many":
        for other in (3, None, 2.5):
            with pytest.raises(TypeError, match="is (int|NoneType|float)"):
                take(other)
    with pytest.raises(TypeError, match="array of int64"):
        take(numpy.arange(3))
    with pytest.raises(TypeError, match="2 dimensions"):
        take(numpy.array([["a"], ["b"]]))
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(TypeError, match="Int64"):
        take(pyarrow.array([1, 2]))


def test_lone_surrogates_are_repaired_or_refused(tmp_path: Path, command: Any) -> None:
    texts = ["fine", "one two three four five \ud800 six", "a pair: \ud83d\ude00 is one character", "one two three four five \udfff six"]
    with pytest.warns(minwise.MinwiseWarning, match="surrogate"):
        result = minwise.dedup(texts)
    assert result.summary.repaired == 2
    # As the command: both are repaired to the same text.
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    command("dedup", path, "-o", tmp_path / "out.jsonl", "--report", tmp_path / "report")
    summary = json.loads((tmp_path / "report/summary.json").read_text())
    assert (summary["repaired"], summary["kept"]) == (2, result.summary.kept)
    assert result.kept[1] == texts[1]
    with pytest.raises(ValueError, match=r"data\[1\] has a lone surrogate"):
        minwise.dedup(texts, errors="strict")
    with pytest.raises(ValueError, match=r"data\[1\] has a lone surrogate"):
        minwise.dedup(iter(texts), errors="strict")
    with pytest.raises(ValueError, match=r"texts\[1\] has a lone surrogate"):
        Spec().sketch(texts, errors="strict")
    with pytest.raises(ValueError, match="errors is 'ignore'|errors is \"ignore\""):
        Spec().sketch(texts, errors="ignore")
    assert (numpy.asarray(Spec().sketch(["a \ud800"])) == numpy.asarray(Spec().sketch(["a \ufffd"]))).all()


def test_odd_texts_never_abort() -> None:
    odd = ["", "\x00", "\x00" * 100, "a" * 1_000_000, "\u202e", "\U0010ffff", "e" + "\u0301" * 5000, " \t\n", "😀" * 1000, "ﷺ" * 500]
    result = minwise.dedup([*odd, *odd])
    # White space and no text are the same.
    assert len(result.kept) == len(odd) - 1
    assert Spec().sketch(odd).shape == (len(odd), 128)
    for text in odd:
        assert minwise.compare(text, text, passages=3).jaccard == 1.0


def test_empty_data() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert minwise.dedup([]).kept == [] and len(minwise.pairs([])) == 0
    assert Spec().sketch([]).shape == (0, 128)
    table = pyarrow.table({"text": pyarrow.array([], type=pyarrow.string())})
    assert minwise.dedup(table).kept.num_rows == 0
    with minwise.dedup(iter([])) as result:
        assert list(result.kept) == []


def test_subclasses_of_str_and_changed_lists() -> None:
    class Text(str):
        def __str__(self) -> str:
            raise RuntimeError("never called")

    assert minwise.dedup([Text("a rose is a rose"), "a rose is a rose"]).kept == ["a rose is a rose"]
    texts = ["a rose is a rose", "A rose is a rose."]
    result = minwise.dedup(texts)
    before = list(result.decisions)
    texts.clear()
    assert list(result.decisions) == before and result.explain(1).jaccard == 1.0


def test_settings_of_the_wrong_type() -> None:
    with pytest.raises(TypeError, match="threshold is list"):
        minwise.dedup(["a"], threshold=[0.8])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="spec is int"):
        minwise.dedup(["a"], spec=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="progress is"):
        minwise.dedup(["a"], progress=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cancel is int"):
        minwise.dedup(["a"], cancel=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        minwise.dedup(["a"], nonsense=3)  # type: ignore[call-arg]
    with pytest.raises(minwise.SettingError):
        minwise.dedup(["a"], spec="nonsense")
    with pytest.raises(minwise.SettingError, match="`threads`"):
        Spec().sketch(["a"], threads=0)
    assert minwise.dedup(["a"], threshold=numpy.float64(0.5), threads=numpy.int64(1)).summary.threshold == 0.5


def test_hints_name_arguments_and_not_flags(tmp_path: Path) -> None:
    with pytest.raises(minwise.MinwiseError) as caught:
        minwise.dedup(["a b"] * 9, memory="1MiB")
    assert "--" not in str(caught.value)
    path = tmp_path / "in.jsonl"
    path.write_text('{"body": "a"}\n')
    with pytest.raises(minwise.SettingError) as caught:
        minwise.dedup_files(path, tmp_path / "out.jsonl")
    assert "`text=NAME`" in str(caught.value) and "body" in str(caught.value)
    assert not (tmp_path / "out.jsonl").exists()


def test_files_that_are_not_there_or_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(minwise.InputError) as caught:
        minwise.dedup_files(tmp_path / "nothing.jsonl", tmp_path / "out.jsonl")
    assert isinstance(caught.value, OSError) and "nothing.jsonl" in str(caught.value)
    with pytest.raises(minwise.InputError):
        minwise.Sketches.load(tmp_path / "nothing")
    (tmp_path / "bad").write_bytes(b"not a sketch file")
    with pytest.raises(minwise.InputError):
        minwise.Sketches.load(tmp_path / "bad")
    with pytest.raises(minwise.InputError):
        minwise.dedup(iter(["a"]), temp_dir=tmp_path / "nowhere")
    with pytest.raises(TypeError, match=r"inputs\[0\] is int"):
        minwise.dedup_files([3], tmp_path / "out.jsonl")  # type: ignore[list-item]
    with pytest.raises(minwise.SettingError, match="`inputs`"):
        minwise.dedup_files([], tmp_path / "out.jsonl")
    assert sorted(os.listdir(tmp_path)) == ["bad"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full")
def test_a_full_disk(tmp_path: Path) -> None:
    """A disk of 256 KiB, in a mount namespace of its own, so that only the file system of the test is full."""
    code = f"""
import errno, os, subprocess, sys
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", {str(tmp_path)!r}], check=True)
import minwise
texts = ["word%d " % n * 40 for n in range(20000)]
try:
    minwise.dedup((t for t in texts), temp_dir={str(tmp_path)!r})
except OSError as error:
    print(type(error).__name__, error.errno == errno.ENOSPC, os.listdir({str(tmp_path)!r}))
try:
    minwise.Spec().sketch(texts).save({str(tmp_path / "sketches")!r})
except OSError as error:
    print(type(error).__name__, error.errno == errno.ENOSPC, os.listdir({str(tmp_path)!r}))
"""
    done = subprocess.run(
        ["unshare", "--mount", "--map-root-user", sys.executable, "-c", code], capture_output=True, text=True, cwd="/"
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip("no mount namespace can be had")
    assert done.stdout.splitlines() == ["InputError True []", "InputError True []"], done.stderr
    assert errno.ENOSPC


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str], texts: list[str]) -> None:
    minwise.dedup(texts)
    with pytest.raises(minwise.SettingError):
        minwise.dedup(texts, threshold=7)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")


def test_a_bad_arrow_object_is_refused() -> None:
    class Odd:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return "not a capsule"

    class Failing:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise RuntimeError("no stream today")

    for take in (minwise.dedup, Spec().sketch):
        with pytest.raises(TypeError):
            take(Odd())
        with pytest.raises(RuntimeError, match="no stream today"):
            take(Failing())
    pyarrow = pytest.importorskip("pyarrow")
    reader = pyarrow.table({"text": ["a"]}).to_reader()
    capsule = reader.__arrow_c_stream__()

    class Used:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return capsule

    with pytest.raises((TypeError, ValueError)):
        Spec().sketch(Used())
        Spec().sketch(Used())


def test_an_array_that_was_used_is_refused() -> None:
    class Used:
        """An Arrow array whose capsules were taken over before."""

        def __init__(self) -> None:
            self.pair = pyarrow.array(["a", "b"]).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema: object = None) -> object:
            return self.pair

    used = Used()
    spec = minwise.Spec()
    assert len(spec.sketch(used)) == 2
    with pytest.raises(ValueError, match="was used already"):
        spec.sketch(used)


def test_any_number_of_threads_is_taken() -> None:
    spec = minwise.Spec()
    assert spec.sketch(["a b c"] * 3, threads=2**61) == spec.sketch(["a b c"] * 3, threads=1)


def test_rows_are_those_that_were_given() -> None:
    texts = ["a b c", "A b c", "d e f"]
    result = minwise.dedup(texts, shingle="words:1")
    texts.insert(0, "new")
    assert result.kept == ["a b c", "d e f"]
    assert result.removed == ["A b c"]


def test_warnings_name_the_line_of_the_caller() -> None:
    with pytest.warns(minwise.MinwiseWarning) as caught:
        minwise.dedup(["a b \ud800", "c d e"])
    assert caught[0].filename == __file__
