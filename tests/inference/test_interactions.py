"""Pairs that interact are found, others left out, whatever the names and order of the columns."""

from dataclasses import replace

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, Smooth
from multiobs.fit.penalised import settle
from multiobs.fit.terms import TensorTerm
from multiobs.inference.additive import AdditiveFit, Part, variance_of_rows
from multiobs.inference.interactions import MOST, SURE, pair_tests
from multiobs.inference.terms import p_value, score_of, score_statistic

SPREAD = {
    "additive": lambda X: np.exp(np.sin(4 * X[:, 0]) / 2 + X[:, 2] - 0.5),
    "interacting": lambda X: np.exp(np.cos(3 * (X[:, 0] - X[:, 2]))),
    "curved": lambda X: np.exp(np.prod(np.cos(2 * np.pi * X[:, [0, 2]]), axis=1)),
}


def _rows(kind: str, seed: int, n: int = 300, d: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, np.sin(3 * X[:, 1]) + SPREAD[kind](X) * rng.normal(size=n)


def _fitted(X: np.ndarray, y: np.ndarray, interactions: object = False) -> AdditiveFit:
    spec = Smooth(interactions=interactions)  # type: ignore[arg-type]
    result = MultiObservationRegressor(features=spec, random_state=0).fit(X, y)._fitted.result
    assert isinstance(result, AdditiveFit)
    return result


def _pairs(reg: MultiObservationRegressor) -> list[tuple[int, ...]]:
    terms = reg._fitted.result.parts[0].design.terms  # type: ignore[union-attr]
    return [term.inputs for term in terms if isinstance(term, TensorTerm)]


# the variance of all scores is made positive together: its part is not that of the straight one
@pytest.mark.parametrize(("kind", "exact"), [("curved", 1e-6), ("interacting", 0.03)])
def test_a_pair_that_is_not_in_the_class_is_tested_as_one_that_is(kind: str, exact: float) -> None:
    """The test of a fitted term takes it out and tests it there: the slow way.

    Once with all its columns, once in a class that has its first, straight one alone.
    """
    X, y = _rows(kind, 0)
    (whole,) = _fitted(X, y, [(0, 2)]).parts
    columns = np.flatnonzero(whole.design.blocks == 3)
    wanted = 2 * p_value(*score_statistic(whole, columns))
    kept = whole.design.blocks < 3
    small = MultiObservationRegressor(features="smooth", random_state=0).fit(X, y)
    part = small._fitted.result.parts[0]  # type: ignore[union-attr]
    assert isinstance(part, Part)
    # the same penalties for the other terms, the same weights, and the fit they lead to
    rows = replace(whole.rows, Z=whole.rows.Z[:, kept], groups=whole.rows.groups[kept])
    start = rows.start()
    assert start is not None
    ridge = whole.fit.ridge[kept]
    w, _ = settle(rows, ridge, start, 50)
    same = replace(part, problem=whole.problem, rows=rows, fit=replace(part.fit, w=w, ridge=ridge))
    more = np.append(np.flatnonzero(kept), columns[0])
    straight = replace(whole.rows, Z=whole.rows.Z[:, more], groups=whole.rows.groups[more])
    variance_at = variance_of_rows(whole.problem, straight)
    score = score_of(straight, variance_at, np.array([more.size - 1]), w, ridge)
    wanted = min(wanted, 2 * p_value(*score.statistic()))
    found = dict(pair_tests(same, X))[0, 2]
    np.testing.assert_allclose(found, wanted, rtol=exact)
    assert wanted < 0.01


def test_a_pair_is_found_in_the_spread_and_in_the_mean_of_a_bound() -> None:
    X, y = _rows("interacting", 1, 400)
    spec = Smooth(interactions="auto")
    reg = MultiObservationRegressor(features=spec, random_state=0).fit(X, y)
    assert (0, 2) in _pairs(reg)
    assert len(_pairs(reg)) <= MOST
    assert "interactions that tests found: s(x0):s(x2)" in str(reg.plan_)
    assert "p-values flatter" in str(reg.summary())
    order = [2, 0, 1]
    other = MultiObservationRegressor(features=spec, random_state=0).fit(X[:, order], y)
    assert {tuple(sorted(order[j] for j in pair)) for pair in _pairs(other)} == set(_pairs(reg))
    rng = np.random.default_rng(2)
    z = 4 * (X[:, 0] - 0.5) * (X[:, 1] - 0.5) + 0.3 * rng.normal(size=400)
    bound = MultiObservationRegressor("ucb", features=spec, random_state=0).fit(X, z)
    assert (0, 1) in _pairs(bound)


def test_without_a_pair_the_class_is_the_additive_one() -> None:
    X, y = _rows("additive", 3)
    tests = pair_tests(_fitted(X, y).parts[0], X)
    assert min(p for _, p in tests) > SURE
    auto = MultiObservationRegressor(features=Smooth(interactions="auto"), random_state=0).fit(X, y)
    plain = MultiObservationRegressor(features="smooth", random_state=0).fit(X, y)
    np.testing.assert_array_equal(auto.predict(X), plain.predict(X))


def test_categories_and_single_columns_have_no_pair() -> None:
    pandas = pytest.importorskip("pandas")
    X, y = _rows("interacting", 4)
    frame = pandas.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] > 0.5, "a", "b")})
    reg = MultiObservationRegressor(features=Smooth(interactions="auto"), random_state=0)
    assert _pairs(reg.fit(frame, y)) == []


def test_another_word_is_refused() -> None:
    X, y = _rows("additive", 5, 50)
    spec = Smooth(interactions="all")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="interactions must be one of"):
        MultiObservationRegressor(features=spec).fit(X, y)


def _p_values(trials: int, n: int) -> np.ndarray:
    out = []
    for seed in range(trials):
        X, y = _rows("additive", 100 + seed, n)
        out += [p for _, p in pair_tests(_fitted(X, y).parts[0], X)]
    return np.array(out)


def test_pairs_that_do_not_interact_come_in_about_as_often_as_they_may() -> None:
    found = _p_values(25, 200)
    assert 0.15 < np.mean(found < 0.3) < 0.45
    assert np.mean(found < SURE) < 0.13


@pytest.mark.slow
def test_size_of_the_pair_test() -> None:
    found = _p_values(300, 300)
    assert 0.02 < np.mean(found < SURE) < 0.08
    assert 0.17 < np.mean(found < 0.3) < 0.33  # twice the smaller of two tests is on the safe side
