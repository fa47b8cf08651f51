"""Small steps of training and inference, written as libraries write them that people
use with JAX: states that are dicts, named tuples, dataclasses and registered classes,
moved by maps over trees.

Each function here takes a namespace, and gives a step, the state at first and the data
of each step.
"""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np


class Moments(NamedTuple):
    """The state of Adam: moments of the slopes, and their count."""

    count: Any
    mean: Any
    square: Any


class Clip(NamedTuple):
    """A part of a chain of updates that has no state."""


@dataclasses.dataclass
class Layer:
    """A dense layer."""

    weight: Any
    bias: Any
    name: str = dataclasses.field(metadata={"static": True})

    def __call__(self, x: Any) -> Any:
        return x @ self.weight + self.bias


@dataclasses.dataclass
class Network:
    """A tree of dataclasses."""

    layers: list[Layer]
    scale: Any

    def __call__(self, x: Any) -> Any:
        for layer in self.layers[:-1]:
            x = abs(layer(x))
        return self.layers[-1](x) * self.scale


@dataclasses.dataclass
class Training:
    """A state with its number of steps, its parameters and those of its optimizer."""

    step: Any
    params: Any
    moments: Any


class Module:
    """A class that tells its children by itself."""

    def __init__(self, w: Any, b: Any) -> None:
        self.w, self.b = w, b

    def tree_flatten(self) -> tuple[Any, None]:
        """Both arrays."""
        return (self.w, self.b), None

    @classmethod
    def tree_unflatten(cls, aux: None, children: Any) -> Module:
        """The module of two arrays."""
        return cls(*children)


def register(world: Any) -> None:
    """Make nodes of the classes above."""
    for data in (Layer, Network, Training):
        world.tree_util.register_dataclass(data)
    world.tree_util.register_pytree_node_class(Module)


class _Numbers:
    """Random numbers that both worlds get."""

    def __init__(self, world: Any) -> None:
        self.rng = np.random.default_rng(0)
        self.world = world

    def __call__(self, *shape: int) -> Any:
        numbers = self.rng.normal(size=shape).astype("float32") / 4
        return self.world.numpy.asarray(numbers)

    def layers(self, *widths: int) -> list[tuple[Any, Any]]:
        """Weights and biases."""
        return [(self(m, n), self(n)) for m, n in pairwise(widths)]


def _adam(world: Any, slopes: Any, moments: Moments) -> tuple[Any, Moments]:
    """Updates, and moments after a step."""
    xp, map_ = world.numpy, world.tree_util.tree_map
    count = moments.count + 1
    mean = map_(lambda m, g: 0.9 * m + 0.1 * g, moments.mean, slopes)
    square = map_(lambda v, g: 0.99 * v + 0.01 * g * g, moments.square, slopes)
    a, b = 1 - 0.9**count, 1 - 0.99**count
    found = map_(lambda m, v: -0.01 * (m / a) / (xp.sqrt(v / b) + 1e-8), mean, square)
    return found, Moments(count, mean, square)


def _moments(world: Any, params: Any) -> Moments:
    zeros = world.tree_util.tree_map(world.numpy.zeros_like, params)
    again = world.tree_util.tree_map(world.numpy.zeros_like, params)
    return Moments(world.numpy.asarray(0, "int32"), zeros, again)


def _added(world: Any, params: Any, updates: Any) -> Any:
    return world.tree_util.tree_map(lambda p, u: p + u, params, updates)


def regression(world: Any) -> Any:
    """Linear regression by gradient descent: two arrays."""
    numbers, xp = _Numbers(world), world.numpy

    def loss(params: Any, x: Any, y: Any) -> Any:
        return xp.mean((x @ params["w"] + params["b"] - y) ** 2)

    def step(params: Any, data: Any) -> Any:
        slopes = world.grad(loss)(params, *data)
        return world.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, slopes)

    params = {"w": numbers(8), "b": xp.zeros(())}
    return step, params, (numbers(32, 8), numbers(32))


def mlp(world: Any) -> Any:
    """A perceptron under a chain of clipping and Adam; states are named tuples."""
    numbers, xp = _Numbers(world), world.numpy
    leaves = world.tree_util.tree_leaves

    def loss(params: Any, x: Any, y: Any) -> Any:
        for w, b in params[:-1]:
            x = xp.tanh(x @ w + b)
        w, b = params[-1]
        return xp.mean((x @ w + b - y) ** 2)

    def step(state: Any, data: Any) -> Any:
        params, (clip, moments) = state
        slopes = world.grad(loss)(params, *data)
        norm = xp.sqrt(sum(xp.sum(g * g) for g in leaves(slopes)))
        factor = xp.minimum(1.0, 1.0 / norm)
        slopes = world.tree_util.tree_map(lambda g: g * factor, slopes)
        updates, moments = _adam(world, slopes, moments)
        return _added(world, params, updates), (clip, moments)

    params = numbers.layers(8, 16, 16, 1)
    state = params, (Clip(), _moments(world, params))
    return step, state, (numbers(16, 8), numbers(16, 1))


def training_state(world: Any) -> Any:
    """A classifier's nested dicts of parameters in a dataclass, with momentum."""
    numbers, xp = _Numbers(world), world.numpy
    map_ = world.tree_util.tree_map

    def loss(params: Any, x: Any, y: Any) -> Any:
        for k in range(3):
            layer = params["params"][f"Dense_{k}"]
            x = x @ layer["kernel"] + layer["bias"]
            x = xp.maximum(x, 0) if k < 2 else x
        shifted = x - world.lax.stop_gradient(xp.max(x, axis=-1, keepdims=True))
        logs = shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))
        return -xp.mean(xp.sum(logs * y, axis=-1))

    def step(state: Any, data: Any) -> Any:
        slopes = world.grad(loss)(state.params, *data)
        moments = map_(lambda m, g: 0.9 * m + g, state.moments, slopes)
        params = map_(lambda p, m: p - 0.05 * m, state.params, moments)
        return dataclasses.replace(
            state, step=state.step + 1, params=params, moments=moments
        )

    layers = numbers.layers(16, 32, 32, 10)
    inner = {f"Dense_{k}": {"kernel": w, "bias": b} for k, (w, b) in enumerate(layers)}
    params = {"params": inner}
    state = Training(xp.asarray(0), params, map_(xp.zeros_like, params))
    return step, state, (numbers(32, 16), abs(numbers(32, 10)))


def variational(world: Any) -> Any:
    """A step of variational inference: a guide of normals, draws by a key, Adam."""
    numbers, xp = _Numbers(world), world.numpy
    names = ("slope", "intercept", "noise")

    def bound(params: Any, key: Any, x: Any, y: Any) -> Any:
        found, drawn = 0.0, {}
        for name, own in zip(names, world.random.split(key, len(names)), strict=True):
            mean, scale = params[f"{name}_mean"], xp.exp(params[f"{name}_scale"])
            at = world.random.normal(own, mean.shape)
            drawn[name] = mean + scale * at
            found = found + xp.sum(xp.log(scale) - 0.5 * drawn[name] ** 2)
        off = (y - x @ drawn["slope"] - drawn["intercept"]) / xp.exp(drawn["noise"])
        return -found - xp.sum(-0.5 * off**2 - drawn["noise"])

    def step(state: Any, data: Any) -> Any:
        params, moments, key = state
        key, own = world.random.split(key)
        slopes = world.grad(bound)(params, own, *data)
        updates, moments = _adam(world, slopes, moments)
        return _added(world, params, updates), moments, key

    shapes = {"slope": (4,), "intercept": (), "noise": ()}
    params = {
        f"{name}_{part}": numbers(*shapes[name])
        for name in names
        for part in ("mean", "scale")
    }
    state = params, _moments(world, params), world.random.PRNGKey(0)
    return step, state, (numbers(32, 4), numbers(32))


def dataclass_tree(world: Any) -> Any:
    """A network that is a tree of dataclasses, by gradient descent."""
    numbers, xp = _Numbers(world), world.numpy

    def loss(network: Any, x: Any, y: Any) -> Any:
        return xp.mean((network(x) - y) ** 2)

    def step(network: Any, data: Any) -> Any:
        slopes = world.grad(loss)(network, *data)
        return world.tree_util.tree_map(lambda p, g: p - 0.01 * g, network, slopes)

    pairs = enumerate(numbers.layers(8, 8, 8, 8, 8, 1))
    layers = [Layer(w, b, f"dense{k}") for k, (w, b) in pairs]
    network = Network(layers, xp.asarray(1.0, "float32"))
    return step, network, (numbers(8, 8), numbers(8, 1))


def hundred_arrays(world: Any) -> Any:
    """A deep narrow network of a hundred arrays, by gradient descent."""
    numbers, xp = _Numbers(world), world.numpy

    def loss(params: Any, x: Any) -> Any:
        for block in params:
            y = xp.tanh(x @ block["w"] + block["b"])
            x = x + block["gain"] * y + block["shift"]
        return xp.mean(x * x)

    def step(params: Any, data: Any) -> Any:
        slopes = world.grad(loss)(params, data)
        return world.tree_util.tree_map(lambda p, g: p - 0.01 * g, params, slopes)

    params = [
        {"w": numbers(4, 4), "b": numbers(4), "gain": numbers(4), "shift": numbers(4)}
        for _ in range(25)
    ]
    return step, params, numbers(4, 4)


def moving_averages(world: Any) -> Any:
    """Moving averages of eighty parameters, and no other work."""
    numbers = _Numbers(world)

    def step(state: Any, data: Any) -> Any:
        return world.tree_util.tree_map(lambda a, p: 0.99 * a + 0.01 * p, state, data)

    params = {f"layer{k}": Module(numbers(8, 8), numbers(8)) for k in range(40)}
    return step, params, world.tree_util.tree_map(lambda p: p + 1, params)


def leapfrog(world: Any) -> Any:
    """A step of Hamiltonian Monte Carlo: ten leaps, and a proposal that may be kept."""
    numbers, xp, random = _Numbers(world), world.numpy, world.random

    def energy(at: Any, x: Any, y: Any) -> Any:
        off = y - x @ at["w"] - at["b"]
        return 0.5 * (xp.sum(off * off) + xp.sum(at["w"] ** 2) + at["b"] ** 2)

    def step(state: Any, data: Any) -> Any:
        key, at = state
        key, one, two, three = random.split(key, 4)
        map_, slopes = world.tree_util.tree_map, world.grad(energy)
        speed = {"w": random.normal(one, (4,)), "b": random.normal(two, ())}

        def kinetic(speed: Any) -> Any:
            return 0.5 * (xp.sum(speed["w"] ** 2) + speed["b"] ** 2)

        def leap(_: Any, moving: Any) -> Any:
            at, speed = moving
            speed = map_(lambda v, g: v - 0.01 * g, speed, slopes(at, *data))
            at = map_(lambda q, v: q + 0.02 * v, at, speed)
            return at, map_(lambda v, g: v - 0.01 * g, speed, slopes(at, *data))

        there, after = world.lax.fori_loop(0, 10, leap, (at, speed))
        gain = energy(at, *data) + kinetic(speed) - energy(there, *data)
        kept = xp.log(random.uniform(three)) < gain - kinetic(after)
        return key, map_(lambda a, b: xp.where(kept, a, b), there, at)

    state = world.random.PRNGKey(0), {"w": numbers(4), "b": numbers()}
    return step, state, (numbers(32, 4), numbers(32))


def recurrent(world: Any) -> Any:
    """A gated recurrent cell over sixteen inputs, by gradient descent."""
    numbers, xp = _Numbers(world), world.numpy

    def loss(params: Any, xs: Any, target: Any) -> Any:
        def cell(h: Any, x: Any) -> Any:
            both = xp.concatenate([h, x])
            gate = 1 / (1 + xp.exp(-(both @ params["gate"]["w"] + params["gate"]["b"])))
            new = xp.tanh(both @ params["new"]["w"] + params["new"]["b"])
            h = gate * h + (1 - gate) * new
            return h, h @ params["out"]

        _, found = world.lax.scan(cell, xp.zeros(8), xs)
        return xp.mean((found - target) ** 2)

    def step(params: Any, data: Any) -> Any:
        slopes = world.grad(loss)(params, *data)
        return world.tree_util.tree_map(lambda p, g: p - 0.1 * g, params, slopes)

    parts = {name: {"w": numbers(12, 8), "b": numbers(8)} for name in ("gate", "new")}
    return step, {**parts, "out": numbers(8)}, (numbers(16, 4), numbers(16))


def q_learning(world: Any) -> Any:
    """Q-learning with a target network and Adam, all of the state donated."""
    numbers, xp = _Numbers(world), world.numpy

    def value(params: Any, x: Any) -> Any:
        for layer in params[:-1]:
            x = xp.maximum(x @ layer.w + layer.b, 0)
        return x @ params[-1].w + params[-1].b

    def loss(params: Any, target: Any, data: Any) -> Any:
        best = xp.max(value(target, data["after"]), axis=-1)
        wanted = data["reward"] + 0.9 * best
        found = xp.sum(value(params, data["before"]) * data["action"], axis=-1)
        return xp.mean((found - world.lax.stop_gradient(wanted)) ** 2)

    def step(state: Any, data: Any) -> Any:
        slopes = world.grad(loss)(state["params"], state["target"], data)
        updates, moments = _adam(world, slopes, state["moments"])
        params = _added(world, state["params"], updates)
        target = world.tree_util.tree_map(
            lambda t, p: 0.99 * t + 0.01 * p, state["target"], params
        )
        return {"params": params, "target": target, "moments": moments}

    params = [Module(w, b) for w, b in numbers.layers(4, 16, 16, 3)]
    target = world.tree_util.tree_map(lambda p: p + 0, params)
    state = {"params": params, "target": target, "moments": _moments(world, params)}
    data = {"before": numbers(32, 4), "after": numbers(32, 4)}
    data |= {"action": abs(numbers(32, 3)), "reward": numbers(32)}
    return step, state, data


def filtering(world: Any) -> Any:
    """A Kalman filter of four states, and the likelihood so far."""
    numbers, xp = _Numbers(world), world.numpy

    def step(state: Any, data: Any) -> Any:
        mean, covariance, sum_ = state
        move, see, noise, seen = data
        mean, covariance = move @ mean, move @ covariance @ move.T + noise
        spread = see @ covariance @ see + 0.1
        gain = covariance @ see / spread
        off = seen - see @ mean
        covariance = covariance - xp.outer(gain, see @ covariance)
        sum_ = sum_ - 0.5 * (off * off / spread + xp.log(spread))
        return mean + gain * off, covariance, sum_

    state = numbers(4), xp.eye(4), xp.asarray(0.0)
    noise = xp.eye(4) * xp.asarray(0.1, "float32")
    return step, state, (xp.eye(4) * 0.9, numbers(4), noise, numbers())
