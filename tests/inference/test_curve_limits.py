"""Limits of a statistic made of parts: as uneven as the limits of its parts (Zou and Donner)."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor
from multiobs.inference.additive import AdditiveFit
from multiobs.inference.curve import Curve
from multiobs.inference.intervals import limits

GRID = np.linspace(0.02, 0.98, 7)[:, None]


def _curve(statistic: str) -> Curve:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(200, 1))
    y = np.sin(4 * x[:, 0]) + np.exp(x[:, 0]) * rng.normal(size=200)
    reg = MultiObservationRegressor(statistic, features="smooth", random_state=0).fit(x, y)
    result = reg._fitted.result
    assert isinstance(result, AdditiveFit)
    return result.curve


def test_limits_of_a_bound_are_those_of_its_parts_put_together() -> None:
    """One x at a time, with the bound's derivatives by differences."""
    curve = _curve("ucb")
    mean, variance = curve.parts
    found = curve.interval(GRID, 0.95, "auto")
    for x, (low, high) in zip(GRID[:, None], found, strict=True):
        m, v = (float(part.outward(part.eta(x))[0]) for part in (mean, variance))
        own = m + np.sqrt(v)
        np.testing.assert_allclose(curve.predict(x)[0], own, rtol=1e-12)
        turn = 1 / (2 * np.sqrt(v))
        errors = [part.errors(part.marginal(x)) for part in (mean, variance)]
        ends = [
            limits(np.array([m]), errors[0], np.inf, 0.95, "auto", (-np.inf, np.inf))[0],
            limits(np.array([v]), errors[1], np.inf, 0.95, "auto", (0.0, np.inf))[0],
        ]
        columns = [mean.marginal(x), turn * variance.marginal(x)]
        cross = float((columns[0] @ curve.shared[0] @ columns[1].T)[0, 0])
        sizes = [mean.errors(columns[0])[0], variance.errors(columns[1])[0]]
        for end, wanted in ((1, high), (0, low)):
            reach = [abs(ends[k][end] - (m, v)[k]) / (1.959964 * errors[k][0]) for k in range(2)]
            square = sum((r * s) ** 2 for r, s in zip(reach, sizes, strict=True))
            square += 2 * cross * reach[0] * reach[1]
            side = 1.959964 * np.sqrt(square)
            np.testing.assert_allclose(wanted, own + (side if end else -side), rtol=1e-6)


def test_a_bound_reaches_further_up_than_down_and_evenly_only_if_asked() -> None:
    curve = _curve("ucb")
    middle = curve.predict(GRID)
    low, high = curve.interval(GRID, 0.95, "auto").T
    assert np.all(high - middle > middle - low)
    even = curve.interval(GRID, 0.95, "linear")
    np.testing.assert_allclose(even.sum(axis=1), 2 * middle, rtol=1e-9)
    np.testing.assert_allclose(
        even[:, 1] - middle, 1.959964 * curve.standard_errors(GRID), rtol=1e-6
    )


def test_a_minimum_reaches_further_down() -> None:
    curve = _curve("minvar")
    low, high = curve.interval(GRID, 0.95, "auto").T
    middle = curve.predict(GRID)
    assert curve.beta == 0  # a mean less a shortfall
    assert np.all(middle - low > high - middle)


@pytest.mark.parametrize("statistic", ["standard_deviation", "variance"])
def test_what_has_an_end_of_its_own_keeps_it(statistic: str) -> None:
    curve = _curve(statistic)
    low, high = curve.interval(GRID, 0.95, "auto").T
    middle = curve.predict(GRID)
    np.testing.assert_allclose(high / middle, middle / low, rtol=1e-9)
