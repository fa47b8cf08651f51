"""A module of functions that other functions call, as `test_plain_reached.py` does."""

from __future__ import annotations

from typing import Any

import numpy as np

TABLE = np.array([5.0, 6.0, 7.0])
generator = np.random.default_rng(0)


def made(v: Any) -> Any:
    """An array made of traced numbers, if the argument is an array."""
    return np.array([v[0], 2 * v[1]]) if isinstance(v, np.ndarray) else 0.0


def drawn(v: Any) -> Any:
    """Another number in each call."""
    return v + generator.random()


class Model:
    """An object with the kinds of members that reach functions."""

    scale = 2.0

    def __init__(self, v: Any) -> None:
        self.v = np.array([v[0], v[1]])

    def method(self, v: Any) -> Any:
        return made(v) + self.v

    def __call__(self, v: Any) -> Any:
        return self.method(v)

    @property
    def part(self) -> Any:
        return made(self.v)

    @staticmethod
    def alone(v: Any) -> Any:
        return made(v)

    @classmethod
    def of(cls, v: Any) -> Any:
        return cls(v).v * cls.scale


class Derived(Model):
    def method(self, v: Any) -> Any:
        return super().method(v) + np.array([1.0, v[0]])
