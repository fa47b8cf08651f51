"""Keys that are used twice, while `debug_key_reuse` is set. Serves: random.reuse

What an operation outside every trace, or a compiled program, has used is kept beside
the array that has the keys, for as long as that lives. Of a program, what it uses is
read once.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.avals import ShapedArray
from traceir.dtypes import is_key
from traceir.ir import ClosedJaxpr, Params
from traceir.reuse import regions as regions
from traceir.reuse.held import Root
from traceir.reuse.reading import Keys, Reading, uses_of
from traceir.source import user_frame_summary

__all__ = ["Counting", "check_keys", "uses_of"]

# The keys of arrays of which some are spent, by the identity of the memory.
_spent: dict[int, tuple[weakref.ref[np.ndarray], Root]] = {}


def check_keys(
    primitive: str,
    params: Params,
    arrays: Sequence[np.ndarray],
    found: Sequence[np.ndarray],
) -> None:
    """Count what an operation has used, and raise KeyReuseError (random.reuse) if that
    was used before.

    >>> import traceir
    >>> key = traceir.random.key(0)
    >>> with traceir.debug_key_reuse():
    ...     x = traceir.random.bits(key)
    ...     try:
    ...         traceir.random.normal(key)
    ...     except traceir.errors.KeyReuseError as error:
    ...         print(error.rule)
    random.reuse
    """
    line = user_frame_summary()
    outs = [ShapedArray(a.shape, a.dtype) for a in found]
    _count(
        arrays,
        found,
        lambda reading, held: reading.step(primitive, params, held, arrays, outs, line),
    )


class Counting:
    """An executable that counts the keys that it uses."""

    def __init__(self, inner: Any, closed: ClosedJaxpr) -> None:
        self.inner = inner
        self.closed = closed

    def run(self, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
        """As the executable; KeyReuseError (random.reuse) if a key was used before."""
        line = user_frame_summary()
        made: list[np.ndarray] = []

        def call(reading: Reading, held: Sequence[Keys]) -> list[Keys]:
            outs = reading.call(self.closed, held, line)
            made.extend(self.inner.run(*arrays))
            return outs

        _count(arrays, made, call)
        return tuple(made)

    def as_text(self, form: str) -> str:
        """As the executable."""
        text: str = self.inner.as_text(form)
        return text


def _count(
    arrays: Sequence[np.ndarray],
    found: Sequence[np.ndarray],
    call: Callable[[Reading, Sequence[Keys]], list[Keys]],
) -> None:
    reading = Reading(_root_of)
    held = [reading.const(a) if is_key(a.dtype) else None for a in arrays]
    outs = call(reading, held)
    for array, root in reading.consts.values():
        _remember(array, root)
    for array, keys in zip(found, outs, strict=True):
        if keys is not None:
            _remember(array, Root(keys.spent, keys.root.line))


def _root_of(array: np.ndarray) -> Root:
    """The keys of an array: a copy of what is known, for the case of an error."""
    known = _spent.get(id(array))
    if known is None:
        return Root.of(array.shape)
    return Root(known[1].spent.copy(), known[1].line)


def _remember(array: np.ndarray, root: Root) -> None:
    key = id(array)
    if root.spent.any():
        _spent[key] = weakref.ref(array, lambda _: _spent.pop(key, None)), root
