"""What kernels come down to gives the bits of the kernels. Cites: level.bind"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from traceir.avals import ShapedArray
from traceir.kernels import KERNELS
from traceir.kernels.contract import MATMUL
from traceir.kernels.pointwise import REALS
from traceir.kernels.short import DOT, SHORT, short

DTYPES = ("float16", "float32", "float64", "int8", "int32", "bool")
N = (0, 1, 3, 64, 1000)


def dot(numbers: Any, *shapes: tuple[int, ...]) -> tuple[dict[str, Any], Any]:
    """Params of a product, and the shapes of its operands."""
    return {"dimension_numbers": numbers, "preferred_element_type": None}, shapes


CALLS: dict[str, list[tuple[dict[str, Any], Any]]] = {
    "dot_general": [
        *(dot(DOT, (n,), (n,)) for n in N),
        *(dot(MATMUL, (5, n), (n, 7)) for n in N),
        *(dot(MATMUL, (5, n), (n,)) for n in N),
        *(dot(MATMUL, (1, n), (n, 1)) for n in N),
    ],
    "integer_pow": [({"y": 2}, ((n,),)) for n in N],
    "reshape": [({"new_sizes": (n, 2)}, ((2, n),)) for n in N],
    "transpose": [({"permutation": (1, 0)}, ((2, n),)) for n in N],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_are_those_of_the_kernel(name: str, dtype: str) -> None:
    rng = np.random.default_rng(7)
    for params, shapes in CALLS[name]:
        arrays = [(rng.normal(size=s) * 3).astype(dtype) for s in shapes]
        found = short(name, [ShapedArray(a.shape, dtype) for a in arrays], params)
        assert found is not None
        want = np.asarray(KERNELS[name](*arrays, **params))
        have = np.asarray(found(*arrays))
        assert (have.shape, have.dtype) == (want.shape, want.dtype)
        assert have.tobytes() == want.tobytes()


def test_what_does_more_is_left_to_the_kernel() -> None:
    two = ShapedArray((2, 2), "int8")
    params, _ = dot(MATMUL)
    assert short("dot_general", [two, two], params) is np.matmul
    wide = params | {"preferred_element_type": np.dtype("int32")}
    assert short("dot_general", [two, two], wide) is None
    batch = params | {"dimension_numbers": (((1,), (1,)), ((0,), (0,)))}
    assert short("dot_general", [two, two], batch) is None
    assert short("integer_pow", [two], {"y": 3}) is None
    assert short("sort", [two], {}) is None


def test_all_have_been_tried() -> None:
    assert SHORT.keys() == CALLS.keys() | REALS.keys()
    x = np.linspace(0.1, 2, 9, dtype="float32")
    for name, function in REALS.items():
        assert KERNELS[name](x).tobytes() == function(x).tobytes()
