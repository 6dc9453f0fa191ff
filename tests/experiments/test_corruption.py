"""ERM under corrupted metasamples, and remarks of the paper that can be measured."""

import numpy as np
import pytest

from multiobs.experiments import rates
from multiobs.experiments.corruption import (
    LARGEST_LOSS,
    LEVELS,
    corrupted_erm,
    true_risks,
)

SIZES = (100, 400, 1600)


def samples(n, count, runs, seed):
    rng, risks = np.random.default_rng(seed), true_risks()
    return [corrupted_erm(n, count, rng, risks) for _ in range(runs)]


def test_true_risk_by_drawing():
    rng = np.random.default_rng(0)
    x = rng.random(400_000)
    labels = rng.random((x.size, 2)) < (0.2 + 0.6 * x)[:, None]
    psi = (labels[:, 0] ^ labels[:, 1]) / 2
    for left, right in ((3, 20), (10, 10)):
        line = LEVELS[left] * (1 - x) + LEVELS[right] * x
        drawn = (line - psi) ** 2
        exact = true_risks()[left * LEVELS.size + right]
        assert abs(drawn.mean() - exact) < 4 * drawn.std() / np.sqrt(x.size)


def test_the_union_argument_holds_sample_by_sample():
    for n in SIZES:
        for count in (0, None, n // 10, n):
            for found in samples(n, count, 10, seed=n):
                assert 0 <= found.corrupted <= found.promised
                assert found.shift <= LARGEST_LOSS * found.n_corrupted / n + 1e-12
    assert found.shift > 0.3 * LARGEST_LOSS  # the last, in which all are corrupted: it bites


def test_without_corruption_nothing_shifts():
    for found in samples(200, 0, 5, seed=1):
        assert found.shift == 0.0
        assert found.clean == found.corrupted


def test_root_n_corruptions_fade_and_a_fixed_share_does_not():
    few = [samples(n, None, 30, seed=2) for n in SIZES]
    share = [samples(n, n // 10, 30, seed=3) for n in SIZES]
    assert [found[0].n_corrupted for found in few] == [10, 20, 40]
    excess = [np.array([found.corrupted for found in each]) for each in few]
    # the lemma promises n^(-1/2); a squared loss does better
    assert rates.log_log_slope(SIZES, excess).slope < -0.7
    harm = np.mean([found.corrupted - found.clean for found in few[0]])
    assert harm > 0.002  # and at small n the adversary is felt
    stuck = [np.mean([found.corrupted for found in each]) for each in share]
    assert stuck[-1] > 0.5 * stuck[0]
    assert stuck[-1] > 5 * excess[-1].mean()


def test_direct_route_to_a_lipschitz_variance_has_the_conjectured_rate():
    rng, sizes = np.random.default_rng(0), (250, 1000, 4000, 16000)
    errors = [np.array([rates.lipschitz_error(n, rng) for _ in range(60)]) for n in sizes]
    found = rates.log_log_slope(sizes, errors)
    assert found.slope == pytest.approx(-2 / 3, abs=4 * found.standard_error + 0.03)
