"""Random updates of arrays and their views, bit for bit NumPy's. Rules: face.view

A step makes a view, updates an array, or takes something for later; the same steps are
run by NumPy and under the drop-in decorator.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from soak import examples

import traceir_numba
from traceir.jit.function import JitFunction, Options

Step = tuple[Any, ...]
DTYPES = ("int32", "uint8", "float64", "int64")
# What a step does to an array in place; numbers are small, so all is exact.
UPDATES = ("set", "add", "multiply", "mask", "fill", "reverse", "out", "where")
VIEWS = ("view", "row", "reshape", "T", "copy", "plus")


@st.composite
def indices(draw: st.DrawFn, rank: int) -> tuple[Any, ...]:
    """A basic index that is inside of every array of this rank, however short."""
    parts: list[Any] = []
    for _ in range(draw(st.integers(0, rank))):
        start = draw(st.sampled_from([None, 0, 1, -1, -2]))
        stop = draw(st.sampled_from([None, 1, 2, 3, -1]))
        step = draw(st.sampled_from([None, 1, 2, -1, -2]))
        parts.append(slice(start, stop, step))
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    return tuple(parts)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """One step: its kind, which array it is about, and the rest."""
    kind = draw(
        st.sampled_from([*UPDATES, "view", "view", "row", "reshape", "T", "copy"])
    )
    number = draw(st.integers(-3, 5))
    return (
        kind,
        draw(st.integers(0, 7)),
        draw(st.integers(0, 7)),
        draw(indices(2)),
        number,
    )


def apply(arrays: list[Any], step: Step) -> None:
    """Run one step on the arrays that there are, if it fits them."""
    kind, which, other, index, number = step
    x = arrays[which % len(arrays)]
    y = arrays[other % len(arrays)]
    fits = sum(i is not None for i in index) <= x.ndim
    match kind:
        case "view" if fits:
            arrays.append(x[index])
        case "row" if x.ndim and x.shape[0]:
            row = x[-1]
            if row.ndim:
                arrays.append(row)
        case "reshape":
            arrays.append(x.reshape(-1))
        case "T":
            arrays.append(x.T)
        case "plus" if x.shape == y.shape:
            arrays.append(x + y)
        case "copy":
            arrays.append(x.copy())
        case "set" if fits:
            x[index] = abs(number)
        case "add" if x.shape == y.shape:
            x += y
        case "multiply":
            x *= abs(number)
        case "mask":
            x[x > number] = abs(number)
        case "fill":
            x.fill(abs(number))
        case "reverse" if x.ndim:
            x[:] = x[::-1]
        case "out" if x.shape == y.shape:
            np.subtract(x, y, out=x)
        case "where":
            x[...] = np.where(x < 2, x, y.sum().astype(x.dtype))


def run(x: Any, made: Any, dtype: Any, todo: tuple[Step, ...]) -> list[Any]:
    """All arrays after the steps: an argument, one made here, and their views."""
    arrays = [x, np.zeros(made, dtype)]
    for step in todo:
        apply(arrays, step)
    return [x + 0, *arrays[1:]]


@settings(max_examples=examples(60))
@given(data=st.data())
def test_updates_are_those_of_numpy(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(DTYPES))
    shape = data.draw(st.sampled_from([(4,), (2, 3), (3, 1), (1,), (0, 2), (3, 4)]))
    todo = tuple(data.draw(st.lists(steps(), min_size=1, max_size=7)))
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    options = Options(backend="reference", face="numpy", x64=True, numpy_out=True)

    def program(x: Any) -> Any:
        return run(x, shape, dtype, todo)

    jitted = JitFunction(program, None, None, options)
    given_x, plain_x = x.copy(), x.copy()
    found, wanted = jitted(given_x), run(plain_x, shape, dtype, todo)
    assert len(found) == len(wanted)
    for one, other in zip([*found, given_x], [*wanted, plain_x], strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert one.tobytes() == np.ascontiguousarray(other).tobytes()


def test_the_backend_updates_as_the_reference() -> None:
    def program(x: Any) -> Any:
        table = np.zeros((3, 4))
        table[1:, ::2] = x[:2]
        table.T[0] += 1
        row = table[-1]
        row[row > 2] *= 3
        table.reshape(-1)[::5] = -1
        return table, row

    x = np.arange(4.0)
    for one, other in zip(traceir_numba.jit(program)(x), program(x), strict=True):
        assert one.tolist() == other.tolist()
