"""Seed 004, cell by cell: random numbers, effects, shapes that a trace must know.

Its random bits are those of the older layout.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from jaxprs import jax_text

import traceir as J
import traceir.numpy as jnp
from traceir import jit, make_jaxpr, random

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


def multinomial_sample(rng_key: Any, logits: Any, n_samples: Any) -> Any:
    return random.categorical(rng_key, logits, shape=[n_samples])


@pytest.fixture
def subkey() -> Iterator[Any]:
    """The key of cells 10 to 13, while bits are those of the older layout."""
    with J.threefry_partitionable(False):
        yield random.split(random.key(123))[1]


# What cells 10 and 12 print, and cell 13.
FIFTY = """Array([6, 7, 7, 6, 0, 1, 6, 2, 6, 7, 6, 6, 6, 0, 7, 1, 1, 0, 2, 6, 0, 7,
       8, 6, 6, 6, 7, 3, 6, 6, 1, 3, 7, 7, 4, 8, 6, 7, 8, 1, 7, 6, 6, 7,
       7, 2, 2, 6, 6, 6], dtype=int32)"""
MORE = """Array([7, 7, 7, 7, 7, 0, 7, 7, 6, 6, 8, 6, 4, 2, 7, 6, 6, 7, 7, 7, 7, 3,
       6, 1, 7, 2, 7, 3, 6, 7, 6, 7, 6, 8, 7, 7, 0, 6, 0, 5, 7, 7, 7, 0,
       6, 7, 6, 0, 2, 5, 6, 6, 5, 7, 8, 7, 0, 7, 4, 2, 0, 6, 3, 6, 0, 7,
       2, 0, 7, 0, 2, 5, 2, 0, 7, 6, 8, 2, 7, 7, 7, 2, 7, 7, 7, 6, 0, 6,
       5, 6, 7, 0, 8, 5, 6, 6, 2, 6, 2, 0, 3, 7, 6, 8, 0, 6, 7, 8, 0, 7,
       4, 6, 6, 6, 7, 6, 7, 5, 6, 6, 7, 5, 7, 6, 3, 7, 7, 6, 7, 6, 7, 7,
       7, 0, 6, 4, 7, 7, 6, 6, 0, 7, 0, 6, 6, 7, 7, 6, 6, 7], dtype=int32)"""


@pytest.mark.parametrize("stage", [lambda f, **_: f, jit], ids=["eager", "jit"])
def test_cell_2_draws_what_the_seed_prints(stage: Any) -> None:
    draw = stage(lambda key: random.normal(key, shape=(9,)))
    with J.threefry_partitionable(False):
        x = draw(random.key(123))
    assert repr(x) == repr(jnp.array(X))


def test_the_keys_that_cell_10_splits(subkey: Any) -> None:
    first, second = random.split(random.key(123))
    assert random.key_data(first).tolist() == [1896456402, 17229315]
    assert random.key_data(second).tolist() == [4081828428, 1707601653]
    assert bool(second == subkey)


def test_cell_10_eagerly_any_number_is_a_shape(subkey: Any) -> None:
    assert repr(multinomial_sample(subkey, jnp.array(X), 50)) == FIFTY


def test_cell_11_a_traced_shape_is_an_error(subkey: Any) -> None:
    with pytest.raises(TypeError) as caught:
        jit(multinomial_sample)(subkey, jnp.array(X), 50)
    text = str(caught.value)
    assert "Shapes must be 1D sequences of concrete values of integer type" in text
    assert "Traced<ShapedArray(int32[], weak_type=True)>with" in text
    assert "value of the argument n_samples" in text


def test_cells_12_13_a_static_shape_is_traced_once_per_value(subkey: Any) -> None:
    jitted = jit(multinomial_sample, static_argnums=2)
    x = jnp.array(X)
    found = [repr(jitted(subkey, x, n)) for n in (50, 150, 50)]
    assert found == [FIFTY, MORE, FIFTY]
    assert jitted.cache_info().currsize == 2
