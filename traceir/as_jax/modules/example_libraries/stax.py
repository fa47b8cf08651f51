"""Layers as pairs of functions: one makes parameters, one applies them.

`init(rng, input_shape)` gives the result's shape and parameters;
`apply(params, inputs)` the result. A shape has -1 for the extent of batches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from traceir import lax, nn, random
from traceir import numpy as jnp
from traceir.jit import ShapeDtypeStruct
from traceir.jit.make_jaxpr import eval_shape
from traceir.nn.initializers import glorot_normal, normal, ones, zeros

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


def GeneralConv(
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = normal(1e-6),  # noqa: B008  # as of any default, there is one
) -> Layer:
    """A convolution and a bias for each channel.

    `dimension_numbers` are three texts as of `lax.conv_general_dilated`.

    >>> init, apply = Conv(4, (3, 3), padding="SAME")
    >>> shape, params = init(random.PRNGKey(0), (-1, 8, 8, 3))
    >>> shape, apply(params, jnp.ones((2, 8, 8, 3))).shape
    ((-1, 8, 8, 4), (2, 8, 8, 4))
    """
    steps = tuple(strides or (1,) * len(filter_shape))

    def convolve(x: Any, kernel: Any) -> Any:
        return lax.conv_general_dilated(
            x, kernel, steps, padding, dimension_numbers=dimension_numbers
        )

    made = W_init, b_init
    return _convolution(convolve, dimension_numbers, out_chan, filter_shape, *made)


def GeneralConvTranspose(
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Shape,
    strides: Shape | None = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = normal(1e-6),  # noqa: B008  # as of any default, there is one
) -> Layer:
    """The transpose of a convolution, and a bias for each channel.

    >>> init, apply = ConvTranspose(4, (3, 3), (2, 2))
    >>> init(random.PRNGKey(0), (-1, 5, 5, 3))[0]
    (-1, 11, 11, 4)
    """
    steps = tuple(strides or (1,) * len(filter_shape))

    def convolve(x: Any, kernel: Any) -> Any:
        return lax.conv_transpose(
            x, kernel, steps, padding, dimension_numbers=dimension_numbers
        )

    made = W_init, b_init
    return _convolution(convolve, dimension_numbers, out_chan, filter_shape, *made)


def _convolution(
    convolve: Callable[[Any, Any], Any],
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Shape,
    W_init: Any,
    b_init: Any,
) -> Layer:
    """The layer of a function of inputs and a kernel."""
    lhs, rhs, out = dimension_numbers
    make = W_init or glorot_normal(rhs.index("I"), rhs.index("O"))

    def init(rng: Any, input_shape: Shape) -> Any:
        sizes = iter(filter_shape)
        extents = {"O": out_chan, "I": input_shape[lhs.index("C")]}
        kernel = tuple(extents[c] if c in extents else next(sizes) for c in rhs)
        first, second = random.split(rng)
        weights = make(first, kernel)
        bias = b_init(second, tuple(out_chan if c == "C" else 1 for c in out))
        shape = _shape(lambda x: convolve(x, weights), input_shape)
        batch, own = input_shape[lhs.index("N")], zip(out, shape, strict=True)
        return tuple(batch if c == "N" else n for c, n in own), (weights, bias)

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        weights, bias = params
        return convolve(inputs, weights) + bias

    return init, apply


def _shape(fun: Callable[[Any], Any], shape: Shape) -> Shape:
    """The shape of a result, by that of the operand: batches count as of one."""
    known = tuple(1 if n == -1 else n for n in shape)
    return eval_shape(fun, ShapeDtypeStruct(known, "float32")).shape


Conv1D = partial(GeneralConv, ("NHC", "HIO", "NHC"))
Conv = partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: int | Sequence[int] = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Any = zeros,
    gamma_init: Any = ones,
) -> Layer:
    """Elements less their mean over axes, divided by their deviation there.

    What is at the other axes is multiplied by a parameter each and added to another,
    if `scale` and `center` say so.

    >>> init, apply = BatchNorm(0)
    >>> shape, params = init(random.PRNGKey(0), (-1, 2))
    >>> apply(params, jnp.array([[1.0, 4.0], [3.0, 8.0]])).round(3)
    Array([[-1., -1.],
           [ 1.,  1.]], dtype=float32)
    """
    axes = (axis,) if isinstance(axis, int) else tuple(axis)

    def init(rng: Any, input_shape: Shape) -> Any:
        shape = tuple(n for k, n in enumerate(input_shape) if k not in axes)
        first, second = random.split(rng)
        beta = beta_init(first, shape) if center else ()
        return input_shape, (beta, gamma_init(second, shape) if scale else ())

    def apply(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        wide = tuple(None if k in axes else slice(None) for k in range(jnp.ndim(x)))
        found = nn.standardize(x, axes, epsilon=epsilon)
        found = gamma[wide] * found if scale else found
        return found + beta[wide] if center else found

    return init, apply


def _pool(
    reducer: Callable[[Any, Any], Any],
    first: float,
    window_shape: Shape,
    strides: Shape | None,
    padding: str,
    spec: str | None,
    mean: bool = False,
) -> Layer:
    """The layer that reduces windows; `spec` names the dimensions, by default N and C
    are the first and the last."""
    count = len(window_shape)
    outside = (0, count + 1) if spec is None else (spec.index("N"), spec.index("C"))
    window, steps = list(window_shape), list(strides or (1,) * count)
    for k in sorted(outside):
        window.insert(k, 1)
        steps.insert(k, 1)

    def reduced(x: Any) -> Any:
        return lax.reduce_window(
            x, first, reducer, tuple(window), tuple(steps), padding
        )

    def init(rng: Any, input_shape: Shape) -> Any:
        batch = outside[0]
        shape = list(_shape(reduced, input_shape))
        shape[batch] = input_shape[batch]
        return tuple(shape), ()

    def apply(params: Any, x: Any, **kwargs: Any) -> Any:
        found = reduced(x)
        return found / reduced(jnp.ones_like(x)) if mean else found

    return init, apply


def MaxPool(
    window_shape: Shape,
    strides: Shape | None = None,
    padding: str = "VALID",
    spec: str | None = None,
) -> Layer:
    """The greatest elements of windows.

    >>> MaxPool((2, 2), (2, 2))[0](None, (-1, 6, 6, 3))[0]
    (-1, 3, 3, 3)
    """
    return _pool(lax.max, -jnp.inf, window_shape, strides, padding, spec)


def SumPool(
    window_shape: Shape,
    strides: Shape | None = None,
    padding: str = "VALID",
    spec: str | None = None,
) -> Layer:
    """The sums of windows."""
    return _pool(lax.add, 0.0, window_shape, strides, padding, spec)


def AvgPool(
    window_shape: Shape,
    strides: Shape | None = None,
    padding: str = "VALID",
    spec: str | None = None,
) -> Layer:
    """The means of windows, of what is inside of the array."""
    return _pool(lax.add, 0.0, window_shape, strides, padding, spec, mean=True)


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
