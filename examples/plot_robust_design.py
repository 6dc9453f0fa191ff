"""
A robust design from an upper confidence bound
==============================================

A simulation with a random part is run once at each of many designs x, and the design with the least
*mean plus two standard deviations* is wanted. Instead of repeating the simulation at each design to
estimate that bound, and then fitting a surrogate to the estimates, the surrogate is fitted to the
bound directly and minimised. Section 1 of the paper names this use.
"""

# %%
# The simulation
# --------------
# The mean cost is least at x = 0.75, in a place where small defects matter a lot. A little more
# cost on average, at x = 0.3, buys much less scatter.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import SplineTransformer

from multiobs import MultiObservationRegressor, statistics

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
LAM = 2.0


def mean(x):
    return 10 - 2.0 * np.exp(-(((x - 0.3) / 0.15) ** 2)) - 2.6 * np.exp(-(((x - 0.75) / 0.12) ** 2))


def deviation(x):
    return 0.5 + 1.2 * np.exp(-(((x - 0.75) / 0.15) ** 2))


rng = np.random.default_rng(3)
x = rng.uniform(0, 1, 3000)
cost = rng.gamma((mean(x) / deviation(x)) ** 2, deviation(x) ** 2 / mean(x))

# %%
# The surrogate
# -------------
# One run of the simulation per design. The quartic loss of the upper confidence bound follows a
# reference level, so nothing has to be assumed about the sign or the size of the cost.

curve = SplineTransformer(n_knots=12, degree=3)
surrogate = MultiObservationRegressor(statistics.ucb(LAM), features=curve).fit(x[:, None], cost)
average = MultiObservationRegressor("mean", features=curve).fit(x[:, None], cost)

grid = np.linspace(0.01, 0.99, 981)
bound = surrogate.predict(grid[:, None])
robust = grid[np.argmin(bound)]
greedy = grid[np.argmin(average.predict(grid[:, None]))]
for name, design in (("least mean", greedy), ("least bound", robust)):
    true = mean(design) + LAM * deviation(design)
    print(f"{name:12s} x = {design:.2f}: true mean {mean(design):.2f}, true bound {true:.2f}")

# %%
# The design with the least mean is in the risky place; the surrogate of the bound avoids it.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, cost, ".", ms=3, mew=0, alpha=0.3, color=BLUE, label="one run per design")
ax.plot(grid, mean(grid) + LAM * deviation(grid), "--", lw=1.2, color="0.3", label="true bound")
ax.plot(grid, bound, lw=2, color=ORANGE, label="fitted bound, mean + 2 sd")
ax.axvline(robust, color=ORANGE, lw=1, ls=":")
ax.axvline(greedy, color=GREEN, lw=1, ls=":")
ax.annotate(
    "least bound", (robust, ax.get_ylim()[0]), (4, 6), textcoords="offset points", color=ORANGE
)
ax.annotate(
    "least mean", (greedy, ax.get_ylim()[0]), (4, 6), textcoords="offset points", color=GREEN
)
ax.set(xlabel="design x", ylabel="cost")
ax.legend(frameon=False, loc="upper left")
