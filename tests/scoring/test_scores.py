"""Scores against obvious loops, and their ranking of known truths."""

import numpy as np
import pytest
from scipy import integrate
from scored_rows import UCB, rows, truth_of
from sklearn.ensemble import GradientBoostingRegressor

from multiobs import baselines, scoring, statistics
from multiobs.scoring._heldout import held_out
from multiobs.scoring._losses import fixed_loss


def loop_score(x, y, r, m, loss):
    order = sorted(range(len(x)), key=lambda i: x[i])
    values = []
    for start in range(len(x) - m + 1):
        group = order[start : start + m]
        values.append(loss(sum(r[i] for i in group) / m, [y[i] for i in group]))
    return sum(values) / len(values)


LOOPS = {
    "variance": ("variance", 2, lambda r, y: (r - (y[0] - y[1]) ** 2 / 2) ** 2, {}),
    "gamma": (
        "variance",
        2,
        lambda r, y: (y[0] - y[1]) ** 2 / 2 / r + np.log(r),
        {"loss": "gamma"},
    ),
    "poisson": (
        "gini_mean_difference",
        2,
        lambda r, y: r - abs(y[0] - y[1]) * np.log(r),
        {"loss": "poisson"},
    ),
    "minvar": (statistics.minvar(3), 4, lambda r, y: (r - min(y)) ** 2, {}),
    "ratio": (
        "dispersion_index",
        2,
        lambda r, y: (y[0] + y[1]) / 2 * r**2 - (y[0] - y[1]) ** 2 * r,
        {},
    ),
    "sd": ("standard_deviation", 2, lambda r, y: r**4 / 4 - (y[0] - y[1]) ** 2 / 4 * r**2, {}),
}


@pytest.mark.parametrize("case", LOOPS, ids=str)
def test_score_is_the_mean_loss_of_adjacent_rows(case):
    statistic, m, loss, how = LOOPS[case]
    x, y = rows(40)
    r = 0.5 + x
    expected = loop_score(x, y, r, m, loss)
    assert scoring.score(statistic, x, y, r, **how) == pytest.approx(expected, rel=1e-12)


def test_quartic_score_is_the_integral_from_its_reference_level():
    x, y = rows(30)
    level, r, lam = -1.0, 1.0 + x, 2.0

    def loss(at, pair):
        a, b = pair
        s = np.linspace(level, at, 20_001)
        V = lam**2 / 2 * (a - b) ** 2 - a * b + (a + b) * s - s**2
        return integrate.trapezoid(-(s - level) * V, s)

    expected = loop_score(x, y, r, 2, loss)
    assert scoring.score(UCB, x, y, r, reference=level) == pytest.approx(expected, rel=1e-6)


def test_quartic_scores_are_minimal_at_the_truth_whatever_the_mean_and_offset():
    law, statistic = truth_of("ucb-gamma")
    x, y = law.sample(100_000, np.random.default_rng(0))
    factors = np.array([0.8, 0.9, 1.0, 1.1, 1.2])
    found = [scoring.score(statistic, x, y, f * law.truth(x)) for f in factors]
    assert factors[np.argmin(found)] == 1.0
    moved = [scoring.score(statistic, x, y + 1e6, f * law.truth(x) + 1e6) for f in factors]
    np.testing.assert_allclose(moved, found, rtol=1e-5)


def test_reference_level_is_valid_where_the_spread_varies_tenfold():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=4000)
    mean, sd = 5 * np.sin(9 * x), 0.2 + 2 * x
    held = held_out(UCB, x, mean + sd * rng.normal(size=4000))
    level = fixed_loss(UCB, held).level
    at = held.x[:, 0]
    mean, sd = 5 * np.sin(9 * at), 0.2 + 2 * at
    assert np.mean((level < mean) & (level > mean - 3 * 2.0 * sd)) > 0.995


@pytest.mark.parametrize(
    ("name", "trials"), [("variance-sine", 40), ("minvar-exponential", 40), ("ucb-gamma", 10)]
)
def test_truth_scores_better_than_the_truth_ten_per_cent_too_high(name, trials):
    law, statistic = truth_of(name)
    wins = 0
    for trial in range(trials):
        x, y = law.sample(5000, np.random.default_rng([9, trial]))
        forecasts = {"true": law.truth(x), "high": 1.1 * law.truth(x)}
        wins += scoring.compare(statistic, x, y, forecasts).names[0] == "true"
    assert wins >= 0.9 * trials  # 95 % at n = 5000 by benchmarks/score_ranking.py with 200 trials


def test_models_are_ranked_by_their_true_error():
    def truth(x):
        return 0.5 + 2 * x

    def sample(*seed):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=5000)
        return x, 2 * np.sin(12 * x) + np.sqrt(truth(x)) * rng.normal(size=5000)

    grid = np.linspace(0, 1, 501)
    right = 0
    for fit in range(2):
        x, y = sample(4, fit)
        X = x[:, None]
        residual = baselines.ResidualRegressor("variance").fit(X, y)
        # stands in for NGBoost, which the benchmark uses: trees for mean and squared residual
        mean = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
        square = GradientBoostingRegressor(n_estimators=50, random_state=0)
        square.fit(X, (y - mean.predict(X)) ** 2)
        level = float(np.var(y))
        models = {
            "residual": lambda q, f=residual: f.predict(q[:, None]),
            "trees": lambda q, f=square: f.predict(q[:, None]),
            "constant": lambda q, v=level: np.full(q.size, v),
        }
        error = {k: np.mean((f(grid) - truth(grid)) ** 2) for k, f in models.items()}
        order = tuple(sorted(error, key=error.__getitem__))
        for trial in range(10):
            x, y = sample(5, fit, trial)
            forecasts = {name: predict(x) for name, predict in models.items()}
            right += scoring.compare("variance", x, y, forecasts).names == order
    assert right >= 19


def test_squared_scores_differ_by_the_difference_of_the_true_errors():
    x, y = rows(200_000)
    truth = (1 + x) ** 2
    gap = scoring.compare("variance", x, y, {"true": truth, "one": 1.0}).difference("one", "true")
    assert abs(gap.difference - np.mean((truth - 1.0) ** 2)) < 4 * gap.se < 0.5
