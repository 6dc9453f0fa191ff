"""features="smooth" and link=: every statistic, its domain, its units, its words."""

from typing import Any

import numpy as np
import pytest
from tables import LAWS, STATISTICS

from multiobs import MultiObservationRegressor, Smooth, statistics
from multiobs.inference import TermSummary

SMOOTH = [name for name, case in STATISTICS.items() if not case.slow]


def _rows(labels: str, n: int = 150, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    if labels == "pair":
        return x, LAWS["binormal"](rng, (n,))
    if labels == "discrete":
        return x, rng.integers(0, 3, size=n).astype(float)
    if labels == "positive":
        return x, rng.gamma(2.0, size=n) + 0.5
    return x, np.sin(6 * x[:, 0]) + (0.5 + x[:, 0]) * rng.gamma(2.0, size=n)


@pytest.mark.parametrize("name", SMOOTH)
def test_every_statistic_has_a_smooth_fit_inside_its_domain(name: str) -> None:
    case = STATISTICS[name]
    statistic = case.make()
    x, y = _rows(case.labels)
    reg = MultiObservationRegressor(statistic, features="smooth").fit(x, y)
    grid = np.linspace(-0.2, 1.2, 30)[:, None]
    r, band = reg.predict(grid), reg.predict_interval(grid)
    low, high = statistic.domain
    assert np.all(np.isfinite(r))
    assert np.all((r >= low) & (r <= high))
    assert np.all((band[:, 0] <= r) & (r <= band[:, 1]))
    assert np.all((band >= low) & (band <= high))
    summary = reg.summary()
    assert isinstance(summary, TermSummary)
    assert "s(x0)" in str(summary)
    edf = np.array([term.edf for term in summary.terms])
    assert np.all((edf >= 0) & (edf < 20))


def test_a_statistic_known_by_its_loss_alone_is_refused() -> None:
    absolute = statistics.from_loss(
        lambda r, Y: np.abs(r - np.abs(Y[:, 0] - Y[:, 1])),
        lambda r, Y: np.sign(r - np.abs(Y[:, 0] - Y[:, 1])),
        None,
        arity=2,
    )
    x, y = _rows("real")
    with pytest.raises(ValueError, match="smooth features need a statistic that is a mean"):
        MultiObservationRegressor(absolute, features="smooth").fit(x, y)


@pytest.mark.parametrize("name", ["variance", "ucb", "minvar", "gini_mean_difference"])
def test_units_of_y_and_x_do_not_matter(name: str) -> None:
    x, y = _rows("real")
    grid = np.linspace(0, 1, 9)[:, None]
    statistic = statistics.resolve(name)
    power, moves = statistic.scale or 0, statistic.shift == "equivariant"
    reg = MultiObservationRegressor(statistic, features="smooth")
    plain = reg.fit(x, y).predict(grid)
    moved = reg.fit(1e3 * x + 1e6, 8.0 * y + 1e4).predict(1e3 * grid + 1e6)
    wanted = plain * 8.0**power + 1e4 * moves
    np.testing.assert_allclose(moved, wanted, rtol=1e-4)


@pytest.mark.parametrize("link", ["log", "identity", "auto"])
def test_links_of_the_linear_class(link: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(3000, 1))
    y = rng.normal(scale=np.exp(0.5 * (0.3 + 1.5 * x[:, 0])))
    reg = MultiObservationRegressor("variance", link=link, random_state=0).fit(x, 4.0 * y)
    if link == "log":
        np.testing.assert_allclose(reg.coef_, [1.5], atol=0.3)
        np.testing.assert_allclose(reg.intercept_, 0.3 + np.log(16), atol=0.2)
        np.testing.assert_allclose(
            reg.predict(x[:5]), np.exp(reg.intercept_ + x[:5, 0] * reg.coef_[0]), rtol=1e-9
        )
        error = np.sqrt(reg.coef_cov_[1, 1])
        assert 0.05 < error < 0.3
        t = float(reg.coef_[0] / error)
        np.testing.assert_allclose(reg.wald_test([0.0, 1.0]).statistic, t**2, rtol=1e-9)
        assert "log" in str(reg.summary())
        assert reg.test_constant().p_value < 1e-6
    else:
        line = MultiObservationRegressor("variance", random_state=0).fit(x, 4.0 * y)
        np.testing.assert_array_equal(reg.coef_, line.coef_)


def test_no_variance_below_zero_with_a_log_link() -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=(200, 1))
    y = rng.normal(scale=3 * x[:, 0] ** 3)
    reg = MultiObservationRegressor("variance", link="log").fit(x, y)
    assert np.all(reg.predict(np.linspace(-1, 2, 50)[:, None]) > 0)
    assert np.all(reg.predict_interval(np.linspace(-1, 2, 50)[:, None]) > 0)


def test_what_does_not_fit_is_refused() -> None:
    x, y = _rows("real")
    with pytest.raises(ValueError, match="link must be one of"):
        MultiObservationRegressor(link="probit").fit(x, y)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="features must be one of"):
        MultiObservationRegressor(features="spline").fit(x, y)
    with pytest.raises(ValueError, match="link must be 'auto' for smooth features of ucb"):
        MultiObservationRegressor("ucb", features="smooth", link="log").fit(x, y)
    with pytest.raises(ValueError, match="fit_intercept must be True"):
        MultiObservationRegressor(features="smooth", fit_intercept=False).fit(x, y)
    with pytest.raises(ValueError, match="got 'location-scale'"):
        MultiObservationRegressor(features="smooth", transport="location-scale").fit(x, y)
    reg = MultiObservationRegressor(features="smooth").fit(x, y)
    with pytest.raises(AttributeError, match="summary\\(\\) has a line a term"):
        _ = reg.coef_
    with pytest.raises(ValueError, match="bias must be None with smooth features"):
        reg.predict_interval(x, bias="undersmooth")


def test_a_number_for_alpha_is_one_penalty_for_all() -> None:
    x, y = _rows("real", 400)
    grid = np.linspace(0, 1, 50)[:, None]
    bends = []
    for alpha in (1e-8, 1e-4, 1e4):
        reg = MultiObservationRegressor(features="smooth", alpha=alpha).fit(x, y)
        bends.append(float(np.std(np.log(reg.predict(grid)))))
    assert bends[0] > bends[1] > bends[2]
    assert bends[2] < 1e-3


def test_categories_by_any_name_and_interactions() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 600
    x, code = rng.uniform(size=n), rng.integers(0, 3, n)
    y = rng.normal(scale=np.array([0.5, 1.0, 2.0])[code] * (1 + x))
    found = []
    for names in (["a", "b", "c"], ["c", "a", "b"]):
        frame = pd.DataFrame({"x": x, "kind": np.array(names)[code]})
        reg = MultiObservationRegressor("variance", features="smooth").fit(frame, y)
        found.append(reg.predict(frame))
        assert [term.name for term in reg.partial_effects()] == ["s(x)", "kind"]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)
    truth = (np.array([0.5, 1.0, 2.0])[code] * (1 + x)) ** 2
    assert np.corrcoef(np.log(found[0]), np.log(truth))[0, 1] > 0.95
    X = rng.uniform(size=(n, 2))
    z = rng.normal(scale=np.exp(2 * (X[:, 0] - 0.5) * (X[:, 1] > 0.5)))
    both = MultiObservationRegressor(features=Smooth(interactions=True)).fit(X, z)
    frame = both.summary().to_frame()
    assert frame.loc[("variance", "s(x0):s(x1)"), "p_value"] < 0.01


def test_partial_effects_sum_to_the_fit() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = rng.normal(scale=1 + np.sin(3 * X[:, 0]))
    reg = MultiObservationRegressor("variance", features="smooth").fit(X, y)
    one, two = reg.partial_effects(n_points=5)
    corner = np.column_stack([one.x, np.full(5, two.x[0])])
    eta = np.log(reg.predict(corner))
    np.testing.assert_allclose(np.diff(eta), np.diff(one.effect), atol=1e-9)
    assert np.all((one.low < one.effect) & (one.effect < one.high))


def test_constant_labels_are_reported_not_invented() -> None:
    x = np.linspace(0, 1, 50)[:, None]
    with pytest.warns(Warning, match="falls without end"):
        reg = MultiObservationRegressor("variance", features="smooth").fit(x, np.ones(50))
    np.testing.assert_allclose(reg.predict(x), 0.0, atol=1e-50)


def test_a_straight_variance_does_not_have_to_bend() -> None:
    rng = np.random.default_rng(0)
    grid = np.linspace(0.02, 0.98, 50)
    errors = {"auto": 0.0, "log": 0.0}
    for _ in range(8):
        x = rng.uniform(size=400)
        y = np.sqrt(0.2 + 0.8 * x) * rng.normal(size=400)
        for link in errors:
            reg = MultiObservationRegressor(features="smooth", link=link)  # type: ignore[arg-type]
            r = reg.fit(x[:, None], y).predict(grid[:, None])
            errors[link] += float(np.mean((r - 0.2 - 0.8 * grid) ** 2))
            assert np.all(reg.predict(np.linspace(-3, 3, 20)[:, None]) > 0)
    assert errors["auto"] < 0.9 * errors["log"]


def test_limits_of_a_positive_curve_are_as_far_in_ratio() -> None:
    x, y = _rows("real", 400)
    reg = MultiObservationRegressor(features="smooth").fit(x, y)
    grid = np.linspace(0.1, 0.9, 20)[:, None]
    middle, (low, high) = reg.predict(grid), reg.predict_interval(grid).T
    np.testing.assert_allclose(high / middle, middle / low, rtol=1e-9)
