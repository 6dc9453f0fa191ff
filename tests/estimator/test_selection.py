"""estimator="auto": the class is chosen on rows it has not seen, a richer one by a margin."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from multiobs import MultiObservationRegressor, models, statistics
from multiobs._check.rows import Labels, read_table, valid_rows
from multiobs.estimator.selection import ClassScores, candidates, scored_classes
from multiobs.transport import fit_pilot, memory


def _rows(spread: object, n: int = 800, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, np.sin(6 * x[:, 0]) + spread(x[:, 0]) * rng.normal(size=n)  # type: ignore[operator]


def _auto() -> MultiObservationRegressor:
    return MultiObservationRegressor("variance", estimator="auto", random_state=0)


@pytest.mark.parametrize("seed", [0, 4, 6])
def test_what_does_not_move_is_flatter_than_a_line(seed: int) -> None:
    # the penalties of the smooth class leave a constant, and that has most of the weight
    (x, y), at = _rows(np.ones_like, 300, seed), np.array([[0.0], [1.0]])
    line = MultiObservationRegressor(random_state=0).fit(x, y)
    assert np.ptp(_auto().fit(x, y).predict(at)) < 0.5 * np.ptp(line.predict(at))


def test_a_slope_is_not_given_up_for_a_score_that_happens_to_be_better() -> None:
    x, y = _rows(lambda x: np.sqrt(0.5 + x), 150, 33)
    reg = _auto().fit(x, y)
    table = reg.plan_.scores
    assert table is not None
    assert table.scores[0] < table.scores[1]
    assert table.chosen == "line"


def test_a_bend_is_followed_and_the_table_says_why() -> None:
    x, y = _rows(lambda x: 0.3 + 2 * np.exp(-(((x - 0.5) / 0.15) ** 2)))
    reg = _auto().fit(x, y)
    table = reg.plan_.scores
    assert table is not None
    assert table.names == ("constant", "line", "smooth", "boosting")
    assert table.chosen == "smooth"
    assert np.all(table.scores[:2] - table.scores[2] > 2 * table.errors[2, :2])
    np.testing.assert_allclose(table.errors, table.errors.T)
    assert "by held-out score" in str(reg.plan_)


def test_a_bend_where_y_spreads_little_counts_as_much_as_one_where_it_spreads_much() -> None:
    # 0.01 at the left end, of which a squared error of unweighted tuples would know nothing
    x, y = _rows(lambda x: np.exp(2.5 * x - 2.3))
    assert _auto().fit(x, y).plan_.scores.chosen == "smooth"  # type: ignore[union-attr]


def test_a_pilot_is_fitted_once_to_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bytes] = []

    def counted(X, y, weight, *args, **kwargs):  # type: ignore[no-untyped-def]
        seen.append(X.tobytes() + y.tobytes() + (b"" if weight is None else weight.tobytes()))
        return fit_pilot(X, y, weight, *args, **kwargs)

    monkeypatch.setattr(memory, "fit_pilot", counted)
    x, y = _rows(lambda x: np.exp(x - 0.5), 200)
    reg = _auto().fit(x, y)
    # three folds and all rows, each without and with the precision that a first smooth fit finds
    assert len(seen) == len(set(seen)) == 8
    smooth = MultiObservationRegressor("variance", features="smooth", random_state=0).fit(x, y)
    line = MultiObservationRegressor("variance", random_state=0).fit(x, y)
    scores = reg.plan_.scores
    assert scores is not None
    weights = scores.weights[[scores.names.index(name) for name in ("line", "smooth")]]
    assert np.all(weights > 0)
    expected = weights @ [line.predict(x), smooth.predict(x)]
    np.testing.assert_allclose(reg.predict(x), expected, rtol=1e-9)  # BLAS has other threads


def test_verbose_prints_the_plan_once(capsys: pytest.CaptureFixture[str]) -> None:
    x, y = _rows(lambda x: np.exp(x - 0.5), 150)
    reg = MultiObservationRegressor(estimator="auto", random_state=0, verbose=True).fit(x, y)
    assert capsys.readouterr().out == f"{reg.plan_}\n"


def test_the_order_of_the_rows_does_not_matter() -> None:
    x, y = _rows(lambda x: 0.5 + x, 200)
    order = np.random.default_rng(1).permutation(200)
    one, two = _auto().fit(x, y), _auto().fit(x[order], y[order])
    assert one.plan_.scores is not None
    assert two.plan_.scores is not None
    np.testing.assert_allclose(one.plan_.scores.scores, two.plan_.scores.scores, rtol=1e-6)


def test_categories_are_categories_in_every_fold() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    level = rng.integers(0, 3, size=200)
    x = rng.uniform(size=200)
    y = 3.0 * level + np.sqrt(0.5 + level) * rng.normal(size=200)
    found = []
    for names in (["a", "b", "c"], ["z", "m", "b"]):
        frame = pandas.DataFrame({"x": x, "kind": np.array(names)[level]})
        reg = _auto().fit(frame, y)
        assert reg.plan_.scores is not None
        found.append(reg.plan_.scores)
        assert reg.predict(frame).shape == (200,)
    assert found[0].chosen == found[1].chosen != "constant"
    # names of levels change nothing but rounding; trees take the first of equal splits
    np.testing.assert_allclose(found[0].scores[:4], found[1].scores[:4], rtol=1e-3)


def test_levels_of_a_category_are_no_columns_that_interact() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, level = rng.uniform(size=(150, 2)), rng.integers(0, 12, 150)
    y = rng.normal(size=150)
    one = pandas.DataFrame({"a": X[:, 0], "kind": level.astype(str)})
    names = []
    for frame in (one, one.assign(b=X[:, 1])):
        scores = _auto().fit(frame, y).plan_.scores
        assert scores is not None
        names.append(scores.names)
    assert "smooth with interactions" not in names[0]
    assert "smooth with interactions" in names[1]


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
    names = ("constant", "line", "smooth", "boosting")
    scores, errors = np.array([9.0, 8.9, 6.9, 6.0]), np.ones((4, 4))
    table = ClassScores(names, scores, errors, (0.0, -2.0, 1.0, 2.0))
    assert table.chosen == table.simplest(*names) == "smooth"  # boosting is no two errors better
    assert table.simplest("constant", "line") == "line"
    assert table.simplest("line", "boosting") == "boosting"
    assert table.simplest("boosting") == "boosting"


@pytest.mark.parametrize(("line", "taken"), [(8.0, "line"), (10.9, "line"), (11.1, "constant")])
def test_a_line_may_be_worse_than_a_constant_by_its_margin(line: float, taken: str) -> None:
    scores, errors = np.array([9.0, line]), np.ones((2, 2))
    assert ClassScores(("constant", "line"), scores, errors, (0.0, -2.0)).chosen == taken


@pytest.mark.parametrize(
    ("gain", "curve"),
    [(-3.1, 0.0), (-2.9, 0.0522), (-0.5, 0.3775), (0.0, 0.5), (1.0, 0.7311), (4.1, 1.0)],
)
def test_line_and_curve_are_averaged_where_the_score_leaves_it_open(
    gain: float, curve: float
) -> None:
    names = ("constant", "line", "smooth", "boosting")
    scores, errors = np.array([9.0, 8.0, 8.0 - gain, 8.0]), np.ones((4, 4))
    table = ClassScores(names, scores, errors, (0.0, -2.0, 0.0, 3.0))
    np.testing.assert_allclose(table.weights, [0.0, 1 - curve, curve, 0.0], atol=1e-4)
    other = ClassScores(names, scores - [0, 0, 0, 20.0], errors, table.margins)
    np.testing.assert_allclose(other.weights, [0.0, 0.0, 0.0, 1.0])
    equal = ClassScores(names, np.full(4, 8.0), np.zeros((4, 4)), table.margins)
    assert equal.weights.tolist() == [1.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("smooth", "pairs", "weights"),
    [
        (8.0, 7.0, [0.2689, 0.0, 0.7311]),  # the better curve, beside the line
        (7.5, 9.0, [0.3775, 0.6225, 0.0]),
        (8.2, 8.1, [0.5250, 0.0, 0.4750]),
        (8.0, 3.0, [0.0, 0.0, 1.0]),
        (12.0, 11.5, [1.0, 0.0, 0.0]),
    ],
)
def test_the_better_curve_stands_beside_the_line(
    smooth: float, pairs: float, weights: list[float]
) -> None:
    names = ("line", "smooth", "smooth with interactions")
    table = ClassScores(names, np.array([8.0, smooth, pairs]), np.ones((3, 3)), (-2.0, 0.0, 0.0))
    np.testing.assert_allclose(table.weights, weights, atol=1e-4)


def _interacting() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(300, 5))
    spread = np.exp(np.cos(3 * (X[:, 1] - X[:, 3])))
    return X, 3 * X[:, 0] + spread * rng.normal(size=300), spread


def test_an_interaction_in_five_columns_is_found() -> None:
    X, y, spread = _interacting()
    reg = _auto().fit(X, y)
    assert reg.plan_.scores is not None
    assert reg.plan_.scores.chosen == "smooth with interactions"
    assert reg.plan_.scores.interacting == ("x1 and x3",)
    assert "interact by the tests of every fold: x1 and x3" in str(reg.plan_)
    assert np.corrcoef(np.log(reg.predict(X)), np.log(spread))[0, 1] > 0.9


def test_columns_that_interact_are_named_as_in_the_table_they_came_in() -> None:
    pandas = pytest.importorskip("pandas")
    X, y, _ = _interacting()
    frame = pandas.DataFrame(X, columns=list("abcde"))
    scores = _auto().fit(frame, y).plan_.scores
    assert scores is not None
    assert scores.interacting == ("b and d",)
    rng = np.random.default_rng(0)
    scores = _auto().fit(rng.uniform(size=(200, 3)), rng.normal(size=200)).plan_.scores
    assert scores is not None
    assert scores.interacting == ()
    assert "interact" not in str(scores).replace("smooth with interactions", "")


def test_where_columns_interact_no_class_without_interactions_is_taken() -> None:
    names = ("constant", "line", "smooth", "smooth with interactions", "boosting")
    scores, errors = np.array([9.0, 7.0, 6.0, 8.0, 7.5]), np.ones((5, 5))
    margins = (0.0, -2.0, 0.0, 0.0, 3.0)
    open_still = ClassScores(names, scores, errors, margins)
    np.testing.assert_allclose(open_still.weights, [0, 0.2689, 0.7311, 0, 0], atol=1e-4)
    table = ClassScores(names, scores, errors, margins, ("x0 and x1",))
    assert table.chosen == "smooth with interactions"
    assert table.weights.tolist() == [0.0, 0.0, 0.0, 1.0, 0.0]
    trees = ClassScores(names, scores - [0, 0, 0, 0, 3.0], errors, margins, ("x0 and x1",))
    assert trees.weights.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    # of classes that all lack interactions, or that a caller leaves out, as without a test
    assert table.simplest("line", "boosting") == "line"
    assert table.simplest("constant", "line", "smooth") == "smooth"


def _open() -> tuple[MultiObservationRegressor, np.ndarray, np.ndarray]:
    x, y = _rows(lambda x: np.sqrt(0.5 + x), 150)
    return _auto().fit(x, y), x, y


def test_predictions_are_the_weighted_means_of_both_fits_and_limits_the_curves() -> None:
    reg, x, y = _open()
    table = reg.plan_.scores
    assert table is not None
    share = table.weights[table.names.index("line")]
    assert 0.3 < share < 0.7
    line = MultiObservationRegressor(random_state=0).fit(x, y)
    smooth = MultiObservationRegressor(features="smooth", random_state=0).fit(x, y)
    mean = share * line.predict(x) + (1 - share) * smooth.predict(x)
    np.testing.assert_allclose(reg.predict(x), mean, rtol=1e-9)  # BLAS has other threads
    # a line's are too narrow where it is too simple; no prediction lies beyond its limits
    low, high = smooth.predict_interval(x).T
    limits = np.stack([np.minimum(low, mean), np.maximum(high, mean)], axis=1)
    np.testing.assert_allclose(reg.predict_interval(x), limits, rtol=1e-8)
    assert f"line of weight {share:.2f}" in str(reg.summary())
    assert f"{share:.2f}" in str(reg.plan_)


def test_an_average_survives_a_model_file() -> None:
    reg, x, _ = _open()
    stored = models.loads(models.dumps(reg))
    np.testing.assert_allclose(stored.predict(x), reg.predict(x), rtol=1e-12)
    np.testing.assert_allclose(stored.predict_interval(x), reg.predict_interval(x), rtol=1e-9)
    assert "averaged with a line" in str(stored.summary())


def test_few_rows_are_still_scored() -> None:
    x, y = _rows(np.ones_like, 14)
    model = MultiObservationRegressor(statistics.minvar(4), estimator="auto", random_state=0)
    assert model.fit(x, y).plan_.scores is not None


def test_a_constant_of_a_frame_with_texts() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.uniform(size=60), "kind": rng.choice(["a", "b"], 60)})
    reg = MultiObservationRegressor("variance", estimator="auto", random_state=0)
    reg.fit(table, rng.normal(size=60))
    assert reg.plan_.scores is not None
    assert reg.plan_.scores.chosen == "constant"
    assert np.ptp(reg.predict(table)) < 1e-9


def test_rounding_decides_nothing() -> None:
    """Classes that predict the same differ by their last bits, and so does the error of that."""
    loss = np.array([1.6, np.nextafter(1.6, 0.0)])
    errors = np.array([[0.0, 1e-17], [1e-17, 0.0]])
    assert ClassScores(("constant", "boosting"), loss, errors, (0.0, 3.0)).chosen == "constant"
    assert ClassScores(("constant", "line"), loss, errors, (0.0, -2.0)).chosen == "constant"


@pytest.mark.parametrize("wrong", [["constant"], ["constant", "line", "smooth", "boosting"]])
def test_classes_without_a_value_are_no_candidates(wrong, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(150, 1))
    y = rng.normal(size=150) * (0.5 + x[:, 0])
    seen = []

    class Nothing:
        def predict(self, X):
            return np.full(X.shape[0], np.nan)

    def fit(each, rows, prepared):
        seen.append(each.name)
        model = MultiObservationRegressor("variance", features=each.features)
        good = model.set_params(estimator=each.estimator).fit(rows.X, rows.y).result_
        return SimpleNamespace(result=Nothing() if each.name in wrong else good)

    request = MultiObservationRegressor("variance")._request(statistics.variance())
    rows = valid_rows("it", read_table(x), y, labels=Labels("variance"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ready, scores = scored_classes(fit, request, rows)
    assert set(seen) == {"constant", "line", "smooth", "boosting"}
    if len(wrong) == 1:
        assert "constant" not in scores.names
        assert [each.name for each in ready] == list(scores.names)
    else:
        assert [each.name for each in ready] == ["constant"]
        assert np.isnan(scores.scores).all()
