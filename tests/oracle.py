"""The obvious way to compute everything: itertools and loops.

Nothing here is shared with the package.  Numbers may be floats or Fractions; with Fractions every
sum is exact.  A listed tuple is a pair (members, representative): row numbers, and the row whose x
stands for the tuple or None for the mean of the members.  Labels are numbers, or lists of numbers
when a label has several columns.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from math import factorial, fsum, prod

from oracle_samplers import (  # noqa: F401 (part of the oracle)
    adjacent,
    as_multiset,
    ball,
    disjoint,
    greedy_matching,
    improved,
    in_order,
    matching_size,
    naive,
    nearby,
    nearest,
    replicates,
    rows_by_group,
    sliding,
    sliding_over_orders,
    squared_distance,
)

# ---------------------------------------------------------------- numbers


def exact(values):
    """Nested lists of floats as Fractions."""
    if isinstance(values, list | tuple):
        return [exact(each) for each in values]
    return Fraction(values)


# ---------------------------------------------------------------- kernels: functions of m labels


def symmetric(function):
    """Average of a function of m labels over all their orders."""

    def kernel(*ys):
        return sum(function(*order) for order in permutations(ys)) / factorial(len(ys))

    return kernel


def mean(a):
    return a


def variance(a, b):
    return (a - b) * (a - b) / 2


def covariance(p, q):
    return (p[0] - q[0]) * (p[1] - q[1]) / 2


def first_of_two(a, b):
    return (a + b) / 2


def product_of_two(a, b):
    return a * b


def _third(a, b, c):
    return a**3 - 3 * a**2 * b + 2 * a * b * c


third_moment = symmetric(_third)
fourth_moment = symmetric(
    lambda a, b, c, d: a**4 - 4 * a**3 * b + 6 * a**2 * b * c - 3 * a * b * c * d
)
fourth_cumulant = symmetric(
    lambda a, b, c, d: a**4 - 4 * a**3 * b - 3 * a**2 * b**2 + 12 * a**2 * b * c - 6 * a * b * c * d
)
variance_squared = symmetric(lambda a, b, c, d: (a - b) ** 2 * (c - d) ** 2 / 4)
third_squared = symmetric(lambda a, b, c, d, e, f: _third(a, b, c) * _third(d, e, f))
variance_cubed = symmetric(lambda a, b, c, d, e, f: (a - b) ** 2 * (c - d) ** 2 * (e - f) ** 2 / 8)


def difference(a, b):
    return abs(a - b)


def minimum(*ys):
    return min(ys)


def maximum(*ys):
    return max(ys)


def l_moment(*ys):
    """Hosking's: order 1 to 4 written out."""
    s = sorted(ys)
    if len(s) == 1:
        return s[0]
    if len(s) == 2:
        return (s[1] - s[0]) / 2
    if len(s) == 3:
        return (s[2] - 2 * s[1] + s[0]) / 3
    return (s[3] - 3 * s[2] + 3 * s[1] - s[0]) / 4


def equal(a, b):
    return 1 if a == b else 0


def concordance(p, q):
    u, v = p[0] - q[0], p[1] - q[1]
    return ((u > 0) - (u < 0)) * ((v > 0) - (v < 0))


def one(*ys):
    return 1


def times(factor, kernel):
    return lambda *ys: factor * kernel(*ys)


def ucb_constant(lam):
    """Term free of r of minus the identification function: y1 y2 - lam²/2 (y1-y2)²."""
    return lambda a, b: a * b - lam * lam * (a - b) * (a - b) / 2


def negative_sum(a, b):
    return -(a + b)


def skewness_constant(*ys):
    return -third_squared(*ys)


# ---------------------------------------------------------------- sums


def tuple_weight(members, weight):
    return 1 if weight is None else prod(weight[i] for i in members)


def representative(Z, members, rep):
    """Features of the representative: its own row, or the mean of the members."""
    if rep is not None:
        return list(Z[rep])
    return [sum(Z[i][c] for i in members) / len(members) for c in range(len(Z[0]))]


def terms(listed, kernel, Z, y, weight=None):
    """For each tuple: its weight times h(y_t), and z~."""
    return [
        (
            tuple_weight(members, weight) * kernel(*(y[i] for i in members)),
            representative(Z, members, rep),
        )
        for members, rep in listed
    ]


def power_sum(listed_terms, p, k):
    """Sum of h z~^{⊗k} as a dict from index to number."""
    unique = list(combinations_with_replacement(range(p), k))  # the tensor is symmetric
    total = {entry: sum(h * prod(z[c] for c in entry) for h, z in listed_terms) for entry in unique}
    return {entry: total[tuple(sorted(entry))] for entry in product(range(p), repeat=k)}


def contract(listed, kernel, Z, y, k, weight=None):
    """Sum of h(y_t) z~^{⊗k} as a dict from index to number."""
    return power_sum(terms(listed, kernel, Z, y, weight), len(Z[0]), k)


def solve_linear(A, b):
    """Gaussian elimination, exact for Fractions."""
    A = [[Fraction(v) for v in row] + [Fraction(e)] for row, e in zip(A, b, strict=True)]
    n = len(A)
    for c in range(n):
        pivot = max(range(c, n), key=lambda r: abs(A[r][c]))
        A[c], A[pivot] = A[pivot], A[c]
        for r in range(n):
            if r != c:
                factor = A[r][c] / A[c][c]
                A[r] = [u - factor * v for u, v in zip(A[r], A[c], strict=True)]
    return [A[r][n] / A[r][r] for r in range(n)]


def least_squares(rows, target, importance):
    """Minimiser of sum of importance (w.z - target)² by the normal equations."""
    p = len(rows[0])
    add = fsum if isinstance(target[0], float) else sum
    A = [
        [add(v * z[a] * z[b] for z, v in zip(rows, importance, strict=True)) for b in range(p)]
        for a in range(p)
    ]
    b = [
        add(v * z[a] * t for z, t, v in zip(rows, target, importance, strict=True))
        for a in range(p)
    ]
    return solve_linear(A, b)


def fit_ratio(listed, psi, chi, Z, y, weight=None):
    """Minimiser over w of the sum of chi r² - 2 psi r, with r = w.z~ (chi = 1: a mean)."""
    p = len(Z[0])
    A, b = contract(listed, chi, Z, y, 2, weight), contract(listed, psi, Z, y, 1, weight)
    return solve_linear(
        [[A[i, j] for j in range(p)] for i in range(p)], [b[(i,)] for i in range(p)]
    )


def quartic(listed, parts, Z, y, level, weight=None):
    """Value and gradient in w of the sum of ∫ (r - c)(a r² + b r + d) dr, c = level.z~."""
    rows = []
    for members, rep in listed:
        ys = [y[i] for i in members]
        z = representative(Z, members, rep)
        d, b, a = (kernel(*ys) for kernel in parts)
        c = sum(u * v for u, v in zip(level, z, strict=True))
        rows.append((tuple_weight(members, weight), z, d, b, a, c))

    def value(w):
        total = []
        for v, z, d, b, a, c in rows:
            r = sum(u * e for u, e in zip(w, z, strict=True))
            total.append(
                v * (a * r**4 / 4 + (b - a * c) * r**3 / 3 + (d - b * c) * r**2 / 2 - c * d * r)
            )
        return fsum(total)

    def gradient(w):
        slopes = [[] for _ in w]
        for v, z, d, b, a, c in rows:
            r = sum(u * e for u, e in zip(w, z, strict=True))
            s = v * (r - c) * (a * r * r + b * r + d)
            for slope, e in zip(slopes, z, strict=True):
                slope.append(s * e)
        return [fsum(slope) for slope in slopes]

    return value, gradient


def label_use(listed, n):
    use = [0] * n
    for members, _ in listed:
        for i in members:
            use[i] += 1
    return use
