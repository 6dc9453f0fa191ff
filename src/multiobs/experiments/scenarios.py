"""Laws of (X, Y) whose statistic is known exactly: the paper's four panels and their relatives.

Everything true lives here and nothing is fitted here. Each law has X ~ Unif(0, 1) and a statistic
of Y given X = x that is a line in x, so the error of a fitted line has a closed form.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import final

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._types import FloatArray

Curve = Callable[[FloatArray], FloatArray]
Draw = Callable[[FloatArray, np.random.Generator], FloatArray]

__all__ = [
    "PANELS",
    "SCENARIOS",
    "Scenario",
    "minvar_exponential",
    "scenario",
    "ucb_gamma",
    "variance_bump",
    "variance_line",
    "variance_sine",
]


@final
@dataclass(frozen=True)
class Scenario:
    r"""A law with X ~ Unif(0, 1) and a known statistic of Y given X = x.

    The statistic is the line ``truth_intercept + truth_slope * x``; labels given x are independent.

    Parameters
    ----------
    name : str
        The key under which results are stored.
    title : str
        What the figure writes above the panel.
    statistic : str
        The name of the statistic in the catalogue, ``"variance"``, ``"ucb"`` or ``"minvar"``.
    truth_intercept, truth_slope : float
        The statistic of Y given X = x is ``truth_intercept + truth_slope * x``.
    draw : callable
        ``draw(x, rng)`` gives one independent label for each entry of x, any shape.
    mean : callable
        ``mean(x)`` is E[Y | X = x]; oracles use it, estimators never do.
    parameters : mapping
        Parameters of the statistic, such as ``{"lam": 8.0}``.

    Notes
    -----
    Section "Experiments" of the paper; the sine wave is sin(4 pi x), as in its UCB panel.

    Examples
    --------
    >>> import numpy as np
    >>> law = SCENARIOS["minvar-exponential"]
    >>> x, y = law.sample(3, np.random.default_rng(0))
    >>> x.shape, y.shape, law.truth(np.array([0.0, 1.0])).tolist()
    ((3,), (3,), [2.0, 3.0])
    """

    name: str
    title: str
    statistic: str
    truth_intercept: float
    truth_slope: float
    draw: Draw
    mean: Curve
    parameters: Mapping[str, float | int] = field(default_factory=lambda: MappingProxyType({}))

    def sample(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw n independent rows.

        Returns
        -------
        x, y : arrays of shape (n,)

        Examples
        --------
        >>> import numpy as np
        >>> x, y = SCENARIOS["variance-line"].sample(5, np.random.default_rng(1))
        >>> bool((x >= 0).all() and (x < 1).all()), y.shape
        (True, (5,))
        """
        x = _check.generator("rng", rng).random(_count("n", n))
        return x, self.draw(x, rng)

    @_check.arithmetic("x")
    def replicates(self, x: npt.ArrayLike, k: int, rng: np.random.Generator) -> FloatArray:
        """Draw k independent labels at each x, the power that only the empirical approach has.

        Returns
        -------
        array of shape (len(x), k)

        Examples
        --------
        >>> import numpy as np
        >>> SCENARIOS["ucb-gamma"].replicates([0.2, 0.7], 3, np.random.default_rng(0)).shape
        (2, 3)
        """
        points = np.atleast_1d(_check.finite("x", x))
        _check.generator("rng", rng)
        return self.draw(np.repeat(points[:, None], _count("k", k), axis=1), rng)

    @_check.arithmetic("x")
    def truth(self, x: npt.ArrayLike) -> FloatArray:
        """Return the statistic of Y given X = x, shape of x."""
        return self.truth_intercept + self.truth_slope * _check.finite("x", x)

    def mse_of_line(self, intercept: float, slope: float) -> float:
        r"""Mean squared error of the line ``intercept + slope * x`` to the truth, in closed form.

        With a and b the errors of intercept and slope,
        :math:`\int_0^1 (a + b x)^2 dx = a^2 + a b + b^2 / 3`.

        Examples
        --------
        >>> SCENARIOS["minvar-exponential"].mse_of_line(2.0, 1.0)
        0.0
        >>> round(SCENARIOS["variance-sine"].mse_of_line(0.0, 3.0), 12)
        1.0
        """
        a = intercept - self.truth_intercept
        b = slope - self.truth_slope
        return float(a * a + a * b + b * b / 3.0)

    def mse_of_polynomial(self, predict: Curve, degree: int) -> float:
        """Mean squared error of a polynomial of the given degree, exact by Gauss quadrature.

        Gauss-Legendre with degree + 1 nodes is exact to order 2 degree + 1, hence for the squared
        error; this is the closed form for variances made from two fitted moments.

        Examples
        --------
        >>> law = SCENARIOS["variance-line"]
        >>> round(law.mse_of_polynomial(lambda x: 1 + x**4, 4), 12) == round(1 / 9, 12)
        True
        """
        nodes, weights = np.polynomial.legendre.leggauss(max(degree, 1) + 1)
        x = 0.5 * (nodes + 1.0)
        return float(np.sum(0.5 * weights * (predict(x) - self.truth(x)) ** 2))

    def mse_monte_carlo(
        self, predict: Curve, rng: np.random.Generator, points: int = 1000
    ) -> float:
        """Mean squared error at ``points`` fresh draws of X, as the paper does for two-moment UCB.

        Examples
        --------
        >>> import numpy as np
        >>> law = SCENARIOS["ucb-gamma"]
        >>> law.mse_monte_carlo(lambda x: x + 12.0, np.random.default_rng(0))
        4.0
        """
        x = rng.random(_count("points", points))
        return float(np.mean((predict(x) - self.truth(x)) ** 2))


def variance_sine(amplitude: float = 1.0, frequency: float = 2.0, *, name: str = "") -> Scenario:
    r"""Variance 1 around the mean :math:`a \sin(2 \pi f x)`; the paper's panel is a = 1, f = 2.

    Examples
    --------
    >>> float(variance_sine(3.0).mean(0.125))
    3.0
    """
    return _unit_variance(
        name or f"variance-sine(amplitude={amplitude:g},frequency={frequency:g})",
        f"variance, mean {_times(amplitude)}sin({2 * frequency:g}πx)",
        lambda x: amplitude * np.sin(2.0 * np.pi * frequency * x),
    )


def variance_line(amplitude: float = 1.0, *, name: str = "") -> Scenario:
    """Variance 1 around the mean a (2x - 1); the paper's panel is a = 1.

    Examples
    --------
    >>> float(variance_line(2.0).mean(1.0))
    2.0
    """
    return _unit_variance(
        name or f"variance-line(amplitude={amplitude:g})",
        f"variance, mean {_times(amplitude)}(2x − 1)",
        lambda x: amplitude * (2.0 * x - 1.0),
    )


def variance_bump(height: float = 10.0, width: float = 0.02, *, name: str = "") -> Scenario:
    """Variance 1 around a narrow Gaussian bump at x = 1/2, hard for windows of fixed width.

    Examples
    --------
    >>> float(variance_bump(10.0).mean(0.5))
    10.0
    """
    return _unit_variance(
        name or f"variance-bump(height={height:g},width={width:g})",
        f"variance, bump of height {height:g}",
        lambda x: height * np.exp(-0.5 * ((x - 0.5) / width) ** 2),
    )


def ucb_gamma(lam: float = 8.0, *, name: str = "") -> Scenario:
    r"""Gamma labels with mean :math:`2 + \sin(4 \pi x)` and :math:`UCB_\lambda = x + 10`.

    The standard deviation is :math:`(x + 8 - \sin(4 \pi x)) / \lambda`; the paper has lambda = 8.

    Examples
    --------
    >>> import numpy as np
    >>> y = ucb_gamma().replicates(0.5, 200_000, np.random.default_rng(0))
    >>> round(float(y.mean() + 8 * y.std()), 1)
    10.5
    """
    if lam <= 0:
        raise ValueError(f"lam must be positive, got {lam}")

    def mean(x: FloatArray) -> FloatArray:
        return 2.0 + np.sin(4.0 * np.pi * x)

    def draw(x: FloatArray, rng: np.random.Generator) -> FloatArray:
        centre = mean(x)
        spread = (x + 10.0 - centre) / lam
        return rng.gamma((centre / spread) ** 2, spread * spread / centre)

    return Scenario(
        name=name or f"ucb-gamma(lam={lam:g})",
        title=f"UCB, λ = {lam:g}, gamma",
        statistic="ucb",
        parameters=MappingProxyType({"lam": float(lam)}),
        truth_intercept=10.0,
        truth_slope=1.0,
        draw=draw,
        mean=mean,
    )


def minvar_exponential(k: int = 4, *, name: str = "") -> Scenario:
    r"""Exponential labels with mean (k+1)(x + 2), whose MINVAR :math:`\rho_k` is x + 2.

    Examples
    --------
    >>> float(minvar_exponential().mean(1.0))
    15.0
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")

    def mean(x: FloatArray) -> FloatArray:
        return (k + 1.0) * (x + 2.0)

    return Scenario(
        name=name or f"minvar-exponential(k={k})",
        title=f"MINVAR, k = {k}, exponential",
        statistic="minvar",
        parameters=MappingProxyType({"k": k}),
        truth_intercept=2.0,
        truth_slope=1.0,
        draw=lambda x, rng: rng.exponential(mean(x)),
        mean=mean,
    )


def _unit_variance(name: str, title: str, mean: Curve) -> Scenario:
    return Scenario(
        name=name,
        title=title,
        statistic="variance",
        truth_intercept=1.0,
        truth_slope=0.0,
        draw=lambda x, rng: mean(x) + rng.standard_normal(x.shape),
        mean=mean,
    )


def _times(amplitude: float) -> str:
    return "" if amplitude == 1 else f"{amplitude:g} "


MOST_ROWS = 10**10  # of a sample: a number that was meant for something else


def _count(what: str, value: int) -> int:
    return _check.integer(what, value, 1, MOST_ROWS)


PANELS = ("variance-sine", "variance-line", "ucb-gamma", "minvar-exponential")
"""The four panels of the paper's figure, in its order."""

SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        law.name: law
        for law in (
            variance_sine(name="variance-sine"),
            variance_line(name="variance-line"),
            ucb_gamma(name="ucb-gamma"),
            minvar_exponential(name="minvar-exponential"),
            variance_sine(2.0, 8.0, name="variance-fast-sine"),
            variance_bump(name="variance-bump"),
        )
    }
)
"""The paper's four laws, and two whose mean moves too fast for a window of fixed width."""

_FAMILIES: Mapping[str, Callable[..., Scenario]] = MappingProxyType(
    {
        "variance-sine": variance_sine,
        "variance-line": variance_line,
        "variance-bump": variance_bump,
        "ucb-gamma": ucb_gamma,
        "minvar-exponential": minvar_exponential,
    }
)


def scenario(name: str) -> Scenario:
    """Return the scenario of a name: a key of ``SCENARIOS``, or a family with its parameters.

    Names travel to other processes and into results files, so a name must say everything.

    Parameters
    ----------
    name : str
        "variance-line", "ucb-gamma(lam=2)", …

    Examples
    --------
    >>> scenario("ucb-gamma(lam=2)").title
    'UCB, λ = 2, gamma'
    >>> scenario("variance-line") is SCENARIOS["variance-line"]
    True
    """
    if not isinstance(name, str):
        raise TypeError(f"scenario must be a name, got {_check.shown(name)}")
    if name in SCENARIOS:
        return SCENARIOS[name]
    family, bracket, inside = name.partition("(")
    if family not in _FAMILIES or not bracket or not inside.endswith(")"):
        raise ValueError(
            f"scenario must be one of {sorted(SCENARIOS)} or a family with parameters such as "
            f"'ucb-gamma(lam=2)', got {_check.shown(name)}{_check.near(name, SCENARIOS)}"
        )
    try:
        parameters = {
            key.strip(): int(value) if value.strip().isdigit() else float(value)
            for key, _, value in (part.partition("=") for part in inside[:-1].split(","))
        }
        law = _FAMILIES[family](**parameters)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"parameters of {family} must be ones its function has, got {name!r}"
        ) from error
    return dataclasses.replace(law, name=name)
