"""References: read, written, passed, closed over.

Cites: ref.cell, ref.state, ref.places, ref.index, ref.value, ref.alias, ref.returned,
ref.open, ref.region
"""

from __future__ import annotations

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest
from rule_errors import raises_rule

import traceir as jax
import traceir.numpy as jnp
import traceir_numba
from traceir import lax


def made(count: int = 3) -> jax.Ref:
    """A reference to the first numbers."""
    return jax.new_ref(jnp.arange(float(count)))


def held(ref: jax.Ref) -> list[float]:
    """The elements of a reference."""
    found: list[float] = ref[...].tolist()
    return found


def test_a_cell_is_read_and_written() -> None:
    ref = made()
    before = ref[...]
    ref[0] = 5.0
    ref[1:] += 1.0
    ref[jnp.array([0, 0])] = jnp.array([7.0, 7.0])
    assert held(ref) == [7, 2, 3] and before.tolist() == [0, 1, 2]
    assert (ref.shape, ref.dtype, ref.ndim, ref.size) == ((3,), np.float32, 1, 3)
    assert len(ref) == 3 and [float(x) for x in ref] == [7, 2, 3]
    assert repr(ref) == "Ref([7., 2., 3.], dtype=float32)"
    assert str(ref.aval) == "Ref{float32[3]}" and jax.typeof(ref) == ref.aval
    assert ref.aval.str_short() == "Ref{f32[3]}" and not ref.aval.weak_type
    assert (ref.aval.ndim, ref.aval.size) == (1, 3)
    assert isinstance(ref, jax.Ref) and not isinstance(ref, jax.Array)
    assert ref == ref and ref != made() and jax.tree.leaves([ref]) == [ref]
    assert ref.sharding == ref[...].sharding and not ref.committed


def test_the_functions_of_references() -> None:
    ref = made(5)
    assert jax.ref.swap(ref, 3, 10.0).tolist() == 3
    jax.ref.addupdate(ref, jnp.array([0, 0]), jnp.ones(2))
    jax.ref.set(ref, 1, 4.0)
    assert jax.ref.get(ref, slice(1, 3)).tolist() == [4, 2]
    assert jax.freeze(ref).tolist() == [2, 4, 2, 10, 4]
    assert held(jax.empty_ref(jax.ShapeDtypeStruct((2,), "float32"))) == [0, 0]
    jax.free_ref(ref)
    with raises_rule("ref.open", Exception, "freed"):
        _ = ref[0]


def test_copies_are_other_references() -> None:
    ref = made()
    for other in (copy.copy(ref), copy.deepcopy(ref), pickle.loads(pickle.dumps(ref))):
        other[0] = 9.0
        assert held(other) == [9, 1, 2] and held(ref) == [0, 1, 2]


def test_a_part_is_read_and_written_as_the_whole() -> None:
    ref = jax.new_ref(jnp.zeros((2, 3)))
    part = ref.at[1]
    part[...] = jnp.ones(3)
    part.at[1:][0] = 5.0
    part[2] = 2.0
    assert held(ref) == [[0, 0, 0], [1, 5, 2]] and part.at[1][...] == 5
    assert (part.shape, part.dtype) == ((3,), np.float32) and part[1] == 5


TWO = [
    0,
    1,
    (1, 2),
    np.s_[:, 1:3],
    np.s_[..., 0],
    np.s_[1, ::2],
    np.s_[-2:],
    np.s_[0:9],
]


@pytest.mark.parametrize("index", TWO, ids=str)
def test_places_are_those_of_arrays(index: Any) -> None:
    x = jnp.arange(12.0).reshape(3, 4)
    ref = jax.new_ref(x)
    assert ref[index].tolist() == x[index].tolist()
    ref[index] = ref[index] * 0
    assert held(ref) == x.at[index].set(0).tolist()


def test_places_out_of_range() -> None:
    at: Any = jax.jit(lambda ref, i: ref[i])
    put: Any = jax.jit(lambda ref, i, x: ref.__setitem__(i, x))
    for place, value in [(7, 2), (-1, 2), (-7, 0)]:
        assert at(made(), place) == value
        ref = made()
        put(ref, place, 9.0)
        assert ref[value] == 9 and sum(held(ref)) == 9 + 3 - value
        assert at(made(), jnp.array([place, 0])).tolist() == [value, 0]
    ref = made()
    put(ref, jnp.array([7, -7, -1]), jnp.full(3, 9.0))
    assert held(ref) == [0, 1, 9]


WRONG: list[tuple[Any, str]] = [
    *((3, "3 for an extent of 3"), (-4, "-4"), (jnp.array(3), "3"), ("a", "'a'")),
    *((1.0, "1.0"), (True, "True"), ([0], "[0]"), (np.s_[::-1], "step -1")),
    *(((0, 0), "of shape (3,)"), ((..., ...), "of shape"), (np.array([True]), "True")),
]


@pytest.mark.parametrize("index, told", WRONG, ids=str)
def test_an_index_that_is_none(index: Any, told: str) -> None:
    ref = made()
    with raises_rule("ref.index", ValueError, re.escape(told)):
        _ = ref[index]
    with raises_rule("ref.index", ValueError):
        ref[index] = 1.0


def test_nothing_is_broadcast_or_converted() -> None:
    ref = made()
    wrong = [(0, 1), (0, True), (..., 1.0), (np.s_[1:], 1.0), (0, jnp.ones(1))]
    for index, value in wrong:
        with raises_rule("ref.value", ValueError, "f32"):
            ref[index] = value
    with raises_rule("ref.value", ValueError, "i32"):
        jax.ref.addupdate(ref, 0, 1)
    ref[...] = np.ones(3)
    ref[0] = np.float64(2)
    assert held(ref) == [2, 1, 1]
    weak = jax.new_ref(1.0)
    weak[...] = jnp.float32(2)
    assert weak[...].weak_type
    with raises_rule("jit.argument", TypeError):
        jax.new_ref(made())


def test_a_traced_function_reads_and_writes() -> None:
    traced = []

    @jax.jit
    def step(ref: Any, x: Any) -> Any:
        traced.append(type(ref))
        local = jax.new_ref(x)
        local[...] += ref[0]
        ref[0] = local[...]
        return ref[1]

    ref = made()
    assert step(ref, 2.0) == 1 and held(ref) == [2, 1, 2]
    assert step(ref, 3.0) == 1 and held(ref) == [5, 1, 2]
    other = made()
    assert step(other, 1.0) == 1 and held(other) == [1, 1, 2]
    assert traced == [jax.Ref]
    compiled = step.lower(ref, 2.0).compile()
    assert compiled(other, 1.0) == 1 and held(other) == [2, 1, 2]
    assert jax.eval_shape(step, ref, 2.0).shape == () and held(ref) == [5, 1, 2]
    assert step.lower(ref, 2.0).out_tree == jax.tree.structure(0)


def test_a_traced_function_closes_over_references() -> None:
    ref, traced = made(), []

    @jax.jit
    def count(x: Any) -> Any:
        traced.append(x)
        ref[0] += 1
        return x * ref[2]

    def twice(x: Any) -> Any:
        return count(count(x))

    assert count(3.0) == 6 and count(3.0) == 6 and held(ref) == [2, 1, 2]
    assert jax.jit(twice)(1.0) == 4 and held(ref) == [4, 1, 2]
    assert len(traced) == 2  # once for each type
    ref[2] = 5.0
    assert count(2.0) == 10 and count.lower(2.0).compile()(2.0) == 10
    assert held(ref) == [6, 1, 5]
    assert len(jax.make_jaxpr(count)(2.0).consts) == 1 and held(ref) == [6, 1, 5]
    with jax.disable_jit():
        assert count(2.0) == 10 and held(ref) == [7, 1, 5]


def test_references_are_options_of_jit() -> None:
    ref = made()
    donated: Any = jax.jit(lambda ref, x: ref.__setitem__(0, x[0]), donate_argnums=1)
    x = jnp.ones(3)
    donated(ref, x)
    assert held(ref) == [1, 1, 2] and x.is_deleted()
    static: Any = jax.jit(lambda ref: ref.__setitem__(0, 8.0), static_argnums=0)
    static(ref)
    assert held(ref) == [8, 1, 2]
    inline: Any = jax.jit(lambda ref: ref.__setitem__(0, 3.0), inline=True)
    jax.jit(lambda r: inline(r))(ref)
    assert held(ref) == [3, 1, 2]
    jax.jit(lambda: ref.__setitem__(..., np.ones(3, "float32")))()
    assert held(ref) == [1, 1, 1]


def test_nested_functions_share_a_reference() -> None:
    @jax.jit
    def outer(x: Any) -> Any:
        ref = jax.new_ref(x)

        @jax.jit
        def inner(y: Any) -> None:
            ref[...] += y

        inner(1.0)
        inner(2.0)
        jax.jit(lambda r: r.__setitem__(..., r[...] * 10))(ref)
        return jax.freeze(ref)

    assert outer(1.0) == 40 and outer(2.0) == 50


def test_a_reference_is_passed_once() -> None:
    ref = made()
    with raises_rule("ref.alias", ValueError, "a and b"):
        jax.jit(lambda a, b: a[0] + b[0])(ref, ref)
    with raises_rule("ref.alias", ValueError, "closed over"):
        jax.jit(lambda a: a[0] + ref[0])(ref)
    with raises_rule("ref.alias", ValueError):
        jax.vmap(lambda a, b: a[...] + b[...])(ref, ref)


def test_references_are_not_returned() -> None:
    ref = made()

    def scan() -> Any:
        return lax.scan(lambda c, x: (c, jax.new_ref(x)), 0.0, jnp.ones(3))

    wrong: list[Any] = [
        *(lambda: jax.jit(lambda x: jax.new_ref(x))(1.0), scan),
        *(lambda: jax.jit(lambda r: [r])(ref), lambda: lax.cond(True, made, made)),
    ]
    for call in wrong:
        with raises_rule("ref.returned", ValueError, "Ref{float32"):
            call()


def test_a_reference_of_a_trace_that_has_ended() -> None:
    kept: list[Any] = []
    jax.jit(lambda x: kept.append(jax.new_ref(x)))(1.0)
    for use in (lambda: kept[0][...], jax.jit(lambda: kept[0][...])):
        with raises_rule("ref.open", Exception, "made in the trace of"):
            use()
    assert repr(kept[0]) == "Traced<Ref{float32[]}>"


def test_where_no_program_can_use_one() -> None:
    ref = made()

    @jax.custom_jvp
    def f(x: Any) -> Any:
        return x * ref[1]

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0]))
    assert f(2.0) == 2
    with raises_rule("ref.region", TypeError, "f, for"):
        jax.jit(f)(2.0)
    with raises_rule("ref.region", TypeError, "exported"):
        jax.export.export(jax.jit(lambda x: ref[0] * x))(1.0)
    plain: Any = traceir_numba.jit(lambda x: ref[0] * x)
    with raises_rule("ref.region", TypeError):
        plain(np.ones(3))
    compiled = jax.jit(lambda x: ref[0] * x, in_shardings=None).lower(1.0).compile()
    assert compiled(2.0) == 0
