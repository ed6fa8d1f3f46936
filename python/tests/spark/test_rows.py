"""Tests of rows: rank keys, orders, repeated ids, and inputs that cannot be used."""

from __future__ import annotations

import datetime
import decimal
import random
from pathlib import Path
from typing import Any

import minwise
import minwise.spark
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from corpora import Command, assert_same, check_second_reading, decided_by, generated, rows_of


def test_repeated_ids_are_numbered_in_keeper_order(sail: Any, command: Command, tmp_path: Path) -> None:
    rows = rows_of(generated(60))
    expected, _ = command.dedup(rows)
    # Each group of three rows gets the same id.
    names = {}
    for at, row in enumerate(rows):
        number = at % 3 + 1
        names[row["id"]] = f"r{at // 3}" + ("" if number == 1 else f"#{number}")
    same = [dict(row, id=f"r{at // 3}") for at, row in enumerate(rows)]
    random.Random(1).shuffle(same)
    result = minwise.spark.dedup(sail.createDataFrame(same), text="text", order_by="row", work=str(tmp_path / "work"))
    wanted = {names[id]: (names[of], similarity) for id, (of, similarity) in expected.items()}
    assert_same(decided_by(result), wanted)
    # Other rows with the same id are kept, because rows are removed by their rank keys.
    kept = {row["row"] for row in result.kept.collect()}
    assert kept == {row["row"] for row in rows if row["id"] not in expected}
    assert {row["row"] for row in result.removed.collect()} == {row["row"] for row in rows if row["id"] in expected}


def test_rows_without_ids_are_named_by_their_rank_keys(sail: Any, tmp_path: Path) -> None:
    rows = [{"text": text, "row": row} for row, text in enumerate(["to be or not to be", "That is it", "To be or not to be"])]
    result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"))
    assert decided_by(result) == {"01018000000000000002": ("01018000000000000000", 1.0)}


def test_rows_that_cannot_be_told_apart_are_refused_with_two_of_them(sail: Any, tmp_path: Path) -> None:
    rows = rows_of(["one text here", "another text there", "a third text"])
    rows[2]["row"] = 1
    with pytest.raises(minwise.SettingError, match="`order_by`.*`d1` and `d2`"):
        minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"))


def test_an_input_that_is_not_deterministic_ends_the_job(sail: Any, tmp_path: Path) -> None:
    def shuffled(batches: Any) -> Any:
        import random

        import pyarrow as pa

        for batch in batches:
            text = batch.column(batch.schema.get_field_index("text")).to_pylist()
            random.shuffle(text)
            row = batch.column(batch.schema.get_field_index("row"))
            yield pa.RecordBatch.from_arrays([pa.array(text), row], names=["text", "row"])

    rows = [{"text": f"{text} {at % 7}", "row": at} for at, text in enumerate(generated(100))]
    df = sail.createDataFrame(rows).mapInArrow(shuffled, "text string, row long")
    with pytest.raises(minwise.InputError, match="not deterministic"):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"))


def test_rows_on_no_shelf_are_checked_too(sail: Any, tmp_path: Path) -> None:
    """Texts that share no shelf are checked, too.

    The texts of this test are random, and differ between two readings.
    """

    def random_texts(batches: Any) -> Any:
        import random

        import pyarrow as pa

        for batch in batches:
            text = [" ".join(str(random.random()) for _ in range(20)) for _ in range(len(batch))]
            yield pa.RecordBatch.from_arrays([pa.array(text), batch.column(0)], names=["text", "row"])

    df = sail.range(20).mapInArrow(random_texts, "text string, row long")
    with pytest.raises(minwise.InputError, match="not deterministic"):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"))


VALUES: list[tuple[str, list[Any]]] = [
    ("long", [None, -(2**63), -5, 0, 3, 2**62]),
    ("int", [None, -5, 0, 3]),
    ("double", [None, float("-inf"), -2.5, 0.0, 1e-300, 3.0, float("inf"), float("nan")]),
    ("string", [None, "", "\x00", "\x00a", "a", "a\x00", "aa", "b", "é", "日", "😀"]),
    ("binary", [None, b"", b"\x00", b"\x00\x00", b"\x00\x01", b"a", b"\xff"]),
    ("boolean", [None, False, True]),
    ("date", [None, datetime.date(1969, 1, 1), datetime.date(1970, 1, 1), datetime.date(2020, 5, 1)]),
    ("timestamp", [None, datetime.datetime(1969, 1, 1), datetime.datetime(2020, 5, 1), datetime.datetime(2020, 5, 1, 1)]),
    ("timestamp_ntz", [None, datetime.datetime(1969, 1, 1), datetime.datetime(2020, 5, 1), datetime.datetime(2020, 5, 1, 1)]),
    ("decimal(20,2)", [None, decimal.Decimal("-7.50"), decimal.Decimal("0.00"), decimal.Decimal("12.25")]),
]  # fmt: skip


@pytest.mark.parametrize("kind, values", VALUES, ids=[kind for kind, _ in VALUES])
@pytest.mark.parametrize("keep", ["first", "last"])
def test_rank_keys_sort_as_their_columns(sail: Any, kind: str, values: list[Any], keep: str) -> None:
    from minwise.spark import _job, _rows, _shelves

    rows = [(f"a text number {at}", str(at * 2 + more), value, more) for at, value in enumerate(values) for more in (0, 1)]
    df = sail.createDataFrame(rows, f"text string, id string, o {kind}, p long").repartition(3)
    ready = _job._Ready(df, None, "text", "id", ["o", "p"], {"keep": keep}, None, False, "test")
    assert ready.columns == _rows.Columns("text", "id", ("o", "p"), ())
    sketched = _shelves.sketch_rows(df, None, ready.columns, ready.job).select("rank", "id").collect()
    order = [int(row["id"]) for row in sorted(sketched, key=lambda row: bytes(row["rank"]))]
    expected = list(range(len(rows)))
    assert order == (expected if keep == "first" else expected[::-1])


def test_a_second_reading_makes_the_same_rank_keys(sail: Any, tmp_path: Path) -> None:
    check_second_reading(sail, tmp_path / "work")


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_fractions_of_seconds_decide_which_row_is_newest(sail: Any, tmp_path: Path, kind: str) -> None:
    when = [datetime.datetime(2020, 5, 1, 1, 0, 0, micros) for micros in (250_000, 750_001, 750_000)]
    rows = [(str(at), "to be or not to be", at, time) for at, time in enumerate(when)]
    df = sail.createDataFrame(rows, f"id string, text string, row long, time {kind}")
    result = minwise.spark.dedup(df, text="text", order_by="row", keep="newest:time", work=str(tmp_path / "work"))
    assert [row["id"] for row in result.kept.collect()] == ["1"]


def test_references_need_no_ids(sail: Any, tmp_path: Path) -> None:
    df = sail.createDataFrame([("x", "to be or not to be", 0), ("y", "that is it", 1)], "id string, text string, row long")
    against = sail.createDataFrame([("To be or not to be", 0)], "text string, row long")
    result = minwise.spark.dedup(df, text="text", order_by="row", against=against, work=str(tmp_path / "work"))
    assert list(decided_by(result)) == ["x"]
    assert [tuple(row) for row in result.kept.collect()] == [("y", "that is it", 1)]


def test_columns_of_lists_do_not_order_rows(sail: Any, tmp_path: Path) -> None:
    df = sail.createDataFrame([("a b c", ["x"])], "text string, tags array<string>")
    with pytest.raises(Exception, match="order_by"):
        minwise.spark.dedup(df, text="text", order_by="tags", work=str(tmp_path / "work"))


def test_an_empty_input(sail: Any, tmp_path: Path) -> None:
    df = sail.createDataFrame([], "text string, row long")
    result = minwise.spark.dedup(df, order_by="row", work=str(tmp_path / "work"))
    assert decided_by(result) == {} and result.kept.count() == 0 and result.summary.read == 0


def test_columns_of_rows_come_back_as_they_were(sail: Any, tmp_path: Path) -> None:
    rows = [("x", ["a", "b"], {"k": 1}, "to be or not to be", 1), ("y", [], {}, "To be or not to be", 2), ("z", None, None, None, 3)]
    schema = "id string, tags array<string>, more map<string,long>, body string, row long"
    df = sail.createDataFrame(rows, schema)
    result = minwise.spark.dedup(df, text="body", order_by="row", work=str(tmp_path / "work"))
    assert result.kept.schema == df.schema
    assert sorted(result.kept.collect()) == sorted(df.where("id <> 'y'").collect())
    assert result.removed.collect() == df.where("id = 'y'").collect()
    annotated = {row["id"]: (row["duplicate_of"], row["similarity"]) for row in result.annotated.collect()}
    assert annotated == {"x": (None, None), "y": ("x", 1.0), "z": (None, None)}


def test_columns_that_are_added_must_be_new(sail: Any, tmp_path: Path) -> None:
    from minwise.spark import __main__ as program

    for name in ("similarity", "Duplicate_of"):
        df = sail.createDataFrame([("to be or not to be", 1, 0.5)], f"text string, row long, {name} double")
        work = tmp_path / name
        result = minwise.spark.dedup(df, text="text", order_by="row", work=str(work), audit="off")
        assert result.kept.columns == df.columns
        with pytest.raises(minwise.SettingError, match=f"`annotated`: the input has a column `{name}`"):
            _ = result.annotated
        # The program raises the error before it computes anything.
        df.write.parquet(str(tmp_path / f"{name}.parquet"))
        words = ["--input", tmp_path / f"{name}.parquet", "--output", tmp_path / "out", "--work", tmp_path / "program", "--order-by", "row", "--annotate"]
        with pytest.raises(minwise.SettingError, match=f"`annotated`: the input has a column `{name}`"):
            program._run(program.parser().parse_args([str(word) for word in words]), sail)
        assert not (tmp_path / "program").exists()


@pytest.mark.parametrize("keep", ["priority:n=2,1", "priority:small=0.5,3", "priority:d=2.50", "newest:n", "newest:year", "priority:truth=true", "priority:whole=3"])
def test_values_of_tables_are_those_of_the_command(sail: Any, command: Command, tmp_path: Path, keep: str) -> None:
    """The command writes a whole number of a column of floating-point numbers without a point, and Spark with one."""
    source = random.Random(43)
    rows = rows_of(generated(80))
    numbers = [source.choice([None, 0.5, 1.0, 2.0, 3.0, 1e10, float("nan")]) for _ in rows]
    table = pa.table({
        **{name: [row[name] for row in rows] for name in ("id", "text", "row")},
        "n": pa.array(numbers, pa.float64()),
        "small": pa.array(numbers, pa.float32()),
        "d": pa.array([source.choice([None, decimal.Decimal("2.50"), decimal.Decimal("3.00")]) for _ in rows], pa.decimal128(6, 2)),
        # As years, these numbers are far apart; as seconds since 1970, all of them are in one hour.
        "year": pa.array([source.choice([1969.0, 2024.0, 86400.5, 2030.5]) for _ in rows], pa.float64()),
        "truth": pa.array([source.choice([None, True, False]) for _ in rows]),
        "whole": pa.array([source.randrange(5) for _ in rows], pa.int16()),
    })  # fmt: skip
    # Spark writes small decimals as integers, too. The command refuses others.
    pq.write_table(table, tmp_path / "in.parquet", store_decimal_as_integer=True)
    command("dedup", tmp_path / "in.parquet", "--output", tmp_path / "out.parquet", "--keep", keep)
    df = sail.read.parquet(str(tmp_path / "in.parquet"))
    result = minwise.spark.dedup(df, text="text", order_by="row", keep=keep, work=str(tmp_path / "work"))
    kept = set(pq.read_table(tmp_path / "out.parquet")["id"].to_pylist())
    assert {row["id"] for row in result.kept.collect()} == kept and len(kept) < len(rows)


@pytest.mark.parametrize("keep", ["newest:time", "oldest:time", "newest:day"])
def test_times_without_a_zone_are_those_of_the_command(sail: Any, command: Command, tmp_path: Path, keep: str) -> None:
    source = random.Random(31)
    rows = rows_of(generated(80))
    base = datetime.datetime(1969, 12, 31, 12)
    for row in rows:
        row["time"] = base + datetime.timedelta(microseconds=source.randrange(10**11))
        row["day"] = row["time"].date()
    table = pa.table({
        "id": [row["id"] for row in rows],
        "text": [row["text"] for row in rows],
        "row": [row["row"] for row in rows],
        "time": pa.array([row["time"] for row in rows], pa.timestamp("us")),
        "day": pa.array([row["day"] for row in rows], pa.date32()),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "in.parquet")
    command("dedup", tmp_path / "in.parquet", "--output", tmp_path / "out.parquet", "--keep", keep)
    df = sail.read.parquet(str(tmp_path / "in.parquet"))
    assert dict(df.dtypes)["time"] == "timestamp_ntz"
    result = minwise.spark.dedup(df, text="text", order_by="row", keep=keep, work=str(tmp_path / "work"))
    kept = set(pq.read_table(tmp_path / "out.parquet")["id"].to_pylist())
    assert {row["id"] for row in result.kept.collect()} == kept and len(kept) < len(rows)


def test_names_of_columns_with_dots_and_names_of_the_job(sail: Any, tmp_path: Path) -> None:
    rows = [("x", 1, "to be or not to be", 7, 8), ("y", 2, "To be or not to be", 7, 8), ("z", 3, "that is it", 7, 8)]
    df = sail.createDataFrame(rows, "`my.id` string, `a.row` long, `the.text` string, _minwise_rank long, c1 long")
    settings: dict[str, Any] = {"text": "the.text", "id": "my.id", "order_by": "a.row"}
    result = minwise.spark.dedup(df, work=str(tmp_path / "work"), **settings)
    assert decided_by(result) == {"y": ("x", 1.0)}
    assert result.kept.schema == df.schema
    assert sorted(tuple(row) for row in result.kept.collect()) == [rows[0], rows[2]]
    assert [tuple(row) for row in result.removed.collect()] == [rows[1]]
    assert result.annotated.columns == [*df.columns, "duplicate_of", "similarity"]
    assert [tuple(row) for row in result.annotated.where("duplicate_of is not null").collect()] == [(*rows[1], "x", 1.0)]
    result.report(tmp_path / "report")
    # If no column has the name `meta.text`, the name means the field `text` of the column `meta`.
    nested = df.selectExpr("`my.id` as id", "named_struct('text', `the.text`, 'row', `a.row`) as meta")
    result = minwise.spark.dedup(nested, text="meta.text", order_by="meta.row", work=str(tmp_path / "nested"))
    assert decided_by(result) == {"y": ("x", 1.0)}


def test_two_columns_of_one_name_are_refused(sail: Any, tmp_path: Path) -> None:
    df = sail.createDataFrame([("a b c", 1, 2)], "text string, row long, n long").selectExpr("text", "row", "n", "row as n")
    with pytest.raises(minwise.SettingError, match="two columns are called `n`"):
        minwise.spark.dedup(df, text="text", order_by="row", work=str(tmp_path / "work"))


@pytest.mark.parametrize("keep", ["longest", "shortest;last", "first"])
def test_lengths_alone_do_not_order_rows(sail: Any, tmp_path: Path, keep: str) -> None:
    df = sail.createDataFrame(rows_of(["one text here", "another text there"]))
    with pytest.raises(minwise.SettingError, match="`order_by`.*needs an order") as raised:
        minwise.spark.dedup(df, text="text", keep=keep, work=str(tmp_path / "work"))
    assert raised.value.hint
    # Without `order_by`, the field of `keep` must rank all rows differently. If it does not, the message states that
    # `order_by` is missing.
    result = minwise.spark.dedup(df, text="text", keep="max:row", work=str(tmp_path / "fields"))
    assert result.summary.read == 2
    with pytest.raises(minwise.SettingError, match="`order_by`: there is none.*`d0` and `d1`"):
        minwise.spark.dedup(df.selectExpr("id", "text", "1 as row"), text="text", keep="max:row", work=str(tmp_path / "same"))


def test_names_of_repeated_ids_are_those_of_the_package(sail: Any, tmp_path: Path) -> None:
    """New names of repeated ids are those of the package: a name that a row has already is skipped."""
    ids = ["a", "a#2", "a", "b", "b", "b", "b#3", "a", "c#2", "c#2", "c", "c", "a#02", "a#4x"]
    text = "to be or not to be"
    rows = [{"id": id, "text": text, "row": row} for row, id in enumerate(ids)]
    expected = {one.id: one.duplicate_of for one in minwise.dedup(rows, text="text", id="id").decisions}
    result = minwise.spark.dedup(sail.createDataFrame(rows), text="text", order_by="row", work=str(tmp_path / "work"))
    assert {id: of for id, (of, _) in decided_by(result).items()} == expected
    assert "a#3" in expected and "b#4" in expected and len(expected) == len(ids) - 1
    # References come first, so a reference keeps its id, and the rows with the same id are renamed.
    against = [{"id": "b", "text": "that is it", "row": 0}, {"id": "a#3", "text": "nothing else", "row": 1}]
    expected = {one.id: one.duplicate_of for one in minwise.dedup(rows, text="text", id="id", against=against).decisions}
    result = minwise.spark.dedup(
        sail.createDataFrame(rows), text="text", order_by="row", against=sail.createDataFrame(against), work=str(tmp_path / "against")
    )
    assert {id: of for id, (of, _) in decided_by(result).items()} == expected
