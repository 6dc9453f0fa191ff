"""Sums over the pairs of each row."""

import numpy as np
import pytest

from multiobs.inference.pairs import pair_row_sums
from multiobs.statistics.kernels import moment
from multiobs.tuples import Windows


@pytest.mark.parametrize("weight", [None, np.arange(4.0)])
def test_a_power_of_r_that_the_loss_lacks_sums_to_zero(weight):
    """The loss of a standard deviation has no r, so its kernel of that power has no terms."""
    windows = Windows(np.arange(4), np.array([2, 3, 4, 4]), arity=2)
    nothing = moment(1) - moment(1)
    assert not nothing.terms
    found = pair_row_sums(windows, nothing, np.arange(4.0), weight)
    np.testing.assert_array_equal(found, np.zeros(4))


@pytest.mark.parametrize("weight", [None, np.array([1.0, 0.5, 2.0, 3.0, 0.25])])
def test_a_row_is_no_pair_with_itself(weight):
    """Half a squared difference would not notice: of a row with itself it is zero."""
    y, stop = np.array([2.0, -1.0, 3.0, 0.5, 4.0]), np.array([3, 4, 4, 5, 5])
    windows = Windows(np.arange(5), stop, arity=2)
    w = np.ones(5) if weight is None else weight
    expected = np.zeros(5)
    for i in range(5):
        for j in range(i + 1, stop[i]):
            expected[[i, j]] += w[i] * w[j] * y[i] * y[j]
    found = pair_row_sums(windows, moment(1) * moment(1), y, weight)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
