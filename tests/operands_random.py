"""Hypothesis strategies: operands of what makes random numbers, for `operands`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from operands_windows import SHAPES, Built, Draw, aval_of

from traceir.dtypes import KEY

WORD = np.dtype("uint32")
# How the shape of one operand comes from that of the result.
SHARES = {
    "all": lambda shape: shape,
    "none": lambda shape: (),
    "rows": lambda shape: (*shape[:-1], 1)[: len(shape)],
}


def _hash(draw: Draw, dtype: np.dtype) -> Built:
    """Keys and counters, some of which are the same for all, or for a row."""
    shape = draw(SHAPES)
    shares = [draw(st.sampled_from(sorted(SHARES))) for _ in range(4)]
    dtypes = [draw(st.sampled_from([WORD] * 9 + [dtype])) for _ in range(4)]
    avals = [aval_of(SHARES[s](shape), d) for s, d in zip(shares, dtypes, strict=True)]
    return avals, {}


def _keys(draw: Draw, dtype: np.dtype) -> Built:
    """An array of keys."""
    return [aval_of(draw(SHAPES), KEY)], {}


def _seeds(draw: Draw, dtype: np.dtype) -> Built:
    """Integers of any dtype."""
    return [aval_of(draw(SHAPES), dtype)], {"impl": "fry"}


def _words(draw: Draw, dtype: np.dtype) -> Built:
    """Pairs of words."""
    return [aval_of((*draw(SHAPES), 2), WORD)], {"impl": "fry"}


def _counted(draw: Draw, dtype: np.dtype) -> Built:
    """Keys, how much is made of each, and in which layout."""
    keys = draw(st.lists(st.sampled_from([0, 1, 2]), max_size=2))
    given = {"shape": draw(SHAPES), "partitionable": draw(st.booleans())}
    return [aval_of(keys, KEY)], given


def _bits(draw: Draw, dtype: np.dtype) -> Built:
    avals, params = _counted(draw, dtype)
    return avals, {**params, "bit_width": draw(st.sampled_from([8, 16, 32, 64]))}


def _folded(draw: Draw, dtype: np.dtype) -> Built:
    """Keys and numbers, of which one may be the same for all, or for a row."""
    shape = draw(SHAPES)
    shares = [draw(st.sampled_from(sorted(SHARES))) for _ in range(2)]
    dtypes = KEY, WORD
    avals = [aval_of(SHARES[s](shape), d) for s, d in zip(shares, dtypes, strict=True)]
    return avals, {}


def _gamma(draw: Draw, dtype: np.dtype) -> Built:
    """Keys, and forms for each."""
    keys, more = draw(SHAPES), draw(SHAPES)[:1]
    given = {"log_space": draw(st.booleans()), "partitionable": draw(st.booleans())}
    return [aval_of(keys, KEY), aval_of((*keys, *more), dtype)], given


RANDOM: dict[str, Callable[[Draw, np.dtype], Any]] = {
    "threefry2x32": _hash,
    "random_seed": _seeds,
    "random_wrap": _words,
    "random_unwrap": _keys,
    "random_clone": _keys,
    "random_split": _counted,
    "random_bits": _bits,
    "random_fold_in": _folded,
    "random_gamma": _gamma,
}
# The dtypes of which these take operands, where their others have one of their own.
TAKEN = dict.fromkeys(RANDOM, (WORD,))
TAKEN["random_seed"] = tuple(map(np.dtype, ("int8", "int32", "int64", "uint64")))
TAKEN["random_gamma"] = (np.dtype("float32"), np.dtype("float64"))
