"""Random keys in JAX's form: dtype, arrays, layout of bits.

Imported only where JAX is. Serves: promote.key, random_bits, random_split
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax._src.random import prng

from traceir.conform.judging.run import Rejected, Unsupported
from traceir.dtypes import KEY, KEY_MEMORY, is_key
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, subjaxprs

# Before JAX has any; it is the number that cases ask for.
jax.config.update("jax_num_cpu_devices", 8)

LAYOUT = "partitionable"
DTYPE: Any = jax.random.key(0).dtype
GENERATORS: Mapping[str, Any] = {found.tag: found for found in prng.prngs.values()}
WITH_GENERATOR = ("random_seed", "random_wrap")
# What has a layout, for which JAX has no param.
LIKE_BITS = ("random_bits", "random_split", "random_gamma", "random_gamma_grad")


def dtype(ours: np.dtype) -> Any:
    """A dtype as JAX's."""
    return DTYPE if is_key(ours) else ours


def array(ours: Any) -> Any:
    """An array as JAX's."""
    if not is_key(ours.dtype):
        return jax.numpy.asarray(ours)
    words = np.ascontiguousarray(ours).view(np.uint32)
    return jax.random.wrap_key_data(words.reshape(*ours.shape, 2))


def kept(theirs: Any) -> np.ndarray:
    """An array of JAX's as one of NumPy's."""
    if not jax.dtypes.issubdtype(theirs.dtype, jax.dtypes.prng_key):
        return np.asarray(theirs)
    words = np.ascontiguousarray(jax.random.key_data(theirs))
    return words.view(KEY_MEMORY).reshape(theirs.shape)


def aval(theirs: Any) -> ShapedArray:
    """A type of JAX's as ours."""
    keys = jax.dtypes.issubdtype(theirs.dtype, jax.dtypes.prng_key)
    return ShapedArray(theirs.shape, KEY if keys else theirs.dtype, theirs.weak_type)


def params(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The params of an equation about keys as JAX keeps them."""
    found = dict(given)
    if name in LIKE_BITS:
        found.pop(LAYOUT, None)
    if name in WITH_GENERATOR and found.get("impl") not in GENERATORS:
        raise Rejected("ValueError", f"no generator is named {found.get('impl')}")
    if name in WITH_GENERATOR:
        found["impl"] = GENERATORS[found["impl"]]
    return found


def layouts(program: ClosedJaxpr) -> set[bool]:
    """The layouts that the equations of a program are in."""
    found: set[bool] = set()
    for eqn in program.eqns:
        given = dict(eqn.params)
        if eqn.primitive in LIKE_BITS:
            found.add(given.get(LAYOUT, True) is True)
        for inner in subjaxprs(eqn):
            found |= layouts(inner)
    return found


@contextmanager
def layout(programs: Sequence[ClosedJaxpr]) -> Iterator[None]:
    """The layout of programs, which JAX has a flag of and no param."""
    found = set().union(*map(layouts, programs)) or {True}
    if len(found) > 1:
        raise Unsupported("one layout of bits for a whole program")
    with jax.threefry_partitionable(found.pop()):
        yield
