"""One HTML file that says what was asked, what was found, and how far it can be trusted.

The page is self-contained: no network, no library (its own 20 kB of script and style; a bundle of
Vega-Lite would be 900 kB in each file), light and dark, phone and print.
"""

from multiobs.report.build import STEPS, build
from multiobs.report.page import Chart, Layer, Page, Section, TableBlock, render
from multiobs.report.study import Positions, Study

__all__ = [
    "STEPS",
    "Chart",
    "Layer",
    "Page",
    "Positions",
    "Section",
    "Study",
    "TableBlock",
    "build",
    "render",
]
