"""Lowering of users' primitives: to functions of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.transforms.custom.custom_primitive import Primitive

__all__ = ["LoweredFunction", "lower_fun", "register_lowering"]


class LoweredFunction:
    """A lowering that is a function of operations; see `lower_fun`."""

    def __init__(self, fun: Callable[..., Any], multiple_results: bool) -> None:
        self.fun = fun
        self.multiple_results = multiple_results


def lower_fun(
    fun: Callable[..., Any], multiple_results: bool = True
) -> LoweredFunction:
    """A function of arrays as a lowering: its operations are the program.

    >>> lower_fun(abs, multiple_results=False).multiple_results
    False
    """
    return LoweredFunction(fun, multiple_results)


def register_lowering(
    primitive: Primitive, rule: Any, platform: str | None = None, **_: Any
) -> None:
    """Register what a primitive is in programs.

    What `lower_fun` gives is traced there. A rule that writes MLIR itself has nothing
    to write here: the primitive's `impl` is called on the host instead. Rules for
    other platforms than the CPU are left out.
    """
    if platform in (None, "cpu") and isinstance(rule, LoweredFunction):
        one = rule.multiple_results and not primitive.multiple_results
        fun = rule.fun
        primitive.lowering = (lambda *xs, **ps: fun(*xs, **ps)[0]) if one else fun
