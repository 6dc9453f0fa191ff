"""Kernels without a fast sum: bounded chunks, a progress bar, a limit, and random subsets."""

import io
import sys
import tracemalloc

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, _progress, contract, statistics
from multiobs.samplers import Nearby
from multiobs.statistics.kernels import Opaque
from multiobs.tuples import Graph, Tuples, Windows

RANGE = Opaque(lambda Y: Y.max(axis=1) - Y.min(axis=1), arity=2)


def everything(n, m):
    return Windows(np.arange(n, dtype=np.int64), np.full(n, n, dtype=np.int64), m)


def uneven():
    """Anchors with very different numbers of partners, as windows, a graph and a list."""
    windows = Windows(np.arange(8), np.array([8, 3, 4, 5, 6, 7, 8, 8]), 3)
    graph = Graph(np.array([0, 5, 5, 7, 7, 7, 7]), np.array([1, 2, 3, 4, 5, 0, 1]), 3)
    return {"windows": windows, "graph": graph, "list": everything(5, 3).listed()}


@pytest.mark.parametrize("shape", ["windows", "graph", "list"])
def test_every_tuple_is_as_likely_as_any_other(shape):
    tuples = uneven()[shape]
    every = [tuple(row) for row in tuples.listed().members.tolist()]
    rng = np.random.default_rng(1)
    size, rounds = 4, 3000
    seen = dict.fromkeys(every, 0)
    for _ in range(rounds):
        part = tuples.sample(size, rng)
        drawn = [tuple(row) for row in part.members.tolist()]
        assert len(set(drawn)) == size
        assert part.weight is not None
        np.testing.assert_allclose(part.weight, len(every) / size)
        for row in drawn:
            seen[row] += 1
    share = size / len(every)
    spread = np.sqrt(rounds * share * (1 - share))
    assert np.all(np.abs(np.array(list(seen.values())) - rounds * share) < 4.5 * spread)


def test_a_random_subset_is_unbiased_and_seeded():
    rng = np.random.default_rng(2)
    windows, y = everything(40, 2), rng.normal(size=40)
    Z = np.column_stack([np.ones(40), np.arange(40.0)])
    whole = contract(windows, RANGE, Z, y, 1)
    parts = np.array(
        [
            contract(windows.sample(50, np.random.default_rng(seed)), RANGE, Z, y, 1)
            for seed in range(600)
        ]
    )
    error = parts.std(axis=0) / np.sqrt(600)
    assert np.all(np.abs(parts.mean(axis=0) - whole) < 4 * error)
    again = contract(windows.sample(50, np.random.default_rng(0)), RANGE, Z, y, 1)
    np.testing.assert_array_equal(parts[0], again)


def test_max_tuples_of_a_fit():
    rng = np.random.default_rng(3)
    x, y = rng.random((400, 1)), rng.normal(size=400)
    statistic = statistics.mean_of(lambda Y: np.abs(Y[:, 0] - Y[:, 1]), arity=2)

    def fit(**options):
        return MultiObservationRegressor(statistic, Nearby(0.2), transport=None, **options).fit(
            x, y
        )

    whole = fit()
    some, again, other = (fit(max_tuples=4000, random_state=s) for s in (0, 0, 1))
    assert isinstance(some.tuples_, Tuples)
    assert some.tuples_.count() == 4000
    assert some.n_metasamples_ == whole.n_metasamples_ > 4000
    np.testing.assert_array_equal(some.coef_, again.coef_)
    assert not np.array_equal(some.coef_, other.coef_)
    np.testing.assert_allclose(some.predict(x), whole.predict(x), atol=0.2)
    np.testing.assert_array_equal(fit(max_tuples=10**9).coef_, whole.coef_)


def test_a_random_subset_of_a_polynomial_statistic():
    rng = np.random.default_rng(4)
    x, y = rng.random((3000, 1)), rng.normal(size=3000)
    model = MultiObservationRegressor("variance", Nearby(0.1), transport=None)
    whole = model.fit(x, y).predict(x)
    some = model.set_params(max_tuples=100_000, random_state=0).fit(x, y)
    np.testing.assert_allclose(some.predict(x), whole, atol=0.1)


def test_enumeration_holds_a_chunk_at_a_time():
    windows = everything(2500, 2)  # three million pairs
    y, Z = np.random.default_rng(5).normal(size=2500), np.ones((2500, 1))
    contract(everything(50, 2), RANGE, Z[:50], y[:50], 1)
    tracemalloc.start()
    contract(windows, RANGE, Z, y, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert windows.count() > 3e6
    assert peak < 20e6  # a list of all pairs alone would take 50 MB


def test_the_limit_gives_the_count_and_a_way_out():
    windows = everything(300, 3)
    y, Z = np.zeros(300), np.ones((300, 1))
    kernel = Opaque(lambda Y: Y[:, 0], arity=3)
    with pytest.raises(ValueError, match=r"below 1e\+06 tuples, got 4.455e\+06.*max_tuples"):
        contract(windows, kernel, Z, y, 1, limit=10**6)
    assert contract(windows, kernel, Z, y, 1, limit=10**7) == 0.0


def test_a_progress_bar_only_for_somebody_who_waits(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen, now = Terminal(), [0.0]
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(_progress.time, "monotonic", lambda: now[0])

    def slow():
        for step in range(5):
            yield step
            now[0] += 0.9

    assert list(_progress.progress(slow(), 5, "tuples")) == list(range(5))
    assert "60% of tuples" in screen.getvalue()
    assert screen.getvalue().endswith("\r")
    quiet = Terminal()
    monkeypatch.setattr(sys, "stderr", quiet)
    assert list(_progress.progress(range(5), 5, "tuples")) == list(range(5))
    assert quiet.getvalue() == ""
