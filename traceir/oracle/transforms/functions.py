"""Transforms of functions on values, by the rows and the inference rules.

Serves: derive.*, batch.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.errors import TraceirError
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom
from traceir.oracle.transforms import control, named_axes
from traceir.oracle.transforms.backward import transposed
from traceir.oracle.transforms.batches import batched, moved
from traceir.oracle.transforms.builder import Beyond, DerivedProgram
from traceir.oracle.transforms.control import TermControlFlow
from traceir.oracle.transforms.forward import jvp_results, tangents
from traceir.oracle.transforms.named_axes import NamedAxes
from traceir.oracle.transforms.terms import FunctionProgram, Term, Terms
from traceir.pytrees import flatten

Fun = Callable[..., Any]


# Functions of arrays that are a primitive where operands have one dtype.
ARITHMETIC = {
    "numpy.add": "add",
    "numpy.multiply": "mul",
    "operator.add": "add",
    "operator.mul": "mul",
}


class TermFunctions(Terms):
    """Transforms of functions of terms; raises Beyond where no rule speaks of one.

    >>> from traceir.rules import default
    >>> functions = TermFunctions(default())
    >>> two = functions.term_of(np.float32(2))
    >>> functions.grad(lambda x: functions.bind("mul", x, x))(two).array
    array(4., dtype=float32)
    """

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """A primitive applied, or what a function of arrays is made of."""
        of_lax = named_axes.FUNCTIONS.get(primitive) or control.FUNCTIONS.get(primitive)
        if of_lax is not None:
            axes = NamedAxes(self.bind, self.sizes)
            own = axes if primitive in named_axes.FUNCTIONS else TermControlFlow(self)
            try:
                return of_lax(own, *values, **params)
            except (
                TraceirError
            ) as error:  # these functions say themselves what is wrong
                raise Beyond(str(error)) from error
        if primitive in ARITHMETIC and not params:
            return self.arithmetic(ARITHMETIC[primitive], *values)
        if primitive == "numpy.sum" and not params:
            (x,) = values
            axes_ = tuple(range(x.aval.ndim))
            return self.bind("reduce_sum", x, axes=axes_, out_sharding=None)
        return super().bind(primitive, *values, **params)

    def smooth(self, values: Sequence[Any]) -> list[ShapedArray]:
        """The types of what a function is differentiated by; all have tangents."""
        avals = [self.aval(v) for v in values]
        if any(kind_of(a.dtype) not in "fc" for a in avals):
            raise Beyond("tangents that hold nothing")
        return avals

    def of_types(self, rule: str, value: Any, traced: FunctionProgram) -> list[Any]:
        """The cotangents of results, which have their shapes and dtypes."""
        given = flatten.leaves(value)
        if len(given) != len(traced.closed.out_avals):
            raise Beyond("cotangents of another structure")
        pairs = zip(map(self.aval, given), traced.closed.out_avals)
        if any((a.shape, a.dtype) != (b.shape, b.dtype) for a, b in pairs):
            raise self.rules.error(rule)
        return given

    def jvp(self, fun: Fun, primals: Sequence[Any], moves: Sequence[Any]) -> Any:
        """The results and their tangents (derive.jvp)."""
        if not (isinstance(primals, tuple) and isinstance(moves, tuple)):
            raise Beyond("arguments that are no tuples")
        traced = self.trace(fun, self.smooth(primals))
        if [self.aval(t) for t in moves] != list(map(self.aval, primals)):
            raise Beyond("tangents of other types")
        count = len(traced.captured)
        self.smooth([Term(a) for a in traced.closed.out_avals])

        def make(builder: DerivedProgram, atoms: Sequence[Atom]) -> Sequence[Atom]:
            cut = count + len(primals)
            given = [None] * count + [*atoms[cut:]]
            outs, found = jvp_results(builder, traced.closed, atoms[:cut], given)
            zeros = [builder.zero_for(t, a.aval) for t, a in zip(found, outs)]
            return [*outs, *zeros]

        found = self.recorded(make, [*traced.captured, *primals, *moves])
        half = len(found) // 2
        return traced.tree.unflatten(found[:half]), traced.tree.unflatten(found[half:])

    def linearize(self, fun: Fun, *primals: Any) -> Any:
        """The results, and the function of tangents (derive.linearize)."""
        traced = self.trace(fun, self.smooth(primals))
        out = self.applied(traced.closed, [*traced.captured, *primals])
        linear = tangents(traced.closed, traced.mask(), self.rules)

        def call(*moves: Any) -> Any:
            found = self.applied(linear, [*traced.captured, *primals, *moves])
            return traced.tree.unflatten(found)

        self.smooth(out)
        return traced.tree.unflatten(out), call

    def vjp(self, fun: Fun, *primals: Any) -> Any:
        """The results, and the function of their cotangents (derive.transpose)."""
        traced = self.trace(fun, self.smooth(primals))
        out = self.applied(traced.closed, [*traced.captured, *primals])
        self.smooth(out)
        linear = tangents(traced.closed, traced.mask(), self.rules)
        mask = [False] * len(traced.closed.in_avals) + [True] * traced.count
        back = transposed(linear, mask, self.rules)

        def call(cotangent: Any) -> Any:
            given = self.of_types("vjp.cotangent", cotangent, traced)
            return tuple(self.applied(back, [*traced.captured, *primals, *given]))

        return traced.tree.unflatten(out), call

    def linear_transpose(self, fun: Fun, *primals: Any) -> Any:
        """The transpose of a function that is linear."""
        traced = self.trace(fun, self.smooth(primals))
        back = transposed(traced.closed, traced.mask(), self.rules)

        def call(cotangent: Any) -> Any:
            given = self.of_types("linear_transpose.cotangent", cotangent, traced)
            return tuple(self.applied(back, [*traced.captured, *given]))

        return call

    def grad(
        self,
        fun: Fun,
        argnums: Any = 0,
        has_aux: bool = False,
        holomorphic: bool = False,
    ) -> Fun:
        """The cotangents at the cotangent 1; the further results beside them."""
        both = self.value_and_grad(fun, argnums, has_aux, holomorphic)

        def call(*args: Any) -> Any:
            value, found = both(*args)
            return (found, value[1]) if has_aux else found

        return call

    def value_and_grad(
        self,
        fun: Fun,
        argnums: Any = 0,
        has_aux: bool = False,
        holomorphic: bool = False,
    ) -> Fun:
        """The result, and the cotangents at 1 of the arguments that are named."""
        kind = "c" if holomorphic else "f"

        def call(*args: Any) -> Any:
            numbers = argnums if isinstance(argnums, tuple) else (argnums,)
            if not all(type(n) is int and -len(args) <= n < len(args) for n in numbers):
                raise Beyond("numbers of no arguments")
            numbers = tuple(n % len(args) for n in numbers)
            if len(set(numbers)) < len(numbers):
                raise Beyond("a number twice")

            def of_these(*moving: Any) -> Any:
                given = dict(zip(numbers, moving, strict=True))
                return fun(*(given.get(k, a) for k, a in enumerate(args)))

            out, back = self.vjp(of_these, *(args[n] for n in numbers))
            first, *others = flatten.leaves(out)
            if first.aval.shape or kind_of(first.aval.dtype) != kind:
                raise Beyond("the gradient of what is no scalar")
            if isinstance(out, Term) == has_aux or (others and not has_aux):
                raise Beyond("the gradient of several results")
            one = Term(first.aval, np.ones((), first.aval.dtype))
            zeros = [Term(v.aval, np.zeros_like(v.array)) for v in others]
            if any(v.array is None for v in others):
                raise Beyond("further results that are not known")
            found = back([one, *zeros])
            return out, found if isinstance(argnums, tuple) else found[0]

        return call

    def checkpoint(self, fun: Fun) -> Fun:
        """The function itself: what is kept for later changes no value."""
        return fun

    def jacfwd(self, fun: Fun) -> Fun:
        """The tangents of a basis, along the last dimensions."""

        def call(x: Term) -> Any:
            def tangent_of(t: Term) -> Any:
                return self.jvp(fun, (x,), (t,))[1]

            found = self.vmap(tangent_of, out_axes=-1)(self.basis(x.aval))
            return self.shaped(found, (*found.aval.shape[:-1], *x.aval.shape))

        return call

    def jacrev(self, fun: Fun) -> Fun:
        """The cotangents of a basis, along the first dimensions."""

        def call(x: Term) -> Any:
            out, back = self.vjp(fun, x)
            found = self.vmap(lambda ct: back(ct)[0])(self.basis(out.aval))
            return self.shaped(found, (*out.aval.shape, *x.aval.shape))

        return call

    def hessian(self, fun: Fun) -> Fun:
        """The Jacobian of the Jacobian."""
        return self.jacfwd(self.jacrev(fun))

    def basis(self, aval: ShapedArray) -> Term:
        """An array of a type for each of its elements, which is one there."""
        if kind_of(aval.dtype) != "f":
            raise Beyond("a basis of what is not floating")
        units = np.eye(aval.size, dtype=aval.dtype).reshape(aval.size, *aval.shape)
        return Term(ShapedArray(units.shape, aval.dtype, aval.weak_type), units)

    def shaped(self, value: Term, shape: tuple[int, ...]) -> Any:
        """A value of another shape."""
        if value.aval.shape == shape:
            return value
        sizes = {"new_sizes": shape, "dimensions": None, "sharding": None}
        return self.bind("reshape", value, **sizes)

    def vmap(
        self,
        fun: Fun,
        in_axes: Any = 0,
        out_axes: Any = 0,
        axis_name: str | None = None,
        axis_size: int | None = None,
    ) -> Fun:
        """The function of many examples, whose axis may have a name."""

        def call(*args: Any) -> Any:
            axes = (
                in_axes if isinstance(in_axes, tuple | list) else (in_axes,) * len(args)
            )
            if not all(isinstance(a, Term) for a in args) or len(axes) != len(args):
                raise Beyond("arguments that are no arrays")
            ranks = [a.aval.ndim for a in args]
            if not all(d is None or -n <= d < n for d, n in zip(axes, ranks)):
                raise Beyond("places that no argument has")
            dims = [None if d is None else d % n for d, n in zip(axes, ranks)]
            sizes = {a.aval.shape[d] for a, d in zip(args, dims) if d is not None}
            sizes |= {axis_size} if axis_size is not None else set()
            if len(sizes) != 1:
                raise Beyond("no size of a batch")
            (size,) = sizes
            with self.named(axis_name, size):
                examples = [_example(a.aval, d) for a, d in zip(args, dims)]
                traced = self.trace(fun, examples)
            none = [None] * len(traced.captured)
            given = [*none, *dims], size, self.rules, axis_name
            closed, differ = batched(traced.closed, *given)

            targets = out_axes
            if not isinstance(out_axes, tuple | list):
                targets = (out_axes,) * len(differ)

            def make(builder: DerivedProgram, atoms: Sequence[Atom]) -> Sequence[Atom]:
                found = builder.inlined(closed, atoms)
                return [
                    _placed(builder, a, d, size, target)
                    for a, d, target in zip(found, differ, targets, strict=True)
                ]

            found = self.recorded(make, [*traced.captured, *args])
            return traced.tree.unflatten(found)

        return call


def _example(aval: ShapedArray, dim: int | None) -> ShapedArray:
    if dim is None:
        return aval
    return aval.update(shape=(*aval.shape[:dim], *aval.shape[dim + 1 :]))


def _placed(
    builder: DerivedProgram, value: Atom, differs: bool, size: int, target: int | None
) -> Atom:
    """A result with its batched dimension where it is asked for, if it is."""
    if target is None:
        if differs:
            raise Beyond("one result of many examples")
        return value
    rank = value.aval.ndim + (not differs)
    if not -rank <= target < rank:
        raise Beyond("a place that no result has")
    if not differs:
        value = builder.stretched(value, (size, *value.aval.shape))
    return moved(builder, value, 0, target % value.aval.ndim)
