"""The site that `make docs` builds, where tests of it look."""

from __future__ import annotations

import os
from http.server import SimpleHTTPRequestHandler
from pathlib import Path

import pytest
from browser.driver import BROWSER, DRIVER

ROOT = Path(__file__).parents[2]
SITE = Path(os.environ.get("TRACEIR_SITE", ROOT / "build" / "html"))
WIDTHS = {"desk": 1300, "phone": 390}
BUILT = (SITE / "api" / "numpy" / "cumsum.html").is_file()
SHOWN = BROWSER is not None and DRIVER is not None and BUILT
needs_browser = pytest.mark.skipif(
    not SHOWN, reason="takes Chromium and its driver, and what `make docs` builds"
)


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        """Leave the terminal to the tests."""
