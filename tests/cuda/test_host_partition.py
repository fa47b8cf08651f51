"""Host calls for a device, keys on it, and refusals of a device.

Cites: backend.unsupported, accuracy.one-answer
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from compiling import same_bits, traced
from rule_errors import raises_rule

import traceir
import traceir.numpy as jnp
import traceir_numba
from traceir import lax, random
from traceir.reference.interpreter import eval_jaxpr
from traceir.tree import leaves
from traceir_numba.cuda import DeviceArray, backend, cost_model, device_put
from traceir_numba.cuda.routines import block_plans
from traceir_numba.emitters import EMITTERS
from traceir_numba.emitters.kinds import HostCallback, ReferenceCall
from traceir_numba.loops.program import CallRoutine

Fun = Callable[..., Any]
X = np.arange(6, dtype=np.float32)


def called(x: Any) -> Any:
    """Twice as much, by a function of the host's."""
    like = traceir.ShapeDtypeStruct(x.shape, x.dtype)
    return traceir.pure_callback(
        lambda a: np.asarray(a) * 2, like, x, vmap_method="sequential"
    )


HOSTED: dict[str, Fun] = {
    "a call": lambda x: called(x + 1) * 3,
    "in a loop": lambda x: lax.fori_loop(0, 3, lambda k, a: called(a) + k, x),
    "in a choice": lambda x: lax.cond(x[1] > 0, called, lambda a: a - 1, x),
    "of each": traceir.vmap(lambda x: called(x) + 1),
    "sorted in a loop": lambda x: lax.fori_loop(0, 3, lambda _, a: jnp.sort(-a), x),
    "sorted in a choice": lambda x: lax.cond(x[1] > 0, jnp.sort, lambda a: a, -x),
    "sorted as long as": lambda x: lax.while_loop(
        lambda a: a[0] < 9, lambda a: jnp.sort(a) + 4, x
    ),
    "solved in rows": lambda x: lax.scan(
        lambda c, r: (jnp.linalg.solve(jnp.eye(3) * r + jnp.eye(3), c), c.sum()),
        jnp.ones(3),
        x,
    ),
}


@pytest.mark.parametrize("name", HOSTED)
def test_what_the_host_does_is_what_the_reference_does(name: str) -> None:
    fun = HOSTED[name]
    want = leaves(traceir.jit(fun, backend="reference")(X))
    got = leaves(traceir.jit(fun, backend="cuda")(X))
    there = leaves(traceir_numba.jit(fun, target="cuda")(X))
    for g, t, w in zip(got, there, want, strict=True):
        assert isinstance(t, DeviceArray)
        for one in (g, t):
            np.testing.assert_allclose(np.asarray(one), np.asarray(w), 1e-6)


def test_effects_have_their_order(capfd: pytest.CaptureFixture[str]) -> None:
    def told(k: Any, x: Any) -> Any:
        traceir.debug.print("{} {}", k, x.sum(), ordered=True)
        return x * 2

    f = traceir_numba.jit(lambda x: lax.fori_loop(0, 3, told, x + 1), target="cuda")
    assert np.array_equal(f(X), (X + 1) * 8)
    assert capfd.readouterr().out == "0 21.0\n1 42.0\n2 84.0\n"


def test_the_host_computes_no_more_than_these() -> None:
    kinds = {ReferenceCall: set[str](), HostCallback: set[str]()}
    for name, entry in EMITTERS.items():
        if type(entry) in kinds:
            kinds[type(entry)].add(name)
    assert kinds[ReferenceCall] == {
        *("sort", "top_k", "fft", "random_gamma", "triangular_solve", "cholesky"),
        *("eig", "eigh", "lu", "lu_pivots_to_permutation", "qr", "svd"),
        *("schur", "hessenberg"),
    }
    assert kinds[HostCallback] == {
        "debug_print",
        "debug_callback",
        "pure_callback",
        "io_callback",
    }


# -- keys -----------------------------------------------------------------------------


def test_keys_come_go_and_stay() -> None:
    key = random.key(3)

    @traceir_numba.jit(target="cuda")
    def split(key: Any) -> Any:
        return random.split(key, 3)

    keys = split(key)
    assert isinstance(keys, DeviceArray) and keys.shape == (3,)
    words = traceir_numba.jit(random.key_data, target="cuda")(keys)
    want = random.split(key, 3)
    assert np.array_equal(words, random.key_data(want))
    assert repr(keys) == f"Device{want!r}" and str(keys) == str(want)
    again = pickle.loads(pickle.dumps(keys))
    assert isinstance(again, DeviceArray) and str(again) == str(want)
    assert str(split(device_put(key))) == str(want)


def test_keys_pass_through_the_host() -> None:
    def f(key: Any, x: Any) -> Any:
        return random.fold_in(key, 7), called(x)

    key, _ = traceir_numba.jit(f, target="cuda")(random.key(3), X)
    assert str(key) == str(random.fold_in(random.key(3), 7))


# -- what has no code -----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int4", "float8_e4m3fn"])
def test_narrow_numbers_have_kernels_and_no_functions_of_numpy(dtype: str) -> None:
    narrow = getattr(ml_dtypes, dtype)

    def f(x: Any) -> Any:
        return (x / 3).astype(narrow) + 1

    found, wanted = traceir.jit(f, backend="cuda")(X), f(jnp.asarray(X))
    assert found.dtype == narrow and same_bits(np.asarray(found), np.asarray(wanted))
    with raises_rule("jit.dtype", pattern=dtype):
        traceir_numba.jit(f, target="cuda")(X)


# -- what a kernel takes --------------------------------------------------------------


def test_a_loop_over_many_arrays_is_several_kernels() -> None:
    def doubled(*arrays: Any) -> Any:
        return lax.fori_loop(
            0, 3, lambda i, c: [v * 2 + i for v in c[1:] + c[:1]], list(arrays)
        )

    closed = traced(doubled, *[X * k for k in range(2 * cost_model.ROUTINE_ARRAYS)])
    found = backend.compile(closed, "doubled")
    (run,) = [s for s in found.program.steps if isinstance(s, CallRoutine)]
    every = found.runner.plan(run.routine).steps
    (loop,) = [s for s in every if isinstance(s, block_plans.HostLoop)]
    kept = [*every, *loop.steps]
    counts = [len(s.pointers) for s in kept if isinstance(s, block_plans.Piece)]
    assert len(counts) >= 2 and max(counts) <= cost_model.ROUTINE_ARRAYS
    args = [X * k for k in range(2 * cost_model.ROUTINE_ARRAYS)]
    assert same_bits(list(found.run(*args)), eval_jaxpr(closed, closed.consts, *args))


def test_numbers_are_drawn_by_the_host_for_a_device() -> None:
    def total(rng: Any, n: Any) -> Any:
        found = 0.0
        for _ in range(n):
            found += rng.random() if rng.random() < 0.5 else rng.normal()
        return found

    mine, own = np.random.default_rng(1), np.random.default_rng(1)
    assert traceir_numba.jit(total, target="cuda")(mine, 9) == total(own, 9)
