r"""Where a softplus bends, by the restricted likelihood of a few knees.

A dip of a positive statistic hardly bends behind a link that is straight, a hump hardly behind the
logarithm, and a softplus, :math:`k \log(1 + e^\eta)`, is either by the place of its knee k.
"""

from dataclasses import replace

import numpy as np

from multiobs.fit.links import linked
from multiobs.fit.penalised import Penalised, RowProblem, Variance, smooth
from multiobs.statistics import Statistic

KNEES = (0.25, 4.0)  # over the mean level, compared with the mean level itself


def likely_knee(
    statistic: Statistic, problem: RowProblem, fit: Penalised, variance: Variance
) -> float:
    """Return exp of the mean of log knee given the data; the knee of the fit for other links.

    The knee of the fit and those of ``KNEES`` are as likely a priori.  A mean and no choice: few
    rows often leave the restricted likelihood undecided, and a choice would follow its noise.

    Parameters
    ----------
    statistic : Statistic
        What is fitted, its domain in working units.
    problem : RowProblem
        The class at the rows.
    fit : Penalised
        The fit behind the problem's link.
    variance : callable
        Variance of the gradient, as for :func:`multiobs.fit.penalised.smooth`.
    """
    own, start = problem.loss.knee, problem.start()
    if problem.loss.link != "softplus" or np.all(fit.groups < 0) or start is None:
        return own
    knees, heights = [own], [restricted_likelihood(problem, fit)]
    level = problem.curvature(start).mean()
    for factor in KNEES:
        loss = linked(statistic, "softplus", knee=factor * own)
        other = replace(problem, loss=loss)
        begin = other.start()
        assert begin is not None  # as behind its own link
        # penalties are in units of η
        ridge = fit.ridge * other.curvature(begin).mean() / level
        found = smooth(other, variance, begin, replace(fit, ridge=ridge))
        knees.append(factor * own)
        heights.append(restricted_likelihood(other, found))
    mass = np.exp(np.array(heights) - max(heights))
    return float(np.exp(mass @ np.log(knees) / mass.sum()))


def restricted_likelihood(problem: RowProblem, fit: Penalised) -> float:
    r"""Logarithm of the quasi-REML of a fit, to compare links of one divergence.

    .. math:: -\frac1\phi \Big(J + \tfrac12 \sum_g \lambda_g \lVert w_g \rVert^2\Big)
              + \tfrac12 \log \frac{\prod \lambda}{|A_\lambda|}

    The constant is uniform a priori on the scale of η, a prior in favour of links that are straight
    at its level.

    Parameters
    ----------
    problem : RowProblem
        What was fitted.
    fit : Penalised
        The fit, whose dispersion must be that of the fits it is compared with.
    """
    loss, sums, penalised = problem.loss, problem.sums, fit.ridge > 0
    there = loss.forward(sums.blurred(loss.inverse(problem.Z @ fit.w + problem.offset)))
    risk = float(np.sum(loss.integrals(there) * np.stack([sums.psi, sums.chi], axis=1)))
    whole = fit.information + np.diag(fit.ridge)
    size = np.sqrt(np.maximum(np.diag(whole), 1e-300))
    volume = float(np.linalg.slogdet(whole / np.outer(size, size))[1]) + 2 * np.log(size).sum()
    gained = np.log(fit.ridge[penalised]).sum() - volume
    return float(gained / 2 - (risk + fit.ridge @ fit.w**2 / 2) / fit.dispersion)
