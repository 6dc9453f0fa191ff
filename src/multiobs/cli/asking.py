"""What the user asks of which table, in one record, and the fit of it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from multiobs.cli.problems import Refusal, rows_text
from multiobs.cli.session import Steps
from multiobs.cli.source import Dialect

if TYPE_CHECKING:
    from multiobs.cli.columns import FileRows, Wanted
    from multiobs.cli.modelling import FittedModel, Settings
    from multiobs.cli.source import OpenedTable
    from multiobs.statistics import Statistic

SERIAL = "serial"  # rows that follow each other in x depend on each other


@final
@dataclass(frozen=True)
class Asked:
    """A table and the parts that its columns play, as typed.

    Attributes
    ----------
    data : str
        Path, or - for standard input.
    x, y, category : list of str
        Columns, several with commas.
    weights, groups, clusters : str or None
        Columns.
    drop_missing : bool
        Whether rows with a missing value are left out.
    dialect : Dialect
        How the file is written.
    """

    data: str
    x: list[str]
    y: list[str]
    dialect: Dialect
    weights: str | None = None
    groups: str | None = None
    clusters: str | None = None
    category: tuple[str, ...] = ()
    drop_missing: bool = False

    def wanted(self, source: "OpenedTable", what: "Statistic") -> "Wanted":
        """Find the columns in the table."""
        from multiobs.cli.columns import Wanted, names_of

        def found(name: str | None, option: str) -> str | None:
            return None if name is None else source.find(name, option)

        serial = self.clusters == SERIAL and SERIAL not in source.columns
        return Wanted(
            x=names_of(self.x, source, "--x"),
            y=names_of(self.y, source, "--y"),
            weights=found(self.weights, "--weights"),
            groups=found(self.groups, "--groups"),
            clusters=None if serial else found(self.clusters, "--clusters"),
            categories=names_of(self.category, source, "--category"),
            drop_missing=self.drop_missing,
            label_codes=what.scale is None and what.shift is None,
        )

    def clusters_of(self, rows: "FileRows") -> Any:
        """Which rows depend on each other, as the estimator takes it."""
        if self.clusters is None:
            return None
        return SERIAL if rows.clusters is None else rows.clusters


def fit_table(
    asked: Asked, settings: "Settings", steps: Steps, memory: int | None = None
) -> "tuple[OpenedTable, FileRows, FittedModel]":
    """Read a table and fit it, by parts where it needs more memory than it may take.

    Parameters
    ----------
    asked : Asked
        Which table and columns.
    settings : Settings
        What to fit.
    steps : Steps
        Told what is being done.
    memory : int, optional
        Bytes that the fit may take; None holds all rows, whatever they need.
    """
    from multiobs.cli.columns import take
    from multiobs.cli.formats import open_source
    from multiobs.cli.large import WHOLE, fitted_by_parts, has_numbers, needs_parts, plain_rows
    from multiobs.cli.modelling import fitted

    steps.next("reading")
    settings.estimator()  # a wrong option is said before a large file is read
    source = open_source(asked.data, asked.dialect)
    wanted = asked.wanted(source, settings.what())
    alone = asked.clusters is None and memory is not None
    if alone and memory is not None and needs_parts(source, wanted, settings, memory):
        assert source.path is not None
        held = source.path.stat().st_size <= WHOLE  # small enough to be read whole after all
        try:
            with plain_rows(source, wanted) as plain:
                if has_numbers(plain):
                    steps.next(f"fitting {rows_text(plain.rows.size)} by parts")
                    return source, plain.rows, fitted_by_parts(settings, plain, memory)
        except Refusal as problem:
            if not (held and problem.again):
                raise
    rows = take(source, wanted)
    if wanted.clusters is not None and rows.kinds.get(wanted.clusters) == "category":
        raise Refusal(
            f"--clusters must name another column than the categories of --x, got "
            f"{wanted.clusters!r}: a cluster with a level of its own says nothing about its error"
        )
    steps.next(f"fitting {rows_text(rows.size)}")
    return source, rows, fitted(settings, rows, dependent=asked.clusters is not None)
