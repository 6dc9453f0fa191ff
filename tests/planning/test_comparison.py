"""Designs simulated and compared, and the command."""

import json
import math

import numpy as np
import pytest

from multiobs import planning, statistics
from multiobs.experiments import SCENARIOS
from multiobs.planning import BoundedProblem


def test_simulated_error_of_replicates_is_the_theoretical_one():
    # psi has variance 2 and is fitted by a line: 2 * 2 / n with n = 400 metasamples
    law = SCENARIOS["variance-line"]
    found = planning.simulate(law, "replicates", 800, runs=300, rng=np.random.default_rng(0))
    assert found.rows == 400
    assert abs(found.mean - 4 / 400) < 4 * found.standard_error + 0.0005


@pytest.mark.parametrize("design", ["two-moment", "supervised", "default", "pool", "replicates"])
def test_every_design_improves_with_labels(design):
    rng = np.random.default_rng(0)
    law = SCENARIOS["variance-sine"]
    few, many = (
        planning.simulate(law, design, n, runs=15, test_points=300, rng=rng) for n in (100, 1600)
    )
    assert many.mean < few.mean
    assert few.labels == 100
    assert few.quantile(0.9) >= np.median(few.errors)


def test_a_design_that_forms_no_metasample_has_infinite_error():
    law = SCENARIOS["minvar-exponential"]
    found = planning.simulate(
        law, "supervised", 8, statistic=statistics.minvar(4), runs=5, rng=np.random.default_rng(0)
    )
    assert found.mean == math.inf == found.standard_error


def test_comparison_table_and_json():
    problem = BoundedProblem("variance", K=0.5, y_range=(-4.0, 4.0))
    found = planning.compare_designs(
        0.5, problem, scenario=SCENARIOS["variance-line"], runs=10, limit=200,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    designs = [(row.design, row.by) for row in found.rows]
    assert ("pool", "Theorem 2") in designs
    assert ("two-moment", "rate") in designs
    read = json.loads(found.to_json())
    assert read["K"] == 0.5
    assert len(read["designs"]) == len(found.rows)
    simulated = {row["design"]: row["simulated_labels"] for row in read["designs"]}
    assert simulated["replicates"] <= 200
    text = found.to_text().splitlines()
    assert len(text) == 2 + len(found.rows)
    assert all(row.labels is None or row.labels > 0 for row in found.rows)
    with pytest.raises(ValueError, match="rng must be a numpy Generator"):
        planning.compare_designs(0.5, scenario=SCENARIOS["variance-line"])


def test_comparison_in_fifty_dimensions_has_no_infinite_json():
    pytest.importorskip("pandas")
    found = planning.compare_designs(1e-4, BoundedProblem("variance", d=50))
    assert "Infinity" not in found.to_json()
    assert found.to_frame()["design"].tolist()[0] == "two-moment"


def test_comparison_plot():
    plt = pytest.importorskip("matplotlib.pyplot")
    found = planning.compare_designs(
        0.5, BoundedProblem(K=0.5), scenario=SCENARIOS["variance-line"], runs=4, limit=64,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    ax = found.plot()
    labels = ax.get_legend_handles_labels()[1]
    assert "bound: Theorem 1" in labels
    assert any(label.startswith("simulated") for label in labels)
    plt.close(ax.figure)


def run_plan(*arguments):
    typer = pytest.importorskip("typer")
    from typer.testing import CliRunner

    from multiobs.cli.plan import plan

    app = typer.Typer()
    app.command()(plan)
    return CliRunner().invoke(app, list(arguments))


def test_plan_command_table_and_json():
    table = run_plan("--target", "0.05", "-K", "0.5")
    assert table.exit_code == 0
    assert "Theorem 1" in table.output
    assert "7,248" in table.output
    answer = run_plan("--target", "0.05", "-K", "0.5", "--json")
    designs = json.loads(answer.output)["designs"]
    pool = next(row for row in designs if (row["design"], row["by"]) == ("pool", "Theorem 1"))
    assert pool["labels"] == 7248


def test_plan_command_simulates_a_scenario():
    answer = run_plan(
        "--scenario", "minvar-exponential", "--target", "3", "--high", "60", "--runs", "4",
        "--limit", "100", "--json",
    )  # fmt: skip
    assert answer.exit_code == 0, answer.output
    read = json.loads(answer.output)
    assert read["statistic"] == "minvar(k=4)"
    assert all(row["simulated"] for row in read["designs"])
    wrong = run_plan("--scenario", "variance-line", "--statistic", "ucb")
    assert "the statistic must be that of variance-line" in str(wrong.exception)
