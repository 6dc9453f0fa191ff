"""Tests of linear hypotheses about the coefficients: their result, and Wald's."""

from dataclasses import dataclass, field
from typing import final

import numpy as np
from scipy import special

from multiobs._types import FloatArray
from multiobs.inference.deciding import RowInfluence


@final
@dataclass(frozen=True)
class TestResult:
    """A test of a linear hypothesis; ``print`` it.

    Attributes
    ----------
    hypothesis : str
        What is tested: the null hypothesis, not a finding.
    statistic : float
        F: the squared t of one hypothesis, or the score statistic divided by their number.
    df_num, df_denom : float
        Degrees of freedom; infinite where the reference is chi-squared.
    p_value : float
        Probability of an F as large under the hypothesis.
    few_rows : RowInfluence or None
        Rows that decide the test, where they are too few to be told from chance.
    name : str
        What a chi-squared test is called.

    Examples
    --------
    >>> print(TestResult("b = 0", 4.0, 1, 20.0, 0.0593))
    H0: b = 0. F(1, 20.0) = 4.000, p = 0.0593
    >>> print(TestResult("b = 0", 2.0, 3, np.inf, 0.1116))
    H0: b = 0. Score test: chi2(3) = 6.000, p = 0.1116
    """

    __test__ = False  # pytest: not a test case

    hypothesis: str
    statistic: float
    df_num: int
    df_denom: float
    p_value: float
    few_rows: RowInfluence | None = field(default=None, repr=False, compare=False)
    name: str = field(default="Score test", repr=False, compare=False)

    def __str__(self) -> str:
        value, found = self.statistic, f"F({self.df_num}, {self.df_denom:.1f})"
        if not np.isfinite(self.df_denom):
            value, found = value * self.df_num, f"{self.name}: chi2({self.df_num})"
        found += f" = {value:.3f}" if value < 1e6 else f" = {value:.4g}"
        return f"H0: {self.hypothesis}. {found}, p = {self.p_value:.4g}"


def wald(
    estimate: FloatArray, cov: FloatArray, R: FloatArray, q: FloatArray, df: float, what: str
) -> TestResult:
    r"""Test R b = q by :math:`F = (Rb - q)' (R C R')^{-1} (Rb - q) / h`: for one, its squared t.

    Parameters
    ----------
    estimate, cov : ndarray (p,), (p, p)
        Coefficients b and their covariance C.
    R, q : ndarray (h, p), (h,)
        The hypotheses.
    df : float
        Degrees of freedom of C.
    what : str
        The hypothesis in words.

    Examples
    --------
    >>> wald(np.array([2.0]), np.eye(1), np.eye(1), np.zeros(1), 10.0, "b = 0").statistic
    4.0
    """
    gap, spread = R @ estimate - q, R @ cov @ R.T
    size = np.sqrt(np.maximum(np.diag(spread), 1e-300))
    inner, scaled = spread / np.outer(size, size), gap / size
    rank = max(int(np.linalg.matrix_rank(inner, tol=1e-10, hermitian=True)), 1)
    inverse = np.linalg.pinv(inner, rcond=1e-10, hermitian=True)
    value = float(scaled @ inverse @ scaled) / rank
    return TestResult(what, value, rank, df, _chance(value, rank, df), name="Wald test")


def hotelling(value: float, h: int, df: float, what: str) -> TestResult:
    r"""Refer a quadratic form to Hotelling's :math:`T^2`: its V is known with so many df.

    Parameters
    ----------
    value : float
        The form :math:`U' V^{-1} U`.
    h : int
        Its rank.
    df : float
        Degrees of freedom of V; with fewer than h there is no test.
    what : str
        The hypotheses in words.

    Examples
    --------
    >>> print(hotelling(12.0, 3, 22.0, "b = 0"))
    H0: b = 0. F(3, 20.0) = 3.636, p = 0.03049
    """
    left = df - h + 1.0
    if left < 1.0:
        return TestResult(what, np.nan, h, np.nan, np.nan)
    F = value / h * (left / df if np.isfinite(df) else 1.0)
    return TestResult(what, F, h, left, _chance(F, h, left))


def _chance(F: float, h: int, df: float) -> float:
    """Probability of an F as large; h F is chi-squared where degrees of freedom are infinite."""
    F = F if np.isnan(F) else max(F, 0.0)
    found = special.fdtrc(h, df, F) if np.isfinite(df) else special.chdtrc(h, h * F)
    return float(found) if not np.isnan(df) else np.nan


def varying_directions(Z: FloatArray) -> FloatArray:
    """Combinations (h, p) of coefficients that are zero exactly when Z w is constant over rows."""
    centred = Z - Z.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    keep = sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)
    return np.asarray(directions[keep])
