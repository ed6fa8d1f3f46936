"""Tests that the job decides as the command does with each supported setting, and that errors name all other
settings.
"""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import Command, assert_same, chains, decided_by, family, forms, generated, rows_of
from minwise.spark import _settings


@pytest.fixture(scope="module")
def mixed() -> list[dict[str, Any]]:
    """Returns rows of several corpora, with the fields that keeper policies read."""
    source = random.Random(17)
    texts = generated(150) + chains(2, 30) + family(60) + forms(60)
    source.shuffle(texts)
    rows = rows_of(texts)
    for row in rows:
        row["score"] = source.choice([None, 1.5, 2.0, 10.0, -3.0, 1e10])
        row["votes"] = source.randrange(5)
        row["date"] = f"20{source.randrange(10, 30)}-0{source.randrange(1, 9)}-1{source.randrange(9)}"
        row["source"] = source.choice(["wiki", "news", "blog", ""])
    return rows


SCHEMA = "id string, text string, row long, score double, votes long, date string, source string"


def frame(spark: Any, rows: list[dict[str, Any]]) -> Any:
    names = [part.split()[0] for part in SCHEMA.split(", ")]
    return spark.createDataFrame([tuple(row[name] for name in names) for row in rows], SCHEMA)


SETTINGS: list[tuple[dict[str, Any], list[str]]] = [
    ({"keep": "last"}, ["--keep", "last"]),
    ({"keep": "longest"}, ["--keep", "longest"]),
    ({"keep": "shortest;last"}, ["--keep", "shortest;last"]),
    ({"keep": "max:score"}, ["--keep", "max:score"]),
    ({"keep": ["min:votes", "max:score", "last"]}, ["--keep", "min:votes;max:score;last"]),
    ({"keep": "newest:date"}, ["--keep", "newest:date"]),
    ({"keep": "oldest:date;longest"}, ["--keep", "oldest:date;longest"]),
    ({"keep": "priority:source=wiki,news"}, ["--keep", "priority:source=wiki,news"]),
    ({"threshold": 0.6}, ["--threshold", "0.6"]),
    ({"threshold": 1.0}, ["--threshold", "1.0"]),
    ({"recall": 0.9}, ["--recall", "0.9"]),
    ({"bands": 4, "rows": 10}, ["--bands", "4", "--rows", "10"]),
    ({"max_cluster": 5}, ["--max-cluster", "5"]),
    ({"cluster": "components"}, ["--cluster", "components"]),
    ({"cluster": "components", "max_cluster": 20}, ["--cluster", "components", "--max-cluster", "20"]),
    ({"weight": "count"}, ["--weight", "count"]),
    ({"weight": "tf"}, ["--weight", "tf"]),
    ({"max_df": 20}, ["--max-df", "20"]),
    ({"max_df": 0.1}, ["--max-df", "0.1"]),
    ({"max_df": 1}, ["--max-df", "1"]),
    ({"max_df": 0.00005}, ["--max-df", "0.00005"]),
    ({"max_df": 20, "weight": "tf"}, ["--max-df", "20", "--weight", "tf"]),
    ({"shingle": "chars:9"}, ["--shingle", "chars:9"]),
    ({"shingle": "words:3", "normalize": "none"}, ["--shingle", "words:3", "--normalize", "none"]),
    ({"sketch": "one-permutation"}, ["--sketch", "one-permutation"]),
    ({"sketch": "super-minhash", "registers": 64, "seed": 7}, ["--sketch", "super-minhash", "--registers", "64", "--seed", "7"]),
    ({"filter_error": "off"}, ["--filter-error", "off"]),
    ({"filter_error": 0.2}, ["--filter-error", "0.2"]),
    ({"error_per_look": 0.05}, ["--error-per-look", "0.05"]),
    ({"looks": [16, 64]}, ["--looks", "16,64"]),
]  # fmt: skip


#: Limits with which the driver compares all pairs, or tasks do: pairs of small shelves as a list, and those of large
#: shelves as blocks.
LIMITS = pytest.mark.parametrize("limits", [{}, {"_here": 0, "_rest": 0, "_asking": 2, "_pairs": 3}], ids=["driver", "tasks"])


def check_tasks(work: Path, limits: dict[str, int], given: dict[str, Any]) -> None:
    """Checks that tasks have compared all pairs if `limits` demand this, and the driver otherwise."""
    tables = {path.name for path in work.iterdir()}
    assert ("texts" in tables) == bool(limits or given.get("cluster") == "components")
    # Tasks have screened pairs and blocks. With a tiny `max_df`, no pair is left.
    assert not limits or given.get("max_df") in (1, 0.00005) or any(name.endswith("-screened") for name in tables)


@LIMITS
@pytest.mark.parametrize("given, words", SETTINGS, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_setting(sail: Any, command: Command, tmp_path: Path, mixed: Any, given: Any, words: Any, limits: dict[str, int]) -> None:
    expected, _ = command.dedup(mixed, *words)
    result = minwise.spark.dedup(frame(sail, mixed), text="text", order_by="row", work=str(tmp_path / "work"), **given, **limits)
    check_tasks(tmp_path / "work", limits, given)
    assert expected
    assert_same(decided_by(result), expected)


#: Settings that reach the tasks that choose pairs and decide, by the place in `SETTINGS`: keeper policies, a limit of
#: clusters, components, weights and `max_df`.
THROUGH_TASKS = [both for both in SETTINGS if both[0] in (
    {"keep": ["min:votes", "max:score", "last"]},
    {"max_cluster": 5},
    {"cluster": "components", "max_cluster": 20},
    {"weight": "tf"},
    {"max_df": 20},
)]  # fmt: skip


@pytest.mark.parametrize("given, words", THROUGH_TASKS, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_setting_without_the_driver(sail: Any, command: Command, tmp_path: Path, mixed: Any, given: Any, words: Any) -> None:
    assert len(THROUGH_TASKS) == 5
    expected, _ = command.dedup(mixed, *words)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "audit": "off", "_driver": 0}
    result = minwise.spark.dedup(frame(sail, mixed), work=str(tmp_path / "work"), **settings, **given)
    tables = {path.name.split("-")[0] for path in (tmp_path / "work").iterdir()}
    assert expected and ("labels" if "cluster" in given else "states") in tables
    assert_same(decided_by(result), expected)


def marked() -> list[dict[str, Any]]:
    """Returns rows whose texts have tags or runs of white space. Some texts are very long."""
    source, texts = random.Random(23), []
    for at, text in enumerate(generated(120)):
        words = text.split()
        if at % 3 == 1:
            words = [f"<b>{word}</b>" if source.random() < 0.3 else word for word in words]
        texts.append("".join(word + source.choice([" ", "  ", "\n"] if at % 3 == 2 else [" "]) for word in words))
        if at % 20 == 7:
            texts.append(" ".join(f"l{source.randrange(10**6)}" for _ in range(2_000)))
    return rows_of(texts + texts[:30])


OF_TEXTS: list[tuple[dict[str, Any], list[str]]] = [
    ({"strip_markup": True}, ["--strip-markup"]),
    ({"whitespace": "keep", "shingle": "chars:9"}, ["--whitespace", "keep", "--shingle", "chars:9"]),
    ({"whitespace": "remove", "shingle": "chars:9"}, ["--whitespace", "remove", "--shingle", "chars:9"]),
    ({"max_record": "8KiB"}, ["--max-record", "8KiB"]),
    ({"spec": "none / chars:7 / minhash:64 / seed:5"}, ["--normalize", "none", "--shingle", "chars:7", "--registers", "64", "--seed", "5"]),
]  # fmt: skip


@LIMITS
@pytest.mark.parametrize("given, words", OF_TEXTS, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_setting_of_texts(sail: Any, command: Command, tmp_path: Path, given: Any, words: Any, limits: dict[str, int]) -> None:
    rows = marked()
    expected, _ = command.dedup(rows, *words)
    assert expected != command.dedup(rows)[0]
    result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"), **given, **limits)
    check_tasks(tmp_path / "work", limits, given)
    assert_same(decided_by(result), expected)


def test_the_largest_record_is_that_of_the_command(sail: Any, command: Command, tmp_path: Path) -> None:
    """A text of exactly `max_record` bytes is read, and a text of one byte more is rejected, as the command does with the
    rows of a table. The default is that of the command.
    """
    assert _settings.plan({})["max_record"] == 1 << 30 and _settings.plan({"max_record": "1KiB"})["max_record"] == 1024
    text = "to be or not to be, that is the quéstion".ljust(60, "x")
    size = len(text.encode())
    rows = rows_of([text, text, text + "y", text + "y", "a short text of six words"])
    source = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pylist(rows), source)
    for most in (size, size - 1):
        out = tmp_path / f"out-{most}.parquet"
        command("dedup", source, "--output", out, "--max-record", most)
        df = sail.read.parquet(str(source))
        result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / str(most)), max_record=most)
        assert {row["id"] for row in result.kept.collect()} == set(pq.read_table(out)["id"].to_pylist()), most
        assert {(row["id"], row["reason"]) for row in result.rejects.collect()} == {(row["id"], "too_large") for row in rows if len(row["text"].encode()) > most}


def test_every_supported_setting_is_compared_with_the_command() -> None:
    compared = {name for given, _ in SETTINGS + OF_TEXTS for name in given}
    # Further settings have tests of their own below. `measure` and `candidates` need none, because each has only one
    # supported value.
    compared |= {"ignore_text", "weights", "null", "short", "audit", "measure", "candidates"}
    assert set(_settings.SUPPORTED) == compared


def test_annotated_rows_are_those_of_the_command(sail: Any, command: Command, tmp_path: Path, mixed: Any) -> None:
    command("dedup", command.write(mixed), "--annotate", "--output", tmp_path / "out.jsonl")
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    expected = {row["id"]: (row["minwise"]["duplicate_of"], row["minwise"]["similarity"]) for row in map(json.loads, lines)}
    result = minwise.spark.dedup(frame(sail, mixed), text="text", order_by="row", work=str(tmp_path / "work"), audit="off")
    found = {row["id"]: (row["duplicate_of"], row["similarity"]) for row in result.annotated.collect()}
    assert set(found) == set(expected) == {row["id"] for row in mixed}
    assert any(of for of, _ in expected.values()) and {id: of for id, (of, _) in found.items()} == {id: of for id, (of, _) in expected.items()}
    for id, (_, similarity) in expected.items():
        assert found[id][1] is None if similarity is None else abs(found[id][1] - similarity) < 1e-6, id


@pytest.mark.parametrize("cluster, limits", [("star", {}), ("components", {}), ("star", {"_driver": 0})], ids=["star", "components", "tasks"])
def test_against(sail: Any, command: Command, tmp_path: Path, mixed: Any, cluster: str, limits: dict[str, int]) -> None:
    references, inputs = mixed[::3], [row for at, row in enumerate(mixed) if at % 3]
    path = command.write(references)
    words = ["--against", path, "--cluster", cluster, "--keep", "longest"]
    expected, _ = command.dedup(inputs, *words)
    given = {"against": frame(sail, references), "cluster": cluster, "keep": "longest", **limits}
    result = minwise.spark.dedup(frame(sail, inputs), text="text", order_by="row", work=str(tmp_path / "work"), **given)
    assert any(of in {row["id"] for row in references} for of, _ in expected.values())
    assert_same(decided_by(result), expected)


@pytest.mark.parametrize("max_df", [20, 0.05])
def test_max_df_counts_references(sail: Any, command: Command, tmp_path: Path, mixed: Any, max_df: float) -> None:
    """`max_df` counts the documents of the references, too."""
    references, inputs = mixed[::3], [row for at, row in enumerate(mixed) if at % 3]
    expected, _ = command.dedup(inputs, "--against", command.write(references), "--max-df", max_df)
    assert expected != command.dedup(inputs, "--against", command.write(references))[0]
    given: dict[str, Any] = {"against": frame(sail, references), "max_df": max_df}
    result = minwise.spark.dedup(frame(sail, inputs), text="text", order_by="row", work=str(tmp_path / "work"), **given)
    assert_same(decided_by(result), expected)


def test_a_copy_of_a_later_reference_is_decided_once(sail: Any, command: Command, tmp_path: Path) -> None:
    words = [f"w{number}" for number in range(100)]
    first, second = ["a", *words, "b"], ["c", *words, "d"]
    references = rows_of([" ".join(first), " ".join(second)])
    inputs = [{"id": "x", "text": " ".join(["a", *words, "d"]), "row": 0}, {"id": "c", "text": " ".join(second), "row": 1}]
    expected, _ = command.dedup(inputs, "--against", command.write(references), "--cluster", "components")
    given = {"against": sail.createDataFrame(references), "cluster": "components", "order_by": "row"}
    result = minwise.spark.dedup(sail.createDataFrame(inputs), text="text", work=str(tmp_path / "work"), **given)
    assert set(expected) == {"x", "c"}
    assert_same(decided_by(result), expected)


@LIMITS
def test_ignore_text(sail: Any, command: Command, tmp_path: Path, limits: dict[str, int]) -> None:
    rows = rows_of(forms(150, shared=100, own=10))
    form = " ".join(f"f{number}" for number in range(100))
    path = command.write([{"id": "form", "text": form}])
    plain, _ = command.dedup(rows)
    expected, _ = command.dedup(rows, "--ignore-text", path)
    assert set(expected) != set(plain)
    df = sail.createDataFrame(rows)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"), ignore_text=[form], **limits)
    assert (tmp_path / "work/texts").exists() == bool(limits)
    assert_same(decided_by(result), expected)


def test_what_tasks_load_is_bounded(
    sail: Any, command: Command, tmp_path: Path, mixed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `max_df` that leaves out too many shingles is an error, whose hint has a value that the job accepts."""
    monkeypatch.setattr(_settings, "MOST_LEFT_OUT", 8 * 300)
    df = frame(sail, mixed)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "audit": "off"}
    for tiny in (1, 0.001):
        with pytest.raises(minwise.SettingError, match="`max_df`.*shingles.*300 at most") as raised:
            minwise.spark.dedup(df, work=str(tmp_path / "a"), max_df=tiny, **settings)
    hinted = re.match(r"`max_df=(\d+)` leaves out (\d+)", raised.value.hint or "")
    assert hinted and 0 < int(hinted[2]) <= 300
    most = int(hinted[1])
    result = minwise.spark.dedup(df, work=str(tmp_path / "b"), max_df=most, **settings)
    assert_same(decided_by(result), command.dedup(mixed, "--max-df", most)[0])
    with pytest.raises(minwise.SettingError, match="`max_df`"):
        minwise.spark.dedup(df, work=str(tmp_path / "c"), max_df=most - 1, **settings)
    # The shingles of `max_df` and `ignore_text` are limited together, because tasks load all of them.
    with pytest.raises(minwise.SettingError, match="`max_df`"):
        minwise.spark.dedup(df, work=str(tmp_path / "d"), max_df=most, ignore_text=" ".join(f"i{at}" for at in range(299)), **settings)
    long = " ".join(f"i{at}" for at in range(400))
    for given in (long, [long], sail.createDataFrame([(long,)], "text string")):
        with pytest.raises(minwise.SettingError, match="`ignore_text`.*396 shingles.*300 at most"):
            minwise.spark.dedup(df, work=str(tmp_path / "e"), ignore_text=given, **settings)
    monkeypatch.setattr(_settings, "MOST_IGNORED", 100)
    with pytest.raises(minwise.SettingError, match="`ignore_text`.*MiB"):
        minwise.spark.dedup(df, work=str(tmp_path / "f"), ignore_text=sail.createDataFrame([(long,)], "text string"), **settings)


@LIMITS
def test_tf_idf_with_a_table(sail: Any, command: Command, tmp_path: Path, mixed: Any, limits: dict[str, int]) -> None:
    table = tmp_path / "table"
    command("weights", command.write(mixed), "-o", table)
    expected, _ = command.dedup(mixed, "--weight", "tf-idf", "--weights", table)
    result = minwise.spark.dedup(
        frame(sail, mixed), text="text", order_by="row", work=str(tmp_path / "work"), weight="tf-idf", weights=table, **limits
    )
    check_tasks(tmp_path / "work", limits, {})
    assert expected
    assert_same(decided_by(result), expected)


def test_a_large_table_of_weights_is_refused(sail: Any, command: Command, tmp_path: Path, mixed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "table"
    command("weights", command.write(mixed), "-o", table)
    monkeypatch.setattr(_settings, "MOST_TABLE", table.stat().st_size)
    settings: dict[str, Any] = {"text": "text", "order_by": "row", "work": str(tmp_path / "work"), "weight": "tf-idf"}
    with pytest.raises(minwise.SettingError, match="`weights`: .*below 1 GiB") as raised:
        minwise.spark.dedup(frame(sail, mixed[:9]), weights=table, **settings)
    assert "sample" in (raised.value.hint or "") and not (tmp_path / "work").exists()


@LIMITS
def test_null_and_rejects(sail: Any, command: Command, tmp_path: Path, mixed: Any, limits: dict[str, int]) -> None:
    rows = [dict(row, text=None) if at % 20 == 3 else dict(row, text="few words") if at % 20 == 5 else row for at, row in enumerate(mixed)]
    df = frame(sail, rows)
    expected, summary = command.dedup(rows, "--short", "reject", "--keep", "shortest")
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "a"), short="reject", keep="shortest", **limits)
    check_tasks(tmp_path / "a", limits, {})
    assert_same(decided_by(result), expected)
    assert result.summary.nulls == summary["nulls"] > 0
    rejects = result.rejects.collect()
    assert {(row["reason"], row["message"]) for row in rejects} == {("too_short", "the text is shorter than a shingle")}
    rejected = {row["id"] for row in rejects}
    assert rejected == {row["id"] for row in rows if row["text"] == "few words"}
    kept = {row["id"] for row in result.kept.collect()}
    assert kept == {row["id"] for row in rows} - rejected - set(expected)
    assert result.summary.kept == len(kept)
    result = minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "b"), null="reject")
    nulls = {row["id"] for row in rows if row["text"] is None}
    assert {row["id"] for row in result.rejects.collect()} == nulls
    assert not nulls & {row["id"] for row in result.kept.collect()}
    with pytest.raises(minwise.InputError, match="is null"):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "c"), null="error")


@pytest.mark.parametrize(
    "given, message",
    [
        ({"measure": "containment"}, "measure.*containment"),
        ({"candidates": "sort-merge"}, "candidates.*sort-merge"),
        ({"candidates": "all"}, "candidates.*all"),
        ({"bits": 8}, "`bits`"),
        ({"order": 0.5}, "`order`"),
        ({"weight": "tf-idf"}, "`weight`.*frequencies"),
        ({"threads": 4}, "`threads`"),
        ({"errors": "strict"}, "`errors`"),
        ({"max_rejects": 3}, "`max_rejects`"),
        ({"max_df": 20, "weights": __file__}, "`max_df`.*`weights`"),
        ({"audit": 100_001}, "`audit`.*100,000"),
        ({"threshold": 1.7}, "threshold"),
        ({"text": "body"}, "`text`.*`body`.*`text`"),
        ({"order_by": None}, "`order_by`.*order"),
        ({"order_by": "place"}, "`order_by`.*`place`"),
        ({"keep": "max:stars"}, "`keep`.*`stars`"),
        ({"spec": "nfkc+casefold / words:5 / minhash:128 / seed:1", "seed": 3}, "`seed`.*`spec`"),
    ],
)
def test_refused(sail: Any, tmp_path: Path, mixed: Any, given: dict[str, Any], message: str) -> None:
    settings = {"text": "text", "order_by": "row", **given}
    with pytest.raises(minwise.SettingError, match=f"(?s){message}") as raised:
        minwise.spark.dedup(frame(sail, mixed[:9]), work=str(tmp_path / "work"), **settings)
    assert raised.value.hint or "threshold" in given or "text" in given or "order_by" in given or "keep" in given
    assert not (tmp_path / "work").exists()


def test_unknown_argument(sail: Any, tmp_path: Path, mixed: Any) -> None:
    with pytest.raises(TypeError, match="treshold"):
        minwise.spark.dedup(frame(sail, mixed[:9]), text="text", order_by="row", work=str(tmp_path), treshold=0.9)


def test_import_of_the_package_leaves_spark_alone() -> None:
    import subprocess
    import sys

    code = "import minwise, sys; print(json.dumps([m for m in sys.modules if m.startswith('pyspark')]))"
    done = subprocess.run([sys.executable, "-c", f"import json; {code}"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
