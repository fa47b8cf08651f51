"""Objects of a user's classes among the arguments of a plain function.

Rules: face.objects, update.container
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir_numba import jit

X = np.arange(6.0).reshape(2, 3)


class Layer:
    """An object in another one."""

    def __init__(self) -> None:
        self.weights, self.size = np.ones(3), 3

    def __call__(self, x: Any) -> Any:
        """The product."""
        return x @ self.weights


class Model:
    """An object with attributes of many kinds."""

    def __init__(self) -> None:
        self.weights, self.rate, self.count = np.ones(3), 0.5, 0
        self.layer, self.name, self.act = Layer(), "model", np.tanh
        self.history: list[float] = []
        self.sizes, self.options = [2, 3], {"mode": "fast"}
        self.itself = self

    @jit
    def predict(self, x: Any) -> Any:
        """Reads."""
        return self.act(x @ self.weights) + self.layer(x)

    @jit
    def fit(self, x: Any) -> Any:
        """Sets arrays and numbers."""
        self.weights = self.weights + self.rate * x.sum(axis=0)
        self.rate *= 0.5
        return self.weights

    @jit
    def counted(self, x: Any) -> Any:
        """Sets what is known."""
        self.count += 1
        self.history.append(x.sum())
        return np.zeros(self.count) + len(self.name)

    @jit
    def written(self, x: Any) -> None:
        """Writes to arrays, of another object too."""
        self.weights += x.sum(axis=0)
        self.layer.weights[0] = 5.0

    @jit
    def calls(self, x: Any) -> Any:
        """Calls other methods, jitted and not."""
        return self.plain(x) + self.predict(x).sum()

    @jit
    def new(self, x: Any) -> None:
        """Sets a new attribute."""
        self.fresh = x * 2

    def plain(self, x: Any) -> Any:
        """Is called."""
        return self.weights * x if self.options["mode"] == "fast" else x


def contents(value: Any) -> dict[str, Any]:
    """The attributes that can be compared."""
    found = {k: v for k, v in vars(value).items() if k not in ("itself", "layer")}
    return {**found, "inner": vars(value.layer)}


@pytest.mark.parametrize(
    "name", ["predict", "fit", "counted", "written", "calls", "new"]
)
def test_methods_do_what_they_do_without(name: str) -> None:
    one, other, method = Model(), Model(), getattr(Model, name)
    for k in range(3):
        found, wanted = getattr(one, name)(X + k), method._fun(other, X + k)
        np.testing.assert_equal(found, wanted)
        np.testing.assert_equal(contents(one), contents(other))
        one.weights = other.weights = other.weights + 1
    assert method.cache_info().compiles <= (3 if name == "counted" else 2)


class Scaled:
    """An object of one attribute."""

    def __init__(self, by: Any) -> None:
        self.by = by

    @jit
    def scale(self, x: Any) -> Any:
        """The product."""
        return x * self.by

    @jit
    def forget(self) -> None:
        """Deletes."""
        del self.by

    @property
    def twice(self) -> Any:
        """A property."""
        return self.by * 2


def test_nothing_is_stale() -> None:
    scaled = Scaled(2)
    for by in (2, 3, 2.5, 7.5, np.full(2, 4.0), True):
        scaled.by = by
        np.testing.assert_equal(scaled.scale(1.5), 1.5 * np.asarray(by))
    assert Scaled(3).scale(1.5) == 4.5
    outer = jit(lambda one, x: one.scale(x) + one.twice)
    assert outer(Scaled(3.0), 1.5) == 10.5


@dataclass
class Body:
    """A dataclass that nobody registered."""

    place: np.ndarray
    mass: float
    name: str = "body"


def test_functions_take_objects() -> None:
    @jit
    def step(body: Any, time: Any) -> Any:
        body.place += time
        body.mass *= 2.0
        return body.mass

    body = Body(np.zeros(2), 1.0)
    assert [step(body, 0.5), step(body, time=0.5)] == [2, 4]
    assert body.place.tolist() == [1, 1] and type(body.mass) is float


def test_what_cannot_be_is_refused() -> None:
    with raises_rule("update.container", TypeError, "less an attribute"):
        Scaled(1.5).forget()
    scaled = Scaled(1.5)
    scaled.scale(1.0)
    assert scaled.by == 1.5
    body = Body(np.zeros(2), 1.0)
    body.name = body.place  # type: ignore[assignment]  # two names of an array

    def written(body: Any) -> None:
        body.place[0] = 1.0

    with raises_rule("update.overlap", ValueError, r"body\.place.* body\.name"):
        traceir_numba.jit(written)(body)
    with raises_rule("jit.argument", TypeError, "Slots"):
        traceir_numba.jit(written)(Slots())


class Slots:
    """An object without a dict."""

    __slots__ = ("place",)


class Decorated:
    """Compiled functions as members of every kind, beside each other."""

    def __init__(self) -> None:
        self.rate, self.seen = 0.5, np.zeros(1)

    @jit
    def scaled(self, x: Any) -> Any:
        """A method, which calls the others."""
        self.seen[0] += x.sum()
        return self.twice(x) * self.rate * self.half + self.thrice(x)

    @property
    @jit
    def half(self) -> Any:
        """A number of the object's."""
        return self.rate / 2

    @staticmethod
    @jit
    def twice(x: Any) -> Any:
        """A function."""
        return x * 2

    @classmethod
    @jit
    def thrice(cls, x: Any) -> Any:
        """A function of the class."""
        return x * 3


def test_members_of_all_kinds_may_be_compiled() -> None:
    one, x = Decorated(), X[0]
    for _ in range(2):
        np.testing.assert_array_equal(one.scaled(x), 2 * x * 0.125 + 3 * x)
    np.testing.assert_array_equal(one.twice(x), 2 * x)
    kind: Any = Decorated
    np.testing.assert_array_equal(kind.thrice(x), 3 * x)
    assert one.half == 0.25 and one.seen[0] == 2 * x.sum()
    one.rate = 1.0
    np.testing.assert_array_equal(one.scaled(x), 2 * x * 0.5 + 3 * x)
