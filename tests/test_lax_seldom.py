"""Functions of `lax` that few programs ask for. Cites: face.choice, axis.permutation"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax

RNG = np.random.default_rng(2)


def test_a_composite_is_one_equation_with_every_transform() -> None:
    scaled = lax.composite(lambda x, *, by: x * by, name="my.scaled", version=2)
    assert scaled(3.0, by=2) == 6
    program = traceir.make_jaxpr(lambda x: scaled(x, by=2))(3.0)
    assert [eqn.param("name") for eqn in program.eqns] == ["my.scaled"]
    assert traceir.grad(lambda x: scaled(x, by=2))(3.0) == 2
    assert traceir.vmap(lambda x: scaled(x, by=2))(jnp.arange(2)).tolist() == [0, 2]
    with raises_rule("face.choice", ValueError, "name="):
        lax.composite(lambda x: x, name="")


def test_the_function_of_the_platform_is_taken() -> None:
    never: Any = None
    assert lax.platform_dependent(2.0, cpu=lambda x: x + 1, tpu=never) == 3
    found = lax.platform_dependent(2.0, tpu=never, default=lambda x: x - 1)
    assert found == 1
    with raises_rule("face.choice", NotImplementedError, "functions for tpu"):
        lax.platform_dependent(2.0, tpu=never)


def test_arrays_like_others() -> None:
    found = lax.broadcast_like(jnp.arange(2), jnp.zeros((3, 2)))
    assert found.tolist() == [[0, 1]] * 3 and found.dtype == "int32"
    assert lax.empty((2,), "float16").dtype == "float16"
    assert traceir.jit(lax.stage)(2).tolist() == 2


def test_values_of_other_examples() -> None:
    x = jnp.arange(4)
    perm = [3, 0, 2, 1]
    shuffled = traceir.vmap(lambda x: lax.pshuffle(x, "i", perm), axis_name="i")(x)
    assert shuffled.tolist() == perm
    sent = traceir.vmap(lambda x: lax.pbroadcast((x, 2.0 * x), "i", 2), axis_name="i")
    assert [v.tolist() for v in sent(x)] == [[2] * 4, [4] * 4]
    with raises_rule("axis.permutation", ValueError, "perm="):
        traceir.vmap(lambda x: lax.pshuffle(x, "i", [0, 0, 1, 2]), axis_name="i")(x)
    with raises_rule("face.choice", ValueError, "source=4"):
        traceir.vmap(lambda x: lax.pbroadcast(x, "i", 4), axis_name="i")(x)


@pytest.mark.parametrize(
    "letters", [("NCHW", "OIHW", "NCHW"), ("NHWC", "HWIO", "HWNC")]
)
def test_a_local_convolution_is_one_with_the_same_kernel_everywhere(
    letters: Any,
) -> None:
    shape = {"N": 2, "C": 3, "H": 5, "W": 6, "O": 4, "I": 3}
    x = RNG.normal(size=[shape[c] for c in letters[0]]).astype("float32")
    window = {**shape, "H": 2, "W": 3}
    kernel = RNG.normal(size=[window[c] for c in letters[1]]).astype("float32")
    spec = lax.conv_dimension_numbers(x.shape, kernel.shape, letters).rhs_spec
    wanted = lax.conv_general_dilated(
        x, kernel, (2, 1), "SAME", dimension_numbers=letters
    )
    rows, columns = (wanted.shape[letters[2].index(c)] for c in "HW")
    flat = np.transpose(kernel, spec).reshape(4, -1)
    own = np.broadcast_to(flat[:, :, None, None], (4, 18, rows, columns))
    local = np.transpose(own, np.argsort(spec))
    found = lax.conv_general_dilated_local(
        x, local, (2, 1), "SAME", (2, 3), dimension_numbers=letters
    )
    assert np.allclose(found, wanted, atol=1e-4)


def test_ragged_products_are_those_of_each_group() -> None:
    x = RNG.normal(size=(3, 7, 4)).astype("float32")
    y = RNG.normal(size=(4, 2, 5)).astype("float32")
    sizes = np.array([3, 4])
    numbers = lax.RaggedDotDimensionNumbers((((2,), (0,)), ((), ())), (1,), (1,))
    found = lax.ragged_dot_general(x, y, sizes, numbers)
    wanted = np.concatenate([x[:, :3] @ y[:, 0], x[:, 3:] @ y[:, 1]], axis=1)
    assert np.allclose(found, wanted, atol=1e-5)
    plain = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    groups = np.transpose(y, (1, 0, 2))
    assert np.allclose(
        lax.ragged_dot_general(x[0], groups, sizes, plain),
        lax.ragged_dot(x[0], groups, sizes),
    )
    paired = lax.RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (1,), (0,))
    with raises_rule("face.choice", ValueError, "one divided dimension"):
        lax.ragged_dot_general(x[0], groups, sizes, paired)


def test_primitives_have_their_names() -> None:
    assert str(lax.scatter_add_p) == "scatter-add" and str(lax.add_p) == "add"


def test_a_dtype_is_that_of_a_value_or_of_a_name() -> None:
    wide: list[Any] = [np.float64(1), np.arange(2), True, 1j]
    narrow = ["float32", "int32", "bool", "complex64"]
    assert [lax.dtype(x).name for x in wide] == narrow
    named: list[Any] = ["float16", jnp.bfloat16, np.int8, np.dtype("uint8"), float]
    names = ["float16", "bfloat16", "int8", "uint8", "float32"]
    assert [lax.dtype(x).name for x in named] == names
    assert lax.dtype(traceir.ShapeDtypeStruct((), "int8")) == np.int8
    assert lax.dtype(traceir.random.key(0)) == traceir.random.key(0).dtype
    assert traceir.jit(lambda x: jnp.zeros((), lax.dtype(x)))(1).dtype == np.int32
    with raises_rule("jit.argument", TypeError):
        lax.dtype([1])
