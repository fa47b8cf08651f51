"""Every form of kernel gives the reference's result. Cites: choice.sum-order"""

from __future__ import annotations

from typing import Any

import device_programs as programs
import numpy as np
import pytest

import traceir
from traceir.pytrees import flatten
from traceir_numba.cuda.runtime import device

CASES = pytest.mark.parametrize("name", programs.PROGRAMS)


def leaves(fun: Any, argument: np.ndarray, backend: str) -> list[np.ndarray]:
    """The results of a function on a backend."""
    found = traceir.jit(fun, backend=backend)(argument)
    return [np.asarray(leaf) for leaf in flatten.leaves(found)]


@CASES
def test_a_program_gives_what_the_reference_gives(name: str) -> None:
    fun, argument = programs.PROGRAMS[name]
    got, want = (leaves(fun, argument, b) for b in ("cuda", "reference"))
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        wide = "float32" if w.dtype.kind == "V" else w.dtype
        np.testing.assert_allclose(g.astype(wide), w.astype(wide), 3e-6, 1e-6)


@CASES
def test_bits_do_not_depend_on_threads_and_blocks(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fun, argument = programs.PROGRAMS[name]
    first = leaves(fun, argument, "cuda")
    monkeypatch.setattr(device, "limits", lambda: (16, 3))
    assert [a.tobytes() for a in leaves(fun, argument, "cuda")] == [
        a.tobytes() for a in first
    ]
