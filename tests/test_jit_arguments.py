"""Arguments and results of `jit`. Serves: cache.*, jit.*"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import numpy as np
import pytest
from counted import Counted
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp


def test_static_values_are_keyed_by_deep_typed_equality() -> None:
    c = Counted(lambda x, n: x + 1)
    f = traceir.jit(c.fun, static_argnums=1)
    distinct = [3, 3.0, True, 1, 1.0, np.int64(3), (1,), (1.0,), (True,), 0.0, -0.0]
    distinct += [frozenset([1]), frozenset([1.0]), "a", None, float("nan")]
    for value in distinct:
        f(1.0, value)
        assert c.new() == 1, value
    for value in distinct:
        f(2.0, value)
        assert c.new() == 0, value
    f(2.0, float("nan"))
    assert c.new() == 0


def test_signed_zero_static_gives_its_own_result() -> None:
    f = traceir.jit(lambda x, n: x * np.copysign(1.0, n), static_argnums=1)
    assert float(f(1.0, 0.0)) == 1 and float(f(1.0, -0.0)) == -1


def test_frozen_dataclasses_as_static_values() -> None:
    @dataclass(frozen=True)
    class Options:
        sizes: Any

    @dataclass(frozen=True)
    class Own:
        sizes: Any

        def __hash__(self) -> int:
            return len(self.sizes)

    c = Counted(lambda x, n: x + len(n.sizes))
    f = traceir.jit(c.fun, static_argnums=1, backend="reference")
    for value in (Options((1,)), Options((1.0,)), Own([1, 2]), Own([1, 3])):
        f(1.0, value)
        assert c.new() == 1
    assert float(f(1.0, Own([1, 2]))) == 3 and c.new() == 0
    with raises_rule("cache.static.hashable", ValueError):
        f(1.0, Options([1]))


def test_unhashable_static() -> None:
    f = traceir.jit(lambda x, n: x, static_argnames="n")
    with raises_rule("cache.static.hashable", ValueError, "Non-hashable static"):
        f(1.0, [1, 2])
    with raises_rule("cache.static.hashable", ValueError):
        f(1.0, n=[1, 2])


def test_a_tracer_as_a_static_argument() -> None:
    inner = traceir.jit(lambda x, n: x, static_argnums=1)
    with raises_rule("cache.static.hashable", ValueError):
        traceir.jit(lambda x: inner(x, x))(1.0)


def test_static_argnums_and_argnames_infer_each_other() -> None:
    def g(x: Any, n: int) -> Any:
        for _ in range(n):
            x = x + 1
        return x

    by_name = traceir.jit(g, static_argnames=["n"])
    by_number = traceir.jit(g, static_argnums=-1)
    assert float(by_name(1.0, 3)) == float(by_name(1.0, n=3)) == 4
    assert float(by_number(1.0, 3)) == float(by_number(1.0, n=3)) == 4
    with raises_rule("jit.static_argnums", ValueError):
        traceir.jit(g, static_argnums=5)
    with raises_rule("jit.static_argnames", ValueError):
        traceir.jit(g, static_argnames="zz")
    traceir.jit(lambda x, **kw: x, static_argnames="zz")


def test_positional_and_keyword_passing_share_an_entry() -> None:
    c = Counted(lambda x, y: x - y)
    f = traceir.jit(c.fun)
    results = [f(5.0, 3.0), f(5.0, y=3.0), f(y=3.0, x=5.0), f(x=5.0, y=3.0)]
    assert [float(r) for r in results] == [2.0] * 4
    assert c.new() == 1


def test_variadic_and_default_arguments() -> None:
    def g(x: Any, *rest: Any, scale: Any = 2.0, **named: Any) -> Any:
        total = x
        for r in rest:
            total = total + r
        return total * scale + sum(named.values())

    f = traceir.jit(g)
    for _ in range(2):
        assert float(f(1.0)) == 2
        assert float(f(1.0, 2.0, 3.0)) == 12
        assert float(f(1.0, 2.0, scale=3.0, a=1.0, b=5.0)) == 15
    with raises_rule("jit.signature", TypeError):
        f()


def test_tree_structure_is_in_the_key() -> None:
    c = Counted(lambda t: t)
    f = traceir.jit(c.fun)
    for tree in (
        (1.0, 2.0),
        [1.0, 2.0],
        {"a": 1.0, "b": 2.0},
        (1.0, (2.0,)),
        (1.0, None),
    ):
        f(tree)
        assert c.new() == 1
        f(tree)
        assert c.new() == 0
    f({"b": 2.0, "a": 1.0})
    assert c.new() == 0


def test_results_nest_as_returned() -> None:
    f = traceir.jit(lambda x: {"b": (x, None), "a": [x + 1, 2.0]})
    for _ in range(2):
        out = f(1.0)
        assert list(out) == ["a", "b"] and out["b"][1] is None
        assert out["a"][1].dtype == np.float32 and out["a"][1].weak_type


def test_bad_arguments() -> None:
    f = traceir.jit(lambda x, n: x)
    with raises_rule("jit.argument", TypeError, "argument n"):
        f(1.0, "text")
    with raises_rule("jit.argument", TypeError, r"argument x\['k'\]\[0\]"):
        f({"k": ["text"]}, 1)
    with raises_rule("jit.overflow", OverflowError):
        f(2**40, 1)
    with raises_rule("jit.backend", ValueError):
        traceir.jit(lambda x: x, backend="gpu9")
    with raises_rule("jit.output", TypeError, r"\['k'\]"):
        traceir.jit(lambda x: {"k": "text"})(1.0)


def test_arrays_that_would_lose_something_are_refused() -> None:
    f = traceir.jit(lambda x: x)
    with raises_rule("jit.dtype", TypeError, "dtype object at argument x"):
        f(np.array([None]))
    with raises_rule("jit.dtype", TypeError, "dtype=object"):
        f.trace(traceir.ShapeDtypeStruct((1,), object))
    masked = np.ma.masked_array([1.0, 2.0], mask=[True, False])
    for _ in range(2):
        with raises_rule("jit.masked", ValueError, r"argument x\[0\]"):
            f([masked])
        f([masked.filled(0)])


def test_disable_jit_runs_the_body() -> None:
    c = Counted(lambda x: x * 2 if x > 0 else x)
    f = traceir.jit(c.fun)
    with traceir.disable_jit(True):
        assert float(f(2.0)) == 4 and float(f(-2.0)) == -2
    assert c.new() == 2


def test_keep_unused() -> None:
    fun = lambda x, y: x + 1  # noqa: E731
    dropped = traceir.jit(fun).lower(1.0, jnp.ones(3)).as_text()
    kept = traceir.jit(fun, keep_unused=True).lower(1.0, jnp.ones(3)).as_text()
    assert dropped != kept
    assert float(traceir.jit(fun)(1.0, jnp.ones(3))) == 2
    assert float(traceir.jit(fun, keep_unused=True)(1.0, jnp.ones(3))) == 2


def test_ahead_of_time() -> None:
    f = traceir.jit(lambda x, n: {"y": x * n}, static_argnums=1)
    spec = traceir.ShapeDtypeStruct((3,), "float32")
    traced = f.trace(spec, 2)
    assert "mul" in traced.as_text()
    assert traced.out_info == {"y": spec}
    compiled = traced.lower().compile()
    assert compiled(np.ones(3, "float32"))["y"].tolist() == [2, 2, 2]
    assert compiled.as_text()
    with raises_rule("jit.compiled", TypeError, r"argument x compiled with f32\[3\]"):
        compiled(jnp.ones(4))
    with raises_rule("jit.compiled-tree", TypeError):
        compiled(jnp.ones(3), jnp.ones(3))
    with raises_rule("jit.compiled-traced", TypeError):
        traceir.jit(compiled)(jnp.ones(3))


def test_log_compiles(caplog: pytest.LogCaptureFixture) -> None:
    def shifted(x: Any) -> Any:
        return x + 1

    f = traceir.jit(shifted, backend="reference")
    with traceir.log_compiles(True):
        f(1.0)
        f(1)
        f(2)
    texts = [record.getMessage() for record in caplog.records]
    assert [text.rpartition(" in ")[0] or text for text in texts] == [
        "Tracing shifted for jit: no trace of this function yet",
        "Lowering shifted for reference: equations: 1",
        "Compiled shifted with reference",
        "Tracing shifted for jit: cache.key.dtype: argument x was f32, now i32",
        "Lowering shifted for reference: equations: 1",
        "Compiled shifted with reference",
    ]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_explain_cache_misses(caplog: pytest.LogCaptureFixture) -> None:
    f = traceir.jit(lambda x, n: x, static_argnames="n", backend="reference")
    with traceir.explain_cache_misses():
        f(1.0, 2)
        f(1.0, 2)
        f(1.0, n=(2.5,))
        with traceir.numpy_rank_promotion("raise"):
            f(2.0, 2)
    assert [record.getMessage() for record in caplog.records] == [
        "Cache miss of <lambda>: no trace of this function yet",
        "Cache miss of <lambda>: cache.key.static: argument n was 2 (int), "
        "now (2.5,) (tuple)",
        "Cache miss of <lambda>: cache.key.rank_promotion: was 'allow', now 'raise'",
    ]


def test_no_tracing() -> None:
    f = traceir.jit(lambda x: x + 1, backend="reference")
    f(1.0)
    with traceir.no_tracing():
        assert float(f(2.0)) == 3
        with raises_rule("cache.no_tracing", RuntimeError, "cache.key.dtype"):
            f(1)
        with raises_rule("cache.no_tracing", RuntimeError):
            traceir.make_jaxpr(lambda x: x)(1.0)
    assert f.cache_info().misses == 1


def test_a_static_argument_whose_equality_fails() -> None:
    class Fails:
        def __eq__(self, other: object) -> bool:
            raise KeyError("mine")

        def __hash__(self) -> int:
            return 1

    class Array(Fails):
        def __eq__(self, other: object) -> Any:
            return np.ones(2)

        __hash__ = Fails.__hash__

    class NoHash:
        def __hash__(self) -> int:
            raise KeyError("mine")

    f = traceir.jit(lambda x, n: x, static_argnums=1, backend="reference")
    for kind in (Fails, Array):
        kept = kind()
        for _ in range(3):
            f(1.0, kept)
        pattern = f"{kind.__name__} and {kind.__name__}, whose __eq__ raised"
        with raises_rule("cache.static.comparable", ValueError, pattern):
            f(1.0, kind())
    with traceir.explain_cache_misses():  # compares with every trace
        f(1.0, (1, Fails()))
    assert f.explain(1.0, (2, Fails())).startswith("miss: cache.key.static")
    with raises_rule("cache.static.hashable", ValueError, "of type NoHash: 'mine'"):
        f(1.0, NoHash())


def test_an_overflow_names_the_argument() -> None:
    f = traceir.jit(lambda d, *rest: d["a"] + rest[0], backend="reference")
    for _ in range(4):
        with raises_rule("jit.overflow", OverflowError, r"at argument d\['a'\]"):
            f({"a": 2**31}, 1)
        with raises_rule("jit.overflow", OverflowError, r"at argument rest\[0\]"):
            f({"a": 1}, -(2**31) - 1)
        f({"a": 1}, 1)
    assert f.cache_info()[:2] == (3, 1)


def test_results_of_every_kind() -> None:
    def g(x: Any) -> Any:
        return {"b": np.float64(2), "a": (x, None), "c": 1.5, "d": np.arange(2)}

    f = traceir.jit(g, backend="reference")
    for _ in range(2):
        out = f(jnp.ones(2))
        assert list(out) == ["a", "b", "c", "d"] and out["a"][1] is None
        assert (out["b"].dtype, out["b"].weak_type) == (np.float32, False)
        assert (out["c"].dtype, out["c"].weak_type) == (np.float32, True)
        assert out["d"].dtype == np.int32 and type(out["d"]) is traceir.Array


def test_the_flags_reach_functions_of_arrays() -> None:
    x, y = jnp.ones((2, 3)), jnp.ones(3)
    with traceir.numpy_dtype_promotion("strict"):
        with raises_rule("promote.strict", ValueError, r"f32\[2,3\] and i32\[3\]"):
            x + jnp.arange(3)
        assert (x + 1).dtype == np.float32
    pattern = r"add of \(2, 3\) and \(3,\)"
    with (
        traceir.numpy_rank_promotion("raise"),
        raises_rule("face.rank", ValueError, pattern),
    ):
        x + y
    with (
        traceir.numpy_rank_promotion("warn"),
        pytest.warns(UserWarning, match=r"for add on shapes \(2, 3\) and \(3,\)"),
    ):
        x + y
    with traceir.default_matmul_precision("tensorfloat32"):
        text = str(traceir.make_jaxpr(jnp.matmul)(x, y))
    assert "precision=(Precision.HIGH, Precision.HIGH)" in text
    assert str(traceir.parse(text)) == text


def scaled(x: Any, y: Any, factor: Any) -> Any:
    """A function that others wrap, none of which takes the same."""
    return (x - y) * factor


@wraps(scaled)
def fewer(*args: Any) -> Any:
    return scaled(*args, 3.0)


@wraps(scaled)
def more(*args: Any) -> Any:
    return scaled(*args[:3]) + args[3]


@wraps(scaled)
def by_name(x: Any, **rest: Any) -> Any:
    assert set(rest) == {"y", "factor"}
    return scaled(x, **rest)


def test_what_wraps_a_function_gets_its_own_arguments() -> None:
    assert traceir.jit(fewer)(3.0, 1.0) == 6
    assert traceir.jit(more)(3.0, 1.0, 2.0, 1.0) == 5
    assert traceir.jit(by_name)(3.0, factor=2.0, y=1.0) == 4
    assert traceir.jit(partial(fewer, 3.0))(1.0) == 6
    assert traceir.jit(fewer, static_argnums=1)(3.0, 1) == 6
    assert traceir.jit(fewer, static_argnames="y")(3.0, 1) == 6
    assert str(traceir.make_jaxpr(fewer)(3.0, 1.0)).startswith("{ lambda ; a:f32[] b")
    assert traceir.eval_shape(fewer, 3.0, 1.0).shape == ()
    assert traceir.checkpoint(fewer)(3.0, 1.0) == 6
    with raises_rule("jit.signature", TypeError, "multiple values for argument 'x'"):
        traceir.jit(by_name)(3.0, x=1.0)


def test_what_wraps_a_function_may_be_a_body() -> None:
    step = wraps(scaled)(lambda total, x: (total + x, total))
    assert traceir.lax.scan(step, 0.0, jnp.arange(3.0))[0] == 3
    less, up = wraps(scaled)(lambda k: k < 5), wraps(scaled)(lambda k: k + 1)
    assert traceir.lax.while_loop(less, up, 0) == 5
    sides = [wraps(scaled)(lambda x: -x), wraps(scaled)(lambda x: 2 * x)]
    assert traceir.lax.switch(1, sides, 3.0) == 6
    assert traceir.lax.cond(False, *sides, 3.0) == 6


def test_arguments_given_before_may_be_arrays() -> None:
    def fun(x: Any, y: Any = None, weights: Any = None) -> Any:
        return x + weights.sum()

    given = partial(fun, weights=np.ones((3, 2), np.float32))
    for made in (traceir.jit(given), traceir.vmap(traceir.jit(given))):
        np.testing.assert_array_equal(made(jnp.ones(4)), np.full(4, 7.0))
