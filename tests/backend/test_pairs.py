"""Complex numbers in kernels, against the reference. Serves: accuracy.complex"""

from __future__ import annotations

import warnings
from typing import Any

import compiling
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pair_programs import PROGRAMS, STEPS, Function, numbers
from soak import examples

import traceir
from traceir import lax, tree_util
from traceir.base.config import enable_x64
from traceir.dtypes import part_dtype
from traceir.exact import complex_functions as exact
from traceir.exact.complexes import Complex
from traceir.oracle.accuracy import Goal, member
from traceir.text import parse
from traceir_numba import backend
from traceir_numba.lowering.split_pairs import lower_pairs

DTYPES = ("complex64", "complex128")


def compared(function: Function, *args: Any) -> None:
    """Check that both backends give the same."""
    expected = traceir.jit(function, backend="reference")(*args)
    found = traceir.jit(function, backend="numba")(*args)
    leaves = tree_util.tree_leaves(expected), tree_util.tree_leaves(found)
    for want, got in zip(*(map(np.asarray, x) for x in leaves), strict=True):
        assert_close(got, want)


def assert_close(got: np.ndarray, want: np.ndarray) -> None:
    """Check that arrays are the same, to a few roundings of what is summed."""
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    size = np.finfo(want.dtype).eps if want.dtype.kind in "fc" else 0
    bound = 16 * size * max(1, np.nanmax(np.abs(want), initial=0))
    assert np.allclose(got, want, 16 * size, bound, equal_nan=True), (got, want)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_those_of_the_reference(name: str) -> None:
    function, args = PROGRAMS[name]
    compared(function, *args)


# -- functions ------------------------------------------------------------------------

FUNCTIONS = ("abs", "sign", "sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh")
FUNCTIONS += (
    "tanh",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "expm1",
    "log1p",
)
OTHER_NAMES = {"abs": "absolute"} | {
    f"a{n}": f"arc{n}" for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
}


def hard(dtype: str) -> np.ndarray:
    """Numbers of which the parts are edges of the dtype, and drawn ones."""
    info = np.finfo(part_dtype(np.dtype(dtype)))
    edges = [0.0, 1.0, 0.5, 2.0, 1e-5, np.pi, 20.0, 80.0, float(info.tiny)]
    edges += [float(info.max), 1 + float(info.eps), 1 - float(info.eps)]
    signed = [s * e for e in edges for s in (1.0, -1.0)]
    grid = np.array([complex(a, b) for a in signed for b in signed])
    drawn = [numbers(200, dtype="complex128") * s for s in (1e-3, 1.0, 30.0, 1e10)]
    return np.concatenate([grid, *drawn]).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_near_numpys(name: str, dtype: str) -> None:
    x = hard(dtype)
    if name in ("log1p", "expm1"):  # NumPy's lose digits there
        x = x[(np.abs(x) > 1) & (np.abs(x) < 50)]
    with enable_x64(True):
        found = np.asarray(traceir.jit(getattr(lax, name), backend="numba")(x))
    function = getattr(np, OTHER_NAMES.get(name, name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = function(x.astype("complex128"))
        if name == "sign":
            want = np.where(x == 0, x, x / np.abs(x.astype("clongdouble")))
        assert found.dtype == (part_dtype(x.dtype) if name == "abs" else x.dtype)
        part = part_dtype(np.dtype(dtype))
        parts = [(f(found), f(want).astype(part)) for f in (np.real, np.imag)]
        size = np.abs(want).astype(part)
        steps = np.spacing(np.minimum(size, np.finfo(part).max)).astype("float64")
        finite = np.isfinite(size)
        for got, wanted in parts:
            off = np.abs(got.astype("float64") - wanted.astype("float64")) / steps
            worst = np.where(finite & ~(off <= 4), off, 0)
            assert not worst.any(), x[worst != 0][:3]
            assert np.array_equal(np.isnan(got[finite]), np.isnan(wanted[finite]))


EDGES = (0.0, -0.0, 1.0, -2.5, 1e-5, 800.0, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("name", [*FUNCTIONS, "rsqrt", "logistic"])
def test_functions_are_in_their_sets_at_the_edges(name: str) -> None:
    x = np.array([complex(a, b) for a in EDGES for b in EDGES])
    with enable_x64(True):
        found = np.asarray(traceir.jit(getattr(lax, name), backend="numba")(x))
    for a, got in zip(x, found, strict=True):
        wanted = exact.FUNCTIONS[name](Complex.of(a))
        goal = Goal(wanted, found.dtype, 4, {})
        assert member("ulp", goal, got), (a, got, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_quotient_has_the_whole_range(dtype: str) -> None:
    with enable_x64(True):
        divide = traceir.jit(lax.div, backend="numba")
        info = np.finfo(part_dtype(np.dtype(dtype)))
        top, low = complex(info.max, info.max), complex(info.tiny, info.tiny)
        x = np.array([top, low, top, low, 1 + 2j, top], dtype)
        y = np.array([top, low, 2, 0.5, 3 + 4j, 1 + 1j], dtype)
        expected = [1, 1, top / 2, 2 * low, 0.44 + 0.08j, info.max]
        found = np.asarray(divide(x, y))
    assert np.allclose(found, np.array(expected, dtype), 4 * info.eps, 0)


# -- what kernels do ------------------------------------------------------------------


def built(text: str) -> Any:
    return backend.compile(parse(text), "f")


PRODUCT = """{ lambda ; a:c64[N] b:c64[N]. let
    c:c64[N] = mul a b
    d:c64[N] = FUNCTION c
    e:c64[N] = add d b
  in (e, d) }"""


@pytest.mark.parametrize("function", ["neg", "exp", "sqrt"])
def test_one_kernel_reads_and_writes_packed_numbers(function: str) -> None:
    text = PRODUCT.replace("FUNCTION", function).replace("N", "4096")
    made = built(text)
    (launch,) = made.program.launches()
    assert len(launch.buffers) == 4
    assert compiling.PACKED.search(made.as_text("asm"))


def test_results_are_made_as_complex_arrays() -> None:
    made = built(PRODUCT.replace("FUNCTION", "neg").replace("N", "7"))
    assert "e = empty(7, COMPLEX64)" in made.source
    assert "view" not in made.source


def test_a_program_of_numbers_is_left_as_it_is() -> None:
    closed = parse("{ lambda ; a:f32[3]. let b:f32[3] = sin a in (b,) }")
    assert lower_pairs(closed).closed is closed


@pytest.mark.parametrize("name", ["scan", "moved", "a large product"])
def test_what_is_generated_runs_by_itself(name: str) -> None:
    function, args = PROGRAMS[name]
    made = backend.compile(traceir.make_jaxpr(function)(*args), "f")
    space: dict[str, Any] = {}
    exec(compile(made.source, "f", "exec"), space)
    for got, want in zip(space["f"](*args), made.run(*args), strict=True):
        assert_close(got, want)  # NumPy's products sum in another order


# -- programs that are drawn ----------------------------------------------------------


@settings(max_examples=examples(8))
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=6), st.data())
def test_drawn_programs_are_those_of_the_reference(
    steps: list[str], data: st.DataObject
) -> None:
    shape = data.draw(st.sampled_from([(3,), (3, 3)]))
    seed = data.draw(st.integers(0, 9))

    def program(a: Any, b: Any) -> Any:
        for step in steps:
            a, b = STEPS[step](a, b), a
            a = a / (1 + abs(a))
        return a, b

    compared(program, numbers(*shape, seed=seed), numbers(*shape, seed=seed + 1))


def test_a_donated_array_is_written_over() -> None:
    text = "{ lambda ; a:c64[N] b:c64[N]. let c:c64[N] = mul a b in (c,) }"
    made = backend.compile(parse(text.replace("N", "100000")), "f", (0,))
    assert "empty" not in made.source.rpartition("def f(")[2]
    x, y = numbers(100_000), numbers(100_000, seed=1)
    want = x * y
    (found,) = made.run(x, y)
    assert np.shares_memory(found, x) and np.allclose(found, want, 1e-5)
