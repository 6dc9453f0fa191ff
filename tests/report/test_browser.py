"""The report as a person sees it: opened in Chromium, hovered, zoomed, toggled, looked at.

Screenshots are left in out/browser, at desktop and phone width, light and dark.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("typer")
pd = pytest.importorskip("pandas")
webdriver = pytest.importorskip("selenium.webdriver")

from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

from multiobs import MultiObservationRegressor  # noqa: E402

pytestmark = pytest.mark.browser
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SHOTS = Path("out") / "browser"
X, Y = "<script>alert(1)</script>", "y & <b>z</b>"


def rows() -> Any:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 600)
    kind = rng.choice(["<i>a</i>", "b"], 600)
    y = np.sin(x) + (2 + 0.2 * x) * rng.normal(size=600)
    return pd.DataFrame({X: x, "kind": kind, "when": pd.Timestamp("2020-01-01"), Y: y})


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    data = folder / "<b>rows.csv"
    table = rows()
    table["when"] += pd.to_timedelta(np.arange(600), unit="D")
    table.to_csv(data, index=False)
    out = folder / "report.html"
    words = ["report", str(data), "--x", X, "--x", "kind", "--x", "when", "--y", Y, "-o", str(out)]
    run = subprocess.run([sys.executable, "-m", "multiobs", *words], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return out


@pytest.fixture(
    params=[(1200, 900, "light"), (1200, 900, "dark"), (390, 844, "light"), (390, 844, "dark")],
    ids=["desktop-light", "desktop-dark", "phone-light", "phone-dark"],
)
def browser(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    width, height, scheme = request.param
    options = webdriver.ChromeOptions()
    options.binary_location = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    for flag in (*FLAGS, f"--user-data-dir={tmp_path / 'profile'}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": feature})
    driver.scheme, driver.wide = scheme, width
    yield driver
    driver.quit()


def numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)]


def hover(browser: Any, chart: Any, share: float) -> str:
    """Move to a share of the chart's width and read the tip."""
    svg = chart.find_element(By.TAG_NAME, "svg")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    box = svg.size
    ActionChains(browser, duration=0).move_to_element_with_offset(
        svg, int((share - 0.5) * box["width"]), 0
    ).perform()
    return str(chart.find_element(By.CLASS_NAME, "tip").text)


def test_a_person_reads_the_report(browser: Any, report: Path) -> None:
    assert report.stat().st_size < 3_000_000
    browser.get(report.as_uri())
    assert X in browser.find_element(By.TAG_NAME, "h1").text
    assert Y in browser.find_element(By.TAG_NAME, "h1").text
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= browser.wide  # nothing to scroll sideways
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(numbers(paper)) < 200) == (browser.scheme == "dark")

    chart = browser.find_element(By.CSS_SELECTOR, "figure.chart")
    said = hover(browser, chart, 0.6)
    assert said.startswith(f"{X}: ")
    line = said.splitlines()
    at = numbers(line[0].removeprefix(X))[0]
    fitted, low, high = numbers(line[1])
    table = rows()
    table["when"] = 18262.0 + np.arange(600)
    model = MultiObservationRegressor("variance", random_state=0)
    model.fit(table[[X, "kind", "when"]], table[Y])
    common = table["kind"].mode()[0]
    place = pd.DataFrame({X: [at], "kind": [common], "when": [table["when"].median()]})
    assert model.predict(place)[0] == pytest.approx(fitted, rel=2e-3)
    np.testing.assert_allclose(model.predict_interval(place)[0], [low, high], rtol=5e-3)

    assert len(chart.find_elements(By.CSS_SELECTOR, "polyline")) == 1
    toggles = chart.find_elements(By.CSS_SELECTOR, "button[aria-pressed]")
    off = [each for each in toggles if each.get_attribute("aria-pressed") == "false"]
    assert off
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", off[0])
    off[0].click()
    assert off[0].get_attribute("aria-pressed") == "true"
    assert len(chart.find_elements(By.CSS_SELECTOR, "polyline")) == 2
    assert off[0].text in hover(browser, chart, 0.6)

    def ticks() -> list[str]:
        return [each.text for each in chart.find_elements(By.CSS_SELECTOR, "text.tick.mid")]

    before = ticks()
    chart.find_element(By.CSS_SELECTOR, "button[title='zoom in']").click()
    assert ticks() != before
    chart.find_element(By.CSS_SELECTOR, "button[title='show all']").click()
    assert ticks() == before
    if browser.wide > 600:  # drag a range with the mouse
        svg = chart.find_element(By.TAG_NAME, "svg")
        ActionChains(browser, duration=10).move_to_element(svg).click_and_hold().move_by_offset(
            150, 0
        ).release().perform()
        assert ticks() != before

    SHOTS.mkdir(parents=True, exist_ok=True)
    browser.execute_script("window.scrollTo(0, 0)")
    full = browser.execute_script("return document.documentElement.scrollHeight")
    size = {"width": browser.wide, "height": full, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    name = f"report-{'phone' if browser.wide < 600 else 'desktop'}-{browser.scheme}.png"
    browser.save_screenshot(str(SHOTS / name))
    assert browser.get_log("browser") == []
    assert not browser.execute_script("return performance.getEntriesByType('resource').length")


def test_arrow_keys_read_values_and_print_hides_buttons(browser: Any, report: Path) -> None:
    browser.get(report.as_uri())
    chart = browser.find_element(By.CSS_SELECTOR, "figure.chart")
    svg = chart.find_element(By.TAG_NAME, "svg")
    browser.execute_script("arguments[0].focus()", svg)
    svg.send_keys("\ue014")  # arrow to the right
    assert chart.find_element(By.CLASS_NAME, "tip").text.startswith(X)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert not chart.find_element(By.CLASS_NAME, "zooms").is_displayed()
    assert chart.find_element(By.CSS_SELECTOR, "polyline").is_displayed()
