"""Tests of `Index`, the archive on disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import minwise
from minwise import Index

HERONS = "Herons nest in the old willow by the mill pond each spring, and the miller counts them every morning before breakfast."
REEDS = "Reed warblers, on the other hand, prefer the southern bank, where nobody disturbs them until the boats come in June."


def test_add_check_remove(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    with Index.create(path) as index:
        assert index.add({"herons": HERONS, "reeds": REEDS}) == (2, 0, 0)
        assert index.add([("herons", HERONS), ("reeds", REEDS + " Then they leave.")]) == (0, 1, 1)
        more = {"id": 7, "text": "Ünrelated words äbout öther things entirely", "title": "T", "year": 2019}
        assert index.add([more]).new == 1
        assert len(index) == 3 and "herons" in index and "storks" not in index
        assert index.ids() == ["herons", "reeds", "7"]
        [match] = index.check("As he says: " + HERONS)
        assert match.id == "herons" and match.similarity > 0.7 and "similarity" in match.reasons
        [passage] = match.passages
        assert ("As he says: " + HERONS)[passage.query].startswith("Herons nest")
        assert passage.document is not None and HERONS[passage.document].endswith("breakfast")
        [match] = index.check("Öh. " + more["text"], containment=0.1)
        assert (match.title, match.metadata) == ("T", {"year": 2019})
        assert more["text"][match.passages[0].document] == more["text"]  # type: ignore[index]
        assert ("Öh. " + more["text"])[match.passages[0].query] == more["text"]
        assert index.check(HERONS, itself="herons") == []
        assert index.text("herons") == HERONS
        index.remove("herons")
        with pytest.raises(KeyError):
            index.remove(["reeds", "herons"])
        assert "reeds" in index
        with pytest.raises(KeyError):
            index.text("herons")
        index.compact(progress=lambda *_: None)
        assert index.statistics()["documents"] == 2
        assert index.spec == minwise.Spec()
    assert index.closed and "closed" in repr(index)
    for use in (lambda: len(index), lambda: index.check("x"), lambda: index.add({"a": "b"})):
        with pytest.raises(ValueError, match="closed"):
            use()
    with Index(path) as again:
        assert again.ids() == ["reeds", "7"]


def test_the_archive_is_that_of_the_command(command: Any, tmp_path: Path, articles: list[dict[str, Any]]) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    rows = [{"id": f"a{n}", "text": row["text"]} for n, row in enumerate(articles) if isinstance(row.get("text"), str)]
    source = tmp_path / "in.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows[:-3]))
    checked = tmp_path / "check.jsonl"
    checked.write_text("".join(json.dumps(row) + "\n" for row in rows[-3:]))
    command("index", "create", theirs)
    command("index", "add", theirs, source)
    with Index.create(ours) as index:
        index.add(rows[:-3])
    for path in (ours, theirs):
        out = command("check", path, checked, "--format", "jsonl", check=False).stdout
        lines = [json.loads(line) for line in out.splitlines()]
        with Index(path) as index:
            for row, line in zip(rows[-3:], lines):
                found = [(match.id, match.similarity) for match in index.check(row["text"])]
                assert found == [(match["id"], match["similarity"]) for match in line["matches"]]


def test_bad_calls(tmp_path: Path) -> None:
    with pytest.raises(minwise.InputError, match="not an archive"):
        Index(tmp_path)
    with Index.create(tmp_path / "a") as index:
        with pytest.raises(minwise.InputError, match="exists already and is not empty"):
            Index.create(tmp_path / "a")
        with pytest.raises(TypeError, match=r"the text of documents\[1\] is int"):
            index.add([("a", "b"), ("c", 3)])  # type: ignore[list-item]
        with pytest.raises(ValueError, match=r"documents\[0\] has no field 'text'"):
            index.add([{"id": "a"}])
        with pytest.raises(TypeError, match=r"documents\[0\] is str"):
            index.add(["text"])  # type: ignore[list-item]
        with pytest.raises(minwise.SettingError, match="empty"):
            index.add([("", "text")])
        with pytest.raises(minwise.SettingError, match="`top`"):
            index.check("x", top=0)
        with pytest.raises(minwise.SettingError, match="`since`"):
            index.check("x", since="yesterday")
        with pytest.raises(TypeError, match="text is int"):
            index.check(3)  # type: ignore[arg-type]
        assert len(index) == 0
    with pytest.raises(minwise.SettingError):
        Index.create(tmp_path / "b", threshold=2.0)
    assert not (tmp_path / "b").exists()


def test_another_process_is_told_who_has_it(tmp_path: Path) -> None:
    with Index.create(tmp_path / "a") as index:
        code = f"import minwise; minwise.Index({str(index.path)!r})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
        assert "InputError" in done.stderr and "in use" in done.stderr


def test_a_damaged_archive_is_named(tmp_path: Path) -> None:
    path = tmp_path / "whole"
    with Index.create(path) as index:
        index.add({f"note{number}": f"{HERONS} {number}" for number in range(50)})
        index.compact()
    # Texts are read last, so the tables of all other keyspaces are read, too.
    files = [path / "header", path / "acknowledged", *path.glob("store/keyspaces/[0-4]/tables/*")]
    assert len(files) >= 6
    for number, file in enumerate(files):
        copy = tmp_path / str(number)
        shutil.copytree(path, copy)
        damaged = copy / file.relative_to(path)
        content = bytearray(damaged.read_bytes())
        content[len(content) // 2] ^= 0xFF
        damaged.write_bytes(bytes(content))
        with pytest.raises(minwise.IndexDamaged, match="is damaged") as caught:
            with Index(copy) as index:
                index.check(HERONS)
                index.text("note1")
        assert caught.value.code and isinstance(caught.value, minwise.MinwiseError)
        assert not isinstance(caught.value, OSError)


def test_threads_check_while_one_adds(tmp_path: Path, texts: list[str]) -> None:
    failures: list[BaseException] = []
    with Index.create(tmp_path / "a") as index:
        index.add({"first": texts[0]})

        def check() -> None:
            try:
                for _ in range(20):
                    assert index.check(texts[0])[0].id == "first"
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=check) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number, text in enumerate(texts[1:20]):
            index.add({str(number): text})
        for thread in threads:
            thread.join(60)
    assert not failures


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_an_archive_is_of_the_process_that_opened_it(tmp_path: Path) -> None:
    with Index.create(tmp_path / "archive") as index:
        index.add({"a": "one two three four five six"})
        process = os.fork()
        if process == 0:
            try:
                index.add({"b": "seven eight nine ten eleven"})
            except ValueError as error:
                index.close()
                os._exit(0 if "another process opened" in str(error) else 3)
            os._exit(4)
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
        index.add({"c": "seven eight nine ten eleven"})
    with Index(tmp_path / "archive") as index:
        assert index.ids() == ["a", "c"]


def test_a_callback_may_close_the_archive(tmp_path: Path) -> None:
    index = Index.create(tmp_path / "archive")
    index.add({"a": "one two three four five six"})
    called = []

    def close(*_: object) -> None:
        called.append(True)
        index.close()

    index.compact(progress=close)
    assert called
    with Index(tmp_path / "archive") as again:
        assert again.ids() == ["a"]
