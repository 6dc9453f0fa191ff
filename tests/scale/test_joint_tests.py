"""Joint tests of fits by parts: Wald's, whose covariance is that of all rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from multiobs import MultiObservationRegressor, samplers
from multiobs.inference.hypotheses import wald
from multiobs.scale import Serial, fit

OPTIONS = dict(transport=None, sampler=samplers.Adjacent(8))


def rows_of(n, seed, slope=0.0):
    rng = np.random.default_rng(seed)
    x, g = rng.random(n), rng.choice(["a", "b", "c"], n)
    return {"x": x, "g": g, "y": rng.normal(size=n) * np.exp(slope * x)}


@pytest.fixture(scope="module")
def pair():
    """The same rows in memory and by parts."""
    columns = rows_of(1500, 0, 0.3)
    frame = pd.DataFrame({"x": columns["x"], "g": columns["g"]})
    inside = MultiObservationRegressor("variance", **OPTIONS).fit(frame, columns["y"])
    table = pa.table(columns)
    return inside, fit(table, ["x", "g"], "y", ranges=7, engine=Serial(), **OPTIONS)


@pytest.mark.parametrize("hypotheses", [1, 2, 3])
def test_a_joint_test_is_that_of_the_fit_in_memory_by_its_covariance(pair, hypotheses):
    inside, by_parts = pair
    R = np.random.default_rng(hypotheses).normal(size=(hypotheses, 4))
    q = R @ np.array([1.0, 0.5, 0.0, 0.1])
    found = by_parts.wald_test(R, q)
    known = inside.inference_
    expected = wald(known.estimate, known.coef_cov, R, q, known.df, "R b = q")
    if hypotheses == 1:  # a t with the degrees of freedom of its direction
        expected = inside.wald_test(R, q)
    assert found.df_num == expected.df_num == hypotheses
    for name in ("statistic", "df_denom", "p_value"):
        assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-7)


def test_constancy_is_a_joint_test_of_all_slopes(pair):
    inside, by_parts = pair
    found, joint = by_parts.test_constant(), by_parts.wald_test(np.eye(4)[1:])
    assert found.statistic == pytest.approx(joint.statistic, rel=1e-9)
    assert found.p_value == pytest.approx(joint.p_value, rel=1e-9)
    # the score test in memory is another test of the same hypotheses: of one mind where it matters
    assert inside.test_constant().p_value < 1e-3
    assert found.p_value < 1e-3


def test_one_slope_is_tested_as_in_memory():
    columns = rows_of(1500, 0, 0.1)
    inside = MultiObservationRegressor("variance", **OPTIONS)
    inside.fit(columns["x"][:, None], columns["y"])
    table = pa.table({name: columns[name] for name in ("x", "y")})
    found = fit(table, "x", "y", ranges=7, engine=Serial(), **OPTIONS).test_constant()
    assert found.p_value == pytest.approx(inside.test_constant().p_value, rel=1e-7)


def test_a_category_that_the_sample_misses_is_tested_too():
    n = 3000
    columns = rows_of(n, 1)
    columns["g"] = np.where(np.arange(n) % 100 == 7, "rare", "a")
    columns["y"] = columns["y"] * np.where(columns["g"] == "rare", 4.0, 1.0)
    options = dict(engine=Serial(), sample_rows=20, ranges=3, transport=None)
    reg = fit(pa.table(columns), ["x", "g"], "y", sampler=samplers.SlidingWindow(), **options)
    assert not reg.result_.problem.X[:, 1].any()  # only common rows in the sample
    found = reg.test_constant()
    assert found.df_num == 2
    assert found.p_value == pytest.approx(reg.wald_test(np.eye(3)[1:]).p_value, rel=1e-9)


def rejected(trials, n, first):
    """Share of the data sets with a constant variance in which constancy is rejected at 5 %."""
    tests = []
    for trial in range(trials):
        table = pa.table(rows_of(n, first + trial))
        reg = fit(table, ["x", "g"], "y", ranges=3, engine=Serial(), **OPTIONS)
        tests.append(reg.test_constant().p_value < 0.05)
    return int(np.sum(tests))


@pytest.mark.parametrize(
    ("trials", "n"), [(20, 1000), pytest.param(400, 2000, marks=pytest.mark.slow)]
)
def test_joint_tests_reject_what_is_true_as_often_as_they_say(trials, n):
    found = rejected(trials, n, 1000)
    assert stats.binom.cdf(found, trials, 0.05) > 1e-3
    assert stats.binom.sf(found - 1, trials, 0.05) > 1e-3
