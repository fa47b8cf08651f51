"""The call of a plain function while it is traced.

Serves: update.argument, update.overlap, update.readonly, update.layout
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from traceir import rules
from traceir.base.source_info import Source, is_users_code, user_frame_summary
from traceir.errors import TraceirError, TracerBoolConversionError
from traceir.face.arrays.array import NumpyTracer
from traceir.face.arrays.layouts import LayoutQuery
from traceir.face.arrays.loop_steps import TracedList, TracedSequence, TracedTable
from traceir.face.arrays.unwrapping import in_numpy_trace
from traceir.face.containers import Containers
from traceir.face.control_flow.choices import Diverged
from traceir.face.control_flow.list_elements import lending
from traceir.face.control_flow.rewriting.code_objects import is_lost
from traceir.face.draws import order_of_draws
from traceir.face.dynamic_results import has_dynamic_lists, result, with_columns
from traceir.face.functions.selection import Unsized
from traceir.face.host_calls import HostGenerator
from traceir.face.namespace import NamespaceView, StagedView
from traceir.face.python.numbers import dividing_as
from traceir.ir.effects import effects
from traceir.ir.jaxpr import Jaxpr, Literal
from traceir.jit.cache.writeback import Updated, Written
from traceir.pytrees import flatten
from traceir.pytrees.treedef import TreeDef

# The program of a call and the structure of its results.
Made = tuple[Jaxpr, TreeDef]


def call(
    fun: Callable[..., Any],
    args: Any,
    kwargs: Any,
    leaves: Sequence[NumpyTracer],
    containers: Containers | None = None,
) -> Any:
    """The results of a function; with them its writes to its arguments."""
    view = NamespaceView()
    seen = {name: view.of(value) for name, value in kwargs.items()}
    asked = [LayoutQuery() for _ in leaves]
    for leaf, origin in zip(leaves, asked, strict=True):
        leaf._origins = frozenset((origin,) if leaf.ndim else ())
    try:
        with dividing_as(fun), lending():
            results = view.function(fun)(*map(view.of, args), **seen)
    except Diverged:  # each way through it ends by an exception of the program
        results = None
    except RecursionError as error:
        raise _endless(error) from None
    except TracerBoolConversionError as error:
        raise _explained(error) from None
    except ValueError as error:  # of NumPy's, which asked a tracer for its elements
        if isinstance(error.__cause__, TraceirError):
            raise error.__cause__ from None
        raise
    finally:
        view.end()
    if containers is not None:
        results = with_columns(results)
    if any(
        isinstance(leaf, (Unsized, TracedList, TracedTable))
        for leaf in flatten.leaves(results)
    ):
        cuts = containers is not None
        results = flatten.map_(lambda value: result(value, cuts), results)
    if containers is not None:
        results = containers.updated(results, leaves)
    written = tuple(k for k, leaf in enumerate(leaves) if leaf.version)
    placed = tuple(k for k, origin in enumerate(asked) if origin.matters)
    if not written and not placed and not isinstance(results, Updated):
        return results
    values = tuple(leaves[k].now() for k in written)
    return Written(results, values, written, placed)


def staged(fun: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The results of a function whose loops and choices are recorded."""
    view = StagedView()
    try:
        with lending():
            return view.function(fun)(*args, **kwargs)
    except Diverged:
        return None
    except TracerBoolConversionError as error:
        raise _explained(error) from None
    finally:
        view.end()


def is_inlined(args: Any, kwargs: Any, made: Made | None) -> bool:
    """True if a call becomes part of the plain function that is traced: its arguments
    have a generator of that, or as many elements as values decide, or it does something
    besides computing, or its results are lists that grow or numbers that are known."""
    if made is None:
        leaves = flatten.leaves((args, kwargs))
        if any(isinstance(leaf, TracedSequence) for leaf in leaves):
            return True
        return order_of_draws() is not None and HostGenerator in map(type, leaves)
    jaxpr, tree = made
    if not in_numpy_trace():
        return False
    if any(isinstance(out, Literal) for out in jaxpr.outvars):
        return True
    draws = order_of_draws() is not None and bool(effects(jaxpr))
    return draws or has_dynamic_lists(tree)


def inlined(fun: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """The results of a function as a part of the plain function that is traced."""
    view = NamespaceView()
    try:
        with dividing_as(fun):
            return view.function(fun)(*map(view.of, args), **kwargs)
    finally:
        view.end()


def _explained(error: TraceirError) -> TraceirError:
    """The error of a choice by a traced value, which is one since the source of its
    function can't be found."""
    step, hint = error.__traceback__, ""
    while step is not None:
        if is_lost(step.tb_frame.f_code):
            name = step.tb_frame.f_code.co_name
            hint = (
                f"the source of {name} can't be found, so its loops and choices can't "
            )
            hint += "be recorded: define it in a file"
        step = step.tb_next
    if not hint:
        return error
    found = rules.error(error.rule, got=error.got, hint=hint, where=error.where)
    return found.with_traceback(error.__traceback__)


def _endless(error: RecursionError) -> Exception:
    """The error of a function that calls itself without an end that is known."""
    if isinstance(error, TraceirError):
        return error
    step, places = error.__traceback__, Counter[Source]()
    while step is not None:
        code = step.tb_frame.f_code
        if is_users_code(code.co_filename):
            places[Source(code, step.tb_lasti)] += 1
        step = step.tb_next
    (place, _), *_ = places.most_common(1)
    where = user_frame_summary(place)
    return rules.error("staged.recursion", got=place.function, where=where)
