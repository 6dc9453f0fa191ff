"""One small data set, fitted by the package and in exact fractions: every digit is known.

All statistics x samplers x weights x groups x ties x offsets x types of numbers, drawn by number.
What is compared, each to ``RTOL`` of the sum of the absolute values of its terms: the contractions
of the kernels by both branches, the gradient of the empirical risk at some coefficients, and the
predictions of the fitted line.

Where these terms are themselves what is left of larger ones, nothing computed in floats is as
exact as that, and the yardstick is the forward error bound of a sum (Higham, Accuracy and Stability
of Numerical Algorithms, 4.2): N products a are summed to within N u Σ|a|.  It is stated once, in
:mod:`differential.rounding`, for kernels and for normal equations, and holds for every case alike.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from typing import Any

import numpy as np
import oracle
from differential import rounding
from tables import SAMPLERS, STATISTICS, draw_labels, draw_positions

from multiobs import MultiObservationRegressor, contract, empirical_risk
from multiobs.fit.solvers import Status

RTOL = 1e-9
Listed = list[tuple[tuple[int, ...], int | None, Fraction]]  # members, representative, weight
# Offsets of y and x: exact where a grid of eighths is compared with epsilon.
Y_OFFSETS = (0.0, 0.0, 1e3, -1e6, 1e8)
X_OFFSETS = (0.0, 0.0, 16.0, -(2.0**20))
TYPES = ("float64", "float64", "float32", "int", "list", "strided", "frame order")
WEIGHTS = ("none", "none", "whole", "zeros", "real", "tiny", "huge")
GROUPS = ("none", "none", "numbers", "texts")
REFUSALS = (  # of too few rows of any weight
    "must find at least one tuple", "needs at least", "n_metasamples must be at most",
    "at least one non-zero",
)  # fmt: skip


@dataclass
class Case:
    """What was drawn."""

    statistic: str
    sampler: str
    X: Any  # as the estimator gets them
    y: Any
    weight: np.ndarray | None
    groups: Any
    listed: Listed
    exact_X: list[list[Fraction]]
    exact_y: list[Any]
    exact_weight: list[Fraction] | None

    def __repr__(self) -> str:
        shown = {key: getattr(self, key) for key in ("X", "y", "weight", "groups")}
        return f"{self.statistic}, {self.sampler}: " + " ".join(repr(shown).split())


def draw(seed: int, number: int) -> Case:
    """Draw the case of this number."""
    rng = np.random.default_rng([seed, number])

    def of(options: Any) -> Any:
        return options[int(rng.integers(len(options)))]

    name, sampler = of(list(STATISTICS)), of(list(SAMPLERS))
    case, how = STATISTICS[name], SAMPLERS[sampler]
    m = case.make().arity
    n = int(
        rng.integers(max(m, 3), max(m, 3) + (7 if m <= 2 else 4 if m == 3 else 3 if m < 6 else 2))
    )
    if sampler == "naive(2)":
        n = max(n, 2 * (m + 1))
    d = of(how.columns)
    ties = sampler != "disjoint" and bool(rng.integers(2))
    X = draw_positions(rng, n, d, ties) + of(X_OFFSETS)
    y = draw_labels(case.labels, rng, n)
    y = y if rng.integers(4) == 0 else np.round(8 * y) / 8  # full mantissas take longer
    y = y + (abs(of(Y_OFFSETS)) if case.labels == "positive" else of(Y_OFFSETS))
    kind = of(TYPES)
    if kind == "int":
        X, y = np.round(X * 64).astype(np.int64), np.round(y * 4).astype(np.int64)
    if kind == "float32":  # which holds no sixty-fourths beside a million
        X, y = (X % 64).astype(np.float32), y.astype(np.float32)
    grouping = "none" if sampler == "naive(2)" else of(GROUPS)
    codes = None if grouping == "none" else rng.integers(0, 2, n)
    groups = codes if codes is None or grouping == "numbers" else np.array(["b", "a"])[codes]
    weight = weights_of(of(WEIGHTS), rng, n)
    exact_X, exact_y = oracle.exact(X.tolist()), oracle.exact(y.tolist())
    listed = listed_of(sampler, exact_X, m, None if codes is None else codes.tolist())
    if kind == "list":
        X, y = X.tolist(), y.tolist()
    if kind == "strided":
        X, y = np.repeat(X, 2, axis=0)[::2], np.repeat(y, 2, axis=0)[::2]
    if kind == "frame order":
        X = np.asfortranarray(X)
    own = None if weight is None else oracle.exact(weight.tolist())
    return Case(name, sampler, X, y, weight, groups, listed, exact_X, exact_y, own)


def weights_of(kind: str, rng: np.random.Generator, n: int) -> np.ndarray | None:
    if kind == "none":
        return None
    whole = rng.integers(1, 4, n).astype(float)
    if kind == "zeros":
        return whole * (rng.random(n) < 0.8)
    unit = {"whole": 1.0, "real": 1.0, "tiny": 2.0**-60, "huge": 2.0**60}[kind]
    return (rng.random(n) if kind == "real" else whole) * unit


def listed_of(sampler: str, X: list[list[Fraction]], m: int, codes: Any) -> Listed:
    if sampler == "sliding":
        found = oracle.sliding_over_orders(X, m, codes)
        return [(members, None, share) for members, share in found.items()]
    return [(*each, Fraction(1)) for each in SAMPLERS[sampler].listed(X, m, codes)]


# ---------------------------------------------------------------- exactly


@dataclass
class Term:
    """One tuple: its weight, values of the kernels, its representative after a constant."""

    weight: Fraction
    values: tuple[Fraction, ...]  # psi and chi, or d, b and a of a root-type statistic
    z: list[Fraction]
    rounding: tuple[float, ...]  # of each value, by the forward error bound

    def size(self, place: int) -> float:
        """Size of a value, or one of which ``RTOL`` is its rounding."""
        return max(abs(float(self.values[place])), self.rounding[place] / RTOL)


def terms_of(case: Case, spread: Any = None) -> list[Term]:
    """Terms of a case, with the rounding of labels in a tuple or, if given, so far away."""
    table = STATISTICS[case.statistic]
    kernels = table.root or (table.psi, table.chi)
    computed = kernels_of(case.statistic)
    Z = [[Fraction(1), *x] for x in case.exact_X]
    known: dict[tuple[int, ...], tuple[tuple[Fraction, ...], tuple[float, ...]]] = {}
    for members in {tuple(sorted(each[0])) for each in case.listed}:  # many anchors share one
        labels = [case.exact_y[i] for i in members]
        values = tuple(kernel(*labels) for kernel in kernels)
        Y = np.array(labels, dtype=np.float64).reshape(len(labels), -1)
        known[members] = values, tuple(rounding.of_kernel(each, Y, spread) for each in computed)
    return [
        Term(
            share * oracle.tuple_weight(members, case.exact_weight),
            known[tuple(sorted(members))][0],
            oracle.representative(Z, members, rep),
            known[tuple(sorted(members))][1],
        )
        for members, rep, share in case.listed
    ]


def kernels_of(name: str) -> tuple[Any, ...]:
    """The package's kernels, in the order of the oracle's values."""
    statistic = STATISTICS[name].make()
    found = statistic.loss.quadratic_kernels if STATISTICS[name].root else None
    return tuple(found) if found is not None else (statistic.psi, statistic.chi)


def summed(terms: list[Term], values: list[Fraction], k: int) -> np.ndarray:
    """Sum of w h z^{⊗k}."""
    p = len(terms[0].z)
    total = np.zeros((p,) * k)
    for entry in combinations_with_replacement(range(p), k):
        found = Fraction(0)
        for t, h in zip(terms, values, strict=True):
            term = t.weight * h
            for c in entry:
                term *= t.z[c]
            found += term
        for order in permutations(entry):
            total[order] = float(found)
    return total


def size_of(terms: list[Term], sizes: list[float], k: int) -> np.ndarray:
    """The same sum of absolute values; a tuple of no weight counts as the heaviest."""
    most = max(t.weight for t in terms) or Fraction(1)
    h = np.array([float(t.weight or most) for t in terms]) * np.abs(sizes)
    z = np.abs(np.array([[float(v) for v in t.z] for t in terms]))
    return np.einsum("t" + "".join(f",t{c}" for c in "ab"[:k]) + "->" + "ab"[:k], h, *[z] * k)


def off(found: Any, total: np.ndarray, size: np.ndarray) -> float:
    """Largest error in units of the sum of absolute values."""
    found = np.asarray(found, dtype=np.float64)
    assert found.shape == total.shape, (found.shape, total.shape)
    wrong = np.abs(found - total)
    return float(np.max(np.where(wrong > 0, wrong / np.maximum(size, 1e-300), 0.0)))


# ---------------------------------------------------------------- the package beside it


def errors(case: Case, k: int) -> Iterator[tuple[str, float]]:
    """What was compared and how far it is off."""
    table = STATISTICS[case.statistic]
    statistic = table.make()
    terms = terms_of(case)
    y = np.array(case.y, dtype=np.float64)
    together = terms_of(case, np.ptp(y.reshape(len(y), -1), axis=0))
    X = np.array([[float(v) for v in x] for x in case.exact_X])
    Z = np.column_stack([np.ones(len(X)), X])
    codes = None if case.groups is None else np.unique(case.groups, return_inverse=True)[1]
    rng = np.random.default_rng(0)
    tuples = SAMPLERS[case.sampler].make().build(X, statistic.arity, rng, codes)
    yield "count", float(tuples.count() != len(case.listed))
    if terms:
        for place, kernel in enumerate(kernels_of(case.statistic)):
            if kernel is None:
                continue
            total = summed(terms, [t.values[place] for t in terms], k)
            for branch, measured in ((None, terms), ("running sums", together)):
                found = contract(tuples, kernel, Z, y, k, weight=case.weight, branch=branch)
                size = size_of(terms, [t.size(place) for t in measured], k)
                yield f"contract k={k} by {branch or 'plan'}", off(found, total, size)
        yield from of_risk(case, terms, tuples, Z, y)
    weighed = present(case)
    yield from of_fit(weighed, terms if weighed is case else terms_of(weighed), X.shape[1] + 1)


def of_risk(
    case: Case, terms: list[Term], tuples: Any, Z: np.ndarray, y: np.ndarray
) -> Iterator[tuple[str, float]]:
    """Gradient of the empirical risk at coefficients that are exact in floats."""
    table = STATISTICS[case.statistic]
    p = Z.shape[1]
    w = [Fraction(3, 2), Fraction(-1, 4), Fraction(1, 2)][:p]
    level = [Fraction(-1, 2), Fraction(1, 8), Fraction(1, 4)][:p]
    reference = np.array([float(v) for v in level]) if table.root else None
    risk = empirical_risk(table.make(), tuples, Z, y, weight=case.weight, reference=reference)
    slopes, sizes = [], []
    for t in terms:
        r = sum(a * b for a, b in zip(w, t.z, strict=True))
        far = float(sum(abs(a * b) for a, b in zip(w, t.z, strict=True)))  # r may cancel
        if table.root:
            c = sum(a * b for a, b in zip(level, t.z, strict=True))
            d, b, a = t.values
            slopes.append((r - c) * (a * r * r + b * r + d))
            height = float(sum(abs(u * v) for u, v in zip(level, t.z, strict=True)))
            sizes.append((far + height) * (t.size(2) * far**2 + t.size(1) * far + t.size(0)))
        else:
            psi, chi = t.values
            slopes.append(2 * (chi * r - psi))
            sizes.append(2 * (t.size(1) * far + t.size(0)))
    found = risk.gradient(np.array([float(v) for v in w]))
    yield "gradient", off(found, summed(terms, slopes, 1), size_of(terms, sizes, 1))


def present(case: Case) -> Case:
    """The case without rows of no weight, which a fit leaves out before it samples."""
    if case.weight is None or case.weight.all():
        return case
    kept = np.flatnonzero(case.weight)
    if not kept.size:  # refused: there is no row
        return replace(case, listed=[])
    codes = None if case.groups is None else np.asarray(case.groups)[kept].tolist()
    X, y = ([values[i] for i in kept] for values in (case.exact_X, case.exact_y))
    m = STATISTICS[case.statistic].make().arity
    own = oracle.exact(case.weight[kept].tolist())
    listed = listed_of(case.sampler, X, m, codes)
    return replace(case, exact_X=X, exact_y=y, exact_weight=own, listed=listed)


def fitted(case: Case) -> MultiObservationRegressor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MultiObservationRegressor(
            STATISTICS[case.statistic].make(), SAMPLERS[case.sampler].make(), transport=None,
            random_state=0,
        )  # fmt: skip
        return model.fit(case.X, case.y, sample_weight=case.weight, groups=case.groups)


def of_fit(case: Case, terms: list[Term], p: int) -> Iterator[tuple[str, float]]:
    """Predictions of the fitted line at the rows, where the line is determined."""
    if not case.listed:
        try:
            fitted(case)
        except ValueError as error:
            yield f"refused: {error}", float(not any(each in str(error) for each in REFUSALS))
        else:
            yield "fitted without tuples", 1.0
        return
    table = STATISTICS[case.statistic]
    model = fitted(case)
    yield "n_metasamples_", float(model.n_metasamples_ != len(case.listed))
    if table.root:
        return  # its minimum is no fraction: the gradient is compared instead
    origin = case.exact_X[0]  # about the first row numbers are small, and the line is the same
    about = [[a - b for a, b in zip(t.z[1:], origin, strict=True)] for t in terms]
    moved = [replace(t, z=[Fraction(1), *z]) for t, z in zip(terms, about, strict=True)]
    w = line_of(moved, p)
    if w is None:
        return
    if model.solution_.status is not Status.CONVERGED:
        yield f"status {model.solution_.status}", 1.0
        return
    at = [[Fraction(1), *(a - b for a, b in zip(x, origin, strict=True))] for x in case.exact_X]
    line = np.array([float(sum(a * b for a, b in zip(w, z, strict=True))) for z in at])
    found = model.predict(np.array([[float(v) for v in x] for x in case.exact_X]))
    size = max(abs(float(t.values[0] / (t.values[1] or 1))) for t in terms)
    size = max(size, np.abs(line).max(), 1e-300)
    lost = rounding.of_line(about_the_mean(terms, case.exact_X), case.exact_X, line)
    lost = lost + rounding.of_units(table.make(), np.array(case.exact_y, dtype=np.float64))
    yield "predictions", float(np.max(np.abs(found - line) / np.maximum(size, lost / RTOL)))


def about_the_mean(terms: list[Term], X: list[list[Fraction]]) -> list[Term]:
    """Terms with positions about the mean of the rows, as the package has them."""
    middle = [sum(column) / len(X) for column in zip(*X, strict=True)]
    return [
        replace(t, z=[t.z[0], *(a - b for a, b in zip(t.z[1:], middle, strict=True))])
        for t in terms
    ]


def line_of(terms: list[Term], p: int) -> list[Fraction] | None:
    """Coefficients that solve the normal equations, or None where they leave a direction open."""
    total: list[list[Fraction]] = [[Fraction(0)] * (p + 1) for _ in range(p)]
    for t in terms:
        psi, chi = (t.weight * value for value in t.values)
        for a in range(p):
            for b in range(p):
                total[a][b] += chi * t.z[a] * t.z[b]
            total[a][p] += psi * t.z[a]
    if deficient([row[:p] for row in total]):
        return None
    return oracle.solve_linear([row[:p] for row in total], [row[p] for row in total])


def deficient(rows: list[list[Fraction]]) -> bool:
    """Whether a symmetric matrix is singular, exactly."""
    p = len(rows)
    for c in range(p):
        at = next((r for r in range(c, p) if rows[r][c]), None)
        if at is None:
            return True
        rows[c], rows[at] = rows[at], rows[c]
        for r in range(c + 1, p):
            factor = rows[r][c] / rows[c][c]
            rows[r] = [u - factor * v for u, v in zip(rows[r], rows[c], strict=True)]
    return False


def mismatches(seed: int, numbers: range) -> Iterator[str]:
    """One line for each comparison that is off."""
    for number in numbers:
        case = draw(seed, number)
        for what, error in errors(case, number % 3):
            if not error <= RTOL:
                yield f"case {number}: {what} is off by {error:.2g} of {case!r:.900}"
