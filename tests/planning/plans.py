"""A plan over a pool with known labels, for the tests of plans and of their files."""

import numpy as np

from multiobs.planning import LabelPlan


def make_plan(n=40, rows=4000, seed=0, statistic="variance", **options):
    rng = np.random.default_rng(seed)
    X = rng.random((rows, 1))
    y = np.sin(9 * X[:, 0]) + (1 + X[:, 0]) * rng.standard_normal(rows)
    return X, y, LabelPlan.from_pool(X, statistic, n_metasamples=n, rng=rng, **options)
