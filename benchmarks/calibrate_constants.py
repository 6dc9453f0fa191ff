"""The smallest constant C for which the sampling lemmas keep their promise, found by simulation.

For every case (lemma, law of x, d, n, m, delta, epsilon) and every run, anchors and a stream of
candidates are drawn and the shortest prefix of the stream is found with which the lemma's event
holds: m distinct candidates within epsilon for every anchor (uniform lemma), or for as many
anchors as the lemma promises (nonuniform lemma). The event is monotone in the prefix. The
(1 - delta) quantile of prefix / (formula at C = 1) is the C that the case needs.

    python -m benchmarks.calibrate_constants [--runs 200] [--seed 0] [--out FILE.json]
"""

import argparse
import json
import math
import time
from collections.abc import Callable

import numpy as np

from multiobs import bounds
from multiobs.planning.pool import assign

Law = Callable[[int, int, np.random.Generator], np.ndarray]
STEP = 2**0.125
# Longest stream, as a multiple of the formula; a case that needs more shows as C = inf.
LONGEST = {"uniform": {1: 1.5, 2: 1.0, 3: 0.25}, "nonuniform": {1: 0.5, 2: 0.08, 3: 0.01}}


def dust(n: int) -> Law:
    """Hard for the nonuniform lemma: 3/sqrt(n) of the mass spread thinly, the rest a speck."""
    share = min(1.0, 3 / math.sqrt(n))

    def draw(size: int, d: int, rng: np.random.Generator) -> np.ndarray:
        x = 0.5 + 1e-3 * rng.random((size, d))
        thin = rng.random(size) < share
        x[thin] = rng.random((int(thin.sum()), d))
        return x

    return draw


def laws(n: int) -> dict[str, Law]:
    return {
        "uniform": lambda size, d, rng: rng.random((size, d)),
        "beta(2,5)": lambda size, d, rng: rng.beta(2, 5, (size, d)),
        "arcsine": lambda size, d, rng: rng.beta(0.5, 0.5, (size, d)),
        "dust": dust(n),
    }


def needed(
    anchors: np.ndarray, stream: np.ndarray, m: int, epsilon: float, promised: float, formula: float
) -> float:
    """Smallest C on a grid of ratio 2^(1/8) with which this run keeps the promise."""

    def holds(power: int) -> bool:
        size = math.ceil(formula * STEP**power)
        if size > len(stream):
            raise RuntimeError("the stream is too short for the constant that is needed")
        members = assign(anchors, stream[:size], m, epsilon)
        return bool((members[:, 0] >= 0).sum() >= promised)

    high = math.floor(math.log(len(stream) / formula, STEP))
    if not holds(high):
        return math.inf
    low = math.floor(math.log(max(1, m * promised) / formula, STEP)) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle
    return STEP**high


def cases() -> list[dict]:
    out = []
    sizes = {1: (20, 100, 500), 2: (20, 100), 3: (20, 50)}
    for d, counts in sizes.items():
        for n in counts:
            for m, delta in ((1, 0.05), (2, 0.2), (2, 0.05), (5, 0.05)):
                for epsilon in sorted({0.3, 0.1 if d < 3 else 0.2, 1 / math.sqrt(n)}):
                    out.append(
                        dict(
                            lemma="uniform",
                            law="uniform",
                            d=d,
                            n=n,
                            m=m,
                            delta=delta,
                            epsilon=epsilon,
                        )
                    )
                if d == 1:
                    out.append(
                        dict(
                            lemma="uniform",
                            law="uniform",
                            d=d,
                            n=n,
                            m=m,
                            delta=delta,
                            epsilon=1 / (m * n),
                        )
                    )
                for law in laws(n):
                    out.append(
                        dict(
                            lemma="nonuniform",
                            law=law,
                            d=d,
                            n=n,
                            m=m,
                            delta=delta,
                            epsilon=1 / math.sqrt(n),
                        )
                    )
    return out


def calibrate(case: dict, runs: int, rng: np.random.Generator) -> float:
    d, n, m, delta, epsilon = (case[k] for k in ("d", "n", "m", "delta", "epsilon"))
    if case["lemma"] == "uniform":
        formula = bounds.improved_sample_size_uniform(n, m, d, epsilon, delta)
        promised = n
    else:
        formula = bounds.improved_sample_size(n, m, d, delta)
        promised = bounds.good_set_size(n, delta)
    most = LONGEST[case["lemma"]][d]
    draw = laws(n)[case["law"]]
    found = []
    for _ in range(runs):
        anchors, stream = draw(n, d, rng), draw(math.ceil(most * formula), d, rng)
        found.append(needed(anchors, stream, m, epsilon, math.ceil(promised), formula))
    # The smallest C that at least a share 1 - delta of the runs is content with.
    return float(np.sort(found)[math.ceil((1 - delta) * runs) - 1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after so long")
    parser.add_argument("--out")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    start, results = time.perf_counter(), []
    for case in cases():
        if time.perf_counter() - start > options.seconds:
            print("stopped early: not all cases were run")
            break
        results.append({**case, "C": calibrate(case, options.runs, rng)})
    print(f"{len(results)} cases, {options.runs} runs each, {time.perf_counter() - start:.0f} s")
    for lemma in ("uniform", "nonuniform"):
        for law in laws(1):
            here = [r for r in results if r["lemma"] == lemma and r["law"] == law]
            for d in sorted({r["d"] for r in here}):
                worst = max((r for r in here if r["d"] == d), key=lambda r: r["C"])
                print(
                    f"{lemma:10s} {law:10s} d={d}: C needed at most {worst['C']:.3f} "
                    f"(n={worst['n']}, m={worst['m']}, delta={worst['delta']}, "
                    f"epsilon={worst['epsilon']:.3g})"
                )
    if options.out:
        with open(options.out, "w") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
