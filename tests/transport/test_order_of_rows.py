"""Nothing a pilot does depends on the order of the rows."""

import numpy as np
import pytest

from multiobs.transport.pilots import fit_pilot, spread_folds
from multiobs.tuples import canonical_order


@pytest.mark.parametrize("digits", [0, 1, 12])
def test_the_canonical_order_is_lexicographic(digits: int) -> None:
    rng = np.random.default_rng(digits)
    X = np.round(rng.uniform(size=(200, 3)), digits)
    y, weight = np.round(rng.normal(size=200), 1), rng.integers(1, 3, size=200).astype(float)
    keys = np.column_stack([X, y, weight]).tolist()
    found = [keys[i] for i in canonical_order(X, y, weight)]
    assert found == sorted(keys)


def test_every_run_of_rows_holds_each_fold_once() -> None:
    folds = spread_folds(23, 5)
    for start in range(0, 20, 5):
        assert sorted(folds[start : start + 5]) == [0, 1, 2, 3, 4]
    assert len({tuple(folds[start : start + 5]) for start in range(0, 20, 5)}) > 1


LAWS = {
    "spline": lambda X: np.sin(5 * X[:, 0]),
    "jumps": lambda X: 4.0 * (X[:, 0] > 0.4) + X[:, 0],
    "smooth interaction": lambda X: 3 * np.sin(4 * X[:, 0] * X[:, -1]),
    "checkerboard": lambda X: 8 * np.sign((X[:, 0] - 0.5) * (X[:, -1] - 0.5)),
}


@pytest.mark.parametrize("digits", [1, 12], ids=["tied", "distinct"])
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", LAWS)
def test_permuting_the_rows_changes_no_bit_of_the_pilot(name: str, d: int, digits: int) -> None:
    rng = np.random.default_rng(d)
    X = np.round(rng.uniform(size=(300, d)), digits)
    y = LAWS[name](X) + rng.normal(size=300)
    weight = rng.uniform(0.5, 2.0, size=300)
    here = fit_pilot(X, y, weight)
    mixed = rng.permutation(300)
    there = fit_pilot(X[mixed], y[mixed], weight[mixed])
    assert here.name == there.name
    assert np.array_equal(here.at_rows[mixed], there.at_rows)
    if here.folds is not None:
        assert np.array_equal(here.folds[mixed], there.folds)


def test_block_means_of_many_tied_rows_do_not_depend_on_their_order() -> None:
    rng = np.random.default_rng(0)
    x = np.round(rng.uniform(size=(40_000, 1)), 3)
    y = 3.0 * (x[:, 0] > 0.5) + rng.normal(size=40_000)
    mixed = rng.permutation(40_000)
    here, there = fit_pilot(x, y, None), fit_pilot(x[mixed], y[mixed], None)
    np.testing.assert_allclose(here.at_rows[mixed], there.at_rows, rtol=0, atol=1e-9)
    assert here.name.startswith("jumps")
    far = np.abs(x[:, 0] - 0.5) > 0.002
    assert np.max(np.abs(here.at_rows - 3.0 * (x[:, 0] > 0.5))[far]) < 0.3
