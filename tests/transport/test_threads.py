"""Threads of boosted pilots: several would spin while they wait for each other on a busy machine.

What one fit asks for is looked at, not how long it takes: in a process whose environment allows
four threads, while the trees of a pilot grow, OpenMP and BLAS may use one each.
"""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import warnings

import numpy as np
from threadpoolctl import threadpool_info

from multiobs import MultiObservationRegressor

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.uniform(size=(120, 5))
y = 3 * np.sin(5 * X[:, 0] * X[:, 1]) + rng.normal(size=120)
model = MultiObservationRegressor(random_state=0{more})
seen = []

from sklearn.ensemble import HistGradientBoostingRegressor as Trees

real = Trees.fit


def fit(self, *given, **named):
    seen.append(max(each["num_threads"] for each in threadpool_info()))
    return real(self, *given, **named)


Trees.fit = fit
before = max(each["num_threads"] for each in threadpool_info())
model.fit(X, y)
after = max(each["num_threads"] for each in threadpool_info())
print(before, sorted(set(seen)), after)
"""


@pytest.mark.parametrize("more", ["", ', estimator="auto"'], ids=["pilot", "class"])
def test_trees_grow_on_one_thread(more):
    threads = {f"{name}_NUM_THREADS": "4" for name in ("OMP", "OPENBLAS", "MKL")}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{more}", more)],
        env=os.environ | threads,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.split("\n")[0] == "4 [1] 4"
