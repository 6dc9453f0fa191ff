"""The variance of a penalised gradient against a sum over all overlapping pairs of tuples."""

import numpy as np
import pytest

from multiobs import statistics
from multiobs.fit.links import linked
from multiobs.fit.penalised import RowProblem
from multiobs.fit.rowwise import row_sums
from multiobs.inference.row_variance import variance_of
from multiobs.samplers import Adjacent, Nearest


@pytest.mark.parametrize("sampler", [Adjacent(4), Nearest(3)])
def test_constant_class_counts_every_overlap_once(sampler: object) -> None:
    rng = np.random.default_rng(0)
    n = 30
    X, y, weight = rng.uniform(size=(n, 2)), rng.normal(size=n), rng.uniform(1, 2, n)
    X = X[:, :1] if isinstance(sampler, Adjacent) else X
    assert isinstance(sampler, Adjacent | Nearest)
    tuples = sampler.build(X, 2, rng)
    loss = linked(statistics.variance(), "identity")
    sums = row_sums(loss, tuples, y, weight, rng)
    problem = RowProblem(loss, sums, np.ones((n, 1)), np.zeros(n), np.array([-1]))
    V = variance_of(problem, tuples, y, None, weight)(np.array([0.7]), np.zeros((1, 1)))
    members = tuples.listed().members
    scores = [
        -2 * weight[i] * weight[j] * ((y[i] - y[j]) ** 2 / 2 - 0.7) for i, j in members.tolist()
    ]
    total = 0.0
    for a, one in enumerate(members.tolist()):
        for b, two in enumerate(members.tolist()):
            shared = len(set(one) & set(two))
            total += scores[a] * scores[b] * (shared > 0)
    np.testing.assert_allclose(V[0, 0], max(total, 0.0), rtol=1e-9)
