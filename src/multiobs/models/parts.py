"""Parts of a model file: statistics, transformers, regressors and categories as JSON."""

import base64
import binascii
import inspect
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from multiobs import statistics
from multiobs._check.categories import Categories
from multiobs.models.container import Fields, ModelFileError, array
from multiobs.statistics import Statistic

# Beyond what skops itself trusts: trees, splines and the parts of boosting, which hold numbers
# and no code (newer versions of skops trust more of them themselves).
TRUSTED = frozenset(
    {
        "scipy._lib.array_api_compat.numpy._aliases.asarray",
        "scipy.interpolate._bsplines.BSpline",
        "sklearn._loss.link.IdentityLink",
        "sklearn._loss.link.Interval",
        "sklearn._loss.loss.HalfSquaredError",
        "sklearn.ensemble._hist_gradient_boosting.binning._BinMapper",
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
    }
)
LOSSES = ("squared", "gamma", "poisson")


def statistic_to(statistic: Statistic) -> dict[str, Any]:
    """Describe a statistic of the catalogue by its name, parameters and loss."""
    known = _rebuilt(statistic.name, statistic.parameters)
    if known is None:
        raise ValueError(
            "a model file holds statistics of the catalogue, since loading never runs code; got "
            f"{statistic!r}"
        )
    kind = None
    if type(known.loss) is not type(statistic.loss):
        fitting = (
            kind
            for kind in LOSSES
            if repr(known.with_loss(kind).loss) == repr(statistic.loss)  # type: ignore[arg-type]
        )
        kind = next(fitting, None)
        if kind is None:
            raise ValueError(f"a model file holds the catalogue's losses, got {statistic.loss!r}")
    return {"name": statistic.name, "parameters": dict(statistic.parameters), "loss": kind}


def statistic_from(fields: Fields) -> Statistic:
    """Return the statistic that a file describes."""
    given = fields.any("parameters")
    parameters = given if isinstance(given, dict) else {}
    found = _rebuilt(fields.text("name"), parameters)
    if found is None:
        raise fields.wrong("name", "a statistic of this version's catalogue with its parameters")
    kind = fields.any("loss")
    if kind is None:
        return found
    if kind not in LOSSES:
        raise fields.wrong("loss", f"one of {', '.join(LOSSES)}")
    try:
        return found.with_loss(kind)
    except ValueError as problem:
        raise ModelFileError(str(problem)) from None


def _rebuilt(name: str, parameters: Mapping[str, Any]) -> Statistic | None:
    if name not in statistics.CATALOGUE:
        return None
    function = getattr(statistics, name)
    if not set(parameters) <= set(inspect.signature(function).parameters):
        return None
    try:
        found = function(**parameters)
    except (TypeError, ValueError):
        return None
    # a parameter that is not written down would silently become the default
    whole = isinstance(found, Statistic) and set(found.parameters) == set(parameters)
    return found if whole else None


def categories_to(found: Categories | None) -> dict[str, Any] | None:
    """Describe the categorical columns."""
    if found is None:
        return None
    for name, levels in found.levels.items():
        for level in levels:
            if not isinstance(level, str | int | float | bool):
                raise ValueError(
                    f"a model file holds categories that are texts or numbers, got {level!r} in "
                    f"column {name!r}"
                )
    return {
        "names": list(found.levels),
        "levels": [list(levels) for levels in found.levels.values()],
        "places": list(found.places),
    }


def categories_from(fields: Fields, columns: int) -> Categories:
    """Return the categorical columns that a file describes."""
    names, levels, places = fields.texts("names"), fields.any("levels"), fields.any("places")
    same = isinstance(levels, list) and isinstance(places, list)
    if not same or not len(names) == len(levels) == len(places) == len(set(names)):
        raise fields.wrong("levels", "a list for each categorical column")
    for each, place in zip(levels, places, strict=True):
        if not isinstance(each, list) or not all(isinstance(v, str | int | float) for v in each):
            raise fields.wrong("levels", "lists of texts or numbers")
        if type(place) is not int or not 0 <= place < columns:
            raise fields.wrong("places", "places of columns")
    known = {name: tuple(each) for name, each in zip(names, levels, strict=True)}
    return Categories(known, tuple(places))


def transformer_to(transformer: Any, columns: int) -> dict[str, Any]:
    """Describe a fitted transformer, the usual ones by their parameters alone."""
    if transformer is None:
        return {"kind": "none"}
    from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

    if type(transformer) is SplineTransformer and transformer.extrapolation != "periodic":
        d = transformer.degree
        knots = np.stack([each.t[d : each.t.size - d] for each in transformer.bsplines_], axis=1)
        plain = not transformer.sparse_output
        if plain and knots.shape == (knots.shape[0], columns):
            return {
                "kind": "spline",
                "knots": array(knots),
                "degree": d,
                "extrapolation": transformer.extrapolation,
                "include_bias": bool(transformer.include_bias),
            }
    if type(transformer) is PolynomialFeatures:
        degree = transformer.degree
        return {
            "kind": "polynomial",
            "degree": list(degree) if isinstance(degree, tuple) else degree,
            "interaction_only": bool(transformer.interaction_only),
            "include_bias": bool(transformer.include_bias),
        }
    return estimator_to(transformer)


def transformer_from(fields: Fields, columns: int) -> Any:
    """Return the fitted transformer that a file describes."""
    kind = fields.text("kind")
    if kind == "none":
        return None
    from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

    try:
        if kind == "spline":
            knots = fields.array("knots", None, columns)
            spline = SplineTransformer(
                knots=knots,
                degree=fields.count("degree"),
                extrapolation=fields.text("extrapolation"),
                include_bias=fields.flag("include_bias"),
            )
            return spline.fit(knots)
        if kind == "polynomial":
            degree = fields.any("degree")
            polynomial = PolynomialFeatures(
                tuple(degree) if isinstance(degree, list) else degree,
                interaction_only=fields.flag("interaction_only"),
                include_bias=fields.flag("include_bias"),
            )
            return polynomial.fit(np.zeros((1, columns)))
    except (TypeError, ValueError) as problem:
        raise ModelFileError(f"the model file was tampered with: {problem}") from None
    return estimator_from(fields)


def estimator_to(estimator: Any) -> dict[str, Any]:
    """Pack a fitted scikit-learn estimator by skops, of trusted types only."""
    skops = _skops()
    data = skops.dumps(estimator, compression=zipfile.ZIP_DEFLATED)
    strange = sorted(set(skops.get_untrusted_types(data=data)) - TRUSTED)
    if strange:
        raise ValueError(
            f"a model file holds scikit-learn's own estimators, got {type(estimator).__name__} "
            f"with {', '.join(strange)}"
        )
    import sklearn

    return {
        "kind": "skops",
        "scikit-learn": sklearn.__version__,
        "base64": base64.b64encode(data).decode(),
    }


def estimator_from(fields: Fields) -> Any:
    """Return the estimator that skops packed; types that are not trusted are refused."""
    if fields.text("kind") != "skops":
        raise fields.wrong("kind", "one that this version knows")
    skops = _skops()
    version = fields.text("scikit-learn")
    try:
        data = base64.b64decode(fields.text("base64"), validate=True)
        strange = sorted(set(skops.get_untrusted_types(data=data)) - TRUSTED)
        if strange:
            raise ModelFileError(
                f"the model file holds types that are refused: {', '.join(strange)}"
            )
        return skops.loads(data, trusted=sorted(TRUSTED))
    except (ModelFileError, binascii.Error) as problem:
        raise ModelFileError(str(problem)) from None
    except Exception as problem:  # whatever an archive made by another version leads to
        import sklearn

        raise ModelFileError(
            f"the model file holds an estimator of scikit-learn {version} that scikit-learn "
            f"{sklearn.__version__} cannot take: {problem}"
        ) from None


def _skops() -> Any:
    try:
        import skops.io
    except ModuleNotFoundError:
        raise ModelFileError(
            "this model has a scikit-learn estimator inside, which needs skops: "
            "pip install 'multiobs[models]'"
        ) from None
    return skops.io
