"""The site, served on this machine, and a window of each colour."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer

import pytest
from browser.driver import Browser, browser
from browser.sites import SITE, Quiet


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The address of the site."""
    handler = partial(Quiet, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def light() -> Iterator[Browser]:
    """A window for those who like light colours."""
    with browser() as found:
        yield found


@pytest.fixture(scope="session")
def dark() -> Iterator[Browser]:
    """A window for those who like dark ones."""
    with browser(dark=True) as found:
        yield found
