"""`traceir.numpy` against JAX 0.10.2, as recorded. Serves: promote.*, face.*, index.*"""

from __future__ import annotations

import ast
import doctest
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import face
import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.errors import ConcretizationTypeError

PROGRAMS = list(face.recorded())


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Programs ask for float64 and lose fractions on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (UserWarning, FutureWarning))
        yield


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_equations_and_types_are_those_of_jax(program: face.Program) -> None:
    function, arguments = face.bound(program, traceir)
    closed = traceir.make_jaxpr(function)(*arguments)
    assert str(closed) == program.text
    assert face.show_types(list(closed.out_avals)) == program.types


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_eager_values_are_those_of_jax(program: face.Program) -> None:
    results = face.flat(face.run(program, traceir))
    types = [traceir.typeof(r) for r in results]
    arrays = [np.asarray(r, a.dtype) for r, a in zip(results, types, strict=True)]
    assert face.show_types(types) == program.types
    wanted = eval(program.values, {"inf": np.inf, "nan": np.nan})
    for array, expected in zip(arrays, wanted, strict=True):
        tolerance = 2e-3 if array.dtype == np.float16 else 2e-6
        np.testing.assert_allclose(array, expected, tolerance, tolerance / 10)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_staged_values_are_the_eager_ones(program: face.Program) -> None:
    function, arguments = face.bound(program, traceir)
    eager = face.flat(face.run(program, traceir))
    staged = face.flat(traceir.jit(function, backend="reference")(*arguments))
    for one, two in zip(eager, staged, strict=True):
        assert np.asarray(one, two.dtype).tobytes() == np.asarray(two).tobytes()
