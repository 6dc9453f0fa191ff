"""From a fitted estimator to a file and back."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from multiobs._files import beside
from multiobs._types import FloatArray
from multiobs._version import __version__
from multiobs.estimator import MultiObservationRegressor
from multiobs.fit import Design, LabelUnits, LinearFit, RegressorFit
from multiobs.inference import Inference
from multiobs.models import parts
from multiobs.models.container import Fields, ModelFileError, array, number, pack, unpack
from multiobs.models.stored import (
    Cubic,
    Facts,
    LinearClass,
    RegressorClass,
    StoredModel,
    Uncertainty,
)


def save(
    model: MultiObservationRegressor,
    path: str | os.PathLike[str],
    *,
    notes: Mapping[str, Any] | None = None,
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
    data = dumps(model, notes=notes)
    with beside(path) as temporary:
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
    return loads(Path(path).read_bytes(), str(path))


def dumps(model: MultiObservationRegressor, *, notes: Mapping[str, Any] | None = None) -> bytes:
    """Return the bytes of the file that :func:`save` writes.

    Parameters
    ----------
    model, notes
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
    result = model.result_
    if not isinstance(result, LinearFit | RegressorFit):
        raise ValueError(
            "a model file holds a linear class or a scikit-learn regressor of fit(), got "
            f"{type(result).__name__}"
        )
    names = getattr(model, "feature_names_in_", None)  # scikit-learn's own, absent without names
    known = model._fitted.categories
    content: dict[str, Any] = {
        "written_by": __version__,
        "statistic": parts.statistic_to(model.statistic_),
        "columns": {
            "names": None if names is None else [str(name) for name in names],
            "count": int(model.n_features_in_),
            "categories": parts.categories_to(known),
        },
        "units": _units_to(result.problem.units),
        "class": _class_to(model, result),
        "fit": {
            "rows": result.problem.n_rows,
            "metasamples": int(model.n_metasamples_),
            "sampler": repr(model.sampler_),
            "reasons": list(model.plan_.reasons),
            "status": result.solution.status.name if isinstance(result, LinearFit) else "FITTED",
        },
        "notes": dict(notes or {}),
    }
    return pack(content)


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
    fields = Fields(unpack(data, name), name)
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
    return StoredModel(
        parts.statistic_from(fields.inner("statistic")),
        names,
        count,
        known,
        _class_from(fields.inner("class"), width),
        _units_from(fields.inner("units")),
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


def _class_to(model: MultiObservationRegressor, result: LinearFit | RegressorFit) -> dict[str, Any]:
    if isinstance(result, RegressorFit):
        return {"kind": "regressor", "regressor": parts.estimator_to(result.regressor)}
    design = result.design
    inference = model._fitted.inference
    return {
        "kind": "linear",
        "transformer": parts.transformer_to(design.transformer, result.problem.X.shape[1]),
        "centre": array(design.centre),
        "spread": array(design.spread),
        "intercept": bool(design.intercept),
        "w": array(result.w),
        "names": list(model._fitted.names),
        "uncertainty": None if inference is None else _uncertainty_to(inference),
    }


def _class_from(fields: Fields, width: int) -> LinearClass | RegressorClass:
    if fields.text("kind") == "regressor":
        return RegressorClass(parts.estimator_from(fields.inner("regressor")))
    if fields.text("kind") != "linear":
        raise fields.wrong("kind", "'linear' or 'regressor'")
    transformer = parts.transformer_from(fields.inner("transformer"), width)
    intercept = fields.flag("intercept")
    w = fields.array("w", None)
    q = w.size - int(intercept)
    spread = fields.array("spread", q)
    if np.any(spread == 0):
        raise fields.wrong("spread", "different from zero")
    design = Design(transformer, fields.array("centre", q), spread, intercept)
    try:
        made = design.columns(np.zeros((1, width))).shape[1]
    except ValueError as problem:
        raise ModelFileError(f"the model file was tampered with: {problem}") from None
    if made != w.size:
        raise fields.wrong("w", f"{made} numbers")
    names = fields.texts("names")
    if len(names) != q:
        raise fields.wrong("names", f"{q} texts")
    known = None
    if fields.has("uncertainty"):
        known = _uncertainty_from(fields.inner("uncertainty"), w.size)
    return LinearClass(design, w, names, known)


def _uncertainty_to(inference: Inference) -> dict[str, Any]:
    found = inference.covariance
    cubic = None
    if found.third is not None:
        bend, centre = found.third.tensors()
        cubic = {"bend": array(_packed(bend)), "centre": array(_packed(centre))}
    return {
        "w": array(inference.fit.w),
        "matrix": array(found.matrix),
        "bread": array(found.bread),
        "df": number(found.df),
        "cubic": cubic,
    }


def _uncertainty_from(fields: Fields, p: int) -> Uncertainty:
    cubic = None
    if fields.has("cubic"):
        inner = fields.inner("cubic")
        size = p * (p + 1) * (p + 2) // 6
        cubic = Cubic(
            *(_unpacked(inner.array(name, size), p) for name in ("bend", "centre")),
        )
    df = fields.real("df")
    if not df > 0:
        raise fields.wrong("df", "positive")
    return Uncertainty(
        fields.array("w", p),
        fields.array("matrix", p, p),
        fields.array("bread", p, p),
        df,
        cubic,
    )


def _units_to(units: LabelUnits) -> dict[str, Any]:
    return {
        "shift": array(np.atleast_1d(units.shift)),
        "scale": units.scale,
        "factor": units.factor,
        "offset": units.offset,
        "penalty": number(units.penalty),
    }


def _units_from(fields: Fields) -> LabelUnits:
    shift = fields.array("shift", None)
    scale, factor, offset = (fields.real(name) for name in ("scale", "factor", "offset"))
    if not (np.isfinite([scale, factor, offset]).all() and factor != 0):
        raise fields.wrong("factor", "finite and not zero")
    return LabelUnits(
        shift if shift.size > 1 else np.asarray(shift[0]),
        scale,
        factor,
        offset,
        fields.real("penalty"),
    )


def _places(p: int) -> tuple[Any, ...]:
    a, b, c = np.ogrid[:p, :p, :p]
    return np.nonzero((a <= b) & (b <= c))


def _packed(tensor: FloatArray) -> FloatArray:
    """Entries a <= b <= c of the symmetric part of a cubic form's tensor."""
    orders = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    whole = np.mean([tensor.transpose(order) for order in orders], axis=0)
    return np.asarray(whole[_places(tensor.shape[0])])


def _unpacked(entries: FloatArray, p: int) -> FloatArray:
    a, b, c = _places(p)
    tensor = np.zeros((p, p, p))
    for order in ((a, b, c), (a, c, b), (b, a, c), (b, c, a), (c, a, b), (c, b, a)):
        tensor[order] = entries
    return tensor
