"""
Buying labels: which rows to measure
====================================

Unlabelled x are free, labels are not. A plan picks pairs of near rows *before* any label is known.
"""

# %%

import matplotlib.pyplot as plt
import numpy as np

from multiobs import planning

BLUE, ORANGE = "#0072B2", "#D55E00"
rng = np.random.default_rng(0)
pool = rng.beta(2, 4, 20_000)  # 20,000 candidates
plan = planning.LabelPlan.from_pool(pool, "variance", budget=600, rng=rng)
rows = plan.ask(600)
plan.record(rows, np.sin(12 * pool[rows]) + rng.normal(size=600) * np.sqrt(0.5 + pool[rows]))
model = plan.fit()
print(plan)
print(f"variance at 0.2: {model.predict([[0.2]])[0]:.2f} (true 0.70)")

# %%

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
bins = np.linspace(0, 1, 40)
ax.hist(pool, bins, density=True, color=BLUE, alpha=0.35, label="pool")
ax.hist(pool[rows], bins, density=True, histtype="step", lw=2, color=ORANGE, label="labelled")
ax.set(xlabel="x", ylabel="density")
ax.legend(frameon=False)
plt.show()
