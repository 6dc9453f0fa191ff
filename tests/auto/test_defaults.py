"""When the user leaves everything open: pilots, balance, widths, classes, categories."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import GammaRegressor, LinearRegression, Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, samplers, statistics
from multiobs.auto.forest import honest_leaves
from multiobs.samplers import Leaves, Nearby, Nearest, SlidingWindow
from multiobs.transport.pilots import fit_pilot


def sine(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, 2 * np.sin(16 * np.pi * x[:, 0]) + rng.normal(scale=np.sqrt(0.5 + x[:, 0]))


def steps(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, 4.0 * (np.floor(3 * x[:, 0]) % 2) + rng.normal(size=n)


def line_error(reg: MultiObservationRegressor, truth: tuple[float, float]) -> float:
    grid = np.linspace(0, 1, 101)[:, None]
    return float(np.mean((reg.predict(grid) - truth[0] - truth[1] * grid[:, 0]) ** 2))


def test_the_pilot_follows_steps_where_there_are_steps() -> None:
    assert fit_pilot(*steps(1000, 0), None).name.startswith("jumps")
    assert fit_pilot(*sine(1000, 0), None).name == "spline"


def test_a_boosted_pilot_is_cross_fitted_and_its_folds_stay_apart() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(600, 4))
    waves = np.sign(np.sin(X * [9.0, 8.0, 7.0, 6.0]))
    y = waves @ [8.0, 6.0, 5.0, 4.0] + rng.normal(size=600)  # more cells than one tree can find
    pilot = fit_pilot(X, y, None)
    assert pilot.folds is not None
    reg = MultiObservationRegressor().fit(X, y)
    members = reg.tuples_.listed().members
    assert np.all(pilot.folds[members] == pilot.folds[members[:, :1]])


def test_transport_does_not_bias_the_variance_down() -> None:
    """The pilot is fitted to the same labels; within near pairs its own noise cancels."""
    means = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.uniform(size=(300, 1))
        y = np.sin(4 * np.pi * x[:, 0]) + rng.normal(size=300)
        reg = MultiObservationRegressor().fit(x, y)
        means.append(reg.predict([[0.5]])[0])
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - 1.0) < 4 * error


def test_defaults_beat_plain_nearby_on_an_oscillating_mean() -> None:
    ours, plain = [], []
    for seed in range(15):
        x, y = sine(1000, seed)
        ours.append(line_error(MultiObservationRegressor().fit(x, y), (0.5, 1.0)))
        nearby = MultiObservationRegressor(sampler=Nearby("paper"), transport=None).fit(x, y)
        plain.append(line_error(nearby, (0.5, 1.0)))
    assert np.median(ours) < 0.3 * np.median(plain)


@pytest.mark.parametrize("arity", [1, 2, 3, 4])
@pytest.mark.parametrize("shape", ["windows", "graph", "leaves"])
def test_membership_counts_are_counts(arity: int, shape: str) -> None:
    rng = np.random.default_rng(arity)
    X = np.round(rng.uniform(size=(50, 1)), 2)
    sampler = {
        "windows": Nearby(0.08),
        "graph": Nearest(6),
        "leaves": Leaves(rng.integers(0, 6, size=(50, 3))),
    }[shape]
    tuples = sampler.build(X, arity, rng)
    listed = np.bincount(tuples.listed().members.reshape(-1), minlength=50)
    assert np.array_equal(tuples.membership_counts(), listed)


def test_balanced_rows_count_more_alike_than_plain_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.beta(2, 5, size=(400, 1))
    tuples = Nearby("paper").build(X, 2, rng)
    weight = tuples.balance()
    part = tuples.listed()
    share = weight[part.members].prod(axis=1)
    even = np.bincount(part.members.reshape(-1), weights=np.repeat(share, 2), minlength=400)
    plain = tuples.membership_counts()
    used = plain > 0
    assert np.std(even[used]) / np.mean(even[used]) < 0.5 * np.std(plain[used]) / plain.mean()


def test_widths_and_neighbours_are_validated_and_said_in_the_plan() -> None:
    x, y = sine(600, 1)
    reg = MultiObservationRegressor(sampler="nearby").fit(x, y)
    assert isinstance(reg.sampler_, Nearby)
    assert not isinstance(reg.sampler_.epsilon, str)
    assert "validation" in str(reg.plan_)
    plain = MultiObservationRegressor(sampler="nearby", transport=None).fit(x, y)
    assert plain.sampler_.epsilon <= samplers.paper_epsilon(x)  # a wide window would be biased
    wide = np.column_stack([x, np.random.default_rng(0).uniform(size=(600, 1))])
    near = MultiObservationRegressor(sampler="nearest").fit(wide, y)
    assert isinstance(near.sampler_, Nearest)
    assert near.sampler_.n_neighbors != "auto"


def test_leaves_never_see_the_label_of_their_own_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(300, 5)), rng.normal(size=300)
    before = honest_leaves(X, y, 2, np.random.default_rng(1))
    folds = np.empty(300, dtype=int)  # drawn for the rows in the order of the first column
    folds[np.argsort(X[:, 0])] = np.random.default_rng(1).permutation(300) % 2
    changed = y.copy()
    row = int(np.flatnonzero(folds == 0)[0])
    changed[row] += 1e-9  # the row's own fold must not notice; scaling of y barely does
    after = honest_leaves(X, changed, 2, np.random.default_rng(1))
    assert np.array_equal(before[folds == 0], after[folds == 0])


def test_irrelevant_columns_leave_leaf_tuples_close_in_the_relevant_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(800, 10))
    y = 6 * X[:, 0] + rng.normal(size=800)
    reg = MultiObservationRegressor(random_state=0, transport=None).fit(X, y)
    assert isinstance(reg.sampler_, Leaves)
    pairs = reg.tuples_.sample(4000, rng).members
    apart = np.abs(X[pairs[:, 0]] - X[pairs[:, 1]]).mean(axis=0)
    assert apart[0] < 0.6 * apart[1:].min()


CLASSES = {
    "gamma boosting": HistGradientBoostingRegressor(
        loss="gamma", max_iter=40, min_samples_leaf=150, random_state=0
    ),
    "forest": RandomForestRegressor(30, min_samples_leaf=40, random_state=0),
    "gamma glm": GammaRegressor(alpha=0.0),
    "splines": make_pipeline(SplineTransformer(5), Ridge(1e-3)),
    "no sample_weight": KNeighborsRegressor(150),
}


@pytest.mark.parametrize("name", CLASSES)
def test_any_class_finds_the_variance(name: str) -> None:
    x, y = sine(3000, 5)
    reg = MultiObservationRegressor(estimator=CLASSES[name], random_state=0).fit(x, y)
    grid = np.linspace(0.05, 0.95, 30)[:, None]
    found = reg.predict(grid)
    assert np.all(found > 0)
    assert np.sqrt(np.mean((found - 0.5 - grid[:, 0]) ** 2)) < 0.2


@pytest.mark.parametrize("transport", [None, "location", "location-scale"])
def test_root_type_statistics_with_any_regressor(transport: str | None) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(size=(3000, 1))
    sd = 0.5 + x[:, 0]
    y = np.sin(4 * np.pi * x[:, 0]) + sd * rng.normal(size=3000)
    model = make_pipeline(SplineTransformer(12), Ridge(1e-3))
    reg = MultiObservationRegressor(statistics.ucb(2.0), transport=transport, estimator=model)
    grid = np.linspace(0.05, 0.95, 40)
    truth = np.sin(4 * np.pi * grid) + 2 * (0.5 + grid)
    error = np.sqrt(np.mean((reg.fit(x, y).predict(grid[:, None]) - truth) ** 2))
    assert error < 0.3


@pytest.mark.parametrize("statistic", ["variance", statistics.minvar(2)])
def test_location_scale_transport_agrees_with_location(statistic: object) -> None:
    x, y = sine(2000, 7)
    found = [
        MultiObservationRegressor(statistic, transport=transport).fit(x, y).predict([[0.5]])[0]
        for transport in ("location", "location-scale")
    ]
    assert found[0] == pytest.approx(found[1], abs=0.15)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_categories_match_exactly(frame: str) -> None:
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], 1500)
    x = rng.uniform(size=1500)
    y = 5.0 * (kind == "b") + np.where(kind == "c", 2.0, 1.0) * rng.normal(size=1500)
    columns = {"x": x, "kind": kind}
    library = pytest.importorskip(frame)
    X = library.DataFrame(columns)
    reg = MultiObservationRegressor().fit(X, y)
    members = reg.tuples_.listed().members
    assert np.all(kind[members] == kind[members[:, :1]])
    assert reg.coef_.size == 3  # x and two indicators
    assert reg.coef_[2] == pytest.approx(3.0, abs=0.8)
    assert reg.predict(X[:5]).shape == (5,)
    unknown = {"x": [0.5], "kind": ["z"]}
    other = library.DataFrame(unknown)
    with pytest.raises(ValueError, match="categories seen in fit, got 'z'"):
        reg.predict(other)


@pytest.mark.parametrize("sampler", [Nearby(0.05), SlidingWindow()], ids=repr)
@pytest.mark.parametrize(
    "statistic",
    [statistics.variance(), statistics.minvar(2), statistics.central_moment(3)],
    ids=repr,
)
def test_partial_fit_equals_fit(sampler: object, statistic: object) -> None:
    rng = np.random.default_rng(0)
    x = np.sort(np.round(10 * rng.uniform(size=900), 2))
    y = 1e6 + np.cumsum(rng.normal(size=900)) + rng.normal(size=900) * np.sqrt(1 + x)
    whole = MultiObservationRegressor(statistic, sampler, transport=None).fit(x[:, None], y)
    stream = MultiObservationRegressor(statistic, sampler, transport=None)
    for part in np.array_split(np.arange(900), 23):
        stream.partial_fit(x[part, None], y[part])
    assert stream.n_metasamples_ == whole.n_metasamples_
    expected = whole.predict(x[:, None])
    np.testing.assert_allclose(
        stream.predict(x[:, None]), expected, rtol=0, atol=1e-9 * np.abs(expected).max()
    )


def test_partial_fit_refuses_rows_out_of_order() -> None:
    reg = MultiObservationRegressor(sampler=Nearby(0.5), transport=None)
    reg.partial_fit([[0.0], [0.1]], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"increasing x, got 0\.05 after 0\.1"):
        reg.partial_fit([[0.05]], [1.0])
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'"):
        MultiObservationRegressor(sampler="nearest").partial_fit([[0.0], [0.1]], [1.0, 2.0])


def test_the_report_sees_drift() -> None:
    x, y = sine(1000, 0)
    plain = MultiObservationRegressor(sampler=Nearby(0.05), transport=None).fit(x, y)
    report = plain.metasample_report()
    assert report.metasamples == plain.n_metasamples_
    assert report.drift_share > 0.3  # 2 sin(16 pi x) moves a lot within 0.05
    assert not report.transported
    calm = MultiObservationRegressor(sampler=SlidingWindow(), transport=None).fit(x, y)
    assert calm.metasample_report().drift_share < 0.05
    assert "metasamples" in str(report)


def test_weights_zero_is_absent_and_groups_are_never_mixed() -> None:
    x, y = sine(400, 0)
    weight = np.ones(400)
    weight[::7] = 0.0
    kept = weight > 0
    a = MultiObservationRegressor(random_state=0).fit(x, y, sample_weight=weight)
    b = MultiObservationRegressor(random_state=0).fit(x[kept], y[kept])
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-12)
    groups = np.arange(400) % 3
    reg = MultiObservationRegressor(estimator=LinearRegression()).fit(x, y, groups=groups)
    members = reg.tuples_.listed().members
    assert np.all(groups[members] == groups[members[:, :1]])


def test_neighbours_that_are_not_near_are_said_to_be_so() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 30)), rng.normal(size=300)
    with pytest.warns(UserWarning, match="as far apart as any two rows in 30 columns"):
        MultiObservationRegressor(sampler=Nearest(5), transport=None, alpha=1.0).fit(X, y)


def test_a_pilot_of_more_columns_than_rows_does_not_eat_the_variance() -> None:
    rng = np.random.default_rng(0)
    for n in (40, 150):
        X, y = rng.normal(size=(n, 60)), rng.normal(size=n)
        assert 0.5 < np.var(y - fit_pilot(X, y, None).at_rows) < 3.0
