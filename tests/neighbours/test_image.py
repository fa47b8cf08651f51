"""`traceir.image` beside the sums that its methods stand for.

Cites face.choice, linalg.shapes
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import image

Kernel = Callable[[float], float]


def lanczos(radius: int) -> Kernel:
    """The windowed sinc of a radius."""
    return lambda x: float(np.sinc(x) * np.sinc(x / radius)) if x <= radius else 0.0


def cubic(a: float) -> Kernel:
    """Keys's polynomials, by their zeros at 1 and 2."""

    def kernel(x: float) -> float:
        if x < 1:
            return (x - 1) * ((a + 2) * x**2 - x - 1)
        return a * (x - 1) * (x - 2) ** 2 if x < 2 else 0.0

    return kernel


KERNELS = {
    "linear": lambda x: max(0.0, 1 - x),
    "cubic": cubic(-0.5),
    "lanczos3": lanczos(3),
    "lanczos5": lanczos(5),
}


def weights(
    old: int, new: int, kernel: Kernel, antialias: bool, scale: float, move: float
) -> Any:
    """The weights of old pixels for new ones, element by element."""
    found = np.zeros((old, new))
    wide = max(1.0, 1 / scale) if antialias else 1.0
    for j in range(new):
        place = (j + 0.5 - move) / scale - 0.5
        column = np.array([kernel(abs(place - i) / wide) for i in range(old)])
        if -0.5 <= place <= old - 0.5:
            found[:, j] = column / column.sum()
    return found


RNG = np.random.default_rng(4)
PICTURE = RNG.normal(size=(6, 5, 2))


@pytest.mark.parametrize("antialias", [True, False])
@pytest.mark.parametrize("shape", [(3, 8, 2), (11, 2, 2), (6, 7, 2)])
@pytest.mark.parametrize("method", KERNELS)
def test_a_picture_in_another_size(
    method: str, shape: tuple[int, ...], antialias: bool
) -> None:
    wanted = PICTURE
    for d in (0, 1):
        old, new = PICTURE.shape[d], shape[d]
        if old != new:
            table = weights(old, new, KERNELS[method], antialias, new / old, 0.0)
            wanted = np.moveaxis(np.tensordot(wanted, table, (d, 0)), -1, d)

    def call(x: Any) -> Any:
        return image.resize(x, shape, method, antialias)

    with traceir.enable_x64(True):
        for function in (call, traceir.jit(call, backend="numba")):
            np.testing.assert_allclose(function(PICTURE), wanted, 1e-12, 1e-13)


@pytest.mark.parametrize("new", [2, 5, 8, 13])
def test_the_nearest_pixel(new: int) -> None:
    found = image.resize(np.arange(5), (new,), "nearest")
    assert found.dtype == np.int32
    wanted = [int((j + 0.5) * 5 / new) for j in range(new)]
    assert found.tolist() == wanted


def test_scaled_and_moved() -> None:
    scale, move = np.array([1.5, 0.7]), np.array([-0.3, 0.5])

    def call(x: Any, s: Any, t: Any) -> Any:
        return image.scale_and_translate(x, (8, 4, 2), (0, -2), s, t, "cubic")

    tables = [
        weights(old, new, KERNELS["cubic"], True, s, t)
        for old, new, s, t in zip((6, 5), (8, 4), scale, move, strict=True)
    ]
    wanted = np.einsum("ijk,ia,jb->abk", PICTURE, *tables)
    with traceir.enable_x64(True):
        for function in (call, traceir.jit(call, backend="numba")):
            np.testing.assert_allclose(function(PICTURE, scale, move), wanted, 1e-11)

        def total(s: Any, t: Any) -> Any:
            return jnp.sum(call(PICTURE, s, t) ** 2)

        slopes = traceir.grad(total, (0, 1))(jnp.asarray(scale), jnp.asarray(move))
        step = np.array([1e-6, 0.0])
        for slope, up, down in (
            (slopes[0], total(scale + step, move), total(scale - step, move)),
            (slopes[1], total(scale, move + step), total(scale, move - step)),
        ):
            np.testing.assert_allclose(slope[0], (up - down) / 2e-6, 1e-6)


def test_the_slope_of_a_picture_is_its_transpose() -> None:
    def call(x: Any) -> Any:
        return image.resize(x, (3, 8, 2), "lanczos3")

    with traceir.enable_x64(True):
        out, back = traceir.vjp(call, jnp.asarray(PICTURE))
        (slope,) = back(out)
        np.testing.assert_allclose(jnp.sum(slope * PICTURE), jnp.sum(out * out), 1e-12)


def test_dtypes_and_methods() -> None:
    assert image.resize(np.arange(4), (8,), "linear").dtype == np.float32
    half = image.resize(jnp.arange(4.0, dtype="float16"), (8,), "bilinear")
    assert half.dtype == np.float16
    assert half.tolist() == [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3]
    same = image.resize(PICTURE, (3, 8, 2), image.ResizeMethod.CUBIC)
    torch = image.resize(PICTURE, (3, 8, 2), "cubic-pytorch")
    np.testing.assert_array_equal(same, torch)
    sharp = image.resize(PICTURE, (6, 8, 2), "cubic-pytorch", antialias=False)
    table = weights(5, 8, cubic(-0.75), False, 8 / 5, 0.0)
    wanted = np.einsum("ijk,jb->ibk", PICTURE, table)
    np.testing.assert_allclose(sharp, wanted, 1e-5, 1e-5)
    with raises_rule("face.choice", ValueError, "methods are"):
        image.resize(PICTURE, (3, 8, 2), "best")
    with raises_rule("face.choice", ValueError, "use `resize`"):
        image.scale_and_translate(
            PICTURE, (3, 8, 2), (0,), jnp.ones(1), jnp.ones(1), "nearest"
        )
    with raises_rule("linalg.shapes", ValueError, "as many dimensions"):
        image.resize(PICTURE, (3, 8), "linear")
    with raises_rule("linalg.shapes", ValueError, "1 elements"):
        image.scale_and_translate(
            PICTURE, (3, 8, 2), (0,), jnp.ones(2), jnp.ones(2), "linear"
        )
