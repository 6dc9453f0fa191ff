r"""Penalised fits of linked losses, with the smoothness chosen by quasi-REML.

Minimises :math:`J(w) + \tfrac12 \sum_g \lambda_g \lVert w_g \rVert^2` over coefficients, and the
smoothness λ of each group of columns by Fellner-Schall steps (Wood and Fasiolo 2017)

.. math:: \lambda_g \leftarrow \phi\, \frac{k_g - \lambda_g \mathrm{tr}_g(A_\lambda^{-1}) + d}
                                          {\lVert w_g \rVert^2},

with A the expected Hessian and φ the dispersion :math:`\mathrm{tr}(A_\lambda^{-1} V) /
\mathrm{tr}(A_\lambda^{-1} A)`: how many times less the tuples know than independent observations
would, since V, the variance of the gradient, knows that tuples share rows.

The doubt d is a prior :math:`\lambda_g^{d/2}` in favour of the smoother: what is known hardly at
all, such as a little curvature of a straight line, vanishes, and the rest loses next to nothing.

Restricted likelihood takes a curve for a rough one, drawn at random, and follows a truly smooth one
too closely where the rows say much.  For the mean of single rows the common level of all λ
is therefore chosen by generalised cross-validation; for tuples that share rows this is too noisy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import linalg

from multiobs._types import FloatArray, IntArray
from multiobs.fit.links import LinkedLoss
from multiobs.fit.pseudo_data import STEPS, Curvature, PseudoData, minimise
from multiobs.fit.risk import constant_direction
from multiobs.fit.rowwise import RowSums
from multiobs.fit.solvers import Status
from multiobs.transport.basis import INFLATION

ROUNDS = 200  # of smoothness updates
INNER = 10  # fits, each with the tuples moved to their rows along the one before
ROUGH = 8.0  # effective degrees of freedom of a group at which the dispersion is measured
SHARE = 1 / 6  # of the rows, that all groups together may use there
SETTLED = 1e-3  # change of a group's effective degrees of freedom that no longer matters
COARSE = 1e-2  # the same for a fit that is only compared: its likelihood is flat there
DOUBT = 0.1  # added to a group's effective degrees of freedom: a group has to earn its place
VANISHED = 1e-3  # effective degrees of freedom of a group that is gone
QUANTILES = (np.arange(16) + 0.5) / 16  # of each penalty, over which errors are averaged
ORDERS = (0.0, 0.5, 1.0)  # powers of a column's roughness: of two, three, four derivatives
LEVELS = np.exp(np.linspace(-2.0, 4.0, 25))  # of all λ together, by generalised cross-validation


@final
@dataclass(frozen=True)
class Penalised:
    """A penalised fit.

    Attributes
    ----------
    w : ndarray (p,)
        Coefficients.
    ridge : ndarray (p,)
        λ of each column.
    groups : ndarray of int (p,)
        Penalty group of each column whose λ was chosen; -1 for the rest.
    information : ndarray (p, p)
        The expected Hessian A of the risk without its penalty.
    dispersion : float
        φ.
    status : Status
        How the minimisation ended.
    level : float
        By how much all λ were changed after quasi-REML.
    """

    w: FloatArray
    ridge: FloatArray
    groups: IntArray
    information: FloatArray
    dispersion: float
    status: Status
    level: float = 1.0

    @property
    def inverse(self) -> FloatArray:
        """Inverse of the penalised expected Hessian, (p, p)."""
        return inverse(self.information, self.ridge)

    @property
    def edf(self) -> FloatArray:
        """Effective degrees of freedom of each column, (p,)."""
        return np.asarray(np.einsum("ab,ba->a", self.inverse, self.information))

    def covariance(self, V: FloatArray, dispersion: float) -> FloatArray:
        r"""Covariance of the coefficients about the truth, given V the variance of the gradient.

        The mean over what λ may be of

        .. math:: A_\lambda^{-1} (V + \phi \Lambda) A_\lambda^{-1} + d_\lambda d_\lambda',
                  \quad d_\lambda = w_\lambda - w:

        the noise by V, the bias of smoothing by its size under the prior that a λ stands for
        (Nychka 1988), and how far the fit with that λ lies from this one (Wood, Pya and Säfken
        2016).  At the chosen λ alone, curvature that vanished would be taken for known.

        Parameters
        ----------
        V : ndarray (p, p)
            Variance of the gradient.
        dispersion : float
            φ.
        """
        ridges = self.plausible(dispersion)
        total = np.zeros_like(V)
        moment = self.information @ self.w + self.ridge * self.w
        for ridge in ridges:
            bread = inverse(self.information, ridge)
            prior = np.diag(np.where(self.groups < 0, 0.0, dispersion * ridge))
            moved = bread @ moment - self.w  # exact where the loss is quadratic
            total += bread @ (V + prior) @ bread + np.outer(moved, moved)
        return total / len(ridges)

    def plausible(self, dispersion: float) -> FloatArray:
        r"""Quantiles of the penalties given the data, a row for each of ``QUANTILES``, (k, p).

        A group's unpenalised coefficients are about normal with mean zero and variance
        :math:`\phi (1/a_c + 1/\lambda_c)`, a the diagonal of A and
        :math:`\lambda_c = \lambda (\max a / a_c)^s`.  A spline's :math:`a_c` fall like the fourth
        power of the frequency, so s = 0, 1/2, 1 are curves whose second, third, fourth derivative
        is rough, all as likely a priori: with the chosen penalty, of the second, many rows would
        tell less of a very smooth curve than they do.  A priori :math:`\lambda^{-1/2}`, the
        standard deviation of the coefficients, is uniform (Gelman 2006).  Where cross-validation
        changed all λ, they are changed by the same factor.

        Parameters
        ----------
        dispersion : float
            φ.
        """
        out = np.tile(self.ridge, (QUANTILES.size, 1))
        for g in np.unique(self.groups[self.groups >= 0]):
            inside = self.groups == g
            a = np.maximum(np.diag(self.information)[inside], 1e-300)[:, None]
            free = self.w[inside, None] * (1.0 + self.ridge[inside, None] / a)
            squares = free**2 / max(dispersion, 1e-300)
            steps = np.log(a.max()) + np.arange(-45.0, 20.0, 0.1)
            ridges = np.hstack([np.exp(steps) * (a.max() / a) ** s for s in ORDERS])
            spread = 1.0 / a + 1.0 / ridges
            height = -np.sum(np.log(spread) + squares / spread, axis=0) / 2
            height -= np.tile(steps, len(ORDERS)) / 2
            mass = np.exp(height - height.max())
            below = (np.cumsum(mass) - mass / 2) / mass.sum()
            at = np.minimum(np.searchsorted(below, QUANTILES), below.size - 1)
            out[:, inside] = self.level * ridges[:, at].T
        return out


Variance = Callable[[FloatArray, FloatArray], FloatArray]  # of coefficients and inverse Hessian


def inverse(A: FloatArray, ridge: FloatArray) -> FloatArray:
    """Inverse of a penalised Hessian whose columns may differ much in size."""
    whole = A + np.diag(ridge)
    size = np.sqrt(np.maximum(np.diag(whole), 1e-300))
    scaled = whole / np.outer(size, size)
    found = linalg.inv(scaled + 1e-12 * np.eye(size.size))
    return np.asarray((found + found.T) / 2 / np.outer(size, size))


@final
@dataclass(frozen=True)
class RowProblem:
    """A penalised class at the rows: what the smoothness is chosen for.

    Attributes
    ----------
    loss : LinkedLoss
        The loss.
    sums : RowSums
        Kernels of the tuples of each row.
    Z : ndarray (n, p)
        Columns of the rows.
    offset : ndarray (n,)
        Added to η.
    groups : ndarray of int (p,)
        Penalty group of each column, -1 for none.
    alone : bool
        Whether the loss is the squared error of single rows.
    """

    loss: LinkedLoss
    sums: RowSums
    Z: FloatArray
    offset: FloatArray
    groups: IntArray
    alone: bool = False

    def at(self, w: FloatArray) -> PseudoData:
        """Pseudo-observations of the rows, given the fit so far."""
        r = self.loss.inverse(self.Z @ w + self.offset)
        weight = np.maximum(self.sums.chi, 0.0)
        return PseudoData(self.Z, weight, self.sums.moved(self.loss, r), self.offset)

    def information(self, w: FloatArray) -> FloatArray:
        """Expected Hessian of the tuples, whose members' columns are averaged, (p, p)."""
        return self.information_of(self.curvature(w))

    def curvature(self, w: FloatArray) -> FloatArray:
        """Expected curvature of the loss at each row, (n,)."""
        eta = self.Z @ w + self.offset
        return self.loss.expected_curvature(eta, np.ones((eta.size, 2)))

    def information_of(self, curvature: FloatArray) -> FloatArray:
        """Expected Hessian (p, p) where the loss has this curvature (n,)."""
        root = np.sqrt(curvature)[:, None]
        size = np.maximum(self.sums.chi, 0.0)[:, None]
        A = (self.Z * root * size).T @ self.sums.blurred(self.Z * root)
        return np.asarray((A + A.T) / 2)

    def start(self) -> FloatArray | None:
        """Coefficients of the best constant, or None if there is none inside the domain."""
        size = np.maximum(self.sums.chi, 0.0)
        total = max(float(size.sum()), 1e-300)
        level = self.loss.constant(np.array([self.sums.psi.sum(), self.sums.chi.sum()]) / total)
        if level is None:
            return None
        one = constant_direction(self.Z)
        if one is None:  # a class without the constants
            return np.zeros(self.groups.size)
        return np.asarray(one * (level - float(size @ self.offset) / total))


def smooth(
    problem: RowProblem,
    variance: Variance,
    start: FloatArray,
    near: Penalised | None = None,
) -> Penalised:
    """Fit with the smoothness of every group of columns chosen by quasi-REML.

    Parameters
    ----------
    problem : RowProblem
        What is fitted.
    variance : callable
        Variance of the gradient (p, p) at coefficients (p,), given the penalised inverse Hessian.
    start : ndarray (p,)
        Where to begin.
    near : Penalised, optional
        A fit of the same rows behind another link: its dispersion is taken over, and its penalties
        are begun with. By default the dispersion is measured at a moderately rough fit.
    """
    groups = problem.groups
    count = int(groups.max(initial=-1)) + 1
    member = [np.flatnonzero(groups == g) for g in range(count)]
    known: list[tuple[FloatArray, FloatArray]] = []  # curvature does not depend on w for most links

    def information(at: FloatArray) -> FloatArray:
        curvature = problem.curvature(at)
        if not known or not np.array_equal(known[0][0], curvature):
            known[:] = [(curvature, problem.information_of(curvature))]
        return known[0][1]

    first = np.diag(information(start))
    rough = even_share([m.size for m in member], ROUGH, SHARE * problem.Z.shape[0])
    strength = np.array([roughness(first[m], rough) for m in member])
    if near is not None:  # a group that vanished there may come back
        least = [roughness(first[m], 1.0) for m in member]
        strength = np.minimum([near.ridge[m[0]] for m in member], least)

    def ridge_of(values: FloatArray) -> FloatArray:
        out = np.zeros(groups.size)
        for g, m in enumerate(member):
            out[m] = values[g]
        return out

    ridge, held = ridge_of(strength), Curvature()
    w, status = settle(problem, ridge, start, INNER, held)
    A = information(w)
    if near is None:
        bread = inverse(A, ridge)
        phi = float(np.sum(bread * variance(w, bread)) / np.sum(bread * A))
    else:
        phi = near.dispersion
    if not (count and np.isfinite(phi) and phi > 0):
        return Penalised(w, ridge, np.full(groups.size, -1), A, max(phi, 0.0), status)
    settled = SETTLED if near is None else COARSE
    before = np.full(count, np.inf)
    for _ in range(ROUNDS):
        inside = np.diag(inverse(A, ridge))
        left = np.array([m.size - strength[g] * inside[m].sum() for g, m in enumerate(member)])
        if np.all(np.abs(left - before) <= settled * np.maximum(left, 0.1)):
            break
        before = left
        for g, m in enumerate(member):
            if left[g] > VANISHED:
                wanted = phi * (left[g] + DOUBT) / max(float(w[m] @ w[m]), 1e-300)
                strength[g] *= float(np.clip(wanted / strength[g], 1e-4, 1e4))
        ridge = ridge_of(strength)
        w, status = settle(problem, ridge, w, 2, held)
        A = information(w)
    level = 1.0
    if problem.alone:
        level = cross_validated_level(problem, A, ridge)
        ridge = level * ridge
    w, status = settle(problem, ridge, w, STEPS)
    A = information(w)
    return Penalised(w, ridge, groups, A, phi, status, level)


def cross_validated_level(problem: RowProblem, A: FloatArray, ridge: FloatArray) -> float:
    r"""Return the factor of all λ that minimises GCV, RSS / (n - 1.4 edf)², for single rows.

    Parameters
    ----------
    problem : RowProblem
        Squared errors of single rows.
    A : ndarray (p, p)
        Hessian of the risk without its penalty.
    ridge : ndarray (p,)
        λ of each column.
    """
    used = problem.sums.chi > 0
    size, Z = problem.sums.chi[used], problem.Z[used]
    target = problem.sums.psi[used] / size - problem.offset[used]
    moment = Z.T @ (size * target)
    scores = []
    for level in LEVELS:
        bread = inverse(A, level * ridge)
        left = target - Z @ (bread @ moment)
        freedom = size.size - INFLATION * float(np.sum(bread * A))
        scores.append(float(size @ left**2) / freedom**2 if freedom > 0 else np.inf)
    return float(LEVELS[int(np.argmin(scores))])


def settle(
    problem: RowProblem,
    ridge: FloatArray,
    start: FloatArray,
    rounds: int,
    held: Curvature | None = None,
) -> tuple[FloatArray, Status]:
    """Move the tuples to their rows along the fit and fit again, until nothing moves.

    A Hessian that is held from fits nearby is used for as long as it serves.
    """
    w, status = start, Status.NOT_CONVERGED
    for _ in range(rounds):
        before = w
        w, status = minimise(problem.at(w), problem.loss, ridge, w, held)
        moved = float(np.max(np.abs(problem.Z @ (w - before)), initial=0.0))
        if moved < 1e-8 or problem.sums.together is None:
            return w, status
    return w, Status.NOT_CONVERGED if status.success else status


def even_share(sizes: list[int], most: float, total: float) -> float:
    """Return what each of some sizes may be cut to so that they sum to a total, at most ``most``.

    >>> even_share([1, 10, 10], 8.0, 11.0)
    5.0
    """
    left, count = total, len(sizes)
    for size in sorted(sizes):
        if size * count >= left:
            return min(most, left / count)
        left, count = left - size, count - 1
    return most


def roughness(diagonal: FloatArray, target: float) -> float:
    """Return λ that leaves a group of these curvatures a number of effective columns, or most.

    >>> round(roughness(np.ones(4), 2.0), 6)
    1.0
    """
    target = min(target, 0.9 * diagonal.size)
    top = float(diagonal.max(initial=0.0))
    if not top > 0:
        return 1.0
    low, high = np.log(top) - 60.0, np.log(top) + 20.0
    for _ in range(60):
        middle = (low + high) / 2
        left = float(np.sum(diagonal / (diagonal + np.exp(middle))))
        low, high = (middle, high) if left > target else (low, middle)
    return float(np.exp(low))
