"""The page: whole, small, escaped, and with the numbers it was given."""

import json
import re
from html import unescape
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multiobs.report.page import Chart, Layer, Page, Section, TableBlock, number_text, render

NASTY = '<script>alert("x")</script></title>&amp;<!-- \u2028 \' " ]]> <img src=x onerror=alert(1)>'


class Reader(HTMLParser):
    """Elements, attributes and texts of a page, as a browser sees them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script":
            self.scripts.append(data)
        else:
            self.text += data


def page(text: str) -> Page:
    x = np.linspace(0, 1, 5)
    layer = Layer(text, x, x**2, low=x**2 - 1, high=x**2 + 1)
    dots = Layer(text, np.arange(2.0), np.array([1.0, np.nan]), "points")
    charts = [
        Chart(text, text, text, [layer], note=text),
        Chart(text, text, text, [dots], "category", [text, "b"]),
    ]
    tables = [TableBlock([(text, text)]), TableBlock([(text, text)], (text, text), text)]
    section = Section(text, [text], [text], [text], charts, tables, [text])
    return Page(text, text, [section])


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    return reader


@settings(max_examples=50, deadline=None)
@given(st.text(min_size=1, max_size=40).map(lambda text: text.replace("\r", "x")))
def test_no_text_of_the_data_becomes_markup(text: str) -> None:
    plain, strange = read(render(page("plain"))), read(render(page(text)))
    assert [tag for tag, _ in plain.tags] == [tag for tag, _ in strange.tags]


def test_the_nastiest_name_stays_a_text() -> None:
    html = render(page(NASTY))
    reader = read(html)
    assert [tag for tag, _ in reader.tags] == [tag for tag, _ in read(render(page("a"))).tags]
    assert reader.text.count(NASTY) >= 8
    specs = [json.loads(s) for s in reader.scripts if s.startswith("{")]
    assert specs[0]["title"] == specs[0]["layers"][0]["name"] == NASTY


def test_nothing_is_fetched_and_only_the_own_script_may_run() -> None:
    html = render(page("a"))
    reader = read(html)
    for tag, attributes in reader.tags:
        assert tag not in {"link", "img", "iframe", "object", "base", "form"}
        assert not {"src", "srcset", "onclick", "onload"} & set(attributes)
    policy = next(a["content"] for t, a in reader.tags if "http-equiv" in a)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert not re.search(r"url\((?!#)", html.replace("url(#${id})", ""))
    assert "http" not in html.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


def test_the_numbers_are_there_for_script_and_reader() -> None:
    reader = read(render(page("a")))
    spec = json.loads(next(s for s in reader.scripts if s.startswith("{")))
    assert spec["layers"][0]["y"] == [0.0, 0.0625, 0.25, 0.5625, 1.0]
    assert spec["layers"][0]["low"] == [-1.0, -0.9375, -0.75, -0.4375, 0.0]
    assert "0.5625" in reader.text
    second = [json.loads(s) for s in reader.scripts if s.startswith("{")][1]
    assert second["layers"][0]["y"] == [1.0, None]


def test_the_page_itself_is_small() -> None:
    assert len(render(Page("a", "b")).encode()) < 25_000


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1234567.0, "1,235,000"),
        (0.00001, "1e-05"),
        (float("nan"), "–"),
        (-3.14159, "-3.142"),
    ],
)
def test_numbers_for_people(value: float, text: str) -> None:
    assert number_text(value) == text
    assert unescape(number_text(value)) == text
