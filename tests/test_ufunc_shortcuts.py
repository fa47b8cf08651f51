"""Shortcuts of kernels give the kernels' bits. Cites: level.bind"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from traceir.base import cost_model
from traceir.dtypes import KEY
from traceir.ir.avals import ShapedArray
from traceir.reference.kernels import KERNELS
from traceir.reference.kernels.elementwise.pointwise import REALS
from traceir.reference.kernels.elementwise.ufunc_shortcuts import (
    DOT,
    SHORTCUTS,
    ufunc_shortcut,
)
from traceir.reference.kernels.linalg.contract import MATMUL

DTYPES = ("float16", "float32", "float64", "int8", "int32", "bool")
N = (0, 1, 3, 64, 1000)


def dot(numbers: Any, *shapes: tuple[int, ...]) -> tuple[dict[str, Any], Any]:
    """Params of a product, and the shapes of its operands."""
    return {"dimension_numbers": numbers, "preferred_element_type": None}, shapes


def each(shapes: Any, *params: dict[str, Any]) -> list[tuple[dict[str, Any], Any]]:
    """Each of some params with operands of each shape, or of each tuple of shapes."""
    tuples = [s if s and isinstance(s[0], tuple) else (s,) for s in shapes]
    return [(p, t) for p in params for t in tuples]


LINES: list[Any] = [(n,) for n in N if n]
BOXES: list[Any] = [(3, 4), (1, 5), (4, 1), (2, 3, 4)]
REDUCED = each(LINES, {"axes": (0,)}) + each(
    BOXES, {"axes": (0,)}, {"axes": (1,)}, {"axes": (0, 1)}
)
RUN = each([*LINES, *BOXES], {"axis": 0, "reverse": False})
PLACE = each([*LINES, *BOXES], {"axes": (0,), "index_dtype": np.dtype("int32")})
CALLS: dict[str, list[tuple[dict[str, Any], Any]]] = {
    "argmax": PLACE,
    "argmin": PLACE,
    "broadcast_in_dim": [
        *each([(n,) for n in N], {"shape": (1, -1), "broadcast_dimensions": (1,)}),
    ],
    "concatenate": [
        *each([((n,), (3,), (n,)) for n in N], {"dimension": 0}),
        *each([((2, 3), (2, 4))], {"dimension": 1}),
    ],
    "convert_element_type": [
        *each(
            [*((n,) for n in N if n), (), (2, 3)],
            *({"new_dtype": np.dtype(d)} for d in ("float16", "float64", "bool")),
            *({"new_dtype": np.dtype(d)} for d in ("int8", "int32", "int64")),
        )
    ],
    "cummax": RUN,
    "cummin": RUN,
    "cumprod": RUN,
    "cumsum": RUN,
    "dot_general": [
        *(dot(DOT, (n,), (n,)) for n in N),
        *(dot(MATMUL, (5, n), (n, 7)) for n in N),
        *(dot(MATMUL, (5, n), (n,)) for n in N),
        *(dot(MATMUL, (1, n), (n, 1)) for n in N),
    ],
    "eq": each([((n,), (n,)) for n in N], {}),
    "integer_pow": [({"y": 2}, ((n,),)) for n in N],
    "ne": each([((n,), (n,)) for n in N], {}),
    "reduce_max": REDUCED,
    "reduce_min": REDUCED,
    "reduce_prod": REDUCED,
    "reduce_sum": REDUCED,
    "reshape": [({"new_sizes": (n, 2)}, ((2, n),)) for n in N],
    "slice": [
        *each(
            [(4, 5)],
            {"start_indices": (1, 0), "limit_indices": (3, 5)},
            {"start_indices": (0, 1), "limit_indices": (4, 5), "strides": (2, 3)},
        )
    ],
    "sort": [
        *each([(n,) for n in N], {"dimension": 0}),
        *each([(3, 40)], {"dimension": 0}, {"dimension": 1}),
    ],
    "squeeze": each([(1, 3, 1), (1, 1)], {"dimensions": (0,)}),
    "stack": each([((3,), (3,)), ((2, 2), (2, 2), (2, 2)), ((0,),)], {"axis": 0}),
    "transpose": [
        *(({"permutation": (1, 0)}, ((2, n),)) for n in N),
        *each([(2, 1, 3), (2, 3, 4)], {"permutation": (1, 0, 2)}),
    ],
}


def drawn(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers of both signs, with zeros of both among them."""
    found = np.asarray(rng.normal(size=shape) * 3).round(1).astype(dtype)
    if found.size > 2 and found.dtype.kind == "f":
        found.reshape(-1)[[0, -1]] = 0.0, -0.0
    return found


def check(name: str, params: dict[str, Any], arrays: list[Any]) -> None:
    """The shortcut gives the kernel's bits, in the same layout."""
    found = ufunc_shortcut(
        name, [ShapedArray(a.shape, a.dtype) for a in arrays], params
    )
    assert found is not None
    with np.errstate(all="ignore"):
        want = KERNELS[name](*arrays, **params)
    want = np.asarray(want[0] if type(want) is list else want)
    with np.errstate(all="raise" if found.silent else "ignore"):
        have = np.asarray(found(*arrays))
    assert (have.shape, have.dtype) == (want.shape, want.dtype)
    assert have.tobytes() == want.tobytes()
    assert have.flags.c_contiguous
    shares = any(np.shares_memory(have, a) for a in arrays)
    assert shares == found.view or not have.size


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_are_those_of_the_kernel(name: str, dtype: str) -> None:
    rng = np.random.default_rng(7)
    for given, shapes in CALLS[name]:
        params = dict(given)
        if params.get("shape"):
            params["shape"] = (1, *shapes[0])
        check(name, params, [drawn(rng, s, dtype) for s in shapes])


@pytest.mark.parametrize("name", ["reduce_and", "reduce_or", "select_n"])
def test_of_truths(name: str) -> None:
    rng = np.random.default_rng(7)
    for shape in [*LINES, *BOXES]:
        which = rng.random(shape) > 0.5
        if name == "select_n":
            cases = [drawn(rng, shape, "float32") for _ in range(2)]
            check(name, {}, [which, *cases])
            check(name, {}, [which.reshape(-1)[0], *cases])
        else:
            check(name, {"axes": (0,)}, [which])


SPECIAL = [np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0, 3e9, -3e9, 2.0**31, -(2.0**31)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_of_special_numbers(dtype: str) -> None:
    with np.errstate(all="ignore"):
        x = np.array([*SPECIAL, 1.5, -127.5, 128.0, -129.0, 255.5], dtype)
    for k in range(1, len(x) + 1):
        check("sort", {"dimension": 0}, [x[:k]])
        check("argmax", {"axes": (0,), "index_dtype": np.dtype("int32")}, [x[:k]])
        check("reduce_max", {"axes": (0,)}, [x[:k]])
        for whole in ("int8", "int32", "int64"):
            check("convert_element_type", {"new_dtype": np.dtype(whole)}, [x[k - 1 :]])
    for name in ("neg", "abs", "max", "min", "lt", "eq", "is_finite"):
        arrays = [x] if name in ("neg", "abs", "is_finite") else [x, x[::-1].copy()]
        check(name, {}, arrays)


def test_what_does_more_is_left_to_the_kernel() -> None:
    two = ShapedArray((2, 2), "int8")
    params, _ = dot(MATMUL)
    found = ufunc_shortcut("dot_general", [two, two], params)
    assert found is not None and found.function is np.matmul
    wide = params | {"preferred_element_type": np.dtype("int32")}
    assert ufunc_shortcut("dot_general", [two, two], wide) is None
    batch = params | {"dimension_numbers": (((1,), (1,)), ((0,), (0,)))}
    assert ufunc_shortcut("dot_general", [two, two], batch) is None
    assert ufunc_shortcut("integer_pow", [two], {"y": 3}) is None
    long = ShapedArray((cost_model.STABLE_SORT_LINE + 1,), "float32")
    assert ufunc_shortcut("sort", [long], {"dimension": 0}) is None
    assert ufunc_shortcut("sort", [two, two], {"dimension": 0}) is None
    assert ufunc_shortcut("eq", [ShapedArray((2,), KEY)] * 2, {}) is None
    assert ufunc_shortcut("stack", [two, two], {"axis": 1}) is None
    assert (
        ufunc_shortcut("reduce_max", [ShapedArray((0,), "int8")], {"axes": (0,)})
        is None
    )
    assert ufunc_shortcut("reduce_sum", [two], {"axes": ()}) is None
    assert ufunc_shortcut("cumsum", [two], {"axis": 0, "reverse": True}) is None
    wider = {"shape": (3, 2, 2), "broadcast_dimensions": (1, 2)}
    assert ufunc_shortcut("broadcast_in_dim", [two], wider) is None
    assert (
        ufunc_shortcut("convert_element_type", [two], {"new_dtype": np.dtype("V8")})
        is None
    )


def test_all_have_been_tried() -> None:
    truths = {"reduce_and", "reduce_or", "select_n"}
    assert SHORTCUTS.keys() == CALLS.keys() | REALS.keys() | truths
    x = np.linspace(0.1, 2, 9, dtype="float32")
    for name, function in REALS.items():
        assert KERNELS[name](x).tobytes() == function(x).tobytes()
