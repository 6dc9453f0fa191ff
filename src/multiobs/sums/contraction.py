r"""The one sum that data must supply, and the one place that decides how to form it.

``contract(tuples, kernel, Z, y, k)`` is :math:`\sum_t h(y_t)\, \tilde z_t^{\otimes k}`.  Every
branch of :func:`plan` returns the same array; a kernel without a fast branch is enumerated.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, final, get_args

import numpy as np

from multiobs import _check
from multiobs._progress import progress
from multiobs._types import FloatArray, IntArray
from multiobs.native import loader
from multiobs.statistics.kernels import (
    Equality,
    Kernel,
    Monomials,
    OrderStatistic,
    refuse_no_kernel,
    same_category,
)
from multiobs.sums import moments, wide
from multiobs.sums.doors import read_rows, refuse_no_tuples
from multiobs.sums.features import Affine, Features, Lifted, split_constants
from multiobs.sums.joined import ENTRIES, TupleFeatures, few_pairs
from multiobs.sums.order_statistics import ranked_anchor_sums, ranked_total
from multiobs.sums.programs import running_sums
from multiobs.tuples import CHUNK, Graph, Tuples, TupleSet, Windows, shown

__all__ = [
    "LIMIT",
    "Affine",
    "Branch",
    "Features",
    "Lifted",
    "Plan",
    "contract",
    "contract_all",
    "enumerate_tuples",
    "features_of",
    "plan",
    "ranked_anchor_sums",
    "representatives",
    "same_label",
    "split_constants",
    "tuple_weights",
]

Branch = Literal["list", "running sums", "rank tree", "categories"]

FEW = 500  # so few tuples are listed at once in less time than running sums take to set up
FEW_IN_NUMPY = 20_000  # the same without the compiled loops
LIMIT = 200_000_000  # tuples that are enumerated without being asked twice
CROWDED = 5_000_000  # tuples that are listed where power sums would cancel
SAFE_OBSERVATIONS = 12  # of a tuple: power sums over as few rows keep nine digits
MOST_ENTRIES = 100_000_000  # of a tensor
POWER_ROWS = 4096  # rows whose powers are held at once


@final
@dataclass(frozen=True)
class Plan:
    """How a sum over tuples is formed, and why.

    Attributes
    ----------
    branch : str
        "list", "running sums", "rank tree" or "categories".
    tuples : int
        How many tuples the sum runs over.
    reason : str
        One sentence.
    """

    branch: Branch
    tuples: int
    reason: str

    def pooled(self) -> "Plan":
        """Return the plan of a sum to which each anchor contributes one pooled observation."""
        return replace(self, branch="running sums", reason="each anchor's tuples are pooled")

    def __str__(self) -> str:
        return f"{self.branch} ({shown(self.tuples)} tuples): {self.reason}"


def plan(
    tuples: TupleSet, kernel: Kernel, k: int = 1, affine: bool = True, features: int = 1
) -> Plan:
    """Say how ``contract`` forms the sum of this kernel over these tuples.

    Parameters
    ----------
    tuples : TupleSet
        Which rows go together.
    kernel : Kernel
        The function of the labels.
    k : int
        The power of the features.
    affine : bool
        Whether the representative's features are the mean of the members' features.
    features : int
        How many features there are: with many of them a list of few tuples is faster.

    Returns
    -------
    Plan
        The branch, the number of tuples and the reason.

    Examples
    --------
    >>> from multiobs.tuples import Windows
    >>> n = 10_000
    >>> wide = Windows(np.arange(n), np.full(n, n), arity=5)
    >>> print(plan(wide, OrderStatistic([1.0, 0, 0, 0, 0])))
    rank tree (8.325e+17 tuples): order statistics of windows need ranks, not tuples
    """
    _refuse_other_kinds(tuples, kernel)
    counts = type(k) is int and type(features) is int and min(k, features) >= 0
    if not counts or type(affine) is not bool:
        k, features = _check.integer("k", k, low=0), _check.integer("features", features, low=0)
        _check.flags(affine=affine)
    count = tuples.count()
    if isinstance(tuples, Tuples):
        return Plan("list", count, "the tuples are listed already")
    if not affine:
        return Plan("list", count, "features that are not affine in x need each representative")
    compiled = loader.library() is not None
    few = FEW if compiled else max(FEW_IN_NUMPY, 2 * tuples.n_rows)
    if count <= few:
        return Plan("list", count, "so few tuples are listed in no time")
    few_features = wide.TOTALS if isinstance(kernel, Monomials) else wide.WIDE
    if features > few_features and k <= 2 and few_pairs(tuples):
        return Plan("list", count, "many features meet a list of the rows that share a tuple")
    if isinstance(kernel, Monomials) and kernel.arity <= moments.MOST_OBSERVATIONS:
        assert isinstance(tuples, Windows | Graph)
        many = kernel.arity > SAFE_OBSERVATIONS and count <= CROWDED
        if many and np.median(tuples.n_partners) < 2 * kernel.arity:
            return Plan("list", count, "power sums of windows with hardly m rows would cancel")
        return Plan("running sums", count, "a polynomial in moments needs power sums only")
    if isinstance(kernel, Equality):
        return Plan("categories", count, "equal labels are counted within their category")
    if isinstance(kernel, OrderStatistic) and k <= 1:
        return Plan("rank tree", count, "order statistics of windows need ranks, not tuples")
    return Plan("list", count, "no faster sum is known for this kernel")


def _refuse_other_kinds(tuples: Any, kernel: Any) -> None:
    """Refuse what is no set of tuples or no kernel, and a kernel of other observations."""
    if not isinstance(tuples, TupleSet):
        refuse_no_tuples(tuples)
    if callable(kernel) and getattr(kernel, "arity", None) == tuples.arity:
        return
    refuse_no_kernel("kernel", kernel)
    if kernel.arity != tuples.arity:
        raise ValueError(
            f"kernel must take the {tuples.arity} observations of a tuple, got one that takes "
            f"{kernel.arity}"
        )


def contract(
    tuples: TupleSet,
    kernel: Kernel,
    Z: Features | Affine,
    y: FloatArray,
    k: int,
    *,
    weight: FloatArray | None = None,
    branch: Branch | None = None,
    limit: int = LIMIT,
) -> FloatArray:
    r"""Sum of a kernel times the k-th tensor power of the representative's features.

    .. math:: \sum_t \Big(\prod_{i \in t} w_i\Big)\, h(y_t)\, \tilde z_t^{\otimes k},
       \qquad \tilde z_t = \frac1m \sum_{i \in t} z_i

    Parameters
    ----------
    tuples : TupleSet
        Which rows go together.
    kernel : Kernel
        The function h of the m labels.
    Z : ndarray (n, p) or Lifted
        Features of the rows.
    y : ndarray (n,) or (n, s)
        Labels.
    k : int
        The power.
    weight : ndarray (n,), optional
        Weights of the rows, multiplied within a tuple.
    branch : str, optional
        Force a branch of :func:`plan`; for tests and benchmarks.
    limit : int
        The most tuples that are enumerated.

    Returns
    -------
    ndarray, shape (p,) * k
        The symmetric tensor.

    Examples
    --------
    >>> from multiobs.statistics.kernels import moment
    >>> from multiobs.tuples import Tuples
    >>> pairs = Tuples(np.array([[0, 1], [1, 2]]), rows=3)
    >>> variance = moment(2) - moment(1) * moment(1)
    >>> contract(pairs, variance, np.ones((3, 1)), np.array([0.0, 2.0, 2.0]), 1)
    array([2.])
    """
    _refuse_other_kinds(tuples, kernel)
    k, limit = _check.integer("k", k, low=0), _check.integer("limit", limit, low=0)
    if branch is not None:
        _check.choice("branch", branch, get_args(Branch))
    Z, y, weight = read_rows(tuples, Z, y, weight, kernel.n_columns)
    p = Z.shape[1] if isinstance(Z, np.ndarray) else 1
    if p**k > MOST_ENTRIES:
        raise ValueError(f"k must give a tensor of at most {MOST_ENTRIES} numbers, got {p}^{k}")
    kernels: list[Kernel | None] = [None] * k + [kernel]
    with _check.arithmetic("Z and y"):
        found = contract_all(tuples, kernels, Z, y, weight=weight, branch=branch, limit=limit)[k]
        assert found is not None
        if np.isnan(found).any():  # compiled loops raise no flag
            raise FloatingPointError
    return found


def contract_all(
    tuples: TupleSet,
    kernels: Sequence[Kernel | None],
    Z: Features | Affine,
    y: FloatArray,
    *,
    weight: FloatArray | None = None,
    branch: Branch | None = None,
    limit: int = LIMIT,
) -> list[FloatArray | None]:
    """Contract the kernel of each power k of a loss in as few passes as possible."""
    labels = y[:, None] if y.ndim == 1 else y
    affine = not isinstance(Z, Lifted)
    wanted = [(k, kernel) for k, kernel in enumerate(kernels) if kernel is not None]
    p = n_columns(Z)
    chosen: dict[int, Branch] = {
        k: branch or plan(tuples, kernel, k, affine, p).branch for k, kernel in wanted
    }
    if isinstance(Z, Affine) and ("list" in chosen.values() or not isinstance(tuples, Windows)):
        Z = Z.columns()
    out: list[FloatArray | None] = [None] * len(kernels)
    listed: list[tuple[int, Kernel]] = []
    summed: list[tuple[int, Monomials]] = []
    for k, kernel in wanted:
        if chosen[k] == "list" or isinstance(tuples, Tuples):
            listed.append((k, kernel))
        elif isinstance(kernel, Monomials):
            summed.append((k, kernel))
        elif isinstance(kernel, Equality):
            zeros = np.zeros(labels.shape[0])
            # a test that forces a branch asks for no list
            forced: Branch | None = None if branch is None else "running sums"
            over, even = same_label(tuples, labels), kernel.among_equals
            alone: list[Kernel | None] = [None] * k + [even]
            out[k] = contract_all(over, alone, Z, zeros, weight=weight, branch=forced)[k]
        elif isinstance(kernel, OrderStatistic) and k <= 1 and not isinstance(Z, Lifted):
            out[k] = ranked_total(tuples, kernel, Z, labels[:, 0], k, weight)
        else:
            listed.append((k, kernel))
    if summed and not isinstance(Z, Lifted) and isinstance(tuples, Windows | Graph):
        found = running_sums(tuples, summed, Z, labels, weight)
        for (k, _), tensor in zip(summed, found, strict=True):
            out[k] = tensor
    if listed:
        for (k, _), tensor in zip(
            listed, _enumerated(tuples, listed, Z, y, weight, limit), strict=True
        ):
            out[k] = tensor
    return out


def n_columns(Z: Features | Affine) -> int:
    """The number p of features, or 1 where it is not known before they are made."""
    if isinstance(Z, Affine):
        return int(Z.intercept) + int(Z.X.shape[1])
    return int(Z.shape[1]) if isinstance(Z, np.ndarray) else 1


def representatives(part: Tuples, Z: FloatArray) -> FloatArray:
    """Features z~ of listed tuples: the representative's row, or the mean of the members."""
    if part.representative is not None:
        return Z[part.representative]
    total = Z[part.members[:, 0]]  # one member after the other: numpy is slow along short axes
    for k in range(1, part.arity):
        total += Z[part.members[:, k]]
    total /= part.arity
    return total


def features_of(part: Tuples, Z: Features | Affine) -> FloatArray:
    """Features z~ (t, p) of listed tuples, whether or not they are affine in x."""
    if isinstance(Z, Lifted):
        return Z.function(representatives(part, Z.X))
    return representatives(part, Z.columns() if isinstance(Z, Affine) else Z)


def tuple_weights(part: Tuples, weight: FloatArray | None) -> FloatArray | None:
    """Weight of each listed tuple: its own times the product of its rows' weights."""
    if weight is None:
        return part.weight
    product_of_rows = np.asarray(weight[part.members].prod(axis=1))
    return product_of_rows if part.weight is None else product_of_rows * part.weight


def enumerate_tuples(tuples: TupleSet, limit: int = LIMIT, size: int = CHUNK) -> Iterator[Tuples]:
    """List the tuples in chunks, with a progress bar on a terminal; refuse past the limit."""
    total = tuples.count()
    if total > limit:
        raise ValueError(
            f"enumerating must stay below {limit:.3g} tuples, got {shown(total)}: narrow the "
            "windows (a smaller epsilon or fewer neighbours), use SlidingWindow, take a random "
            "subset with max_tuples, or raise the limit"
        )
    return progress(tuples.chunks(size), total, "tuples", lambda part: part.count())


def _enumerated(
    tuples: TupleSet,
    kernels: Sequence[tuple[int, Kernel]],
    Z: Features | Affine,
    y: FloatArray,
    weight: FloatArray | None,
    limit: int,
) -> list[FloatArray]:
    totals: list[FloatArray | None] = [None] * len(kernels)
    many = n_columns(Z) > wide.WIDE and max(k for k, _ in kernels) <= 2
    for part in enumerate_tuples(tuples, limit, ENTRIES if many else CHUNK):
        z = TupleFeatures(part, Z) if many and isinstance(Z, np.ndarray) else features_of(part, Z)
        Y = y[part.members]
        w = tuple_weights(part, weight)
        for i, (k, kernel) in enumerate(kernels):
            values = kernel(Y) if w is None else kernel(Y) * w
            tensor = weighted_power(values, z, k)
            held = totals[i]
            totals[i] = tensor if held is None else held + tensor
    if totals[0] is None:
        p = features_of(Tuples(np.zeros((1, tuples.arity), np.int64), tuples.n_rows), Z).shape[1]
        return [np.zeros((p,) * k) for k, _ in kernels]
    return [each for each in totals if each is not None]


def weighted_power(values: FloatArray, z: FloatArray | TupleFeatures, k: int) -> FloatArray:
    """Return Σ_t v_t z_t^{⊗k} for listed values (t,) and features (t, p)."""
    if k == 0:
        return np.asarray(values.sum())
    if isinstance(z, TupleFeatures):
        return z.total(values) if k == 1 else z.gram(values)
    if k == 1:
        return np.asarray(values @ z)
    if k == 2:
        return np.asarray((z * values[:, None]).T @ z)
    # Two halves of the power and one matrix product: an einsum of k factors is 50 times slower.
    p = z.shape[1]
    total = np.zeros((p ** (k // 2), p ** (k - k // 2)))
    for first in range(0, values.size, POWER_ROWS):
        rows = z[first : first + POWER_ROWS]
        left = _row_power(rows, k // 2) * values[first : first + POWER_ROWS, None]
        total += left.T @ _row_power(rows, k - k // 2)
    return total.reshape((p,) * k)


def _row_power(z: FloatArray, k: int) -> FloatArray:
    """Return z_t^{(x)k} of each row, flattened, (t, p^k)."""
    power = z
    for _ in range(k - 1):
        power = (power[:, :, None] * z[:, None, :]).reshape(z.shape[0], -1)
    return power


def same_label(tuples: TupleSet, y: FloatArray) -> Windows | Graph:
    """The same tuples cut so that only rows of equal labels go together."""
    codes: IntArray = same_category(y)
    if isinstance(tuples, Windows):
        return tuples.refined(codes)
    assert isinstance(tuples, Graph)
    return tuples.keep(codes[tuples.indices] == codes[tuples.anchor_of_edges()])
