"""Steps of a chain: transforms of functions that return arrays.

Each makes of such a function and the types of its arguments another one, so that any
step can follow any other. Serves: derive.*, vmap.*, control.*
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from traceir.dtypes import kind_of
from traceir.ir.avals import ShapedArray

Fun = Callable[..., list[Any]]
Made = tuple[Fun, list[ShapedArray]]
EXAMPLES = 2


@dataclass(frozen=True)
class StepContext:
    """The place of a step: in a package, before batches of axes with these names.

    `turns` are numbers by which a step chooses, for example an axis; they never end.
    """

    api: Any
    names: tuple[str, ...]
    turns: Iterator[int]

    def choose(self, choices: Sequence[Any]) -> Any:
        """The next choice."""
        return choices[next(self.turns) % len(choices)]


def floating(avals: Sequence[Any]) -> list[int]:
    """The numbers of those that have a floating dtype.

    >>> floating([ShapedArray((), "int32"), ShapedArray((), "float32")])
    [1]
    """
    return [k for k, a in enumerate(avals) if kind_of(a.dtype) == "f"]


def _is_number(x: Any) -> bool:
    """True if one can compute with the elements: they are no keys, and no booleans."""
    return kind_of(x.dtype) not in "bV"


def _of_floats(fun: Fun, args: Sequence[Any], floats: Sequence[int]) -> Fun:
    """The function of the floating arguments alone, and of its floating results."""

    def call(*given: Any) -> list[Any]:
        filled = list(args)
        for k, value in zip(floats, given, strict=True):
            filled[k] = value
        return [r for r in fun(*filled) if kind_of(r.dtype) == "f"]

    return call


# Calls and batches ----------------------------------------------------------------


def _jit(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    return place.api.jit(fun), avals


def _checkpoint(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    return place.api.checkpoint(fun), avals


def _vmap(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    axes: list[int | None] = []
    for aval in avals:
        axes.append(place.choose([*range(len(aval.shape) + 1), None]))
    if axes and all(axis is None for axis in axes):
        axes[0] = 0
    mapped = [
        a if axis is None else a.update(shape=_inserted(a.shape, axis))
        for a, axis in zip(avals, axes, strict=True)
    ]
    out_axes = place.choose((0, -1))
    found = place.api.vmap(
        fun,
        in_axes=tuple(axes),
        out_axes=out_axes,
        axis_name=place.names[0],
        axis_size=EXAMPLES,
    )
    return found, mapped


def _inserted(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], EXAMPLES, *shape[axis:])


def _across(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """Combines each result with those of the other examples of a later batch."""
    if not place.names:
        return fun, avals
    lax = place.api.lax
    name = place.choose((*place.names, place.names))
    single = name if isinstance(name, str) else name[0]
    swap = [(0, 1), (1, 0)]
    kinds: Sequence[Callable[[Any], Any]] = (
        lambda r: lax.psum(r, name),
        lambda r: lax.pmean(r, name) if kind_of(r.dtype) == "f" else r,
        lambda r: lax.all_gather(r, single, axis=r.ndim),
        lambda r: lax.ppermute(r, single, swap),
        lambda r: lax.all_to_all(
            # JAX gives other shapes for what is the same in all examples.
            lax.all_gather(r, single) + lax.axis_index(single).astype(r.dtype),
            single,
            0,
            r.ndim,
        ),
        lambda r: lax.psum_scatter(lax.all_gather(r, single), single),
        lambda r: r + lax.axis_index(name).astype(r.dtype),
        lambda r: lax.pmax(lax.stop_gradient(r), name),
        lambda r: lax.pmin(lax.stop_gradient(r), name),
    )
    kind = place.choose(kinds)

    def call(*args: Any) -> list[Any]:
        return [kind(r) if _is_number(r) else r for r in fun(*args)]

    return call, avals


# Derivatives ----------------------------------------------------------------------


def _jvp(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    return _forward(fun, avals, place.api.jvp)


def _linearize(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    def forward(fun: Fun, primals: Any, tangents: Any) -> Any:
        outs, linear = place.api.linearize(fun, *primals)
        return outs, linear(*tangents)

    return _forward(fun, avals, forward)


def _forward(fun: Fun, avals: list[ShapedArray], forward: Any) -> Made:
    floats, count = floating(avals), len(avals)

    def call(*args: Any) -> list[Any]:
        primals = tuple(args[k] for k in floats)
        if not primals:
            return fun(*args[:count])
        of_floats = _of_floats(fun, args[:count], floats)
        outs, tangents = forward(of_floats, primals, tuple(args[count:]))
        return [*outs, *tangents]

    return call, [*avals, *(avals[k].update(weak_type=False) for k in floats)]


def _vjp(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """Each result's cotangent is a half of it, and a quarter."""
    floats = floating(avals)

    def call(*args: Any) -> list[Any]:
        primals = tuple(args[k] for k in floats)
        if not primals:
            return fun(*args)
        outs, back = place.api.vjp(_of_floats(fun, args, floats), *primals)
        return [*outs, *back([r * 0.5 + 0.25 for r in outs])]

    return call, avals


def _grad(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """The gradient by all floating arguments, of the weighted sum of all floating
    results.
    """
    floats, api = floating(avals), place.api

    def call(*args: Any) -> list[Any]:
        primals = tuple(args[k] for k in floats)
        if not primals:
            return fun(*args)
        of_floats = _of_floats(fun, args, floats)

        def total(*given: Any) -> Any:
            found = api.numpy.float32(0.0)
            for k, result in enumerate(of_floats(*given)):
                found = found + api.numpy.sum(result) * (k + 1.0)
            return found

        return list(api.grad(total, argnums=tuple(range(len(floats))))(*primals))

    return call, avals


def _custom_jvp(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """The function with three times its derivative."""
    floats, api = floating(avals), place.api

    def primal(*args: Any) -> list[Any]:
        return [r for r in fun(*args) if kind_of(r.dtype) == "f"]

    def rule(primals: Any, tangents: Any) -> Any:
        given = tuple(primals[k] for k in floats)
        moved = tuple(tangents[k] for k in floats)
        outs, found = api.jvp(_of_floats(fun, primals, floats), given, moved)
        return outs, [t * 3 for t in found]

    custom = api.custom_jvp(primal)
    custom.defjvp(rule)
    return custom if floats else fun, avals


def _custom_vjp(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """The function with three times its derivative."""
    floats, api = floating(avals), place.api

    def primal(*args: Any) -> list[Any]:
        return [r for r in fun(*args) if kind_of(r.dtype) == "f"]

    def forward(*args: Any) -> Any:
        return primal(*args), args

    def backward(args: Any, cotangents: Any) -> Any:
        given = tuple(args[k] for k in floats)
        found = iter(api.vjp(_of_floats(fun, args, floats), *given)[1](cotangents))
        return tuple(next(found) * 3 if k in floats else None for k in range(len(args)))

    custom = api.custom_vjp(primal)
    custom.defvjp(forward, backward)
    return custom if floats else fun, avals


# Control flow ---------------------------------------------------------------------


def _signed(avals: Sequence[ShapedArray]) -> list[int]:
    """The numbers of the arguments whose elements have a sign, as keys have none."""
    return [k for k, a in enumerate(avals) if kind_of(a.dtype) != "V"]


def _positive(api: Any, x: Any) -> Any:
    return api.numpy.sum(x.astype("float32")) > 0


def _cond(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """Or with its results negated, by the sign of the sum of an argument."""
    if not (signed := _signed(avals)):
        return fun, avals
    chosen, api = place.choose(signed), place.api

    def call(*args: Any) -> list[Any]:
        holds = _positive(api, args[chosen])
        found: list[Any] = api.lax.cond(holds, fun, _negated(fun), *args)
        return found

    return call, avals


def _negated(fun: Fun) -> Fun:
    def negated(*args: Any) -> list[Any]:
        return [-r if _is_number(r) else r for r in fun(*args)]

    return negated


def _switch(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """One of three functions by the number of positive elements of an argument."""
    if not (signed := _signed(avals)):
        return fun, avals
    chosen, api = place.choose(signed), place.api

    def zero(*args: Any) -> list[Any]:
        return [api.numpy.zeros_like(r) for r in fun(*args)]

    def call(*args: Any) -> list[Any]:
        index = api.numpy.sum((args[chosen] > 0).astype("int32"))
        branches = [fun, zero, _negated(fun)]
        found: list[Any] = api.lax.switch(index, branches, *args)
        return found

    return call, avals


def _turn(fun: Fun, args: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """The arguments of the next turn, as far as results have their types, and the
    results."""
    results = fun(*args)
    left, found = list(results), list(args)
    for k, arg in enumerate(args):
        alike = [
            n
            for n, r in enumerate(left)
            if (r.shape, r.dtype) == (arg.shape, arg.dtype)
        ]
        if alike:
            found[k] = left.pop(alike[0])
    return found, results


def _carry(api: Any, args: Sequence[Any]) -> dict[str, Any]:
    arrays = list(map(api.numpy.asarray, args))
    return {"args": arrays, "turn": 0, "none": None}


def _scan(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """A scan over the function's own results; gives the last ones and all of them."""
    api = place.api
    backwards, unroll = place.choose((False, True)), place.choose((1, 2, True))

    def body(carry: Any, row: Any) -> Any:
        args, results = _turn(fun, carry["args"])
        turn = {"args": args, "turn": carry["turn"] + row, "none": None}
        return turn, {"results": tuple(results)}

    def call(*args: Any) -> list[Any]:
        rows = api.numpy.arange(2)
        last, all_turns = api.lax.scan(
            body, _carry(api, args), rows, reverse=backwards, unroll=unroll
        )
        return [*last["args"], last["turn"], *all_turns["results"]]

    return call, avals


def _fori(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    api = place.api
    count = place.choose((0, 1, 2))

    def body(k: Any, carry: Any) -> Any:
        args, _ = _turn(fun, carry["args"])
        return {"args": args, "turn": carry["turn"] + k, "none": None}

    def call(*args: Any) -> list[Any]:
        last = api.lax.fori_loop(0, count, body, _carry(api, args))
        return [*last["args"], last["turn"]]

    return call, avals


def _while(place: StepContext, fun: Fun, avals: list[ShapedArray]) -> Made:
    """As long as the sum of an argument is positive, at most two turns."""
    if not (signed := _signed(avals)):
        return fun, avals
    chosen, api = place.choose(signed), place.api

    def more(carry: Any) -> Any:
        return (carry["turn"] < 2) & _positive(api, carry["args"][chosen])

    def body(carry: Any) -> Any:
        args, _ = _turn(fun, carry["args"])
        return {"args": args, "turn": carry["turn"] + 1, "none": None}

    def call(*args: Any) -> list[Any]:
        last = api.lax.while_loop(more, body, _carry(api, args))
        return [*last["args"], last["turn"]]

    return call, avals


STEPS: Mapping[str, Callable[[StepContext, Fun, list[ShapedArray]], Made]] = {
    "jit": _jit,
    "vmap": _vmap,
    "jvp": _jvp,
    "vjp": _vjp,
    "grad": _grad,
    "checkpoint": _checkpoint,
    "linearize": _linearize,
    "custom_jvp": _custom_jvp,
    "custom_vjp": _custom_vjp,
    "across": _across,
    "cond": _cond,
    "switch": _switch,
    "scan": _scan,
    "fori": _fori,
    "while": _while,
}
# What goes backwards, through which no loop of unknown length goes, and forwards.
REVERSE = frozenset({"vjp", "grad", "custom_vjp"})
LOOPS = frozenset({"while"})
FORWARD = frozenset({"jvp", "linearize", "custom_jvp"})
