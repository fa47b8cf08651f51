"""The names of `traceir.experimental`, and modules that few programs name."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import traceir
import traceir.numpy as jnp
from traceir import lax
from traceir.as_jax.modules import monitoring, names, profiler
from traceir.as_jax.modules.example_libraries import optimizers, stax
from traceir.experimental import checkify, sparse
from traceir.scipy.optimize import minimize


def positive(x: Any) -> Any:
    checkify.check(x > 0, "{x} is not positive", x=x)
    return jnp.log(x)


def in_scan(x: Any) -> Any:
    return lax.scan(lambda c, y: (c - y, positive(c - y)), x, jnp.ones(3))


def in_while(x: Any) -> Any:
    def turn(carry: Any) -> Any:
        value, count = carry
        return value - 1 + 0 * positive(value), count + 1

    return lax.while_loop(lambda carry: carry[1] < 3, turn, (x, 0))


def in_choice(x: Any) -> Any:
    return lax.cond(x < 100, positive, lambda x: x, x)


WHERE: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "plain": (positive, -1.0, -1.0),
    "jit": (traceir.jit(positive), -1.0, -1.0),
    "scan": (in_scan, 1.5, -0.5),
    "while": (in_while, 1.5, -0.5),
    "cond": (in_choice, -2.0, -2.0),
}


@pytest.mark.parametrize("outer", [lambda f: f, traceir.jit], ids=["eager", "jit"])
@pytest.mark.parametrize("place", WHERE)
def test_a_failed_check_is_a_result(place: str, outer: Any) -> None:
    f, bad, shown = WHERE[place]
    call = outer(checkify.checkify(f))
    error, _ = call(bad)
    assert error.get() == f"{shown} is not positive (`check` failed)"
    with pytest.raises(checkify.JaxRuntimeError, match="not positive"):
        error.throw()
    error, out = call(50.0)
    assert error.get() is None
    error.throw()
    for one, other in zip(traceir.tree.leaves(out), traceir.tree.leaves(f(50.0))):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "args", "errors", "text"),
    [
        (jnp.sin, (np.inf,), checkify.nan_checks, "nan generated in `sin`"),
        (jnp.divide, (1.0, 0.0), checkify.div_checks, "division by zero in `div`"),
        (
            lambda x, i: x[i],
            (jnp.ones(3), jnp.int32(7)),
            checkify.index_checks,
            "out-of-bounds indexing",
        ),
        (
            lambda x, i: x[i],
            (jnp.ones(3), jnp.array([0, 5])),
            checkify.index_checks,
            "out-of-bounds indexing in `gather`",
        ),
    ],
    ids=["nan", "zero", "slice", "gather"],
)
def test_operations_are_checked(f: Any, args: Any, errors: Any, text: str) -> None:
    assert text in (checkify.checkify(f, errors=errors)(*args)[0].get() or "")
    assert checkify.checkify(f, errors=checkify.user_checks)(*args)[0].get() is None
    fine = (1.0,) if len(args) == 1 else (args[0], 1)
    assert checkify.checkify(f, errors=errors)(*fine)[0].get() is None


def test_a_check_outside_of_checkify_raises() -> None:
    with pytest.raises(ValueError, match=r"-1\.0 is not positive"):
        positive(-1.0)
    with pytest.raises(Exception, match="is not positive"):
        traceir.jit(positive)(-1.0)


def test_sparse_arrays() -> None:
    dense = jnp.array([[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]])
    x = sparse.BCOO.fromdense(dense)
    other, vector = jnp.arange(6.0).reshape(3, 2), jnp.array([1.0, 2.0])
    assert (x.nse, x.shape, x.ndim) == (3, (2, 3), 2)
    assert x.todense().tolist() == dense.tolist()
    assert (x @ other).tolist() == (dense @ other).tolist()
    assert (vector @ x).tolist() == (vector @ dense).tolist()
    assert x.T.todense().tolist() == dense.T.tolist()
    assert (-(2 * x)).todense().tolist() == (-2 * dense).tolist()
    assert traceir.jit(lambda m: m @ other)(x).tolist() == (dense @ other).tolist()

    def total(values: Any) -> Any:
        return (sparse.BCOO((values, x.indices), shape=x.shape) @ other).sum()

    slope = traceir.grad(total)
    assert slope(x.data).tolist() == [5.0, 1.0, 9.0]


def test_minima_are_found() -> None:
    def f(x: Any) -> Any:
        return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)

    found = traceir.jit(lambda x: minimize(f, x, method="BFGS"))(jnp.array([-1.2, 1.0]))
    assert found.success
    np.testing.assert_allclose(found.x, [1.0, 1.0], atol=1e-3)
    few = minimize(f, jnp.array([-1.2, 1.0]), method="BFGS", options={"maxiter": 2})
    assert not few.success and few.nit == 2 and few.status == 1
    with pytest.raises(ValueError, match="'BFGS'"):
        minimize(f, jnp.ones(2), method="powell")


def test_a_profile_is_a_file_of_named_stretches(tmp_path: Path) -> None:
    add = profiler.annotate_function(lambda x: x + 1, name="add")
    with profiler.trace(tmp_path), profiler.TraceAnnotation("outer", size=3):
        add(1)
    add(1)
    (file,) = tmp_path.rglob("trace.json.gz")
    events = json.loads(gzip.decompress(file.read_bytes()))["traceEvents"]
    assert [e["name"] for e in events] == ["add", "outer"]
    assert events[1]["args"] == {"size": 3}
    assert events[1]["ts"] <= events[0]["ts"]
    assert events[0]["dur"] <= events[1]["dur"]
    with pytest.raises(RuntimeError, match="no profile"):
        profiler.stop_trace()


@pytest.mark.parametrize(
    ("register", "unregister", "record", "told"),
    [
        ("event_listener", "event_listener", "event", ()),
        (
            *("event_duration_secs_listener", "event_duration_listener"),
            *("event_duration_secs", (0.5,)),
        ),
        (*("event_time_span_listener",) * 2, "event_time_span", (0.5, 1.5)),
        ("scalar_listener", "scalar_listener", "scalar", (3,)),
    ],
)
def test_events_reach_listeners(
    register: str, unregister: str, record: str, told: tuple[float, ...]
) -> None:
    seen: list[Any] = []

    def listener(*args: Any, **kwargs: Any) -> None:
        seen.append((args, kwargs))

    tell = partial(getattr(monitoring, f"record_{record}"), "/name", *told)
    getattr(monitoring, f"register_{register}")(listener)
    tell(of="f")
    getattr(monitoring, f"unregister_{unregister}")(listener)
    tell()
    getattr(monitoring, f"register_{register}")(listener)
    monitoring.clear_event_listeners()
    tell()
    assert seen == [(("/name", *told), {"of": "f"})]


def test_processes_and_names() -> None:
    assert (names.process_index(), names.process_count()) == (0, 1)
    call = names.named_call(lambda n: np.zeros(n), name="step")
    with names.named_scope("outer"):
        assert call(2).shape == (2,)  # what a call is given is not traced
    with pytest.raises(TypeError, match="a scope's name"):
        names.named_call(lambda n: n, name=3)(1)  # type: ignore[arg-type]  # that is what is tested
    with pytest.raises(TypeError, match="a scope's name"), names.named_scope(3):  # type: ignore[arg-type]  # that is what is tested
        pass


OPTIMIZERS = {
    "sgd": optimizers.sgd(0.1),
    "momentum": optimizers.momentum(0.05, 0.5),
    "nesterov": optimizers.nesterov(0.05, 0.5),
    "adagrad": optimizers.adagrad(0.5),
    "rmsprop": optimizers.rmsprop(0.05),
    "rmsprop_momentum": optimizers.rmsprop_momentum(0.01),
    "adam": optimizers.adam(0.1),
    "adamax": optimizers.adamax(optimizers.exponential_decay(0.3, 10, 0.9)),
    "sm3": optimizers.sm3(0.5),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_go_down(name: str) -> None:
    init, update, params_of = OPTIMIZERS[name]
    wanted = {"w": jnp.array([[1.0, -2.0]]), "b": jnp.array([0.5])}

    def loss(params: Any) -> Any:
        return sum(jnp.sum((params[k] - wanted[k]) ** 2) for k in wanted)

    state = init(traceir.tree.map(jnp.zeros_like, wanted))
    step = traceir.jit(lambda i, s: update(i, traceir.grad(loss)(params_of(s)), s))
    for i in range(100):
        state = step(i, state)
    assert loss(params_of(state)) < 0.02
    with pytest.raises(TypeError, match="gradients are a tree"):
        update(0, [1.0], state)


def test_layers_are_pairs_of_functions() -> None:
    init, apply = stax.serial(
        stax.FanOut(2),
        stax.parallel(stax.serial(stax.Dense(3), stax.Relu), stax.Identity),
        stax.FanInConcat(),
        stax.Flatten,
        stax.Dropout(0.5, mode="test"),
    )
    shape, params = init(traceir.random.key(0), (-1, 2))
    out = apply(params, jnp.ones((4, 2)), rng=traceir.random.key(1))
    assert shape == (-1, 5) and out.shape == (4, 5)
    assert out[:, 3:].tolist() == [[1.0, 1.0]] * 4


def test_a_program_says_where_compiled_functions_are_kept(tmp_path: Path) -> None:
    from traceir.experimental.compilation_cache import compilation_cache

    compilation_cache.set_cache_dir(tmp_path / "kept")
    try:
        traceir.jit(lambda x: x * 12.5 - 7.25, backend="numba")(jnp.ones(3))
        assert any(path.suffix == ".code" for path in (tmp_path / "kept").iterdir())
    finally:
        compilation_cache.reset_cache()
