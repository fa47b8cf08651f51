"""Numba's options: taken where they change no result, else explained.

Serves: compat.option
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from types import FunctionType
from typing import Any, TypedDict, TypeVar

from traceir import rules

F = TypeVar("F", bound=Callable[..., Any])
# Options that say how to compile: any value of theirs has the same results.
_WITHOUT_EFFECT = frozenset(
    (
        *("cache", "nogil", "parallel", "fastmath", "inline", "nopython", "debug"),
        *("looplift", "no_rewrites", "no_cpython_wrapper", "no_cfunc_wrapper"),
        *("boundscheck", "forceinline", "writable_args", "identity", "_nrt"),
    )
)
# Options that have to have one of these values, and what to write for another.
_FIXED: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "forceobj": (
        (False,),
        'write `traceir_numba.jit(fallback="numpy")`: Python runs what is not traced',
    ),
    "locals": ((None, {}), "convert where the value is made, as in `np.float32(x)`"),
    "pipeline_class": ((None,), "leave it out: there are no passes to choose"),
    "target": (
        ("cpu", "parallel", None),
        'leave it out; for devices write `traceir_numba.jit(target="cuda")`',
    ),
    "target_backend": ((None,), "leave it out"),
    "error_model": (
        ("python", "numpy"),
        'write "python", where a division of numbers by zero raises, or "numpy"',
    ),
}


class NumbaOptions(TypedDict, total=False):
    """The options of Numba's decorators that are taken, for type checkers."""

    nopython: bool
    parallel: bool | dict[str, bool]
    fastmath: bool | set[str]
    cache: bool
    nogil: bool
    error_model: str
    inline: str
    debug: bool
    forceobj: bool
    looplift: bool
    locals: dict[str, Any] | None


def check_options(options: Mapping[str, Any], own: Collection[str] = ()) -> None:
    """Raise TypeError (compat.option) for an option that would change results here.

    An option of no known name is told with the nearest one, of Numba's and `own`.
    """
    for name, value in options.items():
        values, hint = _FIXED.get(name, ((), ""))
        if name in _WITHOUT_EFFECT or value in values:
            continue
        if not hint:
            known = sorted({*_WITHOUT_EFFECT, *_FIXED, *own})
            import difflib  # not on the way of an import

            near = difflib.get_close_matches(name, known, 1)
            hint = f"write `{near[0]}=`" if near else "leave it out"
        raise rules.error("compat.option", got=f"{name}={value!r}", hint=hint)


def divided(function: F, options: Mapping[str, Any]) -> F:
    """A function, or with `error_model="numpy"` its copy that divides Python's numbers
    by zero as NumPy does."""
    if options.get("error_model") != "numpy" or not isinstance(function, FunctionType):
        return function
    from traceir.face.python.numbers import DIVISION  # nothing else needs it yet

    made: Any = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    functools.update_wrapper(made, function)
    made.__kwdefaults__ = function.__kwdefaults__
    vars(made).pop("__wrapped__")
    setattr(made, DIVISION, "numpy")
    found: F = made
    return found
