"""What real tables bring: rare categories, sparse columns, outliers that decide."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, samplers


def test_windows_follow_a_rare_category():
    """60 of 2000 rows, a mean that moves: wide windows would count its movement as spread."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    kind = np.where(np.arange(2000) < 60, "rare", "common")
    x = rng.uniform(size=2000)
    frame = pd.DataFrame({"x": x, "kind": kind})
    y = 3.0 * np.sin(6.0 * x) + rng.normal(size=2000)
    at = pd.DataFrame({"x": [0.2, 0.5, 0.8], "kind": "rare"})

    def found(sampler):
        model = MultiObservationRegressor("variance", sampler, transport=None, random_state=0)
        return model.fit(frame, y).predict(at)

    wide, narrow = (found(samplers.Adjacent(40, by_group=each)) for each in (False, True))
    assert np.all(wide > 1.8)
    assert np.all(np.abs(found("auto") - 1.0) < 0.6)
    assert np.all(np.abs(narrow - 1.0) < 0.6)


def test_sparse_columns_are_refused_with_a_reason():
    X = sparse.csr_matrix(np.eye(30)[:, :2])
    with pytest.raises(TypeError, match=r"[Ss]parse.*dense"):
        MultiObservationRegressor().fit(X, np.arange(30.0))


def test_a_spline_that_dips_is_not_told_to_be_a_spline():
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(60, 1))
    y = np.where(x[:, 0] < 0.5, 0.05, 3.0) * rng.normal(size=60)
    model = MultiObservationRegressor(
        "variance", "sliding", features=SplineTransformer(8), transport=None
    )
    with pytest.warns(UserWarning, match="variance lies in") as told:
        model.fit(x, y)
    (message,) = (str(each.message) for each in told)
    assert "features=" not in message
    assert "spline" not in message.lower()
    assert "gamma" in message


def with_an_outlier():
    rng = np.random.default_rng(2)
    x, y = rng.uniform(size=(600, 1)), rng.normal(size=600)
    y[np.argmin(np.abs(x[:, 0] - 0.8))] = 60.0
    return x, y, int(np.argmax(y))


@pytest.mark.filterwarnings("ignore:variance lies in:UserWarning")
@pytest.mark.parametrize("features", [None, SplineTransformer(4)], ids=["line", "spline"])
def test_few_rows_that_decide_are_named(features):
    x, y, row = with_an_outlier()
    model = MultiObservationRegressor(
        "variance", samplers.Adjacent(16), features=features, transport=None
    ).fit(x, y)
    for ask in (
        lambda: model.predict_interval([[0.8]]),
        model.summary,
        model.test_constant,
        lambda: model.wald_test(np.eye(model.coef_.size + 1)[-1]),
    ):
        words = f"on few rows, as if there were 1.*row {row} with"
        with pytest.warns(UserWarning, match=words) as told:
            ask()
        assert len({str(each.message) for each in told}) == 1  # that rows are few is said once
    found = model.influential_rows([[0.8]], most=2)
    assert found.rows[0] == row
    assert found.share[0] > 0.8 > found.share[1]
    assert found.effective[0] < 1.5
    plain = model.fit(x, np.delete(np.append(y, 0.0), row))  # another label in its place
    plain.summary()  # nothing is said
    assert plain.influential_rows().effective.min() > 2.5


@pytest.mark.filterwarnings("ignore:variance lies in:UserWarning")
def test_shares_are_what_leaving_a_row_out_does():
    """Influence functions: rows with large shares move the estimate most."""
    x, y, _ = with_an_outlier()
    at = [[0.5]]
    model = MultiObservationRegressor("variance", samplers.Adjacent(16), transport=None)
    found = model.fit(x, y).influential_rows(at, most=600)
    chosen = found.rows[[0, 1, 300, 500]]
    whole = model.predict(at)[0]
    moved = [
        abs(model.fit(np.delete(x, i, 0), np.delete(y, i)).predict(at)[0] - whole) for i in chosen
    ]
    assert min(moved[:2]) > max(moved[2:])
