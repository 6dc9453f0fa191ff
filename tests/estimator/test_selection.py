"""estimator="auto": the simplest class whose held-out score is not clearly behind the best."""

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, statistics
from multiobs.estimator.selection import ClassScores, candidates


def _rows(spread: object, n: int = 800, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, np.sin(6 * x[:, 0]) + spread(x[:, 0]) * rng.normal(size=n)  # type: ignore[operator]


def test_nothing_moves_a_constant_is_taken() -> None:
    reg = MultiObservationRegressor("variance", estimator="auto", random_state=0)
    reg.fit(*_rows(np.ones_like))
    assert reg.plan_.scores is not None
    assert reg.plan_.scores.chosen == "constant"
    assert np.ptp(reg.predict(np.linspace(0, 1, 5)[:, None])) < 1e-9


def test_a_bend_is_followed_and_the_table_says_why() -> None:
    x, y = _rows(lambda x: 0.3 + 2 * np.exp(-(((x - 0.5) / 0.15) ** 2)))
    reg = MultiObservationRegressor("variance", estimator="auto", random_state=0).fit(x, y)
    table = reg.plan_.scores
    assert table is not None
    assert table.names == ("constant", "line", "smooth", "boosting")
    assert table.chosen in ("smooth", "boosting")
    at = table.names.index(table.chosen)
    assert table.behind[at] <= 2 * table.errors[at]
    assert np.all(table.behind[:at] > 2 * table.errors[:at])
    assert np.min(table.behind) == 0.0
    np.testing.assert_allclose(table.scores - table.scores.min(), table.behind, atol=1e-9)
    assert "by held-out score" in str(reg.plan_)
    again = MultiObservationRegressor("variance", estimator="auto", random_state=0).fit(x, y)
    np.testing.assert_array_equal(reg.predict(x), again.predict(x))


def test_what_may_be_chosen() -> None:
    own = statistics.from_loss(
        lambda r, Y: (r - Y[:, 0]) ** 2, lambda r, Y: 2 * (r - Y[:, 0]), None, arity=1
    )
    assert [each.name for each in candidates(own, 1, 100)] == ["constant", "line"]
    assert len(candidates(statistics.ucb(1.0), 2, 100)) == 5
    x, y = _rows(np.ones_like, 60)
    with pytest.raises(ValueError, match="estimator must be one of"):
        MultiObservationRegressor(estimator="best").fit(x, y)
    with pytest.raises(ValueError, match="features must be None with estimator='auto'"):
        MultiObservationRegressor(estimator="auto", features="smooth").fit(x, y)


def test_the_simplest_of_some_classes() -> None:
    names, behind = ("constant", "line", "smooth", "boosting"), np.array([9.0, 1.0, 0.0, 3.0])
    table = ClassScores(names, 5.0 + behind, behind, np.array([1.0, 1.0, 0.0, 1.0]), "line")
    assert table.simplest(*names) == "line"
    assert table.simplest("smooth", "boosting") == "smooth"
    assert table.simplest("constant", "boosting") == "boosting"


def test_a_constant_of_a_frame_with_texts() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(size=60), "kind": rng.choice(["a", "b"], 60)})
    reg = MultiObservationRegressor("variance", estimator="auto", random_state=0)
    reg.fit(table, rng.normal(size=60))
    assert reg.plan_.scores is not None
    assert reg.plan_.scores.chosen == "constant"
    assert np.ptp(reg.predict(table)) < 1e-9
