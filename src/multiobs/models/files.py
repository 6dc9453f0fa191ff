"""From a fitted estimator to a file and back."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from multiobs import _check
from multiobs._files import as_path, beside
from multiobs._version import __version__
from multiobs.fit import LabelUnits, LinearFit, RegressorFit, StreamFit
from multiobs.inference import AdditiveFit, Inference, dependence_of
from multiobs.models import parts
from multiobs.models.additive import additive_from, additive_to, units_from, units_to
from multiobs.models.classes import AveragedClass, Facts, StoredClass
from multiobs.models.container import (
    Fields,
    ModelFileError,
    checked_notes,
    number,
    pack,
    unpack,
    version_in,
)
from multiobs.models.linear import linear_from, linear_to
from multiobs.models.regressors import regressor_from, regressor_to
from multiobs.models.stored import StoredModel
from multiobs.statistics import Statistic

if TYPE_CHECKING:  # reading a file needs neither the estimator nor scikit-learn
    from multiobs.estimator import ClusterLabels, MultiObservationRegressor


def save(
    model: "MultiObservationRegressor",
    path: str | os.PathLike[str],
    *,
    notes: Mapping[str, Any] | None = None,
    clusters: "ClusterLabels" = None,
    n_bootstrap: int = 0,
) -> None:
    """Write a fitted model: what prediction and intervals need, and none of the rows.

    The file is written beside its target and renamed, so that nobody ever sees half of it.

    Parameters
    ----------
    model : MultiObservationRegressor
        Fitted, with a statistic of the catalogue.
    path : path-like
        The file, usually ``something.json``.
    notes : mapping, optional
        JSON values to keep with it, such as where the rows came from.
    clusters : array-like (n of the fit,), "serial" or None
        Which rows depend on each other: intervals of the file then allow for it.
    n_bootstrap : int
        Replicates of a bootstrap to keep for the intervals of a class given by ``estimator=``;
        each is as large as the model. 0 keeps none, and the file has no intervals.

    Examples
    --------
    >>> import tempfile
    >>> from multiobs import MultiObservationRegressor
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=(300, 1))
    >>> model = MultiObservationRegressor("variance").fit(x, rng.normal(size=300))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.json")
    ...     again = load(f"{folder}/model.json")
    >>> np.array_equal(again.predict(x), model.predict(x))
    True
    """
    target = as_path("path", path)
    data = dumps(model, notes=notes, clusters=clusters, n_bootstrap=n_bootstrap)
    with beside(target) as temporary:
        temporary.write_bytes(data)


def load(path: str | os.PathLike[str]) -> StoredModel:
    """Read a model file; nothing that it says is ever run.

    Parameters
    ----------
    path : path-like
        A file of :func:`save`.

    Returns
    -------
    StoredModel
        With ``predict``, ``predict_interval``, ``summary`` and ``score``.

    Raises
    ------
    ModelFileError
        When it is no model, of another version, damaged or tampered with: one sentence each.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.json")
    ...     stored = load(f"{folder}/model.json")
    >>> bool(np.allclose(stored.predict_interval(x), model.predict_interval(x)))
    True
    """
    return loads(as_path("path", path).read_bytes(), str(path))


def dumps(
    model: "MultiObservationRegressor",
    *,
    notes: Mapping[str, Any] | None = None,
    clusters: "ClusterLabels" = None,
    n_bootstrap: int = 0,
) -> bytes:
    """Return the bytes of the file that :func:`save` writes.

    Parameters
    ----------
    model, notes, clusters, n_bootstrap
        As in :func:`save`.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> type(dumps(model)).__name__
    'bytes'
    """
    from sklearn.utils.validation import check_is_fitted

    from multiobs.estimator import MultiObservationRegressor

    if not isinstance(model, MultiObservationRegressor):
        raise TypeError(
            f"model must be a fitted MultiObservationRegressor, got {_check.shown(model)}"
        )
    check_is_fitted(model)
    result, fitted = model.result_, model._fitted
    if isinstance(result, StreamFit):
        raise ValueError("a model file holds a fit of fit(), got an estimator of partial_fit()")
    if isinstance(result, LinearFit) and not np.all(np.isfinite(result.w)):
        why = result.solution.status.value
        raise ValueError(f"a model file holds coefficients that are numbers, got NaN: {why}")
    names = getattr(model, "feature_names_in_", None)  # scikit-learn's own, absent without names
    kind, version = _class_to(model, clusters, n_bootstrap)
    content: dict[str, Any] = {
        "written_by": __version__,
        "statistic": parts.statistic_to(model.statistic_),
        "columns": {
            "names": None if names is None else [str(name) for name in names],
            "count": int(model.n_features_in_),
            "categories": parts.categories_to(fitted.categories),
        },
        "units": units_to(result.problem.units),
        "class": kind,
        "fit": {
            "rows": fitted.rows or result.problem.n_rows,
            "metasamples": int(model.n_metasamples_),
            "sampler": repr(model.sampler_),
            "reasons": list(model.plan_.reasons),
            "status": "FITTED" if isinstance(result, RegressorFit) else result.solution.status.name,
        },
        "notes": checked_notes(notes),
    }
    return pack(content, version)


def loads(data: bytes, name: str = "the file") -> StoredModel:
    """Return the model in the bytes of a file; ``name`` is for messages.

    Parameters
    ----------
    data : bytes
        What :func:`dumps` returned, or a file holds.
    name : str
        What messages call it.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> y = np.random.default_rng(0).normal(scale=1 + x[:, 0])
    >>> model = MultiObservationRegressor("variance").fit(x, y)
    >>> bool(np.array_equal(loads(dumps(model)).predict(x), model.predict(x)))
    True
    """
    if not isinstance(data, bytes):
        raise TypeError(f"data must be the bytes of a model file, got {_check.shown(data)}")
    if not isinstance(name, str):
        raise TypeError(f"name must be a text, got {_check.shown(name)}")
    fields = Fields(unpack(data, name), name)
    kind = fields.inner("class")
    needed = 2 if kind.has("parts") or kind.has("replicates") else 1
    needed = 3 if kind.has("smooth") else needed
    if version_in(data) != needed:  # the one byte that the digest does not guard
        raise ModelFileError(f"{name} is damaged: its version is not that of its content")
    columns = fields.inner("columns")
    count = columns.count("count")
    names = columns.texts("names") if columns.has("names") else None
    if names is not None and len(names) != count:
        raise columns.wrong("names", f"{count} texts")
    known = None
    width = count
    if columns.has("categories"):
        known = parts.categories_from(columns.inner("categories"), count)
        levels = sum(len(each) - 1 for each in known.levels.values())
        width = count - len(known.places) + levels
    facts = fields.inner("fit")
    notes = fields.any("notes")
    if not isinstance(notes, dict):
        raise fields.wrong("notes", "an object")
    statistic = parts.statistic_from(fields.inner("statistic"))
    units = units_from(fields.inner("units"))
    return StoredModel(
        statistic,
        names,
        count,
        known,
        _class_from(fields.inner("class"), statistic, units, width),
        Facts(
            facts.count("rows"),
            facts.count("metasamples"),
            facts.text("sampler"),
            facts.texts("reasons"),
            facts.text("status").lower().replace("_", " "),
            fields.text("written_by"),
        ),
        notes,
    )


def _class_to(
    model: "MultiObservationRegressor", clusters: "ClusterLabels", n_bootstrap: int
) -> tuple[dict[str, Any], int]:
    """The fitted class, and the first version of the format that knows it."""
    result, fitted = model.result_, model._fitted
    if isinstance(result, AdditiveFit):
        if clusters is not None:
            raise ValueError("clusters must be None with smooth features or a link, got labels")
        smooth = additive_to(result, fitted.names)
        return (smooth, 2) if fitted.beside is None else (_averaged_to(smooth, model), 3)
    if isinstance(result, RegressorFit):
        dependence = dependence_of(clusters, result.problem.place)
        return regressor_to(model, dependence, n_bootstrap)
    assert isinstance(result, LinearFit)
    inference = fitted.inference
    if inference is not None:
        dependence = dependence_of(clusters, inference.fit.problem.place)
        if dependence is not None:
            inference = Inference(inference.fit, dependence=dependence)
    return linear_to(result, inference, fitted.names), 1


def _averaged_to(smooth: dict[str, Any], model: "MultiObservationRegressor") -> dict[str, Any]:
    beside = model._fitted.beside
    assert beside is not None
    line = beside.fitted
    assert isinstance(line.result, LinearFit)
    return {
        "kind": "averaged",
        "weight": number(beside.weight),
        "line": linear_to(line.result, None, line.names),
        "line_units": units_to(line.result.problem.units),
        "smooth": smooth,
    }


def _class_from(fields: Fields, statistic: Statistic, units: LabelUnits, width: int) -> StoredClass:
    kind = fields.text("kind")
    if kind == "linear":
        return linear_from(fields, statistic, units, width)
    if kind == "additive":
        return additive_from(fields, statistic, width)
    if kind == "regressor":
        return regressor_from(fields, statistic, units)
    if kind != "averaged":
        raise fields.wrong("kind", "'linear', 'additive', 'averaged' or 'regressor'")
    weight = fields.real("weight")
    if not 0 < weight < 1:
        raise fields.wrong("weight", "between 0 and 1")
    own = units_from(fields.inner("line_units"))
    line = linear_from(fields.inner("line"), statistic, own, width)
    return AveragedClass(line, additive_from(fields.inner("smooth"), statistic, width), weight)
