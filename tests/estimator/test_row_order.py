"""The order of the rows changes no result: sorted by label or by chance, with many ties in x."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from multiobs import MultiObservationRegressor, metasamples, samplers, statistics

SAMPLERS = {
    "sliding": samplers.SlidingWindow(),
    "adjacent": samplers.Adjacent(6),
    "nearby": samplers.Nearby(0.1),
    "nearest": samplers.Nearest(4),
    "replicates": samplers.Replicates(),
}
STATISTICS = ("variance", "ucb", "minvar", statistics.cumulant(3))


def table(n=120, values=12):
    rng = np.random.default_rng(0)
    x = rng.integers(0, values, n) / values
    return x[:, None], x + rng.gamma(2.0, 0.5 + x)


def orders(y):
    return np.argsort(y), np.argsort(-y), np.random.default_rng(1).permutation(y.size)


@pytest.mark.filterwarnings("ignore:intervals at some:UserWarning")  # an outlier is meant
@pytest.mark.parametrize("statistic", STATISTICS, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_fits_and_intervals_do_not_depend_on_the_order_of_rows(name, statistic):
    X, y = table()

    def answer(rows):
        model = MultiObservationRegressor(
            statistic, SAMPLERS[name], transport=None, random_state=0
        ).fit(X[rows], y[rows])
        return np.column_stack([model.predict(X[:20]), model.predict_interval(X[:20])])

    known = answer(np.arange(y.size))
    # where tuples of three overlap, how much they do is known from some that are drawn
    drawn = statistics.resolve(statistic).arity > 2 and name != "sliding"
    for rows in orders(y):
        found = answer(rows)
        assert_allclose(found[:, 0], known[:, 0], rtol=2e-6, atol=1e-8 * np.abs(known).max())
        assert_allclose(found, known, rtol=2e-6, atol=(0.05 if drawn else 1e-8) * np.ptp(known))


@pytest.mark.parametrize("transport", [None, "auto"])
def test_undersmoothing_does_not_depend_on_the_order_of_rows(transport):
    X, y = table()

    def answer(rows):
        model = MultiObservationRegressor("variance", transport=transport, random_state=0)
        return model.fit(X[rows], y[rows]).predict_interval(X[:20], bias="undersmooth")

    known = answer(np.arange(y.size))
    for rows in orders(y):
        assert_allclose(answer(rows), known, rtol=0.05 if transport else 1e-7)


def test_a_sliding_window_on_twenty_values_sorted_by_label_finds_the_variance():
    rng = np.random.default_rng(2)
    x = rng.integers(0, 20, 4000) / 20
    y = rng.normal(size=4000)
    for rows in (np.arange(4000), np.argsort(y)):
        model = MultiObservationRegressor("variance", "sliding", transport=None, random_state=0)
        found = model.fit(x[rows, None], y[rows]).predict([[0.5]])[0]
        assert found == pytest.approx(1.0, abs=0.08)


def test_widths_chosen_by_validation_do_not_follow_sorted_labels():
    X, y = table(600, 15)
    chosen = {
        repr(
            MultiObservationRegressor("variance", "nearby", transport=None, random_state=0)
            .fit(X[rows], y[rows])
            .sampler_
        )
        for rows in (np.arange(600), *orders(y))
    }
    assert len(chosen) <= 2  # the halves of a tie are drawn


def test_metasamples_carry_the_weights_of_tied_rows():
    found = metasamples([0.0, 0.0, 1.0], [1.0, 2.0, 3.0], sampler="sliding")
    assert found.weight.tolist() == [1.0, 0.5, 0.5]


def test_a_stream_with_ties_across_batches_ends_where_one_fit_does():
    rng = np.random.default_rng(4)
    x = np.sort(rng.integers(0, 8, 200) / 8)
    y = rng.normal(size=200)
    cuts = (0, 30, 31, 90, 150, 200)
    for statistic in ("variance", statistics.cumulant(3)):
        whole = MultiObservationRegressor(statistic, "sliding", transport=None).fit(x[:, None], y)
        stream = MultiObservationRegressor(statistic, "sliding", transport=None)
        for low, high in pairwise(cuts):
            stream.partial_fit(x[low:high, None], y[low:high])
        at = np.linspace(0, 1, 5)[:, None]
        assert_allclose(stream.predict(at), whole.predict(at), rtol=1e-8)
