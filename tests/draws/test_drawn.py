"""Draws are those that were written down of JAX, in every way of drawing them.

Serves: random_split.*, random_bits.*, random_fold_in.*, random_gamma.*
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from soak import SOAK

import traceir
import traceir.numpy as jnp
from tests.draws.expressions import EXACT, NEAR, TEXTS
from tests.draws.generate import SEED, array, draws, kept, programs

KEPT = kept()
LAYOUTS = [True, False]
# Expressions that are compiled together are every GROUPS-th one.
GROUPS = 12
# Relative, of the function of the bits: roundings of some steps, or of 16 bits.
BOUND = {"float32": 1e-5, "float16": 2e-3}


@pytest.fixture(params=LAYOUTS, ids=["partitionable", "halves"])
def layout(request: Any) -> Iterator[bool]:
    before = traceir.base.config.jax_threefry_partitionable
    traceir.base.config.update("jax_threefry_partitionable", request.param)
    yield request.param
    traceir.base.config.update("jax_threefry_partitionable", before)


def check(text: str, layout: bool, got: Any) -> None:
    want = array(*KEPT[str(layout)][text])
    assert (got.dtype, got.shape) == (want.dtype, want.shape), text
    if text in EXACT:
        np.testing.assert_array_equal(np.asarray(got), want, text)
    else:
        bound = BOUND[want.dtype.name]
        np.testing.assert_allclose(np.asarray(got), want, bound, err_msg=text)


@pytest.mark.parametrize("text", EXACT + NEAR)
def test_one_after_the_other(text: str, layout: bool) -> None:
    key = traceir.random.key(SEED)
    check(text, layout, draws(text, traceir.random, jnp, key))


@pytest.mark.parametrize("backend", ["reference", "numba"])
@pytest.mark.parametrize("number", range(GROUPS))
def test_compiled_and_for_several_keys(number: int, layout: bool, backend: str) -> None:
    texts = (EXACT + NEAR)[number::GROUPS]
    # What vmap makes of a draw is for both backends one program, and both take their
    # time: a group is compiled by one for one key, by the other for several keys, and
    # in the other layout the other way round. But what is compiled is so in one layout.
    if backend == "numba" and not SOAK:
        texts = texts[layout::2]
    first = (number % 2 == 0) == (backend == "reference")
    alone = SOAK or layout == first
    mapped = SOAK or not alone

    def drawn(key: Any) -> list[Any]:
        return [draws(text, traceir.random, jnp, key) for text in texts]

    def both(keys: Any) -> Any:
        several = traceir.vmap(drawn)(keys) if mapped else []
        return drawn(keys[1]) if alone else [], several

    keys = jnp.stack([traceir.random.key(seed) for seed in (3, SEED)])
    one, several = traceir.jit(both, backend=backend)(keys)
    found = list(zip(texts, one))
    found += [(text, a[1]) for text, a in zip(texts, several)]
    assert {text for text, _ in found} == set(texts)
    for text, got in found:
        check(text, layout, got)


def test_texts_of_programs() -> None:
    written = programs()
    assert tuple(written) == TEXTS
    for text, want in written.items():

        def draw(key: Any, text: str = text) -> Any:
            return draws(text, traceir.random, jnp, key)

        assert str(traceir.make_jaxpr(draw)(traceir.random.key(SEED))) == want


def test_what_is_written_down_is_what_is_drawn() -> None:
    for rows in KEPT.values():
        assert set(rows) == set(EXACT + NEAR)
