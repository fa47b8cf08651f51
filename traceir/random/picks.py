"""Random choices among entries, and random orders.

Serves: random.population, random.weights, random.entries, face.axis, face.choice
"""

from __future__ import annotations

from math import ceil, log, prod

import numpy as np

from traceir import lax, rules
from traceir.arrays.array import Array
from traceir.jit.composite import composite
from traceir.lax.checks.operands import (
    Operand,
    as_array,
    convert,
    default_dtype,
    is_tracer,
    like,
    operand,
    promoted_inexact,
    shape_of,
)
from traceir.lax.checks.shapes import axis_in, shape_tuple
from traceir.lax.control.bodies import known_number
from traceir.lax.structural.sharding_constraints import OutSharding, takes_out_sharding
from traceir.numpy.indexing.take_put import take
from traceir.numpy.manipulation.shapes import moveaxis
from traceir.numpy.reductions.cumulative import cumsum
from traceir.numpy.sets.searching import searchsorted
from traceir.random.inverses import gumbel
from traceir.random.keys import Key, one_key, split
from traceir.random.real import uniform
from traceir.random.requests import Shape, ShapeLike, fitting
from traceir.random.words import bits
from traceir.tracing.concretization import refusal
from traceir.tracing.trace import typeof

# Keys of a sort that may be equal: so many rounds that hardly any two always were.
EXPONENT = 3


@takes_out_sharding
def categorical(
    key: Key,
    logits: Operand,
    axis: int = -1,
    shape: ShapeLike = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """Places along an axis, each with probability in proportion to exp of its logit.

    `shape` ends with the shape of `logits` without the axis, and broadcasts with it;
    what comes before are draws. Without `replace` these are different places. To each
    logit a number of Gumbel's distribution is added, of `mode` "low" or "high", and
    the greatest one wins. Raises ValueError (random.shape, random.population,
    face.axis, face.choice), TypeError (face.shape).

    >>> import traceir, traceir.numpy as jnp
    >>> key = traceir.random.key(0)
    >>> traceir.random.categorical(key, jnp.log(jnp.array([0.1, 0.2, 0.7])), shape=(4,))
    Array([1, 2, 2, 1], dtype=int32)
    """
    key = one_key("categorical", key)
    values = as_array(operand("categorical", logits, 1))
    at = axis_in(axis, values.ndim)
    batch = tuple(n for k, n in enumerate(values.shape) if k != at)
    asked = fitting("categorical", shape, batch)
    lead, rest = _cut(asked, len(asked) - len(batch))
    if replace:
        around = (*rest[:at], values.shape[at], *rest[at:])
        noise = gumbel(key, (*lead, *around), values.dtype, mode=mode)
        raised = lax.expand_dims(values, range(len(lead)))
        return lax.argmax(lax.add(noise, raised), len(lead) + at, default_dtype(int))
    drawn = prod(lead)
    _check_fewer("categorical", drawn, values.shape[at])
    noise = gumbel(key, values.shape, values.dtype, mode=mode)
    _, found = lax.top_k(lax.add(values, noise), drawn, axis=at)
    return lax.reshape(moveaxis(found, at, 0), asked)


def _cut(shape: Shape, at: int) -> tuple[Shape, Shape]:
    return shape[:at], shape[at:]


def _check_fewer(name: str, drawn: int, there: int) -> None:
    if drawn > there:
        got = f"{drawn} of {there} for {name} without replacement"
        raise rules.error("random.population", got=got)


def choice(
    key: Key,
    a: Operand,
    shape: ShapeLike = (),
    replace: bool = True,
    p: Operand = None,
    axis: int = 0,
    mode: str | None = None,
) -> Array:
    """Entries of an array along an axis, or whole numbers below an integer `a`.

    Each entry has the same probability, or that in the vector `p`. Without `replace`
    no entry comes twice. `shape` takes the axis's place. Raises ValueError
    (random.population, random.weights, face.axis), TypeError (face.shape).

    >>> import traceir
    >>> traceir.random.choice(traceir.random.key(0), 5, (3,))
    Array([4, 0, 2], dtype=int32)
    >>> traceir.random.choice(traceir.random.key(0), 5, (3,), replace=False)
    Array([0, 1, 4], dtype=int32)
    """
    key = one_key("choice", key)
    if np.ndim(shape) == 0:
        raise rules.error("face.shape", got=f"{shape=}", hint="give a tuple")
    drawn = shape_tuple(shape)
    among = operand("choice", a, 1)
    whole = not shape_of(among)
    at = 0 if whole else axis_in(axis, len(shape_of(among)))
    there = _count(among, "choice") if whole else shape_of(among)[at]
    number = prod(drawn)
    if not number:
        return _empty(among, whole, drawn, at)
    if there <= 0:
        raise rules.error("random.population", got=f"{number} of {there} for choice")
    if not replace:
        _check_fewer("choice", number, there)
    if p is None and not replace and not whole:
        mixed = permutation(key, among, at)
        return _shaped(lax.slice_in_dim(mixed, 0, number, axis=at), drawn, at)
    places = _places(key, there, drawn, replace, _weights(p, there), mode)
    if whole:
        return as_array(convert(places, default_dtype(int)))
    return take(as_array(among), places, axis=at)


def _empty(among: Operand, whole: bool, drawn: Shape, at: int) -> Array:
    if whole:
        return lax.full(drawn, default_dtype(int).type(0))
    return _shaped(lax.slice_in_dim(as_array(among), 0, 0, axis=at), drawn, at)


def _shaped(x: Array, drawn: Shape, at: int) -> Array:
    """The array with several dimensions in an axis's place."""
    return lax.reshape(x, (*x.shape[:at], *drawn, *x.shape[at + 1 :]))


def _count(number: Operand, asker: str) -> int:
    """An integer that is known, which stands for the numbers below it."""
    if is_tracer(number) and known_number(number) is None:
        what = f"how many numbers random.{asker} is to choose from"
        raise refusal(number, "level.concretize.number", what)
    return int(known_number(number))


def _weights(p: Operand, there: int) -> Operand:
    if p is None:
        return None
    (weights,) = promoted_inexact("choice", operand("choice", p, 4))
    if shape_of(weights) != (there,):
        got = f"{shape_of(weights)} for {there} entries in choice"
        raise rules.error("random.weights", got=got)
    return weights


def _places(
    key: Key, there: int, drawn: Shape, replace: bool, p: Operand, mode: str | None
) -> Array:
    number = prod(drawn)
    if p is None and replace:
        from traceir.random.integers import randint

        return randint(key, drawn, 0, there)
    if p is None:
        order = permutation(key, there)
        return lax.reshape(order[:number], drawn)
    if replace:
        total = cumsum(p)
        last = lax.index_in_dim(total, -1, keepdims=False)
        u = uniform(key, drawn, typeof(total).dtype)
        return searchsorted(total, lax.mul(last, lax.sub(like(1.0, u), u)))
    noise = gumbel(key, (there,), typeof(p).dtype, mode=mode)
    _, places = lax.top_k(lax.add(noise, lax.log(p)), number)
    return lax.reshape(places, drawn)


@takes_out_sharding
def permutation(
    key: Key,
    x: Operand,
    axis: int = 0,
    independent: bool = False,
    *,
    out_sharding: OutSharding = None,
) -> Array:
    """The entries of an array along an axis in random order, or numbers below `x`.

    With `independent`, each line has an order of its own. An integer that is traced
    has no length: ConcretizationTypeError (level.concretize.number). Raises
    TypeError (random.entries), ValueError (face.axis).

    >>> import traceir
    >>> traceir.random.permutation(traceir.random.key(0), 5)
    Array([0, 1, 4, 3, 2], dtype=int32)
    """
    key = one_key("permutation", key)
    values = operand("permutation", x, 1)
    shape = shape_of(values)
    at = axis_in(axis, len(shape) or 1)
    if not shape:
        if typeof(values).dtype.kind not in "iu":
            got = f"{typeof(values)} for permutation"
            raise rules.error("random.entries", got=got)
        number = max(_count(values, "permutation"), 0)
        return _shuffled(key, lax.iota(default_dtype(int), number), 0)
    if independent or len(shape) == 1:
        return _shuffled(key, as_array(values), at)
    order = _shuffled(key, lax.iota(default_dtype(int), shape[at]), 0)
    return take(as_array(values), order, axis=at, unique_indices=True)


def _shuffled(key: Key, x: Array, axis: int) -> Array:
    return _shuffle(key, x, axis)


@composite(static_argnames=["axis"])
def _shuffle(key: Key, x: Array, axis: int) -> Array:
    """Lines sorted by random keys, in as many rounds as their number asks for."""
    rounds = ceil(EXPONENT * log(max(1, x.size)) / log(np.iinfo(np.uint32).max))
    for _ in range(rounds):
        key, own = split(key)
        order = bits(own, x.shape, "uint32")
        _, x = lax.sort((order, x), dimension=axis, num_keys=1)
    return x
