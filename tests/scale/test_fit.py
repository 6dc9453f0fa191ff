"""A fit by parts is the fit in memory, whatever the cuts, the statistic and the sampler."""

import numpy as np
import pytest
from tables import STATISTICS

from multiobs import MultiObservationRegressor, samplers
from multiobs.scale import Processes, Serial, Threads, fit

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

SAMPLERS = {
    "sliding": samplers.SlidingWindow(),
    "adjacent": samplers.Adjacent(9),
    "nearby": samplers.Nearby(0.02),
    "wide": samplers.Nearby(0.4),  # halos wider than a range
    "paper": samplers.Nearby("paper"),
    "validated": "nearby",
    "disjoint": samplers.Disjoint(),
    "replicates": samplers.Replicates(),
    "nearest": samplers.Nearest(6),
    "auto": "auto",
}
ROWS = 500


def both(x, y, table, *, ranges, statistic="variance", sampler="auto", **more):
    """The fit in memory and the fit by parts of the same rows."""
    options = dict(transport=None) | {k: v for k, v in more.items() if k not in WHERE}
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


def agree(inside, by_parts, distance):
    assert by_parts.n_metasamples_ == inside.n_metasamples_
    expected = np.append(inside.coef_, inside.intercept_)
    assert distance(np.append(by_parts.coef_, by_parts.intercept_), expected) < 1e-9
    assert distance(by_parts.coef_cov_, inside.coef_cov_) < 1e-8
    known, found = inside.inference_.covariance, by_parts.inference_.covariance
    assert found.df == pytest.approx(known.df, rel=1e-8)
    at = np.linspace(0.0, 1.0, 5)[:, None]
    limits = by_parts.inference_.interval(at, 0.9, "auto")
    assert distance(limits, inside.inference_.interval(at, 0.9, "auto")) < 1e-8


@pytest.mark.parametrize("kind", ["plain", "ties", "gaps"])
@pytest.mark.parametrize("name", [s for s in SAMPLERS if s not in ("nearest",)])
def test_any_cut_gives_the_fit_in_memory(name, kind, rows, table, distance, tmp_path):
    if name == "replicates" and kind != "ties":
        pytest.skip("no two rows share an x")
    if name == "disjoint" and kind == "ties":
        pytest.skip("the order of ties is drawn: see below")
    x, y = rows(kind, ROWS)
    inside, by_parts = both(x, y, table, ranges=7, sampler=SAMPLERS[name])
    agree(inside, by_parts, distance)
    for ranges in (1, 2, 64):
        again = fit(
            table(x, y), "x", "y", sampler=SAMPLERS[name], transport=None, ranges=ranges,
            errors=False, engine=Serial(), scratch=tmp_path, keep=True,
        )  # fmt: skip
        assert again.n_metasamples_ == inside.n_metasamples_
        expected = np.append(inside.coef_, inside.intercept_)
        assert distance(np.append(again.coef_, again.intercept_), expected) < 1e-9


@pytest.mark.parametrize("ranges", [1, 5])
def test_nearest_in_one_column(ranges, rows, table, distance):
    x, y = rows("plain", ROWS)
    order = np.argsort(x)  # the tuples that are looked at are counted in the order of the rows
    agree(*both(x[order], y[order], table, ranges=ranges, sampler=samplers.Nearest(6)), distance)


@pytest.mark.parametrize("name", [s for s, case in STATISTICS.items()])
@pytest.mark.parametrize("sampler", ["sliding", "adjacent"])
def test_every_statistic(name, sampler, rows, table, distance):
    case = STATISTICS[name]
    statistic = case.make()
    if statistic.arity == 1 and sampler == "sliding":
        pytest.skip("one row is no window")
    if case.slow and sampler == "adjacent":
        pytest.skip("too many tuples for a small test")
    x, y = rows("plain", 1200 if sampler == "adjacent" else 300, case.labels)
    inside, by_parts = both(x, y, table, ranges=5, statistic=statistic, sampler=SAMPLERS[sampler])
    agree(inside, by_parts, distance)


@pytest.mark.parametrize("statistic", ["variance", "ucb", "minvar", "standard_deviation"])
@pytest.mark.parametrize("transport", ["auto", "location-scale"])
def test_the_pilot_of_a_complete_sample_is_that_of_memory(
    statistic, transport, rows, table, distance
):
    if statistic == "standard_deviation" and transport == "location-scale":
        transport = "location"
    x, y = rows("plain", 1200)
    agree(*both(x, y, table, ranges=6, statistic=statistic, transport=transport), distance)


@pytest.mark.parametrize("sampler", ["sliding", "adjacent", "nearby", "auto"])
def test_weights_and_groups(sampler, rows, table, distance):
    x, y = rows("ties", ROWS)
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, ROWS).astype(float)
    groups = rng.choice(["b", "a", "c"], ROWS, p=[0.89, 0.1, 0.01])
    inside, by_parts = both(
        x, y, table, ranges=7, sampler=SAMPLERS[sampler], sample_weight=weight, groups=groups
    )
    agree(inside, by_parts, distance)


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_penalty_and_no_intercept(alpha, rows, table, distance):
    x, y = rows("plain", ROWS)
    inside, by_parts = both(
        x, y, table, ranges=7, sampler=samplers.Adjacent(9), alpha=alpha, fit_intercept=False
    )
    agree(inside, by_parts, distance)


def test_far_from_zero(rows, table, distance):
    x, y = rows("offset", ROWS)
    inside, by_parts = both(x, y + 1e8, table, ranges=7, sampler=samplers.Adjacent(9))
    assert distance(by_parts.coef_, inside.coef_) < 1e-9
    assert distance(by_parts.predict([[x[0]]]), inside.predict([[x[0]]])) < 1e-9


def test_nonlinear_features_of_a_complete_sample(rows, table, distance):
    from sklearn.preprocessing import SplineTransformer

    x, y = rows("plain", ROWS)
    inside, by_parts = both(
        x, y, table, ranges=7, sampler=samplers.Adjacent(9), features=SplineTransformer(4)
    )
    agree(inside, by_parts, distance)


@pytest.mark.parametrize("engine", [Threads(2), Processes(2)], ids=["threads", "processes"])
def test_whoever_works_the_bits_are_the_same(engine, rows, table):
    x, y = rows("plain", ROWS)
    frame = table(x, y)
    one = fit(frame, "x", "y", ranges=5, engine=Serial())
    other = fit(frame, "x", "y", ranges=5, engine=engine)
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.coef_cov_, other.coef_cov_)


def test_the_drawn_order_of_ties_is_the_same_for_every_cut(rows, table):
    x, y = rows("ties", ROWS)
    groups = np.random.default_rng(1).integers(0, 3, ROWS)
    found = [
        fit(
            table(x, y, g=groups), "x", "y", sampler=samplers.Disjoint(), transport=None,
            ranges=ranges, groups="g",
        )
        for ranges in (1, 2, 7, 64)
    ]  # fmt: skip
    for each in found[1:]:
        assert each.n_metasamples_ == found[0].n_metasamples_
        np.testing.assert_allclose(each.coef_, found[0].coef_, rtol=1e-12)
        np.testing.assert_allclose(each.coef_cov_, found[0].coef_cov_, rtol=1e-9)


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
