"""Murphy diagrams: one forecast against another under every consistent loss at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from multiobs import _check, statistics
from multiobs._types import FloatArray
from multiobs.samplers import Sampler
from multiobs.scoring._compare import named_forecasts
from multiobs.scoring._errors import standard_error
from multiobs.scoring._heldout import held_out
from multiobs.scoring._moved import Moved
from multiobs.statistics import Statistic

MOST = 1_000_000  # thresholds of a curve


@final
@dataclass(frozen=True)
class Murphy:
    """Mean elementary scores of forecasts.

    Attributes
    ----------
    theta : ndarray (g,)
        Thresholds, in the unit of the statistic.
    names : tuple of str
        The forecasts.
    scores : ndarray (k, g)
        Mean elementary score of each forecast at each threshold.
    difference, difference_se : ndarray (g,) or None
        First forecast less second and its standard error, when there are two.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(1000, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> both = {"truth": (1 + x[:, 0]) ** 2, "one": np.ones(1000)}
    >>> murphy_curve("variance", x, y, both, theta=5).scores.shape
    (2, 5)
    """

    statistic: Statistic
    theta: FloatArray
    names: tuple[str, ...]
    scores: FloatArray
    difference: FloatArray | None
    difference_se: FloatArray | None


@_check.arithmetic("X, y and predictions")
def murphy_curve(
    statistic: str | Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    predictions: Mapping[str, npt.ArrayLike],
    sampler: str | Sampler = "adjacent",
    *,
    theta: npt.ArrayLike | int = 101,
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    transport: Moved = "auto",
) -> Murphy:
    r"""Mean elementary scores of forecasts of a mean- or ratio-type statistic.

    Every consistent loss is a mixture over :math:`\theta` of

    .. math:: S_\theta(r, y) = \max(V(\theta, y), 0) - 1\{r > \theta\}\,V(\theta, y),

    with V the identification function; for a mean, :math:`|\psi - \theta|` when :math:`\theta` lies
    between r and :math:`\psi` and 0 otherwise (Ehm, Gneiting, Jordan and Krüger 2016). A forecast
    that is below another at every threshold is better under every consistent loss.

    Parameters
    ----------
    statistic, X, y, sampler, sample_weight, groups, transport
        As in :func:`score`.
    predictions : mapping of str to array-like (n,) or float
        Forecasts by name.
    theta : int or array-like (g,)
        Thresholds, or how many of them to spread over the range of the forecasts.

    Examples
    --------
    >>> x = np.arange(4.0)
    >>> curve = murphy_curve("variance", x, [0.0, 1.0, 0.0, 1.0], {"high": 2.0}, theta=[0.0, 1.0])
    >>> curve.scores.tolist()
    [[0.0, 0.5]]
    """
    chosen = statistics.resolve(statistic)
    if chosen.psi is None:
        raise ValueError(
            f"a Murphy curve needs a mean- or ratio-type statistic, got {chosen!r}: other "
            "identification functions change sign more than once"
        )
    named_forecasts("predictions", predictions)
    held = held_out(chosen, X, y, sampler, sample_weight, groups, transport=transport)
    forecasts = {
        name: held.at(values, f"prediction {name!r}") for name, values in predictions.items()
    }
    if isinstance(theta, int | np.integer):
        count = _check.integer("theta", theta, low=2)
        if count > MOST:
            raise ValueError(f"theta must be at most {MOST} thresholds, got {count}")
        low = min(float(r.min()) for r in forecasts.values())
        high = max(float(r.max()) for r in forecasts.values())
        margin = 0.1 * ((high - low) or abs(high) or 1.0)
        grid = np.linspace(low - margin, high + margin, count)
        grid = grid[(grid >= chosen.domain[0]) & (grid <= chosen.domain[1])]
    else:
        grid = np.atleast_1d(_check.finite("theta", theta))
        if grid.ndim != 1 or grid.size == 0:
            raise ValueError(f"theta must be a number of thresholds or some, got {np.shape(theta)}")
    psi = chosen.psi(held.Y)
    chi = np.ones_like(psi) if chosen.chi is None else chosen.chi(held.Y)
    scores = np.empty((len(forecasts), grid.size))
    pair = len(forecasts) == 2
    difference, se = np.empty(grid.size), np.empty(grid.size)
    for g, level in enumerate(grid):
        V = psi - chi * level
        each = [np.maximum(V, 0.0) - np.where(r > level, V, 0.0) for r in forecasts.values()]
        scores[:, g] = [held.mean(values) for values in each]
        if pair:
            difference[g] = scores[0, g] - scores[1, g]
            gap = each[0] - each[1]
            se[g] = standard_error(held, gap) if np.any(gap) else 0.0
    return Murphy(
        chosen, grid, tuple(forecasts), scores, difference if pair else None, se if pair else None
    )
