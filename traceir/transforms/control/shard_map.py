"""Rules of `shard_map`: functions of parts again, by programs of one device.

Serves: shard_map.transforms
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

from traceir import rules
from traceir.arrays.propagation.programs import mesh_of, name_mesh
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Literal, Params, sort_params
from traceir.tracing.knowledge import CHECKED, DIVIDED
from traceir.tracing.manual_axes import varied
from traceir.tracing.staging import apply, constants_of
from traceir.tracing.trace import Trace, Value, bind, current_trace, in_force, typeof
from traceir.transforms.autodiff.cached_transforms import (
    jvp_program,
    linearize_program,
    staged,
    transpose_program,
)
from traceir.transforms.batching.batch_trace import batch_program
from traceir.transforms.batching.batching_rules import named_axes
from traceir.transforms.batching.collectives import number
from traceir.transforms.control.call_rules import pulled
from traceir.transforms.control.partial_eval import partial_eval_program
from traceir.transforms.control.regions import (
    given,
    moving,
    nonzero,
    region,
    symbolic,
)
from traceir.transforms.rules import dce
from traceir.transforms.rules.registry import (
    BATCH,
    JVP,
    LINEARIZE,
    SPLIT,
    TRANSPOSE,
    BatchAxis,
    Batched,
    Cotangents,
    Dim,
    Dims,
    JvpResult,
    LinearizeResult,
    LinearOperand,
    Mask,
    Tangents,
    Values,
)
from traceir.transforms.rules.rewrites import (
    arranged,
    flipped,
    kept,
    merged,
    opened,
)

# The names of the axes that divide each dimension.
Spec = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """The params of an equation: its program, its specs, and what is as it was.

    Devices along the axes that are `common` may share what no spec divides; along
    others they have examples of a batch of their own.
    """

    program: ClosedJaxpr
    ins: tuple[Spec, ...]
    outs: tuple[Spec, ...]
    rest: dict[str, Any]
    sizes: dict[Any, int]
    common: dict[Any, int]
    checked: bool

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Inside the `with`, programs are made that may name the axes."""
        trace = Trace(self.program.jaxpr.debug_name, "jit")
        axes = {**trace.axes, **self.sizes}
        if self.checked:
            axes[CHECKED] = (*trace.axes.get(CHECKED, ()), *self.sizes)
        trace.axes = axes
        with in_force(trace):
            yield

    def of(
        self,
        program: ClosedJaxpr,
        values: Sequence[Value],
        ins: Sequence[Spec],
        outs: Sequence[Spec],
    ) -> list[Value]:
        """The results of an equation over the same axes, of another program."""
        lifted = constants_of(program)
        specs = (*[()] * len(lifted), *ins)
        program = opened(program)
        name_mesh(program, mesh_of(self.program))
        return region(
            "shard_map",
            [*lifted, *values],
            **self.rest,
            in_specs=specs,
            jaxpr=program,
            out_specs=tuple(outs),
        )

    def spec_of(self, aval: ShapedArray) -> Spec:
        """The spec of a residual: each device has one of its own, along all axes along
        which it may vary."""
        told = aval.vma if self.checked else self.common
        axes = tuple(name for name in self.sizes if name in told)
        return (axes,) if axes else ()

    def unnamed(self, spec: Spec) -> tuple[Any, ...]:
        """The axes that divide no dimension."""
        return tuple(a for a in self.common if not any(a in axes for axes in spec))


def parts_of(params: Params) -> Parts:
    """The params of an equation, read."""
    rest = given(params)
    program, ins, outs = (rest.pop(k) for k in ("jaxpr", "in_specs", "out_specs"))
    own = rest["newly_manual_axes"]
    sizes = {name: size for name, size, _ in rest["mesh"] if name in own}
    around = current_trace()
    divided = around.axes.get(DIVIDED, ()) if around else ()
    common = {name: size for name, size in sizes.items() if name not in divided}
    return Parts(program, ins, outs, rest, sizes, common, rest["check_vma"])


def jvp_parts(primals: Values, tangents: Tangents, params: Params) -> JvpResult:
    """One equation for results and tangents, which lie as what they belong to."""
    parts, moves = parts_of(params), moving(tangents)
    with parts.inside():
        program, moved = jvp_program(parts.program, moves)
    ins = (*parts.ins, *kept(parts.ins, moves))
    outs = (*parts.outs, *kept(parts.outs, moved))
    found = parts.of(program, [*primals, *nonzero(tangents)], ins, outs)
    results = found[: len(moved)]
    rest = symbolic(found[len(moved) :], moved, [*map(typeof, results)])
    return results, rest


def batch_parts(axis: BatchAxis, values: Values, dims: Dims, params: Params) -> Batched:
    """One equation for all examples; the axes `spmd` of the mesh divide these.

    Raises ValueError (vmap.spmd).
    """
    parts, inner = parts_of(params), axis
    if axis.spmd:
        _check_divided(axis, parts, params)
        size = axis.size // prod(parts.sizes[name] for name in axis.spmd)
        told = axis.spmd if parts.checked else ()
        inner = replace(axis, size=size, spmd=(), divided=told)
    with parts.inside():
        program, targets = batch_program(parts.program, inner, dims)

    def with_examples(spec: Spec, dim: Dim) -> Spec:
        if dim is None:
            return spec
        before = (*spec, *[()] * (dim - len(spec)))
        return (*before[:dim], axis.spmd, *before[dim:])

    ins, outs = (
        map(with_examples, parts.ins, dims),
        map(with_examples, parts.outs, targets),
    )
    return parts.of(program, values, [*ins], [*outs]), targets


def _check_divided(axis: BatchAxis, parts: Parts, params: Params) -> None:
    """Raise ValueError (vmap.spmd) unless devices can have examples of their own."""
    specs = (*parts.ins, *parts.outs)
    named = {name for spec in specs for axes in spec for name in axes}
    named.update(named_axes("shard_map", params))
    count = prod(parts.sizes.get(name, 0) for name in axis.spmd)
    if not count or axis.size % count or not named.isdisjoint((*axis.spmd, axis.name)):
        got = f"{axis.size} examples along {axis.spmd} of {parts.rest['mesh']}"
        raise rules.error("vmap.spmd", got=got)


def linearize_parts(primals: Values, moved: Mask, params: Params) -> LinearizeResult:
    """One equation for residuals and results, and one for the tangents."""
    parts = parts_of(params)
    with parts.inside():
        both = linearize_program(parts.program, moved)
    halves = _halves(parts, both.forward, both.linear, primals, parts.ins, parts.outs)

    def linear(residuals: Values, tangents: Values) -> Tangents:
        ins = [*halves.specs, *kept(parts.ins, moved)]
        outs = kept(parts.outs, both.nonzero)
        return parts.of(halves.linear, [*residuals, *tangents], ins, outs)

    return halves.results, both.nonzero, halves.residuals, linear


def split_parts(values: Values, moved: Mask, params: Params) -> list[Value] | None:
    """One equation for the known part, and one for the rest."""
    parts = parts_of(params)
    two = partial_eval_program(parts.program, moved)
    if all(two.moved):
        return None
    known = flipped(moved)
    ins, outs = kept(parts.ins, known), kept(parts.outs, flipped(two.moved))
    halves = _halves(parts, two.known, two.linear, kept(values, known), ins, outs)
    late = [*halves.residuals, *kept(values, moved)]
    specs = [*halves.specs, *kept(parts.ins, moved)]
    rest = parts.of(halves.linear, late, specs, kept(parts.outs, two.moved))
    return merged(two.moved, rest, halves.results)


@dataclass(frozen=True, slots=True)
class _Halves:
    """The results and residuals of a first equation, and the program of a second."""

    results: list[Value]
    residuals: list[Value]
    specs: list[Spec]
    linear: ClosedJaxpr


def _halves(
    parts: Parts,
    first: ClosedJaxpr,
    second: ClosedJaxpr,
    values: Values,
    ins: Sequence[Spec],
    outs: Sequence[Spec],
) -> _Halves:
    """Apply the first program, which gives its results and then residuals.

    A residual that is an operand or a result is taken from there; another is a result
    of its own, and if it is a number, an array of one.
    """
    count = len(outs)
    known: dict[Any, tuple[str, int]] = {}
    known.update((v, ("result", k)) for k, v in enumerate(first.jaxpr.outvars[:count]))
    known.update((v, ("input", k)) for k, v in enumerate(first.jaxpr.invars))
    atoms = first.jaxpr.outvars[count:]
    own = [isinstance(a, Literal) or a not in known for a in atoms]
    avals = [a.aval for a in kept(atoms, own)]
    specs = list(map(parts.spec_of, avals))
    numbers = [o and not a.aval.shape for a, o in zip(atoms, own)]
    with parts.inside():
        forward = residuals_first(first, own)
        linear = of_arrays(second, numbers)
    found = parts.of(forward, values, ins, [*specs, *outs])
    results = found[len(specs) :]
    places = [known[a] for a, o in zip(atoms, own) if not o]

    def all_of(own_ones: Sequence[Any], **others: Sequence[Any]) -> list[Any]:
        return merged(own, own_ones, [others[kind][k] for kind, k in places])

    residuals = all_of(found[: len(specs)], input=values, result=results)
    return _Halves(results, residuals, all_of(specs, input=ins, result=outs), linear)


def residuals_first(program: ClosedJaxpr, own: Mask) -> ClosedJaxpr:
    """The program that gives its residuals before its results: those that are its own,
    numbers among them as arrays of one."""
    count = len(program.out_avals) - len(own)

    def call(values: Values) -> list[Value]:
        found = apply(program, values)
        return [*map(_in_a_row, kept(found[count:], own)), *found[:count]]

    return staged(program, call, program.in_avals)


def of_arrays(program: ClosedJaxpr, numbers: Mask) -> ClosedJaxpr:
    """The program that takes arrays of one in place of some first inputs."""
    if not any(numbers):
        return program
    count = len(numbers)
    avals = [
        a.update(shape=(1,)) if number else a
        for a, number in zip(program.in_avals, numbers)
    ]

    def call(values: Values) -> list[Value]:
        pairs = zip(values, numbers)
        first = [bind("squeeze", v, dimensions=(0,)) if n else v for v, n in pairs]
        return apply(program, [*first, *values[count:]])

    return staged(program, call, [*avals, *program.in_avals[count:]])


def _in_a_row(value: Value) -> Value:
    """A number as an array of one, which devices can have side by side."""
    if typeof(value).shape:
        return value
    return bind("broadcast_in_dim", value, shape=(1,), broadcast_dimensions=())


def transpose_parts(
    cotangents: Cotangents, operands: Sequence[Any], params: Params
) -> Cotangents:
    """One equation from cotangents to cotangents.

    Without types that tell what varies, each device has its share of the cotangent of
    a result that all share, and the cotangent of such an operand is their sum.
    """
    parts = parts_of(params)
    linear = [type(v) is LinearOperand for v in operands]
    arriving = moving(cotangents)
    outs, ins = kept(parts.outs, arriving), kept(parts.ins, linear)
    cts, rest = nonzero(cotangents), kept(operands, flipped(linear))
    with parts.inside():
        program, moves = transpose_program(_varied(parts), linear, arriving)
        order = [*range(len(rest), len(rest) + len(cts)), *range(len(rest))]
        program = arranged(program, order, range(sum(moves)))
        if not parts.checked:
            program = _summed(parts, program, kept(ins, moves))
    if not parts.checked:
        cts = list(map(partial(_share, parts), cts, outs))
    before = [*outs, *kept(parts.ins, flipped(linear))]
    found = parts.of(program, [*cts, *rest], before, kept(ins, moves))
    return pulled(operands, found, moves)


def _varied(parts: Parts) -> ClosedJaxpr:
    """The program, whose results may vary along all axes that their specs name."""
    told = [[name for axes in spec for name in axes] for spec in parts.outs]
    pairs = zip(parts.program.out_avals, told, strict=True)
    if not parts.checked or all({*names} <= {*aval.vma} for aval, names in pairs):
        return parts.program

    def call(values: Values) -> list[Value]:
        return list(map(varied, apply(parts.program, values), told))

    return staged(parts.program, call, parts.program.in_avals)


def _share(parts: Parts, ct: Value, spec: Spec) -> Value:
    count = prod(parts.sizes[name] for name in parts.unnamed(spec))
    return ct if count == 1 else bind("div", ct, number(count, ct))


def _summed(parts: Parts, program: ClosedJaxpr, specs: Sequence[Spec]) -> ClosedJaxpr:
    """The program with sums of its results along axes that their specs leave out."""

    def total(value: Value, axes: tuple[Any, ...]) -> Value:
        if not axes:
            return value
        return bind("psum", value, axes=axes, axis_index_groups=None)

    def call(values: Values) -> list[Value]:
        return list(map(total, apply(program, values), map(parts.unnamed, specs)))

    return staged(program, call, program.in_avals)


def live_parts(params: Params, needed: dce.Mask) -> tuple[Params, dce.Mask]:
    """One equation without results that are not needed, and the operands it takes."""
    parts = parts_of(params)
    leaner, taken = dce.live_program(parts.program, needed)
    if leaner is parts.program:
        return params, taken
    specs = {"in_specs": kept(parts.ins, taken), "out_specs": kept(parts.outs, needed)}
    return sort_params({**parts.rest, **specs, "jaxpr": leaner}), taken


dce.DEAD["shard_map"] = live_parts
JVP["shard_map"] = jvp_parts
LINEARIZE["shard_map"] = linearize_parts
SPLIT["shard_map"] = split_parts
TRANSPOSE["shard_map"] = transpose_parts
BATCH["shard_map"] = batch_parts
