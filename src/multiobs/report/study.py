"""What a report is about: the rows, the model, and where both came from."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, final, get_args

import numpy as np
import numpy.typing as npt

from multiobs import _check
from multiobs._check.labelling import codes
from multiobs._types import FloatArray, IntArray
from multiobs.estimator import MultiObservationRegressor
from multiobs.report.page import date_text

if TYPE_CHECKING:
    from multiobs.statistics import Statistic

Kind = Literal["number", "category", "date"]


@final
@dataclass(frozen=True)
class Positions:
    """Columns of x by name.

    Attributes
    ----------
    columns : dict of str to ndarray (n,)
        Floats (dates are days since 1970), or texts of categories.
    kinds : dict of str to str
        "number", "category" or "date".
    named : bool
        Whether the model was fitted to a data frame, whose names it wants to see again.

    Examples
    --------
    >>> import numpy as np
    >>> Positions({"hour": np.arange(3.0)}, {"hour": "number"}).size
    3
    """

    columns: dict[str, npt.NDArray[Any]]
    kinds: dict[str, Kind]
    named: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.columns, dict) or not self.columns:
            raise TypeError(f"columns must be arrays by name, got {_check.shown(self.columns)}")
        if not isinstance(self.kinds, dict) or set(self.kinds) != set(self.columns):
            raise ValueError(f"kinds must be one of each column, got {_check.shown(self.kinds)}")
        sizes = set()
        for name, values in self.columns.items():
            _check.choice("kinds", self.kinds[name], get_args(Kind))
            if not isinstance(values, np.ndarray) or values.ndim != 1:
                raise TypeError(f"columns must be arrays (n,), got {_check.shown(values)}")
            if self.kinds[name] != "category":
                _check.finite(f"column {name}", values)
            sizes.add(values.size)
        if len(sizes) > 1:
            raise ValueError(f"columns must be of one length, got {sorted(sizes)}")

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())))

    @cached_property
    def levels(self) -> dict[str, list[str]]:
        """Levels of each categorical column."""
        return {
            name: sorted(set(values.tolist()))
            for name, values in self.columns.items()
            if self.kinds[name] == "category"
        }

    def frame(self) -> Any:
        """Return what the estimator takes: an array, or a data frame where there are categories."""
        if not (self.levels or self.named):
            return np.column_stack(list(self.columns.values()))
        import pandas as pd

        return pd.DataFrame(self.columns)

    def at(self, rows: IntArray) -> "Positions":
        """Return some of the rows."""
        return replace(self, columns={name: v[rows] for name, v in self.columns.items()})

    def numeric(self) -> FloatArray:
        """Columns of numbers and dates (n, q), one of zeros where there are none."""
        found = [v for name, v in self.columns.items() if self.kinds[name] != "category"]
        return np.column_stack(found) if found else np.zeros((self.size, 1))

    def expanded(self, levels: dict[str, list[str]]) -> FloatArray:
        """Numbers, then an indicator of each level but the first."""
        blocks = [self.numeric()]
        for name, known in levels.items():
            blocks.append(self.columns[name][:, None] == np.array(known[1:], dtype=object))
        return np.concatenate([np.asarray(block, dtype=np.float64) for block in blocks], axis=1)

    def codes(self) -> IntArray | None:
        """One code for each combination of levels, or None without categories."""
        joint: IntArray | None = None
        for name, known in self.levels.items():
            place = {level: code for code, level in enumerate(known)}
            own = np.array([place[v] for v in self.columns[name]], dtype=np.int64)
            joint = own if joint is None else joint * len(known) + own
        return joint

    def typical(self) -> dict[str, Any]:
        """The median of numbers and the most common category."""
        found: dict[str, Any] = {}
        for name, values in self.columns.items():
            if self.kinds[name] == "category":
                texts, counts = np.unique(values.astype(str), return_counts=True)
                found[name] = str(texts[np.argmax(counts)])
            else:
                found[name] = float(np.median(values))
        return found

    def grid(self, name: str, points: int = 120) -> "Positions":
        """Rows that go through one column, the others typical.

        Parameters
        ----------
        name : str
            The column.
        points : int
            How many rows for numbers; categories have one row a level.
        """
        values = self.columns[name]
        if self.kinds[name] == "category":
            along: npt.NDArray[Any] = np.array(self.levels[name], dtype=object)
        else:
            along = np.linspace(float(values.min()), float(values.max()), points)
        typical = self.typical()
        columns = {
            each: along
            if each == name
            else np.full(
                along.size,
                typical[each],
                dtype=object if self.kinds[each] == "category" else np.float64,
            )
            for each in self.columns
        }
        return replace(self, columns=columns)

    def said(self, name: str, value: Any) -> str:
        """Write a value of a column."""
        if self.kinds[name] == "category":
            return str(value)
        return date_text(float(value)) if self.kinds[name] == "date" else f"{float(value):.6g}"


@final
@dataclass(frozen=True)
class Study:
    """Everything a report is made of.

    Attributes
    ----------
    model : MultiObservationRegressor
        Fitted to these rows.
    x : Positions
        The rows.
    y : ndarray (n,) or (n, s)
        Labels.
    y_name, source : str
        Names of the label and of the file.
    weights, groups : ndarray (n,) or None
        As in the fit.
    clusters : array (n,), "serial" or None
        Which rows depend on each other.
    level : float
        Coverage of intervals.
    seed : int
        Of everything that draws.
    warnings : sequence of str
        What the fit said.
    facts : sequence of (str, str)
        More about the data, such as its fingerprint.
    command : str
        What makes this page again.
    numbers : ndarray of int (n,) or None
        Which rows of the file these are, from one, where some were left out.

    Examples
    --------
    >>> import numpy as np
    >>> from multiobs import MultiObservationRegressor
    >>> x = np.linspace(0, 1, 50)
    >>> y = np.random.default_rng(0).normal(size=50)
    >>> model = MultiObservationRegressor("variance").fit(x[:, None], y)
    >>> Study(model, Positions({"x": x}, {"x": "number"}), y).what
    'variance'
    """

    model: MultiObservationRegressor
    x: Positions
    y: FloatArray
    y_name: str = "y"
    source: str = "the data"
    weights: FloatArray | None = None
    groups: npt.NDArray[Any] | None = None
    clusters: Any = None
    level: float = 0.95
    seed: int = 0
    warnings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = field(default_factory=tuple)
    command: str = ""
    numbers: IntArray | None = None

    def __post_init__(self) -> None:
        model: Any = self.model
        if not isinstance(model, MultiObservationRegressor):
            raise TypeError(f"model must be a MultiObservationRegressor, got {_check.shown(model)}")
        if getattr(self.model, "statistic_", None) is None:
            raise ValueError(f"model must be fitted, got {_check.shown(self.model)}")
        x: Any = self.x
        if not isinstance(x, Positions):
            raise TypeError(f"x must be Positions, got {_check.shown(x)}")
        if not 0 < _check.real("level", self.level) < 1:
            raise ValueError(f"level must be strictly between 0 and 1, got {self.level}")
        _check.integer("seed", self.seed, low=0)
        n = self.x.size
        for name, values in (("y", self.y), ("weights", self.weights)):
            if values is not None and _check.finite(name, values).shape[:1] != (n,):
                raise ValueError(f"{name} must hold {n} rows as x, got shape {np.shape(values)}")
        if self.groups is not None:
            codes("groups", self.groups, n)

    @property
    def statistic(self) -> "Statistic":
        """What was estimated."""
        return self.model.statistic_

    @property
    def what(self) -> str:
        """Name of the statistic in words."""
        inside = ", ".join(f"{value}" for value in self.statistic.parameters.values())
        name = self.statistic.name.replace("_", " ")
        return f"{name} ({inside})" if inside else name

    @property
    def unit(self) -> str:
        """Name of the statistic with the unit it has, for axes."""
        return f"{self.what} of {self.y_name}"

    def blocks(self) -> IntArray | None:
        """Codes that a held-out metasample never crosses: categories and groups."""
        joint = self.x.codes()
        if self.groups is None:
            return joint
        own = np.unique(self.groups, return_inverse=True)[1].reshape(-1).astype(np.int64)
        return own if joint is None else own * (int(joint.max()) + 1) + joint
