"""Finds of libraries' own tests: names that programs and arrays have in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.arrays.devices import CpuDevice
from traceir.as_jax import standing_in
from traceir.as_jax.modules import dtype_functions
from traceir.as_jax.modules import extend as jex
from traceir.as_jax.modules.core import Literal
from traceir.as_jax.modules.interpreters.partial_eval import dce_jaxpr
from traceir.oracle.printing import write
from traceir.test_util import check_grads
from traceir.text import parse, to_text

PLACES = np.array([0, 1])


def read(x: Any) -> Any:
    return x[PLACES]


def added(x: Any) -> Any:
    return x.at[PLACES].add(1.0)


def slid(x: Any) -> Any:
    return lax.conv(x[None, None], x[None, None], (1, 1), "SAME")


def multiplied(x: Any) -> Any:
    return jnp.dot(x, x.T, precision="high")


@pytest.mark.parametrize(
    "fun, named",
    [
        (read, lax.GatherDimensionNumbers((1,), (0,), (0,))),
        (added, lax.ScatterDimensionNumbers((1,), (0,), (0,))),
        (slid, lax.ConvDimensionNumbers(*[(0, 1, 2, 3)] * 3)),
        (multiplied, (((1,), (0,)), ((), ()))),
    ],
)
def test_dimension_numbers_of_equations_have_names(
    fun: Callable[[Any], Any], named: Any
) -> None:
    closed = traceir.make_jaxpr(fun)(jnp.ones((3, 4)))
    eqn: Any = closed.eqns[-1]
    params = dict(eqn.params.items())
    for found in (eqn.params["dimension_numbers"], params["dimension_numbers"]):
        assert type(found) is type(named) and found == named
    assert eqn.params.get("dimension_numbers") in eqn.params.values()
    # An equation that is made of what was read is the same one.
    again = traceir.make_jaxpr(lambda *args: eqn.primitive.bind(*args, **params))
    made = again(*(jnp.ones(v.aval.shape, v.aval.dtype) for v in eqn.invars)).eqns
    assert made[-1].params == eqn.params and str(made[-1].params) == str(eqn.params)


@pytest.mark.parametrize("fun", [read, added, slid])
def test_texts_are_of_dimension_numbers_without_names(
    fun: Callable[[Any], Any],
) -> None:
    closed: Any = traceir.make_jaxpr(fun)(jnp.ones((3, 4)))
    for text in (to_text(closed, full=True), write(closed, full=True)):
        assert to_text(parse(text), full=True) == text


def test_choices_of_equations_equal_their_members() -> None:
    eqn = traceir.make_jaxpr(added)(jnp.ones((3, 4))).eqns[-1]
    mode = lax.GatherScatterMode.FILL_OR_DROP
    assert eqn.params["mode"] == mode and mode == eqn.params["mode"]
    assert eqn.params["mode"] in {mode} and mode != lax.GatherScatterMode.CLIP
    assert lax.GatherScatterMode.from_any(None) is mode
    product = traceir.make_jaxpr(multiplied)(jnp.ones((3, 4))).eqns[-1]
    assert product.params["precision"] == (lax.Precision.HIGH,) * 2
    given = {**product.params.copy(), "precision": (lax.Precision.HIGH,) * 2}
    dot_general_p: Any = product.primitive
    bound = traceir.make_jaxpr(lambda x: dot_general_p.bind(x, x.T, **given))
    assert str(bound(jnp.ones((3, 4)))) == str(
        traceir.make_jaxpr(multiplied)(jnp.ones((3, 4)))
    )


def test_a_literal_is_made_of_its_value() -> None:
    assert Literal(val=2.0, aval=traceir.typeof(jnp.float32(2))).val == 2.0


def test_dead_equations_are_left_out() -> None:
    captured = np.ones(3, np.float32)

    def three(x: Any, y: Any, z: Any) -> Any:
        return x + 1.0, traceir.jit(lambda a, b: (a * captured, b - 1.0))(y, z)

    jaxpr = traceir.make_jaxpr(three)(*[jnp.ones(3)] * 3).jaxpr
    leaner, taken = dce_jaxpr(jaxpr, [False, False, True])
    assert taken == [False, False, True] and len(leaner.invars) == 1
    assert leaner.constvars == jaxpr.constvars
    kept, taken = dce_jaxpr(jaxpr, [True, False, False], instantiate=True)
    assert taken == [True] * 3 and len(kept.eqns) == 1
    assert dce_jaxpr(jaxpr, [True, False, False], [False, True, False])[1] == [
        True,
        True,
        False,
    ]


def test_a_library_finds_all_names_of_a_module_at_once() -> None:
    with standing_in():
        import jax.lax
        import jax.numpy

        assert {"angle", "zeros", "linalg"} <= set(vars(jax.numpy))
        assert {"add", "scan", "linalg"} <= set(vars(jax.lax))


def test_keys_have_the_class_of_their_dtype() -> None:
    key = traceir.random.key(0)
    assert key.dtype.type is traceir.dtypes.prng_key
    assert np.empty(3, key.dtype).shape == (3,)


class Interval:
    """An object that tells its shape, and is no array."""

    shape, ndim = (3, 2), 2


def test_whatever_has_a_shape_tells_it() -> None:
    made: Any = Interval()
    assert (jnp.shape(made), jnp.ndim(made), jnp.size(made)) == ((3, 2), 2, 6)
    assert jnp.size(made, (0, -1)) == 6 and jnp.size(made, 1) == 2
    with pytest.raises(ValueError, match="axis"):
        jnp.size(made, (0, 0))
    with pytest.raises(TypeError):
        jnp.shape(object())


@pytest.mark.parametrize("x64", [False, True])
def test_operands_are_promoted_to_inexact_and_complex_dtypes(x64: bool) -> None:
    wide = "128" if x64 else "64"
    with traceir.enable_x64(x64):
        for values, floating, complexes in (
            ((1,), "float64" if x64 else "float32", f"complex{wide}"),
            ((np.float32(1), 2.0), "float32", "complex64"),
            ((True,), "float32", "complex64"),
            ((1j,), f"complex{wide}", f"complex{wide}"),
            ((np.float16(1),), "float16", "complex64"),
        ):
            for promote, dtype in (
                (dtype_functions.promote_dtypes_inexact, floating),
                (dtype_functions.promote_dtypes_complex, complexes),
            ):
                found = promote(*values)
                assert {x.dtype.name for x in found} == {dtype}
                weak = all(type(v) in (int, float, complex) for v in values)
                assert all(x.weak_type is weak for x in found)


def test_a_compiled_function_tells_the_number_of_its_entries() -> None:
    fun = traceir.jit(lambda x: x + 1)
    fun(1.0), fun(2.0), fun(1)
    assert fun._cache_size() == 2


def test_an_algorithm_of_products_is_computed_at_no_less() -> None:
    x = np.random.default_rng(0).random((3, 3), np.float32)
    exact = lax.dot(x, x, precision="highest")
    for preset in lax.DotAlgorithmPreset:
        for asked in (preset, preset.name):
            if preset is lax.DotAlgorithmPreset.F64_F64_F64:
                with pytest.raises(ValueError, match="F64_F64_F64"):
                    lax.dot(x, x, precision=asked)
                continue
            for found in (
                lax.dot(x, x, precision=asked),
                jnp.einsum("ij,jk", x, x, precision=asked),
            ):
                np.testing.assert_array_equal(found, exact)
            compiled = traceir.jit(jnp.matmul, static_argnames="precision")
            found = compiled(x, x, precision=asked)
            np.testing.assert_allclose(found, exact, rtol=1e-6)
    with pytest.raises(ValueError, match="no_such_algorithm"):
        lax.dot(x, x, precision="no_such_algorithm")


def test_programs_are_built_of_pieces() -> None:
    new_var, aval = jex.core.gensym(), traceir.typeof(jnp.ones(3))
    x, wide, out = new_var(aval), new_var(aval), new_var(traceir.typeof(jnp.ones(())))
    sin_p: Any = lax.sin_p
    sum_p: Any = lax.reduce_sum_p
    eqns = [
        jex.core.new_jaxpr_eqn([x], [wide], sin_p, {}, jex.core.no_effects),
        jex.core.new_jaxpr_eqn([wide], [out], sum_p, {"axes": (0,)}, set()),
    ]
    traced = traceir.make_jaxpr(lambda x: jnp.sin(x).sum())(jnp.ones(3))
    made = traced.jaxpr.replace(invars=[x], eqns=eqns, outvars=[out], effects=set())
    jex.core.check_jaxpr(made)
    assert made == traced.jaxpr and made.debug_name == traced.jaxpr.debug_name
    closed = traced.replace(jaxpr=made)
    assert closed == traced and traced.replace(jaxpr=made, consts=[]) == traced
    cosines = made.replace(eqns=[eqns[0].replace(primitive=lax.cos_p), eqns[1]])
    [found] = jex.core.jaxpr_as_fun(traced.replace(jaxpr=cosines))(jnp.zeros(3))
    assert found == 3.0
    params: Any = eqns[1].params
    kept: Any = eqns[1].replace(params={**params, "axes": ()}, outvars=[wide])
    assert kept.params["axes"] == () and kept.invars == [wide] == kept.outvars
    with pytest.raises(TypeError):
        jex.core.check_jaxpr(made.replace(outvars=[wide], eqns=[]))
    unknown: Any = "no_such"
    with pytest.raises(TypeError, match="no_such"):
        jex.core.new_jaxpr_eqn([x], [wide], unknown, {}, set())


def test_values_that_must_be_known() -> None:
    assert jex.core.concrete_or_error(int, jnp.float32(3)) == 3
    with pytest.raises(TypeError, match="as an array"):
        traceir.jit(lambda x: jex.core.concrete_or_error(None, x))(1.0)
    assert jex.core.primal_dtype_to_tangent_dtype("int32") == traceir.dtypes.float0


def test_results_lie_on_the_first_device_by_default() -> None:
    default_device: Any = traceir.default_device
    for device in (None, "cpu", traceir.devices()[0]):
        with default_device(device):
            assert jnp.ones(2).device == traceir.devices()[0]
    with pytest.raises(RuntimeError, match="gpu"):
        default_device("gpu")
    with pytest.raises(ValueError, match="as the default"):
        default_device(CpuDevice(7))


def test_elements_are_the_hosts() -> None:
    jnp.ones(2).copy_to_host_async()


def test_gradients_are_checked_in_one_mode() -> None:
    for mode in ("fwd", "rev"):
        check_grads(jnp.sin, (0.5,), 1, modes=mode)
    with pytest.raises(ValueError, match="modes are"):
        check_grads(jnp.sin, (0.5,), 1, modes="reverse")


class Pair(NamedTuple):
    """An element that a scan combines."""

    a: Any
    b: Any


def test_a_combination_may_be_another_kind_of_tree() -> None:
    def combined(x: Pair, y: Pair) -> tuple[Any, Any]:
        return x.a * y.a, x.b * y.a + y.b

    given = Pair(jnp.full(4, 2.0), jnp.ones(4))
    found = lax.associative_scan(combined, given)
    assert type(found) is Pair and found.b.tolist() == [1.0, 3.0, 7.0, 15.0]
    with pytest.raises(TypeError, match="returns"):
        lax.associative_scan(lambda x, y: x.a, given)
