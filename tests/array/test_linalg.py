"""Linear algebra: what lines beside NumPy's cannot say.

Cites linalg.*, einsum.*, derive.factors, accuracy.relation
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.ir.jaxpr import sort_params
from traceir.oracle import scalar_interpreter
from traceir.reference.interpreter import evaluate_eqn
from traceir.rules import default

RNG = np.random.default_rng(6)
TALL, WIDE = RNG.normal(size=(4, 2)), RNG.normal(size=(2, 4))
FULL, STACK = RNG.normal(size=(3, 3)), RNG.normal(size=(2, 3, 3))
POSITIVE = STACK @ STACK.swapaxes(-1, -2) + np.eye(3)
Function = Callable[..., Any]


def moved(x: np.ndarray, symmetric: bool = False) -> np.ndarray:
    """A direction in which to change a matrix."""
    t = np.random.default_rng(7).normal(size=x.shape)
    return t + t.swapaxes(-1, -2) if symmetric else t


def floats(found: Any) -> list[np.ndarray]:
    """The floating results of a function."""
    leaves = [np.asarray(leaf) for leaf in traceir.tree.leaves(found)]
    return [leaf for leaf in leaves if leaf.dtype.kind == "f"]


# Derivatives --------------------------------------------------------------------------

SMOOTH: dict[str, tuple[Function, list[np.ndarray]]] = {
    "cholesky": (jnp.linalg.cholesky, [POSITIVE, POSITIVE[0]]),
    "eigh": (jnp.linalg.eigh, [POSITIVE]),
    "lu": (lambda x: lax.linalg.lu(x)[0], [FULL, STACK, TALL, WIDE]),
    "qr": (jnp.linalg.qr, [FULL, STACK, TALL]),
    "svd": (lambda x: jnp.linalg.svd(x, False), [FULL, STACK, TALL, WIDE]),
    "svdvals": (jnp.linalg.svdvals, [FULL, TALL, WIDE]),
    "inv": (jnp.linalg.inv, [FULL, STACK]),
    "pinv": (jnp.linalg.pinv, [FULL, TALL, WIDE, np.eye(3)]),
    "det": (jnp.linalg.det, [FULL, STACK, np.zeros((3, 3)), POSITIVE[:, :2, :2]]),
    "det of four rows": (jnp.linalg.det, [TALL @ WIDE + 2 * np.eye(4)]),
    "slogdet": (lambda x: jnp.linalg.slogdet(x)[1], [FULL, STACK]),
    "norm": (lambda x: jnp.linalg.norm(x, "nuc"), [FULL, TALL]),
    "matrix_power": (lambda x: jnp.linalg.matrix_power(x, -3), [FULL]),
    "lstsq": (lambda x: jnp.linalg.lstsq(x, np.ones(len(x)))[0], [TALL, FULL]),
    "diagonal": (lambda x: jnp.diagonal(x, 1), [TALL, WIDE]),
    "diagflat": (lambda x: jnp.diagflat(x, -1), [TALL]),
    "einsum": (lambda x: jnp.einsum("ij,kj,ik->k", x, x, x @ x.T), [TALL]),
}
POINTS = [(name, n) for name, (_, found) in SMOOTH.items() for n in range(len(found))]


@pytest.mark.parametrize(("name", "n"), POINTS)
def test_derivatives_are_those_of_small_differences(name: str, n: int) -> None:
    fun, points = SMOOTH[name]
    x, step = points[n], 1e-6
    t = moved(x, symmetric=name in ("cholesky", "eigh"))
    with traceir.enable_x64(True):
        outs, tangents = traceir.jvp(fun, (x,), (t,))
        after, before = fun(x + step * t), fun(x - step * t)
        for tangent, high, low in zip(*map(floats, (tangents, after, before))):
            np.testing.assert_allclose(tangent, (high - low) / (2 * step), 1e-5, 1e-5)
        # The derivative back is the transpose of the one ahead.
        outs, pull = traceir.vjp(fun, x)
        cotangents = traceir.tree.map(lambda o: np.cos(np.asarray(o)), outs)
        [back] = pull(cotangents)
        pairs = zip(floats(cotangents), floats(tangents), strict=True)
        ahead = sum(float(np.sum(ct * dt)) for ct, dt in pairs)
        np.testing.assert_allclose(float(np.sum(np.asarray(back) * t)), ahead, 1e-9)


NAMES = ("left_side", "lower", "transpose_a", "unit_diagonal")


@pytest.mark.parametrize(
    "flags", [*itertools.product((True, False), repeat=4)], ids=str
)
def test_derivatives_of_triangular_systems(flags: tuple[bool, ...]) -> None:
    options = dict(zip(NAMES, flags, strict=True))
    a = FULL + 3 * np.eye(3)
    y = TALL[:3] if options["left_side"] else TALL[:3].T
    step, t, s = 1e-6, moved(a), moved(y)

    def solve(a: Any, y: Any) -> Any:
        return lax.linalg.triangular_solve(jnp.asarray(a), jnp.asarray(y), **options)

    with traceir.enable_x64(True):
        _, tangent = traceir.jvp(solve, (a, y), (t, s))
        high, low = solve(a + step * t, y + step * s), solve(a - step * t, y - step * s)
        wanted = (np.asarray(high) - np.asarray(low)) / (2 * step)
        np.testing.assert_allclose(tangent, wanted, 1e-5, 1e-5)
        _, pull = traceir.vjp(solve, a, y)
        back = pull(jnp.ones(y.shape))
        total = sum(float(np.sum(np.asarray(b) * d)) for b, d in zip(back, (t, s)))
        np.testing.assert_allclose(total, float(np.sum(np.asarray(tangent))), 1e-9)


@pytest.mark.parametrize("name", ["qr", "svd"])
def test_what_a_matrix_does_not_determine_has_no_derivative(name: str) -> None:
    fun = getattr(lax.linalg, name)
    with raises_rule("derive.factors", NotImplementedError, "full_matrices=False"):
        traceir.jvp(fun, (TALL,), (TALL,))


# Batches ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in SMOOTH if n != "lstsq"])
@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_a_batch_is_what_each_example_gives(name: str, backend: str) -> None:
    fun, [x, *_] = SMOOTH[name]
    rows = jnp.stack([jnp.asarray(x), jnp.asarray(2 * x)], -1)
    batched = traceir.jit(traceir.vmap(fun, in_axes=-1), backend=backend)(rows)
    for n in range(2):
        alone = floats(fun(rows[..., n]))
        for one, all_ in zip(alone, floats(batched), strict=True):
            np.testing.assert_allclose(all_[n], one, 2e-3, 2e-4)


def test_one_matrix_serves_a_batch_of_right_sides() -> None:
    a, y = jnp.asarray(POSITIVE[0]), jnp.asarray(STACK)
    found = traceir.vmap(jnp.linalg.solve, in_axes=(None, 0))(a, y)
    np.testing.assert_allclose(found, np.linalg.solve(POSITIVE[0], STACK), 1e-3, 1e-4)


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_a_factorization_in_a_loop(backend: str) -> None:
    def step(_: Any, x: Any) -> Any:
        return jnp.linalg.qr(x)[1] @ jnp.linalg.qr(x)[0]

    x = jnp.asarray(POSITIVE[0])
    loop = traceir.jit(lambda x: lax.fori_loop(0, 60, step, x), backend=backend)
    values = np.sort(np.abs(np.diagonal(np.asarray(loop(x)))))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(POSITIVE[0]), 1e-3)


# Relations ----------------------------------------------------------------------------

FLAGS: dict[str, list[dict[str, Any]]] = {
    "cholesky": [{}],
    "lu": [{}],
    "qr": [{"full_matrices": f, "pivoting": False} for f in (True, False)],
    "eigh": [{"lower": lower} for lower in (True, False)],
    "svd": [
        {"full_matrices": f, "compute_uv": uv}
        for f in (True, False)
        for uv in (True, False)
    ],
}
SHAPES = [(2, 2), (3, 2), (2, 3), (1, 1), (0, 2), (2, 0), (0, 0), (2, 1, 1)]


def values_of(kind: str, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Matrices of a kind."""
    x = np.random.default_rng(len(kind)).normal(size=shape)
    if kind == "whole":
        x = np.round(2 * x)
    if kind in ("nan", "inf") and x.size:
        x.reshape(-1)[0] = float(kind)
    if kind == "positive":
        x = x @ x.swapaxes(-1, -2)
    return (0 * x if kind == "zero" else x).astype(dtype)


@pytest.mark.parametrize("kind", ["any", "whole", "zero", "nan", "inf", "positive"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("prim", FLAGS)
def test_results_satisfy_their_relations(prim: str, dtype: str, kind: str) -> None:
    row = default().prims[prim]
    for shape in SHAPES:
        x = values_of(kind, shape, dtype)
        if "square_matrices" in row.classes and x.shape[-1] != x.shape[-2]:
            continue
        for flags in FLAGS[prim]:
            params = {**row.defaults, **flags}
            found = evaluate_eqn(prim, sort_params(params), [x])
            assert not scalar_interpreter.faults(prim, params, [x], found), (
                shape,
                flags,
            )


WRONG = [
    ("cholesky", {}, POSITIVE[0]),
    *(("lu", {}, x) for x in (FULL, TALL[:3], WIDE[:, :3])),
    *(("qr", flags, x) for flags in FLAGS["qr"] for x in (TALL[:3], WIDE[:, :3])),
    ("eigh", {"lower": True}, POSITIVE[0]),
    *(("svd", flags, x) for flags in FLAGS["svd"] for x in (TALL[:3], WIDE[:, :3])),
]


@pytest.mark.parametrize("n", range(len(WRONG)))
def test_a_wrong_element_breaks_a_relation(n: int) -> None:
    prim, flags, x = WRONG[n]
    params = {**default().prims[prim].defaults, **flags}
    found = evaluate_eqn(prim, sort_params(params), [x])
    for result in found:
        for index in np.ndindex(result.shape):
            if prim == "cholesky" and index[0] < index[1]:
                continue  # which means nothing
            right = result[index]
            others = [right + 1e-3, np.nan] if result.dtype.kind == "f" else [right + 1]
            for other in others:
                result[index] = other
                assert scalar_interpreter.faults(prim, params, [x], found), (
                    index,
                    other,
                )
            result[index] = right


def test_the_oracle_takes_a_guess_only_if_it_is_right() -> None:
    from traceir.text import parse

    text = "{ lambda ; a:f32[1,1]. let b:f32[1,1] = cholesky a in (b,) }"
    four = np.float32([[4]])
    [found] = scalar_interpreter.run(
        parse(text), (), [four], guess=lambda *_: [np.float32([[2]])]
    )
    assert found.tolist() == [[2.0]]
    for guess in (None, lambda *_: [np.float32([[3]])]):
        with pytest.raises(ValueError, match="cholesky"):
            scalar_interpreter.run(parse(text), (), [four], guess=guess)
    with pytest.raises(ValueError, match="more than one right result"):
        scalar_interpreter.judge(parse(text), (), [four], [np.float32([[2]])])


# Errors -------------------------------------------------------------------------------

LINALG = np.linalg.LinAlgError
REFUSED: list[tuple[str, type[Exception], Function, str]] = [
    ("linalg.matrix", LINALG, lambda: jnp.linalg.inv(np.ones(3)), r"f32\[3\]"),
    ("linalg.matrix", LINALG, lambda: jnp.diagonal(np.ones(3)), r"f32\[3\]"),
    ("linalg.square", LINALG, lambda: jnp.linalg.det(TALL), r"f32\[4,2\]"),
    ("linalg.square", LINALG, lambda: jnp.linalg.cholesky(TALL), r"f32\[4,2\]"),
    ("linalg.square", LINALG, lambda: jnp.linalg.tensorinv(TALL, 1), r"f32\[4,2\]"),
    (
        "linalg.shapes",
        ValueError,
        lambda: jnp.linalg.solve(FULL, TALL),
        r"f32\[3,3\] and f32\[4,2\]",
    ),
    ("linalg.shapes", ValueError, lambda: jnp.linalg.lstsq(TALL, FULL), r"f32\[4,2\]"),
    ("linalg.shapes", ValueError, lambda: jnp.linalg.multi_dot([FULL]), "two or more"),
    ("linalg.shapes", ValueError, lambda: jnp.matvec(TALL, FULL), r"f32\[4,2\]"),
    ("linalg.shapes", ValueError, lambda: jnp.linalg.cross(TALL, TALL), "three"),
    ("linalg.shapes", ValueError, lambda: jnp.linalg.outer(FULL, FULL), "vectors"),
    ("linalg.option", ValueError, lambda: jnp.linalg.norm(FULL, 3), "'nuc'"),
    ("linalg.option", ValueError, lambda: jnp.linalg.norm(STACK, 2), "axis"),
    ("linalg.option", ValueError, lambda: jnp.linalg.eigh(FULL, "X"), "UPLO='X'"),
    ("linalg.option", ValueError, lambda: jnp.linalg.tensorinv(FULL, 0), "ind=0"),
    ("linalg.exponent", TypeError, lambda: jnp.linalg.matrix_power(FULL, 0.5), "0.5"),
    (
        "derive.eigenvectors",
        NotImplementedError,
        lambda: traceir.jvp(jnp.linalg.eig, (FULL,), (FULL,)),
        "eigvals",
    ),
    ("linalg.diag", ValueError, lambda: jnp.diag(STACK), r"f32\[2,3,3\]"),
    ("matrices.dtype", TypeError, lambda: jnp.linalg.inv(np.ones((1, 1), "f2")), "f16"),
    ("matrices.rank", TypeError, lambda: lax.linalg.lu(jnp.ones(2)), r"f32\[2\]"),
    (
        "square_matrices.extents",
        ValueError,
        lambda: lax.linalg.eigh(jnp.ones((1, 2))),
        r"1,2",
    ),
    ("einsum.subscripts", ValueError, lambda: jnp.einsum("ij", np.ones(3)), "'ij'"),
    ("einsum.subscripts", ValueError, lambda: jnp.einsum("i->ij", np.ones(3)), "ij"),
    ("einsum.subscripts", ValueError, lambda: jnp.einsum("i,i", np.ones(3)), "1 oper"),
    ("einsum.subscripts", ValueError, lambda: jnp.einsum("i->ii", np.ones(3)), "ii"),
    ("einsum.subscripts", ValueError, lambda: jnp.einsum(FULL, [[], "j"]), "'j'"),
    (
        "einsum.extents",
        ValueError,
        lambda: jnp.einsum("ij,jk", FULL, TALL),
        "'j' is 3 and 4",
    ),
]


@pytest.mark.parametrize("n", range(len(REFUSED)))
def test_errors_name_the_rule_and_what_was_got(n: int) -> None:
    rule, kind, call, pattern = REFUSED[n]
    with raises_rule(rule, kind, pattern):
        call()


# Einstein's sums ----------------------------------------------------------------------


def test_the_order_of_a_sum_is_numpys() -> None:
    a, b, c = np.ones((2, 9)), np.ones((9, 9)), np.ones((9, 1))
    path, text = jnp.einsum_path("ij,jk,kl", a, b, c)
    assert path == np.einsum_path("ij,jk,kl", a, b, c, optimize="optimal")[0]
    assert "Complete contraction" in text
    traced = traceir.make_jaxpr(lambda *xs: jnp.einsum("ij,jk,kl", *xs))(a, b, c)
    shapes = [eqn.outputs[0].aval.shape for eqn in traced.eqns]
    assert shapes[0] == (1, 9) or shapes[0] == (9, 1)


def test_a_given_order_is_followed() -> None:
    xs = [np.ones((2, 2))] * 3
    order = ["einsum_path", (0, 1), (0, 1)]
    text = str(
        traceir.make_jaxpr(lambda *xs: jnp.einsum("ij,jk,kl", *xs, optimize=order))(*xs)
    )
    assert text.count("dot_general") == 2


def test_singular_values_of_a_hermitian_matrix_are_sizes_of_eigenvalues() -> None:
    """Of equal ones the later comes first, as in NumPy, and in JAX."""
    u, s, vh = jnp.linalg.svd(jnp.diag(jnp.array([1.0, -1.0, 2.0])), hermitian=True)
    np.testing.assert_array_equal(s, [2, 1, 1])
    np.testing.assert_array_equal(u, [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(vh, [[0, 0, 1], [1, 0, 0], [0, -1, 0]])
    part = jnp.linalg.svd(FULL + FULL.T, hermitian=True, subset_by_index=(1, 3))
    assert [x.shape for x in part] == [(3, 2), (2,), (2, 3)]


@pytest.mark.parametrize("name", ["svd", "pinv", "matrix_rank"])
def test_what_is_said_to_be_hermitian_is_taken_so(name: str) -> None:
    x, mean = FULL.astype("float32"), (FULL + FULL.T) / 2
    for found, wanted in zip(
        traceir.tree.leaves(getattr(jnp.linalg, name)(x, hermitian=True)),
        traceir.tree.leaves(getattr(jnp.linalg, name)(mean, hermitian=True)),
        strict=True,
    ):
        np.testing.assert_allclose(found, wanted, 1e-4, 1e-5)
    values = np.linalg.svd(mean, compute_uv=False)
    found = jnp.linalg.svd(x, hermitian=True, compute_uv=False)
    np.testing.assert_allclose(found, values, 1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_products_of_einsum_may_be_those_of_a_function(dtype: str) -> None:
    seen: list[Any] = []

    def product(x: Any, y: Any, numbers: Any, precision: Any, **options: Any) -> Any:
        seen.append((numbers, precision, options))
        return lax.dot_general(x, y, numbers, precision, **options)

    x, y = np.ones((2, 3, 4), dtype), np.ones((2, 4, 5), dtype)
    asked = {"precision": "high", "preferred_element_type": "float32"}
    found = jnp.einsum("bij,bjk->bik", x, y, _dot_general=product, **asked)
    np.testing.assert_array_equal(found, jnp.einsum("bij,bjk->bik", x, y))
    options = {"preferred_element_type": np.dtype("float32")}
    assert seen == [((((2,), (1,)), ((0,), (0,))), "high", options)]


def test_sums_of_products_of_weak_arrays_are_weak() -> None:
    weak = jnp.broadcast_to(jnp.asarray(2.0), (3, 3))
    assert weak.weak_type and jnp.einsum("ij,jk->ik", weak, weak).weak_type
    asked = jnp.einsum("ij,jk", weak, weak, preferred_element_type="float32")
    assert not asked.weak_type
