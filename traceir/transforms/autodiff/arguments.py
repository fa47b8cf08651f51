"""Arguments of derivatives: positions, trees, dtypes. Serves: grad.*, jvp.*

Also: vjp.*, linear_transpose.*
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from traceir import rules
from traceir.arrays.array import LIVING, Array
from traceir.base import config, tracebacks
from traceir.dtypes import float0
from traceir.ir.avals import ShapedArray
from traceir.ir.promotion import no_array
from traceir.ir.structs import ShapeDtypeStruct
from traceir.jit.cache.cache_key import leaf_paths
from traceir.jit.cache.signature import form_of
from traceir.jit.staging import input_aval
from traceir.pytrees import flatten
from traceir.tracing.trace import Tracer, Value, check_open, current_trace, typeof
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.rules.derivative_templates import zeros
from traceir.transforms.rules.registry import Tangent, Zero

Argnums = int | Sequence[int]
F = TypeVar("F", bound=Callable[..., Any])
# No other transform than `jit` has static arguments.
CLOSE_OVER = "close over it: only what is passed has to be an array"


def check_callable(fun: Any, asker: str) -> None:
    """Raise TypeError (jit.callable) unless it can be called."""
    if not callable(fun):
        raise rules.error("jit.callable", got=f"{fun!r} for {asker}")


def wraps(fun: Callable[..., Any], what: str) -> Callable[[F], F]:
    """Give a transformed function the name of the function, and a line about it."""

    def named(wrapper: F) -> F:
        try:
            tracebacks.wraps(fun)(wrapper)
        except AttributeError:  # an instance that takes no attributes of a function
            return wrapper
        name = getattr(fun, "__name__", type(fun).__name__)
        wrapper.__doc__ = f"{what} of {name}; takes the arguments of {name}."
        return wrapper

    return named


def as_array(value: Value, path: Callable[[], str]) -> Value:
    """A leaf as an Array or a tracer; TypeError (jit.argument) naming its path."""
    if isinstance(value, Tracer):
        check_open(value, current_trace())
        return value
    if type(value) in LIVING:
        return value
    try:
        if isinstance(value, (ShapeDtypeStruct, ShapedArray)):
            raise no_array(value)
        aval = input_aval(value, config.local.context.x64)
    except rules.TraceirError as error:
        got, hint = f"{error.got} at {path()}", argument_hint(error, CLOSE_OVER)
        raise rules.error(error.rule, got=got, hint=hint) from None
    trace = current_trace()
    if isinstance(value, np.ndarray):
        value = np.asarray(value, aval.dtype)
        value = value if value.ndim else value[()]
    if trace is None:
        return Array._wrap(np.array(value, aval.dtype, order="C"), aval)
    return trace.array(value, aval)


def argument_hint(error: rules.TraceirError, hint: str) -> str:
    """The hint of an error about an argument of a transform, which has no options that
    make one static."""
    own = rules.default().clauses["jit.argument"].hint
    return hint if error.hint == own else error.hint


def positions(argnums: Argnums, args: Sequence[Any], asker: str) -> tuple[int, ...]:
    """The positions that are differentiated, counted from 0.

    Raises TypeError (grad.argnums-type, grad.argnums) and ValueError
    (grad.argnums-range).
    """
    try:
        given = (
            [operator.index(argnums)]
            if not isinstance(argnums, Sequence)
            else [operator.index(n) for n in argnums]
        )
    except TypeError:
        raise rules.error("grad.argnums-type", got=f"{argnums!r}") from None
    count = len(args)
    if given and max(given) >= count:
        got = f"argnums={argnums!r} of {asker}, called with {count} positional"
        raise rules.error("grad.argnums", got=got)
    if not given or min(given) < -count or len({n % count for n in given}) < len(given):
        got = f"argnums={argnums!r} of {asker}, called with {count} positional"
        raise rules.error("grad.argnums-range", got=got)
    return tuple(n % count for n in given)


def labels_of(fun: Callable[..., Any], places: Sequence[int]) -> list[str]:
    """The names of positional arguments, as errors spell them."""
    names = form_of(fun).names
    return [names[k] if k < len(names) else f"args[{k}]" for k in places]


class Arguments:
    """Arguments flattened: their leaves as arrays, their structure, their paths."""

    def __init__(self, values: Sequence[Any], labels: Sequence[str]) -> None:
        leaves, self.treedef = flatten.flatten(tuple(values))
        self.labels = tuple(labels)
        self.leaves = [
            as_array(v, functools.partial(self.path, k)) for k, v in enumerate(leaves)
        ]

    def path(self, k: int) -> str:
        """The spelling of a leaf, such as `argument d['w'][0]`."""
        return f"argument {leaf_paths(self.labels, self.treedef)[k]}"

    @property
    def avals(self) -> list[ShapedArray]:
        """The types of the leaves."""
        return [leaf.aval for leaf in self.leaves]


def path_in(treedef: flatten.TreeDef, k: int, root: str) -> str:
    """The path of a leaf of a result."""
    return flatten.key_path(treedef.paths()[k], root)


def check_aux(returned: Any, asker: str) -> tuple[Any, Any]:
    """The result and the rest; TypeError (derive.aux) unless they are a pair."""
    if not isinstance(returned, tuple | list) or len(returned) != 2:
        traced = isinstance(returned, Array)  # tracers, too
        shown = typeof(returned).str_short() if traced else type(returned).__name__
        if isinstance(returned, tuple | list):
            shown += f" of {len(returned)}"
        raise rules.error("derive.aux", got=f"{shown} from the function of {asker}")
    return returned[0], returned[1]


def result(value: Tangent, aval: ShapedArray) -> Value:
    """A tangent or cotangent as it is returned: an array, of float0 for an integer."""
    if not is_inexact(aval):
        return np.zeros(aval.shape, float0)
    return as_array(zeros(aval) if type(value) is Zero else value, str)


def tangent_of(value: Any, primal: ShapedArray, path: Callable[[], str]) -> Tangent:
    """A tangent that was given for a primal of this type.

    Raises TypeError (jvp.dtype) or ValueError (jvp.shape).
    """
    if getattr(value, "dtype", None) == float0:
        found, dtype = tuple(value.shape), "float0"
    else:
        value = as_array(value, path)
        found, dtype = value.aval.shape, value.aval.dtype.name
    wanted = primal.dtype.name if is_inexact(primal) else "float0"
    if dtype != wanted:
        got = f"a primal of dtype {primal.dtype.name}, whose tangent has dtype {wanted}"
        raise rules.error(
            "jvp.dtype", got=f"{got}, and a tangent of {dtype} at {path()}"
        )
    if found != primal.shape:
        got = f"a primal of shape {primal.shape} and a tangent of {found} at {path()}"
        raise rules.error("jvp.shape", got=got)
    return value if is_inexact(primal) else Zero(primal)


def no_axes(name: str, axes: Sequence[Hashable]) -> None:
    """Raise NotImplementedError (face.choice) for axes to sum over, which JAX refuses.

    >>> no_axes("grad", ())
    """
    if axes:
        got = f"reduce_axes={axes!r} of {name}"
        raise rules.error("face.choice", got=got, hint="sum by `lax.psum`")
