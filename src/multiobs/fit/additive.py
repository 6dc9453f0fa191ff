"""The columns of an additive class: which terms there are, and their penalty groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, final

import numpy as np

from multiobs import _check
from multiobs._types import FloatArray, IntArray
from multiobs.fit.design import Design
from multiobs.fit.terms import LevelsTerm, SmoothTerm, interaction, own_term


@final
@dataclass(frozen=True)
class Smooth:
    """A penalised additive class: ``features=Smooth(...)``; ``features="smooth"`` is Smooth().

    Parameters
    ----------
    interactions : bool, "auto" or sequence of (int, int)
        Pairs of columns with a smooth interaction besides their own terms; True is all pairs of
        numeric columns, "auto" the few that a test finds in what the other terms leave.
    n_knots : int or "auto"
        Intervals of each column's spline. The smoothness does not depend on it once it is large
        enough; "auto" grows with the square root of the rows up to 40.

    Examples
    --------
    >>> Smooth(interactions=[(0, 1)])
    Smooth(interactions=[(0, 1)], n_knots='auto')
    """

    interactions: bool | Literal["auto"] | Sequence[tuple[int, int]] = False
    n_knots: int | Literal["auto"] = "auto"


@final
@dataclass(frozen=True)
class SmoothDesign:
    """The columns of an additive class: a constant, then the terms.

    Attributes
    ----------
    terms : tuple of SmoothTerm
        The terms in order.
    groups : ndarray of int (p,)
        Penalty group of each column; -1 for the constant, which is not penalised.
    blocks : ndarray of int (p,)
        Term of each column; -1 for the constant.
    """

    terms: tuple[SmoothTerm, ...]
    groups: IntArray
    blocks: IntArray

    def columns(self, X: FloatArray) -> FloatArray:
        """Columns Z (n, p) at positions X (n, d)."""
        return np.column_stack([np.ones(X.shape[0]), *(term.columns(X) for term in self.terms)])


@final
@dataclass(frozen=True)
class LinearColumns:
    """The columns of a linear class, without terms of their own: for a link."""

    design: Design

    @property
    def terms(self) -> tuple[SmoothTerm, ...]:
        """None."""
        return ()

    @property
    def groups(self) -> IntArray:
        """One penalty for all slopes, none for the intercept, (p,)."""
        slopes = np.zeros(self.design.spread.size, dtype=np.int64)
        return np.concatenate([[-1], slopes]) if self.design.intercept else slopes

    @property
    def blocks(self) -> IntArray:
        """As :attr:`groups`."""
        return self.groups

    def columns(self, X: FloatArray) -> FloatArray:
        """Columns Z (n, p) at positions X (n, d)."""
        return self.design.columns(X)


def smooth_design(
    spec: Smooth,
    X: FloatArray,
    names: Sequence[str] | None = None,
    categories: Sequence[tuple[str, tuple[int, ...]]] = (),
) -> SmoothDesign:
    """Choose knots and bases by the rows.

    Parameters
    ----------
    spec : Smooth
        What is asked for; "auto" has no interactions before there is a fit to test them at.
    X : ndarray (n, d)
        Positions of the rows.
    names : sequence of str, optional
        Names of the columns; x0, x1, … by default.
    categories : sequence of (str, tuple of int)
        Name of each categorical column and where its indicators stand, the first level's left out.

    Examples
    --------
    >>> design = smooth_design(Smooth(), np.linspace(0, 1, 100)[:, None])
    >>> [term.name for term in design.terms], design.columns(np.zeros((1, 1))).shape
    (['s(x0)'], (1, 13))
    """
    n, d = X.shape
    labels = [f"x{j}" for j in range(d)] if names is None else list(names)
    taken = {place for _, places in categories for place in places}
    numeric = [j for j in range(d) if j not in taken]
    intervals = spec.n_knots
    if intervals == "auto":
        most = 40 if len(numeric) <= 1 else max(6, min(15, 120 // len(numeric)))
        intervals = int(np.clip(np.sqrt(n), 5, most))
    else:
        intervals = _check.integer("n_knots", intervals, low=1)
    own = {j: own_term(labels[j], j, X[:, j], intervals) for j in numeric}
    terms: list[SmoothTerm] = [term for term in own.values() if term is not None]
    for label, places in categories:
        if not places:  # a single level says nothing
            continue
        bare = LevelsTerm(label, tuple(places), np.zeros(len(places) + 1))
        terms.append(LevelsTerm(label, tuple(places), bare.columns(X).mean(axis=0)))
    for a, b in _pairs(spec.interactions, numeric):
        one, two = own[a], own[b]
        if one is not None and two is not None:
            terms.append(interaction(one, two, X))
    return smooth_terms(terms)


def smooth_terms(terms: Sequence[SmoothTerm]) -> SmoothDesign:
    """Return the class that is the sum of a constant and some terms."""
    groups, blocks, used = [np.array([-1])], [np.array([-1])], 0
    for at, term in enumerate(terms):
        inner = term.groups
        groups.append(inner + used)
        blocks.append(np.full(inner.size, at))
        used += int(inner.max()) + 1
    return SmoothDesign(tuple(terms), np.concatenate(groups), np.concatenate(blocks))


def _pairs(
    wanted: bool | str | Sequence[tuple[int, int]], numeric: list[int]
) -> list[tuple[int, int]]:
    if isinstance(wanted, str):
        _check.choice("interactions", wanted, ("auto",))
        return []
    if isinstance(wanted, bool):
        return list(combinations(numeric, 2)) if wanted else []
    for pair in wanted:
        if len(pair) != 2 or pair[0] == pair[1] or not set(pair) <= set(numeric):
            raise ValueError(
                f"interactions must be pairs of different numeric columns of {numeric}, got {pair}"
            )
    return [(int(a), int(b)) for a, b in wanted]
