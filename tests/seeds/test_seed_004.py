"""Seed 004, cell by cell: eager and jitted, effects, shapes that a trace must know.

Its random numbers come with random keys; here arrays of the same shapes stand in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from jaxprs import jax_text

import traceir as J
import traceir.numpy as jnp
from traceir import jit, make_jaxpr

# What cell 2 draws, as the seed prints it.
X = [
    -0.10502207,
    -0.56205004,
    -0.56485987,
    -1.7063935,
    -1.3647023,
    -0.42215332,
    1.0077653,
    0.9922631,
    -0.61236995,
]


def f(x: Any) -> Any:
    return jnp.sin(x) + jnp.cos(x)


def test_cell_2_prints_as_the_seed_does() -> None:
    assert repr(jnp.array(X)) == (
        "Array([-0.10502207, -0.56205004, -0.56485987, -1.7063935 , -1.3647023 ,\n"
        "       -0.42215332,  1.0077653 ,  0.9922631 , -0.61236995], dtype=float32)"
    )


def test_cells_3_4_5_eager_and_jitted_agree() -> None:
    x = jnp.array(X)
    wanted = np.sin(np.float64(x)) + np.cos(np.float64(x))

    @jit
    def decorated(x: Any) -> Any:
        return jnp.sin(x) + jnp.cos(x)

    for result in (f(x), jit(f)(x), decorated(x)):
        np.testing.assert_allclose(result, wanted, rtol=1e-6, atol=1e-6)
        assert (result.shape, result.dtype) == ((9,), np.float32)


def test_cell_7_the_jaxpr_of_a_jitted_function() -> None:
    @jit
    def f(x: Any) -> Any:
        return jnp.sin(x) + jnp.cos(x)

    assert str(make_jaxpr(f)(jnp.array(X))) == jax_text("004-7")


def test_cell_8_a_side_effect_is_no_equation(capsys: Any) -> None:
    @jit
    def side_effect_func(x: Any, y: Any) -> Any:
        print(x)
        x = x + y
        return x

    x = jnp.array(X)
    text = str(make_jaxpr(side_effect_func)(x, x))
    assert text == jax_text("004-8")
    assert capsys.readouterr().out == (
        "Traced<ShapedArray(float32[9])>with<DynamicJaxprTrace(level=2/0)>\n"
    )


def test_cell_9_without_the_side_effect_the_jaxpr_is_the_same() -> None:
    @jit
    def without_side_effect(x: Any, y: Any) -> Any:
        return x + y

    x = jnp.array(X)
    text = str(make_jaxpr(without_side_effect)(x, x))
    assert text == jax_text("004-8").replace("side_effect_func", "without_side_effect")


def sample(logits: Any, n_samples: Any) -> Any:
    """As the seed's `multinomial_sample`, without chance: a shape from an argument."""
    grid = jnp.zeros(shape=[n_samples, 9]) + logits
    return jnp.argmax(grid, axis=1)


def test_cell_10_eagerly_any_number_is_a_shape() -> None:
    drawn = sample(jnp.array(X), 50)
    assert (drawn.shape, drawn.dtype) == ((50,), np.int32)
    assert set(drawn.tolist()) == {6}


def test_cell_11_a_traced_shape_is_an_error() -> None:
    with pytest.raises(TypeError) as caught:
        jit(sample)(jnp.array(X), 50)
    text = str(caught.value)
    assert "Shapes must be 1D sequences of concrete values of integer type" in text
    assert "Traced<ShapedArray(int32[], weak_type=True)>with" in text
    assert "value of the argument n_samples" in text


def test_cells_12_13_a_static_shape_is_traced_once_per_value() -> None:
    jitted = jit(sample, static_argnums=1)
    x = jnp.array(X)
    assert [jitted(x, n).shape for n in (50, 150, 50)] == [(50,), (150,), (50,)]
    assert jitted.cache_info().currsize == 2
    assert J.numpy.array_equal(jitted(x, 50), sample(x, 50))
