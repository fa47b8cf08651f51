"""The examples of the docs, beside the same text with JAX's names in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import numpy as np

import traceir
from benchmarks.measure import Call
from benchmarks.worlds import OWN, waited

FOLDER = Path(__file__).parents[1] / "docs" / "examples"
TRACED = (
    "logistic",
    "digits",
    "gaussian_process",
    "black_scholes",
    "n_body",
    "mcmc",
    "mandelbrot",
)
# A chain that is about to take a step, and an orbit that is about to leave, may do so
# or not by the last bit of a number.
NEAR = {"mcmc": 0.98, "mandelbrot": 0.98}


def example(name: str, library: str) -> ModuleType:
    """An example, written for a library."""
    path = FOLDER / f"{name}.py"
    source = re.sub(r"\btraceir\b", library, path.read_text())
    module = ModuleType(f"{name} for {library}")
    exec(compile(source, str(path), "exec"), vars(module))
    return module


def heat_in_jax(plate: Any) -> Any:
    """The work of `heat`, with an update that makes a new array."""
    for _ in range(20):
        inner = plate[1:-1, 1:-1]
        around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
        plate = plate.at[1:-1, 1:-1].add(0.2 * (around - 4 * inner))
    return plate


def rows() -> Iterator[tuple[str, dict[str, Call]]]:
    """Problems of the size that the pages show."""
    for name in TRACED:
        yield name.replace("_", " "), _calls(name)
    heat = example("heat", "traceir")
    (plate,) = heat.problem()
    jax.config.update("jax_enable_x64", True)  # what NumPy computes in
    other = jax.jit(heat_in_jax)
    np.testing.assert_allclose(heat.solve(plate), other(plate), rtol=1e-12)
    yield (
        "heat",
        {
            OWN: lambda: heat.solve(plate),
            "JAX": lambda: np.asarray(other(plate)),
            "NumPy": lambda: heat.solve.__wrapped__(plate),
        },
    )


def _calls(name: str) -> dict[str, Call]:
    """Both ways to solve an example's problem, checked to agree."""
    ours, theirs = example(name, "traceir"), example(name, "jax")
    mine = traceir.tree.map(traceir.numpy.asarray, ours.problem())
    others = jax.tree.map(jax.numpy.asarray, theirs.problem())
    solve = waited(theirs.solve)
    pairs = zip(
        traceir.tree.leaves(ours.solve(*mine)),
        jax.tree.leaves(solve(*others)),
        strict=True,
    )
    for a, b in pairs:
        near = np.isclose(a, b, rtol=1e-2, atol=1e-3).mean()
        if near < NEAR.get(name, 1.0):
            raise ValueError(f"{name}: {near:.1%} as JAX has it")
    return {OWN: lambda: ours.solve(*mine), "JAX": lambda: solve(*others)}
