"""Transforms of functions as cases spell them: `grad[argnums=0] vmap f`.

Each is made of a function of the implementation's own package, so that a system that
lacks one refuses the cases that use it. Serves: jvp.*, grad.*, vmap.*
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from traceir.conform.judging.run import Unsupported

Fun = Callable[..., Any]


def transformed(package: Any, name: str, fun: Fun, params: Mapping[str, Any]) -> Fun:
    """The function transformed; raises Unsupported where the package has no such name.

    >>> import traceir
    >>> transformed(traceir, "jit", lambda x: x + x, {})(2.0)
    Array(4., dtype=float32, weak_type=True)
    """
    if not hasattr(package, name):
        raise Unsupported(f"no {name}")
    if name in FLAT:
        return FLAT[name](package, fun, **params)
    found: Fun = getattr(package, name)(fun, **params)
    return found


def _jvp(package: Any, fun: Fun) -> Fun:
    def call(*args: Any) -> Any:
        half = len(args) // 2
        return package.jvp(fun, args[:half], args[half:])

    return call


def _linearize(package: Any, fun: Fun) -> Fun:
    def call(*args: Any) -> Any:
        half = len(args) // 2
        out, linear = package.linearize(fun, *args[:half])
        return out, linear(*args[half:])

    return call


def _vjp(package: Any, fun: Fun, results: int = 1) -> Fun:
    def call(*args: Any) -> Any:
        out, back = package.vjp(fun, *args[:-results])
        return out, back(_cotangent(args, results))

    return call


def _linear_transpose(package: Any, fun: Fun, results: int = 1) -> Fun:
    def call(*args: Any) -> Any:
        back = package.linear_transpose(fun, *args[:-results])
        return back(_cotangent(args, results))

    return call


def _cotangent(args: tuple[Any, ...], results: int) -> Any:
    return args[-1] if results == 1 else args[-results:]


def _custom_jvp(package: Any, fun: Fun, rule: Fun, **params: Any) -> Fun:
    found = package.custom_jvp(fun, **params)
    found.defjvp(rule)
    return _plain(found)


def _custom_vjp(package: Any, fun: Fun, fwd: Fun, bwd: Fun, **params: Any) -> Fun:
    found = package.custom_vjp(fun, **params)
    found.defvjp(fwd, bwd)
    return _plain(found)


def _plain(custom: Any) -> Fun:
    """A function, since an object with a rule has no signature of its own."""

    def call(*args: Any) -> Any:
        return custom(*args)

    return call


# Those that are no functions of a function alone, as functions of arrays: derivatives
# take their tangents or cotangents after the arguments.
FLAT: Mapping[str, Callable[..., Fun]] = {
    "jvp": _jvp,
    "linearize": _linearize,
    "vjp": _vjp,
    "linear_transpose": _linear_transpose,
    "custom_jvp": _custom_jvp,
    "custom_vjp": _custom_vjp,
}
