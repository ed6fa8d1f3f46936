"""Tests that bad input raises an exception of the right type, which names position and argument, and leaves no partial
files.
"""

from __future__ import annotations

import errno
import json
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pyarrow
import pytest

import minwise
from minwise import Lsh, Spec, _minwise

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


def test_data_that_no_run_takes_is_named_with_what_one_does() -> None:
    class Other:
        pass

    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"test": datasets.Dataset.from_dict({"text": ["a"]})})
    cases: list[tuple[Any, str, str]] = [
        (3, "int", ""),
        (None, "NoneType", ""),
        (Other(), "Other", ""),
        (list, "type", ""),
        ({"b", "a"}, "set", "sorted(data)"),
        ({"a": "b"}, "dict", "list(data.values())"),
        (b"bytes", "bytes", "decode"),
        (bytearray(b"bytes"), "bytearray", "decode"),
        (splits, "DatasetDict", "data['test']"),
    ]
    for call in (minwise.dedup, minwise.pairs):
        for bad, kind, way in cases:
            with pytest.raises(TypeError) as caught:
                call(bad)
            message = str(caught.value)
            assert message.startswith(f"data is {kind}: it must be a list or a generator of texts"), message
            assert "pandas, polars, pyarrow, DuckDB or datasets" in message
            assert way in message, message
    with pytest.raises(TypeError, match="against is int: it must be a list or a generator"):
        minwise.dedup(["a"], against=3)


def test_lone_surrogates_are_repaired_or_refused(tmp_path: Path, command: Any) -> None:
    texts = ["fine", "one two three four five \ud800 six", "a pair: \ud83d\ude00 is one character", "one two three four five \udfff six"]
    with pytest.warns(minwise.MinwiseWarning, match="surrogate"):
        result = minwise.dedup(texts)
    assert result.summary.repaired == 2
    # The command, too, repairs both texts to the same text.
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
    # White space equals the empty text, so one text is removed.
    assert len(result.kept) == len(odd) - 1
    assert Spec().sketch(odd).shape == (len(odd), 128)
    for text in odd:
        assert minwise.compare(text, text, passages=3).similarity == 1.0


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
    assert list(result.decisions) == before and result.explain(1).similarity == 1.0


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


NEGATIVE: dict[str, Callable[[int], object]] = {
    "registers": lambda number: Spec.of(registers=number),
    "seed": lambda number: Spec.of(seed=number),
    "threads": lambda number: Spec().sketch(["a"], threads=number),
    "threads of insert_many": lambda number: minwise.Lsh().insert_many(["a"], ["b"], threads=number),
    "threads of dedup": lambda number: minwise.dedup(["a"], threads=number),
    "passages": lambda number: minwise.compare("a", "b", passages=number),
    "passages of explain": lambda number: minwise.dedup(["a", "a"]).explain(1, passages=number),
    "bands": lambda number: minwise.Lsh(bands=number, rows=4),
    "rows": lambda number: minwise.Lsh(bands=4, rows=number),
    "bands of band_keys": lambda number: Spec().sketch(["a"]).band_keys(number, 4),
    "rows of band_keys": lambda number: Spec().sketch(["a"]).band_keys(4, number),
    "registers of plan": lambda number: minwise.plan(0.8, registers=number),
    "bands of plan": lambda number: minwise.plan(0.8, bands=number, rows=4),
    "top": lambda number: minwise.Lsh().query("a", top=number),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_a_negative_number_is_named(name: str) -> None:
    argument = name.split()[0]
    with pytest.raises(minwise.SettingError, match=f"`{argument}`: `?-1`? is too small: it must be at least") as caught:
        NEGATIVE[name](-1)
    assert caught.value.settings == (argument,)


@pytest.mark.parametrize("name", [name for name in NEGATIVE if "dedup" not in name])
def test_a_number_of_another_type_is_named(name: str) -> None:
    argument = name.split()[0]
    with pytest.raises(TypeError, match=f"{argument} is float: it must be int"):
        NEGATIVE[name](1.5)  # type: ignore[arg-type]
    with pytest.raises(minwise.SettingError, match=f"`{argument}`: {2**64} is too large"):
        NEGATIVE[name](2**64)


def test_numbers_of_an_archive_are_named(tmp_path: Path) -> None:
    with pytest.raises(minwise.SettingError, match="`passage`: -1 is too small"):
        minwise.Index.create(tmp_path / "a", passage=-1)
    with pytest.raises(TypeError, match="bits is str"):
        minwise.Index.create(tmp_path / "a", bits="8")  # type: ignore[arg-type]
    with minwise.Index.create(tmp_path / "a") as index:
        with pytest.raises(minwise.SettingError, match="`threads`: 0 is too small"):
            index.add({"a": "b"}, threads=0)
        assert len(index) == 0


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy

    assert Spec.of(registers=numpy.int64(64), seed=numpy.uint8(7)) == Spec.of(registers=64, seed=7)  # type: ignore[arg-type]
    assert minwise.plan(0.8, registers=numpy.int32(64)).registers == 64  # type: ignore[arg-type]


def test_a_column_of_another_type_is_named() -> None:
    import pandas
    import polars
    import pyarrow

    columns: dict[str, list[object]] = {"body": ["a", "b"], "n": [1, 2]}
    with pytest.raises(TypeError, match=r"data\['n'\]\[0\] is int: it must be str"):
        minwise.dedup(pandas.DataFrame(columns), text="n")
    for table in (polars.DataFrame(columns), polars.DataFrame(columns).lazy(), pyarrow.table(columns)):
        for run in (minwise.dedup, minwise.pairs):
            with pytest.raises(TypeError, match="the column `n` of `data` holds Int64, not texts"):
                run(table, text="n")


def test_a_similarity_of_restore_is_checked() -> None:
    result = minwise.dedup(["a", "a"])
    for bad in (7, -0.1, float("nan")):
        with pytest.raises(minwise.SettingError, match="`below`"):
            result.restore(bad)
    with pytest.raises(TypeError, match="below is str"):
        result.restore("0.9")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        result.decisions["a"]  # type: ignore[call-overload]


def test_rejected_records_go_by_their_position() -> None:
    with pytest.raises(minwise.RejectedRecords, match=r"^data\[1\]: the field `text` holds null"):
        minwise.dedup(["a", None], null="error")
    rows = [{"text": "a"}, {"other": "data:7: b"}]
    with pytest.raises(minwise.RejectedRecords, match=r"data\[1\]: there is no field `text`") as caught:
        minwise.dedup(rows, max_rejects=0)
    assert caught.value.hint is not None and "`rejects`" in caught.value.hint and "report" not in caught.value.hint
    with pytest.raises(minwise.RejectedRecords, match=r"data\[0\]: "):
        minwise.pairs([None, None], null="reject")


def test_results_are_counted_in_words() -> None:
    one, two = minwise.dedup(["a"]), minwise.dedup(["a", "a"])
    assert repr(one) == "Dedup(1 document: 1 kept, 0 removed, 0 rejected)"
    assert repr(two) == "Dedup(2 documents: 1 kept, 1 removed, 0 rejected)"
    assert (repr(two.decisions), repr(one.decisions)) == ("<1 decision>", "<0 decisions>")
    assert repr(minwise.pairs(["a", "a"])) == "<1 pair>"
    assert "1 document</b>" in one._repr_html_() and "2 documents</b>" in two._repr_html_()


def test_hints_name_calls_and_not_commands(tmp_path: Path) -> None:
    with pytest.raises(minwise.InputError) as caught:
        minwise.Index(tmp_path / "nowhere")
    assert caught.value.hint == f'`minwise.Index.create("{tmp_path / "nowhere"}")` makes one'
    (tmp_path / "file").write_text("no sketches")
    with pytest.raises(minwise.InputError) as caught:
        minwise.Index.create(tmp_path)
    assert caught.value.hint == f'`minwise.Index("{tmp_path}").add(documents)` adds documents to an archive'
    with pytest.raises(minwise.InputError) as caught:
        minwise.Sketches.load(tmp_path / "file")
    assert caught.value.hint == "`Sketches.save(path)` makes a sketch file"


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


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits of files")
@pytest.mark.parametrize(
    "kind", ["generator", "records", "sketches", "files", "report", "archive", "opened archive", "new archive"]
)
def test_a_full_disk(kind: str, tmp_path: Path) -> None:
    """The files of the process are limited to 8 KiB.

    Longer writes fail as on a full disk, but with another error number.
    """
    code = f"""
import os, resource, signal, sys
import minwise
folder, kind = {str(tmp_path)!r}, {kind!r}
texts = ["word%d and more of it " % n * 40 for n in range(3000)]
result = minwise.dedup(texts)
index = minwise.Index.create(folder + "/archive") if kind in ("archive", "opened archive") else None
before = sorted(os.listdir(folder))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
try:
    if kind == "generator":
        minwise.dedup((t for t in texts), temp_dir=folder)
    elif kind == "records":
        minwise.dedup([{{"text": t}} for t in texts], temp_dir=folder)
    elif kind == "sketches":
        minwise.Spec().sketch(texts).save(folder + "/sketches")
    elif kind == "files":
        minwise.dedup_files({str(tmp_path / "in.jsonl")!r}, folder + "/out.jsonl")
    elif kind == "report":
        result.report(folder + "/report")
    elif kind == "opened archive":
        # Writing the lock fails. Its error is special, because a library wraps it with the path.
        index.close()
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 8192))
        minwise.Index(folder + "/archive")
    elif kind == "new archive":
        # Several limits, because the lock is the first file that is written, and the other files need more.
        for most in (10, 200, 1000):
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, 8192))
            try:
                minwise.Index.create(folder + "/archive")
            except minwise.InputError:
                assert sorted(os.listdir(folder)) == before, most
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 8192))
        minwise.Index.create(folder + "/archive")
    else:
        index.add({{str(n): t for n, t in enumerate(texts)}})
except minwise.InputError as error:
    print("InputError", error.errno, isinstance(error, OSError))
if index is not None:
    index.close()
print(sorted(os.listdir(folder)) == before)
"""
    if kind == "files":
        rows = [{"text": f"word{n} and more of it " * 40} for n in range(3000)]
        (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd="/", timeout=120)
    lines = done.stdout.splitlines()
    assert lines == [f"InputError {errno.EFBIG} True", "True"], (done.stdout, done.stderr)


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
        """An Arrow array that returns the same capsules twice."""

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


def raised_while_handling(faulty: Any) -> None:
    try:
        raise KeyError("another")
    except KeyError:
        faulty.method()


#: Calls that panic in every kind of member that PyO3 makes. One class is enough, because `catch_panics` works for all
#: classes.
PANICS: dict[str, Callable[[Any], Any]] = {
    "constructor": lambda faulty: type(faulty)(True),
    "getter": lambda faulty: faulty.value,
    "method": lambda faulty: faulty.method(),
    "static method": lambda faulty: faulty.function("text"),
    "class method": lambda faulty: faulty.of_class(),
    "len": len,
    "in": lambda faulty: 1 in faulty,
    "item": lambda faulty: faulty[0],
    "repr": repr,
    "==": lambda faulty: faulty == 1,
    "hash": hash,
    "float": float,
    "pickle": pickle.dumps,
    # The module calls a Python function that calls the module again, as a function for `progress` may do.
    "while another is handled": raised_while_handling,
    "nested": lambda faulty: faulty.calls(lambda: faulty.calls(faulty.method)),
    "in a list": lambda faulty: sorted([1], key=lambda _: faulty.value),
}


@pytest.mark.parametrize("name", PANICS)
def test_a_panic_is_an_error_of_the_package(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    faulty = _minwise.Faulty(False)
    message = "^internal error at .*src/error.rs:[0-9]+: this is a bug of minwise, please report it$"
    with pytest.raises(minwise.MinwiseError, match=message) as caught:
        PANICS[name](faulty)
    assert type(caught.value) is minwise.MinwiseError and caught.value.code == "internal"
    assert "fault" not in "".join(traceback.format_exception(caught.value)).replace("faulty", "")
    try:
        PANICS[name](faulty)
    except Exception as error:
        assert "PanicException" not in repr(error)
    assert capfd.readouterr() == ("", "")


def test_a_panic_in_a_function_of_the_caller_is_an_error(capfd: pytest.CaptureFixture[str], texts: list[str]) -> None:
    faulty = _minwise.Faulty(False)
    with pytest.raises(minwise.MinwiseError, match="internal error"):
        minwise.dedup(texts, progress=lambda *_: faulty.value)
    assert capfd.readouterr() == ("", "")


def test_a_panic_in_a_run_is_an_error_of_the_package(
    capfd: pytest.CaptureFixture[str], texts: list[str], tmp_path: Path
) -> None:
    long = "one two three four five six seven " * 40_000
    with minwise.Index.create(tmp_path / "archive") as index:
        lsh = Lsh()
        result = minwise.dedup(texts)
        for call in (
            lambda: minwise.dedup(texts),
            lambda: minwise.pairs(texts),
            lambda: minwise.compare(long, long),
            lambda: lsh.insert_many(["a"], [long]),
            lambda: index.add({"a": "b"}),
            lambda: result.report(tmp_path / "report"),
        ):
            _minwise.fail_next()
            with pytest.raises(minwise.MinwiseError, match="internal error"):
                call()
        # After a panic, the index is unchanged and its mutex is free.
        assert len(lsh) == 0 and "a" not in lsh and len(index) == 0
        lsh.insert_many(["a"], [long])
        assert len(lsh) == 1
    assert capfd.readouterr() == ("", "")


def test_damaged_pickles_of_sketches_are_refused() -> None:
    sketches = Spec().sketch(["one two three four five", "six seven eight nine ten"])
    version, spec, words, present, _ = sketches.__reduce__()[1]
    restore = minwise.Sketches._restore
    assert restore(version, spec, words, present, ["a", "b"]).ids == ["a", "b"]
    for damaged in ((words[:-1], present, None), (words, present[:1], None), (words, present, ["a"]), (words, present, ["a", "b", "c"])):
        with pytest.raises(minwise.InputError, match="damaged"):
            restore(version, spec, *damaged)


def test_a_subclass_of_str_may_say_anything() -> None:
    class Liar(str):
        def isascii(self) -> bool:
            return not str.isascii(self)

        def encode(self, *_: object) -> bytes:
            return b"nonsense"

        def __len__(self) -> int:
            return 3

    for text in ("plain words are these here", "wörds änd möre of thëm", "a \ud800 b \U0001f600 c"):
        plain, odd = Spec().sketch([text]), Spec().sketch([Liar(text)])
        assert plain == odd
        assert Spec().compare(text, Liar(text), passages=1).similarity == 1.0


def test_surrogates_do_not_shift_passages(tmp_path: Path) -> None:
    words = "Herons nest in the old willow by the mill pond each spring and fly away"
    for before in ("\ud800 ", "\ud83d\ude00 ", "\U0001f600 ", "\udfff\ud800 ä ", "\ud83d\ude00\ud83d\ude00 \ud800é "):
        text = before + words
        found = minwise.compare(text, "Now " + words, passages=1).passages[0]
        assert text[found.left] == words and ("Now " + words)[found.right] == words
        backwards = minwise.compare("Now " + words, text, passages=1)
        assert text[backwards.passages[0].right] == words
        assert f"<mark>{words}</mark>" in backwards._repr_html_()
        with minwise.Index.create(tmp_path / f"archive{len(before)}{ord(before[0])}") as index:
            index.add({"a": words})
            [match] = index.check(text)
            assert text[match.passages[0].query] == words
            index.add({"a": text})
            [match] = index.check(words)
            stored = index.text("a")
            assert stored is not None and match.passages[0].document is not None
            assert stored[match.passages[0].document] == words


def test_strict_refuses_lone_surrogates_in_records() -> None:
    rows = [{"text": "fine", "more": "\ud800"}, {"text": "not \ud800 fine"}]
    for data in (rows, iter(rows)):
        with pytest.raises(ValueError, match=r"data\[1\]\['text'\] has a lone surrogate"):
            minwise.dedup(data, text="text", errors="strict")
    with pytest.raises(ValueError, match=r"\['parts'\]\[0\]\['body'\] has a lone surrogate"):
        minwise.dedup([{"parts": [{"body": "\ud800"}]}], text="parts[].body", errors="strict")
    with pytest.raises(ValueError, match=r"against\[0\] has a lone surrogate"):
        minwise.dedup(["a"], against=iter(["\ud800"]), errors="strict")
