"""Everything public under odd and bad arguments: a right answer or one sentence at the door.

A few hundred calls by default; ``make fuzz-doors`` draws a hundred thousand. A complaint begins
with the number of its case: ``python -m fuzz SEED NUMBER NUMBER+1`` from tests/ makes it again.
"""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from fuzz.cases import CALLS, complaints
from fuzz.law import complaint
from fuzz.values import Draw, misspelt

from multiobs import MultiObservationRegressor, experiments, samplers, scoring, statistics
from multiobs.fit import make_design

CASES = int(os.environ.get("MULTIOBS_DOORS", "600"))
SEED = int(os.environ.get("MULTIOBS_DOORS_SEED", "13"))
FIRST = int(os.environ.get("MULTIOBS_DOORS_FIRST", "0"))


def test_bad_input_gets_a_sentence_and_no_answer_is_nan_without_a_word(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = list(complaints(SEED, range(FIRST, FIRST + CASES)))
    print(f"{len(found)} complaints of {CASES} cases from {FIRST}, seed {SEED}")
    assert found == []


@pytest.mark.parametrize("name", CALLS)
def test_every_call_is_tried(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert list(complaints(SEED, range(4), name)) == []


def test_the_law_notices():
    deep = {"features": object(), "X": np.zeros((2, 1)), "intercept": True}
    assert "TypeError" in complaint(make_design, deep)  # scikit-learn's, in a room without a door
    assert "NaN without a word" in complaint(lambda: np.array([np.nan]), {})
    assert "leaked RuntimeWarning" in complaint(lambda: np.float64(1e300) * np.float64(1e300), {})
    assert complaint(statistics.resolve, {"statistic": "varianc"}) is None
    assert complaint(lambda: 1.0, {}) is None


def test_every_public_function_is_called():
    api = Path(__file__).parents[2] / "docs" / "api"
    if not api.exists():
        pytest.skip("the documentation is not here")
    called = "".join(Path(__file__).parent.joinpath(each).read_text() for each in SOURCES)
    for room in ("scoring", "planning", "baselines", "samplers", "statistics", "models"):
        names = re.findall(r"^   ([a-z_]+)$", (api / f"{room}.md").read_text(), re.MULTILINE)
        missing = [name for name in names if not re.search(rf"\b{name}\b", called)]
        # the catalogue of statistics is drawn from, name by name
        assert [each for each in missing if each not in statistics.CATALOGUE] == [], room


SOURCES = ("calls_rows.py", "calls_parts.py", "calls_shown.py")


def nearest(call):
    with pytest.raises(ValueError, match="did you mean") as caught:
        call()
    return re.search(r"did you mean '(.*)'\?", str(caught.value))[1]


def test_unknown_names_come_with_a_near_one():
    x, y = np.linspace(0, 1, 9)[:, None], np.arange(9.0) % 4

    def fit(**given):
        return lambda: MultiObservationRegressor(**given).fit(x, y)

    def score(**given):
        return lambda: scoring.score("variance", x, y, 1.0, **given)

    assert nearest(fit(statistic="varience")) == "variance"
    assert nearest(fit(sampler="Slidng")) == "sliding"
    assert nearest(fit(transport="locaton")) == "location"
    assert nearest(fit(link="logs")) == "log"
    assert nearest(fit(features="smoth")) == "smooth"
    assert nearest(score(loss="gama")) == "gamma"
    assert nearest(score(sampler="neares")) == "nearest"
    assert nearest(lambda: statistics.build("ucb", {"lambda": 1.0})) == "lam"
    assert nearest(lambda: experiments.scenario("variance-lin")) == "variance-line"
    assert nearest(lambda: samplers.Nearby("papr")) == "paper"
    draw = Draw("names")
    assert misspelt(draw, "variance") != "variance"


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (dict(y=5.0), "y"),
        (dict(groups=["a", 1, None] * 10), "groups must hold one label"),
        (dict(random_state="a"), "random_state must be an integer"),
        (dict(features=3), "features must be a transformer"),
        (dict(features=np.zeros(3)), "features must be a transformer"),
        (dict(estimator=np.zeros(3)), "estimator must be a regressor"),
        (dict(alpha=np.ones(2)), "alpha must be a real number"),
        (dict(n_jobs=0), "n_jobs must be"),
        (dict(fit_intercept="no"), "fit_intercept must be True or False"),
        (dict(y=np.tile([1e308, -1e308], 15)), "y must have ranges that a float holds"),
        (dict(X=np.linspace(0, 1e300, 30)[:, None]), "X must have ranges whose squares"),
        (dict(y=np.ma.masked_array(np.arange(30.0), np.arange(30) == 3)), "y must hold every"),
    ],
)
def test_the_offenders_of_old(given, rule):
    rng = np.random.default_rng(0)
    rows = dict(X=rng.random((30, 1)), y=rng.normal(size=30), groups=None)
    options = {key: value for key, value in given.items() if key not in rows}
    rows |= {key: value for key, value in given.items() if key in rows}
    with pytest.raises((ValueError, TypeError), match=rule):
        MultiObservationRegressor(**options).fit(**rows)


def test_groups_of_mixed_types_are_groups():
    rng = np.random.default_rng(0)
    x, y = rng.random((30, 1)), rng.normal(size=30)
    mixed, plain = ["a", 1, 2.5] * 10, np.tile([2, 1, 0], 10)
    model = MultiObservationRegressor(transport=None)
    first = model.fit(x, y, groups=mixed).predict(x)
    np.testing.assert_allclose(first, model.fit(x, y, groups=plain).predict(x), rtol=1e-12)
    assert scoring.score("variance", x, y, 1.0, groups=mixed) == pytest.approx(
        scoring.score("variance", x, y, 1.0, groups=plain)
    )


def test_limits_far_away_grow_with_the_distance():
    rng = np.random.default_rng(0)
    x, y = rng.random((50, 1)), rng.normal(size=50)
    model = MultiObservationRegressor().fit(x, y)
    far, farther = (model.predict_interval([[at]], method="linear")[0] for at in (1e150, 1e300))
    np.testing.assert_allclose(farther / 1e150, far, rtol=1e-9)


def test_a_forecast_that_is_never_off_or_always_the_same():
    x, y = np.arange(8.0), np.tile([0.0, 1.0], 4)
    perfect = scoring.calibration_test("variance", x, y, 0.5)
    assert (perfect.t, perfect.p, perfect.joint_p) == (0.0, 1.0, 1.0)
    with pytest.warns(UserWarning, match="without any spread there is no test"):
        off = scoring.calibration_test("variance", x, y, 0.75)
    assert np.isnan([off.p, off.joint_p]).all()
    assert off.mean == pytest.approx(-0.25)
