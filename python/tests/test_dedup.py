"""Tests of `dedup` and `pairs` with every supported type of data."""

from __future__ import annotations

import datetime
import gc
import json
import os
import pickle
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import minwise

ROSES = ["a rose is a rose is a rose", "A rose is a rose is a rose!", "a daffodil is no rose at all", "A rose is a rose, is a rose"]


def kinds() -> dict[str, Callable[[list[Any]], Any]]:
    """Returns a function per way of passing one column of texts."""
    import pandas
    import polars
    import pyarrow

    return {
        "list": list,
        "tuple": tuple,
        "numpy object": lambda texts: numpy.array(texts, dtype=object),
        "pandas": lambda texts: pandas.Series(texts, index=range(7, 7 + len(texts))),
        "pandas object": lambda texts: pandas.Series(texts, dtype=object),
        "polars": lambda texts: polars.Series("t", texts, dtype=polars.String),
        "pyarrow": lambda texts: pyarrow.array(texts, type=pyarrow.string()),
        "pyarrow chunks": lambda texts: pyarrow.chunked_array(
            [pyarrow.array(texts[:2], type=pyarrow.string()), pyarrow.array(texts[2:], type=pyarrow.string())]
        ),
        # Columns of string views take another path through the code, because pyarrow cannot filter them.
        "pyarrow views": lambda texts: pyarrow.array(texts, type=pyarrow.string_view()),
        "pyarrow chunks of views": lambda texts: pyarrow.chunked_array(
            [pyarrow.array(some, type=pyarrow.string_view()) for some in (texts[:2], texts[2:])]
        ),
        "pandas index": lambda texts: pandas.Index(texts, dtype=object),
    }


def tables() -> dict[str, Callable[[dict[str, list[Any]]], Any]]:
    """Returns a function per way of passing a table."""
    import datasets
    import duckdb
    import pandas
    import polars
    import pyarrow

    def relation(columns: dict[str, list[Any]]) -> Any:
        table = pyarrow.table(columns)
        return duckdb.from_arrow(table)

    def views(columns: dict[str, list[Any]]) -> Any:
        table = pyarrow.table(columns)
        fields = [field.with_type(pyarrow.string_view()) if field.type == pyarrow.string() else field for field in table.schema]
        return table.cast(pyarrow.schema(fields))

    def reversed_dataset(columns: dict[str, list[Any]]) -> Any:
        # `select` gives the dataset a list of indices, so that the order of its rows differs from that of its table.
        backwards = {name: column[::-1] for name, column in columns.items()}
        dataset = datasets.Dataset.from_dict(backwards)
        return dataset.select(range(len(dataset) - 1, -1, -1))

    return {
        "records": lambda columns: [dict(zip(columns, row)) for row in zip(*columns.values())],
        "pandas": pandas.DataFrame,
        "polars": polars.DataFrame,
        "polars lazy": lambda columns: polars.DataFrame(columns).lazy(),
        "pyarrow": pyarrow.table,
        "pyarrow batch": pyarrow.RecordBatch.from_pydict,
        "pyarrow views": views,
        "pyarrow batch of views": lambda columns: views(columns).to_batches()[0],
        "duckdb": relation,
        "datasets": datasets.Dataset.from_dict,
        "datasets with indices": reversed_dataset,
    }


def as_list(data: Any) -> list[Any]:
    if hasattr(data, "collect"):
        data = data.collect()
    if hasattr(data, "fetchall"):
        return [row for row in data.fetchall()]
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(data, method):
            return list(getattr(data, method)())
    return list(data)


def rows(data: Any) -> list[dict[str, Any]]:
    if hasattr(data, "collect"):
        data = data.collect()
    if hasattr(data, "fetchall"):
        return [dict(zip(data.columns, row)) for row in data.fetchall()]
    if hasattr(data, "to_dicts"):
        return list(data.to_dicts())
    if hasattr(data, "to_pylist"):
        return list(data.to_pylist())
    if hasattr(data, "to_dict") and hasattr(data, "iloc"):
        return list(data.to_dict("records"))
    return [dict(row) for row in data]


@pytest.mark.parametrize("kind", kinds())
def test_rows_come_back_in_the_type_that_came_in(kind: str) -> None:
    texts = [*ROSES, None, "Ünrelated wörds about the weather"]
    data = kinds()[kind](texts)
    result = minwise.dedup(data)
    assert type(result.kept) is type(data)
    assert as_list(result.kept)[:2] == [ROSES[0], ROSES[2]]
    assert len(result.kept) == 4 and len(result.removed) == 2
    assert as_list(result.removed) == [ROSES[1], ROSES[3]]
    assert result.kept_mask.tolist() == [True, False, True, False, True, True]
    assert result.kept_indices.tolist() == [0, 2, 4, 5]
    assert [(d.id, d.duplicate_of, d.similarity) for d in result.decisions] == [(1, 0, 1.0), (3, 0, 1.0)]
    assert result.summary.nulls == 1
    assert len(minwise.pairs(data)) == 3
    if kind in ("pandas", "pandas object"):
        assert list(result.kept.index) == [data.index[at] for at in (0, 2, 4, 5)]


@pytest.mark.parametrize("kind", tables())
def test_tables_come_back_as_tables(kind: str, tmp_path: Path) -> None:
    columns = {
        "id": ["a", "b", "c", "d"],
        "body": ROSES,
        "score": [1.5, 2.5, 3.5, 0.5],
        "date": ["2024-01-01", "2024-01-03", "2024-01-02", "2024-01-09"],
    }
    data = tables()[kind](columns)
    result = minwise.dedup(data, text="body")
    assert type(result.kept) is type(data)
    assert [row["id"] for row in rows(result.kept)] == ["a", "c"]
    assert [row["score"] for row in rows(result.removed)] == [2.5, 0.5]
    assert [(d.id, d.duplicate_of) for d in result.decisions] == [("b", "a"), ("d", "a")]
    assert result.clusters == (minwise.Cluster("a", ("b", "d")),)
    assert result.explain("d").similarity == 1.0
    # A keeper policy may read other columns than the text.
    best = minwise.dedup(data, text="body", keep="max:score")
    assert [row["id"] for row in rows(best.kept)] == ["b", "c"]
    newest = minwise.dedup(data, text="body", keep=["newest:date", "max:score"])
    assert [row["id"] for row in rows(newest.kept)] == ["c", "d"]
    result.report(tmp_path / "report")
    assert (tmp_path / "report/pairs.tsv").read_text().splitlines()[-1].split("\t")[0] in ("b", "d")
    # Two columns can be joined to one text.
    assert len(minwise.dedup(data, text="body,date").decisions) == 0
    found = minwise.pairs(data, text="body", of=["d"])
    assert [(pair.first, pair.second) for pair in found] == [("a", "d"), ("b", "d")]


@pytest.mark.parametrize("kind", ["records", "pandas", "polars", "polars lazy", "pyarrow", "duckdb", "datasets"])
def test_the_text_column_is_found(kind: str) -> None:
    make = tables()[kind]
    assert len(minwise.dedup(make({"number": [1, 2, 3, 4], "body": ROSES})).decisions) == 2
    assert len(minwise.dedup(make({"text": ROSES, "other": ["x"] * 4})).decisions) == 2
    with pytest.raises(minwise.SettingError, match="'first'") as caught:
        minwise.dedup(make({"first": ROSES, "second": ROSES}))
    assert "second" in str(caught.value)
    with pytest.raises(minwise.SettingError, match="no column 'boddy'"):
        minwise.dedup(make({"body": ROSES}), text="boddy")
    if kind != "records":
        with pytest.raises(minwise.SettingError, match="no column 'key'"):
            minwise.dedup(make({"body": ROSES}), id="key")


def test_ids_may_be_numbers_or_repeat_or_come_beside() -> None:
    import pyarrow

    table = pyarrow.table({"id": [7, 7, 8, 7], "text": ROSES})
    result = minwise.dedup(table)
    assert [(d.id, d.duplicate_of) for d in result.decisions] == [("7#2", 7), ("7#3", 7)]
    result = minwise.dedup(ROSES, id=["x", "y", "y", None])
    assert [(d.id, d.duplicate_of) for d in result.decisions] == [("y", "x"), (3, "x")]
    with pytest.raises(minwise.SettingError, match="2 ids for 4 texts"):
        minwise.dedup(ROSES, id=["x", "y"])
    with pytest.raises(minwise.SettingError, match="no columns"):
        minwise.dedup(ROSES, id="x")
    assert [d.id for d in minwise.dedup(table, id=["p", "q", "r", "s"]).decisions] == ["q", "s"]


def test_a_generator_is_spooled_and_streams_back(tmp_path: Path) -> None:
    def stream() -> Iterator[str | None]:
        yield from ROSES
        yield None
        yield "lone \ud800 surrogate"

    with pytest.warns(minwise.MinwiseWarning, match="surrogate"):
        opened = minwise.dedup(stream(), temp_dir=tmp_path)
    with opened as result:
        assert len(os.listdir(tmp_path)) == 1
        kept = result.kept
        assert len(kept) == 4
        assert list(kept) == list(kept) == [ROSES[0], ROSES[2], None, "lone \ud800 surrogate"]
        assert list(result.removed) == [ROSES[1], ROSES[3]]
        assert result.summary.repaired == 1 and result.summary.nulls == 1
        assert result.explain(3).similarity == 1.0
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="closed"):
        list(kept)
    result = minwise.dedup(iter(ROSES), temp_dir=tmp_path)
    assert len(os.listdir(tmp_path)) == 1
    del result, opened
    gc.collect()
    assert os.listdir(tmp_path) == []
    with pytest.raises(TypeError, match=r"data\[1\] is int"):
        minwise.dedup((item for item in ["a", 1]), temp_dir=tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_generator_of_records() -> None:
    day = datetime.date(2024, 1, 5)
    data = ({"body": text, "when": day + datetime.timedelta(days=at)} for at, text in enumerate(ROSES))
    with minwise.dedup(data, text="body", keep="newest:when") as result:
        assert [row["when"] for row in result.kept] == ["2024-01-07", "2024-01-08"]


def test_nulls() -> None:
    texts = ["a", None, "b"]
    assert minwise.dedup(texts).kept == texts
    rejecting = minwise.dedup(texts, null="reject")
    assert rejecting.kept == ["a", "b"] and rejecting.removed == []
    assert [(r.position, r.reason) for r in rejecting.rejects] == [(1, "null")]
    with pytest.raises(minwise.RejectedRecords):
        minwise.dedup(texts, null="error")
    with pytest.raises(minwise.SettingError, match="`null`"):
        minwise.dedup(texts, null="never")


def test_missing_values_of_pandas() -> None:
    import pandas

    for dtype in (object, "string", "str"):
        series = pandas.Series(["a", None, "b", float("nan") if dtype is object else None], dtype=dtype)
        assert minwise.dedup(series).summary.nulls == 2


def test_rejects_do_not_raise() -> None:
    data = [{"text": "a"}, {"body": "b"}, {"text": "c"}]
    result = minwise.dedup(data, text="text")
    assert result.kept == [data[0], data[2]]
    [reject] = result.rejects
    assert reject.position == 1 and reject.reason and "text" in reject.message
    with pytest.raises(minwise.RejectedRecords):
        minwise.dedup(data, text="text", max_rejects=0)


def test_against(tmp_path: Path) -> None:
    import polars

    reference = [ROSES[0], "something else"]
    result = minwise.dedup(ROSES, against=reference)
    assert result.kept == [ROSES[2]]
    assert [(d.id, d.duplicate_of, d.duplicate_of_position) for d in result.decisions][0] == (0, "against:1", None)
    assert result.explain(0).similarity == 1.0
    path = tmp_path / "reference.jsonl"
    path.write_text(json.dumps({"id": "r", "text": ROSES[0]}) + "\n")
    for given in (str(path), path, [path]):
        assert minwise.dedup(ROSES, against=given).decisions[0].duplicate_of == "r"
    frame = polars.DataFrame({"body": ROSES})
    assert minwise.dedup(frame, against=polars.DataFrame({"body": reference, "more": [1, 2]})).kept.height == 1
    assert minwise.dedup(frame, against=(text for text in reference)).kept.height == 1


def test_restore_explain_and_report(texts: list[str], tmp_path: Path) -> None:
    result = minwise.dedup(texts)
    assert 0 < len(result.decisions) < len(texts)
    restored = result.restore(below=0.999)
    assert len(restored.decisions) < len(result.decisions)
    assert all(decision.similarity >= 0.999 for decision in restored.decisions)
    assert len(restored.kept) == len(texts) - len(restored.decisions)
    assert len(result.kept) == len(texts) - len(result.decisions)
    assert result.restore(below=0.0).decisions == result.decisions
    for decision in result.decisions[:5]:
        comparison = result.explain(decision.id, passages=2)
        assert comparison.similarity == decision.similarity
        assert comparison.passages
    with pytest.raises(KeyError, match="no document with the id"):
        result.explain(result.kept_indices[0])
    result.report(tmp_path / "report")
    assert (tmp_path / "report/index.html").exists()
    with pytest.raises(minwise.InputError):
        result.report(tmp_path / "report")
    result.report(tmp_path / "report", force=True)


def test_a_result_is_pickled_without_its_rows(texts: list[str]) -> None:
    result = minwise.dedup(texts, against=[texts[0]])
    copy = pickle.loads(pickle.dumps(result))
    assert copy.decisions == result.decisions and copy.summary == result.summary
    assert (copy.kept_mask == result.kept_mask).all()
    assert len(copy.restore(below=1.0).decisions) <= len(copy.decisions)
    with pytest.raises(minwise.MinwiseError, match="no rows"):
        copy.kept
    with pytest.raises(minwise.MinwiseError, match="texts are gone"):
        copy.explain(copy.decisions[0].id)
    state = result.__getstate__()
    with pytest.raises(ValueError, match="version 99"):
        minwise.Dedup.__new__(minwise.Dedup).__setstate__({**state, "version": 99})


def test_decisions_are_a_table(texts: list[str]) -> None:
    import pandas
    import polars
    import pyarrow

    result = minwise.dedup(texts)
    frame = pandas.DataFrame(result.decisions)
    assert list(frame.columns) == ["id", "duplicate_of", "similarity", "position", "duplicate_of_position"]
    assert len(frame) == len(result.decisions)
    table = pyarrow.table(result.decisions)
    assert table.column("similarity").to_pylist() == [d.similarity for d in result.decisions]
    assert polars.DataFrame(result.decisions)["duplicate_of"].to_list() == [d.duplicate_of for d in result.decisions]
    pairs = minwise.pairs(texts)
    assert pyarrow.table(pairs).num_rows == len(pairs)
    assert result.decisions[-1] == result.decisions[len(result.decisions) - 1]
    assert result.decisions[:2] == list(result.decisions)[:2]
    with pytest.raises(IndexError):
        result.decisions[len(result.decisions)]


def test_pairs_hold_for_both_ways(texts: list[str]) -> None:
    found = minwise.pairs(texts, candidates="all")
    for pair in found[:20]:
        assert minwise.compare(texts[pair.first], texts[pair.second]).similarity == pair.similarity >= 0.8
    some = minwise.pairs(texts, of=[found[0].first], candidates="all")
    assert {(p.first, p.second) for p in some} == {
        (p.first, p.second) for p in found if found[0].first in (p.first, p.second)
    }
    with pytest.raises(KeyError):
        minwise.pairs(texts, of=[len(texts)])


def test_settings_in_the_spec_and_beside_it_are_refused() -> None:
    with pytest.raises(minwise.SettingError, match="`shingle`, `seed`: `spec` says it already") as caught:
        minwise.dedup(ROSES, spec="none / words:2 / minhash:64 / seed:1", shingle="words:3", seed=2)
    assert caught.value.settings == ("shingle", "seed")
    with pytest.raises(minwise.SettingError, match="`recall`"):
        minwise.dedup(ROSES, recall=0.9, bands=4, rows=4)
    with pytest.raises(minwise.SettingError, match="needs `rows`"):
        minwise.dedup(ROSES, bands=4)
    spec = minwise.Spec("none / words:2 / minhash:64 / seed:1")
    assert minwise.dedup(ROSES, spec=spec).summary.spec == str(spec)


def test_summary_has_the_fields_of_the_report(texts: list[str], tmp_path: Path) -> None:
    result = minwise.dedup(texts)
    result.report(tmp_path / "report")
    written = json.loads((tmp_path / "report/summary.json").read_text())
    assert result.summary.as_dict() == written
    annotated = set(minwise.Summary.__annotations__)
    assert annotated == set(written)
    with pytest.raises(AttributeError):
        result.summary.nonsense


def test_results_show_themselves(texts: list[str]) -> None:
    result = minwise.dedup([*texts, "<script>alert(1)</script> one two three", "<script>alert(1)</script> one two three"], id=[*map(str, range(len(texts))), "<b>", "<i>"])
    html = result._repr_html_()
    assert "<script" not in html
    first = minwise.dedup(["one two three", "one two three"], id=["<b>", "<i>"])._repr_html_()
    assert "kept, 1 removed, 0 rejected; threshold 0.8, expected recall 100 %<br>" in first
    assert "<td>99." in minwise.plan(0.8)._repr_html_() and "recall at the threshold" in minwise.plan(0.8)._repr_html_()
    assert "&lt;b&gt;" in first and "&lt;i&gt;" in first and "<i>" not in first
    assert repr(result).startswith("Dedup(122 documents: ")
    assert repr(result.summary).startswith("Summary(read=122")


def test_weights_and_ignored_texts(tmp_path: Path) -> None:
    form = "please fill in this form and send it back to us"
    texts = [f"{form} roses are red", f"{form} violets are blue and so on"]
    assert len(minwise.dedup(texts, shingle="words:1", threshold=0.5).decisions) == 1
    assert len(minwise.dedup(texts, shingle="words:1", threshold=0.5, ignore_text=[form]).decisions) == 0
    path = tmp_path / "form.txt"
    path.write_text(form)
    assert len(minwise.dedup(texts, shingle="words:1", threshold=0.5, ignore_text=path).decisions) == 0
    assert minwise.dedup(ROSES, weight="tf-idf").summary.spec.endswith("weight:tf-idf / table:" + minwise.dedup(ROSES, weight="tf-idf").summary.spec[-16:])


def test_nan_in_records_is_null() -> None:
    rows = [{"text": "a b c", "rank": float("nan")}, {"text": "A b c", "rank": 2.0}, {"text": float("nan"), "rank": 1.0}]
    for data in (rows, iter(rows)):
        with pytest.warns(minwise.MinwiseWarning, match="ranks last by `max:rank`"):
            result = minwise.dedup(data, text="text", shingle="words:1", keep="max:rank")
        with result:
            assert [row["rank"] for row in result.kept] == [2.0, 1.0]
            assert len(result.rejects) == 0 and result.summary.nulls == 1


def test_ids_beside_records_are_counted() -> None:
    with pytest.raises(minwise.SettingError, match="2 ids for 1 texts"):
        minwise.dedup([{"text": "a b c"}], id=["x", "y"])


def ids_of(result: Any) -> list[tuple[Any, Any]]:
    return [(decision.id, decision.duplicate_of) for decision in result.decisions]


WAYS_WITH_IDS: dict[str, Callable[[list[Any], list[str], list[int]], tuple[Any, dict[str, Any]]]] = {
    "list": lambda ids, texts, rank: (texts, {"id": ids}),
    "generator": lambda ids, texts, rank: (iter(texts), {"id": ids}),
    "records": lambda ids, texts, rank: ([{"id": i, "text": t, "rank": r} for i, t, r in zip(ids, texts, rank)], {}),
    "generator of records": lambda ids, texts, rank: (
        ({"id": i, "text": t, "rank": r} for i, t, r in zip(ids, texts, rank)),
        {},
    ),
    "records with ids beside": lambda ids, texts, rank: ([{"text": t, "rank": r} for t, r in zip(texts, rank)], {"id": ids}),
    "pyarrow": lambda ids, texts, rank: (
        __import__("pyarrow").table({"id": list(map(str, ids)), "text": texts, "rank": rank}),
        {},
    ),
    "polars": lambda ids, texts, rank: (
        __import__("polars").DataFrame({"id": list(map(str, ids)), "text": texts, "rank": rank}),
        {},
    ),
}


@pytest.mark.parametrize("way", WAYS_WITH_IDS)
def test_repeated_ids_are_numbered_in_keeper_order(way: str, tmp_path: Path) -> None:
    texts = [f"a rose is a rose {'and so on ' * at}" for at in (1, 4, 2, 3)]
    ids = ["x", "x", "y", "x"]
    make = WAYS_WITH_IDS[way]
    for keep, named in (
        ("first", ["x", "x#2", "y", "x#3"]),
        ("last", ["x#3", "x#2", "y", "x"]),
        ("longest", ["x#3", "x", "y", "x#2"]),
        ("max:rank", ["x#2", "x#3", "y", "x"]),
    ):
        if keep == "max:rank" and way in ("list", "generator"):
            continue
        data, beside = make(ids, texts, [2, 1, 9, 3])
        with minwise.dedup(data, keep=keep, threshold=0.01, shingle="words:1", candidates="all", **beside) as result:
            keeper = {"first": 0, "last": 3, "longest": 1, "max:rank": 2}[keep]
            removed = [at for at in range(4) if at != keeper]
            assert ids_of(result) == [(named[at], named[keeper]) for at in removed], keep
            for at in removed:
                assert result.explain(named[at]).similarity > 0
            folder = tmp_path / keep.replace(":", "-")
            result.report(folder)
            lines = (folder / "pairs.tsv").read_text().splitlines()
            assert {tuple(line.split("\t")[:2]) for line in lines[-3:]} == {(named[at], named[keeper]) for at in removed}
            assert str(tmp_path) not in (folder / "pairs.tsv").read_text()


def test_a_number_that_an_id_has_already_is_left_out() -> None:
    result = minwise.dedup([ROSES[0]] * 4, id=["x", "x", "x#2", "x"])
    assert ids_of(result) == [("x#3", "x"), ("x#2", "x"), ("x#4", "x")]


def test_the_same_id_in_data_and_reference() -> None:
    rows = [{"id": "r", "text": ROSES[0]}]
    result = minwise.dedup(rows, against=rows)
    assert ids_of(result) == [("r#2", "r")]


@pytest.mark.parametrize("way", WAYS_WITH_IDS)
def test_pairs_of_some_documents(way: str) -> None:
    make = WAYS_WITH_IDS[way]
    data, beside = make(["p", "q", "r", "s"], ROSES, [1, 2, 3, 4])
    found = minwise.pairs(data, of=["s"], **beside)
    assert [(pair.first, pair.second) for pair in found] == [("p", "s"), ("q", "s")]
    data, beside = make(["p", "q", "r", "q"], ROSES, [1, 2, 3, 4])
    found = minwise.pairs(data, of="q", **beside)
    assert [(pair.first, pair.second) for pair in found] == [("p", "q"), ("p", "q#2"), ("q", "q#2")]


@pytest.mark.parametrize("way", ["list", "generator", "records", "generator of records"])
def test_pairs_of_some_positions(way: str) -> None:
    make: dict[str, Callable[[], Any]] = {
        "list": lambda: ROSES,
        "generator": lambda: iter(ROSES),
        "records": lambda: [{"text": text} for text in ROSES],
        "generator of records": lambda: ({"text": text} for text in ROSES),
    }
    found = minwise.pairs(make[way](), of=[3])
    assert [(pair.first, pair.second) for pair in found] == [(0, 3), (1, 3)]
    assert [pair.second for pair in minwise.pairs(make[way](), of=1)] == [1, 3]
    with pytest.raises(KeyError):
        minwise.pairs(make[way](), of=[4])
    with pytest.raises(TypeError, match=r"of\[0\] is str"):
        minwise.pairs(make[way](), of=["x"])


def test_documents_without_an_id_go_by_position() -> None:
    rows = [{"id": "a", "text": ROSES[0]}, {"text": ROSES[1]}, {"id": None, "text": ROSES[3]}]
    for data in (rows, iter(rows)):
        with minwise.dedup(data) as result:
            assert ids_of(result) == [(1, "a"), (2, "a")]
    assert [(pair.first, pair.second) for pair in minwise.pairs(rows, of=[2])] == [("a", 2), (1, 2)]


def test_no_temporary_path_is_shown(tmp_path: Path) -> None:
    def never(text: Any) -> None:
        assert str(tmp_path) not in str(text) and "minwise-" not in str(text), text

    rows = [{"text": text} for text in ROSES]
    for data in (iter(ROSES), rows, iter(rows)):
        for against in (iter([ROSES[0]]), [{"text": ROSES[0]}], iter([{"text": ROSES[0]}])):
            with minwise.dedup(data, against=against, temp_dir=tmp_path) as result:
                assert result.decisions[0].duplicate_of == "against:1"
                result.report(tmp_path / "report", force=True)
                for file in (tmp_path / "report").iterdir():
                    never(file.read_text(encoding="utf-8"))
            data = rows
    bad = [{"text": ROSES[0], "rank": "no number"}, {"text": ROSES[0], "rank": 3}, {"other": 1}]
    with pytest.warns(minwise.MinwiseWarning) as caught:
        with minwise.dedup(iter(bad), text="text", keep="max:rank", temp_dir=tmp_path) as result:
            [reject] = result.rejects
    for text in (*(str(warning.message) for warning in caught), reject.message, reject.id):
        never(text)
    assert any("data:1" in str(warning.message) for warning in caught)
    with pytest.raises(minwise.MinwiseError) as error:
        minwise.dedup(iter([{"text": None}]), text="text", null="error", temp_dir=tmp_path)
    never(error.value)


def test_rows_of_a_stream_come_back_as_they_came_in() -> None:
    rows: list[dict[str, Any]] = [
        {"id": 7, "text": ROSES[0], "n": 1},
        {"id": None, "text": ROSES[2], "a.b": [1, {"c": None}]},
        {"text": "unrelated words are here", "id": "x"},
        {"text": "some other words are there"},
    ]
    with minwise.dedup(iter(rows)) as result:
        assert list(result.kept) == rows
    with minwise.dedup(iter(rows), id=[1, 2, 3, 4]) as result:
        assert list(result.kept) == rows
    odd = [{"a.b": text, "id": at} for at, text in enumerate(ROSES)]
    with minwise.dedup(iter(odd), text="a.b") as result:
        assert list(result.kept) == [odd[0], odd[2]] and ids_of(result) == [(1, 0), (3, 0)]
    named = [{"id": text, "n": at} for at, text in enumerate(ROSES)]
    with minwise.dedup(iter(named), text="id", id=["p", "q", "r", "s"]) as result:
        assert list(result.kept) == [named[0], named[2]] and ids_of(result) == [("q", "p"), ("s", "p")]


@pytest.mark.parametrize("name", ["a.b", "a,b", "a[0]", "a[]", ".", "^.*$", "a b", "Ä"])
@pytest.mark.parametrize("kind", ["records", "pandas", "polars", "polars lazy", "pyarrow", "pyarrow batch", "duckdb", "datasets"])
def test_any_name_of_a_column(kind: str, name: str) -> None:
    make = tables()[kind]
    columns = {"key.of": ["p", "q", "r", "s"], name: ROSES, "score": [1, 2, 3, 4]}
    for keep in (None, "max:score"):
        result = minwise.dedup(make(columns), text=name, id="key.of", keep=keep)
        assert ids_of(result) == ([("q", "p"), ("s", "p")] if keep is None else [("p", "s"), ("q", "s")])
        removed = [1, 3] if keep is None else [0, 1]
        assert [row[name] for row in rows(result.removed)] == [ROSES[at] for at in removed]
    # The only column of strings is found, and a reference has its text in the column of the same name.
    alone = make({name: ROSES, "score": [1, 2, 3, 4]})
    reference = make({name: [ROSES[0]], "score": [1]})
    assert len(minwise.dedup(alone).decisions) == 2
    assert len(minwise.dedup(alone, against=reference).decisions) == 3
    assert len(minwise.dedup(alone, against=[ROSES[2]]).decisions) == 3
    assert len(minwise.pairs(alone)) == 3


def test_a_reference_may_have_its_text_elsewhere() -> None:
    import pyarrow

    table = pyarrow.table({"body": [ROSES[0]]})
    assert minwise.dedup(ROSES, against=table).kept == [ROSES[2]]
    assert minwise.dedup(ROSES, against=[{"body": ROSES[0]}]).kept == [ROSES[2]]
    assert minwise.dedup(iter(ROSES), against=({"body": text} for text in ROSES[:1])).summary.kept == 1
    with pytest.raises(minwise.SettingError, match="means a path"):
        minwise.dedup(pyarrow.table({"a.b": ROSES}), text="a.b", against="file.jsonl")


def test_a_column_that_keep_names_must_be_there() -> None:
    import polars

    with pytest.raises(minwise.SettingError, match="`keep`: the DataFrame has no column 'rank'; its columns are 'text'"):
        minwise.dedup(polars.DataFrame({"text": ROSES}), keep="max:rank")


def test_missing_ids_of_every_library() -> None:
    import pandas
    import polars

    expected = [("b", "a"), (3, "a")]
    frames: list[Any] = [
        pandas.DataFrame({"id": pandas.array(["a", "b", pandas.NA, pandas.NA], dtype="string"), "text": ROSES}),
        pandas.DataFrame({"id": ["a", "b", float("nan"), None], "text": ROSES}),
        polars.DataFrame({"id": ["a", "b", None, None], "text": ROSES}),
    ]
    for frame in frames:
        assert ids_of(minwise.dedup(frame, text="text")) == expected
    assert ids_of(minwise.dedup(ROSES, id=["a", "b", pandas.NA, pandas.NaT])) == expected
    assert ids_of(minwise.dedup(ROSES, id=numpy.array([4.0, 5.0, numpy.nan, numpy.nan]))) == [(5.0, 4.0), (3, 4.0)]
    assert ids_of(minwise.dedup(ROSES, id=pandas.array([4, 5, None, None], dtype="Int64"))) == [(5, 4), (3, 4)]


def test_columns_of_nulls_and_of_categories() -> None:
    import pandas
    import polars
    import pyarrow

    nothing = polars.Series("text", [None, None])
    assert nothing.dtype == polars.Null
    for data in (nothing, nothing.to_frame(), pyarrow.nulls(2), pyarrow.table({"text": pyarrow.nulls(2)})):
        result = minwise.dedup(data, text=None if isinstance(data, (polars.Series, pyarrow.Array)) else "text")
        assert result.summary.nulls == 2 and len(result.kept) == 2
    assert minwise.Spec().sketch(nothing).has_shingles.tolist() == [False, False]
    kind = polars.Enum(sorted(set(ROSES)))
    for series in (polars.Series("t", ROSES, dtype=kind), polars.Series("t", ROSES, dtype=polars.Categorical)):
        assert minwise.dedup(series).kept.to_list() == [ROSES[0], ROSES[2]]
        frame = polars.DataFrame({"n": [1, 2, 3, 4], "t": series})
        assert minwise.dedup(frame).kept["t"].to_list() == [ROSES[0], ROSES[2]]
    numbers = pandas.DataFrame({"kind": pandas.Categorical([1, 2, 1, 2]), "body": ROSES})
    assert len(minwise.dedup(numbers).decisions) == 2
    with pytest.raises(TypeError, match=r"data\['kind'\]\[0\] is int"):
        minwise.dedup(numbers, text="kind")
    words = pandas.DataFrame({"body": pandas.Categorical(ROSES), "n": [1, 2, 3, 4]})
    assert len(minwise.dedup(words).decisions) == 2


def test_a_closed_result_lets_its_run_go() -> None:
    for data in (ROSES, iter(ROSES)):
        result = minwise.dedup(data, against=[ROSES[0]])
        restored = result.restore(below=0.5)
        run = weakref.ref(result._open())
        result.close()
        gc.collect()
        assert run() is None
        assert result.decisions[0].duplicate_of == "against:1"
        assert pickle.loads(pickle.dumps(result)).decisions == result.decisions
        for closed in (result, restored):
            with pytest.raises(minwise.MinwiseError, match="closed"):
                closed.explain(0)


def test_columns_fit_every_row() -> None:
    import pandas
    import polars

    rows = [*ROSES[:2], None, ROSES[2], "a lily"]
    result = minwise.dedup(rows, null="reject", against=["A lily!"], shingle="words:1")
    columns = result.columns()
    assert columns["kept"] == [True, False, False, True, False] == result.kept_mask.tolist()
    assert columns["duplicate_of"] == [None, 0, None, None, result.decisions[1].duplicate_of]
    assert columns["similarity"] == [None, 1.0, None, None, 1.0]
    # The third row was rejected, and the last row repeats a document of `against`.
    assert columns["cluster"] == [0, 0, None, 3, None]
    frame = pandas.DataFrame({"text": rows}, index=list("abcde")).assign(**columns)
    assert frame.loc["b", "similarity"] == 1.0 and frame["similarity"].isna().sum() == 3
    assert polars.DataFrame({"text": rows}).hstack(polars.DataFrame(columns, strict=False)).height == 5


def test_columns_of_data_without_duplicates() -> None:
    import pandas
    import polars

    texts = ["one text", "another text altogether"]
    columns = minwise.dedup(texts).columns()
    assert columns == {"kept": [True, True], "duplicate_of": [None] * 2, "similarity": [None] * 2, "cluster": [0, 1]}
    assert pandas.DataFrame({"text": texts}).assign(**columns)["similarity"].isna().all()
    assert polars.DataFrame(columns).height == 2
    assert minwise.dedup([]).columns()["kept"] == []
