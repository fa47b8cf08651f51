"""Dtypes of eight bits and fewer: both backends, and the numbers of ml_dtypes.

Cites accuracy.beyond, accuracy.int-wrap, promote.apart, jit.dtype, array.dlpack
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import soak

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax, text
from traceir.dtypes import (
    ADDED,
    NARROW,
    NARROW_FLOATS,
    NARROW_INTEGERS,
    TypePromotionError,
    added,
    bits_of,
)
from traceir.errors import TraceirError
from traceir.exact.numerics import rounded
from traceir.exact.reals import Real
from traceir.lax import bitcast_convert_type as bitcast
from traceir.rules import default

Function = Callable[..., Any]
EVERY = (*NARROW_FLOATS, *NARROW_INTEGERS)
# In which ml_dtypes has another number than the nearest one just above the least one.
POWERS = "float8_e8m0fnu"


def same(a: Any, b: Any) -> bool:
    """Equal dtypes, shapes, numbers and signs, any NaN being as good as another."""
    a, b = np.asarray(a), np.asarray(b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    if a.dtype.name in ADDED:
        a, b = a.astype(np.float32), b.astype(np.float32)
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    alike = (a == b) & (np.signbit(a) == np.signbit(b))
    return bool(np.all(alike | ((a != a) & (b != b))))


def patterns(name: str) -> np.ndarray:
    """Every number of a dtype."""
    return np.arange(1 << bits_of(added(name)), dtype=np.uint8).view(added(name))


def singles() -> np.ndarray:
    """Numbers of float32 on both sides of what narrow dtypes tell apart."""
    rng = np.random.default_rng(0)
    x = np.ldexp(rng.integers(1, 64, 4000), rng.integers(-24, 16, 4000))
    x = np.float32(x)
    near = np.nextafter(x, np.float32(0)), np.nextafter(x, np.float32(np.inf))
    ends = np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, 1e-30])
    return np.concatenate([x, -x, *near, ends])


@pytest.mark.parametrize("name", EVERY)
def test_every_number_of_a_narrow_dtype_is_read_by_the_backend(name: str) -> None:
    x = patterns(name)
    found = traceir.jit(lambda a: a.astype("float32"))(x)
    assert same(found, x.astype(np.float32))


@pytest.mark.parametrize("name", NARROW_FLOATS)
def test_floats_are_rounded_once_as_ml_dtypes_rounds_them(name: str) -> None:
    x = singles()
    wanted = np.where(np.isnan(x), np.float32(np.nan), x).astype(added(name))
    assert same(traceir.jit(lambda a: a.astype(name))(x), wanted)
    assert same(jnp.asarray(x).astype(name), wanted)


@pytest.mark.parametrize("name", NARROW_FLOATS)
def test_wide_floats_and_integers_are_rounded_once(name: str) -> None:
    rng = np.random.default_rng(1)
    doubles = singles()[:300].astype(np.float64) * (1 + 2.0**-40)
    whole = rng.integers(-(2**20), 2**20, 300)
    far = rng.integers(-(2**62), 2**62, 100)
    for x in (doubles, whole, far, whole.astype(np.int32)):
        with traceir.enable_x64(True):
            compiled = traceir.jit(lambda a: a.astype(name))(x)
            eager = jnp.asarray(x).astype(name)
        exact = [rounded(Real.of(v.item()), added(name)) for v in x]
        assert same(compiled, np.array(exact)), x.dtype
        assert same(eager, np.array(exact)), x.dtype


def test_the_least_power_of_two_is_the_nearest_to_what_is_just_above_it() -> None:
    x = np.float32([1.0, 1.25, 1.75, 0.5, 0.0, -1.0]) * np.float32(2.0**-127)
    wanted = np.array([0, 0, 1, 0, 255, 255], np.uint8).view(added(POWERS))
    for found in (jnp.asarray(x).astype(POWERS), traceir.jit(_to_powers)(x)):
        assert same(found, wanted)


def _to_powers(x: Any) -> Any:
    return x.astype(POWERS)


@pytest.mark.parametrize("name", NARROW_INTEGERS)
def test_floats_saturate_and_integers_wrap(name: str) -> None:
    low, high = int(jnp.iinfo(name).min), int(jnp.iinfo(name).max)
    x = singles()
    clipped = np.trunc(np.clip(np.where(np.isnan(x), 0, x), low, high))
    for f in (lambda a: a.astype(name), traceir.jit(lambda a: a.astype(name))):
        assert np.array_equal(np.asarray(f(jnp.asarray(x))).astype(int), clipped)
        k = np.arange(-300, 300, dtype=np.int32)
        wrapped = (k - low) % (high - low + 1) + low
        assert np.array_equal(np.asarray(f(jnp.asarray(k))).astype(int), wrapped)


BOTH: dict[str, Function] = {
    "arithmetic": lambda x, y: (x + y, x - y, x * y, -x, x * 3 + 1, 2 - x, x**2),
    "order": lambda x, y: (jnp.maximum(x, y), x < y, x == y, lax.clamp(y, x, x)),
    "choices": lambda x, y: (jnp.where(x < y, x, y), jnp.where(x > 1, x, 0)),
    "moves": lambda x, y: (x.T, x[1:, ::-1], jnp.concatenate([x, y]), jnp.pad(x, 1)),
    "folds": lambda x, y: (x.max(0), x.min(), jnp.argmax(x, 1), lax.cummax(x)),
    "order of all": lambda x, y: (lax.sort(x), lax.iota(x.dtype, 5)),
    "other dtypes": lambda x, y: [x.astype(d) for d in ("int32", "bool", *SOME)],
    "places": lambda x, y: (x[jnp.array([0, 2])], x.at[1].set(y[0])),
    "updates": lambda x, y: (x.at[jnp.array([1, 1])].max(y[:2]),),
    "slices": lambda x, y: (lax.dynamic_slice(x, (1, 0), (2, 2)),),
    "loops": lambda x, y: lax.fori_loop(0, 3, lambda k, c: c * x + y, x),
    "scan": lambda x, y: lax.scan(lambda c, r: (c + r, c * r), x[0], y),
    "branches": lambda x, y: lax.cond(x[0, 0] > y[0, 0], lambda: x + y, lambda: x),
    "no elements": lambda x, y: (
        lax.reduce_max(x[:0], (0,)),
        lax.reduce_min(x[:0], (0,)),
    ),
    "examples": lambda x, y: traceir.vmap(lambda a, b: a * b + a)(x, y),
}
SOME = ("float32", "bfloat16", "uint8", "float8_e5m2", "int4", "uint2", "float4_e2m1fn")
FLOATS: dict[str, Function] = {
    "quotients": lambda x, y: (x / y, lax.rem(x, y), x * 0.3),
    "functions": lambda x, y: (jnp.exp(x), jnp.tanh(x), lax.sqrt(abs(x))),
    "roundings": lambda x, y: (jnp.floor(x), lax.round(x), lax.is_finite(x)),
    "products": lambda x, y: (_dot(x, y, "float32"),),
}
INTEGERS: dict[str, Function] = {
    "quotients": lambda x, y: (lax.div(x, y), lax.rem(x, y), x // y, x % y),
    "bits": lambda x, y: (x & y, x | y, x ^ y, ~x, lax.population_count(x), lax.clz(x)),
    "shifts": lambda x, y: (
        lax.shift_left(x, y),
        lax.shift_right_logical(x, y),
        lax.shift_right_arithmetic(x, y),
    ),
    "sums": lambda x, y: (lax.reduce_sum(x, (0,)), lax.cumsum(x), lax.dot(x, y.T)),
    "bits of all": lambda x, y: (lax.reduce_and(x, (0,)), lax.reduce_xor(x, (0,))),
    "indices": lambda x, y: (jnp.arange(60).reshape(20, 3)[x[0, 0]], jnp.arange(9)[x]),
    "cases": lambda x, y: (lax.select_n(x[0], *(y[0] + k for k in range(3))),),
    "products": lambda x, y: (
        _dot(x, y, "int32" if x.dtype.name[0] == "i" else "uint32"),
    ),
}


def _dot(x: Any, y: Any, dtype: str | None) -> Any:
    numbers = (((1,), (1,)), ((), ()))
    return lax.dot_general(x, y, numbers, preferred_element_type=dtype)


@pytest.mark.parametrize("name", EVERY)
def test_the_backend_gives_what_the_reference_gives(name: str) -> None:
    functions = BOTH | (FLOATS if name in NARROW_FLOATS else INTEGERS)
    for seed in range(soak.examples(1)):
        rng = np.random.default_rng(seed)
        x, y = (rng.choice(patterns(name), (3, 4)) for _ in range(2))
        for what, f in functions.items():
            ways = f, traceir.jit(f), traceir.jit(f, backend="reference")
            found = [
                traceir.tree.leaves(way(*map(jnp.asarray, (x, y)))) for way in ways
            ]
            for own in found[1:]:
                assert all(map(same, found[0], own)), (what, x, y)


@pytest.mark.parametrize("one", ["int4", "uint2", "float4_e2m1fn"])
@pytest.mark.parametrize("other", ["uint8", "int32", "float16"])
def test_parts_of_a_byte_are_put_together_again(one: str, other: str) -> None:
    whole = np.random.default_rng(2).integers(0, 120, 16, np.uint8).view(other)
    for way in (lambda f: f, traceir.jit):
        parts = way(lambda a: bitcast(a, one))(jnp.asarray(whole))
        assert parts.dtype == one
        assert same(way(lambda a: bitcast(a, other))(parts), whole)
    pairs = bitcast(jnp.asarray(whole), "uint2").reshape(-1, 2)
    assert same(bitcast(pairs, "int4").reshape(-1), bitcast(whole, "int4").reshape(-1))


def test_dtypes_that_have_none_in_common() -> None:
    x, y = jnp.ones(2, "int4"), jnp.ones(2, "float8_e4m3fn")
    for f in (lambda: x + jnp.int8(1), lambda: x * 1.5, lambda: y + jnp.float32(1)):
        with pytest.raises(TypePromotionError) as raised:
            f()
        assert isinstance(raised.value, ValueError)
        assert getattr(raised.value, "rule", "") == "promote.apart"
    for a in (x, y):
        for b in (1, True, jnp.array(True), a):
            assert (a + b).dtype == a.dtype
    assert (y * 2.5).dtype == y.dtype and (y + jnp.int32(1)).dtype == y.dtype


def test_types_are_said_as_jax_says_them() -> None:
    def f(x: Any) -> Any:
        return (x.astype("float8_e4m3fn") * 2.5).astype(jnp.int4)

    closed = traceir.make_jaxpr(f)(jnp.ones(2))
    assert "mul b 2.5:f8_e4m3fn[]" in str(closed) and "d:i4[2] = " in str(closed)
    assert str(text.parse(str(closed))) == str(closed)
    full = text.to_text(closed, full=True)
    assert text.to_text(text.parse(full), full=True) == full


def test_limits_kinds_and_sizes() -> None:
    assert (jnp.iinfo("int4").min, jnp.iinfo(jnp.uint2).max) == (-8, 3)
    assert float(jnp.finfo(jnp.float8_e4m3fn).max) == 448
    assert jnp.issubdtype(jnp.int4, jnp.signedinteger)
    assert jnp.issubdtype(jnp.float8_e5m2, jnp.floating)
    assert jnp.isdtype(jnp.uint4, "unsigned integer")
    x = jnp.ones(5, jnp.int4)
    assert (x.itemsize, x.nbytes, x[0].item(), jnp.int4(-3)) == (1, 5, 1, -3)


@pytest.mark.parametrize("name", EVERY)
def test_arrays_are_kept_and_handed_on(name: str) -> None:
    x = jnp.asarray(patterns(name))
    assert same(pickle.loads(pickle.dumps(x)), x)
    assert same(copy.deepcopy(x), x)
    assert same(traceir.device_put(np.asarray(x)), x)
    assert same(traceir.jit(lambda a: a)(x), x)
    with pytest.raises(BufferError):
        x.__dlpack__()


def test_each_dtype_has_a_trace_of_its_own() -> None:
    f = traceir.jit(lambda x: x + x)
    for name in (*EVERY, "int8", "uint8"):
        assert f(jnp.ones(2, name)).dtype == name
    assert f.cache_info().misses == len(EVERY) + 2


def test_gradients_go_through_conversions() -> None:
    def f(x: Any) -> Any:
        return jnp.sum(x.astype("float8_e4m3fn").astype("float32") ** 2)

    # The cotangent is rounded to the dtype on its way, too.
    assert traceir.grad(f)(jnp.array([1.0, 1.3])).tolist() == [2.0, 2.5]
    with pytest.raises(TypeError):
        traceir.grad(lambda x: x.astype("float32").sum())(jnp.ones(2, "int4"))


def test_plain_functions_of_numpy_take_none() -> None:
    double = traceir_numba.jit(lambda a: a + a)
    for name in sorted(NARROW):
        with pytest.raises(TraceirError) as raised:
            double(np.ones(2, added(name)))
        assert raised.value.rule == "jit.dtype"
    with pytest.raises(TypeError, match="int4 in a NumPy function"):
        traceir_numba.jit(lambda a: a.astype(ml_dtypes.int4))(np.ones(2))


def test_scaled_products_in_eight_bits() -> None:
    """A quantised product as its authors write it; the numbers are JAX 0.10.2's."""
    rng = np.random.default_rng(0)
    x, w = (jnp.asarray(rng.normal(size=s), "float32") for s in ((4, 8), (8, 3)))

    def quantised(a: Any) -> tuple[Any, Any]:
        scale = jnp.max(jnp.abs(a)) / float(jnp.finfo(jnp.float8_e4m3fn).max)
        return (a / scale).astype(jnp.float8_e4m3fn), scale

    @traceir.jit
    def product(x: Any, w: Any) -> Any:
        (a, s), (b, t) = quantised(x), quantised(w)
        return jnp.matmul(a, b, preferred_element_type=jnp.float32) * (s * t)

    assert np.allclose(product(x, w), x @ w, atol=0.3)
    first = [2.203983783721924, -0.7201279401779175, -0.5999552011489868]
    assert product(x, w)[0].tolist() == pytest.approx(first, rel=1e-6)
    _, back = traceir.vjp(lambda w: _dot(x, w.T, "float32"), w)
    assert back(jnp.ones((4, 3)))[0].shape == w.shape


def test_products_of_two_formats_lose_no_digits() -> None:
    """Cotangents in the format of a greater range; the numbers are JAX 0.10.2's."""
    rng = np.random.default_rng(0)
    x, w = (jnp.asarray(rng.normal(size=s), "float32") for s in ((4, 8), (8, 3)))
    a, b = x.astype(jnp.float8_e4m3fn), w.astype(jnp.float8_e4m3fn)
    cotangent = (2 * _dot(a, b.T, "float32")).astype(jnp.float8_e5m2)
    for way in (lambda f: f, traceir.jit):
        found = way(lambda g, b: _dot(g, b, "float32"))(cotangent, b)
        assert found[0, :4].tolist() == [-1.7578125, 2.65625, 3.75, 4.765625]
    in_neither = _dot(cotangent, b, None)
    assert in_neither.dtype == jnp.float8_e5m2
    assert same(in_neither, _dot(cotangent, b, "float32").astype(jnp.float8_e5m2))


def test_weights_of_four_bits() -> None:
    """Weights in groups, two to a byte; the numbers are JAX 0.10.2's."""
    rng = np.random.default_rng(0)
    x, w = (jnp.asarray(rng.normal(size=s), "float32") for s in ((4, 8), (8, 3)))
    groups = w.reshape(2, 4, 3)
    scales = jnp.max(jnp.abs(groups), axis=1, keepdims=True) / 7.0
    weights = jnp.clip(jnp.round(groups / scales), -8, 7).astype(jnp.int4)
    pairs = weights.astype(jnp.uint8).reshape(-1, 2)
    packed = (pairs[:, 0] & 15) | (pairs[:, 1] << 4)
    assert packed.nbytes == 12
    assert same(bitcast(packed, jnp.int4).reshape(weights.shape), weights)

    @traceir.jit
    def product(x: Any, packed: Any, scales: Any) -> Any:
        weights = bitcast(packed, jnp.int4).reshape(2, 4, 3)
        return x @ (weights.astype(jnp.float32) * scales).reshape(8, 3)

    first = [2.0829217433929443, -0.8518117070198059, -0.619073748588562]
    found = product(x, packed, scales)[0].tolist()
    assert found == pytest.approx(first, rel=1e-5)


def test_a_dtype_says_what_is_beyond_its_range() -> None:
    for name in NARROW_FLOATS:
        row, dtype = default().dtypes[name], added(name)
        far, zero = (rounded(Real.of(v), dtype) for v in (1e39, -0.0))
        beyond = "inf" if np.isinf(far) else "nan" if np.isnan(far) else "max"
        zeros = "none" if np.isnan(zero) else "both" if np.signbit(zero) else "one"
        assert (row.beyond, row.zero) == (beyond, zeros), name
        nan = rounded(Real.of(float("nan")), dtype)
        assert np.isnan(nan) or (float(nan) == 0 and np.signbit(nan))
        numbers = np.abs(patterns(name).astype(np.float64))
        finite = numbers[np.isfinite(numbers)]
        assert (finite[finite > 0].min(), finite.max()) == (row.least, row.max)
