"""`vmap`: axes, what stays concrete, what is refused, and compositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import vmap
from traceir.errors import TraceirError

X = np.arange(6, dtype="float32").reshape(2, 3)


def test_axes_of_arguments_and_results() -> None:
    def f(x: Any, y: Any) -> Any:
        return x + y, x

    total, kept = vmap(f, in_axes=(1, None), out_axes=(0, -1))(X, np.float32(1))
    np.testing.assert_array_equal(total, X.T + 1)
    np.testing.assert_array_equal(kept, X)


def test_axes_are_prefixes_of_trees() -> None:
    def f(tree: Any, z: Any) -> Any:
        return {"sum": tree["a"] + tree["b"][0] + z, "b": tree["b"]}

    tree = {"a": X, "b": [np.float32(2), np.float32(3)]}
    mapped = vmap(
        f, in_axes=[{"a": 0, "b": None}, None], out_axes={"sum": 0, "b": None}
    )
    got = mapped(tree, 1.0)
    np.testing.assert_array_equal(got["sum"], X + 3)
    assert [np.asarray(b).shape for b in got["b"]] == [(), ()]


def test_what_is_passed_by_name_is_mapped_along_axis_0() -> None:
    got = vmap(lambda x, k: x * k, in_axes=None)(X, k=np.float32([1, 2]))
    np.testing.assert_array_equal(got, np.stack([X, 2 * X]))


def test_results_that_are_the_same_for_all() -> None:
    assert vmap(lambda x: 2.5)(X).tolist() == [2.5, 2.5]
    assert vmap(lambda x, y: y * 2, (0, None), None)(X, 1.5) == 3.0
    assert vmap(lambda: 1.0, axis_size=3)().tolist() == [1, 1, 1]
    assert vmap(lambda x: None)(X) is None


def test_a_batch_may_be_empty() -> None:
    got = vmap(lambda x: x.sum() + 1)(np.ones((0, 3), "float32"))
    assert got.shape == (0,) and got.dtype == "float32"


def test_the_function_is_called_once_on_the_type_of_one_example() -> None:
    seen: list[Any] = []
    vmap(lambda x, y: seen.append((x, y)) or x)(X, X[:, 0])
    [(x, y)] = seen
    assert (x.shape, y.shape) == ((3,), ())
    assert repr(y) == (
        "Traced<ShapedArray(float32[])>with<BatchTrace(level=1/0)> batched=float32[2]"
    )


def test_what_all_examples_share_stays_known_to_python() -> None:
    def f(x: Any, y: Any, n: Any) -> Any:
        assert type(n) is int
        if jnp.sin(y) > 0:
            return x * n
        return x

    assert vmap(f, in_axes=(0, None, None))(X, 1.0, 3).tolist() == (X * 3).tolist()


def test_an_example_is_not_known_to_python() -> None:
    def f(x: Any, y: Any) -> Any:
        return x if x * y > 0 else y

    with pytest.raises(traceir.errors.TracerBoolConversionError) as caught:
        vmap(f)(X[0], X[1])
    text = str(caught.value)
    assert "the trace of f for vmap" in text and "the arguments x and y" in text


def test_weak_types_stay() -> None:
    assert vmap(lambda x: x + 1.0)(np.arange(3)).aval.weak_type
    assert not vmap(lambda x: x + 1.0)(X).aval.weak_type


def _plus(a: Any, b: Any) -> Any:
    return a + b


REFUSED: dict[str, tuple[str, Callable[[], Any], str]] = {
    "two sizes": ("vmap.sizes", lambda: vmap(_plus)(X, X[0]), "argument b"),
    "sizes in a tree": (
        "vmap.sizes",
        lambda: vmap(lambda d: d)({"k": [X, X[0]]}),
        "d['k'][1]",
    ),
    "a size by name": (
        "vmap.sizes",
        lambda: vmap(lambda a, k: a)(X, k=X[0]),
        "kwargs['k']",
    ),
    "another axis_size": (
        "vmap.sizes",
        lambda: vmap(lambda a: a, axis_size=5)(X),
        "5 is the axis_size",
    ),
    "no dimension": ("vmap.rank", lambda: vmap(_plus)(X, 1.0), "axis 0 of argument b"),
    "too few": ("vmap.rank", lambda: vmap(_plus, (-3, 0))(X, X), "axis -3"),
    "nothing mapped": ("vmap.none", lambda: vmap(_plus, None)(X, X), "2 leaves"),
    "no arguments": ("vmap.none", lambda: vmap(lambda: 1.0)(), "0 leaves"),
    "too few axes": ("vmap.in-axes", lambda: vmap(_plus, (0,))(X, X), "1 axes for 2"),
    "other keys": (
        "vmap.in-axes",
        lambda: vmap(lambda d: d, ({"a": 0},))({"b": X}),
        "tree[0]",
    ),
    "a word for an axis": ("vmap.axes-type", lambda: vmap(_plus, "a"), "'a'"),
    "a float for an axis": ("vmap.axes-type", lambda: vmap(_plus, (0, 1.0)), "1.0"),
    "a truth for an axis": ("vmap.axes-type", lambda: vmap(_plus, True), "True"),
    "a dict of arguments": ("vmap.axes-type", lambda: vmap(_plus, {"a": 0}), "tuple"),
    "a word for a size": (
        "vmap.axes-type",
        lambda: vmap(lambda a: a, axis_size="n")(X),
        "axis_size='n'",
    ),
    "out axes that do not fit": (
        "vmap.out-axes",
        lambda: vmap(lambda a: (a, a), out_axes=(0,))(X),
        "out_axes=(0,)",
    ),
    "an axis that no result has": (
        "vmap.out-rank",
        lambda: vmap(lambda a: {"r": a}, out_axes=2)(X),
        "['r']",
    ),
    "one for all, but batched": (
        "vmap.batched-output",
        lambda: vmap(lambda a: [1, a], out_axes=None)(X),
        "output component [1]",
    ),
    "no function": ("jit.callable", lambda: vmap(3), "3"),
    "no array": ("jit.argument", lambda: vmap(_plus)("s", X), "argument a"),
    "no array returned": ("jit.output", lambda: vmap(lambda a: "s")(X), "str"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str) -> None:
    rule, call, names = REFUSED[what]
    with pytest.raises(TraceirError) as caught:
        call()
    assert caught.value.rule == rule
    assert names in caught.value.got


def test_what_is_not_mapped_may_be_anything() -> None:
    assert vmap(lambda a, s: a, in_axes=(0, None))(X, "text").shape == X.shape


def test_an_example_must_not_leave() -> None:
    kept: list[Any] = []
    vmap(lambda a: kept.append(a) or a)(X)
    with pytest.raises(traceir.errors.UnexpectedTracerError, match="vmap"):
        kept[0] + 1
    with pytest.raises(traceir.errors.UnexpectedTracerError):
        vmap(lambda a: a + kept[0])(X)


def test_the_wrapper_knows_its_function() -> None:
    def scaled(x: Any) -> Any:
        """Twice the argument."""
        return x * 2

    mapped = vmap(scaled)
    assert mapped.__name__ == "scaled" and "Twice the argument." in str(mapped.__doc__)


def f(x: Any, y: Any) -> Any:
    inner = traceir.jit(lambda a, b: jnp.where(a > b, jnp.sin(a) * b, a))
    return inner(x, y).sum() * y


FACTS = {
    "jit of vmap": lambda: traceir.jit(vmap(f, (0, None))),
    "vmap of jit": lambda: vmap(traceir.jit(f), (0, None)),
    "jit around and within": lambda: traceir.jit(vmap(traceir.jit(f), (0, None))),
}


@pytest.mark.parametrize("order", FACTS)
def test_jit_and_vmap_in_any_order(order: str) -> None:
    want = np.stack([np.asarray(f(row, 0.5)) for row in X])
    np.testing.assert_allclose(FACTS[order]()(X, 0.5), want, rtol=1e-6)


def test_vmap_of_grad_and_grad_of_vmap() -> None:
    def loss(w: Any, x: Any) -> Any:
        return (jnp.tanh(x @ w) ** 2).sum()

    w = np.linspace(-1, 1, 12, dtype="float32").reshape(3, 4)
    each = vmap(traceir.grad(loss), in_axes=(None, 0))(w, X)
    want = np.stack([np.asarray(traceir.grad(loss)(w, row)) for row in X])
    np.testing.assert_allclose(each, want, rtol=1e-5, atol=1e-6)
    whole = traceir.grad(lambda w: vmap(loss, (None, 0))(w, X).sum())(w)
    np.testing.assert_allclose(whole, want.sum(0), rtol=1e-5, atol=1e-6)
    compiled = traceir.jit(vmap(traceir.jit(traceir.grad(loss)), (None, 0)))
    np.testing.assert_allclose(compiled(w, X), want, rtol=1e-5, atol=1e-6)


def test_nested_batches() -> None:
    outer = vmap(vmap(lambda x, y: x * y, (0, None)), (None, 0))
    np.testing.assert_array_equal(outer(X[0], X[1]), np.outer(X[1], X[0]))
    inner = vmap(lambda x: vmap(lambda y: x @ y, in_axes=1)(X.T @ X))
    np.testing.assert_allclose(inner(X), X @ X.T @ X, rtol=1e-6)


def test_a_program_is_batched_once() -> None:
    traced = 0

    @traceir.jit
    def g(x: Any) -> Any:
        nonlocal traced
        traced += 1
        return jnp.sin(x) + 1

    def twice(x: Any) -> Any:
        return g(x) + g(x)

    program = traceir.make_jaxpr(vmap(twice))(X[0])
    inner = [eqn.param("jaxpr") for eqn in program.eqns if eqn.primitive == "jit"]
    assert traced == 1 and len(inner) == 2 and inner[0] is inner[1]


def test_mapped_arrays_are_narrowed_as_under_jit() -> None:
    whole = np.arange(3.0)
    inner = traceir.jit(lambda x: x + 1.0)
    for function in (inner, lambda x: x + 1.0):
        found = traceir.vmap(function)(whole)
        assert found.dtype == np.float32
        assert np.array_equal(found, [1, 2, 3])


def test_a_result_without_the_axis_is_what_the_function_returned() -> None:
    xs, whole = np.arange(3.0, dtype="float32"), np.ones(2)
    found = traceir.vmap(lambda x: (x, 1.0, whole), out_axes=(0, None, None))(xs)
    assert type(found[1]) is float and found[2] is whole
    assert found[0].tolist() == [0, 1, 2]
