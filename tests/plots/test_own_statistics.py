"""A user's own statistic, from its kernel to its picture."""

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")
import matplotlib.pyplot as plt  # noqa: E402

from multiobs import (  # noqa: E402
    MultiObservationRegressor,
    baselines,
    planning,
    plots,
    scoring,
    statistics,
)


def spread(Y):
    return np.ptp(Y, axis=1)


@pytest.mark.parametrize("name", ["range_of_pairs", "variance"])
def test_an_own_statistic_goes_everywhere_under_its_own_title(name):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 1))
    y = 3 * X[:, 0] + (1 + X[:, 0]) * rng.normal(size=400)
    own = statistics.mean_of(spread, 2, name=name)
    model = MultiObservationRegressor(own, "sliding", transport=None).fit(X, y)
    truth = 2 / np.sqrt(np.pi) * (1 + 0.5)  # E|Y1 - Y2| at the middle, for a normal law
    assert model.predict([[0.5]])[0] == pytest.approx(truth, rel=0.15)
    low, high = model.predict_interval([[0.5]])[0]
    assert low < model.predict([[0.5]])[0] < high
    assert scoring.score(own, X, y, model.predict(X)) < scoring.score(own, X, y, 10.0)
    assert float(baselines.plug_in(own, y[:50])) == pytest.approx(
        np.abs(y[:50, None] - y[:50])[np.triu_indices(50, 1)].mean()
    )
    title = name.replace("_", " ")
    fitted = plots.FittedStatisticDisplay.from_estimator(model, X, y)
    assert len(fitted.axes_) == 2  # no ribbons of a variance, whatever it is called
    assert fitted.mean is None
    assert fitted.axes_[1].get_ylabel() == title  # and no unit is claimed for it
    held = plots.ReliabilityDisplay.from_estimator(model, X, y)
    assert held.ax_.get_xlabel() == f"forecast {title}"
    plan = planning.LabelPlan.from_pool(X, own, budget=40, rng=rng)
    plan.record(plan.queries, y[plan.queries])
    assert plan.fit().n_metasamples_ == 20
    plt.close("all")
