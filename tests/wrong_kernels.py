"""Kernels that are wrong on purpose: the right ones with something changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from small_eval import Small

from traceir.conform import judge, load_cases
from traceir.reference.kernels.registry import KERNELS

Kernel = Callable[..., Any]
# The primitive, its wrong kernel, and the case that tells it.
Wrong = tuple[str, Kernel, str]
CASES = {case.name: case for case in load_cases()}


def right(primitive: str, *arrays: Any, **params: Any) -> Any:
    """The result of the reference's kernel."""
    return KERNELS[primitive](*map(np.asarray, arrays), **params)


def with_params(primitive: str, **changes: Callable[[Any], Any]) -> Kernel:
    """The right kernel with some of its params changed."""

    def kernel(*arrays: Any, **params: Any) -> Any:
        changed = {name: change(params.get(name)) for name, change in changes.items()}
        return right(primitive, *arrays, **params | changed)

    return kernel


def with_arrays(primitive: str, change: Callable[..., Any]) -> Kernel:
    """The right kernel with its operands changed."""
    return lambda *arrays, **params: right(primitive, *change(*arrays), **params)


def with_results(primitive: str, change: Callable[..., Any]) -> Kernel:
    """The right kernel with its results changed."""

    def kernel(*arrays: Any, **params: Any) -> Any:
        found = right(primitive, *arrays, **params)
        several = isinstance(found, list | tuple)
        return change(*found) if several else change(found)

    return kernel


def check_told(primitive: str, kernel: Kernel, name: str) -> None:
    """Assert that a small implementation with this kernel fails this case."""
    called: list[str] = []

    def wrong(*arrays: Any, **params: Any) -> Any:
        called.append(primitive)
        found = kernel(*arrays, **params)
        called.append("returned")
        return found

    made: Small = type("Wrong", (Small,), {"kernels": {primitive: wrong}})()
    assert judge(Small(), CASES[name]).kind == "pass"
    assert judge(made, CASES[name]).kind == "fail"
    # That it fails is because of what it returns, not of an error in it.
    assert called == [primitive, "returned"] * (len(called) // 2) and called
