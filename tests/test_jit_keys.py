"""Equal raw keys imply equal keys: the hot path joins nothing. Cites: cache.key.*"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import traceir
import traceir.numpy as jnp
from traceir import config
from traceir.jit.fast import raw_key
from traceir.jit.key import KeyTable
from traceir.jit.signature import bind_arguments, form_of, resolve_static
from traceir.jit.staging import prepare
from traceir.rules import default, walk

DTYPES = ["bool", "int32", "int64", "float32", "float64"]
arrays = st.builds(
    lambda shape, dtype: np.ones(shape, dtype),
    st.sampled_from([(), (1,), (2,), (1, 2)]),
    st.sampled_from(DTYPES),
)
numbers = st.sampled_from([0, 1, True, False, 0.0, -0.0, 1.0, float("nan")])
leaves = arrays | numbers | arrays.map(jnp.asarray) | numbers.map(jnp.asarray)
statics = numbers | st.sampled_from(["a", None, (1,), (1.0,), (True,), frozenset([1])])
calls = st.tuples(leaves, leaves, statics, st.sampled_from(["pos", "kw", "mixed"]))


def function(x: Any, y: Any, n: Any) -> Any:
    return x


FORM = form_of(function)
STATIC = resolve_static(FORM.signature, None, "n")


def keys(call: Any, x64: bool) -> tuple[Any, Any]:
    """The raw key and the key by the rows of one call."""
    x, y, n, how = call
    args = {"pos": (x, y, n), "kw": (), "mixed": (x,)}[how]
    given_ = {"x": x, "y": y, "n": n}
    kwargs = dict(list(given_.items())[len(args) :])
    with config.enable_x64(x64):
        raw = raw_key(config.current(), args, kwargs, STATIC)
        prepared = prepare(bind_arguments(FORM, STATIC, args, kwargs), "jax")
    return raw, KeyTable(default()).key(prepared.call)


@given(calls, calls, st.booleans(), st.booleans())
def test_equal_raw_keys_imply_equal_keys(a: Any, b: Any, c: bool, d: bool) -> None:
    raw_a, key_a = keys(a, c)
    raw_b, key_b = keys(b, d)
    if raw_a is not None and raw_a == raw_b:
        assert key_a == key_b


@given(calls, st.booleans())
def test_the_rows_alone_decide(call: Any, x64: bool) -> None:
    _, key = keys(call, x64)
    table = default()
    assert len(key) == len(table.keys)
    x, y, n, _ = call
    with config.enable_x64(x64):
        bound = bind_arguments(FORM, STATIC, (x, y, n), {})
        prepared = prepare(bound, "jax")
    for row, part in zip(table.keys, key, strict=True):
        if row.per == "leaf":
            walked = tuple(walk(row.part, {"v": a}) for a in prepared.call.avals)
            assert part == walked


def test_every_form_of_call_gives_the_same_result() -> None:
    f = traceir.jit(lambda x, y, n: x - y * n, static_argnames="n")
    for _ in range(2):
        assert float(f(5.0, 2.0, 2)) == 1
        assert float(f(5.0, y=2.0, n=2)) == 1
        assert float(f(n=2, y=2.0, x=5.0)) == 1
        assert float(f(np.float64(5), jnp.asarray(2.0), n=2)) == 1
        assert float(f(np.full((), 5), jnp.asarray(2), 2)) == 1
    assert f.cache_info().misses == 3


def test_arrays_made_under_x64_are_narrowed_outside() -> None:
    with traceir.enable_x64(True):
        wide = jnp.asarray(np.arange(3.0))
    assert wide.dtype == np.float64
    f = traceir.jit(lambda x: x * 2)
    for _ in range(2):
        assert f(wide).dtype == np.float32
    assert f(np.asarray(wide)[::-1]).tolist() == [4, 2, 0]
