"""Random programs that read and write at places that are values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from traceir import rules
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, sort_params

INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
DTYPES = ["bool", *INTEGERS, "float32", "float64"]
INDICES = ["int8", "int32", "int64", "uint8", "uint32", "uint64"]
MODES = ("CLIP", "FILL_OR_DROP", "PROMISE_IN_BOUNDS")
SCATTERS = ("", "-add", "-sub", "-mul", "-min", "-max")

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Case:
    """A program and its arguments."""

    closed: ClosedJaxpr
    arguments: tuple[np.ndarray, ...]


@dataclass
class Program:
    """A program on the way."""

    arguments: list[np.ndarray] = field(default_factory=list)
    inputs: list[Var] = field(default_factory=list)
    eqns: list[Eqn] = field(default_factory=list)

    def input(self, array: np.ndarray) -> Var:
        """A further argument."""
        self.arguments.append(array)
        self.inputs.append(Var(ShapedArray(array.shape, array.dtype)))
        return self.inputs[-1]

    def apply(self, primitive: str, *xs: Atom, shape: Shape, **params: Hashable) -> Var:
        """A primitive's result, of the first operand's dtype."""
        out = Var(ShapedArray(shape, xs[0].aval.dtype))
        whole = {**rules.default().prims[primitive].defaults, **params}
        self.eqns.append(Eqn(primitive, xs, (out,), sort_params(whole)))
        return out

    def turned(self, x: Var) -> Var:
        """Something elementwise."""
        primitive = "not" if x.aval.dtype.kind == "b" else "neg"
        return self.apply(primitive, x, shape=x.aval.shape)

    def case(self, *results: Var) -> Case:
        """The whole program."""
        jaxpr = Jaxpr((), tuple(self.inputs), tuple(self.eqns), results)
        return Case(ClosedJaxpr(jaxpr), tuple(self.arguments))


@dataclass(frozen=True)
class Numbers:
    """The dimensions' roles, and all shapes."""

    operand: Shape
    sizes: Shape
    indices: Shape
    windows: Shape  # of the result or the updates
    single: Shape
    names: Shape
    batched: Shape
    along: Shape
    result: Shape

    @property
    def param(self) -> tuple[Shape, ...]:
        """As the primitives have them."""
        return self.windows, self.single, self.names, self.batched, self.along


def numbers(rng: np.random.Generator) -> Numbers:
    """Any numbers of dimensions that are right together."""
    rank = int(rng.integers(1, 4))
    operand = tuple(int(n) for n in rng.integers(1, 5, rank))
    rows = tuple(int(n) for n in rng.integers(0 if rng.random() < 0.1 else 1, 4, 2))
    rows = rows[: int(rng.integers(0, 3))]
    order = [int(d) for d in rng.permutation(rank)]
    pairs = int(rng.integers(0, min(rank, len(rows)) + 1)) if rng.random() < 0.3 else 0
    batched = tuple(sorted(order[:pairs]))
    along = tuple(int(d) for d in rng.permutation(len(rows))[:pairs])
    extents = {d: rows[a] for d, a in zip(batched, along, strict=True)}
    operand = tuple(max(1, extents.get(d, n)) for d, n in enumerate(operand))
    rows = tuple(
        operand[batched[along.index(k)]] if k in along else n
        for k, n in enumerate(rows)
    )
    names = tuple(order[pairs : pairs + int(rng.integers(0, rank - pairs + 1))])
    sizes = [int(rng.integers(0 if rng.random() < 0.05 else 1, n + 1)) for n in operand]
    single = []
    for d in range(rank):
        if d in batched:
            sizes[d] = 1
        elif rng.random() < 0.4:
            sizes[d] = 1
            single.append(d)
    kept = [sizes[d] for d in range(rank) if d not in batched and d not in single]
    whole = len(rows) + len(kept)
    windows = tuple(sorted(int(d) for d in rng.permutation(whole)[: len(kept)]))
    inner, outer = iter(kept), iter(rows)
    result = tuple(next(inner) if d in windows else next(outer) for d in range(whole))
    indices = (*rows, len(names))
    return Numbers(
        *(operand, tuple(sizes), indices, windows),
        *(tuple(single), names, batched, along, result),
    )


def array(rng: np.random.Generator, dtype: str, shape: Shape) -> np.ndarray:
    """Numbers of a dtype, small ones that may be negative."""
    drawn = rng.integers(-9, 10, shape)
    if dtype == "bool":
        return np.asarray(drawn > 0)
    scale = 8 if np.dtype(dtype).kind == "f" else 1
    return np.asarray(drawn / scale if scale > 1 else drawn).astype(dtype)


def places(rng: np.random.Generator, shape: Shape) -> np.ndarray:
    """Indices, some of them outside of everything."""
    dtype = np.dtype(str(rng.choice(INDICES)))
    found = rng.integers(-2, 6, shape).astype(dtype)
    ends = np.iinfo(dtype)
    far = rng.choice(np.array([ends.min, ends.max], dtype), shape)
    return np.asarray(np.where(rng.random(shape) < 0.1, far, found), dtype)


def gather(rng: np.random.Generator) -> Case:
    """A gather between elementwise operations."""
    n, dtype, mode = numbers(rng), str(rng.choice(DTYPES)), str(rng.choice(MODES))
    program = Program()
    x = program.input(array(rng, dtype, n.operand))
    indices = program.input(places(rng, n.indices))
    fill = {"b": True, "f": np.nan}.get(np.dtype(dtype).kind, 7)
    found = program.apply(
        "gather",
        x if rng.random() < 0.5 else program.turned(x),
        indices,
        shape=n.result,
        dimension_numbers=n.param,
        slice_sizes=n.sizes,
        mode=f"GatherScatterMode.{mode}",
        fill_value=fill if mode == MODES[1] else None,
    )
    return program.case(program.turned(found))


def scatter(rng: np.random.Generator) -> Case:
    """A scatter of any kind into an argument, or into what nobody else reads."""
    n, name = numbers(rng), str(rng.choice(SCATTERS))
    dtype = str(rng.choice(DTYPES[name in SCATTERS[1:4] :]))
    program = Program()
    x = program.input(array(rng, dtype, n.operand))
    indices = program.input(places(rng, n.indices))
    updates = program.turned(program.input(array(rng, dtype, n.result)))
    found = program.apply(
        f"scatter{name}",
        x if rng.random() < 0.5 else program.turned(x),
        indices,
        updates,
        shape=n.operand,
        dimension_numbers=n.param,
        mode=f"GatherScatterMode.{rng.choice(MODES)}",
    )
    return program.case(found, program.turned(found))


def slices(rng: np.random.Generator) -> Case:
    """A slice that is changed and written back, at places that may be others."""
    dtype, rank = str(rng.choice(DTYPES[1:])), int(rng.integers(0, 4))
    shape = tuple(int(k) for k in rng.integers(1, 5, rank))
    sizes = tuple(int(rng.integers(0, k + 1)) for k in shape)
    program = Program()
    x = program.turned(program.input(array(rng, dtype, shape)))
    starts = places(rng, (rank,))
    used = [program.input(np.asarray(s, starts.dtype)) for s in starts]
    turned = [used[k] for k in rng.permutation(rank)]
    found = program.apply("dynamic_slice", x, *used, shape=sizes, slice_sizes=sizes)
    one = Literal(np.ones((), dtype)[()], ShapedArray((), np.dtype(dtype)))
    more = program.apply("add", found, one, shape=sizes)
    put = program.apply("dynamic_update_slice", x, more, *turned, shape=shape)
    return program.case(put, found)
