"""
MINVAR, and windows wider than the paper could afford
=====================================================

MINVAR of order k is the expected least of k + 1 draws: a risk measure of returns that looks at the
bad outcomes. Its loss takes k + 1 observations, so ε-Nearby has about (n ε)^(k+1) metasamples. The
paper writes that wider windows were better for it but "very computationally expensive". Here the
sums over all tuples are exact and no tuple is listed.
"""

# %%
# The law of the paper's fourth panel
# -----------------------------------
# Y is exponential with mean 5 (x + 2), so that its MINVAR of order 4 is the line x + 2.

import time

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor, samplers, statistics

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
minvar = statistics.minvar(4)
n = 1000
paper = 1 / (2 * np.sqrt(n))


def sample(rng):
    x = rng.uniform(0, 1, n)
    return x[:, None], rng.exponential(5 * (x + 2))


def squared_error(model):
    """Mean over x in (0, 1) of the squared error of a fitted line: it has a closed form."""
    at_0, at_1 = model.predict([[0.0], [1.0]]) - np.array([2.0, 3.0])
    return (at_0**2 + at_0 * at_1 + at_1**2) / 3


# %%
# Wider windows
# -------------

widths = [1, 2, 4, 8, 16]
errors = {width: [] for width in widths}
adjacent = []
tuples = {}
start = time.perf_counter()
for trial in range(200):
    X, y = sample(np.random.default_rng(trial))
    fit = MultiObservationRegressor(minvar, "sliding", transport=None).fit(X, y)
    adjacent.append(squared_error(fit))
    for width in widths:
        sampler = samplers.Nearby(width * paper)
        fit = MultiObservationRegressor(minvar, sampler, transport=None).fit(X, y)
        errors[width].append(squared_error(fit))
        tuples[width] = fit.n_metasamples_
seconds = time.perf_counter() - start
for width in widths:
    print(f"{width:2d} × paper's ε: {tuples[width]:16,d} tuples, {np.median(errors[width]):.4f}")
print(f"sliding window: median squared error {np.median(adjacent):.4f}")

# %%
# All of these fits together took this long:

print(f"{seconds:.1f} s for {200 * (len(widths) + 1)} fits")

# %%

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
low, middle, high = np.percentile([errors[width] for width in widths], [25, 50, 75], axis=1)
ax.fill_between(widths, low, high, color=ORANGE, alpha=0.2, lw=0, label="quartiles over 200 trials")
ax.plot(widths, middle, "o-", color=ORANGE, lw=2, label="ε-Nearby, all 5-tuples, median")
ax.axhline(np.median(adjacent), color=BLUE, ls="--", lw=1.5, label="sliding window, median")
ax.set(
    xscale="log",
    xlabel="window width, in multiples of the paper's ε",
    ylabel="mean squared error of the line",
    ylim=(0, 0.1),
)
ax.set_xticks(widths, [str(width) for width in widths])
ax.minorticks_off()
ax.legend(frameon=False, loc="upper right")
