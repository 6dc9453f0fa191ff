"""Why a score is what it is: miscalibration, discrimination, uncertainty."""

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from multiobs import _check, statistics
from multiobs.samplers import Sampler
from multiobs.scoring._calibration import recalibrate
from multiobs.scoring._heldout import held_out
from multiobs.scoring._losses import LossName, fixed_loss
from multiobs.scoring._moved import Moved
from multiobs.statistics import Statistic


@final
@dataclass(frozen=True)
class Decomposition:
    """Score = miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    score : float
        Mean loss of the forecast.
    miscalibration : float
        What recalibrating the forecast would gain; 0 is calibrated.
    discrimination : float
        What the recalibrated forecast gains on the best constant; larger is better.
    uncertainty : float
        Mean loss of the best constant: a property of the data.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(1000, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> parts = decompose("variance", x, y, np.full(1000, 9.0))
    >>> parts.miscalibration > parts.discrimination  # far too high, and the same everywhere
    True
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    def __str__(self) -> str:
        return (
            f"score {self.score:.4g} = miscalibration {self.miscalibration:.4g} "
            f"- discrimination {self.discrimination:.4g} + uncertainty {self.uncertainty:.4g}"
        )


@_check.arithmetic("X, y and predictions")
def decompose(
    statistic: str | Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    prediction: npt.ArrayLike,
    sampler: str | Sampler = "adjacent",
    *,
    loss: LossName = "default",
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    transport: Moved = "auto",
) -> Decomposition:
    r"""Decompose the score of a forecast on held-out rows.

    With :math:`\hat r` the isotonic regression of :math:`\psi` on the forecast and :math:`\bar r`
    the best constant: miscalibration :math:`S(r) - S(\hat r)`, discrimination
    :math:`S(\bar r) - S(\hat r)`, uncertainty :math:`S(\bar r)` (Dimitriadis, Gneiting and Jordan
    2021). All three are nonnegative, whatever the consistent loss.

    Parameters
    ----------
    statistic : str or Statistic
        Of mean or ratio type. Others have no isotonic recalibration here; test them with
        :func:`calibration_test` and look at :func:`reliability_curve`.
    X, y, prediction, sampler, loss, sample_weight, groups, transport
        As in :func:`score`.

    Notes
    -----
    The recalibration is fitted to the metasamples it is judged on, so miscalibration and
    discrimination are both a little too large, by the same amount.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=4000)
    >>> y = rng.normal(scale=1 + x)
    >>> good = decompose("variance", x, y, (1 + x) ** 2)
    >>> high = decompose("variance", x, y, 1.5 * (1 + x) ** 2)
    >>> high.miscalibration > good.miscalibration
    True
    >>> abs(high.discrimination - good.discrimination) < 1e-9
    True
    """
    chosen = statistics.resolve(statistic)
    held = held_out(chosen, X, y, sampler, sample_weight, groups, transport=transport)
    fixed = fixed_loss(chosen, held, loss)
    r = held.at(prediction)
    better = recalibrate(chosen, held, r)
    if not np.all(better > fixed.statistic.loss.domain[0]):
        raise ValueError(
            f"a {loss} decomposition needs a positive recalibrated forecast, "
            f"got {float(better.min()):g}: the lowest forecasts met only zeros"
        )
    own, recalibrated = fixed.mean(r), fixed.mean(better)
    flat = fixed.mean(np.full(r.size, fixed.best_constant()))
    size = max(abs(own), abs(flat))
    return Decomposition(
        own, _difference(own, recalibrated, size), _difference(flat, recalibrated, size), flat
    )


def _difference(a: float, b: float, size: float) -> float:
    """Return a - b, zero where they differ by rounding only."""
    return 0.0 if abs(a - b) <= 1e-13 * size else a - b
