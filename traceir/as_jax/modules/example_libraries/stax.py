"""Layers as pairs of functions: one makes parameters, one applies them.

`init(rng, input_shape)` gives the result's shape and parameters;
`apply(params, inputs)` the result. A shape has -1 for the extent of batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from traceir import nn, random
from traceir import numpy as jnp
from traceir.nn.initializers import glorot_normal, normal

Layer = tuple[Callable[..., Any], Callable[..., Any]]
Shape = Any


def Dense(out_dim: int, W_init: Any = None, b_init: Any = None) -> Layer:
    """A matrix and a bias.

    >>> init, apply = Dense(3)
    >>> shape, params = init(random.PRNGKey(0), (-1, 2))
    >>> shape, apply(params, jnp.ones((4, 2))).shape
    ((-1, 3), (4, 3))
    """
    make_weights = glorot_normal() if W_init is None else W_init
    make_bias = normal() if b_init is None else b_init

    def init(rng: Any, input_shape: Shape) -> Any:
        first, second = random.split(rng)
        weights = make_weights(first, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (weights, make_bias(second, (out_dim,)))

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        weights, bias = params
        return jnp.dot(inputs, weights) + bias

    return init, apply


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """A function of each element.

    >>> elementwise(jnp.tanh)[1]((), 0.0)
    Array(0., dtype=float32, weak_type=True)
    """

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return fun(inputs, **fun_kwargs)

    return _same_shape, apply


def _same_shape(rng: Any, input_shape: Shape) -> Any:
    return input_shape, ()


Tanh = elementwise(jnp.tanh)
Relu = elementwise(nn.relu)
Exp = elementwise(jnp.exp)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Sigmoid = elementwise(nn.sigmoid)
Elu = elementwise(nn.elu)
LeakyRelu = elementwise(nn.leaky_relu)
Selu = elementwise(nn.selu)
Gelu = elementwise(nn.gelu)
Identity: Layer = (_same_shape, lambda params, inputs, **kwargs: inputs)


def _flatten() -> Layer:
    def init(rng: Any, input_shape: Shape) -> Any:
        extent = 1
        for n in input_shape[1:]:
            extent *= n
        return (input_shape[0], extent), ()

    return init, lambda params, x, **kwargs: jnp.reshape(x, (x.shape[0], -1))


Flatten = _flatten()


def FanOut(num: int) -> Layer:
    """The input so many times."""

    def init(rng: Any, input_shape: Shape) -> Any:
        return [input_shape] * num, ()

    return init, lambda params, inputs, **kwargs: [inputs] * num


def _fan_in_sum() -> Layer:
    def init(rng: Any, input_shape: Shape) -> Any:
        return input_shape[0], ()

    return init, lambda params, inputs, **kwargs: sum(inputs)


FanInSum = _fan_in_sum()


def FanInConcat(axis: int = -1) -> Layer:
    """The inputs joined along a dimension."""

    def init(rng: Any, input_shape: Shape) -> Any:
        shape = list(input_shape[0])
        shape[axis] = sum(one[axis] for one in input_shape)
        return tuple(shape), ()

    return init, lambda params, xs, **kwargs: jnp.concatenate(xs, axis)


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Elements kept with a probability of `rate`, and made so much larger.

    Raises ValueError in the mode "train" without a key, which `rng=` gives.
    """

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError("Dropout needs a key: call apply(params, inputs, rng=key)")
        if mode != "train":
            return inputs
        keep = random.bernoulli(rng, rate, inputs.shape)
        return jnp.where(keep, inputs / rate, 0)

    return _same_shape, apply


def serial(*layers: Layer) -> Layer:
    """Layers one after the other.

    >>> init, apply = serial(Dense(3), Relu)
    >>> init(random.PRNGKey(0), (-1, 2))[0]
    (-1, 3)
    """
    inits, applies = [one[0] for one in layers], [one[1] for one in layers]

    def init(rng: Any, input_shape: Shape) -> Any:
        params = []
        for make in inits:
            rng, own = random.split(rng)
            input_shape, made = make(own, input_shape)
            params.append(made)
        return input_shape, params

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(layers))
        for run, own, key in zip(applies, params, keys, strict=True):
            inputs = run(own, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def parallel(*layers: Layer) -> Layer:
    """Layers beside one another, each with an input of its own."""
    inits, applies = [one[0] for one in layers], [one[1] for one in layers]

    def init(rng: Any, input_shape: Shape) -> Any:
        keys = random.split(rng, len(layers))
        made = [f(k, s) for f, k, s in zip(inits, keys, input_shape, strict=True)]
        return [shape for shape, _ in made], tuple(params for _, params in made)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(layers))
        each = zip(applies, params, inputs, keys, strict=True)
        return [run(own, x, rng=key, **kwargs) for run, own, x, key in each]

    return init, apply


def _keys(rng: Any, count: int) -> Sequence[Any]:
    return [None] * count if rng is None else list(random.split(rng, count))


def shape_dependent(make_layer: Callable[[Shape], Layer]) -> Layer:
    """A layer that is made for the shape of its input."""

    def init(rng: Any, input_shape: Shape) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init, apply
