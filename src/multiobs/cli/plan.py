"""The ``multiobs plan`` command; ``_commands`` registers it."""

from typing import Annotated

import typer


def plan(
    *,
    target: Annotated[
        float, typer.Option(help="Excess risk wanted; for squared losses, mean squared error.")
    ] = 0.05,
    statistic: Annotated[
        str, typer.Option(help="Name in the catalogue; that of the scenario by default.")
    ] = "",
    dimension: Annotated[int, typer.Option("--dimension", "-d", help="Columns of x.")] = 1,
    lipschitz: Annotated[
        float, typer.Option("--lipschitz", "-K", help="Lipschitz constant of the law of y (A1).")
    ] = 1.0,
    low: Annotated[float, typer.Option(help="Smallest label.")] = 0.0,
    high: Annotated[float, typer.Option(help="Largest label.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Failure probability.")] = 0.05,
    constant: Annotated[
        float, typer.Option("--constant", "-C", help="Universal constant of the sampling lemmas.")
    ] = 1.0,
    repaired: Annotated[
        bool, typer.Option(help="Bounds as the proofs give them, not as printed.")
    ] = False,
    scenario: Annotated[
        str, typer.Option(help="A law to simulate the designs on, such as variance-sine.")
    ] = "",
    runs: Annotated[int, typer.Option(help="Repetitions of each simulation.")] = 50,
    limit: Annotated[int, typer.Option(help="Most labels to simulate.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Seed of the simulations.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """How many rows and labels each design needs for a target: theorems, and simulation.

    \b
    multiobs plan --target 0.01
    multiobs plan --target 0.05 --scenario variance-sine --runs 20
    """
    # Imported here: scikit-learn takes a second that --help should not.
    import numpy as np

    from multiobs import planning, statistics
    from multiobs._tables import print_table
    from multiobs.experiments.scenarios import scenario as find_scenario

    law = find_scenario(scenario) if scenario else None
    what = statistics.resolve(statistic or "variance")
    if law is not None:
        known = statistics.build(law.statistic, law.parameters)
        if statistic and known.name != what.name:
            raise ValueError(
                f"the statistic must be that of {scenario}, {known.name}, got {statistic}"
            )
        what = known
    problem = planning.BoundedProblem(what, d=dimension, K=lipschitz, y_range=(low, high))
    found = planning.compare_designs(
        target,
        problem,
        delta=delta,
        C=constant,
        form="repaired" if repaired else "paper",
        scenario=law,
        runs=runs,
        limit=limit,
        rng=np.random.default_rng(seed),
    )
    if json:
        typer.echo(found.to_json())
        return
    print_table(found.table())
    typer.echo(
        "n: metasamples; rate: exponent of the excess risk in labels, without a constant; "
        "simulated: labels enough.\n"
        "The theorems hold for every law and are loose for yours"
        + (": compare the last column." if law else "; --scenario simulates one.")
    )
