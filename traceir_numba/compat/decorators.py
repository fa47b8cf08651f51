"""`njit`, `jit` and `prange`, with Numba's options.

Serves: compat.option, compat.missing, compat.generator
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Unpack, overload

from traceir import rules
from traceir.base.source_info import warn
from traceir.base.tracebacks import entry_points
from traceir.jit.cache.known_arguments import CompiledFunction
from traceir.jit.function import JitFunction, P, R
from traceir_numba import api
from traceir_numba.compat.signatures import (
    Signature,
    SomeType,
    chosen,
    is_signature,
    signature,
)
from traceir_numba.numba_options import NumbaOptions, check_options, divided

Function = Callable[..., Any]
One: TypeAlias = str | SomeType | Signature | tuple[SomeType, ...]
Signatures: TypeAlias = One | list[One] | None


@entry_points()
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


@entry_points()
class SignedFunction(CompiledFunction):
    """A compiled function that takes its numbers as signatures say."""

    def __init__(self, function: Any, signatures: Sequence[Signature]) -> None:
        functools.update_wrapper(self, function)
        self.signatures = tuple(signatures)
        self.compiled = function

    def __call__(self, *args: Any) -> Any:
        own = chosen(self.signatures, args)
        found = self.compiled(*own.converted(args))
        return found if own.result is None else own.result.converted(found)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.compiled, name)


def generating(function: Function) -> Function:
    """A generator as Python runs it; the first call warns of that."""
    told = False

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        nonlocal told
        if not told:
            told = True
            warn(
                f"{function.__name__} is a generator, which is run by Python; what it "
                f"calls is compiled\n"
                f"  hint: return an array of the values\n  [compat.generator]"
            )
        return function(*args, **kwargs)

    vars(run)["py_func"] = function
    return run


def compiled(function: Callable[P, R], options: Mapping[str, Any]) -> Any:
    """A function under this package's decorator."""
    if inspect.isgeneratorfunction(function):
        return generating(function)
    made = api.jit(divided(function, options))
    vars(made)["py_func"] = function
    return made


@overload
def njit(  # type: ignore[overload-overlap]  # types can be called
    signature_or_function: Signatures = None, **options: Unpack[NumbaOptions]
) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...


@overload
def njit(
    signature_or_function: Callable[P, R], **options: Unpack[NumbaOptions]
) -> JitFunction[P, R]: ...


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
    if given is not None and not is_signature(given):
        return compiled(given, options)
    several = given if isinstance(given, list) else [] if given is None else [given]
    signatures = [signature(one) for one in several]

    def decorate(function: Function) -> Any:
        made = compiled(function, options)
        return SignedFunction(made, signatures) if signatures else made

    return decorate


jit = njit
