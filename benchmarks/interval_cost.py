"""What do intervals cost, in fits?  Median CPU times of ``fit`` and the first ``predict_interval``.

``python -m benchmarks.interval_cost`` writes ``interval_cost.csv``, one line for each statistic,
sampler, transport and n.  Nothing is cached between repeats: every repeat fits anew.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.coverage import SAMPLERS, STATISTICS, TRANSPORTS, write
from benchmarks.coverage_laws import X_AT, draw
from multiobs import MultiObservationRegressor


def cost(
    statistic: str, sampler: str, transport: str, n: int, repeats: int
) -> tuple[float, float, float]:
    """Median CPU seconds of a fit and of its first interval, and the median of their ratios."""
    fits, intervals = [], []
    for trial in range(repeats + 1):
        data = draw(statistic, "smooth/normal/uniform", n, np.random.default_rng((n, trial)))
        model = MultiObservationRegressor(
            STATISTICS[statistic], SAMPLERS[sampler], transport=TRANSPORTS[transport][0]
        )
        start = time.process_time()
        model.fit(data.X, data.y)
        middle = time.process_time()
        model.predict_interval(X_AT)
        end = time.process_time()
        if trial:  # the first warms up
            fits.append(middle - start)
            intervals.append(end - middle)
    ratios = [b / a for a, b in zip(fits, intervals, strict=True)]
    return median(fits), median(intervals), median(ratios)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, nargs="+", default=[300, 2000, 20_000])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--statistics", nargs="+", default=list(STATISTICS))
    parser.add_argument("--samplers", nargs="+", default=list(SAMPLERS))
    parser.add_argument("--transports", nargs="+", default=["auto", "none"])
    parser.add_argument("--out", type=Path, default=Path("out/coverage"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    lines: list[list[Any]] = []
    for n in given.n:
        for carried in given.transports:
            for statistic in given.statistics:
                for sampler in given.samplers:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        fit, interval, ratio = cost(statistic, sampler, carried, n, given.repeats)
                    line = [statistic, sampler, n, carried, f"{1e3 * fit:.1f}"]
                    lines.append([*line, f"{1e3 * interval:.1f}", f"{ratio:.2f}"])
                    print(*lines[-1], flush=True)
    head = ["statistic", "sampler", "n", "transport", "fit ms", "interval ms", "ratio"]
    write(
        given.out / "interval_cost.csv",
        lambda stream: csv.writer(stream, lineterminator="\n").writerows([head, *lines]),
    )


if __name__ == "__main__":
    main()
