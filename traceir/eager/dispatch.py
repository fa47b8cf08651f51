"""Dispatch of eager calls: to a cached plan, or to the function itself.

Serves: level.bind

The types of arrays, the other arguments and the context decide the work of a function.
When a call comes for the second time with the same ones, a *plan* of it is made and
remembered: from then on one look-up finds the plan, and no operand is checked, promoted
or typed anew.

The public names of `traceir.numpy` get their plans where they are loaded (`public`):
functions call one another as they are written, and a trace never meets a plan. Whether
a trace is in force, and the context if there is none, are one look
(`config.local.outside`).
"""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from traceir.arrays.array import Array, Placed
from traceir.base.caches import cleared, once
from traceir.base.config import local
from traceir.base.fork_safety import kept_over_forks
from traceir.base.tracebacks import users_frames
from traceir.eager.call_keys import EXACT_TYPES, KEY_PARTS, NAMES, enter
from traceir.eager.plan_codegen import FOREIGN, NUMBER, OWN, Plan, plan_of
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.tracing.trace import Tracer, typeof

F = TypeVar("F", bound=Callable[..., Any])
Function = Callable[..., Any]
# How many calls a function remembers.
MOST = 1024
# Numbers of less magnitude are in the range of every signed or floating dtype.
SMALL_NUMBER = 128


class EagerPlanCache:
    """The memory of one function: plans by the keys of calls."""

    __slots__ = ("function", "known", "seen", "__weakref__")

    def __init__(self, function: Function) -> None:
        self.function = function
        self.known: dict[Any, Plan] = {}
        # Calls without a plan: whether one was looked for, or they came once.
        self.seen: dict[Any, bool] = {}
        with _lock:
            _all.add(self)

    def clear(self) -> None:
        """Forget all calls."""
        self.known.clear()
        self.seen.clear()

    def missed(self, key: Any, make: Callable[[], Plan | None]) -> Plan | None:
        """The plan of a call that has none yet; None if there is to be none."""
        tried = self.seen.get(key)
        if tried is None:
            if len(self.seen) >= MOST:
                self.seen.clear()
            self.seen[key] = False
        if tried is not False:
            return None
        self.seen[key] = True
        plan = make()
        if plan is not None:
            if len(self.known) >= MOST:
                self.clear()
            self.known[key] = plan
        return plan


_all: weakref.WeakSet[EagerPlanCache] = weakref.WeakSet()
# Modules that another thread imports make more of them. Reentrant, as a collection
# inside may run a user's code.
_lock = kept_over_forks(threading.RLock())


@cleared
def _clear() -> None:
    with _lock:
        every = list(_all)
    for plans in every:
        plans.clear()


MISSING = object()


def planned(function: F) -> F:
    """The function, with plans for operands of each type.

    >>> import traceir.numpy as jnp
    >>> stack = planned(jnp.stack)
    >>> [stack([jnp.arange(2), jnp.arange(2)], axis=1).tolist() for _ in range(3)]
    [[[0, 0], [1, 1]], [[0, 0], [1, 1]], [[0, 0], [1, 1]]]
    """
    plans = EagerPlanCache(function)
    known = plans.known

    # Common calls are told apart by hand: half of their time is this. In a trace no key
    # is known, since nothing is outside it.
    @functools.wraps(function)
    def call(x: Any = MISSING, y: Any = MISSING, /, *rest: Any, **kwargs: Any) -> Any:
        """Call by the plan under the types; the usual cases are spelled out."""
        try:
            if type(x) is Array and not kwargs:
                if y is MISSING:
                    try:
                        plan = known[x.aval, local.outside]
                    except KeyError:
                        return _call_on_miss(
                            plans, (x.aval, local.outside), (x,), {}, (x,)
                        )
                    return plan(x)
                if not rest:
                    kind = type(y)
                    if kind is Array:
                        try:
                            plan = known[x.aval, y.aval, local.outside]
                        except KeyError:
                            key = x.aval, y.aval, local.outside
                            return _call_on_miss(plans, key, (x, y), {}, (x, y))
                        return plan(x, y)
                    if kind in EXACT_TYPES:
                        try:
                            plan = known[x.aval, y, local.outside]
                        except KeyError:
                            key = x.aval, y, local.outside
                            return _call_on_miss(plans, key, (x, y), {}, (x,))
                        return plan(x)
            elif type(x) is int and y is MISSING and not kwargs:
                try:
                    plan = known[x, local.outside]
                except KeyError:
                    return _call_on_miss(plans, (x, local.outside), (x,), {}, ())
                return plan()
            args = (x, y, *rest) if y is not MISSING else () if x is MISSING else (x,)
            if local.outside is None:
                return function(*args, **kwargs)
            return _call_generic(plans, args, kwargs)
        except Exception as error:
            users_frames(error)
            raise

    return call  # type: ignore[return-value]  # `wraps` forgets the type


# What these read are no arguments, but files.
UNPLANNED_MODULES = frozenset({"traceir.numpy.arrays.io"})


def public(value: Any) -> Any:
    """The value under a package's public name: a function of its own has plans.

    A function of two names is one function, and a name of the package: so it can be
    pickled.

    >>> import traceir.numpy as jnp
    >>> jnp.sin.__module__, jnp.mod is jnp.remainder
    ('traceir.numpy', True)
    """
    ours = type(value) is FunctionType and value.__module__ not in UNPLANNED_MODULES
    return _public(value) if ours else value


@once
def _public(function: FunctionType) -> Function:
    found = planned(function)
    found.__module__ = _package(function)
    return found


def _package(function: FunctionType) -> str:
    """The package that has a function of one of its modules under its name."""
    nearest = package = function.__module__.rpartition(".")[0]
    while package:
        if function.__name__ in getattr(sys.modules.get(package), "__all__", ()):
            return package
        package = package.rpartition(".")[0]
    return nearest


def _call_generic(
    plans: EagerPlanCache, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """Call with any arguments: make the key of all of them, then run the plan."""
    key: list[Any] = [local.outside]
    operands: list[Any] = []
    # What is commonest goes first, and without a call.
    for value in args:
        kind = type(value)
        if kind is Array:
            key.append(value.aval)
            operands.append(value)
        elif kind in EXACT_TYPES:
            key.append(value)
        elif kind not in KEY_PARTS or not KEY_PARTS[kind](value, key, operands):
            return plans.function(*args, **kwargs)
    if kwargs:
        key.append(NAMES)
        for name, value in kwargs.items():
            if type(value) in EXACT_TYPES:
                key += (name, value)
                continue
            key.append(name)
            if not enter(value, key, operands):
                return plans.function(*args, **kwargs)
    full_key = tuple(key)
    plan = plans.known.get(full_key)
    if plan is None:
        return _call_on_miss(plans, full_key, args, kwargs, operands)
    return plan(*operands)


def _call_on_miss(
    plans: EagerPlanCache,
    key: Any,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    operands: Sequence[Any],
) -> Any:
    """A call that has no plan yet."""
    function = plans.function
    if local.outside is None:
        return function(*args, **kwargs)
    if key not in plans.seen and Placed in map(type, operands):
        plans.seen[key] = False  # a plan at once: it knows how the results lie
    plan = plans.missed(key, lambda: _plan_for(function, args, kwargs, operands))
    return function(*args, **kwargs) if plan is None else plan(*operands)


def _plan_for(
    function: Function,
    args: Sequence[Any],
    kwargs: dict[str, Any],
    operands: Sequence[Any],
) -> Plan | None:
    """Make a plan, or None if the function cannot be recorded."""

    def call(tracers: list[Tracer]) -> Any:
        rest = iter(tracers)
        traced = [_with_tracers(value, rest) for value in args]
        return function(
            *traced, **{n: _with_tracers(v, rest) for n, v in kwargs.items()}
        )

    placed = Placed in map(type, operands)
    kinds = [OWN if type(v) in (Array, Placed) else FOREIGN for v in operands]
    try:
        avals = list(map(typeof, operands))
    except TraceirError:  # arrays of texts, say, which few functions take
        return None
    plan = plan_of(call, avals, kinds)
    if plan is None:
        return None
    found = plan(*operands)
    # A copy is no operation, and a plan that hands an operand on would make none.
    if any(found is v for v in operands) and function(*args, **kwargs) is not found:
        return None
    if placed:
        from traceir.eager.placed_plans import placing  # which few programs need

        return placing(plan, call, operands)
    return plan


def _with_tracers(value: Any, tracers: Iterator[Tracer]) -> Any:
    """An argument with tracers in the places of arrays."""
    kind = type(value)
    if kind is Array or kind is np.ndarray or kind is Placed:
        return next(tracers)
    if kind is list or kind is tuple:
        return kind([_with_tracers(v, tracers) for v in value])
    return value


# --- operators ------------------------------------------------------------------------


def binary(function: Function) -> Function:
    """As `planned`, for an operator: a plan with a number is for all such numbers.

    >>> import traceir.numpy as jnp
    >>> add = binary(jnp.add)
    >>> [add(jnp.arange(3), n).tolist() for n in (1, 1, 1, 2)]
    [[1, 2, 3], [1, 2, 3], [1, 2, 3], [2, 3, 4]]
    """
    others = planned(function)
    pairs, plans = EagerPlanCache(function), EagerPlanCache(others)
    two, known = pairs.known, plans.known

    def call(x: Any, y: Any) -> Any:
        """Call by the plan of two arrays, or of an array and a small number."""
        try:
            if type(x) is Array:
                kind = type(y)
                if kind is Array:
                    try:
                        plan = two[x.aval, y.aval, local.outside]
                    except KeyError:
                        key = x.aval, y.aval, local.outside
                        return _call_on_miss(pairs, key, (x, y), {}, (x, y))
                    return plan(x, y)
                if (kind is float or kind is int) and -SMALL_NUMBER < y < SMALL_NUMBER:
                    try:
                        plan = known[x.aval, kind, local.outside]
                    except KeyError:
                        return _with_number(plans, x, y)
                    return plan(x, y)
            return others(x, y)
        except Exception as error:
            users_frames(error)
            raise

    return call


def _with_number(plans: EagerPlanCache, x: Array, y: float) -> Any:
    number = _number_type(x.aval, y)
    if number is None or local.outside is None:
        return plans.function(x, y)
    key = x.aval, type(y), local.outside
    types, function = (x.aval, number), plans.function
    plan = plans.missed(
        key, lambda: plan_of(lambda xs: function(*xs), types, (OWN, NUMBER))
    )
    return function(x, y) if plan is None else plan(x, y)


def _number_type(aval: ShapedArray, y: float) -> ShapedArray | None:
    """The type of a number of the dtype that it yields to; None where it does not."""
    dtype = aval.dtype
    yields = dtype.kind == "f" or (type(y) is int and dtype.kind == "i")
    return None if aval.weak_type or not yields else ShapedArray((), dtype)
