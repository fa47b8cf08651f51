"""Location and scale, common to all distributions. Serves: promote.*, face.broadcast"""

from __future__ import annotations

import numpy as np

from traceir import lax
from traceir.arrays.array import Array
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    like,
    refuse_complex,
    shape_of,
)
from traceir.numpy.elementwise.composites import where
from traceir.numpy.elementwise.logic import logical_not
from traceir.scipy.special.logs import reals
from traceir.scipy.special.logsums import log_one_less


def standard(
    name: str, x: Operand, loc: Operand, scale: Operand, *shapes: Operand
) -> list[Array]:
    """`(x - loc) / scale`, the scale and the other parameters, floating.

    Raises TypeError (face.argument, face.broadcast).

    >>> standard("norm.pdf", 3.0, 1.0, 4.0)[0]
    Array(0.5, dtype=float32, weak_type=True)
    """
    value, place, width, *rest = plain(name, x, loc, scale, *shapes)
    return [(value - place) / width, width, *rest]


# Distributions, or functions of theirs, with constants in JAX's formulas that have the
# type of their first operand: what meets one is weak only if that is a number.
TYPED = {"beta", "betabinom", "cauchy", "chi2", "geom", "laplace", "nbinom", "norm"}
TYPED |= {"t", "truncnorm"}
TYPED |= {
    "bernoulli.cdf",
    "bernoulli.logpmf",
    "gamma.cdf",
    "gamma.logpdf",
    "gumbel_r.sf",
    "logistic.logpdf",
    "pareto.cdf",
    "pareto.logpdf",
    "pareto.logsf",
    "pareto.ppf",
    "poisson.cdf",
    "uniform.cdf",
}


# Those of which any operand decides.
BROADCAST = {"logistic.logpdf", "uniform.cdf"}
# Distributions, or functions of theirs, whose formulas have a meaning for complex
# numbers, as JAX has them. In all others numbers are compared.
COMPLEX = {"cauchy", "logistic", "t", "expon.ppf", "norm.logpdf", "pareto.ppf"}
COMPLEX |= {"uniform.ppf"}


def plain(name: str, *operands: Operand) -> list[Array]:
    """Operands as floating arrays; strong ones if the first has dimensions (`TYPED`).

    Raises TypeError (face.complex) but in `COMPLEX`.

    >>> plain("norm.pdf", 1, 2.0)[1]
    Array(2., dtype=float32, weak_type=True)
    """
    names = name, name.partition(".")[0]
    if COMPLEX.isdisjoint(names):
        refuse_complex(name, *operands)
    found = reals(name, *operands)
    if TYPED.isdisjoint(names):
        return found
    deciding = found if names[0] in BROADCAST else found[:1]
    number = not any(shape_of(x) for x in deciding)
    return [as_array(convert(x, x.dtype, x.weak_type and number)) for x in found]


def counted(name: str, k: Operand, loc: Operand, *shapes: Operand) -> list[Array]:
    """`k - loc` and the other parameters, floating.

    >>> counted("poisson.pmf", 3, 1, 2.0)[0]
    Array(2., dtype=float32, weak_type=True)
    """
    value, place, *rest = plain(name, k, loc, *shapes)
    return [value - place, *rest]


def within(condition: Operand, found: Operand, outside: float = -np.inf) -> Array:
    """The values found within the distribution's range; a number outside.

    >>> within(False, 0.5)
    Array(-inf, dtype=float32, weak_type=True)
    """
    return where(condition, found, outside)


def after(z: Array, start: float) -> Array:
    """True where elements are from a number on; NaN counts, since nobody knows.

    >>> import traceir.numpy as jnp
    >>> after(jnp.array([-1.0, 0.0, jnp.nan]), 0)
    Array([False,  True,  True], dtype=bool)
    """
    return ~(z < start)


def above(z: Array, number: float) -> Array:
    """True where elements are greater than a number, or NaN.

    >>> import traceir.numpy as jnp
    >>> above(jnp.array([0.0, 1.0, jnp.nan]), 0)
    Array([False,  True,  True], dtype=bool)
    """
    return ~(z <= number)


def between(z: Array, start: Operand, end: Operand) -> Array:
    """True where elements are from one number up to another, or NaN.

    >>> import traceir.numpy as jnp
    >>> between(jnp.array([-1.0, 0.0, 2.0, jnp.nan]), 0, 1)
    Array([False,  True, False,  True], dtype=bool)
    """
    return logical_not((z < start) | (z > end))


def whole(k: Array) -> Array:
    """True where elements are whole numbers from 0 on, or NaN.

    >>> import traceir.numpy as jnp
    >>> whole(jnp.array([-1.0, 0.0, 0.5, jnp.nan]))
    Array([False,  True, False,  True], dtype=bool)
    """
    return ~((k < 0) | (k > lax.floor(k)))


def safe(condition: Operand, x: Array, number: float = 1.0) -> Array:
    """Elements where a condition holds, else a number at which nothing is infinite.

    >>> safe(False, -2.0)
    Array(1., dtype=float32, weak_type=True)
    """
    return where(condition, x, number)


def log_difference(more: Array, less: Array) -> Array:
    """log(exp(more) - exp(less)), by the distance of the two; -inf for equal ones.

    >>> import traceir.numpy as jnp
    >>> log_difference(jnp.array(2.0), jnp.array(-1e30))
    Array(2., dtype=float32, weak_type=True)
    """
    gap = more - less
    some = logical_not(lax.le(gap, like(0, gap)))
    found = more + log_one_less(safe(some, gap))
    return within(some, found)
