"""Operations and jitted functions, called on arrays over several processes.

A jitted function becomes one of parts, jitted in its turn, for each way in which its
arguments lie. Serves: sharding.value, process.*
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from traceir.arrays.array import (
    APART,
    LAID_OUT,
    LIVING,
    MOVED,
    Array,
    Placed,
    Spread,
    local_part,
    spread,
)
from traceir.arrays.divided import over_mesh
from traceir.arrays.laying import LAID
from traceir.arrays.placement import put_down
from traceir.arrays.process_mesh import crosses, is_spanning, process_mesh
from traceir.arrays.propagation.specs import spec_of, whole
from traceir.arrays.sharding import NamedSharding, PartitionSpec, Sharding
from traceir.base.config import local
from traceir.base.fast_dataclass import dataclass
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Params
from traceir.jit.cache.static_keys import typed
from traceir.jit.function import JitFunction
from traceir.jit.staging import CROSSING
from traceir.pytrees import flatten
from traceir.tracing.evaluation import SPANNING, computed_here
from traceir.tracing.trace import (
    Value,
    current_trace,
    living,
    typeof,
)
from traceir.transforms.spanning.crossing import HERE, Crossing, in_parts
from traceir.transforms.spanning.moves import relaid
from traceir.transforms.spanning.trace import SpanningTrace, SpanningTracer


@dataclass(frozen=True, slots=True)
class Laid:
    """A function of parts, and what becomes of its results.

    As an entry of a cache it has no seal, and no guard is made for it.
    """

    seal = None
    writes = True

    function: JitFunction[..., Any]
    results: dict[str, Any]  # the tree, and the sharding of each leaf

    def on_leaves(self, leaves: Sequence[Any]) -> Any:
        """Call it on the parts of these leaves, and put its results together."""
        return put_together(self.function(*map(own_part, leaves)), self.results)


@dataclass(frozen=True, slots=True)
class _PartsRunner:
    """As a `Runner` of a jitted function, for which no guard stands in."""

    run: Callable[[Any, Any], Any]
    entry: Any
    hits: int = 0


def runner_of(laid: Any, places: frozenset[int], names: frozenset[str]) -> _PartsRunner:
    """A runner for arguments of the same raw key, of which these are static."""

    def run(args: Any, kwargs: Any) -> Any:
        if places:
            args = [a for k, a in enumerate(args) if k not in places]
        if names:
            kwargs = {n: v for n, v in kwargs.items() if n not in names}
        return laid.on_leaves(flatten.leaves((list(args), kwargs)))

    return _PartsRunner(run, laid)


_known: WeakKeyDictionary[Any, dict[Any, Any]] = WeakKeyDictionary()
# Makes of a function of parts one that devices of a backend run, if it is over these.
ON_DEVICES: list[Callable[[Any, WholeArguments, Sequence[Any]], Any]] = []


def applied(primitive: str, values: Sequence[Value], params: Params) -> list[Array]:
    """Apply a primitive to concrete arrays, of which some are over processes."""
    meshes = [v.sharding.mesh for v in values if type(v) in LAID_OUT and _crosses(v)]
    if not meshes:
        return computed_here(primitive, values, params)
    everywhere = NamedSharding(meshes[0], PartitionSpec())
    if not any(type(v) is Spread for v in values):
        return [v._at(everywhere) for v in computed_here(primitive, values, params)]
    trace = SpanningTrace(primitive)
    with living(trace):
        given = [_input(trace, v) for v in values]
        return [_output(v, everywhere) for v in trace.bind(primitive, given, params)]


def _crosses(array: Any) -> bool:
    return isinstance(array.sharding, NamedSharding) and crosses(array.sharding)


def own_part(value: Any) -> Any:
    """This process's part of an array over processes; any other value as it is."""
    if type(value) is not Spread:
        return value
    return Array._wrap(local_part(value).view(), _part_aval(value))


def _input(trace: SpanningTrace, value: Any) -> Value:
    if type(value) is not Spread:
        return value
    sharding: Any = value.sharding
    return trace.value(own_part(value), value.aval, sharding)


def _output(value: Value, everywhere: NamedSharding) -> Array:
    if isinstance(value, SpanningTracer):
        return _array(value.part, value.aval, value.sharding)
    return _array(value, typeof(value), everywhere)


def _array(part: Any, aval: ShapedArray, sharding: Sharding) -> Array:
    """The array that lies so, of a part that is an array."""
    if not is_spanning(sharding):
        made: Array = part._at(sharding)
        return made
    own: np.ndarray = part._value
    return spread(own.view(), aval, sharding)


def moved(array: Any, sharding: Any) -> Array:
    """An array over processes, laid out anew."""
    before = array.sharding
    aval, ndim = array.aval, array.ndim
    part = own_part(array)
    same = isinstance(sharding, NamedSharding) and sharding.mesh == before.mesh
    after = spec_of(sharding, ndim) if same else whole(ndim)
    mesh = process_mesh(before.mesh)
    part = relaid(part, mesh, spec_of(before, ndim), after)
    if same:
        return _array(part, aval, sharding)
    laid: Array = part._at(sharding)
    return laid


def _part_aval(array: Any) -> ShapedArray:
    aval: ShapedArray = array.aval
    return aval.update(shape=local_part(array).shape)


def called(
    function: JitFunction[..., Any],
    args: Any,
    kwargs: Any,
    raw: Any,
    here: Callable[[Any, Any, Any], Any],
) -> Any:
    """Call a jitted function, whose arguments may be arrays over processes.

    If none is, it is called `here` as it would be in one process.
    """
    laid = _known.get(function)
    if laid is None and not _any_spread((args, kwargs)):
        outer, HERE.jitting = HERE.jitting, True
        try:
            return here(args, kwargs, raw)
        except Crossing:
            pass
        finally:
            HERE.jitting = outer
    return _called_on_parts(function, args, kwargs, raw)


def _any_spread(tree: Any) -> bool:
    return not APART.isdisjoint(map(type, flatten.leaves(tree)))


def _place(leaf: Any) -> NamedSharding | None:
    """The layout of an argument over processes or devices; None of others."""
    if type(leaf) not in APART:
        return None
    sharding: Sharding = leaf.sharding
    return over_mesh(sharding)


def _called_on_parts(
    function: JitFunction[..., Any], args: Any, kwargs: Any, raw: Any
) -> Any:
    static = function._static
    fixed = {k: a for k, a in enumerate(args) if k in static.positions}
    named = {n: v for n, v in kwargs.items() if n in static.names}
    rest = [a for k, a in enumerate(args) if k not in fixed]
    others = {n: v for n, v in kwargs.items() if n not in named}
    leaves, tree = flatten.flatten((rest, others))
    key = (
        *(local.context, tree, tuple(map(_leaf_key, leaves)), len(args)),
        *(tuple((k, typed(v)) for k, v in (*fixed.items(), *named.items())),),
    )
    known = _known.setdefault(function, {})
    found = known.get(key)
    if found is None:
        count = len(args)

        def rebuild(leaves: Sequence[Any]) -> tuple[Any, Any]:
            rest, others = tree.unflatten(leaves)
            given = iter(rest)
            every = [fixed[k] if k in fixed else next(given) for k in range(count)]
            return every, {**others, **named}

        places = list(map(_place, leaves))
        avals = [v.aval if type(v) in APART else None for v in leaves]
        given = WholeArguments(rebuild, places, avals)
        made = ON_DEVICES[0] if ON_DEVICES else None
        found = made(function, given, leaves) if made else on_parts(function, given)
        known[key] = found
    if raw is not None:
        function._fast[raw] = runner_of(found, frozenset(fixed), frozenset(named))
    return found.on_leaves(leaves)


def _leaf_key(leaf: Any) -> Any:
    if type(leaf) in LIVING:
        return leaf.aval, leaf.sharding
    return type(leaf), typeof(leaf)


@dataclass(frozen=True, slots=True)
class WholeArguments:
    """The leaves of a call's arguments: how to make them of parts."""

    rebuild: Callable[[Sequence[Any]], tuple[Any, Any]]  # a call of its leaves
    places: Sequence[NamedSharding | None]
    avals: Sequence[ShapedArray | None]

    def arguments(self, trace: SpanningTrace, parts: Sequence[Any]) -> tuple[Any, Any]:
        """The arguments, of which those that are over processes are such values."""
        rows = zip(parts, self.avals, self.places, strict=True)
        return self.rebuild(
            [
                part
                if place is None or aval is None
                else trace.value(part, aval, place)
                for part, aval, place in rows
            ]
        )

    def place(self, value: SpanningTracer) -> NamedSharding:
        """The layout of a result: the very one of the first argument that lies so."""
        found, spec = value.sharding, spec_of(value.sharding, value.ndim)
        for place, aval in zip(self.places, self.avals, strict=True):
            if place is not None and aval is not None:
                same = place.mesh == found.mesh and spec_of(place, aval.ndim) == spec
                return place if same else found
        return found


def on_parts(function: JitFunction[..., Any], whole_of: WholeArguments) -> Laid:
    """The function of parts, and where it says how its results lie."""
    fun = function._fun
    results: dict[str, Any] = {}

    def of_parts(*parts: Any) -> Any:
        trace = SpanningTrace(function._name)
        with living(trace):
            args, kwargs = whole_of.arguments(trace, parts)
            outs, tree = flatten.flatten(fun(*args, **kwargs))
        spanning = [v for v in outs if isinstance(v, SpanningTracer)]
        results["tree"] = tree
        results["places"] = [
            (v.aval, whole_of.place(v)) if isinstance(v, SpanningTracer) else None
            for v in outs
        ]
        meshes = [place.mesh for place in whole_of.places if place is not None]
        meshes += [v.sharding.mesh for v in spanning]
        results["mesh"] = meshes[0] if meshes else trace.mesh
        return [v.part if isinstance(v, SpanningTracer) else v for v in outs]

    of_parts.__name__ = of_parts.__qualname__ = function._name
    return Laid(JitFunction(of_parts, None, None, function._options), results)


def put_together(outs: Sequence[Any], results: dict[str, Any]) -> Any:
    """The results of a call, made of those of the function of parts."""
    makers = results.get("makers")
    if makers is None:
        everywhere = everywhere_of(results)
        makers = results["makers"] = [
            _maker(place, everywhere) for place in results["places"]
        ]
    pairs = zip(makers, outs, strict=True)
    return results["tree"].unflatten([make(value) for make, value in pairs])


def everywhere_of(results: dict[str, Any]) -> NamedSharding | None:
    """The layout of what all processes have; None where there is no mesh of them."""
    mesh = results["mesh"]
    return None if mesh is None else NamedSharding(mesh, PartitionSpec())


def _maker(place: Any, everywhere: NamedSharding | None) -> Callable[[Any], Any]:
    """The function that makes a result of a part, or of what all processes have."""
    if place is not None:
        aval, sharding = place
        if is_spanning(sharding):
            return lambda part: spread(part._value.view(), aval, sharding)
        return lambda part: part._at(sharding)
    if everywhere is None:
        return lambda value: value

    def put(value: Any) -> Any:
        if type(value) not in LIVING:
            return value
        made = Array._wrap(value._value, value.aval)
        put_down(made, everywhere)
        made.__class__ = Placed
        return made

    return put


def part_for(value: Any, sharding: NamedSharding) -> Value:
    """This process's part of a value that is to lie so."""
    trace = current_trace()
    if isinstance(trace, SpanningTrace):
        return trace.cut(value, sharding)
    array = value._at(sharding)
    return Array._wrap(local_part(array).view(), _part_aval(array))


def array_of(part: Value, aval: ShapedArray, sharding: NamedSharding) -> Value:
    """The array that the parts of all processes make, in the trace in force."""
    trace = current_trace()
    if isinstance(trace, SpanningTrace):
        return trace.value(part, aval, sharding)
    return _array(part, aval, sharding)


def laid(value: Value, sharding: Any) -> Value:
    """A traced value that is to lie over processes.

    How a value lies of which something else is computed, a derivative or a batch,
    follows from what that is computed of.
    """
    if in_parts() and isinstance(sharding, NamedSharding):
        trace: Any = current_trace()
        return value if trace is None else trace.lying(value, sharding)
    return value


def start() -> None:
    """Have arrays over processes handled here."""
    MOVED[:], SPANNING[:] = [moved], [applied]
    CROSSING[:], LAID[:] = [called], [laid]


def stop() -> None:
    """No more of them."""
    _known.clear()
    if not ON_DEVICES:
        CROSSING.clear()
        SPANNING.clear()
