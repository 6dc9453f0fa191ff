"""Rows and truths that tests of scores share."""

import numpy as np

from multiobs import statistics
from multiobs.experiments.scenarios import SCENARIOS

UCB = statistics.ucb(2.0)


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=n)
    return x, 1.0 + np.sin(6 * x) + (1 + x) * rng.normal(size=n)


def truth_of(name):
    law = SCENARIOS[name]
    return law, getattr(statistics, law.statistic)(**law.parameters)
