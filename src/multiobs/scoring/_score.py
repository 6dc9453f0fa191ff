"""The mean loss of any prediction of a statistic, and a scorer for scikit-learn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy.typing as npt

from multiobs import statistics
from multiobs.samplers import Sampler
from multiobs.scoring._heldout import held_out
from multiobs.scoring._losses import LossName, fixed_loss, with_loss
from multiobs.scoring._moved import Moved
from multiobs.statistics import Statistic


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
        in one column, each row and its m - 1 nearest in more.
    loss : {"default", "squared", "gamma", "qlike", "poisson"}
        Another consistent loss of a mean-type statistic. "gamma" (QLIKE) and "poisson" are for
        positive statistics; they weigh relative errors, squared loss weighs absolute ones.
    sample_weight, groups : array-like (n,), optional
        Weights, multiplied within a tuple; groups that a tuple never crosses.
    transport : "auto", None, array-like (n,) or callable
        A pilot of the mean along which labels are moved to the representative: neighbours in
        several columns are far, and a change of the mean between them would count as spread.
        "auto" fits one to these rows where x has several columns, the same for every forecast.
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
    """A scorer with scikit-learn's signature, made by :func:`make_scorer`."""

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
        prediction = estimator.predict(X) if self.predict is None else self.predict(estimator, X)
        return 0.0 - score(
            self.statistic,
            X,
            y,
            prediction,
            self.sampler,
            loss=self.loss,
            sample_weight=sample_weight,
            transport=self.transport,
        )


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
    statistic : str or Statistic
        What the estimators predict.
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
    with_loss(statistics.resolve(statistic), loss)
    return Scorer(statistic, loss, sampler, predict, transport)
