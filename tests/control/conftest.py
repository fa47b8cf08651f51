"""Helpers of the tests of control flow."""

from __future__ import annotations

from importlib import import_module

import pytest


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs are run by the reference, compiled ones and those of loops alone."""
    for name in ("traceir.jit.backends", "traceir.jit.function"):
        module = import_module(name)
        monkeypatch.setattr(module, "default_backend", lambda: "reference")
