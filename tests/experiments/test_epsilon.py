"""The paper's epsilon inside the experiments, counted by brute force."""

import math

import numpy as np
import pytest

from multiobs.experiments.methods import METHODS, method
from multiobs.experiments.scenarios import SCENARIOS

LAW = SCENARIOS["variance-sine"]


def fitted(name, n):
    rng = np.random.default_rng(3)
    model = method(name).fit(LAW, n, rng, np.random.default_rng(4))
    return model, LAW.sample(n, np.random.default_rng(3))[0]


@pytest.mark.parametrize("n", [50, 400])
@pytest.mark.parametrize(
    ("name", "factor"), [("nearby", 1.0), ("nearby x8", 8.0), ("nearby x0.5", 0.5)]
)
def test_nearby_uses_pairs_within_one_over_two_root_n(name, factor, n):
    model, x = fitted(name, n)
    epsilon = factor / (2 * math.sqrt(n))
    gaps = np.abs(x[:, None] - x[None])[np.triu_indices(n, 1)]
    assert model.n_metasamples_ == np.count_nonzero(gaps <= epsilon)
    assert model.sampler_.epsilon == pytest.approx(epsilon, rel=1e-15)


def test_improved_uses_the_same_epsilon_of_all_labels():
    # the paper's n is its metasamples in one sentence and its labels in another: here, labels
    model, _ = fitted("improved", 400)
    assert model.sampler_.epsilon == pytest.approx(0.025, rel=1e-15)
    assert METHODS["improved"].may_fail
