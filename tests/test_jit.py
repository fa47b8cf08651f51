"""The promises of `jit` to its users, by counting traces. Serves: cache.*, jit.*"""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import threading
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest
from counted import Counted
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp


@traceir.jit
def twice(x: Any) -> Any:
    """Found by its name in the module, as pickle wants it."""
    return x * 2


def test_pickled_by_name_and_copied_never() -> None:
    assert pickle.loads(pickle.dumps(twice)) is twice
    assert copy.copy(twice) is twice
    assert copy.deepcopy([twice])[0] is twice
    nameless = traceir.jit(lambda x: x)
    assert copy.deepcopy(nameless) is nameless
    with pytest.raises((pickle.PicklingError, AttributeError), match="pickle"):
        pickle.dumps(nameless)


def test_same_type_traces_once() -> None:
    c = Counted(lambda x: x * 2)
    f = traceir.jit(c.fun)
    assert f(jnp.ones(3)).tolist() == [2, 2, 2] and c.new() == 1
    assert f(jnp.zeros(3)).tolist() == [0, 0, 0] and c.new() == 0
    f(np.ones(3, "float32"))
    assert c.new() == 0
    f(jnp.ones(4))
    assert c.new() == 1
    f(jnp.arange(3))
    assert c.new() == 1


def test_weakness_is_in_the_key() -> None:
    c = Counted(lambda x: x * 2)
    f = traceir.jit(c.fun)
    for value in (1.0, 2.0):
        f(value)
    assert c.new() == 1
    for value in (jnp.float32(1), np.float32(1), np.float64(1)):
        f(value)
    assert c.new() == 1
    for value in (1, True, 1):
        f(value)
    assert c.new() == 2


def test_a_new_jit_of_the_same_function_shares_its_traces() -> None:
    c = Counted(lambda x: x * 2)
    traceir.jit(c.fun)(1.0)
    traceir.jit(c.fun)(1.0)
    traceir.jit(c.fun, keep_unused=True)(1.0)
    traceir.jit(c.fun, inline=True)(1.0)
    assert c.new() == 1


def test_lambdas_and_partials_do_not_share() -> None:
    c = Counted(lambda x: x * 2)
    traceir.jit(lambda x: c.fun(x))(1.0)
    traceir.jit(lambda x: c.fun(x))(1.0)
    assert c.new() == 2
    traceir.jit(partial(c.fun))(1.0)
    traceir.jit(partial(c.fun))(1.0)
    assert c.new() == 2
    kept = partial(c.fun)
    traceir.jit(kept)(1.0)
    traceir.jit(kept)(1.0)
    assert c.new() == 1


def test_callable_objects_are_keyed_by_their_own_equality() -> None:
    class Scale:
        count = 0

        def __init__(self, k: float) -> None:
            self.k = k

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Scale) and other.k == self.k

        def __hash__(self) -> int:
            return hash(self.k)

        def __call__(self, x: Any) -> Any:
            Scale.count += 1
            return x * self.k

    first = Scale(2.0)
    assert float(traceir.jit(first)(3.0)) == 6
    assert float(traceir.jit(Scale(2.0))(3.0)) == 6
    assert Scale.count == 1
    assert float(traceir.jit(Scale(4.0))(3.0)) == 12
    assert Scale.count == 2


def test_bound_methods() -> None:
    class Model:
        count = 0

        def step(self, x: Any) -> Any:
            Model.count += 1
            return x + 1

    model = Model()
    for _ in range(3):
        traceir.jit(model.step)(1.0)
        gc.collect()
    assert Model.count == 3
    kept = traceir.jit(model.step)
    Model.count = 0
    for _ in range(3):
        traceir.jit(model.step)(1.0)
    assert Model.count == 1
    del kept


def test_a_decorated_method_takes_self_as_a_static_argument() -> None:
    class Model:
        @partial(traceir.jit, static_argnums=0)
        def scale(self, x: Any, by: float = 2.0) -> Any:
            return x * by

    assert float(Model().scale(3.0)) == 6
    assert float(Model().scale(3.0, by=5.0)) == 15


def test_unusable_functions() -> None:
    class Unhashable:
        __hash__ = None

        def __call__(self, x: Any) -> Any:
            return x

    with raises_rule("cache.function.hashable", TypeError):
        traceir.jit(Unhashable())
    for _ in range(2):  # no trace is kept
        assert traceir.eval_shape(Unhashable(), np.float32(1)).shape == ()
        assert not traceir.make_jaxpr(Unhashable())(1.0).eqns
    assert traceir.eval_shape(operator.attrgetter("T"), np.ones((2, 3))).shape == (3, 2)
    with raises_rule("cache.function.hashable", TypeError):
        traceir.jit(np.sin)
    with raises_rule("jit.callable", TypeError):
        traceir.jit(3)

    def generator(x: Any) -> Any:
        yield x

    with raises_rule("jit.callable", TypeError):
        traceir.jit(generator)


def test_exceptions_leave_nothing() -> None:
    attempts = []

    def g(x: Any) -> Any:
        attempts.append(1)
        if len(attempts) < 3:
            raise KeyError("mine")
        return x

    f = traceir.jit(g)
    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            f(1.0)
    f(1.0)
    f(1.0)
    assert len(attempts) == 3
    assert f.cache_info().currsize == 1
    assert traceir.tracing.trace.current_trace() is None


def test_x64_is_in_the_key_and_toggling_back_hits() -> None:
    c = Counted(lambda x: x * 2)
    f = traceir.jit(c.fun)
    f(1.0)
    with traceir.enable_x64(True):
        assert f(1.0).dtype == np.float64
    assert c.new() == 2
    assert f(1.0).dtype == np.float32
    with traceir.enable_x64(True):
        f(1.0)
    assert c.new() == 0


def test_one_trace_serves_every_stage() -> None:
    c = Counted(lambda x: x * 2)
    f = traceir.jit(c.fun)
    traceir.make_jaxpr(c.fun)(1.0)
    traceir.make_jaxpr(c.fun)(1.0)
    traceir.make_jaxpr(f)(1.0)
    f(1.0)
    f.lower(1.0)
    f.trace(1.0)
    f.eval_shape(1.0)
    traceir.eval_shape(c.fun, 1.0)
    assert c.new() == 1


def test_nested_jit_is_traced_once() -> None:
    c = Counted(lambda x: x + 1)
    inner = traceir.jit(c.fun)
    outer = traceir.jit(lambda x: inner(inner(x)) + inner(x))
    assert float(outer(1.0)) == 5
    traceir.jit(lambda x: inner(x))(1.0)
    inner(1.0)
    assert c.new() == 1
    assert traceir.make_jaxpr(traceir.jit(inner))(1.0) is not None
    assert c.new() == 0


def test_inline_splices_the_equations() -> None:
    inner = traceir.jit(lambda x: x + 1, inline=True)
    jaxpr = traceir.make_jaxpr(lambda x: inner(x) * 2)(1.0)
    assert [e.primitive for e in jaxpr.eqns] == ["add", "mul"]


def test_globals_freeze_until_the_cache_is_cleared() -> None:
    box = [1.0]
    fun = lambda x: x + box[0]  # noqa: E731
    f = traceir.jit(fun)
    assert float(f(1.0)) == 2
    box[0] = 100.0
    assert float(f(1.0)) == 2 and float(traceir.jit(fun)(1.0)) == 2
    f.clear_cache()
    assert float(traceir.jit(fun)(1.0)) == 101


def test_a_closed_over_array_is_frozen() -> None:
    captured = np.ones(3, "float32")
    f = traceir.jit(lambda x: x + captured)
    assert f(1.0).tolist() == [2, 2, 2]
    captured[:] = 7
    assert f(1.0).tolist() == [2, 2, 2]


def test_a_closure_over_an_outer_tracer_becomes_an_operand() -> None:
    def outer(a: Any) -> Any:
        @traceir.jit
        def inner(b: Any) -> Any:
            return a * b

        return inner(a + 1.0)

    assert float(traceir.jit(outer)(3.0)) == 12
    assert float(traceir.jit(outer)(4.0)) == 20


def test_a_global_inner_function_does_not_keep_a_dead_tracer() -> None:
    holder: list[Any] = [None]

    @traceir.jit
    def inner(b: Any) -> Any:
        return holder[0] * b

    def outer(a: Any) -> Any:
        holder[0] = a
        return inner(a) + inner(a)

    assert float(traceir.jit(outer)(3.0)) == 18
    assert float(traceir.jit(lambda a: outer(a))(4.0)) == 32


def test_lifetime_is_the_functions() -> None:
    def g(x: Any) -> Any:
        return x + 1

    seen = weakref.ref(g)
    traceir.jit(g)(1.0)
    del g
    gc.collect()
    assert seen() is None


def test_recursion() -> None:
    c = Counted(lambda x, n: x if n == 0 else f(x + 1, n - 1))
    f = traceir.jit(c.fun, static_argnums=1)
    assert float(f(0.0, 4)) == 4 and c.new() == 5
    assert float(f(0.0, 5)) == 5 and c.new() == 1

    @traceir.jit
    def forever(x: Any) -> Any:
        return forever(x)

    with raises_rule("cache.recursion", RecursionError):
        forever(1.0)


def test_threads_share_one_trace() -> None:
    gate = threading.Barrier(4)
    c = Counted(lambda x: x * 2)
    f = traceir.jit(c.fun)
    results: list[float] = []

    def work() -> None:
        gate.wait()
        results.append(float(f(jnp.ones(())) + 0))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [2.0] * 4 and c.new() == 1


def test_cache_info_and_explain() -> None:
    f = traceir.jit(lambda x, y: x + y)
    assert f.cache_info() == (0, 0, 0, 0)
    assert f.explain(1.0, 2.0) == "miss: no trace of this function yet"
    f(1.0, jnp.ones(3))
    f(2.0, jnp.ones(3))
    assert f.cache_info() == (1, 1, 1, 1)
    assert f.explain(1.0, jnp.ones(3)) == "hit"
    assert f.explain(1.0, jnp.ones(4)) == (
        "miss: cache.key.shape: argument y was (3,), now (4,)"
    )
    assert "cache.key.weak_type: argument x" in f.explain(jnp.ones(()), jnp.ones(3))
    assert f.cache_info() == (1, 1, 1, 1)


def test_explain_shows_static_values_and_trees() -> None:
    f = traceir.jit(lambda x, n, *m: x, static_argnums=(1, 2, 3), backend="reference")
    f(1.0, (1, 2.5))
    assert f.explain(1.0, (1, 2.0)) == (
        "miss: cache.key.static: argument n was (1, 2.5) (tuple), now (1, 2.0) (tuple)"
    )
    assert "there were 1 static arguments, now 2" in f.explain(1.0, (1, 2.5), 3)
    trees = "was PyTreeDef((*,)) for (x), now PyTreeDef(((*,),)) for (x)"
    assert f.explain((1.0,), (1, 2.5)) == f"miss: cache.key.tree: {trees}"


def test_max_traces() -> None:
    f = traceir.jit(lambda x: x + 1, max_traces=2)
    f(jnp.ones(1))
    f(jnp.ones(2))
    with raises_rule("cache.max_traces", RuntimeError, "cache.key.shape: argument x"):
        f(jnp.ones(3))
    assert f(jnp.ones(2)).shape == (2,)
