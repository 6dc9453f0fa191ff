"""Write the stored example files, once for each version of the format; never write them again.

``python tests/models/make_examples.py`` refuses to touch a file that is there.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multiobs import MultiObservationRegressor, Smooth, models

FITS: dict[str, tuple[str, dict[str, Any]]] = {
    "variance-v1": ("variance", {}),
    "maxvar-v1": ("maxvar", {}),
    "ucb-v1": ("ucb", {}),
    "smooth-variance-v2": ("variance", {"features": "smooth"}),
    "smooth-ucb-v2": ("ucb", {"features": Smooth(interactions=False, n_knots=6)}),
    "log-link-v2": ("variance", {"link": "log"}),
    "averaged-gini-v3": ("gini_mean_difference", {"estimator": "auto"}),
}
HERE = Path(__file__).parent / "examples"


def main() -> None:
    """Fit to fixed rows and keep the file with predictions made on that day."""
    rng = np.random.default_rng(12)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 400), "kind": rng.choice(["a", "b"], 400)})
    y = np.sin(frame["x"]) + (2 + frame["x"] / 5) * rng.gamma(3.0, 1.0, 400)
    places = pd.DataFrame({"x": [0.0, 2.5, 5.0, 10.0], "kind": ["a", "b", "a", "b"]})
    for name, (statistic, options) in FITS.items():
        path = HERE / f"{name}.json"
        if path.exists():
            print(f"{path.name} is there and stays as it is")
            continue
        model = MultiObservationRegressor(statistic, random_state=0, **options).fit(frame, y)
        models.save(model, path, notes={"made": "by tests/models/make_examples.py"})
        expected = {
            "x": places["x"].tolist(),
            "kind": places["kind"].tolist(),
            "prediction": model.predict(places).tolist(),
            "interval": model.predict_interval(places).tolist(),
        }
        path.with_suffix(".expected").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
