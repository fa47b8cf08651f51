"""Functions of the array interface, one by one: what each is made of."""

from __future__ import annotations

from typing import Any

from corpus.elements import Array, Library
from corpus.program import Program, program

X = "f32[3]{0.5 1.0 4.0}"
Y = "f32[3]{2.0 0.25 1.0}"
K = "i32[3]{7 -2 5}"
J = "i32[3]{3 4 -5}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"
B = "bool[3]{true false true}"
C = "bool[3]{true true false}"


def _called(name: str, title: str, arguments: str, *rest: Any, **named: Any) -> Program:
    def call(jax: Library, *arrays: Array) -> Array:
        return getattr(jax.numpy, name)(*arrays, *rest, **named)

    call.__name__ = f"{name}_{title}"
    call.__doc__ = f"`{name}` {title.replace('_', ' ')}."
    return program(arguments)(call)


PROGRAMS = [
    *(_called(n, "of_floats", X) for n in ("log2", "log10")),
    *(_called(n, "of_floats", X) for n in ("reciprocal", "sign", "isnan", "isinf")),
    *(_called(n, "of_floats", X) for n in ("negative", "sqrt", "tanh")),
    *(_called(n, "of_integers", K) for n in ("abs", "sin", "square", "invert")),
    *(_called(n, "of_integers", K) for n in ("mean", "var", "prod", "exp")),
    *(_called(n, "of_floats", f"{X} {Y}") for n in ("divmod", "power", "maximum")),
    *(_called(n, "of_floats", f"{X} {Y}") for n in ("floor_divide", "vdot", "mod")),
    *(_called(n, "of_integers", f"{K} {J}") for n in ("divide", "minimum", "maximum")),
    *(_called(n, "of_integers", f"{K} {J}") for n in ("dot", "outer")),
    *(_called(n, "of_both", f"{K} {Y}") for n in ("add", "multiply", "less_equal")),
    *(_called(n, "of_booleans", f"{B} {C}") for n in ("logical_and", "logical_or")),
    *(_called(n, "of_booleans", f"{B} {C}") for n in ("add", "bitwise_or", "equal")),
    *(_called(n, "along_rows", M, axis=1) for n in ("sum", "max", "argmin", "var")),
    *(_called(n, "along_columns", M, axis=0) for n in ("prod", "min", "any", "std")),
    *(_called(n, "of_a_matrix", M) for n in ("ravel", "matrix_transpose", "all")),
    _called("clip", "of_integers", K, -1, 6),
    _called("round", "of_integers", K),
    _called("round", "to_a_digit", X, 1),
    _called("where", "of_three", f"{B} {X} {Y}"),
    _called("atleast_2d", "of_a_vector", X),
    _called("full_like", "of_integers", K, 2),
]
globals().update({p.function.__name__: p for p in PROGRAMS})
