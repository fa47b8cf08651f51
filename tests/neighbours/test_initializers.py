"""`traceir.nn.initializers`: numbers of JAX 0.10.2, and what they promise.

Cites face.choice, linalg.shapes
"""

from __future__ import annotations

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
from traceir.nn import initializers

# The first row of JAX's weights of shape (2, 3) from key 0.
FIRST = {
    "glorot_normal": [1.046842336654663, 1.2329133749008179, -0.29671576619148254],
    "glorot_uniform": [0.980789303779602, 1.048516035079956, -0.3674309551715851],
    "he_normal": [1.6552032232284546, 1.9494074583053589, -0.4691488444805145],
    "he_uniform": [1.5507639646530151, 1.6578493118286133, -0.5809593200683594],
    "lecun_normal": [1.170405387878418, 1.3784390687942505, -0.33173829317092896],
    "lecun_uniform": [1.0965558290481567, 1.172276496887207, -0.4108003079891205],
    "orthogonal": [0.96083664894104, -0.2567500174045563, 0.1042710393667221],
    "uniform": [0.009476670064032078, 0.009785798378288746, 0.003322914708405733],
    "normal": [0.016226422041654587, 0.020252646878361702, -0.004335944075137377],
    "truncated_normal": [
        0.014559592120349407,
        0.01714748702943325,
        -0.004126753192394972,
    ],
}


@pytest.mark.parametrize("name", FIRST)
def test_weights_are_those_of_jax(name: str) -> None:
    initial, key = getattr(initializers, name)(), traceir.random.key(0)
    staged = traceir.jit(lambda key: initial(key, (2, 3)), backend="numba")
    for found in (
        initial(key, (2, 3)),
        staged(key),
    ):
        np.testing.assert_allclose(found[0], FIRST[name], 2e-5)
    if name != "orthogonal":  # there are no factors in half precision
        assert initial(key, (2, 3), "float16").dtype == np.float16


def test_orthogonal_columns_are_those_of_jax() -> None:
    key = traceir.random.key(0)
    first = initializers.orthogonal()(key, (3, 3))[0]
    wanted = [0.9554101228713989, 0.2941357493400574, 0.02599557861685753]
    np.testing.assert_allclose(first, wanted, 2e-5)
    scaled = initializers.orthogonal(2.0, -2)(key, (2, 3, 2))
    wanted = [1.6675891876220703, 1.0838226079940796, 0.17452462017536163]
    np.testing.assert_allclose(scaled[0, :, 0], wanted, 2e-5)


def test_a_fan_may_be_less_than_one() -> None:
    found = initializers.glorot_normal(batch_axis=0)(traceir.random.key(0), (5, 3))
    wanted = [1.8505734205245972, 2.1795036792755127, -0.5245243310928345]
    np.testing.assert_allclose(found[0], wanted, 2e-5)
    assert initializers.he_normal()(traceir.random.key(0), (0, 3)).shape == (0, 3)


# The first of JAX's complex weights of shape (2, 3) from key 0.
COMPLEX = {
    "normal": 0.5020071268081665 - 1.2212278842926025j,
    "uniform": 0.91681307554245 + 0.04204554110765457j,
    "truncated_normal": 0.9814679622650146 + 0.04501064866781235j,
}


@pytest.mark.parametrize("distribution", COMPLEX)
def test_complex_weights_are_those_of_jax(distribution: str) -> None:
    initial = initializers.variance_scaling(1.0, "fan_in", distribution)
    found = initial(traceir.random.key(0), (2, 3), "complex64")
    np.testing.assert_allclose(found[0, 0], COMPLEX[distribution], 1e-4)


def test_other_axes_are_a_field() -> None:
    scaled = initializers.variance_scaling(
        2.0, "fan_geo_avg", "uniform", in_axis=0, out_axis=1, batch_axis=2
    )
    found = scaled(traceir.random.key(0), (2, 3, 2))
    np.testing.assert_allclose(found[0, 0], [1.401273488998413, 1.4980360269546509])


@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg", "fan_geo_avg"])
@pytest.mark.parametrize("distribution", ["normal", "uniform", "truncated_normal"])
def test_the_variance_is_that_of_the_mode(mode: str, distribution: str) -> None:
    shape = (3, 40, 160)
    initial = initializers.variance_scaling(1.5, mode, distribution)
    found = np.asarray(initial(traceir.random.key(1), shape))
    means = {"fan_in": 120, "fan_out": 480, "fan_avg": 300, "fan_geo_avg": 240}
    np.testing.assert_allclose(found.var(), 1.5 / means[mode], 0.03)
    assert abs(found.mean()) < 0.02 * found.std()


def test_vectors_are_orthogonal() -> None:
    key = traceir.random.key(2)
    for shape, axis in (((4, 6), -1), ((6, 4), -1), ((4, 6), 0), ((2, 3, 5), 1)):
        found = np.asarray(initializers.orthogonal(2.0, axis)(key, shape))
        flat = np.moveaxis(found, axis, 0).reshape(shape[axis], -1)
        square = flat @ flat.T if len(flat) <= len(flat.T) else flat.T @ flat
        np.testing.assert_allclose(square, 4 * np.eye(len(square)), atol=1e-5)
    middle = np.array(initializers.delta_orthogonal()(key, (3, 3, 2, 4)))
    np.testing.assert_allclose(middle[1, 1] @ middle[1, 1].T, np.eye(2), atol=1e-6)
    middle[1, 1] = 0
    assert not middle.any()


def test_constants() -> None:
    key = traceir.random.key(0)
    assert initializers.zeros(key, (2,)).tolist() == [0, 0]
    assert initializers.ones(key, (2,), "int8").dtype == np.int8
    assert initializers.constant(3.0)(key, (2,)).tolist() == [3, 3]
    assert initializers.xavier_normal is initializers.glorot_normal


def test_what_is_refused() -> None:
    key = traceir.random.key(0)
    with raises_rule("face.choice", ValueError, "mode"):
        initializers.variance_scaling(1.0, "fan", "normal")
    with raises_rule("face.choice", ValueError, "distribution"):
        initializers.variance_scaling(1.0, "fan_in", "even")
    for initial in (initializers.he_normal(), initializers.orthogonal()):
        with raises_rule("linalg.shapes", ValueError):
            initial(key, (3,))
    with raises_rule("linalg.shapes", ValueError, "no more inputs"):
        initializers.delta_orthogonal()(key, (3, 4, 2))
