"""Tests that the job reads and writes files as the command does, byte for byte."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import pytest
from corpora import Command, assert_same, assert_same_summary, decided_by, family, generated, rows_of


def corpus(folder: Path) -> Path:
    """Writes a folder of files in several formats, with bad lines and repeated ids."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = random.Random(23)
    texts = generated(120) + family(40)
    source.shuffle(texts)
    rows = rows_of(texts)
    for row in rows:
        row["score"] = source.randrange(6)
    rows[5]["id"] = rows[60]["id"] = "same"
    rows[7].pop("id")
    (folder / "sub").mkdir(parents=True)
    lines = [json.dumps(row) + "\n" for row in rows]
    lines.insert(3, "{ this is no record\n")
    lines.insert(9, '{"id": "n", "text": null}\n')
    (folder / "b.jsonl").write_text("".join(lines[:60]), encoding="utf-8")
    with gzip.open(folder / "sub/a.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write("".join(lines[60:110]))
    table = rows[108:]
    pq.write_table(pa.Table.from_pylist(table), folder / "a.parquet")
    (folder / "_more.jsonl").write_text("".join(lines[20:30]), encoding="utf-8")
    for name in ("_SUCCESS", ".a.parquet.crc", "Thumbs.db", "~$x.docx"):
        (folder / name).write_text("x")
    # Spark writes parts of tables without extensions, and some parts have no rows.
    (folder / "part-00001").write_text("")
    (folder / "empty.jsonl").write_text("")
    return folder


@pytest.mark.parametrize("keep", ["first", "last", "max:score;last"])
def test_files(sail: Any, command: Command, tmp_path: Path, keep: str) -> None:
    inputs = corpus(tmp_path / "in")
    report, theirs, ours = tmp_path / "report", tmp_path / "theirs", tmp_path / "ours"
    command("dedup", inputs, "--output", f"{theirs}/", "--report", report, "--keep", keep)
    expected = {}
    for line in (report / "pairs.tsv").read_text(encoding="utf-8").splitlines():
        id, of, similarity = line.split("\t")
        expected[id] = (of, float(similarity))
    result = minwise.spark.dedup_files(sail, inputs, ours, work=str(tmp_path / "work"), keep=keep)
    assert_same(decided_by(result), expected)
    summary = json.loads((report / "summary.json").read_text(encoding="utf-8"))
    assert_same_summary(result.summary, summary)
    # The first reading has counted the rejected records.
    assert result.summary.rejected == 1 and result._work.counts("rejected") is None
    rejects = result.rejects.collect()
    assert [(row["reason"], "JSON" in row["message"]) for row in rejects] == [("invalid_json", True)]
    written = sorted(path.relative_to(theirs) for path in theirs.rglob("*") if path.is_file())
    assert written == sorted(path.relative_to(ours) for path in ours.rglob("*") if path.is_file())
    assert len(written) == 5
    for path in written:
        assert (ours / path).read_bytes() == (theirs / path).read_bytes(), path
    # A job that is complete computes no step again.
    again = minwise.spark.dedup_files(sail, inputs, ours, work=str(tmp_path / "work"), keep=keep)
    assert again.summary.steps_computed == 0


def test_files_against_others(sail: Any, command: Command, tmp_path: Path) -> None:
    rows = rows_of(generated(90))
    old, new = command.write(rows[:40]), command.write(rows[40:])
    report, theirs, ours = tmp_path / "report", tmp_path / "theirs", tmp_path / "ours"
    command("dedup", new, "--against", old, "--output", f"{theirs}/", "--report", report)
    with old.open("a") as lines:
        lines.write("{ this is no record\n")
    result = minwise.spark.dedup_files(sail, [new], ours, work=str(tmp_path / "work"), against=[old])
    assert (result.summary.reference, result.summary.reference_rejected, result.summary.read) == (40, 1, 50)
    expected = {line.split("\t")[0]: line.split("\t")[1] for line in (report / "pairs.tsv").read_text().splitlines()}
    assert {id: of for id, (of, _) in decided_by(result).items()} == expected
    assert (ours / new.name).read_bytes() == (theirs / new.name).read_bytes()


def test_files_that_changed_are_another_job(sail: Any, command: Command, tmp_path: Path) -> None:
    rows = rows_of(generated(30))
    path = command.write(rows)
    minwise.spark.dedup_files(sail, [path], tmp_path / "out", work=str(tmp_path / "work"))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows[::-1]), encoding="ascii")
    with pytest.raises(minwise.SettingError, match="another `inputs`"):
        minwise.spark.dedup_files(sail, [path], tmp_path / "out", work=str(tmp_path / "work"))


def test_folders_that_cannot_be_used(sail: Any, tmp_path: Path) -> None:
    inputs = corpus(tmp_path / "in")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("x")
    for given, output, message in [
        (inputs, "full", "`output`.*not empty"),
        (tmp_path / "none", "out", "`inputs`.*there is no"),
        ([inputs / "b.jsonl", inputs / "b.jsonl"], "out", "are one file"),
        (inputs, "in/out", "`output`.*lie in one another"),
        (inputs, ".", "`output`.*lie in one another"),
    ]:
        with pytest.raises(minwise.SettingError, match=message):
            minwise.spark.dedup_files(sail, given, tmp_path / output, work=str(tmp_path / "work"))
    with pytest.raises(minwise.SettingError, match="`work`.*lie in one another"):
        minwise.spark.dedup_files(sail, inputs, tmp_path / "out", work=str(inputs / "work"))


def test_the_program(command: Command, tmp_path: Path) -> None:
    """`python -m minwise.spark` deduplicates a table and prints the summary of the command."""
    rows = rows_of(generated(60))
    expected, summary = command.dedup(rows)
    source = command.write(rows)
    words = ["--sail", "--input", str(source), "--output", str(tmp_path / "out"), "--work", str(tmp_path / "work")]
    run = [sys.executable, "-m", "minwise.spark", *words, "--order-by", "row", "--decisions", str(tmp_path / "decisions")]
    done = subprocess.run(run, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # The summary must have the same lines as that of the command under these names.
    shown = subprocess.run(
        [command.program, "dedup", source, "--output", tmp_path / "out.jsonl"], capture_output=True, text=True, encoding="utf-8"
    )
    ours, theirs = ({line[:12].strip(): line[12:] for line in text.splitlines()} for text in (done.stdout, shown.stderr))
    for name in ("kept", "removed", "rejected", "settings", "candidates", "spec"):
        assert ours[name] == theirs[name], name
    assert ours["read"] == f"{len(rows)} documents" and f"reach {summary['threshold']}" in ours["compared"]
    assert ours["wrote"] == f"{summary['kept']} kept documents to `{tmp_path / 'out'}`"
    assert f"            the decisions to `{tmp_path / 'decisions'}`" in done.stdout.splitlines()
    # The command also prints its expected recall, before the measured one.
    assert theirs["recall"].endswith(f"; {ours['recall']}") and "measured: " in ours["recall"]
    assert done.stderr.startswith("note: executors")
    import pyarrow.parquet as pq

    assert len(pq.read_table(tmp_path / "out")) == len(rows) - len(expected)
    assert set(pq.read_table(tmp_path / "decisions")["id"].to_pylist()) == set(expected)
    done = subprocess.run([*run, "--measure", "containment"], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert done.stderr.startswith("error: `measure`") and "\nhint: " in done.stderr and "; hint:" not in done.stderr


def test_outputs_of_the_program(sail: Any, tmp_path: Path) -> None:
    """An existing output is an error before anything is computed, unless the job itself has written it."""
    from minwise.spark import __main__ as program

    source, out, work = tmp_path / "in.parquet", tmp_path / "out", tmp_path / "work"
    sail.createDataFrame(rows_of(generated(30))).write.parquet(str(source))
    words = ["--input", str(source), "--work", str(work), "--order-by", "row", "--text-field", "text", "--audit", "off"]

    def run(*more: str) -> Any:
        return program._run(program.parser().parse_args([*words, *more]), sail)

    sail.range(3).write.parquet(str(out))
    with pytest.raises(minwise.InputError, match="`against`: .*nothing` cannot be read"):
        run("--output", str(tmp_path / "new"), "--against", str(tmp_path / "nothing"))
    with pytest.raises(minwise.SettingError, match="`output`: there is something at"):
        run("--output", str(out))
    assert not work.exists()
    for path in ("in.parquet", "in.parquet/out", "."):
        with pytest.raises(minwise.SettingError, match="`output`.*lie in one another"):
            run("--output", str(tmp_path / path))
    with pytest.raises(minwise.SettingError, match="/new` and .*/new/removed` lie in one another"):
        run("--output", str(tmp_path / "new"), "--removed", str(tmp_path / "new/removed"))
    new = ["--output", str(tmp_path / "new"), "--removed", str(tmp_path / "removed"), "--decisions", str(tmp_path / "decisions")]
    summary = run(*new)
    assert summary.kept == sail.read.parquet(str(tmp_path / "new")).count()
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "new").iterdir()}
    # A resumed job that was killed after its first output writes only the missing outputs.
    for path in (tmp_path / "decisions").iterdir():
        path.unlink()
    (tmp_path / "decisions").rmdir()
    assert run(*new).steps_computed == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "new").iterdir()} == files
    assert summary.removed == sail.read.parquet(str(tmp_path / "decisions")).count()
    # An output that existed before the job is still an error.
    with pytest.raises(minwise.SettingError, match="`clusters`: there is something at"):
        run(*new, "--clusters", str(out))
    # With `--annotate`, the output has other rows, so the existing output is an error.
    with pytest.raises(minwise.SettingError, match="`output`: there is something at"):
        run(*new, "--annotate")
    # An output that another program wrote while the job ran is not replaced.
    result = minwise.spark.dedup(sail.read.parquet(str(source)), text="text", order_by="row", work=str(work), audit="off")
    with pytest.raises(minwise.SettingError, match="`clusters`: there is something at"):
        result.write("clusters", str(out), "clusters")
    assert sail.read.parquet(str(out)).count() == 3
    # With `--files`, some outputs are not supported, and existing outputs are not replaced either.
    with pytest.raises(minwise.SettingError, match="`removed`: a job over files does not write it"):
        run("--files", "--output", str(tmp_path / "files"), "--removed", str(tmp_path / "gone"))
    with pytest.raises(minwise.SettingError, match="`decisions`: there is something at"):
        files = ["--files", "--input", str(source), "--work", str(tmp_path / "files-work"), "--output", str(tmp_path / "files")]
        program._run(program.parser().parse_args([*files, "--decisions", str(out)]), sail)
    # They are replaced if this job has written them, so that a killed program can be started again.
    for _ in range(2):
        summary = program._run(program.parser().parse_args([*files, "--decisions", str(tmp_path / "own")]), sail)
        assert summary.removed == sail.read.parquet(str(tmp_path / "own")).count()
    assert summary.steps_computed == 0


def test_web_archives_are_refused(tmp_path: Path) -> None:
    """WARC files are an error, because the command keeps records without text, and the job has no rows for them."""
    record = b"WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Record-ID: <a>\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
    (tmp_path / "a.warc").write_bytes(record)
    with pytest.raises(minwise.SettingError, match="is a WARC file"):
        minwise._minwise.SparkFile(str(tmp_path / "a.warc"), [], [])


def test_links_and_files_that_are_named_twice(sail: Any, command: Command, tmp_path: Path) -> None:
    """The job reads the same files as the command: links are followed, and a file with several links is read once."""
    rows = rows_of(generated(40))
    inside, elsewhere = tmp_path / "in", tmp_path / "elsewhere"
    (inside / "sub").mkdir(parents=True)
    elsewhere.mkdir()
    for path, own in ((inside / "a.jsonl", rows[:15]), (inside / "sub/b.jsonl", rows[15:25]), (elsewhere / "c.jsonl", rows[25:])):
        path.write_text("".join(json.dumps(row) + "\n" for row in own), encoding="utf-8")
    (inside / "linked").symlink_to(elsewhere)
    (inside / "again.jsonl").symlink_to(inside / "sub/b.jsonl")
    (inside / "sub/above").symlink_to(inside)
    # The command rejects `above`, a link to a folder above it.
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    command("dedup", inside, "--output", f"{theirs}/")
    result = minwise.spark.dedup_files(sail, inside, ours, work=str(tmp_path / "work"), audit="off")
    assert result.summary.read == len(rows)
    written = {path.relative_to(theirs): path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    assert {path.relative_to(ours): path.read_bytes() for path in ours.rglob("*") if path.is_file()} == written and len(written) == 3
    (elsewhere / "a.jsonl").write_text("")
    for given, message in (
        ({"inputs": [inside / "a.jsonl", elsewhere / "a.jsonl"]}, "two inputs would be written as `a.jsonl`"),
        ({"inputs": [inside / "a.jsonl", inside / "a.jsonl"]}, "are one file"),
        ({"inputs": inside, "against": inside / "a.jsonl"}, "is an input and a reference"),
        ({"inputs": [inside, inside / "nothing.jsonl"]}, "there is no"),
    ):
        with pytest.raises(minwise.SettingError, match=message):
            minwise.spark.dedup_files(sail, output=tmp_path / "other", work=str(tmp_path / "other-work"), **given)


def test_the_program_reads_as_the_command_does(sail: Any, command: Command, tmp_path: Path) -> None:
    """`--ignore-text` reads the records of files, and quoted fields of CSV may have line breaks and quotes."""
    import csv

    from minwise.spark import __main__ as program

    form = " ".join(f"f{number}" for number in range(40))
    rows = [{"id": f"d{number}", "row": number, "text": f'{form}\n"own" ' + " ".join(f"v{number // 2}x{at}" for at in range(12))} for number in range(12)]
    with (tmp_path / "in.csv").open("w", encoding="ascii", newline="") as out:
        writer = csv.DictWriter(out, ["id", "row", "text"])
        writer.writeheader()
        writer.writerows({**row, "row": f"{row['row']:03}"} for row in rows)
    ignored = tmp_path / "ignored"
    ignored.mkdir()
    (ignored / "form.jsonl").write_text(json.dumps({"text": form}) + "\n", encoding="ascii")
    words = ["--input", tmp_path / "in.csv", "--order-by", "row", "--text-field", "text", "--audit", "off"]
    for name, more in (("plain", []), ("ignoring", ["--ignore-text", ignored])):
        own = ["--output", tmp_path / f"{name}-out", "--work", tmp_path / f"{name}-work"]
        summary = program._run(program.parser().parse_args([str(word) for word in (*words, *own, *more)]), sail)
        decided, expected = command.dedup(rows, *more)
        assert (summary.read, summary.removed) == (12, expected["removed"]) == (12, len(decided)), name
    assert summary.removed == 6, "without the form, every second text repeats the one before"
    # Files of records are read in the same way. Their field, too, is the one of `--text-field`.
    (ignored / "form.jsonl").write_text(json.dumps({"text": "none", "body": form}) + "\n", encoding="ascii")
    inputs = command.write([{**row, "text": "none", "body": row["text"]} for row in rows])
    for name, more in (("files-plain", []), ("files", ["--ignore-text", ignored])):
        own = ["--files", "--input", inputs, "--text-field", "body", "--audit", "off", "--output", tmp_path / f"{name}-out", "--work", tmp_path / f"{name}-work"]
        read = program._run(program.parser().parse_args([str(word) for word in (*own, *more)]), sail)
        command("dedup", inputs, "--text-field", "body", *more, "--output", tmp_path / f"{name}.jsonl")
        assert (tmp_path / f"{name}-out" / inputs.name).read_bytes() == (tmp_path / f"{name}.jsonl").read_bytes()
    assert read.removed == 6
    for option in ("--order-by", "--format"):
        with pytest.raises(minwise.SettingError, match="files are read in the order"):
            program._run(program.parser().parse_args([*map(str, words[:2]), "--files", "--output", "o", "--work", "w", option, "row"]), sail)
