"""Levels of a category: no level is a special one, and small ones borrow from the others."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from multiobs import MultiObservationRegressor
from multiobs._check import categories
from multiobs.fit.shrinkage import shrunk
from multiobs.transport.pilots import completed, fit_pilot

pd = pytest.importorskip("pandas")


def cells(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    code = rng.choice(6, size=n, p=[0.4, 0.25, 0.15, 0.1, 0.06, 0.04])
    x = rng.uniform(size=n)
    y = 2.0 * code + 3 * (code % 2) * x + np.sqrt(0.5 + x) * rng.normal(size=n)
    return x, code, y


@pytest.mark.parametrize("seed", [0, 1])
def test_predictions_do_not_depend_on_the_names_of_levels(seed: int) -> None:
    x, code, y = cells(400, seed)
    found = []
    for names in ("abcdef", "fedcba", "cadbfe"):
        X = pd.DataFrame({"x": x, "level": [names[c] for c in code]})
        reg = MultiObservationRegressor(random_state=0).fit(X, y)
        assert "slopes: shrunk" in str(reg.plan_)
        found.append(reg.predict(X))
    limits = reg.predict_interval(X)
    error = (limits[:, 1] - limits[:, 0]) / 4
    for other in found[1:]:
        assert np.all(np.abs(other - found[0]) < 0.02 * error)


def test_shrinking_levels_does_not_depend_on_the_reference() -> None:
    rng = np.random.default_rng(0)
    effects = rng.normal(size=5)
    root = rng.normal(size=(6, 6))
    precision = root @ root.T  # of (slope, five effects); columns of all levels, none left out
    answers = []
    for reference in (0, 3):
        others = [c for c in range(5) if c != reference]
        # coefficients: level of the reference, slope, differences from the reference
        T = np.zeros((6, 6))
        T[0, 1] = 1.0
        T[1:, 0] = 1.0
        for place, c in enumerate(others):
            T[1 + c, 2 + place] = 1.0
        w = np.linalg.solve(T, np.concatenate([[0.4], effects]))
        A = T.T @ precision @ T
        u = shrunk(w, A, np.linalg.inv(A), 1, ((1, 5),))
        answers.append(T @ u)
    assert answers[0] == pytest.approx(answers[1], rel=1e-9)
    assert not np.allclose(answers[0][1:], effects)


def test_levels_that_do_not_differ_are_pulled_together_and_others_are_not() -> None:
    A = np.eye(9)  # intercept and eight differences from a reference
    near = np.concatenate([[1.0], np.random.default_rng(0).normal(size=8)])
    far = np.concatenate([[1.0], 100.0 * np.arange(1.0, 9.0)])
    assert np.std(shrunk(near, A, A, 1, ((0, 8),))[1:]) < 0.6 * np.std(near[1:])
    assert shrunk(far, A, A, 1, ((0, 8),)) == pytest.approx(far, rel=0.01)


def test_the_pilot_sees_all_levels_alike() -> None:
    x, code, y = cells(300, 3)
    values = []
    for order in ([0, 1, 2, 3, 4, 5], [4, 2, 5, 0, 1, 3]):
        X = np.column_stack([x, *(code == c for c in order[1:])]).astype(float)
        pilot = fit_pilot(X, y, None, ((1, 6),))
        assert pilot.predict(X) == pytest.approx(pilot.at_rows) or pilot.folds is not None
        values.append(pilot.at_rows)
    assert values[0] == pytest.approx(values[1], abs=1e-6)
    assert np.array_equal(completed(X, ((1, 6),)).sum(axis=1), x + 1.0)


@pytest.mark.parametrize("statistic", ["variance", "ucb"])
@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestRegressor(20, max_features=2, min_samples_leaf=10, random_state=0),
        HistGradientBoostingRegressor(max_iter=30, random_state=0),
        "auto",
    ],
    ids=["forest", "boosting", "auto"],
)
def test_trees_do_not_depend_on_the_names_of_levels(estimator, statistic) -> None:
    x, code, y = cells(300, 0)
    other = np.random.default_rng(5).integers(3, size=300)
    found = []
    for names, colours in (("abcdef", "rgb"), ("fedcba", "bgr"), ("cadbfe", "grb")):
        X = pd.DataFrame({
            "x": x,
            "level": [names[c] for c in code],
            "colour": pd.Categorical([colours[c] for c in other]),
        })  # fmt: skip
        reg = MultiObservationRegressor(statistic, estimator=estimator, random_state=0).fit(X, y)
        found.append(reg.predict(X))
    # lines of a bound move with the reference by a small part of their errors
    close = 1e-2 if estimator == "auto" else 1e-6
    for again in found[1:]:
        np.testing.assert_allclose(again, found[0], rtol=close)


def test_levels_stand_in_the_order_of_their_frequency() -> None:
    X = pd.DataFrame({"level": list("bbbaacc"), "x": np.arange(7.0)})
    y = np.array([0.0, 0.0, 0.0, 5.0, 5.0, 1.0, 1.0])
    levels = categories.find(X)
    assert levels.levels["level"] == ("a", "b", "c")
    assert levels.by_frequency(X, y).levels["level"] == ("b", "c", "a")
