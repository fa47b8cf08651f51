"""Drawn programs: a chain of calls, the transforms around it, and its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from against_jax.holes import Filler, calls
from against_jax.inputs import Input

HEAD = """import numpy as np
import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jax import lax

jax.config.update("jax_enable_x64", {wide})
"""
TOTAL = """def total(tree):
    return sum(jnp.sum(v * v).real for v in jax.tree.leaves(tree))
"""
# What is around a program: text that takes the function's name, by its rules of use.
PLAIN = ("jax.jit({f})", "jax.checkpoint({f})", "jax.jit(jax.jit({f}))")
DERIVATIVES = (
    "jax.grad(lambda *a: total({f}(*a)), argnums={n})",
    "jax.grad(lambda *a: total({f}(*a)), argnums={n})",
    "jax.value_and_grad(lambda *a: total({f}(*a)), argnums={n})",
    "jax.jit(jax.grad(lambda *a: total({f}(*a)), argnums={n}))",
    "jax.jacfwd({f}, argnums={n})",
    "jax.jacrev({f}, argnums={n})",
    "jax.hessian(lambda *a: total({f}(*a)), argnums={n})",
    "lambda *a: jax.jvp(lambda v: {f}(*a[:{n}], v, *a[{n} + 1:]), (a[{n}],), "
    "(jnp.ones_like(a[{n}]),))",
    "lambda *a: (lambda y, back: back(jax.tree.map(jnp.ones_like, y)))"
    "(*jax.vjp(lambda v: {f}(*a[:{n}], v, *a[{n} + 1:]), a[{n}]))",
    "lambda *a: jax.linearize(lambda v: {f}(*a[:{n}], v, *a[{n} + 1:]), a[{n}])"
    "[1](jnp.ones_like(a[{n}]))",
)
MAPPED = (
    "jax.vmap({f}, in_axes={axes})",
    "jax.vmap({f}, in_axes={axes})",
    "jax.jit(jax.vmap({f}, in_axes={axes}))",
    "jax.vmap({f}, in_axes={axes}, out_axes=-1)",
)
MAPPED_DERIVATIVES = (
    "jax.vmap(jax.grad(lambda *a: total({f}(*a)), argnums={n}), in_axes={axes})",
    "jax.vmap(jax.jacfwd({f}, argnums={n}), in_axes={axes})",
    "jax.jacrev(jax.vmap({f}, in_axes={axes}), argnums={n})",
)
LOOPS = (
    "lambda x, *r: lax.scan(lambda c, v: (c + 1, {f}(v, *r)), 0, x)",
    "lambda x, *r: lax.map(lambda v: {f}(v, *r), x)",
    "lambda *a: lax.cond(a[0] is not None, {f}, {f}, *a)",
    "lambda x, *r: lax.cond(jnp.sum(x) > 0, {f}, lambda y, *_: {f}(y, *r), x, *r)",
    "lambda x, *r: lax.fori_loop(0, 2, lambda i, c: {f}(c, *r), x)",
    "lambda x, *r: lax.while_loop(lambda c: c[0] < 2, "
    "lambda c: (c[0] + 1, {f}(c[1], *r)), (0, x))",
    "lambda x, *r: lax.scan(lambda c, _: ({f}(c, *r), c), x, None, length=2)",
    "lambda i, *a: lax.switch(jnp.asarray(i, int) % 2 if i.ndim == 0 else 0, "
    "[lambda *b: {f}(i, *b), lambda *b: {f}(i, *b)], *a)",
)
FILES: Mapping[str, int] = {
    "elementwise": 22,
    "reductions": 16,
    "shapes": 20,
    "indexing": 18,
    "algebra": 12,
    "lax": 16,
    "special": 12,
}


@dataclass(frozen=True)
class Program:
    """A program as data: its statements, the transform around it, its arguments."""

    lines: tuple[str, ...]  # the names y0, y1, ... are bound in order
    inputs: tuple[Input, ...]  # the names x0, x1, ...
    around: str = ""
    wide: bool = False
    source: str = ""  # the line of the table that the first call comes from

    @property
    def body(self) -> str:
        """The definitions of ``f`` and ``args``."""
        names = ", ".join(f"x{i}" for i in range(len(self.inputs)))
        inner = "g" if self.around else "f"
        texts = [TOTAL] if "total(" in self.around else []
        texts.append(f"def {inner}({names}):")
        texts += [f"    y{i} = {line}" for i, line in enumerate(self.lines)]
        texts.append(f"    return y{len(self.lines) - 1}\n")
        if self.around:
            texts.append(f"f = {self.around.replace('{f}', 'g')}")
        values = "".join(f"    {value.text},\n" for value in self.inputs)
        texts.append(f"args = (\n{values})" if values else "args = ()")
        return "\n".join(texts) + "\n"

    @property
    def text(self) -> str:
        """The whole program, to be pasted."""
        return f"{HEAD.format(wide=self.wide)}\n{self.body}print(f(*args))\n"


def draw(seed: int, number: int) -> Program:
    """Program `number` of a campaign; the same one whenever it is asked for."""
    random = Random(f"{seed}/{number}")
    wide = random.random() < 0.35
    mode = random.choices(
        ("none", "plain", "derivative", "mapped", "both", "loop"),
        (50, 5, 16, 14, 4, 11),
    )[0]
    lead = random.choice((2, 2, 3)) if mode in ("mapped", "both") else 0
    filler = Filler(random, wide, special=random.random() < 0.2, lead=lead)
    name = random.choices(list(FILES), list(FILES.values()))[0]
    source = random.choice(calls()[name])
    lines = [filler.fill(source)]
    while random.random() < 0.35 and len(lines) < 4:
        step = random.choice(calls()["steps"])
        lines.append(filler.fill(step, last=f"y{len(lines) - 1}"))
    around = _around(random, mode, filler)
    return Program(tuple(lines), tuple(filler.inputs), around, wide, source)


def _around(random: Random, mode: str, filler: Filler) -> str:
    inputs = filler.inputs
    floats = [i for i, value in enumerate(inputs) if _differentiable(value)]
    if mode != "none" and not inputs:
        return ""
    n = random.choice(floats) if floats else 0
    axes = tuple(0 if mapped else None for mapped in filler.mapped)
    match mode:
        case "plain":
            text = random.choice(PLAIN)
        case "derivative":
            text = random.choice(DERIVATIVES)
        case "mapped":
            text = random.choice(MAPPED)
        case "both":
            text = random.choice(MAPPED_DERIVATIVES)
        case "loop":
            text = random.choice(LOOPS)
        case _:
            return ""
    return text.replace("{n}", str(n)).replace("{axes}", repr(axes))


def _differentiable(value: Input) -> bool:
    return value.dtype.startswith(("float", "bfloat", "complex"))
