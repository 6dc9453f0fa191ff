"""The obvious way to compute everything: itertools and loops.

Nothing here is shared with the package.  Numbers may be floats or Fractions; with Fractions every
sum is exact.  A listed tuple is a pair (members, representative): row numbers, and the row whose x
stands for the tuple or None for the mean of the members.  Labels are numbers, or lists of numbers
when a label has several columns.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product
from math import factorial, floor, fsum, prod

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


# ---------------------------------------------------------------- samplers: x to listed tuples


def rows_by_group(n, groups):
    if groups is None:
        return [list(range(n))]
    return [[i for i in range(n) if groups[i] == g] for g in sorted(set(groups))]


def in_order(X, rows):
    """Rows by x, ties by row number (Python's sort is stable)."""
    return sorted(rows, key=lambda i: X[i][0])


def squared_distance(p, q):
    return sum((a - b) ** 2 for a, b in zip(p, q, strict=True))


def sliding(X, m, groups=None):
    found = []
    for rows in rows_by_group(len(X), groups):
        line = in_order(X, rows)
        found += [(tuple(line[i : i + m]), None) for i in range(len(line) - m + 1)]
    return found


def sliding_over_orders(X, m, groups=None):
    """Mean over all orders of the ties of how many windows each set of m rows is."""
    found = {}
    for rows in rows_by_group(len(X), groups):
        ties = {}
        for i in rows:
            ties.setdefault(X[i][0], []).append(i)
        orders = list(product(*(list(permutations(ties[x])) for x in sorted(ties))))
        for parts in orders:
            line = [i for part in parts for i in part]
            for i in range(len(line) - m + 1):
                key = tuple(sorted(line[i : i + m]))
                found[key] = found.get(key, 0) + Fraction(1, len(orders))
    return found


def adjacent(X, m, k, groups=None):
    """Each row with those after it until k rows beyond its own ties, ties of the last included."""
    found = []
    for rows in rows_by_group(len(X), groups):
        line = in_order(X, rows)
        x = [X[i][0] for i in line]
        for i in range(len(line)):
            ties = sum(value == x[i] for value in x)
            if ties > k:
                window = [j for j in range(i + 1, len(line)) if x[j] == x[i]]
            else:
                beyond = [value for value in x if value > x[i]]
                most = beyond[:k][-1] if beyond and k else x[i]
                window = [j for j in range(i + 1, len(line)) if x[j] <= most]
            for rest in combinations(window, m - 1):
                found.append((tuple(line[j] for j in (i, *rest)), None))
    return found


def disjoint(X, m, groups=None):
    found = []
    for rows in rows_by_group(len(X), groups):
        line = in_order(X, rows)
        found += [(tuple(line[i : i + m]), None) for i in range(0, len(line) - m + 1, m)]
    return found


def nearby(X, m, epsilon, groups=None):
    """One column: all m-subsets whose first and last x differ by at most epsilon."""
    found = []
    for rows in rows_by_group(len(X), groups):
        line = in_order(X, rows)
        for chosen in combinations(line, m):
            if all(X[j][0] - X[chosen[0]][0] <= epsilon for j in chosen):
                found.append((chosen, None))
    return found


def ball(X, m, epsilon, groups=None):
    """Several columns: every row with all (m-1)-subsets of the rows within epsilon of it."""
    found = []
    for rows in rows_by_group(len(X), groups):
        for i in rows:
            near = [j for j in rows if j != i and squared_distance(X[i], X[j]) <= epsilon * epsilon]
            found += [((i, *rest), None) for rest in combinations(near, m - 1)]
    return found


def nearest(X, m, k, groups=None):
    """Every row with all (m-1)-subsets of those as near as its k-th nearest other row."""
    found = []
    for rows in rows_by_group(len(X), groups):
        for i in rows:
            gaps = sorted(squared_distance(X[i], X[j]) for j in rows if j != i)
            radius = gaps[min(k, len(gaps)) - 1] if gaps else 0
            near = [j for j in rows if j != i and squared_distance(X[i], X[j]) <= radius]
            found += [((i, *rest), None) for rest in combinations(near, m - 1)]
    return found


def replicates(X, m, groups=None):
    found = []
    for rows in rows_by_group(len(X), groups):
        for chosen in combinations(rows, m):
            if all(list(X[j]) == list(X[chosen[0]]) for j in chosen):
                found.append((chosen, None))
    return found


def naive(X, m, n=None, groups=None):
    """Algorithm 1: n representatives, fresh candidates for each, the m nearest of them."""
    found = []
    for rows in rows_by_group(len(X), groups):
        total, d = len(rows), len(X[0])
        size = n
        if size is None:
            size = min(max(floor((total / m) ** (2 / (d + 3))), 1), total // (m + 1))
        if size == 0:
            continue
        per = (total - size) // size
        for a in range(size):
            candidates = rows[size + a * per : size + (a + 1) * per]
            close = sorted(candidates, key=lambda j, a=a: squared_distance(X[j], X[rows[a]]))
            if per >= m:
                found.append((tuple(close[:m]), rows[a]))
    return found


def greedy_matching(points, candidates, epsilon):
    """Point numbers to candidate numbers, one column: leftmost point, leftmost free candidate."""
    free = sorted(range(len(candidates)), key=lambda j: candidates[j][0])
    matched = {}
    for i in sorted(range(len(points)), key=lambda i: points[i][0]):
        for j in free:
            if abs(points[i][0] - candidates[j][0]) <= epsilon:
                matched[i] = j
                free.remove(j)
                break
    return matched


def matching_size(points, candidates, epsilon):
    """Size of a maximum matching, by augmenting paths."""
    near = [
        [j for j, c in enumerate(candidates) if squared_distance(p, c) <= epsilon * epsilon]
        for p in points
    ]
    partner = {}

    def augment(i, seen):
        for j in near[i]:
            if j in seen:
                continue
            seen.add(j)
            if j not in partner or augment(partner[j], seen):
                partner[j] = i
                return True
        return False

    return sum(augment(i, set()) for i in range(len(points)))


def improved(X, m, epsilon, own_label=True, groups=None):
    """Algorithm 2 on a fixed data set, one column, n by the appendix's binary search."""
    batches = m - 1 if own_label else m
    found = []
    for rows in rows_by_group(len(X), groups):
        points = [X[i] for i in rows]

        def parts(n, rows=rows):
            per = (len(rows) - n) // max(batches, 1)
            return [list(range(n + b * per, n + (b + 1) * per)) for b in range(batches)]

        def perfect(n, points=points, parts=parts):
            return all(
                matching_size(points[:n], [points[j] for j in part], epsilon) == n
                for part in parts(n)
            )

        low, high = 0, len(rows) // (batches + 1)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if perfect(middle) else (low, middle - 1)
        columns = [list(range(low))] if own_label else []
        for part in parts(low):
            matched = greedy_matching(points[:low], [points[j] for j in part], epsilon)
            columns.append([part[matched[i]] for i in range(low)])
        found += [(tuple(rows[c[i]] for c in columns), rows[i]) for i in range(low)]
    return found


def as_multiset(listed):
    """Tuples whatever their order, and the order of their members, are."""
    return Counter((tuple(sorted(members)), rep) for members, rep in listed)


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
