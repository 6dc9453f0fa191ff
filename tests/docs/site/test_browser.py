"""The built site in a real browser: ``make browser-docs``.

Fails on text that is cut, pages wider than the screen, markup that was not rendered, formulas that
MathJax refused, and anything the console calls an error.
"""

import functools
import http.server
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if "MULTIOBS_SITE" not in os.environ:
    pytest.skip("MULTIOBS_SITE is not set: make browser-docs sets it", allow_module_level=True)
from selenium import webdriver
from selenium.webdriver.support.ui import WebDriverWait

SITE = Path(os.environ["MULTIOBS_SITE"]).resolve()
PAGES = [str(path.relative_to(SITE)) for path in sorted(SITE.glob("**/*.html"))]
PAGES = [page for page in PAGES if not page.startswith(("_modules", "_static"))]
BY_HAND = [page for page in PAGES if "generated" not in page and page != "genindex.html"]
DESKTOP, PHONE = (1280, 900), (390, 844)
# What the theme says to a browser that has no settings yet, and the icon that browsers ask for.
FIRST_VISIT = re.compile(r"invalid theme mode|favicon\.ico")
RAW = re.compile(
    r":(?:math|func|class|mod|doc|py:\w+):`|\{(?:doc|py:\w+|math)\}`|\\t?frac|``\w|\{\{|^\.\. "
)

VISIBLE = r"""
const skip = 'pre, code, script, style, nav, .sr-only, .visually-hidden, mjx-assistive-mml, svg';
const walk = document.createTreeWalker(document.querySelector('article') || document.body,
                                       NodeFilter.SHOW_TEXT);
let text = '';
while (walk.nextNode()) {
  const parent = walk.currentNode.parentElement;
  if (parent && !parent.closest(skip)) text += walk.currentNode.textContent;
}
return text;
"""
CUT = r"""
const found = [];
for (const box of document.querySelectorAll('article *')) {
  const drawn = 'svg, mjx-container, .sr-only, .visually-hidden, .sphx-glr-thumbcontainer';
  if (box.closest(drawn)) continue;
  const style = getComputedStyle(box);
  const hides = style.overflowX === 'hidden' || style.overflowX === 'clip';
  if (hides && box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 1)
    found.push(box.tagName + '.' + box.className + ': ' + box.textContent.trim().slice(0, 60));
}
return found;
"""
SETTLED = "return !window.MathJax || !MathJax.startup || !MathJax.startup.promise || window.settled"
TELL = """
if (window.MathJax && MathJax.startup && MathJax.startup.promise)
  MathJax.startup.promise.then(() => { window.settled = true; });
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    profile = tmp_path_factory.mktemp("profile")
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run"):
        options.add_argument(f"--{flag}")
    for flag in ("disable-background-networking", "disable-component-update", "disable-sync"):
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={profile}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def visit(browser: webdriver.Chrome, url: str, size: tuple[int, int]) -> None:
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get_log("browser")
    browser.get(url)
    browser.execute_script(TELL)
    WebDriverWait(browser, 60).until(lambda b: b.execute_script(SETTLED))


def faults(browser: webdriver.Chrome, size: tuple[int, int]) -> list[str]:
    found = [
        f"console: {entry['message']}"
        for entry in browser.get_log("browser")
        if entry["level"] == "SEVERE" and not FIRST_VISIT.search(entry["message"])
    ]
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    if wide > size[0] + 1:
        found.append(f"the page is {wide} wide on a screen of {size[0]}")
    raw = RAW.search(browser.execute_script(VISIBLE))
    if raw:
        found.append(f"raw markup: {raw.group()!r}")
    found += [f"cut: {text}" for text in browser.execute_script(CUT)]
    refused = (
        "return document.querySelectorAll('[data-mml-node=merror], mjx-merror, merror').length"
    )
    if browser.execute_script(refused):
        found.append("a formula that MathJax refused")
    return found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_whole_on_a_desktop(browser: webdriver.Chrome, address: str, page: str) -> None:
    visit(browser, f"{address}/{page}", DESKTOP)
    assert faults(browser, DESKTOP) == []


@pytest.mark.parametrize("page", BY_HAND)
def test_a_page_is_whole_on_a_phone(browser: webdriver.Chrome, address: str, page: str) -> None:
    visit(browser, f"{address}/{page}", PHONE)
    assert faults(browser, PHONE) == []


def drawn(browser: webdriver.Chrome, element: str) -> list[list[str]]:
    """Texts of the parts of each such element of the formulas as MathJax understood them."""
    chosen = f"document.querySelectorAll('mjx-assistive-mml {element}')"
    found: list[list[str]] = browser.execute_script(
        f"return [...{chosen}].map(f => [...f.children].map(c => c.textContent.trim()))"
    )
    return found


def test_the_variance_is_half_of_a_squared_difference(
    browser: webdriver.Chrome, address: str
) -> None:
    """What is drawn, not what was typed: one over two, and a bracket beside it."""
    visit(browser, f"{address}/api/generated/multiobs.statistics.variance.html", DESKTOP)
    assert ["1", "2"] in drawn(browser, "mfrac")


def test_the_representative_wears_a_tilde(browser: webdriver.Chrome, address: str) -> None:
    page = "api/generated/multiobs.MultiObservationRegressor.html"
    visit(browser, f"{address}/{page}", DESKTOP)
    assert any(over[0] == "x" and over[1] in "~˜" for over in drawn(browser, "mover"))


def test_the_dark_page_is_dark(browser: webdriver.Chrome, address: str) -> None:
    visit(browser, f"{address}/index.html", DESKTOP)
    browser.execute_script("document.documentElement.dataset.theme = 'dark'")
    colour = "return getComputedStyle(document.body).backgroundColor"
    red, green, blue = (int(v) for v in re.findall(r"\d+", browser.execute_script(colour))[:3])
    assert max(red, green, blue) < 64


@pytest.mark.parametrize(
    "word", ["heteroscedastic", "GARCH", "conformal", "pickle", "standard error"]
)
def test_search_finds(browser: webdriver.Chrome, address: str, word: str) -> None:
    visit(browser, f"{address}/search.html?q={word}", DESKTOP)
    count = "return document.querySelectorAll('#search-results li').length"
    WebDriverWait(browser, 20).until(lambda b: b.execute_script(count) > 0)
