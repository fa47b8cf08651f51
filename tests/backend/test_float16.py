"""Numbers of 16 bits in kernels, against the reference. Serves: accuracy.rounded"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from float16_programs import EXACT, HALVES, NEAR, Function, numbers

import traceir
import traceir.numpy as jnp
from traceir.base.config import enable_x64
from traceir.dtypes import as_dtype
from traceir_numba.llvm import optimize

# ml_dtypes signals where NumPy is asked for a NaN that signals.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")


def every(dtype: str) -> np.ndarray:
    """All numbers of a dtype, by their bits."""
    return np.arange(1 << 16, dtype="uint16").view(as_dtype(dtype))


def same(found: Any, wanted: Any) -> bool:
    """True if two arrays have the same numbers; any NaN is any other."""
    a, b = np.asarray(found), np.asarray(wanted)
    assert (a.dtype, a.shape) == (b.dtype, b.shape), (a.dtype, b.dtype)
    if a.dtype.itemsize == 2 and a.dtype.kind in "fV":
        numbers = ~(np.isnan(a) & np.isnan(b))
        a, b = a.view("uint16")[numbers], b.view("uint16")[numbers]
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))


def compiled(function: Function) -> Function:
    """A function by the Numba backend."""
    return traceir.jit(function, backend="numba")


@pytest.mark.parametrize("dtype", HALVES)
def test_every_number_is_read_and_rounded(dtype: str) -> None:
    x = every(dtype)

    def f(x: Any) -> Any:
        wide = x.astype("float32")
        return wide, wide.astype(dtype), -x, x.astype("int32"), x != 0, x[::-1]

    signed = [*compiled(f)(x)]
    number = ~np.isnan(x)
    assert same(signed[0], x.astype("float32")) and same(signed[1], x)
    assert same(signed[2], -x) and same(signed[4], x != 0) and same(signed[5], x[::-1])
    assert same(signed[3], f(jnp.asarray(x))[3])
    assert np.signbit(np.asarray(signed[0]))[number].sum() == number.sum() // 2


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_numbers_between_two_are_rounded_to_even(dtype: str, source: str) -> None:
    """Those at, beside and between any two neighbours, each rounded once."""
    x = every(dtype).astype("float64")
    x = np.sort(np.abs(x[np.isfinite(x)]))
    x = np.unique(x)
    tie = (x[1:] + x[:-1]) / 2
    wide = np.concatenate([tie, np.nextafter(tie, 0), np.nextafter(tie, np.inf), x])
    beyond = [x[-1] + (x[-1] - x[-2]) / 2, 1e39, np.inf, np.nan, 5e-324, 1e-45]
    with np.errstate(over="ignore"):
        wide = np.concatenate([wide, beyond]).astype(source)
    wide = np.concatenate([wide, -wide])
    with enable_x64():
        narrow = compiled(lambda x: x.astype(dtype))(wide)
        assert same(narrow, jnp.asarray(wide).astype(dtype))
    if dtype == "float16":
        with np.errstate(over="ignore"):
            assert same(narrow, wide.astype(dtype))


INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("source", [*INTEGERS, "bool"])
def test_integers_are_rounded_once(dtype: str, source: str) -> None:
    bits = 8 * np.dtype(source).itemsize
    near = [n + d for k in range(bits) for n in (1 << k, 257 << k) for d in (-1, 0, 1)]
    near += [(257 << k) + (1 << j) for k in range(1, bits) for j in range(k)]
    whole = np.array([n & ((1 << bits) - 1) for n in near], "uint64").astype(source)
    with enable_x64():
        narrow = compiled(lambda x: x.astype(dtype))(whole)
        assert same(narrow, jnp.asarray(whole).astype(dtype))
        exact = [float_of(int(n), dtype) for n in whole]
    assert np.asarray(narrow, "float64").tolist() == exact


def float_of(n: int, dtype: str) -> float:
    """The number of a dtype that is nearest to an integer, by integers alone."""
    digits, most = (11, 65504) if dtype == "float16" else (8, 255 << 120)
    size = abs(n)
    drop = max(0, size.bit_length() - digits)
    kept, rest = size >> drop, size & ((1 << drop) - 1)
    half = 1 << drop >> 1
    kept += rest > half or (rest == half and drop > 0 and kept % 2 == 1)
    found = kept << drop
    return (-1 if n < 0 else 1) * (float(found) if found <= most else float("inf"))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", EXACT)
def test_what_is_rounded_once_has_the_reference_s_bits(name: str, dtype: str) -> None:
    function = EXACT[name]
    for seed in range(5):
        x, y = numbers(dtype, (4, 9), seed), numbers(dtype, (4, 9), seed + 5)
        for found, want in zip(compiled(function)(x, y), function(x, y), strict=True):
            assert same(found, want), seed


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", NEAR)
def test_whole_programs_are_near_the_reference_s(name: str, dtype: str) -> None:
    function = NEAR[name]
    x = jnp.asarray(np.random.default_rng(1).normal(size=(5, 6)), dtype)
    found = traceir.tree_util.tree_leaves(compiled(function)(x))
    wanted = traceir.tree_util.tree_leaves(
        traceir.jit(function, backend="reference")(x)
    )
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        tolerance = 4 * float(jnp.finfo(dtype).eps)
        np.testing.assert_allclose(
            np.asarray(a, "float64"), np.asarray(b, "float64"), tolerance, tolerance
        )


@pytest.mark.parametrize("dtype", HALVES)
def test_the_source_runs_by_itself(dtype: str) -> None:
    x = numbers(dtype, (7,))
    f = compiled(lambda x: x * 2 + 1)
    source = f.lower(x).compile().as_text("source")
    assert f"{dtype}_value" in source and f"{dtype}_bits_f32" in source
    namespace: dict[str, Any] = {"__name__": "generated"}
    exec(compile(source, "generated", "exec"), namespace)
    (found,) = namespace["lambda_"](np.asarray(x))
    assert same(found, x * 2 + 1)


@pytest.mark.parametrize("dtype", HALVES)
def test_a_function_of_halves_vectorises(dtype: str) -> None:
    f, x = compiled(lambda x: x * x + x), jnp.ones(1 << 16, dtype)
    [kernel] = re.findall(r"^1\. .*", f.explain(x, what="speed"), re.MULTILINE)
    assert "; vectors of " in kernel, kernel
    assert re.search(r"\b(vmulps|mulps|fmul\s+v)", f.lower(x).compile().as_text("asm"))


def test_an_instruction_has_the_bits_of_the_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of drawn patterns, NaN among them, of ends and of the neighbours of ties."""
    rng = np.random.default_rng(5)
    ties = every("float16").astype("float32").view("uint32").astype("int64")
    near = np.concatenate([ties + k for k in (-1, 0, 1, 0xFFF, 0x1000, 0x1001)])
    drawn = rng.integers(0, 1 << 32, 200_000, "uint32")
    nan = drawn[:1000] | 0x7F800001
    x = np.concatenate([near.astype("uint32"), drawn, nan]).view("float32")

    def rounded(x: Any) -> Any:
        return traceir.lax.bitcast_convert_type(x.astype("float16"), "uint16")

    def read(h: Any) -> Any:
        return h.astype("float32")

    found = compiled(rounded)(x), compiled(read)(every("float16"))
    with monkeypatch.context() as patched:
        patched.setattr(optimize, "native", lambda texts, *_: tuple(texts))
        # Other programs, which have no code yet.
        wanted = (
            compiled(lambda x: (rounded(x), x + 1))(x)[0],
            compiled(lambda h: (read(h), -h))(every("float16"))[0],
        )
    assert np.array_equal(found[0], wanted[0])
    assert same(found[1], wanted[1])


def test_a_number_of_64_bits_is_rounded_twice_in_a_loop_over_numbers() -> None:
    """No instruction rounds it to 16 bits at once, as LLVM would where it may."""
    x, key = np.linspace(0.5, 4.0, 5, dtype="float16"), traceir.random.key(7)

    def f(x: Any) -> Any:
        drawn = jnp.exp(traceir.random.loggamma(key, x, dtype=x.dtype))
        return traceir.lax.random_gamma_grad(x, drawn) / drawn

    with np.errstate(all="ignore"):
        assert same(compiled(f)(x), traceir.jit(f, backend="reference")(x))
