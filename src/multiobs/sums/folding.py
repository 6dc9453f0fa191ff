r"""Powers of the prediction as further labels: sums of high degree where features are many.

A term :math:`h(y_t)\,(v \cdot \tilde z_t)^j\, \tilde z_t^{\otimes k}` has as many entries as the
k-th power of the features, but written out in all features it needs their (j + k)-th.  The numbers
:math:`v \cdot z_i` of the rows are known: with them as one more column of labels the term is a
kernel times :math:`\tilde z_t^{\otimes k}` again.
"""

from collections.abc import Sequence

from multiobs.statistics.kernels import Monomials


def folded(kernel: Monomials, powers: Sequence[int]) -> Monomials:
    """Return the kernel times powers of the means, over a tuple, of further columns of labels.

    Parameters
    ----------
    kernel : Monomials
        The function h of the labels.
    powers : sequence of int
        The power of each further column.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs.statistics.kernels import moment
    >>> product = folded(moment(1) * moment(1), (2,))
    >>> product(np.array([[[1.0, 10.0], [3.0, 20.0]]]))  # 1 · 3 · 15²
    array([675.])
    """
    m, s = kernel.arity, kernel.n_columns
    terms: dict[tuple[tuple[int, ...], ...], float] = {}
    for factors, coefficient in kernel.terms.items():
        none = ((0,) * s,) * (m - len(factors))
        grown = {tuple((*e, *(0,) * len(powers)) for e in (*factors, *none)): coefficient}
        for column, power in enumerate(powers):
            for _ in range(power):
                grown = _times_mean(grown, s + column)
        for term, value in grown.items():
            terms[term] = terms.get(term, 0.0) + value
    return Monomials(terms, m, s + len(powers))


def _times_mean(
    terms: dict[tuple[tuple[int, ...], ...], float], column: int
) -> dict[tuple[tuple[int, ...], ...], float]:
    """Multiply products over the members of a tuple by their mean of a column."""
    out: dict[tuple[tuple[int, ...], ...], float] = {}
    for members, value in terms.items():
        for a, exponent in enumerate(members):
            raised = (*exponent[:column], exponent[column] + 1, *exponent[column + 1 :])
            term = (*members[:a], raised, *members[a + 1 :])
            out[term] = out.get(term, 0.0) + value / len(members)
    return out


def added(parts: Sequence[tuple[float, Monomials]]) -> Monomials:
    """Return the sum of kernels of the same labels, each times a number."""
    terms: dict[tuple[tuple[int, ...], ...], float] = {}
    for factor, kernel in parts:
        for term, value in kernel.terms.items():
            terms[term] = terms.get(term, 0.0) + factor * value
    first = parts[0][1]
    return Monomials(terms, first.arity, first.n_columns)
