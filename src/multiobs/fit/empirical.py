"""The empirical risk of anybody's tuples, features and labels."""

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.fit.risk import MomentRisk, TupleRisk, risk_of_loss, some_rows
from multiobs.statistics import Statistic
from multiobs.statistics.losses import Loss
from multiobs.sums import doors
from multiobs.sums.contraction import LIMIT, Affine, Features
from multiobs.tuples import TupleSet


@_check.arithmetic("Z, y and weight")
def empirical_risk(
    statistic: Statistic | Loss,
    tuples: TupleSet,
    Z: Features | Affine,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    reference: FloatArray | None = None,
    limit: int = LIMIT,
) -> MomentRisk | TupleRisk:
    r"""Summed loss over the tuples as a function of linear coefficients, r = w·z~.

    Parameters
    ----------
    statistic : Statistic or Loss
        What is estimated, or the loss itself.
    tuples : TupleSet
        Which rows go together.
    Z : ndarray (n, p) or Lifted
        Features of the rows, or how to make them from the representative's x.
    y : ndarray (n,) or (n, s)
        Labels.
    weight : ndarray (n,), optional
        Weights of the rows, multiplied within a tuple.
    reference : ndarray (p,), optional
        Coefficients of the reference level of a root-type loss; see :func:`reference_level`.
    limit : int
        The most tuples that are enumerated.

    Returns
    -------
    Risk
        A MomentRisk for polynomial losses, a TupleRisk otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs.statistics import variance
    >>> from multiobs.tuples import Tuples
    >>> pair = Tuples(np.array([[0, 1]]), rows=2)
    >>> risk = empirical_risk(variance(), pair, np.ones((2, 1)), np.array([1.0, 3.0]))
    >>> float(risk.value(np.array([2.0])) - risk.value(np.array([0.0])))  # least at (3 - 1)^2 / 2
    -4.0
    """
    limit = _check.integer("limit", limit, low=0)
    loss, n_columns = doors.read_loss(statistic, tuples)
    Z, y, weight = doors.read_rows(tuples, Z, y, weight, n_columns)
    if reference is not None:
        reference = doors.read_coefficients("reference", reference, some_rows(Z).shape[1])
    return risk_of_loss(loss, tuples, Z, y, weight=weight, reference=reference, limit=limit)
