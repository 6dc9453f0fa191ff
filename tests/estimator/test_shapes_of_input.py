"""Groups and numbers that would be reshaped or cut without a word are refused at the door."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor

X = np.linspace(0, 1, 40)[:, None]
Y = np.random.default_rng(0).normal(size=40)


def test_two_columns_of_groups_are_refused():
    with pytest.raises(ValueError, match=r"one label for each of the 40 rows, got shape \(40, 2\)"):
        MultiObservationRegressor().fit(X, Y, groups=np.zeros((40, 2)))
    column = np.repeat([0, 1], 20)
    one, two = (MultiObservationRegressor().fit(X, Y, groups=g) for g in (column, column[:, None]))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("kind", ["array", "list", "objects", "frame"])
@pytest.mark.parametrize("what", ["X", "y", "sample_weight"])
def test_complex_numbers_are_refused(what, kind):
    given = {"X": X, "y": Y, "sample_weight": np.ones(40)}
    wrong = given[what] + 1j
    if kind == "list":
        given[what] = wrong.tolist()
    elif kind == "objects":
        given[what] = wrong.astype(object)
    elif kind == "frame":
        pandas = pytest.importorskip("pandas")
        given[what] = pandas.DataFrame(wrong) if what == "X" else pandas.Series(wrong)
    else:
        given[what] = wrong
    with pytest.raises(ValueError, match=rf"^Complex data not supported: {what} must hold real"):
        MultiObservationRegressor().fit(**given)
    if what == "X":
        with pytest.raises(ValueError, match=r"^Complex data not supported: X must hold real"):
            MultiObservationRegressor().fit(X, Y).predict(given["X"])
