"""Attributes of a fitted estimator: views of one record, so that no two of them disagree."""

from abc import ABC
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from multiobs._types import FloatArray
from multiobs.estimator.diagnostics import MetasampleReport, metasample_report
from multiobs.estimator.dropping import without_rows
from multiobs.estimator.fitted import FitPlan, Fitted
from multiobs.fit import LinearFit, RegressorFit, Solution, StreamFit
from multiobs.inference import AdditiveFit
from multiobs.samplers import Sampler
from multiobs.statistics import Statistic
from multiobs.tuples import TupleSet


class FittedAttributes(ABC):
    """What ``fit`` leaves behind, read off one record that is replaced whole."""

    _fitted: Fitted

    def __sklearn_is_fitted__(self) -> bool:
        """Say whether there is a fit: whole, or not at all."""
        return "_fitted" in vars(self)

    @property
    def statistic_(self) -> Statistic:
        """The statistic itself."""
        return self._found.statistic

    @property
    def sampler_(self) -> Sampler:
        """The sampler that was used."""
        return self._found.sampler

    @property
    def n_metasamples_(self) -> int:
        """How many tuples there were."""
        return self._found.count

    @property
    def plan_(self) -> FitPlan:
        """What was chosen and how the sums were formed."""
        return self._found.plan

    @property
    def result_(self) -> LinearFit | RegressorFit | AdditiveFit | StreamFit:
        """The fitted class of functions, with the problem it was fitted to."""
        return self._found.result

    @property
    def tuples_(self) -> "TupleSet":
        """Which rows went together."""
        result = self._found.result
        if isinstance(result, StreamFit):
            raise AttributeError("tuples_ needs fit, got an estimator of partial_fit")
        if self._found.effective is not None:
            raise AttributeError("tuples_ needs the rows, which drop_rows dropped")
        return result.problem.tuples

    @property
    def solution_(self) -> "Solution":
        """How the coefficients were found."""
        return self._linear_result("solution_").solution

    @property
    def coef_(self) -> FloatArray:
        """Slopes of the linear class, (p,), in the units of the data."""
        return self._linear_result("coef_").coefficients()[0]

    @property
    def intercept_(self) -> float:
        """Intercept of the linear class, in the units of the data."""
        return self._linear_result("intercept_").coefficients()[1]

    @property
    def estimator_(self) -> Any:
        """The fitted regressor, when ``estimator`` was given."""
        result = self._found.result
        if not isinstance(result, RegressorFit):
            raise AttributeError("estimator_ needs a fit with estimator=, got a linear class")
        return result.regressor

    def metasample_report(self) -> MetasampleReport:
        """Diameters, label use, drift inside tuples and effective number of metasamples."""
        check_is_fitted(self)
        result = self._fitted.result
        if isinstance(result, StreamFit):
            raise ValueError("metasample_report needs fit, got an estimator of partial_fit")
        if self._fitted.effective is not None:
            raise ValueError("metasample_report needs the rows, which drop_rows dropped")
        return metasample_report(result.problem, np.random.default_rng(0))

    def drop_rows(self) -> Self:
        """Forget the training rows, so that a pickle is small: in place, and returned.

        Predictions, intervals, ``summary`` and tests of one hypothesis stay as they are; a test of
        several becomes Wald's. What needs the tuples (``metasample_report``, ``clusters=``,
        ``bias="undersmooth"``, new replicates of a bootstrap) is refused from now on. Files of
        :func:`multiobs.models.save` never hold rows.

        Examples
        --------
        >>> import pickle
        >>> from multiobs import MultiObservationRegressor
        >>> x = np.linspace(0, 1, 20_000)[:, None]
        >>> reg = MultiObservationRegressor().fit(x, np.random.default_rng(0).normal(size=20_000))
        >>> limits, before = reg.predict_interval([[0.5]]), len(pickle.dumps(reg))
        >>> len(pickle.dumps(reg.drop_rows())) < before / 2
        True
        >>> bool(np.allclose(reg.predict_interval([[0.5]]), limits))
        True
        """
        check_is_fitted(self)
        self._fitted = without_rows(self._fitted)
        return self

    @property
    def _found(self) -> Fitted:
        """What was fitted; an AttributeError before that, as for any missing attribute."""
        try:
            return vars(self)["_fitted"]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} is not fitted yet") from None

    def _linear_result(self, what: str) -> LinearFit | AdditiveFit | StreamFit:
        result = self._found.result
        if isinstance(result, AdditiveFit) and result.linear is None and what != "solution_":
            raise AttributeError(
                f"{what} needs a linear class, got smooth features: summary() has a line a term"
            )
        if isinstance(result, RegressorFit):
            raise AttributeError(
                f"{what} needs the linear class, got estimator={type(result.template).__name__}"
            )
        return result
