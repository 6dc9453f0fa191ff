r"""What is estimated: functionals of the law of Y given x, each with a loss that elicits it.

Three forms cover the catalogue.  *Mean-type*: :math:`\Gamma = \mathbb{E}[\psi(Y_1..Y_m)]`.
*Ratio-type*: :math:`\mathbb{E}[\psi]/\mathbb{E}[\chi]`.  *Root-type*: a root of an expected
quadratic.  :func:`mean_of`, :func:`ratio_of` and :func:`from_loss` take a user's own functions.
"""

from multiobs.statistics import distinct, kernels, losses
from multiobs.statistics.catalogue import CATALOGUE, build, resolve
from multiobs.statistics.custom import from_loss, mean_of, ratio_of
from multiobs.statistics.facts import KernelMeans, MomentFunction, Ranges
from multiobs.statistics.means import (
    central_moment,
    collision_probability,
    covariance,
    cumulant,
    gini_mean_difference,
    kendall_tau,
    l_moment,
    maxvar,
    mean,
    minvar,
    variance,
)
from multiobs.statistics.roots import (
    dispersion_index,
    kurtosis,
    skewness,
    squared_cv,
    standard_deviation,
    ucb,
)
from multiobs.statistics.statistic import Parts, Statistic, outside_domain, verify
from multiobs.statistics.u_statistics import weighted_mean

__all__ = [
    "distinct",
    "CATALOGUE",
    "KernelMeans",
    "MomentFunction",
    "Parts",
    "Ranges",
    "Statistic",
    "build",
    "central_moment",
    "collision_probability",
    "covariance",
    "cumulant",
    "dispersion_index",
    "from_loss",
    "gini_mean_difference",
    "kendall_tau",
    "kernels",
    "kurtosis",
    "l_moment",
    "losses",
    "maxvar",
    "mean",
    "mean_of",
    "minvar",
    "outside_domain",
    "ratio_of",
    "resolve",
    "skewness",
    "squared_cv",
    "standard_deviation",
    "ucb",
    "variance",
    "verify",
    "weighted_mean",
]
