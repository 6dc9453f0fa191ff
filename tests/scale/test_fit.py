"""A fit by parts is the fit in memory, whatever the cuts, the statistic and the sampler."""

import numpy as np
import pytest
from tables import STATISTICS

from multiobs import MultiObservationRegressor, samplers
from multiobs.scale import Processes, Serial, Threads, fit

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = 500


def slowly(names, default):
    """All of the names, most of them only with the slow tests."""
    slow = pytest.mark.slow
    return [name if name in default else pytest.param(name, marks=slow) for name in names]


def both(x, y, table, *, ranges, statistic="variance", sampler="auto", **more):
    """The fit in memory and the fit by parts of the same rows."""
    # by parts there is no move towards efficient weights
    options = dict(transport=None, alpha=0.0) | {k: v for k, v in more.items() if k not in WHERE}
    inside = MultiObservationRegressor(statistic, sampler, random_state=0, **options)
    weight, groups = more.get("sample_weight"), more.get("groups")
    inside.fit(x[:, None], y, sample_weight=weight, groups=groups)
    names = "y" if y.ndim == 1 else ["y0", "y1"]
    frame = {name: more[name] for name in ("sample_weight", "groups") if name in more}
    by_parts = fit(
        table(x, y, **frame), "x", names, statistic=statistic, sampler=sampler, ranges=ranges,
        engine=more.get("engine", Serial()), **options, **{name: name for name in frame},
    )  # fmt: skip
    return inside, by_parts


WHERE = ("engine", "sample_weight", "groups")


@pytest.mark.parametrize("ranges", [1, 5])
def test_nearest_in_one_column(ranges, rows, table, equal):
    x, y = rows("plain", ROWS)
    order = np.argsort(x)  # the tuples that are looked at are counted in the order of the rows
    equal(*both(x[order], y[order], table, ranges=ranges, sampler=samplers.Nearest(6)))


@pytest.mark.parametrize("name", slowly([*STATISTICS], ["variance", "maxvar(2)", "ucb(1)"]))
def test_tuples_of_which_some_stand_for_all(name, rows, table, equal):
    """More than are looked at one by one for standard errors."""
    x, y = rows("plain", 1200, STATISTICS[name].labels)
    inside, by_parts = both(
        x, y, table, ranges=5, statistic=STATISTICS[name].make(), sampler=samplers.Adjacent(9)
    )
    equal(inside, by_parts)


@pytest.mark.parametrize("statistic", ["variance", "ucb", "minvar", "standard_deviation"])
@pytest.mark.parametrize("transport", ["auto", "location-scale"])
def test_the_pilot_of_a_complete_sample_is_that_of_memory(statistic, transport, rows, table, equal):
    if statistic == "standard_deviation" and transport == "location-scale":
        transport = "location"
    x, y = rows("plain", 1200)
    equal(*both(x, y, table, ranges=6, statistic=statistic, transport=transport))


@pytest.mark.parametrize(
    "sampler", ["sliding", samplers.Adjacent(9), samplers.Nearby(0.02), "auto"], ids=repr
)
def test_weights_and_groups(sampler, rows, table, equal):
    x, y = rows("ties", ROWS)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, ROWS).astype(float)
    groups = rng.choice(["b", "a", "c"], ROWS, p=[0.89, 0.1, 0.01])
    inside, by_parts = both(
        x, y, table, ranges=7, sampler=sampler, sample_weight=weight, groups=groups
    )
    equal(inside, by_parts)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_penalty_and_no_intercept(alpha, rows, table, equal):
    x, y = rows("plain", ROWS)
    inside, by_parts = both(
        x, y, table, ranges=7, sampler=samplers.Adjacent(9), alpha=alpha, fit_intercept=False
    )
    equal(inside, by_parts)


def test_far_from_zero(rows, table, distance):
    x, y = rows("offset", ROWS)
    inside, by_parts = both(x, y + 1e8, table, ranges=7, sampler=samplers.Adjacent(9))
    assert distance(by_parts.coef_, inside.coef_) < 1e-9
    assert distance(by_parts.predict([[x[0]]]), inside.predict([[x[0]]])) < 1e-9


def test_nonlinear_features_of_a_complete_sample(rows, table, equal):
    from sklearn.preprocessing import SplineTransformer

    x, y = rows("plain", ROWS)
    inside, by_parts = both(
        x, y, table, ranges=7, sampler=samplers.Adjacent(9), features=SplineTransformer(4)
    )
    equal(inside, by_parts)


@pytest.mark.parametrize("engine", [Threads(2), Processes(2)], ids=["threads", "processes"])
def test_whoever_works_the_bits_are_the_same(engine, rows, table):
    x, y = rows("plain", ROWS)
    frame = table(x, y)
    one = fit(frame, "x", "y", ranges=5, engine=Serial())
    other = fit(frame, "x", "y", ranges=5, engine=engine)
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.coef_cov_, other.coef_cov_)


@pytest.mark.parametrize(
    ("statistic", "sampler"),
    [("variance", samplers.Disjoint()), ("kurtosis", samplers.SlidingWindow())],
    ids=["disjoint", "sliding"],
)
def test_the_drawn_order_of_ties_is_the_same_for_every_cut(statistic, sampler, rows, table):
    """Of sliding windows where the orders are too many to be averaged over."""
    x, y = rows("ties", ROWS)
    groups = np.random.default_rng(1).choice(3, ROWS, p=[0.8, 0.1, 0.1])
    found = [
        fit(
            table(x, y, g=groups), "x", "y", statistic=statistic, sampler=sampler, transport=None,
            ranges=ranges, groups="g", engine=Serial(),
        )
        for ranges in (1, 2, 7, 64)
    ]  # fmt: skip
    for each in found[1:]:
        assert each.n_metasamples_ == found[0].n_metasamples_
        np.testing.assert_allclose(each.coef_, found[0].coef_, rtol=1e-9)
        np.testing.assert_allclose(each.coef_cov_, found[0].coef_cov_, rtol=1e-7)


def test_a_result_is_an_ordinary_regressor(rows, table):
    x, y = rows("plain", 3000)
    reg = fit(table(x, y), "x", "y", ranges=3)
    assert isinstance(reg, MultiObservationRegressor)
    assert reg.feature_names_in_.tolist() == ["x"]
    assert "3 ranges" in str(reg.plan_)
    assert "3,000" in str(reg.summary())


def test_what_needs_all_rows_says_so(rows, table):
    x, y = rows("plain", 500)
    frame = table(x, y)
    reg = fit(frame, "x", "y", ranges=3, transport=None, engine=Serial())
    with pytest.raises(ValueError, match="clusters must be None for a fit by parts"):
        reg.summary(clusters="serial")
    bare = fit(frame, "x", "y", ranges=3, transport=None, engine=Serial(), errors=False)
    with pytest.raises(AttributeError, match="summary needs standard errors, got a fit by parts"):
        bare.summary()


def test_the_sample_does_not_follow_rows_that_were_drawn_with_the_same_seed():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    x = rng.uniform(size=20_000)
    table = pa.table({"x": x, "y": rng.normal(size=x.size)})
    found = fit(table, "x", "y", sampler="sliding", transport=None, sample_rows=2000, ranges=2)
    held = found.result_.problem.X[:, 0]
    assert held.size < 3000
    np.testing.assert_allclose(np.quantile(held, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.05)
