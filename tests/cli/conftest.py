"""A table that most commands are tried on."""

from pathlib import Path

import pytest


@pytest.fixture
def data(tmp_path: Path) -> Path:
    from cli.running import frame

    path = tmp_path / "rows.csv"
    frame().to_csv(path, index=False)
    return path
