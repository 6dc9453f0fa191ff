r"""How much of one part's noise the other part explains.

The noise of a mean and of the mean of a kernel s at the same rows are correlated when labels are
skewed: with :math:`u(y) = m (\mathbb{E}[s \mid Y_1 = y] - \mathbb{E}s)` the influence of a label,

.. math:: \beta = \frac{\mathrm{cov}(Y, u)}{\mathrm{var}\,u}
                = \frac{\mathrm{cov}(\sum_j Y_j, s)}{m^2 \mathrm{cov}(s, s')},

where s and s' share one label.  The mean less β times the second part then has only the share
:math:`1 - \rho^2` of the mean's noise, whatever the law, and the mean is that plus β times a part
that is estimated anyway.
"""

import numpy as np

from multiobs._types import FloatArray
from multiobs.statistics.kernels import Kernel

DRAWS = 20_000  # pairs of tuples that share one label
WORTH = 0.1  # share of the noise that the second part must explain


def mixing(kernel: Kernel, labels: FloatArray) -> float:
    """Return β for labels of one law, or zero where the second part explains next to nothing.

    Parameters
    ----------
    kernel : Kernel
        Of the second part.
    labels : ndarray (n,)
        Standardised residuals.

    Examples
    --------
    >>> from multiobs import statistics
    >>> shortfall = statistics.minvar().parts.statistics[1].psi
    >>> rng = np.random.default_rng(0)
    >>> mixing(shortfall, rng.normal(size=2000))
    0.0
    >>> 1.2 < mixing(shortfall, rng.exponential(size=2000)) < 1.8
    True
    """
    m = kernel.arity
    drawn = np.random.default_rng(0).integers(0, labels.size, size=(DRAWS, 2 * m - 1))
    Y = np.sort(labels)[drawn]  # sorted, so that the order of the rows does not matter
    one, other = kernel(Y[:, :m]), kernel(np.column_stack([Y[:, :1], Y[:, m:]]))
    both = np.cov(np.stack([Y[:, :m].sum(axis=1), one, other]))
    joint, spread = float(both[0, 1]), m * m * float(both[1, 2])
    noise = float(both[0, 0]) / m
    if not (spread > 0 and joint**2 > WORTH * noise * spread):
        return 0.0
    return joint / spread
