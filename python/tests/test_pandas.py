"""Tests of pandas 2 and 3, with and without pyarrow.

The file requires no other library, so that it runs in each of these environments.
"""

from __future__ import annotations

import pytest

pandas = pytest.importorskip("pandas")

import minwise  # noqa: E402

ROSES = ["a rose is a rose is a rose", "A rose is a rose is a rose!", None, "a daffodil is no rose at all"]


def dtypes() -> list[object]:
    kinds: list[object] = [object, "string"]
    try:
        import pyarrow  # noqa: F401

        kinds += ["string[pyarrow]", "category"]
    except ImportError:
        pass
    if int(pandas.__version__.split(".")[0]) >= 3:
        kinds.append("str")
    return kinds


@pytest.mark.parametrize("dtype", dtypes(), ids=str)
def test_series_and_frames(dtype: object) -> None:
    series = pandas.Series(ROSES, dtype=dtype, index=["p", "q", "r", "s"], name="body")
    result = minwise.dedup(series)
    assert isinstance(result.kept, pandas.Series) and list(result.kept.index) == ["p", "r", "s"]
    assert result.kept.dtype == series.dtype
    assert result.summary.nulls == 1
    frame = pandas.DataFrame({"body": series, "score": [1, 2, 3, 4]})
    result = minwise.dedup(frame)
    pandas.testing.assert_frame_equal(result.kept, frame[[True, False, True, True]])
    pandas.testing.assert_frame_equal(result.removed, frame[[False, True, False, False]])
    best = minwise.dedup(frame, keep="max:score")
    assert list(best.kept.index) == ["q", "r", "s"]
    scores = pandas.DataFrame(result.decisions)
    assert scores["similarity"].tolist() == [1.0]
    assert minwise.Spec().sketch(series).shape == (4, 128)


def test_dates_and_missing_values_in_policies() -> None:
    dates = pandas.to_datetime(["2024-01-01", "2024-05-01", None, "2024-01-01"])
    frame = pandas.DataFrame({"body": ROSES, "when": dates})
    result = minwise.dedup(frame, text="body", keep="newest:when")
    assert list(result.kept.index) == [1, 2, 3]
    # A compared document without a date comes last in keeper order, and the run warns.
    frame = pandas.DataFrame({"body": [ROSES[0], ROSES[1]], "when": pandas.to_datetime([None, "2024-05-01"])})
    with pytest.warns(minwise.MinwiseWarning, match="when"):
        assert list(minwise.dedup(frame, text="body", keep="newest:when").kept.index) == [1]


def test_an_empty_frame_and_odd_columns() -> None:
    frame = pandas.DataFrame({"text": pandas.Series([], dtype=object)})
    assert len(minwise.dedup(frame, text="text").kept) == 0
    numbered = pandas.DataFrame({0: ROSES, 1: [1, 2, 3, 4]})
    assert len(minwise.dedup(numbered).kept) == 3
    double = pandas.DataFrame([["a", "b"]], columns=["text", "text"])
    with pytest.raises(minwise.SettingError, match="two columns"):
        minwise.dedup(double)
