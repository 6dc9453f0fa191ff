"""Several kernels summed over the tuples of each row, against loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multiobs import samplers
from multiobs.statistics.kernels import OrderStatistic, constant, moment
from multiobs.sums.scores import kernel_sums

CODES = np.stack([np.arange(20) % 3, np.arange(20) // 7], axis=1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "sampler",
    [samplers.Nearby(0.2), samplers.Nearest(4), samplers.Leaves(CODES), samplers.Disjoint()],
    ids=["windows", "graph", "leaves", "listed"],
)
def test_sums_of_several_kernels_are_those_of_listed_tuples(sampler, weighted):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(20, 1)), 1e3 + rng.normal(size=20)
    weight = rng.uniform(0.5, 2.0, 20) if weighted else None
    tuples = sampler.build(X, 2, rng, None)
    variance = moment(2) - moment(1) * moment(1)
    kernels = [constant(1.0, 2), variance, moment(1) * moment(1), OrderStatistic([1.0, 0.0])]
    expected = np.zeros((20, 4))
    for members in tuples.listed().members:
        a, b = y[members]
        size = 1.0 if weight is None else weight[members].prod()
        values = [1.0, (a - b) ** 2 / 2, a * b, min(a, b)]
        for row in members:
            expected[row] += size * np.array(values)
    assert_allclose(kernel_sums(kernels, tuples, y, weight), expected, rtol=1e-9)
