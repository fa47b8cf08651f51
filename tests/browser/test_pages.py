"""The site as a browser shows it: landing page, search, a function's page.

`make test-site` builds the site and runs this, and `test_playground`.
"""

from __future__ import annotations

import re
from html import unescape

import pytest
from browser.driver import Browser
from browser.sites import SITE, WIDTHS, needs_browser

pytestmark = needs_browser
PAGES = [
    *("index.html", "api/numpy/cumsum.html", "api/traceir/Array.html"),
    *("examples/index.html", "benchmarks.html", "spec/levels.html", "spec/cache.html"),
    "chapters/primitives-cumulative-primitives.html",
]
# The lines of code that a button for copying lies on.
COVERED = """
const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
  && a.top < b.bottom - 1 && b.top < a.bottom - 1;
return [...document.querySelectorAll('div.highlight')].filter((block) => {
  const button = block.querySelector('button.copy').getBoundingClientRect();
  const text = document.createRange();
  text.selectNodeContents(block.querySelector('pre'));
  return [...text.getClientRects()].some((line) => meets(line, button));
}).map((block) => block.textContent.slice(0, 60));
"""
# Texts that are hardly to be told from what they stand on, as WCAG has it: below 3.
FAINT = """
const parts = (c) => c.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
  .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
const ground = (e) => {
  for (; e; e = e.parentElement) {
    const found = parts(getComputedStyle(e).backgroundColor);
    if (found.length < 4 || found[3] > 0.5) return light(found);
  }
  return 1;
};
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const found = new Set();
while (texts.nextNode()) {
  const text = texts.currentNode, e = text.parentElement;
  if (!text.data.trim() || !e.checkVisibility()) continue;
  if (e.closest('svg, script, style')) continue;
  const [a, b] = [light(parts(getComputedStyle(e).color)), ground(e)];
  if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 3)
    found.add(`${e.tagName}.${e.className}: ${text.data.trim().slice(0, 40)}`);
}
return [...found];
"""


def words(page: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_the_landing_page(light: Browser, address: str, width: int) -> None:
    light.open(f"{address}/index.html", width)
    page = light.page()
    text = words(page)
    for said in ("pip install 'traceir[cpu]'", "numba.njit", "times faster"):
        assert said in text
    doors = re.findall(r'class="door-title[^>]*><a[^>]*href="([^"]+)"', page)
    assert doors == ["use.html", "spec/index.html", "howto/adapter.html"]
    assert all((SITE / door).is_file() for door in doors)
    for picture in re.findall(r'<img[^>]* src="([^"]+)"', page):
        assert (SITE / picture).is_file()
    assert page.count('class="copy"') >= 5


@pytest.mark.parametrize("query", ["cumsum", "scan", "einsum"])
def test_a_search_finds_the_function_before_the_rules(
    light: Browser, address: str, query: str
) -> None:
    light.open(f"{address}/search.html?q={query}")
    found = light.wait(
        "const all = document.querySelectorAll('#search-results li > a');"
        "return all.length > 3 && [...all].map((a) => a.getAttribute('href'));"
    )
    assert re.fullmatch(rf"api/.+/{query}\.html", re.split("[?#]", found[0])[0])


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_the_page_of_a_function(light: Browser, address: str, width: int) -> None:
    light.open(f"{address}/api/numpy/cumsum.html", width)
    page = light.page()
    text = words(page)
    for said in ("numpy.cumsum", "Parameters", "default None", "Errors", "[source]"):
        assert said in text
    assert "jnp.cumsum(" in text
    assert 'class="copy"' in page


@pytest.mark.parametrize("page", PAGES)
def test_a_narrow_page_hides_nothing(light: Browser, address: str, page: str) -> None:
    light.open(f"{address}/{page}", WIDTHS["phone"])
    assert light.run("return document.documentElement.scrollWidth") == WIDTHS["phone"]
    assert light.run(COVERED) == []


@pytest.mark.parametrize("page", PAGES)
def test_texts_can_be_read(
    light: Browser, dark: Browser, address: str, page: str
) -> None:
    for window in (light, dark):
        window.open(f"{address}/{page}")
        assert window.run(FAINT) == []


def test_a_method_s_example_calls_what_it_says() -> None:
    page = (SITE / "api" / "traceir" / "Array.html").read_text(encoding="utf-8")
    assert ">>> jnp.argmax(" in words(page)


def test_both_colours_are_looked_at(
    light: Browser, dark: Browser, address: str
) -> None:
    grounds = set()
    for window in (light, dark):
        window.open(f"{address}/index.html")
        script = "return getComputedStyle(document.body).backgroundColor"
        grounds.add(window.run(script))
    assert len(grounds) == 2
