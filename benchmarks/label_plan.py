"""Time a LabelPlan of 10^4 metasamples from 10^6 unlabelled rows against its reference.

The reference is what cannot be avoided: sorting x in one dimension, building scipy's KD-tree and
asking it for the nearest neighbours of the anchors in more. The limit is three times that.

    python -m benchmarks.label_plan [--rows 1000000] [--metasamples 10000] [--times 5]

Ends with status 1 if a limit is exceeded.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree

from multiobs.planning import LabelPlan

LIMIT = 3.0


def best_of(times, function):
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        spent.append(time.perf_counter() - start)
    return min(spent)


def measure(d, rows, metasamples, times, rng):
    """Seconds of the reference, of the plan, and of saving it with all its labels."""
    X = rng.random((rows, d))

    def reference():
        if d == 1:
            np.argsort(X[:, 0])
        else:
            KDTree(X).query(X[:metasamples], k=3)

    def ours():
        return LabelPlan.from_pool(X, "variance", n_metasamples=metasamples, epsilon=0.05, rng=rng)

    plan = ours()
    assert plan.label_complexity == 2 * metasamples == np.unique(plan.queries).size
    assert plan.selection.radius.max() <= plan.selection.epsilon
    plan.record(plan.queries, rng.standard_normal(2 * metasamples))
    with tempfile.TemporaryDirectory() as folder:
        save = best_of(times, lambda: plan.save(Path(folder) / "plan.npz"))
        resumed = LabelPlan.load(Path(folder) / "plan.npz")
    assert resumed.n_labelled == 2 * metasamples
    return best_of(times, reference), best_of(times, ours), save


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--metasamples", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    slow = False
    print("d  reference s  plan s  ratio  save s")
    for d in (1, 2, 3):
        base, ours, save = measure(d, options.rows, options.metasamples, options.times, rng)
        slow |= ours > LIMIT * base
        print(f"{d}  {base:11.3f}  {ours:6.3f}  {ours / base:5.2f}  {save:6.3f}")
    sys.exit(f"slower than {LIMIT:g} times the reference" if slow else 0)


if __name__ == "__main__":
    main()
