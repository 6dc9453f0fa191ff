"""A linear class behind the logit link: the minimiser of its loss, between the ends, covered."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from multiobs import MultiObservationRegressor, statistics

INTERCEPT, SLOPE = -0.5, 2.0


def pairs(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal pairs whose Kendall tau has a linear logit on (-1, 1)."""
    rng = np.random.default_rng([14, seed])
    x = rng.uniform(-1, 1, size=(n, 1))
    rho = np.sin(np.pi / 2 * (2 * expit(INTERCEPT + SLOPE * x[:, 0]) - 1))
    first, other = rng.normal(size=(2, n))
    return x, np.column_stack([first, rho * first + np.sqrt(1 - rho**2) * other])


def logit_model(**given: object) -> MultiObservationRegressor:
    return MultiObservationRegressor(
        statistics.kendall_tau(), link="logit", random_state=0, **given
    )  # fmt: skip


def test_the_fit_minimises_the_log_loss_of_listed_pairs() -> None:
    x, y = pairs(80, 0)
    x = np.round(3 * x) / 3  # pairs of equal x: nothing has to be moved
    model = logit_model(sampler="replicates", transport=None, alpha=0.0).fit(x, y)
    members = [(i, j) for i, j in combinations(range(80), 2) if x[i, 0] == x[j, 0]]

    def loss(w: np.ndarray) -> float:
        total = 0.0
        for i, j in members:
            tau = np.sign((y[i, 0] - y[j, 0]) * (y[i, 1] - y[j, 1]))
            eta = w[0] + w[1] * x[i, 0]
            total += np.log1p(np.exp(eta)) - eta * (tau + 1) / 2
        return total

    ours = np.array([model.intercept_, *model.coef_])
    found = minimize(loss, np.zeros(2), method="BFGS", options={"gtol": 1e-7}).x
    assert ours == pytest.approx(found, abs=1e-6)


def test_values_and_limits_stay_between_the_ends_and_cover() -> None:
    at = np.linspace(-1, 1, 9)[:, None]
    truth = 2 * expit(INTERCEPT + SLOPE * at[:, 0]) - 1
    inside, values = [], []
    for seed in range(30):
        model = logit_model().fit(*pairs(400, seed))
        limits = model.predict_interval(at)
        inside.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
        values.append([model.intercept_, *model.coef_])
        far = np.array([[-50.0], [50.0]])
        assert np.all(np.abs(model.predict_interval(far)) <= 1.0)
        assert np.all(np.abs(model.predict(far)) <= 1.0)
    error = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
    bias = np.mean(values, axis=0) - [INTERCEPT, SLOPE]
    assert np.all(np.abs(bias) < 3 * error + 0.05)
    assert 0.88 <= np.mean(inside) <= 0.995
    assert "logit link" in str(model.summary())
