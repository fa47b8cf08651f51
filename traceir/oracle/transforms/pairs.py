"""Folds along axes as operations on two operands, which have derivatives.

Takes an equation whose row's value is a product, an extremum or a sum of exponentials
of several elements; gives the results by operations on pairs. Serves: derive.jvp
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from traceir.ir.jaxpr import Atom
from traceir.oracle.transforms.builder import DerivedProgram, Params

Pair = Callable[[DerivedProgram, Atom, Atom], Atom]


def _primitive(name: str) -> Pair:
    return lambda builder, a, b: builder.apply(name, [a, b])[0]


def log_sum(builder: DerivedProgram, a: Atom, b: Atom) -> Atom:
    """The logarithm of the sum of two exponentials."""
    apply = builder.apply
    most = apply("stop_gradient", apply("max", [a, b]))[0]
    powers = [apply("exp", apply("sub", [x, most]))[0] for x in (a, b)]
    return apply("add", [most, *apply("log", apply("add", powers))])[0]


PAIRS: Mapping[str, Pair] = {
    "reduce_prod": _primitive("mul"),
    "cumprod": _primitive("mul"),
    "cummax": _primitive("max"),
    "cummin": _primitive("min"),
    "cumlogsumexp": log_sum,
}


def by_pairs(
    builder: DerivedProgram, name: str, operands: list[Atom], params: Params
) -> list[Atom]:
    """The results of such an equation."""
    pair, (x,) = PAIRS[name], operands
    if "axes" in params:
        for axis in sorted(params["axes"], reverse=True):
            if not (lines := _lines(builder, x, axis)):
                shape = x.aval.shape[:axis] + x.aval.shape[axis + 1 :]
                x = builder.filled(1, x.aval.update(shape=shape))
                continue
            x = lines[0]
            for line in lines[1:]:
                x = pair(builder, x, line)
        return [x]
    axis, reverse = params["axis"], params["reverse"]
    found: list[Atom] = []
    for line in _lines(builder, x, axis)[:: -1 if reverse else 1]:
        found.append(pair(builder, found[-1], line) if found else line)
    found = found[:: -1 if reverse else 1]
    return builder.apply("stack", found, {"axis": axis}) if found else [x]


def _lines(builder: DerivedProgram, x: Atom, axis: int) -> list[Any]:
    """The parts of an array along an axis, without that axis."""
    return [taken(builder, x, axis, k) for k in range(x.aval.shape[axis])]


def taken(builder: DerivedProgram, x: Atom, axis: int, k: int) -> Atom:
    """The part of an array at one place of an axis."""
    shape = x.aval.shape
    params = {
        "start_indices": tuple(k if d == axis else 0 for d in range(len(shape))),
        "limit_indices": tuple(k + 1 if d == axis else n for d, n in enumerate(shape)),
        "strides": None,
    }
    part = builder.apply("slice", [x], params)
    return builder.apply("squeeze", part, {"dimensions": (axis,)})[0]
