"""Every pattern that is fused on the CPU gives the reference's result on a device.

Cites: accuracy.one-answer, choice.sum-order, choice.dot-order
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import float16_programs as halves
import indexed_programs as places
import integer_programs as integers
import key_programs as keys
import long_programs as cuts
import numpy as np
import pair_programs as pairs
import pass_programs as passes
import prefix_scan_programs as running
import pytest
import text_programs as texts
import transformed_programs
from compiling import grid, polynomial_sum, selu, softmax

import traceir
from traceir import lax, random
from traceir.jit.backends import resolve
from traceir.text import parse
from traceir.tree import leaves
from traceir_numba.cuda.simulator import blocks

# What a backend gives.
Results = Callable[..., list[np.ndarray]]
Pattern = Callable[[str], list[np.ndarray]]
PATTERNS: dict[str, Pattern] = {}


def of_text(text: str, *args: np.ndarray, backend: str) -> list[np.ndarray]:
    """A program's results, of eighths where there are no arguments."""
    closed = parse(text)
    shapes = [a.shape for a in closed.in_avals]
    given = args or tuple(grid(*shape, seed=k) for k, shape in enumerate(shapes))
    found: list[np.ndarray] = [*resolve(backend).compile(closed, "text").run(*given)]
    return found


def of(fun: Callable[..., Any], *args: Any, backend: str) -> list[np.ndarray]:
    """A function's results, of keys their words."""
    found = leaves(traceir.jit(fun, backend=backend)(*args))
    words = [random.key_data(x) if keys.is_key(x) else x for x in found]
    return [np.asarray(x) for x in words]


def add(group: str, name: object, one: Results, *args: Any) -> None:
    """One more pattern."""
    PATTERNS[f"{group}: {name}"] = lambda backend: one(*args, backend=backend)


# Nests: what is merged, kept apart, reshaped, put side by side, searched.
for name, text in texts.NESTS.items():
    add("nests", name, of_text, text)
for number, (text, _) in enumerate(texts.LAYOUTS):
    add("layouts", number, of_text, text)
for name, (text, _) in texts.PROGRAMS.items():
    add("programs", name, of_text, text.replace("12000", "480").replace("300", "12"))
for shape in ((3, 5), (300,)):
    add("programs", f"selu {shape}", of_text, selu(*shape))
    add("programs", f"sum {shape}", of_text, polynomial_sum(*shape))

# Rows and columns of several passes, their gradients, parts side by side.
for name, fun in passes.FUNCTIONS.items():
    for axis, shape in ((0, (5, 3)), (1, (3, 40)), (0, (70, 2)), (1, (2, 3, 4))):
        add("passes", (name, axis, shape), of, partial(fun, axis=axis), grid(*shape))
for name in ("soft", "normal", "log_soft"):
    fun = traceir.grad(lambda x, f=passes.FUNCTIONS[name]: (f(x) ** 2).sum())
    add("passes", f"gradient of {name}", of, fun, grid(4, 40))
add("passes", "softmax", of_text, softmax(3, 50))
for name, fun in passes.PARTS.items():
    add("parts", name, of, fun, grid(5, 6))

# Folds that leave what there is so far; short lines, and one of two chunks.
for prim in running.PRIMITIVES:
    for number, (shape, axis) in enumerate(running.LINES):
        if prod(shape) < 200:
            kind, way = ("float32", "int32")[number % 2], number % 3 == 0
            text = running.text(prim, kind, shape, axis, way)
            arg = running.numbers(prim, kind, shape)
            add("running", (prim, shape, axis), of_text, text, arg)
for axis in (0, 1):
    add(
        "running",
        f"powers {axis}",
        of,
        partial(lax.cumlogsumexp, axis=axis),
        grid(7, 9),
    )

# Long straight lines.
for fun, steps in ((cuts.cheap, 700), (cuts.expensive, 100), (cuts.wide, 120)):
    add("cuts", fun.__name__, of, partial(fun, steps=steps), grid(3))
for fun, steps in ((cuts.turned, 60), (cuts.deep, 6)):
    add("cuts", fun.__name__, of, partial(fun, steps=steps), grid(3))

# Reads and writes at places that are values; loops, derivatives and batches of them.
for name, (fun, args) in (places.IN_PLACE | transformed_programs.FUNCTIONS).items():
    add("loops", name, of, fun, *args)

# Complex numbers, keys, numbers of 16 bits, integers.
for name, (fun, args) in pairs.PROGRAMS.items():
    add("pairs", name, of, fun, *(a[:20, :25] if np.ndim(a) > 1 else a for a in args))
for name, fun in keys.MOVES.items():
    add("keys", name, of, fun, keys.KEYS, 1)
for fun in keys.PROGRAMS:
    add("keys", fun.__name__, of, fun, keys.KEYS, 1)
for dtype in halves.HALVES:
    x, y = halves.numbers(dtype, (4, 9), 2), halves.numbers(dtype, (4, 9), 7)
    for name, fun in halves.EXACT.items():
        add(dtype, name, of, fun, x, y)
    for name, fun in halves.NEAR.items():
        add(dtype, name, of, fun, traceir.numpy.asarray(grid(5, 6), dtype))
for dtype in integers.WIDTHS:
    text = integers.arithmetic(dtype)
    add("integers", dtype, of_text, text, *integers.operands(dtype))
    for real in ("float32", "float64"):
        args = integers.converted(dtype, real)
        add("integers", (dtype, real), of_text, integers.conversion(dtype, real), *args)


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_gives_what_the_reference_gives(name: str) -> None:
    got, want = (PATTERNS[name](backend) for backend in ("cuda", "reference"))
    for g, w in zip(got, want, strict=True):
        assert (g.shape, g.dtype) == (w.shape, w.dtype)
        if w.dtype.kind not in "fcV":
            np.testing.assert_array_equal(g, w)
            continue
        half = w.dtype.itemsize == 2 and 4 * float(traceir.numpy.finfo(w.dtype).eps)
        wide = [a.astype("float32") if half else a for a in (g, w)]
        np.testing.assert_allclose(*wide, half or 2e-5, half or 2e-6)
    with blocks.backwards():
        assert [a.tobytes() for a in PATTERNS[name]("cuda")] == [
            a.tobytes() for a in got
        ]
