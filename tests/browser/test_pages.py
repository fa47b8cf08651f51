"""The site as a browser shows it: landing page, search, a function's page.

`make browser` builds the site and runs this; Chromium is asked for what it shows.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("TRACEIR_SITE", ROOT / "build" / "html"))
NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
SHOWN = BROWSER is not None and (SITE / "api" / "numpy" / "cumsum.html").is_file()
pytestmark = pytest.mark.skipif(
    not SHOWN, reason="takes Chromium, and the site that `make docs` builds"
)
WIDTHS = {"desk": 1300, "phone": 390}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Leave the terminal to the tests."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the site, served on this machine."""
    handler = partial(Quiet, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def shown(url: str, width: int = 1300) -> str:
    """The elements of a page when its scripts have run."""
    options = ["--headless=new", "--disable-gpu", "--no-sandbox"]
    options += [f"--window-size={width},900", "--virtual-time-budget=8000"]
    done = subprocess.run(
        [str(BROWSER), *options, "--dump-dom", url],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout


def words(page: str) -> str:
    """The text of a page."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", page)).split())


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_the_landing_page(address: str, width: int) -> None:
    page = shown(f"{address}/index.html", width)
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
def test_a_search_finds_the_function_before_the_rules(address: str, query: str) -> None:
    page = shown(f"{address}/search.html?q={query}")
    results = page.partition('id="search-results"')[2]
    found = re.findall(r'<li[^>]*>\s*<a href="([^"?#]+)', results)
    assert len(found) > 3
    assert re.fullmatch(rf"api/.+/{query}\.html", found[0])


@pytest.mark.parametrize("width", WIDTHS.values(), ids=list(WIDTHS))
def test_the_page_of_a_function(address: str, width: int) -> None:
    page = shown(f"{address}/api/numpy/cumsum.html", width)
    text = words(page)
    for said in ("numpy.cumsum", "Parameters", "default None", "Errors", "[source]"):
        assert said in text
    assert "jnp.cumsum(" in text
    assert 'class="copy"' in page
