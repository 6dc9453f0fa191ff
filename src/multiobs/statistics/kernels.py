"""Symmetric functions of m observations.

A kernel takes labels ``Y`` of shape (t, m), or (t, m, s) when a label has s columns, and
returns one number per tuple.  Its type says which exact sum can be formed without listing
tuples (see :func:`multiobs.plan`).
"""

from collections.abc import Callable, Mapping, Sequence
from math import perm
from typing import final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._check.functions import answer
from multiobs._types import FloatArray, IntArray
from multiobs.native.window_sums import stable_sort
from multiobs.statistics.base import Kernel as Kernel  # its users look for it here
from multiobs.statistics.base import ListedKernel
from multiobs.statistics.base import refuse_no_kernel as refuse_no_kernel
from multiobs.statistics.distinct import Exponent, distinct_sum

Term = tuple[Exponent, ...]  # the nonzero exponents of distinct members, sorted


MOST_POWER = 200  # of an observation: powers beyond overflow for any data


def as_members(Y: FloatArray, n_columns: int) -> FloatArray:
    """View labels as (t, m, s), whichever of the two accepted shapes they have."""
    return Y[:, :, None] if Y.ndim == 2 and n_columns == 1 else Y


@final
class Monomials(Kernel):
    r"""A polynomial in the moments of Y, as the symmetric kernel that is unbiased for it.

    :math:`\sum_e c_e \prod_a \mathbb{E}[Y^{e_a}]` has the kernel
    :math:`h(y_1..y_m) = \sum_e c_e\,\mathrm{avg}_\sigma \prod_a y_{\sigma(a)}^{e_a}`, the
    average running over assignments of the factors to distinct members.  Kernels are built
    from :func:`moment` with ``+ - *``; a product stands for independent observations.

    Parameters
    ----------
    terms : mapping
        Coefficient of each product of moments; a product is a tuple of exponents.
    arity : int, optional
        Number of observations, at least the longest product (the default).
    n_columns : int
        Columns of one observation.

    Examples
    --------
    >>> variance = moment(2) - moment(1) * moment(1)
    >>> variance(np.array([[1.0, 3.0], [5.0, 5.0]]))
    array([2., 0.])
    >>> variance.arity, variance.shift_invariant
    (2, True)
    """

    def __init__(
        self, terms: Mapping[Term, float], arity: int | None = None, n_columns: int = 1
    ) -> None:
        cleaned: dict[Term, float] = {}
        for factors, coefficient in terms.items():
            term = tuple(sorted((e for e in factors if any(e)), reverse=True))
            cleaned[term] = cleaned.get(term, 0.0) + float(coefficient)
        self.terms: dict[Term, float] = {t: c for t, c in sorted(cleaned.items()) if c != 0.0}
        longest = max((len(term) for term in self.terms), default=0)
        self.arity = max(longest, 1) if arity is None else arity
        if self.arity < longest:
            raise ValueError(f"arity must be at least {longest} for these terms, got {arity}")
        self.n_columns = n_columns
        self.homogeneity = max((sum(map(sum, term)) for term in self.terms), default=0)

    @property
    def polynomial(self) -> "Monomials | None":
        return self

    @property
    def ranked(self) -> "OrderStatistic | None":
        return None

    @property
    def among_equals(self) -> "Monomials | None":
        return None

    @property
    def constant(self) -> float | None:
        """The number that it is whatever the observations are, None where they matter."""
        return None if any(self.terms) else self.terms.get((), 0.0)

    @property
    def shift_invariant(self) -> bool:
        """Whether adding a constant to every observation changes nothing."""
        for column in range(self.n_columns):
            slope: dict[Term, float] = {}
            for term, coefficient in self.terms.items():
                for a, exponent in enumerate(term):
                    power = exponent[column]
                    if power == 0:
                        continue
                    lowered = tuple(e - (c == column) for c, e in enumerate(exponent))
                    rest = tuple(
                        sorted(
                            (e for e in (*term[:a], lowered, *term[a + 1 :]) if any(e)),
                            reverse=True,
                        )
                    )
                    slope[rest] = slope.get(rest, 0.0) + power * coefficient
            size = sum(abs(c) for c in self.terms.values())
            if any(abs(value) > 1e-12 * size for value in slope.values()):
                return False
        return True

    def with_arity(self, arity: int) -> "Monomials":
        """Return the same polynomial seen as a kernel of more observations."""
        return Monomials(self.terms, arity, self.n_columns)

    def __call__(self, Y: FloatArray) -> FloatArray:
        members = as_members(Y, self.n_columns)
        if self.shift_invariant:  # differences are exact where power sums would cancel
            at = self.arity // 2 if self.arity > 2 else 0  # a middle one: not an odd one out
            members = members - (np.partition(members, at, axis=1) if at else members)[:, at, None]
        m = self.arity
        sums: dict[tuple[int, Exponent], FloatArray] = {}
        out = np.zeros(members.shape[0])
        for term, coefficient in self.terms.items():
            share = coefficient / perm(m, len(term))
            for factor, blocks in distinct_sum(tuple((1, e) for e in term)):
                product = np.full(members.shape[0], share * factor)
                for block in blocks:
                    if block not in sums:
                        sums[block] = _over_members(members, block[1])
                    product *= sums[block]
                out += product
        return out

    def __add__(self, other: "Monomials | float") -> "Monomials":
        right = self._coerce(other)
        terms = dict(self.terms)
        for term, coefficient in right.terms.items():
            terms[term] = terms.get(term, 0.0) + coefficient
        return Monomials(terms, max(self.arity, right.arity), self.n_columns)

    def __sub__(self, other: "Monomials | float") -> "Monomials":
        return self + self._coerce(other) * -1.0

    def __mul__(self, factor: "float | Monomials") -> "Monomials":
        if not isinstance(factor, Monomials):
            scaled = {term: c * float(factor) for term, c in self.terms.items()}
            return Monomials(scaled, self.arity, self.n_columns)
        terms: dict[Term, float] = {}
        for left, a in self.terms.items():
            for right, b in factor.terms.items():
                term = tuple(sorted(left + right, reverse=True))
                terms[term] = terms.get(term, 0.0) + a * b
        return Monomials(terms, None, self.n_columns)

    __rmul__ = __mul__

    def _coerce(self, other: "Monomials | float") -> "Monomials":
        if isinstance(other, Monomials):
            return other
        return Monomials({(): float(other)}, 1, self.n_columns)

    def __repr__(self) -> str:
        def shown(term: Term) -> str:
            names = ["m" + ",".join(str(p) for p in e) for e in term]
            return "*".join(names) or "1"

        body = " ".join(f"{c:+g}*{shown(t)}" for t, c in self.terms.items())
        return f"Monomials({body or '0'}, arity={self.arity})"


def moment(*exponent: int) -> Monomials:
    r"""Moment :math:`\mathbb{E}[\prod_c Y_c^{e_c}]` as a kernel of one observation.

    Parameters
    ----------
    *exponent : int
        e_c, one for each column of y.

    Examples
    --------
    >>> moment(2)(np.array([[3.0]]))
    array([9.])
    """
    if not exponent:
        raise ValueError("a moment must have an exponent for each column of y, got none")
    powers_ = tuple(_check.integer("exponent", each, low=0) for each in exponent)
    if sum(powers_) > MOST_POWER:
        raise ValueError(f"exponent must be at most {MOST_POWER}, got {sum(powers_)}")
    return Monomials({(powers_,): 1.0}, 1, len(powers_))


def constant(value: float, arity: int, n_columns: int = 1) -> Monomials:
    """Kernel that is ``value`` whatever the observations are."""
    return Monomials({(): value}, arity, n_columns)


def powers(values: FloatArray, exponent: Exponent) -> FloatArray:
    """Product over the last axis of ``values`` to the powers of ``exponent``."""
    columns = [values[..., c] for c, power in enumerate(exponent) for _ in range(power)]
    if not columns:
        return np.ones(values.shape[:-1])
    out = columns[0].copy()
    for column in columns[1:]:  # repeated products: exact for small integers, and quick
        out *= column
    return out


def _over_members(members: FloatArray, exponent: Exponent) -> FloatArray:
    """Sum over the members (t, m, s) of the monomial, (t,)."""
    total = powers(members[:, 0], exponent)
    for k in range(1, members.shape[1]):  # numpy is slow along short axes
        total += powers(members[:, k], exponent)
    return total


@final
class OrderStatistic(Kernel):
    r"""Linear combination of the order statistics, :math:`\sum_r c_r y_{(r)}`.

    Parameters
    ----------
    coefs : sequence of float
        c_r, from the smallest label to the largest; their number is the arity.

    Examples
    --------
    >>> OrderStatistic([1.0, 0.0, 0.0])(np.array([[3.0, 1.0, 2.0]]))
    array([1.])
    """

    def __init__(self, coefs: Sequence[float] | FloatArray) -> None:
        self.coefs = _check.finite("coefs", coefs)
        if self.coefs.size == 0:
            raise ValueError("coefs must name at least one order statistic, got none")
        if self.coefs.ndim != 1:
            raise ValueError(f"coefs must be a row of numbers, got shape {self.coefs.shape}")
        self.arity = int(self.coefs.size)
        self.n_columns = self.homogeneity = 1

    @property
    def polynomial(self) -> "Monomials | None":
        return None

    @property
    def ranked(self) -> "OrderStatistic | None":
        return self

    @property
    def among_equals(self) -> "Monomials | None":
        return None

    @property
    def shift_invariant(self) -> bool:
        """Whether adding a constant to every observation changes nothing."""
        return bool(abs(self.coefs.sum()) <= 1e-12 * np.abs(self.coefs).sum())

    def __call__(self, Y: FloatArray) -> FloatArray:
        ordered = np.sort(Y.reshape(Y.shape[0], self.coefs.size), axis=1)
        if self.shift_invariant:  # sums of gaps, so that an offset costs nothing
            gaps = np.diff(ordered, axis=1)
            above = np.cumsum(self.coefs[::-1])[::-1][1:]
            return np.asarray(gaps @ above)
        return np.asarray(ordered @ self.coefs)

    def __mul__(self, factor: float) -> "OrderStatistic":
        return OrderStatistic(self.coefs * float(factor))

    def __repr__(self) -> str:
        return f"OrderStatistic({self.coefs.tolist()})"


@final
class Equality(Kernel):
    """``scale`` when all observations are equal, else 0.

    Parameters
    ----------
    arity : int
        The number m of observations.
    scale : float
        The value when they are equal.

    Examples
    --------
    >>> Equality(2)(np.array([[1.0, 1.0], [1.0, 2.0]]))
    array([1., 0.])
    """

    def __init__(self, arity: int, scale: float = 1.0) -> None:
        self.arity = _check.integer("arity", arity, low=1)
        self.n_columns, self.homogeneity = 1, 0
        self.scale = _check.real("scale", scale)

    @property
    def polynomial(self) -> "Monomials | None":
        return None

    @property
    def ranked(self) -> "OrderStatistic | None":
        return None

    @property
    def among_equals(self) -> Monomials:
        return constant(self.scale, self.arity)

    def __call__(self, Y: FloatArray) -> FloatArray:
        flat = Y.reshape(Y.shape[0], self.arity)
        return np.asarray(self.scale * np.all(flat == flat[:, :1], axis=1), dtype=np.float64)

    def __mul__(self, factor: float) -> "Equality":
        return Equality(self.arity, self.scale * float(factor))

    def __repr__(self) -> str:
        return f"Equality(arity={self.arity}, scale={self.scale:g})"


@final
class Opaque(ListedKernel):
    """Any vectorised symmetric function; its sums are enumerated in bounded chunks.

    Parameters
    ----------
    function : callable
        From labels (t, m) or (t, m, s) to (t,).
    arity, n_columns : int
        The numbers m and s.

    Examples
    --------
    >>> Opaque(lambda Y: Y.max(axis=1) - Y.min(axis=1), arity=3)(np.array([[1.0, 4.0, 2.0]]))
    array([3.])
    """

    def __init__(
        self,
        function: Callable[[FloatArray], npt.ArrayLike],
        arity: int,
        n_columns: int = 1,
        scale: float = 1.0,
    ) -> None:
        if not callable(function):
            raise TypeError(f"function must be one of labels (t, m), got {_check.shown(function)}")
        self.function = function
        self.arity = _check.integer("arity", arity, low=1)
        self.n_columns = _check.integer("n_columns", n_columns, low=1)
        self.homogeneity = 0
        self.scale = _check.real("scale", scale)

    def __call__(self, Y: FloatArray) -> FloatArray:
        values = _check.numbers("values of a kernel", answer("a kernel", self.function, Y))
        if values.shape != (Y.shape[0],):
            raise ValueError(
                f"a kernel must return one number per tuple, shape ({Y.shape[0]},), "
                f"got shape {values.shape}"
            )
        return values if self.scale == 1.0 else self.scale * values

    def __mul__(self, factor: float) -> "Opaque":
        return Opaque(self.function, self.arity, self.n_columns, self.scale * float(factor))

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"Opaque({name}, arity={self.arity})"


@final
class Square(ListedKernel):
    """Another kernel squared: the constant of a squared loss, which only scores need."""

    def __init__(self, psi: Kernel, scale: float = 1.0) -> None:
        self.psi = psi
        self.arity, self.n_columns = psi.arity, psi.n_columns
        self.homogeneity = 2 * psi.homogeneity
        self.scale = float(scale)

    def __call__(self, Y: FloatArray) -> FloatArray:
        return self.scale * self.psi(Y) ** 2

    def __mul__(self, factor: float) -> "Square":
        return Square(self.psi, self.scale * float(factor))


def same_category(values: FloatArray) -> IntArray:
    """Codes 0, 1, … of equal rows of ``values`` (n,) or (n, s)."""
    if values.ndim == 1 or values.shape[1] == 1:  # numbers sort faster than rows
        order, ordered = stable_sort(values.reshape(-1))
        codes: IntArray = np.empty(order.size, dtype=np.int64)
        codes[order[:1]] = 0
        codes[order[1:]] = np.cumsum(ordered[1:] != ordered[:-1])
        return codes
    _, found = np.unique(values, axis=0, return_inverse=True)
    return np.asarray(found.reshape(-1), dtype=np.int64)
