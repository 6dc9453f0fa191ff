"""The smooth pilot of several columns: relevance, interactions, what it takes of the noise."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from multiobs import MultiObservationRegressor
from multiobs.transport.kernel import KernelPilot, _Evidence, gaussian_kernel
from multiobs.transport.pilots import fit_pilot
from multiobs.transport.spline import SplinePilot


def interacting(n: int, seed: int, d: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    mean = 2 * np.sin(2 * np.pi * (X[:, 0] + X[:, 1]))
    return X, mean, mean + rng.normal(size=n)


def test_the_gradient_of_the_evidence() -> None:
    X, _, y = interacting(40, 0, 3)
    search = _Evidence(X / X.std(axis=0), y, [[0], [1], [2]])
    at = np.array([0.3, -0.2, 1.0, 0.1, -0.5])
    numeric = approx_fprime(at, lambda t: search._value(t)[0], 1e-6)
    assert search._value(at)[1] == pytest.approx(numeric, rel=1e-4, abs=1e-4)


def test_the_kernel_is_that_of_its_formula() -> None:
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    slow = [[np.exp(-np.sum((a - b) ** 2) / 2) for b in B] for a in A]
    assert gaussian_kernel(A, B) == pytest.approx(np.array(slow), rel=1e-12)


def test_interactions_are_learned_and_irrelevant_columns_are_not() -> None:
    X, mean, y = interacting(800, 1)
    pilot = fit_pilot(X, y, None)
    assert pilot.name == "Gaussian process"
    assert pilot.folds is None
    additive = SplinePilot().fit(X, y).predict(X)
    assert np.mean((pilot.at_rows - mean) ** 2) < 0.1 * np.mean((additive - mean) ** 2)
    scales = pilot.models[0].scales_
    assert scales[2:].min() > 3 * scales[:2].max()


def test_the_share_of_noise_left_in_pairs_is_that_of_the_smoother_matrix() -> None:
    X, _, y = interacting(120, 2, 2)
    scales = np.array([0.3, 0.4])
    pilot = KernelPilot(scales).fit(X, y)
    Z = pilot._design(X)
    H = Z @ pilot._inverse @ Z.T
    centred = y - y.mean()
    assert pilot.predict(X) == pytest.approx(y.mean() + H @ centred, rel=1e-6, abs=1e-6)
    S = H @ H.T
    i, j = np.random.default_rng(0).integers(0, 120, size=(2, 60))
    expected = 1 - (H[i, i] + H[j, j] - 2 * H[i, j]) + (S[i, i] + S[j, j] - 2 * S[i, j]) / 2
    assert pilot.pair_share(X[i], X[j]) == pytest.approx(expected, rel=1e-8)


def test_the_variance_around_an_interacting_mean_is_not_biased() -> None:
    found = []
    for seed in range(12):
        X, _, y = interacting(400, seed)
        found.append(np.mean(MultiObservationRegressor(random_state=0).fit(X, y).predict(X)))
    error = np.std(found) / np.sqrt(len(found))
    # what the pilot misses of the mean adds a little
    assert -4 * error < np.mean(found) - 1.0 < 4 * error + 0.1


def test_shifts_and_scales_of_the_labels_and_outliers_in_x() -> None:
    X, mean, y = interacting(300, 3, 2)
    base = KernelPilot().fit(X, y)
    other = KernelPilot().fit(X, 1e6 + 1e3 * y)
    np.testing.assert_allclose(other.predict(X), 1e6 + 1e3 * base.predict(X), rtol=1e-9)
    X[0] = 1e9
    far = KernelPilot().fit(X, y)
    assert np.mean((far.predict(X[1:]) - mean[1:]) ** 2) < 0.5
    assert KernelPilot().fit(X, np.full(300, 3.0)).predict(X[:4]) == pytest.approx(3.0)


def test_many_rows_are_fitted_to_some_of_them() -> None:
    X, mean, y = interacting(30_000, 4, 2)
    pilot = fit_pilot(X, y, None)
    assert pilot.name == "Gaussian process"
    assert pilot.smooth is None  # most rows were not seen
    assert np.mean((pilot.at_rows - mean) ** 2) < 0.01
