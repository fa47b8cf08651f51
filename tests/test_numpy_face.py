"""`traceir.numpy` against JAX 0.10.2, as recorded.

Rules: function.operands, function.composite, promote.*, face.*
"""

from __future__ import annotations

import doctest
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from types import GenericAlias
from typing import Any

import face
import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.jit.function import JitFunction, Options

PROGRAMS = list(face.recorded())


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Programs ask for float64 and lose fractions on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (UserWarning, FutureWarning))
        yield


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_equations_and_types_are_those_of_jax(program: face.Program) -> None:
    function, arguments = face.bound(program, traceir)
    closed = traceir.make_jaxpr(function)(*arguments)
    assert str(closed) == program.text
    assert face.show_types(list(closed.out_avals)) == program.types


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_eager_values_are_those_of_jax(program: face.Program) -> None:
    results = face.flat(face.run(program, traceir))
    types = [traceir.typeof(r) for r in results]
    arrays = [np.asarray(r, a.dtype) for r, a in zip(results, types, strict=True)]
    assert face.show_types(types) == program.types
    wanted = eval(program.values, {"inf": np.inf, "nan": np.nan})
    for array, expected in zip(arrays, wanted, strict=True):
        tolerance = 2e-3 if array.dtype == np.float16 else 2e-6
        np.testing.assert_allclose(array, expected, tolerance, tolerance / 10)


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_staged_values_are_the_eager_ones(program: face.Program) -> None:
    function, arguments = face.bound(program, traceir)
    eager = face.flat(face.run(program, traceir))
    staged = face.flat(traceir.jit(function, backend="reference")(*arguments))
    for one, two in zip(eager, staged, strict=True):
        assert np.asarray(one, two.dtype).tobytes() == np.asarray(two).tobytes()


def documented() -> list[Any]:
    """The public functions of both modules."""
    modules = (jnp, lax)
    found = (getattr(module, name) for module in modules for name in module.__all__)
    return [value for value in found if callable(value) and value is not jnp.ndarray]


@pytest.mark.parametrize(
    "function", documented(), ids=lambda f: getattr(f, "__qualname__", repr(f))
)
def test_every_function_has_an_example_that_runs(function: Any) -> None:
    if isinstance(function, type | GenericAlias | type(jnp.float32)):
        return
    source = inspect.unwrap(function)
    finder = doctest.DocTestFinder(recurse=False)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    names = vars(sys.modules[source.__module__]).copy()
    (test,) = finder.find(source, source.__name__, globs=names)
    assert test.examples
    assert doctest.DocTestRunner(optionflags=flags).run(test).failed == 0


def test_float64_is_narrowed_silently_in_data_and_aloud_on_request() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jnp.array(np.ones(2)).dtype == np.float32
        assert jnp.asarray(np.arange(3)).dtype == np.int32
        assert jnp.zeros(2, dtype=float).dtype == np.float32
        assert (jnp.ones(2) + np.float64(1)).dtype == np.float32
    requests: list[Callable[[], Any]] = [
        lambda: jnp.zeros(2, dtype=jnp.float64),
        lambda: jnp.arange(3, dtype="int64"),
        lambda: jnp.ones(2).astype("float64"),
        lambda: jnp.array([1.0], dtype=np.float64),
        lambda: jnp.float64(1),
        lambda: jnp.linspace(0, 1, 3, dtype="float64"),
    ]
    for request in requests:
        with pytest.warns(UserWarning, match=r"64.*will be truncated.*32") as caught:
            assert request().dtype.itemsize == 4
        assert caught[0].filename == __file__


def test_wide_types_are_kept_when_they_are_on() -> None:
    i32, f32 = jnp.arange(3), jnp.ones(3)
    with traceir.enable_x64(True):
        assert jnp.arange(3).dtype == np.int64
        assert jnp.linspace(0, 1, 3).dtype == np.float64
        assert jnp.array(2**40).item() == 2**40
        assert jnp.sum(i32).dtype == np.int64
        assert jnp.mean(i32).dtype == np.float32
        assert jnp.argmax(f32).dtype == np.int64
        assert (i32 / 2).dtype == (f32 * 2.5).dtype == np.float32
        assert jnp.sin(jnp.arange(3)).dtype == np.float64
        assert jnp.zeros(1, dtype="float64").dtype == np.float64
        text = str(traceir.make_jaxpr(lambda x: jnp.where(x > 0, x, 0.5))(f32))
        assert "d:f64[]" in text
        assert "0.5:f64[]" in text
        assert "mul a 2.5:f32[]" in str(traceir.make_jaxpr(lambda x: x * 2.5)(f32))


def test_integers_wrap_and_division_by_zero_has_a_value() -> None:
    assert (jnp.uint8(255) + 1).item() == 0
    assert (jnp.array([3], "uint8") + 300).item() == 47
    assert [(jnp.array(1) // 0).item(), (jnp.array(1) % 0).item()] == [-2, 0]
    assert jnp.array([7.0, -7.0]).__floordiv__(0.0).tolist() == [np.inf, -np.inf]
    bases, exponents = jnp.array([2, 3, -1, 0]), jnp.array([31, 20, 7, 0])
    assert (bases**exponents).tolist() == [-(2**31), -808182895, -1, 1]
    negative = jnp.array([-1, -2, -1, -1])
    assert (bases**negative).tolist() == [0, 703701817, -1, 0]
    assert (jnp.uint8(3) ** jnp.uint8(7)).item() == 3**7 % 256


def test_the_sign_of_zero_and_nan_pass_through() -> None:
    x = jnp.array([-0.0, jnp.nan])
    assert np.signbit(np.asarray(jnp.sign(x)))[0]
    assert np.isnan(np.asarray(jnp.sign(x)))[1]
    assert np.signbit(np.asarray(jnp.ceil(jnp.array([-0.5]))))[0]
    assert jnp.isnan(x).tolist() == [False, True]
    finite = jnp.isfinite(jnp.array([1.0, jnp.inf, jnp.nan, -jnp.inf]))
    assert finite.tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((5, 2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 4)),
        ((1, 2, 3), (5, 3, 4)),
        ((5, 1, 2, 3), (6, 3, 4)),
        ((6, 2, 3), (5, 1, 3, 4)),
        ((2, 1, 2, 3), (1, 4, 3, 2)),
        ((3,), (5, 1, 3, 4)),
        ((1, 5, 2, 3), (3,)),
        ((1, 1, 2, 3), (1, 3, 4)),
    ],
)
def test_matmul_broadcasts_as_numpy(
    left: tuple[int, ...], right: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-4, 5, shape).astype("f") for shape in (left, right))
    np.testing.assert_array_equal(jnp.asarray(x) @ jnp.asarray(y), x @ y)
    assert ((jnp.asarray(x) > 0) @ (jnp.asarray(y) > 0)).dtype == bool


def test_a_promotion_that_a_composite_makes_is_inside_of_it() -> None:
    closed = traceir.make_jaxpr(lambda x: x // 2)(jnp.ones(3))
    (eqn,) = closed.eqns
    assert eqn.primitive == "jit"
    assert eqn.param("name") == "floor_divide"
    assert [a.str_short() for a in eqn.param("jaxpr").in_avals] == ["f32[3]", "i32[]"]


def test_operators_follow_the_face_and_functions_do_not() -> None:
    def operators(x: Any) -> Any:
        return x + 1.5, x / 2, 2 // x, x * x, x @ x, x**2, -x, x > 1.5, divmod(x, 2)

    def types(function: Callable[[Any], Any]) -> str:
        options = Options(backend="reference", face="numpy", x64=True)
        traced = JitFunction(function, None, None, options).trace(integers)
        return face.show_types(list(traced.jaxpr.out_avals))

    integers = np.arange(3, dtype="int32")

    assert types(operators) == (
        "float64[3], float64[3], int32[3], int32[3], int32[], int32[3], int32[3], "
        "bool[3], int32[3], int32[3]"
    )
    assert types(lambda x: x @ x.astype(jnp.float32)) == "float64[]"
    assert types(lambda x: x ** np.float32(0.5)) == "float64[3]"
    assert types(lambda x: jnp.add(x, np.float32(1.5))) == "float32[3]"
    assert types(lambda x: x + np.float32(1.5)) == "float64[3]"


def test_dtypes_by_name() -> None:
    assert jnp.float32 == np.float32 == jnp.dtype(jnp.float32)
    assert jnp.float32 != "no dtype"
    assert hash(jnp.float32) == hash(np.float32)
    assert repr(jnp.bool_) == "traceir.numpy.bool"
    assert jnp.zeros(2, jnp.int8).dtype == jnp.int8
    assert jnp.int32([1, 2]).tolist() == [1, 2]
    assert jnp.issubdtype(jnp.float32, jnp.floating)
    assert not jnp.issubdtype(jnp.int8, jnp.floating)
    assert jnp.issubdtype(jnp.int8, jnp.int8)
    assert jnp.finfo(jnp.float32).eps == np.float32(2**-23)
    assert jnp.iinfo("int8").max == 127
    assert jnp.result_type(jnp.arange(3), 2.5) == np.float32
    assert (jnp.newaxis, jnp.pi, jnp.e, jnp.inf) == (None, np.pi, np.e, np.inf)


def test_arrays_are_made_of_nested_sequences_and_other_arrays() -> None:
    x = jnp.array([1.0, 2.0])
    assert jnp.array([x, [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert jnp.array([x, [3, 4]]).dtype == np.float32
    assert jnp.array([jnp.int32(1), 2]).dtype == np.int32
    assert jnp.array([1, 2.5, True]).tolist() == [1, 2.5, 1]
    assert jnp.array((range(2), range(2))).shape == (2, 2)
    assert jnp.array([]).shape == (0,)
    assert jnp.array([1], ndmin=3).shape == (1, 1, 1)
    assert jnp.array([np.arange(2), np.arange(2)]).dtype == np.int32
    assert jnp.full((2,), np.nan, int).tolist() == [0, 0]
    wide = jnp.array(np.array([1e20, -1e20]), dtype=int)
    assert wide.tolist() == [2**31 - 1, -(2**31)]


@pytest.mark.parametrize(
    ("shapes", "options", "shape"),
    [
        (((), (3,)), {"num": 4}, (4, 3)),
        (((3,), ()), {"num": 4}, (4, 3)),
        (((), (3,)), {"num": 1}, (1, 3)),
        (((3,), (3,)), {"num": 0, "axis": 1}, (3, 0)),
        (((2, 3), (3,)), {"num": 3}, (3, 2, 3)),
        (((3,), (2, 3)), {"num": 3, "axis": 1, "endpoint": False}, (2, 3, 3)),
    ],
)
def test_linspace_between_arrays_of_two_shapes(
    shapes: Any, options: Any, shape: Any
) -> None:
    first, last = np.zeros(shapes[0], "float32"), np.full(shapes[1], 6, "float32")
    with traceir.numpy_rank_promotion("raise" if () in shapes else "allow"):
        found = jnp.linspace(jnp.asarray(first), jnp.asarray(last), **options)
    assert found.shape == shape
    assert np.allclose(np.asarray(found), np.linspace(first, last, **options))


def test_linspace_returns_its_step() -> None:
    step = jnp.linspace(0.0, 1.0, 1, retstep=True)[1]
    assert np.isnan(step) and not step.weak_type
    assert jnp.linspace(0.0, 3.0, 1, endpoint=False, retstep=True)[1] == 3
    samples, step = jnp.linspace(0, 1, 3, retstep=True)
    assert (samples.tolist(), step.item()) == ([0, 0.5, 1], 0.5)
    assert jnp.linspace(0, 10, 4, endpoint=False, dtype=int).tolist() == [0, 2, 5, 7]


def test_a_numpy_array_is_captured_as_it_was_traced() -> None:
    captured = np.ones(3, "float32")
    closed = traceir.make_jaxpr(lambda x: x * captured + captured)(jnp.ones(3))
    captured[:] = 9
    assert [c.tolist() for c in closed.consts] == [[1, 1, 1]]


@pytest.mark.parametrize(
    "given", [np.ones((2, 2)), np.arange(4), np.float64(2.5), np.ones(4, np.float32)]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape_leaves_an_array_of_numpys_one_of_numpys(
    given: Any, order: str
) -> None:
    found: Any = jnp.reshape(given, (-1, 1), order=order)
    assert type(found) is np.ndarray and found.dtype == given.dtype
    np.testing.assert_array_equal(found, np.reshape(given, (-1, 1), order=order))
    with pytest.raises(TypeError, match=r"face\.reshape"):
        jnp.reshape(given, (3, 7))
    traced = traceir.jit(lambda x: jnp.reshape(x, (-1, 1)))(given)
    assert isinstance(traced, traceir.Array) and traced.dtype != np.float64


def test_subscripts_of_einsum_are_any_characters() -> None:
    a, b = jnp.arange(6.0).reshape(2, 3), jnp.arange(12.0).reshape(3, 4)
    for text in ("a1,1b->ab", "a_,_b->ab", "a?,?b->ab", "é1,1b->éb"):
        np.testing.assert_array_equal(jnp.einsum(text, a, b), a @ b)
    np.testing.assert_array_equal(jnp.einsum("...2,2b", a, b), a @ b)


def test_einsum_takes_names_of_dimensions_of_any_kind() -> None:
    a, b = jnp.arange(6.0).reshape(2, 3), jnp.arange(12.0).reshape(3, 4)
    for i, j, k in (("row", "by", "col"), (60, 70, 80), (("x", 1), ("y", 2), ("z", 0))):
        found = jnp.einsum(a, [i, j], b, [j, k], [k, i])
        np.testing.assert_array_equal(found, (a @ b).T)
    np.testing.assert_array_equal(jnp.einsum(a, ["z", "a"]), a.T)
    with pytest.raises(ValueError, match=r"einsum\.subscripts"):
        jnp.einsum(a, 5)


def test_kinds_of_dtypes_are_of_kinds() -> None:
    kinds = np.generic, np.number, np.inexact, np.floating, np.integer, np.character
    for one in kinds:
        for other in (*kinds, np.dtype("float32"), np.float32):
            assert jnp.issubdtype(one, other) == np.issubdtype(one, other)
