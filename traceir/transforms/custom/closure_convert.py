"""Captured values made arguments. Serves: custom.capture"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.base.tracebacks import wraps
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.tracing.results import check_outputs
from traceir.tracing.staging import apply
from traceir.tracing.trace import Tracer, typeof
from traceir.transforms.autodiff.jvp_trace import is_inexact
from traceir.transforms.custom.custom_calls import flatten_arguments, program_of


def closure_convert(
    fun: Callable[..., Any], *example_args: Any
) -> tuple[Callable[..., Any], list[Tracer]]:
    """`fun` for arguments of these types, and the traced values that it captures.

    The function that is returned takes those values behind its arguments. They are the
    floating ones, which a derivative may be taken by; it keeps all others. With it, a
    function that captures can be called by one that has a derivative rule.

    >>> import traceir
    >>> def scaled(a, x):
    ...     call, captured = traceir.closure_convert(lambda y: a * y, x)
    ...     return call(x, *captured)
    >>> traceir.grad(scaled)(2.0, 3.0)
    Array(3., dtype=float32, weak_type=True)
    """
    leaves, tree = flatten_arguments(example_args, function_name(fun))
    trees: list[flatten.TreeDef] = []

    def run(tracers: Any) -> Any:
        results, out_tree = flatten.flatten(fun(*tree.unflatten(tracers)))
        check_outputs(results, out_tree)
        trees.append(out_tree)
        return results

    avals = [typeof(leaf) for leaf in leaves]
    paths = [flatten.key_path(path) for path in tree.paths()]
    name = function_name(fun)
    closed, captured = program_of(run, avals, paths, name, "make_jaxpr")
    hoisted = [tracer for tracer in captured if is_inexact(tracer.aval)]

    @wraps(fun)
    def call(*args: Any) -> Any:
        own = args[: len(args) - len(hoisted)]
        given = iter(args[len(args) - len(hoisted) :])
        values = [next(given) if is_inexact(t.aval) else t for t in captured]
        found, _ = flatten_arguments(own, name)
        return trees[0].unflatten(apply(closed, [*values, *found]))

    return call, hoisted
