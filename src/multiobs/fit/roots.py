r"""A root-type statistic by Newton steps on its identification function, for any class.

The quartic risk of a root-type loss has a spurious minimum at the lower root.  Newton steps
:math:`r \leftarrow r - V(r)/V'(r)` started above the vertex of the quadratic stay above it, and
each is an ordinary regression of the pseudo-observations.
"""

from collections.abc import Callable

import numpy as np

from multiobs._types import FloatArray
from multiobs.sums import Pooled
from multiobs.transport import LocationScale, SplinePilot, one_thread

ROUNDS = 6  # of reweighting
NEAR = 2  # steps from a fit to nearly the same observations
SETTLED = 1e-6  # of the distance between vertex and root: no more steps are taken


def newton_root(
    pooled: Pooled,
    way_back: LocationScale,
    refit: Callable[[FloatArray, FloatArray], FloatArray],
    rounds: int = ROUNDS,
    start: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, float]:
    """Step to the upper root of the pooled quadratic a r² + b r + d within a class.

    Parameters
    ----------
    pooled : Pooled
        Means of d, b and a over each anchor's tuples.
    way_back : LocationScale
        From the statistic of residuals to that of the labels, at the pooled positions.
    refit : callable
        Fits the class to targets (g,) with weights (g,) and returns its values (g,) there.
    rounds : int
        The most steps.
    start : ndarray (g,), optional
        Where to begin, as the statistic of residuals.

    Returns
    -------
    tuple
        The root (g,) and the vertex (g,), for residuals, and how far the last step moved,
        relative to their distance.
    """
    d, b, a = pooled.values.T
    weight = pooled.weight / pooled.weight.mean()
    curvature = float(np.average(a, weights=weight))
    # The vertex between the roots is the local mean; smoothed, so that no window's noise enters.
    with one_thread():
        vertex = SplinePilot().fit(pooled.x, -b / (2 * curvature), weight).predict(pooled.x)
    inside = curvature * vertex**2 - d  # E[a r² + b r + d] = a (r - vertex)² - inside
    gap = float(np.sqrt(max(np.average(inside, weights=weight) / curvature, 0.0))) or 1.0
    r, moved = vertex + gap if start is None else start, np.inf
    for _ in range(rounds):
        at = np.maximum(r, vertex + 0.2 * gap)  # never near the vertex, nor at the other root
        target = at - (a * at**2 + b * at + d) / (2 * curvature * (at - vertex))
        found = way_back.inward(refit(way_back.outward(target), weight))
        moved = float(np.max(np.abs(found - r))) / gap
        r = found
        if moved < SETTLED:
            break
    return r, vertex, moved
