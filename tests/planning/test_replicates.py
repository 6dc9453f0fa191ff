"""How many labels at how many x."""

import itertools
import math

import numpy as np
import pytest

from multiobs import planning
from multiobs.experiments import SCENARIOS


@pytest.mark.parametrize("q", [2, 3, 8])
def test_variance_of_pooled_kernels(q):
    # the sample variance of q standard normal labels has variance 2/(q-1)
    assert planning.u_statistic_variance([0.5, 2.0], q) == pytest.approx(2 / (q - 1))


def test_variance_components_of_other_kernels():
    rng = np.random.default_rng(0)
    zeta = planning.variance_components("gini_mean_difference", rng=rng)
    labels = rng.standard_normal((20_000, 6))
    pairs = [np.abs(labels[:, i] - labels[:, j]) for i, j in itertools.combinations(range(6), 2)]
    measured = np.mean(pairs, axis=0).var()
    assert planning.u_statistic_variance(zeta, 6) == pytest.approx(measured, rel=0.05)
    pilot = planning.variance_components("variance", 3 * labels[:2000, 0], rng=rng)
    assert pilot[1] == pytest.approx(2 * 81, rel=0.3)


def test_replicate_design_predicts_the_error():
    rng = np.random.default_rng(0)
    found = planning.replicates_design("variance", 600, components=[0.5, 2.0], rng=rng)
    assert found.labels <= 600
    assert found.error == min(row[2] for row in found.table)
    law = SCENARIOS["variance-line"]
    for q, n, predicted in found.table[:12:4]:
        errors = []
        for _ in range(300):
            x = rng.random(n)
            s2 = law.replicates(x, q, rng).var(axis=1, ddof=1)
            line = np.polynomial.Polynomial.fit(x, s2, 1, domain=[0, 1]).convert().coef
            errors.append(law.mse_of_line(*line))
        error = np.std(errors) / math.sqrt(300)
        assert abs(np.mean(errors) - predicted) < 4 * error + 0.05 * predicted


def test_replicates_pay_until_the_class_is_wrong():
    rng = np.random.default_rng(0)
    kwargs = {"components": [0.5, 2.0], "rng": rng}
    exact = planning.replicates_design("variance", 1000, **kwargs)
    wrong = planning.replicates_design("variance", 1000, misfit=2.0, **kwargs)
    dear = planning.replicates_design("variance", 1000, misfit=2.0, cost_point=30.0, **kwargs)
    assert exact.replicates > wrong.replicates == 2
    assert dear.replicates > 2
    assert dear.spent <= 1000
    with pytest.raises(ValueError, match="budget must cover 4 points"):
        planning.replicates_design("variance", 7, **kwargs)
    with pytest.raises(ValueError, match=r"components must have shape \(2,\)"):
        planning.replicates_design("variance", 70, components=[1.0], rng=rng)
    with pytest.raises(ValueError, match="must be mean-type"):
        planning.variance_components("ucb", rng=rng)


@pytest.mark.parametrize(("n", "p"), [(12, 3), (20, 6)])
def test_error_of_a_fit_to_few_places_counts_its_coefficients(n, p):
    # least squares on normal features: E[z (Z'Z)^-1 z'] = p / (n - p - 1), drawn here
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((40_000, n, p))
    at = rng.standard_normal((40_000, p))
    solved = np.linalg.solve(Z.transpose(0, 2, 1) @ Z, at[:, :, None])[:, :, 0]
    drawn = np.einsum("ij,ij->i", at, solved)
    found = planning.replicates_design(
        "variance", 2 * n, n_features=p, components=[0.5, 2.0], most=2, rng=rng
    )
    (replicates, points, error), *_ = found.table
    assert (replicates, points) == (2, n)
    # a pair's half squared difference of standard normal labels has variance 2
    assert error / 2.0 == pytest.approx(drawn.mean(), abs=5 * drawn.std() / 200)
