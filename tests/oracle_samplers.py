"""The samplers of the oracle: from x to listed tuples, by loops; see oracle.py."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product
from math import floor


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
