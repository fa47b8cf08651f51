"""Numbers of Python's that are traced: operands, results and checks.

Serves: python.argument, python.domain, python.overflow
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from traceir import numpy as jnp
from traceir import rules
from traceir.base.source_info import Source
from traceir.face.arrays.array import NumpyTracer, traced
from traceir.face.checks.status import note_rule
from traceir.lax.checks.operands import convert, default_dtype
from traceir.tracing.trace import Tracer, current_trace, typeof

# The attribute of a function that says how it divides Python's numbers by zero: as
# "numpy", or as Python; and how the function divides that is traced.
DIVISION = "__traceir_division__"
_tracing = threading.local()


@contextmanager
def dividing_as(function: Any) -> Iterator[None]:
    """Within a `with`, a function is traced that says how it divides."""
    before = getattr(_tracing, "division", "python")
    _tracing.division = getattr(function, DIVISION, before)
    try:
        yield
    finally:
        _tracing.division = before


def is_traced(*values: Any) -> bool:
    """True if one of some values is computed by the program."""
    return any(
        isinstance(v, Tracer) and not v.knows("level.concretize.number") for v in values
    )


def number(value: Any, name: str, kinds: str) -> Any:
    """An operand that is one number, of one of these kinds of dtypes.

    Raises TypeError (python.argument) for any other.
    """
    if isinstance(value, Tracer):
        value = value.reshape(()) if value.shape and value.size == 1 else value
        value = value.now() if isinstance(value, NumpyTracer) else value
    elif not isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
        raise rules.error("python.argument", got=f"{name}: {type(value).__name__}")
    aval = typeof(value)
    if aval.shape or aval.dtype.kind not in kinds:
        raise rules.error("python.argument", got=f"{name} of {aval.str_short()}")
    return value


def real(value: Any, name: str) -> Any:
    """An operand as a float."""
    return convert(number(value, name, "biuf"), default_dtype(float))


def integer(value: Any, name: str) -> Any:
    """An operand that is an integer, of 64 bits."""
    return convert(number(value, name, "biu"), default_dtype(int))


def as_float(value: Any) -> Any:
    """A result as a float of Python's."""
    return traced(convert(value, default_dtype(float), True), number=True)


def as_integer(value: Any) -> Any:
    """A result as an integer of Python's: a float without its fraction."""
    return traced(convert(value, default_dtype(int), True), number=True)


def as_python(value: Any) -> Any:
    """A number of NumPy's as the number of Python's that it holds."""
    made = {"i": as_integer, "u": as_integer, "f": as_float, "c": as_complex}
    return made.get(value.dtype.kind, traced)(value)


def whole(value: Any, name: str) -> Any:
    """A float as an integer of Python's, towards zero; one that is none of 64 bits is
    an error (python.overflow)."""
    limit = 2.0 ** (8 * default_dtype(int).itemsize - 1)
    held = jnp.less(jnp.abs(value), limit)
    require(jnp.logical_not(held), "python.overflow", f"{name} of such a float")
    return as_integer(value)


def as_complex(value: Any) -> Any:
    """A result as a complex number of Python's."""
    return traced(convert(value, default_dtype(complex), True), number=True)


def require(broken: Any, rule: str, got: str, source: Source | None = None) -> None:
    """Have the program raise a rule's error where a flag is set, as indices are, at a
    line, by default that which runs.

    In an inner function of a transform there are no errors at run time.
    """
    if rule == "python.zero" and getattr(_tracing, "division", "") == "numpy":
        return
    if not isinstance(broken, Tracer):
        if broken:
            raise rules.error(rule, got=got)
        return
    trace = current_trace()
    staged = isinstance(broken, NumpyTracer)
    if staged and trace and trace.transform == "jit":
        note_rule(broken, rule, got, source)
