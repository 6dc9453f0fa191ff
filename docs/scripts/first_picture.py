"""Draw docs/_static/first.png: the first example of README.md, data and fit."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from multiobs import MultiObservationRegressor, statistics
from multiobs._files import beside
from multiobs.baselines import TwoMomentRegressor

TARGET = Path(__file__).parents[1] / "_static" / "first.png"
BLUE, ORANGE = "#0072B2", "#D55E00"  # Okabe and Ito's colours, told apart by everybody

rng = np.random.default_rng(0)
x = rng.uniform(0, 1, 2000)
y = np.sin(4 * np.pi * x) + rng.normal(0, np.sqrt(0.5 + x))
model = MultiObservationRegressor("variance").fit(x[:, None], y)
low, high = model.predict_interval(np.linspace(0, 1, 201)[:, None], level=0.95).T
moments = TwoMomentRegressor(statistics.variance(), degree=1).fit(x[:, None], y)
grid = np.linspace(0, 1, 201)

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(x, y, ".", ms=3, alpha=0.4, color=BLUE, mew=0)
left.plot(grid, np.sin(4 * np.pi * grid), "--", color="0.3", lw=1.2, label="true mean")
left.set(xlabel="x", ylabel="y", title="2000 rows (x, y), one y at each x")
left.legend(frameon=False, loc="upper left")
right.plot(grid, 0.5 + grid, "--", color="0.3", lw=1.2, label="true variance, 0.5 + x")
right.plot(grid, model.predict(grid[:, None]), color=ORANGE, lw=2, label="fitted variance")
right.fill_between(grid, low, high, color=ORANGE, alpha=0.2, lw=0, label="95 % interval")
right.plot(
    grid, moments.predict(grid[:, None]), ":", color=BLUE, lw=2, label="lines through two moments"
)
right.set(xlabel="x", ylabel="Var(Y | x)", title="What the model regresses on", ylim=(0, 2))
right.legend(frameon=False, loc="lower right")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
with beside(TARGET) as temporary:
    fig.savefig(temporary, dpi=150)
print(TARGET.name)
