"""Rows that tests of the displays share."""

import numpy as np


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=n)
    return x[:, None], np.sin(6 * x) + (1 + x) * rng.normal(size=n)
