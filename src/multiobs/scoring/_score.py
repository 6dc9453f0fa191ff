"""The mean loss of any prediction of a statistic, and a scorer for scikit-learn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from multiobs import _check, samplers, statistics
from multiobs._check.functions import answer
from multiobs.samplers import Sampler
from multiobs.scoring._compare import compare
from multiobs.scoring._heldout import held_out
from multiobs.scoring._losses import LossName, fixed_loss, with_loss
from multiobs.scoring._moved import Moved
from multiobs.statistics import Statistic

OWN = "own"  # each estimator by its own statistic


@_check.arithmetic("X, y and predictions")
def score(
    statistic: str | Statistic,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    prediction: npt.ArrayLike,
    sampler: str | Sampler = "adjacent",
    *,
    loss: LossName = "default",
    sample_weight: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    transport: Moved = "auto",
    reference: npt.ArrayLike | None = None,
) -> float:
    r"""Mean loss of a prediction on metasamples of held-out rows: smaller is better.

    .. math:: S = \frac{1}{t} \sum_t \ell\Big(\frac1m \sum_{i \in t} r_i,\; y_{t,1}..y_{t,m}\Big)

    The loss is minimised in mean by the true statistic, so S ranks predictions of whatever origin:
    ours, a peer's, a constant. With the squared loss of a mean-type statistic, differences of S
    estimate differences of the mean squared error to the truth.

    Parameters
    ----------
    statistic : str or Statistic
        What was predicted.
    X : array-like (n, d) or (n,), or data frame
        Held-out positions; text columns are categories, which no metasample crosses.
    y : array-like (n,) or (n, s)
        Held-out labels.
    prediction : array-like (n,) or float
        The predicted statistic at X; a metasample's prediction is the mean of its members'.
    sampler : "adjacent", str or Sampler
        How the rows are put together; "adjacent" is the least biased there is: m adjacent rows
        in one column, each row and its m - 1 nearest in more. Where labels are moved along a
        pilot, pairs are of each row and its eight nearest.
    loss : {"default", "squared", "gamma", "qlike", "poisson"}
        Another consistent loss of a mean-type statistic. "gamma" (QLIKE) and "poisson" are for
        positive statistics; they weigh relative errors, squared loss weighs absolute ones.
    sample_weight, groups : array-like (n,), optional
        Weights, multiplied within a tuple; groups that a tuple never crosses.
    transport : "auto", None, array-like (n,) or callable
        A pilot of the mean along which labels are moved to the representative: neighbours in
        several columns are far, and a change of the mean between them would count as spread.
        "auto" fits one to these rows, the same for every forecast, where x has several columns,
        and for pairs in one column unless rows may be dependent (``errors="hac"``).
        An array is the mean of y at the rows, known from elsewhere; ``transport(X)`` gives it.
    reference : array-like (n,) or float, optional
        Reference level of a root-type loss (upper confidence bound); by default it is chosen from
        the held-out labels, the same for every prediction.

    Returns
    -------
    float

    Notes
    -----
    Section 2 of the paper: a loss of m observations elicits the statistic it is minimised by.

    Examples
    --------
    >>> x = np.arange(4.0)[:, None]
    >>> score("variance", x, [0.0, 1.0, 0.0, 1.0], 0.5)
    0.0
    >>> score("variance", x, [0.0, 1.0, 0.0, 1.0], 0.6, loss="gamma") > score(
    ...     "variance", x, [0.0, 1.0, 0.0, 1.0], 0.5, loss="gamma"
    ... )
    True
    """
    chosen = statistics.resolve(statistic)
    with_loss(chosen, loss)  # a loss that does not exist is refused before any work
    held = held_out(chosen, X, y, sampler, sample_weight, groups, transport=transport)
    return fixed_loss(chosen, held, loss, reference).mean(held.at(prediction))


@final
@dataclass(frozen=True)
class Scorer:
    """A scorer with scikit-learn's signature, made by :func:`make_scorer`.

    Attributes
    ----------
    statistic, loss, sampler, predict, transport
        As in :func:`make_scorer`.

    Examples
    --------
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 100)[:, None]
    >>> y = np.random.default_rng(0).normal(size=100)
    >>> scorer = make_scorer("variance")
    >>> scorer(MultiObservationRegressor("variance").fit(x, y), x, y) < 0  # larger is better
    True
    """

    statistic: str | Statistic
    loss: LossName
    sampler: str | Sampler
    predict: Callable[[Any, Any], npt.ArrayLike] | None
    transport: Moved = "auto"

    def __call__(
        self,
        estimator: Any,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        sample_weight: npt.ArrayLike | None = None,
    ) -> float:
        """Minus the mean loss of the estimator's prediction on (X, y): larger is better."""
        if self.predict is None and not callable(getattr(estimator, "predict", None)):
            raise TypeError(f"estimator must have predict, got {_check.shown(estimator)}")
        fitted = statistic_of(estimator)
        own = isinstance(self.statistic, str) and self.statistic == OWN
        if own and fitted is None:
            raise TypeError(
                f"statistic='own' needs estimators with statistic_, got {type(estimator).__name__}"
            )
        chosen = fitted if own else statistics.resolve(self.statistic)
        assert chosen is not None
        if self.predict is None and fitted is not None and not alike(fitted, chosen):
            raise ValueError(
                f"this scorer is for {chosen!r}, got an estimator of {fitted!r}, whose loss cannot "
                "be compared: search over one statistic, or use make_scorer('own')"
            )
        if self.predict is None:
            prediction = answer("predict of the estimator", estimator.predict, X)
        else:
            prediction = answer("predict", self.predict, estimator, X)
        how: dict[str, Any] = dict(
            loss=self.loss, sample_weight=sample_weight, transport=self.transport
        )
        if own:
            table = compare(chosen, X, y, {"it": prediction}, self.sampler, **how)
            se = float(table.gain_se[0])
            return float(table.gain[0]) / se if se > 0 else 0.0
        return 0.0 - score(chosen, X, y, prediction, self.sampler, **how)


def statistic_of(estimator: Any) -> Statistic | None:
    """Return the statistic that a fitted estimator, or the last step of a pipeline, predicts."""
    from sklearn.pipeline import Pipeline

    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    found = getattr(last, "statistic_", None)  # peers have none
    return found if isinstance(found, Statistic) else None


def alike(first: Statistic, second: Statistic) -> bool:
    """Whether two statistics are one, whatever their losses: one identification function.

    >>> alike(statistics.variance(), statistics.variance().with_loss("gamma"))
    True
    >>> alike(statistics.minvar(), statistics.maxvar())
    False
    """
    if (first.arity, first.n_columns) != (second.arity, second.n_columns):
        return False
    rng = np.random.default_rng(0)
    shape = (16, first.arity) if first.n_columns == 1 else (16, first.arity, first.n_columns)
    Y, r = rng.exponential(size=shape), rng.exponential(size=16)
    one, two = first.identification(r, Y), second.identification(r, Y)
    return bool(np.allclose(one, two, rtol=1e-9, atol=1e-12))


def make_scorer(
    statistic: str | Statistic,
    *,
    loss: LossName = "default",
    sampler: str | Sampler = "adjacent",
    predict: Callable[[Any, Any], npt.ArrayLike] | None = None,
    transport: Moved = "auto",
) -> Scorer:
    """Make a scorer for ``cross_val_score``, ``GridSearchCV`` and their like.

    Rows are split first, by scikit-learn; metasamples are built inside each held-out part, so no
    label is in a training row and in a test metasample.

    Parameters
    ----------
    statistic : str, Statistic or "own"
        What the estimators predict; an estimator of another statistic is refused, since losses of
        different statistics cannot be compared. "own" scores each by its own statistic: how many
        standard errors it gains on the best constant.
    loss : {"default", "squared", "gamma", "qlike", "poisson"}
        As in :func:`score`.
    sampler : "adjacent", str or Sampler
        As in :func:`score`.
    predict : callable, optional
        ``predict(estimator, X)`` gives the predicted statistic; ``estimator.predict(X)`` by
        default. For a peer that returns a law: ``lambda model, X: model.pred_dist(X).var``.
    transport : "auto", None or callable
        As in :func:`score`; the pilot of a held-out part is fitted once for all estimators.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.model_selection import cross_val_score
    >>> x, y = np.arange(8.0)[:, None], np.tile([0.0, 1.0], 4)
    >>> model = DummyRegressor(strategy="constant", constant=0.5)
    >>> cross_val_score(model, x, y, cv=2, scoring=make_scorer("variance")).tolist()
    [0.0, 0.0]
    """
    if not (isinstance(statistic, str) and statistic == OWN):
        with_loss(statistics.resolve(statistic), loss)
    if not isinstance(sampler, str) or sampler != "adjacent":
        samplers.resolve(sampler)
    if predict is not None and not callable(predict):
        raise TypeError(
            f"predict must be a function of an estimator and X, got {_check.shown(predict)}"
        )
    return Scorer(statistic, loss, sampler, predict, transport)
