"""Whatever the rows are read from, the fit is the same."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

from multiobs import MultiObservationRegressor, samplers
from multiobs.scale import Query, Serial, fit

OPTIONS = dict(ranges=3, engine=Serial(), sampler=samplers.Adjacent(8), errors=False)


@pytest.fixture
def files(tmp_path, rows, table):
    x, y = rows("plain", 1200)
    frame = table(x, y)
    folder = tmp_path / "parquet"
    folder.mkdir()
    for i in range(3):
        pa.parquet.write_table(
            frame.slice(400 * i, 400), folder / f"{i}.parquet", row_group_size=150
        )
    pa.csv.write_csv(frame, tmp_path / "rows.csv")
    pa.feather.write_feather(frame, tmp_path / "rows.feather")
    return tmp_path, frame


def sources(folder, frame):
    import dask.dataframe
    import polars

    return {
        "folder": folder / "parquet",
        "glob": f"{folder}/parquet/*.parquet",
        "list": [folder / "parquet" / f"{i}.parquet" for i in range(3)],
        "dataset": pa.dataset.dataset(folder / "parquet"),
        "csv": folder / "rows.csv",
        "feather": folder / "rows.feather",
        "lazy": polars.scan_parquet(folder / "parquet" / "*.parquet"),
        "dask": dask.dataframe.from_pandas(frame.to_pandas(), npartitions=4),
        "sql": Query(f"SELECT x, y FROM '{folder}/parquet/*.parquet'"),
    }


@pytest.mark.parametrize(
    "name", ["folder", "glob", "list", "dataset", "csv", "feather", "lazy", "dask", "sql"]
)
def test_every_source_gives_the_same_fit(files, name):
    folder, frame = files
    expected = fit(frame, "x", "y", **OPTIONS)
    found = fit(sources(folder, frame)[name], "x", "y", scratch=folder / "scratch", **OPTIONS)
    assert np.array_equal(found.coef_, expected.coef_)
    assert [p.name for p in (folder / "scratch").iterdir()] == []  # nothing is left behind


def test_mixed_types_across_files(tmp_path):
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 100, 300), rng.integers(-5, 5, 300)
    kinds = [(pa.int8(), pa.int64()), (pa.float32(), pa.int16()), (pa.int64(), pa.float64())]
    for i, (of_x, of_y) in enumerate(kinds):
        part = slice(100 * i, 100 * i + 100)
        frame = pa.table({"x": pa.array(x[part], of_x), "y": pa.array(y[part], of_y)})
        pa.parquet.write_table(frame, tmp_path / f"{i}.parquet")
    options = OPTIONS | {"sampler": samplers.Nearby(3.0), "transport": None}
    found = fit(tmp_path, "x", "y", scratch=tmp_path / "scratch", **options)
    expected = MultiObservationRegressor("variance", samplers.Nearby(3.0), transport=None)
    expected.fit(x[:, None].astype(float), y.astype(float))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)


def test_dates_and_times_are_days(rows):
    _, y = rows("plain", 300)
    days = np.arange(300) % 97
    first = datetime.date(2020, 1, 1)
    dates = [first + datetime.timedelta(days=int(d)) for d in days]
    times = [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=int(d)) for d in days]
    options = OPTIONS | {"sampler": samplers.Adjacent(8)}
    since = np.array([float((d - datetime.date(1970, 1, 1)).days) for d in dates])
    expected = fit(pa.table({"x": since, "y": y}), "x", "y", **options)
    for column in (pa.array(dates), pa.array(times, pa.timestamp("ms"))):
        found = fit(pa.table({"x": column, "y": y}), "x", "y", **options)
        assert np.array_equal(found.coef_, expected.coef_)


def test_a_sample_of_a_large_source_chooses_the_pilot(rows, table):
    x, y = rows("plain", 4000)
    reg = fit(table(x, y), "x", "y", ranges=4, sample_rows=1000, engine=Serial())
    assert "chosen on a sample of 1000 of 4000 rows" in str(reg.plan_)
    assert "4,000" in str(reg.summary())
    with pytest.raises(ValueError, match="bias must be None without the rows"):
        reg.predict_interval(pd.DataFrame({"x": [0.5]}), bias="undersmooth")
    inside = MultiObservationRegressor("variance").fit(x[:, None], y)
    at = np.array([[0.5]])
    low, high = inside.predict_interval(at)[0]
    assert low < reg.inference_.interval(at, 0.95, "auto").mean() < high


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("nowhere.parquet", FileNotFoundError, "source must exist, got 'nowhere.parquet'"),
        (3, TypeError, "source must be a path"),
        (pa.table({"x": [1.0]}), ValueError, "columns must be in the source, got 'y' among x"),
        (
            pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}),
            TypeError,
            "column 'y' must hold numbers, dates or times, got string",
        ),
    ],
)
def test_errors_name_the_offender(source, error, message):
    with pytest.raises(error, match=message):
        fit(source, "x", "y", **OPTIONS)


def test_a_statistic_without_sums_is_refused(table, rows):
    from multiobs import statistics

    gamma = statistics.variance().with_loss("gamma")
    with pytest.raises(ValueError, match="polynomial of the prediction"):
        fit(table(*rows("plain", 50)), "x", "y", statistic=gamma)


def test_a_sampler_without_a_reach_is_refused(table, rows):
    with pytest.raises(ValueError, match="must reach a bounded number of rows"):
        fit(table(*rows("plain", 500)), "x", "y", sampler="naive")
