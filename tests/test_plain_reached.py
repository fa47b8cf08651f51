"""Functions that a plain function calls, however it reaches them. Cites face.reach

All of them see NumPy as the function itself does: they make arrays of traced numbers,
are told that these are NumPy's arrays, and draw anew in each call.
"""

from __future__ import annotations

import functools
import importlib
import numbers
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import plain_helper
import pytest
from plain_helper import Derived, Model, drawn, made

import traceir_numba
from traceir.errors import TraceirError

Function = Callable[..., Any]
V = np.array([1.0, 2.0, 3.0])
NAMED = {"made": made, "drawn": drawn}
LISTED = [made, drawn]
PARTIAL = functools.partial(made)
MODEL = Model(V)
HOLDER: Any = type("Holder", (), {})()
HOLDER.kept, HOLDER.several = made, {"made": made}
HOLDER.model = MODEL
METHOD = MODEL.method


def wrapped(function: Function) -> Function:
    @functools.wraps(function)
    def called(*args: Any) -> Any:
        return function(*args)

    return called


WRAPPED = wrapped(made)


def imported(v: Any) -> Any:
    import plain_helper as helper

    return helper.made(v)


def imported_from(v: Any) -> Any:
    from plain_helper import made as helper

    return helper(v)


WAYS: dict[str, Function] = {
    "a name": lambda v: made(v),
    "a module": lambda v: plain_helper.made(v),
    "getattr": lambda v: getattr(plain_helper, "made")(v),  # noqa: B009  # in the wild
    "an import": imported,
    "a name imported": imported_from,
    "a dict": lambda v: NAMED["made"](v),
    "a list": lambda v: LISTED[0](v),
    "a partial": lambda v: PARTIAL(v),
    "a default": lambda v, f=made: f(v),
    "a wrapper": lambda v: WRAPPED(v),
    "map": lambda v: next(map(made, [v])),
    "apply_along_axis": lambda v: np.apply_along_axis(made, 0, v),
    "a static method": lambda v: Model.alone(v),
    "a class method": lambda v: Model.of(v),
    "a constructor": lambda v: Model(v).v,
    "a method of what is made": lambda v: Model(v).method(v),
    "a property": lambda v: Model(v).part,
    "a call of what is made": lambda v: Model(v)(v),
    "a method": lambda v: MODEL.method(v),
    "a bound method": lambda v: METHOD(v),
    "a call of an object": lambda v: MODEL(v),
    "a module's class": lambda v: plain_helper.Model(v).method(v),
    "a derived class": lambda v: Derived.of(v),
    "an attribute": lambda v: HOLDER.kept(v) + HOLDER.several["made"](v),
    "an attribute's method": lambda v: HOLDER.model.method(v),
    "a captured array": lambda v: plain_helper.TABLE[v.astype(int)[0]] + v,
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_called_sees_numpy_as_the_caller_does(way: str) -> None:
    found = traceir_numba.jit(WAYS[way])(V)
    np.testing.assert_array_equal(found, WAYS[way](V))


@pytest.mark.parametrize(
    "function",
    [
        lambda v: plain_helper.drawn(v),
        lambda v: NAMED["drawn"](v),
        lambda v: LISTED[1](v),
        lambda v: Drawing.alone(v),
        lambda v: Drawing().method(v),
        lambda v: DRAWING.method(v),
    ],
)
def test_what_is_called_draws_anew(function: Function) -> None:
    jitted = traceir_numba.jit(function)
    assert len({jitted(V).tobytes() for _ in range(3)}) == 3


class Drawing:
    alone = staticmethod(drawn)

    def method(self, v: Any) -> Any:
        return drawn(v)


DRAWING = Drawing()


@dataclass
class Point:
    x: Any
    y: Any


def test_what_is_not_reached_is_refused_and_never_wrong() -> None:
    cached = functools.lru_cache(lambda v: made(v))
    found = importlib.import_module
    for function in (
        lambda v: found("plain_helper").made(v),
        lambda v: cached(v),
    ):
        with pytest.raises(TraceirError):
            traceir_numba.jit(function)(V)


def test_a_method_of_a_base_is_reached() -> None:
    def function(v: Any) -> Any:
        return Derived(v).method(v)

    np.testing.assert_array_equal(traceir_numba.jit(function)(V), function(V))


NUMBERS: list[Function] = [
    lambda v: np.float64(v[0]) * 2,
    lambda v: np.int32(v * 1.7),
    lambda v: np.bool_(v[0]),
    lambda v: np.complex64(v) + np.float32(v[1]),
    lambda v: np.zeros(3, np.float32) + np.uint8([v[0], 2, 3]),
    lambda v, kind=np.float32: kind(v),
    lambda v: np.float64(np.arange(3)) + v + np.iinfo(np.int8).max,
    lambda v: v.astype(np.float32).astype(np.float64) + np.float64(3),
    lambda v: {np.float64: 1.0}[v.dtype.type] + v,
    lambda v: np.sum(v, dtype=np.float32) + np.dtype(np.float16).itemsize,
    lambda v: v + (v.dtype == np.float64 and np.issubdtype(np.float32, np.floating)),
    lambda v: v + (isinstance(v[0], np.float64) and not isinstance(v, np.float64)),
    lambda v: v + (v.dtype.type in (np.int8, np.float64)),
    lambda v: v + (type(v[0]) == np.float64),  # noqa: E721  # the point
]


@pytest.mark.parametrize("function", NUMBERS)
def test_a_class_of_numbers_converts(function: Function) -> None:
    found, want = traceir_numba.jit(function)(V), function(V)
    np.testing.assert_array_equal(found, want)
    assert (type(found), found.dtype) == (type(want), want.dtype)


def test_who_tells_classes_of_numbers_apart_sees_numpys() -> None:
    namespace: dict[str, Any] = {"np": np}
    exec(
        "def f(v):\n    own = type(v[0]) is np.float64\n"
        "    return v + own + (v.dtype.type is np.float64)\n"
        "def g(v):\n    import numpy\n    return v + (v.dtype.type is numpy.float64)\n"
        "def h(v): return f(np.float32(v))",
        namespace,
    )
    for name in "fg":
        function = namespace[name]
        assert traceir_numba.jit(function)(V).tolist() == function(V).tolist()
    with pytest.raises(TraceirError):  # of one module all functions see the same
        traceir_numba.jit(namespace["h"])(V)


def test_whoever_asks_is_told_what_it_stands_for() -> None:
    told: list[Any] = []

    class Asking:  # not looked into, since it is no function
        def __contains__(self, v: Any) -> bool:
            told.append((isinstance(v, np.ndarray), isinstance(v, numbers.Real)))
            told.append((isinstance(v, float), v.__class__))
            return True

    asking = (Asking(),)[0]
    jitted = traceir_numba.jit(lambda v, s: v * (v[0] in asking and s in asking))
    jitted(V, 2)
    number, integer = [(False, True), (True, np.float64)], [(False, True), (False, int)]
    assert told == number + integer


def test_objects_and_classes_are_what_they_were_afterwards() -> None:
    kept: list[Any] = []

    def keeps(v: Any) -> Any:
        model = Model(V)
        assert isinstance(model, Model)
        assert isinstance(MODEL, Model)
        assert type(model) is Model
        assert {Model: 1}[type(model)] == 1
        kept.append(model)
        return v

    with pytest.raises(TraceirError, match="outside"):
        traceir_numba.jit(keeps)(V)
    assert {type(model) for model in kept} <= {Model}

    outside = [Point(1, 2)]
    equal = traceir_numba.jit(lambda v: v * (Point(1, 2) == outside[0]))
    assert equal(V).tolist() == V.tolist()

    def scales(v: Any) -> Any:
        Model.scale += 1.0
        return v

    with pytest.raises(TraceirError, match="outside"):
        traceir_numba.jit(scales)(V)
    assert Model.scale == 2.0


def test_a_library_that_has_numpy_is_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "installed_library"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .inner import go\n")
    (package / "inner.py").write_text(
        "import numpy as np\ndef go(v):\n    return np.array([v[1], v[0]])\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    library = importlib.import_module("installed_library")
    go = library.go
    for function in (lambda v: library.go(v), lambda v: go(v)):
        np.testing.assert_array_equal(traceir_numba.jit(function)(V), [2.0, 1.0])
    del sys.modules["installed_library"], sys.modules["installed_library.inner"]
