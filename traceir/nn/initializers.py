"""Initial values of weights, as `jax.nn.initializers` has them.

Serves: face.choice, linalg.shapes

An initializer is a function of a key, a shape and a dtype; all but three of the names
here make one.

>>> import traceir
>>> initializer = glorot_uniform()
>>> initializer(traceir.random.key(0), (2, 3)).shape
(2, 3)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import exp, pi, prod
from math import sqrt as root

import numpy as np

from traceir import lax, random, rules
from traceir.arrays.array import Array
from traceir.base.tracebacks import publish as _publish
from traceir.dtypes import part_dtype
from traceir.lax.checks.operands import (
    DTypeLike,
    Operand,
    default_dtype,
    dtype_of,
    given,
    typed,
)
from traceir.lax.checks.shapes import ShapeLike, axes_in, axis_in, shape_tuple
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.arrays import creation
from traceir.numpy.elementwise.arithmetic import (
    divide,
    multiply,
    negative,
    sqrt,
    subtract,
)
from traceir.numpy.manipulation.shapes import moveaxis, reshape

Key = Operand
Initializer = Callable[..., Array]
Axes = int | Sequence[int]

__all__ = [
    "Initializer",
    "constant",
    "delta_orthogonal",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "variance_scaling",
    "xavier_normal",
    "xavier_uniform",
    "zeros",
]

# The standard deviation of the normal distribution between -2 and 2.
_CUT = 0.87962566103423978
# JAX's, for that of the complex one up to 2; it would be 0.962.
_CUT_COMPLEX = 0.95311164380491208


@takes_out_sharding
def zeros(
    key: Key,
    shape: ShapeLike,
    dtype: DTypeLike = None,
    out_sharding: OutSharding = None,
) -> Array:
    """An initializer: 0 everywhere.

    >>> zeros(None, 2)
    Array([0., 0.], dtype=float32)
    """
    return creation.zeros(shape, float if dtype is None else dtype)


@takes_out_sharding
def ones(
    key: Key,
    shape: ShapeLike,
    dtype: DTypeLike = None,
    out_sharding: OutSharding = None,
) -> Array:
    """An initializer: 1 everywhere.

    >>> ones(None, 2)
    Array([1., 1.], dtype=float32)
    """
    return creation.ones(shape, float if dtype is None else dtype)


def constant(value: Operand, dtype: DTypeLike = None) -> Initializer:
    """Makes an initializer: the value everywhere.

    >>> constant(2.5)(None, 2)
    Array([2.5, 2.5], dtype=float32)
    """

    def initial(key: Key, shape: ShapeLike, dtype: DTypeLike = dtype) -> Array:
        return creation.full(shape, value, float if dtype is None else dtype)

    return initial


def uniform(scale: Operand = 0.01, dtype: DTypeLike = None) -> Initializer:
    """Makes an initializer: numbers from 0 to `scale`.

    >>> import traceir
    >>> uniform(2.0)(traceir.random.key(0), 2).shape
    (2,)
    """

    def initial(key: Key, shape: ShapeLike, dtype: DTypeLike = dtype) -> Array:
        plain = random.uniform(key, shape_tuple(shape), dtype)
        return multiply(plain, given("uniform", scale, plain.dtype))

    return initial


def normal(stddev: Operand = 0.01, dtype: DTypeLike = None) -> Initializer:
    """Makes an initializer: the normal distribution of this deviation.

    >>> import traceir
    >>> normal(2.0)(traceir.random.key(0), 2).shape
    (2,)
    """

    def initial(key: Key, shape: ShapeLike, dtype: DTypeLike = dtype) -> Array:
        plain = random.normal(key, shape_tuple(shape), dtype)
        return multiply(plain, given("normal", stddev, plain.dtype))

    return initial


def truncated_normal(
    stddev: Operand = 0.01,
    dtype: DTypeLike = None,
    lower: Operand = -2.0,
    upper: Operand = 2.0,
) -> Initializer:
    """Makes an initializer: the normal distribution between bounds, times `stddev`.

    >>> import traceir
    >>> truncated_normal(2.0)(traceir.random.key(0), 2).shape
    (2,)
    """

    def initial(key: Key, shape: ShapeLike, dtype: DTypeLike = dtype) -> Array:
        cut = random.truncated_normal(key, lower, upper, shape_tuple(shape), dtype)
        return multiply(cut, stddev)

    return initial


def _fans(
    shape: tuple[int, ...], in_axis: Axes, out_axis: Axes, batch_axis: Axes
) -> tuple[float, float]:
    """The fan-in and fan-out of a weight, the other axes being a field."""
    if len(shape) < 2:
        got = f"weights of shape {shape}"
        hint = "they have an axis of inputs and one of outputs"
        raise rules.error("linalg.shapes", got=got, hint=hint)
    groups = [axes_in(_tuple(a), len(shape)) for a in (in_axis, out_axis, batch_axis)]
    inputs, outputs, stack = (prod(shape[d] for d in group) for group in groups)
    field = prod(shape) / max(1, inputs * outputs * stack)
    return inputs * field, outputs * field


def _tuple(axes: Axes) -> tuple[int, ...]:
    return (axes,) if isinstance(axes, int) else tuple(axes)


def variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: DTypeLike = None,
) -> Initializer:
    """Makes an initializer: numbers of mean 0 and variance `scale / n`.

    n is the number of inputs ("fan_in"), of outputs ("fan_out"), or their arithmetic or
    geometric mean ("fan_avg", "fan_geo_avg"). The distribution is "normal", "uniform"
    or "truncated_normal", which is cut at two deviations. Raises ValueError
    (face.choice); the initializer ValueError (linalg.shapes, face.axis).

    >>> import traceir
    >>> initializer = variance_scaling(1.0, "fan_in", "normal")
    >>> initializer(traceir.random.key(0), (2, 3)).shape
    (2, 3)
    """
    _chosen("mode", mode, ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"))
    _chosen("distribution", distribution, ("truncated_normal", "normal", "uniform"))

    def initial(key: Key, shape: ShapeLike, dtype: DTypeLike = dtype) -> Array:
        extents = shape_tuple(shape)
        fan_in, fan_out = _fans(extents, in_axis, out_axis, batch_axis)
        means = {
            "fan_in": fan_in,
            "fan_out": fan_out,
            "fan_avg": (fan_in + fan_out) / 2,
            "fan_geo_avg": root(fan_in * fan_out),
        }
        # No weights at all have no fan.
        variance = scale / (means[mode] or 1.0)
        return _drawn(key, extents, dtype, variance, distribution)

    return initial


def _chosen(what: str, value: str, values: tuple[str, ...]) -> None:
    """Raise ValueError (face.choice) unless the value is one of those."""
    if value not in values:
        hint = f"it is one of {', '.join(values)}"
        raise rules.error("face.choice", got=f"{what}={value!r}", hint=hint)


def _drawn(
    key: Key,
    shape: tuple[int, ...],
    dtype: DTypeLike,
    variance: float,
    distribution: str,
) -> Array:
    found = default_dtype(float) if dtype is None else dtype_of(dtype)
    spread = typed(variance, found, False)
    match distribution:
        case "normal":
            return multiply(random.normal(key, shape, dtype), sqrt(spread))
        case "uniform" | "truncated_normal" if found.kind == "c":
            return multiply(_in_disk(key, shape, found, distribution), sqrt(spread))
        case "uniform":
            plain = random.uniform(key, shape, dtype, -1)
            return multiply(plain, sqrt(multiply(3, spread)))
        case _:
            deviation = divide(sqrt(spread), typed(_CUT, found, False))
            cut = random.truncated_normal(key, -2, 2, shape, dtype)
            return multiply(cut, deviation)


def _in_disk(
    key: Key, shape: tuple[int, ...], dtype: np.dtype, distribution: str
) -> Array:
    """Complex numbers of mean 0 and variance 1: in a disk, or normal cut at 2."""
    of_radius, of_angle = random.split(key)
    part = part_dtype(dtype)
    drawn = random.uniform(of_radius, shape, part)
    turn = multiply(2 * pi, random.uniform(of_angle, shape, part))
    if distribution == "uniform":
        radius = sqrt(multiply(2, drawn))
    else:
        beyond = lax.log(subtract(1, multiply(1 - exp(-(2**2)), drawn)))
        radius = divide(sqrt(negative(beyond)), _CUT_COMPLEX)
    return lax.complex(multiply(radius, lax.cos(turn)), multiply(radius, lax.sin(turn)))


def _scaled(
    name: str, scale: float, mode: str, distribution: str, says: str
) -> Callable[..., Initializer]:
    """`variance_scaling` with three of its arguments, under a name of its own."""

    def make(
        in_axis: Axes = -2,
        out_axis: Axes = -1,
        batch_axis: Axes = (),
        dtype: DTypeLike = None,
    ) -> Initializer:
        of = partial(variance_scaling, scale, mode, distribution)
        return of(in_axis, out_axis, batch_axis, dtype)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"""Makes an initializer: {says}.

    It is `variance_scaling({scale}, "{mode}", "{distribution}")`.

    >>> import traceir
    >>> {name}()(traceir.random.key(0), (2, 3)).shape
    (2, 3)
    """
    return make


# X. Glorot and Y. Bengio (2010); Y. LeCun and others (1998); K. He and others (2015).
_CUT_NORMAL = "truncated_normal"
glorot_normal = _scaled(
    "glorot_normal", 1.0, "fan_avg", _CUT_NORMAL, "Glorot's, normal"
)
glorot_uniform = _scaled(
    "glorot_uniform", 1.0, "fan_avg", "uniform", "Glorot's, uniform"
)
lecun_normal = _scaled("lecun_normal", 1.0, "fan_in", _CUT_NORMAL, "LeCun's, normal")
lecun_uniform = _scaled("lecun_uniform", 1.0, "fan_in", "uniform", "LeCun's, uniform")
he_normal = _scaled("he_normal", 2.0, "fan_in", _CUT_NORMAL, "He's, normal")
he_uniform = _scaled("he_uniform", 2.0, "fan_in", "uniform", "He's, uniform")
xavier_normal, xavier_uniform = glorot_normal, glorot_uniform
kaiming_normal, kaiming_uniform = he_normal, he_uniform


def orthogonal(
    scale: Operand = 1.0, column_axis: int = -1, dtype: DTypeLike = None
) -> Initializer:
    """Makes an initializer: orthogonal vectors along `column_axis`, times `scale`.

    The other axes are taken for one; if there are fewer places in it, the vectors along
    it are orthogonal. The initializer raises ValueError (linalg.shapes, face.axis).

    >>> import traceir
    >>> q = orthogonal()(traceir.random.key(0), (3, 2))
    >>> (q.T @ q).round(5)
    Array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def initial(key: Key, shape: ShapeLike, dtype: DTypeLike = dtype) -> Array:
        extents = shape_tuple(shape)
        if len(extents) < 2:
            got = f"orthogonal weights of shape {extents}"
            raise rules.error("linalg.shapes", got=got, hint="they have two axes")
        axis = axis_in(column_axis, len(extents))
        rest, columns = extents[:axis] + extents[axis + 1 :], extents[axis]
        drawn = random.orthogonal(key, prod(rest), dtype=dtype, m=columns)
        found = moveaxis(reshape(drawn, (*rest, columns)), -1, axis)
        return multiply(scale, found)

    return initial


def delta_orthogonal(
    scale: Operand = 1.0, column_axis: int = -1, dtype: DTypeLike = None
) -> Initializer:
    """Makes an initializer of convolutions: an orthogonal matrix in their middle.

    Shapes have one to three axes of places, then inputs and outputs, no fewer of these.
    The initializer raises ValueError (linalg.shapes). L. Xiao and others, "Dynamical
    isometry and a mean field theory of CNNs" (2018).

    >>> import traceir
    >>> delta_orthogonal()(traceir.random.key(0), (3, 1, 1)).ravel().astype(bool)
    Array([False,  True, False], dtype=bool)
    """

    def initial(key: Key, shape: ShapeLike, dtype: DTypeLike = dtype) -> Array:
        extents = shape_tuple(shape)
        if len(extents) not in (3, 4, 5) or extents[-2] > extents[-1]:
            got = f"orthogonal convolutions of shape {extents}"
            hint = (
                "they have one to three axes of places, and no more inputs than outputs"
            )
            raise rules.error("linalg.shapes", got=got, hint=hint)
        matrix = orthogonal(scale, column_axis, dtype)(key, extents[-2:])
        middle = tuple((n - 1) // 2 for n in extents[:-2])
        return creation.zeros(extents, matrix.dtype).at[middle].set(matrix)

    return initial


_publish(globals())
