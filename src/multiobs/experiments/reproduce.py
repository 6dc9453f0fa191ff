"""One call for the whole reproduction: results, figures, claims."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from multiobs._files import beside
from multiobs.experiments.document import claims_document
from multiobs.experiments.figure import draw_beyond, draw_figure, draw_sweeps
from multiobs.experiments.grids import ReproductionPlan
from multiobs.experiments.run import run
from multiobs.experiments.summary import Trials

__all__ = ["reproduce"]


def reproduce(
    plan: ReproductionPlan,
    folder: Path | str,
    *,
    seed: int = 0,
    workers: int = 1,
    on_progress: Callable[[int, int], Any] | None = None,
) -> list[Path]:
    """Run a plan and write ``results.csv``, the figures and ``claims.md`` into a folder.

    Started again after an interruption, it goes on where it stopped; see
    :func:`multiobs.experiments.run.run`.

    Returns
    -------
    list of Path
        The files written.
    """
    folder = Path(folder)
    results = folder / "results.csv"
    trials = Trials(run(plan.requests(), results, seed=seed, workers=workers,
                        on_progress=on_progress))  # fmt: skip
    written = [results, *draw_figure(trials, plan, folder)]
    if plan.beyond:
        written += draw_beyond(trials, plan, folder)
    if plan.sweeps:
        written += draw_sweeps(trials, plan, folder)
    claims = folder / "claims.md"
    with beside(claims) as fresh:
        fresh.write_text(claims_document(trials, plan), encoding="utf-8")
    return [*written, claims]
