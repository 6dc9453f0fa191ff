"""Rows to work on, and a command in this process, for the tests of the command line."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from multiobs.cli import main


def frame(n: int = 300, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=n)
    kind = rng.choice(["a", "b"], n)
    y = np.sin(4 * x) + (0.5 + x + (kind == "b")) * rng.normal(size=n)
    return pd.DataFrame({"x": x, "kind": kind, "y": y, "w": rng.uniform(1, 2, n), "id": range(n)})


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    code = end.value.code
    return (0 if code is None else int(code)), out, err
