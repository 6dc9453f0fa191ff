"""Scan or rank tree: time per anchor by window width, to set NARROW and BLOCK of rank_sums.

Run ``python benchmarks/ranks_switch.py``: nanoseconds an anchor for each kernel and width.
"""

import argparse
import time

import numpy as np

from multiobs._types import FloatArray, IntArray
from multiobs.native import loader, rank_sums

KERNELS = {
    "minimum of 2": [1.0, 0.0],
    "gini": [-1.0, 1.0],
    "minimum of 5": [1.0, 0.0, 0.0, 0.0, 0.0],
    "l-moment of order 4": [-0.25, 0.75, -0.75, 0.25],
}
WIDTHS = (4, 8, 16, 24, 32, 48, 64, 128, 256)
BLOCKS = (8, 16, 32)


def nanoseconds(
    y: FloatArray, U: FloatArray, stop: IntArray, coefs: FloatArray, rows: bool, repeats: int
) -> float:
    """Shortest processor time of one anchor."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        if rows:
            rank_sums.order_statistic_row_sums(y, U, None, stop, coefs, np.eye(1 + U.shape[1]))
        else:
            rank_sums.order_statistic_sums(y, U, None, stop, coefs, y.size)
        best = min(best, time.process_time() - start)
    return 1e9 * best / y.size


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    if not loader.available():
        raise SystemExit("the compiled loops must be built, got none")
    rng = np.random.default_rng(0)
    y, U = rng.exponential(size=options.n), rng.random((options.n, 1))
    print(f"{'':24}{'width':>6}{'scan':>8}" + "".join(f"{f'tree {b}':>9}" for b in BLOCKS))
    for rows in (False, True):
        for name, coefs in KERNELS.items():
            for width in WIDTHS:
                stop = np.minimum(np.arange(options.n) + width + 1, options.n)
                case = (y, U, stop, np.array(coefs), rows, options.repeats)
                rank_sums.NARROW = options.n
                times = [nanoseconds(*case)]
                rank_sums.NARROW = 0
                for rank_sums.BLOCK in BLOCKS:
                    times.append(nanoseconds(*case))
                label = name + (", rows" if rows else "")
                figures = "".join(f"{t:9.0f}" for t in times)
                print(f"{label:24}{width:6d}{figures[1:]}")


if __name__ == "__main__":
    main()
