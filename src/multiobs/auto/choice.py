"""One visible function that turns "auto" into a sampler and a transport, and says why.

The rules were chosen by measurement (``make quality``), not by taste:

* labels are moved along a pilot of the mean whenever the statistic says what a shift does to it;
* in one column, windows of √n/2 rows for means of two observations, twice as many for more
  observations and for root-type statistics, whose tuples are noisier; of rows and not of a width,
  so that no row is left out where x is sparse;
* in two or three columns √n nearest neighbours, twice as many for smooth classes, from four on
  leaves of a forest, where distances in irrelevant columns no longer matter;
* fewer rows, down to the nearest, where residuals of near rows are still alike
  (:mod:`multiobs.auto.widths`), and in a small category in proportion to the root of its size;
* every row counts alike (:meth:`multiobs.tuples.TupleSet.balance`).
"""

from dataclasses import dataclass
from math import sqrt
from typing import Literal, final

from multiobs import _check, samplers
from multiobs._types import FloatArray
from multiobs.samplers import Adjacent, Counted, Nearest, Sampler
from multiobs.statistics import Statistic
from multiobs.statistics.losses import RootLoss
from multiobs.transport import Transport

MANY_COLUMNS = 4  # from here on neighbours are sought in the leaves of a forest
ENOUGH = 64  # partners of a row in a pair: more add nothing but bias


@final
@dataclass(frozen=True)
class Choice:
    """What a fit will do, with the reason for each choice.

    Attributes
    ----------
    sampler : Sampler or "leaves"
        The sampler; "leaves" is built by the estimator from a forest.
    transport : "location", "location-scale" or None
        How labels are moved.
    balanced : bool
        Whether rows are weighted to count alike.
    follows : Counted or None
        The sampler, where its number of rows may still follow the data.
    reasons : tuple of str
        Sentences for ``plan_``.
    """

    sampler: Sampler | Literal["leaves"]
    transport: Literal["location", "location-scale"] | None
    balanced: bool
    reasons: tuple[str, ...]
    follows: Counted | None = None


def choose(
    statistic: Statistic,
    sampler: str | Sampler,
    transport: Transport,
    X: FloatArray,
    *,
    near: bool = False,
) -> Choice:
    """Settle what the user left open.

    Parameters
    ----------
    statistic : Statistic
        What is estimated.
    sampler : str or Sampler
        "auto", a name, or a sampler.
    transport : "auto", "location", "location-scale" or None
        How labels are moved to the representative.
    X : ndarray (n, d)
        Positions of the rows.
    near : bool
        Whether neighbours are sought by distance in any number of columns: a class that models
        each member of a tuple at its own x loses nothing to wide neighbourhoods.
    """
    reasons = []
    auto = isinstance(sampler, str) and sampler == "auto"
    chosen: Sampler | Literal["leaves"]
    follows = None
    if auto:
        counted, why = _sampler(statistic, X, near)
        chosen = counted
        follows = None if counted == "leaves" or statistic.arity == 1 else counted
        reasons.append(f"sampler: {why}")
    else:
        chosen = samplers.resolve(sampler)
        reasons.append(f"sampler: {chosen!r}, as asked")
    moved: Literal["location", "location-scale"] | None
    if isinstance(transport, str) and transport == "auto":
        if statistic.shift is None:
            moved = None
            reasons.append(f"transport: none, since no shift of y leaves {statistic.name} in place")
        else:
            moved = "location"
            reasons.append("transport: labels are moved along a pilot of their mean")
    elif transport is None:
        moved = None
        reasons.append("transport: none, as asked")
    else:
        _check.choice("transport", transport, ("auto", "location", "location-scale"))
        moved = transport
        reasons.append(f"transport: {transport}, as asked")
    if auto:
        reasons.append("weights: rows are balanced to count alike")
    return Choice(chosen, moved, auto, tuple(reasons), follows)


def _sampler(
    statistic: Statistic, X: FloatArray, near: bool
) -> tuple[Counted | Literal["leaves"], str]:
    n, d = X.shape
    m = statistic.arity
    if m == 1:
        return Nearest(1), "each row on its own"
    root = isinstance(statistic.loss, RootLoss)
    noisy = m > 2 or root
    if d == 1:
        # a class that models each member at its own x loses nothing to wide windows
        wide = 2.0 if noisy or near else 1.0
        partners = min(wide * sqrt(n) / 2, wide * ENOUGH)
        k = round(max(partners, 2.0 * (m - 1)))
        return Adjacent(k), f"Adjacent({k}), each row with the next {k} in the order of x"
    if d < MANY_COLUMNS or n < 100 or near:
        partners = max(min(sqrt(n), ENOUGH), 8.0, 16.0 * (m - 1) if noisy else 0.0)
        if near:
            # each member is at its own x, so that many partners cost nothing but what the pilot
            # leaves of the mean: in many columns, where neighbours are far, that is much
            few = d >= MANY_COLUMNS
            partners = max(0.0 if few else min(2.0 * sqrt(n), ENOUGH), 8.0 * (m - 1))
        k = min(round(partners), max(n - 1, 1))
        return Nearest(k), f"Nearest({k}) in {d} columns"
    return "leaves", f"rows that share leaves of a forest, since distances in {d} columns mislead"
