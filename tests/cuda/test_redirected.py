"""A finder that takes `traceir_numba.cuda` for a part of Numba does not get it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Any

import pytest

from traceir_numba import numba_cuda_shim


class Redirector:
    """Claims every name with "numba.cuda" in it."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if "numba.cuda" in name:
            raise RecursionError(name)
        return None


def test_our_modules_are_found_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    Redirector.__module__ = numba_cuda_shim.REDIRECTOR
    finders = [Redirector(), *sys.meta_path]
    monkeypatch.setattr(sys, "meta_path", finders)
    monkeypatch.delitem(sys.modules, "traceir_numba.cuda.runtime.pool", raising=False)
    with pytest.raises(RecursionError):
        find_spec("traceir_numba.cuda.runtime.pool")
    numba_cuda_shim.go_first(finders)
    found = find_spec("traceir_numba.cuda.runtime.pool")
    assert found is not None and found.origin is not None
    assert found.origin.endswith("pool.py")
    with pytest.raises(RecursionError):
        find_spec("numba.cuda.nothing")
