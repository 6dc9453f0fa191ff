"""Sums of the scores of a row's tuples: how they are formed does not matter."""

import numpy as np

from multiobs import samplers, statistics
from multiobs.sums import scores
from multiobs.sums.contraction import tuple_weights
from multiobs.tuples import Tuples


def test_row_scores_of_high_degree_are_listed_where_that_is_quicker(monkeypatch):
    rng = np.random.default_rng(3)
    n, p = 60, 4
    Z = np.column_stack([np.ones(n), rng.random((n, p - 1))])
    y, w, level = rng.normal(size=n), rng.normal(size=p), rng.normal(size=p)
    graph = samplers.Nearest(20).build(Z[:, 1:], 2, rng)
    slope = scores.slope_of(statistics.ucb().loss, w, level)
    passed = []
    honest = scores._running_scores
    monkeypatch.setattr(scores, "_running_scores", lambda *a: passed.append(1) or honest(*a))
    listed = scores.sum_scores(slope, graph, Z, y, w, None)
    assert not passed
    monkeypatch.setattr(scores, "PRODUCTS_A_TUPLE", 10**9)
    running = scores.sum_scores(slope, graph, Z, y, w, None)
    assert passed
    np.testing.assert_allclose(listed, running, rtol=1e-9, atol=1e-9)


def test_weights_of_tuples_and_of_rows_multiply():
    part = Tuples(np.array([[0, 1], [1, 2]]), 3, None, np.array([0.5, 2.0]))
    found = tuple_weights(part, np.array([1.0, 3.0, 5.0]))
    np.testing.assert_allclose(found, [0.5 * 3.0, 2.0 * 15.0])
