"""Tests whose covariance is known: infinite degrees of freedom are the chi-squared limit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.preprocessing import PolynomialFeatures

from multiobs import MultiObservationRegressor, statistics
from multiobs.inference.hypotheses import hotelling, wald


@pytest.mark.parametrize("h", [1, 3])
def test_walds_test_with_infinite_degrees_of_freedom(h):
    b, cov = np.array([1.0, -0.5, 2.0])[:h], np.diag([0.5, 1.0, 2.0][:h])
    found = wald(b, cov, np.eye(h), np.zeros(h), np.inf, "b = 0")
    square = float(np.sum(b**2 / np.diag(cov)))
    assert_allclose(found.p_value, stats.chi2.sf(square, h), rtol=1e-12)
    near = wald(b, cov, np.eye(h), np.zeros(h), 1e7, "b = 0")
    assert_allclose(found.p_value, near.p_value, rtol=1e-5)
    assert str(found).startswith(f"H0: b = 0. Wald test: chi2({h}) = ")


def test_hotellings_test_with_infinite_degrees_of_freedom():
    found = hotelling(12.0, 3, np.inf, "b = 0")
    assert_allclose(found.p_value, stats.chi2.sf(12.0, 3), rtol=1e-12)
    assert_allclose(found.statistic, 4.0)


def test_what_is_not_known_stays_unknown():
    assert np.isnan(wald(np.ones(1), np.eye(1), np.eye(1), np.zeros(1), np.nan, "b = 0").p_value)
    assert np.isnan(hotelling(12.0, 3, 2.0, "b = 0").p_value)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("clusters", ["serial", "pairs"])
def test_joint_tests_of_few_dependent_rows_have_a_variance(clusters):
    """As limits do: the variance of the gradient is what the dependence makes of it, not zero."""
    rng = np.random.default_rng(4)
    x = np.sort(rng.uniform(size=24))[:, None]
    y = rng.normal(size=24)
    curve = PolynomialFeatures(2, include_bias=False)
    model = MultiObservationRegressor(
        statistics.minvar(2), "sliding", features=curve, random_state=0
    ).fit(x, y)
    codes = clusters if clusters == "serial" else np.arange(24) // 2
    found = model.test_constant(clusters=codes)
    assert 0.0 < found.p_value <= 1.0
    assert np.isfinite(found.statistic)


def test_a_hypothesis_far_from_the_estimate_is_told_in_few_characters_or_refused(
    capfd: pytest.CaptureFixture[str],
) -> None:
    rng = np.random.default_rng(0)
    model = MultiObservationRegressor("variance", random_state=0)
    model.fit(rng.random((200, 1)), rng.standard_normal(200))
    assert len(str(model.wald_test([[1.0, 0.0]], [1e140]))) < 60
    with pytest.raises(ValueError, match="R and q must be of a size whose powers a float holds"):
        model.wald_test(np.eye(2), [1e160, 1e160])
    written = capfd.readouterr()
    assert written.out + written.err == ""  # LAPACK complains of NaN on standard output
