"""Sparse arrays agree with the arrays that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.experimental import sparse
from traceir.experimental.sparse import BCOO, BCSR, linalg

X = jnp.array([[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]])
BOTH = jnp.stack([X, X[:, ::-1] * 2])
V = jnp.array([1.0, -2.0, 0.5])
LAYOUTS = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0)]


def same(found: Any, wanted: Any) -> None:
    values = sparse.todense(found)
    assert values.dtype == wanted.dtype
    np.testing.assert_allclose(values, wanted, rtol=1e-6)


@pytest.mark.parametrize(("n_batch", "n_dense"), LAYOUTS)
@pytest.mark.parametrize("more", [0, 2])
def test_each_layout_has_the_elements(n_batch: int, n_dense: int, more: int) -> None:
    layout = {"n_batch": n_batch, "n_dense": n_dense}
    least = BCOO.fromdense(BOTH, **layout)
    mat = BCOO.fromdense(BOTH, nse=least.nse + more, **layout)
    assert (mat.n_batch, mat.n_dense, mat.shape) == (n_batch, n_dense, BOTH.shape)
    same(mat, BOTH)
    same(mat.update_layout(n_batch=0, n_dense=0), BOTH)
    same(mat.sum_duplicates(), BOTH)
    same(mat.sort_indices(), BOTH)
    same(mat * V, BOTH * V)
    same(mat + mat, BOTH * 2)
    same(mat * mat, BOTH * BOTH)
    for axis in range(3):
        same(mat.sum(axis), BOTH.sum(axis))
    same(mat.sum((0, 2)), BOTH.sum((0, 2)))
    same(traceir.jit(lambda m: m.todense())(mat), BOTH)


INDICES = [0, -1, (slice(None), 1), (..., 2), slice(None, None, -1), (0, 1, 2)]
INDICES += [
    (slice(0, 2), slice(None), slice(None, None, 2)),
    None,
    (0, None, ..., None),
]


@pytest.mark.parametrize(("n_batch", "n_dense"), LAYOUTS)
@pytest.mark.parametrize("index", INDICES, ids=str)
def test_parts(n_batch: int, n_dense: int, index: Any) -> None:
    mat = BCOO.fromdense(BOTH, n_batch=n_batch, n_dense=n_dense)
    same(mat[index], BOTH[index])


CHANGES: list[Callable[[Any], Any]] = [
    jnp.sin,
    jnp.cos,
    lambda x: jnp.tanh(x * 2 + x),
    lambda x: x / 2,
    lambda x: x - x * x,
    lambda x: x @ V,
    lambda x: x @ x.T,
    lambda x: jnp.ones((4, 2)) @ x,
    lambda x: x.reshape(3, 2),
    lambda x: x.sum(0),
    lambda x: jnp.sum(x**2),
    lambda x: x.T,
    lambda x: x[None, 1],
    lambda x: jnp.concatenate([x, x], 1),
    lambda x: x + 1,
    lambda x: jnp.sort(x, 1),
    lambda x: jnp.broadcast_to(x[:, None], (2, 2, 3)),
    lambda x: lax.fori_loop(0, 2, lambda _, c: c * 2, x),
    traceir.jit(lambda x: {"a": x * 2, "b": jnp.exp(x)}),
]


@pytest.mark.parametrize("change", CHANGES)
def test_functions_of_arrays_take_sparse_ones(change: Callable[[Any], Any]) -> None:
    wanted = change(X)
    for mat in (BCOO.fromdense(X), BCOO.fromdense(X, nse=5), BCSR.fromdense(X)):
        found = sparse.sparsify(change)(mat)
        pairs = zip(
            traceir.tree.leaves(found, is_leaf=lambda x: isinstance(x, BCOO)),
            traceir.tree.leaves(wanted),
            strict=True,
        )
        for own, dense in pairs:
            same(own, dense)


def test_values_at_one_place_add_up_before_a_function_is_applied() -> None:
    twice = BCOO((jnp.array([1.0, 2.0]), jnp.array([[1], [1]])), shape=(3,))
    same(sparse.sparsify(jnp.sin)(twice), jnp.sin(jnp.array([0.0, 3.0, 0.0])))
    same(abs(-twice), jnp.array([0.0, 3.0, 0.0]))
    same(twice**2, jnp.array([0.0, 9.0, 0.0]))
    same(twice * twice, jnp.array([0.0, 9.0, 0.0]))


def test_what_stands_outside_is_no_value() -> None:
    mat = BCOO((jnp.ones(2), jnp.array([[0, 9], [1, 1]])), shape=(2, 3))
    dense = jnp.array([[0.0, 0, 0], [0, 1, 0]])
    same(mat, dense)
    for change in (lambda x: x.sum(0), lambda x: x.sum(1), lambda x: x.sum()):
        same(change(mat), change(dense))
    same(mat.T, dense.T)
    same(mat @ jnp.ones(3), dense @ jnp.ones(3))
    same(mat.reshape(6), dense.reshape(6))
    same(mat[0], dense[0])
    same(sparse.bcoo_concatenate([mat, mat], dimension=1), jnp.hstack([dense, dense]))
    same(sparse.bcoo_rev(mat, (0, 1)), dense[::-1, ::-1])


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1)])
def test_batches_in_products_and_transposes(order: tuple[int, ...]) -> None:
    mat = BCOO.fromdense(BOTH, n_batch=1)
    same(mat.transpose(order), BOTH.transpose(order))
    same(mat @ jnp.ones((2, 3, 4)), BOTH @ jnp.ones((2, 3, 4)))
    same(jnp.ones((2, 4, 2)) @ mat, jnp.ones((2, 4, 2)) @ BOTH)
    numbers = (((2,), (0,)), ((), ()))
    product = sparse.bcoo_dot_general(mat, V, dimension_numbers=numbers)
    same(product, BOTH @ V)
    same(traceir.vmap(lambda m: m @ V)(mat), BOTH @ V)
    same(traceir.vmap(lambda x: BCOO.fromdense(x, nse=3))(BOTH), BOTH)
    with pytest.raises(ValueError, match="are transposed among"):
        _ = mat.T


def test_derivatives_are_by_values() -> None:
    def loss(m: Any, v: Any) -> Any:
        return jnp.sum((m @ v) ** 2)

    for mat in (BCOO.fromdense(X), BCSR.fromdense(X)):
        value, (by_mat, by_v) = sparse.value_and_grad(loss, argnums=(0, 1))(mat, V)
        dense = traceir.grad(loss, argnums=(0, 1))(X, V)
        same(value, loss(X, V))
        same(by_mat, jnp.where(X != 0, dense[0], 0))
        same(by_v, dense[1])
        same(sparse.grad(loss)(mat, V), jnp.where(X != 0, dense[0], 0))
        for jacobian in (sparse.jacrev, sparse.jacfwd):
            rows = jacobian(lambda m: m @ V)(mat)
            wanted = traceir.jacrev(lambda m: m @ V)(X)
            same(rows, jnp.where(X != 0, wanted, 0))


def test_rows() -> None:
    mat = BCSR.fromdense(X)
    assert mat.indptr.tolist() == [0, 1, 3] and mat.indices.tolist() == [1, 0, 2]
    same(mat.to_bcoo(), X)
    same(mat @ V, X @ V)
    same(jnp.ones((4, 2)) @ mat, jnp.ones((4, 2)) @ X)
    same(BCSR.fromdense(BOTH, n_batch=1), BOTH)
    same(BCSR.from_bcoo(BCOO.fromdense(X).T), X.T)
    assert sparse.bcsr_extract(mat.indices, mat.indptr, X).tolist() == [2.0, 3.0, 4.0]


def test_made() -> None:
    same(sparse.eye(3, 4, k=1), jnp.eye(3, 4, k=1))
    same(sparse.eye(4, 3, k=-2, sparse_format="bcsr"), jnp.eye(4, 3, k=-2))
    same(sparse.empty((2, 3), nse=2), jnp.zeros((2, 3)))
    # JAX 0.10.2's numbers.
    drawn = sparse.random_bcoo(traceir.random.key(0), (3, 4)).todense()
    places = {(0, 0): 0.8423141, (0, 3): 0.18237865, (2, 1): 0.2271778}
    wanted = np.zeros((3, 4), np.float32)
    for place, number in places.items():
        wanted[place] = number
    np.testing.assert_allclose(drawn, wanted, rtol=1e-5)


def test_refusals_say_what_was_got() -> None:
    mat = BCOO.fromdense(X)
    with pytest.raises(sparse.SparseEfficiencyError, match="holds zeros"):
        mat.update_layout(n_batch=1)
    with pytest.warns(sparse.SparseEfficiencyWarning):
        same(mat.update_layout(n_batch=1, on_inefficient="warn"), X)
    with pytest.raises(TypeError, match="one extent"):
        _ = mat @ mat
    with pytest.raises(ValueError, match="one shape and layout"):
        _ = mat + mat.T
    with pytest.raises(TypeError, match="numbers and slices"):
        _ = mat[np.array([0])]
    with pytest.raises(ValueError, match="a row of indices a value"):
        BCOO((jnp.ones(2), jnp.ones((3, 2), "int32")), shape=(2, 3))


def test_a_batch_of_the_dense_operand_alone_stands_first() -> None:
    drawn = np.random.default_rng(0)
    matrix = drawn.random((4, 3)) * (drawn.random((4, 3)) > 0.5)
    for kind in (sparse.BCOO, sparse.BCSR):
        made: Any = kind.fromdense(matrix)
        for shape in ((5, 3, 2), (6, 5, 3, 2)):
            dense = drawn.random(shape)
            for product in (made @ dense, traceir.jit(lambda d, m=made: m @ d)(dense)):
                np.testing.assert_allclose(product, matrix @ dense, rtol=1e-5)
    both = sparse.BCOO.fromdense(matrix) @ sparse.BCOO.fromdense(dense[0])
    np.testing.assert_allclose(both.todense(), matrix @ dense[0], rtol=1e-5)


# A matrix of three rows by its values, their columns and the places of rows.
ROWS = np.array([0, 1, 1, 0, 2]), np.array([0, 2, 3, 5])
VALUES = np.array([4.0, 1.0, 3.0, 1.0, 2.0], np.float32)
RIGHT = np.array([1.0, 2.0, 3.0], np.float32)


def test_spsolve_has_jaxs_numbers_and_derivatives() -> None:
    def solved(data: Any, b: Any) -> Any:
        return linalg.spsolve(data, *ROWS, b)

    def loss(data: Any, b: Any) -> Any:
        return (solved(data, b) ** 2).sum()

    # JAX 0.10.2's numbers.
    by_values = [0.02690972, 0.21527779, -0.36805558, -0.12152778, -2.1267362]
    by_right = [-0.3229167, 0.5520834, 1.4583334]
    wanted = [0.08333333, 0.6666667, 1.4583334]
    for way in (lambda f: f, traceir.jit):
        np.testing.assert_allclose(way(solved)(VALUES, RIGHT), wanted, 1e-6)
        slopes = way(traceir.grad(loss, (0, 1)))(VALUES, RIGHT)
        np.testing.assert_allclose(slopes[0], by_values, 1e-6)
        np.testing.assert_allclose(slopes[1], by_right, 1e-6)
    several = traceir.vmap(solved, (None, 0))(VALUES, np.stack([RIGHT, 2 * RIGHT]))
    np.testing.assert_allclose(several[1], 2 * several[0], 1e-6)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((VALUES, *ROWS, RIGHT[:2]), "fitting sizes"),
        ((VALUES, *ROWS, np.stack([RIGHT, RIGHT])), "fitting sizes"),
        ((VALUES, ROWS[0] * 1.0, ROWS[1], RIGHT), "integers of one dtype"),
        ((VALUES.astype(int), *ROWS, RIGHT), "one floating dtype"),
    ],
)
def test_spsolve_refuses_what_does_not_fit(given: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        linalg.spsolve(*given)
