"""Collectives: what their rows say, over every axis position; gradients; refusals."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mutation.examples import across, unlike

import traceir
import traceir.numpy as jnp
from traceir import lax, vmap
from traceir.errors import TraceirError
from traceir.ir.jaxpr import sort_params
from traceir.oracle.scalar_interpreter import accepts
from traceir.rules import default
from traceir.tracing.staging import apply
from traceir.tracing.trace import bind_all

GROUPS: dict[str, Any] = {"axis_index_groups": None}
Draw = Callable[[st.SearchStrategy[Any]], Any]


def _fold(draw: Draw, size: int) -> tuple[list[int], dict[str, Any]]:
    return draw(st.lists(st.integers(0, 3), max_size=2)), {"axes": ("i",), **GROUPS}


def _dealt(draw: Draw, size: int) -> tuple[list[int], dict[str, Any]]:
    shape = draw(st.lists(st.integers(0, 2), min_size=1, max_size=3))
    at = draw(st.integers(0, len(shape) - 1))
    tiled = draw(st.booleans())
    shape[at] = size * draw(st.integers(1, 2)) if tiled else size
    params = {"scatter_dimension": at, "axis_name": ("i",), "axis_size": size}
    return shape, {**params, "tiled": tiled, **GROUPS}


def _gathered(draw: Draw, size: int) -> tuple[list[int], dict[str, Any]]:
    shape = draw(st.lists(st.integers(0, 2), min_size=1, max_size=2))
    tiled = draw(st.booleans())
    at = draw(st.integers(0, len(shape) - tiled))
    params = {"all_gather_dimension": at, "axis_name": ("i",), "axis_size": size}
    return shape, {**params, "tiled": tiled, **GROUPS}


def _permuted(draw: Draw, size: int) -> tuple[list[int], dict[str, Any]]:
    sources, targets = (draw(st.permutations(range(size))) for _ in range(2))
    pairs = tuple(zip(sources, targets))[: draw(st.integers(0, size))]
    shape = draw(st.lists(st.integers(0, 2), max_size=2))
    return shape, {"axis_name": ("i",), "perm": pairs}


def _exchanged(draw: Draw, size: int) -> tuple[list[int], dict[str, Any]]:
    shape = draw(st.lists(st.integers(1, 2), min_size=1, max_size=3))
    split, joined = (draw(st.integers(0, len(shape) - 1)) for _ in range(2))
    shape[split] *= size
    params = {"split_axis": split, "concat_axis": joined, "axis_name": "i"}
    return shape, {**params, "axis_size": size, "tiled": True, **GROUPS}


def _told(draw: Draw, size: int) -> tuple[list[int], dict[str, Any]]:
    return draw(st.lists(st.integers(0, 2), max_size=2)), {"axes": ("i",)}


DRAWN = {
    "psum": _fold,
    "pmax": _fold,
    "pmin": _fold,
    "all_gather": _gathered,
    "reduce_scatter": _dealt,
    "ppermute": _permuted,
    "all_to_all": _exchanged,
    "pvary": _told,
    "psum_invariant": _told,
}


def test_all_collectives_are_tried() -> None:
    rows = default().prims.values()
    collectives = {row.name for row in rows if row.across is not None}
    assert collectives == {*DRAWN, "axis_index"}


@pytest.mark.parametrize("prim", DRAWN)
@given(data=st.data())
def test_each_example_gets_what_the_row_says(prim: str, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 3))
    shape, params = DRAWN[prim](data.draw, size)
    whole = np.array(
        data.draw(st.lists(st.integers(-9, 9), min_size=64, max_size=64)), "float32"
    )
    whole = np.resize(whole, (size, *shape))
    dim = data.draw(st.integers(0, len(shape)))
    full = sort_params(params)

    def run(x: Any) -> Any:
        return bind_all(prim, [x], full)[0]

    program = traceir.make_jaxpr(vmap(run, dim, 0, axis_name="i"))
    moved = np.moveaxis(whole, 0, dim)
    closed = program(moved)
    traceir.check(closed)
    [got] = traceir.eval_jaxpr(closed, closed.consts, moved)
    for n in range(size):
        want = across(prim, whole, params, n)
        np.testing.assert_array_equal(got[n], want)
        assert got[n].shape == want.shape


def test_fixed_examples_get_what_the_rows_say() -> None:
    assert unlike() == []


@pytest.mark.parametrize("prim", ["psum", "pmax", "pmin"])
def test_dimensions_are_axes_too(prim: str) -> None:
    x = np.arange(6, dtype="float32").reshape(2, 3)
    params: dict[str, Any] = {"axes": (1,), **GROUPS}
    [got] = bind_all(prim, [x], sort_params(params))
    assert accepts(prim, params, [x], [np.asarray(got)])
    text = f"{{ lambda ; a:f32[2,3]. let b:f32[2] = {prim}[axes=(1,)] a in (b,) }}"
    program = traceir.parse(text)
    np.testing.assert_array_equal(got, traceir.eval_jaxpr(program, (), x)[0])


V = np.arange(4, dtype="float32")


def test_functions_over_two_names() -> None:
    x = np.arange(6, dtype="float32").reshape(2, 3)

    def both(function: Callable[[Any], Any]) -> np.ndarray:
        inner = vmap(function, axis_name="j")
        return np.asarray(vmap(inner, axis_name="i")(x))

    names = ("i", "j")
    np.testing.assert_array_equal(both(lambda v: lax.psum(v, names)), x * 0 + 15)
    np.testing.assert_array_equal(both(lambda v: lax.pmean(v, names)), x * 0 + 2.5)
    np.testing.assert_array_equal(both(lambda v: lax.axis_index(names)), x)
    np.testing.assert_array_equal(
        both(lambda v: v * 0 + lax.axis_size(names)), x * 0 + 6
    )
    gathered = both(lambda v: lax.all_gather(v, names))
    np.testing.assert_array_equal(gathered[1, 2], x.ravel())
    dealt = both(lambda v: lax.psum_scatter(v + jnp.arange(6.0), names))
    np.testing.assert_array_equal(dealt, 15 + 6 * x)


def test_numbers_are_folded() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.extend((lax.psum(1, "i"), lax.psum(2.5, "i"), lax.pmean(3, "i")))
        return x

    vmap(f, axis_name="i")(V)
    assert seen == [4, 10.0, 3.0] and [type(v) for v in seen] == [int, float, float]


def test_the_inner_axis_of_one_name_counts() -> None:
    x = np.ones((2, 3), "float32")
    inner = vmap(lambda v: lax.psum(v, "i"), axis_name="i")
    assert vmap(inner, axis_name="i")(x).tolist() == [[3, 3, 3], [3, 3, 3]]


def test_the_axis_decides_about_a_trace() -> None:
    g = traceir.jit(lambda x: x * lax.axis_size("i"))
    assert vmap(g, axis_name="i")(V).tolist() == (V * 4).tolist()
    assert vmap(g, axis_name="i")(V[:3]).tolist() == (V[:3] * 3).tolist()
    assert g.cache_info().currsize == 2
    assert g.cache_info().misses == 2
    vmap(g, axis_name="i")(V)
    assert g.cache_info().misses == 2


# As JAX 0.10.2 gives them.
GRADIENTS: dict[str, tuple[Callable[[Any], Any], list[float]]] = {
    "psum": (lambda x: lax.psum(x * x, "i") * x, [14, 26, 38, 50]),
    "pmean": (lambda x: lax.pmean(x * x, "i") * x, [3.5, 6.5, 9.5, 12.5]),
    "all_gather": (
        lambda x: (lax.all_gather(x * x, "i") * jnp.arange(4.0)).sum(),
        [0, 8, 32, 72],
    ),
    "jit": (lambda x: traceir.jit(lambda y: lax.psum(y * y, "i"))(x), [0, 8, 16, 24]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_within_a_batch(name: str) -> None:
    f, want = GRADIENTS[name]
    got = vmap(traceir.grad(f), axis_name="i")(V)
    np.testing.assert_allclose(got, want)
    compiled = traceir.jit(vmap(traceir.grad(f), axis_name="i"))
    np.testing.assert_allclose(compiled(V), want)


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_of_a_batch(name: str) -> None:
    f, _ = GRADIENTS[name]

    def total(v: Any) -> Any:
        return vmap(f, axis_name="i")(v).sum()

    got, step = np.asarray(traceir.grad(total)(V)), 0.25
    for k, d in enumerate(np.eye(4, dtype="float32") * step):
        slope = (float(total(V + d)) - float(total(V - d))) / (2 * step)
        assert abs(slope - got[k]) <= 0.02 * max(1, abs(slope))


def test_reverse_is_the_transpose_of_forward() -> None:
    x = np.arange(16, dtype="float32").reshape(4, 4)
    for f in (
        lambda v: lax.ppermute(v, "i", [(0, 1), (3, 0)]),
        lambda v: lax.all_to_all(v, "i", 0, 0),
        lambda v: lax.psum_scatter(v, "i"),
        lambda v: lax.all_gather(v, "i", tiled=True),
        lambda v: lax.all_to_all(v.reshape(4, 1), "i", 0, 1, tiled=True),
    ):
        mapped = vmap(f, axis_name="i")
        out, pull = traceir.vjp(mapped, x)
        ct = np.cos(np.arange(out.size, dtype="float32")).reshape(out.shape)
        _, pushed = traceir.jvp(mapped, (x,), (np.sin(x),))
        (pulled,) = pull(ct)
        left = float((np.asarray(pushed) * ct).sum())
        right = float((np.asarray(pulled) * np.sin(x)).sum())
        assert abs(left - right) < 1e-3


REFUSED: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "unbound": ("axis.unbound", lambda x: lax.psum(x, "j")),
    "unbound number": ("axis.unbound", lambda x: lax.pmean(1.0, ("i", "j"))),
    "unbound index": ("axis.unbound", lambda x: lax.axis_index("j")),
    "unbound in jit": ("axis.unbound", traceir.jit(lambda x: lax.pmax(x, "j"))),
    "groups": ("axis.groups", lambda x: lax.psum(x, "i", axis_index_groups=[[0]])),
    "sent twice": (
        "axis.permutation",
        lambda x: lax.ppermute(x, "i", [(0, 1), (0, 2)]),
    ),
    "no such example": ("axis.permutation", lambda x: lax.ppermute(x, "i", [(0, 4)])),
    "extent": ("axis.split", lambda x: lax.all_to_all(jnp.ones(3), "i", 0, 0)),
    "no dimension": ("face.axis", lambda x: lax.all_gather(x, "i", axis=2)),
    "no derivative": ("derive.missing", traceir.grad(lambda x: lax.pmax(x, "i"))),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    rule, f = REFUSED[what]
    with pytest.raises(TraceirError) as caught:
        vmap(f, axis_name="i")(V)
    assert caught.value.rule == rule


def test_a_name_is_bound_inside_the_batch_alone() -> None:
    with pytest.raises(NameError, match="unbound axis name"):
        lax.psum(1.0, "i")
    vmap(lambda x: lax.psum(x, "i"), axis_name="i")(V)
    with pytest.raises(NameError):
        lax.axis_index("i")


@pytest.mark.parametrize("backend", ["reference", "numba"])
def test_a_program_over_a_name_does_not_run(backend: str) -> None:
    for prim in ("psum[axes=('i',)] a", "ppermute[axis_name=('i',) perm=((0, 1),)] a"):
        text = f"{{ lambda ; a:f32[2]. let b:f32[2] = {prim} in (b,) }}"
        program = traceir.parse(text)
        assert str(traceir.parse(str(program))) == str(program)
        run = traceir.jit(partial(_applied, program), backend=backend)
        with pytest.raises(NameError) as caught:
            run(np.ones(2, "float32"))
        assert caught.value.rule == "axis.unbound"


def _applied(program: traceir.ClosedJaxpr, x: Any) -> Any:
    return apply(program, [x])[0]


def rule_of(f: Any) -> Any:
    """A function with a rule of its own."""
    made = traceir.custom_jvp(f)
    made.defjvp(lambda primals, tangents: (made(*primals), *tangents))
    return traceir.jit(made)


WITHIN = {
    "jit": traceir.jit,
    "jit in jit": lambda f: traceir.jit(traceir.jit(f)),
    "checkpoint": traceir.checkpoint,
    "custom_jvp": rule_of,
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, None, 1)[0],
    "cond": lambda f: lambda x: lax.cond(x > -1.0, f, lambda v: v, x),
    "while": lambda f: lambda x: lax.while_loop(lambda c: c < 3.0, f, x),
    "condition": lambda f: (
        lambda x: lax.while_loop(lambda c: f(c) < 9.0, lambda c: c + 4.0, x)
    ),
}


@pytest.mark.parametrize("name", WITHIN)
def test_a_program_that_names_the_axis_is_about_it(name: str) -> None:
    # The operand is the same for all examples; so is the sum, the number is not.
    total = WITHIN[name](lambda y: lax.psum(y, "i"))
    number = WITHIN[name](lambda y: y + 1.0 + 4.0 * lax.axis_index("i"))
    found = vmap(lambda x: (x + total(2.0), x + number(2.0)), axis_name="i")(
        jnp.zeros(3)
    )
    special = {"condition": ([6.0] * 3, [10.0, 6.0, 2.0])}
    wanted = special.get(name, ([6.0] * 3, [3.0, 7.0, 11.0]))
    assert [v.tolist() for v in found] == [*wanted]


NAMED = [
    *(jnp.sum, jnp.mean, jnp.max, jnp.min, jnp.var, jnp.std, jnp.ptp, jnp.nansum),
    *(jnp.count_nonzero, jnp.nanmean, traceir.nn.logsumexp),
]


@pytest.mark.parametrize("axes", ["i", ("i",), ("i", 0), (0, "i")], ids=str)
@pytest.mark.parametrize("function", NAMED, ids=lambda f: f.__name__)
def test_reductions_go_over_mapped_axes_by_name(function: Any, axes: Any) -> None:
    x = jnp.array([[1.0, 2.0, 4.0], [0.0, 3.0, 9.0]])
    whole = function(x, axis=None if len(axes) == 2 else 0)
    for way in (lambda f: f, traceir.jit):
        found = way(traceir.vmap(lambda row: function(row, axis=axes), axis_name="i"))
        np.testing.assert_allclose(found(x), jnp.stack([whole, whole]), rtol=1e-6)


def test_reductions_by_name_take_their_other_arguments() -> None:
    x = jnp.array([[1.0, 2.0, 4.0], [0.0, 3.0, 9.0]])

    def of(f: Callable[[Any], Any]) -> Any:
        return traceir.vmap(f, axis_name="i")(x).tolist()

    assert of(lambda r: r.sum(("i", 0), keepdims=True)) == [[19.0], [19.0]]
    assert of(lambda r: r.sum("i", where=r > 2)) == [[0.0, 3.0, 13.0]] * 2
    assert of(lambda r: r.max("i", initial=2.5)) == [[2.5, 3.0, 9.0]] * 2
    assert of(lambda r: r.sum("i", initial=1.0)) == [[2.0, 6.0, 14.0]] * 2
    centred = traceir.grad(lambda x: jnp.sum(jnp.array(of_centred(x)) ** 2))(x)
    np.testing.assert_allclose(centred, 2 * (x - x.mean(0)), rtol=1e-6)


def of_centred(x: Any) -> Any:
    return traceir.vmap(lambda r: r - r.mean("i"), axis_name="i")(x)


def test_a_name_that_is_not_bound_and_a_reduction_without_a_collective() -> None:
    x = jnp.ones((2, 3))
    with pytest.raises(TypeError, match="rows"):
        jnp.sum(x, axis="rows")
    for function in (jnp.prod, jnp.all):
        with pytest.raises(TypeError, match="name of a mapped axis"):
            traceir.vmap(lambda r, f=function: f(r, axis="i"), axis_name="i")(x)
    with pytest.raises(ValueError, match="Duplicate"):
        traceir.vmap(lambda r: r.sum(axis=("i", "i")), axis_name="i")(x)
