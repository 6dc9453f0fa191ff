"""Wald tests of linear hypotheses about the coefficients."""

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import stats

from multiobs._types import FloatArray


@final
@dataclass(frozen=True)
class TestResult:
    """A test of a linear hypothesis; ``print`` it.

    Attributes
    ----------
    hypothesis : str
        What is tested.
    statistic : float
        F, the mean squared t of the hypotheses.
    df_num, df_denom : float
        Degrees of freedom.
    p_value : float
        Probability of an F as large under the hypothesis.
    """

    __test__ = False  # pytest: not a test case

    hypothesis: str
    statistic: float
    df_num: int
    df_denom: float
    p_value: float

    def __str__(self) -> str:
        return (
            f"{self.hypothesis}: F({self.df_num}, {self.df_denom:.1f}) = {self.statistic:.3f}, "
            f"p = {self.p_value:.4g}"
        )


def wald(
    estimate: FloatArray, cov: FloatArray, R: FloatArray, q: FloatArray, df: float, what: str
) -> TestResult:
    r"""Test R b = q by :math:`F = (Rb - q)' (R C R')^{-1} (Rb - q) / h`, h hypotheses.

    Parameters
    ----------
    estimate, cov : ndarray (p,), (p, p)
        Coefficients b and their covariance C.
    R, q : ndarray (h, p), (h,)
        The hypothesis.
    df : float
        Degrees of freedom of C.
    what : str
        The hypothesis in words.

    Examples
    --------
    >>> wald(np.array([2.0]), np.eye(1), np.eye(1), np.zeros(1), np.inf, "b = 0").statistic
    4.0
    """
    gap = R @ estimate - q
    spread = R @ cov @ R.T
    size = np.sqrt(np.maximum(np.diag(spread), 1e-300))
    inner = spread / np.outer(size, size)
    rank = int(np.linalg.matrix_rank(inner, tol=1e-10, hermitian=True))
    rank = max(rank, 1)
    scaled = gap / size
    found = float(scaled @ np.linalg.pinv(inner, rcond=1e-10, hermitian=True) @ scaled) / rank
    # Hotelling's correction: with several hypotheses C has fewer degrees of freedom to give
    left = max(df - rank + 1.0, 1.0)
    value = found * left / max(df, 1.0) if np.isfinite(df) else found
    return TestResult(what, value, rank, left, float(stats.f.sf(value, rank, left)))


def varying_directions(Z: FloatArray) -> FloatArray:
    """Combinations (h, p) of coefficients that are zero exactly when Z w is constant over rows."""
    centred = Z - Z.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    keep = sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)
    return np.asarray(directions[keep])
