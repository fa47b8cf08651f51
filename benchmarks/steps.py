"""Small steps of training and inference: many small arrays, and little work in each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import numpy as np

import traceir
from benchmarks.measure import Call
from benchmarks.step_programs import (
    dataclass_tree,
    filtering,
    hundred_arrays,
    leapfrog,
    mlp,
    moving_averages,
    q_learning,
    recurrent,
    register,
    regression,
    training_state,
    variational,
)
from benchmarks.worlds import OWN

# Steps of one sample; their last state is waited for.
STEPS = 20
# A namespace to its step, the state at first and the data of each step.
Make = Callable[[Any], tuple[Callable[..., Any], Any, Any]]

# Names, and the arguments that are donated.
PROGRAMS: dict[str, tuple[Make, int | None]] = {
    "regression, 2 arrays": (regression, None),
    "perceptron, chain with Adam": (mlp, None),
    "classifier, state a dataclass": (training_state, None),
    "variational inference": (variational, None),
    "tree of dataclasses": (dataclass_tree, None),
    "a hundred arrays": (hundred_arrays, None),
    "moving averages of 80": (moving_averages, None),
    "Hamiltonian Monte Carlo": (leapfrog, None),
    "recurrent cell, 16 inputs": (recurrent, None),
    "Q-learning, state donated": (q_learning, 0),
    "Kalman filter": (filtering, None),
}


def _run(world: Any, compiled: Callable[..., Any], state: Any, data: Any) -> Any:
    for _ in range(STEPS):
        state = compiled(state, data)
    return world.block_until_ready(state)


def rows() -> Iterator[tuple[str, dict[str, Call]]]:
    """Steps, each from the state that the one before gave."""
    worlds = {OWN: (traceir, {"backend": "numba"}), "JAX": (jax, {})}
    for world, _ in worlds.values():
        register(world)
    for name, (make, donated) in PROGRAMS.items():
        calls: dict[str, Call] = {}
        for label, (world, options) in worlds.items():
            step, state, data = make(world)
            given = {} if donated is None else {"donate_argnums": donated}
            compiled = world.jit(step, **options, **given)
            calls[label] = _Loop(partial(_run, world, compiled, data=data), state)
        found = [
            world.tree_util.tree_leaves(calls[label]())
            for label, (world, _) in worlds.items()
        ]
        for a, b in zip(*found, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-3, err_msg=name)
        yield name, calls


class _Loop:
    """Some steps more, each time it is called."""

    def __init__(self, run: Callable[[Any], Any], state: Any) -> None:
        self.run, self.state = run, state

    def __call__(self) -> Any:
        self.state = self.run(self.state)
        return self.state
