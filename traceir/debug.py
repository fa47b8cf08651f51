"""Looking into programs while they run. Serves: debug.*, debug_print.*

Prints and calls are part of the program: they happen at each run, in the order of the
program, for each turn of a loop and for each example under `vmap`.

>>> import traceir
>>> @traceir.jit
... def f(x):
...     traceir.debug.print("x is {x}", x=x)
...     return x * 2
>>> f(3.0)
x is 3.0
Array(6., dtype=float32, weak_type=True)
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from traceir import rules
from traceir.base.tracebacks import publish as _publish
from traceir.tracing.callbacks import Called, host_function, operands
from traceir.tracing.trace import bind


def print(  # the name that users know
    fmt: str,
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> None:
    """Print values when the program runs: `fmt` is formatted with them as arrays.

    Calls are always in the order of the program; `ordered` is kept for other
    implementations. Arguments that are no arrays, such as texts, are formatted as they
    are. Under `grad` and `jvp`, what is printed are the primals.

    Raises ValueError (debug.format) for a format that names an argument that is not
    given, or that is malformed, and (debug.unused) for an argument that it does not
    name, TypeError (debug.text) where `fmt` is no text.

    >>> import traceir, traceir.numpy as jnp
    >>> def f(x):
    ...     traceir.debug.print("{:.1f} of {name}", x, name="x")
    ...     return x * x
    >>> traceir.vmap(f)(jnp.arange(2.0))
    0.0 of x
    1.0 of x
    Array([0., 1.], dtype=float32)
    >>> traceir.grad(f)(3.0)
    3.0 of x
    Array(6., dtype=float32, weak_type=True)
    """
    if not isinstance(fmt, str):
        raise rules.error("debug.text", got=f"{fmt!r}, a {type(fmt).__name__}")
    named = _check(fmt, args, kwargs)
    values, tree, fixed = operands(args, kwargs)
    options = {**np.get_printoptions(), "formatter": None}
    bind(
        "debug_print",
        *values,
        fmt=fmt,
        has_placeholders=bool(named),
        in_tree=tree,
        np_printoptions=tuple(options.items()),
        ordered=ordered,
        partitioned=partitioned,
        static_args=tuple((k, _hashable(v)) for k, v in fixed),
    )


def callback(
    callback: Callable[..., Any],
    *args: Any,
    ordered: bool = False,
    partitioned: bool = False,
    **kwargs: Any,
) -> None:
    """Call a function of the user's with values when the program runs.

    It gets arrays; what it gives is not looked at, and what it raises reaches the
    caller of the program. Raises TypeError (callback.callable) for no function.

    >>> import traceir
    >>> seen = []
    >>> @traceir.jit
    ... def f(x):
    ...     traceir.debug.callback(seen.append, x + 1)
    ...     return x
    >>> f(1.0), f(2.0)
    (Array(1., dtype=float32, weak_type=True), Array(2., dtype=float32, weak_type=True))
    >>> seen
    [Array(2., dtype=float32), Array(3., dtype=float32)]
    """
    values, tree, fixed = operands(args, kwargs)
    bind(
        "debug_callback",
        *values,
        callback=host_function(callback, Called(callback, tree, fixed)),
        effect="OrderedDebug" if ordered else "Debug",
        partitioned=partitioned,
    )


def _check(fmt: str, args: Any, kwargs: Any) -> set[int | str]:
    """The arguments that a format names: all that there are, and no other."""
    try:
        named = set(_fields(fmt))
    except ValueError as error:
        raise rules.error("debug.format", got=f"{fmt!r}: {error}") from None
    given = {*range(len(args)), *kwargs}
    if missing := [n for n in named if n not in given]:
        listed = ", ".join(sorted(map(repr, missing)))
        raise rules.error("debug.format", got=f"{fmt!r} without argument {listed}")
    if unused := [n for n in (*range(len(args)), *kwargs) if n not in named]:
        listed = ", ".join(map(repr, unused))
        raise rules.error("debug.unused", got=f"{fmt!r} with argument {listed}")
    return named


def _fields(fmt: str) -> Iterator[int | str]:
    """The arguments that a format names, those within specifications too."""
    count = 0
    todo = [fmt]
    while todo:
        for _, field, spec, _ in string.Formatter().parse(todo.pop(0)):
            if field is None:
                continue
            name = field.partition(".")[0].partition("[")[0]
            if not name:
                yield count
                count += 1
            else:
                yield int(name) if name.isdecimal() else name
            if spec:
                todo.append(spec)


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return str(value)
    return value


_publish(globals())
