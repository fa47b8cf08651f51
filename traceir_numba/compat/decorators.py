"""`njit`, `jit` and `prange`, with Numba's options.

Serves: compat.option, compat.missing
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from traceir import rules
from traceir.face.python.numbers import DIVISION
from traceir_numba import api
from traceir_numba.compat.signatures import NumbaType, Signature, chosen, signature

Function = Callable[..., Any]
# Options that say how to compile: any value of theirs has the same results.
_WITHOUT_EFFECT = frozenset(
    (
        *("cache", "nogil", "parallel", "fastmath", "inline", "nopython", "debug"),
        *("looplift", "no_rewrites", "no_cpython_wrapper", "no_cfunc_wrapper", "nogil"),
        *("boundscheck", "forceinline", "writable_args", "identity", "_nrt"),
    )
)
# Options that have to have one of these values, by their names.
_FIXED: Mapping[str, tuple[Any, ...]] = {
    "forceobj": (False,),
    "locals": (None, {}),
    "pipeline_class": (None,),
    "target": ("cpu", "parallel", None),
    "target_backend": (None,),
    "error_model": ("python", "numpy"),
}


class MissingName:
    """A name of Numba's that has no counterpart: to use it is an error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **options: Any) -> Any:
        raise rules.error("compat.missing", got=self._name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise rules.error("compat.missing", got=f"{self._name}.{name}")


class prange:  # the name that users know
    """A range whose steps may run in any order, as Numba has it."""

    def __new__(cls, *bounds: Any) -> Any:
        """The range itself."""
        return range(*bounds)


def check_options(options: Mapping[str, Any]) -> None:
    """Raise TypeError (compat.option) for an option that would change results here."""
    for name, value in options.items():
        if name not in _WITHOUT_EFFECT and value not in _FIXED.get(name, ()):
            raise rules.error("compat.option", got=f"{name}={value!r}")


class SignedFunction:
    """A compiled function that takes its numbers as signatures say."""

    def __init__(self, function: Any, signatures: Sequence[Signature]) -> None:
        functools.update_wrapper(self, function)
        self.signatures = tuple(signatures)
        self.compiled = function

    def __call__(self, *args: Any) -> Any:
        own = chosen(self.signatures, args)
        found = self.compiled(*own.converted(args))
        result = own.result
        if result is None or result.dtype is None or result.ndim:
            return found
        return result.number(found)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)


def _is_signature(value: Any) -> bool:
    return isinstance(value, (str, tuple, list, NumbaType, Signature))


def compiled(function: Function, options: Mapping[str, Any]) -> Any:
    """A function under this package's decorator."""
    if options.get("error_model") == "numpy":
        function = _dividing_as_numpy(function)
    made = api.jit(function)
    made.py_func = function
    return made


def _dividing_as_numpy(function: Function) -> Function:
    """A copy of a function that divides Python's numbers by zero as NumPy does."""
    if not isinstance(function, FunctionType):
        return function
    made = FunctionType(
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
    return made


def njit(signature_or_function: Any = None, **options: Any) -> Any:
    """Numba's `njit`: the decorator itself, with a signature, or with options.

    With signatures, numbers are taken and given as these say. Raises TypeError
    (compat.option) for an option that has no counterpart, (compat.signature) for what
    is no signature, and for a call that none fits.

    >>> @njit("f8(f8, i8)", cache=True)
    ... def power(x, n):
    ...     found = 1.0
    ...     for _ in range(n):
    ...         found *= x
    ...     return found
    >>> power(2, 10)
    np.float64(1024.0)
    """
    given = signature_or_function
    check_options(options)
    if given is not None and not _is_signature(given):
        return compiled(given, options)
    several = given if isinstance(given, list) else [] if given is None else [given]
    signatures = [signature(one) for one in several]

    def decorate(function: Function) -> Any:
        made = compiled(function, options)
        return SignedFunction(made, signatures) if signatures else made

    return decorate


jit = njit
