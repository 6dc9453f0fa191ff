"""
Which rows go together: the samplers
====================================

The paper's algorithms and ours on the same forty rows; a line joins two rows of a metasample.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import metasamples, samplers

BLUE, ORANGE = "#0072B2", "#D55E00"
rng = np.random.default_rng(1)
x = np.sort(rng.uniform(0, 1, 40))
y = np.sin(6 * x) + 0.5 * rng.normal(size=40)
shown = [samplers.Improved(), samplers.SlidingWindow(), samplers.Disjoint()]
shown += [samplers.Adjacent(3), samplers.Nearby(0.04), samplers.Nearest(3)]
fig, axes = plt.subplots(2, 3, figsize=(10, 5.4), sharex=True, sharey=True, layout="constrained")
for ax, sampler in zip(axes.flat, shown, strict=True):
    found = metasamples(x[:, None], y, statistic="variance", sampler=sampler, random_state=0)
    for pair in found.members:
        ax.plot(x[pair], y[pair], color=ORANGE, lw=0.8, alpha=0.7)
    ax.plot(x, y, "o", ms=4, color=BLUE)
    ax.set_title(f"{type(sampler).__name__}: {len(found.members)} pairs", fontsize=10)
plt.show()
