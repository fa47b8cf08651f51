"""Solutions of linear systems, with derivatives by such systems.

Serves: custom_solve.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from traceir import rules
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_point
from traceir.ir.jaxpr import ClosedJaxpr
from traceir.pytrees import flatten
from traceir.tracing.staging import apply
from traceir.tracing.trace import Value, bind, typeof
from traceir.transforms.autodiff.arguments import as_array
from traceir.transforms.autodiff.jvp_vjp import jvp
from traceir.transforms.autodiff.linear_transpose import linear_transpose
from traceir.transforms.batching.batch_trace import batch_program
from traceir.transforms.custom.custom_calls import program_of
from traceir.transforms.custom.custom_primitive import (
    AXIS_BATCHERS,
    JVPS,
    TRANSPOSES,
    Primitive,
    instantiate_zeros,
)
from traceir.transforms.rules.axes import place_at
from traceir.transforms.rules.registry import BatchAxis, Zero

Function = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class HoistedFunction:
    """A function of leaves as a program, after the values that it closes over."""

    program: ClosedJaxpr
    consts: tuple[Value, ...]
    tree: flatten.TreeDef


def hoisted(name: str, fun: Function, *examples: Any) -> HoistedFunction:
    """The function traced on arguments of these types."""
    leaves, tree = flatten.flatten(examples)
    trees: list[flatten.TreeDef] = []

    def call(tracers: Any) -> Any:
        found, out_tree = flatten.flatten(fun(*tree.unflatten(tracers)))
        trees.append(out_tree)
        return [as_array(v, str) for v in found]

    avals = [typeof(v) for v in leaves]
    program, captured = program_of(call, avals, [""] * len(avals), name, "make_jaxpr")
    return HoistedFunction(program, captured, trees[0])


class _LinearSolveTuple(NamedTuple):
    """Something of each program of a system: those that multiply by the matrix and by
    its transpose, and those that solve either. Texts have it by this name."""

    matvec: Any
    vecmat: Any
    solve: Any
    transpose_solve: Any

    def transposed(self) -> _LinearSolveTuple:
        """That of the transposed system."""
        return _LinearSolveTuple(*(self[k] for k in (1, 0, 3, 2)))

    def parted(self, values: Sequence[Any]) -> list[list[Any]]:
        """The values of each program, of which these are the numbers; and those of the
        right side."""
        rest, found = list(values), []
        for count in self:
            found.append(rest[:count])
            rest = rest[count:]
        return [*found, rest]


solve_p = Primitive("custom_linear_solve")
solve_p.multiple_results = True


@entry_point
def custom_linear_solve(
    matvec: Function,
    b: Any,
    solve: Function,
    transpose_solve: Function | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The solution `x` of `matvec(x) = b`, which `solve(matvec, b)` finds.

    Its derivative is that of the system: the solution of another one with the same
    `matvec`, by whose values it may be differentiated. Reverse mode solves the
    transposed system by `transpose_solve(vecmat, b)`; with `symmetric` that is the same
    one. With `has_aux`, `solve` returns a pair of the solution and a tree that has no
    derivative. Raises TypeError (custom_solve.structure) unless solution and products
    have the structure, shapes and dtypes of `b`, and (custom_solve.transpose) in
    reverse mode without a way to solve the transposed system.

    >>> import traceir, traceir.numpy as jnp
    >>> def solution(a, b):
    ...     solve = lambda matvec, y: y / matvec(jnp.ones(2))
    ...     return custom_linear_solve(lambda x: a * x, b, solve, symmetric=True)
    >>> b = jnp.array([6.0, 8.0])
    >>> solution(2.0, b), traceir.grad(lambda a: solution(a, b).sum())(2.0)
    (Array([3., 4.], dtype=float32), Array(-3.5, dtype=float32, weak_type=True))
    """
    leaves, tree = flatten.flatten(b)
    right = [as_array(v, str) for v in leaves]
    multiply = hoisted("matvec", matvec, b)
    check_structure("matvec(x)", multiply, tree, right, False)
    found = hoisted("solve", lambda y: solve(matvec, y), b)
    x_tree = check_structure("solve(matvec, b)", found, tree, right, has_aux)
    back: HoistedFunction | None = None
    product: HoistedFunction | None = None
    if symmetric:
        product, back = multiply, found
        vecmat = matvec
    elif transpose_solve is not None:
        vecmat = _vecmat(matvec, b)
        product = hoisted("vecmat", vecmat, b)
    if transpose_solve is not None:
        back = hoisted("transpose_solve", lambda y: transpose_solve(vecmat, y), b)
        check_structure("transpose_solve(vecmat, b)", back, tree, right, has_aux)
    parts = (multiply, product, found, back)
    consts = [v for p in parts if p is not None for v in p.consts]
    lengths = [0 if p is None else len(p.consts) for p in parts]
    outs = solve_p.bind(
        *consts,
        *right,
        const_lengths=_LinearSolveTuple(*lengths),
        jaxprs=_LinearSolveTuple(*(None if p is None else p.program for p in parts)),
    )
    return x_tree.unflatten(outs)


def _vecmat(matvec: Function, b: Any) -> Function:
    transposed = linear_transpose(matvec, b)

    def vecmat(y: Any) -> Any:
        """The product with the transposed matrix."""
        return transposed(y)[0]

    return vecmat


def check_structure(
    what: str,
    found: HoistedFunction,
    tree: flatten.TreeDef,
    right: Sequence[Value],
    has_aux: bool,
) -> flatten.TreeDef:
    """The structure of results, once what stands for `b` among them is like it."""
    own = found.tree
    if has_aux:
        node = own.node_data()
        if node is None or node[0] is not tuple or len(own.children()) != 2:
            got = f"{what} gives no pair, with has_aux"
            raise rules.error("custom_solve.structure", got=got)
        own = own.children()[0]
    types = [(a.shape, a.dtype) for a in found.program.out_avals[: own.num_leaves]]
    wanted = [(typeof(v).shape, typeof(v).dtype) for v in right]
    if own != tree or types != wanted:
        shown = ", ".join(a.str_short() for a in found.program.out_avals)
        asked = ", ".join(typeof(v).str_short() for v in right)
        got = f"{what} gives {shown} for a right side of {asked}"
        raise rules.error("custom_solve.structure", got=got)
    return found.tree


# -- rules ----------------------------------------------------------------------------


@solve_p.def_impl
def _solved(
    *values: Value, const_lengths: _LinearSolveTuple, jaxprs: _LinearSolveTuple
) -> list[Value]:
    parts = const_lengths.parted(values)
    return apply(jaxprs.solve, [*parts[2], *parts[4]])


solve_p.lowering = _solved


def jvp_of_solve(
    primals: Sequence[Value],
    tangents: Sequence[Any],
    const_lengths: _LinearSolveTuple,
    jaxprs: _LinearSolveTuple,
) -> tuple[list[Value], list[Any]]:
    """The solution, and that for the right side's tangent less what the tangents of
    the values of `matvec` make of it."""
    bind_solve = partial(solve_p.bind, const_lengths=const_lengths, jaxprs=jaxprs)
    outs = bind_solve(*primals)
    parts, moved = const_lengths.parted(primals), const_lengths.parted(tangents)
    count = len(parts[4])
    rest = [Zero(typeof(v)) for v in outs[count:]]
    if all(isinstance(t, Zero) for t in [*moved[0], *moved[4]]):
        return outs, [Zero(typeof(v)) for v in outs]
    right = [instantiate_zeros(t) for t in moved[4]]
    if change := _moved_product(jaxprs.matvec, parts[0], moved[0], outs[:count]):
        right = [bind("sub", t, c) for t, c in zip(right, change, strict=True)]
    own = [v for part in parts[:4] for v in part]
    return outs, [*bind_solve(*own, *right)[:count], *rest]


def _moved_product(
    program: ClosedJaxpr,
    consts: Sequence[Value],
    tangents: Sequence[Any],
    x: Sequence[Value],
) -> list[Value]:
    """The tangents of the product by those of its values; none if all are zero."""
    places = [k for k, t in enumerate(tangents) if not isinstance(t, Zero)]
    if not places:
        return []

    def product(*given: Value) -> list[Value]:
        """The product, as a function of the values that have tangents."""
        values = list(consts)
        for k, value in zip(places, given, strict=True):
            values[k] = value
        return apply(program, [*values, *x])

    own = [consts[k] for k in places]
    found: list[Value] = jvp(product, own, [tangents[k] for k in places])[1]
    return found


def transpose_of_solve(
    cotangents: Sequence[Any],
    *operands: Any,
    const_lengths: _LinearSolveTuple,
    jaxprs: _LinearSolveTuple,
) -> list[Any]:
    """The cotangents of the right side, by the transposed system."""
    if jaxprs.transpose_solve is None:
        raise rules.error("custom_solve.transpose", got="no `transpose_solve`")
    parts = const_lengths.parted(operands)
    consts = [v for own in _LinearSolveTuple(*parts[:4]).transposed() for v in own]
    right = len(parts[4])
    found = solve_p.bind(
        *consts,
        *map(instantiate_zeros, cotangents[:right]),
        const_lengths=const_lengths.transposed(),
        jaxprs=jaxprs.transposed(),
    )
    return [None] * (len(operands) - right) + list(found[:right])


def batch_of_solve(
    size: int,
    name: Any,
    axis: BatchAxis,
    values: Any,
    dims: Any,
    const_lengths: _LinearSolveTuple,
    jaxprs: _LinearSolveTuple,
) -> tuple[list[Value], list[int]]:
    """The systems of all examples as one, whose right sides are a batch."""
    places = const_lengths.parted(dims)
    right = [
        place_at(v, d, size, 0)
        for v, d in zip(const_lengths.parted(values)[4], places[4], strict=True)
    ]
    batched: list[ClosedJaxpr | None] = []
    for program, own in zip(jaxprs, places[:4], strict=True):
        if program is not None:
            given = (*own, *(0,) * len(right))
            wanted = (0,) * len(program.out_avals)
            program = batch_program(program, axis, given, wanted)[0]
        batched.append(program)
    consts = values[: len(values) - len(right)]
    outs = solve_p.bind(
        *consts,
        *right,
        const_lengths=const_lengths,
        jaxprs=_LinearSolveTuple(*batched),
    )
    return outs, [0] * len(outs)


JVPS[solve_p] = jvp_of_solve
TRANSPOSES[solve_p] = transpose_of_solve
AXIS_BATCHERS[solve_p] = batch_of_solve
