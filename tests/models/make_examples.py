"""Write the stored example files, once for each version of the format; never write them again.

``python tests/models/make_examples.py`` refuses to touch a file that is there.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from multiobs import MultiObservationRegressor, models
from multiobs.models import VERSION

HERE = Path(__file__).parent / "examples"


def main() -> None:
    """Fit to fixed rows and keep the file with predictions made on that day."""
    rng = np.random.default_rng(12)
    frame = pd.DataFrame({"x": rng.uniform(0, 10, 400), "kind": rng.choice(["a", "b"], 400)})
    y = np.sin(frame["x"]) + (2 + frame["x"] / 5) * rng.gamma(3.0, 1.0, 400)
    places = pd.DataFrame({"x": [0.0, 2.5, 5.0, 10.0], "kind": ["a", "b", "a", "b"]})
    for name in ("variance", "maxvar", "ucb"):
        path = HERE / f"{name}-v{VERSION}.json"
        if path.exists():
            print(f"{path.name} is there and stays as it is")
            continue
        model = MultiObservationRegressor(name, random_state=0).fit(frame, y)
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
