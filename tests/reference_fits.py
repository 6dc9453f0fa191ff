"""Coefficients and intervals of every statistic, sampler and transport, kept in a stored table.

``python tests/reference_fits.py`` writes the table anew; do so only where a changed number is
meant, and say why in the commit.  ``tests/estimator/test_reference_fits.py`` compares.
"""

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import PolynomialFeatures
from tables import STATISTICS, draw_labels

from multiobs import MultiObservationRegressor, samplers

STORED = Path(__file__).parent / "reference_fits.json"
AT = np.array([[0.1, 0.4], [0.5, 0.5], [0.9, 0.2]])  # where intervals are asked for
TRANSPORTS = (None, "auto", "location", "location-scale")
SAMPLERS = {
    1: ("auto", "naive", "improved", "sliding", "disjoint", "nearby", "nearest", "adjacent"),
    2: ("auto", "naive", "nearby", "nearest"),
    5: ("auto", "nearest"),
}
SMALL = 44  # rows


def _sampler(name: str) -> Any:
    settled = {  # whatever would be drawn is taken as it comes
        "adjacent": samplers.Adjacent(9),
        "naive": samplers.Naive(shuffle=False),
        "improved": samplers.Improved(shuffle=False),
    }
    return settled.get(name, name)


def cases() -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Names, columns of x and parameters of all fits in the table."""
    for name, case in STATISTICS.items():
        for d, kinds in SAMPLERS.items():
            if case.slow and d > 1:
                continue
            for kind in kinds:
                for transport in TRANSPORTS:
                    key = f"{name} | {kind} | {transport} | {d}"
                    yield key, d, dict(sampler=_sampler(kind), transport=transport)
        if not case.slow:
            features = PolynomialFeatures(2, include_bias=False)
            for transport in (None, "auto"):
                key = f"{name} | nearby, squares | {transport} | 1"
                yield key, 1, dict(sampler="nearby", transport=transport, features=features)
            yield (
                f"{name} | nearby, ridge | None | 1",
                1,
                dict(sampler="nearby", transport=None, alpha=0.1),
            )


def fitted(key: str, d: int, parameters: dict[str, Any]) -> list[float] | str:
    """Intercept, slopes, number of tuples, limits; or the type of the error."""
    case = STATISTICS[key.split(" | ")[0]]
    rng = np.random.default_rng(len(key))
    X = rng.uniform(size=(SMALL, d))
    y = draw_labels(case.labels, rng, SMALL) + rng.normal(scale=0.01, size=SMALL)[
        (slice(None), *(None,) * (case.labels == "pair"))
    ] * (case.labels != "discrete")
    at = np.tile(AT, (1, 3))[:, :d]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = MultiObservationRegressor(case.make(), random_state=0, **parameters)
            model.fit(X, y)
            limits = model.predict_interval(at)
        except (ValueError, AttributeError, ArithmeticError) as error:
            return type(error).__name__
    return [
        float(model.intercept_),
        *(float(each) for each in model.coef_),
        float(model.n_metasamples_),
        *(float(each) for each in limits.ravel()),
    ]


def main() -> None:
    """Write the table."""
    found = {key: fitted(key, d, parameters) for key, d, parameters in cases()}
    STORED.write_text(json.dumps(found, indent=0) + "\n")
    errors = sum(isinstance(each, str) for each in found.values())
    print(f"{len(found)} fits, {errors} of them errors, in {STORED.name}", file=sys.stderr)


if __name__ == "__main__":
    main()
