"""Where a softplus bends: the restricted likelihood against its definition, dips and humps."""

import numpy as np
import pytest
from scipy import stats

from multiobs import MultiObservationRegressor, statistics
from multiobs.fit.knees import likely_knee, restricted_likelihood
from multiobs.fit.links import linked
from multiobs.fit.penalised import Penalised, RowProblem
from multiobs.fit.rowwise import RowSums
from multiobs.fit.solvers import Status


def _normal(ridge: float) -> tuple[RowProblem, Penalised, float]:
    """Rows of a linear model, its fit, and the marginal likelihood of the labels."""
    rng = np.random.default_rng(0)
    n, phi = 40, 0.7
    Z = np.column_stack([np.ones(n), rng.normal(size=(n, 3))])
    y = rng.normal(size=n)
    groups = np.array([-1, 0, 0, 0])
    penalty = np.where(groups < 0, 0.0, ridge)
    A = Z.T @ Z
    w = np.linalg.solve(A + np.diag(penalty), Z.T @ y)
    sums = RowSums(y, np.ones(n), None)
    rows = RowProblem(linked(statistics.mean(), "identity"), sums, Z, np.zeros(n), groups)
    wide = 1e6  # stands for the uniform prior of the constant
    spread = phi * (np.eye(n) + wide * np.ones((n, n)) + Z[:, 1:] @ Z[:, 1:].T / ridge)
    marginal = float(stats.multivariate_normal(np.zeros(n), spread).logpdf(y))
    return rows, Penalised(w, penalty, groups, A, phi, Status.CONVERGED), marginal


def test_the_restricted_likelihood_is_that_of_a_mixed_model() -> None:
    found, wanted = [], []
    for ridge in (0.3, 5.0, 200.0):
        rows, fit, marginal = _normal(ridge)
        found.append(restricted_likelihood(rows, fit))
        wanted.append(marginal)
    np.testing.assert_allclose(np.diff(found), np.diff(wanted), atol=1e-4)


def test_a_link_without_a_knee_keeps_it() -> None:
    rows, fit, _ = _normal(1.0)
    assert likely_knee(statistics.mean(), rows, fit, lambda w, bread: bread) == 1.0


@pytest.mark.parametrize("dips", [True, False])
def test_a_dip_is_fitted_behind_a_straighter_link_than_a_hump(dips: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=1000)
    bell = np.exp(-(((x - 0.4) / 0.1) ** 2) / 2)
    y = np.sqrt(1.0 - 0.9 * bell if dips else 0.1 + 0.9 * bell) * rng.normal(size=1000)
    reg = MultiObservationRegressor("variance", features="smooth", random_state=0)
    part = reg.fit(x[:, None], y)._fitted.result.parts[0]
    level = float(part.at_rows.mean()) / part.units.factor
    assert part.loss.knee < 0.5 * level if dips else part.loss.knee > 1.5 * level
