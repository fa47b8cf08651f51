"""Random generators among the arguments of a call.

Serves: face.random

A program is recorded for a kind of generator, which is a number in it. A call passes
the number of its own one, by which the program's calls of the host find it: another
generator needs no new trace. Of one of NumPy's it is the address of its interface for
C, so that machine code draws from it.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import random
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from traceir.base.lazy_exports import imported
from traceir.pytrees.registry import register_pytree_node

# Of Python's generators, which no address is.
_numbers = itertools.count(-1, -1)
# What a `bitgen_t` has, a state and the functions that draw from it; after it, of a
# `RandomState`, the normal number that it keeps, and before that 1.0 if there is one.
_INTERFACE = ctypes.c_int64 * 5


class _Memory(ctypes.Structure):
    _fields_ = [("interface", _INTERFACE), ("kept", ctypes.c_double * 2)]


# By number, those of the calls that are running.
_in_use: weakref.WeakValueDictionary[int, GeneratorArgument]
_in_use = weakref.WeakValueDictionary()


def is_generator(value: Any) -> bool:
    """True if a value has random numbers: NumPy's generators, and Python's.

    >>> is_generator(random.Random(0)), is_generator(np.random.default_rng)
    (True, False)
    """
    if isinstance(value, random.Random):
        return True
    names = "Generator", "RandomState", "BitGenerator"
    return isinstance(value, imported("numpy.random", *names))


class GeneratorArgument:
    """A generator in the arguments of a call; in a trace the `number` of one.

    `kinds` are its class and that of its bits; `memory` is its interface for C.
    """

    __slots__ = ("generator", "kinds", "number", "memory", "__weakref__")

    def __init__(self, generator: Any, kinds: tuple[type, ...], number: Any) -> None:
        self.generator = generator
        self.kinds = kinds
        self.number = number
        self.memory: Any = None

    def now(self) -> Any:
        """The number, by which a generator is found whose bits may be others by now."""
        if self.memory is not None:
            source = _bits_of(self.generator).ctypes.bit_generator.value
            ctypes.memmove(int(self.number), source, ctypes.sizeof(_INTERFACE))
        return self.number

    def alike(self) -> Any:
        """A generator of the same kinds."""
        kind, *bits = self.kinds
        return kind(*(bit_kind(0) for bit_kind in bits)) if bits else kind(0)


register_pytree_node(
    GeneratorArgument,
    lambda node: ((node.number,), node.kinds),
    lambda kinds, parts: GeneratorArgument(None, kinds, parts[0]),
)


def _bits_of(generator: Any) -> Any:
    """The bit generator of one of NumPy's generators; None for others."""
    return getattr(
        generator, "bit_generator", getattr(generator, "_bit_generator", None)
    )


def held(generator: Any) -> GeneratorArgument:
    """A generator under a number, as long as somebody holds the result."""
    bits = _bits_of(generator)
    kinds = (type(generator),) if bits is None else (type(generator), type(bits))
    made = GeneratorArgument(generator, kinds, None)
    if bits is None or not hasattr(bits, "ctypes"):
        number = next(_numbers)
    else:
        made.memory = _Memory()
        number = ctypes.addressof(made.memory)
    made.number = np.int64(number)
    made.now()
    _in_use[number] = made
    return made


class _Holding(threading.local):
    """The locks that this thread holds for machine code, by identity."""

    def __init__(self) -> None:
        self.locks: set[int] = set()


_holding = _Holding()


@contextmanager
def opened(numbers: Sequence[int]) -> Iterator[None]:
    """The locks of generators, within which machine code draws from them; threads that
    wait for several do so in one order."""
    found = [_bits_of(_in_use[number].generator).lock for number in numbers]
    locks = {id(lock): lock for lock in found}
    with ExitStack() as stack:
        for key in sorted(locks.keys() - _holding.locks):
            stack.enter_context(locks[key])
            _holding.locks.add(key)
            stack.callback(_holding.locks.discard, key)
        yield


@contextmanager
def opened_with_kept(numbers: Sequence[int]) -> Iterator[None]:
    """As `opened`, with the normal numbers that generators of legacy functions keep."""
    with opened(numbers), ExitStack() as stack:
        for number in numbers:
            if hasattr(_in_use[number].generator, "get_state"):
                stack.enter_context(_kept(_in_use[number]))
        yield


@contextmanager
def _kept(found: GeneratorArgument) -> Iterator[None]:
    """The number that a `RandomState` keeps, in memory and then in its state."""
    state = found.generator.get_state(legacy=False)
    before = [float(state["has_gauss"]), float(state["gauss"])]
    found.memory.kept[:] = before
    try:
        yield
    finally:
        after = list(found.memory.kept)
        if after != before:
            state = found.generator.get_state(legacy=False)
            state.update(has_gauss=int(after[0]), gauss=after[0] and after[1])
            found.generator.set_state(state)


@functools.cache
def exports(name: str) -> bool:
    """True if NumPy has a function for C by this name that others can call.

    >>> exports("no_such_function")
    False
    """
    module = sys.modules.get("numpy.random._generator")
    library = getattr(module, "__file__", None)
    return library is not None and hasattr(ctypes.CDLL(library), name)


def generator_of(number: Any) -> Any:
    """The generator of a call that is running, by its number."""
    return _in_use[int(number)].generator
