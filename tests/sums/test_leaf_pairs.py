"""Scores of pairs over leaves by a slope of low rank are those of all listed pairs."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multiobs import statistics
from multiobs.sums.leaf_pairs import PairRows, PairSlope
from multiobs.sums.scores import slope_of

PAIRS = {
    name: each
    for name in statistics.CATALOGUE
    if (each := statistics.resolve(name)).arity == 2
    and each.loss.quadratic_kernels is None
    and each.loss.derivative
    and all(part.kernel.polynomial for part in each.loss.derivative)
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", PAIRS)
def test_scores_are_those_of_listed_pairs(name: str, weighted: bool) -> None:
    statistic, rng = PAIRS[name], np.random.default_rng(0)
    n, p, trees = 60, 3, 2
    Z, w = rng.normal(size=(n, p)), rng.normal(size=p)
    y = rng.normal(1.0, 0.5, size=(n, statistic.n_columns))
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    codes = rng.integers(0, 12, size=(trees, n))
    terms = slope_of(statistic.loss, w).terms
    slope = PairSlope(terms)
    levels = y.mean(axis=0) if slope.centred else 0.0
    columns = np.column_stack([np.ones(n), Z])
    rows = [PairRows(y - levels, columns, weight, each) for each in codes]
    found = slope.scores(rows, [slope.table(each, 12) for each in rows])

    expected = np.zeros((n, p))
    for each in codes:
        for i, j in combinations(range(n), 2):
            if each[i] == each[j]:
                z = (Z[i] + Z[j]) / 2
                value = sum(
                    term.kernel(y[[i, j]][None]) * np.prod([form @ z for form in term.forms])
                    for term in terms
                )
                own = 1.0 if weight is None else weight[i] * weight[j]
                expected[[i, j]] += own * float(np.squeeze(value)) * z
    assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
