"""What may be summed: tuples, features, labels and weights that belong together."""

from typing import Any

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray
from multiobs.statistics import Statistic
from multiobs.statistics.losses import Loss, refuse_no_loss
from multiobs.sums.features import Affine, Features, Lifted
from multiobs.tuples import TupleSet


def refuse_no_tuples(tuples: Any) -> None:
    """Refuse what is no set of tuples."""
    if not isinstance(tuples, TupleSet):
        raise TypeError(
            f"tuples must be what a sampler builds (a TupleSet), got {_check.shown(tuples)}"
        )


def read_loss(statistic: Any, tuples: TupleSet) -> tuple[Loss, int]:
    """Loss of what is estimated from tuples of as many observations, and its columns of y."""
    refuse_no_tuples(tuples)
    loss = statistic.loss if isinstance(statistic, Statistic) else statistic
    refuse_no_loss("statistic", loss)
    if loss.arity != tuples.arity:
        raise ValueError(
            f"statistic must take the {tuples.arity} observations of a tuple, got {loss.arity}"
        )
    if isinstance(statistic, Statistic):
        return loss, statistic.n_columns
    return loss, max((kernel.n_columns for _, kernel in loss.sums), default=1)


def read_coefficients(name: str, given: Any, count: int) -> FloatArray:
    """One finite coefficient for each feature, (p,)."""
    found = _check.finite(name, given)
    if found.shape != (count,):
        raise ValueError(f"{name} must be {count} coefficients, got shape {found.shape}")
    return found


def read_rows(
    tuples: TupleSet, Z: Any, y: Any, weight: Any, columns: int
) -> tuple[Features | Affine, FloatArray, FloatArray | None]:
    """Features, labels and weights of the rows as finite floats, one for each row.

    Parameters
    ----------
    tuples : TupleSet
        Says how many rows there are.
    Z : ndarray (n, p), Lifted or Affine
        Features.
    y : array-like (n,) or (n, s)
        Labels.
    weight : array-like (n,) or None
        Weights.
    columns : int
        The number s of columns of y.
    """
    n = tuples.n_rows
    if not isinstance(Z, Lifted | Affine):
        Z = _check.finite("Z", Z)
        if Z.ndim != 2 or Z.shape[0] != n:
            raise ValueError(f"Z must have shape (n, p) with n = {n} rows, got {Z.shape}")
    labels = _check.finite("y", y)
    shapes = ((n,), (n, 1)) if columns == 1 else ((n, columns),)
    if labels.shape not in shapes:
        raise ValueError(f"y must have shape {shapes[0]}, got {labels.shape}")
    if columns == 1:
        labels = labels.reshape(-1)
    if weight is not None:
        weight = _check.finite("weight", weight)
        if weight.shape != (n,) or np.any(weight < 0):
            raise ValueError(
                f"weight must be {n} nonnegative numbers, one for each row, got "
                f"{_check.shown(weight.tolist())}"
            )
    return Z, labels, weight
