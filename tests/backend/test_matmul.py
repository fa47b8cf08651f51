"""Large products: in our threads, and in none of the BLAS's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy
from compiling import executable, grid, traced

import traceir.numpy as jnp
from traceir import lax
from traceir_numba import matmul, pool

SHAPES = {
    "rows": ((300, 90), (90, 80)),
    "columns": ((80, 90), (90, 300)),
    "row": ((1, 2048), (2048, 1100)),
    "column": ((1100, 2048), (2048, 1)),
    "stack": ((40, 40, 40), (40, 40, 40)),
    "two": ((2, 128, 128), (2, 128, 70)),
    "nothing": ((0, 2048), (2048, 2048)),
}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = pool.threads()
    pool.set_threads(2)
    yield
    pool.set_threads(before)


@pytest.fixture
def all_split(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small products are large enough."""
    monkeypatch.setattr(matmul, "SPLIT", 1)


@pytest.fixture
def blas(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A library with four threads; what its number of threads was, last first."""
    history = [4]

    def put(number: int) -> None:
        history.insert(0, number)

    monkeypatch.setattr(matmul, "_control", lambda _: (lambda: history[0], put))
    return history


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.usefixtures("all_split")
def test_products_in_pieces(name: str, dtype: str, blas: list[int]) -> None:
    x, y = (grid(*shape, seed=len(shape), dtype=dtype) for shape in SHAPES[name])
    np.testing.assert_array_equal(matmul.matmul_large(x, y), np.matmul(x, y))
    turned = np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)
    np.testing.assert_array_equal(matmul.matmul_large(turned, y), np.matmul(x, y))
    assert blas == [4, 1, 4, 1, 4]


def test_the_blas_has_its_threads_again_after_an_error(blas: list[int]) -> None:
    with pytest.raises(ValueError, match="matmul"):
        matmul.matmul_large(grid(3, 4), grid(3, 4))
    assert blas == [4, 1, 4]


def test_products_at_once_leave_the_number_that_the_first_one_found(
    blas: list[int],
) -> None:
    matmul.in_one_thread(matmul.SCIPY, matmul.matmul_large)(grid(3, 4), grid(4, 3))
    assert blas == [4, 1, 4]


@pytest.mark.filterwarnings("error")
@pytest.mark.usefixtures("all_split")
def test_what_overflows_in_a_thread_does_not_warn() -> None:
    huge = np.full((300, 300), 1e38, np.float32)
    assert np.isinf(matmul.matmul_large(huge, huge)).all()


@pytest.mark.parametrize("library", [np, scipy])
def test_each_openblas_has_its_control(library: Any) -> None:
    built = library.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    control = matmul._control(matmul.NUMPY if library is np else matmul.SCIPY)
    assert (control is not None) == ("openblas" in built)
    for get, put in [control] if control else []:
        before = get()
        put(1)
        assert get() == 1
        put(before)
        assert get() == before


def loop(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda _, v: jnp.dot(v, v), x)


def test_large_products_and_routines_with_them_have_one_thread(
    blas: list[int],
) -> None:
    x = np.eye(128, dtype=np.float32)
    for fun in (jnp.dot, lambda x, y: loop(x)):
        blas[:] = [4]
        compiled = executable(traced(fun, x, x))
        np.testing.assert_array_equal(compiled.run(x, x)[0], x)
        assert blas == [4, 1, 4]
    blas[:] = [4]
    small = grid(20, 20)
    executable(traced(jnp.dot, small, small)).run(small, small)
    executable(traced(loop, small)).run(small)
    assert blas == [4]


def test_a_large_product_is_numpys_in_the_source() -> None:
    x = grid(300, 300)
    compiled = executable(traced(jnp.dot, x, x), "alone")
    assert re.search(r"= matmul_large\(\w+, \w+\)", compiled.source)
    space: dict[str, Any] = {}
    exec(compiled.source, space)
    np.testing.assert_array_equal(space["alone"](x, x)[0], np.matmul(x, x))
