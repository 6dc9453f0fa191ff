"""Sums of scores where tuples are those of leaves, and rows come in any order."""

import numpy as np

from multiobs._types import FloatArray
from multiobs.fit import LinearFit
from multiobs.inference.gradient import inflation
from multiobs.inference.meat_of_rows import row_sums, touched
from multiobs.inference.parts import Leverages, Sums, cubes
from multiobs.inference.sandwich import gradient_of
from multiobs.tuples import Tuples


def scores_of_rows(
    g: FloatArray, rows: FloatArray, times: FloatArray, known: Leverages,
    inverse: FloatArray | None = None,
) -> Sums:  # fmt: skip
    """Sums of some rows' scores where all the tuples of a row are known at once.

    Parameters
    ----------
    g, rows : ndarray (n, p)
        Summed scores of the tuples that contain each row, and its features.
    times : ndarray (n,)
        Weight of these tuples.
    known : Leverages
        Of all rows.
    inverse : ndarray (p, p), optional
        Of the variance of all scores: only each row's share in it is summed.
    """
    p = g.shape[1]
    g = g * inflation(touched(times, known.arity, known.shared) * known.of(rows))
    if inverse is not None:
        q = np.einsum("ia,ia->i", g @ inverse, g)
        return {"share": float(q.sum()), "share squares": float(q @ q)}
    found: Sums = {"V": g.T @ g, "naive": np.zeros((p, p)), "units": float(g.shape[0])}
    found["third"] = float(known.arity <= 2)
    if known.arity <= 2:
        cube = cubes(g, g, g)
        found |= {"bend": cube, "centre": cube}
    return found


def row_scores(fit: LinearFit) -> FloatArray:
    """Summed scores (n, p) of the tuples that contain each row of the problem."""
    gradient = gradient_of(fit)
    return row_sums(gradient, np.zeros(gradient.tuples.n_rows), narrow=False)


def drawn_scores(fit: LinearFit, drawn: Tuples, times: FloatArray, known: Leverages) -> Sums:
    """Sums over drawn tuples of leaves: what rows count more than once.

    Parameters
    ----------
    fit : LinearFit
        The coefficients, with the problem of the drawn tuples' rows.
    drawn : Tuples
        The tuples.
    times : ndarray (n,)
        Weight of all tuples of these rows.
    known : Leverages
        Of all rows.
    """
    gradient = gradient_of(fit)
    m, s = drawn.arity, gradient.scores(drawn)
    naive = s.T @ s
    factor = inflation(touched(times, m, known.shared) * known.of(gradient.rows))
    s = s * factor[drawn.members].mean(axis=1)
    found: Sums = {
        "drawn": float(drawn.count()), "drawn naive": naive, "correction": (m - 1) * (s.T @ s)
    }  # fmt: skip
    return found | ({"drawn cubes": cubes(s, s, s)} if m == 2 else {})
