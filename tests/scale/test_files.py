"""Predictions over files, and what the estimator says about rows that are not in memory."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from multiobs import MultiObservationRegressor
from multiobs.scale import Serial, fit, predict


def test_predictions_and_limits_are_those_of_memory(tmp_path, rows, table):
    x, y = rows("plain", 3000)
    frame = table(x, y, g=np.random.default_rng(0).choice(["a", "b"], 3000))
    reg = fit(frame, ["x", "g"], "y", ranges=3, engine=Serial(), transport=None)
    pq.write_table(frame, tmp_path / "rows.parquet", row_group_size=700)
    out = tmp_path / "out.parquet"
    assert predict(reg, tmp_path / "rows.parquet", out, level=0.8) == 3000
    found = pq.read_table(out)
    assert np.array_equal(found["x"].to_numpy(), x)
    inside = frame.select(["x", "g"]).to_pandas()
    np.testing.assert_allclose(found["prediction"].to_numpy(), reg.predict(inside))
    limits = reg.predict_interval(inside, level=0.8)
    np.testing.assert_allclose(found["lower"].to_numpy(), limits[:, 0])
    np.testing.assert_allclose(found["upper"].to_numpy(), limits[:, 1])


@pytest.mark.parametrize("library", ["polars", "dask"])
def test_fit_points_to_scale(library, rows, table):
    import dask.dataframe
    import polars

    frame = table(*rows("plain", 50))
    lazy = (
        polars.from_arrow(frame).lazy()
        if library == "polars"
        else dask.dataframe.from_pandas(frame.to_pandas(), npartitions=2)
    )
    with pytest.raises(TypeError, match=r"multiobs\.scale\.fit\(source, x=, y=\) fits it in parts"):
        MultiObservationRegressor().fit(lazy, frame["y"].to_numpy())


def test_smooth_terms_are_refused(rows, table):
    with pytest.raises(ValueError, match="features must be a transformer or None by parts"):
        fit(table(*rows("plain", 50)), "x", "y", features="smooth")


def test_the_bar_says_how_fast_it_goes(monkeypatch):
    import io
    import sys
    import time

    from multiobs._progress import progress

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    clock = iter(range(0, 1000, 5))
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    assert list(progress([10, 10, 20], 40, "rows", float)) == [10, 10, 20]
    assert " 50% of rows, 2/s, 10 s left" in sys.stderr.getvalue()
