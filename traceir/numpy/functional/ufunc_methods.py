"""Methods of NumPy's universal functions: `jnp.add.reduce`.

Serves: face.signature, face.reduce-empty, face.choice

The functions stay functions; what a method needs is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from traceir.base.tracebacks import entry_point
from traceir.eager.dispatch import public

Find = Callable[[str], Any]
# The universal functions that have methods: operands, and what is folded from nothing.
NAMED: dict[str, tuple[int, Any]] = {
    "add": (2, 0),
    "multiply": (2, 1),
    "subtract": (2, None),
    "negative": (1, None),
    "maximum": (2, None),
    "minimum": (2, None),
    "logical_and": (2, True),
    "logical_or": (2, False),
    "logical_xor": (2, False),
    "bitwise_and": (2, -1),
    "bitwise_or": (2, 0),
    "bitwise_xor": (2, 0),
    "logaddexp": (2, float("-inf")),
    "logaddexp2": (2, float("-inf")),
}
METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
# Reductions and running ones that are functions of the package, and updates.
_REDUCED = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_CUMULATIVE = {"add": "cumsum", "multiply": "cumprod"}
_UPDATES = {
    "add": "add",
    "multiply": "multiply",
    "subtract": "subtract",
    "maximum": "max",
    "minimum": "min",
}


def equipped(find: Find, name: str, value: Any) -> Any:
    """The value under a public name: a universal function gets its methods.

    `find` gives the package's function of a name.
    """
    found = public(value)
    if name in NAMED:
        _equip(found, find, name)
    return found


def _equip(function: Callable[..., Any], find: Find, name: str) -> None:
    """Give a universal function its methods and its attributes."""
    attributes = vars(function)
    attributes["nin"], attributes["identity"] = NAMED[name]
    attributes["nout"], attributes["nargs"] = 1, NAMED[name][0] + 1
    for method in METHODS:
        attributes[method] = partial(entry_point(call), find, name, method)


def call(find: Find, name: str, method: str, /, *args: Any, **kwargs: Any) -> Any:
    """A method of the universal function of this name.

    >>> import traceir.numpy as jnp
    >>> jnp.add.reduce(jnp.ones((2, 3))), jnp.subtract.outer(jnp.arange(2), 1)
    (Array([2., 2., 2.], dtype=float32), Array([-1,  0], dtype=int32))
    """
    own = _OWN.get(method)
    found = own(find, name, *args, **kwargs) if own else NotImplemented
    if found is NotImplemented:
        found = getattr(_folded(find, name), method)(*args, **kwargs)
    return found


@cache
def _folded(find: Find, name: str) -> Any:
    """The universal function as one that folds by steps; of arrays, not of scalars."""
    from traceir.numpy.functional.ufuncs import ufunc

    class ArrayUfunc(ufunc):
        """A universal function that takes arrays as they are."""

        def __call__(self, *args: Any) -> Any:
            return self._function(*args)

    count, identity = NAMED[name]
    return ArrayUfunc(find(name), count, 1, identity=identity)


def _reduce(
    find: Find, name: str, a: Any, axis: Any = 0, dtype: Any = None, **options: Any
) -> Any:
    """`sum` for `add`, and so on, where these have the options that are given."""
    plain = name in ("add", "multiply")
    if name not in _REDUCED or (dtype is not None and not plain):
        return NotImplemented
    if name.startswith("logical") and options.get("initial") is not None:
        return NotImplemented
    options |= {"dtype": dtype} if plain else {}
    if name.startswith("logical"):
        options.pop("initial", None)
    return find(_REDUCED[name])(a, axis, **options)


def _accumulate(find: Find, name: str, a: Any, axis: int = 0, dtype: Any = None) -> Any:
    """`cumsum` for `add` and `cumprod` for `multiply`."""
    if name not in _CUMULATIVE:
        return NotImplemented
    return find(_CUMULATIVE[name])(a, axis, dtype)


def _at(
    find: Find,
    name: str,
    a: Any,
    indices: Any,
    b: Any = None,
    /,
    *,
    inplace: bool = True,
) -> Any:
    """`a.at[indices].add(b)` for `add`, and so on.

    The sum of truth values is whether one of them is true.
    """
    if name not in _UPDATES or inplace or b is None:
        return NotImplemented
    array, update = find("asarray")(a), _UPDATES[name]
    if update == "add" and array.dtype == bool:
        update, b = "max", find("not_equal")(b, 0)
    return getattr(array.at[indices], update)(b)


_OWN: dict[str, Callable[..., Any]] = {
    "reduce": _reduce,
    "accumulate": _accumulate,
    "at": _at,
}
