"""Tests that run the programs and the commands of the guide, `docs/guides/spark.md`."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import minwise.spark
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import ROOT, Command, articles
from minwise.spark import _settings, submit


def blocks(guide: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", guide, flags=re.MULTILINE | re.DOTALL)


def crawl(folder: Path) -> list[dict[str, str]]:
    """Writes the table `crawl` of the guide: the articles of the examples, in two files. Returns its rows."""
    rows = [{"url": f"https://example.org/{number * 7 % 60:02}", "text": text} for number, text in enumerate(articles())]
    folder.mkdir(parents=True)
    for part in range(2):
        pq.write_table(pa.Table.from_pylist(rows[part::2]), folder / f"part-{part}.parquet")
    return rows


def expected(command: Command, rows: list[dict[str, str]]) -> dict[str, str]:
    """Returns the decisions of the command for rows that are sorted by their URLs."""
    own = [{"id": row["url"], "text": row["text"]} for row in sorted(rows, key=lambda row: row["url"])]
    return {id: of for id, (of, _) in command.dedup(own)[0].items()}


def program(*words: str) -> str:
    """Runs the file that spark-submit runs, on Sail, with the options `words`. Returns its output."""
    done = subprocess.run([sys.executable, submit.__file__, "--sail", *words], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_programs_of_the_guide(sail: Any, command: Command, tmp_path: Path, guide: str, capsys: pytest.CaptureFixture[str]) -> None:
    tables, files = blocks(guide, "python")
    rows = crawl(tmp_path / "bucket/crawl")
    decided = expected(command, rows)
    exec(tables.replace("s3://bucket", str(tmp_path / "bucket")), {"spark": sail})
    shown = f"Summary(read={len(rows)}, kept={len(rows) - len(decided)}, removed={len(decided)}, rejected=0)"
    # The guide shows this form of the summary, without the counts.
    assert f"# {re.sub('=[1-9][0-9]*', '=…', shown)}" in tables
    assert capsys.readouterr().out == shown + "\n"
    kept = pq.read_table(tmp_path / "bucket/cleaned")
    assert set(kept["url"].to_pylist()) == {row["url"] for row in rows} - set(decided) and kept.column_names == ["url", "text"]
    found = pq.read_table(tmp_path / "bucket/decisions")
    assert dict(zip(found["id"].to_pylist(), found["duplicate_of"].to_pylist())) == decided
    # The second program writes the same bytes as the command that the guide names after it.
    data = tmp_path / "data"
    (data / "crawl").mkdir(parents=True)
    (data / "crawl/a.jsonl").write_text((ROOT / "examples/articles.jsonl").read_text(encoding="utf-8"), encoding="utf-8")
    exec(files.replace("/data", str(data)), {"spark": sail, "minwise": minwise})
    same = re.search(r"writes the same bytes as `minwise (dedup /data/crawl -o /data/cleaned/)`", guide)
    assert same
    command(*same[1].replace("/data/cleaned", str(tmp_path / "theirs")).replace("/data", str(data)).split())
    assert (data / "cleaned/a.jsonl").read_bytes() == (tmp_path / "theirs/a.jsonl").read_bytes() != b""


def test_commands_of_the_guide(command: Command, tmp_path: Path, guide: str) -> None:
    (block,) = blocks(guide, "sh")
    (line,) = block.replace("\\\n", " ").splitlines()
    words = shlex.split(line.replace("s3://bucket", str(tmp_path / "bucket")))
    at = next(number for number, word in enumerate(words) if "minwise.spark.submit" in word)
    assert words[0] == "spark-submit" and all("minwise" not in word for word in words[1:at])
    # The shell replaces this word by the path of the program.
    (code,) = re.findall(r"\$\(python -c '(.*)'\)", words[at])
    path = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert Path(path).samefile(submit.__file__)
    rows = crawl(tmp_path / "bucket/crawl")
    decided = expected(command, rows)
    program(*words[at + 1 :])
    assert len(pq.read_table(tmp_path / "bucket/cleaned")) == len(rows) - len(decided)
    found = pq.read_table(tmp_path / "bucket/decisions")
    assert dict(zip(found["id"].to_pylist(), found["duplicate_of"].to_pylist())) == decided


def test_the_recall_that_the_guide_shows(tmp_path: Path, guide: str) -> None:
    shown = re.search(r"With `(--input [^`]*)`:\n\n```text\n(recall .*)\n```", guide)
    assert shown
    printed = program(*shown[1].split(), "--output", str(tmp_path / "out"), "--work", str(tmp_path / "work"))
    assert shown[2] in printed.splitlines()


def test_the_table_of_settings_is_complete(guide: str) -> None:
    rows = re.search(r"^\| works \| refused \| instead \|\n\|[-|]+\|\n((?:\|.*\n)+)", guide, flags=re.MULTILINE)
    assert rows
    cells = [[set(re.findall(r"`([a-z_]+)[`=]", cell)) for cell in row.strip("|\n").split(" | ")] for row in rows[1].splitlines()]
    works, refused = (set().union(*(row[at] for row in cells)) for at in range(2))
    # These arguments are refused with some values only, or together with another argument.
    assert refused - set(_settings.REFUSED) <= {"candidates", "measure", "weight", "max_df", "weights"}
    assert set(_settings.REFUSED) <= refused
    assert set(_settings.SUPPORTED) <= works | {"candidates", "measure"} and works - {"against", "count", "components"} <= set(_settings.SUPPORTED)
