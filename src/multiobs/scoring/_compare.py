"""Which forecast is better, by how much, and whether that is more than chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy import stats

from multiobs import _check, statistics
from multiobs._types import FloatArray
from multiobs.samplers import Sampler
from multiobs.scoring._errors import Errors, standard_error
from multiobs.scoring._heldout import HeldOut, held_out
from multiobs.scoring._losses import FixedLoss, LossName, fixed_loss, with_loss
from multiobs.scoring._moved import Moved, of_independent
from multiobs.scoring._table import Columns
from multiobs.statistics import Statistic


@final
@dataclass(frozen=True)
class Difference:
    """Difference of the mean scores of two forecasts, first less second.

    Attributes
    ----------
    first, second : str
        Names; a negative difference favours the first.
    difference, se : float
        Mean and its standard error under shared labels or time order.
    t, p : float
        Ratio of the two, and its two-sided p-value (Diebold and Mariano 1995); NaN when the
        forecasts do not differ at all.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(1000, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> both = {"truth": (1 + x[:, 0]) ** 2, "one": np.ones(1000)}
    >>> gap = compare("variance", x, y, both).difference("truth", "one")
    >>> gap.difference < 0, gap.p < 0.001
    (True, True)
    """

    first: str
    second: str
    difference: float
    se: float
    t: float
    p: float


@final
@dataclass(frozen=True)
class Comparison:
    """Scores of several forecasts on the same metasamples; ``print`` it.

    Attributes
    ----------
    statistic : Statistic
        What was predicted.
    names : tuple of str
        The forecasts, best first.
    scores : ndarray (k,)
        Mean losses, in that order.
    skill : ndarray (k,)
        One less the share of the best constant's excess loss that is left: 1 is perfect, 0 as
        good as the constant, NaN where a perfect score has no meaning (ratio and root types).
    gain : ndarray (k,)
        Mean loss of the best constant less that of the forecast.
    gain_se : ndarray (k,)
        Its standard error.
    constant : float
        The best constant of these rows, chosen with hindsight.
    benchmark : str
        The forecast that the differences in the table are taken from.
    differences : tuple of Difference
        Each forecast less the benchmark, in the order of ``names``.
    n_metasamples : int
        How many metasamples were scored.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(1000, 1))
    >>> y = rng.normal(scale=1 + x[:, 0])
    >>> found = compare("variance", x, y, {"truth": (1 + x[:, 0]) ** 2, "one": np.ones(1000)})
    >>> found.names
    ('truth', 'one')
    """

    statistic: Statistic
    names: tuple[str, ...]
    scores: FloatArray
    skill: FloatArray
    gain: FloatArray
    gain_se: FloatArray
    constant: float
    benchmark: str
    differences: tuple[Difference, ...]
    n_metasamples: int
    errors: Errors
    _values: FloatArray
    _held: HeldOut
    _bandwidth: int | None

    def difference(self, first: str, second: str) -> Difference:
        """Test one forecast against another, first less second."""
        for name in (first, second):
            if name not in self.names:
                raise ValueError(
                    f"forecast must be one of {self.names}, got {_check.shown(name)}"
                    f"{_check.near(name, self.names)}"
                )
        a, b = (self._values[self.names.index(name)] for name in (first, second))
        return _difference(self._held, first, second, a - b, self.errors, self._bandwidth)

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame."""
        return self._table().to_frame()

    def __str__(self) -> str:
        return str(self._table())

    def _table(self) -> Columns:
        return Columns(
            f"Scores of {self.statistic!r} on {self.n_metasamples} metasamples (smaller is better)",
            {
                "forecast": list(self.names),
                "score": self.scores.tolist(),
                "skill": self.skill.tolist(),
                "gain": self.gain.tolist(),
                f"less {self.benchmark}": [each.difference for each in self.differences],
                "se": [each.se for each in self.differences],
                "t": [each.t for each in self.differences],
                "p": [each.p for each in self.differences],
            },
            (f"gain and skill against the best constant, {self.constant:.4g}",),
        )


@_check.arithmetic("X, y and predictions")
def compare(
    statistic: str | Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    predictions: Mapping[str, npt.ArrayLike],
    sampler: str | Sampler = "adjacent",
    *,
    loss: LossName = "default",
    benchmark: str | None = None,
    errors: Errors = "shared",
    bandwidth: int | None = None,
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    transport: Moved = "auto",
    reference: npt.ArrayLike | None = None,
) -> Comparison:
    r"""Compare forecasts of a statistic on held-out rows.

    With :math:`d_t` the difference of two losses of metasample t, the mean of d is compared with
    its standard error, :math:`V = \sum_{t \cap s \ne \emptyset} (d_t - \bar d)(d_s - \bar d)/n_t^2`
    over metasamples that share a label, or Newey and West's for rows in time order: the test of
    Diebold and Mariano (1995).

    Parameters
    ----------
    statistic : str or Statistic
        What was predicted.
    X, y : array-like (n, d), (n,) or (n, s)
        Held-out rows.
    predictions : mapping of str to array-like (n,) or float
        Forecasts by name.
    sampler, loss, sample_weight, groups, transport, reference
        As in :func:`score`.
    benchmark : str, optional
        The forecast from which differences are taken; by default the one with the best score.
    errors : {"shared", "hac"}
        "shared": rows are independent. "hac": rows are ordered by the one column of X, as in
        time, and neighbours may be dependent.
    bandwidth : int, optional
        Lags of "hac", at least m - 1.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=2000)
    >>> y = rng.normal(scale=1 + x)
    >>> table = compare("variance", x, y, {"true": (1 + x) ** 2, "flat": 2.3})
    >>> table.names, bool(table.difference("true", "flat").p < 0.01)
    (('true', 'flat'), True)
    """
    chosen = statistics.resolve(statistic)
    named_forecasts("predictions", predictions, benchmark)
    _check.choice("errors", errors, ("shared", "hac"))
    with_loss(chosen, loss)
    if errors == "hac" and groups is not None:
        raise ValueError("errors='hac' needs one series, got groups: use backtest(groups=...)")
    moved = of_independent(transport, errors)
    held = held_out(chosen, X, y, sampler, sample_weight, groups, transport=moved)
    fixed = fixed_loss(chosen, held, loss, reference)
    return compare_held(fixed, predictions, benchmark, errors, bandwidth)


def named_forecasts(
    name: str, given: Any, benchmark: str | None = None, one: str = "forecast"
) -> None:
    """Refuse anything but a mapping of names to forecasts, and a benchmark that is none of them."""
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for each in given):
        raise TypeError(f"{name} must be forecasts by name, got {_check.shown(given)}")
    if not given:
        raise ValueError(f"{name} must name at least one {one}, got none")
    if benchmark is not None:
        _check.choice("benchmark", benchmark, given)


def compare_held(
    fixed: FixedLoss,
    predictions: Mapping[str, npt.ArrayLike],
    benchmark: str | None,
    errors: Errors,
    bandwidth: int | None,
) -> Comparison:
    """Compare forecasts on metasamples that are already built."""
    held = fixed.held
    losses = {
        name: fixed.values(held.at(values, f"prediction {name!r}"))
        for name, values in predictions.items()
    }
    names = tuple(sorted(losses, key=lambda name: held.mean(losses[name])))
    values = np.stack([losses[name] for name in names])
    constant = fixed.best_constant()
    flat = _constant_losses(fixed, constant)
    best = names[0] if benchmark is None else benchmark
    ends = values @ held.weight
    base = held.mean(flat)
    perfect = fixed.perfect()
    worst = np.nan if perfect is None else base - held.mean(perfect)
    room = worst if worst > 0 else np.nan
    return Comparison(
        fixed.statistic,
        names,
        ends,
        (base - ends) / room,
        base - ends,
        np.array([standard_error(held, flat - each, errors, bandwidth) for each in values]),
        constant,
        best,
        tuple(
            _difference(held, name, best, each - losses[best], errors, bandwidth)
            for name, each in zip(names, values, strict=True)
        ),
        int(held.members.shape[0]),
        errors,
        values,
        held,
        bandwidth,
    )


def _constant_losses(fixed: FixedLoss, constant: float) -> FloatArray:
    return fixed.values(np.full(fixed.held.weight.size, constant))


def _difference(
    held: HeldOut, first: str, second: str, d: FloatArray, errors: Errors, bandwidth: int | None
) -> Difference:
    mean = held.mean(d)
    if not np.any(d):
        return Difference(first, second, 0.0, 0.0, np.nan, np.nan)
    se = standard_error(held, d, errors, bandwidth)
    t = mean / se if se > 0 else np.nan
    p = 2.0 * float(stats.t.sf(abs(t), max(held.rows_used - 1, 1)))
    return Difference(first, second, mean, se, t, p)
