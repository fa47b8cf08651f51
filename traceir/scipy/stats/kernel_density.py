"""Densities estimated from samples: `gaussian_kde`.

Serves: face.density, face.choice, face.unsupported, face.complex, linalg.shapes
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from traceir import lax, random, rules
from traceir.arrays.array import Array
from traceir.base.fast_dataclass import dataclass
from traceir.base.tracebacks import entry_points
from traceir.dtypes import kind_of
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    operand,
    operands,
    promoted_inexact,
    refuse_complex,
    shape_of,
)
from traceir.lax.linalg.matrices import diagonal, product, solved, transposed
from traceir.numpy.elementwise.arithmetic import add, exp, log, multiply
from traceir.numpy.elementwise.composites import power
from traceir.numpy.linalg import cholesky, inv
from traceir.numpy.manipulation.shapes import expand_dims, moveaxis, squeeze
from traceir.numpy.manipulation.stacking import atleast_1d, atleast_2d
from traceir.numpy.reductions.covariance import cov as _cov
from traceir.numpy.reductions.reductions import sum as _sum
from traceir.pytrees.registry import register_pytree_node_class
from traceir.random.keys import Key
from traceir.scipy.special.logsums import logsumexp
from traceir.scipy.special.normal import ndtr
from traceir.tracing.trace import typeof

Bandwidth: TypeAlias = "str | Operand | Callable[[gaussian_kde], Operand] | None"


@entry_points()
@register_pytree_node_class
@dataclass(frozen=True, init=False, eq=False)
class gaussian_kde:
    """The density that samples come from: the mean of normal ones around each.

    `dataset` has n numbers, or is (d, n), of n vectors; `weights` are n numbers, which
    are divided by their sum. Each normal density has the covariance of the samples
    times the square of a factor: Scott's (`"scott"`, or None), Silverman's
    (`"silverman"`), a number, or what a function of the estimate gives.

    The attributes are arrays, and the leaves of a pytree: `neff`, how many samples the
    weighted ones stand for, `dataset` (d, n), `weights` (n,), `covariance` (d, d) and
    its inverse `inv_cov`. Raises ValueError (face.density, face.choice), TypeError
    (face.argument, face.complex), NotImplementedError (face.unsupported).

    >>> import traceir.numpy as jnp
    >>> density = gaussian_kde(jnp.array([1.0, 2.0, 4.0]), 0.5)
    >>> density.covariance, density(2.0)
    (Array([[0.5833334]], dtype=float32), Array([0.25364846], dtype=float32))
    """

    neff: Array
    dataset: Array
    weights: Array
    covariance: Array
    inv_cov: Array

    def __init__(
        self, dataset: Operand, bw_method: Bandwidth = None, weights: Operand = None
    ) -> None:
        samples, shares = _samples(dataset, weights)
        self._set(samples, shares, 1 / _sum(lax.square(shares)))
        factor = _factor(self, bw_method)
        square = multiply(factor, factor)
        spread = atleast_2d(_cov(samples, aweights=shares))
        matrices = spread * square, inv(spread) / square
        self._set(samples, shares, self.neff, *matrices)

    def _set(
        self, dataset: Any, weights: Any, neff: Any, *matrices: Any
    ) -> gaussian_kde:
        values = (neff, dataset, weights, *matrices)
        for name, value in zip(self.__dataclass_fields__, values, strict=False):
            object.__setattr__(self, name, value)
        return self

    @property
    def d(self) -> int:
        """The number of dimensions of the samples."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """The number of samples."""
        return self.dataset.shape[1]

    def evaluate(self, points: Operand) -> Array:
        """The density at `points`, which are (d, m); of one dimension they are (m,).

        One vector is a point, too. Raises ValueError (face.density), TypeError
        (face.argument), NotImplementedError (face.unsupported).
        """
        exponents, weights, scale = self._kernels("evaluate", points)
        found = _sum(weights * exp(exponents), 0)
        return found * exp(scale)

    def __call__(self, points: Operand) -> Array:
        """As `evaluate`."""
        return self.evaluate(points)

    def pdf(self, x: Operand) -> Array:
        """As `evaluate`."""
        return self.evaluate(x)

    def logpdf(self, x: Operand) -> Array:
        """The logarithm of the density, which is finite where the density is not 0.

        Points and errors are those of `evaluate`.
        """
        exponents, weights, scale = self._kernels("logpdf", x)
        return add(logsumexp(exponents, 0, weights), scale)

    def integrate_gaussian(self, mean: Operand, cov: Operand) -> Array:
        """The integral of the product with a normal density of this mean, covariance.

        They are (d,) and (d, d), or numbers. Raises ValueError (linalg.shapes).
        """
        middle, spread = operands("integrate_gaussian", (mean, cov))
        refuse_complex("integrate_gaussian", middle, spread)
        middle, spread = atleast_1d(squeeze(middle)), atleast_2d(spread)
        if middle.shape != (self.d,) or spread.shape != (self.d, self.d):
            got = f"a mean of {middle.shape}, a covariance of {spread.shape}"
            hint = f"the estimate has {self.d} dimensions"
            raise rules.error("linalg.shapes", got=got, hint=hint)
        rest = self.dataset - expand_dims(middle, 1)
        return _overlap(rest, self.weights, self.covariance + spread)

    def integrate_box_1d(self, low: Operand, high: Operand) -> Array:
        """The probability between two numbers, of an estimate of one dimension.

        Raises ValueError (face.density).
        """
        ends = operands("integrate_box_1d", (low, high))
        if self.d != 1 or any(map(shape_of, ends)):
            got = f"bounds of {[shape_of(x) for x in ends]}, {self.d} dimensions"
            hint = "integrate_box_1d takes two numbers, and one dimension"
            raise rules.error("face.density", got=got, hint=hint)
        width = lax.sqrt(squeeze(self.covariance))
        lower, upper = (ndtr((end - self.dataset[0]) / width) for end in ends)
        return _sum(self.weights * (upper - lower), -1)

    def integrate_kde(self, other: Any) -> Array:
        """The integral of the product with another estimate, of as many dimensions.

        Raises ValueError (face.density), TypeError (face.argument).
        """
        if not isinstance(other, gaussian_kde):
            got = f"{type(other).__name__} for another estimate"
            raise rules.error("face.argument", got=got, hint="give a gaussian_kde")
        if other.d != self.d:
            got = f"estimates of {self.d} and of {other.d} dimensions"
            raise rules.error("face.density", got=got)
        rest = expand_dims(self.dataset, 2) - expand_dims(other.dataset, 1)
        pairs = expand_dims(self.weights, 1) * other.weights
        flat = lax.reshape(rest, (self.d, self.n * other.n))
        shares = lax.reshape(pairs, (self.n * other.n,))
        return _overlap(flat, shares, self.covariance + other.covariance)

    def integrate_box(
        self, low_bounds: Operand, high_bounds: Operand, maxpts: int | None = None
    ) -> Array:
        """Refused, as in JAX: NotImplementedError (face.unsupported)."""
        hint = "`integrate_box_1d` integrates over a line"
        raise rules.error("face.unsupported", got="integrate_box", hint=hint)

    def set_bandwidth(self, bw_method: Bandwidth = None) -> None:
        """Refused, as in JAX: NotImplementedError (face.unsupported)."""
        hint = "an estimate never changes: make another one, with `bw_method`"
        raise rules.error("face.unsupported", got="set_bandwidth", hint=hint)

    def resample(self, key: Key, shape: Sequence[int] = ()) -> Array:
        """Random vectors from the estimate, ``(d, *shape)``, drawn by a key.

        Raises TypeError (face.shape) and what `random.choice` raises.
        """
        first, second = random.split(key)
        chosen = random.choice(first, self.n, tuple(shape), p=self.weights)
        centre = lax.full((self.d,), 0, self.dataset.dtype)
        apart = random.multivariate_normal(
            second, centre, self.covariance, tuple(shape), self.dataset.dtype
        )
        return self.dataset[:, chosen] + moveaxis(apart, -1, 0)

    def _kernels(self, name: str, points: Operand) -> tuple[Array, Array, Array]:
        """Exponents (n, m) of each sample's density at points, weights, log scale."""
        places = _points(name, points, self.d)
        places, samples, weights, inverse = map(
            as_array,
            promoted_inexact(name, places, self.dataset, self.weights, self.inv_cov),
        )
        factor = cholesky(inverse)
        rest = expand_dims(places, 1) - expand_dims(samples, 2)
        flat = lax.reshape(rest, (self.d, samples.shape[1] * places.shape[1]))
        squares = _sum(lax.square(product(transposed(factor), flat)), 0)
        exponents = lax.reshape(squares, rest.shape[1:])
        return -0.5 * exponents, expand_dims(weights, 1), _scale(factor, 1)

    def tree_flatten(self) -> tuple[tuple[Array, ...], None]:
        """The five arrays, in their order."""
        arrays = tuple(getattr(self, name) for name in self.__dataclass_fields__)
        return arrays, None

    @classmethod
    def tree_unflatten(cls, aux_data: None, children: Sequence[Any]) -> gaussian_kde:
        """The estimate of these five arrays."""
        neff, dataset, weights, *matrices = children
        return object.__new__(cls)._set(dataset, weights, neff, *matrices)


def _samples(dataset: Operand, weights: Operand) -> tuple[Array, Array]:
    """Samples (d, n) and weights (n,) whose sum is 1, of one floating dtype."""
    given = operand("gaussian_kde", dataset)
    _refuse_complex(given, "a complex dataset")
    count = shape_of(given)[-1] if shape_of(given) else 1
    ranks, many = len(shape_of(given)), math.prod(shape_of(given)) > 1
    if weights is None:
        (given,) = promoted_inexact("gaussian_kde", given)
        shares = lax.full((count,), 1 / max(count, 1), typeof(given).dtype)
    else:
        given, shares = promoted_inexact("gaussian_kde", given, weights)
        shares = atleast_1d(shares)
        refuse_complex("gaussian_kde", shares)
    if not many or ranks > 2 or shares.shape != (count,):
        got = f"a dataset of {shape_of(given)}, weights of {shape_of(shares)}"
        raise rules.error("face.density", got=got)
    return atleast_2d(given), shares / _sum(shares)


def _factor(estimate: gaussian_kde, method: Bandwidth) -> Operand:
    """The factor that scales the covariance of the samples, before it is squared."""
    root = -1.0 / (estimate.d + 4)
    if method is None or (isinstance(method, str) and method == "scott"):
        return power(estimate.neff, root)
    if isinstance(method, str) and method == "silverman":
        return power(estimate.neff * ((estimate.d + 2) / 4.0), root)
    found = method(estimate) if callable(method) else method
    if isinstance(found, str) or shape_of(found := operand("bw_method", found)):
        got = f"bw_method={method!r}"
        hint = "there are 'scott', 'silverman', numbers and functions that give them"
        raise rules.error("face.choice", got=got, hint=hint)
    refuse_complex("bw_method", found)
    return found


def _points(name: str, points: Operand, dimensions: int) -> Array:
    """Points as (d, m)."""
    given = operand(name, points)
    _refuse_complex(given, f"complex points for {name}")
    places: Array = atleast_2d(given)
    extents = places.shape
    if extents == (1, dimensions):
        places = lax.reshape(places, (dimensions, 1))
    if places.ndim != 2 or places.shape[0] != dimensions:
        got = f"points of {extents}, samples of {dimensions} dimensions"
        raise rules.error("face.density", got=got)
    return places


def _refuse_complex(value: Operand, what: str) -> None:
    if kind_of(typeof(value).dtype) == "c":
        hint = "samples and points are real"
        raise rules.error("face.unsupported", got=f"{what} of gaussian_kde", hint=hint)


def _scale(factor: Array, power: int) -> Array:
    """The logarithm of a normal density at its middle, by a factor of its matrix."""
    roots = _sum(log(diagonal(factor)))
    constant = factor.shape[-1] / 2 * math.log(2 * math.pi)
    return power * roots - constant


def _overlap(rest: Array, weights: Array, spread: Array) -> Array:
    """The weighted sum of normal densities (d, k) at distances (d, k)."""
    factor = cholesky(spread)
    rest, factor = map(as_array, promoted_inexact("gaussian_kde", rest, factor))
    whitened = solved(factor, rest, left_side=True, lower=True)
    exponents = -0.5 * _sum(lax.square(whitened), 0)
    found = _sum(weights * exp(exponents))
    return found * exp(_scale(factor, -1))
