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
from traceir.dtypes import KEYS, is_key, key_of
from traceir.ir.avals import ShapedArray
from traceir.ir.jaxpr import ClosedJaxpr, subjaxprs
from traceir.reference.kernels.random import keys_of, words_of

# Before JAX has any; it is the number that cases ask for.
jax.config.update("jax_num_cpu_devices", 8)

LAYOUT = "partitionable"
GENERATORS: Mapping[str, Any] = {found.tag: found for found in prng.prngs.values()}
WITH_GENERATOR = ("random_seed", "random_wrap")
# What has a layout, for which JAX has no param.
LIKE_BITS = ("random_bits", "random_split", "random_gamma", "random_gamma_grad")


def dtype(ours: np.dtype) -> Any:
    """A dtype as JAX's."""
    return jax.random.key(0, impl=generator(ours)).dtype if is_key(ours) else ours


def generator(ours: np.dtype) -> str:
    """The generator of keys, by JAX's name."""
    return key_of(ours).generator


def array(ours: Any) -> Any:
    """An array as JAX's."""
    if not is_key(ours.dtype):
        return jax.numpy.asarray(ours)
    return jax.random.wrap_key_data(words_of(ours), impl=generator(ours.dtype))


def kept(theirs: Any) -> np.ndarray:
    """An array of JAX's as one of NumPy's."""
    if not jax.dtypes.issubdtype(theirs.dtype, jax.dtypes.prng_key):
        return np.asarray(theirs)
    return keys_of(np.asarray(jax.random.key_data(theirs)), tag(theirs))


def tag(theirs: Any) -> str:
    """The generator in the brackets of JAX's name of a dtype."""
    return str(theirs.dtype.name).partition("<")[2].removesuffix(">")


def aval(theirs: Any) -> ShapedArray:
    """A type of JAX's as ours."""
    keys = jax.dtypes.issubdtype(theirs.dtype, jax.dtypes.prng_key)
    dtype: Any = KEYS[tag(theirs)] if keys else theirs.dtype
    return ShapedArray(theirs.shape, dtype, theirs.weak_type)


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
