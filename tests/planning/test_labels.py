"""Which rows a plan labels, and what becomes of the labels."""

import math

import numpy as np
import pytest
from planning.plans import make_plan

from multiobs import statistics
from multiobs.planning import LabelPlan


@pytest.mark.parametrize("algorithm", ["improved", "naive"])
@pytest.mark.parametrize("name", ["mean", "variance", "minvar"])
@pytest.mark.parametrize("d", [1, 2])
def test_label_complexity_is_exactly_n_times_m(algorithm, name, d):
    rng = np.random.default_rng(1)
    X = rng.random((5000, d))
    what = statistics.minvar(3) if name == "minvar" else statistics.resolve(name)
    budget = 12 * what.arity + what.arity - 1  # not a multiple: the rest is not spent
    plan = LabelPlan.from_pool(X, what, budget=budget, algorithm=algorithm, rng=rng)
    assert plan.n_metasamples == 12
    assert plan.label_complexity == 12 * what.arity == np.unique(plan.queries).size
    assert np.intersect1d(plan.queries, plan.anchors).size == 0
    gaps = np.linalg.norm(X[plan.members] - X[plan.anchors][:, None, :], axis=2)
    assert gaps.max() <= 1 / math.sqrt(12)
    asked = np.concatenate([plan.ask(5) for _ in range(50)])
    assert sorted(asked.tolist()) == sorted(plan.queries.tolist())


def test_never_asks_twice_and_says_what_is_missing():
    _, y, plan = make_plan()
    rng = np.random.default_rng(5)
    asked: list[int] = []
    pending: list[int] = []
    while plan.missing.size:
        fresh = plan.ask(int(rng.integers(1, 9))).tolist()
        assert not set(fresh) & set(asked)
        asked += fresh
        pending += fresh
        rng.shuffle(pending)
        answered, pending = pending[: len(pending) // 2 + 1], pending[len(pending) // 2 + 1 :]
        plan.record(answered, y[answered])
        assert sorted(plan.outstanding.tolist()) == sorted(pending)
        assert plan.n_labelled == len(asked) - len(pending)
        assert plan.missing.size == plan.label_complexity - plan.n_labelled
    assert plan.ask().size == 0
    assert plan.n_complete == plan.n_metasamples
    np.testing.assert_array_equal(plan.labels, y[plan.members])


def test_labels_that_were_not_asked_for_are_not_asked_again():
    _, y, plan = make_plan()
    early = plan.queries[:7]
    plan.record(early, y[early])
    assert not set(plan.ask().tolist()) & set(early.tolist())


def test_nothing_is_taken_in_unless_all_is_in_order():
    _, _, plan = make_plan()
    a, b = plan.queries[:2].tolist()
    stranger = plan.anchors[0].item()
    plan.record([a], [1.0])
    for rows, labels, message in (
        ([b, stranger], [1.0, 2.0], f"rows must belong to the plan, got row {stranger}"),
        ([b, a], [1.0, 2.0], f"a row has one label, got another one for row {a}"),
        ([b, b], [1.0, 2.0], f"a row has one label, got another one for row {b}"),
        ([b], [math.nan], f"labels must be finite, got a non-finite one for row {b}"),
        ([b], [1.0, 2.0], "labels must have shape"),
        ([0.5], [1.0], "rows must be a list of row numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            plan.record(rows, labels)
        assert plan.n_labelled == 1
    plan.record([a, b, b], [1.0, 3.0, 3.0])  # the same label again is no contradiction
    plan.record([], [])
    assert plan.n_labelled == 2


def test_fit_at_any_time():
    _, y, plan = make_plan(n=600, rows=20_000)
    with pytest.raises(ValueError, match="a fit needs a metasample with all its 2 labels"):
        plan.fit()
    half = plan.ask(600)
    plan.record(half, y[half])
    x, labels = plan.metasamples()
    assert x.shape == (300, 1)
    # the same line by ordinary least squares on the pseudo-observations
    psi = (labels[:, 0] - labels[:, 1]) ** 2 / 2
    design = np.column_stack([np.ones(300), x[:, 0]])
    intercept, slope = np.linalg.lstsq(design, psi, rcond=None)[0]
    model = plan.fit()
    assert model.intercept_ == pytest.approx(intercept)
    assert model.coef_[0] == pytest.approx(slope)
    assert model.n_metasamples_ == 300
    rows, values = plan.labelled()
    assert rows.shape == (600, 1)
    assert values.shape == (600,)


def test_anchors_that_share_x_stay_apart():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=3000).astype(float)
    plan = LabelPlan.from_pool(X, "variance", n_metasamples=50, epsilon=0.1, rng=rng)
    plan.record(plan.queries, rng.standard_normal(100))
    assert plan.fit().n_metasamples_ == 50


def test_two_columns_of_labels(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random(20_000)
    y = rng.multivariate_normal([0, 0], [[1.0, 0.6], [0.6, 1.0]], size=20_000)
    plan = LabelPlan.from_pool(X, "covariance", n_metasamples=2000, rng=rng)
    plan.save(tmp_path / "plan.npz")
    plan.record(plan.queries, y[plan.queries])
    fitted = LabelPlan.load(tmp_path / "plan.npz").fit()
    assert fitted.predict([[0.5]])[0] == pytest.approx(0.6, abs=0.15)


def test_shortfall():
    X = np.r_[np.zeros(50), np.linspace(1, 2, 30)]
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"every anchor must have 2 rows within epsilon"):
        LabelPlan.from_pool(X, "variance", n_metasamples=20, epsilon=1e-6, rng=rng)
    plan = LabelPlan.from_pool(
        X, "variance", n_metasamples=20, epsilon=1e-6, shortfall="fewer", rng=rng
    )
    assert 0 < plan.n_metasamples < 20
    assert plan.label_complexity == 2 * plan.n_metasamples


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one of budget and n_metasamples"),
        ({"budget": 1}, "budget must cover one metasample of 2 labels, got 1"),
        ({"n_metasamples": 40}, "room for 33 metasamples of 2 labels"),
        ({"budget": 4, "epsilon": -1.0}, "epsilon must be positive, got -1.0"),
        ({"budget": 4, "scale": "std"}, "scale must be one of 'range', 'none', got 'std'"),
        ({"budget": 4, "algorithm": "x"}, "algorithm must be one of"),
    ],
)
def test_bad_requests(options, message):
    with pytest.raises(ValueError, match=message):
        LabelPlan.from_pool(np.arange(100.0), rng=np.random.default_rng(0), **options)


def test_pool_must_be_finite():
    with pytest.raises(ValueError, match="X must be finite"):
        LabelPlan.from_pool([0.0, math.nan], budget=2, rng=np.random.default_rng(0))


def test_same_seed_same_plan():
    first, second = make_plan(seed=3)[2], make_plan(seed=3)[2]
    np.testing.assert_array_equal(first.members, second.members)
