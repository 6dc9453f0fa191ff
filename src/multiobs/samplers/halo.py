"""How far the tuples of a row reach: what a part of the rows needs of its neighbours."""

from dataclasses import dataclass, replace
from math import sqrt
from typing import final

import numpy as np

from multiobs._types import FloatArray
from multiobs.samplers.base import Sampler
from multiobs.samplers.geometry import epsilon_holding, in_proportion, paper_epsilon
from multiobs.samplers.near import Nearby, Nearest, Replicates
from multiobs.samplers.windows import Adjacent, Disjoint, SlidingWindow
from multiobs.tuples import Tuples, TupleSet


@final
@dataclass(frozen=True)
class Reach:
    """Rows beyond a stretch of sorted x that its tuples may contain.

    Attributes
    ----------
    rows : int
        So many further rows, and all that share the x of the last of them.
    width : float
        All rows within this distance.
    both : bool
        Whether rows before the anchor are among its partners, too.
    blocks : int
        Tuples begin at every so many rows of a group, counted from its first; 1 is anywhere.
    drawn : bool
        Whether rows of equal x are put in one order, which is drawn.
    """

    rows: int = 0
    width: float = 0.0
    both: bool = False
    blocks: int = 1
    drawn: bool = False


def reach(sampler: Sampler, arity: int) -> Reach | None:
    """Return how far the tuples of a sampler reach in one column, None where there is no bound.

    >>> reach(SlidingWindow(), 3)
    Reach(rows=2, width=0.0, both=False, blocks=1, drawn=False)
    """
    if arity == 1:
        return Reach()
    if isinstance(sampler, SlidingWindow):
        return Reach(rows=arity - 1)
    if isinstance(sampler, Disjoint):
        return Reach(rows=arity - 1, blocks=arity, drawn=True)
    if isinstance(sampler, Adjacent):
        return Reach(rows=sampler.n_rows)
    if isinstance(sampler, Replicates):
        return Reach()
    if isinstance(sampler, Nearby) and not isinstance(sampler.epsilon, str):
        return Reach(width=float(sampler.epsilon))
    if (
        isinstance(sampler, Nearest)
        and not sampler.by_group
        and not isinstance(sampler.n_neighbors, str)
    ):
        return Reach(rows=sampler.n_neighbors, both=True)
    return None


def one_order(sampler: Sampler, built: TupleSet, tied: bool, complete: bool) -> bool:
    """Whether all rows are to be put in one order, instead of an average over the orders of ties.

    Parameters
    ----------
    sampler : Sampler
        What builds the tuples.
    built : Tuples, Windows or Graph
        What it built of a sample: a list where it could average.
    tied, complete : bool
        Whether rows of the sample share an x, and whether it holds all rows.

    Examples
    --------
    >>> x = np.zeros((3000, 1))
    >>> built = SlidingWindow().build(x, 3, np.random.default_rng(0))
    >>> one_order(SlidingWindow(), built, True, True)
    True
    """
    averages = isinstance(sampler, SlidingWindow) and tied
    return averages and not (complete and isinstance(built, Tuples))


def for_group(sampler: Sampler, members: int, n: int, arity: int) -> Sampler:
    """Return what a sampler is for one group of so many among n rows.

    >>> for_group(Adjacent(16, by_group=True), 250, 1000, 2)
    Adjacent(n_rows=8)
    """
    if isinstance(sampler, Adjacent) and sampler.by_group:
        rows = in_proportion(sampler.n_rows, np.array([members]), n, arity)
        return Adjacent(int(rows[0]))
    return sampler


def settled_for(sampler: Sampler, found: Sampler, X: FloatArray, n: int) -> Sampler:
    """Return a sampler whose width was left open, settled for n rows by a sample X (s, 1) of them.

    Parameters
    ----------
    sampler : Sampler
        As it was asked for.
    found : Sampler
        What validation on the sample made of it, or the same.
    X : ndarray (s, 1)
        Positions of the sample.
    n : int
        How many rows there are.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 1001)[:, None]
    >>> settled_for(Nearby("paper"), Nearby("paper"), x, 1001) == Nearby(paper_epsilon(x))
    True
    """
    if not (isinstance(sampler, Nearby) and isinstance(sampler.epsilon, str)):
        return found
    # the paper's width holds half of root n rows, of which the sample has its share
    wide = epsilon_holding(X, sqrt(n) / 2 * X.shape[0] / n)
    if isinstance(found, Nearby) and not isinstance(found.epsilon, str):
        base = paper_epsilon(X)
        wide = found.epsilon if base == 0.0 else found.epsilon * (wide / base)
    return replace(sampler, epsilon=wide)
