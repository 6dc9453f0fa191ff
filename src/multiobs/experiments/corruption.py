"""ERM when some metasamples are corrupted: the paper's union-argument lemmas, measured.

The proof of Theorem 1 compares three empirical risks: P of the law, P_n of a clean sample and
P~_n of the sample in which about sqrt(n) metasamples were replaced by anything. Its lemma says
that the minimiser f~ of the last obeys, sample by sample,

    P l(f~) - P l(f*) <= sup (P - P_n) l + 2 sup |(P_n - P~_n) l| + (P_n - P) l(f*),

and the middle term is at most B times the share of corrupted metasamples. Here the class is a
grid of lines, so that every supremum is exact.
"""

from dataclasses import dataclass
from math import ceil, sqrt
from typing import final

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray

LOW, HIGH = 0.2, 0.8  # P(Y = 1 | x) goes from LOW to HIGH: K = 0.6, variances from .16 to .25
LEVELS: FloatArray = np.linspace(0.0, 0.5, 26)  # values of a line at x = 0 and at x = 1
LARGEST_LOSS = 0.25  # (r - psi)^2 with both in [0, 1/2]: the B of the theorems


@final
@dataclass(frozen=True)
class CorruptedErm:
    """One sample: excess risks, and the three terms of the lemma.

    clean, corrupted: excess risk of the minimiser of the clean and of the corrupted sample;
    deviation: sup (P - P_n) l_f; shift: sup |(P_n - P~_n) l_f|; star: (P_n - P) l_f*.
    """

    n: int
    n_corrupted: int
    clean: float
    corrupted: float
    deviation: float
    shift: float
    star: float

    @property
    def promised(self) -> float:
        """The right side of the union-argument lemma."""
        return self.deviation + 2 * self.shift + self.star


def _variance(x: FloatArray) -> FloatArray:
    p = LOW + (HIGH - LOW) * x
    return np.asarray(p * (1 - p))


def _lines(x: FloatArray) -> FloatArray:
    """Values (f, n) at x of all lines of the class."""
    left, right = np.meshgrid(LEVELS, LEVELS, indexing="ij")
    return np.asarray(left.reshape(-1, 1) * (1 - x) + right.reshape(-1, 1) * x)


def _empirical(x: FloatArray, psi: FloatArray) -> FloatArray:
    return np.asarray(((_lines(x) - psi) ** 2).mean(axis=1))


def true_risks() -> FloatArray:
    """Risk of each line of the class, exact up to the quadrature over x."""
    x = (np.arange(2000) + 0.5) / 2000
    variance = _variance(x)
    # psi is 1/2 with probability 2 p (1 - p), else 0: E (r - psi)^2 = r^2 - 2 r v + v / 2
    r = _lines(x)
    return np.asarray((r**2 - 2 * r * variance + variance / 2).mean(axis=1))


def corrupted_erm(
    n: int, n_corrupted: int | None, rng: np.random.Generator, risks: FloatArray | None = None
) -> CorruptedErm:
    r"""Fit the variance of Bernoulli labels by ERM over lines, clean and corrupted.

    Metasamples (x, y1, y2) are ideal, both labels drawn at x. An adversary who sees them replaces
    the two labels of ``n_corrupted`` metasamples, those far to the right whose labels agree, by
    labels that differ.

    Parameters
    ----------
    n : int
        Metasamples.
    n_corrupted : int or None
        How many are replaced; sqrt(n), as in the proof, when None.
    risks : array, optional
        :func:`true_risks`, where many samples are drawn.

    Examples
    --------
    >>> found = corrupted_erm(400, None, np.random.default_rng(0))
    >>> found.n_corrupted, found.corrupted <= found.promised, found.shift < 0.25 * 21 / 400
    (20, True, True)
    """
    size = _check.integer("n", n, low=2)
    count = ceil(sqrt(size)) if n_corrupted is None else n_corrupted
    count = min(_check.integer("n_corrupted", count, low=0), size)
    x = rng.random(size)
    labels = rng.random((size, 2)) < (LOW + (HIGH - LOW) * x)[:, None]
    psi = (labels[:, 0] != labels[:, 1]) / 2
    hurt = psi.copy()
    hurt[np.lexsort((-x, psi))[:count]] = 0.5
    truth = true_risks() if risks is None else risks
    clean, spoilt = _empirical(x, psi), _empirical(x, hurt)
    best = int(truth.argmin())
    return CorruptedErm(
        n=size,
        n_corrupted=count,
        clean=float(truth[clean.argmin()] - truth[best]),
        corrupted=float(truth[spoilt.argmin()] - truth[best]),
        deviation=float((truth - clean).max()),
        shift=float(np.abs(clean - spoilt).max()),
        star=float(clean[best] - truth[best]),
    )
