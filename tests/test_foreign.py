"""Objects that the library does not know, compared with its own or given as a dtype.

Rules: face.argument, face.dtype
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir.dtypes import KEY
from traceir.face.arrays.loop_steps import TracedList
from traceir.tracing.trace import Tracer
from traceir.transforms.custom.custom_primitive import Primitive


class Misled:
    """An object with an attribute that NumPy takes for a dtype, and fails at."""

    dtype = "nonsense"


FOREIGN = (
    *("any text", "float32", "", "(2,", "i4,", "M8[xx]", b"f4", None, ..., 1.5, 2**70),
    *(object(), Misled, Misled(), int, str, len, np.float32, np.dtype("float32")),
    *([], [1, 2], (1, 2), ("f4", (2, -1)), {}, {"names": ["a"]}, {1}, slice(1)),
)
CONTAINERS = (list, tuple, dict, set)
SCALARS = (jnp.float32, jnp.float64, jnp.bfloat16, jnp.bool_, jnp.int8)


# Modules that run when they are imported, or need a device or JAX.
APART = re.compile(r"\.(__main__|cuda|jax|jaxes|jaxkeys|jaxsystem)\b")


def modules() -> Iterator[ModuleType]:
    """The modules of both packages."""
    for package in (traceir, traceir_numba):
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not APART.search(found.name):
                yield importlib.import_module(found.name)


def bare(kind: type) -> Any:
    """An object of a class, of which nothing was set."""
    return (str if issubclass(kind, str) else object).__new__(kind)


@cache
def compared() -> list[type]:
    """The classes of the library that say themselves what they are equal to."""
    found = {
        value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type)
        and value.__module__.startswith("traceir")
        and "__eq__" in vars(value)
    }
    return sorted(found, key=lambda kind: f"{kind.__module__}.{kind.__name__}")


def unequal(one: Any, other: object) -> bool:
    """True if two objects are unequal, each way; no comparison fails."""
    try:
        equal, differ = (one == other, other == one), (one != other, other != one)
    except Exception as error:
        raise AssertionError(f"{one!r} and {other!r}: {error!r}") from error
    assert equal in ((True, True), (False, False))
    assert differ == tuple(not e for e in equal)
    return not equal[0]


# Classes whose instances are made here: their comparison reads what `__init__` sets.
MADE: dict[str, Callable[[], Any]] = {
    "ScalarType": lambda: jnp.int16,
    "Real": lambda: traceir.exact.reals.Real.of(1),
    "NamedInPrograms": lambda: traceir.lax.Precision.HIGH,
    "Complex": lambda: traceir.exact.complexes.Complex.of(1j),
    "Primitive": lambda: Primitive("twice"),
    "KeyDType": lambda: KEY,
}


def test_every_class_that_compares_takes_any_object() -> None:
    kinds = [
        kind for kind in compared() if not issubclass(kind, (traceir.Array, Tracer))
    ]
    assert {"Literal", "Jaxpr", "Mesh", "KeyDType"} < {kind.__name__ for kind in kinds}
    assert set(MADE) <= {kind.__name__ for kind in kinds}
    for kind in kinds:
        # Made for cases, of a text that is not known, and of traced fields: their
        # comparison fails.
        if kind.__name__ in ("Uncomparable", "DeferredText", "RecordArray"):
            continue
        if issubclass(kind, TracedList):  # its length would be asked for
            continue
        # A class of classes compares classes.
        if issubclass(kind, type) and kind.__name__ not in MADE:
            continue
        # Nothing is set in it: what is read before the class is looked at fails.
        one = MADE.get(kind.__name__, lambda kind=kind: bare(kind))()
        for other in FOREIGN:
            for name in ("__eq__", "__ne__"):
                found = getattr(type(one), name)(one, other)
                expected = (NotImplemented, name == "__ne__")
                assert any(found is e for e in expected), (kind, other, found)


@pytest.mark.parametrize("kind", SCALARS, ids=repr)
def test_a_dtype_is_equal_to_dtypes_alone(kind: Any) -> None:
    own = {jnp.float32: 2}.get(kind, 0)
    assert sum(not unequal(kind, other) for other in FOREIGN) == own
    assert not unequal(kind, kind.dtype) and not unequal(kind, kind.dtype.type)
    assert hash(kind) == hash(kind.dtype.type)
    assert not any(kind == other for other in SCALARS if other is not kind)


def test_the_dtype_of_keys_is_equal_to_itself_alone() -> None:
    dtype = traceir.random.key(0).dtype
    assert all(unequal(dtype, other) for other in FOREIGN)


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_arrays_are_compared_with_numbers_and_refuse_containers(traced: bool) -> None:
    def compare(x: Any) -> Any:
        for other in FOREIGN:
            if isinstance(other, CONTAINERS):
                for one, two in ((x, other), (other, x)):
                    with raises_rule("face.argument", TypeError):
                        _ = one == two
                    with raises_rule("face.argument", TypeError):
                        _ = one != two
            elif not isinstance(other, (int, float, np.dtype)):
                assert unequal(x, other)
        return x

    x = jnp.ones(2)
    traceir.jit(compare)(x) if traced else compare(x)


def takers() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions with an argument `dtype`."""
    for module in (jnp, traceir.lax, traceir.random, traceir.nn):
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type):
                try:
                    names = inspect.signature(function).parameters
                except (TypeError, ValueError):
                    continue
                if "dtype" in names and function is not traceir.random.key:
                    yield f"{module.__name__}.{name}", function


# What stands for the arguments that a function cannot be called without.
GIVEN = {
    "key": lambda: traceir.random.key(0),
    "kind": lambda: "integral",
    **dict.fromkeys(("shape", "dims", "dimensions"), lambda: (2,)),
    **dict.fromkeys(("size", "n"), lambda: 2),
    "x": lambda: np.ones(2, np.float32),
    "p": lambda: np.ones(2, np.float32) / 2,
    "file": lambda: "no-such-file",
    "multi_index": lambda: (np.array([1]),),
}
BAD_DTYPES = ("any text", "(2,", ",", "M8[xx]", ("f4", (2, -1)), Misled, object())


def outcome(function: Callable[..., Any], bad: Any) -> str:
    """The exception of a call with that dtype, less the doubt that it is another's."""
    args, named = [], {}
    for p in inspect.signature(function).parameters.values():
        if p.name != "dtype" and p.default is not p.empty:
            continue
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            continue
        plain = np.ones((2, 2), np.float32)
        value = bad if p.name == "dtype" else GIVEN.get(p.name, lambda x=plain: x)()
        if p.kind is p.POSITIONAL_ONLY:
            args.append(value)
        else:
            named[p.name] = value
    try:
        function(*args, **named)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "nothing is raised"


def test_what_is_no_dtype_is_a_type_error_of_every_function() -> None:
    found = {
        f"{name} of {bad!r}": told
        for name, function in takers()
        for bad in BAD_DTYPES
        if "dtype" not in (told := outcome(function, bad)) or "TypeError" not in told
    }
    assert found == {}


def test_a_struct_takes_the_dtypes_that_functions_take() -> None:
    assert traceir.ShapeDtypeStruct((2,), "bfloat16").dtype == jnp.bfloat16
    for bad in BAD_DTYPES:
        with pytest.raises(TypeError):
            traceir.ShapeDtypeStruct((2,), bad)
        with pytest.raises(TypeError):
            jnp.isdtype(bad, "integral")
        with pytest.raises(TypeError):
            jnp.promote_types(bad, "int8")
