"""Transforms of functions on values, by the rows and the inference rules.

Serves: derive.*, batch.*
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom
from traceir.oracle.scalar_interpreter import Guess
from traceir.oracle.transforms import control, named_axes, of_arrays
from traceir.oracle.transforms.backward import transposed
from traceir.oracle.transforms.batches import batched, moved
from traceir.oracle.transforms.builder import Beyond, DerivedProgram
from traceir.oracle.transforms.control import TermControlFlow
from traceir.oracle.transforms.forward import jvp_results, tangents
from traceir.oracle.transforms.named_axes import DeviceAxes, NamedAxes, PartedFunction
from traceir.oracle.transforms.own_rules import CustomJvp, CustomVjp
from traceir.oracle.transforms.recordings import FunctionProgram, Recordings
from traceir.oracle.transforms.terms import Term
from traceir.pytrees import flatten
from traceir.rules import Rules

Fun = Callable[..., Any]


class TermFunctions(Recordings):
    """Transforms of functions of terms; raises Beyond where no rule speaks of one.

    >>> from traceir.rules import default
    >>> functions = TermFunctions(default())
    >>> two = functions.term_of(np.float32(2))
    >>> functions.grad(lambda x: functions.bind("mul", x, x))(two).array
    array(4., dtype=float32)
    """

    def __init__(self, rules: Rules, guess: Guess | None = None) -> None:
        super().__init__(rules, guess)
        self.control = TermControlFlow(self)
        self.kept: dict[Hashable, FunctionProgram] = {}

    def bind(self, primitive: str, /, *values: Any, **params: Any) -> Any:
        """A primitive applied, or what a function of arrays is made of."""
        if primitive in named_axes.FUNCTIONS:
            axes = NamedAxes(self, super().bind)
            return named_axes.FUNCTIONS[primitive](axes, *values, **params)
        if primitive in control.FUNCTIONS:
            return control.FUNCTIONS[primitive](self.control, *values, **params)
        if primitive in of_arrays.FUNCTIONS:
            return of_arrays.FUNCTIONS[primitive](self, *values, **params)
        return super().bind(primitive, *values, **params)

    def jit(self, fun: Fun) -> Fun:
        """The function as a program, which is kept for the types of its arguments."""

        def call(*args: Any) -> Any:
            if not self.rules.levels.run("jit", self.disabled).traces:
                return fun(*args)
            leaves, shape = flatten.flatten(args)
            values = [v if isinstance(v, Term) else self.aval(v) and v for v in leaves]
            self.handler(values)
            avals = tuple(self.aval(v) for v in values)
            key = fun, avals, shape, tuple(self.sizes.items())
            traced = self.kept.get(key)
            if traced is None:

                def flat(*terms: Any) -> Any:
                    return fun(*shape.unflatten([*terms]))

                traced = self.trace(flat, avals, "jit")
                if not any(t.home for t in traced.captured):
                    self.kept[key] = traced
            found = self.applied(traced.closed, [*traced.captured, *values])
            return traced.tree.unflatten(found)

        return call

    def custom_jvp(self, fun: Fun) -> CustomJvp:
        """The function with tangents of its own."""
        return CustomJvp(self, fun)

    def custom_vjp(self, fun: Fun, nondiff_argnums: Sequence[int] = ()) -> CustomVjp:
        """The function with cotangents of its own."""
        return CustomVjp(self, fun, tuple(nondiff_argnums))

    def pmap(self, fun: Fun, axis_name: str | None = None) -> Fun:
        """`jit` of `vmap`, an example for each device."""
        batched_ = self.jit(self.vmap(fun, axis_name=axis_name))

        def call(*args: Term) -> Any:
            if any(a.aval.shape[:1] > (self.devices,) for a in args):
                raise self.rules.error("pmap.size")
            return batched_(*args)

        return call

    def shard_map(
        self,
        fun: Fun,
        *,
        mesh: Any,
        in_specs: Any,
        out_specs: Any,
        check_vma: bool = True,
    ) -> Fun:
        """The function of the parts that the devices of a mesh have."""
        if not isinstance(mesh, DeviceAxes):
            raise self.rules.error("shard_map.mesh")
        return PartedFunction(self, fun, mesh, in_specs, out_specs, check_vma)

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

    def jvp(
        self,
        fun: Fun,
        primals: Sequence[Any],
        moves: Sequence[Any],
        *,
        way: str = "jvp",
    ) -> Any:
        """The results and their tangents (derive.jvp)."""
        if not (isinstance(primals, tuple) and isinstance(moves, tuple)):
            raise Beyond("arguments that are no tuples")
        primals = [self.as_term(p) for p in primals]
        traced = self.trace(fun, self.smooth(primals), way, primals)
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
        values = [self.as_term(p) for p in primals]
        traced = self.trace(fun, self.smooth(values), "linearize", values)
        out = self.applied(traced.closed, [*traced.captured, *primals])
        linear = tangents(traced.closed, traced.mask(), self.rules)

        def call(*moves: Any) -> Any:
            found = self.applied(linear, [*traced.captured, *primals, *moves])
            return traced.tree.unflatten(found)

        self.smooth(out)
        return traced.tree.unflatten(out), call

    def vjp(self, fun: Fun, *primals: Any, way: str = "vjp") -> Any:
        """The results, and the function of their cotangents (derive.transpose)."""
        values = [self.as_term(p) for p in primals]
        traced = self.trace(fun, self.smooth(values), way, values)
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
        traced = self.trace(fun, self.smooth(primals), "linear_transpose")
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
        both = self._with_gradient("grad", fun, argnums, has_aux, holomorphic)

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
        given = fun, argnums, has_aux, holomorphic
        return self._with_gradient("value_and_grad", *given)

    def _with_gradient(
        self, way: str, fun: Fun, argnums: Any, has_aux: bool, holomorphic: bool
    ) -> Fun:
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

            out, back = self.vjp(of_these, *(args[n] for n in numbers), way=way)
            first, *others = flatten.leaves(out)
            if first.aval.shape or kind_of(first.aval.dtype) != kind:
                raise Beyond("the gradient of what is no scalar")
            if isinstance(out, Term) == has_aux or (others and not has_aux):
                raise Beyond("the gradient of several results")
            one = self.term_of(np.ones((), first.aval.dtype), first.aval)
            zeros = [
                self.term_of(np.zeros(v.aval.shape, v.aval.dtype), v.aval)
                for v in others
            ]
            found = back([one, *zeros])
            return out, found if isinstance(argnums, tuple) else found[0]

        return call

    def checkpoint(self, fun: Fun) -> Fun:
        """The function as a program, which is run again where it is transposed."""

        def call(*args: Any) -> Any:
            avals = [self.aval(a) for a in args]
            traced = self.trace(fun, avals, "checkpoint")
            params = {"policy": None, "prevent_cse": True, "differentiated": False}
            given = [*traced.captured, *args]
            found = self.bind("remat2", *given, jaxpr=traced.closed, **params)
            return traced.tree.unflatten(list(found))

        return call

    def jacfwd(self, fun: Fun) -> Fun:
        """The tangents of a basis, along the last dimensions."""

        def call(x: Term) -> Any:
            def tangent_of(t: Term) -> Any:
                return self.jvp(fun, (x,), (t,), way="jacfwd")[1]

            found = self.vmap(tangent_of, out_axes=-1)(self.basis(x.aval))
            return self.shaped(found, (*found.aval.shape[:-1], *x.aval.shape))

        return call

    def jacrev(self, fun: Fun) -> Fun:
        """The cotangents of a basis, along the first dimensions."""

        def call(x: Term) -> Any:
            out, back = self.vjp(fun, x, way="jacrev")
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
        return self.term_of(units, aval.update(shape=units.shape))

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
            args = tuple(self.as_term(a) for a in args)
            if len(axes) != len(args):
                raise Beyond("axes of another structure")
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
                kept = [a if d is None else None for a, d in zip(args, dims)]
                traced = self.trace(fun, examples, "vmap", (), axis_name, kept)
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
