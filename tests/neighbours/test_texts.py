"""The modules beside `traceir.numpy` against JAX 0.10.2, as recorded.

Rules: function.operands, function.composite, promote.*
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import face
import numpy as np
import pytest

import traceir

PROGRAMS = list(face.recorded(face.NEIGHBOURS))


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Programs ask for float64."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_equations_and_types_are_those_of_jax(program: face.Program) -> None:
    function, arguments = face.bound(program, traceir)
    closed = traceir.make_jaxpr(function)(*arguments)
    assert str(closed) == program.text
    assert face.show_types(list(closed.out_avals)) == program.types


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_values_are_those_of_jax_whoever_computes(program: face.Program) -> None:
    function, arguments = face.bound(program, traceir)
    wanted = eval(program.values, {"inf": np.inf, "nan": np.nan})
    ways = [
        face.run(program, traceir),
        *(traceir.jit(function, backend=b)(*arguments) for b in ("reference", "numba")),
    ]
    for way in ways:
        results = face.flat(way)
        assert face.show_types([traceir.typeof(r) for r in results]) == program.types
        for result, expected in zip(results, wanted, strict=True):
            array = np.asarray(result)
            tolerance = 2e-3 if array.dtype == np.float16 else 4e-6
            np.testing.assert_allclose(array, expected, tolerance, tolerance / 4)
