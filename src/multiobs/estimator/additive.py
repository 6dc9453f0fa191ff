"""Smooth classes and links: from rows to a fitted additive class."""

from dataclasses import dataclass, replace
from typing import Any, Literal, final, get_args

import numpy as np

from multiobs import _check
from multiobs._check.categories import Categories
from multiobs._check.frames import FrameFeatures, FrameLayout
from multiobs._check.rows import Rows
from multiobs._types import FloatArray
from multiobs.auto import Prepared, Request, prepare
from multiobs.estimator.fitted import FitPlan, Fitted
from multiobs.fit import (
    LinearColumns,
    LinkName,
    Problem,
    Smooth,
    SmoothDesign,
    make_design,
    mixing,
    smooth_design,
)
from multiobs.inference import AdditiveFit, Pair, Part, fit_part, interacting_pairs
from multiobs.statistics import Parts, Statistic
from multiobs.transport import PilotMemory, fit_pilot

Link = LinkName | Literal["auto"]
FEW = 100  # rows below which the skewness of the labels is not known well enough to be used
LINKS = ("auto", *get_args(LinkName))


@final
@dataclass(frozen=True)
class ClassRequest:
    """Which class of functions is asked for.

    Attributes
    ----------
    features : Smooth, transformer or None
        Smooth terms, or the columns of a linear class.
    link : {"auto", "identity", "log", "softplus", "logit"}
        Scale on which the class is additive.
    alpha : float or None
        One penalty for all terms; None chooses the smoothness of each.
    intercept : bool
        Whether a linear class contains the constants.
    """

    features: Any
    link: Link
    alpha: float | None
    intercept: bool

    def framed(self, layout: FrameLayout | None) -> "ClassRequest":
        """Return the request with a transformer that sees the data frame the user passed."""
        if layout is None or self.features is None or isinstance(self.features, Smooth):
            return self
        return replace(self, features=FrameFeatures(self.features, layout))


def class_request(
    features: Any, link: Link, alpha: float | None, intercept: bool
) -> ClassRequest | None:
    """Return what is asked for if that is an additive class or a link, else None."""
    _check.choice("link", link, LINKS)
    if isinstance(features, str):
        _check.choice("features", features, ("smooth",))
        features = Smooth()
    if not isinstance(features, Smooth):
        if link in ("auto", "identity"):
            return None
        return ClassRequest(features, link, alpha or 0.0, intercept)
    if not intercept:
        raise ValueError("fit_intercept must be True with smooth features, got False")
    return ClassRequest(features, link, alpha, True)


def fit_additive(
    wanted: ClassRequest,
    request: Request,
    rows: Rows,
    rng: np.random.Generator,
    found: Categories | None,
) -> Fitted:
    """Fit an additive class, part by part.

    Parameters
    ----------
    wanted : ClassRequest
        The class.
    request : Request
        Statistic, sampler and transport.
    rows : Rows
        Validated rows.
    rng : Generator
        For samplers that draw.
    found : Categories or None
        Categorical columns.
    """
    if not (isinstance(wanted.features, Smooth) and wanted.features.interactions == "auto"):
        return _fit(wanted, request, rows, rng, found)
    if request.pilot is fit_pilot:  # the same for both fits
        request = replace(request, pilot=PilotMemory())
    fitted = _fit(wanted, request, rows, rng, found)
    assert isinstance(fitted.result, AdditiveFit)
    pairs = interacting_pairs(fitted.result, rows.X)
    return _fit(wanted, request, rows, rng, found, pairs) if pairs else fitted


def _fit(
    wanted: ClassRequest,
    request: Request,
    rows: Rows,
    rng: np.random.Generator,
    found: Categories | None,
    pairs: tuple[Pair, ...] = (),
) -> Fitted:
    """Fit a class with the interactions that it names, and pairs that tests found."""
    if pairs:
        wanted = replace(wanted, features=replace(wanted.features, interactions=pairs))
    statistic = request.statistic
    smooth = isinstance(wanted.features, Smooth)
    design = _design(wanted, rows, found)
    made_of = _parts_of(statistic, wanted)

    statistics = (statistic,) if made_of is None else made_of.statistics
    request = replace(request, near=smooth)
    ahead = weigher = None
    if smooth and rows.y.shape[0] >= FEW:
        spread = next((each for each in statistics if each.of_spread), None)
        ahead = None if spread is None else _prepared(spread, request, rows, rng)
        if ahead is not None and ahead.problem.residuals.pilot is not None:
            weigher = _fitted(ahead, design, wanted)
            request = replace(request, precision=weigher.precision)
    beta = 0.0
    if made_of is not None and made_of.mixed is not None and ahead is not None:
        beta = _mixing(ahead.problem, request.precision)
        statistics = made_of.mixed(beta).statistics
    ready = [_prepared(each, request, rows, rng) for each in statistics]
    own = ready[1:] if beta else ready
    parts = [_fitted(each, design, wanted, weigher=weigher) for each in own]
    if beta:  # the terms are those of the mean itself: β times the second part is known by now
        known = -beta * parts[0].at_rows / ready[0].problem.units.factor
        parts = [_fitted(ready[0], design, wanted, known, weigher), *parts]
    result = AdditiveFit(statistic, tuple(parts), made_of, beta, pairs)
    last = max(ready, key=lambda one: one.problem.statistic.arity)
    plan = FitPlan((*last.reasons, *_reasons(result, smooth)), (), result.solution.solver)
    linear = result.linear
    names = () if linear is None else linear.names(rows.names)
    return Fitted(result, statistic, last.sampler, last.count, plan, found, names)


def _prepared(each: Statistic, request: Request, rows: Rows, rng: np.random.Generator) -> Prepared:
    """Prepare one part: a mean of one observation has nothing to be moved to."""
    transport = None if each.arity == 1 else request.transport
    return prepare(replace(request, statistic=each, transport=transport), rows, rng)


def _parts_of(statistic: Statistic, wanted: ClassRequest) -> Parts | None:
    """Return what is fitted for a statistic that is a function of others, None for others."""
    smooth = isinstance(wanted.features, Smooth)
    if smooth and statistic.parts is None and statistic.psi is None:
        raise ValueError(
            "smooth features need a statistic that is a mean, a ratio or a function of such, "
            f"got {statistic!r}, known by its loss alone"
        )
    if statistic.parts is None or not smooth:
        return None
    if wanted.link != "auto" and len(statistic.parts.statistics) > 1:
        raise ValueError(
            f"link must be 'auto' for smooth features of {statistic!r}, which has a part with a "
            f"link of its own for each of {len(statistic.parts.statistics)} statistics, "
            f"got {wanted.link!r}"
        )
    return statistic.parts


def _mixing(problem: Problem, precision: FloatArray | None) -> float:
    """How much of the noise of a mean goes with that of a second part; zero if not known."""
    if precision is None or problem.statistic.psi is None:
        return 0.0
    return mixing(problem.statistic.psi, problem.residuals.labels * np.sqrt(precision))


def _fitted(
    ready: Prepared,
    design: SmoothDesign | LinearColumns,
    wanted: ClassRequest,
    known: FloatArray | None = None,
    weigher: Part | None = None,
) -> Part:
    return fit_part(ready.problem, design, wanted.link, wanted.alpha, known, weigher)


def _design(
    wanted: ClassRequest, rows: Rows, found: Categories | None
) -> SmoothDesign | LinearColumns:
    if not isinstance(wanted.features, Smooth):
        return LinearColumns(make_design(wanted.features, rows.X, wanted.intercept))
    indicators = [] if found is None else found.indicators(rows.marks["n_features_in_"])
    return smooth_design(wanted.features, rows.X, rows.names, indicators)


def _reasons(result: AdditiveFit, smooth: bool) -> list[str]:
    kind = "smooth" if smooth else "linear"
    classes = [
        f"class: {kind}, {part.loss.link} link, {part.fit.edf.sum():.1f} effective degrees of "
        f"freedom for the {part.statistic.title}, dispersion {part.dispersion:.3g}"
        for part in result.parts
    ]
    if result.tested:
        names = [term.name for term in result.parts[0].design.terms if term.drawn is None]
        classes.append(f"interactions that tests found: {', '.join(names)}")
    return classes
