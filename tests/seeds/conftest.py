"""The seeds run on each backend that is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

from traceir.jit import clear_caches, function

BACKENDS = ["reference"]
if importlib.util.find_spec("numba"):
    BACKENDS.append("numba")


@pytest.fixture(params=BACKENDS, autouse=True)
def backend(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    """Make a backend the default one: the seeds name none."""
    name: str = request.param
    clear_caches()
    monkeypatch.setattr(function, "default_backend", lambda: name)
    yield name
