"""What the metasamples of a fit are like: how wide, how shared, how biased by drift."""

from dataclasses import dataclass
from typing import final

import numpy as np

from multiobs.fit import Problem
from multiobs.transport import fit_pilot
from multiobs.tuples import effective_count

LOOKED_AT = 20_000  # tuples that diameters and drift are read off


@final
@dataclass(frozen=True)
class MetasampleReport:
    """Numbers that say whether the metasamples can be trusted; ``print`` it.

    Attributes
    ----------
    metasamples, rows, unused_rows : int
        How many tuples, rows, and rows in no tuple.
    diameter_median, diameter_max : float
        Largest distance of two members, in standard deviations of x.
    label_use_mean, label_use_max : float
        How many tuples a label is in.
    drift : float
        Mean squared shift of the pilot's mean inside a tuple, in squared units of y.
    drift_share : float
        The drift relative to the mean squared difference of labels within tuples.
    effective_metasamples : float
        How many tuples without a common label would use the rows as evenly
        (:func:`multiobs.tuples.effective_count`); the same number as in ``summary()``.
    transported : bool
        Whether transport takes the drift out of the labels.
    """

    metasamples: int
    rows: int
    unused_rows: int
    diameter_median: float
    diameter_max: float
    label_use_mean: float
    label_use_max: float
    drift: float
    drift_share: float
    effective_metasamples: float
    transported: bool

    @property
    def too_wide(self) -> bool:
        """Whether a typical tuple spans a good part of the data: then the fit means little."""
        return not self.transported and self.diameter_median > 1.0 and self.drift_share > 0.2

    def __str__(self) -> str:
        removed = ", taken out by transport" if self.transported else ""
        wide = f"median {self.diameter_median:.3g}, max {self.diameter_max:.3g}"
        lines = [
            f"metasamples            {self.metasamples:.6g} of {self.rows} rows",
            f"rows in none           {self.unused_rows}",
            f"diameter               {wide} (standard deviations of x)",
            f"label use              mean {self.label_use_mean:.4g}, max {self.label_use_max:.4g}",
            f"drift inside a tuple   {self.drift:.3g} (y²), {self.drift_share:.1%}{removed}",
            f"effective metasamples  {self.effective_metasamples:.4g}",
        ]
        if self.too_wide:
            lines.append("The tuples are wide and the mean moves inside them: trust little.")
        return "\n".join(lines)


def metasample_report(problem: Problem, rng: np.random.Generator) -> MetasampleReport:
    """Describe the metasamples of a fit.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    rng : Generator
        Draws the tuples that are looked at.
    """
    tuples, X, residuals, m = problem.tuples, problem.place, problem.residuals, problem.tuples.arity
    part = tuples.sample(LOOKED_AT, rng)
    spread = X.std(axis=0)
    points = X / np.where(spread > 0, spread, 1.0)
    labels = residuals.labels[:, 0] if residuals.labels.ndim == 2 else residuals.labels
    if residuals.scale is not None:
        labels = labels * residuals.scale.predict(problem.X)
    if residuals.pilot is None:
        level = fit_pilot(problem.X, labels, None).at_rows
    else:
        level = residuals.pilot.at_rows
        labels = labels + level
    shape = part.count()
    wide, shift, difference = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for a in range(m):
        for b in range(a):
            one, two = part.members[:, a], part.members[:, b]
            gap = points[one] - points[two]
            wide = np.maximum(wide, np.sqrt(np.einsum("td,td->t", gap, gap)))
            shift += (level[one] - level[two]) ** 2
            difference += (labels[one] - labels[two]) ** 2
    pairs = max(m * (m - 1) // 2, 1)
    unit = problem.units.scale**2  # back from working units
    drift = float(shift.mean() / pairs) if shape else 0.0
    squared = float(difference.mean() / pairs) if shape else 0.0
    use = tuples.membership_counts()
    return MetasampleReport(
        metasamples=tuples.count(),
        rows=tuples.n_rows,
        unused_rows=int(np.sum(use == 0)),
        diameter_median=float(np.median(wide)) if wide.size else 0.0,
        diameter_max=float(wide.max(initial=0.0)),
        label_use_mean=float(use.mean()),
        label_use_max=float(use.max(initial=0.0)),
        drift=drift * unit,
        drift_share=drift / squared if squared > 0 else 0.0,
        effective_metasamples=effective_count(tuples),
        transported=residuals.pilot is not None,
    )
