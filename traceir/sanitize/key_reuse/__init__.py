"""Keys that are used twice, while `debug_key_reuse` is set. Serves: random.reuse

The uses of an array's keys, by an operation outside every trace or by a compiled
program, are kept beside the array for as long as it lives. The uses of a program are
found once. Start reading at `check_keys`.

- `held`: uses of keys: which keys are used, and which values hold them
- `reading`: analysis of a program for keys that it uses twice
- `regions`: key uses in calls, choices and loops
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.base.source_info import user_frame_summary
from traceir.dtypes import is_key
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Params
from traceir.sanitize.key_reuse import regions as regions
from traceir.sanitize.key_reuse.held import HeldKeys, KeyRoot
from traceir.sanitize.key_reuse.reading import Keys, Reading, uses_of

__all__ = ["KeyCheckedExecutable", "check_keys", "uses_of"]

# The keys of arrays that were operands, or have others' keys, by identity.
_held: dict[int, tuple[weakref.ref[np.ndarray], HeldKeys]] = {}


def check_keys(
    primitive: str,
    params: Params,
    arrays: Sequence[np.ndarray],
    found: Sequence[np.ndarray],
) -> None:
    """Count the keys that an operation uses, and raise KeyReuseError (random.reuse) if
    they were used before.

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


class KeyCheckedExecutable:
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
    """Count uses of arrays' keys; on an error nothing is counted."""
    before: dict[KeyRoot, np.ndarray] = {}

    def held_by(array: np.ndarray) -> HeldKeys:
        known = _held.get(id(array))
        held = HeldKeys.new(array.shape) if known is None else known[1]
        before.setdefault(held.root, held.root.spent.copy())
        return held

    reading = Reading(held_by)
    held = [reading.array(a) if is_key(a.dtype) else None for a in arrays]
    try:
        outs = call(reading, held)
    except BaseException:  # what has not run has used nothing
        for root, spent in before.items():
            root.spent = spent
        raise
    for array, keys in reading.arrays.values():
        _remember(array, keys)
    for array, made in zip(found, outs, strict=True):
        if made is not None and (made.root in before or made.root.spent.any()):
            _remember(array, made)


def _remember(array: np.ndarray, keys: HeldKeys) -> None:
    key = id(array)
    _held[key] = weakref.ref(array, lambda _: _held.pop(key, None)), keys
