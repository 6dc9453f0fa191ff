"""The L, B and curvature of each statistic's loss when y and the predictions are bounded."""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ._inputs import (
    interval,
    nonnegative,
    number,
    numbers,
    one_of,
    positive,
    representable,
    single,
    whole,
)

Range = tuple[float, float]
LARGEST = 1e100  # whose square a float still holds
KERNELS = (
    "mean",
    "variance",
    "covariance",
    "gini_mean_difference",
    "minvar",
    "maxvar",
    "l_moment",
    "third_central_moment",
    "collision_probability",
    "kendall_tau",
)


class LossConstants(NamedTuple):
    """What the theorems ask of a loss on given ranges of y and of the prediction r.

    Attributes
    ----------
    L : float
        Lipschitz constant in r.
    B : float
        The loss takes values in an interval of this length once a function of y alone is
        subtracted, which changes neither the minimiser nor the excess risk.
    curvature : float
        A lower bound on the second derivative in r of the expected loss; 0 if none is known, and
        then Theorem 2 does not apply.

    Examples
    --------
    >>> squared_loss_constants((0.0, 0.5), (0.0, 0.25)).L
    1.0
    """

    L: float
    B: float
    curvature: float


@representable
def kernel_range(
    kernel: str, y_range: Range, *, order: int = 2, second_range: Range | None = None
) -> Range:
    r"""Smallest and largest value of a statistic's kernel psi(y_1..y_m) for y in [a, b].

    Parameters
    ----------
    kernel : str
        mean, variance, covariance, gini_mean_difference, minvar, maxvar, l_moment,
        third_central_moment, collision_probability or kendall_tau.
    y_range : (float, float)
        a < b.
    order : int
        Order of the L-moment.
    second_range : (float, float), optional
        Range of the second output, for covariance.

    Examples
    --------
    >>> kernel_range("variance", (-1.0, 3.0))
    (0.0, 8.0)
    >>> kernel_range("l_moment", (0.0, 1.0), order=2)
    (0.0, 0.5)
    """
    one_of("kernel", kernel, KERNELS)
    a, b = interval("y_range", y_range)
    width = b - a
    if kernel in ("mean", "minvar", "maxvar"):
        return a, b
    if kernel == "variance":
        return 0.0, width**2 / 2
    if kernel == "covariance":
        low, high = (a, b) if second_range is None else interval("second_range", second_range)
        return -width * (high - low) / 2, width * (high - low) / 2
    if kernel == "gini_mean_difference":
        return 0.0, width
    if kernel == "l_moment":
        return _l_moment_range(a, b, order)
    if kernel == "third_central_moment":
        # (3/2) sum (y_i - mean)^3 over three observations, extreme at (a, a, b) and (a, b, b).
        return -(width**3) / 3, width**3 / 3
    if kernel == "collision_probability":
        return 0.0, 1.0
    return -1.0, 1.0  # kendall_tau


def _l_moment_range(a: float, b: float, order: int) -> Range:
    order = int(single("order", whole("order", order)))
    if order == 1:
        return a, b
    # Weights of y_(1) <= ... <= y_(order); ordered vectors in [a, b] are mixtures of those that
    # are a up to some place and b after it, so the extremes are sums of last weights.
    weights = [
        (-1) ** (order - 1 - i) * math.comb(order - 1, order - 1 - i) / order for i in range(order)
    ]
    tails = np.concatenate([[0.0], np.cumsum(weights[::-1])]) * (b - a)
    return float(tails.min()), float(tails.max())


@representable
def squared_loss_constants(psi_range: Range, r_range: Range) -> LossConstants:
    r"""Constants of (r - psi)^2, the loss of every mean-type statistic.

    .. math:: L = 2 \max|r - \psi|,\quad B = \min\{\max (r - \psi)^2, L (r_1 - r_0)\},\quad
              \text{curvature} = 2

    Parameters
    ----------
    psi_range, r_range : (float, float)
        Ranges of the kernel and of the predictions.

    Examples
    --------
    >>> squared_loss_constants((0.0, 0.5), (0.0, 0.25))
    LossConstants(L=1.0, B=0.25, curvature=2.0)
    """
    low, high = interval("psi_range", psi_range)
    r0, r1 = interval("r_range", r_range)
    reach = max(abs(r1 - low), abs(high - r0))
    return LossConstants(2 * reach, min(reach**2, 2 * reach * (r1 - r0)), 2.0)


@representable
def ratio_loss_constants(
    psi_range: Range, chi_range: Range, r_range: Range, *, chi_mean: float = 0.0
) -> LossConstants:
    r"""Constants of chi r^2 - 2 psi r, the loss of a ratio-type statistic E psi / E chi.

    .. math:: L = 2 \max|\chi r - \psi|,\quad B = L (r_1 - r_0),\quad
              \text{curvature} = 2 \min_x \mathrm E[\chi \mid x]

    Parameters
    ----------
    chi_mean : float
        A lower bound on E[chi | x]; without one nothing is known of the curvature.

    Examples
    --------
    >>> ratio_loss_constants((0.0, 1.0), (0.0, 2.0), (0.0, 1.0), chi_mean=0.5)
    LossConstants(L=4.0, B=4.0, curvature=1.0)
    """
    psi, chi = interval("psi_range", psi_range), interval("chi_range", chi_range)
    r = interval("r_range", r_range)
    if chi[0] < 0:
        raise ValueError(f"chi_range must not go below 0, got {chi[0]:g}")
    chi_mean = single("chi_mean", nonnegative("chi_mean", chi_mean))
    lipschitz = 2 * max(abs(c * s - v) for c in chi for s in r for v in psi)
    return LossConstants(lipschitz, lipschitz * (r[1] - r[0]), 2 * max(chi_mean, chi[0]))


@representable
def ucb_loss_constants(
    lam: float,
    y_range: Range,
    r_range: Range,
    *,
    loss: str = "quartic",
    reference: float = 0.0,
    mean_high: float | None = None,
) -> LossConstants:
    r"""Constants of the two losses of the upper confidence bound.

    With :math:`V = \tfrac{\lambda^2}2 (y_1-y_2)^2 - (r-y_1)(r-y_2)` the derivative of the loss is
    -V (cubic) or -(r - c) V (quartic, reference level c). Over y in [a, b],
    :math:`\min V = -\max(|r-a|, |r-b|)^2` and :math:`\max V = \tfrac{\lambda^2}2 (b-a)^2
    - (r-a)(r-b)` or 0, both attained, so that L is exact up to the search in r.

    Parameters
    ----------
    lam : float
        lambda, positive.
    y_range, r_range : (float, float)
        Ranges of the observations and of the predictions.
    loss : {"quartic", "cubic"}
    reference : float
        c of the quartic loss.
    mean_high : float, optional
        An upper bound on E[Y | x], default the upper end of ``y_range``; the cubic loss is
        strongly convex in r only where r exceeds it.

    Examples
    --------
    >>> ucb_loss_constants(1.0, (0.0, 1.0), (1.0, 2.0), loss="cubic", mean_high=0.5)
    LossConstants(L=4.0, B=2.433..., curvature=1.0)
    """
    lam_ = single("lam", positive("lam", lam))
    if lam_ > LARGEST:
        raise ValueError(f"lam must be at most {LARGEST:g}, got {lam_:g}")
    reference = single("reference", number("reference", reference))
    a, b = interval("y_range", y_range)
    r0, r1 = interval("r_range", r_range)
    one_of("loss", loss, ("quartic", "cubic"))
    # V's envelope is piecewise quadratic in r with breaks at a, (a+b)/2 and b: the maximum of its
    # product with 1 or |r - c| is at a break, an end, or a stationary point of one piece.
    reach = np.polynomial.Polynomial
    low = [reach([a**2, -2 * a, 1.0]), reach([b**2, -2 * b, 1.0])]
    high = reach([lam_**2 / 2 * (b - a) ** 2 - a * b, a + b, -1.0])
    factor = reach([1.0]) if loss == "cubic" else reach([-reference, 1.0])
    places = [r0, r1, a, b, (a + b) / 2, reference]
    for piece in (*low, high):
        places += [float(z.real) for z in (piece * factor).deriv().roots() if abs(z.imag) < 1e-9]
    r: npt.NDArray[np.float64] = np.array([z for z in places if r0 <= z <= r1])
    envelope = np.maximum(np.maximum(low[0](r), low[1](r)), np.maximum(high(r), 0.0))
    lipschitz = float((np.abs(factor(r)) * envelope).max())
    if loss == "quartic":
        return LossConstants(lipschitz, lipschitz * (r1 - r0), 0.0)
    # Largest value of the integral of (s-y1)(s-y2) from r0 to r1 (equal observations at an end);
    # the smallest is over the vertices of the square of observations.
    top = max(((r1 - y) ** 3 - (r0 - y) ** 3) / 3 for y in (a, b))
    integral = (-high).integ(lbnd=r0)
    ends = np.array([r0, r1, *(s for s in np.real(high.roots()) if r0 <= s <= r1)])
    bottom = min(0.0, float(integral(ends).min()))
    spread = min(top - bottom, lipschitz * (r1 - r0))
    above = r0 - (b if mean_high is None else single("mean_high", number("mean_high", mean_high)))
    return LossConstants(lipschitz, float(spread), max(0.0, 2 * above))


@representable
def strong_convexity(Z: npt.ArrayLike, curvature: float) -> float:
    r"""Modulus of strong convexity of the risk in the coefficients.

    .. math:: \sigma = \text{curvature} \cdot \lambda_{\min}\left(\mathrm E[z z^\top]\right)

    Parameters
    ----------
    Z : array_like of shape (n, p)
        Features on a sample of x, the constant one included if the class has an intercept.
    curvature : float
        From :class:`LossConstants`; 2 for a squared loss (the paper's Example 1).

    Returns
    -------
    float
        Estimated on Z; 0 when the features are collinear, and then Theorem 2 does not apply.

    Examples
    --------
    >>> strong_convexity([[1.0, 1.0], [1.0, -1.0]], 2.0)
    2.0
    """
    features = numbers("Z", Z)
    if features.ndim != 2 or 0 in features.shape:
        raise ValueError(f"Z must have shape (n, p) with n, p >= 1, got {features.shape}")
    if not np.isfinite(features).all():
        raise ValueError("Z must be finite, got NaN or infinity")
    curvature = single("curvature", nonnegative("curvature", curvature))
    smallest = np.linalg.eigvalsh(features.T @ features / features.shape[0])[0]
    return float(curvature * max(smallest, 0.0))
