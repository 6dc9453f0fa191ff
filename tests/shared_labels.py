"""Statistics, samplers and rows that tests of inference share."""

import numpy as np

from multiobs import samplers, statistics

STATISTICS = {
    "variance": statistics.variance(),
    "ucb": statistics.ucb(2.0),
    "gini": statistics.gini_mean_difference(),
    "minvar": statistics.minvar(2),
    "squared_cv": statistics.squared_cv(),
    "central_moment": statistics.central_moment(3),
}
SAMPLERS = {
    "nearby": samplers.Nearby(0.12),
    "sliding": samplers.SlidingWindow(),
    "nearest": samplers.Nearest(5),
    "disjoint": samplers.Disjoint(),
    "improved": samplers.Improved(shuffle=False),
}


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(n, 1))
    return x, 1.0 + np.sin(3 * x[:, 0]) + np.sqrt(0.5 + x[:, 0]) * rng.normal(size=n)
