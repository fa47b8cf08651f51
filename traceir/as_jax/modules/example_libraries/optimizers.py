"""Optimizers of trees of parameters, and schedules of step sizes.

An optimizer is three functions: `init(params)` gives a state, `update(step, grads,
state)` the next one, `params_of(state)` the parameters in a state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from traceir import numpy as jnp
from traceir.pytrees import flatten
from traceir.pytrees.registry import register_pytree_node

Schedule = Callable[[Any], Any]
StepSize = float | Schedule


class Optimizer(NamedTuple):
    """An optimizer: what makes a state, what steps, and what has the parameters."""

    init_fn: Callable[[Any], Any]
    update_fn: Callable[[Any, Any, Any], Any]
    params_fn: Callable[[Any], Any]


class OptimizerState:
    """The states of all parameters, packed: a tree of their leaves."""

    def __init__(self, packed_state: Any, tree_def: Any, subtree_defs: Any) -> None:
        self.packed_state = packed_state
        self.tree_def = tree_def
        self.subtree_defs = subtree_defs


register_pytree_node(
    OptimizerState,
    lambda s: ((s.packed_state,), (s.tree_def, s.subtree_defs)),
    lambda meta, parts: OptimizerState(parts[0], *meta),
)


def optimizer(opt_maker: Callable[..., Any]) -> Callable[..., Optimizer]:
    """An optimizer of trees, made of one of arrays.

    `opt_maker` returns the three functions for one array; a state may be a tree.

    >>> init, update, params_of = sgd(0.5)
    >>> state = update(0, {"w": 2.0}, init({"w": 1.0}))
    >>> params_of(state)["w"]
    0.0
    """

    @functools.wraps(opt_maker)
    def made(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, params_of = opt_maker(*args, **kwargs)

        def tree_init(params: Any) -> OptimizerState:
            leaves, tree = flatten.flatten(params)
            return _packed([init(x) for x in leaves], tree)

        def tree_update(step: Any, grads: Any, state: OptimizerState) -> OptimizerState:
            """A step of each array."""
            leaves, tree = flatten.flatten(grads)
            if tree != state.tree_def:
                raise TypeError(
                    f"gradients are a tree as the parameters: got {tree}, "
                    f"not {state.tree_def}"
                )
            old = _unpacked(state)
            new = [update(step, g, s) for g, s in zip(leaves, old, strict=True)]
            return _packed(new, tree)

        def tree_params(state: OptimizerState) -> Any:
            found = [params_of(s) for s in _unpacked(state)]
            return state.tree_def.unflatten(found)

        return Optimizer(tree_init, tree_update, tree_params)

    return made


def _packed(states: Sequence[Any], tree: Any) -> OptimizerState:
    parts = [flatten.flatten(s) for s in states]
    packed = tuple(tuple(leaves) for leaves, _ in parts)
    return OptimizerState(packed, tree, tuple(t for _, t in parts))


def _unpacked(state: OptimizerState) -> list[Any]:
    pairs = zip(state.subtree_defs, state.packed_state, strict=True)
    return [tree.unflatten(leaves) for tree, leaves in pairs]


def make_schedule(scalar_or_schedule: StepSize) -> Schedule:
    """A schedule: as it is, or the constant one of a number.

    >>> make_schedule(0.1)(3)
    0.1
    """
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if jnp.ndim(scalar_or_schedule):
        raise TypeError(f"a step size is a number: got {type(scalar_or_schedule)}")
    return constant(scalar_or_schedule)


def constant(step_size: float) -> Schedule:
    """Always the same."""
    return lambda step: step_size


def exponential_decay(step_size: float, decay_steps: Any, decay_rate: Any) -> Schedule:
    """Multiplied by a rate in so many steps."""
    return lambda step: step_size * decay_rate ** (step / decay_steps)


def inverse_time_decay(
    step_size: float, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """Divided by one and what grows by a rate in so many steps."""

    def schedule(step: Any) -> Any:
        passed = step / decay_steps
        return step_size / (
            1 + decay_rate * (jnp.floor(passed) if staircase else passed)
        )

    return schedule


def polynomial_decay(
    step_size: float, decay_steps: Any, final_step_size: float, power: float = 1.0
) -> Schedule:
    """From one size to another in so many steps."""

    def schedule(step: Any) -> Any:
        left = (1 - jnp.minimum(step, decay_steps) / decay_steps) ** power
        return left * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """The value between two boundaries."""
    ends, sizes = jnp.array(boundaries), jnp.array(values)
    if ends.ndim != 1 or sizes.shape != (ends.size + 1,):
        raise ValueError("there is one value more than there are boundaries")
    return lambda step: sizes[jnp.sum(step > ends)]


@optimizer
def sgd(step_size: StepSize) -> Any:
    """Gradient descent.

    >>> len(sgd(0.1))
    3
    """
    schedule = make_schedule(step_size)
    return (lambda x: x), (lambda i, g, x: x - schedule(i) * g), (lambda x: x)


@optimizer
def momentum(step_size: StepSize, mass: float) -> Any:
    """Gradient descent with a velocity."""
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - schedule(i) * velocity, velocity

    return (lambda x: (x, jnp.zeros_like(x))), update, (lambda state: state[0])


@optimizer
def nesterov(step_size: StepSize, mass: float) -> Any:
    """Gradient descent with a velocity, looked at ahead."""
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - schedule(i) * (mass * velocity + g), velocity

    return (lambda x: (x, jnp.zeros_like(x))), update, (lambda state: state[0])


@optimizer
def adagrad(step_size: StepSize, momentum: float = 0.9) -> Any:
    """Steps divided by the root of the sum of squared gradients."""
    schedule = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, jnp.zeros_like(x), jnp.zeros_like(x)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, m = state
        squares = squares + jnp.square(g)
        scale = jnp.where(squares > 0, 1.0 / jnp.sqrt(squares), 0.0)
        m = (1.0 - momentum) * (g * scale) + momentum * m
        return x - schedule(i) * m, squares, m

    return init, update, (lambda state: state[0])


@optimizer
def rmsprop(step_size: StepSize, gamma: float = 0.9, eps: float = 1e-8) -> Any:
    """Steps divided by the root of the mean of squared gradients."""
    schedule = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean = state
        mean = mean * gamma + jnp.square(g) * (1.0 - gamma)
        return x - schedule(i) * g / jnp.sqrt(mean + eps), mean

    return (lambda x: (x, jnp.zeros_like(x))), update, (lambda state: state[0])


@optimizer
def rmsprop_momentum(
    step_size: StepSize, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> Any:
    """As `rmsprop`, with a velocity."""
    schedule = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, jnp.zeros_like(x), jnp.zeros_like(x)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, velocity = state
        mean = mean * gamma + jnp.square(g) * (1.0 - gamma)
        velocity = momentum * velocity + schedule(i) * g / jnp.sqrt(mean + eps)
        return x - velocity, mean, velocity

    return init, update, (lambda state: state[0])


@optimizer
def adam(
    step_size: StepSize, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> Any:
    """Steps by the means of gradients and of squares, both freed of their bias."""
    schedule = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, jnp.zeros_like(x), jnp.zeros_like(x)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * jnp.square(g) + b2 * v
        mean = m / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        square = v / (1 - jnp.asarray(b2, m.dtype) ** (i + 1))
        return x - schedule(i) * mean / (jnp.sqrt(square) + eps), m, v

    return init, update, (lambda state: state[0])


@optimizer
def adamax(
    step_size: StepSize, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> Any:
    """As `adam`, by the greatest gradient in place of the mean of squares."""
    schedule = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x, jnp.zeros_like(x), jnp.zeros_like(x)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = jnp.maximum(b2 * v, jnp.abs(g))
        size = schedule(i) / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        return x - size * m / (v + eps), m, v

    return init, update, (lambda state: state[0])


@optimizer
def sm3(step_size: StepSize, momentum: float = 0.9) -> Any:
    """As `adagrad`, of whose sums the greatest along each dimension are kept."""
    schedule = make_schedule(step_size)

    def init(x: Any) -> Any:
        value = jnp.asarray(x)
        return x, jnp.zeros_like(x), [jnp.zeros(n, value.dtype) for n in value.shape]

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, sums = state
        spread = [_along(v, k, g.ndim) for k, v in enumerate(sums)]
        squares = functools.reduce(jnp.minimum, spread) + jnp.square(g)
        scale = jnp.where(squares > 0, 1.0 / jnp.sqrt(squares), 0.0)
        m = (1.0 - momentum) * (g * scale) + momentum * m
        others = [[n for n in range(g.ndim) if n != k] for k in range(g.ndim)]
        return x - schedule(i) * m, m, [squares.max(tuple(axes)) for axes in others]

    return init, update, (lambda state: state[0])


def _along(vector: Any, axis: int, rank: int) -> Any:
    shape = [1] * rank
    shape[axis] = -1
    return jnp.reshape(vector, shape)


def l2_norm(tree: Any) -> Any:
    """The root of the sum of the squares of all elements.

    >>> l2_norm([3.0, 4.0])
    Array(5., dtype=float32, weak_type=True)
    """
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in flatten.leaves(tree)))


def clip_grads(grad_tree: Any, max_norm: float) -> Any:
    """Gradients whose norm is at most `max_norm`: smaller ones are as they are.

    >>> clip_grads([3.0, 4.0], 1.0)[0]
    Array(0.6, dtype=float32, weak_type=True)
    """
    norm = l2_norm(grad_tree)
    return flatten.map_(
        lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree
    )
