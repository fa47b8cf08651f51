"""Lists, dicts and objects that plain functions change, as Python changes them; arrays
of classes of their own; casts. Rules: update.container, update.overlap, jit.subclass"""

from __future__ import annotations

import copy
import dataclasses
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir_numba
from traceir.tree_util import register_dataclass, register_pytree_node_class


@register_dataclass
@dataclasses.dataclass
class State:
    """A node with attributes."""

    x: Any
    n: Any


@register_pytree_node_class
class Slotted:
    """A node with slots."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def tree_flatten(self) -> Any:
        """Its parts."""
        return (self.x,), None

    @classmethod
    def tree_unflatten(cls, _: Any, children: Any) -> Any:
        """From its parts."""
        return cls(*children)


def set_item(xs: Any) -> Any:
    """A number in the place of an array."""
    xs[0] = 5.0
    return xs[1]


def append(xs: Any) -> Any:
    """A result, and a constant."""
    xs.append(xs[0] * 2)
    xs.extend([1, "text", (None, 2.5)])
    return len(xs)


def add_keys(d: Any) -> Any:
    """Keys that were not there."""
    d["t"] = d["x"].sum()
    d["s"] = "done"
    d["deep"] = {"list": [d["x"] + 1, []]}


def nested(xs: Any) -> None:
    """Containers within, and their places."""
    xs[1][0] = 7.0
    xs[1].append([1, xs[0]])
    xs.reverse()


def array_and_list(xs: Any) -> None:
    """An array that is written to, in a list that is."""
    xs[0][1] = 9.0
    xs[1] = xs[0] + 1
    xs.pop()


def delete(d: Any) -> None:
    """It takes one away."""
    d["a"]["n"] += 1
    d["b"][:] = d["b"] * 2
    del d["c"]


def attributes(s: Any) -> Any:
    """It sets attributes."""
    s.x = s.x * 2
    s.n += 1
    return s.x


def slots(s: Any) -> None:
    """It sets what is in a slot."""
    s.x = [s.x, s.x + 1]


def numbers(xs: Any) -> None:
    """Python's numbers stay Python's."""
    xs[0] += 1
    xs[1] *= 2.5
    xs[2] = -xs[2]


def each(d: Any) -> None:
    """Every value."""
    for key in d:
        d[key] = d[key] + 1


def swap(d: Any) -> None:
    """The caller's own arrays, elsewhere."""
    d["y"], d["x"] = d["x"], d["y"]


CHANGES: list[tuple[Callable[[Any], Any], Any]] = [
    (set_item, [np.ones(2), np.arange(3.0)]),
    (append, [np.ones(2), 3.0]),
    (add_keys, {"x": np.arange(3.0)}),
    (nested, [np.ones(2), [1.0, 2.0]]),
    (array_and_list, [np.zeros(3), np.ones(3), 2]),
    (delete, {"a": {"n": 1}, "b": np.ones(2), "c": 1.0}),
    (attributes, State(np.ones(2), 1)),
    (slots, Slotted(np.ones(2))),
    (numbers, [1.0, 2, 3]),
    (each, {"b": 1, "a": 2.0}),
    (each, OrderedDict(b=1, a=2.0)),
    (each, defaultdict(list, {"b": 1, "a": 2.0})),
    (swap, {"x": np.ones(2), "y": np.zeros(3)}),
]


def shown(value: Any) -> Any:
    """A container in values that are compared, with types."""
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [shown(part) for part in value]
    if isinstance(value, dict):
        items = [(key, shown(part)) for key, part in value.items()]
        return type(value).__name__, items
    if isinstance(value, (State, Slotted)):
        return [shown(getattr(value, n, None)) for n in ("x", "n")]
    if isinstance(value, np.ndarray):
        return value.tolist(), value.dtype
    return type(value), value


@pytest.mark.parametrize(
    ("function", "argument"), CHANGES, ids=lambda v: getattr(v, "__name__", "")
)
def test_a_container_is_changed_as_python_changes_it(
    function: Callable[[Any], Any], argument: Any
) -> None:
    jitted, wanted = traceir_numba.jit(function), copy.deepcopy(argument)
    jitted.clear_cache()
    function(wanted)
    for _ in range(3):
        found = copy.deepcopy(argument)
        jitted(found)
        assert shown(found) == shown(wanted)
    assert jitted.cache_info().misses == 1
    compiled = jitted.lower(copy.deepcopy(argument)).compile()
    found = copy.deepcopy(argument)
    compiled(found)
    assert shown(found) == shown(wanted)


def test_a_dict_has_the_callers_order() -> None:
    def stacked(d: Any) -> Any:
        for k, key in enumerate(d["in"]):
            d["in"][key] += k
        return np.stack(list(d["in"].values())), next(iter(d.values())) * 2

    jitted = traceir_numba.jit(stacked)
    for keys in ("ba", "ab", "ba", "ab"):
        record = {"x": np.ones(2), "in": {key: np.arange(2.0) for key in keys}}
        found, wanted = jitted(copy.deepcopy(record)), stacked(copy.deepcopy(record))
        assert shown(found) == shown(wanted)
    assert jitted.cache_info().misses == 2
    nested = traceir_numba.jit(lambda d: list(d[0].values()))
    assert nested([{"b": 1.0, "a": 2.0}]) == [1, 2]
    assert nested([{"a": 1.0, "b": 2.0}]) == [1, 2]
    assert "cache.key.tree" in nested.explain([{"c": 1.0, "a": 2.0}])


def test_what_was_the_callers_is_still_that() -> None:
    x, y = np.ones(2), np.zeros(3)
    record = {"x": x, "y": y}
    traceir_numba.jit(swap)(record)
    assert record["y"] is x and record["x"] is y


def test_an_inner_function_changes_the_containers_of_the_outer_one() -> None:
    inner = traceir_numba.jit(append)

    @traceir_numba.jit
    def outer(xs: Any) -> Any:
        inner(xs)
        return xs[2]

    xs = [np.ones(2), 3.0]
    assert outer(xs).tolist() == [2, 2]
    assert len(xs) == 6


def test_what_cannot_be_done_to_the_callers_is_an_error() -> None:
    xs = [1.0]
    with raises_rule("update.overlap", ValueError, "argument a"):
        traceir_numba.jit(lambda a, b: a.append(b[0]))(xs, xs)
    with raises_rule("update.container", TypeError, "type object"):
        traceir_numba.jit(lambda a: a.append(object()))(xs)
    with raises_rule("update.container", TypeError, "less an attribute"):
        traceir_numba.jit(lambda a: delattr(a, "n"))(State(1.0, 2))
    with raises_rule("update.refused", TypeError, "writes to a"):
        traceir_numba.jit(lambda a: a.append(1), write_arguments=False)(xs)
    assert xs == [1.0]


class Units(np.ndarray):
    """Arrays with operations of their own."""


def test_arrays_of_a_class_of_its_own_are_refused() -> None:
    matrix, units = np.ones((2, 2)).view(np.matrix), np.ones(2).view(Units)
    for function, argument, name in (
        (lambda a: a * a, matrix, "matrix"),
        (lambda a: a * matrix, np.ones((2, 2)), "matrix"),
        (lambda a: matrix * a, np.ones((2, 2)), "matrix"),
        (lambda a: np.sin(a[0]), [units], "Units"),
        (lambda a: np.add(a, units), np.ones(2), "Units"),
        (lambda a: a, np.zeros(1, "M8[s]"), "dtype"),
    ):
        rule = "jit.dtype" if name == "dtype" else "jit.subclass"
        with raises_rule(rule, TypeError, name):
            traceir_numba.jit(function)(argument)


def test_floats_are_cast_to_integers_as_numpy_casts_them() -> None:
    x = np.array([-2.0, -1.5, 0.0, 3.9, 254.0, 300.7, 70000.0, -70000.0, 3e9, -3e9])
    large = np.array([1e18, -1e18, 1e19, 1e300, -1e300, np.nan, np.inf])

    def written(x: Any, dtype: Any) -> Any:
        y = np.zeros(x.shape, dtype)
        y[:] = x
        return y, x.astype(dtype), np.array(x, dtype)

    jitted = traceir_numba.jit(written, static_argnames="dtype")
    with np.errstate(invalid="ignore"):
        for array, kinds in ((x, "bBhHiIlL"), (large, "l"), (large[:1], "L")):
            for dtype in map(np.dtype, kinds):
                given = (
                    array[:-2] if dtype.kind == "i" and dtype.itemsize < 8 else array
                )
                given = given[:-2] if dtype.itemsize < 4 and array is x else given
                wanted, found = written(given, dtype), jitted(given, dtype)
                for one, other in zip(found, wanted, strict=True):
                    assert one.tolist() == other.tolist(), dtype


def test_a_program_raises_for_no_fault_of_floats() -> None:
    def divided(x: Any) -> Any:
        with np.errstate(divide="raise"):
            return 1 / x

    with raises_rule("face.meaning", TypeError, "errstate with 'raise'"):
        traceir_numba.jit(divided)(np.zeros(2))
