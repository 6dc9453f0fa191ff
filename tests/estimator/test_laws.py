"""Laws that any fit must obey: row order, units, weights, groups, classes, messages, errors."""

import numpy as np
import pytest
from fits import coefficients, fit_quietly, paper
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer
from tables import STATISTICS, draw_labels

from multiobs import MultiObservationRegressor, metasamples, scoring, statistics
from multiobs.experiments import SCENARIOS
from multiobs.samplers import Improved, Nearby, Nearest, Replicates, SlidingWindow

# ---------------------------------------------------------------- equivariance

EQUIVARIANT = [name for name in STATISTICS if name not in ("skewness", "collision_probability")]


def noisy_rows(case, n=120, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    y = draw_labels(case.labels, rng, n)
    return X, y + rng.normal(size=y.shape) * 0.01 if case.labels != "discrete" else y


@pytest.mark.parametrize("name", STATISTICS)
@pytest.mark.parametrize("sampler", [SlidingWindow(), Nearby(0.03), Nearest(6)])
def test_the_order_of_the_rows_does_not_matter(name, sampler):
    case = STATISTICS[name]
    X, y = noisy_rows(case)
    order = np.random.default_rng(6).permutation(len(y))
    one = fit_quietly(paper(case.make(), sampler), X, y)
    two = fit_quietly(paper(case.make(), sampler), X[order], y[order])
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("name", EQUIVARIANT)
@pytest.mark.parametrize("sampler", [SlidingWindow(), Nearby(0.05)])
def test_shift_and_scale_of_y(name, sampler):
    case = STATISTICS[name]
    statistic = case.make()
    X, y = noisy_rows(case, n=100)
    here = fit_quietly(paper(statistic, sampler), X, y).predict(X)
    size = np.abs(here).max()
    if statistic.scale is not None:
        there = fit_quietly(paper(statistic, sampler), X, 7.0 * y).predict(X)
        np.testing.assert_allclose(there, 7.0**statistic.scale * here, rtol=1e-6, atol=1e-6 * size)
    if statistic.shift is not None:
        there = fit_quietly(paper(statistic, sampler), X, y + 50.0).predict(X)
        gain = 50.0 if statistic.shift == "equivariant" else 0.0
        np.testing.assert_allclose(there, here + gain, rtol=1e-6, atol=1e-6 * size)


@pytest.mark.parametrize("sampler", ["sliding", "nearby", "nearest", "improved", "disjoint"])
@pytest.mark.parametrize("name", ["variance", "ucb", "minvar", "squared_cv"])
def test_units_of_x_do_not_matter(name, sampler):
    rng = np.random.default_rng(8)
    x = rng.random((90, 1))
    y = 3 + x[:, 0] + rng.gamma(2.0, size=90)
    here = fit_quietly(paper(name, sampler), x, y)
    there = fit_quietly(paper(name, sampler), 1024.0 * x - 4096.0, y)
    np.testing.assert_allclose(
        there.predict(1024.0 * x - 4096.0), here.predict(x), rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(1024.0 * there.coef_, here.coef_, rtol=1e-6, atol=1e-8)


# ---------------------------------------------------------------- weights and groups


def test_weights_multiply_within_a_tuple():
    rng = np.random.default_rng(9)
    X, y, weight = rng.random((40, 1)), rng.normal(size=40), rng.random(40)
    fitted = fit_quietly(paper("variance", Nearby(0.1)), X, y, sample_weight=weight)
    part = metasamples(X, y, sampler=Nearby(0.1), sample_weight=weight)
    psi = (part.Y[:, 0] - part.Y[:, 1]) ** 2 / 2
    theirs = LinearRegression().fit(part.x, psi, sample_weight=part.weight)
    np.testing.assert_allclose(coefficients(fitted), np.append(theirs.intercept_, theirs.coef_))


def test_weight_zero_is_absent_and_equal_weights_change_nothing():
    rng = np.random.default_rng(10)
    X, y = rng.random((60, 1)), rng.normal(size=60)
    weight = (rng.random(60) < 0.7).astype(float)
    some = weight > 0
    for sampler in ("sliding", "nearby", "nearest"):
        one = fit_quietly(paper("variance", sampler), X, y, sample_weight=weight)
        two = fit_quietly(paper("variance", sampler), X[some], y[some])
        np.testing.assert_allclose(coefficients(one), coefficients(two), rtol=1e-10)
        even = fit_quietly(paper("variance", sampler), X, y, sample_weight=np.full(60, 3.0))
        plain = fit_quietly(paper("variance", sampler), X, y)
        np.testing.assert_array_equal(coefficients(even), coefficients(plain))
    with pytest.raises(ValueError, match=r"positive somewhere|at least one non-zero"):
        paper("variance", "sliding").fit(X, y, sample_weight=np.zeros(60))


def test_groups_keep_levels_apart():
    rng = np.random.default_rng(11)
    X, groups = rng.random((400, 1)), np.array(["a", "b"] * 200)
    y = rng.normal(size=400) + np.where(groups == "a", 0.0, 100.0)
    apart = paper("variance", "sliding").fit(X, y, groups=groups)
    np.testing.assert_allclose(apart.predict(X).mean(), 1.0, atol=0.3)
    mixed = paper("variance", "sliding").fit(X, y)
    assert mixed.predict(X).mean() > 1000


# ---------------------------------------------------------------- replicates


def test_replicates_as_columns_of_y():
    rng = np.random.default_rng(12)
    x = rng.random((30, 1))
    y = rng.normal(scale=1 + x, size=(30, 4))
    wide = fit_quietly(paper("variance", "replicates"), x, y)
    long = fit_quietly(paper("variance", Replicates()), np.repeat(x, 4, axis=0), y.ravel())
    np.testing.assert_allclose(coefficients(wide), coefficients(long), rtol=1e-12)
    assert wide.n_metasamples_ == 30 * 6
    psi = y.var(axis=1, ddof=1)  # the mean of the six pairs
    theirs = LinearRegression().fit(x, psi)
    np.testing.assert_allclose(coefficients(wide), np.append(theirs.intercept_, theirs.coef_))


# ---------------------------------------------------------------- hypothesis classes


def test_features_are_functions_of_the_representative():
    rng = np.random.default_rng(13)
    X = rng.random((200, 1))
    y = rng.normal(scale=1 + X[:, 0] ** 2)
    for features in (
        PolynomialFeatures(3, include_bias=False),
        PolynomialFeatures(2, include_bias=True),
        SplineTransformer(n_knots=4, include_bias=False),  # of full rank, for the reference
    ):
        for sampler in (SlidingWindow(), Nearby(0.02)):
            fitted = fit_quietly(paper("variance", sampler, features=features), X, y)
            part = metasamples(X, y, sampler=sampler)
            psi = (part.Y[:, 0] - part.Y[:, 1]) ** 2 / 2
            transformer = features.fit(X)
            theirs = LinearRegression().fit(transformer.transform(part.x), psi)
            np.testing.assert_allclose(
                fitted.predict(X), theirs.predict(transformer.transform(X)), rtol=1e-6, atol=1e-6
            )


def test_features_without_an_intercept():
    rng = np.random.default_rng(14)
    X, y = rng.random((80, 2)), rng.normal(size=80)
    fitted = fit_quietly(paper("variance", Nearest(3), fit_intercept=False), X, y)
    assert fitted.intercept_ == 0.0
    part = metasamples(X, y, sampler=Nearest(3))
    psi = (part.Y[:, 0] - part.Y[:, 1]) ** 2 / 2
    theirs = LinearRegression(fit_intercept=False).fit(part.x, psi)
    np.testing.assert_allclose(fitted.coef_, theirs.coef_, rtol=1e-9)


@pytest.mark.parametrize("sampler", [SlidingWindow(), Nearby(0.03), Nearest(4), Improved(0.2)])
@pytest.mark.parametrize("name", ["variance", "minvar", "squared_cv", "gini_mean_difference"])
def test_any_regressor_gets_pooled_pseudo_observations(name, sampler):
    rng = np.random.default_rng(15)
    X = rng.random((100, 1))
    y = 2 + rng.gamma(2.0, size=100)
    pooled = fit_quietly(paper(name, sampler, estimator=LinearRegression()), X, y)
    assert isinstance(pooled.estimator_, LinearRegression)
    exact = fit_quietly(paper(name, sampler), X, y)
    # windows are narrow, so pooling hardly moves the line
    np.testing.assert_allclose(pooled.predict(X), exact.predict(X), rtol=0.02, atol=0.02)


def test_regressors_without_weights_get_a_weighted_resample():
    rng = np.random.default_rng(16)
    X, y = rng.random((300, 1)), rng.normal(size=300)
    one, two = (
        paper("variance", "nearby", estimator=KNeighborsRegressor(50), random_state=4).fit(X, y)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert 0.5 < one.predict(X).mean() < 1.5


def test_boosting_learns_a_curve():
    rng = np.random.default_rng(17)
    X = rng.random((3000, 1))
    sd = 0.5 + np.abs(X[:, 0] - 0.5) * 2
    y = 5 * np.sin(6 * X[:, 0]) + rng.normal(scale=sd)
    boosted = paper(
        "variance", "nearby", estimator=GradientBoostingRegressor(max_depth=2, random_state=0)
    ).fit(X, y)
    line = paper("variance", "nearby").fit(X, y)
    error = [np.mean((each.predict(X) - sd**2) ** 2) for each in (boosted, line)]
    assert error[0] < 0.5 * error[1]


def test_a_statistic_known_by_its_loss_alone_needs_the_linear_class():
    X = np.arange(10.0)[:, None]
    own = statistics.from_loss(
        lambda r, Y: (r - Y.min(axis=1)) ** 2, lambda r, Y: 2 * (r - Y.min(axis=1)), None, 2
    )
    with pytest.raises(ValueError, match="estimator must be None for a statistic"):
        paper(own, "sliding", estimator=LinearRegression()).fit(X, X[:, 0])


# ---------------------------------------------------------------- transport


def test_transport_removes_the_bias_of_a_steep_mean():
    rng = np.random.default_rng(18)
    X = rng.random((1500, 1))
    y = 20 * np.sin(6 * X[:, 0]) + rng.normal(size=1500)
    plain = paper("variance", Nearby("paper")).fit(X, y)
    carried = MultiObservationRegressor("variance", Nearby("paper"), transport="location").fit(X, y)
    error = [abs(each.predict(X).mean() - 1.0) for each in (plain, carried)]
    assert error[1] < 0.15
    assert error[1] < 0.5 * error[0]


def test_transport_moves_an_equivariant_statistic_back():
    rng = np.random.default_rng(19)
    X = rng.random((1500, 1))
    y = 10 * X[:, 0] + rng.normal(size=1500)
    for name, gain in (("minvar", -1 / np.sqrt(np.pi)), ("ucb", 1.0)):
        fitted = MultiObservationRegressor(name, Nearby(0.05), transport="location").fit(X, y)
        np.testing.assert_allclose(fitted.predict(X), 10 * X[:, 0] + gain, atol=0.25)


# ---------------------------------------------------------------- what a fit says


def test_an_impossible_prediction_is_said_once_with_the_remedy():
    rng = np.random.default_rng(20)
    X = rng.random((300, 1))
    y = rng.normal(scale=np.where(X[:, 0] > 0.6, 3.0, 0.05))
    with pytest.warns(
        UserWarning, match="variance lies in .* training rows: use link='log'"
    ) as seen:
        fitted = paper("variance", "sliding").fit(X, y)
    assert len(seen) == 1
    assert fitted.predict(X).min() < 0  # nothing is clipped
    positive = fit_quietly(paper(statistics.variance().with_loss("gamma"), "sliding"), X, y)
    # the gamma loss keeps the line positive wherever it was fitted: at the representatives
    assert positive.predict(metasamples(X, y, sampler="sliding").x).min() > 0


def test_the_plan_tells_what_was_done(capsys):
    rng = np.random.default_rng(21)
    X, y = rng.random((2000, 1)), rng.normal(size=2000)
    fitted = paper("variance", Nearby(0.1), verbose=True).fit(X, y)
    text = str(fitted.plan_)
    assert "running sums" in text
    assert "Nearby(epsilon=0.1" in text
    assert "solver: Quadratic" in text
    assert capsys.readouterr().out.strip() == text
    assert fitted.n_metasamples_ == metasamples(X, y, sampler=Nearby(0.1)).x.shape[0]


def test_a_random_subset_of_tuples():
    rng = np.random.default_rng(22)
    X, y = rng.random((500, 1)), rng.normal(size=500)
    whole = paper("variance", Nearby(0.2)).fit(X, y)
    one, two, other = (
        paper("variance", Nearby(0.2), max_tuples=5000, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(coefficients(one), coefficients(two))
    assert not np.array_equal(coefficients(one), coefficients(other))
    assert one.n_metasamples_ == whole.n_metasamples_ > 5000
    np.testing.assert_allclose(one.predict(X), whole.predict(X), atol=0.3)


def test_score_is_minus_the_mean_loss_on_held_out_rows():
    rng = np.random.default_rng(23)
    X, y = rng.random((300, 1)), rng.normal(size=300)
    fitted = paper("variance", "nearby").fit(X[:200], y[:200])
    part = metasamples(X[200:], y[200:], sampler="sliding")
    psi = (part.Y[:, 0] - part.Y[:, 1]) ** 2 / 2
    expected = np.mean((fitted.predict(part.x) - psi) ** 2)
    told = (X[200:], y[200:], fitted.predict(X[200:]))
    assert scoring.score("variance", *told, transport=None) == pytest.approx(expected, rel=1e-9)
    assert fitted.score(X[200:], y[200:]) == -scoring.score("variance", *told)
    worse = paper("variance", "nearby").fit(X[:200], 10 * y[:200])
    assert worse.score(X[200:], y[200:]) < fitted.score(X[200:], y[200:])


# ---------------------------------------------------------------- errors at the door

X0, Y0 = np.arange(12.0)[:, None], np.arange(12.0) % 5

BAD = [
    ({"statistic": "vairance"}, X0, Y0, "statistic must be one of"),
    ({"sampler": "slidign"}, X0, Y0, "sampler must be one of"),
    ({"sampler": "sliding"}, np.column_stack([X0, X0]), Y0, "one column of x, got 2: use Nearest"),
    ({"sampler": "disjoint"}, np.column_stack([X0, X0]), Y0, "one column of x, got 2: use Nearest"),
    ({"statistic": "variance"}, X0[:1], Y0[:1], "needs at least 2 rows .* got n_samples=1"),
    ({"statistic": statistics.minvar(4)}, X0[:4], Y0[:4], "needs at least 5 rows"),
    (
        {"sampler": "replicates"},
        X0,
        Y0,
        "must find at least one tuple of 2 rows, got none among 12",
    ),
    ({"sampler": Nearby(0.5)}, X0, Y0, "must find at least one tuple of 2 rows, got none"),
    ({"alpha": -1.0}, X0, Y0, "alpha must be nonnegative, got -1.0"),
    ({"max_tuples": 0}, X0, Y0, "max_tuples must be at least 1, got 0"),
    ({"transport": "teleport"}, X0, Y0, "transport must be one of"),
    ({}, X0, np.where(Y0 == 3, np.nan, Y0), "y contains NaN"),
    ({}, np.where(X0 == 3, np.nan, X0), Y0, "X contains NaN"),
    ({}, X0, Y0[:-1], "inconsistent numbers of samples"),
    ({"statistic": "covariance"}, X0, Y0, "covariance needs y with 2 columns"),
    ({}, X0, np.column_stack([Y0, Y0]), "1d array|one column|columns"),
]


@pytest.mark.parametrize(("options", "X", "y", "message"), BAD)
def test_errors_at_the_door(options, X, y, message):
    with pytest.raises(ValueError, match=message):
        MultiObservationRegressor(**{"transport": None, **options}).fit(X, y)


def test_no_shift_no_transport():
    with pytest.raises(ValueError, match="transport must be None for squared_cv"):
        MultiObservationRegressor("squared_cv", "sliding", transport="location").fit(X0, Y0 + 1)


def test_a_users_kernel_is_checked_on_the_data():
    sly = statistics.mean_of(lambda Y: np.where(Y.min(axis=1) > 0, 1.0, Y[:, 0]), 2)
    y = np.random.default_rng(0).normal(size=12)
    with pytest.raises(ValueError, match="must not depend on the order of the observations"):
        paper(sly, "sliding").fit(X0, y)


def test_constant_x():
    rng = np.random.default_rng(24)
    X, y = np.full((50, 1), 3.0), rng.normal(size=50)
    for sampler in ("nearby", "nearest", "replicates", "sliding", "disjoint"):
        fitted = paper("variance", sampler).fit(X, y)
        assert fitted.coef_.tolist() == [0.0]
        if sampler in ("nearby", "nearest", "replicates"):
            assert fitted.predict([[3.0]])[0] == pytest.approx(y.var(ddof=1))


# ---------------------------------------------------------------- the paper's four laws

LAWS = [
    ("variance-sine", "variance", SlidingWindow(), 0.0035, 0.0070),
    ("variance-sine", "variance", Nearby("paper"), 0.0024, 0.0050),
    ("variance-sine", "variance", Improved(), 0.0034, 0.0075),
    ("variance-line", "variance", SlidingWindow(), 0.0035, 0.0070),
    ("variance-line", "variance", Nearby("paper"), 0.0024, 0.0050),
    ("ucb-gamma", None, SlidingWindow(), 0.09, 0.26),
    ("ucb-gamma", None, Nearby("paper"), 0.09, 0.26),
    ("minvar-exponential", None, SlidingWindow(), 0.024, 0.052),
    ("minvar-exponential", None, Nearby("paper"), 0.030, 0.066),
]


@pytest.mark.parametrize(("law", "name", "sampler", "low", "high"), LAWS)
def test_the_papers_laws(law, name, sampler, low, high):
    """Median over 100 seeds of the MSE to the truth, n = 1000, the class of lines."""
    scenario = SCENARIOS[law]
    statistic = statistics.variance()
    if name is None:
        statistic = getattr(statistics, scenario.statistic)(**scenario.parameters)
    errors = []
    for seed in range(100):
        x, y = scenario.sample(1000, np.random.default_rng(seed))
        fitted = fit_quietly(paper(statistic, sampler), x[:, None], y)
        errors.append(scenario.mse_of_line(fitted.intercept_, fitted.coef_[0]))
    assert low < np.median(errors) < high
