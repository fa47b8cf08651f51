"""`shard_map` as an equation, and the program that it stands for.

Serves: shard_map.*

A trace that records has the equation; the rules of transforms, and every backend, take
the program of whole arrays that it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from traceir.arrays.meshes import Mesh
from traceir.arrays.process_mesh import is_apart
from traceir.arrays.propagation.programs import name_mesh
from traceir.arrays.sharding import PartitionSpec, spread_specs
from traceir.base.config import local
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, Params, sort_params
from traceir.jit.backends import runner
from traceir.jit.staging import function_name
from traceir.pytrees import flatten
from traceir.reference.regions import EXPANSIONS
from traceir.tracing.knowledge import CHECKED
from traceir.tracing.manual_axes import varied
from traceir.tracing.results import check_outputs
from traceir.tracing.staging import StagingTrace, apply, constants_of, stage
from traceir.tracing.trace import (
    EAGER,
    Value,
    around,
    bind_all,
    current_trace,
    typeof,
)
from traceir.transforms.batching.parts import ManualAxes, Specs, named, over_devices
from traceir.transforms.rules.rewrites import opened

# The axes that divide each dimension of an array, as equations store a spec.
Division = tuple[tuple[Any, ...], ...]


def records() -> bool:
    """True where operations become, in the end, equations of a recorded program."""
    traces = around(current_trace())
    return any(type(t) is StagingTrace and t.face == "jax" for t in traces)


def recorded(
    fun: Callable[..., Any],
    axes: ManualAxes,
    values: Sequence[Value],
    specs: Specs,
    paths: Sequence[str],
    out_specs: Any,
    mesh: Mesh,
) -> Any:
    """The results of a function of parts as one equation; raises as `over_devices`."""
    trace = current_trace()
    assert trace is not None
    trees: list[flatten.TreeDef] = []

    def call(parts: Sequence[Value]) -> list[Value]:
        leaves, tree = flatten.flatten(fun(*parts))
        check_outputs(leaves, tree)
        trees.append(tree)
        if not axes.checked:
            return leaves
        told = map(named, spread_specs("out_specs", out_specs, tree))
        return list(map(varied, leaves, told))

    known = {**trace.axes, **axes.sizes}
    if axes.checked:
        known[CHECKED] = (*trace.axes.get(CHECKED, ()), *axes.sizes)
    avals = [axes.part(typeof(v), s) for v, s in zip(values, specs, strict=True)]
    jaxpr, constants, captured = stage(
        *(call, avals, paths, function_name(fun), "jit", "jax"), axes=known
    )
    closed = ClosedJaxpr(jaxpr, constants)
    lifted = [*constants_of(closed), *captured]
    ins, program = [*[None] * len(lifted), *specs], opened(closed)
    name_mesh(program, mesh if is_apart(mesh) else None)
    outs = spread_specs("out_specs", out_specs, trees[0])
    params = {
        "check_vma": axes.checked,
        "in_specs": tuple(map(_division, ins)),
        "jaxpr": program,
        "mesh": _stored(mesh, axes),
        "newly_manual_axes": tuple(axes.sizes),
        "out_specs": tuple(map(_division, outs)),
    }
    paths = ["a value that it captures"] * len(lifted) + [*paths]
    expanded(params, paths, trees[0])  # tells now what is wrong with the results
    found = bind_all("shard_map", [*lifted, *values], sort_params(params))
    return trees[0].unflatten(found)


def _division(spec: PartitionSpec | None) -> Division:
    return () if spec is None else tuple(spec.axes(d) for d in range(len(spec)))


def _stored(mesh: Mesh, axes: ManualAxes) -> tuple[tuple[Any, int, str], ...]:
    """The axes of a mesh; along those that are manual already a function sees parts."""
    trace = current_trace()
    outer = trace.axes if trace else {}
    kinds = {n: t.value for n, t in zip(mesh.axis_names, mesh.axis_types, strict=True)}
    kinds.update((n, "Manual") for n in outer if n in kinds and n not in axes.sizes)
    return tuple((name, size, kinds[name]) for name, size in mesh.shape_tuple)


def expanded(
    params: Any, paths: Sequence[str] = (), tree: flatten.TreeDef | None = None
) -> ClosedJaxpr:
    """The program of whole arrays that an equation stands for, with these params."""
    given = dict(params)
    closed: ClosedJaxpr = given.pop("jaxpr")
    axes, specs, _ = read_params(given)

    def make() -> ClosedJaxpr:
        rows = zip(closed.in_avals, specs, strict=True)
        avals = [_whole(axes, *row) for row in rows]
        call = partial(_applied, closed, given, paths=paths, tree=tree)
        name, face = closed.jaxpr.debug_name, local.context.face
        names = [""] * len(avals)
        jaxpr, constants, captured = stage(call, avals, names, name, "jit", face)
        assert not captured  # what the function captures, the equation is given
        return ClosedJaxpr(jaxpr, constants, closed.backend)

    return closed.memo(("devices", sort_params(given)), make)


def read_params(params: dict[str, Any]) -> tuple[ManualAxes, Specs, Specs]:
    """The axes, and the specs of operands and results, of stored params."""
    sizes = {name: size for name, size, _ in params["mesh"]}
    own = {name: sizes[name] for name in params["newly_manual_axes"]}
    ins, outs = (
        [PartitionSpec(*(axes or None for axes in division)) for division in divisions]
        for divisions in (params["in_specs"], params["out_specs"])
    )
    return ManualAxes(own, params["check_vma"]), ins, outs


def _whole(
    axes: ManualAxes, aval: ShapedArray, spec: PartitionSpec | None
) -> ShapedArray:
    """The type of an array, by that of a part."""
    shape = tuple(n * axes.count(spec, d) for d, n in enumerate(aval.shape))
    return aval.update(shape=shape, vma=[a for a in aval.vma if a not in axes.sizes])


def _applied(
    closed: ClosedJaxpr,
    params: dict[str, Any],
    values: Sequence[Value],
    paths: Sequence[str] = (),
    tree: flatten.TreeDef | None = None,
) -> list[Value]:
    """The results of the equation, by the traces in force."""
    axes, specs, out_specs = read_params(params)

    def fun(*parts: Value) -> Any:
        outs = apply(closed, parts)
        return outs if tree is None else tree.unflatten(outs)

    fun.__name__ = closed.jaxpr.debug_name
    places = out_specs if tree is None else tree.unflatten(out_specs)
    own = paths or [""] * len(specs)
    return flatten.leaves(over_devices(fun, axes, values, specs, own, places))


def run_parts(params: Params) -> Callable[..., Sequence[Any]]:
    """The evaluation of one outside every trace: as a compiled program."""
    closed = expanded(params)
    return runner(closed, closed.backend or "reference")


EAGER["shard_map"] = run_parts
EXPANSIONS["shard_map"] = expanded
