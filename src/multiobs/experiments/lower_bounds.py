"""What no estimator can do: the paper's two constructions in which x almost never repeats.

On instance A every label is a fair coin; on instance B the label is fixed by the vertex of the
cube that x is, or is near. Until two rows share a vertex the two look exactly alike, and that
takes about 2^(d/2) rows.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol, final

import numpy as np
from scipy.stats import mannwhitneyu
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.neighbors import KNeighborsRegressor

from multiobs import _check
from multiobs._types import BoolArray, FloatArray, IntArray
from multiobs.bounds import corner_cube, repeat_probability
from multiobs.estimator.regressor import MultiObservationRegressor
from multiobs.samplers import Nearest, Replicates, Sampler

Instance = Literal["A", "B"]
INSTANCES = ("A", "B")


class Construction(Protocol):
    """A pair of instances that are hard to distinguish."""

    @property
    def d(self) -> int:
        """Dimension of x."""

    def sample(
        self, n: int, instance: Instance, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw n rows of A, or of a B that is drawn anew with each call."""


def _codes(bits: BoolArray) -> IntArray:
    """Vertices as whole numbers."""
    return np.asarray(bits @ 2 ** np.arange(bits.shape[1], dtype=np.int64))


def _coins(bits: BoolArray, rng: np.random.Generator) -> FloatArray:
    """Draw theta of each row's vertex, one fair coin a vertex, only for those that occur."""
    vertices, which = np.unique(_codes(bits), return_inverse=True)
    return rng.integers(0, 2, size=vertices.size)[which].astype(np.float64)


@final
@dataclass(frozen=True)
class BooleanCube:
    r"""Uniform x on the vertices {0, 1}^d; A: y a fair coin, B: y = theta_x.

    Var(Y | x) is 1/4 on A and 0 on B, everywhere. The Lipschitz constant is K = 1. B is drawn from
    its family by deferred decisions: theta_x is decided when x first occurs.

    References
    ----------
    The theorem on the Boolean hypercube, appendix 'Lower Bounds for High Dimensions'.

    Examples
    --------
    >>> x, y = BooleanCube(3).sample(100, "B", np.random.default_rng(0))
    >>> x.shape, len(np.unique(np.column_stack([x, y]), axis=0)) == len(np.unique(x, axis=0))
    ((100, 3), True)
    """

    d: int

    def __post_init__(self) -> None:
        if not 1 <= _check.integer("d", self.d, low=1) <= 52:
            raise ValueError(f"d must be at most 52, got {self.d}")

    def sample(
        self, n: int, instance: Instance, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw n rows."""
        _check.choice("instance", instance, INSTANCES)
        bits = rng.random((_check.integer("n", n, low=1), self.d)) < 0.5
        if instance == "A":
            return bits.astype(np.float64), rng.integers(0, 2, size=n).astype(np.float64)
        return bits.astype(np.float64), _coins(bits, rng)

    def variance(self, instance: Instance) -> float:
        """Return the average of Var(Y | x)."""
        return 0.25 if instance == "A" else 0.0


@final
@dataclass(frozen=True)
class CornerCubeLaw:
    r"""Uniform x on [0, 1]^d; on B the label is fixed in corners of side 1/2 - beta.

    A: y a fair coin. B: P(y = 1 | x) is theta_v in the corner of vertex v, 1/2 beyond a margin of
    beta = 1/(2Cd) around it, and linear in the distance between: Lipschitz with K = C d.

    References
    ----------
    The theorem on the uniform law, appendix 'Lower Bounds for High Dimensions'; constants as in
    :func:`multiobs.bounds.corner_cube`.

    Examples
    --------
    >>> x = np.array([[0.1, 0.1], [0.5, 0.1], [0.375, 0.1]])
    >>> CornerCubeLaw(2).probability(x, np.ones(3)).tolist()
    [1.0, 0.5, 0.75]
    """

    d: int
    C: float = 1.0

    def __post_init__(self) -> None:
        corner_cube(self.d, self.C)
        if self.d > 52:
            raise ValueError(f"d must be at most 52, got {self.d}")

    def probability(self, x: FloatArray, theta: FloatArray) -> FloatArray:
        """P(y = 1 | x) on an instance B whose theta at each row's nearest vertex is given."""
        cube = corner_cube(self.d, self.C)
        outside = np.maximum(np.minimum(x, 1 - x) - cube.alpha, 0.0)
        share = np.minimum(np.sqrt((outside**2).sum(axis=1)) / cube.beta, 1.0)
        return np.asarray((1 - share) * theta + share / 2)

    def sample(
        self, n: int, instance: Instance, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Draw n rows."""
        _check.choice("instance", instance, INSTANCES)
        x = rng.random((_check.integer("n", n, low=1), self.d))
        p = np.full(n, 0.5)
        if instance == "B":
            p = self.probability(x, _coins(x > 0.5, rng))
        return x, (rng.random(n) < p).astype(np.float64)


Estimator = Callable[[FloatArray, FloatArray, np.random.Generator], float]


def ours(X: FloatArray, y: FloatArray, rng: np.random.Generator) -> float:
    """Average variance by the two-observation loss over constants, x at vertices of the cube.

    Rows that share their vertex form the pairs; when there are none, each row goes with its
    nearest.
    """
    # One number a vertex: rows are compared 20 times faster than by all their coordinates.
    codes = _codes(X > 0.5)
    sampler: Sampler = Replicates()
    where = codes[:, None].astype(np.float64)
    if np.unique(codes).size == codes.size:
        sampler, where = Nearest(n_neighbors=1, scale="none"), X
    model = MultiObservationRegressor(
        "variance", sampler, estimator=DummyRegressor(), transport=None, random_state=rng
    )
    with warnings.catch_warnings():  # that neighbours are far apart is the point here
        warnings.filterwarnings("ignore", message="neighbours are .* as far apart")
        return float(model.fit(where, y).predict(where[:1])[0])


def same_orthant(X: FloatArray, y: FloatArray, rng: np.random.Generator) -> float:
    """Average variance by the two-observation loss over pairs of rows nearest to one vertex.

    For the continuous cube: knows where the corners are, which is more than anybody would.
    """
    return ours(np.round(X), y, rng)


def nearest(X: FloatArray, y: FloatArray, rng: np.random.Generator) -> float:
    """Half the mean squared difference between each row and its nearest in the other half."""
    half = y.size // 2
    near = KNeighborsRegressor(1, algorithm="brute").fit(X[:half], y[:half]).predict(X[half:])
    return float(np.mean((y[half:] - near) ** 2) / 2)


def boosting(X: FloatArray, y: FloatArray, rng: np.random.Generator) -> float:
    """Mean squared residual on held-out rows of boosted trees that may grow to single rows."""
    half = y.size // 2
    trees = GradientBoostingRegressor(
        n_estimators=10, learning_rate=0.5, max_depth=None, random_state=int(rng.integers(2**31))
    )
    return float(np.mean((y[half:] - trees.fit(X[:half], y[:half]).predict(X[half:])) ** 2))


ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {"ours": ours, "nearest": nearest, "boosting": boosting}
)
"""Estimators of the average variance that the collapse is shown for."""


@final
@dataclass(frozen=True)
class Collapse:
    """Estimates on A and on B at one number of rows.

    p_value is that of the two-sample rank test between them; repeat is the probability that any
    vertex occurs twice, which bounds the power of every test.
    """

    estimator: str
    d: int
    rows: int
    on_a: FloatArray
    on_b: FloatArray
    p_value: float
    repeat: float

    @property
    def exponent(self) -> float:
        """The e of rows = 2^(e d)."""
        return float(np.log2(self.rows) / self.d)


def rows_at(d: int, exponent: float) -> int:
    """Rows 2^(exponent d), rounded, at least 4.

    Examples
    --------
    >>> rows_at(20, 0.35), rows_at(20, 0.75)
    (128, 32768)
    """
    return max(4, round(2 ** (exponent * d)))


def compare_instances(
    construction: Construction,
    rows: int,
    estimator: str = "ours",
    *,
    runs: int = 100,
    function: Estimator | None = None,
    rng: np.random.Generator,
) -> Collapse:
    """Estimate the average variance on A and on B, many times, and test whether they differ.

    Parameters
    ----------
    construction : BooleanCube or CornerCubeLaw
    rows : int
        Rows of each sample.
    estimator : str
        A name of ``ESTIMATORS``, or any name for ``function``.
    runs : int
        Samples of A, and of B.

    Returns
    -------
    Collapse

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> compare_instances(BooleanCube(12), 600, runs=20, rng=rng).p_value < 0.001
    True
    """
    if function is None:
        _check.choice("estimator", estimator, tuple(ESTIMATORS))
        function = ESTIMATORS[estimator]
    on_a = np.array([function(*construction.sample(rows, "A", rng), rng) for _ in range(runs)])
    on_b = np.array([function(*construction.sample(rows, "B", rng), rng) for _ in range(runs)])
    p_value = float(mannwhitneyu(on_a, on_b).pvalue)
    repeat = float(repeat_probability(rows, construction.d))
    return Collapse(estimator, construction.d, rows, on_a, on_b, p_value, repeat)


def collapse_curve(
    construction: Construction,
    exponents: Sequence[float],
    estimator: str = "ours",
    *,
    runs: int = 40,
    function: Estimator | None = None,
    rng: np.random.Generator,
) -> list[Collapse]:
    """Compare A and B at 2^(e d) rows for each exponent e."""
    return [
        compare_instances(
            construction, rows_at(construction.d, e), estimator, runs=runs, function=function,
            rng=rng,
        )
        for e in exponents
    ]  # fmt: skip


def collapse_figure(curves: Sequence[Sequence[Collapse]], axes: Any = None) -> Any:
    """Draw estimates on A and B against log2(rows)/d, one panel a curve; needs matplotlib.

    Returns
    -------
    array of matplotlib Axes
    """
    import matplotlib.pyplot as plt  # only pictures need it

    if axes is None:
        width = 3.6 * len(curves)
        axes = plt.subplots(
            1, len(curves), figsize=(width, 3.4), sharey=True, squeeze=False, layout="constrained"
        )[1][0]
    for ax, curve in zip(axes, curves, strict=True):
        e = [each.exponent for each in curve]
        for name, picked in (("A", [c.on_a for c in curve]), ("B", [c.on_b for c in curve])):
            low, middle, high = (np.array([np.quantile(v, q) for v in picked]) for q in BAND)
            line = ax.plot(e, middle, "o-", markersize=3, label=f"instance {name}")[0]
            ax.fill_between(e, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        ax.axvline(0.5, color="0.5", linestyle="--", linewidth=1)
        ax.set(title=f"{curve[0].estimator}, d = {curve[0].d}", xlabel="log2(rows) / d")
    axes[0].set_ylabel("estimated average variance")
    axes[0].legend(fontsize="small")
    return axes


BAND = (0.1, 0.5, 0.9)
