"""How exact a sum in floats can be: the forward error bound N u Σ|a| of N products a.

Kernels are symmetric polynomials, summed by products of power sums of the labels; the products,
their number and their sizes are those of the package, so that what it loses beyond the rounding of
its own terms is a mismatch.  A fitted line solves normal equations G w = b of such sums: with
:math:`\\bar G` and :math:`\\bar b` the sums of absolute values, its value at z moves by at most
:math:`N u\\, |z' G^{-1}| (\\bar G |w| + \\bar b)` (Higham, 7.2).
"""

from fractions import Fraction
from math import perm
from typing import Any

import numpy as np

from multiobs.statistics.distinct import distinct_sum

UNIT = 2.0**-53


def of_kernel(kernel: Any, Y: np.ndarray, spread: np.ndarray | None = None) -> float:
    """Rounding of a kernel at the labels (m, s) of a tuple, measured from their middle one.

    The products of a polynomial, each rounded as often as it has factors; the labels of a
    combination of order statistics; none for any other kernel, which has no terms.  Running sums
    measure labels from a level of all rows: they are at most as far away as these are spread (s,).
    """
    if kernel is None:
        return 0.0
    polynomial, m = kernel.polynomial, Y.shape[0]
    far = np.abs(Y - np.sort(Y, axis=0)[m // 2]) if spread is None else np.tile(spread, (m, 1))
    if polynomial is None:
        ranked = kernel.ranked
        if ranked is None:
            return 0.0
        order = np.argsort(Y[:, 0])
        away = (far if ranked.shift_invariant else np.abs(Y))[order, 0]
        return float(m * UNIT * np.abs(ranked.coefs) @ away)
    away = far if polynomial.shift_invariant else np.abs(Y)
    total, count = 0.0, 0
    for term, coefficient in polynomial.terms.items():
        for factor, blocks in distinct_sum(tuple((1, e) for e in term)):
            sums = [np.prod(away ** np.array(e), axis=1).sum() for _, e in blocks]
            total += abs(coefficient / perm(m, len(term)) * factor) * float(np.prod(sums))
            count += 1
    return (count + m * polynomial.n_columns) * UNIT * total


def of_units(statistic: Any, y: np.ndarray) -> float:
    """Rounding of a value that was brought to working units of the labels and back.

    Four roundings: less the centre of the labels, divided by their spread, and back again.
    """
    parts = (statistic.psi.polynomial, statistic.psi.ranked)
    moves = any(each is not None and not each.shift_invariant for each in parts)
    reach = np.abs(y).max() if moves else np.ptp(y, axis=0).max()
    return float(4 * UNIT * reach ** (statistic.scale or 0))


def of_line(terms: list[Any], X: list[list[Fraction]], line: np.ndarray) -> np.ndarray:
    """Rounding of the fitted values at the rows, from terms with positions about their mean."""
    z = np.array([[float(v) for v in t.z] for t in terms])
    weight = np.array([float(t.weight) for t in terms])
    psi, chi = (np.array([float(t.values[i]) for t in terms]) for i in range(2))
    lost = [np.array([t.rounding[i] for t in terms]) for i in range(2)]
    middle = [sum(column) / len(X) for column in zip(*X, strict=True)]
    at = np.array([[1.0, *(float(a - b) for a, b in zip(x, middle, strict=True))] for x in X])
    inverse = np.linalg.inv((z * (weight * chi)[:, None]).T @ z)
    w = np.linalg.lstsq(at, line, rcond=None)[0]
    N = len(terms) + z.shape[1] ** 2 + 4  # summed tuples, the solution, products of the weights
    sizes = [N * UNIT * np.abs(v) + each for v, each in zip((psi, chi), lost, strict=True)]
    b = (weight * sizes[0]) @ np.abs(z)
    G = (np.abs(z) * (weight * sizes[1])[:, None]).T @ np.abs(z)
    return np.asarray(np.abs(at @ inverse) @ (G @ np.abs(w) + b))
