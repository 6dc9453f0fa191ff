"""The page as records, and the records as HTML; everything that came from a file is escaped."""

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib import resources
from math import isfinite
from typing import Any, Literal, final

from multiobs import _check
from multiobs._types import FloatArray

LayerKind = Literal["line", "points", "cloud"]
XKind = Literal["number", "date", "category"]


@final
@dataclass(frozen=True)
class Layer:
    """One series of a chart; layers of one name are shown and hidden together.

    Attributes
    ----------
    name : str
        In the legend and on hover.
    x, y : ndarray (n,)
        Positions and values; dates are days since 1970, categories are numbers from zero.
    kind : {"line", "points", "cloud"}
        A curve, marks with whiskers, or many small marks that do not answer to hover.
    low, high : ndarray (n,) or None
        Limits of a band or of whiskers.
    hidden, dashed : bool
        Whether it is off at first; how it is drawn.
    colour : int or None
        One of six; by the order of names otherwise.
    """

    name: str
    x: FloatArray
    y: FloatArray
    kind: LayerKind = "line"
    low: FloatArray | None = None
    high: FloatArray | None = None
    hidden: bool = False
    dashed: bool = False
    colour: int | None = None


@final
@dataclass(frozen=True)
class Chart:
    """A chart of one or more layers.

    Attributes
    ----------
    title, x_label, y_label : str
        Texts.
    layers : sequence of Layer
        What is drawn, in that order.
    x_kind : {"number", "date", "category"}
        How positions are written.
    categories : sequence of str
        Texts of the positions 0, 1, … of a categorical axis.
    note : str
        Below the chart.
    y_range : tuple of float, optional
        What is worth seeing; a band may leave it.
    diagonal, zero : bool
        Guides: y = x, and y = 0.
    """

    title: str
    x_label: str
    y_label: str
    layers: Sequence[Layer]
    x_kind: XKind = "number"
    categories: Sequence[str] = ()
    note: str = ""
    y_range: tuple[float, float] | None = None
    diagonal: bool = False
    zero: bool = False

    def spec(self) -> dict[str, Any]:
        """Return what the script draws, as plain lists."""
        found: dict[str, Any] = {
            "title": self.title,
            "x_label": self.x_label,
            "y_label": self.y_label,
            "x_kind": self.x_kind,
            "layers": [_layer(each) for each in self.layers],
        }
        if self.categories:
            found["categories"] = list(self.categories)
        if self.y_range is not None:
            found["y_range"] = list(self.y_range)
        for name, value in (("diagonal", self.diagonal), ("zero", self.zero)):
            if value:
                found[name] = found["pad"] = True
        return found


@final
@dataclass(frozen=True)
class TableBlock:
    """A table of texts; ``facts`` has no head and two columns, a name and a value."""

    rows: Sequence[Sequence[str]]
    head: Sequence[str] = ()
    caption: str = ""


@final
@dataclass(frozen=True)
class Section:
    """A heading with paragraphs, warnings, charts, tables and texts as they are.

    Attributes
    ----------
    title : str
        The heading.
    paragraphs, warnings : sequence of str
        Plain text.
    findings : sequence of str
        Sentences of a list.
    charts : sequence of Chart
        Each in a figure of its own.
    tables : sequence of TableBlock
        Below the charts.
    code : sequence of str
        Shown as they are.
    """

    title: str
    paragraphs: Sequence[str] = ()
    warnings: Sequence[str] = ()
    findings: Sequence[str] = ()
    charts: Sequence[Chart] = ()
    tables: Sequence[TableBlock] = ()
    code: Sequence[str] = ()


@final
@dataclass(frozen=True)
class Page:
    """A whole report.

    Attributes
    ----------
    title, lead : str
        Heading, and the sentence below it.
    sections : sequence of Section
        What follows.

    Examples
    --------
    >>> Page("Flight delays", "One year, three airports.").title
    'Flight delays'
    """

    title: str
    lead: str
    sections: Sequence[Section] = field(default_factory=tuple)

    def __post_init__(self) -> None:
        for name, text in (("title", self.title), ("lead", self.lead)):
            if not isinstance(text, str):
                raise TypeError(f"{name} must be a text, got {_check.shown(text)}")
        listed = isinstance(self.sections, list | tuple)
        if not listed or not all(isinstance(each, Section) for each in self.sections):
            raise TypeError(
                f"sections must be a list of Section, got {_check.shown(self.sections)}"
            )


def render(page: Page) -> str:
    """Return the page as one self-contained HTML file.

    Only the page's own script may run (its hash is in the content security policy), nothing may
    be fetched, and texts of the data are escaped or inside JSON without angle brackets.

    Parameters
    ----------
    page : Page
        What :func:`build` made.

    Examples
    --------
    >>> text = render(Page("<script>", "A & B"))
    >>> "<script>" in text.split("</title>")[0], "A &amp; B" in text
    (False, True)
    """
    if not isinstance(page, Page):
        raise TypeError(f"page must be a Page, got {_check.shown(page)}")
    script, style = _asset("chart.js"), _asset("page.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    links = "".join(
        f'<a href="#s{i}">{escape(each.title)}</a>' for i, each in enumerate(page.sections)
    )
    body = "".join(_section(i, each) for i, each in enumerate(page.sections))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(page.title)}</title><style>{style}</style></head><body>"
        f"<header><h1>{escape(page.title)}</h1><p>{escape(page.lead)}</p>"
        f"<nav>{links}</nav></header><main>{body}</main>"
        "<noscript><p class=warning>The charts are drawn by a script that this browser does not "
        "run; the tables below each chart have their values.</p></noscript>"
        f"<script>{script}</script></body></html>\n"
    )


@cache
def _asset(name: str) -> str:
    return (resources.files("multiobs.report") / "assets" / name).read_text(encoding="utf-8")


def _section(place: int, section: Section) -> str:
    parts = [f'<section><h2 id="s{place}">{escape(section.title)}</h2>']
    parts += [f'<p class="warning">{escape(text)}</p>' for text in section.warnings]
    parts += [f"<p>{escape(text)}</p>" for text in section.paragraphs]
    if section.findings:
        items = "".join(f"<li>{escape(text)}</li>" for text in section.findings)
        parts.append(f'<ul class="findings">{items}</ul>')
    parts += [_figure(f"f{place}-{i}", chart) for i, chart in enumerate(section.charts)]
    parts += [_table(table) for table in section.tables]
    parts += [f"<pre>{escape(text)}</pre>" for text in section.code]
    return "".join([*parts, "</section>"])


def _figure(name: str, chart: Chart) -> str:
    note = f'<p class="note">{escape(chart.note)}</p>' if chart.note else ""
    return (
        f'<figure class="chart" id="{name}"><figcaption><h3>{escape(chart.title)}</h3>{note}'
        f'</figcaption><script type="application/json">{_json(chart.spec())}</script></figure>'
        f"{_values(chart)}"
    )


def _values(chart: Chart) -> str:
    """The numbers of a chart as a table, folded away: for screen readers, print and copying."""
    rows = []
    for layer in chart.layers:
        if layer.kind == "cloud":
            continue
        step = max(1, len(layer.x) // 25)
        for i in range(0, len(layer.x), step):
            band = ("", "")
            if layer.low is not None and layer.high is not None:
                band = (f"{layer.low[i]:.5g}", f"{layer.high[i]:.5g}")
            at = _position(chart, float(layer.x[i]))
            rows.append((layer.name, at, f"{layer.y[i]:.5g}", *band))
    table = TableBlock(rows, ("series", chart.x_label, chart.y_label, "low", "high"))
    return f"<details><summary>values</summary>{_table(table)}</details>"


def _position(chart: Chart, value: float) -> str:
    if chart.x_kind == "category":
        return chart.categories[round(value)]
    if chart.x_kind == "date":
        return date_text(value)
    return f"{value:.5g}"


def date_text(days: float) -> str:
    """Write days since 1970 as a date, with the time of day where there is one.

    >>> date_text(18262.0), date_text(0.5), date_text(1e9)
    ('2020-01-01', '1970-01-01 12:00', '1e+09')
    """
    from datetime import datetime, timedelta

    try:
        moment = datetime(1970, 1, 1) + timedelta(days=days)
    except OverflowError:
        return f"{days:.5g}"
    return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M")


def number_text(value: float, digits: int = 4) -> str:
    """Write a number with so many digits that count, and commas where it is large.

    >>> number_text(18351.2), number_text(0.0123456), number_text(-1.5e9), number_text(2.0)
    ('18,350', '0.01235', '-1.5e+09', '2')
    """
    if not isfinite(value):
        return "–"
    size = abs(value)
    if size and (size >= 1e7 or size < 1e-4):
        return f"{value:.{digits - 1}g}" if digits > 3 else f"{value:.{digits}g}"
    rounded = float(f"{value:.{digits}g}")
    return f"{int(rounded):,}" if rounded == int(rounded) else f"{rounded:,}"


def _table(table: TableBlock) -> str:
    if not table.head:
        body = "".join(
            f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in table.rows
        )
        return f'<div class="scroll"><table class="facts">{body}</table></div>'
    caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
    columns = [[row[at] for row in table.rows] for at in range(len(table.head))]
    marks = [' class="text"' if _is_text(cells) else "" for cells in columns]

    def cells(name: str, row: Sequence[str]) -> str:
        pairs = zip(row, marks, strict=True)
        return "".join(f"<{name}{mark}>{escape(cell)}</{name}>" for cell, mark in pairs)

    head = cells("th", table.head)
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in table.rows)
    return (
        f'<div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _is_text(cells: Sequence[str]) -> bool:
    """Whether a column is one of sentences, which may be long, and no numbers to be aligned."""
    return bool(cells) and not any(cell[:1].isdigit() or cell[:1] in "-–" for cell in cells[1:])


def _layer(layer: Layer) -> dict[str, Any]:
    found: dict[str, Any] = {
        "name": layer.name,
        "kind": layer.kind,
        "x": _numbers(layer.x, 10),
        "y": _numbers(layer.y, 7),
    }
    if layer.low is not None and layer.high is not None:
        found |= {"low": _numbers(layer.low, 7), "high": _numbers(layer.high, 7)}
    for key, value in (("hidden", layer.hidden), ("dashed", layer.dashed)):
        if value:
            found[key] = True
    if layer.colour is not None:
        found["colour"] = layer.colour
    return found


def _numbers(values: FloatArray, digits: int) -> list[float | None]:
    """Finite numbers with as many digits as a chart shows; JSON has no other."""
    return [float(f"{v:.{digits}g}") if isfinite(v) else None for v in values.tolist()]


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
