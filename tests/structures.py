"""Steps that move elements, for chains of any length, and what compiling them makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir_numba.codegen.nest import emit
from traceir_numba.fusion.dataflow import Graph
from traceir_numba.loops import lower_clusters
from traceir_numba.pipeline.build_program import build_program

Step = Callable[[Any], Any]
ROW = np.ones(64, np.float32)
SQUARE = np.ones((8, 8), np.float32)
ORDER = np.array([3, 1, 2, 0, 5, 7, 6, 4])
PIXELS = np.ones((1, 1, 3, 3), np.float32)


def halves(x: Any) -> Any:
    """Two parts in the other order."""
    first, second = jnp.split(x, 2)
    return jnp.concatenate([second, first + second])


def around(x: Any) -> Any:
    """A sum over what lies beside each element of a padded array."""
    return x[1:-1, 1:-1] + x[2:, 1:-1] * x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]


def life(x: Any) -> Any:
    """Conway's rule by eight rolled arrays."""
    near = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    total = sum(jnp.roll(x, at, (0, 1)) for at in near)
    return jnp.where((total == 3) | ((total == 2) & (x == 1)), 1, 0).astype(x.dtype)


def convolved(x: Any) -> Any:
    """A window of weights."""
    found = lax.conv_general_dilated(x[None, None], PIXELS, (1, 1), "SAME")
    return found[0, 0]


def greatest(x: Any) -> Any:
    """The greatest element of each window."""
    least = np.float32(-np.inf)
    return lax.reduce_window(x, least, lax.max, (3, 3), (1, 1), "SAME")


def at_value(x: Any) -> Any:
    """A slice that begins where an element says."""
    return lax.dynamic_slice(x, (x[0, 0].astype("int32"), 0), (1, 8))


def updated(x: Any) -> Any:
    """A slice written where an element says."""
    at = x[0, 0].astype("int32")
    return lax.dynamic_update_slice(x, x[:2] + 1, (at, 0))


def looped(x: Any) -> Any:
    """A loop around rolled arrays."""

    def body(carry: Any) -> Any:
        return carry[0] + 1, jnp.roll(carry[1], 1) + carry[1]

    return lax.while_loop(lambda carry: carry[0] < 3, body, (0, x))[1]


def scanned(x: Any) -> Any:
    """A scan that stacks its rows."""
    return lax.scan(lambda c, row: (c + row, c * row), x[0], x)[1]


def chosen(x: Any) -> Any:
    """One of two programs."""
    return lax.cond(x[0, 0] > 0, lambda y: y + 1, lambda y: jnp.roll(y, 1), x)


ROWS: dict[str, Step] = {
    "slice": lambda x: x[1:],
    "slice, add": lambda x: x[1:] + x[:-1],
    "slice, concatenate": lambda x: jnp.concatenate([x[1:], x[:1]]),
    "roll": lambda x: jnp.roll(x, 1),
    "roll, add": lambda x: x + jnp.roll(x, 1),
    "roll, select": lambda x: jnp.where(jnp.roll(x, 1) > 0, x, jnp.roll(x, 2)),
    "pad": lambda x: jnp.pad(x, 1),
    "pad, add": lambda x: jnp.pad(x, 1)[1:-1] + x,
    "pad between": lambda x: lax.pad(x, np.float32(0), [(0, 1, 1)])[::2] + x,
    "difference": lambda x: jnp.pad(jnp.diff(x), (0, 1)) + x,
    "stack": lambda x: jnp.stack([x[::2], x[1::2]], 1).reshape(-1) + x,
    "split": halves,
    "repeat": lambda x: jnp.repeat(x[:32], 2) + x,
    "tile": lambda x: jnp.tile(x[:32], 2) + x,
    "rev, add": lambda x: x[::-1] + x,
    "set": lambda x: x.at[3].set(x[4]),
    "add of a sum": lambda x: x.at[3].add(x.sum()),
}
SQUARES: dict[str, Step] = {
    "transpose": lambda x: x.T,
    "transpose, add": lambda x: x.T + x,
    "reshape, transpose": lambda x: x.reshape(4, 16).T.reshape(8, 8),
    "reshape, add": lambda x: x.reshape(4, 16).T.reshape(8, 8) + x,
    "broadcast": lambda x: x + x[0],
    "roll twice": lambda x: x + jnp.roll(x, (1, -1), (0, 1)) - jnp.roll(x, 1, 0),
    "life": life,
    "pad, wrap": lambda x: around(jnp.pad(x, 1, mode="wrap")),
    "pad, edge": lambda x: around(jnp.pad(x, 1, mode="edge")),
    "pad, zero": lambda x: around(jnp.pad(x, 1)),
    "gather": lambda x: x[ORDER],
    "gather, add": lambda x: x[ORDER] + x,
    "gather, values": lambda x: jnp.take_along_axis(x, jnp.argsort(x, 0), 0) + x,
    "scatter": lambda x: x.at[ORDER].set(x * 2),
    "scatter-add": lambda x: x.at[ORDER].add(x) + x,
    "select_n": lambda x: jnp.where(x > 0, x, x.T),
    "cumsum": lambda x: jnp.cumsum(x, 0),
    "cumsum, roll": lambda x: jnp.cumsum(x, 1) + jnp.roll(x, 1),
    "reduce, broadcast": lambda x: x - x.sum(0),
    "softmax": lambda x: jnp.exp(x - x.max(1, keepdims=True)) / x.sum(1)[:, None],
    "outer, reduce": lambda x: (x[:, None, :] * x[None]).sum(2),
    "dynamic_slice": lambda x: x + at_value(x),
    "dynamic_update_slice": lambda x: updated(x) + x,
    "product": lambda x: x @ x,
    "sort": lambda x: jnp.sort(x, 0) + x,
    "convolution": convolved,
    "windows": greatest,
    "while": looped,
    "scan": scanned,
    "cond": chosen,
}
STEPS: dict[str, tuple[Step, np.ndarray]]
STEPS = {name: (f, ROW) for name, f in ROWS.items()}
STEPS |= {name: (f, SQUARE) for name, f in SQUARES.items()}
# Those that all transforms are tried on: ways part, and parts are put side by side.
PARTING = ("roll, add", "gather, add", "softmax", "select_n")


def steps(step: Step, n: int) -> Step:
    """A step so many times."""

    def run(x: Any) -> Any:
        for _ in range(n):
            x = step(x)
        return x

    return run


def each_shown(step: Step, n: int) -> Step:
    """The same, with something made of each step as a result."""

    def run(x: Any) -> Any:
        found = []
        for _ in range(n):
            x = step(x)
            found.append(jnp.sin(x))
        return found

    return run


FORMS: dict[str, Callable[[Step, int], Step]] = {
    "plain": steps,
    "each a result": each_shown,
    "vmap": lambda step, n: traceir.vmap(steps(step, n)),
    "jvp": lambda step, n: lambda x: traceir.jvp(steps(step, n), (x,), (x,)),
    "grad": lambda step, n: traceir.grad(lambda x: jnp.sum(steps(step, n)(x))),
    "in a loop": lambda step, n: (
        lambda x: lax.fori_loop(0, 3, lambda _, c: steps(step, n)(c), x)
    ),
}


@dataclass(slots=True)
class Made:
    """The effects of a compile: values looked at, nests, their nodes and text."""

    visits: int = 0
    nests: int = 0
    nodes: int = 0
    characters: int = 0

    def each(self, n: int) -> tuple[float, ...]:
        """For each of so many steps."""
        whole = self.visits, self.nests, self.nodes, self.characters
        return tuple(count / n for count in whole)


def made_by(program: Step, x: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> Made:
    """The effects of making nests and source of a program."""
    made = Made()
    operands = Graph.operands

    def counted(self: Graph, *given: Any) -> Any:
        made.visits += 1
        return operands(self, *given)

    def building(build: Callable[..., Any]) -> Callable[..., Any]:
        def built(*given: Any) -> Any:
            found = build(*given)
            made.nests += 1
            made.nodes += len(found.nest.nodes)
            return found

        return built

    closed = traceir.make_jaxpr(program)(x)
    with monkeypatch.context() as patch:
        patch.setattr(Graph, "operands", counted)
        patch.setattr(lower_clusters, "build", building(lower_clusters.build))
        whole = build_program(closed, "program")
    for step in whole.launches():
        made.characters += len(emit(step.nest, step.labels, "kernel").text)
    return made
