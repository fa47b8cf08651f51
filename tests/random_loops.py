"""Random programs with control flow in control flow, from a seed.

Their results are the same whatever the order of a sum: integers, and floating numbers
that are only moved, negated, compared and halved.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.ir.jaxpr import ClosedJaxpr

ROWS, COLUMNS = 3, 4
SHAPES = ((), (COLUMNS,), (ROWS, COLUMNS))
DTYPES = ("int32", "float32", "bool", "int8", "uint16")


class Draw:
    """Values by type, and expressions of them."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def aval(self) -> tuple[str, tuple[int, ...]]:
        """A dtype and a shape."""
        return self.random.choice(DTYPES), self.random.choice(SHAPES)

    def pick(self, env: list[Any], dtype: str, shape: tuple[int, ...]) -> Any:
        """A value of the environment, brought to a dtype and a shape."""
        same = [v for v in env if (v.dtype.name, v.shape) == (dtype, shape)]
        if same and self.random.random() < 0.7:
            return self.random.choice(same)
        value = self.random.choice(env)
        if value.ndim > len(shape):
            while value.ndim > len(shape):
                value = value[self.random.randrange(value.shape[0])]
        elif value.shape != shape:
            value = jnp.broadcast_to(value, shape)
        if value.dtype.name != dtype:
            if value.dtype == np.float32:  # what fits, whatever the order of a sum
                value = value.astype("int8")
            value = value != 0 if dtype == "bool" else value.astype(dtype)
        return value

    def step(self, env: list[Any]) -> Any:
        """A new value of one equation or so."""
        dtype, shape = self.aval()
        x, y = (self.pick(env, dtype, shape) for _ in range(2))
        kind = self.random.randrange(6)
        if dtype == "bool":
            return (x & y, x | y, ~x, x ^ y)[kind % 4]
        if kind == 0:
            return jnp.where(self.pick(env, "bool", shape), x, y)
        if kind == 1:
            return jnp.maximum(x, y)
        if kind == 2 and dtype != "float32" and shape:
            return jnp.sum(x * y, axis=0)
        if kind == 3 and dtype != "float32" and len(shape) == 2:
            square = jnp.dot(x.T, y)
            return jnp.dot(x, square) if self.random.random() < 0.5 else square[0]
        if kind == 4 and shape:
            return jnp.concatenate([x[1:], x[:1]])
        return -x if dtype == "float32" else x * 3 + y

    def body(self, env: list[Any], depth: int) -> list[Any]:
        """The environment with some more values."""
        env = list(env)
        for _ in range(self.random.randrange(1, 5)):
            if depth and self.random.random() < 0.4:
                env += self.flow(env, depth - 1)
            else:
                env.append(self.step(env))
        return env

    def flow(self, env: list[Any], depth: int) -> list[Any]:
        """The results of a loop or of a choice."""
        kind = self.random.choice(("while", "scan", "cond", "count"))
        types = [self.aval() for _ in range(self.random.randrange(1, 5))]
        start = tuple(self.pick(env, *t) for t in types)

        def again(values: Any, extra: list[Any]) -> Any:
            found = [*values, *self.body([*env, *values, *extra], depth)]
            if self.random.random() < 0.3:  # all is what there was before
                found = [*env, *values]
            return tuple(self.pick(found, *t) for t in types)

        if kind == "cond":
            index = self.pick(env, "int32", ())
            branches = [lambda *v: again(v, [])] * self.random.randrange(2, 4)
            return list(lax.switch(index, branches, *start))
        if kind == "count":
            end = self.pick(env, "int32", ()) % 4
            return list(
                lax.fori_loop(0, end, lambda k, values: again(values, [k]), start)
            )
        count = self.random.randrange(0, 4)
        if kind == "while":

            def test(state: Any) -> Any:
                k, *values = state
                return (k < count) & (k < 9 + self.pick([k, *values], "int32", ()) * 0)

            found: list[Any] = lax.while_loop(
                test,
                lambda s: (s[0] + 1, *again(s[1:], [s[0]])),
                (jnp.int32(0), *start),
            )[1:]
            return list(found)
        over = self.pick(env, self.aval()[0], (ROWS, COLUMNS))

        def row(values: Any, x: Any) -> Any:
            after = again(values, [x])
            return after, tuple(
                self.pick([*values, *after, x], *self.aval()) for _ in range(2)
            )

        carry, stacks = lax.scan(row, start, over, reverse=self.random.random() < 0.3)
        rows = [s for s in stacks if s.shape == (ROWS, COLUMNS)]
        return [*carry, *rows, *(s[0] for s in stacks if s.ndim > 0)]


def arguments(seed: int) -> list[np.ndarray]:
    """An array of each type."""
    rng = np.random.default_rng(seed)
    return [
        rng.integers(-4, 5, shape).astype(dtype) for dtype in DTYPES for shape in SHAPES
    ]


def program(seed: int, depth: int = 2) -> ClosedJaxpr:
    """A program of those arguments."""

    def fun(*args: Any) -> Any:
        draw = Draw(seed)
        env = draw.flow(draw.body(list(args), depth), depth)
        return tuple(env)

    closed: ClosedJaxpr = traceir.make_jaxpr(fun)(*arguments(seed))
    return closed
