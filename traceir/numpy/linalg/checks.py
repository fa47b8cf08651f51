"""Operands of linear algebra, checked. Serves: linalg.*"""

from __future__ import annotations

from traceir import rules
from traceir.lax.checks.operands import Operand, promoted_inexact, shape_of
from traceir.tracing.trace import typeof


def matrices(name: str, *values: Operand) -> list[Operand]:
    """Stacks of matrices, promoted to one floating dtype; LinAlgError (linalg.matrix).

    >>> import traceir.numpy as jnp
    >>> matrices("inv", jnp.array([[1, 2]]))
    [Array([[1., 2.]], dtype=float32)]
    """
    found = promoted_inexact(name, *values)
    for x in found:
        if len(shape_of(x)) < 2:
            raise rules.error("linalg.matrix", got=f"{name} of {shown(x)}")
    return found


def square(name: str, value: Operand) -> Operand:
    """A stack of square matrices; LinAlgError (linalg.matrix, linalg.square).

    >>> import traceir.numpy as jnp
    >>> square("inv", jnp.array([[1]]))
    Array([[1.]], dtype=float32)
    """
    [x] = matrices(name, value)
    check_square(name, x)
    return x


def check_square(name: str, x: Operand) -> None:
    """Raise LinAlgError (linalg.square) unless matrices are square.

    >>> import traceir.numpy as jnp
    >>> check_square("inv", jnp.ones((2, 2)))
    """
    *_, rows, columns = shape_of(x)
    if rows != columns:
        raise rules.error("linalg.square", got=f"{name} of {shown(x)}")


def shown(x: Operand) -> str:
    """The type of an operand, as errors have it.

    >>> shown(1.0)
    'f32[]'
    """
    return typeof(x).str_short()


def option(name: str, key: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise ValueError (linalg.option) unless a value is one of those allowed.

    >>> option("qr", "mode", "r", ("reduced", "r"))
    """
    if value not in allowed:
        listed = ", ".join(map(repr, allowed))
        hint = f"one of {listed}"
        raise rules.error("linalg.option", got=f"{key}={value!r} of {name}", hint=hint)
