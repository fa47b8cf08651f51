"""A browser that is driven: Chromium through its driver, by the WebDriver protocol.

Pages are opened, looked at by scripts, clicked and typed into, as a reader would.
"""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, NAMES)), None)
DRIVER = shutil.which("chromedriver")
KEYS = {"Enter": "\ue007", "Tab": "\ue004", "Down": "\ue015", "Right": "\ue014"}
PATIENCE = 60.0
# How an answer names an element.
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Browser:
    """One window, without a screen."""

    def __init__(self, driver: str, dark: bool) -> None:
        self._driver = driver
        options = ["--headless=new", "--disable-gpu", "--no-sandbox"]
        options += ["--hide-scrollbars", "--force-device-scale-factor=1"]
        options += ["--blink-settings=preferredColorScheme=0"] * dark
        chrome = {"args": options, "binary": BROWSER}
        wanted = {"alwaysMatch": {"goog:chromeOptions": chrome}}
        made = self._ask("POST", "/session", {"capabilities": wanted})
        self._session = f"/session/{made['sessionId']}"

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._driver + path, data, method=method)
        try:
            with urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def _post(self, path: str, **body: object) -> Any:
        return self._ask("POST", self._session + path, body)

    def open(self, url: str, width: int = 1300, height: int = 900) -> None:
        """Show a page in a window of this size."""
        self._post("/window/rect", width=width, height=height)
        size = {"width": width, "height": height, "deviceScaleFactor": 1}
        self._post(
            "/goog/cdp/execute",
            cmd="Emulation.setDeviceMetricsOverride",
            params={**size, "mobile": False},
        )
        self._post("/url", url=url)

    def run(self, script: str, *arguments: object) -> Any:
        """The result of a script; its arguments are `arguments`."""
        return self._post("/execute/sync", script=script, args=arguments)

    def wait(self, script: str, *arguments: object) -> Any:
        """The result of a script, as soon as it has one."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script, *arguments)):
            assert time.monotonic() < end, script
            time.sleep(0.02)
        return found

    def press(self, *keys: str) -> None:
        """Press keys, one after the other: names of `KEYS`, or letters."""
        strokes = [
            {"type": kind, "value": KEYS.get(key, key)}
            for key in keys
            for kind in ("keyDown", "keyUp")
        ]
        self._post(
            "/actions", actions=[{"type": "key", "id": "keys", "actions": strokes}]
        )

    def click(self, selector: str) -> None:
        """Click the first element of this kind."""
        found = self._post("/element", using="css selector", value=selector)
        self._post(f"/element/{found[ELEMENT]}/click")

    def page(self) -> str:
        """The elements of the page as they are now."""
        return str(self.run("return document.documentElement.outerHTML"))

    def picture(self, path: Path) -> None:
        """Write what the window shows, as PNG."""
        found = self._ask("GET", f"{self._session}/screenshot")
        path.write_bytes(base64.b64decode(found))

    def close(self) -> None:
        """Close the window."""
        self._ask("DELETE", self._session)


@contextmanager
def browser(dark: bool = False) -> Iterator[Browser]:
    """A browser of one's own, in light or in dark colours."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert DRIVER is not None
    command = [DRIVER, f"--port={port}", "--log-level=OFF"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        address = f"http://127.0.0.1:{port}"
        try:
            end = time.monotonic() + PATIENCE
            while not _is_ready(address):
                assert time.monotonic() < end, "the driver does not answer"
                time.sleep(0.05)
            made = Browser(address, dark)
            try:
                yield made
            finally:
                made.close()
        finally:
            process.terminate()


def _is_ready(address: str) -> bool:
    try:
        with urlopen(f"{address}/status", timeout=PATIENCE) as answer:
            return bool(json.load(answer)["value"]["ready"])
    except (URLError, ConnectionError):
        return False
