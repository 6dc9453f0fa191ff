"""Truncated power series in p formal variables, one array of coefficients per monomial.

A row with features u enters a sum over tuples as exp(ζ·u); the product over the members of a
tuple is then exp(ζ·Σu), whose terms of degree k are the k-th tensor power of m x~.  So every
moment tensor is read off the coefficients of a product of series.
"""

from functools import cache
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from multiobs._types import FloatArray

Index = tuple[int, ...]
Series = list[FloatArray]  # coefficients in the order of ``monomials(p, degree)``


@cache
def monomials(p: int, degree: int) -> tuple[Index, ...]:
    """Exponents of all monomials in p variables up to a degree, by degree.

    >>> monomials(2, 1)
    ((0, 0), (1, 0), (0, 1))
    """
    out: list[Index] = []
    for total in range(degree + 1):
        for chosen in combinations_with_replacement(range(p), total):
            out.append(tuple(chosen.count(v) for v in range(p)))
    return tuple(out)


@cache
def position(p: int, degree: int) -> dict[Index, int]:
    """Where each monomial stands in a series."""
    return {alpha: i for i, alpha in enumerate(monomials(p, degree))}


@cache
def products(p: int, degree: int) -> tuple[tuple[int, int, int], ...]:
    """Pairs of coefficients that survive truncation, and the coefficient they add to."""
    where, every = position(p, degree), monomials(p, degree)
    # monomials come by degree: those that a given one survives with come first
    first = [sum(sum(alpha) <= most for alpha in every) for most in range(degree + 1)]
    out = []
    for i, alpha in enumerate(every):
        for j, beta in enumerate(every[: first[degree - sum(alpha)]]):
            gamma = tuple(a + b for a, b in zip(alpha, beta, strict=True))
            out.append((i, j, where[gamma]))
    return tuple(out)


@cache
def exp_weights(p: int, degree: int, times: int) -> tuple[float, ...]:
    """Coefficients of exp(times · ζ·u) apart from the powers of u: times^|α| / α!."""
    return tuple(
        float(times) ** sum(alpha) / prod(factorial(a) for a in alpha)
        for alpha in monomials(p, degree)
    )


def multiply(left: Series, right: Series, p: int, degree: int) -> Series:
    """Product of two series, truncated."""
    out: list[FloatArray | None] = [None] * len(monomials(p, degree))
    for i, j, k in products(p, degree):
        term = left[i] * right[j]
        held = out[k]
        out[k] = term if held is None else np.add(held, term, out=held)
    return [each for each in out if each is not None]


def powers_of(U: FloatArray, degree: int) -> list[FloatArray]:
    """u^α for every monomial up to a degree; U has shape (rows, p)."""
    p = U.shape[1]
    where = position(p, degree)
    out: list[FloatArray] = []
    for alpha in monomials(p, degree):
        if not any(alpha):
            out.append(np.ones(U.shape[0]))
            continue
        v = next(i for i, a in enumerate(alpha) if a)
        lower = tuple(a - (i == v) for i, a in enumerate(alpha))
        base = U[:, v]
        out.append(base * out[where[lower]] if any(lower) else base.copy())
    return out
