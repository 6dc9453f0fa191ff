"""What the reproduction costs, and what the same grid would cost with explicit tuples.

    python benchmarks/reproduce_cost.py [--trials 3] [--out FILE.md]

Times a few trials of every (panel, method, n) of the full plan in CPU seconds, which neighbours on
the machine change little, and adds up the whole grid. Then counts the tuples that epsilon-Nearby
stands for in the same grid, measures what one tuple costs when it is listed (vectorised, in bounded
chunks, the branch "list" of ``multiobs.contract``), and multiplies.
"""

import argparse
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from multiobs import contract, samplers
from multiobs.experiments.grids import ReproductionPlan
from multiobs.experiments.methods import statistic_of
from multiobs.experiments.run import Block, cell_rng, run_block
from multiobs.experiments.scenarios import scenario

SAMPLE = 2_000_000  # tuples listed to find the price of one


def measured(requests, trials):
    """CPU seconds of one cell, for each request."""
    seconds = {}
    for request in requests:
        few = tuple(range(min(trials if request.n <= 10_000 else 1, request.trials)))
        block = Block(request.scenario, request.method, request.n, few)
        start = time.process_time()
        run_block(block, seed=0)
        seconds[request] = (time.process_time() - start) / len(few)
    return seconds


def factor_of(method):
    if method == "nearby":
        return 1.0
    return float(method.removeprefix("nearby x")) if method.startswith("nearby x") else None


def tuples_of(request):
    """How many tuples one nearby fit of this request stands for."""
    law = scenario(request.scenario)
    x, _ = law.sample(request.n, cell_rng(0, "data", request.scenario, request.n, 0))
    epsilon = factor_of(request.method) / (2.0 * np.sqrt(request.n))
    arity = statistic_of(law).arity
    return samplers.Nearby(epsilon).build(x[:, None], arity, np.random.default_rng(0)).count()


def price_of_a_tuple(panel):
    """CPU seconds to list one tuple and add its loss to the moments of a line."""
    law = scenario(panel)
    what = statistic_of(law)
    kernel = what.psi if what.psi is not None else what.loss.constant
    n, epsilon = (4000 if what.arity == 2 else 400), 0.02
    rng = np.random.default_rng(0)
    x, y = law.sample(n, rng)
    while True:
        tuples = samplers.Nearby(epsilon).build(x[:, None], what.arity, rng)
        if tuples.count() > SAMPLE:
            break
        epsilon *= 1.2
    Z = np.column_stack([np.ones(n), x])
    start = time.process_time()
    contract(tuples, kernel, Z, y, 1, branch="list")
    return (time.process_time() - start) / tuples.count()


def duration(seconds):
    for size, name in ((31_557_600, "years"), (86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:.3g} seconds"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    plan = ReproductionPlan()
    parts = {
        "figure": plan.figure(),
        "epsilon": plan.epsilons(),
        "other sweeps": plan.weakened() + plan.replicates() + plan.disjoint(),
        "beyond": plan.beyond_figure(),
    }
    run_block(Block("variance-sine", "residual", 100, (0,)), seed=0)  # imports and caches
    lines = ["| part of the grid | cells | CPU time | tuples of nearby | CPU time if listed |",
             "|---|---|---|---|---|"]  # fmt: skip
    prices = {panel: price_of_a_tuple(panel) for panel in plan.panels}
    totals = np.zeros(4)
    by_method = defaultdict(float)
    for name, requests in parts.items():
        seconds = measured(requests, options.trials)
        cost = sum(seconds[request] * request.trials for request in requests)
        for request in requests:
            by_method[request.method] += seconds[request] * request.trials
        count, listed = 0.0, 0.0
        for request in requests:
            if factor_of(request.method) is not None:
                tuples = float(tuples_of(request)) * request.trials
                panel = next(p for p in plan.panels if request.scenario.startswith(p))
                count += tuples
                listed += tuples * prices[panel]
        cells = sum(request.trials for request in requests)
        totals += (cells, cost, count, listed)
        lines.append(f"| {name} | {cells} | {duration(cost)} | {count:.2g} | {duration(listed)} |")
    cells, cost, count, listed = totals
    lines.append(f"| all | {int(cells)} | {duration(cost)} | {count:.2g} | {duration(listed)} |")
    lines.append("")
    lines.append(f"On {options.workers} cores about {duration(cost / options.workers)}.")
    lines.append("One listed tuple costs " + ", ".join(
        f"{1e9 * price:.0f} ns ({panel})" for panel, price in prices.items()) + ".")  # fmt: skip
    dear = sorted(by_method.items(), key=lambda item: -item[1])[:6]
    lines.append("Dearest methods: " + ", ".join(f"{m} {duration(s)}" for m, s in dear) + ".")
    text = "\n".join(lines) + "\n"
    print(text)
    if options.out is not None:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
