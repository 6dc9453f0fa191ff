"""The command ``multiobs reproduce``: options, a progress bar, and where the files are."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

__all__ = ["reproduce"]


def reproduce(
    *,
    panel: Annotated[
        list[str] | None,
        typer.Option(
            help="A panel of the figure, by its scenario; may be repeated. All by default."
        ),
    ] = None,
    n: Annotated[
        list[int] | None,
        typer.Option("--n", help="A number of labels; may be repeated. 50 to 3200 by default."),
    ] = None,
    trials: Annotated[int | None, typer.Option(help="Trials of each point [1000].")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; one for each core by default.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Directory for results, figures and claims.")] = Path(
        "multiobs-reproduction"
    ),
    seed: Annotated[int, typer.Option(help="Seed of all generators.")] = 0,
    sweeps: Annotated[
        bool | None, typer.Option(help="The sweeps behind the paper's footnotes.")
    ] = None,
    beyond: Annotated[bool | None, typer.Option(help="The same panels to n = 100 000.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A small grid, under a minute, for a first look.")
    ] = False,
) -> None:
    """Reproduce the paper's figure, the table behind it and a verdict on each of its claims.

    Interrupted and started again, the same command goes on where it stopped.

    \b
    multiobs reproduce --quick
    multiobs reproduce --panel variance-sine --trials 200 --out figures
    """
    # Imported here: scikit-learn takes a second that --help should not.
    from multiobs.experiments.document import ENOUGH
    from multiobs.experiments.grids import SIZES, ReproductionPlan
    from multiobs.experiments.reproduce import reproduce as run
    from multiobs.experiments.scenarios import PANELS

    for name in panel or ():
        if name not in PANELS:
            raise typer.BadParameter(f"panel must be one of {', '.join(PANELS)}, got {name}")
    sizes = tuple(dict.fromkeys(n)) if n else (100, 400, 1000) if quick else SIZES
    plan = ReproductionPlan(
        panels=tuple(name for name in PANELS if not panel or name in panel),
        sizes=tuple(sorted(sizes)),
        trials=trials if trials is not None else 20 if quick else 1000,
        sweeps=sweeps if sweeps is not None else True,
        beyond=beyond if beyond is not None else not quick,
    )
    if workers is None:
        workers = os.cpu_count() or 1
    console = Console()
    if plan.trials < ENOUGH:
        console.print(
            f"{plan.trials} trials of each point are a first look: most differences between good "
            "methods are too small for them, and claims.md says so",
            highlight=False,
        )
    started = time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn(elapsed_when_finished=True))  # fmt: skip
    with Progress(*columns, console=console, speed_estimate_period=600.0) as bar:
        task = bar.add_task("cells", total=None)

        def tell(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        try:
            written = run(plan, out, seed=seed, workers=workers, on_progress=tell)
        except KeyboardInterrupt:
            bar.stop()
            console.print(
                f"interrupted; finished cells are kept in {out}, the same command goes on"
            )
            raise typer.Exit(130) from None
    minutes = (time.monotonic() - started) / 60.0
    console.print(f"done in {minutes:.1f} minutes", highlight=False)
    for path in written:
        console.print(str(path), soft_wrap=True, highlight=False)
