"""Roots of functions, whose derivatives are by the functions' own.

Serves: custom_solve.*
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from traceir.base.tracebacks import entry_point
from traceir.pytrees import flatten
from traceir.tracing.staging import apply
from traceir.tracing.trace import Value, bind
from traceir.transforms.autodiff.arguments import as_array
from traceir.transforms.autodiff.jvp_vjp import jvp
from traceir.transforms.custom.custom_jvp import custom_jvp
from traceir.transforms.custom.linear_solve import (
    Function,
    check_structure,
    hoisted,
)
from traceir.transforms.custom.symbolic_zeros import zero_from_primal


@entry_point
def custom_root(
    f: Function,
    initial_guess: Any,
    solve: Function,
    tangent_solve: Function,
    has_aux: bool = False,
) -> Any:
    """A root of `f`, a value at which it is 0, that `solve(f, initial_guess)` finds.

    Its derivative is by the implicit function theorem: `tangent_solve(g, y)` solves
    `g(x) = y`, where `g` is linear, the derivative of `f` at the root. What `f` closes
    over may be differentiated; the guess has no derivative. With `has_aux`, `solve`
    returns a pair of the root and a tree that has none. Raises TypeError
    (custom_solve.structure) unless the root and `f` have the structure, shapes and
    dtypes of the guess.

    >>> import traceir, traceir.numpy as jnp
    >>> def root(a):
    ...     newton = lambda f, x: traceir.lax.fori_loop(
    ...         0, 6, lambda _, x: x - f(x) / traceir.grad(f)(x), x
    ...     )
    ...     divide = lambda g, y: y / g(1.0)
    ...     return custom_root(lambda x: x * x - a, 1.0, newton, divide)
    >>> root(4.0), traceir.grad(root)(4.0)
    (Array(2., dtype=float32, weak_type=True),
     Array(0.25, dtype=float32, weak_type=True))
    """
    leaves, tree = flatten.flatten(initial_guess)
    guess = [as_array(v, str) for v in leaves]
    function = hoisted("f", f, initial_guess)
    check_structure("f(x)", function, tree, guess, False)
    found = hoisted("solve", lambda x: solve(f, x), initial_guess)
    x_tree = check_structure("solve(f, guess)", found, tree, guess, has_aux)
    count = len(guess)

    @custom_jvp
    def root(
        consts: Sequence[Value], others: Sequence[Value], guess: Sequence[Value]
    ) -> list[Value]:
        """The leaves of the root, and of what else there is."""
        return apply(found.program, [*others, *guess])

    @root.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        """The root, and how it moves with what `f` closes over."""
        outs = root(*primals)
        consts, x = list(primals[0]), outs[:count]
        still = [zero_from_primal(v) for v in outs[count:]]
        if not consts:
            return outs, [zero_from_primal(v) for v in outs]

        def product(tangent: Any) -> Any:
            """The derivative of `f` at the root, of a tangent."""
            given = flatten.flatten(tangent)[0]

            def along(*y: Any) -> Any:
                """`f` with what it closes over."""
                return apply(function.program, [*consts, *y])

            return tree.unflatten(jvp(along, x, given)[1])

        def of_consts(*cs: Any) -> Any:
            """`f` at the root, as a function of what it closes over."""
            return apply(function.program, [*cs, *x])

        moved = jvp(of_consts, consts, list(tangents[0]))[1]
        right = tree.unflatten([bind("neg", t) for t in moved])
        return outs, [*flatten.flatten(tangent_solve(product, right))[0], *still]

    outs = root(list(function.consts), list(found.consts), guess)
    return x_tree.unflatten(outs)
