"""Recipes over views give what NumPy gives. Rules: face.view, update.*"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from recipes import CALLS
from soak import SOAK

from traceir.jit.function import JitFunction, Options

# Those that are compiled, too; `make soak` compiles all.
COMPILED = ("haar", "floyd_warshall", "interleave")


@pytest.mark.parametrize(
    "function, arguments", CALLS, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_recipe_is_numpys(function: Any, arguments: Any) -> None:
    given, plain = copy.deepcopy(arguments), copy.deepcopy(arguments)
    names = ("steps", "sweeps", "n")
    static = [n for n in names if n in function.__code__.co_varnames[: len(arguments)]]
    is_compiled = SOAK or function.__name__ in COMPILED
    backend = "numba" if is_compiled else "reference"
    options = Options(backend=backend, face="numpy", x64=True, numpy_out=True)
    found = JitFunction(function, None, static, options)(*given)
    wanted = function(*plain)
    several = isinstance(wanted, tuple)
    ours = [*found, *given] if several else [found, *given]
    numpys = [*wanted, *plain] if several else [wanted, *plain]
    for one, other in zip(ours, numpys, strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, 1e-9, 1e-12)
