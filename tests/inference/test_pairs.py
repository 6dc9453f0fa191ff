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
