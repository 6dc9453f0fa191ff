"""Study 3: the best robust design of a truss, from single noisy runs or from replicated ones."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from docs.studies.record import BLUE, GREEN, GREY, ORANGE, write_numbers, write_picture, write_table
from multiobs import MultiObservationRegressor, statistics

LAM = 2.0
BUDGETS = (200, 400, 800)
SEEDS = range(30)
LOW, HIGH = np.array([0.6, 0.7]), np.array([1.6, 2.2])  # height, cross-section of the bars


def run(design, rng):
    """One run: cost of the steel plus the price of sag and sway under a random load.

    Two bars of length L = sqrt(1 + h²) stand one unit from the middle on either side, meet at
    height h and hold a vertical load and a side wind; the cross-section comes out of the mill with
    an error of five per cent. Units of load and stiffness are one.
    """
    h, area = design.T
    n = design.shape[0]
    load = rng.gumbel(1.0, 0.25, n)
    wind = 0.5 * np.abs(rng.standard_normal(n)) * (0.4 + h / 2)  # taller catches more
    rolled = area * (1 + 0.05 * rng.standard_normal(n))
    length = np.hypot(1.0, h)
    sag = np.maximum(load, 0.0) * length**3 / (2 * rolled * h**2)
    sway = wind * length**3 / (2 * rolled)
    return 6.0 * rolled * length + 4.0 * (sag + sway)


def truth(design, rng, n=20_000):
    """Mean plus LAM sd of the cost at each design (k, 2), by many runs."""
    found = []
    for each in design:
        cost = run(np.repeat(each[None], n, axis=0), rng)
        found.append(cost.mean() + LAM * cost.std())
    return np.array(found)


def minimised(surrogate):
    """Least point of a surrogate by scipy, from the best points of a grid."""
    axes = [np.linspace(low, high, 15) for low, high in zip(LOW, HIGH, strict=True)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    start = grid[np.argsort(surrogate(grid))[:3]]
    limits = list(zip(LOW, HIGH, strict=True))
    ends = [minimize(lambda d: surrogate(d[None])[0], s, bounds=limits) for s in start]
    return min(ends, key=lambda end: end.fun).x


def single(n, rng):
    """Our surrogate: n designs, one run each."""
    design = rng.uniform(LOW, HIGH, (n, 2))
    model = MultiObservationRegressor(
        statistics.ucb(LAM), features=PolynomialFeatures(3, include_bias=False)
    )
    return model.fit(design, run(design, rng)).predict


def replicated(n, rng, times):
    """n / times designs, each run so often; a cubic through their mean + LAM sd."""
    design = rng.uniform(LOW, HIGH, (n // times, 2))
    cost = np.stack([run(design, rng) for _ in range(times)], axis=1)
    bound = cost.mean(axis=1) + LAM * cost.std(axis=1, ddof=1)
    return make_pipeline(PolynomialFeatures(3), LinearRegression()).fit(design, bound).predict


def process(n, rng, times):
    """The same runs, and a Gaussian process through the replicated bounds."""
    design = rng.uniform(LOW, HIGH, (n // times, 2))
    cost = np.stack([run(design, rng) for _ in range(times)], axis=1)
    bound = cost.mean(axis=1) + LAM * cost.std(axis=1, ddof=1)
    kernel = ConstantKernel(1.0) * RBF([1.0, 1.0], (0.1, 10)) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    return model.fit(design, bound).predict


METHODS = {
    "multiobs, single runs": single,
    "cubic through 5 replicates": lambda n, rng: replicated(n, rng, 5),
    "cubic through 20 replicates": lambda n, rng: replicated(n, rng, 20),
    "Gaussian process, 5 replicates": lambda n, rng: process(n, rng, 5),
}


def main() -> None:
    judge = np.random.default_rng(1)
    axes = [np.linspace(low, high, 40) for low, high in zip(LOW, HIGH, strict=True)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    value = truth(grid, judge, 4000)
    exact = minimize(
        lambda d: truth(d[None], np.random.default_rng(2))[0],
        grid[value.argmin()],
        method="Nelder-Mead",
        bounds=list(zip(LOW, HIGH, strict=True)),
    )
    best, at_best = exact.x, exact.fun
    warned = dict.fromkeys(METHODS, 0)
    regret = {name: {n: [] for n in BUDGETS} for name in METHODS}
    for n in BUDGETS:
        for seed in SEEDS:
            for name, method in METHODS.items():
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    found = minimised(method(n, np.random.default_rng([seed, n])))
                warned[name] += bool(caught)
                reached = truth(found[None], np.random.default_rng(2))[0]
                regret[name][n].append(reached / at_best - 1)
    rows = []
    for name, by_budget in regret.items():
        cells = [np.percentile(by_budget[n], [50, 90]) * 100 for n in BUDGETS]
        cells = [f"{middle:.1f} % ({high:.1f} %)" for middle, high in cells]
        rows.append([name, *cells, f"{warned[name] / (len(BUDGETS) * len(SEEDS)):.0%}"])
    write_table("truss", ["surrogate", *(f"{n} runs" for n in BUDGETS), "fits that warned"], rows)
    middle = {name: np.median(by[BUDGETS[0]]) for name, by in regret.items()}
    peers = [name for name in METHODS if name != "multiobs, single runs"]
    peer = min(peers, key=middle.__getitem__)
    write_numbers(
        "truss",
        {
            "h": f"{best[0]:.2f}",
            "area": f"{best[1]:.2f}",
            "cost": f"{at_best:.1f}",
            "ours": f"{100 * middle['multiobs, single runs']:.1f} %",
            "peer": peer,
            "peers": f"{100 * middle[peer]:.1f} %",
            "budget": str(BUDGETS[0]),
        },
    )
    figure, panels = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
    shape = (axes[1].size, axes[0].size)
    levels = np.quantile(value, [0.02, 0.1, 0.25, 0.5, 0.75])
    lines = panels[0].contour(*axes, value.reshape(shape), levels, colors=GREY, linewidths=0.8)
    panels[0].clabel(lines, fmt="%.0f")
    panels[0].plot(*best, "*", ms=14, color=ORANGE, label="best design")
    panels[0].set(xlabel="height", ylabel="cross-section", title="true mean + 2 sd of the cost")
    panels[0].legend(frameon=False, loc="upper right")
    for name, colour in zip(METHODS, (ORANGE, BLUE, GREEN, GREY), strict=True):
        quartiles = np.percentile([regret[name][n] for n in BUDGETS], [25, 50, 75], axis=1) * 100
        panels[1].plot(BUDGETS, quartiles[1], "o-", color=colour, label=name)
        panels[1].fill_between(BUDGETS, quartiles[0], quartiles[2], color=colour, alpha=0.12, lw=0)
    panels[1].set(xlabel="runs of the simulator", ylabel="cost above the best (%)", xscale="log")
    panels[1].set_xticks(BUDGETS, [str(n) for n in BUDGETS])
    panels[1].minorticks_off()
    panels[1].set_ylim(0, None)
    panels[1].legend(frameon=False)
    write_picture("truss", figure)
