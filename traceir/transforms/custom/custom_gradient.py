"""Functions that return their derivative, too. Serves: custom_vjp.pair"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import wraps
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.pytrees.registry import register_pytree_node
from traceir.tracing.staging import apply
from traceir.tracing.trace import Value, typeof
from traceir.transforms.custom.custom_calls import program_of
from traceir.transforms.custom.custom_vjp import custom_vjp


@dataclass(frozen=True, eq=False)
class PullbackProgram:
    """A derivative as a program, with the traced values that it captures."""

    closed: ClosedJaxpr
    tree: flatten.TreeDef
    captured: tuple[Value, ...]

    def __call__(self, cotangents: Any) -> Any:
        """The cotangents of the arguments: one, or a tuple of them."""
        found = apply(self.closed, [*self.captured, *flatten.leaves(cotangents)])
        return self.tree.unflatten(found)


register_pytree_node(
    PullbackProgram,
    lambda rule: (rule.captured, (rule.closed, rule.tree)),
    lambda meta, captured: PullbackProgram(meta[0], meta[1], tuple(captured)),
)


def custom_gradient(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose reverse-mode derivative is what `fun` returns beside its result.

    `fun(*args)` returns the result and a function of its cotangent, which returns the
    cotangent of the argument, or a tuple with one for each of several.

    >>> import traceir
    >>> @custom_gradient
    ... def f(x):
    ...     return x**2, lambda ct: ct * x
    >>> traceir.grad(f)(3.0)
    Array(3., dtype=float32, weak_type=True)
    """

    @custom_vjp
    def call(*args: Any) -> Any:
        return fun(*args)[0]

    def forward(*args: Any) -> tuple[Any, PullbackProgram]:
        """The result, and the derivative as a program."""
        result, rule = fun(*args)
        leaves, tree = flatten.flatten(result)
        trees: list[flatten.TreeDef] = []

        def run(cotangents: Any) -> Any:
            found, out_tree = flatten.flatten(rule(tree.unflatten(cotangents)))
            trees.append(out_tree)
            return found

        avals = [typeof(leaf) for leaf in leaves]
        paths = [flatten.key_path(path) for path in tree.paths()]
        name = function_name(rule)
        closed, captured = program_of(run, avals, paths, name, "make_jaxpr")
        return result, PullbackProgram(closed, trees[0], captured)

    def backward(rule: PullbackProgram, cotangents: Any) -> Any:
        found = rule(cotangents)
        return found if isinstance(found, tuple) else (found,)

    call.defvjp(forward, backward)
    return wraps(fun)(call)
