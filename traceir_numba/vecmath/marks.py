"""Decorators that mark the functions' source, without Numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast, overload

from numpy import float32 as f32
from numpy import float64 as f64


class Ternary(Protocol):
    """A function of three floating numbers of one dtype, which is its result's."""

    @overload
    def __call__(self, x: f32, y: f32, z: f32, /) -> f32: ...
    @overload
    def __call__(self, x: float, y: float, z: float, /) -> f64: ...


def intrinsic(define: Callable[..., object]) -> Ternary:
    """In a generated module this is Numba's; here only the text is read."""
    return cast(Ternary, define)
