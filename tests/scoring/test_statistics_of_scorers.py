"""Scorers and the statistics of what they score: no loss is compared with that of another."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multiobs import MultiObservationRegressor, scoring, statistics
from multiobs.scoring._score import alike


def table():
    rng = np.random.default_rng(0)
    x = rng.random((300, 1))
    return x, (1 + 3 * x[:, 0]) * rng.normal(size=300) + 20


def search(candidates, scorer, model=None):
    model = MultiObservationRegressor(random_state=0) if model is None else model
    deep = model.get_params()
    name = next(key for key in deep if key.endswith("statistic"))
    return GridSearchCV(model, {name: candidates}, scoring=scorer, cv=2, error_score="raise")


def test_another_statistic_is_refused():
    x, y = table()
    for model in (None, make_pipeline(StandardScaler(), MultiObservationRegressor())):
        with pytest.raises(ValueError, match=r"for variance\(\), got an estimator of ucb\(lam=1.0"):
            search(["variance", "ucb"], scoring.make_scorer("variance"), model).fit(x, y)


def test_the_default_score_of_a_search_over_statistics_is_refused():
    x, y = table()
    for model in (None, make_pipeline(StandardScaler(), MultiObservationRegressor())):
        with pytest.raises(ValueError, match="models of one statistic, got one set by set_params"):
            search(["variance", "ucb"], None, model).fit(x, y)
    widths = {"sampler": ["sliding", "nearby"]}
    found = GridSearchCV(MultiObservationRegressor("ucb"), widths, cv=2).fit(x, y)
    assert np.isfinite(found.best_score_)
    best = clone(MultiObservationRegressor().set_params(statistic="ucb")).fit(x, y)
    assert np.isfinite(best.score(x, y))  # a new estimator of one statistic


def test_each_by_its_own_statistic_is_what_it_gains_on_a_constant():
    x, y = table()
    own = scoring.make_scorer("own")
    found = search(["variance", statistics.ucb(2.0), "minvar"], own).fit(x, y)
    scores = found.cv_results_["mean_test_score"]
    assert np.all(np.isfinite(scores))
    assert np.all(np.abs(scores) < 20)  # standard errors, not the fourth power of y
    model = MultiObservationRegressor("variance", random_state=0).fit(x, y)
    table_ = scoring.compare("variance", x, y, {"it": model.predict(x)})
    assert own(model, x, y) == pytest.approx(table_.gain[0] / table_.gain_se[0])
    with pytest.raises(TypeError, match="'own' needs estimators with statistic_, got Dummy"):
        own(DummyRegressor().fit(x, y), x, y)


def test_one_statistic_may_have_several_losses():
    x, y = table()
    gamma = statistics.variance().with_loss("gamma")
    found = search(["variance", gamma], scoring.make_scorer("variance")).fit(x, y)
    assert np.all(np.isfinite(found.cv_results_["mean_test_score"]))
    assert alike(statistics.ucb(2.0), statistics.ucb(2.0, loss="cubic"))
    assert not alike(statistics.ucb(2.0), statistics.ucb(2.5))
    assert not alike(statistics.variance(), statistics.minvar(4))
    assert not alike(statistics.covariance(), statistics.variance())


def test_minvar_says_first_that_it_takes_one_more():
    text = statistics.minvar.__doc__
    assert "k + 1 labels" in text.splitlines()[0]
    assert statistics.minvar(4).arity == 5
