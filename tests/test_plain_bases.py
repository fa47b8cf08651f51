"""Methods of bases, asked by `super`, in plain functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import traceir_numba

X = np.arange(1.0, 8.0)


class Filter:
    """A class with a loop in a method."""

    def __init__(self, least: float) -> None:
        self.least = least

    def total(self, x: Any) -> Any:
        """The sum of the elements that are large."""
        found = 0.0
        for value in x:
            if value > self.least:
                found += value
        return found


class Scaled(Filter):
    """A class that asks its base."""

    def __init__(self, least: float, scale: float) -> None:
        super().__init__(least)
        self.scale = scale

    def total(self, x: Any) -> Any:
        """Those of the base, scaled if they are many."""
        found = super().total(x)
        return found * self.scale if found > 3 else found


def test_methods_of_bases_are_looked_into() -> None:
    def filtered(x: Any) -> Any:
        return Scaled(2.0, 3.0).total(x)

    assert traceir_numba.jit(filtered)(X) == filtered(X)
    assert traceir_numba.jit(Scaled(5.0, 2.0).total)(X) == Scaled(5.0, 2.0).total(X)
