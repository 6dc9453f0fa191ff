"""Scores against obvious loops, their ranking of known truths, and the size of their tests."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import PolynomialFeatures

from multiobs import MultiObservationRegressor, baselines, samplers, scoring, statistics
from multiobs.experiments.scenarios import SCENARIOS
from multiobs.scoring._errors import _newey_west, shared
from multiobs.scoring._heldout import held_out
from multiobs.scoring._losses import fixed_loss

UCB = statistics.ucb(2.0)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=n)
    return x, 1.0 + np.sin(6 * x) + (1 + x) * rng.normal(size=n)


def truth_of(name):
    law = SCENARIOS[name]
    return law, getattr(statistics, law.statistic)(**law.parameters)


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


# --- errors


def overlap_loop(u, members):
    total = 0.0
    for t, s in itertools.product(range(len(u)), repeat=2):
        if set(members[t]) & set(members[s]):
            total += u[t] * u[s]
    return total


@pytest.mark.parametrize("m", [2, 3, 5])
def test_shared_label_variance_counts_each_overlapping_pair_once(m):
    x, y = rows(60)
    statistic = statistics.minvar(m - 1)
    held = held_out(statistic, x, y)
    u = held.Y.min(axis=1) - held.Y.min(axis=1).mean()
    expected = overlap_loop(u, held.members.tolist())
    assert expected > 0
    assert shared(u[:, None], held.members, 60)[0, 0] == pytest.approx(expected, rel=1e-10)


def test_row_formula_is_the_same_for_pairs(monkeypatch):
    x, y = rows(200)
    held = held_out(statistics.variance(), x, y)
    u = held.Y[:, :1] - held.Y[:, :1].mean()
    listed = shared(u, held.members, 200)
    monkeypatch.setattr("multiobs.scoring._errors.LISTED", 0)
    np.testing.assert_allclose(shared(u, held.members, 200), listed)


def test_variance_is_never_negative():
    members = np.array([[0, 1], [1, 2]])
    assert shared(np.array([[1.0], [-1.0]]), members, 3)[0, 0] > 0


def test_newey_west_is_the_textbook_sum():
    x, y = rows(50)
    held = held_out(statistics.variance(), x, y)
    order = np.argsort(x)
    u = 0.5 * np.diff(y[order]) ** 2
    u = (u - u.mean()) / u.size
    lags = 3
    expected = u @ u + sum(
        2 * (1 - j / (lags + 1)) * float(u[j:] @ u[:-j]) for j in range(1, lags + 1)
    )
    psi = statistics.variance().psi(held.Y)
    U = (held.weight * (psi - psi.mean()))[:, None]
    assert _newey_west(held, U, lags)[0, 0] == pytest.approx(expected, rel=1e-10)
    with pytest.raises(ValueError, match="bandwidth must be at least 1, got 0"):
        _newey_west(held, U, 0)


@pytest.mark.parametrize("errors", ["shared", "hac"])
def test_equal_forecasts_are_told_apart_in_five_per_cent_of_trials(errors):
    # v + a and v - a have the same expected squared score.
    rejected = 0
    for trial in range(400):
        rng = np.random.default_rng([1, trial])
        x = rng.uniform(size=400)
        y = rng.normal(size=400)
        forecasts = {"high": 1.3, "low": 0.7}
        found = scoring.compare("variance", x, y, forecasts, errors=errors)
        rejected += found.difference("high", "low").p < 0.05
    assert 0.03 <= rejected / 400 <= 0.08


def test_five_observations_keep_the_size_too():
    # Counting two tuples once for every common row would reject in 0.3 % of trials.
    rejected = 0
    for trial in range(200):
        rng = np.random.default_rng([3, trial])
        x, y = rng.uniform(size=400), rng.exponential(size=400)
        found = scoring.compare(statistics.minvar(4), x, y, {"high": 0.25, "low": 0.15})
        rejected += found.difference("high", "low").p < 0.05
    assert 0.02 <= rejected / 200 <= 0.1


def test_calibration_test_keeps_its_size_and_finds_ten_per_cent():
    rejected = found = 0
    for trial in range(300):
        rng = np.random.default_rng([2, trial])
        x = rng.uniform(size=1000)
        y = (1 + x) * rng.normal(size=1000)
        rejected += scoring.calibration_test("variance", x, y, (1 + x) ** 2).joint_p < 0.05
        found += scoring.calibration_test("variance", x, y, 1.3 * (1 + x) ** 2).p < 0.05
    assert 0.02 <= rejected / 300 <= 0.09
    assert found / 300 > 0.9


def test_calibration_test_of_a_bound_uses_its_identification_function():
    law, statistic = truth_of("ucb-gamma")
    x, y = law.sample(5000, np.random.default_rng(3))
    good = scoring.calibration_test(statistic, x, y, law.truth(x))
    low = scoring.calibration_test(statistic, x, y, 0.8 * law.truth(x))
    assert good.p > 0.01
    assert low.p < 1e-6
    assert low.mean > 0  # positive: too low


def test_instruments_can_be_given():
    x, y = rows(500)
    made = scoring.calibration_test(
        "variance", x, y, 2.0, instruments=np.column_stack([np.ones(500), x])
    )
    assert made.df == 2
    assert made.joint_p < made.p  # the spread grows with x, which a constant misses
    with pytest.raises(ValueError, match="one row per row of X, 500, got 3"):
        scoring.calibration_test("variance", x, y, 2.0, instruments=np.ones(3))


# --- comparison, decomposition, curves


def test_comparison_table_and_skill():
    x, y = rows(800)
    truth = (1 + x) ** 2
    found = scoring.compare("variance", x, y, {"true": truth, "flat": 2.0, "zero": 0.0})
    psi = 0.5 * np.diff(y[np.argsort(x)]) ** 2
    assert found.constant == pytest.approx(psi.mean())
    r = truth[np.argsort(x)]
    r = (r[1:] + r[:-1]) / 2
    r2 = 1 - np.sum((psi - r) ** 2) / np.sum((psi - psi.mean()) ** 2)
    assert found.skill[found.names.index("true")] == pytest.approx(r2)
    assert found.names[0] == found.benchmark == "true"
    own = found.differences[0]
    assert own.difference == own.se == 0.0
    assert np.isnan(own.p)
    text = str(found)
    assert text.startswith("Scores of variance() on 799 metasamples")
    assert "less true" in text
    frame = pytest.importorskip("pandas") and found.to_frame()
    assert frame["forecast"].tolist() == list(found.names)
    np.testing.assert_array_equal(frame["score"], found.scores)
    with pytest.raises(ValueError, match="forecast must be one of"):
        found.difference("true", "unknown")


@pytest.mark.parametrize("loss", ["gamma", "poisson"])
def test_skill_of_other_losses_lies_between_constant_and_perfect(loss):
    x, y = rows(3000)
    found = scoring.compare("variance", x, y, {"true": (1 + x) ** 2}, loss=loss)
    assert 0 < found.skill[0] < 1
    constant = scoring.compare("variance", x, y, {"best": found.constant}, loss=loss)
    assert constant.skill[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "statistic",
    [UCB, statistics.ucb(2.0, loss="cubic"), "standard_deviation", "dispersion_index", "kurtosis"],
    ids=str,
)
def test_best_constant_is_a_minimum_of_the_score(statistic):
    rng = np.random.default_rng(0)
    x, y = rng.uniform(size=2000), 3.0 + rng.normal(size=2000)
    found = scoring.compare(statistic, x, y, {"any": 2.0})
    step = 0.01 * abs(found.constant)
    near = [scoring.score(statistic, x, y, found.constant + s) for s in (-step, 0.0, step)]
    assert near[1] < min(near[0], near[2])


def test_best_constant_of_a_users_loss():
    statistic = statistics.from_loss(
        lambda r, Y: np.abs(r - Y.mean(axis=1)) ** 3,
        lambda r, Y: 3 * np.abs(r - Y.mean(axis=1)) * (r - Y.mean(axis=1)),
        None,
        2,
    )
    x, y = rows(300)
    found = scoring.compare(statistic, x, y, {"any": 0.0})
    near = [scoring.score(statistic, x, y, found.constant + s) for s in (-0.01, 0.0, 0.01)]
    assert near[1] < min(near[0], near[2])


def test_decomposition_adds_up_and_blames_the_right_part():
    x, y = rows(3000)
    truth = (1 + x) ** 2
    for loss in ("squared", "gamma", "poisson"):
        good = scoring.decompose("variance", x, y, truth, loss=loss)
        total = good.miscalibration - good.discrimination + good.uncertainty
        assert total == pytest.approx(good.score)
        assert good.score == pytest.approx(scoring.score("variance", x, y, truth, loss=loss))
        assert good.miscalibration >= 0
        assert good.discrimination >= 0
        flat = scoring.decompose("variance", x, y, 2.0, loss=loss)
        assert flat.discrimination == pytest.approx(0.0, abs=1e-12)
        high = scoring.decompose("variance", x, y, 2 * truth, loss=loss)
        assert high.miscalibration > 3 * good.miscalibration
        assert high.discrimination == pytest.approx(good.discrimination)
    with pytest.raises(ValueError, match="needs a mean- or ratio-type statistic"):
        scoring.decompose(UCB, x, y, 3.0)


def test_murphy_curve_integrates_to_the_squared_score():
    x, y = rows(60)
    r = (1 + x) ** 2
    theta = np.linspace(0, 40, 40_001)
    curve = scoring.murphy_curve("variance", x, y, {"true": r}, theta=theta)
    area = 2 * integrate.trapezoid(curve.scores[0], theta)
    assert area == pytest.approx(scoring.score("variance", x, y, r), rel=1e-3)


def test_murphy_difference_has_its_standard_error():
    x, y = rows(2000)
    curve = scoring.murphy_curve("variance", x, y, {"true": (1 + x) ** 2, "flat": 2.3})
    np.testing.assert_allclose(curve.difference, curve.scores[0] - curve.scores[1])
    assert np.all(curve.difference_se >= 0)
    assert np.min(curve.difference / np.where(curve.difference_se > 0, curve.difference_se, 1)) < -3
    with pytest.raises(ValueError, match="needs a mean- or ratio-type statistic"):
        scoring.murphy_curve(UCB, x, y, {"a": 1.0})


def test_reliability_bins_hold_the_mean_of_psi():
    x, y = rows(1000)
    r = 1.5 * (1 + x) ** 2
    found = scoring.reliability_curve("variance", x, y, r, n_bins=4)
    order = np.argsort(x)
    psi, at = 0.5 * np.diff(y[order]) ** 2, (r[order][1:] + r[order][:-1]) / 2
    low = at <= np.quantile(at, 0.25)
    assert found.observed[0] == pytest.approx(psi[low].mean())
    assert found.forecast[0] == pytest.approx(at[low].mean())
    assert found.count.sum() == 999
    assert np.all(np.diff(found.curve_observed) >= 0)
    assert np.all(found.observed < found.forecast)


def test_reliability_of_a_bound_finds_the_bound():
    law, statistic = truth_of("ucb-gamma")
    x, y = law.sample(20_000, np.random.default_rng(0))
    found = scoring.reliability_curve(statistic, x, y, 0.95 * law.truth(x), n_bins=5)
    error = found.observed - found.forecast / 0.95
    assert np.all(np.abs(error) < 4 * found.se)
    assert found.curve_forecast.size == 0


# --- scikit-learn


def test_scorer_in_cross_validation_and_grid_search():
    x, y = rows(400)
    scorer = scoring.make_scorer("variance")
    model = MultiObservationRegressor("variance", "sliding")
    by_hand = []
    for fold in range(4):
        inside = np.arange(100 * fold, 100 * fold + 100)
        train = np.setdiff1d(np.arange(400), inside)
        fitted = model.fit(x[train, None], y[train])
        prediction = fitted.predict(x[inside, None])
        by_hand.append(-scoring.score("variance", x[inside], y[inside], prediction))
    found = cross_val_score(model, x[:, None], y, cv=4, scoring=scorer)
    np.testing.assert_allclose(found, by_hand)
    search = GridSearchCV(
        MultiObservationRegressor("variance", "sliding", features=PolynomialFeatures(1)),
        {"features__degree": [1, 2], "alpha": [0.0, 1.0]},
        scoring=pickle.loads(pickle.dumps(scorer)),
        cv=3,
        error_score="raise",
    ).fit(x[:, None], y)
    assert np.all(np.isfinite(search.cv_results_["mean_test_score"]))
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()


def test_scorer_takes_a_peers_own_method():
    x, y = rows(200)
    scorer = scoring.make_scorer("variance", predict=lambda model, X: model.predict(X) ** 2)
    model = DummyRegressor(strategy="constant", constant=1.5).fit(x[:, None], y)
    assert scorer(model, x[:, None], y) == -scoring.score("variance", x, y, 2.25)


def test_score_of_the_estimator_is_minus_the_score():
    x, y = rows(300)
    model = MultiObservationRegressor("variance").fit(x[:, None], y)
    expected = -scoring.score("variance", x, y, model.predict(x[:, None]))
    assert model.score(x[:, None], y) == expected


# --- doors


def test_zero_weight_is_absence_and_groups_are_not_crossed():
    x, y = rows(100)
    weight = np.ones(100)
    weight[::3] = 0.0
    keep = weight > 0
    weighted = scoring.score("variance", x, y, 1 + x, sample_weight=weight)
    absent = scoring.score("variance", x[keep], y[keep], (1 + x)[keep])
    assert weighted == pytest.approx(absent)
    groups = np.repeat([0, 1], 50)
    parts = [scoring.score("variance", x[g], y[g], 2.0) for g in (groups == 0, groups == 1)]
    both = scoring.score("variance", x, y, 2.0, groups=groups)
    assert both == pytest.approx(np.mean(parts))


def test_several_columns_pair_nearest_rows():
    X = np.array([[0.0, 0.0], [0.0, 0.1], [5.0, 5.0], [5.0, 5.1]])
    y = np.array([0.0, 2.0, 1.0, 3.0])
    assert scoring.score("variance", X, y, 2.0) == 0.0


def test_wider_samplers_can_be_asked_for():
    x, y = rows(300)
    wide = scoring.score("variance", x, y, 2.0, samplers.Nearest(5))
    assert wide != scoring.score("variance", x, y, 2.0)
    assert wide == pytest.approx(scoring.score("variance", x, y, 2.0), rel=0.3)


@pytest.mark.parametrize(
    ("call", "rule"),
    [
        (lambda x, y: scoring.score("variance", x, y, [1.0, 2.0]), "one number per row"),
        (lambda x, y: scoring.score("variance", x, y, np.nan), "prediction must be finite"),
        (lambda x, y: scoring.score("variance", x, y, -1.0, loss="gamma"), "positive predictions"),
        (lambda x, y: scoring.score("minvar", x, y, 1.0, loss="gamma"), "nonnegative statistic"),
        (lambda x, y: scoring.score(UCB, x, y, 1.0, loss="squared"), "only a mean-type"),
        (lambda x, y: scoring.score("variance", x, y, 1.0, loss="rms"), "loss must be one of"),
        (lambda x, y: scoring.score("variance", x, y, 1.0, reference=0.0), "root-type losses"),
        (lambda x, y: scoring.score("variance", x[:1], y[:1], 1.0), "at least 2 rows"),
        (lambda x, y: scoring.score("variance", x, y[:-1], 1.0), "one entry per row, 20, got 19"),
        (lambda x, y: scoring.score("covariance", x, y, 1.0), "needs y with 2 columns"),
        (lambda x, y: scoring.compare("variance", x, y, {}), "at least one forecast"),
        (
            lambda x, y: scoring.compare("variance", x, y, {"a": 1.0}, benchmark="b"),
            "benchmark must be one of",
        ),
        (
            lambda x, y: scoring.compare(
                "variance", np.c_[x, x], y, {"a": 1.0, "b": 2.0}, errors="hac"
            ),
            "needs one column",
        ),
        (
            lambda x, y: scoring.compare(
                "variance", x, y, {"a": 1.0, "b": 2.0}, errors="hac", groups=x > 0.5
            ),
            "needs one series",
        ),
        (
            lambda x, y: scoring.compare("variance", x, y, {"a": 1.0, "b": 2.0}, bandwidth=3),
            "bandwidth belongs to errors='hac'",
        ),
    ],
)
def test_errors_state_the_rule(call, rule):
    x, y = rows(20)
    with pytest.raises(ValueError, match=rule):
        call(x, y)


def test_p_values_of_differences_are_two_sided_t():
    x, y = rows(50)
    gap = scoring.compare("variance", x, y, {"a": 1.0, "b": 4.0}).difference("a", "b")
    assert gap.t == pytest.approx(gap.difference / gap.se)
    assert gap.p == pytest.approx(2 * stats.t.sf(abs(gap.t), 49))
