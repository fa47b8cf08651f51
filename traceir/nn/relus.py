"""Piecewise activations, such as `relu`. Serves: function.composite, custom_jvp.*

`relu` and `relu6` have the derivative 0 where they bend, as in `jax.nn`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traceir import lax
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import Operand, as_array, operand
from traceir.numpy.elementwise.arithmetic import add, divide, maximum, minimum, multiply
from traceir.numpy.elementwise.composites import clip, power, where
from traceir.numpy.elementwise.exponential import expm1
from traceir.numpy.elementwise.logic import greater, greater_equal, less, less_equal
from traceir.transforms.custom.custom_jvp import custom_jvp


def _ramp(function: Callable[..., Any], inside: Callable[[Array], Array]) -> custom_jvp:
    """The function, with the slope 1 inside and 0 elsewhere."""
    ramp = custom_jvp(function)

    def slope(tangent: Array, out: Array, x: Array) -> Array:
        return lax.select(inside(x), tangent, lax.full_like(tangent, 0))

    ramp.defjvps(slope)
    return ramp


def relu(x: Operand) -> Array:
    """Elements that are positive, else 0; the derivative at 0 is 0.

    >>> import traceir.numpy as jnp
    >>> relu(jnp.array([-1.0, 0.0, 2.0]))
    Array([0., 0., 2.], dtype=float32)
    """
    result: Array = _relu(as_array(operand("relu", x)))
    return result


def relu6(x: Operand) -> Array:
    """Elements kept between 0 and 6; the derivative at either is 0.

    >>> import traceir.numpy as jnp
    >>> relu6(jnp.array([-1.0, 2.0, 7.0]))
    Array([0., 2., 6.], dtype=float32)
    """
    result: Array = _relu6(as_array(operand("relu6", x)))
    return result


def _named(name: str, function: Callable[[Operand], Array]) -> Callable[..., Any]:
    function.__name__ = name
    return composite(function)


_relu = _ramp(
    _named("relu", lambda x: maximum(x, 0)),
    lambda x: greater(x, 0),
)
_relu6 = _ramp(
    _named("relu6", lambda x: minimum(maximum(x, 0), 6.0)),
    lambda x: lax.bitwise_and(greater(x, 0), less(x, 6)),
)


@composite
def leaky_relu(x: Operand, negative_slope: Operand = 1e-2) -> Array:
    """Elements from 0 on, and those below times `negative_slope`.

    >>> import traceir.numpy as jnp
    >>> leaky_relu(jnp.array([-100.0, 2.0]))
    Array([-1.,  2.], dtype=float32)
    """
    value = operand("leaky_relu", x)
    return where(greater_equal(value, 0), value, multiply(negative_slope, value))


@composite
def hard_tanh(x: Operand) -> Array:
    """Elements kept between -1 and 1.

    >>> import traceir.numpy as jnp
    >>> hard_tanh(jnp.array([-3.0, 0.5, 2.0]))
    Array([-1. ,  0.5,  1. ], dtype=float32)
    """
    value = operand("hard_tanh", x)
    return where(greater(value, 1), 1, where(less(value, -1), -1, value))


@composite
def hard_sigmoid(x: Operand) -> Array:
    """`relu6(x + 3) / 6`: 0 up to -3, 1 from 3 on, straight between.

    >>> import traceir.numpy as jnp
    >>> hard_sigmoid(jnp.array([-4.0, 0.0, 4.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return relu6(add(x, 3.0)) / 6.0


@composite
def hard_silu(x: Operand) -> Array:
    """`x * hard_sigmoid(x)`; also called `hard_swish`.

    >>> import traceir.numpy as jnp
    >>> hard_silu(jnp.array([-4.0, 2.0, 4.0]))
    Array([-0.       ,  1.6666666,  4.       ], dtype=float32)
    """
    return multiply(x, hard_sigmoid(x))


hard_swish = hard_silu


@composite
def elu(x: Operand, alpha: Operand = 1.0) -> Array:
    """Elements above 0, and `alpha * (exp(x) - 1)` of the others.

    >>> import traceir.numpy as jnp
    >>> elu(jnp.array([-1.0, 2.0]))
    Array([-0.63212055,  2.        ], dtype=float32)
    """
    value = operand("elu", x)
    above = greater(value, 0)
    # What is not taken is kept from overflowing, so that its derivative is 0.
    low = where(greater(value, 0), 0.0, value)
    return where(above, value, multiply(alpha, expm1(low)))


@composite
def celu(x: Operand, alpha: Operand = 1.0) -> Array:
    """`max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1)`: smooth for every alpha.

    >>> import traceir.numpy as jnp
    >>> celu(jnp.array([-1.0, 2.0]), 2.0)
    Array([-0.78693867,  2.        ], dtype=float32)
    """
    high = maximum(x, 0.0)
    low = expm1(divide(minimum(x, 0.0), alpha))
    return high + multiply(alpha, low)


# G. Klambauer and others, "Self-normalizing neural networks" (2017): with these two
# numbers, mean 0 and variance 1 are a fixed point of the layers.
_SELU_ALPHA = 1.6732632423543772848170429916717
_SELU_SCALE = 1.0507009873554804934193349852946


@composite
def selu(x: Operand) -> Array:
    """`elu` with two numbers that keep mean 0 and variance 1 from layer to layer.

    >>> import traceir.numpy as jnp
    >>> selu(jnp.array([-1.0, 1.0]))
    Array([-1.1113307,  1.050701 ], dtype=float32)
    """
    return _SELU_SCALE * elu(x, _SELU_ALPHA)


@composite
def sparse_plus(x: Operand) -> Array:
    """0 up to -1, `x` from 1 on, and `(x + 1)**2 / 4` between.

    >>> import traceir.numpy as jnp
    >>> sparse_plus(jnp.array([-2.0, 0.0, 2.0]))
    Array([0.  , 0.25, 2.  ], dtype=float32)
    """
    value = operand("sparse_plus", x)
    low, high = less_equal(value, -1.0), greater_equal(value, 1.0)
    between = power(add(value, 1.0), 2) / 4
    return where(low, 0.0, where(high, value, between))


@composite
def sparse_sigmoid(x: Operand) -> Array:
    """0 up to -1, 1 from 1 on, straight between: the derivative of `sparse_plus`.

    >>> import traceir.numpy as jnp
    >>> sparse_sigmoid(jnp.array([-2.0, 0.0, 2.0]))
    Array([0. , 0.5, 1. ], dtype=float32)
    """
    return 0.5 * clip(add(x, 1.0), 0.0, 2.0)


@composite
def identity(x: Operand) -> Array:
    """The elements as they are.

    >>> identity(1.5)
    Array(1.5, dtype=float32, weak_type=True)
    """
    return as_array(operand("identity", x))
