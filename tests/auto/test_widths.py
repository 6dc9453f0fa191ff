"""Windows become narrow where the pilot left something, stay wide where not, and follow cells."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, samplers
from multiobs.auto import widths
from multiobs.auto.widths import narrowed


def slow_excess(e: np.ndarray, narrow: int, wide: int, left: dict[int, float]) -> float:
    """T-value of the growth of half squared differences, by loops over sorted residuals."""
    e = e - e.mean()
    terms = []
    for i in range(e.size):
        means = [e[i + 1 : i + 1 + k].mean() if i + 1 < e.size else 0.0 for k in (narrow, wide)]
        terms.append(e[i] * (means[0] / left[narrow] - means[1] / left[wide]))
    growth = np.sum(terms) + np.sum(e**2) * (1 / left[wide] - 1 / left[narrow])
    return float(growth / np.sqrt(np.sum(np.square(terms))))


def test_the_excess_is_that_of_the_obvious_loop() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(60, 1))
    e = np.sin(30 * x[:, 0]) + rng.normal(size=60)
    near = widths._in_a_row(x, e[:, None], None, 8)
    order = np.argsort(x[:, 0])
    nothing_taken = dict.fromkeys((1, 2, 4, 8), 1.0)
    for narrow, wide in ((1, 8), (4, 8), (1, 2)):
        expected = slow_excess(e[order], narrow, wide, nothing_taken)
        assert near.excess(0, narrow, wide) == pytest.approx(expected, rel=1e-9)
    # a pilot that takes more of the noise of rows further apart
    rank = np.argsort(order)
    near.ask(lambda i, j: 1.0 - 0.05 * np.abs(rank[i] - rank[j]))
    gaps = np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    left = {}
    for k in nothing_taken:
        gap = gaps[np.triu(gaps <= k, 1)]
        left[k] = float(np.mean(1.0 - 0.05 * gap))
    for narrow, wide in ((1, 8), (4, 8), (1, 2)):
        expected = slow_excess(e[order], narrow, wide, left)
        assert near.excess(0, narrow, wide) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("d", [1, 2])
def test_what_a_pilot_takes_of_the_noise_hides_nothing(d: int) -> None:
    """Residuals of a rough smoother are unlike their neighbours: that is no sign of a good mean."""
    values = []
    for seed in range(30):
        rng = np.random.default_rng([seed, d])
        X, e = rng.uniform(size=(200, d)), rng.normal(size=200)
        size = 0.01 if d == 1 else 0.06
        H = np.exp(-0.5 * np.sum(((X[:, None] - X[None]) / size) ** 2, axis=2))
        H = H @ np.linalg.inv(H + 1.0 * np.eye(200))
        S = H @ H.T

        def share(i: np.ndarray, j: np.ndarray, H: np.ndarray = H, S: np.ndarray = S) -> np.ndarray:
            taken = H[i, i] + H[j, j] - 2 * H[i, j]
            return 1.0 - taken + (S[i, i] + S[j, j] - 2 * S[i, j]) / 2

        lagged = widths._in_a_row if d == 1 else widths._around
        near = lagged(X, (e - H @ e)[:, None], None, 8)
        raw = near.excess(0, 1, 8)
        near.ask(share)
        values.append([raw, near.excess(0, 1, 8)])
    raw, known = np.mean(values, axis=0)
    assert raw < -0.7
    assert abs(known) < 0.6  # three standard errors


@pytest.mark.parametrize("d", [1, 2])
def test_noise_alone_narrows_nothing(d: int) -> None:
    found = []
    for seed in range(40):
        rng = np.random.default_rng([seed, d])
        X = rng.uniform(size=(400, d))
        e = (0.3 + X[:, 0]) * rng.standard_t(5, size=400)
        found.append(narrowed(X, e, None, 16, 1))
    assert np.mean(np.array(found) == 16) >= 0.9


@pytest.mark.parametrize("d", [1, 2])
def test_a_mean_that_moves_within_the_window_narrows_it(d: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1000, d))
    e = 3 * np.sin(200 * X[:, 0] if d == 1 else 20 * X.sum(axis=1)) + rng.normal(size=1000)
    assert narrowed(X, e, None, 16, 1) <= 4


def test_the_order_of_tied_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.uniform(size=(500, 1)), 2)
    e = rng.normal(size=500)
    for order in (np.argsort(e), np.lexsort((e, x[:, 0])), rng.permutation(500)):
        near = widths._in_a_row(x[order], e[order][:, None], None, 16)
        base = widths._in_a_row(x, e[:, None], None, 16)
        assert near.excess(0, 1, 16) == pytest.approx(base.excess(0, 1, 16), rel=1e-9)
    # sorted by y within ties, neighbours would look alike
    assert narrowed(x[np.argsort(e)], np.sort(e), None, 16, 1) == 16


def test_the_default_is_no_worse_than_sliding_where_no_pilot_can_follow() -> None:
    ours, sliding = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=(1000, 1))
        y = 3 * np.sin(500 * x[:, 0]) + rng.normal(size=1000)
        for errors, model in (
            (ours, MultiObservationRegressor()),
            (sliding, MultiObservationRegressor(sampler="sliding", transport=None)),
        ):
            errors.append(np.mean((model.fit(x, y).predict(x) - 1.0) ** 2))
    assert np.mean(ours) < 1.2 * np.mean(sliding)


def test_windows_follow_the_size_of_the_cell() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1], [900, 100])
    x = rng.uniform(size=(1000, 1))
    for sampler in (samplers.Adjacent(15, by_group=True), samplers.Nearest(15, by_group=True)):
        members = sampler.build(x, 2, rng, groups).listed().members
        counts = np.bincount(groups[members[:, 0]])
        # 15 √0.9 = 14 and 15 √0.1 = 5 partners, fewer only at the ends
        assert 13.5 < counts[0] / 900 <= 14
        assert 4.5 < counts[1] / 100 <= 5
    y = rng.normal(size=1000)
    reg = MultiObservationRegressor().fit(x, y, groups=groups)
    assert reg.sampler_ == samplers.Adjacent(16, by_group=True)
